//! Checks whether a phase that uses an external API has decided what it uses of it: `COVERAGE.md`, a table of
//! capabilities, each to be integrated or left out with a reason.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::project::files::FileError;
use crate::project::folder::PhaseFolder;
use crate::project::view::{NamedPhase, ProjectView};
use crate::text::markdown::{LineKind, Markdown};
use crate::text::table::Table;

/// What `check api-coverage-verify-pre` answers.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct ApiCoverageReport {
    pub(crate) block: bool,
    passed: bool,
    coverage_present: bool,
    /// The name of the file with the decisions.
    #[serde(skip_serializing_if = "Option::is_none")]
    matrix: Option<String>,
    /// The number of capabilities by decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    counts: Option<MatrixCounts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_count: Option<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<String>,
    /// The file declares that there is nothing to decide.
    #[serde(skip_serializing_if = "Option::is_none")]
    none_declared: Option<bool>,
    /// Without decisions: true if the phase uses an external API.
    #[serde(skip_serializing_if = "Option::is_none")]
    detected: Option<bool>,
    /// The words that indicate it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    signals: Vec<ApiSignal>,
    #[serde(skip_serializing_if = "Option::is_none")]
    phase_lookup_failed: Option<bool>,
    pub(crate) message: String,
    /// The command that makes the decisions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cure: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
struct MatrixCounts {
    surface: usize,
    integrate: usize,
    optout: usize,
}

/// An action and its object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
struct ApiSignal {
    verb: String,
    noun: String,
}

/// The report for a phase without a folder, for the reason `why`. It passes if the project has no phases folder, else
/// it blocks.
pub(crate) fn no_phase(view: &ProjectView, why: String) -> ApiCoverageReport {
    let phases = view.layout().phases();
    let has_phases = view.folder_exists(&phases);
    let message = if has_phases { why } else { format!("There is no `{phases}`, so there is nothing to verify") };
    let report = ApiCoverageReport::new(has_phases, message);
    ApiCoverageReport { detected: Some(false), phase_lookup_failed: has_phases.then_some(true), ..report }
}

/// Checks whether verification of a phase may begin. `planner` is the command that plans phases.
pub(crate) fn verify_pre(
    view: &ProjectView,
    phase: &NamedPhase,
    planner: &str,
) -> Result<ApiCoverageReport, FileError> {
    let report = decided(view, phase)?;
    let cure = match &report.matrix {
        Some(matrix) => format!("correct the table in {matrix}"),
        None => format!("{planner} {}", phase.number),
    };
    Ok(ApiCoverageReport { cure: report.block.then_some(cure), ..report })
}

fn decided(view: &ProjectView, phase: &NamedPhase) -> Result<ApiCoverageReport, FileError> {
    let Some(folder) = &phase.folder else {
        return Ok(no_phase(view, format!("Phase {} has no folder yet, so there is nothing to verify", phase.number)));
    };
    if let Some(path) = folder.artifact_path("COVERAGE") {
        let text = view.text(&path)?.unwrap_or_default();
        let name = path.rsplit('/').next().unwrap_or_default().to_owned();
        if declares_none(&text) && entries(&text).is_empty() {
            return Ok(none_declared(name, signals(&scope(view, folder)?)));
        }
        return Ok(matrix(name, &text));
    }
    let signals = signals(&scope(view, folder)?);
    let detected = !signals.is_empty();
    let message = if detected {
        "the phase uses an outside API: decide in COVERAGE.md what of it, each capability INTEGRATE or OPT-OUT with a reason"
    } else {
        "api-coverage: no external-API integration detected; coverage matrix not required"
    };
    Ok(ApiCoverageReport { detected: Some(detected), signals, ..ApiCoverageReport::new(detected, message.to_owned()) })
}

impl ApiCoverageReport {
    fn new(block: bool, message: String) -> Self {
        Self { block, passed: !block, message, ..Self::default() }
    }
}

