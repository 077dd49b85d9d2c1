//! The kind of a tool, by its name and by the shape of its input. The names are those of all hosts: the process does
//! not know which host called it, and no name has different meanings in two hosts.

use serde_json::Value;

use crate::library::ToolSet;

/// One line per set: its word, then the names of its tools.
const WORDS: &str = include_str!("tool-words.txt");

/// The kind of a tool with this name; for an unknown name, the kind that its input suggests.
pub(super) fn of(name: Option<&str>, input: Option<&Value>) -> Option<ToolSet> {
    name.and_then(by_name).or_else(|| by_input(input?))
}

fn by_name(name: &str) -> Option<ToolSet> {
    // Hosts that make a tool of each agent name it so.
    if plain(name).starts_with("subagent") {
        return Some(ToolSet::Agent);
    }
    let row = WORDS.lines().find(|line| line.split(' ').skip(1).any(|word| alike(word, name)))?;
    ToolSet::ALL.into_iter().find(|set| row.split(' ').next() == Some(set.word()))
}

/// `WriteFile`, `write_file` and `write-file` are one name.
fn alike(one: &str, other: &str) -> bool {
    letters(one).eq(letters(other))
}

fn plain(name: &str) -> String {
    letters(name).collect()
}

fn letters(name: &str) -> impl Iterator<Item = char> {
    name.chars().filter(|letter| letter.is_alphanumeric()).map(|letter| letter.to_ascii_lowercase())
}

fn by_input(input: &Value) -> Option<ToolSet> {
    let has = |keys: &[&str]| keys.iter().any(|key| input.get(key).is_some());
    let path = has(PATH_KEYS);
    if has(&["subagent_type", "agent_type", "agent_name"]) {
        Some(ToolSet::Agent)
    } else if path && has(&["content", "contents", "file_text", "file_content"]) {
        Some(ToolSet::Write)
    } else if path && has(&["old_string", "old_str", "oldString", "old_text", "edits", "edit", "str_replace_entries"]) {
        Some(ToolSet::Edit)
    } else if has(COMMAND_KEYS) {
        Some(ToolSet::Shell)
    } else if has(&["url", "urls"]) {
        Some(ToolSet::Web)
    } else if has(&["pattern", "regex"]) {
        Some(ToolSet::Search)
    } else if path || has(&["files", "paths"]) {
        Some(ToolSet::Read)
    } else {
        None
    }
}

/// The keys under which hosts put a tool's file.
pub(super) const PATH_KEYS: &[&str] = &[
    "file_path",
    "path",
    "filePath",
    "target_file",
    "notebook_path",
    "absolute_path",
    "TargetFile",
    "AbsolutePath",
    "filename",
];

/// The keys under which hosts put a command line.
pub(super) const COMMAND_KEYS: &[&str] = &["command", "cmd", "command_line", "CommandLine", "commands"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::Registry;

    #[test]
    fn the_words_of_every_descriptor_are_known() {
        for descriptor in Registry::embedded().all().unwrap() {
            let tools = descriptor.hooks.map(|hooks| hooks.tools).unwrap_or_default();
            for (set, names) in &tools {
                for name in names {
                    // A patch both creates and changes files.
                    let writes = |set| matches!(set, ToolSet::Write | ToolSet::Edit);
                    let known = by_name(name);
                    let fits = known == Some(*set) || (writes(*set) && known.is_some_and(writes));
                    assert!(fits, "{}: `{name}` is told as {known:?}, not {set:?}", descriptor.id);
                }
            }
        }
    }

    #[test]
    fn every_line_of_words_has_one_set_and_no_word_is_in_two() {
        let mut seen = Vec::new();
        for (line, set) in WORDS.lines().zip(ToolSet::ALL) {
            let mut words = line.split(' ');
            assert_eq!(words.next(), Some(set.word()));
            for word in words {
                assert_eq!(by_name(word), Some(set), "{word}");
                seen.push(word);
            }
        }
        assert_eq!(WORDS.lines().count(), ToolSet::ALL.len());
        let count = seen.len();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), count);
    }

    #[test]
    fn an_unknown_tool_is_recognised_by_its_input() {
        let of = |input: &str| of(Some("frobnicate"), serde_json::from_str(input).ok().as_ref());
        assert_eq!(of(r#"{"command":"ls"}"#), Some(ToolSet::Shell));
        assert_eq!(of(r#"{"path":"a","content":"x"}"#), Some(ToolSet::Write));
        assert_eq!(of(r#"{"path":"a","old_str":"x","new_str":"y"}"#), Some(ToolSet::Edit));
        assert_eq!(of(r#"{"path":"a","pattern":"x"}"#), Some(ToolSet::Search));
        assert_eq!(of(r#"{"path":"a"}"#), Some(ToolSet::Read));
        assert_eq!(of(r#"{"url":"https://example.com"}"#), Some(ToolSet::Web));
        assert_eq!(of(r#"{"agent_type":"x","prompt":"y"}"#), Some(ToolSet::Agent));
        assert_eq!(of(r#"{"x":1}"#), None);
    }
}
