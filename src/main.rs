//! Collects the arguments and the streams, calls [`gsd_tools::run`], returns its exit code.

use std::io::Write as _;
use std::process::ExitCode;

/// The exit code of a defect in this program, `EX_SOFTWARE` of sysexits.
const DEFECT: u8 = 70;

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        let place = option_env!("CARGO_PKG_REPOSITORY").filter(|address| !address.is_empty());
        let place = place.map(|address| format!(" at {address}/issues")).unwrap_or_default();
        // If standard error is closed, the message cannot be shown.
        let _ = writeln!(std::io::stderr(), "Error: internal error, please report it{place}: {panic}");
        #[expect(clippy::disallowed_methods, reason = "a panic has no `ExitCode` to return")]
        std::process::exit(DEFECT.into());
    }));
    #[expect(clippy::disallowed_methods, reason = "whoever is called with arguments hands them over")]
    let arguments = std::env::args_os().skip(1).collect();
    gsd_tools::run(arguments)
}
