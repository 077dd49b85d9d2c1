//! The parts of the project's documents that an agent needs for one phase, so that it need not read whole documents:
//! the texts of the phase's requirements, its dependencies, the description of the project, the lessons of earlier
//! milestones, and the maps of the code.

use schemars::JsonSchema;
use serde::Serialize;

use crate::project::dependencies::dependencies;
use crate::project::files::FileError;
use crate::project::folder::{PhaseFolder, plan_id};
use crate::project::phase::PhaseId;
use crate::project::plan::PhaseSummary;
use crate::project::requirements::Requirements;
use crate::project::roadmap::{PhaseSection, Roadmap};
use crate::project::todo::Todo;
use crate::project::view::ProjectView;
use crate::text::markdown::Markdown;
use crate::text::screen::{Cell, Mark, Screen, Tone};

/// The most bytes of one text: agents pay for each of them.
const LONGEST: usize = 2_000;

/// The most decisions of one plan, lessons, and constraints.
const MOST: usize = 15;

/// An additional part of the answer of `roadmap get-phase`.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Brief {
    /// The requirements of the phase, from REQUIREMENTS.md.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    requirement_texts: Vec<RequirementText>,
    /// The pending todos that the phase should settle: those with its number as `resolves_phase`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    todos: Vec<TodoBrief>,
    /// The phases that this one depends on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    dependencies: Vec<Dependency>,
    /// The parts of PROJECT.md that apply to every phase.
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<ProjectBrief>,
    /// The key lessons in the newest section of RETROSPECTIVE.md.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lessons: Vec<String>,
    /// The maps of the code, relative to the project's root.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    maps: Vec<String>,
}

impl Brief {
    /// The requirements of the phase, its todos, and what it builds on, for a person.
    pub(crate) fn shown(&self, screen: Screen) -> String {
        let mark = |is_done: bool| screen.mark(if is_done { Mark::Done } else { Mark::Open });
        let requirement = |found: &RequirementText| {
            vec![mark(found.done), Cell::from(found.id.as_str()), Cell::from(found.text.clone().unwrap_or_default())]
        };
        let todo =
            |todo: &TodoBrief| vec![mark(false), Cell::from(todo.title.as_str()), Cell::from(todo.path.as_str())];
        let parts = [
            ("Requirements", self.requirement_texts.iter().map(requirement).collect::<Vec<_>>()),
            ("Todos", self.todos.iter().map(todo).collect()),
        ];
        let parts = parts.iter().filter(|(_, rows)| !rows.is_empty());
        parts
            .map(|(title, rows)| {
                "\n".to_owned() + &screen.paint(Tone::Strong, title) + "\n" + &screen.table("  ", rows)
            })
            .collect()
    }
}

