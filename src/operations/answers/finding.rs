//! A problem, in one form for all checks: the health of a project, STATE.md, installs, hooks.
//!
//! Every check (`validate`, `state validate`, `status`, `hooks status`) makes these: code, severity, what, where, the
//! fix, and the command that repairs it. Answers that scripts know in another form are made from them at the end.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;

use crate::text::screen::Mark;

/// A problem, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Finding {
    /// The code for scripts, such as `W003` or `file-changed`.
    pub(crate) code: &'static str,
    pub(crate) severity: Severity,
    /// What is wrong.
    pub(crate) what: String,
    /// The file or folder concerned.
    #[serde(rename = "where", skip_serializing_if = "Option::is_none")]
    pub(crate) place: Option<String>,
    /// What a person can do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cure: Option<String>,
    /// The command that repairs it without losing anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fix: Option<Cow<'static, str>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Severity {
    /// It stops something from working.
    Error,
    /// It may mislead.
    Warning,
    /// For information.
    Note,
}

impl Finding {
    fn new(code: &'static str, severity: Severity, what: impl Into<String>) -> Self {
        Self { code, severity, what: what.into(), place: None, cure: None, fix: None }
    }

    pub(crate) fn error(code: &'static str, what: impl Into<String>) -> Self {
        Self::new(code, Severity::Error, what)
    }

    pub(crate) fn warning(code: &'static str, what: impl Into<String>) -> Self {
        Self::new(code, Severity::Warning, what)
    }

    pub(crate) fn note(code: &'static str, what: impl Into<String>) -> Self {
        Self::new(code, Severity::Note, what)
    }

    /// The finding in one line, for people.
    pub(crate) fn line(&self) -> String {
        let cure = match (&self.cure, &self.fix) {
            (Some(cure), _) => format!("; {cure}"),
            (None, Some(command)) => format!("; run `{command}`"),
            (None, None) => String::new(),
        };
        self.named() + &cure
    }

    /// What is wrong, and where.
    pub(crate) fn named(&self) -> String {
        let place = self.place.as_ref().map(|place| format!("{place}: ")).unwrap_or_default();
        format!("{place}{}", self.what)
    }

    /// Whether a command repairs it.
    pub(crate) fn has_cure(&self) -> bool {
        self.fix.is_some() || self.cure.as_ref().is_some_and(|cure| cure.contains("gsd-tools"))
    }

    /// The mark of its severity.
    pub(crate) fn mark(&self) -> Mark {
        match self.severity {
            Severity::Error => Mark::Failed,
            Severity::Warning => Mark::Warning,
            Severity::Note => Mark::Open,
        }
    }

    #[must_use]
    pub(crate) fn at(self, place: impl Into<String>) -> Self {
        Self { place: Some(place.into()), ..self }
    }

    #[must_use]
    pub(crate) fn cure(self, cure: impl Into<String>) -> Self {
        Self { cure: Some(cure.into()), ..self }
    }

    #[must_use]
    pub(crate) fn fix(self, command: impl Into<Cow<'static, str>>) -> Self {
        Self { fix: Some(command.into()), ..self }
    }
}
