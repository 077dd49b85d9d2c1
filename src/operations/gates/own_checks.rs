//! Checks of a project that inspect every file it tracks, and so planning files too.

use schemars::JsonSchema;
use serde::Serialize;

use crate::project::declared_commands::recipes::MAKEFILES;
use crate::project::declared_commands::scripts_of;
use crate::project::files::{FileError, Files};

/// A check that inspects planning files, and how to exclude them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct OwnCheck {
    /// The tool, such as `prettier`.
    check: String,
    /// The file that runs it.
    found_in: String,
    /// The file with its exclusions.
    ignore_file: String,
    /// The lines to add there.
    entry: String,
}

impl OwnCheck {
    /// What a person has to do, in a few words.
    pub(crate) fn cure(&self) -> String {
        let entry = self.entry.lines().collect::<Vec<_>>().join("\\n");
        format!("add `{entry}` to `{}` ({})", self.ignore_file, self.check)
    }
}

/// A tool that inspects any file.
struct Tool {
    /// The commands that run it; the first one is its name.
    words: &'static [&'static str],
    /// Files with its exclusions, best first: the first existing one is used, else the first one.
    ignore_files: &'static [&'static str],
    /// The lines to add; `{planning}` is replaced by the folder.
    entry: &'static str,
}

const EDITORCONFIG: &str = "[{planning}/**]\nindent_style = unset\nindent_size = unset\nmax_line_length = unset\n\
                            end_of_line = unset\ntrim_trailing_whitespace = unset\ninsert_final_newline = unset";

const TOOLS: &[Tool] = &[
    Tool { words: &["prettier"], ignore_files: &[".prettierignore"], entry: "{planning}/" },
    Tool { words: &["eclint"], ignore_files: &[".editorconfig"], entry: EDITORCONFIG },
    Tool {
        words: &["editorconfig-checker", "ec"],
        ignore_files: &[".editorconfig-checker.json", ".ecrc"],
        entry: "\"Exclude\": [\"^{planning}/\"]",
    },
    Tool { words: &["markdownlint"], ignore_files: &[".markdownlintignore"], entry: "{planning}/" },
    Tool {
        words: &["markdownlint-cli2"],
        ignore_files: &[".markdownlint-cli2.jsonc", ".markdownlint-cli2.yaml"],
        entry: "\"ignores\": [\"{planning}/**\"]",
    },
    Tool {
        words: &["codespell"],
        ignore_files: &[".codespellrc", "setup.cfg"],
        entry: "[codespell]\nskip = {planning}",
    },
    Tool {
        words: &["cspell"],
        ignore_files: &["cspell.json", ".cspell.json"],
        entry: "\"ignorePaths\": [\"{planning}/**\"]",
    },
    Tool {
        words: &["biome"],
        ignore_files: &["biome.json", "biome.jsonc"],
        entry: "\"files\": {\"includes\": [\"**\", \"!{planning}\"]}",
    },
    Tool {
        words: &["dprint"],
        ignore_files: &["dprint.json", ".dprint.json"],
        entry: "\"excludes\": [\"{planning}\"]",
    },
    Tool {
        words: &["addlicense", "license-eye", "license-header-checker", "licensed"],
        ignore_files: &[".licenserc.yaml"],
        entry: "paths-ignore: ['{planning}/**']",
    },
    Tool { words: &["reuse"], ignore_files: &["REUSE.toml"], entry: "[[annotations]]\npath = \"{planning}/**\"" },
];

/// Configurations of `ESLint`, which inspects JSON and Markdown only if one of them enables it.
const OF_ESLINT: &[&str] = &[
    "eslint.config.js",
    "eslint.config.mjs",
    "eslint.config.cjs",
    "eslint.config.ts",
    ".eslintrc.json",
    ".eslintrc.js",
    ".eslintrc.cjs",
    ".eslintrc",
];

