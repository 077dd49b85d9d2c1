//! Every path under `.planning/`, named once. Paths are relative to the project's root, with `/`.

use std::path::{Path, PathBuf};

use super::workstream::Pointer;
use crate::disk::AbsolutePath;

/// Where the documents of a project stand, for the chosen workstream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    root: PathBuf,
    /// `.planning`, or `.planning/<segment>` where an environment sets one.
    planning: String,
    workstream: Option<String>,
}

impl Layout {
    /// The layout of the project at `root`. `segment` is an extra folder under `.planning`; both names are checked by the caller.
    pub(crate) fn new(root: impl Into<PathBuf>, segment: Option<&str>, workstream: Option<&str>) -> Self {
        let planning = segment.map_or_else(|| ".planning".to_owned(), |segment| format!(".planning/{segment}"));
        Self { root: root.into(), planning, workstream: workstream.map(str::to_owned) }
    }

    /// The layout of the project at `root` as a call sees it: for the workstream that was asked for, else the one that
    /// the environment names, else the stored one.
    pub(crate) fn of_call(
        root: &AbsolutePath,
        asked: Option<&str>,
        stored: &Pointer,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Self {
        let segment = variable("GSD_PROJECT");
        let named = asked.map(str::to_owned).or_else(|| variable("GSD_WORKSTREAM"));
        let active = named.or_else(|| stored.active());
        Self::new(root.as_path(), segment.as_deref(), active.as_deref())
    }

    /// The same project seen from a workstream, or as a whole.
    pub(crate) fn scoped(&self, workstream: Option<&str>) -> Self {
        Self { workstream: workstream.map(str::to_owned), ..self.clone() }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn workstream(&self) -> Option<&str> {
        self.workstream.as_deref()
    }

    /// `path` (relative, with `/`) as an absolute path in the host's spelling.
    pub(crate) fn absolute(&self, path: &str) -> PathBuf {
        if cfg!(unix) && !path.starts_with('/') && !path.ends_with('/') && !path.contains("//") && !path.is_empty() {
            return self.root.join(path);
        }
        let mut absolute = self.root.clone();
        absolute.extend(path.split('/').filter(|part| !part.is_empty()));
        absolute
    }

    /// A path a person typed, absolute or relative to the root, as one relative to the root.
    pub(crate) fn relative(&self, typed: &str) -> String {
        let relative = Path::new(typed).strip_prefix(&self.root).unwrap_or(Path::new(typed));
        relative.to_string_lossy().replace('\\', "/")
    }

    /// As [`Self::relative`], with its dots resolved; `None` where the path leads out of the project or is its root.
    pub(crate) fn inside(&self, typed: &str) -> Option<String> {
        let root = AbsolutePath::parse(&self.root).ok()?;
        root.resolve(typed).relative_to(&root).map(|path| path.as_str().to_owned())
    }

    /// `path` as an absolute path for a payload.
    pub(crate) fn shown(&self, path: &str) -> String {
        self.absolute(path).to_string_lossy().replace('\\', "/")
    }

    pub(crate) fn planning(&self) -> &str {
        &self.planning
    }

    /// Where worktrees of ours are made: in the project, so that a host lets agents write there, and ignored by git.
    pub(crate) fn worktrees(&self) -> String {
        format!("{}/worktrees", self.planning)
    }

    /// The documents that say how far the work is, which commands write and commit together.
    pub(crate) fn tracking(&self) -> [String; 4] {
        [self.state(), self.state_mirror(), self.roadmap(), self.requirements()]
    }

    /// The folder of the documents a workstream has of its own; `.planning` without one.
    pub(crate) fn scope(&self) -> String {
        match &self.workstream {
            Some(name) => format!("{}/workstreams/{name}", self.planning),
            None => self.planning.clone(),
        }
    }

    fn in_scope(&self, name: &str) -> String {
        [self.scope().as_str(), "/", name].concat()
    }

    fn in_planning(&self, name: &str) -> String {
        format!("{}/{name}", self.planning)
    }

    pub(crate) fn state(&self) -> String {
        self.in_scope("STATE.md")
    }

    /// The machine-readable mirror of the state.
    pub(crate) fn state_mirror(&self) -> String {
        self.in_scope("state.json")
    }

    /// What was moved out of the state because it is old.
    pub(crate) fn state_archive(&self) -> String {
        self.in_scope("STATE-ARCHIVE.md")
    }

    /// Says that the work waits for an answer.
    pub(crate) fn waiting(&self) -> String {
        self.in_scope("WAITING.json")
    }

    /// Says where paused work was left.
    pub(crate) fn handoff(&self) -> String {
        self.in_scope("HANDOFF.json")
    }

    pub(crate) fn milestone_claim(&self) -> String {
        self.in_scope("milestone.lock")
    }

    pub(crate) fn roadmap(&self) -> String {
        self.in_scope("ROADMAP.md")
    }

    pub(crate) fn requirements(&self) -> String {
        self.in_scope("REQUIREMENTS.md")
    }

    pub(crate) fn config(&self) -> String {
        self.in_scope("config.json")
    }

    /// The configuration that a workstream's own lies over.
    pub(crate) fn root_config(&self) -> String {
        self.in_planning("config.json")
    }

    pub(crate) fn phases(&self) -> String {
        self.in_scope("phases")
    }

    pub(crate) fn milestones_folder(&self) -> String {
        self.in_scope("milestones")
    }

    /// The audit of the milestone of this version.
    pub(crate) fn milestone_audit(&self, version: &str) -> String {
        self.in_scope(&format!("{version}-MILESTONE-AUDIT.md"))
    }

    pub(crate) fn project(&self) -> String {
        self.in_planning("PROJECT.md")
    }

    pub(crate) fn milestones(&self) -> String {
        self.in_scope("MILESTONES.md")
    }

    pub(crate) fn retrospective(&self) -> String {
        self.in_scope("RETROSPECTIVE.md")
    }

    pub(crate) fn codebase(&self) -> String {
        self.in_planning("codebase")
    }

    pub(crate) fn research(&self) -> String {
        self.in_planning("research")
    }

    /// Who was at work when a session broke off.
    pub(crate) fn interrupted_agent(&self) -> String {
        self.in_planning("current-agent-id.txt")
    }

    /// Milestones put away by hand.
    pub(crate) fn archive(&self) -> String {
        self.in_planning("archive")
    }

    pub(crate) fn quick(&self) -> String {
        self.in_scope("quick")
    }

    pub(crate) fn quick_batches(&self) -> String {
        self.in_scope("quick-batches")
    }

    /// What is known of the code, which belongs to the project.
    pub(crate) fn intel(&self) -> String {
        self.in_planning("intel")
    }

    /// Where documents that were taken in contradict each other.
    pub(crate) fn ingest_conflicts(&self) -> String {
        self.in_scope("INGEST-CONFLICTS.md")
    }

    pub(crate) fn onboarding_summary(&self) -> String {
        self.in_planning("onboarding/SUMMARY.md")
    }

    pub(crate) fn debug(&self) -> String {
        self.in_scope("debug")
    }

    /// Where a workstream keeps its own notes of debugging.
    pub(crate) fn scope_debug(&self) -> String {
        self.in_scope("debug")
    }

    pub(crate) fn threads(&self) -> String {
        self.in_planning("threads")
    }

    pub(crate) fn seeds(&self) -> String {
        self.in_planning("seeds")
    }

    /// The ledger of small defects that are known.
    pub(crate) fn windows(&self) -> String {
        self.in_planning("WINDOWS.md")
    }

    pub(crate) fn todos_pending(&self) -> String {
        self.in_planning("todos/pending")
    }

    pub(crate) fn todos_completed(&self) -> String {
        self.in_planning("todos/completed")
    }

    /// What plans took against what they were thought to take.
    pub(crate) fn estimates(&self) -> String {
        self.in_scope("estimation-calibration.json")
    }

    pub(crate) fn workstreams(&self) -> String {
        self.in_planning("workstreams")
    }
}
