//! The commands that build and test a project, as its own files declare them.

pub(crate) mod missing;
pub(crate) mod python;
pub(crate) mod recipes;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::project::files::{FileError, Files};
use crate::project::test_command;
use crate::text::shell::shell_word;

/// What a declared command does for a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aim {
    Build,
    Test,
}

/// The kind of file that declares commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeclaredBy {
    Make,
    Just,
    Package,
    Python,
    NodeTestFiles,
    Cargo,
    Go,
}

/// The commands that a file of a project declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Declared {
    pub(crate) by: DeclaredBy,
    /// The file, or the folder of tests.
    pub(crate) file: String,
    pub(crate) commands: Vec<String>,
}

impl Declared {
    fn new(by: DeclaredBy, file: &str, command: String) -> Self {
        Self { by, file: file.to_owned(), commands: vec![command] }
    }
}

/// The commands that the files of a project declare, best first: recipes that people wrote for it, then the standard
/// commands of its languages.
pub(crate) fn declared(files: &dyn Files, aim: Aim) -> Result<Vec<Declared>, FileError> {
    let is_test = aim == Aim::Test;
    let name = if is_test { "test" } else { "build" };
    let mut found = vec![recipes::make(files, name)?, recipes::just(files, name)?];
    found.push(scripts(files, &[name])?);
    if is_test {
        found.extend([python::test(files)?, node_test_files(files)?]);
    }
    for (by, file, test, build) in TOOLCHAINS {
        let command = if is_test { *test } else { *build };
        found.push(files.exists(file).then(|| Declared::new(*by, file, command.to_owned())));
    }
    if is_test {
        found.push(python::environments(files)?);
    }
    Ok(found.into_iter().flatten().collect())
}

/// The commands for those scripts of `package.json` that exist, in a form that ends on its own.
pub(crate) fn scripts(files: &dyn Files, names: &[&str]) -> Result<Option<Declared>, FileError> {
    let Some(package) = files.read("package.json")? else { return Ok(None) };
    let call = |name: &&str| package_script(&package, name, |path| files.exists(path));
    let commands: Vec<String> =
        names.iter().filter_map(call).map(|command| test_command::once(&command, Some(&package))).collect();
    let file = "package.json".to_owned();
    Ok((!commands.is_empty()).then_some(Declared { by: DeclaredBy::Package, file, commands }))
}

/// The test files in the root, run one by one.
fn node_test_files(files: &dyn Files) -> Result<Option<Declared>, FileError> {
    let is_test = |name: &str| {
        let stem = ["js", "mjs", "cjs"].iter().find_map(|end| name.strip_suffix(end)?.strip_suffix('.'));
        stem.is_some_and(|stem| stem.starts_with("test-") || stem.strip_suffix(".test").is_some())
    };
    let entries = files.list("")?.unwrap_or_default();
    let names = entries.into_iter().filter(|entry| !entry.is_folder && is_test(&entry.name)).map(|entry| entry.name);
    let names: Vec<String> = names.collect();
    let Some(file) = names.first().cloned() else { return Ok(None) };
    let commands = names.iter().map(|name| format!("node {}", shell_word(name))).collect();
    Ok(Some(Declared { by: DeclaredBy::NodeTestFiles, file, commands }))
}

/// Files whose presence shows how a project is built: the file, the test command, the build command.
const TOOLCHAINS: &[(DeclaredBy, &str, &str, &str)] = &[
    (DeclaredBy::Cargo, "Cargo.toml", "cargo test", "cargo build"),
    (DeclaredBy::Go, "go.mod", "go test ./...", "go build ./..."),
];

/// Programs that run tests or builds.
const RUNNERS: &[&str] = &[
    "bash", "bun", "bundle", "cargo", "composer", "deno", "dotnet", "go", "gradle", "hatch", "just", "make", "mix",
    "mvn", "node", "nox", "npm", "npx", "pdm", "php", "pipenv", "pnpm", "poetry", "pytest", "python", "python3",
    "rake", "sh", "swift", "tox", "uv", "yarn",
];

/// Whether a word is a program that runs tests or builds, or the path of one in the project.
pub(crate) fn is_runner(word: &str) -> bool {
    let is_path = ["./", ".venv/", "venv/", "node_modules/.bin/"].iter().any(|folder| word.starts_with(folder));
    RUNNERS.contains(&word) || is_path
}

/// The scripts of a `package.json`.
pub(crate) fn scripts_of(package: &str) -> BTreeMap<String, String> {
    let package: Option<Value> = serde_json::from_str(package).ok();
    let scripts = package.as_ref().and_then(|package| package.get("scripts")).and_then(Value::as_object);
    let texts =
        scripts.into_iter().flatten().filter_map(|(name, text)| Some((name.clone(), text.as_str()?.to_owned())));
    texts.collect()
}

