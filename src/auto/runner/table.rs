//! The clients that can be driven: facts from `runners.toml`, each group with its date and source.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::stream::{StreamFacts, StreamForm};
use crate::failure::Explain;
use crate::text::shell::Typed;
use crate::text::words::{read_words, words};
use crate::world::World;

// HOST_PROGRAMS: the programs of hosts, as their descriptors say.
include!(concat!(env!("OUT_DIR"), "/host_programs.rs"));

words! {
    /// How much a client may do without asking.
    #[derive(PartialOrd, Ord, Hash)]
    pub(crate) enum Profile {
        /// Edit files, read with the shell, run the commands that check the project.
        Safe = "safe",
        /// Everything that the fence allows.
        Unattended = "unattended",
        /// Write documents; the fence limits everything else.
        Planning = "planning",
    }
}

read_words! {
    /// How a client gets the prompt.
    pub(crate) enum Delivery {
        /// As one argument, which replaces `{prompt}`.
        Argument = "argument",
        StandardInput = "standard-input",
        /// As a message of its protocol.
        Message = "message",
    }
}

/// All clients, in the order of the file.
#[derive(Clone, Debug)]
pub(crate) struct Runners {
    all: Vec<Runner>,
}

/// One client: its command line, and the form of its stream.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Runner {
    /// The name that users type.
    #[serde(skip)]
    pub(crate) name: String,
    pub(crate) title: String,
    /// Whether the facts were measured with the real client.
    pub(crate) verified: bool,
    /// The variable that it requires to work at all; without it the client is not offered.
    #[serde(default)]
    pub(crate) only_with: Option<String>,
    /// The host whose descriptor names its programs.
    #[serde(default)]
    pub(crate) host: Option<String>,
    /// Names of its program, the best first.
    #[serde(default)]
    pub(crate) programs: Vec<String>,
    /// Marks that distinguish its program from others of that name, as in the descriptor.
    #[serde(skip)]
    pub(crate) marks: Vec<String>,
    /// The version that was measured.
    #[serde(default)]
    pub(crate) version: Option<String>,
    /// The lowest version with all the flags used here, if known.
    #[serde(default)]
    pub(crate) least_version: Option<String>,
    pub(crate) dialect: StreamForm,
    pub(crate) delivery: Delivery,
    /// The arguments; placeholders in braces are filled in by [`super::request::Request::arguments`].
    pub(crate) arguments: Vec<String>,
    /// The replacements of `{profile}`.
    pub(crate) profiles: BTreeMap<ProfileKey, Vec<String>>,
    /// The replacement of `{allowed}` for each command that may run; `{command}` is the command.
    #[serde(default)]
    pub(crate) allowed_command: Vec<String>,
    /// The replacement of `{session}` that names a new session `{session-id}`.
    #[serde(default)]
    pub(crate) preset_session: Vec<String>,
    /// The replacement of `{session}` that continues a session.
    #[serde(default)]
    pub(crate) resume_session: Vec<String>,
    /// Whether the name of a session is known before it ends, so that it can be resumed after a crash.
    #[serde(default)]
    pub(crate) resumes_after_crash: bool,
    /// The replacement of `{model}`.
    #[serde(default)]
    pub(crate) choose_model: Vec<String>,
    /// The replacement of `{folder}`. The program is started there as well.
    #[serde(default)]
    pub(crate) choose_folder: Vec<String>,
    /// The replacement of `{usage-file}`, if usage is written to a separate file.
    #[serde(default)]
    pub(crate) usage_file: Vec<String>,
    /// The arguments with which the client ignores settings of the project, including hooks and servers; empty if
    /// unknown.
    #[serde(default)]
    pub(crate) without_project_settings: Vec<String>,
    /// The command with which a user signs in; empty if unknown.
    #[serde(default)]
    pub(crate) sign_in: Vec<String>,
    /// The arguments with which it begins a conversation with the user at a terminal, with {prompt} and {model}; empty
    /// if unknown.
    #[serde(default)]
    pub(crate) conversation: Vec<String>,
    #[serde(default)]
    pub(crate) environment: BTreeMap<String, String>,
    /// Additional variables if the user is root.
    #[serde(default)]
    pub(crate) environment_of_root: BTreeMap<String, String>,
    /// Variables by which a client recognizes that it runs inside itself; they are removed.
    #[serde(default)]
    pub(crate) inside_itself: Vec<String>,
    /// The folders with the client's own files; `None` if unknown.
    #[serde(default)]
    pub(crate) own: Option<Vec<OwnFolder>>,
    /// Other major versions that need different arguments.
    #[serde(default)]
    pub(crate) majors: Vec<OtherMajor>,
    /// The only `terminal_reason` of a success, if the client always reports one.
    #[serde(default)]
    pub(crate) terminal_reason: Option<String>,
    /// Whether it exits before a pipe has taken all its output, so that its final message can be lost after a large
    /// tool result.
    #[serde(default)]
    pub(crate) loses_output_in_pipes: bool,
    /// Whether its count of input includes cached tokens.
    #[serde(default)]
    pub(crate) input_includes_cached: bool,
    /// Whether the stream reports the tokens used.
    #[serde(default)]
    pub(crate) reports_tokens: bool,
    /// Whether it reports success for an answer that was cut off, and shows that only by counting no tokens for it.
    #[serde(default)]
    pub(crate) counts_only_whole_answers: bool,
    /// The unit in which it reports its cost, if it does.
    #[serde(default)]
    pub(crate) reports_money: Option<super::event::MoneyUnit>,
    /// Variables with an API key that the client takes in place of its login, the first that counts first.
    #[serde(default)]
    pub(crate) key_variables: Vec<String>,
    /// How long it may take to its first event, in seconds, if that is long.
    #[serde(default)]
    pub(crate) slow_start_seconds: Option<u64>,
    #[cfg_attr(not(test), expect(dead_code, reason = "tests check that every fact has a day and a source"))]
    pub(crate) facts: BTreeMap<String, FactSource>,
}

