//! What hosts write to a hook, read by what it means.
//!
//! Hosts name the same things differently; the names do not collide, so each thing is looked for under all of them.

use serde_json::Value;

use super::context_monitor::ContextUse;

/// The JSON of one event.
#[derive(Clone, Debug)]
pub(crate) struct Payload {
    value: Value,
    /// The input of the tool, where the event is about one.
    input: Option<Value>,
}

/// A file that a tool is about to write, and the text that goes into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileWrite {
    pub(crate) path: String,
    pub(crate) text: String,
    /// The file is made, whatever stands there.
    pub(crate) creates: bool,
}

impl Payload {
    /// Reads an event; `None` if it is no JSON object.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).ok()?;
        let input = first(&value, &["tool_input", "toolArgs", "toolInput"]).map(|input| match input {
            // Some hosts hand the input over as JSON in a string.
            Value::String(text) => serde_json::from_str(text).unwrap_or_else(|_| input.clone()),
            other => other.clone(),
        });
        value.is_object().then_some(Self { value, input })
    }

    pub(crate) fn session(&self) -> Option<&str> {
        first(&self.value, &["session_id", "sessionId", "conversation_id"])?.as_str()
    }

    /// The folder the host works in.
    pub(crate) fn folder(&self) -> Option<&str> {
        let named = self.value.pointer("/workspace/current_dir").or_else(|| first(&self.value, &["cwd"]));
        named.or_else(|| self.value.pointer("/workspace_roots/0"))?.as_str().filter(|folder| !folder.is_empty())
    }

    /// The host's own name of the event.
    pub(crate) fn event_name(&self) -> Option<&str> {
        self.value.get("hook_event_name")?.as_str()
    }

    /// The model as a person knows it.
    pub(crate) fn model(&self) -> Option<&str> {
        self.value.pointer("/model/display_name")?.as_str()
    }

    /// How much context is in use, if the event says so. `now` is in milliseconds.
    pub(crate) fn context_use(&self, now: i64) -> Option<ContextUse> {
        let remaining = self.value.pointer("/context_window/remaining_percentage")?.as_f64()?;
        Some(ContextUse { remaining, noted_at: now })
    }

    /// The files the tool is about to write.
    pub(crate) fn writes(&self) -> Vec<FileWrite> {
        let Some(input) = &self.input else { return Vec::new() };
        if let Some(patch) = patch_text(input) {
            return patched_files(patch);
        }
        let Some(path) = first(input, &["file_path", "path", "filePath", "target_file"]).and_then(Value::as_str) else {
            return Vec::new();
        };
        let whole = first(input, &["content", "contents", "file_text"]).and_then(Value::as_str);
        let mut texts: Vec<&str> = Vec::new();
        texts.extend(first(input, &["new_string", "new_str", "newString"]).and_then(Value::as_str));
        let edits = first(input, &["edits"]).and_then(Value::as_array).into_iter().flatten();
        texts.extend(edits.filter_map(|edit| first(edit, &["new_string", "new_str"])?.as_str()));
        if whole.is_none() && texts.is_empty() {
            return Vec::new();
        }
        texts.extend(whole);
        vec![FileWrite { path: path.to_owned(), text: texts.join("\n"), creates: whole.is_some() }]
    }
}

fn first<'value>(value: &'value Value, keys: &[&str]) -> Option<&'value Value> {
    keys.iter().find_map(|key| value.get(key))
}

/// A patch in the form `*** Begin Patch`, wherever the input carries it.
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
            files.push(FileWrite { path: path.to_owned(), text: String::new(), creates: true });
        } else if let Some(path) = named("*** Update File:") {
            files.push(FileWrite { path: path.to_owned(), text: String::new(), creates: false });
        } else if let (Some(added), Some(file)) = (line.strip_prefix('+'), files.last_mut()) {
            file.text.push_str(added);
            file.text.push('\n');
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
    fn writes_are_found_in_the_words_of_each_host() {
        let expected = |creates| vec![("a.md".to_owned(), "new".to_owned(), creates)];
        assert_eq!(writes(r#"{"tool_input":{"file_path":"a.md","content":"new"}}"#), expected(true));
        assert_eq!(
            writes(r#"{"tool_input":{"file_path":"a.md","old_string":"o","new_string":"new"}}"#),
            expected(false)
        );
        assert_eq!(writes(r#"{"toolArgs":{"path":"a.md","new_str":"new"}}"#), expected(false));
        assert_eq!(writes(r#"{"toolArgs":"{\"path\":\"a.md\",\"file_text\":\"new\"}"}"#), expected(true));
        assert_eq!(writes(r#"{"tool_input":{"file_path":"a.md","edits":[{"new_string":"new"}]}}"#), expected(false));
        assert_eq!(writes(r#"{"tool_input":{"file_path":"a.md"}}"#), []);
        assert_eq!(writes(r#"{"tool_input":{"command":"ls"}}"#), []);
        let patch =
            r#"{"tool_input":{"command":"*** Begin Patch\n*** Update File: a.md\n@@\n-old\n+new\n*** End Patch"}}"#;
        assert_eq!(writes(patch), [("a.md".to_owned(), "new\n".to_owned(), false)]);
    }

    #[test]
    fn anything_is_taken() {
        for text in ["", "[]", "3", "{", "{\"cwd\":3}", "{\"tool_input\":[1]}"] {
            if let Some(payload) = Payload::parse(text) {
                assert!(payload.folder().is_none() && payload.writes().is_empty() && payload.session().is_none());
            }
        }
    }
}
