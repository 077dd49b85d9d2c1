//! What a command means across documents. Pure: a view in, a report (and edits) out.
//!
//! An answer that one document can give is a method on that document. Facts from outside the project (git, the agents
//! folder, source files) are gathered by `commands` and handed in.

pub(crate) mod acceptance;
pub(crate) mod archive;
pub(crate) mod audit;
pub(crate) mod branch;
pub(crate) mod bundle;
pub(crate) mod changes;
pub(crate) mod complete;
pub(crate) mod confidence;
pub(crate) mod configuration;
pub(crate) mod coverage;
pub(crate) mod drift;
pub(crate) mod drift_guard;
pub(crate) mod entry;
pub(crate) mod estimates;
pub(crate) mod failure;
pub(crate) mod frontmatter;
pub(crate) mod gates;
pub(crate) mod graphify;
pub(crate) mod health;
pub(crate) mod history;
pub(crate) mod intel;
pub(crate) mod learnings;
pub(crate) mod lookup;
pub(crate) mod milestone;
pub(crate) mod models;
pub(crate) mod must_haves;
pub(crate) mod phase;
pub(crate) mod plan_checks;
pub(crate) mod plan_index;
pub(crate) mod progress;
pub(crate) mod quick_tasks;
pub(crate) mod removal;
pub(crate) mod requirements;
pub(crate) mod roadmap;
pub(crate) mod scaffold;
pub(crate) mod seeds;
pub(crate) mod skills;
pub(crate) mod state;
pub(crate) mod stats;
pub(crate) mod summary;
pub(crate) mod summary_check;
pub(crate) mod task;
pub(crate) mod template;
pub(crate) mod todos;
pub(crate) mod token;
pub(crate) mod uat_coverage;
pub(crate) mod user_story;
pub(crate) mod verification;
pub(crate) mod workstream;
pub(crate) mod worktree;
