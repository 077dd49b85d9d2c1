//! Checks of one plan and of one phase: structure, references, must-haves, completeness. A bad document is reported in
//! the answer, not as an error.

use schemars::JsonSchema;
use serde::Serialize;

use super::absences;
use super::found::{Found, Weight};
use crate::gate::cannot_fail::line_of_shell_cannot_fail;
use crate::operations::answers::answer::answer;
use crate::operations::documents::frontmatter::{PLAN_FIELDS, nul_byte};
use crate::project::files::{FileError, Files};
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

answer! {
    /// What a task has.
    #[serde(rename_all = "camelCase")]
    pub(crate) struct TaskReport |task: PlanTask<'_>| {
        name: String = task.name().unwrap_or("unnamed").to_owned(),
        r#type: String = task.kind.to_owned(),
        has_files: bool = task.has("files"),
        has_action: bool = task.has("action"),
        has_verify: bool = task.has("verify"),
        has_done: bool = task.has("done"),
    }
}

/// Checks whether a plan has the fields, and its tasks the parts, that an executor needs. `path` is for error messages;
/// `requirements` are those of the project, `None` if it has no list; `files` gives access to the scripts that checks
/// run.
pub(crate) fn structure(
    path: &str,
    text: &str,
    requirements: Option<&Requirements<'_>>,
    files: &dyn Files,
) -> Result<StructureReport, FileError> {
    let plan = PhasePlan::parse(text);
    let found = findings(path, &plan, requirements, files)?;
    let (errors, warnings) = found.into_iter().partition(|found| found.weight == Weight::Error);
    Ok(report(&plan, errors, warnings))
}

/// The report with these findings.
pub(super) fn report(plan: &PhasePlan<'_>, errors: Vec<Found>, warnings: Vec<Found>) -> StructureReport {
    let told = |found: Vec<Found>| found.into_iter().map(|found| found.sentence).collect();
    let tasks = plan.tasks();
    StructureReport {
        valid: errors.is_empty(),
        errors: told(errors),
        warnings: told(warnings),
        task_count: tasks.len(),
        tasks: tasks.iter().map(TaskReport::of).collect(),
        frontmatter_fields: plan.fields(),
    }
}

/// The problems with the structure of a plan.
pub(super) fn findings(
    path: &str,
    plan: &PhasePlan<'_>,
    requirements: Option<&Requirements<'_>>,
    files: &dyn Files,
) -> Result<Vec<Found>, FileError> {
    let missing = PLAN_FIELDS.iter().filter(|field| !plan.has(field));
    let mut found: Vec<Found> =
        missing.map(|field| Found::error(1, format!("Missing required frontmatter field: {field}"))).collect();
    found.extend(nul_byte(path, plan.text()).map(|error| Found::error(None, error)));
    if let Some(requirements) = requirements {
        let known = requirements.ids();
        let is_known = |id: &String| known.iter().any(|known| known.eq_ignore_ascii_case(id.trim()));
        let unknown = plan.requirements().into_iter().filter(|id| !is_known(id));
        let line = plan.line_of("requirements");
        found.extend(unknown.map(|id| Found::warning(line, format!("Requirement '{id}' is not in REQUIREMENTS.md"))));
    }
    let tasks = plan.tasks();
    for task in &tasks {
        check_task(plan, task, files, &mut found)?;
    }
    if tasks.is_empty() {
        found.push(Found::warning(None, "No <task> elements found"));
    }
    let (contradicted, risky) = absences::contradictions(plan.text(), &tasks);
    found.extend(contradicted.into_iter().map(|error| Found::error(None, error)));
    found.extend(risky.into_iter().map(|warning| Found::warning(None, warning)));
    found.extend(unconfirmed(plan, &tasks));
    let waits_for_nothing =
        matches!(plan.value("depends_on"), None | Some(Value::List(_))) && plan.depends_on().is_empty();
    if plan.wave().is_some_and(|wave| wave > 1) && waits_for_nothing {
        found.push(Found::warning(plan.line_of("wave"), "Wave > 1 but depends_on is empty"));
    }
    if plan.is_autonomous() && tasks.iter().any(|task| task.checkpoint().is_some()) {
        let line = plan.line_of("autonomous");
        found.push(Found::error(line, "Has checkpoint tasks but autonomous is not false"));
    }
    Ok(found)
}

/// A warning for each irreversible task without an earlier decision of a person.
fn unconfirmed(plan: &PhasePlan<'_>, tasks: &[PlanTask<'_>]) -> Vec<Found> {
    let decided = tasks.iter().position(|task| task.checkpoint() == Some("decision")).unwrap_or(tasks.len());
    let one_way = tasks[..decided].iter().filter(|task| task.is_one_way());
    one_way
        .map(|task| {
            let name = task.name().unwrap_or("unnamed");
            let sentence = format!("Task '{name}' is rated one-way, and no checkpoint:decision comes before it");
            Found::at(Weight::Warning, plan, task.start(), sentence)
        })
        .collect()
}

