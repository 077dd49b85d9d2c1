//! Splits a script into its simple commands, without running anything.

use std::cell::Cell;
use std::rc::Rc;

use super::word::{Word, WordPart, is_of_name};

/// A simple command: the text between two separators.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Command {
    /// Commands with the same number are joined by pipes, in their order.
    pub(crate) pipeline: usize,
    /// `NAME=value` before or without a command; a loop over words sets its variable to each of them.
    pub(crate) assignments: Vec<(String, Word)>,
    pub(crate) words: Vec<Word>,
    pub(crate) redirects: Vec<Redirect>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Redirect {
    Read(Word),
    Write {
        target: Word,
        append: bool,
        /// Whether it gets the output of the command, and not only its errors.
        is_output: bool,
    },
    /// Text that is fed to the command: a here-document or a here-string.
    Here(Word),
}

/// Returns the commands of a script, and whether a part of it was left out because it is nested in too many others.
/// Every text is a script, even one that a shell would refuse.
pub(crate) fn commands(script: &str) -> (Vec<Command>, bool) {
    let budget = Rc::new(Cell::new(Some(MOST)));
    let commands = nested_commands(script, 0, &budget);
    (commands, budget.get().is_none())
}

/// The most bytes that are read again because they are nested in other texts: a text may be in several of them.
const MOST: usize = 4 * 1024 * 1024;

/// The bytes that may still be read again; `None` once a part was left out.
type RereadBudget = Rc<Cell<Option<usize>>>;

/// The maximum depth of scripts in scripts; deeper ones are ignored.
const DEEPEST: usize = 24;

/// Words at the beginning of a command that are not a command.
const KEYWORDS: &[&str] =
    &["if", "then", "elif", "else", "fi", "while", "until", "do", "done", "{", "}", "!", "time", "coproc", "esac"];

fn nested_commands(script: &str, depth: usize, budget: &RereadBudget) -> Vec<Command> {
    let mut reader = Reader::new(script, depth, budget);
    reader.list(false);
    reader.commands
}

struct Reader<'text> {
    text: &'text str,
    at: usize,
    depth: usize,
    /// The end of the line with the last here-document, and the position after the documents, where reading continues.
    document: Option<(usize, usize)>,
    pipeline: usize,
    commands: Vec<Command>,
    budget: RereadBudget,
}

impl<'text> Reader<'text> {
    /// A reader of the text, or of an empty one if too much was read again.
    fn new(text: &'text str, depth: usize, budget: &RereadBudget) -> Self {
        let left = budget.get().and_then(|left| left.checked_sub(if depth > 0 { text.len() } else { 0 }));
        budget.set(left);
        let text = if left.is_some() { text } else { "" };
        let budget = Rc::clone(budget);
        Self { text, at: 0, depth, document: None, pipeline: 0, commands: Vec::new(), budget }
    }
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn starts_with(&self, mark: &str) -> bool {
        self.text[self.at..].starts_with(mark)
    }

