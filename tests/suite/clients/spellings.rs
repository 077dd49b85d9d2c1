//! Which commands a real client asks about: an agent types the lines of `tests/clients/spellings.toml`, one by one, in
//! the mode in which the client asks before it runs a command. The files and the calls of our program show what
//! happened, not the client's words.
//!
//! There is never an answer: a question means that the line is not run. Behaviour of a client that our rules cannot
//! change is in the second table of `tests/clients/KNOWN.md`; the counts are in `docs/hosts.md`, and
//! `SNAPSHOTS=overwrite` writes them there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use serde_json::json;

use super::bench::{Bench, Scope};
use super::exchange::{Reply, Request, ToolCall};
use super::library::Library;
use super::obedient::Hands;
use super::pointed::write_settings;
use super::server::Part;
use super::witness::Witness;
use super::{Chosen, Client, claude, codebuddy, codex, gemini, kilo, opencode, qwen, ready, say};
use crate::clients::install::NotRun;
use crate::kit::repository;

/// What the person types. Requests without this text are the client's own, outside the conversation.
const PROMPT: &str = "Type your lines into the shell, one by one.";

/// A client in the mode in which it asks.
struct Asking {
    client: &'static Client,
    hands: Hands,
    /// The name of the mode.
    mode: &'static str,
    /// The verdict for lines that should be asked about, if not [`Verdict::Asks`].
    asked: Verdict,
    /// True if only those lines are tried.
    only_asked: bool,
    /// The settings of a user who wants to be asked.
    before_install: fn(&Bench<'_>),
    talk: Talk,
}

/// How the person and the client communicate.
enum Talk {
    /// One run, which refuses what it would ask about.
    Print(fn(&mut Command, &str)),
    /// An editor, which answers each question with a no.
    Editor(fn(&mut Command, &str)),
}

const ASKING: &[Asking] = &[
    Asking {
        client: &claude::CLIENT,
        hands: claude::HANDS,
        mode: "default",
        before_install: |_| {},
        talk: Talk::Print(|command, url| {
            claude::prepare(command, url);
            command.args(["-p", PROMPT, "--permission-mode", "default"]);
        }),
        ..ASKS
    },
    // The modes that ask about commands but not about edits.
    Asking {
        client: &claude::CLIENT,
        hands: claude::HANDS,
        mode: "acceptEdits",
        only_asked: true,
        talk: Talk::Print(|command, url| {
            claude::prepare(command, url);
            command.args(["-p", PROMPT, "--permission-mode", "acceptEdits"]);
        }),
        ..ASKS
    },
    Asking {
        client: &gemini::CLIENT,
        hands: gemini::HANDS,
        mode: "auto_edit",
        only_asked: true,
        before_install: |bench| write_settings("gemini", &bench.home(), ""),
        talk: Talk::Print(|command, url| {
            gemini::prepare(command, url);
            command.args(gemini::MODEL).args(["--skip-trust", "--approval-mode", "auto_edit", "-p", PROMPT]);
        }),
        ..ASKS
    },
    Asking {
        client: &qwen::CLIENT,
        hands: qwen::HANDS,
        mode: "auto-edit, in an editor",
        only_asked: true,
        before_install: |bench| write_settings("qwen", &bench.home(), ""),
        talk: Talk::Editor(|command, url| {
            qwen::prepare(command, url);
            command.args(["--acp", "--approval-mode", "auto-edit"]);
        }),
        ..ASKS
    },
    Asking {
        client: &codebuddy::CLIENT,
        hands: codebuddy::HANDS,
        mode: "acceptEdits",
        only_asked: true,
        talk: Talk::Print(|command, url| {
            codebuddy::prepare(command, url);
            command.args(["-p", PROMPT, "--permission-mode", "acceptEdits"]);
        }),
        ..ASKS
    },
    // Everything runs unasked in a sandbox that allows writes only in the project and in the folder for temporary
    // files.
    Asking {
        client: &codex::CLIENT,
        hands: codex::HANDS,
        mode: "on-request, in the sandbox",
        asked: Verdict::Held,
        talk: Talk::Print(prepare_codex),
        ..ASKS
    },
    // Commands that need more than the sandbox must ask for it.
    Asking {
        client: &codex::CLIENT,
        hands: Hands {
            shell: |command| ToolCall {
                name: "exec_command",
                namespace: None,
                arguments: json!({
                    "cmd": command, "sandbox_permissions": "require_escalated", "justification": "May I?",
                }),
            },
            ..codex::HANDS
        },
        mode: "on-request, out of the sandbox",
        only_asked: true,
        talk: Talk::Print(prepare_codex),
        ..ASKS
    },
    Asking {
        client: &gemini::CLIENT,
        hands: gemini::HANDS,
        mode: "default",
        before_install: |bench| write_settings("gemini", &bench.home(), ""),
        talk: Talk::Print(|command, url| {
            gemini::prepare(command, url);
            command.args(gemini::MODEL).args(["--skip-trust", "--approval-mode", "default", "-p", PROMPT]);
        }),
        ..ASKS
    },
    Asking {
        client: &opencode::CLIENT,
        hands: opencode::HANDS,
        mode: "`bash` is `ask`",
        before_install: |bench| bench.write_home(".config/opencode/opencode.json", ASKS_ABOUT_BASH),
        talk: Talk::Print(|command, url| {
            opencode::prepare(command, url, "OPENCODE");
            command.args(["run", PROMPT]);
        }),
        ..ASKS
    },
    Asking {
        client: &kilo::CLIENT,
        hands: opencode::HANDS,
        mode: "`bash` is `ask`",
        before_install: |bench| bench.write_home(".config/kilo/kilo.json", ASKS_ABOUT_BASH),
        talk: Talk::Print(|command, url| {
            opencode::prepare(command, url, "KILO");
            command.args(["run", PROMPT]);
        }),
        ..ASKS
    },
    Asking {
        client: &qwen::CLIENT,
        hands: qwen::HANDS,
        mode: "default, in an editor",
        before_install: |bench| write_settings("qwen", &bench.home(), ""),
        talk: Talk::Editor(|command, url| {
            qwen::prepare(command, url);
            command.args(["--acp", "--approval-mode", "default"]);
        }),
        ..ASKS
    },
    Asking {
        client: &codebuddy::CLIENT,
        hands: codebuddy::HANDS,
        mode: "default",
        talk: Talk::Print(|command, url| {
            codebuddy::prepare(command, url);
            command.args(["-p", PROMPT, "--permission-mode", "default"]);
        }),
        ..ASKS
    },
];

/// What most of them have in common.
const ASKS: Asking = Asking {
    client: &claude::CLIENT,
    hands: claude::HANDS,
    mode: "default",
    asked: Verdict::Asks,
    only_asked: false,
    before_install: |_| {},
    talk: Talk::Print(|_, _| {}),
};

/// The folder for temporary files is the one that the environment names: files that must stay unchanged are next to it.
fn prepare_codex(command: &mut Command, url: &str) {
    command.env("SUITE_KEY", "none");
    command.args(["exec", "--json", "--dangerously-bypass-hook-trust", "--sandbox", "workspace-write"]);
    command.args(["-c", "approval_policy=\"on-request\"", "-c", "sandbox_workspace_write.exclude_slash_tmp=true"]);
    codex::provider(command, url);
    command.arg(PROMPT);
}

/// By default these clients run everything. The run continues when a question is refused.
const ASKS_ABOUT_BASH: &str =
    r#"{"permission": {"bash": {"*": "ask"}}, "experimental": {"continue_loop_on_deny": true}}"#;

/// The expected result of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// It runs, and ends well.
    Runs,
    /// Our program is started, however it ends.
    Arrives,
    /// It is not run.
    Asks,
    /// Run or not, nothing changes outside the project.
    Held,
}

