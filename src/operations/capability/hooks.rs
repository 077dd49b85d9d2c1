//! The hooks of a project's features at a point of the loop, for a program and for a model.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::features::Features;
use super::surface::FeatureSurface;
use super::{Capability, Cure, Done, Hook, HookKind, OnError, Subject};
use crate::project::config::Config;

/// The hooks of the features at a point.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PointReport<'a> {
    pub(crate) point: String,
    /// In the order in which they run: steps, then contributions, then gates.
    pub(crate) active_hooks: Vec<ActiveHook<'a>>,
    /// A line for each hook, for people.
    pub(crate) rendered: String,
    /// Hooks that are turned on but cannot run here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) inactive: Vec<InactiveHook>,
}

/// A hook that is turned on but cannot run here.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct InactiveHook {
    /// The skill or agent of the step, or the check of the gate.
    pub(crate) id: String,
    pub(crate) reason: String,
}

/// An active hook.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ActiveHook<'a> {
    pub(crate) cap_id: &'a str,
    pub(crate) kind: HookKind,
    /// For a contribution: the role whose prompt gets the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) into: Option<&'a str>,
    /// For a step: the skill or agent that does it.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub(crate) reference: Option<Reference<'a>>,
    /// For a step of an installed feature: the file of the skill that does it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fragment: Option<Fragment>,
    /// The setting that turned it on.
    #[serde(skip_serializing_if = "str::is_empty")]
    when: &'a str,
    /// Files that exist afterwards.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub(crate) produces: &'a [String],
    /// Files it reads.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub(crate) consumes: &'a [String],
    /// For a gate: the check.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) check: Option<GateQuestion<'a>>,
    /// For a gate: true if a refusal stops the loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) blocking: Option<bool>,
    /// What to do if it cannot be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) on_error: Option<OnError>,
    /// Settings of the feature that affect it.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub(crate) config_values: Map<String, Value>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) supports_reviewer_lanes: bool,
    /// The workflow of the point already does it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) built_in: bool,
    /// For a gate: what removes the reason for a refusal.
    #[serde(skip)]
    pub(crate) cure: Option<Reference<'a>>,
    /// For a step: the subject that a phase must have to need it.
    #[serde(skip)]
    pub(crate) about: Option<Subject>,
    /// For a step: what its document contains once it is done.
    #[serde(skip)]
    pub(crate) done: Option<&'a Done>,
}

/// The skill or agent that does a step.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Reference<'a> {
    Skill(&'a str),
    Agent(&'a str),
    Command(&'a str),
}

/// Text that is inserted into a prompt unchanged.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Fragment {
    pub(crate) inline: String,
}

/// The check of a gate.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum GateQuestion<'a> {
    /// The name of a check.
    Query(&'a str),
    /// A condition on a document of the phase.
    Predicate(&'a Value),
}

/// Lists the hooks at `point`. `has` reports what is installed; `program` is the name of this program in the texts.
pub(crate) fn at<'a>(
    point: &str,
    features: &'a Features,
    config: &Config,
    surface: &FeatureSurface,
    has: impl Fn(Reference<'_>) -> bool,
    program: &str,
) -> PointReport<'a> {
    let declared = features.all().into_iter().flat_map(|capability| {
        let of_point = capability.hooks.iter().filter(|hook| hook.point == point);
        of_point.map(move |hook| (capability, hook))
    });
    let mut declared: Vec<(&Capability, &Hook)> = declared.collect();
    // A step that reads the result of another one comes after it, even if the other one is turned off.
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
    let (mut active_hooks, mut inactive) = (Vec::new(), Vec::new());
    for (capability, hook) in wanted {
        let hook = active(capability, hook, config, program);
        match hook.reference.or(hook.cure).filter(|needed| hook.file.is_none() && !has(*needed)) {
            None => active_hooks.push(hook),
            Some(needed) => {
                let reason = format!("{} is not installed", needed.name());
                inactive.push(InactiveHook { id: hook.id(), reason });
            }
        }
    }
    PointReport { point: point.to_owned(), rendered: rendered(point, &active_hooks), inactive, active_hooks }
}

fn active<'a>(capability: &'a Capability, hook: &'a Hook, config: &Config, program: &str) -> ActiveHook<'a> {
    let skill = hook.skill.as_deref().map(Reference::Skill);
    let agent = hook.agent.as_deref().map(Reference::Agent);
    let command = hook.command.as_deref().map(Reference::Command);
    let query = hook.query.as_deref().map(GateQuestion::Query);
    let name = |key: &str| key.rsplit('.').next().unwrap_or(key).to_owned();
    let config_values: Map<String, Value> =
        hook.values.iter().map(|key| (name(key), config.value(key).clone())).collect();
    ActiveHook {
        cap_id: &capability.id,
        kind: hook.kind,
        into: hook.into.as_deref(),
        reference: skill.or(agent).or(command),
        file: hook.file.as_ref().zip(capability.installed.as_ref()).map(|(file, at)| format!("{}/{file}", at.folder)),
        fragment: hook.text.as_deref().map(|text| Fragment { inline: filled(text.trim(), &config_values, program) }),
        when: &hook.when,
        produces: &hook.produces,
        consumes: &hook.consumes,
        check: query.or(hook.predicate.as_ref().map(GateQuestion::Predicate)),
        blocking: hook.blocking,
        on_error: hook.on_error,
        config_values,
        supports_reviewer_lanes: hook.reviewer_lanes,
        built_in: hook.built_in,
        about: hook.about,
        cure: hook.cure.as_ref().map(|cure| match cure {
            Cure::Skill(name) => Reference::Skill(name),
            Cure::Command(path) => Reference::Command(path),
        }),
        done: hook.done.as_ref(),
    }
}

/// The workflows and agents that an installed feature needs but does not contain.
pub(crate) fn references(capability: &Capability) -> Vec<Reference<'_>> {
    let hooks = capability.hooks.iter().filter(|hook| hook.file.is_none());
    let named = hooks.flat_map(|hook| {
        let skill = hook.skill.as_deref().map(Reference::Skill);
        [skill, hook.agent.as_deref().map(Reference::Agent)]
    });
    named.flatten().collect()
}

