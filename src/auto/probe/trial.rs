//! Trials of one client, in a temporary home folder.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::compare::{Trial, TrialObservations};
use super::exchange::Usage;
use super::facts::ClientFacts;
use super::script::{MADE, PROMPT, ScriptedModel, has_prompt};
use super::server::{ModelServer, address_of_nobody};
use crate::auto::runner::event::{ClientEvent, Tokens};
use crate::auto::runner::heard::Heard;
use crate::auto::runner::request::{ClientSession, Request, RunnerError, SessionLimits};
use crate::auto::runner::session::{Go, Observer, SessionOutcome, TICK, run};
use crate::auto::runner::table::{Profile, Runner};
use crate::auto::runner::verdict::{Reason, Verdict};
use crate::disk::{self, AbsolutePath, DiskError, Scratch};
use crate::failure::Explain;
use crate::world::fence::{Fence, Fencing, Openings};
use crate::world::output::{Line, Stream};
use crate::world::process::{Ask, Next};
use crate::world::signals::Requests;
use crate::world::{Ended, Program, World, WorldError};

/// How long a client may take to print its version.
const VERSION_LIMIT: Duration = Duration::from_secs(20);

/// How long a client may take to its first event, until its usual time is known.
const FIRST_WORD: Duration = Duration::from_secs(60);

/// The most kinds of line whose names are kept.
const MOST_EVENTS: usize = 200;

/// Variables by which a client, or its child processes, would find files of the user or a way to the network.
const NOT_GIVEN: &[&str] = &[
    "ALL_PROXY",
    "all_proxy",
    "NODE_EXTRA_CA_CERTS",
    "NPM_CONFIG_GLOBALCONFIG",
    "NPM_CONFIG_USERCONFIG",
    "npm_config_globalconfig",
    "npm_config_userconfig",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_DIRS",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
];

/// Why the trial cannot be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProbeError {
    #[error(transparent)]
    Runner(#[from] RunnerError),
    #[error(transparent)]
    Disk(#[from] DiskError),
    #[error(transparent)]
    World(#[from] WorldError),
    #[error("no server can be started on loopback: {0}")]
    Server(#[from] std::io::Error),
    #[error("the probe was interrupted; nothing of it is left running")]
    Interrupted,
}

impl Explain for ProbeError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Runner(error) => error.hint(),
            Self::Disk(error) => error.hint(),
            Self::World(error) => error.hint(),
            Self::Server(_) => Some("allow programs to listen on 127.0.0.1".to_owned()),
            Self::Interrupted => Some("call it again; `--trial` runs a part of it".to_owned()),
        }
    }
}

/// A client under trial: its home, and how it is started there.
#[derive(Debug)]
pub(crate) struct TrialBench<'a> {
    world: &'a World,
    runner: &'a Runner,
    facts: &'static ClientFacts,
    program: &'a str,
    signals: Option<&'a Requests>,
    scratch: Scratch,
    home: AbsolutePath,
    temporary: AbsolutePath,
    /// The limit until its first event.
    first_word: Duration,
}

impl<'a> TrialBench<'a> {
    pub(crate) fn new(
        world: &'a World,
        runner: &'a Runner,
        facts: &'static ClientFacts,
        program: &'a str,
        signals: Option<&'a Requests>,
    ) -> Result<Self, ProbeError> {
        let parent = disk::real(&AbsolutePath::parse(world.temporary_folder()).map_err(DiskError::from)?)?;
        let scratch = Scratch::new(parent.as_path())?;
        let (home, temporary) = (scratch.make_folder("home")?, scratch.make_folder("tmp")?);
        let slow = runner.slow_start_seconds.map_or(FIRST_WORD, Duration::from_secs);
        let first_word = slow.max(FIRST_WORD);
        Ok(Self { world, runner, facts, program, signals, scratch, home, temporary, first_word })
    }

    /// True if the client is kept from writing outside of its folder.
    pub(crate) fn is_fenced(&self) -> bool {
        self.world.fencing() != Fencing::Unavailable
    }

