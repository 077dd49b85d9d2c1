//! Each key with its value, its default, the source of the value, and the values it accepts: for `config list` and
//! `config explain`.

use crate::failure::Failure;
use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::keys;
use super::table::KEYS;
use super::unused::unused;
use super::{ConfigTexts, at, default_of, legacy, parse};

/// The source of a key's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Origin {
    /// `config.json` of the active workstream.
    Workstream,
    /// `config.json` of the project.
    Project,
    /// The user's own `defaults.json`, which counts if the project has no file.
    Personal,
    Default,
}

/// One key of the configuration.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct KeyFacts {
    pub(crate) key: String,
    /// The value in effect; null if the key has none.
    pub(crate) value: Value,
    /// Null if the key has no default.
    pub(crate) default: Value,
    pub(crate) source: Origin,
    /// The values it accepts, in words; null for a key that does not exist.
    pub(crate) accepts: Option<String>,
    /// What it does; null for a key that does not exist.
    pub(crate) about: Option<&'static str>,
    /// A file has a value that the key does not accept.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) invalid: bool,
    /// Why the key has no effect, if a file has a value other than the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unused: Option<&'static str>,
}

/// The files that can set keys, highest precedence first.
struct Layers(Vec<(Origin, Map<String, Value>)>);

impl Layers {
    /// Leaves out a file that does not parse; reading the configuration reports it.
    fn read(texts: ConfigTexts<'_>) -> Self {
        let has_file = texts.project.is_some() || texts.workstream.is_some() || texts.unreadable;
        let files = [
            (Origin::Workstream, texts.workstream),
            (Origin::Project, texts.project),
            (Origin::Personal, texts.personal.filter(|_| !has_file)),
        ];
        let read = |(origin, text): (Origin, Option<&str>)| {
            let mut file = parse(text?).ok()?;
            legacy::normalize(&mut file);
            Some((origin, file))
        };
        Self(files.into_iter().filter_map(read).collect())
    }

    fn facts(&self, key: &str) -> KeyFacts {
        let found = self.0.iter().find_map(|(origin, file)| Some((*origin, at(file, key)?)));
        let default = default_of(key).cloned().unwrap_or_default();
        let row = keys::row(key);
        let (source, value) = found.map_or((Origin::Default, &default), |(origin, value)| (origin, value));
        KeyFacts {
            value: shown(key, value.clone()),
            source,
            accepts: row.map(|(_, accepts, _)| accepts.to_string()),
            about: row.map(|(_, _, about)| *about),
            // A key set to null counts as not set.
            invalid: found.is_some_and(|(_, value)| match row {
                Some((_, accepts, _)) => !value.is_null() && !accepts.fits(value),
                None => true,
            }),
            unused: unused(key).filter(|_| found.is_none_or(|(_, value)| !value.is_null() && !is_as_new(key, value))),
            key: key.to_owned(),
            default,
        }
    }
}

/// Whether this is the value that a new file has: the user did not choose it.
fn is_as_new(key: &str, value: &Value) -> bool {
    static NEW: LazyLock<Map<String, Value>> =
        LazyLock::new(|| serde_json::from_str(super::INITIAL).unwrap_or_default());
    at(&NEW, key) == Some(value)
}

/// A value that is safe to show: of an API key only the end.
pub(crate) fn shown(key: &str, value: Value) -> Value {
    match value {
        Value::String(secret) if keys::is_secret(key) => Value::String(keys::masked(&secret)),
        value => value,
    }
}

