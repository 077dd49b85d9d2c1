//! The numbers of a project: phases, plans, requirements, commits; as a record and as a page.

use std::collections::HashSet;
use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

use crate::project::files::FileError;
use crate::project::folder::FolderIndex;
use crate::project::milestone::MilestoneScope;
use crate::project::phase::{self, PhaseId};
use crate::project::requirements::Requirements;
use crate::project::roadmap::name_without_tag;
use crate::project::standing::PhaseStanding;
use crate::project::state::State;
use crate::project::state::edit::bar;
use crate::project::verification;
use crate::project::view::ProjectView;

use super::progress::PhaseStatus;
use crate::operations::roadmap::analyze::percent;
use crate::operations::state::Counts;
use crate::text::screen::{Cell, Mark, Screen, Tone, counted};

/// What git tells of the project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Commits {
    pub(crate) count: usize,
    /// The day of the first one.
    pub(crate) first: Option<String>,
}

/// What `stats json` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StatsReport {
    pub(crate) milestone_version: Option<String>,
    pub(crate) milestone_name: Option<String>,
    pub(crate) phases: Vec<PhaseStats>,
    pub(crate) phases_completed: usize,
    pub(crate) phases_total: usize,
    pub(crate) total_plans: usize,
    pub(crate) total_summaries: usize,
    /// How much of the milestone is done; none unless the milestone's scope is complete.
    pub(crate) percent: Option<u64>,
    /// Summaries of plans; none likewise.
    pub(crate) plan_percent: Option<usize>,
    pub(crate) requirements_total: usize,
    pub(crate) requirements_complete: usize,
    pub(crate) git_commits: usize,
    pub(crate) git_first_commit_date: Option<String>,
    pub(crate) last_activity: Option<String>,
    pub(crate) phase_scope: MilestoneScope,
}

/// One phase: of the roadmap, of the disk, or of both.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PhaseStats {
    pub(crate) number: String,
    pub(crate) name: String,
    pub(crate) plans: usize,
    pub(crate) summaries: usize,
    pub(crate) status: &'static str,
}

/// The numbers of the current milestone.
pub(crate) fn stats(view: &ProjectView, commits: Commits) -> Result<StatsReport, FileError> {
    let milestone = view.milestone()?;
    let mut phases: Vec<PhaseStats> = Vec::new();
    let mut known = HashSet::new();
    let mut add = |id: &str, name: &str| {
        let id = PhaseId::new(id);
        if !id.is_sentinel() && known.insert(id.as_str().to_ascii_lowercase()) {
            let (number, name) = (id.to_string(), name.to_owned());
            phases.push(PhaseStats { number, name, plans: 0, summaries: 0, status: NOT_STARTED });
        }
    };
    let text = view.roadmap_text()?;
    let roadmap = text.as_deref().map(|text| view.parse_roadmap(text));
    if let Some(roadmap) = &roadmap {
        let numbered = |id: &str| id.starts_with(|first: char| first.is_ascii_digit());
        let sections = roadmap.sections().iter().filter(|section| !section.shipped && numbered(section.id));
        let rows = roadmap.rows().iter().filter(|row| row.lists && !row.shipped);
        let listed = sections
            .map(|section| (section.id, section.name, section.heading_line))
            .chain(rows.map(|row| (row.id, row.name, row.line)));
        for (id, name, _) in listed.filter(|(_, _, line)| milestone.holds(*line)) {
            add(id, name_without_tag(name));
        }
    }
    let folders = view.milestone_folders()?;
    verification::look_ahead(view, &folders)?;
    for folder in &folders {
        add(folder.token(), &folder.slug().replace('-', " "));
    }
    let folder_index = FolderIndex::new(&folders);
    for row in &mut phases {
        let id = PhaseId::new(&row.number);
        let folder = folder_index.find(&id);
        let standing = PhaseStanding::of(view, roadmap.as_ref(), &row.number, folder)?;
        row.status = match PhaseStatus::of(&standing) {
            PhaseStatus::Pending => NOT_STARTED,
            status => status.word(),
        };
        (row.plans, row.summaries) = (standing.work.plans.len(), standing.work.summaries);
    }
    phases.sort_by(|left, right| phase::compare(&left.number, &right.number));
    let completed = phases.iter().filter(|phase| phase.status == PhaseStatus::Complete.word()).count();
    let total_plans = phases.iter().map(|phase| phase.plans).sum();
    let total_summaries = phases.iter().map(|phase| phase.summaries).sum();
    let known = milestone.scope == MilestoneScope::Complete;
    let requirements = view.text(&view.layout().requirements())?;
    let (total, complete) = requirements.as_deref().map_or((0, 0), |text| Requirements::parse(text).counts());
    let state = view.state_text()?;
    let last_activity = state.as_deref().map(State::parse).and_then(|state| {
        state.front_text("last_activity").or_else(|| state.value("Last activity").map(str::to_owned))
    });
    Ok(StatsReport {
        percent: if known { Some(Counts::of(view)?.percent()) } else { None },
        plan_percent: known.then(|| percent(total_summaries, total_plans)),
        milestone_version: milestone.version,
        milestone_name: milestone.name,
        phases_completed: completed,
        phases_total: phases.len(),
        phases,
        total_plans,
        total_summaries,
        requirements_total: total,
        requirements_complete: complete,
        git_commits: commits.count,
        git_first_commit_date: commits.first,
        last_activity,
        phase_scope: milestone.scope,
    })
}

