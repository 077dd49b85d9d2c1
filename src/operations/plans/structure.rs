//! Checks of one plan and of one phase: structure, references, must-haves, completeness. A bad document is an answer.

use schemars::JsonSchema;
use serde::Serialize;

use super::absences;
use crate::operations::documents::frontmatter::{PLAN_FIELDS, nul_byte};
use crate::project::files::FileError;
use crate::project::phase::PhaseId;
use crate::project::plan::{PhasePlan, PlanTask};
use crate::project::requirements::Requirements;
use crate::project::view::ProjectView;
use crate::text::front_matter::Value;

/// What `verify plan-structure` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StructureReport {
    pub(crate) valid: bool,
    pub(crate) errors: Vec<String>,
    pub(crate) warnings: Vec<String>,
    pub(crate) task_count: usize,
    pub(crate) tasks: Vec<TaskReport>,
    pub(crate) frontmatter_fields: Vec<String>,
}

/// What a task has.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaskReport {
    pub(crate) name: String,
    pub(crate) r#type: String,
    pub(crate) has_files: bool,
    pub(crate) has_action: bool,
    pub(crate) has_verify: bool,
    pub(crate) has_done: bool,
}

/// Whether a plan has the fields and the tasks have the parts that an executor needs. `path` names it in errors;
/// `requirements` are those of the project, none where it keeps no list.
pub(crate) fn structure(path: &str, text: &str, requirements: Option<&Requirements<'_>>) -> StructureReport {
    let plan = PhasePlan::parse(text);
    let missing = PLAN_FIELDS.iter().filter(|field| !plan.has(field));
    let mut errors: Vec<String> = missing.map(|field| format!("Missing required frontmatter field: {field}")).collect();
    errors.extend(nul_byte(path, text));
    let mut warnings = Vec::new();
    if let Some(requirements) = requirements {
        let known = requirements.ids();
        let is_known = |id: &String| known.iter().any(|known| known.eq_ignore_ascii_case(id.trim()));
        let unknown = plan.requirements().into_iter().filter(|id| !is_known(id));
        warnings.extend(unknown.map(|id| format!("Requirement '{id}' is not in REQUIREMENTS.md")));
    }
    let tasks = plan.tasks();
    for task in &tasks {
        check_task(task, &mut errors, &mut warnings);
    }
    if tasks.is_empty() {
        warnings.push("No <task> elements found".to_owned());
    }
    let (contradicted, risky) = absences::contradictions(text, &tasks);
    errors.extend(contradicted);
    warnings.extend(risky);
    warnings.extend(unconfirmed(&tasks));
    let waits_for_nothing =
        matches!(plan.value("depends_on"), None | Some(Value::List(_))) && plan.depends_on().is_empty();
    if plan.wave().is_some_and(|wave| wave > 1) && waits_for_nothing {
        warnings.push("Wave > 1 but depends_on is empty".to_owned());
    }
    if plan.is_autonomous() && tasks.iter().any(|task| task.checkpoint().is_some()) {
        errors.push("Has checkpoint tasks but autonomous is not false".to_owned());
    }
    StructureReport {
        valid: errors.is_empty(),
        errors,
        warnings,
        task_count: tasks.len(),
        tasks: tasks.iter().map(task_report).collect(),
        frontmatter_fields: plan.fields(),
    }
}

