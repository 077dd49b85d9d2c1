//! Commands that succeed whatever the work is, and so check nothing.

use super::check::Check;
use super::lists::{Joint, ListedCommand, lists_of, lists_with_groups};
use super::makefile::{Makefile, makefile_of};
use super::package::{leads_elsewhere, scripts_of};
use super::runners::is_python;
use crate::project::declared_commands::is_runner;
use crate::project::files::{FileError, Files, MemoryFiles};
use crate::text::words::word_list;

/// Returns why a check cannot fail, or `None` if it may. Scripts of packages and targets of makefiles are read from
/// `files`.
///
/// A command that fails if the code does not compile or a file is missing may fail. What a program of the project does
/// with its exit code is not examined.
pub(crate) fn cannot_fail(check: &Check, files: &dyn Files) -> Result<Option<String>, FileError> {
    let folder = check.folder().map(|folder| format!("{folder}/")).unwrap_or_default();
    let mut words = check.words();
    // Options added by a variable.
    let added = check.variables().iter().filter(|(name, _)| {
        matches!((check.program(), name.as_str()), (_, "PYTEST_ADDOPTS") | ("make", "MAKEFLAGS" | "GNUMAKEFLAGS"))
    });
    words.extend(added.flat_map(|(_, value)| value.split_whitespace()));
    SeenProject { files, folder }.command(&words, DEEPEST)
}

/// True if a command only looks at existing files. If it passed before a piece of work, passing says nothing about the
/// work.
pub(super) fn only_looks(command: &str) -> bool {
    let Ok(check) = Check::parse(command) else { return false };
    let words = check.words();
    let Some((program, arguments)) = words.split_first() else { return false };
    let name = program.rsplit('/').next().unwrap_or_default();
    let compiles = is_python(name)
        && arguments.windows(2).any(|pair| pair[0] == "-m" && matches!(pair[1], "compileall" | "py_compile"));
    let is_own = program.contains('/') && !program.starts_with('/');
    let looks = OF_FILES.contains(&name) || matches!(name, "test" | "[" | "grep" | "egrep" | "fgrep" | "rg" | "file");
    !is_own && (looks || compiles || code_of(name, arguments).is_some())
}

/// Returns why a shell line cannot fail, whatever the project is.
pub(super) fn line_cannot_fail(line: &str) -> Option<String> {
    let files = MemoryFiles::default();
    SeenProject { files: &files, folder: String::new() }.lines(line, false, DEEPEST).ok().flatten()
}

/// Returns why a line that a shell runs in the project's root cannot fail, or `None` if it may. Scripts of packages,
/// targets of makefiles and shell scripts are read from `files`.
pub(crate) fn line_of_shell_cannot_fail(line: &str, files: &dyn Files) -> ReasonResult {
    let (line, folder) = entered(line);
    // With `pipefail`, a pipeline fails if any of its commands fails.
    if line.contains("pipefail") {
        return Ok(None);
    }
    if let Some(why) = (SeenProject { files, folder }).lines(line, false, DEEPEST)? {
        return Ok(Some(why));
    }
    // A line with more than plain commands is judged by its end.
    let end = line.rsplit_once("||").map(|(_, end)| end.trim());
    let before = line.rsplit_once("||").map_or(line, |(before, _)| before);
    let hides = end.is_some_and(|end| matches!(end.split_whitespace().next(), Some("true" | ":")) || end == "exit 0");
    Ok((hides && !exits_badly(before)).then(|| format!("`|| {}` hides what failed", end.unwrap_or_default())))
}

/// Splits a line into the rest after its leading `cd FOLDER &&`, and that folder with a `/` at its end.
fn entered(line: &str) -> (&str, String) {
    let inside = line.trim().strip_prefix("cd ").and_then(|rest| rest.split_once("&&"));
    let plain = inside.map(|(folder, rest)| (folder.trim().trim_matches(['"', '\'']), rest)).filter(|(folder, _)| {
        let is_plain = |letter: char| letter.is_alphanumeric() || "_-./".contains(letter);
        !folder.starts_with('/') && folder.split('/').all(|part| part != "..") && folder.chars().all(is_plain)
    });
    match plain {
        Some((folder, rest)) => (rest, format!("{}/", folder.trim_start_matches("./").trim_end_matches('/'))),
        None => (line, String::new()),
    }
}

/// The commands of a line, as words; `None` if it has more than plain commands.
pub(super) fn commands_of(line: &str) -> Option<Vec<Vec<String>>> {
    Some(lists_of(line)?.into_iter().flatten().map(|command| command.words).collect())
}

/// The most levels followed when scripts call each other.
const DEEPEST: usize = 6;

/// Programs that succeed whatever their arguments are.
const NEVER_FAIL: &[&str] = &[
    ":", "true", "echo", "printf", "pwd", "sleep", "whoami", "hostname", "uname", "id", "clear", "export", "umask",
    "wait", "times", "sync", "uptime", "nproc", "arch", "groups", "logname", "df", "free", "ps", "history",
];

/// Programs that fail only if a file named in their arguments is missing.
const OF_FILES: &[&str] =
    &["ls", "cat", "head", "tail", "wc", "sort", "uniq", "tee", "find", "du", "tree", "stat", "dir"];

/// Programs that run the command that follows them.
const IN_FRONT: &[&str] =
    &["env", "time", "nice", "command", "exec", "nohup", "builtin", "busybox", "stdbuf", "setsid"];

/// Arguments that ask a tool about itself.
const ABOUT_ITSELF: &[&str] = &["--version", "--help", "-version", "-help", "version", "help"];

