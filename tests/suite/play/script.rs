//! The texts that a conversation was shown, and how a line of them becomes a call.

/// The texts that a conversation was shown so far, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Shown(Vec<String>);

/// Fills a placeholder of a line: the beginning of its name, and the value.
pub(crate) type Fill<'a> = (&'a str, &'a str);

impl Shown {
    pub(crate) fn push(&mut self, text: &str) {
        self.0.push(unnumbered(text));
    }

    /// True if these words appear in a text, whatever the line breaks.
    pub(crate) fn holds(&self, quote: &str) -> bool {
        let quote = flat(quote);
        self.0.iter().any(|text| flat(text).contains(&quote))
    }

    /// The code that contains `fragment`: a line of a fenced block, or text between backticks. The last shown text is
    /// searched first.
    pub(crate) fn code(&self, fragment: &str) -> Option<String> {
        self.0.iter().rev().find_map(|text| codes(text).into_iter().find(|code| code.contains(fragment)))
    }

    /// The whole fenced block that contains `fragment`.
    pub(crate) fn block(&self, fragment: &str) -> Option<String> {
        self.0.iter().rev().find_map(|text| blocks(text).into_iter().find(|block| block.contains(fragment)))
    }

    /// The text between two words, in the last shown text that has it.
    pub(crate) fn between(&self, begin: &str, end: &str) -> Option<String> {
        self.0.iter().rev().find_map(|text| {
            let inner = text.split(begin).skip(1).find_map(|after| after.split_once(end).map(|(inner, _)| inner));
            inner.filter(|inner| inner.contains('\n')).map(str::to_owned)
        })
    }

    /// The word after `key`, in the last shown text that has it.
    pub(crate) fn after(&self, key: &str) -> Option<String> {
        let words = |text: &String| {
            let found = text.split(key).skip(1).find_map(|rest| rest.split_whitespace().next());
            found.map(str::to_owned)
        };
        self.0.iter().rev().find_map(words)
    }

    /// Every word of the texts that contains `part` and looks like a path, the last text first.
    pub(crate) fn paths(&self, part: &str) -> Vec<String> {
        let ends = |character: char| character.is_whitespace() || "\"'`()<>@,;=|".contains(character);
        let words = |text: &String| {
            let words = text.split(ends).filter(|word| word.contains(part) && word.contains('/'));
            words.map(|word| word.trim_end_matches(['.', ':']).to_owned()).collect::<Vec<_>>()
        };
        self.0.iter().rev().flat_map(words).collect()
    }
}

/// One line, single spaces.
pub(crate) fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Removes the line numbers that some clients put before each line of a file.
fn unnumbered(text: &str) -> String {
    let bare = |line: &str| {
        let digits = line.trim_start().trim_start_matches(|character: char| character.is_ascii_digit());
        let numbered = digits.len() < line.trim_start().len();
        let rest = ["\t", "→", "| ", ": "].iter().find_map(|mark| digits.strip_prefix(mark));
        if numbered { rest.unwrap_or(line).to_owned() } else { line.to_owned() }
    };
    text.lines().map(bare).collect::<Vec<_>>().join("\n")
}

/// A list item may open a block: `1. ```text`.
fn is_fence(line: &str) -> bool {
    line.contains("```") && line.matches('`').count() == 3
}

fn codes(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut paragraph = String::new();
    let (mut fenced, mut open_line) = (false, false);
    let end = |paragraph: &mut String, found: &mut Vec<String>| {
        found.extend(paragraph.split('`').skip(1).step_by(2).map(flat));
        paragraph.clear();
    };
    for line in text.lines() {
        if is_fence(line) {
            end(&mut paragraph, &mut found);
            fenced = !fenced;
            open_line = false;
        } else if fenced {
            // A call may continue: after a backslash, or within quotes.
            let begun = found.last().filter(|_| open_line);
            let line = begun.map_or_else(|| line.trim().to_owned(), |begun| format!("{begun} {}", line.trim()));
            if open_line {
                found.pop();
            }
            let whole = without_comment(&line);
            open_line = whole.ends_with('\\') || whole.matches('\'').count() % 2 == 1;
            found.push(whole.trim_end_matches('\\').trim().to_owned());
        } else if line.trim().is_empty() || line.trim_start().starts_with(['|', '-']) {
            end(&mut paragraph, &mut found);
            paragraph.push_str(line);
        } else {
            paragraph.push('\n');
            paragraph.push_str(line);
        }
    }
    end(&mut paragraph, &mut found);
    found
}

fn without_comment(line: &str) -> &str {
    line.split("  #").next().unwrap_or(line).trim()
}

