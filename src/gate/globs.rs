//! The patterns by which scripts and makefiles of a project find its tests: `tests/test_*.sh`.

/// The patterns in a text, such as a script or a command line. If one begins with a variable, only the part after it.
pub(super) fn globs_in(text: &str) -> Vec<String> {
    let ends = |letter: char| letter.is_whitespace() || "\"'`();,=|&<>".contains(letter);
    let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    let words = lines.flat_map(|line| line.split(ends)).filter(|word| word.contains(['*', '?']));
    let mut found: Vec<String> = words
        .filter_map(|word| {
            let behind = match word.rfind('$') {
                Some(at) => word[at..].split_once('/')?.1,
                None => word.trim_start_matches("./").trim_start_matches('/'),
            };
            let says_something = behind.contains(char::is_alphanumeric) && behind.contains(['*', '?']);
            says_something.then(|| behind.to_owned())
        })
        .collect();
    found.sort();
    found.dedup();
    found
}

/// True if a shell would find a path by a pattern, in this folder or in one above it. `*` does not match hidden files.
pub(super) fn finds(pattern: &str, path: &str) -> bool {
    let patterns: Vec<&str> = pattern.split('/').collect();
    let parts: Vec<&str> = path.split('/').collect();
    (0..parts.len()).any(|from| parts.get(from..).is_some_and(|parts| finds_parts(&patterns, parts)))
}

fn finds_parts(patterns: &[&str], parts: &[&str]) -> bool {
    match (patterns.split_first(), parts.split_first()) {
        (None, None) => true,
        (Some((&"**", rest)), _) => {
            finds_parts(rest, parts) || parts.split_first().is_some_and(|(_, below)| finds_parts(patterns, below))
        }
        (Some((pattern, rest)), Some((part, below))) => {
            let is_hidden = part.starts_with('.') && !pattern.starts_with('.');
            let (pattern, part): (Vec<char>, Vec<char>) = (pattern.chars().collect(), part.chars().collect());
            !is_hidden && finds_name(&pattern, &part) && finds_parts(rest, below)
        }
        _ => false,
    }
}

fn finds_name(pattern: &[char], name: &[char]) -> bool {
    match (pattern.split_first(), name.split_first()) {
        (None, None) => true,
        (Some(('*', rest)), _) => {
            (0..=name.len()).any(|from| name.get(from..).is_some_and(|name| finds_name(rest, name)))
        }
        (Some(('?', rest)), Some((_, below))) => finds_name(rest, below),
        (Some((letter, rest)), Some((other, below))) => letter == other && finds_name(rest, below),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_found_in_scripts_makefiles_and_commands() {
        assert_eq!(globs_in("for test in tests/test_*.sh; do\n  # a/*.sh\n  x=1\ndone"), ["tests/test_*.sh"]);
        assert_eq!(
            globs_in("T = $(wildcard tests/test_*.c)\n\tfind tests -name '*_test.sh'"),
            ["*_test.sh", "tests/test_*.c"]
        );
        assert_eq!(globs_in("sh \"$here\"/unit_?.sh ${dir}/a/*.t x * $*"), ["a/*.t", "unit_?.sh"]);
    }

    #[test]
    fn a_pattern_finds_the_same_files_as_a_shell() {
        for (pattern, path) in [
            ("tests/test_*.sh", "tests/test_a.sh"),
            ("test_*.sh", "tests/test_a.sh"),
            ("tests/**/*.t", "tests/a/b/c.t"),
            ("tests/**/*.t", "tests/c.t"),
            ("t?.sh", "t1.sh"),
        ] {
            assert!(finds(pattern, path), "{pattern} {path}");
        }
        for (pattern, path) in [
            ("tests/test_*.sh", "tests/a_test.sh"),
            ("tests/test_*.sh", "tests/unit/test_a.sh"),
            ("tests/*.sh", "tests/.a.sh"),
            ("*.sh", "a.sh.off"),
        ] {
            assert!(!finds(pattern, path), "{pattern} {path}");
        }
    }
}
