//! What the history knows about a call that installed, updated, uninstalled or took such a call back.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::plan::PlannedInstalls;
use super::{Target, Wish};
use crate::disk::AbsolutePath;
use crate::runtime::Scope;

/// One call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CallRecord {
    pub(crate) verb: CallVerb,
    /// The version of the program that made it.
    pub(crate) program: String,
    pub(crate) installs: Vec<RecordedInstall>,
    /// The number of the call that this one took back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) takes_back: Option<u64>,
}

/// What a call did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CallVerb {
    Install,
    Uninstall,
    Update,
    /// Repaired installs, and documents of a project.
    Fix,
    /// Took back an install, an update or an uninstall.
    Undo,
    /// Took back an undo.
    Redo,
}

/// One install of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct RecordedInstall {
    /// The host's id.
    pub(crate) runtime: String,
    pub(crate) scope: Scope,
    /// The host's folder.
    pub(crate) root: String,
    /// The project, of a local install.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) project: Option<String>,
    /// The version before the call; `None` if nothing was installed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) from: Option<String>,
    /// The version after the call; `None` if nothing is installed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) to: Option<String>,
    /// Installs of other programs that were replaced, such as `gsd-core 1.14.0`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) replaced: Vec<String>,
}

impl CallVerb {
    pub(super) fn of(wish: Wish) -> Self {
        match wish {
            Wish::Install => Self::Install,
            Wish::Update => Self::Update,
            Wish::Uninstall => Self::Uninstall,
        }
    }

    /// The word on the command line.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Install => "install",
            Self::Uninstall => "uninstall",
            Self::Update => "update",
            Self::Fix => "fix",
            Self::Undo => "undo",
            Self::Redo => "redo",
        }
    }
}

impl CallRecord {
    pub(super) fn of(wish: Wish, planned: &PlannedInstalls, version: &str) -> Self {
        let version = version.to_owned();
        let installs = planned.iter().filter(|(_, plan)| !plan.is_empty()).map(|(target, plan)| {
            let replaced = plan.taken_over.iter().map(super::plan::TakenOver::name).collect();
            let to = wish.installs().then(|| version.clone());
            RecordedInstall { from: plan.from_version.clone(), to, replaced, ..RecordedInstall::at(target) }
        });
        Self { verb: CallVerb::of(wish), installs: installs.collect(), program: version.clone(), takes_back: None }
    }

    /// The record of the call that takes this one back.
    pub(super) fn taken_back(&self, number: u64) -> Self {
        let turned = |install: &RecordedInstall| RecordedInstall {
            from: install.to.clone(),
            to: install.from.clone(),
            replaced: Vec::new(),
            ..install.clone()
        };
        Self {
            verb: if self.verb == CallVerb::Undo { CallVerb::Redo } else { CallVerb::Undo },
            program: env!("CARGO_PKG_VERSION").to_owned(),
            installs: self.installs.iter().map(turned).collect(),
            takes_back: Some(number),
        }
    }

    pub(super) fn to_value(&self) -> Value {
        // A record has only texts and numbers.
        serde_json::to_value(self).unwrap_or_default()
    }
}

impl RecordedInstall {
    fn at(target: &Target) -> Self {
        let project = (target.scope == Scope::Local).then(|| target.project.to_string());
        Self {
            runtime: target.descriptor.id.to_string(),
            scope: target.scope,
            root: target.root.to_string(),
            project,
            from: None,
            to: None,
            replaced: Vec::new(),
        }
    }

    pub(super) fn root(&self) -> Option<AbsolutePath> {
        AbsolutePath::parse(&self.root).ok()
    }

    pub(crate) fn project(&self) -> Option<AbsolutePath> {
        AbsolutePath::parse(self.project.as_ref()?).ok()
    }
}
