//! What a run did and what that cost, from its entries in the log: the source of every figure that cards, views,
//! reports and forecasts show.

pub(crate) mod estimate;
pub(crate) mod figures;
pub(crate) mod page;
pub(crate) mod summary;

use schemars::JsonSchema;
use serde::Serialize;

use std::collections::BTreeMap;

use super::event::{
    CheckRun, CheckedTree, Entry, Event, MESSAGE_LOST, MessageDelivery, ProofKept, Refusal, Run, SessionVerdict,
    UnitEnded, Usage,
};
use super::memory::Memory;
use super::runs::LoggedRun;
use super::story;
use super::unit::Unit;
use crate::project::milestone_layout::messages::MessageChannel;

/// A run, its units and its figures.
#[derive(Clone, Debug)]
pub(crate) struct RunAccount {
    pub(crate) run: Run,
    /// The first and the last entry, in milliseconds since 1970.
    pub(crate) began: i64,
    pub(crate) latest: i64,
    /// The units in the order of their first sessions.
    pub(crate) units: Vec<UnitAccount>,
    /// Milliseconds in which a process worked on it outside of units: the checks before the first, and the landing.
    pub(crate) around: u64,
    /// Milliseconds in which it waited, for a quota for example.
    pub(crate) waited: u64,
    /// What happened, in order.
    pub(crate) timeline: Vec<LoggedMoment>,
    /// The decisions of a person.
    pub(crate) decisions: Vec<PersonsDecision>,
    pub(crate) landing: Option<LandingAccount>,
    /// Messages that did not arrive, one line each.
    pub(crate) undelivered: Vec<String>,
    /// The topics of its messages, by their numbers.
    topics: BTreeMap<u32, &'static str>,
    /// Whether a person ended it for good.
    pub(crate) is_abandoned: bool,
    /// The state of the run after its last entry.
    pub(crate) memory: Memory,
    clock: Clock,
}

/// A unit, from its first session to the commit that closes it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct UnitAccount {
    #[serde(flatten)]
    pub(crate) unit: Unit,
    /// When it began, in milliseconds since 1970.
    pub(crate) began: i64,
    /// How long a process worked on it, in milliseconds: its sessions, and the checks of its work.
    pub(crate) milliseconds: u64,
    pub(crate) sessions: Vec<SessionAccount>,
    /// The last run of its checks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) checks: Vec<CheckAccount>,
    /// The commit with its work; left out while it is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) commit: Option<String>,
}

/// A session of a unit.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct SessionAccount {
    #[serde(skip)]
    pub(crate) operation: u64,
    /// Counted from 1; sessions that a crash ended do not count.
    pub(crate) attempt: u32,
    /// Whether it continued an earlier session.
    pub(crate) resumed: bool,
    /// When it began, in milliseconds since 1970.
    pub(crate) began: i64,
    /// How long it took; left out while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) milliseconds: Option<u64>,
    /// Output tokens and uncached input.
    pub(crate) tokens: u64,
    /// In US dollars; left out if the client reports none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) usd: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    pub(crate) tool_calls: u32,
    /// The files that it changed.
    pub(crate) changed: Vec<String>,
    pub(crate) outcome: SessionEnding,
    /// Why it does not count, or how it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) why: Option<String>,
}

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SessionEnding {
    /// It runs, or the process that ran it died.
    Running,
    /// It ended, and is not judged yet.
    Ended,
    /// Its work counts.
    Counted,
    /// Its work does not count.
    Refused,
    /// It asked a question.
    Asked,
    /// It was interrupted, and may be continued.
    Interrupted,
}

/// A check, and how it ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct CheckAccount {
    pub(crate) command: String,
    pub(crate) exit_code: i32,
    pub(crate) passed: bool,
    pub(crate) milliseconds: u64,
}

/// Something that happened during a run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct LoggedMoment {
    /// In milliseconds since 1970.
    pub(crate) at: i64,
    pub(crate) text: String,
}

/// A decision of a person: an order, or a change of the documents while no session ran.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct PersonsDecision {
    /// In milliseconds since 1970.
    pub(crate) at: i64,
    pub(crate) text: String,
    /// Why it could not be followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) refused: Option<String>,
}

/// A landing.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct LandingAccount {
    /// In milliseconds since 1970.
    pub(crate) at: i64,
    pub(crate) commit: String,
    /// `signed`, `unsigned` or `missing`.
    pub(crate) proof: &'static str,
    /// The checks of exactly this commit.
    pub(crate) checks: Vec<CheckAccount>,
}

/// What was spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Totals {
    pub(crate) units: usize,
    pub(crate) sessions: usize,
    /// Output tokens and uncached input.
    pub(crate) tokens: u64,
    /// In US dollars; left out if the client reports none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) usd: Option<f64>,
    /// How long processes worked, in milliseconds.
    pub(crate) milliseconds: u64,
}

