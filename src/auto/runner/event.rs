//! What a client says of its work, whatever its stream looks like.

use serde::{Deserialize, Serialize};

/// One thing that a client said. A line of a stream gives none, one, or several of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub(crate) enum Event {
    /// The session has begun. `purse` is who pays, where the client says so.
    Started {
        #[serde(default)]
        session: Option<String>,
        #[serde(default)]
        model: Option<String>,
        #[serde(default)]
        purse: Option<String>,
    },
    /// The model gave one answer.
    ModelCall,
    /// What the model said.
    Text { text: String },
    Tool {
        #[serde(default)]
        id: Option<String>,
        name: String,
        state: ToolState,
    },
    /// Tokens that were used.
    Usage { scope: Scope, tokens: Tokens },
    /// Money that was spent, in the unit the client counts in.
    Money { scope: Scope, amount: f64, unit: Unit },
    /// The model did not answer, and the client tries again by itself.
    Retry {
        #[serde(default)]
        status: Option<u16>,
        /// How long the client waits before it tries again.
        #[serde(default)]
        wait_seconds: Option<f64>,
        #[serde(default)]
        why: Option<String>,
    },
    /// What is left of a quota of the account.
    Quota(Quota),
    /// The client asks a person.
    Question { text: String },
    /// Something went wrong; it need not be the end.
    Trouble {
        #[serde(default)]
        status: Option<u16>,
        text: String,
    },
    /// The last word of the client on the session, unless the model is called again after it.
    Terminal(Terminal),
    /// A line that says nothing that is listed here: the client lives.
    SignOfLife,
}

impl Event {
    /// A session of which nothing says who pays.
    pub(super) fn started(session: Option<String>, model: Option<String>) -> Self {
        Self::Started { session, model, purse: None }
    }

    pub(super) fn dollars(scope: Scope, amount: f64) -> Self {
        Self::Money { scope, amount, unit: Unit::Dollars }
    }

    pub(super) fn success() -> Self {
        Self::Terminal(Terminal::Success)
    }

    pub(super) fn failure(status: Option<u16>, kind: Option<String>, text: String) -> Self {
        Self::Terminal(Terminal::Failure(Failure { status, kind, text }))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ToolState {
    Started,
    Finished,
    /// It ran, and said that it failed. That is a matter between the tool and the model.
    Failed,
    /// The client did not let the model use it.
    Denied,
}

/// What a number counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Scope {
    /// One answer of the model, by a name of its own; the numbers of different answers are added. A second number of the
    /// same answer takes the place of the first.
    Call(String),
    /// The session so far; takes the place of all that was counted before.
    Session,
}

/// Tokens. What was read from a cache is counted apart, and what was written to one is input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Tokens {
    pub(crate) input: u64,
    pub(crate) output: u64,
    pub(crate) cached: u64,
}

impl Tokens {
    /// None of the numbers more than `most`.
    pub(crate) fn up_to(self, most: u64) -> Self {
        Self { input: self.input.min(most), output: self.output.min(most), cached: self.cached.min(most) }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cached: self.cached.saturating_add(other.cached),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Unit {
    /// US dollars, at the list prices that the client knows.
    Dollars,
    /// Units of the vendor's own.
    Credits,
}

/// What a client says of a quota.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Quota {
    /// Seconds since 1970 began.
    pub(crate) resets_at: Option<i64>,
    /// The part that is used, 1 being all of it; of several windows the fullest.
    pub(crate) used: Option<f64>,
    pub(crate) status: QuotaStatus,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum QuotaStatus {
    #[default]
    Allowed,
    Warning,
    Rejected,
}

/// How a session ended by the client's own word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Terminal {
    /// The one way in which the stream says that all is well.
    Success,
    Failure(Failure),
}

/// What the client says of its failure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Failure {
    /// The status of HTTP that the model's server gave.
    pub(crate) status: Option<u16>,
    /// A word of the client for the kind of failure.
    pub(crate) kind: Option<String>,
    pub(crate) text: String,
}
