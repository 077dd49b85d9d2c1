//! Finding phases: one by its identifier, or the list of a milestone's.

use schemars::JsonSchema;
use serde::Serialize;

use crate::project::files::FileError;
use crate::project::milestone::MilestoneScope;
use crate::project::view::ProjectView;

/// What `find-phase` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FindPhaseReport {
    pub(crate) found: bool,
    pub(crate) directory: Option<String>,
    pub(crate) phase_number: Option<String>,
    pub(crate) phase_name: Option<String>,
    pub(crate) plans: Vec<String>,
    pub(crate) summaries: Vec<String>,
    pub(crate) plan_count: Option<usize>,
    pub(crate) summary_count: Option<usize>,
    /// Superseded plans included.
    pub(crate) plan_count_all: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) searched_directories: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) ambiguous_matches: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) warning: Option<String>,
}

/// The folder of a phase with its plans and summaries.
pub(crate) fn find_phase(view: &ProjectView, typed: &str) -> Result<FindPhaseReport, FileError> {
    let lookup = view.find_phase(typed)?;
    let Some(folder) = lookup.folder else {
        let warning = (!lookup.ambiguous.is_empty()).then(|| {
            format!("{} folders match phase {typed}: {}", lookup.ambiguous.len(), lookup.ambiguous.join(", "))
        });
        return Ok(FindPhaseReport {
            found: false,
            directory: None,
            phase_number: None,
            phase_name: None,
            plans: Vec::new(),
            summaries: Vec::new(),
            plan_count: None,
            summary_count: None,
            plan_count_all: None,
            searched_directories: Some(lookup.searched),
            ambiguous_matches: lookup.ambiguous,
            warning,
        });
    };
    let (number, name) = folder.number_and_name();
    let plans = view.current_plans(&folder)?;
    let summaries = owned(folder.summaries());
    Ok(FindPhaseReport {
        found: true,
        directory: Some(folder.path.clone()),
        phase_number: Some(number.to_owned()),
        phase_name: (!name.is_empty()).then(|| name.to_owned()),
        plan_count: Some(plans.len()),
        summary_count: Some(summaries.len()),
        plan_count_all: Some(folder.plans().count()),
        plans,
        summaries,
        searched_directories: None,
        ambiguous_matches: Vec::new(),
        warning: None,
    })
}

/// What `phases list` answers without `--type`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PhaseListReport {
    pub(crate) directories: Vec<String>,
    pub(crate) count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) phase_scope: Option<MilestoneScope>,
}

/// What `phases list --type` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PhaseFilesReport {
    pub(crate) files: Vec<String>,
    pub(crate) count: usize,
    pub(crate) phase_dir: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) phase_scope: Option<MilestoneScope>,
}

/// The folders of the milestone's phases; archived ones too where asked for, with their milestone in brackets.
pub(crate) fn list_phases(view: &ProjectView, archived: bool) -> Result<PhaseListReport, FileError> {
    if !view.exists(&view.layout().phases()) {
        return Ok(PhaseListReport { directories: Vec::new(), count: 0, phase_scope: None });
    }
    let mut directories = Vec::new();
    if archived {
        for (path, label) in view.archives()? {
            let folders = view.read_folders(&path, Some(&label))?;
            directories.extend(folders.iter().map(|folder| format!("{} [{label}]", folder.name)));
        }
    }
    directories.extend(view.milestone_folders()?.into_iter().map(|folder| folder.name));
    Ok(PhaseListReport { count: directories.len(), directories, phase_scope: Some(view.milestone()?.scope) })
}

/// The plans or the summaries of the milestone's phases, or of one phase.
pub(crate) fn list_phase_files(
    view: &ProjectView,
    kind: PhaseFileKind,
    phase: Option<&str>,
) -> Result<PhaseFilesReport, FileError> {
    let mut folders = view.milestone_folders()?;
    let mut phase_dir = None;
    if let Some(phase) = phase {
        let found = view.find_phase(phase)?.folder;
        phase_dir = found.as_ref().map(|folder| folder.slug().to_owned());
        folders = found.into_iter().collect();
    }
    let mut files = Vec::new();
    for folder in &folders {
        match kind {
            PhaseFileKind::Plans => files.extend(view.current_plans(folder)?),
            PhaseFileKind::Summaries => files.extend(owned(folder.summaries())),
        }
    }
    files.sort();
    Ok(PhaseFilesReport { count: files.len(), files, phase_dir, phase_scope: Some(view.milestone()?.scope) })
}

/// Which files of a phase are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PhaseFileKind {
    Plans,
    Summaries,
}

fn owned<'text>(names: impl Iterator<Item = &'text str>) -> Vec<String> {
    names.map(str::to_owned).collect()
}
