//! Records of the work in STATE.md: decisions, blockers, metrics, the session, the percentage.

use schemars::JsonSchema;
use serde::Serialize;

use super::{EditedState, Facts, Rule, StateEdit, close, mirror, open};
use crate::failure::Failure;
use crate::project::figures::MilestoneCounts;
use crate::project::milestone::MilestoneScope;
use crate::project::state::edit::{Set, one_line, progress_bar};
use crate::project::state::{BLOCKERS, CONTEXT, DECISIONS, EVOLUTION};
use crate::project::view::{Edits, ProjectView};

/// The result of adding or removing a line; the fields depend on the command.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum NoteReport {
    Decision {
        added: bool,
        decision: String,
        /// The section was created too.
        #[serde(skip_serializing_if = "Option::is_none")]
        created: Option<bool>,
    },
    Blocker {
        added: bool,
        blocker: String,
        /// The section was created too.
        #[serde(skip_serializing_if = "Option::is_none")]
        created: Option<bool>,
    },
    Resolved {
        resolved: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        blocker: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    Metric {
        recorded: bool,
        phase: String,
        plan: String,
        duration: String,
        /// The section was created too.
        #[serde(skip_serializing_if = "Option::is_none")]
        created: Option<bool>,
    },
    Evolution {
        added: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        entry: String,
        /// The section above was created too.
        #[serde(skip_serializing_if = "Option::is_none")]
        created: Option<bool>,
        #[serde(skip_serializing_if = "Option::is_none")]
        subsection_created: Option<bool>,
    },
    Session {
        recorded: bool,
        updated: Vec<String>,
        /// Lines were created too.
        #[serde(skip_serializing_if = "Option::is_none")]
        created: Option<bool>,
    },
}

impl NoteReport {
    /// Why nothing was done: the line already existed, or was not found.
    pub(crate) fn reason(&self) -> Option<&str> {
        match self {
            Self::Evolution { reason, .. } | Self::Resolved { reason, .. } => reason.as_deref(),
            _ => None,
        }
    }
}

/// The line of a decision, without its list marker.
fn decision_line(phase: &str, summary: &str, rationale: Option<&str>) -> String {
    let rationale = rationale.map(one_line).filter(|rationale| !rationale.is_empty());
    let tail = rationale.map(|rationale| format!(" — {rationale}")).unwrap_or_default();
    format!("[Phase {phase}]: {}{tail}", one_line(summary))
}

/// True if STATE.md already lists the decision.
pub(crate) fn has_decision(
    view: &ProjectView,
    phase: &str,
    summary: &str,
    rationale: Option<&str>,
) -> Result<bool, Failure> {
    let Some(state) = open(view)? else { return Ok(false) };
    Ok(StateEdit::new(state).has_item(DECISIONS, &decision_line(phase, summary, rationale)))
}

/// Adds a decision: `- [Phase 2]: summary — rationale`. Without a phase, that of the position is used.
pub(crate) fn add_decision(
    view: &ProjectView,
    phase: Option<&str>,
    summary: Option<&str>,
    rationale: Option<&str>,
    facts: &Facts,
) -> EditedState<NoteReport> {
    let Some(state) = open(view)? else { return Ok(None) };
    let Some(summary) = summary.map(one_line).filter(|summary| !summary.is_empty()) else {
        return Err(Failure::refused("summary required"));
    };
    let phase = phase.or(state.position().phase).unwrap_or("?");
    let line = decision_line(phase, &summary, rationale);
    let mut edit = StateEdit::new(state);
    let created = edit.put_item(DECISIONS, &line).then_some(true);
    let edits = close(view, edit, Rule::Keep, facts)?.edits(view)?;
    Ok(Some((NoteReport::Decision { added: true, decision: format!("- {line}"), created }, edits)))
}

/// Adds a line to the blockers.
pub(crate) fn add_blocker(view: &ProjectView, text: Option<&str>, facts: &Facts) -> EditedState<NoteReport> {
    let Some(state) = open(view)? else { return Ok(None) };
    let Some(blocker) = text.map(one_line).filter(|text| !text.is_empty()) else {
        return Err(Failure::refused("text required"));
    };
    let mut edit = StateEdit::new(state);
    // A new section must be one of blockers: items in a section of concerns would not count as such.
    let titles = if state.section(BLOCKERS).is_some() { BLOCKERS } else { &["Blockers"] };
    let created = edit.put_item(titles, &blocker).then_some(true);
    let edits = close(view, edit, Rule::Keep, facts)?.edits(view)?;
    Ok(Some((NoteReport::Blocker { added: true, blocker, created }, edits)))
}

