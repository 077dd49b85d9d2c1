//! Scripts that checks run, and shells in which tests are written: what hides a failure in them, and what changed.

use super::Text;
use super::finding::{Finding, Weakening};
use super::lines;
use crate::auto::gate::check::Check;
use crate::auto::gate::pins::Pins;
use crate::project::check_files::{Role, role_of};

/// By which a command line ends well although what it runs did not.
const HIDING: &[&str] = &[
    "|| true",
    "||true",
    "|| :",
    "||:",
    "|| exit 0",
    "|| echo",
    "|| printf",
    "; true",
    ";true",
    "; exit 0",
    ";exit 0",
    "; :",
    "set +e",
    "set +o errexit",
    "--passWithNoTests",
    "--pass-with-no-tests",
    "--exit-zero",
    "--no-fail",
    "--allow-empty",
    "| tee",
    "| cat",
    "continue-on-error",
    ".IGNORE",
    "MAKEFLAGS += -i",
    "MAKEFLAGS += -k",
    "make -i",
    "--ignore-errors",
    "trap 'exit 0'",
    "trap \"exit 0\"",
    "--testPathIgnorePatterns",
    "--deselect",
    "--ignore=",
];

/// Changes of scripts and of tests in a shell.
pub(super) fn changed(pins: &Pins, text: &Text<'_>) -> Vec<Finding> {
    let name = text.path.rsplit('/').next().unwrap_or_default();
    let is_makefile = matches!(name, "Makefile" | "makefile" | "GNUmakefile");
    let is_shell = [".sh", ".bash", ".bats", ".zsh"].iter().any(|ending| name.ends_with(ending));
    let role = pins.files.get(text.path).map(|pin| pin.role).or_else(|| role_of(text.path));
    let mut found = match role {
        Some(Role::Script) if is_makefile => makefile(pins, text),
        Some(Role::Script) if pins.files.contains_key(text.path) => whole(pins, text),
        Some(Role::Script | Role::Test) => Vec::new(),
        _ => return Vec::new(),
    };
    if is_shell || is_makefile || role == Some(Role::Script) {
        found.extend(hiding(text, is_makefile));
    }
    if is_shell {
        found.extend(own_output(text));
    }
    found
}

fn whole(pins: &Pins, text: &Text<'_>) -> Vec<Finding> {
    if text.before == text.after {
        return Vec::new();
    }
    // Files that several tools share are checks only where a check calls the tool.
    let name = text.path.rsplit('/').next().unwrap_or_default();
    let tool = match name {
        "justfile" | "Justfile" | ".justfile" => Some("just"),
        "Rakefile" => Some("rake"),
        "Taskfile.yml" => Some("task"),
        _ => None,
    };
    let is_called = |tool: &str| {
        pins.checks.iter().any(|check| check.program() == tool || check.arguments().iter().any(|word| word == tool))
    };
    if tool.is_some_and(|tool| !is_called(tool)) {
        return Vec::new();
    }
    let line = lines::added(text.before.as_deref().unwrap_or_default(), text.after.as_deref().unwrap_or_default())
        .first()
        .copied();
    let what =
        if text.after.is_none() { "a script that a check runs is gone" } else { "a script that a check runs changed" };
    vec![Finding::new(text.path, line.unwrap_or_default(), Weakening::ChangedScript, what)]
}

/// Targets that the checks make, and those that they need: the lines of each.
fn makefile(pins: &Pins, text: &Text<'_>) -> Vec<Finding> {
    let (before, after) =
        (targets(text.before.as_deref().unwrap_or_default()), targets(text.after.as_deref().unwrap_or_default()));
    let by_make = pins.checks.iter().filter(|check| check.program() == "make");
    let mut open: Vec<String> =
        by_make.flat_map(Check::arguments).filter(|word| !word.starts_with('-')).cloned().collect();
    let (mut seen, mut found) = (Vec::new(), Vec::new());
    while let Some(name) = open.pop() {
        let Some(then) = before.iter().find(|target| target.name == name) else { continue };
        if seen.contains(&name) {
            continue;
        }
        open.extend(then.needs.iter().map(|need| (*need).to_owned()));
        let now = after.iter().find(|target| target.name == name);
        if now.is_none_or(|now| now.lines != then.lines || now.needs != then.needs) {
            let what = format!("the target `{name}`, which a check makes, changed");
            found.push(Finding::new(text.path, now.map_or(then.line, |now| now.line), Weakening::ChangedScript, what));
        }
        seen.push(name);
    }
    found
}

