//! The switch that disables every hook, for one host or for all, without starting a host or changing its settings.
//!
//! `gsd-tools hooks off` writes a file in the user's settings folder, and a hook whose host is listed in it prints
//! nothing.

use std::path::{Path, PathBuf};

use super::called::is_managed;
use crate::disk::{self, DiskError};
use crate::runtime::{self, managed_places, missing_of_managed};
use crate::world::World;

/// Its path in this program's settings folder: one line per host, `*` for all of them.
const FILE: &str = "hooks-off";

/// The line that means all hosts.
const ALL: &str = "*";

/// The variable that disables hooks for one run of a host.
pub(crate) const VARIABLE: &str = "GSD_HOOKS";

/// The hosts whose hooks are disabled: the lines of the file, including a person's comments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Switch {
    lines: Vec<String>,
}

impl Switch {
    /// The path of the file; `None` if the user has no settings folder.
    pub(crate) fn file(world: &World) -> Option<PathBuf> {
        Some(world.config_folder()?.join(FILE))
    }

    pub(crate) fn read(world: &World) -> Result<Self, DiskError> {
        let Some(file) = Self::file(world) else { return Ok(Self::default()) };
        Ok(disk::read_text(file)?.map(|text| Self::parse(&text)).unwrap_or_default())
    }

    fn parse(text: &str) -> Self {
        Self { lines: text.lines().map(str::to_owned).collect() }
    }

    /// The text of the file; `None` if the file is not needed.
    pub(crate) fn text(&self) -> Option<String> {
        let says_nothing = self.lines.iter().all(|line| line.trim().is_empty());
        (!says_nothing).then(|| self.lines.iter().flat_map(|line| [line, "\n"]).collect())
    }

    /// The hosts for display: by name, `*` for all.
    pub(crate) fn hosts(&self) -> Vec<String> {
        self.lines.iter().filter_map(|line| host_of(line)).map(str::to_owned).collect()
    }

    /// True if the host is disabled; for an unknown host, true if all are.
    pub(crate) fn is_off(&self, host: Option<&str>) -> bool {
        self.lines.iter().filter_map(|line| host_of(line)).any(|line| line == ALL || Some(line) == host)
    }

    /// Disables the hooks of one host, or of all.
    pub(crate) fn off(mut self, host: Option<&str>) -> Self {
        if !self.is_off(host) {
            if host.is_none() {
                self.lines.retain(|line| host_of(line).is_none());
            }
            self.lines.push(host.unwrap_or(ALL).to_owned());
        }
        self
    }

    /// Enables the hooks of one host again, or of all. `known` are all hosts: if all were disabled, the others stay so.
    pub(crate) fn on(mut self, host: Option<&str>, known: impl Iterator<Item = String>) -> Self {
        if host.is_some() && self.is_off(None) {
            self.lines.retain(|line| host_of(line).is_none());
            self.lines.extend(known);
        }
        self.lines.retain(|line| host_of(line).is_none_or(|line| host.is_some_and(|host| line != host)));
        self
    }
}

/// The host that a line names, unless it is a comment.
fn host_of(line: &str) -> Option<&str> {
    Some(line.trim()).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// True if the variable disables hooks.
pub(crate) fn is_off_by_variable(world: &World) -> bool {
    world.variable(VARIABLE).is_some_and(|word| matches!(word.trim(), "off" | "0" | "false" | "no"))
}

/// True if the hooks of the host that called this process are disabled. Usually this costs one lookup of a missing
/// file. Those that an administrator placed cannot be disabled.
pub(super) fn is_off(world: &World) -> bool {
    if own_root(world).is_some_and(|root| is_managed(&root, world)) {
        return false;
    }
    if is_off_by_variable(world) {
        return true;
    }
    // An unreadable switch was written to disable something.
    Switch::read(world).map_or(true, |switch| !switch.lines.is_empty() && switch.is_off(host(world).as_deref()))
}

/// True if an administrator placed hooks for the host that called this process, and they answer in place of this program.
pub(super) fn is_answered_by_administrator(world: &World) -> bool {
    let is_own = own_root(world).is_some_and(|root| is_managed(&root, world));
    !is_own && host(world).is_some_and(|host| has_managed_hooks(&host, world))
}

/// True if an administrator placed hooks for this host, and nothing of them is missing.
pub(crate) fn has_managed_hooks(host: &str, world: &World) -> bool {
    managed_places(host).is_some_and(|(root, files)| {
        let files = files.map(|file| world.system_path(file));
        missing_of_managed(&world.system_path(root), files).is_some_and(|missing| missing.is_empty())
    })
}

/// The folder of the install that this program is part of.
fn own_root(world: &World) -> Option<PathBuf> {
    super::called::root_of(&world.executable().ok()?).map(Path::to_path_buf)
}

/// The host that called this process.
pub(super) fn host(world: &World) -> Option<String> {
    runtime::installed_for(&world.executable().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> impl Iterator<Item = String> {
        ["lamp", "lantern", "torch"].map(str::to_owned).into_iter()
    }

    #[test]
    fn hosts_are_disabled_and_enabled_one_by_one_or_all_at_once() {
        let off = Switch::parse("# mine\nlamp\n\n");
        assert!(off.is_off(Some("lamp")) && !off.is_off(Some("torch")) && !off.is_off(None));
        assert_eq!(off.clone().off(Some("torch")).text().unwrap(), "# mine\nlamp\n\ntorch\n");
        assert_eq!(off.clone().off(Some("lamp")), off);
        let all = off.clone().off(None);
        assert_eq!(all.text().unwrap(), "# mine\n\n*\n");
        assert!(all.is_off(Some("torch")) && all.is_off(None));
        assert_eq!(all.clone().on(Some("lantern"), known()).text().unwrap(), "# mine\n\nlamp\ntorch\n");
        assert_eq!(all.on(None, known()).text().unwrap(), "# mine\n\n");
        assert_eq!(off.on(Some("lamp"), known()).hosts(), Vec::<String>::new());
        assert_eq!(Switch::default().off(None).on(None, known()).text(), None);
    }
}
