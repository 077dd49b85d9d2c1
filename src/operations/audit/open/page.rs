//! The list of open artifacts for people: at a terminal, and as the page that scripts know.

use std::fmt::Write as _;

use super::super::Category;
use super::{
    ContextQuestions, DebugSession, DeferredText, OpenReport, OpenTodo, Place, ReviewFindings, Seed, Thread, UatGap,
    VerificationGap,
};
use crate::project::phase;
use crate::text::screen::{Cell, Mark, Screen, Tone, counted};

impl OpenReport {
    /// The open artifacts, category by category, for a person at a terminal.
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

    /// The name, the subject and the status of every item of a category.
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
            Category::ReviewFindings => {
                let row = |open: &ReviewFindings| {
                    let first = open.findings.first().map_or("", String::as_str);
                    let count = format!("{} critical", open.findings.len());
                    OpenRow::in_phase(&open.place, first, &count, open.archived_milestone.as_deref())
                };
                items.review_findings.iter().map(row).collect()
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

    /// The list as a page for people.
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
            Category::ReviewFindings => {
                let lines = |open: &ReviewFindings| {
                    let mut lines = vec![format!("{}{}", open.place.line(), milestone(&open.archived_milestone))];
                    lines.extend(open.findings.iter().map(|finding| format!("  - {finding}")));
                    lines
                };
                items.review_findings.iter().flat_map(lines).collect()
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
    /// Placeholders of a template that was never filled in are left out.
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

/// The categories as people read them, the most serious first.
const TITLES: &[(Category, &str)] = &[
    (Category::DebugSessions, "Debug sessions"),
    (Category::UatGaps, "Acceptance tests"),
    (Category::VerificationGaps, "Verifications"),
    (Category::ReviewFindings, "Critical review findings"),
    (Category::QuickTasks, "Quick tasks"),
    (Category::Todos, "Todos"),
    (Category::Threads, "Threads"),
    (Category::Seeds, "Seeds"),
    (Category::ContextQuestions, "Questions in CONTEXT.md"),
    (Category::DeferredItems, "Deferred items"),
];

/// The sections of the page, the most serious first.
const SECTIONS: &[(Category, &str, &str, &str)] = &[
    (Category::DebugSessions, "🔴", "Debug Sessions", "open"),
    (Category::UatGaps, "🔴", "UAT Gaps", "phases with incomplete UAT"),
    (Category::VerificationGaps, "🔴", "Verification Gaps", "unresolved"),
    (Category::ReviewFindings, "🔴", "Critical Review Findings", "reviews with open findings"),
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
