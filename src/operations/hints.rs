//! Errors that several operations return, and hints for them.

use crate::failure::Failure;
use crate::text::front_matter::Problem;

pub(crate) const PHASES: &str = "`gsd-tools roadmap analyze` lists the phases";

/// The hint about several folders of one phase.
pub(crate) const SPARE_FOLDERS: &str = "rename or remove the folders that do not belong to the phase";

/// The hint about a missing roadmap.
pub(crate) const NO_ROADMAP: &str = "restore `.planning/ROADMAP.md` from git, or write it; `gsd-tools guide new-project` describes how a project starts";

pub(crate) const CORRECT_LINE: &str = "correct that line; nothing was written";

/// The error for a missing roadmap.
pub(crate) fn no_roadmap() -> Failure {
    Failure::unknown("there is no ROADMAP.md").hint(NO_ROADMAP)
}

/// The error for a front matter with a line that prevents editing.
pub(crate) fn uneditable_front_matter(path: &str, Problem { line, what }: Problem) -> Failure {
    Failure::unknown(format!("the front matter of `{path}` cannot be edited: {what} (line {line})")).hint(CORRECT_LINE)
}
