//! Installed packages that git ignores: which folders of a person's checkout are brought to the worktrees of a run, and
//! how. They are the person's own data, so that they need no approval.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::landing::error::LandingError;
use super::landing::repository::Repository;
use super::set_up::SetUp;
use crate::disk::{self, AbsolutePath, FolderSize};
use crate::project::check_files::fits;
use crate::text::shell::{Typed, typed};
use crate::text::untrusted;
use crate::text::words::words;
use crate::world::fence::is_shared;

/// The preference that turns it off.
pub(crate) const KEY: &str = "git.worktree_environments";

/// The most entries and bytes of a folder that is copied. A copy of 30,000 files took 2 to 12 seconds on ext4
/// on a busy machine (2026-11-29), and there is one in each of three worktrees.
const COPIED: FolderSize = FolderSize { files: 60_000, bytes: 300 << 20 };

/// A folder in which package managers install.
#[derive(Debug)]
pub(crate) struct EnvironmentKind {
    /// Its path from the folder of the project or package.
    pub(crate) name: &'static str,
    /// Tracked files next to it, any of which shows that it belongs to the project.
    markers: &'static [&'static str],
    /// The ending of tracked files below the same folder that show it too.
    sources: Option<&'static str>,
    /// A file that it must have.
    proof: Option<&'static str>,
    /// As in [`disk::Duplicate`].
    pub(crate) opened: &'static [&'static str],
    pub(crate) left_out: &'static [&'static str],
    pub(crate) rewritten: &'static [&'static str],
    /// The files with the versions that it should have.
    pub(crate) locks: &'static [&'static str],
}

const PYTHON: EnvironmentKind = EnvironmentKind {
    name: ".venv",
    markers: &["pyproject.toml", "requirements*.txt", "setup.py", "setup.cfg", "Pipfile", "uv.lock", "poetry.lock"],
    sources: Some(".py"),
    // What else has one of the names is not a virtual environment.
    proof: Some("pyvenv.cfg"),
    opened: &["bin", "Scripts", "Lib", "Lib/site-packages", "lib", "lib/*", "lib/*/site-packages", "lib64", "lib64/*"],
    left_out: &[],
    // Scripts name their interpreter, and editable installs the folder that Python imports from: left as they are, the
    // checks would test the person's checkout.
    rewritten: &[
        "bin/*",
        "Scripts/*",
        "lib/*/site-packages/*.pth",
        "lib/*/site-packages/*.egg-link",
        "lib/*/site-packages/_*.py",
        "Lib/site-packages/*.pth",
        "Lib/site-packages/*.egg-link",
        "Lib/site-packages/_*.py",
    ],
    locks: &["uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock", "pylock*.toml", "requirements*.txt"],
};

