//! Makes the tables of STATE.md agree with the disk, with a log of the changes, and creates a lost STATE.md from the
//! roadmap and the disk.

use schemars::JsonSchema;
use serde::Serialize;

use super::{EditedState, Facts, Rule, StateEdit, close, mirror, open, position, validate};
use crate::project::figures::MilestoneCounts;
use crate::project::files::FileError;
use crate::project::milestone::milestone_headings;
use crate::project::phase::PhaseId;
use crate::project::state::State;
use crate::project::state::index::Sources;
use crate::project::view::{Edits, ProjectView};
use crate::text::markdown::Markdown;
use crate::text::screen::{Screen, counted};

/// The template of a new STATE.md.
const TEMPLATE: &str = include_str!("../../../templates/state.md");

/// The last activity in a STATE.md that was lost and created again.
const CREATED: &str = "STATE.md created from the roadmap and the phase folders";

/// What `state rebuild` answers.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct RebuildReport {
    pub(crate) rebuilt: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dry_run: Option<bool>,
    pub(crate) mutations: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mutated: Option<bool>,
    pub(crate) phase_inventory_scan_failed: bool,
    pub(crate) note: &'static str,
    /// STATE.md was missing or unusable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) created: Option<bool>,
    /// The new path of the unusable STATE.md.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) set_aside: Option<String>,
    /// With `--dry-run`: what would change.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) would_change: Vec<PlannedChange>,
    /// The lines of the log, on request.
    #[serde(skip)]
    pub(crate) log: Vec<String>,
}

/// A place that a rebuild would change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct PlannedChange {
    pub(crate) section: String,
    pub(crate) before: String,
    pub(crate) after: String,
    pub(crate) reason: String,
}

impl PlannedChange {
    fn created() -> Self {
        let (before, after) = ("no usable file".to_owned(), "a new file".to_owned());
        Self { section: "STATE.md".to_owned(), before, after, reason: CREATED.to_owned() }
    }
}

impl RebuildReport {
    /// The changes, for a person at a terminal.
    pub(crate) fn shown(&self, screen: Screen) -> String {
        let is_rehearsal = self.dry_run == Some(true);
        let what = match (&self.set_aside, self.mutations) {
            (Some(path), _) if is_rehearsal => {
                format!("STATE.md would be created, and the broken one kept as `{path}`")
            }
            (Some(path), _) => format!("Created a new STATE.md; the broken one is `{path}`"),
            _ if self.created == Some(true) && is_rehearsal => "STATE.md would be created".to_owned(),
            _ if self.created == Some(true) => "Created STATE.md from ROADMAP.md and the phase folders".to_owned(),
            (None, 0) => "STATE.md is up to date".to_owned(),
            (None, count) if is_rehearsal => format!("{} would change in STATE.md", counted(count, "place")),
            (None, count) => format!("{} changed in STATE.md", counted(count, "place")),
        };
        let planned = |change: &PlannedChange| {
            let PlannedChange { section, before, after, .. } = change;
            screen.prose("  ", "    ", &format!("{section}: {before} -> {after}"))
        };
        screen.prose("", "  ", &what) + &self.would_change.iter().map(planned).collect::<String>()
    }
}

