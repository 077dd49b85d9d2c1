//! What is checked in every client, and the table of results.

/// One thing that a client shows or does not show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Check {
    /// Our install succeeds, and our uninstall leaves nothing.
    InAndOut,
    /// The client ends well and asks the model.
    Starts,
    /// It does not complain about any of our files.
    Quiet,
    /// If it lists what it found: each command, router and agent once.
    Known,
    /// Routers are listed to the model, typed-only commands are not.
    Listing,
    /// A typed command reaches the model with our text.
    Typed,
    /// The files that the text names can be read and run.
    ReadsOn,
    /// The agents are offered to the model.
    Agents,
    /// An agent that the model starts has our instructions.
    AgentRuns,
    SessionStart,
    /// The output of the hook reaches the model.
    SessionText,
    BeforeTool,
    BeforeText,
    /// A hook keeps a tool from running.
    Block,
    AfterTool,
    AfterText,
    /// After the uninstall the client starts, and offers none of our files.
    StartsAgain,
}

impl Check {
    /// In the order of the table.
    pub(crate) const ALL: [Self; 17] = [
        Self::InAndOut,
        Self::Starts,
        Self::Quiet,
        Self::Known,
        Self::Listing,
        Self::Typed,
        Self::ReadsOn,
        Self::Agents,
        Self::AgentRuns,
        Self::SessionStart,
        Self::SessionText,
        Self::BeforeTool,
        Self::BeforeText,
        Self::Block,
        Self::AfterTool,
        Self::AfterText,
        Self::StartsAgain,
    ];

    /// The heading of its column.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::InAndOut => "in and out",
            Self::Starts => "starts",
            Self::Quiet => "quiet",
            Self::Known => "known",
            Self::Listing => "listing",
            Self::Typed => "typed",
            Self::ReadsOn => "reads on",
            Self::Agents => "agents",
            Self::AgentRuns => "agent runs",
            Self::SessionStart => "session",
            Self::SessionText => "its note",
            Self::BeforeTool => "before tool",
            Self::BeforeText => "before note",
            Self::Block => "block",
            Self::AfterTool => "after tool",
            Self::AfterText => "after note",
            Self::StartsAgain => "starts again",
        }
    }

    /// The check for one of our events.
    pub(crate) fn of_event(event: &str) -> Self {
        match event {
            "session-start" => Self::SessionStart,
            "before-tool" => Self::BeforeTool,
            "after-tool" => Self::AfterTool,
            other => panic!("no check for the event `{other}`"),
        }
    }
}
