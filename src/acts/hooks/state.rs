//! The state of an install's hooks, and which are disabled: for `hooks status` and `status`.

use schemars::JsonSchema;
use serde::Serialize;

use crate::acts::{Call, project};
use crate::disk::DiskError;
use crate::failure::Failure;
use crate::hooks::{self, Switch};
use crate::install::{self, Drift, Remembered, Status, Target};
use crate::operations::answers::finding::Finding;
use crate::runtime::{Registry, Scope};
use crate::world::World;

/// The state of an install's hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum HooksState {
    /// The host runs them.
    Registered,
    /// The host runs them, and they do nothing, as requested.
    Disabled,
    /// The settings of the host do not name them any more.
    NotRegistered,
    /// A file that may name them cannot be read.
    Unknown,
    /// The install has none.
    None,
}

impl HooksState {
    /// The state of the hooks of an install, which was compared with its manifest.
    pub(crate) fn of(target: &Target, status: &Status, off: &Off) -> Self {
        if status.version.is_none() {
            return Self::None;
        }
        let Ok(registered) = install::registered(target) else { return Self::Unknown };
        let is_registered = registered.hooks.iter().any(|hook| hook.ours);
        // Not every host has hooks in every scope: they can only be missing if something else is missing too.
        let is_damaged = status.drift.iter().any(|drift| !matches!(drift, Drift::Unreadable { .. }));
        if is_registered {
            let is_off = off.is_off(target.descriptor.id.as_str());
            return if is_off { Self::Disabled } else { Self::Registered };
        }
        if registered.unknown.iter().any(|unknown| unknown.may_be_ours) {
            return Self::Unknown;
        }
        if is_damaged && target.descriptor.hooks.is_some() { Self::NotRegistered } else { Self::None }
    }
}

/// The code of the note that hooks are disabled by the switch.
const OFF: &str = "hooks-off";

/// The code of the note that hooks are disabled by the variable.
const OFF_BY_VARIABLE: &str = "hooks-off-by-variable";

/// The hosts whose hooks are disabled.
#[derive(Debug)]
pub(crate) struct Off {
    pub(crate) switch: Switch,
    pub(crate) by_variable: bool,
    /// The ids of all hosts.
    known: Vec<String>,
}

impl Off {
    pub(crate) fn read(world: &World) -> Result<Self, DiskError> {
        // A descriptor of the user's own that cannot be read is reported by an install.
        let registry = Registry::open(world.config_folder().as_deref());
        let known = registry.map(|registry| registry.ids().map(ToString::to_string).collect()).unwrap_or_default();
        Ok(Self { switch: Switch::read(world)?, by_variable: hooks::is_off_by_variable(world), known })
    }

    /// The hosts whose hooks are disabled, in words; `None` if those of no host are.
    pub(crate) fn whose(&self) -> Option<String> {
        whose(&self.switch.hosts(), &self.known)
    }

    pub(crate) fn is_off(&self, host: &str) -> bool {
        self.by_variable || self.switch.is_off(Some(host))
    }

    /// A note for a person that hooks are disabled, with the command that enables them.
    pub(crate) fn finding(&self) -> Option<Finding> {
        let whose = self.whose()?;
        Some(Finding::note(OFF, format!("hooks are disabled for {whose}")).fix("gsd-tools hooks on"))
    }

    /// The same note about the variable.
    pub(crate) fn finding_of_variable(&self) -> Option<Finding> {
        let what = format!("{} is set: hooks are disabled wherever it is set", hooks::VARIABLE);
        self.by_variable.then(|| Finding::note(OFF_BY_VARIABLE, what).cure("unset it"))
    }
}

/// Whether a finding says that hooks are disabled.
pub(crate) fn is_about_disabled(finding: &Finding) -> bool {
    [OFF, OFF_BY_VARIABLE].contains(&finding.code)
}

/// The hosts in a list of those whose hooks are disabled, in words: if most are, the others are named.
pub(crate) fn whose(off: &[String], known: &[String]) -> Option<String> {
    let is_off = |host: &&String| off.contains(host);
    let on: Vec<&str> = known.iter().filter(|host| !is_off(host)).map(String::as_str).collect();
    match off {
        [] => None,
        _ if off.iter().any(|host| host == "*") || (on.is_empty() && !known.is_empty()) => Some("all hosts".to_owned()),
        _ if on.len() < known.len() / 2 => Some(format!("all hosts except {}", on.join(", "))),
        hosts => Some(hosts.join(", ")),
    }
}

/// Every known place of all hosts, or of one: global, in this project, and in chosen folders.
pub(crate) fn targets(call: &Call, host: Option<&str>) -> Result<Vec<Target>, Failure> {
    let registry = call.registry()?;
    let descriptors = match host {
        Some(name) => vec![registry.find(name)?],
        None => registry.all()?,
    };
    let (remembered, folder) = (install::remembered(call.world())?, project::install_folder(call));
    let mut targets: Vec<Target> = Vec::new();
    for descriptor in descriptors {
        for scope in [Scope::Global, Scope::Local] {
            // A place that cannot be resolved contains nothing to check.
            targets.extend(Target::resolve(descriptor.clone(), scope, &folder, None, call.world()));
        }
        let is_elsewhere =
            |place: &&Remembered| place.scope == Scope::Global && descriptor.id.as_str() == place.runtime;
        for elsewhere in remembered.iter().filter(is_elsewhere) {
            let target = elsewhere.target(registry, &folder, call.world()).ok();
            targets.extend(target.filter(|target| !targets.iter().any(|known| known.root == target.root)));
        }
    }
    Ok(targets)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn if_most_hosts_are_off_those_that_are_on_are_named() {
        let list = |names: &str| names.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let known = list("lamp lantern torch candle");
        let told = |off: &str| whose(&list(off), &known);
        assert_eq!(told(""), None);
        assert_eq!(told("*").unwrap(), "all hosts");
        assert_eq!(told("lamp lantern torch candle").unwrap(), "all hosts");
        assert_eq!(told("lamp lantern torch").unwrap(), "all hosts except candle");
        assert_eq!(told("lamp torch").unwrap(), "lamp, torch");
        assert_eq!(whose(&list("lamp"), &[]).unwrap(), "lamp");
    }
}
