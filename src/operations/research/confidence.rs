//! The confidence in a finding, by its source.

use schemars::JsonSchema;
use serde::Serialize;

use super::packages::{Ecosystem, PackageVerdict};

/// Providers that return the vendor's documentation, or the page itself.
const OF_THE_MAKERS: &[&str] = &["context7", "firecrawl", "jina", "ref"];

/// Providers that search the web.
const SEARCHES: &[&str] = &["brave", "exa", "perplexity", "tavily", "websearch"];

/// The confidence in a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum Confidence {
    High,
    Medium,
    Low,
}

/// What `classify-confidence` answers.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ConfidenceReport<'text> {
    provider: &'text str,
    package: Option<&'text str>,
    ecosystem: Option<Ecosystem>,
    /// The registry's verdict on the package; null if the finding is not about a package.
    legitimacy_verdict: Option<PackageVerdict>,
    verified: bool,
    pub(crate) confidence: Confidence,
}

/// The package that a finding is about, and its registry's verdict.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoundPackage<'text> {
    pub(crate) name: &'text str,
    pub(crate) ecosystem: Ecosystem,
    pub(crate) verdict: PackageVerdict,
}

/// A provider, and other facts about the finding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProvidedFinding<'text> {
    pub(crate) provider: &'text str,
    pub(crate) package: Option<FoundPackage<'text>>,
    /// A search result was checked against its source.
    pub(crate) verified: bool,
}

/// The verdict of a registry on a package counts most. Otherwise, search results have low confidence until they are
/// verified, and findings of an unknown provider always do.
pub(crate) fn classify(finding: ProvidedFinding<'_>) -> ConfidenceReport<'_> {
    let ProvidedFinding { provider, package, verified } = finding;
    let trusted = OF_THE_MAKERS.contains(&provider) || (verified && SEARCHES.contains(&provider));
    let confidence = match package.map(|package| package.verdict) {
        Some(PackageVerdict::Ok) => Confidence::High,
        Some(PackageVerdict::Sus) | None if trusted => Confidence::Medium,
        Some(PackageVerdict::Sus | PackageVerdict::Slop) | None => Confidence::Low,
    };
    ConfidenceReport {
        provider,
        package: package.map(|package| package.name),
        ecosystem: package.map(|package| package.ecosystem),
        legitimacy_verdict: package.map(|package| package.verdict),
        verified,
        confidence,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_counts_once_it_is_verified_and_an_unknown_provider_never() {
        let of = |provider, verified| classify(ProvidedFinding { provider, package: None, verified }).confidence;
        assert_eq!([of("context7", false), of("brave", true)], [Confidence::Medium; 2]);
        assert_eq!([of("brave", false), of("somebody", true), of("", true)], [Confidence::Low; 3]);
    }

    #[test]
    fn the_verdict_of_a_registry_counts_more_than_the_provider() {
        let of = |provider, verdict| {
            let package = Some(FoundPackage { name: "x", ecosystem: Ecosystem::Npm, verdict });
            classify(ProvidedFinding { provider, package, verified: false }).confidence
        };
        assert_eq!([of("somebody", PackageVerdict::Ok), of("context7", PackageVerdict::Ok)], [Confidence::High; 2]);
        assert_eq!([of("somebody", PackageVerdict::Slop), of("context7", PackageVerdict::Slop)], [Confidence::Low; 2]);
        assert_eq!(
            [of("somebody", PackageVerdict::Sus), of("context7", PackageVerdict::Sus)],
            [Confidence::Low, Confidence::Medium]
        );
    }
}
