//! Native hooks: one process for one event of a host.
//!
//! `gsd-tools hook <dialect> <event> [--without <hook>]`: reads the host's JSON, runs the hooks of the event, and
//! prints one answer. A hook never breaks the host: on any internal error nothing is printed and the exit code is 0.
//! Outside projects that use gsd, nothing is printed, except about calls of gsd-tools and about secrets of a project
//! that are named from elsewhere; only the status line shows what it can everywhere. [`Switch`] turns all of it off.
//!
//! A hook is a module with `pub(super) fn look(scene: &Scene<'_>) -> Reaction` and a row of [`HOOKS`]. `look` gets
//! facts from the scene (`payload.tool()`, `payload.writes()`, `project.flag(...)`, `read(...)`) and passes them to a
//! pure function; the finding is [`verdict::Reaction::Nothing`], a `Note` for the agent, a `Tell` for the person, or a
//! refusal, [`verdict::Reaction::block`]. [`answer()`] turns all findings into the host's own form: hooks do not depend
//! on a dialect.

mod agent_isolation_guard;
mod answer;
mod called;
mod checkout;
mod config_reload;
mod context_monitor;
mod git_guard;
mod git_index;
mod git_line;
mod graphify_update;
#[cfg(test)]
mod guard_tests;
mod injection_scanner;
pub(crate) mod interrupted;
mod open_acceptance;
mod payload;
mod permission_guard;
mod phase_boundary;
mod position;
mod prompt_guard;
mod read_guard;
mod sample;
mod scene;
mod secret_guard;
mod session_state;
mod statusline;
mod switch;
mod tool;
mod update_check;
mod validate_commit;
mod verdict;
mod workflow_guard;
mod worktree_path_guard;
mod write_guard;

use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::disk::{self, AbsolutePath};
use crate::library::Event;
use crate::project::auto_run::Landing;
use crate::runtime::Dialect;
use crate::text::words::of_word;
use crate::world::{HEARD, World};

use answer::{Answer, answer};
pub(crate) use called::{forget_calls, is_managed, last_called, root_of, was_called};
pub(crate) use payload::Payload;
use position::PositionWords;
pub(crate) use sample::sample;
use scene::{HookProject, Scene};
pub(crate) use switch::{Switch, VARIABLE, has_managed_hooks, is_off_by_variable};
pub(crate) use update_check::{KnownVersions, is_newer, published_as};
use verdict::{EventVerdict, Reaction};

