//! The scan, its counts, and the page it prints.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

use super::{Category, is_acknowledged};
use crate::project::deferred::{DeferredItems, ItemState};
use crate::project::files::{FileError, sha256};
use crate::project::folder::PhaseFolder;
use crate::project::phase;
use crate::project::state::is_placeholder;
use crate::project::uat_report::UatReport;
use crate::project::view::ProjectView;
use crate::text::front_matter::{FrontMatter, Value};
use crate::text::markdown::Markdown;
use crate::text::screen::{Cell, Mark, Screen, Tone, counted};

/// What `audit-open` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OpenReport {
    scanned_at: String,
    pub(crate) has_open_items: bool,
    pub(crate) counts: Counts,
    pub(crate) acknowledged: Counts,
    pub(crate) items: OpenItems,
}

/// How many of each category.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Counts {
    debug_sessions: usize,
    quick_tasks: usize,
    threads: usize,
    todos: usize,
    seeds: usize,
    uat_gaps: usize,
    verification_gaps: usize,
    context_questions: usize,
    deferred_items: usize,
    pub(crate) total: usize,
}

impl Counts {
    fn add(&mut self, category: Category) {
        *self.place(category) += 1;
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
            Category::ContextQuestions => &mut self.context_questions,
            Category::DeferredItems => &mut self.deferred_items,
        }
    }

    pub(crate) fn of(&self, category: Category) -> usize {
        *self.clone().place(category)
    }
}

/// The open ones.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct OpenItems {
    pub(crate) debug_sessions: Vec<DebugSession>,
    pub(crate) quick_tasks: Vec<QuickTask>,
    pub(crate) threads: Vec<Thread>,
    pub(crate) todos: Vec<OpenTodo>,
    pub(crate) seeds: Vec<Seed>,
    pub(crate) uat_gaps: Vec<UatGap>,
    pub(crate) verification_gaps: Vec<VerificationGap>,
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
    /// How many more there are than are listed.
    #[serde(rename = "_remainder_count", skip_serializing_if = "Option::is_none")]
    remainder_count: Option<usize>,
    filename: String,
    priority: String,
    area: String,
    summary: String,
    /// What a person reads instead of the summary, which is the first line even where that is a heading.
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

