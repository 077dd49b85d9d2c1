//! New phases: their place in the roadmap, their number and their folder.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::{Failure, Reason};
use crate::operations::hints::{self, NO_ROADMAP, PHASES};
use crate::project::files::FileError;
use crate::project::folder::PhaseFolder;
use crate::project::milestone::Milestone;
use crate::project::phase::{self, PhaseId, PhaseIndex, without_code};
use crate::project::plan::PhasePlan;
use crate::project::roadmap::{PhaseSection, Roadmap};
use crate::project::view::{Edited, Edits, ProjectView};
use crate::text::named;
use crate::text::splice::Splices;

/// The arguments of `phase add`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AddRequest<'text> {
    pub(crate) description: &'text str,
    /// An identifier instead of the next number.
    pub(crate) id: Option<&'text str>,
    pub(crate) project_code: Option<&'text str>,
    /// `sequential` or `custom`.
    pub(crate) naming: &'text str,
    /// The prefix of a command's name as people type it.
    pub(crate) command_prefix: &'text str,
}

/// A sequential number, or a custom identifier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum PhaseNumber {
    Number(u64),
    Text(String),
}

/// What `phase add` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AddReport {
    pub(crate) phase_number: PhaseNumber,
    pub(crate) padded: String,
    pub(crate) name: String,
    pub(crate) slug: String,
    pub(crate) directory: String,
    pub(crate) naming_mode: String,
    /// What is unusual about the name. The name is written wherever the phase is mentioned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) warning: Option<String>,
}

/// A warning about an unusual name: a long text or several sentences. Up to 80 letters of one sentence are normal.
fn name_warning(name: &str) -> Option<String> {
    const LONGEST: usize = 80;
    let length = name.chars().count();
    let is_sentences = [". ", "! ", "? "].iter().any(|end| name.trim().contains(end));
    match (length > LONGEST, is_sentences) {
        (true, _) => Some(format!("the name has {length} characters; {LONGEST} or fewer are easier to read")),
        (false, true) => Some("the name has several sentences; the details belong into the phase's section".to_owned()),
        (false, false) => None,
    }
}

/// Checks the name that a person gives to a phase.
fn given_name(description: &str) -> Result<Cow<'_, str>, Failure> {
    let name = named(description).map_err(|error| Failure::because(Reason::Usage, &error))?;
    if name.is_empty() {
        let hint = "describe the phase in words, such as `gsd-tools phase add \"Search\"`";
        return Err(Failure::usage("a phase needs a name").hint(hint));
    }
    Ok(name)
}

