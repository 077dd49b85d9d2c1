//! The tools that a client offers the model, and whether a call that our text orders matches them.

use std::collections::BTreeMap;

use serde_json::Value;

/// The parameters of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ToolForm {
    pub(crate) parameters: Vec<String>,
    pub(crate) required: Vec<String>,
}

pub(crate) type Tools = BTreeMap<String, ToolForm>;

/// The tools in a request, in any dialect: each has a name, with a schema next to it.
pub(crate) fn tools_of(body: &Value) -> Tools {
    let mut tools = Tools::new();
    for key in ["tools", "tool_definitions"] {
        collect(&body[key], &mut tools);
    }
    for item in body["input"].as_array().into_iter().flatten().filter(|item| item["type"] == "additional_tools") {
        collect(&item["tools"], &mut tools);
    }
    tools
}

fn collect(value: &Value, tools: &mut Tools) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, tools)),
        Value::Object(entries) => {
            let schema = ["parameters", "input_schema", "parametersJsonSchema", "inputSchema"];
            let schema = schema.iter().find_map(|key| entries.get(*key)).filter(|schema| schema.is_object());
            match (entries.get("name").and_then(Value::as_str), schema) {
                (Some(name), Some(schema)) => {
                    let properties = schema["properties"].as_object().into_iter().flatten();
                    let required = schema["required"].as_array().into_iter().flatten();
                    let form = ToolForm {
                        parameters: properties.map(|(name, _)| name.clone()).collect(),
                        required: required.filter_map(Value::as_str).map(str::to_owned).collect(),
                    };
                    tools.insert(name.to_owned(), form);
                }
                _ => entries.values().for_each(|inner| collect(inner, tools)),
            }
        }
        _ => {}
    }
}

/// The fault in a call, `tool(name="value", ...` up to the end of its line, for a model that has these tools.
pub(crate) fn objection(call: &str, tools: &Tools) -> Option<String> {
    let (tool, arguments) = call.trim().split_once('(')?;
    let Some(form) = tools.get(tool) else {
        return Some(format!("no tool is called `{tool}`: {:?}", tools.keys()));
    };
    let named: Vec<&str> = names(arguments).collect();
    let unknown = named.iter().find(|name| !form.parameters.iter().any(|parameter| parameter == *name));
    if let Some(name) = unknown {
        return Some(format!("`{tool}` has no parameter `{name}`: {:?}", form.parameters));
    }
    let missing = form.required.iter().find(|parameter| !named.contains(&parameter.as_str()));
    missing.map(|parameter| format!("`{tool}` requires `{parameter}`, which the call does not name"))
}

/// The names of the arguments; placeholders do not count.
fn names(arguments: &str) -> impl Iterator<Item = &str> {
    let (mut depth, mut is_quoted) = (0, false);
    let parts = arguments.split(move |letter: char| {
        match letter {
            '"' => is_quoted = !is_quoted,
            '{' if !is_quoted => depth += 1,
            '}' if !is_quoted => depth -= 1,
            _ => {}
        }
        letter == ',' && depth == 0 && !is_quoted
    });
    parts.filter_map(|part| part.trim().split_once('=')).map(|(name, _)| name).filter(|name| !name.starts_with('{'))
}

mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_call_is_checked_against_the_schema_that_the_model_gets() {
        let schema = json!({"properties": {"kind": {}, "text": {}, "name": {}}, "required": ["name", "text"]});
        let bodies = [
            json!({"tools": [{"name": "start", "input_schema": schema}]}),
            json!({"tools": [{"type": "function", "function": {"name": "start", "parameters": schema}}]}),
            json!({"tools": [{"functionDeclarations": [{"name": "start", "parametersJsonSchema": schema}]}]}),
            json!({"input": [{"type": "additional_tools", "tools": [
                {"type": "namespace", "name": "group", "tools": [{"name": "start", "parameters": schema}]},
            ]}]}),
        ];
        for body in bodies {
            let tools = tools_of(&body);
            let told = |call: &str| objection(call, &tools).unwrap_or_default();
            assert_eq!(told("start(kind=\"a, b=c\", name=\"{a name, of a=b}\", {argument}, text=\""), "", "{body}");
            assert!(told("start(kind=\"a\", name=\"n\", description=\"x\", text=\"").contains("`description`"));
            assert!(told("start(kind=\"a\", text=\"").contains("requires `name`"));
            assert!(told("begin(kind=\"a\", text=\"").contains("no tool is called `begin`"));
        }
    }
}
