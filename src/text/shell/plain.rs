//! A strict reading of a command line: it is split exactly as every shell does it, or it is refused.
//!
//! Made for the guard, which must be certain. [`super::runs`] gets something out of every text; this refuses each
//! construct that shells read differently, or after which it could not say what is quoted.

/// The parts of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PlainLine {
    /// The words of each command, including those in `$(...)`, without the variables set before them.
    pub(crate) commands: Vec<Vec<PlainWord>>,
    /// Variables that are set before a command, or instead of one.
    pub(crate) assigned: Vec<Assignment>,
    /// Files that output is written to.
    pub(crate) written: Vec<PlainWord>,
    /// Whether a command is run for its output.
    pub(crate) substitutes: bool,
    /// Whether a line break ends a command, with more text before and after it.
    pub(crate) has_lines: bool,
    /// Whether there is anything except assignments and words: separators, redirections, parentheses, comments, `!`.
    pub(crate) has_marks: bool,
}

/// A variable that is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Assignment {
    pub(crate) name: String,
    pub(crate) value: PlainWord,
}

/// A word with its quotes removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PlainWord {
    pub(crate) text: String,
    /// Whether the shell replaces it: because of a variable, a command or a pattern.
    pub(crate) is_made: bool,
    /// The position of the first `=` outside quotes.
    equals: Option<usize>,
    /// Whether it contains quotes, so that it is a word even if it is empty.
    is_quoted: bool,
}

/// A construct in the line that is not supported here, for a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotPlain(pub(crate) &'static str);

/// Longer lines are not read.
const LONGEST: usize = 64 * 1024;

/// The maximum depth of nested parentheses.
const DEEPEST: usize = 16;

/// Words at the place of a command that are followed by one.
const BEFORE_COMMANDS: &[&str] = &["!", "{", "}", "if", "then", "elif", "else", "fi", "while", "until", "do", "done"];

impl PlainLine {
    pub(crate) fn read(line: &str) -> Result<Self, NotPlain> {
        if line.len() > LONGEST {
            return Err(NotPlain("more than 64 KB of text"));
        }
        let mut reader = PlainReader { text: line, at: 0, depth: 0, line: Self::default(), began: false, broke: false };
        reader.list(false)?;
        Ok(reader.line)
    }
}

struct PlainReader<'text> {
    text: &'text str,
    at: usize,
    depth: usize,
    line: PlainLine,
    /// Whether anything was read, and whether a line break came after it.
    began: bool,
    broke: bool,
}

const PARENTHESES: NotPlain = NotPlain("a parenthesis without quotes");
const OPEN_QUOTES: NotPlain = NotPlain("a quote that is not closed");
const DOLLAR: NotPlain = NotPlain("`$` with more than the name of a variable");
const COMMAND_IN_WORDS: NotPlain = NotPlain("a command inside its words");
const CONTINUED: NotPlain = NotPlain("`\\` at the end of a line without a space before it");
const COMMENT: NotPlain = NotPlain("`#` without a space before it");