    fn fence(&self) -> Option<Fence> {
        let fence = || Fence::around([self.scratch.folder().as_path()]);
        self.is_fenced().then(|| fence().for_user(self.world, None, &Openings::default()))
    }

    /// Returns the variables that make a client use the server at `url`, and no other one.
    fn variables(&self, url: &str) -> Vec<(String, String)> {
        let (home, temporary) = (self.home.to_string(), self.temporary.to_string());
        let appdata = self.home.resolve("AppData").to_string();
        let local = [("HOME", &home), ("USERPROFILE", &home), ("APPDATA", &appdata), ("LOCALAPPDATA", &appdata)];
        let temporary = ["TMPDIR", "TMP", "TEMP"].map(|name| (name, &temporary));
        let url = url.to_owned();
        let proxies = ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"].map(|name| (name, &url));
        let here = "127.0.0.1,localhost".to_owned();
        let direct = ["NO_PROXY", "no_proxy"].map(|name| (name, &here));
        let usual = local.iter().chain(&temporary).chain(&proxies).chain(&direct);
        let usual = usual.map(|(name, value)| ((*name).to_owned(), (*value).clone()));
        usual.chain(self.facts.variables(&url).map(|(name, value)| (name.to_owned(), value))).collect()
    }

    /// Returns the version that the client prints; `None` if it prints none.
    pub(crate) fn version(&self) -> Result<Option<String>, ProbeError> {
        let mut program = Program::apart(self.program).arguments(["--version"]).folder(self.home.as_path());
        program = program.without(NOT_GIVEN);
        for (name, value) in self.variables(&address_of_nobody()?) {
            program = program.variable(name, value);
        }
        if let Some(fence) = self.fence() {
            program = program.fenced(&fence);
        }
        let mut process = self.world.start(&program)?;
        let end = Instant::now() + VERSION_LIMIT;
        let mut lines = Vec::new();
        while Instant::now() < end {
            match process.next(Instant::now() + TICK)? {
                Next::Line(line) => lines.push(String::from_utf8_lossy(&line.bytes).trim().to_owned()),
                Next::Ended(_) => break,
                Next::Nothing if self.signals.and_then(Requests::asked).is_some() => {
                    return Err(ProbeError::Interrupted);
                }
                Next::Nothing => {}
            }
        }
        process.stop(Ask::Terminate, Duration::ZERO)?;
        let is_version = |line: &String| line.contains(|letter: char| letter.is_ascii_digit()) && line.contains('.');
        Ok(lines.into_iter().find(is_version))
    }

    /// Runs one session, and returns the observations.
    pub(crate) fn run(&mut self, trial: Trial) -> Result<TrialObservations, ProbeError> {
        let server = match trial {
            Trial::Refused => None,
            _ => Some(ModelServer::start(ScriptedModel::new(&self.facts.shell, trial))?),
        };
        let url = match &server {
            Some(server) => server.url(),
            None => address_of_nobody()?,
        };
        let project = self.project(trial)?;
        for (path, text) in self.facts.files(&url) {
            disk::write_fleeting(&self.home.resolve(path), text.as_bytes())?;
        }
        let name = self.world.uuid();
        let request = Request {
            program: Some(self.program.to_owned()),
            session: ClientSession::Named(name.clone()),
            model: self.facts.model.clone(),
            environment: self.variables(&url),
            without: NOT_GIVEN.iter().map(|name| (*name).to_owned()).collect(),
            is_apart: true,
            fence: self.fence(),
            usage_file: Some(self.temporary.resolve(format!("usage-{}.json", trial.word()))),
            limits: self.limits(),
            ..Request::new(self.runner.clone(), Profile::Unattended, project.clone(), PROMPT)
        };
        let mut watch = StreamWatch { signals: self.signals, events: BTreeSet::new(), prose: 0 };
        let began = Instant::now();
        let outcome = run(self.world, &request, &mut watch)?;
        let took = began.elapsed();
        if matches!(outcome.judgement.verdict, Verdict::Stopped(Reason::Asked(_))) {
            return Err(ProbeError::Interrupted);
        }
        if trial == Trial::Work && outcome.judgement.verdict == Verdict::Ran {
            // From now on, twice the time of its complete work is enough for its first event.
            self.first_word = (took * 2).clamp(Duration::from_secs(10), FIRST_WORD);
        }
        let count = server.as_ref().map(ModelServer::count).unwrap_or_default();
        let made = disk::is_file(project.resolve(MADE));
        let has_prompt = server.as_ref().is_some_and(|server| has_prompt(&server.requests()));
        let facets = Facets { name, took, made, has_prompt, used: count.usage, beside: count.beside };
        Ok(seen(trial, outcome, watch, facets))
    }

