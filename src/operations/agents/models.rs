//! Which model an agent runs on, how hard it thinks, and how finely a phase is cut.
//!
//! A profile gives each agent a tier (`opus`, `sonnet`, `haiku`), as the agent says in its front matter; hosts have their own models for the tiers, listed in
//! `models.toml`; a project's configuration can overrule every step.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agent::{Agent, Tier, Weight};
use crate::project::config::Config;

/// The profile, and the model, of agents that run on whatever their caller runs on.
const INHERIT: &str = "inherit";

const O: &str = Tier::Opus.word();
const S: &str = Tier::Sonnet.word();
const H: &str = Tier::Haiku.word();

/// Kinds of work that a granularity or a model can be set for.
const KINDS: &[&str] = &["planning", "discuss", "research", "execution", "verification", "completion"];

const TIERS: &[&str] = &[O, S, H];

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Catalogue {
    default_runtime: String,
    identifiers: BTreeMap<String, String>,
    runtimes: BTreeMap<String, RuntimeModels>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RuntimeModels {
    opus: Option<String>,
    sonnet: Option<String>,
    haiku: Option<String>,
    effort: Option<EffortForm>,
}

/// How a host is told how hard to think.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct EffortForm {
    parameter: String,
    propagation: String,
}

/// A test holds that the file parses; without it every host takes the tiers by name.
static CATALOGUE: LazyLock<Catalogue> =
    LazyLock::new(|| toml_edit::de::from_str(include_str!("models.toml")).unwrap_or_default());

impl Catalogue {
    fn model(&self, runtime: &str, tier: &str) -> Option<&str> {
        let models = self.runtimes.get(runtime)?;
        let model = match tier {
            O => &models.opus,
            S => &models.sonnet,
            H => &models.haiku,
            _ => &None,
        };
        model.as_deref()
    }
}

/// What `resolve-model` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ModelReport {
    pub(crate) model: String,
    pub(crate) profile: String,
    pub(crate) effort: String,
    pub(crate) tier: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unknown_agent: Option<bool>,
}

/// What `resolve-execution` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ExecutionReport {
    pub(crate) model: String,
    pub(crate) profile: String,
    pub(crate) effort: String,
    pub(crate) effort_rendered: String,
    pub(crate) effort_param: Option<String>,
    pub(crate) effort_propagation: Option<String>,
    pub(crate) effort_requested: String,
    pub(crate) effort_clamped: bool,
    pub(crate) effort_clamp_reason: Option<String>,
    pub(crate) effort_effective: String,
    pub(crate) effort_effective_source: &'static str,
    pub(crate) fast_mode: bool,
    pub(crate) fast_mode_supported: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unknown_agent: Option<bool>,
}

/// What `resolve-granularity` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct GranularityReport {
    pub(crate) granularity: String,
    pub(crate) phase_type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unknown_phase_type: Option<bool>,
}

/// What is asked besides the agent.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExecutionRequest<'a> {
    pub(crate) effort: Option<&'a str>,
    pub(crate) fast_mode: bool,
    /// Which attempt at the same work this is, from 1.
    pub(crate) attempt: u32,
}

/// The host whose models count: the one named, else the configured one, else the default.
pub(crate) fn runtime<'a>(config: &'a Config, named: Option<&'a str>) -> &'a str {
    named.or_else(|| config.runtime()).unwrap_or(&CATALOGUE.default_runtime)
}

/// The model of an agent on a host.
pub(crate) fn model(config: &Config, runtime: &str, agent: &str) -> ModelReport {
    let known = Agent::named(agent);
    let chosen = choose(config, runtime, agent, known.as_ref(), 1);
    ModelReport {
        model: chosen.model,
        profile: config.model_profile().to_owned(),
        effort: effort(config, agent, known.as_ref()),
        tier: if known.is_some() { chosen.tier } else { "unknown".to_owned() },
        unknown_agent: known.is_none().then_some(true),
    }
}

/// The model of an agent and how it is to be run.
pub(crate) fn execution(
    config: &Config,
    runtime: &str,
    agent: &str,
    request: &ExecutionRequest<'_>,
) -> ExecutionReport {
    let known = Agent::named(agent);
    let effort = request.effort.map_or_else(|| effort(config, agent, known.as_ref()), str::to_owned);
    let form = CATALOGUE.runtimes.get(runtime).and_then(|models| models.effort.as_ref());
    let fast = request.fast_mode
        || config
            .written(&format!("fast_mode.agent_overrides.{agent}"))
            .and_then(serde_json::Value::as_bool)
            .unwrap_or_else(|| {
                config.flag(&format!("fast_mode.routing_tier_defaults.{}", weight_of(known.as_ref()).word()))
            });
    ExecutionReport {
        model: choose(config, runtime, agent, known.as_ref(), request.attempt).model,
        profile: config.model_profile().to_owned(),
        effort: effort.clone(),
        effort_rendered: effort.clone(),
        effort_param: form.map(|form| form.parameter.clone()),
        effort_propagation: form.map(|form| form.propagation.clone()),
        effort_requested: effort.clone(),
        effort_clamped: false,
        effort_clamp_reason: None,
        effort_effective: effort,
        effort_effective_source: if request.effort.is_some() { "flag" } else { "resolved" },
        fast_mode: fast,
        // No host can be told to hurry by a parameter that we know of.
        fast_mode_supported: false,
        unknown_agent: known.is_none().then_some(true),
    }
}

