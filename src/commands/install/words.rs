//! The words of an install before clap reads them: each host's name is a flag, and a call that begins with such a flag
//! means `install`.

use std::cell::OnceCell;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgAction, Command};

use crate::acts::hosts::opened;
use crate::failure::Failure;
use crate::install::InstallError;
use crate::runtime::{Descriptor, Registry, RegistryError, RuntimeId};
use crate::text::nearest::nearest;
use crate::world::World;

/// The words of the family that take host flags.
const VERBS: &[&str] = &["install", "update", "uninstall", "status", "cost", "package"];

/// The verb whose host flags end in the kind of the result.
const PACKAGE: &str = "package";
const PACKAGES: &[&str] = &["-plugin", "-extension"];

/// Flags of the family with their short forms.
const FLAGS: &[&str] = &[
    "all",
    "detected",
    "global",
    "local",
    "config-dir",
    "dry-run",
    "no-permissions",
    "permissions",
    "check",
    "plan",
    "diff",
    "json",
    "text",
    "host",
    "skills",
    "profile",
    "minimal",
    "core-only",
    "force-statusline",
    "portable-hooks",
    "no-legacy-cleanup",
    "managed",
    "uninstall",
    "yes",
    "no-input",
    "verbose",
];
const SHORT_FLAGS: &[&str] = &["-g", "-l", "-c", "-u"];

/// Flags that control how an install asks and reports: they do not request an install.
const MANNERS: &[&str] = &["--yes", "-y", "--no-input", "--verbose", "-v"];

/// Flags whose next word is their value.
const VALUE_FLAGS: &[&str] = &["--config-dir", "-c", "--host", "--skills", "--plan", "--profile"];

/// The words as clap's tree expects them. Words of other commands are unchanged, except that flags before the command
/// are moved to the end. The hosts are only read if a word may be one, once for the whole call.
pub(in crate::commands) fn spelled(
    mut words: Vec<String>,
    world: &World,
    hosts: &OnceCell<Registry>,
    is_command: impl Fn(&str) -> bool,
) -> Result<Vec<String>, Failure> {
    let flags = words.iter().take_while(|word| word.starts_with('-')).count();
    if words.get(flags).is_some_and(|word| is_command(word)) {
        let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
        words[..end].rotate_left(flags);
    }
    let Some(first) = words.first() else { return Ok(words) };
    let verb = VERBS.iter().find(|verb| *verb == first);
    if verb.is_none() && !first.starts_with('-') {
        return Ok(words);
    }
    let registry = opened(hosts, world)?;
    match verb {
        Some(verb) => translate(verb, &words[1..], registry),
        None if asks_for_an_install(&words, registry) => translate("install", &words, registry),
        None => Ok(words),
    }
}

/// The tree of all commands with a flag for each host, and the hosts as values of `--host`.
pub(in crate::commands) fn with_hosts(tree: Command, registry: &Registry) -> Command {
    // A descriptor of the user's own that cannot be read is reported by an install.
    let hosts: Vec<Descriptor> = registry.ids().filter_map(|id| registry.find(id.as_str()).ok()).collect();
    VERBS.iter().fold(tree, |tree, verb| {
        tree.mut_subcommand(verb, |command| {
            let named = |argument: Arg| {
                if argument.get_long() != Some("host") {
                    return argument;
                }
                argument.value_parser(PossibleValuesParser::new(
                    hosts.iter().map(|host| PossibleValue::new(host.id.to_string()).help(host.name.clone())),
                ))
            };
            let command = command.mut_args(named);
            if *verb == PACKAGE {
                return command;
            }
            hosts.iter().fold(command, |command, host| {
                let id = host.id.to_string();
                let about = format!("Use {}", host.name);
                command.arg(Arg::new(format!("host-{id}")).long(id).help(about).action(ArgAction::SetTrue))
            })
        })
    })
}

fn translate(verb: &str, words: &[String], registry: &Registry) -> Result<Vec<String>, Failure> {
    if verb == PACKAGE {
        return Ok(std::iter::once(verb.to_owned())
            .chain(words.iter().flat_map(|word| packaged(word, registry)))
            .collect());
    }
    let mut verb = verb;
    let mut rest: Vec<String> = Vec::new();
    for word in words {
        let name = flag_name(word);
        let is_value = rest.last().is_some_and(|flag| VALUE_FLAGS.contains(&flag.as_str()));
        match name {
            _ if is_value => rest.push(word.clone()),
            None if !word.starts_with('-') => match registry.find(word) {
                Ok(descriptor) => rest.push(format!("--host={}", descriptor.id)),
                Err(error) => return Err(unknown(word, "", registry, error)),
            },
            Some("uninstall") => verb = "uninstall",
            None if word == "-u" => verb = "uninstall",
            Some(name) if !FLAGS.contains(&name) => match registry.find(name) {
                Ok(descriptor) => rest.push(format!("--host={}", descriptor.id)),
                Err(error) => return Err(unknown(name, "--", registry, error)),
            },
            _ => rest.push(word.clone()),
        }
    }
    rest.insert(0, verb.to_owned());
    Ok(rest)
}

