//! The JSON that hosts send to a hook, read by its meaning.
//!
//! Hosts name the same value differently; the names do not collide, so each value is searched for under all of its
//! names.

use std::fmt::Write as _;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::tool::{self, COMMAND_KEYS, PATH_KEYS};
use crate::library::ToolSet;

/// The JSON of one event.
#[derive(Clone, Debug)]
pub(crate) struct Payload {
    value: Value,
    /// The input of the tool, if the event is about one.
    input: Option<Value>,
}

/// A file that a tool is about to write, and the text that goes into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileWrite {
    pub(crate) path: String,
    pub(crate) text: String,
    /// The file is created, even if it replaces an existing one.
    pub(crate) creates: bool,
    /// How many lines of the file the text replaces.
    pub(crate) replaced: usize,
}

/// The numbers that the status line saw last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ContextUse {
    /// In percent of the window.
    pub(crate) remaining: f64,
    /// Milliseconds since 1970.
    pub(crate) noted_at: i64,
}

/// The percentage of the window that the host reserves and that cannot be used.
const RESERVE: f64 = 16.5;

impl ContextUse {
    /// The used part of the usable context, in percent.
    pub(super) fn used(&self) -> usize {
        let usable = ((self.remaining - RESERVE) / (100.0 - RESERVE) * 100.0).clamp(0.0, 100.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 100")]
        let used = (100.0 - usable).round() as usize;
        used
    }
}

impl Payload {
    /// Reads an event; `None` if it is not a JSON object.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let value = parsed(text.trim_start_matches('\u{feff}'))?;
        let input = at(
            &value,
            &[
                "/tool_input",
                "/toolArgs",
                "/toolInput",
                "/tool_call/input",
                "/tool_result/input",
                "/preToolUse/parameters",
                "/postToolUse/parameters",
                "/tool_info",
            ],
        )
        .map(|input| match input {
            // Some hosts pass the input as JSON in a string.
            Value::String(text) => parsed(text).unwrap_or_else(|| input.clone()),
            other => other.clone(),
        });
        value.is_object().then_some(Self { value, input })
    }

    pub(crate) fn session(&self) -> Option<&str> {
        let keys = ["/session_id", "/sessionId", "/conversation_id", "/taskId", "/trajectory_id"];
        at(&self.value, &keys)?.as_str()
    }

    /// The folder the host works in.
    pub(crate) fn folder(&self) -> Option<&str> {
        let keys = ["/workspace/current_dir", "/cwd", "/workspace_roots/0", "/workspaceRoots/0", "/tool_info/cwd"];
        keys.iter().find_map(|key| self.value.pointer(key)?.as_str().filter(|folder| !folder.is_empty()))
    }

    /// The host's own name for the event.
    pub(crate) fn event_name(&self) -> Option<&str> {
        self.value.get("hook_event_name")?.as_str()
    }

    /// The mode that decides what the host asks permission for, in the host's word.
    pub(crate) fn permission_mode(&self) -> Option<&str> {
        self.value.get("permission_mode")?.as_str()
    }

    /// The display name of the model.
    pub(crate) fn model(&self) -> Option<&str> {
        self.value.pointer("/model/display_name")?.as_str()
    }

    /// The context in use, if the event reports it. `now` is in milliseconds.
    pub(crate) fn context_use(&self, now: i64) -> Option<ContextUse> {
        let remaining = self.value.pointer("/context_window/remaining_percentage")?.as_f64()?;
        Some(ContextUse { remaining, noted_at: now })
    }

    /// The number of tokens in the context now.
    pub(crate) fn tokens_in_use(&self) -> Option<u64> {
        let counts = self.value.pointer("/context_window/current_usage")?.as_object()?;
        Some(counts.values().filter_map(Value::as_u64).sum())
    }

    /// The file in which the host stores the session.
    pub(crate) fn transcript(&self) -> Option<&Path> {
        Some(Path::new(self.value.get("transcript_path")?.as_str()?)).filter(|path| path.is_absolute())
    }

    /// The kind of tool in the event.
    pub(crate) fn tool(&self) -> Option<ToolSet> {
        tool::of(self.tool_name(), self.input.as_ref())
    }

