//! Removes what the other program wrote into files of the user. It is found by that program's names; nothing else is
//! touched. Pure.

use serde_json::Value;

use super::facts::{PredecessorFacts, UnsureSetting};
use crate::install::shared::{self, SharedError};
use crate::runtime::HostFormat;
use crate::text::edit::{FileFormat, JsonDialect};
use crate::text::fragment::Marked;
use crate::text::json::{JsonDocument, JsonEdit};
use crate::text::toml::TomlDocument;

/// The forms in which registrations may name the folder of the host.
#[derive(Debug, Clone)]
pub(super) struct Spellings {
    /// Its whole path, as used in permissions.
    pub(super) roots: Vec<String>,
    /// The last segments of the path, as used before `/hooks/` in a command.
    pub(super) names: Vec<String>,
}

impl Spellings {
    /// The forms with each of the roots instead of `{root}`.
    fn of(&self, forms: &[String]) -> Vec<String> {
        forms.iter().flat_map(|form| self.roots.iter().map(move |root| form.replace("{root}", root))).collect()
    }
}

/// The path of the list of what may run without asking.
const ALLOWED: &[&str] = &["permissions", "allow"];

/// The entries that [`clean`] removes from the list of what may run without asking: a person may have written the same
/// ones.
pub(super) fn permissions(facts: &PredecessorFacts, spellings: &Spellings, text: &str) -> Vec<String> {
    let document = JsonDocument::parse(text, JsonDialect::CommentsAndTrailingCommas);
    let list = document.ok().and_then(|document| document.value(&path(ALLOWED)));
    let known = spellings.of(&facts.permissions);
    let entries = list.as_ref().and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    entries.filter(|entry| known.iter().any(|known| known == entry)).map(str::to_owned).collect()
}

/// The settings that the other program makes, but that a person may have made too: `permissions.deny Read(.env)`.
pub(super) fn unsure(facts: &PredecessorFacts, format: HostFormat, text: &str) -> Vec<String> {
    let is_json = matches!(
        format,
        HostFormat::Json | HostFormat::JsonWithComments | HostFormat::JsonWithCommentsAndTrailingCommas
    );
    let document = JsonDocument::parse(text, JsonDialect::CommentsAndTrailingCommas);
    let Some(document) = document.ok().filter(|_| is_json) else { return Vec::new() };
    let has = |known: &&UnsureSetting| match document.value(&known.path) {
        Some(Value::Array(elements)) => elements.contains(&known.value),
        Some(value) => value == known.value,
        None => false,
    };
    let shown = |known: &UnsureSetting| {
        let value = known.value.as_str().map_or_else(|| known.value.to_string(), str::to_owned);
        format!("{} {value}", known.path.join("."))
    };
    facts.unsure.iter().filter(has).map(shown).collect()
}

/// The text without the other program's parts; `None` if nothing is left.
pub(super) fn clean(
    facts: &PredecessorFacts,
    spellings: &Spellings,
    format: HostFormat,
    text: &str,
) -> Result<Option<String>, SharedError> {
    let left = match format {
        HostFormat::Json | HostFormat::JsonWithComments | HostFormat::JsonWithCommentsAndTrailingCommas => {
            clean_json(facts, spellings, text)?
        }
        HostFormat::Toml => clean_toml(facts, spellings, text)?,
        HostFormat::Markdown => without_blocks(facts, text)?,
        // It never wrote into such a file.
        HostFormat::Yaml => text.to_owned(),
    };
    if left == text {
        return Ok(Some(left));
    }
    Ok(Some(left).filter(|left| !says_nothing(format, left)))
}

fn says_nothing(format: HostFormat, text: &str) -> bool {
    let format = match format {
        HostFormat::Toml => FileFormat::Toml,
        HostFormat::Markdown => FileFormat::Markdown,
        HostFormat::Yaml => FileFormat::Yaml,
        _ => FileFormat::Json(JsonDialect::CommentsAndTrailingCommas),
    };
    if shared::is_blank(format, text) {
        return true;
    }
    // A hooks file without hooks contains only its version.
    let FileFormat::Json(dialect) = format else { return false };
    let value = JsonDocument::parse(text, dialect).ok().and_then(|document| document.value(&[]));
    let comments = text.contains("//") || text.contains("/*");
    !comments && value.is_some_and(|value| value.as_object().is_some_and(|all| all.keys().eq(["version"])))
}

