//! What signals ask this process to do, so that it can end its children in order.

#[cfg(unix)]
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
#[cfg(unix)]
use std::sync::{Arc, OnceLock};

use super::process::Ask;

/// Whether `SIGINT` ends this process, once [`while_asking`] has been called.
#[cfg(unix)]
static INTERRUPTIBLE: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Runs a question at a terminal. Until it is answered, `SIGINT` only interrupts the question, so that the caller can
/// restore the terminal; before and after, it ends the process.
pub(crate) fn while_asking<T>(ask: impl FnOnce() -> T) -> T {
    #[cfg(unix)]
    {
        let interruptible = INTERRUPTIBLE.get_or_init(|| {
            let interruptible = Arc::new(AtomicBool::new(true));
            let flag = Arc::clone(&interruptible);
            // If it cannot be registered, `SIGINT` still ends the process.
            let _ = signal_hook::flag::register_conditional_default(signal_hook::consts::SIGINT, flag);
            interruptible
        });
        interruptible.store(false, Ordering::SeqCst);
        let answer = ask();
        interruptible.store(true, Ordering::SeqCst);
        answer
    }
    #[cfg(not(unix))]
    ask()
}

/// The word before a call that ends when its caller does.
pub(crate) const CALL: &str = "__with-caller";

/// Makes this process end, as `SIGTERM` does, as soon as its standard input ends: that is, when the process at the
/// other end of the pipe ends in any way.
pub(crate) fn end_with_input() {
    std::thread::spawn(|| {
        // An input that cannot be read counts as ended.
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        #[cfg(unix)]
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::TERM);
        #[cfg(not(unix))]
        std::process::exit(1);
    });
}

/// The signals that ask this process to end. While they are watched, they are recorded instead of obeyed.
#[derive(Debug, Clone)]
pub(crate) struct Requests {
    #[cfg(unix)]
    last: Arc<AtomicUsize>,
}

impl Requests {
    /// Makes `SIGINT`, `SIGTERM` and `SIGHUP` only leave a note from now on; the caller must check it now and then. On
    /// systems other than Unix, they end the process.
    #[cfg(unix)]
    pub(crate) fn watch() -> std::io::Result<Self> {
        let last = Arc::new(AtomicUsize::new(0));
        Self::note_in(&last)?;
        Ok(Self { last })
    }

    /// Makes these signals only leave their number in `last` from now on.
    #[cfg(unix)]
    pub(crate) fn note_in(last: &Arc<AtomicUsize>) -> std::io::Result<()> {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            let number = usize::try_from(signal).unwrap_or_default();
            signal_hook::flag::register_usize(signal, Arc::clone(last), number)?;
        }
        Ok(())
    }

    #[cfg(not(unix))]
    pub(crate) fn note_in(_last: &std::sync::Arc<std::sync::atomic::AtomicUsize>) -> std::io::Result<()> {
        Ok(())
    }

    #[cfg(not(unix))]
    pub(crate) fn watch() -> std::io::Result<Self> {
        Ok(Self {})
    }

    /// The last request to end, if there was one: children are best asked in the same way.
    pub(crate) fn asked(&self) -> Option<Ask> {
        #[cfg(unix)]
        match self.last.load(Ordering::SeqCst) {
            0 => None,
            signal if Ok(signal) == usize::try_from(signal_hook::consts::SIGINT) => Some(Ask::Interrupt),
            _ => Some(Ask::Terminate),
        }
        #[cfg(not(unix))]
        None
    }
}