/// Adds a phase at the end of the current milestone.
///
/// The number is one above every phase of the roadmap and the disk, without shelved ones, so that no planned phase of a
/// later milestone has the same number.
pub(crate) fn add(view: &ProjectView, request: AddRequest<'_>) -> Edited<AddReport, Failure> {
    let roadmap = view.roadmap()?.ok_or_else(hints::no_roadmap)?;
    let text = roadmap.text();
    if !text.trim().is_empty() && roadmap.markdown().headings().next().is_none() && roadmap.bullets().is_empty() {
        let line = 1 + text.lines().take_while(|line| line.trim().is_empty()).count();
        let path = view.layout().roadmap();
        let message = format!("`{path}`, line {line}: this is not a roadmap: it has no heading and no list of phases");
        return Err(Failure::new(Reason::Unknown, message).hint(NO_ROADMAP));
    }
    let milestone = view.milestone()?;
    let name = &*given_name(request.description)?;
    let slug = phase::folder_slug(name);
    let (phase_number, padded, written, depends_on) = if let Some(id) = request.id {
        if let Some(section) = roadmap.section(id) {
            let line = section.heading_line + 1;
            return Err(Failure::usage(format!("ROADMAP.md already has a phase {id} (line {line})"))
                .hint("choose another identifier, or leave out `--id` to use the next number"));
        }
        let depends_on = (request.naming != "custom").then(|| "Phase TBD".to_owned());
        (PhaseNumber::Text(id.to_owned()), id.to_owned(), id.to_owned(), depends_on)
    } else {
        let number = last_number(view, roadmap)? + 1;
        let depends_on = match last_of_milestone(view, roadmap, &milestone)? {
            0 => "Nothing (first phase)".to_owned(),
            last => format!("Phase {last}"),
        };
        let padded = phase::pad(&number.to_string());
        // In the document's own style of numbers.
        let is_padded = roadmap.sections().iter().any(|section| !section.shipped && section.id.starts_with('0'));
        let written = if is_padded { padded.clone() } else { number.to_string() };
        (PhaseNumber::Number(number), padded, written, Some(depends_on))
    };
    let place = end_of_milestone(roadmap, &milestone);
    let block = PhaseBlock {
        id: &written,
        title: name.to_owned(),
        goal: "[To be planned]",
        depends_on,
        command_prefix: request.command_prefix,
        level: level_before(roadmap, place),
    };
    let mut edits = Edits::default();
    let mut splices = Splices::default();
    let of_milestone = |id: &str, line: usize| milestone.holds(line) && !PhaseId::new(id).is_sentinel();
    roadmap.add_bullet(&written, name, roadmap.last_bullet(of_milestone), &mut splices);
    let own = PhaseIndex::new(milestone.phase_ids(roadmap).into_iter().enumerate());
    let is_own = |id: &str, _| own.find(id).is_some();
    let row = roadmap.last_row(is_own).or_else(|| roadmap.last_row(|id, _| !PhaseId::new(id).is_sentinel()));
    roadmap.add_progress_row(&written, name, row, &mut splices);
    insert_block(roadmap, place, &block, &mut splices);
    edits.write(view, &view.layout().roadmap(), splices.apply(roadmap.text()))?;
    let directory = folder_path(view, request.project_code, &padded, &slug);
    edits.folders.push(directory.clone());
    let report = AddReport {
        phase_number,
        padded,
        name: name.to_owned(),
        slug,
        directory,
        naming_mode: request.naming.to_owned(),
        warning: name_warning(name),
    };
    Ok((report, edits))
}

/// What `phase add-batch` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BatchReport {
    pub(crate) phases: Vec<AddReport>,
    pub(crate) count: usize,
}

/// Adds several phases, one after the other: all of them, or none.
pub(crate) fn add_batch(
    view: &ProjectView,
    descriptions: &[String],
    request: AddRequest<'_>,
) -> Edited<BatchReport, Failure> {
    let mut edits = Edits::default();
    let mut phases = Vec::new();
    for description in descriptions {
        let (report, added) = add(&view.after(&edits), AddRequest { description, id: None, ..request })?;
        edits.texts.extend(added.texts);
        edits.folders.extend(added.folders);
        phases.push(report);
    }
    Ok((BatchReport { count: phases.len(), phases }, edits))
}

/// What `phase insert` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct InsertReport {
    pub(crate) phase_number: String,
    pub(crate) after_phase: String,
    pub(crate) name: String,
    pub(crate) slug: String,
    pub(crate) directory: String,
}

