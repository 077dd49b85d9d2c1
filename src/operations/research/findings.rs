//! Saved research findings: each question has a key, under which its finding is kept until it expires.
//!
//! Findings of curators apply to all projects and are in the user's own folder; all others are in the project.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::project::files::sha256;
use crate::text::time::milliseconds;

const DAY: i64 = 24 * 60 * 60 * 1000;

/// The source of findings that apply to all projects.
const CURATED: &str = "curated";

/// A question's key: 64 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FindingKey(String);

const NO_KEY: &str = "a key has 64 hexadecimal digits; `gsd-tools research-plan` prints it";

impl std::str::FromStr for FindingKey {
    type Err = &'static str;

    fn from_str(typed: &str) -> Result<Self, &'static str> {
        let fits = typed.len() == 64 && typed.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if fits { Ok(Self(typed.to_owned())) } else { Err(NO_KEY) }
    }
}

impl FindingKey {
    /// The name of the file with the finding.
    pub(crate) fn file(&self) -> String {
        format!("{}.json", self.0)
    }
}

/// A finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ResearchFinding {
    pub(crate) content: String,
    /// The source; `curated` for findings that apply to all projects.
    pub(crate) source: String,
    pub(crate) provider: String,
    pub(crate) confidence: String,
    /// The time when it was found.
    pub(crate) fetched_at: String,
    /// How long it is valid, in milliseconds.
    pub(crate) ttl: i64,
    pub(crate) kind: String,
}

/// The finding under a key.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct KeptReport {
    hit: bool,
    /// It has expired.
    stale: bool,
    entry: Option<ResearchFinding>,
}

impl ResearchFinding {
    /// Sets how long it is valid: a month for curated findings of high confidence, a week for those of medium
    /// confidence, a day for all others.
    pub(crate) fn held_for_its_source(mut self) -> Self {
        let days = match (self.source.as_str(), self.confidence.as_str()) {
            (CURATED, "HIGH") => 30,
            (CURATED, "MEDIUM") => 7,
            _ => 1,
        };
        self.ttl = days * DAY;
        self
    }

    /// True if it applies to all projects.
    pub(crate) fn is_for_everybody(&self) -> bool {
        self.source == CURATED
    }

    /// The text of its file.
    pub(crate) fn text(&self) -> Result<String, serde_json::Error> {
        Ok(serde_json::to_string(self)? + "\n")
    }

    fn is_stale(&self, now: i64) -> bool {
        milliseconds(&self.fetched_at).is_none_or(|fetched| fetched.saturating_add(self.ttl) < now)
    }
}

/// The finding in these texts of files that may have one: a valid one before an expired one.
pub(crate) fn kept<'text>(texts: impl IntoIterator<Item = &'text str>, now: i64) -> KeptReport {
    let found: Vec<ResearchFinding> = texts.into_iter().filter_map(|text| serde_json::from_str(text).ok()).collect();
    let entry = found.iter().find(|finding| !finding.is_stale(now)).or(found.first());
    let stale = entry.is_some_and(|finding| finding.is_stale(now));
    KeptReport { hit: entry.is_some(), stale, entry: entry.cloned() }
}

/// What `research-plan` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PlanReport {
    items: Vec<PlannedQuestion>,
}

