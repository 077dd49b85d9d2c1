//! One session of a client, from its start until nothing of it is left running.
//!
//! The output of the client is read line by line, and judged when it has ended. More than its output is watched: how
//! long it is silent, whether it works meanwhile, and whether the caller still wants the session.

use std::time::{Duration, Instant};

use super::clock::Since;
use super::event::{ClientEvent, MoneyUnit, QuotaStatus};
use super::heard::Heard;
use super::request::{Request, RunnerError, SessionLimits};
use super::stream::Reader;
use super::usage_file;
use super::verdict::{End, Judgement, Reason, judge};
use crate::disk::{DiskError, Transcript};
use crate::text::secrets::redact_line;
use crate::world::output::{Line, Stream};
use crate::world::process::{Ask, Next, Process};
use crate::world::tree::Mark;
use crate::world::{Ended, World, WorldError};

/// The longest interval between calls of the observer.
pub(crate) const TICK: Duration = Duration::from_millis(100);

/// The most bytes of a stream that are kept.
pub(crate) const ACTIVITY_LIMIT: u64 = 64 << 20;

/// The most bytes of the end of standard error that are kept.
const LONGEST_COMPLAINT: usize = 8 << 10;

/// A time between two looks so much longer than [`TICK`] that the machine must have slept, or this process was
/// suspended.
const STANDSTILL: Duration = Duration::from_secs(2);

/// How long after a time asleep no limit of time counts, so that the lines that the client wrote meanwhile are read first.
const WAKING: Duration = Duration::from_secs(1);

/// How often the processor time is read, once the client is silent.
const LOOKS: Duration = Duration::from_secs(2);

/// The part of that time that counts as work, as a divisor: a process that only waits uses less.
const WORK: u32 = 10;

/// How long an agent may take to cancel on request before it is asked to end.
const TO_CANCEL: Duration = Duration::from_millis(100);

/// Whether a session continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Go {
    On,
    /// It is stopped, for this reason.
    Stop(String),
}

/// The caller of a session, which watches it.
pub(crate) trait Observer {
    /// The client runs. A process that finds this number and mark in a note can end what is left of it.
    fn started(&mut self, _id: u32, _mark: &Mark) {}

    /// The client wrote a line, which is not yet in `heard`.
    fn line(&mut self, _line: &Line) {}

    /// The client reported an event, which is already in `heard`.
    fn hear(&mut self, event: &ClientEvent, heard: &Heard) -> Go;

    /// Called between events, at least every [`TICK`].
    fn tick(&mut self, _heard: &Heard) -> Go {
        Go::On
    }

    /// Returns a number that changes when the files that the client works on change. Called while the client is silent.
    fn files(&mut self) -> Option<u64> {
        None
    }
}

/// An observer of the events only.
impl<F: FnMut(&ClientEvent, &Heard) -> Go> Observer for F {
    fn hear(&mut self, event: &ClientEvent, heard: &Heard) -> Go {
        self(event, heard)
    }
}

/// The result of a session.
#[derive(Debug)]
pub(crate) struct SessionOutcome {
    pub(crate) judgement: Judgement,
    pub(crate) heard: Heard,
    /// How the client ended.
    pub(crate) ended: Ended,
    /// Whether it ended without being stopped.
    pub(crate) ended_itself: bool,
    /// Whether one of its child processes was still running then.
    pub(crate) left_running: bool,
    pub(crate) ran_for: Duration,
    /// The time from the end of the client, or from the request to end, to the verdict.
    pub(crate) decided_in: Duration,
    /// The ids of its processes that could not be ended.
    pub(crate) survivors: Vec<u32>,
    /// The mark by which all its processes are found.
    #[cfg(test)]
    pub(crate) mark: String,
    /// The end of its standard error.
    pub(crate) complaint: String,
    /// The number of lines that were not read.
    pub(crate) lost_lines: u64,
    /// Why the stream was not kept to its end.
    pub(crate) not_kept: Option<DiskError>,
}

