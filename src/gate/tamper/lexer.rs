//! The source of a test as words, texts and marks, without comments. Good for many languages, exact for none: every
//! text gives tokens, and a string that is not closed ends with its line.

/// One piece of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'text> {
    pub(super) kind: Kind,
    /// For a string, the text inside its quotes.
    pub(super) text: &'text str,
    /// Counted from one.
    pub(super) line: usize,
    /// Bytes from the beginning of the line.
    pub(super) column: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    Number,
    Text,
    Mark,
}

/// The syntax family of a language, in the details that matter here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Python,
    Rust,
    /// JavaScript and languages compiled to it.
    Script,
    Go,
    Shell,
    Ruby,
    /// Others with `//` comments.
    Braces,
    /// Others with `#` comments.
    Hashes,
}

impl Language {
    /// The language of a file, by its name; `None` for data.
    pub(super) fn of(path: &str) -> Option<Self> {
        let name = path.rsplit('/').next().unwrap_or_default();
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        Some(match ending {
            "py" | "pyi" => Self::Python,
            "rs" => Self::Rust,
            "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "cts" => Self::Script,
            "go" => Self::Go,
            "sh" | "bash" | "zsh" | "bats" => Self::Shell,
            "rb" => Self::Ruby,
            "java" | "kt" | "kts" | "scala" | "cs" | "swift" | "dart" | "php" | "c" | "cc" | "cpp" | "h" | "hpp" => {
                Self::Braces
            }
            "pl" | "t" | "ex" | "exs" | "jl" | "r" => Self::Hashes,
            _ => return None,
        })
    }

    fn has_hashes(self) -> bool {
        matches!(self, Self::Python | Self::Shell | Self::Ruby | Self::Hashes)
    }
}

impl Token<'_> {
    pub(super) fn is_mark(&self, mark: &str) -> bool {
        self.kind == Kind::Mark && self.text == mark
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        self.kind == Kind::Word && self.text == word
    }

    /// The change of bracket depth after this token.
    pub(super) fn turn(&self) -> i32 {
        match self.text {
            "(" | "[" | "{" if self.kind == Kind::Mark => 1,
            ")" | "]" | "}" if self.kind == Kind::Mark => -1,
            _ => 0,
        }
    }

    pub(super) fn closes(&self) -> bool {
        self.turn() < 0
    }

    /// True if it is a value itself.
    pub(super) fn is_literal(&self) -> bool {
        matches!(self.kind, Kind::Number | Kind::Text) || (self.kind == Kind::Word && is_constant_word(self.text))
    }
}

/// Words that are values.
pub(super) fn is_constant_word(word: &str) -> bool {
    matches!(word, "true" | "false" | "True" | "False" | "null" | "None" | "nil" | "undefined")
}

fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '$'
}

/// The tokens of a source.
pub(super) fn tokens(text: &str, language: Language) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let (mut at, mut line, mut begin) = (0, 1, 0);
    while let Some(first) = text[at..].chars().next() {
        let (rest, column) = (&text[at..], at - begin);
        let length = if let Some(length) = comment(rest, first, language, text[..at].chars().next_back()) {
            length
        } else if let Some((length, inside)) = string(rest, first, language) {
            tokens.push(Token { kind: Kind::Text, text: inside, line, column });
            length
        } else if is_of_word(first) && !(language == Language::Shell && first == '$') {
            let is_number = first.is_ascii_digit();
            let length = word_length(rest, is_number);
            let kind = if is_number { Kind::Number } else { Kind::Word };
            tokens.push(Token { kind, text: &rest[..length], line, column });
            length
        } else {
            if !first.is_whitespace() {
                tokens.push(Token { kind: Kind::Mark, text: &rest[..first.len_utf8()], line, column });
            }
            first.len_utf8()
        };
        line += rest[..length].matches('\n').count();
        begin = rest[..length].rfind('\n').map_or(begin, |end| at + end + 1);
        at += length;
    }
    tokens
}

fn word_length(rest: &str, is_number: bool) -> usize {
    let mut letters = rest.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let is_point = is_number && letter == '.' && letters.peek().is_some_and(|(_, next)| next.is_ascii_digit());
        if !is_of_word(letter) && !is_point {
            return at;
        }
    }
    rest.len()
}

fn comment(rest: &str, first: char, language: Language, before: Option<char>) -> Option<usize> {
    let line = || rest.find('\n').unwrap_or(rest.len());
    if language.has_hashes() {
        // In a shell it is a comment only after a blank or `;`.
        let begins = before.is_none_or(|before| before.is_whitespace() || before == ';');
        return (first == '#' && (begins || language != Language::Shell)).then(line);
    }
    if rest.starts_with("//") {
        return Some(line());
    }
    let inside = rest.strip_prefix("/*")?;
    Some(inside.find("*/").map_or(rest.len(), |end| end + 4))
}