/// True if STATE.md has this blocker.
pub(crate) fn has_blocker(view: &ProjectView, text: &str) -> Result<bool, Failure> {
    let Some(state) = open(view)? else { return Ok(false) };
    Ok(StateEdit::new(state).has_item(BLOCKERS, &one_line(text)))
}

/// Removes the blockers that contain `text`, ignoring case.
pub(crate) fn resolve_blocker(view: &ProjectView, text: Option<&str>, facts: &Facts) -> EditedState<NoteReport> {
    let Some(state) = open(view)? else { return Ok(None) };
    let Some(blocker) = text.map(one_line).filter(|text| !text.is_empty()) else {
        return Err(Failure::refused("text required"));
    };
    let mut edit = StateEdit::new(state);
    let reason = match edit.remove_items(BLOCKERS, &blocker) {
        None => "STATE.md has no section Blockers/Concerns".to_owned(),
        Some(0) => format!("no blocker in STATE.md matches {blocker}"),
        Some(_) => {
            let edits = close(view, edit, Rule::Keep, facts)?.edits(view)?;
            return Ok(Some((NoteReport::Resolved { resolved: true, blocker: Some(blocker), reason: None }, edits)));
        }
    };
    Ok(Some((NoteReport::Resolved { resolved: false, blocker: None, reason: Some(reason) }, Edits::default())))
}

/// A change of the roadmap.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Evolution<'a> {
    /// The phase concerned; without it, that of the position.
    pub(crate) phase: Option<&'a str>,
    /// What was done with the phase, such as `inserted`.
    pub(crate) action: Option<&'a str>,
    pub(crate) after: Option<&'a str>,
    pub(crate) note: Option<&'a str>,
    pub(crate) urgent: bool,
}

/// Records how the roadmap changed: `- Phase 5 inserted after Phase 4: note (URGENT)`. An existing record is not
/// repeated.
pub(crate) fn add_evolution(view: &ProjectView, evolution: Evolution<'_>, facts: &Facts) -> EditedState<NoteReport> {
    let Some(state) = open(view)? else { return Ok(None) };
    let Some(note) = evolution.note.map(one_line).filter(|note| !note.is_empty()) else {
        return Err(Failure::refused("note required"));
    };
    let phase = evolution.phase.or(state.position().phase).unwrap_or("?");
    let action = evolution.action.unwrap_or("changed");
    let after = evolution.after.map(|after| format!(" after Phase {after}")).unwrap_or_default();
    let urgent = if evolution.urgent { " (URGENT)" } else { "" };
    let item = one_line(&format!("Phase {phase} {action}{after}: {note}{urgent}"));
    let entry = format!("- {item}");
    let mut edit = StateEdit::new(state);
    let context = state.section(&[CONTEXT]);
    let section = context.as_ref().and_then(|context| state.section_inside(context, EVOLUTION));
    if section.as_ref().is_some_and(|section| edit.lists(section, &item)) {
        let reason = Some("duplicate".to_owned());
        let report = NoteReport::Evolution { added: false, reason, entry, created: None, subsection_created: None };
        return Ok(Some((report, Edits::default())));
    }
    let (mut created, mut subsection_created) = (None, None);
    if let Some(section) = &section {
        edit.add_item_to(section, &item);
    } else {
        created = edit.add_section(CONTEXT, EVOLUTION[0], &item).then_some(true);
        subsection_created = Some(true);
    }
    let edits = close(view, edit, Rule::Keep, facts)?.edits(view)?;
    Ok(Some((NoteReport::Evolution { added: true, reason: None, entry, created, subsection_created }, edits)))
}

/// The costs of a plan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Metric<'a> {
    pub(crate) phase: Option<&'a str>,
    pub(crate) plan: Option<&'a str>,
    pub(crate) duration: Option<&'a str>,
    pub(crate) tasks: Option<&'a str>,
    pub(crate) files: Option<&'a str>,
}

