//! Drives one run, from where its log ends to its stop.

use super::{ControlRequest, Edit, Effects, EngineError, TO_ARRIVE};
use crate::auto::decide::{Situation, Step, decide};
use crate::auto::event::{Entry, Event, Mechanical};
use crate::auto::layout::{Layout, LayoutDocuments};
use crate::auto::memory::{Memory, OperationStage};
use crate::auto::position::Position;
use crate::auto::preferences::Preferences;
use crate::auto::slices::derive::{Phase, Scope, derive};
use crate::auto::slices::look::{Look, OutsideFacts};
use crate::auto::slices::orders::{self, Order, OrderedChange, Wish};
use crate::auto::slices::position;
use crate::auto::slices::reading::{self, Extent};
use crate::auto::stop::{Cause, Stop};
use crate::auto::unit::Unit;
use crate::failure::{Failure, Reason};
use crate::text::screen::counted;

/// The most decisions of one call. Each leads to an effect or an end, and a unit takes about six.
const DECISIONS: u32 = 5_000;

/// The settings that are fixed for a call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    pub(crate) layout: Layout,
    pub(crate) preferences: Preferences,
    pub(crate) scope: Scope,
    /// Stop after this many units.
    pub(crate) most_units: Option<u32>,
    pub(crate) allows_planning_only: bool,
    pub(crate) last_slice_has_no_uat: bool,
    pub(crate) reassesses_last: bool,
    /// The unit that a person asked for. It precedes everything that the rules find, once no other unit is in progress.
    pub(crate) asked: Option<Unit>,
}

/// A run in this process.
#[derive(Debug)]
pub(crate) struct Drive<'a, E> {
    pub(super) effects: &'a mut E,
    pub(super) memory: Memory,
    pub(super) settings: &'a Settings,
    /// The number of units that this call has closed.
    pub(super) units: u32,
}

/// The state read for one decision.
#[derive(Debug)]
pub(super) struct StateReading {
    pub(super) documents: LayoutDocuments,
    pub(super) position: Position,
    /// Whether the process wrote something and died before it recorded that.
    pub(super) is_unsaved: bool,
}

impl<'a, E: Effects> Drive<'a, E> {
    pub(crate) fn new(effects: &'a mut E, memory: Memory, settings: &'a Settings) -> Self {
        Self { effects, memory, settings, units: 0 }
    }

    /// The folded log, including the entries of this call.
    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Continues until the run stops.
    pub(crate) fn run(&mut self) -> Result<Stop, EngineError> {
        self.name_lost_messages()?;
        self.announce()?;
        let ended = self.steps();
        match &ended {
            Err(EngineError::Died) => return ended,
            Err(EngineError::Failed(failure)) => self.announce_failure(failure),
            _ => {}
        }
        // The run is over; only the answer waits for them.
        let recorded = self.record_deliveries(TO_ARRIVE);
        let stop = ended?;
        recorded.map(|()| stop)
    }

    fn steps(&mut self) -> Result<Stop, EngineError> {
        let mut last = String::new();
        for _ in 0..DECISIONS {
            match self.one_step(&mut last) {
                Ok(None) => {}
                Ok(Some(end)) => return Ok(end),
                Err(error) => {
                    // Ctrl-C at a terminal also reaches git, which then fails.
                    let end = match (self.effects.urgent(), error) {
                        (Ok(Some(request)), _) => requested(request, "between two steps"),
                        (_, EngineError::Stopped(end)) => *end,
                        (_, error) => self.effects.halted(error)?,
                    };
                    return self.stop(end);
                }
            }
        }
        let message = format!("the run decided {DECISIONS} times without an end; the last decision was {last}");
        let failure = Failure::new(Reason::Unknown, message).hint("`gsd-tools auto log` shows what the run did");
        Err(failure.into())
    }

    fn one_step(&mut self, last: &mut String) -> Result<Option<Stop>, EngineError> {
        self.follow_orders()?;
        let reading = self.read()?;
        let now = self.effects.now();
        let step = match self.asked()? {
            Some(stop) => Step::Stop(stop),
            None => decide(&self.situation(&reading), now),
        };
        *last = format!("{step:?}");
        self.perform(&reading, step)
    }