/// The length of a string, and its contents.
fn string(rest: &str, first: char, language: Language) -> Option<(usize, &str)> {
    if language == Language::Python {
        for quotes in ["\"\"\"", "'''"] {
            if let Some(inside) = rest.strip_prefix(quotes) {
                let end = inside.find(quotes).unwrap_or(inside.len());
                return Some(((end + 6).min(rest.len()), &inside[..end]));
            }
        }
    }
    if language == Language::Rust {
        if let Some(found) = raw_string(rest) {
            return Some(found);
        }
        if first == '\'' {
            return character(rest);
        }
    }
    if !matches!(first, '"' | '\'' | '`') {
        return None;
    }
    let is_long = first == '`' || (first == '"' && language == Language::Rust) || language == Language::Shell;
    let has_escapes = !(language == Language::Go && first == '`' || language == Language::Shell && first == '\'');
    let mut letters = rest.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' if has_escapes => {
                letters.next();
            }
            '\n' if !is_long => return Some((at, &rest[1..at])),
            letter if letter == first => return Some((at + 1, &rest[1..at])),
            _ => {}
        }
    }
    Some((rest.len(), &rest[1..]))
}

/// `r#"..."#`
fn raw_string(rest: &str) -> Option<(usize, &str)> {
    let behind = rest.strip_prefix('r')?;
    let hashes = behind.len() - behind.trim_start_matches('#').len();
    let inside = behind[hashes..].strip_prefix('"')?;
    let close = format!("\"{}", &behind[..hashes]);
    let end = inside.find(&close).unwrap_or(inside.len());
    Some(((2 + hashes + end + close.len()).min(rest.len()), &inside[..end]))
}

/// A character literal, as opposed to a lifetime.
fn character(rest: &str) -> Option<(usize, &str)> {
    let mut letters = rest.char_indices().skip(1);
    let (_, letter) = letters.next()?;
    let end = if letter == '\\' {
        letters.next()?;
        letters.take(10).find(|(_, letter)| *letter == '\'')?.0
    } else {
        letters.next().filter(|(_, letter)| *letter == '\'')?.0
    };
    Some((end + 1, &rest[1..end]))
}

/// The code of each line without blanks, comments and the contents of strings, with the line number.
pub(super) fn compact_lines(tokens: &[Token<'_>]) -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    let mut before = Kind::Mark;
    for token in tokens {
        if lines.last().is_none_or(|(line, _)| *line != token.line) {
            lines.push((token.line, String::new()));
            before = Kind::Mark;
        }
        let Some((_, text)) = lines.last_mut() else { continue };
        let is_worded = |kind: Kind| matches!(kind, Kind::Word | Kind::Number);
        if is_worded(before) && is_worded(token.kind) {
            text.push(' ');
        }
        text.push_str(if token.kind == Kind::Text { "\"\"" } else { token.text });
        before = token.kind;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, language: Language) -> String {
        let shown = |token: &Token<'_>| match token.kind {
            Kind::Text => format!("<{}>", token.text),
            _ => token.text.to_owned(),
        };
        tokens(text, language).iter().map(shown).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn comments_are_dropped_and_strings_stay_whole() {
        use Language::{Go, Python, Rust, Script, Shell};
        for (language, text, expected) in [
            (Python, "assert a == 1.5 # b\n'''c\nassert'''\nd\"e", "assert a = = 1.5 <c\nassert> d <e>"),
            (Script, "it('a', () => { /* b */ x(`c\n${d}`) }) // e", "it ( <a> , ( ) = > { x ( <c\n${d}> ) } )"),
            (
                Rust,
                "fn a<'b>(c: &'b str) { d('e', '\\n', r#\"f\"g\"#) }",
                "fn a < ' b > ( c : & ' b str ) { d ( <e> , <\\n> , <f\"g> ) }",
            ),
            (Rust, "for a in 1..5 {}", "for a in 1 . . 5 { }"),
            (Go, "x(`a\\`, \"b\\\"\") // c", "x ( <a\\> , <b\\\"> )"),
            (Shell, "a 'b\\' # c\nd#e $f", "a <b\\> d # e $ f"),
        ] {
            assert_eq!(read(text, language), expected, "{text}");
        }
        assert_eq!(tokens("a\n'b\nc' d", Language::Shell).last().map(|token| token.line), Some(3));
    }

    #[test]
    fn lines_of_code_are_the_same_in_any_layout() {
        let code = tokens("it . skip( 'a', async () =>  { // b\n  return x y\n", Language::Script);
        assert_eq!(compact_lines(&code), [(1, "it.skip(\"\",async()=>{".to_owned()), (2, "return x y".to_owned())]);
    }

    proptest::proptest! {
        #[test]
        fn any_text_has_tokens_in_order(text in "(?s)(.|['\"`#/*\\\\\\n]|r#|'''){0,60}", kind in 0..4_usize) {
            let language = [Language::Python, Language::Rust, Language::Script, Language::Shell][kind];
            let lines: Vec<usize> = tokens(&text, language).iter().map(|token| token.line).collect();
            proptest::prop_assert!(lines.is_sorted() && lines.iter().all(|line| *line <= text.matches('\n').count() + 1));
        }
    }
}
