//! `QUEUE-ORDER.json`: which milestones come first.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The order of the milestones that have one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Queue {
    #[serde(default)]
    pub(crate) order: Vec<String>,
    /// Fields of others.
    #[serde(flatten)]
    pub(crate) others: Map<String, Value>,
}
