//! Converts canonical keys to host keys: keep, rename, add, and the marks that follow from the tools of an agent.

use crate::library::{FrontMatter, Item, ItemKind, Value};
use crate::runtime::{AgentTools, Descriptor, Form, Scalar};

/// A key with its value, ready to be encoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) key: String,
    pub(crate) value: FieldValue,
}

/// The possible values of a key in an encoded file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FieldValue {
    Text(String),
    Flag(bool),
    Number(i64),
    List(Vec<String>),
    Map(Vec<(String, String)>),
    /// Lines copied from the descriptor; the first one starts with the key.
    Lines(String),
}

/// The front matter keys for the file of `item`, in order.
pub(crate) fn fields(item: &Item, form: &Form, descriptor: &Descriptor) -> Vec<Field> {
    let mut fields = Vec::new();
    let mut add = |key: &str, value: FieldValue| fields.push(Field { key: key.to_owned(), value });
    for key in &form.keep {
        let value = match item.front_matter.value(key) {
            Some(Value::Text(text)) => FieldValue::Text(text.clone()),
            Some(Value::Flag(flag)) => FieldValue::Flag(*flag),
            Some(Value::Number(number)) => FieldValue::Number(*number),
            Some(Value::List(items)) => FieldValue::List(items.clone()),
            Some(Value::Pairs(pairs)) => FieldValue::Map(pairs.clone()),
            None => continue,
        };
        add(form.rename.get(key).unwrap_or(key), value);
    }
    for (key, value) in &form.add {
        add(key, scalar(value));
    }
    if item.kind == ItemKind::Command
        && let Some(key) = &descriptor.typed_only.key
    {
        add(key, FieldValue::Flag(true));
    }
    if item.kind == ItemKind::Command
        && let Some(lines) = &descriptor.typed_only.lines
    {
        let key = lines.split(':').next().unwrap_or_default();
        add(key, FieldValue::Lines(lines.trim_end().to_owned()));
    }
    if item.kind == ItemKind::Agent {
        let granted = Granted::of(&item.front_matter);
        if let Some(mark) = &form.read_only {
            match (granted.may_change_files(), &mark.otherwise) {
                (false, _) => add(&mark.key, scalar(&mark.value)),
                (true, Some(otherwise)) => add(&mark.key, scalar(otherwise)),
                (true, None) => {}
            }
        }
        match &form.tools {
            Some(AgentTools::List { key, names, mcp }) if granted.limited => {
                add(key, FieldValue::List(granted.host_names(|tool| names.get(tool).cloned(), mcp.as_deref())));
            }
            Some(AgentTools::Denials { key, covers }) => {
                let denied: Vec<(String, String)> = covers
                    .iter()
                    .filter(|(_, tools)| !tools.iter().any(|tool| granted.has(tool)))
                    .map(|(permission, _)| (permission.clone(), "deny".to_owned()))
                    .collect();
                if !denied.is_empty() {
                    add(key, FieldValue::Map(denied));
                }
            }
            Some(AgentTools::List { .. }) | None => {}
        }
    }
    fields
}

fn scalar(value: &Scalar) -> FieldValue {
    match value {
        Scalar::Flag(flag) => FieldValue::Flag(*flag),
        Scalar::Number(number) => FieldValue::Number(*number),
        Scalar::Text(text) => FieldValue::Text(text.clone()),
    }
}

/// The tools of an agent, by canonical names.
struct Granted<'a> {
    /// Whether the agent lists its tools; one that does not has all of them.
    limited: bool,
    tools: Vec<&'a str>,
    denied: Vec<&'a str>,
}

impl<'a> Granted<'a> {
    fn of(front_matter: &'a FrontMatter) -> Granted<'a> {
        let tools = front_matter.names("tools");
        Granted { limited: !tools.is_empty(), tools, denied: front_matter.names("disallowedTools") }
    }

    fn has(&self, tool: &str) -> bool {
        !self.denied.contains(&tool) && (!self.limited || self.tools.contains(&tool))
    }

    fn may_change_files(&self) -> bool {
        ["Write", "Edit", "MultiEdit", "NotebookEdit"].iter().any(|tool| self.has(tool))
    }

    /// The host's names, each once, in the order of the canonical names.
    fn host_names(&self, name: impl Fn(&str) -> Option<String>, mcp: Option<&str>) -> Vec<String> {
        let mut names = Vec::new();
        for tool in self.tools.iter().filter(|tool| self.has(tool)) {
            let host_name = match tool.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")) {
                // A plugin's server has this name only on hosts that keep the names unchanged; other hosts know it by
                // the name listed next to it, and reject an agent for a name they cannot parse.
                Some((server, _)) if server.starts_with("plugin_") => None,
                Some((server, tool)) => mcp.map(|form| form.replace("{server}", server).replace("{tool}", tool)),
                None => name(tool),
            };
            names.extend(host_name.filter(|name| !names.contains(name)));
        }
        names
    }
}
