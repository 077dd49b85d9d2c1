//! The cost of a play: by command that the person typed, by verb, and by library text that was read.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;

use crate::clients::witness::Call;

/// A library text that was read, by its path in the library, and its length.
pub(crate) type Read = (String, usize);

/// The part of a play that one typed command began: its range of the calls and of the texts that were read.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) typed: String,
    pub(crate) calls: Range<usize>,
    pub(crate) texts: Range<usize>,
}

/// The three tables.
pub(crate) fn tables(steps: &[Step], calls: &[Call], texts: &[Read]) -> String {
    let mut table = "| step | calls | answered, bytes | our texts read, bytes |\n|---|---:|---:|---:|\n".to_owned();
    for Step { typed, calls: of_calls, texts: of_texts } in steps {
        let answered: usize = calls[of_calls.clone()].iter().map(|call| call.bytes).sum();
        let read: usize = texts[of_texts.clone()].iter().map(|(_, bytes)| bytes).sum();
        writeln!(table, "| {typed} | {} | {answered} | {read} |", of_calls.len()).unwrap();
    }
    let named = calls.iter().map(|call| (verb_of(&call.arguments), call.bytes));
    table += &sums("verb", named);
    table + &sums("text", texts.iter().cloned())
}

/// How often each was read or called, and the total bytes, the largest first.
fn sums(what: &str, had: impl Iterator<Item = Read>) -> String {
    let mut sums: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for (name, bytes) in had {
        let sum = sums.entry(name).or_default();
        *sum = (sum.0 + 1, sum.1 + bytes);
    }
    let mut sums: Vec<(String, (usize, usize))> = sums.into_iter().collect();
    sums.sort_by_key(|(_, (_, bytes))| std::cmp::Reverse(*bytes));
    let rows = sums.iter().map(|(name, (times, bytes))| format!("| {name} | {times} | {bytes} |\n"));
    format!("\n| {what} | times | bytes |\n|---|---:|---:|\n{}", rows.collect::<String>())
}

/// The first words of a call, which say what is asked.
fn verb_of(arguments: &str) -> String {
    let is_word = |word: &&str| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    let mut words = arguments.split(' ').peekable();
    // If the client gives its agents no separate folder, the call names the folder.
    if words.peek() == Some(&"--cwd") {
        words.nth(1);
    }
    words.take(2).take_while(is_word).filter(|word| !word.starts_with('-')).collect::<Vec<_>>().join(" ")
}
