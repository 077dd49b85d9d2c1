//! Finds settings files that we can edit but that the host does not load, because it accepts less than we do.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use super::{InstallError, Target};
use crate::disk::Snapshot;
use crate::runtime::{Descriptor, FormDetail, HookForm, HostFile};
use crate::text::edit::{FileFormat, JsonDialect};
use crate::text::json::JsonDocument;

/// A settings file that the host does not load: our settings in it have no effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct NotLoaded {
    /// As a person would name it.
    pub(crate) path: String,
    /// The line where the host stops reading, counted from 1.
    pub(crate) line: usize,
    pub(crate) because: Unaccepted,
    /// The host's name.
    #[serde(skip)]
    host: String,
}

/// What the host does not accept in a settings file. The version is that of the file's form, if it is not a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Unaccepted {
    Comment,
    TrailingComma,
    ByteOrderMark,
    Version,
}

impl fmt::Display for NotLoaded {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, host, because } = self;
        let (one, many, cure) = match because {
            Unaccepted::Comment => ("a comment", "comments", "remove the comment"),
            Unaccepted::TrailingComma => ("a trailing comma", "trailing commas", "remove the trailing comma"),
            Unaccepted::ByteOrderMark => ("a byte order mark", "one", "save it as UTF-8 without a byte order mark"),
            Unaccepted::Version => ("a `version` that is not a number", "such a version", "write `\"version\": 1`"),
        };
        write!(
            formatter,
            "`{path}` has {one} at line {line}: {host} does not load settings files with {many}, so hooks will not run; \
             {cure}"
        )
    }
}

/// The existing settings files of an install that the host does not load. Only files whose descriptor says what the host
/// loads are checked.
pub(crate) fn not_loaded(target: &Target) -> Result<Vec<NotLoaded>, InstallError> {
    not_loaded_of(target, &mut Snapshot::default())
}

/// Like [`not_loaded`], using the snapshot.
pub(super) fn not_loaded_of(target: &Target, snapshot: &mut Snapshot) -> Result<Vec<NotLoaded>, InstallError> {
    let mut found = Vec::new();
    for (name, file) in &target.descriptor.files {
        let FileFormat::Json(edited) = file.format.to_file_format() else { continue };
        let path = file.path(target.scope, |path| snapshot.is_file(&target.root.resolve(path)));
        let path = target.root.resolve(path);
        let Some(text) = snapshot.read_text(&path)? else { continue };
        let dialect = match file.loads.map(crate::runtime::HostFormat::to_file_format) {
            Some(FileFormat::Json(dialect)) => Some(dialect),
            _ => None,
        };
        let because = dialect
            .and_then(|dialect| refused(&text, dialect))
            .or_else(|| refused_detail(&text, file))
            .or_else(|| has_version(&target.descriptor, name).then(|| wrong_version(&text, edited)).flatten());
        if let Some((line, because)) = because {
            let host = target.descriptor.name.clone();
            found.push(NotLoaded { path: target.shown(&path), line, because, host });
        }
    }
    Ok(found)
}

/// The line and kind of the first extra that this dialect does not accept. `None` also for a text that is not JSON even
/// with extras, which every reader refuses.
fn refused(text: &str, dialect: JsonDialect) -> Option<(usize, Unaccepted)> {
    JsonDocument::read(text, JsonDialect::CommentsAndTrailingCommas).ok()?;
    let error = JsonDocument::read(text, dialect).err()?;
    let comma = JsonDocument::read(text, JsonDialect::Comments).err();
    let because = if comma.as_ref() == Some(&error) { Unaccepted::TrailingComma } else { Unaccepted::Comment };
    Some((error.line, because))
}

fn refused_detail(text: &str, file: &HostFile) -> Option<(usize, Unaccepted)> {
    file.refuses.iter().find_map(|detail| match detail {
        FormDetail::ByteOrderMark => text.starts_with('\u{feff}').then_some((1, Unaccepted::ByteOrderMark)),
    })
}

/// True if our hooks are in this file, and it has a version.
fn has_version(descriptor: &Descriptor, name: &str) -> bool {
    let form = descriptor.hooks.as_ref().map(|hooks| &hooks.form);
    matches!(form, Some(HookForm::Flat { file, version: Some(_) }) if file == name)
}

fn wrong_version(text: &str, dialect: JsonDialect) -> Option<(usize, Unaccepted)> {
    let document = JsonDocument::parse(text, dialect).ok()?;
    let path = ["version".to_owned()];
    let line = document.line(&path)?;
    document.value(&path).filter(|version| !version.is_number()).map(|_| (line, Unaccepted::Version))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_thing_a_host_does_not_accept_is_named_with_its_line() {
        let (comment, comma) = ("{\n  // mine\n  \"a\": 1\n}\n", "{\n  \"a\": [\n    1,\n  ]\n}\n");
        let both = "{\n  \"a\": [1,],\n  \"b\": 2 // two\n}\n";
        let rows = [
            (comment, JsonDialect::Strict, Some((2, Unaccepted::Comment))),
            (comma, JsonDialect::Strict, Some((3, Unaccepted::TrailingComma))),
            (both, JsonDialect::Strict, Some((2, Unaccepted::TrailingComma))),
            (comment, JsonDialect::Comments, None),
            (comma, JsonDialect::Comments, Some((3, Unaccepted::TrailingComma))),
            (both, JsonDialect::CommentsAndTrailingCommas, None),
            ("{\"a\": 1}", JsonDialect::Strict, None),
            ("", JsonDialect::Strict, None),
            ("{\n  oops\n}", JsonDialect::Strict, None),
        ];
        for (text, dialect, expected) in rows {
            assert_eq!(refused(text, dialect), expected, "{dialect:?} of {text}");
        }
    }

    #[test]
    fn a_version_that_is_not_a_number_is_found() {
        let rows = [
            ("{\n  \"version\": \"1\"\n}", Some((2, Unaccepted::Version))),
            ("{\"version\": 2}", None),
            ("{\"hooks\": {}}", None),
            ("{", None),
        ];
        for (text, expected) in rows {
            assert_eq!(wrong_version(text, JsonDialect::Strict), expected, "{text}");
        }
    }
}
