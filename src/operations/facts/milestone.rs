//! Facts about the milestone: its phases, earlier milestones, its branch and its tag.

use schemars::JsonSchema;
use serde::Serialize;

use super::{AskedPhase, FactBasis, Given, facts};
use crate::project::config::Branching;
use crate::project::figures::MilestoneCounts;
use crate::project::files::FileError;
use crate::project::milestone::{Milestone, version_in};
use crate::project::phase::PhaseId;
use crate::project::state::State;
use crate::text::markdown::Markdown;
use crate::text::slug;

/// Facts about the milestone from git.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MilestoneHistory {
    /// All tags of the repository; `None` if git cannot list them.
    pub(crate) tags: Option<Vec<String>>,
    /// The commit that first added the milestone to the roadmap.
    pub(crate) since: Option<String>,
    /// The number of commits after it.
    pub(crate) commits: Option<u64>,
}

/// The tag that the milestone would get.
#[derive(Debug, Serialize, JsonSchema)]
struct MilestoneTag {
    name: String,
    /// True if the repository has release tags that are not milestones. One more tag changes the output of `git
    /// describe`, so a person has to confirm it.
    ask: bool,
}

/// Another workstream that is not finished.
#[derive(Debug, Serialize, JsonSchema)]
struct OtherWorkstream {
    name: String,
    status: String,
}

/// The progress of the milestone.
struct MilestoneProgress {
    phases: usize,
    counts: MilestoneCounts,
}

/// Version and name of the milestones in MILESTONES.md, newest first.
struct Shipped(Vec<(String, Option<String>)>);

impl FactBasis for MilestoneHistory {
    fn of(_: &Given<'_>) -> Result<Self, FileError> {
        Ok(Self::default())
    }
}

impl FactBasis for Milestone {
    /// Without a roadmap the milestone is unknown, whatever STATE.md says.
    fn of(given: &Given<'_>) -> Result<Self, FileError> {
        match given.view.roadmap()? {
            Some(_) => given.view.milestone(),
            None => Ok(Milestone::without_roadmap(None)),
        }
    }
}

impl FactBasis for MilestoneProgress {
    fn of(given: &Given<'_>) -> Result<Self, FileError> {
        let milestone = given.part::<Milestone>()?;
        let sections = given.view.roadmap_or_empty()?.sections().iter().filter(|section| {
            !section.shipped && milestone.holds(section.heading_line) && !PhaseId::new(section.id).is_sentinel()
        });
        let phases = match sections.count() {
            0 => given.view.milestone_folders()?.len(),
            count => count,
        };
        Ok(Self { phases, counts: MilestoneCounts::of(given.view)? })
    }
}

impl FactBasis for Shipped {
    fn of(given: &Given<'_>) -> Result<Self, FileError> {
        let text = given.view.text(&given.view.layout().milestones())?;
        Ok(Self(text.as_deref().map(shipped).unwrap_or_default()))
    }
}

facts! { |given, milestone: Milestone|
    /// The version of the milestone.
    milestone_version: Option<String> = milestone.version.clone();
    /// The name of the milestone.
    milestone_name: Option<String> = milestone.name.clone();
    /// The name of the milestone as part of file names and branches.
    milestone_slug: Option<String> = milestone.name.as_deref().map(slug);
    /// The number of phases of the milestone, from ROADMAP.md or else from their folders.
    milestone_phase_count: usize = given.part::<MilestoneProgress>()?.phases;
    /// The number of its complete phases.
    completed_phases: u64 = given.part::<MilestoneProgress>()?.counts.completed_phases;
    /// Whether every phase is complete.
    all_phases_complete: bool = {
        let MilestoneProgress { phases, counts } = &*given.part::<MilestoneProgress>()?;
        *phases > 0 && counts.completed_phases >= counts.total_phases
    };
    /// The folders below `archive/`, where older projects keep finished milestones; others are in `milestones/`.
    archived_milestones: Vec<String> = given.view.folder_names(&given.view.layout().archive())?;
    /// The number of those folders.
    archive_count: usize = given.view.folder_names(&given.view.layout().archive())?.len();
    /// The number of phases of the milestone that have a folder.
    phase_dir_count: usize = given.view.milestone_folders()?.len();
    /// The version of the most recently completed milestone.
    latest_completed_milestone: Option<String> =
        given.part::<Shipped>()?.0.first().map(|(version, _)| version.clone());
    /// The name of the most recently completed milestone.
    latest_completed_milestone_name: Option<String> =
        given.part::<Shipped>()?.0.first().and_then(|(_, name)| name.clone());
    /// The archive folder for the phases of the previous milestone.
    phase_archive_path: Option<String> = given.part::<Shipped>()?.0.first().map(|(version, _)| {
        given.shown(&format!("{}/{version}-phases", given.view.layout().milestones_folder()))
    });
    /// The branch for the work; null if it is the current one.
    branch_name: Option<String> = branch(given, &milestone)?;
    /// The tag of the milestone; null if milestones get no tag or no milestone is known.
    tag: Option<MilestoneTag> = {
        // If the tags are unknown, a person is asked.
        let ask = foreign_tags(given)? != Some(0);
        let name = milestone.version.clone().filter(|_| given.flag("git.create_tag"));
        name.map(|name| MilestoneTag { name, ask })
    };
    /// The number of tags that are not milestones; null if git cannot list the tags.
    foreign_tags: Option<usize> = foreign_tags(given)?;
    /// The commit that first added the milestone to ROADMAP.md; null if git has none.
    since: Option<String> = given.part::<MilestoneHistory>()?.since.clone();
    /// The number of commits after `since`.
    commits: Option<u64> = given.part::<MilestoneHistory>()?.commits;
    /// Other workstreams that are not finished.
    other_active_workstreams: Vec<OtherWorkstream> = others(given)?;
}

