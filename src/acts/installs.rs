//! Installs and their updates: which one counts here, the newest version, and the user's files among the installed ones.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::research::packages;
use super::{Call, files, hosts};
use crate::disk::{self, AbsolutePath, ChangeSet};
use crate::failure::Failure;
use crate::hooks::{self, KnownVersions};
use crate::install::{self, Target, custom};
use crate::library::{FeatureParts, Profiles};
use crate::operations::capability::{self, Capability, Hook, Role};
use crate::runtime::{Descriptor, Scope};
use crate::text::shell::typed;

/// What of the user's files can be restored in a host's folder, and with `apply` restores it.
pub(crate) fn restore_custom_files(call: &Call, folder: &str, apply: bool) -> Result<custom::Restoration, Failure> {
    let folder = self::folder(call, folder)?;
    if !apply {
        return Ok(custom::look(&folder, &mut ChangeSet::default())?);
    }
    Ok(match files::change(call, &[&folder], |changes| Ok(custom::look(&folder, changes)?)) {
        Ok(report) if call.is_rehearsal() => report,
        Ok(report) => report.applied(),
        // A file that cannot be written does not stop the others.
        Err(_) => {
            let mut report = custom::look(&folder, &mut ChangeSet::default())?;
            for path in report.eligible() {
                let alone = files::change(call, &[&folder], |changes| Ok(custom::bring_back(&folder, &path, changes)?));
                if let Err(error) = &alone {
                    call.warn(format!("`{path}` was not restored: {}", error.message));
                }
                report.settle(&path, alone.err().map(|error| error.message), call.is_rehearsal());
            }
            report
        }
    })
}

/// The profiles of installs that can be named: those of the library, and the features of this program.
pub(crate) fn profiles() -> Profiles {
    let parts = |feature: &Capability| FeatureParts {
        id: feature.id.clone(),
        commands: feature.skills.clone(),
        steps: feature.hooks.iter().flat_map(steps_of).collect(),
    };
    Profiles::new(capability::all().iter().filter(|feature| feature.role == Role::Feature).map(parts).collect())
}

/// The texts that do the work of a hook, each with the point of the loop.
fn steps_of(hook: &Hook) -> Vec<(String, String)> {
    let (workflows, agent) = hook.leads_to();
    let workflows = workflows.into_iter().map(|name| format!("workflows/{name}.md"));
    let agent = agent.and_then(|name| Some(format!("agents/{}.md", name.strip_prefix("gsd-")?)));
    workflows.chain(agent).map(|path| (hook.point.clone(), path)).collect()
}

/// A host's folder that a call names.
pub(crate) fn folder(call: &Call, typed: &str) -> Result<AbsolutePath, Failure> {
    let folder = call.here().resolve(typed);
    call.project().boundary()?.check(&folder)?;
    if disk::is_folder(&folder) {
        return Ok(disk::canonical(&folder)?);
    }
    Err(Failure::usage(format!("there is no folder `{folder}`"))
        .hint("`gsd-tools status` lists the folders of installed hosts"))
}

/// True if git ignores this path in the repository around `folder`; false without a repository.
pub(crate) fn is_ignored(call: &Call, folder: &AbsolutePath, path: &str) -> bool {
    let asked = call.world().git(folder.as_path(), ["check-ignore", "-q", "--", path]);
    asked.is_ok_and(|finished| finished.success())
}

/// How the running program was installed, and how it is updated.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ProgramOrigin {
    by: OriginKind,
    path: String,
    /// The command that updates it; `None` if the file has to be replaced by hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    update: Option<String>,
}

/// What installed the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum OriginKind {
    Npm,
    Cargo,
    Homebrew,
    /// The copy of an install: updated from the program that made it.
    Install,
    File,
}

impl std::fmt::Display for ProgramOrigin {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let by = match self.by {
            OriginKind::Npm => "npm",
            OriginKind::Cargo => "cargo",
            OriginKind::Homebrew => "Homebrew",
            OriginKind::Install => {
                return write!(
                    formatter,
                    "This is the copy of an install ({}): run `gsd-tools update` with a newer program to update it",
                    self.path
                );
            }
            OriginKind::File => {
                return write!(formatter, "To update the program, replace {} with a newer one", self.path);
            }
        };
        let update = self.update.as_deref().unwrap_or_default();
        write!(formatter, "The program came by {by}: update it with `{update}`")
    }
}

