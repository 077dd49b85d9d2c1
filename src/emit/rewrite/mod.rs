//! Converts the canonical body of an item for a host and a scope. Table-driven; prose and code are treated separately.
//!
//! Rewritten are: calls of `gsd-tools`, `@` include lines, paths of library files, mentions of commands, calls that
//! spawn an agent, tool names, the name of the project's instruction file, the arguments placeholder. Each of these is
//! recognised from the library and the descriptor, never by a guess.

mod scan;
mod spawn;

use std::collections::BTreeSet;

use crate::library::{Item, ItemKind, Library};
use crate::runtime::{ArgumentForm, Descriptor, FileReach, IncludeForm, PlaceItem, Scope};

use super::ProfileNote;
use super::spelling::Spelling;
use crate::text::shell::typed;
use scan::{Zone, blocks, zones};

/// The placeholder of the canonical content.
const ARGUMENTS: &str = "$ARGUMENTS";

/// Rewrites bodies for one installation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rewriter<'a> {
    pub(crate) library: &'a Library,
    pub(crate) descriptor: &'a Descriptor,
    pub(crate) scope: Scope,
    pub(crate) spelling: &'a Spelling,
    /// Set if a profile leaves commands out.
    pub(crate) profile: Option<&'a ProfileNote>,
}