/// What a phase is going to do: its plans, or its section in the roadmap if it has none.
fn scope(view: &ProjectView, folder: &PhaseFolder) -> Result<String, FileError> {
    let mut scope = String::new();
    for (_, text) in view.plan_texts(folder)? {
        scope.push_str(&text);
        scope.push('\n');
    }
    if scope.is_empty() {
        let roadmap = view.roadmap_or_empty()?;
        scope.extend(roadmap.section(folder.token()).map(|section| roadmap.section_text(section)));
    }
    Ok(scope)
}

/// The decision about one capability.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
struct CapabilityDecision {
    capability: String,
    decision: String,
    reason: String,
}

/// The decisions in the file: the rows of every table with the columns of the matrix, and lists of JSON objects in
/// fences marked `coverage`, or in fences marked `json` if nothing else was found.
fn entries(text: &str) -> Vec<CapabilityDecision> {
    let markdown = Markdown::parse(text);
    let mut entries = Vec::new();
    for table in Table::all(&markdown) {
        let (Some(capability), Some(decision)) = (table.column("Capability"), table.column("Decision")) else {
            continue;
        };
        let reason = table.column("Reason");
        entries.extend((0..table.row_count()).map(|row| CapabilityDecision {
            capability: table.cell_text(row, capability),
            decision: table.cell_text(row, decision),
            reason: reason.map(|column| table.cell_text(row, column)).unwrap_or_default(),
        }));
    }
    let blocks = fenced(&markdown);
    let mut read = |wanted: &str| {
        for (_, block) in blocks.iter().filter(|(words, _)| words.split_whitespace().any(|word| word == wanted)) {
            let list: Vec<CapabilityDecision> = serde_json::from_str(block).unwrap_or_default();
            entries.extend(list.into_iter().filter(|entry| *entry != CapabilityDecision::default()));
        }
        entries.is_empty()
    };
    // Other JSON next to a matrix may be an example.
    if read("coverage") {
        read("json");
    }
    entries
}

/// The code fences, each with the info string of its opening line and its content.
fn fenced<'text>(markdown: &Markdown<'text>) -> Vec<(&'text str, &'text str)> {
    let lines = markdown.lines();
    let is_edge = |at: &usize| lines[*at].kind == LineKind::FenceEdge;
    let mut edges = (0..lines.len()).filter(is_edge);
    let mut blocks = Vec::new();
    while let Some(open) = edges.next() {
        let close = edges.next().unwrap_or(lines.len());
        let words = markdown.line(open).trim_start().trim_start_matches(['`', '~']).trim();
        blocks.push((words, &markdown.text()[markdown.span(open + 1..close)]));
    }
    blocks
}

/// True if the file rules out an external API, with a reason: `No external API integration: only local files`.
fn declares_none(text: &str) -> bool {
    let markdown = Markdown::parse(text);
    let mut prose = (0..markdown.lines().len()).filter(|line| markdown.is_prose(*line)).map(|line| markdown.line(line));
    prose.any(|line| {
        let line = line.trim_start_matches([' ', '\t', '-', '*', '>']).to_lowercase();
        let Some((claim, reason)) = line.split_once(':') else { return false };
        let claim = claim.trim_matches(['*', '_', ' ']);
        let is_claim = ["external", "outside", "third-party"].iter().any(|word| {
            let subject = claim.strip_prefix("no ").and_then(|rest| rest.strip_prefix(word)).map(str::trim);
            matches!(subject, Some("api" | "apis" | "api integration" | "api integrations"))
        });
        is_claim && reason.contains(char::is_alphanumeric)
    })
}

/// The file rules out an external API. Signals that contradict it are listed.
fn none_declared(name: String, signals: Vec<ApiSignal>) -> ApiCoverageReport {
    let message = if signals.is_empty() {
        format!("{name} says that there is no outside API, so there is nothing to decide")
    } else {
        let told: Vec<String> = signals.iter().map(|signal| format!("{} {}", signal.verb, signal.noun)).collect();
        format!("{name} says that there is no outside API; words of the phase suggest one: {}", told.join(", "))
    };
    ApiCoverageReport {
        coverage_present: true,
        matrix: Some(name),
        counts: Some(MatrixCounts::default()),
        none_declared: Some(true),
        detected: Some(!signals.is_empty()),
        signals,
        ..ApiCoverageReport::new(false, message)
    }
}