/// A warning for each task that cannot be taken back and that no decision of a person comes before.
fn unconfirmed(tasks: &[PlanTask<'_>]) -> Vec<String> {
    let decided = tasks.iter().position(|task| task.checkpoint() == Some("decision")).unwrap_or(tasks.len());
    let one_way = tasks[..decided].iter().filter(|task| task.is_one_way());
    one_way
        .map(|task| {
            let name = task.name().unwrap_or("unnamed");
            format!("Task '{name}' is rated one-way, and no checkpoint:decision comes before it")
        })
        .collect()
}

fn task_report(task: &PlanTask<'_>) -> TaskReport {
    TaskReport {
        name: task.name().unwrap_or("unnamed").to_owned(),
        r#type: task.kind.to_owned(),
        has_files: task.has("files"),
        has_action: task.has("action"),
        has_verify: task.has("verify"),
        has_done: task.has("done"),
    }
}

/// A checkpoint needs what the person is shown and asked; any other task needs an action.
fn check_task(task: &PlanTask<'_>, errors: &mut Vec<String>, warnings: &mut Vec<String>) {
    // What a checkpoint shows and asks names it well enough.
    if task.name().is_none() && task.checkpoint().is_none() {
        errors.push("Task missing <name> element".to_owned());
    }
    let name = task.name().unwrap_or("unnamed");
    let lacks = |tag: &&&str| !task.has(tag);
    let told = |tag: &&str| format!("Task '{name}' missing <{tag}>");
    let (needed, wanted): (&[&str], &[&str]) = match task.checkpoint() {
        Some("human-verify") => (&["resume-signal", "what-built", "how-to-verify"], &[]),
        Some("decision") => (&["resume-signal", "decision", "options"], &[]),
        Some("human-action") => (&["resume-signal", "action", "instructions", "verification"], &[]),
        Some(_) => (&["resume-signal"], &[]),
        None => (&["action"], &["verify", "done", "files"]),
    };
    errors.extend(needed.iter().filter(lacks).map(told));
    warnings.extend(wanted.iter().filter(lacks).map(told));
    if task.checkpoint().is_none() && task.has("verify") && !task.has("automated") {
        warnings.push(format!("Task '{name}' has a <verify> without an <automated> command"));
    }
    let files = task.files().len();
    if files > MOST_FILES {
        warnings.push(format!("Task '{name}' names {files} files; more than {MOST_FILES} are hard to check"));
    }
    for command in task.checks().into_iter().filter_map(|check| check.command).filter(|command| cannot_fail(command)) {
        warnings.push(format!("Task '{name}' has a check that cannot fail: {command}"));
    }
}

/// How many files a task may name before it is too large to be checked as one.
const MOST_FILES: usize = 5;

/// Whether a command succeeds whatever its last part says.
fn cannot_fail(command: &str) -> bool {
    let last = command.rsplit_once("||").map(|(_, last)| last.trim());
    last.is_some_and(|last| matches!(last.split_whitespace().next(), Some("true" | ":")) || last == "exit 0")
}

/// What `verify phase-completeness` answers for a phase that is there.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CompletenessReport {
    pub(crate) complete: bool,
    pub(crate) phase: String,
    pub(crate) plan_count: usize,
    pub(crate) summary_count: usize,
    pub(crate) incomplete_plans: Vec<String>,
    pub(crate) orphan_summaries: Vec<String>,
    pub(crate) errors: Vec<String>,
    pub(crate) warnings: Vec<String>,
}

/// Whether every plan of a phase is executed. `None` if there is no such phase.
pub(crate) fn completeness(view: &ProjectView, typed: &str) -> Result<Option<CompletenessReport>, FileError> {
    let Some(folder) = view.find_phase(typed)?.folder else { return Ok(None) };
    let plans = view.current_plans(&folder)?;
    let summaries: Vec<&str> = folder.summaries().collect();
    let claimed: Vec<&str> = plans.iter().filter_map(|plan| folder.summary_of(plan)).collect();
    let incomplete_plans = view.open_plans(&folder)?;
    let orphan_summaries: Vec<String> =
        summaries.iter().filter(|summary| !claimed.contains(summary)).map(|&summary| summary.to_owned()).collect();
    let list = |what: &str, files: &[String]| {
        if files.is_empty() { Vec::new() } else { vec![format!("{what}: {}", files.join(", "))] }
    };
    let (summarised, unwritten): (Vec<String>, Vec<String>) =
        incomplete_plans.iter().cloned().partition(|plan| folder.summary_of(plan).is_some());
    let to_do = view.plans_to_do(&folder)?;
    let (blocked, halted): (Vec<String>, Vec<String>) = summarised.into_iter().partition(|plan| to_do.contains(plan));
    let id = PhaseId::new(typed);
    let named = id.matches(folder.token());
    Ok(Some(CompletenessReport {
        complete: incomplete_plans.is_empty(),
        phase: if named { folder.token().to_owned() } else { id.to_string() },
        plan_count: plans.len(),
        summary_count: summaries.len(),
        errors: [
            list("Plans without summaries", &unwritten),
            list("Plans blocked by their summaries", &blocked),
            list("Plans halted by their summaries", &halted),
        ]
        .concat(),
        warnings: list("Summaries without plans", &orphan_summaries),
        incomplete_plans,
        orphan_summaries,
    }))
}

/// What `verify references` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ReferencesReport {
    pub(crate) valid: bool,
    pub(crate) found: usize,
    pub(crate) missing: Vec<String>,
    pub(crate) total: usize,
}

/// Which of the files that a text names are there: `@path/to/file`, and `path/to/file.ext` in back-ticks.
pub(crate) fn references(text: &str, exists: impl Fn(&str) -> bool) -> ReferencesReport {
    let mut named = mentions(text);
    for path in ticked_files(text) {
        if !path.starts_with("http") && !path.contains("${") && !path.contains("{{") && !named.contains(&path) {
            named.push(path);
        }
    }
    let missing: Vec<String> = named.iter().filter(|path| !exists(path)).map(|&path| path.to_owned()).collect();
    ReferencesReport { valid: missing.is_empty(), found: named.len() - missing.len(), missing, total: named.len() }
}

