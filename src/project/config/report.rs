//! The configuration in the answer of `state load`: a flat list of the values that workflows need most, then groups of
//! switches.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};

use super::{CAPABILITIES, Config, is_secret, masked, merge};

/// The source of a line in the report.
#[derive(Clone, Copy)]
enum LineSource {
    /// The value in effect for a key.
    Key(&'static str),
    /// The value of a key in the files, or null.
    Written(&'static str),
    /// The value of a key in the files, or an empty object.
    WrittenObject(&'static str),
}

use LineSource::{Key, Written, WrittenObject};

/// Names and sources of the lines with which the report of every project begins, in order.
const FIRST_LINES: &[(&str, LineSource)] = &[
    ("model_profile", Key("model_profile")),
    ("commit_docs", Key("commit_docs")),
    ("search_gitignored", Key("search_gitignored")),
    ("branching_strategy", Key("git.branching_strategy")),
    ("phase_branch_template", Key("git.phase_branch_template")),
    ("milestone_branch_template", Key("git.milestone_branch_template")),
    ("quick_branch_template", Key("git.quick_branch_template")),
    ("research", Key("workflow.research")),
    ("plan_checker", Key("workflow.plan_check")),
    ("verifier", Key("workflow.verifier")),
    ("nyquist_validation", Key("workflow.nyquist_validation")),
];

/// The lines that follow for a project with a file.
const LINES: &[(&str, LineSource)] = &[
    ("post_planning_gaps", Key("workflow.post_planning_gaps")),
    ("parallelization", Key("parallelization")),
    ("brave_search", Key("brave_search")),
    ("firecrawl", Key("firecrawl")),
    ("exa_search", Key("exa_search")),
    ("mvp_mode", Key("workflow.mvp_mode")),
    ("tdd_mode", Key("workflow.tdd_mode")),
    ("text_mode", Key("workflow.text_mode")),
    ("auto_advance", Key("workflow.auto_advance")),
    ("_auto_chain_active", Key("workflow._auto_chain_active")),
    ("mode", Key("mode")),
    ("sub_repos", Key("planning.sub_repos")),
    ("pr_strict", Key("planning.pr_strict")),
    ("resolve_model_ids", Key("resolve_model_ids")),
    ("context_window", Key("context_window")),
    ("phase_naming", Key("phase_naming")),
    ("project_code", Key("project_code")),
    ("subagent_timeout", Key("workflow.subagent_timeout")),
    ("model_overrides", Written("model_overrides")),
    ("agent_tools", Written("agent_tools")),
    ("models", Written("models")),
    ("granularity", Written("granularity")),
    ("granularities", Written("granularities")),
    ("planning", Written("planning")),
    ("dynamic_routing", Written("dynamic_routing")),
    ("runtime", Written("runtime")),
    ("model_profile_overrides", Written("model_profile_overrides")),
    ("model_policy", Written("model_policy")),
    ("effort", Written("effort")),
    ("fast_mode", Written("fast_mode")),
    ("agent_skills", WrittenObject("agent_skills")),
    ("agent_skills_security", Written("agent_skills_security")),
    ("phase_commit_docs", WrittenObject("phase_commit_docs")),
    ("manager", WrittenObject("manager")),
    ("response_language", Written("response_language")),
    ("claude_md_path", Written("claude_md_path")),
    ("claude_md_assembly", Written("claude_md_assembly")),
    ("phase_id_convention", Written("phase_id_convention")),
];

/// As [`LINES`], for a folder without a file: only defaults.
const LINES_WITHOUT_FILE: &[(&str, LineSource)] = &[
    ("ai_integration_phase", Key("workflow.ai_integration_phase")),
    ("parallelization", Key("parallelization")),
    ("brave_search", Key("brave_search")),
    ("firecrawl", Key("firecrawl")),
    ("exa_search", Key("exa_search")),
    ("text_mode", Key("workflow.text_mode")),
    ("compact_content", Key("workflow.compact_content")),
    ("sub_repos", Key("planning.sub_repos")),
    ("pr_strict", Key("planning.pr_strict")),
    ("resolve_model_ids", Key("resolve_model_ids")),
    ("context_window", Key("context_window")),
    ("phase_naming", Key("phase_naming")),
    ("project_code", Key("project_code")),
    ("subagent_timeout", Key("workflow.subagent_timeout")),
    ("security_enforcement", Key("workflow.security_enforcement")),
    ("security_asvs_level", Key("workflow.security_asvs_level")),
    ("security_block_on", Key("workflow.security_block_on")),
    ("post_planning_gaps", Key("workflow.post_planning_gaps")),
    ("research_before_questions", Key("workflow.research_before_questions")),
    ("smart_zone_tokens", Key("workflow.smart_zone_tokens")),
    ("inline_plan_threshold", Key("workflow.inline_plan_threshold")),
    ("max_prompt_tokens", Key("review.max_prompt_tokens")),
];

/// Serialises a configuration for an answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoadedConfig<'config>(pub(crate) &'config Config);

impl Serialize for LoadedConfig<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let config = self.0;
        let lines = if config.has_file() { LINES } else { LINES_WITHOUT_FILE };
        let mut map = serializer.serialize_map(None)?;
        for (name, from) in FIRST_LINES.iter().chain(lines) {
            match from {
                Key("commit_docs") => map.serialize_entry(name, &config.commit_docs())?,
                Key(key) => match config.value(key).as_str().filter(|_| is_secret(key)) {
                    Some(secret) => map.serialize_entry(name, &masked(secret))?,
                    None => map.serialize_entry(name, config.value(key))?,
                },
                Written(key) => map.serialize_entry(name, &config.written(key))?,
                WrittenObject(key) => match config.written(key) {
                    Some(value) => map.serialize_entry(name, value)?,
                    None => map.serialize_entry(name, &Map::new())?,
                },
            }
        }
        for (name, switches) in CAPABILITIES.as_object().into_iter().flatten() {
            map.serialize_entry(name, &group(config, name, switches))?;
        }
        map.end()
    }
}

/// A group of switches: the files' values over the defaults. Of `workflow` only the feature switches.
fn group(config: &Config, name: &str, defaults: &Value) -> Map<String, Value> {
    let mut group = Map::new();
    if name == "review" && config.has_file() {
        group.insert("max_prompt_tokens".to_owned(), config.value("review.max_prompt_tokens").clone());
    }
    merge(&mut group, defaults.as_object().cloned().unwrap_or_default());
    let mut written = config.written(name).and_then(Value::as_object).cloned().unwrap_or_default();
    if name == "workflow" {
        written.retain(|key, _| group.contains_key(key));
    }
    merge(&mut group, written);
    group
}
