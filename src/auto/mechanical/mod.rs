//! Steps that need no agent: closing a slice, a milestone and its validation from the records of their tasks.
//!
//! Records and documents go in, edits come out, or the reason why an agent is needed. Nothing here knows the time: the
//! same documents give the same bytes, so that an interrupted step can simply be repeated. The last edit of a list is
//! the one that closes.

mod evidence;
mod judgement;
pub(crate) mod milestone;
mod not_enough;
mod reading;
pub(crate) mod records;
mod requirements;
pub(crate) mod slice;
mod slice_text;
#[cfg(test)]
mod tests;
pub(crate) mod validation;

pub(crate) use milestone::complete_milestone;
pub(crate) use reading::{milestone_records, slice_records};
pub(crate) use slice::complete_slice;
pub(crate) use validation::{is_stale, unverified_in, validate_milestone};
