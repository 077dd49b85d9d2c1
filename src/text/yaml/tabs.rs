//! Finds tabs that separate values: our parser accepts them, `PyYAML` does not (6.0.3, 2026-11-30).

/// The first tab that is not part of a text or a comment. The text must parse.
pub(super) fn between_values(text: &str) -> Option<usize> {
    if !text.contains('\t') {
        return None;
    }
    let (mut quote, mut block, mut start) = (None, None, 0);
    for line in text.split_inclusive('\n') {
        let indent = line.len() - line.trim_start_matches(' ').len();
        let is_blank = line.trim().is_empty();
        // A line of a block is below its key; lines of blanks belong to it too.
        let in_block = block.is_some_and(|above: Option<usize>| {
            above.is_none_or(|above| indent > above) || (is_blank && !line.contains('\t'))
        });
        if !in_block {
            block = None;
            if let Some(at) = outside(line, &mut quote) {
                return Some(start + at);
            }
            if quote.is_none() {
                block = opened(line);
            }
        }
        start += line.len();
    }
    None
}

/// The first tab of a line outside of texts in quotes and a comment; `quote` is the one that is open.
fn outside(line: &str, quote: &mut Option<char>) -> Option<usize> {
    let mut before = None;
    let mut letters = line.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        match (*quote, letter) {
            (Some('"'), '\\') => drop(letters.next()),
            (Some(open), _) => {
                // In single quotes, two of them stand for one.
                let is_twice = open == '\'' && letter == open && letters.next_if(|(_, next)| *next == open).is_some();
                if letter == open && !is_twice {
                    *quote = None;
                }
            }
            (None, '\t') => return Some(at),
            (None, '#') if line[..at].is_empty() || line[..at].ends_with(' ') => return None,
            (None, '"' | '\'') if begins_value(&line[..at], before) => *quote = Some(letter),
            (None, _) => {}
        }
        if !letter.is_whitespace() {
            before = Some(letter);
        }
    }
    None
}

/// True if a value may begin after this part of a line, whose last letter is `before`.
fn begins_value(line: &str, before: Option<char>) -> bool {
    match before {
        None | Some('[' | '{' | ',') => true,
        Some(':' | '-' | '?') => line.ends_with(' '),
        // A tag or an anchor.
        Some(_) => {
            line.ends_with(' ') && line.split_whitespace().next_back().is_some_and(|word| word.starts_with(['!', '&']))
        }
    }
}

/// The indentation that the lines of a block after this line must exceed, if it opens one; `Some(None)` for a block that is
/// the whole document.
#[expect(clippy::option_option, reason = "a block of the whole document is below nothing")]
fn opened(line: &str) -> Option<Option<usize>> {
    let line = line.split(" #").next().unwrap_or_default().trim_end();
    let (head, last) = line.rsplit_once(' ').unwrap_or(("", line));
    let mut marks = last.chars();
    if !matches!(marks.next(), Some('|' | '>')) || !marks.all(|mark| matches!(mark, '+' | '-' | '1'..='9')) {
        return None;
    }
    if head.trim().is_empty() || head.trim() == "---" {
        return Some(None);
    }
    // The key or the last dash that the block belongs to.
    let mut column = 0;
    let mut rest = head;
    loop {
        let bare = rest.trim_start_matches(' ');
        let indent = column + rest.len() - bare.len();
        match bare.strip_prefix('-') {
            Some(after) if after.starts_with(' ') && !after.trim().is_empty() => (column, rest) = (indent + 1, after),
            _ => return Some(Some(indent)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tabs_between_values_are_found() {
        let found = [
            "a: x\t# c\n",
            "a:\tx\n",
            "a: x\t\n",
            "a: |\n  t\tx\nb:\t1\n",
            "- k: |\n    t\tx\n  b:\t1\n",
            "\t\n",
            "a: it's\tb\n",
            "a: 'x'\t\n",
            "a: \"x\"\t# c\n",
            "- |\n  t\n-\tx\n",
        ];
        for text in found {
            assert!(between_values(text).is_some(), "{text:?}");
        }
        let none = [
            "a: x # c\td\n#\tx\n  #\ty\n",
            "a: \"x\ty\n  \tz \\\" \t\" # m\n",
            "a: 'it''s\tx'\nb: {c: 'd\te', f: [\"g\th\"]}\n",
            "a: |\n  x\n  \ty\n\n  \tz\nb: 1\n",
            "a: !t |-\n  \ty\n",
            "- - >2 # c\n    \tx\n- b: |+\n    \ty\n  c: 1\n",
            "--- |\n\tx\n",
            "|\n\tx\n",
            "a: &b \"\t\"\n",
        ];
        for text in none {
            assert_eq!(between_values(text), None, "{text:?}");
        }
    }
}
