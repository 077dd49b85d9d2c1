//! Markdown as lines with byte spans: front matter, headings with their sections, fences.
//!
//! A scanner, not a renderer: it finds positions and never prints Markdown. Block structure beyond lines (lists,
//! quotes, tables) is left to the documents that need it.

use std::ops::Range;
use std::sync::Arc;

/// The kind of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineKind {
    /// A line of the front matter, including its two `---` lines.
    FrontMatter,
    Blank,
    /// An ATX heading of this level, 1 to 6.
    Heading(u8),
    /// The opening or closing line of a code fence.
    FenceEdge,
    /// A line inside a code fence.
    Fenced,
    /// A line that is only an HTML comment, or that is inside one begun on an earlier line.
    Comment,
    Text,
}

/// One line: `start..end` is its text, `start..next` includes its line end. A byte order mark belongs to the file, not
/// to its first line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) kind: LineKind,
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) next: usize,
}

/// A heading outside front matter, fences and comments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Heading<'text> {
    /// Index of its line.
    pub(crate) line: usize,
    pub(crate) level: u8,
    /// The text without the `#` marks, trimmed.
    pub(crate) title: &'text str,
}

/// A Markdown text seen as lines. Borrows the text; edits are splices over it.
#[derive(Clone, Debug)]
pub(crate) struct Markdown<'text> {
    text: &'text str,
    lines: Arc<[Line]>,
}

impl<'text> Markdown<'text> {
    /// Scans `text`. Every text is a document; an unclosed front matter or comment is ordinary text.
    pub(crate) fn parse(text: &'text str) -> Self {
        let mut lines = split_lines(text);
        let body = mark_front_matter(text, &mut lines);
        mark_blocks(text, &mut lines[body..]);
        Self { text, lines: lines.into() }
    }

    /// Like [`Self::parse`], for callers that only need the front matter: the lines after it are not scanned.
    pub(crate) fn head(text: &'text str) -> Self {
        let mut end = 0;
        for (index, line) in text.split_inclusive('\n').enumerate() {
            if index == 0 && !opens_front_matter(line) {
                break;
            }
            end += line.len();
            if index > 0 && line.starts_with("---") {
                break;
            }
        }
        let mut lines = split_lines(&text[..end]);
        mark_front_matter(text, &mut lines);
        Self { text, lines: lines.into() }
    }

    pub(crate) fn text(&self) -> &'text str {
        self.text
    }

    pub(crate) fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// The text of line `index` without its line end; empty past the end.
    pub(crate) fn line(&self, index: usize) -> &'text str {
        self.lines.get(index).map_or("", |line| &self.text[line.start..line.end])
    }

    /// True if line `index` is prose: not front matter, code or a comment.
    pub(crate) fn is_prose(&self, index: usize) -> bool {
        self.lines
            .get(index)
            .is_some_and(|line| matches!(line.kind, LineKind::Text | LineKind::Blank | LineKind::Heading(_)))
    }

    /// The first line after the front matter.
    pub(crate) fn body_line(&self) -> usize {
        self.lines.iter().position(|line| line.kind != LineKind::FrontMatter).unwrap_or(self.lines.len())
    }

    pub(crate) fn headings(&self) -> impl Iterator<Item = Heading<'text>> + '_ {
        self.lines.iter().enumerate().filter_map(|(index, line)| match line.kind {
            LineKind::Heading(level) => Some(Heading { line: index, level, title: heading_title(self.line(index)) }),
            _ => None,
        })
    }

    /// The lines of the section of `heading`: from the one after it to the next heading of its level or above.
    pub(crate) fn section(&self, heading: &Heading<'_>) -> Range<usize> {
        let end = self.lines[heading.line + 1..]
            .iter()
            .position(|line| matches!(line.kind, LineKind::Heading(level) if level <= heading.level))
            .map_or(self.lines.len(), |offset| heading.line + 1 + offset);
        heading.line + 1..end
    }

    /// The section of the first heading with this title, ignoring case.
    pub(crate) fn section_named(&self, title: &str) -> Option<(Heading<'text>, Range<usize>)> {
        let heading = self.headings().find(|heading| heading.title.eq_ignore_ascii_case(title))?;
        Some((heading, self.section(&heading)))
    }

    /// The byte span of a range of lines, including line ends.
    pub(crate) fn span(&self, lines: Range<usize>) -> Range<usize> {
        let at = |index: usize| self.lines.get(index).map_or(self.text.len(), |line| line.start);
        at(lines.start)..at(lines.end)
    }

    /// The line ending of the text: that of the first line that has one, otherwise `
    /// `.
    pub(crate) fn newline(&self) -> &'static str {
        newline_of(self.text)
    }
}

