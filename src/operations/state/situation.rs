//! `smart-entry`: the situation of a project, and the next steps.

use schemars::JsonSchema;
use serde::Serialize;

use super::listed::listed_phases;
use super::next::{self, NextReport};
use super::{Commands, Facts, read};
use crate::project::acceptance::OpenAcceptance;
use crate::project::auto_run::{AutoRun, RunStage};
use crate::project::files::FileError;
use crate::project::label::total_for;
use crate::project::next::Next;
use crate::project::pause::Pause;
use crate::project::phase::short;
use crate::project::standing::{NextStep, PhaseStanding};
use crate::project::state::index::{Progress, dated};
use crate::project::state::{is_awaiting_milestone, normal_status};
use crate::project::up_next::{self, NextCall, UpNext};
use crate::project::view::ProjectView;
use crate::text::screen::{Cell, Screen, Tone};

/// Activity older than this is stale, in days.
const STALE_AFTER_DAYS: i64 = 3;
const DAY: i64 = 24 * 60 * 60 * 1000;

/// Facts from git, and whether a planning folder exists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Surroundings {
    pub(crate) has_planning: bool,
    pub(crate) has_git: bool,
    pub(crate) dirty: bool,
    pub(crate) unpushed: bool,
    /// The number of commits since the one recorded in STATE.md.
    pub(crate) behind: Option<u64>,
}

impl Surroundings {
    /// The facts for a command that is writing to the project.
    pub(crate) fn just_written() -> Self {
        Self { has_planning: true, has_git: true, dirty: true, unpushed: false, behind: None }
    }
}

/// What `smart-entry --json` answers.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct EntryReport {
    pub(crate) situation: Situation,
    pub(crate) recommended: &'static str,
    pub(crate) summary: String,
    /// Work outside the current phase that waits for a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) notice: Option<String>,
    pub(crate) signals: Signals,
    /// The actions, the recommended one first; commands that are not installed are left out.
    pub(crate) actions: Vec<Action>,
    /// The next step, the same in all answers.
    pub(crate) next: NextReport,
}

impl EntryReport {
    /// The reason for the recommended action: the summary of the current phase, or the notice if the action is about
    /// it.
    pub(crate) fn reason(&self) -> &str {
        let accepts = self.recommended == ACCEPT;
        self.notice.as_deref().filter(|_| accepts).unwrap_or(&self.summary)
    }

    pub(crate) fn recommended_action(&self) -> &Action {
        // Every situation has an action.
        &self.actions[0]
    }
}

/// The situations, in order: the first one that fits is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Situation {
    /// A run of `auto` is using the project, or waits for a person.
    AutoRun,
    /// The project has only milestones of `auto`.
    Milestones,
    NoProject,
    Paused,
    Blocked,
    VerifyFailed,
    NeedsFirstPhase,
    Complete,
    Planning,
    Executing,
    VerifyPending,
    IdleStranded,
    Unknown,
}

/// The facts that determine the situation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Signals {
    pub(crate) current_phase: Option<String>,
    pub(crate) total_phases: Option<u64>,
    pub(crate) status: String,
    pub(crate) progress: Option<u64>,
    pub(crate) has_planning: bool,
    pub(crate) has_roadmap: bool,
    pub(crate) git_dirty: bool,
    pub(crate) git_unpushed: bool,
    pub(crate) paused: bool,
    pub(crate) blockers: Vec<String>,
    pub(crate) has_git: bool,
    pub(crate) verify_failed: bool,
    pub(crate) stale_activity: bool,
    /// The rows of the roadmap's table of progress.
    pub(crate) roadmap_total_phases: Option<u64>,
    pub(crate) roadmap_completed_phases: Option<u64>,
    /// The number of phases of the roadmap, wherever it lists them.
    #[serde(skip)]
    listed_phases: u64,
    /// The number of those with something left to do.
    #[serde(skip)]
    open_phases: u64,
    /// Closed phases whose acceptance test is not finished and was not deferred.
    #[serde(skip)]
    unaccepted_phases: Vec<String>,
    /// The next step of the current phase.
    #[serde(skip)]
    next_step: Option<NextStep>,
    /// The next step, the same in all answers.
    #[serde(skip)]
    next: Next,
    pub(crate) state_commits_behind: Option<u64>,
    pub(crate) state_commit_stale: Option<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Action {
    pub(crate) id: &'static str,
    pub(crate) label: String,
    pub(crate) command: String,
    pub(crate) recommended: bool,
}

