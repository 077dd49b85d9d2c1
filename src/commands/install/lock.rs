//! `lock` and `status --check`: one version and one content for all who clone a project.

use schemars::JsonSchema;
use serde::Serialize;

use super::Which;
use super::job::{example, installer};
use crate::acts::{files, installs, project};
use crate::disk::Digest;
use crate::failure::Failure;
use crate::frame::Context;
use crate::install::lock_file::{self, LockFile};
use crate::install::{self, InstallError, LockState, Target};
use crate::library::Library;
use crate::runtime::Scope;
use crate::text::screen::{Mark, Screen, counted};
use crate::text::shell::typed;

/// How many files that differ are named for a person.
const NAMED: usize = 5;

#[derive(Clone, Debug, clap::Args)]
pub(super) struct LockArgs {
    /// Show what would be written without writing it
    #[arg(long)]
    dry_run: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// The result of `lock`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct LockReport {
    file: String,
    /// The version that is pinned.
    version: String,
    /// The version that was pinned before.
    #[serde(skip_serializing_if = "Option::is_none")]
    from_version: Option<String>,
    hosts: Vec<String>,
    /// Whether the file was changed, or would be.
    changed: bool,
}

/// The result of `status --check`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct LockCheckReport {
    /// The version that the lock pins.
    pinned: String,
    /// The version of this program.
    version: String,
    hosts: Vec<CheckedHost>,
    /// Whether everything is as the lock says.
    passed: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct CheckedHost {
    runtime: String,
    state: CheckedState,
    /// The files that differ or are missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum CheckedState {
    Same,
    Differs,
    /// No file is there.
    Missing,
    /// No file is there, and git ignores the place: everyone installs it.
    Ignored,
    /// This program makes other files than the pinned ones, with the same version.
    OtherBuild,
    /// Another version of the program is needed to compare.
    NotCompared,
}

impl CheckedHost {
    fn passes(&self) -> bool {
        matches!(self.state, CheckedState::Same | CheckedState::Ignored)
    }
}

/// Writes the lock: for the hosts that are installed in this project, else for those in the lock that is there.
pub(super) fn lock(context: &mut Context, arguments: &LockArgs) -> Result<(), Failure> {
    let folder = project::install_folder(context);
    let before = LockFile::read(&folder)?;
    let registry = context.registry()?.clone();
    let library = Library::embedded().map_err(InstallError::from)?;
    let disk = context.disk();
    let mut targets = Vec::new();
    for host in registry.all().map_err(InstallError::from)? {
        let Ok(target) = Target::resolve(host, Scope::Local, &folder, None, context.world()) else { continue };
        let pinned = before.as_ref().and_then(|lock| lock.hosts.get(target.descriptor.id.as_str()));
        let pinned = pinned.map(|pinned| (pinned.nested, pinned.profile.clone()));
        if let Some(shape) = install::shape_of(&target)?.or(pinned) {
            targets.push((target, shape));
        }
    }
    if targets.is_empty() {
        let hosts = registry.all().map_err(InstallError::from)?;
        let example = typed!("gsd-tools install --{} --local", example(&hosts));
        return Err(Failure::usage("nothing is installed in this project, so there is nothing to pin")
            .hint(format!("install first, such as with `{example}`")));
    }
    let lock = installer(context, &disk, &registry, &library)?.lock(targets)?;
    let path = folder.resolve(lock_file::NAME);
    let (text, changed) = (lock.to_text(), before.as_ref() != Some(&lock));
    if changed && !arguments.dry_run {
        files::change(context, &[&folder], |changes| {
            changes.write(path.clone(), text, Digest::of_file(&path)?);
            Ok(())
        })?;
    }
    let report = LockReport {
        file: lock_file::NAME.to_owned(),
        from_version: before.map(|before| before.version).filter(|before| *before != lock.version),
        version: lock.version,
        hosts: lock.hosts.into_keys().collect(),
        changed,
    };
    if arguments.json || context.is_rehearsal() {
        return context.emit(&report);
    }
    let done = match (changed, arguments.dry_run) {
        (false, _) => "already pins",
        (true, true) => "would pin",
        (true, false) => "pins",
    };
    let hosts = report.hosts.join(", ");
    let what = format!("{} {done} version {} for {hosts}. Commit it.", report.file, report.version);
    let text = context.page().prose("", "", &what);
    context.text(text);
    Ok(())
}

