//! What a plan promises about the source: files with certain content, and links between files.

use std::collections::BTreeSet;
use std::sync::Arc;

use regex_lite::Regex;
use schemars::JsonSchema;
use serde::Serialize;

use crate::project::files::FileError;
use crate::project::plan::{MustHave, PhasePlan};
use crate::project::view::ProjectView;
use crate::text::front_matter::Value;

/// What `verify artifacts` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ArtifactsReport {
    pub(crate) all_passed: bool,
    pub(crate) passed: usize,
    pub(crate) total: usize,
    pub(crate) artifacts: Vec<ArtifactReport>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ArtifactReport {
    pub(crate) path: String,
    pub(crate) exists: bool,
    pub(crate) issues: Vec<String>,
    pub(crate) passed: bool,
}

/// What `verify key-links` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct KeyLinksReport {
    pub(crate) all_verified: bool,
    pub(crate) verified: usize,
    /// Links that cannot be checked yet.
    pub(crate) pending: usize,
    pub(crate) total: usize,
    pub(crate) links: Vec<KeyLinkReport>,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct KeyLinkReport {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) to: Option<String>,
    pub(crate) via: String,
    pub(crate) verified: bool,
    pub(crate) detail: String,
    /// The source does not exist yet, and a plan that is still to be executed creates it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) pending: bool,
    /// The end of the link that is outside the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path_rejected: Option<&'static str>,
    /// Why the pattern was not searched for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pattern_neutralized: Option<&'static str>,
}

/// Compares the artifacts that a plan promises with the source. `None` without a list of them; an empty list counts as
/// kept.
pub(crate) fn artifacts(view: &ProjectView, plan: &PhasePlan<'_>) -> Option<ArtifactsReport> {
    let promised = plan.must_have(MustHave::Artifacts)?;
    let artifacts: Vec<ArtifactReport> =
        promised.iter().filter_map(|artifact| check_artifact(view, artifact)).collect();
    let passed = artifacts.iter().filter(|artifact| artifact.passed).count();
    let total = artifacts.len();
    Some(ArtifactsReport { all_passed: is_kept(&promised, passed, total), passed, total, artifacts })
}

/// True if a promise is kept: all of it was checked and is correct, or nothing is promised. A list in which nothing can
/// be checked is not kept.
fn is_kept(promised: &[Value], good: usize, total: usize) -> bool {
    good == total && (total > 0 || promised.is_empty())
}

fn check_artifact(view: &ProjectView, artifact: &Value) -> Option<ArtifactReport> {
    let path = artifact.get("path").map(Value::flat).filter(|path| !path.is_empty())?;
    let (exists, issues) = match content(view, &path) {
        PathContents::Text(text) => (true, issues(&text, artifact)),
        PathContents::Absent | PathContents::Outside => (false, vec!["File not found".to_owned()]),
        PathContents::Unreadable(reason) => {
            let asks = ["min_lines", "contains", "exports"].iter().any(|key| artifact.get(key).is_some());
            (true, if asks { vec![format!("Not readable as text: {reason}")] } else { Vec::new() })
        }
        PathContents::Folder => (true, vec!["Not a file".to_owned()]),
    };
    Some(ArtifactReport { path, exists, passed: issues.is_empty(), issues })
}

fn issues(text: &str, artifact: &Value) -> Vec<String> {
    let mut issues = Vec::new();
    let least: Option<usize> = artifact.get("min_lines").and_then(|least| least.flat().trim().parse().ok());
    let lines = text.split('\n').count();
    if let Some(least) = least.filter(|least| lines < *least) {
        issues.push(format!("Only {lines} lines, need {least}"));
    }
    for wanted in artifact.get("contains").map(Value::items).unwrap_or_default().iter().map(Value::flat) {
        if !text.contains(&wanted) {
            issues.push(format!("Missing pattern: {wanted}"));
        }
    }
    for export in artifact.get("exports").map(Value::items).unwrap_or_default().iter().map(Value::flat) {
        if !text.contains(&export) {
            issues.push(format!("Missing export: {export}"));
        }
    }
    issues
}

/// Looks for the links that a plan promises in the source. `None` without a list of them; an empty list counts as kept.
pub(crate) fn key_links(
    view: &ProjectView,
    plan: &PhasePlan<'_>,
    path: &str,
) -> Result<Option<KeyLinksReport>, FileError> {
    let Some(promised) = plan.must_have(MustHave::KeyLinks) else { return Ok(None) };
    let to_come = files_to_come(view, plan, path)?;
    let checkable = promised.iter().filter(|link| matches!(link, Value::Map(_)));
    let links: Vec<KeyLinkReport> = checkable.map(|link| check_link(view, link, &to_come)).collect();
    let verified = links.iter().filter(|link| link.verified).count();
    let pending = links.iter().filter(|link| link.pending).count();
    let total = links.len();
    let all_verified = is_kept(&promised, verified + pending, total);
    Ok(Some(KeyLinksReport { all_verified, verified, pending, total, links }))
}

