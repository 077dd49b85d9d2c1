//! Decides the next step of a run, from the documents and the log only.

use super::ceilings::Passed;
use super::event::{
    CheckedTree, Death, Halt, LandingMode, Mechanical, PullRequest, Refusal, RequestPlace, RequestState,
    SessionVerdict, Time, UnitEnded, UnitStarted, Vector,
};
use super::hold::LONGEST_HOLD;
use super::memory::{Attempts, CANDIDATE, LoggedCandidate, Memory, Operation, OperationStage};
use super::position::{Position, RuleResult};
use super::runner::table::Runners;
use super::runner::verdict::KILLED;
use super::stop::{Cause, Stop};
use super::unit::{Class, Unit, UnitKind};
use crate::gate::secrets;
use crate::text::screen::counted;
use crate::text::shell::{Typed, typed};
use crate::text::time;

/// The input of a decision.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Situation<'a> {
    pub(crate) position: &'a Position,
    pub(crate) memory: &'a Memory,
    /// Whether the worktree has changes that are in no commit and not in the log.
    pub(crate) is_unsaved: bool,
    /// Whether the checks of the project must run before the first session. False for callers that only look.
    pub(crate) needs_baseline: bool,
    /// How often a unit with failing checks is tried again.
    pub(crate) check_retries: u32,
    /// Whether the client can continue a session that was killed.
    pub(crate) can_resume: bool,
    /// Whether there is a check that sessions cannot read.
    pub(crate) has_held_out: bool,
}

/// The next step.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    /// Starts a session; `resumes` is the session to continue.
    Launch {
        unit: Unit,
        rule: &'static str,
        attempt: u32,
        resumes: Option<String>,
    },
    /// Runs the command of a hook after the last unit, or ends one whose process died.
    Hook,
    /// Ends what a session left running after the process that ran it died.
    Sweep,
    /// Judges a session that ended: does its work count?
    Judge,
    /// Runs the checks of the project on the commit that the run started from.
    Baseline,
    /// Runs the checks.
    Check,
    /// Writes the results of the checks to the documents.
    Settle,
    /// Refuses the attempt, since the checks failed.
    Refuse {
        why: Refusal,
        text: String,
        vector: Vector,
    },
    /// Takes back the changes of a session that does not count.
    TakeBack(Box<UnitStarted>),
    Mechanical(Mechanical),
    Commit,
    /// Makes the commit that is to land.
    MakeCandidate,
    CheckCandidate,
    /// Runs the check that sessions cannot read, at this place.
    HeldOut(String),
    /// Stops, so that a person looks at what is to land.
    Review,
    /// Asks whether the pull request is open, merged or closed.
    LookAtRequest,
    /// Pushes the candidate, and opens or updates its pull request.
    Propose,
    Land,
    Release,
    /// Waits until this time on either clock.
    Wait {
        until: Time,
        why: String,
    },
    EndWait,
    Stop(Stop),
}

/// Returns the next step.
pub(crate) fn decide(situation: &Situation<'_>, now: Time) -> Step {
    let memory = situation.memory;
    if let Some(start) = &memory.taking_back {
        return Step::TakeBack(Box::new(start.clone()));
    }
    if let Some(stop) = &memory.stop {
        return Step::Stop(stop.clone());
    }
    if let Some(hold) = &memory.hold {
        let until = hold.end();
        return if now.has_come_to(until) { Step::EndWait } else { Step::Wait { until, why: hold.why.clone() } };
    }
    if memory.committing.is_some() {
        return Step::Commit;
    }
    if memory.hooking.is_some() {
        return Step::Hook;
    }
    if let Some(operation) = &memory.current {
        return in_operation(situation, operation);
    }
    if let Some(step) = landing(situation) {
        return step;
    }
    if let Some(step) = held_out(situation, None) {
        return step;
    }
    let position = situation.position;
    match &position.mechanical {
        Some(step) if position.blocked.is_none() => return Step::Mechanical(step.clone()),
        _ => {}
    }
    if memory.is_uncommitted || situation.is_unsaved {
        return Step::Commit;
    }
    if let Some(stop) = &position.blocked {
        return Step::Stop(stop.clone());
    }
    if position.is_complete {
        return Step::MakeCandidate;
    }
    by_rules(situation)
}

