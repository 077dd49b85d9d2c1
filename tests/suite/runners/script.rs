//! What the model does in a unit: one act after the other, until something goes wrong.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::clients::faults::{Fault, Usage, Window};
use crate::clients::obedient::Hands;
use crate::clients::server::{Part, Reply, Request};

/// The prompt of the unit. Requests without it are the client's own, outside the conversation. It contains what a
/// command line may lose: quotes, a backslash, a second line.
pub(crate) const PROMPT: &str =
    "Do the work of unit GSD-SUITE-UNIT, \"step by step\",\nwith no \\ left out, and say when it is done.";
const UNIT: &str = "GSD-SUITE-UNIT";

/// How often an act is repeated if the client does not perform it.
const PATIENCE: usize = 4;

/// One thing the model does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Shell(String),
    /// An absolute path, and the line to write.
    Write(String, String),
}

impl Act {
    pub(crate) fn shell(line: &str) -> Self {
        Self::Shell(line.to_owned())
    }
}

/// The model of one unit.
#[derive(Debug)]
pub(crate) struct Script {
    hands: Hands,
    acts: Vec<Act>,
    /// The fault, and after how many acts it replaces the next one.
    fault: Option<(usize, Fault)>,
    usage: Usage,
    window: Option<Window>,
    tries: AtomicUsize,
    /// How many acts the client had done at its last request.
    done: Mutex<usize>,
}

impl Script {
    pub(crate) fn new(hands: Hands, acts: &[Act]) -> Self {
        let (fault, window, tries, done) = (None, None, AtomicUsize::new(0), Mutex::new(0));
        Self { hands, acts: acts.to_vec(), fault, usage: Usage::SMALL, window, tries, done }
    }

    pub(crate) fn failing(mut self, after: usize, fault: Fault) -> Self {
        self.fault = Some((after, fault));
        self
    }

    pub(crate) fn costing(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }

    pub(crate) fn of_subscription(mut self, window: Window) -> Self {
        self.window = Some(window);
        self
    }

    /// The number of the next act, judged by the earlier ones that the request shows.
    fn next(&self, text: &str) -> usize {
        let is_done = |number: &usize| text.contains(&mark(*number));
        (0..self.acts.len()).find(|number| !is_done(number)).unwrap_or(self.acts.len())
    }
}

/// The mark by which an act is recognised in the conversation.
fn mark(number: usize) -> String {
    format!("act-{number:03}-of-suite")
}

impl Part for Script {
    fn reply(&self, request: &Request) -> Reply {
        let text = request.text();
        if !text.contains(UNIT) {
            return Reply::Say("Nothing to say".to_owned());
        }
        let next = self.next(&text);
        let mut done = self.done.lock().unwrap();
        if *done != next {
            *done = next;
            self.tries.store(0, Ordering::Relaxed);
        }
        match self.acts.get(next) {
            Some(_) if self.tries.fetch_add(1, Ordering::Relaxed) >= PATIENCE => Reply::Say("I give up.".to_owned()),
            Some(Act::Shell(line)) => Reply::Call((self.hands.shell)(&format!(": {}; {line}", mark(next)))),
            Some(Act::Write(path, text)) => {
                let write = self.hands.write.expect("a client that writes files");
                Reply::Call(write(path, &format!("{text} {}\n", mark(next))))
            }
            None => Reply::Say("The unit is done.".to_owned()),
        }
    }

    fn fault(&self, request: &Request) -> Option<Fault> {
        let (after, fault) = self.fault?;
        (after == 0 || self.next(&request.text()) >= after).then_some(fault)
    }

    fn usage(&self, _request: &Request) -> Usage {
        self.usage
    }

    fn window(&self) -> Option<Window> {
        self.window
    }
}
