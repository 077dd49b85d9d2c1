//! When documents were last committed, asked from git.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::thread::{self, JoinHandle};

use crate::project::files::Pending;
use crate::project::layout::Layout;
use crate::world::{Finished, World, WorldError};

/// Begins to find out the time of the last commit of each of `paths` that is tracked and has no uncommitted change.
///
/// Two runs of git beside each other whatever the number of paths; nothing where there is no repository.
pub(in crate::commands) fn commit_times(
    world: &World,
    layout: &Layout,
    paths: &[String],
) -> Pending<HashMap<String, i64>> {
    let Some(places) = places(paths) else { return Box::new(HashMap::new) };
    let git = |arguments: &[&str], ask: fn(&World, &Path, Vec<String>) -> Result<Finished, WorldError>| {
        let arguments = arguments.iter().copied().chain(["--relative", "--"]).map(str::to_owned);
        let arguments: Vec<String> = arguments.chain(places.iter().cloned()).collect();
        let (world, root) = (world.clone(), layout.root().to_path_buf());
        thread::spawn(move || ask(&world, &root, arguments).ok().filter(Finished::success).map(|told| told.text()))
    };
    let log = git(&["log", "--format=%x01%ct", "--name-only", "--no-renames", "-z"], |world, root, arguments| {
        world.git(root, arguments)
    });
    let changed = git(&["diff", "HEAD", "--name-only", "--no-renames", "-z"], |world, root, arguments| {
        world.git_differences(root, arguments)
    });
    Box::new(move || {
        let told = |git: JoinHandle<Option<String>>| git.join().ok().flatten();
        let (Some(log), Some(changed)) = (told(log), told(changed)) else { return HashMap::new() };
        let mut times = times_in(&log);
        for path in changed.split('\0') {
            times.remove(path);
        }
        times
    })
}

/// The newest commit of each file in a log of times, each behind a mark, and names.
fn times_in(log: &str) -> HashMap<String, i64> {
    let mut times = HashMap::new();
    let mut time = None;
    for field in log.split(['\0', '\n']).filter(|field| !field.is_empty()) {
        if let Some(stamp) = field.strip_prefix('\u{1}') {
            time = stamp.trim().parse::<i64>().ok();
        } else if let Some(time) = time {
            times.entry(field.to_owned()).or_insert(time);
        }
    }
    times
}

/// Where git is to look for `paths`, as patterns of its own, however many files there are: in the folder that holds them
/// all, and there for names that end as theirs do, such as `*-SUMMARY.md`.
fn places(paths: &[String]) -> Option<Vec<String>> {
    const MOST_ENDINGS: usize = 4;
    let folder = common_folder(paths)?;
    let endings: BTreeSet<&str> = paths
        .iter()
        .map(|path| path.rsplit('/').next().unwrap_or(path))
        .map(|name| name.rfind('-').map_or(name, |dash| &name[dash + 1..]))
        .collect();
    let is_pattern = |text: &str| text.contains(['*', '?', '[', '\\']);
    if folder == "." || endings.len() > MOST_ENDINGS || is_pattern(folder) || endings.iter().any(|end| is_pattern(end))
    {
        return Some(vec![folder.to_owned()]);
    }
    Some(endings.into_iter().map(|ending| format!("{folder}/*{ending}")).collect())
}

/// The folder that holds all of `paths`.
fn common_folder(paths: &[String]) -> Option<&str> {
    let (first, rest) = paths.split_first()?;
    let folder = |path: &'_ str| path.rfind('/').map_or(0, |slash| slash);
    let length = rest.iter().fold(folder(first), |length, path| {
        let same = first.bytes().zip(path.bytes()).take_while(|(one, other)| one == other).count();
        if same >= length && path.as_bytes().get(length) == Some(&b'/') {
            length
        } else {
            folder(&first[..same.min(length)])
        }
    });
    Some(if length == 0 { "." } else { &first[..length] })
}

#[cfg(test)]
mod tests {
    use super::{common_folder, places};

    #[test]
    fn git_is_asked_for_names_that_end_as_those_of_the_files_do() {
        let of = |paths: &[&str]| places(&paths.iter().map(ToString::to_string).collect::<Vec<_>>());
        let told = |places: &[&str]| Some(places.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(of(&[]), None);
        assert_eq!(
            of(&["p/01-a/01-VERIFICATION.md", "p/01-a/01-01-SUMMARY.md", "p/02-b/SUMMARY.md"]),
            told(&["p/*SUMMARY.md", "p/*VERIFICATION.md"])
        );
        assert_eq!(of(&["p/a-1", "p/a-2", "p/a-3", "p/a-4", "p/a-5"]), told(&["p"]));
        assert_eq!(of(&["p[1]/a.md"]), told(&["p[1]"]));
        assert_eq!(of(&["a.md"]), told(&["."]));
    }

    #[test]
    fn one_folder_holds_all_paths() {
        let of = |paths: &[&str]| {
            common_folder(&paths.iter().map(ToString::to_string).collect::<Vec<_>>()).map(str::to_owned)
        };
        assert_eq!(of(&[]), None);
        assert_eq!(of(&["a.md"]).as_deref(), Some("."));
        assert_eq!(of(&[".planning/phases/01-a/x.md"]).as_deref(), Some(".planning/phases/01-a"));
        assert_eq!(
            of(&[".planning/phases/01-a/x.md", ".planning/phases/01-a/y.md"]).as_deref(),
            Some(".planning/phases/01-a")
        );
        assert_eq!(
            of(&[".planning/phases/01-a/x.md", ".planning/phases/01-b/y.md"]).as_deref(),
            Some(".planning/phases")
        );
        assert_eq!(of(&[".planning/p/x.md", ".planning/pq/y.md"]).as_deref(), Some(".planning"));
        assert_eq!(of(&["a/x.md", "b/y.md"]).as_deref(), Some("."));
    }
}
