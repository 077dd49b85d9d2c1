//! Makes and undoes our edits of a shared file, on its text. Pure.
//!
//! The edits are kept as a list of [`MadeEdit`]s in the ledger of the manifest. Each document keeps every byte that an
//! edit does not name.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::emit::SharedEdit;
use crate::text::edit::{Applied, EditError, FileFormat, ParseError, Undo};
use crate::text::fragment::MarkedError;
use crate::text::json::{Excerpt, JsonDocument, JsonEdit, check_characters};
use crate::text::toml::TomlDocument;
use crate::text::yaml::YamlDocument;

/// An edit, and what it did to the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct MadeEdit {
    pub(crate) edit: SharedEdit,
    pub(crate) applied: Applied,
}

/// Why a shared file was not edited.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SharedError {
    #[error(transparent)]
    Parse(#[from] ParseError),
    #[error(transparent)]
    Edit(#[from] EditError),
    #[error(transparent)]
    Marked(#[from] MarkedError),
    #[error("the edit is for another format")]
    Format,
}

impl SharedError {
    /// What the owner of the file can change so that it can be edited.
    pub(super) fn cure(&self) -> Option<String> {
        match self {
            Self::Parse(error) => Some(format!("correct line {} of the file", error.line)),
            Self::Edit(error) => error.cure(),
            Self::Marked(error) => Some(error.cure()),
            Self::Format => None,
        }
    }
}

/// Makes all edits; returns the text and what each of them did.
pub(crate) fn make(
    format: FileFormat,
    text: &str,
    edits: &[SharedEdit],
) -> Result<(String, Vec<MadeEdit>), SharedError> {
    let make = |document: &mut SharedDocument| {
        let made = |edit: &SharedEdit| Ok(MadeEdit { edit: edit.clone(), applied: document.apply(edit)? });
        edits.iter().map(made).collect::<Result<Vec<_>, SharedError>>()
    };
    edited(format, text, edits.iter(), make)
}

/// The text without our blocks that are in it already; `None` if nothing else was there.
pub(crate) fn without_blocks(text: &str, edits: &[SharedEdit]) -> Result<Option<String>, SharedError> {
    let mut left = text.to_owned();
    for edit in edits {
        if let SharedEdit::Marked(block) = edit {
            left = block.marked().remove(&left)?;
        }
    }
    Ok(Some(left).filter(|left| left == text || !is_blank(FileFormat::Markdown, left)))
}

/// Undoes these edits, last one first. A value that was changed since stays.
pub(crate) fn take_back<'a>(
    format: FileFormat,
    text: &str,
    edits: impl DoubleEndedIterator<Item = &'a MadeEdit>,
) -> Result<String, SharedError> {
    let made: Vec<&MadeEdit> = edits.filter(|made| made.applied.changed()).collect();
    let take_back = |document: &mut SharedDocument| {
        let mut left = made.iter().rev().filter(|made| !is_of_form(&made.edit));
        left.try_for_each(|made| document.revert(made))?;
        let form: Vec<_> = made.iter().filter(|made| is_of_form(&made.edit)).collect();
        if form.is_empty() || made.iter().any(|made| !is_of_form(&made.edit) && document.has_more_at(&made.edit)) {
            return Ok(());
        }
        form.into_iter().rev().try_for_each(|made| document.revert(made))
    };
    edited(format, text, made.iter().map(|made| &made.edit), take_back).map(|(text, ())| text)
}

/// Runs `act`, which makes or undoes `edits`; returns the text and the result of `act`.
fn edited<'edit, Given>(
    format: FileFormat,
    text: &str,
    edits: impl Iterator<Item = &'edit SharedEdit>,
    act: impl Fn(&mut SharedDocument) -> Result<Given, SharedError>,
) -> Result<(String, Given), SharedError> {
    if let FileFormat::Json(dialect) = format {
        let json = edits.filter_map(|edit| if let SharedEdit::Json(edit) = edit { Some(edit) } else { None });
        let excerpt = Excerpt::of(text, dialect, json)?;
        check_characters(text)?;
        let mut document = SharedDocument::parse(format, excerpt.text())?;
        // An error is found again in the whole text, where its line counts.
        if let Ok(given) = act(&mut document)
            && let Some(whole) = excerpt.whole(&document.into_text())
            && JsonDocument::parse(&whole, dialect).is_ok()
        {
            return Ok((whole, given));
        }
    }
    let mut document = SharedDocument::parse(format, text)?;
    let given = act(&mut document)?;
    Ok((document.into_text(), given))
}