/// Updates the table of phases from the folders of the milestone: their rows and the numbers of plans. Text that a
/// person wrote into the other cells stays, and so do rows of phases whose folder is archived. Shelved phases do not
/// count as work and get no row. A position without a phase is filled in from roadmap and disk. A missing STATE.md is
/// created from them; with `set_aside` an unusable one too, which is kept under another name. `None` without STATE.md
/// and without a roadmap to create one from.
pub(crate) fn rebuild(
    view: &ProjectView,
    only_look: bool,
    set_aside: bool,
    facts: &Facts,
) -> EditedState<RebuildReport> {
    let state = match open(view) {
        Ok(Some(state)) => state,
        Ok(None) => return create(view, None, only_look, facts),
        Err(_) if set_aside => return create(view, Some(unused_name(view, facts)), only_look, facts),
        Err(error) => return Err(error),
    };
    let (phases, kept) = phases_on_disk(view)?;
    let is_gone = |label: &str| !kept.iter().any(|id| PhaseId::new(id).matches(label));
    let mut edit = StateEdit::new(state);
    let reconciled = (!phases.is_empty()).then(|| edit.reconcile_phase_rows(&phases, is_gone)).flatten();
    let mut log = Vec::new();
    let mut planned = Vec::new();
    let mut note_in_log = |kind: &str, section: &str, before: &str, after: &str, reason: &str| {
        planned.push(PlannedChange {
            section: section.trim_start_matches(['#', ' ']).to_owned(),
            before: before.to_owned(),
            after: after.to_owned(),
            reason: reason.to_owned(),
        });
        log.extend([
            format!("- timestamp: {}", facts.now),
            format!("  kind: {kind}"),
            format!("  section: {section}"),
            format!("  before: {before}"),
            format!("  after: {after}"),
            format!("  reason: {reason}"),
        ]);
    };
    if let Some(reconciled) = reconciled {
        let reason = "the folders of phases tell which rows there are";
        let (before, after) = (reconciled.before.join(" \\n "), reconciled.after.join(" \\n "));
        note_in_log("by-phase-table-reconciled", "## Performance Metrics", &before, &after, reason);
    }
    if validate::phases_named(state).is_empty()
        && let Some(after) = position::fill_position(view, &mut edit, "Position filled in by state rebuild", facts)?
    {
        let reason = "the position named no phase; roadmap and phase folders show where the work is";
        let before = state.value("Phase").unwrap_or("-").trim();
        note_in_log("position-filled-in", "## Current Position", before, &after, reason);
    }
    if position::lost_phase(view, state)?.is_some()
        && let Some(after) = position::fill_position(view, &mut edit, "Position found again by state rebuild", facts)?
    {
        let reason = "the phase is in no roadmap and no folder; they show where the work is";
        let before = state.value("Phase").unwrap_or("-").trim();
        note_in_log("position-found-again", "## Current Position", before, &after, reason);
    }
    let sources = Sources::of(state);
    let mut follows = false;
    for (key, label) in [("current_phase", "Current Phase"), ("current_phase_name", "Current Phase Name")] {
        let (Some(told), Some(indexed)) = (sources.get(key), state.front_text(key)) else { continue };
        let is_same = indexed == told || (key == "current_phase" && PhaseId::new(told).matches(&indexed));
        if !is_same && state.field(label).is_some() {
            follows = true;
            let reason = "the front matter follows what a person wrote into the body";
            note_in_log("front-matter-follows", &format!("front matter, {key}"), &indexed, told, reason);
        }
    }
    let mutations = planned.len();
    if mutations == 0 {
        let report = RebuildReport {
            dry_run: only_look.then_some(true),
            mutated: only_look.then_some(false),
            note: "nothing to rebuild",
            ..RebuildReport::default()
        };
        return Ok(Some((report, Edits::default())));
    }
    let report = RebuildReport {
        rebuilt: !only_look,
        dry_run: only_look.then_some(true),
        mutations,
        mutated: only_look.then_some(true),
        note: if only_look {
            "run it without --dry-run to apply the changes"
        } else {
            "STATE.md was rebuilt; its section `Rebuild Log` lists the changes"
        },
        would_change: if only_look { planned } else { Vec::new() },
        log: log.clone(),
        ..RebuildReport::default()
    };
    if only_look {
        return Ok(Some((report, Edits::default())));
    }
    let entries: Vec<&[String]> = log.chunks(LINES_OF_ENTRY).filter(|entry| !is_logged(state, entry)).collect();
    if !entries.is_empty() {
        edit.append_entry(LOG, &entries.concat());
    }
    let rule = if follows { Rule::Recount } else { Rule::Refresh };
    let edits = close(view, edit, rule, facts)?.edits(view)?;
    Ok(Some((report, edits)))
}

/// The title of the section with the log of rebuilds.
const LOG: &str = "Rebuild Log";
/// The number of lines in a log entry, its time first.
const LINES_OF_ENTRY: usize = 6;

/// True if the last entry of the same kind is identical: changes that another program always undoes would fill the log.
fn is_logged(state: &State<'_>, entry: &[String]) -> bool {
    let Some(section) = state.section(&[LOG]) else { return false };
    let lines = section.own.map(|line| state.markdown().line(line).trim()).filter(|line| !line.is_empty());
    let lines: Vec<&str> = lines.collect();
    let entry: Vec<&str> = entry.iter().map(|line| line.trim()).collect();
    let (Some(kind), Some(reason)) = (entry.get(1), entry.last()) else { return false };
    let known =
        lines.split(|line| line.starts_with("- timestamp:")).map(|lines| &lines[..lines.len().min(entry.len() - 1)]);
    let mut same = known.filter(|known| known.first() == Some(kind) && known.last() == Some(reason));
    same.next_back().is_some_and(|last| *last == entry[1..])
}

/// A phase with a folder: its number, and the number of its plans.
type PhaseOnDisk = (String, usize);

