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

/// Words in the name of a file or of its folder that say it is a document to take in.
const DOCUMENT_WORDS: &[&str] = &["adr", "adrs", "prd", "prds", "requirements", "rfc", "rfcs", "spec", "specs"];

/// How many folders deep is looked.
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

    /// Documents that a project could start from: decision records, requirements, specifications, by their names.
    pub(super) fn documents_to_take_in(&self) -> Result<Vec<String>, CommandError> {
        let mut found = Vec::new();
        collect_documents(self.root(), "", DEEPEST, &mut found)?;
        found.sort();
        Ok(found)
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

fn collect_documents(
    folder: &AbsolutePath,
    inside: &str,
    deeper: usize,
    found: &mut Vec<String>,
) -> Result<(), DiskError> {
    let entries = disk::list(folder)?.unwrap_or_default();
    let is_word = |name: &str| {
        let mut words = name.split(|letter: char| !letter.is_ascii_alphanumeric());
        words.any(|word| DOCUMENT_WORDS.contains(&word.to_ascii_lowercase().as_str()))
    };
    for entry in &entries {
        let path = if inside.is_empty() { entry.name.clone() } else { format!("{inside}/{}", entry.name) };
        if entry.is_folder() && deeper > 0 && !OTHER_FOLDERS.contains(&entry.name.as_str()) {
            // As with source files: what cannot be read is not counted.
            let _ = collect_documents(&folder.resolve(&entry.name), &path, deeper - 1, found);
        } else if let Some(stem) = path.strip_suffix(".md").filter(|_| entry.is_file()) {
            let parts: Vec<&str> = stem.rsplit('/').take(2).collect();
            if parts.iter().any(|part| is_word(part)) {
                found.push(path);
            }
        }
    }
    Ok(())
}
