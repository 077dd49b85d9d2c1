//! Installs, updates and removes features that users bring, and manages the trust in them.

use crate::acts::features::lifecycle;
use crate::acts::features::trust::{self, OutdatedRow};
use crate::failure::{Failure, Reason};
use crate::frame::Context;
use crate::operations::capability::FeatureScope;

#[derive(Debug, clap::Args)]
pub(crate) struct InstallArgs {
    /// The folder with the feature's `capability.json`
    folder: String,
    /// For all your projects, or for this one
    #[arg(long, value_enum, default_value = "global")]
    scope: FeatureScope,
    /// Consent to what the feature adds, without being asked
    #[arg(long)]
    yes: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct UpdateArgs {
    /// The feature, such as `demo`
    #[arg(conflicts_with = "all")]
    feature: Option<String>,
    /// Update all installed features
    #[arg(long)]
    all: bool,
    /// Where they are installed
    #[arg(long, value_enum, default_value = "global")]
    scope: FeatureScope,
    /// Consent to what the features add, without being asked
    #[arg(long)]
    yes: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RemoveArgs {
    /// The feature, such as `demo`
    feature: String,
    /// Where it is installed
    #[arg(long, value_enum, default_value = "global")]
    scope: FeatureScope,
}

#[derive(Debug, clap::Args)]
pub(crate) struct InstalledArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Only those installed for all projects, or for this one
    #[arg(long, value_enum)]
    scope: Option<FeatureScope>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RevokeArgs {
    /// The feature, such as `demo`
    feature: String,
    /// Where it is installed (default: where it is trusted)
    #[arg(long, value_enum)]
    scope: Option<FeatureScope>,
}

pub(super) fn install(context: &mut Context, arguments: &InstallArgs) -> Result<(), Failure> {
    let InstallArgs { folder, scope, yes } = arguments;
    context.emit(&lifecycle::install(context, folder, *scope, *yes)?)
}

pub(super) fn update(context: &mut Context, arguments: &UpdateArgs) -> Result<(), Failure> {
    let UpdateArgs { feature, all, scope, yes } = arguments;
    match feature {
        Some(id) => context.emit(&lifecycle::update(context, id, *scope, *yes)?),
        None if *all => context.emit(&lifecycle::update_all(context, *scope, *yes)?),
        None => Err(Failure::new(Reason::Usage, "`capability update` needs a feature, or `--all`")
            .hint("`gsd-tools capability list` lists the features")),
    }
}

pub(super) fn remove(context: &mut Context, RemoveArgs { feature, scope }: &RemoveArgs) -> Result<(), Failure> {
    context.emit(&lifecycle::remove(context, feature, *scope)?)
}

pub(super) fn list(context: &mut Context, arguments: &InstalledArgs) -> Result<(), Failure> {
    context.emit(&trust::list(context, arguments.scope)?)
}

pub(super) fn revoke(context: &mut Context, RevokeArgs { feature, scope }: &RevokeArgs) -> Result<(), Failure> {
    context.emit(&trust::revoke(context, feature, *scope)?)
}

pub(super) fn outdated(context: &mut Context, arguments: &InstalledArgs) -> Result<(), Failure> {
    let rows = trust::outdated(context, arguments.scope)?;
    if arguments.json {
        return context.emit(&rows);
    }
    context.text(table(&rows));
    Ok(())
}

/// The rows as a table; each column is as wide as its widest cell.
fn table(rows: &[OutdatedRow]) -> String {
    let cells = |row: &OutdatedRow| {
        let latest = row.latest.clone().unwrap_or_else(|| "-".to_owned());
        [row.id.clone(), row.source_kind.to_owned(), row.current.clone(), latest, row.status.word().to_owned()]
    };
    let heads = ["ID", "Source", "Current", "Latest", "Status"].map(str::to_owned);
    let body: Vec<[String; 5]> = rows.iter().map(cells).collect();
    let width = |column: usize| body.iter().chain([&heads]).map(|row| row[column].len()).max().unwrap_or_default();
    let widths: [usize; 5] = std::array::from_fn(width);
    let line = |row: &[String; 5]| {
        let padded = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    let rule = widths.map(|width| "-".repeat(width));
    let mut text = line(&heads) + &line(&rule);
    text.extend(body.iter().map(line));
    if body.is_empty() {
        text += "(no installed overlay capabilities)\n";
    }
    text
}
