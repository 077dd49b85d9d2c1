//! `smart-entry`: the situation a project is in, and what to do next.

use schemars::JsonSchema;
use serde::Serialize;

use super::listed::listed_phases;
use super::{Commands, Facts, read};
use crate::project::deferred_checks;
use crate::project::files::FileError;
use crate::project::label::total_for;
use crate::project::pause::Pause;
use crate::project::standing::{NextStep, PhaseStanding};
use crate::project::state::index::{Progress, dated};
use crate::project::state::{State, is_awaiting_milestone, normal_status};
use crate::project::up_next::{self, UpNext};
use crate::project::view::ProjectView;
use crate::text::screen::{Cell, Screen, Tone};

/// Activity older than this is stale, in days.
const STALE_AFTER_DAYS: i64 = 3;
const DAY: i64 = 24 * 60 * 60 * 1000;

/// What git says, and whether there is a planning folder at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Surroundings {
    pub(crate) has_planning: bool,
    pub(crate) has_git: bool,
    pub(crate) dirty: bool,
    pub(crate) unpushed: bool,
    /// Commits since the one STATE.md was written on.
    pub(crate) behind: Option<u64>,
}

impl Surroundings {
    /// Those of a command that is writing to the project.
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
    /// Work besides the current phase that waits for a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) notice: Option<String>,
    pub(crate) signals: Signals,
    /// The recommended one first; commands that are not installed are left out.
    pub(crate) actions: Vec<Action>,
    /// What a person is shown.
    #[serde(skip)]
    pub(crate) advice: Advice,
}

/// The next command, and why it is next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Advice {
    pub(crate) command: String,
    pub(crate) why: String,
}

impl EntryReport {
    /// Why the recommended action is the one: the summary of the current phase, or what it does not say.
    pub(crate) fn reason(&self) -> &str {
        let accepts = self.recommended == ACCEPT;
        self.notice.as_deref().filter(|_| accepts).unwrap_or(&self.summary)
    }

    pub(crate) fn recommended_action(&self) -> &Action {
        // Every situation has an action.
        &self.actions[0]
    }
}

/// The situations; the first that fits is it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Situation {
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

/// What the situation is told from.
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
    /// The phases of the roadmap, wherever it lists them.
    #[serde(skip)]
    listed_phases: u64,
    /// Those of them about which something is left to do.
    #[serde(skip)]
    open_phases: u64,
    /// Some phase has a plan to execute.
    #[serde(skip)]
    has_open_plans: bool,
    /// Closed phases whose acceptance test is not finished.
    #[serde(skip)]
    unaccepted_phases: Vec<String>,
    /// The phase of the first check that was put off until a person makes it.
    #[serde(skip)]
    deferred_in: Option<String>,
    /// What is to be done next about the current phase.
    #[serde(skip)]
    next_step: Option<NextStep>,
    /// What a person is shown as next.
    #[serde(skip)]
    up_next: UpNext,
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

/// The situation of the project with its actions.
pub(crate) fn smart_entry(
    view: &ProjectView,
    surroundings: &Surroundings,
    facts: &Facts,
) -> Result<EntryReport, FileError> {
    let signals = signals(view, surroundings, facts)?;
    let situation = situation(&signals);
    let commands = &facts.commands;
    let mut ids = situation.actions().to_vec();
    if signals.has_planning && signals.up_next == UpNext::NoRoadmap && !view.exists(&view.layout().project()) {
        // There is nothing yet that a phase could belong to.
        ids.retain(|id| !id.ends_with("-phase"));
        ids.insert(0, "new-project");
    }
    if closes_milestone(situation, &signals, commands) {
        ids[0] = CLOSE;
    }
    if to_accept(situation, &signals).is_some() && is_installed(ACCEPT, commands) {
        // The route that progress takes leads there too.
        ids.retain(|id| *id != ACCEPT && *id != NEXT);
        ids.insert(0, ACCEPT);
    }
    ids.retain(|id| is_installed(id, commands));
    if ids.is_empty() {
        ids.push("progress");
    }
    let action = |(index, id): (usize, &&'static str)| Action {
        id,
        label: label(id, situation, &signals),
        command: command(id, situation, &signals, commands),
        recommended: index == 0,
    };
    let actions: Vec<Action> = ids.iter().enumerate().map(action).collect();
    Ok(EntryReport {
        situation,
        recommended: ids[0],
        summary: summary(situation, &signals, commands),
        notice: notice(situation, &signals),
        advice: advice(&signals, commands),
        signals,
        actions,
    })
}

