//! Classifies the failure of an agent by its output.

use schemars::JsonSchema;
use serde::Serialize;

/// What `agent classify-failure` answers.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FailureReport {
    class: FailureClass,
    /// The text in the output that identified the class.
    #[serde(skip_serializing_if = "Option::is_none")]
    sentinel: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_seconds: Option<u64>,
}

/// Why an agent failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FailureClass {
    QuotaExceeded,
    ClassifyHandoffBug,
    UnknownFailure,
}

/// Texts that mean a used-up quota, the most specific first.
const QUOTA_WORDS: &[&str] =
    &["usage limit", "429", "rate limit", "rate_limit", "rate-limited", "too many requests", "quota"];

/// The text of a host error that occurs after the agent has finished its work.
const HANDOFF_WORDS: &str = "classifyhandoffifneeded is not defined";

/// Classifies the failure of an agent by its output.
pub(crate) fn classify_failure(text: &str) -> FailureReport {
    let text = text.to_lowercase();
    if let Some(word) = QUOTA_WORDS.iter().find(|word| holds(&text, word)) {
        let retry_after_seconds = retry_after(&text);
        return FailureReport { class: FailureClass::QuotaExceeded, sentinel: Some(word), retry_after_seconds };
    }
    let known = text.contains(HANDOFF_WORDS);
    FailureReport {
        class: if known { FailureClass::ClassifyHandoffBug } else { FailureClass::UnknownFailure },
        sentinel: known.then_some(HANDOFF_WORDS),
        retry_after_seconds: None,
    }
}

/// True if `text` contains `word`. A number is not found inside a longer number.
fn holds(text: &str, word: &str) -> bool {
    let is_digit = |letter: Option<char>| letter.is_some_and(|letter| letter.is_ascii_digit());
    let number = word.bytes().all(|byte| byte.is_ascii_digit());
    text.match_indices(word).any(|(at, _)| {
        !number || !(is_digit(text[..at].chars().next_back()) || is_digit(text[at + word.len()..].chars().next()))
    })
}

/// The number of seconds after `retry after` or `retry-after:`.
fn retry_after(text: &str) -> Option<u64> {
    let at = ["retry after", "retry-after"].iter().filter_map(|word| text.find(word)).min()?;
    let rest = text[at + "retry after".len()..].trim_start_matches([':', ' ', '=']);
    let digits = rest.len() - rest.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    let number: u64 = rest[..digits].parse().ok()?;
    let seconds_each = match rest[digits..].trim_start() {
        unit if unit.starts_with("min") => 60,
        unit if unit.starts_with("hour") => 3600,
        _ => 1,
    };
    number.checked_mul(seconds_each)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_classified_by_their_text() {
        let of = |text| {
            let report = classify_failure(text);
            (report.class, report.sentinel, report.retry_after_seconds)
        };
        let quota = |word, seconds| (FailureClass::QuotaExceeded, Some(word), seconds);
        assert_eq!(of("Rate Limit 429"), quota("429", None));
        assert_eq!(of("Usage limit reached, retry after 30 seconds"), quota("usage limit", Some(30)));
        assert_eq!(of("quota, Retry-After: 2 minutes"), quota("quota", Some(120)));
        assert_eq!(of("retry after 99999999999999999999 rate limit"), quota("rate limit", None));
        assert_eq!(of("line 4290 of é").0, FailureClass::UnknownFailure);
        assert_eq!(of("classifyHandoffIfNeeded is not defined").0, FailureClass::ClassifyHandoffBug);
    }
}