/// Tools that a project does not write itself, other than those that run tests and builds.
const TOOLS: &[&str] = word_list!(
    "ansible ava black clang cmake curl docker eslint flake8 gcc git isort java javac jest kotlinc mocha mypy pip pip3
     playwright prettier pylint pyright rspec rubocop ruby ruff rustc rustfmt tsc vite vitest webpack perl gofmt
     shellcheck bats phpunit"
);

/// Options with which a tool does not do its work, or reports success whatever it finds.
const IDLE_OPTIONS: &[(&str, &[&str])] = &[
    (
        "pytest",
        &["--collect-only", "--co", "--collectonly", "--fixtures", "--markers", "--setup-plan", "--version", "--help"],
    ),
    ("py.test", &["--collect-only", "--co"]),
    (
        "make",
        &["-n", "--dry-run", "--just-print", "--recon", "-i", "--ignore-errors", "-t", "--touch", "-v", "--version"],
    ),
    ("just", &["-n", "--dry-run", "--list", "-l", "--summary", "--dump"]),
    ("jest", &["--listTests", "--showConfig", "--clearCache"]),
    ("mocha", &["--dry-run", "--list-files"]),
    ("vitest", &["list"]),
    ("playwright", &["--list"]),
    ("flake8", &["--exit-zero"]),
    ("ruff", &["--exit-zero", "-e"]),
    ("pylint", &["--exit-zero"]),
    ("shellcheck", &["--list-optional"]),
    ("eslint", &["--print-config"]),
    ("tsc", &["--showConfig", "--listFilesOnly", "--init"]),
    ("rake", &["-n", "--dry-run", "-T", "--tasks"]),
    ("mvn", &["-fn", "--fail-never"]),
    ("gradle", &["-m", "--dry-run"]),
    ("tox", &["-l", "--listenvs", "-a", "list", "--notest"]),
    ("nox", &["-l", "--list"]),
    ("rspec", &["--dry-run"]),
];

/// What a command is judged by: the project's files, and the folder it runs in.
struct SeenProject<'a> {
    files: &'a dyn Files,
    /// The folder in which the command runs, with a `/` at its end; empty for the root.
    folder: String,
}

type ReasonResult = Result<Option<String>, FileError>;

