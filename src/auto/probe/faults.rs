//! Faults between a client and its model.

use std::time::Duration;

use serde_json::{Value, json};

use super::exchange::Dialect;
pub(crate) use super::exchange::Usage;

/// What happens to a request instead of a proper answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Status(ServiceError),
    /// The answer starts, and the connection ends in the middle of it.
    Cut,
    /// The connection ends without any answer.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "the suite of tests, which compiles this file, breaks connections of clients")
    )]
    Drop,
    /// Nothing is sent, for as long as the client waits.
    Hang,
    /// The answer arrives a few letters at a time, with this pause between them.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "the suite of tests, which compiles this file, slows answers to clients down")
    )]
    Drip(Duration),
}

/// Why a service answers with an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServiceError {
    BadKey,
    Forbidden,
    /// Too many requests; try again after this time.
    TooMany(Duration),
    /// The user's quota is used up until it is renewed.
    UsedUp(Duration),
    Broken,
    Overloaded,
    PromptTooLong,
}

impl ServiceError {
    pub(crate) fn status(self) -> (u16, &'static str) {
        match self {
            Self::BadKey => (401, "Unauthorized"),
            Self::Forbidden => (403, "Forbidden"),
            Self::TooMany(_) | Self::UsedUp(_) => (429, "Too Many Requests"),
            Self::Broken => (500, "Internal Server Error"),
            Self::Overloaded => (529, "Overloaded"),
            Self::PromptTooLong => (400, "Bad Request"),
        }
    }

    fn message(self, dialect: Dialect) -> &'static str {
        match self {
            Self::BadKey if dialect == Dialect::Messages => "invalid x-api-key",
            Self::BadKey if dialect == Dialect::GenerateContent => "API key not valid. Please pass a valid API key.",
            Self::BadKey => "Incorrect API key provided: none.",
            Self::Forbidden => "Your account does not have access to this model.",
            Self::TooMany(_) => "This request would exceed your rate limit. Please try again later.",
            Self::UsedUp(_) => "You exceeded your current quota.",
            Self::Broken => "Internal server error",
            Self::Overloaded => "Overloaded",
            Self::PromptTooLong => "prompt is too long: 250000 tokens > 200000 maximum",
        }
    }

    /// Returns the error in the words of the service with this dialect.
    pub(crate) fn body(self, dialect: Dialect) -> Value {
        let (status, _) = self.status();
        let message = self.message(dialect);
        match dialect {
            Dialect::Messages => {
                let kind = match self {
                    Self::BadKey => "authentication_error",
                    Self::Forbidden => "permission_error",
                    Self::TooMany(_) | Self::UsedUp(_) => "rate_limit_error",
                    Self::Broken => "api_error",
                    Self::Overloaded => "overloaded_error",
                    Self::PromptTooLong => "invalid_request_error",
                };
                json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_scripted"})
            }
            Dialect::Responses | Dialect::ChatCompletions => {
                let (kind, code) = match self {
                    Self::BadKey => ("invalid_request_error", "invalid_api_key"),
                    Self::Forbidden => ("invalid_request_error", "model_not_found"),
                    Self::TooMany(_) => ("requests", "rate_limit_exceeded"),
                    Self::UsedUp(_) => ("insufficient_quota", "insufficient_quota"),
                    Self::Broken => ("server_error", "server_error"),
                    Self::Overloaded => ("server_error", "overloaded"),
                    Self::PromptTooLong => ("invalid_request_error", "context_length_exceeded"),
                };
                json!({"error": {"message": message, "type": kind, "param": null, "code": code}})
            }
            Dialect::GenerateContent => {
                let word = match self {
                    Self::BadKey => "UNAUTHENTICATED",
                    Self::Forbidden => "PERMISSION_DENIED",
                    Self::TooMany(_) | Self::UsedUp(_) => "RESOURCE_EXHAUSTED",
                    Self::Broken => "INTERNAL",
                    Self::Overloaded => "UNAVAILABLE",
                    Self::PromptTooLong => "INVALID_ARGUMENT",
                };
                json!({"error": {"code": status, "message": message, "status": word}})
            }
            Dialect::Nodes => json!({"error": message}),
        }
    }

    /// Returns the headers for it. `now` is in seconds since 1970.
    pub(crate) fn headers(self, dialect: Dialect, now: u64) -> Vec<(String, String)> {
        let (Self::TooMany(wait) | Self::UsedUp(wait)) = self else { return Vec::new() };
        let mut headers = vec![("retry-after".to_owned(), wait.as_secs().to_string())];
        if matches!((self, dialect), (Self::UsedUp(_), Dialect::Messages)) {
            headers.extend(Window { used: 1.0, resets_at: now + wait.as_secs() }.headers());
        }
        headers
    }
}

/// The used share of a subscription, which the service of the messages dialect reports with every answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Window {
    /// The used fraction, from 0 to 1.
    pub(crate) used: f64,
    /// In seconds since 1970.
    pub(crate) resets_at: u64,
}

impl Window {
    pub(crate) fn headers(self) -> Vec<(String, String)> {
        let status = match self.used {
            used if used >= 1.0 => "rejected",
            used if used >= 0.8 => "allowed_warning",
            _ => "allowed",
        };
        let (used, resets_at) = (self.used.to_string(), self.resets_at.to_string());
        let named = [
            ("status", status),
            ("reset", &*resets_at),
            ("representative-claim", "five_hour"),
            ("5h-status", status),
            ("5h-utilization", &*used),
            ("5h-reset", &*resets_at),
            ("overage-status", "rejected"),
        ];
        let header = |(name, value): (&str, &str)| (format!("anthropic-ratelimit-unified-{name}"), value.to_owned());
        named.into_iter().map(header).collect()
    }
}

/// The server's own counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count {
    /// Requests for an answer, including those outside the conversation.
    pub(crate) calls: u64,
    /// The reported cost of the answers; failed ones cost nothing.
    pub(crate) usage: Usage,
    /// The part of that for requests outside the conversation, such as for a title.
    pub(crate) beside: Usage,
}
