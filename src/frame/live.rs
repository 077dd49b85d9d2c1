//! A block of lines at the bottom of a terminal that is drawn again and again, while other lines pass above it.

use std::io::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::text::terminal;

/// The number of lines that the block has on the screen now, and its text.
static BLOCK: Mutex<LiveBlock> = Mutex::new(LiveBlock { lines: 0, text: String::new() });

#[derive(Debug)]
struct LiveBlock {
    lines: usize,
    text: String,
}

fn block() -> MutexGuard<'static, LiveBlock> {
    BLOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Draws the block in place of the one before. No line may be wider than the terminal.
pub(crate) fn draw(text: &str) {
    let mut block = block();
    if block.text == text {
        return;
    }
    let before = erased(block.lines);
    (block.lines, block.text) = (text.lines().count(), text.to_owned());
    show(&format!("{before}{}", terminal::shown(text)));
}

/// Removes the block.
pub(crate) fn clear() {
    let mut block = block();
    show(&erased(block.lines));
    (block.lines, block.text) = (0, String::new());
}

/// Prints a line above the block, or as the last line if there is none.
pub(crate) fn print(line: &str) {
    let block = block();
    let (before, after) = (erased(block.lines), terminal::shown(&block.text));
    show(&format!("{before}{}\n{after}", terminal::shown(line)));
}

/// Sends a control sequence that moves nothing to the terminal.
pub(crate) fn signal(sequence: &str) {
    show(sequence);
}

/// What moves the cursor to the start of the block, and erases it.
fn erased(lines: usize) -> String {
    if lines == 0 { String::new() } else { format!("\u{1b}[{lines}A\r\u{1b}[J") }
}

fn show(text: &str) {
    // If standard error is closed, the progress cannot be shown.
    let mut stderr = std::io::stderr().lock();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}