/// Where an artifact of a phase is.
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

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ContextQuestions {
    #[serde(flatten)]
    place: Place,
    question_count: usize,
    /// The first few.
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

/// How many todos are listed, and how many questions of a phase.
const LISTED_TODOS: usize = 5;
const LISTED_QUESTIONS: usize = 3;
const SUMMARY_LENGTH: usize = 100;

/// Looks through everything that can be left open.
pub(crate) fn open(view: &ProjectView, now: String) -> Result<OpenReport, FileError> {
    let mut scan =
        Scan { view, items: OpenItems::default(), counts: Counts::default(), acknowledged: Counts::default() };
    scan.debug_sessions()?;
    scan.quick_tasks()?;
    scan.threads()?;
    scan.todos()?;
    scan.seeds()?;
    for folder in view.phase_folders()?.iter() {
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
    /// Counts one; whether it is open.
    fn count(&mut self, category: Category, text: &str, snapshot: &str) -> bool {
        let known = is_acknowledged(category, FrontMatter::parse(text).as_ref(), snapshot);
        if known {
            self.acknowledged.add(category);
        } else {
            self.counts.add(category);
        }
        !known
    }

    /// The Markdown files of a folder with their names without the ending.
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
            // What was learnt is kept beside the sessions.
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
        for file in folder.artifacts("VERIFICATION") {
            let (text, place, archived_milestone) = self.artifact(folder, file)?;
            let status = status_of(&text, "");
            if matches!(status.as_str(), "gaps_found" | "human_needed")
                && self.count(Category::VerificationGaps, &text, &status)
            {
                self.items.verification_gaps.push(VerificationGap { place, status, archived_milestone });
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

/// The name of the file in which a phase leaves things for later.
pub(super) const DEFERRED: &str = "deferred-items.md";

/// The summary of a quick task, if it has one.
pub(super) fn quick_summary(view: &ProjectView, folder: &str) -> Result<Option<String>, FileError> {
    let names = view.file_names(folder)?;
    let summary = names.into_iter().find(|name| name == "SUMMARY.md" || name.ends_with("-SUMMARY.md"));
    Ok(summary.map(|name| format!("{folder}/{name}")))
}

/// The word of the front matter's `status` in lower case.
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

/// What a UAT file says, short: it is open again when this changes.
pub(super) fn questions_digest(questions: &[String]) -> String {
    sha256(questions.join("\n").as_bytes())
}

/// The questions that a context leaves open: a list of its front matter, else the lines below their heading.
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
    let answered = |line: &str| ["- [x]", "- [X]", "* [x]"].iter().any(|mark| line.starts_with(mark));
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

/// The first line that says something.
fn first_line(text: &str) -> String {
    let body = FrontMatter::parse(text).map_or(text, |front| front.body());
    short(body.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default())
}

/// The title that the front matter has, else the first line of text, else the first heading.
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

impl OpenReport {
    /// What is open, kind by kind, for a person at a terminal.
    pub(crate) fn shown(&self, screen: Screen) -> String {
        let known = match self.acknowledged.total {
            0 => String::new(),
            known => format!("{} acknowledged before", counted(known, "item")),
        };
        if !self.has_open_items {
            let nothing = screen.paint(Tone::Good, "Nothing is open");
            return if known.is_empty() { nothing + "\n" } else { format!("{nothing}, {known}\n") };
        }
        let count = screen.paint(Tone::Strong, &counted(self.counts.total, "open item"));
        let mut page = if known.is_empty() { count + "\n" } else { format!("{count}, {known}\n") };
        for (category, title) in TITLES {
            let rows = self.rows(*category);
            if rows.is_empty() {
                continue;
            }
            // Writing to a string cannot fail.
            let _ = writeln!(page, "\n{} {}", screen.paint(Tone::Strong, title), self.counts.of(*category));
            let rows: Vec<Vec<Cell>> = rows.into_iter().map(|row| row.cells(screen)).collect();
            page += &screen.list("  ", &rows, "gsd-tools audit-open --json");
        }
        page + &screen.prose(
            "\n",
            "",
            "`gsd-tools help audit-open acknowledge` shows how to record that an item may stay open.",
        )
    }

    /// A name, what it is about and its status, of every item of a kind.
    fn rows(&self, category: Category) -> Vec<OpenRow> {
        let items = &self.items;
        match category {
            Category::DebugSessions => items.debug_sessions.iter().map(DebugSession::row).collect(),
            Category::QuickTasks => {
                items.quick_tasks.iter().map(|task| OpenRow::new(&task.slug, &task.description, &task.status)).collect()
            }
            Category::Threads => {
                items.threads.iter().map(|thread| OpenRow::new(&thread.slug, &thread.title, &thread.status)).collect()
            }
            Category::Todos => items.todos.iter().map(OpenTodo::row).collect(),
            Category::Seeds => {
                let title = |seed: &Seed| {
                    seed.title
                        .trim_start_matches("SEED-")
                        .trim_start_matches(|letter: char| letter.is_ascii_digit())
                        .trim_start_matches(':')
                        .trim()
                        .to_owned()
                };
                items.seeds.iter().map(|seed| OpenRow::new(&seed.id, &title(seed), &seed.status)).collect()
            }
            Category::UatGaps => {
                let row = |gap: &UatGap| {
                    let tests = counted(gap.open_scenario_count, "test");
                    OpenRow::in_phase(
                        &gap.place,
                        &format!("{tests} pending"),
                        &gap.status,
                        gap.archived_milestone.as_deref(),
                    )
                };
                items.uat_gaps.iter().map(row).collect()
            }
            Category::VerificationGaps => {
                let row = |gap: &VerificationGap| {
                    OpenRow::in_phase(&gap.place, &gap.place.file, &gap.status, gap.archived_milestone.as_deref())
                };
                items.verification_gaps.iter().map(row).collect()
            }
            Category::ContextQuestions => {
                let row = |open: &ContextQuestions| {
                    let first = open.questions.first().map_or("", |question| without_mark(question));
                    let count = counted(open.question_count, "question");
                    OpenRow::in_phase(&open.place, first, &count, open.archived_milestone.as_deref())
                };
                items.context_questions.iter().map(row).collect()
            }
            Category::DeferredItems => {
                let row = |item: &DeferredText| {
                    OpenRow::in_phase(&item.place, &item.text, "", item.archived_milestone.as_deref())
                };
                items.deferred.iter().map(row).collect()
            }
        }
    }

    /// The same as a page for people.
    pub(crate) fn page(&self) -> String {
        let mut page = "### Milestone Close: Open Artifact Audit\n\n".to_owned();
        if self.has_open_items {
            for (category, mark, title, what) in SECTIONS {
                let lines = self.lines(*category);
                if lines.is_empty() {
                    continue;
                }
                let known = match self.acknowledged.of(*category) {
                    0 => String::new(),
                    known => format!(", {known} previously acknowledged"),
                };
                // Writing to a string cannot fail.
                let _ = writeln!(page, "{mark} {title} ({} {what}{known})", self.counts.of(*category));
                for line in lines {
                    let _ = writeln!(page, "   {line}");
                }
                page.push('\n');
            }
        } else {
            page.push_str("All artifact types clear. Safe to proceed.\n\n");
        }
        page.push_str("---");
        let (open, known) = (self.counts.total, self.acknowledged.total);
        if open > 0 {
            let plural = if open == 1 { "" } else { "s" };
            let _ = write!(page, "\n\n**{open} item{plural} require decisions before close.**");
        }
        if known > 0 {
            let plural = if known == 1 { "" } else { "s" };
            let _ = write!(
                page,
                "\n{known} previously acknowledged item{plural} also suppressed above the {open} open items."
            );
        }
        page
    }

    fn lines(&self, category: Category) -> Vec<String> {
        let items = &self.items;
        let milestone = |archived: &Option<String>| {
            archived.as_deref().map_or_else(String::new, |version| format!(" (archived, {version})"))
        };
        match category {
            Category::DebugSessions => items.debug_sessions.iter().map(DebugSession::line).collect(),
            Category::QuickTasks => {
                items.quick_tasks.iter().map(|task| format!("• {} [{}]", task.slug, task.status)).collect()
            }
            Category::Threads => {
                let line = |thread: &Thread| format!("• {} [{}] — {}", thread.slug, thread.status, thread.title);
                items.threads.iter().map(line).collect()
            }
            Category::Todos => items.todos.iter().flat_map(OpenTodo::lines).collect(),
            Category::Seeds => {
                let line = |seed: &Seed| format!("• {} [{}] — {}", seed.id, seed.status, seed.title);
                items.seeds.iter().map(line).collect()
            }
            Category::UatGaps => {
                let line = |gap: &UatGap| {
                    let count = gap.open_scenario_count;
                    let archived = milestone(&gap.archived_milestone);
                    format!("{} [{}] — {count} pending scenarios{archived}", gap.place.line(), gap.status)
                };
                items.uat_gaps.iter().map(line).collect()
            }
            Category::VerificationGaps => {
                let line = |gap: &VerificationGap| {
                    format!("{} [{}]{}", gap.place.line(), gap.status, milestone(&gap.archived_milestone))
                };
                items.verification_gaps.iter().map(line).collect()
            }
            Category::ContextQuestions => {
                let lines = |context: &ContextQuestions| {
                    let archived = milestone(&context.archived_milestone);
                    let mut lines =
                        vec![format!("{} ({} questions){archived}", context.place.line(), context.question_count)];
                    lines.extend(context.questions.iter().map(|question| format!("  - {}", without_mark(question))));
                    lines
                };
                items.context_questions.iter().flat_map(lines).collect()
            }
            Category::DeferredItems => {
                let line = |item: &DeferredText| {
                    format!("• Phase {}: {}{}", item.place.phase, item.text, milestone(&item.archived_milestone))
                };
                items.deferred.iter().map(line).collect()
            }
        }
    }
}

/// One open item for a person at a terminal.
struct OpenRow {
    name: String,
    about: String,
    status: String,
}

impl OpenRow {
    /// Words of a template that was never filled in say nothing.
    fn new(name: &str, about: &str, status: &str) -> Self {
        let about = about.trim_start_matches('#').trim();
        let about = if about.trim_start_matches("hypothesis:").trim() == "null" { "" } else { about };
        Self { name: name.to_owned(), about: about.to_owned(), status: status.replace('_', " ") }
    }

    fn in_phase(place: &Place, about: &str, status: &str, archived: Option<&str>) -> Self {
        let phase = format!("phase {}", phase::short(&place.phase));
        let name = archived.map_or_else(|| phase.clone(), |version| format!("{phase} of {version}"));
        Self::new(&name, about, status)
    }

    fn cells(self, screen: Screen) -> Vec<Cell> {
        let (name, about) = (Cell::from(self.name), Cell::from(self.about));
        vec![screen.mark(Mark::Open), name, about, Cell::new(Tone::Faint, self.status)]
    }
}

/// The kinds of items as a person reads them: what hurts most comes first.
const TITLES: &[(Category, &str)] = &[
    (Category::DebugSessions, "Debug sessions"),
    (Category::UatGaps, "Acceptance tests"),
    (Category::VerificationGaps, "Verifications"),
    (Category::QuickTasks, "Quick tasks"),
    (Category::Todos, "Todos"),
    (Category::Threads, "Threads"),
    (Category::Seeds, "Seeds"),
    (Category::ContextQuestions, "Questions in CONTEXT.md"),
    (Category::DeferredItems, "Deferred items"),
];

/// The sections of the page: what hurts most comes first.
const SECTIONS: &[(Category, &str, &str, &str)] = &[
    (Category::DebugSessions, "🔴", "Debug Sessions", "open"),
    (Category::UatGaps, "🔴", "UAT Gaps", "phases with incomplete UAT"),
    (Category::VerificationGaps, "🔴", "Verification Gaps", "unresolved"),
    (Category::QuickTasks, "🟡", "Quick Tasks", "incomplete"),
    (Category::Todos, "🟡", "Pending Todos", "pending"),
    (Category::Threads, "🔵", "Open Threads", "active"),
    (Category::Seeds, "🔵", "Unimplemented Seeds", "pending"),
    (Category::ContextQuestions, "🔵", "CONTEXT Open Questions", "phases with open questions"),
    (Category::DeferredItems, "🔵", "Deferred Items", "unresolved"),
];

impl Place {
    fn line(&self) -> String {
        format!("• Phase {}: {}", self.phase, self.file)
    }
}

impl DebugSession {
    fn row(&self) -> OpenRow {
        OpenRow::new(&self.slug, &self.hypothesis, &self.status)
    }

    fn line(&self) -> String {
        let start = format!("• {} [{}]", self.slug, self.status);
        if self.hypothesis.is_empty() { start } else { format!("{start} — {}", self.hypothesis) }
    }
}

impl OpenTodo {
    fn row(&self) -> OpenRow {
        match self.remainder_count {
            Some(more) => OpenRow::new(&format!("and {more} more"), "`gsd-tools list-todos` lists them all", ""),
            None => OpenRow::new(&self.filename, &self.title, &self.area),
        }
    }

    fn lines(&self) -> Vec<String> {
        if let Some(more) = self.remainder_count {
            return vec![format!("... and {more} more")];
        }
        let area = if self.area.is_empty() { String::new() } else { format!(" [{}]", self.area) };
        let mut lines = vec![format!("• {}{area}", self.filename)];
        if !self.summary.is_empty() {
            lines.push(format!("  {}", self.summary));
        }
        lines
    }
}

fn without_mark(question: &str) -> &str {
    question.trim_start_matches(['-', '*', '+']).trim_start()
}
