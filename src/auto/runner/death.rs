//! Why the model gave no answer: from the client's status numbers and words first, from its prose last.

use super::event::ClientFailure;
pub(crate) use crate::auto::event::Death;

/// Words in prose; earlier rows take precedence. Each must be a separate word: `FileNotFoundError` contains
/// `enotfound`, and "quotation" contains "quota".
const WORDS: &[(Death, &[&str])] = &[
    (
        Death::Context,
        &[
            "prompt is too long",
            "prompt too long",
            "prompt_too_long",
            "prompt as too long",
            "input is too long",
            "context_length_exceeded",
            "context length",
            "context window",
            "contextwindowoverflow",
            "contextoverflow",
            "context overflow",
            "maximum context",
            "maximum number of tokens",
            "413",
        ],
    ),
    (
        Death::Auth,
        &[
            "authentication",
            "unauthorized",
            "unauthenticated",
            "api key not valid",
            "invalid api key",
            "invalid_api_key",
            "incorrect api key",
            "permission_error",
            "forbidden",
            "not logged in",
            "login required",
            "please log in",
            "token has expired",
            "401",
            "403",
        ],
    ),
    (
        Death::Quota,
        &[
            "rate limit",
            "rate_limit",
            "ratelimit",
            "too many requests",
            "usage limit",
            "limit reached",
            "hit your limit",
            "quota",
            "credit balance",
            "insufficient credits",
            "resource_exhausted",
            "payment required",
            "blocking_limit",
            "402",
            "429",
        ],
    ),
    (
        Death::Overload,
        &[
            "overloaded",
            "internal server error",
            "service unavailable",
            "server had an error",
            "bad gateway",
            "gateway timeout",
            "capacity",
            "500",
            "502",
            "503",
            "504",
            "529",
        ],
    ),
    (
        Death::Network,
        &[
            "econnrefused",
            "econnreset",
            "enotfound",
            "etimedout",
            "epipe",
            "eai_again",
            "connection refused",
            "connection reset",
            "connection error",
            "connection closed",
            "unable to connect",
            "cannot connect",
            "socket hang up",
            "socket connection",
            "fetch failed",
            "network error",
            "stream disconnected",
            "stream ended",
            "premature close",
            "premature end",
            "incomplete chunk",
            "without finishing",
            "no response",
            "empty response",
            "timed out",
        ],
    ),
    (
        Death::Limit,
        &[
            "max_turns",
            "max turns",
            "maximum number of turns",
            "turn limit",
            "max session turns",
            "budget",
            "max_tool_calls",
            "max_wall_time",
        ],
    ),
];

impl Death {
    /// Returns the meaning of an HTTP status; `None` for one that is too unspecific.
    pub(crate) fn of_status(status: u16) -> Option<Self> {
        match status {
            401 | 403 => Some(Self::Auth),
            402 | 429 => Some(Self::Quota),
            413 => Some(Self::Context),
            408 | 500..=599 => Some(Self::Overload),
            _ => None,
        }
    }

    /// Returns the meaning of prose with known words.
    pub(crate) fn of_text(text: &str) -> Option<Self> {
        let text = without_frames(text);
        let lower = text.to_ascii_lowercase();
        let has = |word: &&str| match word.parse::<u16>() {
            Ok(_) => has_number(&lower, word),
            Err(_) => has_word(&text, &lower, word),
        };
        WORDS.iter().find(|(_, words)| words.iter().any(has)).map(|(death, _)| *death)
    }

    fn of_kind(kind: &str) -> Option<Self> {
        if kind == "auth" { Some(Self::Auth) } else { Self::of_text(kind) }
    }

    /// Returns the meaning of a failure that a client reports. The client's word for its kind takes precedence over its
    /// prose; a prompt that is too long has a status that does not show it.
    pub(crate) fn of_failure(failure: &ClientFailure) -> Option<Self> {
        let by_status = failure.status.and_then(Self::of_status);
        let by_kind = || failure.kind.as_deref().and_then(Self::of_kind);
        by_status.or_else(by_kind).or_else(|| Self::of_text(&failure.text))
    }
}

/// Returns the text without the code locations in stack traces: their names and line numbers are unrelated to a model.
fn without_frames(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut is_source = false;
    for line in text.split_inclusive('\n') {
        let inside = line.trim_start();
        let is_python = inside.starts_with("File \"") && inside.contains("\", line ");
        let is_call = inside.starts_with("at ") && inside.contains(':') && inside.len() < line.len();
        // In Python, a location is followed by its source line, which is indented further.
        let is_frame = is_python || is_call || (is_source && line.starts_with("    "));
        if !is_frame {
            kept.push_str(line);
        }
        is_source = is_python;
    }
    kept
}

