//! A run as it is at this moment, for views that are drawn again and again: from its log, from what its session has
//! printed so far, and from the plan of its slice. Reads only, so that no view can disturb the run.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::accounts::of_place;
use super::place::{Preferred, RunPlace};
use crate::auto::account::summary::RunSummary;
use crate::auto::account::{LoggedMoment, RunAccount};
use crate::auto::event::{Entry, Event, Run, UnitStarted};
use crate::auto::memory::{Memory, OperationStage};
use crate::auto::real::stream_of;
use crate::auto::runner::event::{ClientEvent, ToolState};
use crate::auto::runner::heard::Heard;
use crate::auto::runner::request::Request;
use crate::auto::runner::stream::Reader;
use crate::auto::runner::table::{Profile, Runners};
use crate::auto::slices::derive::Scope;
use crate::auto::slices::forecast::{self, Shape};
use crate::auto::slices::reading::{self, Extent};
use crate::auto::stop::Stop;
use crate::auto::unit::Unit;
use crate::disk::{self, AbsolutePath};
use crate::failure::Failure;
use crate::text::terminal::one_line;
use crate::world::World;

/// A run at this moment.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct LiveRun {
    pub(crate) summary: RunSummary,
    pub(crate) standing: LiveStanding,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unit: Option<LiveUnit>,
    /// The number of units that are done, and how many there will be.
    pub(crate) units: (usize, usize),
    pub(crate) most_sessions: u32,
    /// The ceiling of money, in US dollars.
    pub(crate) budget: f64,
    pub(crate) client: String,
    /// What happened, in order.
    pub(crate) timeline: Vec<LoggedMoment>,
    /// The tasks of the slice that is worked on.
    pub(crate) tasks: Vec<TaskLine>,
}

/// What a run is doing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LiveStanding {
    /// A session, or the checks of its work.
    Working,
    /// It waits until this time, in milliseconds since 1970.
    Waiting {
        until: i64,
        why: String,
    },
    Stopped(Stop),
    /// No process works on it, and it did not stop.
    Interrupted,
}

/// The unit in progress.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct LiveUnit {
    pub(crate) unit: Unit,
    /// The title of its task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    pub(crate) attempt: u32,
    /// When its session began, in milliseconds since 1970.
    pub(crate) began: i64,
    /// Such as `session`, `checks` or `commit`.
    pub(crate) stage: &'static str,
    /// What its session reported so far.
    pub(crate) tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) usd: Option<f64>,
    pub(crate) tools: u32,
    /// The last tool that it used, or the last words of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last: Option<String>,
}

/// A task of the slice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct TaskLine {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) is_done: bool,
    pub(crate) is_current: bool,
}

/// Reads the last run of a project again and again, and only what has changed.
pub(crate) struct LiveSource {
    world: World,
    place: RunPlace,
    /// The size of the log when it was read.
    size: Option<u64>,
    account: Option<RunAccount>,
    title: Option<String>,
    tasks: Vec<TaskLine>,
    /// How many units are left, by the documents.
    left: Option<usize>,
    stream: Option<LiveStream>,
}

/// The output of the session in progress.
struct LiveStream {
    operation: u64,
    path: AbsolutePath,
    reader: Reader,
    read: u64,
    /// The beginning of a line whose end is not there yet.
    rest: Vec<u8>,
    heard: Heard,
    last: Option<String>,
    /// What it reported since this was taken.
    news: Vec<String>,
}

/// The lines of a run that are more than progress: what its sessions do, and the entries of its log.
pub(crate) struct RunTrace {
    place: RunPlace,
    shows_entries: bool,
    read: u64,
    /// The beginning of an entry whose end is not there yet.
    rest: Vec<u8>,
    stream: Option<LiveStream>,
}

/// The most letters of an entry that are shown.
const ENTRY: usize = 4000;

/// The most bytes of a stream that are read at once.
const AT_ONCE: u64 = 8 << 20;

/// The most letters of what a session did last.
const LETTERS: usize = 120;