    pub(super) fn read(&mut self) -> Result<StateReading, EngineError> {
        self.note_edits()?;
        let (documents, position) = match &self.settings.layout {
            Layout::Milestones => self.read_milestones()?,
            Layout::Phases(settings) => LayoutDocuments::in_phases(self.effects.view(), settings, &self.memory)?,
        };
        let is_between = self.memory.current.is_none();
        let position = match &self.settings.asked {
            Some(asked) if is_between && self.units == 0 => position.asked_for(asked.clone()),
            _ => position,
        };
        let position = self.open_for_captures(position)?;
        let is_ready = position.is_complete && is_between && self.memory.candidate.is_none();
        let is_unsaved = is_ready && self.memory.landed.is_none() && self.is_unsaved()?;
        Ok(StateReading { documents, position, is_unsaved })
    }

    /// Returns the same position without a step that would close a slice in the commit of its last unit, if a person has
    /// captured something for it meanwhile.
    fn open_for_captures(&mut self, position: Position) -> Result<Position, EngineError> {
        if self.memory.current.is_none() || position.mechanical.is_none() {
            return Ok(position);
        }
        let is_captured = |(_, order): &(String, Order)| matches!(order.wish, Wish::Capture { .. });
        let mechanical = position.mechanical.clone().filter(|step| matches!(step, Mechanical::CompleteSlice { .. }));
        if mechanical.is_none() || !self.effects.orders()?.iter().any(is_captured) {
            return Ok(position);
        }
        Ok(Position { mechanical: None, ..position })
    }

    fn read_milestones(&mut self) -> Result<(LayoutDocuments, Position), EngineError> {
        let preferences = &self.settings.preferences;
        let mut snapshot = reading::snapshot(self.effects.files(), Extent::Active(&self.settings.scope));
        // The documents for the next decision do not include a unit of a slice that counts as done.
        let unit = self.memory.unit().or(self.settings.asked.as_ref().filter(|_| self.units == 0));
        if let Some((milestone, Some(slice), Some(_))) = unit.map(Unit::parts)
            && snapshot.detail(milestone, slice).is_none()
        {
            snapshot = reading::snapshot(self.effects.files(), Extent::All);
        }
        let state = derive(&snapshot, &self.settings.scope, preferences);
        let is_completing = state.phase == Phase::CompletingMilestone && !self.settings.allows_planning_only;
        let active = state.milestone.as_ref().filter(|_| is_completing).map(|milestone| milestone.id.clone());
        let has_implementation = match active {
            Some(milestone) => self.effects.has_implementation(&milestone)?,
            None => None,
        };
        let facts = OutsideFacts {
            has_implementation,
            last_slice_has_no_uat: self.settings.last_slice_has_no_uat,
            reassesses_last: self.settings.reassesses_last,
            has_brief: self.memory.run.as_ref().is_some_and(|run| run.brief.is_some()),
        };
        let look = Look { snapshot: &snapshot, state: &state, preferences, memory: &self.memory, facts };
        let position = position::of(&look, self.memory.unit());
        Ok((LayoutDocuments::Milestones(Box::new(snapshot)), position))
    }

    /// Records what changed while no session ran, before any of it is read.
    fn note_edits(&mut self) -> Result<(), EngineError> {
        let memory = &self.memory;
        let is_between = memory.current.is_none() && memory.committing.is_none() && memory.taking_back.is_none();
        let is_between = is_between && memory.hooking.is_none();
        let is_over = memory.stop.is_some() || memory.candidate.is_some() || memory.landed.is_some();
        if !is_between || is_over || memory.is_uncommitted {
            return Ok(());
        }
        let Some(run) = &memory.run else { return Ok(()) };
        let known = memory.known.clone().unwrap_or_else(|| run.base.clone());
        let tree = self.effects.tree()?;
        if known == tree {
            return Ok(());
        }
        let paths = self.effects.changed(&known, &tree)?;
        if paths.is_empty() { Ok(()) } else { self.note(Event::Edited { tree, paths }) }
    }

    fn is_unsaved(&mut self) -> Result<bool, EngineError> {
        let (head, tree) = (self.effects.head()?, self.effects.tree()?);
        Ok(!self.effects.changed(&head, &tree)?.is_empty())
    }

    pub(super) fn situation<'b>(&'b self, reading: &'b StateReading) -> Situation<'b> {
        Situation {
            position: &reading.position,
            memory: &self.memory,
            is_unsaved: reading.is_unsaved,
            needs_baseline: !self.memory.has_baseline,
            check_retries: self.settings.preferences.verification_retries,
            can_resume: self.effects.can_resume(),
            has_held_out: self.effects.has_held_out(),
        }
    }

