//! The preferences of a run, and those that it does not follow.

use super::request::unfinished;
use crate::acts::auto::place::{Preferred, RunPlace, WrittenPreferences};
use crate::acts::{Call, user};
use crate::auto::asked::{Asked, StartFacts};
use crate::auto::landing::id::Commit;
use crate::auto::landing::repository::Repository;
use crate::auto::memory::Memory;
use crate::auto::messages;
use crate::auto::unit_hooks;
use crate::disk::AbsolutePath;
use crate::failure::{Explain, Failure};
use crate::gate::check::Check;
use crate::project::files::{Files, MemoryFiles};
use crate::project::milestone_layout::lookup;
use crate::project::milestone_layout::unit_hooks::UnitHook;
use crate::text::shell::typed;

/// The preferences as they are where the run works, or will work.
pub(crate) fn preferred(call: &Call, place: &RunPlace, memory: &Memory) -> Result<Preferred, Failure> {
    Preferred::read(preference_files(call, place, memory)?.as_ref(), call.world())
}

/// The files from which the project's preferences are read. Changes by a session that is not judged yet, or that is to
/// be taken back, are ignored: then the files from before the session are read.
pub(crate) fn preference_files(call: &Call, place: &RunPlace, memory: &Memory) -> Result<Box<dyn Files>, Failure> {
    if unfinished(memory).is_none() {
        return Ok(RunPlace::files_at(call, &place.root));
    }
    let unjudged = memory.taking_back.as_ref().or(memory.current.as_ref().map(|operation| &operation.start));
    let Some(start) = unjudged else { return Ok(RunPlace::files_at(call, &place.documents(memory))) };
    let repository = Repository::open(call.world(), &place.root, None)?;
    let mut texts = Vec::new();
    for path in PREFERENCES.map(|name| format!("{}/{name}", lookup::FOLDER)) {
        let found = repository.content(&start.tree, &path)?;
        texts.extend(found.map(|bytes| (path, String::from_utf8_lossy(&bytes).into_owned())));
    }
    Ok(Box::new(MemoryFiles::new(texts.iter().map(|(path, text)| (path.as_str(), text.as_str())))))
}

/// Refuses to begin a run that would read other preferences than those in the project's folder, which its card shows:
/// its worktree has those of the commit `base`.
pub(crate) fn preferences_are_committed(call: &Call, repository: &Repository, base: &Commit) -> Result<(), Failure> {
    let files = RunPlace::files_at(call, repository.root());
    let entries = files.list(lookup::FOLDER)?.unwrap_or_default();
    // Under which name it is here; if it is not, it may have either in the commit.
    let names = lookup::root_file(&entries, user::PREFERENCES).map_or(PREFERENCES.to_vec(), |name| vec![name]);
    let plain = |text: &str| text.replace("\r\n", "\n");
    let mut differs = None;
    for path in names.iter().map(|name| format!("{}/{name}", lookup::FOLDER)) {
        let here = files.read(&path)?.map(|text| plain(&text));
        let there = repository.content(base.as_str(), &path)?.map(|bytes| plain(&String::from_utf8_lossy(&bytes)));
        differs = differs.or((here != there).then_some((path, here)));
    }
    let Some((path, here)) = differs else { return Ok(()) };
    let what = if here.is_some() { "differs from" } else { "is missing, unlike in" };
    let message = format!("`{path}` {what} the commit that the run would begin with");
    Err(Failure::usage(message)
        .exits(64)
        .hint(format!(
            "commit it: `{}`, then `{}`",
            typed!("git add {}", path),
            typed!("git commit -m \"chore: preferences\" -- {}", path)
        ))
        .hint(format!("what is only for you goes into `~/{}/{}`", lookup::FOLDER, user::PREFERENCES)))
}

/// Says so if the preferences in the project's folder are not those that the unfinished run reads in its worktree.
pub(crate) fn tell_of_others(call: &Call, place: &RunPlace, memory: &Memory) -> Result<(), Failure> {
    let project = |folder: &AbsolutePath| {
        let files = RunPlace::files_at(call, folder);
        Ok::<_, Failure>(WrittenPreferences::read(files.as_ref(), call.world())?.project)
    };
    let documents = place.documents(memory);
    let (here, there) = (project(&place.root)?, project(&documents)?);
    if here.is_some() && here != there {
        let path = format!("{}/{}", lookup::FOLDER, user::PREFERENCES);
        call.tell(format!("Not read by this run: `{path}`. It reads `{documents}/{path}`, where its work is."));
    }
    Ok(())
}

/// The kinds of units that the program does itself, unless `mechanical.enabled` is false.
const WITHOUT_SESSION: [&str; 3] = ["complete-slice", "validate-milestone", "complete-milestone"];

/// The names of the document, below its folder.
const PREFERENCES: [&str; 2] = ["PREFERENCES.md", "preferences.md"];

/// Refuses to begin a run that would not follow a preference; a run that has begun continues, and reports it. Lists the
/// commands that are not run as checks.
pub(crate) fn check_preferences(
    call: &Call,
    preferred: &Preferred,
    facts: StartFacts<'_>,
    has_begun: bool,
) -> Result<(), Failure> {
    let asked = Asked::of(&preferred.given, facts);
    for line in &asked.misspelled {
        call.tell(format!("Not known, so without effect: {line}"));
    }
    let hooks = unit_hooks::unmet(&preferred.hooks, facts.is_in_phases);
    let messages = messages::unmet(&preferred.messages);
    let unmet: Vec<&String> = preferred.problems.iter().chain(&asked.unmet).chain(&hooks).chain(&messages).collect();
    if has_begun {
        for line in unmet {
            call.tell(format!("Not followed: {line}"));
        }
    } else if let Some((first, rest)) = unmet.split_first() {
        let rest = rest.iter().fold(String::new(), |text, line| text + "\n" + line);
        let is_own = |line: &&&String| line.starts_with("`~/");
        let cure = if unmet.iter().all(|line| is_own(&line)) {
            "remove what is named or change it, then run the command again"
        } else {
            "remove what is named or change it, commit it, then run the command again"
        };
        return Err(Failure::usage(format!("{first}{rest}"))
            .exits(64)
            .hint(cure)
            .hint("`gsd-tools config list` shows all preferences and marks these"));
    }
    for line in &asked.idle {
        call.tell(format!("Without effect here: {line}"));
    }
    let is_session = |kind: &String| !WITHOUT_SESSION.contains(&kind.as_str());
    let idle = |hook: &&UnitHook| !hook.kinds.iter().any(is_session);
    for hook in preferred.hooks.hooks.iter().filter(idle).filter(|_| preferred.resolved().is_mechanical) {
        call.tell(format!("Without effect here: hook `{}`; its units are done without a session", hook.name));
    }
    if asked.of_others > 0 {
        call.tell(format!("Preferences of other programs, without effect here: {}", asked.of_others));
    }
    let commands = preferred.document.verification_commands.iter().flat_map(|line| Check::all_of(line));
    for refused in commands.filter_map(Result::err) {
        let hint = refused.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
        call.tell(format!(
            "Not followed: {refused}{hint}; `gsd-tools config explain verification_commands` shows what can be written"
        ));
    }
    Ok(())
}
