//! Git: committing planning files by the project's rules, and what branches mean to it.

pub(super) mod commit;
pub(super) mod guard;
pub(crate) mod pull_request;
pub(super) mod repository;
pub(super) mod scratch;
pub(super) mod subrepo;

use schemars::JsonSchema;
use serde::Serialize;

use self::repository::Repository;
use crate::commands::frame::{CommandError, Context, verbs};
use crate::text::untrusted;

verbs! {
    "Git";
    groups { "commit-docs-guard": "Keep planning files out of commits by a hook of the repository"; "git": "Tell what branches mean to the project"; }

    /// Commit files of the project, if its rules let them be committed
    ///
    /// Without `--files`, everything below `.planning/`. Other staged work stays staged.
    ///
    /// Example: `gsd-tools commit "docs(02): plan the phase" --files .planning/STATE.md`.
    "commit": acts [unasked] json(commit::CommitReport) = commit::commit(commit::CommitArgs);

    /// Fail when planning files are staged that the rules keep out of commits
    ///
    /// Example: `gsd-tools check-commit`, from a hook of the repository.
    "check-commit": reads json(CheckReport) = check_commit();

    /// Commit files of repositories inside the project, each in its own
    ///
    /// Example: `gsd-tools commit-to-subrepo "fix: parse dates" --files web/src/date.ts`.
    "commit-to-subrepo": acts json(subrepo::SubrepoReport) = subrepo::commit(subrepo::SubrepoArgs);

    /// Commit what changed in a repository inside the project on a branch of its own, and push it
    ///
    /// Example: `gsd-tools pr-subrepo "feat: dates" --repo web --branch feat/dates --pick remote_slug`.
    "pr-subrepo": acts json(pull_request::PullRequestReport) = pull_request::prepare(pull_request::PullRequestArgs);

    /// Make the hook
    ///
    /// Example: `gsd-tools commit-docs-guard enable --pick action`.
    "commit-docs-guard enable": acts json(guard::EnabledReport) = guard::enable();

    /// Take the hook away
    ///
    /// Example: `gsd-tools commit-docs-guard disable --pick action`.
    "commit-docs-guard disable": acts json(guard::DisabledReport) = guard::disable();

    /// Tell the branch that work starts from, or whether a branch is protected
    ///
    /// Example: `gsd-tools git base-branch --is-protected main` prints `true`.
    "git base-branch": reads text("the name of the branch") = base_branch(BaseBranchArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct BaseBranchArgs {
    /// Tell whether this branch takes no direct commits
    #[arg(long, value_name = "BRANCH", num_args = 0..=1, default_missing_value = "")]
    is_protected: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CheckReport {
    allowed: bool,
    reason: &'static str,
}

fn check_commit(context: &mut Context) -> Result<(), CommandError> {
    let staged = Repository::of(context).staged::<&str>(&[]);
    let planning: Vec<&str> = staged.iter().map(String::as_str).filter(|path| is_planning(path)).collect();
    let reason = if planning.is_empty() {
        "no_planning_files_staged"
    } else if context.config()?.commit_docs() {
        "commit_docs_enabled"
    } else {
        let told = CommandError::usage(format!("planning files are staged: {}", planning.join(", ")));
        return Err(
            told.hint("`commit_docs` keeps them out of commits; `git restore --staged .planning` unstages them")
        );
    };
    context.emit_raw(&CheckReport { allowed: true, reason }, "allowed")
}

fn is_planning(path: &str) -> bool {
    path.starts_with(".planning/") || path.contains("/.planning/")
}

fn base_branch(context: &mut Context, arguments: &BaseBranchArgs) -> Result<(), CommandError> {
    let config = context.config()?;
    let repository = Repository::of(context);
    let base = repository.base_branch(config);
    let answer = match arguments.is_protected.as_deref() {
        None => base,
        Some("") => {
            context.warn("`--is-protected` was given no branch, and no branch is not protected");
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
        context.warn(
            "the message held invisible characters or marks of a speaker such as `<system>`; they were made harmless",
        );
    }
    neutral
}