impl Rewriter<'_> {
    /// The body of `item` for the host.
    pub(crate) fn body(&self, item: &Item) -> String {
        let mut body = self.text(&item.body, item.kind);
        let mut preface = Vec::new();
        if item.kind == ItemKind::Command {
            match &self.descriptor.arguments {
                ArgumentForm::Placeholder(placeholder) => body = body.replace(ARGUMENTS, placeholder),
                ArgumentForm::Beside if self.speaks_of_arguments(item) => {
                    preface.push(format!(
                        "`{ARGUMENTS}` below is the text the user typed after the name of this command."
                    ));
                }
                ArgumentForm::Beside => {}
            }
            if self.scope == Scope::Local {
                let cure = typed!("gsd-tools install --{} --local", self.descriptor.id);
                body =
                    format!("{}\n\nIf `{}` is missing, run `{cure}` first.\n", body.trim_end(), self.spelling.binary());
            }
        }
        if let Some(note) = self.profile.filter(|_| matches!(item.kind, ItemKind::Command | ItemKind::Router)) {
            body = format!("{}\n\n{}\n", body.trim_end(), self.left_out(note));
        }
        let begins_a_talk = matches!(item.kind, ItemKind::Command | ItemKind::Router | ItemKind::Agent);
        let out_of_reach = self.scope == Scope::Global && self.descriptor.file_tools == FileReach::Workspace;
        let content = self.spelling.content();
        if begins_a_talk && out_of_reach && body.contains(&content) {
            preface
                .push(format!("Your file tools do not reach `{content}`: read files there with `cat` in the shell."));
        }
        preface.extend(self.nameless_agents(item));
        if preface.is_empty() {
            return body;
        }
        format!("{}\n\n{}", preface.join("\n"), body.trim_start_matches('\n'))
    }

    /// Which commands can be typed here, and how the others are added.
    fn left_out(&self, note: &ProfileNote) -> String {
        let typed =
            |item: &Item| format!("`{}`", self.descriptor.mention.command.replace("{name}", item.name.as_str()));
        let commands: Vec<String> = self.library.of_kind(ItemKind::Command).map(typed).collect();
        let cure = format!("{} install {} --profile=full", self.spelling.binary_word(), note.flags);
        format!(
            "Only these commands are installed here: {}. If you name another one to the user, add that `{cure}` \
             installs it.",
            commands.join(", ")
        )
    }

    /// The first words of an agent's prompt, if the host does not know our agents.
    fn role(&self, agent: &str) -> Option<String> {
        let (words, name) = (self.descriptor.spawn.role.as_ref()?, agent.strip_prefix("gsd-")?);
        let known = self.library.names(ItemKind::Agent).any(|agent| agent == name);
        known.then(|| words.replace("{file}", &self.agent_file(name)))
    }

    fn agent_file(&self, name: &str) -> String {
        super::file_of(self.descriptor, PlaceItem::Agent, self.scope, self.spelling, name)
    }

    /// Explains "spawn `gsd-x`" if the host does not know our agents. A call is rewritten; this is for prose.
    fn nameless_agents(&self, item: &Item) -> Option<String> {
        let spawn = &self.descriptor.spawn;
        let call = spawn.call.replace("{prompt}", "\"<prompt>\"");
        let how = if spawn.is_line() { " in the shell" } else { "" };
        let words = spawn.role.as_ref()?;
        let named = self.library.of_kind(ItemKind::Agent);
        let named_here: BTreeSet<&str> = named_agents(&item.body).collect();
        let named = named.map(|agent| agent.name.as_str()).find(|agent| named_here.contains(agent))?;
        let words = words.replace("{file}", &self.agent_file("<name>"));
        Some(format!(
            "Agents such as `gsd-{named}` cannot be named here: start one with `{call}`{how}, and begin its prompt \
             with \"{words}\"."
        ))
    }

    /// True if the command, or a file it includes, contains the arguments placeholder.
    fn speaks_of_arguments(&self, item: &Item) -> bool {
        let included = item.body.lines().filter_map(include_path).filter_map(|path| self.library.at(path));
        item.body.contains(ARGUMENTS) || included.into_iter().any(|file| file.body.contains(ARGUMENTS))
    }

    /// Rewrites a canonical text for an item of this kind.
    fn text(&self, text: &str, kind: ItemKind) -> String {
        let text = spawn::rewrite(text, &self.descriptor.spawn, &|agent| self.role(agent));
        let mut result = String::with_capacity(text.len() + text.len() / 8);
        for block in blocks(&text) {
            if block.fenced {
                for zone in zones(&block) {
                    self.zone(&zone, &mut result);
                }
                continue;
            }
            for line_or_text in block.split_include_lines() {
                match line_or_text {
                    Ok(path) => result.push_str(&self.include(path, kind)),
                    Err(prose) => {
                        for zone in zones(&prose) {
                            self.zone(&zone, &mut result);
                        }
                    }
                }
            }
        }
        result
    }

    /// The replacement of an `@` line. Hosts expand such lines only in commands; elsewhere the text asks the model to
    /// read the file.
    fn include(&self, path: &str, kind: ItemKind) -> String {
        let spelled = self.spelling.library(path);
        let target = self.library.at(path);
        match (self.descriptor.include, target) {
            (IncludeForm::At, _) if kind == ItemKind::Command => format!("@{spelled}\n"),
            (IncludeForm::Inline, Some(target)) if kind == ItemKind::Command => {
                format!("{}\n", self.text(&target.body, target.kind).trim())
            }
            _ if path.starts_with("workflows/") => format!("Read `{spelled}` to its last line and follow it.\n"),
            _ => format!("Read `{spelled}`.\n"),
        }
    }

    fn zone(&self, zone: &Zone<'_>, result: &mut String) {
        replace_in(zone, result, |before, rest| self.replacement(zone, before, rest));
    }

    /// The replacement for the beginning of `rest`, and the length of that beginning.
    fn replacement(&self, zone: &Zone<'_>, before: &str, rest: &str) -> Option<(usize, String)> {
        match rest.as_bytes().first()? {
            b'/' => self.mention(before, rest),
            b'g' if zone.is_shell() => self.call(zone, before, rest),
            b'w' | b'r' | b't' => self.library_path(zone, before, rest),
            b'C' if rest.starts_with(CANONICAL_INSTRUCTIONS) => {
                self.instruction_file(before, rest).or_else(|| self.tool_word(zone, before, rest))
            }
            first if first.is_ascii_uppercase() => self.tool_word(zone, before, rest),
            _ => None,
        }
    }

    /// A mention `/gsd-x`, if `x` is a command; never inside a path or an address.
    fn mention(&self, before: &str, rest: &str) -> Option<(usize, String)> {
        let named = rest.strip_prefix("/gsd-")?;
        if before.ends_with(|c: char| c.is_alphanumeric() || "._-/~}>)$\\:".contains(c)) {
            return None;
        }
        let length = named.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(named.len());
        let name = named[..length].trim_end_matches('-');
        let mentions = &self.descriptor.mention;
        if name.is_empty() {
            // A placeholder for any name: `/gsd-{command}`, `/gsd-<name>`, `/gsd-*`.
            let (prefix, _) = mentions.command.split_once("{name}")?;
            return named.starts_with(['{', '<', '*']).then(|| ("/gsd-".len(), prefix.to_owned()));
        }
        let after = &named[name.len()..];
        let goes_on = after.starts_with(['/', '_']) || after.strip_prefix('.').is_some_and(starts_with_alphanumeric);
        if goes_on || !self.library.has_command(name) {
            return None;
        }
        let is_router = |_: &&String| self.library.names(ItemKind::Router).any(|router| router == name);
        let form = mentions.router.as_ref().filter(is_router).unwrap_or(&mentions.command);
        Some(("/gsd-".len() + name.len(), form.replace("{name}", name)))
    }

    /// A call of `gsd-tools` at a place in which a shell expects a command.
    fn call(&self, zone: &Zone<'_>, before: &str, rest: &str) -> Option<(usize, String)> {
        is_call(zone, before, rest).then(|| (PROGRAM.len(), self.spelling.binary_word()))
    }

    /// The path of a library file or folder.
    fn library_path(&self, zone: &Zone<'_>, before: &str, rest: &str) -> Option<(usize, String)> {
        let folder = ["workflows/", "references/", "templates/"].into_iter().find(|folder| rest.starts_with(folder))?;
        if !(before.is_empty() || before.ends_with(|c: char| c.is_whitespace() || "`\"'([{=:<,|@".contains(c))) {
            return None;
        }
        let is_part = |c: char| c.is_ascii_alphanumeric() || "_./{}*<>-".contains(c);
        let length = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
        let path = rest[..length].trim_end_matches(['.', '>', '-']);
        let fixed: &str = path.find(['{', '*', '<']).map_or(path, |open| &path[..open]);
        let known = if fixed.len() == path.len() {
            self.library.at(path).is_some() || self.library.has_folder(path.trim_end_matches('/'))
        } else {
            let parent = fixed.rfind('/').map_or(folder, |slash| &fixed[..slash]);
            self.library.has_folder(parent.trim_end_matches('/'))
        };
        let quoted = zone.is_shell() && before.ends_with('"');
        let spelled = if quoted { self.spelling.library_in_quotes(path) } else { self.spelling.library(path) };
        known.then_some((path.len(), spelled))
    }

    fn instruction_file(&self, before: &str, rest: &str) -> Option<(usize, String)> {
        let after = &rest[CANONICAL_INSTRUCTIONS.len()..];
        let in_a_path = before.ends_with('/') && !before.ends_with("./") || before.ends_with("../");
        let in_a_word =
            before.ends_with(|c: char| c.is_alphanumeric() || "_-".contains(c)) || starts_with_alphanumeric(after);
        (!in_a_path && !in_a_word).then(|| (CANONICAL_INSTRUCTIONS.len(), self.descriptor.instruction_file.clone()))
    }

    /// A tool by its canonical name. Names that are also English words count only if nothing else can be meant.
    fn tool_word(&self, zone: &Zone<'_>, before: &str, rest: &str) -> Option<(usize, String)> {
        if before.ends_with(|c: char| c.is_alphanumeric() || "_-/.".contains(c)) {
            return None;
        }
        let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let (word, after) = rest.split_at(length);
        let host_name = self.descriptor.tools.get(word)?;
        let is_compound = word.chars().skip(1).any(|c| c.is_ascii_uppercase());
        let stands_alone = zone.is_inline() && zone.text == word;
        let is_called_a_tool = after.starts_with(" tool");
        // A name that looks like an English word is quoted in prose.
        let reads_as_prose = zone.is_prose() && !host_name.contains(|c: char| c.is_ascii_uppercase());
        let written = if reads_as_prose { format!("`{host_name}`") } else { host_name.clone() };
        (is_compound || stands_alone || is_called_a_tool).then_some((length, written))
    }
}

