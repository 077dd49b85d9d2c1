//! What the features of a project want done at a point of the loop, for a program and for a model.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::surface::Surface;
use super::{Capability, Hook, HookKind, OnError, all};
use crate::project::config::Config;

/// What features want at a point.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PointReport {
    pub(crate) point: String,
    /// In the order in which it is to be done: steps, then contributions, then gates.
    pub(crate) active_hooks: Vec<ActiveHook>,
    /// The same for a model to read.
    pub(crate) rendered: String,
    /// Workflows, agents and commands of steps above that this program does not bring: those steps are left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) not_installed: Vec<String>,
}

/// One piece of work that is wanted.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ActiveHook {
    pub(crate) cap_id: &'static str,
    pub(crate) kind: HookKind,
    /// Of a contribution: whose prompt it goes into.
    #[serde(skip_serializing_if = "Option::is_none")]
    into: Option<&'static str>,
    /// Of a step: who does it.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub(crate) reference: Option<Reference>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fragment: Option<Fragment>,
    /// The setting that turned it on.
    when: &'static str,
    /// Files that are there afterwards.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    produces: &'static [String],
    /// Files it reads.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    consumes: &'static [String],
    /// Of a gate: what is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    check: Option<Check>,
    /// Of a gate: whether a refusal stops the loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    blocking: Option<bool>,
    /// What to do where it cannot be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    on_error: Option<OnError>,
    /// Settings of the feature that bear on it.
    #[serde(skip_serializing_if = "Map::is_empty")]
    config_values: Map<String, Value>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    supports_reviewer_lanes: bool,
}

/// Who does a step.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Reference {
    Skill(&'static str),
    Agent(&'static str),
    Command(&'static str),
}

/// Text that goes into a prompt as it is.
#[derive(Debug, Serialize, JsonSchema)]
struct Fragment {
    inline: &'static str,
}

/// What a gate asks.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Check {
    /// The name of a check.
    Query(&'static str),
    /// A condition on a document of the phase.
    Predicate(&'static Value),
}

/// What is wanted at `point`; `has` tells what a step can be done with.
pub(crate) fn at(point: &str, config: &Config, surface: &Surface, has: impl Fn(Reference) -> bool) -> PointReport {
    let declared = all().iter().flat_map(|capability| {
        let of_point = capability.hooks.iter().filter(|hook| hook.point == point);
        of_point.map(move |hook| (capability, hook))
    });
    let mut declared: Vec<(&Capability, &Hook)> = declared.collect();
    // What reads the result of another step comes after it, whether that one is wanted or not.
    let waits = |hook: &Hook| {
        let made_here = |file: &String| declared.iter().any(|(_, other)| other.produces.contains(file));
        hook.kind == HookKind::Step && hook.consumes.iter().any(made_here)
    };
    let waiting: Vec<bool> = declared.iter().map(|(_, hook)| waits(hook)).collect();
    let mut order: Vec<usize> = (0..declared.len()).collect();
    order.sort_by_key(|index| (declared[*index].1.kind, waiting[*index]));
    declared = order.into_iter().map(|index| declared[index]).collect();

    let wanted = declared.into_iter().filter(|(capability, hook)| {
        surface.shows(capability) && capability.switched_on(config) && hook.is_configured(config)
    });
    let active_hooks: Vec<ActiveHook> = wanted.map(|(capability, hook)| active(capability, hook, config)).collect();
    let references = active_hooks.iter().filter_map(|hook| hook.reference);
    let not_installed = references.filter(|reference| !has(*reference)).map(|reference| reference.name().to_owned());
    PointReport {
        point: point.to_owned(),
        not_installed: not_installed.collect(),
        rendered: rendered(point, &active_hooks),
        active_hooks,
    }
}

fn active(capability: &'static Capability, hook: &'static Hook, config: &Config) -> ActiveHook {
    let skill = hook.skill.as_deref().map(Reference::Skill);
    let agent = hook.agent.as_deref().map(Reference::Agent);
    let command = hook.command.as_deref().map(Reference::Command);
    let query = hook.query.as_deref().map(Check::Query);
    let name = |key: &str| key.rsplit('.').next().unwrap_or(key).to_owned();
    ActiveHook {
        cap_id: &capability.id,
        kind: hook.kind,
        into: hook.into.as_deref(),
        reference: skill.or(agent).or(command),
        fragment: hook.text.as_deref().map(|text| Fragment { inline: text.trim() }),
        when: &hook.when,
        produces: &hook.produces,
        consumes: &hook.consumes,
        check: query.or(hook.predicate.as_ref().map(Check::Predicate)),
        blocking: hook.blocking,
        on_error: hook.on_error,
        config_values: hook.values.iter().map(|key| (name(key), config.value(key).clone())).collect(),
        supports_reviewer_lanes: hook.reviewer_lanes,
    }
}

fn rendered(point: &str, hooks: &[ActiveHook]) -> String {
    if hooks.is_empty() {
        return format!("_No active hooks at {point}._");
    }
    let mut blocks = Vec::new();
    let mut steps = 0;
    for hook in hooks {
        let fragment = hook.fragment.as_ref().map(|fragment| fragment.inline);
        blocks.push(match hook.kind {
            HookKind::Step => {
                steps += 1;
                let work = hook.reference.map(Reference::shown).unwrap_or_default();
                let head = format!("### Step {steps}: {work} ({})\n{}", hook.cap_id, hook.details());
                [Some(head.as_str()), fragment].into_iter().flatten().collect::<Vec<_>>().join("\n\n")
            }
            HookKind::Contribution => format!(
                "<contribution from=\"{}\" into=\"{}\">\n{}\n{}\n</contribution>",
                hook.cap_id,
                hook.into.unwrap_or_default(),
                fragment.unwrap_or_default(),
                hook.details()
            ),
            HookKind::Gate => format!(
                "**Gate** ({}): check={}, blocking={}, onError={}\n- when: `{}`",
                hook.cap_id,
                hook.check.as_ref().map(Check::shown).unwrap_or_default(),
                hook.blocking.unwrap_or_default(),
                hook.on_error.map(OnError::word).unwrap_or_default(),
                hook.when
            ),
        });
    }
    blocks.join("\n\n")
}

impl ActiveHook {
    /// What it reads and makes, a line each.
    fn details(&self) -> String {
        let mut lines = String::new();
        // Writing to a string cannot fail.
        for (label, files) in [("produces", self.produces), ("consumes", self.consumes)] {
            if !files.is_empty() {
                let _ = writeln!(lines, "- {label}: {}", files.join(", "));
            }
        }
        let _ = write!(lines, "- when: `{}`", self.when);
        if let Some(on_error) = self.on_error {
            let _ = write!(lines, "\n- onError: {}", on_error.word());
        }
        lines
    }
}

impl Reference {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Skill(name) | Self::Agent(name) | Self::Command(name) => name,
        }
    }

    fn shown(self) -> String {
        match self {
            Self::Skill(name) => format!("skill:{name}"),
            Self::Agent(name) => format!("agent:{name}"),
            Self::Command(_) => compact(&self),
        }
    }
}

impl Check {
    fn shown(&self) -> String {
        compact(self)
    }
}

impl OnError {
    fn word(self) -> &'static str {
        match self {
            Self::Skip => "skip",
            Self::Halt => "halt",
        }
    }
}

