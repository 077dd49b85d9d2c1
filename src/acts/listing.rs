//! The verbs as a list: what each does, its effect, and whether an agent may call it without asking.

use schemars::JsonSchema;
use serde::Serialize;

/// The effect of a verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Effect {
    /// Changes nothing.
    Reads,
    /// Adds to documents or changes them; can be rehearsed with `--dry-run`.
    Writes,
    /// Works through another program, on files that are not documents, or by moving whole folders; can be rehearsed
    /// with `--dry-run`.
    Acts,
    /// As [`Self::Acts`], but the action itself is what was asked for, such as running a program: it cannot be
    /// rehearsed.
    Runs,
    /// Removes something; can be rehearsed with `--dry-run`.
    Destroys,
}

impl Effect {
    /// True if the verb changes documents, so that the flags of writers apply to it.
    pub(crate) fn writes(self) -> bool {
        matches!(self, Self::Writes | Self::Destroys)
    }

    /// True if the verb can show what it would do, and do nothing.
    pub(crate) fn rehearses(self) -> bool {
        self.writes() || self == Self::Acts
    }
}

/// A verb in a list.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub(crate) struct Listed {
    pub(crate) command: &'static str,
    pub(crate) about: &'static str,
    pub(crate) effect: Effect,
    /// Whether agents may call it without a person being asked, if `install` set the host up for that.
    pub(crate) unasked: bool,
}

/// The beginnings of calls that run without asking: the first word if all verbs below it do, else the whole path.
pub(crate) fn unasked_calls(mut verbs: Vec<Listed>) -> Vec<&'static str> {
    let first = |path: &'static str| path.split(' ').next().unwrap_or(path);
    verbs.sort_unstable_by_key(|verb| verb.command);
    // Asking for the program's version changes nothing either.
    let mut calls: Vec<&'static str> = vec!["--version"];
    for verb in verbs.iter().filter(|verb| verb.unasked) {
        let word = first(verb.command);
        let whole = verbs.iter().filter(|other| first(other.command) == word).all(|other| other.unasked);
        let call = if whole { word } else { verb.command };
        if calls.last() != Some(&call) {
            calls.push(call);
        }
    }
    calls
}
