//! Stored results equal git's answers: over random histories, queried at random moments.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "repositories are made by hand, and git is asked the same"
)]
use std::collections::HashMap;
use std::process::Command;

use proptest::prelude::*;

use super::{History, commit_times, common_folder, places};
use crate::disk::AbsolutePath;
use crate::project::layout::Layout;
use crate::world::World;

#[test]
fn git_is_asked_for_names_with_the_endings_of_the_files() {
    let of = |paths: &[&str]| places(&paths.iter().map(ToString::to_string).collect::<Vec<_>>());
    let told = |places: &[&str]| Some(places.iter().map(ToString::to_string).collect::<Vec<_>>());
    assert_eq!(of(&[]), None);
    assert_eq!(
        of(&["p/01-a/01-VERIFICATION.md", "p/01-a/01-01-SUMMARY.md", "p/02-b/SUMMARY.md"]),
        told(&["p/*SUMMARY.md", "p/*VERIFICATION.md"])
    );
    assert_eq!(of(&["p/a-1", "p/a-2", "p/a-3", "p/a-4", "p/a-5"]), told(&["p"]));
    assert_eq!(of(&["p[1]/a.md"]), told(&["p[1]"]));
    assert_eq!(of(&["a.md"]), told(&["."]));
}

#[test]
fn the_common_folder_contains_all_paths() {
    let of =
        |paths: &[&str]| common_folder(&paths.iter().map(ToString::to_string).collect::<Vec<_>>()).map(str::to_owned);
    assert_eq!(of(&[]), None);
    assert_eq!(of(&["a.md"]).as_deref(), Some("."));
    assert_eq!(of(&[".planning/phases/01-a/x.md"]).as_deref(), Some(".planning/phases/01-a"));
    assert_eq!(
        of(&[".planning/phases/01-a/x.md", ".planning/phases/01-a/y.md"]).as_deref(),
        Some(".planning/phases/01-a")
    );
    assert_eq!(of(&[".planning/phases/01-a/x.md", ".planning/phases/01-b/y.md"]).as_deref(), Some(".planning/phases"));
    assert_eq!(of(&[".planning/p/x.md", ".planning/pq/y.md"]).as_deref(), Some(".planning"));
    assert_eq!(of(&["a/x.md", "b/y.md"]).as_deref(), Some("."));
}

const FILES: [&str; 4] = [".planning/p/1-SUMMARY.md", ".planning/p/2-SUMMARY.md", ".planning/p/é \".md", "src/a"];

/// A repository `r`, a state folder, and a `git` that records its calls.
struct HistoryBench {
    _temporary: tempfile::TempDir,
    base: AbsolutePath,
}

