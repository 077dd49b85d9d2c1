//! Several installs of one call: planned one after the other, made in one transaction, and kept as one record.
//!
//! Two hosts may share files, such as a folder of skills in the home. So each host is planned for the state that the
//! plans before it leave, and all plans together are valid for the state on disk. Either all of them are made, or none.

use super::plan::PlannedInstalls;
use super::record::{CallRecord, CallVerb};
use super::{InstallError, InstallPlan, Installer, Target, Wish, status, stays_in_project};
use crate::disk::history::{History, Keeping};
use crate::disk::{self, AbsolutePath, ChangeSet, DiskError, Keep, Snapshot};

/// The plans of a call so far.
#[derive(Debug, Default)]
pub(crate) struct Together {
    /// What was read, as it will be after the plans.
    seen: Snapshot,
    /// Their changes, valid for the state on disk.
    changes: ChangeSet,
}

/// Changes outside of installs that are made in the same transaction.
#[derive(Debug, Default)]
pub(crate) struct Along {
    /// The folders that are locked for them.
    pub(crate) trees: Vec<AbsolutePath>,
    pub(crate) changes: ChangeSet,
    /// What the history calls it, if it is not the wish.
    pub(crate) verb: Option<CallVerb>,
}

impl Installer<'_> {
    /// Plans the changes for one more host and checks that they can be made, without writing. A plan that fails leaves
    /// `so_far` as it is.
    pub(crate) fn plan(&self, wish: Wish, target: &Target, so_far: &mut Together) -> Result<InstallPlan, InstallError> {
        let plan = self.look_and_plan(wish, target, &mut so_far.seen)?;
        let changes = plan.changes.clone().before(&so_far.changes);
        disk::check(&plan.roots, &changes)?;
        so_far.changes.merge(changes);
        so_far.seen.assume(&plan.changes);
        Ok(plan)
    }

    /// Brings the folders of all the hosts to the state that the library describes, or to their state before us, or
    /// changes nothing at all. Returns whether it can be undone, and the applied plans: `planned`, or new ones made under the locks if their inputs
    /// have changed.
    pub(crate) fn perform(
        &self,
        wish: Wish,
        planned: PlannedInstalls,
        along: &Along,
    ) -> Result<(PlannedInstalls, Keeping), InstallError> {
        let roots = |planned: &PlannedInstalls| {
            let mut roots: Vec<AbsolutePath> = planned.iter().flat_map(|(_, plan)| plan.roots.clone()).collect();
            roots.sort();
            roots.dedup();
            roots
        };
        let mut trees = roots(&planned);
        trees.extend(along.trees.iter().cloned());
        let is_nothing = planned.iter().all(|(_, plan)| plan.is_empty()) && along.changes.is_empty();
        let Some((first, _)) = planned.first().filter(|_| !is_nothing || has_unfinished(&trees)) else {
            return Ok((planned, Keeping::Nothing));
        };
        let history = History::in_state(&first.state);
        let targets: Vec<Target> = planned.iter().map(|(target, _)| target.clone()).collect();
        let record = CallRecord::of(wish, &planned, &self.version);
        let what = CallRecord { verb: along.verb.unwrap_or(record.verb), ..record }.to_value();
        let mut shown = Some(planned);
        loop {
            let is_shown = shown.is_some();
            let keep = Keep { history: &history, what: &what };
            let outcome = self.disk.transact_kept(&trees, keep, |hold, changes| {
                // The plans were made before the leftovers of a dead call were cleaned up.
                let planned = match shown.take().filter(|_| hold.recovered().is_empty()) {
                    Some(planned) => planned,
                    None if self.only_as_shown => return Err(InstallError::PlanChanged),
                    None => self.plan_again(wish, &targets)?,
                };
                // Locks are taken all at once, in path order, so that two calls cannot wait for each other.
                let roots = roots(&planned);
                if roots.iter().any(|root| !trees.contains(root)) {
                    return Ok(Err(roots));
                }
                for (target, plan) in &planned {
                    stays_in_project(target, plan)?;
                    let valid = plan.changes.clone().before(changes);
                    changes.merge(valid);
                }
                changes.merge(along.changes.clone().before(changes));
                Ok(Ok(planned))
            });
            match outcome {
                Ok((Ok(planned), keeping)) => return Ok((planned, keeping)),
                Ok((Err(more), _)) => trees.extend(more),
                Err(InstallError::Disk(DiskError::Changed { .. })) if is_shown => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn plan_again(&self, wish: Wish, targets: &[Target]) -> Result<PlannedInstalls, InstallError> {
        let mut together = Together::default();
        let plan = |target: &Target| {
            let plan = self.look_and_plan(wish, target, &mut together.seen)?;
            together.seen.assume(&plan.changes);
            Ok((target.clone(), plan))
        };
        targets.iter().map(plan).collect()
    }
}

/// True if a write was interrupted in one of the folders. One that cannot be looked at is left to the transaction.
fn has_unfinished(trees: &[AbsolutePath]) -> bool {
    status::unfinished_in(trees.to_vec()).is_ok_and(|unfinished| !unfinished.is_empty())
}
