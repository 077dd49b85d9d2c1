//! Sequences of what people do with installs, drawn at random: installs, edits, updates, undos, redos, uninstalls, and
//! installs over another program. After each step every byte of the user is there, a refused call has written nothing,
//! and `status` reports what is there; in the end only the user's files are left.
//!
//! The slow tier draws a sample and prints its seed; `GSD_SEQUENCES=300` draws that many, and `GSD_SEQUENCES_SEED`
//! repeats one of them, and `GSD_SEQUENCES_SHOW=1` prints all. A sequence with a fault is shortened and printed as commands.

mod life;
mod written;

use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::clients::say;
use crate::lived::{HOSTS, Host};
use life::{Life, UserAct};

/// How long a sample starts new sequences.
const SAMPLE: Duration = Duration::from_secs(40);

/// How long one sequence with a fault is shortened.
const SHORTENING: Duration = Duration::from_secs(90);

/// The most steps of a sequence.
const MOST: u64 = 12;

/// Numbers derived from a seed.
struct Draw(u64);

impl Draw {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % most.max(1)
    }

    fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[usize::try_from(self.below(of.len() as u64)).unwrap()]
    }
}

/// One step of a sequence.
#[derive(Debug, Clone)]
enum SequenceStep {
    /// A call of the program; true if an earlier version makes it.
    Call(Vec<String>, bool),
    /// What the user does to a file, which the number selects.
    User(UserAct, u64),
    /// Another program installs itself into a host.
    Lay(usize, &'static str),
}

/// A home and what happens in it.
#[derive(Debug, Clone)]
struct Sequence {
    seed: u64,
    /// Whether the hosts were used before.
    is_lived: bool,
    /// Indexes into [`HOSTS`].
    hosts: Vec<usize>,
    steps: Vec<SequenceStep>,
}

/// The user's acts, with how often each is drawn.
const ACTS: &[(UserAct, u64)] = &[
    (UserAct::Setting, 6),
    (UserAct::Line, 4),
    (UserAct::Edit, 6),
    (UserAct::Replace, 2),
    (UserAct::New, 3),
    (UserAct::InTheWay, 3),
    (UserAct::Delete, 3),
    (UserAct::DeleteSettings, 1),
    (UserAct::Revert, 2),
    (UserAct::Mode, 2),
    (UserAct::ModeOfOurs, 2),
    (UserAct::EditAside, 1),
    (UserAct::EditTheirs, 1),
];

impl Sequence {
    fn draw(seed: u64) -> Self {
        let mut draw = Draw(seed);
        let mut hosts: Vec<usize> = Vec::new();
        for _ in 0..3 {
            let host = usize::try_from(draw.below(HOSTS.len() as u64)).unwrap();
            if !hosts.contains(&host) {
                hosts.push(host);
            }
        }
        let is_lived = draw.below(3) > 0;
        let mut sequence = Self { seed, is_lived, hosts, steps: Vec::new() };
        let count = 4 + draw.below(MOST - 3);
        while (sequence.steps.len() as u64) < count {
            let step = sequence.step(&mut draw);
            sequence.steps.push(step);
        }
        sequence
    }

    fn step(&self, draw: &mut Draw) -> SequenceStep {
        let is_first = self.steps.is_empty();
        let kind = if is_first { draw.below(25) } else { draw.below(100) };
        let call = |words: Vec<String>, older| SequenceStep::Call(words, older);
        let plain = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        match kind {
            0..20 => {
                let mut words = self.hosts_of("install", draw);
                match draw.below(8) {
                    0 | 1 => words.push("--no-permissions".to_owned()),
                    2 => words.push("--permissions".to_owned()),
                    3 => words.extend(plain(&["--skills", "nested"])),
                    4 => words.extend(plain(&["--skills", "flat"])),
                    _ => {}
                }
                call(words, draw.below(3) == 0)
            }
            20..25 => {
                let host = draw.one_of(&self.hosts);
                SequenceStep::Lay(host, draw.one_of(HOSTS[host].scopes()))
            }
            25..65 => {
                let mut number = draw.below(ACTS.iter().map(|(_, often)| often).sum());
                let act = ACTS.iter().find(|(_, often)| {
                    let is_it = number < *often;
                    number = number.saturating_sub(*often);
                    is_it
                });
                SequenceStep::User(act.unwrap().0, draw.below(u64::MAX))
            }
            65..76 => match draw.below(4) {
                0 => call(plain(&["update", "--all"]), draw.below(4) == 0),
                1 => call(self.hosts_of("update", draw), draw.below(4) == 0),
                _ => call(plain(&["update"]), false),
            },
            76..86 => match draw.below(4) {
                0 => call(plain(&["undo", &(1 + draw.below(6)).to_string()]), false),
                _ => call(plain(&["undo"]), false),
            },
            86..92 => match draw.below(4) {
                0 => call(plain(&["redo", &(1 + draw.below(6)).to_string()]), false),
                _ => call(plain(&["redo"]), false),
            },
            _ => match draw.below(4) {
                0 => call(plain(&["uninstall", "--all"]), false),
                _ => call(self.hosts_of("uninstall", draw), false),
            },
        }
    }

