//! Patterns of keys: names between dots, and `*` for names that people choose.

/// Names with a special meaning in other programs that read the same file.
const RESERVED: &[&str] = &["__proto__", "constructor", "prototype"];

/// Whether `key` matches `pattern`: a `*` matches one name; at the end, it matches all the rest.
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