/// Returns the steps after the work: the candidate, its checks, and the branch.
fn landing(situation: &Situation<'_>) -> Option<Step> {
    let memory = situation.memory;
    if memory.landed.is_some() {
        if !memory.is_released {
            return Some(Step::Release);
        }
        let milestone = memory.run.as_ref().map(|run| run.milestone.clone()).unwrap_or_default();
        return Some(Step::Stop(landed(&milestone, memory)));
    }
    if let (Some(LandingMode::Request), None, Some(request)) = (memory.mode(), &memory.reviewed, &memory.request) {
        match memory.request_state {
            None => return Some(Step::LookAtRequest),
            Some(RequestState::Closed) => return Some(Step::Stop(request_closed(memory, request))),
            _ => {}
        }
    }
    let candidate = memory.candidate.as_ref()?;
    Some(match &candidate.evidence {
        None => Step::CheckCandidate,
        Some(evidence) if evidence.passed => match &candidate.held_out {
            None if situation.has_held_out => Step::HeldOut(CANDIDATE.to_owned()),
            Some(result) if !result.passed => Step::Stop(held_out_refused(memory)),
            _ => agreed(memory, candidate),
        },
        Some(evidence) => Step::Stop(candidate_refused(memory, evidence)),
    })
}

/// Returns the step for a candidate that passed everything: it lands if no person has to look at it, or one has.
fn agreed(memory: &Memory, candidate: &LoggedCandidate) -> Step {
    match memory.mode() {
        Some(_) if memory.reviewed.as_ref() == Some(&candidate.commit) => Step::Land,
        Some(LandingMode::Ask) => Step::Review,
        Some(LandingMode::Request) => match &memory.request {
            Some(request) if memory.request_state == Some(RequestState::Merged) => {
                Step::Stop(request_merged(memory, request))
            }
            Some(request) if request.commit == candidate.commit && !is_unopened(memory, request) => {
                Step::Stop(request_open(memory, request))
            }
            _ => Step::Propose,
        },
        _ => Step::Land,
    }
}

/// True if no pull request is known for the pushed branch, and this process has not tried to open one.
fn is_unopened(memory: &Memory, request: &PullRequest) -> bool {
    request.url.is_none() && memory.request_state == Some(RequestState::Unknown)
}

/// Returns the stop of a run whose work waits for a person to look at it.
pub(crate) fn review(memory: &Memory, candidate: &LoggedCandidate, files: usize) -> Stop {
    let milestone = memory.run.as_ref().map(|run| run.milestone.as_str()).unwrap_or_default();
    let checks = candidate.evidence.as_ref().map_or(0, |evidence| evidence.checks.len());
    let checks =
        if checks == 0 { "there were no checks".to_owned() } else { format!("{} passed", counted(checks, "check")) };
    let text = format!("{milestone} is done and waits for your review: {} differ, {checks}", counted(files, "file"));
    let shown = [
        "`gsd-tools auto diff` shows what would land, and `gsd-tools auto report` how it was made".to_owned(),
        format!("`{}` has the same files", typed!("git show {}", candidate.commit)),
        "to have something changed: `gsd-tools auto steer`, or change it in the worktree, then run again".to_owned(),
    ];
    Stop::new(Cause::Review, text, "gsd-tools auto land").shown(shown.into_iter().chain(would_run(memory)))
}

fn request_open(memory: &Memory, request: &PullRequest) -> Stop {
    let milestone = memory.run.as_ref().map(|run| run.milestone.as_str()).unwrap_or_default();
    let PullRequest { url, place, notes, .. } = request;
    let text = match url {
        Some(url) => {
            format!("{milestone} waits in {url}; once that is merged and `{}` here has it, run again", place.base)
        }
        None => format!(
            "{milestone} is pushed to `{}` of `{}` and waits for a pull request; once that is merged and `{}` here has it, run again",
            place.branch, place.remote, place.base
        ),
    };
    Stop::new(Cause::PullRequest, text, "gsd-tools auto run").shown(notes.iter().cloned().chain(would_run(memory)))
}

