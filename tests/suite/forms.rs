//! Documents made from our templates as the texts say: placeholders filled, lists as long as needed, all else
//! unchanged.

use crate::kit::repository;

/// The answers of a person and the agents about a new project.
#[derive(Debug)]
pub(crate) struct NewProject {
    pub(crate) name: &'static str,
    pub(crate) milestone: &'static str,
    pub(crate) core_value: &'static str,
    pub(crate) date: &'static str,
    pub(crate) phases: &'static [NewPhase],
}

#[derive(Debug)]
pub(crate) struct NewPhase {
    pub(crate) name: &'static str,
    pub(crate) line: &'static str,
    pub(crate) goal: &'static str,
    /// True if the phase is a slice that a user can try.
    pub(crate) mvp: bool,
    /// Id and text.
    pub(crate) requirements: &'static [(&'static str, &'static str)],
    pub(crate) criteria: &'static [&'static str],
}

fn template(name: &str) -> String {
    std::fs::read_to_string(repository().join("templates").join(name)).unwrap()
}

/// `form` with each placeholder replaced by its value; a placeholder is given by its first words.
fn filled(form: &str, values: &[(&str, &str)]) -> String {
    let mut text = form.to_owned();
    for (begin, value) in values {
        while let Some(open) = text.find(&format!("{{{begin}")) {
            let close = open + text[open..].find('}').unwrap();
            text.replace_range(open..=close, value);
        }
    }
    assert!(!text.contains('{'), "a placeholder is left: {text}");
    text
}

impl NewProject {
    /// STATE.md made with `templates/state.md`.
    pub(crate) fn state(&self) -> String {
        let phases = self.phases.len().to_string();
        let values = [
            ("Milestone name", self.milestone),
            ("N}", &phases),
            ("date", self.date),
            ("from PROJECT.md", self.core_value),
            ("Name", self.phases[0].name),
        ];
        filled(&template("state.md"), &values)
    }

    /// ROADMAP.md made with the form in `templates/roadmap.md`.
    pub(crate) fn roadmap(&self) -> String {
        let page = template("roadmap.md");
        let form = page.split_once("```markdown\n").and_then(|(_, rest)| rest.split_once("```\n")).unwrap().0;
        let (head, rest) = form.split_once("### Phase 1: {Name}\n").unwrap();
        let (section, tail) = rest.split_once("---\n").unwrap();
        let mut text = String::new();
        for line in head.lines().filter(|line| !line.starts_with("- [ ] **Phase 2:")) {
            self.repeat(line, line.starts_with("- [ ] **Phase 1:"), &mut text);
        }
        for (at, phase) in self.phases.iter().enumerate() {
            text.push_str(&phase.section(at + 1, section));
        }
        text.push_str("---\n");
        for line in tail.lines() {
            self.repeat(line, line.starts_with("| 1. "), &mut text);
        }
        let phases = self.phases.len().to_string();
        let values = [
            ("Project name", self.name),
            ("Milestone name", self.milestone),
            ("One paragraph", "One step after the other."),
            ("N}", &phases),
        ];
        filled(&text, &values)
    }

    /// Appends a line once, or for each phase.
    fn repeat(&self, line: &str, each: bool, text: &mut String) {
        for (at, phase) in self.phases.iter().enumerate().take(if each { self.phases.len() } else { 1 }) {
            let number = at + 1;
            let line = line.replace("Phase 1:", &format!("Phase {number}:")).replace("| 1. ", &format!("| {number}. "));
            text.push_str(&line.replace("{Name}", phase.name).replace("{one line}", phase.line));
            text.push('\n');
        }
    }

    /// REQUIREMENTS.md made with `templates/requirements.md`; without rows in Traceability, or with them.
    pub(crate) fn requirements(&self, traced: bool) -> String {
        let all: Vec<(usize, &str, &str)> = self
            .phases
            .iter()
            .enumerate()
            .flat_map(|(at, phase)| phase.requirements.iter().map(move |(id, text)| (at + 1, *id, *text)))
            .collect();
        let mut text = String::new();
        for line in template("requirements.md").lines() {
            let each = |form: &dyn Fn(&(usize, &str, &str)) -> String| all.iter().map(form).collect::<String>();
            if line.starts_with("- [ ] **{CAT}-01**") {
                text.push_str(&each(&|(_, id, wanted)| format!("- [ ] **{id}**: User can {wanted}\n")));
            } else if line.starts_with("| {CAT}-01 |") {
                let row = |(phase, id, _): &(usize, &str, &str)| {
                    format!("{}\n", line.replace("{CAT}-01", id).replace("{N}", &phase.to_string()))
                };
                text.push_str(&if traced { each(&row) } else { String::new() });
            } else {
                text.push_str(line);
                text.push('\n');
            }
        }
        let (count, none) = (all.len().to_string(), "0");
        let (mapped, unmapped) = if traced { (count.as_str(), none) } else { (none, count.as_str()) };
        let text = text.replace("Mapped to phases: {n}", &format!("Mapped to phases: {mapped}"));
        let text = text.replace("Unmapped: {n}", &format!("Unmapped: {unmapped}"));
        let values = [
            ("Project name", self.name),
            ("date", self.date),
            ("from PROJECT.md", self.core_value),
            ("Category", "Commands"),
            ("CAT", "LATER"),
            ("wanted", "Greet from a file"),
            ("feature", "Other languages"),
            ("why not", "nobody asked"),
            ("n}", &count),
            ("event", "definition"),
        ];
        filled(&text, &values)
    }
}

