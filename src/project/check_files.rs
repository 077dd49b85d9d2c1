//! The role of a file in the checks of a project, found from its path only: a test, a recorded answer, the settings of
//! a runner.

use std::fmt;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::text::words::read_words;

static TABLE: LazyLock<Table> =
    LazyLock::new(|| toml_edit::de::from_str(include_str!("check_files.toml")).unwrap_or_default());

read_words! {
    /// The role of a file in the checks.
    #[derive(Serialize, Hash, PartialOrd, Ord)]
    pub(crate) enum Role {
        Test = "test",
        Snapshot = "snapshot",
        /// Settings of a runner, or a file that a runner loads before every test.
        Config = "config",
        /// A file that a check runs, or one that defines which commands a check runs.
        Script = "script",
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    config: Vec<ConfigRow>,
    script: Vec<Names>,
    snapshot: Vec<Names>,
    test: Vec<Names>,
    running: Vec<RunningRow>,
    /// Folders of clients that also hold other files.
    shared: Vec<String>,
}

/// The rows of the table for files that run automatically.
pub(super) fn running_rows() -> &'static [RunningRow] {
    &TABLE.running
}

/// Folders of clients that also hold other files.
pub(super) fn shared_folders() -> &'static [String] {
    &TABLE.shared
}

/// The settings of a runner.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConfigRow {
    names: Vec<String>,
    pub(crate) format: Format,
    /// The endings of the test files that the runner runs.
    #[serde(default)]
    pub(crate) tests: Vec<String>,
    /// The programs for which these settings count even without such test files.
    #[serde(default)]
    pub(crate) tools: Vec<String>,
    /// The keys that count; one that ends in `*` is a prefix.
    #[serde(default)]
    pub(crate) keys: Vec<String>,
    /// Lists that only add tests when they get longer.
    #[serde(default)]
    pub(crate) wider: Vec<String>,
    /// Keys that only get stricter when they become `true` or a larger number.
    #[serde(default)]
    pub(crate) stricter: Vec<String>,
    /// Whether the file has scripts that checks may call.
    #[serde(default)]
    pub(crate) scripts: bool,
}

/// How the relevant settings are found in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Format {
    Json,
    Toml,
    Ini,
    /// Lines that contain one of the keys.
    Lines,
    /// Code that runs before the tests; judged as tests are.
    Code,
    #[default]
    Whole,
}

/// The event that makes a file run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum When {
    Session,
    Open,
    Commit,
    Install,
    Server,
}

/// `when a session of a client starts`
impl fmt::Display for When {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Session => "when a session of a client starts",
            Self::Open => "when the folder is opened",
            Self::Commit => "when something is committed",
            Self::Install => "when packages are installed or built",
            Self::Server => "when a server builds the project",
        })
    }
}

/// A row of the table: files of one kind.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunningRow {
    pub(super) when: Option<When>,
    #[serde(default)]
    pub(super) names: Vec<String>,
    #[serde(default)]
    pub(super) folders: Vec<String>,
    #[serde(default)]
    pub(super) format: Format,
    #[serde(default)]
    pub(super) keys: Vec<String>,
    /// The clients that read the files; empty for any client.
    #[serde(default)]
    pub(super) hosts: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Names {
    names: Vec<String>,
    #[serde(default)]
    folders: Vec<String>,
}

impl Names {
    fn has(&self, path: &str) -> bool {
        let folders = path.rsplit_once('/').map_or("", |(folders, _)| folders);
        fits_one(&self.names, path) || folders.split('/').any(|folder| self.folders.iter().any(|name| name == folder))
    }
}

fn fits_one(patterns: &[String], path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    patterns.iter().any(|pattern| {
        if pattern.contains('/') {
            path == pattern || path.strip_suffix(pattern.as_str()).is_some_and(|before| before.ends_with('/'))
        } else {
            fits(pattern, name)
        }
    })
}

/// Whether a text matches a pattern in which `*` is any text.
pub(crate) fn fits(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    true
}

/// The role of a file in the checks; `None` if it is part of the work itself.
pub(crate) fn role_of(path: &str) -> Option<Role> {
    if config_of(path).is_some() {
        return Some(Role::Config);
    }
    let has = |rows: &[Names]| rows.iter().any(|row| row.has(path));
    [(&TABLE.script, Role::Script), (&TABLE.snapshot, Role::Snapshot), (&TABLE.test, Role::Test)]
        .into_iter()
        .find(|(rows, _)| has(rows))
        .map(|(_, role)| role)
}

/// Whether a file is a test by its name, wherever it is.
pub(crate) fn is_named_as_test(path: &str) -> bool {
    TABLE.test.iter().any(|row| fits_one(&row.names, path))
}

/// The row for the settings in a file.
pub(crate) fn config_of(path: &str) -> Option<&'static ConfigRow> {
    TABLE.config.iter().find(|row| fits_one(&row.names, path))
}

