//! Where a project of the pipeline is, and the contents of its documents and its log.

use crate::acts::user;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::acts::{Call, caller};
use crate::auto::event::{ENGINE, Entry, Run};
use crate::auto::landing::id::Commit;
use crate::auto::memory::Memory;
use crate::auto::phases;
use crate::auto::preferences::Preferences;
use crate::auto::real::UNIT_VARIABLE;
use crate::auto::runs::LoggedRun;
use crate::disk::log::{Log, LogError, read_log};
use crate::disk::{self, AbsolutePath, Disk, DiskError};
use crate::failure::{Failure, Reason};
use crate::project::Project;
use crate::project::auto_run::LOG;
use crate::project::files::Files;
use crate::project::layout::Layout;
use crate::project::local_state::LocalState;
use crate::project::milestone_layout::held_out::{self, HeldOutEntry};
use crate::project::milestone_layout::lookup;
use crate::project::milestone_layout::messages::MessageSettings;
use crate::project::milestone_layout::preference_facts::PreferenceTexts;
use crate::project::milestone_layout::preferences::{self, Given, PreferenceProblem, PreferenceSource};
use crate::project::milestone_layout::unit_hooks::{self, UnitHooks};
use crate::project::repository;
use crate::text::shell::typed;
use crate::text::words::{of_word, words};
use crate::world::{Program, World};

/// The note with the name of the branch that is about to be made, until the log has it.
pub(crate) const BEGINNING: &str = "beginning";

/// Whether a call may write what a run writes.
#[derive(Debug)]
pub(crate) enum RunHold<'d> {
    /// A run is active in another process.
    Running,
    /// No run is active; with the log of the unfinished run, if there is one.
    Free(Option<Box<Log<'d>>>),
}

/// An error of the log; a log held by another run has a separate exit code.
pub(crate) fn log_error(error: &LogError) -> Failure {
    let failed = Failure::because(Reason::Unknown, error);
    match error {
        LogError::Disk(DiskError::Locked { holder, .. }) => {
            Failure::usage(format!("a run is active here, in {holder}"))
                .exits(75)
                .hint("`gsd-tools auto status` shows how far it is; `gsd-tools auto pause` ends it after its unit")
        }
        _ => failed,
    }
}

/// Refuses a session of the active run, and everything that it left running, what only a person decides: variables can
/// be removed, the process that started it cannot.
pub(crate) fn refuses_sessions(call: &Call, place: &RunPlace, memory: &Memory, command: &str) -> Result<(), Failure> {
    refuses_units(call, command)?;
    let holder = place.holder(call.disk(), memory)?;
    if holder.is_none_or(|holder| !call.world().is_below(holder)) {
        return Ok(());
    }
    let message = format!("`{command}` needs a person, and something that the run itself started runs this call");
    Err(Failure::usage(message).exits(77).hint(caller::by_a_person(call, command)))
}

/// Refuses the agent of a unit what only a person decides.
pub(crate) fn refuses_units(call: &Call, command: &str) -> Result<(), Failure> {
    let Some(unit) = call.world().variable(UNIT_VARIABLE) else { return Ok(()) };
    let message = format!("`{command}` needs a person, and the agent of {unit} runs this call");
    Err(Failure::usage(message).exits(77).hint(caller::by_a_person(call, command)))
}

words! {
    /// The layout of a project's documents, as a call names it.
    pub(crate) enum LayoutWord {
        /// Milestones and slices below `.gsd/`.
        Milestones = "milestones",
        /// Phases below `.planning/`.
        Phases = "phases",
    }
}

/// `milestones` or `phases`.
pub(crate) fn layout_word(text: &str) -> Result<LayoutWord, String> {
    of_word(text).ok_or_else(|| "write `milestones` (those in `.gsd/`) or `phases` (those in `.planning/`)".to_owned())
}

/// A project of the pipeline.
#[derive(Clone, Debug)]
pub(crate) struct RunPlace {
    pub(crate) root: AbsolutePath,
    pub(crate) notes: LocalState,
    world: World,
    /// The runs of the log that were looked up, and whether they worked in the repository that is here.
    known: RefCell<BTreeMap<String, bool>>,
}

