//! New files that a runner or an interpreter loads as a part of itself, and packages of a runner from elsewhere.

use std::collections::BTreeSet;

use serde_json::Value;

use super::finding::{Finding, Weakening};
use super::lexer::Language;
use super::{Text, split};
use crate::gate::pins::Pins;
use crate::gate::runners::{is_python, is_test_library};
use crate::project::check_files::{Role, fits, role_of};
use crate::text::words::word_list;

/// Modules of Python that run tests, or run before everything.
const RUNNERS: &[&str] = word_list!(
    "unittest doctest pytest _pytest py pluggy iniconfig nose nose2 tox nox coverage hypothesis sitecustomize
     usercustomize pytest_cov xdist mypy ruff flake8 pylint"
);

/// Modules of the standard library that those need, and whose names a project rarely uses for its own files.
const LIBRARY: &[&str] = word_list!(
    "argparse ast asyncio atexit collections contextlib dataclasses difflib dis enum fnmatch functools importlib inspect
     io linecache os pathlib pdb pprint re runpy shutil signal subprocess tempfile textwrap threading traceback typing
     warnings weakref"
);

/// New files that replace a runner, and manifests that take a runner from another source.
pub(super) fn added(pins: &Pins, texts: &[Text<'_>]) -> Vec<Finding> {
    let mut found = Vec::new();
    let roots = roots(pins);
    let mut modules = BTreeSet::new();
    for text in texts {
        if text.is_new() {
            if let Some((module, what)) = python(pins, &roots, text.path, texts).or_else(|| node(text.path))
                && modules.insert(module)
            {
                found.push(text.finding(0, Weakening::ShadowedRunner, what));
            }
            found.extend(plugin(text));
        }
        found.extend(from_elsewhere(text));
        found.extend(mapped(text));
    }
    found
}

/// The folders from which Python imports modules: the root, the folders in which checks run, those in `PYTHONPATH`, and
/// those with tests.
fn roots(pins: &Pins) -> BTreeSet<String> {
    let mut roots = BTreeSet::from([String::new()]);
    for check in &pins.checks {
        roots.extend(check.folder().map(ToString::to_string));
        let path =
            check.variables().iter().filter(|(name, _)| name == "PYTHONPATH").flat_map(|(_, value)| value.split(':'));
        roots.extend(path.map(|folder| folder.trim_matches('/').trim_start_matches("./").to_owned()));
    }
    let tests = pins.files.iter().filter(|(path, pin)| pin.role == Role::Test && is_of_python(path));
    for folder in tests.filter_map(|(path, _)| path.rsplit_once('/')).map(|(folder, _)| folder) {
        // A test folder is a root, because it is searched for tests; a package folder is not.
        if role_of(&format!("{folder}/x.py")) == Some(Role::Test) {
            roots.insert(folder.to_owned());
        }
    }
    roots
}

fn is_of_python(path: &str) -> bool {
    Language::of(path) == Some(Language::Python)
}

fn python(pins: &Pins, roots: &BTreeSet<String>, path: &str, texts: &[Text<'_>]) -> Option<(String, String)> {
    let has_tests = pins.files.iter().any(|(path, pin)| pin.role == Role::Test && is_of_python(path));
    let is_run = pins.checks.iter().any(|check| is_python(check.program()))
        || ["pytest", "unittest", "nose2"].iter().any(|tool| pins.tools.contains(*tool));
    if !has_tests && !is_run {
        return None;
    }
    let (folder, name) = split(path);
    let (folder, module, is_package) = match name
        .strip_suffix(".py")
        .or_else(|| name.strip_suffix(".pyc"))
        .or_else(|| name.split_once(".cpython").map(|(module, _)| module))
    {
        Some("__init__") => {
            let (above, module) = split(folder);
            (above, module, true)
        }
        Some(module) => (folder, module, false),
        None => return None,
    };
    let is_known = RUNNERS.contains(&module) || LIBRARY.contains(&module);
    if !is_known || !roots.contains(folder) {
        return None;
    }
    // `tests/unittest/` inside a package `tests` is a part of that package.
    let init = format!("{folder}/__init__.py");
    let is_part = !folder.is_empty()
        && is_package
        && (pins.files.contains_key(&init) || texts.iter().any(|text| text.path == init && text.after.is_some()));
    if is_part || module == "py" && is_package {
        return None;
    }
    Some((format!("{folder}/{module}"), format!("Python takes it for its module `{module}`, which tests are run with")))
}

fn node(path: &str) -> Option<(String, String)> {
    let inside =
        path.strip_prefix("node_modules/").or_else(|| path.split_once("/node_modules/").map(|(_, inside)| inside))?;
    let mut parts = inside.split('/');
    let first = parts.next()?;
    let package = match (first, parts.next()) {
        (".bin", Some(name)) => name.trim_end_matches(".cmd").to_owned(),
        (scope, Some(name)) if scope.starts_with('@') => format!("{scope}/{name}"),
        (name, _) => name.to_owned(),
    };
    let is_runner = is_test_library(&package) || first == ".bin";
    is_runner.then(|| {
        let what = format!("it is taken for the package `{package}`, which tests are run with; installed packages are not part of the work");
        (format!("node_modules/{package}"), what)
    })
}

/// A package inside the project that declares itself a pytest plugin.
fn plugin(text: &Text<'_>) -> Option<Finding> {
    let (folder, name) = text.path.rsplit_once('/')?;
    let is_metadata = folder.ends_with(".egg-info") || folder.ends_with(".dist-info");
    let loads = text.after.as_deref().is_some_and(|after| after.contains("pytest11"));
    (is_metadata && name == "entry_points.txt" && loads)
        .then(|| Finding::new(text.path, 0, Weakening::ShadowedRunner, "pytest loads the plugin that it names"))
}

/// Files that name a project's dependencies.
const MANIFESTS: &[&str] =
    &["package.json", "pyproject.toml", "go.mod", "Cargo.toml", "Gemfile", "composer.json", "setup.cfg", "Pipfile"];

/// How a manifest refers to a package in the project, or to another package.
const ELSEWHERE: &[&str] = &[
    "file:", "link:", "portal:", "npm:", "git+", "git:", "git =", "github:", "path =", "path:", "=> ./", "=> ../",
    "@ ./", "@ ../", "@ http", "url =",
];

/// New lines of a manifest that take a runner or a test library from another source than its registry.
fn from_elsewhere(text: &Text<'_>) -> Vec<Finding> {
    let name = text.name();
    if !MANIFESTS.contains(&name) && !fits("requirements*.txt", name) {
        return Vec::new();
    }
    let mut found = Vec::new();
    let is_elsewhere = |(_, line): &(usize, &str)| ELSEWHERE.iter().any(|mark| line.contains(mark));
    for (number, line) in text.new_lines().into_iter().filter(is_elsewhere) {
        let is_of_name = |letter: char| letter.is_alphanumeric() || "@/-_".contains(letter);
        let mut names = line.split(|letter: char| !is_of_name(letter)).filter(|word| !word.is_empty());
        // The package is the first name; in `go.mod`, the one after `replace`.
        let package = names.find(|word| !matches!(*word, "replace" | "gem" | "github"));
        let package = package
            .map(|package| if line.contains("github.com/") && name == "go.mod" { last_part(line) } else { package });
        if let Some(package) = package.filter(|package| is_test_library(package)) {
            let what = format!("`{package}`, which tests are run with, is taken from another place");
            found.push(text.finding(number, Weakening::PatchedRunner, what));
        }
    }
    found
}

/// The last part of the first module path of Go in a line.
fn last_part(line: &str) -> &str {
    let path = line.split_whitespace().find(|word| word.contains("github.com/")).unwrap_or_default();
    path.rsplit('/').next().unwrap_or_default()
}

/// Entry points in a `package.json` (`imports`, `exports`, `main`, `module`): existing ones that now lead to a stub or
/// a test.
fn mapped(text: &Text<'_>) -> Vec<Finding> {
    if text.name() != "package.json" {
        return Vec::new();
    }
    let read = |side: &Option<String>| side.as_deref().and_then(|side| serde_json::from_str::<Value>(side).ok());
    let (Some(before), Some(after)) = (read(&text.before), read(&text.after)) else { return Vec::new() };
    let mut found = Vec::new();
    for key in ["imports", "exports", "main", "module"] {
        let (then, now) = (targets(before.get(key)), targets(after.get(key)));
        for target in now.difference(&then).filter(|_| !then.is_empty()) {
            let lower = target.to_ascii_lowercase();
            let is_stub = ["stub", "mock", "fake", "dummy"].iter().any(|word| lower.contains(word));
            if is_stub || role_of(target.trim_start_matches("./")) == Some(Role::Test) {
                let what = format!("`{key}` leads to `{target}` now, so that tests would test a stub");
                found.push(text.finding(0, Weakening::StubbedSubject, what));
            }
        }
    }
    found
}

/// All paths in a value.
fn targets(value: Option<&Value>) -> BTreeSet<String> {
    match value {
        Some(Value::String(text)) => BTreeSet::from([text.clone()]),
        Some(Value::Object(entries)) => entries.values().flat_map(|value| targets(Some(value))).collect(),
        Some(Value::Array(items)) => items.iter().flat_map(|value| targets(Some(value))).collect(),
        _ => BTreeSet::new(),
    }
}
