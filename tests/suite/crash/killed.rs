//! Calls that are killed at a random moment: the next call finishes what they did or undoes it, and says so.
//!
//! `GSD_INSTALL_KILLS=200` kills that many; otherwise a few. `GSD_INSTALL_KILLS_SEED` repeats the moments.

use std::process::Stdio;
use std::time::{Duration, Instant};

use super::{Bench, INSTALL_THREE, OLDER, UNDO, UPDATE, here, of_another_program};
use crate::clients::say;
use crate::kit::Ran;
use crate::lived::Lived;
use crate::tree::{Tree, difference};

/// How many calls are killed in a sample.
const SAMPLE: u64 = 12;

/// A command that is killed, and how long it takes.
struct Killed {
    bench: Bench,
    /// Before everything that was prepared.
    first: Tree,
    takes: Duration,
}

impl Killed {
    fn new(lived: Lived, prepare: &[&[&str]], command: &'static [&'static str]) -> Self {
        let first = here(&lived);
        let mut bench = Bench::new(lived, prepare, command);
        let start = Instant::now();
        bench.lived.gsd_with(command, &[]).success();
        let takes = start.elapsed();
        bench.kept.put_back();
        Self { bench, first, takes }
    }

    /// Starts the command and kills it after a part of its usual time.
    fn kill(&mut self, thousandths: u32) {
        self.bench.kept.put_back();
        let lived = &self.bench.lived;
        let mut command = lived.context.command(crate::kit::binary());
        command.args(self.bench.command).env("XDG_STATE_HOME", lived.state());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        std::thread::sleep(self.takes * thousandths / 1000);
        let _ = child.kill();
        child.wait().unwrap();
    }

    /// Whether a write is unfinished in home or project.
    fn is_unfinished(&self) -> bool {
        crate::tree::tree(&self.bench.lived.everything()).keys().any(|path| path.contains(".gsd-transaction"))
    }

    fn is_pending(&self) -> bool {
        let history = self.bench.lived.state().join("gsd-tools/history");
        let mut files = std::fs::read_dir(history).into_iter().flatten().map(|entry| entry.unwrap().path());
        files.any(|file| file.extension().is_some_and(|extension| extension == "pending"))
    }

    /// What is wrong after the next call, which `how` selects; empty if nothing is.
    fn next(&self, how: u64) -> Vec<String> {
        let (bench, was_unfinished) = (&self.bench, self.is_unfinished());
        let is_undo = bench.command == UNDO;
        let back: &[&str] = if is_undo { &["redo", "--yes"] } else { UNDO };
        let ran: Ran = match how {
            0 => bench.lived.gsd(["recover"]),
            1 => bench.lived.gsd_with(bench.command, &[]),
            _ => bench.lived.gsd_with(back, &[]),
        };
        let (now, mut wrong) = (here(&bench.lived), Vec::new());
        let told = format!("{}{}", ran.stdout, ran.stderr);
        let has_recovered = how == 0 && !told.contains("\"finished\": []");
        let says_so = told.contains("interrupted write") || has_recovered;
        if says_so != was_unfinished {
            wrong.push(format!("a write was unfinished: {was_unfinished}, and the next call said: {told}"));
        }
        let is_nothing = ran.code == 1 && told.contains("no call in the history can be");
        let is_right = match how {
            0 => ran.code == 0 && (now == bench.old || now == bench.new),
            1 => (ran.code == 0 || (is_undo && is_nothing)) && now == bench.new,
            _ if is_nothing => now == bench.old,
            _ => ran.code == 0 && (now == bench.old || (bench.command == UPDATE && now == self.first)),
        };
        if !is_right {
            let lines = difference(&bench.old, &now).into_iter().take(5).collect::<Vec<_>>().join("\n");
            wrong.push(format!("exit {} and torn: {told}\nagainst the old tree: {lines}", ran.code));
        }
        if self.is_unfinished() || (ran.code == 0 && self.is_pending()) {
            let what = if self.is_unfinished() { "a write" } else { "a record in the history" };
            wrong.push(format!("the next call left {what} unfinished: exit {}, {told}", ran.code));
        }
        wrong
    }
}

