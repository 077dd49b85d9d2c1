//! Reads what a program writes while it runs, within a fixed memory limit, whatever the program does.

use std::collections::VecDeque;
use std::io::Read;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The most bytes of a line that are kept.
pub(crate) const LONGEST_LINE: usize = 4 << 20;

/// The most bytes of lines that wait to be read. A program that writes more is paused, as by a full pipe.
const MOST_WAITING: usize = 16 << 20;

/// The memory of a line in addition to its bytes: a million empty lines still take space.
const LINE: usize = size_of::<Line>();

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    Stdout,
    Stderr,
}

/// One line that a program wrote, without its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) stream: Stream,
    pub(crate) bytes: Vec<u8>,
    /// The number of bytes beyond [`LONGEST_LINE`]; they are discarded.
    pub(crate) cut: u64,
}

/// What is kept of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    /// The last bytes, up to this many.
    Bytes(usize),
    Lines,
}

/// Output that was not taken yet.
#[derive(Debug, Clone)]
pub(super) struct Output(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    state: Mutex<OutputState>,
    changed: Condvar,
}

#[derive(Debug)]
struct OutputState {
    lines: VecDeque<Line>,
    /// How much memory the lines take.
    waiting: usize,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    /// How many streams are open.
    open: usize,
    /// How many streams are waiting for room.
    full: usize,
    last: Instant,
    /// Lines are not read any more: the oldest are dropped to make room.
    lets_go: bool,
    /// How many lines were dropped.
    lost: u64,
}

/// The result of taking a line.
#[derive(Debug)]
pub(super) enum Taken {
    Line(Line),
    Nothing,
    /// Nothing now, and nothing later.
    Closed,
}

impl Output {
    pub(super) fn new() -> Self {
        let state = OutputState {
            lines: VecDeque::new(),
            waiting: 0,
            stdout: Vec::new(),
            stderr: Vec::new(),
            open: 0,
            full: 0,
            last: Instant::now(),
            lets_go: false,
            lost: 0,
        };
        Self(Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() }))
    }

    /// Reads a stream to its end on a separate thread.
    pub(super) fn read(&self, stream: Stream, mut pipe: impl Read + Send + 'static, keep: Keep) {
        self.state().open += 1;
        let output = self.clone();
        thread::spawn(move || {
            let mut piece = [0; 8192];
            let mut line = Line { stream, bytes: Vec::new(), cut: 0 };
            // If the pipe breaks, what was read so far counts.
            while let Ok(count @ 1..) = pipe.read(&mut piece) {
                match keep {
                    Keep::Bytes(most) => output.keep(stream, &piece[..count], most),
                    Keep::Lines => output.split(&mut line, &piece[..count]),
                }
            }
            if !line.bytes.is_empty() {
                output.push(line);
            }
            output.state().open -= 1;
            output.0.changed.notify_all();
        });
    }

    fn state(&self) -> MutexGuard<'_, OutputState> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, stream: Stream, piece: &[u8], most: usize) {
        let mut state = self.state();
        state.last = Instant::now();
        let kept = match stream {
            Stream::Stdout => &mut state.stdout,
            Stream::Stderr => &mut state.stderr,
        };
        kept.extend_from_slice(piece);
        let surplus = kept.len().saturating_sub(most);
        kept.drain(..surplus);
    }

    fn split(&self, line: &mut Line, piece: &[u8]) {
        self.state().last = Instant::now();
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            let (part, is_end) = part.strip_suffix(b"\n").map_or((part, false), |part| (part, true));
            let room = LONGEST_LINE - line.bytes.len();
            let (kept, cut) = part.split_at(part.len().min(room));
            line.bytes.extend_from_slice(kept);
            line.cut += cut.len() as u64;
            if is_end {
                let next = Line { stream: line.stream, bytes: Vec::new(), cut: 0 };
                self.push(std::mem::replace(line, next));
            }
        }
    }

    /// Adds a line once there is room for it.
    fn push(&self, mut line: Line) {
        line.bytes.shrink_to_fit();
        let size = line.bytes.len() + LINE;
        let mut state = self.state();
        state.full += 1;
        while state.waiting + size > MOST_WAITING && !state.lines.is_empty() {
            if state.lets_go {
                state.drop_oldest();
            } else {
                state = self.0.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
        state.full -= 1;
        state.last = Instant::now();
        state.waiting += size;
        state.lines.push_back(line);
        drop(state);
        self.0.changed.notify_all();
    }

    pub(super) fn take(&self) -> Taken {
        let mut state = self.state();
        match state.lines.pop_front() {
            Some(line) => {
                state.waiting -= line.bytes.len() + LINE;
                drop(state);
                self.0.changed.notify_all();
                Taken::Line(line)
            }
            None if state.open == 0 => Taken::Closed,
            None => Taken::Nothing,
        }
    }

    /// Takes the bytes that were kept.
    pub(super) fn bytes(&self) -> (Vec<u8>, Vec<u8>) {
        let mut state = self.state();
        (std::mem::take(&mut state.stdout), std::mem::take(&mut state.stderr))
    }

    /// Waits up to `most` for a line to take, or the end of all streams.
    pub(super) fn wait(&self, most: Duration) {
        let state = self.state();
        if state.lines.is_empty() && state.open > 0 {
            drop(self.0.changed.wait_timeout(state, most).unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Waits for the end of all streams; only useful if none is read in lines.
    pub(super) fn wait_for_end(&self, until: Instant) {
        let mut state = self.state();
        while state.open > 0 {
            let rest = until.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                return;
            }
            state = self.0.changed.wait_timeout(state, rest).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.state().open > 0
    }

    /// The time since the last output. Output that waits for room counts as written now.
    pub(super) fn idle(&self) -> Duration {
        let state = self.state();
        if state.full > 0 { Duration::ZERO } else { state.last.elapsed() }
    }

    /// From now on writers do not wait for room.
    pub(super) fn let_go(&self) {
        self.state().lets_go = true;
        self.0.changed.notify_all();
    }

    /// How many lines were lost after [`Self::let_go`].
    pub(super) fn lost(&self) -> u64 {
        self.state().lost
    }
}

impl OutputState {
    fn drop_oldest(&mut self) {
        if let Some(line) = self.lines.pop_front() {
            self.waiting -= line.bytes.len() + LINE;
            self.lost += 1;
        }
    }
}
