//! How the agent was called, and what it can do to the system.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::json::Json;

/// One call of the agent.
pub struct Call {
    pub dialect: String,
    pub actor: String,
    /// What follows the actor's name after a colon.
    pub argument: String,
    pub script: Option<Json>,
    pub session: String,
    /// True if this continues an earlier session.
    pub resumed: bool,
    pub usage_file: Option<String>,
    pub kind: String,
    pub id: String,
    /// Counted from 1.
    pub attempt: u32,
    pub shape: (usize, usize),
    /// Whether the prompt has the first slice planned together with the milestone.
    pub plans_first_slice: bool,
}

impl Call {
    pub fn of_process() -> Result<Call, String> {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        let after = |flag: &str| {
            let at = arguments.iter().position(|argument| argument == flag)?;
            arguments.get(at + 1).cloned()
        };
        let either = |flag: &str, variable: &str| after(flag).or_else(|| set(variable));
        let script = match either("--script", "FAKE_SCRIPT") {
            None => None,
            Some(path) => {
                let text = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
                Some(Json::parse(&text).map_err(|error| format!("{path}: {error}"))?)
            }
        };
        let actor = either("--actor", "FAKE_ACTOR").unwrap_or_else(|| "ideal".to_owned());
        let (actor, argument) = actor.split_once(':').map_or((actor.as_str(), ""), |(name, argument)| (name, argument));
        let told = arguments.iter().find_map(|argument| unit_in(argument));
        let (told_kind, told_id) = told.unwrap_or_default();
        let session = ["--session-id", "--resume"].iter().find_map(|flag| after(flag));
        Ok(Call {
            dialect: either("--dialect", "FAKE_DIALECT").unwrap_or_else(|| "scripted".to_owned()),
            actor: actor.to_owned(),
            argument: argument.to_owned(),
            script,
            resumed: after("--resume").is_some(),
            session: session.unwrap_or_else(|| format!("fake-{}", std::process::id())),
            usage_file: after("--usage-file").or_else(|| after("--usage-output-file")),
            kind: set("GSD_UNIT_KIND").unwrap_or(told_kind),
            id: set("GSD_UNIT_ID").unwrap_or(told_id),
            attempt: set("GSD_UNIT_ATTEMPT").and_then(|attempt| attempt.parse().ok()).unwrap_or(1),
            plans_first_slice: !arguments.iter().any(|argument| argument.contains("First slice: do not plan it")),
            shape: set("FAKE_SHAPE").and_then(|shape| parse_shape(&shape)).unwrap_or((2, 3)),
        })
    }

    /// The parts of the unit's id: milestone, slice, task.
    pub fn parts(&self) -> Vec<&str> {
        self.id.split('/').filter(|part| !part.is_empty()).collect()
    }
}

fn set(variable: &str) -> Option<String> {
    std::env::var(variable).ok().filter(|value| !value.is_empty())
}

fn unit_in(prompt: &str) -> Option<(String, String)> {
    let line = prompt.lines().rev().find_map(|line| line.trim().strip_prefix("gsd-unit:"))?;
    let (kind, id) = line.trim().split_once(' ')?;
    Some((kind.to_owned(), id.trim().to_owned()))
}

fn parse_shape(shape: &str) -> Option<(usize, usize)> {
    let (slices, tasks) = shape.split_once('x')?;
    Some((slices.parse().ok()?, tasks.parse().ok()?))
}

pub fn write(path: &str, content: &str) -> Result<(), String> {
    sleep(set("FAKE_PAUSE_MS").and_then(|pause| pause.parse().ok()).unwrap_or(0));
    if let Some(folder) = Path::new(path).parent() {
        std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    std::fs::write(path, content).map_err(|error| format!("{path}: {error}"))
}

pub fn edit(path: &str, from: &str, to: &str) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    if !text.contains(from) {
        return Err(format!("{path} has no `{from}`"));
    }
    write(path, &text.replacen(from, to, 1))
}

/// Runs a script in the folder of the session. Its exit code does not matter: some scripts try what is refused.
pub fn shell(script: &str) -> Result<(), String> {
    let output = Command::new("sh").args(["-c", script]).stdin(Stdio::null()).output();
    output.map(|output| eprint!("{}", String::from_utf8_lossy(&output.stderr))).map_err(|error| format!("sh: {error}"))
}

pub fn sleep(milliseconds: u64) {
    std::thread::sleep(Duration::from_millis(milliseconds));
}

/// Writes until the disk is full.
pub fn fill(path: &str) {
    use std::io::Write;
    let Ok(mut file) = std::fs::File::create(path) else { return };
    for size in [1 << 20, 1 << 12, 1] {
        let bytes = vec![b'x'; size];
        while file.write_all(&bytes).is_ok() {}
    }
}

/// Seconds since the beginning of 1970.
pub fn now() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Waits for ever, or at least longer than any test.
pub fn hang() -> ! {
    loop {
        sleep(60_000);
    }
}

/// Uses a processor for this long, without output.
pub fn work(milliseconds: u64) {
    let started = std::time::Instant::now();
    let mut number = 1_u64;
    while started.elapsed() < Duration::from_millis(milliseconds) {
        number = std::hint::black_box(number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
    }
}

/// Starts a long-lived program in its own session. It ignores `SIGTERM` and has none of our pipes.
pub fn spawn_daemon() -> Result<(), String> {
    let line = "trap '' TERM INT HUP; sleep 600";
    let mut command = Command::new("setsid");
    command.args(["sh", "-c", line]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map(drop).map_err(|error| format!("setsid: {error}"))
}

/// Starts this program again so that it ignores signals that ask it to end. Returns only if that fails.
#[cfg(unix)]
pub fn ignore_signals() {
    use std::os::unix::process::CommandExt;
    const DONE: &str = "FAKE_IGNORES";
    if set(DONE).is_some() {
        return;
    }
    let Ok(program) = std::env::current_exe() else { return };
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' TERM INT HUP; exec \"$@\"", "sh"]).arg(program).args(std::env::args_os().skip(1));
    let error = command.env(DONE, "1").exec();
    eprintln!("fake-agent: sh: {error}");
}

#[cfg(not(unix))]
pub fn ignore_signals() {}
