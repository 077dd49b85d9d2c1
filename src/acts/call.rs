//! The context of a call: its folder, the project there, its settings and its host, and its actions so far.

use std::cell::{Cell, OnceCell, RefCell};
use std::fmt::Display;

use crate::acts::listing::Listed;
use crate::acts::user;
use crate::disk::{self, AbsolutePath, Disk, Faults, Holder, Steps};
use crate::failure::{Failure, Reason};
use crate::operations::answers::changes::ChangedField;
use crate::project::config::{Config, ConfigTexts};
use crate::project::layout::Layout;
use crate::project::{Project, root, workstream};
use crate::runtime::{Descriptor, Registry};
use crate::world::World;

/// One call's context.
#[derive(Debug)]
pub(crate) struct Call {
    world: World,
    /// The words of the command, without global flags.
    pub(crate) words: Vec<String>,
    pub(crate) flags: Flags,
    pub(crate) terminal: Terminal,
    listing: fn() -> Vec<Listed>,
    here: AbsolutePath,
    root: OnceCell<AbsolutePath>,
    layout: OnceCell<Layout>,
    config: OnceCell<Config>,
    pub(super) host: OnceCell<Host>,
    pub(crate) registry: OnceCell<Registry>,
    /// The prefix of command names, and the hosts with an install, once they were needed.
    pub(super) prefix: OnceCell<String>,
    pub(super) installed: OnceCell<Vec<InstalledHost>>,
    pub(super) warned_unfinished: Cell<bool>,
    /// The changes that the call has made on disk so far.
    pub(crate) steps: Steps,
    /// Whether the call may create the project's folder.
    pub(super) starts_a_project: Cell<bool>,
    /// What the call wrote, or would have written.
    pub(crate) written: RefCell<Option<Written>>,
    /// Warnings for the caller, in addition to the answer.
    pub(crate) warnings: RefCell<Vec<String>>,
    /// For a rehearsal of a command that acts: the changed lines of files.
    pub(crate) rehearsed: RefCell<String>,
}

/// How to reach a person at the terminal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terminal {
    /// Shows the progress of a long call.
    pub(crate) show: fn(&str),
    /// Sends a control sequence to it, such as one that rings its bell.
    pub(crate) signal: fn(&str),
    /// Asks a question; false without an answer.
    pub(crate) confirm: fn(&str) -> Result<bool, Failure>,
}

/// The flags that change how any call works.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flags {
    pub(crate) folder: Option<String>,
    pub(crate) project_folder: Option<String>,
    pub(crate) workstream: Option<String>,
    /// For commands that write or act: show what would change, and change nothing.
    pub(crate) dry_run: bool,
    /// For commands that write: the token of an earlier answer; refuse if the documents have changed since.
    pub(crate) if_match: Option<String>,
}

/// The program that runs the agents of this call.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) id: String,
    /// `None` for a host of which only the name is known.
    pub(crate) descriptor: Option<Descriptor>,
}

/// A host with an install.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InstalledHost {
    pub(crate) name: String,
    /// The prefix of command names there.
    pub(crate) prefix: String,
}

/// The changes of a call in the project's documents.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) changed: Vec<ChangedField>,
    /// Whether not a byte changed.
    pub(crate) nothing: bool,
    /// For a rehearsal: the lines that would have changed.
    pub(crate) diff: Option<String>,
}

impl Call {
    pub(crate) fn new(
        world: World,
        flags: Flags,
        terminal: Terminal,
        listing: fn() -> Vec<Listed>,
    ) -> Result<Self, Failure> {
        let started = AbsolutePath::parse(world.folder()?)?;
        let root = OnceCell::new();
        let here = match (&flags.project_folder, &flags.folder) {
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
        // An invalid name is refused, whatever the command does with it.
        let named = flags.workstream.clone().or_else(|| world.variable("GSD_WORKSTREAM"));
        for name in named.iter().chain(&world.variable("GSD_PROJECT")) {
            workstream::checked(name).map_err(|error| Failure::because(Reason::Usage, &error))?;
        }
        Ok(Self {
            world,
            words: Vec::new(),
            flags,
            terminal,
            listing,
            here,
            root,
            layout: OnceCell::new(),
            config: OnceCell::new(),
            host: OnceCell::new(),
            registry: OnceCell::new(),
            prefix: OnceCell::new(),
            installed: OnceCell::new(),
            warned_unfinished: Cell::new(false),
            steps: Steps::default(),
            starts_a_project: Cell::new(false),
            written: RefCell::default(),
            warnings: RefCell::default(),
            rehearsed: RefCell::default(),
        })
    }

    pub(crate) fn world(&self) -> &World {
        &self.world
    }

    /// All verbs.
    pub(crate) fn verbs(&self) -> Vec<Listed> {
        (self.listing)()
    }

    /// True if the call only shows what it would change.
    pub(crate) fn is_rehearsal(&self) -> bool {
        self.flags.dry_run
    }

    /// The way to write. In debug builds, tests choose here which step fails, or ask with `count` for the number of
    /// steps.
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

    /// The project's root: the nearest folder upwards with `.planning`; without one, [`Self::here`].
    pub(crate) fn root(&self) -> &AbsolutePath {
        self.root.get_or_init(|| root::discover(&self.here, self.world.home().as_deref()))
    }

    /// The paths of the project's documents, for the active workstream.
    pub(crate) fn layout(&self) -> &Layout {
        self.layout.get_or_init(|| {
            let asked = self.flags.workstream.as_deref();
            Layout::of_call(self.root(), asked, &self.workstream_pointer(), |name| self.world.variable(name))
        })
    }

    /// The files that store which workstream is active.
    pub(crate) fn workstream_pointer(&self) -> workstream::Pointer {
        let planning = self.root().resolve(".planning");
        workstream::Pointer::new(&planning, &self.world.temporary_folder(), |name| self.world.variable(name))
    }

    /// The project of this call.
    pub(crate) fn project(&self) -> Project {
        Project::new(self.layout().clone(), self.world.state_folder())
    }

    /// True if there is a project: a `.planning` folder.
    pub(crate) fn has_a_project(&self) -> bool {
        disk::is_folder(self.layout().absolute(self.layout().planning()))
    }

    /// Allows this call to create the `.planning` folder.
    pub(crate) fn start_a_project(&self) {
        self.starts_a_project.set(true);
    }

    /// The project's configuration. Warns about a file that does not parse, and about keys without meaning.
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
        let personal = user::defaults(&self.world)?;
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

    /// Adds a warning for the caller to the answer; it is not a failure.
    pub(crate) fn warn(&self, advice: impl Display) {
        self.warnings.borrow_mut().push(advice.to_string());
    }

    /// Shows the progress of a long call.
    pub(crate) fn tell(&self, progress: impl Display) {
        (self.terminal.show)(&progress.to_string());
    }

    /// Adds lines to the changes that a command that acts would make.
    pub(crate) fn note_rehearsed(&self, diff: &str) {
        self.rehearsed.borrow_mut().push_str(diff);
    }
}

fn existing_folder(started: &AbsolutePath, folder: &str, flag: &str) -> Result<AbsolutePath, Failure> {
    let folder = started.resolve(folder);
    if disk::is_folder(&folder) {
        return Ok(folder);
    }
    Err(Failure::usage(format!("`{folder}` of {flag} is not a folder")).hint("name a folder that exists"))
}
