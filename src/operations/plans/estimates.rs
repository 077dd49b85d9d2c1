//! The estimates of plans, their actual costs, and what follows for the next estimate.
//!
//! A sample is a plan whose front matter has an `estimate` and whose summary has `actuals.tokens`. If an estimate was
//! already corrected, `estimate.raw_tokens` is the value before that, which the factor applies to. The factor is the
//! median of actual per estimated tokens, within bounds, and applies from three samples on.

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
/// From this many samples on, confidence is high.
const MANY_SAMPLES: usize = 6;
/// Ratios are integers in these units: as precise as a number in JSON can be, and the same on all platforms.
const DIGITS: usize = 18;
const ONE: u128 = 10_u128.pow(18);
/// The precision to which an answer rounds a share.
const ROUGH: u128 = ONE / 10_000;
/// The lowest and the highest factor. Anything beyond comes from a bad sample.
const BOUNDS: (u128, u128) = (ONE / 2, ONE * 3);
/// The keys of a sample; other programs read and write the same file.
const ESTIMATED: &str = "estimateTokens";
const ACTUAL: &str = "actualTokens";
/// The tokens within which a model works well, unless the project sets another budget.
const BUDGET: u64 = 100_000;

/// The correction of estimates that follows from the samples.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct CalibrationReport {
    /// An estimate times this factor gives the expected tokens; 1 if there are too few samples.
    pub(crate) factor: Number,
    /// There are enough samples.
    pub(crate) applied: bool,
    pub(crate) sample_count: usize,
    pub(crate) confidence: Confidence,
    /// The factor was limited to its bounds.
    pub(crate) clamped: bool,
    pub(crate) min_samples: usize,
    /// Why the samples on file are ignored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) problem: Option<String>,
}

/// How reliable a factor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Confidence {
    Low,
    Med,
    High,
}

/// What `estimate-calibrate` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CalibrateReport {
    #[serde(flatten)]
    pub(crate) calibration: CalibrationReport,
    /// The file of samples was changed.
    pub(crate) written: bool,
    /// Why the samples cannot be saved anywhere. If an existing file cannot be written, the call fails.
    pub(crate) write_error: Option<String>,
    /// Where an unreadable file of samples was moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) set_aside: Option<String>,
}

/// What `estimate-check` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CheckReport {
    pub(crate) raw_tokens: u64,
    pub(crate) calibrated_tokens: u64,
    /// The given number was already calibrated.
    pub(crate) pre_calibrated: bool,
    pub(crate) budget: u64,
    pub(crate) over_budget: bool,
    /// The project's budget is valid, or not set.
    pub(crate) budget_valid: bool,
    /// Calibrated tokens divided by the budget.
    pub(crate) ratio: Number,
    /// What to do if the budget is exceeded.
    pub(crate) recommendation: Option<String>,
    pub(crate) confidence: Confidence,
    /// The calibrated number includes the factor, from this call or an earlier one.
    pub(crate) calibration_applied: bool,
    pub(crate) calibration_factor: Number,
    pub(crate) sample_count: usize,
    /// Why the samples on file are ignored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) problem: Option<String>,
}

/// Computes the calibration from the samples on file.
pub(crate) fn calibration(view: &ProjectView) -> Result<CalibrationReport, FileError> {
    let (report, _) = measured(&on_file(view)?);
    Ok(report)
}

/// Adds the samples of all phases to the file, including archived phases.
pub(crate) fn calibrate(view: &ProjectView) -> Edited<CalibrateReport, FileError> {
    let path = view.layout().estimates();
    let known = on_file(view)?;
    let samples = with_plans(known.samples.clone(), samples_of_plans(view)?);
    let is_changed = samples != known.samples;
    let known = OnFile { samples, problem: known.problem };
    let (calibration, _) = measured(&known);
    let samples = known.samples;
    let mut report = CalibrateReport { calibration, written: false, write_error: None, set_aside: None };
    let mut edits = Edits::default();
    if !view.folder_exists(view.layout().planning()) {
        report.write_error = Some(format!("there is no folder `{}`", view.layout().planning()));
        return Ok((report, edits));
    }
    let text = match view.text(&path)? {
        Some(text) if report.calibration.problem.is_some() => {
            let aside = aside(view, &path);
            edits.write(view, &aside, text.to_string())?;
            report.set_aside = Some(aside);
            Some(file_of(samples))
        }
        Some(_) if !is_changed => None,
        Some(text) => Some(with_samples(&text, &samples).unwrap_or_else(|| file_of(samples))),
        None => Some(file_of(samples)),
    };
    if let Some(text) = text {
        edits.write(view, &path, text)?;
    }
    report.written = !edits.is_empty();
    Ok((report, edits))
}

/// Compares an estimate with the budget; `configured` is the project's setting.
pub(crate) fn check(
    view: &ProjectView,
    tokens: u64,
    pre_calibrated: bool,
    configured: Option<&Value>,
) -> Result<CheckReport, FileError> {
    let (calibration, factor) = measured(&on_file(view)?);
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
        ratio: number(rough(ratio(u128::from(calibrated), u128::from(budget)))),
        recommendation,
        confidence: calibration.confidence,
        calibration_applied: calibration.applied,
        calibration_factor: calibration.factor,
        sample_count: calibration.sample_count,
        problem: calibration.problem,
    })
}

