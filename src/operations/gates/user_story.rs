//! User stories: `As a [role], I want to [capability], so that [outcome].`

use schemars::JsonSchema;
use serde::Serialize;

/// What `user-story validate` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StoryReport {
    pub(crate) valid: bool,
    errors: Vec<&'static str>,
    slots: Option<Slots>,
}

/// The parts of a story.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
struct Slots {
    role: String,
    capability: String,
    outcome: String,
}

const WANT: &str = ", I want to ";
const SO_THAT: &str = ", so that ";

/// Splits a story into its parts, or reports what is missing.
pub(crate) fn validate(story: &str) -> StoryReport {
    let story = story.trim();
    let slots = slots(story);
    let errors = if slots.is_some() { Vec::new() } else { errors(story) };
    StoryReport { valid: slots.is_some(), errors, slots }
}

fn after_role(story: &str) -> Option<&str> {
    story.strip_prefix("As a ").or_else(|| story.strip_prefix("As an "))
}

fn slots(story: &str) -> Option<Slots> {
    let (role, rest) = after_role(story)?.split_once(WANT)?;
    let (capability, rest) = rest.split_once(SO_THAT)?;
    let outcome = rest.strip_suffix('.')?;
    let [role, capability, outcome] = [role, capability, outcome].map(|part| part.trim().to_owned());
    let full = ![&role, &capability, &outcome].iter().any(|part| part.is_empty());
    full.then_some(Slots { role, capability, outcome })
}

fn errors(story: &str) -> Vec<&'static str> {
    if story.is_empty() {
        return vec!["the story is empty; write it as \"As a [role], I want to [capability], so that [outcome].\""];
    }
    let checks = [
        (after_role(story).is_some(), "the story does not start with a role: \"As a [role],\""),
        (story.contains(WANT), "the story lacks a capability: \", I want to [capability],\""),
        (story.contains(SO_THAT), "the story lacks an outcome: \", so that [outcome].\""),
        (story.ends_with('.'), "the story does not end with a full stop"),
    ];
    let errors: Vec<&str> = checks.into_iter().filter(|(holds, _)| !holds).map(|(_, error)| error).collect();
    if errors.is_empty() {
        return vec!["the story is not of the form \"As a [role], I want to [capability], so that [outcome].\""];
    }
    errors
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_story_has_three_parts_and_a_period() {
        let story = validate(" As an admin, I want to a, and b, so that c, so that d. ");
        let slots = Slots { role: "admin".into(), capability: "a, and b".into(), outcome: "c, so that d".into() };
        assert_eq!((story.valid, story.slots), (true, Some(slots)));
        for (text, errors) in [
            ("", 1),
            ("nope", 4),
            ("as a user, I want to x, so that y", 2),
            ("As a user I want to a so that c.", 2),
            ("As a user, I want to , so that y.", 1),
            ("As a user, so that y, I want to x.", 1),
        ] {
            let report = validate(text);
            assert_eq!((report.valid, report.errors.len(), report.slots), (false, errors, None), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_story_is_valid_or_says_why_not(text in "(As a |As an |, I want to |, so that |\\.|x| )*") {
            let report = validate(&text);
            prop_assert_eq!(report.valid, report.errors.is_empty());
            prop_assert_eq!(report.valid, report.slots.is_some());
        }
    }
}