fn clean_json(facts: &PredecessorFacts, spellings: &Spellings, text: &str) -> Result<String, SharedError> {
    let mut document = JsonDocument::parse(text, JsonDialect::CommentsAndTrailingCommas)?;
    Cleaner { facts, spellings, document: &mut document }.run()?;
    Ok(document.to_string())
}

/// How much of a registration is theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TheirShare {
    None,
    Some,
    All,
}

struct Cleaner<'a> {
    facts: &'a PredecessorFacts,
    spellings: &'a Spellings,
    document: &'a mut JsonDocument,
}

impl Cleaner<'_> {
    fn run(&mut self) -> Result<(), SharedError> {
        for event in self.keys(&["hooks"]) {
            self.clean_event(&event)?;
        }
        let line = self.document.value(&path(&["statusLine", "command"]));
        if line.as_ref().and_then(Value::as_str).is_some_and(|command| self.is_theirs(command)) {
            self.remove(&["statusLine"])?;
        }
        let allowed = self.spellings.of(&self.facts.permissions);
        self.remove_elements(ALLOWED, |value| {
            value.as_str().is_some_and(|entry| allowed.iter().any(|known| known == entry))
        })?;
        let keys = self.spellings.of(&self.facts.permission_keys);
        for group in ["read", "external_directory"] {
            for key in &keys {
                self.remove(&["permission", group, key])?;
            }
        }
        for group in ["mcp", "mcpServers"] {
            let server = self.document.value(&path(&[group, "gsd"]));
            if server.is_some_and(|server| server.to_string().contains(&self.facts.server)) {
                self.remove(&[group, "gsd"])?;
            }
        }
        Ok(())
    }

    /// Cleans `hooks.<event>[]`; each entry has a command or a list of members with commands.
    fn clean_event(&mut self, event: &str) -> Result<(), SharedError> {
        let at = ["hooks", event];
        let Some(Value::Array(entries)) = self.document.value(&path(&at)) else { return Ok(()) };
        let mut mixed = Vec::new();
        let mut theirs = Vec::new();
        for entry in entries {
            match self.share(&entry) {
                TheirShare::All => theirs.push(entry),
                TheirShare::Some => mixed.push(entry),
                TheirShare::None => {}
            }
        }
        if theirs.is_empty() && mixed.is_empty() {
            return Ok(());
        }
        // An entry to which a person added a command is written again without their parts.
        for entry in &mixed {
            let mut rest = entry.clone();
            if let Some(members) = rest.get_mut("hooks").and_then(Value::as_array_mut) {
                members.retain(|member| self.share(member) != TheirShare::All);
            }
            let edit = JsonEdit::Append { path: path(&at), value: rest };
            self.document.apply(&edit)?;
        }
        self.remove_elements(&at, |value| theirs.contains(value) || mixed.contains(value))
    }

    /// A registration with a command is theirs if the command is; one with members, to the extent that its members are.
    fn share(&self, entry: &Value) -> TheirShare {
        let command = ["command", "bash"].into_iter().find_map(|key| entry.get(key)?.as_str());
        let members = entry.get("hooks").and_then(Value::as_array);
        match (command, members) {
            (Some(command), None) if self.is_theirs(command) => TheirShare::All,
            (None, Some(members)) => {
                let theirs = members.iter().filter(|member| self.share(member) == TheirShare::All).count();
                match theirs {
                    0 => TheirShare::None,
                    all if all == members.len() => TheirShare::All,
                    _ => TheirShare::Some,
                }
            }
            // An entry without a command, such as a prompt, belongs to a person.
            _ => TheirShare::None,
        }
    }

    /// True if the command runs one of their scripts in the host's folder.
    fn is_theirs(&self, command: &str) -> bool {
        let command = command.replace('\\', "/");
        self.facts.scripts.iter().any(|script| {
            command.match_indices(&format!("/hooks/{script}")).any(|(at, found)| {
                let ends = command[at + found.len()..].chars().next().is_none_or(|next| !next.is_alphanumeric());
                let before = command[..at].rsplit(['/', '"', '\'', ' ']).next().unwrap_or_default();
                ends && self.spellings.names.iter().any(|name| name == before)
            })
        })
    }

    fn keys(&self, at: &[&str]) -> Vec<String> {
        match self.document.value(&path(at)) {
            Some(Value::Object(object)) => object.keys().cloned().collect(),
            _ => Vec::new(),
        }
    }

    /// Removes the value at the path, and the objects above it that become empty.
    fn remove(&mut self, at: &[&str]) -> Result<(), SharedError> {
        if !self.document.remove(&path(at))? {
            return Ok(());
        }
        self.remove_empty(&at[..at.len() - 1])
    }

    fn remove_elements(&mut self, at: &[&str], unwanted: impl Fn(&Value) -> bool) -> Result<(), SharedError> {
        let removed = self.document.remove_elements(&path(at), unwanted)?;
        if removed.is_empty() { Ok(()) } else { self.remove_empty(at) }
    }

    fn remove_empty(&mut self, at: &[&str]) -> Result<(), SharedError> {
        if at.is_empty() {
            return Ok(());
        }
        let empty = match self.document.value(&path(at)) {
            Some(Value::Array(elements)) => elements.is_empty(),
            Some(Value::Object(object)) => object.is_empty(),
            _ => false,
        };
        if empty { self.remove(at) } else { Ok(()) }
    }
}