/// A question, and how to answer it.
#[derive(Debug, Serialize, JsonSchema)]
struct PlannedQuestion {
    question: String,
    /// The key under which to save the finding.
    key: String,
    /// The provider to ask, and the question; absent if there is a valid finding.
    #[serde(skip_serializing_if = "Option::is_none")]
    fetch: Option<Fetch>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache: Option<CacheState>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Fetch {
    provider: &'static str,
    query: String,
    /// The providers to ask next, in this order, if the first has no answer.
    then: Vec<&'static str>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct CacheState {
    hit: bool,
    stale: bool,
}

/// The questions of a plan, the available services, and the package ecosystem of the questions.
#[derive(Debug)]
pub(crate) struct ResearchQuestions {
    ecosystem: String,
    questions: Vec<Question>,
    services: Map<String, Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Question {
    text: String,
    kind: String,
    library: String,
    version: String,
}

impl ResearchQuestions {
    /// Parses a plan; questions without text are skipped. An error says what is wrong with `text`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text).map_err(|error| format!("it is not valid JSON: {error}"))?;
        let list = value.get("questions").and_then(Value::as_array);
        let list = list.ok_or("it is not an object with a list `questions`")?;
        let mut questions = Vec::new();
        for (index, question) in list.iter().enumerate() {
            let question = Question::deserialize(question)
                .map_err(|error| format!("question {} is not an object with `text` and `kind`: {error}", index + 1))?;
            if !question.text.trim().is_empty() {
                questions.push(question);
            }
        }
        let services = value.get("config").and_then(Value::as_object).cloned().unwrap_or_default();
        let ecosystem = match value.get("ecosystem") {
            Some(Value::String(ecosystem)) => ecosystem.clone(),
            None | Some(Value::Null) => String::new(),
            Some(other) => other.to_string(),
        };
        Ok(Self { ecosystem, questions, services })
    }
}

/// Decides how to answer each question; `has_service` reports the services of the project, `kept` the saved finding.
pub(crate) fn plan<E>(
    questions: ResearchQuestions,
    has_service: impl Fn(&str) -> bool,
    kept: impl Fn(&FindingKey) -> Result<KeptReport, E>,
) -> Result<PlanReport, E> {
    let ResearchQuestions { ecosystem, questions, services } = questions;
    let has = |service: &str| match services.get(service) {
        None | Some(Value::Null) => has_service(service),
        Some(value) => !matches!(value, Value::Bool(false)) && value.as_str() != Some("") && value.as_i64() != Some(0),
    };
    let mut items = Vec::new();
    for question in questions {
        let key = question.key(&ecosystem);
        let kept = kept(&key)?;
        let provider = provider(&question.kind, &has);
        let fetch = Fetch { provider, query: question.text.clone(), then: others(&question.kind, provider, &has) };
        items.push(PlannedQuestion {
            question: question.text,
            key: key.0,
            fetch: (!kept.hit || kept.stale).then_some(fetch),
            cache: kept.hit.then_some(CacheState { hit: true, stale: kept.stale }),
        });
    }
    Ok(PlanReport { items })
}

/// Web search services and the settings that enable them, the best first.
const SEARCHES: &[(&str, &str)] =
    &[("exa_search", "exa"), ("tavily_search", "tavily"), ("perplexity", "perplexity"), ("brave_search", "brave")];

/// The provider to ask: documentation has a provider that is always available, a page is read, everything else is
/// searched.
fn provider(kind: &str, has: &impl Fn(&str) -> bool) -> &'static str {
    let search = || SEARCHES.iter().find(|(setting, _)| has(setting)).map_or("websearch", |(_, provider)| provider);
    match kind {
        "docs" => "context7",
        "scrape" if has("firecrawl") => "firecrawl",
        "scrape" if has("jina") => "jina",
        _ => search(),
    }
}

/// The providers to ask if `first` has no answer: the available services that answer such a question.
fn others(kind: &str, first: &str, has: &impl Fn(&str) -> bool) -> Vec<&'static str> {
    let readers: &[(&str, &str)] = match kind {
        "docs" => &[("ref_search", "ref"), ("jina", "jina")],
        "scrape" => &[("firecrawl", "firecrawl"), ("jina", "jina")],
        _ => &[],
    };
    let searches = SEARCHES.iter().chain(&[("", "websearch")]);
    let can_be_asked = |(setting, _): &&(&str, &str)| setting.is_empty() || has(setting);
    readers.iter().chain(searches).filter(can_be_asked).map(|(_, name)| *name).filter(|name| *name != first).collect()
}

/// The subject of a question, with its parts in the order of the key.
#[derive(Serialize)]
struct QuestionSubject {
    ecosystem: String,
    library: String,
    version: String,
    query: String,
    kind: String,
}

