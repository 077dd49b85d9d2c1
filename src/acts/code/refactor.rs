//! The files that a phase changed and whose functions can be measured.

use crate::acts::Call;
use crate::acts::files;
use crate::failure::Failure;
use crate::project::folder::PhaseFolder;
use crate::project::git_settings::names_no_filter;
use crate::world::Finished;
use std::path::Path;

/// Endings of the files whose functions can be measured.
const MEASURED: &[&str] = &["js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts"];

/// The measurable files that changed since the commit, by path and text; `None` if git fails.
pub(crate) fn touched(
    call: &Call,
    folder: &PhaseFolder,
    since: Option<&str>,
) -> Result<Option<Vec<(String, String)>>, Failure> {
    let git = |arguments: &[&str]| {
        let finished = call.world().git(call.root().as_path(), arguments).ok()?;
        finished.success().then(|| finished.text())
    };
    let commit = |name: &str| git(&["rev-parse", "--verify", "--quiet", &format!("{name}^{{commit}}")]);
    let first = || git(&["log", "--reverse", "--format=%H", "--", &folder.path]);
    let told = match since {
        // A word that begins with a hyphen would be a flag.
        Some(since) => Some(since).filter(|since| !since.starts_with('-')).and_then(commit),
        None => first(),
    };
    let Some(base) = told.as_deref().and_then(|told| told.lines().next()).filter(|base| !base.is_empty()) else {
        return Ok(None);
    };
    let line = ["diff", "--name-only", "-z", "--diff-filter=d", "--relative", base.trim(), "--"];
    let names =
        call.world().git_differences(call.root().as_path(), names_no_filter, line).ok().filter(Finished::success);
    let Some(names) = names.map(|names| names.text()) else { return Ok(None) };
    let mut files = Vec::new();
    for name in names.split('\0').filter(|name| is_measured(name)) {
        if let Some(text) = files::text_from_root(call, name)? {
            files.push((name.to_owned(), text));
        }
    }
    Ok(Some(files))
}

fn is_measured(name: &str) -> bool {
    let ending = Path::new(name).extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| MEASURED.contains(&ending)) && !name.ends_with(".d.ts")
}

/// Whether the project has the search for such functions off.
pub(crate) fn is_off(call: &Call) -> Result<bool, Failure> {
    Ok(!call.config()?.flag("refactor.trigger_enabled"))
}