impl Totals {
    /// Returns the sum of both.
    pub(crate) fn and(self, other: Self) -> Self {
        let usd = match (self.usd, other.usd) {
            (None, None) => None,
            (one, another) => Some(one.unwrap_or(0.0) + another.unwrap_or(0.0)),
        };
        Self {
            units: self.units + other.units,
            sessions: self.sessions + other.sessions,
            tokens: self.tokens + other.tokens,
            usd,
            milliseconds: self.milliseconds + other.milliseconds,
        }
    }
}

/// The time that passes between two entries, and what it counts for.
#[derive(Clone, Copy, Debug, Default)]
struct Clock {
    /// The time of the entry before.
    before: i64,
    /// Whether no process is known to have worked on the run since then.
    is_idle: bool,
}

/// Returns the accounts of all runs in a log, the oldest first.
pub(crate) fn accounts(entries: &[Entry]) -> Vec<RunAccount> {
    LoggedRun::all(entries).iter().filter_map(RunAccount::of).collect()
}

impl RunAccount {
    fn of(logged: &LoggedRun<'_>) -> Option<Self> {
        let (first, rest) = logged.entries.split_first()?;
        let mut account = Self::new(logged.run, first);
        for entry in rest {
            account.add(entry);
        }
        Some(account)
    }

    fn new(run: &Run, entry: &Entry) -> Self {
        let mut memory = Memory::default();
        memory.add(entry);
        let at = entry.at.wall;
        Self {
            run: run.clone(),
            began: at,
            latest: at,
            units: Vec::new(),
            around: 0,
            waited: 0,
            timeline: Vec::from_iter(moment(entry)),
            decisions: Vec::new(),
            landing: None,
            undelivered: Vec::new(),
            topics: BTreeMap::new(),
            is_abandoned: false,
            memory,
            clock: Clock { before: at, is_idle: false },
        }
    }

    /// What was spent so far. What a running session has used is not known before it ends.
    pub(crate) fn totals(&self) -> Totals {
        let of_units = self.units.iter().map(UnitAccount::totals).fold(Totals::default(), Totals::and);
        Totals { milliseconds: of_units.milliseconds + self.around, ..of_units }
    }

    /// True if it is over: it landed and its worktree is gone, or a person ended it.
    pub(crate) fn is_over(&self) -> bool {
        self.memory.is_released || self.is_abandoned
    }

    fn add(&mut self, entry: &Entry) {
        self.pass_time(entry);
        self.timeline.extend(moment(entry));
        match &entry.event {
            Event::UnitStarted(start) => {
                let session = SessionAccount {
                    operation: start.operation,
                    attempt: start.attempt,
                    resumed: start.resumed,
                    began: entry.at.wall,
                    milliseconds: None,
                    tokens: 0,
                    usd: None,
                    model: None,
                    tool_calls: 0,
                    changed: Vec::new(),
                    outcome: SessionEnding::Running,
                    why: None,
                };
                self.unit(&start.unit, entry.at.wall).sessions.push(session);
            }
            Event::UnitEnded(ended) => self.of_session(ended.operation, |session| session.end(ended)),
            Event::Interrupted { operation, heard } => self.of_session(*operation, |session| {
                session.spend(heard.usage, heard.money);
                let took = entry.at.wall.saturating_sub(session.began);
                session.milliseconds = Some(u64::try_from(took).unwrap_or_default());
                session.outcome = SessionEnding::Interrupted;
            }),
            Event::CutShort { operation }
            | Event::SetAside { operation }
            | Event::Held { operation: Some(operation), .. } => {
                self.of_session(*operation, |session| session.outcome = SessionEnding::Interrupted);
            }
            Event::Refused { operation, why, text, .. } => self.of_session(*operation, |session| {
                session.outcome = if *why == Refusal::Question { SessionEnding::Asked } else { SessionEnding::Refused };
                session.why = Some(text.clone());
            }),
            Event::Checked { operation, evidence } => {
                let checks = CheckAccount::all_of(evidence);
                if let Some(unit) = self.units.iter_mut().find(|unit| unit.has(*operation)) {
                    unit.checks = checks;
                }
            }
            Event::Committed { operation: Some(operation), commit } => {
                self.of_session(*operation, |session| session.outcome = SessionEnding::Counted);
                if let Some(unit) = self.units.iter_mut().find(|unit| unit.has(*operation)) {
                    unit.commit = Some(commit.clone());
                }
            }
            Event::Ordered { order, refused, .. } => self.decisions.push(PersonsDecision {
                at: entry.at.wall,
                text: order.to_string(),
                refused: refused.clone(),
            }),
            Event::Edited { .. } => self.decisions.extend(story::line(&entry.event).map(|text| PersonsDecision {
                at: entry.at.wall,
                text,
                refused: None,
            })),
            Event::Landed { commit, proof, .. } => {
                let evidence = self.memory.candidate.as_ref().and_then(|candidate| candidate.evidence.as_ref());
                self.landing = Some(LandingAccount {
                    at: entry.at.wall,
                    commit: commit.clone(),
                    proof: match proof {
                        Some(ProofKept::Signed { .. }) => "signed",
                        Some(ProofKept::Unsigned { .. }) => "unsigned",
                        Some(ProofKept::Missing { .. }) | None => "missing",
                    },
                    checks: evidence.map(CheckAccount::all_of).unwrap_or_default(),
                });
            }
            Event::Announced(sent) => {
                self.topics.insert(sent.number, sent.message.topic.word());
            }
            Event::Delivered(MessageDelivery { number, channel, problem: Some(problem) }) => {
                self.undelivered.push(self.message(*number, *channel, problem));
            }
            Event::Abandoned { .. } => {
                // Its figures stay as they were.
                self.is_abandoned = true;
                return;
            }
            _ => {}
        }
        self.memory.add(entry);
    }

