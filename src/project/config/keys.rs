//! The keys that can be set, and what each accepts. Most accept anything: the readers fall back to the default.

use crate::project::branch_name::{is_branch_name, is_branch_template};
use crate::text::shell::acting_letter;
use crate::text::splice::Splices;
use serde_json::{Map, Number, Value};

use super::{CAPABILITIES, CAPABILITY_VALUES, capability_default};

/// What a key accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Accepts {
    Anything,
    /// Text, even where it looks like a number or a switch.
    Text,
    OneOf(&'static [&'static str]),
    /// One of the values that stand beside the defaults of features.
    Listed(&'static [Value]),
    /// The name of a branch.
    Branch,
    /// A name of a branch with places for values.
    BranchTemplate,
    /// Text at the beginning of names of folders.
    Code,
    /// One path below the project or several.
    Paths,
}

use Accepts::{Anything, Branch, BranchTemplate, Code, Listed, OneOf, Paths, Text};

/// Why a chain of phases that runs by itself stops.
const YOLO_STOPS: &[&str] =
    &["milestone_complete", "gaps_found", "execution_failed", "human_action", "context_missing", "user_stop", "crash"];

/// A checked wish: this key shall have this value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Setting {
    pub(crate) key: String,
    /// The key as the names of the objects it goes through.
    pub(crate) path: Vec<String>,
    /// `None` takes the key away.
    pub(crate) value: Option<Value>,
}

/// Why a wish was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum KeyError {
    #[error("unknown config key `{key}`")]
    Unknown { key: String },
    #[error("`{value}` is no value of `{key}`; it takes {valid}")]
    Refused { key: String, value: String, valid: String },
}

impl Setting {
    /// Reads a key and the text of its value: `true`, `false`, `null` (unset), numbers, JSON lists and objects are what
    /// they look like, everything else is text.
    pub(crate) fn parse(key: &str, text: &str) -> Result<Self, KeyError> {
        let accepts = accepts(key).ok_or_else(|| KeyError::Unknown { key: key.to_owned() })?;
        let value = match accepts {
            Text | Code if text != "null" => Some(Value::from(text)),
            _ => coerce(text),
        };
        let valid = match (accepts, &value) {
            (OneOf(names), Some(value)) if !value.as_str().is_some_and(|name| names.contains(&name)) => {
                names.join(", ")
            }
            (Listed(values), Some(value)) if !values.contains(value) => {
                let words = values.iter().map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
                words.collect::<Vec<_>>().join(", ")
            }
            (accepts, Some(value)) if !accepts.takes(value) => accepts.described(),
            _ => return Ok(Self { key: key.to_owned(), path: path_of(key), value }),
        };
        Err(KeyError::Refused { key: key.to_owned(), value: text.to_owned(), valid })
    }
}

impl Accepts {
    /// Whether a value can be used where a file gives it. What only has to be one of some words is not looked at: readers
    /// fall back to the default there.
    fn takes(self, value: &Value) -> bool {
        match self {
            Branch => value.as_str().is_some_and(is_branch_name),
            BranchTemplate => value.as_str().is_some_and(is_branch_template),
            Code => value.as_str().is_some_and(is_code),
            // What is neither text nor a list of texts is read as no path.
            Paths => value.as_str().into_iter().chain(texts_in(value)).all(is_path),
            Anything | Text | OneOf(_) | Listed(_) => true,
        }
    }

    fn described(self) -> String {
        let branch = "a name that git takes for a branch, of letters, digits and signs that a shell leaves alone";
        match self {
            Code => "letters, digits, `-` and `_`, with a letter or digit first".to_owned(),
            Paths => "paths below the project, without letters on which a shell acts".to_owned(),
            BranchTemplate => format!("{branch}; `{{phase}}` or `{{slug}}` may stand in it"),
            Anything | Text | OneOf(_) | Listed(_) | Branch => branch.to_owned(),
        }
    }
}

fn texts_in(value: &Value) -> impl Iterator<Item = &str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str)
}

fn is_code(text: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    text.chars().all(plain) && !text.starts_with(['-', '_'])
}

fn is_path(text: &str) -> bool {
    let leads_out = text.starts_with(['/', '-', '~']) || text.split('/').any(|segment| segment == "..");
    !leads_out && acting_letter(text).is_none()
}

