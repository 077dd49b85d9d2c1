//! Refuses to write a planning document again with far fewer lines: mostly, only a part of it had been read.

use std::path::{Path, PathBuf};

use super::scene::Scene;
use super::verdict::{Block, Finding};
use crate::project::layout::Layout;
use crate::text::shell::{Argument, Run, runs};

pub(super) fn look(scene: &Scene<'_>) -> Finding {
    if scene.world.flag(VARIABLE) {
        return Finding::Nothing;
    }
    let by_tool = scene.payload.writes().into_iter().filter(|write| write.creates);
    let by_tool = by_tool.map(|write| (write.path, Content::Lines(write.text.lines().count())));
    let by_shell = scene.payload.command().map(|command| written_by(&command)).unwrap_or_default();
    // What is no text has lines all the same.
    let lines = |name: &str| crate::disk::read_bytes(scene.path(name)).ok().flatten().map(|bytes| line_count(&bytes));
    for (name, content) in by_tool.chain(by_shell) {
        let path = scene.path(&name);
        let Some(document) = guarded(&path, &scene.project.layout) else { continue };
        let new = match content {
            Content::Lines(count) => Some(count),
            Content::OfFiles(files) => files.iter().map(|file| lines(file)).sum(),
        };
        let Some((old, new)) = new.map(|new| (lines(&name).unwrap_or_default(), new)) else { continue };
        if !shrinks(old, new) {
            continue;
        }
        let Some(leave) = leave_of(&path) else { continue };
        if !may_shrink(scene, &leave, &path, &document) {
            let leave = leave.strip_prefix(scene.here).unwrap_or(&leave);
            return Finding::Block(refused(&document, old, new, leave));
        }
    }
    Finding::Nothing
}

fn line_count(bytes: &[u8]) -> usize {
    bytes.split_inclusive(|byte| *byte == b'\n').count()
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

fn shrinks(old: usize, new: usize) -> bool {
    old >= SHORTEST && new * 100 < old * STAY
}

fn refused(document: &str, old: usize, new: usize, leave: &Path) -> Block {
    Block {
        code: "PLANNING_SHRINK",
        reason: format!(
            "this would leave {new} of the {old} lines of `{document}`. Instead, edit only the lines that change; or, if \
             the user wants it that short, first write the line `{document}` into `{}`, which allows it once within 15 \
             minutes.",
            leave.display()
        ),
    }
}

/// The guarded document at `path`, as it is called from the project's folder.
fn guarded(path: &Path, layout: &Layout) -> Option<String> {
    let own = [layout.state(), layout.roadmap()];
    if let Some(document) = own.into_iter().find(|document| layout.absolute(document) == path) {
        return Some(document);
    }
    let parts: Vec<&str> = path.components().filter_map(|part| part.as_os_str().to_str()).collect();
    let planning = parts.iter().rposition(|part| *part == ".planning")?;
    let guarded = match &parts[planning + 1..] {
        ["ROADMAP.md" | "STATE.md"] | ["workstreams", _, "ROADMAP.md" | "STATE.md"] => true,
        ["milestones", name] | ["workstreams", _, "milestones", name] => name.ends_with("-ROADMAP.md"),
        _ => false,
    };
    guarded.then(|| parts[planning..].join("/"))
}

/// The file that says which document may shrink, in the planning folder that `path` is in.
fn leave_of(path: &Path) -> Option<PathBuf> {
    let planning = path.ancestors().find(|folder| folder.file_name().is_some_and(|name| name == ".planning"));
    planning.map(|planning| planning.join(LEAVE))
}

/// Whether somebody gave leave for this document. The leave is used up.
fn may_shrink(scene: &Scene<'_>, leave: &Path, path: &Path, document: &str) -> bool {
    let age = crate::disk::modified(leave).map_or(i64::MAX, |modified| scene.now() - modified);
    let Ok(Some(text)) = crate::disk::read_text(leave) else { return false };
    let names = |line: &str| line.trim_start_matches("./") == document || Path::new(line) == path;
    if age >= HOLDS || !text.lines().map(str::trim).any(names) {
        return false;
    }
    // A leave that cannot be taken away would count for ever.
    crate::disk::AbsolutePath::parse(leave).is_ok_and(|leave| crate::disk::remove_note(&leave).is_ok())
}

/// What goes into a file, as far as a command line tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// So many lines at the most.
    Lines(usize),
    /// What stands in these files.
    OfFiles(Vec<String>),
}