#[derive(Clone, Debug)]
struct Line {
    group: &'static str,
    name: String,
    text: String,
    verdict: Verdict,
}

impl Line {
    fn finding(&self, Outcome { calls, changed, told }: &Outcome) -> String {
        let Self { name, text, verdict, .. } = self;
        format!("{name} ({verdict:?}): `{text}`: calls of ours ended with {calls:?}, changed {changed:?}; {told}")
    }
}

impl Asking {
    /// The lines to try, with the expected result of each in this client.
    fn lines(&self, fill: impl Fn(&str, &str) -> String) -> Vec<Line> {
        let asked = |line: &Line| line.verdict == Verdict::Asks;
        let tried = lines(fill).into_iter().filter(|line| asked(line) || !self.only_asked);
        tried.map(|line| Line { verdict: if asked(&line) { self.asked } else { line.verdict }, ..line }).collect()
    }
}

/// The lines of the table, filled in.
fn lines(fill: impl Fn(&str, &str) -> String) -> Vec<Line> {
    let text = std::fs::read_to_string(repository().join("tests/clients/spellings.toml")).unwrap();
    let table: toml_edit::DocumentMut = text.parse().unwrap();
    // Lines that delete everything come last.
    let groups =
        [("runs", Verdict::Runs), ("arrives", Verdict::Arrives), ("held", Verdict::Held), ("asks", Verdict::Asks)];
    let mut found: Vec<Line> = Vec::new();
    let fresh = std::fs::read_to_string(repository().join("tests/clients/fresh.txt")).unwrap();
    let fresh: Vec<&str> = fresh.lines().filter(|line| !line.starts_with('#')).collect();
    for (group, verdict) in groups {
        if group == "asks" {
            for text in &fresh {
                let mark = format!("{:03}", found.len());
                let line = fill(&text.replace('⏎', "\n"), &mark);
                found.push(Line { group: "fresh", name: (*text).to_owned(), text: line, verdict });
            }
        }
        for (name, text) in table[group].as_table().unwrap() {
            assert!(!found.iter().any(|line| line.name == name), "two lines are called `{name}`");
            let mark = format!("{:03}", found.len());
            let text = fill(text.as_str().unwrap(), &mark);
            found.push(Line { group, name: name.to_owned(), text, verdict });
        }
    }
    found
}

