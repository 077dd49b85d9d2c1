//! Finds which hooks a host runs, ours and those of others, from its settings.

use serde_json::Value;

use super::target::PROGRAM;
use super::{InstallError, Target};
use crate::disk::{self, AbsolutePath, Snapshot};
use crate::emit::CONTENT_FOLDER;
use crate::runtime::{EventName, HookForm, HookTable, HostFile, HostFormat, Scope};
use crate::text::edit::{JsonDialect, ParseError};
use crate::text::json::JsonDocument;
use crate::text::shell::shell_word;
use crate::text::toml::TomlDocument;
use crate::text::yaml::YamlDocument;

/// What a host runs at its events, to the extent that it can be determined.
#[derive(Debug, Default)]
pub(crate) struct Registered {
    pub(crate) hooks: Vec<RegisteredHook>,
    pub(crate) unknown: Vec<UnknownHooks>,
}

/// One command that the host runs at one of its events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RegisteredHook {
    /// The file that registers it, as a person would name it.
    pub(crate) file: String,
    /// The host's name of the event.
    pub(crate) event: String,
    pub(crate) matcher: Option<String>,
    /// A shell command line.
    pub(crate) command: String,
    /// True if it calls this program.
    pub(crate) ours: bool,
}

/// A file that may have hooks which cannot be determined.
#[derive(Debug)]
pub(crate) struct UnknownHooks {
    /// As a person would name it.
    pub(crate) file: String,
    pub(crate) why: String,
    /// Whether ours may be among them.
    pub(crate) may_be_ours: bool,
}

/// The hooks in every file that the host reads for this scope.
pub(crate) fn registered(target: &Target) -> Result<Registered, InstallError> {
    let (mut found, mut snapshot) = (Registered::default(), Snapshot::default());
    let descriptor = &target.descriptor;
    let file_of = |key: &String| descriptor.files.get(key);
    if let Some(hooks) = &descriptor.hooks {
        if let Some(file) = hooks.form.file().and_then(file_of) {
            for path in paths(target, file, &snapshot) {
                found.settings(target, &path, file.format, &mut snapshot)?;
            }
        }
        match &hooks.form {
            HookForm::Shells { path, .. } => {
                for path in files_beside(target, path, &["json"], &snapshot)? {
                    found.settings(target, &path, HostFormat::Json, &mut snapshot)?;
                }
            }
            HookForm::Adapter { path, .. } => {
                for module in files_beside(target, path, &["js", "ts", "mjs", "cjs"], &snapshot)? {
                    found.module(target, &module, hooks, &mut snapshot)?;
                }
            }
            HookForm::Executables { folder } => found.executables(target, folder, &mut snapshot)?,
            HookForm::Nested { .. } | HookForm::Flat { .. } | HookForm::Tables { .. } => {}
        }
    }
    if let Some(line) = &descriptor.status_line
        && let Some(file) = file_of(&line.file)
    {
        for path in paths(target, file, &snapshot) {
            let Some(settings) = found.read(target, &path, file.format, &mut snapshot)? else { continue };
            let line = line.path.iter().try_fold(&settings, |value, key| value.get(key));
            entry("status line", None, line.unwrap_or(&Value::Null), &target.shown(&path), &mut found.hooks);
        }
    }
    Ok(found)
}

impl Registered {
    fn settings(
        &mut self,
        target: &Target,
        path: &AbsolutePath,
        format: HostFormat,
        snapshot: &mut Snapshot,
    ) -> Result<(), InstallError> {
        if let Some(settings) = self.read(target, path, format, snapshot)? {
            collect(&settings["hooks"], &target.shown(path), &mut self.hooks);
        }
        Ok(())
    }

    /// Reads a settings file. One that does not parse is recorded, once.
    fn read(
        &mut self,
        target: &Target,
        path: &AbsolutePath,
        format: HostFormat,
        snapshot: &mut Snapshot,
    ) -> Result<Option<Value>, InstallError> {
        match read(path, format, snapshot)? {
            Ok(settings) => return Ok(Some(settings)),
            Err(fault) => {
                let (file, why) = (target.shown(path), format!("it does not parse: {fault}"));
                if !self.unknown.iter().any(|unknown| unknown.file == file) {
                    self.unknown.push(UnknownHooks { file, why, may_be_ours: true });
                }
            }
        }
        Ok(None)
    }

    /// Reads a hook module. Ours has one command per event; a module of others runs inside the host, and its hooks are
    /// unknown.
    fn module(
        &mut self,
        target: &Target,
        path: &AbsolutePath,
        hooks: &HookTable,
        snapshot: &mut Snapshot,
    ) -> Result<(), InstallError> {
        // A module of others may contain any bytes.
        let text = String::from_utf8_lossy(snapshot.read(path)?.unwrap_or_default()).into_owned();
        let file = target.shown(path);
        let (Some(Value::Object(calls)), Some(tools)) = (table(&text, "calls"), table(&text, "tools")) else {
            self.unknown.push(UnknownHooks { file, why: "it runs inside the host".to_owned(), may_be_ours: false });
            return Ok(());
        };
        let program = shell_word(&target.root.resolve(CONTENT_FOLDER).resolve("bin/gsd-tools").to_string());
        let texts = |list: &Value, between: &str| {
            let words = list.as_array().into_iter().flatten().filter_map(Value::as_str);
            words.collect::<Vec<_>>().join(between)
        };
        for (word, call) in &calls {
            let name = hooks.events.iter().find(|(event, _)| event.word() == word).map(|(_, name)| name);
            let event = match name {
                Some(EventName::Whole(name)) => name.clone(),
                Some(EventName::ByTool(_)) | None => word.clone(),
            };
            let matcher = tools.get(word).map(|names| texts(names, "|"));
            let command = format!("{program} {}", texts(call, " "));
            self.hooks.push(RegisteredHook { file: file.clone(), event, matcher, ours: is_ours(&command), command });
        }
        Ok(())
    }

