//! Edits that make a check see less than before: tests that are gone or skipped, assertions that are gone or always
//! pass, settings and scripts that hide a failure.
//!
//! What reading can decide is decided: [`inspect`] compares the files of a unit's diff, before and after, and the
//! counts of the runs. An edit with the same meaning in other words is not a finding: a test that was renamed, moved,
//! split, reformatted or made from a table. Some things cannot be decided by reading, and are not tried: whether a
//! computed expected value is the right one, whether a test could fail at all, whether code that detects that it is
//! being tested behaves differently, and what a program that a check runs does with its exit code in places that no
//! file of the project shows. The checks then run on the tree described by [`Inspection::restoration`].

mod assertion;
mod by_glob;
mod by_itself;
mod cleaning;
mod collected;
mod compare;
mod facts;
mod fate;
mod file;
mod finding;
mod imports;
mod joined;
mod leaning;
mod leaving;
mod lexer;
mod lines;
mod loosened;
mod marks;
mod never_run;
mod pipeline;
mod promised;
mod rebound;
mod renamed;
mod runner;
mod running;
mod script;
mod settings;
mod shadow;
mod snapshot;
mod span;
mod strength;
mod stricter;
mod subject;
mod tables;
mod taken;
#[cfg(test)]
mod tests;
mod unreadable;
mod unused;
mod with_subject;
mod wrapped;

use std::collections::BTreeSet;

use super::discovery::Discovery;
use super::evidence::{CheckVerdict, Evidence};
use super::pins::Pins;
use crate::disk::Digest;
use crate::project::check_files::{Role, role_of};
use crate::project::self_running::SelfRunning;
use file::TestFile;

pub(crate) use finding::{Finding, Weakening};
pub(super) use lines::added as added_lines;

/// One file of a unit's diff. `None` if it does not exist on that side.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileChange<'a> {
    pub(crate) path: &'a str,
    pub(crate) before: Option<&'a [u8]>,
    pub(crate) after: Option<&'a [u8]>,
}

/// What is known about a unit when its edits are judged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work<'a> {
    pub(crate) pins: &'a Pins,
    pub(crate) changes: &'a [FileChange<'a>],
    /// The checks as they would be discovered now.
    pub(crate) now: Option<&'a Discovery>,
    /// The files that the plan names and that do not exist.
    pub(crate) absent: &'a [String],
    /// The files that run automatically.
    pub(crate) running: &'a SelfRunning,
}

/// What was found in a unit's edits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Inspection {
    pub(crate) findings: Vec<Finding>,
    /// What the plan allows.
    pub(crate) allowed: Vec<Finding>,
    /// How many tests may be missing from the counts: those that are now cases of others.
    rewritten: usize,
    /// Whether the plan allows tests to be removed.
    may_go: bool,
}

/// The changes that give the tree in which the checks run the pinned tests and settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Restoration {
    /// Files to take from the tree that the unit started from.
    pub(crate) from_before: Vec<String>,
    /// Files that the unit added, to leave out.
    pub(crate) without: Vec<String>,
    /// Files in which only the settings of runners are as before, with their texts.
    pub(crate) rewritten: Vec<(String, String)>,
}

/// How many findings of a kind are listed for a file.
const LISTED: usize = 5;

