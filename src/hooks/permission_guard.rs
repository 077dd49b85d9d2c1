//! Refuses a call of this program on a line with something else that the host would run along with it and ask nobody about.
//!
//! `install` lets a host run calls of ours unasked. The rules of some hosts cover more of a line than the call: what each of
//! them does not see is in its descriptor.

use std::path::{Component, Path, PathBuf};

use super::payload::Payload;
use super::scene::{self, Scene};
use super::verdict::Finding;
use crate::runtime::{Asking, LinePart};
use crate::text::shell::{Makeup, runs};
use crate::world::World;

/// The name our program is called by.
const PROGRAM: &str = "gsd-tools";

/// First words of the names of variables that decide which program, library or settings a program gets.
const OF_PROGRAMS: &[&str] = &[
    "PATH",
    "HOME",
    "IFS",
    "ENV",
    "BASH",
    "SHELL",
    "LD",
    "DYLD",
    "GIT",
    "GSD",
    "XDG",
    "NODE",
    "PYTHONPATH",
    "PYTHONHOME",
    "npm",
];

pub(super) fn look(scene: &Scene<'_>) -> Finding {
    look_in(scene.world, scene.payload, &[scene.here, &scene.project.root])
}

/// As [`look`], where there is no project: a host allows calls of ours everywhere.
pub(super) fn look_in(world: &World, payload: &Payload, folders: &[&Path]) -> Finding {
    let Some(line) = payload.command().filter(|line| line.contains(PROGRAM)) else { return Finding::Nothing };
    let Some(host) = scene::host(world) else { return Finding::Nothing };
    if payload.permission_mode().is_some_and(|mode| host.asking.silent_modes.iter().any(|silent| silent == mode)) {
        return Finding::Nothing;
    }
    let temporary = world.temporary_folder();
    let folders: Vec<&Path> = folders.iter().copied().chain([temporary.as_path()]).collect();
    let Some(what) = found(&line, &host.asking, &folders) else { return Finding::Nothing };
    Finding::block(
        "UNASKED_LINE",
        format!(
            "calls of `{PROGRAM}` run without a question here, and {what} would run with this one. Instead, type the call alone \
             on one line, with its values in single quotes and its answer where it is printed."
        ),
    )
}

/// What the host would let through beside a call of ours. The first of `folders` is the one the line runs in.
fn found(line: &str, asking: &Asking, folders: &[&Path]) -> Option<String> {
    if asking.blind_to.is_empty() || !runs(line).iter().any(|run| run.program == PROGRAM) {
        return None;
    }
    let makeup = Makeup::of(line);
    asking.blind_to.iter().find_map(|part| match part {
        LinePart::Substitution => makeup.substitutes.then(|| "a command within its words".to_owned()),
        LinePart::LineBreak => makeup.has_lines.then(|| "other lines".to_owned()),
        LinePart::Assignment => {
            let of_programs = |name: &&String| name.split('_').next().is_some_and(|word| OF_PROGRAMS.contains(&word));
            makeup.assigned.iter().find(of_programs).map(|name| format!("what `{name}` leads to"))
        }
        LinePart::Redirection => {
            let leads_out = |file: &&Option<String>| !file.as_ref().is_some_and(|file| is_within(file, folders));
            let out = makeup.written.iter().find(leads_out)?;
            Some(format!(
                "a write to {}",
                out.as_ref().map_or_else(|| "any file".to_owned(), |file| format!("`{file}`"))
            ))
        }
    })
}

/// Whether a file that a line writes to is in one of the folders.
fn is_within(file: &str, folders: &[&Path]) -> bool {
    if file == "/dev/null" {
        return true;
    }
    let path = folders.first().map_or_else(|| PathBuf::from(file), |here| here.join(file));
    let climbs = path.components().any(|part| part == Component::ParentDir);
    // To a shell this is the home folder.
    !file.starts_with('~') && !climbs && folders.iter().any(|folder| path.starts_with(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(line: &str, blind_to: &[LinePart]) -> bool {
        let asking = Asking { blind_to: blind_to.to_vec(), silent_modes: Vec::new() };
        found(line, &asking, &[Path::new("/p/src"), Path::new("/p"), Path::new("/tmp")]).is_some()
    }

    const ALL: &[LinePart] =
        &[LinePart::Substitution, LinePart::Assignment, LinePart::Redirection, LinePart::LineBreak];

    #[test]
    fn what_a_host_does_not_see_is_refused_beside_a_call_of_ours_alone() {
        let rows = [
            (LinePart::Substitution, "~/x/gsd-tools state get \"$(touch a)\""),
            (LinePart::Assignment, "PATH=.:$PATH gsd-tools commit 'docs: x'"),
            (LinePart::Assignment, "export GIT_CONFIG_GLOBAL=x; gsd-tools commit 'docs: x'"),
            (LinePart::Redirection, "gsd-tools state json > ~/.bashrc"),
            (LinePart::Redirection, "gsd-tools state json >> ../a"),
            (LinePart::Redirection, "gsd-tools state json > $TARGET"),
            (LinePart::LineBreak, "gsd-tools state json\ntouch a"),
        ];
        for (part, line) in rows {
            assert!(refused(line, &[part]), "{line}");
            let others: Vec<LinePart> = ALL.iter().copied().filter(|other| *other != part).collect();
            assert!(!refused(line, &others), "{line}");
            assert!(!refused(&line.replace("gsd-tools", "other"), ALL), "{line}");
        }
    }

    #[test]
    fn plain_calls_are_let_through_with_any_text() {
        for line in [
            "~/x/gsd-tools state add-decision --phase 1 --summary 'a > b; $(c) `d`'",
            "gsd-tools commit 'docs: x' \\\n  --files .planning/STATE.md",
            "gsd-tools state json | jq .status && gsd-tools progress 2>/dev/null",
            "gsd-tools state json > state.json; PHASE=1 gsd-tools init plan-phase 1 > /tmp/a",
            "grep -rn gsd-tools $(git ls-files) > ~/found",
        ] {
            assert!(!refused(line, ALL), "{line}");
        }
    }
}
