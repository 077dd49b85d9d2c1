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
pub(crate) struct FileStep {
    pub(crate) act: Act,
    pub(crate) path: AbsolutePath,
    of: FileKind,
}

/// The kind of file that a step is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileKind {
    /// Only ours. The item is `None` for files that only a manifest lists.
    Whole(Option<ItemKind>),
    /// Settings that we share with others.
    Shared,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Act {
    /// One of our files that did not exist.
    Create,
    /// One of our files that was unmodified.
    Update,
    /// Our part of a shared file.
    Merge,
    /// One of our files that was modified: the changes of this version are merged into it.
    KeepEdits,
    /// One of our files is removed, or a shared file that contained only our part.
    Remove,
    /// As it should be.
    Keep,
    /// A modified file is moved to `to`, before ours replaces it or before an uninstall.
    SetAside { to: AbsolutePath },
    /// One of our files that is not needed any more but was modified: it stays, but is the person's from now on.
    Leave,
    /// A file of the person at a path where ours gives way: theirs stays, ours is left out.
    GiveWay,
    /// A file of another program, at a place where a link of the person leads: it stays.
    Elsewhere,
}

/// A plan as shown to its reader: what happens to each file, and to each key of settings.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct PlanReport {
    /// By path.
    steps: Vec<StepReport>,
    /// Keys of settings files that we share with others, by file.
    pub(crate) settings: Vec<KeyEdit>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct StepReport {
    path: String,
    act: &'static str,
    /// Where the previous file is put.
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<String>,
}

impl Act {
    fn word(&self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Merge => "merge",
            Self::KeepEdits => "keep-edits",
            Self::Remove => "remove",
            Self::Keep => "keep",
            Self::SetAside { .. } => "set-aside",
            Self::Leave => "leave",
            Self::GiveWay => "give-way",
            Self::Elsewhere => "elsewhere",
        }
    }
}

impl FileStep {
    /// A step for a file that only we own.
    pub(super) fn of_ours(act: Act, path: &AbsolutePath, kind: ItemKind) -> Self {
        Self { act, path: path.clone(), of: FileKind::Whole(Some(kind)) }
    }

    /// A step for a file known only from a manifest.
    pub(super) fn of_file(act: Act, path: &AbsolutePath) -> Self {
        Self { act, path: path.clone(), of: FileKind::Whole(None) }
    }

    /// A step for settings that we share with others.
    pub(super) fn in_shared(act: Act, path: &AbsolutePath) -> Self {
        Self { act, path: path.clone(), of: FileKind::Shared }
    }

    /// True if only we own the file.
    pub(crate) fn is_whole(&self) -> bool {
        self.of != FileKind::Shared
    }

    /// What the file is, if known.
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
