//! `/gsd-code-review N` on a built phase, then `--fix`: once with uncommitted work of the person, once to the end.

use std::fmt::Write as _;

use super::Stage;
use super::agents;
use super::chain::PLANS;
use super::hooks::Phase;
use super::reviewers::{self, Finding, LOUD_SWITCH};
use super::steps;
use crate::play::actor::{Actor, DROPPED};

/// A fix: its finding, its file, the old and the new text, and the subject of its commit.
pub(crate) type Fix = (&'static Finding, &'static str, (&'static str, &'static str), &'static str);

const UNKNOWN_SWITCH: Finding = Finding { id: "CR-01", ..LOUD_SWITCH };

const NOBODY: Finding = Finding {
    id: "WR-01",
    title: "An empty name says goodbye to nobody",
    place: "farewell.py:5",
    issue: "`farewell(\"\")` returns `Goodbye, !`",
    fix: "Refuse an empty name",
};

const LITERAL: Finding = Finding {
    id: "IN-01",
    title: "The switch is spelled twice",
    place: "greet.py:13",
    issue: "`--goodbye` stands in two lines of main",
    fix: "A name for it",
};

const REFUSE_SWITCH: Fix = (
    &UNKNOWN_SWITCH,
    "greet.py",
    (
        "    leaving = \"--goodbye\" in arguments\n",
        "    unknown = [word for word in arguments if word.startswith(\"--\") and word != \"--goodbye\"]\n    if unknown:\n        \
         print(f\"unknown switch {unknown[0]}\", file=sys.stderr)\n        return 2\n    leaving = \"--goodbye\" in arguments\n",
    ),
    "CR-01 refuse unknown switches",
);

const REFUSE_NOBODY: Fix = (
    &NOBODY,
    "farewell.py",
    (
        "    return f\"Goodbye",
        "    if not name:\n        raise ValueError(\"a name is needed\")\n    return f\"Goodbye",
    ),
    "WR-01 refuse an empty name",
);

/// What a run of the fixer does, and what it leaves for which reason.
pub(crate) struct Run {
    pub(crate) iteration: u32,
    pub(crate) fixes: &'static [Fix],
    pub(crate) skipped: &'static [(&'static Finding, &'static str)],
}

impl Run {
    fn status(&self) -> &'static str {
        if self.skipped.is_empty() { "all_fixed" } else { "partial" }
    }
}

pub(crate) fn review_fix(stage: &mut Stage) {
    let phase = || Phase::new(".planning/phases/01-say-goodbye", PLANS);
    stage.has("greet");
    stage.has_approved_gates();
    stage.is_built("01-say-goodbye", PLANS);
    stage.types("code-review", "1", move |it| {
        begin(it);
        steps::review(it, &phase(), "", &[UNKNOWN_SWITCH, NOBODY, LITERAL]);
        it.by("Otherwise findings that are critical or warnings: Next Up");
        "Next Up: /gsd-code-review 1 --fix".to_owned()
    });
    stage.expect_tidy();
    stage.shell("echo '# mine' >> farewell.py");
    stage.types("code-review", "1 --fix", move |it| {
        begin(it);
        let report = load(it, &phase(), "1. Fix from it");
        fix_from(it, &report, true);
        let run = Run { iteration: 1, fixes: &[REFUSE_SWITCH], skipped: &[(&NOBODY, "uncommitted changes")] };
        spawn_fixer(it, &report, run);
        close(it, "");
        it.by("Show fixed, skipped with reason");
        "Next Up: /gsd-verify-work 1".to_owned()
    });
    assert_eq!(stage.shell("git status --porcelain"), " M farewell.py", "the person's change was touched");
    stage.shell("git checkout --quiet farewell.py");
    stage.expect_tidy();
    assert_eq!(stage.shell("python3 greet.py --goodby Ada 2>&1 || true"), "unknown switch --goodby");
    stage.types("code-review", "1 --fix --auto", move |it| {
        begin(it);
        let phase = phase();
        let report = load(it, &phase, "2. Review again");
        steps::review_loaded(it, &phase, &[NOBODY]);
        fix_from(it, &report, false);
        spawn_fixer(it, &report, Run { iteration: 1, fixes: &[REFUSE_NOBODY], skipped: &[] });
        let kept = report.replace("REVIEW.md", "REVIEW.iter1.md");
        it.by("Otherwise rename `{report}`").shell(&format!("mv {report} {kept}")).done();
        let files: Vec<String> = listed(it, &kept);
        steps::spawn_reviewer(it, &phase, &files, &[]);
        it.runs("gsd-tools frontmatter get {report}", &[]).is("status", "clean").done();
        it.by("A clean one, or nothing left in `{scope}`: step 4");
        close(it, &kept);
        "Next Up: /gsd-verify-work 1".to_owned()
    });
    stage.expect_tidy();
    let fixes = stage.shell("git log --format=%s --grep '^fix(01): ' | sort");
    assert_eq!(fixes, "fix(01): CR-01 refuse unknown switches\nfix(01): WR-01 refuse an empty name");
    assert_eq!(stage.shell("git ls-files '*REVIEW*' | wc -l").trim(), "3");
    stage.expect_agreement();
}

fn begin(it: &mut Actor) {
    it.knows("phase", "1");
    it.reads("references/ui.md").done();
}

