//! Which installed features this user trusts, and which differ from their source folder.

use schemars::JsonSchema;
use serde::Serialize;

use super::lifecycle::{change, not_installed};
use super::{FeatureFolders, consent_digest, digests, folder};
use crate::acts::Call;
use crate::disk::AbsolutePath;
use crate::failure::Failure;
use crate::operations::capability::declared::{self, Home};
use crate::operations::capability::ledger::InstalledFeature;
use crate::operations::capability::{self, FeatureScope};
use crate::text::shell::typed;

/// A feature that this user trusts.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TrustRow {
    id: String,
    scope: FeatureScope,
    /// The project it is installed in.
    #[serde(skip_serializing_if = "Option::is_none")]
    project_root: Option<String>,
    /// The hash of the files that were consented to.
    content_hash: String,
    consented_at: String,
}

/// What `capability trust revoke` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RevokeReport {
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
    /// Nothing was changed; this is what would be done.
    Rehearsed,
}

/// Whether the source folder of a feature has other files than those installed.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OutdatedRow {
    pub(crate) id: String,
    pub(crate) source_kind: &'static str,
    pub(crate) current: String,
    /// The version in the source folder; null if the folder cannot be read.
    pub(crate) latest: Option<String>,
    pub(crate) status: OutdatedStatus,
    scope: FeatureScope,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OutdatedStatus {
    Current,
    Outdated,
    Unknown,
}

impl OutdatedStatus {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Current => "current",
            Self::Outdated => "outdated",
            Self::Unknown => "unknown",
        }
    }
}

/// The entries of the ledgers, the project's first.
fn entries(
    call: &Call,
    scope: Option<FeatureScope>,
) -> Result<Vec<(FeatureFolders, String, InstalledFeature)>, Failure> {
    let mut entries = Vec::new();
    for place in FeatureFolders::all(call).into_iter().filter(|place| scope.is_none_or(|scope| scope == place.scope)) {
        let ledger = place.read_ledger()?;
        entries.extend(ledger.entries().map(|(id, entry)| (place.clone(), id.to_owned(), entry.clone())));
    }
    Ok(entries)
}

/// The features that this user trusts.
pub(crate) fn list(call: &Call, scope: Option<FeatureScope>) -> Result<Vec<TrustRow>, Failure> {
    let rows = entries(call, scope)?.into_iter().filter_map(|(place, id, entry)| {
        let consent = entry.consent?;
        let project_root = (place.scope == FeatureScope::Project).then(|| call.root().to_string());
        let content_hash = format!("sha256-{}", consent.digest);
        Some(TrustRow { id, scope: place.scope, project_root, content_hash, consented_at: consent.given_at })
    });
    Ok(rows.collect())
}

/// Revokes the trust in a feature.
pub(crate) fn revoke(call: &Call, id: &str, scope: Option<FeatureScope>) -> Result<RevokeReport, Failure> {
    if capability::find(id).is_some() {
        return Err(Failure::usage(format!("there is no trust to revoke: `{id}` is built in"))
            .hint(format!("`{}` disables it", typed!("gsd-tools capability disable {}", id))));
    }
    let mut found = entries(call, scope)?;
    found.retain(|(_, name, _)| name == id);
    // A trusted one takes precedence over an untrusted one, wherever they are.
    found.sort_by_key(|(_, _, entry)| entry.consent.is_none());
    let Some((place, ..)) = found.into_iter().next() else {
        return Err(not_installed(id, scope.unwrap_or(FeatureScope::Global)));
    };
    let was_trusted = change(call, &place, |ledger, _| {
        let entry = ledger.of(id).ok_or_else(|| not_installed(id, place.scope))?;
        let revoked = InstalledFeature { consent: None, ..entry.clone() };
        Ok((entry.consent.is_some(), Some(ledger.clone().with(id, Some(revoked)))))
    })?;
    let status = match (was_trusted, call.is_rehearsal()) {
        (false, _) => RevokeStatus::NotTrusted,
        (true, true) => RevokeStatus::Rehearsed,
        (true, false) => RevokeStatus::Revoked,
    };
    Ok(RevokeReport { status, id: id.to_owned(), scope: place.scope })
}

/// Reports which installed features have other files in their source folder.
pub(crate) fn outdated(call: &Call, scope: Option<FeatureScope>) -> Result<Vec<OutdatedRow>, Failure> {
    Ok(entries(call, scope)?.into_iter().map(|(place, id, entry)| row(&place, id, &entry)).collect())
}

fn row(place: &FeatureFolders, id: String, entry: &InstalledFeature) -> OutdatedRow {
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
