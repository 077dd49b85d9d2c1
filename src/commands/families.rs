//! The table of families, and the steps of a call: its words are read, its verb is called, its answer is printed.

use crate::acts::hosts;
use std::cell::OnceCell;
use std::ffi::OsString;
use std::process::ExitCode;

use super::{
    agents, auto, checks, code, documents, git, hooks, init, install, loops, notes, overview, person, phases, plans,
    research, runtimes, small, state, worktree,
};
use crate::acts::{caller, program};
use crate::failure::Failure;
use crate::frame::argv::{self, Invocation, Wants};
use crate::frame::error::Manner;
use crate::frame::{Answer, Catalog, Context, help, reach, tree, usage};
use crate::peer::contract::ExitContract;
use crate::peer::{answers, lenient, spelled};
use crate::text::screen;
use crate::world::World;

/// Every family, in the order of the help.
pub(in crate::commands) const CATALOG: Catalog = Catalog(&[
    install::FAMILY,
    runtimes::FAMILY,
    hooks::FAMILY,
    small::guide::FAMILY,
    init::FAMILY,
    state::FAMILY,
    phases::roadmap::FAMILY,
    overview::progress::FAMILY,
    plans::index::FAMILY,
    plans::plan::FAMILY,
    phases::template::FAMILY,
    phases::scaffold::FAMILY,
    documents::frontmatter::FAMILY,
    documents::requirements::FAMILY,
    notes::todo::FAMILY,
    checks::verify::FAMILY,
    checks::audit::FAMILY,
    checks::validate::FAMILY,
    checks::verification::FAMILY,
    checks::uat::FAMILY,
    documents::config::FAMILY,
    agents::models::FAMILY,
    phases::phase::FAMILY,
    phases::milestone::FAMILY,
    notes::quick_tasks::FAMILY,
    notes::handoff::FAMILY,
    plans::task::FAMILY,
    plans::estimates::FAMILY,
    documents::import::FAMILY,
    overview::planning::FAMILY,
    phases::workstream::FAMILY,
    worktree::FAMILY,
    git::FAMILY,
    auto::FAMILY,
    loops::auto_chain::FAMILY,
    loops::yolo::FAMILY,
    checks::check::FAMILY,
    checks::gate::FAMILY,
    small::trust::FAMILY,
    checks::guards::FAMILY,
    loops::FAMILY,
    install::updating::FAMILY,
    agents::skills::FAMILY,
    loops::capability::FAMILY,
    agents::hosts::FAMILY,
    agents::dispatch::FAMILY,
    agents::effort::FAMILY,
    code::codebase::FAMILY,
    documents::instructions::FAMILY,
    person::sessions::FAMILY,
    person::profile::FAMILY,
    code::intel::FAMILY,
    code::graphify::FAMILY,
    research::learnings::FAMILY,
    code::refactor::FAMILY,
    checks::evaluation::FAMILY,
    agents::prompt::FAMILY,
    agents::review_lane::FAMILY,
    research::findings::FAMILY,
    research::packages::FAMILY,
    small::schema::FAMILY,
    small::shell::FAMILY,
    small::timeout::FAMILY,
    small::basics::FAMILY,
]);

/// Runs one call: reads it, answers it, prints the answer, returns the exit code.
pub(crate) fn run(arguments: Vec<OsString>) -> ExitCode {
    let (answer, manner) = finished(arguments, &World::real());
    answer.deliver(manner)
}

/// The error for a call that starts a program but was made by the agent of a unit.
pub(crate) fn refuses_a_unit(call: &str, kind: &str) -> ExitCode {
    let message = format!("`{call}` starts a program, and the agent of a unit ({kind}) runs this call");
    Answer::failed(Failure::usage(message).exits(77)).deliver(Manner::default())
}

/// Reads a call and answers it; also returns how to print the answer.
pub(in crate::commands) fn finished(mut arguments: Vec<OsString>, world: &World) -> (Answer, Manner) {
    let is_for_a_person = caller::is_for_a_person(world, &OnceCell::new());
    let asked = spelled::take_contract(&mut arguments);
    let (contract, verdict) = ExitContract::asked(asked, world, is_for_a_person);
    let manner = argv::manner(&arguments, world, is_for_a_person);
    let answer = match verdict.and_then(|()| read(arguments)) {
        Ok(call) => answer(call, contract, world.clone()),
        Err(error) => contract.applied(Answer::failed(error)),
    };
    let here = world.folder().unwrap_or_default();
    let outcome = answer.outcome.map_err(|error| error.calling(&program::word(world, &here)));
    (Answer { outcome, ..answer }, manner)
}

