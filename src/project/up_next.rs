//! The next step in a project, decided in one place for everything that shows a next command.

use super::acceptance::OpenAcceptance;
use super::deferred_checks;
use super::files::FileError;
use super::folder::{PhaseFolder, canonical_id, plan_id};
use super::label::PhaseLabel;
use super::milestone::milestone_headings;
use super::pause::Pause;
use super::phase::short;
use super::scope::{PhaseScope, Unseen};
use super::standing::{self, NextStep, PhaseStanding, first_few};
use super::state::index::Sources;
use super::state::{State, is_awaiting_milestone};
use super::verification::VerificationState;
use super::view::ProjectView;
use crate::text::front_matter::FrontMatter;
use crate::text::screen::counted;

/// The next step; the first case that applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum UpNext {
    NoRoadmap,
    /// The project exists, and its next milestone has no roadmap yet.
    NoMilestone,
    NoState,
    Paused(Pause),
    /// A closed phase has an unfinished acceptance test, and no plan is left to execute.
    Accept(OpenAcceptance),
    Phase(PhaseNext),
    /// The phase of the first check that was deferred until the milestone is done.
    Deferred(String),
    NoPhases,
    /// No phase that was seen is open, but there may be more phases.
    Unseen(Unseen),
    /// Every phase is complete, and the milestone of this version is not archived yet.
    MilestoneDone(MilestoneEnd),
    MilestoneArchived(String),
}

/// A milestone whose phases are complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MilestoneEnd {
    pub(crate) version: Option<String>,
    pub(crate) audit: Audit,
}

/// The state of a milestone's audit, which comes before its completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Audit {
    Missing,
    /// A phase was verified after it.
    Outdated,
    /// It found gaps.
    Failed,
    /// It found nothing that keeps the milestone open.
    Passed,
}

/// What to type: one of our commands in the host, by its name, or a call of this program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NextCall {
    Host { name: &'static str, arguments: String },
    Program(String),
}

impl NextCall {
    pub(crate) fn host(name: &'static str, arguments: impl Into<String>) -> Self {
        Self::Host { name, arguments: arguments.into() }
    }

    /// The call as a person types it: `spelled` turns the name of a command into the host's spelling.
    pub(crate) fn typed(&self, spelled: impl Fn(&str) -> String) -> String {
        match self {
            Self::Host { name, arguments } if arguments.is_empty() => spelled(name),
            Self::Host { name, arguments } => format!("{} {arguments}", spelled(name)),
            Self::Program(call) => call.clone(),
        }
    }
}

/// The next phase, and the next step for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PhaseNext {
    pub(crate) step: NextStep,
    /// The phase number as people write it.
    pub(crate) number: String,
    pub(crate) name: Option<String>,
    /// The plans that are not done, such as `02-02`.
    open_plans: Vec<String>,
    /// The open part of its acceptance test, once its plans are done.
    acceptance: Option<OpenAcceptance>,
    /// It has no verification report.
    is_unverified: bool,
}

/// The current phase: the one in STATE.md while something is left to do for it, then the first open one.
pub(crate) fn current_phase(view: &ProjectView) -> Result<Option<String>, FileError> {
    let said = |state: &State<'_>| Sources::of(state).get("current_phase").map(str::to_owned);
    let stated = view.state()?.and_then(|state| state.front_phase().or_else(|| said(state)));
    let Some(stated) = stated else { return Ok(None) };
    if is_to_be_verified(view, &stated)? {
        return Ok(Some(stated));
    }
    let moved_on = standing::moved_on(view, &stated)?;
    Ok(Some(moved_on.map_or(stated, |phase| phase.number)))
}

/// Whether STATE.md reports that its current phase waits for verification and that is true, no matter who ticked it. A
/// reopened earlier phase then has to wait.
fn is_to_be_verified(view: &ProjectView, stated: &str) -> Result<bool, FileError> {
    let status = view.state()?.and_then(|state| state.front_text("status"));
    if status.as_deref() != Some("verifying") {
        return Ok(false);
    }
    let folder = view.find_phase(stated)?.folder.filter(|folder| folder.archived.is_none());
    let standing = PhaseStanding::of(view, stated, folder.as_ref())?;
    let waits = matches!(standing.verification.state, VerificationState::Missing);
    Ok(standing.work.closed && standing.work.is_executed() && waits)
}

