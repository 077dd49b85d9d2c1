//! Refuses to write a planning document anew with far fewer lines: mostly, only a part of it had been read.

use std::path::Path;

use super::scene::Scene;
use super::verdict::{Block, Finding};
use crate::text::shell::{Argument, runs};

pub(super) fn look(scene: &Scene<'_>) -> Finding {
    if scene.world.flag(VARIABLE) {
        return Finding::Nothing;
    }
    let by_tool =
        scene.payload.writes().into_iter().filter(|write| write.creates).map(|write| (write.path, write.text));
    let by_shell = scene.payload.command().map(|command| written_by(&command)).unwrap_or_default();
    for (name, text) in by_tool.chain(by_shell) {
        let path = scene.path(&name);
        let Some(document) = guarded(&path) else { continue };
        let old = scene.read(&name).unwrap_or_default().lines().count();
        let Some(block) = refused(&document, old, text.lines().count()) else { continue };
        if !may_shrink(scene, &path, &document) {
            return Finding::Block(block);
        }
    }
    Finding::Nothing
}

/// Lets every such write through.
const VARIABLE: &str = "GSD_ALLOW_PLANNING_SHRINK";

/// Below the planning folder: names a document that may be written shorter, once.
const LEAVE: &str = ".gsd-allow-shrink";

/// How long such a leave holds, in milliseconds.
const HOLDS: i64 = 15 * 60 * 1000;

/// Shorter documents are not guarded.
const SHORTEST: usize = 40;

/// Of a hundred lines, so many must stay.
const STAY: usize = 40;

fn refused(document: &str, old: usize, new: usize) -> Option<Block> {
    let shrinks = old >= SHORTEST && new * 100 < old * STAY;
    shrinks.then(|| Block {
        code: "PLANNING_SHRINK",
        reason: format!(
            "this would leave {new} of the {old} lines of `{document}`. Read the whole file and write all of it, or edit \
             only the lines that change. If the user wants it that short, write `{document}` into `.planning/{LEAVE}` \
             first: it counts once, for 15 minutes."
        ),
    })
}

/// The guarded document at `path`, as it is called from the project's folder.
fn guarded(path: &Path) -> Option<String> {
    let parts: Vec<&str> = path.components().filter_map(|part| part.as_os_str().to_str()).collect();
    let planning = parts.iter().rposition(|part| *part == ".planning")?;
    let guarded = match &parts[planning + 1..] {
        ["ROADMAP.md" | "STATE.md"] | ["workstreams", _, "ROADMAP.md" | "STATE.md"] => true,
        ["milestones", name] | ["workstreams", _, "milestones", name] => name.ends_with("-ROADMAP.md"),
        _ => false,
    };
    guarded.then(|| parts[planning..].join("/"))
}

/// Whether somebody gave leave for this document. The leave is used up.
fn may_shrink(scene: &Scene<'_>, path: &Path, document: &str) -> bool {
    let Some(planning) = path.ancestors().find(|folder| folder.file_name().is_some_and(|name| name == ".planning"))
    else {
        return false;
    };
    let leave = planning.join(LEAVE);
    let age = crate::disk::modified(&leave).map_or(i64::MAX, |modified| scene.now() - modified);
    let Ok(Some(text)) = crate::disk::read_text(&leave) else { return false };
    let names = |line: &str| line.trim_start_matches("./") == document || Path::new(line) == path;
    if age >= HOLDS || !text.lines().map(str::trim).any(names) {
        return false;
    }
    // A leave that cannot be taken away would count for ever.
    crate::disk::AbsolutePath::parse(&leave).is_ok_and(|leave| crate::disk::remove_note(&leave).is_ok())
}

/// Files that a script writes anew, with the text where it tells that.
pub(super) fn written_by(script: &str) -> Vec<(String, String)> {
    if !script.contains(".planning") && !script.contains(".md") {
        return Vec::new();
    }
    let mut written = Vec::new();
    for run in runs(script) {
        let text = if run.program.is_empty() && run.reads.is_empty() { Some(String::new()) } else { run.output() };
        let Some(text) = text else { continue };
        let redirected = run.writes.iter().filter(|written| !written.append).map(|written| &written.file);
        let tee: &[Argument] = if run.program == "tee" { &run.arguments } else { &[] };
        let names = redirected.chain(tee).filter_map(Argument::text).filter(|name| !name.starts_with('-'));
        written.extend(names.map(|name| (name, text.clone())));
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_of_ten_lines_must_stay_of_a_long_document() {
        let shrinks = |old, new| refused("x", old, new).is_some();
        assert!(shrinks(100, 39) && shrinks(40, 15) && shrinks(40, 0) && shrinks(1000, 1));
        assert!(!shrinks(100, 40) && !shrinks(39, 0) && !shrinks(40, 16) && !shrinks(0, 0) && !shrinks(50, 500));
        let reason = refused(".planning/ROADMAP.md", 292, 16).unwrap().reason;
        assert!(reason.contains("16 of the 292 lines of `.planning/ROADMAP.md`"), "{reason}");
    }

    #[test]
    fn the_roadmaps_and_the_state_are_guarded() {
        let guarded = |path: &str| guarded(Path::new(path));
        assert_eq!(guarded("/p/.planning/ROADMAP.md").unwrap(), ".planning/ROADMAP.md");
        for path in [
            "/p/.planning/STATE.md",
            "/p/.planning/milestones/v1.0-ROADMAP.md",
            "/p/.planning/workstreams/a/STATE.md",
            "/p/.planning/workstreams/a/milestones/v1.0-ROADMAP.md",
        ] {
            assert!(guarded(path).is_some(), "{path}");
        }
        for path in [
            "/p/ROADMAP.md",
            "/p/.planning/REQUIREMENTS.md",
            "/p/.planning/phases/01-a/STATE.md",
            "/p/.planning/milestones/ROADMAP.md",
            "/p/.planning",
            "/",
        ] {
            assert_eq!(guarded(path), None, "{path}");
        }
    }

    #[test]
    fn files_that_a_script_writes_are_seen() {
        let written = |script: &str| {
            written_by(script)
                .into_iter()
                .map(|(name, text)| format!("{name} {}", text.lines().count()))
                .collect::<Vec<_>>()
        };
        assert_eq!(written("cat > .planning/STATE.md <<'E'\na\nb\nE"), [".planning/STATE.md 2"]);
        assert_eq!(written("echo x > .planning/STATE.md; : > a.md"), [".planning/STATE.md 1"]);
        assert_eq!(written("> .planning/STATE.md"), [".planning/STATE.md 0"]);
        assert_eq!(written("cat <<E | tee .planning/STATE.md\na\nE"), [".planning/STATE.md 1"]);
        assert_eq!(written("echo x >> .planning/STATE.md; make > .planning/STATE.md"), Vec::<String>::new());
        assert_eq!(written("cat a.md > .planning/STATE.md"), Vec::<String>::new());
    }
}
