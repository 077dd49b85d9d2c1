//! Features that add their own hooks to the loop: what each adds, at which point, and which setting turns it on.
//!
//! This module has only facts, one file for each feature in `declarations`. [`hooks`] and [`state`] apply a project's
//! settings to them, [`surface`] has what a host shows of them. Users can install more: [`declared`] reads their
//! declarations, [`ledger`] is this computer's record of them, and [`features`] has all features known to a call.

pub(crate) mod declared;
pub(crate) mod features;
pub(crate) mod hooks;
pub(crate) mod ledger;
pub(crate) mod state;
pub(crate) mod surface;

use std::sync::LazyLock;

use include_dir::{Dir, include_dir};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::project::config::Config;
use crate::text::words::words;

static DECLARATIONS: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/src/operations/capability/declarations");

/// All features of this program, sorted by name. A test checks that each declaration parses.
static CAPABILITIES: LazyLock<Vec<Capability>> = LazyLock::new(|| {
    let declared = DECLARATIONS.files().filter_map(|file| {
        let id = file.path().file_stem()?.to_str()?.to_owned();
        let declaration: Capability = toml_edit::de::from_str(file.contents_utf8()?).ok()?;
        Some(Capability { id, ..declaration })
    });
    let mut capabilities: Vec<Capability> = declared.collect();
    capabilities.sort_by(|one, other| one.id.cmp(&other.id));
    capabilities
});

/// The points of the loop that accept hooks, in the order of the loop.
pub(crate) const POINTS: &[&str] = &[
    "discuss:pre",
    "discuss:post",
    "plan:pre",
    "plan:post",
    "execute:pre",
    "execute:wave:pre",
    "execute:wave:post",
    "execute:post",
    "verify:pre",
    "verify:post",
    "ship:pre",
    "ship:post",
];

/// One feature as it is declared.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Capability {
    /// The name of its file.
    #[serde(skip)]
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) tier: Tier,
    #[serde(default)]
    pub(crate) role: Role,
    /// Its workflows that a person can start.
    #[serde(default)]
    pub(crate) skills: Vec<String>,
    /// The setting that turns the whole feature on and off; if absent, it is on.
    #[serde(default)]
    switch: Option<String>,
    #[serde(default)]
    pub(crate) hooks: Vec<Hook>,
    /// Facts about a feature that a user installed; absent for features of this program.
    #[serde(skip)]
    pub(crate) installed: Option<Installed>,
}

/// Facts about a feature that a user installed.
#[derive(Clone, Debug)]
pub(crate) struct Installed {
    pub(crate) version: String,
    /// The folder it was installed from.
    pub(crate) source: String,
    /// The folder it is in now.
    folder: String,
    pub(crate) scope: FeatureScope,
    /// Settings that it adds.
    pub(crate) settings: Vec<FeatureSetting>,
}

words! {
    /// Whether a feature is installed for all projects of a user or for one.
    #[derive(PartialOrd, Ord, Serialize, JsonSchema, clap::ValueEnum)]
    #[serde(rename_all = "snake_case")]
    pub(crate) enum FeatureScope {
        Global = "global",
        Project = "project",
    }
}

/// A setting added by an installed feature.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FeatureSetting {
    pub(crate) key: String,
    pub(crate) kind: SettingKind,
    /// Null if it has no default.
    pub(crate) default: Value,
}

/// The values that a setting of an installed feature accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SettingKind {
    Switch,
    Number,
    Text,
    OneOf(Vec<String>),
}

impl SettingKind {
    pub(crate) fn fits(&self, value: &Value) -> bool {
        match self {
            Self::Switch => value.is_boolean(),
            Self::Number => value.is_number(),
            Self::Text => value.is_string(),
            Self::OneOf(words) => value.as_str().is_some_and(|value| words.iter().any(|word| word == value)),
        }
    }
}

impl std::fmt::Display for SettingKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Switch => f.write_str("`true` or `false`"),
            Self::Number => f.write_str("a number"),
            Self::Text => f.write_str("text"),
            Self::OneOf(words) => write!(f, "one of {}", words.join(", ")),
        }
    }
}

/// The size of the installation that a feature needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Tier {
    Core,
    Standard,
    Full,
}

/// The role of a capability in the loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Role {
    #[default]
    Feature,
    /// A program that reviews plans.
    Reviewer,
    /// A host.
    Runtime,
}

/// A hook: what a feature does at one point.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Hook {
    pub(crate) point: String,
    pub(crate) kind: HookKind,
    /// The setting that turns it on; empty for a hook of an installed feature that is always on.
    pub(crate) when: String,
    /// The setting that selects the point, for a hook that can run at one of several.
    #[serde(default)]
    point_key: Option<String>,
    /// For a step: the workflow, agent or command that does it.
    #[serde(default)]
    skill: Option<String>,
    #[serde(default)]
    agent: Option<String>,
    #[serde(default)]
    command: Option<String>,
    /// For a contribution: the role whose prompt gets the text.
    #[serde(default)]
    pub(crate) into: Option<String>,
    /// The instructions for the one that does it.
    #[serde(default)]
    pub(crate) text: Option<String>,
    #[serde(default)]
    produces: Vec<String>,
    #[serde(default)]
    consumes: Vec<String>,
    /// For a step: what its document contains once the step is done. If absent, it is enough that the document exists.
    #[serde(default)]
    done: Option<Done>,
    /// For a gate: the check or the condition.
    #[serde(default)]
    query: Option<String>,
    #[serde(default)]
    predicate: Option<Value>,
    /// For a gate: what removes the reason for a refusal, if the user cannot remove it directly. The gate is skipped if
    /// its cure is not installed.
    #[serde(default)]
    cure: Option<Cure>,
    /// The workflow of the point already does it.
    #[serde(default)]
    built_in: bool,
    /// For a step: the subject that a phase must have to need it.
    #[serde(default)]
    about: Option<Subject>,
    /// For a gate: true if a refusal stops the loop.
    #[serde(default)]
    blocking: Option<bool>,
    #[serde(default)]
    on_error: Option<OnError>,
    /// Settings whose values are listed with it.
    #[serde(default)]
    values: Vec<String>,
    #[serde(default)]
    reviewer_lanes: bool,
    /// For a step of an installed feature: the file of the skill that does it, in the folder of the feature.
    #[serde(skip)]
    file: Option<String>,
}