fn path(keys: &[&str]) -> Vec<String> {
    keys.iter().map(|key| (*key).to_owned()).collect()
}

fn without_blocks(facts: &PredecessorFacts, text: &str) -> Result<String, SharedError> {
    let mut left = text.to_owned();
    for block in &facts.block {
        let marked = Marked::new(block.open.as_str(), block.close.as_str());
        // One opening line has two possible closing lines: a block not closed by this one may end with the other.
        if let Ok(Some(_)) = marked.body(&left) {
            left = marked.remove(&left)?;
        }
    }
    Ok(left)
}

fn clean_toml(facts: &PredecessorFacts, spellings: &Spellings, text: &str) -> Result<String, SharedError> {
    TomlDocument::parse(text)?;
    let before = text;
    let text = without_top(facts, &without_blocks(facts, text)?);
    let mut left = String::with_capacity(text.len());
    let (mut owned, mut last_went) = (false, false);
    for table in tables(&text) {
        let is_marked = has_only_their_lines(facts, &text, table);
        let table = &without_lines(facts, &text, table);
        let plain = table.replace("\r\n", "\n");
        let is_agent = plain.starts_with(&facts.toml.agents) && names_a_file_of_theirs(&plain, spellings);
        let is_known = facts.toml.tables.contains(&format!("{}\n", plain.trim_matches('\n')));
        let is_hook = plain.starts_with(&facts.toml.hooks) && runs_a_file_of_theirs(facts, &plain);
        last_went = is_agent || is_hook || is_marked || (owned && is_known);
        if last_went {
            // A comment below the table belongs to the next one.
            let is_comment = |line: &&str| line.starts_with('#');
            let comments: String = table.split_inclusive('\n').skip(1).filter(is_comment).collect();
            let comments = without_comments(facts, &comments, &mut owned);
            last_went = comments.is_empty();
            left.push_str(&comments);
        } else {
            left.push_str(&without_comments(facts, table, &mut owned));
        }
    }
    // Text that was added after a blank line at the end is removed together with that line.
    if last_went || (left.len() < text.len() && text.starts_with(&left)) {
        left.truncate(left.trim_end_matches(['\r', '\n']).len());
        left.push_str(if text.contains("\r\n") { "\r\n" } else { "\n" });
    }
    if left != before && TomlDocument::parse(&left).is_err() {
        // The result does not parse, so something there was modified: it stays as it is.
        return Ok(text);
    }
    Ok(if left.trim().is_empty() { String::new() } else { left })
}

/// True if a comment elsewhere in the text marks the line of the table as theirs.
fn is_marked_line(facts: &PredecessorFacts, text: &str, table: &str, line: &str) -> bool {
    facts.toml.lines.iter().any(|known| {
        table.lines().next().is_some_and(|header| header.trim_end() == known.table)
            && line.trim_end() == known.line
            && text.lines().any(|line| line.trim_end() == known.comment)
    })
}

