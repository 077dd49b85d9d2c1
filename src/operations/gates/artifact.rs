//! Gates that check one artifact, or whether a phase changes the user interface.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::failure::Failure;
use crate::project::config::Config;
use crate::project::files::FileError;
use crate::project::threats::{Threat, ThreatSeverity, threats_of};
use crate::project::view::{NamedPhase, ProjectView};
use crate::text::front_matter::FrontMatter;
use crate::text::markdown::Markdown;
use crate::text::words::{self, read_words};

/// The kind of predicate that compares a field of an artifact with a value.
const FIELD_EQUALS: &str = "artifact-frontmatter-equals";

/// A condition that a feature sets at a point of the loop.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Predicate {
    artifact: String,
    field: String,
    equals: Value,
    absent: Option<Absent>,
}

read_words! {
    /// What decides if the artifact is missing.
    enum Absent {
        /// The threats named in the plans of the phase.
        PlannedThreats = "planned-threats",
    }
}

impl Predicate {
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        let value: Value = serde_json::from_str(text)
            .map_err(|error| Failure::usage("the value of `--predicate` is not valid JSON").cause(error.to_string()))?;
        let kind = value
            .get("kind")
            .and_then(Value::as_str)
            .ok_or_else(|| Failure::usage("`check predicate` needs --predicate"))?;
        if kind != FIELD_EQUALS {
            return Err(Failure::usage(format!("unknown kind of predicate `{kind}`; use {FIELD_EQUALS}")));
        }
        let needed = |key: &str| Failure::usage(format!("a predicate of kind {FIELD_EQUALS} needs `{key}`"));
        let word = |key: &str| {
            let text = value.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
            text.map(str::to_owned).ok_or_else(|| needed(key))
        };
        let equals = value.get("equals").cloned().ok_or_else(|| needed("equals"))?;
        let absent = value.get("absent").and_then(Value::as_str);
        let known = |word: &str| {
            words::of_word(word).ok_or_else(|| Failure::usage(format!("unknown value of `absent`: `{word}`")))
        };
        Ok(Self { artifact: word("artifact")?, field: word("field")?, equals, absent: absent.map(known).transpose()? })
    }
}

/// What `check predicate` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PredicateReport {
    pub(crate) block: bool,
    pub(crate) message: String,
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

/// Checks whether the artifact in `folder` has the value that the predicate requires. A missing artifact blocks, unless
/// the predicate says what decides then.
pub(crate) fn predicate(
    view: &ProjectView,
    config: &Config,
    predicate: &Predicate,
    folder: &str,
) -> Result<PredicateReport, FileError> {
    let Predicate { artifact, field, equals, absent } = predicate;
    let suffix = format!("-{artifact}");
    let name = view.file_names(folder)?.into_iter().find(|name| name == artifact || name.ends_with(&suffix));
    let mut details =
        PredicateDetails { kind: FIELD_EQUALS, artifact_not_found: None, matches: None, actual: None, expected: None };
    let Some(name) = name else {
        details.artifact_not_found = Some(true);
        if *absent == Some(Absent::PlannedThreats) {
            let open = planned_threat(view, config, folder)?;
            let message = open.as_ref().map_or_else(
                || format!("no plan has a threat that {artifact} has to answer"),
                |why| format!("no file matches {artifact} in {}: {why}", view.layout().shown(folder)),
            );
            return Ok(PredicateReport { block: open.is_some(), message, details });
        }
        let message = format!("no file matches {artifact} in {}", view.layout().shown(folder));
        return Ok(PredicateReport { block: true, message, details });
    };
    let text = view.text(&format!("{folder}/{name}"))?.unwrap_or_default();
    let actual = FrontMatter::parse(&text).and_then(|front| front.get(field)).map(|value| value.flat());
    let wanted = shown(equals);
    let matches = actual.as_deref().is_some_and(|actual| actual.trim() == wanted);
    details.matches = Some(matches);
    let message = if matches {
        format!("the front matter field `{field}` is {wanted}")
    } else {
        let told = actual.as_deref().unwrap_or("undefined");
        details.expected = Some(equals.clone());
        format!("the front matter field `{field}` of {artifact} is {told}; expected {wanted}")
    };
    if !matches {
        details.actual = actual;
    }
    Ok(PredicateReport { block: !matches, message, details })
}