    /// Returns the stop if a person asked for an end or the number of units is reached. It takes effect between two
    /// units, unless it is urgent.
    fn asked(&mut self) -> Result<Option<Stop>, EngineError> {
        if self.memory.stop.is_some() {
            return Ok(None);
        }
        // A session that a person interrupted is judged first: else the next call would begin with that.
        if self.memory.current.as_ref().is_some_and(|operation| operation.stage == OperationStage::Ended) {
            return Ok(None);
        }
        if let Some(request) = self.effects.urgent()? {
            let unit = self.memory.current.as_ref().map(|operation| format!("in {}", operation.start.unit));
            return Ok(Some(requested(request, unit.as_deref().unwrap_or("between two units"))));
        }
        if self.memory.current.is_some() {
            return Ok(None);
        }
        if let Some(request) = self.effects.requested()? {
            return Ok(Some(requested(request, "between two units")));
        }
        let is_enough = self.settings.most_units.is_some_and(|most| self.units >= most) && !self.memory.is_uncommitted;
        Ok(is_enough.then(|| {
            Stop::new(
                Cause::UnitsDone,
                format!("{} done", counted(usize::try_from(self.units).unwrap_or(usize::MAX), "unit")),
                "gsd-tools auto run",
            )
        }))
    }

    /// Writes the orders of a person to the documents, between two units: a unit in progress may change only its own
    /// files.
    fn follow_orders(&mut self) -> Result<(), EngineError> {
        if self.memory.landed.is_some() {
            return self.refuse_orders();
        }
        // A write before a session is taken back would be taken back with it.
        let is_between = self.memory.current.is_none() && self.memory.taking_back.is_none();
        if !is_between || self.memory.committing.is_some() || self.memory.hooking.is_some() {
            return Ok(());
        }
        for (id, order) in self.effects.orders()? {
            if !self.memory.orders.contains(&id) {
                self.bring_back(&order)?;
                let refused = match orders::changes(self.effects.files(), &order)? {
                    Ok(changes) => {
                        for change in changes {
                            match change {
                                OrderedChange::Write { path, text } => self.effects.write(&[Edit { path, text }])?,
                                OrderedChange::Remove(path) => self.effects.remove(&path)?,
                            }
                        }
                        None
                    }
                    Err(error) => Some(format!("{error}; {}", error.hint())),
                };
                self.note(Event::Ordered { id: id.clone(), order, refused })?;
            }
            self.effects.forget_order(&id)?;
        }
        Ok(())
    }

    /// Restores the work of a task's last attempt, which was taken back, if a person says that the task passed. It
    /// keeps changes that a person made since then.
    fn bring_back(&mut self, order: &Order) -> Result<(), EngineError> {
        let Wish::Verdict { id, passed: true, .. } = &order.wish else { return Ok(()) };
        let Some(kept) = self.memory.kept_of_task(id).cloned() else { return Ok(()) };
        if self.memory.known.as_ref() == Some(&self.effects.tree()?) {
            self.effects.restore(&kept.tree)?;
        }
        Ok(())
    }

    /// Refuses orders that arrived after the landing.
    fn refuse_orders(&mut self) -> Result<(), EngineError> {
        for (id, order) in self.effects.orders()? {
            if !self.memory.orders.contains(&id) {
                let milestone = self.memory.run.as_ref().map(|run| run.milestone.as_str()).unwrap_or_default();
                let refused = Some(format!("{milestone} had landed before"));
                self.note(Event::Ordered { id: id.clone(), order, refused })?;
            }
            self.effects.forget_order(&id)?;
        }
        Ok(())
    }

    /// Records an event in the log and in memory, and sends the message about it that a person wants.
    pub(super) fn note(&mut self, event: Event) -> Result<(), EngineError> {
        self.record(event)?;
        self.announce()
    }

    pub(super) fn record(&mut self, event: Event) -> Result<(), EngineError> {
        let entry = Entry::new(self.effects.now(), event);
        self.effects.append(&entry)?;
        self.memory.add(&entry);
        Ok(())
    }

    pub(super) fn write(&mut self, edits: &[Edit]) -> Result<(), EngineError> {
        if edits.is_empty() { Ok(()) } else { self.effects.write(edits) }
    }
}

/// Returns the stop that a person requested.
pub(super) fn requested(request: ControlRequest, place: &str) -> Stop {
    let (cause, text) = match request {
        ControlRequest::Pause => (Cause::Paused, "paused"),
        ControlRequest::Stop => (Cause::Stopped, "stopped"),
    };
    Stop::new(cause, format!("{text} {place}"), "gsd-tools auto run")
}