/// Hooks of pre-commit that get every file.
const HOOKS: &[&str] = &[
    "addlicense",
    "codespell",
    "editorconfig-checker",
    "end-of-file-fixer",
    "insert-license",
    "markdownlint",
    "markdownlint-cli2",
    "mixed-line-ending",
    "prettier",
    "pretty-format-json",
    "trailing-whitespace",
];

const PRE_COMMIT: &str = ".pre-commit-config.yaml";

/// The checks that inspect files below `planning`, each listed once.
pub(crate) fn checks_of(files: &dyn Files, planning: &str) -> Result<Vec<OwnCheck>, FileError> {
    let mut found: Vec<OwnCheck> = Vec::new();
    for (file, lines) in command_lines(files)? {
        for line in &lines {
            for tool in TOOLS.iter().filter(|tool| tool.words.iter().any(|word| looks_at_all(line, word))) {
                let ignore_file =
                    tool.ignore_files.iter().find(|name| files.exists(name)).or(tool.ignore_files.first());
                let ignore_file = ignore_file.copied().unwrap_or_default();
                let is_known = found.iter().any(|check| Some(&check.check.as_str()) == tool.words.first());
                if is_known || files.read(ignore_file)?.is_some_and(|text| text.contains(planning)) {
                    continue;
                }
                found.push(OwnCheck {
                    check: tool.words.first().copied().unwrap_or_default().to_owned(),
                    found_in: file.clone(),
                    ignore_file: ignore_file.to_owned(),
                    entry: tool.entry.replace("{planning}", planning),
                });
            }
            let is_known = found.iter().any(|check| check.check == "eslint");
            if !is_known
                && looks_at_all(line, "eslint")
                && let Some(config) = eslint_of_documents(files, planning)?
            {
                let entry = format!("{{ ignores: [\"{planning}/**\"] }}");
                found.push(OwnCheck { check: "eslint".to_owned(), found_in: file.clone(), ignore_file: config, entry });
            }
        }
    }
    if let Some(text) = files.read(PRE_COMMIT)?.filter(|text| !text.contains(planning)) {
        let hook = |line: &str| {
            let id =
                line.trim().trim_start_matches("- ").strip_prefix("id:")?.trim().trim_matches(['\'', '"']).to_owned();
            HOOKS.contains(&id.as_str()).then_some(id)
        };
        let hooks: Vec<String> = text.lines().filter_map(hook).collect();
        if !hooks.is_empty() {
            found.push(OwnCheck {
                check: hooks.join(", "),
                found_in: PRE_COMMIT.to_owned(),
                ignore_file: PRE_COMMIT.to_owned(),
                entry: format!("exclude: ^{}/", planning.replace('.', "\\.")),
            });
        }
    }
    Ok(found)
}

/// The configuration of `ESLint`, if it inspects JSON or Markdown and does not exclude the folder.
fn eslint_of_documents(files: &dyn Files, planning: &str) -> Result<Option<String>, FileError> {
    for name in OF_ESLINT {
        if let Some(text) = files.read(name)? {
            let of_documents = ["json", "markdown"].iter().any(|word| text.contains(word));
            return Ok((of_documents && !text.contains(planning)).then(|| (*name).to_owned()));
        }
    }
    Ok(None)
}

/// The command lines of a project, by file.
fn command_lines(files: &dyn Files) -> Result<Vec<(String, Vec<String>)>, FileError> {
    let mut all = Vec::new();
    if let Some(package) = files.read("package.json")? {
        all.push(("package.json".to_owned(), scripts_of(&package).into_values().collect()));
    }
    let mut names: Vec<String> = MAKEFILES.iter().map(|name| (*name).to_owned()).collect();
    names.extend(["justfile", "Justfile", "tox.ini", "noxfile.py", "lefthook.yml", "Taskfile.yml"].map(str::to_owned));
    for folder in [".github/workflows", ".husky"] {
        let entries = files.list(folder)?.unwrap_or_default();
        names.extend(
            entries.into_iter().filter(|entry| !entry.is_folder).map(|entry| format!("{folder}/{}", entry.name)),
        );
    }
    for name in names {
        if let Some(text) = files.read(&name)? {
            all.push((name, text.lines().map(str::to_owned).collect()));
        }
    }
    Ok(all)
}

