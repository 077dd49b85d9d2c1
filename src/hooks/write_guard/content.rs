//! What a command or a script puts into a file.

/// The new content of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::hooks) enum Content {
    /// At most this many lines.
    Lines(usize),
    /// The content of these files.
    OfFiles(Vec<String>),
    /// The present content with this many lines removed and added.
    Edited { fewer: usize, more: usize },
    /// The first bytes of the present content, up to this many.
    Bytes(u64),
    /// The lines of a file that contain this text, or begin with it.
    Picked { file: String, text: String, at_start: bool },
    /// Something from elsewhere, whose length the line does not show.
    Foreign,
    /// The content in this earlier commit.
    Older(String),
    /// Nothing: the file is removed, or the folder with everything in it.
    Removed,
    /// Nothing: it was moved to another place.
    Moved,
}
