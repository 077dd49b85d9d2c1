//! What plans were estimated at, what they took, and what that says about the next estimate.
//!
//! A sample is a plan whose front matter has `estimate.tokens` and whose summary has `actuals.tokens`. The factor is the
//! median of what was taken per what was estimated, within bounds, and holds from three samples on.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Number, Value};

use crate::project::files::FileError;
use crate::project::folder::{PhaseFolder, plan_id};
use crate::project::view::{Edited, Edits, ProjectView};
use crate::text::edit::JsonDialect;
use crate::text::front_matter::FrontMatter;
use crate::text::json::{JsonDocument, JsonEdit};

const MIN_SAMPLES: usize = 3;
/// From so many samples on there is nothing to doubt.
const MANY_SAMPLES: usize = 10;
/// Ratios are counted in ten-thousandths, so that they are the same numbers everywhere.
const ONE: u128 = 10_000;
/// No factor is less or more than this: what lies beyond is a sample gone wrong.
const BOUNDS: (u128, u128) = (ONE / 2, ONE * 3);
/// What fits where a model works well, unless the project says otherwise.
const BUDGET: u64 = 100_000;

/// Why nothing can be said of estimates.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EstimateError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("`{path}` cannot be read: {reason}")]
    Garbled { path: String, reason: String },
}

/// What the samples say of the next estimate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct CalibrationReport {
    /// An estimate times this is what the plan will take; 1 where there are too few samples.
    pub(crate) factor: Number,
    /// There are samples enough.
    pub(crate) applied: bool,
    pub(crate) sample_count: usize,
    pub(crate) confidence: Confidence,
    /// The factor lay beyond its bounds.
    pub(crate) clamped: bool,
    pub(crate) min_samples: usize,
}

/// How much a factor is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Confidence {
    Low,
    Medium,
    High,
}

/// What `estimate-calibrate` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CalibrateReport {
    #[serde(flatten)]
    pub(crate) calibration: CalibrationReport,
    /// The file of samples changed.
    pub(crate) written: bool,
    /// Why there is nowhere to write to. A file that is there and cannot be written fails the call.
    pub(crate) write_error: Option<String>,
}

/// What `estimate-check` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CheckReport {
    pub(crate) raw_tokens: u64,
    pub(crate) calibrated_tokens: u64,
    /// The number given was calibrated already.
    pub(crate) pre_calibrated: bool,
    pub(crate) budget: u64,
    pub(crate) over_budget: bool,
    /// The project sets a budget that is one, or none at all.
    pub(crate) budget_valid: bool,
    /// Calibrated tokens per budget.
    pub(crate) ratio: Number,
    /// What to do, where the budget does not hold.
    pub(crate) recommendation: Option<String>,
    pub(crate) confidence: Confidence,
    pub(crate) calibration_applied: bool,
    pub(crate) calibration_factor: Number,
    pub(crate) sample_count: usize,
}

/// What the samples on file say.
pub(crate) fn calibration(view: &ProjectView) -> Result<CalibrationReport, EstimateError> {
    let (report, _) = measured(&samples_on_file(view)?);
    Ok(report)
}

/// Takes the samples of all phases, archived ones too, onto file.
pub(crate) fn calibrate(view: &ProjectView) -> Edited<CalibrateReport, EstimateError> {
    let path = view.layout().estimates();
    let known = samples_on_file(view)?;
    let mut samples = known.clone();
    for sample in samples_of_plans(view)? {
        match samples.iter_mut().find(|known| is_of_same_plan(known, &sample)) {
            Some(known) => update(known, &sample),
            None => samples.push(sample),
        }
    }
    let (calibration, _) = measured(&samples);
    let mut edits = Edits::default();
    if !view.folder_exists(view.layout().planning()) {
        let write_error = Some(format!("there is no folder `{}`", view.layout().planning()));
        return Ok((CalibrateReport { calibration, written: false, write_error }, edits));
    }
    let text = match view.text(&path)? {
        None => Some(format!("{:#}\n", file_of(samples))),
        Some(_) if samples == known => None,
        Some(text) => Some(with_samples(&path, &text, samples)?),
    };
    if let Some(text) = text {
        edits.write(view, &path, text)?;
    }
    Ok((CalibrateReport { calibration, written: !edits.is_empty(), write_error: None }, edits))
}

/// Holds an estimate against the budget; `configured` is what the project says of it.
pub(crate) fn check(
    view: &ProjectView,
    tokens: u64,
    pre_calibrated: bool,
    configured: Option<&Value>,
) -> Result<CheckReport, EstimateError> {
    let (calibration, factor) = measured(&samples_on_file(view)?);
    let configured = configured.filter(|value| !value.is_null());
    let set = configured.and_then(Value::as_u64).filter(|budget| *budget > 0);
    let budget = set.unwrap_or(BUDGET);
    let factor = if pre_calibrated { ONE } else { factor };
    let calibrated = u64::try_from((u128::from(tokens) * factor + ONE / 2) / ONE).unwrap_or(u64::MAX);
    let over_budget = calibrated > budget;
    let recommendation = over_budget.then(|| {
        let slices = calibrated.div_ceil(budget);
        format!("{calibrated} tokens do not fit into {budget}: split the work into {slices} parts that do")
    });
    Ok(CheckReport {
        raw_tokens: tokens,
        calibrated_tokens: calibrated,
        pre_calibrated,
        budget,
        over_budget,
        budget_valid: configured.is_none() || set.is_some(),
        ratio: number(ratio(u128::from(calibrated), u128::from(budget))),
        recommendation,
        confidence: calibration.confidence,
        calibration_applied: calibration.applied && !pre_calibrated,
        calibration_factor: calibration.factor,
        sample_count: calibration.sample_count,
    })
}

