//! Separate caches of build tools for runs. Every build of the user reuses what a tool unpacked or built, and nothing
//! checks it, so units and checks must not write to the user's caches: they read them, and keep new content in a cache
//! of the project, from run to run. Nothing is shared, even if a tool finds content by its digest: the index that says
//! which content to use is not checked.

use std::path::PathBuf;

use crate::disk::{self, AbsolutePath, DiskError, Overlay};
use crate::world::World;

/// The cache of a tool.
struct Cache {
    /// The environment variable that sets the location.
    variable: &'static str,
    /// The usual location below the home folder. If empty, no cache of the user is used.
    usual: &'static str,
    /// As in [`Overlay`].
    opened: &'static [&'static str],
    left_out: &'static [&'static str],
    /// Files that the tool appends to; they are copied.
    changed: &'static [&'static str],
    /// True if the cache is only made for users who have one.
    is_for_owners: bool,
}

impl Cache {
    const fn new(variable: &'static str, usual: &'static str) -> Self {
        Self { variable, usual, opened: &[], left_out: &[], changed: &[], is_for_owners: false }
    }

    const fn own(variable: &'static str) -> Self {
        Self::new(variable, "")
    }
}

/// Measured in a fence with a filled cache, with and without a network (2026-11-27): cargo 1.95, npm 11, pip 23. The
/// others follow the documentation of each tool.
const CACHES: &[Cache] = &[
    Cache {
        opened: &[
            "registry",
            "registry/*",
            "registry/*/*",
            "registry/index/*/.cache",
            "registry/index/*/.cache/*",
            "registry/index/*/.cache/*/*",
            "git",
            "git/*",
        ],
        left_out: &[".package-cache*", ".global-cache*"],
        ..Cache::new("CARGO_HOME", ".cargo")
    },
    Cache { is_for_owners: true, ..Cache::own("CARGO_TARGET_DIR") },
    // Content in `_cacache` is found by its digest; the index is appended to.
    Cache {
        opened: &["_npx", "_cacache/**"],
        left_out: &["_logs", "_cacache/tmp"],
        changed: &["_cacache/index-*/**"],
        ..Cache::new("npm_config_cache", ".npm")
    },
    // Its files are linked into projects.
    Cache { left_out: &["**"], is_for_owners: true, ..Cache::new("npm_config_store_dir", ".local/share/pnpm/store") },
    Cache::own("YARN_GLOBAL_FOLDER"),
    Cache::own("BUN_INSTALL_CACHE_DIR"),
    // Wheels that were built here are left out. If pip cannot store a download, it silently continues without.
    Cache { left_out: &["wheels"], ..Cache::new("PIP_CACHE_DIR", ".cache/pip") },
    Cache {
        opened: &["archive-*", "wheels-*", "wheels-*/*", "wheels-*/*/*", "simple-*", "simple-*/*", "sdists-*/**"],
        left_out: &["builds-*", "environments-*", "interpreter-*", ".lock"],
        ..Cache::new("UV_CACHE_DIR", ".cache/uv")
    },
    // Module folders are not opened, since their names have the version after an `@`.
    Cache { opened: &["**"], left_out: &["*.lock"], ..Cache::new("GOMODCACHE", "go/pkg/mod") },
    Cache::own("GOCACHE"),
    Cache {
        opened: &["wrapper", "wrapper/dists", "wrapper/dists/*", "wrapper/dists/*/*"],
        left_out: &["caches", "daemon", "native", "notifications", "workers", ".tmp", "wrapper/dists/*/*/*.lck"],
        ..Cache::new("GRADLE_USER_HOME", ".gradle")
    },
    Cache::own("NUGET_PACKAGES"),
    Cache {
        opened: &["*"],
        left_out: &["pip", "uv", "go-build", "pre-commit", "yarn", "pypoetry"],
        ..Cache::new("XDG_CACHE_HOME", ".cache")
    },
];

