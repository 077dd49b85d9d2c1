//! Features of the loop: which there are, what holds of them, and turning them on and off.
//!
//! Whether a feature is shown is told in a file of the host's; which of its work a project wants, in the project's
//! configuration. Most features are part of this program; users install more from folders. There is nothing to fetch.

use crate::acts::hosts;
use crate::acts::program;
use crate::acts::writing::{Beside, Target, Writes};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::installed::{self, lifecycle, trust};
use crate::commands::frame::{Context, verbs};
use crate::disk::{self, AbsolutePath, DiskError};
use crate::failure::{Failure, Reason};
use crate::library::Library;
use crate::operations::capability::features::Features;
use crate::operations::capability::hooks::{self, PointReport, Reference};
use crate::operations::capability::state::{self, HostRow, StateReport};
use crate::operations::capability::surface::{self, Surface};
use crate::operations::capability::{Capability, FeatureScope};
use crate::operations::documents::configuration;
use crate::project::config::Config;
use crate::runtime::{Home, Scope, Surroundings};
use crate::text::nearest::nearest;

verbs! {
    "Features";
    groups { "capability": "List, install, enable and disable the features that add work to the loop"; "capability trust": "List and remove the trust in installed features"; }

    /// Install a feature from a folder
    ///
    /// Shows what the feature adds to the loop and asks for consent; without a terminal, `--yes` consents. Copies the folder
    /// (without `.git`) to `~/.gsd/capabilities`, or to `.planning/capabilities` with `--scope project`. Programs of a
    /// feature are never run. Agents cannot install features. Nothing is downloaded.
    ///
    /// Example: `gsd-tools capability install ./demo --dry-run`.
    "capability install": acts json(lifecycle::InstallReport) = lifecycle::install(lifecycle::InstallArgs);

    /// Update an installed feature from the folder it was installed from
    ///
    /// Asks for consent again if anything changed. Features of this program change with a newer gsd-tools.
    ///
    /// Example: `gsd-tools capability update --all`.
    "capability update": acts json(lifecycle::InstallReport, lifecycle::UpdatedReport) = lifecycle::update(lifecycle::UpdateArgs);

    /// Remove an installed feature
    ///
    /// Removes the files that are as they were installed. Files that were changed or added stay and are named.
    ///
    /// Example: `gsd-tools capability remove demo --dry-run`.
    "capability remove": acts json(lifecycle::RemoveReport) = lifecycle::remove(lifecycle::RemoveArgs);

    /// List features and hosts
    ///
    /// Installed features that are not used are listed with the reason and what to do about it.
    ///
    /// Example: `gsd-tools capability list --pick [0].id`.
    "capability list": reads json(Vec<state::CapabilityRow>) = list(ListArgs);

    /// List installed features and the versions in their source folders
    ///
    /// Example: `gsd-tools capability outdated --json`.
    "capability outdated": reads json(Vec<trust::OutdatedRow>, String) = trust::outdated(trust::InstalledArgs);

    /// List the installed features that you trust
    ///
    /// Trust is stored on this computer, and covers exactly the files that you consented to.
    ///
    /// Example: `gsd-tools capability trust list`.
    "capability trust list": reads json(Vec<trust::TrustRow>) = trust::list(trust::InstalledArgs);

    /// Remove the trust in an installed feature
    ///
    /// Its files stay, and nothing of them is used until you install it again.
    ///
    /// Example: `gsd-tools capability trust revoke demo`.
    "capability trust revoke": acts json(trust::RevokeReport) = trust::revoke(trust::RevokeArgs);

    /// Disable a feature: hide its workflows and skip its work in the loop
    ///
    /// Writes `.gsd-surface.json` in the config directory of the host. With `--raw`, prints the state of all features.
    ///
    /// Example: `gsd-tools capability disable ui`.
    "capability disable": writes [asked] json(state::SetReport<'static>, state::ChangedReport) = disable(TurnArgs);

    /// Enable a feature that was disabled
    ///
    /// Writes `.gsd-surface.json` in the config directory of the host. With `--raw`, prints the state of all features.
    ///
    /// Example: `gsd-tools capability enable ui`.
    "capability enable": writes [asked] json(state::SetReport<'static>, state::ChangedReport) = enable(TurnArgs);

    /// Show which features are enabled, and their work in the loop
    ///
    /// Example: `gsd-tools capability state --pick capabilities[0].active`.
    "capability state": reads json(StateReport) = tell_state(HostFlags);

    /// Enable or disable a feature, or parts of its work
    ///
    /// `--on` and `--off` write `.gsd-surface.json` in the config directory of the host; `--gate` writes the project's
    /// configuration.
    ///
    /// Example: `gsd-tools capability set ui --on --gate workflow.ui_review=false`.
    "capability set": writes [asked] json(state::SetReport<'static>, state::ChangedReport) = set_with_gates(SetArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Only features that are installed here; those of this program are everywhere
    #[arg(long, value_enum)]
    scope: Option<FeatureScope>,
    #[command(flatten)]
    host: HostFlags,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TurnArgs {
    /// The feature, such as `ui`
    feature: String,
    #[command(flatten)]
    host: HostFlags,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SetArgs {
    /// The feature, such as `ui`
    feature: String,
    /// Enable the feature: show its workflows
    #[arg(long, alias = "enable", conflicts_with = "off")]
    on: bool,
    /// Disable the feature: hide its workflows and skip its work
    #[arg(long, alias = "disable")]
    off: bool,
    /// Switch a part of its work on or off, such as `workflow.ui_review=false`; can be repeated
    #[arg(long, value_name = "KEY=BOOL")]
    gate: Vec<Gate>,
    #[command(flatten)]
    host: HostFlags,
}

/// Which host a call is about.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct HostFlags {
    /// Use this config directory of the host instead of the default
    #[arg(long)]
    config_dir: Option<String>,
    /// The host (default: the one that runs this call)
    #[arg(long)]
    runtime: Option<String>,
}

/// A switch of a feature's work as a person types it.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    key: String,
    on: bool,
}

impl FromStr for Gate {
    type Err = String;

    fn from_str(typed: &str) -> Result<Self, String> {
        match typed.split_once('=') {
            Some((key, value)) if !key.is_empty() => match value.parse() {
                Ok(on) => Ok(Self { key: key.to_owned(), on }),
                Err(_) => Err("the value has to be `true` or `false`".to_owned()),
            },
            _ => Err("write it as `KEY=true` or `KEY=false`".to_owned()),
        }
    }
}

fn disable(context: &mut Context, arguments: &TurnArgs) -> Result<(), Failure> {
    set(context, &arguments.feature, Some(false), &[], &arguments.host)
}

fn enable(context: &mut Context, arguments: &TurnArgs) -> Result<(), Failure> {
    set(context, &arguments.feature, Some(true), &[], &arguments.host)
}

fn set_with_gates(context: &mut Context, arguments: &SetArgs) -> Result<(), Failure> {
    let turn = (arguments.on || arguments.off).then_some(arguments.on);
    let gates: Vec<(String, bool)> = arguments.gate.iter().map(|Gate { key, on }| (key.clone(), *on)).collect();
    set(context, &arguments.feature, turn, &gates, &arguments.host)
}

/// What is wanted at a point of the loop.
pub(in crate::commands) fn at<'a>(
    context: &Context,
    point: &str,
    features: &'a Features,
    host: &HostFlags,
) -> Result<PointReport<'a>, Failure> {
    let library = Library::embedded()?;
    let has = |reference: Reference<'_>| match reference {
        Reference::Command(path) => context.verbs().iter().any(|verb| verb.command == path),
        Reference::Skill(_) | Reference::Agent(_) => lifecycle::is_ours(&library, reference),
    };
    let config = features.settled(context.config()?);
    Ok(hooks::at(point, features, &config, &seen(context, host)?, has, &program::word_of(context)))
}

