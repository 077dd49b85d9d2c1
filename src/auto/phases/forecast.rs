//! Forecasts how many sessions the phases of a milestone take if every session succeeds.

use crate::auto::phases::PhaseSettings;
use crate::auto::slices::forecast::Forecast;
use crate::auto::unit::UnitKind;
use crate::project::files::FileError;
use crate::project::standing::{NextStep, PhaseStanding};
use crate::project::view::ProjectView;

/// Returns the remaining sessions.
pub(crate) fn of(view: &ProjectView, settings: &PhaseSettings) -> Result<Forecast, FileError> {
    let mut forecast = Forecast::default();
    let Some(roadmap) = view.roadmap()? else { return Ok(forecast) };
    for id in view.milestone()?.phase_ids(roadmap) {
        let folder = view.find_phase(id)?.folder;
        let standing = PhaseStanding::of(view, id, folder.as_ref())?;
        let units: &[UnitKind] = match standing.next_step(settings.skips_discussion) {
            Some(NextStep::Discuss) => &[UnitKind::DiscussPhase, UnitKind::PlanPhase, UnitKind::ExecutePhase],
            Some(NextStep::Plan | NextStep::PlanGaps) => &[UnitKind::PlanPhase, UnitKind::ExecutePhase],
            Some(NextStep::Execute) => &[UnitKind::ExecutePhase],
            Some(NextStep::Verify | NextStep::Close) | None => &[],
        };
        for kind in units {
            forecast.add(*kind, 1);
        }
    }
    Ok(forecast)
}