/// The commits among `names` that the repository at `root` does not have; none if there is no repository to ask.
pub(crate) fn lacking(world: &World, root: &AbsolutePath, names: &BTreeSet<&str>) -> Result<BTreeSet<String>, Failure> {
    // Most objects of a small repository are files, which need no git.
    let is_file = |name: &str| {
        let (folder, rest) = name.split_at_checked(2).unwrap_or_default();
        disk::is_file(root.resolve(format!(".git/objects/{folder}/{rest}")))
    };
    let asked: Vec<Commit> =
        names.iter().filter(|name| !is_file(name)).filter_map(|name| Commit::parse(name)).collect();
    if asked.is_empty() {
        return Ok(BTreeSet::new());
    }
    let input = asked.iter().fold(String::new(), |text, commit| text + commit.as_str() + "\n");
    let git = Program::git(root.as_path()).without_remotes();
    let told = world.run(&git.arguments(["cat-file", "--batch-check"]).stdin(input))?;
    if !told.success() {
        return Ok(BTreeSet::new());
    }
    Ok(told.text().lines().filter_map(|line| line.strip_suffix(" missing")).map(str::to_owned).collect())
}

/// What a person does in a project in phases instead of an order about a milestone in slices.
fn instead_in_phases(command: &str, memory: &Memory) -> String {
    let unfinished = memory.run.as_ref().filter(|_| !memory.is_released);
    match (command, unfinished) {
        ("auto steer", Some(run)) => format!(
            "change the plans in `{}` between two units (`gsd-tools auto pause` ends an active run after its unit), then run \
             `gsd-tools auto run`",
            run.worktree
        ),
        ("auto steer", None) => {
            "change `.planning/ROADMAP.md` or the plans, commit them, then run `gsd-tools auto run`".to_owned()
        }
        ("auto park" | "auto unpark", Some(run)) => format!(
            "`gsd-tools auto pause` ends an active run after its unit, `gsd-tools auto run` continues it, `{}` ends it for good",
            typed!("gsd-tools auto abandon {}", run.milestone)
        ),
        _ => "`gsd-tools auto status` shows what comes next".to_owned(),
    }
}

/// The newest version of the rules that a log was written with.
fn newest_engine(log: &AbsolutePath) -> Option<u32> {
    let entries = read_log::<serde_json::Value>(log).ok()??.entries;
    entries.iter().filter_map(|entry| u32::try_from(entry.get("engine")?.as_u64()?).ok()).max()
}

/// The refusal of a newer program's log: its meaning is unknown.
pub(crate) fn newer_engine(place: &RunPlace, newest: u32) -> Failure {
    let message = format!("`{}` was written by a newer gsd-tools (rules {newest}; this one has {ENGINE})", place.log());
    Failure::usage(message).hint("`gsd-tools update-check` shows the newer version, and how to install it")
}

impl RunPlace {
    /// The project around the folder of the call: the nearest folder with milestones, else the one with a planning
    /// folder.
    pub(crate) fn of(call: &Call) -> Result<Self, Failure> {
        let here = call.here();
        let is_root = |folder: &AbsolutePath| disk::is_folder(folder.resolve(".gsd/milestones"));
        let mut folder = Some(here.clone());
        let mut root = None;
        while let Some(found) = folder {
            if is_root(&found) {
                root = Some(found);
                break;
            }
            folder = found.parent();
        }
        let root = root.unwrap_or_else(|| call.root().clone());
        let state = call.world().state_folder();
        let state = state.ok_or_else(|| {
            Failure::usage("there is no folder for the log of the run").hint("set HOME, or XDG_STATE_HOME")
        })?;
        let notes = LocalState::of(&state, &root)?;
        Ok(Self { root, notes, world: call.world().clone(), known: RefCell::default() })
    }

    /// A project whose notes are in another state folder than that of the call.
    pub(crate) fn at(root: AbsolutePath, state: &AbsolutePath, world: World) -> Result<Self, Failure> {
        let notes = LocalState::of(state.as_path(), &root)?;
        Ok(Self { root, notes, world, known: RefCell::default() })
    }

    /// As [`Self::of`], but in the user's checkout if the call is made in the worktree of a run, which the end of the
    /// run removes.
    pub(crate) fn of_run(call: &Call) -> Result<Self, Failure> {
        let place = Self::of(call)?;
        let worktrees = place.root.parent().filter(|worktrees| worktrees.name() == "worktrees");
        let around = worktrees.and_then(|worktrees| worktrees.parent());
        let is_of_run = |main: &AbsolutePath| {
            let documents = [lookup::FOLDER, phases::FOLDER].map(|folder| main.resolve(folder));
            around.as_ref().is_some_and(|around| documents.contains(around))
        };
        match repository::main_worktree(&place.root).filter(is_of_run) {
            Some(root) => Ok(Self { root, ..place }),
            None => Ok(place),
        }
    }