impl SeenProject<'_> {
    /// Returns why a command of plain words cannot fail.
    fn command(&self, words: &[&str], depth: usize) -> ReasonResult {
        let Some((program, arguments)) = words.split_first() else { return Ok(None) };
        let Some(left) = depth.checked_sub(1) else { return Ok(None) };
        if let ["(" | "{", inside] = words {
            return self.lines(inside, false, left);
        }
        // `./true` is a program of the project.
        let is_own = program.contains('/') && !program.starts_with('/') && !program.contains("node_modules/.bin/");
        let name = program.rsplit('/').next().unwrap_or_default();
        if is_own {
            return Ok(None);
        }
        if IN_FRONT.contains(&name) || name == "timeout" {
            return self.behind(name, arguments, left);
        }
        let plain: Vec<&str> = arguments.iter().copied().filter(|word| !word.starts_with('-')).collect();
        let never = |is_idle: bool| Ok(is_idle.then(|| format!("`{}` never fails", words.join(" "))));
        match name {
            "exit" | "return" => return never(matches!(arguments, [] | ["0"])),
            "date" => return never(plain.iter().all(|word| word.starts_with('+'))),
            "printenv" => return never(arguments.is_empty()),
            "rm" => return never(arguments.iter().any(|word| word.starts_with('-') && word.contains('f'))),
            "mkdir" => return never(arguments.contains(&"-p") || arguments.contains(&"--parents")),
            // At the end of a pipeline, these only hide a failure.
            "set" | "touch" | "tee" => return never(true),
            "test" | "[" => return never(always_holds(arguments)),
            "git" => return never(is_idle_git(arguments)),
            "sh" | "bash" | "dash" | "zsh" | "ksh" => return self.shell(arguments, left),
            "npm" | "pnpm" | "yarn" | "bun" => return self.script(name, arguments, left),
            "make" | "gmake" if !has_idle_option("make", arguments) => return self.target(arguments, left),
            _ => {}
        }
        if NEVER_FAIL.contains(&name) {
            return never(true);
        }
        if OF_FILES.contains(&name) {
            let is_there = |word: &&str| matches!(*word, "." | "./" | "/" | "/dev/null");
            let acts = arguments.iter().any(|word| word.starts_with("-exec") || *word == "-ok");
            // The paths of `find` come before its first option.
            let paths: Vec<&str> = if name == "find" {
                arguments.iter().copied().take_while(|word| !word.starts_with(['-', '(', '!'])).collect()
            } else {
                plain
            };
            // `head -n 5`: a number is not a path.
            return never(
                !acts && paths.iter().all(|word| is_there(word) || word.bytes().all(|byte| byte.is_ascii_digit())),
            );
        }
        if let Some(code) = code_of(name, arguments) {
            let leaves_out = is_python(name) && arguments.iter().any(|word| matches!(*word, "-O" | "-OO"));
            if leaves_out && code.contains("assert") {
                return Ok(Some(format!("`{name} -O` leaves out what is asserted")));
            }
            return never(is_idle_code(code));
        }
        let (tool, options) = tool_of(words);
        if has_idle_option(tool, options) {
            let reason = format!("`{}` only shows what would be done, or hides what failed", words.join(" "));
            return Ok(Some(reason));
        }
        if self.is_about_itself(tool, options)? {
            return Ok(Some(format!("`{}` says something of the tool, not of the work", words.join(" "))));
        }
        if tool != *program && !options.is_empty() && left > 0 && is_started(words) {
            let words: Vec<&str> = std::iter::once(tool).chain(options.iter().copied()).collect();
            return self.command(&words, left);
        }
        Ok(None)
    }

    /// Judges the command that follows a program which only starts it.
    fn behind(&self, name: &str, arguments: &[&str], depth: usize) -> ReasonResult {
        let is_in_front = |word: &str| {
            word.starts_with('-')
                || word.contains('=')
                || name == "timeout" && word.starts_with(|first: char| first.is_ascii_digit())
        };
        let at = arguments.iter().position(|word| !is_in_front(word)).unwrap_or(arguments.len());
        let rest = arguments.get(at..).unwrap_or_default();
        // `command -v x` checks whether the program exists.
        let looks = name == "command" && at > 0;
        if rest.is_empty() && name == "env" {
            return Ok(Some("`env` never fails".to_owned()));
        }
        if looks { Ok(None) } else { self.command(rest, depth) }
    }

    /// `sh -c LINE`, `sh FILE`
    fn shell(&self, arguments: &[&str], depth: usize) -> ReasonResult {
        let is_flag = |word: &&&str| word.starts_with('-') && !word.starts_with("--");
        let Some(at) = arguments.iter().position(|word| !word.starts_with('-') && !word.starts_with('+')) else {
            return Ok(None);
        };
        let flags = || arguments.iter().take(at).filter(|word| is_flag(word));
        // `-n` reads a script and does not run it: it may fail.
        if flags().any(|word| word.contains('n') && !word.contains('c')) {
            return Ok(None);
        }
        let (is_line, stops) = (flags().any(|word| word.ends_with('c')), flags().any(|word| word.contains('e')));
        let Some(given) = arguments.get(at) else { return Ok(None) };
        if is_line {
            return self.lines(given, stops, depth);
        }
        let Some(path) = within(&self.folder, given) else { return Ok(None) };
        // A script that is missing or empty is still to be written.
        match self.files.read(&path)? {
            Some(text) if text.lines().any(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#')) => {
                let why = match reads_only_itself(&text, given) {
                    Some(why) => Some(why),
                    None => self.lines(&text, stops, depth)?,
                };
                Ok(why.map(|reason| format!("`{path}` cannot fail: {reason}")))
            }
            _ => Ok(None),
        }
    }

    /// Returns why a shell text cannot fail.
    fn lines(&self, text: &str, stops: bool, depth: usize) -> ReasonResult {
        if let Some(why) = ends_well(text) {
            return Ok(Some(why));
        }
        let Some(lists) = lists_with_groups(text) else { return self.last_line(text, stops, depth) };
        let stops = stops || lists.iter().any(|list| matches!(list.as_slice(), [only] if is_set_e(&only.words)));
        let Some((last, earlier)) = lists.split_last() else { return Ok(Some("there is nothing in it".to_owned())) };
        let leaves = |command: &ListedCommand| {
            let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
            match words.as_slice() {
                // `set +e` continues after a failure.
                ["set", options @ ..] => options.iter().any(|option| !option.starts_with('+')),
                ["{", inside] => may_leave(inside),
                [first, ..] => matches!(*first, "exit" | "return" | "trap" | "exec" | "." | "source"),
                [] => false,
            }
        };
        // If an earlier list may leave the text, the last one does not decide.
        if !stops && earlier.iter().flatten().any(leaves) {
            return Ok(None);
        }
        let judged = if stops { lists.as_slice() } else { std::slice::from_ref(last) };
        let mut reason = None;
        for list in judged {
            match self.list(list, depth)? {
                Some(why) => reason = Some(why),
                None => return Ok(None),
            }
        }
        Ok(reason)
    }

    /// Returns why a text with conditions, loops or functions cannot fail: nothing in it fails on its own, and the last
    /// command that it runs succeeds.
    fn last_line(&self, text: &str, stops: bool, depth: usize) -> ReasonResult {
        let Some(left) = depth.checked_sub(1) else { return Ok(None) };
        let text = without_functions(text);
        if stops || may_leave(&text) {
            return Ok(None);
        }
        let is_end = |part: &str| part.is_empty() || matches!(part, "fi" | "done" | "esac" | "}" | ";;");
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let Some(last) = lines.rfind(|line| !is_end(line)) else {
            return Ok(Some("nothing in it is run".to_owned()));
        };
        if last.ends_with('&') && !last.ends_with("&&") {
            return Ok(Some("it does not wait for what it starts last".to_owned()));
        }
        let Some(part) = last.split(';').map(str::trim).rfind(|part| !is_end(part)) else { return Ok(None) };
        let part = if last.starts_with("case ") { part.rsplit_once(") ").map_or(part, |(_, part)| part) } else { part };
        let part = ["then ", "else ", "do "].iter().find_map(|word| part.strip_prefix(word)).unwrap_or(part);
        // A condition without a body, or an incomplete part, shows nothing.
        let is_whole = lists_of(part).is_some_and(|lists| lists.len() == 1) && part.matches('"').count() % 2 == 0;
        if is_whole { self.lines(part, false, left) } else { Ok(None) }
    }

    /// Returns why `a && b || c` cannot fail.
    fn list(&self, commands: &[ListedCommand], depth: usize) -> ReasonResult {
        // `… && exit 1 || true` fails if it reaches `exit`.
        if commands.iter().any(ends_badly) {
            return Ok(None);
        }
        // The last command of a pipeline decides its result.
        let mut pipelines: Vec<(Joint, Option<String>)> = Vec::new();
        for ListedCommand { joint, words } in commands {
            let words: Vec<&str> = words.iter().map(String::as_str).skip_while(|word| is_assignment(word)).collect();
            let own = if words.is_empty() {
                Some("it only sets a variable".to_owned())
            } else {
                self.command(&words, depth)?
            };
            match (joint, pipelines.last_mut()) {
                (Joint::Pipe, Some((_, why))) => *why = own,
                _ => pipelines.push((*joint, own)),
            }
        }
        let mut pipelines = pipelines.into_iter();
        let first = pipelines.next().and_then(|(_, own)| own);
        Ok(pipelines.fold(first, |reason, (joint, own)| match joint {
            Joint::Or => reason.or(own),
            Joint::And | Joint::Pipe => reason.and(own),
        }))
    }

    /// Judges the package script that a manager is asked to run.
    fn script(&self, manager: &str, arguments: &[&str], depth: usize) -> ReasonResult {
        // The script of another package is unknown here.
        let leads = |word: &&str| leads_elsewhere(word) || word.split('=').next() == Some("--prefix");
        if arguments.iter().take_while(|word| **word != "--").any(leads) {
            return Ok(None);
        }
        let plain: Vec<&str> =
            arguments.iter().copied().take_while(|word| *word != "--").filter(|word| !word.starts_with('-')).collect();
        let name = match plain.as_slice() {
            ["run" | "run-script", name, ..] => *name,
            ["test" | "t" | "tst", ..] if manager != "bun" => "test",
            ["start", ..] => "start",
            ["run" | "run-script"] => return Ok(Some(format!("`{manager} run` only lists scripts"))),
            [name, ..] if manager == "yarn" || manager == "pnpm" => *name,
            [] if arguments.iter().any(|word| ABOUT_ITSELF.contains(word) || matches!(*word, "-v" | "-h")) => {
                return Ok(Some(format!(
                    "`{manager} {}` says something of the tool, not of the work",
                    arguments.join(" ")
                )));
            }
            _ => return Ok(None),
        };
        let Some(text) = self.files.read(&format!("{}package.json", self.folder))? else { return Ok(None) };
        let scripts = scripts_of(&text);
        let Some(script) = scripts.get(name) else {
            let is_idle = arguments.contains(&"--if-present");
            return Ok(
                is_idle.then(|| format!("there is no script `{name}`, and `--if-present` says that none is needed"))
            );
        };
        let mut reason = None;
        let around = [format!("pre{name}"), format!("post{name}")];
        for text in std::iter::once(script).chain(around.iter().filter_map(|name| scripts.get(name))) {
            match self.lines(text, false, depth)? {
                Some(why) => reason = reason.or(Some(format!("the script `{name}` cannot fail: {why}"))),
                None => return Ok(None),
            }
        }
        Ok(reason)
    }

    /// Judges the targets that `make` is asked to make.
    fn target(&self, arguments: &[&str], depth: usize) -> ReasonResult {
        let mut folder = self.folder.clone();
        let (mut named, mut file) = (Vec::new(), None);
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            match *word {
                "-C" | "--directory" => {
                    folder = format!("{folder}{}/", words.next().copied().unwrap_or_default().trim_end_matches('/'));
                }
                "-f" | "--file" | "--makefile" => file = words.next().copied(),
                "-j" | "-o" | "-W" | "-I" => {
                    words.next();
                }
                word if word.starts_with('-') || word.contains('=') => {}
                word => named.push(word),
            }
        }
        let text = match file {
            Some(file) => self.files.read(&format!("{folder}{file}"))?,
            None => makefile_of(self.files, &folder)?.map(|(_, text)| text),
        };
        let Some(text) = text else { return Ok(None) };
        let makefile = Makefile::read(&text);
        // Included makefiles are not read here.
        if makefile.includes().next().is_some() {
            return Ok(None);
        }
        let named: Vec<&str> = if named.is_empty() { makefile.default_target().into_iter().collect() } else { named };
        let place = SeenProject { files: self.files, folder };
        let mut reason = None;
        for target in named {
            match place.made(&makefile, target, depth)? {
                Some(why) => reason = Some(why),
                None => return Ok(None),
            }
        }
        Ok(reason)
    }

    /// Returns why making a target cannot fail.
    fn made(&self, makefile: &Makefile<'_>, name: &str, depth: usize) -> ReasonResult {
        let Some(left) = depth.checked_sub(1) else { return Ok(None) };
        let is_there = self.files.exists(&format!("{}{name}", self.folder));
        let (needs, recipe) = (makefile.needs(name), makefile.recipe(name));
        if !makefile.has(name) {
            let reason = format!("nothing says how to make `{name}`, and a file of that name is there");
            return Ok(is_there.then_some(reason));
        }
        if is_there && needs.is_empty() && !makefile.is_phony(name) {
            return Ok(Some(format!("`{name}` is never made: a file of that name is there, and it is not `.PHONY`")));
        }
        for line in &recipe {
            let ignores = line.trim_start_matches(['@', '+', ' ']).starts_with('-');
            let line = makefile.expanded(line.trim_start_matches(['@', '+', '-', ' ']));
            if !ignores && self.lines(&line, false, left)?.is_none() {
                return Ok(None);
            }
        }
        for need in needs {
            if self.made(makefile, need, left)?.is_none() {
                return Ok(None);
            }
        }
        Ok(Some(format!("what makes `{name}` cannot fail")))
    }

    /// True if a tool is asked about itself and is not a program of the project.
    fn is_about_itself(&self, tool: &str, options: &[&str]) -> Result<bool, FileError> {
        let asks = match options {
            ["-h" | "-V" | "-v"] => true,
            [first, ..] => {
                ABOUT_ITSELF.contains(first)
                    || options
                        .iter()
                        .take_while(|word| **word != "--")
                        .any(|word| matches!(*word, "--version" | "--help"))
            }
            [] => false,
        };
        // `node src/cli.js --help` runs the program of the project.
        let runs_own = options
            .iter()
            .take_while(|word| !ABOUT_ITSELF.contains(word))
            .any(|word| word.contains(['/', '.']) || matches!(*word, "run" | "exec" | "-m"));
        if !asks || runs_own {
            return Ok(false);
        }
        if is_runner(tool) || is_python(tool) || TOOLS.contains(&tool) {
            return Ok(true);
        }
        for file in ["package.json", "pyproject.toml", "setup.cfg", "setup.py", "Cargo.toml", "composer.json", "go.mod"]
        {
            if self.files.read(file)?.is_some_and(|text| text.contains(tool)) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Returns why a script succeeds whatever it runs: it is not run at all, or its end says success.
fn ends_well(text: &str) -> Option<String> {
    let is_one = !text.contains("&&") && !text.contains([';', '|', '\n', '(']);
    if is_one && text.trim().rsplit_once('&').is_some_and(|(_, end)| end.trim() == "wait") {
        return Some("`wait` without a number ends well whatever failed".to_owned());
    }
    for line in text.lines().map(str::trim) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["set", option, ..] if option.starts_with('-') && !option.starts_with("--") && option.contains('n') => {
                return Some(format!("`{line}` makes the shell read it and not run it"));
            }
            ["set", "-o", "noexec", ..] => return Some(format!("`{line}` makes the shell read it and not run it")),
            ["trap", .., "EXIT" | "0" | "ERR"] => {
                let code = line.trim_start_matches("trap").trim_start().trim_start_matches(['"', '\'']);
                let code = code.split(['"', '\'']).next().unwrap_or_default().trim();
                let last = code.rsplit(';').next().unwrap_or_default().trim();
                if last == "exit 0" {
                    return Some(format!("`{line}` ends it well whatever failed"));
                }
            }
            _ => {}
        }
    }
    None
}