/// True if a line runs a tool on all files: on the folder, on a pattern from its root, on the files that git tracks, or
/// without naming any.
fn looks_at_all(line: &str, tool: &str) -> bool {
    line.split("&&").flat_map(|part| part.split(';')).any(|part| {
        let words: Vec<&str> =
            part.split_whitespace().map(|word| word.trim_matches(['\'', '"', '`', '@', ','])).collect();
        let is_tool = |word: &&str| word.rsplit('/').next() == Some(tool);
        let Some(at) = words.iter().position(is_tool) else { return false };
        // The tool must be called, not installed or mentioned.
        let leads = |word: &&str| {
            word.starts_with('-')
                || word.contains('=')
                || ["run:", "npx", "pnpm", "yarn", "bunx", "exec", "uv", "uvx", "run", "poetry", "x", "|", "xargs"]
                    .contains(word)
        };
        let is_called = words[..at].iter().all(leads) || part.contains("git ls-files");
        if !is_called {
            return false;
        }
        if part.contains("git ls-files") {
            return true;
        }
        let paths: Vec<&str> = words[at + 1..].iter().copied().filter(|word| !word.starts_with('-')).collect();
        let paths: Vec<&str> =
            paths.into_iter().skip_while(|word| matches!(*word, "check" | "lint" | "ci" | "fmt" | "header")).collect();
        paths.is_empty()
            || paths
                .iter()
                .any(|path| matches!(*path, "." | "./" | "*") || path.starts_with("**") || path.starts_with("*."))
    })
}

/// The files below `planning` that an output names; empty if it names another file of the project.
pub(crate) fn only_planning(output: &str, root: &str, planning: &str, is_file: impl Fn(&str) -> bool) -> Vec<String> {
    // Programs that run a check print their own file names.
    let of_starters =
        ["make", "npm ", "> ", "$ ", "error: Recipe", "info ", "error Command failed", "ELIFECYCLE", "yarn "];
    let mut named: Vec<String> = Vec::new();
    let separators = |letter: char| letter.is_whitespace() || "'\"`()[]{}<>,;=|".contains(letter);
    for line in output.lines().map(str::trim).filter(|line| !of_starters.iter().any(|begin| line.starts_with(begin))) {
        for word in line.split(separators) {
            let word = word.strip_prefix(root).map_or(word, |rest| rest.trim_start_matches('/'));
            let word = word.strip_prefix("./").unwrap_or(word);
            let path = word.split(':').next().unwrap_or_default().trim_end_matches('.');
            if path.contains(['/', '.'])
                && !path.starts_with('/')
                && !path.contains("node_modules/")
                && !named.iter().any(|known| known == path)
                && is_file(path)
            {
                named.push(path.to_owned());
            }
            if named.len() > MOST_NAMED {
                return Vec::new();
            }
        }
    }
    let is_below = |path: &String| path.strip_prefix(planning).is_some_and(|rest| rest.starts_with('/'));
    if named.iter().all(is_below) { named } else { Vec::new() }
}

