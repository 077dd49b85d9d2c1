//! Collects the arguments and the streams, calls [`gsd_tools::run`], returns its exit code.

use std::io::Write as _;
use std::process::ExitCode;

/// The exit code of a program that found a defect of its own, as the language's runtime has it.
const DEFECT: i32 = 101;

#[expect(clippy::disallowed_methods, reason = "a panic has nowhere to return to")]
fn main() -> ExitCode {
    // Unwinding is not built in. What a call had begun stays to be undone or finished by the next one, as after any crash.
    std::panic::set_hook(Box::new(|panic| {
        let _ = writeln!(std::io::stderr(), "gsd-tools: this is a defect of the program, please report it: {panic}");
        std::process::exit(DEFECT);
    }));
    gsd_tools::run(std::env::args_os().skip(1).collect())
}
