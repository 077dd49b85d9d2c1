//! Messages about runs, as `PREFERENCES.md` sets them up in its group `messages`: through which channels, and about
//! what.

use serde::Serialize;

use super::preference_table::{flag, list};
use super::preferences::{PreferenceDocument, PreferenceProblem, PreferenceSource};
use crate::text::front_matter::Value;
use crate::text::untrusted::line;
use crate::text::words::{of_word, words};

words! {
    /// What a message is about.
    #[derive(Hash, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
    pub(crate) enum MessageTopic {
        /// The run stopped, and cannot continue without a person.
        NeedsYou = "needs-you",
        Landed = "landed",
        /// The run stopped as it was asked to, at a ceiling or at an error.
        Stopped = "stopped",
        /// Four fifths of a ceiling are used.
        Ceiling = "ceiling",
        /// The run waits, for a quota for example.
        Waiting = "waiting",
        /// The run continues after a wait.
        Resumed = "resumed",
    }
}

impl MessageTopic {
    pub(crate) const ALL: [Self; 6] =
        [Self::NeedsYou, Self::Landed, Self::Stopped, Self::Ceiling, Self::Waiting, Self::Resumed];
}

words! {
    /// How a message reaches a person.
    #[derive(Hash, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
    pub(crate) enum MessageChannel {
        Command = "command",
        Desktop = "desktop",
        Bell = "bell",
        /// A notification by the terminal, which it is asked for by OSC 9 and OSC 777.
        Terminal = "terminal",
        Webhook = "webhook",
        Ntfy = "ntfy",
    }
}

impl MessageChannel {
    pub(crate) fn needs_a_terminal(self) -> bool {
        matches!(self, Self::Bell | Self::Terminal)
    }
}

/// A command that is given each message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MessageCommand {
    pub(crate) source: PreferenceSource,
    /// Counts from one.
    pub(crate) line: usize,
    pub(crate) text: String,
}

/// An address that messages are sent to; only the user's own preferences can name one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MessageAddress {
    /// Counts from one.
    pub(crate) line: usize,
    pub(crate) url: String,
}

/// Which messages a person wants, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MessageSettings {
    pub(crate) command: Option<MessageCommand>,
    pub(crate) desktop: bool,
    pub(crate) bell: bool,
    pub(crate) terminal: bool,
    pub(crate) webhook: Option<MessageAddress>,
    pub(crate) ntfy: Option<MessageAddress>,
    /// The topics that are wanted; `None` for all.
    pub(crate) topics: Option<Vec<MessageTopic>>,
    pub(crate) problems: Vec<PreferenceProblem>,
}

impl MessageSettings {
    /// Reads the settings of the project and those of the user, whose keys take precedence: no repository silences what
    /// the user wants to hear. A project names no address.
    pub(crate) fn read(project: Option<&str>, global: Option<&str>) -> Self {
        let both = PreferenceSource::in_order(ON).into_iter().filter_map(|source| {
            let text = if source == PreferenceSource::Global { global } else { project };
            PreferenceDocument::new(source, text?)
        });
        let both: Vec<PreferenceDocument<'_>> = both.collect();
        let own = both.iter().find(|document| document.whose == PreferenceSource::Global);
        let first = |key: &str| both.iter().find_map(|document| Some((document, document.get(key)?)));
        let is_on = |key: &str| first(key).and_then(|(_, value)| flag(&value)).unwrap_or_default();
        let address = |key: &str| {
            let document = own?;
            let url = document.get(key)?.as_text()?.trim().to_owned();
            Some(MessageAddress { line: document.line(key), url })
        };
        let command = first("messages.command").and_then(|(document, value)| {
            let text = value.as_text()?.trim().to_owned();
            Some(MessageCommand { source: document.whose, line: document.line("messages.command"), text })
        });
        let mut settings = Self {
            command,
            desktop: is_on("messages.desktop"),
            bell: is_on("messages.bell"),
            terminal: is_on("messages.terminal"),
            webhook: address("messages.webhook"),
            ntfy: address("messages.ntfy"),
            ..Self::default()
        };
        if let Some((document, value)) = first(ON) {
            settings.read_topics(document, &value);
        }
        settings
    }

    fn read_topics(&mut self, document: &PreferenceDocument<'_>, value: &Value) {
        let Some(words) = list(value) else { return };
        let (known, unknown): (Vec<&String>, Vec<&String>) =
            words.iter().partition(|word| of_word::<MessageTopic>(word).is_some());
        self.topics = Some(known.into_iter().filter_map(|word| of_word(word)).collect());
        self.problems.extend(unknown.into_iter().map(|word| {
            let all = MessageTopic::ALL.map(|topic| format!("`{}`", topic.word())).join(", ");
            let what = format!("`{ON}` has `{}`, which is none of {all}", line(word, 60));
            PreferenceProblem { source: document.whose, line: document.line(ON), what }
        }));
    }

    pub(crate) fn wants(&self, topic: MessageTopic) -> bool {
        self.topics.as_ref().is_none_or(|topics| topics.contains(&topic))
    }

    /// The channels that are set up.
    pub(crate) fn channels(&self) -> Vec<MessageChannel> {
        let all = [
            (MessageChannel::Command, self.command.is_some()),
            (MessageChannel::Desktop, self.desktop),
            (MessageChannel::Bell, self.bell),
            (MessageChannel::Terminal, self.terminal),
            (MessageChannel::Webhook, self.webhook.is_some()),
            (MessageChannel::Ntfy, self.ntfy.is_some()),
        ];
        all.into_iter().filter(|(_, is_set)| *is_set).map(|(channel, _)| channel).collect()
    }
}

/// The key of the topics.
const ON: &str = "messages.on";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_names_no_address_and_the_keys_of_the_user_take_precedence() {
        let project = "---\nmessages:\n  webhook: https://elsewhere.example\n  ntfy: https://elsewhere.example/t\n  command: sh \
                       tools/tell.sh\n  bell: false\n  on: [landed, landing]\n---\n";
        let own =
            "---\nmessages:\n  ntfy: https://ntfy.example/mine\n  command: notify\n  bell: true\n  desktop: on\n---\n";
        let settings = MessageSettings::read(Some(project), Some(own));
        let address = MessageAddress { line: 3, url: "https://ntfy.example/mine".to_owned() };
        assert_eq!((&settings.webhook, &settings.ntfy), (&None, &Some(address)));
        let command = settings.command.as_ref().unwrap();
        assert_eq!((command.source, command.line), (PreferenceSource::Global, 4));
        assert_eq!(
            settings.channels(),
            [MessageChannel::Command, MessageChannel::Desktop, MessageChannel::Bell, MessageChannel::Ntfy],
            "the project does not switch the bell off"
        );
        assert!(settings.wants(MessageTopic::Landed) && !settings.wants(MessageTopic::NeedsYou));
        assert_eq!(settings.problems.len(), 1);
        assert!(settings.problems[0].what.contains("`landing`"), "{:?}", settings.problems);
        let all = own.replace("---\n---", "---\n").replace("  bell: true\n", "  bell: true\n  on: [needs-you]\n");
        assert!(MessageSettings::read(Some(project), Some(&all)).wants(MessageTopic::NeedsYou));
        let of_project = MessageSettings::read(Some(project), None).command.unwrap();
        assert_eq!((of_project.source, of_project.line), (PreferenceSource::Project, 5));
        let nothing = MessageSettings::read(None, None);
        assert!(nothing.channels().is_empty() && MessageTopic::ALL.into_iter().all(|topic| nothing.wants(topic)));
    }
}
