//! What a command works with: its folder and project, the flags of every command, and its answer so far.

mod missing;
pub(in crate::commands) mod openings;
mod pick;

use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

use pick::pick;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::commands::frame::Answer;
use crate::commands::frame::argv::Globals;
use crate::commands::frame::error::codes::DEGRADED;
use crate::commands::frame::error::{ExitContract, refused};
use crate::commands::frame::hosts;
use crate::commands::frame::listing::Listed;
use crate::disk::{self, AbsolutePath, Disk, Faults, Holder, Steps};
use crate::failure::{Failure, Reason};
use crate::operations::answers::changes::ChangedField;
use crate::project::auto_run::Runs;
use crate::project::config::{Config, ConfigTexts};
use crate::project::layout::Layout;
use crate::project::{root, workstream};
use crate::runtime::{Descriptor, Registry};
use crate::text::screen::Screen;
use crate::text::shell::{Typed, typed};
use crate::text::terminal;
use crate::world::World;

/// One call's surroundings and its answer so far.
#[derive(Debug)]
pub(crate) struct Context {
    world: World,
    globals: Globals,
    /// The words of the verb that runs.
    verb: &'static str,
    listing: fn() -> Vec<Listed>,
    tree: fn() -> clap::Command,
    here: AbsolutePath,
    root: OnceCell<AbsolutePath>,
    layout: OnceCell<Layout>,
    config: OnceCell<Config>,
    pub(in crate::commands) host: OnceCell<Host>,
    pub(in crate::commands) registry: OnceCell<Registry>,
    /// What is before the name of a command, and the hosts that have an install, once somebody asked.
    pub(super) prefix: OnceCell<String>,
    pub(super) installed: OnceCell<Vec<InstalledHost>>,
    told_unfinished: OnceCell<()>,
    /// What the call has changed on the disk so far.
    steps: Steps,
    /// Whether the command may make the project's folder.
    starts_a_project: Cell<bool>,
    stdout: String,
    /// What the call wrote, or would have written.
    written: RefCell<Option<Written>>,
    /// What the caller should know beside the answer.
    warnings: RefCell<Vec<String>>,
    /// Of a rehearsal of a command that acts: the lines of files that would have changed.
    rehearsed: RefCell<String>,
    /// What the answer is about, for a later write.
    token: Option<String>,
    /// Whether the last payload says that it is a failure.
    failed_payload: bool,
    exit_code: u8,
}

/// The program that runs the agents of this call.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) id: String,
    /// None for a host we know nothing of but its name.
    pub(crate) descriptor: Option<Descriptor>,
}

/// A host that has an install.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::commands) struct InstalledHost {
    pub(in crate::commands) name: String,
    /// What is before the name of a command there.
    pub(in crate::commands) prefix: String,
}

/// More bytes than an answer has that is only a failure.
const SHORT: usize = 2048;

/// What a call changed in the project's documents.
#[derive(Debug)]
pub(in crate::commands) struct Written {
    pub(in crate::commands) changed: Vec<ChangedField>,
    /// Not a byte changed.
    pub(in crate::commands) nothing: bool,
    /// Of a rehearsal: the lines that would have changed.
    pub(in crate::commands) diff: Option<String>,
}

/// What the answer of a command that writes tells beside its own facts.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct WriteReport<'a> {
    /// Whether a byte of a document changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    updated: Option<bool>,
    /// With `--dry-run`: whether the same call without it would change something.
    #[serde(skip_serializing_if = "Option::is_none")]
    would_update: Option<bool>,
    /// Why nothing changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<Cow<'a, str>>,
    /// Every field that changed or would change.
    #[serde(skip_serializing_if = "Option::is_none")]
    changed: Option<&'a [ChangedField]>,
    /// Present and true with `--dry-run`.
    #[serde(skip_serializing_if = "Option::is_none")]
    dry_run: Option<bool>,
    /// With `--dry-run`: the lines that would change, as a unified diff.
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<&'a str>,
}

/// What the rehearsal of a command that acts tells beside what the command would do.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct RehearsalReport<'a> {
    /// Present and true with `--dry-run`: nothing was done.
    dry_run: bool,
    /// With `--dry-run`: the lines of files that would change, as a unified diff.
    #[serde(skip_serializing_if = "str::is_empty")]
    diff: &'a str,
}

