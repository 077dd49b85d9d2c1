//! A client for tests: follows its script or its actor, and writes the output stream of any supported client.
//!
//! `fake-agent [--dialect NAME] [--actor NAME[:ARGUMENT] | --script FILE] …`; `FAKE_DIALECT`, `FAKE_ACTOR` and
//! `FAKE_SCRIPT` set the same, so that any client's command line can start it. The unit comes from `GSD_UNIT_KIND`,
//! `GSD_UNIT_ID` and `GSD_UNIT_ATTEMPT`, or from the line `gsd-unit: KIND ID` of the prompt. `FAKE_SHAPE=4x3` sets how
//! many slices a milestone gets, and how many tasks each slice; `FAKE_PAUSE_MS` sets how long each file takes. Uses
//! only std, so that plain `rustc` compiles it.

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
