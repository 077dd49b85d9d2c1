//! Facts about the code around a project's documents: whether there is any, and which repository it is in.

use crate::acts::user;
use std::path::Path;

use crate::acts::Call;
use crate::disk::{self, AbsolutePath, DiskError};
use crate::failure::Failure;
use crate::operations::facts::{CodeFacts, SearchFacts};
use crate::project::repository;

/// Endings of source files.
const SOURCE_ENDINGS: &[&str] = &[
    "c", "cc", "cjs", "clj", "cljs", "cpp", "cr", "cs", "cxx", "dart", "elm", "erl", "ex", "exs", "fs", "go", "groovy",
    "h", "hpp", "hs", "java", "jl", "js", "jsx", "kt", "kts", "lua", "m", "mjs", "ml", "mm", "nim", "php", "pl", "py",
    "r", "rb", "rs", "scala", "sol", "svelte", "swift", "ts", "tsx", "vb", "vue", "zig",
];

/// Files that mark a project for package managers and build tools.
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

/// Folders with files that were not written here. Hidden folders are skipped too: their files are not the product.
const OTHER_FOLDERS: &[&str] =
    &["node_modules", "dist", "build", "vendor", "target", "venv", "coverage", "__pycache__"];

/// Words in the name of a document to import.
const DOCUMENT_WORDS: &[&str] = &["adr", "prd", "rfc", "spec"];

/// Folders of such documents, at the root and in [`GENERAL_FOLDER`].
const DOCUMENT_FOLDERS: &[&str] = &["adr", "adrs", "prd", "prds", "rfc", "rfcs", "spec", "specs"];

/// The folder for documents of all kinds.
const GENERAL_FOLDER: &str = "docs";

/// The depth of folders that are searched.
const DEEPEST: usize = 3;

/// The code around the project's documents.
pub(crate) fn code_facts(call: &Call) -> Result<CodeFacts, Failure> {
    let root = call.root();
    let entries = disk::list(root)?.unwrap_or_default();
    let repository = repository::repository_of(root);
    let sub_repositories = entries
        .iter()
        .filter(|entry| entry.is_folder() && entry.name != ".git")
        .filter(|entry| repository::is_repository(&root.resolve(&entry.name)))
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
            brave: has_key(call, "BRAVE_API_KEY", "brave_api_key"),
            firecrawl: has_key(call, "FIRECRAWL_API_KEY", "firecrawl_api_key"),
            exa: has_key(call, "EXA_API_KEY", "exa_api_key"),
        },
        user_defaults: user::defaults(call.world())?,
    })
}

/// Documents that a project could start from: decision records, requirements, specifications, by their names.
pub(crate) fn documents_to_take_in(call: &Call) -> Result<Vec<String>, Failure> {
    let mut found = Vec::new();
    collect_documents(call.root(), "", 0, &mut found)?;
    for folder in DOCUMENT_FOLDERS.iter().chain([&GENERAL_FOLDER]) {
        // As with source files: unreadable folders are not counted.
        let _ = collect_documents(&call.root().resolve(folder), folder, DEEPEST, &mut found);
    }
    found.sort();
    Ok(found)
}

fn has_key(call: &Call, variable: &str, file: &str) -> bool {
    call.world().variable(variable).is_some() || user::has_file(call.world(), file)
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
    let is_other = |name: &str| name.starts_with('.') || OTHER_FOLDERS.contains(&name);
    for entry in entries.iter().filter(|entry| entry.is_folder() && !is_other(&entry.name)) {
        // An unreadable folder counts as empty.
        if has_source_files(&folder.resolve(&entry.name), deeper - 1).unwrap_or(false) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Markdown files of a folder, `deeper` levels down, that are documents by their name or that of a folder around them.
fn collect_documents(
    folder: &AbsolutePath,
    inside: &str,
    deeper: usize,
    found: &mut Vec<String>,
) -> Result<(), DiskError> {
    for entry in disk::list(folder)?.unwrap_or_default() {
        let path = if inside.is_empty() { entry.name.clone() } else { format!("{inside}/{}", entry.name) };
        if entry.is_folder() && deeper > 0 {
            // As with source files: unreadable folders are not counted.
            let _ = collect_documents(&folder.resolve(&entry.name), &path, deeper - 1, found);
        } else if entry.is_file() && is_document(&path) {
            found.push(path);
        }
    }
    Ok(())
}

/// True if a path is a document to import: any Markdown file in a folder of such documents, and elsewhere one named
/// after them, such as `0001-adr-storage.md` or `requirements.md`, or at the root a numbered record.
fn is_document(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let name = name.to_ascii_lowercase();
    let Some(stem) = name.strip_suffix(".md") else { return false };
    let mut words = stem.split(['-', '_', ' ']).filter_map(|piece| piece.split('.').next());
    folders.split('/').any(|folder| DOCUMENT_FOLDERS.contains(&folder))
        || stem == "requirements"
        || (folders.is_empty() && is_numbered_record(stem))
        || words.any(|word| DOCUMENT_WORDS.contains(&word))
}

/// True if a name is a decision record's: four digits and a subject, such as `0007-use-sqlite`. A date does not count.
fn is_numbered_record(stem: &str) -> bool {
    stem.split_once('-').is_some_and(|(number, about)| {
        number.len() == 4
            && number.bytes().all(|byte| byte.is_ascii_digit())
            && about.starts_with(|first: char| first.is_ascii_alphabetic())
    })
}
