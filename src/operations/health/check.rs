//! Every finding about a project: its documents, its configuration, its folders, its worktrees.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::consistency::{archived_phases, roadmap_and_disk};
use super::{BACKFILL, HealthFinding, PlannedRepair, REPAIR, RepairReport, error, listed, warning};
use crate::operations::answers::finding::{Finding, Severity};
use crate::operations::facts::listed::PhaseStatus;
use crate::operations::state::NO_STATE_CURE;
use crate::operations::state::validate;
use crate::project::belonging::Earlier;
use crate::project::config;
use crate::project::files::FileError;
use crate::project::folder::PhaseFolder;
use crate::project::milestone::version_in;
use crate::project::next::{Around, Next};
use crate::project::phase::{self, PhaseId, PhaseIndex};
use crate::project::roadmap::Roadmap;
use crate::project::scope::Unseen;
use crate::project::standing::{PhaseStanding, PhaseWork};
use crate::project::state::{State, normal_status};
use crate::project::unclosed::UnclearSummary;
use crate::project::view::{Edits, ProjectView};
use crate::text::is_mark;
use crate::text::markdown::{LineKind, Markdown};
use crate::text::screen::{Cell, Mark, Screen, Tone, counted};
use crate::text::shell::typed;

/// Facts for the check that are not in any file of the project.
#[derive(Clone, Debug, Default)]
pub(crate) struct HealthFacts {
    /// The prefix of a command's name as people type it.
    pub(crate) command_prefix: String,
    /// Our agents that are missing from an install. Empty if none was installed.
    pub(crate) lost_agents: Vec<String>,
    /// git ignores the planning folder but tracks files in it.
    pub(crate) tracked_but_ignored: bool,
    pub(crate) worktrees: Vec<Worktree>,
    /// `None` if STATE.md does not name a commit, or git does not know it.
    pub(crate) written_at: Option<WrittenAt>,
}

/// When STATE.md was last written, in commits.
#[derive(Clone, Debug)]
pub(crate) struct WrittenAt {
    pub(crate) head: String,
    /// The number of commits after it.
    pub(crate) commits: u64,
}

/// A linked worktree of the project's repository.
#[derive(Clone, Debug)]
pub(crate) struct Worktree {
    pub(crate) path: String,
    /// Minutes since its folder last changed; `None` if the folder is missing.
    pub(crate) minutes: Option<i64>,
}

/// What `validate health` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct HealthReport {
    pub(crate) status: &'static str,
    pub(crate) errors: Vec<HealthFinding>,
    pub(crate) warnings: Vec<HealthFinding>,
    pub(crate) info: Vec<HealthFinding>,
    pub(crate) repairable_count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) repairs_performed: Option<Vec<RepairReport>>,
    /// After a repair: the findings that are left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) remaining: Option<Remaining>,
    /// With `--dry-run`: what would be repaired.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) repairs_planned: Option<Vec<PlannedRepair>>,
}

/// The findings that a repair left.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Remaining {
    pub(crate) status: &'static str,
    pub(crate) errors: usize,
    pub(crate) warnings: usize,
    pub(crate) info: usize,
    pub(crate) repairable_count: usize,
    /// The findings themselves, for people.
    #[serde(skip)]
    report: Box<HealthReport>,
}

impl Remaining {
    pub(super) fn of(report: HealthReport) -> Self {
        Self {
            status: report.status,
            errors: report.errors.len(),
            warnings: report.warnings.len(),
            info: report.info.len(),
            repairable_count: report.repairable_count,
            report: Box::new(report),
        }
    }
}

impl HealthReport {
    fn new(findings: &[Finding]) -> Self {
        let of = |severity| {
            let findings = findings.iter().filter(move |finding| finding.severity == severity).cloned();
            findings.map(HealthFinding::from).collect::<Vec<_>>()
        };
        let (errors, warnings) = (of(Severity::Error), of(Severity::Warning));
        let status = match (errors.is_empty(), warnings.is_empty()) {
            (false, _) => "broken",
            (true, false) => "degraded",
            (true, true) => "healthy",
        };
        let repairable_count = findings.iter().filter(|finding| finding.fix.is_some()).count();
        Self {
            status,
            errors,
            warnings,
            info: of(Severity::Note),
            repairable_count,
            repairs_performed: None,
            remaining: None,
            repairs_planned: None,
        }
    }

