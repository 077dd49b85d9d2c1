//! A verb, registered once: its words, its help, its effect, its answer, its function and its arguments.

use clap::ArgMatches;

use crate::failure::Failure;

use super::Context;
use crate::acts::listing::{Effect, Listed};

/// What a verb prints when it succeeds.
#[cfg(test)]
#[derive(Clone, Copy, Debug)]
pub(crate) enum AnswerForm {
    /// JSON, in one of several forms.
    Json(fn(&mut schemars::SchemaGenerator) -> Vec<schemars::Schema>),
    /// As [`Self::Json`], with a token for a later write.
    Seen(fn(&mut schemars::SchemaGenerator) -> Vec<schemars::Schema>),
    /// Text, described by this literal.
    Text(&'static str),
}

/// One verb.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Verb {
    /// The words that call it.
    pub(crate) path: &'static str,
    /// Another last word for it; not shown.
    pub(crate) alias: Option<&'static str>,
    /// The lines of its help as in the source: the first describes the verb, an example comes last.
    pub(crate) help: &'static [&'static str],
    pub(crate) effect: Effect,
    /// The explicit setting in the table: `Some(true)` if an agent may call it without asking a person.
    pub(crate) unasked: Option<bool>,
    /// Adds the arguments to a clap command.
    pub(crate) arguments: fn(clap::Command) -> clap::Command,
    pub(crate) run: fn(&mut Context, &ArgMatches) -> Result<(), Failure>,
    #[cfg(test)]
    pub(crate) answer: AnswerForm,
}

impl Verb {
    /// Whether an agent may call it without asking a person: true for verbs that read or write documents, unless the
    /// table overrides it. In an agent's session such a verb refuses `--force` and works only on the agent's own
    /// project.
    pub(crate) fn runs_unasked(&self) -> bool {
        self.unasked.unwrap_or(!matches!(self.effect, Effect::Acts | Effect::Runs))
    }

    /// Its row in a list.
    pub(crate) fn listed(&self) -> Listed {
        let about = self.help.first().map_or("", |line| line.trim());
        Listed { command: self.path, about, effect: self.effect, unasked: self.runs_unasked() }
    }

    /// The clap command of the verb, by its last word.
    pub(crate) fn command(&self) -> clap::Command {
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