/// What stands behind each `@`, up to white space, a comma or a closing parenthesis, where it has a folder in it.
fn mentions(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('@') {
        rest = &rest[at + 1..];
        let end = rest.find(|letter: char| letter.is_whitespace() || matches!(letter, ',' | ')')).unwrap_or(rest.len());
        let token = &rest[..end];
        let has_folder =
            token.char_indices().any(|(index, letter)| letter == '/' && index > 0 && index + 1 < token.len());
        if has_folder {
            found.push(token);
            rest = &rest[end..];
        }
    }
    found
}

/// The paths in back-ticks: with a folder, and ending in an extension of up to ten letters.
pub(crate) fn ticked_files(text: &str) -> Vec<&str> {
    ticked(text, |path| {
        let extension =
            path.rsplit_once('.').filter(|(stem, _)| has_folder(stem)).map_or("", |(_, extension)| extension);
        (1..=10).contains(&extension.len()) && extension.bytes().all(|byte| byte.is_ascii_alphabetic())
    })
}

/// Whether a path without its extension is a folder and a name.
pub(crate) fn has_folder(stem: &str) -> bool {
    stem.rfind('/').is_some_and(|slash| slash > 0 && slash + 1 < stem.len())
}

/// The texts between two back-ticks that fit. A text that does not fit leaves its closing tick to open the next.
pub(crate) fn ticked(text: &str, fits: impl Fn(&str) -> bool) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find('`') {
        rest = &rest[open + 1..];
        let Some(close) = rest.find('`') else { break };
        let inside = &rest[..close];
        if fits(inside) {
            found.push(inside);
            rest = &rest[close + 1..];
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::files::MemoryFiles;

    const FRONT: &str = "---\nphase: 1\nplan: 1\ntype: execute\nwave: 1\ndepends_on: []\nfiles_modified: []\n\
        autonomous: true\nmust_haves:\n---\n";

    fn structured(text: &str) -> StructureReport {
        structure("a-PLAN.md", text, None)
    }

    #[test]
    fn a_nul_byte_is_never_valid() {
        let report = structured(&format!("{FRONT}a\0b"));
        assert!(!report.valid);
        assert_eq!(report.errors, [format!("`a-PLAN.md` holds a NUL byte at byte {}; remove it", FRONT.len() + 1)]);
    }

    #[test]
    fn the_forms_of_checkpoints_are_complete() {
        let reference = include_str!("../../../references/checkpoints.md");
        let forms = reference.split("```xml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
        let report = structured(&format!("{}{forms}", FRONT.replace("autonomous: true", "autonomous: false")));
        assert_eq!((report.errors, report.tasks.len()), (Vec::<String>::new(), 3));
    }

    #[test]
    fn what_makes_a_check_worthless_is_a_warning() {
        let requirements = Requirements::parse("- [ ] **A-1**: x\n");
        let front = FRONT.replace("must_haves:", "requirements: [A-1, a-1, B-9]\nmust_haves:");
        let task = "<task><name>N</name><files>a, b, c, d, e, f</files><action>a</action><verify>\
            <automated>npm test || true</automated><automated>test -f x || exit 1</automated><automated>a || :</automated>\
            </verify><done>d</done></task>\
            <task><name>M</name><files>a, b, c, d, e</files><action>a</action><verify>look</verify><done>d</done></task>";
        let report = structure("a-PLAN.md", &format!("{front}{task}"), Some(&requirements));
        assert!(report.valid, "{report:?}");
        assert_eq!(
            report.warnings,
            [
                "Requirement 'B-9' is not in REQUIREMENTS.md",
                "Task 'N' names 6 files; more than 5 are hard to check",
                "Task 'N' has a check that cannot fail: npm test || true",
                "Task 'N' has a check that cannot fail: a || :",
                "Task 'M' has a <verify> without an <automated> command",
            ]
        );
        let unlisted = structure("a-PLAN.md", &front, None);
        assert_eq!(unlisted.warnings, ["No <task> elements found"]);
    }

    #[test]
    fn a_whole_task_needs_nothing_more() {
        let whole = "<task type=\"auto\"><name>N</name><files>f</files><action>a</action>\
            <verify><automated>v</automated></verify><done>d</done></task>";
        let report = structured(&format!("{FRONT}{whole}"));
        assert!(report.valid && report.warnings.is_empty(), "{report:?}");
        let report = structured(whole);
        assert_eq!(report.errors.len(), PLAN_FIELDS.len());
    }

    #[test]
    fn what_a_task_lacks_is_told_in_order() {
        let report = structured(&format!("{FRONT}<task><action>a</action></task>"));
        assert_eq!(report.errors, ["Task missing <name> element"]);
        assert_eq!(
            report.warnings,
            ["Task 'unnamed' missing <verify>", "Task 'unnamed' missing <done>", "Task 'unnamed' missing <files>"]
        );
    }

    #[test]
    fn checkpoints_have_needs_of_their_own() {
        let task = |kind: &str| format!("{FRONT}<task type=\"checkpoint:{kind}\"><name>N</name></task>");
        let errors = |kind: &str| structured(&task(kind)).errors;
        assert_eq!(errors("decision").len(), 4);
        assert_eq!(errors("human-action").len(), 5);
        assert_eq!(
            structured(&task("decision").replace("<name>N</name>", "")).errors.len(),
            4,
            "a name is no need of them"
        );
        assert_eq!(
            errors("other"),
            ["Task 'N' missing <resume-signal>", "Has checkpoint tasks but autonomous is not false"]
        );
        let human = task("other").replace("autonomous: true", "autonomous: false");
        assert_eq!(structured(&human).errors.len(), 1);
    }

    #[test]
    fn what_cannot_be_taken_back_is_decided_first() {
        let one_way = "<task><name>N</name><files>f</files><action>a</action><verify><automated>v</automated></verify>\
            <done>d</done><reversibility rating=\"one-way-door\">drops a table</reversibility></task>";
        let decision = "<task type=\"checkpoint:decision\"><name>D</name></task>";
        let warns =
            |body: &str| structured(&format!("{FRONT}{body}")).warnings.iter().any(|told| told.contains("one-way"));
        assert!(warns(one_way) && warns(&format!("{one_way}{decision}")));
        assert!(!warns(&format!("{decision}{one_way}")));
        assert!(!warns(&one_way.replace("one-way-door", "costly")));
    }

    #[test]
    fn an_action_that_names_what_its_check_forbids_is_no_valid_plan() {
        let task = "<task><name>N</name><files>f</files><action>Drop oldCall</action><verify><automated>\
            test $(grep -c 'oldCall' f) -eq 0</automated></verify><done>d</done></task>";
        let report = structured(&format!("{FRONT}{task}"));
        assert!(!report.valid && report.errors[0].contains("`oldCall`"), "{report:?}");
        assert!(structured(&format!("{FRONT}{task}").replace("Drop oldCall", "Drop the old call")).valid);
    }

    #[test]
    fn a_later_wave_should_wait_for_something() {
        let later = FRONT.replace("wave: 1", "wave: 2");
        let warns = |text: &str| structured(text).warnings.iter().any(|warning| warning.starts_with("Wave"));
        assert!(warns(&later));
        assert!(!warns(&later.replace("[]\nfiles", "[01-01]\nfiles")));
        assert!(!warns(FRONT));
    }

    #[test]
    fn references_are_mentions_and_ticked_files() {
        let text = "@src/a.ts, (@src/b.ts) user@x/y @/a @a/ @README.md `src/c.rs` `src/a.ts` `https://x/y.md` `a.ts` \
            `${X}/a.ts` `src/x.z9` `src/d e.md` lone ` tick `src/f.md`";
        let report = references(text, |path| path.starts_with("src/a") || path.starts_with("src/c"));
        assert_eq!(report.missing, ["src/b.ts", "x/y", "src/d e.md", "src/f.md"]);
        assert_eq!((report.found, report.total, report.valid), (2, 6, false));
        assert!(references("", |_| false).valid);
    }

    #[test]
    fn a_phase_is_complete_when_its_plans_are_summarised() {
        let at = |name: &str| format!(".planning/phases/02-core/{name}");
        let report = |files: &[(&str, &str)]| {
            let files: Vec<(String, &str)> = files.iter().map(|(name, text)| (at(name), *text)).collect();
            let files = MemoryFiles::new(files.iter().map(|(path, text)| (path.as_str(), *text)));
            completeness(&files.view(), "2").unwrap().unwrap()
        };
        let half =
            report(&[("02-01-PLAN.md", ""), ("02-02-x-PLAN.md", ""), ("02-02-SUMMARY.md", ""), ("SUMMARY.md", "")]);
        assert!(!half.complete);
        assert_eq!(
            (half.incomplete_plans, half.orphan_summaries),
            (vec!["02-01-PLAN.md".into()], vec!["SUMMARY.md".into()])
        );
        let gone = report(&[("02-01-PLAN.md", "---\nstatus: superseded\n---\n"), ("02-01-SUMMARY.md", "")]);
        assert!(gone.complete && gone.orphan_summaries == ["02-01-SUMMARY.md"]);
        let empty = MemoryFiles::default().view();
        assert!(completeness(&empty, "2").unwrap().is_none());
    }
}