    /// True if the project is in phases. An unfinished run continues in the layout in which it began; a project that
    /// also has milestones with slices is read as such, unless the call says otherwise.
    pub(crate) fn is_in_phases(&self, asked: Option<LayoutWord>) -> bool {
        if let Some(of_run) = self.layout_of_run() {
            return of_run == LayoutWord::Phases;
        }
        match asked {
            Some(asked) => asked == LayoutWord::Phases,
            None => self.has_phases() && !self.has_milestones(),
        }
    }

    /// Refuses to begin a run if both layouts exist and the call names none, or if it names a missing one.
    pub(crate) fn refuses_two_layouts(&self, asked: Option<LayoutWord>) -> Result<(), Failure> {
        let of_run = self.layout_of_run();
        let error = match (of_run, asked) {
            (Some(of_run), Some(asked)) if of_run != asked => {
                let message = format!("the run that is unfinished is in {}, not in {}", of_run.word(), asked.word());
                Failure::usage(message).hint("`gsd-tools auto run` continues it, `gsd-tools auto abandon` ends it")
            }
            (None, None) if self.has_phases() && self.has_milestones() => {
                let message = "this project has milestones in `.gsd/` and phases in `.planning/`";
                Failure::usage(message).hint("say which to run: `--layout milestones` or `--layout phases`")
            }
            (None, Some(LayoutWord::Phases)) if !self.has_phases() => {
                let message = format!("there is no `{}/ROADMAP.md` in `{}`", phases::FOLDER, self.root);
                Failure::usage(message).hint("run without `--layout`")
            }
            _ => return Ok(()),
        };
        Err(error)
    }

    fn has_phases(&self) -> bool {
        disk::is_file(self.root.resolve(phases::FOLDER).resolve("ROADMAP.md"))
    }

    fn has_milestones(&self) -> bool {
        disk::is_folder(self.root.resolve(lookup::MILESTONES))
    }

    /// The layout of the unfinished run.
    fn layout_of_run(&self) -> Option<LayoutWord> {
        let run = self.memory().ok().filter(|memory| !memory.is_released)?.run?;
        let planning = self.root.resolve(phases::FOLDER);
        let is_in_phases = AbsolutePath::parse(&run.worktree).is_ok_and(|worktree| worktree.is_within(&planning));
        Some(if is_in_phases { LayoutWord::Phases } else { LayoutWord::Milestones })
    }

    pub(crate) fn log(&self) -> AbsolutePath {
        self.notes.file(LOG)
    }

    /// The folder in which runs keep what is neither a document nor in the log.
    pub(crate) fn folder(&self) -> AbsolutePath {
        self.notes.file("auto")
    }

    /// Refuses a folder without milestones: a call in the wrong one would create a project there.
    pub(crate) fn needs_milestones(self, command: &str) -> Result<Self, Failure> {
        // Those of the first milestone are in the worktree of its run until it has landed.
        let has_milestones = |folder: &AbsolutePath| disk::is_folder(folder.resolve(lookup::MILESTONES));
        let memory = self.memory()?;
        if has_milestones(&self.root) || has_milestones(&self.documents(&memory)) {
            return Ok(self);
        }
        if self.has_phases() {
            let message = format!("`{command}` is for milestones in slices, and this project is in phases");
            return Err(Failure::usage(message).hint(instead_in_phases(command, &memory)));
        }
        let message = format!("there are no milestones in `{}`", self.root);
        Err(Failure::usage(message).hint("describe one in a file, then run `gsd-tools auto run --brief FILE`"))
    }

    /// The folder whose documents decide: the worktree of the work, else the project.
    pub(crate) fn documents(&self, memory: &Memory) -> AbsolutePath {
        let worktree = memory.run.as_ref().filter(|_| memory.landed.is_none()).map(|run| run.worktree.as_str());
        let worktree = worktree.filter(|folder| disk::is_folder(folder)).map(AbsolutePath::parse);
        worktree.and_then(Result::ok).unwrap_or_else(|| self.root.clone())
    }

    /// The process of the unfinished run; 0 if its number is unknown.
    pub(crate) fn holder(&self, disk: Disk, memory: &Memory) -> Result<Option<u32>, Failure> {
        if memory.run.is_none() || memory.is_released {
            return Ok(None);
        }
        let holder = disk.patient_for(Duration::ZERO).log_holder(&self.log())?;
        let number =
            |text: String| text.split(|letter: char| !letter.is_ascii_digit()).find_map(|part| part.parse().ok());
        Ok(holder.map(|text| number(text).unwrap_or_default()))
    }

