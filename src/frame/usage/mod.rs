//! Converts words to clap's matches, and clap's errors to ours.

use clap::ArgMatches;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::Catalog;
use super::Family;
use super::argv::{self, Invocation};
use crate::failure::{Failure, Reason};
use crate::text::nearest::nearest;
use crate::text::shell::{Typed, typed};

/// The family for the first word of the call.
pub(crate) fn family_of(catalog: Catalog, call: &Invocation) -> Result<&'static Family, Failure> {
    let Some(word) = call.words.first() else {
        return Err(Failure::usage("no command given").hint("`gsd-tools --help` lists the commands"));
    };
    if let Some(row) = catalog.family(word) {
        return Ok(row);
    }
    if word.starts_with('-') {
        let error = Failure::usage(format!("unknown flag `{word}`"));
        let near = nearest(word.trim_start_matches('-'), argv::long_flags());
        return Err(match near {
            // People ask for the version in many ways.
            _ if word == "-v" => error.hint("`gsd-tools --version` prints the version"),
            Some(near) => error.hint(format!("did you mean `--{near}`?")),
            None => error.hint("`gsd-tools --help` lists the commands and flags"),
        });
    }
    let typed = call.dotted.as_ref().unwrap_or(word);
    let error = Failure::new(Reason::SdkUnknownCommand, format!("unknown command `{typed}`"));
    let known = catalog.0.iter().flat_map(Family::words).chain(argv::TOPICS.iter().copied());
    Err(match nearest(word, known) {
        Some(near) => error.hint(format!("did you mean `{near}`?")),
        None => error.hint("`gsd-tools help --all` lists the commands"),
    })
}

/// Why words could not be read.
pub(crate) enum Unread {
    /// The verb does not know this word.
    Unknown {
        word: String,
        error: Box<Failure>,
    },
    Other(Box<Failure>),
}

/// Reads the words of a call in the family `row`; every word must be known.
#[cfg(test)]
pub(crate) fn read(row: &Family, words: &[String]) -> Result<ArgMatches, Failure> {
    attempt(row, &super::tree(row), words).map_err(|unread| match unread {
        Unread::Unknown { error, .. } | Unread::Other(error) => *error,
    })
}

/// Reads the words of a call in the family `row`; the error contains the unknown word.
pub(crate) fn attempt(row: &Family, tree: &clap::Command, words: &[String]) -> Result<ArgMatches, Unread> {
    let leaf = leaf(tree, words);
    if let Some(flag) = flag_without_value(leaf.command, &words[leaf.depth..]) {
        let error = Failure::usage(format!("`{flag}` needs a value")).hint(usage_line(&leaf));
        return Err(Unread::Other(Box::new(error)));
    }
    let complain = |error: &clap::Error| {
        let word = error.get(ContextKind::InvalidArg).map(plain);
        let complaint = complaint(error, row, &leaf);
        match word.filter(|_| error.kind() == ErrorKind::UnknownArgument && !leaf.command.has_subcommands()) {
            Some(word) => Unread::Unknown { word, error: Box::new(complaint) },
            None => Unread::Other(Box::new(complaint)),
        }
    };
    tree.clone()
        .try_get_matches_from(std::iter::once("gsd-tools").chain(words.iter().map(String::as_str)))
        .map_err(|error| complain(&error))
}

/// Takes out the flags that decide the form of the answer, unless the command has its own flag with that name, or accepts
/// words that look like flags. What a workflow starts from is for agents, whose words may include `--text`.
pub(crate) fn lift_forms(tree: &clap::Command, call: &mut Invocation) -> Result<(), Failure> {
    let words: Vec<String> = call.words.iter().filter(|word| !word.starts_with("--")).cloned().collect();
    let leaf = leaf(tree, &words);
    let any_word = |argument: &clap::Arg| {
        (argument.is_positional() && argument.is_allow_hyphen_values_set()) || argument.is_trailing_var_arg_set()
    };
    let keeps = |flag: &str| {
        let is_own = |argument: &clap::Arg| any_word(argument) || argument.get_long() == flag.strip_prefix("--");
        leaf.command.get_arguments().any(is_own) || (flag == "--text" && leaf.path.starts_with("init"))
    };
    for flag in argv::FORMS.iter().filter(|flag| !keeps(flag)) {
        argv::lift_form(call, flag);
    }
    argv::check_forms(call)
}

/// Takes out the flags of all commands that write documents or act.
pub(crate) fn lift_of_writers(row: &Family, tree: &clap::Command, call: &mut Invocation) -> Result<(), Failure> {
    // The flags may be between the words of the command.
    let words: Vec<String> = call.words.iter().filter(|word| !word.starts_with("--")).cloned().collect();
    let leaf = leaf(tree, &words);
    argv::lift_of_writers(call, lifted(row, &leaf.path, leaf.command))
}