impl NewPhase {
    fn section(&self, number: usize, form: &str) -> String {
        let ids: Vec<&str> = self.requirements.iter().map(|(id, _)| *id).collect();
        let mut lines = vec![format!("### Phase {number}: {}", self.name)];
        for line in form.lines() {
            let begins = |words: &str| line.starts_with(words);
            let left_out = begins("**Mode:**") && !self.mvp || begins("**UI hint**") || begins("Canonical refs");
            if begins("1. {") {
                lines.extend(self.criteria.iter().enumerate().map(|(at, text)| format!("{}. {text}", at + 1)));
            } else if !left_out && !begins("2. {") {
                lines.push(match line {
                    _ if begins("**Goal**") => format!("**Goal**: {}", self.goal),
                    _ if begins("**Depends on**") && number > 1 => format!("**Depends on**: Phase {}", number - 1),
                    _ if begins("**Requirements**") => format!("**Requirements**: [{}]", ids.join(", ")),
                    line => line.to_owned(),
                });
            }
        }
        lines.push(String::new());
        lines.join("\n")
    }
}

mod tests {
    use super::{NewPhase, NewProject};
    use crate::kit::TestContext;

    const NOTES: NewProject = NewProject {
        name: "Notes",
        milestone: "First",
        core_value: "Notes never get lost.",
        date: "2026-01-05",
        phases: &[
            NewPhase {
                name: "Keep",
                line: "notes are kept",
                goal: "Notes are kept",
                mvp: false,
                requirements: &[("NOTE-01", "keep a note"), ("NOTE-02", "read a note")],
                criteria: &["A note is there again", "It reads as it was written"],
            },
            NewPhase {
                name: "Find",
                line: "notes are found",
                goal: "Notes are found",
                mvp: true,
                requirements: &[("FIND-01", "find a note")],
                criteria: &["A word finds its note", "Another does not"],
            },
        ],
    };

    const FOLDER: &str = ".planning/phases/01-keep";

    /// The documents in the state that the agents leave, in a repository.
    fn project() -> TestContext {
        let context = TestContext::new();
        context.write(".planning/PROJECT.md", "# Notes\n\n## Core Value\n\nNotes never get lost.\n");
        context.write(".planning/ROADMAP.md", &NOTES.roadmap());
        context.write(".planning/STATE.md", &NOTES.state());
        context.write(".planning/REQUIREMENTS.md", &NOTES.requirements(true));
        git(&context, &["init", "--quiet"]);
        git(&context, &["add", "-A"]);
        git(&context, &["commit", "--quiet", "-m", "docs: start"]);
        context
    }

    fn git(context: &TestContext, arguments: &[&str]) {
        assert!(context.command("git").args(arguments).status().unwrap().success(), "git {arguments:?}");
    }

    fn body(text: &str) -> Vec<String> {
        let body =
            text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")).map_or(text, |(_, body)| body);
        body.lines().map(str::to_owned).collect()
    }

    /// Runs a command; returns the removed and added lines of STATE.md and ROADMAP.md, without front matter.
    fn changes(context: &TestContext, call: &str) -> Vec<String> {
        let read = || ["STATE.md", "ROADMAP.md"].map(|file| context.read(&format!(".planning/{file}")));
        let before = read();
        let clock = [("GSD_TEST_MODE", "1"), ("GSD_NOW_MS", "1768500000000")];
        let _ = context.gsd_with(call.split(' '), &clock, "").success();
        let mut changes = Vec::new();
        for (before, after) in before.iter().zip(read()) {
            let (before, after) = (body(before).join("\n"), body(&after).join("\n"));
            for change in similar::TextDiff::from_lines(&before, &after).iter_all_changes() {
                let line = change.value().trim_end();
                match change.tag() {
                    similar::ChangeTag::Delete => changes.push(format!("-{line}")),
                    similar::ChangeTag::Insert => changes.push(format!("+{line}")),
                    similar::ChangeTag::Equal => {}
                }
            }
        }
        changes
    }

    #[test]
    fn documents_made_from_our_templates_are_valid() {
        let context = project();
        for check in [&["state", "validate"][..], &["roadmap", "validate"], &["validate", "consistency"]] {
            let answer = context.gsd_with(check, &[], "").json();
            assert_eq!(answer["warnings"], serde_json::json!([]), "{check:?}: {answer:#}");
        }
        let analyzed = context.gsd(["roadmap", "analyze"]).json();
        assert_eq!((&analyzed["scope"], &analyzed["phase_count"]), (&"complete".into(), &2.into()), "{analyzed:#}");
        assert_eq!(analyzed["missing_phase_details"], serde_json::Value::Null);
        let phases: Vec<_> = analyzed["phases"].as_array().unwrap().iter().map(|phase| &phase["mode"]).collect();
        assert_eq!(phases, [&serde_json::Value::Null, &"mvp".into()]);
    }