impl PlainReader<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn take(&mut self, mark: &str) -> bool {
        let found = self.text[self.at..].starts_with(mark);
        if found {
            self.at += mark.len();
        }
        found
    }

    fn last(&self) -> Option<char> {
        self.text[..self.at].chars().next_back()
    }

    /// Reads commands up to the end, or up to the `)` that closes them.
    fn list(&mut self, is_closed: bool) -> Result<(), NotPlain> {
        let mut words: Vec<PlainWord> = Vec::new();
        // True while the command is empty.
        let mut fresh = true;
        loop {
            let next = self.peek();
            if !matches!(next, None | Some(' ' | '\t' | '\n')) {
                self.line.has_lines |= self.began && self.broke;
                self.began = true;
            }
            self.line.has_marks |= matches!(next, Some('#' | ';' | '&' | '|' | '(' | ')' | '<' | '>'));
            match next {
                None if is_closed => return Err(PARENTHESES),
                None => {
                    self.finish(&mut words);
                    return Ok(());
                }
                Some(' ' | '\t') => {
                    self.next();
                }
                Some('\n') => {
                    self.finish(&mut words);
                    (fresh, self.broke) = (true, true);
                    self.next();
                }
                // Between blanks, it cannot join two parts.
                Some('\\') if self.text[self.at..].starts_with("\\\n") => {
                    if !matches!(self.last(), None | Some(' ' | '\t')) {
                        return Err(CONTINUED);
                    }
                    self.at += 2;
                    if self.peek() == Some('#') {
                        return Err(COMMENT);
                    }
                }
                Some('#') => {
                    if !matches!(self.last(), None | Some(' ' | '\t' | '\n')) {
                        return Err(COMMENT);
                    }
                    self.at += self.text[self.at..].find('\n').unwrap_or(self.text.len() - self.at);
                }
                Some('&') if self.take("&>") => {
                    self.at -= 1;
                    self.redirect()?;
                    fresh = false;
                }
                Some(';' | '&' | '|') => {
                    self.finish(&mut words);
                    fresh = true;
                    self.next();
                }
                Some('(') if fresh => {
                    self.next();
                    self.nested()?;
                    fresh = false;
                }
                Some(')') if is_closed => {
                    self.finish(&mut words);
                    self.next();
                    return Ok(());
                }
                Some('(' | ')') => return Err(PARENTHESES),
                Some('<' | '>') => {
                    self.redirect()?;
                    fresh = false;
                }
                Some(_) => {
                    let word = self.word()?;
                    let is_number = !word.is_quoted && word.text.bytes().all(|digit| digit.is_ascii_digit());
                    if is_number && matches!(self.peek(), Some('<' | '>')) {
                        continue;
                    }
                    if !words.is_empty() {
                        words.push(word);
                    } else if let Some(equals) = word.equals {
                        let name = word.text[..equals].trim_end_matches('+').to_owned();
                        let value = PlainWord { text: word.text[equals + 1..].to_owned(), equals: None, ..word };
                        self.line.assigned.push(Assignment { name, value });
                        fresh = false;
                    } else if !BEFORE_COMMANDS.contains(&word.text.as_str()) {
                        words.push(word);
                        fresh = false;
                    } else {
                        self.line.has_marks = true;
                    }
                }
            }
        }
    }

    fn finish(&mut self, words: &mut Vec<PlainWord>) {
        if !words.is_empty() {
            self.line.commands.push(std::mem::take(words));
        }
    }

    /// Reads the commands in parentheses, from after the opening one to after the closing one.
    fn nested(&mut self) -> Result<(), NotPlain> {
        // `((` is arithmetic, `()` begins a function.
        let empty = self.text[self.at..].trim_start_matches([' ', '\t']).starts_with(')');
        if self.peek() == Some('(') || empty || self.depth >= DEEPEST {
            return Err(PARENTHESES);
        }
        self.depth += 1;
        self.list(true)?;
        self.depth -= 1;
        Ok(())
    }

    fn redirect(&mut self) -> Result<(), NotPlain> {
        // `{name}>file` sets a variable.
        if self.last() == Some('}') {
            return Err(NotPlain("a redirection after `}`"));
        }
        if self.take("<(") || self.take(">(") {
            return Err(COMMAND_IN_WORDS);
        }
        if self.take("<<") {
            return Err(NotPlain("a here-document"));
        }
        let writes = self.take("<>") || self.take(">");
        if writes {
            self.take(">");
            self.take("|");
        } else {
            self.take("<");
        }
        let duplicates = self.take("&");
        while self.take(" ") || self.take("\t") {}
        let target = self.word()?;
        if target.text.is_empty() && !target.is_quoted && !target.is_made {
            return Err(NotPlain("a redirection without a file"));
        }
        let number = target.text.strip_suffix('-').unwrap_or(&target.text);
        let is_number = !target.is_made && number.bytes().all(|digit| digit.is_ascii_digit());
        if writes && !(duplicates && is_number) {
            self.line.written.push(target);
        }
        Ok(())
    }

    fn word(&mut self) -> Result<PlainWord, NotPlain> {
        let mut word = PlainWord::default();
        while let Some(next) = self.peek() {
            match next {
                ' ' | '\t' | '\n' | ';' | '&' | '|' | '(' | ')' | '<' | '>' => break,
                '\\' => {
                    self.next();
                    match self.next() {
                        None => return Err(OPEN_QUOTES),
                        Some('\n') => return Err(CONTINUED),
                        Some(letter) => word.text.push(letter),
                    }
                    word.is_quoted = true;
                }
                '\'' => {
                    self.next();
                    let rest = &self.text[self.at..];
                    let end = rest.find('\'').ok_or(OPEN_QUOTES)?;
                    word.text.push_str(&rest[..end]);
                    word.is_quoted = true;
                    self.at += end + 1;
                }
                '"' => {
                    self.next();
                    word.is_quoted = true;
                    self.in_double_quotes(&mut word)?;
                }
                '$' => self.dollar(&mut word, false)?,
                '`' => return Err(COMMAND_IN_WORDS),
                control if control.is_control() => return Err(NotPlain("a control character")),
                letter => {
                    self.next();
                    word.is_made |= matches!(letter, '*' | '?' | '[' | '{' | '}' | '^');
                    if letter == '=' && word.equals.is_none() {
                        word.equals = Some(word.text.len());
                    }
                    word.text.push(letter);
                }
            }
        }
        // As a separate word it is a command.
        word.is_made &= word.text != "[" && word.text != "[[";
        Ok(word)
    }

    fn in_double_quotes(&mut self, word: &mut PlainWord) -> Result<(), NotPlain> {
        while let Some(next) = self.peek() {
            match next {
                '"' => {
                    self.next();
                    return Ok(());
                }
                '$' => self.dollar(word, true)?,
                '`' => return Err(COMMAND_IN_WORDS),
                '\\' => {
                    self.next();
                    match self.next() {
                        None => break,
                        Some('\n') => {}
                        Some(letter @ ('$' | '`' | '"' | '\\')) => word.text.push(letter),
                        Some(letter) => word.text.extend(['\\', letter]),
                    }
                }
                letter => {
                    self.next();
                    word.text.push(letter);
                }
            }
        }
        Err(OPEN_QUOTES)
    }

    fn dollar(&mut self, word: &mut PlainWord, is_quoted: bool) -> Result<(), NotPlain> {
        self.next();
        match self.peek() {
            Some('(') => {
                self.next();
                self.line.substitutes = true;
                self.nested()?;
            }
            Some('{') => {
                self.next();
                if self.name().is_empty() || !self.take("}") {
                    return Err(DOLLAR);
                }
            }
            Some(letter) if letter.is_ascii_alphabetic() || letter == '_' => {
                self.name();
            }
            Some(letter) if letter.is_ascii_digit() || "?#!@*-".contains(letter) => {
                self.next();
            }
            // A literal dollar.
            None | Some(' ' | '\t' | '\n' | '.' | ',' | ';' | ':' | '/' | '%' | ')') => {
                word.text.push('$');
                return Ok(());
            }
            Some('"' | '\'') if is_quoted => {
                word.text.push('$');
                return Ok(());
            }
            Some(_) => return Err(DOLLAR),
        }
        // Some shells read this as an element of a list, and run what is inside.
        if self.peek() == Some('[') {
            return Err(DOLLAR);
        }
        word.is_made = true;
        word.is_quoted |= is_quoted;
        Ok(())
    }

    fn name(&mut self) -> &str {
        let rest = &self.text[self.at..];
        let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let length = rest.find(|letter| !is_of_name(letter)).unwrap_or(rest.len());
        let length = if rest.starts_with(|first: char| first.is_ascii_digit()) { 0 } else { length };
        self.at += length;
        &rest[..length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> PlainLine {
        PlainLine::read(line).unwrap_or_else(|NotPlain(what)| panic!("{line}: {what}"))
    }

    fn commands(line: &str) -> Vec<String> {
        let words = |words: &Vec<PlainWord>| words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join("|");
        read(line).commands.iter().map(words).collect()
    }

    #[test]
    fn plain_lines_are_split() {
        assert_eq!(commands("p x 'a > b; $(c) `d`' \"it's\" a\\ b"), ["p|x|a > b; $(c) `d`|it's|a b"]);
        assert_eq!(commands("p 'a\nb' \"c\nd\" \\\n  e # it's\n"), ["p|a\nb|c\nd|e"]);
        assert_eq!(commands("a && b||c;d | e & f\n\ng"), ["a", "b", "c", "d", "e", "f", "g"]);
        assert_eq!(commands("if a; then ! b; fi; { c; }; (d x; e)"), ["a", "b", "c", "d|x", "e"]);
        assert_eq!(commands("A=1 b A=2; \"A=3\" c; C= D+=x"), ["b|A=2", "A=3|c"]);
        let assigned = read("A=1 b A=2; \"A=3\" c; C= D+=x E=\"y z\"").assigned;
        let assigned = assigned.iter().map(|set| (set.name.as_str(), set.value.text.as_str()));
        assert!(assigned.eq([("A", "1"), ("C", ""), ("D", "x"), ("E", "y z")]));
        assert!(
            ["a; b", "a &", "(a)", "a # b", "! a", "a < b", "a 2>&1", "{ a; }"].iter().all(|line| read(line).has_marks)
        );
        assert!(["A=1 a b=c", "a ';#&' \\; \"|\"", "a\\ b", ""].iter().all(|line| !read(line).has_marks));
        assert_eq!(commands("2>&1 a 1 2>b"), ["a|1"]);
        assert_eq!(
            commands("a $x \"${y}\" $1 $? cost$ \"5$\" $(b $(c) \"$(d)\") e"),
            ["c", "d", "b||", "a|||||cost$|5$||e"]
        );
        assert!(read("a $(b)").substitutes && !read("a '$(b)' \\$b").substitutes);
        assert!(
            read("$x/a *.b {c,d} 'e*' f").commands[0]
                .iter()
                .map(|word| word.is_made)
                .eq([true, true, true, false, false])
        );
        assert_eq!(commands("[ -f a ] && b"), ["[|-f|a|]", "b"]);
    }

    #[test]
    fn files_that_are_written_are_listed() {
        let written = |line: &str| read(line).written.into_iter().map(|word| word.text).collect::<Vec<_>>().join(" ");
        assert_eq!(
            written("a >b 2>> c &> d >| e 1<> f >& g <h >i\\ j 2>&1 >&- <&3 2>/dev/null"),
            "b c d e f g i j /dev/null"
        );
        assert_eq!(written("a '> b' \"> c\" \\> d # > e"), "");
        assert_eq!(written("{ a; } > b; (c) > \"d\"; > e f $(g > h)"), "b d e h");
    }

    #[test]
    fn line_breaks_count_where_they_end_a_command() {
        for line in
            ["a\nb", "a # x\nb", "# x\na", "a\n# x", "a &&\nb", "a '\n'\nb", "a # \\\nb", "a b\\\\\nc", "$(a\nb)"]
        {
            assert!(read(line).has_lines, "{line}");
        }
        for line in ["a", "\n a \n\n", "a \\\n b", "a '\n'", "a \"\n\"", "a \\\n  --b '\nc' # d"] {
            assert!(!read(line).has_lines, "{line}");
        }
    }

    #[test]
    fn text_that_shells_read_differently_is_refused() {
        for line in [
            "a `b`",
            "a \"`b`\"",
            "a <(b)",
            "a >(b)",
            "a $'b'",
            "a $\"b\"",
            "a <<E\nE",
            "a <<< b",
            "((a))",
            "a $((1))",
            "a $[1]",
            "a ${b:-c}",
            "a \"${b%c}\"",
            "a ${!b}",
            "a ${#b}",
            "a ${b",
            "a $b[1]",
            "a \"${b}[1]\"",
            "a $~b",
            "f() { a; }",
            "f () a",
            "() a",
            "( ) a",
            "a=(b)",
            "a (b)",
            "case a in b) c;; esac",
            "a !(b)",
            "a *(e:b:)",
            "a =(b)",
            "a 'b",
            "a \"b",
            "a \\",
            "a b\\\nc",
            "a;\\\nb",
            "a $\\\n(b)",
            "(\\\n(a))",
            "a;#b",
            "a \\\n#b",
            "a \rb",
            "a\r\nb",
            "{a}>b",
            "a >",
            "a > ;b",
            "a > \\\nb",
            "a >(b",
            "a)",
            "(a",
            "$(a # b)",
            "a 2>\\\n&1",
            "a |\\\n| b",
            "a \0",
        ] {
            assert!(PlainLine::read(line).is_err(), "{line:?}: {:?}", PlainLine::read(line));
        }
        assert!(PlainLine::read(&":;".repeat(LONGEST)).is_err());
        assert!(PlainLine::read(&"(".repeat(1_000)).is_err() && PlainLine::read(&"a $(".repeat(1_000)).is_err());
        assert_eq!(read(&":;".repeat(10_000)).commands.len(), 10_000);
    }
}
