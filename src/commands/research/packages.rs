//! Research: the reliability of findings and packages, and a web search. These commands use servers on the web.

use crate::acts::research::packages::look_up;
use crate::acts::research::search::{self, Search, SearchReport};
use crate::failure::Failure;
use crate::frame::{Context, verbs};
use crate::operations::research::confidence::{FoundPackage, ProvidedFinding, classify};
use crate::operations::research::packages::Ecosystem;

verbs! {
    "Research";
    groups { "package-legitimacy": "Check packages in their registry"; }

    /// Show how reliable a research finding is, judged by its source
    ///
    /// With `--package`, also looks the package up in its registry (uses the network).
    ///
    /// Example: `gsd-tools classify-confidence --provider websearch --verified --pick confidence` prints `MEDIUM`.
    "classify-confidence": reads json(crate::operations::research::confidence::ConfidenceReport)
        = classify_confidence(ConfidenceArgs);

    /// Check packages in their registry for made-up and malicious names
    ///
    /// The verdict is `OK`, `SUS` (a person has to check) or `SLOP` (made up or malicious). Uses the network.
    ///
    /// npm packages are looked up in the registry that npm is configured to use. If a registry cannot be reached,
    /// `unreachable` says why and the verdict is `SUS`.
    ///
    /// Example: `gsd-tools package-legitimacy check --ecosystem npm express left-pad --pick [0].verdict`.
    "package-legitimacy check": reads json(Vec<crate::operations::research::packages::PackageReport>) = check(LegitimacyArgs);

    /// Search the web with Brave
    ///
    /// Reads the API key from `BRAVE_API_KEY` or the file `~/.gsd/brave_api_key`.
    ///
    /// Example: `gsd-tools websearch "tower middleware order" --limit 5 --freshness month`.
    "websearch": reads json(SearchReport) = websearch(SearchArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct ConfidenceArgs {
    /// The provider that found it, such as `context7` or `websearch`
    #[arg(long)]
    provider: String,
    /// The package that the finding is about
    #[arg(long, requires = "ecosystem")]
    package: Option<String>,
    /// The registry of the package: `npm`, `pypi` or `crates`
    #[arg(long, requires = "package")]
    ecosystem: Option<Ecosystem>,
    /// The finding was checked against its source
    #[arg(long)]
    verified: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct LegitimacyArgs {
    /// The registry of the packages: `npm`, `pypi` or `crates`
    #[arg(long)]
    ecosystem: Ecosystem,
    /// The names of the packages
    #[arg(required = true, value_name = "PACKAGE")]
    packages: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SearchArgs {
    /// The words to search for
    query: Vec<String>,
    /// The number of results, at most 20
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u8).range(1..=20))]
    limit: u8,
    /// Only pages from the past `day`, `week`, `month` or `year`
    #[arg(long, value_parser = ["day", "week", "month", "year"])]
    freshness: Option<String>,
}

fn check(context: &mut Context, arguments: &LegitimacyArgs) -> Result<(), Failure> {
    let reports = look_up(context, arguments.ecosystem, &arguments.packages);
    context.emit(&reports)
}

fn classify_confidence(context: &mut Context, arguments: &ConfidenceArgs) -> Result<(), Failure> {
    let package = arguments.package.as_deref().zip(arguments.ecosystem).and_then(|(name, ecosystem)| {
        let report = look_up(context, ecosystem, &[name.to_owned()]).pop()?;
        Some(FoundPackage { name, ecosystem, verdict: report.verdict })
    });
    context.emit(&classify(ProvidedFinding { provider: &arguments.provider, package, verified: arguments.verified }))
}

fn websearch(context: &mut Context, arguments: &SearchArgs) -> Result<(), Failure> {
    let query = arguments.query.join(" ");
    let (query, freshness) = (query.trim(), arguments.freshness.as_deref());
    let report = search::websearch(context, Search { query, limit: arguments.limit, freshness })?;
    let SearchReport::Found { results, .. } = &report else { return context.emit(&report) };
    let block = |result: &search::SearchResult| {
        format!("{}\n{}\n{}", result.title, result.url, result.description.as_deref().unwrap_or_default())
    };
    let blocks: Vec<String> = results.iter().map(block).collect();
    context.emit_raw(&report, blocks.join("\n\n"))
}
