//! The verdict about a session: a pure function of its output and of how it ended.

use std::fmt;
use std::time::Duration;

use super::death::Death;
use super::event::{QuotaStatus, Terminal};
use super::heard::Heard;
use crate::world::Ended;

/// A session that ended sooner than this without text and without a tool did nothing, whatever the client reports.
const GHOST: Duration = Duration::from_millis(500);

/// The signal that no program sends to itself: a person, or a system out of memory, killed it.
pub(crate) const KILLED: i32 = 9;

/// The outcome of a session. Only after `Ran` is its work looked at; and then it is checked, not believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The client reported success, in the one way that its stream has.
    Ran,
    /// It ended without a final message.
    NoSignal,
    /// The model, or the client itself, gave up.
    Dead(Death),
    /// It was stopped.
    Stopped(Reason),
}

/// Why a session was stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// The caller asked for it.
    Asked(String),
    /// It took longer than its limit.
    Whole,
    /// Nothing happened.
    Idle,
    /// It never produced an event.
    FirstEvent,
    /// Its time passed while this process could not read: the machine slept, or this process was suspended.
    Slept,
    /// It wrote more than its limit.
    Output,
    /// It cost more than its limit.
    Money,
    /// The model answered again and again, and used no tool.
    CallsWithoutTool,
    /// The client retried again and again, and the model did not answer.
    Retries,
    /// The client waits longer than its limit before it retries.
    LongWait,
    /// The key or login is refused, and the client retries.
    RefusedLogin,
}

impl Verdict {
    /// Returns the words for it: the outcome of the session, and why it is not `ran`, if known.
    pub(crate) fn words(&self) -> (&'static str, Option<&'static str>) {
        match self {
            Self::Ran => ("ran", None),
            Self::NoSignal => ("no-signal", None),
            Self::Dead(death) => ("dead", Some(death.word())),
            Self::Stopped(reason) => ("stopped", Some(reason.word())),
        }
    }

    /// Returns the same as one text, such as `dead: auth`.
    pub(crate) fn in_short(&self) -> String {
        match self.words() {
            (verdict, Some(kind)) => format!("{verdict}: {kind}"),
            (verdict, None) => verdict.to_owned(),
        }
    }
}

impl Reason {
    /// Returns the word for it.
    fn word(&self) -> &'static str {
        match self {
            Self::Asked(_) => "asked",
            Self::Whole => "whole",
            Self::Idle => "idle",
            Self::FirstEvent => "first-event",
            Self::Slept => "slept",
            Self::Output => "output",
            Self::Money => "money",
            Self::CallsWithoutTool => "calls-without-tool",
            Self::Retries => "retries",
            Self::LongWait => "long-wait",
            Self::RefusedLogin => "refused-login",
        }
    }
}

/// How a session ended, apart from its output.
#[derive(Clone, Debug, Default)]
pub(crate) struct End {
    pub(crate) ended: Option<Ended>,
    /// Why it was stopped before its final message.
    pub(crate) stopped: Option<Reason>,
    /// Whether we stopped it after its final message, since it did not exit; its exit status then means nothing.
    pub(crate) was_helped: bool,
    pub(crate) ran_for: Duration,
    /// The end of its standard error.
    pub(crate) complaint: String,
    /// Whether the client reports success for an answer that was cut off, and counts no tokens for it.
    pub(crate) counts_only_whole_answers: bool,
}

/// A verdict and its evidence, in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Judgement {
    pub(crate) verdict: Verdict,
    pub(crate) evidence: String,
}

/// Judges a session. A stop takes precedence over what the client reports when it is stopped, then its final message
/// counts; how it ended can only make that worse.
pub(crate) fn judge(heard: &Heard, end: &End) -> Judgement {
    match (&end.stopped, &heard.terminal) {
        (Some(reason), _) => stopped(reason, heard),
        (None, Some(Terminal::Success)) => success(heard, end),
        (None, Some(Terminal::Failure(failure))) => {
            let death = Death::of_failure(failure).or_else(|| of_trouble(heard)).unwrap_or(Death::Model);
            let status = failure.status.map(|status| format!(" (status {status})")).unwrap_or_default();
            dead(death, format!("the client reported a failure{status}: {}", line(&failure.text)))
        }
        (None, None) => silent(heard, end),
    }
}