/// The name of the program in canonical content.
const PROGRAM: &str = "gsd-tools";

/// True if `rest` begins with a call of the program, at a place in which a shell expects a command.
fn is_call(zone: &Zone<'_>, before: &str, rest: &str) -> bool {
    let Some(after) = rest.strip_prefix(PROGRAM).filter(|_| zone.is_shell()) else { return false };
    let has_arguments = after.strip_prefix(' ').is_some_and(|more| !more.trim_start().is_empty());
    let ends_a_command = zone.fenced && (after.is_empty() || after.starts_with(['\n', ' ', '|', ';', ')']));
    (has_arguments || ends_a_command) && is_command_position(before)
}

/// A canonical text in which calls of the program are spelled as `word`, for texts that are printed instead of
/// installed.
pub(crate) fn with_program(text: &str, word: &str) -> String {
    let mut result = String::with_capacity(text.len() + word.len());
    for block in blocks(text) {
        for zone in zones(&block) {
            let call =
                |before: &str, rest: &str| is_call(&zone, before, rest).then(|| (PROGRAM.len(), word.to_owned()));
            replace_in(&zone, &mut result, call);
        }
    }
    result
}

/// Copies a zone; `replacement` gets the text before and after a position, and returns how many bytes to replace there
/// and with what.
fn replace_in(zone: &Zone<'_>, result: &mut String, replacement: impl Fn(&str, &str) -> Option<(usize, String)>) {
    let (text, bytes) = (zone.text, zone.text.as_bytes());
    let (mut position, mut copied) = (0, 0);
    while let Some(first) = bytes.get(position) {
        let may_begin = matches!(first, b'/' | b'g' | b'r' | b't' | b'w' | b'A'..=b'Z');
        let found = may_begin.then(|| text.split_at(position)).and_then(|(before, rest)| replacement(before, rest));
        if let Some((length, written)) = found {
            result.push_str(&text[copied..position]);
            result.push_str(&written);
            position += length;
            copied = position;
        } else {
            // No replacement begins inside a word.
            position += bytes[position..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count().max(1);
        }
    }
    result.push_str(&text[copied..]);
}

/// The project's instruction file in canonical content.
const CANONICAL_INSTRUCTIONS: &str = "CLAUDE.md";

/// The library path of an include line.
fn include_path(line: &str) -> Option<&str> {
    let path = line.trim().strip_prefix('@')?;
    let in_library = ["workflows/", "references/", "templates/"].iter().any(|folder| path.starts_with(folder));
    (in_library && !path.contains(char::is_whitespace)).then_some(path)
}

/// True if a shell would read the next word as a command: it is first, after an operator, or after nothing but
/// assignments and words such as `do`.
fn is_command_position(before: &str) -> bool {
    let (above, line) = before.rsplit_once('\n').unwrap_or(("", before));
    let operator = line.rfind(|c: char| "(`;|&!{".contains(c));
    if operator.is_none() && above.ends_with('\\') {
        return false;
    }
    let segment = operator.map_or(line, |position| &line[position + 1..]);
    let at_a_word = segment.is_empty() || segment.ends_with(char::is_whitespace);
    let leads = |word: &str| {
        let assigned = word.split_once('=').map_or("", |(name, _)| name);
        let is_assignment = assigned.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && assigned.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        is_assignment
            || matches!(word, "then" | "do" | "else" | "elif" | "if" | "while" | "until" | "time" | "exec" | "xargs")
    };
    at_a_word && segment.split_whitespace().all(leads)
}

/// Rewrites a text for a host that reads `${name}` as its own placeholder: `$name` means the same to a shell, even if a
/// letter follows, once empty quotes separate the two.
pub(super) fn without_placeholders(text: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let inside = &rest[start + 2..];
        let name = &inside[..inside.find(|c| !is_word(c)).unwrap_or(inside.len())];
        result.push_str(&rest[..start]);
        match inside[name.len()..].strip_prefix('}') {
            Some(after) if !name.is_empty() => {
                result.push('$');
                result.push_str(name);
                if after.starts_with(is_word) {
                    result.push_str("\"\"");
                }
                rest = after;
            }
            _ => {
                result.push_str("${");
                rest = inside;
            }
        }
    }
    result + rest
}

