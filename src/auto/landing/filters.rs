//! The filters that settings name for git: programs that change files on their way into a tree and out of it.
//!
//! Their command lines are the user's, but what they run may lie in the tree, as `python3 tools/clean.py`, and then it is the
//! work of an agent. So each runs in a fence, where the system has one, and writes only to temporary files, and to what it
//! keeps itself in the folder of git.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::error::LandingError;
use crate::disk::{self, AbsolutePath, Scratch};
use crate::world::fence::{Fence, Openings};
use crate::world::{Program, World};

/// What in the folder of git belongs to git, as of 2.51. Other folders belong to other programs, such as filters.
const OF_GIT: &[&str] = &[
    "branches",
    "hooks",
    "info",
    "logs",
    "modules",
    "objects",
    "rebase-apply",
    "rebase-merge",
    "refs",
    "reftable",
    "rr-cache",
    "sequencer",
    "worktrees",
];

/// The filter for large files makes this folder at its first use. Its program lies in no tree, and fetches with the user's
/// login what is not there.
const LARGE_FILES: (&str, &str) = ("filter.lfs.", "lfs");
const LARGE_FILES_PROGRAM: &str = "git-lfs ";

/// Settings that take the place of those of filters, with the lines to be run instead.
#[derive(Clone, Debug, Default)]
pub(super) struct Filters {
    lines: Vec<(String, String)>,
    /// The folder for their temporary files.
    _temporary: Option<Arc<Scratch>>,
}

impl Filters {
    /// What git is asked for.
    pub(super) const QUESTION: [&str; 4] =
        ["config", "--null", "--get-regexp", r"^filter\..*\.(clean|smudge|process)$"];

    /// The filters among settings as git tells them, each in a fence; `common` is the folder of the repository. None where the
    /// system has no fence. They cannot read what is `hidden`; the user opens something in the fence.
    pub(super) fn of(
        told: &[u8],
        world: &World,
        common: &AbsolutePath,
        (hidden, openings): (&[AbsolutePath], &Openings),
    ) -> Result<Self, LandingError> {
        let told = String::from_utf8_lossy(told).into_owned();
        // The last one counts.
        let settings: BTreeMap<&str, &str> = told.split('\0').filter_map(|setting| setting.split_once('\n')).collect();
        if settings.values().all(|line| line.is_empty()) {
            return Ok(Self::default());
        }
        if settings.keys().any(|key| key.starts_with(LARGE_FILES.0)) {
            disk::make_folder(&common.resolve(LARGE_FILES.1))?;
        }
        let temporary = Scratch::new(&world.temporary_folder())?;
        let fence = Fence::around(writable(common)?).hiding(hidden.iter().map(AbsolutePath::as_path));
        let of_large_files = fence.with_temporary(temporary.folder().as_path());
        let usual = of_large_files.clone().for_user(world, None, openings);
        let of_large_files = of_large_files.with_sockets();
        let fenced = |(key, line): (&str, &str)| {
            let is_of_large_files = key.starts_with(LARGE_FILES.0) && line.starts_with(LARGE_FILES_PROGRAM);
            let fence = if is_of_large_files { &of_large_files } else { &usual };
            Some((key.to_owned(), fenced(world, fence, line)?))
        };
        let lines = settings.into_iter().filter(|(_, line)| !line.is_empty()).filter_map(fenced).collect();
        Ok(Self { lines, _temporary: Some(Arc::new(temporary)) })
    }

    /// The program, which is git before its verb, with these filters.
    pub(super) fn set(&self, mut program: Program) -> Program {
        for (number, (key, line)) in self.lines.iter().enumerate() {
            // `-c` would end a key at its first `=`.
            let variable = format!("GSD_GIT_FILTER_{number}");
            program = program.arguments([format!("--config-env={key}={variable}")]).variable(variable, line);
        }
        program
    }
}

fn writable(common: &AbsolutePath) -> Result<Vec<PathBuf>, LandingError> {
    let mut writable = Vec::new();
    for entry in disk::list(common)?.unwrap_or_default() {
        let is_of_git = OF_GIT.iter().any(|name| name.as_bytes() == entry.file_name());
        if entry.is_folder() && !is_of_git {
            writable.push(entry.path);
        }
    }
    Ok(writable)
}

/// The line that runs the line of a filter in a fence. Git puts the path of the file in the place of `%f`, in quotes, which
/// has to happen outside of ours.
fn fenced(world: &World, fence: &Fence, line: &str) -> Option<String> {
    let fenced = world.fenced_line(fence, &line.replace("%f", "\"$1\""))?;
    Some(if line.contains("%f") { format!("{fenced} filter %f") } else { fenced })
}
