//! A call with what it took: time of the processor, memory, and whether it came to an end at all.

use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use regex::bytes::Regex;
use rustix::process::{Pid, Resource, Rlimit, WaitId, WaitIdOptions, prlimit, waitid};

/// How long a call may wait for something, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(120);

/// What a call may have of memory before the system refuses it more, in bytes: a fault of the program is not to take the
/// machine along.
const MOST_MEMORY: u64 = 700 << 20;

/// The clock of `/proc` counts hundredths of a second.
const TICK: Duration = Duration::from_millis(10);

/// What a call left.
#[derive(Debug)]
pub(super) struct Ended {
    /// None where a signal ended it.
    pub(super) code: Option<i32>,
    pub(super) signal: Option<i32>,
    pub(super) output: String,
    /// The time that processors spent on it and on what it waited for: unlike the clock, it does not depend on what else
    /// the machine does.
    pub(super) processor: Duration,
    /// The most memory it had at once, in bytes.
    pub(super) memory: u64,
    /// Whether it had to be stopped.
    pub(super) hung: bool,
}

/// Runs a command with `input`, its output in files of `folder`.
pub(super) fn run(command: &mut Command, input: &str, folder: &Path) -> Ended {
    let [given, output, errors] = ["in", "out", "err"].map(|name| folder.join(name));
    std::fs::write(&given, input).unwrap();
    command.stdin(File::open(&given).unwrap());
    command.stdout(File::create(&output).unwrap()).stderr(File::create(&errors).unwrap());
    let mut child = command.spawn().unwrap();
    let process = Pid::from_child(&child);
    let name = Path::new(command.get_program()).file_name().unwrap().to_string_lossy().into_owned();
    let limit = Rlimit { current: Some(MOST_MEMORY), maximum: Some(MOST_MEMORY) };
    // One that has ended already needs no limit.
    let _ = prlimit(Some(process), Resource::Data, limit);
    let begin = Instant::now();
    let (mut memory, mut hung, mut looked) = (0, false, Duration::ZERO);
    // It is looked at before it is waited for: then nothing is left to look at.
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    while waitid(WaitId::Pid(process), options).unwrap().is_none() {
        // A system gives out some ten megabytes in this time.
        if begin.elapsed() >= looked + Duration::from_millis(2) {
            looked = begin.elapsed();
            memory = memory.max(memory_of(child.id(), &name).unwrap_or_default());
        }
        if begin.elapsed() > PATIENCE && !hung {
            hung = true;
            child.kill().unwrap();
        }
        std::thread::sleep(Duration::from_micros(500));
    }
    let processor = processor_of(child.id());
    let status = child.wait().unwrap();
    let text = |path| String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
    let output = format!("{}\n{}", text(&output), text(&errors));
    Ended { code: status.code(), signal: status.signal(), output, processor, memory, hung }
}

/// The most memory that a process had until now.
fn memory_of(process: u32, name: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    // For a moment it is still the process that it was started by.
    if !name.starts_with(status.lines().next()?.strip_prefix("Name:")?.trim()) {
        return None;
    }
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? << 10)
}

/// The time that processors spent on a process that ended, and on the children it waited for.
fn processor_of(process: u32) -> Duration {
    let line = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    // The name of the program, which may hold anything, is in brackets.
    let fields: Vec<&str> = line.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let ticks = fields[11..15].iter().map(|field| field.parse::<u32>().unwrap()).sum::<u32>();
    TICK * ticks
}

/// Waits for what a call left running: processes that were started with `mark` in their environment. Gives the command
/// lines of those that do not end.
pub(super) fn wait_for_others(mark: &str) -> Vec<String> {
    let begin = Instant::now();
    // Other than a comparison at each place, it takes no time in a build without optimisation.
    let mark = Regex::new(&regex::escape(mark)).unwrap();
    loop {
        let processes = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
        let is_marked = |process: &PathBuf| {
            let environment = std::fs::read(process.join("environ")).unwrap_or_default();
            mark.is_match(&environment)
        };
        let living: Vec<PathBuf> = processes.filter(is_marked).collect();
        if living.is_empty() || begin.elapsed() > PATIENCE {
            let line = |process: PathBuf| std::fs::read(process.join("cmdline")).unwrap_or_default();
            return living
                .into_iter()
                .map(|process| String::from_utf8_lossy(&line(process)).replace('\0', " "))
                .collect();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
