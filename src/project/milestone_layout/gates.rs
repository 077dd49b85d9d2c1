//! `S01-GATES.json`: questions that must be answered before a slice is executed.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The gates of a slice.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Gates {
    #[serde(default)]
    pub(crate) gates: Vec<Gate>,
    /// Fields that other programs wrote.
    #[serde(flatten)]
    pub(crate) others: Map<String, Value>,
}

/// One gate, such as `Q3`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Gate {
    #[serde(default)]
    pub(crate) id: String,
    /// `pending` or `complete`.
    #[serde(default)]
    pub(crate) status: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) verdict: Option<String>,
    #[serde(flatten)]
    pub(crate) others: Map<String, Value>,
}

impl Gates {
    /// The unanswered gates that must be answered before the slice is executed.
    pub(crate) fn pending(&self) -> impl Iterator<Item = &str> {
        let before =
            |gate: &&Gate| ["Q3", "Q4"].contains(&gate.id.as_str()) && gate.status.eq_ignore_ascii_case("pending");
        self.gates.iter().filter(before).map(|gate| gate.id.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::milestone_layout::record::{read, render};

    #[test]
    fn only_the_gates_before_execution_are_pending() {
        let text = "{\"gates\":[{\"id\":\"Q3\",\"status\":\"pending\",\"note\":1},{\"id\":\"Q4\",\"status\":\"complete\",\"verdict\":\"pass\"},\
            {\"id\":\"Q5\",\"status\":\"pending\"}],\"by\":\"x\"}";
        let gates: Gates = read("x", text).unwrap();
        assert_eq!(gates.pending().collect::<Vec<_>>(), ["Q3"]);
        assert_eq!(read::<Gates>("x", &render(&gates)), Ok(gates));
    }
}
