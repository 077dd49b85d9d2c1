//! The findings of hooks, and their combined verdict.

/// What one hook found about an event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Finding {
    #[default]
    Nothing,
    /// Something the agent should know; the host continues.
    Note(String),
    /// Something the person should know; the agent does not see it if the host can hide it.
    Tell(String),
    /// The host must not continue.
    Block(Block),
}

/// Why something is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// A code for programs, such as `SECRET_READ`.
    pub(crate) code: &'static str,
    /// For the agent and the person: what was refused, why, and what to do instead.
    pub(crate) reason: String,
}

impl Finding {
    /// A refusal.
    pub(crate) fn block(code: &'static str, reason: impl Into<String>) -> Self {
        Finding::Block(Block { code, reason: reason.into() })
    }
}

impl From<Option<String>> for Finding {
    fn from(note: Option<String>) -> Self {
        note.map_or(Finding::Nothing, Finding::Note)
    }
}

/// The combined findings of an event's hooks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) notes: Vec<String>,
    pub(crate) told: Vec<String>,
    /// The first refusal; other findings do not matter then.
    pub(crate) block: Option<Block>,
}

impl Verdict {
    pub(crate) fn add(&mut self, finding: Finding) {
        match finding {
            Finding::Nothing => {}
            Finding::Note(note) => self.notes.push(note),
            Finding::Tell(text) => self.told.push(text),
            Finding::Block(block) => self.block = self.block.take().or(Some(block)),
        }
    }
}
