//! What agents are started with: models, skills, instructions, prompt budgets and worktrees.

pub(crate) mod agent;
pub(crate) mod failure;
pub(crate) mod instructions;
pub(crate) mod models;
pub(crate) mod prompt_budget;
pub(crate) mod review_text;
pub(crate) mod reviewers;
pub(crate) mod skill_manifest;
pub(crate) mod skills;
pub(crate) mod worktree;
