//! `docs-init`: the existing documentation, and the properties of the project that its readers look for.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::operations::answers::answer::answer;
use crate::operations::facts::{FactBasis, Given, facts};
use crate::project::files::FileError;
use crate::project::view::ProjectView;
use crate::text::front_matter::{FrontMatter, Value as Listed};

/// The line that marks a document as generated for the project, not written by a person.
const MARKER: &str = "generated-by: gsd-doc-writer";
/// How many characters at the start of a document are searched for the marker.
const HEAD: usize = 500;
/// How many levels of folders are searched for documents.
const DEEPEST: usize = 8;
/// Folders of documents. The first one that exists is used.
const DOCUMENT_FOLDERS: &[&str] = &["docs", "documentation", "doc"];
/// The files by which `vitepress` is set up.
const VITEPRESS: &[&str] = &[
    ".vitepress/config.js",
    ".vitepress/config.ts",
    ".vitepress/config.mts",
    "docs/.vitepress/config.js",
    "docs/.vitepress/config.ts",
    "docs/.vitepress/config.mts",
];
/// Extensions of documents.
const ENDINGS: &[&str] = &["md", "markdown", "rst", "adoc", "asciidoc"];
/// Documents that any project may have, by the name without the extension. They count as documents in plain text too.
const USUAL: &[&str] = &[
    "readme",
    "contributing",
    "changelog",
    "changes",
    "history",
    "news",
    "install",
    "security",
    "support",
    "architecture",
    "development",
    "testing",
    "configuration",
    "deployment",
    "getting-started",
    "roadmap",
    "governance",
    "authors",
    "maintainers",
    "upgrading",
    "migration",
];
/// Documents that say nothing about the code.
const LEGAL: &[&str] = &["license", "licence", "copying", "notice", "code_of_conduct", "code-of-conduct", "patents"];
const API_FOLDERS: &[&str] = &[
    "routes",
    "api",
    "src/routes",
    "src/api",
    "src/app/api",
    "app/api",
    "pages/api",
    "src/pages/api",
    "server/routes",
];
const LICENSES: &[&str] = &["LICENSE", "LICENSE.md", "LICENSE.txt", "COPYING"];
const DEPLOYMENTS: &[&str] = &[
    "Dockerfile",
    "docker-compose.yml",
    "docker-compose.yaml",
    "compose.yaml",
    "fly.toml",
    "vercel.json",
    "netlify.toml",
    "render.yaml",
    "railway.json",
    "serverless.yml",
    "Procfile",
    ".github/workflows/deploy.yml",
];
const TEST_FOLDERS: &[&str] = &["test", "tests", "__tests__", "spec"];
const TEST_PACKAGES: &[&str] = &["jest", "vitest", "mocha", "ava", "jasmine", "@playwright/test"];

/// The package.json of the project; null if it is missing.
struct Package(Value);

/// A document of the project.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
struct ExistingDocument {
    path: String,
    /// True if the document was generated for the project, not written by a person.
    has_gsd_marker: bool,
    /// Present and false if the document says nothing about the code: a licence, or a file at the root that no document
    /// names.
    #[serde(skip_serializing_if = "Option::is_none")]
    verify: Option<bool>,
}

/// Properties of the project that determine which documents it needs.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
struct ProjectType {
    has_package_json: bool,
    has_api_routes: bool,
    has_cli_bin: bool,
    is_open_source: bool,
    has_deploy_config: bool,
    is_monorepo: bool,
    has_tests: bool,
}

answer! {
    /// Tools in use here that build pages from documents.
    struct DocumentTools |view: ProjectView| {
        docusaurus: bool = any(view, &["docusaurus.config.js", "docusaurus.config.ts"]),
        vitepress: bool = any(view, VITEPRESS),
        mkdocs: bool = any(view, &["mkdocs.yml", "mkdocs.yaml"]),
        storybook: bool = any(view, &[".storybook"]),
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        sphinx: bool =
            any(view, &["conf.py", "docs/conf.py", "docs/source/conf.py", "doc/conf.py", "doc/source/conf.py"]),
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        antora: bool = any(view, &["antora.yml", "docs/antora.yml", "antora-playbook.yml"]),
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        mdbook: bool = any(view, &["book.toml", "docs/book.toml", "book/book.toml"]),
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        jekyll: bool = any(view, &["_config.yml", "docs/_config.yml"]),
    }
}

impl FactBasis for Package {
    fn of(given: &Given<'_>) -> Result<Self, FileError> {
        let text = given.view.text("package.json")?;
        Ok(Self(text.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()))
    }
}

