//! What a key of the configuration accepts.

use std::fmt;

use serde_json::Value;

use crate::project::branch_name::{is_branch_name, is_branch_template};
use crate::text::shell::acting_letter;

/// What a key accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Accepts {
    Anything,
    /// Text, even where it looks like a number or a switch.
    Text,
    /// `true` or `false`.
    Switch,
    /// `true`, `false` or one of some words.
    SwitchOr(&'static [&'static str]),
    /// `true`, `false`, or text that is nobody else's to see.
    Secret,
    /// A whole number.
    Number,
    /// A whole number, or -1 for none.
    Limit,
    /// A whole number from one to another.
    Within(u64, u64),
    OneOf(&'static [&'static str]),
    /// Text, or a list of texts.
    List,
    /// The name of a branch.
    Branch,
    /// A name of a branch with places for values.
    BranchTemplate,
    /// Text at the beginning of names of folders.
    Code,
    /// One path below the project or several.
    Paths,
    /// The name of a page that agents are told to read.
    Page(&'static [&'static str]),
}

impl Accepts {
    /// Whether a person can set this value.
    pub(super) fn fits(self, value: &Value) -> bool {
        match self {
            Self::Anything => true,
            Self::Text => value.is_string(),
            Self::Switch => value.is_boolean(),
            Self::SwitchOr(words) => value.is_boolean() || is_one_of(value, words),
            Self::Secret => value.is_boolean() || value.is_string(),
            Self::Number => value.is_u64(),
            Self::Limit => value.is_u64() || value.as_i64() == Some(-1),
            Self::Within(least, most) => value.as_u64().is_some_and(|number| (least..=most).contains(&number)),
            Self::OneOf(words) => is_one_of(value, words),
            Self::List => {
                let texts = value.as_array().is_some_and(|items| items.iter().all(Value::is_string));
                texts || value.is_string()
            }
            Self::Branch | Self::BranchTemplate | Self::Code | Self::Paths | Self::Page(_) => self.is_usable(value),
        }
    }

    /// Whether a value of a file can be used safely. What is only of the wrong kind is not looked at: readers fall back
    /// to the default there.
    pub(super) fn is_usable(self, value: &Value) -> bool {
        match self {
            Self::Branch => value.as_str().is_some_and(is_branch_name),
            Self::BranchTemplate => value.as_str().is_some_and(is_branch_template),
            Self::Code => value.as_str().is_some_and(is_code),
            // What is neither text nor a list of texts is read as no path.
            Self::Paths => value.as_str().into_iter().chain(texts_in(value)).all(is_path),
            Self::Page(words) => is_one_of(value, words),
            _ => true,
        }
    }
}

impl fmt::Display for Accepts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let branch = "a branch name of letters, digits and signs that mean nothing to a shell";
        match self {
            Self::Anything => f.write_str("any value"),
            Self::Text => f.write_str("text"),
            Self::Switch => f.write_str("`true` or `false`"),
            Self::SwitchOr(words) => write!(f, "`true`, `false` or {}", listed(words)),
            Self::Secret => f.write_str("`true`, `false` or an API key"),
            Self::Number => f.write_str("a whole number"),
            Self::Limit => f.write_str("a whole number, or -1 for none"),
            Self::Within(least, most) => write!(f, "a whole number from {least} to {most}"),
            Self::OneOf(words) | Self::Page(words) => f.write_str(&listed(words)),
            Self::List => f.write_str("text, or a JSON list of texts"),
            Self::Branch => f.write_str(branch),
            Self::BranchTemplate => write!(f, "{branch}; `{{phase}}`, `{{milestone}}` and `{{slug}}` are replaced"),
            Self::Code => f.write_str("letters, digits, `-` and `_`, with a letter or digit first"),
            Self::Paths => f.write_str("paths below the project, without signs that mean something to a shell"),
        }
    }
}

fn is_one_of(value: &Value, words: &[&str]) -> bool {
    value.as_str().is_some_and(|text| words.contains(&text))
}

/// The words as in a sentence: `a`, `b` or `c`.
fn listed(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

fn texts_in(value: &Value) -> impl Iterator<Item = &str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str)
}

fn is_code(text: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    text.chars().all(plain) && !text.starts_with(['-', '_'])
}

fn is_path(text: &str) -> bool {
    let leads_out = text.starts_with(['/', '-', '~']) || text.split('/').any(|segment| segment == "..");
    !leads_out && acting_letter(text).is_none()
}