/// Determines the situation of the project and its actions.
pub(crate) fn smart_entry(
    view: &ProjectView,
    surroundings: &Surroundings,
    facts: &Facts,
) -> Result<EntryReport, FileError> {
    let signals = signals(view, surroundings, facts)?;
    let situation = situation(&signals);
    let call = next::call(&signals.next, facts);
    let ids = offered(situation, &signals, &call, &facts.commands);
    let action = |(index, id): (usize, &&'static str)| Action {
        id,
        label: label(id, situation, &signals),
        command: if index == 0 && *id != NEXT { next::typed(&call, facts) } else { command(id, &facts.commands) },
        recommended: index == 0,
    };
    let actions: Vec<Action> = ids.iter().enumerate().map(action).collect();
    let report = NextReport::of(&signals.next, view, facts)?;
    Ok(EntryReport {
        situation,
        recommended: ids[0],
        summary: summary(situation, &signals, &call, &facts.commands),
        notice: notice(&signals, &report),
        next: report,
        signals,
        actions,
    })
}

/// The actions for a situation, the next step first. Commands that are not installed are left out.
fn offered(situation: Situation, signals: &Signals, call: &NextCall, commands: &Commands) -> Vec<&'static str> {
    let documents = signals.next.documents();
    let first = match call {
        NextCall::Program(_) => PROGRAM,
        // The `progress-next` command leads there too.
        NextCall::Host { .. } if signals.next.phase().is_some() && is_installed(NEXT, commands) => NEXT,
        NextCall::Host { name, .. } => name,
    };
    let mut ids = vec![first];
    if let Some(UpNext::MilestoneDone(_)) = documents {
        ids.push(CLOSE);
    }
    // The next milestone does not begin while one is open.
    let begins = matches!(documents, Some(UpNext::MilestoneArchived(_) | UpNext::NoMilestone));
    let has_phases = matches!(documents, Some(next) if !matches!(next, UpNext::NoRoadmap | UpNext::NoMilestone));
    let fits = |id: &&'static str| {
        *id != NEXT && (begins || *id != "new-milestone") && (has_phases || !id.ends_with("-phase"))
    };
    ids.extend(situation.actions().iter().copied().filter(fits));
    let mut seen: Vec<&'static str> = Vec::new();
    ids.retain(|id| {
        let is_new = !seen.contains(id);
        seen.push(id);
        is_new && (*id == PROGRAM || is_installed(id, commands))
    });
    if ids.is_empty() {
        ids.push("progress");
    }
    ids.truncate(MOST_ACTIONS);
    ids
}

fn signals(view: &ProjectView, surroundings: &Surroundings, facts: &Facts) -> Result<Signals, FileError> {
    let snapshot = read::snapshot(view)?;
    let state = view.state()?;
    let written = state.and_then(Progress::written);
    let has_table = view.roadmap_or_empty()?.rows().iter().any(|row| row.cell("status").is_some());
    let phases = listed_phases(view)?;
    let count = |counts: &dyn Fn(&PhaseStanding) -> bool| {
        phases.iter().filter(|phase| counts(&phase.standing)).fold(0, |count, _| count + 1)
    };
    let tabled = |count: u64| has_table.then_some(count).filter(|count| *count > 0);
    let current_phase = up_next::current_phase(view)?;
    let next = next::next(view, facts)?;
    let next_step = next.phase().filter(|_| current_phase.is_some()).map(|next| next.step);
    let status =
        snapshot.as_ref().and_then(|snapshot| snapshot.status.as_deref()).map(normal_status).unwrap_or_default();
    // After a milestone is closed, the body is a person's account of it.
    let front = state.and_then(|state| state.front_text("status"));
    let status = front.filter(|front| is_awaiting_milestone(front)).unwrap_or(status);
    let activity = snapshot.as_ref().and_then(|snapshot| snapshot.last_activity.clone());
    Ok(Signals {
        current_phase,
        total_phases: written
            .and_then(|written| written.total_phases)
            .or_else(|| snapshot.as_ref().and_then(|snapshot| snapshot.total_phases)),
        progress: written.and_then(|written| written.percent),
        has_planning: surroundings.has_planning,
        has_roadmap: view.roadmap()?.is_some(),
        git_dirty: surroundings.dirty,
        git_unpushed: surroundings.unpushed,
        paused: Pause::of(view)?.is_some(),
        blockers: snapshot.map(|snapshot| snapshot.stopping).unwrap_or_default(),
        has_git: surroundings.has_git,
        verify_failed: next_step == Some(NextStep::PlanGaps),
        stale_activity: activity.as_deref().and_then(|text| dated(text).0).is_some_and(|day| is_stale(day, facts)),
        roadmap_total_phases: tabled(count(&|_| true)),
        roadmap_completed_phases: tabled(count(&|standing| !standing.work.is_open())),
        listed_phases: count(&|_| true),
        open_phases: count(&|standing| standing.work.is_open()),
        unaccepted_phases: unaccepted(view)?,
        next_step,
        next,
        state_commits_behind: surroundings.behind,
        // The commit that contains STATE.md comes after the one it records.
        state_commit_stale: surroundings.behind.map(|behind| behind > 1),
        status,
    })
}

