//! The events that a client reports, in whatever form its stream has.

use serde::{Deserialize, Serialize};

/// One thing that a client reported. A line of a stream gives zero, one, or several events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub(crate) enum ClientEvent {
    /// The session has begun. `purse` is who pays, if the client reports it.
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
    /// Text from the model.
    Text { text: String },
    Tool {
        #[serde(default)]
        id: Option<String>,
        name: String,
        state: ToolState,
    },
    /// Tokens used.
    Usage { scope: UsageScope, tokens: Tokens },
    /// Money spent, in the unit of the client.
    Money { scope: UsageScope, amount: f64, unit: MoneyUnit },
    /// The model did not answer, and the client retries without being asked.
    Retry {
        #[serde(default)]
        status: Option<u16>,
        /// How long the client waits before the retry.
        #[serde(default)]
        wait_seconds: Option<f64>,
        #[serde(default)]
        why: Option<String>,
    },
    /// The rest of an account's quota.
    Quota(Quota),
    /// The client asks a person.
    Question { text: String },
    /// An error; the session may continue after it.
    Trouble {
        #[serde(default)]
        status: Option<u16>,
        text: String,
    },
    /// The client's final message about the session, unless it calls the model again after it.
    Terminal(Terminal),
    /// A line without any of these: it shows only that the client is alive.
    SignOfLife,
}

impl ClientEvent {
    /// Returns the start of a session without a payer.
    pub(super) fn started(session: Option<String>, model: Option<String>) -> Self {
        Self::Started { session, model, purse: None }
    }

    pub(super) fn dollars(scope: UsageScope, amount: f64) -> Self {
        Self::Money { scope, amount, unit: MoneyUnit::Dollars }
    }

    pub(super) fn success() -> Self {
        Self::Terminal(Terminal::Success)
    }

    pub(super) fn failure(status: Option<u16>, kind: Option<String>, text: String) -> Self {
        Self::Terminal(Terminal::Failure(ClientFailure { status, kind, text }))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ToolState {
    Started,
    Finished,
    /// It ran and reported a failure, which the model has to deal with.
    Failed,
    /// The client did not let the model use it.
    Denied,
}

/// What a number covers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum UsageScope {
    /// One answer of the model, by a unique name; the numbers of different answers are added. A second number for the
    /// same answer replaces the first.
    Call(String),
    /// The session so far; replaces everything counted before.
    Session,
}

/// Token counts. Tokens read from a cache are counted separately, and those written to one are input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Tokens {
    pub(crate) input: u64,
    pub(crate) output: u64,
    pub(crate) cached: u64,
}

impl Tokens {
    /// Limits each number to `most`.
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
pub(crate) enum MoneyUnit {
    /// US dollars, at the list prices that the client has.
    Dollars,
    /// Units of the vendor.
    Credits,
}

/// A client's report about a quota.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Quota {
    /// Seconds since 1970.
    pub(crate) resets_at: Option<i64>,
    /// The used fraction, from 0 to 1; of several windows the fullest.
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

/// How a session ended according to the client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Terminal {
    /// The one way in which the stream reports success.
    Success,
    Failure(ClientFailure),
}

/// A client's report of its failure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ClientFailure {
    /// The HTTP status from the model's server.
    pub(crate) status: Option<u16>,
    /// The client's word for the kind of failure.
    pub(crate) kind: Option<String>,
    pub(crate) text: String,
}
