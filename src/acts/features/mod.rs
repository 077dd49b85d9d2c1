//! Features that users install: where they are, and which of them this user trusts.
//!
//! The files of a feature are in a folder of the user's or in the project; what this program trusts of them is in a
//! ledger in the user's state folder. A clone brings files, never a ledger: features without a consent on this computer
//! are listed, but not used.

pub(crate) mod folder;
pub(crate) mod lifecycle;
pub(crate) mod shown;
pub(crate) mod trust;

use std::collections::BTreeSet;

use crate::acts::Call;
use crate::disk::{self, AbsolutePath, Digest};
use crate::failure::{Failure, Reason};
use crate::operations::capability::declared::{self, Declared, Files, Home};
use crate::operations::capability::features::{Features, Inert, InertStatus};
use crate::operations::capability::ledger::{self, Digests, InstalledFeature, Ledger};
use crate::operations::capability::{self, Capability, FeatureScope};
use crate::text::shell::typed;

/// The ledger of a scope, in the state folder of the user or of the project.
const LEDGER: &str = "capabilities.json";

/// The folder of the features, in `.gsd` of the user or in the planning folder.
const FOLDER: &str = "capabilities";

/// Where the features of one scope are.
#[derive(Clone, Debug)]
pub(crate) struct FeatureFolders {
    pub(crate) scope: FeatureScope,
    /// The folder with one folder per feature.
    pub(crate) folder: AbsolutePath,
    pub(crate) ledger: AbsolutePath,
    /// The tree that is locked to write there.
    tree: AbsolutePath,
    /// The folder as a person types it.
    typed: String,
}

impl FeatureFolders {
    /// The place to which a call installs; refused without a home folder or a project.
    pub(crate) fn of(call: &Call, scope: FeatureScope) -> Result<Self, Failure> {
        if scope == FeatureScope::Project {
            call.needs_a_project()?;
            let planning = call.layout().planning().to_owned();
            let tree = call.root().resolve(&planning);
            call.project().boundary()?.check(&tree)?;
            return Ok(Self {
                scope,
                folder: tree.resolve(FOLDER),
                ledger: call.local_state()?.file(LEDGER),
                tree,
                typed: format!("{planning}/{FOLDER}"),
            });
        }
        let (Some(home), Some(state)) = (call.world().gsd_home(), call.world().state_folder()) else {
            return Err(Failure::usage("no home folder, so there is no place for features")
                .hint("set HOME, or install into the project: `--scope project`"));
        };
        let folder = AbsolutePath::parse(home)?.resolve(".gsd").resolve(FOLDER);
        let ledger = AbsolutePath::parse(state)?.resolve(LEDGER);
        Ok(Self { scope, tree: folder.clone(), typed: folder.to_string(), folder, ledger })
    }

    /// The places of this call: the project's first, since the project's features override the user's.
    pub(crate) fn all(call: &Call) -> Vec<Self> {
        let has_a_project = call.has_a_project();
        let scopes = [FeatureScope::Project, FeatureScope::Global];
        let scopes = scopes.into_iter().filter(|scope| has_a_project || *scope == FeatureScope::Global);
        scopes.filter_map(|scope| Self::of(call, scope).ok()).collect()
    }

    pub(crate) fn of_feature(&self, id: &str) -> AbsolutePath {
        self.folder.resolve(id)
    }

    /// The trees that are locked while files and ledger are written together.
    fn trees(&self) -> [AbsolutePath; 2] {
        [self.tree.clone(), self.ledger.parent().unwrap_or_else(|| self.ledger.clone())]
    }

    pub(crate) fn read_ledger(&self) -> Result<Ledger, Failure> {
        self.parsed(disk::read_text(&self.ledger)?.as_deref())
    }

    fn parsed(&self, text: Option<&str>) -> Result<Ledger, Failure> {
        text.map_or_else(|| Ok(Ledger::default()), Ledger::parse).map_err(|error| {
            Failure::new(Reason::ConfigParseFailed, format!("`{}` is not a ledger: {error}", self.ledger))
                .hint("delete the file, then install the features again: `gsd-tools capability install FOLDER`")
        })
    }

    /// What a person types to trust the folder of a feature in its present form.
    fn cure(&self, id: &str) -> String {
        let scope = self.scope.word();
        format!(
            "read what is in it, then type `{}`",
            typed!("gsd-tools capability install {} --scope {}", format!("{}/{id}", self.typed), scope)
        )
    }
}

/// The digests of files.
pub(crate) fn digests(files: &Files) -> Digests {
    files.iter().map(|(path, bytes)| (path.clone(), Digest::of(bytes).to_string())).collect()
}

