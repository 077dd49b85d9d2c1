//! Keys that a unit would commit.

use super::tamper::{FileChange, added_lines};
use crate::text::secrets::key_in;

/// A line that holds a key. The key itself is nowhere in it, so that it can be shown and logged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}:{line}: this line holds what looks like a key ({kind})")]
pub(crate) struct SecretFound {
    pub(crate) path: String,
    /// Counted from one.
    pub(crate) line: usize,
    /// How the key begins.
    pub(crate) kind: &'static str,
}

impl SecretFound {
    pub(crate) fn way_on(&self, unit: &str) -> String {
        format!(
            "take it out of `{}` and read it from the environment; or a person decides: `gsd-tools auto verdict {unit} pass \
             --rationale \"WHY\"`",
            self.path
        )
    }
}

/// The lines that a unit adds and that hold keys. Files that are no text are not looked into.
pub(crate) fn added_secrets(changes: &[FileChange<'_>]) -> Vec<SecretFound> {
    let mut found = Vec::new();
    for change in changes {
        let text = |bytes: Option<&[u8]>| bytes.and_then(|bytes| std::str::from_utf8(bytes).ok()).map(str::to_owned);
        let Some(after) = text(change.after) else { continue };
        // Most files hold none, and need not be compared.
        if !after.lines().any(|line| key_in(line).is_some()) {
            continue;
        }
        let added = added_lines(&text(change.before).unwrap_or_default(), &after);
        for (line, text) in after.lines().enumerate().map(|(number, text)| (number + 1, text)) {
            if let Some(kind) = key_in(text).filter(|_| added.contains(&line)) {
                found.push(SecretFound { path: change.path.to_owned(), line, kind });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_a_unit_adds_is_found_and_not_shown() {
        let key = "ghp_0123456789abcdefABCDEF";
        let (before, after) = (format!("old = '{key}'\n"), format!("old = '{key}'\nnew = '{key}'\n"));
        let change = |path, before, after| FileChange { path, before, after };
        let changes = [
            change("a.py", Some(before.as_bytes()), Some(after.as_bytes())),
            change("b.bin", None, Some(&[0xff, 0xfe][..])),
            change("c.py", Some(after.as_bytes()), None),
        ];
        let found = added_secrets(&changes);
        assert_eq!(found, [SecretFound { path: "a.py".to_owned(), line: 2, kind: "ghp_" }]);
        let told = format!("{} {}", found[0], found[0].way_on("T01"));
        assert!(!told.contains(key) && told.contains("gsd-tools auto verdict T01 pass"), "{told}");
    }
}
