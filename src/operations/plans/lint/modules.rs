//! Python modules, Go packages, and Cargo binaries and tests that a command names.

use super::needed::{Missing, Sought, file, has_end, is_open, whole};
use crate::operations::plans::calls::Call;
use crate::operations::plans::commands::PlannedTree;
use crate::text::words::word_list;

/// What is missing for a Python interpreter.
pub(super) fn of_python(arguments: &[&str], call: &Call, tree: &PlannedTree<'_>) -> Sought {
    const WITH_VALUE: &[&str] = &["-W", "-X", "--check-hash-based-pycs"];
    let mut at = 0;
    while let Some(word) = arguments.get(at).copied() {
        match word {
            "-m" => return of_module(arguments.get(at + 1..).unwrap_or_default(), call, tree),
            "-c" | "-" | "-V" | "--version" => return Ok(None),
            word if !word.starts_with('-') => return Ok(file(word, call, tree)),
            word => at += if WITH_VALUE.contains(&word) { 2 } else { 1 },
        }
    }
    Ok(None)
}

/// Whether a module belongs to the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Own {
    There,
    /// Its package belongs to the project but does not contain it.
    Missing,
    /// Nothing in the project has that name.
    Other,
}

/// Looks for a dotted name among the files of the project. With `has_members`, the name may end with a class or
/// function.
fn own(name: &str, call: &Call, tree: &PlannedTree<'_>, has_members: bool) -> Own {
    let parts: Vec<&str> = name.split('.').collect();
    let exists = |path: &str| {
        let Some(path) = whole(path, call) else { return true };
        tree.has(&format!("{path}.py")) || tree.is_folder(&path) || tree.plans_inside(&path)
    };
    let mut answer = Own::Other;
    for root in ["", "src/"] {
        let path = |count: usize| format!("{root}{}", parts[..count].join("/"));
        if !exists(&path(1)) {
            continue;
        }
        answer = Own::Missing;
        // `tests.test_a.Class.method`: the first parts of the name are a file.
        let is_file = |path: &str| whole(path, call).is_none_or(|path| tree.has(&format!("{path}.py")));
        let is_member = has_members && (1..parts.len()).any(|count| is_file(&path(count)));
        if exists(&path(parts.len())) || is_member {
            return Own::There;
        }
    }
    answer
}

/// Modules of the Python standard library and of other tools.
const OF_OTHERS: &[&str] = word_list!(
    "ast asyncio black build cProfile calendar compileall coverage dis doctest ensurepip flake8 gzip http idlelib
     ipykernel isort json jupyter mypy nose2 pdb pip pipx platform poetry profile py_compile pydoc pylint pyright pytest
     ruff site sqlite3 sysconfig tabnanny timeit tokenize trace twine unittest uv venv virtualenv webbrowser zipapp
     zipfile tox nox pre_commit django flask uvicorn gunicorn hypercorn alembic celery bandit vulture pyflakes
     pycodestyle behave robot locust sphinx mkdocs maturin"
);

fn of_module(words: &[&str], call: &Call, tree: &PlannedTree<'_>) -> Sought {
    let Some((name, rest)) = words.split_first() else { return Ok(None) };
    let told =
        |name: &str| format!("the module `{name}` does not exist, and neither this plan nor an earlier one writes it");
    if *name == "unittest" {
        let leads = |word: &&&str| matches!(**word, "discover" | "-s" | "-t" | "-p" | "--start-directory");
        if rest.iter().any(|word| leads(&word)) {
            return Ok(None);
        }
        for test in rest.iter().filter(|word| !word.starts_with('-') && !is_open(word)) {
            if has_end(test, &["py"]) {
                if let Some(missing) = file(test, call, tree) {
                    return Ok(Some(missing));
                }
                continue;
            }
            match own(test, call, tree, true) {
                Own::There => {}
                Own::Missing => return Ok(Some(Missing::surely(told(test)))),
                Own::Other => return Ok(Some(Missing::maybe(told(test)))),
            }
        }
        return Ok(None);
    }
    let first = name.split('.').next().unwrap_or_default();
    if is_open(name) || OF_OTHERS.contains(&first) {
        return Ok(None);
    }
    match own(name, call, tree, false) {
        Own::There => Ok(None),
        Own::Missing => Ok(Some(Missing::surely(told(name)))),
        Own::Other => {
            // A declared dependency may be installed.
            for file in
                ["pyproject.toml", "requirements.txt", "requirements-dev.txt", "setup.cfg", "setup.py", "Pipfile"]
            {
                let text = tree.text(file)?.unwrap_or_default();
                let declared = [first.to_owned(), first.replace('_', "-")];
                if tree.is_planned(file) || declared.iter().any(|name| text.contains(name.as_str())) {
                    return Ok(None);
                }
            }
            Ok(Some(Missing::maybe(told(name))))
        }
    }
}

