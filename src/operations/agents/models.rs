//! Chooses the model and the effort of an agent, and how finely a phase is split.
//!
//! A profile gives each agent a tier (`opus`, `sonnet`, `haiku`), which the agent declares in its front matter.
//! `models.toml` lists the hosts' models for the tiers. A project's configuration can override every step.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agent::{Agent, Effort, ModelTier, Weight};
use super::failure::FailureClass;
use crate::project::config::Config;
use crate::text::words;

/// The profile, and the model, of agents that run on their caller's model.
const INHERIT: &str = "inherit";

const O: &str = ModelTier::Opus.word();
const S: &str = ModelTier::Sonnet.word();
const H: &str = ModelTier::Haiku.word();

/// Kinds of work for which a granularity or a model can be set.
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
    /// Arguments that set the effort of the host's program, with `{effort}` as the placeholder; empty if it has no such
    /// option.
    #[serde(default)]
    effort_argv: Vec<String>,
}

/// How the effort is passed to a host.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct EffortForm {
    parameter: String,
    propagation: String,
    /// The lowest effort that the host supports.
    lowest: Option<Effort>,
}

/// A test checks that the file parses; if it did not, every host would get the tiers by name.
static CATALOGUE: LazyLock<Catalogue> =
    LazyLock::new(|| toml_edit::de::from_str(include_str!("models.toml")).unwrap_or_default());

impl Catalogue {
    fn effort_argv(&self, runtime: &str) -> &[String] {
        self.runtimes.get(runtime).map_or(&[], |models| &models.effort_argv)
    }

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
    /// With `--failure-class`: the progress along `dynamic_routing.provider_escalation`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) escalation: Option<Escalation>,
    #[serde(flatten)]
    pub(crate) surface: Option<EffortSurface>,
}

/// Retries with the models of other providers. If the work failed for another reason, or the project lists no models of
/// other providers, this does not change: only `model` shows a higher tier.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Escalation {
    class: FailureClass,
    /// The model of the first attempt.
    from: String,
    to: String,
    escalated: bool,
    /// There were more attempts than there are models.
    exhausted: bool,
    /// The models so far, including the first one and the one to use now.
    attempted: Vec<String>,
    /// The index of the model among those attempted.
    index: usize,
}

/// How to pass the effort to the program of the host given with `--host`.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[expect(clippy::struct_field_names, reason = "the fields are keys of an answer, which other keys stand around")]
pub(crate) struct EffortSurface {
    host: String,
    effort_surface: Surface,
    effort_argv: Vec<String>,
    effort_argv_string: String,
    #[schemars(with = "serde_json::Value")]
    effort_argv_value: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Surface {
    Argv,
    None,
}

/// What `resolve-granularity` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct GranularityReport {
    pub(crate) granularity: String,
    pub(crate) phase_type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unknown_phase_type: Option<bool>,
}

/// The inputs other than the agent.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExecutionRequest<'a> {
    pub(crate) effort: Option<&'a str>,
    pub(crate) fast_mode: Option<bool>,
    /// The number of earlier attempts at the same work.
    pub(crate) attempt: usize,
    /// Why the last attempt failed.
    pub(crate) failure: Option<FailureClass>,
    /// The host as named in the call.
    pub(crate) host: Option<&'a str>,
}

/// The host whose models are used if no host is named.
pub(crate) fn usual_runtime() -> &'static str {
    &CATALOGUE.default_runtime
}

/// Chooses the model of an agent on a host.
pub(crate) fn model(config: &Config, runtime: &str, agent: &str) -> ModelReport {
    let known = Agent::named(agent);
    let chosen = choose(config, runtime, agent, known.as_ref(), 0);
    ModelReport {
        model: chosen.model,
        profile: config.model_profile().to_owned(),
        effort: effort(config, agent, known.as_ref()),
        tier: if known.is_some() { chosen.tier } else { "unknown".to_owned() },
        unknown_agent: known.is_none().then_some(true),
    }
}

