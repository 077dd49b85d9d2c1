//! The source code around the documents, for checks about it.

use crate::acts::Call;
use crate::acts::files;
use crate::disk;
use crate::failure::Failure;
use crate::operations::plans::commands::{FolderFacts, FoundFolder, SourceTree};
use crate::project::folder::PhaseFolder;

/// The files of the last commit and of the commits that name a plan of the phase.
pub(crate) fn changed_files(call: &Call, folder: Option<&PhaseFolder>) -> Vec<String> {
    let listed = |arguments: &[&str]| {
        let found = call.world().git(call.root().as_path(), arguments.iter().copied()).ok();
        let found = found.filter(crate::world::Finished::success).map(|found| found.text()).unwrap_or_default();
        found.split('\0').map(|path| path.trim_start_matches('\n').to_owned()).collect::<Vec<_>>()
    };
    let mut files = listed(&["diff", "--name-only", "-z", "HEAD~1", "HEAD", "--"]);
    if let Some(folder) = folder {
        let subject = format!("--grep=^[a-z]*({}-", folder.token());
        files.extend(listed(&["log", "--format=", "--name-only", "-z", "--basic-regexp", &subject]));
    }
    files.retain(|path| !path.is_empty());
    files
}

/// The files and folders on disk that the commands of plans need.
pub(crate) fn tree_of(call: &Call) -> SourceTree<impl Fn(&str) -> FolderFacts, impl Fn(&str) -> bool> {
    let root = call.root();
    let folder = |path: &str| {
        let absolute = root.resolve(path);
        let found = disk::is_folder(&absolute).then(|| FoundFolder {
            in_project: absolute.as_path().starts_with(root.as_path()),
            package: files::read(call, &absolute.resolve("package.json")).ok().flatten(),
        });
        FolderFacts { absolute: absolute.to_string(), found }
    };
    SourceTree { folder, is_file: |path: &str| disk::is_file(root.resolve(path)) }
}

/// Packages for building frontends.
const FRONTEND_PACKAGES: &[&str] = &["react", "vue", "svelte", "next", "nuxt", "@angular/core", "solid-js", "preact"];

/// True if the source has a frontend: a package or a file of the repository shows it.
pub(crate) fn has_frontend(call: &Call) -> Result<bool, Failure> {
    let package = files::text_from_root(call, "package.json")?.unwrap_or_default();
    if FRONTEND_PACKAGES.iter().any(|name| package.contains(&format!("\"{name}\":"))) {
        return Ok(true);
    }
    if !disk::exists(call.root().resolve(".git")) {
        return Ok(false);
    }
    let patterns = ["*.tsx", "*.jsx", "*.vue", "*.svelte"];
    let listed = ["ls-files", "--cached", "--others", "--exclude-standard", "--"].into_iter().chain(patterns);
    let found = call.world().git(call.root().as_path(), listed);
    Ok(found.is_ok_and(|found| found.success() && !found.text().is_empty()))
}
