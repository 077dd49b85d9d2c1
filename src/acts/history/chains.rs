//! The commits that last changed files, found while git lists the history.
//!
//! For each file this is the commit that `git log -1 -- FILE` names. From a commit the search continues at the first
//! parent that has the same version of the file; if no parent has it, that commit changed it. So the answer for a file
//! at a commit never changes, and depends neither on dates nor on other queries: a result at one commit is valid for
//! every search that reaches it.

use std::collections::{BTreeMap, HashMap, HashSet};

/// When a file was last changed, in seconds since 1970; `None` if it is not in the history.
pub(super) type LastChange = Option<i64>;

/// What is known at a commit.
pub(super) type Known = BTreeMap<String, LastChange>;

/// Options that make git list what [`Chains::field`] reads; the start and the files follow them.
pub(super) const LISTED: &[&str] = &[
    "-c",
    "log.diffMerges=separate",
    "-c",
    "log.follow=false",
    "log",
    "--full-history",
    "--sparse",
    "--parents",
    "-m",
    "--root",
    "--name-status",
    "--no-renames",
    "--pretty=raw",
    "--no-abbrev-commit",
    "--no-decorate",
    "--no-notes",
    "--no-color",
    "--encoding=UTF-8",
    "--relative",
    "--ignore-missing",
    "-z",
];

/// The searches from one commit back to those that last changed files.
#[derive(Debug)]
pub(super) struct Chains<'call> {
    files: HashMap<&'call str, usize>,
    /// The results of earlier calls, by commit.
    known: &'call BTreeMap<String, Known>,
    names: &'call [String],
    /// The commits that searches have reached and that were not listed yet.
    waiting: HashMap<String, Vec<usize>>,
    /// The commits that were listed before a search reached them.
    listed: HashMap<String, ListedCommit>,
    answers: Vec<Option<LastChange>>,
    left: usize,
    reading: Option<(String, ListedCommit)>,
    /// Whether commits are kept after searches have passed them: if dates are out of order, another search may reach
    /// them later.
    pub(super) keeps_all: bool,
    /// The index of the parent that the current commit is compared with.
    parent: usize,
    status: Option<u8>,
}

/// A commit as listed.
#[derive(Debug, Default)]
struct ListedCommit {
    parents: Vec<String>,
    time: LastChange,
    /// By parent, the files that differ from it, and whether they are gone. A commit without parents has one entry all
    /// the same.
    differing: Vec<HashMap<usize, bool>>,
}

impl<'call> Chains<'call> {
    pub(super) fn new(names: &'call [String], known: &'call BTreeMap<String, Known>, head: &str) -> Self {
        let files = names.iter().enumerate().map(|(index, name)| (name.as_str(), index)).collect();
        let mut chains = Self {
            files,
            known,
            names,
            waiting: HashMap::new(),
            listed: HashMap::new(),
            answers: vec![None; names.len()],
            left: names.len(),
            reading: None,
            keeps_all: false,
            parent: 0,
            status: None,
        };
        chains.follow(head.to_owned(), (0..names.len()).collect());
        chains
    }

    /// Reads the next field of the list; returns false if nothing is left to find.
    pub(super) fn field(&mut self, field: &[u8]) -> bool {
        if let Some(status) = self.status.take() {
            self.differs(status, field);
        } else if let Some(header) = field.strip_prefix(b"commit ") {
            self.commit(&String::from_utf8_lossy(header));
            // The first differing file follows on a line of the same field; lines of a message are indented.
            self.status = match header.rsplit(|byte| *byte == b'\n').next() {
                Some([status]) => Some(*status),
                _ => None,
            };
        } else {
            self.status = field.first().copied();
        }
        self.left > 0
    }

    /// Handles the end of the list.
    pub(super) fn end(&mut self) {
        self.status = None;
        if let Some((commit, step)) = self.reading.take() {
            match self.waiting.remove(&commit) {
                Some(files) => {
                    self.pass(&step, files);
                    if self.keeps_all {
                        self.listed.insert(commit, step);
                    }
                }
                None => drop(self.listed.insert(commit, step)),
            }
        }
    }

    /// True if everything is found.
    pub(super) fn is_done(&self) -> bool {
        self.left == 0
    }

    /// The commits that searches have reached and that were not listed.
    pub(super) fn open_ends(&self) -> impl Iterator<Item = &str> {
        self.waiting.keys().map(String::as_str)
    }

