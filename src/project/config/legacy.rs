//! Old key names and old values of `config.json`, and their current forms.

use serde_json::{Map, Value};

use super::{at, merge};

/// A key under an old name.
#[derive(Clone, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub(crate) struct Normalization {
    pub(crate) from: &'static str,
    pub(crate) to: &'static str,
    /// The value in today's form.
    pub(crate) value: Value,
    /// The file also has the new name: its value there counts, and the old key has no effect.
    #[serde(skip)]
    pub(crate) taken: bool,
}

const REPOSITORIES: &str = "planning.sub_repos";

/// Old name, new name, in the order in which they are reported.
const RENAMED: &[(&str, &str)] = &[
    ("branching_strategy", "git.branching_strategy"),
    ("base_branch", "git.base_branch"),
    ("sub_repos", REPOSITORIES),
    ("depth", "granularity"),
];

/// Wrong names that people write for a key and that were never valid.
const SLIPS: &[(&str, &str)] = &[("plan_checker", "workflow.plan_check")];

/// The key that an old or wrong name means.
pub(crate) fn meant(key: &str) -> Option<&'static str> {
    RENAMED.iter().chain(SLIPS).find(|(name, _)| *name == key).map(|(_, key)| *key)
}

/// Old values of `depth`, and the granularity that each became.
const DEPTHS: &[(&str, &str)] = &[("quick", "coarse"), ("standard", "standard"), ("comprehensive", "fine")];

/// The keys in `file` with old names. `repositories` are those found inside the project, if the file adopts them all.
pub(crate) fn normalizations(file: &Map<String, Value>, repositories: &[String]) -> Vec<Normalization> {
    let renamed = RENAMED.iter().filter_map(|(from, to)| {
        let value = today(from, file.get(*from)?);
        Some(Normalization { from, to, value, taken: at(file, to).is_some() })
    });
    let adopted = (!repositories.is_empty()).then(|| Normalization {
        from: "multiRepo",
        to: REPOSITORIES,
        value: repositories.into(),
        taken: at(file, REPOSITORIES).is_some() || file.contains_key("sub_repos"),
    });
    renamed.chain(adopted).collect()
}

/// Moves the values of old names to the new names.
pub(super) fn normalize(file: &mut Map<String, Value>) {
    for Normalization { from, to, value, taken } in normalizations(file, &[]) {
        file.shift_remove(from);
        if !taken {
            merge(file, nested(to, value));
        }
    }
}

fn today(from: &str, value: &Value) -> Value {
    let depth = |old: &str| DEPTHS.iter().find(|(name, _)| *name == old).map(|(_, new)| Value::from(*new));
    match value {
        Value::String(old) if from == "depth" => depth(old).unwrap_or_else(|| value.clone()),
        _ => value.clone(),
    }
}

/// A dotted key as nested objects around its value.
pub(super) fn nested(key: &str, value: Value) -> Map<String, Value> {
    let (name, inside) = match key.split_once('.') {
        None => (key, value),
        Some((first, rest)) => (first, Value::Object(nested(rest, value))),
    };
    Map::from_iter([(name.to_owned(), inside)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taken_name_keeps_its_value() {
        let mut file = super::super::parse(r#"{"base_branch": "old", "git": {"base_branch": "new", "x": 1}}"#).unwrap();
        assert!(normalizations(&file, &[])[0].taken);
        normalize(&mut file);
        assert_eq!(Value::Object(file).to_string(), r#"{"git":{"base_branch":"new","x":1}}"#);
    }
}
