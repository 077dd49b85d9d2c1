//! Secrets in the folders of the user: paths with keys, logins and passwords, from `secrets.toml`.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde::Deserialize;

use crate::world::World;

/// Folders of the home folder that the user can move as a whole.
const MOVED: &[(&str, &str)] = &[
    (".config", "XDG_CONFIG_HOME"),
    (".local/share", "XDG_DATA_HOME"),
    (".local/state", "XDG_STATE_HOME"),
    (".cache", "XDG_CACHE_HOME"),
];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SecretTable {
    secret: Vec<Secret>,
}

/// Secret paths of one kind.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Secret {
    paths: Vec<String>,
    /// The variable that moves the first folder of the paths.
    #[serde(default)]
    moved: Option<String>,
    /// The runners that read these secrets.
    #[serde(default)]
    clients: Vec<String>,
    #[cfg_attr(not(test), expect(dead_code, reason = "tests check that every place has a name, a day and a source"))]
    what: String,
    #[cfg_attr(not(test), expect(dead_code, reason = "tests check that every place has a name, a day and a source"))]
    source: String,
    #[cfg_attr(not(test), expect(dead_code, reason = "tests check that every place has a name, a day and a source"))]
    date: String,
}

fn table() -> &'static [Secret] {
    static TABLE: OnceLock<Vec<Secret>> = OnceLock::new();
    // A test checks that it parses; it is compiled in.
    let read = || toml_edit::de::from_str::<SecretTable>(include_str!("secrets.toml")).map(|table| table.secret);
    TABLE.get_or_init(|| read().unwrap_or_default())
}

/// Returns the existing secret paths, with links resolved, for a program that belongs to the runner `client`. They
/// include `XDG_RUNTIME_DIR`, which lasts as long as the user's session and contains sockets and logins of containers.
pub(super) fn places(world: &World, client: Option<&str>) -> Vec<PathBuf> {
    let Some(home) = world.home() else { return Vec::new() };
    let is_own = |secret: &&Secret| client.is_some_and(|client| secret.clients.iter().any(|name| name == client));
    let usual = |path: &String| {
        let moved = MOVED.iter().find_map(|(usual, variable)| {
            let rest = Path::new(path).strip_prefix(usual).ok()?;
            Some(world.path_variable(variable).filter(|base| base.is_absolute())?.join(rest))
        });
        moved.unwrap_or_else(|| home.join(path))
    };
    let moved = |secret: &Secret| {
        let base = secret.moved.as_deref().and_then(|name| world.path_variable(name)).filter(|base| base.is_absolute());
        let rest = |path: &String| Path::new(path).components().skip(1).collect::<PathBuf>();
        let paths = base.iter().flat_map(|base| secret.paths.iter().map(move |path| base.join(rest(path))));
        paths.collect::<Vec<_>>()
    };
    let all = table().iter().filter(|secret| !is_own(secret));
    let all = all.flat_map(|secret| secret.paths.iter().map(usual).chain(moved(secret)).collect::<Vec<_>>());
    let runtime = world.path_variable("XDG_RUNTIME_DIR").filter(|folder| folder.is_absolute());
    let mut found: Vec<PathBuf> = Vec::new();
    let is_there = |place: &PathBuf| place.symlink_metadata().is_ok();
    for place in all.chain(runtime).filter(is_there).filter_map(|place| place.canonicalize().ok()) {
        // A link to a folder that contains everything would leave nothing to read.
        if !home.starts_with(&place) && !found.contains(&place) {
            found.push(place);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home(folders: &[&str], files: &[&str]) -> (tempfile::TempDir, PathBuf) {
        let home = crate::testing::folder();
        let at = home.path().canonicalize().unwrap();
        for folder in folders {
            std::fs::create_dir_all(at.join(folder)).unwrap();
        }
        for file in files {
            std::fs::create_dir_all(at.join(file).parent().unwrap()).unwrap();
            std::fs::write(at.join(file), "x").unwrap();
        }
        (home, at)
    }

    fn names(at: &Path, client: Option<&str>, variables: [(&str, &str); 2]) -> Vec<String> {
        let variable = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
        let [one, two] = variables;
        let world = World::with([(variable, at.to_str().unwrap()), one, two], at);
        let found = places(&world, client);
        found.iter().map(|place| place.strip_prefix(at).unwrap().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn every_place_has_a_name_a_date_and_a_source() {
        let rows = toml_edit::de::from_str::<SecretTable>(include_str!("secrets.toml")).unwrap().secret;
        assert!(rows.len() > 15);
        for row in &rows {
            let has_day = row.date.parse::<jiff::civil::Date>().is_ok();
            assert!(has_day && !row.what.is_empty() && !row.source.is_empty() && !row.paths.is_empty(), "{row:?}");
            assert!(row.paths.iter().all(|path| !path.starts_with('/') && !path.contains("..")), "{row:?}");
        }
    }

    #[test]
    fn a_client_reads_its_own_login_and_no_other() {
        let files =
            [".codex/auth.json", ".claude/.credentials.json", ".config/gh/hosts.yml", ".netrc", ".codex/config.toml"];
        let (_home, at) = home(&[], &files);
        let nothing = [("A", "b"), ("C", "d")];
        assert_eq!(
            names(&at, None, nothing),
            [".config/gh", ".netrc", ".claude/.credentials.json", ".codex/auth.json"]
        );
        assert_eq!(names(&at, Some("codex"), nothing), [".config/gh", ".netrc", ".claude/.credentials.json"]);
        assert_eq!(names(&at, Some("copilot"), nothing), [".netrc", ".claude/.credentials.json", ".codex/auth.json"]);
        assert_eq!(names(&at, Some("acp"), nothing), [".netrc"]);
    }

    #[test]
    fn moved_folders_are_secret_at_their_new_place() {
        let (_home, at) = home(&["run"], &["c/gh/hosts.yml", "codex/auth.json", ".codex/auth.json"]);
        let (config, codex) = (at.join("c").display().to_string(), at.join("codex").display().to_string());
        let variables = [("XDG_CONFIG_HOME", &*config), ("CODEX_HOME", &*codex)];
        assert_eq!(names(&at, None, variables), ["c/gh", ".codex/auth.json", "codex/auth.json"]);
        let run = at.join("run").display().to_string();
        assert_eq!(names(&at, Some("codex"), [("XDG_RUNTIME_DIR", &run), ("A", "b")]), ["run"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_a_place_hides_the_place_and_one_to_everything_hides_nothing() {
        let (_home, at) = home(&["dotfiles/aws"], &[]);
        std::os::unix::fs::symlink(at.join("dotfiles/aws"), at.join(".aws")).unwrap();
        std::os::unix::fs::symlink("/", at.join(".kube")).unwrap();
        assert_eq!(names(&at, None, [("A", "b"), ("C", "d")]), ["dotfiles/aws"]);
    }
}
