//! Files that run automatically, or that a client reads as instructions: when a folder is opened, a session starts, a
//! commit is made, packages are installed, or a server builds. They are found by their paths, and some by the settings
//! that change.

use super::check_files::{Format, RunningRow, When, fits, running_rows, shared_folders};

/// The files that one client reads in a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HostPlaces {
    /// The id of the client's host.
    pub(crate) id: String,
    /// Its folder in a project, such as `.x`.
    pub(crate) folder: Option<String>,
    /// The client's files and folders in that folder, if other programs use it too.
    pub(crate) parts: Vec<String>,
    /// The name of the file of instructions, in any folder.
    pub(crate) instructions: String,
}

/// Why a file runs automatically.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Running<'a> {
    pub(crate) when: When,
    /// In a file with keys, only changes to one of the keys count.
    pub(crate) format: Format,
    pub(crate) keys: &'a [String],
}

/// The files that run automatically, including those of all known clients.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SelfRunning {
    hosts: Vec<HostPlaces>,
}

impl SelfRunning {
    pub(crate) fn new(hosts: Vec<HostPlaces>) -> Self {
        Self { hosts }
    }

    /// Why a file runs automatically; empty if it does not. A link instead of a folder counts as its content.
    pub(crate) fn of(&self, path: &str) -> Vec<Running<'static>> {
        let path = path.to_lowercase();
        let rows = running_rows().iter().filter(|row| has(row, &path));
        let by_table = rows.filter_map(|row| Some(Running { when: row.when?, format: row.format, keys: &row.keys }));
        let mut found: Vec<Running<'static>> = by_table.collect();
        if found.is_empty() && self.hosts.iter().any(|host| host.reads(&path) || host.is_instructed_by(&path)) {
            found.push(Running { when: When::Session, format: Format::Whole, keys: &[] });
        }
        found
    }

    /// Whether the client of a host automatically runs or reads a file when its session starts. Instruction files,
    /// which only the model reads, are not included.
    pub(crate) fn is_run_by(&self, host: &str, path: &str) -> bool {
        let path = path.to_lowercase();
        let is_of_table = |row: &RunningRow| {
            row.when == Some(When::Session) && row.hosts.iter().any(|id| id == host) && has(row, &path)
        };
        self.hosts.iter().any(|places| places.id == host && places.reads(&path))
            || running_rows().iter().any(is_of_table)
    }
}

impl HostPlaces {
    fn reads(&self, path: &str) -> bool {
        let Some(folder) = &self.folder else { return false };
        let folder = folder.to_lowercase();
        if !shared_folders().contains(&folder) {
            return is_in(&folder, path);
        }
        self.parts.iter().any(|part| is_in(&format!("{folder}/{}", part.to_lowercase()), path))
    }

    fn is_instructed_by(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or_default();
        !self.instructions.is_empty() && name == self.instructions.to_lowercase()
    }
}

fn has(row: &RunningRow, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let is_named = |pattern: &String| {
        let pattern = pattern.to_lowercase();
        match pattern.strip_prefix('/') {
            Some(of_root) => path == of_root,
            None if pattern.contains('/') => path == pattern || path.ends_with(&format!("/{pattern}")),
            None => fits(&pattern, name),
        }
    };
    row.names.iter().any(is_named) || row.folders.iter().any(|folder| is_in(&folder.to_lowercase(), path))
}

/// Whether a path is a folder with this name, or below one, at any depth.
fn is_in(folder: &str, path: &str) -> bool {
    format!("/{path}/").contains(&format!("/{folder}/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> SelfRunning {
        let host = |id: &str, folder: &str, parts: &[&str], instructions: &str| HostPlaces {
            id: id.to_owned(),
            folder: Some(folder.to_owned()),
            parts: parts.iter().map(|part| (*part).to_owned()).collect(),
            instructions: instructions.to_owned(),
        };
        SelfRunning::new(vec![
            host("lamp", ".lamp", &[], "LAMP.md"),
            host("copilot", ".github", &["hooks", "copilot-instructions.md"], "AGENTS.md"),
        ])
    }

    #[test]
    fn files_that_run_automatically_are_known_by_their_path() {
        for (path, when) in [
            (".lamp/settings.json", When::Session),
            ("app/.LAMP/hooks/x", When::Session),
            (".lamp", When::Session),
            ("LAMP.md", When::Session),
            ("docs/agents.md", When::Session),
            (".github/hooks/gsd.json", When::Session),
            (".mcp.json", When::Session),
            (".husky/pre-commit", When::Commit),
            ("web/.husky/_/x", When::Commit),
            (".husky", When::Commit),
            ("lefthook.yml", When::Commit),
            (".gitmodules", When::Commit),
            (".envrc", When::Open),
            (".vscode/tasks.json", When::Open),
            (".VSCode/Tasks.json", When::Open),
            ("web/.vscode/tasks.json", When::Open),
            (".idea/runConfigurations/x.xml", When::Open),
            ("build.rs", When::Open),
            ("gradle/wrapper/gradle-wrapper.jar", When::Install),
            (".github/workflows/a.yml", When::Server),
            (".GitHub/Workflows/a.yml", When::Server),
            (".github/actions/x/index.js", When::Server),
            ("Jenkinsfile", When::Server),
        ] {
            let found = all().of(path);
            assert_eq!(found.first().map(|running| running.when), Some(when), "{path}");
        }
        for path in [
            "src/lamp.md.rs",
            "lamp/settings.json",
            ".github/CODEOWNERS",
            ".github/ISSUE_TEMPLATE/bug.md",
            ".vscode/extensions.json",
            "docs/envrc.md",
            "src/husky/index.js",
            "opencode/opencode.json",
            "src/setup.rs",
            ".gitignore",
            ".editorconfig",
            "README.md",
            "Makefile",
        ] {
            assert_eq!(all().of(path), [], "{path}");
        }
    }

    #[test]
    fn a_client_only_runs_its_own_files() {
        let runs = |host: &str, path: &str| all().is_run_by(host, path);
        assert!(runs("lamp", ".lamp/settings.json") && !runs("copilot", ".lamp/settings.json"));
        assert!(runs("copilot", ".github/hooks/x.json") && !runs("copilot", ".github/workflows/x.yml"));
        assert!(runs("copilot", ".mcp.json") && !runs("lamp", ".mcp.json"));
        assert!(!runs("lamp", "LAMP.md"), "it is read by the model alone");
    }

    #[test]
    fn every_row_says_when_it_runs() {
        for row in running_rows() {
            assert!(row.when.is_some() && !(row.names.is_empty() && row.folders.is_empty()), "{row:?}");
            assert_eq!(row.keys.is_empty(), row.format == Format::Whole, "{row:?}");
        }
        assert!(running_rows().len() > 10);
    }
}
