//! Which features a host shows, their state, and turning them on and off.
//!
//! Whether a feature is shown is in a file of the host; which parts of its work a project wants is in the project's
//! configuration.

use std::path::{Path, PathBuf};

use super::{features, lifecycle};
use crate::acts::writing::{Beside, Target, Writes};
use crate::acts::{Call, hosts, program};
use crate::disk::{self, AbsolutePath, DiskError};
use crate::failure::{Failure, Reason};
use crate::library::Library;
use crate::operations::capability::features::Features;
use crate::operations::capability::hooks::{self, PointReport, Reference};
use crate::operations::capability::state::{self, HostRow, SetReport, StateReport};
use crate::operations::capability::surface::{self, FeatureSurface};
use crate::operations::capability::{Capability, POINTS};
use crate::operations::documents::configuration;
use crate::project::config::Config;
use crate::runtime::{Home, Scope, Surroundings};
use crate::text::nearest::nearest;

/// The host of a call; without a name, the one that runs the call.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HostChoice<'a> {
    pub(crate) config_dir: Option<&'a str>,
    pub(crate) runtime: Option<&'a str>,
}

/// Whether to turn a feature on or off, and the switches of its work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn<'a> {
    pub(crate) on: Option<bool>,
    pub(crate) gates: &'a [(String, bool)],
}

/// The state of every feature here.
pub(crate) fn state(call: &Call, host: HostChoice<'_>) -> Result<StateReport, Failure> {
    let features = features(call)?;
    let config = features.settled(call.config()?);
    Ok(StateReport {
        runtime_config_dir: folder(call, host)?.map(|folder| folder.to_string_lossy().into_owned()),
        capabilities: state::states(&features, &config, &seen(call, host)?, &host_rows(call)?),
    })
}

/// Turns a feature on or off, and switches parts of its work. Also returns the configuration and what the host shows
/// afterwards.
pub(crate) fn set<'a>(
    call: &Call,
    capability: &'a Capability,
    Turn { on, gates }: Turn<'_>,
    features: &Features,
    host: HostChoice<'_>,
) -> Result<(SetReport<'a>, Config, FeatureSurface), Failure> {
    let folder = folder(call, host)?;
    let target = on.map(|on| SurfaceFile::of(folder.as_deref()).map(|file| (file, on))).transpose()?;
    let turned = target.map(|(file, on)| file.turned(capability, on)).transpose()?.flatten();
    let config = call.config()?.with_switches(gates);
    let shown = match &turned {
        None => seen(call, host)?,
        Some(change) => FeatureSurface::parse(&change.after).map_err(|error| unusable(&change.file.path, &error))?,
    };
    let beside = turned.map(|SurfaceChange { file: SurfaceFile { path, text }, after }| Beside {
        path,
        before: text,
        after: Some(after),
    });
    let folder = beside.as_ref().and_then(|file| file.path.parent());
    call.write(Target::Beside(folder), |view| {
        let edits = configuration::switch(view, gates)?;
        Ok(((), Writes { edits, beside: beside.into_iter().collect() }))
    })?;
    let report = state::after(capability, &features.settled(&config), &shown, on == Some(true));
    for warning in &report.warnings {
        call.warn(warning);
    }
    Ok((report, config, shown))
}

/// The features that are active at a point of the loop.
pub(crate) fn at<'a>(
    call: &Call,
    point: &str,
    features: &'a Features,
    host: HostChoice<'_>,
) -> Result<PointReport<'a>, Failure> {
    let library = Library::embedded()?;
    let has = |reference: Reference<'_>| match reference {
        Reference::Command(path) => call.verbs().iter().any(|verb| verb.command == path),
        Reference::Skill(_) | Reference::Agent(_) => lifecycle::is_ours(&library, reference),
    };
    let config = features.settled(call.config()?);
    Ok(hooks::at(point, features, &config, &seen(call, host)?, has, &program::word_of(call)))
}

/// The hosts that this program can be installed to.
pub(crate) fn host_rows(call: &Call) -> Result<Vec<HostRow>, Failure> {
    let descriptors = call.registry()?.all()?;
    let row =
        |descriptor: crate::runtime::Descriptor| HostRow { id: descriptor.id.to_string(), title: descriptor.name };
    Ok(descriptors.into_iter().map(row).collect())
}

/// The feature, if it can be changed in this way.
pub(crate) fn asked<'a>(
    features: &'a Features,
    id: &str,
    Turn { on, gates }: Turn<'_>,
) -> Result<&'a Capability, Failure> {
    let capability = known(features, id)?;
    if on == Some(false) && capability.skills.is_empty() && capability.installed.is_none() {
        let refused = Failure::usage(format!("`{id}` has no workflows to hide"));
        return Err(refused.hint(gates_hint(capability)));
    }
    match gates.iter().find(|(key, _)| !capability.gates().contains(&key.as_str())) {
        Some((key, _)) => Err(Failure::usage(format!("`{id}` has no gate `{key}`")).hint(gates_hint(capability))),
        None => Ok(capability),
    }
}

