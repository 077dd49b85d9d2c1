//! Every payload in `tests/payloads/hooks.jsonl` is understood. Real clients sent them (2026-11-21); they are
//! shortened, the project is `/p`. For hosts whose hooks are plugins, the lines are what our adapters make of the call.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::Payload;
use crate::library::ToolSet;

#[derive(Debug, Deserialize)]
struct RecordedCall {
    client: String,
    event: String,
    stdin: Value,
    #[serde(default)]
    told: ExpectedPayload,
    /// What the client does not send here: `session`, `folder`, `response`.
    #[serde(default)]
    without: Vec<String>,
}

impl RecordedCall {
    fn has(&self, what: &str) -> bool {
        !self.without.iter().any(|missing| missing == what)
    }
}

/// What must be read from it.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpectedPayload {
    tool: Option<ToolSet>,
    path: Option<String>,
    command: Option<String>,
}

fn lines() -> Vec<(RecordedCall, Payload)> {
    let lines = include_str!("../../tests/payloads/hooks.jsonl").lines();
    let lines = lines.map(|line| serde_json::from_str::<RecordedCall>(line).unwrap());
    lines
        .map(|line| (Payload::parse(&line.stdin.to_string()).unwrap(), line))
        .map(|(read, line)| (line, read))
        .collect()
}

#[test]
fn each_payload_gives_its_tool_file_and_command() {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for (line, payload) in lines() {
        let about = format!("{} {}: {}", line.client, line.event, line.stdin);
        assert_eq!(payload.tool(), line.told.tool, "{about}");
        assert_eq!(payload.command(), line.told.command, "{about}");
        assert_eq!(payload.paths(), line.told.path.into_iter().collect::<Vec<_>>(), "{about}");
        *seen.entry(line.client).or_default() += usize::from(line.told.tool.is_some());
    }
    assert!(seen.len() >= 12 && seen.values().all(|count| *count > 0), "{seen:?}");
}

#[test]
fn each_payload_gives_its_session_and_folder() {
    for (line, payload) in lines() {
        let about = format!("{} {}", line.client, line.event);
        assert_eq!(payload.session().is_some(), line.has("session"), "{about}");
        assert_eq!(payload.folder(), line.has("folder").then_some("/p"), "{about}");
    }
}

#[test]
fn the_written_text_and_the_response_are_read() {
    for (line, payload) in lines() {
        let about = format!("{} {}: {}", line.client, line.event, line.stdin);
        let before = matches!(
            line.event.as_str(),
            "PreToolUse" | "preToolUse" | "BeforeTool" | "pre_tool_call" | "tool_call" | "tool.execute.before"
        );
        let after = matches!(
            line.event.as_str(),
            "PostToolUse" | "postToolUse" | "AfterTool" | "post_tool_call" | "tool_result" | "tool.execute.after"
        );
        let writes = payload.writes();
        match line.told.tool.filter(|_| before) {
            Some(ToolSet::Write) => assert!(writes[0].creates && writes[0].text == "x\n", "{about}"),
            Some(ToolSet::Edit) => assert!(!writes[0].creates && writes[0].text.trim() == "gamma", "{about}"),
            Some(_) => assert!(writes.is_empty(), "{about}"),
            None => {}
        }
        let response = payload.response().unwrap_or_default();
        match line.told.tool.filter(|_| after) {
            Some(ToolSet::Read) => assert!(response.contains("alpha"), "{about}"),
            Some(ToolSet::Shell) => assert_eq!(response.contains("client-bash"), line.has("response"), "{about}"),
            _ => {}
        }
        if line.told.tool == Some(ToolSet::Agent) {
            assert!(payload.agent().is_some(), "{about}");
        }
    }
}