/// True for the version of a file's form, without which the host reads none of the file.
fn is_of_form(edit: &SharedEdit) -> bool {
    matches!(edit, SharedEdit::Json(JsonEdit::SetIfAbsent { path, .. }) if *path == ["version"])
}

/// True if the text is blank or an empty object.
pub(crate) fn is_blank(format: FileFormat, text: &str) -> bool {
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        return true;
    }
    match format {
        FileFormat::Json(_) => {
            let bare: String = text.chars().filter(|c| !c.is_whitespace() && *c != '\u{feff}').collect();
            bare == "{}"
        }
        FileFormat::Toml | FileFormat::Yaml | FileFormat::Markdown | FileFormat::Lines => false,
    }
}

/// True if the text is valid in its format.
pub(crate) fn parses(format: FileFormat, text: &str) -> bool {
    SharedDocument::parse(format, text).is_ok()
}

enum SharedDocument {
    Json(JsonDocument),
    Toml(TomlDocument),
    Yaml(YamlDocument),
    Lines(String),
}

impl SharedDocument {
    fn parse(format: FileFormat, text: &str) -> Result<Self, SharedError> {
        Ok(match format {
            FileFormat::Json(dialect) => Self::Json(JsonDocument::parse(text, dialect)?),
            FileFormat::Toml => Self::Toml(TomlDocument::parse(text)?),
            FileFormat::Yaml => Self::Yaml(YamlDocument::parse(text)?),
            FileFormat::Markdown | FileFormat::Lines => Self::Lines(text.to_owned()),
        })
    }

    fn apply(&mut self, edit: &SharedEdit) -> Result<Applied, SharedError> {
        Ok(match (self, edit) {
            (Self::Json(document), SharedEdit::Json(edit)) => match (document.apply(edit), edit) {
                (Err(error @ EditError::WrongKind { .. }), JsonEdit::SetIfAbsent { path, .. }) => {
                    settled_above(document, path).map(Applied::Kept).ok_or(error)?
                }
                (applied, _) => applied?,
            },
            (Self::Toml(document), SharedEdit::Toml(edit)) => document.apply(edit)?,
            (Self::Yaml(document), SharedEdit::Yaml(edit)) => document.apply(edit)?,
            (Self::Lines(text), SharedEdit::Marked(block)) => {
                block.marked().check(text)?;
                *text = block.marked().put(text, &block.body)?;
                // Only we write between these markers, so the block is ours even if it existed before.
                Applied::Changed(Undo::default())
            }
            _ => return Err(SharedError::Format),
        })
    }

    fn revert(&mut self, made: &MadeEdit) -> Result<(), SharedError> {
        match (self, &made.edit) {
            (Self::Json(document), SharedEdit::Json(edit)) => drop(document.revert(edit, &made.applied)?),
            (Self::Toml(document), SharedEdit::Toml(edit)) => drop(document.revert(edit, &made.applied)?),
            (Self::Yaml(document), SharedEdit::Yaml(edit)) => drop(document.revert(edit, &made.applied)?),
            (Self::Lines(text), SharedEdit::Marked(block)) => {
                block.marked().check(text)?;
                *text = block.marked().remove(text)?;
            }
            _ => return Err(SharedError::Format),
        }
        Ok(())
    }

    /// True if the file has entries of others below the first key of this edit.
    fn has_more_at(&self, edit: &SharedEdit) -> bool {
        let (Self::Json(document), SharedEdit::Json(edit)) = (self, edit) else { return false };
        let is_empty = |value: &Value| match value {
            Value::Object(object) => object.is_empty(),
            Value::Array(list) => list.is_empty(),
            Value::Null => true,
            Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
        };
        edit.path().first().and_then(|key| document.value(std::slice::from_ref(key))).is_some_and(|it| !is_empty(&it))
    }

    fn into_text(self) -> String {
        match self {
            Self::Json(document) => document.to_string(),
            Self::Toml(document) => document.to_string(),
            Self::Yaml(document) => document.to_string(),
            Self::Lines(text) => text,
        }
    }
}

/// Our edits that had no room because a person set one value above them. Each as the key and its value.
pub(crate) fn kept_out(format: FileFormat, text: &str, edits: &[MadeEdit]) -> Vec<(String, String)> {
    let FileFormat::Json(dialect) = format else { return Vec::new() };
    let Ok(document) = JsonDocument::parse(text, dialect) else { return Vec::new() };
    let mut found: Vec<(String, String)> = Vec::new();
    for made in edits.iter().filter(|made| matches!(made.applied, Applied::Kept(_))) {
        let SharedEdit::Json(JsonEdit::SetIfAbsent { path, .. }) = &made.edit else { continue };
        let above = (1..path.len()).map(|depth| &path[..depth]);
        let above = above.filter_map(|path| Some((path, document.value(path).filter(|value| !value.is_object())?)));
        for (path, value) in above {
            let kept = (path.join("."), value.to_string());
            if !found.contains(&kept) {
                found.push(kept);
            }
        }
    }
    found
}

