//! Checks out a commit in a separate clone, and runs its checks there again.

use super::statement::Checks;
use crate::auto::caches::Caches;
use crate::auto::landing::id::Commit;
use crate::disk::{AbsolutePath, DiskError, Scratch};
use crate::failure::unexplained;
use crate::gate::check::{Check, Refused, Source};
use crate::gate::evidence::Evidence;
use crate::gate::run::{CheckPlace, run_checks};
use crate::world::fence::{Fence, Openings};
use crate::world::{Program, World, WorldError};

/// No hook of the user's templates runs in the checkout.
const NO_HOOKS: [&str; 2] = ["-c", "core.hooksPath=/dev/null"];

/// Why a commit could not be checked out, or a check was not run in the checkout.
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

unexplained!(FreshError);

/// A checkout that is removed with this value: a clone that borrows the objects of the repository and does not change
/// it.
#[derive(Debug)]
pub(crate) struct Fresh {
    folder: AbsolutePath,
    /// The folder for temporary files of checks.
    temporary: AbsolutePath,
    fence: Option<Fence>,
    /// The caches of build tools; empty without a fence.
    caches: Caches,
    _removed_with: Scratch,
}

impl Fresh {
    /// Checks out `commit` of the repository at `root`. Programs in it write nowhere else, except without a fence, or
    /// where the user opens the fence.
    pub(crate) fn of(
        world: &World,
        root: &AbsolutePath,
        commit: &Commit,
        fence_with: Option<&Openings>,
    ) -> Result<Self, FreshError> {
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
        let caches = fence_with.map(|_| Caches::of(world, &scratch.path("caches"))).transpose()?.unwrap_or_default();
        let fence = fence_with.map(|openings| {
            let own = folder.as_path().to_path_buf();
            let fence = Fence::around(std::iter::once(own).chain(caches.writable.iter().cloned()));
            fence.with_temporary(temporary.as_path()).for_user(world, None, openings)
        });
        // Filters of the user may run a program in the tree.
        let checkout = Program::git(folder.as_path()).arguments(NO_HOOKS);
        let checkout = checkout.arguments(["checkout", "--quiet", "--detach", commit.as_str()]);
        let checkout = fence.iter().fold(checkout, Program::fenced);
        succeeds(world, "git checkout", &checkout)?;
        Ok(Self { folder, temporary, fence, caches, _removed_with: scratch })
    }

    /// Runs the commands in a statement. Like checks, they are lists of words that do not go through a shell.
    pub(crate) fn run(
        &self,
        world: &World,
        recorded: &Checks,
        is_over: &dyn Fn() -> bool,
    ) -> Result<Evidence, FreshError> {
        let parsed = recorded.commands.iter().map(|check| Check::parse(&check.command));
        let checks: Vec<Check> = parsed.collect::<Result<_, _>>().map_err(FreshError::Refused)?;
        let around = |program: Program| self.fence.iter().fold(program.detached(), Program::fenced);
        let temporary = [("TMPDIR".to_owned(), self.temporary.to_string())];
        let variables = [self.caches.variables.as_slice(), &temporary].concat();
        let place = CheckPlace {
            fence: Some(&around),
            is_over: Some(is_over),
            variables: &variables,
            ..CheckPlace::new(self.folder.as_path())
        };
        Ok(run_checks(world, &checks, Source::None, &recorded.tree, &place, None))
    }
}

fn succeeds(world: &World, command: &'static str, program: &Program) -> Result<(), FreshError> {
    let finished = world.run(program)?;
    if finished.success() { Ok(()) } else { Err(FreshError::Git { command, why: finished.error_text() }) }
}
