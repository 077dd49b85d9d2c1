//! The scan for open artifacts and its counts.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Category, is_acknowledged};
use crate::project::deferred::{DeferredItems, ItemState};
use crate::project::files::{FileError, sha256};
use crate::project::folder::PhaseFolder;
use crate::project::human_judgment;
use crate::project::review_report;
use crate::project::state::is_placeholder;
use crate::project::uat_report::UatReport;
use crate::project::view::ProjectView;
use crate::text::checklist::ListItem;
use crate::text::front_matter::{FrontMatter, Value};
use crate::text::markdown::Markdown;

mod page;

/// What `audit-open` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OpenReport {
    scanned_at: String,
    pub(crate) has_open_items: bool,
    pub(crate) counts: Counts,
    pub(crate) acknowledged: Counts,
    pub(crate) items: OpenItems,
}

/// The number of open artifacts in each category.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Counts {
    debug_sessions: usize,
    quick_tasks: usize,
    threads: usize,
    todos: usize,
    seeds: usize,
    uat_gaps: usize,
    verification_gaps: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    review_findings: Option<usize>,
    context_questions: usize,
    deferred_items: usize,
    pub(crate) total: usize,
}

impl Counts {
    fn add(&mut self, category: Category) {
        match category {
            // Present only if there are some: other programs know only the other categories.
            Category::ReviewFindings => *self.review_findings.get_or_insert(0) += 1,
            _ => *self.place(category) += 1,
        }
        self.total += 1;
    }

    fn place(&mut self, category: Category) -> &mut usize {
        match category {
            Category::DebugSessions => &mut self.debug_sessions,
            Category::QuickTasks => &mut self.quick_tasks,
            Category::Threads => &mut self.threads,
            Category::Todos => &mut self.todos,
            Category::Seeds => &mut self.seeds,
            Category::UatGaps => &mut self.uat_gaps,
            Category::VerificationGaps => &mut self.verification_gaps,
            Category::ReviewFindings => self.review_findings.get_or_insert(0),
            Category::ContextQuestions => &mut self.context_questions,
            Category::DeferredItems => &mut self.deferred_items,
        }
    }

    pub(crate) fn of(&self, category: Category) -> usize {
        *self.clone().place(category)
    }
}

