//! The files in which package managers record exactly which packages they install.

use super::check_files::fits;

/// Names from the documentation of each tool, as of 2026-11.
const NAMES: &[&str] = &[
    "package-lock.json",
    "npm-shrinkwrap.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "bun.lock",
    "bun.lockb",
    "deno.lock",
    "uv.lock",
    "poetry.lock",
    "pdm.lock",
    "pixi.lock",
    "Pipfile.lock",
    "pylock.toml",
    "pylock.*.toml",
    "requirements*.txt",
    "conda-lock.yml",
    "Cargo.lock",
    "go.sum",
    "go.work.sum",
    "Gemfile.lock",
    "gems.locked",
    "composer.lock",
    "mix.lock",
    "rebar.lock",
    "pubspec.lock",
    "Package.resolved",
    "Podfile.lock",
    "packages.lock.json",
    "paket.lock",
    "*gradle.lockfile",
    "stack.yaml.lock",
    "cabal.project.freeze",
    "conan.lock",
    "renv.lock",
    "flake.lock",
    "MODULE.bazel.lock",
];

/// Whether this file determines which packages are installed.
pub(crate) fn is_lock_file(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_in_requirements = || folders.rsplit('/').next() == Some("requirements") && fits("*.txt", name);
    NAMES.iter().any(|pattern| fits(pattern, name)) || is_in_requirements()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lock_files_are_known_by_their_names_in_any_folder() {
        for path in ["package-lock.json", "apps/web/pnpm-lock.yaml", "requirements-dev.txt", "requirements/base.txt"] {
            assert!(is_lock_file(path), "{path}");
        }
        for path in ["package.json", "docs/requirements.md", "Cargo.lock.orig", "notes.txt"] {
            assert!(!is_lock_file(path), "{path}");
        }
    }
}
