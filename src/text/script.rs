//! JavaScript and TypeScript as tokens: without comments and blanks, with strings and templates as single tokens.
//!
//! Enough to find names and count branches without running or parsing; every text gives tokens.

/// A token of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token<'text> {
    Word(&'text str),
    Text(&'text str),
    Mark(char),
}

impl<'text> Token<'text> {
    pub(crate) fn word(&self) -> Option<&'text str> {
        match self {
            Token::Word(word) => Some(word),
            Token::Text(_) | Token::Mark(_) => None,
        }
    }

    /// The name of a key or an export, quoted or not.
    pub(crate) fn name(&self) -> Option<&'text str> {
        match self {
            Token::Word(word) => Some(word),
            Token::Text(text) => Some(text),
            Token::Mark(_) => None,
        }
    }
}

/// The tokens of a source, with their positions.
#[derive(Debug)]
pub(crate) struct Script<'text> {
    pub(crate) tokens: Vec<Token<'text>>,
    /// The byte offset of each token.
    offsets: Vec<usize>,
    /// The line of each token, counted from one.
    lines: Vec<usize>,
}

impl<'text> Script<'text> {
    pub(crate) fn read(text: &'text str) -> Self {
        let mut script = Self { tokens: Vec::new(), offsets: Vec::new(), lines: Vec::new() };
        let (mut at, mut line) = (0, 1);
        while let Some(first) = text[at..].chars().next() {
            let rest = &text[at..];
            let length = if rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if rest.starts_with("/*") {
                rest.get(2..).and_then(|inside| inside.find("*/")).map_or(rest.len(), |end| end + 4)
            } else if matches!(first, '"' | '\'' | '`') {
                let length = quoted(rest, first);
                let inside = &rest[1..length];
                script.push(at, Token::Text(inside.strip_suffix(first).unwrap_or(inside)));
                length
            } else if first == '/' && begins_a_pattern(script.tokens.last()) {
                pattern(rest)
            } else if is_of_word(first) {
                let length = rest.find(|character| !is_of_word(character)).unwrap_or(rest.len());
                script.push(at, Token::Word(&rest[..length]));
                length
            } else {
                if !first.is_whitespace() {
                    script.push(at, Token::Mark(first));
                }
                first.len_utf8()
            };
            script.lines.resize(script.tokens.len(), line);
            line += rest[..length].matches('\n').count();
            at += length;
        }
        script
    }

    fn push(&mut self, at: usize, token: Token<'text>) {
        self.tokens.push(token);
        self.offsets.push(at);
    }

    /// The line of a token, counted from one.
    pub(crate) fn line(&self, token: usize) -> usize {
        self.lines.get(token).copied().unwrap_or_default()
    }

    /// True if the mark at `token` is directly followed by the next token, as in `&&`.
    pub(crate) fn touch(&self, token: usize) -> bool {
        matches!((self.offsets.get(token), self.offsets.get(token + 1)), (Some(one), Some(next)) if one + 1 == *next)
    }
}

fn is_of_word(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '$' | '#')
}

/// The length of the string at the start of `text`, with its quotes; a plain one ends at the end of its line at the
/// latest.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        if escaped {
            escaped = false;
        } else if character == '\\' {
            escaped = true;
        } else if character == quote {
            return at + 1;
        } else if character == '\n' && quote != '`' {
            return at;
        }
    }
    text.len()
}

/// True if a slash after `before` begins a regular expression rather than a division.
fn begins_a_pattern(before: Option<&Token<'_>>) -> bool {
    match before {
        None => true,
        Some(Token::Mark(mark)) => !matches!(mark, ')' | ']' | '}'),
        Some(Token::Word(word)) => matches!(*word, "return" | "typeof" | "case" | "in" | "of"),
        Some(Token::Text(_)) => false,
    }
}

/// The length of the regular expression at the start of `text`; only of its slash if it does not end on its line.
fn pattern(text: &str) -> usize {
    let (mut escaped, mut in_class) = (false, false);
    for (at, character) in text.char_indices().skip(1) {
        match character {
            '\n' => return 1,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => in_class = true,
            ']' => in_class = false,
            '/' if !in_class => return at + 1,
            _ => {}
        }
    }
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_separated_from_comments_strings_and_patterns() {
        let script = Script::read("a // b\n/* c */ 'd\\'e' /[/]f/g && 1 / h");
        let shown: Vec<String> = script.tokens.iter().map(|token| format!("{token:?}")).collect();
        let expected = [r#"Word("a")"#, r#"Text("d\\'e")"#, "Mark('/')", "Mark('[')", "Mark('/')", "Mark(']')"];
        assert_eq!(shown[..2], expected[..2]);
        assert_eq!((script.line(0), script.line(1), script.line(99)), (1, 2, 0));
        let ands = script.tokens.iter().position(|token| *token == Token::Mark('&')).unwrap();
        assert!(script.touch(ands));
    }
}
