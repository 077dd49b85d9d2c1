//! The documents of the code map: stamped with the commit at which they were made.

use schemars::JsonSchema;
use serde::Serialize;

use crate::project::view::{Edited, Edits, ProjectView};
use crate::text::front_matter::{self, FrontMatter, Value, is_unclosed};
use crate::text::markdown::newline_of;
use crate::text::splice::Splices;

/// The documents of the map, in the order in which answers list them.
const DOCUMENTS: [&str; 7] =
    ["STACK.md", "ARCHITECTURE.md", "STRUCTURE.md", "CONVENTIONS.md", "TESTING.md", "INTEGRATIONS.md", "CONCERNS.md"];
const COMMIT: &str = "last_mapped_commit";
const DAY: &str = "last_mapped_at";

/// What `stamp-codebase-map` answers.
#[derive(Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct StampReport {
    stamped: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<Vec<Failed>>,
    commit: Option<String>,
    stamped_at: Option<String>,
    /// There was nothing to stamp.
    skipped: bool,
    reason: Option<String>,
}

/// A document that was not changed, and why.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
struct Failed {
    file: String,
    reason: String,
}

/// Stamps the existing documents, or those in `chosen` (names separated by commas), with `commit` and `day`.
/// `is_repository` is true if the project is a repository: then a missing `commit` means that it has none yet.
pub(crate) fn stamp(
    view: &ProjectView,
    chosen: Option<&str>,
    commit: Option<&str>,
    is_repository: bool,
    day: &str,
) -> Edited<StampReport> {
    let folder = view.layout().codebase();
    let skipped = |reason: &str| {
        let report = StampReport { skipped: true, reason: Some(reason.to_owned()), ..StampReport::default() };
        Ok((report, Edits::default()))
    };
    if !view.folder_exists(&folder) {
        return skipped("no-codebase-dir");
    }
    let names: Option<Vec<&str>> =
        chosen.map(|chosen| chosen.split(',').map(str::trim).filter(|name| !name.is_empty()).collect());
    if let Some(names) = &names {
        let unknown: Vec<&str> = names.iter().copied().filter(|name| !DOCUMENTS.contains(name)).collect();
        if names.is_empty() {
            return skipped("empty-codebase-map-file-filter");
        }
        if !unknown.is_empty() {
            return skipped(&format!("unknown-codebase-map-file: {}", unknown.join(",")));
        }
    }
    let wanted = |name: &&str| names.as_ref().is_none_or(|names| names.contains(name));
    let path = |name: &str| format!("{folder}/{name}");
    let there: Vec<&str> = DOCUMENTS.into_iter().filter(wanted).filter(|name| view.exists(&path(name))).collect();
    if there.is_empty() {
        return match &names {
            Some(names) if DOCUMENTS.iter().any(|name| view.exists(&path(name))) => {
                skipped(&format!("codebase-map-file-not-found: {}", names.join(",")))
            }
            _ => skipped("no-codebase-map"),
        };
    }
    let Some(commit) = commit else {
        return skipped(if is_repository { "no-commits-yet" } else { "not-a-git-repo" });
    };
    let mut edits = Edits::default();
    let (mut stamped, mut failed) = (Vec::new(), Vec::new());
    for name in there {
        let text = view.text(&path(name)).map_err(|error| error.reason);
        match text.and_then(|text| with_stamp(&text.unwrap_or_default(), commit, day)) {
            Ok(text) => {
                edits.write(view, &path(name), text)?;
                stamped.push(name.to_owned());
            }
            Err(reason) => failed.push(Failed { file: name.to_owned(), reason }),
        }
    }
    let report = StampReport {
        stamped,
        failed: Some(failed),
        commit: Some(commit.to_owned()),
        stamped_at: Some(day.to_owned()),
        ..StampReport::default()
    };
    Ok((report, edits))
}

fn with_stamp(text: &str, commit: &str, day: &str) -> Result<String, String> {
    let stamp = [(COMMIT, commit), (DAY, day)].map(|(key, value)| (key.to_owned(), Value::from(value)));
    let Some(front) = FrontMatter::parse(text) else {
        if is_unclosed(text) {
            return Err("its front matter is not closed".to_owned());
        }
        let (mark, body) = match text.strip_prefix('\u{feff}') {
            Some(body) => ("\u{feff}", body),
            None => ("", text),
        };
        return Ok(format!("{mark}{}", front_matter::compose(&stamp, body, newline_of(text))));
    };
    if let Some(problem) = front.problem() {
        return Err(format!("its front matter cannot be edited: line {}, {}", problem.line, problem.what));
    }
    let mut text = text.to_owned();
    for (key, value) in &stamp {
        let front = FrontMatter::parse(&text).ok_or_else(|| "its front matter cannot be edited".to_owned())?;
        let mut splices = Splices::default();
        front.set(key, value, &mut splices);
        text = splices.apply(&text);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::files::MemoryFiles;

    fn view(files: &[(&str, &str)]) -> ProjectView {
        let texts =
            files.iter().map(|(name, text)| (format!(".planning/codebase/{name}"), (*text).to_owned())).collect();
        (MemoryFiles { texts, ..MemoryFiles::default() }).view()
    }

    #[test]
    fn a_stamp_changes_only_its_own_lines() {
        let of = |text: &str| with_stamp(text, "abc", "2026-01-02");
        assert_eq!(
            of("---\r\nfoo: bar # c\r\nlast_mapped_commit: old\r\n---\r\n\r\n# Arch\r\n").unwrap(),
            "---\r\nfoo: bar # c\r\nlast_mapped_commit: abc\r\nlast_mapped_at: 2026-01-02\r\n---\r\n\r\n# Arch\r\n"
        );
        assert_eq!(
            of("\u{feff}# Stack\n").unwrap(),
            "\u{feff}---\nlast_mapped_commit: abc\nlast_mapped_at: 2026-01-02\n---\n# Stack\n"
        );
        assert!(of("---\nunclosed\n# x\n").is_err());
    }

    #[test]
    fn documents_are_stamped_or_the_reason_is_given() {
        let reason = |files: &[(&str, &str)], chosen, commit| {
            let (report, edits) = stamp(&view(files), chosen, commit, false, "2026-01-02").unwrap();
            assert_eq!(report.skipped, edits.is_empty());
            report.reason.unwrap_or_else(|| report.stamped.join(" "))
        };
        let map = [("TESTING.md", "t"), ("STACK.md", "s"), ("OTHER.md", "o")];
        assert_eq!(reason(&map, None, Some("abc")), "STACK.md TESTING.md");
        assert_eq!(reason(&map, Some("TESTING.md, "), Some("abc")), "TESTING.md");
        assert_eq!(
            reason(&map, Some("STACK.md,nope.md,OTHER.md"), Some("a")),
            "unknown-codebase-map-file: nope.md,OTHER.md"
        );
        assert_eq!(reason(&map, Some(" ,"), Some("abc")), "empty-codebase-map-file-filter");
        assert_eq!(reason(&map, None, None), "not-a-git-repo");
        assert_eq!(reason(&map, Some("ARCHITECTURE.md"), Some("abc")), "codebase-map-file-not-found: ARCHITECTURE.md");
        let (unborn, _) = stamp(&view(&map), None, None, true, "2026-01-02").unwrap();
        assert_eq!(unborn.reason.as_deref(), Some("no-commits-yet"));
        assert_eq!(reason(&[("OTHER.md", "o")], None, Some("abc")), "no-codebase-map");
        assert_eq!(reason(&[], None, Some("abc")), "no-codebase-dir");
    }
}