/// Compares the project with its lock, for CI.
pub(super) fn check(context: &mut Context, which: &Which) -> Result<(), Failure> {
    let folder = project::install_folder(context);
    let Some(lock) = LockFile::read(&folder)? else {
        return Err(Failure::usage(format!("there is no `{}` in `{folder}`", lock_file::NAME))
            .hint("write one with `gsd-tools lock`, and commit it")
            .exits(2));
    };
    let registry = context.registry()?.clone();
    let library = Library::embedded().map_err(InstallError::from)?;
    let disk = context.disk();
    let installer = installer(context, &disk, &registry, &library)?;
    let is_version = lock.must_be_for(&installer.version).is_ok();
    let mut hosts = Vec::new();
    for (runtime, pin) in &lock.hosts {
        let host = registry.find(runtime).map_err(InstallError::from)?;
        let target = Target::resolve(host, Scope::Local, &folder, None, context.world())?;
        let (state, files) = if is_version {
            match installer.compare(&target, pin)? {
                LockState::Same => (CheckedState::Same, Vec::new()),
                LockState::Differs(files) => (CheckedState::Differs, files),
                LockState::OtherBuild => (CheckedState::OtherBuild, Vec::new()),
                LockState::Absent => {
                    let place = target.root.resolve("gsd-core/VERSION");
                    let is_ignored = installs::is_ignored(context, &folder, &place.to_string());
                    (if is_ignored { CheckedState::Ignored } else { CheckedState::Missing }, Vec::new())
                }
            }
        } else {
            (CheckedState::NotCompared, Vec::new())
        };
        hosts.push(CheckedHost { runtime: runtime.clone(), state, files });
    }
    let passed = is_version && hosts.iter().all(CheckedHost::passes);
    let report = LockCheckReport { pinned: lock.version, version: installer.version.clone(), hosts, passed };
    context.exit_with(u8::from(!passed));
    if which.json {
        return context.emit(&report);
    }
    let screen = context.page();
    context.text(screen.commands(&report.text(screen)));
    Ok(())
}

impl LockCheckReport {
    fn text(&self, screen: Screen) -> String {
        let mut text = String::new();
        if self.pinned != self.version {
            let what = format!(
                "{} pins version {}, and this program is {}: use {}, or pin this one with `gsd-tools lock`",
                lock_file::NAME,
                self.pinned,
                self.version,
                self.pinned
            );
            text += &screen.item("", Mark::Failed, &what);
        }
        for host in &self.hosts {
            let (mark, what) = match host.state {
                CheckedState::Same => (Mark::Done, "as pinned".to_owned()),
                CheckedState::Ignored => (Mark::Open, "ignored by git: everyone installs it".to_owned()),
                CheckedState::Missing => {
                    let what = "missing, and git does not ignore it: `gsd-tools install --local` writes it";
                    (Mark::Failed, what.to_owned())
                }
                CheckedState::Differs => {
                    let count = counted(host.files.len(), "file");
                    let cure = "`gsd-tools install --local` restores what is pinned";
                    (Mark::Failed, format!("{count} not as pinned; {cure}"))
                }
                CheckedState::OtherBuild => {
                    let what = "another build of this version made the lock: use that one, or run `gsd-tools lock`";
                    (Mark::Failed, what.to_owned())
                }
                CheckedState::NotCompared => (Mark::Open, "not compared".to_owned()),
            };
            text += &screen.item("", mark, &format!("{}: {what}", host.runtime));
            for file in host.files.iter().take(NAMED) {
                text += &screen.prose("    ", "    ", file);
            }
            if let Some(more) = host.files.len().checked_sub(NAMED).filter(|more| *more > 0) {
                text += &screen.prose("    ", "    ", &format!("and {more} more"));
            }
        }
        text
    }
}
