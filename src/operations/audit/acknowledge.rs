//! Records in the front matter of an open artifact that a person knows about it. The rest of the artifact does not
//! change.

use schemars::JsonSchema;
use serde::Serialize;

use super::open::{DEFERRED, findings_digest, open_questions, questions_digest, quick_summary, status_of};
use super::{ACKNOWLEDGED, Category};
use crate::failure::{Failure, Reason};
use crate::operations::hints;
use crate::project::deferred::DeferredItems;
use crate::project::folder::PhaseFolder;
use crate::project::phase::PhaseId;
use crate::project::review_report;
use crate::project::uat_report::UatReport;
use crate::project::view::{Edited, Edits, ProjectView};
use crate::text::front_matter::{self, FrontMatter, Value};
use crate::text::markdown::newline_of;
use crate::text::splice::Splices;

/// The artifact and what to record in it. The category determines which of the names are needed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AcknowledgedItem<'text> {
    pub(crate) category: Category,
    pub(crate) milestone: &'text str,
    /// The day of the decision.
    pub(crate) day: &'text str,
    pub(crate) slug: Option<&'text str>,
    pub(crate) seed: Option<&'text str>,
    pub(crate) folder: Option<&'text str>,
    pub(crate) todo: Option<&'text str>,
    pub(crate) phase: Option<&'text str>,
    pub(crate) file: Option<&'text str>,
    pub(crate) text: Option<&'text str>,
    pub(crate) archived_milestone: Option<&'text str>,
}

/// What `audit-open acknowledge` answers.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct AcknowledgeReport {
    pub(crate) acknowledged: bool,
    category: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    phase: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gap_snapshot: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    questions_digest: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    findings_digest: Option<String>,
}

/// Records in an artifact that a person knows about it.
pub(crate) fn acknowledge(view: &ProjectView, target: AcknowledgedItem<'_>) -> Edited<AcknowledgeReport, Failure> {
    let layout = view.layout();
    let category = target.category;
    let mut report =
        AcknowledgeReport { acknowledged: true, category: category.word(), ..AcknowledgeReport::default() };
    let (path, text) = match category {
        Category::DebugSessions => read(view, "debug", &layout.debug(), &target.markdown("slug", target.slug)?)?,
        Category::Threads => read(view, "threads", &layout.threads(), &target.markdown("slug", target.slug)?)?,
        Category::Seeds => read(view, "seeds", &layout.seeds(), &target.markdown("seed-id", target.seed)?)?,
        Category::Todos => read(view, "todos/pending", &layout.todos_pending(), target.name("filename", target.todo)?)?,
        Category::QuickTasks => quick(view, &target)?,
        _ => in_phase(view, &target, &mut report)?,
    };
    let mut edits = Edits::default();
    if category == Category::DeferredItems {
        let wanted = target.need("text", target.text)?;
        let edited = DeferredItems::parse(&text).acknowledge(wanted);
        let edited =
            edited.ok_or_else(|| Failure::unknown(format!("no deferred item matches `{wanted}`")).hint(OPEN))?;
        report.text = Some(wanted.to_owned());
        edits.write(view, &path, edited)?;
        return Ok((report, edits));
    }
    let snapshot = snapshot(category, &text);
    let told = snapshot.as_ref().map(|(_, said)| said.clone());
    match category {
        Category::Todos | Category::DeferredItems => {}
        Category::UatGaps => report.gap_snapshot = told,
        Category::ContextQuestions => report.questions_digest = told,
        Category::ReviewFindings => report.findings_digest = told,
        _ => report.status = told,
    }
    edits.write(view, &path, noted(&path, &text, &target, snapshot)?)?;
    Ok((report, edits))
}

impl<'text> AcknowledgedItem<'text> {
    fn need(&self, flag: &'static str, value: Option<&'text str>) -> Result<&'text str, Failure> {
        value.filter(|value| !value.trim().is_empty()).ok_or_else(|| {
            Failure::usage(format!("`--category {}` needs --{flag}", self.category.word()))
                .hint("`gsd-tools audit-open acknowledge --help` lists the flags of each category")
        })
    }

    /// A name that cannot lead to another folder.
    fn name(&self, flag: &'static str, value: Option<&'text str>) -> Result<&'text str, Failure> {
        let name = self.need(flag, value)?;
        if name.contains(['/', '\\']) || matches!(name, "." | "..") {
            return Err(Failure::usage(format!("`{name}` of --{flag} is not the name of one file or folder"))
                .hint("`gsd-tools audit-open --json` lists the names"));
        }
        Ok(name)
    }

    /// Like [`Self::name`], with the extension of a Markdown file.
    fn markdown(&self, flag: &'static str, value: Option<&'text str>) -> Result<String, Failure> {
        Ok(format!("{}.md", self.name(flag, value)?))
    }
}

