//! Agents and the hosts they run in: dispatch, models, effort, skills, prompts.

pub(crate) mod dispatch;
pub(crate) mod effort;
pub(crate) mod hosts;
pub(crate) mod models;
pub(crate) mod prompt;
pub(crate) mod review_lane;
pub(crate) mod skills;
