//! Which features a host supports, and how: by itself, by one of our workarounds, or not at all.
//!
//! Derived only from the facts of its descriptor. A missing feature has its reason in a `[[lacks]]` row.

use schemars::JsonSchema;
use serde::Serialize;

use super::agents::Isolation;
use super::descriptor::{Descriptor, IncludeForm, LocalHome};
use super::files::Purpose;
use super::tables::EventName;
use super::terms::{Feature, Lack, PlaceItem, Scope};
use crate::library::Event;

/// How a host supports a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Means {
    /// The host has it.
    Native,
    /// We achieve the same by other means.
    Emulated,
    /// Not supported.
    Absent,
}

impl Means {
    /// As shown to people.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Native => "supported",
            Self::Emulated => "emulated",
            Self::Absent => "not supported",
        }
    }
}

/// One cell of the matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Support {
    pub(crate) means: Means,
    /// How it is supported, or why not.
    pub(crate) note: String,
}

/// What is added to the note about an event of the host at which none of our hooks can do its work.
pub(crate) const UNREGISTERED: &str = "; not registered, because our hook there needs a status line";

impl Descriptor {
    /// How this host supports `feature`.
    pub(crate) fn support(&self, feature: Feature) -> Support {
        let mut support = self.told_by_facts(feature);
        if support.means != Means::Native
            && let Some(lack) = self.lack(feature)
        {
            support.note.clone_from(&lack.why);
        }
        support
    }

    /// The row with the reason why the host lacks `feature`.
    fn lack(&self, feature: Feature) -> Option<&Lack> {
        let of = |what: Feature| self.lacks.iter().find(|lack| lack.what == what);
        of(feature).or_else(|| of(Feature::Hooks).filter(|_| feature.is_event()))
    }

    fn told_by_facts(&self, feature: Feature) -> Support {
        match feature {
            Feature::Commands => native(format!("typed as `{}`", self.mention.command.replace("{name}", "<name>"))),
            Feature::Routers => {
                let mention = self.mention.router.as_ref().unwrap_or(&self.mention.command);
                native(format!("typed as `{}`, and listed to the model", mention.replace("{name}", "<name>")))
            }
            Feature::Agents => self.agents(),
            Feature::TypedOnly => self.typed_only(),
            Feature::Include => match self.include {
                IncludeForm::At => native("the host sends the file that `@path` names"),
                IncludeForm::Read => emulated("the model is asked to read the file"),
                IncludeForm::Inline => emulated("the text is part of the command"),
            },
            Feature::SessionStart => self.event(Event::SessionStart),
            Feature::Hooks | Feature::BeforeTool => self.event(Event::BeforeTool),
            Feature::AfterTool => self.event(Event::AfterTool),
            Feature::BeforeCompact => self.before_compact(),
            Feature::StatusLine => match &self.status_line {
                Some(line) => native(format!("`{}` in its {} file", line.path.join("."), line.file)),
                None => absent("no program of ours is known to write in it"),
            },
            Feature::Permissions => {
                let listed = self.edits.iter().any(|edit| edit.purpose == Purpose::Permissions);
                let filed = self.own_files.iter().any(|file| file.purpose == Purpose::Permissions);
                if listed || filed {
                    native("our program runs and our files are read without asking")
                } else {
                    absent("no list of what may run without asking is known; the host asks")
                }
            }
            Feature::Local => match &self.home.local {
                LocalHome::Folder(folder) => native(format!("in `{folder}` of the project")),
                LocalHome::None { none } => absent(none.as_str()),
            },
            Feature::Worktrees => self.worktrees(),
        }
    }

    fn agents(&self) -> Support {
        match self.place(PlaceItem::Agent, Scope::Global) {
            None => absent("no place for agents is known"),
            Some(_) if self.spawn.role.is_some() => {
                emulated("an agent is started without a name and asked to read its role first")
            }
            Some(_) => native(format!("started with `{}`", self.spawn.call)),
        }
    }

    fn typed_only(&self) -> Support {
        let place = |item| self.place(item, Scope::Global).map(|place| &place.path);
        match (&self.typed_only.sidecar, &self.typed_only.key) {
            (Some(sidecar), _) => native(format!("`{}` next to the command", sidecar.path)),
            (None, Some(key)) => native(format!("`{key}: true` in its front matter")),
            (None, None) if self.typed_only.lines.is_some() => native("a condition in its front matter"),
            (None, None) if place(PlaceItem::Command) != place(PlaceItem::Router) => {
                native("the host does not list files of this kind to the model")
            }
            (None, None) => absent("every command adds a line to the list that the model gets"),
        }
    }

