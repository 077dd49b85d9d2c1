//! Recorded runs of the peer's command line, replayed against ours.
//!
//! A sample of them is in this repository (see [`sample`]), and each of its cases must agree. If `GSD_CONFORMANCE_DIR`
//! names the folder of all recordings, they are compared too. A case agrees when the exit code is the same, standard
//! output is the same after masking what differs between any two runs (our additional keys are fine), and the files
//! that changed in the recording contain the same facts (in the sample: also changed). How many cases of a family agree
//! may only rise: `tests/conformance/floor.txt`, raised with `SNAPSHOTS=overwrite`. `tests/conformance/DIFFERENCES.md`
//! gives the reason for each intended difference.

mod sample;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use regex::Regex;
use serde_json::Value;

use crate::kit::{binary, repository};

/// Keys whose values describe the machine of the recording.
const MACHINE_KEYS: &[&str] =
    &["agents_dir", "agents_installed", "missing_agents", "agent_runtime", "runtimeConfigDir"];

/// Families that we do not answer.
const LEFT_OUT: &[&str] = &["quick-batch", "windows", "claude-orchestration"];

const MOMENT: &str = "2026-01-12T00:00:00Z";

#[test]
fn recorded_runs_of_the_sample_agree() {
    if let Some(recordings) = recordings().filter(|_| std::env::var_os("GSD_CONFORMANCE_DRAW").is_some()) {
        sample::draw(&recordings);
    }
    compare_sample();
}

#[test]
#[ignore = "slow: recorded runs"]
fn recorded_runs_agree_at_least_as_often_as_before() {
    match recordings() {
        Some(recordings) => compare_recordings(&recordings),
        None => tell("conformance: the recordings were not compared (GSD_CONFORMANCE_DIR is not set)\n"),
    }
}

fn recordings() -> Option<PathBuf> {
    std::env::var_os("GSD_CONFORMANCE_DIR").map(PathBuf::from)
}

/// The minimum size of the sample: cases, and families.
const SAMPLED: (usize, usize) = (300, 75);

fn compare_sample() {
    let comparer = Comparer::new(&sample::folder());
    let cases = read_cases(&sample::folder().join("cases"));
    let verdicts = compare_all(&comparer, &cases);
    let families = count(&cases, &verdicts).len();
    let differing = cases.iter().zip(&verdicts).filter_map(|(case, verdict)| Some((case, verdict.as_ref()?)));
    let differing: Vec<String> = differing.map(|(case, why)| format!("{}: {why}", case.name)).collect();
    let agreed = cases.len() - differing.len();
    tell(&format!("conformance: {agreed} of {} cases of the sample agree, {families} families\n", cases.len()));
    assert!(differing.is_empty(), "recorded runs that do not agree:\n{}", differing.join("\n"));
    assert!(cases.len() >= SAMPLED.0 && families >= SAMPLED.1, "the sample has {} cases", cases.len());
}

fn compare_recordings(recordings: &Path) {
    let comparer = Comparer::new(recordings);
    let cases = read_cases(&recordings.join("cases"));
    let verdicts = compare_all(&comparer, &cases);
    let families = count(&cases, &verdicts);
    let chosen = chosen_differences();
    let mut report = String::from("conformance:\n");
    for (family, tally) in &families {
        writeln!(report, "  {:>3}/{:<3} {family}", tally.agreed, tally.all).unwrap();
    }
    let differing = || cases.iter().zip(&verdicts).filter(|(_, verdict)| verdict.is_some());
    for (case, verdict) in differing().filter(|(case, _)| !chosen.contains(&case.name)) {
        let why = verdict.as_deref().unwrap_or_default().replace('\n', " ");
        let why: String = why.chars().take(160).collect();
        writeln!(report, "  {}: {why}", case.name).unwrap();
    }
    let agreed: usize = families.values().map(|tally| tally.agreed).sum();
    let on_purpose = differing().filter(|(case, _)| chosen.contains(&case.name)).count();
    writeln!(report, "  {agreed} of {} agree, {on_purpose} differ on purpose", cases.len()).unwrap();
    tell(&report);
    let fallen = hold_floor(&families);
    assert_eq!(fallen, Vec::<String>::new(), "families that agree less often than before");
    let needed: BTreeSet<&str> = differing().map(|(case, _)| case.name.as_str()).collect();
    let unneeded: Vec<&String> = chosen.iter().filter(|name| !needed.contains(name.as_str())).collect();
    assert_eq!(unneeded, Vec::<&String>::new(), "rows of DIFFERENCES.md that no run needs");
}

