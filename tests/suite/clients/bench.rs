//! One client, one scope: an empty home, our install in it, the client run against the mock model, the findings.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use super::checks::Check;
use super::editor::{self, Answer, Talk};
use super::footprint::{Footprint, is_state, paths_below};
use super::install::{self, Package};
use super::library::{AGENT, Library, flat};
use super::obedient::{ERRAND, Hands, ORDERS, ObedientModel, Places, SECRET, VERSION};
use super::process::{Finished, end_processes_of, run_bounded};
use super::server::{ModelServer, Part, Request};
use super::witness::Witness;
use crate::kit::{TestContext, binary, repository};

const RUN_LIMIT: Duration = Duration::from_secs(90);
/// For a model that does many things, one after the other.
const LONG_RUN_LIMIT: Duration = Duration::from_secs(400);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    Global,
    Local,
}

impl Scope {
    pub(crate) fn flag(self) -> &'static str {
        match self {
            Self::Global => "--global",
            Self::Local => "--local",
        }
    }
}

/// What a client's headless mode does with a command that the user types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    /// It sends the command's text.
    Expanded,
    /// It sends the line unchanged; our instructions tell the model which file to open.
    SentAsTyped,
}

/// The hook outputs to look for in the kit's project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HookText {
    SessionState,
    PromptGuard,
    /// A guard refuses to show the project's secret.
    SecretGuard,
    InjectionScanner,
}

impl HookText {
    fn words(self) -> &'static str {
        match self {
            Self::SessionState => "the kit has come this far",
            Self::PromptGuard => "PROMPT GUARD:",
            Self::SecretGuard => "SECRET_READ",
            Self::InjectionScanner => "INJECTION SCAN [",
        }
    }

    fn check(self) -> Check {
        match self {
            Self::SessionState => Check::SessionText,
            Self::PromptGuard => Check::BeforeText,
            Self::SecretGuard => Check::Block,
            Self::InjectionScanner => Check::AfterText,
        }
    }
}

/// The setup in which one client is tested.
#[derive(Debug)]
pub(crate) struct Bench<'library> {
    pub(crate) library: &'library Library,
    pub(crate) scope: Scope,
    context: TestContext,
    program: PathBuf,
    witness: Option<Witness>,
    footprint: Footprint,
    /// The checks that were made, and what was wrong.
    results: Results,
}

/// Findings by check; a check without findings passed, one that is missing was not made.
pub(crate) type Results = BTreeMap<Check, Vec<String>>;

/// One run of the client, and its requests to the model.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) finished: Finished,
    pub(crate) requests: Vec<Request>,
}

