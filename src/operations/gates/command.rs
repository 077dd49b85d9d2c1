//! The command that builds or tests a project, from its settings, its files or its plans.

use schemars::JsonSchema;
use serde::Serialize;

use crate::project::config::Config;
use crate::project::declared_commands::{Aim, command_in, declared};
use crate::project::files::FileError;
use crate::project::folder::PhaseFolder;
use crate::project::test_command;
use crate::project::view::ProjectView;
use crate::text::checklist::ListItem;
use crate::text::markdown::Markdown;
use crate::text::table::Table;
use crate::text::words::words;

words! {
    /// The kinds of gates.
    #[derive(Serialize, JsonSchema, clap::ValueEnum)]
    pub(crate) enum Gate {
        Build = "build",
        Test = "test",
    }
}

impl Gate {
    /// The setting that has the command.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::Build => "workflow.build_command",
            Self::Test => "workflow.test_command",
        }
    }

    fn aim(self) -> Aim {
        match self {
            Self::Build => Aim::Build,
            Self::Test => Aim::Test,
        }
    }
}

/// A command line and its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GateCommand {
    pub(crate) command: String,
    /// A setting, a file, or `approved`.
    pub(crate) source: String,
}

/// Finds the command of a gate: the setting, the command that a person approved, the one that a project file declares,
/// and for tests the one in a phase's documents: `phase` first, then the other phases, last one first. A test runner
/// that watches files gets the option to exit.
pub(crate) fn find(
    gate: Gate,
    config: &Config,
    given: Option<&str>,
    view: &ProjectView,
    phase: Option<&PhaseFolder>,
) -> Result<Option<GateCommand>, FileError> {
    let package = view.text("package.json")?;
    let found = |command: &str, source: &str| {
        let command = test_command::once(command.trim(), package.as_deref());
        Some(GateCommand { command, source: source.to_owned() })
    };
    if let Some(command) = config.text(gate.key()).filter(|command| !command.trim().is_empty()) {
        return Ok(found(command, gate.key()));
    }
    if let Some(command) = given {
        return Ok(found(command, "approved"));
    }
    if let Some(declared) = declared(view.files(), gate.aim())?.into_iter().next() {
        return Ok(found(&declared.commands.join(" && "), &declared.file));
    }
    if gate == Gate::Build {
        return Ok(None);
    }
    let folders = view.phase_folders()?;
    for folder in phase.into_iter().chain(folders.iter().rev()) {
        if let Some((command, source)) = of_phase(view, folder)? {
            return Ok(found(&command, &source));
        }
    }
    Ok(None)
}

/// The command for all tests of a phase: from its VALIDATION.md, else from the verification of one of its plans.
fn of_phase(view: &ProjectView, folder: &PhaseFolder) -> Result<Option<(String, String)>, FileError> {
    if let Some(name) = folder.artifact("VALIDATION") {
        let text = view.text(&folder.join(name))?.unwrap_or_default();
        if let Some(command) = full_command(&text) {
            return Ok(Some((command, name.to_owned())));
        }
    }
    for (plan, text) in view.plan_texts(folder)? {
        if let Some(command) = verifying(&text) {
            return Ok(Some((command, plan)));
        }
    }
    Ok(None)
}

/// The row `Full command` of a table, or `Full suite command`.
fn full_command(text: &str) -> Option<String> {
    let markdown = Markdown::parse(text);
    let tables = Table::all(&markdown);
    let rows = tables.iter().flat_map(|table| (0..table.row_count()).map(move |row| (table, row)));
    rows.filter(|(table, row)| {
        let name = table.cell_text(*row, 0).replace(['*', '`'], "").trim().to_lowercase();
        name.starts_with("full") && name.ends_with("command")
    })
    .find_map(|(table, row)| command_in(&table.cell_text(row, 1)).map(str::to_owned))
}