/// True if the table has lines, and a comment elsewhere in the text marks all of them as theirs.
fn has_only_their_lines(facts: &PredecessorFacts, text: &str, table: &str) -> bool {
    let mut lines = table.lines().skip(1).filter(|line| !line.trim().is_empty()).peekable();
    lines.peek().is_some() && lines.all(|line| is_marked_line(facts, text, table, line))
}

/// The table without the lines that a comment elsewhere in the text marks as theirs, if it has other lines.
fn without_lines(facts: &PredecessorFacts, text: &str, table: &str) -> String {
    let theirs = |line: &str| is_marked_line(facts, text, table, line);
    let others = table.lines().skip(1).any(|line| !line.trim().is_empty() && !theirs(line));
    if others { table.split_inclusive('\n').filter(|line| !theirs(line)).collect() } else { table.to_owned() }
}

/// The text without the table that they put on top of it, above keys of the user. In that table the user's own keys are
/// flags, and the keys that were at the top of the file are not.
fn without_top(facts: &PredecessorFacts, text: &str) -> String {
    let (top, comment) = (&facts.toml.top, &facts.toml.top_comment);
    let is_marked = text.lines().any(|line| line.trim_end() == comment);
    let Some(rest) = text.strip_prefix(top.as_str()).filter(|_| is_marked) else { return text.to_owned() };
    let first = tables(text).first().map(|table| table[top.len().min(table.len())..].to_owned()).unwrap_or_default();
    let is_flag = |line: &str| {
        line.split('#')
            .next()
            .is_some_and(|line| line.split_once('=').is_some_and(|(_, value)| matches!(value.trim(), "true" | "false")))
    };
    if first.lines().any(is_flag) { text.to_owned() } else { rest.to_owned() }
}

/// The piece without the comments that mark what follows as theirs, and without the blank lines directly below them.
fn without_comments(facts: &PredecessorFacts, piece: &str, found: &mut bool) -> String {
    let mut left = String::with_capacity(piece.len());
    let mut after = false;
    for line in piece.split_inclusive('\n') {
        if facts.toml.comments.iter().any(|known| known == line.trim_end()) {
            (*found, after) = (true, true);
        } else if !(after && line.trim().is_empty()) {
            after = false;
            left.push_str(line);
        }
    }
    left
}

/// The lines of a table with keys.
fn keys_of(table: &str) -> impl Iterator<Item = &str> + Clone {
    table.lines().skip(1).filter(|line| !line.trim().is_empty() && !line.starts_with('#'))
}

/// True if the table registers one command, which runs their file.
fn runs_a_file_of_theirs(facts: &PredecessorFacts, table: &str) -> bool {
    let runs = |line: &str| {
        let line = line.replace('\\', "/");
        let ends = |file: &String| line.trim_end().trim_end_matches(['"', '\'']).ends_with(file.as_str());
        line.starts_with("command = ") && facts.toml.hook_files.iter().any(ends)
    };
    keys_of(table).count() == 2 && keys_of(table).any(runs)
}

fn names_a_file_of_theirs(table: &str, spellings: &Spellings) -> bool {
    let keys = keys_of(table);
    let file = |line: &str| {
        let line = line.replace('\\', "/");
        line.starts_with("config_file = \"agents/gsd-")
            || spellings.names.iter().any(|name| line.contains(&format!("/{name}/agents/gsd-")))
    };
    keys.clone().count() == 2 && keys.into_iter().any(|line| line.starts_with("config_file = ") && file(line))
}