fn known<'a>(features: &'a Features, id: &str) -> Result<&'a Capability, Failure> {
    if let Some(capability) = features.find(id) {
        return Ok(capability);
    }
    if let Some(inert) = features.inert().find(|inert| inert.id == id) {
        let refused = Failure::usage(format!("the feature `{id}` is {}: {}", inert.status.word(), inert.reason));
        return Err(inert.cure.iter().fold(refused, Failure::hint));
    }
    let unknown = Failure::usage(format!("unknown feature `{id}`"));
    Err(match nearest(id, features.all().iter().map(|capability| capability.id.as_str())) {
        Some(near) => unknown.hint(format!("did you mean `{near}`?")),
        None => unknown.hint("`gsd-tools capability list` lists the features"),
    })
}

fn gates_hint(capability: &Capability) -> String {
    let gates = capability.gates();
    if gates.is_empty() {
        return "it has no gates either, so it cannot be disabled".to_owned();
    }
    format!("its gates are {}; set one with `--gate KEY=false`", gates.join(", "))
}

/// The folder of the host; `None` for an unknown host.
pub(crate) fn folder(call: &Call, flags: HostChoice<'_>) -> Result<Option<PathBuf>, Failure> {
    let found = flags.runtime.map(|name| hosts::host_named(call, name)).transpose()?;
    let descriptor = match &found {
        Some(descriptor) => Some(descriptor),
        None => call.host()?.descriptor.as_ref(),
    };
    let user = call.world().home();
    match (descriptor, user, flags.config_dir) {
        (Some(descriptor), Some(user), chosen) => {
            let environment = |name: &str| call.world().variable(name);
            let project = call.here().as_path();
            let surroundings = Surroundings { environment: &environment, user: &user, project, chosen };
            Ok(Some(Home::resolve(descriptor, Scope::Global, surroundings)?.root))
        }
        (_, _, Some(chosen)) => Ok(Some(call.here().resolve(chosen).as_path().to_path_buf())),
        _ => Ok(None),
    }
}

/// What the host shows. An invalid file is reported, and hides nothing.
pub(crate) fn seen(call: &Call, host: HostChoice<'_>) -> Result<FeatureSurface, Failure> {
    let Some(file) = folder(call, host)?.map(|folder| folder.join(surface::FILE)) else {
        return Ok(FeatureSurface::default());
    };
    match disk::read_text(&file)?.as_deref().map(FeatureSurface::parse) {
        None => Ok(FeatureSurface::default()),
        Some(Ok(surface)) => Ok(surface),
        Some(Err(error)) => {
            call.warn(format!("ignored `{}`: {error}", file.display()));
            Ok(FeatureSurface::default())
        }
    }
}

/// The file that decides what a host shows, as it is read before it is written.
#[derive(Debug)]
struct SurfaceFile {
    path: AbsolutePath,
    text: Option<String>,
}

/// A new text for the file.
#[derive(Debug)]
struct SurfaceChange {
    file: SurfaceFile,
    after: String,
}

impl SurfaceFile {
    fn of(folder: Option<&Path>) -> Result<Self, Failure> {
        let Some(folder) = folder else {
            let refused = Failure::new(Reason::Usage, "the config directory of this host is unknown");
            return Err(refused.hint("set it with `--config-dir`, or choose a host with `--runtime`"));
        };
        let path = AbsolutePath::parse(folder.join(surface::FILE)).map_err(DiskError::from)?;
        let text = disk::read_text(&path)?;
        Ok(Self { path, text })
    }

    /// The file after a feature was turned on or off; `None` if nothing changes.
    fn turned(self, capability: &Capability, on: bool) -> Result<Option<SurfaceChange>, Failure> {
        let after = surface::turned(self.text.as_deref(), capability, on);
        let after = after.map_err(|error| unusable(&self.path, &error))?;
        Ok(after.map(|after| SurfaceChange { file: self, after }))
    }
}

fn unusable(path: &AbsolutePath, why: &str) -> Failure {
    Failure::new(Reason::ConfigParseFailed, format!("cannot edit `{path}`: {why}"))
        .hint("correct the file, then run the command again; it was not changed")
}

/// The point of the loop that a word names.
pub(crate) fn point(typed: &str) -> Result<&'static str, Failure> {
    POINTS.iter().find(|point| **point == typed).copied().ok_or_else(|| {
        let unknown = Failure::usage(format!("unknown point `{typed}` of the loop"));
        unknown.hint(format!("use one of {}", POINTS.join(", ")))
    })
}
