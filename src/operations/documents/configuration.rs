//! Reads and changes `config.json`. Bytes outside the changed keys stay the same.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::failure::{Failure, Reason};
use crate::project::config::facts::shown;
use crate::project::config::{self, Normalization, Setting};
use crate::project::files::FileError;
use crate::project::milestone_layout::preference_table;
use crate::project::view::{Edited, Edits, ProjectView};
use crate::text::edit::{Applied, EditError, JsonDialect};
use crate::text::json::{JsonDocument, JsonEdit};
use crate::text::nearest::nearest;

/// What `config-set` changed, or would change.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SetReport {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dry_run: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) would_update: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) updated: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unset: Option<bool>,
    pub(crate) key: String,
    pub(crate) value: Value,
    #[serde(rename = "previousValue", skip_serializing_if = "Option::is_none")]
    pub(crate) previous_value: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) masked: Option<bool>,
}

/// What `config-ensure-section` and `config-new-project` changed.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CreateReport {
    pub(crate) created: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<&'static str>,
    /// Keys that were missing from an existing file and were added.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) added: Vec<String>,
    /// Choices that were not written because the file has another value for them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) kept: Vec<String>,
}

impl CreateReport {
    /// The report for a file that existed, with the keys added to it.
    fn existing(path: String, added: Vec<String>, kept: Vec<String>) -> Self {
        let (path, reason) = if added.is_empty() { (None, Some("already_exists")) } else { (Some(path), None) };
        Self { created: false, path, reason, added, kept }
    }
}

/// What `migrate-config` changed.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct MigrateReport {
    pub(crate) migrated: bool,
    pub(crate) normalizations: Vec<Normalization>,
    /// The file that was written.
    pub(crate) wrote: Option<String>,
    /// Old keys that were not moved because the new key is already set.
    pub(crate) skipped: Vec<Normalization>,
}

/// Additions to the default contents of a new project's file.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NewFile<'a> {
    /// Search services for which an API key was found.
    pub(crate) services: &'a [&'static str],
    /// The text of the user's `defaults.json`.
    pub(crate) personal: Option<&'a str>,
    /// The text with the choices for this project.
    pub(crate) choices: Option<&'a str>,
}

/// Gets a value: from the workstream's file, the project's file, `fallback`, or the default of a feature's switch.
pub(crate) fn get(view: &ProjectView, key: &str, fallback: Option<&str>) -> Result<Value, Failure> {
    let layout = view.layout();
    let own = layout.config();
    let mut paths = vec![own.clone(), layout.root_config()];
    paths.dedup();
    let mut has_file = false;
    for path in &paths {
        let Some(file) = read(view, path)? else { continue };
        has_file = true;
        if let Some(value) = config::written_in(file, key) {
            return Ok(shown(key, value));
        }
    }
    if let Some(fallback) = fallback {
        return Ok(Value::from(fallback));
    }
    match config::told_default(key) {
        Some(value) => Ok(value.clone()),
        None if has_file => {
            let hint = match nearest(key, config::key_names().iter().map(String::as_str)) {
                _ if let Some(hint) = preference_table::hint(key) => hint,
                Some(near) if near != key => format!("did you mean `{near}`?"),
                _ => "`--default VALUE` prints a value for a key that is not set".to_owned(),
            };
            let message = format!("the configuration has no key `{key}`");
            Err(Failure::new(Reason::ConfigKeyNotFound, message).hint(hint))
        }
        None => {
            let created = || "`gsd-tools config-ensure-section` creates it".to_owned();
            Err(Failure::new(Reason::ConfigNoFile, format!("there is no `{}`", layout.shown(&own)))
                .hint(preference_table::hint(key).unwrap_or_else(created)))
        }
    }
}