impl Question {
    /// The key is the same for questions that differ only in case and surrounding blanks.
    fn key(&self, ecosystem: &str) -> FindingKey {
        let plain = |text: &str| text.trim().to_lowercase();
        let subject = QuestionSubject {
            ecosystem: plain(ecosystem),
            library: plain(&self.library),
            version: plain(&self.version),
            query: plain(&self.text),
            kind: plain(&self.kind),
        };
        // Strings always serialize.
        FindingKey(sha256(serde_json::to_string(&subject).unwrap_or_default().as_bytes()))
    }
}

/// The confidence of a finding, as typed by a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sureness(&'static str);

impl std::str::FromStr for Sureness {
    type Err = String;

    fn from_str(typed: &str) -> Result<Self, String> {
        let words = ["HIGH", "MEDIUM", "LOW"];
        let word = words.into_iter().find(|word| word.eq_ignore_ascii_case(typed.trim()));
        word.map(Self).ok_or_else(|| format!("it takes {}", words.join(", ")))
    }
}

impl Sureness {
    pub(crate) fn word(self) -> &'static str {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    fn finding(source: &str, confidence: &str) -> ResearchFinding {
        ResearchFinding {
            content: "c".into(),
            source: source.into(),
            provider: "p".into(),
            confidence: confidence.into(),
            fetched_at: "2026-01-01T00:00:00.000Z".into(),
            ttl: 0,
            kind: "docs".into(),
        }
        .held_for_its_source()
    }

    #[test]
    fn the_next_providers_are_those_the_user_has() {
        let nothing = |_: &FindingKey| Ok::<_, Infallible>(kept([], 0));
        let then = |kind: &str, has: &[&str]| {
            let text = format!(r#"{{"questions": [{{"text": "a", "kind": "{kind}"}}]}}"#);
            let questions = ResearchQuestions::parse(&text).unwrap();
            let mut plan = plan(questions, |service| has.contains(&service), nothing).unwrap();
            plan.items.remove(0).fetch.unwrap().then
        };
        assert_eq!(then("docs", &[]), ["websearch"]);
        assert_eq!(then("docs", &["ref_search", "jina", "exa_search"]), ["ref", "jina", "exa", "websearch"]);
        assert_eq!(then("scrape", &["firecrawl", "jina"]), ["jina", "websearch"]);
        assert_eq!(then("web", &["tavily_search", "perplexity", "ref_search"]), ["perplexity", "websearch"]);
        assert_eq!(then("web", &[]), [""; 0], "who was asked first is not asked again");
    }

    fn planned(text: &str) -> Vec<(String, Option<&'static str>)> {
        let nothing = |_: &FindingKey| Ok::<_, Infallible>(kept([], 0));
        let plan = plan(ResearchQuestions::parse(text).unwrap(), |service| service == "jina", nothing).unwrap();
        plan.items.into_iter().map(|item| (item.key, item.fetch.map(|fetch| fetch.provider))).collect()
    }

    #[test]
    fn the_key_of_a_question_is_the_same_everywhere() {
        let keys = planned(
            r#"{"questions": [{"text": "a", "kind": "docs", "library": "React "}, {"text": " A", "kind": "DOCS", "library": "react"},
                {"text": "a b", "kind": "docs", "library": "react", "version": "18"}]}"#,
        );
        assert_eq!(keys[0].0, "1d8218c067705fc7006bfd711db87fe8e7de340d3696c2d23c5cb283d4540441");
        assert_eq!(keys[0].0, keys[1].0);
        assert!(keys[2].0.starts_with("0d7252d3"), "{}", keys[2].0);
    }

    #[test]
    fn the_same_question_about_packages_of_another_ecosystem_has_another_key() {
        let key = |ecosystem: &str| {
            let question = r#"{"text": "a", "kind": "docs", "library": "react"}"#;
            planned(&format!(r#"{{"ecosystem": {ecosystem}, "questions": [{question}]}}"#)).remove(0).0
        };
        assert_eq!(key("\"npm\""), "fd33bc70f51015fe807ad7469210256bbeb7bd04cdde94f40d9d9ef1a2888588");
        assert_eq!(key("\" NPM\""), key("\"npm\""));
        assert_ne!(key("\"pypi\""), key("\"npm\""));
        assert!(key("null").starts_with("1d8218c0") && key("\"\"") == key("null"));
    }

    #[test]
    fn the_provider_depends_on_the_kind_and_the_available_services() {
        let ask = |kind: &str, config: &str| {
            planned(&format!(r#"{{"questions": [{{"text": "a", "kind": "{kind}"}}], "config": {config}}}"#))[0]
                .1
                .unwrap()
        };
        assert_eq!(ask("docs", r#"{"ref_search": true}"#), "context7");
        assert_eq!(ask("web", "{}"), "websearch");
        assert_eq!(ask("web", r#"{"brave_search": true, "tavily_search": true}"#), "tavily");
        assert_eq!(ask("scrape", "{}"), "jina");
        assert_eq!(ask("scrape", r#"{"firecrawl": true}"#), "firecrawl");
        assert_eq!(ask("scrape", r#"{"jina": false}"#), "websearch");
        assert_eq!(ask("zzz", r#"{"exa_search": true}"#), "exa");
    }

    #[test]
    fn the_source_decides_how_long_a_finding_is_valid() {
        let day = |source, confidence| finding(source, confidence).ttl / DAY;
        assert_eq!([day("curated", "HIGH"), day("curated", "MEDIUM"), day("http://x", "HIGH")], [30, 7, 1]);
        let text = finding("http://x", "LOW").text().unwrap();
        let start = milliseconds("2026-01-01T00:00:00Z").unwrap();
        let at = |now| kept([text.as_str()], now).stale;
        assert_eq!([at(start), at(start + DAY), at(start + DAY + 1)], [false, false, true]);
        let curated = finding("curated", "HIGH").text().unwrap();
        let both = kept([text.as_str(), curated.as_str()], start + 2 * DAY);
        assert_eq!((both.stale, both.entry.unwrap().source.as_str()), (false, "curated"));
    }

    #[test]
    fn an_invalid_file_has_no_finding() {
        for text in ["", "{bad", "[]", "{}", r#"{"content": 1}"#] {
            assert!(!kept([text], 0).hit, "{text}");
        }
        let undated =
            ResearchFinding { fetched_at: "yesterday".into(), ttl: i64::MAX, ..finding("x", "LOW") }.text().unwrap();
        assert!(kept([undated.as_str()], 0).stale);
    }

    #[test]
    fn a_valid_finding_is_not_fetched_again() {
        let questions = || ResearchQuestions::parse(r#"{"questions": [{"text": "a"}, {"text": " "}]}"#).unwrap();
        let text = finding("x", "LOW").text().unwrap();
        let start = milliseconds("2026-01-01T00:00:00Z").unwrap();
        let at = |now| {
            let plan = plan(questions(), |_| false, |_| Ok::<_, Infallible>(kept([text.as_str()], now))).unwrap();
            assert_eq!(plan.items.len(), 1);
            (plan.items[0].fetch.is_some(), plan.items[0].cache.as_ref().unwrap().stale)
        };
        assert_eq!([at(start), at(start + 2 * DAY)], [(false, false), (true, true)]);
    }

    #[test]
    fn an_invalid_plan_is_an_error_that_names_the_question() {
        let why = |text: &str| ResearchQuestions::parse(text).unwrap_err();
        assert!(why("{bad").contains("not valid JSON"));
        assert!(why("[]").contains("`questions`") && why(r#"{"questions": "x"}"#).contains("`questions`"));
        assert!(why(r#"{"questions": [{"text": "a"}, null]}"#).starts_with("question 2 "));
        for key in ["", "../../x", &"A".repeat(64), &"a".repeat(63), &"é".repeat(32)] {
            assert_eq!(key.parse::<FindingKey>(), Err(NO_KEY), "{key}");
        }
    }
}