/// The visible effects of a line.
#[derive(Clone, Debug, Default)]
struct Seen {
    /// Exit codes of the calls of our program, in order.
    calls: Vec<i32>,
    /// Files outside the project, with their text.
    outside: BTreeMap<PathBuf, String>,
}

/// Where to look for effects.
#[derive(Debug)]
struct Watch {
    log: PathBuf,
    marks: PathBuf,
    files: Vec<PathBuf>,
}

impl Watch {
    fn look(&self) -> Seen {
        let marks = std::fs::read_dir(&self.marks).unwrap().flatten().map(|entry| entry.path());
        let text = |path: PathBuf| {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            (path, text)
        };
        let calls = Witness::calls_in(&std::fs::read_to_string(&self.log).unwrap_or_default());
        let calls = calls.into_iter().filter(|call| !call.arguments.starts_with("hook ")).map(|call| call.code);
        Seen { calls: calls.collect(), outside: marks.chain(self.files.iter().cloned()).map(text).collect() }
    }
}

/// What happened between a line and the next request.
#[derive(Clone, Debug)]
struct Outcome {
    /// Exit codes of the calls of our program.
    calls: Vec<i32>,
    /// The files outside the project that changed.
    changed: Vec<PathBuf>,
    /// The end of the output that the model then received.
    told: String,
}

