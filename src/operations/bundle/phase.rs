//! The phase a bundle is about: its folder, and what the roadmap says of it.

use schemars::JsonSchema;
use serde::Serialize;

use crate::project::files::FileError;
use crate::project::folder::PhaseFolder;
use crate::project::milestone::MilestoneScope;
use crate::project::phase::{self, PhaseId, without_code};
use crate::project::state::State;

use super::{Automation, Bundle, Complete};

/// A phase that has a folder, or stands in the roadmap, or both.
#[derive(Clone, Debug)]
pub(super) struct Phase {
    pub(super) folder: Option<PhaseFolder>,
    pub(super) entry: Option<RoadmapEntry>,
    /// The folder's identifier; without a folder, what was typed.
    pub(super) number: String,
    /// The folder's name behind the identifier.
    folder_name: Option<String>,
}

/// What the roadmap says of a phase.
#[derive(Clone, Debug, Default)]
pub(super) struct RoadmapEntry {
    name: String,
    /// The identifiers of its requirements, as written, without brackets.
    pub(super) requirements: Option<String>,
    /// A slice of the product that a user can use.
    pub(super) is_mvp: bool,
    pub(super) goal: Option<String>,
    pub(super) success_criteria: Vec<String>,
}

/// What a phase is to reach, by the roadmap.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct Aim {
    #[serde(skip_serializing_if = "Option::is_none")]
    goal: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    success_criteria: Vec<String>,
    /// Whether the phase is planned as a slice that a user can use: by the roadmap or the configuration.
    mvp_mode: bool,
}

/// The number and the name by which texts call a phase.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct Title {
    /// As the roadmap writes it, such as `2`. File names start with `padded_phase`.
    number: Option<String>,
    /// As the roadmap writes it, or as the folder does where the roadmap has none.
    name: Option<String>,
}

/// How bundles tell which phase they are about.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct Identity {
    phase_found: bool,
    phase_dir: Option<String>,
    /// The folder to make, where the phase has none.
    expected_phase_dir: Option<String>,
    phase_number: Option<String>,
    phase_name: Option<String>,
    phase_slug: Option<String>,
    padded_phase: Option<String>,
}

/// The documents of a phase that are there.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[expect(clippy::struct_field_names, reason = "the names are fields of the answer")]
pub(super) struct Artifacts {
    #[serde(skip_serializing_if = "Option::is_none")]
    context_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    research_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verification_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uat_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reviews_path: Option<String>,
}

/// What holding the state against the disk gave.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct StateValidation {
    state_validation_ran: bool,
    state_warnings: Vec<String>,
}

impl Bundle<'_> {
    /// The phase a person means by `typed`. A folder in the archive of another milestone gives way to an open phase of the
    /// same number.
    pub(super) fn phase(&self, typed: &str) -> Result<Option<Phase>, FileError> {
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
            // Found by its leading integer alone: the name is split there too.
            Some(folder) => {
                let (number, name) = folder.number_and_name();
                (number.to_owned(), Some(name.to_owned()))
            }
        };
        let folder_name = folder_name.filter(|name| !name.is_empty());
        Ok(Some(Phase { folder, entry, number, folder_name }))
    }

    /// The folder of `typed`; the first one where several fit.
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

    /// What the roadmap says of `typed`, or else of the folder `token`; and whether in a section of its own. Shelves and
    /// folded phases count as absent.
    fn roadmap_entry(&self, typed: &str, token: Option<&str>) -> Result<Option<(bool, RoadmapEntry)>, FileError> {
        let Some(text) = self.view.roadmap_text()? else { return Ok(None) };
        let roadmap = self.view.parse_roadmap(&text);
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

    /// Whether the project code before `typed`, if there is one, is this project's or that of `found` too.
    fn same_code(&self, typed: &str, found: &str) -> bool {
        let code = typed[..typed.len() - without_code(typed).len()].trim_end_matches('-');
        code.is_empty() || self.config.project_code() == Some(code) || found.starts_with(&format!("{code}-"))
    }

    pub(super) fn identity(&self, phase: Option<&Phase>) -> Identity {
        let Some(phase) = phase else { return Identity::default() };
        Identity {
            phase_found: true,
            phase_dir: self.folder_path(phase),
            expected_phase_dir: self.expected_folder(phase),
            phase_number: Some(phase.number.clone()),
            phase_name: phase.name_on_disk().map(str::to_owned),
            phase_slug: phase.slug(),
            padded_phase: Some(phase.padded()),
        }
    }

    pub(super) fn title(&self, phase: Option<&Phase>) -> Result<Title, FileError> {
        let Some(phase) = phase else { return Ok(Title::default()) };
        let label = self.view.label(&phase.number)?;
        Ok(Title { number: Some(label.number), name: label.name.or_else(|| phase.folder_name.clone()) })
    }

    pub(super) fn aim(&self, phase: Option<&Phase>) -> Aim {
        let entry = phase.and_then(|phase| phase.entry.as_ref());
        Aim {
            goal: entry.and_then(|entry| entry.goal.clone()),
            success_criteria: entry.map(|entry| entry.success_criteria.clone()).unwrap_or_default(),
            mvp_mode: phase.is_some_and(Phase::is_mvp) || self.config.flag("workflow.mvp_mode"),
        }
    }

    pub(super) fn folder_path(&self, phase: &Phase) -> Option<String> {
        phase.folder.as_ref().map(|folder| self.shown(&folder.path))
    }

    fn expected_folder(&self, phase: &Phase) -> Option<String> {
        if phase.folder.is_some() {
            return None;
        }
        let slug = phase.entry.as_ref().map(|entry| phase::folder_slug(&entry.name))?;
        let code = self.config.project_code().map(|code| format!("{code}-")).unwrap_or_default();
        Some(self.shown(&format!("{}/{code}{}-{slug}", self.view.layout().phases(), phase.padded())))
    }

    pub(super) fn artifacts(&self, phase: Option<&Phase>) -> Artifacts {
        let path = |kind| self.artifact(phase, kind);
        Artifacts {
            context_path: path("CONTEXT"),
            research_path: path("RESEARCH"),
            verification_path: path("VERIFICATION"),
            uat_path: path("UAT"),
            reviews_path: path("REVIEWS"),
        }
    }

    /// What the state says of the phase's plans that is not so; none where there is no state. The state tells only of
    /// the phase at work, so another phase has nothing to be wrong about.
    pub(super) fn validation(&self, typed: &str, plans: usize) -> Result<Option<StateValidation>, FileError> {
        let Some(text) = self.view.state_text()? else { return Ok(None) };
        let state = State::parse(&text);
        let at_work = state.position().phase.is_some_and(|phase| PhaseId::new(typed).matches(phase));
        let told = state.value("Total Plans in Phase").filter(|told| at_work && told.parse() != Ok(plans));
        let warnings = told.map(|told| {
            format!(
                "Plan count mismatch: STATE.md says {told}, the phase folder has \
                                                {plans}"
            )
        });
        Ok(Some(StateValidation { state_validation_ran: true, state_warnings: warnings.into_iter().collect() }))
    }

    /// The path of a phase's artifact.
    pub(super) fn artifact(&self, phase: Option<&Phase>, kind: &str) -> Option<String> {
        Some(self.shown(&phase?.folder.as_ref()?.artifact_path(kind)?))
    }

    /// The plans of a phase that count.
    pub(super) fn plans(&self, phase: Option<&Phase>) -> Result<Vec<String>, FileError> {
        phase.and_then(|phase| phase.folder.as_ref()).map_or(Ok(Vec::new()), |folder| self.view.current_plans(folder))
    }
}

