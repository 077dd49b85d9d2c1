//! Scripts that checks run, and shells in which tests are written: what hides a failure in them, and what changed.

use super::cleaning::line_only_cleans;
use super::finding::{Finding, Weakening};
use super::runner;
use super::stricter::line_asks_for_more;
use super::{Text, file_name, split};
use crate::gate::cannot_fail::{commands_of, line_cannot_fail};
use crate::gate::check::Check;
use crate::gate::globs::finds;
use crate::gate::makefile::{Makefile, NAMES};
use crate::gate::pins::{Pins, is_make, targets_of};
use crate::gate::runners::{TestsRun, tests_run};
use crate::project::check_files::{Role, fits, role_of};

/// Code with which a command line succeeds although its command failed.
pub(super) const HIDING: &[&str] = &[
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
    "-DNDEBUG",
    "PYTHONOPTIMIZE",
    "trap 'exit 0'",
    "trap \"exit 0\"",
    "--testPathIgnorePatterns",
    "--deselect",
    "--ignore=",
];

/// Changes of scripts and of tests written in a shell.
pub(super) fn changed(pins: &Pins, text: &Text<'_>, all: &[Text<'_>]) -> Vec<Finding> {
    let name = text.name();
    let is_makefile = NAMES.contains(&name) || fits("*.mk", name);
    let is_shell = [".sh", ".bash", ".bats", ".zsh"].iter().any(|ending| name.ends_with(ending));
    let role = pins.files.get(text.path).map(|pin| pin.role).or_else(|| role_of(text.path));
    let mut found = match role {
        Some(Role::Script) if is_makefile => makefile(pins, text, all),
        Some(Role::Script) if pins.files.contains_key(text.path) => whole(pins, text),
        Some(Role::Test) if runner::only_runs_others(pins, text) && text.before != text.after => {
            // If it is gone, another finding says more.
            runner::changed(text, true)
        }
        Some(Role::Script | Role::Test) => included(pins, text),
        _ => return included(pins, text),
    };
    if is_shell || is_makefile || role == Some(Role::Script) {
        found.extend(hiding(pins, text, is_makefile));
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
    // Files shared by several tools are checks only if a check calls the tool.
    let tool = match text.name() {
        "justfile" | "Justfile" | ".justfile" => Some("just"),
        "Rakefile" | "rakefile" | "Rakefile.rb" => Some("rake"),
        name if name.starts_with("Taskfile.") => Some("task"),
        _ => None,
    };
    let is_called = |tool: &str| {
        pins.checks.iter().any(|check| check.program() == tool || check.arguments().iter().any(|word| word == tool))
    };
    if tool.is_some_and(|tool| !is_called(tool)) {
        return Vec::new();
    }
    runner::changed(text, false)
}

/// A new file that a makefile of the checks includes if it exists, and that defines one of their targets or sets a
/// variable.
fn included(pins: &Pins, text: &Text<'_>) -> Vec<Finding> {
    let is_included = pins.included.iter().any(|pattern| pattern == text.path || finds(pattern, text.path));
    if !is_included || !text.is_new() {
        return Vec::new();
    }
    let makefile = Makefile::read(text.now());
    let target = pins.targets.iter().find(|name| makefile.has(name));
    let what = match (target, makefile.variable_names().next()) {
        (Some(target), _) => format!("the makefile brings it in, and it makes the target `{target}` of a check"),
        (None, Some(name)) => format!("the makefile brings it in, and it sets the variable `{name}`"),
        (None, None) if makefile.includes().next().is_some() => {
            "the makefile brings it in, and it brings in others".to_owned()
        }
        (None, None) => return Vec::new(),
    };
    vec![text.finding(target.map_or(0, |name| makefile.line(name)), Weakening::ChangedScript, what)]
}

/// Changes of what a makefile does for the checks: targets, their prerequisites, and the variables in their recipes.
fn makefile(pins: &Pins, text: &Text<'_>, all: &[Text<'_>]) -> Vec<Finding> {
    let by_make: Vec<&Check> = pins.checks.iter().filter(|check| is_make(check)).collect();
    if by_make.is_empty() {
        return Vec::new();
    }
    let changed = |line: usize, what: String| text.finding(line, Weakening::ChangedScript, what);
    let mut then = text.before.clone();
    if text.before.is_none()
        && let Some(place) = place_of(text.path)
    {
        let folder = &text.path[..text.path.len() - NAMES[place].len()];
        let others = NAMES.iter().enumerate().filter(|(other, _)| *other != place);
        let others = others.map(|(at, name)| (at, format!("{folder}{name}")));
        for (at, other) in others.filter(|(_, other)| pins.files.contains_key(other)) {
            let gone = all.iter().find(|text| text.path == other && text.after.is_none());
            match gone {
                // It was renamed.
                Some(gone) => then.clone_from(&gone.before),
                None if at > place => {
                    return vec![changed(0, format!("`make` reads it, and no longer `{other}`"))];
                }
                None => return Vec::new(),
            }
        }
    }
    // A renamed makefile is examined under its new name.
    let is_renamed = |other: &Text<'_>| {
        other.before.is_none() && place_of(other.path).is_some() && split(other.path).0 == split(text.path).0
    };
    if text.after.is_none() && all.iter().any(is_renamed) {
        return Vec::new();
    }
    let then = with_included(then.as_deref(), text.path, all, |text| text.before.as_deref());
    let now = with_included(text.after.as_deref(), text.path, all, |text| text.after.as_deref());
    let (before, after) = (Makefile::read(&then), Makefile::read(&now));
    let asked: Vec<String> = by_make.iter().flat_map(|check| targets_of(check)).map(str::to_owned).collect();
    let mut names: Vec<String> = pins.targets.iter().cloned().collect();
    names.extend(before.closure(&asked).into_iter().filter(|name| !pins.targets.contains(name)));
    let mut found = Vec::new();
    for name in &names {
        if !before.has(name) {
            if after.has(name) && !after.recipe(name).is_empty() && pins.targets.contains(name) && text.before.is_some()
            {
                found.push(changed(
                    after.line(name),
                    format!("the target `{name}`, which a check makes, is made here now"),
                ));
            }
            continue;
        }
        if !only_grew(&before, &after, name) {
            let line = if after.has(name) { after.line(name) } else { before.line(name) };
            found.push(changed(line, format!("the target `{name}`, which a check makes, changed")));
        }
        let is_idle = |makefile: &Makefile<'_>| {
            let recipe = makefile.recipe(name);
            !recipe.is_empty() && recipe.iter().all(|line| line_cannot_fail(&makefile.expanded(bare(line))).is_some())
        };
        if is_idle(&after) && !is_idle(&before) {
            let what = format!("what makes `{name}`, which a check makes, cannot fail");
            found.push(text.finding(after.line(name), Weakening::SwallowedFailure, what));
        }
    }
    let is_default = by_make.iter().any(|check| targets_of(check).next().is_none());
    if is_default && text.before.is_some() && before.default_target() != after.default_target() {
        found.push(changed(0, "`make` makes another target now where none is named".to_owned()));
    }
    found.extend(variables(text.path, &before, &after, &names));
    found
}