/// Whether `key` is `wanted` or in that group: `workflow` contains `workflow.research`.
fn is_within(key: &str, wanted: &str) -> bool {
    key.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The keys that a file sets; with `all` also those with their default. `wanted` is a key or a group of keys; an error
/// if no such key or group exists.
pub(crate) fn list(texts: ConfigTexts<'_>, all: bool, wanted: Option<&str>) -> Result<Vec<KeyFacts>, Failure> {
    let layers = Layers::read(texts);
    let mut names: Vec<String> = layers.0.iter().flat_map(|(_, file)| set_keys(file, "")).collect();
    if all {
        names.extend(KEYS.iter().map(|(key, ..)| (*key).to_owned()));
    }
    names.sort_unstable();
    names.dedup();
    if let Some(wanted) = wanted {
        names.retain(|key| is_within(key, wanted));
        if names.is_empty() && !keys::key_names().iter().any(|key| is_within(key, wanted)) {
            return Err(keys::unknown(wanted));
        }
    }
    Ok(names.iter().map(|key| layers.facts(key)).collect())
}

/// One key, whether it is set or not.
pub(crate) fn explain(texts: ConfigTexts<'_>, key: &str) -> Result<KeyFacts, Failure> {
    if keys::row(key).is_none() {
        return Err(keys::unknown(key));
    }
    Ok(Layers::read(texts).facts(key))
}

/// The keys that a file sets without any effect, each with the reason.
pub(crate) fn without_effect(file: &Map<String, Value>) -> Vec<(String, &'static str)> {
    let mut file = file.clone();
    legacy::normalize(&mut file);
    let mut keys = set_keys(&file, "");
    keys.sort_unstable();
    let layers = Layers(vec![(Origin::Project, file)]);
    keys.into_iter().filter_map(|key| Some((layers.facts(&key).unused?, key))).map(|(why, key)| (key, why)).collect()
}

/// The dotted keys that an object sets: known keys whole, all others down to the innermost.
fn set_keys(object: &Map<String, Value>, above: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (name, value) in object {
        let key = if above.is_empty() { name.clone() } else { format!("{above}.{name}") };
        match value {
            // An empty group of known keys sets nothing.
            Value::Object(inner)
                if keys::row(&key).is_none()
                    && (!inner.is_empty() || keys::key_names().iter().any(|known| is_within(known, &key))) =>
            {
                found.extend(set_keys(inner, &key));
            }
            _ => found.push(key),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXTS: ConfigTexts<'_> = ConfigTexts {
        project: Some(r#"{"mode": "yolo", "depth": "quick", "brave_search": "sk-abcdefghijkl", "zzz": {"a": 1}}"#),
        workstream: Some(r#"{"mode": "interactive", "workflow": {"research": "maybe"}}"#),
        personal: Some(r#"{"model_profile": "budget"}"#),
        unreadable: false,
    };

    #[test]
    fn keys_that_are_set_are_listed_with_their_source() {
        let rows = list(TEXTS, false, None).unwrap();
        let told = |key: &str| {
            let row = rows.iter().find(|row| row.key == key).unwrap();
            (row.value.clone(), row.source, row.invalid)
        };
        assert_eq!(told("mode"), ("interactive".into(), Origin::Workstream, false));
        assert_eq!(told("granularity"), ("coarse".into(), Origin::Project, false));
        assert_eq!(told("workflow.research"), ("maybe".into(), Origin::Workstream, true));
        assert_eq!(told("brave_search"), ("****ijkl".into(), Origin::Project, false));
        assert_eq!(told("zzz.a"), (1.into(), Origin::Project, true));
        assert_eq!(rows.len(), 5, "{rows:?}");
        assert_eq!(rows.iter().find(|row| row.key == "zzz.a").unwrap().accepts, None);
    }

    #[test]
    fn all_keys_are_listed_with_their_defaults() {
        let rows = list(ConfigTexts { workstream: None, project: None, ..TEXTS }, true, None).unwrap();
        assert!(rows.len() > 150 && rows.is_sorted_by_key(|row| row.key.clone()));
        let row = rows.iter().find(|row| row.key == "model_profile").unwrap();
        assert_eq!((&row.value, row.source), (&"budget".into(), Origin::Personal));
        assert!(rows.iter().all(|row| row.accepts.is_some() && row.about.is_some()));
    }

    #[test]
    fn a_key_without_effect_is_named_if_a_file_changes_it() {
        let reason = |file| {
            let texts = ConfigTexts { project: Some(file), ..ConfigTexts::default() };
            explain(texts, "workflow.compact_content").unwrap().unused
        };
        assert_eq!(reason(r#"{"workflow": {"compact_content": true}}"#), Some("there is one text of each workflow"));
        assert_eq!(reason("{}"), Some("there is one text of each workflow"), "whoever asks about a key hears it");
        for nobodys in [r#"{"workflow": {"compact_content": false}}"#, r#"{"workflow": {"compact_content": null}}"#] {
            assert_eq!(reason(nobodys), None, "{nobodys}");
        }
        let as_the_default = serde_json::json!({"mempalace": {"capture_artifacts": true}});
        let named = without_effect(as_the_default.as_object().unwrap());
        assert_eq!(named.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>(), ["mempalace.capture_artifacts"]);
    }

    #[test]
    fn a_new_file_is_valid() {
        let new = ConfigTexts { project: Some(crate::project::config::INITIAL), ..ConfigTexts::default() };
        let invalid: Vec<String> =
            list(new, false, None).unwrap().into_iter().filter(|row| row.invalid).map(|row| row.key).collect();
        assert_eq!(invalid, [""; 0]);
        let other = ConfigTexts { project: Some(r#"{"zzz": {}, "yyy": null}"#), ..ConfigTexts::default() };
        assert!(list(other, false, None).unwrap().iter().all(|row| row.invalid), "keys that do not exist");
    }

    #[test]
    fn one_key_or_one_group_is_listed() {
        let keys = |wanted, all| -> Vec<String> {
            list(TEXTS, all, Some(wanted)).unwrap().into_iter().map(|row| row.key).collect()
        };
        assert_eq!(keys("workflow", false), ["workflow.research"]);
        assert_eq!(keys("mode", true), ["mode"], "not `model_profile`");
        assert!(keys("git", true).len() > 2 && keys("git", false).is_empty());
        assert_eq!(keys("zzz", false), ["zzz.a"]);
        assert!(list(TEXTS, true, Some("workflo")).is_err());
    }

    #[test]
    fn a_key_is_explained_whether_it_is_set_or_not() {
        let facts = explain(TEXTS, "workflow.verifier").unwrap();
        assert_eq!((facts.value, facts.source), (true.into(), Origin::Default));
        assert_eq!(facts.accepts.as_deref(), Some("`true` or `false`"));
        assert_eq!(explain(TEXTS, "model_overrides.gsd-planner").unwrap().value, Value::Null);
        assert!(explain(TEXTS, "workflow").is_err() && explain(TEXTS, "workflow.verifyer").is_err());
    }
}
