//! Templates of a phase's files: selects one for a plan, and creates a new file from one.

use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Failure;
use crate::operations::documents::frontmatter::{self, FieldChange};
use crate::operations::plans::structure::{has_folder, ticked};
use crate::project::folder::PhaseFolder;
use crate::project::phase::PhaseId;
use crate::project::plan::task_headings;
use crate::project::view::{Edited, Edits, ProjectView};
use crate::text::front_matter::Value;
use crate::text::words::{self, words};

/// What `template select` answers.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SelectReport {
    pub(crate) template: &'static str,
    pub(crate) r#type: &'static str,
    pub(crate) task_count: usize,
    pub(crate) file_count: usize,
    pub(crate) has_decisions: bool,
}

/// Templates of a summary: name and file.
const MINIMAL: (&str, &str) = ("minimal", "templates/summary-minimal.md");
pub(crate) const STANDARD: (&str, &str) = ("standard", "templates/summary-standard.md");
const COMPLEX: (&str, &str) = ("complex", "templates/summary-complex.md");

/// Selects the template of a summary that fits the plan `text`.
pub(crate) fn select(text: &str) -> SelectReport {
    let task_count = task_headings(text, 3, false);
    let mut files = ticked(text, |path| {
        let extension =
            path.rsplit_once('.').filter(|(stem, _)| has_folder(stem)).map_or("", |(_, extension)| extension);
        !path.starts_with("http") && !extension.is_empty() && extension.bytes().all(|byte| byte.is_ascii_alphabetic())
    });
    files.sort_unstable();
    files.dedup();
    let file_count = files.len();
    let has_decisions = text.to_lowercase().contains("decision");
    let (r#type, template) = if has_decisions || file_count > 6 || task_count > 5 {
        COMPLEX
    } else if task_count <= 2 && file_count <= 3 {
        MINIMAL
    } else {
        STANDARD
    };
    SelectReport { template, r#type, task_count, file_count, has_decisions }
}

words! {
    /// The files that can be created from a template.
    pub(crate) enum Template {
        Summary = "summary",
        Plan = "plan",
        Verification = "verification",
    }
}

impl Template {
    pub(crate) fn named(name: &str) -> Option<Self> {
        words::of_word(name)
    }

    fn text(self) -> &'static str {
        match self {
            Self::Summary => include_str!("../../../templates/summary-standard.md"),
            Self::Plan => include_str!("../../../templates/fill/plan.md"),
            Self::Verification => include_str!("../../../templates/fill/verification.md"),
        }
    }
}

/// The values for a new file.
#[derive(Clone, Debug)]
pub(crate) struct Filling<'a> {
    pub(crate) phase: &'a str,
    pub(crate) plan: &'a str,
    /// The name of the phase in headings; without one, that of its folder.
    pub(crate) name: Option<&'a str>,
    pub(crate) kind: Option<&'a str>,
    pub(crate) wave: Option<&'a str>,
    /// Fields of the front matter, which override those that follow from other values.
    pub(crate) fields: Vec<FieldChange>,
    /// The current date in the user's time zone.
    pub(crate) today: &'a str,
    /// The current time.
    pub(crate) now: &'a str,
}