/// Changes of the variables that the checks' targets depend on.
fn variables(path: &str, before: &Makefile<'_>, after: &Makefile<'_>, targets: &[String]) -> Vec<Finding> {
    let mut names = before.variables_of(targets);
    names.extend(after.variables_of(&[]));
    names.sort();
    names.dedup();
    let mut found = Vec::new();
    for name in names {
        let (then, now) = (before.value(&name), after.value(&name));
        if then == now || grew(then.as_deref(), now.as_deref()) {
            continue;
        }
        let now = now.map_or_else(|| "is gone".to_owned(), |now| format!("is `{}` now", now.replace('`', "'")));
        let what = format!("the variable `{name}`, which a check rests on, {now}");
        found.push(Finding::new(path, 0, Weakening::ChangedScript, what));
    }
    found
}

/// True if a list of words only became longer, and not by options.
fn grew(then: Option<&str>, now: Option<&str>) -> bool {
    let (Some(then), Some(now)) = (then, now) else { return false };
    let then: Vec<&str> = then.split_whitespace().collect();
    let now: Vec<&str> = now.split_whitespace().collect();
    let is_kept = then.len() > 1 && then.iter().all(|word| now.contains(word));
    let is_plain = |word: &&&str| !word.starts_with('-') && !word.contains(['|', ';', '&', '#', '=']);
    is_kept && now.first() == then.first() && now.iter().filter(|word| !then.contains(word)).all(|word| is_plain(&word))
}

/// True if a target still needs and does everything it did, and otherwise only runs more tests.
fn only_grew(before: &Makefile<'_>, after: &Makefile<'_>, name: &str) -> bool {
    let (then, now) = (before.recipe(name), after.recipe(name));
    let needs = after.needs(name);
    if !after.has(name) || !before.needs(name).iter().all(|need| needs.contains(need)) {
        return false;
    }
    let mut open = then.iter().peekable();
    let mut added = Vec::new();
    for line in now.iter().copied() {
        let is_it = |next: &str| next == line || line_asks_for_more(&before.expanded(next), &after.expanded(line));
        if open.peek().is_some_and(|next| is_it(next)) {
            open.next();
        } else {
            added.push(line);
        }
    }
    let runs_tests = |line: &&str| {
        let line = after.expanded(line.trim_start_matches('@'));
        let says_or_tests = |words: &Vec<String>| {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            tests_run(&words) != TestsRun::Unknown || words.first() == Some(&"echo")
        };
        commands_of(&line).is_some_and(|commands| commands.iter().all(says_or_tests))
    };
    // A compiler's recipe may get more files.
    let compiles_more = |line: &&str| {
        then.iter().any(|before| {
            let is_compiler =
                after.expanded(bare(before)).split_whitespace().next().is_some_and(|word| COMPILERS.contains(&word));
            let new = line.split_whitespace().filter(|word| !before.split_whitespace().any(|then| then == *word));
            is_compiler && grew(Some(before), Some(line)) && new.into_iter().all(|word| word.contains('.'))
        })
    };
    let is_kept =
        |line: &&str| now.contains(line) || now.iter().any(|now| grew(Some(line), Some(now)) && compiles_more(now));
    if open.next().is_some() && then.len() == now.len() {
        return then.iter().all(is_kept) && now.iter().all(|line| then.contains(line) || compiles_more(line));
    }
    open.next().is_none() && added.iter().all(runs_tests)
}

