//! Collects the arguments and the streams, calls [`gsd_tools::run`], returns its exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    gsd_tools::run(std::env::args_os().skip(1).collect())
}
