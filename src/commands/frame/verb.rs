//! A verb, registered once: the words it is called by, its help, how far it reaches, what it answers, its function and its
//! arguments.

use clap::ArgMatches;

use crate::failure::Failure;

use super::Context;
use crate::acts::listing::{Effect, Listed};

/// What a verb prints when it succeeds.
#[cfg(test)]
#[derive(Clone, Copy, Debug)]
pub(in crate::commands) enum Answer {
    /// JSON, in one of several forms.
    Json(fn(&mut schemars::SchemaGenerator) -> Vec<schemars::Schema>),
    /// As [`Self::Json`], with a token for a later write.
    Seen(fn(&mut schemars::SchemaGenerator) -> Vec<schemars::Schema>),
    /// Text; says what it is.
    Text(&'static str),
}

/// One verb.
#[derive(Clone, Copy, Debug)]
pub(in crate::commands) struct Verb {
    /// The words it is called by.
    pub(in crate::commands) path: &'static str,
    /// Another last word that it answers to; not shown.
    pub(in crate::commands) alias: Option<&'static str>,
    /// The lines of its help as the source has them: the first says what it does, an example comes last.
    pub(in crate::commands) help: &'static [&'static str],
    pub(in crate::commands) effect: Effect,
    /// Whether the table says who is asked: `Some(true)` where an agent may call it without a person being asked.
    pub(in crate::commands) unasked: Option<bool>,
    /// Puts the arguments into a clap command.
    pub(in crate::commands) arguments: fn(clap::Command) -> clap::Command,
    pub(in crate::commands) run: fn(&mut Context, &ArgMatches) -> Result<(), Failure>,
    #[cfg(test)]
    pub(in crate::commands) answer: Answer,
}

impl Verb {
    /// Whether an agent may call it without a person being asked: what reads, and what writes documents, unless the table
    /// says otherwise. In the session of an agent such a verb takes no `--force` and works on its own project only.
    pub(in crate::commands) fn runs_unasked(&self) -> bool {
        self.unasked.unwrap_or(!matches!(self.effect, Effect::Acts | Effect::Runs))
    }

    /// What there is to say of it in a list.
    pub(in crate::commands) fn listed(&self) -> Listed {
        let about = self.help.first().map_or("", |line| line.trim());
        Listed { command: self.path, about, effect: self.effect, unasked: self.runs_unasked() }
    }

    /// The clap command of the verb, by its last word.
    pub(in crate::commands) fn command(&self) -> clap::Command {
        let name = self.path.rsplit(' ').next().unwrap_or(self.path);
        let paragraphs = paragraphs(self.help);
        let about = paragraphs.first().cloned().unwrap_or_default();
        let command = (self.arguments)(clap::Command::new(name)).aliases(self.alias);
        command.about(about).long_about(paragraphs.join("\n\n"))
    }
}

/// The paragraphs of a doc comment, each as one line.
fn paragraphs(lines: &[&str]) -> Vec<String> {
    let groups = lines.split(|line| line.trim().is_empty());
    let joined = groups.map(|group| group.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" "));
    joined.filter(|paragraph| !paragraph.is_empty()).collect()
}
