//! Commits of plans: the subject of each has the plan's number for its scope, such as `feat(02-01): read notes`.

/// The pattern of the subject that a milestone is archived under: after it, numbers may start over.
pub(crate) const ARCHIVED: &str = "^chore: (archive|complete) v";

/// The pattern of the line by which a commit says which one it takes back.
pub(crate) const REVERTS: &str = "^(Reverts: |This reverts commit )";

/// The pattern, an extended regular expression, that the subjects of a plan's commits fit.
pub(crate) fn pattern(plan: &str) -> String {
    let mut escaped = String::new();
    for letter in plan.chars() {
        if ".+*?()[]{}|^$\\".contains(letter) {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    format!("^[a-z]+\\({escaped}\\)!?:")
}

/// `02-01` of `feat(02-01): read notes`; `None` if the subject is that of no such commit.
pub(crate) fn scope(subject: &str) -> Option<&str> {
    let (kind, rest) = subject.split_once('(')?;
    let (scope, rest) = rest.split_once(')')?;
    let is_kind = !kind.is_empty() && kind.bytes().all(|letter| letter.is_ascii_lowercase());
    let ends = rest.strip_prefix('!').unwrap_or(rest).starts_with(':');
    (is_kind && ends).then_some(scope)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pattern_and_the_scope_agree() {
        let subjects = [
            ("feat(02-01): x", true),
            ("fix(02-01)!: x", true),
            ("feat(02-01) x", false),
            ("Feat(02-01): x", false),
            ("feat(02-010): x", false),
            ("feat: x (02-01)", false),
            ("(02-01): x", false),
        ];
        let pattern = regex_lite::Regex::new(&pattern("02-01")).unwrap();
        for (subject, fits) in subjects {
            assert_eq!(scope(subject) == Some("02-01"), fits, "{subject}");
            assert_eq!(pattern.is_match(subject), fits, "{subject}");
        }
        assert_eq!(super::pattern("2.1-01"), "^[a-z]+\\(2\\.1-01\\)!?:");
    }
}
