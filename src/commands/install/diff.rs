//! What an install would do, for a person to read.

use std::fmt::Write as _;

use crate::disk::{self, Change};
use crate::install::{InstallError, InstallPlan, Target};
use crate::text::diff::LineDiff;
use crate::world::Terminal;

/// One line for each file that comes or goes; the lines that change for each file that stays.
pub(super) fn text(target: &Target, plan: &InstallPlan, terminal: Terminal) -> Result<String, InstallError> {
    let mut text = String::new();
    let color = terminal.stdout && terminal.color;
    for change in plan.changes.iter() {
        let path = target.shown(change.path());
        // Writing to a string cannot fail.
        let _ = match change {
            Change::WriteFile { path: file, bytes, .. } => match disk::read_text(file)? {
                None => writeln!(text, "{}", painted(&format!("+ {path}"), color)),
                Some(before) => {
                    let after = String::from_utf8_lossy(bytes);
                    let diff = LineDiff::new(&before, &after).unified(&path, &path);
                    diff.lines().try_for_each(|line| writeln!(text, "{}", painted(line, color)))
                }
            },
            Change::LinkProgram { .. } => writeln!(text, "{}", painted(&format!("+ {path} (this program)"), color)),
            Change::RemoveFile { .. } => writeln!(text, "{}", painted(&format!("- {path}"), color)),
            Change::MakeFolder { .. } | Change::RemoveFolder { .. } => Ok(()),
        };
    }
    Ok(text)
}

fn painted(line: &str, color: bool) -> String {
    let code = match line.as_bytes().first() {
        Some(b'+') => 32,
        Some(b'-') => 31,
        _ => 0,
    };
    if color && code != 0 { format!("\u{1b}[{code}m{line}\u{1b}[0m") } else { line.to_owned() }
}
