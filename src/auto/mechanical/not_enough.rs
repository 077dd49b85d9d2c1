//! Why a step needs an agent or a person.

use crate::failure::{Failure, Reason};
use crate::text::shell::typed;

/// A failure whose hint is to let any agent continue the run.
pub(super) fn by_agent(message: String) -> Failure {
    Failure::new(Reason::Unknown, message).hint("let an agent do it: `gsd-tools auto run`")
}

/// A failure whose hint is to let an agent validate the milestone.
pub(super) fn by_validation(milestone: &str, message: String) -> Failure {
    let command = typed!("gsd-tools auto dispatch validate {}", milestone);
    Failure::new(Reason::Unknown, message).hint(format!("validate it with an agent: `{command}`"))
}

pub(super) fn listed(ids: &[String]) -> String {
    ids.iter().map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", ")
}
