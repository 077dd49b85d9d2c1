//! The scripts of a `package.json`.

pub(crate) use crate::project::declared_commands::scripts_of;
use crate::text::words::word_list;

/// True if an option of a package manager selects another package than the folder's, or several.
pub(crate) fn leads_elsewhere(word: &str) -> bool {
    let option = word.split_once('=').map_or(word, |(option, _)| option);
    word_list!("-w -ws -r -C -F --workspace --workspaces --recursive --filter --dir --cwd").contains(&option)
}

/// The words in a text that could be the names of scripts.
pub(super) fn script_words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|letter: char| !(letter.is_alphanumeric() || "_:-.".contains(letter)));
    words.flat_map(|word| [word, word.strip_prefix("npm:").unwrap_or_default()]).filter(|word| !word.is_empty())
}