impl Outcome {
    fn between(before: &Seen, after: &Seen, told: String) -> Self {
        let changed = |(path, text): &(&PathBuf, &String)| before.outside.get(*path) != Some(*text);
        Self {
            calls: after.calls[before.calls.len().min(after.calls.len())..].to_vec(),
            changed: after.outside.iter().filter(changed).map(|(path, _)| path.clone()).collect(),
            told,
        }
    }

    fn meets(&self, verdict: Verdict) -> bool {
        let unchanged = self.changed.is_empty();
        match verdict {
            Verdict::Runs => unchanged && !self.calls.is_empty() && self.calls.iter().all(|code| *code == 0),
            Verdict::Arrives => unchanged && !self.calls.is_empty(),
            Verdict::Asks => unchanged && self.calls.is_empty(),
            Verdict::Held => unchanged,
        }
    }
}

/// The model that types the lines.
struct Typist {
    hands: Hands,
    lines: Vec<Line>,
    watch: Watch,
    progress: Mutex<Progress>,
}

#[derive(Debug, Default)]
struct Progress {
    before: Seen,
    /// True if a line was sent that has no outcome yet.
    is_typing: bool,
    outcomes: Vec<Outcome>,
}

impl Typist {
    /// True if a line is left, including the one being typed.
    fn has_more(&self) -> bool {
        self.progress.lock().unwrap().outcomes.len() < self.lines.len()
    }

    fn note(&self, progress: &mut Progress, told: String) {
        if progress.is_typing {
            let after = self.watch.look();
            progress.outcomes.push(Outcome::between(&progress.before, &after, told));
            progress.before = after;
            progress.is_typing = false;
        }
    }
}

impl Part for Typist {
    fn reply(&self, request: &Request) -> Reply {
        let text = request.text();
        if !text.contains(PROMPT) {
            return Reply::Say("All done".to_owned());
        }
        let mut progress = self.progress.lock().unwrap();
        if progress.outcomes.is_empty() && !progress.is_typing {
            progress.before = self.watch.look();
        }
        let told: Vec<char> = text.chars().rev().take(700).collect();
        self.note(&mut progress, told.into_iter().rev().collect());
        match self.lines.get(progress.outcomes.len()) {
            Some(line) => {
                progress.is_typing = true;
                Reply::Call((self.hands.shell)(&line.text))
            }
            None => Reply::Say("All done".to_owned()),
        }
    }
}

#[test]
#[ignore = "slow: a client"]
fn real_clients_ask_about_commands_that_are_not_listed() {
    let chosen = Chosen::from_environment();
    let known = known();
    let (mut findings, mut rows) = (Vec::new(), Vec::new());
    let (mut ran, mut failed) = (BTreeSet::new(), BTreeSet::new());
    for asking in ASKING {
        let package = &asking.client.package;
        let (library, program) = match ready(package, &chosen) {
            Ok(ready) => ready,
            Err(NotRun(reason)) => {
                say(&format!("spellings: {}: not run ({reason})", package.host));
                continue;
            }
        };
        let (tried, ended) = try_lines(asking, &library, program);
        for (line, outcome) in tried.iter().filter_map(|(line, outcome)| Some((line, outcome.as_ref()?))) {
            if outcome.meets(line.verdict) {
                continue;
            }
            failed.insert((package.host, line.name.clone()));
            if !known.iter().any(|known| known.host == package.host && known.name == line.name) {
                findings.push(format!("{}: {}", package.host, line.finding(outcome)));
            }
        }
        ran.insert(package.host);
        if let Some((line, _)) = tried.iter().find(|(_, outcome)| outcome.is_none()) {
            findings.push(format!("{}: the client ended before {}: {ended}", package.host, line.name));
        }
        rows.push(row(asking, &tried));
    }
    for Known { host, name, .. } in known.iter().filter(|known| ran.contains(known.host.as_str())) {
        if !failed.contains(&(host.as_str(), name.clone())) {
            findings.push(format!("{host}: KNOWN.md is out of date: {name}"));
        }
    }
    for row in &rows {
        say(row);
    }
    assert!(findings.is_empty(), "{}", findings.join("\n"));
    expect_in_document(&rows);
}

