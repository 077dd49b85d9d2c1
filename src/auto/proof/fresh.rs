//! A commit in a checkout of its own, and its checks run there again.

use std::path::PathBuf;

use super::statement::Checks;
use crate::auto::gate::check::{Check, Refused, Source};
use crate::auto::gate::evidence::Evidence;
use crate::auto::gate::run::{Place, run_checks};
use crate::auto::landing::id::Commit;
use crate::auto::runner::own::all_but;
use crate::disk::{self, AbsolutePath, DiskError, Scratch};
use crate::world::fence::Fence;
use crate::world::{Program, World, WorldError};

/// No hook of the user's templates runs in the checkout.
const NO_HOOKS: [&str; 2] = ["-c", "core.hooksPath=/dev/null"];

/// Why there is no checkout, or a check was not run in it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FreshError {
    #[error("`{command}` failed: {why}")]
    Git { command: &'static str, why: String },
    #[error("{0}")]
    Refused(Refused),
    #[error(transparent)]
    World(#[from] WorldError),
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// A checkout that is gone with this value: a clone that borrows the objects of the repository, so that nothing of the
/// repository changes.
#[derive(Debug)]
pub(crate) struct Fresh {
    folder: AbsolutePath,
    /// For temporary files of checks.
    temporary: AbsolutePath,
    fence: Option<Fence>,
    _removed_with: Scratch,
}

impl Fresh {
    /// Checks out `commit` of the repository at `root`. What is done there writes nowhere else, if `is_fenced`.
    pub(crate) fn of(world: &World, root: &AbsolutePath, commit: &Commit, is_fenced: bool) -> Result<Self, FreshError> {
        let scratch = Scratch::new(&world.temporary_folder())?;
        let (folder, temporary) = (scratch.path("tree"), scratch.make_folder("tmp")?);
        let clone = Program::git(root.as_path()).arguments(NO_HOOKS).arguments([
            "clone",
            "--quiet",
            "--no-checkout",
            "--shared",
            "--template=",
            "--",
        ]);
        let clone = clone.arguments([root.as_path(), folder.as_path()]);
        succeeds(world, "git clone", &clone)?;
        let fence = is_fenced.then(|| fence(world, root, [&folder, &temporary])).transpose()?;
        // Filters of the user's may run a program that lies in the tree.
        let checkout = Program::git(folder.as_path()).arguments(NO_HOOKS);
        let checkout = checkout.arguments(["checkout", "--quiet", "--detach", commit.as_str()]);
        let checkout = fence.iter().fold(checkout, Program::fenced);
        succeeds(world, "git checkout", &checkout)?;
        Ok(Self { folder, temporary, fence, _removed_with: scratch })
    }

    /// Runs the commands that a statement names. They are words, as checks are: nothing of them is for a shell.
    pub(crate) fn run(
        &self,
        world: &World,
        recorded: &Checks,
        is_over: &dyn Fn() -> bool,
    ) -> Result<Evidence, FreshError> {
        let parsed = recorded.commands.iter().map(|check| Check::parse(&check.command));
        let checks: Vec<Check> = parsed.collect::<Result<_, _>>().map_err(FreshError::Refused)?;
        let around = |program: Program| self.fence.iter().fold(program, Program::fenced);
        let variables = [("TMPDIR".to_owned(), self.temporary.to_string())];
        let place = Place {
            fence: Some(&around),
            is_over: Some(is_over),
            variables: &variables,
            ..Place::new(self.folder.as_path())
        };
        Ok(run_checks(world, &checks, Source::None, &recorded.tree, &place, None))
    }
}

/// Only these folders and the caches of build tools, and nothing of the repository or of what this program keeps.
fn fence(world: &World, root: &AbsolutePath, own: [&AbsolutePath; 2]) -> Result<Fence, DiskError> {
    let state = world.state_folder().and_then(|folder| AbsolutePath::parse(folder).ok());
    let kept = [Some(root.clone()), state].iter().flatten().map(disk::real).collect::<Result<Vec<_>, _>>()?;
    let mut writable: Vec<PathBuf> = own.map(|folder| folder.as_path().to_path_buf()).into();
    for cache in world.build_caches() {
        all_but(&kept, cache, &mut writable)?;
    }
    Ok(Fence::around(writable))
}

fn succeeds(world: &World, command: &'static str, program: &Program) -> Result<(), FreshError> {
    let finished = world.run(program)?;
    if finished.success() { Ok(()) } else { Err(FreshError::Git { command, why: finished.error_text() }) }
}
