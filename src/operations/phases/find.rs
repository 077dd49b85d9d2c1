//! Finds phases: one by its identifier, or all of a milestone.

use schemars::JsonSchema;
use serde::Serialize;

use crate::project::files::FileError;
use crate::project::folder::{PhaseFolder, canonical_id, is_named_plan, plan_id};
use crate::project::milestone::MilestoneScope;
use crate::project::phase::short;
use crate::project::roadmap::name_without_tag;
use crate::project::view::ProjectView;
use crate::text::screen::{Cell, Mark, Screen, Tone};

/// What `find-phase` answers.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct FindPhaseReport {
    pub(crate) found: bool,
    /// The name of the phase as the roadmap has it.
    #[serde(skip)]
    pub(crate) title: Option<String>,
    pub(crate) directory: Option<String>,
    pub(crate) phase_number: Option<String>,
    pub(crate) phase_name: Option<String>,
    pub(crate) plans: Vec<String>,
    pub(crate) summaries: Vec<String>,
    pub(crate) plan_count: Option<usize>,
    pub(crate) summary_count: Option<usize>,
    /// The number of plans including superseded ones.
    pub(crate) plan_count_all: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) searched_directories: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) ambiguous_matches: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) warning: Option<String>,
}

impl FindPhaseReport {
    /// The phase for a person at a terminal.
    pub(crate) fn shown(&self, screen: Screen) -> String {
        let (folder, number) = (self.directory.as_deref(), self.phase_number.as_deref());
        let (folder, number) = (folder.unwrap_or_default(), short(number.unwrap_or_default()));
        let name = || self.phase_name.as_deref().unwrap_or_default().replace('-', " ");
        let title = format!("Phase {number}  {}", self.title.clone().unwrap_or_else(name));
        let mut page =
            format!("{}\n{}\n", screen.paint(Tone::Strong, title.trim_end()), screen.paint(Tone::Faint, folder));
        if self.plans.is_empty() {
            return page + "No plans yet\n";
        }
        let done: Vec<&str> = self.summaries.iter().filter_map(|file| file.strip_suffix("-SUMMARY.md")).collect();
        let row = |plan: &String| {
            let id = plan_id(plan);
            let is_done = done.iter().any(|done| *done == id || *done == canonical_id(id));
            vec![screen.mark(if is_done { Mark::Done } else { Mark::Open }), Cell::from(plan.as_str())]
        };
        page += &screen.table("  ", &self.plans.iter().map(row).collect::<Vec<_>>());
        page
    }
}

/// The folder of a phase with its plans and summaries.
pub(crate) fn find_phase(view: &ProjectView, typed: &str) -> Result<FindPhaseReport, FileError> {
    let lookup = view.find_phase(typed)?;
    let Some(folder) = lookup.folder else {
        let warning = (!lookup.ambiguous.is_empty()).then(|| {
            format!("{} folders match phase {typed}: {}", lookup.ambiguous.len(), lookup.ambiguous.join(", "))
        });
        return Ok(FindPhaseReport {
            searched_directories: Some(lookup.searched),
            ambiguous_matches: lookup.ambiguous,
            warning,
            ..FindPhaseReport::default()
        });
    };
    let (number, name) = folder.number_and_name();
    let plans = executable_plans(view, &folder)?;
    let summaries = owned(folder.summaries());
    let roadmap = view.roadmap_or_empty()?;
    let section = roadmap.section(number).filter(|_| folder.archived.is_none());
    Ok(FindPhaseReport {
        found: true,
        title: section.map(|section| name_without_tag(section.name).to_owned()),
        directory: Some(folder.path.clone()),
        phase_number: Some(number.to_owned()),
        phase_name: (!name.is_empty()).then(|| name.to_owned()),
        plan_count: Some(plans.len()),
        summary_count: Some(summaries.len()),
        plan_count_all: Some(folder.named_plans().count()),
        plans,
        summaries,
        warning: folder.told_misnamed(),
        ..FindPhaseReport::default()
    })
}

