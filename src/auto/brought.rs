//! What a repository contains that a run would execute: checks, the set-up of worktrees, and hooks and servers in its
//! settings for a client. A person approves it once, by its digest.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::set_up::SetUp;
use crate::disk::Digest;
use crate::project::milestone_layout::messages::MessageCommand;
use crate::project::milestone_layout::unit_hooks::{HookAction, UnitHook};
use crate::text::edit::JsonDialect;
use crate::text::json::JsonDocument;
use crate::text::toml::TomlDocument;
use crate::text::untrusted;

/// The variable by which a person approves in advance. It belongs to the person: nothing that a run starts receives it.
pub(crate) const APPROVED: &str = "GSD_APPROVED";

/// The most characters of a command that are shown.
const SHOWN: usize = 1_000;

/// The most client files without commands that are listed by name.
const NAMED: usize = 40;

/// The kind of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ExecutedKind {
    Check,
    SetUp,
    /// What runs before or after units.
    Hook,
    /// A command that is given the messages of a run.
    Message,
    /// A file that the client reads and whose commands it runs.
    Client,
}

/// One thing that a run would execute.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ExecutedItem {
    pub(crate) kind: ExecutedKind,
    /// The command of a check, or the path of a file.
    pub(crate) name: String,
    /// Lines to display; the first names the item.
    lines: Vec<String>,
    pub(crate) digest: Digest,
}

/// Everything that a repository brings for one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Brought {
    items: Vec<ExecutedItem>,
}

/// Returns a text as one line in which no character moves the cursor, changes the direction or hides text.
fn line(text: &str) -> String {
    // A person reads this line and has to see a redirection as it is.
    untrusted::line(text, SHOWN).replace('\u{ff1c}', "<").replace('\u{ff1e}', ">")
}

fn digest(parts: &[&str], content: &[u8]) -> Digest {
    let head = parts.iter().fold(String::new(), |text, part| format!("{text}{}:{part}\0", part.len()));
    Digest::of(&[head.as_bytes(), content].concat())
}

impl ExecutedItem {
    /// A command that is run as a check. `place` is the file that names it; `behind` holds the scripts that the command
    /// calls, by name.
    pub(crate) fn check(command: &str, place: &str, behind: &[(String, String)]) -> Self {
        let called = behind.iter().map(|(name, text)| format!("  {}: {}", line(name), line(text)));
        let first = format!("check: {} ({})", line(command), line(place));
        let content: Vec<String> =
            behind.iter().map(|(name, text)| format!("{}:{name}\0{}:{text}\0", name.len(), text.len())).collect();
        Self {
            kind: ExecutedKind::Check,
            name: command.to_owned(),
            lines: [first].into_iter().chain(called).collect(),
            digest: digest(&["check", command], content.concat().as_bytes()),
        }
    }

    /// The parts of the set-up of worktrees.
    pub(crate) fn set_up(set_up: &SetUp) -> impl Iterator<Item = Self> {
        let of = |name: &str, lines: Vec<String>, content: &str| Self {
            kind: ExecutedKind::SetUp,
            name: name.to_owned(),
            lines,
            digest: digest(&["set-up", name], content.as_bytes()),
        };
        let command = set_up.command.as_ref();
        let command = command.map(|text| of("command", vec![format!("in each new worktree: {}", line(text))], text));
        let copies = set_up.patterns().map(|pattern| format!("copied there, of your ignored files: {}", line(pattern)));
        let copies: Vec<String> = copies.collect();
        let include = set_up.include.as_ref().map(|text| of("include", copies, text));
        command.into_iter().chain(include)
    }

