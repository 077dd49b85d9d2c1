//! The ledger of installed features: what this computer records about each, outside all projects. A feature that came
//! with a project, or is in a folder that other programs write to, is not trusted without an entry.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Digests of files, by their paths in the folder of the feature.
pub(crate) type Digests = BTreeMap<String, String>;

/// The features installed in one scope.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ledger {
    installed: BTreeMap<String, InstalledFeature>,
}

/// One installed feature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct InstalledFeature {
    pub(crate) version: String,
    /// The folder it was installed from.
    pub(crate) source: String,
    pub(crate) installed_at: String,
    pub(crate) files: Digests,
    /// Absent after consent was revoked.
    pub(crate) consent: Option<Consent>,
}

/// A person's consent to use the files as they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Consent {
    /// The digest of [`listing`].
    pub(crate) digest: String,
    pub(crate) given_at: String,
}

impl Ledger {
    pub(crate) fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    pub(crate) fn of(&self, id: &str) -> Option<&InstalledFeature> {
        self.installed.get(id)
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = (&str, &InstalledFeature)> {
        self.installed.iter().map(|(id, entry)| (id.as_str(), entry))
    }

    /// A copy in which the entry of a feature is replaced or removed.
    pub(crate) fn with(mut self, id: &str, entry: Option<InstalledFeature>) -> Self {
        match entry {
            Some(entry) => drop(self.installed.insert(id.to_owned(), entry)),
            None => drop(self.installed.remove(id)),
        }
        self
    }
}

/// Joins all files and their digests into one text: consent covers exactly these files.
pub(crate) fn listing(files: &Digests) -> String {
    files.iter().flat_map(|(path, digest)| [digest.as_str(), " ", path, "\n"]).collect()
}

/// The files that differ from the installed ones: changed, missing or added.
pub(crate) fn changed<'a>(installed: &'a Digests, found: &'a Digests) -> Vec<&'a str> {
    let other = |(path, digest): &(&'a String, &'a String)| found.get(*path) != Some(*digest);
    let added = found.keys().filter(|path| !installed.contains_key(*path));
    let mut changed: Vec<&str> =
        installed.iter().filter(other).map(|(path, _)| path).chain(added).map(String::as_str).collect();
    changed.sort_unstable();
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digests(files: &[(&str, &str)]) -> Digests {
        files.iter().map(|(path, digest)| ((*path).to_owned(), (*digest).to_owned())).collect()
    }

    #[test]
    fn files_that_differ_from_the_install_are_named() {
        let installed = digests(&[("a", "1"), ("b", "2"), ("d", "4")]);
        assert_eq!(changed(&installed, &digests(&[("a", "1"), ("b", "3"), ("c", "1")])), ["b", "c", "d"]);
        assert_eq!(changed(&installed, &installed), [""; 0]);
    }

    #[test]
    fn a_ledger_round_trips_and_other_texts_are_refused() {
        let consent = Some(Consent { digest: "x".to_owned(), given_at: "now".to_owned() });
        let entry = InstalledFeature {
            version: "1.0.0".to_owned(),
            source: "/s".to_owned(),
            installed_at: "now".to_owned(),
            files: digests(&[("capability.json", "1")]),
            consent,
        };
        let ledger = Ledger::default().with("demo", Some(entry.clone()));
        assert_eq!(Ledger::parse(&serde_json::to_string(&ledger).unwrap()).unwrap(), ledger);
        assert_eq!(ledger.of("demo"), Some(&entry));
        assert_eq!(ledger.with("demo", None), Ledger::default());
        for text in ["", "[]", "{}", r#"{"installed": {"x": {}}}"#, r#"{"installed": {}, "more": 1}"#] {
            assert!(Ledger::parse(text).is_err(), "{text}");
        }
    }
}
