//! The agents that examine a phase beyond its plans and its goal, each as its text says.

use std::fmt::Write as _;

use crate::play::actor::Actor;

use super::agents::{Plan, numbered};

/// A finding of a reviewer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finding {
    /// Such as `WR-01`.
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    pub(crate) place: &'static str,
    pub(crate) issue: &'static str,
    pub(crate) fix: &'static str,
}

impl Finding {
    /// The section of the report, and the key of its count.
    fn level(&self) -> (&'static str, &'static str) {
        match &self.id[..2] {
            "CR" => ("Critical Issues", "critical"),
            "WR" => ("Warnings", "warning"),
            _ => ("Info", "info"),
        }
    }
}

/// The finding in a phase for which no close review was requested.
pub(crate) const LOUD_SWITCH: Finding = Finding {
    id: "WR-01",
    title: "A switch that nobody knows is greeted",
    place: "greet.py:14",
    issue: "`python3 greet.py --goodby Ada` greets `--goodby`",
    fix: "Refuse words that begin with two hyphens and are not `--goodbye`",
};

/// How each of them begins.
pub(crate) fn begins(it: &mut Actor) {
    it.by("Read every path under `<required_reading>`").reads_listed("<required_reading>", "</required_reading>");
    it.by("the project instruction file").reads_file("CLAUDE.md").done();
}

/// gsd-pattern-mapper: the new files are modelled on existing ones.
pub(crate) fn pattern_mapper(it: &mut Actor, folder: &str, plans: &'static [&'static Plan]) -> String {
    let (number, _) = numbered(folder);
    it.knows("N", number.trim_start_matches('0'));
    let documents: Vec<String> =
        ["CONTEXT", "RESEARCH"].iter().map(|kind| format!("{folder}/{number}-{kind}.md")).collect();
    let there: Vec<&String> = documents.iter().filter(|path| it.has_file(path)).collect();
    for path in &there {
        it.by("Of the phase directory CONTEXT.md, RESEARCH.md").reads_file(path).done();
    }
    if there.is_empty() {
        it.runs("gsd-tools roadmap get-phase {N}", &[]).done();
    }
    it.by("the project instruction file").reads_file("CLAUDE.md").done();
    it.reads("templates/patterns.md").done();
    it.runs("git ls-files", &[]).expects("greet.py").done();
    for path in ["greet.py", "test_greet.py"] {
        it.by("Read each once, the parts that matter").reads_file(path).done();
    }
    let mut files: Vec<&str> = plans.iter().flat_map(|plan| plan.files()).collect();
    files.sort_unstable();
    files.dedup();
    let row = |file: &&str| {
        let is_test = file.starts_with("test_");
        let like = if is_test { "test | pure | test_greet.py | exact" } else { "module | pure | greet.py | role" };
        format!("| {file} | new | {like} |")
    };
    let rows: Vec<String> = files.iter().map(row).collect();
    let text = format!(
        "# Phase {number} - Patterns\n\n**Mapped:** 2026-01-05\n\n## File Classification\n\n\
         | File | New or changed | Role | Data flow | Closest analog | Match |\n|---|---|---|---|---|---|\n{}\n\n\
         ## Pattern Assignments\n\n### `farewell.py`\n\n**Analog:** `greet.py`\n\n`greet.py:6-7`: a plain function.\n\n\
         ## Shared Patterns\n\n### unittest\n\n**Source:** `test_greet.py:1-10`   **Applies to:** every test\n\n\
         ## No Analog Found\n\n| File | Role | Why | Instead |\n|---|---|---|---|\n\n## Metadata\n\ntwo files read\n",
        rows.join("\n")
    );
    let path = format!("{folder}/{number}-PATTERNS.md");
    it.by("You write `{NN}-PATTERNS.md` in the phase directory").writes(&path, &text);
    format!("## PATTERN MAPPING COMPLETE\n{path}: {} files, none without analog", files.len())
}

/// gsd-code-reviewer with these findings.
pub(crate) fn code_reviewer(
    it: &mut Actor,
    phase: &str,
    files: &[String],
    report: &str,
    findings: &[Finding],
) -> String {
    begins(it);
    it.reads("templates/review.md").done();
    for file in files {
        it.by("read every file of the list whole").reads_file(file).done();
    }
    it.by("Write the file the prompt names by the template").writes(report, &review(phase, files, findings));
    let counted = format!("total: {}", findings.len());
    it.by("Read it back and compare the counts").reads_file(report).expects(&counted).done();
    format!("{report}\n{}\n{counted}", if findings.is_empty() { "clean" } else { "issues_found" })
}