fn blocks(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut block: Option<(usize, Vec<&str>)> = None;
    for line in text.lines() {
        let line_indent = line.len() - line.trim_start().len();
        if let Some((indent, lines)) = &mut block {
            if is_fence(line) {
                found.push(lines.join("\n"));
                block = None;
            } else {
                lines.push(line.get((*indent).min(line_indent)..).unwrap_or(line));
            }
        } else if is_fence(line) {
            let indent = line.find("```").unwrap_or(0);
            block = Some((indent, Vec::new()));
        }
    }
    found
}

/// `text` with its placeholders filled: `{words}` by the fill whose name they begin with, otherwise by `known`.
///
/// A fill that names no placeholder replaces the word itself. A placeholder that stays empty, or a fill without a
/// place, is an error.
pub(crate) fn filled(text: &str, fills: &[Fill<'_>], known: impl Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut used = vec![false; fills.len()];
    let mut result = String::new();
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        let Some(length) = rest[open..].find('}') else { break };
        // A placeholder may contain others.
        let length = closing(&rest[open..]).unwrap_or(length);
        let name = &rest[open + 1..open + length];
        result.push_str(&rest[..open]);
        let fill = fills.iter().position(|(begin, _)| begins_with_words(&flat(name), begin));
        match fill {
            Some(at) => {
                used[at] = true;
                result.push_str(fills[at].1);
            }
            // Commands and JSON have their own braces.
            None if name.starts_with('"') || !name.contains(|character: char| character.is_ascii_alphabetic()) => {
                result.push_str(&rest[open..=open + length]);
            }
            None => match known(name) {
                Some(value) => result.push_str(&value),
                None => return Err(format!("nothing is known for {{{name}}}")),
            },
        }
        rest = &rest[open + length + 1..];
    }
    result.push_str(rest);
    for (at, (word, value)) in fills.iter().enumerate() {
        if !used[at] {
            if !result.contains(word) {
                return Err(format!("nothing stands there to be filled for {word}"));
            }
            result = result.replace(word, value);
        }
    }
    Ok(result.trim_end().to_owned())
}

fn begins_with_words(name: &str, begin: &str) -> bool {
    let goes_on = |character: char| character.is_ascii_alphanumeric() || character == '_';
    name.strip_prefix(begin).is_some_and(|rest| !begin.ends_with(goes_on) || !rest.starts_with(goes_on))
}

fn closing(text: &str) -> Option<usize> {
    let mut depth = 0;
    text.char_indices().find_map(|(at, character)| {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        (depth == 0).then_some(at)
    })
}

mod tests {
    use super::*;

    const TEXT: &str = "# Quick\n\n1. Run `~/x/gsd-tools init quick \"{task}\"` now, then\n   `git add\n   FILES`.\n\n\
                        ```bash\ngsd-tools commit \"docs: {NN} x\" --files {a, b of the folder}   # once\n```\n\n\
                        1. ```\n   Task(prompt=\"\n   Do {N}\n     deep\")\n   ```\n";

    fn shown() -> Shown {
        let mut shown = Shown::default();
        let numbered: Vec<String> = TEXT.lines().enumerate().map(|(at, line)| format!("{}\t{line}", at + 1)).collect();
        shown.push(&numbered.join("\n"));
        shown
    }

    #[test]
    fn a_call_is_the_code_around_its_fragment() {
        let shown = shown();
        assert_eq!(shown.code("gsd-tools init quick").unwrap(), "~/x/gsd-tools init quick \"{task}\"");
        assert_eq!(shown.code("git add").unwrap(), "git add FILES");
        assert_eq!(
            shown.code("gsd-tools commit").unwrap(),
            "gsd-tools commit \"docs: {NN} x\" --files {a, b of the folder}"
        );
        assert_eq!(shown.code("gsd-tools commit --amend"), None);
        assert_eq!(shown.block("Task(").unwrap(), "Task(prompt=\"\nDo {N}\n  deep\")");
        assert!(shown.holds("then `git add FILES`") && !shown.holds("then `git add .`"));
    }

    #[test]
    fn placeholders_are_filled_by_their_first_words_and_none_stays_empty() {
        let known = |name: &str| (name == "NN").then(|| "01".to_owned());
        let line = "commit \"docs: {NN} x\" --files {a, b of the folder} FILES @{3}";
        let fill = |fills: &[Fill<'_>]| filled(line, fills, known);
        assert_eq!(
            fill(&[("a, b", "one two"), ("FILES", "f")]).unwrap(),
            "commit \"docs: 01 x\" --files one two f @{3}"
        );
        assert!(fill(&[]).unwrap_err().contains("{a, b of the folder}"));
        assert!(fill(&[("a", ""), ("none", "f")]).unwrap_err().contains("none"));
        assert_eq!(filled("{only if x: {y} z}end", &[("only if", "")], known).unwrap(), "end");
        let json = r#"set '{"mode":"a","deep":{"x":true}}'"#;
        assert_eq!(filled(json, &[("\"a\"", "\"b\"")], known).unwrap(), json.replace("\"a\"", "\"b\""));
    }
}
