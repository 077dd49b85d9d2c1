//! The story that the demo prints: one line for each action of the agent or of this program.

use crate::auto::demo::Script;
use crate::auto::event::{CheckedTree, Event, Mechanical};
use crate::auto::memory::Memory;
use crate::auto::story;
use crate::text::screen::{Screen, Tone};

/// The actor of a line, in columns of equal width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    Agent,
    Program,
}

impl Who {
    fn word(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Program => "gsd-tools",
        }
    }

    fn tone(self) -> Tone {
        match self {
            Self::Agent => Tone::Command,
            Self::Program => Tone::Strong,
        }
    }
}

/// The actor and the text of an event.
pub(super) fn story(script: &Script, memory: &Memory, event: &Event) -> Option<(Who, String)> {
    let target = memory.run.as_ref().map_or("the branch", |run| run.target.as_str());
    let ours = |text: String| Some((Who::Program, text));
    match event {
        Event::Started(run) => ours(format!("creates a worktree on the branch `{}`", run.branch)),
        Event::UnitStarted(start) => {
            let session = script.session_of(&start.unit, start.attempt);
            Some((Who::Agent, session.map_or_else(|| start.unit.to_string(), |session| session.told.clone())))
        }
        Event::Refused { text, .. } => ours(format!("refuses it: {}", text.lines().next().unwrap_or_default())),
        Event::Restored { kept: Some(kept), .. } => {
            ours(format!("takes back what it left, and keeps it in `{}`", kept.reference))
        }
        Event::Checked { evidence, .. } if !evidence.checks.is_empty() => {
            ours(format!("runs {}: {}", commands(evidence), verdict(evidence)))
        }
        Event::Mechanical { step, fallback: None } => ours(match step {
            Mechanical::CompleteSlice { slice, .. } => format!("closes slice {slice}"),
            Mechanical::ValidateMilestone { .. } => "validates the milestone against the recorded checks".to_owned(),
            Mechanical::CompleteMilestone { .. } => "writes the summary of the milestone".to_owned(),
            other => other.word().to_owned(),
        }),
        Event::Candidate { .. } => ours(format!("merges the work with `{target}`")),
        Event::CandidateChecked { evidence, .. } => {
            ours(format!("runs the checks again on the merged commit: {}", verdict(evidence)))
        }
        Event::Landed { commit, .. } => ours(format!("lands that commit on `{target}`: {}", short(commit))),
        Event::UnitEnded(_) | Event::Checked { .. } => None,
        other => ours(story::line(other)?.trim().to_owned()),
    }
}

fn commands(evidence: &CheckedTree) -> String {
    let commands: Vec<String> = evidence.checks.iter().map(|check| format!("`{}`", check.command)).collect();
    commands.join(" and ")
}

fn verdict(evidence: &CheckedTree) -> &'static str {
    if evidence.passed { "passed" } else { "failed" }
}

/// The short form of a commit hash.
pub(super) fn short(commit: &str) -> &str {
    commit.get(..7).unwrap_or(commit)
}

/// A line of the story, wrapped to the screen.
pub(super) fn line(screen: Screen, who: Who, text: &str) -> String {
    let first = format!("{:>11}  ", who.word());
    let lines = screen.prose(&first, &" ".repeat(first.len()), text);
    lines.trim_end().replacen(who.word(), &screen.paint(who.tone(), who.word()), 1)
}
