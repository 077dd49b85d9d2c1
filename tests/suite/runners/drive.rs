//! Gives one unit to a client through the program's own supervisor, and reports the supervisor's verdict.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::NotRun;
use super::script::{PROMPT, Script};
use super::subjects::Subject;
use crate::clients::exchange::Request;
use crate::clients::faults::Count;
use crate::clients::process::{end_processes_of, processes_of};
use crate::clients::server::{ModelServer, address_of_nobody};
use crate::kit::{TestContext, binary};

/// The setting in which a client gets units, one after the other, as on a user's machine.
pub(crate) struct Desk<'a> {
    pub(crate) subject: &'a Subject,
    pub(crate) context: TestContext,
    program: PathBuf,
    is_of_subscription: bool,
}

/// How a unit is given.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    pub(crate) profile: &'static str,
    /// The client itself ends after two turns.
    pub(crate) has_two_turns: bool,
    /// Limits for the supervisor, in addition to those that every unit here has.
    pub(crate) limits: Value,
    /// Where the client may write in addition to the project, the temporary folder and its own files; no fence if
    /// `None`.
    pub(crate) fence: Option<Vec<PathBuf>>,
    /// No server listens at the address of the model.
    pub(crate) refuses: bool,
}

impl Default for Order {
    fn default() -> Self {
        Self { profile: "unattended", has_two_turns: false, limits: json!({}), fence: None, refuses: false }
    }
}

/// The result of a unit.
#[derive(Debug)]
pub(crate) struct Report {
    /// The supervisor's answer.
    pub(crate) outcome: Value,
    pub(crate) took: Duration,
    /// The counts of the model's server.
    pub(crate) count: Count,
    /// True if the model received the unchanged prompt; `None` if it got no request.
    pub(crate) has_prompt: Option<bool>,
}

impl Report {
    pub(crate) fn verdict(&self) -> &str {
        self.outcome["verdict"].as_str().unwrap_or_default()
    }

    /// The verdict with its kind, such as `dead: auth`.
    pub(crate) fn in_short(&self) -> String {
        let of = |key: &str| self.outcome[key].as_str();
        match of("kind") {
            Some(kind) => format!("{}: {kind}", self.verdict()),
            None => self.verdict().to_owned(),
        }
    }

    pub(crate) fn text(&self) -> String {
        format!("{} after {:.1} s, {:?}: {}", self.in_short(), self.took.as_secs_f32(), self.count, self.outcome)
    }
}

/// A unit under way.
pub(crate) struct Running {
    supervisor: Child,
    lines: BufReader<ChildStdout>,
    server: Option<ModelServer>,
    home: PathBuf,
    began: Instant,
    pub(crate) client: u32,
    pub(crate) mark: String,
}

impl<'a> Desk<'a> {
    pub(crate) fn new(subject: &'a Subject) -> Result<Self, NotRun> {
        let program = subject.program()?;
        let context = TestContext::on_disk();
        let mut git = context.command("git");
        assert!(git.args(["init", "--quiet"]).status().unwrap().success());
        Ok(Self { subject, context, program, is_of_subscription: false })
    }

    /// Makes its user one with a subscription and without a key.
    pub(crate) fn of_subscription(mut self) -> Self {
        self.is_of_subscription = true;
        self
    }

    /// Removes what an earlier unit left in the project.
    pub(crate) fn clear(&self) {
        for entry in std::fs::read_dir(self.context.project()).unwrap().flatten() {
            if entry.file_name() != ".git" {
                let path = entry.path();
                let _ = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
            }
        }
    }

    /// Uses the client as a person does, so that its daemon is running; returns true if a process stayed.
    pub(crate) fn use_by_hand(&self) -> bool {
        let server = ModelServer::start(Script::new(self.subject.hands, &[])).unwrap();
        let mut command = self.context.command(&self.program);
        self.subject.set_up(&mut command, &self.context, &server.url(), &self.program);
        // The daemon would hold pipes open.
        command.args(self.subject.daemon).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        assert!(command.status().unwrap().success());
        !processes_of(&self.context.home()).is_empty()
    }

    /// A file whose presence asks the supervisor to stop.
    pub(crate) fn stop_file(&self) -> PathBuf {
        self.context.home().with_file_name("stop")
    }

    /// Gives the unit of `script` to the client and waits for the result.
    pub(crate) fn give(&self, script: Script, order: &Order) -> Report {
        self.start(script, order).report()
    }

