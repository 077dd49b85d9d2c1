//! The setting of one scenario in one client: a home with our install, a small project, and the counts.

use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::clients::install;
use crate::clients::process::end_processes_of;
use crate::clients::server::ModelServer;
use crate::clients::witness::{Call, Witness};
use crate::kit::{TestContext, binary, repository};

use super::actor::{Actor, MAIN};
use super::cast::{Cast, Typed};
use super::costs::{Read, Step, tables};
use super::engine::Engine;
use super::scenarios::agents::Plan;

/// How long a client may work on one typed line.
const RUN_LIMIT: Duration = Duration::from_secs(420);

/// What all actors of a scenario share.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) engine: Arc<Engine>,
    pub(crate) cast: &'static Cast,
    pub(crate) project: PathBuf,
    home: PathBuf,
    answer: Mutex<Option<Said>>,
    main_ended: AtomicBool,
    killed: AtomicBool,
    texts: Mutex<Vec<Read>>,
    agents: AtomicUsize,
    in_a_step: AtomicBool,
    calls_of_steps: AtomicUsize,
    bytes_of_steps: AtomicUsize,
    errands: AtomicUsize,
}

/// What the person types when the client has ended its turn.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Said {
    Answer(String),
    /// One of our commands, and its arguments.
    Command(String, String),
}

impl Said {
    fn typed(&self) -> Typed<'_> {
        match self {
            Self::Answer(answer) => Typed::Answer(answer),
            Self::Command(name, arguments) => Typed::Next { name, arguments },
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Answer(answer) => answer.clone(),
            Self::Command(name, arguments) => format!("/gsd-{name} {arguments}"),
        }
    }
}

/// The workflow that one of our commands includes.
pub(crate) fn workflow_of(command: &str) -> String {
    let text = std::fs::read_to_string(repository().join(format!("commands/{command}.md"))).unwrap();
    let include = text.lines().find_map(|line| line.strip_prefix('@'));
    include.unwrap_or_else(|| panic!("{command} includes no workflow")).to_owned()
}

/// One scenario in one client.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) context: TestContext,
    pub(crate) scene: Arc<Scene>,
    program: PathBuf,
    witness: Witness,
    steps: Vec<Step>,
    /// Whether what the client has left runs on after its end: a run that is to outlive the session.
    pub(crate) leaves_running: bool,
}

/// The cost of a scenario.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) calls: usize,
    pub(crate) answered: usize,
    pub(crate) read: usize,
    pub(crate) agents: usize,
    /// How many of the calls were made by steps of capabilities, and the bytes of their answers.
    pub(crate) calls_of_steps: usize,
    pub(crate) answered_steps: usize,
    pub(crate) seconds: f32,
}

impl Scene {
    /// Resolves a path as written in a text: below the home, absolute, or in the project.
    pub(crate) fn resolve(&self, path: &str) -> PathBuf {
        match ["$HOME/", "${HOME}/", "~/"].iter().find_map(|home| path.strip_prefix(home)) {
            Some(rest) => self.home.join(rest),
            None => self.project.join(path),
        }
    }

    /// Counts a library text that was read.
    pub(crate) fn count_read(&self, path: &str, bytes: usize) {
        let path = path.rsplit("gsd-core/").next().unwrap_or(path);
        self.texts.lock().unwrap().push((path.to_owned(), bytes));
    }

    fn count_text(&self, path: &str) {
        self.count_read(path, size_of(path));
    }

    /// Counts an agent, which reads its own instructions.
    pub(crate) fn count_agent(&self, agent: &str) {
        self.agents.fetch_add(1, Ordering::Relaxed);
        let stem = agent.trim_start_matches("gsd-");
        self.count_text(&format!("agents/{stem}.md"));
    }

    /// Marks whether the following acts are a step of a capability, which is counted separately from the loop.
    pub(crate) fn is_in_a_step(&self, is_in: bool) {
        self.in_a_step.store(is_in, Ordering::Relaxed);
    }