fn unaccepted(view: &ProjectView) -> Result<Vec<String>, FileError> {
    let open = view.open_acceptances()?.into_iter();
    Ok(open.filter(|open| !open.is_deferred).map(|open| open.phase).collect())
}

/// True if a date is more than three days ago.
fn is_stale(day: &str, facts: &Facts) -> bool {
    days_since_epoch(day).is_some_and(|day| facts.milliseconds - day * DAY > STALE_AFTER_DAYS * DAY)
}

/// The number of days from 1970-01-01 to a date such as `2026-01-02`.
fn days_since_epoch(day: &str) -> Option<i64> {
    let mut parts = day.split('-').map(str::parse::<i64>);
    let (year, month, day) = (parts.next()?.ok()?, parts.next()?.ok()?, parts.next()?.ok()?);
    // The years here begin in March, so that the leap day is the last day of a year.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year / 4 - year / 100 + year / 400;
    Some(year * 365 + leap_days + (153 * month + 2) / 5 + day - 1 - 719_468)
}

fn situation(signals: &Signals) -> Situation {
    let status = signals.status.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| status.contains(word));
    let has_phases = signals.total_phases.unwrap_or(signals.listed_phases) > 0 || signals.next.phase().is_some();
    let is_over = matches!(
        signals.next.documents(),
        Some(UpNext::MilestoneDone(_) | UpNext::MilestoneArchived(_) | UpNext::Deferred(_))
    );
    let all_done = signals.listed_phases > 0 && signals.open_phases == 0;
    let at_rest = matches!(status.as_str(), "complete" | "completed" | "done" | "shipped" | "paused");
    match () {
        () if matches!(signals.next, Next::Run(_)) => Situation::AutoRun,
        () if matches!(signals.next, Next::Milestones(_)) => Situation::Milestones,
        () if !signals.has_planning => Situation::NoProject,
        () if signals.paused => Situation::Paused,
        () if !signals.blockers.is_empty() => Situation::Blocked,
        () if signals.verify_failed => Situation::VerifyFailed,
        () if signals.has_roadmap && signals.open_phases == 0 && is_awaiting_milestone(&signals.status) => {
            Situation::Complete
        }
        () if !signals.has_roadmap || !has_phases => Situation::NeedsFirstPhase,
        () if all_done && (is_over || status.contains("complete")) => Situation::Complete,
        () if says(&["planning", "planned"]) => Situation::Planning,
        () if says(&["execut", "active", "in progress", "building"]) => Situation::Executing,
        () if says(&["verif", "review"]) => Situation::VerifyPending,
        () if !signals.git_dirty && !at_rest && (signals.git_unpushed || signals.stale_activity) => {
            Situation::IdleStranded
        }
        () => Situation::Unknown,
    }
}

impl EntryReport {
    /// The next command and other possible actions, for a person at a terminal.
    pub(crate) fn shown(&self, screen: Screen) -> String {
        let mut page = self.next.shown(screen, &[]);
        let is_next = |action: &Action| action.id == NEXT || self.next.command.starts_with(&action.command);
        let known = |action: &&Action| !is_next(action);
        let row = |action: &Action| {
            vec![Cell::new(Tone::Command, action.command.as_str()), Cell::from(action.label.as_str())]
        };
        let others: Vec<Vec<Cell>> = self.actions.iter().filter(known).map(row).collect();
        if !others.is_empty() {
            let title = screen.paint(Tone::Strong, "Other commands");
            page = page + "\n" + &title + "\n" + &screen.table("  ", &others);
        }
        page
    }
}

