//! What needs no agent: a slice, a milestone and its validation, closed from the records of their tasks.
//!
//! Records and documents go in, edits come out, or the reason why an agent is needed. Nothing here knows the time: the
//! same documents give the same bytes, so that a step that was interrupted is simply taken again. The last edit of a list
//! is the one that closes.

mod evidence;
mod judgement;
mod milestone;
mod not_enough;
mod reading;
mod records;
mod requirements;
mod slice;
mod slice_text;
#[cfg(test)]
mod tests;
mod validation;

pub(crate) use milestone::complete_milestone;
pub(crate) use not_enough::NotEnough;
pub(crate) use reading::{milestone_records, slice_records};
pub(crate) use records::{Document, Limits, MilestoneRecords, SliceRecords, TaskRecords};
pub(crate) use slice::{Completion, complete_slice};
pub(crate) use validation::{evidence_hash, is_stale, validate_milestone};