/// Finds the places in which a unit made a check weaker.
pub(crate) fn inspect(work: Work<'_>) -> Inspection {
    let Work { pins, changes, now, absent, running } = work;
    let texts: Vec<Text<'_>> = changes.iter().map(Text::of).collect();
    let mut found = not_as_pinned(pins, changes);
    let mut files: Vec<TestFile<'_>> =
        texts.iter().filter_map(|text| TestFile::of(text).or_else(|| leaning::helper(pins, text))).collect();
    renamed::undo(&mut files, &texts);
    let compared = compare::compare(&files);
    // A helper counts only for the assertions that it makes; the rules for test files do not apply to it.
    files.retain(|file| !pins.leaned.contains(file.path));
    found.extend(compared.findings);
    for file in &files {
        found.extend(marks::in_file(file, &texts));
        found.extend(never_run::in_file(file));
        found.extend(loosened::in_file(file));
        found.extend(subject::in_file(file));
        found.extend(joined::in_file(file));
        found.extend(wrapped::in_file(file));
        found.extend(rebound::in_file(pins, file, &texts));
        found.extend(by_itself::in_file(pins, file, &texts));
    }
    found.extend(marks::skipped(pins, &files));
    found.extend(taken::names(&files));
    found.extend(taken::twice(&files));
    found.extend(promised::unwritten(absent, changes));
    found.extend(promised::empty(&files, &pins.expected));
    // A file that is gone is reported once.
    let gone: BTreeSet<String> = found
        .iter()
        .filter(|finding| finding.kind == Weakening::DeletedTests)
        .map(|finding| finding.path.clone())
        .collect();
    found.extend(collected::lost(pins, &files, &texts).into_iter().filter(|finding| !gone.contains(&finding.path)));
    found.extend(tables::lost(&files).into_iter().filter(|finding| !gone.contains(&finding.path)));
    let with_subject: BTreeSet<&str> =
        gone.iter().map(String::as_str).filter(|path| with_subject::is_gone_with_subject(path, &texts)).collect();
    found.retain(|finding| finding.kind != Weakening::DeletedTests || !with_subject.contains(finding.path.as_str()));
    let count = |file: &TestFile<'_>| file.before.as_ref().map_or(0, |facts| facts.tests.len());
    let with_subject: usize = files.iter().filter(|file| with_subject.contains(file.path)).map(count).sum();
    found.extend(by_glob::lost(pins, &files, &texts));
    for text in &texts {
        found.extend(settings::changed(pins, text, &texts));
        found.extend(script::changed(pins, text, &texts));
        found.extend(snapshot::changed(text, &texts));
        found.extend(unreadable::added(text));
    }
    found.extend(shadow::added(pins, &texts));
    found.extend(pipeline::changed(&texts));
    found.extend(leaning::changed(pins, &texts));
    found.extend(now.map(|now| other_commands(pins, now)).unwrap_or_default());
    // In a file with another finding, this is a consequence.
    let known: BTreeSet<String> = found.iter().map(|finding| finding.path.clone()).collect();
    let others = texts.iter().filter(|text| !known.contains(text.path));
    found.extend(others.flat_map(|text| running::changed(running, text)));
    found.sort();
    found.dedup();
    let mut inspection = Inspection { rewritten: compared.rewritten + with_subject, ..Inspection::default() };
    for finding in shortened(found) {
        let side = if pins.orders(&finding) { &mut inspection.allowed } else { &mut inspection.findings };
        side.push(finding);
    }
    inspection.may_go = inspection.allowed.iter().any(|finding| pins.allows(&finding.path).is_some())
        || texts.iter().any(|text| {
            text.after.is_none() && role_of(text.path) == Some(Role::Test) && pins.allows(text.path).is_some()
        });
    inspection
}

impl Inspection {
    /// Adds the findings from the test counts, before the unit and after it. Tests that the plan allows to be removed
    /// are not missed.
    pub(crate) fn compare_runs(&mut self, before: &Evidence, after: &Evidence) {
        let fewer = fewer_tests(before, after, self.rewritten);
        let side = if self.may_go { &mut self.allowed } else { &mut self.findings };
        side.extend(fewer);
    }

    /// What to restore in the tree in which the checks run, so that they are the pinned ones.
    pub(crate) fn restoration(&self, work: Work<'_>) -> Restoration {
        Restoration::of(&self.findings, work)
    }
}

impl Restoration {
    /// What to restore for these findings. A file without findings stays as the unit left it.
    pub(crate) fn of(findings: &[Finding], work: Work<'_>) -> Self {
        let mut restoration = Self::default();
        let found: BTreeSet<&str> = findings.iter().map(|finding| finding.path.as_str()).collect();
        let shadows = |path: &str| {
            findings.iter().any(|finding| finding.path == path && finding.kind == Weakening::ShadowedRunner)
        };
        for change in work.changes.iter().filter(|change| found.contains(change.path)) {
            let is_pinned = work.pins.files.contains_key(change.path);
            let path = change.path.to_owned();
            match (change.before, change.after) {
                (Some(_), Some(_)) if is_pinned => match settings::with_pinned(work.pins, &Text::of(change)) {
                    Some(text) => restoration.rewritten.push((path, text)),
                    None => restoration.from_before.push(path),
                },
                (Some(_), _) if is_pinned => restoration.from_before.push(path),
                (None, Some(_)) if role_of(change.path).is_some() || shadows(change.path) => {
                    restoration.without.push(path);
                }
                // Tests inside a source cannot be separated from it.
                _ => {}
            }
        }
        restoration
    }

    /// True if the tree is unchanged.
    pub(crate) fn is_empty(&self) -> bool {
        self.from_before.is_empty() && self.without.is_empty() && self.rewritten.is_empty()
    }
}

/// A file of the diff as text.
#[derive(Clone, Debug)]
struct Text<'a> {
    path: &'a str,
    before: Option<String>,
    after: Option<String>,
}

impl<'a> Text<'a> {
    fn of(change: &FileChange<'a>) -> Self {
        let text = |bytes: Option<&[u8]>| bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        Self { path: change.path, before: text(change.before), after: text(change.after) }
    }

    /// The text before; empty if there was none.
    fn then(&self) -> &str {
        self.before.as_deref().unwrap_or_default()
    }

    /// The text after; empty if the file is gone.
    fn now(&self) -> &str {
        self.after.as_deref().unwrap_or_default()
    }

    fn is_new(&self) -> bool {
        self.before.is_none() && self.after.is_some()
    }

    /// The name of the file without its folder.
    fn name(&self) -> &str {
        file_name(self.path)
    }

