//! A limit on what a program that runs unattended, and all it starts, may write, read and reach.
//!
//! What runs in a fence is started through this program, called as `__fence` ([`call`]): it leaves the terminal of the user,
//! has the kernel limit it and then becomes the program. Same process, same streams. Nothing can be taken back by anything
//! below it.
//!
//! On Linux the kernel's limit is Landlock, on macOS it is `sandbox-exec`. Rules of Landlock only add: nothing below a folder
//! that may be written to can be kept from it, and what is hidden is what is left when everything beside it may be read
//! ([`readable`]). `docs/auto-mode.md` says what a fence holds and what stays open.

pub(crate) mod call;
#[cfg(target_os = "linux")]
mod kernel;
#[cfg(target_os = "linux")]
mod readable;
mod secrets;
mod value;
mod variables;

pub(crate) use call::{CALL, Fencing, run};
pub(crate) use value::{Fence, Openings};
pub(crate) use variables::is_known as is_known_variable;
