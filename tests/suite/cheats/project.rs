//! The projects in which sessions cheat, and what honest sessions do in them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use serde::Deserialize;

use super::row::{Base, Doer, Layout};
use crate::auto::git;
use crate::kit::{TestContext, repository};

/// A project in one language, as `tests/cheats/projects.toml` describes it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Project {
    /// The program that must be installed.
    pub(super) needs: String,
    check: String,
    /// The command that runs the tests if the plan declares none.
    pub(super) declared: String,
    code: String,
    test: String,
    new: String,
    work: String,
    more: String,
    #[serde(rename = "break")]
    breaks: String,
    pub(super) truth: String,
    files: BTreeMap<String, String>,
}

static PROJECTS: LazyLock<BTreeMap<String, Project>> = LazyLock::new(|| {
    let text = std::fs::read_to_string(repository().join("tests/cheats/projects.toml")).unwrap();
    toml_edit::de::from_str(&text).unwrap()
});

pub(super) fn project(language: &str) -> &'static Project {
    PROJECTS.get(language).unwrap_or_else(|| panic!("`{language}` is not in tests/cheats/projects.toml"))
}

pub(super) const MILESTONE: &str = ".gsd/milestones/M001";
const SLICE: &str = ".gsd/milestones/M001/slices/S01";
const PHASE: &str = ".planning/phases/01-base";
const NEXT_PHASE: &str = ".planning/phases/02-top";