    /// Counts a command, and how much of its output the client showed.
    pub(crate) fn count_command(&self, command: &str, bytes: usize) {
        if self.in_a_step.load(Ordering::Relaxed) && command.contains("gsd-tools ") {
            self.calls_of_steps.fetch_add(1, Ordering::Relaxed);
            self.bytes_of_steps.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    /// A unique name for an errand that our text does not describe.
    pub(crate) fn name_errand(&self, agent: &str) -> String {
        format!("{agent} {:02}", self.errands.fetch_add(1, Ordering::Relaxed))
    }

    /// Sets what the person types when the client has ended its turn.
    pub(crate) fn person_answers(&self, answer: &str) {
        *self.answer.lock().unwrap() = Some(Said::Answer(answer.to_owned()));
    }

    /// Sets the command that the person types in the same session when the client has ended its turn.
    pub(crate) fn person_types(&self, command: &str, arguments: &str) {
        self.count_text(&format!("commands/{command}.md"));
        *self.answer.lock().unwrap() = Some(Said::Command(command.to_owned(), arguments.to_owned()));
    }

    pub(crate) fn ended(&self, actor: &str) {
        if actor == MAIN {
            self.main_ended.store(true, Ordering::Relaxed);
        }
    }

    pub(crate) fn kill_client(&self) {
        self.killed.store(true, Ordering::Relaxed);
    }
}

/// True if a person at a terminal takes part, in the client's own screen.
fn by_hand() -> bool {
    std::env::var_os("GSD_PLAYS_BY_HAND").is_some()
}

fn size_of(path: &str) -> usize {
    std::fs::metadata(repository().join(path)).map_or(0, |data| usize::try_from(data.len()).unwrap_or(0))
}

impl Stage {
    /// A home and an empty repository, with our install in the home.
    pub(crate) fn new(cast: &'static Cast, program: PathBuf) -> Self {
        let context = TestContext::on_disk();
        let scene = Arc::new(Scene {
            engine: Arc::new(Engine::default()),
            cast,
            project: context.project(),
            home: context.home(),
            answer: Mutex::default(),
            main_ended: AtomicBool::new(false),
            killed: AtomicBool::new(false),
            texts: Mutex::default(),
            agents: AtomicUsize::new(0),
            in_a_step: AtomicBool::new(false),
            calls_of_steps: AtomicUsize::new(0),
            bytes_of_steps: AtomicUsize::new(0),
            errands: AtomicUsize::new(0),
        });
        (cast.before_install)(&context.home());
        let installed = context.gsd_with(["install", &format!("--{}", cast.package.host), "--global"], &[], "");
        assert_eq!(installed.code, 0, "our install failed: {}{}", installed.stdout, installed.stderr);
        let log = context.home().with_file_name("calls.log");
        let witness = Witness::before_binary_below(&[context.home()], log).expect("our install left no binary");
        let stage = Self { context, scene, program, witness, steps: Vec::new(), leaves_running: false };
        stage.shell("git init --quiet --initial-branch=main");
        stage
    }

    /// Runs a command of the person in the project.
    pub(crate) fn shell(&self, command: &str) -> String {
        let output = self.context.command("bash").args(["-c", command]).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{command}: {text}{}", String::from_utf8_lossy(&output.stderr));
        text.trim_end().to_owned()
    }

    /// The program's answer in the project, as in a person's shell.
    pub(crate) fn asks_program(&self, arguments: &str) -> Value {
        let output = self.context.command(binary()).args(arguments.split(' ')).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("`gsd-tools {arguments}`: {error} in {text}"))
    }

    /// Copies a folder of fixtures into the project and commits it.
    pub(crate) fn has(&self, fixture: &str) {
        self.copy(fixture, |_| true);
    }

    /// As [`Self::has`], without planning documents.
    pub(crate) fn has_code(&self, fixture: &str) {
        self.copy(fixture, |path| !path.starts_with(".planning"));
    }

    fn copy(&self, fixture: &str, is_wanted: fn(&Path) -> bool) {
        let folder = repository().join("tests/suite/play/fixtures").join(fixture);
        for entry in walkdir::WalkDir::new(&folder).into_iter().flatten().filter(|entry| entry.file_type().is_file()) {
            let inner = entry.path().strip_prefix(&folder).unwrap();
            if !is_wanted(inner) {
                continue;
            }
            self.context.write(&inner.to_string_lossy(), &std::fs::read_to_string(entry.path()).unwrap());
        }
        self.shell(&format!("git add -A && git commit --quiet -m 'chore: {fixture}'"));
    }

    /// Approves, as the person, the commands that build and test the project.
    pub(crate) fn has_approved_gates(&self) {
        self.context.approve("build 'python3 -m py_compile greet.py'");
        self.context.approve("test 'python3 -m unittest'");
    }

    /// Adds and records the plans of a phase.
    pub(crate) fn is_planned(&self, phase: &str, plans: &[&Plan]) {
        let folder = format!(".planning/phases/{phase}");
        for plan in plans {
            self.context.write(&format!("{folder}/{}-PLAN.md", plan.id), &plan.text(phase));
        }
        self.asks_program(&format!("plan record {folder}"));
        assert_eq!(self.shell("git status --porcelain"), "", "`plan record` left something");
    }

    /// As [`Self::is_planned`], with everything built: each task has its commit, each plan its summary.
    pub(crate) fn is_built(&self, phase: &str, plans: &[&Plan]) {
        self.is_planned(phase, plans);
        let folder = format!(".planning/phases/{phase}");
        for plan in plans {
            let before = self.shell("git rev-parse HEAD");
            let mut hashes = Vec::new();
            for task in plan.tasks.iter().filter(|task| !task.is_checkpoint()) {
                for (path, text) in task.files {
                    self.context.write(path, text);
                }
                let (kind, subject) = task.commit;
                self.shell(&format!("git add -A && git commit --quiet -m '{kind}({}): {subject}'", plan.id));
                hashes.push(self.shell("git rev-parse --short HEAD"));
            }
            let summary = plan.summary(phase, &before, &hashes);
            self.context.write(&format!("{folder}/{}-SUMMARY.md", plan.id), &summary);
            self.asks_program(&format!("plan close {}", plan.id));
        }
        assert_eq!(self.shell("git status --porcelain"), "", "`plan close` left something");
    }

    /// Types one of our commands as the person; the model plays `script`. Returns when the client has ended.
    pub(crate) fn types(
        &mut self,
        command: &str,
        arguments: &str,
        script: impl FnOnce(&mut Actor) -> String + Send + 'static,
    ) {
        self.plays(command, arguments, script);
        assert!(self.scene.main_ended.load(Ordering::Relaxed), "the client ended before the script of {command} did");
    }

    /// As [`Self::types`], but the play must fail for this reason.
    pub(crate) fn types_and_fails(
        &mut self,
        command: &str,
        arguments: &str,
        reason: &str,
        script: impl FnOnce(&mut Actor) -> String + Send + 'static,
    ) {
        let played = catch_unwind(AssertUnwindSafe(|| self.plays(command, arguments, script)));
        let found = self.scene.engine.failure().unwrap_or_default();
        assert!(played.is_err() && found.contains(reason), "this was to fail for `{reason}`, not `{found}`");
    }

    /// Changes words of an installed workflow.
    pub(crate) fn changes_workflow(&self, name: &str, old: &str, new: &str) {
        let folder = walkdir::WalkDir::new(self.context.home()).into_iter().flatten();
        let path = folder.map(walkdir::DirEntry::into_path).find(|path| path.ends_with(format!("workflows/{name}.md")));
        let path = path.unwrap_or_else(|| panic!("no workflow {name} is installed"));
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(old), "{name} does not say `{old}`");
        std::fs::write(path, text.replace(old, new)).unwrap();
    }

