//! Research: the reliability of findings and packages, and a web search. These commands use servers on the web.

use crate::acts::files;
use crate::acts::user;
use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::disk;
use crate::failure::Failure;
use crate::frame::{Context, verbs};
use crate::operations::research::confidence::{Finding, FoundPackage, classify};
use crate::operations::research::packages::{self, Ecosystem, PackageReport, Told};
use crate::world::web::encoded;
use crate::world::{Program, World, WorldError};

const KEY: &str = "BRAVE_API_KEY";

/// The file with the API key, in the user's own folder.
const KEY_FILE: &str = "brave_api_key";

/// The address of the search service. <https://api-dashboard.search.brave.com/app/documentation>, 2026-11.
const SEARCH: &str = "https://api.search.brave.com/res/v1/web/search";

/// The maximum number of attempts for a search that fails temporarily.
const ATTEMPTS: u32 = 3;

/// How long npm may take to print one of its settings.
const PATIENCE: Duration = Duration::from_secs(20);

/// How many packages are looked up in parallel.
const BESIDE_EACH_OTHER: usize = 8;

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
    "package-legitimacy check": reads json(Vec<PackageReport>) = check(LegitimacyArgs);

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
    context.emit(&classify(Finding { provider: &arguments.provider, package, verified: arguments.verified }))
}

/// Asks the registry about each of the packages, several in parallel.
fn look_up(context: &Context, ecosystem: Ecosystem, names: &[String]) -> Vec<PackageReport> {
    let world = context.world();
    let now = world.now().milliseconds();
    let registries: BTreeMap<Option<&str>, Result<String, WorldError>> =
        names.iter().map(|name| scope(name)).map(|scope| (scope, registry(context, ecosystem, scope))).collect();
    let mut reports = Vec::new();
    for some in names.chunks(BESIDE_EACH_OTHER) {
        let told: Vec<Told> = thread::scope(|threads| {
            let asked: Vec<_> = some
                .iter()
                .map(|name| {
                    let registry = &registries[&scope(name)];
                    threads.spawn(move || match registry {
                        Ok(registry) => ask(world, ecosystem, registry, name),
                        Err(error) => unreachable(&error.to_string()),
                    })
                })
                .collect();
            asked.into_iter().map(|asked| asked.join().unwrap_or_else(|_| unreachable("the question failed"))).collect()
        });
        reports.extend(some.iter().zip(&told).map(|(name, told)| packages::judge(ecosystem, name, told, now)));
    }
    reports
}

/// `@types` for `@types/node`: a scope can have its own registry.
fn scope(name: &str) -> Option<&str> {
    name.split_once('/').map(|(scope, _)| scope).filter(|scope| scope.starts_with('@'))
}

/// The address of the registry to ask about packages. If the project's registry differs from the user's, no registry is
/// asked: a repository may not choose which server learns about it, and the user's registry may have another package
/// with that name.
fn registry(context: &Context, ecosystem: Ecosystem, scope: Option<&str>) -> Result<String, WorldError> {
    if let Some(known) = ecosystem.registry() {
        return Ok(known.to_owned());
    }
    let own = npm_registry(context.world(), scope)?;
    let settings = files::read(context, &context.root().resolve(".npmrc")).ok().flatten().unwrap_or_default();
    let setting = |key: &str| {
        let lines = settings.lines().filter_map(|line| line.split_once('='));
        let mut values =
            lines.filter(|(name, _)| name.trim() == key).map(|(_, value)| value.trim().trim_matches(['"', '\'']));
        values.next_back().map(str::to_owned)
    };
    let named = scope.and_then(|scope| setting(&format!("{scope}:registry"))).or_else(|| setting("registry"));
    match named.filter(|named| named.trim_end_matches('/') != own.trim_end_matches('/')) {
        Some(named) => Err(WorldError::NoAnswer {
            server: "npm".to_owned(),
            why: format!("the project's `.npmrc` sets `{named}`; set that registry in your own `~/.npmrc` to use it"),
        }),
        None => Ok(own),
    }
}

/// The address of the registry in the user's own npm settings.
pub(in crate::commands) fn npm_registry(world: &World, scope: Option<&str>) -> Result<String, WorldError> {
    let no_answer = |why: String| WorldError::NoAnswer { server: "npm".to_owned(), why };
    let setting = |key: &str| -> Result<Option<String>, WorldError> {
        let npm = Program::apart("npm").arguments(["config", "get", key]);
        let finished = world.run(&npm.variable("npm_config_update_notifier", "false").timeout(PATIENCE))?;
        Ok(Some(finished.text()).filter(|told| finished.success() && told != "undefined"))
    };
    let own = scope.map(|scope| setting(&format!("{scope}:registry"))).transpose()?.flatten();
    let told = own.map_or_else(|| setting("registry"), |own| Ok(Some(own)))?;
    let told = told.ok_or_else(|| no_answer("it has no registry configured".to_owned()))?;
    // The value of a variable may be a key.
    if told.contains('$') {
        Err(no_answer("the address of its registry contains a variable".to_owned()))
    } else {
        Ok(told)
    }
}