const NOT_STARTED: &str = "Not Started";

impl StatsReport {
    /// The numbers for a person at a terminal.
    pub(crate) fn shown(&self, screen: Screen, title: &str) -> String {
        let mut page = headline(screen, title, self) + "\n" + &progress_of(screen, self, "  ") + "\n";
        page += &rows(screen, &self.phases, None);
        let mut rows: Vec<Vec<Cell>> = Vec::new();
        let mut row = |label: &str, value: String| rows.push(vec![Cell::new(Tone::Faint, label), Cell::from(value)]);
        if self.requirements_total > 0 {
            row("Requirements", format!("{} of {} met", self.requirements_complete, self.requirements_total));
        }
        if self.git_commits > 0 {
            let since = self.git_first_commit_date.as_deref().map(|day| format!(" since {day}")).unwrap_or_default();
            row("Git", counted(self.git_commits, "commit") + &since);
        }
        if let Some(activity) = &self.last_activity {
            row("Last activity", activity.clone());
        }
        if !rows.is_empty() {
            page += "\n";
        }
        page + &screen.table("  ", &rows)
    }

    /// The numbers as a Markdown page.
    pub(crate) fn table(&self) -> String {
        let words = |text: &Option<String>| text.clone().unwrap_or_default();
        let share = |percent: Option<usize>| percent.map(|percent| format!(" ({percent}%)")).unwrap_or_default();
        let (done, all) = (self.phases_completed, self.phases_total);
        let mut page = format!("# {} {} — Statistics\n\n", words(&self.milestone_version), words(&self.milestone_name));
        // Writing to a string cannot fail.
        let percent = self.percent.map(|percent| format!(" {percent}%")).unwrap_or_default();
        let _ = writeln!(page, "**Progress:** {}{percent}", bar(self.percent.unwrap_or(0)));
        if self.plan_percent.is_some() {
            let (plans, summaries) = (self.total_plans, self.total_summaries);
            let _ = writeln!(page, "**Plans:** {summaries}/{plans} complete{}", share(self.plan_percent));
        }
        let _ = writeln!(page, "**Phases:** {done}/{all} complete");
        if self.requirements_total > 0 {
            let (met, requirements) = (self.requirements_complete, self.requirements_total);
            let _ = writeln!(page, "**Requirements:** {met}/{requirements} complete");
        }
        page.push_str(
            "\n| Phase | Name | Plans | Completed | Status |\n|-------|------|-------|-----------|--------|\n",
        );
        for phase in &self.phases {
            let name = phase.name.replace('|', "\\|");
            let (number, plans, summaries, status) = (&phase.number, phase.plans, phase.summaries, phase.status);
            let _ = writeln!(page, "| {number} | {name} | {plans} | {summaries} | {status} |");
        }
        page.push('\n');
        if self.git_commits > 0 {
            let since = self.git_first_commit_date.as_deref().map(|day| format!(" (since {day})")).unwrap_or_default();
            let _ = writeln!(page, "**Git:** {} commits{since}", self.git_commits);
        }
        if let Some(last_activity) = &self.last_activity {
            let _ = writeln!(page, "**Last activity:** {last_activity}");
        }
        page
    }
}

/// How wide the bar of progress is.
const BAR: u64 = 20;

