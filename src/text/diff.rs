//! The lines in which two texts differ.

use std::collections::HashMap;
use std::fmt::Write as _;

use similar::algorithms::{Capture, Compact, Replace, myers};
use similar::udiff::UnifiedHunkHeader;
use similar::{ChangeTag, DiffOp, group_diff_ops};

/// How many unchanged lines are shown around changed ones.
const CONTEXT: usize = 3;

/// Two texts, line by line.
#[derive(Debug)]
pub(crate) struct LineDiff<'text> {
    old: Vec<&'text str>,
    new: Vec<&'text str>,
    steps: Vec<DiffOp>,
}

impl<'text> LineDiff<'text> {
    pub(crate) fn new(old: &'text str, new: &'text str) -> Self {
        let old: Vec<&str> = old.split_inclusive('\n').collect();
        let new: Vec<&str> = new.split_inclusive('\n').collect();
        // Compares numbers instead of lines, with only one algorithm: the library's own comparison of lines compiles
        // each of its algorithms for each type of line, half a megabyte in all.
        let mut numbers = HashMap::new();
        let mut numbered = |lines: &[&'text str]| -> Vec<usize> {
            lines
                .iter()
                .map(|line| {
                    let next = numbers.len();
                    *numbers.entry(*line).or_insert(next)
                })
                .collect()
        };
        let (olds, news) = (numbered(&old), numbered(&new));
        let mut steps = Compact::new(Replace::new(Capture::new()), &olds, &news);
        let Ok(()) = myers::diff(&mut steps, &olds, 0..olds.len(), &news, 0..news.len());
        Self { old, new, steps: steps.into_inner().into_inner().into_ops() }
    }

    /// Each change: the lines before, the lines after.
    pub(crate) fn changes(&self) -> impl Iterator<Item = (&[&'text str], &[&'text str])> {
        let changing = self.steps.iter().filter(|step| !matches!(step, DiffOp::Equal { .. }));
        changing.map(|step| (&self.old[step.old_range()], &self.new[step.new_range()]))
    }

    /// The numbers of the lines that are only in the second text, counted from one.
    pub(crate) fn added(&self) -> impl Iterator<Item = usize> {
        let changing = self.steps.iter().filter(|step| !matches!(step, DiffOp::Equal { .. }));
        changing.flat_map(|step| step.new_range().map(|line| line + 1))
    }

    /// Formats a unified diff with these names; empty if no line changes.
    pub(crate) fn unified(&self, old_name: &str, new_name: &str) -> String {
        let mut text = String::new();
        for hunk in group_diff_ops(self.steps.clone(), CONTEXT) {
            if text.is_empty() {
                text.extend(["--- ", old_name, "\n+++ ", new_name, "\n"]);
            }
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{}", UnifiedHunkHeader::new(&hunk));
            for change in hunk.iter().flat_map(|step| step.iter_changes(&self.old, &self.new)) {
                text.push(match change.tag() {
                    ChangeTag::Equal => ' ',
                    ChangeTag::Delete => '-',
                    ChangeTag::Insert => '+',
                });
                text.push_str(change.value());
                if !change.value().ends_with('\n') {
                    text.push_str("\n\\ No newline at end of file\n");
                }
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use similar::TextDiff;

    use super::LineDiff;

    fn texts() -> impl Strategy<Value = String> {
        "([abc]?\r?\n){0,12}[abc]?"
    }

    proptest! {
        #[test]
        fn changed_lines_are_the_same_as_those_of_the_library(old in texts(), new in texts()) {
            let whole = TextDiff::from_lines(&old, &new);
            let expected = whole.unified_diff().context_radius(3).header("a", "b").to_string();
            prop_assert_eq!(LineDiff::new(&old, &new).unified("a", "b"), expected);
        }
    }

    #[test]
    fn lines_only_in_the_second_text_are_numbered() {
        let added = |old: &str, new: &str| LineDiff::new(old, new).added().collect::<Vec<_>>();
        assert_eq!(added("a\nb\nc\n", "a\nx\nb\nc\ny\nz"), [2, 5, 6]);
        assert_eq!(added("", "a\nb"), [1, 2]);
        assert_eq!(added("a\nb\n", "a\n"), Vec::<usize>::new());
    }

    #[test]
    fn a_change_is_shown_with_its_position_and_a_missing_final_newline() {
        let told = LineDiff::new("a\nb\nc\n", "a\nx\nc").unified("old", "new");
        let expected = "--- old\n+++ new\n@@ -1,3 +1,3 @@\n a\n-b\n-c\n+x\n+c\n\\ No newline at end of file\n";
        assert_eq!(told, expected);
        assert_eq!(LineDiff::new("a\n", "a\n").unified("old", "new"), "");
        assert_eq!(LineDiff::new("", "").changes().count(), 0);
    }
}