/// The words after `gsd-` in a text, outside of calls that spawn an agent: names of agents, and others.
fn named_agents(text: &str) -> impl Iterator<Item = &str> {
    let is_word = |c: char| c.is_alphanumeric() || "-_/".contains(c);
    text.match_indices("gsd-").filter_map(move |(at, prefix)| {
        let (before, after) = (&text[..at], &text[at + prefix.len()..]);
        let name = &after[..after.find(|c| !is_word(c)).unwrap_or(after.len())];
        let is_inside = before.ends_with(|c| is_word(c) || c == '.');
        (!is_inside && !before.ends_with("subagent_type=\"")).then_some(name)
    })
}

fn starts_with_alphanumeric(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphanumeric())
}

#[cfg(test)]
mod tests {
    use crate::runtime::made_up;

    use super::*;

    /// Facts in which made-up hosts differ; each is named after what it changes.
    const USUAL: &str = "";
    const COLON: &str = r#"
        include = "inline"
        instruction-file = "GUIDE.md"
        arguments = { placeholder = "{{args}}" }
        mention = { command = "/gsd:{name}", router = "/gsd-{name}" }
        tools = { AskUserQuestion = "ask_user", Read = "read_file", Bash = "run_shell_command" }"#;
    const DOLLAR: &str = r#"
        arguments = "beside"
        mention = { command = "$gsd-{name}" }"#;
    const READ: &str = r#"
        include = "read"
        tools = { AskUserQuestion = "AskQuestion" }"#;

