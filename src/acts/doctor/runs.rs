//! The runs of `auto` in a project: one that no process works on, what earlier ones left, and documents that block them.

use super::{CheckedArea, Examined};
use crate::acts::Call;
use crate::acts::auto::leftover::leftovers;
use crate::acts::auto::place::RunPlace;
use crate::acts::auto::seen::Seen;
use crate::acts::auto::start::brief::continues_or_ends;
use crate::auto::memory::Memory;
use crate::disk;
use crate::failure::Failure;
use crate::operations::answers::finding::Finding;
use crate::project::milestone_layout::lookup;
use crate::text::screen::counted;

/// Looks at the log of the runs here, and at the documents of milestones.
pub(crate) fn runs(call: &Call) -> Result<Examined, Failure> {
    let mut examined = Examined::new(CheckedArea::Runs);
    let place = RunPlace::of(call)?;
    if disk::is_folder(place.root.resolve(lookup::MILESTONES)) {
        let seen = Seen::whole(call)?;
        examined.looked_at.push(format!("{} in .gsd/", counted(seen.snapshot.milestones.len(), "milestone")));
        for problem in &seen.snapshot.problems {
            let line = problem.line.map(|line| format!(":{line}")).unwrap_or_default();
            let finding = Finding::error("document-unreadable", problem.what.clone());
            examined.push(finding.at(format!("{}{line}", problem.path)).cure("correct it; no run starts before that"));
        }
    }
    let entries = place.entries()?;
    if entries.is_empty() {
        return Ok(examined);
    }
    let memory = place.memory()?;
    examined.looked_at.push(format!("the log of runs: {}", counted(entries.len(), "line")));
    let unfinished = memory.run.as_ref().filter(|_| !memory.is_released);
    if let Some(run) = unfinished
        && memory.stop.is_none()
        && place.holder(call.disk(), &memory)?.is_none()
    {
        let what = format!("the run of {} was interrupted: no process works on it", run.milestone);
        examined.push(Finding::warning("run-interrupted", what).cure(continues_or_ends(&run.milestone)));
    }
    if let Some(Memory { run: Some(run), .. }) = place.stranded_in(&entries)? {
        let what = format!("the run of {} belongs to another repository that was here before", run.milestone);
        examined.push(Finding::warning("run-stranded", what).cure(continues_or_ends(&run.milestone)));
    }
    let (left, _) = leftovers(call.world(), &place, (&entries, unfinished))?;
    for row in left {
        let parts = row.branch.iter().map(|branch| format!("branch {branch}")).chain(row.folders.iter().cloned());
        let parts = parts.collect::<Vec<_>>().join(", ");
        examined.push(if let Some(remove) = row.remove {
            let what = format!("an earlier run of {} left {parts}", row.milestone);
            Finding::warning("run-leftover", what).fix(remove)
        } else {
            let what = format!("{parts} has the name of a run's branch, but no run of this project made it");
            Finding::note("branch-like-a-run", what)
        });
    }
    Ok(examined)
}