/// The flags that a command has because of its effect.
pub(crate) fn lifted(row: &Family, path: &str, command: &clap::Command) -> argv::Lifted {
    let has = |flag: &str| command.get_arguments().any(|argument| argument.get_long() == Some(flag));
    row.verb(path).map(|verb| verb.effect).map_or_else(argv::Lifted::default, |effect| argv::Lifted {
        dry_run: effect.rehearses() && !has("dry-run"),
        // An install has no documents for a token.
        if_match: effect.writes() && row.usage_code == 1,
        yes: effect == crate::acts::listing::Effect::Destroys && !has("yes") && !has("confirm"),
    })
}

/// The deepest command that the words name.
pub(crate) struct Leaf<'a> {
    pub(crate) command: &'a clap::Command,
    pub(crate) path: String,
    /// How many words the path took.
    pub(crate) depth: usize,
    /// The first word that is not part of the path.
    next: Option<&'a str>,
}

pub(crate) fn leaf<'a>(tree: &'a clap::Command, words: &'a [String]) -> Leaf<'a> {
    let mut command = tree;
    let mut path = Vec::new();
    while let Some(child) = words.get(path.len()).and_then(|word| command.find_subcommand(word)) {
        command = child;
        // The name of the command, if the word is an alias.
        path.push(child.get_name());
    }
    let depth = path.len();
    Leaf { command, path: path.join(" "), depth, next: words.get(depth).map(String::as_str) }
}

/// Whether a word that begins with a hyphen is a text, such as `--watch flag` or `---text---`: no flag has a space in its
/// name or begins with three hyphens.
pub(crate) fn is_text(word: &str) -> bool {
    let name = word.split('=').next().unwrap_or(word);
    word.starts_with("---") || (word.starts_with('-') && name.contains(char::is_whitespace))
}

/// The flag in a word, ignoring its value.
pub(crate) fn flag_named<'a>(command: &'a clap::Command, word: &str) -> Option<&'a clap::Arg> {
    command.get_arguments().find(|argument| match word.strip_prefix("--") {
        Some(name) => argument.get_long_and_visible_aliases().is_some_and(|names| names.contains(&name)),
        None => argument.get_short().is_some_and(|short| word.strip_prefix('-') == Some(short.to_string().as_str())),
    })
}

/// The first flag whose value is missing because another flag follows it.
fn flag_without_value<'a>(command: &clap::Command, words: &'a [String]) -> Option<&'a str> {
    words
        .windows(2)
        .take_while(|pair| pair[0] != "--")
        .find(|pair| {
            pair[1].starts_with("--")
                && !is_text(&pair[1])
                && command.get_arguments().any(|argument| {
                    argument.is_allow_hyphen_values_set()
                        && argument.get_long().is_some_and(|long| pair[0].strip_prefix("--") == Some(long))
                })
        })
        .map(|pair| pair[0].as_str())
}

fn complaint(error: &clap::Error, row: &Family, leaf: &Leaf) -> Failure {
    let told = |kind| error.get(kind).map(plain).unwrap_or_default();
    let argument = told(ContextKind::InvalidArg);
    let value = told(ContextKind::InvalidValue);
    match error.kind() {
        ErrorKind::UnknownArgument if !leaf.command.has_subcommands() || argument.starts_with('-') => {
            let complaint = Failure::usage(format!("unexpected argument `{argument}` for `{}`", leaf.path));
            if let Some(others) = takers(row, leaf, &argument) {
                return complaint.hint(format!("{others} `{argument}`; {}", usage_line(leaf)));
            }
            let near = argument
                .strip_prefix("--")
                .and_then(|flag| nearest(flag, longs(leaf.command)).or_else(|| nearest(flag, argv::long_flags())));
            match near {
                Some(near) => complaint.hint(format!("did you mean `--{near}`?")),
                None if longs(leaf.command).any(|long| long == "host") => complaint
                    .hint(format!("name a host with `--host NAME`; {}", usage_line(leaf)))
                    .hint("`gsd-tools runtimes` lists the supported hosts"),
                None => complaint.hint(usage_line(leaf)),
            }
        }
        ErrorKind::ArgumentConflict => {
            let other = told(ContextKind::PriorArg);
            Failure::usage(format!("`{argument}` cannot be used with `{other}`"))
                .hint(format!("leave out `{argument}` or `{other}`"))
        }
        ErrorKind::InvalidSubcommand
        | ErrorKind::MissingSubcommand
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
        | ErrorKind::UnknownArgument => wrong_subcommand(row, leaf),
        ErrorKind::MissingRequiredArgument => {
            Failure::new(Reason::Usage, format!("`{}` needs {argument}", leaf.path)).hint(usage_line(leaf))
        }
        ErrorKind::InvalidValue | ErrorKind::ValueValidation if value.trim().is_empty() => {
            let complaint = Failure::new(Reason::Usage, format!("`{argument}` needs a value"));
            let flag = argument.split([' ', '=']).next().unwrap_or_default();
            match leaf.command.get_arguments().find(|known| known.get_long() == flag.strip_prefix("--")) {
                Some(known) if known.get_long() == Some("host") => complaint.hint(format!(
                    "`{}` describes it; `gsd-tools runtimes` lists the hosts",
                    typed!("gsd-tools {} --help", Typed::words(&leaf.path))
                )),
                Some(known) => {
                    match known
                        .get_possible_values()
                        .iter()
                        .map(clap::builder::PossibleValue::get_name)
                        .collect::<Vec<_>>()
                    {
                        values if values.is_empty() => complaint.hint(usage_line(leaf)),
                        values => complaint.hint(format!("it takes {}", values.join(", "))),
                    }
                }
                None => complaint.hint(usage_line(leaf)),
            }
        }
        ErrorKind::InvalidValue => {
            let valid = told(ContextKind::ValidValue);
            Failure::usage(format!("`{argument}` cannot be `{value}`")).hint(format!("it takes {valid}"))
        }
        ErrorKind::ValueValidation => {
            let why = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
            // The words of Rust's parsers.
            let why = match why.as_str() {
                "invalid float literal" => "it is not a number",
                "invalid digit found in string" => "it is not a whole number",
                other => other,
            };
            Failure::usage(format!("`{argument}` cannot be `{value}`: {why}")).hint(usage_line(leaf))
        }
        _ => {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default();
            Failure::usage(first.strip_prefix("error: ").unwrap_or(first)).hint(usage_line(leaf))
        }
    }
}

