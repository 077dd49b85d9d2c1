//! Compares STATE.md with the disk: findings, each with a code and a fix. Nothing is changed.

use schemars::JsonSchema;
use serde::Serialize;

use super::no_state;
use super::position::READY_TO_PLAN;
use crate::failure::Failure;
use crate::operations::answers::finding::{Finding, Severity};
use crate::project::figures::MilestoneCounts;
use crate::project::files::FileError;
use crate::project::folder::PhaseFolder;
use crate::project::milestone::MilestoneScope;
use crate::project::phase::PhaseId;
use crate::project::standing;
use crate::project::state::index::Progress;
use crate::project::state::{self, Position, State};
use crate::project::verification;
use crate::project::view::ProjectView;
use crate::text::screen::{Mark, Screen, Tone, counted};

/// What `state validate` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ValidateReport {
    pub(crate) valid: bool,
    pub(crate) warnings: Vec<StateFinding>,
    /// Always `complete`: the whole of STATE.md was checked.
    pub(crate) scope: &'static str,
}

impl ValidateReport {
    /// The findings with their fixes, for a person at a terminal.
    pub(crate) fn shown(&self, screen: Screen) -> String {
        if self.warnings.is_empty() {
            return screen.paint(Tone::Good, "STATE.md agrees with the files") + "\n";
        }
        let count = counted(self.warnings.len(), "finding");
        let mut page = screen.paint(Tone::Strong, &format!("{count} in STATE.md")) + "\n";
        for finding in &self.warnings {
            page += &screen.item("  ", Mark::Warning, &format!("{} ({})", finding.message, finding.code));
            page += &screen.prose("    ", "    ", &finding.remedy.args.command);
        }
        page
    }
}

