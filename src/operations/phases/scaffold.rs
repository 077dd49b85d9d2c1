//! Creates empty documents of a phase, and its folder. Existing ones stay.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::failure::{Failure, Reason};
use crate::project::phase::{self, PhaseId};
use crate::project::view::{Edited, Edits, ProjectView};
use crate::text::front_matter::{self, Value};
use crate::text::shell::typed;
use crate::text::{named, words};

/// A document that can be created empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ScaffoldDocument {
    Context,
    Uat,
    Verification,
}

impl ScaffoldDocument {
    pub(crate) fn named(word: &str) -> Option<Self> {
        words::of_word(word)
    }

    fn kind(self) -> &'static str {
        match self {
            Self::Context => "CONTEXT",
            Self::Uat => "UAT",
            Self::Verification => "VERIFICATION",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::Context => "Context",
            Self::Uat => "User Acceptance Testing",
            Self::Verification => "Verification",
        }
    }

    /// The headings, each with the text below it until it is filled in.
    fn sections(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Context => &[
                ("Decisions", "_Nothing decided yet._"),
                ("Discretion Areas", "_Nothing left open for the executor._"),
                ("Deferred Ideas", "_None yet._"),
            ],
            Self::Uat => &[
                ("Test Results", "| # | Test | Status | Notes |\n|---|------|--------|-------|"),
                ("Summary", "_Not tested yet._"),
            ],
            Self::Verification => &[
                ("Goal-Backward Verification", "**Phase Goal:** [From ROADMAP.md]"),
                ("Checks", "| # | Requirement | Status | Evidence |\n|---|-------------|--------|----------|"),
                ("Result", "_Not verified yet._"),
            ],
        }
    }
}

/// What `scaffold` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ScaffoldReport {
    pub(crate) created: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    directory: Option<String>,
    /// Relative for a new document, absolute otherwise.
    pub(crate) path: String,
}

const THERE: &str = "already_exists";

impl ScaffoldReport {
    /// True if the document already exists and was not changed.
    pub(crate) fn is_kept(&self) -> bool {
        self.reason == Some(THERE) && self.directory.is_none()
    }
}

/// Creates a document of a phase.
pub(crate) fn document(
    view: &ProjectView,
    document: ScaffoldDocument,
    typed: &str,
    name: Option<&str>,
    day: &str,
) -> Edited<ScaffoldReport, Failure> {
    let folder = view.find_phase(typed)?.folder;
    let folder = folder.ok_or_else(|| {
        let call = typed!("gsd-tools scaffold phase-dir --phase {} --name NAME", typed);
        Failure::new(Reason::PhaseNotFound, format!("phase {typed} has no folder")).hint(format!("create it: `{call}`"))
    })?;
    let mut edits = Edits::default();
    if let Some(path) = folder.artifact_path(document.kind()) {
        let path = view.layout().shown(&path);
        return Ok((ScaffoldReport { created: false, reason: Some(THERE), directory: None, path }, edits));
    }
    let number = PhaseId::new(folder.token()).to_string();
    let name = name.map(str::trim).filter(|name| !name.is_empty()).unwrap_or_else(|| folder.slug());
    let name = &*named(name).map_err(|error| Failure::because(Reason::Usage, &error))?;
    let mut entries = vec![
        ("phase".to_owned(), Value::from(number.as_str())),
        ("name".to_owned(), Value::from(name)),
        ("created".to_owned(), Value::from(day)),
    ];
    if document != ScaffoldDocument::Context {
        entries.push(("status".to_owned(), Value::from("pending")));
    }
    let mut body = format!("\n# Phase {typed}: {name} — {}\n", document.title());
    for (heading, text) in document.sections() {
        body.push_str("\n## ");
        body.push_str(heading);
        body.push_str("\n\n");
        body.push_str(text);
        body.push('\n');
    }
    let path = folder.join(&format!("{number}-{}.md", document.kind()));
    edits.write(view, &path, front_matter::compose(&entries, &body, "\n"))?;
    Ok((ScaffoldReport { created: true, reason: None, directory: None, path }, edits))
}

