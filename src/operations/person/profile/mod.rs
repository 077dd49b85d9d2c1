//! How a person prefers to work: asked, recorded, and written where agents read it.
//!
//! An analysis is a JSON file, made by [`answers`] or by an agent from a sample of messages. Questions and fixed texts
//! are in `dimensions.toml`.

mod pages;

pub(crate) use pages::{counted, preferences, profile, section};

use crate::failure::Failure;
use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Catalogue {
    /// The evidence text of a rating that comes from an answer.
    context_note: String,
    dimension: Vec<Dimension>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Dimension {
    key: String,
    title: String,
    header: String,
    /// The label in the list of a profile.
    label: String,
    /// The label in the table of an instruction file.
    short: String,
    /// The heading of the directive.
    advice: String,
    context: String,
    question: String,
    options: Vec<Choice>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Choice {
    value: String,
    rating: String,
    #[serde(default = "usual_confidence")]
    confidence: String,
    label: String,
    directive: String,
}

fn usual_confidence() -> String {
    "MEDIUM".to_owned()
}

/// A test checks that the file parses; if it did not, there would be no questions.
static CATALOGUE: LazyLock<Catalogue> =
    LazyLock::new(|| toml_edit::de::from_str(include_str!("dimensions.toml")).unwrap_or_default());

/// What `profile-questionnaire` answers without answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Questionnaire {
    mode: &'static str,
    questions: Vec<Asked>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Asked {
    dimension: &'static str,
    header: &'static str,
    context: &'static str,
    question: &'static str,
    options: Vec<QuestionOption>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct QuestionOption {
    label: &'static str,
    /// The letter that selects this option.
    value: &'static str,
}

pub(crate) fn questionnaire() -> Questionnaire {
    let option = |choice: &'static Choice| QuestionOption { label: &choice.label, value: &choice.value };
    let question = |dimension: &'static Dimension| Asked {
        dimension: &dimension.key,
        header: &dimension.header,
        context: &dimension.context,
        question: &dimension.question,
        options: dimension.options.iter().map(option).collect(),
    };
    Questionnaire { mode: "interactive", questions: CATALOGUE.dimension.iter().map(question).collect() }
}

/// What `profile-questionnaire` answers with `--answers`: an analysis.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Answers {
    profile_version: &'static str,
    analyzed_at: String,
    data_source: &'static str,
    projects_analyzed: Vec<String>,
    messages_analyzed: usize,
    message_threshold: &'static str,
    sensitive_excluded: Vec<String>,
    /// The ratings by dimension.
    dimensions: Map<String, Value>,
}

#[derive(Debug, Serialize)]
struct Rated<'a> {
    rating: &'a str,
    confidence: &'a str,
    evidence_count: usize,
    cross_project_consistent: Option<bool>,
    evidence: [ProfileEvidence<'a>; 1],
    summary: String,
    claude_instruction: &'a str,
}

#[derive(Debug, Serialize)]
struct ProfileEvidence<'a> {
    signal: &'a str,
    quote: &'a str,
    project: &'static str,
}

/// The analysis that follows from the answers: one letter for each question, separated by commas.
pub(crate) fn answers(given: &str, now: &str) -> Result<Answers, Failure> {
    let refused =
        |message: String| Failure::usage(message).hint("`gsd-tools profile-questionnaire` prints the questions");
    let given: Vec<&str> = given.split(',').map(str::trim).collect();
    let expected = CATALOGUE.dimension.len();
    if given.len() != expected {
        let found = given.len();
        return Err(refused(format!("expected {expected} answers separated by commas, got {found}")));
    }
    let mut dimensions = Map::new();
    for (dimension, answer) in CATALOGUE.dimension.iter().zip(given) {
        let choice = dimension.options.iter().find(|choice| choice.value == answer).ok_or_else(|| {
            let valid = dimension.options.iter().map(|choice| choice.value.as_str()).collect::<Vec<_>>().join(", ");
            refused(format!("`{answer}` is not an answer for {}; use one of {valid}", dimension.key))
        })?;
        let rated = Rated {
            rating: &choice.rating,
            confidence: &choice.confidence,
            evidence_count: 1,
            cross_project_consistent: None,
            evidence: [ProfileEvidence {
                signal: &CATALOGUE.context_note,
                quote: &choice.label,
                project: "N/A (questionnaire)",
            }],
            summary: format!("{}: {}, as they said themselves.", dimension.header, choice.rating),
            claude_instruction: &choice.directive,
        };
        dimensions.insert(dimension.key.clone(), serde_json::to_value(rated).unwrap_or_default());
    }
    Ok(Answers {
        profile_version: "1.0",
        analyzed_at: now.to_owned(),
        data_source: "questionnaire",
        message_threshold: "questionnaire",
        dimensions,
        ..Answers::default()
    })
}

/// A parsed analysis, with the known dimensions in their order.
#[derive(Debug)]
pub(crate) struct Analysis {
    /// What the analysis was made from.
    pub(crate) source: String,
    version: String,
    projects: Vec<String>,
    messages: u64,
    rated: Vec<RatedDimension>,
}

#[derive(Debug)]
struct RatedDimension {
    dimension: &'static Dimension,
    /// `None` if the messages gave no evidence for it.
    rating: Option<String>,
    confidence: String,
    summary: String,
    directive: String,
    evidence: Vec<(String, String, String)>,
}