fn request_merged(memory: &Memory, request: &PullRequest) -> Stop {
    let milestone = memory.run.as_ref().map(|run| run.milestone.as_str()).unwrap_or_default();
    let RequestPlace { remote, base, .. } = &request.place;
    let url = request.url.as_deref().unwrap_or("its pull request");
    let text = format!(
        "{url} was merged, and `{base}` here does not have {milestone} as it was tested: bring it here, then run again"
    );
    let abandon = typed!("gsd-tools auto abandon {}", milestone);
    let shown =
        format!("if it was changed before it was merged: `{abandon}` ends the run, and keeps its work for 30 days");
    Stop::new(Cause::PullRequest, text, typed!("git pull --ff-only {} {}", remote, base)).shown([shown])
}

fn request_closed(memory: &Memory, request: &PullRequest) -> Stop {
    let milestone = memory.run.as_ref().map(|run| run.milestone.as_str()).unwrap_or_default();
    let url = request.url.as_deref().unwrap_or("its pull request");
    let text = format!("{url} was closed and is not merged, so {milestone} does not land");
    let abandon = typed!("gsd-tools auto abandon {}", milestone);
    let shown = [
        "reopen it, then `gsd-tools auto run`".to_owned(),
        "`gsd-tools auto land` lands it here all the same".to_owned(),
        format!("`{abandon}` ends the run, and keeps its work for 30 days"),
    ];
    Stop::new(Cause::RequestClosed, text, abandon).shown(shown)
}

/// Returns the end of a run that has finished its milestone.
pub(crate) fn landed(milestone: &str, memory: &Memory) -> Stop {
    let stop = Stop::new(Cause::Complete, format!("{milestone} has landed"), "gsd-tools auto report");
    stop.shown(memory.running().map(|line| format!("landed, and runs on its own: {line}")))
}

/// Returns the files that would run without being called, for a stop before anything has landed.
pub(crate) fn would_run(memory: &Memory) -> impl Iterator<Item = String> {
    memory.running().map(|line| format!("would land, and run on its own: {line}"))
}

fn candidate_refused(memory: &Memory, evidence: &CheckedTree) -> Stop {
    let failing = evidence.checks.iter().filter(|check| !check.passed);
    let mut shown: Vec<String> =
        failing.map(|check| format!("`{}` exits {}", check.command, check.exit_code)).collect();
    shown.extend(evidence.failure.lines().map(str::to_owned));
    shown.extend(would_run(memory));
    let worktree = memory.run.as_ref().map(|run| run.worktree.as_str()).unwrap_or_default();
    if !evidence.secrets.is_empty() {
        shown.push(secrets::way_on(evidence.secrets.iter().map(|secret| secret.path.as_str())));
        let text = format!(
            "what looks like a key would land, so nothing has landed; remove it in `{worktree}`, commit nothing there, then run again"
        );
        return Stop::new(Cause::SecretAdded, text, "gsd-tools auto run").shown(shown);
    }
    let text = format!(
        "the checks fail on the merge with the target, so nothing has landed; correct it in `{worktree}`, commit nothing there, then \
         run again"
    );
    Stop::new(Cause::CandidateRefused, text, "gsd-tools auto run").shown(shown)
}

/// Returns what a session and a person read about the check that sessions cannot read: only where it failed.
fn held_out_failed(place: &str) -> String {
    format!("the held-out check of {place} failed")
}

const HELD_OUT_BY_HAND: &str = "what it printed is kept nowhere: run the command of `held_out` yourself to see it";

fn held_out_refused(memory: &Memory) -> Stop {
    let worktree = memory.run.as_ref().map(|run| run.worktree.as_str()).unwrap_or_default();
    let text = format!(
        "the held-out check fails on the merge with the target, so nothing has landed; correct it in `{worktree}`, commit nothing \
         there, then run again"
    );
    let shown = [HELD_OUT_BY_HAND.to_owned()].into_iter().chain(would_run(memory));
    Stop::new(Cause::HeldOutFailed, text, "gsd-tools auto run").shown(shown)
}

/// Returns the step for the check that sessions cannot read, at the end of a slice or phase. If it failed at the end of
/// a unit, the unit is tried again.
fn held_out(situation: &Situation<'_>, operation: Option<&Operation>) -> Option<Step> {
    let position = situation.position;
    let place = position.ends.as_ref().filter(|_| situation.has_held_out && position.blocked.is_none())?;
    let text = held_out_failed(place);
    Some(match (situation.memory.held_out.get(place), operation) {
        (None, _) => Step::HeldOut(place.clone()),
        (Some(result), _) if result.passed => return None,
        (Some(result), Some(_)) => {
            let vector = Vector { tree: result.tree.clone(), failing: vec![text.clone()], missing: Vec::new() };
            Step::Refuse { why: Refusal::HeldOut, text, vector }
        }
        (Some(_), None) => {
            let worktree = situation.memory.run.as_ref().map(|run| run.worktree.as_str()).unwrap_or_default();
            let text = format!("{text}; correct it in `{worktree}`, commit nothing there, then run again");
            let stop = Stop::new(Cause::HeldOutFailed, text, "gsd-tools auto run");
            Step::Stop(stop.shown([HELD_OUT_BY_HAND.to_owned()]))
        }
    })
}

