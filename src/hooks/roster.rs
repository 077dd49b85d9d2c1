//! Which hook looks at which event, in the order they are asked. `hooks/hooks.toml` says the same to the installer.

use super::scene::Scene;
use super::verdict::Finding;
use super::{
    agent_isolation_guard, config_reload, context_monitor, git_guard, graphify_update, injection_scanner,
    permission_guard, phase_boundary, prompt_guard, read_guard, secret_guard, session_state, update_check,
    validate_commit, workflow_guard, worktree_path_guard, write_guard,
};
use crate::library::Event;

/// A hook: its name, the events it looks at, and what it finds.
pub(super) struct Hook {
    pub(super) name: &'static str,
    pub(super) events: &'static [Event],
    pub(super) look: fn(&Scene<'_>) -> Finding,
}

/// What is said for the sake of the person who talks with the agent. A session of `auto run` has nobody, and its prompt says
/// where the work is; a note that changes from day to day would also keep a cache from having what comes after it.
pub(super) const FOR_PEOPLE: &[&str] = &["session-state", "update-check", "phase-boundary", "context-monitor"];

/// All hooks except the status line, which answers with a line instead of a verdict. Those of one event run in this order.
pub(super) const HOOKS: &[Hook] = &[
    Hook { name: "session-state", events: &[Event::SessionStart], look: session_state::look },
    Hook { name: "update-check", events: &[Event::SessionStart], look: update_check::look },
    Hook { name: "secret-guard", events: &[Event::BeforeTool], look: secret_guard::look },
    Hook { name: "agent-isolation-guard", events: &[Event::BeforeTool], look: agent_isolation_guard::look },
    Hook { name: "permission-guard", events: &[Event::BeforeTool], look: permission_guard::look },
    Hook { name: "worktree-path-guard", events: &[Event::BeforeTool], look: worktree_path_guard::look },
    Hook { name: "write-guard", events: &[Event::BeforeTool], look: write_guard::look },
    Hook { name: "git-guard", events: &[Event::BeforeTool], look: git_guard::look },
    Hook { name: "validate-commit", events: &[Event::BeforeTool], look: validate_commit::look },
    Hook { name: "workflow-guard", events: &[Event::BeforeTool], look: workflow_guard::look },
    Hook { name: "prompt-guard", events: &[Event::BeforeTool], look: prompt_guard::look },
    Hook { name: "read-guard", events: &[Event::BeforeTool], look: read_guard::look },
    Hook { name: "injection-scanner", events: &[Event::AfterTool], look: injection_scanner::look },
    Hook { name: "phase-boundary", events: &[Event::AfterTool], look: phase_boundary::look },
    Hook { name: "context-monitor", events: &[Event::AfterTool, Event::BeforeCompact], look: context_monitor::look },
    Hook { name: "graphify-update", events: &[Event::AfterTool], look: graphify_update::look },
    Hook { name: "config-reload", events: &[Event::FileChanged], look: config_reload::look },
];
