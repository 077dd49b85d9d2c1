//! `held_out` in the user's own preferences: for each repository, a folder with checks that no session may read, and
//! the command that runs them.
//!
//! In other keys, unknown values are reported and ignored. Here the whole list is refused: a check that was left out
//! would look like one that passed.

use super::lines::bare;
use crate::text::front_matter::{FrontMatter, Value};

/// The key.
pub(crate) const KEY: &str = "held_out";

/// The keys that an entry must have.
const KEYS: [&str; 3] = ["repository", "folder", "command"];

/// An entry, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HeldOutEntry {
    /// The root of the repository.
    pub(crate) repository: String,
    /// The folder with the checks.
    pub(crate) folder: String,
    /// A line for the shell.
    pub(crate) command: String,
}

/// The line of the key; the first line if the key is in a one-line map.
pub(crate) fn line(text: &str) -> usize {
    let is_key = |line: &str| line.strip_prefix(KEY).is_some_and(|rest| rest.trim_start().starts_with(':'));
    text.lines().position(is_key).map_or(1, |line| line + 1)
}

/// The entries of a document, or what is wrong with the first invalid one.
pub(crate) fn entries(text: &str) -> Result<Vec<HeldOutEntry>, String> {
    let value = FrontMatter::parse(bare(text)).and_then(|front| front.get(KEY));
    let Some(value) = value.filter(|value| *value != Value::Empty) else { return Ok(Vec::new()) };
    let items = value.items().iter().enumerate();
    items.map(|(number, item)| entry(item).map_err(|why| format!("entry {} of `{KEY}` {why}", number + 1))).collect()
}

fn entry(item: &Value) -> Result<HeldOutEntry, String> {
    let Value::Map(keys) = item else { return Err(format!("does not have {}", KEYS.join(", "))) };
    if let Some((other, _)) = keys.iter().find(|(key, _)| !KEYS.contains(&key.as_str())) {
        let shown = crate::text::untrusted::line(other, 60);
        return Err(format!("has `{shown}`; it has {}", KEYS.join(", ")));
    }
    let text = |key: &str| {
        let text = item.get(key).and_then(Value::as_text).map(str::trim).filter(|text| !text.is_empty());
        text.map(str::to_owned).ok_or_else(|| format!("has no `{key}`"))
    };
    let [repository, folder, command] = KEYS.map(text);
    Ok(HeldOutEntry { repository: repository?, folder: folder?, command: command? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_completely_or_refused_by_number() {
        let text = "---\nmode: solo\nheld_out:\n  - repository: /w/one\n    folder: /w/held one\n    \
            command: sh \"$GSD_HELD_OUT/run.sh\" --all\n  - { repository: /w/two, folder: /w/held, command: make -f $GSD_HELD_OUT/m }\n---\n";
        let found = entries(text).unwrap();
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found[0].folder, "/w/held one");
        assert_eq!(found[0].command, "sh \"$GSD_HELD_OUT/run.sh\" --all");
        assert_eq!(found[1].repository, "/w/two");
        assert_eq!(line(text), 3);
        assert_eq!(entries("# nothing\n"), Ok(Vec::new()));
        for (broken, said) in [
            ("---\nheld_out: yes\n---\n", "entry 1 of `held_out` does not have repository, folder, command"),
            ("---\nheld_out:\n  - repository: /w\n    folder: /h\n---\n", "entry 1 of `held_out` has no `command`"),
            (
                "---\nheld_out:\n  - { repository: /w, folder: /h, command: x, shell: y }\n---\n",
                "entry 1 of `held_out` has `shell`; it has repository, folder, command",
            ),
        ] {
            assert_eq!(entries(broken), Err(said.to_owned()), "{broken}");
        }
    }
}
