//! Searching the web.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::acts::{Call, user};
use crate::disk;
use crate::failure::Failure;
use crate::world::World;
use crate::world::web::encoded;

const KEY: &str = "BRAVE_API_KEY";

/// The file with the API key, in the user's own folder.
const KEY_FILE: &str = "brave_api_key";

/// The address of the search service. <https://api-dashboard.search.brave.com/app/documentation>, 2026-11.
const SEARCH: &str = "https://api.search.brave.com/res/v1/web/search";

/// The maximum number of attempts for a search that fails temporarily.
const ATTEMPTS: u32 = 3;

/// The answer of `websearch`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum SearchReport {
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
pub(crate) struct SearchResult {
    pub(crate) title: String,
    pub(crate) url: String,
    pub(crate) description: Option<String>,
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

/// What to search for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search<'a> {
    pub(crate) query: &'a str,
    /// The number of results.
    pub(crate) limit: u8,
    /// Only pages from the past `day`, `week`, `month` or `year`.
    pub(crate) freshness: Option<&'a str>,
}

/// Searches with the user's own key.
pub(crate) fn websearch(call: &Call, wanted: Search<'_>) -> Result<SearchReport, Failure> {
    Ok(match search_key(call)? {
        None => SearchReport::without(format!("{KEY} not set")),
        Some(_) if wanted.query.is_empty() => SearchReport::failed("Query required".to_owned(), None),
        Some(key) => search(call.world(), &key, wanted),
    })
}

fn search_key(call: &Call) -> Result<Option<String>, Failure> {
    let named = call.world().variable(KEY);
    let stored = match user::file(call.world(), KEY_FILE) {
        Some(file) if named.is_none() => disk::read_text(file)?,
        _ => None,
    };
    Ok(named.or(stored).map(|key| key.trim().to_owned()).filter(|key| !key.is_empty()))
}

fn search(world: &World, key: &str, wanted: Search<'_>) -> SearchReport {
    let Search { query, limit, freshness } = wanted;
    let mut page =
        format!("{SEARCH}?q={}&count={}&country=us&search_lang=en&text_decorations=false", encoded(query), limit);
    if let Some(span) = freshness.and_then(|span| span.chars().next()) {
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