#[test]
fn differences_on_purpose_have_a_reason() {
    let text = std::fs::read_to_string(repository().join("tests/conformance/DIFFERENCES.md")).unwrap();
    for line in text.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        assert!(cells.len() == 2 && cells[1].len() > 20, "a case and its reason: {line}");
    }
}

#[derive(Debug)]
struct Case {
    family: String,
    name: String,
    project: String,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    before: Vec<String>,
    exit: i64,
    stdout: String,
    changes: Option<String>,
    /// Files that the command changes, in the sample.
    changed: Vec<String>,
}

#[derive(Debug, Default)]
struct Tally {
    agreed: usize,
    all: usize,
}

fn read_cases(folder: &Path) -> Vec<Case> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut cases = Vec::new();
    for file in files {
        let family = file.file_stem().unwrap().to_string_lossy().into_owned();
        if LEFT_OUT.contains(&family.as_str()) {
            continue;
        }
        for line in std::fs::read_to_string(&file).unwrap().lines() {
            cases.push(case_of(&family, &serde_json::from_str(line).unwrap()));
        }
    }
    cases
}

fn case_of(family: &str, record: &Value) -> Case {
    let text = |key: &str| record[key].as_str().unwrap_or_default().to_owned();
    let texts = |key: &str| {
        let items = record[key].as_array().map(Vec::as_slice).unwrap_or_default();
        items.iter().map(|item| item.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let environment = record["env"].as_object().into_iter().flatten();
    Case {
        family: family.to_owned(),
        name: text("case"),
        project: text("project"),
        arguments: texts("args"),
        environment: environment.map(|(name, value)| (name.clone(), value.as_str().unwrap().into())).collect(),
        before: texts("before"),
        exit: record["exit"].as_i64().unwrap(),
        // The sample has the answers themselves.
        stdout: record.get("answer").map_or_else(|| text("stdout"), Value::to_string),
        changes: record["changes"].as_str().filter(|changes| !changes.is_empty()).map(str::to_owned),
        changed: texts("changed"),
    }
}

/// The verdict of each case: `None` if it agrees, otherwise the reason.
fn compare_all(comparer: &Comparer, cases: &[Case]) -> Vec<Option<String>> {
    let verdicts: Vec<Mutex<Option<String>>> = cases.iter().map(|_| Mutex::default()).collect();
    let next = AtomicUsize::new(0);
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = cases.get(index) else { break };
                    *verdicts[index].lock().unwrap() = comparer.compare(case).err();
                }
            });
        }
    });
    verdicts.into_iter().map(|verdict| verdict.into_inner().unwrap()).collect()
}

fn count(cases: &[Case], verdicts: &[Option<String>]) -> BTreeMap<String, Tally> {
    let mut families: BTreeMap<String, Tally> = BTreeMap::new();
    for (case, verdict) in cases.iter().zip(verdicts) {
        let tally = families.entry(case.family.clone()).or_default();
        tally.all += 1;
        tally.agreed += usize::from(verdict.is_none());
    }
    families
}

