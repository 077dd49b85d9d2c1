//! Facts about the requested phase: its folder, and its entry in the roadmap.

use std::collections::BTreeMap;

use super::verify_commands::{VerifyCommand, earlier_verify_commands};
use super::{FactBasis, Given, facts};
use crate::operations::gates::artifact;
use crate::project::files::FileError;
use crate::project::folder::PhaseFolder;
use crate::project::label::PhaseLabel;
use crate::project::milestone::MilestoneScope;
use crate::project::phase::{self, PhaseId, without_code};
use crate::project::view::{NamedPhase, ProjectView};

/// The requested phase, if it exists.
#[derive(Clone, Debug)]
pub(crate) struct AskedPhase {
    phase: Option<Phase>,
    /// The phase as typed; empty if none was.
    pub(super) typed: String,
}

/// A phase that has a folder, or is in the roadmap, or both.
#[derive(Clone, Debug)]
struct Phase {
    folder: Option<PhaseFolder>,
    entry: Option<RoadmapEntry>,
    /// The folder's identifier; without a folder, the typed one.
    number: String,
    /// The folder's name after the identifier.
    folder_name: Option<String>,
}

/// A phase in the roadmap.
#[derive(Clone, Debug, Default)]
struct RoadmapEntry {
    name: String,
    /// The identifiers of its requirements as written, without brackets.
    requirements: Option<String>,
    /// The phase is planned as a slice of the product that a user can use.
    is_mvp: bool,
    goal: Option<String>,
    success_criteria: Vec<String>,
}

/// The number and the name by which texts refer to the phase.
struct Title(Option<PhaseLabel>);

impl FactBasis for AskedPhase {
    fn of(given: &Given<'_>) -> Result<Self, FileError> {
        let typed = given.call.phase.clone();
        let phase = typed.as_deref().map(|typed| given.phase(typed)).transpose()?.flatten();
        Ok(Self { phase, typed: typed.unwrap_or_default() })
    }
}

impl FactBasis for Title {
    fn of(given: &Given<'_>) -> Result<Self, FileError> {
        let found = given.part::<AskedPhase>()?;
        let label = |phase: &Phase| {
            let label = given.view.label(&phase.number)?;
            Ok(PhaseLabel { name: label.name.or_else(|| phase.folder_name.clone()), ..label })
        };
        found.phase.as_ref().map(label).transpose().map(Self)
    }
}

facts! { |given, found: AskedPhase|
    /// Whether the phase exists: as a folder, or in ROADMAP.md.
    phase_found: bool = found.is_there();
    /// The folder of the phase; null if it has none.
    phase_dir: Option<String> = found.folder().map(|folder| given.shown(&folder.path));
    /// The folder to create for a phase that has none.
    expected_phase_dir: Option<String> = found.phase.as_ref().and_then(|phase| expected_folder(given, phase));
    /// The identifier of the phase: from its folder, or as typed.
    phase_number: Option<String> = found.phase.as_ref().map(|phase| phase.number.clone());
    /// The name of the phase from its folder; without a folder, from ROADMAP.md.
    phase_name: Option<String> = found.phase.as_ref().and_then(Phase::name_on_disk).map(str::to_owned);
    /// The name of the phase from ROADMAP.md, or else from its folder.
    roadmap_phase_name: Option<String> = found.phase.as_ref().and_then(Phase::name_in_roadmap).map(str::to_owned);
    /// The name of the phase as part of file names and branches.
    phase_slug: Option<String> = found.slug();
    /// The number of the phase with which file names begin.
    padded_phase: Option<String> = found.padded();
    /// The number as written in the roadmap, such as `2`. File names start with `padded_phase`.
    number: Option<String> = given.part::<Title>()?.0.as_ref().map(|label| label.number.clone());
    /// The name as written in the roadmap, or else in the folder's name.
    name: Option<String> = given.part::<Title>()?.0.as_ref().and_then(|label| label.name.clone());
    /// The goal of the phase in ROADMAP.md.
    goal: String, if any = found.entry().and_then(|entry| entry.goal.clone());
    /// The success criteria of the phase in ROADMAP.md.
    success_criteria: Vec<String>, if any =
        found.entry().map(|entry| entry.success_criteria.clone()).filter(|criteria| !criteria.is_empty());
    /// Whether the phase is planned as a slice that a user can use, as set in the roadmap or the configuration.
    mvp_mode: bool = found.entry().is_some_and(|entry| entry.is_mvp) || given.flag("workflow.mvp_mode");
    /// The identifiers of the phase's requirements in ROADMAP.md.
    phase_req_ids: Option<String> = found.entry().and_then(|entry| entry.requirements.clone());
    /// Whether the phase has a CONTEXT.md.
    has_context: bool = found.artifact(given, "CONTEXT").is_some();
    /// Whether the phase has a RESEARCH.md.
    has_research: bool = found.artifact(given, "RESEARCH").is_some();
    /// Whether the phase has a VERIFICATION.md.
    has_verification: bool = found.artifact(given, "VERIFICATION").is_some();
    /// Whether the phase has a REVIEWS.md.
    has_reviews: bool = found.artifact(given, "REVIEWS").is_some();
    /// The path of the phase's CONTEXT.md.
    context_path: String, if any = found.artifact(given, "CONTEXT");
    /// The path of the phase's RESEARCH.md.
    research_path: String, if any = found.artifact(given, "RESEARCH");
    /// The path of the phase's VERIFICATION.md.
    verification_path: String, if any = found.artifact(given, "VERIFICATION");
    /// The path of the phase's UAT.md.
    uat_path: String, if any = found.artifact(given, "UAT");
    /// The path of the phase's REVIEWS.md.
    reviews_path: String, if any = found.artifact(given, "REVIEWS");
    /// The path of the phase's PATTERNS.md.
    patterns_path: Option<String> = found.artifact(given, "PATTERNS");
    /// The documents of the phase by kind, such as `SPEC`.
    phase_documents: BTreeMap<String, String> = {
        let kinds = found.folder().map(PhaseFolder::kinds).unwrap_or_default();
        kinds.into_iter().filter_map(|kind| Some((kind.to_owned(), found.artifact(given, kind)?))).collect()
    };
    /// How much is known about the phase. Always `complete`, since a folder that cannot be read is an error.
    context_scope: MilestoneScope = MilestoneScope::Complete;
    /// Whether the phase has a user interface that is tested.
    has_tested_interface: bool = given.flag("workflow.ui_phase") && found.is_about_sight(given)?;
    /// Commands that verified an earlier phase, so that planners can reuse them.
    prior_verify_commands: Vec<VerifyCommand> =
        found.is_there().then(|| earlier_verify_commands(given, found.number())).transpose()?.unwrap_or_default();
}

