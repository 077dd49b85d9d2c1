//! `plan undo`: one commit that reverts the commits of a plan, including the changes in the documents.
//!
//! The commit is made outside the working tree, from trees that git merges, and then the branch moves forward to it:
//! git refuses if that would touch uncommitted changes, and changes all or nothing.

use crate::acts::facts;
use crate::acts::writing::Target;
use std::collections::BTreeSet;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use super::repository::{Repository, complaint};
use super::scratch::GitScratch;
use crate::acts::Call;
use crate::failure::Failure;
use crate::operations::answers::changes;
use crate::operations::plans::close::PlanPlace;
use crate::operations::plans::undo;
use crate::project::plan_commits;
use crate::project::view::{Edits, ProjectView};
use crate::text::shell::typed;
use crate::world::{Finished, Program};

/// What `plan undo` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct UndoReport {
    plan: String,
    /// The reverted commits, newest first.
    commits: Vec<UndoneCommit>,
    /// The changed files, without the documents that record the progress.
    files: Vec<String>,
    requirements_reopened: Vec<String>,
    /// Later commits that change the same files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    later: Vec<UndoneCommit>,
    /// The new commit; null in a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
struct UndoneCommit {
    hash: String,
    subject: String,
}

/// Reverts the plan `place`.
pub(crate) fn undo_plan(call: &Call, place: &PlanPlace, reason: Option<&str>) -> Result<UndoReport, Failure> {
    let git = UndoGit::of(call)?;
    let head = git.must(&["rev-parse", "--verify", "HEAD^{commit}"])?;
    let commits = git.commits_of(place.id())?;
    if commits.is_empty() {
        return Err(Failure::usage(format!("no commit of plan {} is left to take back", place.id())).hint(format!(
            "list commits with `{}`",
            typed!("git log --oneline -E --grep={}", plan_commits::pattern(place.id()))
        )));
    }
    let facts = facts::state_facts(call)?;
    let prepare = |view: &ProjectView| {
        let (requirements_reopened, edits) = undo::undo(view, place, &facts)?;
        let documents = Documents::of(view, &edits, &git.prefix);
        git.refuse_unfinished(&commits, &documents)?;
        let tree = git.without(&head, &commits, &documents)?;
        let (tree, untracked) = git.with_documents(&head, &tree, &documents, &edits)?;
        let mut files = git.paths(&["diff", "--name-only", "-z", "--no-renames", &head, &tree])?;
        files.retain(|path| !documents.has(path));
        let later = git.later(&commits, &files)?;
        let plan = place.id().to_owned();
        let report = UndoReport { plan, commits: commits.clone(), files, requirements_reopened, later, commit: None };
        Ok::<_, Failure>((report, tree, edits, untracked))
    };
    if call.is_rehearsal() {
        let view = call.view();
        let (report, _, edits, _) = prepare(&view)?;
        call.note_rehearsed(&changes::diff(&view, &edits)?);
        return Ok(report);
    }
    let mut made = None;
    let mut report = call.write(Target::Project, |view| {
        let (report, tree, _, untracked) = prepare(view)?;
        made = Some(git.commit(&head, &tree, place.id(), reason, &commits)?);
        // Untracked documents are written by the transaction; the others came with the commit.
        Ok((report, untracked))
    })?;
    report.commit = made.map(|hash| hash.chars().take(7).collect());
    Ok(report)
}

/// The documents that record the progress, which the commit contains in their final form.
struct Documents {
    tracking: BTreeSet<String>,
    /// The path from the repository's folder to the project's.
    prefix: String,
}

impl Documents {
    fn of(view: &ProjectView, edits: &Edits, prefix: &str) -> Self {
        let layout = view.layout();
        let usual = [layout.state(), layout.state_mirror(), layout.roadmap(), layout.requirements()];
        let tracking = usual.into_iter().chain(edits.texts.keys().cloned()).collect();
        Self { tracking, prefix: prefix.to_owned() }
    }

    fn has(&self, path: &str) -> bool {
        path.strip_prefix(&self.prefix).is_some_and(|path| self.tracking.contains(path))
    }
}

/// Git in the repository of the project; in a rehearsal its objects go elsewhere.
struct UndoGit<'call> {
    call: &'call Call,
    /// The folder of the working tree, and the path from there to the project.
    top: PathBuf,
    prefix: String,
    scratch: GitScratch,
    index: GitScratch,
}