    /// As [`Self::types`], but the client is killed during the play.
    pub(crate) fn types_and_dies(
        &mut self,
        command: &str,
        arguments: &str,
        script: impl FnOnce(&mut Actor) -> String + Send + 'static,
    ) {
        self.plays(command, arguments, script);
        assert!(self.scene.killed.load(Ordering::Relaxed), "the client was to die in the midst of {command}");
    }

    fn plays(&mut self, command: &str, arguments: &str, script: impl FnOnce(&mut Actor) -> String + Send + 'static) {
        let scene = Arc::clone(&self.scene);
        scene.engine.note(format!("== {command} {arguments}"));
        scene.main_ended.store(false, Ordering::Relaxed);
        scene.killed.store(false, Ordering::Relaxed);
        let (calls, texts) = (self.calls().len(), scene.texts.lock().unwrap().len());
        scene.count_text(&format!("commands/{command}.md"));
        let voice = scene.engine.expect_conversation(None);
        let main = Actor::start(MAIN, &scene, voice, Some(workflow_of(command)), Box::new(script));
        let output = if by_hand() {
            self.run_by_hand(&format!("{command} {arguments}"))
        } else {
            self.run_and_answer(command, arguments)
        };
        scene.engine.end_conversations();
        let _ = main.join();
        let (calls, texts) = (calls..self.calls().len(), texts..scene.texts.lock().unwrap().len());
        self.steps.push(Step { typed: format!("{command} {arguments}").trim().to_owned(), calls, texts });
        if let Some(reason) = scene.engine.failure() {
            panic!("/{command} {arguments}: {reason}");
        }
        if !scene.main_ended.load(Ordering::Relaxed) && !scene.killed.load(Ordering::Relaxed) {
            let last: String = output.chars().rev().take(1500).collect::<Vec<_>>().into_iter().rev().collect();
            panic!("/{command} {arguments}: the client ended before its script did: {last}");
        }
    }

