//! The place of a demo: one temporary folder for everything that it and its programs write, and the project, which can
//! be elsewhere so that it is kept.

use std::path::Path;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;

use super::accounts::{of_place, summary};
use super::place::RunPlace;
use super::start::card::StartCard;
use crate::acts::Call;
use crate::auto::account::summary::RunSummary;
use crate::auto::brought::APPROVED;
use crate::auto::demo::{self, DemoCommand, RUNNER, Script, VARIABLE};
use crate::auto::event::Entry;
use crate::auto::memory::Memory;
use crate::auto::stop::Cause;
use crate::disk::log::read_log;
use crate::disk::{self, AbsolutePath, DiskError, Scratch};
use crate::failure::{Failure, Reason};
use crate::project::milestone_layout::lookup;
use crate::world::fence::Fencing;
use crate::world::output::Stream;
use crate::world::process::{Ask, Next};
use crate::world::signals::{self, Requests};
use crate::world::{Ended, Program, World, WorldError};

/// This program's name, as typed.
const PROGRAM: &str = "gsd-tools";

/// The time a run has to end when the demo is interrupted.
const TO_END: Duration = Duration::from_secs(5);

/// The exit code of a demo ended by Ctrl-C.
const INTERRUPTED: u8 = 130;

/// The exit code of a demo ended by another signal.
const TERMINATED: u8 = 143;

/// The maximum number of calls of the run: two for each approval that it asks for.
const MOST_CALLS: u32 = 8;

/// The time between two checks for a request to end the demo.
const TICK: Duration = Duration::from_millis(50);

/// The settings of git in the folder of a demo.
const SETTINGS: &str = "home/.gitconfig";

/// The author of the project's commits, and other settings that git asks its user for. The repositories are ours, no
/// matter who owns them according to the file system.
const GIT_CONFIG: &str = "\
[user]
\tname = gsd-tools demo
\temail = demo@example.invalid
[init]
\tdefaultBranch = main
[safe]
\tdirectory = *
";

/// The hint for a folder that cannot be used.
const ANOTHER_FOLDER: &str = "name another folder: `gsd-tools demo --keep FOLDER`";

/// Variables with which users move folders that the demo replaces with its own.
const MOVED: &[&str] =
    &["APPDATA", "LOCALAPPDATA", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"];

/// The folders of a demo. Those that are not kept are removed when this value is dropped.
pub(crate) struct Stage<'a> {
    world: &'a World,
    requests: Option<Requests>,
    scratch: Scratch,
    project: AbsolutePath,
    kept: Option<KeptProject>,
}

/// The folder of a project to keep, until the project is complete.
struct KeptProject {
    project: AbsolutePath,
    /// The outermost folder that was created for it.
    made: Option<AbsolutePath>,
    is_done: bool,
}

impl Drop for KeptProject {
    fn drop(&mut self) {
        if self.is_done {
            return;
        }
        // If something cannot be removed, the error that led here is the one to report.
        if let Some(made) = &self.made {
            let _ = disk::remove_folder(made);
            return;
        }
        for entry in disk::list(&self.project).ok().flatten().unwrap_or_default() {
            let Ok(path) = AbsolutePath::parse(&entry.path) else { continue };
            let _ = if entry.is_folder() { disk::remove_folder(&path) } else { disk::remove_note(&path) };
        }
    }
}

impl<'a> Stage<'a> {
    /// Creates the folders. `keep` is the path where the project should stay.
    pub(crate) fn new(call: &'a Call, keep: Option<&str>) -> Result<Self, Failure> {
        let world = call.world();
        for program in ["git", "sh"] {
            if !world.finds(program) {
                return Err(WorldError::NoProgram { program: program.to_owned() }.into());
            }
        }
        // Refused before anything is created.
        let keep = keep.map(|folder| empty_folder(call.here(), folder)).transpose()?;
        let requests = Requests::watch().ok();
        let temporary = call.here().resolve(world.temporary_folder());
        // Remove the folders of killed demos. Those of other users cannot be removed, and need not be.
        let _ = disk::remove_left_with(&temporary, SETTINGS);
        let scratch = Scratch::new(temporary.as_path()).map_err(|error| no_temporary_folder(&error))?;
        for folder in ["home", "state", "tmp"] {
            scratch.make_folder(folder)?;
        }
        disk::replace(&scratch.path(SETTINGS), GIT_CONFIG.as_bytes())?;
        let kept = keep.map(KeptProject::make).transpose();
        let kept = kept.map_err(|error| Failure::from(error).hint(ANOTHER_FOLDER))?;
        let project = kept.as_ref().map_or_else(|| scratch.path("project"), |kept| kept.project.clone());
        disk::make_folder(&project)?;
        let project = disk::canonical(&project)?;
        Ok(Self { world, requests, scratch, project, kept })
    }