/// Returns why a script that only reads its own text cannot fail.
fn reads_only_itself(text: &str, path: &str) -> Option<String> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).peekable();
    let path = path.trim_start_matches("./");
    lines.peek()?;
    let is_own = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_last = words.last().is_some_and(|last| {
            let last = last.trim_matches(['"', '\'']).trim_start_matches("./");
            last == path || last == "$0"
        });
        words.first() == Some(&"grep") && is_last
    };
    lines.all(is_own).then(|| "it only searches its own text".to_owned())
}

/// The shell text without the functions that nothing in it calls.
fn without_functions(text: &str) -> String {
    let mut kept = String::new();
    let mut functions: Vec<(String, String)> = Vec::new();
    let mut is_inside = false;
    for line in text.lines() {
        let head = line.trim_end().strip_suffix('{').map(str::trim_end).and_then(|head| head.strip_suffix("()"));
        let name = head.map(|head| head.trim_start_matches("function ").trim());
        match name {
            Some(name) if !is_inside && !line.starts_with([' ', '\t']) => {
                functions.push((name.to_owned(), String::new()));
                is_inside = true;
            }
            _ if is_inside && line.trim_end() == "}" => is_inside = false,
            _ if is_inside => {
                if let Some((_, body)) = functions.last_mut() {
                    body.extend([line, "\n"]);
                }
            }
            _ => kept.extend([line, "\n"]),
        }
    }
    let is_called = |name: &str, text: &str| {
        text.split(|letter: char| !(letter.is_alphanumeric() || "_-".contains(letter))).any(|word| word == name)
    };
    // A called function may fail on its own; its place in the text does not matter.
    let called: Vec<String> =
        functions.iter().filter(|(name, _)| is_called(name, &kept)).map(|(_, body)| body.clone()).collect();
    if called.is_empty() { kept } else { format!("{}{kept}", called.concat()) }
}