    const LIBRARY: &[(&str, &str)] = &[
        ("commands/plan-phase.md", "---\nname: gsd-plan-phase\n---\n"),
        ("commands/plan.md", "---\nname: gsd-plan\n---\n"),
        ("commands/ns-work.md", "---\nname: gsd-ns-work\nrouter: true\n---\n"),
        ("agents/planner.md", "---\nname: gsd-planner\n---\n"),
        ("workflows/plan-phase.md", "Do it.\n"),
        ("workflows/plan-phase/steps/gaps.md", "Gaps.\n"),
        ("references/ui.md", "UI.\n"),
    ];

    fn rewritten(facts: &str, kind: ItemKind, body: &str) -> String {
        let files = LIBRARY.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        let library = Library::from_files(files).unwrap();
        let descriptor = made_up(facts);
        let root = descriptor.home.global.replace('~', "/home/u");
        let spelling = Spelling::new(Scope::Global, ".lantern", &root, "/home/u");
        let rewriter = Rewriter {
            library: &library,
            descriptor: &descriptor,
            scope: Scope::Global,
            spelling: &spelling,
            profile: None,
        };
        let item = Item {
            kind,
            name: "x".parse().unwrap(),
            path: "x.md".to_owned(),
            front_matter: crate::library::FrontMatter::default(),
            body: body.to_owned(),
        };
        rewriter.body(&item)
    }

    fn check(facts: &str, body: &str, expected: &str) {
        assert_eq!(rewritten(facts, ItemKind::Workflow, body), expected);
    }

