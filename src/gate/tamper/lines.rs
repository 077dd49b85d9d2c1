//! Which lines of a text are new. Exact for usual files; for very long ones, the lines that occur more often than
//! before.

use std::collections::{BTreeSet, HashMap};

use crate::text::diff::LineDiff;

/// Texts with more lines are not compared in order: that takes the square of the number of differences.
const MOST: usize = 20_000;

/// The numbers of the lines that only the second text has, and how many only the first has.
pub(super) fn differing(before: &str, after: &str) -> (BTreeSet<usize>, usize) {
    if before.lines().count() + after.lines().count() > MOST {
        return counted(before, after);
    }
    let diff = LineDiff::new(before, after);
    let is_there = |line: &&&str| !line.trim().is_empty();
    let gone = diff.changes().map(|(old, _)| old.iter().filter(is_there).count()).sum();
    (diff.added().collect(), gone)
}

pub(in crate::gate) fn added(before: &str, after: &str) -> BTreeSet<usize> {
    differing(before, after).0
}

fn counted(before: &str, after: &str) -> (BTreeSet<usize>, usize) {
    let mut there: HashMap<&str, usize> = HashMap::new();
    for line in before.lines() {
        *there.entry(line).or_default() += 1;
    }
    let mut added = BTreeSet::new();
    for (number, line) in after.lines().enumerate() {
        match there.get_mut(line) {
            Some(count @ 1..) => *count -= 1,
            _ => {
                added.insert(number + 1);
            }
        }
    }
    let gone = there.iter().filter(|(line, _)| !line.trim().is_empty()).map(|(_, count)| count).sum();
    (added, gone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_lines_are_found_in_long_texts_too() {
        for (before, after, expected) in
            [("a\nb\n", "a\nc\nb\nd", (vec![2, 4], 0)), ("a\n\nb\nb\n", "b\n", (vec![], 2))]
        {
            for (added, gone) in [differing(before, after), counted(before, after)] {
                assert_eq!((added.into_iter().collect::<Vec<_>>(), gone), expected, "{before} {after}");
            }
        }
    }
}