/// Determines how the running program was installed, from its path and the notes of cargo.
pub(crate) fn origin(call: &Call) -> Result<ProgramOrigin, Failure> {
    let path = disk::real(&AbsolutePath::parse(call.world().executable()?)?)?;
    let names: Vec<String> =
        path.as_path().components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
    let after = |name: &str| {
        let at = names.iter().position(|part| part == name)?;
        names.get(at + 1).map(|next| (at, next.clone()))
    };
    let origin = |by, update: Option<String>| ProgramOrigin { by, path: path.to_string(), update };
    if let Some((at, package)) = after("node_modules") {
        let package = match names.get(at + 2) {
            Some(name) if package.starts_with('@') => format!("{package}/{name}"),
            _ => package,
        };
        // The packages with the program for one machine come with the main package.
        let own = env!("CARGO_PKG_NAME");
        let package = if package.starts_with(&format!("@{own}/")) { own.to_owned() } else { package };
        let latest = format!("{package}@latest");
        let above = at.checked_sub(1).and_then(|above| names.get(above)).map(String::as_str);
        let update = match above {
            _ if names.iter().any(|name| name == "_npx") => typed!("npx {}", latest),
            Some("lib" | "npm") => typed!("npm install -g {}", latest),
            _ => typed!("npm install {}", latest),
        };
        return Ok(origin(OriginKind::Npm, Some(update.to_string())));
    }
    if let Some((_, formula)) = after("Cellar") {
        return Ok(origin(OriginKind::Homebrew, Some(typed!("brew upgrade {}", formula).to_string())));
    }
    let folder = path.parent();
    if folder.as_ref().is_some_and(|folder| folder.as_path().ends_with(INSTALLED_IN)) {
        return Ok(origin(OriginKind::Install, None));
    }
    if let Some(cargo) = folder.and_then(|bin| bin.parent())
        && let Some(update) = by_cargo(&cargo)?
    {
        return Ok(origin(OriginKind::Cargo, Some(update)));
    }
    Ok(origin(OriginKind::File, None))
}

/// The folder of the program in an install, below the host's folder.
const INSTALLED_IN: &str = "gsd-core/bin";

/// The command that installs the program again as cargo did, from its notes in this folder.
fn by_cargo(cargo: &AbsolutePath) -> Result<Option<String>, Failure> {
    let Some(text) = disk::read_text(cargo.resolve(".crates.toml"))? else { return Ok(None) };
    // `"NAME VERSION (SOURCE)" = ["PROGRAM", ...]`
    let own = format!("\"{}\"", env!("CARGO_PKG_NAME"));
    let line = text.lines().find(|line| line.split_once('=').is_some_and(|(_, programs)| programs.contains(&own)));
    let Some(source) = line.and_then(|line| line.split_once('(')?.1.split_once(')')).map(|(source, _)| source) else {
        return Ok(None);
    };
    let name = env!("CARGO_PKG_NAME");
    let update = if let Some(url) = source.strip_prefix("git+") {
        let url = url.split(['?', '#']).next().unwrap_or(url);
        typed!("cargo install --git {}", url)
    } else if let Some(path) = source.strip_prefix("path+file://") {
        typed!("cargo install --path {}", path.split('#').next().unwrap_or(path))
    } else {
        typed!("cargo install {}", name)
    };
    Ok(Some(update.to_string()))
}

/// The result of `update-check`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct UpdateReport {
    installed: &'static str,
    latest: String,
    /// Whether the newest version is newer than this program.
    update_available: bool,
}

/// Asks for the newest version, and notes it for the hooks.
pub(crate) fn update_check(call: &Call) -> Result<UpdateReport, Failure> {
    let world = call.world();
    let Some(name) = hooks::published_as(world) else {
        return Err(Failure::usage("there is no published package to look for yet")
            .hint("`gsd-tools update --check` shows how this program is updated"));
    };
    let mut known = KnownVersions::recall(world);
    // Recorded in any case: a server that does not answer is not asked at every start of a session.
    known.looked_at = world.now().milliseconds();
    known.leave(world);
    let registry = packages::npm_registry(world, None)?;
    let page = format!("{}/{}/latest", registry.trim_end_matches('/'), name);
    let response = world.fetch(&page, &[("Accept", "application/json")])?;
    let told: Option<Latest> = serde_json::from_slice(&response.body).ok();
    let Some(Latest { version }) = told.filter(|_| response.status == 200) else {
        return Err(no_version(&page, response.status));
    };
    known.latest = Some(version.clone());
    known.leave(world);
    let update_available = known.newer().is_some();
    Ok(UpdateReport { installed: env!("CARGO_PKG_VERSION"), latest: version, update_available })
}