/// Files that define what a server runs for every change.
const PIPELINES: &[&str] = &[
    ".gitlab-ci.yml",
    ".gitlab-ci.yaml",
    ".circleci/config.yml",
    "azure-pipelines.yml",
    "azure-pipelines.yaml",
    "Jenkinsfile",
    ".travis.yml",
    "bitbucket-pipelines.yml",
    ".drone.yml",
    ".woodpecker.yml",
    "appveyor.yml",
    ".appveyor.yml",
    ".buildkite/pipeline.yml",
    "cloudbuild.yaml",
    ".cirrus.yml",
    ".pre-commit-config.yaml",
];

/// Folders whose files define what a server runs.
const OF_PIPELINES: &[&str] = &[
    ".github/workflows/",
    ".github/actions/",
    ".gitlab/ci/",
    ".forgejo/workflows/",
    ".gitea/workflows/",
    ".woodpecker/",
];

/// Whether a file defines what a server runs for every change.
pub(crate) fn is_pipeline(path: &str) -> bool {
    let is_yaml = path.rsplit_once('.').is_some_and(|(_, ending)| matches!(ending, "yml" | "yaml"));
    PIPELINES.contains(&path) || (is_yaml && OF_PIPELINES.iter().any(|folder| path.starts_with(folder)))
}

/// Endings of files that people read and that are not run.
const DOCUMENTS: &[&str] = &["md", "markdown", "rst", "adoc", "asciidoc", "org", "txt"];

/// Names of documents without an ending.
const NAMED_DOCUMENTS: &[&str] =
    &["LICENSE", "LICENCE", "COPYING", "NOTICE", "AUTHORS", "README", "CHANGELOG", "CODEOWNERS"];

/// Text files that programs read.
const READ_BY_PROGRAMS: &[&str] =
    &["requirements*.txt", "constraints*.txt", "CMakeLists.txt", "robots.txt", "*.in.txt"];

/// Whether a file is only a document: not a test, not test data, and not read by a tool.
pub(crate) fn is_document(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let is_named = NAMED_DOCUMENTS.contains(&name);
    let ends =
        name.rsplit_once('.').is_some_and(|(_, ending)| DOCUMENTS.contains(&ending.to_ascii_lowercase().as_str()));
    (is_named || ends) && role_of(path).is_none() && !READ_BY_PROGRAMS.iter().any(|pattern| fits(pattern, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read() {
        assert!(toml_edit::de::from_str::<Table>(include_str!("check_files.toml")).is_ok());
    }

    #[test]
    fn files_have_the_role_that_their_tools_give_them() {
        for (path, role) in [
            ("src/a.test.ts", Some(Role::Test)),
            ("a_test.go", Some(Role::Test)),
            ("app/tests/helpers.py", Some(Role::Test)),
            ("tests/data/one.json", Some(Role::Test)),
            ("test_a.py", Some(Role::Test)),
            ("src/__tests__/__snapshots__/a.snap", Some(Role::Snapshot)),
            ("tests/golden/a.txt", Some(Role::Snapshot)),
            ("tests/conftest.py", Some(Role::Config)),
            ("web/package.json", Some(Role::Config)),
            ("jest.config.mjs", Some(Role::Config)),
            ("x/.cargo/config.toml", Some(Role::Config)),
            (".npmrc", Some(Role::Config)),
            (".env.test", Some(Role::Config)),
            (".env.example", None),
            ("Taskfile.dist.yaml", Some(Role::Script)),
            ("Makefile", Some(Role::Script)),
            ("src/latest.rs", None),
            ("src/config.toml", None),
            ("contest.py", None),
            ("testing/a.py", None),
        ] {
            assert_eq!(role_of(path), role, "{path}");
        }
    }

    #[test]
    fn pipeline_files_are_known_by_their_path() {
        for path in [
            ".github/workflows/ci.yml",
            ".github/workflows/a.yaml",
            ".gitlab-ci.yml",
            "Jenkinsfile",
            ".github/actions/a/action.yml",
        ] {
            assert!(is_pipeline(path), "{path}");
        }
        for path in [
            ".github/dependabot.yml",
            ".github/workflows/README.md",
            "docs/.gitlab-ci.yml",
            "src/Jenkinsfile",
            "ci.yml",
        ] {
            assert!(!is_pipeline(path), "{path}");
        }
    }

    #[test]
    fn documents_are_distinguished_from_files_that_tools_read() {
        assert!(
            ["README.md", "docs/a.rst", "LICENSE", ".planning/STATE.md", "notes.TXT"]
                .iter()
                .all(|path| is_document(path))
        );
        let others = [
            "requirements-dev.txt",
            "CMakeLists.txt",
            "tests/data/a.md",
            "a.mdx",
            "docs/conf.py",
            "golden/a.txt",
            "md",
        ];
        assert!(!others.iter().any(|path| is_document(path)));
    }

    #[test]
    fn a_star_is_any_text() {
        for (pattern, text) in [("*.test.*", "a.test.js"), ("a*", "a"), ("*", ""), ("a*b*c", "a1b2bc"), ("ab", "ab")] {
            assert!(fits(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [("*.test.js", "test.js"), ("a*b", "a"), ("ab", "abc"), ("aba*aba", "aba")] {
            assert!(!fits(pattern, text), "{pattern} {text}");
        }
    }
}
