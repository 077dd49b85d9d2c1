//! Compares the desired files, from the library and a host's descriptor, with the files that exist.
//!
//! ```text
//! artifacts + manifest + snapshot -> plan -> changes -> one transaction, the new manifest in it
//! ```
//!
//! The plan is made before anything is written, and that plan is applied. A second install gives an empty plan. An
//! uninstall is the plan for nothing and restores every byte.
//!
//! # One install
//!
//! For each host: its descriptor, its home (`--config-dir`, environment, default), its artifacts, and a `Situation`,
//! which owns all that was read, each file once. `InstallPlan::between` is pure. All hosts are planned and checked
//! before the first is written; one whose settings do not parse is refused, and the others continue. The plan that was
//! shown is applied under the lock and requires every manifest it read to be unchanged; otherwise it is made again
//! under the lock. With nothing to do, no lock is taken.
//!
//! What is counted as a file is the same everywhere: files that are entirely ours (`InstallPlan::files`,
//! `Status::files`), never settings files or the manifest. What a client was seen to load of a settings file is
//! `loads` in its descriptor (`loadable`). A shared file of the user's is edited by span; the manifest keeps the
//! digest before and after and what was applied, and the bytes before are kept in the user's state folder. Uninstall
//! restores those bytes if the file is unmodified, and otherwise removes our entries one by one. An installed file that a
//! user edited is moved to `gsd-local-patches/`, where no host reads it, and reported. An install in a folder that
//! `--config-dir` named has a note in the state folder (`remembered`), so `status` finds it. If no manifest lists an
//! install, `recognised` looks for what only this program writes, and the plan counts that as listed (`Adopted`).

mod adds;
mod adopted;
mod bill;
pub(crate) mod custom;
mod detected;
mod error;
mod explain;
mod hook_program;
mod in_project;
#[cfg(all(test, unix))]
mod kept_tests;
mod keys;
mod leftovers;
mod loadable;
pub(crate) mod lock_file;
mod made_up;
mod managed;
mod manifest;
mod pinned;
mod plan;
mod plan_file;
mod predecessor;
mod recognised;
mod record;
mod registered;
mod remembered;
mod shared;
mod situation;
mod status;
mod steps;
mod target;
mod together;
mod undo;
mod vouch;

#[cfg(all(test, unix))]
mod tests;

pub(crate) use crate::disk::history::Keeping;
pub(crate) use adds::StatusLine;
pub(crate) use adopted::Unlisted;
pub(crate) use bill::{InstallBill, OwnBill};
pub(crate) use detected::Detected;
pub(crate) use error::InstallError;
pub(crate) use explain::{ExplainedRow, Explanation, HostFileKind, OwnedSince, Whose, explain};
pub(crate) use hook_program::program_fault;
pub(crate) use in_project::owned_in;
pub(crate) use keys::KeyEdit;
pub(crate) use leftovers::{Leftover, history, leftovers, set_aside};
pub(crate) use loadable::{NotLoaded, not_loaded};
pub(crate) use made_up::version;
pub(crate) use managed::{ManagedContents, PlacedByAdministrator, placed_by_administrator};
pub(crate) use pinned::LockState;
pub(crate) use plan::{InstallManner, InstallPlan};
pub(crate) use plan_file::PlanFile;
pub(crate) use predecessor::OtherInstall;
#[cfg(all(test, unix))]
pub(crate) use record::CallRecord;
pub(crate) use record::{CallVerb, RecordedInstall};
pub(crate) use registered::{RegisteredHook, UnknownHooks, registered, words_of_hook};
pub(crate) use remembered::{Remembered, remembered};
pub(crate) use situation::Program;
use status::unfinished;
pub(crate) use status::{Drift, Status, is_installed, status, unfinished_in_state};
pub(crate) use steps::{Act, FileStep, PlanReport};
pub(crate) use target::Target;
pub(crate) use together::{Along, Together};
pub(crate) use undo::{PastCall, UndoAct, UndoPlan, past_calls, settle_history, unfinished_anywhere};

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::disk::{self, AbsolutePath, Digest, Disk, RealPaths, Snapshot};
use crate::emit::{self, Anchor, Artifact, EmitOptions, ProfileNote};
use crate::library::{CommandProfile, ItemKind, Library, Profiles};
use crate::runtime::{Purpose, Registry, Scope};
use crate::text::edit::JsonDialect;
use crate::text::json::JsonDocument;
use crate::world::World;
use adopted::Adopted;
use lock_file::LockedHost;
use manifest::{InstallOptions, Section};
use situation::InstallSituation;