fn by_rules(situation: &Situation<'_>) -> Step {
    match &situation.position.finding {
        RuleResult::Dispatch(unit) => launch(situation, unit.clone(), situation.position.rule),
        RuleResult::Mechanical(step) => Step::Mechanical(step.clone()),
        RuleResult::Hook => Step::Hook,
        RuleResult::Stop(stop) => Step::Stop(stop.clone()),
        RuleResult::No(why) => Step::Stop(Stop::new(Cause::Unhandled, why.clone(), "gsd-tools auto status")),
    }
}

/// How often a unit is attempted while its documents are missing.
const ATTEMPTS: usize = 3;
/// How often a session that a crash ended is started again.
const CRASHES: u32 = 6;
/// How often a session is started for a model that cannot be reached.
const HOLDS: u32 = 5;

/// Starts a unit, unless it was tried too often or the run may not spend more.
fn launch(situation: &Situation<'_>, unit: Unit, rule: &'static str) -> Step {
    let attempts = situation.memory.attempts(&unit);
    if let Some(stop) = given_up(situation, &unit, &attempts) {
        return Step::Stop(stop);
    }
    if situation.memory.reviewed.is_some() {
        let text = format!("what you looked at does not land: {unit} comes first, by an order or a change since then");
        let stop = Stop::new(Cause::Review, text, "gsd-tools auto run");
        return Step::Stop(stop.shown(["that call continues the work, and waits for your review again".to_owned()]));
    }
    if let Some(stop) = ceiling(situation.memory) {
        return Step::Stop(stop);
    }
    if situation.needs_baseline {
        return Step::Baseline;
    }
    let attempt = u32::try_from(attempts.refused.len()).unwrap_or(u32::MAX).saturating_add(1);
    Step::Launch { unit, rule, attempt, resumes: None }
}

fn given_up(situation: &Situation<'_>, unit: &Unit, attempts: &Attempts) -> Option<Stop> {
    if unit.kind == UnitKind::RewriteDocs {
        // The rules count these sessions, and continue without the change of course if no session makes it.
        return None;
    }
    // A session that asks a person has not failed.
    let refused: Vec<_> = attempts.refused.iter().filter(|refused| refused.why != Refusal::Question).collect();
    let last = refused.last()?;
    let next = "gsd-tools auto run";
    let way_on = (last.why == Refusal::Secret).then(|| secrets::way_on(last.vector.failing.iter().map(String::as_str)));
    let kept = attempts.kept.as_ref().map(|kept| format!("what the last attempt left is kept in `{}`", kept.reference));
    let log = format!("`{}` shows each attempt", typed!("gsd-tools auto log {}", unit.id));
    let by_hand = (last.why == Refusal::HeldOut).then(|| HELD_OUT_BY_HAND.to_owned());
    let shown = || {
        let texts = refused.iter().map(|refused| refused.text.clone());
        texts.chain(way_on.clone()).chain(by_hand.clone()).chain(kept.clone()).chain([log.clone()])
    };
    if let Some(before) = refused.len().checked_sub(2).and_then(|index| refused.get(index))
        && before.vector == last.vector
        && before.why == last.why
    {
        let text = format!("two attempts at {unit} ended in the same state");
        let cause = match last.why {
            Refusal::Secret => Cause::SecretAdded,
            Refusal::HeldOut => Cause::HeldOutFailed,
            _ => Cause::NoProgress,
        };
        return Some(Stop::new(cause, text, next).shown(shown()));
    }
    let is_checks = matches!(last.why, Refusal::Checks | Refusal::Tampered | Refusal::Secret | Refusal::HeldOut);
    let most = if is_checks {
        usize::try_from(situation.check_retries).unwrap_or(usize::MAX).saturating_add(1)
    } else {
        situation.position.most_attempts.unwrap_or(ATTEMPTS)
    };
    if refused.len() < most {
        return None;
    }
    let cause = match last.why {
        Refusal::Checks | Refusal::Tampered => Cause::ChecksFailed,
        Refusal::Secret => Cause::SecretAdded,
        Refusal::HeldOut => Cause::HeldOutFailed,
        Refusal::Outside => Cause::Outside,
        Refusal::Denied => Cause::Denied,
        Refusal::Session | Refusal::Artifact | Refusal::Hidden | Refusal::NoChange | Refusal::Question => Cause::Stuck,
    };
    let text = format!("{unit} was tried {}: {}", counted(refused.len(), "time"), last.text);
    Some(Stop::new(cause, text, next).shown(shown()))
}

