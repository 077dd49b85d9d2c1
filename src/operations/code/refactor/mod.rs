//! Functions that a phase made too complex: found, proposed for a rewrite, and the decision about the proposal.
//!
//! `complexity-baseline.json` has the score of each function when it was first seen. A proposal is a document of the
//! phase. After a decision, it is not proposed again until its function changes.

pub(crate) mod complexity;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::operations::answers::disabled::DisabledReport;
use crate::project::files::FileError;
use crate::project::folder::PhaseFolder;
use crate::project::phase::PhaseId;
use crate::project::view::{Edited, Edits, ProjectView};
use crate::text::edit::JsonDialect;
use crate::text::front_matter::{self, FrontMatter, Value as Told};
use crate::text::json::{JsonDocument, JsonEdit};
use crate::text::shell::typed;
use crate::text::splice::Splices;

use complexity::functions;

pub(crate) fn disabled() -> DisabledReport {
    DisabledReport::new(
        "refactoring proposals are disabled; enable them: `gsd-tools config-set \
                         refactor.trigger_enabled true`",
    )
}

/// The limits for proposing a function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScoreLimits {
    /// A function with this score or a higher one is proposed.
    pub(crate) threshold: u64,
    /// A function whose score grew by more than this is proposed.
    pub(crate) jump: u64,
}

/// What `refactor evaluate` answers.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum EvaluateReport {
    /// There was nothing to evaluate.
    Nothing {
        verdict: RefactorVerdict,
        reason: Nothing,
        phase: String,
    },
    Looked(Box<Looked>),
}

/// The result for the functions of a phase.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Looked {
    verdict: RefactorVerdict,
    phase: String,
    /// The most complex first.
    candidates: Vec<Candidate>,
    target: Option<Candidate>,
    skipped: Vec<String>,
    threshold_used: u64,
    jump_delta_used: u64,
    artifact_written: bool,
    artifact_path: Option<String>,
    baseline_write: bool,
    /// The earlier decision about the same function; then it is not proposed again.
    #[serde(skip_serializing_if = "Option::is_none")]
    decided: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RefactorVerdict {
    Triggered,
    BelowThreshold,
    Skipped,
}

/// Why there was nothing to evaluate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) enum Nothing {
    #[serde(rename = "refactor_invalid_phase")]
    InvalidPhase,
    #[serde(rename = "refactor_git_unavailable")]
    GitUnavailable,
    #[serde(rename = "refactor_no_touched_files")]
    NoTouchedFiles,
}

/// A function that is too complex, or grew too fast.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Candidate {
    file: String,
    name: String,
    /// Counted from one.
    start_line: usize,
    score: u64,
    /// The score when the function was first seen; null if this is the first time.
    baseline: Option<u64>,
    delta: Option<i64>,
    /// `threshold`, `jump`.
    reasons: Vec<&'static str>,
}

impl Candidate {
    fn key(&self) -> String {
        format!("{}::{}", self.file, self.name)
    }
}

/// The number of a phase as used in document names.
pub(crate) fn number(folder: &PhaseFolder) -> String {
    PhaseId::new(folder.token()).to_string()
}

pub(crate) fn nothing(reason: Nothing, phase: String) -> EvaluateReport {
    let verdict =
        if reason == Nothing::NoTouchedFiles { RefactorVerdict::BelowThreshold } else { RefactorVerdict::Skipped };
    EvaluateReport::Nothing { verdict, reason, phase }
}