fn matrix(name: String, text: &str) -> ApiCoverageReport {
    let mut counts = MatrixCounts::default();
    let (mut undecided, mut errors) = (Vec::new(), Vec::new());
    let mut names: Vec<String> = Vec::new();
    let entries = entries(text);
    if declares_none(text) && !entries.is_empty() {
        undecided.push("it says that there is no outside API and decides about one: remove one of the two".to_owned());
    }
    for CapabilityDecision { capability, decision, reason } in entries {
        let label = format!("row[{}]", names.len());
        let capability = capability.trim().to_owned();
        let decision = decision.trim_matches(['*', '_', '`', ' ', '\t']).to_uppercase();
        match decision.as_str() {
            "INTEGRATE" => counts.integrate += 1,
            "OPT-OUT" => counts.optout += 1,
            _ => {
                undecided.push(format!("row: decision \"{decision}\" not in {{INTEGRATE, OPT-OUT}}"));
                continue;
            }
        }
        counts.surface += 1;
        if capability.is_empty() {
            errors.push(format!("{label}: empty capability name"));
        } else if names.contains(&capability.to_lowercase()) {
            errors.push(format!("{label}: duplicate capability"));
        }
        if decision == "OPT-OUT" && reason.trim().is_empty() {
            errors.push(format!("{label}: OPT-OUT missing reason"));
        }
        names.push(capability.to_lowercase());
    }
    undecided.append(&mut errors);
    let mut errors = undecided;
    if counts.surface == 0 && errors.is_empty() {
        errors.push("matrix is empty — no capabilities enumerated".to_owned());
    }
    let block = !errors.is_empty();
    let message = if block {
        format!("{name} has {} problem(s): each capability is INTEGRATE, or OPT-OUT with a reason", errors.len())
    } else {
        format!("api-coverage: matrix present ({} capabilities, {} opt-out)", counts.surface, counts.optout)
    };
    ApiCoverageReport {
        coverage_present: true,
        matrix: Some(name),
        counts: (!block).then_some(counts),
        error_count: block.then_some(errors.len()),
        errors,
        ..ApiCoverageReport::new(block, message)
    }
}

/// Verbs for integrating with other software.
const VERBS: &[&str] = &[
    "integrate",
    "integrates",
    "integrating",
    "integration",
    "consume",
    "consumes",
    "consuming",
    "wrap",
    "wraps",
    "wrapping",
    "adopt",
    "adopts",
    "adopting",
    "connect",
    "connects",
    "connecting",
    "wire",
    "wires",
    "wiring",
    "onboard",
    "onboarding",
];

/// Nouns for interfaces that other software offers.
const NOUNS: &[&str] =
    &["api", "apis", "sdk", "sdks", "rest", "graphql", "grpc", "endpoint", "endpoints", "webhook", "webhooks", "oauth"];

/// Nouns that are enough with a name before them: `Stripe API`.
const SURFACES: &[&str] = &["api", "rest", "sdk", "graphql"];

/// Capitalized words before such a noun that are not names.
const NO_NAMES: &[&str] = &[
    "a",
    "add",
    "an",
    "build",
    "call",
    "each",
    "every",
    "http",
    "https",
    "implement",
    "internal",
    "its",
    "json",
    "local",
    "my",
    "new",
    "no",
    "old",
    "our",
    "own",
    "private",
    "public",
    "rest",
    "some",
    "that",
    "the",
    "their",
    "these",
    "this",
    "use",
    "your",
];

const DENIALS: &[&str] = &["not", "no", "without", "never", "cannot", "dont", "doesnt", "wont"];