/// The first step with `--fix`: a report exists, and the person chooses. Returns its path.
fn load(it: &mut Actor, phase: &Phase, choice: &str) -> String {
    let report = steps::load_review(it, phase, "--fix");
    it.reads_section("code-review", "dispatch-fix").expects("# Section: --fix").done();
    it.runs("gsd-tools frontmatter get {report}", &[]).is("status", "issues_found").done();
    let commit = it.by("the commit of the report").shell(&format!("git log -1 --format=%h -- {report}"));
    let files = listed(it, &report).join(" ");
    let since = [("the commit of the report", commit.text.trim()), ("its files_reviewed_list", files.as_str())];
    let changed = it.runs("git log --oneline", &since).text;
    let is_fresh = !changed.contains("fix(01)");
    assert_eq!(is_fresh, choice.ends_with("Fix from it"), "which is recommended? {changed}");
    it.by("ask **Fix from it**").asks("REVIEW.md is there.\n1. Fix from it\n2. Review again", choice);
    report
}

/// The files that a report covered.
fn listed(it: &mut Actor, report: &str) -> Vec<String> {
    let text = it.by("files_reviewed_list").reads_file(report).text;
    let files = text.split("files_reviewed_list:").nth(1).and_then(|rest| rest.split("findings:").next()).unwrap();
    files.split_whitespace().filter(|word| word.contains('.')).map(str::to_owned).collect()
}

/// The check of `workflows/code-review-fix.md`; the person may have changed a file.
pub(crate) fn fix_from(it: &mut Actor, report: &str, is_changed: bool) {
    it.reads("workflows/code-review-fix.md").expects("# Code review fix").done();
    it.knows("fixed", &report.replace("REVIEW.md", "REVIEW-FIX.md"));
    it.runs("gsd-tools frontmatter get {report}", &[]).is("status", "issues_found").done();
    let status = it.runs("git status --short", &[]);
    if is_changed {
        status.expects("farewell.py").done();
        it.by("ask **Commit them first**")
            .asks("farewell.py has changes.\n1. Commit them first\n2. Continue", "2. Continue");
    } else {
        status.lacks(".py").done();
    }
    it.by("else `critical_warning`").knows("scope", "critical_warning");
}

/// Its second step.
pub(crate) fn spawn_fixer(it: &mut Actor, report: &str, run: Run) {
    let model = it.runs("gsd-tools resolve-model gsd-code-fixer --raw", &[]).text.trim().to_owned();
    it.knows("model", &model);
    let iteration = run.iteration.to_string();
    let fills = [("n, from 1", iteration.as_str()), ("from iteration 2 on", DROPPED)];
    let (report, fixed, status) = (report.to_owned(), it.known("fixed"), run.status());
    let spawn = it.spawn("=\"gsd-code-fixer\"", &fills, move |it| code_fixer(it, &report, &fixed, &run));
    it.sends(spawn).done();
    it.runs("gsd-tools frontmatter get {fixed}", &[]).is("status", status).done();
}

/// The reason why a finding is left for a person.
pub(crate) const DECISION: &str = "needs a decision";

/// gsd-code-fixer: a commit for each finding.
fn code_fixer(it: &mut Actor, report: &str, fixed: &str, run: &Run) -> String {
    reviewers::begins(it);
    it.reads("templates/review-fix.md").done();
    it.reads("references/commit-rules.md").done();
    it.runs("git status --short", &[]).done();
    let mut sections = String::new();
    for (finding, path, (old, new), subject) in run.fixes {
        it.by("Read the file around the place").reads_file(path).done();
        it.by("Make the smallest change that removes the cause").edits(path, old, new);
        it.by("the tests that cover it").shell("python3 -m unittest").expects("OK").done();
        let to_see = if finding.title.contains("key") {
            it.by("A key that stands in the code is read from the environment")
                .by("say for a person that it has to be revoked");
            "the key has to be revoked before anything is pushed"
        } else {
            "it refuses what it took before"
        };
        it.by("Commit the files of this finding");
        let hash = agents::commit(it, &[path], &format!("fix(01): {subject}"));
        write!(
            sections,
            "\n### {}: {}\n\n**Files:** `{path}`\n**Commit:** `{hash}`\n**Change:** {subject}\n**Checked by:** python3 -m \
             unittest, OK\n**For a person:** {to_see}\n",
            finding.id, finding.title
        )
        .unwrap();
    }
    sections += "\n## Skipped\n";
    for (finding, reason) in run.skipped {
        it.by(match *reason {
            DECISION => {
                "A fix that needs a decision, a new package, a migration or a change of interface for others: skipped"
            }
            _ => "A file with uncommitted changes that are not yours",
        });
        write!(
            sections,
            "\n### {}: {}\n\n**File:** `{}`\n**Reason:** {reason}\n",
            finding.id, finding.title, finding.place
        )
        .unwrap();
    }
    let (count, skipped) = (run.fixes.len(), run.skipped.len());
    let text = format!(
        "---\nphase: 01-say-goodbye\nfixed_at: 2026-01-06T11:00:00Z\nreview_path: {report}\niteration: {}\n\
         fix_scope: critical_warning\nfindings_in_scope: {}\nfixed: {count}\nskipped: {skipped}\nstatus: {}\n---\n\n\
         # Phase 1: Say Goodbye Code Review Fixes\n\n## Fixed\n{sections}",
        run.iteration,
        count + skipped,
        run.status(),
    );
    it.by("Write the file the prompt names by the template").writes(fixed, &text);
    format!("{fixed}\n{}", run.status())
}

/// Its last step; `kept` is the report of an earlier round.
fn close(it: &mut Actor, kept: &str) {
    record(it, kept);
    it.by("after `roadmap_complete` of the phase").runs("gsd-tools roadmap analyze", &[]).done();
}

/// As [`close`], as a step of the execution of a phase.
pub(crate) fn record(it: &mut Actor, kept: &str) {
    it.runs("gsd-tools gate run test", &[]).is("status", "passed").done();
    let renamed = it.known("report").replace("REVIEW.md", "REVIEW.iter1.md");
    it.by("With the last path once for each report that step 3 renamed");
    it.runs("add code review fix report", &[("n", "1"), (&renamed, kept)]).is("committed", true).done();
}
