//! The scripts of a `package.json`.

pub(crate) use crate::project::declared_commands::scripts_of;

/// The words in a text that could be the names of scripts.
pub(super) fn script_words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|letter: char| !(letter.is_alphanumeric() || "_:-.".contains(letter)));
    words.flat_map(|word| [word, word.strip_prefix("npm:").unwrap_or_default()]).filter(|word| !word.is_empty())
}