/// The variable for a cache of downloads that Gradle reads and never changes, and its usual location.
const GRADLE: (&str, &str) = ("GRADLE_RO_DEP_CACHE", ".gradle/caches");

/// The local repository of Maven. Its location is set by a property; since 3.9 Maven can read a second one.
const MAVEN: (&str, &str) = ("MAVEN_OPTS", ".m2/repository");

/// The caches of a project.
#[derive(Clone, Debug, Default)]
pub(crate) struct Caches {
    /// The folders that may be written to.
    pub(crate) writable: Vec<PathBuf>,
    /// The variables that pass the locations to the tools.
    pub(crate) variables: Vec<(String, String)>,
}

impl Caches {
    /// Prepares the caches in the folder `at`, with the content of the user's caches.
    pub(crate) fn of(world: &World, at: &AbsolutePath) -> Result<Self, DiskError> {
        disk::make_folder(at)?;
        let home = world.home().map(AbsolutePath::parse).transpose()?;
        let mut caches = Self { writable: vec![at.as_path().to_path_buf()], variables: Vec::new() };
        for cache in CACHES {
            let place = at.resolve(cache.variable.to_ascii_lowercase());
            let moved = of_any_case(world, cache.variable);
            let usual = home.as_ref().filter(|_| !cache.usual.is_empty()).map(|home| home.resolve(cache.usual));
            let is_there = |folder: &AbsolutePath| disk::is_folder(folder);
            if cache.is_for_owners && moved.is_none() && !usual.as_ref().is_some_and(is_there) {
                continue;
            }
            // A session may have left a link here.
            disk::clear_way(&place, at)?;
            disk::make_folder(&place)?;
            let users = moved.or(usual).filter(|_| !cache.usual.is_empty());
            if let Some(users) = users.filter(is_there) {
                Self::show(cache, &users, &place)?;
            }
            caches.variables.push((cache.variable.to_owned(), place.to_string()));
        }
        caches.of_java(world, home.as_ref(), at)?;
        Ok(caches)
    }

    fn show(cache: &Cache, users: &AbsolutePath, place: &AbsolutePath) -> Result<(), DiskError> {
        let list = |names: &[&str]| -> Vec<String> { names.iter().map(ToString::to_string).collect() };
        let (opened, left_out, changed) = (list(cache.opened), list(cache.left_out), list(cache.changed));
        let copied = if changed.is_empty() { 0 } else { u64::MAX };
        Overlay { opened: &opened, left_out: &left_out, copied, changed: &changed }.show(users, place)
    }

    fn of_java(&mut self, world: &World, home: Option<&AbsolutePath>, at: &AbsolutePath) -> Result<(), DiskError> {
        let Some(home) = home else { return Ok(()) };
        let (gradle, maven) = (home.resolve(GRADLE.1), home.resolve(MAVEN.1));
        if disk::is_folder(&gradle) {
            self.variables.push((GRADLE.0.to_owned(), gradle.to_string()));
        }
        if disk::is_folder(&maven) {
            let own = at.resolve("maven");
            disk::clear_way(&own, at)?;
            disk::make_folder(&own)?;
            let before = world.variable(MAVEN.0).map(|before| format!("{before} ")).unwrap_or_default();
            let options = format!("{before}-Dmaven.repo.local={own} -Dmaven.repo.local.tail={maven}");
            self.variables.push((MAVEN.0.to_owned(), options));
        }
        Ok(())
    }
}