impl<'library> Bench<'library> {
    pub(crate) fn new(library: &'library Library, program: PathBuf, scope: Scope) -> Self {
        let context = TestContext::on_disk();
        // Clients look for a project's files from the root of its repository.
        assert!(context.command("git").args(["init", "--quiet"]).status().unwrap().success());
        // Our hooks produce output only in GSD projects.
        let state = format!("# Project State\n\nIn this project, {}.\n", HookText::SessionState.words());
        context.write(".planning/STATE.md", &state);
        for (path, text) in [SECRET, ORDERS] {
            context.write(path, text);
        }
        context.write(".planning/config.json", r#"{"hooks": {"community": true}}"#);
        Self {
            library,
            scope,
            context,
            program,
            witness: None,
            footprint: Footprint::default(),
            results: Results::new(),
        }
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.context.home()
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.context.project()
    }

    /// Writes a file that the user had before our install.
    pub(crate) fn write_home(&self, path: &str, text: &str) {
        let path = self.home().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Replaces the small project with the one of the plays, with a gate that its person approved.
    pub(crate) fn has_fixture(&self) {
        let folder = repository().join("tests/suite/play/fixtures/greet");
        for entry in walkdir::WalkDir::new(&folder).into_iter().flatten().filter(|entry| entry.file_type().is_file()) {
            let inner = entry.path().strip_prefix(&folder).unwrap().to_string_lossy().into_owned();
            self.context.write(&inner, &std::fs::read_to_string(entry.path()).unwrap());
        }
        let mut commit = self.context.command("sh");
        commit.args(["-c", "git add -A && git commit --quiet -m 'chore: begin'"]);
        assert!(commit.status().unwrap().success());
        self.context.approve("test 'python3 -m unittest'");
    }

    /// Runs `line` in the project as an agent's shell would; `variable` marks it as an agent's.
    pub(crate) fn runs_as_agent(&self, variable: &str, line: &str) {
        let mut shell = self.context.command("bash");
        let _ = run_bounded(shell.args(["-c", line]).env(variable, "1"), RUN_LIMIT, &self.scratch());
    }

    /// Our installed binary whose calls are recorded.
    pub(crate) fn witnessed(&self) -> Option<PathBuf> {
        Some(self.witness.as_ref()?.place().to_path_buf())
    }

    /// The file in which the calls of our installed binary are recorded.
    pub(crate) fn log(&self) -> PathBuf {
        self.scratch().join("calls.log")
    }

    /// Installs our files for `package`'s host; a failure is a finding.
    pub(crate) fn install_ours(&mut self, package: &Package) {
        let before = paths_below(&[self.home(), self.project()]);
        self.run_ours("install", package);
        self.footprint = Footprint::between(&before, paths_below(&[self.home(), self.project()]));
        self.witness = Witness::before_binary_below(&[self.home(), self.project()], self.log());
        self.expect(Check::InAndOut, self.witness.is_some(), || "our install left no binary".to_owned());
    }

    /// Writes our plugin for `package`'s host; returns the folder and the command lines that load it into the client.
    pub(crate) fn package_ours(&mut self, package: &Package) -> (PathBuf, Vec<String>) {
        let folder = self.home().with_file_name("plugin");
        let mut command = self.context.command(installer());
        command.args(["package", "--host", package.host, "--json"]).arg(&folder);
        let finished = run_bounded(&mut command, RUN_LIMIT, &self.scratch());
        let report: Value = serde_json::from_str(&finished.stdout).unwrap_or_default();
        self.expect(Check::InAndOut, finished.succeeded() && !strings(&report["load"], "").is_empty(), || {
            format!("our package failed: {:?} {}{}", finished.code, finished.stdout, finished.stderr)
        });
        self.witness = Witness::before_binary_below(std::slice::from_ref(&folder), self.log());
        self.expect(Check::InAndOut, self.witness.is_some(), || "our plugin holds no binary".to_owned());
        (folder, strings(&report["load"], ""))
    }

    /// An install next to the plugin must warn that every command and hook would exist twice.
    pub(crate) fn expect_told_of_plugin(&mut self, package: &Package) {
        let mut command = self.context.command(installer());
        command.args(["install", &format!("--{}", package.host), "--global", "--dry-run"]);
        let finished = run_bounded(&mut command, RUN_LIMIT, &self.scratch());
        self.expect(Check::InAndOut, finished.stdout.contains("the gsd plugin is enabled too"), || {
            format!("our install does not see the plugin: {}{}", finished.stdout, finished.stderr)
        });
    }

    /// Runs the client with the words of `line`, which begins with its name, and with `more`.
    pub(crate) fn run_line(
        &mut self,
        hands: Hands,
        line: &str,
        more: &[&str],
        prepare: impl FnOnce(&mut Command, &str),
    ) -> String {
        let finished = self
            .run(hands, |command, url| {
                prepare(command, url);
                command.args(line.split(' ').skip(1)).args(more);
            })
            .finished;
        self.expect(Check::InAndOut, finished.succeeded(), || {
            format!("`{line}` ended with {:?}: {}{}", finished.code, finished.stdout, tail(&finished.stderr))
        });
        format!("{}{}", finished.stdout, finished.stderr)
    }

    /// Uninstalls after the client has used the install; nothing of it may remain.
    pub(crate) fn uninstall_ours(&mut self, package: &Package) {
        if let Some(witness) = self.witness.take() {
            witness.step_aside();
        }
        self.run_ours("uninstall", package);
        let (home, project) = (self.home(), self.project());
        let is_ours = |text: &str| {
            text.replace(&*project.to_string_lossy(), "").replace(&*home.to_string_lossy(), "").contains("gsd")
        };
        for path in self.footprint.left(is_ours).into_iter().filter(|path| !is_state(path)) {
            self.expect(Check::InAndOut, false, || format!("the uninstall left {}", path.display()));
        }
    }

    fn run_ours(&mut self, verb: &str, package: &Package) {
        let mut command = self.context.command(installer());
        command.args([verb, &format!("--{}", package.host), self.scope.flag()]);
        let finished = run_bounded(&mut command, RUN_LIMIT, &self.scratch());
        self.expect(Check::InAndOut, finished.succeeded(), || {
            format!("our {verb} failed: {:?} {}{}", finished.code, finished.stdout, finished.stderr)
        });
    }

    /// Runs the client with `prepare`'s arguments; the model obeys our text with the client's `hands`.
    pub(crate) fn run(&self, hands: Hands, prepare: impl FnOnce(&mut Command, &str)) -> Session {
        let (finished, requests) =
            self.with_model(self.obedient(hands), prepare, |command| run_bounded(command, RUN_LIMIT, &self.scratch()));
        Session { finished, requests }
    }

    /// As [`Self::run`], with an editor that drives the client and types `prompt`.
    pub(crate) fn run_in_editor(
        &self,
        hands: Hands,
        prompt: &str,
        prepare: impl FnOnce(&mut Command, &str),
    ) -> (Talk, Vec<Request>) {
        let project = self.project().to_string_lossy().into_owned();
        let model = self.obedient(hands);
        self.with_model(model, prepare, |command| {
            editor::talk(command, &project, prompt, Answer::Yes, &|| false, RUN_LIMIT)
        })
    }

    /// As [`Self::run`], with another model.
    pub(crate) fn run_part(&self, part: impl Part + 'static, prepare: impl FnOnce(&mut Command, &str)) -> Session {
        let (finished, requests) =
            self.with_model(part, prepare, |command| run_bounded(command, LONG_RUN_LIMIT, &self.scratch()));
        Session { finished, requests }
    }

    /// As [`Self::run_part`], with an editor that drives the client and whose person says no to every question.
    pub(crate) fn run_part_in_editor(
        &self,
        part: impl Part + 'static,
        prompt: &str,
        more: &dyn Fn() -> bool,
        prepare: impl FnOnce(&mut Command, &str),
    ) -> Talk {
        let project = self.project().to_string_lossy().into_owned();
        let run = |command: &mut Command| editor::talk(command, &project, prompt, Answer::No, more, LONG_RUN_LIMIT);
        self.with_model(part, prepare, run).0
    }

    fn obedient(&self, hands: Hands) -> ObedientModel {
        let places = Places { home: self.home(), project: self.project() };
        let phrases = [&*self.library.command().phrase, &self.library.workflow_phrase, &self.library.agent().phrase];
        ObedientModel::new(hands, places, &phrases)
    }

    fn with_model<T>(
        &self,
        model: impl Part + 'static,
        prepare: impl FnOnce(&mut Command, &str),
        run: impl FnOnce(&mut Command) -> T,
    ) -> (T, Vec<Request>) {
        let server = ModelServer::start(model).unwrap();
        let url = server.url();
        let mut command = self.context.command(&self.program);
        command.env("PATH", install::search_path(&self.program));
        // Requests that would leave the machine go to the mock server, which refuses them.
        for proxy in ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"] {
            command.env(proxy, &url);
        }
        command.env("NO_PROXY", "127.0.0.1,localhost").env("no_proxy", "127.0.0.1,localhost");
        prepare(&mut command, &url);
        let outcome = run(&mut command);
        end_processes_of(&self.home());
        (outcome, server.requests().into_iter().filter(Request::asks_the_model).collect())
    }

    /// Records that `check` was made, and a finding unless it is `met`.
    pub(crate) fn expect(&mut self, check: Check, met: bool, otherwise: impl FnOnce() -> String) {
        let findings = self.results.entry(check).or_default();
        if !met {
            findings.push(otherwise());
        }
    }

    /// Checks that the client's own output has no complaint about us.
    pub(crate) fn expect_no_complaint(&mut self, output: &str) {
        self.expect(Check::Quiet, true, String::new);
        for line in output.lines() {
            // The test's folders carry our name; only what is inside them counts.
            let bare = line
                .replace(&*self.project().to_string_lossy(), "<project>")
                .replace(&*self.home().to_string_lossy(), "<home>")
                .replace(&*self.scratch().to_string_lossy(), "<tmp>");
            let lower = bare.to_lowercase();
            let complains = ["warn", "error", "fail", "invalid", "duplicate", "ignored", "unknown", "unrecognized"]
                .iter()
                .any(|word| lower.contains(word));
            self.expect(Check::Quiet, !(complains && lower.contains("gsd")), || {
                format!("the client complains: {bare:.300}")
            });
        }
    }

    /// Checks what every client must show.
    pub(crate) fn expect_loaded(&mut self, session: &Session, typed: Typed) {
        if self.started(session) {
            self.expect_command(session, typed);
            self.expect_agents(session);
        }
    }

    /// As [`Self::expect_loaded`], for a host that has only its own agents: ours are texts that one of those reads.
    pub(crate) fn expect_loaded_with_roles(&mut self, session: &Session, typed: Typed) {
        if self.started(session) {
            self.expect_command(session, typed);
            self.expect_agent_runs(session);
        }
    }

    /// Expects a lack that KNOWN.md describes: no mark in the table while it lasts.
    pub(crate) fn expect_lack(&mut self, check: Check, lacking: bool, otherwise: impl FnOnce() -> String) {
        if !lacking {
            self.expect(check, false, otherwise);
        }
    }

    /// Checks that the text an editor typed reached the model as our text, and that the client listed every command to
    /// the editor.
    pub(crate) fn expect_typed_in_editor(&mut self, talk: &Talk, requests: &[Request], prefix: &str) {
        let phrase = self.library.command().phrase.clone();
        let first = requests.iter().find(|request| request.offers_tools()).map(|request| flat(&request.text()));
        self.expect(Check::Typed, talk.ended && first.is_some_and(|first| first.contains(&phrase)), || {
            format!("what an editor typed did not reach the model: no `{phrase}` in the request")
        });
        self.expect_names("the command", self.command_names(prefix), &talk.commands);
        self.expect_names("the command", self.router_names(prefix), &talk.commands);
    }

    /// The client runs none of our hooks here.
    pub(crate) fn expect_no_hooks(&mut self) {
        let calls = self.witness.as_ref().map(Witness::calls).unwrap_or_default();
        let hook = calls.into_iter().find(|call| call.arguments.starts_with("hook "));
        self.expect_lack(Check::SessionStart, hook.is_none(), || {
            format!(
                "`gsd-tools {}` was called: KNOWN.md is out of date",
                hook.map(|hook| hook.arguments).unwrap_or_default()
            )
        });
    }

    /// Checks that this hook runs but its output does not reach the model.
    pub(crate) fn expect_unheard(&mut self, session: &Session, text: HookText) {
        let heard = session.all_text().contains(text.words());
        self.expect_lack(text.check(), !heard, || {
            format!("the client forwards what {text:?} says: KNOWN.md is out of date")
        });
    }

    /// The client has no way to keep a command out of its list.
    pub(crate) fn expect_all_listed(&mut self, session: &Session) {
        let Some(first) = session.first_text() else { return };
        let missing = self.library.commands.iter().find(|page| !first.contains(&flat(&page.description)));
        let missing = missing.map(|page| page.stem.clone());
        self.expect_lack(Check::Listing, missing.is_none(), || {
            format!("`gsd-{}` is not listed: KNOWN.md is out of date", missing.unwrap_or_default())
        });
    }

    /// After the uninstall the client behaves as if we had never been installed.
    pub(crate) fn expect_untouched(&mut self, session: &Session) {
        let (ended, asked) = (session.finished.succeeded(), session.first_text());
        self.expect(Check::StartsAgain, ended && asked.is_some(), || {
            format!(
                "after our uninstall the client ended with {:?}: {}",
                session.finished.code,
                tail(&session.finished.stderr)
            )
        });
        let ours = self.library.commands.iter().chain(&self.library.agents);
        let offered: Vec<&str> = ours
            .filter(|page| asked.as_deref().unwrap_or_default().contains(&flat(&page.description)))
            .map(|page| page.stem.as_str())
            .collect();
        self.expect(Check::StartsAgain, offered.is_empty(), || {
            format!("still offered after our uninstall: {offered:?}")
        });
    }

    /// True if the client ended well and asked the model; otherwise all other checks would only repeat that it did not.
    fn started(&mut self, session: &Session) -> bool {
        let finished = &session.finished;
        self.expect(Check::Starts, finished.succeeded(), || {
            format!(
                "the client ended with {:?}{}: {}{}",
                finished.code,
                if finished.timed_out { " (time limit)" } else { "" },
                tail(&finished.stdout),
                tail(&finished.stderr)
            )
        });
        let asked = session.first_text().is_some();
        self.expect(Check::Starts, asked, || "no request reached the model".to_owned());
        finished.succeeded() && asked
    }

    /// Checks that the typed command's text reached the model, and that what it names can be read and run.
    fn expect_command(&mut self, session: &Session, typed: Typed) {
        let library = self.library;
        let all = session.all_text();
        let (check, begin) = match typed {
            Typed::Expanded => (Check::Typed, session.first_text().unwrap_or_default()),
            Typed::SentAsTyped => (Check::ReadsOn, all.clone()),
        };
        self.expect(check, begin.contains(&library.command().phrase), || {
            format!("the typed command did not reach the model: no `{}` in the request", library.command().phrase)
        });
        self.expect(Check::ReadsOn, all.contains(&library.workflow_phrase), || {
            "the workflow is neither in the request nor readable by a path that the request names".to_owned()
        });
        self.expect(Check::ReadsOn, library.reference_phrases.iter().any(|phrase| all.contains(phrase)), || {
            "no reference could be read by the path that our text names".to_owned()
        });
        self.expect(Check::ReadsOn, all.contains(VERSION), || {
            let asked = all.rfind("gsd-tools --version").map(|at| all[at..].chars().take(400).collect::<String>());
            let asked = asked.unwrap_or_else(|| "the model was not told of it".to_owned());
            format!("our binary did not answer by a path that our text names: {asked}")
        });
    }

    /// Checks that each of these events of the client called our hook, that the hook ended well, and that the output of
    /// `speaks` reached the model.
    pub(crate) fn expect_hooks(&mut self, session: &Session, events: &[&str], speaks: &[HookText]) {
        let Some(witness) = &self.witness else { return };
        let calls = witness.calls();
        let hooks = calls.iter().filter(|call| call.arguments.starts_with("hook "));
        let (mut seen, mut failed) = (Vec::new(), Vec::new());
        for call in hooks {
            seen.extend(call.arguments.split(' ').map(str::to_owned));
            if call.code != 0 {
                failed.push(format!("`gsd-tools {}` ended with {}", call.arguments, call.code));
            }
        }
        for event in events {
            let check = Check::of_event(event);
            for failure in failed.iter().filter(|failure| failure.contains(event)) {
                self.expect(check, false, || failure.clone());
            }
            self.expect(check, seen.iter().any(|word| word == event), || {
                format!("the client did not call our hook for `{event}`")
            });
        }
        let all = session.all_text();
        if speaks.contains(&HookText::SecretGuard) {
            let secret = SECRET.1.trim();
            self.expect(Check::Block, !all.contains(secret), || "the model was shown the project's secret".to_owned());
        }
        for text in speaks {
            self.expect(text.check(), all.contains(text.words()), || {
                format!("{text:?}: `{}` did not reach the model", text.words())
            });
        }
    }

    /// Checks that the agents are offered to the model, and that the spawned one had our instructions.
    pub(crate) fn expect_agents(&mut self, session: &Session) {
        let library = self.library;
        let first = session.first_text().unwrap_or_default();
        for agent in &library.agents {
            self.expect(Check::Agents, first.contains(&flat(&agent.description)), || {
                format!("the agent `gsd-{}` is not offered to the model", agent.stem)
            });
        }
        self.expect_agent_runs(session);
    }

    fn expect_agent_runs(&mut self, session: &Session) {
        let library = self.library;
        let spoken = session.requests.iter().any(|request| {
            let text = flat(&request.text());
            text.contains(&library.agent().phrase) && text.contains(ERRAND)
        });
        self.expect(Check::AgentRuns, spoken, || format!("the agent `gsd-{AGENT}` did not run with our instructions"));
    }

    /// Checks that the routers are listed to the model, and that the commands that only people type cost no line each,
    /// except the `typed` one, whose whole file may have been sent.
    pub(crate) fn expect_listing(&mut self, session: &Session, typed: &str) {
        let Some(first) = session.first_text() else { return };
        for command in self.library.commands.iter().filter(|command| command.stem != typed) {
            let listed = first.contains(&flat(&command.description));
            self.expect(Check::Listing, listed == command.router, || {
                let not = if listed { "" } else { "not " };
                format!("`gsd-{}` is {not}listed to the model", command.stem)
            });
        }
    }

    /// Checks that every command and agent name of the library is in `names`.
    pub(crate) fn expect_names(&mut self, what: &str, wanted: Vec<String>, names: &[String]) {
        for name in wanted {
            let times = names.iter().filter(|known| **known == name).count();
            self.expect(Check::Known, times == 1, || format!("{what} `{name}` is known {times} times"));
        }
    }

    pub(crate) fn command_names(&self, prefix: &str) -> Vec<String> {
        self.library.commands.iter().filter(|page| !page.router).map(|page| format!("{prefix}{}", page.stem)).collect()
    }

    pub(crate) fn router_names(&self, prefix: &str) -> Vec<String> {
        self.library.commands.iter().filter(|page| page.router).map(|page| format!("{prefix}{}", page.stem)).collect()
    }

    pub(crate) fn agent_names(&self) -> Vec<String> {
        self.library.agents.iter().map(|page| format!("gsd-{}", page.stem)).collect()
    }

    pub(crate) fn into_results(self) -> Results {
        self.results
    }

    fn scratch(&self) -> PathBuf {
        self.home().with_file_name("tmp")
    }
}

impl Session {
    /// The first request in which the model may act.
    pub(crate) fn first_text(&self) -> Option<String> {
        self.requests.iter().find(|request| request.offers_tools()).map(|request| flat(&request.text()))
    }