/// The executable plans of a folder: those whose name is that of a plan.
fn executable_plans(view: &ProjectView, folder: &PhaseFolder) -> Result<Vec<String>, FileError> {
    let mut plans = view.current_plans(folder)?;
    plans.retain(|plan| is_named_plan(plan));
    Ok(plans)
}

/// What `phases list` answers.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum PhaseListReport {
    /// Without `--type`.
    Folders {
        directories: Vec<String>,
        count: usize,
        /// How certain it is that these are the phases of the milestone; null for a single phase.
        phase_scope: Option<MilestoneScope>,
    },
    /// With `--type`.
    Files {
        files: Vec<String>,
        count: usize,
        /// The name of the requested phase.
        phase_dir: Option<String>,
        /// How certain it is that the files are of phases of the milestone; null for a single phase.
        phase_scope: Option<MilestoneScope>,
        /// A warning about files that look like plans but are not listed.
        #[serde(skip_serializing_if = "Option::is_none")]
        warning: Option<String>,
    },
    NoPhase {
        files: Vec<String>,
        count: usize,
        phase_dir: Option<String>,
        error: &'static str,
    },
    /// The phases folder does not exist.
    NoFolders {
        directories: Vec<String>,
        count: usize,
    },
    /// With `--type`: the phases folder does not exist.
    NoFiles {
        files: Vec<String>,
        count: usize,
    },
}

impl PhaseListReport {
    /// Only the names.
    pub(crate) fn names(&self) -> &[String] {
        match self {
            Self::Folders { directories, .. } | Self::NoFolders { directories, .. } => directories,
            Self::Files { files, .. } | Self::NoPhase { files, .. } | Self::NoFiles { files, .. } => files,
        }
    }
}

/// Which phases to list, and what to list of them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ListRequest<'a> {
    /// Files of this kind, instead of folders.
    pub(crate) kind: Option<PhaseFileKind>,
    /// Only this phase.
    pub(crate) phase: Option<&'a str>,
    /// Those of closed milestones too.
    pub(crate) archived: bool,
}

/// The kinds of files of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PhaseFileKind {
    Plans,
    Summaries,
    All,
}

/// Lists the folders of the milestone's phases, or their files.
pub(crate) fn list_phases(view: &ProjectView, request: ListRequest<'_>) -> Result<PhaseListReport, FileError> {
    if !view.exists(&view.layout().phases()) {
        return Ok(match request.kind {
            None => PhaseListReport::NoFolders { directories: Vec::new(), count: 0 },
            Some(_) => PhaseListReport::NoFiles { files: Vec::new(), count: 0 },
        });
    }
    let mut folders = Vec::new();
    let mut phase_scope = None;
    if let Some(phase) = request.phase {
        let found = view.find_phase(phase)?.folder.filter(|folder| request.archived || folder.archived.is_none());
        let Some(found) = found else {
            let error = "Phase not found";
            return Ok(PhaseListReport::NoPhase { files: Vec::new(), count: 0, phase_dir: None, error });
        };
        folders.push(found);
    } else {
        if request.archived {
            for (path, label) in view.archives()? {
                folders.extend(view.read_folders(&path, Some(&label))?);
            }
        }
        folders.extend(view.milestone_folders()?);
        phase_scope = Some(view.milestone()?.scope);
    }
    let Some(kind) = request.kind else {
        let shown = |folder: &PhaseFolder| match &folder.archived {
            Some(label) => format!("{} [{label}]", folder.name),
            None => folder.name.clone(),
        };
        let directories: Vec<String> = folders.iter().map(shown).collect();
        return Ok(PhaseListReport::Folders { count: directories.len(), directories, phase_scope });
    };
    let (mut files, mut misnamed) = (Vec::new(), Vec::new());
    for folder in &folders {
        match kind {
            PhaseFileKind::Plans => {
                files.extend(executable_plans(view, folder)?);
                misnamed.extend(folder.told_misnamed().map(|told| format!("{}: {told}", folder.name)));
            }
            PhaseFileKind::Summaries => files.extend(owned(folder.summaries())),
            PhaseFileKind::All => files.extend(folder.files.iter().cloned()),
        }
    }
    files.sort();
    let phase_dir = request.phase.and_then(|_| folders.first()).map(|folder| {
        let is_numbered = folder.name.starts_with(|first: char| first.is_ascii_digit());
        if is_numbered { folder.slug().to_owned() } else { folder.name.clone() }
    });
    let warning = (!misnamed.is_empty()).then(|| misnamed.join("; "));
    Ok(PhaseListReport::Files { count: files.len(), files, phase_dir, phase_scope, warning })
}

