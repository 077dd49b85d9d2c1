//! The progress of evaluating an AI feature, as a score.

use crate::failure::Failure;
use schemars::JsonSchema;
use serde::Serialize;

/// The number of parts of the evaluation infrastructure.
const PARTS: usize = 5;

/// What `eval score` answers. Scores are out of 100.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct ScoreReport {
    /// The score for covered dimensions.
    coverage_score: Score,
    /// The score for the infrastructure of the evaluation.
    infra_score: Score,
    /// Three fifths of the coverage score and two fifths of the infrastructure score.
    overall_score: Score,
    verdict: Verdict,
}

/// A number that is serialized as an integer if it is whole.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
enum Score {
    Whole(u64),
    Part(f64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) enum Verdict {
    #[serde(rename = "PRODUCTION READY")]
    ProductionReady,
    #[serde(rename = "NEEDS WORK")]
    NeedsWork,
    #[serde(rename = "SIGNIFICANT GAPS")]
    SignificantGaps,
    #[serde(rename = "NOT IMPLEMENTED")]
    NotImplemented,
}

/// The score for `covered` dimensions out of `total`, with the infrastructure given by the states of its parts.
pub(crate) fn score(covered: &str, total: &str, infrastructure: &str) -> Result<ScoreReport, Failure> {
    let refused = |message: String| Failure::usage(message).hint("`gsd-tools eval score --help` shows an example");
    let domain = || refused("`--covered` and `--total` are whole numbers, and `--covered` cannot be larger".to_owned());
    let parts: Vec<&str> = infrastructure.split(',').map(str::trim).collect();
    if parts.len() != PARTS {
        return Err(refused(format!("`--infra` needs five parts and has {}", parts.len())));
    }
    let count = |text: &str| text.trim().parse::<u32>().map_err(|_| domain());
    let (covered, total) = (u64::from(count(covered)?), u64::from(count(total)?));
    if covered > total {
        return Err(domain());
    }
    let mut halves = 0;
    for part in &parts {
        halves += match part.to_ascii_lowercase().as_str() {
            "ok" => 2,
            "partial" => 1,
            "missing" => 0,
            _ => return Err(refused(format!("`{part}` is not a value of `--infra`; use ok, partial or missing"))),
        };
    }
    // All in hundredths, so that the shown values are the compared ones.
    let coverage = if total == 0 { 0 } else { rounded(covered * 10_000, total) };
    let infra = halves * 1000;
    let overall = if total == 0 { infra * 2 / 5 } else { rounded(covered * 30_000 + infra * 2 * total, total * 5) };
    let verdict = match overall {
        8000.. => Verdict::ProductionReady,
        6000.. => Verdict::NeedsWork,
        4000.. => Verdict::SignificantGaps,
        _ => Verdict::NotImplemented,
    };
    let shown = Score::of;
    Ok(ScoreReport {
        coverage_score: shown(coverage),
        infra_score: shown(infra),
        overall_score: shown(overall),
        verdict,
    })
}

fn rounded(number: u64, by: u64) -> u64 {
    (number * 2 + by) / (by * 2)
}

impl Score {
    fn of(hundredths: u64) -> Self {
        match u32::try_from(hundredths) {
            Ok(hundredths) if hundredths % 100 != 0 => Self::Part(f64::from(hundredths) / 100.0),
            _ => Self::Whole(hundredths / 100),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(covered: &str, total: &str, infrastructure: &str) -> (Score, Score, Score, Verdict) {
        let report = score(covered, total, infrastructure).unwrap();
        (report.coverage_score, report.infra_score, report.overall_score, report.verdict)
    }

    #[test]
    fn scores_weigh_coverage_and_infrastructure() {
        use Score::{Part, Whole};
        use Verdict::{NeedsWork, NotImplemented, ProductionReady, SignificantGaps};
        assert_eq!(told("3", "5", "ok,partial,missing,ok,ok"), (Whole(60), Whole(70), Whole(64), NeedsWork));
        assert_eq!(told("8", "9", "ok,OK, partial,missing,ok"), (Part(88.89), Whole(70), Part(81.33), ProductionReady));
        assert_eq!(told("7", "9", "ok,ok,partial,missing,ok"), (Part(77.78), Whole(70), Part(74.67), NeedsWork));
        assert_eq!(told("0", "0", "ok,ok,ok,ok,ok"), (Whole(0), Whole(100), Whole(40), SignificantGaps));
        assert_eq!(told("2", "10", "ok,ok,ok,missing,missing").3, NotImplemented);
        assert_eq!(told("10", "10", "ok,ok,ok,missing,missing").3, ProductionReady);
        assert_eq!(told("4294967295", "4294967295", "ok,ok,ok,ok,ok").2, Whole(100));
    }

    #[test]
    fn invalid_counts_are_refused() {
        let full = "ok,ok,ok,ok,ok";
        for (covered, total) in [("6", "5"), ("-1", "5"), ("2.5", "5"), ("x", "5")] {
            let refused = score(covered, total, full).unwrap_err().message;
            assert!(refused.starts_with("`--covered` and `--total` are whole numbers"), "{refused}");
        }
        let refused = |parts| score("1", "5", parts).unwrap_err().message;
        assert_eq!(refused("ok,ok"), "`--infra` needs five parts and has 2");
        assert!(refused("ok,ok,ok,ok,bad").starts_with("`bad` is not a value of `--infra`"));
    }
}
