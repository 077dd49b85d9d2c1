//! The request to a client, as a value, and its command line.

use std::time::Duration;

use super::stream::{Opening, Permission};
use super::table::{Delivery, Profile, ProfileKey, Runner};
use crate::disk::AbsolutePath;
use crate::failure::Explain;
use crate::world::fence::Fence;
use crate::world::tree::Mark;
use crate::world::{Program, World};

/// The longest prompt that can be an argument: Linux allows 128 KiB for one.
const LONGEST_ARGUMENT: usize = 120 << 10;

/// One session of a client.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) runner: Runner,
    /// The program to start, if it is not looked up by the runner's names.
    pub(crate) program: Option<String>,
    /// Arguments from the caller, which replace `{extra}`; without that they are added at the end.
    pub(crate) extra: Vec<String>,
    pub(crate) profile: Profile,
    pub(crate) prompt: String,
    /// The working folder of the client.
    pub(crate) folder: AbsolutePath,
    pub(crate) session: ClientSession,
    pub(crate) model: Option<String>,
    /// The commands that may run in the profiles that do not allow everything.
    pub(crate) allowed: Vec<String>,
    pub(crate) environment: Vec<(String, String)>,
    /// Variables that the client does not get, besides those by which it recognizes that it runs inside itself.
    pub(crate) without: Vec<String>,
    /// Whether the client gets a minimal environment: only what programs need for look-ups.
    pub(crate) is_apart: bool,
    /// Where the client and all its child processes may write.
    pub(crate) fence: Option<Fence>,
    /// Without a fence: whether it runs in a separate session, without the terminal of the user.
    pub(crate) is_detached: bool,
    /// The file to which the client writes its usage, if it supports that.
    pub(crate) usage_file: Option<AbsolutePath>,
    /// The file in which the stream is kept, without secrets.
    pub(crate) activity: Option<AbsolutePath>,
    pub(crate) limits: SessionLimits,
    /// The mark by which all processes of the client are found, if one was recorded before.
    pub(crate) mark: Option<Mark>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum ClientSession {
    /// A new session; the client names it.
    #[default]
    New,
    /// A new session with this name, a UUID; a client without that option names it itself.
    Named(String),
    /// Continues an earlier session.
    Resumed(String),
}

/// When a session is stopped. Times also pass on the wall clock, so that suspending the machine does not extend them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SessionLimits {
    /// The limit of the whole session.
    pub(crate) whole: Duration,
    /// The limit of inactivity: no line, no change that the caller sees, no processor time.
    pub(crate) idle: Duration,
    /// The limit of inactivity before the first event of the client.
    pub(crate) first_event: Duration,
    /// The longest wait of the client before it retries the model.
    pub(crate) longest_wait: Duration,
    /// Output in tokens.
    pub(crate) output: u64,
    /// The limit of its cost, in US dollars, if the client reports its cost.
    pub(crate) money: Option<f64>,
    /// How often the client may retry, and how often the model may answer, without a tool in between.
    pub(crate) retries: u32,
    pub(crate) calls_without_tool: u32,
    /// How long the client may run after its final message.
    pub(crate) after_end: Duration,
    /// How long it may take to end after a request.
    pub(crate) to_end: Duration,
}

impl Default for SessionLimits {
    fn default() -> Self {
        let minutes = |minutes: u64| Duration::from_secs(minutes * 60);
        Self {
            whole: minutes(30),
            idle: minutes(10),
            first_event: minutes(2),
            longest_wait: minutes(10),
            output: 300_000,
            money: None,
            retries: 20,
            calls_without_tool: 20,
            // The verdict waits for this. Most clients end at once, and none was seen to lose anything.
            after_end: Duration::from_secs(1),
            to_end: Duration::from_millis(600),
        }
    }
}

/// Why the session cannot be started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunnerError {
    #[error("{}", if programs.is_empty() { format!("`{runner}` needs a program, and none is named") } else { format!("none of the programs of `{runner}` is installed or in PATH: {programs}") })]
    NoProgram { runner: String, programs: String },
    #[error("the prompt has {} KB; `{runner}` takes at most {} KB", size >> 10, LONGEST_ARGUMENT >> 10)]
    PromptTooLong { runner: String, size: usize },
    #[error("`{runner}` cannot resume a session")]
    CannotResume { runner: String },
    #[error("the runner `{runner}` has the unknown part `{part}`")]
    UnknownPart { runner: String, part: String },
    #[error(transparent)]
    World(#[from] crate::world::WorldError),
    #[error(transparent)]
    Disk(#[from] crate::disk::DiskError),
}

impl Explain for RunnerError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::NoProgram { programs, .. } if programs.is_empty() => Some("name its program".to_owned()),
            Self::NoProgram { .. } => Some("install it, check PATH, or choose another runner".to_owned()),
            Self::PromptTooLong { .. } => Some("write the prompt to a file and name the file in it".to_owned()),
            Self::CannotResume { .. } => Some("start a new session".to_owned()),
            Self::UnknownPart { .. } => None,
            Self::World(error) => error.hint(),
            Self::Disk(error) => error.hint(),
        }
    }
}

impl Request {
    /// Returns a request with the default limits; the client is looked up by its names.
    pub(crate) fn new(runner: Runner, profile: Profile, folder: AbsolutePath, prompt: impl Into<String>) -> Self {
        let mut limits = SessionLimits::default();
        if let Some(seconds) = runner.slow_start_seconds {
            limits.first_event = limits.first_event.max(Duration::from_secs(seconds));
        }
        Self {
            runner,
            program: None,
            extra: Vec::new(),
            profile,
            prompt: prompt.into(),
            folder,
            session: ClientSession::New,
            model: None,
            allowed: Vec::new(),
            environment: Vec::new(),
            without: Vec::new(),
            is_apart: false,
            fence: None,
            is_detached: false,
            usage_file: None,
            activity: None,
            limits,
            mark: None,
        }
    }

