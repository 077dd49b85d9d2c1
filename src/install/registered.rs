//! Which hooks a host runs, ours and other people's, as its settings say.

use serde_json::Value;

use super::{InstallError, Target};
use crate::disk::{self, AbsolutePath};
use crate::runtime::{HostFile, HostFormat, Scope};
use crate::text::edit::JsonDialect;
use crate::text::json::JsonDocument;
use crate::text::yaml::YamlDocument;

/// One command that the host runs at one of its events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RegisteredHook {
    /// The settings it stands in, as a person would name them.
    pub(crate) file: String,
    /// The host's name of the event.
    pub(crate) event: String,
    pub(crate) matcher: Option<String>,
    /// For a shell.
    pub(crate) command: String,
}

impl RegisteredHook {
    /// Whether it calls this program.
    pub(crate) fn is_ours(&self) -> bool {
        self.command.contains("gsd-tools") && self.command.contains(" hook ")
    }
}

/// The hooks in every file of settings that the host reads for this scope. A file that does not parse has none.
pub(crate) fn registered(target: &Target) -> Result<Vec<RegisteredHook>, InstallError> {
    let mut found = Vec::new();
    let descriptor = &target.descriptor;
    let file_of = |key: &String| descriptor.files.get(key);
    let settings = descriptor.hooks.as_ref().and_then(|hooks| hooks.form.file()).and_then(file_of);
    if let Some(file) = settings {
        for path in paths(target, file) {
            collect(&read(&path, file.format)?["hooks"], &target.shown(&path), &mut found);
        }
    }
    if let Some(folder) = descriptor.hooks.as_ref().and_then(|hooks| hooks.form.folder()) {
        for entry in disk::list(target.root.resolve(folder))?.unwrap_or_default() {
            if entry.is_file() && entry.path.extension().is_some_and(|ending| ending == "json") {
                let path = target.root.resolve(folder).resolve(&entry.name);
                collect(&read(&path, HostFormat::Json)?["hooks"], &target.shown(&path), &mut found);
            }
        }
    }
    if let Some(line) = &descriptor.status_line
        && let Some(file) = file_of(&line.file)
    {
        for path in paths(target, file) {
            let settings = read(&path, file.format)?;
            let line = line.path.iter().try_fold(&settings, |value, key| value.get(key));
            entry("status line", None, line.unwrap_or(&Value::Null), &target.shown(&path), &mut found);
        }
    }
    Ok(found)
}

/// Where the host looks for a file of settings, of those that are there.
pub(super) fn paths(target: &Target, file: &HostFile) -> Vec<AbsolutePath> {
    let local = file.local_path.as_ref().filter(|_| target.scope == Scope::Local);
    let names = [Some(&file.path), file.instead.as_ref(), local];
    let paths = names.into_iter().flatten().map(|name| target.root.resolve(name));
    paths.filter(|path| disk::is_file(path)).collect()
}

pub(super) fn read(path: &AbsolutePath, format: HostFormat) -> Result<Value, InstallError> {
    let text = disk::read_text(path)?.unwrap_or_default();
    let value = match format {
        HostFormat::Json | HostFormat::JsonWithComments | HostFormat::JsonWithCommentsAndTrailingCommas => {
            let document = JsonDocument::parse(&text, JsonDialect::CommentsAndTrailingCommas);
            document.ok().and_then(|document| document.value(&[]))
        }
        HostFormat::Toml => toml_edit::de::from_str(&text).ok(),
        HostFormat::Yaml => YamlDocument::parse(&text).ok().and_then(|document| document.to_json()),
        HostFormat::Markdown => None,
    };
    Ok(value.unwrap_or(Value::Null))
}

/// The commands below `hooks`: lists by event, or one list whose entries name their events.
fn collect(hooks: &Value, file: &str, found: &mut Vec<RegisteredHook>) {
    match hooks {
        Value::Object(events) => events.iter().for_each(|(event, entries)| entry(event, None, entries, file, found)),
        Value::Array(entries) => {
            for value in entries {
                entry(value["event"].as_str().unwrap_or_default(), None, value, file, found);
            }
        }
        _ => {}
    }
}

fn entry(event: &str, matcher: Option<&str>, value: &Value, file: &str, found: &mut Vec<RegisteredHook>) {
    match value {
        Value::Array(entries) => entries.iter().for_each(|value| entry(event, matcher, value, file, found)),
        Value::Object(keys) => {
            let matcher = keys.get("matcher").and_then(Value::as_str).or(matcher);
            let command = ["command", "bash"].iter().find_map(|key| keys.get(*key)?.as_str());
            if let Some(command) = command {
                let (file, event, matcher) = (file.to_owned(), event.to_owned(), matcher.map(str::to_owned));
                found.push(RegisteredHook { file, event, matcher, command: command.to_owned() });
            } else if let Some(hooks) = keys.get("hooks") {
                entry(event, matcher, hooks, file, found);
            } else {
                // A group with a name, and its events in it.
                keys.iter().for_each(|(event, entries)| entry(event, None, entries, file, found));
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(hooks: &str) -> Vec<(String, Option<String>, String)> {
        let mut found = Vec::new();
        collect(&serde_json::from_str(hooks).unwrap(), "f", &mut found);
        found.into_iter().map(|hook| (hook.event, hook.matcher, hook.command)).collect()
    }

    #[test]
    fn commands_are_found_in_every_form() {
        let expected = [("Pre".to_owned(), Some("A|B".to_owned()), "run".to_owned())];
        let nested = r#"{"Pre":[{"matcher":"A|B","hooks":[{"type":"command","command":"run"}]}]}"#;
        assert_eq!(commands(nested), expected);
        assert_eq!(commands(r#"{"Pre":[{"matcher":"A|B","command":"run"}]}"#), expected);
        assert_eq!(commands(r#"{"Pre":[{"matcher":"A|B","bash":"run","powershell":"& run"}]}"#), expected);
        assert_eq!(commands(r#"[{"event":"Pre","matcher":"A|B","command":"run"}]"#), expected);
        assert_eq!(commands(r#"{"mine":{"Pre":[{"matcher":"A|B","hooks":[{"command":"run"}]}]}}"#), expected);
        for nothing in ["null", "3", "[]", r#"{"Pre":3}"#, r#"{"Pre":[{"type":"prompt"}]}"#] {
            assert_eq!(commands(nothing), [], "{nothing}");
        }
    }
}