/// What the answer of a command tells that a later write can ask for with `--if-match`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct TokenReport<'a> {
    /// Stands for the documents as they were read.
    token: &'a str,
}

/// A report and its token.
#[derive(Serialize)]
struct Tokened<'a, R> {
    #[serde(flatten)]
    report: &'a R,
    #[serde(flatten)]
    token: TokenReport<'a>,
}

impl Context {
    pub(in crate::commands) fn new(
        world: World,
        globals: Globals,
        listing: fn() -> Vec<Listed>,
        tree: fn() -> clap::Command,
    ) -> Result<Self, Failure> {
        let started = AbsolutePath::parse(world.folder()?)?;
        let root = OnceCell::new();
        let here = match (&globals.project_folder, &globals.folder) {
            (Some(folder), _) => {
                let folder = existing_folder(&started, folder, "--project-dir")?;
                if !disk::is_folder(folder.resolve(".planning")) {
                    let message = format!("`{folder}` of --project-dir has no `.planning` folder");
                    return Err(Failure::usage(message)
                        .hint("name the folder that holds `.planning`, or leave out --project-dir"));
                }
                root.get_or_init(|| folder.clone());
                folder
            }
            (None, Some(folder)) => existing_folder(&started, folder, "--cwd")?,
            (None, None) => started,
        };
        // A name that cannot be one is refused whatever the command makes of it.
        let named = globals.workstream.clone().or_else(|| world.variable("GSD_WORKSTREAM"));
        for name in named.iter().chain(&world.variable("GSD_PROJECT")) {
            workstream::checked(name).map_err(|error| Failure::because(Reason::Usage, &error))?;
        }
        Ok(Self {
            world,
            globals,
            verb: "",
            listing,
            tree,
            warnings: RefCell::default(),
            here,
            root,
            layout: OnceCell::new(),
            config: OnceCell::new(),
            host: OnceCell::new(),
            registry: OnceCell::new(),
            prefix: OnceCell::new(),
            installed: OnceCell::new(),
            told_unfinished: OnceCell::new(),
            steps: Steps::default(),
            starts_a_project: Cell::new(false),
            stdout: String::new(),
            written: RefCell::new(None),
            rehearsed: RefCell::new(String::new()),
            token: None,
            failed_payload: false,
            exit_code: 0,
        })
    }

    /// Says which verb runs.
    pub(super) fn call(&mut self, verb: &'static str) {
        self.verb = verb;
    }

    pub(crate) fn world(&self) -> &World {
        &self.world
    }

    /// The way to write. In debug builds, tests say here which step is to fail, or ask with `count` how many there are.
    pub(crate) fn disk(&self) -> Disk {
        let step = |name: &str| self.world.variable(name)?.parse().ok();
        let holder = Holder {
            process: self.world.process(),
            folder: self.here.as_path().to_path_buf(),
            since: self.world.now().to_string(),
        };
        let faults = Faults::at(step("GSD_FAULT_AT"), step("GSD_KILL_AT")).counted_by(self.steps.clone());
        Disk::new(self.world.lock_folders(), holder, faults)
    }

    /// The folder that relative paths of commands about files start from.
    pub(crate) fn here(&self) -> &AbsolutePath {
        &self.here
    }

    /// The project's root: the folder with `.planning`, found upwards; where there is none, [`Self::here`].
    pub(crate) fn root(&self) -> &AbsolutePath {
        self.root.get_or_init(|| root::discover(&self.here, self.world.home().as_deref()))
    }

    /// The folder of an install for this project only.
    pub(in crate::commands) fn install_folder(&self) -> AbsolutePath {
        root::of_install(&self.here, self.world.home().as_deref())
    }

    /// Whether there is a project: a `.planning` folder.
    pub(in crate::commands) fn has_a_project(&self) -> bool {
        disk::is_folder(self.layout().absolute(self.layout().planning()))
    }

    /// Lets this command make the `.planning` folder where there is none.
    pub(in crate::commands) fn start_a_project(&self) {
        self.starts_a_project.set(true);
    }

