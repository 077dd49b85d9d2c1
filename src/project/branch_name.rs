//! Branch names that a setting may contain: none that git refuses, and none that a shell would interpret.
//!
//! The rules of git: <https://git-scm.com/docs/git-check-ref-format>, 2026-11.

/// The placeholders for values in a name template.
const PLACEHOLDERS: &[&str] = &["{project}", "{phase}", "{slug}", "{milestone}", "{num}", "{quick}"];

/// The file ending that git reserves for its own files.
const LOCK: &str = ".lock";

/// Whether git accepts `name` for a branch and a shell reads it as one plain word.
pub(crate) fn is_branch_name(name: &str) -> bool {
    let is_plain = |letter: char| {
        letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.' | '/' | '+' | '@' | '=' | '%' | ',' | '#')
    };
    let is_part =
        |part: &str| !part.is_empty() && !part.starts_with('.') && !part.ends_with('.') && !part.ends_with(LOCK);
    name.chars().all(is_plain)
        && !name.starts_with(['-', '#'])
        && name != "@"
        && !name.contains("..")
        && name.split('/').all(is_part)
}

/// Whether a template yields valid names.
pub(crate) fn is_branch_template(template: &str) -> bool {
    let example = PLACEHOLDERS.iter().fold(template.to_owned(), |text, place| text.replace(place, "x"));
    is_branch_name(&example)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_git_refuses_or_a_shell_interprets_are_not_valid() {
        for name in ["main", "release/1.2", "gsd/phase-02-notes", "größe+2", "v1.0", "fix/#12"] {
            assert!(is_branch_name(name), "{name}");
        }
        for name in [
            "",
            "-x",
            "--upload-pack=x",
            "a b",
            "$(id)",
            "a;b",
            "a`b`",
            "a|b",
            "a&b",
            "a>b",
            "a'b",
            "a\"b",
            "a..b",
            "a//b",
            "/a",
            "a/",
            ".a",
            "a/.b",
            "a.lock",
            "a@{1}",
            "a~1",
            "a^",
            "a:b",
            "a\\b",
            "a\nb",
            "*",
            "a.",
            "@",
            "#1",
            "a\u{202e}b",
        ] {
            assert!(!is_branch_name(name), "{name:?}");
        }
        assert!(is_branch_template("work/{slug}/{phase}") && is_branch_template("{project}-{milestone}"));
        assert!(!is_branch_template("$(id)/{phase}") && !is_branch_template("{other}/x"));
    }
}