fn ceiling(memory: &Memory) -> Option<Stop> {
    let (text, next) = match memory.ceilings.passed(&memory.spent, memory.forecast())? {
        Passed::Sessions { used, most } => {
            let text = format!("{used} sessions were started, and the ceiling is {most}");
            (
                text,
                typed!("gsd-tools auto run --max-sessions {}", used.max(most).saturating_add(used.max(most) / 2 + 1)),
            )
        }
        Passed::Money { used, most } => {
            let text = format!("{used:.2} USD were spent, and the ceiling is {most:.2}");
            (text, typed!("gsd-tools auto run --budget {}", format!("{:.0}", (most * 2.0).max(1.0))))
        }
    };
    Some(Stop::new(Cause::Ceiling, text, next))
}

fn in_operation(situation: &Situation<'_>, operation: &Operation) -> Step {
    match &operation.stage {
        OperationStage::Running => Step::Sweep,
        OperationStage::Interrupted => relaunch(situation, operation),
        OperationStage::Ended => Step::Judge,
        OperationStage::Accepted if operation.start.unit.kind.is_gated() => Step::Check,
        OperationStage::Accepted => finish(situation, operation),
        OperationStage::Checked(_) => Step::Settle,
        OperationStage::Settled(evidence) if evidence.passed => finish(situation, operation),
        OperationStage::Settled(evidence) => refuse_by_checks(operation, evidence),
    }
}

fn finish(situation: &Situation<'_>, operation: &Operation) -> Step {
    held_out(situation, Some(operation)).unwrap_or_else(|| close(situation))
}

/// Closes a unit that counts: mechanical steps that follow from it go into the same commit.
fn close(situation: &Situation<'_>) -> Step {
    let follows = situation.position.mechanical.clone().filter(|_| situation.position.blocked.is_none());
    follows.map_or(Step::Commit, Step::Mechanical)
}

/// Continues the session of the operation, or starts it again, since it ended early.
fn relaunch(situation: &Situation<'_>, operation: &Operation) -> Step {
    let unit = operation.start.unit.clone();
    let attempts = situation.memory.attempts(&unit);
    if attempts.interrupted > CRASHES {
        let text = format!("{unit} was interrupted {} times", attempts.interrupted);
        let log = format!("`{}` shows each session", typed!("gsd-tools auto log {}", unit.id));
        return Step::Stop(Stop::new(Cause::Stuck, text, "gsd-tools auto run").shown([log]));
    }
    if let Some(stop) = ceiling(situation.memory) {
        return Step::Stop(stop);
    }
    let session = operation.ended.as_ref().and_then(|ended| ended.session.clone());
    let session = session.unwrap_or_else(|| operation.start.session.clone());
    let resumes = (situation.can_resume && operation.has_begun).then_some(session);
    Step::Launch { unit, rule: "continued", attempt: operation.start.attempt, resumes }
}

fn refuse_by_checks(operation: &Operation, evidence: &CheckedTree) -> Step {
    let failing = evidence.checks.iter().filter(|check| !check.passed).map(|check| check.command.clone());
    let mut failing: Vec<String> = failing.collect();
    failing.extend(evidence.findings.iter().map(|finding| format!("{}: {}", finding.path, finding.what)));
    let why = if evidence.findings.is_empty() { Refusal::Checks } else { Refusal::Tampered };
    let tree = operation.ended.as_ref().map(|ended| ended.tree.clone()).unwrap_or_default();
    Step::Refuse { why, text: evidence.failure.clone(), vector: Vector { tree, failing, missing: Vec::new() } }
}