    /// The files whose searches have not ended.
    pub(super) fn open_files(&self) -> impl Iterator<Item = &'call String> {
        let names = self.names;
        self.waiting.values().flatten().map(move |file| &names[*file])
    }

    /// Ends the open searches for files that are not among `there`: they are in no relevant commit.
    pub(super) fn none_but(&mut self, there: &HashSet<String>) {
        let mut waiting = std::mem::take(&mut self.waiting);
        for files in waiting.values_mut() {
            files.retain(|file| {
                let is_there = there.contains(&self.names[*file]);
                if !is_there {
                    self.answer(*file, None);
                }
                is_there
            });
        }
        waiting.retain(|_, files| !files.is_empty());
        self.waiting = waiting;
    }

    /// The results, by file.
    pub(super) fn found(&self) -> Known {
        let found = self.names.iter().zip(&self.answers);
        found.filter_map(|(name, answer)| Some((name.clone(), (*answer)?))).collect()
    }

    fn answer(&mut self, file: usize, answer: LastChange) {
        if self.answers[file].replace(answer).is_none() {
            self.left -= 1;
        }
    }

    /// Handles the start of a commit, or of its comparison with the next parent.
    fn commit(&mut self, text: &str) {
        let mut lines = text.lines();
        let first = lines.next().unwrap_or_default();
        let (words, from) = first.split_once(" (from ").unwrap_or((first, ""));
        let from = from.trim_end_matches(')');
        let mut words = words.split(' ');
        let name = words.next().unwrap_or_default();
        if self.reading.as_ref().is_none_or(|(reading, _)| reading != name) {
            self.end();
            let parents: Vec<String> = words.map(str::to_owned).collect();
            let committer = lines.take_while(|line| !line.is_empty()).find(|line| line.starts_with("committer "));
            let time = committer.and_then(|line| line.rsplit(' ').nth(1)).and_then(|time| time.parse().ok());
            let differing = vec![HashMap::new(); parents.len().max(1)];
            self.reading = Some((name.to_owned(), ListedCommit { parents, time, differing }));
        }
        let parents = self.reading.iter().flat_map(|(_, step)| &step.parents);
        self.parent = parents.into_iter().position(|parent| parent == from).unwrap_or(0);
    }

    fn differs(&mut self, status: u8, name: &[u8]) {
        let file = std::str::from_utf8(name).ok().and_then(|name| self.files.get(name).copied());
        let step = self.reading.as_mut().map(|(_, step)| step);
        if let (Some(file), Some(differing)) = (file, step.and_then(|step| step.differing.get_mut(self.parent))) {
            differing.insert(file, status == b'D');
        }
    }

    /// Follows the searches of files that have reached `commit`, until they end or reach an unlisted commit.
    fn follow(&mut self, commit: String, files: Vec<usize>) {
        let mut arriving = vec![(commit, files)];
        while let Some((commit, mut files)) = arriving.pop() {
            if let Some(known) = self.known.get(&commit) {
                files.retain(|file| match known.get(&self.names[*file]) {
                    Some(answer) => {
                        self.answer(*file, *answer);
                        false
                    }
                    None => true,
                });
            }
            if files.is_empty() {
                continue;
            }
            match self.listed.remove(&commit) {
                Some(step) => {
                    arriving.extend(self.onward(&step, files));
                    self.listed.insert(commit, step);
                }
                None => match self.waiting.get_mut(&commit) {
                    Some(waiting) => waiting.append(&mut files),
                    None => drop(self.waiting.insert(commit, files)),
                },
            }
        }
    }

    fn pass(&mut self, step: &ListedCommit, files: Vec<usize>) {
        for (commit, files) in self.onward(step, files) {
            self.follow(commit, files);
        }
    }

    /// Where the searches of files continue from a commit.
    fn onward(&mut self, step: &ListedCommit, files: Vec<usize>) -> Vec<(String, Vec<usize>)> {
        if let Some(parent) = step.parents.first().filter(|_| step.differing[0].is_empty()) {
            return vec![(parent.clone(), files)];
        }
        let mut onward: Vec<Vec<usize>> = vec![Vec::new(); step.parents.len()];
        for file in files {
            match step.differing.iter().position(|differing| !differing.contains_key(&file)) {
                Some(parent) => match onward.get_mut(parent) {
                    Some(onward) => onward.push(file),
                    None => self.answer(file, None),
                },
                None if step.differing[0].get(&file) == Some(&true) => self.answer(file, None),
                None => self.answer(file, step.time),
            }
        }
        step.parents.iter().cloned().zip(onward).filter(|(_, files)| !files.is_empty()).collect()
    }
}