/// The samples on file, including those in other forms; empty if the file cannot be read.
#[derive(Debug, Default)]
struct OnFile {
    samples: Vec<Value>,
    problem: Option<String>,
}

fn on_file(view: &ProjectView) -> Result<OnFile, FileError> {
    let path = view.layout().estimates();
    let Some(text) = view.text(&path)? else { return Ok(OnFile::default()) };
    let garbled = |reason: &str| OnFile {
        samples: Vec::new(),
        problem: Some(format!("`{path}` cannot be read: {reason}; `gsd-tools estimate-calibrate` writes a new one")),
    };
    Ok(match serde_json::from_str::<Value>(&text) {
        Err(error) => garbled(&error.to_string()),
        Ok(Value::Object(mut file)) => match file.remove("samples") {
            None => OnFile::default(),
            Some(Value::Array(samples)) => OnFile { samples, problem: None },
            Some(_) => garbled("`samples` is not a list"),
        },
        Ok(_) => garbled("it is not an object"),
    })
}

/// The samples from plans and their summaries.
fn samples_of_plans(view: &ProjectView) -> Result<Vec<Value>, FileError> {
    let mut folders: Vec<PhaseFolder> = Vec::new();
    for (folder, version) in view.archives()? {
        folders.extend(view.read_folders(&folder, Some(&version))?);
    }
    folders.extend(view.all_phase_folders()?);
    let mut samples = Vec::new();
    for folder in &folders {
        for plan in view.current_plans(folder)? {
            let Some(summary) = folder.summary_of(&plan) else { continue };
            let estimated = tokens(view, &folder.join(&plan), "estimate", &["raw_tokens", "tokens"])?;
            let actual = tokens(view, &folder.join(summary), "actuals", &["tokens"])?;
            if let (Some(estimated), Some(actual)) = (estimated, actual) {
                let fields = [
                    ("phase", Value::from(folder.name.as_str())),
                    ("plan", Value::from(plan_id(&plan))),
                    (ESTIMATED, Value::from(estimated)),
                    (ACTUAL, Value::from(actual)),
                ];
                let fields = fields.into_iter().map(|(key, value)| (key.to_owned(), value));
                samples.push(Value::Object(fields.collect::<Map<String, Value>>()));
            }
        }
    }
    Ok(samples)
}

/// The token count under a key of a document's front matter, from the first of the names that has one.
fn tokens(view: &ProjectView, path: &str, key: &str, names: &[&str]) -> Result<Option<u64>, FileError> {
    let Some(text) = view.text(path)? else { return Ok(None) };
    let Some(front) = FrontMatter::parse(&text) else { return Ok(None) };
    let of_name = |name: &&str| {
        let digits = front.get_path(&[key, name])?.as_text()?.replace(['_', ','], "");
        digits.trim().parse().ok().filter(|tokens| *tokens > 0)
    };
    Ok(names.iter().find_map(of_name))
}

/// Merges the samples of plans into those on file. A sample on file without a plan but with the same values belongs to
/// that plan: other programs that share the file do not record plans.
fn with_plans(mut samples: Vec<Value>, of_plans: Vec<Value>) -> Vec<Value> {
    let same = |one: &Value, other: &Value, keys: [&str; 2]| {
        keys.iter().all(|key| one.get(key).is_some() && one.get(key) == other.get(key))
    };
    for sample in of_plans {
        let by_plan = samples.iter().position(|known| same(known, &sample, ["phase", "plan"]));
        let is_nameless = |known: &Value| known.get("phase").is_none() && known.get("plan").is_none();
        let by_tokens =
            || samples.iter().position(|known| is_nameless(known) && same(known, &sample, [ESTIMATED, ACTUAL]));
        match by_plan.or_else(by_tokens) {
            Some(index) => update(&mut samples[index], &sample),
            None => samples.push(sample),
        }
    }
    samples
}

/// Updates the measured values; other keys of a sample stay.
fn update(known: &mut Value, sample: &Value) {
    if let (Value::Object(known), Value::Object(sample)) = (known, sample) {
        known.extend(sample.clone());
    }
}

/// Where an unreadable file is kept: next to the original, under a free name.
fn aside(view: &ProjectView, path: &str) -> String {
    let mut name = format!("{path}.unreadable");
    let mut count = 1;
    while view.exists(&name) {
        count += 1;
        name = format!("{path}.unreadable-{count}");
    }
    name
}

fn file_of(samples: Vec<Value>) -> String {
    let fields = [("schema_version", Value::from(1)), ("samples", Value::Array(samples))];
    let file = Value::Object(fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect());
    format!("{file:#}\n")
}

/// The file with other samples; the rest of it stays as it is.
fn with_samples(text: &str, samples: &[Value]) -> Option<String> {
    let mut document = JsonDocument::parse(text, JsonDialect::Strict).ok()?;
    let edit = JsonEdit::Set { path: vec!["samples".to_owned()], value: Value::Array(samples.to_vec()) };
    document.apply(&edit).ok()?;
    Some(document.to_string())
}