/// The line ending of `text`: that of the first line that has one, otherwise `
/// `.
pub(crate) fn newline_of(text: &str) -> &'static str {
    match text.find('\n') {
        Some(position) if text.as_bytes().get(position.wrapping_sub(1)) == Some(&b'\r') => "\r\n",
        _ => "\n",
    }
}

/// The byte order mark that some editors write at the start of a file.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// The title of an ATX heading line: without leading and closing `#` marks, trimmed.
pub(crate) fn heading_title(line: &str) -> &str {
    let inside = line.trim_start().trim_start_matches('#').trim();
    let without_close = inside.trim_end_matches('#');
    if without_close.len() < inside.len() && (without_close.is_empty() || without_close.ends_with([' ', '\t'])) {
        without_close.trim_end()
    } else {
        inside
    }
}

fn split_lines(text: &str) -> Vec<Line> {
    let bytes = text.as_bytes();
    let mut lines = Vec::with_capacity(text.len() / 32 + 1);
    let mut start = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 };
    while start < bytes.len() {
        let next = text[start..].find('\n').map_or(bytes.len(), |offset| start + offset + 1);
        let mut end = next;
        if end > start && bytes[end - 1] == b'\n' {
            end -= 1;
            if end > start && bytes[end - 1] == b'\r' {
                end -= 1;
            }
        }
        lines.push(Line { kind: LineKind::Text, start, end, next });
        start = next;
    }
    lines
}

fn opens_front_matter(line: &str) -> bool {
    line.trim_start_matches(BYTE_ORDER_MARK).trim_end() == "---"
}

/// Marks the front matter and returns the index of the first line after it.
fn mark_front_matter(text: &str, lines: &mut [Line]) -> usize {
    let Some(first) = lines.first() else { return 0 };
    if !opens_front_matter(&text[first.start..first.end]) {
        return 0;
    }
    let Some(close) = lines.iter().skip(1).position(|line| text[line.start..line.end].starts_with("---")) else {
        return 0;
    };
    for line in &mut lines[..close + 2] {
        line.kind = LineKind::FrontMatter;
    }
    close + 2
}

fn mark_blocks(text: &str, lines: &mut [Line]) {
    let mut fence: Option<(u8, usize)> = None;
    // The end of a comment begun on an earlier line, and the position after which comments are never closed.
    let mut comment = 0;
    // Most texts have no comments, and need no search on each line.
    let mut open_from = if text.contains(COMMENT_OPEN) { text.len() } else { 0 };
    for line in lines {
        let content = &text[line.start..line.end];
        if line.start < comment {
            line.kind = LineKind::Comment;
            if comment <= line.end {
                comment = comment_after(text, comment, line.end, &mut open_from).unwrap_or(0);
            }
            continue;
        }
        line.kind = match (fence, fence_mark(content)) {
            (Some((mark, length)), Some((found, count, info)))
                if found == mark && count >= length && info.is_empty() =>
            {
                fence = None;
                LineKind::FenceEdge
            }
            (Some(_), _) => LineKind::Fenced,
            (None, Some((mark, count, info))) if mark != b'`' || !info.contains('`') => {
                fence = Some((mark, count));
                LineKind::FenceEdge
            }
            (None, _) if open_from == 0 => kind_of(content),
            (None, _) => {
                comment = comment_after(text, line.start, line.end, &mut open_from).unwrap_or(0);
                if is_comment(content, comment > 0) { LineKind::Comment } else { kind_of(content) }
            }
        };
    }
}