    fn message(&self, number: u32, channel: MessageChannel, problem: &str) -> String {
        let topic = self.topics.get(&number).copied().unwrap_or_default();
        format!("`{topic}` by {}: {problem}", channel.word())
    }

    /// Returns the messages that did not arrive, with those that were being sent when the last process died.
    pub(super) fn lost_messages(&self) -> Vec<String> {
        let sending = self.memory.sending.iter().filter(|_| self.memory.stop.is_some());
        let sending = sending.map(|(number, channel)| self.message(*number, *channel, MESSAGE_LOST));
        self.undelivered.iter().cloned().chain(sending).collect()
    }

    /// Counts the time since the entry before.
    fn pass_time(&mut self, entry: &Entry) {
        let at = entry.at.wall;
        let passed = u64::try_from(at.saturating_sub(self.clock.before)).unwrap_or_default();
        // The process before died at an unknown time after its last entry.
        let is_unknown = matches!(entry.event, Event::Resumed { .. });
        if self.memory.hold.is_some() {
            self.waited += passed;
        } else if !self.clock.is_idle && !is_unknown {
            let current = self.memory.current.as_ref().map(|operation| operation.start.operation);
            match self.units.iter_mut().find(|unit| current.is_some_and(|current| unit.has(current))) {
                Some(unit) => unit.milliseconds += passed,
                None => self.around += passed,
            }
        }
        self.clock = Clock {
            before: at,
            is_idle: matches!(entry.event, Event::Stopped(_) | Event::Released { .. } | Event::Abandoned { .. }),
        };
        self.latest = at;
    }

    fn unit(&mut self, unit: &Unit, at: i64) -> &mut UnitAccount {
        let number = self.units.iter().position(|known| known.unit == *unit && known.commit.is_none());
        let number = number.unwrap_or_else(|| {
            self.units.push(UnitAccount {
                unit: unit.clone(),
                began: at,
                milliseconds: 0,
                sessions: Vec::new(),
                checks: Vec::new(),
                commit: None,
            });
            self.units.len() - 1
        });
        &mut self.units[number]
    }

    fn of_session(&mut self, operation: u64, change: impl FnOnce(&mut SessionAccount)) {
        let sessions = self.units.iter_mut().flat_map(|unit| &mut unit.sessions);
        if let Some(session) = sessions.into_iter().find(|session| session.operation == operation) {
            change(session);
        }
    }
}

/// Returns what an entry is for the timeline.
fn moment(entry: &Entry) -> Option<LoggedMoment> {
    let text = match &entry.event {
        Event::Stopped(stop) => story::end(stop),
        event => story::line(event)?,
    };
    Some(LoggedMoment { at: entry.at.wall, text: text.trim().to_owned() })
}

impl UnitAccount {
    fn has(&self, operation: u64) -> bool {
        self.sessions.iter().any(|session| session.operation == operation)
    }

    pub(crate) fn totals(&self) -> Totals {
        let usd = self.sessions.iter().filter_map(|session| session.usd).reduce(|sum, usd| sum + usd);
        Totals {
            units: 1,
            sessions: self.sessions.len(),
            tokens: self.sessions.iter().map(|session| session.tokens).sum(),
            usd,
            milliseconds: self.milliseconds,
        }
    }
}

impl SessionAccount {
    fn spend(&mut self, usage: Usage, money: Option<f64>) {
        self.tokens = usage.input + usage.output;
        self.usd = money;
    }

    fn end(&mut self, ended: &UnitEnded) {
        self.spend(ended.usage, ended.money);
        self.milliseconds = Some(ended.milliseconds);
        self.model.clone_from(&ended.model);
        self.tool_calls = ended.tool_calls;
        self.changed.clone_from(&ended.changed);
        self.outcome = SessionEnding::Ended;
        self.why = match &ended.verdict {
            SessionVerdict::Ran => None,
            SessionVerdict::NoSignal { text, .. } => Some(text.clone()).filter(|text| !text.is_empty()),
            SessionVerdict::Dead { text, .. } | SessionVerdict::Halted { text, .. } => Some(text.clone()),
        };
    }
}

impl CheckAccount {
    pub(crate) fn all_of(evidence: &CheckedTree) -> Vec<Self> {
        evidence.checks.iter().map(Self::of).collect()
    }

    fn of(run: &CheckRun) -> Self {
        Self {
            command: run.command.clone(),
            exit_code: run.exit_code,
            passed: run.passed,
            milliseconds: run.milliseconds,
        }
    }
}
