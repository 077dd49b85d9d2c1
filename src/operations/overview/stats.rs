//! The statistics of a project: phases, plans, requirements, commits; as a record and as a page.

use std::collections::HashSet;
use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

use crate::project::files::FileError;
use crate::project::folder::{FolderIndex, canonical_id, plan_id};
use crate::project::milestone::MilestoneScope;
use crate::project::phase::{self, PhaseId};
use crate::project::requirements::Requirements;
use crate::project::roadmap::{Roadmap, name_without_tag};
use crate::project::standing::{PhaseStanding, first_few};
use crate::project::state::edit::bar;
use crate::project::up_next;
use crate::project::verification;
use crate::project::view::ProjectView;

use super::measure::{BESIDE, Measure, mark};
use super::progress::PhaseStatus;
use crate::operations::roadmap::analyze::percent;
use crate::project::dependencies::dependencies;
use crate::project::figures::{Counts, Measured};
use crate::text::screen::{Cell, Mark, Screen, Tone, counted, width_of};

/// Facts about the project from git.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Commits {
    pub(crate) count: usize,
    /// The date of the first one.
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
    /// The part of the milestone that is done, in percent; null unless the milestone's scope is complete.
    pub(crate) percent: Option<u64>,
    /// The percentage of plans with a summary; null unless the milestone's scope is complete.
    pub(crate) plan_percent: Option<usize>,
    pub(crate) requirements_total: usize,
    pub(crate) requirements_complete: usize,
    pub(crate) git_commits: usize,
    pub(crate) git_first_commit_date: Option<String>,
    pub(crate) last_activity: Option<String>,
    pub(crate) phase_scope: MilestoneScope,
    /// What may hide phases of the milestone and so makes the figures uncertain.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) problems: Vec<String>,
    #[serde(skip)]
    counts: Counts,
    /// The current phase.
    #[serde(skip)]
    current: Option<String>,
}

/// One phase: in the roadmap, on disk, or both.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PhaseStats {
    pub(crate) number: String,
    pub(crate) name: String,
    pub(crate) plans: usize,
    pub(crate) summaries: usize,
    pub(crate) status: &'static str,
    /// A detail to show next to the status.
    #[serde(skip)]
    detail: Option<String>,
    /// It is verified, but not yet closed in the roadmap.
    #[serde(skip)]
    is_unclosed: bool,
}

/// Collects the statistics of the current milestone.
pub(crate) fn stats(view: &ProjectView, commits: Commits) -> Result<StatsReport, FileError> {
    let milestone = view.milestone()?;
    let mut phases: Vec<PhaseStats> = Vec::new();
    let mut known = HashSet::new();
    let mut add = |id: &str, name: &str| {
        let id = PhaseId::new(id);
        if !id.is_sentinel() && known.insert(id.as_str().to_ascii_lowercase()) {
            let (number, name) = (id.to_string(), name.to_owned());
            phases.push(PhaseStats {
                number,
                name,
                plans: 0,
                summaries: 0,
                status: NOT_STARTED,
                detail: None,
                is_unclosed: false,
            });
        }
    };
    let roadmap = view.roadmap()?;
    if let Some(roadmap) = roadmap {
        for phase in milestone.phases(roadmap) {
            add(phase.id, name_without_tag(phase.name));
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
        let standing = PhaseStanding::of(view, &row.number, folder)?;
        row.status = match PhaseStatus::of(&standing) {
            PhaseStatus::Pending => NOT_STARTED,
            status => status.word(),
        };
        row.is_unclosed = standing.is_complete() && standing.work.is_open();
        (row.plans, row.summaries) = (standing.work.plans.len(), standing.work.summaries);
        if row.summaries > 0 && !standing.work.open_plans.is_empty() {
            let open: Vec<String> =
                standing.work.open_plans.iter().map(|plan| canonical_id(plan_id(plan)).to_owned()).collect();
            row.detail = Some(format!("{} left", first_few(&open)));
        }
    }
    phases.sort_by(|left, right| phase::compare(&left.number, &right.number));
    wait_for_others(&mut phases, roadmap);
    let completed = phases.iter().filter(|phase| phase.status == PhaseStatus::Complete.word()).count();
    let total_plans = phases.iter().map(|phase| phase.plans).sum();
    let total_summaries = phases.iter().map(|phase| phase.summaries).sum();
    let known = milestone.scope == MilestoneScope::Complete;
    let requirements = view.text(&view.layout().requirements())?;
    let (total, complete) = requirements.as_deref().map_or((0, 0), |text| Requirements::parse(text).counts());
    let last_activity = view.state()?.and_then(|state| {
        state.front_text("last_activity").or_else(|| state.value("Last activity").map(str::to_owned))
    });
    let Measured { counts, percent: done, problems } = Measured::of(view, &milestone)?;
    Ok(StatsReport {
        percent: done,
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
        problems,
        counts,
        current: up_next::current_phase(view)?,
    })
}

const NOT_STARTED: &str = "Not Started";

impl StatsReport {
    /// The statistics for a person at a terminal.
    pub(crate) fn shown(&self, screen: Screen, title: &str) -> String {
        let mut page = self.head(screen, title) + &self.rows(screen);
        let mut rows: Vec<(&str, Cell)> = Vec::new();
        if self.requirements_total > 0 {
            let met = format!("{} of {} met", self.requirements_complete, self.requirements_total);
            rows.push(("Requirements", Cell::from(met)));
        }
        if self.git_commits > 0 {
            let since = self.git_first_commit_date.as_deref().map(|day| format!(" since {day}")).unwrap_or_default();
            rows.push(("Git", Cell::from(counted(self.git_commits, "commit") + &since)));
        }
        rows.extend(self.last_activity.as_ref().map(|activity| ("Last activity", Cell::from(activity.as_str()))));
        if !rows.is_empty() && !self.phases.is_empty() {
            page += "\n";
        }
        page + &screen.fields("", &rows)
    }

    /// Title, milestone and progress, and an empty line.
    pub(crate) fn head(&self, screen: Screen, title: &str) -> String {
        let title = screen.fitted(title, screen.width.saturating_sub(20).max(20));
        let milestone = [self.milestone_version.as_deref(), self.milestone_name.as_deref()];
        let milestone = milestone.into_iter().flatten().fold(String::new(), |words, word| words + " " + word);
        let painted = screen.paint(Tone::Strong, &title);
        let head = if milestone.is_empty() { painted } else { format!("{painted} {milestone}") };
        let is_one_line = width_of(&title) + width_of(&milestone) + 4 + BESIDE <= screen.width;
        let gap = if is_one_line { "   " } else { "\n" };
        head + gap + &self.measure().shown(screen) + "\n"
    }

    /// The progress of the milestone.
    pub(crate) fn measure(&self) -> Measure<'_> {
        Measure {
            percent: self.percent,
            scope: self.phase_scope,
            version: self.milestone_version.as_deref(),
            counts: self.counts,
            problems: &self.problems,
        }
    }

    /// The phases for a person at a terminal.
    pub(crate) fn rows(&self, screen: Screen) -> String {
        rows(screen, &self.phases, self.current.as_deref())
    }

    /// The statistics as a Markdown page.
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
            let _ = writeln!(page, "**Git:** {}{since}", counted(self.git_commits, "commit"));
        }
        if let Some(last_activity) = &self.last_activity {
            let _ = writeln!(page, "**Last activity:** {last_activity}");
        }
        page
    }
}