/// Creates the folder of a phase.
pub(crate) fn phase_folder(
    view: &ProjectView,
    typed: &str,
    name: Option<&str>,
    project_code: Option<&str>,
) -> Edited<ScaffoldReport, Failure> {
    let name = name.map(str::trim).filter(|name| !name.is_empty()).ok_or_else(|| {
        Failure::usage("`scaffold phase-dir` needs --phase and --name")
            .hint("`gsd-tools scaffold phase-dir --phase 3 --name \"Search\"`")
    })?;
    let number = PhaseId::new(typed).to_string();
    if phase::leading_integer(&number).is_none() || number.contains(['/', '\\']) {
        let message = format!("`{typed}` is not a phase: it needs a number");
        return Err(Failure::usage(message).hint("write it as `3` or `3.1`"));
    }
    let slug = phase::folder_slug(&named(name).map_err(|error| Failure::because(Reason::Usage, &error))?);
    let prefix = project_code.filter(|code| !code.is_empty()).map_or_else(String::new, |code| format!("{code}-"));
    let directory = format!("{}/{prefix}{number}-{slug}", view.layout().phases());
    let path = view.layout().shown(&directory);
    let mut edits = Edits::default();
    let created = !view.folder_exists(&directory);
    if created {
        edits.folders.push(directory.clone());
    }
    let reason = (!created).then_some(THERE);
    Ok((ScaffoldReport { created, reason, directory: Some(directory), path }, edits))
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::text::front_matter::FrontMatter;

    fn view() -> ProjectView {
        let files = [(".planning/phases/03-sync/.gitkeep", ""), (".planning/phases/02-b/02-CONTEXT.md", "mine")];
        ProjectView::of(files)
    }

    #[test]
    fn a_document_reads_back_whatever_its_name() {
        for kind in [ScaffoldDocument::Context, ScaffoldDocument::Uat, ScaffoldDocument::Verification] {
            let (report, edits) = document(&view(), kind, "3", Some("a \"q\": b"), "2026-02-03").unwrap();
            let text = &edits.texts[&report.path];
            let front = FrontMatter::parse(text).unwrap();
            assert_eq!(front.problem(), None);
            assert_eq!(
                (front.text("phase").as_deref(), front.text("name").as_deref()),
                (Some("03"), Some("a \"q\": b"))
            );
            assert!(text.contains("# Phase 3: a \"q\": b — "), "{text}");
        }
    }

    #[test]
    fn an_existing_document_stays() {
        let (report, edits) = document(&view(), ScaffoldDocument::Context, "2", None, "").unwrap();
        assert_eq!(
            (report.created, report.path.as_str(), edits.is_empty()),
            (false, "/p/.planning/phases/02-b/02-CONTEXT.md", true)
        );
        let (report, edits) = phase_folder(&view(), "3", Some("Sync"), None).unwrap();
        assert_eq!((report.created, report.reason, edits.is_empty()), (false, Some("already_exists"), true));
    }

    #[test]
    fn a_folder_has_a_number_and_a_name() {
        let made = |phase, name, code| {
            phase_folder(&view(), phase, Some(name), code).map(|(report, _)| report.directory.unwrap())
        };
        assert_eq!(made("4", "UI Polish", None).unwrap(), ".planning/phases/04-ui-polish");
        assert_eq!(made("2.1", "x", Some("ACME")).unwrap(), ".planning/phases/ACME-02.1-x");
        assert_eq!(made("4", "!!", None).unwrap(), ".planning/phases/04-phase");
        assert_eq!(made("4", "检索 优化", None).unwrap(), ".planning/phases/04-检索-优化");
        for (phase, name) in [("../x", "y"), ("x", "y"), ("4/5", "y"), ("4", "a\nb"), ("4", " ")] {
            assert!(made(phase, name, None).is_err(), "{phase} {name}");
        }
        let refused = document(&view(), ScaffoldDocument::Uat, "9", None, "").unwrap_err();
        assert_eq!(refused.message, "phase 9 has no folder");
    }
}