impl<'call> UndoGit<'call> {
    fn of(call: &'call Call) -> Result<Self, Failure> {
        super::repository::refuse_repository_of_others(call.root())?;
        let repository = Repository::of(call);
        if repository.is_amid_another_commit() {
            return Err(Failure::usage("git is in the middle of a merge, rebase or revert; nothing was changed")
                .hint("finish it or abort it, as `git status` says, and call again"));
        }
        if repository.branch().is_none() {
            return Err(Failure::usage("no branch is checked out; nothing was changed")
                .hint("check out the branch that has the plan's commits"));
        }
        if let Some(complaint) = repository.complaint_of_author() {
            return Err(Failure::usage(complaint).hint("set `user.name` and `user.email` with `git config`"));
        }
        let asked = |word: &str| {
            let told = call.world().git(call.root().as_path(), ["rev-parse", word])?;
            Ok::<_, Failure>(told.text())
        };
        let (top, prefix) = (PathBuf::from(asked("--show-toplevel")?), asked("--show-prefix")?);
        let beside = || GitScratch::beside(call, call.root());
        Ok(Self { call, top, prefix, scratch: beside()?, index: beside()? })
    }

    fn program(&self, arguments: &[&str]) -> Program {
        let program = if self.call.is_rehearsal() {
            self.scratch.divert(self.call.world().still_git(&self.top))
        } else {
            Program::git(&self.top)
        };
        program.arguments(arguments)
    }

    fn run(&self, program: &Program) -> Result<Finished, Failure> {
        Ok(self.call.world().run(program)?)
    }

    /// Git's output; its complaint is the error.
    fn must(&self, arguments: &[&str]) -> Result<String, Failure> {
        self.answered(&self.program(arguments))
    }

    fn answered(&self, program: &Program) -> Result<String, Failure> {
        let finished = self.run(program)?;
        if !finished.success() {
            return Err(Failure::usage(format!("refused by git: {}", complaint(&finished)))
                .hint("nothing was changed; see `git status`"));
        }
        Ok(finished.text().trim_end().to_owned())
    }

    fn paths(&self, arguments: &[&str]) -> Result<Vec<String>, Failure> {
        Ok(self.must(arguments)?.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect())
    }

    fn log(&self, arguments: &[&str]) -> Result<Vec<UndoneCommit>, Failure> {
        let line = ["log", "--format=%H%x00%s"];
        let text = self.must(&[&line[..], arguments].concat())?;
        let commit = |line: &str| {
            let (hash, subject) = line.split_once('\0')?;
            Some(UndoneCommit { hash: hash.to_owned(), subject: subject.to_owned() })
        };
        Ok(text.lines().filter_map(commit).collect())
    }

    /// The commits of a plan that were not reverted, newest first. Numbers may start over with a milestone.
    fn commits_of(&self, plan: &str) -> Result<Vec<UndoneCommit>, Failure> {
        let archived = self.log(&["-1", "-E", "--grep", plan_commits::ARCHIVED])?;
        let range = archived.first().map_or_else(|| "HEAD".to_owned(), |commit| format!("{}..HEAD", commit.hash));
        let undone = self.must(&["log", "--format=%B", "-E", "--grep", plan_commits::REVERTS, &range])?;
        let pattern = format!("--grep={}", plan_commits::pattern(plan));
        let mut commits = self.log(&["--no-merges", "-E", &pattern, &range])?;
        commits.retain(|commit| {
            plan_commits::scope(&commit.subject) == Some(plan)
                && !commit.subject.starts_with("revert")
                && !undone.contains(&commit.hash)
        });
        Ok(commits)
    }

    /// Refuses if a file that the commits or the documents touch has uncommitted changes.
    fn refuse_unfinished(&self, commits: &[UndoneCommit], documents: &Documents) -> Result<(), Failure> {
        let mut touched = BTreeSet::new();
        for commit in commits {
            touched.extend(self.paths(&["show", "--format=", "--name-only", "-z", "--no-renames", &commit.hash])?);
        }
        let status = self.paths(&["status", "--porcelain", "-z", "--no-renames", "--untracked-files=all"])?;
        let dirty = status.iter().filter_map(|entry| Some((entry.get(..2)?, entry.get(3..)?)));
        let dirty = dirty.filter(|(mark, path)| touched.contains(*path) || (*mark != "??" && documents.has(path)));
        let dirty: Vec<&str> = dirty.map(|(_, path)| path).collect();
        if dirty.is_empty() {
            return Ok(());
        }
        let named = dirty.iter().take(5).map(|path| format!("`{path}`")).collect::<Vec<_>>().join(", ");
        Err(Failure::usage(format!("{named} has changes that are not committed; nothing was changed"))
            .hint(format!("commit them or put them back, as `{}` shows", typed!("git status -- {}", dirty[0]))))
    }