    /// A call of a verb for some of the hosts that have the scope.
    fn hosts_of(&self, verb: &str, draw: &mut Draw) -> Vec<String> {
        let scope = draw.one_of(&["--global", "--global", "--local"]);
        let has_scope = |host: &Host| host.scopes().contains(&scope);
        let here: Vec<&str> =
            self.hosts.iter().map(|host| &HOSTS[*host]).filter(|host| has_scope(host)).map(|host| host.flag).collect();
        let Some(first) = (!here.is_empty()).then(|| draw.one_of(&here)) else {
            return vec![verb.to_owned(), HOSTS[self.hosts[0]].flag.to_owned(), "--global".to_owned()];
        };
        let others = here.iter().filter(|other| **other != first && draw.below(3) == 0);
        let flags: Vec<&str> = others.copied().chain([first]).collect();
        [verb].into_iter().chain(flags).chain([scope]).map(str::to_owned).collect()
    }

    /// What happened, and the faults.
    fn run(&self) -> (Vec<String>, Vec<String>) {
        let hosts: Vec<&'static Host> = self.hosts.iter().map(|host| &HOSTS[*host]).collect();
        let mut life = Life::new(self.is_lived, hosts);
        for step in &self.steps {
            match step {
                SequenceStep::Call(words, older) => drop(life.call(words, *older)),
                SequenceStep::User(act, pick) => life.user(*act, *pick),
                SequenceStep::Lay(host, scope) => life.lay(&HOSTS[*host], scope),
            }
            if !life.faults.is_empty() {
                return (life.story, life.faults);
            }
        }
        life.end(self.seed.is_multiple_of(2));
        (life.story, life.faults)
    }

    /// As [`Self::run`]; an answer that does not keep its own rules is a fault too.
    fn caught(&self) -> (Vec<String>, Vec<String>) {
        std::panic::catch_unwind(|| self.run()).unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            (Vec::new(), vec![text.unwrap_or_else(|| "the test panicked".to_owned())])
        })
    }

    /// The same sequence without the steps that its fault does not need, and the report about it.
    fn shortened(&self) -> String {
        let (start, mut shortest) = (Instant::now(), self.clone());
        let (mut story, mut faults) = self.caught();
        for number in (0..self.steps.len()).rev() {
            if start.elapsed() > SHORTENING || number >= shortest.steps.len() {
                continue;
            }
            let mut shorter = shortest.clone();
            shorter.steps.remove(number);
            let (told, found) = shorter.caught();
            if !found.is_empty() {
                (shortest, story, faults) = (shorter, told, found);
            }
        }
        let mut text = format!("GSD_SEQUENCES_SEED={} ({} steps)\n", self.seed, shortest.steps.len());
        if story.is_empty() {
            let _ = writeln!(text, "  {:?}", shortest.steps);
        }
        for line in story.iter().chain(faults.iter()) {
            let _ = writeln!(text, "  {}", line.chars().take(1500).collect::<String>().replace('\n', "\n    "));
        }
        text
    }
}

#[test]
#[ignore = "slow: minutes"]
fn every_byte_of_the_user_outlives_any_sequence_of_calls() {
    let named = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let (count, given) = (named("GSD_SEQUENCES"), named("GSD_SEQUENCES_SEED"));
    let now = || u64::from(std::time::UNIX_EPOCH.elapsed().unwrap().subsec_micros()) * 1000;
    let (first, start) = (given.unwrap_or_else(now), Instant::now());
    let shows = std::env::var_os("GSD_SEQUENCES_SHOW").is_some();
    say(&format!("GSD_SEQUENCES_SEED={first}"));
    let (next, ran, reports) = (AtomicU64::new(0), AtomicU64::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let is_over = match count {
                        Some(count) => number >= count,
                        None => start.elapsed() > SAMPLE || (given.is_some() && number > 0),
                    };
                    if is_over {
                        break;
                    }
                    let sequence = Sequence::draw(first + number);
                    let (story, faults) = sequence.caught();
                    if shows {
                        say(&format!("{}\n  {}", sequence.seed, story.join("\n  ")));
                    }
                    if !faults.is_empty() {
                        let report = sequence.shortened();
                        say(&report);
                        reports.lock().unwrap().push(report);
                    }
                    ran.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    let (ran, reports) = (ran.into_inner(), reports.into_inner().unwrap());
    say(&format!("install sequences: {ran} from GSD_SEQUENCES_SEED={first}, {} with a fault", reports.len()));
    assert!(ran > 0 && reports.is_empty(), "{} of {ran} sequences:\n{}", reports.len(), reports.join("\n"));
}
