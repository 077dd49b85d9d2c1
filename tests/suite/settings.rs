//! Settings files as people have them: an install, an update, their undo and an uninstall give back every byte, the mode
//! and the link, or the install is refused with the line and a cure, and writes nothing.
//!
//! `GSD_SETTINGS=all` runs every row of `tests/settings/cases.toml`; otherwise a sample is drawn, and its seed printed.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Deserialize;

use crate::kit::{TestContext, repository};
use crate::tree::{Tree, difference, tree};

#[derive(Debug, Deserialize)]
struct Table {
    case: Vec<Case>,
}

#[derive(Debug, Deserialize)]
struct Case {
    #[serde(default)]
    file: String,
    host: String,
    scope: String,
    place: String,
    mode: Option<String>,
    link: Option<String>,
    also: Option<String>,
    line: Option<usize>,
    warns: Option<String>,
    left: Option<String>,
    #[serde(default)]
    status: i32,
    expect: String,
    word: Option<String>,
    why: String,
}

/// How many rows a sample has.
const SAMPLE: usize = 24;

impl Case {
    fn name(&self) -> String {
        let link = self.link.as_ref().map(|to| format!(" -> {to}")).unwrap_or_default();
        format!("{} as {} of {} ({}){link}", self.file, self.place, self.host, self.why)
    }

    fn base(&self, context: &TestContext) -> PathBuf {
        if self.scope == "global" { context.home() } else { context.project() }
    }

    fn lay(&self, context: &TestContext) {
        use std::os::unix::fs::PermissionsExt;
        let (base, corpus) = (self.base(context), repository().join("tests/settings"));
        let copy = |from: &str, to: &Path| {
            std::fs::create_dir_all(to.parent().unwrap()).unwrap();
            std::fs::copy(corpus.join(from), to).unwrap();
            std::fs::set_permissions(to, std::fs::Permissions::from_mode(0o644)).unwrap();
        };
        if let Some((from, to)) = self.also.as_ref().and_then(|also| also.split_once(" -> ")) {
            copy(from, &base.join(to));
        }
        if self.file.is_empty() {
            return;
        }
        let place = base.join(&self.place);
        let real = self.link.as_ref().map_or_else(|| place.clone(), |link| base.join(link));
        copy(&self.file, &real);
        if let Some(mode) = &self.mode {
            let mode = u32::from_str_radix(mode, 8).unwrap();
            std::fs::set_permissions(&real, std::fs::Permissions::from_mode(mode)).unwrap();
        }
        if self.link.is_some() {
            std::fs::create_dir_all(place.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(real, place).unwrap();
        }
    }

    /// The faults of this row.
    fn faults(&self) -> Vec<String> {
        let context = TestContext::new();
        self.lay(&context);
        let seen = || -> Tree {
            let mut all = tree(&context.everything());
            all.retain(|path, _| !path.contains(".local"));
            all
        };
        let before = seen();
        let (host, scope) = (format!("--{}", self.host), format!("--{}", self.scope));
        let mut faults = Vec::new();
        let call = |words: &[&str], variables: &[(&str, &str)]| context.gsd_with(words.iter(), variables, "");
        let install = call(&["install", &host, &scope, "--yes"], &[("GSD_AS_VERSION", "0.0.9")]);
        if self.expect == "refused" {
            let message = install.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
            let line = self.line.map(|line| format!("line {line}"));
            let words = self.word.iter().map(String::as_str).chain(line.as_deref()).chain(["hint: "]);
            for word in words.filter(|word| install.code == 0 || !message.contains(word)) {
                faults.push(format!("it is not refused with `{word}`: {}{message}", install.stdout));
            }
            if message.contains(&format!("`{}/", context.home().display())) || message.contains("by hand") {
                faults.push(format!("the refusal does not help: {message}"));
            }
            faults.extend(difference(&before, &seen()));
            return faults;
        }
        if install.code != 0 {
            return vec![format!("it is refused: {}", install.stderr)];
        }
        let status = call(&["status", &host, &scope], &[("GSD_AS_VERSION", "0.0.9")]);
        if status.code != self.status {
            faults.push(format!("status ends with {}: {}{}", status.code, status.stdout, status.stderr));
        }
        for (verb, ran) in [("install", &install), ("status", &status)] {
            let shown = format!("{}{}", ran.stdout, ran.stderr);
            if self.warns.as_ref().is_some_and(|word| !shown.contains(word)) {
                faults.push(format!("{verb} does not warn: {shown}"));
            }
        }
        let step = |words: &[&str], faults: &mut Vec<String>| {
            let ran = call(words, &[]);
            if ran.code != 0 {
                faults.push(format!("{}: {}", words.join(" "), ran.stderr));
            }
        };
        let as_before = |after: &str, faults: &mut Vec<String>| {
            faults.extend(difference(&before, &seen()).into_iter().map(|line| format!("after {after}: {line}")));
        };
        let updated = |faults: &mut Vec<String>| step(&["update", &host, &scope, "--yes"], faults);
        updated(&mut faults);
        step(&["undo", "--yes"], &mut faults);
        step(&["undo", "--yes"], &mut faults);
        as_before("two undos", &mut faults);
        step(&["redo", "--yes"], &mut faults);
        updated(&mut faults);
        step(&["uninstall", &host, &scope, "--yes"], &mut faults);
        if let Some(left) = &self.left {
            // A block that an older install left does not come back.
            let (real, corpus) = (self.base(&context).join(&self.place), repository().join("tests/settings"));
            let (found, wanted) = (std::fs::read(&real).unwrap(), std::fs::read(corpus.join(left)).unwrap());
            if found != wanted {
                faults.push(format!("after the uninstall: {}", String::from_utf8_lossy(&found)));
            }
            std::fs::write(real, std::fs::read(corpus.join(&self.file)).unwrap()).unwrap();
        }
        as_before("the uninstall", &mut faults);
        faults
    }
}

#[test]
#[ignore = "slow: minutes"]
fn settings_of_people_come_back_to_the_byte() {
    let text = std::fs::read_to_string(repository().join("tests/settings/cases.toml")).unwrap();
    let table: Table = toml_edit::de::from_str(&text).unwrap();
    let mut cases = table.case;
    assert!(cases.len() > 500, "{} rows", cases.len());
    if std::env::var("GSD_SETTINGS").as_deref() != Ok("all") {
        let seed: usize = std::env::var("GSD_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or_else(|| {
            usize::try_from(std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs()).unwrap()
        });
        println!("GSD_SEED={seed}");
        // Every row is in one of the samples of consecutive seeds.
        let (count, step) = (cases.len(), cases.len() / SAMPLE);
        let mut number = 0;
        cases.retain(|_| {
            number += 1;
            (number + seed).is_multiple_of(step) && number <= count
        });
    }
    let (next, faults) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let found = std::panic::catch_unwind(|| case.faults())
                        .unwrap_or_else(|_| vec!["an answer does not hold".to_owned()]);
                    let lines = found.into_iter().map(|fault| format!("{}: {fault}", case.name()));
                    faults.lock().unwrap().extend(lines);
                }
            });
        }
    });
    let faults = faults.into_inner().unwrap();
    let refused = cases.iter().filter(|case| case.expect == "refused").count();
    println!("{} rows of settings: {refused} are refused, {} install", cases.len(), cases.len() - refused);
    assert!(faults.is_empty(), "{} faults in {} rows:\n{}", faults.len(), cases.len(), faults.join("\n"));
}