/// The words of a call as families know them, and the flags of every command.
pub(in crate::commands) fn read(arguments: Vec<OsString>) -> Result<Invocation, Failure> {
    let mut call = argv::parse(arguments)?;
    spelled::respell(&mut call);
    argv::name_workflow(&mut call);
    Ok(call)
}

/// Answers a call that is read.
pub(in crate::commands) fn answer(call: Invocation, contract: ExitContract, world: World) -> Answer {
    contract.applied(answered(call, contract, world).unwrap_or_else(Answer::failed))
}

fn answered(mut call: Invocation, contract: ExitContract, world: World) -> Result<Answer, Failure> {
    // `--all` without a command would be an install for every host.
    if call.wants == Wants::Help && call.words.first().is_some_and(|word| word == "--all") {
        return about(call, world);
    }
    let hosts = OnceCell::new();
    call.words = install::spelled(call.words, &world, &hosts, is_command)?;
    if call.wants != Wants::Work || call.words.is_empty() {
        argv::check_forms(&mut call)?;
        return if call.wants == Wants::Work { bare(call, world) } else { about(call, world) };
    }
    let row = usage::family_of(CATALOG, &call)?;
    let tree = tree(row);
    usage::lift_of_writers(row, &tree, &mut call)?;
    usage::lift_forms(&tree, &mut call)?;
    let read = lenient::read(row, &tree, &call.words, contract);
    let (matches, ignored) =
        read.map_err(|error| if row.usage_code == 1 { error } else { error.exits(row.usage_code) })?;
    let words = std::mem::take(&mut call.words);
    let mut context = context(call, world)?;
    context.call.registry = hosts;
    context.call.words.clone_from(&words);
    for told in ignored {
        context.warn(told);
    }
    let called = (row.verb(&usage::leaf(&tree, &words).path), row.usage_code == 1);
    let allowed = reach::hold_agents_to_their_project(&context, called, &words);
    let result = allowed.and_then(|()| row.run(&mut context, &matches));
    Ok(answers::finish(context, result))
}

fn is_command(word: &str) -> bool {
    CATALOG.family(word).is_some()
}

/// Answers a question about the program itself: as text, wrapped at a terminal, or as JSON.
fn about(call: Invocation, world: World) -> Result<Answer, Failure> {
    let page = match call.wants {
        Wants::Version => Ok(None),
        Wants::Help | Wants::Work => help::page(CATALOG, &call).map(Some),
    };
    if !call.globals.json && call.globals.pick.is_none() {
        let terminal = world.terminal();
        return Ok(Answer::text(match page? {
            None => format!("gsd-tools {}\n", env!("CARGO_PKG_VERSION")),
            Some(page) if terminal.stdout => screen::two_columns(&page.text(), terminal.width),
            Some(page) => page.text(),
        }));
    }
    let mut context = context(call, world)?;
    let told = page.and_then(|page| match page {
        Some(page) => context.emit(&page),
        None => context.emit(&help::VersionReport::OURS),
    });
    Ok(answers::finish(context, told))
}

/// The context of a verb.
fn context(call: Invocation, world: World) -> Result<Context, Failure> {
    Context::new(world, call.globals, || CATALOG.listing(), || help::whole_tree(CATALOG))
}