    /// The report of a dry run, which repaired nothing.
    pub(crate) fn rehearsed(self) -> Self {
        let planned = self.repairs_performed.map(|done| done.into_iter().map(PlannedRepair::from).collect());
        Self { repairs_performed: None, remaining: None, repairs_planned: planned, ..self }
    }

    /// The findings for a person at a terminal; after a repair, those that are left.
    pub(crate) fn shown(&self, screen: Screen) -> String {
        let left = self.remaining.as_ref().map(|remaining| remaining.report.shown(screen));
        let mut page = left.unwrap_or_else(|| self.found(screen));
        for repair in self.repairs_performed.iter().flatten() {
            page += &repair.shown(screen);
        }
        page
    }

    fn found(&self, screen: Screen) -> String {
        let counts = [
            (Tone::Bad, &self.errors, "error"),
            (Tone::Warning, &self.warnings, "warning"),
            (Tone::Faint, &self.info, "note"),
        ];
        let counts = counts.into_iter().filter(|(_, findings, _)| !findings.is_empty());
        let counts: Vec<String> =
            counts.map(|(tone, findings, noun)| screen.paint(tone, &counted(findings.len(), noun))).collect();
        let mut page = match (self.status, counts.is_empty()) {
            ("healthy", true) => screen.paint(Tone::Good, "The project is healthy") + "\n",
            ("healthy", false) => {
                format!("{}, {}\n", screen.paint(Tone::Good, "The project is healthy"), counts.join(", "))
            }
            _ => counts.join(", ") + "\n",
        };
        for (mark, findings) in
            [(Mark::Failed, &self.errors), (Mark::Warning, &self.warnings), (Mark::Open, &self.info)]
        {
            page += &listed(findings, screen, mark, "gsd-tools validate health --json");
        }
        if self.repairable_count > 0 {
            let count = format!("repairs {}", counted(self.repairable_count, "finding"));
            let next = [("Next", Cell::new(Tone::Command, REPAIR)), ("", Cell::from(count))];
            page = page + "\n" + &screen.fields("", &next);
        }
        page
    }

    pub(super) fn has(&self, code: &str) -> bool {
        self.errors.iter().chain(&self.warnings).any(|finding| finding.code == code)
    }
}

/// A linked worktree without a change for this long is reported.
const STALE_MINUTES: i64 = 60;

/// With this many commits after it, STATE.md says little about the work since.
const OLD_COMMITS: u64 = 20;

/// Checks everything.
pub(crate) fn check(view: &ProjectView, facts: &HealthFacts) -> Result<HealthReport, FileError> {
    Ok(HealthReport::new(&findings(view, facts)?))
}

