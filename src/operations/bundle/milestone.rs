//! `init new-milestone`, `complete-milestone` and `transition`: from one milestone or phase to the next.

use schemars::JsonSchema;
use serde::Serialize;

use crate::project::files::FileError;
use crate::project::milestone::version_in;
use crate::project::state::State;
use crate::text::markdown::Markdown;

use super::sections::{Condition, SectionManifest};
use super::{Bundle, Complete};

/// What `init new-milestone` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct NewMilestoneReport {
    researcher_model: String,
    synthesizer_model: String,
    roadmapper_model: String,
    commit_docs: bool,
    research_enabled: bool,
    current_milestone: Option<String>,
    current_milestone_name: Option<String>,
    latest_completed_milestone: Option<String>,
    latest_completed_milestone_name: Option<String>,
    phase_dir_count: usize,
    /// Where the phases of the milestone before belong.
    phase_archive_path: Option<String>,
    project_exists: bool,
    roadmap_exists: bool,
    state_exists: bool,
    project_path: String,
    roadmap_path: String,
    state_path: String,
    requirements_path: String,
    config_path: String,
    research_dir: String,
    milestones_path: String,
    phases_dir: String,
    archive_dir: String,
    section_manifest: SectionManifest,
}

/// What git knows of the milestone that is closed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MilestoneHistory {
    /// All tags of the repository; `None` where git cannot say.
    pub(crate) tags: Option<Vec<String>>,
    /// The commit that first brought the milestone into the roadmap.
    pub(crate) since: Option<String>,
    /// How many commits came after it.
    pub(crate) commits: Option<u64>,
}

/// The tag that the milestone would get.
#[derive(Debug, Serialize, JsonSchema)]
struct MilestoneTag {
    name: String,
    /// The project has releases with tags that no milestone made: one more changes what `git describe` says of it, so that
    /// a person has to want it.
    ask: bool,
}

/// What `init complete-milestone` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CompleteMilestoneReport {
    git_create_tag: bool,
    /// Null where milestones get no tag, or no milestone is known.
    tag: Option<MilestoneTag>,
    /// How many tags of the repository no milestone made; null where git cannot say.
    foreign_tags: Option<usize>,
    /// The commit that first brought the milestone into ROADMAP.md; null where git has none.
    since: Option<String>,
    /// How many commits came after `since`.
    commits: Option<u64>,
    state_path: Option<String>,
    roadmap_path: Option<String>,
    archive_dir: String,
    milestones_path: Option<String>,
    project_path: Option<String>,
    requirements_path: Option<String>,
    section_manifest: SectionManifest,
}

/// What `init transition` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TransitionReport {
    other_active_workstreams: Vec<OtherWorkstream>,
    section_manifest: SectionManifest,
}

#[derive(Debug, Serialize, JsonSchema)]
struct OtherWorkstream {
    name: String,
    status: String,
}