/// A call without words. A person gets the state of the project, or a welcome page, and with `--text` so does a pager;
/// `--json` gives the same as data; another program gets the error that a word is missing.
fn bare(call: Invocation, world: World) -> Result<Answer, Failure> {
    let no_command = usage::family_of(CATALOG, &call).map(drop);
    let no_command = no_command.map_err(|error| error.hint("`gsd-tools --text` shows the project, in a pipe too"));
    let wants_json = call.globals.json;
    let mut context = context(call, world)?;
    let result = if wants_json && context.has_a_project() {
        overview::progress::as_data(&mut context)
    } else if wants_json {
        context.needs_a_project()
    } else if !context.shows_to_a_person() {
        no_command
    } else if context.has_a_project() {
        let page = context.refuses_a_person_without_a_project().and_then(|()| overview::progress::dashboard(&context));
        page.map(|page| context.text(page))
    } else {
        overview::progress::milestones(&context).map(|page| {
            let page = page.unwrap_or_else(|| help::welcome(context.screen(), hosts::installed_hosts(&context)));
            context.text(page);
        })
    };
    Ok(answers::finish(context, result))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_warning_is_part_of_the_answer() {
        let words = ["git", "base-branch", "--is-protected"].map(OsString::from).to_vec();
        let world = World::with([("HOME", "/nowhere")], std::path::Path::new("/"));
        let answer = answer(read(words).unwrap(), ExitContract::V1, world);
        assert_eq!((answer.stdout.trim(), answer.warnings.len()), ("false", 1), "{:?}", answer.outcome);
    }

    #[test]
    fn the_short_help_lists_commands_that_exist_each_once() {
        let words: Vec<&str> = help::FOR_PEOPLE.iter().flat_map(|(_, words)| words.iter().copied()).collect();
        assert!(words.iter().all(|word| CATALOG.family(word).is_some()), "{words:?}");
        assert_eq!(words.iter().collect::<BTreeSet<_>>().len(), words.len());
    }

    #[test]
    fn trees_are_sound() {
        for row in CATALOG.0 {
            let tree = tree(row);
            tree.clone().debug_assert();
        }
        help::whole_tree(CATALOG).debug_assert();
        help::with_global_flags(help::whole_tree(CATALOG)).debug_assert();
    }

    #[test]
    fn the_whole_tree_has_every_command_and_its_flags() {
        let mut whole = help::with_global_flags(help::whole_tree(CATALOG));
        whole.build();
        for verb in CATALOG.verbs() {
            let words: Vec<String> = verb.path.split(' ').map(str::to_owned).collect();
            let found = usage::leaf(&whole, &words);
            assert_eq!(found.path, verb.path);
            let has = |flag: &str| found.command.get_arguments().any(|argument| argument.get_long() == Some(flag));
            assert_eq!(has("json"), verb.path != argv::VERBATIM, "{}", verb.path);
            assert!(!verb.effect.rehearses() || has("dry-run"), "{}", verb.path);
        }
    }

    #[test]
    fn no_word_belongs_to_two_families() {
        let mut words: Vec<&str> =
            CATALOG.0.iter().flat_map(|family| family.words().collect::<BTreeSet<_>>()).collect();
        let count = words.len();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), count);
    }

    #[test]
    fn every_command_has_a_description() {
        fn check(command: &clap::Command, path: &str) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            assert!(!about.is_empty() && !about.ends_with('.'), "help of `{path}`: {about:?}");
            for child in command.get_subcommands() {
                check(child, &format!("{path} {}", child.get_name()));
            }
        }
        for row in CATALOG.0 {
            for command in tree(row).get_subcommands() {
                check(command, command.get_name());
            }
        }
    }
    /// The calls shown on a help page, each in backticks, without the parts where a shell processes the answer.
    fn examples(help: &str) -> Vec<&str> {
        let quoted = help.split_once("Example").map_or("", |(_, examples)| examples).split('`').skip(1).step_by(2);
        let calls = quoted.filter_map(|code| code.strip_prefix("gsd-tools "));
        calls.map(|call| call.split(" > ").next().unwrap_or(call)).collect()
    }

    /// The arguments of a call, split like a shell does, but only as needed for the examples.
    fn arguments(call: &str) -> Vec<OsString> {
        let mut words = vec![String::new()];
        let mut quote = None;
        for character in call.chars() {
            match (character, quote) {
                ('\'' | '"', None) => quote = Some(character),
                (character, Some(open)) if character == open => quote = None,
                (' ', None) => words.push(String::new()),
                _ => words.last_mut().unwrap().push(character),
            }
        }
        words.into_iter().map(OsString::from).collect()
    }

    #[test]
    fn every_command_has_an_example_that_can_be_typed() {
        let world = World::with([("HOME", "/nowhere")], std::path::Path::new("/"));
        let mut without = Vec::new();
        for verb in CATALOG.verbs() {
            let path = verb.path;
            let words: Vec<String> = path.split(' ').map(str::to_owned).collect();
            let row = CATALOG.family(&words[0]).unwrap();
            let about =
                usage::leaf(&tree(row), &words).command.get_long_about().map(ToString::to_string).unwrap_or_default();
            let examples = examples(&about);
            for example in &examples {
                let refused = |error: Failure| -> ! { panic!("`{example}`: {error:?}") };
                let mut call = read(arguments(example)).unwrap_or_else(|error| refused(error));
                call.words = install::spelled(call.words, &world, &OnceCell::new(), is_command)
                    .unwrap_or_else(|error| refused(error));
                let row = usage::family_of(CATALOG, &call).unwrap_or_else(|error| refused(error));
                usage::lift_of_writers(row, &tree(row), &mut call).unwrap_or_else(|error| refused(error));
                usage::read(row, &call.words).unwrap_or_else(|error| refused(error));
            }
            // A command that only refuses shows an example of what to call instead.
            let shown = |example: &&str| example.starts_with(path) || about.starts_with("Refuse ");
            if !examples.iter().any(shown) {
                without.push(path);
            }
        }
        assert_eq!(without, Vec::<&str>::new(), "commands whose help shows no call of them");
    }
}
