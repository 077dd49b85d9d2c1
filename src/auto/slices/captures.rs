//! What a run does with captures between two units: a session classifies them, the program carries out what follows.
//!
//! A capture that asks to stop comes first and needs no session. Then what is classified is carried out, what is not is
//! classified, and quick tasks run one by one. A capture is resolved by the last edit of each step, so a step that a
//! crash interrupted is done again, and each of its edits looks at what is there already.

use super::look::Look;
use super::places;
use super::snapshot::{SliceDetail, Snapshot};
use crate::auto::engine::Edit;
use crate::auto::event::Mechanical;
use crate::auto::position::RuleResult;
use crate::auto::stop::{Cause, Stop};
use crate::auto::unit::{Unit, UnitKind};
use crate::gate::check::Check;
use crate::project::files::{FileError, Files, FolderEntry};
use crate::project::milestone_layout::captures::{self, Capture, CaptureClass, CaptureStatus};
use crate::project::milestone_layout::roadmap::Roadmap;
use crate::project::milestone_layout::slice_plan::{self, SlicePlan};
use crate::project::milestone_layout::summary::Summary;
use crate::project::milestone_layout::{ids, lookup};
use crate::text::shell::typed;
use crate::text::terminal::one_line;
use crate::text::untrusted::line;

/// How much of a capture is quoted, and how much is the title of a task.
const QUOTED: usize = 200;
const TITLE: usize = 72;

/// What a status shows as the rule that leads to a session for captures.
const TRIAGE: &str = "captures → triage-captures";
const QUICK: &str = "captures → quick-task";

/// Returns the stop that captures ask for, unless the run stopped for them before and a person continued it.
pub(crate) fn halt(look: &Look<'_>) -> Option<Stop> {
    let asked = |capture: &&Capture| !look.memory.halted.contains(&capture.id);
    let captures = || look.snapshot.captures.iter().filter(asked);
    let shown = |capture: &Capture| format!("{}: {}", capture.id, line(&capture.text, QUOTED));
    look.memory.run.as_ref()?;
    let pending: Vec<&Capture> = captures().filter(|capture| capture.asks_to_stop()).collect();
    if let Some(first) = pending.first() {
        let text = format!("{} asks to stop; `gsd-tools auto run` marks it as resolved and continues", first.id);
        let stop = Stop::new(Cause::Paused, text, "gsd-tools auto run");
        return Some(stop.shown(pending.iter().map(|capture| shown(capture))));
    }
    let halts = |class| matches!(class, CaptureClass::Stop | CaptureClass::Backtrack);
    let classified: Vec<&Capture> = captures().filter(|capture| capture.open_class().is_some_and(halts)).collect();
    let first = classified.first()?;
    let what = if first.open_class() == Some(CaptureClass::Stop) {
        "asks for your decision before the work continues".to_owned()
    } else {
        let milestone = look.state.milestone.as_ref().map(|milestone| milestone.id.as_str()).unwrap_or_default();
        let end = typed!("gsd-tools auto abandon {}", milestone);
        format!(
            "says that earlier work is wrong: `gsd-tools auto steer \"...\"` changes the course, `{end}` ends the run"
        )
    };
    let why = first.rationale.as_deref().map(|why| format!("why: {}", line(why, QUOTED)));
    let text = format!("{} {what}; `gsd-tools auto run` marks it as resolved and continues", first.id);
    let stop = Stop::new(Cause::Captured, text, "gsd-tools auto run");
    Some(stop.shown(classified.iter().map(|capture| shown(capture)).chain(why)))
}

/// Returns the first capture whose class the program carries out now.
pub(crate) fn mechanical(look: &Look<'_>) -> Option<Mechanical> {
    let milestone = look.state.milestone.as_ref()?.id.clone();
    let slice = look.state.slice.as_ref().map(|slice| slice.id.clone());
    let is_due = |capture: &&Capture| match capture.open_class() {
        None => capture.asks_to_stop() && look.memory.halted.contains(&capture.id),
        Some(CaptureClass::Stop | CaptureClass::Backtrack) => look.memory.halted.contains(&capture.id),
        Some(CaptureClass::Inject | CaptureClass::Replan) => slice.is_some(),
        Some(CaptureClass::Defer | CaptureClass::Note) => true,
        Some(CaptureClass::QuickTask) => false,
    };
    let steps = look.snapshot.captures.iter().filter(is_due).map(|capture| Mechanical::CarryOutCapture {
        milestone: milestone.clone(),
        slice: slice.clone(),
        capture: capture.id.clone(),
    });
    steps.into_iter().find(|step| !look.memory.fallbacks.contains_key(step))
}

