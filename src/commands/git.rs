//! Git: committing planning files by the project's rules, and what branches mean to it.

use crate::acts::git::{self, commit, guard, pull_request, review_branch, uncommitted};
use crate::failure::Failure;
use crate::frame::named::NonBlank;
use crate::frame::{Context, verbs};

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
    "commit": acts [unasked] json(commit::CommitReport) = commit(CommitArgs);

    /// Check that no planning files are staged if `commit_docs` is off
    ///
    /// Exits with 1 and lists the files if some are. Made to be called from a git hook.
    ///
    /// Example: `gsd-tools check-commit`.
    "check-commit": reads json(git::CheckReport) = check_commit();

    use crate::peer::git::COMMIT_TO_SUBREPO;

    /// Commit and push a new branch of a repository inside the project
    ///
    /// Creates the branch, commits changed tracked files, and pushes to `origin`, ready for a pull request. Untracked
    /// files are listed, not committed. Fails if the branch exists already.
    ///
    /// Example: `gsd-tools pr-subrepo "feat: dates" --repo web --branch feat/dates --pick remote_slug`.
    "pr-subrepo": acts json(pull_request::PullRequestReport) = pull_request(PullRequestArgs);

    /// Install a pre-commit hook that keeps planning files out of commits
    ///
    /// The hook runs `check-commit`. A pre-commit hook that gsd-tools did not write is left unchanged.
    ///
    /// Example: `gsd-tools commit-docs-guard enable --pick action`.
    "commit-docs-guard enable": acts json(guard::EnabledReport) = enable_guard();

    /// Remove the pre-commit hook that `enable` installed
    ///
    /// A hook that was edited is saved to `pre-commit.gsd-1` first.
    ///
    /// Example: `gsd-tools commit-docs-guard disable --pick action`.
    "commit-docs-guard disable": acts json(guard::DisabledReport) = disable_guard();

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
    "git uncommitted": reads json(uncommitted::Uncommitted) = uncommitted();

    /// Create a branch for review from the commits of the current one
    ///
    /// Merge commits and files in `.planning/` are left out, and instruction files in which only the sections of
    /// gsd-tools changed. The roadmap and other records stay, unless `planning.pr_strict` is on. Each other commit keeps
    /// its author, date and message. Nothing is checked out, and the current branch does not change.
    ///
    /// Example: `gsd-tools git pr-branch feat/dates-pr --target main --dry-run`.
    "git pr-branch": acts json(review_branch::ReviewBranchReport)
        = review_branch(ReviewBranchArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct BaseBranchArgs {
    /// Print `true` if this branch accepts no direct commits, else `false`
    #[arg(long, value_name = "BRANCH", num_args = 0..=1, default_missing_value = "")]
    is_protected: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CommitArgs {
    /// The commit message
    message: Vec<String>,
    /// Commit only these files
    #[arg(long, num_args = 0..)]
    files: Vec<String>,
    /// Commit the removal of these files
    #[arg(long, num_args = 0..)]
    files_removed: Vec<String>,
    /// Change the last commit instead of adding one
    #[arg(long)]
    amend: bool,
    /// Skip the git hooks of the repository
    #[arg(long)]
    no_verify: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PullRequestArgs {
    /// The commit message
    message: NonBlank,
    /// The repository, relative to the project root
    #[arg(long)]
    repo: NonBlank,
    /// The name of the new branch
    #[arg(long)]
    branch: NonBlank,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ReviewBranchArgs {
    /// The name of the new branch (default: the current one with `-pr`)
    branch: Option<String>,
    /// The branch that the pull request is for (default: the base branch of the project)
    #[arg(long)]
    target: Option<String>,
    /// Leave out the roadmap and the other records too (default: `planning.pr_strict`)
    #[arg(long)]
    strict: bool,
}

fn commit(context: &mut Context, arguments: &CommitArgs) -> Result<(), Failure> {
    let CommitArgs { message, files, files_removed, amend, no_verify } = arguments;
    let report = commit::commit(
        context,
        &commit::CommitRequest {
            message: message.join(" "),
            files: files.clone(),
            files_removed: files_removed.clone(),
            amend: *amend,
            no_verify: *no_verify,
        },
    )?;
    context.exit_with(u8::from(report.has_failed()));
    context.emit_raw(&report, report.raw())
}

fn check_commit(context: &mut Context) -> Result<(), Failure> {
    context.emit_raw(&git::check_commit(context)?, "allowed")
}

fn base_branch(context: &mut Context, arguments: &BaseBranchArgs) -> Result<(), Failure> {
    let answer = git::base_branch(context, arguments.is_protected.as_deref())?;
    context.text(answer + "\n");
    Ok(())
}

fn pull_request(context: &mut Context, arguments: &PullRequestArgs) -> Result<(), Failure> {
    let report = pull_request::prepare(context, &arguments.message, &arguments.repo, &arguments.branch)?;
    context.emit_raw(&report, report.commit_hash.as_deref().unwrap_or("nothing_to_commit"))
}

fn enable_guard(context: &mut Context) -> Result<(), Failure> {
    context.emit_raw(&guard::enable(context)?, "enabled")
}

fn disable_guard(context: &mut Context) -> Result<(), Failure> {
    context.emit_raw(&guard::disable(context)?, "disabled")
}

fn uncommitted(context: &mut Context) -> Result<(), Failure> {
    context.emit(&uncommitted::Uncommitted::of(context)?)
}

fn review_branch(context: &mut Context, arguments: &ReviewBranchArgs) -> Result<(), Failure> {
    let ReviewBranchArgs { branch, target, strict } = arguments;
    let request =
        review_branch::ReviewBranchRequest { branch: branch.as_deref(), target: target.as_deref(), strict: *strict };
    context.emit(&review_branch::make(context, &request)?)
}