impl NextReport {
    /// The next command and its reason, after the facts in `before`.
    pub(crate) fn shown(&self, screen: Screen, before: &[(&str, Cell)]) -> String {
        let next = [("Next", Cell::new(Tone::Command, self.command.as_str())), ("", Cell::from(self.why.as_str()))];
        let waiting = self.waiting.iter().map(|what| ("Waiting", Cell::new(Tone::Warning, what.as_str())));
        screen.fields("", &before.iter().cloned().chain(next).chain(waiting).collect::<Vec<_>>())
    }
}

impl Situation {
    /// The actions, the recommended one first.
    fn actions(self) -> &'static [&'static str] {
        match self {
            Self::AutoRun | Self::Milestones => &[],
            Self::NoProject => &["new-project", "map-codebase", "quick", "help"],
            Self::Paused => &["resume-work", "progress", "quick", "help"],
            Self::Blocked => &["debug", "verify-work", "capture", "progress"],
            Self::VerifyFailed => &["progress-next", "verify-work", "code-review", "progress"],
            Self::NeedsFirstPhase => &["discuss-phase", "plan-phase", "quick", "progress"],
            Self::Complete => &["new-milestone", "extract-learnings", "progress", "quick"],
            Self::Planning => &["progress-next", "plan-phase", "discuss-phase", "progress"],
            Self::Executing => &["progress-next", "execute-phase", "quick", "code-review"],
            Self::VerifyPending => &["progress-next", "verify-work", "code-review", "ship"],
            Self::IdleStranded => &["ship", "complete-milestone", "progress", "capture"],
            Self::Unknown => &["progress", "progress-next", "quick", "help"],
        }
    }
}

/// Facts that the summary of the current phase does not include.
fn notice(signals: &Signals, next: &NextReport) -> Option<String> {
    let unaccepted = &signals.unaccepted_phases;
    if !unaccepted.is_empty() {
        return Some(format!("the acceptance test of phase {} is open", unaccepted.join(", ")));
    }
    match signals.next.documents() {
        Some(UpNext::Deferred(phase)) => Some(format!("deferred checks of phase {} are open", short(phase))),
        _ => next.waiting.as_ref().map(|what| format!("{what} are open")),
    }
}

fn summary(situation: Situation, signals: &Signals, call: &NextCall, commands: &Commands) -> String {
    let place = place(signals);
    match situation {
        Situation::AutoRun | Situation::Milestones | Situation::NeedsFirstPhase | Situation::Unknown => {
            signals.next.why()
        }
        Situation::NoProject if !is_installed("map-codebase", commands) => "No project yet — start one".to_owned(),
        Situation::NoProject => "No project yet — start fresh or map an existing codebase".to_owned(),
        Situation::Paused => format!("{place} · paused"),
        Situation::Blocked => format!("{place} · blocked by {}", signals.blockers.join("; ")),
        Situation::VerifyFailed => format!("{place} · verification found gaps"),
        Situation::Complete => {
            let what = match call {
                NextCall::Host { name: "audit-milestone", .. } => " — audit the milestone",
                NextCall::Host { name: CLOSE, .. } => " — complete the milestone",
                NextCall::Host { name: "new-milestone", .. } => " — start a new milestone",
                NextCall::Host { name: ACCEPT, .. } => " — finish what a person has to check",
                _ => "",
            };
            format!("All phases complete{what}")
        }
        Situation::Planning => match signals.next_step {
            Some(NextStep::Discuss) => format!("{place} — to be discussed"),
            Some(NextStep::Execute) => format!("{place} — ready to execute"),
            _ => format!("{place} — needs a plan"),
        },
        Situation::Executing => match signals.progress {
            Some(percent) => format!("{place} · {percent}% · executing"),
            None => format!("{place} · executing"),
        },
        Situation::VerifyPending => format!("{place} · ready to verify"),
        Situation::IdleStranded => format!("{place} · idle since its last commit"),
    }
}