    /// A hook before or after units.
    pub(crate) fn hook(hook: &UnitHook) -> Self {
        let (when, kinds) = (if hook.is_before { "before" } else { "after" }, line(&hook.kinds.join(", ")));
        let (first, content) = match &hook.action {
            HookAction::Command(command) => (format!("{when} {kinds}: {}", line(command)), command.clone()),
            HookAction::Prompt(text) => (format!("a session {when} {kinds}: {}", line(text)), text.clone()),
            HookAction::Text { prepend, append } => {
                let both = format!("{}:{prepend}\0{append}", prepend.len());
                (format!("in the prompt of {kinds}: {} {}", line(prepend), line(append)), both)
            }
        };
        let action = match &hook.action {
            HookAction::Command(_) => "command",
            HookAction::Prompt(_) => "prompt",
            HookAction::Text { .. } => "text",
        };
        let (most, artifact) = (hook.most.to_string(), hook.artifact.as_deref().unwrap_or_default());
        Self {
            kind: ExecutedKind::Hook,
            name: hook.name.clone(),
            lines: vec![format!("hook {} {first}", line(&hook.name))],
            digest: digest(&["hook", hook.key(), &hook.name, &kinds, action, &most, artifact], content.as_bytes()),
        }
    }

    /// A command that is given the messages of a run.
    pub(crate) fn message(command: &MessageCommand) -> Self {
        Self {
            kind: ExecutedKind::Message,
            name: command.text.clone(),
            lines: vec![format!("with each message of a run: {}", line(&command.text))],
            digest: digest(&["message"], command.text.as_bytes()),
        }
    }

    /// A file that a client reads when its session starts. `title` is the name of the client, `host` its id.
    pub(crate) fn client((host, title): (&str, &str), path: &str, content: Option<&[u8]>) -> Self {
        let text = content.map(String::from_utf8_lossy);
        let commands = text.as_deref().map(|text| commands_in(path, text)).unwrap_or_default();
        let keys = text.as_deref().map(|text| keys_in(path, text)).unwrap_or_default();
        let keys = if keys.is_empty() { String::new() } else { format!(" sets {}", line(&keys.join(", "))) };
        let gone = if content.is_none() { " leads out of the project" } else { "" };
        let first = format!("{}, by {}{keys}{gone}", line(title), line(path));
        let lines = commands.iter().map(|command| format!("  {}: {}", line(title), line(command)));
        Self {
            kind: ExecutedKind::Client,
            name: path.to_owned(),
            lines: [first].into_iter().chain(lines).collect(),
            digest: digest(&["client", host, path], content.unwrap_or_default()),
        }
    }
}

impl Brought {
    pub(crate) fn new(items: impl IntoIterator<Item = ExecutedItem>) -> Self {
        let mut seen = BTreeSet::new();
        let mut items: Vec<ExecutedItem> =
            items.into_iter().filter(|item| seen.insert(item.digest.to_string())).collect();
        items.sort();
        Self { items }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub(crate) fn has_client(&self) -> bool {
        self.items.iter().any(|item| item.kind == ExecutedKind::Client)
    }

    /// Returns the same without the items for the client.
    pub(crate) fn without_client(&self) -> Self {
        Self { items: self.items.iter().filter(|item| item.kind != ExecutedKind::Client).cloned().collect() }
    }

    /// Returns the same without the items whose digests are known.
    pub(crate) fn without(&self, known: &BTreeSet<String>) -> Self {
        let items = self.items.iter().filter(|item| !known.contains(&item.digest.to_string()));
        Self { items: items.cloned().collect() }
    }

    /// The digest that a person approves. It covers everything, whatever was approved before.
    pub(crate) fn digest(&self) -> Digest {
        let all: BTreeSet<String> = self.digests().collect();
        Digest::of(all.into_iter().collect::<Vec<_>>().join("\n").as_bytes())
    }

    pub(crate) fn digests(&self) -> impl Iterator<Item = String> + '_ {
        self.items.iter().map(|item| item.digest.to_string())
    }

    /// The commands that are run as checks.
    pub(crate) fn checks(&self) -> impl Iterator<Item = &str> {
        self.items.iter().filter(|item| item.kind == ExecutedKind::Check).map(|item| item.name.as_str())
    }