impl AskedPhase {
    pub(super) fn is_there(&self) -> bool {
        self.phase.is_some()
    }

    pub(crate) fn folder(&self) -> Option<&PhaseFolder> {
        self.phase.as_ref()?.folder.as_ref()
    }

    fn entry(&self) -> Option<&RoadmapEntry> {
        self.phase.as_ref()?.entry.as_ref()
    }

    /// The identifier of the phase, or the typed text.
    pub(super) fn number(&self) -> &str {
        self.phase.as_ref().map_or(&self.typed, |phase| &phase.number)
    }

    pub(super) fn slug(&self) -> Option<String> {
        Some(phase::whole_slug(self.phase.as_ref()?.name_on_disk()?))
    }

    /// The normalized identifier.
    pub(super) fn padded(&self) -> Option<String> {
        self.phase.as_ref().map(Phase::padded)
    }

    fn is_about_sight(&self, given: &Given<'_>) -> Result<bool, FileError> {
        let Some(phase) = &self.phase else { return Ok(false) };
        let named = NamedPhase { number: phase.number.clone(), folder: phase.folder.clone() };
        artifact::is_about_sight(given.view, &named)
    }

    /// The path of a document of the phase.
    pub(crate) fn artifact(&self, given: &Given<'_>, kind: &str) -> Option<String> {
        Some(given.shown(&self.folder()?.artifact_path(kind)?))
    }
}

impl Phase {
    /// The name from the folder; without a folder, the roadmap's.
    fn name_on_disk(&self) -> Option<&str> {
        match &self.folder {
            Some(_) => self.folder_name.as_deref(),
            None => self.entry.as_ref().map(|entry| entry.name.as_str()),
        }
    }

    /// The roadmap's name, or else that of the folder.
    fn name_in_roadmap(&self) -> Option<&str> {
        self.entry.as_ref().map(|entry| entry.name.as_str()).or(self.folder_name.as_deref())
    }

    fn padded(&self) -> String {
        PhaseId::new(&self.number).to_string()
    }
}

fn expected_folder(given: &Given<'_>, phase: &Phase) -> Option<String> {
    if phase.folder.is_some() {
        return None;
    }
    let slug = phase.entry.as_ref().map(|entry| phase::folder_slug(&entry.name))?;
    let code = given.config.project_code().map(|code| format!("{code}-")).unwrap_or_default();
    Some(given.shown(&format!("{}/{code}{}-{slug}", given.view.layout().phases(), phase.padded())))
}

/// The last phase of the milestone that has a summary.
pub(crate) fn last_built(view: &ProjectView) -> Result<Option<String>, FileError> {
    let folders = view.milestone_folders()?;
    let built = folders.iter().filter(|folder| folder.summaries().next().is_some());
    let last = built.max_by(|left, right| phase::compare(left.token(), right.token()));
    Ok(last.map(|folder| folder.token().to_owned()))
}