/// Evaluates the files (path and text) that the phase touched, and proposes the most complex function in them.
pub(crate) fn evaluate(
    view: &ProjectView,
    folder: &PhaseFolder,
    files: &[(String, String)],
    limits: ScoreLimits,
    now: &str,
) -> Edited<EvaluateReport, Failure> {
    let phase = number(folder);
    if files.is_empty() {
        return Ok((nothing(Nothing::NoTouchedFiles, phase), Edits::default()));
    }
    let mut baseline = Baseline::read(view)?;
    let mut candidates = Vec::new();
    for (file, text) in files {
        for function in functions(text) {
            let known = baseline.score(&format!("{file}::{}", function.name));
            let signed = |score: u64| i64::try_from(score).unwrap_or(i64::MAX);
            let delta = known.map(|known| signed(function.score) - signed(known));
            let mut reasons = Vec::new();
            if function.score >= limits.threshold {
                reasons.push("threshold");
            }
            if delta.is_some_and(|delta| delta > signed(limits.jump)) {
                reasons.push("jump");
            }
            let candidate = Candidate {
                file: file.clone(),
                name: function.name,
                start_line: function.line,
                score: function.score,
                baseline: known,
                delta,
                reasons,
            };
            baseline.note(&candidate.key(), candidate.score, &phase, false)?;
            if !candidate.reasons.is_empty() {
                candidates.push(candidate);
            }
        }
    }
    candidates.sort_by(|one, other| other.score.cmp(&one.score).then_with(|| one.key().cmp(&other.key())));
    let target = candidates.first().cloned();
    let mut edits = Edits::default();
    let (mut artifact_path, mut artifact_written, mut decided) = (None, false, None);
    if let Some(target) = &target {
        let path = folder.join(&format!("{phase}-REFACTOR.md"));
        let before = view.text(&path)?;
        decided = before.as_deref().and_then(|text| decision(text, target));
        artifact_path = Some(view.layout().shown(&path));
        if decided.is_none() {
            artifact_written = true;
            edits.write(view, &path, proposal(&phase, target, &candidates, now))?;
        }
    }
    let baseline_write = baseline.write(view, &mut edits)?;
    let verdict = if target.is_some() { RefactorVerdict::Triggered } else { RefactorVerdict::BelowThreshold };
    let looked = Looked {
        verdict,
        phase,
        candidates,
        target,
        skipped: Vec::new(),
        threshold_used: limits.threshold,
        jump_delta_used: limits.jump,
        artifact_written,
        artifact_path,
        baseline_write,
        decided,
    };
    Ok((EvaluateReport::Looked(Box::new(looked)), edits))
}

/// The decision in `document`, if it is about `target` with its current score.
fn decision(document: &str, target: &Candidate) -> Option<String> {
    let front = FrontMatter::parse(document)?;
    let status = front.text("status").filter(|status| status != PROPOSED)?;
    let same = front.text("target_file")? == target.file
        && front.text("target_function")? == target.name
        && front.text("score")?.trim().parse() == Ok(target.score);
    same.then_some(status)
}

const PROPOSED: &str = "proposed";

fn proposal(phase: &str, target: &Candidate, candidates: &[Candidate], now: &str) -> String {
    let number = |value: Option<String>| value.unwrap_or_else(|| "null".to_owned());
    let baseline = number(target.baseline.map(|score| score.to_string()));
    let delta = number(target.delta.map(|delta| delta.to_string()));
    let entries = [
        ("schema_version", "1".to_owned()),
        ("status", PROPOSED.to_owned()),
        ("phase", phase.to_owned()),
        ("target_file", target.file.clone()),
        ("target_function", target.name.clone()),
        ("score", target.score.to_string()),
        ("baseline", baseline.clone()),
        ("delta", delta.clone()),
        ("metric", "decision-points".to_owned()),
        ("recorded_at", now.to_owned()),
        ("resolved_at", "null".to_owned()),
        ("reason", target.reasons.join(",")),
    ]
    .map(|(key, value)| (key.to_owned(), Told::from(value.as_str())));
    // Numbers, objects and strings always serialize.
    let list = serde_json::to_string_pretty(candidates).unwrap_or_default();
    let body = format!(
        "\n# Refactor proposal: {}\n\nScore {} (baseline {baseline}, delta {delta}).\n\n````json\n{list}\n````\n",
        target.key(),
        target.score
    );
    front_matter::compose(&entries, &body, "\n")
}

/// The scores of functions when they were first seen. The file is edited in place.
struct Baseline {
    path: String,
    document: JsonDocument,
}

fn malformed(path: &str, why: &str) -> Failure {
    Failure::unknown(format!("`{path}` does not parse: {why}")).hint("correct the file, or move it away")
}

impl Baseline {
    fn read(view: &ProjectView) -> Result<Self, Failure> {
        let path = format!("{}/complexity-baseline.json", view.layout().planning());
        let text = view.text(&path)?;
        let text = text.as_deref().filter(|text| !text.trim().is_empty()).unwrap_or("{}\n");
        let broken = |why: String| malformed(&path, &why);
        let document = JsonDocument::parse(text, JsonDialect::Strict).map_err(|error| broken(error.to_string()))?;
        if !document.value(&[]).is_some_and(|value| value.is_object()) {
            return Err(broken("it is not a JSON object".to_owned()));
        }
        Ok(Self { path, document })
    }