/// The value above a path that leaves no room for it: a person's single value for everything that could be there.
fn settled_above(document: &JsonDocument, path: &[String]) -> Option<Value> {
    (1..path.len()).filter_map(|depth| document.value(&path[..depth])).find(|value| !value.is_object())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::emit::MarkedText;
    use crate::text::edit::JsonDialect;

    const JSON: FileFormat = FileFormat::Json(JsonDialect::Comments);

    fn append(value: &str) -> SharedEdit {
        SharedEdit::Json(JsonEdit::Append { path: vec!["allow".into()], value: json!(value) })
    }

    #[test]
    fn edits_that_were_made_can_be_undone() {
        let text = "{\n  // mine\n  \"allow\": [\"a\"]\n}\n";
        let (edited, made) = make(JSON, text, &[append("b"), append("c")]).unwrap();
        assert_ne!(edited, text);
        assert_eq!(take_back(JSON, &edited, made.iter()).unwrap(), text);
    }

    #[test]
    fn values_that_existed_before_are_not_removed() {
        let text = "{\"allow\": [\"a\"]}";
        let (edited, made) = make(JSON, text, &[append("a")]).unwrap();
        assert_eq!(edited, text);
        assert_eq!(take_back(JSON, &edited, made.iter()).unwrap(), text);
    }

    #[test]
    fn a_ledger_restores_only_a_single_value_or_white_space() {
        let set = |key: &str| json!({"json": {"set": {"path": [key], "value": "x"}}});
        let toml = json!({"toml": {"set": {"path": ["a"], "value": "x"}}});
        let yaml = json!({"yaml": {"append": {"path": ["a"], "value": "x"}}});
        let rows = [
            (JSON, "{\"a\": \"x\"}", set("a"), "1", true),
            (JSON, "{\"a\": \"x\"}", set("a"), "{\"b\": [1]}", true),
            (JSON, "{\"a\": \"x\"}", set("a"), "1, \"b\": 2", false),
            (JSON, "{\"a\": \"x\"}", set("a"), "1 // c", false),
            (JSON, "{\"a\": \"x\"}", set("a"), "", false),
            (FileFormat::Toml, "a = \"x\"\n", toml.clone(), "[1, 2]", true),
            (FileFormat::Toml, "a = \"x\"\n", toml.clone(), "1\nb = 2", false),
            (FileFormat::Toml, "a = \"x\"\n", toml, "1 # c", false),
            (FileFormat::Yaml, "a:\n  - x\n", yaml.clone(), " []", true),
            (FileFormat::Yaml, "a:\n  - x\n", yaml.clone(), " []\nb: 1", false),
            (FileFormat::Yaml, "a:\n  - x\n", yaml, " {b: 1}", false),
        ];
        for (format, text, edit, previous, is_one_value) in rows {
            let made: MadeEdit =
                serde_json::from_value(json!({"edit": edit, "applied": {"changed": {"previous": previous}}})).unwrap();
            let result = take_back(format, text, [made].iter());
            assert_eq!(result.is_ok(), is_one_value, "{previous}: {result:?}");
            assert!(result.is_err() || result.unwrap().contains(previous));
        }
        let blank =
            |blank: &str| json!({"edit": set("a"), "applied": {"changed": {"created-parents": 1, "blank": blank}}});
        assert!(serde_json::from_value::<MadeEdit>(blank(" \n")).is_ok());
        let error = serde_json::from_value::<MadeEdit>(blank("\"hooks\": 1")).unwrap_err().to_string();
        assert!(error.contains("more than whitespace"), "{error}");
    }

    #[test]
    fn one_value_for_everything_leaves_no_room_for_ours() {
        let ours = |path: &[&str]| {
            let path = path.iter().map(|key| (*key).to_owned()).collect();
            SharedEdit::Json(JsonEdit::SetIfAbsent { path, value: json!("allow") })
        };
        let text = "{\"permission\": \"ask\"}";
        let (edited, made) = make(JSON, text, &[ours(&["permission", "bash", "x *"])]).unwrap();
        assert_eq!((edited.as_str(), &made[0].applied), (text, &Applied::Kept(json!("ask"))));
        assert_eq!(kept_out(JSON, &edited, &made), [("permission".to_owned(), "\"ask\"".to_owned())]);
        let of_bash = "{\"permission\": {\"bash\": \"ask\"}}";
        let both = [ours(&["permission", "bash", "x *"]), ours(&["permission", "bash", "y *"])];
        let (edited, made) = make(JSON, of_bash, &both).unwrap();
        assert_eq!(kept_out(JSON, &edited, &made), [("permission.bash".to_owned(), "\"ask\"".to_owned())]);
        let own = "{\"permission\": {\"bash\": {\"x *\": \"ask\"}}}";
        let (edited, made) = make(JSON, own, &both).unwrap();
        assert_eq!(kept_out(JSON, &edited, &made), [], "a rule of the person's beside ours");
        assert!(make(JSON, "[]", &[ours(&["permission", "bash"])]).is_err());
        assert!(make(JSON, "{\"allow\": 1}", &[append("a")]).is_err());
    }

    #[test]
    fn a_block_is_inserted_and_removed() {
        let block = MarkedText { open: "<!-- a -->".into(), close: "<!-- /a -->".into(), body: "x".into() };
        let (edited, made) = make(FileFormat::Markdown, "# Notes\n", &[SharedEdit::Marked(block)]).unwrap();
        assert_eq!(take_back(FileFormat::Markdown, &edited, made.iter()).unwrap(), "# Notes\n");
    }

    #[test]
    fn the_version_of_a_file_stays_as_long_as_others_have_entries_in_it() {
        let version = SharedEdit::Json(JsonEdit::SetIfAbsent { path: vec!["version".into()], value: json!(1) });
        let hook = SharedEdit::Json(JsonEdit::Append { path: vec!["hooks".into(), "stop".into()], value: json!("x") });
        let (edited, made) = make(JSON, "", &[version, hook]).unwrap();
        assert_eq!(take_back(JSON, &edited, made.iter()).unwrap(), "");
        let mine = edited.replace("\"x\"", "\"x\", \"mine\"");
        let left = take_back(JSON, &mine, made.iter()).unwrap();
        assert!(left.contains("\"version\": 1") && left.contains("mine") && !left.contains("\"x\""), "{left}");
    }

    #[test]
    fn characters_that_no_host_reads_are_refused_and_halves_are_kept() {
        let error = make(JSON, "{\n  \"a\": \"b\tc\"\n}", &[append("b")]).unwrap_err();
        assert!(matches!(error, SharedError::Parse(ParseError { line: 2, column: 10, .. })), "{error:?}");
        let text = "{\"a\": \"\\ud83d\", \"allow\": [\"\\uDE00\"]}";
        let (edited, made) = make(JSON, text, &[append("b")]).unwrap();
        assert!(edited.starts_with("{\"a\": \"\\ud83d\", \"allow\": [\"\\uDE00\","), "{edited}");
        assert_eq!(take_back(JSON, &edited, made.iter()).unwrap(), text);
    }

    #[test]
    fn a_refusal_names_the_line_in_the_whole_file() {
        let keys: Vec<String> = (0..40).map(|at| format!("    \"key {at}\": true,\n")).collect();
        let long = keys.concat();
        let text = format!("{{\n  \"mine\": {{\n{long}    \"z\": 1\n  }},\n  \"allow\": 3\n}}\n");
        let error = make(JSON, &text, &[append("b")]).unwrap_err().to_string();
        assert_eq!(error, "line 45: `allow` is a number in the file where a list is needed");
    }

    #[test]
    fn an_old_block_is_not_part_of_the_file_of_before() {
        let block = MarkedText { open: "<!-- a -->".into(), close: "<!-- /a -->".into(), body: "x".into() };
        let left = |text: &str| without_blocks(text, &[SharedEdit::Marked(block.clone())]).unwrap();
        assert_eq!(left("a\n\n<!-- a -->\nold\n<!-- /a -->\n\nb\n"), Some("a\n\nb\n".into()));
        assert_eq!(left("<!-- a -->\nold\n<!-- /a -->\n"), None);
        assert_eq!(left(""), Some(String::new()));
    }

    #[test]
    fn a_file_that_does_not_parse_is_an_error_with_its_line() {
        let error = make(JSON, "{\n  oops\n}", &[append("b")]).unwrap_err();
        assert!(matches!(error, SharedError::Parse(ParseError { line: 2, .. })), "{error:?}");
    }

    #[test]
    fn blank_means_empty_or_an_empty_object() {
        assert!(is_blank(JSON, "{\n}\n") && is_blank(JSON, "\u{feff} ") && is_blank(FileFormat::Toml, "\n"));
        assert!(!is_blank(JSON, "{ // note\n}") && !is_blank(FileFormat::Markdown, "{}"));
    }
}