/// Signals that a text is about an external API: in one clause a verb and a noun, or a name and a noun.
fn signals(text: &str) -> Vec<ApiSignal> {
    let markdown = Markdown::parse(text);
    let mut found: Vec<ApiSignal> = Vec::new();
    let mut surface = None;
    let mut add = |verb: &str, noun: &str| {
        let signal = ApiSignal { verb: verb.to_owned(), noun: noun.to_owned() };
        if !found.contains(&signal) {
            found.push(signal);
        }
    };
    let front = markdown.body_line();
    let prose = (0..markdown.lines().len()).filter(|line| *line < front || markdown.is_prose(*line));
    for line in prose.map(|line| without_code(markdown.line(line))) {
        for clause in line.split(['.', ',', ';', ':', '!', '?', '(', ')', '|']) {
            let words: Vec<&str> = clause
                .split(|letter: char| !letter.is_alphanumeric() && letter != '\'' && letter != '/')
                .filter(|word| !word.is_empty())
                .collect();
            let lower: Vec<String> = words.iter().map(|word| word.to_lowercase().replace('\'', "")).collect();
            let denied = |at: usize| at > 0 && DENIALS.contains(&lower[at - 1].as_str());
            let verbs = lower.iter().enumerate().filter(|(at, word)| VERBS.contains(&word.as_str()) && !denied(*at));
            for (_, verb) in verbs {
                for noun in lower.iter().filter(|word| NOUNS.contains(&word.as_str())) {
                    add(verb, noun);
                }
            }
            for (at, noun) in lower.iter().enumerate().skip(1).filter(|(_, word)| SURFACES.contains(&word.as_str())) {
                let before = words[at - 1];
                let is_name = before.starts_with(char::is_uppercase)
                    && !NO_NAMES.contains(&lower[at - 1].as_str())
                    && !before.contains(['\'', '/']);
                if is_name && surface.is_none() {
                    surface = Some(noun.clone());
                }
            }
        }
    }
    if let Some(noun) = surface {
        add("(surface)", &noun);
    }
    found
}