    /// Returns all items as lines to display. If many files have no command, only the first are named.
    pub(crate) fn lines(&self) -> Vec<String> {
        let is_bare = |item: &ExecutedItem| item.kind == ExecutedKind::Client && item.lines.len() == 1;
        let (mut lines, mut bare, mut left_out) = (Vec::new(), 0, BTreeMap::<&str, usize>::new());
        for item in &self.items {
            bare += usize::from(is_bare(item));
            if is_bare(item) && bare > NAMED {
                *left_out.entry(item.name.rsplit_once('/').map_or("", |(folder, _)| folder)).or_default() += 1;
            } else {
                lines.extend(item.lines.iter().cloned());
            }
        }
        lines.extend(left_out.into_iter().map(|(folder, count)| format!("and files in {}/: {count}", line(folder))));
        lines
    }
}

/// Parses settings by the extension of their path.
fn settings(path: &str, text: &str) -> Option<Value> {
    match path.rsplit_once('.')?.1.to_ascii_lowercase().as_str() {
        "json" | "jsonc" => JsonDocument::read(text, JsonDialect::CommentsAndTrailingCommas).ok().flatten(),
        "toml" => TomlDocument::parse(text).ok()?.into_json(),
        _ => None,
    }
}

fn keys_in(path: &str, text: &str) -> Vec<String> {
    let found = settings(path, text);
    let mut keys: Vec<String> =
        found.as_ref().and_then(Value::as_object).map(|map| map.keys().cloned().collect()).unwrap_or_default();
    keys.sort();
    keys
}

/// Keys whose value is a command or the address of a server.
const COMMANDS: &[&str] =
    &["command", "cmd", "bash", "powershell", "script", "run", "exec", "url", "httpurl", "prompt"];

/// Returns the commands in a settings file: those of hooks and of servers with their arguments, and the value of every
/// key in [`COMMANDS`].
fn commands_in(path: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(value) = settings(path, text) {
        collect(&value, &mut found);
    }
    found.dedup();
    found
}

