//! How to point each client to the model server, and its known behaviour there: facts from `clients.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::dialects::MODEL;
use super::exchange::ToolCall;

/// The facts about one client.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClientFacts {
    /// The date of the observation, as `2026-01-02`.
    pub(crate) date: String,
    #[cfg_attr(not(test), expect(dead_code, reason = "tests check that every fact has a day and a source"))]
    pub(crate) source: String,
    /// The model to name on the command line, if no setting names one.
    #[serde(default)]
    pub(crate) model: Option<String>,
    /// The environment variables that point it to the server.
    #[serde(default)]
    variables: BTreeMap<String, String>,
    /// Files below the home folder, as its user would have them.
    #[serde(default)]
    files: BTreeMap<String, String>,
    /// How its model calls the shell.
    pub(crate) shell: Tool,
    /// Its exit codes after a failure of the model.
    pub(crate) failure_codes: Vec<i32>,
    /// The kinds of line in its stream while it works.
    pub(crate) events: Vec<String>,
    /// Whether it writes lines to its stream that are not JSON.
    #[serde(default)]
    pub(crate) writes_prose: bool,
    /// Whether it reports the cost only for its vendor's own service.
    #[serde(default)]
    pub(crate) names_no_cost: bool,
    /// Whether it leaves processes running when it ends.
    #[serde(default)]
    pub(crate) leaves_processes: bool,
    /// The verdicts that are usual for it, in trials where a different one would be correct.
    #[serde(default)]
    pub(crate) verdicts: BTreeMap<String, String>,
}

/// A tool as the client spells it; `{command}` is filled in.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tool {
    name: String,
    arguments: Map<String, Value>,
}

/// The list of facts is invalid.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the list of clients to probe is invalid: {0}")]
pub(crate) struct FactsError(String);

static ALL: LazyLock<Result<BTreeMap<String, ClientFacts>, FactsError>> = LazyLock::new(|| {
    toml_edit::de::from_str(include_str!("clients.toml")).map_err(|error| FactsError(error.to_string()))
});

/// All clients that can be tried, by the names of their runners.
pub(crate) fn all() -> Result<&'static BTreeMap<String, ClientFacts>, FactsError> {
    ALL.as_ref().map_err(Clone::clone)
}

impl ClientFacts {
    pub(crate) fn variables(&self, url: &str) -> impl Iterator<Item = (&str, String)> {
        self.variables.iter().map(move |(name, value)| (name.as_str(), filled(value, url)))
    }

    /// Returns the files, by their paths below the home folder.
    pub(crate) fn files(&self, url: &str) -> impl Iterator<Item = (&str, String)> {
        self.files.iter().map(move |(path, text)| (path.as_str(), filled(text, url)))
    }
}

fn filled(text: &str, url: &str) -> String {
    text.replace("{url}", url).replace("{model}", MODEL)
}

impl Tool {
    /// Returns the call that runs `command`.
    pub(crate) fn call(&'static self, command: &str) -> ToolCall {
        let fill = |value: &Value| match value {
            Value::String(text) if text == "{command}" => command.into(),
            other => other.clone(),
        };
        let arguments = self.arguments.iter().map(|(name, value)| (name.clone(), fill(value))).collect();
        ToolCall { name: &self.name, namespace: None, arguments: Value::Object(arguments) }
    }
}
