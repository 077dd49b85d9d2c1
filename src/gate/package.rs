//! The scripts of a `package.json`.

use std::collections::BTreeMap;

use serde_json::Value;

/// The words in a text that could be the names of scripts.
pub(super) fn script_words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|letter: char| !(letter.is_alphanumeric() || "_:-.".contains(letter)));
    words.flat_map(|word| [word, word.strip_prefix("npm:").unwrap_or_default()]).filter(|word| !word.is_empty())
}

/// The scripts of a `package.json`.
pub(crate) fn scripts_of(package: &str) -> BTreeMap<String, String> {
    let package: Option<Value> = serde_json::from_str(package).ok();
    let scripts = package.as_ref().and_then(|package| package.get("scripts")).and_then(Value::as_object);
    let texts =
        scripts.into_iter().flatten().filter_map(|(name, text)| Some((name.clone(), text.as_str()?.to_owned())));
    texts.collect()
}