/// Checks a task: a checkpoint needs what the person is shown and asked, any other task needs an action.
fn check_task(
    plan: &PhasePlan<'_>,
    task: &PlanTask<'_>,
    files: &dyn Files,
    found: &mut Vec<Found>,
) -> Result<(), FileError> {
    let line = plan.line_at(task.start());
    // A checkpoint is identified well enough by what it shows and asks.
    if task.name().is_none() && task.checkpoint().is_none() {
        found.push(Found::error(line, "Task missing <name> element"));
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
    found.extend(needed.iter().filter(lacks).map(|tag| Found::error(line, told(tag))));
    found.extend(wanted.iter().filter(lacks).map(|tag| Found::unsound(line, told(tag))));
    if task.checkpoint().is_none() && task.has("verify") && !task.has("automated") {
        let sentence = format!("Task '{name}' has a <verify> without an <automated> command");
        // A person checks what only people can judge.
        let weight = if task.has("human-check") { Weight::Warning } else { Weight::Unsound };
        found.push(Found::new(weight, line, sentence));
    }
    let count = task.files().len();
    if count > MOST_FILES {
        let sentence = format!("Task '{name}' names {count} files; more than {MOST_FILES} are hard to check");
        found.push(Found::warning(line, sentence));
    }
    for check in task.checks() {
        let Some(command) = check.command else { continue };
        if let Some(why) = line_of_shell_cannot_fail(&command, files)? {
            let sentence = format!("Task '{name}' has a check that cannot fail: {command} ({why})");
            found.push(Found::at(Weight::Unsound, plan, check.at, sentence));
        }
    }
    Ok(())
}

/// The number of files that a task may name before it is too large to be checked as one.
const MOST_FILES: usize = 5;

/// What `verify phase-completeness` answers for a phase that exists.
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

/// Checks whether every plan of a phase is executed. `None` if the phase does not exist.
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

/// Checks which files named in a text exist: `@path/to/file`, and `path/to/file.ext` in backticks.
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

/// The text after each `@`, up to white space, a comma or a closing parenthesis, if it contains a folder.
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

/// The paths in backticks that have a folder and an extension of up to ten letters.
pub(crate) fn ticked_files(text: &str) -> Vec<&str> {
    ticked(text, |path| {
        let extension =
            path.rsplit_once('.').filter(|(stem, _)| has_folder(stem)).map_or("", |(_, extension)| extension);
        (1..=10).contains(&extension.len()) && extension.bytes().all(|byte| byte.is_ascii_alphabetic())
    })
}

/// True if a path without its extension is a folder and a name.
pub(crate) fn has_folder(stem: &str) -> bool {
    stem.rfind('/').is_some_and(|slash| slash > 0 && slash + 1 < stem.len())
}

/// The texts between two backticks that fit. The closing backtick of a text that does not fit can open the next one.
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
        structure("a-PLAN.md", text, None, &MemoryFiles::default()).unwrap()
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
    fn a_worthless_check_is_a_warning() {
        let requirements = Requirements::parse("- [ ] **A-1**: x\n");
        let front = FRONT.replace("must_haves:", "requirements: [A-1, a-1, B-9]\nmust_haves:");
        let task = "<task><name>N</name><files>a, b, c, d, e, f</files><action>a</action><verify>\
            <automated>npm test || true</automated><automated>test -f x || exit 1</automated><automated>a || :</automated>\
            </verify><done>d</done></task>\
            <task><name>M</name><files>a, b, c, d, e</files><action>a</action><verify>look</verify><done>d</done></task>";
        let none = MemoryFiles::default();
        let report = structure("a-PLAN.md", &format!("{front}{task}"), Some(&requirements), &none).unwrap();
        assert!(report.valid, "{report:?}");
        assert_eq!(
            report.warnings,
            [
                "Requirement 'B-9' is not in REQUIREMENTS.md",
                "Task 'N' names 6 files; more than 5 are hard to check",
                "Task 'N' has a check that cannot fail: npm test || true (`true` never fails)",
                "Task 'N' has a check that cannot fail: a || : (`:` never fails)",
                "Task 'M' has a <verify> without an <automated> command",
            ]
        );
        let unlisted = structured(&front);
        assert_eq!(unlisted.warnings, ["No <task> elements found"]);
    }

    #[test]
    fn a_complete_task_has_no_findings() {
        let whole = "<task type=\"auto\"><name>N</name><files>f</files><action>a</action>\
            <verify><automated>v</automated></verify><done>d</done></task>";
        let report = structured(&format!("{FRONT}{whole}"));
        assert!(report.valid && report.warnings.is_empty(), "{report:?}");
        let report = structured(whole);
        assert_eq!(report.errors.len(), PLAN_FIELDS.len());
    }

    #[test]
    fn missing_parts_of_a_task_are_reported_in_order() {
        let report = structured(&format!("{FRONT}<task><action>a</action></task>"));
        assert_eq!(report.errors, ["Task missing <name> element"]);
        assert_eq!(
            report.warnings,
            ["Task 'unnamed' missing <verify>", "Task 'unnamed' missing <done>", "Task 'unnamed' missing <files>"]
        );
    }

    #[test]
    fn checkpoints_need_their_own_parts() {
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
    fn an_irreversible_task_needs_a_decision_first() {
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
    fn an_action_that_names_what_its_check_forbids_makes_the_plan_invalid() {
        let task = "<task><name>N</name><files>f</files><action>Drop oldCall</action><verify><automated>\
            test $(grep -c 'oldCall' f) -eq 0</automated></verify><done>d</done></task>";
        let report = structured(&format!("{FRONT}{task}"));
        assert!(!report.valid && report.errors[0].contains("`oldCall`"), "{report:?}");
        assert!(structured(&format!("{FRONT}{task}").replace("Drop oldCall", "Drop the old call")).valid);
    }

    #[test]
    fn a_later_wave_should_have_dependencies() {
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
