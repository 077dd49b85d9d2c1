//! The statistics of a project: phases, plans, requirements, commits; as a record and as a page.

use std::collections::HashSet;
use std::fmt::Write as _;

use super::figures::{self, Overview, total_plans, total_summaries};
use super::measure::{BESIDE, Measure, mark};
use crate::operations::answers::answer::{FactOf as _, answer};
use crate::operations::facts::listed::{self, PhaseFacts, PhaseStatus};
use crate::operations::roadmap::analyze::percent;
use crate::project::dependencies::dependencies;
use crate::project::files::FileError;
use crate::project::folder::{FolderIndex, canonical_id, plan_id};
use crate::project::milestone::{Milestone, MilestoneScope};
use crate::project::phase::{self, PhaseId};
use crate::project::requirements::Requirements;
use crate::project::roadmap::{Roadmap, name_without_tag};
use crate::project::standing::{PhaseStanding, first_few};
use crate::project::state::edit::bar;
use crate::project::up_next;
use crate::project::verification;
use crate::project::view::ProjectView;
use crate::text::screen::{Cell, Mark, Screen, Tone, counted, width_of};

/// Facts about the project from git.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Commits {
    pub(crate) count: usize,
    /// The date of the first one.
    pub(crate) first: Option<String>,
}

/// Collects the statistics of the current milestone.
#[derive(Debug)]
pub(crate) struct Stats {
    overview: Overview,
    /// What a person should know about each phase beside its status.
    details: Vec<Option<String>>,
    /// How many requirements there are, and how many of them are met.
    requirements: (usize, usize),
    commits: Commits,
    last_activity: Option<String>,
    /// The current phase.
    current: Option<String>,
}

answer! {
    /// What `stats json` answers.
    pub(crate) struct StatsReport |stats: Stats| with figures(&stats.overview) {
        milestone_version, milestone_name,
        phases: Vec<PhaseStats> = stats.overview.phases.iter().map(PhaseStats::of).collect(),
        phases_completed = completed_phases, phases_total = phase_count,
        total_plans, total_summaries, percent,
        /// The percentage of plans with a summary; null unless the milestone's scope is complete.
        plan_percent: Option<usize> = stats.plan_percent(),
        requirements_total: usize = stats.requirements.0,
        requirements_complete: usize = stats.requirements.1,
        git_commits: usize = stats.commits.count,
        git_first_commit_date: Option<String> = stats.commits.first.clone(),
        last_activity: Option<String> = stats.last_activity.clone(),
        phase_scope,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        problems,
    }
}

answer! {
    /// One phase: of the roadmap, of the disk, or of both.
    pub(crate) struct PhaseStats |phase: PhaseFacts| with listed(phase) {
        number, name, plans = plan_count, summaries = summary_count,
        status: &'static str = PhaseStatus::of(&phase.standing).word_in_list(),
    }
}

/// Collects the statistics of the current milestone.
pub(crate) fn stats(view: &ProjectView, commits: Commits) -> Result<Stats, FileError> {
    let milestone = view.milestone()?;
    let mut listed: Vec<(PhaseId, String)> = Vec::new();
    let mut known = HashSet::new();
    let mut add = |id: &str, name: &str| {
        let id = PhaseId::new(id);
        if !id.is_sentinel() && known.insert(id.as_str().to_ascii_lowercase()) {
            listed.push((id, name.to_owned()));
        }
    };
    let roadmap = view.roadmap_or_empty()?;
    for phase in milestone.phases(roadmap) {
        add(phase.id, name_without_tag(phase.name));
    }
    let folders = view.milestone_folders()?;
    verification::look_ahead(view, &folders)?;
    for folder in &folders {
        add(folder.token(), &folder.slug().replace('-', " "));
    }
    let folder_index = FolderIndex::new(&folders);
    let mut phases = Vec::new();
    for (id, name) in listed {
        let number = id.to_string();
        let standing = PhaseStanding::of(view, &number, folder_index.find(&PhaseId::new(&number)))?;
        phases.push(PhaseFacts::new(number, name, standing));
    }
    phases.sort_by(|left, right| phase::compare(&left.number, &right.number));
    let requirements = view.text(&view.layout().requirements())?;
    let last_activity = view.state()?.and_then(|state| {
        state.front_text("last_activity").or_else(|| state.value("Last activity").map(str::to_owned))
    });
    Ok(Stats {
        details: phases.iter().map(|phase| left(phase).or_else(|| waits_for(phase, &phases, roadmap))).collect(),
        overview: Overview::new(view, milestone, phases)?,
        requirements: requirements.as_deref().map_or((0, 0), |text| Requirements::parse(text).counts()),
        commits,
        last_activity,
        current: up_next::current_phase(view)?,
    })
}