impl LiveSource {
    pub(crate) fn new(world: &World, place: &RunPlace) -> Self {
        Self {
            world: world.clone(),
            place: place.clone(),
            size: None,
            account: None,
            title: None,
            tasks: Vec::new(),
            left: None,
            stream: None,
        }
    }

    /// The size of the log at this moment; it grows with each entry.
    pub(crate) fn size_of_log(&self) -> Option<u64> {
        disk::size(self.place.log())
    }

    /// Returns the last run as it is now; `None` if there was none. `is_held` finds whether a process works on it.
    pub(crate) fn look(
        &mut self,
        is_held: impl FnOnce(&Memory) -> Result<bool, Failure>,
    ) -> Result<Option<LiveRun>, Failure> {
        let size = self.size_of_log();
        if size != self.size {
            self.account = of_place(&self.place)?.pop();
            self.size = size;
            self.read_documents();
        }
        self.hear()?;
        let Some(account) = &self.account else { return Ok(None) };
        Ok(Some(self.shown(account, is_held(&account.memory)?)))
    }

    fn shown(&self, account: &RunAccount, is_held: bool) -> LiveRun {
        let memory = &account.memory;
        let standing = match (&memory.stop, &memory.hold) {
            (Some(stop), _) => LiveStanding::Stopped(stop.clone()),
            (None, _) if !is_held => LiveStanding::Interrupted,
            (None, Some(hold)) => LiveStanding::Waiting { until: hold.end().wall, why: hold.why.clone() },
            (None, None) => LiveStanding::Working,
        };
        let mut summary = RunSummary::of(account, self.title.clone());
        let unit = self.unit(account);
        if let Some(unit) = unit.as_ref().filter(|unit| unit.stage == SESSION) {
            summary.totals.tokens += unit.tokens;
            if let Some(usd) = unit.usd {
                summary.totals.usd = Some(summary.totals.usd.unwrap_or_default() + usd);
            }
        }
        let done = account.units.iter().filter(|unit| unit.commit.is_some()).count();
        let all = match self.left {
            Some(left) => done + left,
            None => usize::try_from(account.run.forecast).unwrap_or_default(),
        };
        LiveRun {
            units: (done, all.max(done + usize::from(unit.is_some()))),
            most_sessions: memory.ceilings.most_sessions(account.run.forecast),
            budget: memory.ceilings.money,
            client: account.run.runner.clone(),
            timeline: account.timeline.clone(),
            tasks: self.tasks.clone(),
            summary,
            standing,
            unit,
        }
    }

    fn unit(&self, account: &RunAccount) -> Option<LiveUnit> {
        let operation = account.memory.current.as_ref()?;
        let stage = match operation.stage {
            OperationStage::Running => SESSION,
            OperationStage::Interrupted => "interrupted",
            OperationStage::Ended => "judging its work",
            OperationStage::Accepted => "checks",
            OperationStage::Checked(_) | OperationStage::Settled(_) => "commit",
        };
        let stream = self.stream.as_ref().filter(|stream| stream.operation == operation.start.operation);
        let heard = stream.map(|stream| &stream.heard);
        let tokens = heard.and_then(Heard::tokens).map(|tokens| tokens.input + tokens.output);
        let current = self.tasks.iter().find(|task| task.is_current);
        Some(LiveUnit {
            unit: operation.start.unit.clone(),
            title: current.map(|task| task.title.clone()),
            attempt: operation.start.attempt,
            began: operation.at.wall,
            stage,
            tokens: tokens.unwrap_or_default(),
            usd: heard.and_then(Heard::dollars),
            tools: heard.map(|heard| heard.tools).unwrap_or_default(),
            last: stream.and_then(|stream| stream.last.clone()),
        })
    }