/// Sets or unsets a key of the active file. A missing file is created.
pub(crate) fn set(view: &ProjectView, setting: &Setting) -> Edited<SetReport, Failure> {
    let path = view.layout().config();
    let text = view.text(&path)?;
    let mut document = document(view, &path, text.as_deref().unwrap_or_default())?;
    let previous = document.value(&setting.path);
    match &setting.value {
        Some(value) => {
            let edit = JsonEdit::Set { path: setting.path.clone(), value: value.clone() };
            document.apply(&edit).map_err(|error| uneditable(&path, &error))?;
        }
        None => remove(&mut document, &path, &setting.path)?,
    }
    let mut edits = Edits::default();
    if text.is_some() || setting.value.is_some() {
        edits.write(view, &path, whole(document.to_string(), text.is_none()))?;
    }
    let secret = config::is_secret(&setting.key);
    let value = setting.value.clone().unwrap_or_default();
    let report = SetReport {
        dry_run: None,
        would_update: None,
        updated: Some(true),
        unset: setting.value.is_none().then_some(true),
        key: setting.key.clone(),
        value: shown(&setting.key, value),
        previous_value: previous.map(|previous| shown(&setting.key, previous)),
        masked: secret.then_some(true),
    };
    Ok((report, edits))
}

/// Turns switches of the active file on or off. A missing file is created.
pub(crate) fn switch(view: &ProjectView, switches: &[(String, bool)]) -> Result<Edits, Failure> {
    let values: Vec<_> = switches.iter().map(|(key, on)| (key.as_str(), Some(Value::Bool(*on)))).collect();
    put(view, &values)
}

/// Returns the value of a key in the active file itself.
pub(crate) fn own(view: &ProjectView, key: &str) -> Result<Option<Value>, Failure> {
    Ok(read(view, &view.layout().config())?.and_then(|file| config::written_in(file, key)))
}

/// Sets keys of the active file, or removes those without a value. A missing file is created.
pub(crate) fn put(view: &ProjectView, values: &[(&str, Option<Value>)]) -> Result<Edits, Failure> {
    let mut edits = Edits::default();
    if values.is_empty() {
        return Ok(edits);
    }
    let path = view.layout().config();
    let text = view.text(&path)?;
    let mut document = document(view, &path, text.as_deref().unwrap_or_default())?;
    for (key, value) in values {
        let keys: Vec<String> = key.split('.').map(str::to_owned).collect();
        match value {
            Some(value) => {
                let edit = JsonEdit::Set { path: keys, value: value.clone() };
                document.apply(&edit).map_err(|error| uneditable(&path, &error))?;
            }
            None => remove(&mut document, &path, &keys)?,
        }
    }
    edits.write(view, &path, whole(document.to_string(), text.is_none()))?;
    Ok(edits)
}

/// Creates the file of a new project; an existing one stays as it is. If the project has a file, a workstream's file
/// gets only the choices.
pub(crate) fn create(view: &ProjectView, new: NewFile<'_>) -> Edited<CreateReport, Failure> {
    let path = view.layout().config();
    if view.text(&path)?.is_some() {
        return Ok((CreateReport::existing(path, Vec::new(), Vec::new()), Edits::default()));
    }
    let choices = choices(new)?;
    let is_over_another = lies_over_another(view);
    if is_over_another && choices.is_empty() {
        return Ok((CreateReport::existing(path, Vec::new(), Vec::new()), Edits::default()));
    }
    let file = if is_over_another { choices } else { initial(new, choices) };
    let mut edits = Edits::default();
    edits.write(view, &path, format!("{:#}\n", Value::Object(file)))?;
    let report = CreateReport { created: true, path: Some(path), reason: None, added: Vec::new(), kept: Vec::new() };
    Ok((report, edits))
}

/// Creates the file of a new project, or adds missing keys to an existing one. Existing values stay, even if the
/// choices differ.
pub(crate) fn complete(view: &ProjectView, new: NewFile<'_>) -> Edited<CreateReport, Failure> {
    let path = view.layout().config();
    let choices = choices(new)?;
    let Some(text) = view.text(&path)? else { return create(view, new) };
    let mut document = document(view, &path, &text)?;
    let written = if text.trim().is_empty() { Map::new() } else { read(view, &path)?.unwrap_or_default() };
    let (mut added, mut kept) = (Vec::new(), Vec::new());
    let wanted = if lies_over_another(view) { choices.clone() } else { initial(new, choices.clone()) };
    for (keys, value) in leaves(&wanted) {
        let key = keys.join(".");
        let is_chosen = config::at(&choices, &key) == Some(&value);
        let is_kept = match config::written_in(written.clone(), &key) {
            Some(own) => own != value,
            None => match document.apply(&JsonEdit::Set { path: keys, value }) {
                Ok(Applied::Changed(_)) => {
                    added.push(key);
                    continue;
                }
                Ok(_) => false,
                // A plain value replaces the whole group.
                Err(EditError::WrongKind { .. }) => true,
                Err(source) => return Err(uneditable(&path, &source)),
            },
        };
        if is_kept && is_chosen {
            kept.push(key);
        }
    }
    let mut edits = Edits::default();
    if !added.is_empty() {
        edits.write(view, &path, document.to_string())?;
    }
    Ok((CreateReport::existing(path, added, kept), edits))
}