    /// Creates the project: a repository with one commit.
    pub(crate) fn prepare(&self, script: &Script) -> Result<(), Failure> {
        for (path, text) in demo::project_files() {
            disk::replace(&self.project.resolve(path), text.as_bytes())?;
        }
        self.git(&["init", "--quiet", "--template="])?;
        // A run looks for its project in the folders above: there may be another project around this one.
        disk::make_folder(&self.project.resolve(".gsd/milestones"))?;
        self.git(&["add", "--all"])?;
        self.git(&["commit", "--quiet", "--message", &script.subject])?;
        Ok(())
    }

    /// The place of the run.
    pub(crate) fn place(&self) -> Result<RunPlace, Failure> {
        RunPlace::at(self.project.clone(), &self.scratch.path("state/gsd-tools"), self.world.clone())
    }

    /// What the run would do and take.
    pub(crate) fn card(&self, script: &Script) -> Result<StartCard, Failure> {
        let program = self.run_of_brief(script, &[])?.arguments(["--dry-run"]);
        let finished = self.world.run(&program)?;
        let answer = serde_json::from_slice::<CardAnswer>(&finished.stdout);
        Ok(answer.map_err(|_| failed(&finished.text(), &finished.error_text()))?.card)
    }

    /// What the run did and took.
    pub(crate) fn summary(&self, call: &Call) -> Result<Option<RunSummary>, Failure> {
        let place = self.place()?;
        of_place(&place)?.last().map(|account| summary(call, &place, account)).transpose()
    }

    /// The line as a person types it, plus the arguments for the demo, after `first`.
    fn run_of_brief(&self, script: &Script, first: &[&str]) -> Result<Program, Failure> {
        let this = self.world.executable()?;
        let own = this.to_string_lossy();
        let line = ["auto", "run", "--brief", &script.brief];
        let here = ["--layout", "milestones", "--runner", RUNNER, "--runner-program", &own, "--json-errors"];
        Ok(self.apart(&this).arguments(first).arguments(line).arguments(here))
    }

    /// Runs the brief to its end. `hear` gets each entry of the log as it arrives. On a system without a fence, the run
    /// stops before checks that are not approved: this program wrote the checks of this project, so it approves them.
    pub(crate) fn run(&self, script: &Script, hear: &mut dyn FnMut(&Entry)) -> Result<(), Failure> {
        let (mut heard, mut approved) = (0, String::new());
        let mut calls = 0;
        loop {
            let (ended, answer, complaint) = self.call(script, &mut heard, hear, &approved)?;
            calls += 1;
            if ended == Ended::Code(0) {
                return Ok(());
            }
            match asked_for(&answer).filter(|_| calls < MOST_CALLS) {
                Some(digest) => approved = digest,
                None => return Err(failed(&answer, &complaint)),
            }
        }
    }

    /// Calls the run once, with the approval `approved`. Returns how it ended, its answer, and its error output.
    fn call(
        &self,
        script: &Script,
        heard: &mut usize,
        hear: &mut dyn FnMut(&Entry),
        approved: &str,
    ) -> Result<(Ended, String, String), Failure> {
        let program = self.run_of_brief(script, &[signals::CALL])?.variable(APPROVED, approved);
        let log = self.place()?.log();
        let mut process = self.world.start_talking(&program)?;
        let (mut complaint, mut answer) = (String::new(), String::new());
        let ended = loop {
            let next = process.next(Instant::now() + TICK)?;
            if let Some(ask) = self.asked() {
                process.stop(ask, TO_END)?;
                return Err(interrupted(ask));
            }
            if let Next::Line(line) = &next {
                let text = String::from_utf8_lossy(&line.bytes);
                let told = if line.stream == Stream::Stderr { &mut complaint } else { &mut answer };
                told.push_str(&text);
                told.push('\n');
            }
            // A line of output means that the log may have new entries; its text is for callers that do not read the
            // log.
            let entries = read_log::<Entry>(&log).ok().flatten().map(|found| found.entries).unwrap_or_default();
            entries.iter().skip(*heard).for_each(&mut *hear);
            *heard = entries.len().max(*heard);
            if let Next::Ended(ended) = next {
                break ended;
            }
        };
        Ok((ended, answer, complaint))
    }

