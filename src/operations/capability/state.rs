//! The state of each feature: shown by the host, turned on by the project, and the state of each of its hooks.

use schemars::JsonSchema;
use serde::Serialize;

use super::features::{Features, Inert};
use super::surface::FeatureSurface;
use super::{Capability, FeatureScope, HookKind, Role, Tier};
use crate::project::config::Config;

/// The source and the scope of features that are part of this program.
const OURS: &str = "first-party";

/// The state of every feature and host.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StateReport {
    /// The config folder of the host, which has the list of features it shows; null for an unknown host.
    #[serde(rename = "runtimeConfigDir")]
    pub(crate) runtime_config_dir: Option<String>,
    pub(crate) capabilities: Vec<CapabilityState>,
}

/// The state of one feature.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CapabilityState {
    pub(crate) id: String,
    tier: Tier,
    /// Its workflows that a person can start.
    skills: Vec<String>,
    /// It is part of this program, or a user installed it.
    installed: bool,
    /// The host shows it.
    surfaced: bool,
    /// The user has not turned it off.
    enabled: bool,
    /// The host shows it, and the project has not turned it off.
    active: bool,
    /// Its hooks in the loop.
    hooks: Vec<HookState>,
    /// Why an installed feature is not used.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// How to make it usable.
    #[serde(skip_serializing_if = "Option::is_none")]
    cure: Option<String>,
}

/// The state of one hook of a feature.
#[derive(Debug, Serialize, JsonSchema)]
struct HookState {
    point: String,
    kind: HookKind,
    /// The setting that turns it on; empty if it is always on.
    when: String,
    /// The project turns it on.
    configured: bool,
    /// It runs.
    active: bool,
}

/// One row of the list of features.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CapabilityRow {
    pub(crate) id: String,
    role: Role,
    version: String,
    tier: Tier,
    /// `first-party`, or the folder it was installed from.
    source: String,
    /// `first-party`, or whether it is installed for all projects or for one.
    scope: &'static str,
    /// `active`, or why it is not used.
    status: &'static str,
    /// Why an installed feature is not used.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// How to make it usable.
    #[serde(skip_serializing_if = "Option::is_none")]
    cure: Option<String>,
    /// The host shows it.
    surfaced: bool,
    title: String,
}

impl CapabilityRow {
    /// True if the feature is in this scope; those of this program are in every scope.
    pub(crate) fn is_in(&self, scope: FeatureScope) -> bool {
        self.scope == OURS || self.scope == scope.word()
    }
}

/// The state of every feature after a change, whether or not anything changed.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ChangedReport {
    pub(crate) capabilities: Vec<CapabilityState>,
    pub(crate) warnings: Vec<String>,
    /// Why nothing was changed.
    pub(crate) errors: Vec<String>,
}

/// The state of one feature after a change.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SetReport<'a> {
    id: &'a str,
    enabled: bool,
    surfaced: bool,
    installed: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) warnings: Vec<String>,
}

/// A host that this program can be installed to. In the loop, a host counts as a capability without hooks.
#[derive(Clone, Debug)]
pub(crate) struct HostRow {
    pub(crate) id: String,
    pub(crate) title: String,
}

/// The state of every feature, with hosts sorted among them by name.
pub(crate) fn states(
    features: &Features,
    config: &Config,
    surface: &FeatureSurface,
    hosts: &[HostRow],
) -> Vec<CapabilityState> {
    let mut states: Vec<CapabilityState> =
        without_hosts(features, hosts).map(|capability| of_feature(capability, config, surface)).collect();
    states.extend(features.inert().map(|inert| CapabilityState {
        id: inert.id.clone(),
        tier: Tier::Full,
        skills: Vec::new(),
        installed: true,
        surfaced: false,
        enabled: false,
        active: false,
        hooks: Vec::new(),
        reason: Some(inert.reason.clone()),
        cure: inert.cure.clone(),
    }));
    states.extend(hosts.iter().map(|host| CapabilityState {
        id: host.id.clone(),
        tier: Tier::Core,
        skills: Vec::new(),
        installed: true,
        surfaced: true,
        enabled: true,
        active: true,
        hooks: Vec::new(),
        reason: None,
        cure: None,
    }));
    states.sort_by(|one, other| one.id.cmp(&other.id));
    states
}

fn of_feature(capability: &Capability, config: &Config, surface: &FeatureSurface) -> CapabilityState {
    let surfaced = surface.shows(capability);
    let active = surfaced && capability.switched_on(config);
    CapabilityState {
        id: capability.id.clone(),
        tier: capability.tier,
        skills: capability.skills.clone(),
        installed: true,
        surfaced,
        enabled: surfaced,
        active,
        hooks: capability
            .hooks
            .iter()
            .map(|hook| {
                let configured = hook.is_configured(config);
                HookState {
                    point: hook.point.clone(),
                    kind: hook.kind,
                    when: hook.when.clone(),
                    configured,
                    active: active && configured,
                }
            })
            .collect(),
        reason: None,
        cure: None,
    }
}

