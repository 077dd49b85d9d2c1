//! Calls of `gsd-tools` in the texts of the library, found and cut into words as a shell would.
//!
//! A call is in shell code or between backticks. Placeholders count as values: `{plan}`, also with words in it,
//! `$PHASE`, `<x>`.

use std::fmt;

use crate::library::{Item, ItemKind};

/// One call as written in a text.
#[derive(Debug)]
pub(super) struct ContentCall {
    pub(super) path: String,
    pub(super) words: Vec<ContentWord>,
}

/// One word of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ContentWord {
    pub(super) parts: Vec<CallWordPart>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CallWordPart {
    Text(String),
    /// A placeholder as written, and whether it is in single quotes.
    Placeholder(String, bool),
}

impl ContentWord {
    /// The word with a value for each placeholder.
    pub(super) fn with(&self, value: impl Fn(&str) -> String) -> String {
        let text = |part: &CallWordPart| match part {
            CallWordPart::Text(text) => text.clone(),
            CallWordPart::Placeholder(name, _) => value(name),
        };
        self.parts.iter().map(text).collect()
    }

    pub(super) fn placeholders(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            CallWordPart::Text(_) => None,
            CallWordPart::Placeholder(name, _) => Some(name.as_str()),
        })
    }

    /// The placeholders whose value a shell would interpret.
    pub(super) fn unquoted(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            CallWordPart::Placeholder(name, false) => Some(name.as_str()),
            CallWordPart::Text(_) | CallWordPart::Placeholder(..) => None,
        })
    }

    /// Whether a value is in single quotes.
    pub(super) fn has_quoted_value(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, CallWordPart::Placeholder(_, true)))
    }

    /// The word, if it consists only of text.
    pub(super) fn plain(&self) -> Option<String> {
        let is_text = |part: &CallWordPart| matches!(part, CallWordPart::Text(_));
        self.parts.iter().all(is_text).then(|| self.with(|_| String::new()))
    }
}

impl fmt::Display for ContentCall {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<String> = self.words.iter().map(|word| word.with(str::to_owned)).collect();
        write!(out, "{}: gsd-tools {}", self.path, words.join(" "))
    }
}

/// Every call in an item's text.
pub(super) fn calls_of(item: &Item) -> Vec<ContentCall> {
    let is_page = item.kind == ItemKind::Template && item.name.as_str().starts_with("guide/");
    let pieces = if is_page { page_calls(&item.body) } else { code_of(&item.body) };
    let calls = pieces.iter().flat_map(|code| commands_of(code));
    calls.map(|words| ContentCall { path: item.path.clone(), words }).collect()
}

/// Every call in a text of a feature.
pub(super) fn calls_in(feature: &str, text: &str) -> Vec<ContentCall> {
    let calls = code_of(text).into_iter().flat_map(|code| commands_of(&code));
    calls.map(|words| ContentCall { path: feature.to_owned(), words }).collect()
}

/// The commands of a host that a text names, in any spelling: `/gsd-x`, `/gsd:x`, `$gsd-x`. A name inside a path, an
/// address or another word does not count.
pub(super) fn commands_named(text: &str) -> impl Iterator<Item = &str> {
    let starts = text.match_indices("gsd-").chain(text.match_indices("gsd:"));
    starts.filter_map(|(at, mark)| {
        let before = text[..at].strip_suffix(['/', '$'])?;
        let is_inside = before.ends_with(|last: char| last.is_alphanumeric() || "._-/~}>)$\\:*".contains(last));
        let named = &text[at + mark.len()..];
        let length = named.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(named.len());
        let name = named[..length].trim_end_matches('-');
        let goes_on = named[length..].starts_with(['/', '_']) || named[length..].starts_with(".md");
        (!is_inside && !name.is_empty() && !goes_on).then_some(name)
    })
}