/// The phases with a folder, and those whose rows stay although they have none.
fn phases_on_disk(view: &ProjectView) -> Result<(Vec<PhaseOnDisk>, Vec<String>), FileError> {
    let mut phases: Vec<(String, usize)> = Vec::new();
    let mut kept: Vec<String> = Vec::new();
    for folder in view.phase_folders()?.iter() {
        if folder.id().is_sentinel() {
            kept.push(folder.id().to_string());
            continue;
        }
        let (number, _) = folder.number_and_name();
        if number.starts_with(|first: char| first.is_ascii_digit()) && !phases.iter().any(|(known, _)| known == number)
        {
            phases.push((number.to_owned(), view.current_plans(folder)?.len()));
        }
    }
    for (folder, version) in view.archives()? {
        kept.extend(view.read_folders(&folder, Some(&version))?.iter().map(|folder| folder.id().to_string()));
    }
    Ok((phases, kept))
}

/// An unused file name for a STATE.md that cannot be used.
fn unused_name(view: &ProjectView, facts: &Facts) -> String {
    let stamp: String = facts.now.chars().take_while(|letter| *letter != '.').filter(|letter| *letter != ':').collect();
    let name = format!("{}.broken-{stamp}", view.layout().state());
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    std::iter::once(name.clone()).chain(numbered).find(|name| !view.exists(name)).unwrap_or(name)
}

/// Creates STATE.md from the template, the roadmap and the disk.
fn create(view: &ProjectView, set_aside: Option<String>, only_look: bool, facts: &Facts) -> EditedState<RebuildReport> {
    let state = view.layout().state();
    let mut edits = Edits::default();
    if let Some(name) = &set_aside {
        edits.moves.insert(name.clone(), state.clone());
    }
    let without = view.after(&edits);
    let Some(text) = template(&without, facts)? else { return Ok(None) };
    edits.texts.insert(state.clone(), text.clone());
    // From here on, its milestone determines which part of the roadmap counts.
    let after = view.after(&edits);
    let parsed = State::parse(&text);
    let mut edit = StateEdit::new(&parsed);
    position::fill_position(&after, &mut edit, CREATED, facts)?;
    edit.set("Stopped at", CREATED);
    let (phases, _) = phases_on_disk(&after)?;
    edit.reconcile_phase_rows(&phases, |_| false);
    edit.set_metric("Total plans completed", &MilestoneCounts::of(&after)?.completed_plans.to_string());
    let written = close(&after, edit, Rule::Recount, facts)?;
    edits.texts.insert(state, written.text);
    mirror::refresh(&mut edits, view, facts)?;
    let note = match (only_look, &set_aside) {
        (true, _) => "run it without --dry-run to apply the changes",
        (false, None) => "STATE.md created from ROADMAP.md and the phase folders",
        (false, Some(_)) => "STATE.md created from ROADMAP.md and the phase folders; the old file was set aside",
    };
    let report = RebuildReport {
        rebuilt: !only_look,
        dry_run: only_look.then_some(true),
        mutations: 1,
        mutated: only_look.then_some(true),
        phase_inventory_scan_failed: false,
        note,
        created: Some(true),
        would_change: if only_look { vec![PlannedChange::created()] } else { Vec::new() },
        set_aside,
        log: Vec::new(),
    };
    Ok(Some((report, if only_look { Edits::default() } else { edits })))
}

/// The template filled in with the facts of the project; `None` without a roadmap that names phases.
fn template(view: &ProjectView, facts: &Facts) -> Result<Option<String>, FileError> {
    let (Some(roadmap), Some(phases)) = (view.roadmap()?, view.last_number()?) else { return Ok(None) };
    let milestone = view.milestone()?;
    let open = milestone_headings(roadmap).into_iter().find(|heading| heading.version.is_some() && !heading.closed);
    let version = milestone.version.clone().or_else(|| open.and_then(|heading| heading.version.map(str::to_owned)));
    let project = view.text(&view.layout().project())?;
    let core_value = project.as_deref().and_then(core_value).unwrap_or_else(|| "see PROJECT.md".to_owned());
    let mut text = TEMPLATE
        .replace("{Milestone name}", milestone.name.as_deref().unwrap_or("milestone"))
        .replace("{N}", &phases.to_string())
        .replace("{date}", &facts.today)
        .replace("{from PROJECT.md}", &core_value)
        .replace(" ({Name})", "")
        .replace(" — {Name}", "");
    text = match version {
        Some(version) => text.replacen("milestone: v1.0", &format!("milestone: {version}"), 1),
        None => text.lines().filter(|line| !line.starts_with("milestone")).flat_map(|line| [line, "\n"]).collect(),
    };
    Ok(Some(text))
}

/// The first line under `## Core Value`.
fn core_value(project: &str) -> Option<String> {
    let markdown = Markdown::parse(project);
    let heading = markdown.headings().find(|heading| heading.title.eq_ignore_ascii_case("Core Value"))?;
    let mut lines = markdown.section(&heading).map(|line| markdown.line(line).trim());
    lines.find(|line| !line.is_empty()).map(str::to_owned)
}
