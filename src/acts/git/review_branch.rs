//! A branch for review: the commits of the current branch without merges and without our own files.
//!
//! Nothing is checked out. The branch is made from an index and from objects outside the working tree, and the
//! reference is set at the end.

use schemars::JsonSchema;
use serde::Serialize;

use super::repository::{Repository, complaint, refuse_repository_of_others};
use super::scratch::GitScratch;
use crate::acts::Call;
use crate::failure::{Failure, Reason};
use crate::operations::agents::instructions;
use crate::text::shell::typed;
use crate::world::{Finished, Program};

/// Documents of the planning folder that a reviewer may want to see: the record of decisions.
const RECORD: &[&str] = &[
    "PROJECT.md",
    "ROADMAP.md",
    "REQUIREMENTS.md",
    "STATE.md",
    "state.json",
    "MILESTONES.md",
    "RETROSPECTIVE.md",
    "config.json",
    "milestones",
];

/// Folders that this program keeps in a project.
const OURS: &[&str] = &[".planning", ".gsd"];

/// The options for git's diff output, independent of its settings.
const PLAIN: &[&str] = &["--no-ext-diff", "--no-textconv", "--no-renames", "--no-color"];

/// The request for a review branch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReviewBranchRequest<'a> {
    /// Its name; without one, the current branch's with `-pr`.
    pub(crate) branch: Option<&'a str>,
    /// The branch that the pull request is for; without one, the base branch of the project.
    pub(crate) target: Option<&'a str>,
    /// Leave out the records of the planning folder too.
    pub(crate) strict: bool,
}

/// What `git pr-branch` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ReviewBranchReport {
    branch: String,
    /// The branch that the commits are from.
    from: String,
    target: String,
    /// The commit that the branch begins at.
    base: String,
    strict: bool,
    created: bool,
    /// The commits of the branch, oldest first.
    commits: Vec<ReviewCommit>,
    /// Subjects of commits that changed only gsd's own files, or whose changes were already in the branch.
    left_out: Vec<String>,
    /// Subjects of commits that could not be taken separately: their changes are in `rest`.
    not_taken: Vec<String>,
    /// How many merge commits were left out.
    merges: usize,
    /// The hash of the last commit, with the remaining changes of merges and of `not_taken`, so that the branch has the
    /// same code; null if nothing remained.
    rest: Option<String>,
    /// The paths that are not in the branch.
    excluded: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ReviewCommit {
    /// The hash on the current branch.
    from: String,
    subject: String,
}

/// Makes the branch.
pub(crate) fn make(call: &Call, request: &ReviewBranchRequest) -> Result<ReviewBranchReport, Failure> {
    refuse_repository_of_others(call.root())?;
    let here = Repository::of(call);
    let from = here.branch().ok_or_else(|| {
        Failure::usage("no branch is checked out here").hint("switch to the branch with the work first")
    })?;
    let local = match request.target {
        Some(target) => target.to_owned(),
        None => here.base_branch(call.config()?),
    };
    let target = on_remote(&here, &local).unwrap_or_else(|| local.clone());
    let branch = request.branch.map_or_else(|| format!("{from}-pr"), str::to_owned);
    let maker = Maker::new(call)?;
    if branch.starts_with('-') || !maker.run(&["check-ref-format", "--branch", &branch], None)?.success() {
        return Err(Failure::usage(format!("`{branch}` is not a valid branch name"))
            .hint("name it with letters, digits, `-` and `/`, such as `feat/dates-pr`"));
    }
    if maker.run(&["show-ref", "--verify", "--quiet", &format!("refs/heads/{branch}")], None)?.success() {
        return Err(Failure::usage(format!("a branch `{branch}` already exists"))
            .hint(format!("choose another name, or remove it: `{}`", typed!("git branch -D {}", branch))));
    }
    if local == from {
        return Err(Failure::usage(format!("`{from}` is the branch that the pull request is for"))
            .hint("switch to the branch with the work first, or name another `--target`"));
    }
    let tip = maker.must(&["rev-parse", "--verify", "--quiet", &format!("refs/heads/{from}^{{commit}}")], None)?;
    let Ok(base) = maker.must(&["merge-base", &format!("{target}^{{commit}}"), &tip], None) else {
        return Err(Failure::usage(format!("`{target}` and `{from}` have no commit in common"))
            .hint("name the branch that the pull request is for: `--target BRANCH`"));
    };
    let strict = request.strict || call.config()?.flag("planning.pr_strict");
    let excluded = maker.excluded(call, &base, &tip, strict)?;
    let mut report = ReviewBranchReport {
        branch,
        from,
        target,
        base: base.clone(),
        strict,
        created: false,
        commits: Vec::new(),
        left_out: Vec::new(),
        not_taken: Vec::new(),
        merges: 0,
        rest: None,
        excluded,
    };
    let made = maker.build(&base, &tip, &mut report)?;
    if made == base {
        return Ok(report);
    }
    if !call.is_rehearsal() {
        let reference = format!("refs/heads/{}", report.branch);
        // With an empty old value, git does not move a branch that was created meanwhile.
        maker.must(&["update-ref", &reference, &made, ""], None)?;
        report.created = true;
    }
    Ok(report)
}

