//! What hooks found, and what all of them together come to.

/// What one hook has to say about an event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Finding {
    #[default]
    Nothing,
    /// Something the agent should know; the host goes on.
    Note(String),
    /// Something the person should know; the agent does not see it where the host can keep it from it.
    Tell(String),
    /// The host must not go on.
    Block(Block),
}

/// Why something is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// A word for programs, such as `SECRET_READ`.
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

/// What the hooks of one event come to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) notes: Vec<String>,
    pub(crate) told: Vec<String>,
    /// The first refusal; what else was found does not matter then.
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