/// Lock files, and the package manager that writes each.
const LOCKS: &[(&str, &str)] = &[
    ("pnpm-lock.yaml", "pnpm"),
    ("yarn.lock", "yarn"),
    ("bun.lock", "bun"),
    ("bun.lockb", "bun"),
    ("package-lock.json", "npm"),
    ("npm-shrinkwrap.json", "npm"),
];

/// The command for a script of `package.json`, by the package manager whose lock file `exists`, else by the one the
/// file names; `None` if the script does nothing.
fn package_script(package: &str, name: &str, exists: impl Fn(&str) -> bool) -> Option<String> {
    let package: Value = serde_json::from_str(package).ok()?;
    let script = package.get("scripts")?.get(name)?.as_str()?;
    // The placeholder that `npm init` writes is not a test.
    if script.trim().is_empty() || script.contains("no test specified") {
        return None;
    }
    let named = || {
        let named = package.get("packageManager")?.as_str()?.split('@').next()?;
        LOCKS.iter().map(|(_, manager)| *manager).find(|manager| *manager == named)
    };
    let locked = LOCKS.iter().find(|(lock, _)| exists(lock)).map(|(_, manager)| *manager);
    let manager = locked.or_else(named).unwrap_or("npm");
    // `bun test` is Bun's own runner, which the script may not use.
    Some(if name == "test" && manager != "bun" { format!("{manager} test") } else { format!("{manager} run {name}") })
}

/// The command in a text: the content of its backticks, else the whole text if it begins with a program that runs
/// tests.
pub(crate) fn command_in(text: &str) -> Option<&str> {
    let text = text.trim();
    let command = match text.split('`').nth(1) {
        Some(quoted) => quoted,
        None => text.split_whitespace().next().filter(|first| is_runner(first)).map(|_| text)?,
    };
    let command = command.trim();
    // A placeholder that was not filled in.
    (!command.is_empty() && !command.starts_with('{')).then_some(command)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::files::MemoryFiles;

    #[test]
    fn a_script_is_run_by_the_package_manager_of_the_lock_file() {
        let package = r#"{"scripts": {"test": "vitest", "lint": "eslint .", "empty": " "}}"#;
        let script = |name: &str, lock: &str| package_script(package, name, |path| path == lock);
        assert_eq!(script("test", "").as_deref(), Some("npm test"));
        assert_eq!(script("test", "pnpm-lock.yaml").as_deref(), Some("pnpm test"));
        assert_eq!(script("test", "bun.lock").as_deref(), Some("bun run test"));
        assert_eq!(script("lint", "yarn.lock").as_deref(), Some("yarn run lint"));
        assert_eq!((script("empty", ""), script("none", "")), (None, None));
        let named = r#"{"packageManager": "pnpm@9.1.0", "scripts": {"test": "vitest"}}"#;
        let named = |lock: &str| package_script(named, "test", |path| path == lock).unwrap();
        assert_eq!((named(""), named("package-lock.json")), ("pnpm test".to_owned(), "npm test".to_owned()));
    }

    #[test]
    fn a_command_is_found_by_its_backticks_or_its_first_word() {
        assert_eq!(command_in("run `cargo test` twice"), Some("cargo test"));
        assert_eq!(command_in(" pytest -q "), Some("pytest -q"));
        assert_eq!(command_in("the page opens"), None);
        assert_eq!(command_in("`{whole suite}`"), None);
    }

    #[test]
    fn recipes_of_the_project_come_before_standard_commands_of_its_languages() {
        let package = ("package.json", r#"{"scripts": {"test": "tape", "build": "tsc"}}"#);
        let (make, just) = (("Makefile", "test:\n\ttrue\n"), ("Justfile", "test:\n  true\n"));
        let all = [make, just, package, ("pytest.ini", ""), ("Cargo.toml", ""), ("go.mod", ""), ("noxfile.py", "")];
        let files = |from: usize| MemoryFiles::new(all[from..].iter().copied());
        let best = |from: usize, aim| declared(&files(from), aim).unwrap().swap_remove(0).commands.concat();
        let expected =
            ["make test", "just test", "npm test", "python3 -m pytest", "cargo test", "go test ./...", "nox"];
        for (from, command) in expected.into_iter().enumerate() {
            assert_eq!(best(from, Aim::Test), command);
        }
        assert_eq!(best(0, Aim::Build), "npm run build", "neither recipe builds");
    }
}
