//! Properties of every text that a person or a program may have left in a file: the entry points of the fuzzers.
//!
//! Each takes arbitrary bytes and panics if a property is violated. `fuzz/` drives them; the tests below do so briefly.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a broken promise is a finding")]
#![cfg_attr(test, allow(unreachable_pub, reason = "public for the fuzzers alone"))]

use crate::failure::Failure;
use crate::operations::documents::configuration;
use crate::operations::plans::index;
use crate::operations::plans::structure;
use crate::operations::roadmap::analyze;
use crate::operations::state::{Facts, advance, notes, position, update};
use crate::project::config::{self, Config, ConfigTexts, Setting};
use crate::project::files::MemoryFiles;
use crate::project::layout::Layout;
use crate::project::plan::PhasePlan;
use crate::project::roadmap::Roadmap;
use crate::project::state::State;
use crate::project::view::{Edits, ProjectView};
use crate::text::front_matter::{FrontMatter, Value};
use crate::text::markdown::Markdown;
use crate::text::splice::Splices;
use crate::text::table::Table;

/// The lines of a document cover all of it after a byte order mark; sections lie inside it.
pub fn markdown(bytes: &[u8]) {
    let text = &String::from_utf8_lossy(bytes);
    let document = Markdown::parse(text);
    let whole = document.span(0..document.lines().len());
    assert_eq!(&text[whole], text.strip_prefix('\u{feff}').unwrap_or(text));
    for heading in document.headings() {
        let section = document.section(&heading);
        assert!(section.start > heading.line && section.end <= document.lines().len());
        let _ = &text[document.span(section)];
    }
}

/// A value that is set is read back, and the body keeps its bytes.
pub fn front_matter(bytes: &[u8]) {
    let text = &String::from_utf8_lossy(bytes);
    let Some(front) = FrontMatter::parse(text) else { return };
    let keys: Vec<String> = front.keys().map(str::to_owned).collect();
    for (key, _) in front.entries() {
        let _ = front.text(&key);
    }
    for key in keys.iter().map(String::as_str).chain(["status"]).take(4) {
        let value = Value::from("a: \"b\" # c");
        let mut splices = Splices::default();
        if front.set_path(&[key], &value, &mut splices).is_err() || front.problem().is_some() {
            continue;
        }
        let edited = splices.apply(text);
        let again = FrontMatter::parse(&edited).unwrap();
        assert_eq!(again.get(key), Some(value), "{key} in {edited:?}");
        assert_eq!(again.body(), front.body());
    }
}

/// A cell that is set is read back, and the other cells stay.
pub fn table(bytes: &[u8]) {
    let text = &String::from_utf8_lossy(bytes);
    let document = Markdown::parse(text);
    for table in Table::all(&document) {
        for (row, column) in [(0, 0), (1, 1)] {
            if row >= table.row_count() || column >= table.columns().len() {
                continue;
            }
            let mut splices = Splices::default();
            table.set_cell(row, column, "a | b", &mut splices);
            let edited = splices.apply(text);
            let again = Markdown::parse(&edited);
            let tables = Table::all(&again);
            let same = tables.iter().find(|other| other.lines() == table.lines()).unwrap();
            assert_eq!(same.cell_text(row, column), "a | b");
            assert_eq!(same.row_count(), table.row_count());
        }
    }
}

/// Readers of a roadmap return answers; writers change only the roadmap.
pub fn roadmap(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let parsed = Roadmap::parse_for(&text, None);
    for section in parsed.sections() {
        let _ = (parsed.section_text(section), parsed.success_criteria(section), parsed.field(section, "Goal"));
    }
    let view = project(&[(".planning/ROADMAP.md", &text)]);
    let _ = (analyze::analyze(&view).unwrap(), analyze::milestone_scope(&view).unwrap());
    for phase in ["1", "2.1", "12A", "PROJ-42", "999"] {
        let _ = analyze::get_phase(&view, phase).unwrap();
        if let Some((_, edits)) = analyze::update_plan_progress(&view, phase, "2026-01-02").unwrap() {
            only(&edits, &[".planning/ROADMAP.md"]);
        }
    }
}

/// Every write to a state produces a document whose index agrees with it, or is refused.
pub fn state(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let parsed = State::parse(&text);
    assert_eq!(parsed.text(), text);
    let view = project(&[(".planning/STATE.md", &text), (".planning/ROADMAP.md", ROADMAP)]);
    let facts = facts();
    let request = position::PhaseRequest { phase: "1", name: Some("Base"), plans: Some(2) };
    written(update::update(&view, "Status", "Busy", &facts).map(|(_, edits)| edits));
    written(position::begin(&view, request, &facts).map(edits_of));
    written(advance::advance(&view, &facts).map(edits_of));
    written(notes::add_decision(&view, None, Some("Plain"), None, &facts).map(edits_of));
    written(notes::add_blocker(&view, Some("None yet"), &facts).map(edits_of));
    written(notes::resolve_blocker(&view, Some("e"), &facts).map(edits_of));
}

/// A plan returns its content; checks of it return findings.
pub fn plan(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let parsed = PhasePlan::parse(&text);
    let _ = (parsed.fields(), parsed.wave(), parsed.depends_on(), parsed.objective(), parsed.task_count());
    for task in parsed.tasks() {
        let _ = (task.name(), task.checkpoint(), task.has("verify"));
    }
    let _ =
        (structure::structure("a.md", &text, None, &MemoryFiles::default()), structure::references(&text, |_| false));
    let view = project(&[(".planning/phases/01-base/01-01-PLAN.md", &text), (".planning/ROADMAP.md", ROADMAP)]);
    let _ = index::plan_index(&view, "1");
}