/// How a session that ended is handled.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Judgement {
    Accept,
    Refuse {
        why: Refusal,
        text: String,
        vector: Vector,
    },
    /// It is continued at this time; no attempt is lost.
    Hold {
        until: i64,
        why: String,
    },
    /// It is continued at once; no attempt is lost.
    Continue,
    /// It is continued when a person starts the run again.
    SetAside(Stop),
}

/// Decides whether the work of the session counts.
pub(crate) fn judge(situation: &Situation<'_>, operation: &Operation, ended: &UnitEnded, now: i64) -> Judgement {
    let unit = &operation.start.unit;
    let planning = situation.position.planning;
    let missing = situation.position.missing.clone();
    let vector = Vector { tree: ended.tree.clone(), failing: Vec::new(), missing: missing.clone() };
    let refuse = |why, text: String| Judgement::Refuse { why, text, vector: vector.clone() };
    match &ended.verdict {
        SessionVerdict::Ran => {}
        SessionVerdict::NoSignal { signal: Some(KILLED), .. } => return Judgement::Continue,
        SessionVerdict::NoSignal { text, .. } => {
            return refuse(Refusal::Session, format!("the session did not say that it was done: {text}"));
        }
        SessionVerdict::Dead { cause, resets_at, text } => {
            return dead(situation, unit, *cause, *resets_at, text, now, &refuse);
        }
        SessionVerdict::Halted { why: Halt::Budget, text } => return over_budget(situation, unit, text),
        SessionVerdict::Halted { why, text } => return halted(unit, *why, text, &refuse),
    }
    let outside = outside(unit.kind.class(), &ended.changed, planning);
    if !outside.is_empty() {
        let shown = outside.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
        return refuse(Refusal::Outside, format!("{} may not change {shown}", unit.kind.word()));
    }
    if let Some(question) = situation.position.asks.as_ref().filter(|_| !missing.is_empty()) {
        return refuse(Refusal::Question, question.clone());
    }
    if !missing.is_empty() {
        let text = format!("missing: {}", missing.join("; "));
        if ended.denied.is_empty() {
            return refuse(Refusal::Artifact, text);
        }
        return refuse(Refusal::Denied, format!("{text}; the client refused {}", ended.denied.join(", ")));
    }
    if unit.kind.class() != Class::Work && ended.changed.is_empty() {
        return refuse(Refusal::NoChange, "the session wrote nothing".to_owned());
    }
    // A phase whose plans were executed before is only verified.
    let executes = matches!(unit.kind, UnitKind::ExecuteTask | UnitKind::QuickTask)
        || unit.kind == UnitKind::ExecutePhase && ended.changed.iter().any(|path| path.ends_with("SUMMARY.md"));
    if executes && !changed_anything(situation, &ended.changed) {
        let text = "no file outside the planning folder was changed, and the SUMMARY does not say why none had to be";
        return refuse(Refusal::NoChange, text.to_owned());
    }
    Judgement::Accept
}

/// True if the unit changed the project, or its documents claim that no change was needed, which the checks then prove.
/// `changed` is the difference from the start of the attempt.
fn changed_anything(situation: &Situation<'_>, changed: &[String]) -> bool {
    changed.iter().any(|path| !is_below(path, situation.position.planning)) || situation.position.claims_no_change
}

pub(crate) fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// Returns the files that a unit of this class may not change.
fn outside(class: Class, changed: &[String], planning: &str) -> Vec<String> {
    let is_document = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or(path);
        path.starts_with("docs/") || name.to_ascii_lowercase().ends_with(".md")
    };
    let may = |path: &String| match class {
        Class::Work => true,
        Class::Documents => is_below(path, planning) || is_document(path),
        Class::Planning | Class::Verification => is_below(path, planning),
    };
    changed.iter().filter(|path| !may(path)).cloned().collect()
}

/// Returns the time to wait: half a minute, doubled each time, at most ten minutes.
fn patience(holds: u32) -> i64 {
    (30_000_i64 << holds.min(5)).min(600_000)
}