/// The branch that a pull request is compared with: the remote's, because the local branch of this name may already
/// have more.
fn on_remote(here: &Repository, branch: &str) -> Option<String> {
    let upstream =
        here.answer(&["rev-parse", "--abbrev-ref", "--verify", "--quiet", &format!("{branch}@{{upstream}}")]);
    let known = |name: String| {
        here.answer(&["rev-parse", "--verify", "--quiet", &format!("refs/remotes/{name}")]).map(|_| name)
    };
    upstream.and_then(known).or_else(|| known(format!("origin/{branch}")))
}

/// Git at the top of the repository, with a separate index.
struct Maker {
    git: Program,
    scratch: GitScratch,
    rehearses: bool,
    world: crate::world::World,
    /// The folder of the project in the repository: empty, or with `/` at its end.
    prefix: String,
}

impl Maker {
    fn new(call: &Call) -> Result<Self, Failure> {
        let here = Repository::of(call);
        let (Some(top), prefix) =
            (here.answer(&["rev-parse", "--show-toplevel"]), here.answer(&["rev-parse", "--show-prefix"]))
        else {
            return Err(Failure::usage(format!("`{}` is not in a git repository", call.root()))
                .hint("run `git init` there, or go to the project"));
        };
        let program = Program::git(std::path::Path::new(&top));
        let scratch = GitScratch::beside(call, call.root())?;
        let (world, rehearses) = (call.world().clone(), call.is_rehearsal());
        Ok(Self { git: program, scratch, rehearses, world, prefix: prefix.unwrap_or_default() })
    }

    fn program(&self, arguments: &[&str], input: Option<Vec<u8>>) -> Program {
        let program = self.git.clone().arguments(arguments);
        let program = input.into_iter().fold(program, Program::stdin);
        if self.rehearses { self.scratch.divert(program) } else { self.scratch.divert_index(program) }
    }

    fn run(&self, arguments: &[&str], input: Option<Vec<u8>>) -> Result<Finished, Failure> {
        Ok(self.world.run(&self.program(arguments, input))?)
    }

    /// Git's output; its complaint if it fails.
    fn must(&self, arguments: &[&str], input: Option<Vec<u8>>) -> Result<String, Failure> {
        answered(&self.run(arguments, input)?)
    }

    /// Copies the commits to the branch, one after the other; returns the last one.
    fn build(&self, base: &str, tip: &str, report: &mut ReviewBranchReport) -> Result<String, Failure> {
        self.must(&["read-tree", base], None)?;
        let range = format!("{base}..{tip}");
        let merges = self.must(&["rev-list", "--count", "--merges", &range], None)?;
        report.merges = merges.parse().unwrap_or_default();
        let commits = self.must(&["rev-list", "--reverse", "--topo-order", "--no-merges", &range], None)?;
        let mut head = base.to_owned();
        let mut tree = self.must(&["rev-parse", &format!("{base}^{{tree}}")], None)?;
        for commit in commits.lines() {
            let subject = self.must(&["log", "-1", "--format=%s", commit], None)?;
            let patch = self.patch(&["diff-tree", "-p", "--root", commit], &report.excluded)?;
            if patch.is_empty() {
                report.left_out.push(subject);
                continue;
            }
            if !self.apply(patch)? {
                report.not_taken.push(subject);
                continue;
            }
            let after = self.must(&["write-tree"], None)?;
            // Another branch of the same range has already made this change.
            if after == tree {
                report.left_out.push(subject);
                continue;
            }
            head = self.commit_as(commit, &after, &head)?;
            tree = after;
            report.commits.push(ReviewCommit { from: commit.get(..7).unwrap_or(commit).to_owned(), subject });
        }
        let rest = self.patch(&["diff-tree", "-p", &tree, tip], &report.excluded)?;
        if rest.is_empty() {
            return Ok(head);
        }
        if !self.apply(rest)? {
            let error = Failure::new(Reason::Unknown, "git cannot apply what the merges of this branch changed");
            return Err(error.hint("make one commit of all: `git merge --squash` on a new branch from the target"));
        }
        let after = self.must(&["write-tree"], None)?;
        let message = format!("chore: take over what merges changed in {}\n", report.from);
        let made = self.must(&["commit-tree", &after, "-p", &head, "-F", "-"], Some(message.into_bytes()))?;
        report.rest = Some(made.get(..7).unwrap_or(&made).to_owned());
        Ok(made)
    }