    pub(crate) fn all_text(&self) -> String {
        self.requests.iter().map(|request| flat(&request.text())).collect::<Vec<_>>().join("\n")
    }

    /// The client's standard output, read as one JSON value a line.
    pub(crate) fn events(&self) -> Vec<Value> {
        self.finished.stdout.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }
}

/// A shell that runs `script` instead of `command`, with its environment; `$SUITE_PROGRAM` is its program.
pub(crate) fn in_shell(command: &Command, script: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.env_clear().args(["-c", script]).env("SUITE_PROGRAM", command.get_program());
    if let Some(folder) = command.get_current_dir() {
        shell.current_dir(folder);
    }
    shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell
}

/// The strings of a JSON array, or the `key` of each element if they are objects.
pub(crate) fn strings(value: &Value, key: &str) -> Vec<String> {
    value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|item| item.as_str().or_else(|| item[key].as_str()).map(str::to_owned))
        .collect()
}

/// The binary that installs: the one just built, or the one that `GSD_CLIENTS_PROGRAM` names.
pub(crate) fn installer() -> PathBuf {
    std::env::var_os("GSD_CLIENTS_PROGRAM").map_or_else(|| binary().to_path_buf(), PathBuf::from)
}

fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let last: Vec<String> =
        lines[lines.len().saturating_sub(15)..].iter().map(|line| format!("\n    {line:.400}")).collect();
    last.concat()
}
