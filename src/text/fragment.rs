//! Our marked block inside a text file of another owner: inserted, replaced, removed.
//!
//! The block is between two lines that only we write. Nothing outside those lines is ever changed, and inserting a
//! block and removing it again restores the original bytes. The caller chooses the contents of the block and the marker
//! lines.

use std::fmt;
use std::ops::Range;

use super::edit::without_mark;
use super::markdown::newline_of;

/// A block between an opening and a closing marker line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Marked {
    open: String,
    close: String,
}

/// Why a block was not touched. The owner must look at the file. Lines are counted from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MarkedError {
    /// The opening marker on this line has no closing marker after it.
    Unclosed { line: usize, close: String },
    /// The closing marker on this line has no opening marker before it.
    Unopened { line: usize },
    /// A merge conflict begins on this line.
    Conflict { line: usize },
}

impl fmt::Display for MarkedError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MarkedError::Unclosed { line, .. } => {
                write!(formatter, "line {line}: our block begins here and is not closed")
            }
            MarkedError::Unopened { line } => write!(formatter, "line {line}: our block ends here and is not opened"),
            MarkedError::Conflict { line } => write!(formatter, "line {line}: a merge conflict begins here"),
        }
    }
}

impl std::error::Error for MarkedError {}

impl MarkedError {
    /// What the owner of the file can change so that the block can be written or removed.
    pub(crate) fn cure(&self) -> String {
        match self {
            MarkedError::Unclosed { close, .. } => {
                format!("remove our block, or add the line `{close}` after it")
            }
            MarkedError::Unopened { line } => format!("remove our block, which ends on line {line}"),
            MarkedError::Conflict { .. } => "resolve the conflict".to_owned(),
        }
    }
}

impl Marked {
    /// A block between these two lines, such as `<!-- ours -->` and `<!-- /ours -->`.
    pub(crate) fn new(open: impl Into<String>, close: impl Into<String>) -> Self {
        Marked { open: open.into(), close: close.into() }
    }

    /// Refuses a text in which it is not certain what belongs to the block.
    pub(crate) fn check(&self, text: &str) -> Result<(), MarkedError> {
        let (mut is_open, mut fence, mut conflict) = (false, None, None);
        for (number, line) in lines(text).enumerate() {
            let (line, number) = (without_mark(line).0.trim_end(), number + 1);
            let mark = ["```", "~~~"].into_iter().find(|mark| line.trim_start().starts_with(mark));
            match (fence, mark) {
                (None, Some(_)) => fence = mark,
                (Some(open), Some(mark)) if open == mark => fence = None,
                _ => {}
            }
            match conflict {
                None if fence.is_none() && line.starts_with("<<<<<<< ") => conflict = Some((number, false)),
                Some((begin, false)) if line == "=======" => conflict = Some((begin, true)),
                Some((line_of_begin, true)) if line.starts_with(">>>>>>> ") => {
                    return Err(MarkedError::Conflict { line: line_of_begin });
                }
                _ => {}
            }
            if line == self.open {
                is_open = true;
            } else if line == self.close && !std::mem::take(&mut is_open) {
                return Err(MarkedError::Unopened { line: number });
            }
        }
        Ok(())
    }

    /// The first and the last line of each block, counted from 1.
    pub(crate) fn ranges(&self, text: &str) -> Vec<(usize, usize)> {
        let (mut found, mut position) = (Vec::new(), 0);
        while let Ok(Some(block)) = self.find(text, position) {
            found.push((line_number(text, block.lines.start), line_number(text, block.body.end)));
            position = block.lines.end;
        }
        found
    }

