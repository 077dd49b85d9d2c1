//! Git beside the repository: what it stages and what objects it makes go to a folder that is gone at the end.
//!
//! So a rehearsal runs the very steps of the command, and the repository stays as it is. References and the worktree are not
//! covered: who rehearses leaves out what touches those. What the repository names for git to run is for the real command.

use std::path::Path;

use crate::acts::Call;
use crate::disk::{self, AbsolutePath};
use crate::failure::Failure;
use crate::world::{Finished, Program, in_path_list};

/// An index and a store of objects of their own.
#[derive(Debug)]
pub(crate) struct GitScratch {
    folder: disk::Scratch,
    /// The objects of the repository, which git reads beside those it makes.
    objects: Option<String>,
}

impl GitScratch {
    /// Begins with the index of the repository at `folder`.
    pub(crate) fn beside(call: &Call, folder: &AbsolutePath) -> Result<Self, Failure> {
        let world = call.world();
        let scratch = disk::Scratch::new(&world.temporary_folder())?;
        scratch.make_folder("objects")?;
        let told = world.git(
            folder.as_path(),
            ["rev-parse", "--path-format=absolute", "--git-path", "index", "--git-path", "objects"],
        );
        // Where there is no repository git will say so when it is asked for something.
        let told = told.ok().filter(Finished::success).map(|finished| finished.text());
        let places = told.as_ref().and_then(|told| told.split_once('\n'));
        if let Some((index, _)) = places {
            // As old as the index itself: git looks again at files that are no older than it.
            scratch.copy(Path::new(index.trim_end()), "index")?;
        }
        Ok(Self { folder: scratch, objects: places.map(|(_, objects)| objects.trim_end().to_owned()) })
    }

    /// Has the program stage here, with the objects of the repository.
    pub(crate) fn divert_index(&self, program: Program) -> Program {
        program.variable("GIT_INDEX_FILE", self.folder.path("index").as_path())
    }

    /// Has the program write here.
    pub(crate) fn divert(&self, program: Program) -> Program {
        let program = program
            .variable("GIT_INDEX_FILE", self.folder.path("index").as_path())
            .variable("GIT_OBJECT_DIRECTORY", self.folder.path("objects").as_path());
        match &self.objects {
            Some(objects) => program.variable("GIT_ALTERNATE_OBJECT_DIRECTORIES", in_path_list(objects)),
            None => program,
        }
    }
}