/// The samples on file, those of other forms too.
fn samples_on_file(view: &ProjectView) -> Result<Vec<Value>, EstimateError> {
    let path = view.layout().estimates();
    let Some(text) = view.text(&path)? else { return Ok(Vec::new()) };
    let garbled = |reason: String| EstimateError::Garbled { path: path.clone(), reason };
    let file: Value = serde_json::from_str(&text).map_err(|error| garbled(error.to_string()))?;
    match file.get("samples") {
        Some(Value::Array(samples)) => Ok(samples.clone()),
        Some(_) => Err(garbled("`samples` is not a list".to_owned())),
        None if file.is_object() => Ok(Vec::new()),
        None => Err(garbled("it is not an object".to_owned())),
    }
}

/// The samples that plans and their summaries make.
fn samples_of_plans(view: &ProjectView) -> Result<Vec<Value>, FileError> {
    let mut folders: Vec<PhaseFolder> = Vec::new();
    for (folder, version) in view.archives()? {
        folders.extend(view.read_folders(&folder, Some(&version))?);
    }
    folders.extend(view.phase_folders()?.iter().cloned());
    let mut samples = Vec::new();
    for folder in &folders {
        for plan in view.current_plans(folder)? {
            let Some(summary) = folder.summary_of(&plan) else { continue };
            let estimated = tokens(view, &folder.join(&plan), "estimate")?;
            let actual = tokens(view, &folder.join(summary), "actuals")?;
            if let (Some(estimated), Some(actual)) = (estimated, actual) {
                let fields = [
                    ("phase", Value::from(folder.name.as_str())),
                    ("plan", Value::from(plan_id(&plan))),
                    ("estimated", Value::from(estimated)),
                    ("actual", Value::from(actual)),
                ];
                let fields = fields.into_iter().map(|(key, value)| (key.to_owned(), value));
                samples.push(Value::Object(fields.collect::<Map<String, Value>>()));
            }
        }
    }
    Ok(samples)
}

/// The tokens under a key of a document's front matter, if there are any.
fn tokens(view: &ProjectView, path: &str, key: &str) -> Result<Option<u64>, FileError> {
    let Some(text) = view.text(path)? else { return Ok(None) };
    let value = FrontMatter::parse(&text).and_then(|front| front.get_path(&[key, "tokens"]));
    let digits = value.and_then(|value| Some(value.as_text()?.replace(['_', ','], "")));
    Ok(digits.and_then(|digits| digits.trim().parse().ok()).filter(|tokens| *tokens > 0))
}

fn is_of_same_plan(known: &Value, sample: &Value) -> bool {
    ["phase", "plan"].iter().all(|key| known.get(key).is_some() && known.get(key) == sample.get(key))
}

/// Takes over what was measured; what else a sample says stays.
fn update(known: &mut Value, sample: &Value) {
    if let (Value::Object(known), Value::Object(sample)) = (known, sample) {
        known.extend(sample.clone());
    }
}