    pub(super) fn starts_a_project(&self) -> bool {
        self.starts_a_project.get()
    }

    /// Where the project's documents stand, for the active workstream.
    pub(crate) fn layout(&self) -> &Layout {
        self.layout.get_or_init(|| {
            let asked = self.globals.workstream.as_deref();
            Layout::of_call(self.root(), asked, &self.workstream_pointer(), |name| self.world.variable(name))
        })
    }

    /// The files that store which workstream is active.
    pub(crate) fn workstream_pointer(&self) -> workstream::Pointer {
        let planning = self.root().resolve(".planning");
        workstream::Pointer::new(&planning, &self.world.temporary_folder(), |name| self.world.variable(name))
    }

    /// The project's configuration. A file that does not parse, and a key that means nothing, is told and left out.
    pub(crate) fn config(&self) -> Result<&Config, Failure> {
        if let Some(config) = self.config.get() {
            return Ok(config);
        }
        let layout = self.layout();
        let boundary = self.project().boundary()?;
        let unreadable = Cell::new(false);
        let read = |path: String| -> Result<Option<String>, Failure> {
            let absolute = layout.absolute(&path);
            boundary.check(&absolute)?;
            Ok(disk::read_config(absolute).unwrap_or_else(|error| {
                unreadable.set(true);
                let reason = std::error::Error::source(&error).map(|source| format!(": {source}")).unwrap_or_default();
                self.warn(format!("`{path}` cannot be read and is ignored{reason}"));
                None
            }))
        };
        let project = read(layout.root_config())?;
        let own = layout.workstream().is_some().then(|| read(layout.config()));
        let own = own.transpose()?.flatten();
        let personal = self.personal_defaults()?;
        let (config, problems) = Config::read(ConfigTexts {
            project: project.as_deref(),
            workstream: own.as_deref(),
            personal: personal.as_deref(),
            unreadable: unreadable.get(),
        });
        for problem in problems {
            self.warn(problem);
        }
        let unknown = config.unknown_keys();
        if !unknown.is_empty() {
            self.warn(format!("config.json has unknown keys: {}", unknown.join(", ")));
        }
        Ok(self.config.get_or_init(|| config))
    }

    /// The text of the user's own defaults, `.gsd/defaults.json` in the home folder.
    pub(crate) fn personal_defaults(&self) -> Result<Option<String>, Failure> {
        match self.personal_file("defaults.json") {
            Some(file) => Ok(disk::read_config(file)?),
            None => Ok(None),
        }
    }

    /// Whether the user's own folder, `.gsd` in the home folder, has a file of this name.
    pub(crate) fn has_personal_file(&self, name: &str) -> bool {
        self.personal_file(name).is_some_and(disk::is_file)
    }

    /// Whether the call names the folder it works in.
    pub(in crate::commands) fn names_a_folder(&self) -> bool {
        self.globals.folder.is_some() || self.globals.project_folder.is_some()
    }

    /// Every verb there is.
    pub(in crate::commands) fn verbs(&self) -> Vec<Listed> {
        (self.listing)()
    }

    /// Every command below one program, for what is made of all of them.
    pub(in crate::commands) fn whole_tree(&self) -> clap::Command {
        (self.tree)()
    }

    /// A file of the user's own folder, `.gsd` in the home folder.
    pub(in crate::commands) fn personal_file(&self, name: &str) -> Option<PathBuf> {
        Some(self.world.gsd_home()?.join(".gsd").join(name))
    }

    /// The variable by which a host says that one of its agents runs this call; none where no host does.
    pub(in crate::commands) fn agent_session(&self) -> Result<Option<String>, Failure> {
        hosts::agent_session(&self.world, &self.registry)
    }

    /// The variables by which hosts say that an agent of theirs runs a program.
    pub(in crate::commands) fn session_variables(&self) -> Result<Vec<String>, Failure> {
        hosts::session_variables(&self.world, &self.registry)
    }