    /// The host's name for the tool.
    pub(crate) fn tool_name(&self) -> Option<&str> {
        let keys = [
            "/tool_name",
            "/toolName",
            "/tool_call/name",
            "/tool_result/name",
            "/preToolUse/toolName",
            "/postToolUse/toolName",
            "/agent_action_name",
        ];
        at(&self.value, &keys).and_then(Value::as_str)
    }

    /// A value of the tool's input, as the host wrote it.
    pub(crate) fn input(&self, keys: &[&str]) -> Option<&Value> {
        first(self.input.as_ref()?, keys)
    }

    /// The command line that a shell is to run; several are joined as lines of one.
    pub(crate) fn command(&self) -> Option<String> {
        if self.tool() != Some(ToolSet::Shell) {
            return None;
        }
        match self.input(COMMAND_KEYS)? {
            Value::String(line) => Some(line.clone()),
            // A program and its arguments, or lines.
            Value::Array(parts) => {
                let parts: Vec<&str> =
                    parts.iter().filter_map(|part| part.as_str().or_else(|| part.get("command")?.as_str())).collect();
                let lines = self.input(&["commands"]).is_some();
                (!parts.is_empty()).then(|| parts.join(if lines { "\n" } else { " " }))
            }
            _ => None,
        }
    }

    /// The files and folders that the tool works on, as the host wrote them.
    pub(crate) fn paths(&self) -> Vec<String> {
        let written = self.writes();
        if !written.is_empty() {
            return written.into_iter().map(|write| write.path).collect();
        }
        let of_input = self.input.as_ref().map(named_paths).unwrap_or_default();
        if of_input.is_empty() { named_paths(&self.value) } else { of_input }
    }

    /// The type of the agent that is to be started, or that ended.
    pub(crate) fn agent(&self) -> Option<&str> {
        let keys = ["subagent_type", "agent_type", "agentType", "agent_name", "agentName", "agent"];
        self.input(&keys).or_else(|| first(&self.value, &keys))?.as_str()
    }

    /// The tool's output, all its texts joined.
    pub(crate) fn response(&self) -> Option<String> {
        let keys = [
            "/tool_response",
            "/tool_output",
            "/toolResult/textResultForLlm",
            "/toolResult",
            "/tool_result/output",
            "/postToolUse/result",
            "/extra/result",
        ];
        let mut texts = Vec::new();
        collect_texts(at(&self.value, &keys)?, &mut texts);
        (!texts.is_empty()).then(|| texts.join("\n"))
    }

    /// The files the tool is about to write.
    pub(crate) fn writes(&self) -> Vec<FileWrite> {
        let Some(input) = &self.input else { return Vec::new() };
        if let Some(patch) = patch_text(input) {
            return patched_files(patch);
        }
        let Some(path) = first(input, PATH_KEYS).and_then(Value::as_str) else { return Vec::new() };
        let whole =
            first(input, &["content", "contents", "file_text", "file_content", "CodeContent"]).and_then(Value::as_str);
        let new = |value: &Value| -> Option<String> {
            Some(
                first(value, &["new_string", "new_str", "newString", "newText", "new_text", "new"])?
                    .as_str()?
                    .to_owned(),
            )
        };
        let old = |value: &Value| -> Option<usize> {
            let keys = ["old_string", "old_str", "oldString", "oldText", "old_text", "old"];
            Some(first(value, &keys)?.as_str()?.lines().count())
        };
        let edits =
            || first(input, &["edits", "edit", "str_replace_entries"]).and_then(Value::as_array).into_iter().flatten();
        let all = || [Some(input), input.get("edit")].into_iter().flatten().chain(edits());
        let mut texts: Vec<String> = all().filter_map(new).collect();
        let replaced = all().filter_map(old).sum();
        if whole.is_none() && texts.is_empty() {
            return Vec::new();
        }
        texts.extend(whole.map(str::to_owned));
        vec![FileWrite { path: path.to_owned(), text: texts.join("\n"), creates: whole.is_some(), replaced }]
    }
}

