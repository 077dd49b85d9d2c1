//! (Item, Descriptor, Scope) to artifacts. Pure: same input, same bytes; nothing is read or written.

mod artifact;

pub(crate) use artifact::{Anchor, Artifact, Contents, MarkedText, SharedEdit, SharedFile};
