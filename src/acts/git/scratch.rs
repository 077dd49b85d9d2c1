//! Git outside the repository: staged files and new objects go to a folder that is removed at the end.
//!
//! So a rehearsal runs exactly the steps of the command, and the repository is unchanged. References and the worktree
//! are not covered: a rehearsal leaves out what touches those. Programs that the repository makes git run are left to
//! the real command.

use std::path::Path;

use crate::acts::Call;
use crate::disk::{self, AbsolutePath};
use crate::failure::Failure;
use crate::world::{Finished, Program, in_path_list};

/// A separate index and object store.
#[derive(Debug)]
pub(crate) struct GitScratch {
    folder: disk::Scratch,
    /// The objects of the repository, which git reads in addition to the new ones.
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
        // Outside a repository, git will report that itself when it is used.
        let told = told.ok().filter(Finished::success).map(|finished| finished.text());
        let places = told.as_ref().and_then(|told| told.split_once('\n'));
        if let Some((index, _)) = places {
            // The copy has the index's own time: git checks files again that are not older than the index.
            scratch.copy(Path::new(index.trim_end()), "index")?;
        }
        Ok(Self { folder: scratch, objects: places.map(|(_, objects)| objects.trim_end().to_owned()) })
    }

    /// Makes the program stage here, with the objects of the repository.
    pub(crate) fn divert_index(&self, program: Program) -> Program {
        program.variable("GIT_INDEX_FILE", self.folder.path("index").as_path())
    }

    /// Makes the program write here.
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
