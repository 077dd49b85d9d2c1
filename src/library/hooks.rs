//! The canonical hooks, from `hooks/hooks.toml`: which there are, at which event, for which tools.
//!
//! The table says what is registered with a host. What a hook does is in the room `hooks`.

use crate::text::words::words;
use serde::Deserialize;

/// The events we register for, and the hooks behind them.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct HookTable {
    /// Seconds after which a host may give up on us.
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

/// An event with the tools it is registered for. Registrations are trusted by their text on some hosts, so these
/// lists cover more than today's hooks need and do not change.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct HookEvent {
    pub(crate) name: Event,
    #[serde(default)]
    pub(crate) tools: Vec<ToolSet>,
    /// The files it is registered for, where it is about files and not about tools.
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
    /// The tools it looks at; empty where the event is about no tool.
    #[serde(default)]
    pub(crate) tools: Vec<ToolSet>,
    /// The setting that must be `true` for it to speak.
    pub(crate) opt_in: Option<String>,
    /// The setting that silences it when `false`.
    pub(crate) opt_out: Option<String>,
    /// It lives on what another event brings, and is nothing on a host without that.
    pub(crate) needs: Option<Event>,
    /// In one line, for a person.
    pub(crate) purpose: String,
}

words! {
    /// The moments we are called at. The word stands in the registered command line, so it never changes.
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
        /// A file was changed by somebody else.
        FileChanged = "file-changed",
        StatusLine = "status-line",
    }
}

words! {
    /// Tools by what they do.
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
