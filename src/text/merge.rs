//! Two edited versions of a text in one.

/// `ours` with the edits that lead from `base` to `theirs`; `None` if both edited the same lines differently.
pub(crate) fn merged(base: &str, ours: &str, theirs: &str) -> Option<String> {
    if ours == theirs || base == theirs {
        return Some(ours.to_owned());
    }
    if base == ours {
        return Some(theirs.to_owned());
    }
    diffy::merge(base, ours, theirs).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn edits_of_different_lines_are_both_kept_and_of_the_same_line_are_a_conflict() {
        let base = "a\nb\r\nc\nd\ne\nf";
        assert_eq!(merged(base, "A\nb\r\nc\nd\ne\nf", "a\nb\r\nc\nd\ne\nF").unwrap(), "A\nb\r\nc\nd\ne\nF");
        assert_eq!(merged(base, "a\nb\r\nx\nd\ne\nf", "a\nb\r\ny\nd\ne\nf"), None);
        assert_eq!(merged(base, "a\nb\r\nx\nd\ne\nf", "a\nb\r\nx\nd\ne\nf").unwrap(), "a\nb\r\nx\nd\ne\nf");
    }

    proptest! {
        /// No line of either side is lost or made up in a merge without a conflict.
        #[test]
        fn a_merge_has_every_line_that_a_side_added(
            base in "([a-d]\r?\n){0,12}[a-d]?",
            ours in "([a-f]\r?\n){0,12}[a-f]?",
            theirs in "([a-dx]\r?\n){0,12}[a-dx]?",
        ) {
            if let Some(text) = merged(&base, &ours, &theirs) {
                let lines = |text: &str| text.lines().map(str::to_owned).collect::<std::collections::BTreeSet<_>>();
                let (all, merged) = (&lines(&ours) | &lines(&theirs), lines(&text));
                prop_assert!(merged.is_subset(&(&all | &lines(&base))), "{text:?}");
                let added = &(&all - &lines(&base)) - &merged;
                prop_assert!(added.is_empty(), "{added:?} of {text:?}");
            }
            prop_assert_eq!(merged(&base, &base, &theirs), Some(theirs.clone()));
            prop_assert_eq!(merged(&base, &ours, &base), Some(ours.clone()));
        }
    }
}
