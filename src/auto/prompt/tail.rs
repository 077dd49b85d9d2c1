//! The part of a prompt that differs from unit to unit.

use std::fmt::Write as _;

use super::budget::{Budget, LARGE_DOCUMENT, task_ceiling};
use super::citation::citation;
use super::fence::{fenced, name_of, plain};
use super::input::{Document, PromptInput, UnitFolders};
use super::sections::titles_of;
use super::selection::Selection;
use super::shape::{Shape, UnitClass, UnitFolder, WrittenFile};
use crate::auto::permit::Permit;
use crate::auto::slices::artifact::PARALLEL_RESEARCH;
use crate::auto::unit::UnitKind;
use crate::text::shell::typed;

/// How many files are listed as to be read first.
const CRITICAL: usize = 3;

/// How many titles of a large document are listed, and how many letters of each.
const TITLES: usize = 8;
const TITLE_LETTERS: usize = 48;

/// A file that a unit writes, with its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TargetFile {
    pub(super) name: &'static str,
    /// Ids that only the agent knows are written `##`.
    pub(super) permit: Permit,
    pub(super) is_expected: bool,
}

/// Returns the files that a unit writes; `None` if one has no place.
pub(super) fn targets(input: &PromptInput, shape: &Shape) -> Option<Vec<TargetFile>> {
    let mut targets = Vec::new();
    for written in shape.writes {
        let is_of_first = matches!(written.scope, UnitFolder::FirstSlice | UnitFolder::FirstTasks);
        if is_of_first && !input.plans_first_slice {
            continue;
        }
        let existing = written.existing.map(|kind| input.first(kind));
        // A file that may only be edited has to exist.
        if existing == Some(None) && !written.is_expected {
            continue;
        }
        let path = match existing {
            Some(Some(document)) => Some(document.path.clone()),
            _ => path_of(input, written),
        };
        match path {
            Some(path) => {
                let permit = Permit::new(path, written.rule);
                targets.push(TargetFile { name: written.name, permit, is_expected: written.is_expected });
            }
            None if written.is_expected => return None,
            None => {}
        }
    }
    Some(targets)
}

fn path_of(input: &PromptInput, written: &WrittenFile) -> Option<String> {
    let mut ids = input.id.split('/');
    let (id_of_milestone, id_of_slice, id_of_task) = (ids.next(), ids.next(), ids.next());
    let suffix = written.suffix;
    let (root, milestone, slice) = match &input.place {
        UnitFolders::Milestone { root, milestone, slice } => (root, milestone, slice.as_ref()),
        UnitFolders::Phase { folder, number, .. } => {
            return (written.scope == UnitFolder::Phase).then(|| format!("{folder}/{number}-{suffix}"));
        }
    };
    Some(match written.scope {
        UnitFolder::Root => format!("{root}/{suffix}"),
        UnitFolder::Milestone => format!("{milestone}/{}-{suffix}", id_of_milestone?),
        UnitFolder::LaterMilestones => format!("{root}/milestones/M###/M###-{suffix}"),
        UnitFolder::FirstSlice => format!("{milestone}/slices/S01/S01-{suffix}"),
        UnitFolder::FirstTasks => format!("{milestone}/slices/S01/tasks/T##-{suffix}"),
        UnitFolder::Slice if id_of_slice? == PARALLEL_RESEARCH => format!("{milestone}/slices/S##/S##-{suffix}"),
        UnitFolder::Slice => format!("{}/{}-{suffix}", slice?, id_of_slice?),
        UnitFolder::Task => format!("{}/tasks/{}-{suffix}", slice?, id_of_task?),
        UnitFolder::Tasks => format!("{}/tasks/T##-{suffix}", slice?),
        UnitFolder::Phase => return None,
    })
}