fn signals(view: &ProjectView, surroundings: &Surroundings, facts: &Facts) -> Result<Signals, FileError> {
    let snapshot = read::snapshot(view)?;
    let text = view.state_text()?;
    let written = text.as_deref().and_then(|text| Progress::written(&State::parse(text)));
    let roadmap = view.roadmap_text()?;
    let deferred = deferred_checks::deferred_in(view, &view.milestone_folders()?)?;
    let deferred_in = deferred.first().map(|check| view.label(&check.phase)).transpose()?;
    let has_table = roadmap.as_deref().is_some_and(|text| {
        let roadmap = view.parse_roadmap(text);
        roadmap.rows().iter().any(|row| row.cell("status").is_some())
    });
    let phases = listed_phases(view)?;
    let count = |counts: &dyn Fn(&PhaseStanding) -> bool| {
        phases.iter().filter(|phase| counts(&phase.standing)).fold(0, |count, _| count + 1)
    };
    let tabled = |count: u64| has_table.then_some(count).filter(|count| *count > 0);
    let current_phase = up_next::current_phase(view)?;
    let up_next = UpNext::of(view, facts.commands.skip_discussion)?;
    let next_step = up_next.phase().filter(|_| current_phase.is_some()).map(|next| next.step);
    let status =
        snapshot.as_ref().and_then(|snapshot| snapshot.status.as_deref()).map(normal_status).unwrap_or_default();
    // After a close the body is a person's account of it.
    let front = text.as_deref().and_then(|text| State::parse(text).front_text("status"));
    let status = front.filter(|front| is_awaiting_milestone(front)).unwrap_or(status);
    let activity = snapshot.as_ref().and_then(|snapshot| snapshot.last_activity.clone());
    Ok(Signals {
        current_phase,
        total_phases: written
            .and_then(|written| written.total_phases)
            .or_else(|| snapshot.as_ref().and_then(|snapshot| snapshot.total_phases)),
        progress: written.and_then(|written| written.percent),
        has_planning: surroundings.has_planning,
        has_roadmap: roadmap.is_some(),
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
        has_open_plans: phases.iter().any(|phase| phase.standing.work.has_plan_to_do),
        unaccepted_phases: view.open_acceptances()?.into_iter().map(|open| open.phase).collect(),
        deferred_in: deferred_in.map(|label| label.number),
        next_step,
        up_next,
        state_commits_behind: surroundings.behind,
        // The commit that holds STATE.md itself comes after the one it names.
        state_commit_stale: surroundings.behind.map(|behind| behind > 1),
        status,
    })
}

/// Whether a day lies more than three days back.
fn is_stale(day: &str, facts: &Facts) -> bool {
    days_since_epoch(day).is_some_and(|day| facts.milliseconds - day * DAY > STALE_AFTER_DAYS * DAY)
}

/// Days from 1970-01-01 to `2026-01-02`.
fn days_since_epoch(day: &str) -> Option<i64> {
    let mut parts = day.split('-').map(str::parse::<i64>);
    let (year, month, day) = (parts.next()?.ok()?, parts.next()?.ok()?, parts.next()?.ok()?);
    // Years that begin in March, so that the leap day is the last of its year.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year / 4 - year / 100 + year / 400;
    Some(year * 365 + leap_days + (153 * month + 2) / 5 + day - 1 - 719_468)
}

