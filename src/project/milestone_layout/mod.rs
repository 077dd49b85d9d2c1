//! The documents of a project in milestones, slices and tasks, below `.gsd/`: read, changed and written.
//!
//! Reading a document never fails; people and agents write these files. An edit takes a text and returns the new one.
//! Records of the pipeline are JSON. A record that does not parse is an error with its line: unreadable evidence does
//! not count.

pub(crate) mod assessment;
pub(crate) mod captures;
pub(crate) mod context;
pub(crate) mod decisions;
pub(crate) mod escalation;
pub(crate) mod evidence;
pub(crate) mod fence;
pub(crate) mod gates;
pub(crate) mod held_out;
pub(crate) mod ids;
pub(crate) mod knowledge;
#[cfg(test)]
mod linear_tests;
pub(crate) mod lines;
pub(crate) mod lookup;
pub(crate) mod messages;
pub(crate) mod milestone_summary;
pub(crate) mod overrides;
pub(crate) mod preference_facts;
pub(crate) mod preference_table;
pub(crate) mod preferences;
pub(crate) mod queue;
pub(crate) mod record;
pub(crate) mod requirements;
pub(crate) mod roadmap;
pub(crate) mod slice_plan;
pub(crate) mod slice_rows;
pub(crate) mod summary;
pub(crate) mod task_plan;
pub(crate) mod uat;
pub(crate) mod unit_hooks;
pub(crate) mod validation;
pub(crate) mod verdict;