/// Inserts a decimal phase after `after`.
pub(crate) fn insert(
    view: &ProjectView,
    after: &str,
    sibling: bool,
    request: AddRequest<'_>,
) -> Edited<InsertReport, Failure> {
    let roadmap = view.roadmap()?.ok_or_else(hints::no_roadmap)?;
    let section = roadmap.section(after).ok_or_else(|| {
        let (message, hint) = match roadmap.bullet(after) {
            Some(bullet) => {
                let line = bullet.line + 1;
                let seen = format!("phase {after} is on line {line} of ROADMAP.md");
                (
                    format!("{seen} and has no section `### Phase {after}: ...`"),
                    "add the section first; `gsd-tools roadmap validate` lists what is missing",
                )
            }
            None => (format!("ROADMAP.md has no phase {after}"), PHASES),
        };
        Failure::new(Reason::PhaseNotFound, message).hint(hint)
    })?;
    let name = &*given_name(request.description)?;
    let slug = phase::folder_slug(name);
    // In the document's own style of numbers: 2.1 after `Phase 2`, 02.1 after `Phase 02`.
    let written = without_code(section.id);
    let base = written.rsplit_once('.').filter(|_| sibling).map_or(written, |(parent, _)| parent);
    let padded = next_decimal(view, base)?.next;
    let decimal = padded.rsplit_once('.').map_or("1", |(_, decimal)| decimal);
    let phase_number = format!("{base}.{decimal}");
    let title = format!("{name} (INSERTED)");
    let block = PhaseBlock {
        id: &phase_number,
        title: title.clone(),
        goal: "[Urgent work - to be planned]",
        depends_on: Some(format!("Phase {}", section.id)),
        command_prefix: request.command_prefix,
        level: level_of(roadmap, section),
    };
    let mut edits = Edits::default();
    let mut splices = Splices::default();
    // After the phase and the ones inserted there before.
    let base = PhaseId::new(base);
    let new = PhaseId::new(&phase_number);
    let is_before = |id: &str, _| {
        let id = PhaseId::new(id);
        let family = id == base || child_of(&base, &id).is_some() || PhaseId::new(after).matches(id.as_str());
        family && phase::compare(id.as_str(), new.as_str()).is_lt()
    };
    roadmap.add_bullet(&phase_number, &title, roadmap.last_bullet(is_before), &mut splices);
    roadmap.add_progress_row(&phase_number, name, roadmap.last_row(is_before), &mut splices);
    insert_block(roadmap, section.lines.end, &block, &mut splices);
    edits.write(view, &view.layout().roadmap(), splices.apply(roadmap.text()))?;
    let directory = folder_path(view, request.project_code, &padded, &slug);
    edits.folders.push(directory.clone());
    Ok((InsertReport { phase_number, after_phase: after.to_owned(), name: name.to_owned(), slug, directory }, edits))
}

/// What `phase next-decimal` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DecimalReport {
    /// True if the phase has a folder.
    pub(crate) found: bool,
    pub(crate) base_phase: String,
    pub(crate) next: String,
    pub(crate) existing: Vec<String>,
}

/// Finds the next free decimal of a phase, in the roadmap and on disk.
pub(crate) fn next_decimal(view: &ProjectView, typed: &str) -> Result<DecimalReport, FileError> {
    let base = PhaseId::new(typed);
    let folders = view.phase_folders()?;
    let roadmap = view.roadmap()?;
    let known = folders.iter().map(|folder| folder.token().to_owned()).chain(roadmap.iter().flat_map(|roadmap| {
        let sections = roadmap.sections().iter().map(|section| section.id);
        sections.chain(roadmap.bullets().iter().map(|bullet| bullet.id)).map(str::to_owned).collect::<Vec<_>>()
    }));
    let mut existing: Vec<(u64, String)> = Vec::new();
    for id in known.map(|id| PhaseId::new(&id)) {
        let Some(decimal) = child_of(&base, &id) else { continue };
        if !existing.iter().any(|(number, _)| *number == decimal) {
            existing.push((decimal, id.as_str().to_owned()));
        }
    }
    existing.sort();
    let next = existing.last().map_or(1, |(number, _)| number.saturating_add(1));
    Ok(DecimalReport {
        found: view.find_phase(typed)?.folder.is_some_and(|folder| folder.archived.is_none()),
        next: format!("{base}.{next}"),
        existing: existing.into_iter().map(|(_, id)| id).collect(),
        base_phase: base.to_string(),
    })
}

/// The decimal of `id` if it is a direct decimal of `base`.
fn child_of(base: &PhaseId, id: &PhaseId) -> Option<u64> {
    let head = id.as_str().get(..base.as_str().len())?;
    let rest = id.as_str()[head.len()..].strip_prefix('.')?;
    (head.eq_ignore_ascii_case(base.as_str())).then(|| rest.parse().ok())?
}