fn collect(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(entries) => {
            for (key, value) in entries {
                let name = key.to_ascii_lowercase();
                let is_command =
                    COMMANDS.contains(&name.as_str()) || name.ends_with("helper") || name.ends_with("refresh");
                match value {
                    Value::String(text) if is_command => {
                        let arguments =
                            entries.get("args").filter(|_| name == "command").map(words).unwrap_or_default();
                        found.push([vec![text.clone()], arguments].concat().join(" "));
                    }
                    Value::Array(_) if is_command => found.push(words(value).join(" ")),
                    other => collect(other, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        _ => {}
    }
}

fn words(value: &Value) -> Vec<String> {
    let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// An entry of a folder in a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Node {
    File,
    Folder,
    Link(String),
}

/// The files of a git tree as a checkout would have them, with links followed.
#[derive(Clone, Debug, Default)]
pub(crate) struct CheckedOutTree {
    folders: BTreeMap<String, BTreeMap<String, Node>>,
}

/// How many links in a row are followed, the usual limit of operating systems.
const FOLLOWED: usize = 40;

impl CheckedOutTree {
    /// Builds a tree. `links` maps the paths that are links to their targets.
    pub(crate) fn new<'a>(paths: impl IntoIterator<Item = &'a str>, links: &BTreeMap<String, String>) -> Self {
        let mut tree = Self::default();
        for path in paths {
            let mut folder = String::new();
            let mut parts = path.split('/').peekable();
            while let Some(part) = parts.next() {
                let is_last = parts.peek().is_none();
                let node = match links.get(path).filter(|_| is_last) {
                    Some(target) => Node::Link(target.clone()),
                    None if is_last => Node::File,
                    None => Node::Folder,
                };
                tree.folders.entry(folder.clone()).or_default().insert(part.to_owned(), node);
                folder = joined(&folder, part);
            }
        }
        tree
    }

    fn node(&self, path: &str) -> Option<&Node> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        self.folders.get(folder)?.get(name)
    }

    /// Returns where a path leads, and whether that is a folder; `None` if it leads nowhere or out of the tree.
    fn led(&self, path: &str) -> Option<(String, bool)> {
        let mut place: Vec<String> = Vec::new();
        let mut ahead: Vec<String> = path.split('/').rev().map(str::to_owned).collect();
        let mut followed = 0;
        while let Some(part) = ahead.pop() {
            match part.as_str() {
                "" | "." => continue,
                ".." => {
                    place.pop()?;
                    continue;
                }
                _ => place.push(part),
            }
            match self.node(&place.join("/"))? {
                Node::Link(target) => {
                    followed += 1;
                    if followed > FOLLOWED || target.starts_with('/') {
                        return None;
                    }
                    place.pop();
                    ahead.extend(target.split('/').rev().map(str::to_owned));
                }
                Node::File if !ahead.iter().all(|part| part.is_empty() || part == ".") => return None,
                Node::File | Node::Folder => {}
            }
        }
        let real = place.join("/");
        let is_folder = real.is_empty() || self.node(&real) == Some(&Node::Folder);
        Some((real, is_folder))
    }

    /// Returns the real path of a file; `None` if a checkout would have no file at this path.
    pub(crate) fn file(&self, path: &str) -> Option<String> {
        self.led(path).filter(|(_, is_folder)| !is_folder).map(|(real, _)| real)
    }

    /// The names in a folder.
    pub(crate) fn names(&self, folder: &str) -> impl Iterator<Item = &String> {
        let real = self.led(folder).filter(|(_, is_folder)| *is_folder).map(|(real, _)| real);
        real.and_then(|real| self.folders.get(&real)).into_iter().flat_map(BTreeMap::keys)
    }

    /// Returns the files below a path, or the file at that path, each with its real path. The real path is `None` for a
    /// link whose target is not in the tree. A file that is reached twice is listed once.
    pub(crate) fn below(&self, path: &str) -> Vec<(String, Option<String>)> {
        let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
        self.walk(path, &mut seen, &mut found);
        found
    }

    fn walk(&self, path: &str, seen: &mut BTreeSet<String>, found: &mut Vec<(String, Option<String>)>) {
        match self.led(path) {
            None if self.node(path).is_some() || !seen.is_empty() => found.push((path.to_owned(), None)),
            None => {}
            Some((real, false)) => found.push((path.to_owned(), Some(real))),
            Some((real, true)) => {
                if !seen.insert(real.clone()) {
                    return;
                }
                for name in self.folders.get(&real).into_iter().flat_map(BTreeMap::keys) {
                    self.walk(&joined(path, name), seen, found);
                }
            }
        }
    }
}

fn joined(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(paths: &[&str], links: &[(&str, &str)]) -> CheckedOutTree {
        let links: BTreeMap<String, String> =
            links.iter().map(|(path, target)| ((*path).to_owned(), (*target).to_owned())).collect();
        let all: Vec<&str> = paths.iter().copied().chain(links.keys().map(String::as_str)).collect();
        CheckedOutTree::new(all, &links)
    }

    fn below(tree: &CheckedOutTree, path: &str) -> Vec<String> {
        let shown = |(path, real): (String, Option<String>)| match real {
            Some(real) if real == path => path,
            Some(real) => format!("{path} = {real}"),
            None => format!("{path} = ?"),
        };
        tree.below(path).into_iter().map(shown).collect()
    }

    #[test]
    fn links_are_followed_as_in_a_checkout() {
        let found = tree(
            &["a/x", "a/b/y", "data/z", "w"],
            &[
                (".lamp", "a"),
                ("a/b/up", "../.."),
                ("a/l", "../data/z"),
                ("out", "/etc"),
                ("a/gone", "nowhere"),
                ("loop", "loop"),
            ],
        );
        assert_eq!(
            below(&found, "a"),
            [
                "a/b/up/data/z = data/z",
                "a/b/up/loop = ?",
                "a/b/up/out = ?",
                "a/b/up/w = w",
                "a/b/y",
                "a/gone = ?",
                "a/l = data/z",
                "a/x",
            ]
        );
        assert!(below(&found, ".lamp").contains(&".lamp/x = a/x".to_owned()));
        assert_eq!(below(&found, "out"), ["out = ?"]);
        assert_eq!(below(&found, "loop"), ["loop = ?"]);
        assert!(below(&found, "nothing").is_empty());
        assert_eq!(
            (found.file(".lamp/l"), found.file("a"), found.file("w/x")),
            (Some("data/z".to_owned()), None, None)
        );
        assert_eq!(found.names(".lamp").collect::<Vec<_>>(), ["b", "gone", "l", "x"]);
    }

    #[test]
    fn every_command_in_settings_is_shown_on_a_separate_line() {
        let text = r#"{"hooks": {"Start": [{"hooks": [{"type": "command", "command": "touch a\u001b[31m\n\u202eb"}]}]},
            // a server
            "mcpServers": {"x": {"command": "sh", "args": ["-c", "touch c"]}, "y": {"url": "http://d"}, "z": {"command": ["e", "f"]}},
            "apiKeyHelper": "touch g", "permissions": {"allow": ["Bash(*)"]},}"#;
        let item = ExecutedItem::client(("lamp", "Lamp"), ".lamp/settings.json", Some(text.as_bytes()));
        let shown = item.lines.join("\n");
        for part in ["sets apiKeyHelper, hooks, mcpServers, permissions", "sh -c touch c", "http://d", "e f", "touch g"]
        {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        assert_eq!(item.lines.len(), 6, "{shown}");
        assert!(
            shown.chars().all(|letter| letter == '\n' || !letter.is_control() && letter != '\u{202e}'),
            "{shown:?}"
        );
        let toml = ExecutedItem::client(
            ("lamp", "Lamp"),
            ".lamp/config.toml",
            Some(b"notify = [\"x\"]\n[mcp.a]\ncommand = \"touch h\"\n"),
        );
        assert!(toml.lines.join("\n").contains("touch h"), "{toml:?}");
        let broken = ExecutedItem::client(("lamp", "Lamp"), ".lamp/settings.json", Some(b"{"));
        assert_eq!(broken.lines, ["Lamp, by .lamp/settings.json"]);
    }

    #[test]
    fn a_changed_command_changes_the_digest_and_known_items_are_left_out() {
        let of =
            |commands: &[&str]| Brought::new(commands.iter().map(|command| ExecutedItem::check(command, "P", &[])));
        let (one, both) = (of(&["a"]), of(&["b", "a", "a"]));
        assert_ne!(one.digest(), both.digest());
        assert_eq!(both.digest(), of(&["a", "b"]).digest());
        let known = one.digests().collect();
        assert_eq!(both.without(&known).checks().collect::<Vec<_>>(), ["b"]);
        assert!(one.without(&known).is_empty());
        let behind =
            |text: &str| ExecutedItem::check("npm test", "package.json", &[("test".to_owned(), text.to_owned())]);
        assert_ne!(behind("node --test").digest, behind("sh x").digest);
        let client = ExecutedItem::client(("lamp", "Lamp"), ".lamp/a", Some(b""));
        let all = Brought::new([client, ExecutedItem::check("a", "P", &[])]);
        assert!(all.has_client() && all.without_client() == one);
    }

    #[test]
    fn files_without_commands_past_the_limit_are_counted_and_commands_are_always_shown() {
        let bare = (0..100)
            .map(|number| ExecutedItem::client(("lamp", "Lamp"), &format!(".lamp/skills/{number:03}"), Some(b"")));
        let hook = ExecutedItem::client(("lamp", "Lamp"), ".lamp/z.json", Some(b"{\"command\": \"touch z\"}"));
        let lines = Brought::new(bare.chain([hook])).lines();
        assert!(lines.iter().any(|line| line.contains("touch z")), "{lines:?}");
        assert_eq!(lines.last().unwrap(), "and files in .lamp/skills/: 60");
    }
}