/// The plans that are left of a phase that was begun.
fn left(phase: &PhaseFacts) -> Option<String> {
    let work = &phase.standing.work;
    let open: Vec<String> = work.open_plans.iter().map(|plan| canonical_id(plan_id(plan)).to_owned()).collect();
    (work.summaries > 0 && !open.is_empty()).then(|| format!("{} left", first_few(&open)))
}

/// The phases that one that is not started waits for, by what the roadmap says it depends on. `all` are in order.
fn waits_for(phase: &PhaseFacts, all: &[PhaseFacts], roadmap: &Roadmap<'_>) -> Option<String> {
    if PhaseStatus::of(&phase.standing) != PhaseStatus::Pending {
        return None;
    }
    let section = roadmap.section(&phase.number)?;
    let named = dependencies(roadmap.field(section, "Depends on")?)?;
    let is_open = |id: &&String| {
        let first = all.partition_point(|other| phase::compare(&other.number, id).is_lt());
        let same = all[first..].iter().take_while(|other| phase::compare(&other.number, id).is_eq());
        same.into_iter().any(|other| !other.standing.is_complete())
    };
    let open: Vec<String> = named.iter().filter(is_open).cloned().collect();
    (!open.is_empty()).then(|| format!("waits for {}", first_few(&open)))
}

impl Stats {
    fn plan_percent(&self) -> Option<usize> {
        let (overview, summaries, plans) =
            (&self.overview, total_summaries::of(&self.overview), total_plans::of(&self.overview));
        (overview.milestone.scope == MilestoneScope::Complete).then(|| percent(summaries, plans))
    }

    /// The numbers for a person at a terminal.
    pub(crate) fn shown(&self, screen: Screen, title: &str) -> String {
        let mut page = self.head(screen, title) + &self.rows(screen);
        let mut rows: Vec<(&str, Cell)> = Vec::new();
        let (all, met) = self.requirements;
        if all > 0 {
            rows.push(("Requirements", Cell::from(format!("{met} of {all} met"))));
        }
        if self.commits.count > 0 {
            let since = self.commits.first.as_deref().map(|day| format!(" since {day}")).unwrap_or_default();
            rows.push(("Git", Cell::from(counted(self.commits.count, "commit") + &since)));
        }
        rows.extend(self.last_activity.as_ref().map(|activity| ("Last activity", Cell::from(activity.as_str()))));
        if !rows.is_empty() && self.has_phases() {
            page += "\n";
        }
        page + &screen.fields("", &rows)
    }

    /// Title, milestone and progress, and an empty line.
    pub(crate) fn head(&self, screen: Screen, title: &str) -> String {
        let title = screen.fitted(title, screen.width.saturating_sub(20).max(20));
        let Milestone { version, name, .. } = &self.overview.milestone;
        let milestone = [version.as_deref(), name.as_deref()]
            .into_iter()
            .flatten()
            .fold(String::new(), |words, word| words + " " + word);
        let painted = screen.paint(Tone::Strong, &title);
        let head = if milestone.is_empty() { painted } else { format!("{painted} {milestone}") };
        let is_one_line = width_of(&title) + width_of(&milestone) + 4 + BESIDE <= screen.width;
        let gap = if is_one_line { "   " } else { "\n" };
        head + gap + &self.measure().shown(screen) + "\n"
    }

    /// The progress of the milestone as a Markdown page, with every phase of the roadmap.
    pub(crate) fn progress_table(&self) -> String {
        self.overview.progress_table()
    }