    /// Returns the names under which the client's program is looked up.
    pub(super) fn programs(&self) -> Vec<&str> {
        match &self.program {
            Some(program) => vec![program],
            None => self.runner.programs.iter().map(String::as_str).collect(),
        }
    }

    /// Returns the program to start under one of its names.
    pub(super) fn program(&self, name: &str, world: &World) -> Result<Program, RunnerError> {
        let runner = &self.runner;
        let program = if self.is_apart { Program::apart(name) } else { Program::new(name) };
        let mut program = program.arguments(self.arguments()?).folder(self.folder.as_path());
        if runner.delivery == Delivery::StandardInput {
            program = program.stdin(self.prompt.as_bytes());
        }
        if runner.loses_output_in_pipes {
            program = program.through_file();
        }
        if let Some(fence) = &self.fence {
            program = program.fenced(fence);
        } else if self.is_detached {
            program = program.detached();
        }
        program = program.without(&runner.inside_itself).without(&self.without);
        let of_root = runner.environment_of_root.iter().filter(|_| world.is_root());
        for (name, value) in runner.environment.iter().chain(of_root) {
            program = program.variable(name, value);
        }
        for (name, value) in &self.environment {
            program = program.variable(name, value);
        }
        if let Some(mark) = &self.mark {
            program = program.marked(mark.clone());
        }
        Ok(program)
    }

    /// Returns the command line without the program.
    pub(crate) fn arguments(&self) -> Result<Vec<String>, RunnerError> {
        let runner = &self.runner;
        if runner.delivery == Delivery::Argument && self.prompt.len() > LONGEST_ARGUMENT {
            return Err(RunnerError::PromptTooLong { runner: runner.name.clone(), size: self.prompt.len() });
        }
        let mut arguments = Vec::new();
        let mut is_extra_placed = false;
        for part in &runner.arguments {
            is_extra_placed |= part == "{extra}";
            self.part(part, &mut arguments)?;
        }
        if !is_extra_placed {
            arguments.extend(self.extra.iter().cloned());
        }
        Ok(arguments)
    }

    fn part(&self, part: &str, arguments: &mut Vec<String>) -> Result<(), RunnerError> {
        let runner = &self.runner;
        let filled = |template: &[String], name: &str, value: &str| -> Vec<String> {
            template.iter().map(|word| word.replace(name, value)).collect()
        };
        let optional = |template: &[String], name: &str, value: Option<&str>| {
            value.map(|value| filled(template, name, value)).unwrap_or_default()
        };
        match part {
            "{prompt}" => arguments.push(self.prompt_as_argument()),
            "{extra}" => arguments.extend(self.extra.iter().cloned()),
            "{profile}" => {
                for part in runner.profiles.get(&ProfileKey(self.profile)).into_iter().flatten() {
                    self.part(part, arguments)?;
                }
            }
            "{allowed}" => {
                let each = self.allowed.iter().flat_map(|it| filled(&runner.allowed_command, "{command}", it));
                arguments.extend(each);
            }
            "{session}" => arguments.extend(self.session_arguments()?),
            "{model}" => arguments.extend(optional(&runner.choose_model, "{model}", self.model.as_deref())),
            "{folder}" => arguments.extend(filled(&runner.choose_folder, "{folder}", &self.folder.to_string())),
            "{usage-file}" => {
                let file = self.usage_file.as_ref().map(ToString::to_string);
                arguments.extend(optional(&runner.usage_file, "{usage-file}", file.as_deref()));
            }
            unknown if unknown.starts_with('{') => {
                return Err(RunnerError::UnknownPart { runner: runner.name.clone(), part: unknown.to_owned() });
            }
            plain => arguments.push(plain.to_owned()),
        }
        Ok(())
    }

    fn session_arguments(&self) -> Result<Vec<String>, RunnerError> {
        let runner = &self.runner;
        let with = |template: &[String], id: &str| -> Vec<String> {
            template.iter().map(|word| word.replace("{session-id}", id)).collect()
        };
        match &self.session {
            ClientSession::New => Ok(Vec::new()),
            ClientSession::Named(id) => Ok(with(&runner.preset_session, id)),
            // A conversation asks for the session itself.
            ClientSession::Resumed(_) if runner.dialect.is_conversation() => Ok(Vec::new()),
            ClientSession::Resumed(_) if !runner.can_resume() => {
                Err(RunnerError::CannotResume { runner: runner.name.clone() })
            }
            ClientSession::Resumed(id) => Ok(with(&runner.resume_session, id)),
        }
    }

    /// Returns the prompt; if it starts with a hyphen, it would be parsed as a flag.
    fn prompt_as_argument(&self) -> String {
        if self.prompt.starts_with('-') { format!("\n{}", self.prompt) } else { self.prompt.clone() }
    }

    /// Returns the start of a conversation.
    pub(crate) fn opening(&self) -> Opening {
        let resume = match &self.session {
            ClientSession::Resumed(id) => Some(id.clone()),
            ClientSession::New | ClientSession::Named(_) => None,
        };
        let answers = match self.profile {
            Profile::Unattended => Permission::Everything,
            Profile::Safe | Profile::Planning => Permission::Edits(self.allowed.clone()),
        };
        Opening { folder: self.folder.to_string(), prompt: self.prompt.clone(), resume, answers }
    }
}