    /// Keeps an unfinished run from continuing while this call writes.
    pub(crate) fn hold<'d>(&self, disk: &'d Disk, memory: &Memory) -> Result<RunHold<'d>, Failure> {
        if memory.run.is_none() || memory.is_released {
            return Ok(RunHold::Free(None));
        }
        match disk.log(&self.log()) {
            Ok(log) => Ok(RunHold::Free(Some(Box::new(log)))),
            Err(LogError::Disk(DiskError::Locked { .. })) => Ok(RunHold::Running),
            Err(error) => Err(log_error(&error)),
        }
    }

    /// The files below a folder.
    pub(crate) fn files_at(call: &Call, folder: &AbsolutePath) -> Box<dyn Files> {
        Self::project_at(call, folder).files()
    }

    /// The files below a folder, without a call.
    pub(crate) fn files_in(world: &World, folder: &AbsolutePath) -> Box<dyn Files> {
        Project::new(Layout::new(folder.as_path(), None, None), world.state_folder()).files()
    }

    fn project_at(call: &Call, folder: &AbsolutePath) -> Project {
        Project::new(Layout::new(folder.as_path(), None, None), call.world().state_folder())
    }

    /// The state according to the log. Runs in another repository, which was here before, do not count. Does not wait
    /// for the log's lock.
    pub(crate) fn memory(&self) -> Result<Memory, Failure> {
        let memory = Memory::of(&self.entries()?);
        Ok(match &memory.run {
            Some(run) if !self.is_here(&[(run, memory.landed.as_deref())])?.contains(&run.id) => {
                Memory { operations: memory.operations, ..Memory::default() }
            }
            _ => memory,
        })
    }

    /// The unfinished run in another repository, which was here before, with its state.
    pub(crate) fn stranded(&self) -> Result<Option<Memory>, Failure> {
        self.stranded_in(&self.entries()?)
    }

    /// As [`Self::stranded`], from the entries of the log.
    pub(crate) fn stranded_in(&self, entries: &[Entry]) -> Result<Option<Memory>, Failure> {
        let memory = Memory::of(entries);
        let Some(run) = memory.run.as_ref().filter(|_| !memory.is_released) else { return Ok(None) };
        let is_here = self.is_here(&[(run, memory.landed.as_deref())])?.contains(&run.id);
        Ok(Some(memory).filter(|_| !is_here))
    }

    /// The identifiers of those runs that worked in the repository that is here: it has the commit that they began
    /// with, or the one that landed.
    pub(crate) fn is_here(&self, runs: &[(&Run, Option<&str>)]) -> Result<BTreeSet<String>, Failure> {
        let mut known = self.known.borrow_mut();
        let new: Vec<_> = runs.iter().filter(|(run, _)| !known.contains_key(&run.id)).collect();
        let names: BTreeSet<&str> =
            new.iter().flat_map(|(run, landed)| [Some(run.base.as_str()), *landed]).flatten().collect();
        let lacking = if names.is_empty() { BTreeSet::new() } else { lacking(&self.world, &self.root, &names)? };
        for (run, landed) in new {
            let mut own = [Some(run.base.as_str()), *landed].into_iter().flatten();
            known.insert(run.id.clone(), own.any(|commit| !lacking.contains(commit)));
        }
        let is_known = |run: &Run| known.get(&run.id).copied().unwrap_or(true);
        Ok(runs.iter().filter(|(run, _)| is_known(run)).map(|(run, _)| run.id.clone()).collect())
    }

    /// The runs of `entries` in the repository that is here, the oldest first, and how many entries are of others.
    pub(crate) fn runs_here<'a>(&self, entries: &'a [Entry]) -> Result<(Vec<LoggedRun<'a>>, usize), Failure> {
        let all = LoggedRun::all(entries);
        let asked: Vec<_> = all.iter().map(|run| (run.run, run.landing().map(|(commit, _)| commit))).collect();
        let here = self.is_here(&asked)?;
        let (own, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|run| here.contains(&run.run.id));
        Ok((own, others.iter().map(|run| run.entries.len()).sum()))
    }

    /// All entries of the log.
    pub(crate) fn entries(&self) -> Result<Vec<Entry>, Failure> {
        let entries = match read_log::<Entry>(&self.log()) {
            Err(error @ LogError::Broken { .. }) => {
                // Entries that only a newer program writes look like an edited line.
                let newer = newest_engine(&self.log()).filter(|newest| *newest > ENGINE);
                return Err(newer.map_or_else(|| error.into(), |newest| newer_engine(self, newest)));
            }
            other => other?,
        };
        Ok(entries.map(|found| found.entries).unwrap_or_default())
    }

    /// The files that decide, for one view: those of the work's worktree, else those of the project.
    pub(crate) fn files(&self, call: &Call, memory: &Memory) -> Box<dyn Files> {
        Self::project_at(call, &self.documents(memory)).files_of_a_moment()
    }

    /// The preferences of the project and of the user. Unknown settings are reported and ignored.
    pub(crate) fn preferences(files: &dyn Files, call: &Call) -> Result<Preferences, Failure> {
        let preferred = Preferred::read(files, call.world())?;
        for problem in &preferred.problems {
            call.warn(problem);
        }
        Ok(preferred.resolved())
    }
}