    /// A verb changes values of a fresh document, never the form of its lines.
    #[test]
    fn the_first_verbs_keep_the_form_of_a_fresh_document() {
        let context = project();
        context.write(&format!("{FOLDER}/01-01-PLAN.md"), "---\nwave: 1\n---\n\n# Plan\n");
        assert_eq!(
            changes(&context, "state planned-phase --phase 1 --plans 1"),
            [
                "-Phase: 1 of 2 (Keep) — READY TO PLAN",
                "+Phase: 1 of 2 (Keep) — READY TO EXECUTE",
                "-Status: Ready to plan",
                "-Last activity: 2026-01-05 — Roadmap created",
                "+Status: Ready to execute",
                "+Last activity: 2026-01-15 — Phase 1 planning complete",
                "-**Plans**: TBD",
                "+**Plans**: 1 plan",
                "+Plans:",
                "+- [ ] 01-01-PLAN.md",
                "+",
                "-| 1. Keep | 0/TBD | Not started | - |",
                "+| 1. Keep | 0/1 | Planned | - |",
            ]
        );
        assert_eq!(
            changes(&context, "state begin-phase --phase 1"),
            [
                "-Phase: 1 of 2 (Keep) — READY TO EXECUTE",
                "-Plan: Not started",
                "-Status: Ready to execute",
                "-Last activity: 2026-01-15 — Phase 1 planning complete",
                "+Phase: 1 of 2 (Keep) — EXECUTING",
                "+Plan: 1 of 1",
                "+Status: Executing Phase 1",
                "+Last activity: 2026-01-15 — Phase 1 execution started",
            ]
        );
        context.write(&format!("{FOLDER}/01-01-SUMMARY.md"), "---\nstatus: complete\n---\n\n# Done\n");
        context.write(&format!("{FOLDER}/01-VERIFICATION.md"), "---\nstatus: passed\n---\n\n# Checked\n");
        assert_eq!(
            changes(&context, "phase complete 1"),
            [
                "-**Current focus:** Phase 1 — Keep",
                "+**Current focus:** Phase 2 — Find",
                "-Phase: 1 of 2 (Keep) — EXECUTING",
                "-Plan: 1 of 1",
                "-Status: Executing Phase 1",
                "-Last activity: 2026-01-15 — Phase 1 execution started",
                "+Phase: 2 of 2 (Find) — READY TO PLAN",
                "+Plan: Not started",
                "+Status: Ready to plan",
                "+Last activity: 2026-01-15 — Phase 1 complete, transitioned to Phase 2",
                "-Progress: [░░░░░░░░░░] 0%",
                "+Progress: [█████░░░░░] 50%",
                "-- Total plans completed: 0",
                "+- Total plans completed: 1",
                "+| 1 | 1 | - | - |",
                "-Stopped at: Roadmap created",
                "+Stopped at: Phase 1 complete, ready to plan Phase 2",
                "-- [ ] **Phase 1: Keep** - notes are kept",
                "+- [x] **Phase 1: Keep** - notes are kept (completed 2026-01-15)",
                "-- [ ] 01-01-PLAN.md",
                "+- [x] 01-01-PLAN.md",
                "-| 1. Keep | 0/1 | Planned | - |",
                "+| 1. Keep | 1/1 | Complete    | 2026-01-15 |",
            ]
        );
    }

    /// The words that the template names for the status of a phase are those that the program writes.
    #[test]
    fn the_status_words_of_the_roadmap_are_those_of_the_program() {
        let page = super::template("roadmap.md");
        let line = page.lines().find_map(|line| line.strip_prefix("- Status: ")).unwrap();
        let named: Vec<&str> = line.split_once(';').unwrap().0.split(", ").collect();
        let context = project();
        let row = |context: &TestContext| {
            let roadmap = context.read(".planning/ROADMAP.md");
            let row = roadmap.lines().find(|line| line.starts_with("| 1. Keep")).unwrap();
            row.split('|').nth(3).unwrap().trim().to_owned()
        };
        let mut written = vec![row(&context)];
        for number in [1, 2] {
            context.write(&format!("{FOLDER}/01-0{number}-PLAN.md"), "---\nwave: 1\n---\n\n# Plan\n");
        }
        let _ = changes(&context, "state planned-phase --phase 1 --plans 2");
        written.push(row(&context));
        for number in [1, 2] {
            context.write(&format!("{FOLDER}/01-0{number}-SUMMARY.md"), "---\nstatus: complete\n---\n\n# Done\n");
            let _ = changes(&context, "roadmap update-plan-progress 1");
            written.push(row(&context));
        }
        context.write(&format!("{FOLDER}/01-VERIFICATION.md"), "---\nstatus: passed\n---\n\n# Checked\n");
        let _ = changes(&context, "phase complete 1");
        written.push(row(&context));
        written.dedup();
        assert_eq!(written, named);
    }
}