/// How finely a phase of a kind is cut.
pub(crate) fn granularity(config: &Config, kind: &str, asked: Option<&str>) -> GranularityReport {
    let known = KINDS.contains(&kind);
    let of_kind = known.then(|| config.text(&format!("granularities.{kind}"))).flatten();
    let granularity = asked.or(of_kind).or_else(|| config.text("granularity")).unwrap_or("standard");
    GranularityReport {
        granularity: granularity.to_owned(),
        phase_type: kind.to_owned(),
        unknown_phase_type: (!known).then_some(true),
    }
}

/// Every agent and its tier under a profile.
pub(crate) fn agents_under(profile: &str) -> Vec<(String, &'static str)> {
    Agent::all().into_iter().map(|(name, agent)| (name, tier(Some(&agent), profile))).collect()
}

fn weight_of(agent: Option<&Agent>) -> Weight {
    agent.map_or(Weight::Standard, |agent| agent.weight)
}

/// The tier of an agent under a profile; of an unknown agent, what the profile means in general.
fn tier(agent: Option<&Agent>, profile: &str) -> &'static str {
    let profile = profile.to_ascii_lowercase();
    match (agent, profile.as_str()) {
        (_, INHERIT) => INHERIT,
        (Some(agent), "quality") => agent.tiers[0].word(),
        (Some(agent), "budget") => agent.tiers[2].word(),
        (Some(agent), "adaptive") => agent.tiers[3].word(),
        (Some(agent), _) => agent.tiers[1].word(),
        (None, "quality") => O,
        (None, "budget") => H,
        (None, _) => S,
    }
}

#[derive(Debug)]
struct Choice {
    model: String,
    tier: String,
}

/// The model of an agent: what the configuration names for it, else its tier in the host's spelling.
fn choose(config: &Config, runtime: &str, name: &str, known: Option<&Agent>, attempt: u32) -> Choice {
    let by_profile = tier(known, config.model_profile());
    if let Some(model) = config.text(&format!("model_overrides.{name}")) {
        let tier = if TIERS.contains(&model) { model } else { by_profile };
        return Choice { model: model.to_owned(), tier: tier.to_owned() };
    }
    let routed = routed(config, weight_of(known), attempt);
    let of_kind = known.and_then(|known| config.text(&format!("models.{}", known.kind)));
    let tier = routed.or(of_kind).unwrap_or(by_profile);
    if !TIERS.contains(&tier) {
        // `inherit`, or the identifier of a model in place of a tier.
        return Choice { model: tier.to_owned(), tier: tier.to_owned() };
    }
    let model = by_policy(config, runtime, tier)
        .or_else(|| config.text(&format!("model_profile_overrides.{runtime}.{tier}")))
        .or_else(|| CATALOGUE.model(runtime, tier))
        .unwrap_or_else(|| by_name(config, tier));
    Choice { model: model.to_owned(), tier: tier.to_owned() }
}

/// The tier for an agent of this weight where the project routes by weight: repeated attempts climb.
fn routed(config: &Config, weight: Weight, attempt: u32) -> Option<&str> {
    if !config.flag("dynamic_routing.enabled") {
        return None;
    }
    let climbs = match config.written("dynamic_routing.escalate_on_failure").and_then(serde_json::Value::as_bool) {
        Some(false) => 0,
        _ => attempt.saturating_sub(1),
    };
    let most = config.number("dynamic_routing.max_escalations").and_then(|most| u32::try_from(most).ok());
    let weight = (0..climbs.min(most.unwrap_or(2)).min(2)).fold(weight, |weight, _| weight.heavier());
    config.text(&format!("dynamic_routing.tier_models.{}", weight.word()))
}

/// The model that a policy of the project names for a tier.
fn by_policy<'config>(config: &'config Config, runtime: &str, tier: &str) -> Option<&'config str> {
    let level = match tier {
        O => "high",
        S => "medium",
        _ => "low",
    };
    config
        .text(&format!("model_policy.runtime_tiers.{runtime}.{tier}"))
        .or_else(|| config.text(&format!("model_policy.{level}")))
}

/// A tier as the default host wants it: its name, its identifier, or nothing at all.
fn by_name<'a>(config: &Config, tier: &'a str) -> &'a str {
    let wanted = config.value("resolve_model_ids");
    if wanted.as_str() == Some("omit") {
        return "";
    }
    let identifier = CATALOGUE.identifiers.get(tier).filter(|_| wanted.as_bool() == Some(true));
    identifier.map_or(tier, String::as_str)
}