    pub(crate) fn start(&self, script: Script, order: &Order) -> Running {
        let server = (!order.refuses).then(|| ModelServer::start(script).unwrap());
        let url = server.as_ref().map_or_else(|| address_of_nobody().unwrap(), ModelServer::url);
        let _ = std::fs::remove_file(self.stop_file());
        let mut command = self.context.command(binary());
        self.subject.set_up(&mut command, &self.context, &url, &self.program);
        if order.has_two_turns {
            (self.subject.two_turns.expect("a limit of turns").setting)(&self.context);
        }
        if self.is_of_subscription {
            command.env_remove("ANTHROPIC_API_KEY").env("CLAUDE_CODE_OAUTH_TOKEN", "none");
        }
        let request = self.request(order);
        command.arg("__supervise").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let began = Instant::now();
        let mut supervisor = command.spawn().unwrap();
        supervisor.stdin.take().unwrap().write_all(request.to_string().as_bytes()).unwrap();
        let mut lines = BufReader::new(supervisor.stdout.take().unwrap());
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        let started: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("the supervisor said {line:?}"));
        let client = started["client"].as_u64().and_then(|id| u32::try_from(id).ok());
        let client = client.unwrap_or_else(|| panic!("{started}"));
        let mark = started["mark"].as_str().unwrap().to_owned();
        Running { supervisor, lines, server, home: self.context.home(), began, client, mark }
    }

    fn request(&self, order: &Order) -> Value {
        let seconds = |seconds: u64| seconds * 1000;
        let mut limits = json!({
            "whole": seconds(60), "idle": seconds(15), "first-event": seconds(60), "longest-wait": seconds(5), "retries": 4,
        });
        for (name, value) in order.limits.as_object().into_iter().flatten() {
            limits[name.as_str()] = value.clone();
        }
        let turns = self.subject.two_turns.filter(|_| order.has_two_turns);
        let extra = turns.map(|turns| turns.words).unwrap_or_default();
        let temporary = self.context.home().with_file_name("tmp");
        let fence = order.fence.as_ref().map(|more| {
            [self.context.project(), temporary.clone()].into_iter().chain(more.iter().cloned()).collect::<Vec<_>>()
        });
        json!({
            "runner": self.subject.name, "program": self.program, "profile": order.profile, "prompt": PROMPT,
            "folder": self.context.project(), "model": self.subject.model, "extra": extra, "limits": limits,
            "fence": fence, "stop-file": self.stop_file(), "usage-file": temporary.join("usage.json"),
            "activity": temporary.join("activity.jsonl"),
        })
    }
}

impl Running {
    /// Waits until this file exists.
    pub(crate) fn wait_for(&mut self, path: &Path) {
        let end = Instant::now() + Duration::from_secs(60);
        while !path.exists() {
            if self.supervisor.try_wait().unwrap().is_some() || Instant::now() > end {
                let mut rest = String::new();
                let _ = std::io::Read::read_to_string(&mut self.lines, &mut rest);
                panic!("{} never came: {rest}", path.display());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Kills the supervisor itself.
    pub(crate) fn kill_supervisor(&mut self) {
        self.supervisor.kill().unwrap();
        self.supervisor.wait().unwrap();
    }

    pub(crate) fn report(&mut self) -> Report {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        let took = self.began.elapsed();
        let outcome = serde_json::from_str(&line).unwrap_or_else(|_| panic!("the supervisor said {line:?}"));
        let requests = self.server.as_ref().map(ModelServer::requests).unwrap_or_default();
        let texts: Vec<String> = requests.iter().filter(|request| request.offers_tools()).map(Request::text).collect();
        let is_whole = |text: &String| text.contains(PROMPT) && !text.contains(&format!("\"{PROMPT}"));
        let has_prompt = (!texts.is_empty()).then(|| texts.iter().any(is_whole));
        Report { outcome, took, count: self.server.as_ref().map(ModelServer::count).unwrap_or_default(), has_prompt }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.supervisor.kill();
        let _ = self.supervisor.wait();
        end_processes_of(&self.home);
    }
}

/// The processes that carry this mark, or have this text in their command line, with their command lines.
pub(crate) fn alive(mark: &str, text: &str) -> Vec<String> {
    let look = |entry: std::fs::DirEntry| {
        let process = entry.file_name().into_string().ok()?;
        process.bytes().all(|byte| byte.is_ascii_digit()).then_some(())?;
        let read = |name: &str| std::fs::read(entry.path().join(name)).unwrap_or_default();
        let (environment, line) = (read("environ"), String::from_utf8_lossy(&read("cmdline")).replace('\0', " "));
        let is_marked = environment
            .split(|byte| *byte == 0)
            .any(|variable| variable.starts_with(b"GSD_PROCESS=") && String::from_utf8_lossy(variable).contains(mark));
        (is_marked || line.contains(text)).then(|| format!("{process} {line}"))
    };
    std::fs::read_dir("/proc").unwrap().flatten().filter_map(look).collect()
}

/// Calls the supervisor by itself, to end processes that another one left.
pub(crate) fn end_all(context: &TestContext, mark: &str) -> Value {
    let mut command: Command = context.command(binary());
    let mut child = command.arg("__supervise").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(json!({"end-all": mark}).to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}