/// Adds a row to the table of plans: `| Phase 2 P2 | 15min | 3 tasks | 4 files |`. A missing table is created.
pub(crate) fn record_metric(view: &ProjectView, metric: Metric<'_>, facts: &Facts) -> EditedState<NoteReport> {
    let Some(state) = open(view)? else { return Ok(None) };
    let (Some(phase), Some(plan), Some(duration)) = (metric.phase, metric.plan, metric.duration) else {
        return Err(Failure::refused("`state record-metric` needs --phase, --plan and --duration"));
    };
    let mut edit = StateEdit::new(state);
    let (label, tasks, files) = (
        format!("Phase {phase} P{plan}"),
        format!("{} tasks", metric.tasks.unwrap_or("-")),
        format!("{} files", metric.files.unwrap_or("-")),
    );
    let created = edit.put_plan_row(&[&label, duration, &tasks, &files]).then_some(true);
    let edits = close(view, edit, Rule::Keep, facts)?.edits(view)?;
    let (phase, plan, duration) = (phase.to_owned(), plan.to_owned(), duration.to_owned());
    Ok(Some((NoteReport::Metric { recorded: true, phase, plan, duration, created }, edits)))
}

/// Records when and where the session stopped, and the file to resume from. If one of these has no place, a section
/// about sessions is created.
pub(crate) fn record_session(
    view: &ProjectView,
    stopped_at: Option<&str>,
    resume_file: Option<&str>,
    facts: &Facts,
) -> EditedState<NoteReport> {
    let Some(state) = open(view)? else { return Ok(None) };
    let mut edit = StateEdit::new(state);
    // STATE.md is committed, so it must not contain a path that exists only on this computer.
    let resume_file =
        resume_file.map(|file| if file == "None" { file.to_owned() } else { view.layout().relative(file) });
    let resume_file = resume_file.as_deref();
    let fields = [
        ("Last session", Some(facts.now.as_str()), "Last session"),
        ("Stopped at", stopped_at, "Stopped At"),
        ("Resume file", resume_file, "Resume File"),
    ];
    let (mut homeless, mut created) = (false, false);
    for (label, value, name) in fields {
        let Some(value) = value else { continue };
        let older = label == "Last session" && state.field("Last Date").is_some();
        let (label, name) = if older { ("Last Date", "Last Date") } else { (label, name) };
        let set = edit.put(label, value);
        // Older files do not have the time of the last session, but a place for the rest.
        homeless |= set == Set::Absent && (label != "Last session" || state.field("Stopped at").is_none());
        if set == Set::Changed {
            created |= state.field(label).is_none();
            edit.note(name);
        }
    }
    if homeless {
        let told = |value: Option<&str>| value.map_or_else(|| "None".to_owned(), one_line);
        let lines = fields.map(|(label, value, name)| {
            if value.is_some() {
                edit.note(name);
            }
            format!("**{label}:** {}", told(value))
        });
        edit.append_entry("Session", &lines);
        created = true;
    }
    let written = close(view, edit, Rule::Keep, facts)?;
    let mut edits = written.edits(view)?;
    mirror::refresh(&mut edits, view, facts)?;
    let created = created.then_some(true);
    Ok(Some((NoteReport::Session { recorded: true, updated: written.updated, created }, edits)))
}

/// What `state update-progress` answers.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct ProgressUpdate {
    pub(crate) updated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) percent: Option<u64>,
    /// Plans with a summary, and all plans.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) completed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) total: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bar: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
}

/// Counts plans and phases again. Declined if the roadmap does not show which phases belong to the milestone. `None`
/// without STATE.md.
pub(crate) fn update_progress(view: &ProjectView, facts: &Facts) -> EditedState<ProgressUpdate> {
    progress_by(view, Rule::Follow, facts)
}

/// Like [`update_progress`], for commands not asked for the figures: `rule` decides what happens to them.
pub(crate) fn progress_by(view: &ProjectView, rule: Rule, facts: &Facts) -> EditedState<ProgressUpdate> {
    let Some(state) = open(view)? else { return Ok(None) };
    let milestone = view.milestone()?;
    if milestone.scope != MilestoneScope::Complete {
        let which = milestone.version.as_deref().unwrap_or("the milestone");
        let reason = format!("ROADMAP.md does not show which phases belong to {which}; add a heading with its version");
        let declined = ProgressUpdate { reason: Some(reason), ..ProgressUpdate::default() };
        return Ok(Some((declined, Edits::default())));
    }
    let written = close(view, StateEdit::new(state), rule, facts)?;
    let edits = written.edits(view)?;
    let counts = MilestoneCounts::of(view)?;
    let percent = written.percent.unwrap_or(0);
    let report = ProgressUpdate {
        updated: true,
        percent: Some(percent),
        completed: Some(counts.completed_plans),
        total: Some(counts.total_plans),
        bar: Some(progress_bar(percent)),
        reason: None,
    };
    Ok(Some((report, edits)))
}
