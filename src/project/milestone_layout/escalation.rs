//! `T01-ESCALATION.json`: a question of a task that a person answers.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A question with its options.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Escalation {
    #[serde(default)]
    pub(crate) version: u64,
    #[serde(default)]
    pub(crate) task_id: String,
    #[serde(default)]
    pub(crate) slice_id: String,
    #[serde(default)]
    pub(crate) milestone_id: String,
    #[serde(default)]
    pub(crate) question: String,
    /// Two to four.
    #[serde(default)]
    pub(crate) options: Vec<Choice>,
    /// The identifier of an option.
    #[serde(default, deserialize_with = "none_or_one")]
    pub(crate) recommendation: OptionId,
    #[serde(default)]
    pub(crate) recommendation_rationale: String,
    /// Whether work continues as recommended until a person answers.
    #[serde(default)]
    pub(crate) continue_with_default: bool,
    #[serde(default)]
    pub(crate) created_at: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) responded_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) user_choice: Option<OptionId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) user_rationale: Option<String>,
    /// Fields that other programs wrote.
    #[serde(flatten)]
    pub(crate) others: Map<String, Value>,
}

/// The identifier of an option: 1 to 32 letters, digits, `-` and `_`, no `-` at the front. It becomes a word of a
/// command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(crate) struct OptionId(String);

impl OptionId {
    const LONGEST: usize = 32;

    pub(crate) fn parse(text: &str) -> Option<Self> {
        let is_of_it = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        let is_one = (1..=Self::LONGEST).contains(&text.len()) && !text.starts_with('-') && text.bytes().all(is_of_it);
        is_one.then(|| Self(text.to_owned()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for OptionId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom(OF_OPTIONS))
    }
}

/// An identifier, or an empty text if nothing is recommended.
fn none_or_one<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<OptionId, D::Error> {
    let text = String::deserialize(deserializer)?;
    let error = || serde::de::Error::custom(OF_OPTIONS);
    if text.is_empty() { Ok(OptionId::default()) } else { OptionId::parse(&text).ok_or_else(error) }
}

/// The message does not repeat the text, because it may contain anything.
const OF_OPTIONS: &str = "the identifier of an option is 1 to 32 letters, digits, `-` and `_`, and begins with no `-`";

impl fmt::Display for OptionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

/// One of the options.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Choice {
    pub(crate) id: OptionId,
    #[serde(default)]
    pub(crate) label: String,
    #[serde(default)]
    pub(crate) tradeoffs: Value,
    #[serde(flatten)]
    pub(crate) others: Map<String, Value>,
}

/// An answer that is not one of the options.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{choice}` is not an option of this question")]
pub(crate) struct NoSuchOption {
    pub(crate) choice: String,
    pub(crate) options: Vec<String>,
}

impl NoSuchOption {
    pub(crate) fn hint(&self) -> String {
        format!("the options are `{}`", self.options.join("`, `"))
    }
}

impl Escalation {
    /// Whether the question has no answer yet.
    pub(crate) fn is_open(&self) -> bool {
        self.responded_at.is_none()
    }

    /// Whether the task waits for an answer.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.continue_with_default && self.is_open()
    }

    /// The option that the agent would take, or the first.
    pub(crate) fn recommended(&self) -> &OptionId {
        let ids = || self.options.iter().map(|option| &option.id);
        ids().find(|id| **id == self.recommendation).or_else(|| ids().next()).unwrap_or(&self.recommendation)
    }

    /// The question with an answer.
    pub(crate) fn answered(&self, choice: &str, rationale: Option<&str>, at: &str) -> Result<Self, NoSuchOption> {
        let Some(option) = self.options.iter().find(|option| option.id.as_str() == choice) else {
            let options = self.options.iter().map(|option| option.id.to_string()).collect();
            return Err(NoSuchOption { choice: choice.to_owned(), options });
        };
        Ok(Self {
            responded_at: Some(at.to_owned()),
            user_choice: Some(option.id.clone()),
            user_rationale: rationale.map(str::to_owned),
            ..self.clone()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::milestone_layout::record::{read, render};

    #[test]
    fn a_question_waits_until_one_of_its_options_is_chosen() {
        let text = "{\"version\":1,\"taskId\":\"T01\",\"question\":\"which?\",\"options\":[{\"id\":\"a\",\"label\":\"A\",\"tradeoffs\":\"slow\"},\
            {\"id\":\"b\",\"label\":\"B\",\"tradeoffs\":[\"x\"]}],\"continueWithDefault\":false,\"createdAt\":\"2026-01-01T00:00:00Z\",\"x\":1}";
        let question: Escalation = read("x", text).unwrap();
        assert!(question.is_waiting());
        let error = question.answered("c", None, "2026-01-02").unwrap_err();
        assert_eq!(error.hint(), "the options are `a`, `b`");
        let answered = question.answered("b", Some("faster"), "2026-01-02").unwrap();
        assert!(!answered.is_waiting());
        assert_eq!(read::<Escalation>("x", &render(&answered)), Ok(answered));
        assert!(!Escalation { continue_with_default: true, ..question }.is_waiting());
    }
}