facts! { |given, package: Package|
    /// The documents of the project.
    existing_docs: Vec<ExistingDocument> = documents(given.view)?;
    /// Properties of the project that determine which documents it needs.
    project_type: ProjectType = ProjectType::of(given.view, &package.0)?;
    /// Tools in use here that build pages from documents.
    doc_tooling: DocumentTools = DocumentTools::of(given.view);
    /// Patterns of the package folders.
    monorepo_workspaces: Vec<String> = workspaces(given.view, &package.0)?;
}

fn any(view: &ProjectView, names: &[&str]) -> bool {
    names.iter().any(|name| view.exists(name))
}

impl ProjectType {
    fn of(view: &ProjectView, package: &Value) -> Result<Self, FileError> {
        let lists = ["dependencies", "devDependencies"].map(|list| package.get(list));
        let uses = |name: &&str| lists.iter().flatten().any(|list| list.get(*name).is_some());
        Ok(Self {
            has_package_json: view.exists("package.json"),
            has_api_routes: any(view, API_FOLDERS),
            has_cli_bin: has_program(view, package)?,
            is_open_source: any(view, LICENSES),
            has_deploy_config: any(view, DEPLOYMENTS),
            is_monorepo: !workspaces(view, package)?.is_empty() || any(view, &["pnpm-workspace.yaml", "lerna.json"]),
            has_tests: any(view, TEST_FOLDERS) || TEST_PACKAGES.iter().any(uses),
        })
    }
}

/// The documents at the root and in the folder of documents. Names are matched regardless of case.
fn documents(view: &ProjectView) -> Result<Vec<ExistingDocument>, FileError> {
    let mut paths: Vec<String> = view.file_names("")?.into_iter().filter(|name| is_document(name)).collect();
    let at_root = paths.len();
    if let Some(folder) = DOCUMENT_FOLDERS.iter().find(|folder| view.folder_exists(folder)) {
        collect(view, folder, DEEPEST, &mut paths)?;
    }
    let roots: Vec<String> = paths[..at_root].to_vec();
    paths.sort_by_key(|path| path.to_lowercase());
    // A file that is not text was not written by us.
    let texts: Vec<_> = paths.iter().map(|path| view.text(path).ok().flatten().unwrap_or_default()).collect();
    let is_named =
        |path: &String| paths.iter().zip(&texts).any(|(other, text)| other != path && text.contains(path.as_str()));
    let document = |(path, text): (&String, &_)| {
        let text: &str = AsRef::as_ref(text);
        let head: String = text.chars().take(HEAD).collect();
        let (stem, has_gsd_marker) = (stem_of(path), head.contains(MARKER));
        let is_legal = LEGAL.iter().any(|name| stem == *name || stem.starts_with(&format!("{name}-")));
        let is_aside = roots.contains(path) && !USUAL.contains(&stem.as_str()) && !has_gsd_marker && !is_named(path);
        ExistingDocument { path: path.clone(), has_gsd_marker, verify: (is_legal || is_aside).then_some(false) }
    };
    Ok(paths.iter().zip(&texts).map(document).collect())
}

/// The name without folders and extension, in lower case.
fn stem_of(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    match name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem.to_owned(),
        _ => name,
    }
}

/// True if the project builds or installs a command-line program.
fn has_program(view: &ProjectView, package: &Value) -> Result<bool, FileError> {
    let of_package = match package.get("bin") {
        Some(Value::String(path)) => !path.is_empty(),
        Some(Value::Object(programs)) => !programs.is_empty(),
        _ => false,
    };
    let says = |path: &str, words: &[&str]| -> Result<bool, FileError> {
        let text = view.text(path)?.unwrap_or_default();
        Ok(text.lines().any(|line| words.iter().any(|word| line.trim_start().starts_with(word))))
    };
    Ok(of_package
        || says("pyproject.toml", &["[project.scripts]", "[tool.poetry.scripts]"])?
        || says("setup.cfg", &["console_scripts"])?
        || says("setup.py", &["\"console_scripts\"", "'console_scripts'", "entry_points=", "scripts="])?
        || says("Cargo.toml", &["[[bin]]"])?
        || view.exists("src/main.rs")
        || view.exists("main.go")
        || view.folder_exists("cmd"))
}

fn collect(view: &ProjectView, folder: &str, deeper: usize, paths: &mut Vec<String>) -> Result<(), FileError> {
    let inside = |name: String| format!("{folder}/{name}");
    paths.extend(view.file_names(folder)?.into_iter().filter(|name| is_document(name)).map(inside));
    if deeper > 0 {
        for name in view.folder_names(folder)?.into_iter().filter(|name| name != "node_modules") {
            collect(view, &inside(name), deeper - 1, paths)?;
        }
    }
    Ok(())
}