fn foreign_tags(given: &Given<'_>) -> Result<Option<usize>, FileError> {
    let (history, ours) = (given.part::<MilestoneHistory>()?, given.part::<Shipped>()?);
    let is_foreign = |tag: &&String| !ours.0.iter().any(|(version, _)| version == *tag);
    Ok(history.tags.as_ref().map(|tags| tags.iter().filter(is_foreign).count()))
}

fn branch(given: &Given<'_>, milestone: &Milestone) -> Result<Option<String>, FileError> {
    let code = given.config.project_code().unwrap_or_default();
    let (key, place, number, name) = match given.config.branching() {
        Branching::None => return Ok(None),
        Branching::Phase => {
            let found = given.part::<AskedPhase>()?;
            ("git.phase_branch_template", "{phase}", found.padded(), found.slug().unwrap_or_default())
        }
        Branching::Milestone => {
            let name = milestone.name.as_deref().map_or_else(|| "milestone".to_owned(), slug);
            ("git.milestone_branch_template", "{milestone}", milestone.version.clone(), name)
        }
    };
    let filled = |number: &str, template| fill(template, &[("{project}", code), (place, number), ("{slug}", &name)]);
    Ok(number.as_deref().zip(given.config.text(key)).and_then(|(number, template)| filled(number, template)))
}

/// Fills in the placeholders of a template. An empty value also removes the hyphen before it.
pub(super) fn fill(template: &str, values: &[(&str, &str)]) -> Option<String> {
    let mut filled = template.to_owned();
    for (placeholder, value) in values {
        if value.is_empty() {
            filled = filled.replace(&format!("-{placeholder}"), "");
        }
        filled = filled.replace(placeholder, value);
    }
    (!filled.is_empty()).then_some(filled)
}

fn others(given: &Given<'_>) -> Result<Vec<OtherWorkstream>, FileError> {
    let layout = given.view.layout();
    let mut others = Vec::new();
    // Without a workstream, other workstreams cannot collide with this work.
    let names = layout.workstream().map(|_| given.view.folder_names(&layout.workstreams())).transpose()?;
    for name in names.unwrap_or_default().into_iter().filter(|name| layout.workstream() != Some(name)) {
        let text = given.view.text(&format!("{}/{name}/STATE.md", layout.workstreams()))?;
        let status = text.as_deref().and_then(|text| {
            let state = State::parse(text);
            state.front_text("status").or_else(|| state.value("Status").map(str::to_owned))
        });
        let status = status.unwrap_or_else(|| "unknown".to_owned());
        let is_over = ["archived", "milestone complete"].iter().any(|words| status.to_lowercase().contains(words));
        if !is_over {
            others.push(OtherWorkstream { name, status });
        }
    }
    Ok(others)
}

/// Version and name of each entry `## v1.0 Name (Shipped: 2026-01-02)` in MILESTONES.md.
fn shipped(history: &str) -> Vec<(String, Option<String>)> {
    let markdown = Markdown::parse(history);
    let shipped = markdown.headings().filter(|heading| heading.level == 2).filter_map(|heading| {
        let (named, _) = heading.title.split_once("(Shipped")?;
        let version = version_in(named).filter(|version| named.starts_with(version))?;
        let name = named[version.len()..].trim();
        Some((version.to_owned(), (!name.is_empty()).then(|| name.to_owned())))
    });
    shipped.collect()
}

#[cfg(test)]
mod unit_tests {
    use super::*;

    #[test]
    fn every_completed_milestone_is_read_in_order() {
        let history = "# Milestones\n\n## v1.1 Big Sync (Shipped: 2026-02-02)\n\n## v1.0 MVP (Shipped: 2026-01-01)\n";
        let expected = [("v1.1".into(), Some("Big Sync".into())), ("v1.0".into(), Some("MVP".into()))];
        assert_eq!(shipped(history), expected);
        assert_eq!(shipped("## v1.0: Start\n## Notes on v2.0 (Shipped)\n"), []);
        assert_eq!(shipped("## v2.0 (Shipped: x)\n"), [("v2.0".into(), None)]);
    }
}
