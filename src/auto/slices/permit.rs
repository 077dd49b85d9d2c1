//! The changes that a session may make to the documents of a project in slices.

use super::replanned::{self, Fixed};
use crate::auto::permit::{DocumentTexts, Permit, Rule, Trespass, decides};
use crate::auto::unit::Unit;
use crate::project::milestone_layout::escalation::Escalation;
use crate::project::milestone_layout::requirements::{Requirement, Requirements};
use crate::project::milestone_layout::roadmap::Roadmap;
use crate::project::milestone_layout::slice_plan::{PlannedTask, SlicePlan};
use crate::project::milestone_layout::{captures, lookup, overrides, record};

/// Returns what every unit may do: add facts with `auto record`.
pub(crate) fn recorded() -> Permit {
    Permit::new(format!("{}/KNOWLEDGE.md", lookup::FOLDER), Rule::Appended)
}

/// Returns what is wrong with the change of a document; `None` if the unit may make it.
pub(crate) fn trespass(
    permits: &[Permit],
    (unit, fixed): (&Unit, &Fixed),
    path: &str,
    texts: DocumentTexts<'_>,
) -> Option<Trespass> {
    let Some(permit) = permits.iter().find(|permit| permit.covers(path)) else {
        return Some(Trespass { path: path.to_owned(), why: None, decides: decides(path) });
    };
    let why = broken(permit.rule, (unit, fixed), path, texts)?;
    let decides = !matches!(permit.rule, Rule::Owners | Rule::Appended);
    Some(Trespass { path: path.to_owned(), why: Some(why), decides })
}

/// Returns how the change breaks the rule.
fn broken(
    rule: Rule,
    (unit, fixed): (&Unit, &Fixed),
    path: &str,
    DocumentTexts { before, after }: DocumentTexts<'_>,
) -> Option<String> {
    let is_begun = |id: &str| fixed.is_begun(id);
    let (old, new) = (before.unwrap_or_default(), after.unwrap_or_default());
    match rule {
        // The second is for projects in phases.
        Rule::Whole | Rule::OwnPhase => None,
        Rule::OpenSlices => replanned::open_slices(&Roadmap::parse(old), &Roadmap::parse(new), fixed, unit),
        Rule::Course => replanned::course(&Roadmap::parse(old), &Roadmap::parse(new), fixed),
        Rule::OpenTasks => open_tasks(&SlicePlan::parse(old), &SlicePlan::parse(new), is_begun),
        Rule::OpenTask => {
            let name = path.rsplit('/').next().unwrap_or(path);
            let id = name.split('-').next().unwrap_or(name);
            is_begun(id).then(|| format!("{id} was begun"))
        }
        Rule::Owners => owners(&Requirements::parse(old), &Requirements::parse(new)),
        Rule::Scopes => scopes(old, new),
        Rule::Classes => captures::beyond_triage(old, new),
        Rule::Question => question(path, before, after),
        Rule::Appended => {
            let mut lines = new.lines();
            let is_kept = |line: &str| line.trim().is_empty() || lines.any(|new| new == line);
            (!old.lines().all(is_kept)).then(|| "lines of it are gone or changed".to_owned())
        }
    }
}

fn open_tasks(old: &SlicePlan, new: &SlicePlan, is_begun: impl Fn(&str) -> bool) -> Option<String> {
    for task in old.tasks.iter().filter(|task| is_begun(&task.id)) {
        let Some(now) = new.task(&task.id) else { return Some(format!("{} was begun and is gone", task.id)) };
        if (PlannedTask { line: task.line, ..now.clone() }) != *task {
            return Some(format!("{} was begun", task.id));
        }
    }
    let ticked = new.tasks.iter().find(|task| task.done && !is_begun(&task.id));
    ticked.map(|task| format!("{} is ticked", task.id))
}

fn owners(old: &Requirements, new: &Requirements) -> Option<String> {
    let rest = |requirements: &Requirements| {
        let entries = requirements.entries.iter().cloned();
        let without = |mut entry: Requirement| {
            (entry.owner, entry.supporting, entry.line) = (None, Vec::new(), 0);
            // `mapped` follows from the owner.
            if matches!(entry.validation.as_str(), "mapped" | "unmapped") {
                entry.validation.clear();
            }
            entry
        };
        entries.map(without).collect::<Vec<_>>()
    };
    (rest(old) != rest(new)).then(|| "more than the owners has changed".to_owned())
}

fn scopes(old: &str, new: &str) -> Option<String> {
    let asked =
        |text: &str| overrides::read(text).into_iter().map(|change| (change.at, change.change)).collect::<Vec<_>>();
    (asked(old) != asked(new)).then(|| "what a person asked for has changed".to_owned())
}