/// The open artifacts.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct OpenItems {
    pub(crate) debug_sessions: Vec<DebugSession>,
    pub(crate) quick_tasks: Vec<QuickTask>,
    pub(crate) threads: Vec<Thread>,
    pub(crate) todos: Vec<OpenTodo>,
    pub(crate) seeds: Vec<Seed>,
    pub(crate) uat_gaps: Vec<UatGap>,
    pub(crate) verification_gaps: Vec<VerificationGap>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) review_findings: Vec<ReviewFindings>,
    pub(crate) context_questions: Vec<ContextQuestions>,
    #[serde(rename = "deferred_items")]
    pub(crate) deferred: Vec<DeferredText>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DebugSession {
    slug: String,
    status: String,
    updated: String,
    hypothesis: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct QuickTask {
    slug: String,
    date: String,
    status: String,
    description: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Thread {
    slug: String,
    status: String,
    updated: String,
    title: String,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct OpenTodo {
    /// How many are not listed.
    #[serde(rename = "_remainder_count", skip_serializing_if = "Option::is_none")]
    remainder_count: Option<usize>,
    filename: String,
    priority: String,
    area: String,
    summary: String,
    /// Shown to people instead of the summary, which is always the first line, even if that is a heading.
    #[serde(skip)]
    title: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Seed {
    #[serde(rename = "seed_id")]
    id: String,
    slug: String,
    status: String,
    title: String,
}

/// The location of an artifact of a phase.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Place {
    phase: String,
    file: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct UatGap {
    #[serde(flatten)]
    place: Place,
    status: String,
    open_scenario_count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    archived_milestone: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct VerificationGap {
    #[serde(flatten)]
    place: Place,
    status: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    archived_milestone: Option<String>,
}

/// The critical findings of one code review that are not settled.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ReviewFindings {
    #[serde(flatten)]
    place: Place,
    /// Their ids and titles, such as `CR-01: the token is never checked`.
    findings: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    archived_milestone: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ContextQuestions {
    #[serde(flatten)]
    place: Place,
    question_count: usize,
    /// The first few questions.
    questions: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    archived_milestone: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DeferredText {
    #[serde(flatten)]
    place: Place,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    archived_milestone: Option<String>,
}

/// How many todos, and how many questions of a phase, are listed.
const LISTED_TODOS: usize = 5;
const LISTED_QUESTIONS: usize = 3;
const SUMMARY_LENGTH: usize = 100;

/// Lists everything that can be left open.
pub(crate) fn open(view: &ProjectView, now: String) -> Result<OpenReport, FileError> {
    let mut scan =
        Scan { view, items: OpenItems::default(), counts: Counts::default(), acknowledged: Counts::default() };
    scan.debug_sessions()?;
    scan.quick_tasks()?;
    scan.threads()?;
    scan.todos()?;
    scan.seeds()?;
    for folder in &view.all_phase_folders()? {
        scan.phase(folder)?;
    }
    for (path, version) in view.archives()? {
        for folder in view.read_folders(&path, Some(&version))? {
            scan.phase(&folder)?;
        }
    }
    let Scan { items, counts, acknowledged, .. } = scan;
    Ok(OpenReport { scanned_at: now, has_open_items: counts.total > 0, counts, acknowledged, items })
}

struct Scan<'view> {
    view: &'view ProjectView,
    items: OpenItems,
    counts: Counts,
    acknowledged: Counts,
}

impl Scan<'_> {
    /// Counts an artifact; returns true if it is open.
    fn count(&mut self, category: Category, text: &str, snapshot: &str) -> bool {
        let known = is_acknowledged(category, FrontMatter::parse(text).as_ref(), snapshot);
        if known {
            self.acknowledged.add(category);
        } else {
            self.counts.add(category);
        }
        !known
    }

    /// The Markdown files of a folder: their names without the extension, and their texts.
    fn files(&self, folder: &str) -> Result<Vec<(String, String)>, FileError> {
        let mut files = Vec::new();
        for name in self.view.file_names(folder)? {
            let Some(stem) = name.strip_suffix(".md") else { continue };
            let text = self.view.text(&format!("{folder}/{name}"))?.unwrap_or_default();
            files.push((stem.to_owned(), text.as_ref().to_owned()));
        }
        Ok(files)
    }

    fn debug_sessions(&mut self) -> Result<(), FileError> {
        for (slug, text) in self.files(&self.view.layout().debug())? {
            let status = status_of(&text, "unknown");
            // The knowledge base is in the same folder as the sessions.
            if slug == "knowledge-base" || is_settled(&status) || !self.count(Category::DebugSessions, &text, &status) {
                continue;
            }
            let updated = field(&text, "updated");
            self.items.debug_sessions.push(DebugSession { slug, status, updated, hypothesis: hypothesis(&text) });
        }
        Ok(())
    }

    fn quick_tasks(&mut self) -> Result<(), FileError> {
        let folder = self.view.layout().quick();
        for slug in self.view.folder_names(&folder)? {
            let text = match quick_summary(self.view, &format!("{folder}/{slug}"))? {
                Some(path) => self.view.text(&path)?.map(|text| text.as_ref().to_owned()),
                None => None,
            };
            let status = text.as_deref().map_or_else(|| "missing".to_owned(), |text| status_of(text, "unknown"));
            let text = text.unwrap_or_default();
            if is_settled(&status) || !self.count(Category::QuickTasks, &text, &status) {
                continue;
            }
            let (date, description) = (field(&text, "date"), field(&text, "description"));
            self.items.quick_tasks.push(QuickTask { slug, date, status, description });
        }
        Ok(())
    }

    fn threads(&mut self) -> Result<(), FileError> {
        for (slug, text) in self.files(&self.view.layout().threads())? {
            let status = status_of(&text, "");
            if !matches!(status.as_str(), "open" | "in_progress" | "in progress")
                || !self.count(Category::Threads, &text, &status)
            {
                continue;
            }
            let titled = Some(field(&text, "title")).filter(|title| !title.is_empty());
            let title = titled.unwrap_or_else(|| {
                let title = first_heading(&text);
                title.strip_prefix("Thread:").map_or(title.clone(), |rest| rest.trim().to_owned())
            });
            self.items.threads.push(Thread { slug, status, updated: field(&text, "updated"), title });
        }
        Ok(())
    }

    fn todos(&mut self) -> Result<(), FileError> {
        let mut todos = Vec::new();
        for (stem, text) in self.files(&self.view.layout().todos_pending())? {
            if self.count(Category::Todos, &text, "") {
                let (summary, title) = (first_line(&text), title_of(&text));
                let (priority, area) = (field(&text, "priority"), field(&text, "area"));
                let filename = format!("{stem}.md");
                todos.push(OpenTodo { remainder_count: None, filename, priority, area, summary, title });
            }
        }
        if todos.len() > LISTED_TODOS {
            let remainder_count = Some(todos.len() - LISTED_TODOS);
            todos.truncate(LISTED_TODOS);
            todos.push(OpenTodo { remainder_count, ..OpenTodo::default() });
        }
        self.items.todos = todos;
        Ok(())
    }

    fn seeds(&mut self) -> Result<(), FileError> {
        for (seed_id, text) in self.files(&self.view.layout().seeds())? {
            let Some(slug) = seed_id.strip_prefix("SEED-").map(str::to_owned) else { continue };
            let status = status_of(&text, "dormant");
            if matches!(status.as_str(), "dormant" | "active" | "triggered")
                && self.count(Category::Seeds, &text, &status)
            {
                self.items.seeds.push(Seed { id: seed_id, slug, status, title: first_heading(&text) });
            }
        }
        Ok(())
    }

    fn phase(&mut self, folder: &PhaseFolder) -> Result<(), FileError> {
        for file in folder.artifacts("UAT") {
            let (text, place, archived_milestone) = self.artifact(folder, file)?;
            let report = UatReport::parse(&text);
            if is_settled(&report.status) || !self.count(Category::UatGaps, &text, &report.snapshot()) {
                continue;
            }
            let open_scenario_count = report.pending();
            self.items.uat_gaps.push(UatGap { place, status: report.status, open_scenario_count, archived_milestone });
        }
        let left = if folder.archived.is_some() { Vec::new() } else { human_judgment::unchecked(self.view, folder)? };
        for left in left.chunk_by(|one, other| one.file == other.file) {
            let (text, place, archived_milestone) = self.artifact(folder, &left[0].file)?;
            if self.count(Category::UatGaps, &text, &UatReport::parse(&text).snapshot()) {
                let (status, open_scenario_count) = ("human_needed".to_owned(), left.len());
                self.items.uat_gaps.push(UatGap { place, status, open_scenario_count, archived_milestone });
            }
        }
        for file in folder.artifacts("VERIFICATION") {
            let (text, place, archived_milestone) = self.artifact(folder, file)?;
            let status = status_of(&text, "");
            if matches!(status.as_str(), "gaps_found" | "human_needed")
                && self.count(Category::VerificationGaps, &text, &status)
            {
                self.items.verification_gaps.push(VerificationGap { place, status, archived_milestone });
            }
        }
        for open in review_report::open_critical(self.view, folder)? {
            let (text, place, archived_milestone) = self.artifact(folder, &open.file)?;
            if self.count(Category::ReviewFindings, &text, &findings_digest(&review_report::critical(&text))) {
                self.items.review_findings.push(ReviewFindings { place, findings: open.findings, archived_milestone });
            }
        }
        for file in folder.artifacts("CONTEXT") {
            let (text, place, archived_milestone) = self.artifact(folder, file)?;
            let mut questions = open_questions(&text);
            if questions.is_empty() || !self.count(Category::ContextQuestions, &text, &questions_digest(&questions)) {
                continue;
            }
            let question_count = questions.len();
            questions.truncate(LISTED_QUESTIONS);
            self.items.context_questions.push(ContextQuestions {
                place,
                question_count,
                questions,
                archived_milestone,
            });
        }
        for file in folder.files.iter().filter(|file| *file == DEFERRED) {
            let (text, place, archived_milestone) = self.artifact(folder, file)?;
            for item in DeferredItems::parse(&text).items() {
                match item.state {
                    ItemState::Open => {
                        self.counts.add(Category::DeferredItems);
                        let (place, text) = (place.clone(), item.text.clone());
                        let archived_milestone = archived_milestone.clone();
                        self.items.deferred.push(DeferredText { place, text, archived_milestone });
                    }
                    ItemState::Acknowledged => self.acknowledged.add(Category::DeferredItems),
                    ItemState::Settled => {}
                }
            }
        }
        Ok(())
    }

    fn artifact(&self, folder: &PhaseFolder, file: &str) -> Result<(String, Place, Option<String>), FileError> {
        let text = self.view.text(&folder.join(file))?.unwrap_or_default();
        let place = Place { phase: folder.token().to_owned(), file: file.to_owned() };
        Ok((text.as_ref().to_owned(), place, folder.archived.clone()))
    }
}

/// The name of the file in which a phase records deferred items.
pub(super) const DEFERRED: &str = "deferred-items.md";

/// The summary of a quick task, if it has one.
pub(super) fn quick_summary(view: &ProjectView, folder: &str) -> Result<Option<String>, FileError> {
    let names = view.file_names(folder)?;
    let summary = names.into_iter().find(|name| name == "SUMMARY.md" || name.ends_with("-SUMMARY.md"));
    Ok(summary.map(|name| format!("{folder}/{name}")))
}

/// The `status` of the front matter, in lower case.
pub(super) fn status_of(text: &str, otherwise: &str) -> String {
    let word = FrontMatter::parse(text).and_then(|front| front.text("status"));
    word.map_or_else(|| otherwise.to_owned(), |word| word.trim().to_lowercase())
}

fn is_settled(status: &str) -> bool {
    matches!(status, "complete" | "completed" | "resolved" | "done" | "closed")
}

fn field(text: &str, key: &str) -> String {
    FrontMatter::parse(text).and_then(|front| front.text(key)).map(|value| value.trim().to_owned()).unwrap_or_default()
}

/// A digest of the open findings of a review: other findings make it open again.
pub(super) fn findings_digest(findings: &[String]) -> String {
    sha256(findings.join("\n").as_bytes())
}

/// A digest of the open questions of a context: other questions make it open again.
pub(super) fn questions_digest(questions: &[String]) -> String {
    sha256(questions.join("\n").as_bytes())
}

/// The open questions of a context: a list in its front matter, else the lines below their heading.
pub(super) fn open_questions(text: &str) -> Vec<String> {
    let markdown = Markdown::parse(text);
    let listed = FrontMatter::of(&markdown).and_then(|front| front.get("open_questions"));
    let listed: Vec<String> = listed.iter().flat_map(Value::items).map(Value::flat).collect();
    if !listed.is_empty() {
        return listed;
    }
    let heading = markdown
        .headings()
        .find(|heading| heading.level >= 2 && heading.title.to_lowercase().starts_with("open questions"));
    let Some(heading) = heading else { return Vec::new() };
    let lines = markdown.section(&heading).filter(|line| markdown.is_prose(*line));
    let texts = lines.map(|line| markdown.line(line).trim());
    let answered = |line: &str| ListItem::read(line).is_some_and(|item| item.is_ticked());
    texts
        .filter(|line| !line.is_empty() && !line.starts_with('#') && !is_placeholder(line) && !answered(line))
        .map(str::to_owned)
        .collect()
}

fn hypothesis(text: &str) -> String {
    let markdown = Markdown::parse(text);
    let section = markdown.section_named("Current Focus");
    let mut lines = section.into_iter().flat_map(|(_, lines)| lines).map(|line| markdown.line(line).trim());
    short(lines.find(|line| !line.is_empty()).unwrap_or_default())
}

fn first_heading(text: &str) -> String {
    Markdown::parse(text).headings().next().map(|heading| heading.title.to_owned()).unwrap_or_default()
}

/// The first line with text.
fn first_line(text: &str) -> String {
    let body = FrontMatter::parse(text).map_or(text, |front| front.body());
    short(body.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default())
}

/// The title in the front matter, else the first line of text, else the first heading.
fn title_of(text: &str) -> String {
    let title = field(text, "title");
    if !title.is_empty() {
        return short(&title);
    }
    let body = FrontMatter::parse(text).map_or(text, |front| front.body());
    let mut lines = body.lines().map(str::trim).filter(|line| !line.is_empty());
    let heading = lines.clone().next().unwrap_or_default();
    short(lines.find(|line| !line.starts_with('#')).unwrap_or(heading))
}

fn short(line: &str) -> String {
    line.chars().take(SUMMARY_LENGTH).collect()
}