/// A folder of the user with a client's own files. Names in lists may contain `*` for any part.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OwnFolder {
    /// Its path below the home folder, if the user has not moved it.
    pub(super) path: String,
    /// The variable with which the user moves it.
    pub(super) variable: String,
    /// Its path below the folder that the variable names; empty for that folder itself.
    #[serde(default)]
    pub(super) within: String,
    /// Files next to it that are inside it if the variable is set.
    #[serde(default)]
    pub(super) beside: Vec<String>,
    /// Files with a login, which the client refreshes.
    #[serde(default)]
    pub(super) login: Vec<String>,
    /// The client's session history. A run has a separate one, and keeps it from session to session.
    #[serde(default)]
    pub(super) history: Vec<String>,
    /// Folders of settings in which it creates files at its start.
    #[serde(default)]
    pub(super) opened: Vec<String>,
    /// Files in which the client has stored the path of the folder.
    #[serde(default)]
    pub(super) names_itself: Vec<String>,
    /// The suffix of the lock folder that exists while a client changes a login.
    #[serde(default)]
    pub(super) lock: Option<String>,
}

/// How to call another major version of a client. It was not run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OtherMajor {
    pub(super) major: u64,
    /// As in [`Runner`].
    pub(super) arguments: Vec<String>,
    #[serde(default)]
    pub(super) choose_folder: Vec<String>,
    #[cfg_attr(not(test), expect(dead_code, reason = "tests check that every fact has a day and a source"))]
    pub(super) fact: FactSource,
}

/// [`Profile`] as the key of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(transparent)]
pub(crate) struct ProfileKey(pub(crate) Profile);

/// The source of a group of facts.
#[cfg_attr(not(test), expect(dead_code, reason = "tests check that every fact has a day and a source"))]
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FactSource {
    /// The date, as `2026-01-02`.
    pub(crate) date: String,
    pub(crate) source: String,
    #[serde(default)]
    pub(crate) note: Option<String>,
}

/// Why the table cannot be used.
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
    /// Returns the clients that are built into this program.
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
        let offered = || self.all.iter().filter(|runner| runner.is_offered());
        self.all.iter().find(|runner| runner.name == name).ok_or_else(|| TableError::Unknown {
            name: name.to_owned(),
            nearest: crate::text::nearest::nearest(name, offered().map(|runner| runner.name.as_str()))
                .map(str::to_owned),
            known: offered().map(|runner| runner.name.as_str()).collect::<Vec<_>>().join(", "),
        })
    }
}

impl Runner {
    /// Whether it is offered to users: a client that a user can install, not one that this program plays itself, nor a
    /// protocol or script that needs a program of the caller.
    pub(crate) fn is_offered(&self) -> bool {
        self.only_with.is_none() && !self.programs.is_empty()
    }

    /// Returns the command with which a user signs in: the known one, else the client itself. `program` replaces its
    /// program.
    pub(crate) fn signs_in(&self, program: Option<&str>) -> Option<Typed> {
        let own = self.programs.first().map(String::as_str);
        let (first, rest) = match self.sign_in.split_first() {
            Some((first, rest)) => (Some(first.as_str()), rest),
            None => (own, [].as_slice()),
        };
        let first = program.or(first)?;
        Some(rest.iter().fold(Typed::default().word(first), Typed::word))
    }

    /// Returns the arguments that begin a conversation with this text; `None` if they are unknown.
    pub(crate) fn conversation(&self, prompt: &str, model: Option<&str>) -> Option<Vec<String>> {
        let filled = |argument: &String| match (argument.as_str(), model) {
            ("{prompt}", _) => vec![prompt.to_owned()],
            ("{model}", None) => Vec::new(),
            ("{model}", Some(model)) => {
                self.choose_model.iter().map(|argument| argument.replace("{model}", model)).collect()
            }
            _ => vec![argument.clone()],
        };
        let arguments: Vec<String> = self.conversation.iter().flat_map(filled).collect();
        (!arguments.is_empty()).then_some(arguments)
    }

    /// Returns the name of its program in `PATH`.
    pub(crate) fn installed(&self, world: &World) -> Option<String> {
        world.program_of(&self.programs, &self.marks).map(|found| found.name)
    }

    pub(crate) fn facts_of_stream(&self) -> StreamFacts {
        StreamFacts { terminal_reason: self.terminal_reason.clone(), input_includes_cached: self.input_includes_cached }
    }

    /// True if a new session can be given a name, under which it can be resumed after a crash.
    pub(crate) fn can_preset(&self) -> bool {
        !self.preset_session.is_empty()
    }

    pub(crate) fn can_resume(&self) -> bool {
        !self.resume_session.is_empty()
    }
}
