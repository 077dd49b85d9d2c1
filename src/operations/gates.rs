//! Gates that look at one artifact, or at whether a phase is about what people see.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::project::files::FileError;
use crate::project::folder::PhaseFolder;
use crate::project::view::ProjectView;
use crate::text::front_matter::FrontMatter;

/// The kind of predicate that compares a field of an artifact with a value.
const FIELD_EQUALS: &str = "artifact-frontmatter-equals";

/// A condition that a feature puts on a point of the loop.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Predicate {
    artifact: String,
    field: String,
    equals: Value,
}

/// Why a predicate means nothing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PredicateError {
    #[error("predicate --predicate value must be valid JSON")]
    Json(#[source] serde_json::Error),
    #[error("predicate requires --predicate <json> (the gate hook check.predicate object)")]
    Empty,
    #[error("Unknown predicate kind: \"{kind}\". Known kinds: {FIELD_EQUALS}")]
    Kind { kind: String },
    #[error("a predicate of kind {FIELD_EQUALS} needs `{key}`")]
    NoKey { key: &'static str },
}

impl Predicate {
    pub(crate) fn parse(text: &str) -> Result<Self, PredicateError> {
        let value: Value = serde_json::from_str(text).map_err(PredicateError::Json)?;
        let kind = value.get("kind").and_then(Value::as_str).ok_or(PredicateError::Empty)?;
        if kind != FIELD_EQUALS {
            return Err(PredicateError::Kind { kind: kind.to_owned() });
        }
        let word = |key: &'static str| {
            let text = value.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
            text.map(str::to_owned).ok_or(PredicateError::NoKey { key })
        };
        let equals = value.get("equals").cloned().ok_or(PredicateError::NoKey { key: "equals" })?;
        Ok(Self { artifact: word("artifact")?, field: word("field")?, equals })
    }
}

/// What `check predicate` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PredicateReport {
    pub(crate) block: bool,
    message: String,
    details: PredicateDetails,
}

#[derive(Debug, Serialize, JsonSchema)]
struct PredicateDetails {
    kind: &'static str,
    #[serde(rename = "artifactNotFound", skip_serializing_if = "Option::is_none")]
    artifact_not_found: Option<bool>,
    #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
    matches: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    actual: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<Value>,
}

/// Whether the artifact in `folder` says what the predicate wants; one that is not there blocks.
pub(crate) fn predicate(view: &ProjectView, predicate: &Predicate, folder: &str) -> Result<PredicateReport, FileError> {
    let Predicate { artifact, field, equals } = predicate;
    let suffix = format!("-{artifact}");
    let name = view.file_names(folder)?.into_iter().find(|name| name == artifact || name.ends_with(&suffix));
    let mut details =
        PredicateDetails { kind: FIELD_EQUALS, artifact_not_found: None, matches: None, actual: None, expected: None };
    let Some(name) = name else {
        details.artifact_not_found = Some(true);
        let message = format!("Artifact matching {artifact} not found in {}", view.layout().shown(folder));
        return Ok(PredicateReport { block: true, message, details });
    };
    let text = view.text(&format!("{folder}/{name}"))?.unwrap_or_default();
    let actual = FrontMatter::parse(&text).and_then(|front| front.get(field)).map(|value| value.flat());
    let wanted = shown(equals);
    let matches = actual.as_deref().is_some_and(|actual| actual.trim() == wanted);
    details.matches = Some(matches);
    let message = if matches {
        format!("Frontmatter field \"{field}\" matches expected value ({wanted})")
    } else {
        let told = actual.as_deref().unwrap_or("undefined");
        details.expected = Some(equals.clone());
        format!("Frontmatter field \"{field}\" in {artifact} is {told}, expected {wanted}")
    };
    if !matches {
        details.actual = actual;
    }
    Ok(PredicateReport { block: !matches, message, details })
}

/// A value as it stands in a front matter.
fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Words by which a phase says that it is about what people see.
const SIGHT: &[&str] =
    &["ui", "interface", "frontend", "component", "layout", "page", "screen", "view", "form", "dashboard", "widget"];

/// What `check ui-plan-gate` answers.
#[derive(Debug, Serialize, JsonSchema)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of the answer")]
pub(crate) struct UiPlanReport {
    frontend: bool,
    #[serde(rename = "hasFrontendEvidence")]
    has_frontend_evidence: bool,
    #[serde(rename = "hasUiSpec")]
    has_ui_spec: bool,
    pub(crate) block: bool,
    #[serde(rename = "uiSpecPath")]
    ui_spec_path: Option<String>,
    #[serde(rename = "matchedToken")]
    matched_token: Option<&'static str>,
    #[serde(rename = "matchedLine")]
    matched_line: Option<String>,
    #[serde(rename = "phaseLookupFailed", skip_serializing_if = "Option::is_none")]
    phase_lookup_failed: Option<bool>,
}