/// The pages of the guide are not Markdown: a call ends at a gap or at a punctuation mark of the sentence around it.
fn page_calls(text: &str) -> Vec<String> {
    let calls = text.lines().flat_map(|line| line.match_indices("gsd-tools ").map(|(at, _)| &line[at..]));
    calls
        .map(|call| call.split(['(', ')', ',', ';']).next().unwrap_or(call))
        .map(|call| call.split("  ").next().unwrap_or(call).to_owned())
        .collect()
}

/// The lines of all shell blocks.
pub(super) fn shell_lines(text: &str) -> impl Iterator<Item = &str> {
    let mut block: Option<bool> = None;
    text.lines().filter(move |line| match fence(line) {
        Some(language) => {
            block = if block.is_some() { None } else { Some(is_shell(language)) };
            false
        }
        None => block == Some(true),
    })
}

/// Shell blocks, and code between backticks elsewhere, if they name the program.
fn code_of(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut piece = String::new();
    // The language of the fence, inside a block.
    let mut block: Option<bool> = None;
    for line in text.lines() {
        let Some(language) = fence(line) else {
            piece.push_str(line);
            piece.push('\n');
            continue;
        };
        let ended = std::mem::take(&mut piece);
        if block == Some(true) {
            found.push(ended);
        } else {
            found.extend(inline(&ended));
        }
        block = if block.is_some() { None } else { Some(is_shell(language)) };
    }
    found.extend(inline(&piece));
    found.retain(|code| code.contains("gsd-tools "));
    found
}

/// The language of a line that opens or closes a block; a list item may begin with one.
fn fence(line: &str) -> Option<&str> {
    let line = line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
    line.trim_start_matches(['.', '-', ' ']).strip_prefix("```")
}

fn is_shell(language: &str) -> bool {
    matches!(language, "bash" | "sh")
}

/// The text between single backticks; it may contain a line break, but never an empty line.
fn inline(text: &str) -> Vec<String> {
    let code = text.split("\n\n").flat_map(|paragraph| paragraph.split('`').skip(1).step_by(2));
    code.map(|piece| piece.replace('\n', " ")).collect()
}

/// The words after `gsd-tools` for every command in a piece of shell code.
fn commands_of(code: &str) -> Vec<Vec<ContentWord>> {
    let mut commands = Vec::new();
    let mut words: Vec<ContentWord> = Vec::new();
    let mut lexer = Lexer { rest: code };
    loop {
        match lexer.next() {
            ContentToken::Word(word) => words.push(word),
            token => {
                let words = std::mem::take(&mut words);
                let program = words.iter().position(|word| word.plain().as_deref() == Some("gsd-tools"));
                commands.extend(program.map(|at| words[at + 1..].to_vec()).filter(|words| !words.is_empty()));
                if matches!(token, ContentToken::End) {
                    return commands;
                }
            }
        }
    }
}

enum ContentToken {
    Word(ContentWord),
    /// The end of a command.
    Break,
    End,
}

struct Lexer<'a> {
    rest: &'a str,
}

impl Lexer<'_> {
    fn next(&mut self) -> ContentToken {
        self.skip_blanks();
        let Some(first) = self.rest.chars().next() else { return ContentToken::End };
        match first {
            '#' => {
                self.rest = self.rest.find('\n').map_or("", |end| &self.rest[end..]);
                self.next()
            }
            '\n' | ';' | '|' | '&' | '(' | ')' => {
                self.rest = &self.rest[1..];
                ContentToken::Break
            }
            '>' => {
                self.rest = self.rest.trim_start_matches(['>', '&']);
                self.skip_blanks();
                // The target of a redirection is not a word of the command.
                self.word();
                self.next()
            }
            '2' if self.rest.starts_with("2>") => {
                self.rest = &self.rest[1..];
                self.next()
            }
            _ => self.word(),
        }
    }

    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
        if let Some(after) = self.rest.strip_prefix("\\\n") {
            self.rest = after;
            self.skip_blanks();
        }
    }

    fn word(&mut self) -> ContentToken {
        let mut parts: Vec<CallWordPart> = Vec::new();
        let mut quote = None;
        while let Some(next) = self.rest.chars().next() {
            if quote.is_none() && (next.is_whitespace() || ";|&()>".contains(next)) {
                break;
            }
            if quote == Some(next) || quote.is_none() && matches!(next, '"' | '\'') {
                quote = if quote.is_some() { None } else { Some(next) };
                self.rest = &self.rest[1..];
                // Two quotes with nothing between them are a word too.
                text_of(&mut parts);
                continue;
            }
            if let Some(length) = placeholder(self.rest).filter(|_| quote != Some('\'') || !self.rest.starts_with('$'))
            {
                parts.push(CallWordPart::Placeholder(self.rest[..length].to_owned(), quote == Some('\'')));
                self.rest = &self.rest[length..];
                continue;
            }
            text_of(&mut parts).push(next);
            self.rest = &self.rest[next.len_utf8()..];
        }
        ContentToken::Word(ContentWord { parts })
    }
}