/// What `phase mvp-mode` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct MvpReport {
    pub(crate) active: bool,
    pub(crate) source: &'static str,
    pub(crate) roadmap_mode: Option<String>,
    pub(crate) config_mvp_mode: bool,
    pub(crate) cli_flag_present: bool,
}

/// Reports whether a phase is planned as a vertical slice: by the flag, else by its `**Mode:**` field, else by the
/// configuration.
pub(crate) fn mvp_mode(view: &ProjectView, typed: &str, flag: bool, configured: bool) -> Result<MvpReport, FileError> {
    let roadmap = view.roadmap_or_empty()?;
    let roadmap_mode = roadmap.section(typed).and_then(|section| roadmap.mode(section));
    let from_roadmap = roadmap_mode.as_deref() == Some("mvp");
    let source = match (flag, from_roadmap, configured) {
        (true, _, _) => "cli_flag",
        (_, true, _) => "roadmap",
        (_, _, true) => "config",
        _ => "none",
    };
    Ok(MvpReport {
        active: source != "none",
        source,
        roadmap_mode,
        config_mvp_mode: configured,
        cli_flag_present: flag,
    })
}

/// What `phase list-plans` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PlanListReport {
    pub(crate) phase: String,
    /// Null if the phase has no folder.
    pub(crate) phase_dir: Option<String>,
    pub(crate) plan_count: usize,
    pub(crate) has_plans: bool,
    pub(crate) plans: Vec<String>,
}

/// Lists the plans of a phase that are not superseded, also for archived phases.
pub(crate) fn list_plans(view: &ProjectView, typed: &str) -> Result<PlanListReport, FileError> {
    let folder = view.find_phase(typed)?.folder;
    let plans: Vec<String> = match &folder {
        Some(folder) => view.current_plans(folder)?.iter().map(|plan| folder.join(plan)).collect(),
        None => Vec::new(),
    };
    Ok(PlanListReport {
        phase: typed.to_owned(),
        phase_dir: folder.map(|folder| folder.path),
        plan_count: plans.len(),
        has_plans: !plans.is_empty(),
        plans,
    })
}

/// What `phase tdd-applicable` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TddReport {
    pub(crate) applicable: bool,
    pub(crate) source: &'static str,
    pub(crate) plan_type: Option<String>,
    pub(crate) config_tdd_mode: bool,
    pub(crate) cli_flag_present: bool,
}

/// Reports whether the tests of a plan are written first: by the flag, else the plan's type, else a task, else the
/// configuration.
pub(crate) fn tdd_applicable(plan: &str, flag: bool, configured: bool) -> TddReport {
    let plan = PhasePlan::parse(plan);
    let plan_type = plan.value("type").and_then(|kind| kind.as_text().map(str::to_owned));
    let plan_type = plan_type.filter(|kind| !kind.trim().is_empty());
    let is_tdd = plan_type.as_deref().is_some_and(|kind| kind.trim() == "tdd");
    let source = match (flag, is_tdd, plan.has_test_first_task(), configured) {
        (true, ..) => "cli_flag",
        (_, true, ..) => "plan_frontmatter",
        (_, _, true, _) => "task_attribute",
        (.., true) => "config",
        _ => "none",
    };
    TddReport { applicable: source != "none", source, plan_type, config_tdd_mode: configured, cli_flag_present: flag }
}

/// The highest number of a phase in the roadmap, on disk and in the archives, without shelved ones. If the numbering
/// restarted with the milestone, the archives do not count.
fn last_number(view: &ProjectView, roadmap: &Roadmap<'_>) -> Result<u64, FileError> {
    let mut folders = view.phase_folders()?.to_vec();
    folders.extend(view.earlier_folders()?);
    let numbers = roadmap
        .named_phases()
        .chain(roadmap.listed_ids())
        .filter(|id| id.starts_with(|first: char| first.is_ascii_digit()))
        .chain(folders.iter().map(PhaseFolder::token))
        .map(PhaseId::new)
        .filter(|id| !id.is_sentinel())
        .filter_map(|id| id.integer());
    Ok(numbers.max().unwrap_or(0))
}