impl HistoryBench {
    fn new() -> Self {
        let temporary = crate::testing::folder();
        let base = AbsolutePath::parse(temporary.path().canonicalize().unwrap()).unwrap();
        let bench = Self { _temporary: temporary, base };
        for folder in ["r", "bin", "home"] {
            std::fs::create_dir(bench.base.resolve(folder)).unwrap();
        }
        let real =
            String::from_utf8(Command::new("sh").args(["-c", "command -v git"]).output().unwrap().stdout).unwrap();
        let script =
            format!("#!/bin/sh\necho \"$*\" >> '{}'\nexec {} \"$@\"\n", bench.base.resolve("asked"), real.trim());
        let git = bench.base.resolve("bin/git");
        std::fs::write(&git, script).unwrap();
        std::fs::set_permissions(&git, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        bench.git(&["init", "--quiet", "-b", "main"]);
        bench.write(FILES[3], "a");
        bench.commit(1_000_000_000);
        bench
    }

    /// Git's output in the repository; `None` if it fails.
    fn git(&self, arguments: &[&str]) -> Option<String> {
        self.git_at("r", 0, arguments)
    }

    fn git_at(&self, folder: &str, time: i64, arguments: &[&str]) -> Option<String> {
        let date = format!("{time} +0100");
        let mut git = Command::new("git");
        git.current_dir(self.base.resolve(folder)).args(["-c", "user.name=n", "-c", "user.email=e@x.invalid"]);
        git.args(["-c", "merge.conflictStyle=merge", "-c", "protocol.file.allow=always", "-c", "gc.auto=0"])
            .args(arguments);
        git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
        if time > 0 {
            git.env("GIT_AUTHOR_DATE", &date).env("GIT_COMMITTER_DATE", &date);
        }
        let output = git.output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        output.status.success().then(|| text.trim_end_matches('\n').to_owned())
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.base.resolve("r").resolve(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn commit(&self, time: i64) {
        self.git(&["add", "--all"]);
        self.git_at(
            "r",
            time,
            &["commit", "--quiet", "--allow-empty", "-m", "commit 1 (from 2)\n\ncommitter x 5 +0000"],
        );
    }

    /// A world with the state folder `state`, in which all file times are long ago.
    fn world(&self, state: &str) -> World {
        let path = format!("{}:{}", self.base.resolve("bin"), std::env::var("PATH").unwrap());
        let home = self.base.resolve("home").to_string();
        let state = self.base.resolve(state).to_string();
        let variables = [
            ("PATH", path.as_str()),
            ("HOME", &home),
            ("XDG_STATE_HOME", &state),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_SYSTEM", "/dev/null"),
            ("GSD_TEST_MODE", "1"),
            ("GSD_NOW_MS", "9000000000000"),
        ];
        World::with(variables, self.base.as_path())
    }

    /// The times reported for `files`.
    fn times(&self, state: &str, folder: &str, files: &[&str]) -> HashMap<String, i64> {
        let layout = Layout::new(self.base.resolve(folder).as_path(), None, None);
        let files: Vec<String> = files.iter().map(ToString::to_string).collect();
        let mut times = commit_times(&self.world(state), &layout, &files)();
        // A query about two folders covers everything between them.
        times.retain(|path, _| files.contains(path));
        times
    }

    /// The number of commits, the day of the first, and the number since `commit`.
    fn counts(&self, state: &str, folder: &str, commit: &str) -> (Option<(u64, Option<String>)>, Option<u64>) {
        let layout = Layout::new(self.base.resolve(folder).as_path(), None, None);
        let Some((history, _)) = History::of(&self.world(state), &layout) else { return (None, None) };
        (history.commits(), history.since(commit))
    }

    /// Git's answer to the same query.
    fn times_by_git(&self, folder: &str, files: &[&str]) -> HashMap<String, i64> {
        let mut times = HashMap::new();
        for file in files {
            let there = self.git_at(folder, 0, &["ls-tree", "HEAD", "--", file]).unwrap_or_default();
            let differs = self.git_at(folder, 0, &["diff", "HEAD", "--name-only", "--", file]);
            if there.is_empty() || differs.is_some_and(|differs| !differs.is_empty()) {
                continue;
            }
            let time = self.git_at(folder, 0, &["log", "-1", "--format=%ct", "HEAD", "--", file]).unwrap_or_default();
            times.insert((*file).to_owned(), time.parse().unwrap());
        }
        times
    }

    fn counts_by_git(&self, folder: &str, commit: &str) -> (Option<(u64, Option<String>)>, Option<u64>) {
        let count = |range: &str| self.git_at(folder, 0, &["rev-list", "--count", range])?.parse().ok();
        let roots = self.git_at(folder, 0, &["log", "--max-parents=0", "--format=%as", "HEAD"]).unwrap_or_default();
        let first = roots.lines().min().map(str::to_owned);
        (count("HEAD").map(|count| (count, first)), count(&format!("{commit}..HEAD")))
    }

    /// Git's calls since the last time this was called.
    fn asked(&self) -> Vec<String> {
        let file = self.base.resolve("asked");
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let _ = std::fs::remove_file(&file);
        text.lines().map(str::to_owned).collect()
    }
}

/// Something that happens to a repository.
#[derive(Clone, Debug)]
enum RepositoryEvent {
    Write(usize, u8),
    Remove(usize),
    Rename(usize, usize),
    Commit(i64),
    Amend(i64),
    Branch(usize),
    Merge(usize, usize, i64),
    Reset(usize),
    Rebase(usize),
    Unstage(usize),
    Ask(Vec<usize>),
}

fn event() -> impl Strategy<Value = RepositoryEvent> {
    let file = 0..FILES.len();
    // Dates may also go back.
    let time = 1_000_000_000..1_000_000_040_i64;
    prop_oneof![
        4 => (file.clone(), any::<u8>()).prop_map(|(file, text)| RepositoryEvent::Write(file, text % 4)),
        1 => file.clone().prop_map(RepositoryEvent::Remove),
        1 => (file.clone(), file.clone()).prop_map(|(from, to)| RepositoryEvent::Rename(from, to)),
        4 => time.clone().prop_map(RepositoryEvent::Commit),
        1 => time.clone().prop_map(RepositoryEvent::Amend),
        2 => (0..3_usize).prop_map(RepositoryEvent::Branch),
        3 => (0..3_usize, 0..4_usize, time).prop_map(|(other, way, time)| RepositoryEvent::Merge(other, way, time)),
        1 => (1..3_usize).prop_map(RepositoryEvent::Reset),
        1 => (0..3_usize).prop_map(RepositoryEvent::Rebase),
        1 => file.clone().prop_map(RepositoryEvent::Unstage),
        5 => prop::collection::vec(file, 1..=4).prop_map(RepositoryEvent::Ask),
    ]
}

impl HistoryBench {
    fn happen(&self, event: &RepositoryEvent) {
        let place = |file: usize| self.base.resolve("r").resolve(FILES[file]);
        match event {
            RepositoryEvent::Write(file, text) => self.write(FILES[*file], &"x".repeat(usize::from(*text))),
            RepositoryEvent::Remove(file) => drop(std::fs::remove_file(place(*file))),
            RepositoryEvent::Rename(from, to) => {
                std::fs::create_dir_all(place(*to).parent().unwrap()).unwrap();
                let _ = std::fs::rename(place(*from), place(*to));
            }
            RepositoryEvent::Commit(time) => self.commit(*time),
            RepositoryEvent::Amend(time) => {
                self.git_at("r", *time, &["commit", "--quiet", "--all", "--amend", "--allow-empty", "-m", "amended"]);
            }
            RepositoryEvent::Branch(number) => {
                let branch = format!("b{number}");
                if self.git(&["checkout", "--quiet", "--force", &branch]).is_none() {
                    self.git(&["checkout", "--quiet", "-b", &branch]);
                }
            }
            RepositoryEvent::Merge(other, way, time) => {
                let way = [&["-X", "ours"][..], &["-X", "theirs"], &["-s", "ours"], &["--ff"]][*way];
                self.commit(*time);
                let other = format!("b{other}");
                let line = [&["merge", "--quiet", "-m", "m"], way, &[&other]].concat();
                if self.git_at("r", *time, &line).is_none() {
                    self.commit(*time);
                }
            }
            RepositoryEvent::Reset(back) => drop(self.git(&["reset", "--quiet", "--hard", &format!("HEAD~{back}")])),
            RepositoryEvent::Rebase(other) => {
                self.commit(1_000_000_020);
                if self.git(&["rebase", "--quiet", &format!("b{other}")]).is_none() {
                    self.git(&["rebase", "--abort"]);
                }
            }
            RepositoryEvent::Unstage(file) => drop(self.git(&["rm", "--quiet", "--cached", FILES[*file]])),
            RepositoryEvent::Ask(_) => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn stored_results_equal_the_answers_of_git(events in prop::collection::vec(event(), 10..30)) {
        let bench = HistoryBench::new();
        let first = bench.git(&["rev-parse", "HEAD"]).unwrap();
        for event in &events {
            bench.happen(event);
            let RepositoryEvent::Ask(files) = event else { continue };
            let files: Vec<&str> = files.iter().map(|file| FILES[*file]).collect();
            let told = bench.times("state", "r", &files);
            prop_assert_eq!(&told, &bench.times_by_git("r", &files));
            prop_assert_eq!(told, bench.times("state", "r", &files), "asked again");
            let counts = bench.counts("state", "r", &first);
            prop_assert_eq!(counts, bench.counts_by_git("r", &first));
        }
    }
}

#[test]
fn a_file_that_was_only_touched_does_not_differ() {
    let bench = HistoryBench::new();
    bench.write(FILES[2], "xx");
    bench.write(FILES[3], "xx");
    bench.commit(1_000_000_002);
    let place = |file: &str| bench.base.resolve("r").resolve(file);
    std::fs::rename(place(FILES[3]), place(FILES[2])).unwrap();
    assert_eq!(bench.times("state", "r", &[FILES[2]]), bench.times_by_git("r", &[FILES[2]]));
    assert_eq!(bench.times("other", "r", &[FILES[2]])[FILES[2]], 1_000_000_002);
}

#[test]
fn git_is_asked_once_at_a_commit_and_then_for_what_is_new() {
    let bench = HistoryBench::new();
    for file in FILES {
        bench.write(file, "x");
        bench.commit(1_000_000_001);
    }
    let old = bench.git(&["rev-parse", "HEAD"]).unwrap();
    let ask = || (bench.times("state", "r", &FILES), bench.counts("state", "r", &old));
    let told = ask();
    assert!(bench.asked().iter().any(|line| line.contains(" log ")), "the bench notes what git is asked");
    assert_eq!(ask(), told);
    assert_eq!(bench.asked(), [] as [&str; 0]);
    bench.write(FILES[1], "new");
    bench.commit(1_000_000_009);
    assert_eq!(ask().0[FILES[1]], 1_000_000_009);
    let asked = bench.asked();
    let walks: Vec<&String> = asked.iter().filter(|line| line.contains(" log ") || line.contains("rev-list")).collect();
    let is_new = |line: &&String| line.contains(&format!("^{old}")) || line.contains(&format!("{old}..."));
    assert!(!walks.is_empty() && walks.iter().all(is_new), "{asked:#?}");
    ask();
    assert_eq!(bench.asked(), [] as [&str; 0]);
    // An edited file is queried again, and its commit does not count.
    bench.write(FILES[0], "edited by hand");
    assert!(!ask().0.contains_key(FILES[0]));
    assert!(bench.asked().iter().all(|line| !line.contains(" log ")));
}

#[test]
fn only_as_much_of_the_history_is_listed_as_needed() {
    let bench = HistoryBench::new();
    for number in 0..300 {
        bench.git_at("r", 1_000_000_100 + number, &["commit", "--quiet", "--allow-empty", "-m", "old"]);
    }
    bench.write(FILES[0], "x");
    bench.commit(1_000_009_000);
    // The older history is broken: walking it fails.
    let old = bench.git(&["rev-parse", "HEAD~280"]).unwrap();
    std::fs::remove_file(bench.base.resolve(format!("r/.git/objects/{}/{}", &old[..2], &old[2..]))).unwrap();
    assert!(bench.git(&["log", "HEAD"]).is_none());
    assert_eq!(bench.times("state", "r", &FILES[..1])[FILES[0]], 1_000_009_000);
    let untracked = ".planning/p/9-SUMMARY.md";
    bench.write(untracked, "x");
    assert_eq!(bench.times("state", "r", &[FILES[0], untracked]).len(), 1);
}

#[test]
fn a_clone_that_gets_more_of_the_history_is_asked_again() {
    let bench = HistoryBench::new();
    for number in 1..6 {
        bench.write(FILES[0], "x");
        bench.write(FILES[1], &format!("{number}"));
        bench.commit(1_000_000_000 + number);
    }
    let source = format!("file://{}", bench.base.resolve("r"));
    bench.git_at("", 0, &["clone", "--quiet", "--depth=2", &source, "c"]).unwrap();
    for step in [&["status"][..], &["fetch", "--quiet", "--deepen=2"], &["fetch", "--quiet", "--unshallow"]] {
        bench.git_at("c", 0, step).unwrap();
        for _ in 0..2 {
            assert_eq!(bench.times("state", "c", &FILES), bench.times_by_git("c", &FILES), "{step:?}");
            assert_eq!(bench.counts("state", "c", "HEAD~1"), bench.counts_by_git("c", "HEAD~1"), "{step:?}");
        }
    }
    assert_eq!(bench.times("state", "c", &FILES)[FILES[0]], 1_000_000_001);
}

#[test]
fn broken_old_and_unwritable_notes_cost_only_time() {
    let bench = HistoryBench::new();
    bench.write(FILES[0], "x");
    bench.commit(1_000_000_005);
    let told = bench.times("state", "r", &FILES);
    let notes = || {
        let walk = walkdir::WalkDir::new(bench.base.resolve("state")).into_iter().map(Result::unwrap);
        walk.filter(|entry| entry.file_type().is_file()).map(walkdir::DirEntry::into_path).collect::<Vec<_>>()
    };
    assert_eq!(notes().len(), 2, "{:?}", notes());
    for text in ["", "{", "[]", "{\"form\":0,\"history\":\"\",\"times\":{\".planning/p/1-SUMMARY.md\":7}}", "\u{0}"] {
        for note in notes() {
            std::fs::write(note, text).unwrap();
        }
        assert_eq!(bench.times("state", "r", &FILES), told, "{text}");
    }
    bench.write("state2/gsd-tools", "no folder");
    assert_eq!(bench.times("r/state2", "r", &FILES), told);
    for number in 0..30 {
        bench.commit(1_000_000_010 + number);
        bench.times("state", "r", &FILES);
    }
    assert!(notes().len() <= 9, "{:?}", notes());
}