/// Parses JSON, even if its strings contain invalid characters.
fn parsed(text: &str) -> Option<Value> {
    serde_json::from_str(text).or_else(|_| serde_json::from_str(&mended(text))).ok()
}

/// The text without unpaired surrogates (`\ud83d` without its partner), and with raw control characters escaped.
fn mended(text: &str) -> String {
    let mut mended = String::with_capacity(text.len());
    let mut rest = text;
    let mut inside = false;
    while let Some(letter) = rest.chars().next() {
        let length = match letter {
            '\\' => match (escaped_unit(rest), rest.get(6..).and_then(escaped_unit)) {
                (Some(0xd800..0xdc00), Some(0xdc00..0xe000)) => 12,
                (Some(0xd800..0xe000), _) => {
                    mended.push_str("\\ufffd");
                    rest = &rest[6..];
                    continue;
                }
                _ => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            },
            '"' => {
                inside = !inside;
                1
            }
            control if inside && control < ' ' => {
                let _ = write!(mended, "\\u{:04x}", u32::from(control));
                rest = &rest[1..];
                continue;
            }
            _ => letter.len_utf8(),
        };
        mended.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    mended
}

/// The UTF-16 unit at the start of a text, written as `\u` and four digits.
fn escaped_unit(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    let plain = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    plain.then(|| u32::from_str_radix(digits, 16).ok()).flatten()
}

fn at<'value>(value: &'value Value, pointers: &[&str]) -> Option<&'value Value> {
    pointers.iter().find_map(|pointer| value.pointer(pointer))
}

fn first<'value>(value: &'value Value, keys: &[&str]) -> Option<&'value Value> {
    keys.iter().find_map(|key| value.get(key))
}

fn named_paths(value: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    if let Some(path) = first(value, PATH_KEYS).and_then(text) {
        return vec![path];
    }
    let list = match first(value, &["files", "paths", "file_paths"]) {
        Some(Value::Array(list)) => list.clone(),
        // A list that the host passed as text.
        Some(Value::String(list)) => serde_json::from_str(list).unwrap_or_default(),
        _ => Vec::new(),
    };
    list.iter().filter_map(|one| text(one).or_else(|| text(first(one, PATH_KEYS)?))).collect()
}

fn collect_texts(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(list) => list.iter().for_each(|one| collect_texts(one, texts)),
        Value::Object(map) => map.values().for_each(|one| collect_texts(one, texts)),
        _ => {}
    }
}

/// A patch in the form `*** Begin Patch`, in any of the input's possible places.
fn patch_text(input: &Value) -> Option<&str> {
    let candidates = [Some(input), input.get("command"), input.get("input"), input.get("patch")];
    candidates
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .find(|text| text.trim_start().starts_with("*** Begin Patch"))
}