    fn event(&self, event: Event) -> Support {
        let Some(hooks) = &self.hooks else { return absent("the host is not known to run programs at its events") };
        match hooks.events.get(&event) {
            Some(EventName::Whole(name)) => native(format!("its event `{name}`")),
            Some(EventName::ByTool(names)) => {
                let names: Vec<String> = names.iter().map(|of_tools| format!("`{}`", of_tools.name)).collect();
                native(format!("its events {}", names.join(", ")))
            }
            None => absent("no such event of the host is used"),
        }
    }

    /// What we do at this event is about the numbers of a status line, so without them nothing is registered.
    fn before_compact(&self) -> Support {
        let mut support = self.event(Event::BeforeCompact);
        let has_numbers = self.status_line.is_some() || self.hooks.as_ref().is_some_and(|hooks| hooks.tells_context);
        if support.means == Means::Native && !has_numbers {
            support.note += UNREGISTERED;
        }
        support
    }

    fn worktrees(&self) -> Support {
        match self.dispatch.as_ref().and_then(|dispatch| dispatch.isolation) {
            Some(Isolation::HarnessWorktree) => native("the host makes one when it starts the agent"),
            Some(Isolation::OrchestratorWorktree) => {
                emulated("gsd-tools makes one before the agent starts and points it there")
            }
            Some(Isolation::None) => absent("agents work in the folder of their caller"),
            None => absent("not documented for agents"),
        }
    }
}

fn native(note: impl Into<String>) -> Support {
    Support { means: Means::Native, note: note.into() }
}

fn emulated(note: impl Into<String>) -> Support {
    Support { means: Means::Emulated, note: note.into() }
}

fn absent(note: impl Into<String>) -> Support {
    Support { means: Means::Absent, note: note.into() }
}

#[cfg(test)]
mod tests {
    use super::super::made_up;
    use super::*;

    fn told(facts: &str, feature: Feature) -> (Means, String) {
        let support = made_up(facts).support(feature);
        (support.means, support.note)
    }

    #[test]
    fn features_of_a_host_follow_from_its_facts() {
        assert_eq!(told("", Feature::Commands), (Means::Native, "typed as `/gsd-<name>`".into()));
        assert_eq!(told("", Feature::Include).0, Means::Native);
        assert_eq!(told("include = \"read\"", Feature::Include).0, Means::Emulated);
        assert_eq!(told("[typed-only]\nkey = \"quiet\"", Feature::TypedOnly).1, "`quiet: true` in its front matter");
        assert_eq!(told("", Feature::TypedOnly).0, Means::Absent);
        assert_eq!(told("", Feature::Agents).0, Means::Native);
        let role = "[spawn]\ncall = \"Task\"\nprompt = \"prompt\"\nrole = \"Read {file}.\"";
        assert_eq!(told(role, Feature::Agents).0, Means::Emulated);
        let hooks = "[hooks]\ndialect = \"standard\"\ntimeout = \"seconds\"\nform = { nested = { file = \"s\" } }\n\
                     events = { before-tool = \"Before\" }";
        assert_eq!(told(hooks, Feature::BeforeTool), (Means::Native, "its event `Before`".into()));
        assert_eq!(told(hooks, Feature::AfterTool).0, Means::Absent);
    }

    #[test]
    fn a_row_gives_the_reason_for_a_missing_feature() {
        let lacks = "[[lacks]]\nwhat = \"hooks\"\nwhy = \"none\"\n[[lacks]]\nwhat = \"after-tool\"\nwhy = \"never\"\n\
                     [[lacks]]\nwhat = \"commands\"\nwhy = \"not looked at\"";
        assert_eq!(told(lacks, Feature::BeforeTool), (Means::Absent, "none".into()));
        assert_eq!(told(lacks, Feature::AfterTool), (Means::Absent, "never".into()));
        assert_eq!(told(lacks, Feature::Commands).0, Means::Native);
        assert_ne!(told(lacks, Feature::StatusLine).1, "none");
    }
}
