//! The words that shells complete in addition to commands and flags: hosts, topics, configuration keys. clap does not
//! know them, since a call may contain one that is not in the tables.

use std::fmt::Write as _;

use clap::builder::PossibleValuesParser;
use clap::{Arg, Command};

use super::guide;
use crate::frame::argv;
use crate::project::config;
use crate::project::milestone_layout::preference_table::KEYS;
use crate::runtime::{Registry, RuntimeId};

/// Commands that also accept names of hosts without a flag.
const HOSTS_AS_WORDS: &[&str] = &["install", "uninstall", "status"];

/// Adds to the tree the known values of arguments, and `help` and `version`, which are read before any command.
pub(super) fn with_words(tree: Command, registry: &Registry) -> Command {
    let topics: Vec<String> = tree.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    let topics = topics.into_iter().chain(argv::TOPICS.iter().map(|topic| (*topic).to_owned())).collect();
    let topic = Arg::new("topic").value_name("COMMAND").help("The command or topic");
    let help = Command::new("help").about("Show help, also of a command").arg(one_of(topic, topics));
    let version = Command::new("version").about("Print the version");
    let words = Words { hosts: registry.ids().map(RuntimeId::to_string).collect() };
    tree.mut_subcommands(|command| words.added(command, "")).subcommand(help).subcommand(version)
}

#[derive(Debug)]
struct Words {
    hosts: Vec<String>,
}

impl Words {
    /// The command at the end of `above`, and those below it.
    fn added(&self, command: Command, above: &str) -> Command {
        let path = format!("{above} {}", command.get_name()).trim_start().to_owned();
        let command = if HOSTS_AS_WORDS.contains(&path.as_str()) {
            command.arg(Arg::new("named_hosts").value_name("HOST").help("A host to use").num_args(0..))
        } else {
            command
        };
        let command = command.mut_args(|argument| match self.known(&path, argument.get_id().as_str()) {
            words if words.is_empty() => argument,
            words => one_of(argument, words),
        });
        command.mut_subcommands(|inner| self.added(inner, &path))
    }

    /// The possible words for an argument; empty if they are not in a table.
    fn known(&self, path: &str, argument: &str) -> Vec<String> {
        match argument {
            "named_hosts" | "hosts" | "host" => self.hosts.clone(),
            "topic" if path == "guide" => guide::topics(),
            // `*` matches any name.
            "key" if path.starts_with("config") => {
                let mut keys: Vec<String> = config::key_names().into_iter().filter(|key| !key.contains('*')).collect();
                if matches!(path, "config list" | "config explain") {
                    let preferences = KEYS.iter().map(|key| key.name).filter(|key| !key.contains('*'));
                    let new = preferences.filter(|name| !config::key_names().iter().any(|key| key == name));
                    keys.extend(new.map(str::to_owned));
                    keys.sort_unstable();
                }
                if path == "config list" {
                    let groups = keys.iter().filter_map(|key| key.split_once('.')).map(|(group, _)| group.to_owned());
                    let mut groups: Vec<String> = groups.collect();
                    groups.dedup();
                    keys.extend(groups.into_iter().filter(|group| !config::key_names().contains(group)));
                }
                keys
            }
            _ => Vec::new(),
        }
    }
}

fn one_of(argument: Arg, words: Vec<String>) -> Arg {
    argument.value_parser(PossibleValuesParser::new(words))
}

/// The lines for arguments without a flag, which `clap_complete` leaves out of its script for fish.
pub(super) fn words_for_fish(tree: &Command) -> String {
    let mut script = String::new();
    for command in tree.get_subcommands() {
        let of = format!("__fish_gsd_tools_using_subcommand {}", command.get_name());
        add_lines(command, &of, &mut script);
        for inner in command.get_subcommands() {
            add_lines(inner, &format!("{of}; and __fish_seen_subcommand_from {}", inner.get_name()), &mut script);
        }
    }
    script
}

fn add_lines(command: &Command, condition: &str, script: &mut String) {
    for argument in command.get_positionals() {
        let values = argument.get_possible_values();
        let words: Vec<&str> = values.iter().map(clap::builder::PossibleValue::get_name).collect();
        if !words.is_empty() {
            // Writing to a string cannot fail.
            let _ = writeln!(script, "complete -c gsd-tools -n \"{condition}\" -f -a \"{}\"", words.join(" "));
        }
    }
}
