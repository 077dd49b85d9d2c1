//! What a word of a command means: a secret file, or something printed from one.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use super::names::{GuardedNames, SecretKind};
use super::place::{MOST_ENTRIES, Reach, WorkingFolder};
use crate::text::shell::{Argument, Spelling, UNKNOWN};

/// Judges names by the table, by the files on disk if their place is known, and by the script so far.
pub(super) struct Judge<'names> {
    pub(super) names: &'names GuardedNames,
    /// The script's folder, if it is known.
    pub(super) place: Option<WorkingFolder>,
    /// The secret files whose output is in variables and other commands; see [`Spelling::results`].
    held: BTreeMap<u32, String>,
    /// How many more names may be checked for links: each costs a system call.
    links: Cell<usize>,
    /// How many more names may be compared with the whole table, and how many folder entries examined.
    full: Cell<usize>,
    entries: Cell<usize>,
}

/// At most this many names of one script are compared with the whole table; ordinary commands have far fewer.
const FULL: usize = 2_000;

/// Texts that most secret names contain.
const TELLING: &[&str] =
    &["env", "key", "pem", "id_", "cred", "secret", "rc", ".kube", "docker", "auth", "tfvars", "tfstate"];

/// At most this many names of one script are checked for links.
const LINKS: usize = 500;

impl<'names> Judge<'names> {
    pub(super) fn new(names: &'names GuardedNames, place: Option<WorkingFolder>) -> Self {
        Self {
            names,
            place,
            held: BTreeMap::new(),
            links: Cell::new(LINKS),
            full: Cell::new(FULL),
            entries: Cell::new(MOST_ENTRIES),
        }
    }

    pub(super) fn hold(&mut self, result: u32, file: String) {
        self.held.insert(result, file);
    }

    /// Follows `cd`.
    pub(super) fn change_folder(&mut self, to: Option<&str>) {
        self.place = self.place.as_ref().and_then(|place| place.moved(to?));
    }

    /// The secret file from which something in a word was printed.
    pub(super) fn held(&self, argument: &Argument) -> Option<String> {
        argument.results().find_map(|result| self.held.get(&result).cloned())
    }

    /// The name of a secret file that an argument may mean.
    pub(super) fn secret(&self, argument: &Argument) -> Option<String> {
        if argument.spellings.iter().any(Spelling::is_process) {
            return self.held(argument);
        }
        argument.names().find_map(|name| self.secret_name(&name))
    }

    /// The same for the text after `mark` in an argument.
    pub(super) fn secret_behind(&self, argument: &Argument, mark: char) -> Option<String> {
        argument.names().filter_map(|name| name.behind(mark)).find_map(|name| self.secret_name(&name))
    }

    /// The secret file that a word of a shell matches.
    fn secret_name(&self, name: &Spelling) -> Option<String> {
        if name.starts_with("http://") || name.starts_with("https://") {
            return None;
        }
        if let Some(folder) = name.folder_of_all() {
            let reach = Reach { hidden: true, ignored: true };
            let found = self.secrets_below(&folder, reach);
            return found.into_iter().next().map(|(name, _)| name);
        }
        let text = name.text();
        if !name.file_name().has_wildcards() {
            return self.is_secret(&text).then(|| shown(&text));
        }
        let folder = text.rsplit_once('/').map_or("", |(folder, _)| folder);
        if self.names.row(folder).is_some_and(|row| row.kind == SecretKind::Other && row.is_certain()) {
            return Some(shown(&text));
        }
        match self.place.as_ref().and_then(|place| place.expanded(name, &self.entries)) {
            Some(found) => found.into_iter().find(|name| self.is_secret(name)),
            None => self.names.is_found_by(name).then(|| shown(&text)),
        }
    }

    /// True if the file with this name is secret.
    pub(super) fn is_secret(&self, name: &str) -> bool {
        let left = self.full.get();
        self.full.set(left.saturating_sub(1));
        if left == 0 && !TELLING.iter().any(|text| name.contains(text)) {
            return false;
        }
        let Some(row) = self.names.row(name) else {
            let left = self.links.get();
            self.links.set(left.saturating_sub(1));
            let real = self.place.as_ref().filter(|_| left > 0).and_then(|place| place.behind_link(name));
            return real.is_some_and(|real| self.names.row(&real).is_some() && self.is_secret(&real));
        };
        if row.is_certain() {
            return true;
        }
        // Of `$NAME.pem`, only the ending is known.
        let is_named = !name.rsplit('/').next().unwrap_or_default().starts_with(UNKNOWN);
        self.content(name).map_or(is_named && !row.is_seen, |content| row.is_secret(&content))
    }

    /// A word of a text that is the usual name of a secret file, or that might be one if there are too many to compare.
    pub(super) fn named_in(&self, text: &str) -> Option<String> {
        let of_name = |letter: char| letter.is_alphanumeric() || "._-/~".contains(letter);
        // A `\` may be a mark of a shell or a part of a path.
        let plain = text.replace(['\'', '"'], "");
        [plain.replace('\\', ""), plain.replace('\\', "/")].iter().find_map(|plain| {
            let words: BTreeSet<&str> = plain.split(|letter| !of_name(letter)).collect();
            let words = words.into_iter().map(|word| word.trim_end_matches('/'));
            let telling = words.filter(|word| TELLING.iter().any(|text| word.contains(text)));
            let mut telling = telling.enumerate();
            let found = telling.find(|(at, word)| *at >= FULL || self.names.row(word).is_some());
            found.map(|(_, word)| word.to_owned())
        })
    }

    /// The secret files below a folder that a search reaches, with their contents.
    pub(super) fn secrets_below(&self, folder: &str, reach: Reach) -> Vec<(String, String)> {
        let below = |place: &WorkingFolder| place.secrets_below(folder, reach, self.names, &self.entries);
        self.place.as_ref().map(below).unwrap_or_default()
    }

    /// The contents of a file, if they can be read.
    pub(super) fn content(&self, name: &str) -> Option<String> {
        self.place.as_ref()?.content(name)
    }

    /// True if the lines of the file are `NAME=value`.
    pub(super) fn is_environment(&self, name: &str) -> bool {
        self.names.row(name).is_some_and(|row| row.kind == SecretKind::Environment)
    }
}

pub(super) fn shown(name: &str) -> String {
    name.replace(UNKNOWN, "…")
}