/// True if the text contains the words as separate words, such as in `RateLimitError`, and not as a part of other words
/// or of a file name. `lower` is `text` in lower case.
fn has_word(text: &str, lower: &str, word: &str) -> bool {
    const ENDINGS: &[&str] = &["", "s", "ed"];
    lower.match_indices(word).any(|(at, _)| {
        let end = at + word.len();
        let of = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
        let (before, first) = (of(0, at).chars().next_back(), of(at, end).chars().next());
        let is_inside = |before: char| before.is_alphanumeric() && !is_hump(before, first);
        let rest = of(end, text.len());
        let is_end = |ending: &&str| {
            let Some(rest) = rest.strip_prefix(*ending) else { return false };
            let (last, next) = (of(0, text.len() - rest.len()).chars().next_back(), rest.chars().next());
            next.is_none_or(|next| !next.is_alphanumeric() || last.is_some_and(|last| is_hump(last, Some(next))))
        };
        let is_file =
            before == Some('/') && rest.strip_prefix('.').is_some_and(|name| name.starts_with(char::is_alphanumeric));
        !is_file && !before.is_some_and(is_inside) && ENDINGS.iter().any(is_end)
    })
}

/// True if a word starts between these letters of a name such as `RateLimit`.
fn is_hump(before: char, after: Option<char>) -> bool {
    (before.is_lowercase() || before.is_numeric()) && after.is_some_and(char::is_uppercase)
}

/// True if the text contains the number as a separate word: not as a part of a longer number, of a path, a sum or a
/// fraction.
fn has_number(text: &str, number: &str) -> bool {
    text.match_indices(number).any(|(at, _)| {
        let before = text.get(..at).and_then(|text| text.chars().next_back());
        let mut after = text.get(at + number.len()..).unwrap_or_default().chars();
        let is_begun = before.is_some_and(|letter| letter.is_alphanumeric() || ".$,-:/_".contains(letter));
        let goes_on = match after.next() {
            Some('.' | ',') => after.next().is_some_and(char::is_alphanumeric),
            Some(letter) => letter.is_alphanumeric() || matches!(letter, '_' | '-' | '/'),
            None => false,
        };
        !is_begun && !goes_on
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_understood_by_its_words_and_by_separate_numbers() {
        for (text, expected) in [
            ("API Error: 401 {\"type\":\"error\"}", Some(Death::Auth)),
            ("unexpected status 429 Too Many Requests", Some(Death::Quota)),
            ("API Error: 529. Overloaded", Some(Death::Overload)),
            ("Prompt is too long (400)", Some(Death::Context)),
            ("connect ECONNREFUSED 127.0.0.1:9", Some(Death::Network)),
            ("Reached maximum number of turns (2)", Some(Death::Limit)),
            ("anthropic.RateLimitError: Error code", Some(Death::Quota)),
            ("you were rate limited; limits reset at 5", Some(Death::Quota)),
            ("type: overloaded_error", Some(Death::Overload)),
            ("getaddrinfo ENOTFOUND api.example.com", Some(Death::Network)),
            ("ContextWindowOverflowError", Some(Death::Context)),
            ("FileNotFoundError: [Errno 2] No such file or directory: 'a'", None),
            ("ModuleNotFoundError: No module named 'filepipe'", None),
            ("SyntaxError: quotation marks are missing", None),
            ("the incapacity of src/budget.rs", None),
            ("WIDGETBUDGETS", None),
            ("Traceback:\n  File \"/x/agent.py\", line 429, in <module>\n    retry(quota)\nKeyError: 'a'", None),
            ("TypeError: x\n    at Quota.read (/x/quota.js:401:3)\n", None),
            ("wrote 500.5 lines to src/403.rs", None),
            ("port 127.0.0.1:4290 in 1,500 ms", None),
            ("all is well", None),
            ("", None),
        ] {
            assert_eq!(Death::of_text(text), expected, "{text}");
        }
    }

    #[test]
    fn a_status_precedes_a_word_and_a_word_precedes_prose() {
        let failure = |status, kind: Option<&str>, text: &str| ClientFailure {
            status,
            kind: kind.map(str::to_owned),
            text: text.to_owned(),
        };
        let of = |failure: ClientFailure| Death::of_failure(&failure);
        assert_eq!(of(failure(Some(401), None, "Overloaded")), Some(Death::Auth));
        assert_eq!(of(failure(Some(400), Some("context_length_exceeded"), "unauthorized")), Some(Death::Context));
        assert_eq!(of(failure(None, Some("error"), "rate limit reached")), Some(Death::Quota));
        assert_eq!(of(failure(Some(404), None, "no such model")), None);
    }
}
