//! Extra words in a call: flags given twice, and words that a reading verb does not know. Programs written for the
//! compatible command line pass them; they do not change the meaning of the call.

use clap::{ArgAction, ArgMatches, Command};

use super::contract::ExitContract;
use crate::acts::listing::Effect;
use crate::failure::Failure;
use crate::frame::Family;
use crate::frame::usage::{self, Leaf, Unread, flag_named, is_text};

/// Verbs whose argument may have several words: without quotes, the rest of a name would be ignored, and the answer
/// would be about another name.
const NAMES: &[&str] = &["state get"];

/// Reads the words of a call, and returns warnings about those that are ignored.
///
/// If a flag is given twice, the first value counts; for verbs that act, the last, as in other programs. With the first
/// contract, a reading verb ignores words it does not know; a writing verb does not, because it could then do something
/// else than intended.
pub(crate) fn read(
    row: &Family,
    tree: &Command,
    words: &[String],
    contract: ExitContract,
) -> Result<(ArgMatches, Vec<String>), Failure> {
    let leaf = usage::leaf(tree, words);
    let effect = row.verb(&leaf.path).map(|verb| verb.effect);
    let acts = matches!(effect, Some(Effect::Acts | Effect::Runs));
    let (mut words, mut told) = without_repeats(leaf.command, words, leaf.depth, acts);
    let mut passed_over = Vec::new();
    loop {
        let apart = texts_apart(&leaf, &words);
        let (word, error) = match usage::attempt(row, tree, apart.as_deref().unwrap_or(&words)) {
            Ok(matches) => {
                if !passed_over.is_empty() {
                    told.push(format!("`{}` does not know {} and ignores it", leaf.path, passed_over.join(", ")));
                }
                return Ok((matches, told));
            }
            Err(Unread::Unknown { word, error }) => (word, *error),
            Err(Unread::Other(error)) => return Err(*error),
        };
        let is_it = |given: &String| {
            let rest = given.strip_prefix(&word);
            rest.is_some_and(|rest| rest.is_empty() || word.starts_with("--") && rest.starts_with('='))
        };
        let at = words.iter().rposition(is_it).filter(|at| *at >= leaf.depth);
        let is_rest_of_a_name = NAMES.contains(&leaf.path.as_str()) && !word.starts_with('-');
        let is_passed_over = effect == Some(Effect::Reads) && contract == ExitContract::V1 && !is_rest_of_a_name;
        let Some(at) = at.filter(|_| is_passed_over) else {
            return Err(error);
        };
        passed_over.insert(0, format!("`{}`", words.remove(at)));
    }
}

/// The words with each flag only once, and warnings about flags with different values. Repeatable flags stay.
fn without_repeats(command: &Command, words: &[String], depth: usize, last: bool) -> (Vec<String>, Vec<String>) {
    let takes_the_rest = command.get_arguments().any(clap::Arg::is_trailing_var_arg_set);
    if takes_the_rest {
        return (words.to_vec(), Vec::new());
    }
    // Each flag with its values, or a single word.
    let mut parts: Vec<(Option<&str>, &[String])> = Vec::new();
    let mut at = depth;
    while at < words.len() && words[at] != "--" {
        let (name, attached) = words[at].split_once('=').map_or((words[at].as_str(), false), |(name, _)| (name, true));
        let argument = Some(name).filter(|name| name.starts_with('-')).and_then(|name| flag_named(command, name));
        let values = argument.map_or(0, |argument| match argument.get_action() {
            ArgAction::Set if !attached => values_of(argument, &words[at + 1..]),
            _ => 0,
        });
        let once = argument.filter(|argument| !matches!(argument.get_action(), ArgAction::Append | ArgAction::Count));
        parts.push((once.map(|argument| argument.get_id().as_str()), &words[at..=at + values]));
        at += 1 + values;
    }
    let rest = &words[at..];
    let (mut kept, mut told) = (words[..depth].to_vec(), Vec::new());
    for (index, (id, part)) in parts.iter().enumerate() {
        let same = |(other, _): &(Option<&str>, &[String])| id.is_some() && other == id;
        let counts = if last { parts.iter().rposition(same) } else { parts.iter().position(same) };
        match counts.filter(|counts| *counts != index) {
            None => kept.extend_from_slice(part),
            Some(counts) if parts[counts].1 != *part => {
                told.push(format!("`{}` is ignored, since `{}` counts", part.join(" "), parts[counts].1.join(" ")));
            }
            Some(_) => {}
        }
    }
    kept.extend_from_slice(rest);
    (kept, told)
}

/// How many of `words` are values of a flag, according to clap.
fn values_of(argument: &clap::Arg, words: &[String]) -> usize {
    let count = argument.get_num_args().map_or((1, 1), |count| (count.min_values(), count.max_values()));
    if count == (1, 1) {
        return words.len().min(1);
    }
    words.iter().take(count.1).take_while(|word| !word.starts_with('-')).count()
}

/// Moves the arguments that are not flags after a `--`, so that they may begin with a hyphen. `None` if none of them
/// does, or if one could be a value of a flag with several values.
fn texts_apart(leaf: &Leaf<'_>, words: &[String]) -> Option<Vec<String>> {
    let own = &words[leaf.depth..];
    let takes_the_rest = leaf.command.get_arguments().any(clap::Arg::is_trailing_var_arg_set);
    if takes_the_rest || !own.iter().take_while(|word| *word != "--").any(|word| is_text(word)) {
        return None;
    }
    let (mut flags, mut texts) = (words[..leaf.depth].to_vec(), Vec::new());
    let mut rest = own.iter().peekable();
    while let Some(word) = rest.next() {
        if word == "--" {
            texts.extend(rest.by_ref().cloned());
        } else if !word.starts_with('-') || word == "-" || is_text(word) {
            texts.push(word.clone());
        } else {
            flags.push(word.clone());
            let Some(argument) = flag_named(leaf.command, word) else { continue };
            let most = argument.get_num_args().map_or(1, |count| count.max_values());
            match argument.get_action() {
                ArgAction::Set | ArgAction::Append if most == 1 => flags.extend(rest.next().cloned()),
                ArgAction::Set | ArgAction::Append => {
                    while let Some(value) = rest.next_if(|value| !value.starts_with('-')) {
                        flags.push(value.clone());
                    }
                    if rest.peek().is_some_and(|next| is_text(next)) {
                        return None;
                    }
                }
                _ => {}
            }
        }
    }
    flags.push("--".to_owned());
    flags.extend(texts);
    Some(flags)
}