/// Programs that take source files.
const COMPILERS: &[&str] = &["cc", "gcc", "clang", "c++", "g++", "clang++", "rustc", "javac", "ar", "ld"];

/// A recipe line without the marks before it.
fn bare(line: &str) -> &str {
    line.trim_start_matches(['@', '-', '+', ' '])
}

/// The place of a makefile in the order in which `make` looks for one.
fn place_of(path: &str) -> Option<usize> {
    NAMES.iter().position(|known| *known == file_name(path))
}

/// A makefile together with those of its included files that are in the diff.
fn with_included<'a>(
    text: Option<&str>,
    path: &str,
    all: &'a [Text<'_>],
    side: impl Fn(&'a Text<'_>) -> Option<&'a str>,
) -> String {
    let mut whole = text.unwrap_or_default().to_owned();
    let folder = &path[..path.rfind('/').map_or(0, |at| at + 1)];
    let included: Vec<String> = Makefile::read(&whole).includes().map(|name| format!("{folder}{name}")).collect();
    for part in all.iter().filter(|other| included.iter().any(|path| path == other.path)).filter_map(side) {
        whole.push('\n');
        whole.push_str(part);
    }
    whole
}

/// New lines that hide a failure.
fn hiding(pins: &Pins, text: &Text<'_>, is_makefile: bool) -> Vec<Finding> {
    let lines: Vec<&str> = text.now().lines().collect();
    let mut found = Vec::new();
    for (number, line) in text.new_lines() {
        let bare = line.trim();
        if bare.starts_with('#') || is_makefile && line.starts_with('\t') && is_of_no_check(pins, &lines, number) {
            continue;
        }
        let pattern = HIDING.iter().find(|pattern| line.contains(**pattern) && text.has_more(pattern));
        let ignores = is_makefile && line.starts_with("\t-") || line.starts_with("\t@-");
        let is_heard_of = ignores || pattern.is_some_and(|pattern| pattern.starts_with("||"));
        if is_heard_of && line_only_cleans(line) {
            continue;
        }
        let ends = bare == "exit 0" || bare == "exit";
        let what = match pattern {
            Some(pattern) => format!("`{pattern}` hides a failure"),
            None if ignores => "`-` before a command hides its failure".to_owned(),
            None if ends => "`exit 0` ends the script well whatever failed before".to_owned(),
            None => continue,
        };
        found.push(text.finding(number, Weakening::SwallowedFailure, what));
    }
    found
}

/// True if a recipe line belongs to targets that no check makes.
fn is_of_no_check(pins: &Pins, lines: &[&str], number: usize) -> bool {
    let above = lines.iter().take(number.saturating_sub(1)).rev();
    let head = above.into_iter().find(|line| !line.starts_with(['\t', ' ', '#']) && !line.trim().is_empty());
    let names = head.and_then(|head| head.split_once(':')).map(|(names, _)| names).unwrap_or_default();
    let is_plain = !names.is_empty() && !names.contains(['%', '$', '=', '.']);
    is_plain && !pins.targets.is_empty() && !names.split_whitespace().any(|name| pins.targets.contains(name))
}

/// New lines that search for text that the script itself prints.
fn own_output(text: &Text<'_>) -> Vec<Finding> {
    let prints = |line: &&str| is_run(line, "echo") || is_run(line, "printf");
    let printed: Vec<&str> = text.now().lines().filter(prints).flat_map(quoted).collect();
    let mut found = Vec::new();
    for (number, line) in text.new_lines() {
        let Some((_, search)) = line.split_once("grep ") else { continue };
        let wanted =
            quoted(search).into_iter().next().or_else(|| search.split_whitespace().find(|word| !word.starts_with('-')));
        let is_printed =
            wanted.is_some_and(|wanted| wanted.len() > 2 && printed.iter().any(|text| text.contains(wanted)));
        let reads_itself = search.split_whitespace().any(|word| word.trim_matches('"') == "$0");
        if is_printed || reads_itself {
            found.push(text.finding(number, Weakening::ReadsItself, "it looks for what the test itself says"));
        }
    }
    found
}

fn is_run(line: &str, program: &str) -> bool {
    line.split(['|', ';', '&', '(', '{']).any(|part| part.split_whitespace().next() == Some(program))
}

/// The quoted parts of a line.
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