/// Returns the session that captures need now. It comes before everything that the rules find.
pub(crate) fn session(look: &Look<'_>) -> Option<(&'static str, RuleResult)> {
    let slice = look.slice_id()?;
    if look.snapshot.captures.iter().any(Capture::needs_triage) {
        return Some((TRIAGE, RuleResult::Dispatch(Unit::new(UnitKind::TriageCaptures, slice))));
    }
    let is_quick = |capture: &&Capture| capture.open_class() == Some(CaptureClass::QuickTask);
    let quick = look.snapshot.captures.iter().find(is_quick)?;
    Some((QUICK, RuleResult::Dispatch(Unit::new(UnitKind::QuickTask, format!("{slice}/{}", quick.id)))))
}

/// Returns what a triage has left undone, as text for the next attempt.
pub(crate) fn missing(snapshot: &Snapshot, milestone: &str, slice: &str) -> Vec<String> {
    let detail = snapshot.detail(milestone, slice);
    let mut missing = Vec::new();
    for capture in &snapshot.captures {
        let id = &capture.id;
        if capture.needs_triage() {
            missing.push(match (&capture.classification, capture.class()) {
                (Some(word), None) => {
                    let word = line(word, QUOTED);
                    format!("a known classification of {id}: `{word}` is none of {}", captures::CLASSES)
                }
                (Some(_), Some(_)) => format!("`**Status:** triaged` of {id}"),
                (None, _) => format!("the classification of {id}, one of {}", captures::CLASSES),
            });
        } else if let Some(why) = capture.open_class().and_then(|class| impossible(class, detail)) {
            missing.push(format!("another classification of {id}: {why}"));
        }
    }
    missing
}

/// Returns why a class cannot be carried out in a slice.
fn impossible(class: CaptureClass, detail: Option<&SliceDetail>) -> Option<&'static str> {
    let tasks = detail.and_then(|detail| detail.tasks.as_deref()).filter(|tasks| !tasks.is_empty());
    match class {
        CaptureClass::Inject if tasks.is_none() => Some("`inject` needs a plan of the slice, and there is none yet"),
        CaptureClass::Replan if detail.is_some_and(|detail| detail.has_replan) => {
            Some("`replan` is not possible, since the slice was planned again before")
        }
        CaptureClass::Replan if !tasks.is_some_and(|tasks| tasks.iter().any(|task| !task.is_done())) => {
            Some("`replan` needs an open task of the slice, and there is none")
        }
        _ => None,
    }
}

/// Returns what follows from a capture; the edit that resolves it comes last. `at` is the time as documents write it.
pub(crate) fn carry_out(
    files: &dyn Files,
    (milestone, slice): (&str, Option<&str>),
    id: &str,
    at: &str,
) -> Result<Vec<Edit>, FileError> {
    let Some((path, text)) = places::root_document(files, captures::FILE)? else { return Ok(Vec::new()) };
    let Some(capture) = captures::read(&text).into_iter().find(|capture| capture.id == id) else {
        return Ok(Vec::new());
    };
    let place = slice.map(|slice| (milestone, slice));
    let (edits, class, resolution) = match (capture.open_class(), place) {
        (Some(CaptureClass::Inject), Some(place)) => match inject(files, place, &capture)? {
            Some((edits, task)) => (edits, CaptureClass::Inject, format!("added as {}/{}/{task}", place.0, place.1)),
            None => (Vec::new(), CaptureClass::Defer, "put off: no task could be added to the slice".to_owned()),
        },
        (Some(CaptureClass::Replan), Some(place)) => match replan(files, place, &capture, at)? {
            Some(edits) => (edits, CaptureClass::Replan, format!("{}/{} is planned again", place.0, place.1)),
            None => (Vec::new(), CaptureClass::Defer, "put off: the slice was planned again before".to_owned()),
        },
        (Some(CaptureClass::Defer), _) => (Vec::new(), CaptureClass::Defer, "for a later plan".to_owned()),
        (Some(CaptureClass::Note), _) => (Vec::new(), CaptureClass::Note, "nothing to do".to_owned()),
        (Some(class @ (CaptureClass::Stop | CaptureClass::Backtrack)), _) => {
            (Vec::new(), class, "the run stopped, and a person continued it".to_owned())
        }
        (None, _) if capture.asks_to_stop() => {
            (Vec::new(), CaptureClass::Stop, "the run stopped, and a person continued it".to_owned())
        }
        _ => return Ok(Vec::new()),
    };
    let mut edits = edits;
    edits.extend(resolved(&path, &text, (&capture, class), Some(&resolution), (milestone, at)));
    Ok(edits)
}