    /// Reads the title of the milestone and the tasks of the slice.
    fn read_documents(&mut self) {
        (self.title, self.left) = (None, None);
        self.tasks.clear();
        let Some(account) = &self.account else { return };
        if account.run.is_in_phases() {
            return;
        }
        let files = RunPlace::files_in(&self.world, &self.place.documents(&account.memory));
        let milestone = &account.run.milestone;
        let scope = Scope { milestone: Some(milestone.clone()), slice: None };
        let snapshot = reading::snapshot(files.as_ref(), Extent::Active(&scope));
        self.title = snapshot.milestone(milestone).map(|found| found.title.clone()).filter(|title| title != milestone);
        let preferences = Preferred::read(files.as_ref(), &self.world).map(|read| read.resolved()).unwrap_or_default();
        self.left = Some(forecast::of(&snapshot, milestone, &preferences, Shape::default()).sessions());
        let unit = account.memory.unit().or_else(|| account.units.last().map(|unit| &unit.unit));
        if let Some((milestone, Some(slice), task)) = unit.map(Unit::parts) {
            let detail = snapshot.detail(milestone, slice);
            let tasks = detail.and_then(|detail| detail.tasks.as_deref()).unwrap_or_default();
            let line = |found: &crate::auto::slices::snapshot::SliceTask| TaskLine {
                id: format!("{slice}/{}", found.id),
                title: one_line(&found.title),
                is_done: found.is_done(),
                is_current: task == Some(found.id.as_str()) && account.memory.current.is_some(),
            };
            self.tasks = tasks.iter().map(line).collect();
        }
    }

    /// Reads what the session in progress has printed since the last time.
    fn hear(&mut self) -> Result<(), Failure> {
        let running = self.account.as_ref().and_then(|account| {
            let operation = account.memory.current.as_ref()?;
            matches!(operation.stage, OperationStage::Running).then_some((account, operation))
        });
        let Some((account, operation)) = running else {
            self.stream = None;
            return Ok(());
        };
        let number = operation.start.operation;
        if self.stream.as_ref().is_none_or(|stream| stream.operation != number) {
            self.stream = LiveStream::of(&self.place, &account.run, &operation.start)?;
        }
        match &mut self.stream {
            Some(stream) => {
                stream.read_on()?;
                stream.news.clear();
                Ok(())
            }
            None => Ok(()),
        }
    }
}

impl RunTrace {
    /// Begins at the end of the log as it is now.
    pub(crate) fn new(place: &RunPlace, shows_entries: bool) -> Self {
        let read = disk::size(place.log()).unwrap_or_default();
        Self { place: place.clone(), shows_entries, read, rest: Vec::new(), stream: None }
    }

    /// Returns the lines since the last call.
    pub(crate) fn more(&mut self) -> Result<Vec<String>, Failure> {
        let mut lines = Vec::new();
        while let Some(bytes) = disk::read_from(self.place.log(), self.read, AT_ONCE)?.filter(|bytes| !bytes.is_empty())
        {
            self.read += bytes.len() as u64;
            self.rest.extend(bytes);
        }
        while let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.rest.drain(..=end).collect();
            let Some(value) = entry_in(&line) else { continue };
            // What the session has printed is older than the entry after it.
            self.hear(&mut lines)?;
            if self.shows_entries {
                lines.push(format!("log: {}", crate::text::untrusted::line(&value.to_string(), ENTRY)));
            }
            if let Ok(Entry { event: Event::UnitStarted(start), .. }) = serde_json::from_value(value) {
                let account = of_place(&self.place)?.pop();
                let run = account.map(|account| account.run);
                self.stream = run.map(|run| LiveStream::of(&self.place, &run, &start)).transpose()?.flatten();
            }
        }
        self.hear(&mut lines)?;
        Ok(lines)
    }

    fn hear(&mut self, lines: &mut Vec<String>) -> Result<(), Failure> {
        if let Some(stream) = &mut self.stream {
            stream.read_on()?;
            lines.append(&mut stream.news);
        }
        Ok(())
    }
}

/// The entry in a line of the log.
fn entry_in(line: &[u8]) -> Option<Value> {
    let mut line: Value = serde_json::from_slice(line).ok()?;
    line.get_mut("entry").map(Value::take)
}

/// The word for the stage of a unit while its session runs.
pub(crate) const SESSION: &str = "session";