/// A hook: its name, its events, and its function.
struct Hook {
    name: &'static str,
    events: &'static [Event],
    look: fn(&Scene<'_>) -> Reaction,
}

/// Hooks meant for the person who talks with the agent. A session of `auto run` has no such person, and its prompt says
/// where the work is; a note that changes from day to day would also make a prompt cache miss everything after it.
const FOR_PEOPLE: &[&str] = &["session-state", "update-check", "phase-boundary", "context-monitor"];

/// All hooks except the status line, which answers with a line instead of a verdict. Those of one event run in this order.
/// `hooks/hooks.toml` says the same to the installer.
const HOOKS: &[Hook] = &[
    Hook { name: "session-state", events: &[Event::SessionStart], look: session_state::look },
    Hook { name: "update-check", events: &[Event::SessionStart], look: update_check::look },
    Hook { name: "secret-guard", events: &[Event::BeforeTool], look: secret_guard::look },
    Hook { name: "agent-isolation-guard", events: &[Event::BeforeTool], look: agent_isolation_guard::look },
    Hook { name: "permission-guard", events: &[Event::BeforeTool], look: permission_guard::look },
    Hook { name: "worktree-path-guard", events: &[Event::BeforeTool], look: worktree_path_guard::look },
    Hook { name: "write-guard", events: &[Event::BeforeTool], look: write_guard::look },
    Hook { name: "git-guard", events: &[Event::BeforeTool], look: git_guard::look },
    Hook { name: "validate-commit", events: &[Event::BeforeTool], look: validate_commit::look },
    Hook { name: "workflow-guard", events: &[Event::BeforeTool], look: workflow_guard::look },
    Hook { name: "prompt-guard", events: &[Event::BeforeTool], look: prompt_guard::look },
    Hook { name: "read-guard", events: &[Event::BeforeTool], look: read_guard::look },
    Hook { name: "injection-scanner", events: &[Event::AfterTool], look: injection_scanner::look },
    Hook { name: "phase-boundary", events: &[Event::AfterTool], look: phase_boundary::look },
    Hook { name: "context-monitor", events: &[Event::AfterTool, Event::BeforeCompact], look: context_monitor::look },
    Hook { name: "graphify-update", events: &[Event::AfterTool], look: graphify_update::look },
    Hook { name: "config-reload", events: &[Event::FileChanged], look: config_reload::look },
];

/// Passes `text` to every guard that reads command lines, to test that each one terminates.
#[cfg(any(test, fuzzing))]
pub(crate) fn guards_read(text: &str) {
    let _ = secret_guard::read_by(text);
    let _ = validate_commit::complaint(text, &[]);
    let _ = workflow_guard::forces_in_agent_branch(text, |_| Some(checkout::Head::Unreadable));
    let _ = write_guard::written_by(text);
    let _ = crate::text::shell::PlainLine::read(text);
    let _ = graphify_update::may_move(text);
    let _ = injection_scanner::signs(text);
    let _ = injection_scanner::printed(text, std::path::Path::new("/p"));
}

/// How long a host may take to send its event. After that, the event is dropped.
const PATIENCE: Duration = Duration::from_secs(3);

/// More than any host sends; longer input is not an event.
const LONGEST_EVENT: u64 = 32 * 1024 * 1024;

/// Answers one event of a host: `arguments` are the host's dialect and the event.
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    let Some(answer) = respond(arguments, &World::real()) else { return ExitCode::SUCCESS };
    // It is not our failure if a host stopped listening.
    let _ = std::io::stdout().write_all(answer.stdout.as_bytes());
    let _ = std::io::stderr().write_all(answer.stderr.as_bytes());
    ExitCode::from(answer.code)
}

fn respond(arguments: &[OsString], world: &World) -> Option<Answer> {
    // Read the event in any case: a host may report a failure if it writes to a process that is gone.
    let event_text = read_event(world)?;
    let words: Vec<&str> = arguments.iter().map(|word| word.to_str()).collect::<Option<_>>()?;
    let (dialect, event, options) = match words.as_slice() {
        [dialect, event, options @ ..] => (of_word::<Dialect>(dialect)?, of_word::<Event>(event)?, options),
        _ => return None,
    };
    leave_word(world);
    called::note(world);
    // The status line is the user's. Guards refuse twice: where another policy comes first, the host ignores the hooks that
    // an administrator placed in files.
    let is_said_once = !matches!(event, Event::StatusLine | Event::BeforeTool);
    if switch::is_off(world) || (is_said_once && switch::is_answered_by_administrator(world)) {
        return None;
    }
    let payload = Payload::parse(&event_text)?;
    let here = payload.folder().map(PathBuf::from).or_else(|| world.folder().ok())?;
    let project = HookProject::find(&here, world, payload.session());
    if event == Event::StatusLine {
        return Some(Answer::text(status_line(world, &payload, &here, project.as_ref())));
    }
    let mut verdict = match &project {
        Some(project) => verdict(&Scene { world, event, payload: &payload, here: &here, project }, options),
        None if event == Event::SessionStart => in_milestones(world, &here)?,
        None => outside(world, event, &payload, &here)?,
    };
    let says_more = !verdict.notes.is_empty() || !verdict.told.is_empty();
    if event == Event::BeforeTool && says_more && switch::is_answered_by_administrator(world) {
        (verdict.notes, verdict.told) = (Vec::new(), Vec::new());
    }
    Some(answer(dialect, event, &payload, &verdict))
}