/// Returns the edit that resolves a capture.
fn resolved(
    path: &str,
    text: &str,
    (capture, class): (&Capture, CaptureClass),
    resolution: Option<&str>,
    (milestone, at): (&str, &str),
) -> Option<Edit> {
    let word = |word: &str| word.to_owned();
    let mut fields = vec![
        (captures::STATUS, word(CaptureStatus::Resolved.word())),
        (captures::CLASSIFICATION, word(class.word())),
        (captures::RESOLVED, word(at)),
        (captures::MILESTONE, word(milestone)),
    ];
    fields.extend(resolution.map(|resolution| (captures::RESOLUTION, word(resolution))));
    if class == CaptureClass::QuickTask {
        fields.push((captures::EXECUTED, word(at)));
    }
    captures::set(text, &capture.id, &fields).map(|text| Edit { path: path.to_owned(), text })
}

/// Returns the edit that marks a quick task as executed.
pub(crate) fn executed(files: &dyn Files, unit: &Unit, at: &str) -> Result<Option<Edit>, FileError> {
    let (milestone, _, Some(id)) = unit.parts() else { return Ok(None) };
    let Some((path, text)) = places::root_document(files, captures::FILE)? else { return Ok(None) };
    let found = captures::read(&text).into_iter().find(|capture| capture.id.eq_ignore_ascii_case(id));
    let class = CaptureClass::QuickTask;
    Ok(found.and_then(|capture| resolved(&path, &text, (&capture, class), None, (milestone, at))))
}

/// Returns the edits that make a task of the slice out of a capture, and the task; `None` if the slice has no plan that
/// can be read with the new task.
fn inject(
    files: &dyn Files,
    (milestone, slice): (&str, &str),
    capture: &Capture,
) -> Result<Option<(Vec<Edit>, String)>, FileError> {
    let folder = places::slice(files, milestone, slice)?;
    let Some((path, text)) = places::document(files, &folder, slice, "PLAN")? else { return Ok(None) };
    let plan = SlicePlan::parse(&text);
    let why = format!("- Why: {}", capture.id);
    if let Some(task) = plan.tasks.iter().find(|task| task.notes.contains(&why)) {
        return Ok(Some((Vec::new(), task.id.clone())));
    }
    let tasks_folder = lookup::tasks_folder(&folder);
    let inside = files.list(&tasks_folder)?.unwrap_or_default();
    let names = inside.iter().filter_map(|entry| ids::leading(&entry.name, 'T')).map(|(id, _)| id);
    let known: Vec<&str> = plan.tasks.iter().map(|task| task.id.as_str()).chain(names).collect();
    // A process that died after its first edit has left the plan of the task.
    let begun = begun(files, &tasks_folder, &inside, (&plan, capture))?;
    let id = begun.unwrap_or_else(|| ids::next(known, 'T', 2));
    let title = line(one_line(&unmarked(&capture.text)).trim(), TITLE);
    let verify = checks_so_far(files, milestone, slice)?;
    let mut entry = format!("- [ ] **{id}: {title}** `est:30m`\n  {why}\n  - Do: {}", one_line(&capture.text));
    if !verify.is_empty() {
        entry = entry + "\n  - Verify: " + &verify.join(" && ");
    }
    let added = slice_plan::append_task(&text, &entry);
    let parsed = SlicePlan::parse(&added);
    if parsed.tasks.len() != plan.tasks.len() + 1 || parsed.task(&id).is_none_or(|task| task.done) {
        return Ok(None);
    }
    let mut edits = Vec::new();
    // The task plan comes first: a task in the slice plan without one would be planned by a session.
    if plan.tasks.iter().any(|task| lookup::file(&inside, &task.id, "PLAN").is_some()) {
        let text = task_plan(&id, &title, capture, &verify);
        edits.push(Edit { path: lookup::document(&tasks_folder, &id, "PLAN"), text });
    }
    edits.push(Edit { path, text: added });
    Ok(Some((edits, id)))
}

/// Returns a task that is not in the slice plan and whose own plan is about the capture.
fn begun(
    files: &dyn Files,
    folder: &str,
    entries: &[FolderEntry],
    (plan, capture): (&SlicePlan, &Capture),
) -> Result<Option<String>, FileError> {
    for (id, name) in lookup::task_files(entries, "PLAN", ".md") {
        let text = files.read(&format!("{folder}/{name}"))?.unwrap_or_default();
        if plan.task(id).is_none() && text.contains(&format!("({})", capture.id)) {
            return Ok(Some(id.to_owned()));
        }
    }
    Ok(None)
}

