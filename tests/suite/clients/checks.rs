//! What is looked at in every client, and the table of it.

/// One thing that a client shows, or does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Check {
    /// Our install ends well, and our uninstall leaves nothing.
    InAndOut,
    /// The client ends well and asks the model.
    Starts,
    /// It does not complain of anything of ours.
    Quiet,
    /// Where it says what it knows: each command, router and agent once.
    Known,
    /// Routers are listed to the model, typed-only commands are not.
    Listing,
    /// A typed command reaches the model with our text.
    Typed,
    /// What that text names can be read and run.
    ReadsOn,
    /// The agents are offered to the model.
    Agents,
    /// One that the model starts has our instructions.
    AgentRuns,
    SessionStart,
    /// What the hook says reaches the model.
    SessionText,
    BeforeTool,
    BeforeText,
    /// A hook keeps a tool from running.
    Block,
    AfterTool,
    AfterText,
    /// After the uninstall the client starts, and offers nothing of ours.
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

    /// The check that an event of ours belongs to.
    pub(crate) fn of_event(event: &str) -> Self {
        match event {
            "session-start" => Self::SessionStart,
            "before-tool" => Self::BeforeTool,
            "after-tool" => Self::AfterTool,
            other => panic!("no check for the event `{other}`"),
        }
    }
}
