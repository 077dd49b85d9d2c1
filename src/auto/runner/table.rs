//! The clients that can be driven: facts from `runners.toml`, each group with its date and source.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::stream::{Dialect, Facts};
use crate::failure::Explain;
use crate::text::words::{read_words, words};
use crate::world::World;

// HOST_PROGRAMS: the programs of hosts, as their descriptors say.
include!(concat!(env!("OUT_DIR"), "/host_programs.rs"));

words! {
    /// How much a client may do without asking.
    #[derive(PartialOrd, Ord, Hash)]
    pub(crate) enum Profile {
        /// Edit files, read with the shell, run the commands that the project is checked with.
        Safe = "safe",
        /// Everything: the fence is what holds it.
        Unattended = "unattended",
        /// Write documents; what else it may do is the fence's to say.
        Planning = "planning",
    }
}

read_words! {
    /// How a client gets the prompt.
    pub(crate) enum Delivery {
        /// As one argument, in the place of `{prompt}`.
        Argument = "argument",
        StandardInput = "standard-input",
        /// As a message of the protocol that it speaks.
        Message = "message",
    }
}

/// All clients, in the order of the file.
#[derive(Clone, Debug)]
pub(crate) struct Runners {
    all: Vec<Runner>,
}

/// One client: how it is called, and what its stream says.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Runner {
    /// What users call it by.
    #[serde(skip)]
    pub(crate) name: String,
    pub(crate) title: String,
    /// Whether the facts were measured with the real client.
    pub(crate) verified: bool,
    /// The variable without which it works for nobody; such a client is not offered.
    #[serde(default)]
    pub(crate) only_with: Option<String>,
    /// The descriptor of the host that has its programs.
    #[serde(default)]
    pub(crate) host: Option<String>,
    /// Names of its program, the best first.
    #[serde(default)]
    pub(crate) programs: Vec<String>,
    /// What tells its program from others of that name, as in the descriptor.
    #[serde(skip)]
    pub(crate) marks: Vec<String>,
    /// The version that was measured.
    #[serde(default)]
    pub(crate) version: Option<String>,
    /// The least version that has all the flags used here, where that is known.
    #[serde(default)]
    pub(crate) least_version: Option<String>,
    pub(crate) dialect: Dialect,
    pub(crate) delivery: Delivery,
    /// The arguments; those in braces are filled in, as [`super::request::Request::arguments`] does.
    pub(crate) arguments: Vec<String>,
    /// What goes in the place of `{profile}`.
    pub(crate) profiles: BTreeMap<ProfileKey, Vec<String>>,
    /// What goes in the place of `{allowed}` for each command that may run; `{command}` is the command.
    #[serde(default)]
    pub(crate) allowed_command: Vec<String>,
    /// What goes in the place of `{session}` to give a new session its name, `{session-id}`.
    #[serde(default)]
    pub(crate) preset_session: Vec<String>,
    /// What goes in the place of `{session}` to go on with a session.
    #[serde(default)]
    pub(crate) resume_session: Vec<String>,
    /// Whether a session is known by its name before it ends, so that it can be resumed after a crash.
    #[serde(default)]
    pub(crate) resumes_after_crash: bool,
    /// What goes in the place of `{model}`.
    #[serde(default)]
    pub(crate) choose_model: Vec<String>,
    /// What goes in the place of `{folder}`. The program is started there as well.
    #[serde(default)]
    pub(crate) choose_folder: Vec<String>,
    /// What goes in the place of `{usage-file}`, where usage is written beside the stream.
    #[serde(default)]
    pub(crate) usage_file: Vec<String>,
    /// What has the client read no settings of the project, its hooks and servers among them; empty where that is unknown.
    #[serde(default)]
    pub(crate) without_project_settings: Vec<String>,
    #[serde(default)]
    pub(crate) environment: BTreeMap<String, String>,
    /// Further variables where the user is root.
    #[serde(default)]
    pub(crate) environment_of_root: BTreeMap<String, String>,
    /// Variables by which a client knows that it runs inside itself; they are removed.
    #[serde(default)]
    pub(crate) inside_itself: Vec<String>,
    /// The folders in which it keeps what is its own; without it nobody knows them.
    #[serde(default)]
    pub(crate) own: Option<Vec<OwnFolder>>,
    /// Other major versions that are called in another way.
    #[serde(default)]
    pub(crate) majors: Vec<OtherMajor>,
    /// The only `terminal_reason` of a success, where the client always says one.
    #[serde(default)]
    pub(crate) terminal_reason: Option<String>,
    /// Whether it ends before a pipe has taken all it wrote, so that its last words are lost behind a large result of a tool.
    #[serde(default)]
    pub(crate) loses_output_in_pipes: bool,
    /// Whether the input that the client counts has in it what a cache gave.
    #[serde(default)]
    pub(crate) input_includes_cached: bool,
    /// Whether the stream says how many tokens were used.
    #[serde(default)]
    pub(crate) reports_tokens: bool,
    /// Whether it reports success of an answer that was cut off, and shows that only by counting no tokens for it.
    #[serde(default)]
    pub(crate) counts_only_whole_answers: bool,
    /// Whether it says what was spent, and in what.
    #[serde(default)]
    pub(crate) reports_money: Option<super::event::Unit>,
    /// How long it may take to say its first word, in seconds, where that is long.
    #[serde(default)]
    pub(crate) slow_start_seconds: Option<u64>,
    #[cfg_attr(not(test), expect(dead_code, reason = "tests check that every fact has a day and a source"))]
    pub(crate) facts: BTreeMap<String, Fact>,
}