    /// Refuses to an agent what a person alone decides; a script of a person's may do it.
    pub(in crate::commands) fn refuses_agents(&self, command: &str) -> Result<(), Failure> {
        let Some(name) = self.agent_session()? else { return Ok(()) };
        let refused = format!("`{command}` needs a person, and an agent runs this call: {name} is set");
        let hint = self.by_a_person(command);
        Err(Failure::usage(refused).exits(77).hint(hint))
    }

    fn by_a_person(&self, command: &str) -> String {
        let typed = typed!("{} {}", Typed::of_quoted(self.program_word()), Typed::words(command));
        format!("run it in your terminal: `{typed}`")
    }

    /// Refuses what only a person may do. A terminal alone shows nobody: hosts run programs of agents in one too.
    pub(in crate::commands) fn needs_a_person(&self, command: &str) -> Result<(), Failure> {
        let terminal = self.world.terminal();
        let why = match self.agent_session()? {
            Some(name) => format!("an agent runs this call: {name} is set"),
            None if terminal.stdin && terminal.stdout => return Ok(()),
            None => "this is not a terminal".to_owned(),
        };
        let refused = Failure::usage(format!("`{command}` needs a person, and {why}")).exits(77);
        Err(refused.hint(self.by_a_person(command)))
    }

    /// Whether a person reads the answer at a terminal. Hosts run programs of agents in one too.
    pub(in crate::commands) fn is_for_a_person(&self) -> bool {
        hosts::is_for_a_person(&self.world, &self.registry)
    }

    /// Asks the person at the terminal; no answer is a no.
    pub(in crate::commands) fn confirms(question: &str) -> Result<bool, Failure> {
        let answer = dialoguer::Confirm::new().with_prompt(question).default(false).interact_opt();
        let answer = answer.map_err(|error| Failure::because(Reason::Usage, &error))?;
        Ok(answer == Some(true))
    }

    /// Whether the call says that it is meant: `--yes`.
    pub(super) fn is_sure(&self) -> bool {
        self.globals.yes
    }

    /// Whether a question with choices can be asked.
    pub(in crate::commands) fn can_ask(&self) -> bool {
        self.world.terminal().moves && self.can_confirm()
    }

    /// Whether a person can be asked to confirm; a build server may have a terminal, and nobody at it.
    pub(in crate::commands) fn can_confirm(&self) -> bool {
        let is_on = |value: String| !matches!(value.as_str(), "" | "0" | "false");
        self.world.terminal().stderr && self.is_for_a_person() && !self.world.variable("CI").is_some_and(is_on)
    }

    /// Whether the answer is text for a person: one is there, and asked for no other form of it.
    pub(in crate::commands) fn shows_to_a_person(&self) -> bool {
        let asked = self.globals.raw || self.globals.json || self.globals.pick.is_some() || self.globals.dry_run;
        !asked && self.is_for_a_person()
    }

    /// The project of milestones of `auto` around the call, where no planning folder is, with its runs. The milestone of a
    /// first run is only in its worktree.
    pub(in crate::commands) fn milestones(&self) -> Option<(AbsolutePath, Runs)> {
        if self.has_a_project() {
            return None;
        }
        let found = root::of_milestones(&self.here, self.world.home().as_deref());
        let is_found = found.is_some();
        let root = found.unwrap_or_else(|| self.root().clone());
        let runs = self.runs(&root);
        (is_found || runs.unfinished.is_some()).then_some((root, runs))
    }

    /// Says to a person that there is no project, or no such workstream; programs get the empty answer they know.
    pub(in crate::commands) fn refuses_a_person_without_a_project(&self) -> Result<(), Failure> {
        if !self.shows_to_a_person() {
            return Ok(());
        }
        self.needs_a_project()?;
        self.refuses_a_missing_workstream()
    }

    /// Refuses a call where there is no project.
    pub(in crate::commands) fn needs_a_project(&self) -> Result<(), Failure> {
        if self.has_a_project() { Ok(()) } else { Err(self.no_project()) }
    }

    /// The error of a command that needs a project where there is none.
    pub(super) fn no_project(&self) -> Failure {
        let error = Failure::usage(format!("there is no project in `{}` (no .planning folder)", self.here));
        match self.installed_command("new-project").ok().flatten() {
            Some(start) => error.hint(format!("start one with `{start}` in your agent, or name one with --cwd")),
            None => error.hint("`gsd-tools install` adds the commands that start one to your agent"),
        }
    }