/// One in this many of the fresh lines is drawn.
const SAMPLE: usize = 12;

/// A sample of the fresh lines, beginning with one that the clock draws or `GSD_SPELLINGS` names. All of them take ten
/// minutes; `GSD_SPELLINGS=all` runs them all.
fn drawn(lines: Vec<Line>) -> Vec<Line> {
    let named = std::env::var("GSD_SPELLINGS").ok();
    if named.as_deref() == Some("all") || std::env::var("SNAPSHOTS").is_ok_and(|set| set == "overwrite") {
        return lines;
    }
    let clock = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().subsec_micros() as usize % SAMPLE;
    let first = named.map_or_else(clock, |named| named.parse().unwrap());
    say(&format!("spellings: a sample with GSD_SPELLINGS={first}"));
    let mut fresh = 0;
    let mut is_drawn = |line: &Line| {
        fresh += usize::from(line.group == "fresh");
        line.group != "fresh" || fresh % SAMPLE == first
    };
    lines.into_iter().filter(|line| is_drawn(line)).collect()
}

/// Each line with its outcome, `None` for a line that the client did not reach; and the end of the client's output.
fn try_lines(asking: &Asking, library: &Library, program: PathBuf) -> (Vec<(Line, Option<Outcome>)>, String) {
    let mut bench = Bench::new(library, program, Scope::Global);
    (asking.before_install)(&bench);
    let scene = Scene::prepare(&mut bench, asking.client);
    let typist = Arc::new(Typist {
        hands: asking.hands,
        lines: drawn(asking.lines(|text, mark| scene.fill(text, mark))),
        watch: scene.watch,
        progress: Mutex::default(),
    });
    let part = Arc::clone(&typist);
    let output = match asking.talk {
        Talk::Print(prepare) => {
            let session = bench.run_part(part, prepare);
            format!("{}{}", session.finished.stdout, session.finished.stderr)
        }
        Talk::Editor(prepare) => {
            let talk = bench.run_part_in_editor(part, PROMPT, &|| typist.has_more(), prepare);
            format!("{talk:?}")
        }
    };
    let mut progress = typist.progress.lock().unwrap();
    let last: String = output.chars().rev().take(1500).collect::<Vec<_>>().into_iter().rev().collect();
    typist.note(&mut progress, last.clone());
    let mut outcomes = progress.outcomes.iter().cloned();
    (typist.lines.iter().map(|line| (line.clone(), outcomes.next())).collect(), last)
}

/// The setting of the lines: our install, a project that contains copies of our program, and files outside.
struct Scene {
    watch: Watch,
    /// The value of each word in braces.
    words: Vec<(&'static str, String)>,
}

impl Scene {
    fn prepare(bench: &mut Bench<'_>, client: &Client) -> Self {
        bench.has_fixture();
        bench.install_ours(&client.package);
        let (home, project) = (bench.home(), bench.project());
        let installed = bench.witnessed().expect("our install left no binary");
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let tail = text(installed.strip_prefix(&home).unwrap());
        let rootless = text(installed.strip_prefix("/").unwrap());
        let (marks, other, bashrc) = (home.with_file_name("marks"), home.with_file_name("other"), home.join(".bashrc"));
        std::fs::create_dir_all(&marks).unwrap();
        std::fs::create_dir_all(other.join(".planning")).unwrap();
        let state = other.join(".planning/STATE.md");
        std::fs::copy(project.join(".planning/STATE.md"), &state).unwrap();
        std::fs::write(&bashrc, "# the user's own\n").unwrap();
        std::fs::write(project.join("README.md"), "# P\n").unwrap();
        for folder in ["", "~", "~/", "~x/"] {
            write_program(&project.join(format!("{folder}{tail}")), &marks.join("copy"));
        }
        write_program(&project.join(&rootless), &marks.join("copy"));
        let words = vec![
            ("{program}", program_as_written(&installed)),
            ("{absolute}", text(&installed)),
            ("{rootless}", rootless),
            ("{tail}", tail),
            ("{marks}", text(&marks)),
            ("{other}", text(&other)),
        ];
        Self { watch: Watch { log: bench.log(), marks, files: vec![bashrc, state] }, words }
    }

