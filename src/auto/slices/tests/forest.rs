//! Projects of every kind, generated from a list of numbers: milestones, slices and tasks in any state, written in each
//! of the supported forms.

use std::fmt::Write as _;

use proptest::prelude::*;

use super::path;
use crate::auto::preferences::Preferences;
use crate::project::files::MemoryFiles;

/// A source of decisions from numbers; when they are used up, the first choice is taken.
struct Draw {
    numbers: std::vec::IntoIter<u8>,
}

impl Draw {
    /// Returns a number below `most`.
    fn below(&mut self, most: u8) -> u8 {
        self.numbers.next().unwrap_or(0) % most
    }

    /// Returns true once in `most` times.
    fn once_in(&mut self, most: u8) -> bool {
        self.below(most) == most - 1
    }

    fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        let index = self.below(u8::try_from(choices.len()).unwrap());
        choices[usize::from(index)]
    }
}

/// Generates a project and its preferences. Its records can all be parsed.
pub(super) fn forest() -> impl Strategy<Value = (MemoryFiles, Preferences)> {
    proptest::collection::vec(any::<u8>(), 0..700).prop_map(|numbers| {
        let mut draw = Draw { numbers: numbers.into_iter() };
        let preferences = preferences(&mut draw);
        (project(&mut draw), preferences)
    })
}

fn preferences(draw: &mut Draw) -> Preferences {
    let usual = Preferences::default();
    Preferences {
        skip_research: draw.below(2) == 0,
        skip_slice_research: draw.below(2) == 0,
        reassess_after_slice: draw.once_in(2),
        skip_milestone_validation: draw.once_in(3),
        progressive_planning: draw.once_in(2),
        gate_evaluation: draw.once_in(2),
        uat_dispatch: draw.once_in(2),
        is_mechanical: draw.below(2) == 0,
        ..usual
    }
}

fn project(draw: &mut Draw) -> MemoryFiles {
    let mut files = MemoryFiles::default();
    let milestones = draw.below(7);
    for number in 1..=milestones {
        milestone(draw, &mut files, number, milestones);
    }
    if draw.once_in(6) {
        add(&mut files, "OVERRIDES.md", "## Override: 2026-01-02T03:04:05Z\n\n**Change:** x\n\n**Scope:** active\n");
    }
    if draw.once_in(4) {
        add(&mut files, "QUEUE-ORDER.json", "{\"order\":[\"M003\",\"M001\",\"M042\"]}");
    }
    // A few documents are removed.
    for _ in 0..draw.below(3) {
        let index = usize::from(draw.below(64));
        let name = files.texts.keys().nth(index).cloned();
        name.map(|name| files.texts.remove(&name));
    }
    let is_crlf = draw.once_in(3);
    let is_marked = draw.once_in(4);
    for text in files.texts.values_mut().filter(|_| is_crlf) {
        *text = text.replace('\n', "\r\n");
    }
    for text in files.texts.values_mut().filter(|_| is_marked) {
        text.insert(0, '\u{feff}');
    }
    files
}

fn add(files: &mut MemoryFiles, name: &str, text: &str) {
    files.texts.insert(path(name), text.to_owned());
}

/// Returns some of these ids, and sometimes one that does not exist.
fn depends(draw: &mut Draw, letter: char, width: usize, own: u8, all: u8) -> String {
    let mut ids = Vec::new();
    for _ in 0..draw.below(3) {
        // Mostly earlier ones, sometimes any, such as itself.
        let number = if draw.once_in(4) { 1 + draw.below(all + 1) } else { 1 + draw.below(own.max(1)) };
        if number != own || draw.once_in(8) {
            ids.push(format!("{letter}{number:0width$}"));
        }
    }
    ids.join(", ")
}

fn milestone(draw: &mut Draw, files: &mut MemoryFiles, number: u8, all: u8) {
    let id = format!("M{number:03}");
    let depends = depends(draw, 'M', 3, number, all);
    let planning_only = draw.once_in(8);
    let context = format!("---\ndepends_on: [{depends}]\nplanning_only: {planning_only}\n---\n# {id}: Shelf\n");
    let kind = draw.pick(&["CONTEXT", "CONTEXT", "CONTEXT-DRAFT", "NOTES"]);
    add(files, &format!("{id}/{kind}"), &context);
    if draw.once_in(9) {
        add(files, &format!("{id}/PARKED"), "later\n");
    }
    if draw.once_in(3) {
        add(files, &format!("{id}/RESEARCH"), "# R\n");
    }
    if draw.once_in(6) {
        let text = draw.pick(&[
            "# BLOCKER\n",
            "---\nstatus: complete\n---\n",
            "# It is there\n",
            "---\nstatus: failed\n---\n",
        ]);
        add(files, &format!("{id}/SUMMARY"), text);
    }
    if draw.once_in(3) {
        let text = draw.pick(&[
            "---\nverdict: pass\n---\n",
            "---\nverdict: pass\nvalidated_by: mechanical\nevidence_hash: 0\n---\n",
            "---\nverdict: needs-attention\n---\n",
            "---\nverdict: needs-remediation\n---\n",
            "---\nskip_validation: true\n---\n",
            "# Looks good\n",
        ]);
        add(files, &format!("{id}/VALIDATION"), text);
    }
    if draw.below(5) < 4 {
        roadmap(draw, files, &id);
    }
}