impl Analysis {
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        let refused = |why: String| {
            Failure::usage(format!("the analysis {why}"))
                .hint("`gsd-tools profile-questionnaire --answers a,b,c,d,a,b,c,d > analysis.json` creates an analysis")
        };
        let value: Value = serde_json::from_str(text.trim_start_matches('\u{feff}'))
            .map_err(|error| refused(format!("is not valid JSON: {error}")))?;
        let told = value.get("dimensions").and_then(Value::as_object);
        let told = told.ok_or_else(|| refused("has no object `dimensions`".to_owned()))?;
        let word = |key: &str, otherwise: &str| {
            value.get(key).and_then(Value::as_str).map_or_else(|| otherwise.to_owned(), one_line)
        };
        let projects = value.get("projects_analyzed").and_then(Value::as_array).into_iter().flatten();
        Ok(Self {
            source: word("data_source", "session_analysis"),
            version: word("profile_version", "1.0"),
            projects: projects.filter_map(Value::as_str).map(one_line).collect(),
            messages: value.get("messages_analyzed").and_then(Value::as_u64).unwrap_or_default(),
            rated: CATALOGUE
                .dimension
                .iter()
                .filter_map(|dimension| Some(RatedDimension::read(dimension, told.get(&dimension.key)?)))
                .collect(),
        })
    }

    fn scored(&self) -> impl Iterator<Item = &RatedDimension> {
        self.rated.iter().filter(|rated| rated.rating.is_some())
    }

    /// The keys of the dimensions that have a directive.
    pub(crate) fn included(&self) -> Vec<String> {
        self.scored().map(|rated| rated.dimension.key.clone()).collect()
    }
}

/// The rating of a dimension without evidence.
const UNSCORED: &str = "UNSCORED";

impl RatedDimension {
    fn read(dimension: &'static Dimension, told: &Value) -> Self {
        let word = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(one_line).unwrap_or_default();
        let rating = Some(word(told, "rating")).filter(|rating| !rating.is_empty() && rating != UNSCORED);
        let known = dimension.options.iter().find(|choice| rating.as_deref() == Some(choice.rating.as_str()));
        let directive = Some(word(told, "claude_instruction")).filter(|directive| !directive.is_empty());
        let evidence = told.get("evidence").and_then(Value::as_array).into_iter().flatten();
        Self {
            dimension,
            confidence: Some(word(told, "confidence"))
                .filter(|word| !word.is_empty())
                .unwrap_or_else(|| "LOW".to_owned()),
            summary: word(told, "summary"),
            directive: directive.or_else(|| known.map(|choice| choice.directive.clone())).unwrap_or_default(),
            evidence: evidence.map(|one| (word(one, "signal"), word(one, "quote"), word(one, "project"))).collect(),
            rating,
        }
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What `write-profile` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ProfileReport {
    pub(crate) profile_path: String,
    pub(crate) dimensions_scored: usize,
    pub(crate) high_confidence: usize,
    pub(crate) medium_confidence: usize,
    pub(crate) low_confidence: usize,
    /// The number of secrets that were removed from quotations.
    pub(crate) sensitive_redacted: usize,
    pub(crate) source: String,
}

/// What `generate-dev-preferences` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PreferencesReport {
    pub(crate) command_path: String,
    /// The command as people type it.
    pub(crate) command_name: String,
    pub(crate) dimensions_included: Vec<String>,
    pub(crate) source: String,
}

/// What `generate-claude-profile` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SectionReport {
    pub(crate) claude_md_path: String,
    pub(crate) action: SectionAction,
    pub(crate) dimensions_included: Vec<String>,
    /// True if it is the file for all projects.
    pub(crate) is_global: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SectionAction {
    Created,
    /// Added after the existing text.
    Appended,
    Updated,
    /// The file already has it.
    Unchanged,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_questions_parse_and_their_answers_differ() {
        let parsed: Catalogue = toml_edit::de::from_str(include_str!("dimensions.toml")).unwrap();
        assert_eq!(parsed.dimension.len(), 8);
        for dimension in &parsed.dimension {
            let mut ratings: Vec<&str> = dimension.options.iter().map(|choice| choice.rating.as_str()).collect();
            let values: Vec<&str> = dimension.options.iter().map(|choice| choice.value.as_str()).collect();
            assert_eq!(values, ["a", "b", "c", "d"], "{}", dimension.key);
            ratings.sort_unstable();
            ratings.dedup();
            assert_eq!(ratings.len(), 4, "{}", dimension.key);
            assert!(dimension.options.iter().all(|choice| !choice.label.is_empty() && !choice.directive.is_empty()));
        }
    }

    #[test]
    fn answers_give_an_analysis_that_is_read_back() {
        let made = answers("a,b,c,d,a,b,c,d", "now").unwrap();
        let analysis = Analysis::parse(&serde_json::to_string(&made).unwrap()).unwrap();
        let ratings: Vec<&str> = analysis.scored().filter_map(|rated| rated.rating.as_deref()).collect();
        assert_eq!(ratings[..4], ["terse-direct", "deliberate-informed", "detailed", "collaborative"]);
        assert_eq!((analysis.included().len(), analysis.source.as_str()), (8, "questionnaire"));
        assert_eq!(answers("d,a,a,a,a,a,a,a", "").unwrap().dimensions["communication_style"]["confidence"], "LOW");
    }

    #[test]
    fn invalid_answers_and_analyses_are_refused() {
        let error = answers("a,b", "").unwrap_err().to_string();
        assert_eq!(error, "expected 8 answers separated by commas, got 2");
        let error = answers("z,a,a,a,a,a,a,a", "").unwrap_err().to_string();
        assert_eq!(error, "`z` is not an answer for communication_style; use one of a, b, c, d");
        assert!(Analysis::parse("{").unwrap_err().message.starts_with("the analysis is not valid JSON: "));
        for text in ["{}", "[]", "null", "{\"dimensions\":[]}"] {
            let error = Analysis::parse(text).unwrap_err().to_string();
            assert_eq!(error, "the analysis has no object `dimensions`", "{text}");
        }
    }
}