/// `node_modules` and virtual environments were tried (2026-11-29); the others follow the documentation of each tool.
const KINDS: &[EnvironmentKind] = &[
    // npm, pnpm, yarn, bun. Packages of a workspace are links in it, which stay links: they lead to the package of
    // the same worktree. What tools keep in the left out folders they make again.
    EnvironmentKind {
        name: "node_modules",
        markers: &["package.json"],
        sources: None,
        proof: None,
        opened: &["@*", ".bin"],
        left_out: &[".cache", ".vite", ".vite-temp"],
        rewritten: &[],
        locks: &["package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb"],
    },
    // The usual names of virtual environments.
    PYTHON,
    EnvironmentKind { name: "venv", ..PYTHON },
    EnvironmentKind { name: "env", ..PYTHON },
    // Bundler, if its gems are below the project; `.bundle` has the setting that says so.
    EnvironmentKind {
        name: "vendor/bundle",
        markers: &["Gemfile", "gems.rb"],
        sources: None,
        proof: None,
        opened: &["*", "*/*", "*/*/gems", "*/*/specifications", "*/*/bin"],
        left_out: &[],
        rewritten: &["*/*/bin/*"],
        locks: &["Gemfile.lock", "gems.locked"],
    },
    EnvironmentKind {
        name: ".bundle",
        markers: &["Gemfile", "gems.rb"],
        sources: None,
        proof: None,
        opened: &[],
        left_out: &[],
        rewritten: &["config"],
        locks: &[],
    },
    // Composer: its files find the project by their own place, with links followed.
    EnvironmentKind {
        name: "vendor",
        markers: &["composer.json"],
        sources: None,
        proof: Some("autoload.php"),
        opened: &["composer", "bin"],
        left_out: &[],
        rewritten: &[],
        locks: &["composer.lock"],
    },
    // Mix: the sources of dependencies; what is built of them is made again.
    EnvironmentKind {
        name: "deps",
        markers: &["mix.exs"],
        sources: None,
        proof: None,
        opened: &[],
        left_out: &[],
        rewritten: &[],
        locks: &["mix.lock"],
    },
    EnvironmentKind {
        name: "elm-stuff",
        markers: &["elm.json"],
        sources: None,
        proof: None,
        opened: &[],
        left_out: &[],
        rewritten: &[],
        locks: &[],
    },
    EnvironmentKind {
        name: "bower_components",
        markers: &["bower.json"],
        sources: None,
        proof: None,
        opened: &[],
        left_out: &[],
        rewritten: &[],
        locks: &[],
    },
];

words! {
    /// How a folder is brought.
    #[derive(Serialize, JsonSchema)]
    pub(crate) enum Bringing {
        /// All of it is copied.
        Copied = "copied",
        /// It is a new folder whose entries are links, which the fence keeps from being written through.
        Linked = "linked",
    }
}

/// A folder that a run brings to its worktrees.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct BroughtEnvironment {
    /// From the root of the repository.
    pub(crate) path: String,
    pub(crate) how: Bringing,
}

/// A folder that is not brought.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct OmittedEnvironment {
    /// From the root of the repository.
    pub(crate) path: String,
    pub(crate) why: String,
}

/// The environments of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Environments {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) brought: Vec<BroughtEnvironment>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) omitted: Vec<OmittedEnvironment>,
}

/// The most characters of a path or a reason that are shown.
const SHOWN: usize = 200;

impl Environments {
    pub(crate) fn is_empty(&self) -> bool {
        self.brought.is_empty() && self.omitted.is_empty()
    }

    /// Returns one line about what is brought, and one about each folder that is not.
    pub(crate) fn lines(&self) -> impl Iterator<Item = String> {
        let shown = |path: &str| untrusted::line(path, SHOWN);
        let one = |one: &BroughtEnvironment| format!("{} ({})", shown(&one.path), one.how.word());
        let all: Vec<String> = self.brought.iter().map(one).collect();
        let brought =
            (!all.is_empty()).then(|| format!("Brought to the worktrees from your checkout: {}", all.join(", ")));
        let omitted = self.omitted.iter().map(move |one| {
            format!("Not brought to the worktrees: {}: {}", shown(&one.path), untrusted::line(&one.why, SHOWN))
        });
        brought.into_iter().chain(omitted)
    }

    /// Finds the environments in the checkout of a person that belong to a project with these tracked files.
    pub(crate) fn of(
        repository: &Repository,
        tracked: &[String],
        set_up: &SetUp,
        is_fenced: bool,
    ) -> Result<Self, LandingError> {
        let root = repository.root();
        let mut found = Self::default();
        let mut suspects = Vec::new();
        for path in candidates(tracked) {
            let place = root.resolve(&path);
            let kind = kind_of(&path);
            let is_proved = kind.is_none_or(|kind| kind.proof.is_none_or(|file| disk::is_file(place.resolve(file))));
            if !is_proved || !disk::is_folder(&place) || set_up.names(&path) {
                continue;
            }
            if disk::is_link(&place) {
                found.omitted.push(OmittedEnvironment { path, why: "it is a link".to_owned() });
                continue;
            }
            let first = disk::list(&place)?.unwrap_or_default().into_iter().next();
            suspects.extend(first.map(|first| (format!("{path}/{}", first.name), path)));
        }
        let probes: Vec<String> = suspects.iter().map(|(probe, _)| probe.clone()).collect();
        let ignored: BTreeSet<String> = repository.ignoring_here(&probes)?.into_iter().map(|one| one.path).collect();
        for (_, path) in suspects.into_iter().filter(|(probe, _)| ignored.contains(probe)) {
            match bringing(root, &path, is_fenced)? {
                Ok(how) => found.brought.push(BroughtEnvironment { path, how }),
                Err(why) => found.omitted.push(OmittedEnvironment { path, why }),
            }
        }
        // An environment may lead into that of a folder above it.
        found.brought.sort_by_key(|one| (one.path.matches('/').count(), one.path.clone()));
        Ok(found)
    }
}

