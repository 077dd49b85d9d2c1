//! `package --managed`: what an administrator places for everyone on a computer.

use schemars::JsonSchema;
use serde::Serialize;

use super::job::installer;
use super::package::{LeftOut, PackageArgs, PackagedFile, write};
use crate::acts::project;
use crate::failure::Failure;
use crate::frame::Context;
use crate::install::lock_file::{self, LockFile};
use crate::install::{InstallError, LockState, ManagedContents, Target};
use crate::library::{CommandProfile, Library};
use crate::runtime::{Descriptor, Scope};
use crate::text::screen::{Screen, counted};
use crate::text::shell::typed;

/// The result of `package --managed`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct ManagedReport {
    folder: String,
    dry_run: bool,
    /// The version of the program in it.
    version: String,
    hosts: Vec<ManagedHost>,
    /// Where the files belong on each computer: absolute. Each is at the same path below the folder.
    places: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ManagedHost {
    runtime: String,
    #[serde(skip)]
    name: String,
    /// The folder of our program, and of commands and agents if the host reads them there; absent if nothing can be placed
    /// for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    root: Option<String>,
    /// Places at which the host has one file only: if a computer has it already, merge the two.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    merge: Vec<String>,
    /// Parts of an install that cannot be placed.
    left_out: Vec<LeftOut>,
}

/// Writes the files of the hosts in the lock, or of the one in the call, below a folder that stands for the root of a computer.
pub(super) fn package(context: &mut Context, arguments: &PackageArgs) -> Result<(), Failure> {
    let registry = context.registry()?.clone();
    let library = Library::embedded().map_err(InstallError::from)?;
    let disk = context.disk();
    let installer = installer(context, &disk, &registry, &library)?;
    let mut files = Vec::new();
    let (mut hosts, mut places) = (Vec::new(), Vec::new());
    for (descriptor, nested, profile) in asked(context, arguments, &installer)? {
        let Some(form) = &descriptor.managed else {
            hosts.push(ManagedHost::without(&descriptor));
            continue;
        };
        let made = installer.managed(&descriptor, form, (nested, &profile))?;
        hosts.push(ManagedHost {
            runtime: descriptor.id.to_string(),
            name: descriptor.name.clone(),
            root: Some(form.root.here().to_owned()),
            merge: made.iter().filter(|file| file.shared).map(|file| file.place.clone()).collect(),
            left_out: LeftOut::of(&form.lacks),
        });
        for file in made {
            let contents = match file.what {
                ManagedContents::Text(text) => PackagedFile::Text(text),
                ManagedContents::Program => PackagedFile::Program,
            };
            // `C:/x` is `C/x` below the folder.
            files.push((file.place.trim_start_matches('/').replace(':', ""), contents));
            places.push(file.place);
        }
    }
    if files.is_empty() {
        let names: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
        let error = Failure::usage(format!("no places of managed settings are known for {}", names.join(", ")));
        return Err(error.hint("`gsd-tools install` installs for each user").exits(2));
    }
    let (folder, _) = write(context, arguments, files)?;
    let report = ManagedReport {
        folder: folder.to_string(),
        dry_run: arguments.dry_run,
        version: installer.version.clone(),
        hosts,
        places,
    };
    if arguments.json || context.is_rehearsal() {
        return context.emit(&report);
    }
    let text = report.text(context.page(), &arguments.folder);
    context.text(text);
    Ok(())
}

/// The hosts of the call, each with its layout and its profile: as the lock pins them.
fn asked(
    context: &Context,
    arguments: &PackageArgs,
    installer: &crate::install::Installer<'_>,
) -> Result<Vec<(Descriptor, bool, CommandProfile)>, Failure> {
    let folder = project::install_folder(context);
    let find = |name: &str| installer.registry.find(name).map_err(InstallError::from);
    let lock = LockFile::read(&folder)?;
    let Some(lock) = lock else {
        let Some(name) = &arguments.host else {
            return Err(Failure::usage(format!("there is no `{}` in `{folder}`", lock_file::NAME))
                .hint("pin a version with `gsd-tools lock`, or name a host with `--host`")
                .exits(2));
        };
        return Ok(vec![(find(name)?, false, CommandProfile::default())]);
    };
    lock.must_be_for(&installer.version)?;
    let mut hosts = Vec::new();
    for (name, pin) in &lock.hosts {
        let descriptor = find(name)?;
        if arguments.host.as_deref().is_some_and(|asked| find(asked).is_ok_and(|asked| asked.id != descriptor.id)) {
            continue;
        }
        let target = Target::resolve(descriptor.clone(), Scope::Local, &folder, None, context.world())?;
        if installer.compare(&target, pin)? == LockState::OtherBuild {
            let what = format!("another build of version {} made `{}`", lock.version, lock_file::NAME);
            return Err(Failure::usage(what).hint("use that one, or pin this one with `gsd-tools lock`").exits(78));
        }
        hosts.push((descriptor, pin.nested, pin.profile.clone()));
    }
    if let Some(name) = arguments.host.as_deref().filter(|_| hosts.is_empty()) {
        let what = format!("`{}` does not pin {}", lock_file::NAME, find(name)?.name);
        let install = typed!("gsd-tools install --{} --local", find(name)?.id);
        return Err(Failure::usage(what).hint(format!("run `{install}`, then `gsd-tools lock`")).exits(2));
    }
    Ok(hosts)
}

impl ManagedHost {
    fn without(descriptor: &Descriptor) -> Self {
        Self {
            runtime: descriptor.id.to_string(),
            name: descriptor.name.clone(),
            root: None,
            merge: Vec::new(),
            left_out: Vec::new(),
        }
    }
}

impl ManagedReport {
    /// `folder` as the person named it.
    fn text(&self, screen: Screen, folder: &str) -> String {
        let version = &self.version;
        let wrote = if self.dry_run { "would be written" } else { "written" };
        let files = counted(self.places.len(), "file");
        let mut text =
            screen.prose("", "  ", &format!("Managed settings of version {version}: {files} {wrote} to {folder}"));
        for host in &self.hosts {
            let place = match &host.root {
                Some(root) => format!("{}: below {root}", host.name),
                None => format!("{}: nothing, because no places of managed settings are known", host.name),
            };
            text += &screen.prose("  ", "    ", &place);
            for place in &host.merge {
                text += &screen.prose("    ", "      ", &format!("merge {place} if a computer has it already"));
            }
            for left_out in &host.left_out {
                text += &screen.prose("    ", "      ", &left_out.line());
            }
        }
        let place = "to place it: copy what is in the folder to / on each computer, owned by root";
        text + &screen.prose("  ", "    ", place)
    }
}
