//! A user's home and project for a run, and what the run left in them.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use super::NotRun;
use super::texts::{BRIEF, PROJECT};
use crate::clients::bench::installer;
use crate::clients::process::{Finished, processes_of, run_bounded};
use crate::clients::witness::Witness;
use crate::kit::{TestContext, binary};
use crate::notes::Notes;
use crate::runners::subjects::Subject;

/// Far longer than a run takes.
const LIMIT: Duration = Duration::from_secs(850);

/// The user's settings of this project: they turn on our optional hooks.
const SETTINGS: &str = "{\"hooks\": {\"community\": true, \"workflow_guard\": true}}\n";

/// An uncommitted file of the user.
const MINE: (&str, &str) = ("mine.txt", "not committed\n");

#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) context: TestContext,
    program: PathBuf,
    /// The calls of our installed binary.
    calls: Notes,
    variables: Vec<(String, String)>,
    /// The temporary folder before the run.
    temporary: BTreeSet<PathBuf>,
}

impl Scene {
    /// The home of a user of this client, with our install, and a project.
    pub(crate) fn new(subject: &Subject, url: &str) -> Result<Self, NotRun> {
        Self::with(subject, url, &[(".planning/STATE.md", "# Project State\n\nThe shelf is new.\n")])
    }

    /// As [`Self::new`], with these documents in the project.
    pub(crate) fn with(subject: &Subject, url: &str, documents: &[(&str, &str)]) -> Result<Self, NotRun> {
        let program = subject.program()?;
        let context = TestContext::on_disk();
        for (path, text) in PROJECT.iter().chain(documents) {
            context.write(path, text);
        }
        context.write(".planning/config.json", SETTINGS);
        std::fs::write(context.home().join("brief.md"), BRIEF).unwrap();
        let mut command = Command::new("client");
        subject.set_up(&mut command, &context, url, &program);
        let own = command.get_envs().filter_map(|(name, value)| Some((name, value?)));
        let own = own.map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()));
        let mut scene =
            Self { variables: own.collect(), context, program, calls: Notes::new(), temporary: BTreeSet::new() };
        scene.git(&["init", "--quiet", "--initial-branch=main"]);
        scene.git(&["add", "--all"]);
        scene.git(&["commit", "--quiet", "--message=start"]);
        scene.context.write(MINE.0, MINE.1);
        scene.install(subject);
        scene.temporary = scene.below_temporary();
        Ok(scene)
    }

    fn install(&self, subject: &Subject) {
        let mut command = self.context.command(installer());
        command.args(["install", &format!("--{}", subject.package.host), "--global"]);
        let finished = run_bounded(&mut command, LIMIT, &self.aside());
        assert!(finished.succeeded(), "{}{}", finished.stdout, finished.stderr);
        if subject.name == "codex" {
            self.trust_hooks();
        }
        Witness::that_tells(&[self.context.home()], &self.calls).expect("our install has a binary");
    }

    /// Trusts each of our hooks as a person does when the client asks: by the hash that it shows.
    fn trust_hooks(&self) {
        let mut command = self.context.command(&self.program);
        command.arg("app-server").envs(self.variables.iter().cloned());
        let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut send = |message: Value| writeln!(server.stdin.as_mut().unwrap(), "{message}").unwrap();
        let client = json!({"name": "suite", "title": "suite", "version": "1"});
        send(json!({"id": 0, "method": "initialize", "params": {"clientInfo": client}}));
        send(json!({"method": "initialized"}));
        send(json!({"id": 1, "method": "hooks/list", "params": {"cwds": [self.context.project()]}}));
        let lines = BufReader::new(server.stdout.take().unwrap()).lines();
        let mut answers = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap_or_default());
        let answer = answers.find(|answer| answer["id"] == 1).expect("the client lists its hooks");
        server.kill().unwrap();
        server.wait().unwrap();
        let hooks = answer["result"]["data"][0]["hooks"].as_array().unwrap();
        assert_eq!(hooks.len(), 3, "{answer}");
        let path = self.context.home().join(".codex/config.toml");
        let mut settings = std::fs::read_to_string(&path).unwrap();
        for hook in hooks {
            let (key, hash) = (&hook["key"], &hook["currentHash"]);
            settings.extend(["\n[hooks.state.", &key.to_string(), "]\ntrusted_hash = ", &hash.to_string(), "\n"]);
        }
        std::fs::write(path, settings).unwrap();
    }

    /// The calls of our hooks, each with its exit code.
    pub(crate) fn hook_calls(&self) -> Vec<(String, i32)> {
        let calls = Witness::calls_in(&self.calls.told()).into_iter();
        calls.filter(|call| call.arguments.starts_with("hook ")).map(|call| (call.arguments, call.code)).collect()
    }

    /// A folder that a run may write to and that the test does not check.
    fn aside(&self) -> PathBuf {
        self.temporary_folder().join("suite")
    }

    fn temporary_folder(&self) -> PathBuf {
        let folder = self.context.home().with_file_name("tmp");
        std::fs::create_dir_all(folder.join("suite")).unwrap();
        folder
    }

    /// Runs from the brief to the branch.
    pub(crate) fn run(&self, subject: &Subject, profile: &str) -> Finished {
        let brief = self.context.home().join("brief.md").to_string_lossy().into_owned();
        self.call(subject, &["--brief", &brief, "--profile", profile])
    }

    /// Runs `auto run` with these words.
    pub(crate) fn call(&self, subject: &Subject, words: &[&str]) -> Finished {
        let mut command = self.context.command(binary());
        command.envs(self.variables.iter().cloned()).args(["auto", "run"]).args(words);
        command.args(["--runner", subject.name, "--json", "--runner-program"]).arg(&self.program);
        run_bounded(&mut command, LIMIT, &self.aside())
    }

    /// Makes a call as a user who has the client on the path.
    pub(crate) fn ask(&self, words: &[&str]) -> Finished {
        let folder = self.program.parent().unwrap().to_path_buf();
        let others = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(std::iter::once(folder).chain(std::env::split_paths(&others))).unwrap();
        let mut command = self.context.command(binary());
        command.envs(self.variables.iter().cloned()).env("PATH", path).args(words);
        run_bounded(&mut command, LIMIT, &self.aside())
    }

    /// The entries of this kind in the log of the run.
    pub(crate) fn log(&self, event: &str) -> Vec<Value> {
        let files = walkdir::WalkDir::new(self.context.home()).into_iter().flatten();
        let mut logs = files.map(walkdir::DirEntry::into_path).filter(|path| path.ends_with("auto/log.jsonl"));
        let text = std::fs::read_to_string(logs.next().expect("the run has a log")).unwrap();
        let entries = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["entry"].take());
        entries.filter(|entry| entry["event"] == event).collect()
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let output = self.context.command("git").args(arguments).output().unwrap();
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// What the run left over.
    pub(crate) fn residue(&self) -> Vec<String> {
        let mut residue = Vec::new();
        residue.extend(self.git(&["worktree", "list"]).lines().skip(1).map(|line| format!("worktree {line}")));
        let references = self.git(&["for-each-ref", "--format=%(refname)"]);
        // The branch, what is kept for a month, and the proof of the landing.
        let is_wanted =
            |name: &&str| *name == "refs/heads/main" || *name == "refs/notes/gsd" || name.starts_with("refs/gsd/keep/");
        let references = references.lines().filter(|name| !is_wanted(name));
        residue.extend(references.map(|name| format!("reference {name}")));
        let status = self.git(&["status", "--porcelain", "--ignored", "--untracked-files=all"]);
        residue
            .extend(status.lines().filter(|line| *line != format!("?? {}", MINE.0)).map(|line| format!("file {line}")));
        residue.extend(self.stray().into_iter().map(|path| format!("folder {path}")));
        residue.extend(processes_of(&self.context.home()).into_iter().map(|process| format!("process {process}")));
        let temporary = self.below_temporary();
        residue.extend(temporary.difference(&self.temporary).map(|path| format!("temporary {}", path.display())));
        assert_eq!(self.context.read(MINE.0), MINE.1);
        residue
    }

    /// Folders of the project without a file that git tracks.
    fn stray(&self) -> Vec<String> {
        let project = self.context.project();
        let known: Vec<PathBuf> = self.git(&["ls-files"]).lines().map(PathBuf::from).collect();
        let folders = walkdir::WalkDir::new(&project).min_depth(1).into_iter();
        let folders = folders.filter_entry(|entry| entry.file_name() != ".git").flatten();
        let paths = folders.filter(|entry| entry.file_type().is_dir()).map(walkdir::DirEntry::into_path);
        let inner = paths.map(|path| path.strip_prefix(&project).unwrap().to_path_buf());
        inner
            .filter(|path| !known.iter().any(|file| file.starts_with(path)))
            .map(|path| path.display().to_string())
            .collect()
    }

    fn below_temporary(&self) -> BTreeSet<PathBuf> {
        let folder = self.temporary_folder();
        let entries =
            walkdir::WalkDir::new(&folder).min_depth(1).into_iter().flatten().map(walkdir::DirEntry::into_path);
        let inner = entries.map(|path| path.strip_prefix(&folder).unwrap().to_path_buf());
        inner.filter(|path| !path.starts_with(Path::new("suite"))).collect()
    }
}
