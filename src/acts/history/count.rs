//! How many commits there are, and how many came after one.

use super::History;
use super::memory::{Memory, Note};

/// The commits between one commit and a later one.
struct CommitsBetween {
    commits: u64,
    /// The day of the first commit without parents among them.
    first: Option<String>,
}

impl History {
    pub(crate) fn commits(&self) -> Option<(u64, Option<String>)> {
        let memory = self.memory.as_ref();
        let counted = self.found(
            |note| note.commits.clone(),
            |(commits, first), step| (commits + step.commits, first.into_iter().chain(step.first).min()),
        );
        let counted = counted.or_else(|| {
            let count = self.told(["rev-list", "--count", &self.head, "--"])?.trim().parse().ok()?;
            let roots = self.told(["log", "--max-parents=0", "--format=%as", &self.head, "--"]);
            Some((count, roots.as_deref().and_then(|roots| earliest(roots.lines()))))
        })?;
        if let Some(memory) = memory {
            self.keep(
                memory,
                |note| note.commits.as_ref() != Some(&counted),
                |note| note.commits = Some(counted.clone()),
            );
        }
        Some(counted)
    }

    pub(crate) fn since(&self, commit: &str) -> Option<u64> {
        let known = self.found(|note| note.since.get(commit).copied(), |since, step| since + step.commits);
        let (since, is_ancestor) = if let Some(since) = known {
            (since, true)
        } else {
            let line = ["rev-list", "--left-right", "--count", &format!("{commit}...{}", self.head), "--"];
            let told = self.told(line)?;
            let (left, right) = told.trim().split_once('\t')?;
            (right.parse().ok()?, left == "0")
        };
        // A commit that is not an ancestor may be gone one day, so it is not stored.
        if let Some(memory) = self.memory.as_ref().filter(|_| is_ancestor && super::memory::is_commit(commit)) {
            let add = |note: &mut Note| note.since.extend([(commit.to_owned(), since)]);
            self.keep(memory, |note| note.since.get(commit) != Some(&since), add);
        }
        Some(since)
    }

    /// The value stored at this commit, or at an earlier one with the commits since then.
    fn found<T>(&self, at: impl Fn(&Note) -> Option<T>, add: impl Fn(T, CommitsBetween) -> T) -> Option<T> {
        let memory = self.memory.as_ref()?;
        if let Some(known) = memory.note(&self.head).as_ref().and_then(&at) {
            return Some(known);
        }
        let bases = memory.bases(&self.head);
        let mut bases = bases.iter().filter_map(|(commit, note)| Some((commit, at(note)?)));
        bases.find_map(|(commit, known)| Some((known, self.step(commit)?))).map(|(known, step)| add(known, step))
    }

    /// The commits from `base` to here; `None` if it is not an ancestor.
    fn step(&self, base: &str) -> Option<CommitsBetween> {
        let range = format!("{base}...{}", self.head);
        let told = self.told(["log", "--left-right", "--no-color", "--format=%m %as %P", &range, "--"])?;
        let lines: Vec<(&str, &str)> =
            told.lines().map(|line| line.split_at_checked(1).unwrap_or((line, ""))).collect();
        if lines.iter().any(|(side, _)| *side != ">") {
            return None;
        }
        let roots = lines.iter().filter_map(|(_, line)| line.trim_start().strip_suffix(' '));
        Some(CommitsBetween { commits: lines.len() as u64, first: earliest(roots) })
    }

    fn keep(&self, memory: &Memory, is_new: impl Fn(&Note) -> bool, add: impl FnOnce(&mut Note)) {
        if memory.note(&self.head).is_none_or(|note| is_new(&note)) {
            memory.add(&self.head, add);
        }
    }
}

fn earliest<'day>(days: impl Iterator<Item = &'day str>) -> Option<String> {
    days.map(str::trim).filter(|day| !day.is_empty()).min().map(str::to_owned)
}