impl Hook {
    /// A hook with only these values; everything else is empty.
    fn new(point: &str, kind: HookKind, when: &str) -> Self {
        Self {
            point: point.to_owned(),
            kind,
            when: when.to_owned(),
            point_key: None,
            skill: None,
            agent: None,
            command: None,
            into: None,
            text: None,
            produces: Vec::new(),
            consumes: Vec::new(),
            done: None,
            query: None,
            predicate: None,
            cure: None,
            built_in: false,
            about: None,
            blocking: None,
            on_error: None,
            values: Vec::new(),
            reviewer_lanes: false,
            file: None,
        }
    }

    /// The workflows and the agent that it refers to.
    pub(crate) fn leads_to(&self) -> (Vec<&str>, Option<&str>) {
        let cure = match &self.cure {
            Some(Cure::Skill(skill)) => Some(skill.as_str()),
            _ => None,
        };
        (self.skill.as_deref().into_iter().chain(cure).collect(), self.agent.as_deref())
    }
}

/// A field of front matter, and its value once a step is done.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Done {
    pub(crate) field: String,
    pub(crate) value: String,
}

/// What removes the reason for a gate's refusal.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Cure {
    /// A workflow.
    Skill(String),
    /// A command of this program.
    Command(String),
}

/// The subject of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Subject {
    /// User interfaces.
    Sight,
    /// Language models and what is built on them.
    Models,
}

/// The kinds of hooks, in the order in which those of one point run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum HookKind {
    /// A separate piece of work.
    Step,
    /// Text for another agent's prompt.
    Contribution,
    /// A check that can stop the loop.
    Gate,
}

/// What to do if a hook could not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum OnError {
    Skip,
    Halt,
}

/// All features of this program, sorted by name.
pub(crate) fn all() -> &'static [Capability] {
    &CAPABILITIES
}

/// The feature of this program with this id.
pub(crate) fn find(id: &str) -> Option<&'static Capability> {
    all().iter().find(|capability| capability.id == id)
}

/// True if a gate of a feature can use this check.
fn is_known_query(query: &str) -> bool {
    all().iter().flat_map(|capability| &capability.hooks).any(|hook| hook.query.as_deref() == Some(query))
}

/// True if the role exists: the orchestrator, or an agent, given by its name or the last words of its name.
fn is_known_role(role: &str) -> bool {
    let is_role_of = |agent: &str| agent.strip_suffix(role).is_some_and(|rest| rest.is_empty() || rest.ends_with('-'));
    role == "orchestrator" || crate::library::agent_names().any(is_role_of)
}

impl Capability {
    /// True unless the project has turned off the whole feature.
    fn switched_on(&self, config: &Config) -> bool {
        self.switch.as_deref().is_none_or(|key| config.flag(key))
    }

    /// The settings that turn its hooks on and off, each listed once.
    pub(crate) fn gates(&self) -> Vec<&str> {
        let mut keys: Vec<&str> = Vec::new();
        for key in self.switch.iter().chain(self.hooks.iter().map(|hook| &hook.when)) {
            if !key.is_empty() && !keys.contains(&key.as_str()) {
                keys.push(key);
            }
        }
        keys
    }
}

impl Hook {
    /// True if the project turns it on, at this point.
    fn is_configured(&self, config: &Config) -> bool {
        let here = |key: &String| config.text(key).is_none_or(|point| point == self.point);
        (self.when.is_empty() || config.flag(&self.when)) && self.point_key.as_ref().is_none_or(here)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::config::key_names;

    #[test]
    fn every_declaration_parses_and_has_what_its_kind_needs() {
        for file in DECLARATIONS.files() {
            let text = file.contents_utf8().unwrap();
            let parsed: Result<Capability, _> = toml_edit::de::from_str(text);
            let capability = parsed.unwrap_or_else(|error| panic!("{}: {error}", file.path().display()));
            for hook in &capability.hooks {
                let work = [&hook.skill, &hook.agent, &hook.command].into_iter().flatten().count();
                let asked = usize::from(hook.query.is_some()) + usize::from(hook.predicate.is_some());
                let counts = match hook.kind {
                    HookKind::Step => (work, hook.into.is_some(), asked),
                    HookKind::Contribution => (work + 1, hook.into.is_none() || hook.text.is_none(), asked),
                    HookKind::Gate => (work + asked, hook.blocking.is_none(), 0),
                };
                assert_eq!(counts, (1, false, 0), "{}: {hook:?}", file.path().display());
                assert!(POINTS.contains(&hook.point.as_str()), "{}", hook.point);
            }
        }
        assert_eq!(all().len(), DECLARATIONS.files().count());
    }

    #[test]
    fn every_setting_a_declaration_names_can_be_set() {
        let known = key_names();
        for capability in all() {
            let values = capability.hooks.iter().flat_map(|hook| hook.values.iter().chain(&hook.point_key));
            for key in capability.gates().into_iter().chain(values.map(String::as_str)) {
                assert!(known.iter().any(|name| name == key), "{}: {key}", capability.id);
            }
        }
    }
}