    /// Runs the client with the command, and again with each answer that the model asks for.
    fn run_and_answer(&self, command: &str, arguments: &str) -> String {
        let scene = &self.scene;
        let mut output = self.run(&Typed::Command { name: command, arguments });
        loop {
            let answer = scene.answer.lock().unwrap().take();
            match answer {
                Some(answer) if scene.engine.failure().is_none() => {
                    scene.engine.note(format!("== the person answers: {}", answer.text()));
                    output = self.run(&answer.typed());
                }
                _ => return output,
            }
        }
    }

    /// Prints how to start the client at a terminal and what to type, and waits until the script has ended.
    fn run_by_hand(&self, typed: &str) -> String {
        let server = ModelServer::start(Arc::clone(&self.scene.engine)).unwrap();
        let command = self.client(&server.url(), &Typed::ByHand);
        let quoted = |text: &std::ffi::OsStr| format!("'{}'", text.to_string_lossy().replace('\'', "'\\''"));
        let mut script = format!("cd {}\n", quoted(self.scene.project.as_os_str()));
        for (name, value) in command.get_envs().filter_map(|(name, value)| Some((name, value?))) {
            let _ = writeln!(script, "export {}={}", name.to_string_lossy(), quoted(value));
        }
        let arguments: Vec<String> = command.get_args().map(quoted).collect();
        let _ = writeln!(script, "exec {} {}", quoted(command.get_program()), arguments.join(" "));
        let file = self.context.home().with_file_name("by-hand.sh");
        std::fs::write(&file, script).unwrap();
        super::say(&format!("by hand: env -i TERM=$TERM bash {}; then type the command `{typed}`", file.display()));
        let mut asked = None;
        while !self.scene.main_ended.load(Ordering::Relaxed) && self.scene.engine.failure().is_none() {
            let answer = self.scene.answer.lock().unwrap().clone();
            if answer.is_some() && answer != asked {
                let text = answer.as_ref().map(Said::text).unwrap_or_default();
                super::say(&format!("by hand: when asked, answer `{text}`"));
                asked = answer;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        super::say("by hand: this command is over; leave the client");
        std::thread::sleep(Duration::from_secs(10));
        end_processes_of(&self.context.home());
        *self.scene.answer.lock().unwrap() = None;
        String::new()
    }

    /// The client, set up to talk to the scripted model.
    fn client(&self, url: &str, typed: &Typed<'_>) -> Command {
        let mut command = self.context.command(&self.program);
        command.env("PATH", install::search_path(&self.program));
        // Requests that would leave the machine go to the mock server, which refuses them.
        for proxy in ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"] {
            command.env(proxy, url);
        }
        command.env("NO_PROXY", "127.0.0.1,localhost").env("no_proxy", "127.0.0.1,localhost");
        (self.scene.cast.run)(&mut command, url, typed);
        command
    }

    fn run(&self, typed: &Typed<'_>) -> String {
        let server = ModelServer::start(Arc::clone(&self.scene.engine)).unwrap();
        let mut command = self.client(&server.url(), typed);
        let output = self.run_until_dead(&mut command);
        if std::env::var_os("GSD_PLAYS_KEEP").is_some() {
            for (serial, request) in
                server.requests().iter().enumerate().filter(|(_, request)| request.asks_the_model())
            {
                let log = self.context.home().with_file_name("requests");
                std::fs::create_dir_all(&log).unwrap();
                let _ = std::fs::write(log.join(format!("{serial:04}.json")), request.body.to_string());
            }
        }
        if !self.leaves_running {
            end_processes_of(&self.context.home());
        }
        output
    }

    /// Runs the client until it ends, its time is up, or the play kills it.
    fn run_until_dead(&self, command: &mut Command) -> String {
        use std::os::unix::process::CommandExt;
        let scratch = self.context.home().with_file_name("tmp");
        let (output, errors) = (scratch.join("client.out"), scratch.join("client.err"));
        command
            .stdin(Stdio::null())
            .stdout(std::fs::File::create(&output).unwrap())
            .stderr(std::fs::File::create(&errors).unwrap())
            .process_group(0);
        let mut child = command.spawn().unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
        let end = Instant::now() + RUN_LIMIT;
        let ended = loop {
            if child.try_wait().unwrap().is_some() {
                break true;
            }
            if Instant::now() > end || self.scene.killed.load(Ordering::Relaxed) {
                break false;
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        if !ended {
            let group = format!("-{}", child.id());
            let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
            let _ = child.kill();
            let _ = child.wait();
            self.scene.engine.note("the client was killed".to_owned());
        }
        let read = |path: &Path| String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned();
        format!("{}{}", read(&output), read(&errors))
    }

    /// Keeps home and project after the play.
    pub(crate) fn keep(self) -> PathBuf {
        self.context.keep()
    }

    /// The calls of the program so far, except those of its hooks.
    fn calls(&self) -> Vec<Call> {
        self.witness.calls().into_iter().filter(|call| !call.arguments.starts_with("hook ")).collect()
    }

    /// The cost, step by step.
    pub(crate) fn costs(&self) -> String {
        tables(&self.steps, &self.calls(), &self.scene.texts.lock().unwrap())
    }

    pub(crate) fn counts(&self) -> Counts {
        let calls = self.calls();
        Counts {
            calls: calls.len(),
            answered: calls.iter().map(|call| call.bytes).sum(),
            read: self.scene.texts.lock().unwrap().iter().map(|(_, bytes)| bytes).sum(),
            agents: self.scene.agents.load(Ordering::Relaxed),
            calls_of_steps: self.scene.calls_of_steps.load(Ordering::Relaxed),
            answered_steps: self.scene.bytes_of_steps.load(Ordering::Relaxed),
            seconds: 0.0,
        }
    }
}