const OPEN: &str = "`gsd-tools audit-open --json` lists what is open";

fn no_file(path: &str) -> Failure {
    Failure::unknown(format!("there is no file `{path}`")).hint(OPEN)
}

/// The path and the text of a file; `shown` is its folder for messages.
fn read(view: &ProjectView, shown: &str, folder: &str, name: &str) -> Result<(String, String), Failure> {
    let path = format!("{folder}/{name}");
    match view.text(&path)? {
        Some(text) => Ok((path, text.as_ref().to_owned())),
        None => Err(no_file(&format!("{shown}/{name}"))),
    }
}

/// The summary of a quick task. A missing one is created with a text that says so.
fn quick(view: &ProjectView, target: &AcknowledgedItem<'_>) -> Result<(String, String), Failure> {
    let name = target.name("dir", target.folder)?;
    let folder = format!("{}/{name}", view.layout().quick());
    if !view.folder_exists(&folder) {
        return Err(no_file(&format!("quick/{name}")));
    }
    match quick_summary(view, &folder)? {
        Some(path) => {
            let text = view.text(&path)?.unwrap_or_default();
            Ok((path, text.as_ref().to_owned()))
        }
        None => Ok((format!("{folder}/{name}-SUMMARY.md"), "---\nstatus: missing\n---\n".to_owned())),
    }
}

/// An artifact of a phase, open or archived.
fn in_phase(
    view: &ProjectView,
    target: &AcknowledgedItem<'_>,
    report: &mut AcknowledgeReport,
) -> Result<(String, String), Failure> {
    let typed = target.need("phase", target.phase)?;
    let file = match target.category {
        Category::DeferredItems => target.name("file", target.file.or(Some(DEFERRED)))?,
        _ => target.name("file", target.file)?,
    };
    let id = PhaseId::new(typed);
    let named = |folder: &&PhaseFolder| folder.is_of(&id);
    let folder = match target.archived_milestone {
        None => view.phase_folders()?.iter().find(named).cloned(),
        Some(version) => {
            let archive = view.archives()?.into_iter().find(|(_, label)| label == version);
            let folders = match archive {
                Some((path, label)) => view.read_folders(&path, Some(&label))?,
                None => Vec::new(),
            };
            folders.iter().find(named).cloned()
        }
    };
    let folder =
        folder.ok_or_else(|| Failure::new(Reason::PhaseNotFound, format!("phase {typed} has no folder")).hint(OPEN))?;
    report.phase = Some(folder.token().to_owned());
    report.file = Some(file.to_owned());
    read(view, &folder.name, &folder.path, file)
}

/// The current content of the artifact, with the key it is recorded under.
fn snapshot(category: Category, text: &str) -> Option<(&'static str, String)> {
    let key = category.snapshot_key()?;
    let said = match category {
        Category::UatGaps => UatReport::parse(text).snapshot(),
        Category::ContextQuestions => questions_digest(&open_questions(text)),
        Category::ReviewFindings => findings_digest(&review_report::critical(text)),
        Category::Seeds => status_of(text, "dormant"),
        _ => status_of(text, "unknown"),
    };
    Some((key, said))
}

/// Adds the record to the front matter, which is created if missing.
fn noted(
    path: &str,
    text: &str,
    target: &AcknowledgedItem<'_>,
    snapshot: Option<(&'static str, String)>,
) -> Result<String, Failure> {
    let mut entries =
        vec![("milestone".to_owned(), Value::from(target.milestone)), ("at".to_owned(), Value::from(target.day))];
    entries.extend(snapshot.map(|(key, said)| (key.to_owned(), Value::Text(said))));
    let note = Value::Map(entries);
    match FrontMatter::parse(text) {
        Some(front) => {
            if let Some(problem) = front.problem() {
                return Err(hints::uneditable_front_matter(path, problem));
            }
            let mut splices = Splices::default();
            front.set(ACKNOWLEDGED, &note, &mut splices);
            Ok(splices.apply(text))
        }
        None if front_matter::is_unclosed(text) => {
            let problem = front_matter::Problem { line: 1, what: "it is not closed by a line `---`" };
            Err(hints::uneditable_front_matter(path, problem))
        }
        None => {
            let newline = newline_of(text);
            let space = if text.is_empty() || text.starts_with(['\n', '\r']) { "" } else { newline };
            Ok(front_matter::compose(&[(ACKNOWLEDGED.to_owned(), note)], &format!("{space}{text}"), newline))
        }
    }
}