/// What our hooks give a new session in a folder to read; empty outside of projects that use us. Nothing is noted about it.
pub(crate) fn at_start(world: &World, here: &Path) -> String {
    if switch::is_off(world) {
        return String::new();
    }
    let Some(payload) = Payload::parse(&sample("", &here.to_string_lossy(), None)) else { return String::new() };
    let verdict = match HookProject::find(here, world, payload.session()) {
        Some(project) => {
            let scene = Scene { world, event: Event::SessionStart, payload: &payload, here, project: &project };
            let mut verdict = EventVerdict::default();
            verdict.add(session_state::said(&scene));
            Some(verdict)
        }
        None => in_milestones(world, here),
    };
    verdict.map(|verdict| verdict.notes.join("\n")).unwrap_or_default()
}

/// Leaves a file for the runner of this session to show that its client calls our hooks: some clients load them only in
/// certain places.
fn leave_word(world: &World) {
    let file = world.path_variable(HEARD).filter(|file| world.is_unit() && !disk::exists(file));
    if let Some(file) = file.and_then(|file| AbsolutePath::parse(file).ok()) {
        // If this fails, the runner reports that no hook was called; the hook itself need not fail.
        let _ = disk::write_fleeting(&file, b"");
    }
}

/// The verdict outside of every project; `None` if nothing is refused.
fn outside(world: &World, event: Event, payload: &Payload, here: &Path) -> Option<EventVerdict> {
    if event != Event::BeforeTool {
        return None;
    }
    let mut verdict = EventVerdict::default();
    verdict.add(permission_guard::look_in(world, payload, &[here]));
    for project in secret_guard::projects_named(world, payload) {
        verdict.add(secret_guard::look(&Scene { world, event, payload, here, project: &project }));
    }
    verdict.block.is_some().then_some(verdict)
}

/// Runs the hooks of the event, except those that the host makes needless (named by `--without`) and, in a session of
/// `auto run`, those meant for people.
fn verdict(scene: &Scene<'_>, options: &[&str]) -> EventVerdict {
    let is_told = |name: &str| !(scene.world.is_unit() && FOR_PEOPLE.contains(&name));
    let is_needless = |name: &str| options.windows(2).any(|pair| pair[0] == "--without" && pair[1] == name);
    let wanted = |name: &str| is_told(name) && !is_needless(name);
    let mut verdict = EventVerdict::default();
    for hook in HOOKS.iter().filter(|hook| hook.events.contains(&scene.event) && wanted(hook.name)) {
        verdict.add((hook.look)(scene));
    }
    verdict
}

/// The note for a session that starts in the milestones of `auto`; `None` without milestones.
fn in_milestones(world: &World, here: &Path) -> Option<EventVerdict> {
    let (next, _) = scene::next_of_milestones(here, world).filter(|_| !world.is_unit())?;
    let mut verdict = EventVerdict::default();
    verdict.add(session_state::note_of_milestones(&next, world, here));
    Some(verdict)
}