struct Target<'text> {
    name: &'text str,
    line: usize,
    needs: Vec<&'text str>,
    lines: Vec<&'text str>,
}

fn targets(makefile: &str) -> Vec<Target<'_>> {
    let mut targets: Vec<Target<'_>> = Vec::new();
    for (number, line) in makefile.lines().enumerate() {
        if line.starts_with('\t') {
            if let Some(target) = targets.last_mut().filter(|_| !line.trim().is_empty()) {
                target.lines.push(line.trim());
            }
        } else if let Some((names, needs)) = line.split_once(':').filter(|(names, _)| !names.contains(['=', '#', '$']))
        {
            let needs: Vec<&str> = needs.split_whitespace().take_while(|word| !word.starts_with('#')).collect();
            let new = names.split_whitespace().map(|name| Target {
                name,
                line: number + 1,
                needs: needs.clone(),
                lines: Vec::new(),
            });
            targets.extend(new);
        }
    }
    targets
}

/// New lines that hide a failure.
fn hiding(text: &Text<'_>, is_makefile: bool) -> Vec<Finding> {
    let (before, after) = (text.before.as_deref().unwrap_or_default(), text.after.as_deref().unwrap_or_default());
    let count = |text: &str, pattern: &str| text.matches(pattern).count();
    let lines: Vec<&str> = after.lines().collect();
    let mut found = Vec::new();
    for number in lines::added(before, after) {
        let Some(line) = number.checked_sub(1).and_then(|index| lines.get(index)) else { continue };
        let bare = line.trim();
        if bare.starts_with('#') {
            continue;
        }
        let pattern =
            HIDING.iter().find(|pattern| line.contains(**pattern) && count(after, pattern) > count(before, pattern));
        let ignores = is_makefile && line.starts_with("\t-") || line.starts_with("\t@-");
        let ends = bare == "exit 0" || bare == "exit";
        let what = match pattern {
            Some(pattern) => format!("`{pattern}` hides a failure"),
            None if ignores => "`-` before a command hides its failure".to_owned(),
            None if ends => "`exit 0` ends the script well whatever failed before".to_owned(),
            None => continue,
        };
        found.push(Finding::new(text.path, number, Weakening::SwallowedFailure, what));
    }
    found
}

/// New lines that look for what the script itself prints.
fn own_output(text: &Text<'_>) -> Vec<Finding> {
    let (before, after) = (text.before.as_deref().unwrap_or_default(), text.after.as_deref().unwrap_or_default());
    let lines: Vec<&str> = after.lines().collect();
    let printed: Vec<&str> = lines
        .iter()
        .filter(|line| is_run(line, "echo") || is_run(line, "printf"))
        .flat_map(|line| quoted(line))
        .collect();
    let mut found = Vec::new();
    for number in lines::added(before, after) {
        let Some(line) = number.checked_sub(1).and_then(|index| lines.get(index)) else { continue };
        let Some((_, search)) = line.split_once("grep ") else { continue };
        let wanted =
            quoted(search).into_iter().next().or_else(|| search.split_whitespace().find(|word| !word.starts_with('-')));
        let is_printed =
            wanted.is_some_and(|wanted| wanted.len() > 2 && printed.iter().any(|text| text.contains(wanted)));
        let reads_itself = search.split_whitespace().any(|word| word.trim_matches('"') == "$0");
        if is_printed || reads_itself {
            let what = "it looks for what the test itself says";
            found.push(Finding::new(text.path, number, Weakening::ReadsItself, what));
        }
    }
    found
}

fn is_run(line: &str, program: &str) -> bool {
    line.split(['|', ';', '&', '(', '{']).any(|part| part.split_whitespace().next() == Some(program))
}

/// What stands in quotes in a line.
fn quoted(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some(at) = rest.find(['"', '\'']) {
        let quote = &rest[at..=at];
        let inside = &rest[at + 1..];
        let Some(end) = inside.find(quote) else { break };
        found.push(&inside[..end]);
        rest = &inside[end + 1..];
    }
    found
}
