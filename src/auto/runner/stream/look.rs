//! Looks up values in a client's output: any of them may be missing or have an unexpected type.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::auto::runner::event::{ClientEvent, Tokens, ToolState, UsageScope};

/// Tools that ask a person, as names without separators.
const ASKING: &[&str] =
    &["askuser", "askuserquestion", "askquestion", "askfollowupquestion", "requestuserinput", "question"];

/// What clients reply to the model when they deny it a tool, in lower case.
const REFUSALS: &[&str] = &[
    "auto-rejected",
    "rejected permission",
    "permission to use this tool was denied",
    "permission to use",
    "requested permissions to",
    "requires approval",
    "permission denied and could not request permission",
    "denied by",
    "user rejected",
    "rejected by user",
    "read-only file system",
    "erofs",
];

/// Returns the text at `path`, a JSON pointer.
pub(super) fn text<'a>(value: &'a Value, path: &str) -> Option<&'a str> {
    value.pointer(path)?.as_str()
}

pub(super) fn owned(value: &Value, path: &str) -> Option<String> {
    text(value, path).map(str::to_owned)
}

/// Returns the first text found at these paths.
pub(super) fn first_of(value: &Value, paths: &[&str]) -> Option<String> {
    paths.iter().find_map(|path| owned(value, path))
}

pub(super) fn number(value: &Value, path: &str) -> Option<u64> {
    let number = value.pointer(path)?;
    number.as_u64().or_else(|| whole(number.as_f64()?))
}

/// Converts a number of tokens that was written with a fraction.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is cut at what fits")]
fn whole(number: f64) -> Option<u64> {
    (number.is_finite() && number >= 0.0).then_some(number as u64)
}

pub(super) fn amount(value: &Value, path: &str) -> Option<f64> {
    value.pointer(path)?.as_f64().filter(|amount| amount.is_finite())
}

pub(super) fn flag(value: &Value, path: &str) -> Option<bool> {
    value.pointer(path)?.as_bool()
}

pub(super) fn status(value: &Value, path: &str) -> Option<u16> {
    number(value, path).and_then(|number| u16::try_from(number).ok()).filter(|number| *number >= 100)
}

pub(super) fn list<'a>(value: &'a Value, path: &str) -> impl Iterator<Item = &'a Value> {
    value.pointer(path).and_then(Value::as_array).into_iter().flatten()
}

/// The keys of token counts: input, output, read from a cache, written to one.
pub(super) struct Keys {
    pub(super) input: &'static str,
    pub(super) output: &'static str,
    pub(super) read: &'static str,
    pub(super) written: &'static str,
}

pub(super) const SNAKE: Keys = Keys {
    input: "/input_tokens",
    output: "/output_tokens",
    read: "/cache_read_input_tokens",
    written: "/cache_creation_input_tokens",
};

pub(super) const CAMEL: Keys =
    Keys { input: "/inputTokens", output: "/outputTokens", read: "/cacheReadTokens", written: "/cacheWriteTokens" };

/// What a client's count of input includes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Input {
    /// Neither tokens read from a cache nor those written to one.
    Fresh,
    /// The whole prompt.
    Whole,
}

/// Reads token counts; `None` if neither input nor output is counted.
pub(super) fn tokens(value: &Value, keys: &Keys, input: Input) -> Option<Tokens> {
    let of = |path| number(value, path).unwrap_or(0);
    number(value, keys.input).or_else(|| number(value, keys.output))?;
    let cached = of(keys.read);
    let fresh = match input {
        Input::Fresh => of(keys.input).saturating_add(of(keys.written)),
        Input::Whole => of(keys.input).saturating_sub(cached),
    };
    Some(Tokens { input: fresh, output: of(keys.output), cached })
}

/// The names of tools by the id of their call.
#[derive(Debug, Default)]
pub(super) struct Tools(BTreeMap<String, String>);

impl Tools {
    pub(super) fn called(
        &mut self,
        id: Option<String>,
        name: &str,
        arguments: Option<&Value>,
        events: &mut Vec<ClientEvent>,
    ) {
        if let Some(id) = &id {
            self.0.insert(id.clone(), name.to_owned());
        }
        tool_call(id, name, arguments, events);
    }

    pub(super) fn ended(&mut self, id: Option<String>, state: ToolState) -> ClientEvent {
        let name = id.as_ref().and_then(|id| self.0.remove(id)).unwrap_or_else(|| "tool".to_owned());
        ClientEvent::Tool { id, name, state }
    }
}

/// Returns how a tool ended; `said` is its output.
pub(super) fn state_of(has_failed: bool, said: impl FnOnce() -> String) -> ToolState {
    match has_failed {
        true if is_refusal(&said()) => ToolState::Denied,
        true => ToolState::Failed,
        false => ToolState::Finished,
    }
}

/// Returns an error event; the session may continue after it.
pub(super) fn trouble(text: String) -> ClientEvent {
    ClientEvent::Trouble { status: status_in(&text), text }
}

/// Returns the tokens of the session so far.
pub(super) fn session_tokens(used: Option<&Value>, keys: &Keys, input: Input) -> Option<ClientEvent> {
    let tokens = tokens(used?, keys, input)?;
    Some(ClientEvent::Usage { scope: UsageScope::Session, tokens })
}

/// Returns the first wait found at these paths, converted from milliseconds to seconds.
pub(super) fn wait_seconds(value: &Value, paths: &[&str]) -> Option<f64> {
    paths.iter().find_map(|path| amount(value, path)).map(|wait| wait / 1e3)
}

/// Adds a tool call; or a question, if the tool asks a person.
pub(super) fn tool_call(id: Option<String>, name: &str, arguments: Option<&Value>, events: &mut Vec<ClientEvent>) {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    if ASKING.contains(&plain.to_ascii_lowercase().as_str()) {
        let text = arguments.and_then(question).unwrap_or_else(|| name.to_owned());
        events.push(ClientEvent::Question { text });
    }
    events.push(ClientEvent::Tool { id, name: name.to_owned(), state: ToolState::Started });
}

fn question(arguments: &Value) -> Option<String> {
    first_of(arguments, &["/question", "/questions/0/question", "/prompt", "/message", "/text"])
}

/// True if the output of a failed tool means that it was not allowed to run.
pub(super) fn is_refusal(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    REFUSALS.iter().any(|refusal| text.contains(refusal))
}

/// Returns all text in a value, such as a tool result in any form.
pub(super) fn all_text(value: &Value) -> String {
    let mut all = String::new();
    gather(value, &mut all);
    all
}

fn gather(value: &Value, all: &mut String) {
    match value {
        Value::String(text) => {
            all.push_str(text);
            all.push('\n');
        }
        Value::Array(values) => values.iter().for_each(|value| gather(value, all)),
        Value::Object(values) => values.values().for_each(|value| gather(value, all)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns the HTTP status that prose mentions, as in `unexpected status 401`.
pub(super) fn status_in(prose: &str) -> Option<u16> {
    let lower = prose.to_ascii_lowercase();
    let after = |word: &str| {
        let rest = lower.split_once(word)?.1.trim_start_matches([' ', ':', '=']);
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok().filter(|status| (100..600).contains(status))
    };
    ["status code", "status", "http", "error"].into_iter().find_map(after)
}
