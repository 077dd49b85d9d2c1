//! What is known of the code around a project's documents: whether there is any, and which repository it is in.

use std::path::Path;

use crate::commands::{CommandError, Context};
use crate::disk::{self, AbsolutePath, DiskError};
use crate::operations::bundle::{CodeFacts, SearchFacts};
use crate::project::root;

/// Endings of files that people write programs in.
const SOURCE_ENDINGS: &[&str] = &[
    "c", "cc", "cjs", "clj", "cljs", "cpp", "cr", "cs", "cxx", "dart", "elm", "erl", "ex", "exs", "fs", "go", "groovy",
    "h", "hpp", "hs", "java", "jl", "js", "jsx", "kt", "kts", "lua", "m", "mjs", "ml", "mm", "nim", "php", "pl", "py",
    "r", "rb", "rs", "scala", "sol", "svelte", "swift", "ts", "tsx", "vb", "vue", "zig",
];

/// Files by which package managers and build tools know a project.
const PACKAGE_FILES: &[&str] = &[
    "CMakeLists.txt",
    "Cargo.toml",
    "Gemfile",
    "Makefile",
    "Package.swift",
    "Pipfile",
    "Project.toml",
    "build.gradle",
    "build.gradle.kts",
    "build.sbt",
    "build.zig",
    "composer.json",
    "deno.json",
    "deps.edn",
    "dune-project",
    "go.mod",
    "meson.build",
    "mix.exs",
    "package.json",
    "pom.xml",
    "project.clj",
    "pubspec.yaml",
    "pyproject.toml",
    "rebar.config",
    "requirements.txt",
    "setup.py",
    "stack.yaml",
];

/// Folders whose files nobody wrote here, or that are not the product.
const OTHER_FOLDERS: &[&str] = &[
    "node_modules",
    "dist",
    "build",
    "vendor",
    "target",
    "venv",
    "coverage",
    "__pycache__",
    ".git",
    ".planning",
    ".next",
    ".venv",
    ".claude",
    ".codex",
    ".cache",
    ".tox",
    ".idea",
];

/// How many folders deep source files are looked for.
const DEEPEST: usize = 3;

impl Context {
    /// The code around the project's documents.
    pub(super) fn code_facts(&self) -> Result<CodeFacts, CommandError> {
        let root = self.root();
        let entries = disk::list(root)?.unwrap_or_default();
        let repository = root::repository_of(root);
        let sub_repositories = entries
            .iter()
            .filter(|entry| entry.is_folder() && entry.name != ".git")
            .filter(|entry| root::is_repository(&root.resolve(&entry.name)))
            .map(|entry| entry.name.clone());
        let mut sub_repositories: Vec<String> = sub_repositories.collect();
        sub_repositories.sort();
        Ok(CodeFacts {
            has_source_files: has_source_files(root, DEEPEST)?,
            has_package_file: entries.iter().any(|entry| PACKAGE_FILES.contains(&entry.name.as_str())),
            in_nested_folder: repository.as_ref().is_some_and(|repository| repository != root),
            repository: repository.map(|folder| folder.as_path().to_string_lossy().replace('\\', "/")),
            sub_repositories,
            search: SearchFacts {
                brave: self.has_key("BRAVE_API_KEY", "brave_api_key"),
                firecrawl: self.has_key("FIRECRAWL_API_KEY", "firecrawl_api_key"),
                exa: self.has_key("EXA_API_KEY", "exa_api_key"),
            },
        })
    }

    fn has_key(&self, variable: &str, file: &str) -> bool {
        self.world().variable(variable).is_some() || self.has_personal_file(file)
    }
}

fn has_source_files(folder: &AbsolutePath, deeper: usize) -> Result<bool, DiskError> {
    let entries = disk::list(folder)?.unwrap_or_default();
    let is_source = |name: &str| {
        let ending = Path::new(name).extension().and_then(|ending| ending.to_str());
        ending.is_some_and(|ending| SOURCE_ENDINGS.contains(&ending.to_ascii_lowercase().as_str()))
    };
    if entries.iter().any(|entry| entry.is_file() && is_source(&entry.name)) {
        return Ok(true);
    }
    if deeper == 0 {
        return Ok(false);
    }
    for entry in entries.iter().filter(|entry| entry.is_folder() && !OTHER_FOLDERS.contains(&entry.name.as_str())) {
        // A folder that cannot be read holds nothing we could say anything about.
        if has_source_files(&folder.resolve(&entry.name), deeper - 1).unwrap_or(false) {
            return Ok(true);
        }
    }
    Ok(false)
}