/// The current phase, or the first open phase of the milestone if STATE.md names none.
pub(crate) fn phase_at_work(view: &ProjectView) -> Result<Option<String>, FileError> {
    Ok(match current_phase(view)? {
        Some(current) => Some(current),
        None => standing::first_open(view, None)?.map(|label| label.number),
    })
}

impl UpNext {
    /// Decides the next step. If phases are planned without a discussion, a phase without a CONTEXT.md is planned.
    pub(crate) fn of(view: &ProjectView, skips_discussion: bool) -> Result<Self, FileError> {
        let Some(roadmap) = view.roadmap()? else {
            return Ok(if has_project(view)? { Self::NoMilestone } else { Self::NoRoadmap });
        };
        if view.state()?.is_none() {
            return Ok(Self::NoState);
        }
        if let Some(pause) = Pause::of(view)? {
            return Ok(Self::Paused(pause));
        }
        let folders = view.milestone_folders()?;
        let mut has_plan_to_do = false;
        for folder in &folders {
            has_plan_to_do |= !view.plans_to_do(folder)?.is_empty();
        }
        let mut open = if has_plan_to_do { Vec::new() } else { view.open_acceptances()? };
        // Deferred checks wait until the milestone is done.
        open.retain(|open| !open.is_deferred);
        if let Some(open) = open.into_iter().next() {
            return Ok(Self::Accept(open));
        }
        if let Some(next) = PhaseNext::of(view, skips_discussion)? {
            return Ok(Self::Phase(next));
        }
        let milestone = view.milestone()?;
        let is_shipped = is_shipped(view)?;
        let scope = PhaseScope::of(view, &milestone)?;
        let unseen = scope.unseen.or(scope.fewer);
        if let Some(unseen) = unseen.filter(|unseen| !is_shipped || unseen.is_unreadable()) {
            return Ok(Self::Unseen(unseen));
        }
        if let Some(check) = deferred_checks::deferred_in(view, &folders)?.first() {
            return Ok(Self::Deferred(view.label(&check.phase)?.number));
        }
        Ok(match milestone.version.clone() {
            Some(version) if is_shipped => Self::MilestoneArchived(version),
            _ if milestone.phase_ids(roadmap).is_empty() && folders.is_empty() => Self::NoPhases,
            version => {
                Self::MilestoneDone(MilestoneEnd { audit: Audit::of(view, version.as_deref(), &folders)?, version })
            }
        })
    }

    /// The next step of a phase, if a phase is next.
    pub(crate) fn phase(&self) -> Option<&PhaseNext> {
        match self {
            Self::Phase(next) => Some(next),
            _ => None,
        }
    }

    /// The call for this step; of several commands, the first that is installed.
    pub(crate) fn call(&self, is_installed: impl Fn(&str) -> bool) -> NextCall {
        let first = |names: &[&'static str]| {
            NextCall::host(names.iter().copied().find(|name| is_installed(name)).unwrap_or("progress"), "")
        };
        match self {
            Self::NoRoadmap => NextCall::host("new-project", ""),
            Self::NoState => NextCall::Program("gsd-tools state rebuild".to_owned()),
            Self::Paused(_) => first(&["resume-work"]),
            Self::Accept(OpenAcceptance { phase, .. }) | Self::Deferred(phase) => {
                NextCall::host("verify-work", short(phase))
            }
            Self::Phase(next) => next.call(),
            Self::NoPhases => first(&[]),
            Self::Unseen(_) => NextCall::Program("gsd-tools roadmap validate".to_owned()),
            Self::MilestoneDone(MilestoneEnd { audit: Audit::Passed, .. }) => first(&["complete-milestone"]),
            Self::MilestoneDone(_) => first(&["audit-milestone", "complete-milestone"]),
            Self::NoMilestone | Self::MilestoneArchived(_) => first(&["new-milestone"]),
        }
    }

    /// As [`Self::call`], as a person types it.
    #[cfg(test)]
    pub(crate) fn command(&self, spelled: impl Fn(&str) -> String, is_installed: impl Fn(&str) -> bool) -> String {
        self.call(is_installed).typed(spelled)
    }