/// A finding in the form that scripts expect from this command.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StateFinding {
    pub(crate) code: &'static str,
    severity: Severity,
    pub(crate) message: String,
    remedy: Remedy,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Remedy {
    action: &'static str,
    risk: &'static str,
    args: Advice,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Advice {
    command: String,
}

impl From<Finding> for StateFinding {
    fn from(finding: Finding) -> Self {
        let command = finding.cure.unwrap_or_default();
        let remedy = Remedy { action: "advise", risk: "none", args: Advice { command } };
        Self { code: finding.code, severity: finding.severity, message: finding.what, remedy }
    }
}

fn error(what: impl Into<String>, cure: &str) -> Finding {
    Finding::error("S001", what).cure(cure)
}

fn warning(code: &'static str, what: impl Into<String>, cure: &str) -> Finding {
    Finding::warning(code, what).cure(cure)
}

const LOST_CURE: &str = "Restore STATE.md from git, or keep it under another name and create a new one: gsd-tools state rebuild --set-aside";

/// What `state validate` answers.
pub(crate) fn validate(view: &ProjectView) -> Result<ValidateReport, Failure> {
    let found = findings(view)?.ok_or_else(|| no_state().answered())?;
    Ok(ValidateReport {
        valid: found.is_empty(),
        warnings: found.into_iter().map(StateFinding::from).collect(),
        scope: "complete",
    })
}

/// Compares STATE.md with the folder of the current phase; `None` without STATE.md.
pub(crate) fn findings(view: &ProjectView) -> Result<Option<Vec<Finding>>, FileError> {
    let state = match view.state() {
        Ok(Some(state)) => state,
        Ok(None) => return Ok(None),
        Err(error) => {
            return Ok(Some(vec![self::error(error.to_string(), LOST_CURE)]));
        }
    };
    let mut findings = Vec::new();
    if let Some(at) = state.text().bytes().position(|byte| byte == 0) {
        let message = format!("STATE.md contains NUL bytes (first at offset {at}), so search tools treat it as binary");
        findings.push(error(message, LOST_CURE));
    }
    if let Some(problem) = state.problem().filter(|problem| findings.is_empty() || !problem.is_lost) {
        let message = format!("STATE.md cannot be written to: line {} is {}", problem.line, problem.what);
        let cure = if problem.is_lost { LOST_CURE } else { "Correct that line of STATE.md" };
        findings.push(error(message, cure));
    }
    findings.extend(status_of_nobody(state));
    findings.extend(drift(view, state)?);
    findings.extend(wrong_figures(view, state)?);
    Ok(Some(findings))
}

/// Reports figures in the front matter that differ from disk and roadmap, if all of the milestone is visible. Work in
/// files that were removed stays counted, and so does a finished milestone.
fn wrong_figures(view: &ProjectView, state: &State<'_>) -> Result<Option<Finding>, FileError> {
    let Some(written) = Progress::written(state) else { return Ok(None) };
    let scope = view.scope()?;
    let is_measured = scope.unseen.is_none() && view.milestone()?.scope == MilestoneScope::Complete;
    if !is_measured || is_between_milestones(state) {
        return Ok(None);
    }
    if let Some(fewer) = scope.fewer {
        return Ok(Some(warning("S010", fewer.to_string(), &fewer.cure())));
    }
    let counts = MilestoneCounts::of(view)?;
    if counts.has_lost_work(&written) {
        return Ok(None);
    }
    let figures = [
        ("total_phases", written.total_phases, counts.total_phases),
        ("completed_phases", written.completed_phases, counts.completed_phases),
        ("total_plans", written.total_plans, counts.total_plans),
        ("completed_plans", written.completed_plans, counts.completed_plans),
    ];
    let is_wrong = figures.into_iter().filter_map(|(name, written, counted)| {
        let written = written.filter(|written| *written != counted)?;
        Some(format!("{name} is {written} and {counted} were counted"))
    });
    let wrong: Vec<String> = is_wrong.collect();
    let message =
        format!("figures of STATE.md are not those of the roadmap and the phase folders: {}", wrong.join(", "));
    Ok((!wrong.is_empty()).then(|| warning("S010", message, "count again: `gsd-tools state sync`")))
}

/// The current phase according to STATE.md: front matter, field, position.
pub(super) fn phases_named(state: &State<'_>) -> Vec<String> {
    let phase_in = |label: &str| state.value(label).and_then(Position::parse)?.phase.map(str::to_owned);
    let in_front = state.front_text("current_phase");
    let in_front = in_front.as_deref().and_then(Position::parse).and_then(|position| position.phase);
    [in_front.map(str::to_owned), phase_in("Current Phase"), phase_in("Phase")].into_iter().flatten().collect()
}

/// Differences between the current phase on disk and in STATE.md.
fn drift(view: &ProjectView, state: &State<'_>) -> Result<Vec<Finding>, FileError> {
    let mut findings = Vec::new();
    let in_words = |written: &String| state::meaningful(written).is_some() && !state::names_phase(written);
    if let Some(written) = state.front_text("current_phase").filter(in_words) {
        findings.push(warning(
            "S009",
            format!("`current_phase: {written}` in the front matter of STATE.md is not the number of a phase"),
            "write the number of the phase, or let the next `gsd-tools state` command that writes take it from the position",
        ));
    }
    let named = phases_named(state);
    let Some(phase) = named.first() else {
        if is_between_milestones(state) && !has_open_phase(view)? {
            return Ok(findings);
        }
        let message = "the current phase is unknown: STATE.md has no current_phase, Current Phase, or Phase under \
                       Current Position";
        let cure = "fill it in from the roadmap and the phase folders: `gsd-tools state rebuild`";
        findings.push(warning("S002", message.to_owned(), cure));
        return Ok(findings);
    };
    let id = PhaseId::new(phase);
    if named.iter().any(|other| !id.matches(other)) {
        findings.push(warning(
            "S003",
            format!("STATE.md names different current phases; phase {phase} is checked"),
            "write the same phase in the front matter, Current Phase and Current Position of STATE.md",
        ));
    }
    let folder = match view.phase_folders() {
        Err(_) => {
            findings.push(warning(
                "S004",
                format!("phase {phase} cannot be checked: the folder of phases cannot be read"),
                "give yourself access to `.planning/phases`, then run `gsd-tools state validate` again",
            ));
            return Ok(findings);
        }
        Ok(folders) => folders.iter().find(|folder| folder.is_of(&id)).cloned(),
    };
    let Some(folder) = folder else {
        if is_unplanned(view, state, &id)? {
            return Ok(findings);
        }
        let (what, cure) = if view.folder_exists(&view.layout().phases()) {
            (format!("phase {phase} has no folder"), "correct current_phase, or create the folder of the phase")
        } else {
            (
                format!("the folder of phase {phase} is missing, as there are no phases"),
                "correct current_phase, or create the folder of the phase",
            )
        };
        findings.push(warning("S004", format!("the current phase cannot be checked: {what}"), cure));
        return Ok(findings);
    };
    findings.extend(folder_drift(view, state, &folder)?);
    Ok(findings)
}

/// True if STATE.md says that there is currently no phase.
fn is_between_milestones(state: &State<'_>) -> bool {
    state
        .value("Status")
        .map(str::to_owned)
        .or_else(|| state.front_text("status"))
        .is_some_and(|status| state::is_between_milestones(&status))
}

/// True if the roadmap has a phase of the milestone that is not closed.
fn has_open_phase(view: &ProjectView) -> Result<bool, FileError> {
    let Some(roadmap) = view.roadmap()? else { return Ok(false) };
    let ids = view.milestone()?.phase_ids(roadmap);
    Ok(ids.iter().any(|id| !standing::is_closed(roadmap, id)))
}

/// The code of the finding about an unknown status.
pub(crate) const STATUS_CODE: &str = "S008";

/// Reports a status in the front matter that no command writes and that the body does not have either.
fn status_of_nobody(state: &State<'_>) -> Option<Finding> {
    let status = state.front_text("status").filter(|status| !state::is_of_programs(status))?;
    let written = state.value("Status");
    if written.is_some_and(|written| state::normal_status(written) == status.trim()) {
        return None;
    }
    let beside = written.map(|written| format!(", and `Status:` says `{written}`")).unwrap_or_default();
    let message =
        format!("`status: {status}` in the front matter of STATE.md is not a status that a command writes{beside}");
    Some(warning(STATUS_CODE, message, "write the status under Current Position, then run `gsd-tools state sync`"))
}

/// True if the phase is in the roadmap but not planned yet: its folder is created with its first document.
fn is_unplanned(view: &ProjectView, state: &State<'_>, id: &PhaseId) -> Result<bool, FileError> {
    let is_named = view.roadmap_or_empty()?.section(id.as_str()).is_some();
    let says_so = |text: &str| text.eq_ignore_ascii_case(READY_TO_PLAN);
    Ok(is_named && (state.position().mark.is_some_and(says_so) || state.value("Status").is_some_and(says_so)))
}

fn folder_drift(view: &ProjectView, state: &State<'_>, folder: &PhaseFolder) -> Result<Vec<Finding>, FileError> {
    let mut findings = Vec::new();
    let plans = view.current_plans(folder)?;
    if let Some(told) = state.value("Total Plans in Phase").filter(|told| told.parse() != Ok(plans.len())) {
        findings.push(warning(
            "S005",
            format!("STATE.md says {told} plans, the phase folder has {}", plans.len()),
            "run `gsd-tools state sync`, or correct Total Plans in Phase",
        ));
    }
    let status = state.front_text("status").or_else(|| state.value("Status").map(str::to_owned));
    let Some(status) = status.filter(|status| status.trim().to_lowercase().starts_with("executing")) else {
        return Ok(findings);
    };
    if verification::status(view, folder)?.passed() {
        let file = folder.artifact("VERIFICATION").unwrap_or("VERIFICATION.md");
        findings.push(warning(
            "S006",
            format!("STATE.md says `{status}`, but {file} shows that verification passed; the phase may be complete"),
            "run `gsd-tools state complete-phase`, or correct the status in STATE.md",
        ));
    } else if !plans.is_empty() && view.open_plans(folder)?.is_empty() {
        findings.push(warning(
            "S007",
            format!(
                "all {} plans have summaries, but the status is still `{status}`; the phase may be ready for \
                 verification",
                plans.len()
            ),
            "verify the phase, then correct the status in STATE.md",
        ));
    }
    Ok(findings)
}