impl Bundle<'_> {
    /// What starting a milestone starts from.
    pub(crate) fn new_milestone(&self, reset_numbers: bool) -> Result<Complete<NewMilestoneReport>, FileError> {
        let layout = self.view.layout();
        let milestone = self.milestone()?;
        let history = self.view.text(&layout.milestones())?;
        let (completed, completed_name) = history.as_deref().and_then(latest_shipped).unzip();
        let mut folders = self.view.milestone_folders()?;
        folders.retain(|folder| !folder.id().is_sentinel());
        let archive = layout.milestones_folder();
        let in_workstream = layout.workstream().is_some();
        let decided = [(Condition::OwnProject, !in_workstream), (Condition::ResetNumbers, reset_numbers)];
        let section_manifest = SectionManifest::of("new-milestone", &decided);
        let report = NewMilestoneReport {
            researcher_model: self.model("gsd-project-researcher"),
            synthesizer_model: self.model("gsd-research-synthesizer"),
            roadmapper_model: self.model("gsd-roadmapper"),
            commit_docs: self.commit_docs(),
            research_enabled: self.config.flag("workflow.research"),
            current_milestone: milestone.version,
            current_milestone_name: milestone.name,
            phase_archive_path: completed.as_deref().map(|version| self.shown(&format!("{archive}/{version}-phases"))),
            latest_completed_milestone: completed,
            latest_completed_milestone_name: completed_name.flatten(),
            phase_dir_count: folders.len(),
            project_exists: self.view.exists(&layout.project()),
            roadmap_exists: self.roadmap_exists(),
            state_exists: self.view.exists(&layout.state()),
            project_path: self.shown(&layout.project()),
            roadmap_path: self.shown(&layout.roadmap()),
            state_path: self.shown(&layout.state()),
            requirements_path: self.shown(&layout.requirements()),
            config_path: self.shown(&layout.config()),
            research_dir: self.shown(&layout.research()),
            milestones_path: self.shown(&layout.milestones()),
            phases_dir: self.shown(&layout.phases()),
            archive_dir: self.shown(&archive),
            section_manifest,
        };
        self.complete(report)
    }

    /// What closing a milestone starts from.
    pub(crate) fn complete_milestone(
        &self,
        git: &MilestoneHistory,
    ) -> Result<Complete<CompleteMilestoneReport>, FileError> {
        let layout = self.view.layout();
        let tag = self.config.flag("git.create_tag");
        let ours = self.view.text(&layout.milestones())?.map(|text| all_shipped(&text)).unwrap_or_default();
        let is_foreign = |tag: &&String| !ours.iter().any(|(version, _)| version == *tag);
        let foreign_tags = git.tags.as_ref().map(|tags| tags.iter().filter(is_foreign).count());
        let name = self.milestone()?.version.filter(|_| tag);
        let report = CompleteMilestoneReport {
            git_create_tag: tag,
            // What is not known is asked about.
            tag: name.map(|name| MilestoneTag { name, ask: foreign_tags != Some(0) }),
            foreign_tags,
            since: git.since.clone(),
            commits: git.commits,
            state_path: self.shown_if_there(&layout.state()),
            roadmap_path: self.shown_if_there(&layout.roadmap()),
            archive_dir: self.shown(&layout.milestones_folder()),
            milestones_path: self.shown_if_there(&layout.milestones()),
            project_path: self.shown_if_there(&layout.project()),
            requirements_path: self.shown_if_there(&layout.requirements()),
            section_manifest: SectionManifest::of("complete-milestone", &[(Condition::Tag, tag)]),
        };
        self.complete(report)
    }

    /// What going on to the next phase starts from: who else is at work.
    pub(crate) fn transition(&self) -> Result<Complete<TransitionReport>, FileError> {
        let layout = self.view.layout();
        let mut others = Vec::new();
        // Without a workstream of one's own there is nobody to collide with.
        let names = layout.workstream().map(|_| self.view.folder_names(&layout.workstreams())).transpose()?;
        for name in names.unwrap_or_default().into_iter().filter(|name| layout.workstream() != Some(name)) {
            let text = self.view.text(&format!("{}/{name}/STATE.md", layout.workstreams()))?;
            let status = text.as_deref().and_then(|text| {
                let state = State::parse(text);
                state.front_text("status").or_else(|| state.value("Status").map(str::to_owned))
            });
            let status = status.unwrap_or_else(|| "unknown".to_owned());
            if !is_over(&status) {
                others.push(OtherWorkstream { name, status });
            }
        }
        let section_manifest = SectionManifest::of("transition", &[(Condition::OtherWorkstreams, !others.is_empty())]);
        self.complete(TransitionReport { other_active_workstreams: others, section_manifest })
    }
}

fn is_over(status: &str) -> bool {
    let status = status.to_lowercase();
    ["archived", "milestone complete"].iter().any(|words| status.contains(words))
}

/// Version and name of the first entry of the history, which is the newest.
fn latest_shipped(history: &str) -> Option<(String, Option<String>)> {
    all_shipped(history).into_iter().next()
}

/// Version and name of each entry `## v1.0 Name (Shipped: 2026-01-02)` of the history.
fn all_shipped(history: &str) -> Vec<(String, Option<String>)> {
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
    fn the_newest_milestone_stands_first() {
        let history = "# Milestones\n\n## v1.1 Big Sync (Shipped: 2026-02-02)\n\n## v1.0 MVP (Shipped: 2026-01-01)\n";
        assert_eq!(latest_shipped(history), Some(("v1.1".into(), Some("Big Sync".into()))));
        assert_eq!(latest_shipped("## v1.0: Start\n## Notes on v2.0 (Shipped)\n"), None);
        assert_eq!(latest_shipped("## v2.0 (Shipped: x)\n"), Some(("v2.0".into(), None)));
    }
}
