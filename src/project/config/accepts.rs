//! The values that a key of the configuration accepts.

use std::fmt;

use serde_json::Value;

use crate::project::branch_name::{is_branch_name, is_branch_template};
use crate::text::shell::acting_letter;

/// The values that a key accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Accepts {
    Anything,
    /// Text, even if it looks like a number or a switch.
    Text,
    /// `true` or `false`.
    Switch,
    /// `true`, `false` or one of these words.
    SwitchOr(&'static [&'static str]),
    /// `true`, `false`, or a secret text.
    Secret,
    /// A whole number.
    Number,
    /// A whole number that is not zero.
    Count,
    /// A whole number, or -1 for none.
    Limit,
    /// A whole number in this range.
    Within(u64, u64),
    /// A number in this range, whole or not.
    Percent(u8, u8),
    OneOf(&'static [&'static str]),
    /// Text, or a list of texts.
    List,
    /// A list of texts, none of them empty.
    Names,
    /// A list of reviewer programs.
    Reviewers,
    /// Sections for the text of a pull request.
    Sections,
    /// The name of a branch.
    Branch,
    /// A branch name with placeholders.
    BranchTemplate,
    /// A prefix for folder names.
    Code,
    /// One or several paths below the project.
    Paths,
    /// The name of a page that agents read.
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
            Self::Count => value.as_u64().is_some_and(|number| number > 0),
            Self::Limit => value.is_u64() || value.as_i64() == Some(-1),
            Self::Within(least, most) => value.as_u64().is_some_and(|number| (least..=most).contains(&number)),
            Self::Percent(least, most) => {
                value.as_f64().is_some_and(|number| (f64::from(least)..=f64::from(most)).contains(&number))
            }
            Self::OneOf(words) => is_one_of(value, words),
            Self::Names => is_list_of(value, |item| item.as_str().is_some_and(|name| !name.trim().is_empty())),
            Self::Reviewers => is_list_of(value, |item| item.as_str().is_some_and(is_reviewer)),
            Self::Sections => value.as_array().is_some_and(|sections| sections.iter().all(is_section)),
            Self::List => {
                let texts = value.as_array().is_some_and(|items| items.iter().all(Value::is_string));
                texts || value.is_string()
            }
            Self::Branch | Self::BranchTemplate | Self::Code | Self::Paths | Self::Page(_) => self.is_usable(value),
        }
    }

    /// The form in which a value that [`Self::fits`] is written to the file.
    pub(super) fn stored(self, value: Value) -> Value {
        match (self, value) {
            (Self::Reviewers, Value::Array(items)) => {
                let mut names: Vec<String> = Vec::new();
                for name in items.iter().filter_map(Value::as_str).map(str::to_ascii_lowercase) {
                    if !names.contains(&name) {
                        names.push(name);
                    }
                }
                Value::from(names)
            }
            (_, value) => value,
        }
    }

    /// Whether a value from a file is safe to use. A value of the wrong kind passes: readers fall back to the default
    /// then.
    pub(super) fn is_usable(self, value: &Value) -> bool {
        match self {
            Self::Branch => value.as_str().is_some_and(is_branch_name),
            Self::BranchTemplate => value.as_str().is_some_and(is_branch_template),
            Self::Code => value.as_str().is_some_and(is_code),
            // A value that is neither text nor a list of texts is not read as a path.
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
            Self::Count => f.write_str("a whole number from 1 on"),
            Self::Limit => f.write_str("a whole number, or -1 for none"),
            Self::Within(least, most) => write!(f, "a whole number from {least} to {most}"),
            Self::Percent(least, most) => write!(f, "a number from {least} to {most}"),
            Self::Names => f.write_str("a JSON list of texts, with at least one"),
            Self::Reviewers => f.write_str("a JSON list of programs that review, such as `[\"ollama\"]`"),
            Self::Sections => f.write_str(
                "a JSON list of sections, each with a `heading` of one line, with `source` (`PLAN.md ## Risks`, several \
                 separated by `||`), `template` or `fallback`, and with `enabled` true or false if wanted",
            ),
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

/// Joins the words for a sentence: `a`, `b` or `c`.
fn listed(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

/// Whether a value is a list of at least one item, each of which `fits`.
fn is_list_of(value: &Value, fits: impl Fn(&Value) -> bool) -> bool {
    value.as_array().is_some_and(|items| !items.is_empty() && items.iter().all(fits))
}

/// Whether a text is a valid name of a reviewer program.
fn is_reviewer(name: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    name.starts_with(|first: char| first.is_ascii_alphanumeric()) && name.chars().all(plain)
}

/// Whether a value describes a section for the text of a pull request: its source, or its text.
fn is_section(value: &Value) -> bool {
    const TEXTS: &[&str] = &["source", "template", "fallback"];
    let Some(section) = value.as_object() else { return false };
    let text = |key: &str| section.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let has_heading = text("heading").is_some_and(|heading| !heading.contains(['\n', '\r']));
    let is_known = |(key, value): (&String, &Value)| match key.as_str() {
        "heading" => true,
        "enabled" => value.is_boolean(),
        key => TEXTS.contains(&key) && value.is_string(),
    };
    let has_text = TEXTS.iter().any(|key| text(key).is_some());
    let source_is_sound =
        text("source").is_none_or(|source| source.split("||").filter(|place| !place.trim().is_empty()).all(is_place));
    has_heading && section.iter().all(is_known) && has_text && source_is_sound
}

/// Whether a text names a section of a phase document: `PLAN.md ## Risks`.
fn is_place(text: &str) -> bool {
    let Some((file, heading)) = text.trim().split_once(char::is_whitespace) else { return false };
    let is_document = file.strip_suffix(".md").is_some_and(|name| !name.is_empty() && !name.contains(['/', '\\']));
    let title = heading.trim_start().strip_prefix("##");
    is_document && title.is_some_and(|title| title.starts_with([' ', '\t']) && !title.trim().is_empty())
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
