//! Seeds: ideas for later.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::project::files::FileError;
use crate::project::view::ProjectView;
use crate::text::front_matter::{FrontMatter, Value};
use crate::text::markdown::Markdown;
use crate::text::untrusted::neutral;

/// What `list-seeds` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SeedsReport {
    pub(crate) count: usize,
    pub(crate) seeds: Vec<SeedReport>,
    /// The number of seeds by status.
    summary: BTreeMap<String, usize>,
}

#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct SeedReport {
    #[serde(rename = "seed_id")]
    id: String,
    slug: String,
    status: String,
    scope: String,
    trigger_when: String,
    planted: String,
    title: String,
    path: String,
}

/// Lists the seeds, optionally only those with one status.
pub(crate) fn list(view: &ProjectView, status: Option<&str>) -> Result<SeedsReport, FileError> {
    let folder = view.layout().seeds();
    let mut seeds = Vec::new();
    for name in view.file_names(&folder)? {
        let Some(stem) = name.strip_prefix("SEED-").and_then(|name| name.strip_suffix(".md")) else { continue };
        let path = format!("{folder}/{name}");
        let Some(text) = view.text(&path)? else { continue };
        let found = seed(stem, path, &text);
        if status.is_none_or(|status| status.eq_ignore_ascii_case(&found.status)) {
            seeds.push(found);
        }
    }
    seeds.sort_by(|left, right| left.id.cmp(&right.id));
    let mut summary = BTreeMap::new();
    for found in &seeds {
        *summary.entry(found.status.clone()).or_default() += 1;
    }
    Ok(SeedsReport { count: seeds.len(), seeds, summary })
}

/// The seed of a file `SEED-<stem>.md`.
fn seed(stem: &str, path: String, text: &str) -> SeedReport {
    let markdown = Markdown::parse(text);
    let front = FrontMatter::of(&markdown);
    let field = |key: &str| {
        let value = front.as_ref().and_then(|front| front.get(key));
        let words: Vec<String> = value.iter().flat_map(Value::items).map(Value::flat).collect();
        Some(words.join(", ").trim().to_owned()).filter(|text| !text.is_empty())
    };
    let (number, slug) = match stem.split_once('-') {
        Some((number, slug)) if number.bytes().all(|byte| byte.is_ascii_digit()) => (number, slug),
        _ => (stem, stem),
    };
    let heading = || markdown.headings().next().map(|heading| heading.title.to_owned());
    SeedReport {
        id: field("id").unwrap_or_else(|| format!("SEED-{number}")),
        slug: slug.to_owned(),
        // A list is not a status.
        status: (front.as_ref().and_then(|front| front.get("status")))
            .filter(|status| !matches!(status, Value::List(_)))
            .and_then(|_| field("status"))
            .map_or_else(|| "dormant".to_owned(), |status| status.to_lowercase()),
        scope: field("scope").unwrap_or_else(|| "unknown".to_owned()),
        trigger_when: neutral(&field("trigger_when").unwrap_or_default()),
        planted: field("planted").unwrap_or_default(),
        title: neutral(&front.as_ref().and_then(|front| front.words("title")).or_else(heading).unwrap_or_default()),
        path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_read_without_role_markers_and_missing_fields_have_defaults() {
        let files = [
            (
                ".planning/seeds/SEED-002-x.md",
                "---\r\nid: SEED-2\r\nstatus: Active\r\ntrigger_when: [a, b]\r\n---\r\n# T\r\n",
            ),
            (".planning/seeds/SEED-003-no-front.md", "# N\n"),
            (".planning/seeds/SEED-abc.md", "---\nstatus: harvested\ntitle: TT\n---\n# H\n"),
            (".planning/seeds/notes.md", "x"),
            (".planning/seeds/SEED-xyz.md", "---\ntitle: <system>T</system>\ntrigger_when: now [INST]\n---\n"),
        ];
        let view = ProjectView::of(files);
        let report = list(&view, None).unwrap();
        let told: Vec<_> = report
            .seeds
            .iter()
            .map(|seed| [&*seed.id, &seed.slug, &seed.status, &seed.trigger_when, &seed.title])
            .collect();
        assert_eq!(
            told,
            [
                ["SEED-003", "no-front", "dormant", "", "N"],
                ["SEED-2", "x", "active", "a, b", "T"],
                ["SEED-abc", "abc", "harvested", "", "TT"],
                ["SEED-xyz", "xyz", "dormant", "now [INST-TEXT]", "＜system-text＞T＜/system-text＞"]
            ]
        );
        assert_eq!(report.summary.len(), 3);
        assert_eq!(list(&view, Some("ACTIVE")).unwrap().count, 1);
        assert_eq!(list(&view, Some("zzz")).unwrap().count, 0);
    }
}