/// Why the registry has no newest version.
fn no_version(page: &str, status: u16) -> Failure {
    match status {
        404 => Failure::usage(format!("`{}` is not published on npm (`{page}`)", env!("CARGO_PKG_NAME")))
            .hint("update it the way you installed it, such as from its git repository"),
        200 => Failure::usage(format!("`{page}` has no version")).hint("try again later, or check the registry"),
        status => Failure::usage(format!("`{page}` answered with status {status}"))
            .hint("try again later, or check the registry"),
    }
}

/// The newest version of a package, as a registry reports it.
#[derive(Debug, Deserialize)]
struct Latest {
    version: String,
}

/// The answer of `update-context`, on one line.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InstallationReport {
    /// `0.0.0` if nothing is installed.
    installed_version: String,
    /// `LOCAL`, `GLOBAL` or `UNKNOWN`.
    scope: &'static str,
    /// The host; empty if nothing is installed.
    runtime: String,
    /// The folder of the host with the installation.
    gsd_dir: String,
}

/// The installation in one folder: that of the first host that has one there.
fn of_folder(
    call: &Call,
    descriptors: &[Descriptor],
    folder: &AbsolutePath,
    named: Option<&str>,
) -> InstallationReport {
    let is_local = folder.is_within(call.root());
    let scope = if is_local { "LOCAL" } else { "GLOBAL" };
    let chosen = folder.to_string();
    let installed = descriptors.iter().find_map(|descriptor| {
        let target = Target::resolve(descriptor.clone(), Scope::Global, call.root(), Some(&chosen), call.world());
        let version = install::status(&target.ok()?).ok()?.version?;
        Some((version, descriptor.id.to_string()))
    });
    let of_named = descriptors.first().filter(|_| named.is_some()).map(|descriptor| descriptor.id.to_string());
    let (installed_version, runtime) = installed.unwrap_or_else(|| ("0.0.0".to_owned(), of_named.unwrap_or_default()));
    InstallationReport { installed_version, scope, runtime, gsd_dir: chosen }
}

/// The installation that applies here: the project's before the user's, the host of the call before the others.
pub(crate) fn update_context(
    call: &Call,
    folder: Option<&str>,
    host: Option<&str>,
) -> Result<InstallationReport, Failure> {
    let mut descriptors = call.registry()?.all()?;
    let named = host.filter(|name| !name.trim().is_empty());
    let only = named.map(|name| hosts::host_if_known(call, name)).transpose()?.flatten();
    if let Some(name) = named {
        descriptors.retain(|descriptor| only.as_ref().is_some_and(|only| only.id == descriptor.id));
        if only.is_none() {
            call.warn(format!("unknown host `{name}`"));
        }
    }
    let own = call.host()?.id.clone();
    descriptors.sort_by_key(|descriptor| descriptor.id.as_str() != own);
    let nothing = InstallationReport {
        installed_version: "0.0.0".to_owned(),
        scope: "UNKNOWN",
        runtime: String::new(),
        gsd_dir: String::new(),
    };
    if let Some(folder) = folder {
        let folder = call.here().resolve(folder);
        return Ok(if disk::is_folder(&folder) { of_folder(call, &descriptors, &folder, named) } else { nothing });
    }
    for (scope, word) in [(Scope::Local, "LOCAL"), (Scope::Global, "GLOBAL")] {
        for descriptor in &descriptors {
            // A place that cannot be resolved, or whose manifest is unreadable, contains nothing to update.
            let target = Target::resolve(descriptor.clone(), scope, call.root(), None, call.world());
            let Ok(target) = target else { continue };
            let status = install::status(&target);
            if let Ok(Some(version)) = status.map(|status| status.version) {
                return Ok(InstallationReport {
                    installed_version: version,
                    scope: word,
                    runtime: descriptor.id.to_string(),
                    gsd_dir: target.root.to_string(),
                });
            }
        }
    }
    Ok(nothing)
}
