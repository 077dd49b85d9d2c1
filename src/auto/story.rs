//! The lines that a run prints during its work: one for each event that a person wants to see.

use super::account::figures;
use super::decided::DECIDED;
use super::event::{
    CheckRun, CheckedTree, Event, HookEnded, Means, Mechanical, MessageDelivery, ProofKept, PullRequest, Refusal,
    SessionVerdict, UnitEnded,
};
use super::permit;
use super::stop::Stop;
use crate::text::screen::counted;
use crate::text::time;

/// Returns the line of an event; `None` for bookkeeping.
pub(crate) fn line(event: &Event) -> Option<String> {
    Some(match event {
        Event::Started(run) => {
            let set_up = run.means.set_up.as_ref().map(|set_up| format!("; set-up of worktrees: {set_up}"));
            let (milestone, target, runner) = (&run.milestone, &run.target, &run.runner);
            format!(
                "{milestone} on {target} with {runner}, {} sessions forecast{}",
                run.forecast,
                set_up.unwrap_or_default()
            )
        }
        Event::Resumed { runner, means: Means { model: Some(model), .. }, .. } => {
            format!("The run continues with {runner}, model {model}.")
        }
        Event::Resumed { runner, .. } => format!("The run continues with {runner}."),
        Event::UnitStarted(start) if start.resumed => format!("{}: the session continues", start.unit),
        Event::UnitStarted(start) if start.attempt > 1 => format!("{}: attempt {}", start.unit, start.attempt),
        Event::UnitStarted(start) => start.unit.to_string(),
        Event::UnitEnded(ended) => ended_line(ended),
        Event::Interrupted { .. } | Event::CutShort { .. } => "  the session was interrupted".to_owned(),
        Event::Refused { why: Refusal::Question, text, .. } => format!("  asks: {}", first_line(text)),
        Event::Refused { text, .. } => format!("  does not count: {}", first_line(text)),
        Event::CandidateChecked { evidence, .. } if !evidence.secrets.is_empty() => {
            format!("  does not land: {}", first_line(&evidence.failure))
        }
        Event::Baseline { evidence } => return baseline(evidence),
        Event::Checked { evidence, .. } | Event::CandidateChecked { evidence, .. } => {
            let running = evidence.running.iter().map(|line| format!("\n  lands, and runs on its own: {line}"));
            let running: String = running.collect();
            let (passed, all) = (evidence.checks.iter().filter(|check| check.passed).count(), evidence.checks.len());
            match (evidence.passed, &evidence.no_checks_reason) {
                (true, Some(reason)) => format!("  no checks: {reason}{running}"),
                (true, None) => checks_passed(evidence) + &running,
                (false, _) if passed == all && !evidence.findings.is_empty() => {
                    "  the checks passed, and a guard refused the change".to_owned()
                }
                (false, _) if passed == all => "  the checks do not show the work".to_owned(),
                (false, _) => format!("  checks failed: {} of {all}", all - passed),
            }
        }
        Event::HeldOut(run) => {
            format!("  held-out check of {}: {}", run.place, if run.result.passed { "passed" } else { "failed" })
        }
        Event::Mechanical { step: Mechanical::CarryOutCapture { capture, .. }, fallback: None } => {
            format!("{capture} is carried out without a session")
        }
        Event::Mechanical { step, fallback: None } => format!("{} without a session", step.word()),
        Event::Mechanical { step, fallback: Some(why) } => format!("{} needs a session: {why}", step.word()),
        Event::Candidate { .. }
        | Event::TakenUp { .. }
        | Event::Outdated { .. }
        | Event::Pushing { .. }
        | Event::Requested(_)
        | Event::RequestSeen { .. }
        | Event::Landed { .. } => return landing(event),
        Event::Abandoned { milestone, kept } if kept.is_empty() => format!("{milestone} abandoned"),
        Event::Abandoned { milestone, kept } => {
            format!("{milestone} abandoned; what it had is kept in {}", kept.join(", "))
        }
        Event::Ordered { order, refused: None, .. } => format!("Applied: {order}"),
        Event::Ordered { order, refused: Some(why), .. } => format!("Not applied: {order}: {why}"),
        Event::Edited { paths, .. } => format!("Changed while no session ran, and accepted: {}", permit::listed(paths)),
        Event::PutBack { trespasses, kept, .. } => {
            let place = kept.as_ref().map(|kept| format!("; kept in {}", kept.reference)).unwrap_or_default();
            format!("  put back, since the unit may not change it: {}{place}", permit::named(trespasses))
        }
        Event::Accepted { roadmap: Some(roadmap), .. } => format!("  roadmap: {roadmap}"),
        Event::Restored { kept: Some(kept), .. } => format!("  taken back, and kept in {}", kept.reference),
        Event::HookEnded(ended) => hook(ended),
        Event::Delivered(MessageDelivery { channel, problem: Some(problem), .. }) => {
            format!("  message by {} not delivered: {}", channel.word(), first_line(problem))
        }
        Event::Announced(sent) => {
            let channels: Vec<&str> = sent.channels.iter().map(|channel| channel.word()).collect();
            format!("  message `{}` by {}", sent.message.topic.word(), channels.join(", "))
        }
        Event::Held { until, why, .. } => match time::in_words(*until) {
            Some(until) => format!("Waiting until {until}: {why}"),
            None => format!("Waiting: {why}"),
        },
        Event::SetAside { .. }
        | Event::Accepted { .. }
        | Event::Restored { .. }
        | Event::Settled { .. }
        | Event::Committing { .. }
        | Event::Committed { .. }
        | Event::Released { .. }
        | Event::HoldEnded
        | Event::HookStarted(_)
        | Event::Delivered(_)
        | Event::Stopped(_) => return None,
    })
}