/// The first command under `<verification>` that runs tests.
fn verifying(plan: &str) -> Option<String> {
    let (_, rest) = plan.split_once("<verification>")?;
    let (inside, _) = rest.split_once("</verification>")?;
    let tests = |command: &String| ["test", "spec", "check"].iter().any(|word| command.contains(word));
    // A list item with a checkbox may contain a command too.
    let text = |line| ListItem::read(line).filter(|item| item.tick.is_some()).map_or(line, |item| item.text);
    inside.lines().filter_map(|line| command_in(text(line.trim())).map(str::to_owned)).find(tests)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::config::ConfigTexts;

    fn told(gate: Gate, config: &str, given: Option<&str>, files: &[(&str, &str)]) -> Option<(String, String)> {
        let (config, _) = Config::read(ConfigTexts { project: Some(config), ..ConfigTexts::default() });
        let view = ProjectView::of(files.iter().copied());
        find(gate, &config, given, &view, None).unwrap().map(|found| (found.command, found.source))
    }

    fn is(found: Option<(String, String)>, command: &str, source: &str) {
        let (found_command, found_source) = found.unwrap();
        assert_eq!((found_command.as_str(), found_source.as_str()), (command, source));
    }

    #[test]
    fn a_setting_wins_over_an_approved_command_and_that_over_files() {
        let files = [("Cargo.toml", "")];
        let set = r#"{"workflow": {"test_command": "just test", "build_command": " "}}"#;
        is(told(Gate::Test, set, Some("x"), &files), "just test", "workflow.test_command");
        is(told(Gate::Build, set, Some("x"), &files), "x", "approved");
        is(told(Gate::Test, "{}", None, &files), "cargo test", "Cargo.toml");
        is(told(Gate::Build, "{}", None, &files), "cargo build", "Cargo.toml");
    }

    #[test]
    fn each_kind_of_file_declares_a_command() {
        let package = r#"{"scripts": {"test": "vitest", "build": "tsc"}}"#;
        is(told(Gate::Test, "{}", None, &[("package.json", package)]), "CI=true npm test", "package.json");
        let with_lock = [("package.json", package), ("bun.lock", "")];
        is(told(Gate::Build, "{}", None, &with_lock), "bun run build", "package.json");
        let fresh = r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#;
        assert_eq!(told(Gate::Test, "{}", None, &[("package.json", fresh)]), None);
        is(told(Gate::Test, "{}", None, &[("pyproject.toml", "[tool.pytest]")]), "python3 -m pytest", "pyproject.toml");
        assert_eq!(told(Gate::Test, "{}", None, &[("pyproject.toml", "[project]")]), None);
        assert_eq!(told(Gate::Build, "{}", None, &[("pyproject.toml", "pytest")]), None);
        is(told(Gate::Test, "{}", None, &[("go.mod", "")]), "go test ./...", "go.mod");
        let make = ("Makefile", "all:\ntest: all\n");
        is(told(Gate::Test, "{}", None, &[make, ("package.json", package)]), "make test", "Makefile");
        is(told(Gate::Build, "{}", None, &[make, ("package.json", package)]), "npm run build", "package.json");
        is(told(Gate::Test, "{}", None, &[("justfile", "test:\n  x\n")]), "just test", "justfile");
        let uv = [("uv.lock", ""), ("pyproject.toml", "[dependency-groups]\ntest = ['pytest']\n")];
        is(told(Gate::Test, "{}", None, &uv), "uv run python -m pytest", "pyproject.toml");
        is(
            told(Gate::Test, "{}", None, &[("a.test.js", ""), ("b.test.js", "")]),
            "node a.test.js && node b.test.js",
            "a.test.js",
        );
        assert_eq!(told(Gate::Build, "{}", None, &[("Makefile", "test:\n")]), None);
    }

    #[test]
    fn without_a_declared_command_the_phases_decide() {
        let form = "| Property | Value |\n|---|---|\n| Full command | `{whole suite}` |\n";
        let filled = form.replace("{whole suite}", "python3 -m unittest discover -s tests");
        let plan = "<verification>\n- [ ] {command over the whole plan}\n- [ ] the page opens\n- [ ] `curl x`\n\
                    - [ ] python3 -m unittest\n</verification>\n";
        let validated = [(".planning/phases/01-a/01-VALIDATION.md", filled.as_str())];
        is(told(Gate::Test, "{}", None, &validated), "python3 -m unittest discover -s tests", "01-VALIDATION.md");
        assert_eq!(told(Gate::Build, "{}", None, &validated), None);
        let planned = [(".planning/phases/01-a/01-VALIDATION.md", form), (".planning/phases/01-a/01-01-PLAN.md", plan)];
        is(told(Gate::Test, "{}", None, &planned), "python3 -m unittest", "01-01-PLAN.md");
        assert_eq!(told(Gate::Test, "{}", None, &planned[..1]), None, "a form that nobody filled in is no command");
    }
}