    /// Why this step is next, in a sentence.
    pub(crate) fn why(&self) -> String {
        match self {
            Self::NoRoadmap => "There is no ROADMAP.md yet".to_owned(),
            Self::NoMilestone => "There is no ROADMAP.md of a milestone yet".to_owned(),
            Self::NoState => "STATE.md is missing; ROADMAP.md and the phase folders give a new one".to_owned(),
            Self::Paused(pause) => pause.why(),
            Self::Accept(open) => unfinished_test(&format!("phase {}", short(&open.phase)), open),
            Self::Phase(next) => next.why(),
            Self::Deferred(phase) => format!("A deferred check of phase {} is not finished", short(phase)),
            Self::NoPhases => "ROADMAP.md has no phases yet".to_owned(),
            Self::Unseen(unseen) => format!("What is left cannot be determined: {unseen}; {}", unseen.cure()),
            Self::MilestoneDone(end) => end.why(),
            Self::MilestoneArchived(version) => {
                format!("Milestone {version} is complete and archived: start the next one, or add a phase")
            }
        }
    }
}

impl PhaseNext {
    /// The next step of the current phase; `None` if nothing is left to do.
    fn of(view: &ProjectView, skips_discussion: bool) -> Result<Option<Self>, FileError> {
        let Some(typed) = phase_at_work(view)? else { return Ok(None) };
        let folder = view.find_phase(&typed)?.folder;
        // After the end of a milestone, the position may name a phase that does not exist any more.
        if folder.is_none() && !view.is_listed(&typed)? && is_said_over(view)? {
            return Ok(None);
        }
        let standing = PhaseStanding::of(view, &typed, folder.as_ref())?;
        let step = match standing.next_step(skips_discussion) {
            Some(step) => step,
            None if is_to_be_verified(view, &typed)? => NextStep::Verify,
            None => return Ok(None),
        };
        let is_unverified = standing.verification.state == VerificationState::Missing;
        let acceptance = match &folder {
            Some(folder) if standing.work.is_executed() => view.open_acceptance(folder)?,
            _ => None,
        };
        let step = if acceptance.is_some() { NextStep::Verify } else { step };
        let PhaseLabel { number, name } = view.label(&typed)?;
        let open_plans = standing.work.open_plans.iter().map(|plan| canonical_id(plan_id(plan)).to_owned()).collect();
        Ok(Some(Self { step, number: short(&number).to_owned(), name, open_plans, acceptance, is_unverified }))
    }

    /// Whether its acceptance test has begun but is not finished.
    pub(crate) fn is_in_acceptance(&self) -> bool {
        self.acceptance.is_some()
    }

    fn call(&self) -> NextCall {
        let (name, flag) = match self.step {
            NextStep::Discuss => ("discuss-phase", ""),
            NextStep::Plan => ("plan-phase", ""),
            NextStep::PlanGaps => ("plan-phase", " --gaps"),
            // Executing an executed phase verifies and closes it.
            NextStep::Execute | NextStep::Close => ("execute-phase", ""),
            NextStep::Verify => ("verify-work", ""),
        };
        NextCall::host(name, format!("{}{flag}", self.number))
    }

    fn why(&self) -> String {
        let phase = match &self.name {
            Some(name) => format!("{} ({name})", self.number),
            None => self.number.clone(),
        };
        if let Some(open) = &self.acceptance {
            return unfinished_test(&format!("phase {phase}"), open);
        }
        match self.step {
            NextStep::Discuss => format!("Phase {phase} has not been discussed yet"),
            NextStep::Plan => format!("Phase {phase} has no plans yet"),
            NextStep::PlanGaps => format!("The verification of phase {phase} found gaps"),
            NextStep::Execute if self.open_plans.is_empty() => {
                format!("Phase {phase} is executed and not verified yet; this verifies it")
            }
            NextStep::Execute => {
                let plans = counted(self.open_plans.len(), "plan");
                format!("Phase {phase} has {plans} to execute: {}", first_few(&self.open_plans))
            }
            NextStep::Verify if self.is_unverified => format!("Phase {phase} is executed and not verified yet"),
            NextStep::Verify => format!("Phase {phase} has checks that a person has to make"),
            NextStep::Close => format!("Phase {phase} is verified; this closes it"),
        }
    }
}

