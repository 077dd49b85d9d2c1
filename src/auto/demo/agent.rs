//! The call `__demo-agent`: the client of a demo. It does what the script has for its unit, and prints [`ClientEvent`]s.

use std::io::Write as _;
use std::process::ExitCode;

use super::{Script, ScriptError, VARIABLE};
use crate::auto::real::UNIT_VARIABLE;
use crate::auto::runner::event::{ClientEvent, Terminal, ToolState};
use crate::disk::{self, AbsolutePath, DiskError};
use crate::world::{UNIT, World, WorldError};

/// The argument with which this program is called as the client of a demo.
pub(crate) const CALL: &str = "__demo-agent";

/// The exit code of a call outside of a demo, and of one that failed.
const USAGE: u8 = 64;

#[derive(Debug, thiserror::Error)]
enum AgentError {
    #[error("the agent of `gsd-tools demo` works in no other project")]
    NoDemo,
    #[error("the script of the demo has no session for `{unit}`, attempt {attempt}")]
    NoSession { unit: String, attempt: u32 },
    #[error(transparent)]
    Script(#[from] ScriptError),
    #[error(transparent)]
    Disk(#[from] DiskError),
    #[error(transparent)]
    World(#[from] WorldError),
}

/// Runs one session.
pub(crate) fn call() -> ExitCode {
    match session(&World::real()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // If standard error is closed, the error cannot be shown.
            let _ = writeln!(std::io::stderr(), "Error: {error}\n  hint: run `gsd-tools demo`");
            USAGE.into()
        }
    }
}

fn session(world: &World) -> Result<(), AgentError> {
    let told = |name: &str| world.variable(name).unwrap_or_default();
    if !world.flag(VARIABLE) {
        return Err(AgentError::NoDemo);
    }
    let (unit, attempt) = (format!("{} {}", told(UNIT), told(UNIT_VARIABLE)), told("GSD_UNIT_ATTEMPT"));
    let attempt = attempt.parse().unwrap_or(1);
    let script = Script::builtin()?;
    let session = script.session(&unit, attempt).ok_or(AgentError::NoSession { unit, attempt })?;
    let folder = AbsolutePath::parse(world.folder()?).map_err(DiskError::from)?;
    say(&ClientEvent::Started { session: None, model: None, purse: None });
    say(&ClientEvent::ModelCall);
    for (path, text) in session.files() {
        disk::replace(&folder.resolve(&path), text.replace("{now}", &world.now().to_string()).as_bytes())?;
        say(&ClientEvent::Tool { id: None, name: "Write".to_owned(), state: ToolState::Finished });
    }
    say(&ClientEvent::Text { text: session.says.clone() });
    say(&ClientEvent::Terminal(Terminal::Success));
    Ok(())
}

fn say(event: &ClientEvent) {
    let line = serde_json::to_string(event).unwrap_or_default();
    // The reader may have exited; the work is done all the same.
    let _ = writeln!(std::io::stdout(), "{line}");
}