    /// Each program in the folder has the name of its event.
    fn executables(&mut self, target: &Target, folder: &str, snapshot: &mut Snapshot) -> Result<(), InstallError> {
        let folder = target.root.resolve(folder);
        for entry in snapshot.list(&folder)?.unwrap_or_default() {
            let path = folder.resolve(&entry.name);
            snapshot.read(&path)?;
            let Some(file) = snapshot.file(&path).filter(|file| file.executable) else { continue };
            let ours = file.bytes.as_deref().is_some_and(|bytes| is_ours(&String::from_utf8_lossy(bytes)));
            let command = shell_word(&path.to_string());
            let (file, event) = (target.shown(&path), entry.name.clone());
            self.hooks.push(RegisteredHook { file, event, matcher: None, command, ours });
        }
        Ok(())
    }
}

fn is_ours(command: &str) -> bool {
    command.contains("gsd-tools") && command.contains(" hook ")
}

/// True if the command is certainly one of our hooks: it calls an installed program.
pub(super) fn runs_our_program(command: &str) -> bool {
    let command = command.replace('\\', "/");
    let Some((_, rest)) = command.split_once(PROGRAM) else { return false };
    let rest = rest.strip_prefix(".exe").unwrap_or(rest);
    rest.trim_start_matches(['"', '\'']).starts_with(" hook ")
}

/// The plain words after the name of our program in the command line of a hook. `None` if it has anything else, such as
/// a guard for a missing program, or does not call an installed program.
pub(crate) fn words_of_hook(command: &str) -> Option<Vec<String>> {
    let command = command.replace('\\', "/");
    let (_, rest) = command.split_once(PROGRAM)?;
    let rest = rest.strip_prefix(".exe").unwrap_or(rest).trim_start_matches(['"', '\'']);
    let is_plain = |word: &str| word.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_".contains(letter));
    let words: Vec<String> = rest.split_whitespace().map(str::to_owned).collect();
    let is_hook = words.first().is_some_and(|first| first == "hook");
    (is_hook && words.iter().all(|word| is_plain(word))).then_some(words)
}

/// The object that our module keeps under a name.
fn table(module: &str, name: &str) -> Option<Value> {
    let (_, rest) = module.split_once(&format!("\nconst {name} = "))?;
    let end = rest.find("\n}").map(|at| at + 2).or_else(|| rest.starts_with("{}").then_some(2))?;
    let document = JsonDocument::parse(&rest[..end], JsonDialect::CommentsAndTrailingCommas).ok()?;
    document.value(&[])
}

/// The files with these endings in the folder of `path`.
fn files_beside(
    target: &Target,
    path: &str,
    endings: &[&str],
    snapshot: &Snapshot,
) -> Result<Vec<AbsolutePath>, InstallError> {
    let Some((folder, _)) = path.rsplit_once('/') else { return Ok(Vec::new()) };
    let folder = target.root.resolve(folder);
    let entries = snapshot.list(&folder)?.unwrap_or_default().into_iter();
    let fits = |entry: &disk::Entry| {
        let ending = entry.path.extension().and_then(std::ffi::OsStr::to_str);
        entry.is_file() && ending.is_some_and(|ending| endings.contains(&ending))
    };
    Ok(entries.filter(fits).map(|entry| folder.resolve(&entry.name)).collect())
}

/// The existing paths at which the host looks for a settings file.
pub(super) fn paths(target: &Target, file: &HostFile, snapshot: &Snapshot) -> Vec<AbsolutePath> {
    let local = file.local_path.as_ref().filter(|_| target.scope == Scope::Local);
    let names = [Some(&file.path), file.instead.as_ref(), local];
    let paths = names.into_iter().flatten().map(|name| target.root.resolve(name));
    paths.filter(|path| snapshot.is_file(path)).collect()
}

/// Parses a settings file; returns its value, or what is wrong with it.
pub(super) fn read(
    path: &AbsolutePath,
    format: HostFormat,
    snapshot: &mut Snapshot,
) -> Result<Result<Value, ParseError>, InstallError> {
    let text = snapshot.read_text(path)?.unwrap_or_default();
    let value = match format {
        HostFormat::Json | HostFormat::JsonWithComments | HostFormat::JsonWithCommentsAndTrailingCommas => {
            JsonDocument::read(&text, JsonDialect::CommentsAndTrailingCommas)
        }
        HostFormat::Toml => TomlDocument::parse(&text).map(TomlDocument::into_json),
        HostFormat::Yaml => YamlDocument::parse(&text).map(|document| document.to_json()),
        HostFormat::Markdown => Ok(None),
    };
    Ok(value.map(Option::unwrap_or_default))
}

/// Collects the commands below `hooks`: lists by event, or one list whose entries name their events.
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
                let (command, ours) = (command.to_owned(), is_ours(command));
                found.push(RegisteredHook { file, event, matcher, command, ours });
            } else if let Some(hooks) = keys.get("hooks") {
                entry(event, matcher, hooks, file, found);
            } else {
                // A named group that contains events.
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