    /// Makes an empty repository for one trial.
    fn project(&self, trial: Trial) -> Result<AbsolutePath, ProbeError> {
        let project = self.scratch.make_folder(trial.word())?;
        let git = Program::git(project.as_path()).arguments(["init", "--quiet"]);
        let git = git.variable("HOME", self.home.as_path()).variable("GIT_CONFIG_NOSYSTEM", "1");
        self.world.run(&git.without(NOT_GIVEN))?;
        Ok(project)
    }

    fn limits(&self) -> SessionLimits {
        SessionLimits {
            whole: Duration::from_secs(45).max(self.first_word),
            idle: Duration::from_secs(6),
            first_event: self.first_word,
            longest_wait: Duration::from_secs(5),
            retries: 4,
            calls_without_tool: 8,
            ..SessionLimits::default()
        }
    }
}

/// Facts about a session besides its outcome.
struct Facets {
    name: String,
    took: Duration,
    made: bool,
    has_prompt: bool,
    used: Usage,
    beside: Usage,
}

fn seen(trial: Trial, outcome: SessionOutcome, watch: StreamWatch<'_>, facets: Facets) -> TrialObservations {
    let code = match outcome.ended {
        Ended::Code(code) if outcome.ended_itself => Some(code),
        _ => None,
    };
    TrialObservations {
        trial,
        took: facets.took,
        made: facets.made,
        has_prompt: facets.has_prompt,
        code,
        tokens: outcome.heard.tokens(),
        served: tokens(facets.used),
        beside: tokens(facets.beside),
        has_money: outcome.heard.money().is_some(),
        tools: outcome.heard.tools,
        session: outcome.heard.session,
        preset: Some(facets.name),
        survivors: outcome.survivors.len(),
        has_left_running: outcome.left_running,
        events: watch.events,
        prose: watch.prose,
        evidence: outcome.judgement.evidence,
        verdict: outcome.judgement.verdict,
    }
}

fn tokens(usage: Usage) -> Tokens {
    Tokens { input: usage.input, output: usage.output, cached: usage.cached }
}

/// Records the kinds of line in the stream.
struct StreamWatch<'a> {
    signals: Option<&'a Requests>,
    events: BTreeSet<String>,
    prose: u64,
}

impl Observer for StreamWatch<'_> {
    fn line(&mut self, line: &Line) {
        if line.stream != Stream::Stdout || line.bytes.trim_ascii().is_empty() {
            return;
        }
        match serde_json::from_slice::<Value>(line.bytes.trim_ascii()) {
            Ok(Value::Object(object)) if self.events.len() < MOST_EVENTS => {
                self.events.insert(kind(&Value::Object(object)));
            }
            Ok(Value::Object(_)) => {}
            Ok(_) | Err(_) => self.prose += 1,
        }
    }

    fn hear(&mut self, _event: &ClientEvent, _heard: &Heard) -> Go {
        Go::On
    }

    fn tick(&mut self, _heard: &Heard) -> Go {
        match self.signals.and_then(Requests::asked) {
            Some(_) => Go::Stop("interrupted".to_owned()),
            None => Go::On,
        }
    }
}

/// Returns the words by which a line names its kind.
fn kind(line: &Value) -> String {
    let first = ["/type", "/event", "/method", "/role"].iter().find_map(|path| line.pointer(path)?.as_str());
    let second = ["/subtype", "/item/type", "/part/type"].iter().find_map(|path| line.pointer(path)?.as_str());
    let words: Vec<&str> = first.into_iter().chain(second).collect();
    words.join(" ")
}