/// Returns a text without marks that would end a bold title.
fn unmarked(text: &str) -> String {
    let plain: String = text.chars().filter(|letter| !matches!(letter, '*' | '`')).collect();
    if plain.trim().is_empty() { "Captured during the work".to_owned() } else { plain }
}

fn task_plan(id: &str, title: &str, capture: &Capture, verify: &[String]) -> String {
    let checks = verify.iter().fold(String::new(), |text, command| text + "- `" + command + "`\n");
    let checks = if checks.is_empty() { "- the checks of the project pass\n".to_owned() } else { checks };
    format!(
        "---\nestimated_steps: 1\nestimated_files: 1\nskills_used: []\n---\n\n# {id}: {title}\n\n## Description\n\n{}\n\n\
         A person asked for it while the slice was in work ({}).\n\n## Steps\n\n1. Do what the description asks for, and \
         nothing else.\n\n## Must-Haves\n\n- [ ] what the description asks for is there\n\n## Verification\n\n{checks}\n\
         ## Inputs\n\n- none\n\n## Expected Output\n\n- what the description names\n",
        one_line(&capture.text),
        capture.id
    )
}

/// Returns the checks of the finished tasks of a slice, each once: what has to pass after further work. A slice without
/// finished tasks has those of the last slice before it that has some.
pub(crate) fn checks_so_far(files: &dyn Files, milestone: &str, slice: &str) -> Result<Vec<String>, FileError> {
    let folder = places::milestone(files, milestone)?;
    let roadmap = places::document(files, &folder, milestone, "ROADMAP")?;
    let rows = roadmap.map(|(_, text)| Roadmap::parse(&text).slices).unwrap_or_default();
    let before = rows.iter().map(|row| row.id.as_str()).take_while(|id| !id.eq_ignore_ascii_case(slice));
    for id in [slice].into_iter().chain(before.collect::<Vec<_>>().into_iter().rev()) {
        let folder = places::slice(files, milestone, id)?;
        let Some((_, plan)) = places::document(files, &folder, id, "PLAN")? else { continue };
        let checks = checks_of_done(files, &folder, &SlicePlan::parse(&plan))?;
        if !checks.is_empty() {
            return Ok(checks);
        }
    }
    Ok(Vec::new())
}

fn checks_of_done(files: &dyn Files, folder: &str, plan: &SlicePlan) -> Result<Vec<String>, FileError> {
    let can_run = |verify: &&String| Check::all_of(verify).iter().all(Result::is_ok);
    let mut checks: Vec<String> = Vec::new();
    for task in &plan.tasks {
        let verify = task.verify.as_ref().filter(|verify| !checks.contains(verify)).filter(can_run);
        let Some(verify) = verify else { continue };
        let summary = places::document(files, &lookup::tasks_folder(folder), &task.id, "SUMMARY")?;
        let is_blocked = summary.as_ref().is_some_and(|(_, text)| Summary::parse(text).blocker_discovered);
        if (task.done || summary.is_some()) && !is_blocked {
            checks.push(verify.clone());
        }
    }
    Ok(checks)
}

/// Returns the edits that have the slice planned again; `None` if that was done before.
fn replan(
    files: &dyn Files,
    (milestone, slice): (&str, &str),
    capture: &Capture,
    at: &str,
) -> Result<Option<Vec<Edit>>, FileError> {
    let folder = places::slice(files, milestone, slice)?;
    if places::document(files, &folder, slice, "REPLAN")?.is_some() {
        return Ok(None);
    }
    if places::document(files, &folder, slice, "REPLAN-TRIGGER")?.is_some() {
        return Ok(Some(Vec::new()));
    }
    let why = capture.rationale.as_deref().unwrap_or("none given");
    let text = format!(
        "# {slice}: Replan\n\n**Source:** capture\n**Capture:** {}: {}\n**Rationale:** {}\n**Triggered:** {at}\n",
        capture.id,
        one_line(&capture.text),
        one_line(why)
    );
    Ok(Some(vec![Edit { path: lookup::document(&folder, slice, "REPLAN-TRIGGER"), text }]))
}

/// Returns the captures that were put off in a milestone, one line each.
pub(crate) fn deferred(snapshot: &Snapshot, milestone: &str) -> Vec<String> {
    let is_deferred = |capture: &&Capture| {
        capture.class() == Some(CaptureClass::Defer)
            && capture.milestone.as_deref().is_some_and(|found| found.eq_ignore_ascii_case(milestone))
    };
    let found = snapshot.captures.iter().filter(is_deferred);
    found.map(|capture| format!("{}: {}", capture.id, line(&capture.text, QUOTED))).collect()
}
