//! What a plan does to each file.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use super::Target;
use super::keys::KeyEdit;
use crate::disk::AbsolutePath;
use crate::library::ItemKind;

/// What happens to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) act: Act,
    pub(crate) path: AbsolutePath,
    of: FileKind,
}

/// What kind of file a step is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileKind {
    /// Wholly ours; what it is, where that is known: not of files that only a manifest lists.
    Whole(Option<ItemKind>),
    /// Settings that are not ours alone.
    Shared,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Act {
    /// A file of ours that was not there.
    Create,
    /// A file of ours that was unmodified.
    Update,
    /// Our part of a file that is not ours alone.
    Merge,
    /// A file of ours goes, or a file goes that held nothing but our part.
    Remove,
    /// As it should be.
    Keep,
    /// A file that is not as we wrote it is moved here: before ours takes its place, or before we go.
    SetAside { to: AbsolutePath },
    /// A file of ours that nobody needs any more, but that was changed since: it stays, and is not ours now.
    Leave,
    /// A file of the person's where one of ours would stand that gives way: theirs stays, ours is left out.
    GiveWay,
    /// A file of another program's, in a place that a link of the person's leads to: it stays.
    Elsewhere,
}

/// A plan for whoever reads it: what happens to each file, and to each key of settings.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct PlanReport {
    /// By path.
    steps: Vec<StepReport>,
    /// Keys of settings files that are not ours alone, by file.
    pub(crate) settings: Vec<KeyEdit>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct StepReport {
    path: String,
    act: &'static str,
    /// Where the file that was there is put.
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<String>,
}

impl Act {
    fn word(&self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Merge => "merge",
            Self::Remove => "remove",
            Self::Keep => "keep",
            Self::SetAside { .. } => "set-aside",
            Self::Leave => "leave",
            Self::GiveWay => "give-way",
            Self::Elsewhere => "elsewhere",
        }
    }
}

impl Step {
    /// Of a file that is wholly ours.
    pub(super) fn of_ours(act: Act, path: &AbsolutePath, kind: ItemKind) -> Self {
        Self { act, path: path.clone(), of: FileKind::Whole(Some(kind)) }
    }

    /// Of a file of which only a manifest says what it is.
    pub(super) fn of_file(act: Act, path: &AbsolutePath) -> Self {
        Self { act, path: path.clone(), of: FileKind::Whole(None) }
    }

    /// Of settings that are not ours alone.
    pub(super) fn in_shared(act: Act, path: &AbsolutePath) -> Self {
        Self { act, path: path.clone(), of: FileKind::Shared }
    }

    /// Whether the file is wholly ours.
    pub(crate) fn is_whole(&self) -> bool {
        self.of != FileKind::Shared
    }

    /// What the file is, where that is known.
    pub(crate) fn kind(&self) -> Option<ItemKind> {
        if let FileKind::Whole(kind) = self.of { kind } else { None }
    }

    /// The step with paths as a person would name them.
    pub(super) fn report(&self, target: &Target) -> StepReport {
        let to = if let Act::SetAside { to } = &self.act { Some(target.shown(to)) } else { None };
        StepReport { path: target.shown(&self.path), act: self.act.word(), to }
    }
}

impl PlanReport {
    pub(super) fn new(mut steps: Vec<StepReport>, settings: Vec<KeyEdit>) -> Self {
        steps.sort_by(|one, other| one.path.cmp(&other.path));
        Self { steps, settings }
    }

    /// The keys of one settings file.
    pub(crate) fn keys_of(&self, file: &str) -> impl Iterator<Item = &KeyEdit> {
        self.settings.iter().filter(move |edit| edit.file() == file)
    }
}

/// A line for each step, and below it one for each key.
impl fmt::Display for PlanReport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for StepReport { path, act, to } in &self.steps {
            let to = to.as_ref().map(|to| format!(" to {to}")).unwrap_or_default();
            writeln!(formatter, "{act} {path}{to}")?;
            self.keys_of(path).try_for_each(|edit| writeln!(formatter, "    {edit}"))?;
        }
        Ok(())
    }
}