/// Returns a folder set by the user. npm also reads its variables in capitals.
fn of_any_case(world: &World, name: &str) -> Option<AbsolutePath> {
    let found = [name.to_owned(), name.to_ascii_uppercase()].into_iter().find_map(|name| world.path_variable(&name));
    found.and_then(|path| AbsolutePath::parse(path).ok())
}

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests prepare folders by hand")]
    use super::*;

    /// An npm index entry, and the content that it refers to.
    const NPM: [&str; 2] = [".npm/_cacache/index-v5/a/b/c", ".npm/_cacache/content-v2/sha512/a/b/c"];

    #[test]
    fn a_project_reads_the_users_caches_and_keeps_new_content_in_its_own() {
        let temporary = crate::testing::folder();
        let home = AbsolutePath::parse(temporary.path().canonicalize().unwrap()).unwrap();
        let archives = ["registry/src/i/a-1.0/lib.rs", "registry/cache/i/a-1.0.crate", "bin/tool"];
        for path in archives.iter().map(|path| format!(".cargo/{path}")).chain(NPM.map(str::to_owned)) {
            disk::write_fleeting(&home.resolve(path), b"x").unwrap();
        }
        for path in [
            "go/pkg/mod/h/m@v1.0/m.go",
            "go/pkg/mod/cache/download/h/m/@v/v1.0.zip",
            ".npm/_npx/1/t",
            ".m2/repository/j",
        ] {
            disk::write_fleeting(&home.resolve(path), b"x").unwrap();
        }
        let text = home.to_string();
        let world = World::with([("HOME", text.as_str()), ("MAVEN_OPTS", "-Xmx1g")], home.as_path());
        let at = home.resolve("run/caches");
        let caches = Caches::of(&world, &at).unwrap();
        let named = |name: &str| caches.variables.iter().find(|(it, _)| it == name).map(|(_, value)| value.clone());
        let cargo = AbsolutePath::parse(named("CARGO_HOME").unwrap()).unwrap();
        assert!(cargo.is_within(&at));
        for path in archives {
            assert!(disk::is_file(cargo.resolve(path)), "{path}");
        }
        assert!(disk::is_link(cargo.resolve("registry/src/i/a-1.0")) && disk::is_link(cargo.resolve("bin")));
        assert!(!disk::is_link(cargo.resolve("registry/src/i")));
        let go = AbsolutePath::parse(named("GOMODCACHE").unwrap()).unwrap();
        assert!(disk::is_link(go.resolve("h/m@v1.0")) && !disk::is_link(go.resolve("cache/download/h/m/@v")));
        assert_eq!(named("MAVEN_OPTS").unwrap().split(' ').next(), Some("-Xmx1g"));
        assert_eq!(named("CARGO_TARGET_DIR"), None);
        assert_eq!(caches.writable, [at.as_path().to_path_buf()], "nothing is the user's and writable");
        let npm = AbsolutePath::parse(named("npm_config_cache").unwrap()).unwrap();
        let is_linked = |path: &str| disk::is_link(npm.resolve(path.trim_start_matches(".npm/")));
        assert_eq!(NPM.map(is_linked), [false, true]);

        for (place, to) in
            [("gocache", "nowhere/deep"), ("maven", "go"), ("npm_config_cache", "go"), ("nuget_packages", "go")]
        {
            disk::remove_folder(&at.resolve(place)).unwrap();
            std::os::unix::fs::symlink(home.resolve(to).as_path(), at.resolve(place).as_path()).unwrap();
        }
        Caches::of(&world, &at).unwrap();
        for place in ["gocache", "maven", "npm_config_cache", "nuget_packages"] {
            assert!(disk::is_folder(at.resolve(place)) && !disk::is_link(at.resolve(place)), "{place}");
        }
        assert!(!disk::exists(home.resolve("nowhere")) && !disk::exists(home.resolve("go/_cacache")));

        disk::remove_folder(&home.resolve(".cargo/registry/src/i/a-1.0")).unwrap();
        disk::write_fleeting(&home.resolve(".cargo/registry/src/i/b-1.0/lib.rs"), b"x").unwrap();
        Caches::of(&world, &at).unwrap();
        assert!(!disk::is_link(cargo.resolve("registry/src/i/a-1.0")), "what is gone can be unpacked here");
        assert!(disk::is_file(cargo.resolve("registry/src/i/b-1.0/lib.rs")));
    }
}
