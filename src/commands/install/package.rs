//! `package`: builds a plugin for a host that people can distribute.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

use crate::disk::{self, AbsolutePath, Access, Change, ChangeSet, DiskError, Hold, Owner, RelativePath};
use crate::emit::{self, Contents};
use crate::failure::Failure;
use crate::frame::Context;
use crate::install::{InstallError, Program};
use crate::library::Library;
use crate::text::shell::typed;

/// A plugin of a host, written into a folder.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct PackageArgs {
    /// The host; `--claude-plugin FOLDER` is short for `--host claude FOLDER`
    #[arg(long, value_name = "NAME")]
    host: String,
    /// The folder to write to; must be empty or not exist
    folder: String,
    /// Show what would be written without writing it
    #[arg(long)]
    dry_run: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
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

#[derive(Debug, Serialize, JsonSchema)]
struct LeftOut {
    what: &'static str,
    why: String,
}

pub(super) fn package(context: &mut Context, arguments: &PackageArgs) -> Result<(), Failure> {
    let registry = context.registry()?;
    let descriptor = registry.find(&arguments.host).map_err(InstallError::from)?;
    let library = Library::embedded().map_err(InstallError::from)?;
    let artifacts = emit::package(&library, &descriptor, env!("CARGO_PKG_VERSION"));
    let (Some(artifacts), Some(form)) = (artifacts, &descriptor.plugin) else {
        let error = Failure::usage(format!("no form of plugins is known for {}", descriptor.name));
        return Err(error
            .hint(format!("`{}` installs for it", typed!("gsd-tools install --{}", descriptor.id)))
            .exits(2));
    };
    let folder = context.here().resolve(&arguments.folder);
    let folder = disk::canonical(&folder).map_err(failed)?;
    if disk::list(&folder).map_err(failed)?.is_some_and(|entries| !entries.is_empty()) {
        return Err(Failure::usage(format!("the folder `{folder}` is not empty")).hint("name another one").exits(73));
    }
    let program = Program::running(context.world())?;
    let mut changes = ChangeSet::default();
    let mut files = Vec::new();
    for artifact in artifacts {
        let path = folder.join(&RelativePath::parse(&artifact.path).map_err(InstallError::Content)?);
        files.push(artifact.path);
        changes.push(match artifact.contents {
            Contents::Whole(text) => {
                let (access, owner) = (Access::Usual, Owner::User);
                Change::WriteFile { path, bytes: text.into_bytes(), access, owner, before: None }
            }
            Contents::Binary | Contents::Shared(_) => {
                Change::LinkProgram { path, source: program.path.clone(), digest: program.digest, before: None }
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
    let report = PackageReport {
        runtime: descriptor.id.to_string(),
        folder: folder.to_string(),
        dry_run: arguments.dry_run,
        files,
        left_out: form.lacks.iter().map(|lack| LeftOut { what: lack.what.word(), why: lack.why.clone() }).collect(),
        load: form.load.iter().map(|line| line.replace("{folder}", &folder.to_string())).collect(),
    };
    if arguments.json {
        return context.emit(&report);
    }
    context.text(report.text(&descriptor.name, &folder));
    Ok(())
}

impl PackageReport {
    fn text(&self, name: &str, folder: &AbsolutePath) -> String {
        let count = self.files.len();
        let wrote = if self.dry_run { "would be written" } else { "written" };
        let mut text = format!("A plugin for {name}: {count} files {wrote} to {folder}\n");
        for LeftOut { what, why } in &self.left_out {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  left out: {what}, because {why}");
        }
        for line in &self.load {
            let _ = writeln!(text, "  to load it: {line}");
        }
        text
    }
}

fn failed(error: DiskError) -> Failure {
    InstallError::from(error).into()
}