/// Takes values out of a file that could not be used safely. Gives each with why.
pub(super) fn take_unusable(file: &mut Map<String, Value>) -> Vec<String> {
    let mut taken = Vec::new();
    for (key, accepts) in KEYS {
        let path: Vec<&str> = key.split('.').collect();
        let Some((last, above)) = path.split_last() else { continue };
        let object = above.iter().try_fold(&mut *file, |object, name| object.get_mut(*name)?.as_object_mut());
        let Some(object) = object else { continue };
        let unusable = object.get(*last).is_some_and(|value| !value.is_null() && !accepts.takes(value));
        if let Some(value) = unusable.then(|| object.remove(*last)).flatten() {
            taken.push(format!("`{key}` is {value}; it takes {}", accepts.described()));
        }
    }
    taken
}

/// Search services: where a key of theirs stands instead of a switch, it is nobody else's to see.
const SECRETS: &[&str] =
    &["brave_search", "exa_search", "firecrawl", "jina", "perplexity", "ref_search", "tavily_search"];

/// Whether the values of a key are told only in part.
pub(crate) fn is_secret(key: &str) -> bool {
    SECRETS.contains(&key)
}

/// The text of a configuration with its secrets told only in part, for showing lines of it.
pub(crate) fn without_secrets(text: &str) -> String {
    let mut splices = Splices::default();
    for key in SECRETS {
        for (at, name) in text.match_indices(&format!("\"{key}\"")) {
            let after = at + name.len();
            let rest = text[after..].trim_start();
            let Some(value) = rest.strip_prefix(':').map(str::trim_start).and_then(|rest| rest.strip_prefix('"'))
            else {
                continue;
            };
            let start = text.len() - value.len();
            // A string that is not closed on its line is hidden to the end of the line.
            let mut escaped = false;
            let ends = |letter: char| {
                let end = letter == '\n' || letter == '"' && !escaped;
                escaped = letter == '\\' && !escaped;
                end
            };
            let length = value.find(ends).unwrap_or(value.len());
            splices.replace(start..start + length, masked(&value[..length]));
        }
    }
    splices.apply(text)
}

/// A secret text with all but its last four characters hidden.
pub(crate) fn masked(secret: &str) -> String {
    let count = secret.chars().count();
    let shown: String = if count < 8 { String::new() } else { secret.chars().skip(count - 4).collect() };
    format!("****{shown}")
}

/// Every key that can be set, sorted; `*` stands for any name.
pub(crate) fn key_names() -> Vec<String> {
    let mut names: Vec<String> = KEYS.iter().map(|(key, _)| (*key).to_owned()).collect();
    names.extend(PATTERNS.iter().map(|pattern| (*pattern).to_owned()));
    add_leaves(&CAPABILITIES, "", &mut names);
    names.sort();
    names
}

fn add_leaves(value: &Value, path: &str, names: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                add_leaves(value, &path, names);
            }
        }
        _ => names.push(path.to_owned()),
    }
}

/// Whether a top-level name of a file means something to us.
pub(super) fn is_known_root(name: &str) -> bool {
    let root = |key: &str| key.split('.').next() == Some(name);
    KEYS.iter().any(|(key, _)| root(key))
        || PATTERNS.iter().any(|pattern| root(pattern))
        || CAPABILITIES.get(name).is_some()
        || matches!(name, "$schema" | "multiRepo")
}

/// The objects a key goes through. The identifier of a phase is one name, dots and all.
fn path_of(key: &str) -> Vec<String> {
    match key.split_once('.') {
        Some((root @ "phase_commit_docs", phase)) => vec![root.to_owned(), phase.to_owned()],
        _ => key.split('.').map(str::to_owned).collect(),
    }
}

fn coerce(text: &str) -> Option<Value> {
    match text {
        "null" => return None,
        "true" => return Some(Value::Bool(true)),
        "false" => return Some(Value::Bool(false)),
        _ => {}
    }
    if text.starts_with(['[', '{'])
        && let Ok(value) = serde_json::from_str(text)
    {
        return Some(value);
    }
    Some(number(text).map_or_else(|| Value::from(text), Value::Number))
}

fn number(text: &str) -> Option<Number> {
    if let Ok(whole) = text.parse::<i64>() {
        return Some(whole.into());
    }
    if !text.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '-' | '.')) {
        return None;
    }
    Number::from_f64(text.parse().ok()?)
}