/// A question that a person has answered must stay, and a session must not answer one.
fn question(path: &str, before: Option<&str>, after: Option<&str>) -> Option<String> {
    let is_answered = |text: &str| {
        record::read::<Escalation>(path, text)
            .is_ok_and(|found| found.responded_at.is_some() || found.user_choice.is_some())
    };
    if before.is_some_and(is_answered) {
        return Some("a person has answered it".to_owned());
    }
    after.is_some_and(is_answered).then(|| "only a person answers it".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auto::unit::UnitKind;

    const ROADMAP: &str = "# M001: A\n\n**Vision:** v\n\n## Success Criteria\n\n- it works\n\n## Slices\n\n- [x] **S01: One** `risk:low` \
        `depends:[]`\n- [ ] **S02: Two** `risk:low` `depends:[S01]`\n- [ ] **S03: Three** `risk:low` `depends:[S02]`\n";
    const PLAN: &str = "# S02: Two\n\n**Goal:** g\n\n## Tasks\n\n- [x] **T01: A** `est:10m`\n  - Verify: sh a.sh\n- [ ] **T02: B** \
        `est:10m`\n  - Verify: sh b.sh\n";
    const QUESTION: &str = r#"{"version": 1, "taskId": "T01", "question": "?", "options": [{"id": "a", "label": "x"}], "recommendation": "a"}"#;

    /// A unit for the milestone as a whole.
    fn unit() -> Unit {
        Unit::new(UnitKind::PlanMilestone, "M001")
    }

    fn why(rule: Rule, path: &str, before: &str, after: &str) -> Option<String> {
        let begun = ["S01", "T01"].map(str::to_owned).to_vec();
        let texts = DocumentTexts { before: Some(before), after: Some(after) };
        broken(rule, (&unit(), &Fixed { begun, ..Fixed::default() }), path, texts)
    }

    #[test]
    fn begun_slices_and_tasks_stay_and_no_session_ticks_them() {
        let roadmap =
            |from: &str, to: &str| why(Rule::OpenSlices, "M001-ROADMAP.md", ROADMAP, &ROADMAP.replace(from, to));
        assert_eq!(roadmap("**S02: Two**", "**S02: Other**"), None);
        assert_eq!(roadmap("- [ ] **S03: Three** `risk:low` `depends:[S02]`\n", ""), None);
        assert_eq!(roadmap("- [ ] **S02", "- [ ] **S04: Four** `risk:low` `depends:[S01]`\n- [ ] **S02"), None);
        assert_eq!(roadmap("S01: One", "S01: Other").unwrap(), "S01 was begun");
        assert_eq!(roadmap("- [x] **S01: One** `risk:low` `depends:[]`\n", "").unwrap(), "S01 was begun and is gone");
        assert_eq!(roadmap("- [ ] **S02", "- [x] **S02").unwrap(), "S02 is ticked");
        assert_eq!(roadmap("it works", "it is there").unwrap(), "what the milestone is for has changed");
        let course = why(Rule::Course, "M001-ROADMAP.md", ROADMAP, &ROADMAP.replace("it works", "it is there"));
        assert_eq!(course, None, "a person asked for it");
        let plan = |from: &str, to: &str| why(Rule::OpenTasks, "S02-PLAN.md", PLAN, &PLAN.replace(from, to));
        assert_eq!(plan("T02: B", "T02: C"), None);
        assert_eq!(plan("sh a.sh", "true").unwrap(), "T01 was begun");
        assert_eq!(plan("- [x] **T01: A** `est:10m`\n  - Verify: sh a.sh\n", "").unwrap(), "T01 was begun and is gone");
        assert_eq!(plan("- [ ] **T02", "- [x] **T02").unwrap(), "T02 is ticked");
        assert_eq!(why(Rule::OpenTask, "a/tasks/T02-PLAN.md", "x", "y"), None);
        assert_eq!(why(Rule::OpenTask, "a/tasks/T01-PLAN.md", "x", "y").unwrap(), "T01 was begun");
    }

    #[test]
    fn only_parts_of_requirements_orders_and_questions_may_change() {
        let entry = |owner: &str, title: &str| {
            format!(
                "# Requirements\n\n## Active\n\n### R001 — {title}\n- Class: core\n- Primary owning slice: {owner}\n- Validation: unmapped\n"
            )
        };
        let owners = |owner: &str, title: &str| why(Rule::Owners, "R.md", &entry("none", "Save"), &entry(owner, title));
        assert_eq!(owners("M001/S01", "Save"), None);
        assert_eq!(owners("M001/S01", "Saved").unwrap(), "more than the owners has changed");
        let order = overrides::append("", "2026-01-02T03:04:05Z", "use SQLite");
        assert_eq!(why(Rule::Scopes, "O.md", &order, &overrides::resolve_all(&order)), None);
        assert!(why(Rule::Scopes, "O.md", &order, &order.replace("SQLite", "a file")).is_some());
        assert!(why(Rule::Scopes, "O.md", &order, "").is_some());
        let answered = QUESTION
            .replace("\"recommendation\"", "\"userChoice\": \"a\", \"respondedAt\": \"2026\", \"recommendation\"");
        assert_eq!(question("E.json", None, Some(QUESTION)), None);
        assert_eq!(question("E.json", None, Some(&answered)).unwrap(), "only a person answers it");
        assert_eq!(question("E.json", Some(&answered), Some(QUESTION)).unwrap(), "a person has answered it");
        assert_eq!(question("E.json", Some(&answered), None).unwrap(), "a person has answered it");
        assert_eq!(why(Rule::Appended, "K.md", "# K\n\n| a |\n", "# K\n\n| a |\n| b |\n"), None);
        assert!(why(Rule::Appended, "K.md", "# K\n\n| a |\n", "# K\n\n| b |\n").is_some());
    }

    #[test]
    fn a_change_outside_the_list_is_a_trespass() {
        let permits = [Permit::new(".gsd/S01/tasks/T01-SUMMARY.md", Rule::Whole), recorded()];
        let found = |path: &str| {
            trespass(&permits, (&unit(), &Fixed::default()), path, DocumentTexts { before: None, after: Some("x") })
        };
        assert_eq!(found(".gsd/S01/tasks/T01-SUMMARY.md"), None);
        assert_eq!(found(".gsd/KNOWLEDGE.md"), None);
        assert!(found(".gsd/S01/tasks/T02-SUMMARY.md").unwrap().decides);
        assert!(found(".gsd/PREFERENCES.md").unwrap().decides);
        assert!(!found(".gsd/notes.txt").unwrap().decides);
    }
}
