//! Keys that other programs read from the same file but that have no effect here, each with the reason.

use super::pattern::fits;

/// Keys, or patterns of keys, without any effect here. A file that has them stays valid.
const UNUSED: &[(&str, &str)] = &[
    ("agent_tools", "the tools of an agent are in its file"),
    ("agent_tools.*", "the tools of an agent are in its file"),
    ("capabilities.auto_update", "features are installed from folders, and nothing is fetched"),
    ("capabilities.strict_known_registries", "features are installed from folders, and nothing is fetched"),
    ("claude_md_assembly.blocks.*", "`generate-claude-md` has one form"),
    ("claude_md_assembly.mode", "`generate-claude-md` has one form"),
    ("claude_orchestration.execution_backend", "the host's own agents execute plans"),
    ("claude_orchestration.min_agent_sdk_version", "the host's own agents execute plans"),
    ("graphify.graph_path", "the graph is in `.planning/graphs`"),
    ("mempalace.auto_capture_hooks", MEMORY),
    ("mempalace.capture_artifacts", MEMORY),
    ("mempalace.cross_project_tunnels", MEMORY),
    ("mempalace.diary_journal", MEMORY),
    ("mempalace.memory_mode", MEMORY),
    ("mempalace.mirror_kg", MEMORY),
    ("mempalace.recall_on_discuss", MEMORY),
    ("mempalace.recall_on_plan", MEMORY),
    ("mempalace.wing", MEMORY),
    ("model_policy.budget", "a model is chosen by `model_profile`, `model_policy.high`, `.medium` and `.low`"),
    ("model_policy.provider", "a model is chosen by `model_profile`, `model_policy.high`, `.medium` and `.low`"),
    ("planner.stall_detect_interval_minutes", STALL),
    ("planner.stall_threshold_minutes", STALL),
    ("profile-pipeline.enabled", "a profile is made when a person asks for it"),
    ("statusline.show_last_command", "hosts do not pass on what was typed"),
    ("workflow.compact_content", "there is one text of each workflow"),
    ("workflow.cross_ai_command", IN_HOST),
    ("workflow.cross_ai_execution", IN_HOST),
    ("workflow.cross_ai_timeout", IN_HOST),
    ("workflow.subagent_timeout", "the host ends its agents, and files on disk decide"),
    ("workflow.windows_enforce", "nothing here writes the ledger that it looks at"),
    ("workflow.worktree_skip_hooks", "commit hooks run with every commit"),
];

const MEMORY: &str = "the memory server decides that; `mempalace.enabled` turns it on";
const STALL: &str = "planners run in the foreground, and plans on disk decide";
const IN_HOST: &str = "every plan is executed in your host, with its hooks and worktrees";

/// Why a key has no effect; `None` for keys that have one, and for unknown keys.
pub(crate) fn unused(key: &str) -> Option<&'static str> {
    UNUSED.iter().find(|(form, _)| fits(form, key)).map(|(_, reason)| *reason)
}

/// The patterns, for a test that looks for readers of all other keys.
#[cfg(test)]
pub(crate) fn unused_keys() -> impl Iterator<Item = &'static str> {
    UNUSED.iter().map(|(form, _)| *form)
}
