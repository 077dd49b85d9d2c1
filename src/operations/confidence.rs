//! How far a finding can be trusted, by where it comes from.

use schemars::JsonSchema;
use serde::Serialize;

/// Providers that hand out what the makers of a thing say, or the page itself.
const OF_THE_MAKERS: &[&str] = &["context7", "firecrawl", "jina", "ref"];

/// Providers that search the web.
const SEARCHES: &[&str] = &["brave", "exa", "perplexity", "tavily", "websearch"];

/// How far a finding can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum Confidence {
    Medium,
    Low,
}

/// What `classify-confidence` answers.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ConfidenceReport<'text> {
    provider: &'text str,
    package: Option<&'text str>,
    ecosystem: Option<&'text str>,
    /// Nobody was asked whether the package is what it says it is.
    legitimacy_verdict: Option<&'static str>,
    verified: bool,
    pub(crate) confidence: Confidence,
}

/// A provider, and what else is known of the finding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finding<'text> {
    pub(crate) provider: &'text str,
    pub(crate) package: Option<&'text str>,
    pub(crate) ecosystem: Option<&'text str>,
    /// Somebody has held what the search found against its source.
    pub(crate) verified: bool,
}

/// What a search finds counts little until it is verified; a provider nobody knows counts little whatever is said.
pub(crate) fn classify(finding: Finding<'_>) -> ConfidenceReport<'_> {
    let Finding { provider, package, ecosystem, verified } = finding;
    let trusted = OF_THE_MAKERS.contains(&provider) || (verified && SEARCHES.contains(&provider));
    let confidence = if trusted { Confidence::Medium } else { Confidence::Low };
    ConfidenceReport { provider, package, ecosystem, legitimacy_verdict: None, verified, confidence }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_counts_once_it_is_verified_and_a_stranger_never() {
        let of =
            |provider, verified| classify(Finding { provider, package: None, ecosystem: None, verified }).confidence;
        assert_eq!([of("context7", false), of("brave", true)], [Confidence::Medium; 2]);
        assert_eq!([of("brave", false), of("somebody", true), of("", true)], [Confidence::Low; 3]);
    }
}
