//! Projects in memory, described briefly, and their results.

mod edges;
mod forest;
mod invariants;
mod table;

use std::fmt::Write as _;

use super::derive::{Scope, State, derive};
use super::look::{Look, OutsideFacts};
use super::position;
use super::reading::{Extent, snapshot};
use super::snapshot::Snapshot;
use crate::auto::memory::Memory;
use crate::auto::position::{Position, RuleResult};
use crate::auto::preferences::Preferences;
use crate::project::files::MemoryFiles;

/// Returns the path of a document with a short name: `M001/ROADMAP`, `M001/S01/PLAN`, `M001/S01/T01/VERIFY.json`. Other
/// names are below the planning folder.
fn path(name: &str) -> String {
    let parts: Vec<&str> = name.split('/').collect();
    let is_short = |part: &&str, letter: char| part.starts_with(letter) && part.len() > 1;
    let ending = |kind: &str| if kind.contains('.') { kind.to_owned() } else { format!("{kind}.md") };
    match parts.as_slice() {
        [milestone, kind] if is_short(milestone, 'M') => {
            format!(".gsd/milestones/{milestone}/{milestone}-{}", ending(kind))
        }
        [milestone, slice, kind] if is_short(slice, 'S') => {
            format!(".gsd/milestones/{milestone}/slices/{slice}/{slice}-{}", ending(kind))
        }
        [milestone, slice, task, kind] if is_short(task, 'T') => {
            format!(".gsd/milestones/{milestone}/slices/{slice}/tasks/{task}-{}", ending(kind))
        }
        _ => format!(".gsd/{name}"),
    }
}

/// Returns the files of a project.
fn tree(documents: &[(&str, &str)]) -> MemoryFiles {
    let mut files = MemoryFiles::default();
    for (name, text) in documents {
        files.texts.insert(path(name), (*text).to_owned());
    }
    files
}

/// The results for a project.
struct DerivedProject {
    snapshot: Snapshot,
    state: State,
    position: Position,
}

impl DerivedProject {
    fn of(files: &MemoryFiles) -> Self {
        Self::with(files, &Preferences::default(), &Memory::default(), OutsideFacts::default())
    }

    fn with(files: &MemoryFiles, preferences: &Preferences, memory: &Memory, facts: OutsideFacts) -> Self {
        Self::read(files, Extent::Active(&Scope::default()), preferences, memory, facts)
    }

    fn read(
        files: &MemoryFiles,
        extent: Extent<'_>,
        preferences: &Preferences,
        memory: &Memory,
        facts: OutsideFacts,
    ) -> Self {
        let snapshot = snapshot(files, extent);
        let state = derive(&snapshot, &Scope::default(), preferences);
        let look = Look { snapshot: &snapshot, state: &state, preferences, memory, facts };
        let position = position::of(&look, None);
        Self { snapshot, state, position }
    }

    /// Returns the state in a few lines.
    fn shown(&self) -> String {
        let State { phase, milestone, slice, task, blockers, registry, .. } = &self.state;
        let mut text = phase.word().to_owned();
        for named in [milestone, slice, task].into_iter().flatten() {
            let _ = write!(text, " {}", named.id);
        }
        text.push('\n');
        for blocker in blockers {
            let _ = writeln!(text, "! {blocker}");
        }
        for entry in registry {
            let _ = write!(text, "{} {}", entry.id, word_of(&entry.standing));
            if !entry.waits_for.is_empty() {
                let _ = write!(text, " after {}", entry.waits_for.join(", "));
            }
            text.push('\n');
        }
        text
    }

    /// Returns the next step as text.
    fn next(&self) -> String {
        if let Some(stop) = &self.position.blocked {
            return format!("stop {}", word_of(&stop.cause));
        }
        if let Some(step) = &self.position.mechanical {
            return format!("mechanical {}", step.word());
        }
        match &self.position.finding {
            RuleResult::No(why) => format!("no {why}"),
            RuleResult::Dispatch(unit) => unit.to_string(),
            RuleResult::Mechanical(step) => format!("mechanical {}", step.word()),
            RuleResult::Hook => "hook".to_owned(),
            RuleResult::Stop(stop) => format!("stop {}", word_of(&stop.cause)),
        }
    }
}

/// Returns the word that a value is serialized as.
fn word_of(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).unwrap().as_str().unwrap().to_owned()
}