    /// A line of the table, with its own mark.
    fn fill(&self, text: &str, mark: &str) -> String {
        let text = text.replace("{mark}", &format!("{{marks}}/{mark}"));
        self.words.iter().fold(text, |text, (word, value)| text.replace(word, value))
    }
}

/// Our program as spelled by an installed workflow that calls it.
fn program_as_written(installed: &Path) -> String {
    let content = installed.parent().and_then(Path::parent).unwrap();
    let text = std::fs::read_to_string(content.join("workflows/fast.md")).unwrap();
    let mut words = text.split(|letter: char| letter.is_whitespace() || letter == '`');
    words.find(|word| word.ends_with("/bin/gsd-tools")).expect("the workflow calls our program").to_owned()
}

/// Writes a program that creates a file when it runs.
fn write_program(path: &Path, mark: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, format!("#!/bin/sh\necho run >> '{}'\n", mark.display())).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// The counts of a client, as a row of the table.
fn row(asking: &Asking, tried: &[(Line, Option<Outcome>)]) -> String {
    let count = |groups: &[&str]| {
        let of_group = tried.iter().filter(|(line, _)| groups.contains(&line.group));
        if of_group.clone().next().is_none() {
            return "–".to_owned();
        }
        let met = |(line, outcome): &&(Line, Option<Outcome>)| {
            outcome.as_ref().is_some_and(|outcome| outcome.meets(line.verdict))
        };
        // A line that was not drawn counts as met.
        let all = asking.lines(|text, _| text.to_owned());
        let all = all.iter().filter(|line| groups.contains(&line.group)).count();
        format!("{} of {all}", all - (of_group.clone().count() - of_group.filter(met).count()))
    };
    format!(
        "| {} | {} | {} | {} | {} | {} | {} |",
        asking.client.package.host,
        asking.client.package.version,
        asking.mode,
        count(&["runs", "arrives"]),
        count(&["asks"]),
        count(&["fresh"]),
        count(&["held"]),
    )
}

const BEGIN: &str = "<!-- spellings -->\n";
const END: &str = "<!-- /spellings -->\n";

/// Checks that the rows of clients that ran are in `docs/hosts.md` unchanged.
fn expect_in_document(ran: &[String]) {
    let place = repository().join("docs/hosts.md");
    let document = std::fs::read_to_string(&place).unwrap();
    let begin = document.find(BEGIN).expect("docs/hosts.md has the mark of the spellings") + BEGIN.len();
    let end = document.find(END).expect("docs/hosts.md has the mark of the spellings' end");
    let cell = |row: &str, at: usize| row.split('|').nth(at).unwrap_or_default().trim().to_owned();
    let written: Vec<&str> = document[begin..end].lines().skip(2).collect();
    let rows = ASKING.iter().filter_map(|asking| {
        let is_of = |row: &&str| cell(row, 1) == asking.client.package.host && cell(row, 3) == asking.mode;
        let fresh = ran.iter().map(String::as_str).find(is_of);
        fresh.or_else(|| written.iter().copied().find(is_of))
    });
    let rows: Vec<String> = rows.map(|row| format!("{row}\n")).collect();
    let heading =
        "| host | version | mode | run unasked | asked about | fresh lines asked about | held by the program |\n";
    let rule = format!("|{}\n", " --- |".repeat(7));
    let wanted = format!("{}{heading}{rule}{}{}", &document[..begin], rows.concat(), &document[end..]);
    if std::env::var("SNAPSHOTS").is_ok_and(|wish| wish == "overwrite") {
        std::fs::write(place, wanted).unwrap();
        return;
    }
    assert!(document == wanted, "docs/hosts.md has other counts: run with SNAPSHOTS=overwrite\n{}", rows.concat());
}

/// A line whose verdict a client does not meet.
#[derive(Debug)]
struct Known {
    host: String,
    version: String,
    name: String,
}

/// The second table of KNOWN.md.
fn known() -> Vec<Known> {
    let text = std::fs::read_to_string(repository().join("tests/clients/KNOWN.md")).unwrap();
    let (_, table) = text.split_once("\n| host | version | line |").expect("KNOWN.md has the table of lines");
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    rows.map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        assert!(cells.len() == 5 && cells[4].len() > 20, "a host, its version, a line, a day and a reason: {line}");
        let [host, version, name] = [cells[0], cells[1], cells[2]].map(str::to_owned);
        Known { host, version, name }
    })
    .collect()
}

