//! The lists of facts in the answers, from `answers.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::find;
use crate::operations::facts::Fact;

/// Lists by their names.
type Lists = BTreeMap<String, String>;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Answers {
    /// Keys that only scripts written for the compatible program read.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests keep the list"))]
    pub(super) for_scripts: String,
    groups: Lists,
    /// Lists by the last word of the verb.
    pub(super) verbs: Lists,
    /// `always`, and the words of `needs`.
    pub(super) workflow: Lists,
}

impl Answers {
    pub(super) fn embedded() -> &'static Self {
        static ANSWERS: LazyLock<Answers> =
            LazyLock::new(|| toml_edit::de::from_str(include_str!("answers.toml")).unwrap_or_default());
        &ANSWERS
    }

    /// The keys and facts that a list names. A test checks that all of them exist; unknown ones would be left out.
    pub(super) fn rows<'list>(&'list self, list: &'list str) -> Vec<(&'list str, &'static Fact)> {
        let row = |word: &'list str| {
            let (key, name) = word.split_once('=').unwrap_or((word, word));
            Some((key, find(name)?))
        };
        self.words(list).into_iter().filter_map(row).collect()
    }

    /// The words of a list; a group is replaced by its words.
    pub(super) fn words<'list>(&'list self, list: &'list str) -> Vec<&'list str> {
        let words = list.split_whitespace().map(|word| match word.strip_prefix('@') {
            Some(group) => self.words(self.groups.get(group).map_or("", String::as_str)),
            None => vec![word],
        });
        words.flatten().collect()
    }
}
