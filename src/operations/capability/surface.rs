//! The features that a host shows: `.gsd-surface.json` in the host's folder, which belongs to the user. A command
//! changes only the names it concerns.

use serde_json::Value;

use super::Capability;
use crate::text::edit::JsonDialect;
use crate::text::json::{JsonDocument, JsonEdit};

/// The file, in the folder of the host.
pub(crate) const FILE: &str = ".gsd-surface.json";

const DISABLED: &str = "disabledClusters";
const REMOVED: &str = "explicitRemoves";

/// The initial text of the file.
const NEW: &str = "{\n  \"baseProfile\": \"full\",\n  \"disabledClusters\": [],\n  \"explicitAdds\": [],\n  \"explicitRemoves\": []\n}\n";

/// What the user has hidden.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FeatureSurface {
    /// Features.
    disabled: Vec<String>,
    /// Single workflows.
    removed: Vec<String>,
}

fn document(text: &str) -> Result<JsonDocument, String> {
    JsonDocument::parse(text, JsonDialect::Strict).map_err(|error| format!("it is not a JSON object: {error}"))
}

impl FeatureSurface {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let document = document(text)?;
        Ok(Self { disabled: names(&document, DISABLED)?, removed: names(&document, REMOVED)? })
    }

    /// True if the host shows a feature. A feature of this program without workflows has nothing to hide: its settings
    /// turn its hooks on and off. An installed feature can always be turned off as a whole.
    pub(crate) fn shows(&self, capability: &Capability) -> bool {
        let skills = &capability.skills;
        (skills.is_empty() && capability.installed.is_none())
            || !self.disabled.contains(&capability.id)
                && (skills.is_empty() || !skills.iter().all(|skill| self.removed.contains(skill)))
    }
}

/// The text of the file after a feature was shown or hidden; `None` if nothing changes.
pub(crate) fn turned(text: Option<&str>, capability: &Capability, on: bool) -> Result<Option<String>, String> {
    let before = text.map(FeatureSurface::parse).transpose()?.unwrap_or_default();
    if before.shows(capability) == on {
        return Ok(None);
    }
    let mut document = document(text.unwrap_or(NEW))?;
    let mut set = |key: &str, names: Vec<String>| {
        let edit = JsonEdit::Set { path: vec![key.to_owned()], value: Value::from(names) };
        document.apply(&edit).map(drop).map_err(|error| format!("it cannot be changed: {error}"))
    };
    if on {
        let others = |names: &[String], ours: &dyn Fn(&String) -> bool| {
            names.iter().filter(|name| !ours(name)).cloned().collect::<Vec<_>>()
        };
        if before.disabled.contains(&capability.id) {
            set(DISABLED, others(&before.disabled, &|name| *name == capability.id))?;
        }
        if before.removed.iter().any(|name| capability.skills.contains(name)) {
            set(REMOVED, others(&before.removed, &|name| capability.skills.contains(name)))?;
        }
    } else {
        set(DISABLED, before.disabled.iter().cloned().chain([capability.id.clone()]).collect())?;
    }
    Ok(Some(document.to_string()))
}

fn names(document: &JsonDocument, key: &'static str) -> Result<Vec<String>, String> {
    let no_list = || format!("`{key}` in it is not a list of names");
    match document.value(&[key.to_owned()]) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(items)) => {
            let names = items.iter().map(|item| item.as_str().map(str::to_owned));
            names.collect::<Option<Vec<_>>>().ok_or_else(no_list)
        }
        Some(_) => Err(no_list()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::find;
    use super::*;

    #[test]
    fn a_feature_is_hidden_and_shown_again_without_touching_the_rest() {
        let ui = find("ui").unwrap();
        let made = turned(None, ui, false).unwrap().unwrap();
        assert!(!FeatureSurface::parse(&made).unwrap().shows(ui));
        assert_eq!(turned(Some(&made), ui, false).unwrap(), None);
        let own =
            "{\"mine\": 1,  \"disabledClusters\": [\"x\", \"ui\"],\r\n \"explicitRemoves\": [\"ui-phase\", \"y\"]}";
        let shown = turned(Some(own), ui, true).unwrap().unwrap();
        assert!(shown.starts_with("{\"mine\": 1,  \"disabledClusters\": "), "{shown}");
        let after: Value = serde_json::from_str(&shown).unwrap();
        assert_eq!((&after[DISABLED], &after[REMOVED]), (&Value::from(vec!["x"]), &Value::from(vec!["y"])));
        assert_eq!(turned(Some("{}"), ui, true).unwrap(), None);
    }

    #[test]
    fn a_feature_is_hidden_by_hiding_all_its_workflows() {
        let ui = find("ui").unwrap();
        let of = |text: &str| FeatureSurface::parse(text).unwrap().shows(ui);
        assert!(of(r#"{"explicitRemoves": ["ui-phase"]}"#));
        assert!(!of(r#"{"explicitRemoves": ["ui-phase", "ui-review"]}"#));
        assert!(FeatureSurface::parse(r#"{"disabledClusters": ["drift"]}"#).unwrap().shows(find("drift").unwrap()));
    }

    #[test]
    fn an_invalid_file_is_refused() {
        for text in ["{bad", "[]", r#"{"disabledClusters": "ui"}"#, r#"{"explicitRemoves": [1]}"#] {
            assert!(turned(Some(text), find("ui").unwrap(), false).is_err(), "{text}");
        }
    }
}