/// True if the active file belongs to a workstream and overrides one of the project: a default in it would mask the
/// value in the project's file.
fn lies_over_another(view: &ProjectView) -> bool {
    let layout = view.layout();
    layout.config() != layout.root_config() && view.exists(&layout.root_config())
}

fn choices(new: NewFile<'_>) -> Result<Map<String, Value>, Failure> {
    match new.choices {
        Some(text) => {
            let mut choices = config::parse(text).map_err(|reason| {
                Failure::usage(format!("the choices are not a JSON object: {reason}"))
                    .hint("`gsd-tools config-new-project --help` shows an example")
            })?;
            config::check_values(&choices)?;
            config::store_values(&mut choices);
            Ok(choices)
        }
        None => Ok(Map::new()),
    }
}

/// The initial contents of a new project's file. The choices override everything else.
fn initial(new: NewFile<'_>, choices: Map<String, Value>) -> Map<String, Value> {
    let mut file = config::parse(config::INITIAL).unwrap_or_default();
    for service in new.services {
        file.insert((*service).to_owned(), Value::Bool(true));
    }
    // Defaults that do not parse are for the user to repair; they do not stop the creation of a project.
    let mut personal = new.personal.and_then(|text| config::parse(text).ok()).unwrap_or_default();
    // The host is the user's choice; other people in the project may use another one.
    personal.shift_remove("runtime");
    config::merge(&mut file, personal);
    config::merge(&mut file, choices);
    file
}

/// The values of an object that are not groups, each with its keys from the outermost inward.
fn leaves(object: &Map<String, Value>) -> Vec<(Vec<String>, Value)> {
    let mut found = Vec::new();
    for (key, value) in object {
        match value {
            Value::Object(inner) if !inner.is_empty() => {
                for (mut keys, value) in leaves(inner) {
                    keys.insert(0, key.clone());
                    found.push((keys, value));
                }
            }
            value => found.push((vec![key.clone()], value.clone())),
        }
    }
    found
}

/// Like [`set`], in a file with all default keys. A missing file is created with them.
pub(crate) fn set_in_whole_file(view: &ProjectView, setting: &Setting, new: NewFile<'_>) -> Edited<SetReport, Failure> {
    let (_, mut edits) = create(view, new)?;
    let (report, set) = set(&view.after(&edits), setting)?;
    edits.texts.extend(set.texts);
    Ok((report, edits))
}

/// Moves the values of renamed keys to their new names.
pub(crate) fn migrate(view: &ProjectView) -> Edited<MigrateReport, Failure> {
    let layout = view.layout();
    let own = layout.config();
    let path = if view.text(&own)?.is_some() { own } else { layout.root_config() };
    let mut report = MigrateReport { migrated: false, normalizations: Vec::new(), wrote: None, skipped: Vec::new() };
    let mut edits = Edits::default();
    let Some(file) = read(view, &path)? else { return Ok((report, edits)) };
    let text = view.text(&path)?.unwrap_or_default();
    let mut document = document(view, &path, &text)?;
    let repositories = nested_repositories(view, &file)?;
    for change in config::normalizations(&file, &repositories) {
        if change.taken {
            report.skipped.push(change);
            continue;
        }
        let to = change.to.split('.').map(str::to_owned).collect();
        let edit = JsonEdit::Set { path: to, value: change.value.clone() };
        document.apply(&edit).map_err(|error| uneditable(&path, &error))?;
        remove(&mut document, &path, &[change.from.to_owned()])?;
        report.normalizations.push(change);
    }
    report.migrated = !report.normalizations.is_empty();
    if report.migrated {
        report.wrote = Some(layout.shown(&path));
        edits.write(view, &path, document.to_string())?;
    }
    Ok((report, edits))
}