    /// The text between the marker lines of `text`; `None` if it has no block.
    pub(crate) fn body<'text>(&self, text: &'text str) -> Result<Option<&'text str>, MarkedError> {
        Ok(self.find(text, 0)?.map(|found| &text[found.body]))
    }

    /// Returns `text` with `body` in the block: in the existing one, or in a new one after a blank line at the end. The
    /// body gets the line ending of the file. A second block, left by accident, is removed.
    pub(crate) fn put(&self, text: &str, body: &str) -> Result<String, MarkedError> {
        let Some(found) = self.find(text, 0)? else {
            return Ok(self.append(text, body));
        };
        let mut result = String::with_capacity(text.len() + body.len());
        result.push_str(&text[..found.body.start]);
        push_lines(&mut result, body, ending_of(text));
        result.push_str(&text[found.body.end..found.lines.end]);
        let rest = self.remove(&text[found.lines.end..]).map_err(|error| error.further(text, found.lines.end))?;
        result.push_str(&rest);
        Ok(result)
    }

    /// Returns `text` without the block. Empty if the file contained nothing else; it can then be removed.
    pub(crate) fn remove(&self, text: &str) -> Result<String, MarkedError> {
        let mut result = String::with_capacity(text.len());
        let mut position = 0;
        while let Some(found) = self.find(text, position)? {
            let mut before = &text[position..found.lines.start];
            // Only a blank line was inserted with the block. If it is missing, other lines were written directly above
            // the block.
            let above = strip_line_break(before);
            if above.ends_with(['\n', '\r']) || (above.is_empty() && position > 0) {
                let is_ended = text[..found.lines.end].ends_with(['\n', '\r']);
                before = if is_ended { above } else { strip_line_break(above) };
            }
            result.push_str(before);
            position = found.lines.end;
        }
        result.push_str(&text[position..]);
        Ok(result)
    }

    /// A file that ends without a line break gets one, and in exchange the block ends without one. This shows
    /// [`Marked::remove`] what to leave.
    fn append(&self, text: &str, body: &str) -> String {
        let ending = ending_of(text);
        let (content, _) = without_mark(text);
        let closed = content.is_empty() || content.ends_with('\n') || (ending == "\r" && content.ends_with('\r'));
        let mut result = String::with_capacity(text.len() + body.len() + self.open.len() + self.close.len() + 8);
        result.push_str(text);
        if !closed {
            result.push_str(ending);
        }
        if !content.is_empty() {
            result.push_str(ending);
        }
        result.push_str(&self.open);
        result.push_str(ending);
        push_lines(&mut result, body, ending);
        result.push_str(&self.close);
        if closed {
            result.push_str(ending);
        }
        result
    }

    fn find(&self, text: &str, from: usize) -> Result<Option<FragmentLines>, MarkedError> {
        let mut opened: Option<(usize, usize)> = None;
        let mut start = from;
        for line in lines(&text[from..]) {
            let end = start + line.len();
            let (bare, mark) = if start == 0 { without_mark(line) } else { (line, 0) };
            let bare = bare.trim_end();
            match opened {
                None if bare == self.open => opened = Some((start + mark, end)),
                Some((open_start, open_end)) if bare == self.close => {
                    return Ok(Some(FragmentLines { lines: open_start..end, body: open_end..start }));
                }
                _ => {}
            }
            start = end;
        }
        match opened {
            Some((open_start, _)) => {
                Err(MarkedError::Unclosed { line: line_number(text, open_start), close: self.close.clone() })
            }
            None => Ok(None),
        }
    }
}

impl MarkedError {
    /// The same error for the whole text, when the search began at `offset`.
    fn further(self, text: &str, offset: usize) -> Self {
        match self {
            MarkedError::Unclosed { line, close } => {
                MarkedError::Unclosed { line: line + line_number(text, offset) - 1, close }
            }
            other => other,
        }
    }
}

struct FragmentLines {
    /// From the opening marker to the end of the closing marker's line.
    lines: Range<usize>,
    body: Range<usize>,
}

fn line_number(text: &str, offset: usize) -> usize {
    lines(&text[..offset]).count() + 1
}

/// The lines with their ends, which are LF, CRLF or CR.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = match rest.find(['\n', '\r'])? {
            at if rest[at..].starts_with("\r\n") => at + 2,
            at => at + 1,
        };
        let (line, after) = rest.split_at(end);
        rest = after;
        Some(line)
    })
    .chain(last_line(text))
}

/// What follows the last line break.
fn last_line(text: &str) -> Option<&str> {
    let start = text.rfind(['\n', '\r']).map_or(0, |at| at + 1);
    Some(&text[start..]).filter(|line| !line.is_empty())
}

/// The end of new lines: that of the others, which may be CR.
fn ending_of(text: &str) -> &'static str {
    if !text.contains('\n') && text.contains('\r') { "\r" } else { newline_of(text) }
}

fn strip_line_break(text: &str) -> &str {
    match text.strip_suffix('\n') {
        Some(rest) => rest.strip_suffix('\r').unwrap_or(rest),
        None => text.strip_suffix('\r').unwrap_or(text),
    }
}