/// A line without the text between backticks.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<String> {
        signals(text).iter().map(|signal| format!("{} {}", signal.verb, signal.noun)).collect()
    }

    #[test]
    fn words_indicate_the_use_of_an_external_api() {
        for text in
            ["integrating the api", "Wire up their webhooks", "we consume the REST endpoints", "the api we integrate"]
        {
            assert!(!told(text).is_empty(), "{text}");
        }
        assert_eq!(told("Integrate the Stripe API."), ["integrate api", "(surface) api"]);
        assert_eq!(told("Google Maps API"), ["(surface) api"]);
        for text in [
            "Build our API",
            "the api",
            "Our API",
            "See `integrate the api`",
            "```\nintegrate the api\n```",
            "integrate X, the api",
            "Do not integrate the api",
            "without integrating the api",
            "integrate the module",
            "src/api.ts",
            "Public API",
            "consumer of /api/users",
        ] {
            assert_eq!(told(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn every_capability_is_decided_and_every_omission_has_a_reason() {
        let of = |rows: &str| {
            matrix("C.md".into(), &format!("# X\n\n| Capability | Decision | Reason |\n|---|---|---|\n{rows}"))
        };
        let good = of("| charge | integrate | |\n| refund | OPT-OUT | not needed |\n");
        assert_eq!((good.block, good.counts), (false, Some(MatrixCounts { surface: 2, integrate: 1, optout: 1 })));
        let bad = of("| charge | INTEGRATE | |\n| Charge | OPT-OUT | |\n| x | maybe | |\n| | INTEGRATE | |\n");
        assert_eq!(
            bad.errors,
            [
                "row: decision \"MAYBE\" not in {INTEGRATE, OPT-OUT}",
                "row[1]: duplicate capability",
                "row[1]: OPT-OUT missing reason",
                "row[2]: empty capability name",
            ]
        );
        assert!(matrix("C.md".into(), "nothing").block && of("").block);
        let reordered = matrix("C.md".into(), "| Decision | Capability |\n|---|---|\n| INTEGRATE | a |\n");
        assert!(!reordered.block, "columns are found by their names");
    }

    #[test]
    fn decisions_are_read_from_several_tables_or_a_json_list() {
        let counts = |text: &str| matrix("C.md".into(), text).counts.map(|counts| (counts.integrate, counts.optout));
        let tables = "| Capability | Decision | Reason |\n|---|---|---|\n| a | **INTEGRATE** | |\n\n## More\n\n\
            | Capability | Decision | Reason |\n|---|---|---|\n| b | `OPT-OUT` | x |\n\n\
            | Name | Decision |\n|---|---|\n| c | maybe |\n\n| Capability | Note |\n|---|---|\n| d | maybe |\n";
        assert_eq!(counts(tables), Some((1, 1)));
        let json = r#"[{"capability": "a", "decision": "integrate"}, {"capability": "b", "decision": "OPT-OUT", "reason": "x"}]"#;
        assert_eq!(counts(&format!("# C\n\n```json\n{json}\n```\n")), Some((1, 1)));
        assert_eq!(counts(&format!("# C\n\n```coverage\n{json}\n```\n")), Some((1, 1)));
        assert_eq!(counts(&format!("{tables}\n```json\n{json}\n```\n")), Some((1, 1)), "an example beside the matrix");
        assert_eq!(
            counts(&format!("{tables}\n```coverage\n{}\n```\n", json.replace("\"a\"", "\"e\""))),
            None,
            "b stands twice"
        );
        let no_reason = json.replace(", \"reason\": \"x\"", "");
        assert_eq!(counts(&format!("```json\n{no_reason}\n```\n")), None);
        for nothing in ["```json\n[]\n```\n", "```json\n[{\n```\n", "```\nx\n"] {
            assert_eq!(counts(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn a_file_may_rule_out_an_external_api() {
        let told = |plan: &str, text: &str| {
            let files = [
                (".planning/ROADMAP.md", "### Phase 1: A\n"),
                (".planning/phases/01-a/01-01-PLAN.md", plan),
                (".planning/phases/01-a/01-COVERAGE.md", text),
            ];
            let view = ProjectView::of(files);
            verify_pre(&view, &view.phase_named("1").unwrap().unwrap(), "/plan").unwrap()
        };
        for text in [
            "No external API integration: local files only\n",
            "# C\n\n- **No external API integration:** local\n",
            "No outside APIs: none is called\n",
        ] {
            let report = told("Integrate the API", text);
            assert_eq!(
                (report.block, report.none_declared, report.detected),
                (false, Some(true), Some(true)),
                "{text}"
            );
            assert_eq!(report.counts, Some(MatrixCounts::default()));
            assert!(report.message.contains("integrate api"), "{}", report.message);
            assert_eq!(told("Sort the list", text).detected, Some(false));
        }
        let row = "| Capability | Decision |\n|---|---|\n| a | INTEGRATE |\n\n";
        for text in [
            "No external API integration\n",
            "No external API integration:\n",
            "No external APIs were stable: see below\n",
            &format!("{row}No external API integration: local\n"),
        ] {
            assert!(told("x", text).block, "{text}");
        }
    }

    #[test]
    fn a_phase_is_judged_by_its_decisions_then_its_plans_then_the_roadmap() {
        let roadmap = "### Phase 1: A\n**Goal**: Integrate the API\n\n### Phase 2: B\n**Goal**: x\n";
        let plan = "---\nphase: 1\n---\nIntegrate their API\n";
        let blocks = |files: &[(&str, &str)], phase: &str| {
            let files = files.iter().copied().chain([(".planning/ROADMAP.md", roadmap)]);
            let view = ProjectView::of(files);
            let report = verify_pre(&view, &view.phase_named(phase).unwrap().unwrap(), "/plan").unwrap();
            assert_eq!(report.cure.is_some(), report.block);
            report.block
        };
        assert!(blocks(&[(".planning/phases/02-b/02-01-PLAN.md", plan)], "2"));
        assert!(!blocks(&[(".planning/phases/01-a/01-01-PLAN.md", "x")], "1"));
        assert!(blocks(&[(".planning/phases/01-a/01-CONTEXT.md", "x")], "1"));
        let decided = "| Capability | Decision |\n|---|---|\n| a | INTEGRATE |\n";
        assert!(!blocks(
            &[(".planning/phases/02-b/02-01-PLAN.md", plan), (".planning/phases/02-b/02-COVERAGE.md", decided)],
            "2"
        ));
        let other = &[(".planning/phases/02-b/.gitkeep", "")];
        assert!(blocks(other, "1"), "a phase without a folder cannot be judged");
        assert!(!blocks(&[], "1"), "without any phase there is nothing to judge");
    }
}
