//! The same verbs for a project in phases: its position, its next step, and the workflows of its units.

use crate::acts::project;
use crate::acts::workstreams;
use std::collections::BTreeMap;

use super::place::RunPlace;
use crate::acts::Call;
use crate::auto::decide::{Situation, Step, decide};
use crate::auto::event::Time;
use crate::auto::memory::Memory;
use crate::auto::phases::{self, PhaseSettings, forecast, position};
use crate::auto::position::{Position, RuleResult};
use crate::auto::preferences::Preferences;
use crate::auto::slices::forecast::Forecast;
use crate::auto::status::{self, PhasesSeen, RuleRow, StatusReport};
use crate::auto::stop::Stop;
use crate::auto::unit::{Unit, UnitKind};
use crate::disk;
use crate::emit::CONTENT_FOLDER;
use crate::failure::Failure;
use crate::install::{Target, is_installed};
use crate::project::milestone::is_version;
use crate::project::milestone_layout::ids;
use crate::project::view::ProjectView;
use crate::runtime::Scope;
use crate::text::shell::typed;
use crate::text::untrusted;

/// The kinds of units, each with its workflow.
const WORKFLOWS: &[(UnitKind, &str)] = &[
    (UnitKind::DiscussPhase, "discuss-phase"),
    (UnitKind::PlanPhase, "plan-phase"),
    (UnitKind::ExecutePhase, "execute-phase"),
];

/// The most letters of a refused name that are shown.
const SHOWN: usize = 60;

/// What was read of a project in phases.
#[derive(Debug)]
pub(crate) struct SeenPhases {
    pub(crate) memory: Memory,
    pub(crate) view: ProjectView,
    pub(crate) settings: PhaseSettings,
}

impl SeenPhases {
    pub(crate) fn of(call: &Call, place: &RunPlace) -> Result<Self, Failure> {
        refuse_workstreams(call)?;
        let memory = place.memory()?;
        let view = project::view_at(call, &place.documents(&memory))();
        Ok(Self { memory, view, settings: settings(call)? })
    }

    /// The position of a run that has not begun, or was stopped.
    pub(crate) fn position(&self) -> Result<Position, Failure> {
        Ok(position::of(&self.view, &self.memory, &self.settings)?)
    }

    /// Why there is nothing to run; `None` if there is.
    pub(crate) fn stop(&self) -> Result<Option<Stop>, Failure> {
        Ok(match self.position()? {
            Position { mechanical: None, finding: RuleResult::Stop(stop), .. } => Some(stop),
            _ => None,
        })
    }

    /// The milestone's name in names of branches and folders.
    pub(crate) fn milestone(&self) -> Result<String, Failure> {
        let Some(version) = self.view.milestone()?.version else { return Ok("milestone".to_owned()) };
        let name = version.replace(char::is_whitespace, "-");
        if is_version(&name) || ids::milestone_of(&name) == Some(&*name) {
            return Ok(name);
        }
        let state = self.view.state_version()?;
        let file = if state.as_ref() == Some(&version) { "STATE.md" } else { "ROADMAP.md" };
        let version = untrusted::line(&version, SHOWN);
        Err(Failure::usage(format!(
            "`{}/{file}` has `{version}` for the milestone, which is not a version",
            phases::FOLDER
        ))
        .hint("write one such as `v1.0` there, commit it, then run the command again"))
    }

    pub(crate) fn forecast(&self) -> Result<Forecast, Failure> {
        Ok(forecast::of(&self.view, &self.settings)?)
    }