impl Given<'_> {
    /// The phase that a person means by `typed`. An open phase wins over a folder of the same number in the archive of
    /// another milestone.
    fn phase(&self, typed: &str) -> Result<Option<Phase>, FileError> {
        let typed = typed.trim();
        let folder = self.folder_of(typed)?;
        let token = folder.as_ref().map(|folder| folder.token().to_owned());
        let entry = self.roadmap_entry(typed, token.as_deref())?;
        let has_section = entry.as_ref().is_some_and(|(has_section, _)| *has_section);
        let gives_way = |folder: &PhaseFolder| {
            Ok::<_, FileError>(folder.archived.is_some() && has_section && !self.view.is_in_own_archive(folder)?)
        };
        let folder = match folder {
            Some(folder) if gives_way(&folder)? => None,
            folder => folder,
        };
        let entry = entry.map(|(_, entry)| entry);
        if folder.is_none() && entry.is_none() {
            return Ok(None);
        }
        let (number, folder_name) = match &folder {
            None => (typed.to_owned(), None),
            Some(folder) if folder.name == typed || PhaseId::new(typed).matches(folder.token()) => {
                (folder.token().to_owned(), Some(folder.slug().to_owned()))
            }
            // Found only by its leading integer, so the name is split there too.
            Some(folder) => {
                let (number, name) = folder.number_and_name();
                (number.to_owned(), Some(name.to_owned()))
            }
        };
        let folder_name = folder_name.filter(|name| !name.is_empty());
        Ok(Some(Phase { folder, entry, number, folder_name }))
    }

    /// The folder for `typed`; the first one if several match.
    fn folder_of(&self, typed: &str) -> Result<Option<PhaseFolder>, FileError> {
        if typed.is_empty() {
            return Ok(None);
        }
        let lookup = self.view.find_phase(typed)?;
        let found = match (lookup.folder, lookup.ambiguous.first()) {
            (Some(folder), _) => Some(folder),
            (None, Some(path)) => self.view.folder_at(path, None)?,
            (None, None) => self.view.phase_folders()?.iter().find(|folder| folder.name == typed).cloned(),
        };
        Ok(found.filter(|folder| self.same_code(typed, &folder.name)))
    }

    /// The roadmap entry for `typed`, or else for the folder `token`, and whether it is a separate section. Shelves and
    /// folded phases count as absent.
    fn roadmap_entry(&self, typed: &str, token: Option<&str>) -> Result<Option<(bool, RoadmapEntry)>, FileError> {
        let Some(roadmap) = self.view.roadmap()? else { return Ok(None) };
        let spellings =
            || [Some(typed), token].into_iter().flatten().filter(|typed| !PhaseId::new(typed).is_sentinel());
        let section =
            spellings().find_map(|typed| roadmap.section(typed).filter(|section| self.same_code(typed, section.id)));
        if let Some(section) = section {
            let entry = RoadmapEntry {
                name: section.name.to_owned(),
                requirements: roadmap.field(section, "Requirements").and_then(requirements),
                is_mvp: roadmap.mode(section).as_deref() == Some("mvp"),
                goal: roadmap.field(section, "Goal").filter(|goal| !goal.is_empty()).map(str::to_owned),
                success_criteria: roadmap.success_criteria(section),
            };
            return Ok(Some((true, entry)));
        }
        let without_section = |name: &str| RoadmapEntry { name: name.to_owned(), ..RoadmapEntry::default() };
        let bullet =
            spellings().find_map(|typed| roadmap.bullet(typed).filter(|bullet| self.same_code(typed, bullet.id)));
        let row = || {
            spellings().find_map(|typed| {
                let id = PhaseId::new(typed);
                roadmap.rows().iter().find(|row| row.lists && !row.shipped && id.matches(row.id))
            })
        };
        let name = bullet.map(|bullet| bullet.name).or_else(|| row().map(|row| row.name));
        Ok(name.map(|name| (false, without_section(name))))
    }

    /// True if `typed` has no project code, or that of this project, or the same as `found`.
    fn same_code(&self, typed: &str, found: &str) -> bool {
        let code = typed[..typed.len() - without_code(typed).len()].trim_end_matches('-');
        code.is_empty() || self.config.project_code() == Some(code) || found.starts_with(&format!("{code}-"))
    }
}

/// The identifiers in a `Requirements` field; `None` if they are not decided yet.
fn requirements(field: &str) -> Option<String> {
    let bare = field.replace(['[', ']'], "");
    let bare = bare.trim();
    (!bare.is_empty() && !bare.eq_ignore_ascii_case("tbd")).then(|| bare.to_owned())
}
