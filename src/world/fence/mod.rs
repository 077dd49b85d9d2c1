//! A limit on what an unattended program and its children may write, read and reach.
//!
//! A fenced program is started through this program, called as `__fence` ([`call`]): it leaves the terminal of the
//! user, has the kernel limit it and then becomes the program. Same process, same streams. No descendant can lift the
//! limit.
//!
//! On Linux the kernel's limit is Landlock, on macOS it is `sandbox-exec`. Landlock rules only grant access: nothing
//! below a writable folder can be protected, and a path is hidden by granting access to everything around it
//! ([`readable`]). `docs/auto-mode.md` describes what a fence enforces and what it leaves open.
//!
//! A fence costs 2 to 4 ms. The program leaves the terminal (`setsid`) and takes the variables that lead out of the
//! fence. What is secret (`secrets.toml`) is left out by naming every neighbour as readable. A linked worktree is safe
//! to give, since its repository is elsewhere. `World::fencing` says whether the system can do this; if it cannot, the
//! program is not started. `tests/suite/fence` tries some ninety ways out, a row each in `ways.rs`, with the version
//! of Landlock from which each is closed; `GSD_FENCE_ABI` plays older kernels.

pub(crate) mod call;
#[cfg(target_os = "linux")]
mod kernel;
#[cfg(target_os = "linux")]
mod readable;
mod secrets;
mod value;
mod variables;

pub(crate) use call::{CALL, Fencing, run};
pub(crate) use value::{Fence, Openings, is_shared};
pub(crate) use variables::is_known as is_known_variable;
