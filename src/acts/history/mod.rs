//! The history of a project in git: when documents were last committed, how many commits there are.
//!
//! Git is only asked for what earlier calls have not learned: see [`memory`].

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::thread;

mod chains;
mod clean;
mod count;
mod memory;

use chains::{Chains, Known, LISTED};
use clean::CleanLook;
use memory::Memory;

use crate::disk::AbsolutePath;
use crate::project::files::Pending;
use crate::project::git_settings::names_no_filter;
use crate::project::head::Head;
use crate::project::layout::Layout;
use crate::project::repository::{self, GitPlace};
use crate::world::{Finished, Program, World};

/// The history up to the commit that is checked out.
#[derive(Clone, Debug)]
pub(crate) struct History {
    world: World,
    layout: Layout,
    head: String,
    memory: Option<Memory>,
}

impl History {
    /// Opens the history; `None` without commits. Also returns the place of the repository if it can be read.
    pub(crate) fn of(world: &World, layout: &Layout) -> Option<(Self, Option<GitPlace>)> {
        let root = AbsolutePath::parse(layout.root()).ok()?;
        let repository = repository::repository_of(&root)?;
        let head = Head::commit_at(&repository, |arguments| {
            let finished = world.git(layout.root(), arguments).ok().filter(Finished::success)?;
            Some(finished.text()).filter(|text| !text.is_empty())
        })?;
        let place = GitPlace::of(&repository);
        let memory = place.as_ref().and_then(|place| Memory::of(world, layout, place));
        let memory = memory.filter(|_| memory::is_commit(&head));
        Some((Self { world: world.clone(), layout: layout.clone(), head, memory }, place))
    }

    /// Git that reads the commits themselves and ignores replacements.
    fn git<S: AsRef<std::ffi::OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Program {
        Program::git(self.layout.root()).variable("GIT_NO_REPLACE_OBJECTS", "1").arguments(arguments)
    }

    fn told<S: AsRef<std::ffi::OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Option<String> {
        let finished = self.world.run(&self.git(arguments)).ok().filter(Finished::success)?;
        Some(finished.text())
    }

    /// When each of the committed files among `paths` was last committed; files that git did not report are missing.
    fn times(&self, paths: &[String]) -> Known {
        let memory = self.memory.as_ref();
        let mut known: BTreeMap<String, Known> = BTreeMap::new();
        if let Some(note) = memory.and_then(|memory| memory.note(&self.head)) {
            known.insert(self.head.clone(), note.times);
        }
        let mut chains = Chains::new(paths, &known, &self.head);
        if chains.is_done() {
            return chains.found();
        }
        let bases = memory.map(|memory| memory.bases(&self.head)).unwrap_or_default();
        let mut known = known.clone();
        known.extend(bases.into_iter().map(|(commit, note)| (commit, note.times)));
        chains = Chains::new(paths, &known, &self.head);
        let others: Vec<String> =
            known.keys().filter(|commit| **commit != self.head).map(|commit| format!("^{commit}")).collect();
        let mut is_whole = true;
        if !others.is_empty() {
            is_whole = self.list(&mut chains, paths, &others);
        }
        if !chains.is_done() && is_whole {
            // Only existing files can have been committed; for others the whole history would be walked.
            let open: Vec<String> = chains.open_files().cloned().collect();
            if let Some(there) = self.committed(&open) {
                chains.none_but(&there);
            }
            for round in 0..2 {
                if !chains.is_done() {
                    chains.keeps_all = round > 0;
                    self.list(&mut chains, paths, &[]);
                }
            }
        }
        let found = chains.found();
        if let Some(memory) = memory {
            memory.add(&self.head, |note| note.times.extend(found.clone()));
        }
        found
    }

    /// Makes git list the history from the commits that the searches have reached, without the commits that `without`
    /// excludes. Returns false if git failed.
    fn list(&self, chains: &mut Chains<'_>, paths: &[String], without: &[String]) -> bool {
        let Some(places) = places(paths) else { return true };
        let ends: Vec<String> = chains.open_ends().map(str::to_owned).collect();
        let program = self.git(LISTED).arguments(ends).arguments(without).arguments(["--"]).arguments(places);
        let listed = self.world.fields(&program, |field| chains.field(field));
        chains.end();
        listed.is_ok_and(|well| well)
    }