/// The folders of the project that are separate repositories, if the file requests the list.
fn nested_repositories(view: &ProjectView, file: &Map<String, Value>) -> Result<Vec<String>, FileError> {
    if file.get("multiRepo").and_then(Value::as_bool) != Some(true) {
        return Ok(Vec::new());
    }
    let mut folders = view.folder_names("")?;
    folders.retain(|folder| view.exists(&format!("{folder}/.git")));
    Ok(folders)
}

fn read(view: &ProjectView, path: &str) -> Result<Option<Map<String, Value>>, Failure> {
    let Some(text) = view.text(path)? else { return Ok(None) };
    config::parse(&text).map(Some).map_err(|reason| malformed(view, path, &reason))
}

fn document(view: &ProjectView, path: &str, text: &str) -> Result<JsonDocument, Failure> {
    let document = JsonDocument::parse(text, JsonDialect::Strict);
    let document = document.map_err(|error| malformed(view, path, &error.to_string()))?;
    // The editor accepts more than the reader, such as bare control characters. A text that the reader refuses is not
    // written.
    if !text.trim().is_empty() {
        config::parse(text).map_err(|reason| malformed(view, path, &reason))?;
    }
    Ok(document)
}

fn malformed(view: &ProjectView, path: &str, reason: &str) -> Failure {
    let message = format!("`{}` is not valid JSON: {reason}", view.layout().shown(path));
    Failure::new(Reason::ConfigParseFailed, message).hint("correct the file; it was not changed")
}

fn uneditable(path: &str, error: &EditError) -> Failure {
    Failure::unknown(format!("cannot edit `{path}`: {error}")).cause(error.to_string())
}

fn remove(document: &mut JsonDocument, path: &str, key: &[String]) -> Result<(), Failure> {
    let removed = document.remove(key);
    removed.map(drop).map_err(|error| uneditable(path, &error))
}