fn mixed(seed: u64) -> u64 {
    let mixed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[test]
#[ignore = "slow: minutes"]
fn the_call_after_a_killed_one_finishes_or_undoes_it_and_says_so() {
    let named = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let now = || u64::from(std::time::UNIX_EPOCH.elapsed().unwrap().subsec_micros());
    let count = named("GSD_INSTALL_KILLS").unwrap_or(SAMPLE);
    let seed = named("GSD_INSTALL_KILLS_SEED").unwrap_or_else(now);
    say(&format!("GSD_INSTALL_KILLS_SEED={seed}"));
    let mut benches = [
        Killed::new(Lived::new(), &[INSTALL_THREE], UNDO),
        Killed::new(Lived::new(), &[INSTALL_THREE], UPDATE),
        Killed::new(of_another_program(Lived::new()), &[], INSTALL_THREE),
    ];
    let (mut faults, mut early, mut torn, mut late) = (Vec::new(), 0, 0, 0);
    for number in 0..count {
        let killed = &mut benches[usize::try_from(number % 3).unwrap()];
        let moment = u32::try_from(mixed(seed.wrapping_add(number)) % 1100).unwrap();
        killed.kill(moment);
        let tree = here(&killed.bench.lived);
        match (tree == killed.bench.old, tree == killed.bench.new) {
            (true, _) => early += 1,
            (_, true) => late += 1,
            _ => torn += 1,
        }
        let wrong = killed.next(number / 3 % 3);
        let what = killed.bench.command.join(" ");
        faults.extend(wrong.into_iter().map(|wrong| format!("kill {number} of {what} at {moment}: {wrong}")));
    }
    say(&format!("{count} calls killed: {early} before they wrote, {torn} meanwhile, {late} after"));
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

/// The steps that the call takes, and its home before.
fn last_steps(lived: &Lived, words: &[&str]) -> std::ops::Range<u32> {
    let ran = lived.gsd_with(words, &[("GSD_FAULT_AT", "count")]);
    let total = ran.stderr.split_once("the call took ").and_then(|(_, rest)| rest.split(' ').next()?.parse().ok());
    let total: u32 = total.unwrap_or_else(|| panic!("no number of steps: {}", ran.stderr));
    total.saturating_sub(6)..total
}

#[test]
fn an_undo_knows_a_call_that_was_killed_after_its_commit() {
    let lived = Lived::new();
    lived.gsd_with(&["install", "--cursor", "--global"], &[OLDER]).success();
    let (older, mut kept) = (here(&lived), crate::tree::Kept::of(&lived.everything()));
    let steps = last_steps(&lived, UPDATE);
    let newer = here(&lived);
    let mut was_committed = false;
    for step in steps {
        kept.put_back();
        assert_ne!(lived.gsd_with(UPDATE, &[("GSD_KILL_AT", &step.to_string())]).code, 0);
        let is_done = here(&lived) == newer;
        was_committed |= is_done;
        if is_done {
            // A call that is made next does not make the history forget it.
            lived.gsd(["uninstall", "--cursor", "--global"]).success();
            lived.gsd_with(UNDO, &[]).success();
            assert_eq!(difference(&newer, &here(&lived)), [""; 0], "step {step}");
            lived.gsd_with(UNDO, &[]).success();
            assert_eq!(difference(&older, &here(&lived)), [""; 0], "step {step}");
        }
    }
    assert!(was_committed);
}

#[test]
fn an_undo_finishes_what_a_killed_call_left_and_says_so() {
    let lived = Lived::new();
    let before = here(&lived);
    lived.gsd_with(&["install", "--cursor", "--global"], &[OLDER]).success();
    let (older, mut kept) = (here(&lived), crate::tree::Kept::of(&lived.everything()));
    let steps = last_steps(&lived, UPDATE);
    kept.put_back();
    // The manifest is replaced, and the journal is there.
    assert_ne!(lived.gsd_with(UPDATE, &[("GSD_KILL_AT", &steps.start.to_string())]).code, 0);
    let rehearsed = lived.gsd(["undo", "--dry-run"]);
    assert!(rehearsed.stderr.contains("a write to") && rehearsed.stderr.contains("gsd-tools recover"), "{rehearsed:?}");
    let ran = lived.gsd_with(UNDO, &[]);
    assert!(ran.stderr.contains("an interrupted write to"), "{ran:?}");
    ran.success();
    let now = here(&lived);
    assert!(now == before || now == older, "{:?}", difference(&before, &now));
    assert!(!lived.context.home().join(".cursor/.gsd-transaction").exists());
}
