//! Files with our names in a host's folders that belong to the person: edited files that were moved, and files that an
//! uninstall found among ours.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use super::custom::{self, BACKUP};
use super::target::SET_ASIDE;
use super::{InstallError, Target, manifest, predecessor};
use crate::disk::history::History;
use crate::disk::{self, AbsolutePath, Snapshot};
use crate::emit::CONTENT_FOLDER;
use crate::runtime::PlaceAnchor;
use crate::text::screen::counted;
use crate::text::shell::typed;

/// A folder that only a person removes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Leftover {
    /// As a person would name it.
    pub(crate) path: String,
    pub(crate) holds: Holds,
    pub(crate) files: usize,
    /// The command that removes the folder.
    pub(crate) remove: String,
    /// The command that restores the files; `None` if they must be copied back by hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) restore: Option<String>,
}

/// Whose files they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Holds {
    /// Installed files that the person had edited.
    EditedFiles,
    /// Files of the person that an update moved.
    Backup,
    /// Files in the folder of our content that were not installed, or not removed.
    OtherFiles,
    /// What installs and uninstalls replaced, in the user's state folder.
    History,
}

/// A sentence about the folder and what a person can do with it.
impl fmt::Display for Leftover {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, remove, .. } = self;
        let (files, them) = (counted(self.files, "file"), if self.files == 1 { "it" } else { "them" });
        let what = match self.holds {
            Holds::EditedFiles => format!("{files} you had edited, saved in {path}: copy back what you still need, or"),
            Holds::Backup => format!("{files} of yours that an update saved in {path}:"),
            Holds::OtherFiles => format!("{files} in {path} that the uninstall did not remove:"),
            Holds::History => format!("{files} in {path} with what earlier installs and uninstalls replaced:"),
        };
        formatter.write_str(&what)?;
        if let Some(restore) = &self.restore {
            write!(formatter, " restore {them} with `{restore}`, or")?;
        }
        write!(formatter, " delete {them} with `{remove}`")
    }
}

/// The folders of files that were set aside, whether the install still exists or not.
pub(crate) fn set_aside(target: &Target) -> Result<Vec<Leftover>, InstallError> {
    let homes = target.descriptor.places.iter().filter_map(|place| match &place.anchor {
        PlaceAnchor::Home(folder) => Some(target.user.resolve(folder).resolve(SET_ASIDE)),
        PlaceAnchor::Root | PlaceAnchor::Project => None,
    });
    let mut found = Vec::new();
    for folder in std::iter::once(target.root.resolve(SET_ASIDE)).chain(homes) {
        found.extend(leftover(target, &folder, Holds::EditedFiles)?);
    }
    found.dedup();
    found.extend(leftover(target, &target.root.resolve(BACKUP), Holds::Backup)?);
    Ok(found)
}

/// What remains after an uninstall. Nothing is reported if a manifest exists, because another program may use these
/// folder names.
pub(crate) fn leftovers(target: &Target) -> Result<Vec<Leftover>, InstallError> {
    if disk::exists(target.root.resolve(manifest::FILE)) {
        return Ok(Vec::new());
    }
    let mut found = set_aside(target)?;
    // Another program whose manifest was deleted still works from there.
    if !predecessor::is_anothers(target, &mut Snapshot::default())? {
        found.extend(leftover(target, &target.root.resolve(CONTENT_FOLDER), Holds::OtherFiles)?);
    }
    Ok(found)
}

/// What is kept to undo installs and uninstalls. After the last uninstall it may no longer be needed.
pub(crate) fn history(target: &Target) -> Result<Option<Leftover>, InstallError> {
    leftover(target, History::in_state(&target.state).folder(), Holds::History)
}

fn leftover(target: &Target, folder: &AbsolutePath, holds: Holds) -> Result<Option<Leftover>, InstallError> {
    let mut files = 0;
    custom::walk(folder, "", custom::DEEPEST, &mut |_, _| files += 1)?;
    if files == 0 {
        return Ok(None);
    }
    let path = target.shown(folder);
    let restore = (holds == Holds::Backup).then(|| {
        typed!("gsd-tools restore-custom-files --apply --config-dir {}", target.shown(&target.root)).to_string()
    });
    Ok(Some(Leftover { remove: typed!("rm -r {}", path).to_string(), path, holds, files, restore }))
}
