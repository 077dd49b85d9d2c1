//! What ticking one entry of a list came to.

/// A document in which one entry is done now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tick {
    /// The new text.
    Changed(String),
    /// The entry was done already.
    Already,
}

/// Why nothing is ticked. The document is unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TickError {
    #[error("`{id}` has no entry there")]
    NoEntry { id: String },
    #[error("the entry of `{id}` in line {line} has no checkbox")]
    NoBox { id: String, line: usize },
    #[error("the entry of `{id}` in line {line} cannot be marked as done without changing others")]
    NotAlone { id: String, line: usize },
}

impl TickError {
    pub(crate) fn hint(&self) -> String {
        let (Self::NoEntry { id } | Self::NoBox { id, .. } | Self::NotAlone { id, .. }) = self;
        format!("write the entry on its own line: `- [ ] **{id}: Title**`")
    }
}