fn is_document(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    match name.rsplit_once('.') {
        Some((stem, "txt")) => USUAL.contains(&stem),
        Some((stem, ending)) => !stem.is_empty() && ENDINGS.contains(&ending),
        None => USUAL.contains(&name.as_str()),
    }
}

/// The packages that the project declares.
fn workspaces(view: &ProjectView, package: &Value) -> Result<Vec<String>, FileError> {
    let told = package.get("workspaces").map(|told| told.get("packages").unwrap_or(told));
    let told: Vec<String> =
        told.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
    if !told.is_empty() {
        return Ok(told);
    }
    let text = view.text("pnpm-workspace.yaml")?.map(|text| format!("---\n{}\n---\n", text.trim_end()));
    let packages = text.and_then(|text| FrontMatter::parse(&text)?.get("packages"));
    match packages {
        Some(packages @ Listed::List(_)) => Ok(packages.texts().into_iter().map(str::to_owned).collect()),
        _ => Ok(Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(files: &[(&str, &str)]) -> ProjectView {
        ProjectView::of(files.iter().copied())
    }

    #[test]
    fn documents_are_found_in_their_folders() {
        let marked = format!("# x\n<!-- {MARKER} -->\n");
        let late = format!("{}{MARKER}", "x".repeat(HEAD));
        let view = view(&[
            ("b.md", ""),
            ("README.md", &marked),
            ("docs/sub/C.MD", &late),
            ("docs/node_modules/x.md", ""),
            ("documentation/E.md", ""),
            ("docs/x.txt", ""),
        ]);
        let told: Vec<(String, bool)> =
            documents(&view).unwrap().into_iter().map(|document| (document.path, document.has_gsd_marker)).collect();
        let expected = [("b.md", false), ("docs/sub/C.MD", false), ("README.md", true)];
        assert_eq!(told, expected.map(|(path, marked)| (path.to_owned(), marked)));
    }

    #[test]
    fn documents_of_every_form_are_found_and_legal_texts_are_marked() {
        let view = view(&[
            ("README.rst", "See CONTRIBUTING.rst and guide.adoc.\n"),
            ("CONTRIBUTING.rst", ""),
            ("INSTALL.txt", ""),
            ("NEWS", ""),
            ("guide.adoc", ""),
            ("LICENSE.md", ""),
            ("CODE_OF_CONDUCT.md", ""),
            ("idea.md", "I want a program that reads README.rst\n"),
            ("requirements.txt", ""),
            ("docs/requirements.txt", ""),
            ("docs/usage.rst", ""),
        ]);
        let told: Vec<(String, Option<bool>)> =
            documents(&view).unwrap().into_iter().map(|document| (document.path, document.verify)).collect();
        let expected = [
            ("CODE_OF_CONDUCT.md", Some(false)),
            ("CONTRIBUTING.rst", None),
            ("docs/usage.rst", None),
            ("guide.adoc", None),
            ("idea.md", Some(false)),
            ("INSTALL.txt", None),
            ("LICENSE.md", Some(false)),
            ("NEWS", None),
            ("README.rst", None),
        ];
        assert_eq!(told, expected.map(|(path, verify)| (path.to_owned(), verify)));
    }

    #[test]
    fn a_program_is_found_in_the_files_of_every_kind_of_project() {
        let has = |path: &str, text: &str| has_program(&view(&[(path, text)]), &Value::Null).unwrap();
        for (path, text) in [
            ("pyproject.toml", "[project]\nname = 'a'\n\n[project.scripts]\nbeet = 'a:main'\n"),
            ("pyproject.toml", "[tool.poetry.scripts]\n"),
            ("setup.cfg", "[options.entry_points]\nconsole_scripts =\n  a = a:main\n"),
            ("Cargo.toml", "[[bin]]\nname = \"a\"\n"),
            ("src/main.rs", ""),
            ("cmd/a/main.go", ""),
        ] {
            assert!(has(path, text), "{path}: {text}");
        }
        assert!(!has("pyproject.toml", "[project]\nscripts-dir = 'a'\n") && !has("src/lib.rs", ""));
    }

    #[test]
    fn packages_are_read_from_either_file() {
        let of = |package: &str, files: &[(&str, &str)]| {
            workspaces(&view(files), &serde_json::from_str(package).unwrap_or_default()).unwrap().join(" ")
        };
        assert_eq!(of(r#"{"workspaces":["a","b/*"]}"#, &[]), "a b/*");
        assert_eq!(of(r#"{"workspaces":{"packages":["a"]}}"#, &[]), "a");
        let yaml = "packages:\n  - \"packages/*\"\n  - apps/*\n";
        assert_eq!(of("{}", &[("pnpm-workspace.yaml", yaml)]), "packages/* apps/*");
        assert_eq!(of("bad", &[("pnpm-workspace.yaml", "packages: [")]), "");
    }
}
