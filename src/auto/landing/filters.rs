//! The filters in git settings: programs that change files on their way into and out of a tree.
//!
//! Their command lines are the user's, but the program may be in the tree, as in `python3 tools/clean.py`, and so be
//! written by an agent. Each therefore runs in a fence, if the system supports fences, and can write only temporary
//! files and the folders that it keeps in git's folder.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::error::LandingError;
use crate::disk::{self, AbsolutePath, Scratch};
use crate::world::fence::{Fence, Openings};
use crate::world::{Program, World};

/// The entries of git's folder that belong to git, as of 2.51. Other folders belong to other programs, such as filters.
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

/// The folder that the filter for large files creates at its first use. Its program is in no tree, and fetches missing
/// content with the user's login.
const LARGE_FILES: (&str, &str) = ("filter.lfs.", "lfs");
const LARGE_FILES_PROGRAM: &str = "git-lfs ";

/// Settings that replace those of filters, with the command lines to run instead.
#[derive(Clone, Debug, Default)]
pub(super) struct Filters {
    lines: Vec<(String, String)>,
    /// The folder for temporary files of the filters.
    _temporary: Option<Arc<Scratch>>,
}

impl Filters {
    /// The git arguments that list the filters.
    pub(super) const QUESTION: [&str; 4] =
        ["config", "--null", "--get-regexp", r"^filter\..*\.(clean|smudge|process)$"];

    /// Reads the filters from git's list of settings and puts each in a fence; `common` is the folder of the
    /// repository. Empty if the system has no fence. The filters cannot read `hidden`, and can use what the user opens
    /// in the fence.
    pub(super) fn of(
        told: &[u8],
        world: &World,
        common: &AbsolutePath,
        (hidden, openings): (&[AbsolutePath], &Openings),
    ) -> Result<Self, LandingError> {
        let told = String::from_utf8_lossy(told).into_owned();
        // The last value counts.
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

    /// Returns the program, which is git without its subcommand yet, with these filters set.
    pub(super) fn set(&self, mut program: Program) -> Program {
        for (number, (key, line)) in self.lines.iter().enumerate() {
            // `-c` would end the key at its first `=`.
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

/// Returns the command line that runs a filter's command line in a fence. Git replaces `%f` with the quoted path of the
/// file, which has to happen outside the quotes of the fence.
fn fenced(world: &World, fence: &Fence, line: &str) -> Option<String> {
    let fenced = world.fenced_line(fence, &line.replace("%f", "\"$1\""))?;
    Some(if line.contains("%f") { format!("{fenced} filter %f") } else { fenced })
}
