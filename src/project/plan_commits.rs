//! Commits of plans: the scope in each subject is the plan's number, such as `feat(02-01): read notes`.

use super::folder::canonical_id;

/// The pattern of the commit subject that archives a milestone: after it, numbers may start over.
pub(crate) const ARCHIVED: &str = "^chore: (archive|complete) v";

/// The pattern of the line that names the commit which a commit reverts.
pub(crate) const REVERTS: &str = "^(Reverts: |This reverts commit )";

/// The extended regular expression that matches the subjects of a plan's commits.
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

/// `02-01` for `feat(02-01): read notes`; `None` if the subject has another form.
pub(crate) fn scope(subject: &str) -> Option<&str> {
    let (kind, rest) = subject.split_once('(')?;
    let (scope, rest) = rest.split_once(')')?;
    let is_kind = !kind.is_empty() && kind.bytes().all(|letter| letter.is_ascii_lowercase());
    let ends = rest.strip_prefix('!').unwrap_or(rest).starts_with(':');
    (is_kind && ends).then_some(scope)
}

/// An extended regular expression that matches every subject which [`scopes_among`] ascribes to this plan or phase.
pub(crate) fn loose_pattern(id: &str) -> String {
    let numbers: Vec<String> = normal(canonical_id(id)).split('-').map(|part| part.replace('.', "\\.")).collect();
    format!("(^|[^0-9])0*{}([^0-9]|$)", numbers.join("-0*"))
}

/// The plans and phases among `known` that a commit's subject names: `feat(01-01): x`, `feat(1-1): x`,
/// `Feat(phase-1): x`, `feat(01-01,01-02): x`, `[01-01] x`, `01-01: x`.
pub(crate) fn scopes_among<'a>(subject: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let said = numbers(subject);
    let is_said = |id: &&str| {
        let own = [normal(id), normal(canonical_id(id))];
        said.iter().any(|said| own.contains(said))
    };
    known.into_iter().filter(is_said).collect()
}

/// Whether a subject names a plan of this phase.
pub(crate) fn is_of_plans_of(subject: &str, phase: &str) -> bool {
    let start = format!("{}-", normal(phase));
    numbers(subject).iter().any(|said| said.starts_with(&start))
}

/// Whether a subject names a plan or a phase.
pub(crate) fn has_number(subject: &str) -> bool {
    let is_number = |said: &String| said.bytes().any(|byte| byte.is_ascii_digit());
    numbers(subject).iter().any(is_number)
}

/// The numbers in the scope of a subject, without leading zeros.
fn numbers(subject: &str) -> Vec<String> {
    let of_kind = || {
        let (kind, rest) = subject.split_once('(')?;
        let (scope, rest) = rest.split_once(')')?;
        let is_kind = !kind.is_empty() && kind.bytes().all(|letter| letter.is_ascii_alphabetic());
        (is_kind && rest.strip_prefix('!').unwrap_or(rest).starts_with(':')).then_some(scope)
    };
    // Without a kind, only a word in the form of a plan's number counts.
    let is_plan =
        |text: &&str| text.contains('-') && text.bytes().all(|byte| byte.is_ascii_digit() || b"-.".contains(&byte));
    let bare = || {
        let in_brackets = subject.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        in_brackets.or_else(|| subject.split_once(':')).map(|(scope, _)| scope).filter(is_plan)
    };
    let scope = of_kind().or_else(bare).unwrap_or_default();
    scope.split([',', '+', '&', '/', ';']).map(normal).filter(|part| !part.is_empty()).collect()
}

/// `1-2` for `01-02` and `phase-01-02`.
fn normal(id: &str) -> String {
    let id = id.trim().to_ascii_lowercase();
    let bare = ["phase", "plan"].iter().find_map(|word| id.strip_prefix(word)).unwrap_or(&id);
    let bare = bare.trim_start_matches(['-', ' ', '_']);
    let number = |part: &str| {
        let short = part.trim_start_matches('0');
        let is_number = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        match (is_number, short) {
            (true, "") => "0".to_owned(),
            (true, short) => short.to_owned(),
            (false, _) => part.to_owned(),
        }
    };
    let parts = bare.split('-').map(|part| part.split('.').map(number).collect::<Vec<_>>().join("."));
    parts.collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_names_a_plan_in_any_spelling_of_its_number() {
        let known = ["01-01", "01-02", "01", "11-01"];
        for (subject, plans) in [
            ("feat(01-01): x", &["01-01"][..]),
            ("feat(1-1): x", &["01-01"]),
            ("feat(01-1)!: x", &["01-01"]),
            ("Feat(01-01): x", &["01-01"]),
            ("feat(1): x", &["01"]),
            ("feat(phase-1): x", &["01"]),
            ("feat(01-01,01-02): x", &["01-01", "01-02"]),
            ("[01-01] x", &["01-01"]),
            ("01-01: x", &["01-01"]),
            ("feat(11-1): x", &["11-01"]),
            ("feat(2-01): x", &[]),
            ("feat(101-01): x", &[]),
            ("feat(notes): 01-01", &[]),
            ("Revert \"feat(01-01): x\"", &[]),
            ("test: fix 01-01", &[]),
            ("1: x", &[]),
            ("[1] x", &[]),
        ] {
            assert_eq!(scopes_among(subject, known), plans, "{subject}");
            for plan in plans {
                assert!(regex_lite::Regex::new(&loose_pattern(plan)).unwrap().is_match(subject), "{subject}");
            }
        }
        assert!(has_number("docs(02-03): x") && has_number("docs(phase-2): x"));
        assert!(!has_number("docs(notes): x") && !has_number("docs: 02-03"));
        assert_eq!(scopes_among("feat(02-03): x", ["02-03-user-interface"]), ["02-03-user-interface"]);
    }

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
