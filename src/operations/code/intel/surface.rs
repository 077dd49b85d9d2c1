//! `API-SURFACE.md`: the map of interfaces, written for people.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{API, Known, children, path};
use crate::project::view::{Edited, Edits, ProjectView};

/// What `intel api-surface` answers.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SurfaceReport {
    /// The absolute path of the page.
    written: String,
    symbol_count: usize,
    /// True if the map is older than a day, or does not say when it was updated.
    stale: bool,
    #[serde(rename = "read_error")]
    read_error: Option<String>,
}

/// Writes the page from the map; `now` determines whether it is stale.
pub(crate) fn write(view: &ProjectView, now: i64) -> Edited<SurfaceReport> {
    let known = Known::of(view, API);
    let entries = known.value().and_then(|value| value.get("entries")).map(children).unwrap_or_default();
    let (stale, read_error) = (!known.is_fresh(now), known.read_error());
    let page = path(view, "API-SURFACE.md");
    let mut edits = Edits::default();
    edits.write(view, &page, print(&entries, stale, read_error.as_deref()))?;
    let written = view.layout().shown(&page);
    Ok((SurfaceReport { written, symbol_count: entries.len(), stale, read_error }, edits))
}

fn print(entries: &[(String, &Value)], stale: bool, read_error: Option<&str>) -> String {
    let mut page =
        "# API Surface\n\n> Generated from `.planning/intel/api-map.json`. Do not edit by hand.\n".to_owned();
    // Writing to a string cannot fail.
    let _ = match (read_error, entries.is_empty(), stale) {
        (Some(error), _, _) => write!(page, "\n> **Incomplete:** {}. {UNKNOWN}\n", one_line(error)),
        (None, true, _) => write!(page, "\n> **Incomplete:** the map has no entries yet. {UNKNOWN}\n"),
        (None, false, true) => write!(page, "\n> **Warning:** the map is more than a day old.\n"),
        (None, false, false) => Ok(()),
    };
    for (symbol, entry) in entries {
        let _ = write!(page, "\n## `{}`\n", one_line(symbol));
        let fields = match entry {
            Value::Object(_) | Value::Array(_) => children(entry),
            Value::Null => Vec::new(),
            plain => vec![("value".to_owned(), *plain)],
        };
        for (at, (field, value)) in fields.iter().enumerate() {
            let gap = if at == 0 { "\n" } else { "" };
            let _ = writeln!(page, "{gap}- **{}:** {}", one_line(field), shown(value));
        }
    }
    page
}

const UNKNOWN: &str = "What is not listed may still exist.";

/// A list is joined with commas; deeper values are shown as JSON.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => one_line(text),
        Value::Array(list) => list.iter().map(shown).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_every_entry_on_its_own_lines() {
        let map: Value = serde_json::from_str(
            r#"{"POST /login": {"file": "a.js", "takes": ["x", {"y": 1}], "note": "two\n# lines"}, "bare": "text", "none": null}"#,
        )
        .unwrap();
        let page = print(&children(&map), false, None);
        let entries = page.split_once("by hand.\n").unwrap().1;
        assert_eq!(
            entries,
            "\n## `POST /login`\n\n- **file:** a.js\n- **takes:** x, {\"y\":1}\n- **note:** two # lines\n\
             \n## `bare`\n\n- **value:** text\n\n## `none`\n"
        );
    }

    #[test]
    fn a_page_says_what_is_incomplete() {
        assert!(print(&[], true, None).contains("**Incomplete:**"));
        assert!(print(&[], true, Some("cannot\nread")).contains("**Incomplete:** cannot read."));
        assert!(print(&[("a".to_owned(), &Value::Null)], true, None).contains("**Warning:**"));
    }
}