/// A setting is read back from the file it was written to, and a file that does not parse is not written.
pub fn configuration(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let _ = Config::read(ConfigTexts { project: Some(&text), ..ConfigTexts::default() });
    let _ = config::without_secrets(&text);
    let view = project(&[(".planning/config.json", &text)]);
    let setting = Setting::parse("workflow.research", "false").unwrap();
    let Ok((_, edits)) = configuration::set(&view, &setting) else { return };
    only(&edits, &[".planning/config.json"]);
    let after = edits.texts.get(".planning/config.json").unwrap_or(&text);
    let read = config::parse(after).unwrap_or_else(|error| panic!("{error}: {after:?}"));
    assert_eq!(config::at(&read, "workflow.research"), Some(&serde_json::Value::Bool(false)));
}

/// A hook accepts whatever a host sends.
pub fn hook_payload(bytes: &[u8]) {
    let Some(payload) = crate::hooks::Payload::parse(&String::from_utf8_lossy(bytes)) else { return };
    let _ = (payload.session(), payload.folder(), payload.event_name(), payload.model(), payload.context_use(0));
    let _ = (payload.writes(), payload.tool(), payload.command(), payload.paths(), payload.agent(), payload.response());
}

/// A command line is read to its end, by every guard too.
pub fn command_line(bytes: &[u8]) {
    let text = &String::from_utf8_lossy(bytes);
    for run in crate::text::shell::runs(text) {
        let _ = (run.output(), run.arguments.iter().map(|word| word.names().count()).sum::<usize>());
    }
    crate::hooks::guards_read(text);
}

const ROADMAP: &str =
    "# Roadmap\n\n- [ ] **Phase 1: Base** - b\n\n### Phase 1: Base\n**Goal**: stand\n**Plans**: 2 plans\n";

fn project(files: &[(&str, &str)]) -> ProjectView {
    let folders =
        [(".planning/phases/01-base/.gitkeep", ""), (".planning/phases/02.1-fix/02.1-01-PLAN.md", "---\n---\n")];
    let files = MemoryFiles::new(folders.into_iter().chain(files.iter().copied()));
    ProjectView::new(Layout::new("/project", None, None), Box::new(files))
}

fn facts() -> Facts {
    Facts {
        now: "2026-01-15T18:00:00.000Z".into(),
        milliseconds: 1_768_500_000_000,
        today: "2026-01-15".into(),
        head: None,
        session: None,
        process: 1,
        ..Facts::default()
    }
}

/// Returns no edits without a STATE.md.
fn edits_of<R>(done: Option<(R, Edits)>) -> Edits {
    done.map(|(_, edits)| edits).unwrap_or_default()
}

/// A refusal is an answer; a written document can be parsed.
fn written(result: Result<Edits, Failure>) {
    let Ok(edits) = result else { return };
    only(&edits, &[".planning/STATE.md", ".planning/state.json", ".planning/milestone.lock"]);
    if let Some(after) = edits.texts.get(".planning/STATE.md") {
        let state = State::parse(after);
        assert!(state.problem().is_none(), "{after:?}");
    }
}

fn only(edits: &Edits, paths: &[&str]) {
    assert!(edits.texts.keys().all(|path| paths.contains(&path.as_str())), "{:?}", edits.texts.keys());
    assert!(edits.removals.is_empty() && edits.folders.is_empty());
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Pieces of documents, including some that break them.
    fn document() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            Just("---\n"),
            Just("\r\n"),
            Just("\n"),
            Just("```\n"),
            Just("# T\n"),
            Just("## Current Position\n"),
            Just("### Phase 1: Base\n"),
            Just("### Phase 2.1: Fix (INSERTED)\n"),
            Just("**Goal**: x\n"),
            Just("**Plans**: 2 plans\n"),
            Just("- [ ] **Phase 1: Base** - b\n"),
            Just("- [x] 01-01-PLAN.md — a\n"),
            Just("| Phase | Plans Complete | Status | Completed |\n|---|---|---|---|\n"),
            Just("| 1. Base | 0/2 | x | - |\n"),
            Just("status: x\n"),
            Just("Status: Busy\n"),
            Just("Phase: 1 of 2 (Base)\n"),
            Just("Plan: 1 of 2\n"),
            Just("Progress: [██░░] 20%\n"),
            Just("### Decisions\n"),
            Just("### Blockers/Concerns\n"),
            Just("- None yet\n"),
            Just("<details>\n"),
            Just("</details>\n"),
            Just("<task type=\"auto\">\n"),
            Just("<name>n</name></task>\n"),
            Just("must_haves:\n  truths:\n    - \"x\"\n"),
            Just("\u{feff}"),
            Just("{\"workflow\":{\"research\":true}}"),
            Just("{\"tool_input\":{\"file_path\":\"a\",\"content\":\"b\"}}"),
            Just("cat <<E > .planning/STATE.md\n"),
            Just("git commit -m \"$(cat .env)\" | sh -c '"),
            Just("{"),
            Just("\t"),
            Just("İ"),
            Just("|"),
        ];
        let odd = "\\PC{0,6}".prop_map(|text| text);
        prop::collection::vec(prop_oneof![8 => piece.prop_map(str::to_owned), 1 => odd], 0..24)
            .prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn every_promise_holds_for_any_document(text in document()) {
            for promise in [markdown, front_matter, table, roadmap, state, plan, configuration, hook_payload, command_line] {
                promise(text.as_bytes());
            }
        }

        #[test]
        fn every_promise_holds_for_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            for promise in [markdown, front_matter, table, roadmap, state, plan, configuration, hook_payload, command_line] {
                promise(&bytes);
            }
        }
    }
}