    /// Those of `paths` that are in the commit that is checked out.
    fn committed(&self, paths: &[String]) -> Option<HashSet<String>> {
        const FEW: usize = 50;
        let wanted: Vec<&str> = match common_folder(paths)? {
            _ if paths.len() <= FEW => paths.iter().map(String::as_str).collect(),
            "." => Vec::new(),
            folder => vec![folder],
        };
        let line = ["ls-tree", "-r", "--name-only", "-z", self.head.as_str(), "--"];
        let told = self.told(line.into_iter().chain(wanted))?;
        Some(told.split('\0').map(str::to_owned).collect())
    }

    /// Those of `paths`, and others, that differ from the last commit. `None` if git fails.
    fn differing(&self, paths: &[String]) -> Option<HashSet<String>> {
        let line = ["diff", "HEAD", "--name-only", "--no-renames", "-z", "--relative", "--"].map(str::to_owned);
        let line = line.into_iter().chain(places(paths)?);
        let told =
            self.world.git_differences(self.layout.root(), names_no_filter, line).ok().filter(Finished::success)?;
        let mut differing: HashSet<String> = told.text().split('\0').map(str::to_owned).collect();
        if paths.iter().any(|path| differing.contains(path)) {
            // If git may not write its index, it also lists files that were only touched; for its status it compares
            // them.
            let line = ["status", "--porcelain", "-z", "--no-renames", "--untracked-files=no", "--"].map(str::to_owned);
            let line = line.into_iter().chain(places(paths)?);
            let told =
                self.world.git_differences(self.layout.root(), names_no_filter, line).ok().filter(Finished::success)?;
            let told = told.text();
            let changed: Vec<&str> = told.split('\0').filter_map(|record| record.get(3..)).collect();
            // These paths are relative to the top of the repository.
            let is_at = |top: &str, path: &str| {
                top.strip_suffix(path).is_some_and(|above| above.is_empty() || above.ends_with('/'))
            };
            differing.retain(|path| changed.iter().any(|top| is_at(top, path)));
        }
        Some(differing)
    }
}

/// Begins to find the time of the last commit of each of `paths` that is tracked and has no uncommitted change; empty
/// outside of a repository.
pub(crate) fn commit_times(world: &World, layout: &Layout, paths: &[String]) -> Pending<HashMap<String, i64>> {
    let of = if paths.is_empty() { None } else { History::of(world, layout) };
    let Some((history, place)) = of else { return Box::new(HashMap::new) };
    let memory = history.memory.clone();
    let look = memory.as_ref().zip(place.as_ref());
    let now = world.now().milliseconds();
    let look = look.map(|(memory, place)| CleanLook::at(memory, layout, place, &history.head, paths.iter(), now));
    let differing = look.as_ref().and_then(CleanLook::differing);
    let is_known = differing.is_some();
    let asked = (!is_known).then(|| {
        let (history, paths) = (history.clone(), paths.to_vec());
        thread::spawn(move || history.differing(&paths))
    });
    let paths = paths.to_vec();
    let head = history.head.clone();
    let times = thread::spawn(move || history.times(&paths));
    Box::new(move || {
        let (Ok(times), Ok(asked)) = (times.join(), asked.map(thread::JoinHandle::join).transpose()) else {
            return HashMap::new();
        };
        let Some(differing) = differing.or_else(|| asked.flatten()) else { return HashMap::new() };
        if !is_known && let (Some(memory), Some(look)) = (memory, look) {
            look.remember(&memory, &head, &differing);
        }
        let times = times.into_iter().filter(|(path, _)| !differing.contains(path));
        times.filter_map(|(path, time)| Some((path, time?))).collect()
    })
}

/// Where git is to look for `paths`, as git patterns, however many files there are: in their common folder, for names
/// with the same endings, such as `*-SUMMARY.md`.
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

/// The common folder of all `paths`.
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

#[cfg(all(test, unix))]
mod tests;