/// The highest number among the phases of the milestone and the folders that no other milestone has planned. Without
/// any, the highest of all: the numbers continue after the shipped phases.
fn last_of_milestone(view: &ProjectView, roadmap: &Roadmap<'_>, milestone: &Milestone) -> Result<u64, FileError> {
    let own = milestone.phase_ids(roadmap);
    let planned_elsewhere = |id: &PhaseId| {
        let line = roadmap.section(id.as_str()).map(|section| section.heading_line);
        line.is_some_and(|line| !milestone.holds(line))
    };
    let folders = view.phase_folders()?;
    let of_folders = folders.iter().map(|folder| PhaseId::new(folder.token())).filter(|id| !planned_elsewhere(id));
    let numbers = own.iter().map(|id| PhaseId::new(id)).chain(of_folders).filter(|id| !id.is_sentinel());
    match numbers.filter_map(|id| id.integer()).max() {
        Some(last) => Ok(last),
        None => last_number(view, roadmap),
    }
}

/// The line before which a phase is added at the end of the milestone: the last horizontal rule of its window, else its
/// end.
fn end_of_milestone(roadmap: &Roadmap<'_>, milestone: &Milestone) -> usize {
    let markdown = roadmap.markdown();
    let in_window = milestone.window.iter().flat_map(Clone::clone);
    let rule = in_window.filter(|line| markdown.is_prose(*line) && markdown.line(*line).trim() == "---").max();
    rule.or_else(|| milestone.window.last().map(|lines| lines.end)).unwrap_or(markdown.lines().len())
}

/// The section of a new phase.
#[derive(Debug)]
struct PhaseBlock<'text> {
    id: &'text str,
    title: String,
    goal: &'text str,
    depends_on: Option<String>,
    command_prefix: &'text str,
    /// The level of its heading.
    level: usize,
}

impl PhaseBlock<'_> {
    fn lines(&self) -> Vec<String> {
        let mut lines = vec![
            format!("{} Phase {}: {}", "#".repeat(self.level), self.id, self.title),
            String::new(),
            format!("**Goal:** {}", self.goal),
            "**Requirements**: TBD".to_owned(),
        ];
        lines.extend(self.depends_on.iter().map(|depends_on| format!("**Depends on:** {depends_on}")));
        lines.push("**Plans:** 0 plans".to_owned());
        lines.push(String::new());
        lines.push("Plans:".to_owned());
        lines.push(format!("- [ ] TBD (run {}plan-phase {} to break down)", self.command_prefix, self.id));
        lines
    }
}

/// The level of the heading of a section.
fn level_of(roadmap: &Roadmap<'_>, section: &PhaseSection<'_>) -> usize {
    let line = roadmap.markdown().line(section.heading_line);
    line.trim_start().bytes().take_while(|byte| *byte == b'#').count()
}

/// The level of the heading of the last phase before a line; three without such a phase.
fn level_before(roadmap: &Roadmap<'_>, line: usize) -> usize {
    let last = roadmap.sections().iter().rfind(|section| section.heading_line < line && !section.shipped);
    last.map_or(3, |section| level_of(roadmap, section))
}

/// Inserts the block before line `before`, with one blank line on either side.
fn insert_block(roadmap: &Roadmap<'_>, before: usize, block: &PhaseBlock<'_>, splices: &mut Splices) {
    let markdown = roadmap.markdown();
    let newline = markdown.newline();
    let mut printed = block.lines().join(newline);
    printed.push_str(newline);
    let last_full = (0..before).rev().find(|line| !markdown.line(*line).trim().is_empty());
    let blank_above = last_full.is_none_or(|line| line + 1 < before);
    let at_end = before >= markdown.lines().len();
    let position = markdown.span(before..before).start;
    let open_end = at_end && markdown.lines().last().is_some_and(|line| line.end == line.next);
    let mut text = String::new();
    if open_end {
        text.push_str(newline);
    }
    if !blank_above {
        text.push_str(newline);
    }
    text.push_str(&printed);
    if !at_end {
        text.push_str(newline);
    }
    splices.insert(position, text);
}