    #[test]
    fn a_command_is_mentioned_as_the_host_types_it() {
        check(COLON, "a `/gsd-plan-phase 3`, /gsd-plan.", "a `/gsd:plan-phase 3`, /gsd:plan.");
        check(COLON, "(/gsd-ns-work) \"/gsd-plan\"", "(/gsd-ns-work) \"/gsd:plan\"");
        check(DOLLAR, "```\n/gsd-plan-phase --auto\n```\n", "```\n$gsd-plan-phase --auto\n```\n");
        check(DOLLAR, "`/gsd-{command} {arguments}` /gsd-<x> /gsd-*", "`$gsd-{command} {arguments}` $gsd-<x> $gsd-*");
    }

    #[test]
    fn text_that_only_looks_like_a_mention_stays() {
        for text in [
            "https://x.y/gsd-plan",
            "skills/gsd-plan/SKILL.md",
            "~/gsd-plan",
            "$HOME/gsd-plan",
            "./gsd-plan",
            "/gsd-plan/file",
            "/gsd-plan.md",
            "/gsd-plan_x",
            "/gsd-plan-x",
            "/gsd-core/bin",
            "{root}/gsd-plan",
            "gsd-plan",
        ] {
            check(DOLLAR, text, text);
        }
    }

    #[test]
    fn the_program_is_called_by_its_path_in_command_position() {
        let tool = "~/.lantern/gsd-core/bin/gsd-tools";
        for (before, after) in [
            ("", " x"),
            ("  ", " x"),
            ("A=$(", " x)"),
            ("A=1 B=\"2\" ", " x"),
            ("a && ", " x"),
            ("a | ", " x"),
            ("cd y; ", " x"),
            ("for f in a; do ", " x; done"),
            ("if ! ", " x; then"),
            ("a\n", " x\nb"),
            ("", ""),
        ] {
            let text = |word: &str| format!("```bash\n{before}{word}{after}\n```\n");
            check(USUAL, &text("gsd-tools"), &text(tool));
        }
        check(
            USUAL,
            "run `gsd-tools x\n  --y` or ``a | gsd-tools z``",
            &format!("run `{tool} x\n  --y` or ``a | {tool} z``"),
        );
    }

    #[test]
    fn the_program_name_is_only_a_word_elsewhere() {
        for text in [
            "gsd-tools answers",
            "the `gsd-tools` program",
            "```bash\nnpx gsd-tools x\necho gsd-tools x\n# gsd-tools\ngsd-tools-old x\n```\n",
            "```bash\na \\\ngsd-tools x\n```\n",
            "```json\ngsd-tools x\n```\n",
            "`npx gsd-tools x`",
        ] {
            check(USUAL, text, text);
        }
    }

    #[test]
    fn library_files_are_named_by_their_installed_path() {
        check(USUAL, "Read `references/ui.md`.", "Read `~/.lantern/gsd-core/references/ui.md`.");
        check(USUAL, "see workflows/plan-phase.md, then", "see ~/.lantern/gsd-core/workflows/plan-phase.md, then");
        check(
            USUAL,
            "`workflows/plan-phase/steps/{section}.md` `workflows/{name}.md`",
            "`~/.lantern/gsd-core/workflows/plan-phase/steps/{section}.md` `~/.lantern/gsd-core/workflows/{name}.md`",
        );
        check(
            USUAL,
            "```bash\ncat \"references/ui.md\"\n```\n",
            "```bash\ncat \"$HOME/.lantern/gsd-core/references/ui.md\"\n```\n",
        );
        for text in ["`references/none.md`", ".planning/references/ui.md", "my-references/ui.md", "`templates/{x}.md`"]
        {
            check(USUAL, text, text);
        }
    }

    #[test]
    fn an_include_line_has_the_form_that_the_host_understands() {
        let lines = "a\n@workflows/plan-phase.md\n@references/ui.md\n";
        let command = |host| rewritten(host, ItemKind::Command, lines);
        assert_eq!(
            command(USUAL),
            "a\n@~/.lantern/gsd-core/workflows/plan-phase.md\n@~/.lantern/gsd-core/references/ui.md\n"
        );
        assert_eq!(command(COLON), "a\nDo it.\nUI.\n");
        let read = "a\nRead `~/.lantern/gsd-core/workflows/plan-phase.md` to its last line and follow it.\nRead `~/.lantern/gsd-core/references/ui.md`.\n";
        assert_eq!(command(READ), read);
        check(USUAL, "@references/ui.md\n", "Read `~/.lantern/gsd-core/references/ui.md`.\n");
        check(USUAL, "```\n@references/ui.md\n```\n", "```\n@~/.lantern/gsd-core/references/ui.md\n```\n");
    }