/// True if a line is only a comment; `stays_open` means that its last comment is not closed on it.
fn is_comment(content: &str, stays_open: bool) -> bool {
    let Some(inside) = content.trim().strip_prefix(COMMENT_OPEN) else { return false };
    stays_open || inside.find(COMMENT_CLOSE).is_some_and(|close| close + COMMENT_CLOSE.len() == inside.len())
}

const COMMENT_OPEN: &str = "<!--";
const COMMENT_CLOSE: &str = "-->";

/// The end of the comment that begins in `from..end`, a part of a line, and is not closed there. After `open_from`,
/// comments are never closed.
fn comment_after(text: &str, from: usize, end: usize, open_from: &mut usize) -> Option<usize> {
    let mut at = from;
    let mut is_code = false;
    loop {
        let open = at + text[at..end].find(COMMENT_OPEN)?;
        // Text in backticks is code.
        is_code ^= text[at..open].matches('`').count() % 2 == 1;
        let inside = open + COMMENT_OPEN.len();
        match text[inside..end].find(COMMENT_CLOSE) {
            _ if is_code => at = inside,
            Some(close) => at = inside + close + COMMENT_CLOSE.len(),
            None if inside >= *open_from => return None,
            None => {
                let close = text[end..].find(COMMENT_CLOSE).map(|close| end + close + COMMENT_CLOSE.len());
                if close.is_none() {
                    *open_from = inside;
                }
                return close;
            }
        }
    }
}

/// The mark, its count and the trimmed rest, if the line opens or closes a fence.
fn fence_mark(content: &str) -> Option<(u8, usize, &str)> {
    let inside = content.trim_start_matches(' ');
    if content.len() - inside.len() > 3 {
        return None;
    }
    let mark = *inside.as_bytes().first()?;
    if mark != b'`' && mark != b'~' {
        return None;
    }
    let count = inside.bytes().take_while(|byte| *byte == mark).count();
    (count >= 3).then(|| (mark, count, inside[count..].trim()))
}

