//! The commands by which a project builds and tests itself, as its own files declare them.

use serde_json::Value;

/// Files that say by being there how a project is built: the file, what tests it, what builds it.
pub(crate) const TOOLCHAINS: &[(&str, &str, &str)] =
    &[("Cargo.toml", "cargo test", "cargo build"), ("go.mod", "go test ./...", "go build ./...")];

/// Programs that run tests or builds.
const RUNNERS: &[&str] = &[
    "bash", "bun", "bundle", "cargo", "composer", "deno", "dotnet", "go", "gradle", "just", "make", "mix", "mvn",
    "node", "nox", "npm", "npx", "php", "pnpm", "poetry", "pytest", "python", "python3", "rake", "sh", "swift", "tox",
    "uv", "yarn",
];

/// Whether a word is the name of a program that runs tests or builds, or the path of one in the project.
pub(crate) fn is_runner(word: &str) -> bool {
    RUNNERS.contains(&word) || word.starts_with("./")
}

/// The call of a script of `package.json`, by the package manager whose lock file `exists`; `None` where the script does
/// nothing.
pub(crate) fn package_script(package: &str, name: &str, exists: impl Fn(&str) -> bool) -> Option<String> {
    let package: Value = serde_json::from_str(package).ok()?;
    let script = package.get("scripts")?.get(name)?.as_str()?;
    // What `npm init` writes is not a test.
    if script.trim().is_empty() || script.contains("no test specified") {
        return None;
    }
    let locks = [("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lock", "bun"), ("bun.lockb", "bun")];
    let manager = locks.iter().find(|(lock, _)| exists(lock)).map_or("npm", |(_, manager)| manager);
    // `bun test` is a runner of its own, which the script may not be.
    Some(if name == "test" && manager != "bun" { format!("{manager} test") } else { format!("{manager} run {name}") })
}

/// What tests a project whose `pyproject.toml` names pytest.
pub(crate) fn pytest(pyproject: &str) -> Option<&'static str> {
    let runner = if pyproject.contains("[tool.poetry]") { "poetry run pytest" } else { "python3 -m pytest" };
    pyproject.contains("pytest").then_some(runner)
}

/// The call of a target of a Makefile, where it has the target.
pub(crate) fn make_target(makefile: &str, name: &str) -> Option<String> {
    let has = makefile.lines().any(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(':')));
    has.then(|| format!("make {name}"))
}

/// The command in a text: what its backticks hold, else all of it where it begins with a program that runs tests.
pub(crate) fn command_in(text: &str) -> Option<&str> {
    let text = text.trim();
    let command = match text.split('`').nth(1) {
        Some(quoted) => quoted,
        None => text.split_whitespace().next().filter(|first| is_runner(first)).map(|_| text)?,
    };
    let command = command.trim();
    // A form that nobody filled in.
    (!command.is_empty() && !command.starts_with('{')).then_some(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_called_by_the_manager_whose_lock_file_is_there() {
        let package = r#"{"scripts": {"test": "vitest", "lint": "eslint .", "empty": " "}}"#;
        let script = |name: &str, lock: &str| package_script(package, name, |path| path == lock);
        assert_eq!(script("test", "").as_deref(), Some("npm test"));
        assert_eq!(script("test", "pnpm-lock.yaml").as_deref(), Some("pnpm test"));
        assert_eq!(script("test", "bun.lock").as_deref(), Some("bun run test"));
        assert_eq!(script("lint", "yarn.lock").as_deref(), Some("yarn run lint"));
        assert_eq!((script("empty", ""), script("none", "")), (None, None));
    }

    #[test]
    fn a_text_is_a_command_by_its_backticks_or_by_its_first_word() {
        assert_eq!(command_in("run `cargo test` twice"), Some("cargo test"));
        assert_eq!(command_in(" pytest -q "), Some("pytest -q"));
        assert_eq!(command_in("the page opens"), None);
        assert_eq!(command_in("`{whole suite}`"), None);
    }
}