fn success(heard: &Heard, end: &End) -> Judgement {
    let is_ghost = end.ran_for < GHOST && heard.tools == 0 && heard.text.trim().is_empty();
    if is_ghost {
        let evidence = format!("it reported success after {} ms without text or a tool", end.ran_for.as_millis());
        return Judgement { verdict: Verdict::NoSignal, evidence };
    }
    for words in [&heard.text, &heard.last_piece] {
        if let Some(death) = of_words(words) {
            return dead(death, format!("the client reported success after: {}", line(words)));
        }
    }
    if end.counts_only_whole_answers && heard.is_last_answer_uncounted() {
        let evidence = format!("the client reported success after an interrupted answer: {}", line(&heard.text));
        return dead(Death::Network, evidence);
    }
    if end.was_helped || matches!(end.ended, Some(Ended::Code(0))) {
        return Judgement { verdict: Verdict::Ran, evidence: "the client reported success".to_owned() };
    }
    if end.ended == Some(Ended::Signal(KILLED)) {
        // It was killed from outside: no fault of its own is known, and it may have had more to report.
        let evidence = "the client reported success, then it was killed".to_owned();
        return Judgement { verdict: Verdict::NoSignal, evidence };
    }
    let death = of_complaints(heard, end).unwrap_or(Death::Model);
    dead(death, format!("the client reported success, then ended with {}", how(end.ended)))
}

/// Returns the meaning of an error that a client writes as the model's text before it reports success.
fn of_words(text: &str) -> Option<Death> {
    const BEGINNINGS: &[&str] = &["[API Error", "API Error", "Error: "];
    let text = text.trim_start();
    BEGINNINGS.iter().any(|beginning| text.starts_with(beginning)).then(|| Death::of_text(text)).flatten()
}

/// Judges a session that ended by itself and without a final message.
fn silent(heard: &Heard, end: &End) -> Judgement {
    let how = how(end.ended);
    if let Some(death) = of_complaints(heard, end) {
        let in_stream = heard.trouble.as_ref().map(|(_, text)| line(text)).filter(|said| !said.is_empty());
        let of_death = || end.complaint.lines().find(|line| Death::of_text(line).is_some()).map(line);
        let said = in_stream.or_else(of_death).or_else(|| last_line(&end.complaint)).unwrap_or_default();
        return dead(death, format!("it ended with {how} and no result: {said}"));
    }
    let said = last_line(&end.complaint).map(|said| format!(": {said}")).unwrap_or_default();
    Judgement { verdict: Verdict::NoSignal, evidence: format!("it ended with {how} and no result{said}") }
}

/// Returns the meaning of the client's errors, unless its exit code says that all is well.
fn of_complaints(heard: &Heard, end: &End) -> Option<Death> {
    let of_complaint = || Death::of_text(&end.complaint).filter(|_| end.ended != Some(Ended::Code(0)));
    of_trouble(heard).or_else(of_complaint)
}

fn of_trouble(heard: &Heard) -> Option<Death> {
    let (status, text) = heard.trouble.as_ref()?;
    status.and_then(Death::of_status).or_else(|| Death::of_text(text))
}

fn stopped(reason: &Reason, heard: &Heard) -> Judgement {
    let death = match reason {
        Reason::RefusedLogin => Some(Death::Auth),
        // It was stopped between its report about a quota and its final message.
        Reason::LongWait if heard.quota.as_ref().is_some_and(|quota| quota.status == QuotaStatus::Rejected) => {
            Some(Death::Quota)
        }
        Reason::LongWait | Reason::Retries => Some(of_trouble(heard).unwrap_or(Death::Overload)),
        // A client that only retried did not hang: the model did.
        Reason::Whole | Reason::Idle | Reason::FirstEvent if heard.model_calls == 0 && heard.retries > 0 => {
            of_trouble(heard)
        }
        _ => None,
    };
    match death {
        Some(death) => dead(death, format!("stopped: {reason}")),
        None => Judgement { verdict: Verdict::Stopped(reason.clone()), evidence: format!("stopped: {reason}") },
    }
}

fn dead(death: Death, evidence: String) -> Judgement {
    Judgement { verdict: Verdict::Dead(death), evidence }
}

fn how(ended: Option<Ended>) -> String {
    match ended {
        Some(Ended::Code(code)) => format!("exit code {code}"),
        Some(Ended::Signal(signal)) => format!("signal {signal}"),
        Some(Ended::OutOfTime) | None => "no exit code".to_owned(),
    }
}

/// Returns the text in one line of limited length.
fn line(text: &str) -> String {
    const LONGEST: usize = 300;
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = words.chars().take(LONGEST).collect();
    if short.len() < words.len() { format!("{short}…") } else { short }
}

fn last_line(text: &str) -> Option<String> {
    text.lines().rev().map(str::trim).find(|line| !line.is_empty()).map(line)
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Asked(why) => why,
            Self::Whole => "it took longer than its time limit",
            Self::Idle => "nothing happened for longer than its idle limit",
            Self::FirstEvent => "it did not start to work in time",
            Self::Slept => "its time limit passed while this process or the machine was suspended",
            Self::Money => "it cost more than the run may still spend",
            Self::Output => "it wrote more tokens than its limit",
            Self::CallsWithoutTool => "the model answered too often without using a tool",
            Self::Retries => "the client retried too often",
            Self::LongWait => "the client waits too long before it retries",
            Self::RefusedLogin => "the key or login was refused",
        })
    }
}
