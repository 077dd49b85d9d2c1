//! A note about commands in an answer that the profile of the install leaves out.

use std::fmt::Write as _;

use super::Context;
use crate::acts::hosts::AbsentCommands;
use crate::text::shell::typed;

/// How many commands a note names.
const NAMED: usize = 3;

/// The commands in the answer that are not installed in this host, and how to install them.
pub(super) fn note(context: &Context) -> Option<String> {
    // Most answers name no command, and finding the host takes longer than most calls.
    if !may_name_one(&context.stdout) {
        return None;
    }
    let left_out = AbsentCommands::of_call(context)?;
    let prefix = context.command_prefix().ok()?;
    let named = left_out.commands.iter().map(|name| format!("{prefix}{name}"));
    let named: Vec<String> = named.filter(|command| names(&context.stdout, command)).collect();
    let (first, more) = named.split_at(named.len().min(NAMED));
    let mut commands = first.iter().map(|command| format!("`{command}`")).collect::<Vec<_>>().join(", ");
    if !more.is_empty() {
        let _ = write!(commands, " and {} more", more.len());
    }
    let verb = if named.len() == 1 { "is" } else { "are" };
    let install = format!("{} {} --profile=full", typed!("gsd-tools install"), left_out.flags);
    let profile = left_out.profile;
    (!named.is_empty())
        .then(|| format!("{commands} {verb} not installed here (profile {profile}): `{install}` adds all"))
}

/// Whether a text has a word that may be a command, and not only the program or its folders.
fn may_name_one(text: &str) -> bool {
    text.match_indices("gsd").any(|(at, word)| {
        let rest = text.get(at + word.len()..).unwrap_or_default();
        let others = ["tools", "core", "local-patches"];
        let name = rest.strip_prefix(['-', ':']);
        name.is_some_and(|name| {
            name.starts_with(|first: char| first.is_ascii_lowercase())
                && !others.iter().any(|other| name.starts_with(other))
        })
    })
}

/// Whether a text names this command, and not one whose name only begins like it.
fn names(text: &str, command: &str) -> bool {
    text.match_indices(command).any(|(at, _)| {
        let next = text.get(at + command.len()..).and_then(|rest| rest.chars().next());
        !next.is_some_and(|next| next.is_ascii_alphanumeric() || next == '-')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_named_by_its_whole_name() {
        assert!(
            names("next: /gsd-plan 3", "/gsd-plan")
                && names("`/gsd-plan`", "/gsd-plan")
                && names("/gsd-plan", "/gsd-plan")
        );
        assert!(may_name_one("next: `$gsd-plan`") && !may_name_one("`gsd-tools x` in ~/.x/gsd-core, gsd_x: 1"));
        assert!(!names("/gsd-plan-phase", "/gsd-plan") && !names("/gsd-planner", "/gsd-plan"));
    }
}
