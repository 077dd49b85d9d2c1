//! Finds the plans that a session left half done: they have commits or uncommitted changes and no SUMMARY, or a SUMMARY
//! and no mark in the roadmap. Read from files without starting git.

use std::collections::HashSet;
use std::path::Component::{CurDir, Normal};
use std::path::Path;

use super::checkout::Checkout;
use super::position::PositionWords;
use super::scene::Scene;
use crate::project::folder::{PhaseFolder, canonical_id, plan_id};
use crate::project::phase::short;
use crate::project::plan::PhasePlan;
use crate::project::plan_commits;
use crate::project::view::ProjectView;
use crate::project::wave::WaveNote;
use crate::text::screen::counted;
use crate::text::shell::{Typed, typed};

/// One line about interrupted work, with the command that continues it; `None` without any.
pub(super) fn line(scene: &Scene<'_>) -> Option<String> {
    let found = look(scene.project.view(), scene.wave().as_ref())?;
    let (number, command) = (short(&found.phase), scene.command("execute-phase"));
    let command = typed!("{} {}", Typed::of_quoted(command), number);
    Some(format!("Interrupted: {}. Continue with `{command}`.", found.what))
}

/// Interrupted work in a few words; `None` without any. `wave` is the wave that is not merged yet.
pub(crate) fn found(view: &ProjectView, wave: Option<&WaveNote>) -> Option<String> {
    look(view, wave).map(|found| found.what)
}

fn look(view: &ProjectView, wave: Option<&WaveNote>) -> Option<Interrupted> {
    let root = view.layout().root();
    let checkout = Checkout::of(root);
    let position = || view.state().ok().flatten().and_then(|state| PositionWords::of_state(state.text()));
    let changed = |plans: &[String]| match &checkout {
        Some(checkout) => changed_by(view, root, checkout, plans),
        None => vec![0; plans.len()],
    };
    of_wave(wave, view).or_else(|| unclosed(view, &position()?)).or_else(|| {
        match checkout.as_ref().and_then(Checkout::log_of_head) {
            Some(log) => by_commits(view, &commits(&log), &changed).or_else(|| by_changes(view, position()?, &changed)),
            None => by_state(view, position()?),
        }
    })
}

/// The half-done work of a phase: its plans and what they lack, such as `02-02 has no SUMMARY (1 commit)`.
struct Interrupted {
    phase: String,
    what: String,
}

/// The plans of a wave whose worktrees were never merged: the commits of their executors are not in this tree.
fn of_wave(note: Option<&WaveNote>, view: &ProjectView) -> Option<Interrupted> {
    let note = note?;
    let folder = view.find_phase(note.phase.as_deref()?).ok()?.folder?;
    let open = unfinished(view, &folder);
    let is_open = |id: &&str| open.iter().any(|plan| number(plan) == Some(id));
    let plans: Vec<&str> = note.plans.iter().map(|plan| canonical_id(&plan.id)).filter(is_open).collect();
    let are = if plans.len() == 1 { "is in a worktree that is" } else { "are in worktrees that are" };
    let what = format!("{} {are} not merged", plans.join(", "));
    (!plans.is_empty()).then(|| Interrupted { phase: folder.token().to_owned(), what })
}

/// The plans of the current phase that were executed, and perhaps merged, but are not in the documents yet.
fn unclosed(view: &ProjectView, position: &PositionWords) -> Option<Interrupted> {
    let folder = view.find_phase(position.phase.as_deref()?).ok()?.folder.filter(|folder| folder.archived.is_none())?;
    let plans = view.unclosed_plans(&folder).ok()?;
    let were = if plans.len() == 1 { "was" } else { "were" };
    let what = format!("{} {were} executed and not closed", plans.join(", "));
    (!plans.is_empty()).then(|| Interrupted { phase: folder.token().to_owned(), what })
}

