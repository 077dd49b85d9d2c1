//! Git: committing planning files by the project's rules, and what branches mean to it.

pub(super) mod commit;
pub(super) mod guard;
pub(super) mod phase_work;
pub(crate) mod pull_request;
pub(super) mod repository;
mod review_branch;
pub(super) mod scratch;
pub(super) mod subrepo;
pub(super) mod tree;
pub(super) mod uncommitted;
pub(in crate::commands) mod undo;

use schemars::JsonSchema;
use serde::Serialize;

use self::repository::Repository;
use crate::commands::frame::{Context, verbs};
use crate::failure::Failure;
use crate::text::untrusted;

verbs! {
    "Git";
    groups { "commit-docs-guard": "Install or remove a hook that keeps planning files out of commits"; "git": "Show the base branch or what is in no commit; make a branch for review"; }

    /// Commit project files, following the project's commit settings
    ///
    /// Without `--files`, commits everything in `.planning/` and what else is staged; with it, other staged files stay
    /// staged. Commits nothing if `commit_docs` is off or git ignores `.planning/`. With a branching strategy set, starts
    /// the branch of the phase first.
    ///
    /// Exits with 1 if git refuses the commit; `reason` and `error` say why.
    ///
    /// Example: `gsd-tools commit "docs(02): plan the phase" --files .planning/STATE.md`.
    "commit": acts [unasked] json(commit::CommitReport) = commit::commit(commit::CommitArgs);

    /// Check that no planning files are staged if `commit_docs` is off
    ///
    /// Exits with 1 and lists the files if some are. Made to be called from a git hook.
    ///
    /// Example: `gsd-tools check-commit`.
    "check-commit": reads json(CheckReport) = check_commit();

    /// Commit files in repositories inside the project
    ///
    /// Sorts the files by the repositories in `planning.sub_repos` and makes one commit in each.
    ///
    /// Example: `gsd-tools commit-to-subrepo "fix: parse dates" --files web/src/date.ts`.
    "commit-to-subrepo": acts json(subrepo::SubrepoReport) = subrepo::commit(subrepo::SubrepoArgs);

    /// Commit and push a new branch of a repository inside the project
    ///
    /// Creates the branch, commits changed tracked files, and pushes to `origin`, ready for a pull request. Untracked
    /// files are listed, not committed. Fails if the branch exists already.
    ///
    /// Example: `gsd-tools pr-subrepo "feat: dates" --repo web --branch feat/dates --pick remote_slug`.
    "pr-subrepo": acts json(pull_request::PullRequestReport) = pull_request::prepare(pull_request::PullRequestArgs);

    /// Install a pre-commit hook that keeps planning files out of commits
    ///
    /// The hook runs `check-commit`. A pre-commit hook that gsd-tools did not write is left unchanged.
    ///
    /// Example: `gsd-tools commit-docs-guard enable --pick action`.
    "commit-docs-guard enable": acts json(guard::EnabledReport) = guard::enable();

    /// Remove the pre-commit hook that `enable` installed
    ///
    /// A hook that was edited is saved to `pre-commit.gsd-1` first.
    ///
    /// Example: `gsd-tools commit-docs-guard disable --pick action`.
    "commit-docs-guard disable": acts json(guard::DisabledReport) = guard::disable();

    /// Print the base branch, or whether a branch is protected
    ///
    /// The base branch is `git.base_branch`, else the default branch of `origin`, else `main`, `master`, `trunk` or
    /// `develop`, here or at `origin`. Where none of these exists, `origin` is asked.
    ///
    /// Example: `gsd-tools git base-branch --is-protected main` prints `true`.
    "git base-branch": reads text("the name of the branch") = base_branch(BaseBranchArgs);

    /// List the files whose changes are in no commit
    ///
    /// Planning files have a list to themselves. Files that an install put into the project are only counted: git does
    /// not have to know them.
    ///
    /// Example: `gsd-tools git uncommitted --pick files`.
    "git uncommitted": reads json(uncommitted::Uncommitted) = uncommitted::show();

    /// Create a branch for review from the commits of the current one
    ///
    /// Merge commits and files in `.planning/` are left out, and instruction files in which only the sections of
    /// gsd-tools changed. The roadmap and other records stay, unless `planning.pr_strict` is on. Each other commit keeps
    /// its author, date and message. Nothing is checked out, and the current branch does not change.
    ///
    /// Example: `gsd-tools git pr-branch feat/dates-pr --target main --dry-run`.
    "git pr-branch": acts json(review_branch::ReviewBranchReport)
        = review_branch::make(review_branch::ReviewBranchArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct BaseBranchArgs {
    /// Print `true` if this branch accepts no direct commits, else `false`
    #[arg(long, value_name = "BRANCH", num_args = 0..=1, default_missing_value = "")]
    is_protected: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CheckReport {
    allowed: bool,
    reason: &'static str,
}

fn check_commit(context: &mut Context) -> Result<(), Failure> {
    let staged = Repository::of(context).staged::<&str>(&[]);
    let planning: Vec<&str> = staged.iter().map(String::as_str).filter(|path| is_planning(path)).collect();
    let reason = if planning.is_empty() {
        "no_planning_files_staged"
    } else if context.config()?.commit_docs() {
        "commit_docs_enabled"
    } else {
        let told = Failure::usage(format!("planning files are staged: {}", planning.join(", ")));
        return Err(told.hint("`commit_docs` is off; unstage them with `git restore --staged .planning`"));
    };
    context.emit_raw(&CheckReport { allowed: true, reason }, "allowed")
}

fn is_planning(path: &str) -> bool {
    path.starts_with(".planning/") || path.contains("/.planning/")
}

fn base_branch(context: &mut Context, arguments: &BaseBranchArgs) -> Result<(), Failure> {
    let config = context.config()?;
    let repository = Repository::of(context);
    let base = repository.base_branch(config);
    let answer = match arguments.is_protected.as_deref() {
        None => base,
        Some("") => {
            context.warn("`--is-protected` has no branch; the answer is `false`");
            "false".to_owned()
        }
        Some(branch) => {
            let listed = config.texts("git.protected_branches").contains(&branch);
            let is_base = branch == base && !config.flag("git.allow_default_branch_commits");
            (listed || is_base).to_string()
        }
    };
    context.text(answer + "\n");
    Ok(())
}

/// A message as it may stand in the log, which agents read: what poses as a speaker in it is written as text.
fn message_for_log(context: &Context, message: &str) -> String {
    let neutral = untrusted::neutral(message);
    if neutral != message {
        context
            .warn("the message contained invisible characters or speaker tags such as `<system>`; they were escaped");
    }
    neutral
}
