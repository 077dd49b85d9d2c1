//! One family of commands, and its clap tree.

use clap::{ArgAction, ArgMatches};

use crate::failure::Failure;

use super::Context;
use super::reach;
use super::verb::Verb;

/// A check before a verb runs.
pub(crate) type Precondition = fn(&Context) -> Result<(), Failure>;

/// One family: verbs about one subject.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Family {
    /// The subject of the family, as a heading in the help.
    pub(crate) title: &'static str,
    /// Words that only lead to verbs, and a description of these verbs.
    pub(crate) groups: &'static [(&'static str, &'static str)],
    /// In the order of the help.
    pub(crate) verbs: &'static [Verb],
    /// The check before any of its verbs runs.
    pub(crate) first: Option<Precondition>,
    /// Exit code of wrong usage.
    pub(crate) usage_code: u8,
}

impl Family {
    /// Whether a call that begins with this word belongs to the family.
    pub(crate) fn answers_to(&self, word: &str) -> bool {
        self.words().any(|own| own == word)
    }

    /// The first words of its verbs; a word appears once for each verb.
    pub(crate) fn words(&self) -> impl Iterator<Item = &'static str> {
        self.verbs.iter().map(|verb| verb.path.split(' ').next().unwrap_or(verb.path))
    }

    /// The verb at `path`.
    pub(crate) fn verb(&self, path: &str) -> Option<&'static Verb> {
        self.verbs.iter().find(|verb| verb.path == path)
    }

    /// Runs the verb that clap found.
    pub(crate) fn run(&self, context: &mut Context, matches: &ArgMatches) -> Result<(), Failure> {
        let (mut matches, mut path) = (matches, String::new());
        while let Some((word, inner)) = matches.subcommand() {
            path = if path.is_empty() { word.to_owned() } else { format!("{path} {word}") };
            matches = inner;
        }
        let verb = self.verb(&path).ok_or_else(|| Failure::usage(format!("`{path}` needs a subcommand")))?;
        context.verb = verb.path;
        reach::hold_units_to_what_runs_unasked(context, verb)?;
        reach::asks_before_it_destroys(context, verb)?;
        if let Some(first) = self.first {
            first(context)?;
        }
        (verb.run)(context, matches)
    }
}

/// The whole clap tree of one family, under the program's name. A call builds it once.
pub(crate) fn tree(family: &Family) -> clap::Command {
    let program = clap::Command::new("gsd-tools")
        .disable_help_flag(true)
        .disable_help_subcommand(true)
        .disable_version_flag(true)
        .subcommand_required(true);
    let whole = family.verbs.iter().fold(program, |tree, verb| {
        let words: Vec<&'static str> = verb.path.split(' ').collect();
        planted(tree, family, verb, &words, 0)
    });
    values_may_begin_with_a_hyphen(whole)
}

/// Adds the verb to the tree, below the first `depth` of its words.
fn planted(tree: clap::Command, family: &Family, verb: &Verb, words: &[&'static str], depth: usize) -> clap::Command {
    let word = words[depth];
    if depth + 1 == words.len() {
        return tree.subcommand(verb.command());
    }
    if tree.find_subcommand(word).is_some() {
        return tree.mut_subcommand(word, |inner| planted(inner, family, verb, words, depth + 1));
    }
    let path = words[..=depth].join(" ");
    let about = family.groups.iter().find(|(group, _)| *group == path).map_or("", |(_, about)| *about);
    let inner = clap::Command::new(word).about(about).subcommand_required(true);
    tree.subcommand(planted(inner, family, verb, words, depth + 1))
}

/// Allows `--summary "- text"`. Flags with an optional value or several values keep clap's rule, since the next flag
/// ends them.
fn values_may_begin_with_a_hyphen(command: clap::Command) -> clap::Command {
    command
        .mut_args(|argument| {
            let single = argument.get_num_args().is_none_or(|count| count.min_values() == 1 && count.max_values() == 1);
            let takes_value = matches!(argument.get_action(), ArgAction::Set | ArgAction::Append);
            let loose = !argument.is_positional() && single && takes_value;
            if loose { argument.allow_hyphen_values(true) } else { argument }
        })
        .mut_subcommands(values_may_begin_with_a_hyphen)
}