/// Files that a script writes anew, seen from the folder it begins in, with what it tells of their content.
pub(super) fn written_by(script: &str) -> Vec<(String, Content)> {
    if !script.contains(".planning") && !script.contains(".md") {
        return Vec::new();
    }
    let mut written = Vec::new();
    let mut folder = PathBuf::new();
    for run in runs(script) {
        if matches!(run.program.as_str(), "cd" | "pushd") {
            folder = run.arguments.first().and_then(Argument::text).map_or(folder.clone(), |to| folder.join(to));
        }
        let from_here = |name: &str| folder.join(name).to_string_lossy().into_owned();
        if let Some((target, sources)) = copied(&run) {
            let sources = sources.iter().filter(|source| *source != "/dev/null").map(|source| from_here(source));
            written.push((from_here(&target), Content::OfFiles(sources.collect())));
            continue;
        }
        let names = |words: &[Argument]| -> Vec<String> {
            words.iter().filter_map(Argument::text).filter(|name| !name.starts_with('-')).collect()
        };
        let (content, files) = match run.program.as_str() {
            "tee" => (content(&run), names(&run.arguments)),
            "truncate" if empties(&run) => (Some(Content::Lines(0)), names(&run.arguments)),
            _ => (content(&run), Vec::new()),
        };
        let Some(content) = content else { continue };
        let content = match content {
            Content::OfFiles(files) => Content::OfFiles(files.iter().map(|file| from_here(file)).collect()),
            content @ Content::Lines(_) => content,
        };
        let redirected = run.writes.iter().filter(|written| !written.append).filter_map(|written| written.file.text());
        written.extend(redirected.chain(files).map(|name| (from_here(&name), content.clone())));
    }
    written
}

/// What a program prints.
fn content(run: &Run) -> Option<Content> {
    match run.program.as_str() {
        "" if run.reads.is_empty() => Some(Content::Lines(0)),
        ":" | "true" => Some(Content::Lines(0)),
        "head" | "tail" => most_lines(run).map(Content::Lines),
        "cat" if run.output().is_none() => {
            let files: Option<Vec<String>> = run.arguments.iter().chain(&run.reads).map(Argument::text).collect();
            files
                .filter(|files| !files.is_empty() && files.iter().all(|file| !file.starts_with('-')))
                .map(Content::OfFiles)
        }
        _ => run.output().map(|text| Content::Lines(text.lines().count())),
    }
}

/// How many lines `head` and `tail` print at the most: `-5`, `-n 5`, `-n5`.
fn most_lines(run: &Run) -> Option<usize> {
    let mut words = run.arguments.iter().map(Argument::shown);
    while let Some(word) = words.next() {
        let Some(option) = word.strip_prefix('-') else { continue };
        let number = match option.strip_prefix('n').or_else(|| option.strip_prefix("-lines=")) {
            Some("") => words.next()?,
            Some(number) => number.to_owned(),
            None if option == "-lines" => words.next()?,
            None if option.starts_with(|first: char| first.is_ascii_digit()) => option.to_owned(),
            // Bytes are counted, or something is left out.
            None if option.starts_with('c') || option.starts_with("-bytes") => return None,
            None => continue,
        };
        // All but so many, and from that line on, is no number.
        return if number.starts_with('+') { None } else { number.parse().ok() };
    }
    Some(10)
}

/// Whether `truncate` leaves nothing.
fn empties(run: &Run) -> bool {
    let words: Vec<String> = run.arguments.iter().map(Argument::shown).collect();
    let sized = words.windows(2).any(|pair| matches!(pair[0].as_str(), "-s" | "--size") && pair[1] == "0");
    sized || words.iter().any(|word| word == "-s0" || word == "--size=0")
}