/// `Phase 2 of 5`.
fn place(signals: &Signals) -> String {
    let Some(phase) = &signals.current_phase else { return "Project".to_owned() };
    match total_for(phase, signals.total_phases) {
        Some(total) => format!("Phase {phase} of {total}"),
        None => format!("Phase {phase}"),
    }
}

fn label(id: &str, situation: Situation, signals: &Signals) -> String {
    match (id, signals.next.documents()) {
        (PROGRAM, _) => return program_label(&signals.next).to_owned(),
        (ACCEPT, Some(UpNext::Accept(OpenAcceptance { phase, .. }) | UpNext::Deferred(phase))) => {
            return format!("Finish the acceptance test of phase {}", short(phase));
        }
        _ => {}
    }
    let phase = signals.current_phase.as_deref().map(|phase| format!(" {phase}")).unwrap_or_default();
    let text = match id {
        "new-project" => "Start a new project",
        "map-codebase" => "Map an existing codebase",
        "quick" => "Quick task",
        "help" => "Show help",
        "progress" => "Show progress",
        "resume-work" => "Resume work",
        "debug" => "Debug the problem",
        "verify-work" => "Verify the work",
        "capture" => "Capture a thought",
        "code-review" => "Review recent work",
        "ship" => "Ship the work",
        "audit-milestone" => "Audit the milestone",
        "complete-milestone" => "Complete the milestone",
        "new-milestone" => "Start a new milestone",
        "extract-learnings" => "Extract learnings",
        "discuss-phase" if situation == Situation::NeedsFirstPhase => "Discuss the first phase",
        "plan-phase" if situation == Situation::NeedsFirstPhase => "Plan phase 1",
        "discuss-phase" => return format!("Discuss phase{phase}"),
        "plan-phase" => return format!("Plan phase{phase}"),
        "execute-phase" => return format!("Continue executing phase{phase}"),
        "progress-next" if matches!(situation, Situation::Planning | Situation::VerifyFailed) => {
            let step = match signals.next_step {
                Some(NextStep::Discuss) => "discuss",
                Some(NextStep::Execute) => "execute",
                Some(NextStep::PlanGaps) => "plan the gaps of",
                Some(NextStep::Verify) => "verify",
                Some(NextStep::Close) => "close",
                Some(NextStep::Plan) | None => "plan",
            };
            return format!("Advance to the next step ({step} phase{phase})");
        }
        "progress-next" if situation == Situation::VerifyPending => "Advance to the next step (verify)",
        "progress-next" => "Advance to the next step",
        other => other,
    };
    text.to_owned()
}

/// The label of the next step if it is a call of this program.
fn program_label(next: &Next) -> &'static str {
    match next {
        Next::Run(AutoRun { stage: RunStage::Active | RunStage::Waiting { .. }, .. }) => "Show the run",
        Next::Run(_) => "Continue the run",
        Next::Milestones(milestones) if milestones.active().is_none() => "Begin the next milestone",
        Next::Milestones(_) => "Run the milestone",
        Next::ChooseWorkstream(_) => "Activate the workstream",
        Next::Documents(UpNext::NoState) => "Create STATE.md",
        Next::Documents(_) | Next::NoProject => "Check the roadmap",
    }
}

fn command(id: &str, commands: &Commands) -> String {
    let prefix = &commands.prefix;
    if id == NEXT { format!("{prefix}progress --next") } else { format!("{prefix}{id}") }
}

fn is_installed(id: &str, commands: &Commands) -> bool {
    let name = if id == NEXT { "progress" } else { id };
    commands.installed.iter().any(|installed| installed == name)
}

/// The action that continues an acceptance test.
const ACCEPT: &str = "verify-work";

/// The action that archives a milestone whose phases are complete.
const CLOSE: &str = "complete-milestone";

/// The action that runs the next step shown by `progress`.
const NEXT: &str = "progress-next";

/// The action of this program itself.
const PROGRAM: &str = "gsd-tools";

