//! The workstreams of the project, and the errors about missing ones.

use super::Call;
use crate::disk;
use crate::failure::{Failure, Reason};
use crate::project::next::{Around, Next};
use crate::text::nearest::nearest;
use crate::text::shell::typed;

/// The names of the project's workstreams.
pub(crate) fn names(call: &Call) -> Result<Vec<String>, Failure> {
    let layout = call.layout();
    let entries = disk::list(layout.absolute(&layout.workstreams()))?.unwrap_or_default();
    let mut names: Vec<String> = entries.into_iter().filter(disk::Entry::is_folder).map(|entry| entry.name).collect();
    names.sort_unstable();
    Ok(names)
}

/// Refuses to read or change the whole project if its documents belong to workstreams and none is active: the project's
/// own folder then has old ones.
pub(crate) fn needs_one(call: &Call, command: &str) -> Result<(), Failure> {
    if call.layout().workstream().is_some() {
        return Ok(());
    }
    let names = names(call)?;
    if names.is_empty() {
        return Ok(());
    }
    let (reason, why) = match call.workstream_pointer().stored() {
        Some(name) => (Reason::WorkstreamModeMarkerUnresolved, format!("the active one, `{name}`, is gone")),
        None => (Reason::WorkstreamModeNoneActive, "none is active".to_owned()),
    };
    let message = format!("`{command}` needs a workstream, and {why}");
    let error = Failure::new(reason, message);
    let error = error.hint(format!("choose one with `--ws`: {}", names.join(", ")));
    Err(match Next::of(&call.view(), &Around::default())? {
        next @ Next::ChooseWorkstream(_) => {
            let call = next.call(|_| true).typed(str::to_owned);
            error.hint(format!("activate one for every call: `{call}`"))
        }
        _ => error,
    })
}

/// Refuses an active workstream that does not exist.
pub(crate) fn refuse_missing_active(call: &Call) -> Result<(), Failure> {
    let names = names(call)?;
    let Some(missing) = call.layout().workstream().filter(|active| !names.iter().any(|name| name == active)) else {
        return Ok(());
    };
    Err(missing_one(missing, &names, "this project has no workstreams; leave out `--ws`"))
}

/// The error for a workstream that an argument names and that does not exist.
pub(crate) fn missing_named(call: &Call, name: &str) -> Result<Failure, Failure> {
    let none =
        format!("this project has no workstreams; create one: `{}`", typed!("gsd-tools workstream create {}", name));
    Ok(missing_one(name, &names(call)?, &none))
}

/// The error for a missing workstream; `none` is the hint for a project without workstreams.
fn missing_one(missing: &str, names: &[String], none: &str) -> Failure {
    let unknown = Failure::usage(format!("there is no workstream `{missing}`"));
    match (nearest(missing, names.iter().map(String::as_str)), names.is_empty()) {
        (_, true) => unknown.hint(none),
        (Some(near), _) => unknown.hint(format!("did you mean `{near}`? The workstreams are {}", names.join(", "))),
        (None, _) => unknown.hint(format!("the workstreams are {}", names.join(", "))),
    }
}
