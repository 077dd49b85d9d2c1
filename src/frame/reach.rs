//! Limits of a call: which folders it may name, and what an agent may not do.

use super::Context;
use super::verb::Verb;
use crate::acts::caller::by_a_person;
use crate::acts::listing::Effect;
use crate::auto::real::UNIT_VARIABLE;
use crate::disk::{self, AbsolutePath};
use crate::failure::Failure;
use crate::project::{repository, root};

/// Refuses an agent's call if a permission rule cannot exclude it: `--force`, and another project. `verb` is the verb
/// that `words` call; an alias of a command has none, but the rule for its first word lets it run without asking.
pub(crate) fn hold_agents_to_their_project(
    context: &Context,
    (verb, is_about_documents): (Option<&Verb>, bool),
    words: &[String],
) -> Result<(), Failure> {
    let ours = words.iter().take_while(|word| *word != "--");
    let forced = !context.is_rehearsal() && ours.into_iter().any(|word| word == "--force");
    let elsewhere = [&context.flags.folder, &context.flags.project_folder].into_iter().any(Option::is_some);
    if !forced && !elsewhere {
        return Ok(());
    }
    // A host asks before it runs these; verbs that remove documents are refused anyway.
    let takes_documents = |verb: &Verb| verb.effect == Effect::Destroys && is_about_documents;
    if verb.is_some_and(|verb| !verb.runs_unasked() && !takes_documents(verb)) {
        return Ok(());
    }
    // Force has no effect on a verb that changes nothing.
    let forced = forced && verb.is_none_or(|verb| verb.effect != Effect::Reads);
    if !forced && !elsewhere {
        return Ok(());
    }
    let Some(name) = context.agent_session()? else { return Ok(()) };
    let refused = |what: String| {
        let refused = Failure::usage(format!("{what} needs a person, and an agent runs this call: {name} is set"));
        refused.exits(77).hint("ask the user to run it in a terminal")
    };
    if forced {
        return Err(refused("`--force`".to_owned()));
    }
    let started = AbsolutePath::parse(context.world().folder()?)?;
    let project = disk::canonical(&root::discover(&started, context.world().home().as_deref()))?;
    let target = disk::canonical(context.here())?;
    let main = |folder: &AbsolutePath| repository::main_place(folder).unwrap_or_else(|| folder.clone());
    let target_root = disk::canonical(context.root())?;
    if target.as_path().starts_with(project.as_path()) || main(&target_root) == main(&project) {
        return Ok(());
    }
    Err(refused(format!("`{target}`, which is not below `{project}`,")))
}

/// Refuses the agent of a unit every verb that hosts do not run without asking: in an unattended session, no person can
/// be asked, and a verb that starts a program given by the caller could start any program.
pub(super) fn hold_units_to_what_runs_unasked(context: &Context, verb: &Verb) -> Result<(), Failure> {
    if verb.runs_unasked() {
        return Ok(());
    }
    let Some(kind) = context.world().unit() else { return Ok(()) };
    let unit = context.world().variable(UNIT_VARIABLE).unwrap_or_else(|| format!("a unit ({kind})"));
    let refused = format!("`{}` needs a person, and the agent of {unit} runs this call", verb.path);
    Err(Failure::usage(refused).exits(77).hint(by_a_person(&context.call, verb.path)))
}

/// Asks a person at a terminal before something is removed. Does not ask if the call confirms itself with `--yes`, or
/// with the verb's own `--confirm`, or if no person is at a terminal.
pub(super) fn asks_before_it_destroys(context: &Context, verb: &Verb) -> Result<(), Failure> {
    if verb.effect != Effect::Destroys
        || context.is_sure()
        || context.is_rehearsal()
        || !crate::acts::caller::can_confirm(context)
    {
        return Ok(());
    }
    let command = verb.command();
    let is_own = |flag: &str| command.get_arguments().any(|argument| argument.get_long() == Some(flag));
    if is_own("yes") || is_own("confirm") {
        return Ok(());
    }
    if Context::confirms(&format!("`gsd-tools {}` moves or removes files. Continue", verb.path))? {
        return Ok(());
    }
    Err(Failure::usage("nothing was changed").hint("pass --yes to do it without this question"))
}