/// True if a command, when run, ends the enclosing text with a failure.
fn ends_badly(command: &ListedCommand) -> bool {
    let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["exit" | "return", code, ..] => *code != "0",
        ["exit" | "return"] => command.joint == Joint::Or,
        ["{", inside] => exits_badly(inside),
        _ => false,
    }
}

/// True if a shell text has an `exit` that reports a failure.
fn exits_badly(text: &str) -> bool {
    let words: Vec<&str> = text.split(|letter: char| letter.is_whitespace() || ";(){}&|".contains(letter)).collect();
    words
        .iter()
        .enumerate()
        .any(|(at, word)| matches!(*word, "exit" | "return") && words.get(at + 1).is_none_or(|code| *code != "0"))
}

/// True if a shell text may fail before its end, or because of a word in it.
fn may_leave(text: &str) -> bool {
    let words: Vec<&str> = text.split(|letter: char| letter.is_whitespace() || ";(){}&|".contains(letter)).collect();
    words.iter().enumerate().any(|(at, word)| match *word {
        "exit" | "return" => words.get(at + 1).is_none_or(|code| *code != "0"),
        "false" | "kill" | "exec" | "." | "source" | "set" | "trap" | "eval" | "wait" => true,
        _ => word.starts_with("#!") && text.lines().next().is_some_and(|first| first.contains(" -")),
    })
}

/// The path in the project, relative to a folder; `None` if it leads out.
fn within(folder: &str, path: &str) -> Option<String> {
    let path = path.trim_start_matches("./");
    (!path.starts_with('/') && !path.split('/').any(|part| part == "..")).then(|| format!("{folder}{path}"))
}

