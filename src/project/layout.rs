//! Every path under `.planning/`, named once. Paths are relative to the project's root, with `/`.

use std::path::{Path, PathBuf};

use super::workstream::Pointer;
use crate::disk::AbsolutePath;

/// The paths of a project's documents, for the chosen workstream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    root: PathBuf,
    /// `.planning`, or `.planning/<segment>` if the environment sets one.
    planning: String,
    workstream: Option<String>,
}

impl Layout {
    /// The layout of the project at `root`. `segment` is an extra folder under `.planning`; the caller checks both
    /// names.
    pub(crate) fn new(root: impl Into<PathBuf>, segment: Option<&str>, workstream: Option<&str>) -> Self {
        let planning = segment.map_or_else(|| ".planning".to_owned(), |segment| format!(".planning/{segment}"));
        Self { root: root.into(), planning, workstream: workstream.map(str::to_owned) }
    }

    /// The layout of the project at `root` for a call: for the requested workstream, else the one named in the
    /// environment, else the stored one.
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

    /// Converts a path that a person typed, absolute or relative to the root, to one relative to the root.
    pub(crate) fn relative(&self, typed: &str) -> String {
        let relative = Path::new(typed).strip_prefix(&self.root).unwrap_or(Path::new(typed));
        relative.to_string_lossy().replace('\\', "/")
    }

    /// As [`Self::relative`], with its dots resolved; `None` if the path leads out of the project or is its root.
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

    /// The folder for our worktrees: in the project, so that a host lets agents write there, and ignored by git.
    pub(crate) fn worktrees(&self) -> String {
        format!("{}/worktrees", self.planning)
    }

    /// The documents that record the progress of the work, which commands write and commit together.
    pub(crate) fn tracking(&self) -> [String; 4] {
        [self.state(), self.state_mirror(), self.roadmap(), self.requirements()]
    }

    /// The folder of a workstream's own documents; `.planning` without a workstream.
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

    /// The audit of the milestone of this version.
    pub(crate) fn milestone_audit(&self, version: &str) -> String {
        self.in_scope(&format!("{version}-MILESTONE-AUDIT.md"))
    }
}

/// Makes a method for each place in a folder, which gives its path.
macro_rules! places {
    ($folder:ident: $($(#[$of_one:meta])* $place:ident = $name:literal,)+) => {
        impl Layout {
            $($(#[$of_one])* pub(crate) fn $place(&self) -> String {
                self.$folder($name)
            })+
        }
    };
}

places! { in_scope:
    state = "STATE.md",
    /// The machine-readable mirror of the state.
    state_mirror = "state.json",
    /// Old parts that were moved out of the state.
    state_archive = "STATE-ARCHIVE.md",
    /// Records that the work waits for an answer.
    waiting = "WAITING.json",
    /// Records where the work was paused.
    handoff = "HANDOFF.json",
    milestone_claim = "milestone.lock",
    roadmap = "ROADMAP.md",
    requirements = "REQUIREMENTS.md",
    config = "config.json",
    phases = "phases",
    milestones_folder = "milestones",
    milestones = "MILESTONES.md",
    retrospective = "RETROSPECTIVE.md",
    quick = "quick",
    quick_batches = "quick-batches",
    /// Contradictions between imported documents.
    ingest_conflicts = "INGEST-CONFLICTS.md",
    debug = "debug",
    /// The actual cost of plans compared with the estimates.
    estimates = "estimation-calibration.json",
}

places! { in_planning:
    /// The configuration of the whole project, which a workstream's own configuration overrides.
    root_config = "config.json",
    project = "PROJECT.md",
    codebase = "codebase",
    research = "research",
    /// The agent that was at work when a session broke off.
    interrupted_agent = "current-agent-id.txt",
    /// Milestones archived by hand.
    archive = "archive",
    /// Knowledge about the code, which belongs to the whole project.
    intel = "intel",
    onboarding_summary = "onboarding/SUMMARY.md",
    threads = "threads",
    seeds = "seeds",
    /// The ledger of known small defects.
    windows = "WINDOWS.md",
    todos_pending = "todos/pending",
    todos_completed = "todos/completed",
    workstreams = "workstreams",
}