/// Compares with the floor, and raises it if asked to.
fn hold_floor(families: &BTreeMap<String, Tally>) -> Vec<String> {
    let path = repository().join("tests/conformance/floor.txt");
    let text = std::fs::read_to_string(&path).unwrap();
    let floor: BTreeMap<&str, usize> = text
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(name, least)| (name, least.parse().unwrap()))
        .collect();
    let agreed = |family: &str| families.get(family).map_or(0, |tally| tally.agreed);
    let fallen = floor.iter().filter(|(family, least)| agreed(family) < **least);
    let fallen = fallen.map(|(family, least)| format!("{family}: {} instead of {least}", agreed(family))).collect();
    if std::env::var("SNAPSHOTS").as_deref() == Ok("overwrite") {
        let raised = families.iter().map(|(family, tally)| {
            let least = floor.get(family.as_str()).copied().unwrap_or(0).max(tally.agreed);
            format!("{family} {least}\n")
        });
        std::fs::write(&path, raised.filter(|line| !line.ends_with(" 0\n")).collect::<String>()).unwrap();
    }
    fallen
}

fn chosen_differences() -> BTreeSet<String> {
    let text = std::fs::read_to_string(repository().join("tests/conformance/DIFFERENCES.md")).unwrap();
    let cells = text.lines().filter_map(|line| line.strip_prefix("| `")?.split('|').next());
    // A reason may apply to several cases, each in backticks.
    cells
        .flat_map(|cell| cell.split('`').step_by(2).map(str::to_owned))
        .filter(|name| !name.trim().is_empty())
        .collect()
}

/// Writes past the capture of the test harness: the numbers are the point of the run.
pub(crate) fn tell(text: &str) {
    std::io::stderr().write_all(text.as_bytes()).unwrap();
}