/// Fills the values of settings into a text, and replaces the bare name of this program with its path: the reader of
/// the text may not have it in PATH.
fn filled(text: &str, settings: &Map<String, Value>, program: &str) -> String {
    let text = text.replace("`gsd-tools ", &format!("`{program} "));
    settings.iter().fold(text, |text, (name, value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        text.replace(&format!("{{{name}}}"), &value)
    })
}

fn rendered(point: &str, hooks: &[ActiveHook<'_>]) -> String {
    if hooks.is_empty() {
        return format!("_No active hooks at {point}._");
    }
    let lines = hooks.iter().map(|hook| match hook.kind {
        HookKind::Step => format!("step {} ({})", hook.id(), hook.cap_id),
        HookKind::Contribution => format!("text for {} ({})", hook.id(), hook.cap_id),
        HookKind::Gate => {
            let blocks = if hook.blocking == Some(true) { "blocking " } else { "" };
            format!("{blocks}gate {} ({})", hook.id(), hook.cap_id)
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

impl ActiveHook<'_> {
    /// The skill or agent of a step, the role of a contribution, or the check of a gate.
    pub(crate) fn id(&self) -> String {
        match (self.reference, self.check) {
            (Some(reference), _) => reference.name().to_owned(),
            (None, Some(GateQuestion::Query(query))) => query.to_owned(),
            (None, Some(GateQuestion::Predicate(condition))) => {
                let word = |key: &str| condition.get(key).and_then(Value::as_str).unwrap_or_default();
                format!("{}:{}", word("artifact"), word("field"))
            }
            (None, None) => self.into.unwrap_or_default().to_owned(),
        }
    }
}

impl<'a> Reference<'a> {
    pub(crate) fn name(self) -> &'a str {
        match self {
            Self::Skill(name) | Self::Agent(name) | Self::Command(name) => name,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::config::ConfigTexts;

    fn wanted(point: &str, config: &str, surface: &str, missing: &[&str]) -> PointReport<'static> {
        static BUILT_IN: Features = Features::built_in();
        let (config, _) = Config::read(ConfigTexts { project: Some(config), ..ConfigTexts::default() });
        let has = |reference: Reference<'_>| !missing.contains(&reference.name());
        at(point, &BUILT_IN, &config, &FeatureSurface::parse(surface).unwrap(), has, "/bin/gsd")
    }

    fn names(report: &PointReport<'_>) -> Vec<String> {
        report.active_hooks.iter().map(|hook| format!("{} {:?}", hook.cap_id, hook.kind)).collect()
    }

    #[test]
    fn hooks_are_listed_in_the_order_in_which_they_run() {
        assert_eq!(
            names(&wanted("plan:pre", "{}", "{}", &[])),
            [
                "ai-integration Step",
                "research Step",
                "ui Step",
                // It reads the output of the research step.
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
    }

    #[test]
    fn a_step_or_gate_without_what_it_needs_is_inactive_and_says_why() {
        let report = wanted("plan:pre", "{}", "{}", &["ui-phase", "map-codebase", "gsd-pattern-mapper"]);
        let inactive: Vec<_> = report.inactive.iter().map(|hook| (hook.id.as_str(), hook.reason.as_str())).collect();
        assert_eq!(
            inactive,
            [
                ("ui-phase", "ui-phase is not installed"),
                ("gsd-pattern-mapper", "gsd-pattern-mapper is not installed"),
                ("verify.codebase-drift", "map-codebase is not installed"),
                ("ui.plan-gate", "ui-phase is not installed"),
            ]
        );
        assert!(!names(&report).iter().any(|name| name.starts_with("ui ")), "{:?}", names(&report));
        let ship = wanted("ship:pre", "{}", "{}", &["secure-phase"]);
        assert_eq!((ship.active_hooks.len(), ship.inactive[0].id.as_str()), (0, "SECURITY.md:threats_open"));
    }

    #[test]
    fn settings_and_the_surface_turn_hooks_off() {
        let wanted = |point: &str, config: &str, surface: &str| wanted(point, config, surface, &[]);
        assert_eq!(names(&wanted("execute:post", r#"{"workflow": {"code_review": false}}"#, "{}")), ["drift Gate"]);
        let elsewhere = r#"{"workflow": {"code_review_point": "execute:wave:post"}}"#;
        assert_eq!(names(&wanted("execute:post", elsewhere, "{}")), ["drift Gate"]);
        assert_eq!(names(&wanted("execute:wave:post", elsewhere, "{}"))[0], "code-review Step");
        let without_ui = wanted("execute:wave:post", "{}", r#"{"disabledClusters": ["ui"]}"#);
        assert_eq!(names(&without_ui), ["drift Gate"]);
        assert_eq!(wanted("execute:pre", "{}", "{}").rendered, "_No active hooks at execute:pre._");
    }

    #[test]
    fn every_hook_has_a_line_for_people() {
        let config = r#"{"refactor": {"trigger_enabled": true}, "workflow": {"tdd_mode": true}}"#;
        assert_eq!(
            wanted("execute:post", config, "{}", &[]).rendered,
            "step code-review (code-review)\nstep refactor evaluate (refactor-trigger)\n\
             gate verify.codebase-drift (drift)\ngate tdd.review-checkpoint (tdd)"
        );
        let planning = wanted("plan:pre", "{}", "{}", &[]).rendered;
        assert!(planning.contains("text for planner (security)\n"), "{planning}");
        assert!(planning.ends_with("blocking gate ui.plan-gate (ui)"), "{planning}");
    }

    #[test]
    fn values_of_settings_are_listed_by_the_last_part_of_their_key() {
        let report = wanted("plan:pre", r#"{"workflow": {"security_asvs_level": 3}}"#, "{}", &[]);
        let security = report.active_hooks.iter().find(|hook| hook.cap_id == "security").unwrap();
        assert_eq!(
            serde_json::to_string(&security.config_values).unwrap(),
            r#"{"security_asvs_level":3,"security_block_on":"high"}"#
        );
        let text = &security.fragment.as_ref().unwrap().inline;
        assert!(text.ends_with("ASVS level 3; threats from high upwards need a task."), "{text}");
    }

    #[test]
    fn texts_name_the_program_by_its_path() {
        let report = wanted("plan:pre", "{}", "{}", &[]);
        let texts: Vec<&str> =
            report.active_hooks.iter().filter_map(|hook| Some(hook.fragment.as_ref()?.inline.as_str())).collect();
        assert!(texts.iter().any(|text| text.contains("`/bin/gsd assumption-delta scan {N}`")), "{texts:?}");
        assert!(!texts.iter().any(|text| text.contains("`gsd-tools ")), "{texts:?}");
    }
}
