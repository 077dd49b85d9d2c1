//! A client for tests: does what its script or its actor says, and says so in the form of any client's stream.
//!
//! `fake-agent [--dialect NAME] [--actor NAME[:ARGUMENT] | --script FILE] …`; the same by `FAKE_DIALECT`, `FAKE_ACTOR` and
//! `FAKE_SCRIPT`, so that it can be started with any client's command line. What it works on it learns from `GSD_UNIT_KIND`,
//! `GSD_UNIT_ID` and `GSD_UNIT_ATTEMPT`, or from the line `gsd-unit: KIND ID` of the prompt; `FAKE_SHAPE=4x3` says how many
//! slices a milestone gets, and how many tasks each, and `FAKE_PAUSE_MS` how long it takes for a file. Std alone, so that `rustc` makes it.

mod actors;
mod ideal;
mod json;
mod probed;
mod script;
mod speak;
mod world;

use std::process::ExitCode;

fn main() -> ExitCode {
    let call = match world::Call::of_process() {
        Ok(call) => call,
        Err(error) => {
            eprintln!("fake-agent: {error}");
            return ExitCode::from(64);
        }
    };
    match actors::play(call) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("fake-agent: {error}");
            ExitCode::from(65)
        }
    }
}