fn dead(
    situation: &Situation<'_>,
    unit: &Unit,
    cause: Death,
    resets_at: Option<i64>,
    text: &str,
    now: i64,
    refuse: &impl Fn(Refusal, String) -> Judgement,
) -> Judgement {
    let held = situation.memory.attempts(unit).held;
    match cause {
        Death::Quota => {
            let is_told = resets_at.is_some_and(|reset| reset > now && reset <= now.saturating_add(LONGEST_HOLD));
            let until = match resets_at {
                Some(reset) if is_told => reset,
                // Either the client or its clock is wrong.
                Some(reset) if reset <= now => now.saturating_add(patience(held)),
                _ => now.saturating_add(patience(held).max(60_000)),
            };
            let unlikely = match resets_at.filter(|_| !is_told) {
                Some(reset) => {
                    let shown = time::in_words(reset).unwrap_or_else(|| "a moment that no clock has".to_owned());
                    format!(" (the client says that it is there again at {shown}, which cannot be)")
                }
                None => String::new(),
            };
            Judgement::Hold { until, why: format!("the quota is used up: {text}{unlikely}") }
        }
        Death::Overload | Death::Network if held < HOLDS => Judgement::Hold {
            until: now.saturating_add(patience(held)),
            why: format!("the model cannot be reached: {text}"),
        },
        Death::Auth => {
            let text = format!("the client is not allowed to use its model: {text}");
            let again = "gsd-tools auto run";
            Judgement::SetAside(match signs_in(situation.memory) {
                Some(next) => Stop::new(Cause::Auth, text, next).shown([format!("sign in, then run `{again}`")]),
                None => Stop::new(Cause::Auth, text, again),
            })
        }
        Death::Start => {
            let text = format!("the client could not be started: {text}");
            Judgement::SetAside(Stop::new(Cause::Auth, text, "gsd-tools auto run"))
        }
        Death::Overload | Death::Network => {
            let text = format!("the model could not be reached {} times: {text}", held + 1);
            Judgement::SetAside(Stop::new(Cause::Stuck, text, "gsd-tools auto run"))
        }
        Death::Context => refuse(Refusal::Session, format!("the context of the session was full: {text}")),
        Death::Limit => refuse(Refusal::Session, format!("a limit of the client ended the session: {text}")),
        Death::Model => refuse(Refusal::Session, format!("the model failed: {text}")),
    }
}

/// Returns the command with which the user signs in to the client of the run.
fn signs_in(memory: &Memory) -> Option<Typed> {
    let run = memory.run.as_ref()?;
    Runners::builtin().ok()?.find(&run.runner).ok()?.signs_in(run.means.program.as_deref())
}

/// Stops the session because the run may not spend more.
fn over_budget(situation: &Situation<'_>, unit: &Unit, text: &str) -> Judgement {
    let (ceilings, spent) = (situation.memory.ceilings, situation.memory.spent.money.unwrap_or(0.0));
    if let Some(most) = ceilings.unit_money.filter(|_| spent < ceilings.money) {
        let next = typed!("gsd-tools auto run --unit-budget {}", format!("{:.0}", (most * 2.0).max(1.0)));
        let text = format!("{unit} was stopped: it cost more than a session may ({most:.2} USD)");
        return Judgement::SetAside(Stop::new(Cause::Ceiling, text, next));
    }
    let money = ceilings.money;
    let next = typed!("gsd-tools auto run --budget {}", format!("{:.0}", (money * 2.0).max(1.0)));
    Judgement::SetAside(Stop::new(Cause::Ceiling, format!("{unit} was stopped: {text}"), next))
}

fn halted(unit: &Unit, why: Halt, text: &str, refuse: &impl Fn(Refusal, String) -> Judgement) -> Judgement {
    match why {
        Halt::Pause => Judgement::SetAside(Stop::new(Cause::Paused, format!("paused in {unit}"), "gsd-tools auto run")),
        Halt::Stop => {
            Judgement::SetAside(Stop::new(Cause::Stopped, format!("stopped in {unit}"), "gsd-tools auto run"))
        }
        Halt::Ceiling | Halt::Budget => {
            let text = format!("{unit} reached its ceiling: {text}");
            Judgement::SetAside(Stop::new(Cause::Ceiling, text, "gsd-tools auto run --unit-minutes 60"))
        }
        Halt::Slept => Judgement::Continue,
        Halt::Idle => refuse(Refusal::Session, format!("the session did nothing any more: {text}")),
        Halt::Retries => refuse(Refusal::Session, format!("the session made no progress: {text}")),
        Halt::Question => refuse(Refusal::Session, format!("the session asked a question, and nobody answers: {text}")),
    }
}