/// Chooses the model of an agent and how to run it.
pub(crate) fn execution(
    config: &Config,
    runtime: &str,
    agent: &str,
    request: &ExecutionRequest<'_>,
) -> ExecutionReport {
    let known = Agent::named(agent);
    let climbed = climbed(config, request.attempt);
    let effort = match request.effort {
        Some(asked) => asked.to_owned(),
        None => harder(effort(config, agent, known.as_ref()), climbed),
    };
    let form = CATALOGUE.runtimes.get(runtime).and_then(|models| models.effort.as_ref());
    let rendered = form.map_or_else(|| effort.clone(), |form| form.rendered(&effort));
    let is_clamped = rendered != effort;
    let model_of = |climbed| choose(config, runtime, agent, known.as_ref(), climbed).model;
    let others = request.failure.map(|class| Others::of(config, class, request.attempt));
    let of_other = others.as_ref().and_then(Others::model);
    ExecutionReport {
        model: of_other.map_or_else(|| model_of(climbed), str::to_owned),
        profile: config.model_profile().to_owned(),
        effort: effort.clone(),
        effort_rendered: rendered.clone(),
        effort_param: form.map(|form| form.parameter.clone()),
        effort_propagation: form.map(|form| form.propagation.clone()),
        effort_requested: effort.clone(),
        effort_clamped: is_clamped,
        effort_clamp_reason: is_clamped.then(|| format!("`{runtime}` knows nothing below `{rendered}`")),
        effort_effective: effort,
        effort_effective_source: if request.effort.is_some() { "flag" } else { "resolved" },
        fast_mode: request.fast_mode.unwrap_or_else(|| is_fast(config, agent, weight_of(known.as_ref()))),
        // No host we know of has a parameter for speed.
        fast_mode_supported: false,
        unknown_agent: known.is_none().then_some(true),
        escalation: others.map(|others| others.told(model_of(0))),
        surface: request.host.map(|host| surface(host, CATALOGUE.effort_argv(runtime), &rendered)),
    }
}

impl EffortForm {
    /// The effort in a form that the host supports.
    fn rendered(&self, effort: &str) -> String {
        match (self.lowest, words::of_word::<Effort>(effort)) {
            (Some(lowest), Some(asked)) => lowest.max(asked).word().to_owned(),
            _ => effort.to_owned(),
        }
    }
}

/// Models of other providers, for work that failed because a quota was used up.
struct Others<'config> {
    class: FailureClass,
    /// Those tried so far, in order.
    tried: Vec<&'config str>,
    exhausted: bool,
}

impl<'config> Others<'config> {
    fn of(config: &'config Config, class: FailureClass, attempt: usize) -> Self {
        let listed = config.written("dynamic_routing.provider_escalation").and_then(serde_json::Value::as_array);
        let names = listed.into_iter().flatten().filter_map(serde_json::Value::as_str).map(str::trim);
        let mut tried: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
        if class != FailureClass::QuotaExceeded || tried.is_empty() || !climbs(config) {
            return Others { class, tried: Vec::new(), exhausted: false };
        }
        tried.truncate(attempt.min(most_climbs(config)));
        let exhausted = attempt > tried.len();
        Others { class, tried, exhausted }
    }

    /// The model to use now; `None` if that is still the first model.
    fn model(&self) -> Option<&'config str> {
        self.tried.last().copied()
    }

    fn told(self, first: String) -> Escalation {
        Escalation {
            class: self.class,
            to: self.model().map_or_else(|| first.clone(), str::to_owned),
            escalated: !self.tried.is_empty(),
            exhausted: self.exhausted,
            index: self.tried.len(),
            attempted: std::iter::once(first.clone()).chain(self.tried.into_iter().map(str::to_owned)).collect(),
            from: first,
        }
    }
}

/// How to pass the effort to the program of the host named `host`.
fn surface(host: &str, argv: &[String], effort: &str) -> EffortSurface {
    let argv: Vec<String> = argv.iter().map(|word| word.replace("{effort}", effort)).collect();
    EffortSurface {
        host: host.to_owned(),
        effort_surface: if argv.is_empty() { Surface::None } else { Surface::Argv },
        effort_argv_string: argv.join(" "),
        effort_argv_value: (!argv.is_empty()).then(|| effort.to_owned()),
        effort_argv: argv,
    }
}

