//! Makes and undoes our edits of a shared file, on its text. Pure.
//!
//! The edits are kept as a list of [`MadeEdit`]s in the ledger of the manifest. Each document keeps every byte that an
//! edit does not name.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::emit::SharedEdit;
use crate::text::edit::{Applied, EditError, FileFormat, ParseError, Undo};
use crate::text::fragment::MarkedError;
use crate::text::json::{Excerpt, JsonDocument, JsonEdit};
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

/// Undoes these edits, last one first. A value that was changed since stays.
pub(crate) fn take_back<'a>(
    format: FileFormat,
    text: &str,
    edits: impl DoubleEndedIterator<Item = &'a MadeEdit>,
) -> Result<String, SharedError> {
    let made: Vec<&MadeEdit> = edits.filter(|made| made.applied.changed()).collect();
    let take_back = |document: &mut SharedDocument| made.iter().rev().try_for_each(|made| document.revert(made));
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
        let mut document = SharedDocument::parse(format, excerpt.text())?;
        let given = act(&mut document)?;
        if let Some(whole) = excerpt.whole(&document.into_text())
            && JsonDocument::parse(&whole, dialect).is_ok()
        {
            return Ok((whole, given));
        }
    }
    let mut document = SharedDocument::parse(format, text)?;
    let given = act(&mut document)?;
    Ok((document.into_text(), given))
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
            (Self::Lines(text), SharedEdit::Marked(block)) => *text = block.marked().remove(text)?,
            _ => return Err(SharedError::Format),
        }
        Ok(())
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
