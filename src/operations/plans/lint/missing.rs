//! Files and programs that the commands of a plan run but that neither exist nor are written before.

use super::needed::{Missing, Sought, file, has_end, is_open};
use super::scripts::ManagerCall;
use super::{modules, scripts, targets};
use crate::gate::runners::is_python;
use crate::operations::plans::calls::{Call, calls_of, started};
use crate::operations::plans::commands::PlannedTree;
use crate::operations::plans::found::{Found, Weight, quoted};
use crate::project::files::FileError;

/// The first missing thing for a command; certain findings come before likely ones.
pub(super) fn finding(command: &str, tree: &PlannedTree<'_>, line: usize) -> Result<Option<Found>, FileError> {
    let mut likely: Option<Missing> = None;
    for call in calls_of(command) {
        match of_call(&call, tree)? {
            Some(missing) if missing.weight == Weight::Error => {
                likely = Some(missing);
                break;
            }
            found => likely = likely.or(found),
        }
    }
    Ok(likely
        .map(|Missing { weight, why }| Found::new(weight, line, format!("`{}` cannot run: {why}", quoted(command)))))
}

/// What is missing for one program with its arguments.
fn of_call(call: &Call, tree: &PlannedTree<'_>) -> Sought {
    let words: Vec<&str> = call.words.iter().map(String::as_str).collect();
    of_words(&words, call, tree)
}

/// Like [`of_call`], for words that the call starts.
fn of_words(words: &[&str], call: &Call, tree: &PlannedTree<'_>) -> Sought {
    let Some((program, arguments)) = words.split_first() else { return Ok(None) };
    if is_open(program) {
        return Ok(None);
    }
    let is_tool = program.starts_with('/') || program.contains(".bin/") || program.contains("venv/bin/");
    if program.contains('/') && !is_tool {
        return Ok(own_program(program, call, tree));
    }
    let name = program.rsplit('/').next().unwrap_or(program);
    if let Some(rest) = started(words) {
        // `uv run scripts/a.py`
        let is_script = rest.first().is_some_and(|first| {
            matches!(name, "uv" | "pdm" | "rye") && has_end(first, &["py"]) && !first.starts_with('-')
        });
        return if is_script { Ok(file(rest[0], call, tree)) } else { of_words(rest, call, tree) };
    }
    match name {
        "npm" | "pnpm" | "yarn" | "bun" => match scripts::missing(name, arguments, call, tree)? {
            ManagerCall::Found(found) => Ok(found),
            ManagerCall::Program(words) => of_words(words, call, tree),
        },
        "turbo" => scripts::of_turbo(arguments, call, tree),
        "make" | "gmake" => targets::of_make(arguments, call, tree),
        "just" => targets::of_just(arguments, call, tree),
        "task" | "go-task" => targets::of_task(arguments, call, tree),
        "composer" => targets::of_composer(arguments, call, tree),
        "deno" => targets::of_deno(arguments, call, tree),
        "go" => Ok(modules::of_go(arguments, call, tree)),
        "cargo" => modules::of_cargo(arguments, call, tree),
        "docker" | "docker-compose" | "podman" => Ok(named_by_option(arguments, &["-f", "--file"], call, tree)),
        "tsc" => Ok(named_by_option(arguments, &["-p", "--project"], call, tree)),
        "vitest" | "jest" | "playwright" | "vite" | "webpack" | "eslint" | "mocha" => {
            Ok(named_by_option(arguments, &["--config"], call, tree))
        }
        "source" | "." => {
            let path = arguments.first().copied().filter(|path| has_end(path, &["sh", "bash", "zsh"]));
            Ok(path.and_then(|path| file(path, call, tree)))
        }
        name if is_python(name) => modules::of_python(arguments, call, tree),
        name => Ok(script_of(name, arguments).and_then(|path| file(path, call, tree))),
    }
}

/// A program of the project, given by its path: a script, or the output of a build.
fn own_program(path: &str, call: &Call, tree: &PlannedTree<'_>) -> Option<Missing> {
    const SCRIPTS: &[&str] = &["sh", "bash", "py", "rb", "js", "mjs", "cjs", "ts", "pl", "php"];
    const WRAPPERS: &[&str] = &["gradlew", "mvnw", "manage.py", "artisan"];
    const MADE: &[&str] =
        &["target", "dist", "build", "out", "node_modules", "venv", ".venv", "vendor", "tmp", ".next"];
    let name = path.rsplit('/').next().unwrap_or_default();
    let first = path.trim_start_matches("./").split('/').next().unwrap_or_default();
    let is_script = has_end(name, SCRIPTS) || WRAPPERS.contains(&name);
    if is_script && !MADE.contains(&first) {
        return file(path, call, tree);
    }
    let is_plain = matches!(first, "scripts" | "script" | "tools" | "ci") && path.contains('/');
    file(path, call, tree).filter(|_| is_plain).map(|missing| Missing { weight: Weight::Warning, ..missing })
}

/// The script file among the arguments of an interpreter, if there is one.
fn script_of<'a>(name: &str, arguments: &[&'a str]) -> Option<&'a str> {
    let (with_value, ends): (&[&str], &[&str]) = match name {
        "node" => (
            &["-r", "--require", "--import", "--loader", "--experimental-loader", "-C", "--conditions"],
            &["-e", "--eval", "-p", "--print", "-pe", "--test", "--run"],
        ),
        "bash" | "sh" | "zsh" | "dash" | "ksh" => (&["-o", "+o", "--rcfile"], &["-c", "-s"]),
        "ruby" | "perl" => (&["-I", "-r"], &["-e", "-S", "-ne", "-pe"]),
        "php" => (&["-d", "-c"], &["-r", "-S"]),
        "tsx" | "ts-node" | "ts-node-esm" | "vite-node" | "esno" | "jiti" => {
            (&["--tsconfig", "-P", "--project"], &["-e", "--eval", "-p", "--test", "watch"])
        }
        "Rscript" | "lua" => (&[], &["-e"]),
        _ => return None,
    };
    let mut at = 0;
    loop {
        let word = *arguments.get(at)?;
        if ends.contains(&word) {
            return None;
        }
        if !word.starts_with(['-', '+']) {
            return Some(word);
        }
        at += if with_value.contains(&word) { 2 } else { 1 };
    }
}

/// A file named by an option of a tool.
fn named_by_option(arguments: &[&str], options: &[&str], call: &Call, tree: &PlannedTree<'_>) -> Option<Missing> {
    const ENDS: &[&str] = &["yml", "yaml", "json", "js", "mjs", "cjs", "ts", "mts", "cts"];
    let mut words = arguments.iter().take_while(|word| **word != "--").peekable();
    while let Some(word) = words.next() {
        let attached = options.iter().find_map(|option| word.strip_prefix(option)?.strip_prefix('='));
        let path = attached.or_else(|| options.contains(word).then(|| words.peek().copied().copied()).flatten());
        let missing = path.filter(|path| has_end(path, ENDS)).and_then(|path| file(path, call, tree));
        if missing.is_some() {
            return missing;
        }
    }
    None
}