/// The first phase with plans that have commits and no SUMMARY.
fn by_commits(
    view: &ProjectView,
    commits: &[Commit<'_>],
    changed: &dyn Fn(&[String]) -> Vec<usize>,
) -> Option<Interrupted> {
    let scopes: HashSet<&str> = commits.iter().filter_map(Commit::scope).collect();
    let folders = view.phase_folders().ok()?;
    let begun = |folder: &PhaseFolder| folder.plans().filter_map(number).any(|number| scopes.contains(number));
    let mut begun = folders.iter().filter(|folder| begun(folder));
    begun.find_map(|folder| {
        let what = begun_in(view, folder, commits, changed)?;
        Some(Interrupted { phase: folder.token().to_owned(), what })
    })
}

/// The first open plan of a phase in execution with changed files and no commit yet.
fn by_changes(
    view: &ProjectView,
    position: PositionWords,
    changed: &dyn Fn(&[String]) -> Vec<usize>,
) -> Option<Interrupted> {
    let phase = position.phase.filter(|_| position.status.as_deref() == Some("executing"))?;
    let folder = view.find_phase(&phase).ok()?.folder?;
    let plans = unfinished(view, &folder);
    let paths: Vec<String> = plans.iter().map(|plan| folder.join(plan)).collect();
    let (plan, count) = plans.iter().zip(changed(&paths)).find(|(_, count)| *count > 0)?;
    let what = format!("{} has no SUMMARY ({})", number(plan)?, counted(count, "changed file"));
    Some(Interrupted { phase: folder.token().to_owned(), what })
}

/// How many files of each plan are changed and not committed; `root` is the project's root.
fn changed_by(view: &ProjectView, root: &Path, checkout: &Checkout, plans: &[String]) -> Vec<usize> {
    let folder = root.strip_prefix(&checkout.root).unwrap_or(Path::new("")).to_string_lossy().replace('\\', "/");
    let from_root = |file: &String| match (file.trim_start_matches("./"), folder.as_str()) {
        (file, "") => file.to_owned(),
        (file, folder) => format!("{folder}/{file}"),
    };
    // A plan that came with a clone may name any path: only those below the checkout are examined.
    let is_below = |file: &&String| Path::new(file).components().all(|part| matches!(part, Normal(_) | CurDir));
    let of_plan = |plan: &String| -> Vec<String> {
        let text = view.text(plan).ok().flatten().unwrap_or_default();
        PhasePlan::parse(&text).files_modified().iter().filter(is_below).map(from_root).collect()
    };
    let files: Vec<Vec<String>> = plans.iter().map(of_plan).collect();
    let all = files.concat();
    let changed: HashSet<&str> = checkout.changed(&all).into_iter().collect();
    files.iter().map(|files| files.iter().filter(|file| changed.contains(file.as_str())).count()).collect()
}

/// The first open plan of a phase in execution that has some SUMMARYs: without any, it may not have begun.
fn by_state(view: &ProjectView, position: PositionWords) -> Option<Interrupted> {
    let phase = position.phase.filter(|_| position.status.as_deref() == Some("executing"))?;
    let folder = view.find_phase(&phase).ok()?.folder.filter(|folder| folder.summaries().next().is_some())?;
    let open = unfinished(view, &folder).into_iter().next()?;
    Some(Interrupted { phase: folder.token().to_owned(), what: format!("{} has no SUMMARY", number(&open)?) })
}

/// The plans of a phase that have no SUMMARY.
fn unfinished(view: &ProjectView, folder: &PhaseFolder) -> Vec<String> {
    let mut plans = view.current_plans(folder).unwrap_or_default();
    plans.retain(|plan| folder.summary_of(plan).is_none() && number(plan).is_some());
    plans
}

/// The number of a plan, such as `02-02`, which is the scope of its commits.
fn number(plan: &str) -> Option<&str> {
    let number = canonical_id(plan_id(plan));
    let is_number = number.ends_with(|last: char| last.is_ascii_digit());
    Some(number).filter(|number| is_number && !number.contains(['/', ' ']))
}

/// The plans of a phase that were begun. Commits older than a plan belong to another plan with the same number.
fn begun_in(
    view: &ProjectView,
    folder: &PhaseFolder,
    commits: &[Commit<'_>],
    changed: &dyn Fn(&[String]) -> Vec<usize>,
) -> Option<String> {
    let mut begun = Vec::new();
    for plan in unfinished(view, folder) {
        let path = folder.join(&plan);
        let written = view.touched_at(&path).unwrap_or_default() / 1000;
        let of_plan = |commit: &&Commit<'_>| commit.time >= written && commit.scope() == number(&plan);
        match (number(&plan), commits.iter().filter(of_plan).count()) {
            (None, _) | (_, 0) => {}
            (Some(number), count) => begun.push(((number.to_owned(), counted(count, "commit")), path)),
        }
    }
    let (begun, paths): (Vec<_>, Vec<String>) = begun.into_iter().unzip();
    let said = |((plan, commits), files): ((String, String), usize)| match files {
        0 => format!("{plan} has no SUMMARY ({commits})"),
        files => format!("{plan} has no SUMMARY ({commits}, {})", counted(files, "changed file")),
    };
    let begun: Vec<String> = begun.into_iter().zip(changed(&paths)).map(said).collect();
    (!begun.is_empty()).then(|| begun.join("; "))
}

/// A commit that is in the history of HEAD.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Commit<'log> {
    /// Seconds since 1970.
    time: i64,
    subject: &'log str,
}

impl<'log> Commit<'log> {
    /// The scope of the subject: `02-02` of `feat(02-02): read notes`.
    fn scope(&self) -> Option<&'log str> {
        plan_commits::scope(self.subject)
    }
}