/// Splits the text into pieces, each of which begins with the header of a table; the first one may have none.
fn tables(text: &str) -> Vec<&str> {
    let mut starts = vec![0];
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.starts_with('[') && at > 0 {
            starts.push(at);
        }
        at += line.len();
    }
    starts.push(text.len());
    starts.windows(2).map(|pair| &text[pair[0]..pair[1]]).filter(|piece| !piece.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cleaned(format: HostFormat, text: &str) -> Option<String> {
        let spellings = Spellings { roots: vec!["/home/u/.x".into(), "~/.x".into()], names: vec![".x".into()] };
        clean(&PredecessorFacts::embedded().unwrap(), &spellings, format, text).unwrap()
    }

    fn json(text: &str) -> Option<String> {
        cleaned(HostFormat::Json, text)
    }

    const THEIRS: &str =
        r#"{"hooks": [{"type": "command", "command": "\"node\" \"/home/u/.x/hooks/gsd-read-guard.js\""}]}"#;

    #[test]
    fn a_file_with_only_their_content_can_be_removed() {
        assert_eq!(json(&format!("{{\"hooks\": {{\"PreToolUse\": [{THEIRS}]}}}}")), None);
        let flat = r#"{"version": 1, "hooks": {"stop": [{"command": "\"$P\"/.x/hooks/gsd-cursor-stop.js"}]}}"#;
        assert_eq!(json(flat), None);
    }

    #[test]
    fn a_prompt_next_to_their_command_stays() {
        let mine = r#"{"type": "prompt", "prompt": "is it safe?"}"#;
        let both = THEIRS.replace("}]}", &format!("}}, {mine}]}}"));
        let left = json(&format!("{{\"hooks\": {{\"PreToolUse\": [{both}]}}}}")).unwrap();
        let left: Value = serde_json::from_str(&left).unwrap();
        let mine: Value = serde_json::from_str(mine).unwrap();
        assert_eq!(left["hooks"]["PreToolUse"], Value::from(vec![serde_json::json!({ "hooks": [mine] })]));
    }

    #[test]
    fn content_of_others_keeps_its_bytes() {
        let mine = "{\n  // mine\n  \"model\": \"big\",\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"hooks\": [{\"command\": \"mine.sh\"}]}";
        let text = format!("{mine},\n      {THEIRS}\n    ]\n  }}\n}}\n");
        assert_eq!(json(&text), Some(format!("{mine}\n    ]\n  }}\n}}\n")));
        let elsewhere = "{\"hooks\": {\"Stop\": [{\"command\": \"/opt/.y/hooks/gsd-read-guard.js\"}]}}";
        assert_eq!(json(elsewhere), Some(elsewhere.to_owned()));
    }

    #[test]
    fn a_command_of_a_person_in_their_entry_stays() {
        let text = r#"{"hooks": {"Stop": [{"matcher": "M", "hooks": [{"command": "/home/u/.x/hooks/gsd-read-guard.js"}, {"command": "mine"}]}]}}"#;
        let left: Value = serde_json::from_str(&json(text).unwrap()).unwrap();
        let wanted = serde_json::json!({"hooks": {"Stop": [{"matcher": "M", "hooks": [{"command": "mine"}]}]}});
        assert_eq!(left, wanted);
    }

    #[test]
    fn their_lines_lists_and_servers_are_removed_and_others_stay() {
        let text = r#"{
  "statusLine": {"type": "command", "command": "node /home/u/.x/hooks/gsd-statusline.js"},
  "permissions": {"allow": ["Read(STATE.md)", "Bash(ls)"]},
  "permission": {"read": {"~/.x/gsd-core/*": "allow"}, "external_directory": {"~/.x/gsd-core/*": "allow", "/m": "ask"}},
  "mcp": {"gsd": {"command": ["npx", "gsd-mcp-server"]}, "mine": {}}
}"#;
        let left: Value = serde_json::from_str(&json(text).unwrap()).unwrap();
        let wanted = serde_json::json!({
            "permissions": {"allow": ["Bash(ls)"]},
            "permission": {"external_directory": {"/m": "ask"}},
            "mcp": {"mine": {}}
        });
        assert_eq!(left, wanted);
        let mine = r#"{"statusLine": {"command": "gsd-statusline"}, "mcp": {"gsd": {"command": "mine"}}}"#;
        assert_eq!(json(mine).as_deref(), Some(mine));
    }

    #[test]
    fn their_tables_are_removed_if_their_comment_is_there() {
        let block = "# GSD Agent Configuration — managed by gsd-core installer\n# GSD codex_hooks ownership: section\n\n[features]\nhooks = true\n\n[agents]\nmax_depth = 1\n\n";
        assert_eq!(cleaned(HostFormat::Toml, block), None);
        let mine = "model = \"m\" # mine\r\n\r\n[features]\r\nsearch = true\r\n";
        assert_eq!(cleaned(HostFormat::Toml, mine), Some(mine.to_owned()));
        assert_eq!(cleaned(HostFormat::Toml, &format!("model = 1\n\n{block}")), Some("model = 1\n".to_owned()));
        let added = "# GSD codex_hooks ownership: section\n\n[features]\na = 1\nhooks = true\n";
        assert_eq!(cleaned(HostFormat::Toml, added), Some("[features]\na = 1\n".to_owned()));
        let changed = block.replace("= 1", "= 3");
        assert_eq!(cleaned(HostFormat::Toml, &changed), Some("[agents]\nmax_depth = 3\n\n".to_owned()));
        let agent = "[agents.gsd-a]\ndescription = \"d\"\nconfig_file = \"/home/u/.x/agents/gsd-a.toml\"\n";
        assert_eq!(cleaned(HostFormat::Toml, agent), None);
        let hooks = "a = 1\n\n# GSD Hooks BEGIN — managed by GSD, do not edit between these markers\n\n[[hooks]]\nevent = \"x\"\n\n# GSD Hooks END\n";
        assert_eq!(cleaned(HostFormat::Toml, hooks), Some("a = 1\n".to_owned()));
    }

    #[test]
    fn tables_above_their_comment_are_removed_and_the_users_keys_return_to_the_top() {
        let comment = "# GSD codex_hooks ownership: section\n\n";
        let mine = "# mine\nmodel = \"m\"\n\n[mcp_servers.mine]\ncommand = \"c\"\n";
        let agent = "[agents.gsd-a]\ndescription = \"d\"\nconfig_file = \"agents/gsd-a.toml\"\n";
        let text = format!("[features]\ncodex_hooks = true\n\n{mine}\n{comment}{agent}");
        assert_eq!(cleaned(HostFormat::Toml, &text), Some(mine.to_owned()));
        let flags = format!("[features]\ncodex_hooks = true\n\nsearch = true\n\n{comment}{agent}");
        assert!(
            cleaned(HostFormat::Toml, &flags).unwrap().contains("[features]\n"),
            "a flag of the user is in the table"
        );
        let between = format!("model = 1\n\n[features]\nhooks = true\n\n[x]\ny = 1\n\n{comment}{agent}");
        assert_eq!(cleaned(HostFormat::Toml, &between), Some("model = 1\n\n[x]\ny = 1\n".to_owned()));
        let hook = "# GSD Hooks\n[[hooks]]\nevent = \"SessionStart\"\ncommand = \"node /h/.x/get-shit-done/hooks/gsd-update-check.js\"\n";
        assert_eq!(cleaned(HostFormat::Toml, &format!("{mine}\n{comment}{agent}\n\n{hook}")), Some(mine.to_owned()));
        let other = "# mine too\n[[hooks]]\nevent = \"x\"\ncommand = \"mine\"\n";
        let left = cleaned(HostFormat::Toml, &format!("{mine}\n{comment}{agent}\n{other}")).unwrap();
        assert!(left.starts_with(mine) && left.ends_with(other), "{left}");
        let own = "[features]\nhooks = true\n";
        assert_eq!(cleaned(HostFormat::Toml, own), Some(own.to_owned()));
    }

    #[test]
    fn settings_that_may_be_the_users_are_found() {
        let facts = PredecessorFacts::embedded().unwrap();
        let text = r#"{"worktree": {"baseRef": "head"}, "permissions": {"deny": ["Read(.env)", "Read(x)"]}}"#;
        let found = unsure(&facts, HostFormat::Json, text);
        assert_eq!(found, ["permissions.deny Read(.env)", "worktree.baseRef head"]);
        assert!(unsure(&facts, HostFormat::Json, r#"{"worktree": {"baseRef": "main"}}"#).is_empty());
    }

    #[test]
    fn blocks_in_texts_are_removed() {
        let block = "<!-- GSD Configuration — managed by gsd-core installer -->\nx\n<!-- End GSD Configuration -->\n";
        assert_eq!(cleaned(HostFormat::Markdown, block), None);
        assert_eq!(cleaned(HostFormat::Markdown, &format!("# Mine\n\n{block}")), Some("# Mine\n".to_owned()));
    }
}