/// The list of features, with hosts sorted among them by name.
pub(crate) fn rows(
    features: &Features,
    surface: &FeatureSurface,
    hosts: &[HostRow],
    version: &str,
) -> Vec<CapabilityRow> {
    let row = |id: &str, title: &str, role, tier, surfaced| CapabilityRow {
        id: id.to_owned(),
        role,
        version: version.to_owned(),
        tier,
        source: OURS.to_owned(),
        scope: OURS,
        status: "active",
        reason: None,
        cure: None,
        surfaced,
        title: title.to_owned(),
    };
    let of_feature = |found: &Capability| {
        let row = row(&found.id, &found.title, found.role, found.tier, surface.shows(found));
        match &found.installed {
            None => row,
            Some(installed) => CapabilityRow {
                version: installed.version.clone(),
                source: installed.source.clone(),
                scope: installed.scope.word(),
                ..row
            },
        }
    };
    let of_inert = |inert: &Inert| CapabilityRow {
        version: inert.version.clone().unwrap_or_default(),
        source: inert.source.clone().unwrap_or_default(),
        scope: inert.scope.word(),
        status: inert.status.word(),
        reason: Some(inert.reason.clone()),
        cure: inert.cure.clone(),
        ..row(&inert.id, &inert.id, Role::Feature, Tier::Full, false)
    };
    let mut rows: Vec<CapabilityRow> = without_hosts(features, hosts)
        .map(of_feature)
        .chain(features.inert().map(of_inert))
        .chain(hosts.iter().map(|host| row(&host.id, &host.title, Role::Runtime, Tier::Core, true)))
        .collect();
    rows.sort_by(|one, other| one.id.cmp(&other.id));
    rows
}

/// The features without those that are also hosts: a reviewer that is a host is listed as a host.
fn without_hosts<'a>(features: &'a Features, hosts: &[HostRow]) -> impl Iterator<Item = &'a Capability> {
    features.all().into_iter().filter(|capability| !hosts.iter().any(|host| host.id == capability.id))
}

/// The state of a feature that a call changed, with warnings about unexpected effects.
pub(crate) fn after<'a>(
    capability: &'a Capability,
    config: &Config,
    surface: &FeatureSurface,
    turned: bool,
) -> SetReport<'a> {
    let surfaced = surface.shows(capability);
    let mut warnings = Vec::new();
    if turned && capability.skills.is_empty() && capability.installed.is_none() {
        warnings
            .push(format!("`{}` has no workflows to show or hide; enable or disable its gates instead", capability.id));
    }
    if surfaced && !capability.hooks.is_empty() && !capability.hooks.iter().any(|hook| hook.is_configured(config)) {
        warnings.push(format!("`{}` is enabled, but all its gates are disabled", capability.id));
    }
    SetReport { id: &capability.id, enabled: surfaced, surfaced, installed: true, warnings }
}

#[cfg(test)]
mod tests {
    use super::super::find;
    use super::*;
    use crate::project::config::ConfigTexts;

    fn config(text: &str) -> Config {
        Config::read(ConfigTexts { project: Some(text), ..ConfigTexts::default() }).0
    }

    fn state<'a>(states: &'a [CapabilityState], id: &str) -> &'a CapabilityState {
        states.iter().find(|state| state.id == id).unwrap()
    }

    #[test]
    fn a_feature_is_active_if_it_is_shown_and_turned_on() {
        let surface = FeatureSurface::parse(r#"{"disabledClusters": ["ui"]}"#).unwrap();
        let states = states(&Features::built_in(), &config("{}"), &surface, &[]);
        let ui = state(&states, "ui");
        assert!(ui.installed && !ui.surfaced && !ui.enabled && !ui.active);
        assert!(ui.hooks.iter().all(|hook| hook.configured && !hook.active));
        assert!(state(&states, "graphify").surfaced && !state(&states, "graphify").active);
        assert!(state(&states, "mempalace").active, "its work has settings of its own");
    }

    #[test]
    fn hosts_are_sorted_among_the_features_by_name() {
        let host = |id: &str| HostRow { id: id.to_owned(), title: id.to_uppercase() };
        let rows = rows(&Features::built_in(), &FeatureSurface::default(), &[host("bee"), host("ollama")], "1");
        let names: Vec<(&str, Role)> = rows.iter().map(|row| (row.id.as_str(), row.role)).collect();
        assert!(names.is_sorted_by_key(|(name, _)| *name));
        assert!(names.contains(&("bee", Role::Runtime)) && names.contains(&("lm-studio", Role::Reviewer)));
        assert_eq!(
            names.iter().filter(|(name, _)| *name == "ollama").collect::<Vec<_>>(),
            [&("ollama", Role::Runtime)]
        );
    }

    #[test]
    fn unexpected_effects_are_reported() {
        let warnings = |id: &str, turned| {
            after(find(id).unwrap(), &config("{}"), &FeatureSurface::default(), turned).warnings.len()
        };
        assert_eq!((warnings("ui", true), warnings("tdd", true), warnings("tdd", false)), (0, 2, 1));
    }
}