fn roadmap(draw: &mut Draw, files: &mut MemoryFiles, milestone: &str) {
    let slices = draw.below(7);
    let form = draw.below(4);
    let mut text = format!("# {milestone}: Shelf\n\n");
    if draw.once_in(5) {
        text.push_str("## Verification Classes\n\n- Operational verification: load\n\n");
    }
    text.push_str(if form == 3 { "" } else { "## Slices\n\n" });
    if form == 2 {
        text.push_str("| ID | Title | Depends | Status |\n|---|---|---|---|\n");
    }
    let most_done = draw.below(slices + 1);
    for number in 1..=slices {
        let id = format!("S{number:02}");
        let is_done = number <= most_done || draw.once_in(9);
        let depends = depends(draw, 'S', 2, number, slices);
        let status = if is_done {
            ""
        } else {
            draw.pick(&["", "", "", "", "", " `status:deferred`", " `status:skipped`", " `[sketch]`"])
        };
        let _ = match form {
            2 => writeln!(text, "| {id} | Part {number} | {depends} | {} |", if is_done { "done" } else { "open" }),
            3 => {
                let done = if is_done { " (Complete)" } else { "" };
                writeln!(text, "## {id}: Part {number}{done}\n\nDepends on: {depends}\n")
            }
            _ => {
                let mark = if is_done { "x" } else { " " };
                writeln!(text, "- [{mark}] **{id}: Part {number}** `risk:low` `depends:[{depends}]`{status}")
            }
        };
        if draw.once_in(6) && form < 2 {
            text.push_str("  > After this: it works\nSomething in between.\n");
        }
        slice(draw, files, milestone, &id, is_done);
    }
    add(files, &format!("{milestone}/ROADMAP"), &text);
}

fn slice(draw: &mut Draw, files: &mut MemoryFiles, milestone: &str, slice: &str, is_done: bool) {
    let here = format!("{milestone}/{slice}");
    if is_done && draw.below(8) < 7 {
        add(files, &format!("{here}/SUMMARY"), "---\nprovides: [a]\n---\n# A\n\n**It works.**\n");
        add(files, &format!("{here}/UAT"), "## UAT Type\n\n- UAT mode: artifact-driven\n");
    }
    for (kind, text) in [
        ("ASSESSMENT", "---\nverdict: no-change\n---\n"),
        ("RESEARCH", "# R\n"),
        ("CONTEXT", "# C\n"),
        ("REPLAN", "# R\n"),
        ("REPLAN-TRIGGER", "**Source:** capture\n"),
        ("CONTINUE", "go on\n"),
        ("UAT-RESULT", "---\nverdict: PASS\n---\n"),
    ] {
        if draw.once_in(5) {
            add(files, &format!("{here}/{kind}"), text);
        }
    }
    if draw.once_in(8) {
        let text = format!("---\nverdict: {}\n---\n", draw.pick(&["FAIL", "PARTIAL"]));
        add(files, &format!("{here}/UAT-RESULT"), &text);
    }
    if draw.once_in(9) {
        add(files, &format!("{here}/GATES.json"), "{\"gates\":[{\"id\":\"Q3\",\"status\":\"pending\"}]}");
    }
    if draw.below(3) < 2 {
        plan(draw, files, &here, slice);
    }
}

fn plan(draw: &mut Draw, files: &mut MemoryFiles, here: &str, slice: &str) {
    let is_heading = draw.once_in(4);
    let tasks = draw.below(7);
    let mut text = format!("# {slice}: Part\n\n## Tasks\n\n");
    let most_done = draw.below(tasks + 1);
    for number in 1..=tasks {
        let id = format!("T{number:02}");
        let is_done = number <= most_done;
        let mark = if is_done { "x" } else { " " };
        let _ = if is_heading {
            writeln!(text, "### {id}: Step {number}\n")
        } else {
            writeln!(text, "- [{mark}] **{id}: Step {number}** `est:10m`")
        };
        if draw.once_in(6) {
            text.push_str("  a line that says nothing\n");
        }
        task(draw, files, &format!("{here}/{id}"), is_done);
    }
    if draw.once_in(9) {
        add(files, &format!("{here}/T99/notes.txt"), "x\n");
    }
    add(files, &format!("{here}/PLAN"), &text);
}

fn task(draw: &mut Draw, files: &mut MemoryFiles, here: &str, is_done: bool) {
    if draw.below(6) < 5 {
        add(files, &format!("{here}/PLAN"), "# P\n");
    }
    if is_done && draw.below(8) < 7 || draw.once_in(9) {
        let blocker = draw.once_in(9);
        let text = format!("---\nprovides: [a]\nblocker_discovered: {blocker}\n---\n# T\n\n**It works.**\n");
        add(files, &format!("{here}/SUMMARY"), &text);
    }
    if is_done && draw.below(4) < 3 || draw.once_in(9) {
        let passed = draw.below(6) < 5;
        let (verdict, code) = if passed { ("pass", 0) } else { ("fail", 1) };
        let record = format!(
            "{{\"passed\":{passed},\"discoverySource\":\"task-plan\",\"checks\":[{{\"command\":\"x\",\"exitCode\":{code},\"durationMs\":1,\"verdict\":\"{verdict}\"}}]}}"
        );
        add(files, &format!("{here}/VERIFY.json"), &record);
    }
    if draw.once_in(12) {
        let record = "{\"version\":1,\"taskId\":\"T01\",\"sliceId\":\"S01\",\"milestoneId\":\"M001\",\"question\":\"?\",\"options\":[{\"id\":\"a\",\"label\":\"A\",\"tradeoffs\":\"x\"},{\"id\":\"b\",\"label\":\"B\",\"tradeoffs\":\"y\"}],\"recommendation\":\"a\",\"recommendationRationale\":\"z\",\"continueWithDefault\":false,\"createdAt\":\"2026-01-02T10:00:00Z\"}";
        add(files, &format!("{here}/ESCALATION.json"), record);
    }
}
