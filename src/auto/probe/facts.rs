//! How each client is pointed at the model server, and what it was seen to do there: facts from `clients.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::dialects::MODEL;
use super::exchange::ToolCall;

/// What is known of one client that is tried.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Facts {
    /// The day on which they were seen, as `2026-01-02`.
    pub(crate) date: String,
    #[cfg_attr(not(test), expect(dead_code, reason = "tests check that every fact has a day and a source"))]
    pub(crate) source: String,
    /// The model that has to be named on the command line, where no setting names one.
    #[serde(default)]
    pub(crate) model: Option<String>,
    /// The variables by which it asks the server.
    #[serde(default)]
    variables: BTreeMap<String, String>,
    /// Files below the home folder, as its user would have them.
    #[serde(default)]
    files: BTreeMap<String, String>,
    /// How its model calls the shell.
    pub(crate) shell: Tool,
    /// The codes with which it ends by itself where the model failed.
    pub(crate) failure_codes: Vec<i32>,
    /// The kinds of line in its stream while it works.
    pub(crate) events: Vec<String>,
    /// Whether it writes lines to its stream that are no JSON.
    #[serde(default)]
    pub(crate) writes_prose: bool,
    /// Whether it says what was spent only where the service is its vendor's.
    #[serde(default)]
    pub(crate) names_no_cost: bool,
    /// Whether something of it runs on when it has ended.
    #[serde(default)]
    pub(crate) leaves_processes: bool,
    /// The verdicts that are usual for it, in trials in which another one would be right.
    #[serde(default)]
    pub(crate) verdicts: BTreeMap<String, String>,
}

/// A tool in the spelling of the client; `{command}` is filled in.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tool {
    name: String,
    arguments: Map<String, Value>,
}

/// The list cannot be used.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the list of clients to probe is invalid: {0}")]
pub(crate) struct FactsError(String);

static ALL: LazyLock<Result<BTreeMap<String, Facts>, FactsError>> = LazyLock::new(|| {
    toml_edit::de::from_str(include_str!("clients.toml")).map_err(|error| FactsError(error.to_string()))
});

/// All clients that can be tried, by the names of their runners.
pub(crate) fn all() -> Result<&'static BTreeMap<String, Facts>, FactsError> {
    ALL.as_ref().map_err(Clone::clone)
}

impl Facts {
    pub(crate) fn variables(&self, url: &str) -> impl Iterator<Item = (&str, String)> {
        self.variables.iter().map(move |(name, value)| (name.as_str(), filled(value, url)))
    }

    /// The files, by their paths below the home folder.
    pub(crate) fn files(&self, url: &str) -> impl Iterator<Item = (&str, String)> {
        self.files.iter().map(move |(path, text)| (path.as_str(), filled(text, url)))
    }
}

fn filled(text: &str, url: &str) -> String {
    text.replace("{url}", url).replace("{model}", MODEL)
}

impl Tool {
    /// The call that runs `command`.
    pub(crate) fn call(&'static self, command: &str) -> ToolCall {
        let fill = |value: &Value| match value {
            Value::String(text) if text == "{command}" => command.into(),
            other => other.clone(),
        };
        let arguments = self.arguments.iter().map(|(name, value)| (name.clone(), fill(value))).collect();
        ToolCall { name: &self.name, namespace: None, arguments: Value::Object(arguments) }
    }
}