#[derive(Debug, Serialize, JsonSchema)]
struct RequirementText {
    id: String,
    /// `null` if REQUIREMENTS.md does not have the requirement.
    text: Option<String>,
    done: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct TodoBrief {
    path: String,
    title: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Dependency {
    phase: String,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    learnings: Option<String>,
    summaries: Vec<SummaryBrief>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct SummaryBrief {
    path: String,
    one_liner: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    decisions: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ProjectBrief {
    what: Option<String>,
    core_value: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    constraints: Vec<String>,
}

impl Brief {
    pub(super) fn of(view: &ProjectView, roadmap: &Roadmap<'_>, section: &PhaseSection<'_>) -> Result<Self, FileError> {
        let layout = view.layout();
        let listed = view.text(&layout.requirements())?.unwrap_or_default();
        let requirements = Requirements::parse(&listed);
        let requirement = |id: String| RequirementText {
            text: requirements.whole_text(&id),
            done: requirements.entries().iter().any(|entry| entry.ticked && entry.id.eq_ignore_ascii_case(&id)),
            id,
        };
        // The table may assign more to the phase than the roadmap names.
        let mut ids = roadmap.requirement_ids(section);
        let mapped = requirements.of_phase(section.id);
        ids.extend(
            mapped
                .into_iter()
                .filter(|id| !ids.iter().any(|known| known.eq_ignore_ascii_case(id)))
                .map(str::to_owned)
                .collect::<Vec<_>>(),
        );
        let maps = layout.codebase();
        let maps = view.file_names(&maps)?.into_iter().filter(|name| name.rsplit('.').next() == Some("md"));
        Ok(Self {
            requirement_texts: ids.into_iter().map(requirement).collect(),
            todos: todos(view, section)?,
            dependencies: needed(view, roadmap, section)?,
            project: view.text(&layout.project())?.and_then(|text| ProjectBrief::of(&text)),
            lessons: view.text(&layout.retrospective())?.map(|text| lessons(&text)).unwrap_or_default(),
            maps: maps.map(|name| format!("{}/{name}", layout.codebase())).collect(),
        })
    }
}

/// The pending todos that name the phase as the one to settle them.
fn todos(view: &ProjectView, section: &PhaseSection<'_>) -> Result<Vec<TodoBrief>, FileError> {
    let folder = view.layout().todos_pending();
    let phase = PhaseId::new(section.id);
    let mut found = Vec::new();
    for name in view.file_names(&folder)?.into_iter().filter(|name| name.rsplit('.').next() == Some("md")) {
        let path = format!("{folder}/{name}");
        let todo = Todo::parse(&view.text(&path)?.unwrap_or_default());
        if todo.phase.is_some_and(|own| phase.matches(&own)) {
            found.push(TodoBrief { title: cut(&todo.title, &path), path });
        }
    }
    Ok(found)
}

/// The dependencies of `section` that are in the roadmap or have a folder.
fn needed(view: &ProjectView, roadmap: &Roadmap<'_>, section: &PhaseSection<'_>) -> Result<Vec<Dependency>, FileError> {
    let named = roadmap.field(section, "Depends on").and_then(dependencies).unwrap_or_default();
    let mut found = Vec::new();
    for phase in named {
        let name = roadmap.section(&phase).map(|section| section.name.to_owned());
        let folder = view.find_phase(&phase)?.folder;
        if name.is_none() && folder.is_none() {
            continue;
        }
        let path = |kind| folder.as_ref().and_then(|folder| folder.artifact_path(kind));
        found.push(Dependency {
            context: path("CONTEXT"),
            learnings: path("LEARNINGS"),
            summaries: folder.as_ref().map_or_else(|| Ok(Vec::new()), |folder| summaries(view, folder))?,
            name: name.unwrap_or_default(),
            phase,
        });
    }
    Ok(found)
}

fn summaries(view: &ProjectView, folder: &PhaseFolder) -> Result<Vec<SummaryBrief>, FileError> {
    let mut found = Vec::new();
    for file in folder.summaries() {
        let path = folder.join(file);
        let text = view.text(&path)?.unwrap_or_default();
        let summary = PhaseSummary::parse(&text);
        let decision = |(what, why): (String, Option<String>)| match why {
            Some(why) => format!("{what}: {why}"),
            None => what,
        };
        let decisions = short(summary.decisions().into_iter().map(decision).collect(), plan_id(file));
        found.push(SummaryBrief { path, one_liner: summary.one_liner(), decisions });
    }
    Ok(found)
}

impl ProjectBrief {
    fn of(text: &str) -> Option<Self> {
        let document = Markdown::parse(text);
        let body = |title: &str| {
            let (_, lines) = document.section_named(title)?;
            Some(text[document.span(lines)].trim().to_owned()).filter(|body| !body.is_empty())
        };
        let constraints: Vec<String> = body("Constraints").map(|body| items(&body)).unwrap_or_default();
        let brief = Self {
            what: body("What This Is").map(|text| cut(&text, "PROJECT.md")),
            core_value: body("Core Value").map(|text| cut(&text, "PROJECT.md")),
            constraints: short(constraints, "PROJECT.md"),
        };
        (brief.what.is_some() || brief.core_value.is_some() || !brief.constraints.is_empty()).then_some(brief)
    }
}

/// The key lessons of the first section that has any: the newest milestone comes first.
fn lessons(text: &str) -> Vec<String> {
    let document = Markdown::parse(text);
    let is_it = |title: &str| title.trim().eq_ignore_ascii_case("key lessons");
    let Some(heading) = document.headings().find(|heading| is_it(heading.title)) else { return Vec::new() };
    let body = &text[document.span(heading.line + 1..document.section(&heading).end)];
    short(items(body), "RETROSPECTIVE.md")
}

/// The list items, each with its continuation lines; without a list, the paragraphs.
fn items(body: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut is_open = false;
    for line in body.lines() {
        let bare = line.trim();
        let begins =
            bare.starts_with(['-', '*', '+']) || bare.split_once(". ").is_some_and(|(number, _)| is_number(number));
        if bare.is_empty() || bare.starts_with('#') {
            is_open = false;
        } else if begins || !is_open {
            let item = bare.trim_start_matches(|letter: char| letter.is_ascii_digit());
            let item = if item.len() == bare.len() { bare } else { item.trim_start_matches('.') };
            found.push(item.trim_start_matches(['-', '+', ' ']).trim_start_matches("* ").trim().to_owned());
            is_open = true;
        } else if let Some(last) = found.last_mut() {
            last.push(' ');
            last.push_str(bare);
        }
    }
    found.retain(|item| !item.is_empty());
    found
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The first of these lines, each shortened for an agent; a note says what is left out and where to find it.
fn short(lines: Vec<String>, place: &str) -> Vec<String> {
    let more = lines.len().saturating_sub(MOST);
    let mut kept: Vec<String> = lines.into_iter().take(MOST).map(|line| cut(&line, place)).collect();
    if more > 0 {
        kept.push(format!("... and {more} more in {place}"));
    }
    kept
}

fn cut(text: &str, place: &str) -> String {
    if text.len() <= LONGEST {
        return text.to_owned();
    }
    let end = (0..=LONGEST).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("{}... (the rest is in {place})", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::roadmap::analyze::get_phase;

    fn answer(files: &[(&str, &str)]) -> serde_json::Value {
        let view = ProjectView::of(files.iter().copied());
        serde_json::to_value(get_phase(&view, "2").unwrap()).unwrap()
    }

    const ROADMAP: &str = "# R\n\n### Phase 1: Base\n**Goal**: a base\n\n### Phase 2: Notes\n**Goal**: notes\n**Depends on**: Phase 1\n\
        **Requirements**: [NOTE-01, NOTE-02, NOTE-09]\n";

    #[test]
    fn a_phase_includes_what_its_agents_need_from_other_documents() {
        let found = answer(&[
            (".planning/ROADMAP.md", ROADMAP),
            (
                ".planning/REQUIREMENTS.md",
                "## v1\n\n- [x] **NOTE-01**: a note is kept\n  across restarts\n- [ ] **NOTE-02**: a note is found\n- [ ] **AUTH-01**: log in\n\n## Traceability\n\n| Requirement | Phase | Status |\n|---|---|---|\n| AUTH-01 | Phase 2 | Pending |\n",
            ),
            (
                ".planning/PROJECT.md",
                "# P\n\n## What This Is\n\nA notebook.\n\n## Core Value\n\nNothing is lost.\n\n## Constraints\n\n- **Tech**: no \
                 network - **offline**\n- **Speed**: 100 ms\n",
            ),
            (
                ".planning/RETROSPECTIVE.md",
                "# R\n\n## Milestone: v2\n\n### Key Lessons\n\n1. Test the old rows\n   first\n\n## Milestone: v1\n\n### Key Lessons\n\n1. Old\n",
            ),
            (".planning/codebase/STACK.md", "x"),
            (".planning/todos/pending/a.md", "---\ntitle: Old rows\nresolves_phase: 02\n---\n"),
            (".planning/todos/pending/b.md", "---\ntitle: Another\nresolves_phase: 12\n---\n"),
            (".planning/todos/pending/c.md", "---\ntitle: No phase\n---\n"),
            (".planning/phases/01-base/01-CONTEXT.md", "x"),
            (
                ".planning/phases/01-base/01-01-SUMMARY.md",
                "---\nkey-decisions:\n  - \"files, not a database: fewer parts\"\nstatus: complete\n---\n# S Summary\n\n**Files are written**\n",
            ),
        ]);
        let expected = serde_json::json!([
            { "id": "NOTE-01", "text": "a note is kept across restarts", "done": true },
            { "id": "NOTE-02", "text": "a note is found", "done": false },
            { "id": "NOTE-09", "text": null, "done": false },
            { "id": "AUTH-01", "text": "log in", "done": false },
        ]);
        assert_eq!(found["requirement_texts"], expected);
        let dependency = &found["dependencies"][0];
        assert_eq!(dependency["name"], "Base");
        assert_eq!(dependency["context"], ".planning/phases/01-base/01-CONTEXT.md");
        assert_eq!(dependency["summaries"][0]["one_liner"], "Files are written");
        assert_eq!(dependency["summaries"][0]["decisions"][0], "files, not a database: fewer parts");
        assert_eq!(
            found["project"]["constraints"],
            serde_json::json!(["**Tech**: no network - **offline**", "**Speed**: 100 ms"])
        );
        assert_eq!(found["lessons"], serde_json::json!(["Test the old rows first"]));
        assert_eq!(found["maps"], serde_json::json!([".planning/codebase/STACK.md"]));
        let todo = serde_json::json!({ "path": ".planning/todos/pending/a.md", "title": "Old rows" });
        assert_eq!(found["todos"], serde_json::json!([todo]));
    }

    #[test]
    fn long_texts_are_cut_and_say_where_the_rest_is() {
        let rule = |number: usize| format!("- rule {number} {}", "x".repeat(3_000));
        let long = (0..40).map(rule).collect::<Vec<_>>().join("\n");
        let project = format!("# P\n\n## Constraints\n\n{long}");
        let found = answer(&[(".planning/ROADMAP.md", ROADMAP), (".planning/PROJECT.md", &project)]);
        let constraints = found["project"]["constraints"].as_array().unwrap();
        assert_eq!(constraints.len(), MOST + 1);
        assert!(constraints[0].as_str().unwrap().ends_with("(the rest is in PROJECT.md)"), "{}", constraints[0]);
        assert_eq!(constraints[MOST], "... and 25 more in PROJECT.md");
    }

    #[test]
    fn a_project_with_only_a_roadmap_has_no_additions() {
        let found = answer(&[(".planning/ROADMAP.md", "### Phase 2: Notes\n**Goal**: notes\n")]);
        for key in ["requirement_texts", "todos", "dependencies", "project", "lessons", "maps"] {
            assert!(found.get(key).is_none(), "{key}");
        }
    }
}
