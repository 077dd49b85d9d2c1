//! One piece of content: its kind, its name, its front matter, and its body.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::front_matter::FrontMatter;

/// The kind of a piece of content, or of an installed file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ItemKind {
    /// A command that a person types.
    Command,
    /// A command that is listed to the model and names the command to use.
    Router,
    Workflow,
    Agent,
    Reference,
    Template,
    /// The program itself and the small files next to it.
    Program,
    /// The registration of the hooks with the host.
    Hook,
    /// Any other entry in a settings file of the host.
    Settings,
}

/// The name of an item among those of its kind: `plan-phase`, or `plan-phase/steps/chunked` for a nested file.
///
/// It is the path below the kind's folder without `.md`; other extensions stay, as in `config.json`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub(crate) struct ItemName(String);

/// The error for a text that cannot name an item.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` cannot name an item: letters, digits, `-`, `_` and `.`, in parts separated by `/`")]
pub(crate) struct NameError {
    text: String,
}

impl FromStr for ItemName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let part_is_good = |part: &str| {
            part.starts_with(|first: char| first.is_ascii_alphanumeric())
                && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
        };
        if text.split('/').all(part_is_good) {
            Ok(ItemName(text.to_owned()))
        } else {
            Err(NameError { text: text.to_owned() })
        }
    }
}

impl ItemName {
    /// Begins a search in sorted names: the names that begin with `prefix` follow it.
    pub(super) fn before_all(prefix: &str) -> Self {
        Self(prefix.to_owned())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ItemName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// One file of the library.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Item {
    pub(crate) kind: ItemKind,
    pub(crate) name: ItemName,
    /// Its path in the library: `workflows/plan-phase.md`.
    pub(crate) path: String,
    /// Empty for references and templates: front matter in those is part of their body.
    pub(crate) front_matter: FrontMatter,
    pub(crate) body: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_good_parts_and_never_leaves_its_folder() {
        for good in ["plan-phase", "plan-phase/steps/chunked", "UAT", "config.json", "v2_x"] {
            assert_eq!(good.parse::<ItemName>().unwrap().as_str(), good);
        }
        for bad in ["", "/x", "x/", "a//b", "../x", "a/../b", ".hidden", "a b", "a\\b", "ä"] {
            assert!(bad.parse::<ItemName>().is_err(), "{bad}");
        }
    }
}
