//! Checks that no session sees: what finds a cheat that nothing in the work shows.

use crate::kit::TestContext;

/// Whether the program knows such checks yet.
pub(super) const IS_THERE: bool = false;

/// Declares a held-out check in the user's preferences.
pub(super) fn declare(_context: &TestContext, _command: &str) {}