#[derive(Debug)]
struct Comparer {
    projects: PathBuf,
    /// Each project as a repository, made once.
    repositories: tempfile::TempDir,
    masks: Vec<(Regex, &'static str)>,
    short_hash: Regex,
    quoted_scalar: Regex,
    hunk: Regex,
}

/// The folders in which a case runs.
#[derive(Debug)]
struct Place {
    project: PathBuf,
    home: PathBuf,
    /// The folder that contains our program under its name.
    shim: PathBuf,
    _root: Option<tempfile::TempDir>,
}

impl Comparer {
    fn new(recordings: &Path) -> Self {
        let masks = [
            (r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?", "<TIME>"),
            (r"\b20\d\d-\d\d-\d\d\b", "<DATE>"),
            (r"\b[0-9a-f]{40}\b", "<SHA>"),
            (r"\b\d{6}-[0-9a-z]{3}\b", "<QID>"),
            (r"\b1\.14\.0\b|\b0\.\d+\.\d+\b", "<VER>"),
            (r"gsd-\d{10,}", "gsd-<EPOCH>"),
            (r"\b\d{13}\b", "<EPOCH>"),
            // Commands are typed as the host spells them: the peer prints two spellings, we print the installed one.
            (r"/gsd[:-]([a-z])", "/gsd-$1"),
        ];
        Self {
            repositories: repositories(&recordings.join("projects")),
            projects: recordings.join("projects"),
            masks: masks.map(|(pattern, name)| (Regex::new(pattern).unwrap(), name)).into(),
            short_hash: Regex::new(r"\b[0-9a-f]{7}\b").unwrap(),
            quoted_scalar: Regex::new(r#"^(\s*[\w.-]+:\s*)["'](.*)["']$"#).unwrap(),
            hunk: Regex::new(r"^@@ -(\d+)(?:,(\d+))?").unwrap(),
        }
    }

    fn compare(&self, case: &Case) -> Result<(), String> {
        let place = self.prepare(case);
        let files = || case.changed.iter().map(|path| std::fs::read(place.project.join(path)).ok()).collect::<Vec<_>>();
        let earlier = files();
        let ran = place.run(case);
        let code = ran.status.code().map_or(-1, i64::from);
        let (stdout, stderr) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
        crate::schemas::fits(&case.arguments, ran.status.code().unwrap_or(-1), &stdout)?;
        if let Some(changes) = case.changes.as_deref().filter(|_| code == case.exit) {
            self.compare_files(case, changes, &place)?;
        }
        if code != case.exit {
            return Err(format!("exit {code} instead of {}: {}", case.exit, stderr.trim()));
        }
        for (path, (before, after)) in case.changed.iter().zip(earlier.iter().zip(files())) {
            if *before == after {
                return Err(format!("{path} is as it was"));
            }
        }
        let got = self.mask(&place.mask(&stdout));
        let want = self.mask(&case.stdout);
        match serde_json::from_str(&want) {
            Ok(want) if !Value::is_null(&want) => self.compare_json(&want, &got),
            _ => {
                let blank_failure = case.exit != 0 && want.trim().is_empty() && got.trim().is_empty();
                let same = blank_failure || self.norm_text(&want) == self.norm_text(&got);
                same.then_some(()).ok_or_else(|| format!("text {got:?} instead of {want:?}"))
            }
        }
    }

    fn compare_json(&self, want: &Value, got: &str) -> Result<(), String> {
        let Ok(got) = serde_json::from_str::<Value>(got) else { return Err(format!("no JSON: {got}")) };
        let (want, got) = (sample::without_advice(&self.norm(want), false), self.norm(&got));
        let (Some(wanted), Some(given)) = (want.as_object(), got.as_object()) else {
            return sample::agrees(&want, &got).then_some(()).ok_or_else(|| format!("{got} instead of {want}"));
        };
        let is_same = |key: &str, value| given.get(key).is_some_and(|given| sample::agrees(value, given));
        let different: Vec<&str> =
            wanted.iter().filter(|(key, value)| !is_same(key, value)).map(|(key, _)| key.as_str()).collect();
        different.is_empty().then_some(()).ok_or_else(|| format!("different: {}", different.join(", ")))
    }

    /// Compares the files that changed in the recording: they must contain the same facts as the peer's.
    fn compare_files(&self, case: &Case, changes: &str, place: &Place) -> Result<(), String> {
        for (path, hunks) in self.changed_files(changes) {
            let now = place.project.join(&path);
            let before = self.projects.join(&case.project).join(&path);
            let is_there = now.exists().then_some(()).ok_or_else(|| format!("{path} is missing"));
            if changes.contains("~ (body") || path.contains("state.json") {
                is_there?;
                continue;
            }
            // A new file, or an initial state that the fixture does not show.
            if !before.exists() || !case.before.is_empty() {
                continue;
            }
            let Some(want) = patched(&lossy(&before), &hunks) else { continue };
            is_there?;
            let want = self.facts(&self.mask(&want), &path);
            let got = self.facts(&self.mask(&place.mask(&lossy(&now))), &path);
            if want != got {
                let only = |one: &str, other: &str| {
                    one.lines()
                        .filter(|line| !other.lines().any(|known| known == *line))
                        .take(3)
                        .collect::<Vec<_>>()
                        .join(" / ")
                };
                return Err(format!("{path}: peer {:?}, ours {:?}", only(&want, &got), only(&got, &want)));
            }
        }
        Ok(())
    }

    fn changed_files<'a>(&self, changes: &'a str) -> Vec<(String, Vec<Hunk<'a>>)> {
        let mut files: Vec<(String, Vec<Hunk>)> = Vec::new();
        let mut inside = false;
        for line in changes.split('\n') {
            if line.starts_with("--- a/") {
                inside = false;
            } else if let Some(path) = line.strip_prefix("+++ b/") {
                files.push((path.trim().to_owned(), Vec::new()));
                inside = true;
            } else if let Some((_, hunks)) = files.last_mut().filter(|_| inside) {
                if let Some(found) = self.hunk.captures(line) {
                    let count: usize = found.get(2).map_or(1, |count| count.as_str().parse().unwrap());
                    let start: usize = found[1].parse().unwrap();
                    hunks.push(Hunk { start: (start + usize::from(count == 0)).max(1), count, lines: Vec::new() });
                } else if let Some(hunk) = hunks.last_mut().filter(|_| !line.starts_with("@@")) {
                    hunk.lines.push(line);
                }
            }
        }
        files
    }

    /// Reduces a text to its facts: no blank lines, line endings and quoting made equal, front matter as a sorted set.
    fn facts(&self, text: &str, path: &str) -> String {
        let text = text.replace('\r', "");
        let is = |extension| Path::new(path).extension().is_some_and(|found| found == extension);
        if is("json")
            && let Ok(value) = serde_json::from_str(&text)
        {
            return sorted(&self.norm(&value)).to_string();
        }
        let lines: Vec<&str> = text.split('\n').map(str::trim_end).collect();
        let close = lines.iter().skip(1).position(|line| *line == "---").map(|index| index + 1);
        let (front, body) = match close {
            Some(close) if is("md") && lines[0] == "---" => (&lines[1..close], &lines[close + 1..]),
            _ => (&[][..], &lines[..]),
        };
        let full =
            |lines: &[&str]| lines.iter().copied().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect();
        let mut front: Vec<String> = full(front);
        for line in &mut front {
            *line = self.quoted_scalar.replace(line, "$1$2").into_owned();
        }
        front.sort();
        let body: Vec<String> = full(body);
        let body: Vec<String> = body.iter().map(|line| self.norm_text(line)).collect();
        format!("{}\n===\n{}", front.join("\n"), body.join("\n"))
    }

    fn mask(&self, text: &str) -> String {
        let text = text.to_owned();
        self.masks.iter().fold(text, |text, (pattern, name)| pattern.replace_all(&text, *name).into_owned())
    }

    fn norm(&self, value: &Value) -> Value {
        match value {
            Value::Object(map) => {
                let kept = map.iter().filter(|(key, _)| !MACHINE_KEYS.contains(&key.as_str()));
                let normed = kept.map(|(key, value)| match value {
                    Value::Object(manifest) if key == "section_manifest" => {
                        let mut names: Vec<&String> = manifest.keys().collect();
                        names.sort();
                        (key.clone(), names.into_iter().cloned().collect())
                    }
                    value => (key.clone(), self.norm(value)),
                });
                Value::Object(normed.collect())
            }
            Value::Array(items) => items.iter().map(|item| self.norm(item)).collect(),
            Value::String(text) => Value::String(self.norm_text(text)),
            other => other.clone(),
        }
    }

    fn norm_text(&self, text: &str) -> String {
        self.short_hash.replace_all(text, "<SHA7>").trim_end().to_owned()
    }

    /// A fresh copy of the case's project, committed, after the preparation of the case.
    fn prepare(&self, case: &Case) -> Place {
        let root = crate::testing::named("gsd-conformance-");
        let base = root.path().canonicalize().unwrap();
        let place = Place { _root: Some(root), ..Place::at(&base, self.repositories.path()) };
        copy_tree(&self.repositories.path().join(&case.project).join("project"), &place.project);
        for line in &case.before {
            place.shell(&place.unmask(line));
        }
        place
    }
}

/// A copy of each project, committed, and next to them our program under its name.
fn repositories(projects: &Path) -> tempfile::TempDir {
    let root = crate::testing::named("gsd-conformance-");
    for entry in std::fs::read_dir(projects).unwrap() {
        let (from, name) = entry.map(|entry| (entry.path(), entry.file_name())).unwrap();
        let place = Place::at(&root.path().join(name), root.path());
        copy_tree(&from, &place.project);
        place.shell("git init -q -b main && git add -A && git commit -q -m init --allow-empty");
        // It is copied for each case: the fewer files, the better.
        place.shell("git repack -adq && rm .git/hooks/*.sample");
        assert!(place.project.join(".git/refs/heads/main").is_file(), "{} is no repository", from.display());
    }
    let shim = root.path().join(SHIM).join("gsd-tools");
    std::fs::create_dir(shim.parent().unwrap()).unwrap();
    std::fs::write(&shim, format!("#!/bin/sh\nexec '{}' \"$@\"\n", binary().display())).unwrap();
    let made = Command::new("chmod").arg("755").arg(shim).status().unwrap();
    assert!(made.success());
    root
}

/// No project has this name.
const SHIM: &str = ".shim";

impl Place {
    /// In its own folder, with an empty home and an empty temporary folder.
    fn at(base: &Path, repositories: &Path) -> Self {
        let home = base.join("home");
        for folder in [&home, &base.join("tmp")] {
            std::fs::create_dir_all(folder).unwrap();
        }
        Self { project: base.join("project"), home, shim: repositories.join(SHIM), _root: None }
    }

    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let base = self.project.parent().unwrap();
        let path = format!("{}:{}", self.shim.display(), std::env::var("PATH").unwrap_or_default());
        let mut command = Command::new(program);
        command.current_dir(&self.project).env_clear().stdin(Stdio::null());
        command.envs([("PATH", path.as_str()), ("LANG", "C.UTF-8"), ("TZ", "UTC"), ("GIT_CONFIG_NOSYSTEM", "1")]);
        command.env("HOME", &self.home).env("TMPDIR", base.join("tmp"));
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "t").env(format!("GIT_{who}_EMAIL"), "t@t");
            command.env(format!("GIT_{who}_DATE"), MOMENT);
        }
        command
    }

    /// A line of preparation may fail on purpose.
    fn shell(&self, line: &str) {
        self.command("bash").args(["-c", line]).output().unwrap();
    }

    fn run(&self, case: &Case) -> Output {
        let mut command = self.command(binary());
        command.args(case.arguments.iter().map(|argument| self.unmask(argument)));
        command.envs(case.environment.iter().map(|(name, value)| (name, value)));
        command.output().unwrap()
    }

    fn mask(&self, text: &str) -> String {
        text.replace(&*self.project.to_string_lossy(), "<CWD>").replace(&*self.home.to_string_lossy(), "<HOME>")
    }

    fn unmask(&self, text: &str) -> String {
        text.replace("<CWD>", &self.project.to_string_lossy()).replace("<HOME>", &self.home.to_string_lossy())
    }
}

