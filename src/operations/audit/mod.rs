//! What is still open when a milestone closes, and what people decided to accept.
//!
//! [`open()`] lists everything that can be left open, [`acknowledge()`] records in an artifact that a person knows
//! about it, and [`uat()`] lists the tests that have not passed. A record contains what the artifact said at that time:
//! if it says something else later, it is open again.

pub(crate) mod acknowledge;
pub(crate) mod open;
#[cfg(test)]
mod tests;
pub(crate) mod uat;

pub(crate) use acknowledge::{AcknowledgedItem, acknowledge};
pub(crate) use open::open;
pub(crate) use uat::{OpenTests, open_tests, uat};

use crate::project::uat_report::{ACKNOWLEDGED, SNAPSHOT};
use crate::text::front_matter::{FrontMatter, Value};
use crate::text::words::words;

words! {
    /// The kinds of artifacts that can be left open.
    pub(crate) enum Category {
        DebugSessions = "debug_sessions",
        QuickTasks = "quick_tasks",
        Threads = "threads",
        Todos = "todos",
        Seeds = "seeds",
        UatGaps = "uat_gaps",
        VerificationGaps = "verification_gaps",
        ReviewFindings = "review_findings",
        ContextQuestions = "context_questions",
        DeferredItems = "deferred_items",
    }
}

impl Category {
    pub(crate) const ALL: [Self; 10] = [
        Self::DebugSessions,
        Self::QuickTasks,
        Self::Threads,
        Self::Todos,
        Self::Seeds,
        Self::UatGaps,
        Self::VerificationGaps,
        Self::ReviewFindings,
        Self::ContextQuestions,
        Self::DeferredItems,
    ];

    /// The key of a record that holds what the artifact said; `None` if its existence is all that counts.
    fn snapshot_key(self) -> Option<&'static str> {
        match self {
            Self::Todos | Self::DeferredItems => None,
            Self::UatGaps => Some(SNAPSHOT),
            Self::ContextQuestions => Some("questions_digest"),
            Self::ReviewFindings => Some("findings_digest"),
            _ => Some("status"),
        }
    }
}

/// True if the record in a front matter matches what the artifact says now.
fn is_acknowledged(category: Category, front: Option<&FrontMatter<'_>>, snapshot: &str) -> bool {
    let Some(note @ Value::Map(_)) = front.and_then(|front| front.get(ACKNOWLEDGED)) else { return false };
    let Some(key) = category.snapshot_key() else { return true };
    note.get(key).and_then(Value::as_text).is_some_and(|known| known == snapshot)
}