/// All findings.
pub(crate) fn findings(view: &ProjectView, facts: &HealthFacts) -> Result<Vec<Finding>, FileError> {
    let layout = view.layout();
    let command = |name: &str| format!("{}{name}", facts.command_prefix);
    if !view.folder_exists(layout.planning()) {
        let cure = format!("Run {} to start a project", command("new-project"));
        return Ok(vec![error("E001", "there is no folder .planning/", cure)]);
    }
    if view.state().is_err() {
        // A STATE.md that is not text is a finding; everything else is checked as if the file were empty.
        let mut found = validate::findings(view)?.unwrap_or_default();
        let mut blank = Edits::default();
        blank.texts.insert(layout.state(), String::new());
        found.extend(findings(&view.after(&blank), facts)?);
        return Ok(found);
    }
    let mut found = Vec::new();
    match view.text(&layout.project())? {
        Some(text) => found.extend(missing_sections(&text)),
        None => found.push(error("E002", "there is no PROJECT.md", command("new-project"))),
    }
    let roadmap = view.roadmap()?;
    if roadmap.is_none() {
        let next = Next::of(view, &Around::default())?;
        let cure = match &next {
            Next::ChooseWorkstream(_) => format!("{}: {}", next.why(), next.call(|_| true).typed(command)),
            _ => next.call(|_| true).typed(command),
        };
        found.push(error("E003", "there is no ROADMAP.md", cure));
    }
    found.extend(unreadable(view)?);
    for unread in view.roadmap_or_empty()?.unread_phases() {
        found.push(warning("W030", unread.message(), unread.cure()));
    }
    let all = view.all_phase_folders()?;
    for (folder, earlier) in all.iter().zip(view.closed_milestones_of(&all)?) {
        found.extend(
            earlier.filter(|earlier| earlier.is_number_taken).map(|earlier| left_behind(view, folder, &earlier)),
        );
    }
    let folders = view.phase_folders()?;
    if let Some(state) = view.state()? {
        found.extend(state_findings(view, state, roadmap, &folders, facts)?);
    } else {
        found.push(error("E004", "there is no STATE.md", format!("Fix: {NO_STATE_CURE}")));
    }
    if let Some(of_state) = validate::findings(view)? {
        let is_told = |finding: &Finding| finding.severity == Severity::Error || finding.code == validate::STATUS_CODE;
        found.extend(of_state.into_iter().filter(is_told));
    }
    let config = match view.text(&layout.config()) {
        Ok(None) => view.text(&layout.root_config()),
        own => own,
    };
    match config.as_ref().map(|text| text.as_deref().map(config::parse)) {
        Err(reason) => {
            let fix = "Put a file in its place, or restore it from git; until then the defaults hold";
            found.push(error("E005", format!("config.json cannot be read: {reason}"), fix));
        }
        Ok(Some(Ok(file))) => found.extend(config_findings(&file)),
        Ok(Some(Err(reason))) => {
            let fix = format!("Correct config.json ({reason}), or restore it from git");
            found.push(error("E005", "config.json is not valid JSON", fix));
        }
        Ok(None) => {
            let cure = format!("Run `{REPAIR}` to create it with the defaults");
            found.push(warning("W003", "there is no config.json", cure).fix(REPAIR));
        }
    }
    if !facts.lost_agents.is_empty() {
        let message = format!("Agents missing from the install: {}", facts.lost_agents.join(", "));
        found.push(warning("W010", message, "Run `gsd-tools install` again"));
    }
    if let Some(WrittenAt { head, commits }) = facts.written_at.as_ref().filter(|at| at.commits >= OLD_COMMITS) {
        let short = head.get(..7).unwrap_or(head);
        let message = format!("STATE.md was written {commits} commits ago (at {short}) and may be out of date");
        let fix = "Check the files of the current phase as well, or run `gsd-tools state sync`";
        found.push(warning("W024", message, fix));
    }
    if facts.tracked_but_ignored {
        found.push(warning(
            "W029",
            ".planning/ is in .gitignore but tracked, so its changes are still committed",
            "Run `git rm -r --cached .planning/` to untrack it; the files stay on disk",
        ));
    }
    let no_validation = in_phases(view, facts, &mut found)?;
    found.extend(collisions(view, &folders)?);
    found.extend(no_validation);
    let archived = archived_phases(view)?;
    found.extend(roadmap.iter().flat_map(|roadmap| roadmap_and_disk(roadmap, &folders, &archived)));
    found.extend(facts.worktrees.iter().filter_map(worktree_finding));
    let unlisted = archived_without_entry(view)?;
    if !unlisted.is_empty() {
        let message =
            format!("MILESTONES.md lacks {}: {}", counted(unlisted.len(), "archived milestone"), unlisted.join(", "));
        let cure = format!("Run `{BACKFILL}` to add them from the archive");
        found.push(warning("W018", message, cure).fix(BACKFILL));
    }
    found.extend(strangers(view)?);
    Ok(found)
}

/// The findings about each folder of the milestone. Those about validation are returned, to be listed later.
fn in_phases(view: &ProjectView, facts: &HealthFacts, found: &mut Vec<Finding>) -> Result<Vec<Finding>, FileError> {
    let current = view.milestone_folders()?;
    let mut no_validation = Vec::new();
    for folder in &current {
        found.extend(misnamed(folder));
        found.extend(nested_plans(view, folder)?);
        found.extend(unread_plans(folder));
        let unclear = view.unclear_summaries(folder)?;
        found.extend(unclear.iter().map(|summary| warning("W034", summary.to_string(), UnclearSummary::CURE)));
        no_validation.extend(unvalidated(view, folder, facts)?);
        let open = view.plans_to_do(folder)?.len();
        if open > 0 {
            let message = format!("Phase {} has {} without a summary", folder.name, counted(open, "plan"));
            found.push(Finding::note("I001", message).cure("May be in progress"));
        }
    }
    Ok(no_validation)
}