/// The commits that were made in this checkout and that HEAD still contains, newest first, from git's log of HEAD.
/// Commits that came from a merge or a pull have no line there.
fn commits(log: &str) -> Vec<Commit<'_>> {
    let mut commits = Vec::new();
    // Commits in the history of HEAD whose line is still to come.
    let mut in_history: HashSet<&str> = HashSet::new();
    let mut replaced: HashSet<&str> = HashSet::new();
    for entry in log.lines().rev().filter_map(ReflogEntry::parse) {
        if in_history.is_empty() {
            in_history.insert(entry.new);
        }
        if !in_history.contains(entry.new) {
            continue;
        }
        let (action, subject) = entry.message.split_once(": ").unwrap_or((entry.message, ""));
        let (verb, how) = action.split_once(' ').unwrap_or((action, ""));
        match (verb, how) {
            ("commit", "(amend)") | ("rebase", "(squash)" | "(fixup)" | "(reword)") => {
                if !replaced.contains(entry.new) {
                    commits.push(Commit { time: entry.time, subject });
                }
                replaced.insert(entry.old);
            }
            ("commit" | "cherry-pick" | "revert" | "am", _) | ("rebase", "(pick)" | "(continue)" | "(edit)") => {
                if !replaced.contains(entry.new) {
                    commits.push(Commit { time: entry.time, subject });
                }
            }
            ("merge" | "pull", _) => {
                // The commit before it is in the history too; the merged commits may have been made here, on another
                // branch.
                in_history.insert(entry.old);
                continue;
            }
            // HEAD moved elsewhere: the line of its commit comes earlier.
            _ => continue,
        }
        in_history.remove(entry.new);
        in_history.insert(entry.old);
    }
    commits
}

/// A line of git's log of HEAD: `<old> <new> <name> <<address>> <time> <zone>`, a tab, and the action.
struct ReflogEntry<'log> {
    old: &'log str,
    new: &'log str,
    time: i64,
    message: &'log str,
}

impl<'log> ReflogEntry<'log> {
    fn parse(line: &'log str) -> Option<Self> {
        let (head, message) = line.split_once('\t')?;
        let mut ends = head.rsplit(' ');
        let time = ends.nth(1)?.parse().ok()?;
        let mut starts = head.split(' ');
        Some(Self { old: starts.next()?, new: starts.next()?, time, message })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The subjects and scopes in a log written as `old new message`, with the line's number as the time.
    fn told(lines: &[&str]) -> Vec<String> {
        let line = |(time, line): (usize, &&str)| {
            let (ids, message) = line.split_once('\t').unwrap();
            format!("{ids} A B <a@b> {time} +0100\t{message}\n")
        };
        let log: String = lines.iter().enumerate().map(line).collect();
        commits(&log).iter().map(|commit| format!("{} {}", commit.time, commit.scope().unwrap_or("-"))).collect()
    }

    #[test]
    fn commits_that_head_contains_are_counted_once() {
        let log = ["0 a\tcommit (initial): chore: begin", "a b\tcommit: feat(02-01): x", "b c\tcommit: fix(02-02)!: y"];
        assert_eq!(told(&log), ["2 02-02", "1 02-01", "0 -"]);
        let amended = [&log[..], &["c d\tcommit (amend): fix(02-03): y"]].concat();
        assert_eq!(told(&amended), ["3 02-03", "1 02-01", "0 -"]);
        let reset = [&log[..], &["c b\treset: moving to HEAD~1"]].concat();
        assert_eq!(told(&reset), ["1 02-01", "0 -"]);
        let elsewhere = [&log[..], &["c a\tcheckout: moving from main to old"]].concat();
        assert_eq!(told(&elsewhere), ["0 -"]);
        let back = [&elsewhere[..], &["a c\tcheckout: moving from old to main"]].concat();
        assert_eq!(told(&back), ["2 02-02", "1 02-01", "0 -"]);
    }

    #[test]
    fn merges_and_rebases_keep_what_was_committed_here() {
        let branch =
            ["0 a\tcommit (initial): x", "a a\tcheckout: moving from main to b", "a b\tcommit: feat(01-01): x"];
        let merged = [&branch[..], &["b a\tcheckout: moving from b to main", "a b\tmerge b: Fast-forward"]].concat();
        assert_eq!(told(&merged), ["2 01-01", "0 -"]);
        let rebased = [
            &branch[..],
            &[
                "b m\trebase (start): checkout main",
                "m n\trebase (pick): feat(01-01): x",
                "n n\trebase (finish): returning",
            ],
        ]
        .concat();
        assert_eq!(told(&rebased), ["4 01-01"]);
        assert_eq!(told(&[]), Vec::<String>::new());
        assert!(commits("no log\n\t\n0 a x\t\n").is_empty());
    }
}