    /// Runs a program in the project and returns its output.
    pub(crate) fn output(&self, line: &[impl AsRef<str>]) -> Result<String, Failure> {
        let (name, arguments) = line.split_first().ok_or_else(|| Failure::usage("no program is named"))?;
        let own = (name.as_ref() == PROGRAM).then(|| self.world.executable()).transpose()?;
        let program = self.apart(own.as_deref().unwrap_or_else(|| Path::new(name.as_ref())));
        let program = program.arguments(arguments.iter().map(AsRef::as_ref));
        let finished = self.world.run(&program)?;
        if let Some(ask) = self.asked() {
            return Err(interrupted(ask));
        }
        if finished.success() {
            return Ok(finished.text());
        }
        let why = finished.error_text();
        let why = why.lines().next().unwrap_or("it did not say why");
        Err(Failure::new(Reason::Unknown, format!("`{program}` failed in the project of the demo: {why}"))
            .hint("run `gsd-tools demo` again; please report it if it fails again"))
    }

    fn git(&self, arguments: &[&str]) -> Result<String, Failure> {
        let line: Vec<&str> = ["git"].iter().chain(arguments).copied().collect();
        self.output(&line)
    }

    /// Keeps the project, and returns its folder if it should be kept.
    pub(crate) fn keep(mut self) -> Option<AbsolutePath> {
        let kept = self.kept.as_mut()?;
        kept.is_done = true;
        Some(kept.project.clone())
    }

    fn asked(&self) -> Option<Ask> {
        self.requests.as_ref()?.asked()
    }

    /// A program without the user's settings, folders and session.
    fn apart(&self, program: &Path) -> Program {
        let program = Program::apart(program).folder(self.project.as_path()).without(MOVED);
        let folders = [("HOME", "home"), ("USERPROFILE", "home"), ("XDG_STATE_HOME", "state")];
        let temporary = ["TMPDIR", "TMP", "TEMP"].map(|name| (name, "tmp"));
        let with = |program: Program, (name, folder): (&str, &str)| {
            program.variable(name, self.scratch.path(folder).as_path())
        };
        let program = folders.into_iter().chain(temporary).fold(program, with);
        program.variable(VARIABLE, "1").variable("GIT_CONFIG_NOSYSTEM", "1").variable("GIT_TERMINAL_PROMPT", "0")
    }
}

impl KeptProject {
    fn make(project: AbsolutePath) -> Result<Self, DiskError> {
        let missing = std::iter::successors(Some(project.clone()), AbsolutePath::parent);
        let made = missing.take_while(|folder| !disk::exists(folder)).last();
        let kept = Self { project, made, is_done: false };
        disk::make_folder(&kept.project)?;
        Ok(kept)
    }
}

/// The folder to keep a project in: it must be empty or not exist.
fn empty_folder(here: &AbsolutePath, folder: &str) -> Result<AbsolutePath, Failure> {
    let path = here.resolve(folder);
    let refused = |why: &str| Failure::usage(format!("`{folder}` of --keep {why}")).exits(2).hint(ANOTHER_FOLDER);
    let is_empty = |found: Vec<disk::Entry>| found.is_empty();
    if disk::is_link(&path) || (disk::exists(&path) && !disk::list(&path).ok().flatten().is_some_and(is_empty)) {
        return Err(refused("must be empty or not exist"));
    }
    let mut above = std::iter::successors(path.parent(), AbsolutePath::parent);
    if above.find(|folder| disk::exists(folder)).is_some_and(|folder| !disk::is_folder(folder)) {
        return Err(refused("is below a file"));
    }
    Ok(path)
}

fn no_temporary_folder(error: &DiskError) -> Failure {
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}")).unwrap_or_default();
    Failure::new(Reason::Unknown, format!("{error}{cause}"))
        .hint("set TMPDIR to a folder that you can write to, then run `gsd-tools demo` again")
}

fn interrupted(ask: Ask) -> Failure {
    let code = match ask {
        Ask::Interrupt => INTERRUPTED,
        Ask::Terminate => TERMINATED,
    };
    Failure::new(Reason::Unknown, "interrupted; nothing of the demo is left")
        .exits(code)
        .hint("run `gsd-tools demo` again")
}