fn situation(signals: &Signals) -> Situation {
    let status = signals.status.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| status.contains(word));
    let has_phases = signals.total_phases.unwrap_or(signals.listed_phases) > 0 || signals.up_next.phase().is_some();
    let all_done = signals.listed_phases > 0 && signals.open_phases == 0;
    let at_rest = matches!(status.as_str(), "complete" | "completed" | "done" | "shipped" | "paused");
    match () {
        () if !signals.has_planning => Situation::NoProject,
        () if signals.paused => Situation::Paused,
        () if !signals.blockers.is_empty() => Situation::Blocked,
        () if signals.verify_failed => Situation::VerifyFailed,
        () if signals.has_roadmap && signals.open_phases == 0 && is_awaiting_milestone(&signals.status) => {
            Situation::Complete
        }
        () if !signals.has_roadmap || !has_phases => Situation::NeedsFirstPhase,
        () if all_done && status.contains("complete") => Situation::Complete,
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
    /// The next command, and what else can be done, for a person at a terminal.
    pub(crate) fn shown(&self, screen: Screen) -> String {
        let mut page = self.advice.shown(screen, &[]);
        // Without a roadmap there is no phase to discuss or to plan.
        let can = |id: &str| self.signals.has_roadmap || !id.ends_with("-phase");
        let is_next = |action: &Action| action.id == NEXT || self.advice.command.starts_with(&action.command);
        let known = |action: &&Action| can(action.id) && !is_next(action);
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

impl Advice {
    /// The next command and the reason for it, below facts that come first.
    pub(crate) fn shown(&self, screen: Screen, before: &[(&str, Cell)]) -> String {
        let next = [("Next", Cell::new(Tone::Command, self.command.as_str())), ("", Cell::from(self.why.as_str()))];
        screen.fields("", &before.iter().cloned().chain(next).collect::<Vec<_>>())
    }
}

impl Situation {
    /// The actions, the recommended one first.
    fn actions(self) -> [&'static str; 4] {
        match self {
            Self::NoProject => ["new-project", "map-codebase", "quick", "help"],
            Self::Paused => ["resume-work", "progress", "quick", "help"],
            Self::Blocked => ["debug", "verify-work", "capture", "progress"],
            Self::VerifyFailed => ["progress-next", "verify-work", "code-review", "progress"],
            Self::NeedsFirstPhase => ["discuss-phase", "plan-phase", "quick", "progress"],
            Self::Complete => ["new-milestone", "extract-learnings", "progress", "quick"],
            Self::Planning => ["progress-next", "plan-phase", "discuss-phase", "progress"],
            Self::Executing => ["progress-next", "execute-phase", "quick", "code-review"],
            Self::VerifyPending => ["progress-next", "verify-work", "code-review", "ship"],
            Self::IdleStranded => ["ship", "complete-milestone", "progress", "capture"],
            Self::Unknown => ["progress", "progress-next", "quick", "help"],
        }
    }
}

/// Whether every phase is complete and the milestone is not archived yet: that comes before the next milestone.
fn closes_milestone(situation: Situation, signals: &Signals, commands: &Commands) -> bool {
    let is_done = matches!(signals.up_next, UpNext::MilestoneDone(_));
    situation == Situation::Complete && is_done && is_installed(CLOSE, commands)
}

/// The closed phase whose acceptance test goes first: before the next step of the current phase, and after plans that can be
/// executed, as progress routes it. Checks that were put off come once every phase is done.
fn to_accept(situation: Situation, signals: &Signals) -> Option<&str> {
    let waits =
        matches!(situation, Situation::NoProject | Situation::Paused | Situation::Blocked | Situation::NeedsFirstPhase);
    if waits || signals.has_open_plans {
        return None;
    }
    let deferred = signals.deferred_in.as_ref().filter(|_| situation == Situation::Complete);
    signals.unaccepted_phases.first().or(deferred).map(String::as_str)
}

/// What the summary of the current phase does not say.
fn notice(situation: Situation, signals: &Signals) -> Option<String> {
    let unaccepted = &signals.unaccepted_phases;
    if !unaccepted.is_empty() {
        return Some(format!("the acceptance test of phase {} is open", unaccepted.join(", ")));
    }
    Some(format!("deferred checks of phase {} are open", to_accept(situation, signals)?))
}

/// The next command for a person: the one that everything shows.
fn advice(signals: &Signals, commands: &Commands) -> Advice {
    let spelled = |name: &str| format!("{}{name}", commands.prefix);
    if !signals.has_planning {
        return Advice { command: spelled("new-project"), why: "There is no project yet".to_owned() };
    }
    let next = &signals.up_next;
    Advice { command: next.command(spelled, |name| is_installed(name, commands)), why: next.why() }
}

fn summary(situation: Situation, signals: &Signals, commands: &Commands) -> String {
    let place = place(signals);
    match situation {
        Situation::NoProject if !is_installed("map-codebase", commands) => "No project yet — start one".to_owned(),
        Situation::NoProject => "No project yet — start fresh or map an existing codebase".to_owned(),
        Situation::Paused => format!("{place} · paused"),
        Situation::Blocked => format!("{place} · blocked by {}", signals.blockers.join("; ")),
        Situation::VerifyFailed => format!("{place} · verification found gaps"),
        Situation::NeedsFirstPhase => "Project initialized — plan your first phase".to_owned(),
        Situation::Complete if closes_milestone(situation, signals, commands) => {
            "All phases complete — complete the milestone".to_owned()
        }
        Situation::Complete if !is_installed("new-milestone", commands) => "All phases complete".to_owned(),
        Situation::Complete => "All phases complete — start a new milestone".to_owned(),
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
        Situation::Unknown => "The situation is unclear — showing progress".to_owned(),
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
    if let (ACCEPT, Some(phase)) = (id, to_accept(situation, signals)) {
        return format!("Finish the acceptance test of phase {phase}");
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

fn command(id: &str, situation: Situation, signals: &Signals, commands: &Commands) -> String {
    let prefix = &commands.prefix;
    match (id, to_accept(situation, signals)) {
        (NEXT, _) => format!("{prefix}progress --next"),
        (ACCEPT, Some(phase)) => format!("{prefix}{ACCEPT} {phase}"),
        _ => format!("{prefix}{id}"),
    }
}

fn is_installed(id: &str, commands: &Commands) -> bool {
    let name = if id == NEXT { "progress" } else { id };
    commands.installed.iter().any(|installed| installed == name)
}

/// The action that goes on with an acceptance test.
const ACCEPT: &str = "verify-work";

/// The action that archives a milestone whose phases are complete.
const CLOSE: &str = "complete-milestone";

/// The action that takes the route that progress shows.
const NEXT: &str = "progress-next";

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
    fn an_acceptance_test_that_is_open_is_named_although_its_phase_is_closed() {
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
    fn an_open_acceptance_test_goes_before_the_next_phase_and_after_plans_to_execute() {
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
    fn checks_that_were_put_off_come_once_every_phase_is_done() {
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
        assert_eq!(told(ROADMAP).1, None, "as long as a phase is open they wait");
    }

    #[test]
    fn the_first_situation_that_fits_is_told() {
        let here = Surroundings { has_planning: true, ..Surroundings::default() };
        let state = |status: &str| {
            format!(
                "# S\n\n## Current Position\n\nPhase: 2 of 2 (B)\nStatus: {status}\nLast activity: 2026-01-11 — x\n"
            )
        };
        for (text, roadmap, situation, recommended, summary) in [
            (
                String::new(),
                "",
                Situation::NeedsFirstPhase,
                "discuss-phase",
                "Project initialized — plan your first phase",
            ),
            (state("Paused"), ROADMAP, Situation::Paused, "resume-work", "Phase 2 · paused"),
            (
                state("Executing") + "\n## Blockers\n\n- API\n",
                ROADMAP,
                Situation::Blocked,
                "debug",
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
                "progress",
                "The situation is unclear — showing \
                    progress",
            ),
            (
                state("Somewhere").replace("2026-01-11", "2026-01-05"),
                ROADMAP,
                Situation::IdleStranded,
                "ship",
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
                state("Awaiting next milestone"),
                "# R\n\n<details>\n<summary>✅ v1.0 - SHIPPED</summary>\n\n- [x] **Phase 1: A**\n\n</details>\n",
                Situation::Complete,
                "new-milestone",
                "All phases complete — start a new milestone",
            ),
            (
                state("Executing"),
                &ROADMAP.replace("[ ]", "[x]"),
                Situation::Executing,
                "progress-next",
                "Phase 2 · executing",
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