    /// What the terminal of the call can show.
    pub(in crate::commands) fn screen(&self) -> Screen {
        let terminal = self.world.terminal();
        let color = self.globals.color.at(terminal.stdout && terminal.color);
        Screen { width: terminal.width, color, signs: terminal.signs }
    }

    /// The same for an answer that is text for programs too: only a terminal of a person has lines of one width.
    pub(in crate::commands) fn page(&self) -> Screen {
        if self.is_for_a_person() { self.screen() } else { self.screen().unwrapped() }
    }

    /// As [`Self::emit`], for answers about a project; to a person at a terminal who asked for no form of it, as text.
    pub(in crate::commands) fn show(
        &mut self,
        report: &impl Serialize,
        text: impl FnOnce(Screen) -> String,
    ) -> Result<(), Failure> {
        if !self.shows_to_a_person() {
            return self.emit(report);
        }
        self.refuses_a_person_without_a_project()?;
        let text = text(self.screen());
        self.text(text);
        Ok(())
    }

    /// As [`Self::emit`], or [`Self::emit_raw`] where there is a bare form; to a person at a terminal who asked for no form
    /// of it, what was found or done in plain lines. That there was nothing left to do is no failure then.
    pub(in crate::commands) fn say(
        &mut self,
        report: &impl Serialize,
        raw: Option<&str>,
        said: impl FnOnce(Screen) -> String,
    ) -> Result<(), Failure> {
        match raw {
            Some(raw) if !self.shows_to_a_person() => return self.emit_raw(report, raw),
            None if !self.shows_to_a_person() => return self.emit(report),
            _ => {}
        }
        let value = value_of(report)?;
        self.failed_payload = value.get("error").is_some() || value.get("updated") == Some(&Value::Bool(false));
        let page = said(self.screen());
        self.text(page);
        Ok(())
    }

    /// Whether the bare value is asked for instead of JSON.
    pub(crate) fn raw(&self) -> bool {
        self.globals.raw
    }

    /// The value of `--default`.
    pub(crate) fn default_value(&self) -> Option<&str> {
        self.globals.default.as_deref()
    }

    /// Whether the call only shows what it would change.
    pub(in crate::commands) fn is_rehearsal(&self) -> bool {
        self.globals.dry_run
    }

    /// The token the caller expects to hold still.
    pub(in crate::commands) fn expected_token(&self) -> Option<&str> {
        self.globals.if_match.as_deref()
    }

    pub(in crate::commands) fn note_written(&self, written: Written) {
        self.written.replace(Some(written));
    }

    /// Adds a file outside the project to what the call wrote, or would have written.
    pub(in crate::commands) fn note_also_written(&self, changed: Vec<ChangedField>, diff: &str) {
        let mut written = self.written.borrow_mut();
        let rehearsed = self.is_rehearsal().then(String::new);
        let written = written.get_or_insert_with(|| Written { changed: Vec::new(), nothing: true, diff: rehearsed });
        written.changed.extend(changed);
        written.nothing = false;
        if let Some(lines) = &mut written.diff {
            lines.push_str(diff);
        }
    }

    /// Answers a rehearsal without the lines that would change, which are many.
    pub(in crate::commands) fn leave_out_diff(&self) {
        if let Some(written) = self.written.borrow_mut().as_mut() {
            written.diff = None;
        }
    }

    /// Adds lines to what a command that acts would change.
    pub(in crate::commands) fn note_rehearsed(&self, diff: &str) {
        self.rehearsed.borrow_mut().push_str(diff);
    }

    /// Gives the answer a token, by which a later write can ask for the same documents.
    pub(in crate::commands) fn answer_for(&mut self, token: String) {
        self.token = Some(token);
    }

