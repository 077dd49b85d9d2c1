//! Items of Markdown lists and their check boxes, with all markers that Markdown allows: `-`, `*`, `+`, `1.`, `1)`; and
//! the colons after labels.

use std::ops::Range;

/// The colons of all scripts that people write in.
pub(crate) const COLONS: [char; 8] = [':', '：', '﹕', '︰', '∶', '꞉', '։', '፡'];

/// A line that is an item of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ListItem<'text> {
    /// The indentation in bytes.
    pub(crate) indent: usize,
    /// The list marker as written: `-`, `*`, `+`, `12.`, `12)`.
    pub(crate) mark: &'text str,
    pub(crate) tick: Option<TickBox>,
    /// The text after the marker and the box, trimmed.
    pub(crate) text: &'text str,
}

/// The check box of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TickBox {
    /// The byte offset in the line of the character between the brackets.
    pub(crate) at: usize,
    /// The character between the brackets.
    pub(crate) sign: char,
}

impl TickBox {
    /// True if the box is ticked: `[x]` or `[X]`.
    pub(crate) fn is_ticked(self) -> bool {
        matches!(self.sign, 'x' | 'X')
    }

    /// The byte range in the line of the character between the brackets.
    pub(crate) fn place(self) -> Range<usize> {
        self.at..self.at + self.sign.len_utf8()
    }
}

impl<'text> ListItem<'text> {
    /// Parses `line` as an item; `None` if it is not one.
    pub(crate) fn read(line: &'text str) -> Option<Self> {
        let inside = line.trim_start();
        let indent = line.len() - inside.len();
        let length = mark_length(inside)?;
        let (mark, behind) = inside.split_at(length);
        if !behind.starts_with(char::is_whitespace) && !behind.starts_with('[') && !behind.is_empty() {
            return None;
        }
        let behind = behind.trim_start();
        let tick = tick_box(behind).map(|sign| TickBox { at: line.len() - behind.len() + 1, sign });
        if tick.is_none() && behind.len() == inside.len() - length && !behind.is_empty() {
            return None;
        }
        let text = tick.map_or(behind, |tick| &behind[tick.sign.len_utf8() + 2..]);
        Some(Self { indent, mark, tick, text: text.trim() })
    }

    pub(crate) fn is_ticked(&self) -> bool {
        self.tick.is_some_and(TickBox::is_ticked)
    }

    /// The marker for the next item: the next number in a numbered list.
    pub(crate) fn next_mark(&self) -> String {
        let (number, end) = self.mark.split_at(self.mark.len() - 1);
        match number.parse::<u64>() {
            Ok(number) => format!("{}{end}", number + 1),
            Err(_) => self.mark.to_owned(),
        }
    }
}

/// The length of the list marker at the start of `text`.
fn mark_length(text: &str) -> Option<usize> {
    // CommonMark: a longer number is not a list marker.
    const MOST_DIGITS: usize = 9;
    if text.starts_with(['-', '*', '+']) {
        return Some(1);
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    ((1..=MOST_DIGITS).contains(&digits) && text[digits..].starts_with(['.', ')'])).then_some(digits + 1)
}

/// The character between the brackets at the start of `text`.
fn tick_box(text: &str) -> Option<char> {
    let inside = text.strip_prefix('[')?;
    let sign = inside.chars().next()?;
    inside[sign.len_utf8()..].starts_with(']').then_some(sign)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_list_marker_may_have_a_box() {
        for mark in ["-", "*", "+", "1.", "23)"] {
            for (sign, ticked) in [(" ", false), ("x", true), ("X", true), ("~", false)] {
                for indent in ["", "  ", "\t"] {
                    let line = format!("{indent}{mark} [{sign}]  do it ");
                    let item = ListItem::read(&line).unwrap();
                    assert_eq!((item.mark, item.text, item.is_ticked()), (mark, "do it", ticked), "{line}");
                    assert_eq!(&line[item.tick.unwrap().place()], sign, "{line}");
                }
            }
            assert_eq!(ListItem::read(&format!("{mark} plain")).unwrap().tick, None);
        }
        for line in ["", "plain", "-plain", "**bold** x", "1.5 x", "x. y", "---", "1234567890. x", "- [link](x)"] {
            assert!(ListItem::read(line).is_none_or(|item| item.tick.is_none()), "{line}");
        }
        assert!(ListItem::read("**bold** x").is_none() && ListItem::read("---").is_none());
    }

    #[test]
    fn a_numbered_list_continues_counting() {
        let next = |line: &str| ListItem::read(line).unwrap().next_mark();
        assert_eq!((next("9. a"), next("3) a"), next("+ a")), ("10.".into(), "4)".into(), "+".into()));
    }

    proptest! {
        #[test]
        fn any_line_is_handled(line in "[ \t]{0,3}([-*+]|[0-9]{0,11}[.)]?)[ \\[\\]xXé-]{0,6}\\PC{0,6}") {
            if let Some(item) = ListItem::read(&line) {
                prop_assert!(line.ends_with(item.text) || line.trim_end().ends_with(item.text));
                if let Some(tick) = item.tick {
                    prop_assert_eq!(line[tick.place()].chars().next(), Some(tick.sign));
                }
            }
        }
    }
}