/// Returns the line of an event between the end of the work and its landing.
fn landing(event: &Event) -> Option<String> {
    Some(match event {
        Event::Candidate { .. } => "Merged with the target; its checks come next".to_owned(),
        Event::TakenUp { commit } => {
            format!("Nothing has changed since {} was checked", commit.get(..12).unwrap_or(commit))
        }
        Event::Outdated { .. } => "The target moved: merged again".to_owned(),
        Event::Pushing { commit, place } => {
            format!("Pushing {} to {} of {}", commit.get(..12).unwrap_or(commit), place.branch, place.remote)
        }
        Event::Requested(PullRequest { url: Some(url), .. }) => format!("The pull request is {url}"),
        Event::Requested(request) => {
            format!("{} of {} waits for a pull request", request.place.branch, request.place.remote)
        }
        Event::RequestSeen { state } => format!("The pull request: {}", state.word()),
        Event::Landed { milestone, commit, proof } => {
            let landed = format!("{milestone} landed as {}", commit.get(..12).unwrap_or(commit));
            match proof {
                None => landed,
                Some(ProofKept::Signed { .. }) => format!("{landed}, with a signed proof"),
                Some(ProofKept::Unsigned { why, .. }) => {
                    format!("{landed}, with an unsigned proof: {}", first_line(why))
                }
                Some(ProofKept::Missing { why }) => format!("{landed}, without a proof: {}", first_line(why)),
            }
        }
        _ => return None,
    })
}

/// Returns the line of the command of a hook that ended.
fn hook(ended: &HookEnded) -> String {
    let how = match (ended.is_skipped, ended.passed, ended.exit_code) {
        (true, ..) => "skipped, since its artifact is there".to_owned(),
        (_, true, _) => "passed".to_owned(),
        (_, _, Some(code)) => format!("failed with exit code {code}"),
        (_, _, None) => "interrupted".to_owned(),
    };
    let changed = &ended.put_back;
    let put_back = if changed.is_empty() { String::new() } else { format!("; put back: {}", permit::listed(changed)) };
    format!("hook `{}`: {how}{put_back}", ended.hook)
}

/// Returns the line of a session that ended.
fn ended_line(ended: &UnitEnded) -> String {
    let seconds = ended.milliseconds / 1000;
    let tokens = ended.usage.input + ended.usage.output;
    let money = ended.money.map(|usd| format!(", {}", figures::dollars(usd))).unwrap_or_default();
    match &ended.verdict {
        SessionVerdict::Ran => format!("  ended after {seconds} s, {tokens} tokens{money}"),
        SessionVerdict::NoSignal { exit, signal, text } => {
            let how = match (exit, signal) {
                (Some(code), _) => format!("with code {code}"),
                (None, Some(signal)) => format!("by signal {signal}"),
                (None, None) => "early".to_owned(),
            };
            let text = if text.is_empty() { String::new() } else { format!(": {}", first_line(text)) };
            format!("  ended {how} after {seconds} s, without a result{text}")
        }
        SessionVerdict::Dead { text, .. } | SessionVerdict::Halted { text, .. } => {
            format!("  ended after {seconds} s: {text}")
        }
    }
}

/// Returns a line about the checks that fail before the first session.
fn baseline(evidence: &CheckedTree) -> Option<String> {
    let red: Vec<String> = evidence.checks.iter().filter(|check| !check.passed).map(red).collect();
    (!red.is_empty()).then(|| {
        let (these, count, they) = if red.len() == 1 { ("it", "counts", "it") } else { ("they", "count", "one") };
        format!(
            "Red before the first session: {}; {these} {count} neither for nor against until {they} passes once",
            red.join(", ")
        )
    })
}

fn red(check: &CheckRun) -> String {
    let failing = match check.failing.len() {
        0 => String::new(),
        failing => format!(", {}", counted(failing, "failing test")),
    };
    format!("`{}` (exit {}{failing})", check.command, check.exit_code)
}

/// Returns how many checks passed, and what happened to the others. A check that failed is not counted, even if it is
/// excused.
fn checks_passed(evidence: &CheckedTree) -> String {
    let passed = evidence.checks.iter().filter(|check| check.exit_code == 0).count();
    let mut line = format!("  checks passed: {passed}");
    for (note, said) in [("red before", "failed as before"), (DECIDED, "failed, and decided by a person")] {
        line.extend(evidence.notes.get(note).map(|which| format!("; {said}: {which}")));
    }
    line.extend(evidence.notes.get("not run").map(|why| format!("; {why}")));
    line
}

/// Returns the line for the end of a run in its log. During the run, its answer has the same content.
pub(crate) fn end(stop: &Stop) -> String {
    format!("Stopped: {}", first_line(&stop.text))
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