    /// The lines that are new, with their numbers.
    fn new_lines(&self) -> Vec<(usize, &str)> {
        let added = lines::added(self.then(), self.now());
        self.now().lines().enumerate().map(|(at, line)| (at + 1, line)).filter(|(at, _)| added.contains(at)).collect()
    }

    /// True if it has a pattern more often than before.
    fn has_more(&self, pattern: &str) -> bool {
        self.now().matches(pattern).count() > self.then().matches(pattern).count()
    }

    fn finding(&self, line: usize, kind: Weakening, what: impl Into<String>) -> Finding {
        Finding::new(self.path, line, kind, what)
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// The folder of a path and the name in it; in the root the folder is empty.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// Resolves a path written relative to a folder.
fn resolved(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "." | "" => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// The part of a text that a message shows, in one line; `instead` replaces characters that cannot be shown.
fn short(text: &str, instead: char) -> String {
    text.chars().take(80).map(|letter| if letter.is_control() || letter == '`' { instead } else { letter }).collect()
}

fn not_as_pinned(pins: &Pins, changes: &[FileChange<'_>]) -> Vec<Finding> {
    let differs = |change: &&FileChange<'_>| {
        let pin = pins.files.get(change.path);
        pin.is_some_and(|pin| change.before.map(Digest::of) != Some(pin.digest))
    };
    let finding = |change: &FileChange<'_>| {
        let what = "it was pinned with another content than the unit started from";
        Finding::new(change.path, 0, Weakening::NotAsPinned, what)
    };
    changes.iter().filter(differs).map(finding).collect()
}

/// Checks that are not discovered any more.
fn other_commands(pins: &Pins, now: &Discovery) -> Vec<Finding> {
    let gone = pins.checks.iter().filter(|check| !now.checks.contains(check));
    gone.map(|check| {
        let refused = now.refused.iter().find(|refused| refused.command == check.command());
        let what =
            refused.map_or_else(|| format!("the check `{check}` is not asked for any more"), ToString::to_string);
        Finding::new("", 0, Weakening::ChangedCommand, what)
    })
    .collect()
}

/// Checks that passed with fewer tests, or with more of them skipped. `rewritten` tests are now cases of others.
fn fewer_tests(before: &Evidence, after: &Evidence, rewritten: usize) -> Vec<Finding> {
    let rewritten = rewritten as u64;
    // A run that was stopped did not finish counting.
    let ran = |command: &str| before.of(command).filter(|run| run.verdict != CheckVerdict::TimedOut);
    let mut found = Vec::new();
    for now in after.checks.iter().filter(|run| run.passed()) {
        let (Some(then), Some(counts)) = (ran(&now.command).and_then(|run| run.counts.as_ref()), &now.counts) else {
            continue;
        };
        if then.ran > counts.ran.saturating_add(rewritten) {
            let what = format!("`{}` ran {} tests, and {} before", now.command, counts.ran, then.ran);
            found.push(Finding::new("", 0, Weakening::FewerTestsRan, what));
        } else if counts.skipped > then.skipped && counts.ran < then.ran {
            let what = format!("`{}` skipped {} tests, and {} before", now.command, counts.skipped, then.skipped);
            found.push(Finding::new("", 0, Weakening::FewerTestsRan, what));
        }
    }
    // A runner that does not report tests any more has run none.
    let is_silent = |command: &str| after.of(command).is_some_and(|run| run.passed() && run.counts.is_none());
    for then in before.checks.iter().filter(|run| is_silent(&run.command)) {
        if let Some(ran) = then.counts.as_ref().map(|counts| counts.ran).filter(|ran| *ran > 0) {
            let what = format!("`{}` reports no test, and {ran} before", then.command);
            found.push(Finding::new("", 0, Weakening::FewerTestsRan, what));
        }
    }
    found
}

/// What these changes do to files that run automatically, whether or not the plan ordered them.
pub(crate) fn that_run(running: &SelfRunning, changes: &[FileChange<'_>]) -> Vec<Finding> {
    let mut found: Vec<Finding> =
        changes.iter().flat_map(|change| running::changed(running, &Text::of(change))).collect();
    found.sort();
    shortened(found)
}

/// The findings, with at most a few of a kind for each file.
fn shortened(found: Vec<Finding>) -> Vec<Finding> {
    let mut kept: Vec<Finding> = Vec::new();
    let mut left_out = 0;
    let mut listed = 0;
    let mut findings = found.into_iter().peekable();
    while let Some(finding) = findings.next() {
        let is_same = |other: &Finding| other.path == finding.path && other.kind == finding.kind;
        listed = if kept.last().is_some_and(is_same) { listed + 1 } else { 1 };
        let is_last = !findings.peek().is_some_and(is_same);
        if listed <= LISTED {
            kept.push(finding);
        } else {
            left_out += 1;
        }
        if is_last && left_out > 0 {
            if let Some(last) = kept.last_mut() {
                last.what.extend([" (and ", &left_out.to_string(), " more)"]);
            }
            left_out = 0;
        }
    }
    kept
}