fn review(phase: &str, files: &[String], findings: &[Finding]) -> String {
    let count = |level: &str| findings.iter().filter(|finding| finding.level().1 == level).count();
    let status = if findings.is_empty() { "clean" } else { "issues_found" };
    let list: Vec<String> = files.iter().map(|file| format!("  - {file}\n")).collect();
    let mut body = String::new();
    for heading in ["Critical Issues", "Warnings", "Info"] {
        let of_level: Vec<&Finding> = findings.iter().filter(|finding| finding.level().0 == heading).collect();
        if of_level.is_empty() {
            continue;
        }
        writeln!(body, "\n## {heading}").unwrap();
        for Finding { id, title, place, issue, fix } in of_level {
            writeln!(body, "\n### {id}: {title}\n\n**File:** `{place}`\n**Issue:** {issue}\n**Fix:** {fix}").unwrap();
        }
    }
    format!(
        "---\nphase: {phase}\nreviewed: 2026-01-06T10:00:00Z\ndepth: standard\nfiles_reviewed: {n}\nfiles_reviewed_list:\n{list}\
         findings:\n  critical: {critical}\n  warning: {warning}\n  info: {info}\n  total: {total}\nstatus: {status}\n---\n\n\
         # Phase {phase} Code Review\n\n**Reviewed:** 2026-01-06\n**Depth:** standard\n**Files:** {n}\n**Status:** {status}\n\n\
         ## Summary\n\nEvery file of the phase, read whole.\n{body}",
        n = files.len(),
        list = list.concat(),
        critical = count("critical"),
        warning = count("warning"),
        info = count("info"),
        total = findings.len(),
    )
}

pub(crate) const TEST_OF_README_RUN: &str = "python3 -m unittest test_readme";

const TEST_OF_README: &str = "import pathlib\nimport unittest\n\n\nclass Readme(unittest.TestCase):\n    \
    def test_it_shows_both_calls(self):\n        readme = pathlib.Path(\"README.md\").read_text()\n        \
    self.assertIn(\"python3 greet.py Ada\", readme)\n        \
    self.assertIn(\"python3 greet.py --goodbye Ada\", readme)\n";

/// gsd-nyquist-auditor on a README that no test compares with the program.
pub(crate) fn nyquist_auditor(it: &mut Actor) -> String {
    begins(it);
    for path in ["README.md", "test_greet.py"] {
        it.by("the files that implement each gap, and two or three tests").reads_file(path).done();
    }
    let test = "test_readme.py";
    it.by("See it fail once: against a wrong expectation");
    it.by("Write the smallest test of it").writes(test, &TEST_OF_README.replace("--goodbye Ada", "--goodbye Nobody"));
    let run = "Run only this test, with a time limit";
    it.even_if_it_fails().by(run).shell(TEST_OF_README_RUN).expects("FAILED").done();
    it.by("Put back what you changed").writes(test, TEST_OF_README);
    it.by(run).shell(TEST_OF_README_RUN).expects("OK").done();
    it.by("Commit nothing");
    format!(
        "## GAPS FILLED\nTests: {test}   Run with: {TEST_OF_README_RUN}   Result: 1/1\n\
         | Gap | Requirement | Test file | Command | State |\n|---|---|---|---|---|\n\
         | 1 | FARE-03 | {test} | {TEST_OF_README_RUN} | filled |"
    )
}

/// gsd-security-auditor on one low threat whose mitigation does not exist.
pub(crate) fn security_auditor(it: &mut Actor) -> String {
    begins(it);
    it.reads("references/security-asvs-levels.md").done();
    it.by("the control at `path:line`, on every path").reads_file("greet.py").done();
    "## SECURED\nChecked: 1   Closed: 0   Open: 1, of these at or above block-on: 0   Level: 1\n\
     | Threat | Severity | Disposition | State | Evidence |\n|---|---|---|---|---|\n\
     | T-01-01 | low | mitigate | OPEN | greet.py prints the name as it is |\nNew: none"
        .to_owned()
}