fn list(context: &mut Context, arguments: &ListArgs) -> Result<(), Failure> {
    let features = installed::features(context)?;
    let mut rows =
        state::rows(&features, &seen(context, &arguments.host)?, &hosts(context)?, env!("CARGO_PKG_VERSION"));
    if let Some(scope) = arguments.scope {
        rows.retain(|row| row.is_in(scope));
    }
    context.emit(&rows)
}

fn tell_state(context: &mut Context, host: &HostFlags) -> Result<(), Failure> {
    let features = installed::features(context)?;
    let config = features.settled(context.config()?);
    let report = StateReport {
        runtime_config_dir: folder(context, host)?.map(|folder| folder.to_string_lossy().into_owned()),
        capabilities: state::states(&features, &config, &seen(context, host)?, &hosts(context)?),
    };
    context.emit(&report)
}

/// The hosts this program can be installed to.
fn hosts(context: &Context) -> Result<Vec<HostRow>, Failure> {
    let descriptors = context.registry()?.all()?;
    let row =
        |descriptor: crate::runtime::Descriptor| HostRow { id: descriptor.id.to_string(), title: descriptor.name };
    Ok(descriptors.into_iter().map(row).collect())
}

fn set(
    context: &mut Context,
    id: &str,
    turn: Option<bool>,
    gates: &[(String, bool)],
    host: &HostFlags,
) -> Result<(), Failure> {
    let features = installed::features(context)?;
    let capability = match asked(&features, id, turn, gates) {
        Ok(capability) => capability,
        // A script that asks for all that holds gets it, with what was refused.
        Err(refused) if context.raw() => {
            let errors = vec![refused.message.clone()];
            context.warn(refused.message);
            context.exit_with(1);
            let config = context.config()?.clone();
            return tell_all(context, &features, &config, &seen(context, host)?, Vec::new(), errors);
        }
        Err(refused) => return Err(refused),
    };
    let folder = folder(context, host)?;
    let target = turn.map(|on| SurfaceFile::of(folder.as_deref()).map(|file| (file, on))).transpose()?;
    let turned = target.map(|(file, on)| file.turned(capability, on)).transpose()?.flatten();
    let config = context.config()?.with_switches(gates);
    let shown = match &turned {
        None => seen(context, host)?,
        Some(change) => Surface::parse(&change.after).map_err(|error| unusable(&change.file.path, &error))?,
    };
    let beside = turned.map(|SurfaceChange { file: SurfaceFile { path, text }, after }| Beside {
        path,
        before: text,
        after: Some(after),
    });
    let folder = beside.as_ref().and_then(|file| file.path.parent());
    context.write(Target::Beside(folder), |view| {
        let edits = configuration::switch(view, gates)?;
        Ok(((), Writes { edits, beside: beside.into_iter().collect() }))
    })?;
    let report = state::after(capability, &features.settled(&config), &shown, turn == Some(true));
    for warning in &report.warnings {
        context.warn(warning);
    }
    if context.raw() {
        let warnings = report.warnings;
        return tell_all(context, &features, &config, &shown, warnings, Vec::new());
    }
    context.emit(&report)
}

