//! What a command or a script puts into a file.

/// What goes into a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::hooks) enum Content {
    /// At most this many lines.
    Lines(usize),
    /// The content of these files.
    OfFiles(Vec<String>),
    /// The present content with this many lines removed and added.
    Edited { fewer: usize, more: usize },
    /// So many bytes of the present content, from its start.
    Bytes(u64),
    /// The lines of a file that have, or begin with, this text.
    Picked { file: String, text: String, at_start: bool },
    /// Something from elsewhere, of which the line does not say how long it is.
    Foreign,
    /// The content in an earlier commit, which is named.
    Older(String),
    /// Nothing: the file is removed, or the folder with all that is in it.
    Removed,
    /// Nothing: it is in another place.
    Moved,
}
