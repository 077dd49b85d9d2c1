//! Files as text: lossless documents with named edits. Pure; knows no word of the workflow system.