/// The tool that finally runs, and its arguments: `python3 -m pytest -q`, `npx jest`, `uv run pytest`.
fn tool_of<'a, 'b>(words: &'b [&'a str]) -> (&'a str, &'b [&'a str]) {
    let Some((program, arguments)) = words.split_first() else { return ("", &[]) };
    let name = program.rsplit('/').next().unwrap_or_default();
    let from =
        |at: usize| (arguments[at].rsplit('/').next().unwrap_or_default(), arguments.get(at + 1..).unwrap_or_default());
    if is_python(program) {
        let module = arguments.iter().position(|word| *word == "-m").filter(|at| arguments.len() > at + 1);
        // An unknown module may belong to the project.
        return match module {
            Some(at) if is_module_of_others(arguments[at + 1]) => from(at + 1),
            _ => (name, arguments),
        };
    }
    if is_started(words) {
        let at = arguments.iter().position(|word| !word.starts_with('-') && !matches!(*word, "run" | "exec" | "x"));
        return at.map_or((name, arguments), from);
    }
    (name, arguments)
}

fn is_started(words: &[&str]) -> bool {
    words.first().is_some_and(|first| {
        matches!(*first, "npx" | "bunx" | "poetry" | "uv" | "uvx" | "pipenv" | "hatch" | "pdm" | "bundle")
    })
}

fn is_module_of_others(module: &str) -> bool {
    word_list!("pytest unittest pip venv mypy ruff black flake8 pylint coverage isort build nose2").contains(&module)
}

fn has_idle_option(tool: &str, options: &[&str]) -> bool {
    let row = IDLE_OPTIONS.iter().find(|(name, _)| *name == tool);
    row.is_some_and(|(_, idle)| options.iter().take_while(|word| **word != "--").any(|word| idle.contains(word)))
}

fn is_set_e(words: &[String]) -> bool {
    words.first().is_some_and(|first| first == "set")
        && words.iter().any(|word| word.starts_with('-') && word.contains('e'))
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
    })
}

/// True if a condition is always true by its own text.
fn always_holds(arguments: &[&str]) -> bool {
    let arguments = match arguments.split_last() {
        Some((&"]", rest)) => rest,
        _ => arguments,
    };
    // The value of a variable is unknown.
    if arguments.iter().any(|word| word.contains(['$', '`'])) {
        return false;
    }
    let number = |word: &str| word.parse::<i64>().ok();
    match arguments {
        ["-n", word] | [word] => !word.is_empty(),
        ["-z", word] => word.is_empty(),
        ["-e" | "-d" | "-r" | "-x", "." | "/" | "./" | ".."] | ["-e" | "-r" | "-w", "/dev/null"] => true,
        ["!", rest @ ..] => {
            matches!(rest, ["-z", word] if !word.is_empty())
                || matches!(rest, ["-n", ""])
                || matches!(rest, [one, "=" | "==", other] if one != other)
        }
        [one, "=" | "==", other] => one == other,
        [one, "!=", other] => one != other,
        [one, compare, other] => match (number(one), number(other)) {
            (Some(one), Some(other)) => match *compare {
                "-eq" => one == other,
                "-ne" => one != other,
                "-lt" => one < other,
                "-le" => one <= other,
                "-gt" => one > other,
                "-ge" => one >= other,
                _ => false,
            },
            _ => false,
        },
        _ => false,
    }
}

/// True if a call of git only shows something.
fn is_idle_git(arguments: &[&str]) -> bool {
    let mut words = arguments.iter().copied();
    let mut command = words.next();
    while let Some(word) = command.filter(|word| word.starts_with('-')) {
        if matches!(word, "--version" | "--help" | "-h" | "-v") {
            return true;
        }
        if matches!(word, "-C" | "-c") {
            words.next();
        }
        command = words.next();
    }
    let rest: Vec<&str> = words.collect();
    let has = |options: &[&str]| rest.iter().any(|word| options.contains(word));
    match command {
        Some("diff") => !has(&["--exit-code", "--quiet", "--check", "--no-index"]),
        None | Some("status" | "log" | "branch" | "shortlog" | "remote" | "reflog" | "version" | "help") => true,
        Some("rev-parse") => rest.iter().all(|word| word.starts_with('-') || *word == "HEAD"),
        Some("ls-files") => !has(&["--error-unmatch"]),
        Some("show") => !rest.iter().any(|word| !word.starts_with('-')),
        _ => false,
    }
}

/// The code passed to an interpreter on its command line; `None` without any.
fn code_of<'a>(name: &str, arguments: &[&'a str]) -> Option<&'a str> {
    let options: &[&str] = match name {
        "node" | "bun" => &["-e", "--eval", "-p", "--print", "-pe"],
        "ruby" | "perl" => &["-e"],
        "php" => &["-r"],
        name if is_python(name) => &["-c"],
        _ => return None,
    };
    let at = arguments.iter().position(|word| options.contains(word))?;
    // Arguments before a file belong to the interpreter; those after it, to the program.
    if arguments.iter().take(at).any(|word| !word.starts_with('-')) {
        return None;
    }
    arguments.get(at + 1).copied()
}

/// True if every statement of the code does nothing.
fn is_idle_code(code: &str) -> bool {
    const IDLE: &[&str] = &[
        "",
        "pass",
        "0",
        "1",
        "true",
        "True",
        "exit",
        "exit 0",
        "exit(0)",
        "exit()",
        "quit()",
        "sys.exit(0)",
        "sys.exit()",
        "process.exit(0)",
        "process.exit()",
        "import sys",
        "import os",
        "import json",
        "import re",
        "assert True",
        "assert 1",
        "raise SystemExit",
        "raise SystemExit(0)",
        "import unittest",
        "import pytest",
    ];
    code.split([';', '\n']).map(str::trim).all(|statement| {
        let printed =
            ["print(", "console.log(", "echo ", "puts ", "print "].iter().find_map(|call| statement.strip_prefix(call));
        IDLE.contains(&statement) || printed.is_some_and(|rest| is_literal(rest.trim_end_matches(')')))
    })
}

