//! Git: committing planning files by the project's rules, and the meaning of branches for them.

pub(crate) mod commit;
pub(crate) mod guard;
pub(crate) mod phase_work;
pub(crate) mod pull_request;
pub(crate) mod repository;
pub(crate) mod review_branch;
pub(crate) mod scratch;
pub(crate) mod subrepo;
pub(crate) mod tree;
pub(crate) mod uncommitted;
pub(crate) mod undo;

use schemars::JsonSchema;
use serde::Serialize;

use self::repository::Repository;
use crate::acts::Call;
use crate::failure::Failure;
use crate::text::untrusted;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CheckReport {
    allowed: bool,
    reason: &'static str,
}

/// Refuses staged planning files if the project keeps them out of commits.
pub(crate) fn check_commit(call: &Call) -> Result<CheckReport, Failure> {
    let staged = Repository::of(call).staged::<&str>(&[]);
    let planning: Vec<&str> = staged.iter().map(String::as_str).filter(|path| is_planning(path)).collect();
    let reason = if planning.is_empty() {
        "no_planning_files_staged"
    } else if call.config()?.commit_docs() {
        "commit_docs_enabled"
    } else {
        let told = Failure::usage(format!("planning files are staged: {}", planning.join(", ")));
        return Err(told.hint("`commit_docs` is off; unstage them with `git restore --staged .planning`"));
    };
    Ok(CheckReport { allowed: true, reason })
}

fn is_planning(path: &str) -> bool {
    path.starts_with(".planning/") || path.contains("/.planning/")
}

/// The branch that work starts from, or whether a branch accepts no direct commits.
pub(crate) fn base_branch(call: &Call, is_protected: Option<&str>) -> Result<String, Failure> {
    let config = call.config()?;
    let repository = Repository::of(call);
    let base = repository.base_branch(config);
    Ok(match is_protected {
        None => base,
        Some("") => {
            call.warn("`--is-protected` has no branch; the answer is `false`");
            "false".to_owned()
        }
        Some(branch) => {
            let listed = config.texts("git.protected_branches").contains(&branch);
            let is_base = branch == base && !config.flag("git.allow_default_branch_commits");
            (listed || is_base).to_string()
        }
    })
}

/// A message as it may appear in the log, which agents read: speaker tags in it are escaped.
fn message_for_log(call: &Call, message: &str) -> String {
    let neutral = untrusted::neutral(message);
    if neutral != message {
        call.warn("the message contained invisible characters or speaker tags such as `<system>`; they were escaped");
    }
    neutral
}