/// The files that plans of the same or a later wave still have to create, including the plan at `path` itself.
fn files_to_come(view: &ProjectView, plan: &PhasePlan<'_>, path: &str) -> Result<BTreeSet<String>, FileError> {
    let mut files = BTreeSet::new();
    let Some((folder, _)) = path.rsplit_once('/') else { return Ok(files) };
    let Some(folder) = view.folder_at(folder, None)? else { return Ok(files) };
    let wave = |plan: &PhasePlan<'_>| plan.wave().unwrap_or(1);
    for name in folder.plans() {
        if view.is_settled(&folder, name)? {
            continue;
        }
        let Some(text) = view.text(&folder.join(name))? else { continue };
        let other = PhasePlan::parse(&text);
        if wave(&other) >= wave(plan) {
            files.extend(other.files_modified());
        }
    }
    Ok(files)
}

fn check_link(view: &ProjectView, link: &Value, to_come: &BTreeSet<String>) -> KeyLinkReport {
    let field = |key: &str| link.get(key).map(Value::flat);
    let mut report = KeyLinkReport {
        from: field("from"),
        to: field("to"),
        via: field("via").unwrap_or_default(),
        ..KeyLinkReport::default()
    };
    let source = match content(view, report.from.as_deref().unwrap_or_default()) {
        PathContents::Text(text) => text,
        PathContents::Outside => {
            "Source path is outside the project".clone_into(&mut report.detail);
            report.path_rejected = Some("from");
            return report;
        }
        PathContents::Absent if report.from.as_ref().is_some_and(|from| to_come.contains(from)) => {
            "Source file does not exist yet; a pending plan creates it".clone_into(&mut report.detail);
            report.pending = true;
            return report;
        }
        PathContents::Absent => {
            "Source file not found; put a file in `from` and anything else in `via`".clone_into(&mut report.detail);
            return report;
        }
        PathContents::Folder => {
            "Source is a folder".clone_into(&mut report.detail);
            return report;
        }
        PathContents::Unreadable(reason) => {
            report.detail = format!("Source is not readable as text: {reason}");
            return report;
        }
    };
    let to = report.to.clone().unwrap_or_default();
    let Some(pattern) = field("pattern").filter(|pattern| !pattern.is_empty()) else {
        report.verified = !to.is_empty() && source.contains(&to);
        let detail = if report.verified { "Target referenced in source" } else { "Target not referenced in source" };
        detail.clone_into(&mut report.detail);
        return report;
    };
    let compiled = Regex::new(&pattern).ok();
    let holds = |text: &str| text.contains(&pattern) || compiled.as_ref().is_some_and(|regex| regex.is_match(text));
    let target = || matches!(content(view, &to), PathContents::Text(text) if holds(&text));
    report.detail = if holds(&source) {
        report.verified = true;
        "Pattern found in source".to_owned()
    } else if target() {
        report.verified = true;
        "Pattern found in target".to_owned()
    } else if compiled.is_none() {
        report.pattern_neutralized = Some("unsupported");
        "Pattern not searched for: it is not a regular expression that can be matched in linear time".to_owned()
    } else {
        format!("Pattern `{pattern}` not found in source or target")
    };
    report
}

/// What exists at a path that a plan names.
enum PathContents {
    Text(Arc<str>),
    Absent,
    Folder,
    /// The path is outside the project.
    Outside,
    Unreadable(String),
}