/// Marks the phases that have not started and wait for others, by their dependencies in the roadmap. The phases are in
/// order.
fn wait_for_others(phases: &mut [PhaseStats], roadmap: Option<&Roadmap<'_>>) {
    let waits_for = |row: &PhaseStats| {
        if row.status != NOT_STARTED {
            return None;
        }
        let section = roadmap?.section(&row.number)?;
        let named = dependencies(roadmap?.field(section, "Depends on")?)?;
        let is_open = |id: &&String| {
            let first = phases.partition_point(|other| phase::compare(&other.number, id).is_lt());
            let same = phases[first..].iter().take_while(|other| phase::compare(&other.number, id).is_eq());
            same.into_iter().any(|other| !other.is_complete())
        };
        let open: Vec<String> = named.iter().filter(is_open).cloned().collect();
        (!open.is_empty()).then(|| format!("waits for {}", first_few(&open)))
    };
    let waiting: Vec<Option<String>> = phases.iter().map(waits_for).collect();
    for (row, waits) in phases.iter_mut().zip(waiting) {
        row.detail = row.detail.take().or(waits);
    }
}

impl PhaseStats {
    fn is_complete(&self) -> bool {
        self.status == PhaseStatus::Complete.word()
    }

    /// True if it is shown as complete to people: it is closed too.
    fn is_closed(&self) -> bool {
        self.is_complete() && !self.is_unclosed
    }

    /// Its status with the detail.
    fn standing(&self) -> String {
        match &self.detail {
            _ if self.is_unclosed => "verified, not closed yet".to_owned(),
            Some(detail) if self.status == NOT_STARTED => detail.clone(),
            Some(detail) => format!("{}: {detail}", self.status.to_lowercase()),
            None => self.status.to_lowercase(),
        }
    }
}

/// The number of phases that are shown. If there are more, the leading complete ones become one line.
const SHOWN: usize = 16;

/// A row for each phase, the current one marked.
fn rows(screen: Screen, phases: &[PhaseStats], current: Option<&str>) -> String {
    let mut rows = Vec::new();
    let complete = phases.iter().take_while(|row| row.is_closed()).count();
    let hidden = if phases.len() > SHOWN && complete > 2 { complete } else { 0 };
    if let ([first, .., last], true) = (&phases[..hidden], hidden > 0) {
        let numbers = format!("{}-{}", phase::short(&first.number), phase::short(&last.number));
        let what = Cell::new(Tone::Good, format!("{hidden} phases complete"));
        rows.push(vec![screen.mark(Mark::Done), Cell::from(numbers), what]);
    }
    let shown = phases.iter().skip(hidden).take(SHOWN);
    rows.extend(shown.map(|row| {
        let is_current = current.is_some_and(|at| phase::compare(at, &row.number).is_eq());
        let mark = mark(row.is_closed(), is_current, row.summaries > 0);
        let tone = if is_current && mark == Mark::Current { Tone::Strong } else { Tone::Plain };
        let plans = if row.plans == 0 { String::new() } else { format!("{}/{}", row.summaries, row.plans) };
        vec![
            screen.mark(mark),
            Cell::from(phase::short(&row.number)),
            Cell::new(tone, row.name.as_str()),
            Cell::from(plans),
            Cell::new(if row.is_closed() { Tone::Good } else { Tone::Faint }, row.standing()),
        ]
    }));
    let more = phases.len().saturating_sub(hidden + SHOWN);
    let table = screen.table("  ", &rows);
    if more == 0 {
        return table;
    }
    table + &screen.prose("  ", "  ", &format!("and {more} more: `gsd-tools roadmap analyze --json` lists them all"))
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