    /// The progress of the milestone.
    pub(crate) fn measure(&self) -> Measure<'_> {
        self.overview.measure()
    }

    pub(crate) fn has_phases(&self) -> bool {
        !self.overview.phases.is_empty()
    }

    /// The statistics as a Markdown page.
    pub(crate) fn table(&self) -> String {
        let report = StatsReport::of(self);
        let share = |percent: Option<usize>| percent.map(|percent| format!(" ({percent}%)")).unwrap_or_default();
        let (done, all) = (report.phases_completed, report.phases_total);
        let mut page = format!("# {} — Statistics\n\n", self.overview.named());
        // Writing to a string cannot fail.
        if self.overview.measured.is_known {
            let percent = self.overview.measured.counts.percent();
            let _ = writeln!(page, "**Progress:** {} {percent}%", bar(percent));
        }
        if report.plan_percent.is_some() {
            let (plans, summaries) = (report.total_plans, report.total_summaries);
            let _ = writeln!(page, "**Plans:** {summaries}/{plans} complete{}", share(report.plan_percent));
        }
        let _ = writeln!(page, "**Phases:** {done}/{all} complete");
        if report.requirements_total > 0 {
            let (met, requirements) = (report.requirements_complete, report.requirements_total);
            let _ = writeln!(page, "**Requirements:** {met}/{requirements} complete");
        }
        page.push_str(
            "\n| Phase | Name | Plans | Completed | Status |\n|-------|------|-------|-----------|--------|\n",
        );
        for phase in &report.phases {
            let name = phase.name.replace('|', "\\|");
            let (number, plans, summaries, status) = (&phase.number, phase.plans, phase.summaries, phase.status);
            let _ = writeln!(page, "| {number} | {name} | {plans} | {summaries} | {status} |");
        }
        page.push('\n');
        if report.git_commits > 0 {
            let since =
                report.git_first_commit_date.as_deref().map(|day| format!(" (since {day})")).unwrap_or_default();
            let _ = writeln!(page, "**Git:** {}{since}", counted(report.git_commits, "commit"));
        }
        if let Some(last_activity) = &report.last_activity {
            let _ = writeln!(page, "**Last activity:** {last_activity}");
        }
        page
    }
}

/// The number of phases that are shown. If there are more, the leading complete ones become one line.
const SHOWN: usize = 16;

impl Stats {
    /// The phases for a person at a terminal, a row for each, the current one marked.
    pub(crate) fn rows(&self, screen: Screen) -> String {
        let phases = &self.overview.phases;
        let mut rows = Vec::new();
        let complete = phases.iter().take_while(|phase| phase.is_closed()).count();
        let hidden = if phases.len() > SHOWN && complete > 2 { complete } else { 0 };
        if let ([first, .., last], true) = (&phases[..hidden], hidden > 0) {
            let numbers = format!("{}-{}", phase::short(&first.number), phase::short(&last.number));
            let what = Cell::new(Tone::Good, format!("{hidden} phases complete"));
            rows.push(vec![screen.mark(Mark::Done), Cell::from(numbers), what]);
        }
        let shown = phases.iter().zip(&self.details).skip(hidden).take(SHOWN);
        rows.extend(shown.map(|(row, detail)| {
            let is_current = self.current.as_ref().is_some_and(|at| phase::compare(at, &row.number).is_eq());
            let (plans, summaries) = (row.standing.work.plans.len(), row.standing.work.summaries);
            let mark = mark(row.is_closed(), is_current, summaries > 0);
            let tone = if is_current && mark == Mark::Current { Tone::Strong } else { Tone::Plain };
            let tone_of_status = if row.is_closed() { Tone::Good } else { Tone::Faint };
            vec![
                screen.mark(mark),
                Cell::from(phase::short(&row.number)),
                Cell::new(tone, row.name.as_str()),
                Cell::from(if plans == 0 { String::new() } else { format!("{summaries}/{plans}") }),
                Cell::new(tone_of_status, status(row, detail.as_deref())),
            ]
        }));
        let more = phases.len().saturating_sub(hidden + SHOWN);
        let table = screen.table("  ", &rows);
        if more == 0 {
            return table;
        }
        table
            + &screen.prose("  ", "  ", &format!("and {more} more: `gsd-tools roadmap analyze --json` lists them all"))
    }
}

/// The status of a phase and what there is to know beside it.
fn status(phase: &PhaseFacts, detail: Option<&str>) -> String {
    let status = PhaseStatus::of(&phase.standing);
    match detail {
        _ if phase.standing.is_complete() && phase.is_open() => "verified, not closed yet".to_owned(),
        Some(detail) if status == PhaseStatus::Pending => detail.to_owned(),
        Some(detail) => format!("{}: {detail}", status.word().to_lowercase()),
        None => status.word_in_list().to_lowercase(),
    }
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
        let stats = stats(&view, Commits { count: 3, first: Some("2026-01-02".into()) }).unwrap();
        let report = StatsReport::of(&stats);
        let phases: Vec<_> = report.phases.iter().map(|phase| (phase.number.as_str(), phase.status)).collect();
        assert_eq!(phases, [("01", "Complete"), ("02", "Not Started")]);
        assert_eq!(report.phases[0].name, "A");
        assert_eq!((report.percent, report.plan_percent), (Some(50), Some(100)));
        assert_eq!((report.requirements_total, report.requirements_complete), (2, 1));
        let page = stats.table();
        assert!(page.contains("**Progress:** [█████░░░░░] 50%\n**Plans:** 1/1 complete (100%)\n"), "{page}");
        assert!(
            page.contains("| 02 | B\\|C | 0 | 0 | Not Started |\n\n**Git:** 3 commits (since 2026-01-02)\n"),
            "{page}"
        );
    }
}