/// What is missing for `go`.
pub(super) fn of_go(arguments: &[&str], call: &Call, tree: &PlannedTree<'_>) -> Option<Missing> {
    let (verb, rest) = arguments.split_first()?;
    if !matches!(*verb, "run" | "test" | "build" | "vet" | "install" | "generate") {
        return None;
    }
    // Words after the first path are arguments of the program that is run.
    let paths = rest.iter().filter(|word| word.starts_with("./") || has_end(word, &["go"]));
    let paths: Vec<&&str> = if *verb == "run" { paths.take(1).collect() } else { paths.collect() };
    for path in paths {
        if has_end(path, &["go"]) {
            if let Some(missing) = file(path, call, tree) {
                return Some(missing);
            }
            continue;
        }
        let folder = path.trim_end_matches("...").trim_end_matches('/');
        let Some(folder) = whole(folder, call) else { continue };
        if !tree.is_folder(&folder) && !tree.plans_inside(&folder) && !call.is_after_build {
            let why =
                format!("the package `{path}` does not exist, and neither this plan nor an earlier one writes into it");
            return Some(Missing::surely(why));
        }
    }
    None
}

/// What is missing for `cargo`.
pub(super) fn of_cargo(arguments: &[&str], call: &Call, tree: &PlannedTree<'_>) -> Sought {
    let own: Vec<&str> = arguments.iter().copied().take_while(|word| *word != "--").collect();
    let leads = |word: &&str| {
        matches!(*word, "-p" | "--package" | "--manifest-path" | "--workspace" | "--all" | "-C")
            || word.starts_with("--manifest-path=")
            || word.starts_with("--package=")
    };
    let manifest = format!("{}Cargo.toml", call.folder);
    if own.iter().any(leads) || tree.is_planned(&manifest) {
        return Ok(None);
    }
    let Some(text) = tree.text(&manifest)? else { return Ok(None) };
    if text.contains("[workspace]") {
        return Ok(None);
    }
    for (option, folder, what) in [
        ("--bin", "src/bin", "binary"),
        ("--test", "tests", "test"),
        ("--example", "examples", "example"),
        ("--bench", "benches", "benchmark"),
    ] {
        for (at, word) in own.iter().enumerate() {
            let attached = word.strip_prefix(option).and_then(|rest| rest.strip_prefix('='));
            let name = attached.or_else(|| (*word == option).then(|| own.get(at + 1).copied()).flatten());
            let Some(name) = name.filter(|name| !is_open(name) && !name.starts_with('-')) else { continue };
            let places = [format!("{folder}/{name}.rs"), format!("{folder}/{name}/main.rs")];
            let is_there = places.iter().filter_map(|path| whole(path, call)).any(|path| tree.has(&path));
            let is_named = text.lines().any(|line| {
                let value = line.trim().strip_prefix("name").map(|rest| rest.trim_start().trim_start_matches('='));
                value.is_some_and(|value| value.trim().trim_matches(['"', '\'']) == name)
            });
            if !is_there && !is_named {
                let why = format!(
                    "there is no {what} `{name}`, and neither this plan nor an earlier one writes `{}`",
                    places[0]
                );
                return Ok(Some(Missing::surely(why)));
            }
        }
    }
    Ok(None)
}