/// What all installs of a call have in common.
#[derive(Debug)]
pub(crate) struct Installer<'a> {
    pub(crate) world: &'a World,
    pub(crate) disk: &'a Disk,
    pub(crate) registry: &'a Registry,
    pub(crate) library: &'a Library,
    pub(crate) program: Program,
    /// The version that is installed.
    pub(crate) version: String,
    /// Whether to configure hosts to run our program without asking; `None` keeps what the existing install has.
    pub(crate) permissions: Option<bool>,
    /// The prefixes of calls of our program that run without asking.
    pub(crate) unasked: Vec<String>,
    /// Whether commands are below routers; `None` keeps what the existing install has.
    pub(crate) nested: Option<bool>,
    /// Which commands are installed; `None` keeps what the existing install has.
    pub(crate) profile: Option<CommandProfile>,
    /// The profiles that can be named.
    pub(crate) profiles: Profiles,
    pub(crate) asked: AskedOptions,
    /// Whether only the plans that were shown may be made, and no new ones if something changed since.
    pub(crate) only_as_shown: bool,
}

/// What a call asks for; once asked for, later installs and updates keep it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AskedOptions {
    /// Replace the user's status line.
    pub(crate) status_line: bool,
    /// Hooks that fit every home.
    pub(crate) portable_hooks: bool,
    /// Leave installs of other programs in place.
    pub(crate) keeps_others: bool,
}

/// What to do with a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    Install,
    /// Like an install, but a person's edits of our files are kept.
    Update,
    Uninstall,
}

impl Wish {
    /// The verb on the command line.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Install => "install",
            Self::Update => "update",
            Self::Uninstall => "uninstall",
        }
    }

    /// Whether we are installed afterwards.
    pub(crate) fn installs(self) -> bool {
        self != Self::Uninstall
    }
}