    fn seen(&self) -> PhasesSeen<'_> {
        PhasesSeen { view: &self.view, memory: &self.memory, settings: &self.settings }
    }

    pub(crate) fn status(&self, now: Time) -> Result<StatusReport, Failure> {
        // A landed run does not affect the next step; a stopped run would be started again.
        let memory = self.memory.clone();
        let memory = if memory.is_released { Memory::default() } else { Memory { stop: None, ..memory } };
        let position = position::of(&self.view, &memory, &self.settings)?;
        let situation = Situation {
            position: &position,
            memory: &memory,
            is_unsaved: false,
            needs_baseline: false,
            check_retries: Preferences::default().verification_retries,
            can_resume: false,
            has_held_out: false,
        };
        let step: Step = decide(&situation, now);
        Ok(StatusReport::of_phases(&self.seen(), &step, position.rule)?)
    }

    pub(crate) fn rules(&self, is_explained: bool) -> Result<Vec<RuleRow>, Failure> {
        Ok(status::phase_rules(&self.seen(), is_explained)?)
    }

    /// The unit that the words of a call mean.
    pub(crate) fn unit_of(&self, word: &str, id: Option<&str>) -> Result<Unit, Failure> {
        let is_it =
            |(_, workflow): &&(UnitKind, &str)| *workflow == word || workflow.strip_suffix("-phase") == Some(word);
        let Some((kind, _)) = WORKFLOWS.iter().find(is_it) else {
            return Err(Failure::usage(format!("`{word}` is not a unit of a project in phases"))
                .hint("the units are discuss-phase, plan-phase and execute-phase"));
        };
        let id = match (id, StatusReport::active_phase(&self.view)?) {
            (Some(id), _) => id.to_owned(),
            (None, Some(active)) => active,
            (None, None) => {
                return Err(Failure::usage(format!("no phase is next for `{word}`"))
                    .hint(format!("name one: `{}`", typed!("gsd-tools auto dispatch {} 2", word))));
            }
        };
        if self.view.phase_named(&id)?.is_none() {
            return Err(Failure::usage(format!("there is no phase `{id}`"))
                .hint("`gsd-tools roadmap analyze` lists the phases"));
        }
        Ok(Unit::new(*kind, id))
    }
}

/// Refuses workstreams: units work on the phases of the project itself.
fn refuse_workstreams(call: &Call) -> Result<(), Failure> {
    let layout = call.layout();
    if layout.workstream().is_none() && layout.planning() == phases::FOLDER && workstreams::names(call)?.is_empty() {
        return Ok(());
    }
    Err(Failure::usage("a project with workstreams cannot be run unattended")
        .hint("complete them first: `gsd-tools workstream list` lists them"))
}

fn settings(call: &Call) -> Result<PhaseSettings, Failure> {
    let config = call.config()?;
    Ok(PhaseSettings {
        skips_discussion: config.flag("workflow.skip_discuss"),
        discuss_passes: config
            .number("workflow.max_discuss_passes")
            .and_then(|passes| usize::try_from(passes).ok())
            .filter(|passes| *passes > 0),
        prunes: config.flag("workflow.auto_prune_state"),
        command_prefix: call.command_prefix()?.to_owned(),
        workflows: BTreeMap::new(),
    })
}

/// The workflows as installed for the client's host, else for the host of the call.
pub(crate) fn workflows(call: &Call, runner: &str) -> Result<BTreeMap<UnitKind, String>, Failure> {
    let own = call.registry()?.find(runner).ok();
    let descriptor = match own {
        Some(own) => Some(own),
        None => call.host()?.descriptor.clone(),
    };
    let folder = project::install_folder(call);
    let targets = descriptor.iter().flat_map(|descriptor| {
        let target = |scope| Target::resolve(descriptor.clone(), scope, &folder, None, call.world()).ok();
        [Scope::Local, Scope::Global].into_iter().filter_map(target)
    });
    let found = targets.filter(is_installed).find_map(|target| {
        let path = |workflow: &str| target.root.resolve(format!("{CONTENT_FOLDER}/workflows/{workflow}.md"));
        let all: BTreeMap<_, _> = WORKFLOWS.iter().map(|(kind, workflow)| (*kind, path(workflow))).collect();
        all.values().all(disk::is_file).then_some(all)
    });
    let found = found.ok_or_else(|| {
        let host = descriptor.as_ref().map_or_else(|| runner.to_owned(), |descriptor| descriptor.id.to_string());
        Failure::usage(format!("the workflows that a run in phases follows are not installed for {host}"))
            .hint(format!("install them: `{}`", typed!("gsd-tools install --global --{}", host)))
    })?;
    Ok(found.into_iter().map(|(kind, path)| (kind, path.to_string())).collect())
}
