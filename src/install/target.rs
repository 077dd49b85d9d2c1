//! Where an installation goes: a host, a scope, and the folders that follow from them.

use crate::disk::{self, AbsolutePath, Digest, DiskError, RelativePath};
use crate::emit::Anchor;
use crate::runtime::{Descriptor, Home, HomeError, PlaceAnchor, Scope, Surroundings};
use crate::text::shell::{Typed, shell_word, typed};
use crate::world::World;

use super::InstallError;
use super::lock_file::LockFile;

/// One host in one scope, with its folders.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) descriptor: Descriptor,
    pub(crate) scope: Scope,
    /// The host's folder, with its links resolved.
    pub(crate) root: AbsolutePath,
    pub(crate) user: AbsolutePath,
    pub(crate) project: AbsolutePath,
    /// The same folders as the person knows them, for texts that name them.
    pub(crate) home: Home,
    /// The host's global folder.
    pub(super) everywhere: AbsolutePath,
    /// The folder for the user's state.
    pub(super) state: AbsolutePath,
    usual: bool,
    /// Whether it is in another project than the one of the call.
    elsewhere: bool,
}

impl Target {
    /// Determines the folders. `chosen` is a folder that the person named instead of the usual one.
    pub(crate) fn resolve(
        descriptor: Descriptor,
        scope: Scope,
        project: &AbsolutePath,
        chosen: Option<&str>,
        world: &World,
    ) -> Result<Self, InstallError> {
        let user = AbsolutePath::parse(world.home().ok_or(InstallError::NoHome)?)?;
        let environment = |name: &str| world.variable(name);
        let surroundings =
            Surroundings { environment: &environment, user: user.as_path(), project: project.as_path(), chosen };
        let home = Home::resolve(&descriptor, scope, surroundings).map_err(|source| {
            let name = descriptor.name.clone();
            match source {
                HomeError::NoLocal(why) => InstallError::NoLocal { name, why },
                source => InstallError::Home { name, source },
            }
        })?;
        let usual =
            Home::resolve(&descriptor, scope, Surroundings { environment: &|_| None, chosen: None, ..surroundings });
        let known = project.clone();
        let (root, user, project) =
            (AbsolutePath::parse(&home.root)?, disk::canonical(&user)?, disk::canonical(project)?);
        let root = disk::canonical(&root)?;
        if scope == Scope::Local && project == user {
            return Err(InstallError::ProjectIsHome { path: project });
        }
        let usual = usual.is_ok_and(|usual| usual.root == home.root);
        let everywhere = match scope {
            Scope::Global => root.clone(),
            Scope::Local => {
                let global = Home::resolve(&descriptor, Scope::Global, Surroundings { chosen: None, ..surroundings });
                global.ok().and_then(|global| AbsolutePath::parse(&global.root).ok()).unwrap_or_else(|| root.clone())
            }
        };
        if scope == Scope::Local && AbsolutePath::parse(&home.root)?.is_within(&known) {
            disk::stays_within(&root, &project)?;
        }
        let state = super::state(world)?;
        let elsewhere = false;
        Ok(Self { descriptor, scope, root, user, project, home, everywhere, state, usual, elsewhere })
    }

    /// The same install, seen from another project: then it is named with its own.
    pub(super) fn seen_from_elsewhere(self) -> Self {
        Self { elsewhere: true, ..self }
    }

    /// Adapts an error to this target: if a folder cannot be written, the home folder may be missing, and files are named
    /// as a person would.
    pub(crate) fn explain(&self, error: InstallError) -> InstallError {
        let is_of_folder = matches!(error, InstallError::Disk(DiskError::ReadOnly { .. } | DiskError::Io { .. }));
        if is_of_folder && !disk::is_folder(&self.user) {
            return InstallError::HomeIsMissing { path: self.user.clone() };
        }
        error.named_below(&self.user)
    }

    /// True if the host's folder is the default one.
    pub(crate) fn is_usual(&self) -> bool {
        self.usual
    }

    /// The folder that paths of this anchor start from.
    pub(crate) fn folder(&self, anchor: &Anchor) -> AbsolutePath {
        match anchor {
            Anchor::Root => self.root.clone(),
            Anchor::Home(folder) => self.user.resolve(folder),
            Anchor::Project => self.project.clone(),
        }
    }