fn accepts(key: &str) -> Option<Accepts> {
    let listed = || KEYS.iter().find(|(name, _)| *name == key).map(|(_, accepts)| *accepts);
    let feature = || {
        let default = capability_default(key)?;
        let limited = CAPABILITY_VALUES.get(key).and_then(Value::as_array).map(|values| Listed(values));
        (!default.is_object()).then_some(limited.unwrap_or(Anything))
    };
    let open = || PATTERNS.iter().any(|pattern| fits(pattern, key)).then_some(Anything);
    listed().or_else(feature).or_else(open)
}

/// Whether `key` is of the form `pattern`: a `*` stands for one name; at the end, for all the rest.
fn fits(pattern: &str, key: &str) -> bool {
    let mut segments = key.split('.');
    let mut parts = pattern.split('.').peekable();
    while let Some(part) = parts.next() {
        match (part, segments.next()) {
            ("*", Some(segment)) if parts.peek().is_none() => return is_name(segment) && segments.all(is_name),
            ("*", Some(segment)) if is_name(segment) => {}
            (part, Some(segment)) if part == segment => {}
            _ => return false,
        }
    }
    segments.next().is_none()
}

fn is_name(segment: &str) -> bool {
    !segment.is_empty()
        && segment.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '*' | ':'))
}

