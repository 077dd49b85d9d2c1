//! The canonical hooks, from `hooks/hooks.toml`: their names, events and tools.
//!
//! The table lists what is registered with a host. The code of each hook is in the module `hooks`.

use crate::text::words::words;
use serde::Deserialize;

/// The registered events, and the hooks of each.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct HookTable {
    /// Seconds after which a host may abort the hook.
    #[serde(default)]
    pub(crate) timeout: u32,
    #[serde(default, rename = "event")]
    pub(crate) events: Vec<HookEvent>,
    #[serde(default, rename = "hook")]
    pub(crate) rows: Vec<HookRow>,
}

impl HookTable {
    pub(crate) fn parse(text: &str) -> Result<HookTable, toml_edit::de::Error> {
        toml_edit::de::from_str(text)
    }
}

/// An event with the tools it is registered for. Some hosts trust registrations by their text, so these lists cover
/// more than today's hooks need and do not change.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct HookEvent {
    pub(crate) name: Event,
    #[serde(default)]
    pub(crate) tools: Vec<ToolSet>,
    /// The files it is registered for, if it is about files and not about tools.
    #[serde(default)]
    pub(crate) files: Vec<String>,
}

/// One hook.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(not(test), expect(dead_code, reason = "tests check the page of each hook against these fields"))]
pub(crate) struct HookRow {
    pub(crate) name: String,
    pub(crate) events: Vec<Event>,
    /// The tools it looks at; empty if the event is not about tools.
    #[serde(default)]
    pub(crate) tools: Vec<ToolSet>,
    /// The setting that must be `true` to enable it.
    pub(crate) opt_in: Option<String>,
    /// The setting that disables it when `false`.
    pub(crate) opt_out: Option<String>,
    /// Another event that it needs; on a host without that event it is useless.
    pub(crate) needs: Option<Event>,
    /// Its purpose in one line, for display.
    pub(crate) purpose: String,
}

words! {
    /// The events at which the hooks are called. The word is in the registered command line, so it never changes.
    #[derive(PartialOrd, Ord)]
    pub(crate) enum Event {
        SessionStart = "session-start",
        BeforeTool = "before-tool",
        AfterTool = "after-tool",
        /// The conversation is about to be shortened.
        BeforeCompact = "before-compact",
        SubagentStart = "subagent-start",
        SubagentStop = "subagent-stop",
        /// The agent has ended its turn.
        Stop = "stop",
        /// Another program or a person changed a file.
        FileChanged = "file-changed",
        StatusLine = "status-line",
    }
}

words! {
    /// Tools by their purpose.
    #[derive(PartialOrd, Ord)]
    pub(crate) enum ToolSet {
        Shell = "shell",
        Write = "write",
        Edit = "edit",
        Read = "read",
        Search = "search",
        /// Pages and searches of the web.
        Web = "web",
        Agent = "agent",
    }
}

impl ToolSet {
    pub(crate) const ALL: [ToolSet; 7] =
        [ToolSet::Shell, ToolSet::Write, ToolSet::Edit, ToolSet::Read, ToolSet::Search, ToolSet::Web, ToolSet::Agent];
}

#[cfg(test)]
mod tests {
    use super::super::Library;

    #[test]
    fn the_tools_of_a_hook_are_among_those_of_its_event() {
        let library = Library::embedded().unwrap();
        let table = library.hooks();
        assert!(!table.rows.is_empty() && table.timeout > 0);
        for row in &table.rows {
            let events: Vec<_> = table.events.iter().filter(|event| row.events.contains(&event.name)).collect();
            assert_eq!(events.len(), row.events.len(), "`{}` hangs on an event without a row", row.name);
            for tool in &row.tools {
                let registered = events.iter().any(|event| event.tools.contains(tool));
                assert!(registered, "`{}` looks at {tool:?}", row.name);
            }
        }
    }

    #[test]
    fn each_hook_has_one_row_one_line_and_one_page() {
        let library = Library::embedded().unwrap();
        let mut names: Vec<&str> = library.hooks().rows.iter().map(|row| row.name.as_str()).collect();
        for row in &library.hooks().rows {
            assert!(!row.purpose.contains('\n') && row.purpose.len() <= 100, "{}", row.name);
        }
        let (_, folder) = super::super::FOLDERS.iter().find(|(name, _)| *name == "hooks").unwrap();
        let mut pages: Vec<&str> = folder
            .files()
            .filter(|file| file.path().extension().is_some_and(|extension| extension == "md"))
            .map(|file| file.path().file_stem().unwrap().to_str().unwrap())
            .collect();
        names.sort_unstable();
        pages.sort_unstable();
        assert_eq!(names, pages);
    }
}