/// True if an agent runs in fast mode. The setting for the agent wins over that for its weight, and that over the
/// general one.
fn is_fast(config: &Config, agent: &str, weight: Weight) -> bool {
    let said = |key: &str| config.written(key).and_then(serde_json::Value::as_bool);
    let of_weight = format!("fast_mode.routing_tier_defaults.{}", weight.word());
    said(&format!("fast_mode.agent_overrides.{agent}"))
        .or_else(|| said(&of_weight))
        .or_else(|| said("fast_mode.enabled"))
        .unwrap_or_else(|| config.flag(&of_weight))
}

/// How finely a phase of a kind is split.
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

/// All agents with their tiers under a profile.
pub(crate) fn agents_under(profile: &str) -> Vec<(String, &'static str)> {
    Agent::all().into_iter().map(|(name, agent)| (name, tier(Some(&agent), profile))).collect()
}

fn weight_of(agent: Option<&Agent>) -> Weight {
    agent.map_or(Weight::Standard, |agent| agent.weight)
}

/// The tier of an agent under a profile; for an unknown agent, the general tier of the profile.
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
struct ModelChoice {
    model: String,
    tier: String,
}

/// Chooses the model of an agent: the one named in the configuration, else its tier in the host's spelling.
fn choose(config: &Config, runtime: &str, name: &str, known: Option<&Agent>, climbed: usize) -> ModelChoice {
    let by_profile = tier(known, config.model_profile());
    if let Some(model) = config.text(&format!("model_overrides.{name}")) {
        let tier = if TIERS.contains(&model) { model } else { by_profile };
        return ModelChoice { model: model.to_owned(), tier: tier.to_owned() };
    }
    let routed = routed(config, weight_of(known), climbed);
    let of_kind = known.and_then(|known| config.text(&format!("models.{}", known.kind)));
    let tier = routed.or(of_kind).unwrap_or(by_profile);
    if !TIERS.contains(&tier) {
        // `inherit`, or the identifier of a model instead of a tier.
        return ModelChoice { model: tier.to_owned(), tier: tier.to_owned() };
    }
    let model = by_policy(config, runtime, tier)
        .or_else(|| of_profile(config, runtime, tier))
        .or_else(|| CATALOGUE.model(runtime, tier))
        .unwrap_or_else(|| by_name(config, tier));
    ModelChoice { model: model.to_owned(), tier: tier.to_owned() }
}

/// True if failed work is retried with a higher tier or more effort.
fn climbs(config: &Config) -> bool {
    let on_failure = config.written("dynamic_routing.escalate_on_failure").and_then(serde_json::Value::as_bool);
    config.flag("dynamic_routing.enabled") && on_failure != Some(false)
}

/// The most escalations; 1 if the project does not give a number.
fn most_climbs(config: &Config) -> usize {
    let most = config.number("dynamic_routing.max_escalations");
    most.map_or(1, |most| usize::try_from(most).unwrap_or(usize::MAX))
}

/// How many levels this attempt is above the first one.
fn climbed(config: &Config, attempt: usize) -> usize {
    if climbs(config) { attempt.min(most_climbs(config)) } else { 0 }
}

/// The tier for an agent of this weight if the project routes by weight. It rises with repeated attempts.
fn routed(config: &Config, weight: Weight, climbed: usize) -> Option<&str> {
    if !config.flag("dynamic_routing.enabled") {
        return None;
    }
    // There are three weights.
    let weight = (0..climbed.min(2)).fold(weight, |weight, _| weight.heavier());
    config.text(&format!("dynamic_routing.tier_models.{}", weight.word()))
}

/// Raises the effort by `climbed` levels. An unknown word is returned unchanged.
fn harder(effort: String, climbed: usize) -> String {
    match words::of_word::<Effort>(&effort) {
        Some(level) => (0..climbed.min(5)).fold(level, |level, _| level.harder()).word().to_owned(),
        None => effort,
    }
}