/// The finding about a roadmap whose phases cannot be listed. Other causes of hidden phases have their own findings.
fn unreadable(view: &ProjectView) -> Result<Option<Finding>, FileError> {
    let unseen = view.scope()?.unseen.filter(Unseen::is_unreadable);
    Ok(unseen.map(|unseen| warning("W033", unseen.to_string(), unseen.cure())))
}

/// A folder of an earlier milestone with a number that the current milestone uses for another phase.
fn left_behind(view: &ProjectView, folder: &PhaseFolder, earlier: &Earlier) -> Finding {
    let (path, version) = (&folder.path, &earlier.version);
    let message =
        format!("`{path}` is of milestone {version}, and the current milestone has another phase {}", folder.token());
    warning("W031", message, format!("Move it to `{}/{version}-phases`", view.layout().milestones_folder()))
}

fn missing_sections(project: &str) -> Vec<Finding> {
    let markdown = Markdown::parse(project);
    let missing = ["What This Is", "Core Value", "Requirements"]
        .into_iter()
        .filter(|title| !markdown.headings().any(|heading| heading.level == 2 && heading.title.starts_with(title)));
    missing.map(|title| warning("W001", format!("PROJECT.md has no section `## {title}`"), "Add the section")).collect()
}

/// Statements in STATE.md that contradict the roadmap and the folders.
fn state_findings(
    view: &ProjectView,
    state: &State<'_>,
    roadmap: Option<&Roadmap<'_>>,
    folders: &[PhaseFolder],
    facts: &HealthFacts,
) -> Result<Vec<Finding>, FileError> {
    let mut findings = unknown_phases(view, state.text(), roadmap, folders)?;
    let Some(roadmap) = roadmap else { return Ok(findings) };
    let folder_of = |phase: &str| {
        let id = PhaseId::new(phase);
        folders.iter().find(|folder| folder.is_of(&id))
    };
    let written = state.front_text("status").or_else(|| state.value("Status").map(str::to_owned)).unwrap_or_default();
    if let Some(phase) = state.position().phase
        && normal_status(&written) != "completed"
        && !PhaseWork::of(view, phase, folder_of(phase))?.is_open()
    {
        let status = if written.is_empty() { "unknown" } else { written.trim() };
        let message = format!("STATE.md is at phase {phase} (status: {status}), which ROADMAP.md shows as complete");
        let fix = format!("Run {}progress, or correct STATE.md by hand", facts.command_prefix);
        findings.push(warning("W011", message, fix));
    }
    if written.to_lowercase().contains("milestone complete") {
        let index = PhaseIndex::new(folders.iter().map(PhaseFolder::token).enumerate());
        let unstarted: Vec<&str> = view
            .milestone()?
            .phase_ids(roadmap)
            .into_iter()
            .filter(|id| index.find(id).is_none() && !roadmap.bullet(id).is_some_and(|bullet| bullet.checked))
            .collect();
        if let Some(first) = unstarted.first() {
            let message = format!(
                "STATE.md says that the milestone is complete, but {} phase(s) of ROADMAP.md were not started, such \
                 as phase {first}",
                unstarted.len()
            );
            let fix = "Finish or remove these phases, or correct the status in STATE.md";
            findings.push(warning("W026", message, fix));
        }
    }
    Ok(findings)
}

/// Each mention of a phase that is neither in the roadmap nor on disk.
fn unknown_phases(
    view: &ProjectView,
    state: &str,
    roadmap: Option<&Roadmap<'_>>,
    folders: &[PhaseFolder],
) -> Result<Vec<Finding>, FileError> {
    let tokens = folders.iter().map(PhaseFolder::token).filter(|token| !PhaseId::new(token).is_sentinel());
    let mut declared: Vec<String> = tokens.map(str::to_owned).collect();
    if let Some(roadmap) = roadmap {
        let sections = roadmap.sections().iter().map(|section| section.id);
        let bullets = roadmap.bullets().iter().map(|bullet| bullet.id);
        declared.extend(sections.chain(bullets).map(str::to_owned));
    }
    declared.extend(archived_phases(view)?);
    declared.sort_by(|left, right| phase::compare(left, right).then_with(|| left.cmp(right)));
    declared.dedup();
    if declared.is_empty() {
        return Ok(Vec::new());
    }
    let known = PhaseIndex::new(declared.iter().map(String::as_str).enumerate());
    let unknown = mentions(&Markdown::parse(state))
        .into_iter()
        .filter(|(number, whole)| known.find(whole).or(known.find(number)).is_none());
    Ok(unknown
        .map(|(number, _)| {
            let listed = declared.join(", ");
            let message = format!("STATE.md mentions phase {number}, but the phases are {listed}");
            warning("W002", message, "Correct it in STATE.md; `--repair` does not change it")
        })
        .collect())
}