    /// Answers with a report: JSON, two spaces, no final newline. What was written is told in it; so is the token. Of a
    /// rehearsal under `--raw`, the diff alone, where there is one, unless the command has a preview of its own.
    pub(crate) fn emit(&mut self, report: &impl Serialize) -> Result<(), Failure> {
        // A large answer is not made twice: as values, and as text.
        if self.written.get_mut().is_none() && !self.globals.dry_run && !self.globals.raw {
            let answer = match &self.token {
                Some(token) => serde_json::to_string_pretty(&Tokened { report, token: TokenReport { token } }),
                None => serde_json::to_string_pretty(report),
            };
            // Only an object can have a token.
            if let Ok(answer) = answer.map(terminal::in_json) {
                self.failed_payload = answer.starts_with('{') && answer.contains("\n  \"error\": ");
                // It may be large, and most calls answer once.
                if self.stdout.is_empty() {
                    self.stdout = answer;
                } else {
                    self.stdout.push_str(&answer);
                }
                return Ok(());
            }
        }
        self.emit_value(value_of(report)?)
    }

    fn emit_value(&mut self, mut value: Value) -> Result<(), Failure> {
        let is_preview = ["dry_run", "dryRun"].iter().any(|key| value.get(key) == Some(&Value::Bool(true)));
        let diff = match self.written.get_mut() {
            _ if !self.globals.raw || is_preview => None,
            Some(written) => written.diff.take(),
            None => Some(self.rehearsed.take()).filter(|diff| !diff.is_empty()),
        };
        if let Some(diff) = diff {
            self.text(diff);
            return Ok(());
        }
        self.failed_payload = value.get("error").is_some();
        if let Value::Object(answer) = &mut value {
            if let Some(written) = self.written.get_mut() {
                // A rehearsal holds its edits back, which is no failure.
                let rehearsed = written.diff.is_some() || answer.get("dry_run") == Some(&Value::Bool(true));
                self.failed_payload |= written.nothing && !rehearsed;
                written.tell(answer)?;
            } else if self.globals.dry_run {
                let diff = self.rehearsed.get_mut();
                answer.extend(fields_of(&RehearsalReport { dry_run: true, diff })?);
            }
            if let Some(token) = &self.token {
                answer.extend(fields_of(&TokenReport { token })?);
            }
        }
        // Writing to a string cannot fail.
        let _ = write!(self.stdout, "{}", terminal::in_json(format!("{value:#}")));
        Ok(())
    }

    /// As [`Self::emit`], for answers that say themselves what was done: without the list of the fields that changed.
    pub(crate) fn emit_brief(&mut self, report: &impl Serialize) -> Result<(), Failure> {
        if !self.is_rehearsal() {
            self.written.replace(None);
        }
        self.emit(report)
    }

    /// As [`Self::emit`], for commands that have a bare form: under `--raw`, that text alone.
    pub(crate) fn emit_raw(&mut self, report: &impl Serialize, raw: impl AsRef<str>) -> Result<(), Failure> {
        if self.raw() && !self.is_rehearsal() {
            self.text(raw);
            return Ok(());
        }
        self.emit(report)
    }

    /// Answers with text, exactly as given.
    pub(crate) fn text(&mut self, text: impl AsRef<str>) {
        self.stdout.push_str(text.as_ref());
    }

    /// Notes what the caller should know beside the answer; it is no failure.
    pub(crate) fn warn(&self, advice: impl std::fmt::Display) {
        self.warnings.borrow_mut().push(advice.to_string());
    }

    /// Tells, once a call, that what is read may be half of a write.
    pub(in crate::commands) fn tell_unfinished(&self, tree: &AbsolutePath) {
        self.told_unfinished.get_or_init(|| {
            self.warn(format!(
                "a write to `{tree}` was interrupted, and its files may be incomplete; run `gsd-tools recover`"
            ));
        });
    }

    /// Says how far a long call has come.
    #[expect(clippy::unused_self, reason = "progress belongs to the call")]
    pub(crate) fn tell(&self, progress: impl std::fmt::Display) {
        // Where standard error is closed there is nobody left to tell.
        let _ = writeln!(std::io::stderr(), "{}", terminal::shown(&progress.to_string()));
    }

    /// Ends the call with another exit code than 0 although nothing failed.
    pub(crate) fn exit_with(&mut self, code: u8) {
        self.exit_code = code;
    }