/// The model that the project names for a tier on a host: a string, or the `model` of an object.
fn of_profile<'config>(config: &'config Config, runtime: &str, tier: &str) -> Option<&'config str> {
    let key = format!("model_profile_overrides.{runtime}.{tier}");
    config.text(&key).or_else(|| config.written(&key)?.get("model")?.as_str().filter(|model| !model.is_empty()))
}

/// The model named for a tier by a policy of the project.
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

/// A tier in the form that the default host expects: its name, its identifier, or an empty string.
fn by_name<'a>(config: &Config, tier: &'a str) -> &'a str {
    let wanted = config.value("resolve_model_ids");
    if wanted.as_str() == Some("omit") {
        return "";
    }
    let identifier = CATALOGUE.identifiers.get(tier).filter(|_| wanted.as_bool() == Some(true));
    identifier.map_or(tier, String::as_str)
}

/// The effort of an agent.
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

    /// The host that calls its models by the names of the tiers.
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
        assert_eq!(resolved(r#"{"model_profile":"BUDGET"}"#, none, "gsd-codebase-mapper"), pair("haiku", "haiku"));
        assert_eq!(resolved(r#"{"model_profile":"zzz"}"#, none, "gsd-executor"), pair("sonnet", "sonnet"));
        assert_eq!(resolved(r#"{"model_profile":"inherit"}"#, none, "gsd-executor"), pair("inherit", "inherit"));
        assert_eq!(resolved(r#"{"model_profile":"quality"}"#, none, "nobody"), pair("opus", "unknown"));
    }

    #[test]
    fn the_configuration_overrides_every_step() {
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

    const ROUTED: &str = r#""tier_models":{"light":"haiku","standard":"sonnet","heavy":"opus"}"#;

    fn attempt(routing: &str, agent: &str, attempt: usize) -> (String, String) {
        let config = config(&format!(r#"{{"dynamic_routing":{{"enabled":true,{routing}}}}}"#));
        let request = ExecutionRequest { attempt, ..ExecutionRequest::default() };
        let report = execution(&config, named_by_tiers(), agent, &request);
        (report.model, report.effort)
    }

    #[test]
    fn repeated_attempts_raise_tier_and_effort() {
        let light = |routing: &str, number| attempt(&format!("{routing}{ROUTED}"), "gsd-plan-checker", number);
        assert_eq!(light("", 0), pair("haiku", "low"));
        assert_eq!(light("", 1), pair("sonnet", "medium"));
        assert_eq!(light("", 9), pair("sonnet", "medium"));
        for no_count in ["-1", "1.5", "\"2\""] {
            assert_eq!(light(&format!(r#""max_escalations":{no_count},"#), 9).0, "sonnet", "{no_count}");
        }
        assert_eq!(light(r#""max_escalations":9,"#, 9), pair("opus", "max"));
        assert_eq!(light(r#""escalate_on_failure":false,"#, 9), pair("haiku", "low"));
        assert_eq!(
            attempt(r#""max_escalations":1"#, "gsd-plan-checker", 1),
            pair("sonnet", "medium"),
            "no tiers named"
        );
    }

    #[test]
    fn work_without_quota_continues_with_models_of_other_providers() {
        let told = |routing: &str, failure, attempt| {
            let config = config(&format!(r#"{{"dynamic_routing":{{{routing},{ROUTED}}}}}"#));
            let request = ExecutionRequest { attempt, failure: Some(failure), ..ExecutionRequest::default() };
            let report = execution(&config, named_by_tiers(), "gsd-executor", &request);
            let escalation = report.escalation.unwrap();
            assert_eq!(escalation.attempted.len(), escalation.index + 1);
            assert_eq!((escalation.from.as_str(), escalation.escalated), ("sonnet", escalation.index > 0));
            (report.model, escalation.to, escalation.index, escalation.exhausted)
        };
        let quota = FailureClass::QuotaExceeded;
        let list = r#""enabled":true,"max_escalations":3,"provider_escalation":["m1",3,"",null,"m2"]"#;
        assert_eq!(told(list, quota, 0), ("sonnet".into(), "sonnet".into(), 0, false));
        assert_eq!(told(list, quota, 1), ("m1".into(), "m1".into(), 1, false));
        assert_eq!(told(list, quota, 2), ("m2".into(), "m2".into(), 2, false));
        assert_eq!(told(list, quota, 3), ("m2".into(), "m2".into(), 2, true));
        let once = r#""enabled":true,"provider_escalation":["m1","m2"]"#;
        assert_eq!(told(once, quota, 2), ("m1".into(), "m1".into(), 1, true));
        let never = r#""enabled":true,"max_escalations":0,"provider_escalation":["m1"]"#;
        assert_eq!(told(never, quota, 1), ("sonnet".into(), "sonnet".into(), 0, true));
        for tiers in [r#""enabled":true,"provider_escalation":"m1""#, r#""enabled":true,"provider_escalation":[]"#] {
            assert_eq!(told(tiers, quota, 1), ("opus".into(), "sonnet".into(), 0, false), "{tiers}");
        }
        assert_eq!(told(list, FailureClass::UnknownFailure, 1).0, "opus");
        for off in [r#""enabled":false,"provider_escalation":["m1"]"#, r#""enabled":true,"escalate_on_failure":false"#]
        {
            assert_eq!(told(off, quota, 1), ("sonnet".into(), "sonnet".into(), 0, false), "{off}");
        }
    }

    #[test]
    fn the_most_specific_setting_decides_fast_mode() {
        let fast = |text: &str, agent| {
            execution(&config(text), named_by_tiers(), agent, &ExecutionRequest::default()).fast_mode
        };
        assert_eq!([fast("{}", "gsd-plan-checker"), fast("{}", "gsd-planner")], [true, false]);
        let all = r#"{"fast_mode":{"enabled":true}}"#;
        assert!(fast(all, "gsd-planner") && fast(all, "gsd-plan-checker") && fast(all, "nobody"));
        assert!(!fast(r#"{"fast_mode":{"enabled":false}}"#, "gsd-plan-checker"));
        let heavy = r#"{"fast_mode":{"enabled":true,"routing_tier_defaults":{"heavy":false}}}"#;
        assert_eq!([fast(heavy, "gsd-planner"), fast(heavy, "gsd-executor")], [false, true]);
        assert!(!fast(r#"{"fast_mode":{"enabled":true,"agent_overrides":{"gsd-planner":false}}}"#, "gsd-planner"));
    }

    #[test]
    fn the_effort_is_passed_in_the_arguments_of_the_program() {
        let mut told_by_argv = 0;
        for (runtime, models) in &CATALOGUE.runtimes {
            let told = surface(runtime, &models.effort_argv, "low");
            let is_told = told.effort_argv.iter().any(|word| word.contains("low"));
            assert_eq!(is_told, told.effort_surface == Surface::Argv, "{runtime}: {told:?}");
            assert_eq!(told.effort_argv_value.is_some(), is_told, "{runtime}");
            told_by_argv += usize::from(is_told);
        }
        assert_eq!(told_by_argv, 3);
        let none = surface("a; b", &[], "low");
        assert_eq!((none.effort_argv_string.as_str(), none.effort_argv_value), ("", None));
    }

    #[test]
    fn a_model_of_a_tier_may_be_in_an_object_with_other_facts() {
        for host in ["made-up", host_with("gpt-5.6-terra")] {
            let text = format!(
                r#"{{"model_profile_overrides":{{"{host}":{{"sonnet":{{"model":"mine","reasoning_effort":"low"}}}}}}}}"#
            );
            let report = model(&config(&text), host, "gsd-executor");
            assert_eq!((report.model.as_str(), report.effort.as_str()), ("mine", "high"), "{host}");
        }
    }

    #[test]
    fn granularity_is_from_the_call_then_the_kind_then_the_project() {
        let config = config(r#"{"granularity":"fine","granularities":{"planning":"coarse"}}"#);
        assert_eq!(granularity(&config, "planning", Some("standard")).granularity, "standard");
        assert_eq!(granularity(&config, "planning", None).granularity, "coarse");
        assert_eq!(granularity(&config, "execution", None).granularity, "fine");
        assert_eq!(granularity(&config, "2", None).unknown_phase_type, Some(true));
    }
}