/// Keys with a fixed name, sorted.
const KEYS: &[(&str, Accepts)] = &[
    ("agent_skills_security.trusted_global_roots", Anything),
    ("agent_tools", Anything),
    ("brave_search", Anything),
    ("capabilities.auto_update", Anything),
    ("capabilities.strict_known_registries", Anything),
    ("claude_md_assembly.mode", Anything),
    ("claude_md_path", Paths),
    ("code_quality.fallow.enabled", Anything),
    ("code_quality.fallow.mcp", Anything),
    ("code_quality.fallow.profile", OneOf(&["minimal", "standard", "strict"])),
    ("code_quality.fallow.scope", OneOf(&["phase", "repo"])),
    ("commit_docs", Anything),
    ("context", OneOf(&["dev", "research", "review"])),
    ("context_window", Anything),
    ("effort.default", Anything),
    ("exa_search", Anything),
    ("executor.stall_detect_interval_minutes", Anything),
    ("executor.stall_threshold_minutes", Anything),
    ("fast_mode.enabled", Anything),
    ("features.global_learnings", Anything),
    ("features.thinking_partner", Anything),
    ("firecrawl", Anything),
    ("git.allow_default_branch_commits", Anything),
    ("git.base_branch", Branch),
    ("git.branching_strategy", Anything),
    ("git.create_tag", Anything),
    ("git.milestone_branch_template", BranchTemplate),
    ("git.phase_branch_template", BranchTemplate),
    ("git.protected_branches", Anything),
    ("git.quick_branch_template", BranchTemplate),
    ("granularity", Anything),
    ("graphify.auto_update", Anything),
    ("graphify.build_timeout", Anything),
    ("graphify.graph_path", Anything),
    ("hooks.commit_types", Anything),
    ("hooks.community", Anything),
    ("hooks.context_critical_threshold", Anything),
    ("hooks.context_warning_threshold", Anything),
    ("hooks.context_warnings", Anything),
    ("hooks.update_check", Anything),
    ("hooks.workflow_guard", Anything),
    ("jina", Anything),
    ("learnings.max_inject", Anything),
    ("manager.flags.discuss", Anything),
    ("manager.flags.execute", Anything),
    ("manager.flags.plan", Anything),
    ("mode", Anything),
    ("model_policy.budget", Anything),
    ("model_policy.high", Anything),
    ("model_policy.low", Anything),
    ("model_policy.medium", Anything),
    ("model_policy.provider", Anything),
    ("model_profile", Anything),
    ("parallelization", Anything),
    ("perplexity", Anything),
    ("phase_id_convention", Anything),
    ("phase_naming", Anything),
    ("plan_review.source_grounding", Anything),
    ("plan_review.source_grounding_authority", OneOf(&["grep", "intel", "treesitter", "lsp", "scip"])),
    ("planner.stall_detect_interval_minutes", Anything),
    ("planner.stall_threshold_minutes", Anything),
    ("planning.chunked_parallel", Anything),
    ("planning.commit_docs", Anything),
    ("planning.pr_strict", Anything),
    ("planning.search_gitignored", Anything),
    ("planning.sub_repos", Paths),
    ("project_code", Code),
    ("ref_search", Anything),
    ("resolve_model_ids", Anything),
    ("response_language", Anything),
    ("review.default_reviewers", Anything),
    ("review.max_prompt_tokens", Anything),
    ("review.max_prompt_tokens_per_reviewer", Anything),
    ("review.parallel_lanes", Anything),
    ("runtime", Anything),
    ("search_gitignored", Anything),
    ("security.injection_blocking", Anything),
    ("security.secret_files", Anything),
    ("ship.pr_body_sections", Anything),
    ("statusline.context_position", OneOf(&["front", "end"])),
    ("statusline.show_context_tokens", Anything),
    ("statusline.show_git", Anything),
    ("statusline.show_last_command", Anything),
    ("statusline.show_state_freshness", Anything),
    ("statusline.state_format", OneOf(&["full", "compact"])),
    ("tavily_search", Anything),
    ("workflow._auto_chain_active", Anything),
    ("workflow.agent_hint_routing", Anything),
    ("workflow.auto_advance", Anything),
    ("workflow.auto_prune_state", Anything),
    ("workflow.build_command", Anything),
    ("workflow.code_review_command", Anything),
    ("workflow.code_review_depth_overrides", Anything),
    ("workflow.compact_content", Anything),
    ("workflow.context_coverage_gate", Anything),
    ("workflow.context_guard_mode", Anything),
    ("workflow.cross_ai_command", Anything),
    ("workflow.cross_ai_execution", Anything),
    ("workflow.cross_ai_timeout", Anything),
    ("workflow.discuss_mode", Anything),
    ("workflow.human_verify_mode", OneOf(&["mid-flight", "end-of-phase"])),
    ("workflow.inline_plan_threshold", Anything),
    ("workflow.max_discuss_passes", Anything),
    ("workflow.mvp_mode", Anything),
    ("workflow.node_repair", Anything),
    ("workflow.node_repair_budget", Anything),
    ("workflow.plan_bounce", Anything),
    ("workflow.plan_bounce_passes", Anything),
    ("workflow.plan_bounce_script", Anything),
    ("workflow.plan_check", Anything),
    ("workflow.plan_chunked", Anything),
    ("workflow.plan_review_convergence", Anything),
    ("workflow.research_before_questions", Anything),
    ("workflow.skip_discuss", Anything),
    ("workflow.smart_zone_tokens", Anything),
    ("workflow.specless_probe_fallback", Anything),
    ("workflow.subagent_timeout", Anything),
    ("workflow.test_command", Anything),
    ("workflow.test_gate_timeout", Anything),
    ("workflow.text_mode", Anything),
    ("workflow.use_worktrees", Anything),
    ("workflow.verifier", Anything),
    ("workflow.worktree_skip_hooks", Anything),
    ("workflow.yolo.active", Anything),
    ("workflow.yolo.current_phase", Text),
    ("workflow.yolo.pid", Anything),
    ("workflow.yolo.prev_auto_advance", Anything),
    ("workflow.yolo.start_phase", Text),
    ("workflow.yolo.started_at", Text),
    ("workflow.yolo.stop_condition", OneOf(YOLO_STOPS)),
    ("workflow.yolo.updated_at", Text),
];

