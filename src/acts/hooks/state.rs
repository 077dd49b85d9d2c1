//! The state of an install's hooks, and which are disabled: for `hooks status` and `status`.

use schemars::JsonSchema;
use serde::Serialize;

use crate::acts::{Call, project};
use crate::disk::DiskError;
use crate::failure::Failure;
use crate::hooks::{self, Switch};
use crate::install::{self, Drift, Remembered, Status, Target};
use crate::operations::answers::finding::Finding;
use crate::runtime::Scope;
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

/// The hosts whose hooks are disabled.
#[derive(Debug)]
pub(crate) struct Off {
    pub(crate) switch: Switch,
    pub(crate) by_variable: bool,
}

impl Off {
    pub(crate) fn read(world: &World) -> Result<Self, DiskError> {
        Ok(Self { switch: Switch::read(world)?, by_variable: hooks::is_off_by_variable(world) })
    }

    pub(crate) fn is_off(&self, host: &str) -> bool {
        self.by_variable || self.switch.is_off(Some(host))
    }

    /// A note for a person that hooks are disabled, with the command that enables them.
    pub(crate) fn finding(&self) -> Option<Finding> {
        let off = self.switch.hosts();
        if off.is_empty() {
            return None;
        }
        let whose = if off.iter().any(|host| host == "*") { "all hosts".to_owned() } else { off.join(", ") };
        Some(Finding::note("hooks-off", format!("hooks are disabled for {whose}")).fix("gsd-tools hooks on"))
    }

    /// The same note about the variable.
    pub(crate) fn finding_of_variable(&self) -> Option<Finding> {
        let what = format!("{} is set: hooks are disabled wherever it is set", hooks::VARIABLE);
        self.by_variable.then(|| Finding::note("hooks-off-by-variable", what).cure("unset it"))
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
