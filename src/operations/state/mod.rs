//! STATE.md across documents: what a command changes in it, and how its index follows.
//!
//! Every write goes the same way: [`open`] the text (one too broken to be written to is refused), make named edits on a
//! [`StateEdit`], and [`close`] it, which brings the front matter up to date with body, disk and roadmap. The other
//! operations that move the state along (`phase complete`, `phase remove`, ...) do the same:
//!
//! ```text
//! let after = view.after(&edits);                       // the project with the roadmap as it will be
//! let Some(text) = state::open(&after)? else { .. };    // no STATE.md
//! let state = State::parse(&text);
//! let mut edit = StateEdit::new(&state);
//! position::move_on(&mut edit, &transition, facts);     // or edit.set(..), edit.put(..)
//! let written = state::close(&after, edit, Rule::Measure, facts)?;
//! edits.write(view, &view.layout().state(), written.text)?;
//! mirror::refresh(&mut edits, view, facts)?;            // state.json, from what `edits` make of the project
//! ```

pub(crate) mod advance;
pub(crate) mod claim;
mod fields;
mod listed;
pub(crate) mod mirror;
pub(crate) mod next;
pub(crate) mod notes;
pub(crate) mod position;
pub(crate) mod prune;
pub(crate) mod read;
pub(crate) mod rebuild;
mod resync;
pub(crate) mod signal;
pub(crate) mod situation;
pub(crate) mod switch;
pub(crate) mod sync;
#[cfg(test)]
mod tests;
pub(crate) mod update;
pub(crate) mod validate;

use std::sync::Arc;

use crate::failure::Failure;
use crate::operations::hints::CORRECT_LINE;
use crate::project::auto_run::Runs;
use crate::project::state::{State, StateProblem};
use crate::project::view::{Edits, ProjectView};

pub(crate) use crate::project::state::edit::StateEdit;
pub(crate) use resync::{Rule, Written, close};

/// The answer of every command for a project without STATE.md.
pub(crate) const NO_STATE: &str = "STATE.md not found";

/// What makes a STATE.md that is not there.
pub(crate) const NO_STATE_CURE: &str = "create it from ROADMAP.md and the phase folders: `gsd-tools state rebuild`";

/// What helps against a STATE.md that no correction of a line makes readable.
pub(crate) const LOST_STATE: &str =
    "restore it from git, or set it aside and create a new one: `gsd-tools state rebuild --set-aside`";

/// There is no STATE.md to write to.
pub(crate) fn no_state() -> Failure {
    Failure::unknown(NO_STATE).hint(NO_STATE_CURE)
}

/// What a state operation needs of the world outside the project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    /// The present moment in UTC, as `2026-01-02T03:04:05.678Z`.
    pub(crate) now: String,
    /// The same in milliseconds since 1970.
    pub(crate) milliseconds: i64,
    /// The user's calendar day.
    pub(crate) today: String,
    /// The commit the work stands on, where the project is a repository of its own.
    pub(crate) head: Option<String>,
    /// The name of the host's session.
    pub(crate) session: Option<String>,
    pub(crate) process: u32,
    /// Whether the call is of a session of `auto run`, which holds the project for all of its sessions.
    pub(crate) is_unit: bool,
    pub(crate) commands: Commands,
    /// The runs of `auto` in the project; documents that are written say nothing of them.
    pub(crate) runs: Runs,
}

/// The commands that people type in the host of the call, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Commands {
    /// What stands before the name of a command, such as `/gsd-`.
    pub(crate) prefix: String,
    /// The names of those that are installed.
    pub(crate) installed: Vec<String>,
    /// Phases are planned without a discussion.
    pub(crate) skip_discussion: bool,
}

/// What an operation on STATE.md gives; `None` where there is none.
pub(crate) type EditedState<R> = Result<Option<(R, Edits)>, Failure>;

/// The text of STATE.md for writing; `None` if there is no such file.
pub(crate) fn open(view: &ProjectView) -> Result<Option<Arc<str>>, Failure> {
    let Some(text) = view.state_text()? else { return Ok(None) };
    match State::parse(&text).problem() {
        Some(StateProblem { line, what, is_lost }) => {
            let message = format!("`{}` is not written to: line {line} is {what}", view.layout().state());
            Err(Failure::unknown(message).hint(if is_lost { LOST_STATE } else { CORRECT_LINE }))
        }
        None => Ok(Some(text)),
    }
}

impl Written {
    /// The edit of STATE.md alone.
    pub(crate) fn edits(&self, view: &ProjectView) -> Result<Edits, Failure> {
        let mut edits = Edits::default();
        edits.write(view, &view.layout().state(), self.text.clone())?;
        Ok(edits)
    }
}
