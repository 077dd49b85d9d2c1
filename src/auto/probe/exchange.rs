//! The exchange between a client and its model: requests, replies, and their reported cost.

use serde_json::Value;

/// The protocols that clients use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    Messages,
    Responses,
    ChatCompletions,
    GenerateContent,
    /// One line of JSON for each piece of an answer.
    Nodes,
}

impl Dialect {
    /// Returns the protocol of a request for an answer; `None` for all other requests.
    pub(crate) fn of(method: &str, path: &str) -> Option<Self> {
        let path = path.split('?').next().unwrap_or(path);
        match path {
            _ if method != "POST" => None,
            _ if path.ends_with("/messages") => Some(Self::Messages),
            _ if path.ends_with("/responses") => Some(Self::Responses),
            _ if path.ends_with("/chat/completions") => Some(Self::ChatCompletions),
            _ if path.ends_with("/chat-stream") => Some(Self::Nodes),
            _ if path.ends_with(":generateContent") || path.ends_with(":streamGenerateContent") => {
                Some(Self::GenerateContent)
            }
            _ => None,
        }
    }
}

/// Tokens of one answer, or of many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    /// Tokens sent that were not in the service's cache.
    pub(crate) input: u64,
    /// Tokens sent that were in the cache.
    pub(crate) cached: u64,
    pub(crate) output: u64,
}

impl Usage {
    /// The default cost of an answer.
    pub(crate) const SMALL: Self = Self { input: 10, cached: 0, output: 5 };

    pub(crate) fn plus(self, other: Self) -> Self {
        let (input, cached) = (self.input + other.input, self.cached + other.cached);
        Self { input, cached, output: self.output + other.output }
    }

    /// All tokens sent, as most services count them.
    pub(crate) fn sent(self) -> u64 {
        self.input + self.cached
    }
}

/// One answer of the model.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    Say(String),
    Call(ToolCall),
    /// Several calls in one message, which a client may run in parallel.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "the suite of tests, which compiles this file, has models call tools side by side")
    )]
    Calls(Vec<ToolCall>),
}

/// A tool call as the client spells it.
#[derive(Clone, Debug)]
pub(crate) struct ToolCall {
    pub(crate) name: &'static str,
    /// The group of the tool, if the dialect has groups.
    pub(crate) namespace: Option<&'static str>,
    /// A string for a tool that takes free text.
    pub(crate) arguments: Value,
}

/// A request that a client sent to the model.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) body: Value,
}

impl Request {
    /// Returns every string of the request, unescaped, so that a search sees what the model sees.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        collect_strings(&self.body, &mut text);
        text
    }

    /// True if the client lets the model call tools; requests for titles and summaries do not.
    pub(crate) fn offers_tools(&self) -> bool {
        let filled = |tools: &Value| tools.as_array().is_some_and(|tools| !tools.is_empty());
        // Some models get their tools as the first item of the conversation.
        let mut items = self.body["input"].as_array().into_iter().flatten();
        filled(&self.body["tools"])
            || filled(&self.body["tool_definitions"])
            || items.any(|item| item["type"] == "additional_tools" && filled(&item["tools"]))
    }

    /// Returns the simplest JSON of the requested form, if the request has one: empty, zero, false.
    pub(crate) fn plain_json(&self) -> Option<Value> {
        let schema = &self.body["generationConfig"]["responseJsonSchema"];
        let plain = |schema: &Value| match schema["type"].as_str() {
            Some("string") => "".into(),
            Some("number" | "integer") => 0.into(),
            Some("boolean") => false.into(),
            Some("array") => Value::Array(Vec::new()),
            _ => Value::Null,
        };
        let properties = schema["properties"].as_object()?.iter();
        Some(Value::Object(properties.map(|(name, schema)| (name.clone(), plain(schema))).collect()))
    }

    /// True if this asks for an answer of the model, as opposed to a list of models or a count of tokens.
    #[cfg_attr(
        not(test),
        expect(
            dead_code,
            reason = "the suite of tests, which compiles this file, counts what clients ask their models"
        )
    )]
    pub(crate) fn asks_the_model(&self) -> bool {
        Dialect::of(&self.method, &self.path).is_some()
    }
}

fn collect_strings(value: &Value, text: &mut String) {
    match value {
        Value::String(string) => {
            text.push_str(string);
            text.push('\n');
        }
        Value::Array(items) => items.iter().for_each(|item| collect_strings(item, text)),
        Value::Object(entries) => {
            for (key, item) in entries {
                text.push_str(key);
                text.push('\n');
                collect_strings(item, text);
            }
        }
        _ => {}
    }
}
