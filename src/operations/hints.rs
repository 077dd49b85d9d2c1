//! What helps against errors that several operations make.

pub(crate) const PHASES: &str = "`gsd-tools roadmap analyze` lists the phases";

/// What to do about a roadmap that is not there.
pub(crate) const NO_ROADMAP: &str = "restore `.planning/ROADMAP.md` from git, or write it; `gsd-tools guide new-project` describes how a project starts";

pub(crate) const CORRECT_LINE: &str = "correct that line; nothing was written";
