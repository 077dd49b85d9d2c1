//! `package`: builds a plugin for a host that people can distribute.

use schemars::JsonSchema;
use serde::Serialize;

use crate::disk::{self, AbsolutePath, Access, Change, ChangeSet, DiskError, FileBytes, Hold, Owner, RelativePath};
use crate::emit::{self, Contents};
use crate::failure::Failure;
use crate::frame::Context;
use crate::install::{InstallError, Program};
use crate::library::Library;
use crate::runtime::Lack;
use crate::text::screen::{Screen, counted};
use crate::text::shell::typed;

/// The most bytes of a program that is packaged.
const LARGEST_PROGRAM: u64 = 1 << 30;

/// A plugin of a host, written into a folder.
#[derive(Clone, Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("whose").args(["host", "managed"]).required(true).multiple(true)))]
pub(crate) struct PackageArgs {
    /// The host; `--claude-plugin FOLDER` is short for `--host claude FOLDER`
    #[arg(long, value_name = "NAME")]
    pub(super) host: Option<String>,
    /// Write what an administrator places for everyone on a computer, for the hosts in `gsd-tools.lock`
    #[arg(long)]
    pub(super) managed: bool,
    /// The folder to write to; must be empty or not exist
    pub(super) folder: String,
    /// Show what would be written without writing it
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// The result of `package`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct PackageReport {
    runtime: String,
    folder: String,
    dry_run: bool,
    /// Relative to the folder.
    files: Vec<String>,
    /// Parts of an install that the plugin lacks.
    left_out: Vec<LeftOut>,
    /// The commands or steps with which a person loads it.
    load: Vec<String>,
}

/// A feature of an install that is missing.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct LeftOut {
    what: &'static str,
    why: String,
}

impl LeftOut {
    pub(super) fn of(lacks: &[Lack]) -> Vec<Self> {
        lacks.iter().map(|lack| Self { what: lack.what.word(), why: lack.why.clone() }).collect()
    }

    pub(super) fn line(&self) -> String {
        format!("left out: {}, because {}", self.what, self.why)
    }
}

/// The contents of a file in a package.
#[derive(Debug)]
pub(super) enum PackagedFile {
    Text(String),
    /// This program.
    Program,
}

pub(super) fn package(context: &mut Context, arguments: &PackageArgs) -> Result<(), Failure> {
    let registry = context.registry()?;
    let descriptor = registry.find(arguments.host.as_deref().unwrap_or_default()).map_err(InstallError::from)?;
    let library = Library::embedded().map_err(InstallError::from)?;
    let artifacts = emit::package(&library, &descriptor, env!("CARGO_PKG_VERSION"));
    let (Some(artifacts), Some(form)) = (artifacts, &descriptor.plugin) else {
        let error = Failure::usage(format!("no form of plugins is known for {}", descriptor.name));
        return Err(error
            .hint(format!("`{}` installs for it", typed!("gsd-tools install --{}", descriptor.id)))
            .exits(2));
    };
    let files = artifacts.into_iter().map(|artifact| {
        let contents = match artifact.contents {
            Contents::Whole(text) => PackagedFile::Text(text),
            Contents::Binary | Contents::Shared(_) => PackagedFile::Program,
        };
        (artifact.path, contents)
    });
    let (folder, files) = write(context, arguments, files.collect())?;
    let report = PackageReport {
        runtime: descriptor.id.to_string(),
        folder: folder.to_string(),
        dry_run: arguments.dry_run,
        files,
        left_out: LeftOut::of(&form.lacks),
        load: form.load.iter().map(|line| line.replace("{folder}", &folder.to_string())).collect(),
    };
    if arguments.json {
        return context.emit(&report);
    }
    let text = report.text(&descriptor.name, &folder, context.page());
    context.text(text);
    Ok(())
}

/// Writes the files, below the folder of the call, which must be empty or not exist; in a dry run, only checks that. Returns
/// the folder, and the paths of the files.
pub(super) fn write(
    context: &Context,
    arguments: &PackageArgs,
    files: Vec<(String, PackagedFile)>,
) -> Result<(AbsolutePath, Vec<String>), Failure> {
    let folder = context.here().resolve(&arguments.folder);
    let folder = disk::canonical(&folder).map_err(failed)?;
    if disk::list(&folder).map_err(failed)?.is_some_and(|entries| !entries.is_empty()) {
        return Err(Failure::usage(format!("the folder `{folder}` is not empty")).hint("name another one").exits(73));
    }
    let program = Program::running(context.world())?;
    let image = disk::read_up_to(&program.path, LARGEST_PROGRAM).map_err(failed)?;
    let path = AbsolutePath::parse(&program.path).map_err(InstallError::from)?;
    let image = FileBytes::from(image.ok_or(InstallError::NoProgram { path })?);
    let mut changes = ChangeSet::default();
    let mut paths = Vec::new();
    for (file, contents) in files {
        let path = folder.join(&RelativePath::parse(&file).map_err(InstallError::Content)?);
        paths.push(file);
        changes.push(match contents {
            PackagedFile::Text(text) => {
                // For every user, whatever the umask says.
                let (access, owner) = (Access::Exactly(0o644), Owner::User);
                Change::WriteFile { path, bytes: text.into(), access, owner, before: None }
            }
            PackagedFile::Program => {
                // A link would share owner and mode with the program that runs, and breaks between file systems.
                let (bytes, access, owner) = (image.clone(), Access::Exactly(0o755), Owner::User);
                Change::WriteFile { path, bytes, access, owner, before: None }
            }
        });
    }
    if !arguments.dry_run {
        let write = |_: &mut Hold<'_>, wanted: &mut ChangeSet| {
            *wanted = changes;
            Ok(())
        };
        context.disk().transact([&folder], write).map_err(failed)?;
    }
    Ok((folder, paths))
}

impl PackageReport {
    fn text(&self, name: &str, folder: &AbsolutePath, screen: Screen) -> String {
        let files = counted(self.files.len(), "file");
        let wrote = if self.dry_run { "would be written" } else { "written" };
        let mut text = screen.prose("", "  ", &format!("A plugin for {name}: {files} {wrote} to {folder}"));
        for left_out in &self.left_out {
            text += &screen.prose("  ", "    ", &left_out.line());
        }
        for line in &self.load {
            text += &screen.prose("  ", "    ", &format!("to load it: {line}"));
        }
        text
    }
}

fn failed(error: DiskError) -> Failure {
    InstallError::from(error).into()
}