/// Why the threats of a phase must be reviewed before it ships: one has the severity of `workflow.security_block_on` or
/// higher, or no known severity. Threats below that are accepted or mitigated by their plan.
fn planned_threat(view: &ProjectView, config: &Config, folder: &str) -> Result<Option<String>, FileError> {
    let from = match config.text("workflow.security_block_on").unwrap_or("high") {
        "none" => return Ok(None),
        word => words::of_word::<ThreatSeverity>(word),
    };
    let Some(phase) = view.phase_folders()?.iter().find(|phase| phase.path == folder).cloned() else {
        return Ok(Some("the folder of the phase was not found".to_owned()));
    };
    let plans = view.plan_texts(&phase)?;
    if plans.is_empty() {
        return Ok(Some("the phase has no plan that names threats".to_owned()));
    }
    for (name, text) in plans {
        let Some(threats) = threats_of(&text) else {
            return Ok(Some(format!("{name} has no threat model")));
        };
        let counts = |threat: &&Threat| threat.severity.is_none_or(|severity| from.is_none_or(|from| severity >= from));
        if let Some(threat) = threats.iter().find(counts) {
            let severity = threat.severity.map_or("unknown", ThreatSeverity::word);
            return Ok(Some(format!("threat {} of {name} has severity {severity}", threat.id)));
        }
    }
    for name in phase.summaries() {
        let text = view.text(&phase.join(name))?.unwrap_or_default();
        if flags_threats(&text) {
            return Ok(Some(format!("{name} has threats under `Threat Flags`")));
        }
    }
    Ok(None)
}

/// True if a summary names threats that no plan has.
fn flags_threats(summary: &str) -> bool {
    let document = Markdown::parse(summary);
    let Some((_, lines)) = document.section_named("Threat Flags") else { return false };
    let said = summary[document.span(lines)].lines().map(str::trim).find(|line| !line.is_empty());
    said.is_some_and(|line| {
        let line = line.trim_start_matches(['-', '*', '_', ' ']).to_lowercase();
        !line.starts_with("none") && !line.starts_with("no ") && !line.starts_with("n/a")
    })
}

/// A value as written in a front matter.
fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Words that show that a phase changes the user interface. Words with another common meaning in code (the view of a
/// database, the interface of a library) are left out.
const SIGHT: &[&str] = &["ui", "frontend", "page", "screen", "form", "dashboard", "widget"];

/// What `check ui-plan-gate` answers.
#[derive(Debug, Serialize, JsonSchema)]
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<String>,
    /// How to make the design, or turn the gate off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cure: Option<String>,
}

/// Checks whether a phase with a user interface lacks its design. `has_frontend`: the source has a frontend. `wanted`:
/// the gate is on. `designer`: the command that makes the design, if installed.
pub(crate) fn ui_plan(
    view: &ProjectView,
    phase: &NamedPhase,
    has_frontend: bool,
    wanted: bool,
    designer: Option<&str>,
) -> Result<UiPlanReport, FileError> {
    let seen = SeenPhase::of(view, phase)?;
    let is_seen = seen.matched.is_some();
    let block = wanted && is_seen && has_frontend && seen.spec.is_none();
    let message = seen
        .matched
        .as_ref()
        .map(|(_, line)| format!("Phase {} is about what people see (`{line}`), and has no UI-SPEC.md", phase.number));
    Ok(UiPlanReport {
        frontend: is_seen,
        has_frontend_evidence: has_frontend,
        has_ui_spec: seen.spec.is_some(),
        block,
        ui_spec_path: seen.spec.map(|path| view.layout().shown(&path)),
        matched_token: seen.matched.as_ref().map(|(word, _)| *word),
        matched_line: seen.matched.map(|(_, line)| line),
        message: message.filter(|_| block),
        cure: block.then(|| design_cure(phase, designer)),
    })
}

/// How to make the design of a phase.
fn design_cure(phase: &NamedPhase, designer: Option<&str>) -> String {
    match designer {
        Some(command) => format!("{command} {}", phase.number),
        None => "write the UI-SPEC.md of the phase, or turn the gate off with \
                 `gsd-tools config-set workflow.ui_safety_gate false`"
            .to_owned(),
    }
}

/// What `check ui-safety-gate` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct UiSafetyReport {
    /// The phase changes the user interface.
    frontend: bool,
    /// Files of the user interface were changed.
    #[serde(rename = "hasUiFiles")]
    has_ui_files: bool,
    #[serde(rename = "hasUiSpec")]
    has_ui_spec: bool,
    pub(crate) block: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<String>,
    /// How to make the design, or turn the gate off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cure: Option<String>,
}