impl MilestoneEnd {
    fn why(&self) -> String {
        let of = self.version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
        match self.audit {
            Audit::Missing => format!("All phases are complete: audit milestone{of}, then complete it, or add a phase"),
            Audit::Outdated => format!("A phase was verified after the audit of milestone{of}: audit it again"),
            Audit::Failed => format!("The audit of milestone{of} found gaps: close them, then audit it again"),
            Audit::Passed => format!("All phases are complete: complete milestone{of}, or add a phase"),
        }
    }
}

impl Audit {
    /// The audit of the milestone with this version, whose phases have these folders.
    fn of(view: &ProjectView, version: Option<&str>, folders: &[PhaseFolder]) -> Result<Self, FileError> {
        let Some(version) = version else { return Ok(Self::Missing) };
        let Some(text) = view.text(&view.layout().milestone_audit(version))? else { return Ok(Self::Missing) };
        let front = FrontMatter::parse(&text);
        let said = |key: &str| front.as_ref().and_then(|front| front.text(key));
        if !matches!(said("status").as_deref(), Some("passed" | "tech_debt")) {
            return Ok(Self::Failed);
        }
        let Some(audited) = said("audited") else { return Ok(Self::Passed) };
        for folder in folders {
            let Some(report) = folder.artifact_path("VERIFICATION") else { continue };
            let report = view.text(&report)?.unwrap_or_default();
            let verified = FrontMatter::parse(&report).and_then(|front| front.text("verified"));
            if verified.is_some_and(|verified| is_later(&verified, &audited)) {
                return Ok(Self::Outdated);
            }
        }
        Ok(Self::Passed)
    }
}

/// Whether a time is later than another, both as `2026-01-02T03:04:05Z`, compared up to the shorter one.
fn is_later(time: &str, other: &str) -> bool {
    let is_time = |text: &str| text.get(..10).is_some_and(|day| day.bytes().filter(u8::is_ascii_digit).count() == 8);
    let written = |text: &str| text.replace(' ', "T").trim_end_matches('Z').chars().take(19).collect::<String>();
    let (time, other) = (written(time), written(other));
    let length = time.len().min(other.len());
    let same = |text: &str| text.get(..length).unwrap_or_default().to_owned();
    is_time(&time) && is_time(&other) && same(&time) > same(&other)
}

/// Whether a project without a roadmap was begun: only the roadmap of its next milestone is missing.
fn has_project(view: &ProjectView) -> Result<bool, FileError> {
    let layout = view.layout();
    let has_archive = view.file_names(&layout.milestones_folder())?.iter().any(|name| name.ends_with("-ROADMAP.md"));
    let is_stream = layout.workstream().is_some();
    Ok(view.exists(&layout.project()) && (is_stream || has_archive || view.exists(&layout.milestones())))
}

/// A sentence that the acceptance test of a phase is open, and how much of it.
fn unfinished_test(phase: &str, open: &OpenAcceptance) -> String {
    let counts = open.counts().map(|counts| format!(": {counts}")).unwrap_or_default();
    format!("The acceptance test of {phase} is not finished{counts}")
}

/// Whether the roadmap closes the milestone of STATE.md: by its heading, or by an archived roadmap.
pub(crate) fn is_shipped(view: &ProjectView) -> Result<bool, FileError> {
    let (Some(roadmap), Some(version)) = (view.roadmap()?, view.state_version()?) else { return Ok(false) };
    Ok(is_shipped_version(view, &version)?
        || (is_said_over(view)?
            && view.milestone()?.phase_ids(roadmap).iter().all(|id| standing::is_closed(roadmap, id))))
}

/// Whether the roadmap marks the milestone `version` as shipped, or mentions it while its roadmap is archived.
pub(crate) fn is_shipped_version(view: &ProjectView, version: &str) -> Result<bool, FileError> {
    let roadmap = view.roadmap_or_empty()?;
    let markdown = roadmap.markdown();
    let is_closed = milestone_headings(roadmap).iter().any(|heading| heading.closed && heading.names(version));
    let is_mentioned = || (0..markdown.lines().len()).any(|line| markdown.line(line).contains(version));
    let is_archived = || view.exists(&format!("{}/{version}-ROADMAP.md", view.layout().milestones_folder()));
    Ok(is_closed || (is_archived() && is_mentioned()))
}