fn folder_path(view: &ProjectView, code: Option<&str>, number: &str, slug: &str) -> String {
    let code = code.filter(|code| !code.is_empty() && !number.starts_with(|first: char| first.is_ascii_uppercase()));
    let prefix = code.map_or_else(String::new, |code| format!("{code}-"));
    format!("{}/{prefix}{number}-{slug}", view.layout().phases())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(roadmap: &str) -> ProjectView {
        let files = [(".planning/ROADMAP.md", roadmap), (".planning/phases/02-b/02-01-PLAN.md", "x")];
        ProjectView::of(files)
    }

    const REQUEST: AddRequest<'_> = AddRequest {
        description: "Team Sharing",
        id: None,
        project_code: None,
        naming: "sequential",
        command_prefix: "/gsd-",
    };

    const NAMES: &[&str] = &[
        "检索优化",
        "検索 API",
        "البحث",
        "Validação de Dados",
        "Cafe\u{301}",
        "A | B",
        "A - b",
        "Beta (v2)",
        "Beta — later",
        "**Bold** name",
        "`code` name",
        "🚀",
        "!!",
        "3D view: part 2",
        "Done",
    ];

    #[test]
    fn a_name_in_any_script_is_read_back_unchanged() {
        let table =
            "| Phase | Plans Complete | Status | Completed |\n|---|---|---|---|\n| 1. A | 0/1 | Not started | - |\n";
        for bullet in ["- [ ] **Phase 1: A**", "* [x] Phase 1: A", "1. [X] **Phase 1: A**", "+ [ ] Phase 1: A"] {
            let roadmap = format!("# R\n\n{bullet}\n\n### Phase 1: A\n\n{table}");
            for name in NAMES {
                let view = ProjectView::of([(".planning/ROADMAP.md", &*roadmap)]);
                let (report, edits) = add(&view, AddRequest { description: name, ..REQUEST }).unwrap();
                assert_eq!(report.directory, format!(".planning/phases/02-{}", phase::folder_slug(name)));
                let after = view.after(&edits);
                let parsed = after.roadmap().unwrap().unwrap();
                let text = parsed.text();
                let found = crate::operations::roadmap::check::mismatches(&after, parsed).unwrap();
                let of_name = found.iter().filter(|found| found.code != "C008").count();
                assert_eq!(of_name, 0, "{name}: {found:?}\n{text}");
                assert_eq!(parsed.sections().len(), 2, "{text}");
                let (report, edits) = insert(&view, "1", false, AddRequest { description: name, ..REQUEST }).unwrap();
                assert!(report.directory.starts_with(".planning/phases/01.1-") && !edits.is_empty(), "{name}");
            }
        }
    }

    #[test]
    fn a_name_of_several_lines_or_without_an_end_is_refused() {
        let view = view("### Phase 1: A\n");
        let long = "x".repeat(5_000);
        for name in ["Line one\n## v9.9 Evil", "a\r\nb", "a\u{7}b", "a\u{2028}b", long.as_str()] {
            let refused = add(&view, AddRequest { description: name, ..REQUEST });
            assert!(refused.unwrap_err().message.starts_with("the name has "), "{name:?}");
            let refused = insert(&view, "1", false, AddRequest { description: name, ..REQUEST }).unwrap_err();
            assert!(refused.message.starts_with("the name has "), "{name:?}");
        }
    }

    #[test]
    fn a_phase_in_a_checklist_takes_its_number_wherever_the_line_is() {
        for line in ["- [ ] Phase 6: X", "- [x] Phase 6: X - later", "* [ ] **Phase 6: X**"] {
            let view =
                view(&format!("- [ ] **Phase 1: A**\n\n### Phase 1: A\n\n### Phase 2: B\n**Goal**: y\n\n{line}\n"));
            assert_eq!(add(&view, REQUEST).unwrap().0.phase_number, PhaseNumber::Number(7), "{line}");
        }
        let prose = view("### Phase 2: B\n\n- [ ] Phase 6 is far away\n- Phase 7: not a box\n");
        assert_eq!(add(&prose, REQUEST).unwrap().0.phase_number, PhaseNumber::Number(3));
    }

    #[test]
    fn a_name_that_is_a_long_text_is_a_warning() {
        assert_eq!(name_warning(&"x".repeat(80)), None);
        assert!(name_warning(&"x".repeat(81)).unwrap().contains("81 characters"));
        assert!(name_warning("Add tags. Then search").is_some());
        assert_eq!(name_warning("Release v1.2 of the app."), None);
    }

    #[test]
    fn a_phase_is_added_before_the_rule_of_its_milestone() {
        let view = view(
            "### 🚧 v1.0 A\r\n\r\n### Phase 1: A\r\n\r\n---\r\n\r\n## Progress\r\n### 📋 v2.0 B\r\n\r\n#### Phase 3: C\r\n",
        );
        let (report, edits) = add(&view, REQUEST).unwrap();
        assert_eq!(
            report.phase_number,
            PhaseNumber::Number(4),
            "a planned phase of a later milestone keeps its number"
        );
        assert_eq!(report.directory, ".planning/phases/04-team-sharing");
        let text = &edits.texts[".planning/ROADMAP.md"];
        assert!(
            text.contains("### Phase 1: A\r\n\r\n### Phase 4: Team Sharing\r\n\r\n**Goal:** [To be planned]\r\n"),
            "{text}"
        );
        assert!(text.contains("to break down)\r\n\r\n---\r\n"), "{text}");
    }

    #[test]
    fn a_phase_at_the_end_of_a_file_without_final_newline_starts_a_line() {
        let view = view("## Phases\n### Phase 1: A");
        let (_, edits) = add(&view, REQUEST).unwrap();
        assert!(
            edits.texts[".planning/ROADMAP.md"].starts_with("## Phases\n### Phase 1: A\n\n### Phase 3: Team Sharing\n")
        );
    }

    #[test]
    fn a_phase_depends_on_the_last_phase_of_its_own_milestone() {
        let roadmap = "### 🚧 v1.0 Sync (In Progress)\n\n#### Phase 1: A\n\n#### Phase 2: B\n\n\
                       ### 📋 v2.0 Teams (Planned)\n\n#### Phase 3: C\n\n#### Phase 4: D\n";
        let files = [(".planning/ROADMAP.md", roadmap), (".planning/STATE.md", "---\nmilestone: v1.0\n---\n")];
        let view = ProjectView::of(files);
        let (report, edits) = add(&view, REQUEST).unwrap();
        assert_eq!(report.padded, "05");
        assert!(edits.texts[".planning/ROADMAP.md"].contains("**Depends on:** Phase 2"), "{edits:?}");
    }

    #[test]
    fn a_batch_is_added_in_order_or_not_at_all() {
        let view = view("### Phase 1: A\n");
        let (report, edits) = add_batch(&view, &["One".into(), "Two".into()], REQUEST).unwrap();
        assert_eq!(report.phases[1].directory, ".planning/phases/04-two");
        assert!(edits.texts[".planning/ROADMAP.md"].contains("**Depends on:** Phase 3"));
        assert_eq!(edits.folders.len(), 2);
        let refused = add_batch(&view, &["One".into(), " ".into()], REQUEST).unwrap_err();
        assert_eq!(refused.message, "a phase needs a name");
    }

    #[test]
    fn a_new_phase_is_written_in_all_places_of_the_document() {
        let roadmap = "# R\n\n* [x] Phase 01: A\n* [ ] Phase 02: B (next)\n\n## Backlog\n\n* [ ] Phase 999.1: Later\n\n## Details\n\n\
                       #### Phase 01: A\n\n#### Phase 02: B\n\n---\n\n\
                       | Phase | Milestone | Plans Complete | Status      | Completed  |\n|-------|-----------|----------------|-------------|------------|\n\
                       | 01. A | v1.0      | 1/1            | Complete    | 2026-01-02 |\n| 02. B | v1.0      | 0/TBD          | Not started | -          |";
        let view = view(roadmap);
        let (_, edits) = add(&view, REQUEST).unwrap();
        let text = &edits.texts[".planning/ROADMAP.md"];
        assert!(text.contains("B (next)\n* [ ] Phase 03: Team Sharing\n\n## Backlog"), "{text}");
        assert!(text.contains("#### Phase 03: Team Sharing\n"), "{text}");
        assert!(
            text.ends_with(
                "| Not started | -          |\n| 03. Team Sharing | v1.0      | 0/TBD          | Not \
                            started | -          |"
            ),
            "{text}"
        );
        let (report, edits) = insert(&view, "1", false, REQUEST).unwrap();
        let text = &edits.texts[".planning/ROADMAP.md"];
        assert_eq!(
            (report.phase_number.as_str(), report.directory.as_str()),
            ("01.1", ".planning/phases/01.1-team-sharing")
        );
        assert!(
            text.contains("* [x] Phase 01: A\n* [ ] Phase 01.1: Team Sharing (INSERTED)\n* [ ] Phase 02"),
            "{text}"
        );
        assert!(text.contains("#### Phase 01.1: Team Sharing (INSERTED)\n"), "{text}");
        assert!(text.contains("| 2026-01-02 |\n| 01.1. Team Sharing | v1.0      | 0/TBD"), "{text}");
    }

    #[test]
    fn the_source_of_test_first_is_reported() {
        let source = |plan: &str, flag, configured| tdd_applicable(plan, flag, configured).source;
        let task = "---\ntype: execute\n---\n<task type=\"auto\" tdd=\"true\">\n</task>\n";
        assert_eq!(source(task, false, true), "task_attribute");
        assert_eq!(source(task, true, false), "cli_flag");
        assert_eq!(source("---\ntype: tdd\n---\n", false, true), "plan_frontmatter");
        assert_eq!(source("<task tdd=\"false\">", false, true), "config");
        assert_eq!(source("", false, false), "none");
    }

    #[test]
    fn a_decimal_is_free_on_disk_and_in_the_roadmap() {
        let view = view("### Phase 2: A\n### Phase 2.1: B\n- [ ] **Phase 2.2: C** - c\n### Phase 3: D\n");
        let report = next_decimal(&view, "2").unwrap();
        assert_eq!((report.found, report.next.as_str()), (true, "02.3"));
        let (report, edits) = insert(&view, "2", false, REQUEST).unwrap();
        assert_eq!(
            (report.phase_number.as_str(), report.directory.as_str()),
            ("2.3", ".planning/phases/02.3-team-sharing")
        );
        let text = &edits.texts[".planning/ROADMAP.md"];
        assert!(text.contains("### Phase 2: A\n\n### Phase 2.3: Team Sharing (INSERTED)"), "{text}");
        assert!(text.contains("- c\n- [ ] **Phase 2.3: Team Sharing (INSERTED)**\n### Phase 3"), "{text}");
        let beside = |after: &str| insert(&view, after, true, REQUEST).unwrap().0.phase_number;
        assert_eq!((beside("2.1"), beside("2")), ("2.3".to_owned(), "2.3".to_owned()));
        assert_eq!(insert(&view, "2.1", false, REQUEST).unwrap().0.phase_number, "2.1.1");
        assert_eq!(insert(&view, "9", false, REQUEST).unwrap_err().message, "ROADMAP.md has no phase 9");
        let listed = ProjectView::of([(".planning/ROADMAP.md", "# R\n\n- [ ] **Phase 9: A** - a\n")]);
        let refused = insert(&listed, "9", false, REQUEST).unwrap_err();
        assert_eq!(refused.message, "phase 9 is on line 3 of ROADMAP.md and has no section `### Phase 9: ...`");
    }
}
