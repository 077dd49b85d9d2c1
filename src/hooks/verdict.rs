//! The findings of hooks, and their combined verdict.

/// What one hook found about an event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Reaction {
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

impl Reaction {
    /// A refusal.
    pub(crate) fn block(code: &'static str, reason: impl Into<String>) -> Self {
        Reaction::Block(Block { code, reason: reason.into() })
    }
}

impl From<Option<String>> for Reaction {
    fn from(note: Option<String>) -> Self {
        note.map_or(Reaction::Nothing, Reaction::Note)
    }
}

/// The combined findings of an event's hooks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EventVerdict {
    pub(crate) notes: Vec<String>,
    pub(crate) told: Vec<String>,
    /// The first refusal; other findings do not matter then.
    pub(crate) block: Option<Block>,
}

impl EventVerdict {
    pub(crate) fn add(&mut self, finding: Reaction) {
        match finding {
            Reaction::Nothing => {}
            Reaction::Note(note) => self.notes.push(note),
            Reaction::Tell(text) => self.told.push(text),
            Reaction::Block(block) => self.block = self.block.take().or(Some(block)),
        }
    }
}