/// `--<host>-plugin` and `--<host>-plugin=FOLDER` as the host and the folder; other words unchanged.
fn packaged(word: &str, registry: &Registry) -> Vec<String> {
    let name = flag_name(word).and_then(|name| PACKAGES.iter().find_map(|ending| name.strip_suffix(ending)));
    let Some(host) = name.and_then(|name| registry.find(name).ok()) else { return vec![word.to_owned()] };
    let folder = word.split_once('=').map(|(_, folder)| folder.to_owned());
    std::iter::once(format!("--host={}", host.id)).chain(folder).collect()
}

/// Whether a call that begins with a flag is an install, or is probably meant as one.
fn asks_for_an_install(words: &[String], registry: &Registry) -> bool {
    let first = words.iter().find(|word| !MANNERS.contains(&word.as_str()));
    first.is_some_and(|word| word.starts_with('-') && is_ours(word, registry))
}

/// Whether this flag names a host or belongs to an install, or is probably meant so.
fn is_ours(word: &str, registry: &Registry) -> bool {
    let short = word.split('=').next().unwrap_or(word);
    match flag_name(word) {
        None => SHORT_FLAGS.contains(&short),
        Some(name) => FLAGS.contains(&name) || registry.find(name).is_ok() || nearest(name, names(registry)).is_some(),
    }
}

fn unknown(name: &str, dashes: &str, registry: &Registry, error: RegistryError) -> Failure {
    if matches!(error, RegistryError::Broken { .. }) {
        return InstallError::from(error).into();
    }
    let what = if dashes.is_empty() { "host" } else { "option or host" };
    let error = Failure::usage(format!("unknown {what} `{dashes}{name}`")).exits(2);
    match nearest(name, names(registry).chain(FLAGS.iter().copied())) {
        Some(near) => error.hint(format!("did you mean `--{near}`?")),
        None => error.hint("`gsd-tools install --help` lists the options, `gsd-tools runtimes` the hosts"),
    }
}

fn names(registry: &Registry) -> impl Iterator<Item = &str> {
    registry.ids().map(RuntimeId::as_str)
}

/// `name` of `--name` and `--name=value`.
fn flag_name(word: &str) -> Option<&str> {
    word.strip_prefix("--").filter(|name| !name.is_empty()).and_then(|name| name.split('=').next())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Result<String, Failure> {
        let world = World::with([("HOME", "/nowhere")], &std::env::temp_dir());
        spelled(line.split(' ').map(str::to_owned).collect(), &world, &OnceCell::new(), |word| word == "progress")
            .map(|words| words.join(" "))
    }

    #[test]
    fn a_call_that_begins_with_a_host_is_an_install() {
        assert_eq!(words("--claude --global").unwrap(), "install --host=claude --global");
        assert_eq!(words("--all -l").unwrap(), "install --all -l");
        assert_eq!(words("-y --detected").unwrap(), "install -y --detected");
        assert_eq!(words("--claude -v --dry-run").unwrap(), "install --host=claude -v --dry-run");
        assert_eq!(words("--claude --codex-cli --uninstall").unwrap(), "uninstall --host=claude --host=codex");
        assert_eq!(words("-g --claude -u").unwrap(), "uninstall -g --host=claude");
        assert_eq!(words("install claude codex -l").unwrap(), "install --host=claude --host=codex -l");
        assert_eq!(words("install --claude -c codex").unwrap(), "install --host=claude -c codex");
        assert_eq!(words("package --claude-plugin out --json").unwrap(), "package --host=claude out --json");
        assert_eq!(words("package --gemini-extension=out").unwrap(), "package --host=gemini out");
        assert_eq!(words("status --claude --json").unwrap(), "status --host=claude --json");
    }

    #[test]
    fn flags_before_a_command_belong_to_it() {
        assert_eq!(words("--json --dry-run progress bar").unwrap(), "progress bar --json --dry-run");
        assert_eq!(words("--claude progress").unwrap(), "progress --claude");
    }

    #[test]
    fn other_calls_are_unchanged() {
        for line in ["state json --claude", "--version", "--xyzzy", "roadmap", "-v", "--yes", "--no-input -v"] {
            assert_eq!(words(line).unwrap(), line);
        }
    }

    #[test]
    fn an_unknown_name_is_reported_with_the_nearest() {
        let text = |line| format!("{:?}", words(line).unwrap_err());
        assert!(text("install --cladue").contains("did you mean `--claude`?"));
        assert!(text("--cladue --global").contains("did you mean `--claude`?"));
        assert!(text("install cladue").contains("did you mean `--claude`?"));
        assert!(text("install --dry-rnu --claude").contains("did you mean `--dry-run`?"));
    }
}