fn unreachable(why: &str) -> Told {
    Told::Unreachable(why.to_owned())
}

fn ask(world: &World, ecosystem: Ecosystem, registry: &str, name: &str) -> Told {
    const JSON: &[(&str, &str)] = &[("Accept", "application/json")];
    let name = encoded(name);
    let page = match world.fetch(&ecosystem.page(registry, &name), JSON) {
        Err(error) => return unreachable(&error.to_string()),
        Ok(response) if response.status == 404 => return Told::Nothing,
        Ok(response) if response.status != 200 => {
            return unreachable(&format!("the registry answered with status {}", response.status));
        }
        Ok(response) => match serde_json::from_slice(&response.body) {
            Ok(page) => page,
            Err(error) => return unreachable(&format!("the answer of the registry is not JSON: {error}")),
        },
    };
    // If the number of downloads is unavailable, it stays unknown, and the rest is still valid.
    let downloads = ecosystem.downloads_page(&name).and_then(|page| {
        let response = world.fetch(&page, JSON).ok().filter(|response| response.status == 200)?;
        serde_json::from_slice(&response.body).ok()
    });
    Told::Page { page, downloads }
}

/// The answer of `websearch`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(in crate::commands) enum SearchReport {
    Found {
        /// True: the search was answered.
        available: bool,
        query: String,
        count: usize,
        results: Vec<SearchResult>,
    },
    Unavailable {
        /// False: the search was not answered.
        available: bool,
        /// The missing requirement.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// The error of the last attempt.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
        /// The number of attempts.
        #[serde(skip_serializing_if = "Option::is_none")]
        attempts: Option<u32>,
    },
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct SearchResult {
    title: String,
    url: String,
    description: Option<String>,
    /// Such as `2 days ago`.
    age: Option<String>,
}

impl SearchReport {
    fn without(reason: String) -> Self {
        Self::Unavailable { available: false, reason: Some(reason), error: None, attempts: None }
    }

    fn failed(error: String, attempts: Option<u32>) -> Self {
        Self::Unavailable { available: false, reason: None, error: Some(error), attempts }
    }
}

fn websearch(context: &mut Context, arguments: &SearchArgs) -> Result<(), Failure> {
    let query = arguments.query.join(" ");
    let report = match search_key(context)? {
        None => SearchReport::without(format!("{KEY} not set")),
        Some(_) if query.trim().is_empty() => SearchReport::failed("Query required".to_owned(), None),
        Some(key) => search(context.world(), &key, query.trim(), arguments),
    };
    let SearchReport::Found { results, .. } = &report else { return context.emit(&report) };
    let blocks: Vec<String> = results
        .iter()
        .map(|result| {
            format!("{}\n{}\n{}", result.title, result.url, result.description.as_deref().unwrap_or_default())
        })
        .collect();
    context.emit_raw(&report, blocks.join("\n\n"))
}

fn search_key(context: &Context) -> Result<Option<String>, Failure> {
    let named = context.world().variable(KEY);
    let stored = match user::file(context.world(), KEY_FILE) {
        Some(file) if named.is_none() => disk::read_text(file)?,
        _ => None,
    };
    Ok(named.or(stored).map(|key| key.trim().to_owned()).filter(|key| !key.is_empty()))
}

fn search(world: &World, key: &str, query: &str, arguments: &SearchArgs) -> SearchReport {
    let mut page = format!(
        "{SEARCH}?q={}&count={}&country=us&search_lang=en&text_decorations=false",
        encoded(query),
        arguments.limit
    );
    if let Some(span) = arguments.freshness.as_deref().and_then(|span| span.chars().next()) {
        // The service says `pw` for the past week.
        page.extend(["&freshness=p", &span.to_string()]);
    }
    let headers = [("Accept", "application/json"), ("X-Subscription-Token", key)];
    let mut last = String::new();
    for attempt in 0..ATTEMPTS {
        if attempt > 0 {
            world.pause(Duration::from_millis(500 << (attempt - 1)));
        }
        match world.fetch(&page, &headers) {
            Err(error) => last = error.to_string(),
            Ok(response) => match response.status {
                200 => match serde_json::from_slice::<Value>(&response.body) {
                    Ok(answer) => return found(query, &answer),
                    Err(error) => last = format!("the answer is not JSON: {error}"),
                },
                status @ (429 | 500..) => last = format!("API error: {status}"),
                status => return SearchReport::failed(format!("API error: {status}"), None),
            },
        }
    }
    SearchReport::failed(last, Some(ATTEMPTS))
}

fn found(query: &str, answer: &Value) -> SearchReport {
    let results = answer.pointer("/web/results").and_then(Value::as_array);
    let results: Vec<SearchResult> = results
        .into_iter()
        .flatten()
        .map(|result| {
            let field = |name: &str| result.get(name).and_then(Value::as_str).map(str::to_owned);
            SearchResult {
                title: field("title").unwrap_or_default(),
                url: field("url").unwrap_or_default(),
                description: field("description"),
                age: field("age"),
            }
        })
        .collect();
    SearchReport::Found { available: true, query: query.to_owned(), count: results.len(), results }
}