/// The texts of the preferences.
#[derive(Debug)]
pub(crate) struct WrittenPreferences {
    /// True if the project has the folder of the document.
    pub(crate) has_folder: bool,
    pub(crate) project: Option<String>,
    pub(crate) personal: Option<String>,
}

impl WrittenPreferences {
    pub(crate) fn read(files: &dyn Files, world: &World) -> Result<Self, Failure> {
        let entries = files.list(lookup::FOLDER)?;
        let project = match lookup::root_file(entries.as_deref().unwrap_or_default(), user::PREFERENCES) {
            Some(name) => files.read(&format!("{}/{name}", lookup::FOLDER))?,
            None => None,
        };
        let personal = match user::file(world, user::PREFERENCES).map(disk::read_config).transpose() {
            // They are hidden from sessions if they name a held-out check.
            Err(_) if world.is_unit() => None,
            read => read?.flatten(),
        };
        Ok(Self { has_folder: entries.is_some(), project, personal })
    }

    /// Those of the project of a call, if it can have any: it has their folder, or the user has preferences. A document
    /// that cannot be read as preferences is reported and left out.
    pub(crate) fn of_call(call: &Call) -> Result<Option<Self>, Failure> {
        let mut found = Self::read(RunPlace::files_at(call, call.root()).as_ref(), call.world())?;
        if !found.has_folder && found.personal.is_none() {
            return Ok(None);
        }
        let texts = [(PreferenceSource::Project, &mut found.project), (PreferenceSource::Global, &mut found.personal)];
        for (source, text) in texts {
            if let Some((line, what)) = text.as_deref().and_then(preferences::fault) {
                call.warn(format!("`{}` line {line}: {what}; `auto run` does not start with it", source.file()));
                *text = None;
            }
        }
        Ok(Some(found))
    }

    pub(crate) fn texts(&self) -> PreferenceTexts<'_> {
        PreferenceTexts { project: self.project.as_deref(), personal: self.personal.as_deref() }
    }
}

/// The preferences of the project and of the user, as they were read.
#[derive(Debug)]
pub(crate) struct Preferred {
    pub(crate) document: preferences::Preferences,
    pub(crate) given: Vec<Given>,
    /// Values that are not understood, one line each.
    pub(crate) problems: Vec<String>,
    /// The held-out checks of the user, with the line that names them; or what is wrong with them.
    pub(crate) held_out: Option<(usize, Result<Vec<HeldOutEntry>, String>)>,
    /// The hooks before and after units, and what is wrong with others.
    pub(crate) hooks: UnitHooks,
    /// Which messages a person wants, and how.
    pub(crate) messages: MessageSettings,
}

impl Preferred {
    /// Reads both documents. One that does not follow its format is refused: its meaning is unknown.
    pub(crate) fn read(files: &dyn Files, world: &World) -> Result<Self, Failure> {
        let WrittenPreferences { project, personal, .. } = WrittenPreferences::read(files, world)?;
        let texts = [(PreferenceSource::Project, &project), (PreferenceSource::Global, &personal)];
        for (source, text) in texts {
            if let Some((line, what)) = text.as_deref().and_then(preferences::fault) {
                let message = format!("`{}` line {line}: {what}", source.file());
                return Err(Failure::usage(message).exits(64).hint("correct that line, then run the command again"));
            }
        }
        let (project, personal) = (project.as_deref(), personal.as_deref());
        let (document, problems) = preferences::Preferences::read(project, personal);
        let shown =
            |problem: PreferenceProblem| format!("`{}` line {}: {}", problem.source.file(), problem.line, problem.what);
        let problems = problems.into_iter().map(shown).collect();
        let given = preferences::given(project, personal);
        let held_out = personal.map(|text| (held_out::line(text), held_out::entries(text)));
        let hooks = unit_hooks::read(project, personal);
        let messages = MessageSettings::read(project, personal);
        Ok(Self { document, given, problems, held_out, hooks, messages })
    }

    pub(crate) fn resolved(&self) -> Preferences {
        let hooks = crate::auto::unit_hooks::followed(&self.hooks);
        Preferences { hooks, ..Preferences::resolved(&self.document, None) }
    }
}