/// Keys with a name of the user's in them.
const PATTERNS: &[&str] = &[
    "agent_skills.*",
    "agent_tools.*",
    "claude_md_assembly.blocks.*",
    "dynamic_routing.enabled",
    "dynamic_routing.escalate_on_failure",
    "dynamic_routing.max_escalations",
    "dynamic_routing.provider_escalation",
    "dynamic_routing.tier_models.heavy",
    "dynamic_routing.tier_models.light",
    "dynamic_routing.tier_models.standard",
    "effort.agent_overrides.*",
    "effort.routing_tier_defaults.*",
    "fast_mode.agent_overrides.*",
    "fast_mode.routing_tier_defaults.*",
    "features.*",
    "granularities.completion",
    "granularities.discuss",
    "granularities.execution",
    "granularities.planning",
    "granularities.research",
    "granularities.verification",
    "model_overrides.*",
    "model_policy.runtime_tiers.*.*",
    "model_profile_overrides.*.haiku",
    "model_profile_overrides.*.opus",
    "model_profile_overrides.*.sonnet",
    "models.completion",
    "models.discuss",
    "models.execution",
    "models.planning",
    "models.research",
    "models.verification",
    "phase_commit_docs.*",
    "review.effort.*",
    "review.max_prompt_tokens_per_reviewer.*",
    "review.models.*",
    "review.reviewer_instances.*.agent",
    "review.reviewer_instances.*.cli",
    "review.reviewer_instances.*.model",
    "review.timeouts.*",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn value(key: &str, text: &str) -> Option<Value> {
        Setting::parse(key, text).unwrap().value
    }

    #[test]
    fn values_are_what_they_look_like() {
        assert_eq!(value("mode", "yolo"), Some("yolo".into()));
        assert_eq!(value("context_window", "5"), Some(5.into()));
        assert_eq!(value("context_window", "0.5"), Some(0.5.into()));
        assert_eq!(value("commit_docs", "false"), Some(false.into()));
        assert_eq!(value("commit_docs", "null"), None);
        assert_eq!(value("planning.sub_repos", r#"["a"]"#), Some(vec!["a"].into()));
        assert_eq!(value("mode", "[draft"), Some("[draft".into()));
        assert_eq!(value("mode", "infinity"), Some("infinity".into()));
        assert_eq!(value("mode", ""), Some("".into()));
        assert_eq!(value("project_code", "007"), Some("007".into()));
    }

    #[test]
    fn unknown_keys_and_values_are_refused() {
        let refused = |key, text| Setting::parse(key, text).unwrap_err();
        for key in ["nope", "workflow.nope", "workflow", "agent_skills", "agent_skills.", "agent_skills.a..b", "a", ""]
        {
            assert!(matches!(refused(key, "1"), KeyError::Unknown { .. }), "{key}");
        }
        let error = refused("workflow.human_verify_mode", "zzz").to_string();
        assert!(error.contains("mid-flight, end-of-phase"), "{error}");
        assert!(Setting::parse("workflow.security_asvs_level", "4").is_err());
        assert!(Setting::parse("workflow.security_asvs_level", "3").is_ok());
    }

    #[test]
    fn keys_of_features_and_of_the_users_naming_can_be_set() {
        for key in ["workflow.ui_review", "mempalace.wing", "model_policy.runtime_tiers.x.opus", "model_overrides.a-b"]
        {
            assert!(Setting::parse(key, "x").is_ok(), "{key}");
        }
        assert_eq!(Setting::parse("phase_commit_docs.2.1", "true").unwrap().path, ["phase_commit_docs", "2.1"]);
        assert_eq!(Setting::parse("git.create_tag", "true").unwrap().path, ["git", "create_tag"]);
    }

    #[test]
    fn the_tables_are_sorted_and_limits_belong_to_features() {
        assert!(KEYS.is_sorted_by_key(|(key, _)| *key));
        assert!(PATTERNS.is_sorted());
        for (key, values) in CAPABILITY_VALUES.as_object().unwrap() {
            let default = capability_default(key).unwrap_or_else(|| panic!("{key} is no feature's"));
            assert!(values.as_array().unwrap().contains(default), "{key}: {default} is none of {values}");
        }
        assert!(CAPABILITIES.as_object().is_some_and(|map| super::super::at(map, "workflow.research").is_some()));
    }

    #[test]
    fn every_secret_can_be_set_and_is_known_for_one() {
        for key in SECRETS {
            assert!(Setting::parse(key, "sk-abcdefghijkl").is_ok() && is_secret(key), "{key}");
            let shown = without_secrets(&format!("{{\"{key}\": \"sk-abcdefghijkl\"}}"));
            assert_eq!(shown, format!("{{\"{key}\": \"****ijkl\"}}"));
        }
        assert!(!is_secret("mode"));
    }

    #[test]
    fn secrets_show_their_end_only() {
        assert_eq!(masked("sk-abcdefghijkl"), "****ijkl");
        assert_eq!(masked("short"), "****");
        let text =
            "+  \"brave_search\" : \"sk-abcdefghijkl\",\n-  \"firecrawl\": \"sk-abc\\\"defg\n \"exa_search\": true";
        let shown = without_secrets(text);
        assert!(
            shown.contains("\"****ijkl\",\n") && !shown.contains("abc") && shown.ends_with("\"exa_search\": true"),
            "{shown}"
        );
    }
}