/// The answer of a run that did not land.
#[derive(serde::Deserialize)]
struct RunRefusal {
    message: String,
    #[serde(default)]
    hints: Vec<String>,
}

#[derive(serde::Deserialize)]
struct CardAnswer {
    card: StartCard,
}

#[derive(serde::Deserialize)]
struct StopAnswer {
    stop: StopText,
}

#[derive(serde::Deserialize)]
struct StopText {
    text: String,
    #[serde(default)]
    cause: Option<Cause>,
    #[serde(default)]
    next: String,
}

/// The digest that a run asks a person to approve; empty if it gives one only when it is called again. `None` for any
/// other end.
fn asked_for(answer: &str) -> Option<String> {
    let stop = serde_json::from_str::<StopAnswer>(answer).ok()?.stop;
    let digest = stop.next.strip_prefix(APPROVED).and_then(|rest| rest.strip_prefix('=')?.split(' ').next());
    (stop.cause == Some(Cause::NotApproved)).then(|| digest.unwrap_or_default().to_owned())
}

fn failed(answer: &str, complaint: &str) -> Failure {
    let refusal = complaint.lines().rev().find_map(|line| serde_json::from_str::<RunRefusal>(line).ok());
    if let Some(refusal) = refusal {
        let error = Failure::new(Reason::Unknown, refusal.message);
        return refusal.hints.into_iter().fold(error, Failure::hint);
    }
    let stop = serde_json::from_str::<StopAnswer>(answer).map(|answer| answer.stop.text);
    let why = stop.unwrap_or_else(|_| complaint.lines().last().unwrap_or("it did not say why").to_owned());
    Failure::new(Reason::Unknown, format!("the run of the demo did not land: {why}"))
        .hint("run `gsd-tools demo` again; please report it if it fails again")
}

/// The result of a demo.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DemoReport {
    pub(crate) milestone: String,
    /// The commit that landed, with its subject.
    pub(crate) commit: String,
    pub(crate) subject: String,
    /// The branch that it landed on.
    pub(crate) branch: String,
    /// The files that it changed, without planning documents.
    pub(crate) files: Vec<String>,
    /// How many planning documents it has.
    pub(crate) documents: usize,
    /// How many sessions the scripted agent had.
    pub(crate) sessions: u32,
    /// Whether a fence limited where the agent could write.
    pub(crate) fenced: bool,
    /// Commands that ran in the project at the end, with their output.
    pub(crate) shown: Vec<ShownRow>,
    /// The folder of the project, if it was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) kept: Option<String>,
    /// The commands to try next.
    pub(crate) next: Vec<NextRow>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ShownRow {
    pub(crate) command: String,
    pub(crate) printed: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct NextRow {
    pub(crate) command: String,
    pub(crate) about: String,
}

/// Whether a fence limits where the agent can write.
pub(crate) fn is_fenced(call: &Call) -> bool {
    call.world().fencing() != Fencing::Unavailable
}

impl DemoReport {
    pub(crate) fn of(call: &Call, script: &Script, stage: &Stage<'_>, memory: &Memory) -> Result<Self, Failure> {
        let run = memory.run.as_ref();
        let commit = memory.landed.clone().unwrap_or_default();
        let subject = stage.output(&["git", "show", "--no-patch", "--format=%s", &commit])?;
        let parent = format!("{commit}^");
        let changed = stage.output(&["git", "diff", "--name-only", "--no-renames", &parent, &commit])?;
        let is_document = |path: &&str| path.split('/').next() == Some(lookup::FOLDER);
        let (documents, files): (Vec<&str>, Vec<&str>) = changed.lines().partition(is_document);
        let shown = script.show.iter().map(|show| {
            let printed = stage.output(&show.command)?;
            Ok(ShownRow { command: show.command.join(" "), printed })
        });
        let next = |row: &DemoCommand| NextRow { command: row.command.clone(), about: row.about.clone() };
        Ok(Self {
            milestone: run.map(|run| run.milestone.clone()).unwrap_or_default(),
            branch: run.map(|run| run.target.clone()).unwrap_or_default(),
            subject,
            commit,
            files: files.into_iter().map(str::to_owned).collect(),
            documents: documents.len(),
            sessions: memory.spent.sessions,
            fenced: is_fenced(call),
            shown: shown.collect::<Result<_, Failure>>()?,
            kept: None,
            next: script.next.iter().map(next).collect(),
        })
    }
}