/// Runs a session to its end. Leaves nothing running: also finds processes that have cleared their environment and left
/// their parent, if this process adopts orphans ([`crate::world::tree::adopt_orphans`]) and runs no other session in
/// parallel.
pub(crate) fn run(
    world: &World,
    request: &Request,
    observer: &mut dyn Observer,
) -> Result<SessionOutcome, RunnerError> {
    let activity = request.activity.as_ref().map(|path| Transcript::open(path, ACTIVITY_LIMIT)).transpose()?;
    let process = start(world, request)?;
    observer.started(process.id(), process.mark());
    let reader = request.runner.dialect.reader(&request.runner.facts_of_stream(), request.opening());
    let now = Since::now(world);
    let mut session = RunningSession {
        world,
        request,
        observer,
        process,
        reader,
        activity,
        not_kept: None,
        heard: Heard::default(),
        complaint: Vec::new(),
        started: now,
        ticked: now,
        slept: Duration::ZERO,
        woke: None,
        alive: now,
        ended_word: None,
        watch: Watch { looked: now.instant(), worked: None, files: None },
    };
    session.tell();
    let why = session.listen()?;
    session.end(why)
}

fn start(world: &World, request: &Request) -> Result<Process, RunnerError> {
    let names = request.programs();
    for name in &names {
        let program = request.program(name, world)?;
        let started = if request.runner.dialect.is_conversation() {
            world.start_talking(&program)
        } else {
            world.start(&program)
        };
        match started {
            Err(WorldError::NoProgram { .. }) => {}
            other => return Ok(other?),
        }
    }
    Err(RunnerError::NoProgram { runner: request.runner.name.clone(), programs: names.join(", ") })
}

/// Why the session no longer reads the output of the client.
#[derive(Debug)]
enum EndOfReading {
    Ended,
    /// It sent its final message, and still runs.
    LastWord,
    Stop(Reason),
}

struct RunningSession<'a> {
    world: &'a World,
    request: &'a Request,
    observer: &'a mut dyn Observer,
    process: Process,
    reader: Reader,
    activity: Option<Transcript>,
    not_kept: Option<DiskError>,
    heard: Heard,
    complaint: Vec<u8>,
    started: Since,
    ticked: Since,
    /// How much of the time since the start passed while this process could not read.
    slept: Duration,
    /// The end of the time asleep in which the time of the session ran out.
    woke: Option<Instant>,
    /// When the last activity was.
    alive: Since,
    /// When the client sent its final message.
    ended_word: Option<Instant>,
    watch: Watch,
}

/// The state for watching a silent client.
struct Watch {
    looked: Instant,
    worked: Option<Duration>,
    files: Option<u64>,
}

