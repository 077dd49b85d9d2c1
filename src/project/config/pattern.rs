//! Forms of keys: names between dots, and `*` for names that people give.

/// Names that stand for something else in the programs that read the file beside us.
const RESERVED: &[&str] = &["__proto__", "constructor", "prototype"];

/// Whether `key` is of the form `pattern`: a `*` stands for one name; at the end, for all the rest.
pub(super) fn fits(pattern: &str, key: &str) -> bool {
    let mut segments = key.split('.');
    let mut parts = pattern.split('.').peekable();
    while let Some(part) = parts.next() {
        match (part, segments.next()) {
            ("*", Some(segment)) if parts.peek().is_none() => return is_name(segment) && segments.all(is_name),
            ("*", Some(segment)) if is_name(segment) => {}
            (part, Some(segment)) if part == segment => {}
            _ => return false,
        }
    }
    segments.next().is_none()
}

fn is_name(segment: &str) -> bool {
    !segment.is_empty()
        && !RESERVED.contains(&segment)
        && segment.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '*' | ':'))
}
