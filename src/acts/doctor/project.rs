//! The project: its documents, interrupted writes and forgotten locks in it, worktrees of processes that are gone.

use super::{CheckedArea, Examined};
use crate::acts::health::health_facts;
use crate::acts::worktree::reap::orphans;
use crate::acts::{Call, project as projects, yolo};
use crate::disk::{self, AbsolutePath, ChangeSet, DiskError, PeerLock};
use crate::failure::Failure;
use crate::operations::answers::finding::{Finding, Severity};
use crate::operations::health::{self, HealthFinding, Repairs};

/// What `doctor --fix` changes in the documents of a project.
pub(crate) struct ProjectRepair {
    /// The folder that is locked meanwhile.
    pub(crate) tree: AbsolutePath,
    pub(crate) changes: ChangeSet,
    /// The lock files of other programs that write to the same documents.
    pub(crate) locks: Vec<PeerLock>,
}

/// Checks the project around the folder of the call, if there is one.
pub(crate) fn project(call: &Call) -> Result<Examined, Failure> {
    let mut examined = Examined::new(CheckedArea::Project);
    if !is_checked(call) {
        return Ok(examined);
    }
    examined.looked_at.push(call.root().to_string());
    let tree = locked_tree(call)?;
    if disk::is_unfinished(&tree)? {
        let finding = Finding::error("write-unfinished", "a write was interrupted").at(tree.to_string());
        examined.push_fixable(finding.fix("gsd-tools recover"));
    }
    let layout = call.layout();
    let scope = AbsolutePath::parse(layout.absolute(&layout.scope())).map_err(DiskError::from)?;
    let state = AbsolutePath::parse(layout.absolute(&layout.state())).map_err(DiskError::from)?;
    for lock in disk::forgotten_peer_locks(&scope, &state) {
        let finding = Finding::warning("lock-forgotten", "a process that is gone left this lock file");
        examined.push_fixable(finding.at(lock.to_string()).fix("gsd-tools recover"));
    }
    let report = health::check(&call.view(), &health_facts(call)?)?;
    let found = report.errors.into_iter().map(|found| (Severity::Error, found));
    for (severity, found) in found.chain(report.warnings.into_iter().map(|found| (Severity::Warning, found))) {
        let fixable = found.repairable;
        let finding = finding_of(severity, found);
        if fixable { examined.push_fixable(finding) } else { examined.push(finding) }
    }
    // Without a repository, or in one of another user, there are no worktrees to look at.
    for (path, removable) in orphans(call).unwrap_or_default() {
        let finding = if removable {
            let what = "a process that is gone left this worktree, and its work is merged";
            Finding::warning("worktree-left", what).fix("gsd-tools worktree reap-orphans")
        } else {
            let what = "a process that is gone left this worktree locked, with work that is not merged";
            Finding::warning("worktree-with-work", what).cure("merge or remove it by git")
        };
        examined.push(finding.at(path));
    }
    if yolo::is_forgotten(call)? {
        let what = "the chain of phases is marked as active, and no session works on it";
        examined.push(Finding::warning("chain-forgotten", what).fix("gsd-tools yolo stop --reason crash"));
    }
    Ok(examined)
}

/// The repairs of the documents that cannot lose anything; `None` if there is nothing to repair.
pub(crate) fn repair(call: &Call) -> Result<Option<ProjectRepair>, Failure> {
    if !is_checked(call) {
        return Ok(None);
    }
    let (view, facts, day) = (call.view(), health_facts(call)?, call.world().today());
    let repairs = Repairs { configuration: true, milestones: true, day: &day };
    let (_, edits) = health::repair(&view, &facts, repairs)?;
    if edits.is_empty() {
        return Ok(None);
    }
    let changes = call.project().changes(&view, &edits)?;
    let locks = projects::peer_locks(call.layout(), &call.disk())?;
    Ok(Some(ProjectRepair { tree: locked_tree(call)?, changes, locks }))
}

/// Whether there is a project here. The home folder is not one.
fn is_checked(call: &Call) -> bool {
    call.has_a_project() && call.world().home().is_none_or(|home| home != call.root().as_path())
}

fn locked_tree(call: &Call) -> Result<AbsolutePath, Failure> {
    Ok(AbsolutePath::parse(call.project().locked_tree()).map_err(DiskError::from)?)
}

fn finding_of(severity: Severity, HealthFinding { code, message, fix, repairable }: HealthFinding) -> Finding {
    let finding = match severity {
        Severity::Error => Finding::error(code, message),
        _ => Finding::warning(code, message),
    };
    match (repairable, fix.is_empty()) {
        (true, _) => finding.fix(health::REPAIR),
        (false, false) => finding.cure(fix),
        (false, true) => finding,
    }
}