/// Checks whether the user interface was changed in a phase without a design. `changed` are the files changed in the
/// phase; `designer` is the command that makes the design, if installed.
pub(crate) fn ui_safety(
    view: &ProjectView,
    phase: &NamedPhase,
    changed: &[String],
    designer: Option<&str>,
) -> Result<UiSafetyReport, FileError> {
    let seen = SeenPhase::of(view, phase)?;
    let has_ui_files = changed.iter().any(|path| is_seen_by_people(path));
    let block = seen.matched.is_some() && has_ui_files && seen.spec.is_none();
    let message = format!("Phase {} changed what people see, and has no UI-SPEC.md", phase.number);
    Ok(UiSafetyReport {
        frontend: seen.matched.is_some(),
        has_ui_files,
        has_ui_spec: seen.spec.is_some(),
        block,
        message: block.then_some(message),
        cure: block.then(|| design_cure(phase, designer)),
    })
}

/// A phase, checked for a user interface.
#[derive(Debug)]
struct SeenPhase {
    /// The word that matched, and its line.
    matched: Option<(&'static str, String)>,
    /// The path of its design.
    spec: Option<String>,
}

/// True if a phase changes the user interface: the roadmap says so, or the phase has a design.
pub(crate) fn is_about_sight(view: &ProjectView, phase: &NamedPhase) -> Result<bool, FileError> {
    let seen = SeenPhase::of(view, phase)?;
    Ok(seen.matched.is_some() || seen.spec.is_some())
}

/// Words that show that a phase builds on language models.
const MODELS: &[&str] = &["ai", "chatbot", "embedding", "llm", "rag"];

/// True if a phase builds on language models: the roadmap says so, or the phase has an AI-SPEC.md.
pub(crate) fn is_about_models(view: &ProjectView, phase: &NamedPhase) -> Result<bool, FileError> {
    let has_contract = phase.folder.as_ref().is_some_and(|folder| folder.artifact("AI-SPEC").is_some());
    let roadmap = view.roadmap_or_empty()?;
    let section = roadmap.section(&phase.number).map(|section| roadmap.section_text(section)).unwrap_or_default();
    let says_so = |line: &str| MODELS.iter().any(|word| says(line, word)) || line.to_lowercase().contains(MODEL_PHRASE);
    Ok(has_contract || section.lines().any(says_so))
}

/// The same as a phrase, since the single word `model` is ambiguous.
const MODEL_PHRASE: &str = "language model";

impl SeenPhase {
    /// If any phase of the roadmap has a `**UI hint**` line, the lines decide: a phase without one has no user
    /// interface. The words of the prose count only if no phase has such a line.
    fn of(view: &ProjectView, phase: &NamedPhase) -> Result<Self, FileError> {
        let roadmap = view.roadmap_or_empty()?;
        let section = roadmap.section(&phase.number).map(|section| roadmap.section_text(section)).unwrap_or_default();
        let has_hints = || roadmap.sections().iter().any(|section| roadmap.section_text(section).lines().any(is_hint));
        let may_be_seen = section.lines().find_map(hint).unwrap_or_else(|| !has_hints());
        let says_so = |line: &str| Some((*SIGHT.iter().find(|word| says(line, word))?, line.trim().to_owned()));
        let matched = section.lines().find_map(says_so).filter(|_| may_be_seen);
        let spec = phase.folder.as_ref().and_then(|folder| folder.artifact_path("UI-SPEC"));
        Ok(Self { matched, spec })
    }
}

/// Extensions of user interface files, and folders of them.
const SEEN_ENDINGS: &[&str] = &["css", "html", "jsx", "less", "sass", "scss", "svelte", "tsx", "vue"];
const SEEN_FOLDERS: &[&str] = &["components", "frontend", "layouts", "pages", "screens", "ui", "views"];

fn is_seen_by_people(path: &str) -> bool {
    let lower = path.to_lowercase();
    let (folders, name) = lower.rsplit_once('/').unwrap_or(("", &lower));
    name.rsplit_once('.').is_some_and(|(_, ending)| SEEN_ENDINGS.contains(&ending))
        || folders.split('/').any(|folder| SEEN_FOLDERS.contains(&folder))
}

/// True if a line contains `word` as a whole word, in any case, singular or plural.
fn says(line: &str, word: &str) -> bool {
    let lower = line.to_lowercase();
    lower
        .split(|letter: char| !letter.is_alphanumeric())
        .any(|found| found == word || found.strip_suffix('s') == Some(word))
}

/// The value of the line `**UI hint**: yes`: true if the phase changes the user interface. `None` for other lines.
fn hint(line: &str) -> Option<bool> {
    let bare = line.trim().trim_start_matches("- ").replace('*', "").to_lowercase();
    let value = bare.strip_prefix("ui hint")?.trim_start_matches(':').trim().to_owned();
    Some(!matches!(value.as_str(), "no" | "none" | "false"))
}

fn is_hint(line: &str) -> bool {
    hint(line).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::config::ConfigTexts;

    const FOLDER: &str = ".planning/phases/01-a";

    fn view(files: &[(&str, &str)]) -> ProjectView {
        ProjectView::of(files.iter().copied())
    }

    #[test]
    fn a_field_is_compared_as_written() {
        let wanted = |equals: &str| {
            Predicate::parse(&format!(
                r#"{{"kind":"artifact-frontmatter-equals","artifact":"SECURITY.md","field":"threats_open","equals":{equals}}}"#
            ))
            .unwrap()
        };
        let view = view(&[(".planning/phases/01-a/01-SECURITY.md", "---\nthreats_open: 2\nok: true\n---\n")]);
        let config = Config::default();
        let blocks = |equals: &str| predicate(&view, &config, &wanted(equals), FOLDER).unwrap().block;
        assert_eq!([blocks("2"), blocks("\"2\""), blocks("0"), blocks("true")], [false, false, true, true]);
        let missing = predicate(&view, &config, &wanted("0"), ".planning/phases/02-b").unwrap();
        assert_eq!((missing.block, missing.details.artifact_not_found), (true, Some(true)));
    }

    #[test]
    fn without_a_security_report_the_threats_of_the_plans_decide() {
        let wanted = Predicate::parse(
            r#"{"kind":"artifact-frontmatter-equals","artifact":"SECURITY.md","field":"threats_open","equals":0,
                "absent":"planned-threats"}"#,
        );
        let wanted = wanted.unwrap();
        let row = |severity: &str, disposition: &str| {
            format!(
                "<threat_model>\n| Threat | Severity | Disposition |\n|---|---|---|\n| T-01-01-01 | {severity} | {disposition} |\n\
                 </threat_model>\n"
            )
        };
        let asked = |config: &str, plan: &str, summary: &str| {
            let files =
                [(".planning/phases/01-a/01-01-PLAN.md", plan), (".planning/phases/01-a/01-01-SUMMARY.md", summary)];
            let (config, _) = Config::read(ConfigTexts { project: Some(config), ..ConfigTexts::default() });
            predicate(&view(&files), &config, &wanted, FOLDER).unwrap()
        };
        let block_on = |word: &str| format!(r#"{{"workflow": {{"security_block_on": "{word}"}}}}"#);
        for (config, plan, summary, blocks) in [
            ("{}", row("low", "accept"), "", false),
            ("{}", row("medium", "mitigate"), "## Threat Flags\n\nNone\n", false),
            ("{}", row("high", "mitigate"), "", true),
            ("{}", row("critical", "accept"), "", true),
            ("{}", row("{severity}", "accept"), "", true),
            ("{}", row("low", "accept"), "## Threat Flags\n\n- an upload without a limit\n", true),
            ("{}", "no threat model".to_owned(), "", true),
            (&block_on("low"), row("low", "accept"), "", true),
            (&block_on("critical"), row("high", "accept"), "", false),
            (&block_on("none"), row("critical", "accept"), "", false),
        ] {
            let report = asked(config, &plan, summary);
            assert_eq!(report.block, blocks, "{config} {plan} {summary}: {}", report.message);
        }
        assert!(asked("{}", &row("high", "x"), "").message.contains("T-01-01-01 of 01-01-PLAN.md has severity high"));
        let empty = predicate(&view(&[]), &Config::default(), &wanted, FOLDER).unwrap();
        assert!(empty.block, "a phase that was not found has not passed");
    }

    #[test]
    fn a_predicate_that_means_nothing_is_an_error_never_a_pass() {
        for (text, told) in [
            ("{bad", "valid JSON"),
            ("{}", "needs --predicate"),
            ("[]", "needs --predicate"),
            (r#"{"kind":"zzz"}"#, "zzz"),
            (r#"{"kind":"artifact-frontmatter-equals","artifact":"A.md"}"#, "`equals`"),
            (r#"{"kind":"artifact-frontmatter-equals","artifact":"","field":"x","equals":1}"#, "`artifact`"),
            (r#"{"kind":"artifact-frontmatter-equals","artifact":"A.md","field":"x","equals":1,"absent":"y"}"#, "`y`"),
        ] {
            let error = Predicate::parse(text).unwrap_err().to_string();
            assert!(error.contains(told), "{text}: {error}");
        }
    }

    fn named(view: &ProjectView, typed: &str) -> NamedPhase {
        view.phase_named(typed).unwrap().unwrap()
    }

    #[test]
    fn a_phase_builds_on_models_if_its_roadmap_says_so_or_it_has_a_contract() {
        let roadmap = "### Phase 1: A\n**Goal**: the data model, said in plain domain words\n\n\
                       ### Phase 2: B\n**Goal**: answers by an LLM\n\n### Phase 3: C\n**Goal**: small language models\n";
        let files = [(".planning/ROADMAP.md", roadmap), (".planning/phases/04-d/04-AI-SPEC.md", "x")];
        let view = view(&files);
        let about = ["1", "2", "3", "4"].map(|phase| is_about_models(&view, &named(&view, phase)).unwrap());
        assert_eq!(about, [false, true, true, true]);
    }

    #[test]
    fn a_phase_with_a_user_interface_needs_a_design_if_there_is_a_frontend() {
        let roadmap = "### Phase 1: A\n**Goal**: build guidance\n\n### Phase 2: B\n**Goal**: Two Forms\n\n\
                       ### Phase 3: C\n**Goal**: a SQLite view behind an interface; review the layout\n";
        let files = [(".planning/ROADMAP.md", roadmap)];
        let told = |files: &[(&str, &str)], phase: &str, frontend, wanted| {
            let view = view(files);
            let report = ui_plan(&view, &named(&view, phase), frontend, wanted, None).unwrap();
            assert_eq!((report.message.is_some(), report.cure.is_some()), (report.block, report.block));
            (report.matched_token, report.block)
        };
        assert_eq!(told(&files, "1", true, true), (None, false));
        assert_eq!(told(&files, "2", true, true), (Some("form"), true));
        assert_eq!(told(&files, "2", false, true), (Some("form"), false));
        assert_eq!(told(&files, "3", true, true), (None, false));
        let with = [files[0], (".planning/phases/02-b/02-UI-SPEC.md", "x")];
        assert!(!told(&with, "2", true, true).1);
        assert!(!told(&files, "2", true, false).1, "the gate is off");
    }

    #[test]
    fn a_roadmap_with_hints_decides_whatever_its_prose_says() {
        let roadmap = "### Phase 1: A\n**Goal**: two screens\n**UI hint**: no\n\n### Phase 2: B\n**Goal**: tables\n\
                       - **UI hint**: yes\n\n### Phase 3: UI\n**Goal**: one page\n";
        let view = view(&[(".planning/ROADMAP.md", roadmap)]);
        let blocks = |phase: &str| ui_plan(&view, &named(&view, phase), true, true, Some("/x")).unwrap();
        assert_eq!(["1", "2", "3"].map(|phase| blocks(phase).block), [false, true, false]);
        assert_eq!(blocks("2").cure.as_deref(), Some("/x 2"));
    }

    #[test]
    fn the_user_interface_is_not_changed_without_a_design() {
        let roadmap = "### Phase 1: A\n**Goal**: guidance\n\n### Phase 2: B\n**Goal**: Two Forms\n";
        let files = [(".planning/ROADMAP.md", roadmap)];
        let blocks = |files: &[(&str, &str)], phase: &str, path: &str| {
            let view = view(files);
            ui_safety(&view, &named(&view, phase), &[path.to_owned()], None).unwrap().block
        };
        for path in ["src/App.TSX", "page.html", "src/components/x.ts", "pages/a.js", "lib/ui/a.ts"] {
            assert!(blocks(&files, "2", path), "{path}");
        }
        for path in ["src/a.ts", "src/page.ts", ".planning/STATE.md", "css", "a/ui.rs"] {
            assert!(!blocks(&files, "2", path), "{path}");
        }
        assert!(!blocks(&files, "1", "a.css"));
        assert!(!blocks(&[files[0], (".planning/phases/02-b/02-UI-SPEC.md", "x")], "2", "a.css"));
    }
}
