//! A plan as a file: the places, keys and digests of what a call would do, without any content.
//!
//! Applying it makes the plan again and compares: what is written comes from this program, and only if nothing changed
//! since. So a plan can be read, reviewed and kept, and a changed plan file can do nothing that an install would not.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::keys::KeyEdit;
use super::remembered::Remembered;
use super::{AskedOptions, CallVerb, InstallPlan, Installer, Target, Wish};
use crate::disk::{Change, Digest};
use crate::failure::{Explain, Reason};
use crate::library::CommandProfile;
use crate::text::shell::{Typed, typed};

/// What one call would do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlanFile {
    format: u32,
    verb: CallVerb,
    /// The version and the digest of the program that made it.
    version: String,
    #[schemars(with = "String")]
    program: Digest,
    /// The options of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) permissions: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) nested: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<String>>")]
    pub(crate) profile: Option<CommandProfile>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    force_statusline: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    portable_hooks: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    no_legacy_cleanup: bool,
    hosts: Vec<PlannedPlace>,
}

/// One install in a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PlannedPlace {
    place: Remembered,
    /// The version that is installed now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    files: BTreeMap<String, PlannedBytes>,
    /// Keys of settings files.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    settings: BTreeSet<PlannedKey>,
}

/// A file before and after; without a digest it does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PlannedBytes {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    before: Option<Digest>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    after: Option<Digest>,
}

/// A key that is added (`+`), changed (`~`) or removed (`-`).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PlannedKey {
    file: String,
    key: String,
}

/// Why a plan is not applied.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PlanFileError {
    #[error("`{file}` is not a plan: {why}")]
    NotAPlan { file: String, why: String },
    #[error("the plan was made by another program: gsd-tools {version}")]
    OtherProgram { version: String },
    #[error("the plan no longer fits: {}", changes.join("; "))]
    Changed { changes: Vec<String>, verb: &'static str, hosts: Typed },
}

impl Explain for PlanFileError {
    fn reason(&self) -> Reason {
        Reason::Usage
    }

    fn exit_code(&self) -> Option<u8> {
        Some(match self {
            Self::NotAPlan { .. } => 65,
            Self::OtherProgram { .. } | Self::Changed { .. } => 75,
        })
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NotAPlan { .. } => "make one with `gsd-tools install --plan FILE`".to_owned(),
            Self::OtherProgram { .. } => "make the plan again with this program, or apply it with that one".to_owned(),
            Self::Changed { verb, hosts, .. } => {
                format!("make the plan again: `{}`", typed!("gsd-tools {} {} --plan FILE", verb, hosts))
            }
        })
    }
}

/// How many changes since the plan are named.
const NAMED: usize = 5;

impl PlanFile {
    const FORMAT: u32 = 1;