impl Installer<'_> {
    /// Finishes what an earlier call left unfinished in the folders of the install. Returns those folders.
    pub(crate) fn settle(&self, target: &Target) -> Result<Vec<AbsolutePath>, InstallError> {
        let settled = self.settle_in(unfinished(target)?)?;
        // If this call has nothing to change, no later step does it. A history that cannot be written stops no install.
        let _ = settle_history(self.world, self.disk);
        Ok(settled)
    }

    fn settle_in(&self, unfinished: Vec<AbsolutePath>) -> Result<Vec<AbsolutePath>, InstallError> {
        if unfinished.is_empty() {
            return Ok(unfinished);
        }
        Ok(self.disk.hold(&unfinished)?.recovered().to_vec())
    }

    fn look_and_plan(&self, wish: Wish, target: &Target, seen: &mut Snapshot) -> Result<InstallPlan, InstallError> {
        let plan = self.plan_from(seen, wish, target)?;
        stays_in_project(target, &plan)?;
        Ok(plan)
    }

    /// Makes the plan from the snapshot, which afterwards contains everything that was looked at.
    fn plan_from(&self, seen: &mut Snapshot, wish: Wish, target: &Target) -> Result<InstallPlan, InstallError> {
        let neighbours = self.neighbours(target)?;
        let mut situation = InstallSituation::new(target, neighbours, self.program.clone(), std::mem::take(seen));
        let plan = self.plan_in(&mut situation, wish, target);
        *seen = situation.snapshot;
        plan
    }

    fn plan_in(
        &self,
        situation: &mut InstallSituation,
        wish: Wish,
        target: &Target,
    ) -> Result<InstallPlan, InstallError> {
        situation.open(target)?;
        for other in self.in_the_same_folder(target)? {
            situation.look_at_other(&other);
        }
        self.adopt(target, situation)?;
        let mut taken = None;
        if wish.installs() && !self.keeps_others(wish, situation.section(target)) {
            situation.look_for_predecessors(target)?;
            taken = self.profile_of_predecessor(situation);
        }
        let pin = if wish.installs() { self.pin(target)? } else { None };
        let options = self.options(wish, situation.section(target), (pin, taken.as_ref()));
        let manner = InstallManner { version: &self.version, options: &options, keeps_edits: wish == Wish::Update };
        let library = if wish.installs() {
            let part = self.profiles.within(&options.profile, self.library);
            part.map_err(|source| InstallError::Profile { source, flags: target.flags() })?
        } else {
            Cow::Borrowed(self.library)
        };
        let wanted =
            if wish.installs() { Some(self.wanted(&library, target, manner, &mut situation.snapshot)?) } else { None };
        situation.look(target, wanted.as_deref().unwrap_or_default())?;
        let roots = situation.roots(target)?;
        let plugin = if wish.installs() { status::has_plugin(target, &mut situation.snapshot) } else { Ok(false) };
        let mut plan = InstallPlan::between(wanted.as_deref(), target, situation, manner)?;
        (plan.roots, plan.plugin) = (roots, plugin);
        if wish.installs() {
            plan.left_out = library.left_out(ItemKind::Command).map(str::to_owned).collect();
            if let Some(taken) = taken
                && let Some(other) = plan.taken_over.iter_mut().find(|other| other.root == taken.root)
            {
                other.profile = Some((taken.text, taken.profile.is_some()));
            }
            self.add(target, &mut plan, &options, &mut situation.snapshot)?;
        }
        Ok(plan)
    }

    /// Whether installs of other programs stay. An update keeps what the install was asked to do.
    fn keeps_others(&self, wish: Wish, section: Option<&Section>) -> bool {
        let kept = wish == Wish::Update && section.is_some_and(|section| section.options.keeps_others);
        self.asked.keeps_others || kept
    }

    /// The options of the install: those that the call names, else those that the install has, else those of the lock
    /// of the project, else those of the program that it replaces.
    fn options(
        &self,
        wish: Wish,
        section: Option<&Section>,
        (pin, taken): (Option<LockedHost>, Option<&TakenProfile>),
    ) -> InstallOptions {
        let first = || {
            let taken = || (false, taken.and_then(|taken| taken.profile.clone()).unwrap_or_default());
            let (nested, profile) = pin.map_or_else(taken, |pin| (pin.nested, pin.profile));
            InstallOptions { nested, profile, ..InstallOptions::default() }
        };
        let had = section.map_or_else(first, |section| section.options.clone());
        InstallOptions {
            nested: self.nested.unwrap_or(had.nested),
            without_permissions: self.permissions.map_or(had.without_permissions, |wanted| !wanted),
            profile: self.profile.clone().unwrap_or(had.profile),
            replaces_status_line: self.asked.status_line || had.replaces_status_line,
            portable_hooks: self.asked.portable_hooks || had.portable_hooks,
            keeps_others: self.keeps_others(wish, section),
        }
    }

    /// The profile of the program that is replaced, unless this call or this install has one already. One with other
    /// names than ours is not kept.
    fn profile_of_predecessor(&self, situation: &mut InstallSituation) -> Option<TakenProfile> {
        if self.profile.is_some() {
            return None;
        }
        let roots: Vec<AbsolutePath> = situation.predecessors.iter().map(|other| other.root.clone()).collect();
        for root in roots {
            // A file that is not text names no profile.
            let text = situation.snapshot.read_text(&root.resolve(predecessor::PROFILE)).ok().flatten();
            let Some(profile) = text.as_deref().map(CommandProfile::read).filter(|profile| !profile.is_full()) else {
                continue;
            };
            let is_known = self.profiles.check(&profile, self.library).is_ok();
            return Some(TakenProfile { root, text: profile.to_string(), profile: is_known.then_some(profile) });
        }
        None
    }

    /// Records what an install adds to the host, from the host's facts.
    fn add(
        &self,
        target: &Target,
        plan: &mut InstallPlan,
        options: &InstallOptions,
        snapshot: &mut Snapshot,
    ) -> Result<(), InstallError> {
        let descriptor = &target.descriptor;
        let events = emit::hook_count(self.library, descriptor, target.scope);
        let gave_way = plan.steps.iter().filter(|step| step.act == Act::GiveWay).count();
        plan.adds.hooks = events.saturating_sub(gave_way);
        if !options.without_permissions {
            let is_one =
                |purpose: Purpose, scopes: &[Scope]| purpose == Purpose::Permissions && scopes.contains(&target.scope);
            let edits = descriptor.edits.iter().filter(|edit| is_one(edit.purpose, &edit.scopes));
            let edited = edits.filter_map(|edit| descriptor.files.get(&edit.file));
            let edited =
                edited.map(|file| file.path(target.scope, |path| snapshot.is_file(&target.root.resolve(path))));
            let own = descriptor.own_files.iter().filter(|file| is_one(file.purpose, &file.scopes));
            let files = edited.chain(own.map(|file| file.path.as_str())).map(|path| target.root.resolve(path));
            plan.adds.permissions = files.collect::<BTreeSet<_>>().into_iter().collect();
        }
        // Settings that do not parse are reported with our own plugin.
        plan.adds.other_plugins = predecessor::plugins(target, snapshot).unwrap_or_default();
        plan.adds.not_loaded = loadable::not_loaded_of(target, snapshot)?;
        plan.adds.other_scope = self.in_other_scope(target, snapshot);
        let can_be_set = events > 0 && descriptor.status_line.is_some();
        if plan.adds.status_line.is_none() && can_be_set && plan.adds.other_scope.is_none() {
            // It was left out of a project's settings, because the user's own settings have one; in a global install
            // that one is ours.
            plan.adds.status_line = Some(StatusLine::Kept);
        }
        if options.keeps_others {
            plan.adds.left_in_place = predecessor::others(target, snapshot).unwrap_or_default();
        }
        plan.adds.without_effect = self.without_effect(target, events);
        Ok(())
    }

    /// What the call asks for that this host does not have.
    fn without_effect(&self, target: &Target, events: usize) -> Vec<String> {
        let (descriptor, mut found) = (&target.descriptor, Vec::new());
        if self.asked.status_line && (events == 0 || descriptor.status_line.is_none()) {
            found.push("`--force-statusline` changes nothing: it has no status line that a setting chooses".to_owned());
        }
        let is_outside = target.scope == Scope::Global && target.root.relative_to(&target.user).is_none();
        if self.asked.portable_hooks {
            found.extend(match &descriptor.hooks {
                None => Some("`--portable-hooks` changes nothing: it has no hooks"),
                Some(hooks) if target.scope == Scope::Global && !hooks.shell => {
                    Some("`--portable-hooks` changes nothing: it runs hooks without a shell, so they need the whole path")
                }
                Some(_) if is_outside => {
                    Some("`--portable-hooks` changes nothing: its folder is not below your home")
                }
                Some(_) => None,
            }.map(str::to_owned));
        }
        found
    }

    /// The folder of this host's install in the other scope, if there is one. Errors are left to that install.
    fn in_other_scope(&self, target: &Target, snapshot: &mut Snapshot) -> Option<AbsolutePath> {
        let scope = match target.scope {
            Scope::Global => Scope::Local,
            Scope::Local => Scope::Global,
        };
        let other = Target::resolve(target.descriptor.clone(), scope, &target.project, None, self.world).ok()?;
        let manifest = vouch::read(&other, &other.root, snapshot).ok()?.manifest;
        (other.root != target.root && manifest.installs.contains_key(&other.section_key(&Anchor::Root)))
            .then_some(other.root)
    }

    /// The parts of an install that are certainly ours although no manifest lists it; `None` if it is listed or nothing
    /// was found.
    pub(crate) fn unlisted(&self, target: &Target) -> Result<Option<Unlisted>, InstallError> {
        let mut situation = InstallSituation::new(target, Vec::new(), self.program.clone(), Snapshot::default());
        situation.open(target)?;
        self.adopt(target, &mut situation)?;
        Ok(situation.adopted.and_then(|adopted| adopted.found(target)))
    }

    /// Looks for an install that no manifest lists, and treats it as ours.
    fn adopt(&self, target: &Target, situation: &mut InstallSituation) -> Result<(), InstallError> {
        if situation.is_listed(target)
            || predecessor::is_anothers(target, &mut situation.snapshot)?
            || !recognised::has_traces(target, &mut situation.snapshot)?
        {
            return Ok(());
        }
        let mut likeliest: Option<(usize, Adopted)> = None;
        // The profile is in a file among ours; without it, everything is looked for.
        let file = target.root.resolve(emit::CONTENT_FOLDER).resolve(emit::PROFILE_FILE);
        let names = situation.snapshot.read_text(&file).ok().flatten().unwrap_or_default();
        let profile = CommandProfile::read(names.lines().next().unwrap_or_default());
        let known = self.profiles.within(&profile, self.library);
        let (profile, library) = match known {
            Ok(library) => (profile, library),
            Err(_) => (CommandProfile::default(), Cow::Borrowed(self.library)),
        };
        for nested in [false, true] {
            let options = InstallOptions { nested, profile: profile.clone(), ..InstallOptions::default() };
            let emitted = self.emit_options(target, &options, true, &situation.snapshot);
            let artifacts = emit::emit_all(&library, &target.descriptor, target.scope, &emitted);
            let adopted = recognised::recognise(target, &artifacts, &options, situation)?;
            let files = adopted.found(target).map_or(0, |found| found.files);
            if likeliest.as_ref().is_none_or(|(most, _)| files > *most) {
                likeliest = Some((files, adopted));
            }
        }
        situation.adopted = likeliest.map(|(_, adopted)| adopted).filter(|adopted| adopted.found(target).is_some());
        Ok(())
    }

    /// The artifacts that should exist.
    fn wanted(
        &self,
        library: &Library,
        target: &Target,
        manner: InstallManner<'_>,
        snapshot: &mut Snapshot,
    ) -> Result<Vec<Artifact>, InstallError> {
        let status_line = target.scope == Scope::Global
            || manner.options.replaces_status_line
            || !self.has_own_status_line(target, snapshot)?;
        let options = self.emit_options(target, manner.options, status_line, snapshot);
        let mut artifacts = emit::emit_all(library, &target.descriptor, target.scope, &options);
        if manner.version != env!("CARGO_PKG_VERSION") {
            made_up::of_another_version(&mut artifacts, manner.version);
        }
        Ok(artifacts)
    }

    /// How the artifacts of an install are made.
    fn emit_options(
        &self,
        target: &Target,
        options: &InstallOptions,
        status_line: bool,
        snapshot: &Snapshot,
    ) -> EmitOptions {
        let existing = emit::alternatives(&target.descriptor);
        let note = ProfileNote { names: options.profile.to_string(), flags: target.flags().to_string() };
        EmitOptions {
            unasked: self.unasked.clone(),
            nested: options.nested,
            permissions: !options.without_permissions,
            status_line,
            existing: existing.filter(|path| snapshot.is_file(&target.root.resolve(path))).map(str::to_owned).collect(),
            profile: (!options.profile.is_full()).then_some(note),
            replaces_status_line: options.replaces_status_line,
            portable_hooks: options.portable_hooks,
            ..EmitOptions::new(&target.home, &self.version)
        }
    }

    /// True if the user's own settings have a status line, which a project's would override.
    fn has_own_status_line(&self, target: &Target, snapshot: &mut Snapshot) -> Result<bool, InstallError> {
        let Some(line) = &target.descriptor.status_line else { return Ok(false) };
        let Some(file) = target.descriptor.files.get(&line.file) else { return Ok(false) };
        let global = Target::resolve(target.descriptor.clone(), Scope::Global, &target.project, None, self.world)?;
        let path = file.path(Scope::Global, |path| snapshot.is_file(&global.root.resolve(path)));
        let Some(text) = snapshot.read_text(&global.root.resolve(path))? else { return Ok(false) };
        // A file that does not parse is reported by the global install; here it counts as empty.
        let document = JsonDocument::parse(&text, JsonDialect::CommentsAndTrailingCommas);
        Ok(document.is_ok_and(|document| document.value(&line.path).is_some()))
    }

    /// The other hosts whose folders are below the same folder of the home: the last uninstall also removes the folders
    /// above them that our installs made.
    fn in_the_same_folder(&self, target: &Target) -> Result<Vec<Target>, InstallError> {
        let first_folder = |root: &AbsolutePath| {
            let below = root.relative_to(&target.user)?.to_string();
            below.split('/').next().map(str::to_owned)
        };
        let ours = first_folder(&target.root).filter(|_| target.scope == Scope::Global);
        let Some(ours) = ours else { return Ok(Vec::new()) };
        let others = self.registry.all()?.into_iter().filter(|other| other.id != target.descriptor.id);
        // A host whose folder cannot be determined is not in this one.
        let others = others
            .filter_map(|other| Target::resolve(other, Scope::Global, &target.project, None, self.world).ok())
            .filter(|other| first_folder(&other.root).as_ref() == Some(&ours));
        Ok(others.collect())
    }

    /// The folders of the other hosts in the project of a local install.
    fn neighbours(&self, target: &Target) -> Result<Vec<AbsolutePath>, InstallError> {
        let mut folders = Vec::new();
        if target.scope == Scope::Local {
            for descriptor in self.registry.all()? {
                if let Some(local) = descriptor.home.local.folder() {
                    folders.push(disk::canonical(&target.project.resolve(local))?);
                }
            }
        }
        folders.retain(|folder| *folder != target.root);
        folders.sort();
        folders.dedup();
        Ok(folders)
    }
}