/// Whether STATE.md reports that the last milestone is over and no other one has begun.
pub(crate) fn is_said_over(view: &ProjectView) -> Result<bool, FileError> {
    let status = view.state()?.and_then(|state| state.front_text("status"));
    Ok(status.is_some_and(|status| is_awaiting_milestone(&status)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::files::MemoryFiles;

    const ROADMAP: (&str, &str) =
        (".planning/ROADMAP.md", "# R\n\n## v1.0 A\n\n- [ ] **Phase 1: Base** - b\n\n### Phase 1: Base\n**Goal**: g\n");
    const STATE: (&str, &str) =
        (".planning/STATE.md", "---\nmilestone: v1.0\n---\n# S\n\n## Current Position\n\nPhase: 1 of 1 (Base)\n");
    const PLAN: (&str, &str) = (".planning/phases/01-base/01-01-PLAN.md", "---\nwave: 1\n---\n");
    const SUMMARY: (&str, &str) = (".planning/phases/01-base/01-01-SUMMARY.md", "---\nstatus: complete\n---\n");

    fn next(files: &[(&str, &str)]) -> (String, String) {
        let view = MemoryFiles::new(files.iter().copied()).view();
        let next = UpNext::of(&view, false).unwrap();
        let installed = ["progress", "audit-milestone", "complete-milestone", "new-milestone", "resume-work"];
        (next.command(|name| format!("/{name}"), |name| installed.contains(&name)), next.why())
    }

    #[test]
    fn an_incomplete_project_is_completed_first() {
        assert_eq!(next(&[]).0, "/new-project");
        assert_eq!(next(&[STATE]).0, "/new-project");
        assert_eq!(next(&[ROADMAP]).0, "gsd-tools state rebuild");
        assert_eq!(next(&[ROADMAP, STATE]).0, "/discuss-phase 1");
    }

    #[test]
    fn a_started_acceptance_test_comes_before_the_verification_of_its_phase() {
        let uat = |text: &'static str| (".planning/phases/01-base/01-UAT.md", text);
        assert_eq!(next(&[ROADMAP, STATE, PLAN]).0, "/execute-phase 1");
        assert_eq!(
            next(&[ROADMAP, STATE, PLAN, SUMMARY]).0,
            "/execute-phase 1",
            "executing goes on at the verification"
        );
        let begun = uat("---\nstatus: testing\n---\n\n## Tests\n\n### 1. Look\nresult: [pending]\n");
        let (command, why) = next(&[ROADMAP, STATE, PLAN, SUMMARY, begun]);
        assert_eq!(command, "/verify-work 1");
        assert_eq!(why, "The acceptance test of phase 1 (Base) is not finished: 1 test");
        let gap = uat("---\nstatus: partial\n---\n\n## Gaps\n\n- truth: \"It rings\"\n  status: failed\n");
        assert!(next(&[ROADMAP, STATE, PLAN, SUMMARY, gap]).1.ends_with("is not finished: 1 gap"));
        assert_eq!(next(&[ROADMAP, STATE, PLAN, begun]).0, "/execute-phase 1", "its plan comes first");
    }

    #[test]
    fn the_end_of_a_milestone_has_a_next_command() {
        let all = ROADMAP.1.replace("[ ]", "[x]");
        let closed = (ROADMAP.0, all.as_str());
        assert_eq!(next(&[closed, STATE, PLAN, SUMMARY]).0, "/audit-milestone");
        let archived = (".planning/milestones/v1.0-ROADMAP.md", "# R\n");
        assert_eq!(next(&[closed, STATE, archived]).0, "/new-milestone");
        let view = MemoryFiles::new([closed, STATE]).view();
        let done = UpNext::of(&view, false).unwrap();
        assert_eq!(
            done.command(|name| format!("/{name}"), |name| name == "progress"),
            "/progress",
            "what is not installed is not named"
        );
    }

    #[test]
    fn a_milestone_is_completed_after_an_audit_that_passed() {
        let all = ROADMAP.1.replace("[ ]", "[x]");
        let closed = (ROADMAP.0, all.as_str());
        let verified = (
            ".planning/phases/01-base/01-VERIFICATION.md",
            "---\nstatus: passed\nverified: 2026-01-02T10:00:00Z\n---\n",
        );
        for (audit, command) in [
            ("status: passed\naudited: 2026-01-02T11:00:00Z", "/complete-milestone"),
            ("status: tech_debt\naudited: 2026-01-03", "/complete-milestone"),
            ("status: passed", "/complete-milestone"),
            ("status: passed\naudited: 2026-01-02T09:00:00Z", "/audit-milestone"),
            ("status: passed\naudited: 2026-01-01", "/audit-milestone"),
            ("status: gaps_found\naudited: 2026-01-02T11:00:00Z", "/audit-milestone"),
        ] {
            let audit = format!("---\n{audit}\n---\n");
            let audit = (".planning/v1.0-MILESTONE-AUDIT.md", audit.as_str());
            assert_eq!(next(&[closed, STATE, PLAN, SUMMARY, verified, audit]).0, command, "{audit:?}");
        }
        let other = (".planning/v0.9-MILESTONE-AUDIT.md", "---\nstatus: passed\n---\n");
        assert_eq!(next(&[closed, STATE, PLAN, SUMMARY, other]).0, "/audit-milestone");
    }

    #[test]
    fn a_project_between_two_milestones_begins_the_next_one() {
        let project = (".planning/PROJECT.md", "# P\n");
        assert_eq!(next(&[project]).0, "/new-project");
        assert_eq!(next(&[project, (".planning/milestones/v1.0-ROADMAP.md", "# R\n")]).0, "/new-milestone");
        assert_eq!(next(&[project, (".planning/MILESTONES.md", "# M\n")]).0, "/new-milestone");
    }

    #[test]
    fn a_deferred_check_does_not_block_the_work() {
        let roadmap = "# R\n\n## v1.0 A\n\n- [x] **Phase 1: Base** - b\n- [ ] **Phase 2: More** - b\n";
        let state = format!(
            "{}\n## Deferred Items\n\n| Category | Item | Status | Deferred At | Milestone |\n|---|---|---|---|---|\n\
             | human check | Phase 01: Look | open | 2026-01-01 | |\n",
            STATE.1
        );
        let uat =
            |more: &str| format!("---\nstatus: testing\n---\n\n## Tests\n\n### 1. Look\nresult: [pending]\n{more}");
        let next_of = |roadmap: &str, uat: &str| {
            let uat = (".planning/phases/01-base/01-UAT.md", uat);
            next(&[(ROADMAP.0, roadmap), (STATE.0, &state), PLAN, SUMMARY, uat]).0
        };
        assert_eq!(next_of(roadmap, &uat("")), "/discuss-phase 2");
        assert_eq!(next_of(roadmap, &uat("\n### 2. Feel\nresult: [pending]\n")), "/verify-work 1", "not put off");
        assert_eq!(next_of(&roadmap.replace("[ ]", "[x]"), &uat("")), "/verify-work 1", "before the milestone closes");
    }

    #[test]
    fn a_pause_is_found_wherever_it_is_written() {
        let handoff = (".planning/HANDOFF.json", "{\"next_action\": \"Mend\\nthe test\"}");
        assert_eq!(
            next(&[ROADMAP, STATE, handoff]),
            ("/resume-work".to_owned(), "Work is paused: Mend the test".to_owned())
        );
        for file in [".planning/.continue-here.md", ".continue-here-2.md", ".planning/phases/01-base/.continue-here.md"]
        {
            assert_eq!(next(&[ROADMAP, STATE, (file, "x")]).1, format!("Work is paused, see {file}"));
            let resumed = (file, "---\nstatus: resumed\n---\nx");
            assert_eq!(next(&[ROADMAP, STATE, resumed]), next(&[ROADMAP, STATE]));
        }
        let stated = (STATE.0, "---\npaused_at: Task 2\n---\n# S\n");
        assert_eq!(next(&[ROADMAP, stated]).1, "Work is paused: Task 2");
    }
}