    /// Closes the call: picks the field that was asked for, decides the exit code.
    pub(in crate::commands) fn finish(mut self, result: Result<(), Failure>, contract: ExitContract) -> Answer {
        let result = result.map_err(|error| error.rehinted(|hint| self.cured(hint)));
        // Answers that are only a failure are short.
        if self.stdout.len() < SHORT
            && let Some(cured) = self.cured(&self.stdout)
        {
            self.stdout = cured;
        }
        let refused = if self.shows_to_a_person() { refused::failure_in(&self.stdout, self.verb) } else { None };
        if cfg!(debug_assertions) && self.world.variable("GSD_FAULT_AT").as_deref() == Some("count") {
            self.warn(format!("the call took {} steps on the disk", self.steps.taken()));
        }
        let warnings = self.warnings.into_inner();
        if let Err(error) = result {
            return Answer { stdout: self.stdout, warnings, outcome: Err(error) };
        }
        if let Some(error) = refused {
            let error = if self.exit_code == 0 { error } else { error.exits(self.exit_code) };
            return Answer { stdout: String::new(), warnings, outcome: Err(error) };
        }
        let code = match (self.exit_code, contract) {
            (0, ExitContract::V2) if self.failed_payload => DEGRADED,
            (code, _) => code,
        };
        let picked = match &self.globals.pick {
            // What is text for everybody else is a string.
            None if self.globals.json && serde_json::from_str::<serde::de::IgnoredAny>(&self.stdout).is_err() => {
                Ok(Value::from(self.stdout.trim_end()).to_string())
            }
            None => Ok(self.stdout),
            Some(field) => pick(&self.stdout, field),
        };
        match picked {
            Ok(stdout) => Answer { stdout, warnings, outcome: Ok(code) },
            Err(error) => Answer { stdout: String::new(), warnings, outcome: Err(error) },
        }
    }
}

impl Written {
    /// Adds to an answer what changed. An answer that does not say so itself says that nothing did.
    fn tell(&self, answer: &mut Map<String, Value>) -> Result<(), Failure> {
        let says_updated = answer.get("updated") == Some(&Value::Bool(true));
        let rehearsed = self.diff.is_some();
        let mut report = WriteReport {
            updated: None,
            would_update: None,
            reason: None,
            changed: Some(&self.changed),
            dry_run: rehearsed.then_some(true),
            diff: self.diff.as_deref(),
        };
        if self.nothing && !answer.contains_key("error") {
            report.updated = (says_updated || !answer.contains_key("updated")).then_some(false);
            // A dry run of the command's own held its edits back, however many there are.
            let held_back = !rehearsed && answer.get("dry_run") == Some(&Value::Bool(true));
            report.reason = (!held_back && !answer.contains_key("reason")).then(|| why_nothing(answer));
        } else if rehearsed && says_updated {
            report.updated = Some(false);
            report.would_update = Some(true);
        }
        answer.extend(fields_of(&report)?);
        Ok(())
    }
}

/// Why nothing was written: what an answer could not find, or else that all is as it was asked for.
fn why_nothing(answer: &Map<String, Value>) -> Cow<'static, str> {
    let lacking = ["not_found", "failed"].iter().filter_map(|key| answer.get(*key)?.as_array()).flatten();
    let lacking: Vec<&str> = lacking.filter_map(Value::as_str).collect();
    if lacking.is_empty() {
        return "nothing to do: every value is already as requested".into();
    }
    format!("nothing was written: not found: {}", lacking.join(", ")).into()
}

fn value_of(report: &impl Serialize) -> Result<Value, Failure> {
    serde_json::to_value(report).map_err(|error| Failure::because(Reason::SdkFailFast, &error))
}

/// The fields of a report that is an object.
fn fields_of(report: &impl Serialize) -> Result<Map<String, Value>, Failure> {
    Ok(match value_of(report)? {
        Value::Object(fields) => fields,
        _ => Map::new(),
    })
}

fn existing_folder(started: &AbsolutePath, folder: &str, flag: &str) -> Result<AbsolutePath, Failure> {
    let folder = started.resolve(folder);
    if disk::is_folder(&folder) {
        return Ok(folder);
    }
    Err(Failure::usage(format!("`{folder}` of {flag} is not a folder")).hint("name a folder that exists"))
}
