//! Edits as a list of replaced byte ranges, applied in one pass.

use std::ops::Range;

/// Replacements of byte ranges of one text. Ranges must not overlap; several insertions at one position keep their
/// order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Splices {
    list: Vec<(Range<usize>, String)>,
}

impl Splices {
    /// Replaces the bytes of `range` by `text`. A replacement by the same bytes has no effect.
    pub(crate) fn replace(&mut self, range: Range<usize>, text: impl Into<String>) {
        self.list.push((range, text.into()));
    }

    /// Inserts `text` before the byte at `at`.
    pub(crate) fn insert(&mut self, at: usize, text: impl Into<String>) {
        self.replace(at..at, text);
    }

    /// Removes the bytes of `range`.
    pub(crate) fn remove(&mut self, range: Range<usize>) {
        self.replace(range, "");
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// True if a range is inside `span`, including its end.
    pub(crate) fn touch(&self, span: &Range<usize>) -> bool {
        self.list.iter().any(|(range, _)| span.start <= range.start && range.end <= span.end)
    }

    /// Returns the edited text. A range that overlaps an earlier one, or exceeds the text, is ignored: the user's bytes
    /// win.
    pub(crate) fn apply(mut self, text: &str) -> String {
        self.list.sort_by_key(|(range, _)| (range.start, range.end));
        let mut edited = String::with_capacity(text.len() + 64);
        let mut position = 0;
        for (range, replacement) in self.list {
            let (Some(kept), Some(_)) = (text.get(position..range.start), text.get(range.clone())) else { continue };
            edited.push_str(kept);
            edited.push_str(&replacement);
            position = range.end;
        }
        edited.push_str(text.get(position..).unwrap_or_default());
        edited
    }
}

/// Replaces some parts of `text`, which must be slices of it.
pub(crate) fn with_parts(text: &str, parts: &[(&str, String)]) -> String {
    let mut splices = Splices::default();
    for (part, new) in parts {
        let at = part.as_ptr() as usize - text.as_ptr() as usize;
        splices.replace(at..at + part.len(), new.as_str());
    }
    splices.apply(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replacements_apply_in_text_order() {
        let mut splices = Splices::default();
        splices.replace(4..5, "X");
        splices.insert(0, "<");
        splices.insert(0, "(");
        splices.remove(1..2);
        assert_eq!(splices.apply("abcdef"), "<(acdXf");
    }

    #[test]
    fn a_range_outside_the_text_or_inside_a_character_changes_nothing() {
        let mut splices = Splices::default();
        splices.replace(1..2, "x");
        splices.replace(9..12, "y");
        assert_eq!(splices.apply("é"), "é");
    }
}