impl RunningSession<'_> {
    fn limits(&self) -> &SessionLimits {
        &self.request.limits
    }

    fn listen(&mut self) -> Result<EndOfReading, RunnerError> {
        loop {
            let next = self.process.next(self.ticked.instant() + TICK)?;
            let stop = match next {
                Next::Line(line) => self.line(&line),
                Next::Ended(_) => return Ok(EndOfReading::Ended),
                Next::Nothing => None,
            };
            if let Some(why) = stop.or_else(|| self.tick()) {
                return Ok(why);
            }
        }
    }

    fn line(&mut self, line: &Line) -> Option<EndOfReading> {
        self.keep(&line.bytes);
        self.observer.line(line);
        self.alive = Since::now(self.world);
        let events = match line.stream {
            Stream::Stdout => self.reader.line(&line.bytes),
            Stream::Stderr => {
                self.keep_complaint(&line.bytes);
                Reader::complaint(&line.bytes).into_iter().collect()
            }
        };
        let mut stop = None;
        for event in events {
            self.heard.add(&event);
            match self.observer.hear(&event, &self.heard) {
                Go::On => {}
                Go::Stop(why) => stop = stop.or(Some(Reason::Asked(why))),
            }
            stop = stop.or_else(|| self.too_much(&event));
        }
        self.tell();
        let has_ended = self.heard.terminal.is_some();
        self.ended_word = has_ended.then(|| self.alive.instant());
        match stop {
            // Its report of completed work counts, whatever else was wrong.
            Some(_) if has_ended => Some(EndOfReading::LastWord),
            Some(reason) => Some(EndOfReading::Stop(reason)),
            None => (has_ended && self.request.runner.dialect.is_conversation()).then_some(EndOfReading::LastWord),
        }
    }

    /// Keeps a line. A session is not lost because its stream cannot be kept.
    fn keep(&mut self, line: &[u8]) {
        if let Some(activity) = &mut self.activity
            && let Err(error) = activity.line(&redact_line(line))
        {
            self.not_kept = Some(error);
            self.activity = None;
        }
    }

    fn keep_complaint(&mut self, bytes: &[u8]) {
        self.complaint.extend_from_slice(&redact_line(bytes));
        self.complaint.push(b'\n');
        let surplus = self.complaint.len().saturating_sub(LONGEST_COMPLAINT);
        self.complaint.drain(..surplus);
    }

    /// Returns why an event is reason enough not to wait for the end.
    fn too_much(&self, event: &ClientEvent) -> Option<Reason> {
        let limits = self.limits();
        match event {
            ClientEvent::Retry { status: Some(401 | 403), .. } => Some(Reason::RefusedLogin),
            ClientEvent::Retry { wait_seconds: Some(wait), .. } if *wait > limits.longest_wait.as_secs_f64() => {
                Some(Reason::LongWait)
            }
            ClientEvent::Retry { .. } if self.heard.retries_without_tool() >= limits.retries => Some(Reason::Retries),
            ClientEvent::Quota(quota) if quota.status == QuotaStatus::Rejected => {
                self.is_reset_far().then_some(Reason::LongWait)
            }
            ClientEvent::ModelCall if self.heard.calls_without_tool() >= limits.calls_without_tool => {
                Some(Reason::CallsWithoutTool)
            }
            ClientEvent::Money { .. } if self.is_over_budget() => Some(Reason::Money),
            ClientEvent::Usage { .. } | ClientEvent::Text { .. } if self.heard.output() > limits.output => {
                Some(Reason::Output)
            }
            _ => None,
        }
    }

    fn is_over_budget(&self) -> bool {
        let spent = self.heard.money().filter(|(_, unit)| *unit == MoneyUnit::Dollars);
        spent.zip(self.limits().money).is_some_and(|((spent, _), most)| spent > most)
    }

    /// True if a used-up quota is renewed later than the client may wait.
    fn is_reset_far(&self) -> bool {
        let now = self.world.now().milliseconds() / 1000;
        let wait = self.heard.resets_at().map_or(0, |reset| reset.saturating_sub(now));
        u64::try_from(wait).is_ok_and(|wait| wait > self.limits().longest_wait.as_secs())
    }

    /// Does what is due between lines.
    fn tick(&mut self) -> Option<EndOfReading> {
        let now = Since::now(self.world);
        let since = self.ticked.to(now);
        if since < TICK {
            return None;
        }
        if since >= STANDSTILL {
            self.slept += since;
            self.alive = now;
            // Once: a session that could halt this program again and again would have no limit of time.
            if self.started.to(now) >= self.limits().whole {
                self.woke.get_or_insert(now.instant());
            }
        }
        self.ticked = now;
        let asked = match self.observer.tick(&self.heard) {
            Go::On => None,
            Go::Stop(why) => Some(Reason::Asked(why)),
        };
        if let Some(at) = self.ended_word {
            let is_over = asked.is_some()
                || now.instant().saturating_duration_since(at) >= self.limits().after_end
                || self.started.to(now) >= self.limits().whole;
            return is_over.then_some(EndOfReading::LastWord);
        }
        let is_waking = self.woke.is_some_and(|woke| now.instant().saturating_duration_since(woke) < WAKING);
        if is_waking {
            return asked.map(EndOfReading::Stop);
        }
        asked.or_else(|| self.out_of_time(now)).map(EndOfReading::Stop)
    }

    fn out_of_time(&mut self, now: Since) -> Option<Reason> {
        let awake = self.started.to(now).saturating_sub(self.slept);
        if self.started.to(now) >= self.limits().whole {
            // Its time is over on one of the clocks. If it could not use the time, that is not its fault.
            return Some(if awake < self.limits().whole { Reason::Slept } else { Reason::Whole });
        }
        if self.process.idle() >= LOOKS && self.works(now) {
            self.alive = now;
        }
        let quiet = self.alive.to(now);
        let has_spoken = self.heard.events + self.heard.signs_of_life + u64::from(self.heard.retries) > 0;
        if !has_spoken && quiet >= self.limits().first_event {
            return Some(Reason::FirstEvent);
        }
        (quiet >= self.limits().idle).then_some(Reason::Idle)
    }

    /// True if a silent client works: it uses the processor, or files change.
    fn works(&mut self, now: Since) -> bool {
        let since = now.instant().saturating_duration_since(self.watch.looked);
        if since < LOOKS.min(self.limits().idle / 4) {
            return false;
        }
        self.watch.looked = now.instant();
        let (worked, files) = (self.process.processor_time(), self.observer.files());
        let before = (std::mem::replace(&mut self.watch.worked, worked), self.watch.files);
        self.watch.files = files;
        let has_worked = before.0.zip(worked).is_some_and(|(before, now)| now.saturating_sub(before) * WORK >= since);
        let has_changed = before.1.is_some() && files.is_some() && before.1 != files;
        has_worked || has_changed
    }

    /// Sends the messages of the protocol.
    fn tell(&mut self) {
        for message in self.reader.answers() {
            self.process.tell(message);
        }
    }

    /// Ends what is left, and judges.
    fn end(mut self, mut why: EndOfReading) -> Result<SessionOutcome, RunnerError> {
        if matches!(why, EndOfReading::Stop(_)) && self.has_said_its_last_word()? {
            why = EndOfReading::LastWord;
        }
        let was_running = !matches!(why, EndOfReading::Ended);
        let decided_from = if was_running { Instant::now() } else { self.started.instant() + self.process.ran_for() };
        if was_running {
            self.break_off(&why);
        }
        let stopped = self.process.stop(Ask::Terminate, self.limits().to_end)?;
        self.hear_the_rest()?;
        for event in self.request.usage_file.iter().flat_map(usage_file::read) {
            self.heard.add(&event);
            self.observer.hear(&event, &self.heard);
        }
        let end = End {
            ended: Some(stopped.ended),
            stopped: match why {
                EndOfReading::Stop(reason) => Some(reason),
                EndOfReading::Ended | EndOfReading::LastWord => None,
            },
            was_helped: was_running,
            ran_for: self.process.ran_for(),
            complaint: String::from_utf8_lossy(&self.complaint).into_owned(),
            counts_only_whole_answers: self.request.runner.counts_only_whole_answers,
        };
        Ok(SessionOutcome {
            judgement: judge(&self.heard, &end),
            ended: stopped.ended,
            ended_itself: !was_running,
            left_running: !was_running && self.process.has_left_running(),
            ran_for: end.ran_for,
            decided_in: decided_from.elapsed(),
            survivors: stopped.survivors,
            #[cfg(test)]
            mark: self.process.mark().to_string(),
            complaint: end.complaint,
            lost_lines: self.process.lost_lines(),
            not_kept: self.not_kept,
            heard: self.heard,
        })
    }

    /// Ends the conversation with a client, if there is one.
    fn break_off(&mut self, why: &EndOfReading) {
        if !self.request.runner.dialect.is_conversation() {
            return;
        }
        if matches!(why, EndOfReading::Stop(_)) {
            for message in self.reader.cancel() {
                self.process.tell(message);
            }
            self.world.pause(TO_CANCEL);
        }
        self.process.fall_silent();
    }

    /// True if the client had sent its final message before it is stopped. A message after the request to end says
    /// nothing about its work.
    fn has_said_its_last_word(&mut self) -> Result<bool, RunnerError> {
        let until = Instant::now() + TO_CANCEL;
        while let Next::Line(line) = self.process.next(Instant::now())? {
            self.line(&line);
            if self.ended_word.is_some() || Instant::now() >= until {
                break;
            }
        }
        Ok(self.ended_word.is_some())
    }

    /// Reads the lines that the client wrote before it ended: its final message may be among them.
    fn hear_the_rest(&mut self) -> Result<(), RunnerError> {
        let until = Instant::now() + TO_CANCEL;
        while let Next::Line(line) = self.process.next(until)? {
            self.line(&line);
        }
        Ok(())
    }
}