fn compact(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::config::ConfigTexts;

    fn wanted(point: &str, config: &str, surface: &str) -> PointReport {
        let (config, _) = Config::read(ConfigTexts { project: Some(config), ..ConfigTexts::default() });
        at(point, &config, &Surface::parse(surface).unwrap(), |reference| reference.name() != "ui-phase")
    }

    fn names(report: &PointReport) -> Vec<String> {
        report.active_hooks.iter().map(|hook| format!("{} {:?}", hook.cap_id, hook.kind)).collect()
    }

    #[test]
    fn the_work_of_a_point_stands_in_the_order_in_which_it_is_done() {
        let report = wanted("plan:pre", "{}", "{}");
        assert_eq!(
            names(&report),
            [
                "ai-integration Step",
                "research Step",
                "ui Step",
                // It reads what the research writes.
                "pattern-mapper Step",
                "ai-integration Contribution",
                "assumption-delta Contribution",
                "schema-gate Contribution",
                "security Contribution",
                "drift Gate",
                "drift Gate",
                "ui Gate",
            ]
        );
        assert_eq!(report.not_installed, ["ui-phase"]);
    }

    #[test]
    fn settings_and_the_surface_take_work_away() {
        assert_eq!(names(&wanted("execute:post", r#"{"workflow": {"code_review": false}}"#, "{}")), [""; 0]);
        let elsewhere = r#"{"workflow": {"code_review_point": "execute:wave:post"}}"#;
        assert_eq!(names(&wanted("execute:post", elsewhere, "{}")), [""; 0]);
        assert_eq!(names(&wanted("execute:wave:post", elsewhere, "{}"))[0], "code-review Step");
        let without_ui = wanted("execute:wave:post", "{}", r#"{"disabledClusters": ["ui"]}"#);
        assert_eq!(names(&without_ui), ["drift Gate", "drift Gate"]);
        assert_eq!(wanted("execute:pre", "{}", "{}").rendered, "_No active hooks at execute:pre._");
    }

    #[test]
    fn a_model_reads_the_same() {
        let config = r#"{"refactor": {"trigger_enabled": true}, "workflow": {"tdd_mode": true}}"#;
        let report = wanted("execute:post", config, "{}");
        assert_eq!(
            report.rendered,
            "### Step 1: skill:code-review (code-review)\n- produces: REVIEW.md\n- consumes: SUMMARY.md\n\
             - when: `workflow.code_review`\n- onError: skip\n\n\
             ### Step 2: {\"command\":\"refactor evaluate\"} (refactor-trigger)\n- produces: REFACTOR.md\n\
             - when: `refactor.trigger_enabled`\n- onError: skip\n\n\
             **Gate** (tdd): check={\"query\":\"tdd.review-checkpoint\"}, blocking=false, onError=skip\n\
             - when: `workflow.tdd_mode`"
        );
        let security = wanted("plan:pre", "{}", "{}").rendered;
        assert!(security.contains("<contribution from=\"security\" into=\"planner\">\nEach plan"), "{security}");
        assert!(security.contains("- when: `workflow.security_enforcement`\n</contribution>"), "{security}");
    }

    #[test]
    fn values_of_settings_are_told_by_their_last_name() {
        let report = wanted("plan:pre", r#"{"workflow": {"security_asvs_level": 3}}"#, "{}");
        let security = report.active_hooks.iter().find(|hook| hook.cap_id == "security").unwrap();
        assert_eq!(
            serde_json::to_string(&security.config_values).unwrap(),
            r#"{"security_asvs_level":3,"security_block_on":"high"}"#
        );
    }
}