/// A folder of the user's in which a client keeps what is its own. Names in lists may have a `*` for any part of them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OwnFolder {
    /// Where it is below the home folder, if its user has not moved it.
    pub(super) path: String,
    /// The variable by which its user moves it.
    pub(super) variable: String,
    /// Its place below what the variable names; nothing where that is the folder itself.
    #[serde(default)]
    pub(super) within: String,
    /// Files beside it that are in it where the variable is set.
    #[serde(default)]
    pub(super) beside: Vec<String>,
    /// Files with a login, which the client refreshes.
    #[serde(default)]
    pub(super) login: Vec<String>,
    /// What it keeps of its sessions. A run has its own, and keeps them from session to session.
    #[serde(default)]
    pub(super) history: Vec<String>,
    /// Folders of settings in which it makes something at its start.
    #[serde(default)]
    pub(super) opened: Vec<String>,
    /// Files in which the client has written down where the folder is.
    #[serde(default)]
    pub(super) names_itself: Vec<String>,
    /// How the name of the folder ends that is there while a client changes a login.
    #[serde(default)]
    pub(super) lock: Option<String>,
}

/// How another major version of a client is called. It was not run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OtherMajor {
    pub(super) major: u64,
    /// As those of [`Runner`].
    pub(super) arguments: Vec<String>,
    #[serde(default)]
    pub(super) choose_folder: Vec<String>,
    #[cfg_attr(not(test), expect(dead_code, reason = "tests check that every fact has a day and a source"))]
    pub(super) fact: Fact,
}

/// [`Profile`] as the key of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(transparent)]
pub(crate) struct ProfileKey(pub(crate) Profile);

/// Where a group of facts is from.
#[cfg_attr(not(test), expect(dead_code, reason = "tests check that every fact has a day and a source"))]
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fact {
    /// The day, as `2026-01-02`.
    pub(crate) date: String,
    pub(crate) source: String,
    #[serde(default)]
    pub(crate) note: Option<String>,
}

/// The table cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TableError {
    #[error("the list of runners is invalid: {0}")]
    Invalid(#[from] toml_edit::de::Error),
    #[error("`{name}` is not a runner")]
    Unknown { name: String, nearest: Option<String>, known: String },
}

impl Explain for TableError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Invalid(_) => None,
            Self::Unknown { nearest: Some(nearest), .. } => Some(format!("did you mean `{nearest}`?")),
            Self::Unknown { nearest: None, known, .. } => Some(format!("choose one of {known}")),
        }
    }
}

impl Runners {
    /// The clients that come with this program.
    pub(crate) fn builtin() -> Result<Self, TableError> {
        Self::parse(include_str!("runners.toml"))
    }

    pub(crate) fn parse(text: &str) -> Result<Self, TableError> {
        // A document keeps the order of its tables, a map would not.
        let document: toml_edit::DocumentMut = text.parse().map_err(toml_edit::de::Error::from)?;
        let mut rows: BTreeMap<String, Runner> = toml_edit::de::from_str(text)?;
        let named = |(name, _): (&str, &toml_edit::Item)| {
            let mut row = rows.remove(name)?;
            let host = row.host.as_deref().and_then(|host| HOST_PROGRAMS.iter().find(|(id, ..)| *id == host));
            if let Some((_, names, marks)) = host {
                row.programs = names.iter().map(ToString::to_string).collect();
                row.marks = marks.iter().map(ToString::to_string).collect();
            }
            Some(Runner { name: name.to_owned(), ..row })
        };
        Ok(Self { all: document.iter().filter_map(named).collect() })
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Runner> {
        self.all.iter()
    }

    pub(crate) fn find(&self, name: &str) -> Result<&Runner, TableError> {
        let offered = || self.all.iter().filter(|runner| runner.only_with.is_none());
        self.all.iter().find(|runner| runner.name == name).ok_or_else(|| TableError::Unknown {
            name: name.to_owned(),
            nearest: crate::text::nearest::nearest(name, offered().map(|runner| runner.name.as_str()))
                .map(str::to_owned),
            known: offered().map(|runner| runner.name.as_str()).collect::<Vec<_>>().join(", "),
        })
    }
}

impl Runner {
    /// The name of its program in `PATH`.
    pub(crate) fn installed(&self, world: &World) -> Option<String> {
        world.program_of(&self.programs, &self.marks).map(|found| found.name)
    }

    pub(crate) fn facts_of_stream(&self) -> Facts {
        Facts { terminal_reason: self.terminal_reason.clone(), input_includes_cached: self.input_includes_cached }
    }

    /// Whether a new session can be given a name, under which it can be resumed after a crash.
    pub(crate) fn can_preset(&self) -> bool {
        !self.preset_session.is_empty()
    }

    pub(crate) fn can_resume(&self) -> bool {
        !self.resume_session.is_empty()
    }
}
