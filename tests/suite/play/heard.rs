//! The state of a conversation in a request: how it began, the results of the last calls, other news.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use crate::clients::dialects::Dialect;
use crate::clients::server::Request;

use super::tool_form::{Tools, tools_of};

/// One request, read as a conversation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heard {
    /// Everything before the model's first word, including the system's part.
    pub(crate) opening: String,
    /// How many messages and calls of the model the conversation has.
    pub(crate) said: usize,
    /// The results of all calls, oldest first, each with the number of its call.
    pub(crate) results: Vec<(String, CallResult)>,
    /// Messages after the model's last word that are from neither the model nor its tools.
    pub(crate) news: String,
    /// The tools that the model may call.
    pub(crate) tools: Tools,
}

/// The answer of a tool.
#[derive(Clone, Debug)]
pub(crate) struct CallResult {
    pub(crate) text: String,
    pub(crate) failed: bool,
}

enum Item<'request> {
    /// From the model: a text, or one or more calls.
    Model,
    Result(String, CallResult),
    Text(&'request Value),
}

impl Heard {
    /// `None` for a request that is not a conversation.
    pub(crate) fn of(request: &Request) -> Option<Self> {
        let dialect = Dialect::of(&request.method, &request.path)?;
        let body = &request.body;
        let mut heard = Self { tools: tools_of(body), ..Self::default() };
        let system = ["system", "instructions", "systemInstruction", "system_instruction"];
        for part in system.into_iter().map(|key| &body[key]) {
            push_strings(part, &mut heard.opening);
        }
        for item in items(dialect, body) {
            match item {
                Item::Model => {
                    heard.said += 1;
                    heard.news.clear();
                    // Calls without numbers are answered right after them, and earlier content may be rewritten.
                    if dialect == Dialect::GenerateContent {
                        heard.results.clear();
                    }
                }
                Item::Result(id, result) => heard.results.push((id, result)),
                Item::Text(value) => {
                    push_strings(value, if heard.said == 0 { &mut heard.opening } else { &mut heard.news });
                }
            }
        }
        Some(heard)
    }
}

fn items(dialect: Dialect, body: &Value) -> Vec<Item<'_>> {
    match dialect {
        Dialect::Messages => array(&body["messages"]).flat_map(anthropic).collect(),
        Dialect::Responses => array(&body["input"]).map(responses).collect(),
        Dialect::ChatCompletions => array(&body["messages"]).map(chat).collect(),
        Dialect::GenerateContent => array(&body["contents"]).flat_map(gemini).collect(),
        Dialect::Nodes => Vec::new(),
    }
}

fn anthropic(message: &Value) -> Vec<Item<'_>> {
    if message["role"] == "assistant" {
        return vec![Item::Model];
    }
    let Some(blocks) = message["content"].as_array() else { return vec![Item::Text(&message["content"])] };
    let item = |block| match result_id(block, "tool_result", "tool_use_id") {
        Some(id) => {
            let text = strings(&block["content"]);
            Item::Result(id, CallResult { text, failed: block["is_error"] == true })
        }
        None => Item::Text(block),
    };
    blocks.iter().map(item).collect()
}

fn responses(item: &Value) -> Item<'_> {
    let kind = item["type"].as_str().unwrap_or("message");
    if kind.ends_with("_call_output") {
        return Item::Result(text_of(&item["call_id"]), judged(strings(&item["output"])));
    }
    if kind.ends_with("_call") || kind == "reasoning" || item["role"] == "assistant" {
        return Item::Model;
    }
    Item::Text(&item["content"])
}

fn chat(message: &Value) -> Item<'_> {
    match message["role"].as_str() {
        Some("assistant") => Item::Model,
        Some("tool") => Item::Result(text_of(&message["tool_call_id"]), judged(strings(&message["content"]))),
        _ => Item::Text(&message["content"]),
    }
}

fn gemini(content: &Value) -> Vec<Item<'_>> {
    if content["role"] == "model" {
        return vec![Item::Model];
    }
    array(&content["parts"])
        .map(|part| match &part["functionResponse"] {
            Value::Null => Item::Text(part),
            response => {
                let id = NUMBERS.fetch_add(1, Ordering::Relaxed);
                Item::Result(format!("{id:08}"), judged(strings(&response["response"])))
            }
        })
        .collect()
}

/// Numbers for results of a dialect that has none.
static NUMBERS: AtomicUsize = AtomicUsize::new(0);

/// A result from a client that does not mark failures, but prints how the command ended.
fn judged(text: String) -> CallResult {
    let signs = ["Exit code: ", "Exit Code: ", "exited with code ", "exit code "];
    let failed = signs.iter().any(|sign| {
        let after = text.split(sign).nth(1).and_then(|rest| rest.chars().next());
        after.is_some_and(|digit| digit.is_ascii_digit() && digit != '0')
    });
    CallResult { text, failed }
}

fn result_id(block: &Value, kind: &str, key: &str) -> Option<String> {
    (block["type"] == kind).then(|| text_of(&block[key]))
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn array(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn strings(value: &Value) -> String {
    let mut text = String::new();
    push_strings(value, &mut text);
    text
}

/// The texts of `value`, without the words that only name its kind.
fn push_strings(value: &Value, text: &mut String) {
    match value {
        Value::String(string) => {
            text.push_str(string);
            text.push('\n');
        }
        Value::Array(items) => items.iter().for_each(|item| push_strings(item, text)),
        Value::Object(entries) => {
            let inner =
                entries.iter().filter(|(key, _)| !["type", "role", "id", "cache_control"].contains(&key.as_str()));
            inner.for_each(|(_, item)| push_strings(item, text));
        }
        _ => {}
    }
}