/// Title, version and name of the milestone.
pub(super) fn headline(screen: Screen, title: &str, stats: &StatsReport) -> String {
    let mut words = vec![screen.paint(Tone::Strong, title)];
    let milestone = [stats.milestone_version.as_deref(), stats.milestone_name.as_deref()];
    words.extend(milestone.into_iter().flatten().map(str::to_owned));
    words.join("  ") + "\n"
}

/// The bar with its percentage and counts; where there is no percentage, why, and what gives one.
pub(super) fn progress_of(screen: Screen, stats: &StatsReport, indent: &str) -> String {
    let plans = format!("{} of {}", stats.total_summaries, counted(stats.total_plans, "plan"));
    let phases = format!("{} of {}", stats.phases_completed, counted(stats.phases_total, "phase"));
    let counts = format!("{plans}, {phases} done");
    let Some(percent) = stats.percent else {
        let version = stats.milestone_version.as_deref();
        let why = match (stats.phase_scope, version) {
            (MilestoneScope::Unreadable, _) => "there is no ROADMAP.md".to_owned(),
            (MilestoneScope::Truncated, Some(version)) => {
                format!("ROADMAP.md has no phases below the heading of {version}; move its phases there")
            }
            (_, Some(version)) => {
                format!("ROADMAP.md has no heading for {version}; add one, such as `## {version}`, above its phases")
            }
            (_, None) => {
                "STATE.md has no milestone; `gsd-tools state milestone-switch --milestone v1.0` sets one".to_owned()
            }
        };
        return format!("{indent}{counts}\n")
            + &screen.prose(&format!("{indent}No percentage: "), &format!("{indent}  "), &why);
    };
    format!("{indent}{} {percent}%  {}\n", screen.bar(percent, 100, BAR), screen.paint(Tone::Faint, &counts))
}

/// A row for each phase, the current one marked.
pub(super) fn rows(screen: Screen, phases: &[PhaseStats], current: Option<&str>) -> String {
    let row = |row: &PhaseStats| {
        let is_done = row.status == "Complete";
        let is_current = !is_done && current.is_some_and(|current| phase::compare(current, &row.number).is_eq());
        let (mark, tone) = match () {
            () if is_done => (Mark::Done, Tone::Plain),
            () if is_current => (Mark::Current, Tone::Strong),
            () if row.summaries > 0 => (Mark::Current, Tone::Plain),
            () => (Mark::Open, Tone::Plain),
        };
        let plans = if row.plans == 0 { String::new() } else { format!("{}/{} plans", row.summaries, row.plans) };
        vec![
            screen.mark(mark),
            Cell::from(row.number.as_str()),
            Cell::new(tone, row.name.as_str()),
            Cell::from(plans),
            Cell::new(if is_done { Tone::Good } else { Tone::Faint }, row.status.to_lowercase()),
        ]
    };
    screen.table("  ", &phases.iter().map(row).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_of_roadmap_and_disk_are_counted_once() {
        let files = [
            (".planning/ROADMAP.md", "### Phase 1: A (INSERTED)\n### Phase 2: B|C\n### Phase 999.1: Later\n"),
            (".planning/STATE.md", "# S\nLast activity: today\n"),
            (".planning/REQUIREMENTS.md", "- [x] **A-01**: a\n- [ ] **A-02**: b\n"),
            (".planning/phases/01-a/01-01-PLAN.md", "x"),
            (".planning/phases/01-a/01-01-SUMMARY.md", "x"),
            (".planning/phases/01-a/01-VERIFICATION.md", "---\nstatus: passed\n---\n"),
        ];
        let view = ProjectView::of(files);
        let report = stats(&view, Commits { count: 3, first: Some("2026-01-02".into()) }).unwrap();
        let phases: Vec<_> = report.phases.iter().map(|phase| (phase.number.as_str(), phase.status)).collect();
        assert_eq!(phases, [("01", "Complete"), ("02", "Not Started")]);
        assert_eq!(report.phases[0].name, "A");
        assert_eq!((report.percent, report.plan_percent), (Some(50), Some(100)));
        assert_eq!((report.requirements_total, report.requirements_complete), (2, 1));
        let page = report.table();
        assert!(page.contains("**Progress:** [█████░░░░░] 50%\n**Plans:** 1/1 complete (100%)\n"), "{page}");
        assert!(
            page.contains("| 02 | B\\|C | 0 | 0 | Not Started |\n\n**Git:** 3 commits (since 2026-01-02)\n"),
            "{page}"
        );
    }
}
