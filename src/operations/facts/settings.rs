//! Facts about the configuration: settings, and the models of agents.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Given, facts};
use crate::operations::agents::models;

/// Settings by the last part of their keys.
type WorkflowSettings = BTreeMap<String, Value>;

const PLAN_PHASE: &[&str] = &[
    "workflow.human_verify_mode",
    "workflow.security_enforcement",
    "workflow.security_asvs_level",
    "workflow.security_block_on",
    "workflow.smart_zone_tokens",
    "workflow.plan_bounce",
    "workflow.specless_probe_fallback",
    "planning.chunked_parallel",
];

const EXECUTE_PHASE: &[&str] = &[
    "workflow.context_guard_mode",
    "workflow.inline_plan_threshold",
    "workflow.node_repair",
    "workflow.security_block_on",
    "executor.stall_detect_interval_minutes",
    "executor.stall_threshold_minutes",
];

const CODE_REVIEW: &[&str] =
    &["workflow.code_review", "workflow.code_review_depth", "workflow.code_review_depth_overrides"];

facts! { |given|
    /// Whether the project's documents are committed.
    commit_docs: bool = given.commit_docs();
    /// How much a person is asked: `interactive` or `yolo`.
    mode: Option<String> = given.text("mode");
    /// The language of answers to the user.
    response_language: String, if any = given.text("response_language");
    /// The focus of the agent, if the project sets one.
    context: String, if any = given.text("context");
    /// The code in front of phase numbers.
    project_code: String, if any = given.config.project_code().map(str::to_owned);
    /// Whether Brave Search may be used.
    brave_search: bool = given.flag("brave_search");
    /// Whether Firecrawl may be used.
    firecrawl: bool = given.flag("firecrawl");
    /// Whether Exa may be used.
    exa_search: bool = given.flag("exa_search");
    /// Whether tests are written first.
    tdd_mode: bool = given.asked("tdd") || given.flag("workflow.tdd_mode");
    /// Whether questions are asked as plain text.
    text_mode: bool = given.asked("text") || given.flag("workflow.text_mode");
    /// How finely work is split into plans.
    granularity: String = models::granularity(given.config, "planning", given.call.text.as_deref()).granularity;
    /// Whether research comes before planning.
    research_enabled: bool = given.flag("workflow.research");
    /// Whether plans are checked.
    plan_checker_enabled: bool = given.flag("workflow.plan_check");
    /// Whether the tests of a phase are planned before it is executed.
    nyquist_validation_enabled: bool = given.flag("workflow.nyquist_validation");
    /// Whether the result of a phase is verified.
    verifier_enabled: bool = given.flag("workflow.verifier");
    /// Whether phases with a user interface get a design contract.
    ui_phase_active: bool = given.flag("workflow.ui_phase");
    /// Whether a large phase is planned in several agent runs.
    is_chunked: bool = given.asked("chunked") || given.flag("workflow.plan_chunked");
    /// Whether agents work at the same time.
    parallelization: bool = given.flag("parallelization");
    /// Folders of the project that are repositories, as the configuration lists them.
    sub_repos: Vec<String> = given.config.sub_repositories().into_iter().map(str::to_owned).collect();
    /// The size of the context window in tokens.
    context_window: Option<u64> = given.config.number("context_window");
    /// Where work is done in git: `none` for the current branch, or a branch for each `phase` or `milestone`.
    branching_strategy: String = given.text("git.branching_strategy").unwrap_or_else(|| "none".to_owned());
    /// The template for the branch of a phase.
    phase_branch_template: Option<String> = given.text("git.phase_branch_template");
    /// The template for the branch of a milestone.
    milestone_branch_template: Option<String> = given.text("git.milestone_branch_template");
    /// Whether a completed milestone gets a tag.
    git_create_tag: bool = given.flag("git.create_tag");
    /// Whether files that git ignores are searched too.
    search_gitignored: bool = given.flag("search_gitignored") || given.flag("planning.search_gitignored");
    /// The time limit of an agent.
    subagent_timeout: Option<u64> = given.config.number("workflow.subagent_timeout");
    /// Whether a program analyzes the structure of the code before a review.
    fallow_enabled: bool = given.flag("code_quality.fallow.enabled");
    /// The scope of that program.
    fallow_scope: Option<String> = Some(given.text("code_quality.fallow.scope").unwrap_or_else(|| "phase".to_owned()));
    /// The strictness of that program.
    fallow_profile: Option<String> = Some(given.fallow_profile());
    /// Whether that program is called through its MCP server.
    fallow_mcp: bool = given.flag("code_quality.fallow.mcp");
    /// The highest risk score of a change, from complexity and tests, that is not reported.
    fallow_max_crap: u32 = match given.fallow_profile().as_str() {
        "minimal" => 50,
        "strict" => 15,
        _ => 30,
    };
    /// Whether the configuration lists reviewers.
    has_reviewer_instances: bool = given.config.entries("review.reviewer_instances").next().is_some();
    /// The settings that the agents use, with defaults for unset keys.
    plan_phase_settings: WorkflowSettings = given.settings_with_a_value(PLAN_PHASE);
    /// The settings that the workflow uses, with defaults for unset keys.
    execute_phase_settings: WorkflowSettings = given.settings_with_a_value(EXECUTE_PHASE);
    /// The settings that the workflow uses, with defaults for unset keys.
    code_review_settings: WorkflowSettings = given.settings_with_a_value(CODE_REVIEW);
    /// The settings that the workflow uses, by the last part of their keys.
    settings: WorkflowSettings = given.settings(&given.call.front_matter.names("settings"));
    /// The models of the agents that the workflow starts, by agent name.
    models: BTreeMap<String, String> = {
        let agents = given.call.front_matter.names("agents").into_iter();
        agents.map(|agent| (agent.to_owned(), given.model(&format!("gsd-{agent}")))).collect()
    };
    /// The model of the planner.
    planner_model: String = given.model("gsd-planner");
    /// The model of the agent that checks plans.
    checker_model: String = given.model("gsd-plan-checker");
    /// The model of the agent that executes plans.
    executor_model: String = given.model("gsd-executor");
    /// The model of the verifier.
    verifier_model: String = given.model("gsd-verifier");
    /// The model of the agent that researches a phase.
    researcher_model: String = given.model("gsd-phase-researcher");
    /// The model of the agent that researches a project.
    project_researcher_model: String = given.model("gsd-project-researcher");
    /// The model of the agent that summarizes research.
    synthesizer_model: String = given.model("gsd-research-synthesizer");
    /// The model of the agent that writes the roadmap.
    roadmapper_model: String = given.model("gsd-roadmapper");
    /// The model of the agent that reviews code.
    reviewer_model: String = given.model("gsd-code-reviewer");
    /// The model of the agent that maps code.
    mapper_model: String = given.model("gsd-codebase-mapper");
    /// The model of the debugger.
    debugger_model: String = given.model("gsd-debugger");
    /// The model of the agent that writes documentation.
    doc_writer_model: String = given.model("gsd-doc-writer");
}

impl Given<'_> {
    fn settings(&self, keys: &[&str]) -> WorkflowSettings {
        let last = |key: &str| key.rsplit('.').next().unwrap_or(key).to_owned();
        keys.iter().map(|key| (last(key), self.config.value(key).clone())).collect()
    }

    fn settings_with_a_value(&self, keys: &[&str]) -> WorkflowSettings {
        self.settings(keys).into_iter().filter(|(_, value)| !value.is_null()).collect()
    }

    /// True if the project's documents are committed. Documents that git ignores are not, unless the project sets it.
    fn commit_docs(&self) -> bool {
        let says = ["commit_docs", "planning.commit_docs"].iter().any(|key| self.config.written(key).is_some());
        self.config.commit_docs() && (says || !self.config.has_file() || !self.host.documents_ignored)
    }

    fn fallow_profile(&self) -> String {
        self.text("code_quality.fallow.profile").unwrap_or_else(|| "standard".to_owned())
    }
}
