//! `init verify-work`: what accepting a phase starts from.

use schemars::JsonSchema;
use serde::Serialize;

use crate::operations::gates::artifact;
use crate::operations::verification::acceptance::{AcceptanceReport, acceptance};
use crate::project::files::FileError;
use crate::project::view::NamedPhase;

use super::completion::Completion;
use super::phase::{Aim, Phase, Title};
use super::sections::{Condition, SectionManifest};
use super::{Automation, Bundle, Complete};

/// What `init verify-work` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct VerifyWorkReport {
    planner_model: String,
    checker_model: String,
    verifier_model: String,
    commit_docs: bool,
    #[serde(flatten)]
    automation: Automation,
    phase_found: bool,
    phase_dir: Option<String>,
    phase_number: Option<String>,
    phase_name: Option<String>,
    #[serde(flatten)]
    title: Title,
    #[serde(flatten)]
    aim: Aim,
    phase_req_ids: Option<String>,
    state_path: String,
    roadmap_path: String,
    requirements_path: Option<String>,
    has_verification: bool,
    phase_completion: PhaseCompletion,
    ui_phase_active: bool,
    section_manifest: SectionManifest,
}

#[derive(Debug, Serialize, JsonSchema)]
struct PhaseCompletion {
    #[serde(flatten)]
    completion: Completion,
    uat_passed: bool,
    uat_blockers: Vec<String>,
    ready_to_transition: bool,
}

impl Bundle<'_> {
    /// What accepting `typed` starts from.
    pub(crate) fn verify_work(&self, typed: &str) -> Result<Complete<VerifyWorkReport>, FileError> {
        let found = self.phase(typed)?;
        let phase = found.as_ref();
        let folder = phase.and_then(|phase| phase.folder.as_ref());
        let layout = self.view.layout();
        let number = phase.map_or(typed, |phase| phase.number.as_str());
        let completion = Completion::of(&self.standing(phase, typed)?, number, &self.facts.command_prefix);
        let acceptance = folder.map(|folder| acceptance(self.view, folder, number, true)).transpose()?;
        let uat_passed = acceptance.as_ref().is_some_and(|acceptance| acceptance.passed);
        let user_interface = self.config.flag("workflow.ui_phase");
        let named = |phase: &Phase| NamedPhase { number: phase.number.clone(), folder: phase.folder.clone() };
        let is_seen =
            phase.map(|phase| artifact::is_about_sight(self.view, &named(phase))).transpose()?.unwrap_or(false);
        let is_mvp = self.config.flag("workflow.mvp_mode") || phase.is_some_and(Phase::is_mvp);
        let decided = [(Condition::UserInterface, user_interface && is_seen), (Condition::Mvp, is_mvp)];
        let section_manifest = SectionManifest::of("verify-work", &decided);
        let report = VerifyWorkReport {
            planner_model: self.model("gsd-planner"),
            checker_model: self.model("gsd-plan-checker"),
            verifier_model: self.model("gsd-verifier"),
            commit_docs: self.commit_docs(),
            automation: self.automation(),
            phase_found: phase.is_some(),
            phase_dir: phase.and_then(|phase| self.folder_path(phase)),
            phase_number: phase.map(|phase| phase.number.clone()),
            phase_name: phase.and_then(Phase::name_on_disk).map(str::to_owned),
            title: self.title(phase)?,
            aim: self.aim(phase),
            phase_req_ids: phase.and_then(|phase| phase.entry.as_ref()?.requirements.clone()),
            state_path: self.shown(&layout.state()),
            roadmap_path: self.shown(&layout.roadmap()),
            requirements_path: self.shown_if_there(&layout.requirements()),
            has_verification: self.artifact(phase, "VERIFICATION").is_some(),
            phase_completion: PhaseCompletion {
                ready_to_transition: uat_passed && completion.verification_passed,
                completion,
                uat_passed,
                uat_blockers: acceptance.map(|acceptance: AcceptanceReport| acceptance.blockers).unwrap_or_default(),
            },
            ui_phase_active: user_interface,
            section_manifest,
        };
        self.complete(report)
    }
}
