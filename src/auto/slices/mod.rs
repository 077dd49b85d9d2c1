//! Projects in milestones, slices and tasks: their state and their next step.

pub(crate) mod artifact;
pub(crate) mod brief;
pub(crate) mod captures;
pub(crate) mod derive;
pub(crate) mod forecast;
pub(crate) mod guards;
pub(crate) mod look;
pub(crate) mod orders;
pub(crate) mod outline;
pub(crate) mod permit;
pub(crate) mod places;
pub(crate) mod position;
pub(crate) mod reading;
pub(crate) mod record;
pub(crate) mod replanned;
pub(crate) mod rules;
pub(crate) mod secrets;
pub(crate) mod snapshot;
#[cfg(test)]
mod tests;
