//! Facts in the contexts of workflows that are in no document of the project: the host, its agents, what git ignores.

pub(crate) mod code;
pub(crate) mod milestone;
mod silent;

use crate::acts::Call;
use crate::acts::auto_chain;
use crate::acts::facts;
use crate::acts::hosts;
use crate::disk;
use crate::failure::Failure;
use crate::operations::answers::token::{self, Seen};
use crate::operations::bundle::BundleAnswer;
use crate::operations::facts::{self as asked, Given, Host};
use crate::project::files::FileError;
use crate::project::view::ProjectView;

/// Returns the facts that the workflow of a call asks for, and the token of the documents they were read from. `asking`
/// is made from the project. Warns first if the host has called none of our hooks.
pub(crate) fn answer(
    call: &Call,
    asking: impl FnOnce(&ProjectView) -> Result<asked::FactsCall, Failure>,
    answer: fn(&Given<'_>) -> Result<BundleAnswer, FileError>,
) -> Result<(BundleAnswer, String), Failure> {
    silent::tell(call);
    let view = call.view();
    let host = facts(call)?;
    let answer = answer(&Given { view: &view, config: call.config()?, host: &host, call: asking(&view)? })?;
    Ok((answer, token::of(&view, Seen::Project)?))
}

/// The facts of this call.
pub(crate) fn facts(call: &Call) -> Result<Host, Failure> {
    let host = call.host()?;
    let agents = hosts::agents(call, host.descriptor.as_ref());
    Ok(Host {
        runtime: host.id.clone(),
        command_prefix: call.command_prefix()?.to_owned(),
        agents_folder: agents.folder.map(|folder| folder.to_string_lossy().replace('\\', "/")),
        user_profile: user_profile(call),
        missing_agents: agents.missing,
        documents_ignored: documents_ignored(call)?,
        auto: auto_chain::auto_mode(call)?,
        next: facts::next_facts(call)?,
        second_of_day: call.world().second_of_day(),
    })
}

/// The profile that `write-profile` has written for this host; `None` if the host's folder is unknown.
fn user_profile(call: &Call) -> Option<String> {
    let path = hosts::home(call).ok()?.root.join("gsd-core").join("USER-PROFILE.md");
    disk::is_file(&path).then(|| path.to_string_lossy().replace('\\', "/"))
}

/// True if git ignores the project's documents. Checked only if the configuration leaves it open.
fn documents_ignored(call: &Call) -> Result<bool, Failure> {
    let config = call.config()?;
    let says = ["commit_docs", "planning.commit_docs"].iter().any(|key| config.written(key).is_some());
    if says || !config.has_file() {
        return Ok(false);
    }
    let ignored = call.world().git(call.root().as_path(), ["check-ignore", "-q", ".planning/"]);
    // Without git, or outside a repository, nothing is ignored.
    Ok(ignored.is_ok_and(|finished| finished.success()))
}