impl LiveStream {
    /// The output of a session of the run; `None` for an unknown client.
    fn of(place: &RunPlace, run: &Run, start: &UnitStarted) -> Result<Option<Self>, Failure> {
        let runners = Runners::builtin().map_err(|error| Failure::because(crate::failure::Reason::Unknown, &error))?;
        let Ok(runner) = runners.find(&run.runner) else { return Ok(None) };
        let folder = AbsolutePath::parse(&run.worktree).map_err(disk::DiskError::from)?;
        let opening = Request::new(runner.clone(), Profile::Unattended, folder, "").opening();
        Ok(Some(Self {
            operation: start.operation,
            path: place.folder().resolve(stream_of(start.operation, &start.unit)),
            reader: runner.dialect.reader(&runner.facts_of_stream(), opening),
            read: 0,
            rest: Vec::new(),
            heard: Heard::default(),
            last: None,
            news: Vec::new(),
        }))
    }

    fn read_on(&mut self) -> Result<(), Failure> {
        let Some(bytes) = disk::read_from(&self.path, self.read, AT_ONCE)? else { return Ok(()) };
        self.read += bytes.len() as u64;
        self.rest.extend(bytes);
        while let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.rest.drain(..=end).collect();
            for event in self.reader.line(&line) {
                self.heard.add(&event);
                self.note(&event);
            }
        }
        Ok(())
    }

    fn note(&mut self, event: &ClientEvent) {
        let text = match event {
            ClientEvent::Tool { name, state: ToolState::Failed, .. } => format!("tool {name} failed"),
            ClientEvent::Tool { name, state: ToolState::Denied, .. } => format!("tool {name} was denied"),
            ClientEvent::Tool { name, state: ToolState::Started, .. } => format!("tool {name}"),
            ClientEvent::Text { text } if !text.trim().is_empty() => text.clone(),
            ClientEvent::Retry { why, .. } => {
                format!("the client retries: {}", why.as_deref().unwrap_or("its model did not answer"))
            }
            ClientEvent::Trouble { text, .. } => text.clone(),
            // The end of a tool is not news either.
            _ => return,
        };
        let line = crate::text::untrusted::line(&text, LETTERS);
        self.last = Some(line.clone());
        self.news.push(line);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::auto::account::Totals;
    use crate::auto::account::summary::ClosedUnits;
    use crate::auto::unit::UnitKind;

    /// A run that works on its fourth unit.
    pub(crate) fn sample() -> LiveRun {
        let began = 1_790_000_000_000;
        let text = |text: &str| text.to_owned();
        let task = |id: &str, is_done, is_current| TaskLine { id: text(id), title: text("Parse"), is_done, is_current };
        LiveRun {
            summary: RunSummary {
                run: text("M001-1790000000000"),
                milestone: text("M001"),
                title: Some(text("Small functions")),
                target: text("main"),
                branch: text("milestone/M001"),
                worktree: text("/p/.gsd/worktrees/M001"),
                began,
                latest: began + 40_000,
                totals: Totals { units: 4, sessions: 5, tokens: 20_580, usd: Some(0.07), milliseconds: 40_000 },
                waited: 0,
                lost_sessions: 1,
                closed: ClosedUnits { tasks: 2, phases: 0, others: 1 },
                forecast: 9,
                estimate: None,
                decisions: 0,
                undelivered: Vec::new(),
                landing: None,
            },
            standing: LiveStanding::Working,
            unit: Some(LiveUnit {
                unit: Unit::new(UnitKind::ExecuteTask, "M001/S01/T02"),
                title: Some(text("Parse")),
                attempt: 1,
                began: began + 40_000,
                stage: SESSION,
                tokens: 120,
                usd: None,
                tools: 3,
                last: Some(text("tool Bash")),
            }),
            units: (3, 9),
            most_sessions: 29,
            budget: 25.0,
            client: text("client"),
            timeline: vec![LoggedMoment { at: began, text: text("M001 on main with claude") }],
            tasks: vec![task("S01/T01", true, false), task("S01/T02", false, true), task("S01/T03", false, false)],
        }
    }
}