/// The most actions that are offered.
const MOST_ACTIONS: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::files::MemoryFiles;

    const ROADMAP: &str =
        "# R\n\n- [x] **Phase 1: A** - a\n- [ ] **Phase 2: B** - b\n\n### Phase 1: A\n### Phase 2: B\n";

    fn entry(state: &str, roadmap: &str, surroundings: Surroundings) -> EntryReport {
        let mut files = vec![(".planning/PROJECT.md", "# P\n")];
        files.extend(
            [(".planning/STATE.md", state), (".planning/ROADMAP.md", roadmap)]
                .into_iter()
                .filter(|(_, text)| !text.is_empty()),
        );
        let view = ProjectView::of(files);
        let installed = ["new-project", "progress", "plan-phase", "discuss-phase", "quick", "resume-work", "debug"];
        let installed =
            installed.iter().chain(&["ship", "complete-milestone", "new-milestone"]).map(ToString::to_string).collect();
        let commands = Commands { prefix: "/gsd-".into(), installed, skip_discussion: false };
        let facts = Facts { milliseconds: 1_768_176_000_000, commands, ..Facts::default() };
        smart_entry(&view, &surroundings, &facts).unwrap()
    }

    #[test]
    fn an_open_acceptance_test_is_named_even_if_its_phase_is_closed() {
        let notice = |status: &str| {
            let uat = format!("---\nstatus: {status}\n---\n\n## Tests\n");
            let files = MemoryFiles::new([
                (".planning/STATE.md", "# S\n\n## Current Position\n\nPhase: 2 of 2 (B)\nStatus: Ready to plan\n"),
                (".planning/ROADMAP.md", ROADMAP),
                (".planning/phases/01-a/01-UAT.md", uat.as_str()),
                (".planning/phases/02-b/02-UAT.md", uat.as_str()),
            ]);
            let view = files.view();
            let here = Surroundings { has_planning: true, ..Surroundings::default() };
            smart_entry(&view, &here, &Facts::default()).unwrap().notice
        };
        assert_eq!(notice("complete"), None);
        for status in ["testing", "partial", "diagnosed"] {
            assert_eq!(notice(status).as_deref(), Some("the acceptance test of phase 1 is open"));
        }
    }

    #[test]
    fn an_open_acceptance_test_comes_before_the_next_phase_and_after_plans_to_execute() {
        let told = |status: &str, more: &[(&str, &str)]| {
            let state = format!("# S\n\n## Current Position\n\nPhase: 2 of 2 (B)\nStatus: {status}\n");
            let files = [
                (".planning/STATE.md", state.as_str()),
                (".planning/ROADMAP.md", ROADMAP),
                (".planning/phases/01-a/01-UAT.md", "---\nstatus: testing\n---\n"),
            ];
            let files = MemoryFiles::new(files.iter().chain(more).copied());
            let view = files.view();
            let installed = ["progress", "verify-work", "execute-phase", "resume-work"].map(str::to_owned).to_vec();
            let commands = Commands { prefix: "/gsd-".into(), installed, skip_discussion: false };
            let here = Surroundings { has_planning: true, ..Surroundings::default() };
            let report = smart_entry(&view, &here, &Facts { commands, ..Facts::default() }).unwrap();
            let action = report.recommended_action();
            (action.command.clone(), action.label.clone(), report.reason().to_owned(), report.actions.len())
        };
        let accept = |actions: usize| {
            let (label, reason) = ("Finish the acceptance test of phase 1", "the acceptance test of phase 1 is open");
            ("/gsd-verify-work 1".to_owned(), label.to_owned(), reason.to_owned(), actions)
        };
        assert_eq!(told("Ready to plan", &[]), accept(2));
        assert_eq!(told("Verifying", &[]), accept(1));
        assert_eq!(told("Paused", &[]).0, "/gsd-resume-work");
        let plan = (".planning/phases/02-b/02-01-PLAN.md", "---\nwave: 1\n---\n");
        assert_eq!(told("Executing", &[plan]).0, "/gsd-progress --next");
    }

    #[test]
    fn deferred_checks_come_when_every_phase_is_done() {
        let told = |roadmap: &str| {
            let state = "# S\n\n## Current Position\n\nPhase: 2 of 2 (B)\nStatus: Milestone complete\n\n## Deferred Items\n\n\
                         | Category | Item | Status | Deferred At | Milestone |\n|---|---|---|---|---|\n\
                         | human check | Phase 01: Look | open | 2026-01-01 | |\n";
            let uat = "---\nstatus: complete\n---\n\n## Tests\n\n### 1. Look\nexpected: blue\nresult: skipped\n";
            let files = [
                (".planning/STATE.md", state),
                (".planning/ROADMAP.md", roadmap),
                (".planning/phases/01-a/01-UAT.md", uat),
            ];
            let view = ProjectView::of(files);
            let commands = Commands {
                prefix: "/gsd-".into(),
                installed: ["progress", "verify-work"].map(str::to_owned).to_vec(),
                skip_discussion: false,
            };
            let here = Surroundings { has_planning: true, ..Surroundings::default() };
            let report = smart_entry(&view, &here, &Facts { commands, ..Facts::default() }).unwrap();
            (report.recommended_action().command.clone(), report.notice)
        };
        let notice = "deferred checks of phase 1 are open".to_owned();
        assert_eq!(told(&ROADMAP.replace("[ ]", "[x]")), ("/gsd-verify-work 1".to_owned(), Some(notice)));
        let (command, notice_of_open) = told(ROADMAP);
        assert_eq!(command, "/gsd-progress --next", "they hold nothing up");
        assert_eq!(notice_of_open.as_deref(), Some("deferred checks of phase 1 are open"));
    }

    #[test]
    fn the_first_situation_that_fits_is_reported() {
        let here = Surroundings { has_planning: true, ..Surroundings::default() };
        let state = |status: &str| {
            format!(
                "# S\n\n## Current Position\n\nPhase: 2 of 2 (B)\nStatus: {status}\nLast activity: 2026-01-11 — x\n"
            )
        };
        for (text, roadmap, situation, recommended, summary) in [
            (String::new(), "", Situation::NeedsFirstPhase, "new-project", "There is no ROADMAP.md yet"),
            (state("Paused"), ROADMAP, Situation::Paused, "resume-work", "Phase 2 · paused"),
            (
                state("Executing") + "\n## Blockers\n\n- API\n",
                ROADMAP,
                Situation::Blocked,
                "progress-next",
                "Phase 2 · blocked by API",
            ),
            (state("Ready to plan"), ROADMAP, Situation::Planning, "progress-next", "Phase 2 — to be discussed"),
            (state("In progress"), ROADMAP, Situation::Executing, "progress-next", "Phase 2 · executing"),
            (
                state("Verifying Phase 2"),
                ROADMAP,
                Situation::VerifyPending,
                "progress-next",
                "Phase 2 · ready to verify",
            ),
            (
                state("Phase 1 complete"),
                ROADMAP,
                Situation::Unknown,
                "progress-next",
                "Phase 2 (B) has not been discussed yet",
            ),
            (
                state("Somewhere").replace("2026-01-11", "2026-01-05"),
                ROADMAP,
                Situation::IdleStranded,
                "progress-next",
                "Phase 2 · idle since its last commit",
            ),
            (
                state("Complete"),
                &ROADMAP.replace("[ ]", "[x]"),
                Situation::Complete,
                "complete-milestone",
                "All phases complete — complete the milestone",
            ),
            (
                format!(
                    "---\nmilestone: v1.0\nstatus: Awaiting next milestone\n---\n{}",
                    state("Awaiting next milestone")
                ),
                "# R\n\n<details>\n<summary>✅ v1.0 - SHIPPED</summary>\n\n- [x] **Phase 1: A**\n\n</details>\n",
                Situation::Complete,
                "new-milestone",
                "All phases complete — start a new milestone",
            ),
            (
                state("Executing"),
                &ROADMAP.replace("[ ]", "[x]"),
                Situation::Complete,
                "complete-milestone",
                "All phases complete — complete the milestone",
            ),
        ] {
            let report = entry(&text, roadmap, here);
            assert_eq!(
                (report.situation, report.recommended, report.summary.as_str()),
                (situation, recommended, summary),
                "{text}"
            );
            assert!(report.recommended_action().recommended);
        }
        assert_eq!(entry("", "", Surroundings::default()).situation, Situation::NoProject);
    }

    #[test]
    fn days_are_counted_from_1970() {
        assert_eq!(days_since_epoch("1970-01-01"), Some(0));
        assert_eq!(days_since_epoch("2000-03-01"), Some(11_017));
        assert_eq!(days_since_epoch("2026-01-12"), Some(20_465));
        assert_eq!(days_since_epoch("soon"), None);
    }
}
