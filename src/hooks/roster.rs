//! Which hook looks at which event, in the order they are asked. `hooks/hooks.toml` says the same to the installer.

use super::scene::Scene;
use super::verdict::Finding;
use super::{context_monitor, prompt_guard, read_guard, session_state};
use crate::library::Event;

/// A hook: its name, the events it looks at, and what it finds.
pub(super) struct Hook {
    pub(super) name: &'static str,
    pub(super) events: &'static [Event],
    pub(super) look: fn(&Scene<'_>) -> Finding,
}

/// All hooks but the status line, which answers with a line and not with a verdict.
pub(super) const HOOKS: &[Hook] = &[
    Hook { name: "session-state", events: &[Event::SessionStart], look: session_state::look },
    Hook { name: "prompt-guard", events: &[Event::BeforeTool], look: prompt_guard::look },
    Hook { name: "read-guard", events: &[Event::BeforeTool], look: read_guard::look },
    Hook { name: "context-monitor", events: &[Event::AfterTool, Event::BeforeCompact], look: context_monitor::look },
];
