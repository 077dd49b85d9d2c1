//! Who makes a call: a person at a terminal, or an agent of a host, and what only a person may do.

use std::cell::OnceCell;

use super::hosts::opened;
use super::{Call, program};
use crate::failure::Failure;
use crate::runtime::{Descriptor, Registry};
use crate::text::shell::{Typed, typed};
use crate::world::World;

impl Call {
    /// The variable with which a host marks that one of its agents runs this call; `None` if no agent does.
    pub(crate) fn agent_session(&self) -> Result<Option<String>, Failure> {
        agent_session(self.world(), &self.registry)
    }

    /// True if a person reads the answer at a terminal. Hosts run programs of agents in a terminal too, so their
    /// variables are checked.
    pub(crate) fn is_for_a_person(&self) -> bool {
        is_for_a_person(self.world(), &self.registry)
    }
}

fn agent_session(world: &World, hosts: &OnceCell<Registry>) -> Result<Option<String>, Failure> {
    let may_be_variable = |word: &str| word.starts_with(|first: char| first.is_ascii_uppercase() || first == '_');
    let hosts = opened(hosts, world)?.all_with(|word| may_be_variable(word) && world.is_set(word))?;
    Ok(variables_of(hosts).find(|name| world.is_set(name)))
}

fn variables_of(hosts: Vec<Descriptor>) -> impl Iterator<Item = String> {
    hosts.into_iter().flat_map(|host| host.shell_variables.into_iter().chain(host.session_variables))
}

/// The variables that hosts set for the programs of their agents. A client that starts a new session does not get them.
pub(crate) fn session_variables(call: &Call) -> Result<Vec<String>, Failure> {
    Ok(variables_of(call.registry()?.all()?).collect())
}

/// As [`Call::is_for_a_person`], before a call exists.
pub(crate) fn is_for_a_person(world: &World, hosts: &OnceCell<Registry>) -> bool {
    let terminal = world.terminal();
    terminal.stdin && terminal.stdout && agent_session(world, hosts).is_ok_and(|session| session.is_none())
}

/// True if a person can be asked to confirm; a build server may have a terminal without a person.
pub(crate) fn can_confirm(call: &Call) -> bool {
    let is_on = |value: String| !matches!(value.as_str(), "" | "0" | "false");
    call.world().terminal().stderr && call.is_for_a_person() && !call.world().variable("CI").is_some_and(is_on)
}

/// Asks the person at the terminal; false without an answer.
pub(crate) fn confirms(call: &Call, question: &str) -> Result<bool, Failure> {
    (call.terminal.confirm)(question)
}

/// Refuses an agent what only a person decides; a person's script may do it.
pub(crate) fn refuses_agents(call: &Call, command: &str) -> Result<(), Failure> {
    let Some(name) = call.agent_session()? else { return Ok(()) };
    let refused = format!("`{command}` needs a person, and an agent runs this call: {name} is set");
    Err(Failure::usage(refused).exits(77).hint(by_a_person(call, command)))
}

/// Refuses what only a person may do. A terminal does not prove that a person is there: hosts run programs of agents in
/// one too.
pub(crate) fn needs_a_person(call: &Call, command: &str) -> Result<(), Failure> {
    let terminal = call.world().terminal();
    let why = match call.agent_session()? {
        Some(name) => format!("an agent runs this call: {name} is set"),
        None if terminal.stdin && terminal.stdout => return Ok(()),
        None => "this is not a terminal".to_owned(),
    };
    let refused = Failure::usage(format!("`{command}` needs a person, and {why}")).exits(77);
    Err(refused.hint(by_a_person(call, command)))
}

/// How a person makes the refused call, with all of its words; `command` names it.
pub(crate) fn by_a_person(call: &Call, command: &str) -> String {
    let is_it = command.split(' ').next() == call.words.first().map(String::as_str);
    let words = if is_it { call.words.iter().fold(Typed::from(""), Typed::word) } else { Typed::words(command) };
    format!("run it in your terminal: `{}`", typed!("{} {}", Typed::of_quoted(program::word_of(call)), words))
}