/// The commands next to this one that have the flag, such as "only `install` takes"; `None` if there are none, or many.
fn takers(row: &Family, leaf: &Leaf, argument: &str) -> Option<String> {
    let flag = argument.strip_prefix("--").filter(|_| row.usage_code != 1)?;
    let (above, tree) = (leaf.path.rsplit_once(' ').map_or("", |(above, _)| above), super::tree(row));
    let above: Vec<String> = above.split_whitespace().map(str::to_owned).collect();
    let siblings = self::leaf(&tree, &above).command.get_subcommands();
    let has = |command: &&clap::Command| {
        command.get_arguments().any(|known| known.get_long() == Some(flag) && !known.is_hide_set())
    };
    let names: Vec<String> = siblings.filter(has).map(|command| format!("`{}`", command.get_name())).collect();
    match names.as_slice() {
        [only] => Some(format!("only {only} takes")),
        [first, second] => Some(format!("only {first} and {second} take")),
        _ => None,
    }
}

/// Refuses an unknown word at the place of a subcommand.
pub(super) fn check_subcommand(row: &Family, leaf: &Leaf) -> Result<(), Failure> {
    match leaf.next {
        Some(word) if leaf.command.has_subcommands() && !word.starts_with('-') => Err(wrong_subcommand(row, leaf)),
        _ => Ok(()),
    }
}

fn wrong_subcommand(row: &Family, leaf: &Leaf) -> Failure {
    let names: Vec<&str> = leaf.command.get_subcommands().map(clap::Command::get_name).collect();
    let available = format!("its subcommands: {}", names.join(", "));
    match leaf.next {
        None => Failure::usage(format!("`{}` needs a subcommand", leaf.path)).hint(available),
        Some(word) => {
            let message = format!("`{}` has no subcommand `{word}`", leaf.path);
            let complaint = Failure::new(Reason::SdkUnknownCommand, message);
            // Some verbs are one word with a hyphen, such as `config-set`.
            let hyphened = format!("{}-{word}", leaf.path);
            match nearest(word, names.iter().copied()) {
                _ if row.words().any(|other| other == hyphened) => {
                    complaint.hint(format!("did you mean `{hyphened}`?"))
                }
                Some(near) => complaint.hint(format!("did you mean `{near}`?")),
                None => complaint.hint(available),
            }
        }
    }
}

fn usage_line(leaf: &Leaf) -> String {
    let rest = leaf.command.clone().override_help("").render_usage().to_string();
    let rest = rest.strip_prefix("Usage: ").unwrap_or(&rest);
    let rest = rest.strip_prefix(leaf.command.get_name()).unwrap_or(rest);
    format!("usage: gsd-tools {}{rest}", leaf.path)
}

fn longs(command: &clap::Command) -> impl Iterator<Item = &str> {
    command.get_arguments().filter_map(clap::Arg::get_long)
}

fn plain(value: &ContextValue) -> String {
    match value {
        ContextValue::String(text) => text.clone(),
        ContextValue::Strings(texts) => texts.join(", "),
        other => other.to_string(),
    }
}