fn file_of(samples: Vec<Value>) -> Value {
    let fields = [("schema_version", Value::from(1)), ("samples", Value::Array(samples))];
    Value::Object(fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

fn with_samples(path: &str, text: &str, samples: Vec<Value>) -> Result<String, EstimateError> {
    let garbled = |reason: String| EstimateError::Garbled { path: path.to_owned(), reason };
    let mut document = JsonDocument::parse(text, JsonDialect::Strict).map_err(|error| garbled(error.to_string()))?;
    let edit = JsonEdit::Set { path: vec!["samples".to_owned()], value: Value::Array(samples) };
    document.apply(&edit).map_err(|error| garbled(error.to_string()))?;
    Ok(document.to_string())
}

/// What samples say, and the factor in ten-thousandths.
fn measured(samples: &[Value]) -> (CalibrationReport, u128) {
    let count = |sample: &Value, key: &str| sample.get(key)?.as_u64().filter(|count| *count > 0).map(u128::from);
    let mut ratios: Vec<u128> = samples
        .iter()
        .filter_map(|sample| Some(ratio(count(sample, "actual")?, count(sample, "estimated")?)))
        .collect();
    ratios.sort_unstable();
    let applied = ratios.len() >= MIN_SAMPLES;
    let middle = ratios.len() / 2;
    let median = match ratios.as_slice() {
        [] => ONE,
        ratios if ratios.len() % 2 == 1 => ratios[middle],
        ratios => u128::midpoint(ratios[middle - 1], ratios[middle]),
    };
    let bounded = median.clamp(BOUNDS.0, BOUNDS.1);
    let factor = if applied { bounded } else { ONE };
    let report = CalibrationReport {
        factor: number(factor),
        applied,
        sample_count: ratios.len(),
        confidence: match ratios.len() {
            count if count < MIN_SAMPLES => Confidence::Low,
            count if count < MANY_SAMPLES => Confidence::Medium,
            _ => Confidence::High,
        },
        clamped: applied && bounded != median,
        min_samples: MIN_SAMPLES,
    };
    (report, factor)
}

/// One number per another, in ten-thousandths, rounded.
fn ratio(one: u128, other: u128) -> u128 {
    (one * ONE * 2 + other) / (other * 2)
}

/// Ten-thousandths as a number: `1`, `1.5`, `0.0123`.
fn number(ten_thousandths: u128) -> Number {
    let text = format!("{}.{:04}", ten_thousandths / ONE, ten_thousandths % ONE);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    serde_json::from_str(text).unwrap_or_else(|_| Number::from(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(files: &[(&str, &str)]) -> ProjectView {
        ProjectView::of(files.iter().copied())
    }

    const FILE: &str = ".planning/estimation-calibration.json";
    const PLAN: &str = "---\nestimate:\n  tokens: 1000\n---\n";

    #[test]
    fn three_samples_make_a_factor() {
        let files = [
            (".planning/phases/01-a/01-01-PLAN.md", PLAN),
            (".planning/phases/01-a/01-01-SUMMARY.md", "---\nactuals: {tokens: 1_500, commits: 2}\n---\n"),
            (".planning/phases/01-a/01-02-PLAN.md", PLAN),
            (".planning/phases/01-a/01-02-SUMMARY.md", "---\nactuals: {tokens: 0}\n---\n"),
            (
                FILE,
                "{\"mine\": 1, \"samples\": [{\"phase\":\"00-z\",\"plan\":\"00-01\",\"estimated\":10,\"actual\":11},\n{\"estimated\":10,\"actual\":20}, 7]}",
            ),
        ];
        let before = view(&files);
        assert_eq!(calibration(&before).unwrap().sample_count, 2);
        let (report, edits) = calibrate(&before).unwrap();
        assert_eq!((report.calibration.factor.to_string().as_str(), report.calibration.applied), ("1.5", true));
        let after = before.after(&edits);
        let text = after.text(FILE).unwrap().unwrap();
        assert!(text.starts_with("{\"mine\": 1, \"samples\": ") && text.contains("01-01"), "{text}");
        let (report, edits) = calibrate(&after).unwrap();
        assert!(!report.written && edits.is_empty());
        let told = check(&after, 90_000, false, None).unwrap();
        assert_eq!(
            (told.calibrated_tokens, told.over_budget, told.ratio.to_string().as_str()),
            (135_000, true, "1.35")
        );
        let told = check(&after, 90_000, true, Some(&Value::from(90_000))).unwrap();
        assert_eq!((told.calibrated_tokens, told.over_budget, told.budget_valid), (90_000, false, true));
        assert!(!check(&after, 1, true, Some(&Value::from("much"))).unwrap().budget_valid);
    }

    #[test]
    fn factors_stay_within_bounds() {
        let sample = |actual: u64| {
            let text = format!("{{\"estimated\": 100, \"actual\": {actual}}}");
            serde_json::from_str::<Value>(&text).unwrap()
        };
        let told = |actuals: &[u64]| measured(&actuals.iter().map(|actual| sample(*actual)).collect::<Vec<_>>()).0;
        assert_eq!((told(&[9_000; 3]).factor.to_string().as_str(), told(&[9_000; 3]).clamped), ("3", true));
        assert_eq!(told(&[1; 4]).factor.to_string(), "0.5");
        assert_eq!(told(&[100, 200, 110, 120]).factor.to_string(), "1.15");
        assert_eq!(
            (told(&[900, 900]).factor.to_string().as_str(), told(&[900; 10]).confidence),
            ("1", Confidence::High)
        );
        assert_eq!(number(ratio(12_345, 100_000)).to_string(), "0.1235");
        assert_eq!(number(ratio(u128::from(u64::MAX), 1)).to_string().len(), 20);
    }

    #[test]
    fn a_file_that_does_not_parse_is_left_alone() {
        for text in ["{bad", "[]", "{\"samples\": 1}"] {
            let view = view(&[(FILE, text)]);
            assert!(matches!(calibrate(&view), Err(EstimateError::Garbled { .. })), "{text}");
            assert!(matches!(calibration(&view), Err(EstimateError::Garbled { .. })), "{text}");
        }
        let (report, edits) = calibrate(&view(&[(".planning/STATE.md", "")])).unwrap();
        assert!(report.written);
        assert_eq!(edits.texts[FILE], "{\n  \"schema_version\": 1,\n  \"samples\": []\n}\n");
        let (report, edits) = calibrate(&view(&[])).unwrap();
        assert!(!report.written && report.write_error.is_some() && edits.is_empty(), "no project is made of nothing");
    }
}
