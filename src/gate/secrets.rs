//! Keys that would be committed.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::tamper::{FileChange, added_lines};
use crate::project::check_files::fits;
use crate::text::secrets::key_in;
use crate::text::shell::{Typed, typed};

/// A line that looks as if it has a key. The key itself is not included, so that it can be shown and logged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{path}:{line}: this line holds what looks like a key ({kind})")]
pub(crate) struct SecretFound {
    pub(crate) path: String,
    /// Counted from one.
    pub(crate) line: usize,
    /// How the key begins.
    pub(crate) kind: String,
}

/// The most lines that are listed.
const LISTED: usize = 10;

/// The lines with keys that `changes` add. A line from a deleted file has only moved. Binary files are not searched.
pub(crate) fn added_secrets(changes: &[FileChange<'_>]) -> Vec<SecretFound> {
    let mut moved: HashSet<String> = HashSet::new();
    for gone in changes.iter().filter(|change| change.after.is_none()) {
        let text = gone.before.and_then(text_of).unwrap_or_default();
        moved.extend(text.lines().filter(|line| key_in(line).is_some()).map(str::to_owned));
    }
    let mut found = Vec::new();
    for change in changes {
        let Some(after) = change.after.filter(|after| holds_key(after)).and_then(text_of) else { continue };
        let before = change.before.and_then(text_of).unwrap_or_default();
        let added = added_lines(&before, &after);
        for (line, text) in after.lines().enumerate().map(|(index, text)| (index + 1, text)) {
            if let Some(kind) = key_in(text).filter(|_| added.contains(&line) && !moved.contains(text)) {
                found.push(SecretFound { path: change.path.to_owned(), line, kind: kind.to_owned() });
            }
        }
    }
    found
}

/// True if a file has what looks like a key. Most do not, and need not be compared with their earlier version.
pub(crate) fn holds_key(bytes: &[u8]) -> bool {
    text_of(bytes).is_some_and(|text| text.lines().any(|line| key_in(line).is_some()))
}

/// The file as text; `None` if git treats it as binary.
fn text_of(bytes: &[u8]) -> Option<String> {
    const LOOKED_AT: usize = 8_000;
    let is_binary = bytes.iter().take(LOOKED_AT).any(|byte| *byte == 0);
    (!is_binary).then(|| String::from_utf8_lossy(bytes).into_owned())
}

/// The keys that a person has not allowed. `allowed` are paths of files, or patterns with `*`.
pub(crate) fn not_allowed(found: Vec<SecretFound>, allowed: &[String]) -> Vec<SecretFound> {
    let is_allowed = |secret: &SecretFound| allowed.iter().any(|pattern| fits(pattern, &secret.path));
    found.into_iter().filter(|secret| !is_allowed(secret)).collect()
}

/// The message for the next attempt and for a person: where the keys are, and what to do.
pub(crate) fn report(found: &[SecretFound]) -> String {
    let mut lines: Vec<String> = found.iter().take(LISTED).map(ToString::to_string).collect();
    let more = found.len().saturating_sub(LISTED);
    lines.extend((more > 0).then(|| format!("and {more} more")));
    lines.push("keys are not committed: remove it, and read it from the environment".to_owned());
    lines.join("\n")
}

/// The command for a person who knows that the match is not a key.
pub(crate) fn way_on<'a>(paths: impl IntoIterator<Item = &'a str>) -> String {
    let mut flags: Vec<Typed> = paths.into_iter().map(|path| typed!("--allow-key {}", path)).collect();
    flags.dedup();
    let command = flags.iter().fold(Typed::from("gsd-tools auto run"), Typed::and);
    format!("if it is not a key: `{command}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "ghp_0123456789abcdefABCDEF";

    fn change<'a>(path: &'a str, before: Option<&'a [u8]>, after: Option<&'a [u8]>) -> FileChange<'a> {
        FileChange { path, before, after }
    }

    #[test]
    fn an_added_key_is_found_and_not_shown() {
        let (before, after) = (format!("old = '{KEY}'\n"), format!("old = '{KEY}'\nnew = '{KEY}'\n"));
        let latin = [&[0xe9, b'\n'][..], KEY.as_bytes()].concat();
        let binary = [&[0, b'\n'][..], KEY.as_bytes()].concat();
        let found = added_secrets(&[
            change("a.py", Some(before.as_bytes()), Some(after.as_bytes())),
            change("b.bin", None, Some(&binary)),
            change("d.txt", None, Some(&latin)),
        ]);
        let places: Vec<(&str, usize)> = found.iter().map(|found| (found.path.as_str(), found.line)).collect();
        assert_eq!(places, [("a.py", 2), ("d.txt", 2)]);
        let report = report(&found);
        assert!(report.starts_with("a.py:2: this line holds what looks like a key (ghp_)\n"), "{report}");
        assert!(!report.contains(KEY), "{report}");
    }

    #[test]
    fn an_existing_key_may_move_with_its_file() {
        let (old, new) = (format!("k = '{KEY}'\n"), format!("# moved\nk = '{KEY}'\n"));
        let gone = change("a.py", Some(old.as_bytes()), None);
        let moved = change("b.py", None, Some(new.as_bytes()));
        assert_eq!(added_secrets(&[gone, moved]), []);
        assert_eq!(added_secrets(&[moved]).len(), 1);
    }

    #[test]
    fn a_person_allows_a_file_by_its_path_or_a_pattern() {
        let found = |path: &str| vec![SecretFound { path: path.to_owned(), line: 1, kind: "ghp_".to_owned() }];
        let allowed = ["tests/a.pem".to_owned(), "fixtures/*".to_owned()];
        assert_eq!(not_allowed(found("tests/a.pem"), &allowed), []);
        assert_eq!(not_allowed(found("fixtures/x/b.pem"), &allowed), []);
        assert_eq!(not_allowed(found("src/a.pem"), &allowed).len(), 1);
        let way_on = way_on(["a b.pem", "a b.pem", "c.pem"]);
        assert!(way_on.ends_with("`gsd-tools auto run --allow-key \"a b.pem\" --allow-key c.pem`"), "{way_on}");
    }
}