    /// Skips the next character; after a line with here-documents, skips those too.
    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        let at = self.at;
        self.at += next.len_utf8();
        if next == '\n'
            && let Some((_, resume)) = self.document.take_if(|(end, _)| *end == at)
        {
            self.at = resume;
        }
        Some(next)
    }

    /// Skips `mark` if it is next.
    fn take(&mut self, mark: &str) -> bool {
        let found = self.starts_with(mark);
        if found {
            self.at += mark.len();
        }
        found
    }

    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &str {
        let rest = &self.text[self.at..];
        let length = rest.find(|letter| !wanted(letter)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// Reads commands up to the end, or up to the `)` that ends a nested list.
    fn list(&mut self, nested: bool) {
        let mut command = Command::default();
        // Between `[[` and `]]` the marks of redirections and lists are comparisons.
        let mut test = false;
        loop {
            self.take_while(|letter| matches!(letter, ' ' | '\t' | '\r'));
            if self.take("\\\n") || self.take("\\\r\n") {
                continue;
            }
            let Some(next) = self.peek() else { break };
            match next {
                '#' => {
                    self.take_while(|letter| letter != '\n');
                }
                '\n' | ';' => {
                    self.next();
                    self.finish(&mut command);
                    self.pipeline += 1;
                    test = false;
                }
                '&' | '|' | '(' | ')' | '<' | '>' if test => {
                    self.next();
                }
                '&' if self.starts_with("&>") => {
                    self.at += 1;
                    self.redirect(&mut command);
                }
                '&' => {
                    self.next();
                    self.take("&");
                    self.finish(&mut command);
                    self.pipeline += 1;
                }
                '|' => {
                    self.next();
                    self.finish(&mut command);
                    if self.take("|") {
                        self.pipeline += 1;
                    } else {
                        self.take("&");
                    }
                }
                '(' if self.take("()") => command.words.clear(),
                '(' if command.words.is_empty() && self.arithmetic() => {}
                '(' => {
                    self.next();
                    self.finish(&mut command);
                    self.pipeline += 1;
                    self.deeper(|reader| reader.list(true));
                    self.pipeline += 1;
                }
                ')' => {
                    self.next();
                    if nested {
                        break;
                    }
                    // The pattern of a case; for the first pattern, the words before it are kept.
                    if command.words.first().is_some_and(|word| word.is("case")) {
                        self.finish(&mut command);
                    }
                    command = Command::default();
                }
                '<' | '>' if !self.starts_with("<(") && !self.starts_with(">(") => self.redirect(&mut command),
                _ => {
                    let before = self.at;
                    let word = self.word();
                    if self.at == before {
                        // A mark that begins no word is skipped, so that reading always makes progress.
                        self.next();
                    }
                    if word.parts.is_empty() {
                        continue;
                    }
                    if word.digits() && matches!(self.peek(), Some('<' | '>')) {
                        let before = command.redirects.len();
                        self.redirect(&mut command);
                        if let Some(Redirect::Write { is_output, .. }) = command.redirects.get_mut(before) {
                            *is_output = word.is("1");
                        }
                        continue;
                    }
                    test = (test || command.words.is_empty() && word.is("[[")) && !word.is("]]");
                    command.words.push(word);
                }
            }
        }
        self.finish(&mut command);
    }

    /// Runs `read` one level deeper; if that is too deep, the rest is left out.
    fn deeper(&mut self, read: impl FnOnce(&mut Self)) {
        if self.depth >= DEEPEST {
            self.at = self.text.len();
            return;
        }
        self.depth += 1;
        read(self);
        self.depth -= 1;
    }

    /// Adds a command to the result, without the keywords before it.
    fn finish(&mut self, command: &mut Command) {
        let mut command = std::mem::take(command);
        command.pipeline = self.pipeline;
        let mut words = command.words.as_slice();
        loop {
            words = match words {
                [function, _, rest @ ..] if function.is("function") => rest,
                [word, rest @ ..] if KEYWORDS.iter().any(|keyword| word.is(keyword)) => rest,
                _ => break,
            };
        }
        command.words = words.to_vec();
        let first = |names: &[&str]| command.words.first().is_some_and(|word| names.iter().any(|name| word.is(name)));
        if first(&["case"]) {
            // The compared value may come from commands.
            command.words.retain(|word| word.parts.iter().any(|part| matches!(part, WordPart::Substitution { .. })));
            command.assignments = command.words.drain(..).map(|word| (String::new(), word)).collect();
        } else if first(&["for", "select"]) {
            let name = command.words.get(1).and_then(Word::plain);
            let values = command.words.drain(..).skip(2).filter(|word| !word.is("in"));
            command.assignments = values.filter_map(|word| Some((name.clone()?, word))).collect();
        } else {
            let assignments = command.words.iter().map_while(Word::assignment).collect::<Vec<_>>();
            command.words.drain(..assignments.len());
            command.assignments = assignments;
        }
        if command != (Command { pipeline: self.pipeline, ..Command::default() }) {
            self.commands.push(command);
        }
    }

    fn redirect(&mut self, command: &mut Command) {
        if self.take("<<<") {
            let word = self.target();
            command.redirects.push(Redirect::Here(word));
        } else if self.take("<<") {
            let indented = self.take("-");
            let body = self.here_document(indented);
            command.redirects.push(Redirect::Here(body));
        } else if self.take("<&") {
            self.target();
        } else if self.take("<>") || self.take("<") {
            let word = self.target();
            command.redirects.push(Redirect::Read(word));
        } else {
            self.take(">");
            let append = self.take(">");
            self.take("|");
            let duplicates = self.take("&");
            let target = self.target();
            if !(duplicates && (target.digits() || target.is("-"))) {
                command.redirects.push(Redirect::Write { target, append, is_output: true });
            }
        }
    }

    fn target(&mut self) -> Word {
        self.take_while(|letter| matches!(letter, ' ' | '\t'));
        self.word()
    }

    fn here_document(&mut self, indented: bool) -> Word {
        let delimiter = self.target();
        let quoted = delimiter.parts.iter().any(|part| !matches!(part, WordPart::Text { quoted: false, .. }));
        let delimiter = delimiter.plain().unwrap_or_default();
        // A second here-document on the same line begins where the first ends.
        let (end, start) = self.document.filter(|(end, _)| *end >= self.at).unwrap_or_else(|| {
            let line_end = self.text[self.at..].find('\n').map_or(self.text.len(), |length| self.at + length);
            (line_end, line_end + 1)
        });
        let mut body = String::new();
        let mut at = start.min(self.text.len());
        while at < self.text.len() {
            let line = self.text[at..].split_inclusive('\n').next().unwrap_or_default();
            at += line.len();
            let line = if indented { line.trim_start_matches('\t') } else { line };
            if line.trim_end_matches(['\n', '\r']) == delimiter {
                break;
            }
            body.push_str(line);
        }
        self.document = Some((end, at));
        if quoted || self.depth >= DEEPEST {
            return Word { parts: vec![WordPart::Text { text: body, quoted: true }] };
        }
        quoted_text(&body, self.depth + 1, &self.budget)
    }

    fn word(&mut self) -> Word {
        let mut word = Word::default();
        while let Some(next) = self.peek() {
            match next {
                '<' | '>' if self.starts_with("<(") || self.starts_with(">(") => {
                    self.at += 1;
                    self.next();
                    let commands = self.substituted();
                    word.parts.push(WordPart::Process(commands));
                }
                ' ' | '\t' | '\r' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')' => break,
                '\\' => {
                    self.next();
                    if let Some(letter) = self.next().filter(|letter| *letter != '\n') {
                        word.push(letter, true);
                    }
                }
                '\'' => {
                    self.next();
                    word.open_quotes();
                    while let Some(letter) = self.next().filter(|letter| *letter != '\'') {
                        word.push(letter, true);
                    }
                }
                '"' => {
                    self.next();
                    word.open_quotes();
                    self.in_double_quotes(&mut word, true);
                }
                '$' => self.dollar(&mut word, false),
                '`' => self.backquoted(&mut word, false),
                letter => {
                    self.next();
                    word.push(letter, false);
                }
            }
        }
        word
    }

    /// Reads up to the closing quote, or up to the end of a here-document.
    fn in_double_quotes(&mut self, word: &mut Word, closed: bool) {
        while let Some(next) = self.peek() {
            match next {
                '"' if closed => {
                    self.next();
                    return;
                }
                '\\' => {
                    self.next();
                    match self.next() {
                        Some('\n') | None => {}
                        Some(letter @ ('$' | '`' | '\\')) => word.push(letter, true),
                        Some('"') if closed => word.push('"', true),
                        Some(letter) => {
                            word.push('\\', true);
                            word.push(letter, true);
                        }
                    }
                }
                '$' => self.dollar(word, true),
                '`' => self.backquoted(word, true),
                letter => {
                    self.next();
                    word.push(letter, true);
                }
            }
        }
    }

    fn dollar(&mut self, word: &mut Word, quoted: bool) {
        self.next();
        match self.peek() {
            Some('\'') if !quoted => {
                self.next();
                word.open_quotes();
                self.in_c_quotes(word);
            }
            Some('"') if !quoted => {
                self.next();
                word.open_quotes();
                self.in_double_quotes(word, true);
            }
            Some('(') => {
                if let Some(inside) = self.arithmetic_text() {
                    word.parts.push(WordPart::Unknown);
                    word.parts.extend(self.substitutions_in(&inside));
                } else {
                    self.next();
                    let commands = self.substituted();
                    word.parts.push(WordPart::Substitution { commands, quoted });
                }
            }
            Some('{') => {
                self.next();
                self.parameter(word, quoted);
            }
            Some(letter) if is_of_name(letter) => {
                let name = if letter.is_ascii_digit() {
                    self.next().map(String::from).unwrap_or_default()
                } else {
                    self.take_while(is_of_name).to_owned()
                };
                word.parts.push(WordPart::Variable { name, fallback: Vec::new(), quoted });
            }
            // Numbers about the shell itself.
            Some('#' | '?' | '$' | '!') => {
                self.next();
                word.push('0', true);
            }
            Some('@' | '*' | '-') => {
                self.next();
                word.parts.push(WordPart::Unknown);
            }
            _ => word.push('$', quoted),
        }
    }

    /// Reads the commands up to the closing parenthesis.
    fn substituted(&mut self) -> Vec<Command> {
        let outer = std::mem::take(&mut self.commands);
        self.pipeline += 1;
        self.deeper(|reader| reader.list(true));
        self.pipeline += 1;
        std::mem::replace(&mut self.commands, outer)
    }

    /// Reads the text between braces, from after the opening one to after the closing one.
    fn parameter(&mut self, word: &mut Word, quoted: bool) {
        let name = self.take_while(is_of_name).to_owned();
        let start = self.at;
        let mut open = 1;
        while let Some(letter) = self.next() {
            match letter {
                '\\' => {
                    self.next();
                }
                '{' => open += 1,
                '}' => open -= 1,
                _ => {}
            }
            if open == 0 {
                break;
            }
        }
        let inside = &self.text[start.min(self.at)..self.at];
        let inside = inside.strip_suffix('}').unwrap_or(inside).to_owned();
        let falls_back = inside.trim_start_matches(':').strip_prefix(['-', '=']);
        match falls_back {
            _ if inside.is_empty() => word.parts.push(WordPart::Variable { name, fallback: Vec::new(), quoted }),
            Some(fallback) if self.depth < DEEPEST => {
                let fallback = quoted_text(fallback, self.depth + 1, &self.budget).parts;
                word.parts.push(WordPart::Variable { name, fallback, quoted });
            }
            _ => {
                // The length of a value reveals nothing of it, nor does a text that replaces it if it is set.
                let length = name.is_empty() && !inside.starts_with('!');
                let replaced = inside.trim_start_matches(':').starts_with('+') && !inside.contains('$');
                word.parts.push(if length || replaced { WordPart::Unknown } else { WordPart::Made(name) });
                word.parts.extend(self.substitutions_in(&inside));
            }
        }
    }

    fn substitutions_in(&self, text: &str) -> Vec<WordPart> {
        if self.depth >= DEEPEST || !text.contains(['$', '`']) {
            return Vec::new();
        }
        let parts = quoted_text(text, self.depth + 1, &self.budget).parts.into_iter();
        parts.filter(|part| matches!(part, WordPart::Substitution { .. })).collect()
    }

    /// Skips `((...))`.
    fn arithmetic(&mut self) -> bool {
        self.arithmetic_text().is_some()
    }

    /// Skips `((` and `))` with the text between them and returns that, if it is next and on one line.
    fn arithmetic_text(&mut self) -> Option<String> {
        let rest = self.text[self.at..].strip_prefix("((")?;
        let mut open = 2_usize;
        for (at, letter) in rest.char_indices() {
            match letter {
                '\n' => return None,
                '(' => open += 1,
                ')' => open -= 1,
                _ => {}
            }
            if open == 1 && !rest[at + 1..].starts_with(')') && letter == ')' {
                return None;
            }
            if open == 0 {
                self.at += at + 3;
                return Some(rest[..at - 1].to_owned());
            }
        }
        None
    }

    fn backquoted(&mut self, word: &mut Word, quoted: bool) {
        self.next();
        let mut inside = String::new();
        while let Some(letter) = self.next().filter(|letter| *letter != '`') {
            match (letter, self.peek()) {
                ('\\', Some(escaped @ ('`' | '\\' | '$'))) => {
                    self.next();
                    inside.push(escaped);
                }
                _ => inside.push(letter),
            }
        }
        let commands =
            if self.depth < DEEPEST { nested_commands(&inside, self.depth + 1, &self.budget) } else { Vec::new() };
        word.parts.push(WordPart::Substitution { commands, quoted });
    }

    /// Reads the rest of `$'...'`.
    fn in_c_quotes(&mut self, word: &mut Word) {
        while let Some(letter) = self.next().filter(|letter| *letter != '\'') {
            if letter != '\\' {
                word.push(letter, true);
                continue;
            }
            let Some(escaped) = self.next() else { return };
            let code = match escaped {
                'x' => self.number(2, 16),
                'u' => self.number(4, 16),
                'U' => self.number(8, 16),
                '0'..='7' => {
                    self.at -= 1;
                    self.number(3, 8)
                }
                'n' => Some('\n'),
                't' => Some('\t'),
                'r' => Some('\r'),
                'e' | 'E' => Some('\u{1b}'),
                other => Some(other),
            };
            if let Some(letter) = code {
                word.push(letter, true);
            }
        }
    }

    fn number(&mut self, longest: usize, base: u32) -> Option<char> {
        let digits: String =
            self.text[self.at..].chars().take(longest).take_while(|letter| letter.is_digit(base)).collect();
        self.at += digits.len();
        u32::from_str_radix(&digits, base).ok().and_then(char::from_u32)
    }
}

/// A text in which only variables and commands are replaced.
fn quoted_text(text: &str, depth: usize, budget: &RereadBudget) -> Word {
    let mut reader = Reader::new(text, depth, budget);
    let mut word = Word::default();
    word.open_quotes();
    reader.in_double_quotes(&mut word, false);
    word
}
