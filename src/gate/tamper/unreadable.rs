//! Lines of tests that their language reads differently from a person: an invisible line end, a comment that swallows
//! the next line, characters of an encoding that hides code.

use super::Text;
use super::finding::{Finding, Weakening};
use super::lexer::Language;

use crate::project::check_files::role_of;

/// Encodings that do not change what is a comment and what is a string.
const PLAIN: &[&str] =
    &["utf8", "utf8sig", "ascii", "usascii", "latin1", "iso8859", "cp125", "windows125", "koi8", "binary"];

/// New lines that are not what they seem.
pub(super) fn added(text: &Text<'_>) -> Vec<Finding> {
    let Some(language) = Language::of(text.path).filter(|_| role_of(text.path).is_some()) else { return Vec::new() };
    if !is_suspect(text.now()) {
        return Vec::new();
    }
    let hidden = |(number, line): (usize, &str)| {
        let what = hidden(line.strip_suffix('\r').unwrap_or(line), number, language, text.path)?;
        let what = format!("this line cannot be read for certain: {what}");
        Some(text.finding(number, Weakening::Unreadable, what))
    };
    text.new_lines().into_iter().filter_map(hidden).collect()
}

/// True if a text contains any of the suspect characters or words.
fn is_suspect(text: &str) -> bool {
    text.contains(['\r', '\0', '\u{b}', '\u{c}', '\u{2028}', '\u{2029}', '\\'])
        || text.contains("??/")
        || text.contains("coding")
}

fn hidden(line: &str, number: usize, language: Language, path: &str) -> Option<String> {
    let is_of_c = [".c", ".cc", ".cpp", ".h", ".hpp"].iter().any(|ending| path.ends_with(ending));
    if line.contains('\0') {
        return Some("it has a character zero".to_owned());
    }
    if line.contains('\r') {
        return Some("a carriage return inside of it ends a line for some".to_owned());
    }
    if language == Language::Script && line.contains(['\u{2028}', '\u{2029}']) {
        return Some("a separator of lines or paragraphs ends a line of JavaScript; write it as `\\u2028`".to_owned());
    }
    if line.contains(['\u{c}', '\u{b}']) && !line.trim().is_empty() {
        return Some("a form feed inside of it changes how far it is indented".to_owned());
    }
    if is_of_c && line.contains("??/") {
        return Some("`??/` is a backslash to some compilers".to_owned());
    }
    if is_of_c && line.contains("//") && line.trim_end().ends_with('\\') {
        return Some("its comment continues on the next line".to_owned());
    }
    let is_head = number <= 2 && matches!(language, Language::Python | Language::Ruby);
    is_head.then(|| encoding(line)).flatten().map(|name| format!("the encoding `{name}` may hide code in comments"))
}

/// The encoding that a comment names, unless it is a plain one.
fn encoding(line: &str) -> Option<&str> {
    let (_, rest) = line.trim_start().strip_prefix('#')?.split_once("coding")?;
    let rest = rest.strip_prefix([':', '='])?.trim_start();
    let name = rest.split(|letter: char| !(letter.is_alphanumeric() || "-_.".contains(letter))).next()?;
    let plain: String = name.to_ascii_lowercase().chars().filter(|letter| letter.is_alphanumeric()).collect();
    (!plain.is_empty() && !PLAIN.iter().any(|known| plain.starts_with(known))).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_not_what_they_seem_are_found_and_others_are_not() {
        let found = |path: &str, line: &str| {
            let after = format!("{line}\nx\n");
            added(&Text { path, before: Some("x\n".to_owned()), after: Some(after) }).len()
        };
        for (path, line) in [
            ("tests/test_a.py", "# Sums.\r        return"),
            ("test/a.test.js", "// Sums.\r return"),
            ("test/a.test.js", "// Sums.\u{2028} return"),
            ("tests/test_a.py", "  \u{c}    return"),
            ("tests/test_a.py", "# coding: utf-7"),
            ("tests/test_a.py", "# -*- coding: unicode_escape -*-"),
            ("tests/a.c", "// Sums. \\"),
            ("tests/a.c", "// Sums. \\  "),
            ("tests/a.c", "// Sums???/"),
            ("tests/a.sh", "a\0b"),
        ] {
            assert_eq!(found(path, line), 1, "{path}: {line:?}");
        }
        for (path, line) in [
            ("tests/test_a.py", "# Sums.\r"),
            ("tests/test_a.py", "\u{c}"),
            ("tests/test_a.py", "# -*- coding: utf-8 -*-"),
            ("tests/test_a.py", "# vim: set fileencoding=latin-1 :"),
            ("tests/test_a.py", "# how coding goes: well"),
            ("tests/test_a.py", "a = '\u{2028}'"),
            ("tests/test_a.py", "a = 1 + \\"),
            ("tests/a.c", "#define A(x) \\"),
            ("src/calc.c", "// Sums. \\"),
        ] {
            assert_eq!(found(path, line), 0, "{path}: {line:?}");
        }
    }
}