/// Returns the end of the prompt, up to its last line.
pub(super) fn tail(input: &PromptInput, shape: &Shape, targets: &[TargetFile], selection: &Selection<'_>) -> String {
    let mut out = String::from("\n# Unit\n\n");
    facts(&mut out, input, shape);
    list(
        &mut out,
        "Write:",
        targets.iter().map(|target| format!("- {}: `{}`", target.name, plain(&target.permit.path))),
    );
    let (critical, others) = selection.must_read.split_at(selection.must_read.len().min(CRITICAL));
    let numbered = critical.iter().enumerate();
    list(
        &mut out,
        "Mandatory, to read first, whole, in this order:",
        numbered.map(|(index, document)| format!("{}. {}", index + 1, reference(document, &input.id))),
    );
    let line = |document: &&Document| format!("- {}", reference(document, &input.id));
    list(&mut out, "Read as well, before you write:", others.iter().map(line));
    list(&mut out, "Read only if needed:", selection.offered.iter().map(line));
    for inlined in &selection.inlined {
        fenced(&mut out, &name_of(inlined.document), &inlined.text);
    }
    if let Some(failure) = &input.failure {
        let heading = "The last attempt at this unit did not count. Correct this first; keep what is right:";
        fenced(&mut out, heading, last_of(failure, Budget::of(input.level, input.window, 0).verification));
    }
    if let Some(kept) = &input.kept {
        let kept = plain(kept);
        let _ = writeln!(
            out,
            "\nWhat it left was taken back. You may read it: `{}` shows it, `{}` prints a file. To start \
             from it: `{}`",
            typed!("git diff HEAD {}", kept),
            typed!("git show {}:PATH", kept),
            typed!("git diff --binary HEAD {} | git apply", kept)
        );
    }
    if let Some(crash) = &input.crash {
        let heading = "An earlier session of this unit was interrupted. Check what it left and continue from there:";
        fenced(&mut out, heading, crash);
    }
    let _ = writeln!(out, "\ngsd-unit: {} {}", input.kind.word(), plain(&input.id));
    out
}

fn facts(out: &mut String, input: &PromptInput, shape: &Shape) {
    let mut fact = |name: &str, value: &str| {
        let _ = writeln!(out, "{}: {}", plain(name), plain(value));
    };
    fact("Unit", &format!("{} {}", input.kind.word(), input.id));
    fact("Title", &input.title);
    fact("Working directory", &input.folder);
    if let UnitFolders::Phase { arguments, .. } = &input.place {
        fact("Arguments", &format!("`{arguments}`"));
    }
    if shape.class == UnitClass::Planning {
        fact("Task ceiling of a slice", &task_ceiling(input.window).to_string());
    }
    if input.kind == UnitKind::PlanMilestone {
        let first = if input.plans_first_slice { "plan it now" } else { "do not plan it; write the roadmap only" };
        fact("First slice", first);
    }
    if let Some(row) = &input.row {
        let name = if shape.class == UnitClass::Planning { "Second line of the slice plan" } else { "Roadmap row" };
        fact(name, &citation(row));
        if let Some(demo) = &row.after {
            fact("After this slice", demo);
        }
    }
    for (name, value) in &input.notes {
        fact(name, value);
    }
}

fn list(out: &mut String, heading: &str, lines: impl Iterator<Item = String>) {
    let mut lines = lines.peekable();
    if lines.peek().is_none() {
        return;
    }
    let _ = writeln!(out, "\n{heading}");
    for line in lines {
        let _ = writeln!(out, "{line}");
    }
}

/// Returns a document's path, and how to read it if it is large.
fn reference(document: &Document, unit: &str) -> String {
    let mut line = format!("`{}` ({})", plain(&document.path), document.kind.word());
    let characters = document.text.chars().count();
    if characters <= LARGE_DOCUMENT {
        return line;
    }
    if !is_markdown(&document.path) {
        let _ = write!(line, ": {characters} characters, so search it and read the parts you need");
        return line;
    }
    let short = |title: &str| plain(title).chars().take(TITLE_LETTERS).collect::<String>();
    let titles: Vec<String> = titles_of(&document.text).into_iter().take(TITLES).map(short).collect();
    let unit = plain(unit);
    let _ = write!(
        line,
        ": {characters} characters, so read it by sections: `{}`",
        typed!("gsd-tools auto context {} --section '{{heading}}'", unit)
    );
    if !titles.is_empty() {
        let _ = write!(line, "; headings: {}", titles.join("; "));
    }
    line
}

fn is_markdown(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, ending)| ending.eq_ignore_ascii_case("md"))
}

/// Returns the end of a text, where errors are, in at most `limit` bytes, starting at the start of a line if possible.
fn last_of(text: &str, limit: usize) -> &str {
    let Some(over) = text.len().checked_sub(limit).filter(|over| *over > 0) else { return text };
    let line = text.match_indices('\n').map(|(at, _)| at + 1).find(|start| *start >= over && *start < text.len());
    let letter = || text.char_indices().map(|(at, _)| at).find(|at| *at >= over);
    line.or_else(letter).and_then(|start| text.get(start..)).unwrap_or_default()
}