/// How hard an agent thinks.
fn effort(config: &Config, name: &str, known: Option<&Agent>) -> String {
    let own = config.text(&format!("effort.agent_overrides.{name}"));
    let by_weight =
        || known.and_then(|agent| config.text(&format!("effort.routing_tier_defaults.{}", agent.weight.word())));
    own.or_else(by_weight).or_else(|| config.text("effort.default")).unwrap_or("high").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::config::ConfigTexts;

    fn config(text: &str) -> Config {
        Config::read(ConfigTexts { project: Some(text), ..ConfigTexts::default() }).0
    }

    fn resolved(text: &str, runtime: &str, agent: &str) -> (String, String) {
        let report = model(&config(text), runtime, agent);
        (report.model, report.tier)
    }

    /// The host whose models are called as the tiers are.
    fn named_by_tiers() -> &'static str {
        &CATALOGUE.default_runtime
    }

    /// The host whose model of the middle tier is `model`.
    fn host_with(model: &str) -> &'static str {
        CATALOGUE.runtimes.keys().find(|id| CATALOGUE.model(id, "sonnet") == Some(model)).unwrap()
    }

    fn pair(model: &str, tier: &str) -> (String, String) {
        (model.to_owned(), tier.to_owned())
    }

    #[test]
    fn the_catalogue_parses_and_names_a_default() {
        let parsed: Catalogue = toml_edit::de::from_str(include_str!("models.toml")).unwrap();
        assert!(parsed.runtimes.contains_key(&parsed.default_runtime));
        assert!(TIERS.iter().all(|tier| parsed.identifiers.contains_key(*tier)));
    }

    #[test]
    fn every_agent_does_work_of_a_known_kind() {
        for (name, agent) in Agent::all() {
            assert!(KINDS.contains(&agent.kind.as_str()), "{name}: no kind of work is called `{}`", agent.kind);
        }
    }

    #[test]
    fn a_profile_gives_each_agent_a_tier() {
        let none = named_by_tiers();
        assert_eq!(resolved("{}", none, "gsd-planner"), pair("opus", "opus"));
        assert_eq!(resolved(r#"{"model_profile":"BUDGET"}"#, none, "gsd-verifier"), pair("haiku", "haiku"));
        assert_eq!(resolved(r#"{"model_profile":"zzz"}"#, none, "gsd-executor"), pair("sonnet", "sonnet"));
        assert_eq!(resolved(r#"{"model_profile":"inherit"}"#, none, "gsd-executor"), pair("inherit", "inherit"));
        assert_eq!(resolved(r#"{"model_profile":"quality"}"#, none, "nobody"), pair("opus", "unknown"));
    }

    #[test]
    fn the_configuration_overrules_step_by_step() {
        let host = host_with("gpt-5.6-terra");
        assert_eq!(resolved("{}", host, "gsd-executor").0, "gpt-5.6-terra");
        assert_eq!(resolved(r#"{"models":{"execution":"opus"}}"#, host, "gsd-executor").0, "gpt-5.6-sol");
        let of_host = format!(r#""model_profile_overrides":{{"{host}":{{"sonnet":"mine"}}}}"#);
        assert_eq!(resolved(&format!("{{{of_host}}}"), host, "gsd-executor").0, "mine");
        let policy = format!(r#"{{"model_policy":{{"medium":"ours"}},{of_host}}}"#);
        assert_eq!(resolved(&policy, host, "gsd-executor").0, "ours");
        let agent = r#"{"model_overrides":{"gsd-executor":"haiku"},"models":{"execution":"opus"}}"#;
        assert_eq!(resolved(agent, host, "gsd-executor"), pair("haiku", "haiku"));
        assert_eq!(resolved(r#"{"resolve_model_ids":"omit"}"#, named_by_tiers(), "gsd-executor").0, "");
        assert_eq!(resolved(r#"{"resolve_model_ids":true}"#, named_by_tiers(), "gsd-executor").0, "claude-sonnet-5");
    }

    #[test]
    fn repeated_attempts_climb() {
        let config = config(
            r#"{"dynamic_routing":{"enabled":true,"max_escalations":1,
                "tier_models":{"light":"haiku","standard":"sonnet","heavy":"opus"}}}"#,
        );
        let model = |attempt| {
            let request = ExecutionRequest { attempt, ..ExecutionRequest::default() };
            execution(&config, named_by_tiers(), "gsd-plan-checker", &request).model
        };
        assert_eq!([model(1), model(2), model(9)], ["haiku", "sonnet", "sonnet"]);
    }

    #[test]
    fn granularity_is_asked_for_then_of_the_kind_then_of_the_project() {
        let config = config(r#"{"granularity":"fine","granularities":{"planning":"coarse"}}"#);
        assert_eq!(granularity(&config, "planning", Some("standard")).granularity, "standard");
        assert_eq!(granularity(&config, "planning", None).granularity, "coarse");
        assert_eq!(granularity(&config, "execution", None).granularity, "fine");
        assert_eq!(granularity(&config, "2", None).unknown_phase_type, Some(true));
    }
}