    /// The plan file of these plans.
    pub(crate) fn of<'a>(
        wish: Wish,
        installer: &Installer<'_>,
        planned: impl Iterator<Item = &'a (Target, InstallPlan)>,
    ) -> Self {
        let hosts = planned.map(|(target, plan)| {
            let files = plan.changes.iter().filter_map(|change| Some((change.path().to_string(), bytes_of(change)?)));
            let report = plan.report(target);
            let settings = report
                .settings
                .iter()
                .map(|edit: &KeyEdit| PlannedKey { file: edit.file().to_owned(), key: edit.head() });
            PlannedPlace {
                place: Remembered::of(target),
                from: plan.from_version.clone(),
                files: files.collect(),
                settings: settings.collect(),
            }
        });
        Self {
            format: Self::FORMAT,
            verb: CallVerb::of(wish),
            version: installer.version.clone(),
            program: installer.program.digest,
            permissions: installer.permissions,
            nested: installer.nested,
            profile: installer.profile.clone(),
            force_statusline: installer.asked.status_line,
            portable_hooks: installer.asked.portable_hooks,
            no_legacy_cleanup: installer.asked.keeps_others,
            hosts: hosts.collect(),
        }
    }

    /// Reads a plan file; `file` names it in errors.
    pub(crate) fn parse(file: &str, text: &str) -> Result<Self, PlanFileError> {
        let not_a_plan = |why: String| PlanFileError::NotAPlan { file: file.to_owned(), why };
        let plan: Self = serde_json::from_str(text).map_err(|error| not_a_plan(error.to_string()))?;
        if plan.format != Self::FORMAT {
            return Err(not_a_plan(format!("its format is {}, this program knows {}", plan.format, Self::FORMAT)));
        }
        plan.wish().ok_or_else(|| not_a_plan(format!("`{}` has no plans", plan.verb.word())))?;
        Ok(plan)
    }

    pub(crate) fn to_text(&self) -> String {
        // Serialising texts and digests cannot fail.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// What the call wants.
    pub(crate) fn wish(&self) -> Option<Wish> {
        match self.verb {
            CallVerb::Install => Some(Wish::Install),
            CallVerb::Update => Some(Wish::Update),
            CallVerb::Uninstall => Some(Wish::Uninstall),
            CallVerb::Fix | CallVerb::Undo | CallVerb::Redo => None,
        }
    }

    /// What the call asks for.
    pub(crate) fn asked(&self) -> AskedOptions {
        AskedOptions {
            status_line: self.force_statusline,
            portable_hooks: self.portable_hooks,
            keeps_others: self.no_legacy_cleanup,
        }
    }

    /// The places of the installs.
    pub(crate) fn places(&self) -> impl Iterator<Item = &Remembered> {
        self.hosts.iter().map(|host| &host.place)
    }

    /// Refuses to be applied as `now`, the plan made again, unless the two are the same, or nothing is left to change.
    pub(crate) fn must_be(&self, now: &Self) -> Result<(), PlanFileError> {
        if (self.program, &self.version) != (now.program, &now.version) {
            return Err(PlanFileError::OtherProgram { version: self.version.clone() });
        }
        let is_done = |host: &PlannedPlace| host.files.is_empty() && host.settings.is_empty();
        if self.places().eq(now.places()) && now.hosts.iter().all(is_done) {
            return Ok(());
        }
        let mut changes = self.differences(now);
        if changes.is_empty() && self != now {
            changes.push("its options or its order differ".to_owned());
        }
        if changes.is_empty() {
            return Ok(());
        }
        if changes.len() > NAMED {
            let more = changes.len() - NAMED;
            changes.truncate(NAMED);
            changes.push(format!("and {more} more"));
        }
        Err(PlanFileError::Changed { changes, verb: self.verb.word(), hosts: self.flags() })
    }

    /// The flags of the hosts in a call.
    fn flags(&self) -> Typed {
        let mut hosts: Vec<&str> = self.places().map(|place| place.runtime.as_str()).collect();
        hosts.dedup();
        let hosts = hosts.into_iter().fold(Typed::default(), |flags, host| flags.word(format!("--{host}")));
        let scope = self.places().next().map_or("global", |place| place.scope.word());
        hosts.word(format!("--{scope}"))
    }

    fn differences(&self, now: &Self) -> Vec<String> {
        let mut changes = Vec::new();
        for host in &self.hosts {
            let Some(then) = now.hosts.iter().find(|other| other.place == host.place) else {
                changes.push(format!("`{}` is not where {} would be installed", host.place.root, host.place.runtime));
                continue;
            };
            if host.from != then.from {
                changes.push(format!("another version is installed in `{}`", host.place.root));
            }
            let paths: BTreeSet<&String> = host.files.keys().chain(then.files.keys()).collect();
            let differs = paths.into_iter().filter(|path| host.files.get(*path) != then.files.get(*path));
            changes.extend(differs.map(|path| format!("`{path}` has changed")));
            let keys = host.settings.symmetric_difference(&then.settings);
            changes.extend(keys.map(|key| format!("`{}` of {} has changed", key.key, key.file)));
        }
        changes
    }
}

fn bytes_of(change: &Change) -> Option<PlannedBytes> {
    Some(match change {
        Change::WriteFile { bytes, before, .. } => PlannedBytes { before: *before, after: Some(bytes.digest()) },
        Change::LinkProgram { digest, before, .. } => PlannedBytes { before: *before, after: Some(*digest) },
        Change::RemoveFile { before, .. } => PlannedBytes { before: Some(*before), after: None },
        Change::MakeFolder { .. } | Change::RemoveFolder { .. } => return None,
    })
}