/// Computes the calibration from samples, and the factor in units of [`ONE`].
fn measured(OnFile { samples, problem }: &OnFile) -> (CalibrationReport, u128) {
    let count = |sample: &Value, key: &str| sample.get(key)?.as_u64().filter(|count| *count > 0).map(u128::from);
    let mut ratios: Vec<u128> =
        samples.iter().filter_map(|sample| Some(ratio(count(sample, ACTUAL)?, count(sample, ESTIMATED)?))).collect();
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
            count if count < MANY_SAMPLES => Confidence::Med,
            _ => Confidence::High,
        },
        clamped: applied && bounded != median,
        min_samples: MIN_SAMPLES,
        problem: problem.clone(),
    };
    (report, factor)
}

/// The quotient of two numbers, in units of [`ONE`], rounded.
fn ratio(one: u128, other: u128) -> u128 {
    (one * ONE * 2 + other) / (other * 2)
}

/// The same, rounded to the precision of shares in an answer.
fn rough(parts: u128) -> u128 {
    (parts + ROUGH / 2) / ROUGH * ROUGH
}

/// A value in units of [`ONE`] as a number: `1`, `1.5`, `0.0123`.
fn number(parts: u128) -> Number {
    let text = format!("{}.{:0DIGITS$}", parts / ONE, parts % ONE);
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
                "{\"mine\": 1, \"samples\": [{\"phase\":\"00-z\",\"plan\":\"00-01\",\"estimateTokens\":10,\"actualTokens\":11},\n{\"estimateTokens\":10,\"actualTokens\":20}, 7]}",
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
            let text = format!("{{\"estimateTokens\": 100, \"actualTokens\": {actual}}}");
            serde_json::from_str::<Value>(&text).unwrap()
        };
        let told = |actuals: &[u64]| {
            measured(&OnFile { samples: actuals.iter().map(|actual| sample(*actual)).collect(), problem: None }).0
        };
        assert_eq!((told(&[9_000; 3]).factor.to_string().as_str(), told(&[9_000; 3]).clamped), ("3", true));
        assert_eq!(told(&[1; 4]).factor.to_string(), "0.5");
        assert_eq!(told(&[100, 200, 110, 120]).factor.to_string(), "1.15");
        assert_eq!(
            (told(&[900, 900]).factor.to_string().as_str(), told(&[900; 10]).confidence),
            ("1", Confidence::High)
        );
        assert_eq!(told(&[133, 133, 400]).confidence, Confidence::Med);
        assert_eq!(number(ratio(4, 3)).to_string(), "1.3333333333333333");
        assert_eq!(number(rough(ratio(12_345, 100_000))).to_string(), "0.1235");
        assert_eq!(number(ratio(u128::from(u64::MAX), 1)).to_string().len(), 20);
    }

    #[test]
    fn a_file_that_does_not_parse_is_ignored_and_kept_next_to_the_new_one() {
        for text in ["{bad", "[]", "{\"samples\": 1}"] {
            let view = view(&[(FILE, text), (".planning/estimation-calibration.json.unreadable", "older")]);
            let told = calibration(&view).unwrap();
            assert_eq!((told.factor.to_string().as_str(), told.applied), ("1", false), "{text}");
            assert!(told.problem.unwrap().contains(FILE), "{text}");
            let (report, edits) = calibrate(&view).unwrap();
            assert!(report.written && edits.texts[FILE].contains("\"samples\": []"), "{text}");
            assert_eq!(edits.texts[&report.set_aside.unwrap()], text, "nothing is lost");
            assert!(!edits.texts.contains_key(".planning/estimation-calibration.json.unreadable"), "{text}");
        }
    }

    #[test]
    fn a_new_file_has_the_form_that_other_programs_read() {
        let (report, edits) = calibrate(&view(&[(".planning/STATE.md", "")])).unwrap();
        assert!(report.written);
        assert_eq!(edits.texts[FILE], "{\n  \"schema_version\": 1,\n  \"samples\": []\n}\n");
        let (report, edits) = calibrate(&view(&[])).unwrap();
        assert!(!report.written && report.write_error.is_some() && edits.is_empty(), "no project is made of nothing");
    }

    #[test]
    fn a_corrected_estimate_is_measured_by_its_uncorrected_value() {
        let plan = "---\nestimate:\n  tokens: 1000\n  raw_tokens: 500\n---\n";
        let files = [
            (".planning/phases/01-a/01-01-PLAN.md", plan),
            (".planning/phases/01-a/01-01-SUMMARY.md", "---\nactuals: {tokens: 750}\n---\n"),
            (FILE, "{\"samples\": [{\"estimateTokens\": 500, \"actualTokens\": 750}]}"),
        ];
        let (report, edits) = calibrate(&view(&files)).unwrap();
        assert_eq!(report.calibration.sample_count, 1, "what another program noted of the plan is not counted twice");
        assert!(edits.texts[FILE].contains("01-01"), "{}", edits.texts[FILE]);
    }
}