fn owned<'text>(names: impl Iterator<Item = &'text str>) -> Vec<String> {
    names.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::files::MemoryFiles;
    use crate::project::layout::Layout;

    #[test]
    fn plans_that_cannot_be_executed_are_left_out_and_named() {
        let view = ProjectView::of([
            (".planning/phases/05-name/02-PLAN-01-x.md", ""),
            (".planning/phases/05-name/05-01-PLAN.md", ""),
            (".planning/phases/05-name/plans/05-PLAN-02-y.md", ""),
        ]);
        let found = find_phase(&view, "5").unwrap();
        assert_eq!(found.plans, ["05-01-PLAN.md", "plans/05-PLAN-02-y.md"]);
        assert_eq!((found.plan_count, found.plan_count_all), (Some(2), Some(2)));
        assert!(found.warning.unwrap().contains("02-PLAN-01-x.md"));
        let request = ListRequest { kind: Some(PhaseFileKind::Plans), phase: Some("5"), ..ListRequest::default() };
        let listed = serde_json::to_value(list_phases(&view, request).unwrap()).unwrap();
        assert_eq!(listed["count"], 2);
        assert!(listed["warning"].as_str().unwrap().starts_with("05-name: ignored"), "{listed}");
    }

    #[test]
    fn one_phase_is_listed_alone_and_archived_ones_on_request() {
        let view = ProjectView::new(
            Layout::new("/p", None, None),
            Box::new(MemoryFiles::new([
                (".planning/phases/02-b/02-01-PLAN.md", ""),
                (".planning/phases/02-b/02-01-SUMMARY.md", ""),
                (".planning/phases/ACME-03-c/03-CONTEXT.md", ""),
                (".planning/phases/04A-d/04A-01-PLAN.md", ""),
                (".planning/milestones/v1.0-phases/01-a/01-01-PLAN.md", ""),
            ])),
        );
        let listed = |request| serde_json::to_value(list_phases(&view, request).unwrap()).unwrap();
        let one = |phase| ListRequest { phase: Some(phase), ..ListRequest::default() };
        let two = listed(one("2"));
        assert_eq!((&two["directories"][0], &two["count"]), (&"02-b".into(), &1.into()));
        assert!(two["phase_scope"].is_null() && two.get("phase_scope").is_some());
        assert_eq!(listed(one("1"))["error"], "Phase not found");
        assert_eq!(listed(one("4"))["error"], "Phase not found", "4A is another phase");
        assert_eq!(listed(ListRequest { archived: true, ..one("1") })["directories"][0], "01-a [v1.0]");
        let all = listed(ListRequest { kind: Some(PhaseFileKind::All), ..one("2") });
        assert_eq!((&all["count"], &all["phase_dir"]), (&2.into(), &"b".into()));
        let coded = listed(ListRequest { kind: Some(PhaseFileKind::Plans), ..one("3") });
        assert_eq!((&coded["count"], &coded["phase_dir"]), (&0.into(), &"ACME-03-c".into()));
        assert_eq!(listed(ListRequest { archived: true, ..ListRequest::default() })["count"], 4);
    }
}