/// A file that we create ends with a newline; an existing file keeps its ending.
fn whole(mut text: String, is_new: bool) -> String {
    if is_new && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// A value for display: for secrets, only the end.
#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &str = ".planning/config.json";

    fn view(files: &[(&str, &str)]) -> ProjectView {
        ProjectView::of(files.iter().copied())
    }

    #[test]
    fn a_file_that_cannot_be_read_is_not_written() {
        let setting = Setting::parse("mode", "yolo").unwrap();
        for text in ["{ \"\u{1}\": 1 }", "{", "[1]", "{ \"a\": \"\t\" }"] {
            let refused = set(&view(&[(PATH, text)]), &setting);
            assert_eq!(refused.unwrap_err().reason, Reason::ConfigParseFailed, "{text:?}");
        }
    }

    fn after_set(text: &str, key: &str, value: &str) -> String {
        let (_, edits) = set(&view(&[(PATH, text)]), &Setting::parse(key, value).unwrap()).unwrap();
        edits.texts.get(PATH).cloned().unwrap_or_default()
    }

    #[test]
    fn a_set_value_leaves_every_other_byte_alone() {
        let text = "{\r\n\t\"zzz\" : [1,2],\r\n\t\"mode\":  \"interactive\"}";
        assert_eq!(after_set(text, "mode", "yolo"), text.replace("interactive", "yolo"));
        let nested = after_set("{\n    \"mode\": \"x\"\n}\n", "git.create_tag", "false");
        assert_eq!(nested, "{\n    \"mode\": \"x\",\n    \"git\": {\n        \"create_tag\": false\n    }\n}\n");
    }

    #[test]
    fn an_unset_value_is_removed_and_the_rest_stays() {
        let text = "{\n  \"mode\": \"x\",\n  \"runtime\": \"y\"\n}\n";
        assert_eq!(after_set(text, "runtime", "null"), "{\n  \"mode\": \"x\"\n}\n");
        let (report, edits) = set(&view(&[]), &Setting::parse("mode", "null").unwrap()).unwrap();
        assert!(edits.is_empty() && report.previous_value.is_none());
    }

    #[test]
    fn a_file_that_does_not_parse_is_not_written() {
        for text in ["{bad", "{\"a\": 1,}", "[]"] {
            let view = view(&[(PATH, text)]);
            assert!(set(&view, &Setting::parse("mode", "yolo").unwrap()).is_err(), "{text}");
            assert_eq!(get(&view, "mode", Some("x")).unwrap_err().reason, Reason::ConfigParseFailed, "{text}");
            assert!(migrate(&view).is_err());
        }
    }

    #[test]
    fn a_workstream_has_only_what_it_sets_itself() {
        let view = view(&[(PATH, r#"{"mode": "yolo", "workflow": {"research": false}}"#)]).scoped(Some("web"));
        let (report, edits) = create(&view, NewFile::default()).unwrap();
        assert!(!report.created && edits.is_empty());
        let new = NewFile { choices: Some(r#"{"granularity": "fine"}"#), ..NewFile::default() };
        let (report, edits) = create(&view, new).unwrap();
        let own = ".planning/workstreams/web/config.json";
        assert_eq!(report.path.as_deref(), Some(own));
        assert_eq!(edits.texts[own], "{\n  \"granularity\": \"fine\"\n}\n");
        let after = view.after(&edits);
        let more = NewFile { choices: Some(r#"{"mode": "interactive"}"#), ..NewFile::default() };
        let (report, edits) = complete(&after, more).unwrap();
        assert_eq!(report.added, ["mode"]);
        assert_eq!(edits.texts[own], "{\n  \"granularity\": \"fine\",\n  \"mode\": \"interactive\"\n}\n");
        let setting = Setting::parse("mode", "interactive").unwrap();
        let (_, edits) = set_in_whole_file(&view, &setting, NewFile::default()).unwrap();
        assert_eq!(edits.texts[own], "{\n  \"mode\": \"interactive\"\n}\n");
    }

    #[test]
    fn a_new_file_is_made_of_layers() {
        let new = NewFile {
            services: &["firecrawl"],
            personal: Some(r#"{"mode": "yolo", "runtime": "x", "workflow": {"research": false}}"#),
            choices: Some(r#"{"zzz": 1, "mode": "interactive"}"#),
        };
        let (_, edits) = create(&view(&[]), new).unwrap();
        let file = config::parse(&edits.texts[PATH]).unwrap();
        assert_eq!(file["firecrawl"], true);
        assert_eq!(file["workflow"]["research"], false);
        assert_eq!((&file["mode"], file.get("runtime")), (&"interactive".into(), None));
        assert_eq!(file.keys().next_back().map(String::as_str), Some("zzz"));
        let (_, plain) = create(&view(&[]), NewFile::default()).unwrap();
        assert_eq!(plain.texts[PATH], config::INITIAL);
        let (report, edits) = create(&view(&[(PATH, "{}")]), new).unwrap();
        assert!(!report.created && edits.is_empty());
    }

    #[test]
    fn old_keys_move_in_place() {
        let text = "{\"depth\": \"quick\", \"base_branch\": \"a\", \"git\": {\"base_branch\": \"b\"}}\n";
        let (report, edits) = migrate(&view(&[(PATH, text)])).unwrap();
        assert_eq!(report.normalizations.len(), 1);
        assert_eq!(report.skipped[0].from, "base_branch");
        let file = config::parse(&edits.texts[PATH]).unwrap();
        assert_eq!(file["granularity"], "coarse");
        assert_eq!((file.get("depth"), file["base_branch"].as_str()), (None, Some("a")));
        assert!(!migrate(&view(&[(PATH, "{}")])).unwrap().0.migrated);
    }

    #[test]
    fn nested_repositories_are_listed_if_the_file_requests_them() {
        let files = [(PATH, r#"{"multiRepo": true}"#), ("api/.git/HEAD", ""), ("docs/x.md", "")];
        let (report, edits) = migrate(&view(&files)).unwrap();
        assert_eq!(report.normalizations[0].from, "multiRepo");
        assert_eq!(config::parse(&edits.texts[PATH]).unwrap()["planning"]["sub_repos"], serde_json::json!(["api"]));
    }
}
