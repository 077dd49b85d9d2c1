//! A project in which a run is started, watched, and killed.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::auto::compile::fake_agent;
use crate::auto_phases::{ROADMAP, STATE};
use crate::kit::{TestContext, binary};

/// How long a test waits before it gives up.
const PATIENCE: Duration = Duration::from_secs(120);

/// A project with a brief, and the runs of its milestone.
pub(super) struct Bench {
    pub(super) context: TestContext,
    pub(super) actor: String,
    pub(super) shape: &'static str,
    /// More variables of the program and of the client.
    pub(super) variables: Vec<(&'static str, String)>,
    pub(super) flags: Vec<String>,
    /// True if the project is in phases, in which agents commit.
    pub(super) in_phases: bool,
}

/// A run in its own process.
pub(super) struct Engine {
    pub(super) child: Child,
    told: PathBuf,
}

/// How a run ended.
#[derive(Debug)]
pub(super) struct Ended {
    /// `None` if it was killed.
    pub(super) code: Option<i32>,
    /// Its output, both streams.
    pub(super) text: String,
}

impl Bench {
    pub(super) fn new(actor: &str) -> Self {
        let context = TestContext::new();
        context.write("README.md", "# P\n");
        std::fs::write(context.home().join("brief.md"), "Make a shelf of files.\n").unwrap();
        let bench = Self {
            context,
            actor: actor.to_owned(),
            shape: "2x2",
            variables: Vec::new(),
            flags: Vec::new(),
            in_phases: false,
        };
        bench.git(&["init", "--quiet", "--initial-branch=main"]);
        bench.git(&["add", "--all"]);
        bench.git(&["commit", "--quiet", "--message=start"]);
        bench
    }

    /// A project of two phases.
    pub(super) fn in_phases(actor: &str) -> Self {
        let mut bench = Self::new(actor);
        bench.in_phases = true;
        bench.context.write(".planning/ROADMAP.md", ROADMAP);
        bench.context.write(".planning/STATE.md", STATE);
        bench.git(&["add", "--all"]);
        bench.git(&["commit", "--quiet", "--amend", "--message=start"]);
        bench.context.gsd(["install", "--global", "--claude"]).success();
        // Each kill in a session can cost one.
        bench.flag("--max-sessions").flag("40")
    }

    pub(super) fn shape(self, shape: &'static str) -> Self {
        Self { shape, ..self }
    }

    pub(super) fn with(mut self, name: &'static str, value: u64) -> Self {
        self.variables.push((name, value.to_string()));
        self
    }

    pub(super) fn flag(mut self, flag: &str) -> Self {
        if flag == "--no-fence" {
            // Without a fence no unapproved check of a plan runs; the user's own checks need no approval.
            std::fs::create_dir_all(self.context.home().join(".gsd")).unwrap();
            let own = "---\nverification_commands: [\"ls\"]\n---\n";
            std::fs::write(self.context.home().join(".gsd/PREFERENCES.md"), own).unwrap();
        }
        self.flags.push(flag.to_owned());
        self
    }

