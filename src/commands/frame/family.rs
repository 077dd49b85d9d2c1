//! One family of commands, and its clap tree.

use clap::ArgMatches;

use super::{CommandError, Context};

/// One family: the words it answers to, its clap tree, and its function.
#[derive(Clone, Copy)]
pub(crate) struct FamilyRow {
    /// What the family is about, as a heading of the help.
    pub(crate) title: &'static str,
    /// First words of a call that reach this family, in the order of its enum.
    pub(crate) words: &'static [&'static str],
    pub(super) tree: fn(clap::Command) -> clap::Command,
    pub(in crate::commands) run: fn(&mut Context, &ArgMatches) -> Result<(), CommandError>,
    /// Exit code of wrong usage.
    pub(in crate::commands) usage_code: u8,
}

/// What a family's enum does with itself once clap has read it.
pub(crate) trait Family: clap::Subcommand {
    fn run(self, context: &mut Context) -> Result<(), CommandError>;
}

/// A family that speaks as its peer does: wrong usage exits 1.
pub(in crate::commands) const fn family<F: Family>(title: &'static str, words: &'static [&'static str]) -> FamilyRow {
    FamilyRow { title, words, tree: F::augment_subcommands, run: run_family::<F>, usage_code: 1 }
}

/// A family of our own words: wrong usage exits 2.
pub(in crate::commands) const fn own_family<F: Family>(
    title: &'static str,
    words: &'static [&'static str],
) -> FamilyRow {
    FamilyRow { usage_code: 2, ..family::<F>(title, words) }
}

fn run_family<F: Family>(context: &mut Context, matches: &ArgMatches) -> Result<(), CommandError> {
    let command = F::from_arg_matches(matches).map_err(|error| CommandError::usage(error.to_string()))?;
    command.run(context)
}

/// The whole clap tree of one family, under the program's name.
pub(in crate::commands) fn tree(row: &FamilyRow) -> clap::Command {
    let program = clap::Command::new("gsd-tools")
        .disable_help_flag(true)
        .disable_help_subcommand(true)
        .disable_version_flag(true)
        .subcommand_required(true);
    (row.tree)(program)
}