/// Answers with what holds of every feature after a change.
fn tell_all(
    context: &mut Context,
    features: &Features,
    config: &Config,
    shown: &Surface,
    warnings: Vec<String>,
    errors: Vec<String>,
) -> Result<(), Failure> {
    let capabilities = state::states(features, &features.settled(config), shown, &hosts(context)?);
    context.emit(&state::ChangedReport { capabilities, warnings, errors })
}

/// The feature, if it can be changed in this way.
fn asked<'a>(
    features: &'a Features,
    id: &str,
    turn: Option<bool>,
    gates: &[(String, bool)],
) -> Result<&'a Capability, Failure> {
    let capability = known(features, id)?;
    if turn == Some(false) && capability.skills.is_empty() && capability.installed.is_none() {
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

/// The folder of the host; none for a host of which we know nothing.
fn folder(context: &Context, flags: &HostFlags) -> Result<Option<PathBuf>, Failure> {
    let found = flags.runtime.as_deref().map(|name| hosts::host_named(context, name)).transpose()?;
    let descriptor = match &found {
        Some(descriptor) => Some(descriptor),
        None => context.host()?.descriptor.as_ref(),
    };
    let user = context.world().home();
    match (descriptor, user, &flags.config_dir) {
        (Some(descriptor), Some(user), chosen) => {
            let environment = |name: &str| context.world().variable(name);
            let project = context.here().as_path();
            let surroundings =
                Surroundings { environment: &environment, user: &user, project, chosen: chosen.as_deref() };
            Ok(Some(Home::resolve(descriptor, Scope::Global, surroundings)?.root))
        }
        (_, _, Some(chosen)) => Ok(Some(context.here().resolve(chosen).as_path().to_path_buf())),
        _ => Ok(None),
    }
}

/// What the host shows. A file that is not understood is told, and hides nothing.
fn seen(context: &Context, host: &HostFlags) -> Result<Surface, Failure> {
    let Some(file) = folder(context, host)?.map(|folder| folder.join(surface::FILE)) else {
        return Ok(Surface::default());
    };
    match disk::read_text(&file)?.as_deref().map(Surface::parse) {
        None => Ok(Surface::default()),
        Some(Ok(surface)) => Ok(surface),
        Some(Err(error)) => {
            context.warn(format!("ignored `{}`: {error}", file.display()));
            Ok(Surface::default())
        }
    }
}

/// The file in which a host is told what to show, as it is read before it is written.
#[derive(Debug)]
struct SurfaceFile {
    path: AbsolutePath,
    text: Option<String>,
}

/// A new text of the file.
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

    /// The file after a feature was turned on or off; none where it is so already.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_is_a_key_and_a_switch() {
        let gate: Gate = "workflow.ui_phase=false".parse().unwrap();
        assert_eq!((gate.key.as_str(), gate.on), ("workflow.ui_phase", false));
        for wrong in ["", "a", "=true", "a=1", "a=", "a=TRUE"] {
            assert!(wrong.parse::<Gate>().is_err(), "{wrong}");
        }
    }
}
