//! Features of the loop: lists them with their state, and enables or disables them.
//!
//! A file of the host records whether a feature is shown; the project's configuration records which parts of its work
//! are wanted. Most features are part of this program; users install more from folders. Nothing is downloaded.

use std::str::FromStr;

use super::installed;
use crate::acts::features::features;
use crate::acts::features::shown::{self, HostChoice, Turn};
use crate::failure::Failure;
use crate::frame::named::HostFlags;
use crate::frame::{Context, verbs};
use crate::operations::capability::FeatureScope;
use crate::operations::capability::features::Features;
use crate::operations::capability::state;
use crate::operations::capability::surface::FeatureSurface;
use crate::project::config::Config;

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
    "capability install": acts json(crate::acts::features::lifecycle::InstallReport) = installed::install(installed::InstallArgs);

    /// Update an installed feature from the folder it was installed from
    ///
    /// Asks for consent again if anything changed. Features of this program change with a newer gsd-tools.
    ///
    /// Example: `gsd-tools capability update --all`.
    "capability update": acts json(crate::acts::features::lifecycle::InstallReport, crate::acts::features::lifecycle::UpdatedReport) = installed::update(installed::UpdateArgs);

    /// Remove an installed feature
    ///
    /// Removes the files that are as they were installed. Files that were changed or added stay and are named.
    ///
    /// Example: `gsd-tools capability remove demo --dry-run`.
    "capability remove": acts json(crate::acts::features::lifecycle::RemoveReport) = installed::remove(installed::RemoveArgs);

    /// List features and hosts
    ///
    /// Installed features that are not used are listed with the reason and what to do about it.
    ///
    /// Example: `gsd-tools capability list --pick [0].id`.
    "capability list": reads json(Vec<state::CapabilityRow>) = list(CapabilityListArgs);

    /// List installed features and the versions in their source folders
    ///
    /// Example: `gsd-tools capability outdated --json`.
    "capability outdated": reads json(Vec<crate::acts::features::trust::OutdatedRow>, String) = installed::outdated(installed::InstalledArgs);

    /// List the installed features that you trust
    ///
    /// Trust is stored on this computer, and covers exactly the files that you consented to.
    ///
    /// Example: `gsd-tools capability trust list`.
    "capability trust list": reads json(Vec<crate::acts::features::trust::TrustRow>) = installed::list(installed::InstalledArgs);

    /// Remove the trust in an installed feature
    ///
    /// Its files stay, and nothing of them is used until you install it again.
    ///
    /// Example: `gsd-tools capability trust revoke demo`.
    "capability trust revoke": acts json(crate::acts::features::trust::RevokeReport) = installed::revoke(installed::RevokeArgs);

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
    "capability state": reads json(state::StateReport) = tell_state(HostFlags);

    /// Enable or disable a feature, or parts of its work
    ///
    /// `--on` and `--off` write `.gsd-surface.json` in the config directory of the host; `--gate` writes the project's
    /// configuration.
    ///
    /// Example: `gsd-tools capability set ui --on --gate workflow.ui_review=false`.
    "capability set": writes [asked] json(state::SetReport<'static>, state::ChangedReport) = set_with_gates(SetArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct CapabilityListArgs {
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
    gate: Vec<GateSwitch>,
    #[command(flatten)]
    host: HostFlags,
}

/// A switch of a feature's work as a person types it.
#[derive(Clone, Debug)]
pub(crate) struct GateSwitch {
    key: String,
    on: bool,
}

impl FromStr for GateSwitch {
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
    set(context, &arguments.feature, Turn { on: Some(false), gates: &[] }, arguments.host.choice())
}

fn enable(context: &mut Context, arguments: &TurnArgs) -> Result<(), Failure> {
    set(context, &arguments.feature, Turn { on: Some(true), gates: &[] }, arguments.host.choice())
}

fn set_with_gates(context: &mut Context, arguments: &SetArgs) -> Result<(), Failure> {
    let on = (arguments.on || arguments.off).then_some(arguments.on);
    let gates: Vec<(String, bool)> = arguments.gate.iter().map(|GateSwitch { key, on }| (key.clone(), *on)).collect();
    set(context, &arguments.feature, Turn { on, gates: &gates }, arguments.host.choice())
}

fn list(context: &mut Context, arguments: &CapabilityListArgs) -> Result<(), Failure> {
    let features = features(context)?;
    let seen = shown::seen(context, arguments.host.choice())?;
    let mut rows = state::rows(&features, &seen, &shown::host_rows(context)?, env!("CARGO_PKG_VERSION"));
    if let Some(scope) = arguments.scope {
        rows.retain(|row| row.is_in(scope));
    }
    context.emit(&rows)
}

fn tell_state(context: &mut Context, host: &HostFlags) -> Result<(), Failure> {
    context.emit(&shown::state(context, host.choice())?)
}

fn set(context: &mut Context, id: &str, turn: Turn<'_>, host: HostChoice<'_>) -> Result<(), Failure> {
    let features = features(context)?;
    let capability = match shown::asked(&features, id, turn) {
        Ok(capability) => capability,
        // A script that asks for the complete state gets it, with the refusals.
        Err(refused) if context.raw() => {
            let errors = vec![refused.message.clone()];
            context.warn(refused.message);
            context.exit_with(1);
            let config = context.config()?.clone();
            return tell_all(context, &features, &config, &shown::seen(context, host)?, Vec::new(), errors);
        }
        Err(refused) => return Err(refused),
    };
    let (report, config, shown) = shown::set(context, capability, turn, &features, host)?;
    if context.raw() {
        return tell_all(context, &features, &config, &shown, report.warnings, Vec::new());
    }
    context.emit(&report)
}

/// Answers with the state of every feature after a change.
fn tell_all(
    context: &mut Context,
    features: &Features,
    config: &Config,
    shown: &FeatureSurface,
    warnings: Vec<String>,
    errors: Vec<String>,
) -> Result<(), Failure> {
    let capabilities = state::states(features, &features.settled(config), shown, &shown::host_rows(context)?);
    context.emit(&state::ChangedReport { capabilities, warnings, errors })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_is_a_key_and_a_switch() {
        let gate: GateSwitch = "workflow.ui_phase=false".parse().unwrap();
        assert_eq!((gate.key.as_str(), gate.on), ("workflow.ui_phase", false));
        for wrong in ["", "a", "=true", "a=1", "a=", "a=TRUE"] {
            assert!(wrong.parse::<GateSwitch>().is_err(), "{wrong}");
        }
    }
}
