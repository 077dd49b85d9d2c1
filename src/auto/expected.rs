//! What is expected of a run when it begins, as the log keeps it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::unit::UnitKind;

/// What was expected of a run when it began.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Expected {
    /// The title of the milestone, or of its brief.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    /// Sessions by kind of unit.
    pub(crate) sessions: BTreeMap<UnitKind, usize>,
    /// Whether plans were missing, so that their size was assumed.
    pub(crate) is_assumed: bool,
    /// What earlier runs show; `None` if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) estimate: Option<Estimate>,
}

/// What a run will probably take.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Estimate {
    /// The number of earlier runs that it is made from.
    pub(crate) runs: usize,
    pub(crate) sessions: Spread,
    /// Output tokens and uncached input.
    pub(crate) tokens: Spread,
    /// The time in which it works, without waits.
    pub(crate) milliseconds: Spread,
    /// In US dollars; left out if the client reported none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) usd: Option<Spread>,
}

/// The middle nine tenths of what is likely.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Spread {
    pub(crate) low: f64,
    pub(crate) likely: f64,
    pub(crate) high: f64,
}

impl Spread {
    /// True if the value is in it.
    pub(crate) fn has(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}
