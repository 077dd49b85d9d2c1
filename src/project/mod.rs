//! `.planning/` as types.
