//! The two tiers of the tests. `cargo test` runs the fast one, which needs only git and the usual tools of a Unix
//! system; `cargo test -- --ignored` runs the slow one, whose tests say in their `ignore` attribute what they need.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use regex::Regex;

use crate::kit::repository;

/// Possible needs of a test in the slow tier.
const NEEDS: &[&str] = &["a client", "another program", "minutes", "recorded runs", "root"];

/// A test of the slow tier.
struct Slow {
    /// The file or folder that contains the test, as CONTRIBUTING.md lists it.
    family: String,
    name: String,
    need: String,
}

/// Every test with an `ignore` attribute, in the crate and in the suite.
fn ignored() -> Vec<Slow> {
    let attribute =
        Regex::new(r#"#\[ignore\b(?: = "(?<reason>[^"]*)")?[^\]]*\]\s*(?:#\[[^\n]*\]\s*)*(?:pub )?fn (?<name>\w+)"#);
    let attribute = attribute.unwrap();
    let mut tests = Vec::new();
    for root in ["src", "tests/suite"] {
        for entry in walkdir::WalkDir::new(repository().join(root)).into_iter().map(Result::unwrap) {
            if entry.path().extension().is_none_or(|extension| extension != "rs") {
                continue;
            }
            let text = std::fs::read_to_string(entry.path()).unwrap();
            let family = family(entry.path().strip_prefix(repository()).unwrap());
            // A text in another language inside a test has its own attributes, which are not our tests.
            for found in
                attribute.captures_iter(&text).filter(|found| starts_its_line(&text, found.get(0).unwrap().start()))
            {
                let reason = found.name("reason").map_or("", |reason| reason.as_str());
                let need = reason.strip_prefix("slow: ").unwrap_or_default().to_owned();
                tests.push(Slow { family: family.clone(), name: found["name"].to_owned(), need });
            }
        }
    }
    tests
}

fn starts_its_line(text: &str, at: usize) -> bool {
    text[..at].rsplit('\n').next().is_none_or(|before| before.trim().is_empty())
}

/// `tests/suite/kills/disk.rs` is in the family `kills`, `src/auto/sim/tests/crash.rs` in `auto::sim`.
fn family(path: &Path) -> String {
    let words: Vec<&str> = path.iter().map(|word| word.to_str().unwrap().trim_end_matches(".rs")).collect();
    match words.as_slice() {
        ["tests", "suite", family, ..] => (*family).to_owned(),
        ["src", file] => (*file).to_owned(),
        ["src", room, subject, ..] => format!("{room}::{subject}"),
        _ => panic!("{}", path.display()),
    }
}

#[test]
fn each_slow_test_says_what_it_needs_and_its_family_is_on_the_page() {
    let tests = ignored();
    let strange: Vec<&str> =
        tests.iter().filter(|test| !NEEDS.contains(&test.need.as_str())).map(|test| test.name.as_str()).collect();
    assert_eq!(strange, [""; 0], "`#[ignore = \"slow: NEED\"]`, with a need of {NEEDS:?}");

    let mut needed: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for test in &tests {
        needed.entry(test.family.clone()).or_default().insert(test.need.clone());
    }
    let page = std::fs::read_to_string(repository().join("CONTRIBUTING.md")).unwrap();
    let table =
        page.split("| family | needs |").nth(1).expect("the table of slow families").split("\n\n").next().unwrap();
    let rows = table.lines().filter(|line| line.starts_with("| `"));
    let listed: BTreeMap<String, BTreeSet<String>> = rows
        .map(|row| {
            let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
            assert!(cells.len() == 3 && cells[2].len() > 20, "a family, what it needs, and what it tests: {row}");
            (cells[0].trim_matches('`').to_owned(), cells[1].split(", ").map(str::to_owned).collect())
        })
        .collect();
    assert_eq!(listed, needed, "left: CONTRIBUTING.md; right: the attributes");
}

/// A run of the fast tier ends green without the slow one, so it reports that.
#[test]
fn a_fast_run_reports_what_it_left_out() {
    let mut needed: BTreeMap<String, usize> = BTreeMap::new();
    for test in ignored() {
        *needed.entry(test.need).or_default() += 1;
    }
    let all: usize = needed.values().sum();
    assert!(all > 40, "{needed:?}");
    let needed: Vec<String> = needed.iter().map(|(need, count)| format!("{need} ({count})")).collect();
    // Arguments for the harness mean that the tests were selected.
    if std::env::args().len() == 1 {
        let line = "not run: the slow tier,";
        crate::conformance::tell(&format!(
            "{line} {all} tests that need {}; run it with `.ci/run`, or with `cargo test -- --ignored`\n",
            needed.join(", ")
        ));
    }
}