fn content(view: &ProjectView, path: &str) -> PathContents {
    if path.is_empty() {
        return PathContents::Absent;
    }
    let Some(path) = view.layout().inside(path) else { return PathContents::Outside };
    match view.text(&path) {
        Ok(Some(text)) => PathContents::Text(text),
        Ok(None) => PathContents::Absent,
        Err(_) if view.folder_exists(&path) => PathContents::Folder,
        Err(FileError { reason, .. }) => PathContents::Unreadable(reason),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::files::MemoryFiles;

    const A: &str = "import {b} from './b';\nexport const foo = 1;\n";

    fn view() -> ProjectView {
        let files = MemoryFiles::new([("src/a.ts", A), ("src/b.ts", "export const b = 1;\n")]);
        files.view()
    }

    fn plan(list: &str, items: &str) -> String {
        format!("---\nmust_haves:\n  {list}:\n{items}\n---\n")
    }

    #[test]
    fn artifacts_are_compared_with_the_source() {
        let text = plan(
            "artifacts",
            "    - path: src/a.ts\n      min_lines: 3\n      contains: foo\n      exports: [foo]\n    - path: ./src/a.ts\n      \
            min_lines: 9\n      contains: nope\n      exports: zip\n    - path: src/none.ts\n    - path: ../x\n    - provides: z\n    - text",
        );
        let report = artifacts(&view(), &PhasePlan::parse(&text)).unwrap();
        assert_eq!((report.passed, report.total, report.all_passed), (1, 4, false));
        assert_eq!(
            report.artifacts[1].issues,
            ["Only 3 lines, need 9", "Missing pattern: nope", "Missing export: zip"]
        );
        assert_eq!(report.artifacts[2].issues, ["File not found"]);
        assert!(artifacts(&view(), &PhasePlan::parse("# no front matter")).is_none());
    }

    #[test]
    fn an_empty_list_is_kept_and_one_that_cannot_be_checked_is_not() {
        let kept = |items: &str| {
            let text = format!("---\nmust_haves:\n  artifacts:{items}\n  key_links:{items}\n---\n");
            let plan = PhasePlan::parse(&text);
            let artifacts = artifacts(&view(), &plan).map(|report| (report.all_passed, report.total));
            (artifacts, key_links(&view(), &plan, "").unwrap().map(|report| (report.all_verified, report.total)))
        };
        assert_eq!(kept(" []"), (Some((true, 0)), Some((true, 0))));
        assert_eq!(kept("\n    - text"), (Some((false, 0)), Some((false, 0))));
        assert_eq!(kept(" text"), (None, None));
    }

    #[test]
    fn links_are_searched_in_source_and_target() {
        let link = |fields: &str| {
            let text = plan("key_links", &format!("    - {fields}"));
            key_links(&view(), &PhasePlan::parse(&text), "").unwrap().unwrap().links.remove(0)
        };
        let detail = |fields: &str| link(fields).detail;
        assert_eq!(detail("{from: src/a.ts, to: src/b.ts, pattern: \"from .*b\"}"), "Pattern found in source");
        assert_eq!(detail("{from: src/a.ts, to: src/b.ts, pattern: const b}"), "Pattern found in target");
        assert_eq!(detail("{from: src/a.ts, to: ./b}"), "Target referenced in source");
        assert_eq!(detail("{from: src/a.ts, to: src/b.ts}"), "Target not referenced in source");
        assert_eq!(detail("{from: src/a.ts, to: x, pattern: zz}"), "Pattern `zz` not found in source or target");
        assert!(detail("{to: src/b.ts}").starts_with("Source file not found"));
        assert_eq!(link("{from: /etc/passwd, to: b}").path_rejected, Some("from"));
        let odd = link("{from: src/a.ts, to: src/b.ts, pattern: \"(?=x)\"}");
        assert_eq!((odd.verified, odd.pattern_neutralized), (false, Some("unsupported")));
    }

    #[test]
    fn an_invalid_pattern_is_searched_as_text() {
        let text = plan("key_links", "    - {from: src/a.ts, to: src/b.ts, pattern: \"import {b\"}");
        assert!(key_links(&view(), &PhasePlan::parse(&text), "").unwrap().unwrap().all_verified);
    }

    #[test]
    fn a_source_that_a_plan_is_still_to_make_is_pending() {
        let link = "must_haves:\n  key_links:\n    - {from: src/new.ts, to: src/b.ts}\n";
        let report = |other: &str, wave: i64, summary: &str| {
            let own = format!("---\nwave: 2\n{link}---\n");
            let other = format!("---\nwave: {wave}\nfiles_modified: [{other}]\n---\n");
            let folder = ".planning/phases/01-a";
            let files = MemoryFiles::new([
                (format!("{folder}/01-01-PLAN.md").as_str(), own.as_str()),
                (format!("{folder}/01-02-PLAN.md").as_str(), &other),
                (format!("{folder}/{summary}").as_str(), "done"),
            ]);
            let view = files.view();
            let path = format!("{folder}/01-01-PLAN.md");
            let report = key_links(&view, &PhasePlan::parse(&own), &path).unwrap().unwrap();
            (report.pending, report.all_verified)
        };
        assert_eq!(report("src/new.ts", 2, "x.md"), (1, true));
        assert_eq!(report("src/new.ts", 3, "x.md"), (1, true));
        assert_eq!(report("src/new.ts", 1, "x.md"), (0, false), "an earlier wave should have made it");
        assert_eq!(report("src/other.ts", 2, "x.md"), (0, false));
        assert_eq!(
            report("src/new.ts", 2, "01-02-SUMMARY.md"),
            (0, false),
            "the plan is done and the file is not there"
        );
    }
}