    pub(super) fn git(&self, arguments: &[&str]) -> String {
        let output = self.context.command("git").args(arguments).output().unwrap();
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// The call that begins the run and continues it: a person types the same again.
    pub(super) fn line(&self) -> Vec<String> {
        let (brief, agent) = (self.context.home().join("brief.md"), fake_agent());
        let (brief, agent) = (brief.to_string_lossy().into_owned(), agent.to_string_lossy().into_owned());
        let mut words = vec!["auto", "run"];
        if !self.in_phases {
            words.extend(["--brief", &brief]);
        }
        words.extend(["--runner", "fake", "--runner-program", &agent]);
        words.into_iter().map(str::to_owned).chain(self.flags.iter().cloned()).collect()
    }

    fn prepared(&self, mut command: Command) -> (Command, PathBuf) {
        let told = self.context.home().join("told.txt");
        let file = File::create(&told).unwrap();
        command.env("FAKE_SHAPE", self.shape).env("FAKE_ACTOR", &self.actor);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.stdout(file.try_clone().unwrap()).stderr(file).stdin(Stdio::null());
        (command, told)
    }

    pub(super) fn start(&self) -> Engine {
        let mut command = self.context.command(binary());
        command.args(self.line());
        let (mut command, told) = self.prepared(command);
        Engine { child: command.spawn().unwrap(), told }
    }

    /// As [`Self::start`], after a line of shell.
    pub(super) fn start_after(&self, line: &str) -> Engine {
        let mut command = self.context.command("sh");
        command.args(["-c", &format!("{line}; exec \"$@\""), "sh"]).arg(binary()).args(self.line());
        let (mut command, told) = self.prepared(command);
        Engine { child: command.spawn().unwrap(), told }
    }

    /// As [`Self::start`], in its own process group, as a shell starts a command at a terminal.
    pub(super) fn start_in_group(&self) -> Engine {
        use std::os::unix::process::CommandExt;
        let mut command = self.context.command(binary());
        command.args(self.line()).process_group(0);
        let (mut command, told) = self.prepared(command);
        Engine { child: command.spawn().unwrap(), told }
    }

    pub(super) fn run(&self) -> Ended {
        self.start().end()
    }

    pub(super) fn log_path(&self) -> Option<PathBuf> {
        let state = self.context.home().join(".local/state/gsd-tools/projects");
        let projects = std::fs::read_dir(state).ok()?;
        projects.flatten().map(|project| project.path().join("auto/log.jsonl")).find(|log| log.is_file())
    }

    /// The entries of the log, complete lines only.
    pub(super) fn log(&self) -> Vec<Value> {
        let text = self.log_path().and_then(|log| std::fs::read_to_string(log).ok()).unwrap_or_default();
        let entry = |line: &str| Some(serde_json::from_str::<Value>(line).ok()?["entry"].clone());
        text.lines().filter_map(entry).collect()
    }

    pub(super) fn events(&self, name: &str) -> Vec<Value> {
        self.log().into_iter().filter(|entry| entry["event"] == name).collect()
    }

    pub(super) fn count(&self, name: &str) -> usize {
        self.events(name).len()
    }

    /// Waits until the log has this many entries with this name.
    pub(super) fn await_event(&self, name: &str, count: usize) {
        self.await_that(&format!("{count} × {name}"), || self.count(name) >= count);
    }

    pub(super) fn await_that(&self, what: &str, holds: impl Fn() -> bool) {
        let began = Instant::now();
        while !holds() {
            assert!(began.elapsed() < PATIENCE, "{what} did not come: {:#?}", self.log().last());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// All processes with the home of this test, by number, with their command lines.
    pub(super) fn processes(&self) -> BTreeMap<u32, String> {
        self.processes_with("")
    }

    /// The processes of a unit: the client, its checks, and their children.
    pub(super) fn of_units(&self) -> BTreeMap<u32, String> {
        self.processes_with("GSD_PROCESS=")
    }

    fn processes_with(&self, variable: &str) -> BTreeMap<u32, String> {
        let home = format!("HOME={}", self.context.home().display());
        let found = std::fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
            let id: u32 = entry.file_name().to_str()?.parse().ok()?;
            let environment = std::fs::read(entry.path().join("environ")).ok()?;
            let mut variables = environment.split(|byte| *byte == 0);
            let is_here = environment.split(|byte| *byte == 0).any(|own| own == home.as_bytes());
            let has = variable.is_empty() || variables.any(|own| own.starts_with(variable.as_bytes()));
            let line = std::fs::read(entry.path().join("cmdline")).ok()?;
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            (is_here && has && !line.is_empty()).then_some((id, line))
        });
        found.collect()
    }

    /// The process of the client that is running.
    pub(super) fn client(&self) -> Option<u32> {
        let agent = fake_agent().to_string_lossy().into_owned();
        self.of_units().into_iter().find(|(_, line)| line.starts_with(&agent)).map(|(id, _)| id)
    }

    /// A hash of the files that landed: the one thing that all runs of a milestone have in common. The record of a
    /// check has its time, duration and tree; nothing else may differ.
    pub(super) fn landed(&self) -> String {
        let mut hash = Sha256::new();
        for line in self.git(&["ls-tree", "-r", "main"]).lines() {
            let (_, path) = line.split_once('\t').unwrap();
            // These files record when something was done.
            if self.in_phases && (path.ends_with("/STATE.md") || path.ends_with("/state.json")) {
                continue;
            }
            let text = self.git(&["show", &format!("main:{path}")]);
            hash.update(format!("{path}\n"));
            hash.update(if path.ends_with("-VERIFY.json") { without_times(&text) } else { text });
        }
        hash.finalize().iter().take(6).fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
    }

    /// What an ended run left over.
    pub(super) fn left(&self) -> Vec<String> {
        let mut left: Vec<String> = self.processes().into_values().map(|line| format!("process {line}")).collect();
        let listed = self.context.command("git").args(["worktree", "list"]).output().unwrap();
        let worktrees = [listed.stdout, listed.stderr].concat();
        left.extend(String::from_utf8_lossy(&worktrees).lines().skip(1).map(|line| format!("worktree {line}")));
        left.extend((!listed.status.success()).then(|| "git lists no worktrees".to_owned()));
        let references = self.git(&["for-each-ref", "--format=%(refname)"]);
        // The branch, what is kept for a month, and the proof of the landing.
        let is_wanted =
            |name: &str| name == "refs/heads/main" || name == "refs/notes/gsd" || name.starts_with("refs/gsd/keep/");
        let is_ours = |name: &&str| !is_wanted(name);
        left.extend(references.lines().filter(is_ours).map(|name| format!("reference {name}")));
        left.extend(self.git(&["status", "--porcelain"]).lines().map(|line| format!("status {line}")));
        let root = self.context.home().parent().unwrap().to_path_buf();
        for entry in walkdir::WalkDir::new(&root).into_iter().map(Result::unwrap) {
            let path = entry.path().strip_prefix(&root).unwrap().to_string_lossy().into_owned();
            let name = entry.file_name().to_string_lossy();
            let is_lock = name.ends_with(".lock") && path.contains("/.git/");
            let is_temporary = path.starts_with("tmp/") || name.ends_with(".gsd-new");
            let is_scratch = name.starts_with("gsd-tools-scratch-") || path.contains(".git/worktrees/");
            if is_lock || is_temporary || is_scratch {
                left.push(format!("file {path}"));
            }
        }
        left
    }

    /// Checks that the milestone landed once, as one commit, and that nothing else is left. Returns what is wrong.
    pub(super) fn wrong(&self, expected: &str) -> Vec<String> {
        let mut wrong = self.left();
        if self.landed() != expected {
            wrong.push(format!("the tree is {}, and should be {expected}", self.landed()));
        }
        let commits = self.git(&["rev-list", "--count", "main"]);
        if commits != "2" {
            wrong.push(format!("{commits} commits on the target"));
        }
        // Each task once on the branch that was kept.
        let kept = self.git(&["for-each-ref", "--format=%(refname)", "refs/gsd/keep/"]);
        let kept = kept.lines().find(|name| name.contains("/head-")).unwrap_or("main");
        let tasks = self.git(&["log", "--format=%(trailers:key=GSD-Task,valueonly,separator=%x2C)", kept]);
        let mut seen = BTreeMap::new();
        tasks.lines().filter(|task| !task.is_empty()).for_each(|task| *seen.entry(task).or_insert(0) += 1);
        wrong.extend(seen.iter().filter(|(_, times)| **times > 1).map(|(task, _)| format!("{task} committed twice")));
        wrong
    }
}

fn without_times(text: &str) -> String {
    let mut record: Value = serde_json::from_str(text).unwrap();
    let fields = record.as_object_mut().unwrap();
    assert!(fields.remove("timestamp").is_some() && fields.remove("tree").is_some(), "{text}");
    for check in fields["checks"].as_array_mut().unwrap() {
        check.as_object_mut().unwrap().remove("durationMs").unwrap();
    }
    record.to_string()
}

impl Engine {
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(super) fn told(&self) -> String {
        std::fs::read_to_string(&self.told).unwrap_or_default()
    }

