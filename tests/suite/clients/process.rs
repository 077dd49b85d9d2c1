//! Runs a program that may hang or leave children running: with a hard limit, and nothing survives.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The result of a bounded run.
#[must_use = "look at how it ended"]
#[derive(Debug)]
pub(crate) struct Finished {
    /// None if a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) timed_out: bool,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Finished {
    pub(crate) fn succeeded(&self) -> bool {
        self.code == Some(0) && !self.timed_out
    }
}

/// Runs `command` for at most `limit`; its output goes through files in `folder`.
///
/// Files, not pipes: a background child that keeps a pipe open would make the reader wait for it.
pub(crate) fn run_bounded(command: &mut Command, limit: Duration, folder: &Path) -> Finished {
    let output = folder.join("stdout.log");
    let errors = folder.join("stderr.log");
    command
        .stdin(Stdio::null())
        .stdout(std::fs::File::create(&output).unwrap())
        .stderr(std::fs::File::create(&errors).unwrap())
        .process_group(0);
    let mut child = command.spawn().unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
    let end = Instant::now() + limit;
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break Some(status);
        }
        if Instant::now() > end {
            break None;
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    if status.is_none() {
        end_group(&mut child);
    }
    Finished {
        code: status.and_then(|status| status.code()),
        timed_out: status.is_none(),
        stdout: read_lossy(&output),
        stderr: read_lossy(&errors),
    }
}

/// The numbers of all processes that carry `home` as their home folder.
pub(crate) fn processes_of(home: &Path) -> Vec<String> {
    let mark = format!("HOME={}", home.display());
    let carries = |process: &String| {
        std::fs::read(format!("/proc/{process}/environ"))
            .is_ok_and(|environment| environment.split(|byte| *byte == 0).any(|entry| entry == mark.as_bytes()))
    };
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
        .filter(carries)
        .collect()
}

/// Ends every process that still has `home` as its home folder: daemons that left their process group.
pub(crate) fn end_processes_of(home: &Path) {
    for _ in 0..3 {
        let left = processes_of(home);
        if left.is_empty() {
            return;
        }
        let _ = Command::new("kill").arg("-KILL").args(&left).stderr(Stdio::null()).status();
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The child is not waited for yet, so its number still names only its own group.
fn end_group(child: &mut Child) {
    let _ = Command::new("kill").args(["-KILL", "--", &format!("-{}", child.id())]).stderr(Stdio::null()).status();
    let _ = child.kill();
    let _ = child.wait();
}

fn read_lossy(path: &Path) -> String {
    String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned()
}