/// The kind of the environment at this path.
pub(crate) fn kind_of(path: &str) -> Option<&'static EnvironmentKind> {
    let is_it = |name: &str| path == name || path.strip_suffix(name).is_some_and(|rest| rest.ends_with('/'));
    KINDS.iter().find(|kind| is_it(kind.name))
}

/// The environment that a file is in, if its path leads into one: the path and the kind.
pub(crate) fn of_file(path: &str) -> Option<(String, &'static EnvironmentKind)> {
    let ends = path.match_indices('/').map(|(at, _)| at);
    ends.filter_map(|at| path.get(..at)).find_map(|folder| Some((folder.to_owned(), kind_of(folder)?)))
}

/// The paths at which a project with these tracked files may have an environment: those without a tracked file.
fn candidates(tracked: &[String]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for path in tracked {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let is_marked = |kind: &&EnvironmentKind| kind.markers.iter().any(|marker| fits(marker, name));
        found.extend(KINDS.iter().filter(is_marked).map(|kind| joined(folder, kind.name)));
        let has_sources = |kind: &&EnvironmentKind| kind.sources.is_some_and(|ending| name.ends_with(ending));
        for kind in KINDS.iter().filter(has_sources) {
            let above = folder.match_indices('/').filter_map(|(at, _)| folder.get(..at));
            found.extend(above.chain(["", folder]).map(|folder| joined(folder, kind.name)));
        }
    }
    let mut held = BTreeSet::new();
    for path in tracked {
        held.extend(path.match_indices('/').filter_map(|(at, _)| path.get(..at)));
    }
    found.retain(|path| !held.contains(path.as_str()));
    found
}