/// The identifiers after the word `Phase` in the text, without code and comments.
fn mentions<'text>(markdown: &Markdown<'text>) -> Vec<(&'text str, &'text str)> {
    let lines = markdown.lines().iter().enumerate();
    let said = lines.filter(|(_, line)| !matches!(line.kind, LineKind::Comment | LineKind::Fenced));
    said.flat_map(|(index, _)| mentions_in(markdown.line(index))).collect()
}

/// The identifiers after the word `Phase`: up to a dash, and with the part after it (`2-01`). The last word of a
/// command's name, such as `/gsd-plan-phase 3`, does not count.
fn mentions_in(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.match_indices("hase").filter_map(move |(at, word)| {
        let before = text[..at].strip_suffix(['P', 'p'])?;
        let rest = text[at + word.len()..].strip_prefix([' ', '\t'])?.trim_start_matches([' ', '\t']);
        let in_word = before.ends_with(|last: char| last.is_alphanumeric() || matches!(last, '-' | '_'));
        if in_word || !rest.starts_with(|first: char| first.is_ascii_digit()) {
            return None;
        }
        let end = |more: fn(char) -> bool| {
            let stop = rest.find(|letter: char| !(letter.is_ascii_digit() || more(letter)));
            rest[..stop.unwrap_or(rest.len())].trim_end_matches(['.', '-'])
        };
        let number = end(|letter| letter == '.' || letter.is_ascii_uppercase());
        Some((number, end(|letter| matches!(letter, '.' | '-') || letter.is_ascii_uppercase())))
    })
}

const PHASE_KINDS: &[&str] = &["planning", "discuss", "research", "execution", "verification", "completion"];
const TIERS: &[&str] = &["opus", "sonnet", "haiku", "inherit"];

/// Invalid values in the configuration, and missing switches that agents read.
fn config_findings(file: &Map<String, Value>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let at = |keys: &[&str]| keys.iter().find_map(|key| config::at(file, key)).filter(|value| !value.is_null());
    let mut one_of = |code, key: &str, value: Option<&Value>, valid: &[&str]| {
        if let Some(value) = value.filter(|value| !value.as_str().is_some_and(|text| valid.contains(&text))) {
            let message = format!("config.json: invalid {key} \"{}\"", shown(value));
            findings.push(warning(code, message, format!("Valid values: {}", valid.join(", "))));
        }
    };
    one_of("W004", "model_profile", at(&["model_profile"]), config::PROFILES);
    let branching = at(&["branching_strategy", "git.branching_strategy"]);
    one_of("W012", "branching_strategy", branching, config::BRANCHING);
    if let Some(window) = at(&["context_window"]).filter(|window| window.as_u64().unwrap_or(0) == 0) {
        let message = format!("config.json: context_window is `{}`, not a positive whole number", shown(window));
        findings.push(warning("W013", message, "Set to 200000 (default) or 1000000 (for 1M models)"));
    }
    let templates = [
        ("W014", "phase_branch_template", "{phase}", "phase number"),
        ("W015", "milestone_branch_template", "{milestone}", "version"),
    ];
    for (code, key, placeholder, what) in templates {
        let template = at(&[key, &format!("git.{key}")]).and_then(Value::as_str);
        if template.is_some_and(|template| !template.contains(placeholder)) {
            let message = format!("config.json: {key} lacks the placeholder {placeholder}");
            findings.push(warning(code, message, format!("Add {placeholder}; it is replaced by the {what}")));
        }
    }
    if let Some(models) = file.get("models").filter(|models| !models.is_object() && !models.is_null()) {
        let message =
            format!("config.json: models is `{}`, not an object of phase types, and is ignored", shown(models));
        findings.push(warning("W022", message, "Write it like {\"planning\": \"sonnet\"}, or remove the key"));
    }
    for (kind, tier) in file.get("models").and_then(Value::as_object).into_iter().flatten() {
        let (message, fix) = if !PHASE_KINDS.contains(&kind.as_str()) {
            let message = format!("config.json: models has an unknown phase type \"{kind}\" which will be ignored");
            (message, format!("Valid phase types: {}", PHASE_KINDS.join(", ")))
        } else if !tier.as_str().is_some_and(|tier| TIERS.contains(&tier)) {
            let tier = shown(tier);
            let message =
                format!("config.json: models.{kind} has an invalid tier value \"{tier}\" which will be ignored");
            (message, format!("Valid tiers: {}", TIERS.join(", ")))
        } else {
            continue;
        };
        findings.push(warning("W022", message, fix));
    }
    if let Some(workflow) = file.get("workflow").and_then(Value::as_object) {
        let switches = [
            ("W008", "nyquist_validation", "(defaults to enabled but agents may skip)"),
            ("W016", "ai_integration_phase", "(defaults to enabled)"),
        ];
        for (code, key, consequence) in switches {
            if !workflow.contains_key(key) {
                let message = format!("config.json: workflow.{key} absent {consequence}");
                let cure = format!("Run `{REPAIR}` to add the key");
                findings.push(warning(code, message, cure).fix(REPAIR));
            }
        }
    }
    for (key, reason) in config::facts::without_effect(file) {
        let message = format!("config.json: {key} has no effect here: {reason}");
        let cure = format!("`{}` removes it", typed!("gsd-tools config-set {} null", key));
        findings.push(Finding::note("I003", message).cure(cure));
    }
    findings
}