impl Phase {
    /// The name in the folder's name; without a folder, the roadmap's.
    pub(super) fn name_on_disk(&self) -> Option<&str> {
        match &self.folder {
            Some(_) => self.folder_name.as_deref(),
            None => self.entry.as_ref().map(|entry| entry.name.as_str()),
        }
    }

    /// The roadmap's name; where it has none, that of the folder.
    pub(super) fn name_in_roadmap(&self) -> Option<&str> {
        self.entry.as_ref().map(|entry| entry.name.as_str()).or(self.folder_name.as_deref())
    }

    /// The name as part of file names and branches.
    pub(super) fn slug(&self) -> Option<String> {
        Some(phase::whole_slug(self.name_on_disk()?))
    }

    /// The identifier in normal form.
    pub(super) fn padded(&self) -> String {
        PhaseId::new(&self.number).to_string()
    }

    pub(super) fn is_mvp(&self) -> bool {
        self.entry.as_ref().is_some_and(|entry| entry.is_mvp)
    }
}

/// The identifiers in a `Requirements` field; none where they are still to be told.
fn requirements(field: &str) -> Option<String> {
    let bare = field.replace(['[', ']'], "");
    let bare = bare.trim();
    (!bare.is_empty() && !bare.eq_ignore_ascii_case("tbd")).then(|| bare.to_owned())
}

/// What `init phase-op` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PhaseOpReport {
    commit_docs: bool,
    brave_search: bool,
    firecrawl: bool,
    exa_search: bool,
    #[serde(flatten)]
    automation: Automation,
    #[serde(flatten)]
    identity: Identity,
    #[serde(flatten)]
    title: Title,
    has_research: bool,
    has_context: bool,
    context_scope: MilestoneScope,
    has_plans: bool,
    has_verification: bool,
    has_reviews: bool,
    plan_count: usize,
    roadmap_exists: bool,
    planning_exists: bool,
    state_path: Option<String>,
    roadmap_path: Option<String>,
    requirements_path: Option<String>,
    #[serde(flatten)]
    artifacts: Artifacts,
}

impl Bundle<'_> {
    /// Where the documents of a phase stand; without a phase, those of the project.
    pub(crate) fn phase_op(&self, typed: Option<&str>) -> Result<Complete<PhaseOpReport>, FileError> {
        let phase = typed.map(|typed| self.phase(typed)).transpose()?.flatten();
        let phase = phase.as_ref();
        let layout = self.view.layout();
        let has = |kind| self.artifact(phase, kind).is_some();
        let plan_count = self.plans(phase)?.len();
        let report = PhaseOpReport {
            commit_docs: self.commit_docs(),
            brave_search: self.config.flag("brave_search"),
            firecrawl: self.config.flag("firecrawl"),
            exa_search: self.config.flag("exa_search"),
            automation: self.automation(),
            identity: self.identity(phase),
            title: self.title(phase)?,
            has_research: has("RESEARCH"),
            has_context: has("CONTEXT"),
            // A folder that cannot be read is an error here, so what is told of it is whole.
            context_scope: MilestoneScope::Complete,
            has_plans: plan_count > 0,
            has_verification: has("VERIFICATION"),
            has_reviews: has("REVIEWS"),
            plan_count,
            roadmap_exists: self.roadmap_exists(),
            planning_exists: self.scope_exists(),
            state_path: self.shown_if_there(&layout.state()),
            roadmap_path: self.shown_if_there(&layout.roadmap()),
            requirements_path: self.shown_if_there(&layout.requirements()),
            artifacts: self.artifacts(phase),
        };
        self.complete(report)
    }
}
