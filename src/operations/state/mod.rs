//! STATE.md across documents: what a command changes in it, and how its index follows.
//!
//! Every write goes the same way: [`open`] the text (one too broken to be written to is refused), make named edits on a
//! [`StateEdit`], and [`close`] it, which brings the front matter up to date with body, disk and roadmap. The other
//! operations that move the state along (`phase complete`, `phase remove`, ...) do the same:
//!
//! ```text
//! let after = view.after(&edits);                       // the project with the roadmap as it will be
//! let Some(state) = state::open(&after)? else { .. };   // no STATE.md
//! let mut edit = StateEdit::new(state);
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
pub(crate) mod situation;
pub(crate) mod switch;
pub(crate) mod sync;
#[cfg(test)]
mod tests;
pub(crate) mod update;
pub(crate) mod validate;

use crate::failure::Failure;
use crate::operations::hints::CORRECT_LINE;
use crate::project::auto_run::Runs;
use crate::project::state::{State, StateProblem};
use crate::project::view::{Edits, ProjectView};

pub(crate) use crate::project::state::edit::StateEdit;
pub(crate) use resync::{Rule, Written, close};

/// The error of every command in a project without STATE.md.
pub(crate) const NO_STATE: &str = "STATE.md not found";

/// How to create a missing STATE.md.
pub(crate) const NO_STATE_CURE: &str = "create it from ROADMAP.md and the phase folders: `gsd-tools state rebuild`";

/// The hint about a STATE.md that cannot be repaired by correcting a line.
pub(crate) const LOST_STATE: &str =
    "restore it from git, or set it aside and create a new one: `gsd-tools state rebuild --set-aside`";

/// The error for a missing STATE.md.
pub(crate) fn no_state() -> Failure {
    Failure::unknown(NO_STATE).hint(NO_STATE_CURE)
}

/// Facts from outside the project that state operations need.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    /// The current time in UTC, as `2026-01-02T03:04:05.678Z`.
    pub(crate) now: String,
    /// The current time in milliseconds since 1970.
    pub(crate) milliseconds: i64,
    /// The date in the user's time zone.
    pub(crate) today: String,
    /// The current commit, if the project is a separate repository.
    pub(crate) head: Option<String>,
    /// The name of the host's session.
    pub(crate) session: Option<String>,
    pub(crate) process: u32,
    /// True if the call comes from a session of `auto run`, which locks the project for all its sessions.
    pub(crate) is_unit: bool,
    pub(crate) commands: Commands,
    /// The runs of `auto` in the project. They are not written to documents.
    pub(crate) runs: Runs,
}

/// The commands that people type in the calling host, and their spelling.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Commands {
    /// The prefix of a command's name, such as `/gsd-`.
    pub(crate) prefix: String,
    /// The names of the installed commands.
    pub(crate) installed: Vec<String>,
    /// Phases are planned without a discussion.
    pub(crate) skip_discussion: bool,
}

/// The result of an operation on STATE.md; `None` if the file does not exist.
pub(crate) type EditedState<R> = Result<Option<(R, Edits)>, Failure>;

/// STATE.md for writing; `None` if there is no such file.
pub(crate) fn open(view: &ProjectView) -> Result<Option<&State<'_>>, Failure> {
    let Some(state) = view.state()? else { return Ok(None) };
    match state.problem() {
        Some(StateProblem { line, what, is_lost }) => {
            let message = format!("`{}` is not written to: line {line} is {what}", view.layout().state());
            Err(Failure::unknown(message).hint(if is_lost { LOST_STATE } else { CORRECT_LINE }))
        }
        None => Ok(Some(state)),
    }
}

impl Written {
    /// Only the edit of STATE.md.
    pub(crate) fn edits(&self, view: &ProjectView) -> Result<Edits, Failure> {
        let mut edits = Edits::default();
        edits.write(view, &view.layout().state(), self.text.clone())?;
        Ok(edits)
    }
}