fn joined(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// Returns how a folder is brought, or why it is not.
fn bringing(root: &AbsolutePath, path: &str, is_fenced: bool) -> Result<Result<Bringing, String>, LandingError> {
    let place = root.resolve(path);
    let left_out = kind_of(path).map(|kind| kind.left_out).unwrap_or_default();
    let sample = disk::list(&place)?.unwrap_or_default().into_iter().find(|entry| entry.kind == disk::EntryKind::File);
    let sample = sample.and_then(|entry| AbsolutePath::parse(&entry.path).ok());
    let most = match sample {
        Some(sample) if disk::shares_bytes(&sample, root) => FolderSize { bytes: u64::MAX, ..COPIED },
        _ => COPIED,
    };
    let size = disk::folder_size(&place, left_out, most)?;
    if size.files <= most.files && size.bytes <= most.bytes {
        return Ok(Ok(Bringing::Copied));
    }
    // Links that can be written through would not keep the person's own files as they are.
    if is_fenced && cfg!(unix) && !is_shared(root.as_path()) {
        return Ok(Ok(Bringing::Linked));
    }
    Ok(Err(format!(
        "it has more than {} entries or {} MB, so that its entries would be linked, and nothing keeps programs from writing through links here",
        COPIED.files,
        COPIED.bytes >> 20
    )))
}

/// Returns the command that installs what an environment should have, for a project with these tracked files. It is
/// typed at the root of the project.
pub(crate) fn install(kind: &EnvironmentKind, folder: &str, tracked: impl Fn(&str) -> bool) -> Typed {
    let has = |name: &str| tracked(&joined(folder, name));
    let call = match kind.name {
        "node_modules" if has("pnpm-lock.yaml") => Typed::from("pnpm install --frozen-lockfile"),
        "node_modules" if has("yarn.lock") => Typed::from("yarn install"),
        "node_modules" if has("bun.lock") || has("bun.lockb") => Typed::from("bun install"),
        "node_modules" if has("package-lock.json") => Typed::from("npm ci"),
        "node_modules" => Typed::from("npm install"),
        "vendor/bundle" | ".bundle" => Typed::from("bundle install"),
        "vendor" => Typed::from("composer install"),
        "deps" => Typed::from("mix deps.get"),
        "bower_components" => Typed::from("bower install"),
        "elm-stuff" => Typed::from("elm make"),
        _ if has("uv.lock") => Typed::from("uv sync"),
        _ if has("requirements.txt") => {
            typed!("python3 -m venv {} && {}/bin/pip install -r requirements.txt", kind.name, kind.name)
        }
        _ if has("pyproject.toml") || has("setup.py") => {
            typed!("python3 -m venv {} && {}/bin/pip install -e .", kind.name, kind.name)
        }
        _ => typed!("python3 -m venv {}", kind.name),
    };
    if folder.is_empty() { call } else { typed!("(cd {} && {})", folder, call) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_environment_is_next_to_a_tracked_file_of_its_kind_and_has_no_tracked_file() {
        let of = |paths: &[&str]| -> Vec<String> {
            let tracked: Vec<String> = paths.iter().map(ToString::to_string).collect();
            candidates(&tracked).into_iter().collect()
        };
        assert_eq!(of(&["package.json", "packages/a/package.json"]), ["node_modules", "packages/a/node_modules"]);
        assert_eq!(of(&["package.json", "node_modules/a/index.js"]), Vec::<String>::new());
        assert_eq!(of(&["Gemfile"]), [".bundle", "vendor/bundle"]);
        let found = of(&["src/deep/a.py"]);
        for path in [".venv", "venv", "src/.venv", "src/deep/env"] {
            assert!(found.contains(&path.to_owned()), "{path}: {found:?}");
        }
        assert!(of(&["README.md", "docs/requirements.md"]).is_empty());
        assert_eq!(kind_of("a/vendor/bundle").map(|kind| kind.name), Some("vendor/bundle"));
        assert_eq!(kind_of("a/my_node_modules").map(|kind| kind.name), None);
    }

    #[test]
    fn what_installs_an_environment_depends_on_the_files_of_the_project() {
        let of = |path: &str, folder: &str, files: &[&str]| {
            install(kind_of(path).unwrap(), folder, |path| files.contains(&path)).to_string()
        };
        assert_eq!(of("node_modules", "", &["package-lock.json"]), "npm ci");
        assert_eq!(of("node_modules", "web", &["web/pnpm-lock.yaml"]), "(cd web && pnpm install --frozen-lockfile)");
        let pip = "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt";
        assert_eq!(of(".venv", "", &["requirements.txt"]), pip);
    }

    #[test]
    fn what_is_brought_is_one_line() {
        let one = |path: &str, how| BroughtEnvironment { path: path.to_owned(), how };
        let omitted = OmittedEnvironment { path: "venv".to_owned(), why: "it is a link".to_owned() };
        let all = Environments {
            brought: vec![one("node_modules", Bringing::Linked), one(".venv", Bringing::Copied)],
            omitted: vec![omitted],
        };
        let lines: Vec<String> = all.lines().collect();
        assert_eq!(lines[0], "Brought to the worktrees from your checkout: node_modules (linked), .venv (copied)");
        assert_eq!(lines[1], "Not brought to the worktrees: venv: it is a link");
        let written = serde_json::to_string(&all).unwrap();
        assert_eq!(serde_json::from_str::<Environments>(&written).unwrap(), all);
    }
}