#[derive(Debug)]
struct Hunk<'a> {
    /// The first line of the old file that it covers, from 1.
    start: usize,
    count: usize,
    lines: Vec<&'a str>,
}

/// The peer's file: a recorded diff applied to the fixture's text; `None` if it does not apply.
fn patched(before: &str, hunks: &[Hunk]) -> Option<String> {
    let source: Vec<&str> = before.split('\n').collect();
    let mut out: Vec<&str> = Vec::new();
    let mut position = 0;
    for hunk in hunks {
        out.extend(source.get(position..hunk.start - 1)?);
        position = hunk.start - 1;
        let end = position + hunk.count;
        for line in &hunk.lines {
            if let Some(added) = line.strip_prefix('+') {
                out.push(added);
                continue;
            }
            if position >= end {
                break;
            }
            if line.is_empty() || line.starts_with([' ', '-']) {
                let old = source.get(position)?;
                if old.trim_end_matches('\r') != line.get(1..).unwrap_or_default().trim_end_matches('\r') {
                    return None;
                }
                if !line.starts_with('-') {
                    out.push(old);
                }
                position += 1;
            }
        }
    }
    out.extend(&source[position..]);
    Some(out.join("\n"))
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let entries: BTreeMap<String, Value> =
                map.iter().map(|(key, value)| (key.clone(), sorted(value))).collect();
            entries.into_iter().collect()
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

fn lossy(path: &Path) -> String {
    String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned()
}

fn copy_tree(from: &Path, to: &Path) {
    for entry in walkdir::WalkDir::new(from) {
        let entry = entry.unwrap();
        let target = to.join(entry.path().strip_prefix(from).unwrap());
        if entry.file_type().is_dir() {
            std::fs::create_dir_all(target).unwrap();
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
