//! Changes of tests that a plan declares before the work begins.

use serde::{Deserialize, Serialize};

use crate::project::check_files::fits;

/// Files whose tests or settings a unit may change in any way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Allowance {
    /// A path, a folder with `/` at its end, or a pattern with `*`.
    pub(crate) path: String,
    /// The words of the plan after the path.
    pub(crate) reason: String,
}

const LABEL: &str = "allowed test changes:";

impl Allowance {
    /// Reads the allowances of a plan: the text after `Allowed test changes:` on its line, separated by commas, or the
    /// list below it.
    pub(crate) fn of_plan(plan: &str) -> Vec<Self> {
        let mut found = Vec::new();
        let mut lines = plan.lines().peekable();
        while let Some(line) = lines.next() {
            let depth = indentation(line);
            let bare = line.trim_start().trim_start_matches(['-', '*', ' ']);
            let Some(rest) = behind_label(bare) else { continue };
            found.extend(entries(rest).filter_map(Self::read));
            while let Some(item) = lines.next_if(|next| is_item(next) && (indentation(next) > depth || !is_item(line)))
            {
                found.extend(Self::read(item.trim_start().trim_start_matches(['-', '*', ' '])));
            }
        }
        found
    }

    /// Reads a path and the words after it.
    fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        let (path, reason) = match text.strip_prefix('`').and_then(|text| text.split_once('`')) {
            Some((path, rest)) => (path, rest),
            None => text.split_once(char::is_whitespace).unwrap_or((text, "")),
        };
        let path = path.trim().trim_start_matches("./").trim_end_matches([',', ';']);
        let reason = reason.trim().trim_start_matches(['-', ':', '(', '\u{2014}', ' ']).trim_end_matches(')').trim();
        // A path without letters or digits, such as `*`, would allow everything.
        let names = path.chars().any(char::is_alphanumeric) && path.contains(['/', '.', '_']);
        (names && !path.starts_with('/')).then(|| Self { path: path.to_owned(), reason: reason.to_owned() })
    }

    pub(crate) fn covers(&self, path: &str) -> bool {
        if self.path.ends_with('/') {
            return path.starts_with(&self.path);
        }
        if self.path.contains('*') { fits(&self.path, path) } else { path == self.path }
    }
}

fn behind_label(line: &str) -> Option<&str> {
    let head = line.get(..LABEL.len())?;
    let rest = line.get(LABEL.len()..)?;
    head.eq_ignore_ascii_case(LABEL).then(|| rest.trim_start_matches('*'))
}

/// The parts of a line that are separated by commas outside of parentheses.
fn entries(line: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_i32;
    line.split(move |letter| {
        depth += i32::from(letter == '(') - i32::from(letter == ')');
        letter == ',' && depth <= 0
    })
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn is_item(line: &str) -> bool {
    line.trim_start().starts_with(['-', '*'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(plan: &str) -> Vec<String> {
        Allowance::of_plan(plan)
            .into_iter()
            .map(|allowance| format!("{}|{}", allowance.path, allowance.reason))
            .collect()
    }

    #[test]
    fn a_plan_declares_changes_on_a_line_or_in_a_list() {
        assert_eq!(
            paths(
                "- Verify: x\n- Allowed test changes: `tests/a.py` (sum is 4, not 3), tests/old/ - goes away\n- Files: b\n"
            ),
            ["tests/a.py|sum is 4, not 3", "tests/old/|goes away"]
        );
        assert_eq!(paths("**Allowed test changes:** tests/a.py\n"), ["tests/a.py|"]);
        assert_eq!(
            paths("Allowed test changes:\n- `a_test.go`: renamed\n- ./tests/*.snap\n\n- other.rs\n"),
            ["a_test.go|renamed", "tests/*.snap|"]
        );
        assert_eq!(paths("  - Allowed test changes:\n    - a.py\n  - Files: b.py\n"), ["a.py|"]);
    }

    #[test]
    fn an_allowance_without_a_path_allows_nothing() {
        for plan in [
            "Allowed test changes: none",
            "Allowed test changes: *",
            "Allowed test changes: ** everything",
            "allowed test changes: /",
        ] {
            assert_eq!(paths(plan), Vec::<String>::new(), "{plan}");
        }
    }

    #[test]
    fn a_path_covers_itself_a_folder_its_contents_and_a_star_any_text() {
        let covers =
            |pattern: &str, path: &str| Allowance { path: pattern.to_owned(), reason: String::new() }.covers(path);
        assert!(
            covers("tests/a.py", "tests/a.py")
                && covers("tests/", "tests/b/c.py")
                && covers("tests/*.snap", "tests/x.snap")
        );
        assert!(!covers("tests/a.py", "tests/a.pyc") && !covers("tests/", "tests.py") && !covers("a.py", "x/a.py"));
    }

    proptest::proptest! {
        #[test]
        fn any_plan_is_read(plan in "(?s)(Allowed test changes:|[ -*`\\n\u{e9}]|[a-z/.]){0,60}") {
            for allowance in Allowance::of_plan(&plan) {
                proptest::prop_assert!(!allowance.covers(""));
            }
        }
    }
}
