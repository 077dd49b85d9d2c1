//! Which installed features this user trusts, and which have a newer version in the folder they are from.

use schemars::JsonSchema;
use serde::Serialize;

use super::lifecycle::{change, not_installed};
use super::{Place, consent_digest, digests, folder};
use crate::commands::frame::Context;
use crate::disk::AbsolutePath;
use crate::failure::Failure;
use crate::operations::capability::declared::{self, Home};
use crate::operations::capability::ledger::Entry;
use crate::operations::capability::{self, FeatureScope};
use crate::text::shell::typed;

#[derive(Debug, clap::Args)]
pub(in crate::commands) struct InstalledArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Only those installed for all projects, or for this one
    #[arg(long, value_enum)]
    scope: Option<FeatureScope>,
}

#[derive(Debug, clap::Args)]
pub(in crate::commands) struct RevokeArgs {
    /// The feature, such as `demo`
    feature: String,
    /// Where it is installed (default: where it is trusted)
    #[arg(long, value_enum)]
    scope: Option<FeatureScope>,
}

/// A feature that this user trusts.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::commands) struct TrustRow {
    id: String,
    scope: FeatureScope,
    /// The project it is installed in.
    #[serde(skip_serializing_if = "Option::is_none")]
    project_root: Option<String>,
    /// Of the files as they were consented to.
    content_hash: String,
    consented_at: String,
}

/// What `capability trust revoke` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct RevokeReport {
    status: RevokeStatus,
    id: String,
    scope: FeatureScope,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum RevokeStatus {
    /// Nothing of it is used from now on.
    Revoked,
    /// It was not trusted before; nothing was changed.
    NotTrusted,
    /// Nothing was changed; this is what would be.
    Rehearsed,
}

/// Whether the folder of a feature has another version.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::commands) struct OutdatedRow {
    id: String,
    source_kind: &'static str,
    current: String,
    /// Null where the folder cannot be read.
    latest: Option<String>,
    status: OutdatedStatus,
    scope: FeatureScope,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum OutdatedStatus {
    Current,
    Outdated,
    Unknown,
}

impl OutdatedStatus {
    fn word(self) -> &'static str {
        match self {
            Self::Current => "current",
            Self::Outdated => "outdated",
            Self::Unknown => "unknown",
        }
    }
}

/// The entries of the ledgers, the project's first.
fn entries(context: &Context, scope: Option<FeatureScope>) -> Result<Vec<(Place, String, Entry)>, Failure> {
    let mut entries = Vec::new();
    for place in Place::all(context).into_iter().filter(|place| scope.is_none_or(|scope| scope == place.scope)) {
        let ledger = place.read_ledger()?;
        entries.extend(ledger.entries().map(|(id, entry)| (place.clone(), id.to_owned(), entry.clone())));
    }
    Ok(entries)
}

pub(in crate::commands) fn list(context: &mut Context, arguments: &InstalledArgs) -> Result<(), Failure> {
    let rows = entries(context, arguments.scope)?.into_iter().filter_map(|(place, id, entry)| {
        let consent = entry.consent?;
        let project_root = (place.scope == FeatureScope::Project).then(|| context.root().to_string());
        let content_hash = format!("sha256-{}", consent.digest);
        Some(TrustRow { id, scope: place.scope, project_root, content_hash, consented_at: consent.given_at })
    });
    let rows: Vec<TrustRow> = rows.collect();
    context.emit(&rows)
}

pub(in crate::commands) fn revoke(context: &mut Context, arguments: &RevokeArgs) -> Result<(), Failure> {
    let id = &arguments.feature;
    if capability::find(id).is_some() {
        return Err(Failure::usage(format!("there is no trust to revoke: `{id}` is built in"))
            .hint(format!("`{}` disables it", typed!("gsd-tools capability disable {}", id))));
    }
    let mut found = entries(context, arguments.scope)?;
    found.retain(|(_, name, _)| name == id);
    // One that is trusted goes before one that is not, wherever they are.
    found.sort_by_key(|(_, _, entry)| entry.consent.is_none());
    let Some((place, ..)) = found.into_iter().next() else {
        return Err(not_installed(id, arguments.scope.unwrap_or(FeatureScope::Global)));
    };
    let was_trusted = change(context, &place, |ledger, _| {
        let entry = ledger.of(id).ok_or_else(|| not_installed(id, place.scope))?;
        let revoked = Entry { consent: None, ..entry.clone() };
        Ok((entry.consent.is_some(), Some(ledger.clone().with(id, Some(revoked)))))
    })?;
    let status = match (was_trusted, context.is_rehearsal()) {
        (false, _) => RevokeStatus::NotTrusted,
        (true, true) => RevokeStatus::Rehearsed,
        (true, false) => RevokeStatus::Revoked,
    };
    context.emit(&RevokeReport { status, id: id.clone(), scope: place.scope })
}

pub(in crate::commands) fn outdated(context: &mut Context, arguments: &InstalledArgs) -> Result<(), Failure> {
    let rows = entries(context, arguments.scope)?.into_iter().map(|(place, id, entry)| row(&place, id, &entry));
    let rows: Vec<OutdatedRow> = rows.collect();
    if arguments.json {
        return context.emit(&rows);
    }
    let text = table(&rows);
    context.text(text);
    Ok(())
}

fn row(place: &Place, id: String, entry: &Entry) -> OutdatedRow {
    let there = AbsolutePath::parse(&entry.source).ok().and_then(|source| folder::read(&source).ok());
    let there = there.and_then(|files| {
        let home = Home { folder: "", source: &entry.source, scope: place.scope };
        let declared = declared::parse(&files, home).ok()?;
        Some((declared.capability.installed?.version, consent_digest(&digests(&files))))
    });
    let status = match &there {
        None => OutdatedStatus::Unknown,
        Some((_, digest)) if *digest == consent_digest(&entry.files) => OutdatedStatus::Current,
        Some(_) => OutdatedStatus::Outdated,
    };
    let latest = there.map(|(version, _)| version);
    OutdatedRow { id, source_kind: "local", current: entry.version.clone(), latest, status, scope: place.scope }
}

/// The rows as a table, columns as wide as their widest cell.
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