/// The layout and the profile of an install that the user made; `None` if there is none.
pub(crate) fn shape_of(target: &Target) -> Result<Option<(bool, CommandProfile)>, InstallError> {
    let manifest = vouch::read(target, &target.root, &mut Snapshot::default())?.manifest;
    let section = manifest.installs.get(&target.section_key(&Anchor::Root));
    Ok(section.map(|section| (section.options.nested, section.options.profile.clone())))
}

/// The profile of a program that is replaced.
#[derive(Debug)]
struct TakenProfile {
    root: AbsolutePath,
    /// Its names.
    text: String,
    /// The profile of this program with the same names; `None` if they are unknown.
    profile: Option<CommandProfile>,
}

/// The installs of other programs for this host and scope.
pub(crate) fn others(target: &Target) -> Result<Vec<OtherInstall>, InstallError> {
    predecessor::others(target, &mut Snapshot::default())
}

/// The installs of other programs that are in none of our hosts' folders.
pub(crate) fn others_apart(target: &Target) -> Result<Vec<OtherInstall>, InstallError> {
    predecessor::apart(target, &mut Snapshot::default())
}

/// True if [`Installer::unlisted`] may find something.
pub(crate) fn has_traces(target: &Target) -> Result<bool, InstallError> {
    recognised::has_traces(target, &mut Snapshot::default())
}

/// Refuses links to the outside: a link that came with the project may lead into the user's own folders.
fn stays_in_project(target: &Target, plan: &InstallPlan) -> Result<(), InstallError> {
    if target.scope == Scope::Local {
        let mut places = RealPaths::default();
        for change in plan.changes.iter().filter(|change| change.path().is_within(&target.project)) {
            places.stay_within(change.path(), &target.project)?;
        }
    }
    Ok(())
}

/// The folder for the user's state.
fn state(world: &World) -> Result<AbsolutePath, InstallError> {
    let folder = world.state_folder().ok_or(InstallError::NoHome)?;
    Ok(disk::canonical(&AbsolutePath::parse(folder)?)?)
}

impl Program {
    /// The running program, with its links resolved.
    pub(crate) fn running(world: &World) -> Result<Self, InstallError> {
        let path = disk::real(&AbsolutePath::parse(world.executable()?)?)?;
        let digest = Digest::of_file(&path)?.ok_or_else(|| InstallError::NoProgram { path: path.clone() })?;
        Ok(Self { path: path.as_path().to_path_buf(), digest })
    }
}