    pub(super) fn is_over(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Waits for its end.
    pub(super) fn end(mut self) -> Ended {
        let began = Instant::now();
        while !self.is_over() {
            if began.elapsed() > PATIENCE {
                self.child.kill().unwrap();
                self.child.wait().unwrap();
                panic!("the run does not end: {}", self.told());
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        let code = self.child.wait().unwrap().code();
        Ended { code, text: self.told() }
    }

    /// Kills only this process, as `kill -9` does.
    pub(super) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Kills it together with all its children, as a power failure does.
    pub(super) fn kill_with_all(mut self, bench: &Bench) {
        self.child.kill().unwrap();
        let all: Vec<String> = bench.processes().keys().map(u32::to_string).collect();
        // A process that ends meanwhile cannot be killed.
        drop(Command::new("kill").arg("-KILL").args(&all).output().unwrap());
        self.child.wait().unwrap();
    }

    pub(super) fn signal(&self, signal: &str) {
        signal_to(self.id(), signal);
    }
}

pub(super) fn signal_to(process: u32, signal: &str) {
    let status = Command::new("kill").args([&format!("-{signal}"), &process.to_string()]).status().unwrap();
    assert!(status.success(), "kill -{signal} {process}");
}

impl Ended {
    /// Asserts that the milestone landed.
    #[track_caller]
    pub(super) fn complete(&self) {
        assert_eq!(self.code, Some(0), "{}", self.text);
        assert!(says_landed(&self.text), "{}", self.text);
    }

    /// Asserts that it stopped with this code and this cause.
    #[track_caller]
    pub(super) fn stopped(&self, code: i32, cause: &str) {
        assert_eq!(self.code, Some(code), "{}", self.text);
        assert!(self.text.contains(&format!("\"cause\": \"{cause}\"")), "{}", self.text);
    }
}

/// True if a text reports a landing: that of this call, or that of an earlier one with the same brief.
pub(super) fn says_landed(text: &str) -> bool {
    text.contains("has landed") || text.contains("this brief landed as ")
}