    #[test]
    fn tools_are_called_by_the_names_of_the_host() {
        check(
            COLON,
            "Use AskUserQuestion, the Read tool, `Bash`.",
            "Use `ask_user`, the `read_file` tool, `run_shell_command`.",
        );
        check(COLON, "Read `references/x.md`. Edit it. MyWebFetch", "Read `references/x.md`. Edit it. MyWebFetch");
        check(READ, "one AskUserQuestion call", "one AskQuestion call");
        check(USUAL, "AskUserQuestion, the Read tool, `Bash`", "AskUserQuestion, the Read tool, `Bash`");
    }

    #[test]
    fn a_template_keeps_no_host_placeholder() {
        for (text, expected) in [
            ("echo ${PHASE}", "echo $PHASE"),
            ("\"${A}_x ${B}-${C}\"", "\"$A\"\"_x $B-$C\""),
            ("${A:-b} ${} ${a b} $A ${", "${A:-b} ${} ${a b} $A ${"),
        ] {
            assert_eq!(without_placeholders(text), expected);
        }
    }

    #[test]
    fn an_agent_unknown_to_the_host_gets_its_role_from_a_file() {
        let facts = r#"
            spawn = { call = "Agent", prompt = "prompt", role = "Read {file}." }
            place = [
                { items = ["command", "router"], path = "skills/gsd-{name}/SKILL.md", encoding = "markdown" },
                { items = ["agent"], path = "gsd-core/agents/gsd-{name}.md", encoding = "markdown" },
            ]"#;
        let file = "~/.lantern/gsd-core/agents/gsd-planner.md";
        check(
            facts,
            "Task(subagent_type=\"gsd-planner\", prompt=\"Go\")",
            &format!("Agent(prompt=\"Read {file}. Go\")"),
        );
        check(facts, "Task(subagent_type=\"other\", prompt=\"Go\")", "Agent(prompt=\"Go\")");
        let prose = rewritten(facts, ItemKind::Workflow, "Spawn `gsd-planner` with the goal.\n");
        assert!(prose.contains("begin its prompt with \"Read ~/.lantern/gsd-core/agents/gsd-<name>.md.\""), "{prose}");
        assert!(prose.ends_with("\n\nSpawn `gsd-planner` with the goal.\n"), "{prose}");
        for text in ["gsd-planner-x", "see agents/gsd-planner.md"] {
            check(facts, text, text);
        }
    }

    #[test]
    fn the_instruction_file_is_the_one_of_the_host() {
        check(COLON, "(`CLAUDE.md`) ./CLAUDE.md", "(`GUIDE.md`) ./GUIDE.md");
        check(
            COLON,
            "~/.x/CLAUDE.md ../CLAUDE.md MY_CLAUDE.md CLAUDE.mdx",
            "~/.x/CLAUDE.md ../CLAUDE.md MY_CLAUDE.md CLAUDE.mdx",
        );
    }

    #[test]
    fn arguments_are_a_placeholder_or_explained() {
        let command = |host, body| rewritten(host, ItemKind::Command, body);
        assert_eq!(command(COLON, "Do $ARGUMENTS.\n"), "Do {{args}}.\n");
        assert!(command(DOLLAR, "Do $ARGUMENTS.\n").starts_with("`$ARGUMENTS` below is the text the user typed"));
        assert_eq!(command(DOLLAR, "Do it.\n"), "Do it.\n");
        check(COLON, "`$ARGUMENTS`", "`$ARGUMENTS`");
    }
}