    /// Every folder that an install may write in.
    pub(crate) fn possible_roots(&self) -> Vec<AbsolutePath> {
        let homes = self.descriptor.places.iter().filter_map(|place| match &place.anchor {
            PlaceAnchor::Home(folder) => Some(self.user.resolve(folder)),
            PlaceAnchor::Root | PlaceAnchor::Project => None,
        });
        let project = (self.scope == Scope::Local).then(|| self.project.clone());
        let notes = (self.scope == Scope::Local).then(|| self.notes_folder());
        let own = [self.root.clone(), self.image_folder(), self.roots_folder()];
        homes.chain(project).chain(notes).chain(own).collect()
    }

    /// Where the before-images of this install are kept: in the user's state, never in a project.
    pub(crate) fn image_folder(&self) -> AbsolutePath {
        let install = format!("{}\0{}", self.root, self.section_key(&Anchor::Root));
        let name = Digest::of(install.as_bytes()).to_string();
        self.state.resolve("kept").resolve(&name[..16])
    }

    /// The folder of the notes about manifests, which an install in a project writes.
    pub(crate) fn notes_folder(&self) -> AbsolutePath {
        self.state.resolve(NOTES)
    }

    /// The folder of the notes about installs.
    pub(super) fn roots_folder(&self) -> AbsolutePath {
        self.state.resolve(ROOTS)
    }

    /// The folder whose manifest lists what is below this anchor.
    pub(crate) fn manifest_folder(&self, anchor: &Anchor) -> AbsolutePath {
        match anchor {
            Anchor::Root | Anchor::Project => self.root.clone(),
            Anchor::Home(_) => self.folder(anchor),
        }
    }

    /// The key of this install's section in the manifest of that anchor. In a folder shared by several installs of one
    /// host, the key contains their location.
    pub(crate) fn section_key(&self, anchor: &Anchor) -> String {
        let key = format!("{}/{}", self.descriptor.id, self.scope.word());
        match anchor {
            Anchor::Home(_) if !self.usual => format!("{key}@{}", self.root),
            Anchor::Home(_) | Anchor::Root | Anchor::Project => key,
        }
    }

    /// Where one of our files is put, if it was modified, before we replace it.
    pub(crate) fn set_aside(&self, anchor: &Anchor, path: &RelativePath) -> AbsolutePath {
        match anchor {
            Anchor::Root => self.root.resolve(SET_ASIDE).join(path),
            Anchor::Home(_) => self.folder(anchor).resolve(SET_ASIDE).join(path),
            Anchor::Project => self.root.resolve(SET_ASIDE).resolve("project").join(path),
        }
    }

    /// A path as a person would name it: relative to their home or their project.
    pub(crate) fn shown(&self, path: &AbsolutePath) -> String {
        if self.scope == Scope::Local
            && !self.elsewhere
            && let Some(path) = path.relative_to(&self.project)
        {
            return path.to_string();
        }
        path.relative_to(&self.user).map_or_else(|| path.to_string(), |path| format!("~/{path}"))
    }

    /// The host with the scope or the folder, as a person would name this install.
    pub(crate) fn title(&self) -> String {
        let name = &self.descriptor.name;
        if self.elsewhere {
            format!("{name} (local, {})", self.shown(&self.project))
        } else if self.usual || self.scope == Scope::Local {
            format!("{name} ({})", self.scope.word())
        } else {
            format!("{name} in {}", self.shown(&self.root))
        }
    }

    /// True if the lock of the project pins this install.
    pub(crate) fn is_pinned(&self) -> bool {
        self.scope == Scope::Local && LockFile::pins(&self.project, &self.descriptor.id)
    }

    /// The program of the install, which its hooks call.
    pub(crate) fn program(&self) -> AbsolutePath {
        self.root.resolve(format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX))
    }

    /// The arguments that select this install in `install`, `uninstall` and `status`.
    pub(crate) fn flags(&self) -> Typed {
        let host = &self.descriptor.id;
        match self.scope {
            Scope::Local if self.elsewhere => {
                // A shell does not expand `~` in a word that has to be quoted.
                let shown = Some(self.shown(&self.project)).filter(|shown| shell_word(shown) == *shown);
                typed!("--{} --local --cwd {}", host, shown.unwrap_or_else(|| self.project.to_string()))
            }
            Scope::Global if !self.usual => typed!("--{} --config-dir {}", host, self.shown(&self.root)),
            scope => typed!("--{} --{}", host, scope.word()),
        }
    }
}

/// The path of an installed program, below the host's folder.
pub(super) const PROGRAM: &str = "gsd-core/bin/gsd-tools";

/// The folder, below a root, for files that were modified.
pub(super) const SET_ASIDE: &str = "gsd-local-patches";

/// The folder of the notes about installs, below the state folder.
pub(super) const ROOTS: &str = "roots";

/// The folder of the notes about manifests of projects, below the state folder.
pub(super) const NOTES: &str = "manifests";