fn kind_of(content: &str) -> LineKind {
    let inside = content.trim_start();
    if inside.is_empty() {
        return LineKind::Blank;
    }
    let marks = inside.bytes().take_while(|byte| *byte == b'#').count();
    let indent = content.len() - inside.len();
    let ends = inside.as_bytes().get(marks).is_none_or(|byte| matches!(byte, b' ' | b'\t'));
    match u8::try_from(marks) {
        Ok(level @ 1..=6) if indent <= 3 && ends => LineKind::Heading(level),
        _ => LineKind::Text,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn kinds(text: &str) -> Vec<LineKind> {
        Markdown::parse(text).lines().iter().map(|line| line.kind).collect()
    }

    #[test]
    fn front_matter_fences_and_headings_are_distinguished() {
        use LineKind::{Blank, FenceEdge, Fenced, FrontMatter, Heading, Text};
        let text = "---\na: 1\n---\n\n# T\n```sh\n# not a heading\n```\n#x\n";
        assert_eq!(
            kinds(text),
            [FrontMatter, FrontMatter, FrontMatter, Blank, Heading(1), FenceEdge, Fenced, FenceEdge, Text]
        );
    }

    #[test]
    fn a_shorter_fence_inside_a_longer_one_is_code() {
        use LineKind::{FenceEdge, Fenced, Heading};
        assert_eq!(kinds("````\n```\n# x\n````\n# y"), [FenceEdge, Fenced, Fenced, FenceEdge, Heading(1)]);
    }

    #[test]
    fn the_head_has_the_same_front_matter_as_the_whole() {
        for text in
            ["---\na: 1\n---\n# T\n", "\u{feff}---\r\na: 1\r\n--- x\r\nb", "---\n---", "---\na: 1\n# T\n", "# T\n", ""]
        {
            let front = |markdown: &Markdown<'_>| {
                let lines = markdown.lines().iter().take_while(|line| line.kind == LineKind::FrontMatter);
                lines.map(|line| (line.start, line.next)).collect::<Vec<_>>()
            };
            assert_eq!(front(&Markdown::head(text)), front(&Markdown::parse(text)), "{text:?}");
        }
        assert_eq!(Markdown::head("---\na: 1\n---\n# T\n").lines().len(), 3);
    }

    #[test]
    fn unclosed_front_matter_is_text() {
        assert_eq!(kinds("---\na: 1\n# T\n"), [LineKind::Text, LineKind::Text, LineKind::Heading(1)]);
    }

    #[test]
    fn a_section_ends_at_the_next_heading_of_its_level_or_above() {
        let text = "## A\nx\n### B\ny\n## C\nz\n";
        let markdown = Markdown::parse(text);
        let (_, lines) = markdown.section_named("a").unwrap();
        assert_eq!(&text[markdown.span(lines)], "x\n### B\ny\n");
    }

    #[test]
    fn closing_marks_are_not_part_of_a_title() {
        assert_eq!(heading_title("## A b ##"), "A b");
        assert_eq!(heading_title("# C#"), "C#");
    }

    #[test]
    fn a_comment_is_not_prose_however_many_lines_it_has() {
        use LineKind::{Blank, Comment, FenceEdge, Fenced, Heading, Text};
        for (text, expected) in [
            ("<!-- # a -->\n# b", vec![Comment, Heading(1)]),
            ("<!--\n# a\n\n```\n-->\n# b", vec![Comment, Comment, Comment, Comment, Comment, Heading(1)]),
            ("a <!-- b\n# c\n--> d\n# e", vec![Text, Comment, Comment, Heading(1)]),
            ("# a <!-- b -->\n- c <!-- d\n- e -->", vec![Heading(1), Text, Comment]),
            ("<!-- a --> b\n# c", vec![Text, Heading(1)]),
            ("<!-- a --> <!-- b\n# c -->\n# d", vec![Comment, Comment, Heading(1)]),
            ("<!--\n--> <!--\n# a\n-->\n# b", vec![Comment, Comment, Comment, Comment, Heading(1)]),
            ("`<!--` is how it opens\n# a\n-->", vec![Text, Heading(1), Text]),
            ("<!-- never closed\n# a\n<!-- nor this\n# b", vec![Text, Heading(1), Text, Heading(1)]),
            ("```\n<!--\n```\n# a\n-->", vec![FenceEdge, Fenced, FenceEdge, Heading(1), Text]),
            ("\n<!---->\n# a", vec![Blank, Comment, Heading(1)]),
        ] {
            assert_eq!(kinds(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_not_part_of_the_first_line() {
        for text in ["# T\nx", "- [ ] a\n", "---\na: 1\n---\n# T\n", "```\n# x\n```\n", "| a |\n|---|\n", ""] {
            let marked = format!("\u{feff}{text}");
            assert_eq!(kinds(&marked), kinds(text), "{text:?}");
            let (marked, plain) = (Markdown::parse(&marked), Markdown::parse(text));
            for line in 0..plain.lines().len() {
                assert_eq!(marked.line(line), plain.line(line), "{text:?}");
            }
            assert_eq!(marked.span(0..1).start, 3.min(marked.text().len()));
        }
    }

    #[test]
    fn many_comments_take_linear_time() {
        for piece in ["<!-- a\n", "`<!--\n", "<!-- a -->", "<!-- a\n-->\n"] {
            let text = piece.repeat(100_000);
            assert!(Markdown::parse(&text).lines().iter().all(|line| line.kind != LineKind::Blank));
        }
    }

    proptest! {
        #[test]
        fn lines_cover_the_text_exactly(text in "(---\r?\n)?([ -~é\t]{0,12}(\r\n|\n|```\n|# h\n|\r|<!--|-->)){0,20}[ -~]{0,5}") {
            let markdown = Markdown::parse(&text);
            let printed: String = markdown.lines().iter().map(|line| &text[line.start..line.next]).collect();
            prop_assert_eq!(printed, text);
        }
    }
}
