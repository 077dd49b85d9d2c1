//! `QUEUE-ORDER.json`: the milestones that come first.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The order of the milestones in the queue.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Queue {
    #[serde(default)]
    pub(crate) order: Vec<String>,
    /// Fields that other programs wrote.
    #[serde(flatten)]
    pub(crate) others: Map<String, Value>,
}