/// The digest that a consent to these files records.
pub(crate) fn consent_digest(files: &Digests) -> String {
    Digest::of(ledger::listing(files).as_bytes()).to_string()
}

/// All features of a call. An invalid installed feature is not used; the others are.
pub(crate) fn features(call: &Call) -> Result<Features, Failure> {
    let (mut installed, mut inert): (Vec<Capability>, Vec<Inert>) = (Vec::new(), Vec::new());
    for place in FeatureFolders::all(call) {
        let ledger = place.read_ledger().unwrap_or_else(|error| {
            call.warn(format!("{}; no feature in `{}` is used", error.message, place.folder));
            Ledger::default()
        });
        for id in ids(&place, &ledger)? {
            let entry = ledger.of(&id);
            let taken = installed.iter().any(|feature: &Capability| feature.id == id);
            match trusted(&place, &id, entry, taken) {
                Ok(declared) => installed.push(declared.capability),
                Err(Unused { status, reason, cure }) => {
                    if entry.is_some() && status == InertStatus::Modified {
                        call.warn(format!("the feature `{id}` is not used: {reason}"));
                    }
                    let (version, source) = entry.map(|entry| (entry.version.clone(), entry.source.clone())).unzip();
                    inert.push(Inert { id, scope: place.scope, version, source, status, reason, cure });
                }
            }
        }
    }
    Ok(Features::with(installed, inert))
}

/// The names in the folder and in the ledger.
fn ids(place: &FeatureFolders, ledger: &Ledger) -> Result<BTreeSet<String>, Failure> {
    // A clone may bring any number of folders; a call neither reads nor lists them all.
    const MOST: usize = 100;
    let found = disk::list(&place.folder)?.unwrap_or_default().into_iter();
    let folders = found.filter(|entry| entry.kind != disk::EntryKind::File && !entry.name.starts_with('.'));
    let listed = folders.map(|entry| entry.name).take(MOST);
    Ok(ledger.entries().map(|(id, _)| id.to_owned()).chain(listed).collect())
}

/// Why nothing of a feature is used.
struct Unused {
    status: InertStatus,
    reason: String,
    cure: Option<String>,
}

/// A feature whose files this user consented to. A feature without a ledger entry is not read.
fn trusted(
    place: &FeatureFolders,
    id: &str,
    entry: Option<&InstalledFeature>,
    taken: bool,
) -> Result<Declared, Unused> {
    let folder = place.of_feature(id);
    let unused = |status, reason: String, cure| Unused { status, reason, cure: Some(cure) };
    let unusable = |reason: String| {
        unused(InertStatus::Unusable, reason, format!("delete `{folder}`, or correct it and install it again"))
    };
    if !declared::is_name(id) {
        return Err(unusable(format!("{id:?} is not a name of a feature")));
    }
    if capability::find(id).is_some() {
        return Err(unusable(format!("gsd-tools already has a feature `{id}`")));
    }
    let Some(entry) = entry else {
        let reason = format!("you did not install `{folder}`: nothing of it is used");
        return Err(unused(InertStatus::NotTrusted, reason, place.cure(id)));
    };
    let Some(consent) = &entry.consent else {
        let reason = "its trust was revoked: nothing of it is used".to_owned();
        return Err(unused(InertStatus::NotTrusted, reason, place.cure(id)));
    };
    if taken {
        return Err(unused(
            InertStatus::Unusable,
            format!("the project also has a feature `{id}`, which takes precedence"),
            format!("`{}` removes that one", typed!("gsd-tools capability remove {} --scope project", id)),
        ));
    }
    if disk::is_link(&folder) {
        return Err(unusable(format!("`{folder}` is a link")));
    }
    if !disk::is_folder(&folder) {
        let cure = format!(
            "`{}` installs it again",
            typed!("gsd-tools capability update {} --scope {}", id, place.scope.word())
        );
        return Err(unused(InertStatus::Missing, format!("`{folder}` is missing"), cure));
    }
    let files = folder::read(&folder).map_err(|error| unusable(error.message.clone()))?;
    let found = digests(&files);
    if consent.digest != consent_digest(&found) {
        let changed = ledger::changed(&entry.files, &found).join(", ");
        let reason = format!("it was changed after you installed it: {changed}");
        return Err(unused(InertStatus::Modified, reason, place.cure(id)));
    }
    let home = Home { folder: &folder.to_string(), source: &entry.source, scope: place.scope };
    let declared = declared::parse(&files, home).map_err(|error| unusable(format!("`{}`: {error}", declared::FILE)))?;
    if declared.capability.id == id {
        Ok(declared)
    } else {
        Err(unusable(format!("its declaration is of a feature `{}`", declared.capability.id)))
    }
}