    fn score(&self, key: &str) -> Option<u64> {
        self.document.value(&[key.to_owned(), "score".to_owned()])?.as_u64()
    }

    /// Records a score. A known score stays unless `anchored` is true.
    fn note(&mut self, key: &str, score: u64, phase: &str, anchored: bool) -> Result<(), Failure> {
        let mut entry = Map::new();
        entry.insert("score".to_owned(), Value::from(score));
        entry.insert("phase".to_owned(), Value::from(phase));
        let (path, value) = (vec![key.to_owned()], Value::Object(entry));
        let edit = if anchored { JsonEdit::Set { path, value } } else { JsonEdit::SetIfAbsent { path, value } };
        self.document.apply(&edit).map(drop).map_err(|error| malformed(&self.path, &error.to_string()))
    }

    /// Writes the file if it changed; returns true if it did.
    fn write(self, view: &ProjectView, edits: &mut Edits) -> Result<bool, FileError> {
        edits.write(view, &self.path, self.document.to_string())?;
        Ok(edits.texts.contains_key(&self.path))
    }
}

/// What `refactor status` answers.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum RefactorStatusReport {
    All {
        proposals: Vec<ProposalLine>,
    },
    One {
        found: bool,
        phase: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        proposal: Option<Box<Proposal>>,
    },
}

/// A summary of a proposal.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ProposalLine {
    phase: String,
    target_file: String,
    target_function: String,
    /// `proposed`, `accepted` or `declined`.
    status: String,
    score: Option<u64>,
}

/// A proposal, as read from its document.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Proposal {
    schema_version: Option<u64>,
    #[serde(flatten)]
    line: ProposalLine,
    baseline: Option<u64>,
    delta: Option<i64>,
    metric: Option<String>,
    recorded_at: Option<String>,
    resolved_at: Option<String>,
    reason: Option<String>,
}

/// The proposals of all phases, or of one.
pub(crate) fn status(view: &ProjectView, phase: Option<&str>) -> Result<RefactorStatusReport, Failure> {
    if let Some(typed) = phase {
        let folder = view.find_phase(typed)?.folder;
        let phase = folder.as_ref().map_or_else(|| PhaseId::new(typed).to_string(), number);
        let path = folder.as_ref().and_then(|folder| folder.artifact_path("REFACTOR"));
        let proposal = match path {
            Some(path) => view.text(&path)?.and_then(|text| read(&text)),
            None => None,
        };
        return Ok(RefactorStatusReport::One { found: proposal.is_some(), phase, proposal: proposal.map(Box::new) });
    }
    let mut proposals = Vec::new();
    for folder in view.phase_folders()?.iter() {
        if let Some(path) = folder.artifact_path("REFACTOR") {
            proposals.extend(view.text(&path)?.and_then(|text| read(&text)).map(|proposal| proposal.line));
        }
    }
    Ok(RefactorStatusReport::All { proposals })
}

/// What `check refactor-undecided` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct UndecidedReport {
    pub(crate) block: bool,
    pub(crate) message: String,
    pub(crate) cure: Option<String>,
}

/// Reports whether a proposal of the phase waits for a decision; with `strict`, that stops the loop.
pub(crate) fn undecided(
    view: &ProjectView,
    folder: Option<&PhaseFolder>,
    strict: bool,
) -> Result<UndecidedReport, FileError> {
    let decided = UndecidedReport { block: false, message: String::new(), cure: None };
    let Some((folder, path)) = folder.and_then(|folder| Some((folder, folder.artifact_path("REFACTOR")?))) else {
        return Ok(decided);
    };
    let Some(text) = view.text(&path)? else { return Ok(decided) };
    let phase = number(folder);
    let (message, cure) = match read(&text) {
        Some(proposal) if proposal.line.status != PROPOSED => return Ok(decided),
        Some(Proposal { line, .. }) => (
            format!(
                "A simpler form of `{}` in `{}` is proposed, and nobody has decided",
                line.target_function, line.target_file
            ),
            format!(
                "`{}`, or `{}`",
                typed!("gsd-tools refactor accept --phase {}", phase),
                typed!("gsd-tools refactor decline --phase {} --reason WHY", phase)
            ),
        ),
        None => (
            format!("`{path}` cannot be read as a proposal"),
            format!(
                "correct its front matter, or remove it and run `{}`",
                typed!("gsd-tools refactor evaluate --phase {}", phase)
            ),
        ),
    };
    Ok(UndecidedReport { block: strict, message, cure: Some(cure) })
}