/// True if a text is a string or a number.
fn is_literal(text: &str) -> bool {
    let text = text.trim();
    let quoted = ["\"", "'"].iter().any(|quote| {
        text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)).is_some_and(|inside| !inside.contains(quote))
    });
    quoted || text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKAGE: &str = r#"{"bin": {"calc": "src/cli.js"}, "scripts": {"test": "node --test", "ok": "true", "says": "echo ok", "ends": "exit 0",
        "none": "echo \"Error: no test specified\" && exit 1", "hides": "node --test || true", "last": "node --test; echo done",
        "both": "echo a && npm run says", "pretty": "echo a", "prepretty": "node check.js", "piped": "node --test | cat",
        "version": "node --version"}}"#;
    const MAKEFILE: &str = ".PHONY: idle says real chain mixed var\nSAY = echo ok\nRUN = sh run.sh\nidle:\n\ttrue\nsays:\n\t@echo ok\n\t@$(SAY)\nreal:\n\t$(RUN)\n\
        chain: says\nmixed: real says\nvar:\n\t$(UNKNOWN) a\nhidden:\n\t-sh run.sh\ntest:\n\tsh run.sh\nsrc:\n\tsh run.sh\n";

    fn reason(command: &str) -> Option<String> {
        let files = MemoryFiles::new([
            ("package.json", PACKAGE),
            ("Makefile", MAKEFILE),
            ("src/a.js", ""),
            ("idle.sh", "#!/bin/sh\n# checks all\necho checked\n"),
            ("stops.sh", "set -e\nnode a.js\necho checked\n"),
            ("ends.sh", "node a.js\nexit 0\n"),
            ("if.sh", "if ! node a.js; then\n  exit 1\nfi\nexit 0\n"),
            ("new.sh", ""),
            ("sub/Makefile", "all:\n\ttrue\n"),
            ("sub/GNUmakefile", "all:\n\tcc a.c\n"),
        ]);
        match Check::parse(command) {
            Ok(check) => cannot_fail(&check, &files).unwrap(),
            // A plan cannot contain it; a script of the project can.
            Err(_) => SeenProject { files: &files, folder: String::new() }.lines(command, false, DEEPEST).unwrap(),
        }
    }

    #[test]
    fn commands_that_succeed_whatever_the_work_is_are_found() {
        for command in [
            "true",
            ":",
            "/bin/true",
            "echo done",
            "printf 'ok'",
            "pwd",
            "date",
            "date +%s",
            "sleep 1",
            "exit 0",
            "exit",
            "ls",
            "ls -la",
            "ls .",
            "find . -name '*.py'",
            "cat",
            "head -n 3",
            "touch done",
            "mkdir -p out",
            "rm -rf out",
            "env",
            "env A=1 true",
            "timeout 5 true",
            "nice echo a",
            "git status",
            "git log --oneline -3",
            "git diff",
            "git diff --stat HEAD",
            "git -C . status --short",
            "git --version",
            "sh -c true",
            "bash -lc 'echo a; true'",
            "sh -c 'node a.js; true'",
            "node a.js 2>&1 | tee out.log",
            "(node a.js || true)",
            "{ node a.js || true; }",
            "node a.js || { echo failed; }",
            "node a.js || (echo failed)",
            "set +e; node a.js; exit 0",
            "node a.js & wait",
            "node a.js 2>&1 & node b.js & wait",
            "git rev-parse HEAD",
            "sh -c 'node a.js || echo failed'",
            "sh -c 'node a.js | cat'",
            "sh -c 'node a.js | tail -5 && echo ok'",
            "sh -c 'node a.js && node b.js || echo failed | cat'",
            "sh -c 'set -e; echo a; true'",
            "sh -c ''",
            "sh idle.sh",
            "sh ends.sh",
            "python -c pass",
            "python3 -c ''",
            "python3 -c 'import sys; sys.exit(0)'",
            "python3 -c \"print('ok')\"",
            "node -e ''",
            "node -e 'process.exit(0)'",
            "node -e \"console.log('fine')\"",
            "ruby -e ''",
            "test 1 = 1",
            "[ -n x ]",
            "[ x ]",
            "test -z ''",
            "test 2 -gt 1",
            "test a != b",
            "[ -d . ]",
        ] {
            assert!(reason(command).is_some(), "{command}");
        }
    }

    #[test]
    fn commands_that_only_list_or_print_something_are_found() {
        for command in [
            "python3 --version",
            "node --version",
            "node -v",
            "cargo --version",
            "npm --version",
            "npx tsc --version",
            "pytest --help",
            "python3 -m pytest --version",
            "python3 -m unittest -h",
            "docker --version",
            "sometool --version",
            "pytest --collect-only",
            "python3 -m pytest --co -q",
            "uv run pytest --collect-only",
            "PYTEST_ADDOPTS=--co pytest",
            "make -n test",
            "make -i real",
            "make --dry-run",
            "npx jest --listTests",
            "ruff check --exit-zero .",
            "npm run ok",
            "npm run says",
            "npm run ends",
            "npm run hides",
            "npm run last",
            "npm run both",
            "npm run piped",
            "npm run version",
            "npm run missing --if-present",
            "npm run",
            "yarn says",
            "make idle",
            "make says",
            "make chain",
            "make says idle",
            "make hidden",
            "make src",
        ] {
            assert!(reason(command).is_some(), "{command}");
        }
    }

    #[test]
    fn honest_checks_are_accepted_even_if_short() {
        for command in [
            "test -f x",
            "test -f README.md",
            "test ! -e old.py",
            "test -s out.txt",
            "[ -d src ]",
            "test 1 = 2",
            "grep -q x file",
            "grep -c TODO src/a.js",
            "grep -h x file",
            "python3 -m py_compile x.py",
            "python3 -m compileall src",
            "sh check.sh",
            "sh stops.sh",
            "sh if.sh",
            "sh new.sh",
            "bash -n check.sh",
            "./check.sh",
            "./true",
            "ls src/a.js",
            "ls dist/",
            "cat dist/out.txt",
            "find src -name a.js",
            "stat dist",
            "wc -l src/a.js",
            "git diff --exit-code",
            "git diff --check",
            "git diff --quiet HEAD",
            "git ls-files --error-unmatch a",
            "git show HEAD:a.js",
            "git grep -q add",
            "command -v node",
            "which node",
            "python3 -c 'import calc'",
            "python3 -c 'import calc; assert calc.add(1, 2) == 3'",
            "python3 -c 'print(calc)'",
            "node -e \"require('./src/a.js')\"",
            "node -e \"require('assert')(1 === 2)\"",
            "node src/cli.js --help",
            "python3 src/main.py --version",
            "python3 -m calc --help",
            "calc --help",
            "cargo run -- --help",
            "./bin/tool --version",
            "node src/a.js -h",
            "cargo test",
            "cargo test --no-run",
            "cargo check",
            "go vet ./...",
            "tsc --noEmit",
            "npx tsc --noEmit",
            "pytest",
            "pytest -q tests/test_a.py",
            "python3 -m unittest",
            "npm test",
            "npm run test",
            "npm run none",
            "npm run pretty",
            "npm run missing",
            "npm ci",
            "npm run test -- --help",
            "make real",
            "make mixed",
            "make var",
            "make test",
            "make missing",
            "make -C sub",
            "make -k real",
            "sh -c 'node a.js && true'",
            "npm run missing --workspaces --if-present",
            "npm run ok -w packages/api",
            "gofmt -l . | grep -q . && exit 1 || true",
            "node a.js || exit",
            "node a.js || { echo failed; exit 1; }",
            "(node a.js && node b.js)",
            "{ node a.js; }",
            "node a.js | tee out.log; exit ${PIPESTATUS[0]}",
            "set -u; node a.js; exit $?",
            "node a.js & wait $!",
            "git rev-parse --verify v1.0",
            "sh -c 'node a.js && node b.js | tail -5'",
            "sh -c 'node a.js | grep -q x'",
            "sh -ec 'node a.js; true'",
            "sh -c 'if node a.js; then true; else exit 1; fi'",
            "diff a b",
            "env CI=1 npm test",
            "timeout 60 pytest",
            "jq -e .version package.json",
            "curl -f http://localhost:8080/health",
            "docker build .",
            "shellcheck run.sh",
        ] {
            assert_eq!(reason(command), None, "{command}");
        }
    }

    #[test]
    fn a_script_that_always_succeeds_is_distinguished_from_one_that_may_fail() {
        let why = |text: &str| {
            let files = MemoryFiles::new([("checks/a.sh", text)]);
            cannot_fail(&Check::parse("sh checks/a.sh").unwrap(), &files).unwrap()
        };
        for text in [
            "python3 -c 'import a' &\n",
            "if ! python3 a.py; then echo \"a is wrong\"; fi\n",
            "if ! python3 a.py; then\n  echo \"a is wrong\"\nfi\n",
            "set -e\ntrap \"exit 0\" EXIT\npython3 a.py\n",
            "trap 'rm -f out; exit 0' EXIT\npython3 a.py\n",
            "check() {\n  python3 a.py\n}\n",
            "check() {\n  python3 a.py || exit 1\n}\necho checked\n",
            "set -n\npython3 a.py\n",
            "python3 -O -c \"from a import b; assert b() == 1\"\n",
            "x=$(python3 a.py)\n:\n",
            "case $(python3 a.py) in *) exit 0 ;; esac\n",
            "grep -q mul checks/a.sh\n",
            "for one in a b; do\n  python3 $one.py\n  echo checked\ndone\n",
        ] {
            assert!(why(text).is_some(), "{text}");
        }
        for text in [
            "if ! python3 a.py; then echo \"a is wrong\"; exit 1; fi\n",
            "set -e\ntrap 'rm -f out' EXIT\npython3 a.py\n",
            "trap 'code=$?; rm -f out; exit $code' EXIT\npython3 a.py\n",
            "check() {\n  python3 a.py || exit 1\n}\ncheck\necho checked\n",
            "python3 a.py &\nwait $!\n",
            "x=$(python3 a.py)\ntest \"$x\" = 3\n",
            "case $(python3 a.py) in 3) ;; *) exit 1 ;; esac\n",
            "grep -q mul a.py\n",
            "python3 -c \"from a import b; assert b() == 1\"\n",
            "for one in a b; do\n  python3 $one.py || failed=1\ndone\ntest -z \"$failed\"\n",
            "for one in a b; do python3 $one.py; done\n",
            "[ -f a.py ] && (cd b && make)\n",
            "cat a.py | while read -r line; do\n  test \"$line\" || exit 1\ndone\n",
        ] {
            assert_eq!(why(text), None, "{text}");
        }
    }

    #[test]
    fn a_command_that_only_looks_runs_nothing_of_the_project() {
        for command in [
            "cat a.py",
            "wc -l a.py",
            "grep -q def a.py",
            "test -f a.py",
            "python3 -c 'import a'",
            "python3 -m compileall -q a.py",
        ] {
            assert!(only_looks(command), "{command}");
        }
        for command in
            ["python3 a.py", "./test", "make test", "python3 -m unittest", "node --test", "mypy a.py", "sh a.sh"]
        {
            assert!(!only_looks(command), "{command}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_command_is_judged(command in "(?s)(true|sh -c |make |npm run |test |[a-z]|[ '\"\\\\;&|$#<>\n-]){0,30}") {
            for check in Check::all_of(&command).into_iter().flatten() {
                let _ = cannot_fail(&check, &MemoryFiles::new([("package.json", PACKAGE), ("Makefile", MAKEFILE)]));
            }
            let _ = lists_of(&command);
        }
    }
}
