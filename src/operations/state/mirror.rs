//! `state.json`: the state of the project for other programs. It is derived from STATE.md and the roadmap; of an
//! existing file, this program only compares `next`.
//!
//! An existing file keeps keys that are not ours and the bytes of unchanged values; one that does not parse is not
//! changed. Another program of the same project writes it too, with its own spelling of commands: `next` stays as it is
//! if only its wording differs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Facts;
use super::listed::listed_phases;
use super::situation::{self, Surroundings};
use crate::failure::Failure;
use crate::operations::answers::answer::answer;
use crate::operations::facts::listed::{self, PhaseFacts};
use crate::project::files::FileError;
use crate::project::milestone::milestone_headings;
use crate::project::roadmap::Roadmap;
use crate::project::standing::Stage;
use crate::project::view::{Edits, ProjectView};
use crate::text::edit::JsonDialect;
use crate::text::json::{JsonDocument, JsonEdit};

/// The file's content.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct Mirror {
    contract: &'static str,
    flavor: &'static str,
    milestone: Option<String>,
    phases: Vec<MirrorPhase>,
    next: MirroredNext,
    updated_at: String,
}

answer! {
    struct MirrorPhase |phase: PhaseFacts| with listed(phase) {
        number, name,
        status: PhaseStatus = match phase.stage() {
            Stage::Complete => PhaseStatus::Complete,
            Stage::Partial | Stage::Executed => PhaseStatus::InProgress,
            _ => PhaseStatus::Pending,
        },
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum PhaseStatus {
    Complete,
    InProgress,
    Pending,
}

/// The next step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct MirroredNext {
    command: String,
    label: String,
    reason: String,
}

impl MirroredNext {
    /// True if both name the same command, in any host's spelling, and the same phase numbers in the reason.
    fn says_the_same(&self, other: &Self) -> bool {
        let numbers = |next: &Self| -> Vec<String> {
            let words = next.reason.split(|letter: char| !letter.is_ascii_digit() && letter != '.');
            words.map(|word| word.trim_matches('.').to_owned()).filter(|word| !word.is_empty()).collect()
        };
        bare(&self.command) == bare(&other.command) && numbers(self) == numbers(other)
    }
}

/// A command without a host's prefix: `progress --next` for `/gsd-progress --next` and `/gsd:progress --next`.
fn bare(command: &str) -> &str {
    let name = command.trim_start_matches(|letter: char| !letter.is_alphanumeric());
    name.strip_prefix("gsd").and_then(|rest| rest.strip_prefix(['-', ':'])).unwrap_or(name)
}

/// The next step in the text of an existing file.
fn next_of(text: &str) -> Option<MirroredNext> {
    serde_json::from_str::<Value>(text).ok()?.get("next").and_then(|next| MirroredNext::deserialize(next).ok())
}

/// True if the roadmap shows a milestone as shipped, in its headings or else in a list.
fn is_shipped(roadmap: &Roadmap<'_>, version: &str) -> bool {
    let headings = milestone_headings(roadmap);
    let mut own = headings.iter().filter(|heading| heading.version == Some(version)).peekable();
    if own.peek().is_some() {
        return own.all(|heading| heading.closed);
    }
    let markdown = roadmap.markdown();
    let prose = (0..markdown.lines().len()).filter(|line| markdown.is_prose(*line));
    let mut names = prose.map(|line| markdown.line(line)).filter_map(|line| {
        let behind = line.split_once('✅')?.1;
        behind.trim_start().trim_start_matches("**").strip_prefix(version)
    });
    names.any(|rest| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '.'))
}

/// Adds the mirror to `edits`, for the project as they leave it.
pub(crate) fn refresh(edits: &mut Edits, view: &ProjectView, facts: &Facts) -> Result<(), Failure> {
    let after = view.after(edits);
    let mirror = mirror(&after, facts)?;
    let Ok(Value::Object(wanted)) = serde_json::to_value(&mirror) else { return Ok(()) };
    let path = view.layout().state_mirror();
    let standing = view.text(&path)?;
    let keeps_next = match standing.as_deref().and_then(next_of) {
        Some(next) => {
            // If the current state cannot be read, the step counts as changed.
            let is_as_before = || self::mirror(view, facts).is_ok_and(|before| before.next == mirror.next);
            next.says_the_same(&mirror.next) && is_as_before()
        }
        None => false,
    };
    let text = match standing.as_deref() {
        None => serde_json::to_string_pretty(&wanted).ok().map(|text| text + "\n"),
        Some(standing) => JsonDocument::parse(standing, JsonDialect::Strict).ok().and_then(|mut document| {
            for (key, value) in wanted.into_iter().filter(|(key, _)| key != "next" || !keeps_next) {
                document.apply(&JsonEdit::Set { path: vec![key], value }).ok()?;
            }
            Some(document.to_string())
        }),
    };
    if let Some(text) = text {
        edits.write(view, &path, text)?;
    }
    Ok(())
}