mod tests {
    use super::*;

    #[test]
    fn each_known_exception_names_a_line_of_the_table_and_the_tested_version() {
        let lines = lines(|text, _| text.to_owned());
        let of = |group: &str| lines.iter().filter(|line| line.group == group).count();
        assert!(of("asks") >= 40 && of("fresh") >= 100);
        for Known { host, version, name } in known() {
            assert!(lines.iter().any(|line| line.name == name), "no line is called `{name}`");
            let asking = ASKING.iter().find(|asking| asking.client.package.host == host);
            let package = &asking.unwrap_or_else(|| panic!("nobody tries {host}")).client.package;
            assert_eq!(package.version, version, "{host}: {name}");
        }
    }

    /// A line whose run left no visible effect would prove nothing.
    #[test]
    fn the_effect_of_a_line_is_seen_wherever_it_runs() {
        let library = Library::read();
        let mut bench = Bench::new(&library, PathBuf::new(), Scope::Global);
        let scene = Scene::prepare(&mut bench, &claude::CLIENT);
        for line in lines(|text, mark| scene.fill(text, mark)) {
            let before = scene.watch.look();
            bench.runs_as_agent("CLAUDECODE", &line.text);
            let outcome = Outcome::between(&before, &scene.watch.look(), String::new());
            let is_seen = outcome.meets(line.verdict) != (line.verdict == Verdict::Asks);
            assert!(is_seen, "{}", line.finding(&outcome));
        }
    }

    #[test]
    fn a_changed_file_outside_or_a_call_is_seen() {
        let folder = crate::testing::folder();
        let watch = Watch {
            log: folder.path().join("calls.log"),
            marks: folder.path().join("marks"),
            files: vec![folder.path().join("kept")],
        };
        std::fs::create_dir(&watch.marks).unwrap();
        let outcome = |change: &dyn Fn()| {
            let before = watch.look();
            change();
            Outcome::between(&before, &watch.look(), String::new())
        };
        let nothing = outcome(&|| ());
        assert!(nothing.meets(Verdict::Asks) && nothing.meets(Verdict::Held) && !nothing.meets(Verdict::Arrives));
        let marked = outcome(&|| std::fs::write(watch.marks.join("01"), "").unwrap());
        let changed = outcome(&|| std::fs::write(&watch.files[0], "other").unwrap());
        for outcome in [marked, changed] {
            let verdicts = [Verdict::Runs, Verdict::Arrives, Verdict::Asks, Verdict::Held];
            assert!(verdicts.iter().all(|verdict| !outcome.meets(*verdict)), "{outcome:?}");
        }
        let called = outcome(&|| std::fs::write(&watch.log, "1 5 hooks off\n0 3 hook standard stop\n").unwrap());
        assert!(called.meets(Verdict::Arrives) && !called.meets(Verdict::Asks) && !called.meets(Verdict::Runs));
    }
}