fn status_line(world: &World, payload: &Payload, here: &Path, project: Option<&HookProject>) -> String {
    let used = payload.context_use(world.now().milliseconds());
    if let (Some(used), Some(file)) = (&used, scene::session_file(world, payload, context_monitor::NUMBERS)) {
        scene::leave(&file, used);
    }
    let versions = KnownVersions::recall(world);
    let setting = |key: &str| project.and_then(|project| project.setting(key));
    let milestones = if project.is_none() { scene::next_of_milestones(here, world) } else { None };
    let around = project.map(|project| project.around(world));
    let runs = around.as_ref().or(milestones.as_ref().map(|(_, around)| around)).map(|around| &around.runs);
    statusline::StatuslineParts {
        payload,
        position: match (project, &around) {
            (Some(project), Some(around)) => {
                let position = project.state().as_deref().and_then(PositionWords::of_state).unwrap_or_default();
                Some(position.in_project(project, around, |name| scene::command(world, name)))
            }
            _ => milestones.as_ref().map(|(next, _)| PositionWords::in_milestones(next)),
        },
        landed: runs.and_then(|runs| runs.news(world.now().milliseconds())).map(Landing::brief),
        todo: statusline::todo(payload),
        used: used.as_ref(),
        newer: versions.newer(),
        context_first: setting("statusline.context_position").is_some_and(|place| place == "front"),
        short: setting("statusline.state_format").is_some_and(|format| format == "compact"),
        tokens: setting("statusline.show_context_tokens").is_some_and(|shown| shown == true),
        branch: setting("statusline.show_git").filter(|shown| *shown == true).and_then(|_| branch(here)),
        state_age: setting("statusline.show_state_freshness")
            .filter(|shown| *shown == true)
            .and_then(|_| project?.state_age(world.now().milliseconds())),
        color: world.variable("NO_COLOR").is_none(),
    }
    .line()
}

/// The branch that is checked out in a folder.
fn branch(here: &Path) -> Option<String> {
    match checkout::Checkout::of(here)?.head() {
        checkout::Head::Branch(branch) => Some(branch),
        checkout::Head::Commit | checkout::Head::Unreadable => None,
    }
}

/// The event from the host, or `None` if nothing is sent.
fn read_event(world: &World) -> Option<String> {
    if world.terminal().stdin {
        return None;
    }
    let read = Arc::new(AtomicBool::new(false));
    watch(Arc::clone(&read));
    let mut bytes = Vec::new();
    let outcome = std::io::stdin().lock().take(LONGEST_EVENT).read_to_end(&mut bytes);
    read.store(true, Ordering::Relaxed);
    outcome.ok().map(|_| text_of(bytes))
}

/// Decodes the event. An invalid character, such as in the output of a program, does not make the rest unreadable.
fn text_of(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Ends the process, silently, if the event is not `read` in time. The event is read on the first thread and the time
/// is watched on another: a reader on another thread would have to wake the first one, which costs more than all hooks
/// together.
#[expect(clippy::disallowed_methods, reason = "a read that does not come back leaves no other way to end")]
fn watch(read: Arc<AtomicBool>) {
    std::thread::spawn(move || {
        std::thread::sleep(PATIENCE);
        if !read.load(Ordering::Relaxed) {
            std::process::exit(0);
        }
    });
}

#[cfg(test)]
mod payload_tests;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::Library;

    #[test]
    fn events_are_read_whatever_characters_they_contain() {
        assert_eq!(text_of(b"a \xe4 b".to_vec()), "a \u{fffd} b");
        assert_eq!(text_of("ä".into()), "ä");
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the pages are read as they stand in the repository")]
    fn every_hook_in_the_table_has_its_code_and_its_page() {
        let library = Library::embedded().unwrap();
        let mut listed: Vec<_> =
            library.hooks().rows.iter().map(|row| (row.name.as_str(), row.events.as_slice())).collect();
        let mut coded: Vec<_> = HOOKS.iter().map(|hook| (hook.name, hook.events)).collect();
        coded.push(("statusline", &[Event::StatusLine]));
        listed.sort_unstable();
        coded.sort_unstable();
        assert_eq!(listed, coded);
        for row in &library.hooks().rows {
            let page = format!("{}/hooks/{}.md", env!("CARGO_MANIFEST_DIR"), row.name);
            let page = std::fs::read_to_string(&page).unwrap_or_else(|error| panic!("{page}: {error}"));
            let settings = row.opt_in.iter().chain(&row.opt_out);
            for key in settings {
                assert!(page.contains(&format!("`{key}")), "{}: {key}", row.name);
                assert!(crate::project::config::key_names().contains(key), "{key}");
            }
        }
    }
}
