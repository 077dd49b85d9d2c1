//! The content library, embedded.