    /// A change without the excluded paths.
    fn patch(&self, line: &[&str], excluded: &[String]) -> Result<Vec<u8>, Failure> {
        let excluded: Vec<String> = excluded.iter().map(|path| format!(":(top,exclude,literal){path}")).collect();
        let [verb, rest @ ..] = line else { return Ok(Vec::new()) };
        let mut arguments = vec![*verb, "--binary", "--full-index", "--no-commit-id"];
        arguments.extend(PLAIN);
        arguments.extend(rest);
        arguments.extend(["--", ":/"]);
        arguments.extend(excluded.iter().map(String::as_str));
        let finished = self.run(&arguments, None)?;
        if finished.success() { Ok(finished.stdout) } else { answered(&finished).map(String::into_bytes) }
    }

    /// Applies a change to the index; one that does not fit changes nothing.
    fn apply(&self, patch: Vec<u8>) -> Result<bool, Failure> {
        Ok(self.run(&["apply", "--cached", "--whitespace=nowarn", "-"], Some(patch))?.success())
    }

    /// Makes a commit with the author, the date and the message of another one.
    fn commit_as(&self, commit: &str, tree: &str, parent: &str) -> Result<String, Failure> {
        let said = self.must(&["log", "-1", "--format=%an%x00%ae%x00%aI%x00%B", commit], None)?;
        let mut parts = said.splitn(4, '\0');
        let mut next = || parts.next().unwrap_or_default().to_owned();
        let (name, address, date, message) = (next(), next(), next(), next());
        let program = self
            .program(
                &["commit-tree", tree, "-p", parent, "-F", "-"],
                Some((message.trim_end().to_owned() + "\n").into()),
            )
            .variable("GIT_AUTHOR_NAME", name)
            .variable("GIT_AUTHOR_EMAIL", address)
            .variable("GIT_AUTHOR_DATE", date);
        answered(&self.world.run(&program)?)
    }

    /// Paths from the top of the repository that a reviewer of the code does not want to see: gsd's folders, all of
    /// them or all but the record, and instruction files in which only gsd's parts changed.
    fn excluded(&self, call: &Call, base: &str, tip: &str, strict: bool) -> Result<Vec<String>, Failure> {
        let named = self.must(&["diff", "--name-only", "--no-renames", "-z", base, tip, "--", ":/"], None)?;
        let touched = self.must(
            &["log", "--format=", "--name-only", "--no-renames", "-z", &format!("{base}..{tip}"), "--", ":/"],
            None,
        )?;
        let mut excluded: Vec<String> = Vec::new();
        let mut exclude = |path: String| {
            if !excluded.contains(&path) {
                excluded.push(path);
            }
        };
        let hosts = call.registry()?.all()?;
        let mut files: Vec<String> = hosts.iter().map(|host| host.instruction_file.clone()).collect();
        files.extend(call.config()?.text("claude_md_path").map(str::to_owned));
        for path in named.split('\0').chain(touched.split('\0')).map(|path| path.trim_start_matches('\n')) {
            let Some(inside) = path.strip_prefix(self.prefix.as_str()).filter(|inside| !inside.is_empty()) else {
                continue;
            };
            if let Some(folder) = OURS.iter().find(|folder| inside.split('/').next() == Some(folder)) {
                let below = inside.split('/').nth(1).unwrap_or_default();
                if strict || *folder != OURS[0] {
                    exclude(format!("{}{folder}", self.prefix));
                } else if !RECORD.contains(&below) {
                    exclude(format!("{}{folder}/{below}", self.prefix));
                } else if let Some(phases) = inside.split('/').nth(2).filter(|name| name.ends_with("-phases")) {
                    // The folders of a closed milestone's phases correspond to `phases` of the open one.
                    exclude(format!("{}{folder}/{below}/{phases}", self.prefix));
                }
            } else if files.iter().any(|file| file.trim_start_matches("./") == inside) {
                let text = |commit: &str| {
                    self.run(&["show", &format!("{commit}:{path}")], None).map(|shown| {
                        let text = if shown.success() { shown.text() } else { String::new() };
                        instructions::without_parts(&text).trim().to_owned()
                    })
                };
                if text(base)? == text(tip)? {
                    exclude(path.to_owned());
                }
            }
        }
        excluded.sort();
        Ok(excluded)
    }
}

fn answered(finished: &Finished) -> Result<String, Failure> {
    if finished.success() {
        return Ok(finished.text().trim_end_matches('\n').to_owned());
    }
    let error = Failure::new(Reason::Unknown, format!("refused by git: {}", complaint(finished).trim()));
    Err(error.hint("run `git fsck`, and check that the branches of the call exist"))
}
