//! Performs and records one step.

use super::drive::{Drive, StateReading};
use super::{Earlier, Effects, EngineError, LandingOutcome, Merge, Prompted, Session};
use crate::auto::ceilings::Spend;
use crate::auto::decide::{Judgement, Step, judge, would_run};
use crate::auto::event::{
    CheckedTree, Event, HeldOutRun, LandingMode, Mechanical, Refusal, SessionVerdict, UnitEnded, UnitStarted, Vector,
};
use crate::auto::memory::{Operation, OperationStage};
use crate::auto::permit;
use crate::auto::slices::record;
use crate::auto::stop::{Cause, Stop};
use crate::auto::unit::{Class, Unit};
use crate::auto::unit_hooks;
use crate::gate::secrets::{self, SecretFound};

/// The most files changed by an earlier session that are listed for an agent.
const MOST_CHANGED: usize = 50;

impl<E: Effects> Drive<'_, E> {
    /// Performs one step. A stop ends the call.
    pub(super) fn perform(&mut self, reading: &StateReading, step: Step) -> Result<Option<Stop>, EngineError> {
        match step {
            Step::Launch { unit, attempt, resumes, .. } => {
                if let Some(end) = self.lacks_variables(reading, &unit)? {
                    return self.stop(end).map(Some);
                }
                if self.memory.current.is_none() {
                    if self.skips_session(&unit)? {
                        return Ok(None);
                    }
                    let settings = self.settings;
                    if let Some(hook) = unit_hooks::command_before(&settings.preferences, &self.memory, &unit) {
                        return self.command(hook, &unit);
                    }
                }
                self.launch(reading, unit, attempt, resumes.as_deref())?;
            }
            Step::Hook => return self.hook(),
            Step::Sweep => self.sweep()?,
            Step::Judge => return self.judge(reading),
            Step::Baseline => self.baseline()?,
            Step::Check => self.check()?,
            Step::Settle => self.settle()?,
            Step::Refuse { why, text, vector } => self.refuse(why, text, vector)?,
            Step::TakeBack(start) => self.take_back(&start)?,
            Step::Mechanical(step) => self.mechanical(step)?,
            Step::Commit => self.commit(reading)?,
            Step::MakeCandidate => return self.make_candidate(reading),
            Step::CheckCandidate => self.check_candidate()?,
            Step::HeldOut(place) => self.held_out(place)?,
            Step::Review => return self.review(),
            Step::LookAtRequest => self.look_at_request()?,
            Step::Propose => return self.propose(),
            Step::Land => return self.land(),
            Step::Release => return self.release(),
            Step::Wait { until, .. } => {
                self.effects.wait(until)?;
                if let Some(request) = self.effects.requested()? {
                    return self.stop(super::drive::requested(request, "while waiting")).map(Some);
                }
            }
            Step::EndWait => self.note(Event::HoldEnded)?,
            Step::Stop(end) => return self.stop(end).map(Some),
        }
        Ok(None)
    }

    pub(super) fn stop(&mut self, stop: Stop) -> Result<Stop, EngineError> {
        if self.memory.stop.is_none() {
            self.note(Event::Stopped(stop.clone()))?;
        }
        Ok(stop)
    }

    /// Returns the end of the run if its next session needs variables that are not set.
    fn lacks_variables(&self, reading: &StateReading, unit: &Unit) -> Result<Option<Stop>, EngineError> {
        let Some((path, mut names)) = reading.documents.variables(self.effects.files(), unit)? else { return Ok(None) };
        names.retain(|name| !self.effects.has_variable(name));
        if names.is_empty() {
            return Ok(None);
        }
        let shown = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let text = format!(
            "{unit} needs {shown}, which `{path}` names and the environment does not have; set it, then run again"
        );
        Ok(Some(Stop::new(Cause::SecretsMissing, text, "gsd-tools auto run").shown(names)))
    }

    fn launch(
        &mut self,
        reading: &StateReading,
        unit: Unit,
        attempt: u32,
        resumes: Option<&str>,
    ) -> Result<(), EngineError> {
        self.effects.prepare(&unit)?;
        let attempts = self.memory.attempts(&unit);
        let interrupted = if resumes.is_none() { self.left_by_interrupted()? } else { None };
        let failure = attempts.refused.last().map(|refused| refused.text.as_str());
        let kept = attempts.kept.as_ref().map(|kept| kept.reference.as_str());
        let earlier = Earlier { failure, kept, interrupted: interrupted.as_deref() };
        let Prompted { text: prompt, permits } = self.effects.prompt(&unit, attempt, earlier)?;
        let prompt = unit_hooks::around(&self.settings.preferences, &unit, prompt);
        let identity = self.effects.identity()?;
        let tree = match &self.memory.current {
            // A continued session is compared with the tree at the start of its unit.
            Some(operation) => operation.start.tree.clone(),
            None => self.effects.tree()?,
        };
        let head = match &self.memory.current {
            Some(operation) => operation.start.head.clone(),
            None if self.settings.layout.lets_agents_commit() => Some(self.effects.head()?),
            None => None,
        };
        // A continued session may write what the prompt at the start of its unit allowed.
        let (may_write, fixed) = match &self.memory.current {
            Some(operation) => (operation.start.may_write.clone(), operation.start.fixed.clone()),
            None => (Some(permits), reading.documents.fixed(&unit)),
        };
        let pins = if attempts.pins.is_some() { None } else { self.effects.pins(&unit, &tree, &self.memory)? };
        let used = attempts.output;
        let ceiling = self.memory.ceilings.unit(reading.documents.estimate(&unit)).after(used);
        let budget = self.memory.ceilings.rest(&self.memory.spent);
        let operation = self.memory.operations + 1;
        let session = resumes.map_or(identity.session, str::to_owned);
        let start = UnitStarted {
            operation,
            unit: unit.clone(),
            attempt,
            session: session.clone(),
            resumed: resumes.is_some(),
            mark: identity.mark.clone(),
            tree: tree.clone(),
            head,
            may_write,
            fixed,
            reserved: Spend { sessions: 1, tokens: ceiling.tokens(), money: Some(budget) },
            pins,
            prompt: crate::project::files::sha256(prompt.as_bytes()),
            prompt_bytes: prompt.len(),
        };
        self.note(Event::UnitStarted(start))?;
        let mark = identity.mark;
        let resumes = resumes.is_some();
        let session = Session { operation, unit, attempt, id: session, resumes, mark, prompt, ceiling, budget };
        let mut ended: UnitEnded = self.effects.run(&session)?;
        ended.tree = self.effects.tree()?;
        ended.changed = self.effects.changed(&tree, &ended.tree)?;
        self.note(Event::UnitEnded(ended))
    }

    /// Lists the files that an interrupted session changed which will not be continued.
    fn left_by_interrupted(&mut self) -> Result<Option<String>, EngineError> {
        let Some(before) = self.memory.current.as_ref().map(|operation| operation.start.tree.clone()) else {
            return Ok(None);
        };
        let now = self.effects.tree()?;
        let changed = self.effects.changed(&before, &now)?;
        let mut lines: Vec<String> = changed.iter().take(MOST_CHANGED).map(|path| format!("- {path}")).collect();
        let more = changed.len().saturating_sub(MOST_CHANGED);
        lines.extend((more > 0).then(|| format!("- and {more} more")));
        Ok((!lines.is_empty()).then(|| format!("It had changed:\n{}", lines.join("\n"))))
    }

    fn current(&self) -> Result<Operation, EngineError> {
        self.memory.current.clone().ok_or_else(|| EngineError::new("the log has no unfinished operation"))
    }

    fn sweep(&mut self) -> Result<(), EngineError> {
        let operation = self.current()?;
        let heard = self.effects.sweep(&operation.start)?;
        self.note(Event::Interrupted { operation: operation.start.operation, heard })
    }

    fn judge(&mut self, reading: &StateReading) -> Result<Option<Stop>, EngineError> {
        let operation = self.current()?;
        let number = operation.start.operation;
        let Some(ended) = operation.ended.clone() else { return Ok(None) };
        if let Some(start) = &operation.start.head
            && let Some(text) = self.effects.strayed(start)?
        {
            return self.refuse_work(Refusal::Outside, text, &ended.tree, Vec::new());
        }
        let trespasses = self.trespasses(&operation, &ended)?;
        if trespasses.iter().any(|trespass| trespass.decides) {
            let text = format!("{} may not change {}", operation.start.unit.kind.word(), permit::named(&trespasses));
            return self.refuse_work(Refusal::Outside, text, &ended.tree, Vec::new());
        }
        if !trespasses.is_empty() {
            let paths: Vec<String> = trespasses.iter().map(|trespass| trespass.path.clone()).collect();
            let (tree, kept) = self.effects.put_back(&operation.start.tree, &ended.tree, &paths)?;
            self.note(Event::PutBack { operation: number, trespasses, tree, kept })?;
            return Ok(None);
        }
        if ended.verdict == SessionVerdict::Ran
            && let Some(text) = self.unfit_documents(&operation, &ended.changed, reading.position.planning)?
        {
            let missing = vec![text.clone()];
            return self.refuse_work(Refusal::Artifact, text, &ended.tree, missing);
        }
        let links = match operation.start.unit.kind.class() {
            Class::Work if ended.verdict == SessionVerdict::Ran => {
                self.effects.links_out(&operation.start.tree, &ended.tree)?
            }
            // No plan names these files, and some documents are instructions for clients.
            Class::Documents if ended.verdict == SessionVerdict::Ran => {
                self.effects.running(&operation.start.tree, &ended.tree)?
            }
            _ => Vec::new(),
        };
        if !links.is_empty() {
            return self.refuse_work(Refusal::Outside, links.join("; "), &ended.tree, Vec::new());
        }
        let now = self.effects.now().wall;
        match judge(&self.situation(reading), &operation, &ended, now) {
            Judgement::Accept => {
                if let Some(text) = self.effects.hidden_work(&operation.start.unit)? {
                    let missing = vec![text.clone()];
                    return self.refuse_work(Refusal::Hidden, text, &ended.tree, missing);
                }
                // Refused work stays, so secrets that earlier attempts added count as well.
                let base = self.memory.attempts(&operation.start.unit).base;
                let secrets = self.secrets(base.as_deref().unwrap_or(&operation.start.tree), &ended.tree)?;
                if secrets.is_empty() {
                    // The box is ticked here, no matter what closed the slice.
                    let edits = record::closing(self.effects.files(), &operation.start.unit)?;
                    self.write(&edits)?;
                    let roadmap = self.replanned(&operation, &ended)?;
                    self.note(Event::Accepted { operation: number, roadmap })?;
                } else {
                    let failing = secrets.iter().map(|secret| secret.path.clone()).collect();
                    let vector = Vector { tree: ended.tree.clone(), failing, missing: Vec::new() };
                    self.refuse(Refusal::Secret, secrets::report(&secrets), vector)?;
                }
            }
            Judgement::Refuse { why, text, vector } => self.refuse(why, text, vector)?,
            Judgement::Hold { until, why } => self.note(Event::Held { until, why, operation: Some(number) })?,
            Judgement::Continue => self.note(Event::CutShort { operation: number })?,
            Judgement::SetAside(stop) => {
                self.note(Event::SetAside { operation: number })?;
                return self.stop(stop).map(Some);
            }
        }
        Ok(None)
    }

    /// Returns the keys that would be committed, except those that a person allows.
    fn secrets(&mut self, before: &str, after: &str) -> Result<Vec<SecretFound>, EngineError> {
        Ok(secrets::not_allowed(self.effects.added_secrets(before, after)?, &self.memory.allowed_keys))
    }

    /// Refuses the attempt. Its changes are kept and taken back, so that nothing reads them. A session that asks a
    /// person leaves its question and continues from there.
    fn refuse(&mut self, why: Refusal, text: String, vector: Vector) -> Result<(), EngineError> {
        let operation = self.current()?.start.operation;
        let takes_back = why != Refusal::Question;
        self.note(Event::Refused { operation, why, text, vector, takes_back })
    }

    /// Refuses the work of a session, with everything that is wrong with it.
    fn refuse_work(
        &mut self,
        why: Refusal,
        text: String,
        tree: &str,
        missing: Vec<String>,
    ) -> Result<Option<Stop>, EngineError> {
        self.refuse(why, text, Vector { tree: tree.to_owned(), failing: Vec::new(), missing })?;
        Ok(None)
    }

    fn take_back(&mut self, start: &UnitStarted) -> Result<(), EngineError> {
        let kept = self.effects.take_back(start.operation, &start.tree, start.head.as_deref())?;
        self.note(Event::Restored { operation: start.operation, tree: start.tree.clone(), kept })
    }

    fn baseline(&mut self) -> Result<(), EngineError> {
        let evidence = match self.memory.run.clone() {
            Some(run) => self.effects.baseline(&run)?,
            None => Some(CheckedTree::default()),
        };
        match evidence {
            Some(evidence) => self.note(Event::Baseline { evidence }),
            None => Ok(()),
        }
    }

    fn check(&mut self) -> Result<(), EngineError> {
        let operation = self.current()?;
        match self.effects.check(&operation, &self.memory)? {
            Some(evidence) => self.note(Event::Checked { operation: operation.start.operation, evidence }),
            None => Ok(()),
        }
    }

    fn settle(&mut self) -> Result<(), EngineError> {
        let operation = self.current()?;
        let OperationStage::Checked(evidence) = &operation.stage else { return Ok(()) };
        let attempts = self.memory.attempts(&operation.start.unit);
        let edits =
            record::evidence(self.effects.files(), &operation, evidence, &attempts, &self.settings.preferences)?;
        self.write(&edits)?;
        self.note(Event::Settled { operation: operation.start.operation })
    }

    fn mechanical(&mut self, step: Mechanical) -> Result<(), EngineError> {
        let is_last = matches!(step, Mechanical::CompleteMilestone { .. });
        let before = if is_last { self.requirements_before()? } else { None };
        let settings = self.settings;
        let done = settings.layout.mechanical(self.effects, &step, &settings.preferences, before)?;
        let fallback = match done {
            // Without this, the documents would lead to the same step forever.
            Ok(edits) if edits.is_empty() => Some("the documents have all that it would write".to_owned()),
            Ok(edits) => {
                for edit in &edits {
                    self.write(std::slice::from_ref(edit))?;
                }
                None
            }
            Err(reason) => Some(reason),
        };
        self.note(Event::Mechanical { step, fallback })
    }

    /// Returns the requirements as they were when the run started.
    fn requirements_before(&mut self) -> Result<Option<String>, EngineError> {
        let Some(run) = &self.memory.run else { return Ok(None) };
        match record::requirements_path(self.effects.files())? {
            Some(path) => self.effects.text_at(&run.base, &path),
            None => Ok(None),
        }
    }

    fn commit(&mut self, reading: &StateReading) -> Result<(), EngineError> {
        let committing = if let Some(committing) = self.memory.committing.clone() {
            committing
        } else {
            let operation = self.memory.current.as_ref();
            let message = reading.documents.message(self.effects.files(), operation)?;
            let number = operation.map(|operation| operation.start.operation);
            let (parent, tree) = (self.effects.head()?, self.effects.tree()?);
            self.note(Event::Committing { operation: number, parent, tree, message })?;
            let Some(committing) = self.memory.committing.clone() else { return Ok(()) };
            committing
        };
        let commit = self.effects.commit(&committing)?;
        self.units += u32::from(committing.operation.is_some());
        self.note(Event::Committed { operation: committing.operation, commit })
    }

    fn make_candidate(&mut self, reading: &StateReading) -> Result<Option<Stop>, EngineError> {
        let Some(run) = self.memory.run.clone() else { return Ok(None) };
        if self.takes_up_waiting(&run.milestone)? {
            return Ok(None);
        }
        let message = reading.documents.landing_message(self.effects.files(), &run)?;
        let at = self.effects.now().wall;
        match self.effects.make_candidate(&message, at)? {
            Merge::Made { base, head, tree, commit } => {
                self.note(Event::Candidate { milestone: run.milestone, base, head, tree, commit })?;
                Ok(None)
            }
            Merge::Nothing { base } => {
                self.note(Event::Landed { milestone: run.milestone, commit: base, proof: None })?;
                Ok(None)
            }
            Merge::Refused(stop) => self.stop(stop).map(Some),
        }
    }

    fn check_candidate(&mut self) -> Result<(), EngineError> {
        let Some(candidate) = self.memory.candidate.clone() else { return Ok(()) };
        let secrets = self.secrets(&candidate.base, &candidate.commit)?;
        if !secrets.is_empty() {
            let failure = secrets::report(&secrets);
            let evidence = CheckedTree { tree: candidate.tree, failure, secrets, ..CheckedTree::default() };
            return self.note(Event::CandidateChecked { commit: candidate.commit, evidence });
        }
        let links = self.effects.links_out(&candidate.base, &candidate.commit)?;
        if !links.is_empty() {
            let evidence = CheckedTree { tree: candidate.tree, failure: links.join("\n"), ..CheckedTree::default() };
            return self.note(Event::CandidateChecked { commit: candidate.commit, evidence });
        }
        match self.effects.check_candidate(&candidate, &self.memory)? {
            Some(evidence) => self.note(Event::CandidateChecked { commit: candidate.commit, evidence }),
            None => Ok(()),
        }
    }

    /// Runs the check that sessions cannot read, on the current work or on the candidate.
    fn held_out(&mut self, place: String) -> Result<(), EngineError> {
        let candidate = self.memory.candidate.as_ref().map(|candidate| candidate.commit.clone());
        let current = self.memory.current.as_ref();
        let (operation, mark) = (current.map(|it| it.start.operation), current.map(|it| it.start.mark.clone()));
        match self.effects.held_out(candidate.as_deref(), mark.as_deref())? {
            Some(result) => self.note(Event::HeldOut(HeldOutRun { place, operation, result })),
            None => Ok(()),
        }
    }

    fn land(&mut self) -> Result<Option<Stop>, EngineError> {
        let (Some(candidate), Some(run)) = (self.memory.candidate.clone(), self.memory.run.clone()) else {
            return Ok(None);
        };
        match self.effects.land(&candidate)? {
            LandingOutcome::Landed => {
                let proof = self.effects.prove(&self.memory)?;
                self.note(Event::Landed { milestone: run.milestone, commit: candidate.commit, proof })?;
                Ok(None)
            }
            LandingOutcome::Moved { target } => {
                self.note(Event::Outdated { commit: candidate.commit, target })?;
                Ok(None)
            }
            LandingOutcome::Refused(mut stop) => {
                stop.evidence.extend(would_run(&self.memory));
                if self.memory.mode() == Some(LandingMode::Ask) {
                    stop.next = "gsd-tools auto land".into();
                }
                self.stop(stop).map(Some)
            }
        }
    }

    fn release(&mut self) -> Result<Option<Stop>, EngineError> {
        let (Some(landed), Some(run)) = (self.memory.landed.clone(), self.memory.run.clone()) else { return Ok(None) };
        match self.effects.release(&landed)? {
            None => {
                self.note(Event::Released { milestone: run.milestone })?;
                Ok(None)
            }
            Some(stop) => self.stop(stop).map(Some),
        }
    }
}
