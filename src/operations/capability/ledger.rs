//! The ledger of installed features: what this computer notes about each, outside of every project. What came with a
//! project or lies in a folder that other programs write to is not believed without it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Digests of files, by their paths in the folder of the feature.
pub(crate) type Digests = BTreeMap<String, String>;

/// The features that were installed in one scope.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ledger {
    installed: BTreeMap<String, Entry>,
}

/// One feature as it was installed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    pub(crate) version: String,
    /// The folder it was installed from.
    pub(crate) source: String,
    pub(crate) installed_at: String,
    pub(crate) files: Digests,
    /// None after it was revoked.
    pub(crate) consent: Option<Consent>,
}

/// That a person wants the files to be used as they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Consent {
    /// Of [`listing`].
    pub(crate) digest: String,
    pub(crate) given_at: String,
}

impl Ledger {
    pub(crate) fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    pub(crate) fn of(&self, id: &str) -> Option<&Entry> {
        self.installed.get(id)
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.installed.iter().map(|(id, entry)| (id.as_str(), entry))
    }

    /// The same with another entry for a feature, or without one.
    pub(crate) fn with(mut self, id: &str, entry: Option<Entry>) -> Self {
        match entry {
            Some(entry) => drop(self.installed.insert(id.to_owned(), entry)),
            None => drop(self.installed.remove(id)),
        }
        self
    }
}

/// All files with their digests as one text: a consent is to exactly these files.
pub(crate) fn listing(files: &Digests) -> String {
    files.iter().flat_map(|(path, digest)| [digest.as_str(), " ", path, "\n"]).collect()
}

/// The files that are not as they were installed: changed, missing, or added.
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
    fn what_is_not_as_it_was_installed_is_named() {
        let installed = digests(&[("a", "1"), ("b", "2"), ("d", "4")]);
        assert_eq!(changed(&installed, &digests(&[("a", "1"), ("b", "3"), ("c", "1")])), ["b", "c", "d"]);
        assert_eq!(changed(&installed, &installed), [""; 0]);
    }

    #[test]
    fn a_ledger_comes_back_as_it_was_written_and_nothing_else_is_read_as_one() {
        let consent = Some(Consent { digest: "x".to_owned(), given_at: "now".to_owned() });
        let entry = Entry {
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
