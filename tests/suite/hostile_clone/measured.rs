//! Measures a call: processor time, memory, and whether it ended at all.

use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use regex::bytes::Regex;
use rustix::process::{Pid, Resource, Rlimit, WaitId, WaitIdOptions, prlimit, waitid};

/// How long a call may wait for something, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(120);

/// How much memory the system gives a call, in bytes: a fault of the program must not take the machine down.
const MOST_MEMORY: u64 = 700 << 20;

/// The clock of `/proc` counts hundredths of a second.
const TICK: Duration = Duration::from_millis(10);

/// The result of a call.
#[derive(Debug)]
pub(super) struct Ended {
    /// `None` if a signal ended it.
    pub(super) code: Option<i32>,
    pub(super) signal: Option<i32>,
    pub(super) output: String,
    /// Processor time of the process and of the children it waited for: unlike wall time, it does not depend on what
    /// else the machine does.
    pub(super) processor: Duration,
    /// The most memory it had at once, in bytes.
    pub(super) memory: u64,
    /// True if it had to be stopped.
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
    // A process that has already ended needs no limit.
    let _ = prlimit(Some(process), Resource::Data, limit);
    let begin = Instant::now();
    let (mut memory, mut hung, mut looked) = (0, false, Duration::ZERO);
    // Read its usage before reaping it: afterwards there is nothing left to read.
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    while waitid(WaitId::Pid(process), options).unwrap().is_none() {
        // In this time a system can assign some ten megabytes.
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

/// The most memory that a process has had so far.
fn memory_of(process: u32, name: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    // For a moment it is still the process that started it.
    if !name.starts_with(status.lines().next()?.strip_prefix("Name:")?.trim()) {
        return None;
    }
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? << 10)
}

/// The processor time of a process that ended, and of the children it waited for.
fn processor_of(process: u32) -> Duration {
    let line = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    // The name of the program is in brackets, and may contain anything.
    let fields: Vec<&str> = line.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let ticks = fields[11..15].iter().map(|field| field.parse::<u32>().unwrap()).sum::<u32>();
    TICK * ticks
}

/// Waits for processes that a call left running: those with `mark` in their environment. Returns the command lines of
/// those that do not end.
pub(super) fn wait_for_others(mark: &str) -> Vec<String> {
    let begin = Instant::now();
    // Unlike a comparison at each position, this is fast even in a build without optimisation.
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