/// The text at the end of the word being built.
fn text_of(parts: &mut Vec<CallWordPart>) -> &mut String {
    if !matches!(parts.last(), Some(CallWordPart::Text(_))) {
        parts.push(CallWordPart::Text(String::new()));
    }
    match parts.last_mut() {
        Some(CallWordPart::Text(text)) => text,
        _ => unreachable!("a text was just pushed"),
    }
}

/// The length of the placeholder at the start of `text`.
fn placeholder(text: &str) -> Option<usize> {
    let mut characters = text.char_indices();
    match characters.next()?.1 {
        '{' => text[1..].starts_with(char::is_alphabetic).then(|| text.find('}').map(|end| end + 1)).flatten(),
        '<' => text[1..].starts_with(char::is_alphabetic).then(|| text.find('>').map(|end| end + 1)).flatten(),
        '$' => {
            let end =
                text[1..].find(|c: char| !c.is_ascii_alphanumeric() && c != '_').map_or(text.len(), |end| end + 1);
            (end > 1).then_some(end)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(code: &str) -> Vec<String> {
        let shown =
            |words: Vec<ContentWord>| words.iter().map(|word| word.with(|_| "_".to_owned())).collect::<Vec<_>>();
        commands_of(code).into_iter().map(|words| shown(words).join(" ")).collect()
    }

    #[test]
    fn commands_end_where_the_shell_ends_them() {
        let code =
            "X=1 gsd-tools a b \\\n  c # d\nls; gsd-tools e 'f g' | wc && gsd-tools h \"{i j}\" 2>&1 >\"$K\" l\n";
        assert_eq!(words(code), ["a b c", "e f g", "h _ l"]);
        assert_eq!(
            words("gsd-tools a --b {true|false} '{\"c\":1}' docs({N}): \"x({N}): y\""),
            ["a --b _ {\"c\":1} docs",]
        );
        assert_eq!(words("gsd-tools a \"docs({NN}): b\" $F <p q> \"\""), ["a docs(_): b _ _ "]);
    }

    #[test]
    fn commands_are_named_in_any_spelling_and_not_in_paths() {
        let named = |text: &'static str| commands_named(text).collect::<Vec<_>>();
        assert_eq!(named("`/gsd-plan-phase 2`, (/gsd:quick) and $gsd-fast."), ["plan-phase", "fast", "quick"]);
        assert_eq!(named("~/gsd-plan a/gsd-plan $X/gsd-plan /gsd-plan/x /gsd-plan.md gsd-planner /gsd-{x}"), [""; 0]);
    }

    #[test]
    fn code_is_shell_blocks_and_inline_code() {
        let text = "one `gsd-tools a\nb` `x`\n\n1. ```bash\n   gsd-tools c\n   ```\n\n```\n`gsd-tools d` gsd-tools e\n```\n`gsd-tools f`\n";
        let shown: Vec<String> = code_of(text).iter().map(|code| code.trim().to_owned()).collect();
        assert_eq!(shown, ["gsd-tools a b", "gsd-tools c", "gsd-tools d", "gsd-tools f"]);
    }
}