/// Like [`refresh`], for edits of documents that do not affect the position: nothing is written if only the time would
/// change.
pub(crate) fn follow(edits: &mut Edits, view: &ProjectView, facts: &Facts) -> Result<(), Failure> {
    let path = view.layout().state_mirror();
    let mut followed = edits.clone();
    refresh(&mut followed, view, facts)?;
    let said = |text: &str| {
        let mut said: Value = serde_json::from_str(text).ok()?;
        said.as_object_mut()?.remove("updated_at");
        Some(said)
    };
    let before = view.text(&path)?.as_deref().and_then(said);
    if before.is_some() && before != followed.texts.get(&path).map(String::as_str).and_then(said) {
        *edits = followed;
    }
    Ok(())
}

fn mirror(view: &ProjectView, facts: &Facts) -> Result<Mirror, FileError> {
    let milestone = view.milestone()?;
    let name = milestone.name.as_deref();
    let roadmap = view.roadmap()?;
    let is_shipped = |version: &str| roadmap.is_some_and(|roadmap| is_shipped(roadmap, version));
    let label = milestone.version.as_deref().map(|version| match name.filter(|_| !is_shipped(version)) {
        Some(name) => format!("{version} — {name}"),
        None => version.to_owned(),
    });
    let entry = situation::smart_entry(view, &Surroundings::just_written(), facts)?;
    let next = entry.recommended_action();
    Ok(Mirror {
        contract: "1.0.0",
        flavor: "core",
        milestone: label,
        phases: listed_phases(view)?.iter().map(MirrorPhase::of).collect(),
        next: MirroredNext {
            command: next.command.clone(),
            label: next.label.clone(),
            reason: entry.reason().to_owned(),
        },
        updated_at: facts.now.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::state::Commands;

    const STATE: &str =
        "# S\n\n## Current Position\n\nPhase: 1 of 1 (A) — EXECUTING\nPlan: 1 of 1\nStatus: In progress\n";
    const ROADMAP: &str = "- [ ] **Phase 1: A** - a\n\n### Phase 1: A\n";

    fn facts() -> Facts {
        let commands = Commands { prefix: "/gsd-".into(), installed: Vec::new(), skip_discussion: false };
        Facts { now: "2026-01-15T18:00:00.000Z".into(), commands, ..Facts::default() }
    }

    /// The next step in the file after `edits`, if it was `standing` before.
    fn refreshed(state: &str, standing: &MirroredNext, edits: impl FnOnce(&ProjectView) -> Edits) -> MirroredNext {
        let mirror = serde_json::json!({"contract": "1.0.0", "next": standing}).to_string();
        let plan = ".planning/phases/01-a/01-01-PLAN.md";
        let files = [(".planning/STATE.md", state), (".planning/ROADMAP.md", ROADMAP), (plan, "")];
        let view = ProjectView::of(files.into_iter().chain([(".planning/state.json", mirror.as_str())]));
        let mut edits = edits(&view);
        refresh(&mut edits, &view, &facts()).unwrap();
        next_of(&edits.texts[".planning/state.json"]).unwrap()
    }

    #[test]
    fn the_next_step_keeps_the_words_of_another_program_until_it_changes() {
        let plan = (".planning/phases/01-a/01-01-PLAN.md", "");
        let with_plan = ProjectView::of([(".planning/STATE.md", STATE), (".planning/ROADMAP.md", ROADMAP), plan]);
        let own = mirror(&with_plan, &facts()).unwrap().next;
        let theirs = MirroredNext {
            command: own.command.replace("/gsd-", "/gsd:"),
            label: own.label.clone() + "!",
            ..own.clone()
        };
        assert_ne!(theirs.command, own.command, "the command has a prefix: {own:?}");
        assert_eq!(refreshed(STATE, &theirs, |_| Edits::default()), theirs);
        let otherwise = [
            MirroredNext { command: "/gsd:resume-work".into(), ..theirs.clone() },
            MirroredNext { reason: format!("{} of phase 7", own.reason), ..theirs.clone() },
        ];
        for other in otherwise {
            assert_eq!(refreshed(STATE, &other, |_| Edits::default()), own, "{other:?}");
        }
    }

    #[test]
    fn commands_are_compared_without_the_spelling_of_a_host() {
        for command in ["/gsd-progress --next", "/gsd:progress --next", "$gsd-progress --next", "gsd-progress --next"] {
            assert_eq!(bare(command), "progress --next");
        }
    }

    #[test]
    fn a_shipped_milestone_is_written_without_its_name() {
        for (roadmap, shipped) in [
            ("- ✅ **v1.0 MVP** - Phases 1-2\n- 🚧 **v1.1 Sync** - Phases 3-4\n\n### 🚧 v1.1 Sync\n", true),
            ("## ✅ v1.0 A\n\n### Phase 1: X\n", true),
            ("## v1.0 A (shipped)\n\n### Phase 1: X\n", true),
            ("## v1.0 A\n\n### Phase 1: X\n", false),
            ("- ✅ **v1.0.1 Fix**\n- 🚧 **v1.0 A**\n", false),
        ] {
            assert_eq!(is_shipped(&Roadmap::parse(roadmap), "v1.0"), shipped, "{roadmap}");
        }
    }
}