/// Appends `body` line by line with this ending, including the last line.
fn push_lines(result: &mut String, body: &str, ending: &str) {
    for line in body.lines() {
        result.push_str(line);
        result.push_str(ending);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn marked() -> Marked {
        Marked::new("<!-- ours -->", "<!-- /ours -->")
    }

    #[test]
    fn a_block_goes_to_the_end_after_a_blank_line() {
        let text = marked().put("# Notes\n", "one\ntwo").unwrap();
        assert_eq!(text, "# Notes\n\n<!-- ours -->\none\ntwo\n<!-- /ours -->\n");
    }

    #[test]
    fn a_file_with_only_the_block_becomes_empty() {
        let text = marked().put("", "one\n").unwrap();
        assert_eq!(text, "<!-- ours -->\none\n<!-- /ours -->\n");
        assert_eq!(marked().remove(&text).unwrap(), "");
    }

    #[test]
    fn a_block_is_replaced_in_place_with_the_line_ending_of_the_file() {
        let text = "a\r\n\r\n<!-- ours -->\r\nold\r\n<!-- /ours -->\r\nb\r\n";
        let replaced = marked().put(text, "new\nlines\n").unwrap();
        assert_eq!(replaced, "a\r\n\r\n<!-- ours -->\r\nnew\r\nlines\r\n<!-- /ours -->\r\nb\r\n");
        assert_eq!(marked().body(&replaced).unwrap(), Some("new\r\nlines\r\n"));
        assert_eq!(marked().remove(&replaced).unwrap(), "a\r\nb\r\n");
    }

    #[test]
    fn a_second_block_is_removed() {
        let one = marked().put("a\n", "x").unwrap();
        let two = format!("{one}{}", marked().put("b\n", "y").unwrap());
        assert_eq!(marked().put(&two, "z").unwrap(), "a\n\n<!-- ours -->\nz\n<!-- /ours -->\nb\n");
        assert_eq!(marked().remove(&two).unwrap(), "a\nb\n");
        assert_eq!(marked().ranges(&two), [(3, 5), (8, 10)]);
    }

    #[test]
    fn a_text_with_carriage_returns_keeps_them() {
        for text in ["# Rules\r\r- One.\r", "# Rules\r- One."] {
            let made = marked().put(text, "one\ntwo").unwrap();
            assert!(!made.contains('\n'), "{made:?}");
            assert_eq!(marked().body(&made).unwrap(), Some("one\rtwo\r"));
            assert_eq!(marked().put(&made, "one\ntwo").unwrap(), made);
            assert_eq!(marked().remove(&made).unwrap(), text);
        }
    }

    #[test]
    fn half_a_block_and_a_merge_conflict_are_found_with_their_line() {
        let unopened = |line| Err(MarkedError::Unopened { line });
        assert_eq!(marked().check("a\n<!-- our -->\nb\n<!-- /ours -->\n"), unopened(4));
        assert_eq!(marked().check("<!-- ours -->\nb\n<!-- /ours -->\n<!-- /ours -->\n"), unopened(4));
        assert_eq!(marked().check("\u{feff}<!-- ours -->\r\nb\r\n<!-- /ours -->"), Ok(()));
        let conflict = "a\n<<<<<<< HEAD\n```\nb\n=======\nc\n>>>>>>> theirs\n";
        assert_eq!(marked().check(conflict), Err(MarkedError::Conflict { line: 2 }));
        assert_eq!(marked().check(&format!("```\n{}```\n", conflict.replace("```\n", ""))), Ok(()));
        assert_eq!(marked().check("Title\n=======\n\n>>>>>>> quoted\n<<<<<<< left\n"), Ok(()));
    }

    #[test]
    fn an_unclosed_block_is_refused_with_its_line() {
        let text = "a\n<!-- ours -->\nb\n";
        let unclosed = |line| Err(MarkedError::Unclosed { line, close: "<!-- /ours -->".into() });
        assert_eq!(marked().put(text, "x"), unclosed(2));
        assert_eq!(marked().remove(text), unclosed(2));
        let second = format!("{}{text}", marked().put("", "x").unwrap());
        assert_eq!(marked().put(&second, "x"), unclosed(5));
    }

    #[test]
    fn an_inserted_block_can_be_removed_without_a_trace() {
        for text in ["", "\n", "a", "a\n", "a\n\n", "a\r\nb", "a\r\n", "\u{feff}", "\u{feff}a", "a\n\n\n", "  "] {
            let put = marked().put(text, "one\n\ntwo").unwrap();
            assert_eq!(marked().remove(&put).unwrap(), text, "{text:?}");
            assert_eq!(marked().put(&put, "one\n\ntwo").unwrap(), put, "{text:?}");
        }
    }

    #[test]
    fn lines_directly_above_the_block_keep_their_end() {
        let put = marked().put("", "one").unwrap();
        assert_eq!(marked().remove(&format!("mine\n{put}")).unwrap(), "mine\n");
        assert_eq!(marked().remove(&format!("\n{put}")).unwrap(), "\n");
    }

    #[test]
    fn a_large_text_is_searched_in_one_pass() {
        let plain = "<!-- /ours -->\nx\n".repeat(50_000);
        let put = marked().put(&plain, "one").unwrap();
        assert!(marked().remove(&put).unwrap() == plain);
        let blocks = "<!-- ours -->\n<!-- /ours -->\n".repeat(20_000);
        assert_eq!(marked().put(&blocks, "one").unwrap().matches("one").count(), 1);
    }

    proptest! {
        #[test]
        fn a_block_leaves_no_trace(
            text in "\u{feff}?([a #]{0,3}\r?\n|<!-- /ours -->\n|<!-- ours -->!\n){0,6}[a ]{0,3}",
            first in "([a-z]{0,4}\r?\n?){0,3}", second in "([a-z]{0,4}\n?){0,3}", after in "([a-z]{0,4}\r?\n){0,3}",
        ) {
            let marked = marked();
            let put = marked.put(&text, &first).unwrap();
            let replaced = marked.put(&put, &second).unwrap();
            let body = marked.body(&replaced).unwrap().unwrap().replace('\r', "");
            prop_assert_eq!(body, second.lines().map(|line| format!("{line}\n")).collect::<Vec<_>>().concat());
            prop_assert_eq!(marked.remove(&replaced).unwrap(), text.clone());
            if text.ends_with('\n') {
                let followed = format!("{replaced}{after}");
                prop_assert_eq!(marked.remove(&followed).unwrap(), format!("{text}{after}"));
            }
        }
    }
}