/// The file that a program puts others in the place of, and those.
fn copied(run: &Run) -> Option<(String, Vec<String>)> {
    if !matches!(run.program.as_str(), "cp" | "mv" | "install") {
        return None;
    }
    let words: Option<Vec<String>> = run.arguments.iter().map(Argument::text).collect();
    let mut words: Vec<String> = words?.into_iter().filter(|word| !word.starts_with('-')).collect();
    let target = words.pop()?;
    match words.as_slice() {
        [_] => Some((target, words)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_of_ten_lines_must_stay_of_a_long_document() {
        assert!(shrinks(100, 39) && shrinks(40, 15) && shrinks(40, 0) && shrinks(1000, 1));
        assert!(!shrinks(100, 40) && !shrinks(39, 0) && !shrinks(40, 16) && !shrinks(0, 0) && !shrinks(50, 500));
        let reason = refused(".planning/ROADMAP.md", 292, 16, Path::new(".planning/.gsd-allow-shrink")).reason;
        assert!(reason.contains("16 of the 292 lines of `.planning/ROADMAP.md`"), "{reason}");
    }

    #[test]
    fn the_roadmaps_and_the_state_are_guarded() {
        let layout = Layout::new("/p", Some("app"), None);
        let guarded = |path: &str| guarded(Path::new(path), &layout);
        assert_eq!(guarded("/p/.planning/app/STATE.md").unwrap(), ".planning/app/STATE.md");
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
            let told = |content| match content {
                Content::Lines(count) => count.to_string(),
                Content::OfFiles(files) => files.join("+"),
            };
            written_by(script)
                .into_iter()
                .map(|(name, content)| format!("{name} {}", told(content)))
                .collect::<Vec<_>>()
        };
        assert_eq!(written("cat > .planning/STATE.md <<'E'\na\nb\nE"), [".planning/STATE.md 2"]);
        assert_eq!(written("echo x > .planning/STATE.md; : > a.md"), [".planning/STATE.md 1", "a.md 0"]);
        assert_eq!(written("> .planning/STATE.md"), [".planning/STATE.md 0"]);
        assert_eq!(written("cat <<E | tee .planning/STATE.md\na\nE"), [".planning/STATE.md 1"]);
        assert_eq!(written("echo x >> .planning/STATE.md; make > .planning/STATE.md"), Vec::<String>::new());
        assert_eq!(written("cat a.md b.md > .planning/STATE.md"), [".planning/STATE.md a.md+b.md"]);
        assert_eq!(written("cat \"$x\" a.md > .planning/STATE.md"), Vec::<String>::new());
        assert_eq!(written("cd .planning && cat > STATE.md <<'E'\na\nE"), [".planning/STATE.md 1"]);
        assert_eq!(written("cd a; cd \"$x\"; echo b > /p/c.md; cat d > e.md"), ["/p/c.md 1", "a/e.md a/d"]);
        assert_eq!(written("echo a > \"$PWD/.planning/STATE.md\""), ["./.planning/STATE.md 1"]);
        assert_eq!(written("echo a > \"$(pwd)/.planning/STATE.md\""), ["./.planning/STATE.md 1"]);
        assert_eq!(written("cp -f /dev/null .planning/STATE.md"), [".planning/STATE.md "]);
        assert_eq!(written("cd .planning; mv a.md STATE.md"), [".planning/STATE.md .planning/a.md"]);
        assert_eq!(written("cp a.md b.md c; cp \"$x\" a.md"), Vec::<String>::new());
        for empties in ["truncate -s 0 a.md", "truncate -s0 a.md", "truncate --size=0 a.md"] {
            assert_eq!(written(empties).last().unwrap(), "a.md 0", "{empties}");
        }
        assert_eq!(written("truncate -s 10 a.md"), Vec::<String>::new());
        for (most, lines) in [("", 10), ("-5", 5), ("-n 7", 7), ("-n3", 3), ("--lines=2", 2), ("-q -n 4", 4)] {
            assert_eq!(written(&format!("head {most} x > a.md")), [format!("a.md {lines}")], "{most}");
        }
        for most in ["head -c 5", "head -n -5", "tail -n +2", "head -n $x"] {
            assert_eq!(written(&format!("{most} x > a.md")), Vec::<String>::new(), "{most}");
        }
    }

    #[test]
    fn lines_are_counted_in_bytes() {
        let counts = [&b""[..], b"a", b"a\n", b"a\nb", b"\xff\n\n"].map(line_count);
        assert_eq!(counts, [0, 1, 1, 2, 2]);
    }
}