/// A value as people write it.
fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A folder of the milestone whose name is not two digits, decimals, a dash and words.
fn misnamed(folder: &PhaseFolder) -> Option<Finding> {
    let bare = phase::without_code(&folder.name);
    let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
    let mut rest = &bare[digits..];
    while let Some(decimals) = rest.strip_prefix('.') {
        rest = decimals.trim_start_matches(|letter: char| letter.is_ascii_digit());
    }
    let words = rest.strip_prefix('-').filter(|words| !words.is_empty());
    let fits = words.is_some_and(|words| {
        words.chars().all(|letter| letter.is_alphanumeric() || is_mark(letter) || "-_".contains(letter))
    });
    if digits >= 2 && fits {
        return None;
    }
    let message = format!("Phase directory \"{}\" doesn't follow NN-name format", folder.name);
    Some(warning("W005", message, "Rename to match pattern (e.g., 01-setup)"))
}

/// Plans in subfolders of a phase's folder, which no command reads.
fn nested_plans(view: &ProjectView, folder: &PhaseFolder) -> Result<Option<Finding>, FileError> {
    for name in view.folder_names(&folder.path)?.iter().filter(|name| *name != "plans") {
        let path = folder.join(name);
        let Some(plan) = view.file_names(&path)?.into_iter().find(|file| is_plan_name(file)) else { continue };
        let message = format!("`{path}/{plan}` is not read: plans are files in the folder of their phase");
        let number = folder.token();
        return Ok(Some(warning(
            "W032",
            message,
            format!("Move it to `{}`", folder.join(&format!("{number}-01-PLAN.md"))),
        )));
    }
    Ok(None)
}

/// Plans with a name that no command reads as one.
fn unread_plans(folder: &PhaseFolder) -> impl Iterator<Item = Finding> {
    folder.unread_plans().map(|file| {
        let message = format!("`{}` is not read: the name of a plan is `NN-NN-PLAN.md`", folder.join(file));
        warning("W032", message, "Rename it")
    })
}

fn is_plan_name(file: &str) -> bool {
    file.to_ascii_uppercase().ends_with("PLAN.MD")
}