    /// The tree of `head` without the changes of the commits.
    fn without(&self, head: &str, commits: &[UndoneCommit], documents: &Documents) -> Result<String, Failure> {
        let mut at = head.to_owned();
        for commit in commits {
            let before = format!("{}^", commit.hash);
            let base = format!("--merge-base={}", commit.hash);
            let program = self.program(&[
                "merge-tree",
                "--write-tree",
                "--name-only",
                "--no-messages",
                "-z",
                &base,
                &at,
                &before,
            ]);
            let finished = self.run(&program)?;
            let text = finished.text();
            let mut parts = text.split('\0').filter(|part| !part.trim().is_empty());
            let tree = parts.next().unwrap_or_default().trim().to_owned();
            if !finished.success() {
                let conflicts: Vec<&str> = parts.filter(|path| !documents.has(path)).collect();
                if finished.code != Some(1) || !conflicts.is_empty() {
                    return Err(Self::conflict(commit, &conflicts, &finished));
                }
            }
            at = self.must(&["commit-tree", &tree, "-p", &at, "-m", "step"])?;
        }
        self.must(&["rev-parse", &format!("{at}^{{tree}}")])
    }

    fn conflict(commit: &UndoneCommit, conflicts: &[&str], finished: &Finished) -> Failure {
        let hash: String = commit.hash.chars().take(7).collect();
        if conflicts.is_empty() {
            return Failure::usage(format!("git cannot take {hash} back: {}", complaint(finished)))
                .hint("nothing was changed; see `git show` of that commit");
        }
        let named = conflicts.iter().take(5).map(|path| format!("`{path}`")).collect::<Vec<_>>().join(", ");
        Failure::usage(format!("later commits changed what {hash} ({}) did in {named}", commit.subject)).hint(format!(
            "nothing was changed; `{}` lists the commits to take back first",
            typed!("git log --oneline {}..HEAD -- {}", hash, conflicts[0])
        ))
    }

    /// The tree with the documents in their final form, and the edits of those that git does not track.
    fn with_documents(
        &self,
        head: &str,
        tree: &str,
        documents: &Documents,
        edits: &Edits,
    ) -> Result<(String, Edits), Failure> {
        let staged = |arguments: &[&str]| self.index_program(arguments);
        self.answered(&staged(&["read-tree", tree]))?;
        let mut untracked = Edits::default();
        for document in &documents.tracking {
            let path = &format!("{}{document}", self.prefix);
            let known = self.must(&["ls-tree", "-z", head, "--", path])?;
            let Some((mode, _)) = known.split_once(' ') else {
                untracked.texts.extend(edits.texts.get(document).map(|text| (document.clone(), text.clone())));
                continue;
            };
            let blob = match edits.texts.get(document) {
                Some(text) => {
                    let hash = self.program(&["hash-object", "-w", "--stdin", "--path", path]).stdin(text.as_bytes());
                    self.answered(&hash)?
                }
                None => self.must(&["rev-parse", &format!("{head}:{path}")])?,
            };
            self.answered(&staged(&["update-index", "--add", "--cacheinfo", &format!("{mode},{blob},{path}")]))?;
        }
        for document in &edits.removals {
            let path = &format!("{}{document}", self.prefix);
            if self.must(&["ls-tree", "-z", head, "--", path])?.is_empty() {
                untracked.removals.push(document.clone());
            } else {
                self.answered(&staged(&["update-index", "--force-remove", path]))?;
            }
        }
        Ok((self.answered(&staged(&["write-tree"]))?, untracked))
    }

    /// Git with a separate index, whose objects are in the repository.
    fn index_program(&self, arguments: &[&str]) -> Program {
        self.index.divert_index(self.program(arguments))
    }

    /// Later commits that change the files and are not reverted.
    fn later(&self, commits: &[UndoneCommit], files: &[String]) -> Result<Vec<UndoneCommit>, Failure> {
        let Some(oldest) = commits.last().filter(|_| !files.is_empty()) else { return Ok(Vec::new()) };
        let range = format!("{}..HEAD", oldest.hash);
        let specs = files.iter().map(|file| format!(":(top,literal){file}")).collect::<Vec<_>>();
        let line: Vec<&str> =
            ["--no-merges", range.as_str(), "--"].into_iter().chain(specs.iter().map(String::as_str)).collect();
        let mut later = self.log(&line)?;
        later.retain(|commit| !commits.iter().any(|own| own.hash == commit.hash));
        Ok(later)
    }

    /// Makes the commit and moves the branch to it.
    fn commit(
        &self,
        head: &str,
        tree: &str,
        plan: &str,
        reason: Option<&str>,
        commits: &[UndoneCommit],
    ) -> Result<String, Failure> {
        let hashes = commits.iter().map(|commit| commit.hash.as_str()).collect::<Vec<_>>().join(" ");
        let subject = format!("revert({plan}): take the plan back");
        let reverts = format!("Reverts: {hashes}");
        let signs = self.must(&["config", "--type=bool", "--default=false", "commit.gpgsign"])? == "true";
        let mut line = vec!["commit-tree", tree, "-p", head, "-m", &subject];
        line.extend(reason.into_iter().flat_map(|reason| ["-m", reason]));
        line.extend(["-m", &reverts]);
        line.extend(signs.then_some("-S"));
        let made = self.must(&line)?;
        self.must(&["merge", "--ff-only", "--quiet", &made])?;
        Ok(made)
    }
}
