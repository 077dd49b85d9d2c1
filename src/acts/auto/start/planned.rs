//! Which milestone a call is about, and whether git has its documents.

use crate::acts::Call;
use crate::acts::auto::phases::SeenPhases;
use crate::acts::auto::place::RunPlace;
use crate::acts::auto::seen::Seen;
use crate::auto::landing::repository::Repository;
use crate::auto::layout::Layout as DocumentLayout;
use crate::disk::{self, AbsolutePath};
use crate::failure::Failure;
use crate::project::git_settings::names_no_filter;
use crate::project::milestone_layout::{ids, lookup};
use crate::text::shell::typed;
use crate::world::World;

/// The milestone of a call: the named one, the next one for a brief, else the active one.
pub(crate) fn milestone_of(seen: &Seen, asked: Option<&str>, has_brief: bool) -> Result<String, Failure> {
    match (asked, has_brief, &seen.state.milestone) {
        (Some(asked), _, _) => ids::milestone_called(asked).ok_or_else(|| {
            Failure::usage(format!("`{asked}` is not a milestone"))
                .hint("milestones have names such as `M001`; `gsd-tools auto status` shows the current one")
        }),
        (None, true, _) => Ok(next_milestone(seen)),
        (None, false, Some(active)) => Ok(active.id.clone()),
        (None, false, None) => Err(Failure::usage("there is no milestone to work on")
            .hint("describe one in a file, then run `gsd-tools auto run --brief FILE`")),
    }
}

/// The refusal of a brief in a project in phases.
pub(crate) fn brief_in_phases() -> Failure {
    Failure::usage("this project is in phases, and its roadmap says what they are for")
        .hint("add them to `.planning/ROADMAP.md`, then run `gsd-tools auto run` without `--brief`")
}

/// The milestone of STATE.md: a run in phases works on no other.
pub(crate) fn milestone_in_phases(
    call: &Call,
    place: &RunPlace,
    asked: Option<&str>,
    has_brief: bool,
) -> Result<String, Failure> {
    if has_brief {
        return Err(brief_in_phases());
    }
    let current = SeenPhases::of(call, place)?.milestone()?;
    match asked {
        Some(asked) if !asked.eq_ignore_ascii_case(&current) => {
            Err(Failure::usage(format!("the project is at {current}, not at {asked}"))
                .hint("run `gsd-tools auto run` without a milestone"))
        }
        _ => Ok(current),
    }
}

/// The first unused number of a milestone.
pub(crate) fn next_milestone(seen: &Seen) -> String {
    ids::next(seen.snapshot.milestones.iter().map(|milestone| milestone.id.as_str()), 'M', 3)
}

/// Refuses plans that are not in the commit that the work begins with.
pub(crate) fn planning_is_committed(
    call: &Call,
    repository: &Repository,
    layout: &DocumentLayout,
) -> Result<(), Failure> {
    let root = repository.root();
    let (folder, documents) = match layout {
        DocumentLayout::Milestones => (lookup::FOLDER, lookup::MILESTONES),
        DocumentLayout::Phases(_) => (layout.folder(), layout.folder()),
    };
    refuse_ignored(call.world(), root, layout)?;
    if !disk::is_folder(root.resolve(documents)) {
        return Ok(());
    }
    let world = call.world();
    let line = ["status", "--porcelain", "--untracked-files=all", "--", folder];
    let changed = world.git_differences(root.as_path(), names_no_filter, line)?;
    if changed.text().is_empty() {
        return Ok(());
    }
    let message = format!("`{folder}` has changes that are not committed");
    Err(Failure::usage(message).hint(format!(
        "run `{}`, then `{}`",
        typed!("git add {}", folder),
        typed!("git commit -m \"docs: plan\" -- {}", folder)
    )))
}

/// Refuses a project whose documents git ignores: those of units would be neither seen nor landed. The documents are
/// queried by name, because git does not know that a missing path is a folder.
pub(crate) fn refuse_ignored(world: &World, root: &AbsolutePath, layout: &DocumentLayout) -> Result<(), Failure> {
    let folder = layout.folder();
    let names = match layout {
        DocumentLayout::Milestones => ["milestones/M999/M999-ROADMAP.md", "REQUIREMENTS.md"],
        DocumentLayout::Phases(_) => ["phases/999-next/999-01-PLAN.md", "ROADMAP.md"],
    };
    for name in names.map(|name| format!("{folder}/{name}")) {
        if !world.git(root.as_path(), ["check-ignore", "--quiet", &name])?.success() {
            continue;
        }
        let told = world.git(root.as_path(), ["check-ignore", "--verbose", &name])?.text();
        // The file, the line and the pattern, then the path.
        let mut rule = told.split('\t').next().unwrap_or_default().splitn(3, ':');
        let (file, line) = (rule.next().unwrap_or_default(), rule.next().unwrap_or_default());
        let pattern = rule.next().unwrap_or_default();
        let message = format!("git ignores `{name}` by `{pattern}`, so the documents of a milestone could not land");
        return Err(Failure::usage(message).hint(format!("remove line {line} of `{file}`, then run the command again")));
    }
    Ok(())
}
