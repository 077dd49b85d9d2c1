//! The body of a slice's summary.

use std::fmt::Write as _;

use super::evidence::TaskProof;
use super::records::TaskRecords;
use super::requirements::Owned;
use crate::project::milestone_layout::lines::one_line;
use crate::project::milestone_layout::requirements::Requirement;
use crate::project::milestone_layout::slice_plan::SlicePlan;
use crate::project::milestone_layout::slice_rows::SliceRow;
use crate::project::milestone_layout::summary::{Summary, section};
use crate::text::screen::counted;

/// The last line of a summary from this module; other authors do not write it.
pub(super) const MADE: &str = "*Written from the records of the tasks.*";

/// The input of the body.
pub(super) struct Material<'a> {
    pub(super) title: &'a str,
    pub(super) row: &'a SliceRow,
    pub(super) plan: &'a SlicePlan,
    pub(super) tasks: &'a [(&'a TaskRecords, Summary)],
    pub(super) proofs: &'a [TaskProof],
    pub(super) owned: &'a Owned,
}

/// A body, and how many of its characters come from the tasks.
pub(super) struct Body {
    pub(super) text: String,
    pub(super) told: usize,
}

impl Body {
    fn heading(&mut self, title: &str) {
        // Writing to a string cannot fail.
        let _ = write!(self.text, "\n## {title}\n\n");
    }

    /// Adds a line from a task.
    fn tell(&mut self, line: &str) {
        self.told += line.chars().filter(|letter| !letter.is_whitespace()).count();
        let _ = writeln!(self.text, "{line}");
    }

    fn say(&mut self, line: &str) {
        let _ = writeln!(self.text, "{line}");
    }

    fn list(&mut self, title: &str, items: &[String]) {
        self.heading(title);
        for item in items {
            self.tell(&format!("- {item}"));
        }
        if items.is_empty() {
            self.say("None.");
        }
    }
}

/// Returns the count of checks, such as `4 checks in 2 tasks passed`.
pub(super) fn proof_of(proofs: &[TaskProof]) -> String {
    let checks = proofs.iter().map(|proof| if let TaskProof::Passed { checks } = proof { *checks } else { 0 }).sum();
    format!("{} in {} passed", counted(checks, "check"), counted(proofs.len(), "task"))
}

impl Material<'_> {
    pub(super) fn body(&self) -> Body {
        let mut body = Body { text: format!("# {}: {}\n", self.row.id, one_line(self.title)), told: 0 };
        let after = self.row.after.as_deref().or(self.plan.demo.as_deref()).or(self.plan.goal.as_deref());
        if let Some(after) = after {
            // Other documents quote the bold line.
            body.say(&format!("\n**{}**", one_line(after).replace("**", "")));
        }
        self.tell_what_happened(&mut body);
        self.tell_verification(&mut body);
        body.list("Requirements Advanced", &named(&self.owned.advanced));
        body.list("Requirements Validated", &named(&self.owned.proved));
        let surfaces = self.every(|summary| &summary.observability_surfaces);
        body.list("Operational Readiness", &surfaces);
        body.list("Deviations", &self.sections("Deviations"));
        body.list("Known Limitations", &self.sections("Known Issues"));
        body.list("Follow-ups", &self.sections("Follow-ups"));
        let files: Vec<String> =
            self.every(|summary| &summary.key_files).iter().map(|file| format!("`{file}`")).collect();
        body.list("Files", &files);
        self.tell_forward(&mut body);
        body.say(&format!("\n{MADE}"));
        body
    }

    fn tell_what_happened(&self, body: &mut Body) {
        body.heading("What Happened");
        for (task, summary) in self.tasks {
            let title = summary.title.as_deref().unwrap_or(&task.title);
            let line = summary.one_liner.as_deref().map(one_line).unwrap_or_default();
            let told = text_of(task, "What Happened").map(|text| first_paragraph(&text)).filter(|text| *text != line);
            let parts: Vec<String> = [Some(line), told].into_iter().flatten().filter(|part| !part.is_empty()).collect();
            let separator = if parts.is_empty() { "" } else { " — " };
            body.tell(&format!("- **{}: {}**{separator}{}", task.id, one_line(title), parts.join(" ")));
        }
    }

    fn tell_verification(&self, body: &mut Body) {
        body.heading("Verification");
        for ((task, _), proof) in self.tasks.iter().zip(self.proofs) {
            body.say(&format!("- {}: {} ({})", task.id, proof.word(), proof.detail()));
            let evidence = task.evidence().and_then(Result::ok);
            for check in evidence.iter().flat_map(|evidence| &evidence.checks) {
                let code = check.exit_code.map_or("no exit code".to_owned(), |code| format!("exit code {code}"));
                body.tell(&format!("  - `{}`: {code}", one_line(&check.command)));
            }
        }
    }

    fn tell_forward(&self, body: &mut Body) {
        let provides = self.every(|summary| &summary.provides);
        let patterns = self.every(|summary| &summary.patterns_established);
        body.heading("Forward Intelligence");
        for (title, items) in [
            ("What the next slice should know", provides),
            ("Patterns to follow", patterns),
            ("Diagnostics", self.sections("Diagnostics")),
        ] {
            if !items.is_empty() {
                body.say(&format!("### {title}\n"));
                for item in items {
                    body.tell(&format!("- {item}"));
                }
                body.say("");
            }
        }
    }

    /// Returns the values of all tasks under one key, each once.
    fn every(&self, of: fn(&Summary) -> &Vec<String>) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for value in self.tasks.iter().flat_map(|(_, summary)| of(summary)).map(|value| one_line(value)) {
            if !all.contains(&value) {
                all.push(value);
            }
        }
        all
    }

    /// Returns the text of all tasks in one section, each with its task.
    fn sections(&self, title: &str) -> Vec<String> {
        let told = self.tasks.iter().filter_map(|(task, _)| {
            let text = first_paragraph(&text_of(task, title)?);
            (!text.is_empty() && !says_none(&text)).then(|| format!("{}: {text}", task.id))
        });
        told.collect()
    }
}

fn named(entries: &[Requirement]) -> Vec<String> {
    entries.iter().map(|entry| format!("{} — {}", entry.id, one_line(&entry.title))).collect()
}

fn text_of(task: &TaskRecords, title: &str) -> Option<String> {
    section(&task.summary.as_ref()?.text, title)
}

/// True for texts such as `None.` and `No deviations.`, which mean that there is nothing.
fn says_none(text: &str) -> bool {
    let lower = text.to_lowercase();
    lower.starts_with("none") || lower.len() < 24 && lower.starts_with("no ")
}

/// Returns the first paragraph in one line, without the mark of a list.
fn first_paragraph(text: &str) -> String {
    let lines = text.lines().map(str::trim).take_while(|line| !line.is_empty() && !line.starts_with(['#', '|', '`']));
    let joined = lines.map(|line| line.trim_start_matches(['-', '*', ' '])).collect::<Vec<_>>().join(" ");
    one_line(&joined)
}
