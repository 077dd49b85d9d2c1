//! The table of a whole run, which is committed.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::Command;

use super::Done;
use super::row::Expected;
use crate::kit::repository;

/// How many rows ended in each way.
pub(super) fn sums(done: &[Done]) -> String {
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for done in done {
        *counts.entry((done.row.expect().word(), done.judged.outcome)).or_default() += 1;
    }
    let wrong = done.iter().filter(|done| !done.judged.wrong.is_empty()).count();
    let parts = counts.iter().map(|((expected, outcome), count)| format!("{expected} -> {outcome} {count}"));
    let parts: Vec<String> = parts.chain([format!("not as expected {wrong}")]).collect();
    parts.join(", ")
}

/// The page.
pub(super) fn of(done: &[Done]) -> String {
    let mut page = String::from("# Cheats: the last whole run\n\n");
    let _ = writeln!(
        page,
        "{}, on commit {}, {} rows. Written by `GSD_CHEATS=all cargo test --test suite cheats -- --ignored`.\n",
        said_by("date", &["+%Y-%m-%d"]),
        said_by("git", &["describe", "--always", "--dirty", "--abbrev=12"]),
        done.len()
    );
    let _ = writeln!(page, "| what has to come | how it ended | rows |\n| --- | --- | --- |");
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for done in done {
        *counts.entry((done.row.expect().word(), done.judged.outcome)).or_default() += 1;
    }
    for ((expected, outcome), count) in counts {
        let _ = writeln!(page, "| {expected} | {outcome} | {count} |");
    }
    let kinds = done.iter().filter(|done| done.row.expect() != Expected::Lands).map(|done| &done.row.kind.name);
    let kinds: std::collections::BTreeSet<_> = kinds.collect();
    let wrong: Vec<&Done> = done.iter().filter(|done| !done.judged.wrong.is_empty()).collect();
    let _ = writeln!(page, "\nKinds of cheats: {}. Not as it has to be: {}.\n", kinds.len(), wrong.len());
    let _ = writeln!(
        page,
        "`refused`: the attempt did not count, and the honest one after it landed. `stopped`: nothing landed. `put back`: the work \
         landed without the change. `without effect`: it changed nothing that counts, and is named. `held out`: a held-out check refused it; without one it lands.\n"
    );
    let _ = writeln!(page, "| row | has to | ended | as it has to |\n| --- | --- | --- | --- |");
    for done in done {
        let is_right = if done.judged.wrong.is_empty() { "yes" } else { "**no**" };
        let _ = writeln!(
            page,
            "| {} | {} | {} | {is_right} |",
            done.row.name,
            done.row.expect().word(),
            done.judged.outcome
        );
    }
    let slowest = done.iter().map(|done| done.took).max().unwrap_or_default();
    let all: std::time::Duration = done.iter().map(|done| done.took).sum();
    let mean = (all / u32::try_from(done.len().max(1)).unwrap()).as_secs_f64();
    let _ = writeln!(page, "\nA row took {mean:.1} s, the longest {:.1} s.", slowest.as_secs_f64());
    page
}

fn said_by(program: &str, words: &[&str]) -> String {
    let output = Command::new(program).args(words).current_dir(repository()).output().unwrap();
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}
