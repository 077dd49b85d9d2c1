//! The only room that touches the file system.