/// The most files that are examined in one output.
const MOST_NAMED: usize = 500;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::files::MemoryFiles;

    fn found(files: &[(&str, &str)]) -> Vec<(String, String, String)> {
        let checks = checks_of(&MemoryFiles::new(files.iter().copied()), ".planning").unwrap();
        checks.into_iter().map(|check| (check.check, check.found_in, check.ignore_file)).collect()
    }

    #[test]
    fn each_check_that_looks_at_every_file_is_found_with_its_ignore_file() {
        for (script, check, ignore_file) in [
            ("prettier --check .", "prettier", ".prettierignore"),
            ("prettier -c '**/*.{js,md,json}'", "prettier", ".prettierignore"),
            (
                "eclint check $(git ls-files | xargs find 2> /dev/null | grep -vE 'node_modules')",
                "eclint",
                ".editorconfig",
            ),
            ("npx editorconfig-checker", "editorconfig-checker", ".editorconfig-checker.json"),
            ("markdownlint '**/*.md'", "markdownlint", ".markdownlintignore"),
            ("npx -y markdownlint-cli2 '**/*.md'", "markdownlint-cli2", ".markdownlint-cli2.jsonc"),
            ("codespell", "codespell", ".codespellrc"),
            ("tsc && biome check .", "biome", "biome.json"),
            ("license-eye header check", "addlicense", ".licenserc.yaml"),
        ] {
            let package = format!(r#"{{"scripts": {{"lint": {}}}}}"#, serde_json::to_string(script).unwrap());
            let expected = (check.to_owned(), "package.json".to_owned(), ignore_file.to_owned());
            assert_eq!(found(&[("package.json", &package)]), [expected], "{script}");
        }
    }

    #[test]
    fn a_check_of_some_folders_and_one_that_leaves_planning_files_out_are_not_named() {
        for script in
            ["prettier --check src", "eclint check lib test", "echo prettier .", "npm install prettier", "tape"]
        {
            let package = format!(r#"{{"scripts": {{"lint": "{script}"}}}}"#);
            assert_eq!(found(&[("package.json", &package)]), [], "{script}");
        }
        let package = ("package.json", r#"{"scripts": {"lint": "prettier --check . && eslint ."}}"#);
        assert_eq!(found(&[package, (".prettierignore", "dist\n.planning/\n")]), []);
        let config = |text| [package, (".prettierignore", ".planning"), ("eslint.config.mjs", text)];
        assert_eq!(found(&config("import json from '@eslint/json'"))[0].2, "eslint.config.mjs");
        assert_eq!(found(&config("export default []")), []);
    }

    #[test]
    fn makefiles_workflows_and_pre_commit_are_read() {
        let make = found(&[("Makefile", "lint:\n\t@prettier --check .\n\tprettier --check .\n")]);
        assert_eq!(make.len(), 1, "{make:?}");
        assert_eq!(found(&[(".github/workflows/ci.yml", "      - run: npx prettier --check .\n")]).len(), 1);
        let hooks = "repos:\n  - repo: x\n    hooks:\n      - id: trailing-whitespace\n      - id: black\n      - id: codespell\n";
        assert_eq!(found(&[(PRE_COMMIT, hooks)])[0].0, "trailing-whitespace, codespell");
        assert_eq!(found(&[(PRE_COMMIT, &format!("exclude: ^\\.planning/\n{hooks}"))]), []);
    }

    #[test]
    fn an_output_that_names_only_planning_files_is_recognised() {
        let is_file = |path: &str| {
            [".planning/config.json", ".planning/phases/01-a/01-01-PLAN.md", "lib/a.js", "Makefile", "package.json"]
                .contains(&path)
        };
        let only = |output: &str| only_planning(output, "/p", ".planning", is_file);
        for output in [
            "[warn] .planning/config.json\n[warn] Code style issues found in the above file. Run Prettier.\n",
            "> qs@6 lint\n> eclint check $(git ls-files)\n\n/p/.planning/config.json\n  1:1 ❌ invalid indent_style\n",
            ".planning/config.json:3:7 MD013/line-length\nmake: *** [Makefile:3: lint] Error 1\n",
            "./.planning/config.json:\n\t1: Wrong indentation\nnpm error path /p/package.json\n",
        ] {
            assert_eq!(only(output), [".planning/config.json"], "{output}");
        }
        for output in
            ["", "1 test failed", ".planning/config.json\nlib/a.js: x\n", "at f (/p/lib/a.js:3:4)", ".planning/gone.md"]
        {
            assert_eq!(only(output), Vec::<String>::new(), "{output}");
        }
    }
}