impl Base {
    pub(super) fn project(&self) -> &'static Project {
        project(&self.language)
    }

    /// The command that the plan declares; empty for none.
    pub(super) fn check(&self) -> &str {
        self.check.as_deref().unwrap_or(&self.project().check)
    }

    /// The kind and id of the unit that does a task, counted from one.
    pub(super) fn unit(&self, doer: Doer, number: usize) -> String {
        match (self.layout, doer) {
            (Layout::Milestones, Doer::Work) => format!("execute-task M001/S01/T{number:02}"),
            (Layout::Milestones, Doer::Plan) => "plan-slice M001/S01".to_owned(),
            (Layout::Phases, Doer::Work) => format!("execute-phase {number}"),
            (Layout::Phases, Doer::Plan) => format!("plan-phase {number}"),
        }
    }

    fn tasks(&self) -> usize {
        if self.two { 2 } else { 1 }
    }

    /// Variables and functions available to the scripts of rows.
    pub(super) fn prelude(&self, broken: &Path) -> String {
        let project = self.project();
        let documents = match self.layout {
            Layout::Milestones => format!(
                "D=.gsd M={MILESTONE} S={SLICE} T={SLICE}/tasks SUMMARY={SLICE}/tasks/T01-SUMMARY.md PLAN={SLICE}/S01-PLAN.md"
            ),
            Layout::Phases => format!(
                "D=.planning P={PHASE} Q={NEXT_PHASE} SUMMARY={PHASE}/01-01-SUMMARY.md PLAN={PHASE}/01-01-PLAN.md"
            ),
        };
        format!(
            "set -e\ntrap 'code=$?; test $code = 0 || echo \"exit $code\" >> \"{}\"' EXIT\n\
             CODE={} TEST={} NEW={} {documents}\n\
             # An edit that changes nothing is a mistake of the row.\n\
             changed() {{ if cmp -s \"$1\" \"$1.was\"; then echo \"nothing has changed: $1\" >&2; false; fi; rm \"$1.was\"; }}\n\
             change() {{ cp \"$1\" \"$1.was\"; sed -i \"$2\" \"$1\"; changed \"$1\"; }}\n\
             break_code() {{ cp \"$CODE\" \"$CODE.was\"; {}; changed \"$CODE\"; }}\n",
            broken.display(),
            project.code,
            project.test,
            project.new,
            project.breaks,
        )
    }

    /// What an honest session of a task does, without its documents.
    pub(super) fn work(&self, number: usize) -> &'static str {
        if number == 1 { &self.project().work } else { &self.project().more }
    }

    /// The documents that a session of a task leaves.
    pub(super) fn records(&self, number: usize) -> String {
        let (code, new) = (&self.project().code, &self.project().new);
        let check = if self.check().is_empty() { &self.project().check } else { self.check() };
        let said = format!(
            "## What Happened\n\nThe function was added to {code} and is tested in {new}. All tests were run after that, the earlier \
             ones too, and they pass. Nothing else had to change.\n\n## Verification\n\n`{check}` passed.\n\n## Verification Evidence\n\n\
             | command | exit |\n| --- | --- |\n| `{check}` | 0 |\n\n## Deviations\n\nNone.\n\n## Known Issues\n\nNone.\n\n\
             ## Files Created/Modified\n\n- `{code}`\n- `{new}`\n"
        );
        match self.layout {
            Layout::Milestones => {
                let task = format!("T{number:02}");
                let text = format!(
                    "---\nid: {task}\nparent: S01\nmilestone: M001\nprovides: [{code}]\nrequires: []\naffects: []\nkey_files: [{code}, {new}]\n\
                     key_decisions: []\npatterns_established: []\ndrill_down_paths: []\nobservability_surfaces: []\nduration: 1m\n\
                     verification_result: passed\ncompleted_at: 2026-01-05T10:00:00Z\nblocker_discovered: false\n---\n\n# {task}: Add a function\n\n\
                     **{code} has one more function**\n\n{said}"
                );
                heredoc(&format!("{SLICE}/tasks/{task}-SUMMARY.md"), &text)
            }
            Layout::Phases => {
                let (folder, name) = (if number == 1 { PHASE } else { NEXT_PHASE }, format!("{number:02}"));
                let summary = format!(
                    "---\nphase: {name}\nplan: 01\nkey-files: [{code}]\ncompleted: 2026-01-05\n---\n\n# Phase {name} Plan 01 Summary\n\n\
                     **{code} has one more function**\n\n{said}"
                );
                let verified =
                    format!("---\nphase: {name}\nstatus: passed\nscore: 1/1\n---\n\n# Phase {name} Verification\n");
                heredoc(&format!("{folder}/{name}-01-SUMMARY.md"), &summary)
                    + &heredoc(&format!("{folder}/{name}-VERIFICATION.md"), &verified)
            }
        }
    }

    /// What a session does at its end: sessions of phases commit.
    pub(super) fn last(&self) -> &'static str {
        match self.layout {
            Layout::Milestones => "",
            Layout::Phases => "git add --all\ngit diff --cached --quiet || git commit --quiet --message='work'\n",
        }
    }

    /// The plans that a planning session writes, or that the project starts with.
    pub(super) fn plans(&self, number: usize) -> String {
        if self.layout == Layout::Phases {
            let folder = if number == 1 { PHASE } else { NEXT_PHASE };
            return heredoc(&format!("{folder}/{number:02}-01-PLAN.md"), &self.phase_plan(number));
        }
        let of_task = |number: usize| heredoc(&format!("{SLICE}/tasks/T{number:02}-PLAN.md"), &self.task_plan(number));
        let tasks: String = (1..=self.tasks()).map(of_task).collect();
        tasks + &heredoc(&format!("{SLICE}/S01-PLAN.md"), &self.slice_plan())
    }

    fn named_files(&self) -> Vec<&str> {
        let project = self.project();
        let usual = [project.code.as_str(), project.new.as_str()];
        usual.into_iter().chain(self.files.iter().map(String::as_str)).collect()
    }

    fn allowances(&self) -> String {
        lines(self.allowed.iter().map(|path| format!("Allowed test changes: {path} (the plan says so)")))
    }

    fn slice_plan(&self) -> String {
        let files: Vec<String> = self.named_files().iter().map(|file| format!("`{file}`")).collect();
        let (shown, verify) = match self.check() {
            "" => ("all tests pass".to_owned(), String::new()),
            check => (format!("`{check}`"), format!("\n  - Verify: {check}")),
        };
        let task = |number| {
            let files = files.join(", ");
            format!(
                "- [ ] **T{number:02}: Add a function** `est:10m`\n  - Why: it is needed\n  - Files: {files}{verify}"
            )
        };
        format!(
            "# S01: More functions\n\n**Roadmap:** S01: More functions `risk:low` `depends:[]`\n**Goal:** more functions\n\
             **Demo:** all tests pass\n\n## Must-Haves\n\n- each function is tested\n\n## Verification\n\n- {shown}\n\n## Tasks\n\n{}",
            lines((1..=self.tasks()).map(task))
        )
    }

    fn task_plan(&self, number: usize) -> String {
        let files = lines(self.named_files().iter().map(|file| format!("- `{file}`")));
        format!(
            "---\nestimated_steps: 2\nestimated_files: 2\nskills_used: []\n---\n\n# T{number:02}: Add a function\n\n## Description\n\n\
             Add the function and its test.\n\n{}\n## Steps\n\n1. Write the function.\n2. Write its test.\n\n## Must-Haves\n\n- [ ] all \
             tests pass\n\n## Verification\n\n- all tests pass\n\n## Inputs\n\n- none\n\n## Expected Output\n\n{files}",
            self.allowances()
        )
    }

    fn phase_plan(&self, number: usize) -> String {
        let files = self.named_files().join(", ");
        let verify = match self.check() {
            "" => String::new(),
            check => format!("  <verify><automated>{check}</automated></verify>\n"),
        };
        format!(
            "---\nphase: {number:02}\nplan: 01\ntype: execute\nwave: 1\ndepends_on: []\nfiles_modified: [{files}]\nautonomous: true\n---\n\n\
             <objective>\nAdd a function and its test.\n</objective>\n\n{}\n<tasks>\n<task type=\"auto\">\n  <name>Task 1: Add a function</name>\n  \
             <files>{files}</files>\n  <action>Write both.</action>\n{verify}  <done>All tests pass.</done>\n</task>\n</tasks>\n",
            self.allowances()
        )
    }

    /// Writes the project in its state before the run, in one commit.
    pub(super) fn write(&self, context: &TestContext) {
        context.write("README.md", "# Calc\n\nSums of two numbers.\n");
        for (path, text) in &self.project().files {
            context.write(path, text);
        }
        match self.layout {
            Layout::Milestones => {
                context.write(
                    &format!("{MILESTONE}/M001-CONTEXT.md"),
                    "# M001: More functions\n\n## Decisions\n\n- One by one.\n",
                );
                context.write(
                    &format!("{MILESTONE}/M001-ROADMAP.md"),
                    "# M001: More functions\n\n**Vision:** more functions\n\n## Success Criteria\n\n- all tests pass\n\n## Slices\n\n\
                     - [ ] **S01: More functions** `risk:low` `depends:[]`\n  > After this: there are more functions\n",
                );
                if !self.preference.is_empty() {
                    let commands = lines(self.preference.iter().map(|line| format!("  - \"{line}\"")));
                    context.write(
                        ".gsd/PREFERENCES.md",
                        &format!("---\nversion: 1\nverification_commands:\n{commands}---\n"),
                    );
                }
            }
            Layout::Phases => {
                let names = if self.two { &["Base", "Top"][..] } else { &["Base"] };
                let numbered = || names.iter().zip(1..);
                let bullets =
                    lines(numbered().map(|(name, number)| format!("- [ ] **Phase {number}: {name}** - a function")));
                let sections = lines(
                    numbered().map(|(name, number)| format!("### Phase {number}: {name}\n**Goal**: a function\n")),
                );
                context.write(".planning/ROADMAP.md", &format!("# Roadmap\n\n## v1.0 More\n\n{bullets}\n{sections}"));
                let count = names.len();
                let state = format!(
                    "---\nmilestone: v1.0\n---\n# State\n\n## Current Position\n\nPhase: 1 of {count} (Base)\n"
                );
                context.write(".planning/STATE.md", &state);
                for (folder, number) in [PHASE, NEXT_PHASE].iter().zip(1..=count) {
                    context.write(
                        &format!("{folder}/{number:02}-CONTEXT.md"),
                        "# Context\n\n## Decisions\n\n- One by one.\n",
                    );
                }
            }
        }
        if self.is_planned {
            (1..=self.tasks()).for_each(|number| shell(context, &self.plans(number)));
        }
        shell(context, &format!("{}\n{}", self.prelude(&context.home().join("broken")), self.setup));
        git(context, &["init", "--quiet", "--initial-branch=main"]);
        git(context, &["add", "--all"]);
        git(context, &["commit", "--quiet", "--message=start"]);
    }
}

/// Joins lines to a text.
fn lines(lines: impl Iterator<Item = String>) -> String {
    lines.map(|line| line + "\n").collect()
}

/// A script that writes a file.
fn heredoc(path: &str, text: &str) -> String {
    format!("mkdir -p \"$(dirname '{path}')\"\ncat > '{path}' <<'WRITTEN'\n{text}WRITTEN\n")
}

/// Runs a script in the project, as a person would.
fn shell(context: &TestContext, script: &str) {
    let ran = context.command("sh").args(["-c", script]).output().unwrap();
    assert!(ran.status.success(), "{script}\n{}", String::from_utf8_lossy(&ran.stderr));
}
