//! `auto discuss`: a conversation of a person with their client about a milestone or a slice, before it is planned.

use super::place::RunPlace;
use super::seen::Seen;
use super::start::how::first_installed;
use super::start::planned::next_milestone;
use super::start::request::unfinished;
use super::texts::{PromptReport, prompt_of, unit_of};
use crate::acts::Call;
use crate::auto::memory::Memory;
use crate::auto::runner::table::{Runner, Runners};
use crate::auto::unit::{Unit, UnitKind};
use crate::disk::{self, AbsolutePath};
use crate::failure::{Failure, Reason};
use crate::project::milestone_layout::lookup;
use crate::text::shell::{Typed, typed};
use crate::world::{Ended, Program};

/// What is discussed, and the text for the agent.
#[derive(Debug)]
pub(crate) struct Discussion {
    pub(crate) prompt: PromptReport,
    subject: String,
    /// The root of the documents: of the worktree if its run is about the same milestone.
    documents: AbsolutePath,
    is_of_run: bool,
    memory: Memory,
}

/// The client that a person wants to talk to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DiscussionClient<'a> {
    pub(crate) runner: Option<&'a str>,
    pub(crate) program: Option<&'a str>,
    pub(crate) model: Option<&'a str>,
}

/// What came of a conversation.
#[derive(Debug)]
pub(crate) struct Discussed {
    pub(crate) client: String,
    /// The file that says what was agreed.
    pub(crate) context: String,
    pub(crate) is_written: bool,
    /// The commands that go on.
    pub(crate) next: Vec<Typed>,
}

/// Returns what there is to discuss: the milestone or slice that is named, else the active milestone, else a new one.
pub(crate) fn discussion(call: &Call, id: Option<&str>, is_new: bool) -> Result<Discussion, Failure> {
    let place = RunPlace::of_run(call)?;
    if place.is_in_phases(None) {
        let hint = "give your agent `/gsd-discuss-phase`, or run `gsd-tools auto dispatch discuss-phase`";
        return Err(Failure::usage("this project is in phases, which an agent discusses").hint(hint));
    }
    let memory = place.memory()?;
    let seen = Seen::whole(call)?;
    let milestone = id.map(|id| id.split('/').next().unwrap_or_default().to_ascii_uppercase());
    let run = unfinished(&memory).filter(|_| memory.landed.is_none());
    let is_of_run = run.is_some_and(|run| milestone.as_ref().is_none_or(|asked| *asked == run.milestone) && !is_new);
    // What another milestone is about is not the work of the run.
    let seen = if run.is_some() && !is_of_run { Seen::without_run(call)? } else { seen };
    // What cannot be read could be the milestone, or have the number of a new one.
    if let Some(blocker) = seen.state.blockers.first().filter(|_| !seen.snapshot.problems.is_empty()) {
        return Err(Failure::new(Reason::Unknown, blocker.clone()).hint("correct it, then run the command again"));
    }
    let new = next_milestone(&seen);
    let unit = match id {
        Some(id) if id.contains('/') => unit_of(&seen, UnitKind::DiscussSlice.word(), Some(id))?,
        Some(id) if id.eq_ignore_ascii_case(&new) => Unit::new(UnitKind::DiscussMilestone, new),
        None if is_new || seen.state.milestone.is_none() => Unit::new(UnitKind::DiscussMilestone, new),
        id => unit_of(&seen, UnitKind::DiscussMilestone.word(), id)?,
    };
    let documents = place.documents(&seen.memory);
    let subject = unit.id.clone();
    Ok(Discussion { prompt: prompt_of(call, &seen, unit)?, subject, documents, is_of_run, memory })
}

/// Starts the client at the terminal of the call, with the text, and waits for its end.
pub(crate) fn hold(call: &Call, discussion: &Discussion, asked: DiscussionClient<'_>) -> Result<Discussed, Failure> {
    let place = RunPlace::of_run(call)?;
    if discussion.is_of_run && place.holder(call.disk(), &discussion.memory)?.is_some() {
        return Err(Failure::usage(format!("a run works on {} now", discussion.subject))
            .exits(75)
            .hint("`gsd-tools auto pause` ends it after its unit"));
    }
    let runners = Runners::builtin().map_err(|error| Failure::because(Reason::Unknown, &error))?;
    let run = unfinished(&discussion.memory);
    let runner = match asked.runner.or(run.map(|run| run.runner.as_str())) {
        Some(name) => runners.find(name).map_err(|error| Failure::because(Reason::Usage, &error))?,
        None => first_installed(call, &runners)?,
    };
    let printed = typed!("gsd-tools auto discuss {} --print", discussion.subject);
    let Some(arguments) = runner.conversation(&discussion.prompt.text, asked.model) else {
        let message = format!("how {} begins a conversation is not known", runner.title);
        return Err(Failure::usage(message).hint(format!("give it what `{printed}` prints")));
    };
    let program = program(call, runner, asked.program)?;
    let context = discussion.documents.resolve(discussion.prompt.first_expected().unwrap_or_default());
    let before = disk::read_text(&context)?;
    call.tell(format!("{} gets the text of `{printed}`. Leave it when its files are written.", runner.title));
    let client = Program::new(&program).arguments(arguments).folder(place.root.as_path());
    let ended = call.world().hand_over(&client).map_err(|error| Failure::because(Reason::Unknown, &error))?;
    if ended != Ended::Code(0) {
        call.warn(format!("{} has reported a failure", runner.title));
    }
    // One that was there before shows nothing about this conversation.
    let after = disk::read_text(&context)?.filter(|text| !text.trim().is_empty());
    let is_written = after.is_some() && after != before;
    Ok(Discussed {
        client: runner.title.clone(),
        context: context.to_string(),
        is_written,
        next: next(discussion, is_written),
    })
}

fn program(call: &Call, runner: &Runner, named: Option<&str>) -> Result<String, Failure> {
    if let Some(named) = named {
        let is_path = named.contains(std::path::is_separator);
        return Ok(if is_path { call.here().resolve(named).to_string() } else { named.to_owned() });
    }
    runner.installed(call.world()).ok_or_else(|| {
        Failure::usage(format!("{} is not installed", runner.title))
            .hint("`--runner NAME` names another client, and `--runner-program PATH` its program")
    })
}

fn next(discussion: &Discussion, is_written: bool) -> Vec<Typed> {
    if !is_written {
        return vec![typed!("gsd-tools auto discuss {}", discussion.subject)];
    }
    if discussion.is_of_run {
        return vec!["gsd-tools auto run".into()];
    }
    let milestone = discussion.subject.split('/').next().unwrap_or_default();
    let message = format!("docs({}): context", discussion.subject);
    vec![
        typed!("git add {}", lookup::FOLDER),
        typed!("git commit -m {} -- {}", message, lookup::FOLDER),
        typed!("gsd-tools auto run {}", milestone),
    ]
}
