//! An event as a host might send it, for running a hook. It has the keys of every dialect.

use serde_json::{Map, Value};

use crate::library::ToolSet;

/// The session of the samples.
const SESSION: &str = "gsd-tools-bench";

/// Returns the JSON of the host's `event` in `folder`; about `tool`, with the host's name for it, if one is given.
pub(crate) fn sample(event: &str, folder: &str, tool: Option<(ToolSet, &str)>) -> String {
    let file = format!("{folder}/gsd-tools-bench.txt");
    let context = object([("remaining_percentage", Value::from(80.0)), ("used_percentage", Value::from(20.0))]);
    let mut payload = Map::new();
    let mut put = |keys: &[&str], value: Value| {
        for key in keys {
            payload.insert((*key).to_owned(), value.clone());
        }
    };
    put(&["session_id", "sessionId", "conversation_id", "taskId"], Value::from(SESSION));
    put(&["hook_event_name", "hookName", "agent_action_name"], Value::from(event));
    put(&["cwd"], Value::from(folder));
    put(&["workspace_roots", "workspaceRoots"], Value::from(vec![folder]));
    put(&["workspace"], texts([("current_dir", folder)]));
    put(&["model"], texts([("id", "model"), ("display_name", "Model")]));
    put(&["context_window"], context);
    put(&["source", "trigger"], Value::from("startup"));
    put(&["prompt"], Value::from("hello"));
    put(&["file_path"], Value::from(file.as_str()));
    if let Some((set, name)) = tool {
        put(&["tool_name", "toolName"], Value::from(name));
        put(&["tool_input", "toolArgs", "tool_info"], input(set, &file));
        put(&["tool_response", "tool_output"], texts([("content", "alpha")]));
    }
    Value::Object(payload).to_string()
}

fn input(tool: ToolSet, file: &str) -> Value {
    match tool {
        ToolSet::Shell => texts([("command", "git status"), ("description", "Look")]),
        ToolSet::Write => texts([("file_path", file), ("path", file), ("content", "alpha\n")]),
        ToolSet::Edit => texts([("file_path", file), ("path", file), ("old_string", "alpha"), ("new_string", "beta")]),
        ToolSet::Read => texts([("file_path", file), ("path", file)]),
        ToolSet::Search => texts([("pattern", "alpha")]),
        ToolSet::Web => texts([("url", "https://example.com/")]),
        ToolSet::Agent => texts([("subagent_type", "helper"), ("description", "Help"), ("prompt", "Help.")]),
    }
}

fn texts<const N: usize>(pairs: [(&str, &str); N]) -> Value {
    object(pairs.map(|(key, value)| (key, Value::from(value))))
}

fn object<const N: usize>(pairs: [(&str, Value); N]) -> Value {
    Value::Object(pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

#[cfg(test)]
mod tests {
    use super::super::Payload;
    use super::*;

    #[test]
    fn a_sample_is_read_as_its_event_and_tool() {
        for set in ToolSet::ALL {
            let payload = Payload::parse(&sample("E", "/p", Some((set, "frobnicate")))).unwrap();
            assert_eq!((payload.tool(), payload.folder(), payload.event_name()), (Some(set), Some("/p"), Some("E")));
        }
        assert!(Payload::parse(&sample("E", "/p", None)).unwrap().context_use(0).is_some());
    }
}