fn read(document: &str) -> Option<Proposal> {
    let front = FrontMatter::parse(document)?;
    let word = |key: &str| front.text(key).filter(|text| !text.is_empty() && text != "null");
    Some(Proposal {
        schema_version: word("schema_version").and_then(|text| text.parse().ok()),
        line: ProposalLine {
            phase: word("phase")?,
            target_file: word("target_file")?,
            target_function: word("target_function")?,
            status: word("status")?,
            score: word("score").and_then(|text| text.parse().ok()),
        },
        baseline: word("baseline").and_then(|text| text.parse().ok()),
        delta: word("delta").and_then(|text| text.parse().ok()),
        metric: word("metric"),
        recorded_at: word("recorded_at"),
        resolved_at: word("resolved_at"),
        reason: word("reason"),
    })
}

/// What `refactor accept` and `refactor decline` answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DecideReport {
    /// `accepted` or `declined`.
    status: &'static str,
    phase: String,
    target: String,
    /// The new score from which growth is counted.
    reanchored_to: u64,
    baseline_write: bool,
    /// True if an entry in the ledger of broken windows was closed too.
    ledger_resolved: bool,
    ledger_note: &'static str,
}

/// Records that the proposal of a phase was accepted, or declined for a reason.
pub(crate) fn decide(
    view: &ProjectView,
    typed: &str,
    declined: Option<&str>,
    now: &str,
) -> Edited<DecideReport, Failure> {
    let missing = || {
        let call = typed!("gsd-tools refactor evaluate --phase {}", typed);
        Failure::unknown(format!("phase {typed} has no refactoring proposal")).hint(format!("look for one: `{call}`"))
    };
    let folder = view.find_phase(typed)?.folder.ok_or_else(missing)?;
    let path = folder.artifact_path("REFACTOR").ok_or_else(missing)?;
    let text = view.text(&path)?.ok_or_else(missing)?;
    let broken = |field| {
        Failure::unknown(format!("the front matter of `{path}` has no {field}")).hint("correct the front matter")
    };
    let proposal = read(&text).ok_or_else(|| broken("proposal"))?;
    let score = proposal.line.score.ok_or_else(|| broken("score"))?;
    let status = if declined.is_some() { "declined" } else { "accepted" };
    let target = format!("{}::{}", proposal.line.target_file, proposal.line.target_function);
    let mut edits = Edits::default();
    if proposal.line.status != status || declined.is_some_and(|reason| proposal.reason.as_deref() != Some(reason)) {
        let mut edited = text.to_string();
        let told = [("status", Some(status)), ("resolved_at", Some(now)), ("reason", declined)];
        for (key, value) in told.into_iter().filter_map(|(key, value)| Some((key, value?))) {
            let front = FrontMatter::parse(&edited).ok_or_else(|| broken(key))?;
            let mut splices = Splices::default();
            front.set(key, &Told::from(value), &mut splices);
            edited = splices.apply(&edited);
        }
        edits.write(view, &path, edited)?;
    }
    let mut baseline = Baseline::read(view)?;
    baseline.note(&target, score, &proposal.line.phase, true)?;
    let baseline_write = baseline.write(view, &mut edits)?;
    let report = DecideReport {
        status,
        phase: proposal.line.phase,
        target,
        reanchored_to: score,
        baseline_write,
        ledger_resolved: false,
        ledger_note: "the ledger of broken windows is kept by hand",
    };
    Ok((report, edits))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: ScoreLimits = ScoreLimits { threshold: 5, jump: 2 };

    fn view(files: &[(&str, &str)]) -> ProjectView {
        ProjectView::of(files.iter().copied())
    }

    fn code(ifs: usize) -> Vec<(String, String)> {
        vec![("src/a.js".to_owned(), format!("function hot(a) {{ {} }}", "if (a) {} ".repeat(ifs)))]
    }

    fn evaluated(view: &ProjectView, ifs: usize) -> (EvaluateReport, Edits) {
        let folder = view.find_phase("2").unwrap().folder.unwrap();
        evaluate(view, &folder, &code(ifs), LIMITS, "now").unwrap()
    }

    const PHASE: (&str, &str) = (".planning/phases/02-core/02-01-PLAN.md", "");
    const BASELINE: &str = ".planning/complexity-baseline.json";
    const DOCUMENT: &str = ".planning/phases/02-core/02-REFACTOR.md";

    #[test]
    fn a_function_is_proposed_if_it_is_or_grew_too_complex() {
        let reasons = |files: &[(&str, &str)], ifs| match evaluated(&view(files), ifs).0 {
            EvaluateReport::Looked(looked) => looked.target.map(|target| target.reasons.join(",")),
            EvaluateReport::Nothing { .. } => panic!(),
        };
        assert_eq!(reasons(&[PHASE], 3), None);
        assert_eq!(reasons(&[PHASE], 4).as_deref(), Some("threshold"));
        let known = (BASELINE, "{\"src/a.js::hot\":{\"score\":1,\"phase\":\"01\"}}");
        assert_eq!(reasons(&[PHASE, known], 2), None);
        assert_eq!(reasons(&[PHASE, known], 3).as_deref(), Some("jump"));
    }

    #[test]
    fn a_decided_proposal_is_not_made_again_until_the_function_changes() {
        let (_, edits) = evaluated(&view(&[PHASE]), 6);
        let (document, baseline) = (&edits.texts[DOCUMENT], &edits.texts[BASELINE]);
        let proposed = view(&[PHASE, (DOCUMENT, document), (BASELINE, baseline)]);
        let RefactorStatusReport::All { proposals } = status(&proposed, None).unwrap() else { panic!() };
        assert_eq!((proposals[0].status.as_str(), proposals[0].score), ("proposed", Some(7)));
        let (report, edits) = decide(&proposed, "2", Some("no: time"), "later").unwrap();
        assert_eq!((report.target.as_str(), report.reanchored_to), ("src/a.js::hot", 7));
        let declined = edits.texts[DOCUMENT].as_str();
        let decided = view(&[PHASE, (DOCUMENT, declined), (BASELINE, baseline)]);
        let RefactorStatusReport::One { proposal: Some(proposal), .. } = status(&decided, Some("2")).unwrap() else {
            panic!()
        };
        assert_eq!((proposal.line.status.as_str(), proposal.reason.as_deref()), ("declined", Some("no: time")));
        let (report, edits) = evaluated(&decided, 6);
        let EvaluateReport::Looked(looked) = report else { panic!() };
        assert_eq!((looked.decided.as_deref(), looked.artifact_written), (Some("declined"), false));
        assert!(edits.is_empty());
        let (report, _) = evaluated(&decided, 9);
        let EvaluateReport::Looked(looked) = report else { panic!() };
        assert_eq!((looked.decided, looked.artifact_written), (None, true));
    }

    #[test]
    fn a_baseline_keeps_its_entries_and_a_broken_one_is_not_written() {
        let known = (BASELINE, "{ \"b.js::x\": {\"score\": 3, \"mine\": 1} }\n");
        let (_, edits) = evaluated(&view(&[PHASE, known]), 1);
        assert!(edits.texts[BASELINE].starts_with("{ \"b.js::x\": {\"score\": 3, \"mine\": 1}"));
        for broken in ["{", "[]"] {
            let view = view(&[PHASE, (BASELINE, broken)]);
            let folder = view.find_phase("2").unwrap().folder.unwrap();
            let refused = evaluate(&view, &folder, &code(1), LIMITS, "").unwrap_err().message;
            assert!(refused.contains("complexity-baseline.json` does not parse: "), "{refused}");
        }
    }

    #[test]
    fn a_missing_proposal_is_reported() {
        let view = view(&[PHASE]);
        for phase in ["2", "9"] {
            let refused = decide(&view, phase, None, "").unwrap_err().message;
            assert_eq!(refused, format!("phase {phase} has no refactoring proposal"));
        }
        assert!(matches!(status(&view, Some("2")).unwrap(), RefactorStatusReport::One { found: false, .. }));
    }
}
