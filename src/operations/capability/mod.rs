//! Features that put work of their own into the loop: what each adds, at which point, and which setting turns it on.
//!
//! Facts only, one file for each in `declarations`; what a project makes of them is in [`hooks`] and [`state`], what a
//! host shows of them in [`surface`]. Users install more: [`declared`] reads what they declare, [`ledger`] what this
//! computer notes of them, and [`features`] has all that a call knows.

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

/// Every feature, in the order of their names. That each declaration parses is held by a test.
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

/// The points of the loop at which features can put work, in the order of the loop.
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
    /// Workflows a person can start that belong to it.
    #[serde(default)]
    pub(crate) skills: Vec<String>,
    /// The setting that turns all of it on; without one it is on.
    #[serde(default)]
    switch: Option<String>,
    #[serde(default)]
    pub(crate) hooks: Vec<Hook>,
    /// What is known of one that a user installed; none for those of this program.
    #[serde(skip)]
    pub(crate) installed: Option<Installed>,
}

/// What is known of a feature that a user installed.
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

/// A setting that an installed feature adds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FeatureSetting {
    pub(crate) key: String,
    pub(crate) kind: SettingKind,
    /// Null where it has none.
    pub(crate) default: Value,
}

/// What a setting of an installed feature takes.
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

/// How much of the program an installation needs for a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Tier {
    Core,
    Standard,
    Full,
}

/// What a capability is to the loop.
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

/// Work of a feature at one point.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Hook {
    pub(crate) point: String,
    pub(crate) kind: HookKind,
    /// The setting that turns it on; empty for work of an installed feature that no setting turns off.
    pub(crate) when: String,
    /// The setting that names the point, for work that can be done at one of several.
    #[serde(default)]
    point_key: Option<String>,
    /// Of a step: the workflow, agent or command that does it.
    #[serde(default)]
    skill: Option<String>,
    #[serde(default)]
    agent: Option<String>,
    #[serde(default)]
    command: Option<String>,
    /// Of a contribution: whose prompt it goes into.
    #[serde(default)]
    pub(crate) into: Option<String>,
    /// What is told to whoever does it.
    #[serde(default)]
    pub(crate) text: Option<String>,
    #[serde(default)]
    produces: Vec<String>,
    #[serde(default)]
    consumes: Vec<String>,
    /// Of a step: what its document says once the step is done. Without it, the document being there is enough.
    #[serde(default)]
    done: Option<Done>,
    /// Of a gate: the check that is asked, or the condition.
    #[serde(default)]
    query: Option<String>,
    #[serde(default)]
    predicate: Option<Value>,
    /// Of a gate: what removes the reason for a refusal, where that is not in the user's own hands. A gate whose cure is
    /// not installed is not asked.
    #[serde(default)]
    cure: Option<Cure>,
    /// The workflow of the point does it by itself.
    #[serde(default)]
    built_in: bool,
    /// Of a step: what a phase has to be about to need it.
    #[serde(default)]
    about: Option<Subject>,
    /// Of a gate: whether a refusal stops the loop.
    #[serde(default)]
    blocking: Option<bool>,
    #[serde(default)]
    on_error: Option<OnError>,
    /// Settings whose values are told with it.
    #[serde(default)]
    values: Vec<String>,
    #[serde(default)]
    reviewer_lanes: bool,
    /// Of a step of an installed feature: the file of the skill that does it, in the folder of the feature.
    #[serde(skip)]
    file: Option<String>,
}

impl Hook {
    /// Work of which nothing else is known.
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

    /// The workflows and the agent that it leads to.
    #[cfg(test)]
    pub(crate) fn leads_to(&self) -> (Vec<&str>, Option<&str>) {
        let cure = match &self.cure {
            Some(Cure::Skill(skill)) => Some(skill.as_str()),
            _ => None,
        };
        (self.skill.as_deref().into_iter().chain(cure).collect(), self.agent.as_deref())
    }
}

/// A field of front matter and the value it has once a step is done.
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

/// What a phase can be about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Subject {
    /// What people see.
    Sight,
    /// Language models and what is built on them.
    Models,
}

/// In the order in which the work of one point is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum HookKind {
    /// A piece of work of its own.
    Step,
    /// Text for the prompt of somebody else.
    Contribution,
    /// A question whose answer can stop the loop.
    Gate,
}

/// What to do about work that could not be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum OnError {
    Skip,
    Halt,
}

/// Every feature of this program, in the order of their names.
pub(crate) fn all() -> &'static [Capability] {
    &CAPABILITIES
}

/// The feature of this program called `id`.
pub(crate) fn find(id: &str) -> Option<&'static Capability> {
    all().iter().find(|capability| capability.id == id)
}

/// Whether a gate of a feature can ask this.
fn is_known_query(query: &str) -> bool {
    all().iter().flat_map(|capability| &capability.hooks).any(|hook| hook.query.as_deref() == Some(query))
}

/// Whether something works in this role: the main window, or an agent, known by its name or the last words of it.
fn is_known_role(role: &str) -> bool {
    let is_role_of = |agent: &str| agent.strip_suffix(role).is_some_and(|rest| rest.is_empty() || rest.ends_with('-'));
    role == "orchestrator" || crate::library::agent_names().any(is_role_of)
}

impl Capability {
    /// Whether the project has not switched off all of it.
    fn switched_on(&self, config: &Config) -> bool {
        self.switch.as_deref().is_none_or(|key| config.flag(key))
    }

    /// The settings that turn its work on and off, each once.
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
    /// Whether the project wants it, at this point.
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
    fn every_declaration_parses_and_says_what_its_kind_needs() {
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