/// Whether a phase that is about what people see lacks its design. `has_frontend` says that the source has a frontend,
/// `wanted` that the gate is on.
pub(crate) fn ui_plan(
    view: &ProjectView,
    typed: &str,
    has_frontend: bool,
    wanted: bool,
) -> Result<UiPlanReport, FileError> {
    let phase = SeenPhase::of(view, typed)?;
    let is_seen = phase.matched.is_some();
    Ok(UiPlanReport {
        frontend: is_seen,
        has_frontend_evidence: has_frontend,
        has_ui_spec: phase.spec.is_some(),
        block: wanted && is_seen && has_frontend && phase.spec.is_none(),
        ui_spec_path: phase.spec.map(|path| view.layout().shown(&path)),
        phase_lookup_failed: phase.is_nowhere.then_some(true),
        matched_token: phase.matched.as_ref().map(|(word, _)| *word),
        matched_line: phase.matched.map(|(_, line)| line),
    })
}

/// What `check ui-safety-gate` answers.
#[derive(Debug, Serialize, JsonSchema)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of the answer")]
pub(crate) struct UiSafetyReport {
    /// The phase is about what people see.
    frontend: bool,
    /// Files that people see the work of were changed.
    #[serde(rename = "hasUiFiles")]
    has_ui_files: bool,
    #[serde(rename = "hasUiSpec")]
    has_ui_spec: bool,
    pub(crate) block: bool,
    #[serde(rename = "phaseLookupFailed", skip_serializing_if = "Option::is_none")]
    phase_lookup_failed: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

/// Whether what people see was changed in a phase that has no design. `changed` are the files changed in the phase,
/// `command` is how a person asks for the design.
pub(crate) fn ui_safety(
    view: &ProjectView,
    typed: &str,
    changed: &[String],
    command: &str,
) -> Result<UiSafetyReport, FileError> {
    let phase = SeenPhase::of(view, typed)?;
    let has_ui_files = changed.iter().any(|path| is_seen_by_people(path));
    let block = phase.matched.is_some() && has_ui_files && phase.spec.is_none();
    let message = format!(
        "what people see of phase {typed} was changed, and there is no UI-SPEC.md; make it with {command} {typed}"
    );
    Ok(UiSafetyReport {
        frontend: phase.matched.is_some(),
        has_ui_files,
        has_ui_spec: phase.spec.is_some(),
        block,
        phase_lookup_failed: phase.is_nowhere.then_some(true),
        message: block.then_some(message),
    })
}

/// A phase, looked at for whether people see its work.
#[derive(Debug)]
struct SeenPhase {
    /// The word and the line that say so.
    matched: Option<(&'static str, String)>,
    /// The path of its design.
    spec: Option<String>,
    /// Neither the roadmap nor a folder has it.
    is_nowhere: bool,
}

impl SeenPhase {
    fn of(view: &ProjectView, typed: &str) -> Result<Self, FileError> {
        let text = view.roadmap_text()?.unwrap_or_default();
        let roadmap = view.parse_roadmap(&text);
        let section = roadmap.section(typed).map(|section| roadmap.section_text(section));
        let matched = section.and_then(|section| {
            section
                .lines()
                .find_map(|line| Some((*SIGHT.iter().find(|word| says(line, word))?, line.trim().to_owned())))
        });
        let denied = section.is_some_and(|section| section.lines().any(denies));
        let folder = view.find_phase(typed)?.folder;
        Ok(Self {
            matched: matched.filter(|_| !denied),
            spec: folder.as_ref().and_then(|folder: &PhaseFolder| folder.artifact_path("UI-SPEC")),
            is_nowhere: section.is_none() && folder.is_none(),
        })
    }
}

/// Endings of files, and folders, with what people see.
const SEEN_ENDINGS: &[&str] = &["css", "html", "jsx", "less", "sass", "scss", "svelte", "tsx", "vue"];
const SEEN_FOLDERS: &[&str] = &["components", "frontend", "layouts", "pages", "screens", "ui", "views"];

fn is_seen_by_people(path: &str) -> bool {
    let lower = path.to_lowercase();
    let (folders, name) = lower.rsplit_once('/').unwrap_or(("", &lower));
    name.rsplit_once('.').is_some_and(|(_, ending)| SEEN_ENDINGS.contains(&ending))
        || folders.split('/').any(|folder| SEEN_FOLDERS.contains(&folder))
}

/// Whether `word` stands in a line as a word, in any case, also in the plural.
fn says(line: &str, word: &str) -> bool {
    let lower = line.to_lowercase();
    lower
        .split(|letter: char| !letter.is_alphanumeric())
        .any(|found| found == word || found.strip_suffix('s') == Some(word))
}

/// `**UI hint**: no`: the roadmap says that the phase is not about what people see.
fn denies(line: &str) -> bool {
    let bare = line.trim().replace('*', "").to_lowercase();
    bare.strip_prefix("ui hint")
        .is_some_and(|rest| matches!(rest.trim_start_matches(':').trim(), "no" | "none" | "false"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::files::MemoryFiles;
    use crate::project::layout::Layout;

    const FOLDER: &str = ".planning/phases/01-a";

    fn view(files: &[(&str, &str)]) -> ProjectView {
        ProjectView::new(Layout::new("/p", None, None), Box::new(MemoryFiles::new(files.iter().copied())))
    }

    #[test]
    fn a_field_is_compared_as_it_stands() {
        let wanted = |equals: &str| {
            Predicate::parse(&format!(
                r#"{{"kind":"artifact-frontmatter-equals","artifact":"SECURITY.md","field":"threats_open","equals":{equals}}}"#
            ))
            .unwrap()
        };
        let view = view(&[(".planning/phases/01-a/01-SECURITY.md", "---\nthreats_open: 2\nok: true\n---\n")]);
        let blocks = |equals: &str| predicate(&view, &wanted(equals), FOLDER).unwrap().block;
        assert_eq!([blocks("2"), blocks("\"2\""), blocks("0"), blocks("true")], [false, false, true, true]);
        let missing = predicate(&view, &wanted("0"), ".planning/phases/02-b").unwrap();
        assert_eq!((missing.block, missing.details.artifact_not_found), (true, Some(true)));
    }

    #[test]
    fn a_predicate_that_means_nothing_is_an_error_never_a_pass() {
        for (text, told) in [
            ("{bad", "valid JSON"),
            ("{}", "--predicate <json>"),
            ("[]", "--predicate <json>"),
            (r#"{"kind":"zzz"}"#, "zzz"),
            (r#"{"kind":"artifact-frontmatter-equals","artifact":"A.md"}"#, "`equals`"),
            (r#"{"kind":"artifact-frontmatter-equals","artifact":"","field":"x","equals":1}"#, "`artifact`"),
        ] {
            let error = Predicate::parse(text).unwrap_err().to_string();
            assert!(error.contains(told), "{text}: {error}");
        }
    }

    #[test]
    fn a_phase_for_the_eyes_needs_its_design_where_there_is_a_frontend() {
        let roadmap = "### Phase 1: A\n**Goal**: build guidance\n\n### Phase 2: B\n**Goal**: Two Forms\n\n### Phase 3: C\nUI\n**UI hint**: no\n";
        let files = [(".planning/ROADMAP.md", roadmap)];
        let told = |phase: &str, frontend| {
            let report = ui_plan(&view(&files), phase, frontend, true).unwrap();
            (report.matched_token, report.block)
        };
        assert_eq!(told("1", true), (None, false));
        assert_eq!(told("2", true), (Some("form"), true));
        assert_eq!(told("2", false), (Some("form"), false));
        assert_eq!(told("3", true), (None, false));
        assert_eq!(ui_plan(&view(&files), "9", true, true).unwrap().phase_lookup_failed, Some(true));
        let with = [files[0], (".planning/phases/02-b/02-UI-SPEC.md", "x")];
        assert!(!ui_plan(&view(&with), "2", true, true).unwrap().block);
        assert!(!ui_plan(&view(&files), "2", true, false).unwrap().block, "the gate is off");
    }

    #[test]
    fn what_people_see_is_not_changed_without_a_design() {
        let roadmap = "### Phase 1: A\n**Goal**: guidance\n\n### Phase 2: B\n**Goal**: Two Forms\n";
        let files = [(".planning/ROADMAP.md", roadmap)];
        let blocks = |files: &[(&str, &str)], phase: &str, path: &str| {
            ui_safety(&view(files), phase, &[path.to_owned()], "/x").unwrap().block
        };
        for path in ["src/App.TSX", "page.html", "src/components/x.ts", "pages/a.js", "lib/ui/a.ts"] {
            assert!(blocks(&files, "2", path), "{path}");
        }
        for path in ["src/a.ts", "src/page.ts", ".planning/STATE.md", "css", "a/ui.rs"] {
            assert!(!blocks(&files, "2", path), "{path}");
        }
        assert!(!blocks(&files, "1", "a.css") && !blocks(&files, "9", "a.css"));
        assert!(!blocks(&[files[0], (".planning/phases/02-b/02-UI-SPEC.md", "x")], "2", "a.css"));
    }
}