fn patched_files(patch: &str) -> Vec<FileWrite> {
    let mut files: Vec<FileWrite> = Vec::new();
    for line in patch.lines() {
        let named = |mark: &str| line.strip_prefix(mark).map(str::trim);
        if let Some(path) = named("*** Add File:") {
            files.push(FileWrite { path: path.to_owned(), text: String::new(), creates: true, replaced: 0 });
        } else if let Some(path) = named("*** Update File:") {
            files.push(FileWrite { path: path.to_owned(), text: String::new(), creates: false, replaced: 0 });
        } else if let Some(path) = named("*** Delete File:") {
            files.push(FileWrite { path: path.to_owned(), text: String::new(), creates: false, replaced: usize::MAX });
        } else if let Some(path) = named("*** Move to:") {
            files.push(FileWrite { path: path.to_owned(), text: String::new(), creates: true, replaced: 0 });
        } else if let (Some(added), Some(file)) = (line.strip_prefix('+'), files.last_mut()) {
            file.text.push_str(added);
            file.text.push('\n');
        } else if line.starts_with('-')
            && let Some(file) = files.last_mut()
        {
            file.replaced = file.replaced.saturating_add(1);
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    fn writes(payload: &str) -> Vec<(String, String, bool)> {
        let writes = Payload::parse(payload).unwrap().writes();
        writes.into_iter().map(|write| (write.path, write.text, write.creates)).collect()
    }

    #[test]
    fn writes_are_found_in_the_format_of_each_host() {
        let expected = |creates| vec![("a.md".to_owned(), "new".to_owned(), creates)];
        assert_eq!(writes(r#"{"tool_input":{"file_path":"a.md","content":"new"}}"#), expected(true));
        assert_eq!(
            writes(r#"{"tool_input":{"file_path":"a.md","old_string":"o","new_string":"new"}}"#),
            expected(false)
        );
        assert_eq!(writes(r#"{"toolArgs":{"path":"a.md","new_str":"new"}}"#), expected(false));
        assert_eq!(writes(r#"{"toolArgs":"{\"path\":\"a.md\",\"file_text\":\"new\"}"}"#), expected(true));
        assert_eq!(writes(r#"{"tool_input":{"file_path":"a.md","edits":[{"new_string":"new"}]}}"#), expected(false));
        assert_eq!(writes(r#"{"tool_input":{"path":"a.md","edits":[{"newText":"new"}]}}"#), expected(false));
        assert_eq!(writes(r#"{"tool_input":{"path":"a.md","edit":{"old":"o","new":"new"}}}"#), expected(false));
        assert_eq!(writes(r#"{"tool_info":{"file_path":"a.md","edits":[{"new_string":"new"}]}}"#), expected(false));
        assert_eq!(writes(r#"{"tool_input":{"path":"a.md","file_content":"new"}}"#), expected(true));
        let entries = r#"{"tool_input":{"path":"a.md","str_replace_entries":[{"old_str":"o","new_str":"new"}]}}"#;
        assert_eq!(writes(entries), expected(false));
        assert_eq!(writes(r#"{"tool_call":{"input":{"path":"a.md","new_text":"new"}}}"#), expected(false));
        assert_eq!(writes(r#"{"tool_input":{"file_path":"a.md"}}"#), []);
        assert_eq!(writes(r#"{"tool_input":{"command":"ls"}}"#), []);
        let patch =
            r#"{"tool_input":{"command":"*** Begin Patch\n*** Update File: a.md\n@@\n-old\n+new\n*** End Patch"}}"#;
        assert_eq!(writes(patch), [("a.md".to_owned(), "new\n".to_owned(), false)]);
    }

    #[test]
    fn one_invalid_character_does_not_hide_the_rest() {
        let command = |command: &str| {
            let text = format!(r#"{{"tool_name":"Bash","tool_input":{{"command":"{command}"}}}}"#);
            Payload::parse(&text).and_then(|payload| payload.command())
        };
        for (escaped, told) in [
            (r"a \ud83d", "a \u{fffd}"),
            (r"\ud83d\ude00 \ude00 \uD83D\n", "😀 \u{fffd} \u{fffd}\n"),
            (r"\\ud83d \ud83d\ud83d\ude00", "\\ud83d \u{fffd}😀"),
            (r#"\"\ud83dä"#, "\"\u{fffd}ä"),
            ("a\nb\u{1}", "a\nb\u{1}"),
        ] {
            assert_eq!(command(escaped).as_deref(), Some(told), "{escaped}");
        }
        let nested = r#"{"toolName":"bash","toolArgs":"{\"command\":\"a \\ud83d\"}"}"#;
        assert_eq!(Payload::parse(nested).unwrap().command().as_deref(), Some("a \u{fffd}"));
        for broken in [r#"{"a":"\ud83"#, r#"{"a":"\"#, r#"{"a":"\ud83dä"}x"#, r#"{"a":"\uä"}"#] {
            assert!(Payload::parse(broken).is_none(), "{broken}");
        }
    }

    #[test]
    fn any_text_is_accepted() {
        for text in ["", "[]", "3", "{", "{\"cwd\":3}", "{\"tool_input\":[1]}", "{\"tool_call\":3,\"files\":3}"] {
            if let Some(payload) = Payload::parse(text) {
                assert!(payload.folder().is_none() && payload.writes().is_empty() && payload.session().is_none());
                assert!(payload.tool().is_none() && payload.command().is_none() && payload.paths().is_empty());
                assert!(payload.response().is_none() && payload.agent().is_none());
            }
        }
    }
}