/// A phase whose research says how to validate it, but without a VALIDATION.md.
fn unvalidated(view: &ProjectView, folder: &PhaseFolder, facts: &HealthFacts) -> Result<Option<Finding>, FileError> {
    let Some(research) = folder.artifact_path("RESEARCH") else { return Ok(None) };
    if folder.artifact("VALIDATION").is_some() {
        return Ok(None);
    }
    let text = view.text(&research)?.unwrap_or_default();
    let says = Markdown::parse(&text).headings().any(|heading| heading.title.starts_with("Validation Architecture"));
    Ok(says.then(|| {
        let message = format!("Phase {}: has Validation Architecture in RESEARCH.md but no VALIDATION.md", folder.name);
        let fix = format!("Run {}plan-phase with --research to create it", facts.command_prefix);
        warning("W009", message, fix)
    }))
}

/// Folders with the same phase number.
fn collisions(view: &ProjectView, folders: &[PhaseFolder]) -> Result<Vec<Finding>, FileError> {
    let mut by_phase: BTreeMap<String, Vec<&PhaseFolder>> = BTreeMap::new();
    for folder in folders {
        by_phase.entry(folder.id().as_str().to_ascii_uppercase()).or_default().push(folder);
    }
    let mut findings = Vec::new();
    for (key, same) in by_phase.into_iter().filter(|(_, same)| same.len() > 1) {
        let mut listed = Vec::new();
        for folder in same {
            let status = PhaseStatus::of(&PhaseStanding::of_folder(view, folder)?).word_in_list();
            listed.push(format!("{} ({status})", folder.name));
        }
        let message = format!("several folders belong to phase {key}: {}", listed.join(", "));
        let fix = "Check each folder; rename or remove those that do not belong to the phase";
        findings.push(warning("W023", message, fix));
    }
    Ok(findings)
}

fn worktree_finding(worktree: &Worktree) -> Option<Finding> {
    let path = &worktree.path;
    match worktree.minutes {
        None => {
            let message = format!("git lists a worktree whose folder is gone: {path}");
            Some(warning("W017", message, "git worktree prune"))
        }
        Some(minutes) if minutes > STALE_MINUTES => {
            let message = format!("a worktree was not changed for {minutes} minutes: {path}");
            let fix = format!(
                "{}; if that prints nothing: {}",
                typed!("git -C {} status --porcelain", path),
                typed!("git worktree remove {}", path)
            );
            Some(warning("W027", message, fix))
        }
        Some(_) => None,
    }
}

/// Documents directly in the planning folder.
const DOCUMENTS: &[&str] = &[
    "BACKLOG.md",
    "CLAUDE.md",
    "INGEST-CONFLICTS.md",
    "LEARNINGS.md",
    "METHODOLOGY.md",
    "MILESTONE-CONTEXT.md",
    "MILESTONES.md",
    "PATTERNS.md",
    "PROJECT.md",
    "REQUIREMENTS.md",
    "RETROSPECTIVE.md",
    "ROADMAP.md",
    "STATE-ARCHIVE.md",
    "STATE.md",
    "THREADS.md",
    "WINDOWS.md",
];

/// Markdown files in the planning folder that this program does not read.
fn strangers(view: &ProjectView) -> Result<Vec<Finding>, FileError> {
    let names = view.file_names(view.layout().planning())?;
    let versioned = |name: &str| name.strip_prefix('v').is_some_and(|rest| phase::leading_integer(rest).is_some());
    let unknown = names
        .into_iter()
        .filter(|name| name.strip_suffix(".md").is_some() && !name.starts_with('.'))
        .filter(|name| !DOCUMENTS.contains(&name.as_str()) && !versioned(name));
    Ok(unknown
        .map(|name| {
            let message = format!(".planning/ has a file that no command uses: {name}");
            warning("W019", message, "Move it to .planning/milestones/, or remove it if it is not needed")
        })
        .collect())
}

/// The versions of archived milestones without a heading in MILESTONES.md, in order.
pub(super) fn archived_without_entry(view: &ProjectView) -> Result<Vec<String>, FileError> {
    let names = view.file_names(&view.layout().milestones_folder())?;
    let archived = names.iter().filter_map(|name| name.strip_suffix("-ROADMAP.md"));
    let text = view.text(&view.layout().milestones())?.unwrap_or_default();
    let markdown = Markdown::parse(&text);
    let listed: Vec<&str> = markdown.headings().filter_map(|heading| version_in(heading.title)).collect();
    let missing = archived
        .filter(|version| version_in(version) == Some(version))
        .filter(|version| !listed.iter().any(|known| known.eq_ignore_ascii_case(version)));
    Ok(missing.map(str::to_owned).collect())
}