/// What `template fill` answers.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum FillReport {
    Created { created: bool, path: String, template: &'static str },
    Exists { error: &'static str, path: String },
    NoPhase { error: &'static str, phase: String },
}

/// Creates a file of a phase from a template. An existing file stays.
pub(crate) fn fill(view: &ProjectView, template: Template, filling: &Filling<'_>) -> Edited<FillReport, Failure> {
    let mut edits = Edits::default();
    let Some(folder) = view.find_phase(filling.phase)?.folder else {
        return Ok((FillReport::NoPhase { error: "Phase not found", phase: filling.phase.to_owned() }, edits));
    };
    let number = PhaseId::new(folder.token()).to_string();
    let plan = format!("{:0>2}", filling.plan);
    let file = match template {
        Template::Plan => format!("{number}-{plan}-PLAN.md"),
        Template::Summary => format!("{number}-{plan}-SUMMARY.md"),
        Template::Verification => format!("{number}-VERIFICATION.md"),
    };
    let path = folder.join(&file);
    if view.exists(&path) {
        return Ok((FillReport::Exists { error: "the file already exists", path }, edits));
    }
    let name = filling.name.unwrap_or_else(|| folder.slug());
    let body = template.text().replace("{phase}", filling.phase).replace("{plan}", &plan).replace("{name}", name);
    let fields = fields(template, filling, &folder, &number, &plan);
    edits.write(view, &path, frontmatter::applied(&path, &body, &fields)?)?;
    Ok((FillReport::Created { created: true, path, template: template.word() }, edits))
}

/// The fields of the front matter that depend on the call.
fn fields(
    template: Template,
    filling: &Filling<'_>,
    folder: &PhaseFolder,
    number: &str,
    plan: &str,
) -> Vec<FieldChange> {
    let field =
        |key: &str, value: &str| FieldChange { key: key.to_owned(), value: Some(Value::Text(value.to_owned())) };
    let mut fields = vec![field("phase", &format!("{number}-{}", folder.slug()))];
    match template {
        Template::Summary => fields.extend([field("plan", plan), field("completed", filling.today)]),
        Template::Plan => {
            let wave = filling.wave.and_then(|wave| wave.trim().parse::<u64>().ok()).unwrap_or(1);
            fields.extend([
                field("plan", plan),
                field("type", filling.kind.unwrap_or("execute")),
                field("wave", &wave.to_string()),
            ]);
        }
        Template::Verification => fields.push(field("verified", filling.now)),
    }
    fields.retain(|own| filling.fields.iter().all(|given| given.key != own.key));
    fields.extend(filling.fields.iter().cloned());
    fields
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::files::MemoryFiles;

    use crate::project::plan::PhasePlan;

    #[test]
    fn the_size_of_the_plan_selects_the_template() {
        let kind = |text: &str| select(text).r#type;
        assert_eq!(kind(""), "minimal");
        assert_eq!(kind("### Task 1\n### Task 2\n### Task 3\n## Task 4"), "standard");
        assert_eq!(kind("`s/a.ts` `s/a.ts` `s/b.ts` `s/c.ts` `https://x/y.md`"), "minimal");
        assert_eq!(kind("`s/a.ts` `s/b.ts` `s/c.ts` `s/d.ts`"), "standard");
        assert_eq!(kind(&"### Task 1\n".repeat(6)), "complex");
        assert_eq!(kind("A Decision"), "complex");
    }

    fn filling(phase: &str, fields: Vec<FieldChange>) -> Filling<'_> {
        Filling {
            phase,
            plan: "3",
            name: None,
            kind: None,
            wave: Some("x"),
            fields,
            today: "2026-01-02",
            now: "2026-01-02T03:04:05.678Z",
        }
    }

    fn view() -> ProjectView {
        let files = MemoryFiles::new([(".planning/phases/ACME-02-core-api/02-04-PLAN.md", "")]);
        files.view()
    }

    #[test]
    fn every_template_makes_a_file_that_reads_back() {
        for (template, file) in [
            (Template::Plan, "02-03-PLAN.md"),
            (Template::Summary, "02-03-SUMMARY.md"),
            (Template::Verification, "02-VERIFICATION.md"),
        ] {
            let (report, edits) = fill(&view(), template, &filling("2", Vec::new())).unwrap();
            let FillReport::Created { path, .. } = report else { panic!("{report:?}") };
            assert_eq!(path, format!(".planning/phases/ACME-02-core-api/{file}"));
            let text = &edits.texts[&path];
            let plan = PhasePlan::parse(text);
            assert_eq!(plan.value("phase"), Some(Value::Text("02-core-api".into())));
            let schema = frontmatter::Schema::named(template.word()).unwrap();
            assert!(frontmatter::validate("a.md", text, schema, |_| true).valid, "{text}");
            assert!(!text.contains("{phase}") && !text.contains("{plan}") && !text.contains("{name}"), "{text}");
            assert_eq!(Template::named(template.word()), Some(template));
        }
    }

    #[test]
    fn given_fields_override_derived_ones() {
        let given = |key: &str, value: &str| FieldChange { key: key.into(), value: Some(Value::Text(value.into())) };
        let filling = filling("ACME-02", vec![given("wave", "7"), given("custom", "x")]);
        let (_, edits) = fill(&view(), Template::Plan, &filling).unwrap();
        let text = edits.texts.values().next().unwrap();
        let plan = PhasePlan::parse(text);
        assert_eq!((plan.wave(), plan.fields().last().map(String::as_str)), (Some(7), Some("custom")));
        assert!(text.contains("# Phase ACME-02 Plan 03: "), "{text}");
    }

    #[test]
    fn an_existing_file_stays() {
        let mut filling = filling("2", Vec::new());
        filling.plan = "04";
        let (report, edits) = fill(&view(), Template::Plan, &filling).unwrap();
        assert!(matches!(report, FillReport::Exists { .. }) && edits.is_empty());
        filling.phase = "9";
        assert!(matches!(fill(&view(), Template::Plan, &filling).unwrap().0, FillReport::NoPhase { .. }));
    }
}
