//! Refuses to overwrite a planning document with far fewer lines: usually, only a part of it had been read. Also
//! refuses to write files that only the user may write.

mod approvals;
mod command;
mod content;
mod script;

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};

pub(in crate::hooks) use self::command::written_by;
use self::content::Content;
use super::checkout::Checkout;
use super::payload::FileWrite;
use super::scene::Scene;
use super::verdict::{Block, Reaction};
use crate::disk::EntryKind;
use crate::project::layout::Layout;

pub(super) fn look(scene: &Scene<'_>) -> Reaction {
    if let Some(block) = approvals::refused(scene) {
        return Reaction::Block(block);
    }
    if scene.world.flag(VARIABLE) {
        return Reaction::Nothing;
    }
    let by_tool = scene.payload.writes().into_iter().map(|write| (write.path.clone(), left_by(&write)));
    let by_shell = scene.payload.command().map(|command| written_by(&command)).unwrap_or_default();
    // A binary file has lines too. A command line may name a file many times, so counts are cached.
    let counted = RefCell::new(HashMap::new());
    let count = |path: PathBuf| crate::disk::read_bytes(path).ok().flatten().map(|bytes| line_count(&bytes));
    let lines = |name: &str| *counted.borrow_mut().entry(name.to_owned()).or_insert_with(|| count(scene.path(name)));
    let mut below = HashMap::new();
    for (name, content) in by_tool.chain(by_shell) {
        let path = scene.path(&name);
        let path = match folder_lost(&path, &content, &scene.project.root) {
            Some(folder) => {
                below.entry(folder).or_insert_with_key(|folder| longest_below(folder, &scene.project.layout)).clone()
            }
            None => Some(path).filter(|_| content != Content::Moved),
        };
        let Some(path) = path else { continue };
        let Some(document) = guarded(&path, &scene.project.layout) else { continue };
        let old = lines(&path.to_string_lossy()).unwrap_or_default();
        let new = match &content {
            Content::Lines(count) => Some(*count),
            Content::OfFiles(files) => files.iter().map(|file| lines(file)).sum(),
            Content::Edited { fewer, more } => Some(old.saturating_sub(*fewer).saturating_add(*more)),
            // The earlier content is not read, because a hook does not start git.
            Content::Older(_) | Content::Foreign | Content::Removed | Content::Moved => Some(0),
            Content::Bytes(most) => start_of(&path, *most).map(|start| line_count(&start)),
            Content::Picked { file, text, at_start } => picked(&scene.path(file), text, *at_start),
        };
        let Some(new) = new else { continue };
        if !shrinks(old, new) {
            continue;
        }
        let Some(leave) = leave_of(&path) else { continue };
        if !may_shrink(scene, &leave, &path, &document) {
            let leave = leave.strip_prefix(scene.here).unwrap_or(&leave);
            return Reaction::Block(refused(&document, old, new, &content, leave));
        }
    }
    Reaction::Nothing
}

/// The folder whose documents are lost when a command removes it. A single document may be moved, and so may a folder
/// of them; without the planning folder there would be no project.
fn folder_lost(path: &Path, content: &Content, root: &Path) -> Option<PathBuf> {
    let planning = root.join(".planning");
    let has_all = planning.starts_with(path);
    let is_lost = match content {
        Content::Removed => has_all || path.starts_with(&planning),
        Content::Moved => has_all,
        _ => false,
    };
    let folder = if has_all { planning } else { path.to_path_buf() };
    (is_lost && crate::disk::is_folder(&folder)).then_some(folder)
}

/// The most folder entries that are examined for documents.
const MOST_ENTRIES: usize = 2_000;

/// The guarded document below a folder that has the most bytes; it represents all of them.
fn longest_below(folder: &Path, layout: &Layout) -> Option<PathBuf> {
    let mut left = MOST_ENTRIES;
    let mut open = VecDeque::from([folder.to_path_buf()]);
    let mut longest: Option<(u64, PathBuf)> = None;
    while let Some(folder) = open.pop_front() {
        for entry in crate::disk::list(&folder).ok().flatten().unwrap_or_default() {
            left = left.saturating_sub(1);
            if left == 0 {
                break;
            }
            if entry.kind == EntryKind::Folder {
                open.push_back(entry.path);
            } else if guarded(&entry.path, layout).is_some() {
                let size = crate::disk::size(&entry.path).unwrap_or_default();
                longest = longest.into_iter().chain([(size, entry.path)]).max();
            }
        }
    }
    longest.map(|(_, path)| path)
}

/// The first bytes of a file.
fn start_of(path: &Path, most: u64) -> Option<Vec<u8>> {
    let mut bytes = crate::disk::read_bytes(path).ok().flatten()?;
    bytes.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    Some(bytes)
}

/// How many lines of a file contain a text, or begin with it.
fn picked(path: &Path, text: &str, at_start: bool) -> Option<usize> {
    let bytes = crate::disk::read_bytes(path).ok().flatten()?;
    let whole = String::from_utf8_lossy(&bytes);
    Some(whole.lines().filter(|line| if at_start { line.starts_with(text) } else { line.contains(text) }).count())
}

fn line_count(bytes: &[u8]) -> usize {
    bytes.split_inclusive(|byte| *byte == b'\n').count()
}

/// Allows every such write.
const VARIABLE: &str = "GSD_ALLOW_PLANNING_SHRINK";

/// A file below the planning folder that names a document which may be shortened, once.
const LEAVE: &str = ".gsd-allow-shrink";

/// How long such a permission is valid, in milliseconds.
const HOLDS: i64 = 15 * 60 * 1000;

/// Shorter documents are not guarded.
const SHORTEST: usize = 40;

/// How many of a hundred lines must stay.
const STAY: usize = 40;

fn shrinks(old: usize, new: usize) -> bool {
    old >= SHORTEST && new.saturating_mul(100) < old.saturating_mul(STAY)
}

/// The content that a tool leaves in a file.
fn left_by(write: &FileWrite) -> Content {
    let lines = write.text.lines().count();
    if write.creates { Content::Lines(lines) } else { Content::Edited { fewer: write.replaced, more: lines } }
}

fn refused(document: &str, old: usize, new: usize, content: &Content, leave: &Path) -> Block {
    let what = match content {
        Content::Moved => format!("this would remove the planning folder, with all {old} lines of `{document}`"),
        Content::Foreign => format!("this would replace the {old} lines of `{document}` by something else"),
        Content::Older(commit) => {
            format!("this would replace the {old} lines of `{document}` by its version in `{commit}`")
        }
        _ => format!("this would leave {new} of the {old} lines of `{document}`"),
    };
    Block {
        code: "PLANNING_SHRINK",
        reason: format!(
            "{what}. Instead, edit only the lines that change; or, if the user wants it that short, first write the line \
             `{document}` into `{}`, which allows it once within 15 minutes.",
            leave.display()
        ),
    }
}

/// The guarded document at `path`, relative to the project's folder.
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

/// The file that names the document which may shrink, in the planning folder that contains `path`.
fn leave_of(path: &Path) -> Option<PathBuf> {
    let planning = path.ancestors().find(|folder| folder.file_name().is_some_and(|name| name == ".planning"));
    planning.map(|planning| planning.join(LEAVE))
}

/// True if a permission for this document exists. The permission is used up.
fn may_shrink(scene: &Scene<'_>, leave: &Path, path: &Path, document: &str) -> bool {
    let age = crate::disk::modified(leave).map_or(i64::MAX, |modified| scene.now() - modified);
    let Ok(Some(text)) = crate::disk::read_text(leave) else { return false };
    let names = |line: &str| line.trim_start_matches("./") == document || Path::new(line) == path;
    // A permission that came with the repository is not from a person here.
    let is_brought = || Checkout::of(leave).is_some_and(|checkout| checkout.may_have_brought(leave));
    if age >= HOLDS || !text.lines().map(str::trim).any(names) || is_brought() {
        return false;
    }
    // A permission that cannot be removed would be valid for ever.
    crate::disk::AbsolutePath::parse(leave).is_ok_and(|leave| crate::disk::remove_note(&leave).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_document_must_keep_four_of_ten_lines() {
        assert!(shrinks(100, 39) && shrinks(40, 15) && shrinks(40, 0) && shrinks(1000, 1));
        assert!(!shrinks(100, 40) && !shrinks(39, 0) && !shrinks(40, 16) && !shrinks(0, 0) && !shrinks(50, 500));
        let reason =
            refused(".planning/ROADMAP.md", 292, 16, &Content::Lines(16), Path::new(".planning/.gsd-allow-shrink"))
                .reason;
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
    fn files_that_a_script_writes_are_found() {
        let written = |script: &str| {
            let told = |content| match content {
                Content::Lines(count) => count.to_string(),
                Content::OfFiles(files) => files.join("+"),
                Content::Edited { fewer, more } => format!("-{fewer}+{more}"),
                Content::Older(commit) => commit,
                Content::Bytes(most) => format!("{most} bytes"),
                Content::Picked { file, text, at_start } => format!("{file}:{}{text}", if at_start { "^" } else { "" }),
                Content::Foreign => "foreign".to_owned(),
                Content::Removed => "removed".to_owned(),
                Content::Moved => "moved".to_owned(),
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
        assert_eq!(
            written("cd .planning; mv a.md STATE.md"),
            [".planning/a.md moved", ".planning/STATE.md .planning/a.md"]
        );
        assert_eq!(written("cp a.md b.md c; cp \"$x\" a.md"), Vec::<String>::new());
        assert_eq!(written("head -5 R.md > t && mv t R.md"), ["t 5", "t moved", "R.md 5"]);
        assert_eq!(written("sed -i '10,$d' R.md; sed -i.bak '1,40d' R.md"), ["R.md 9", "R.md -40+0"]);
        assert_eq!(written("sed -i 's/a/b/' R.md"), Vec::<String>::new());
        assert_eq!(written("rm -f R.md; git rm R.md"), ["R.md removed", "R.md removed"]);
        assert_eq!(written("tee R.md < f; cat f | tee R.md"), ["R.md f", "R.md f"]);
        assert_eq!(
            written("git checkout HEAD~3 -- R.md; git restore -s abc1234 R.md"),
            ["R.md HEAD~3", "R.md abc1234"]
        );
        assert_eq!(written("git restore --source=HEAD R.md; git checkout main -- R.md"), Vec::<String>::new());
        assert_eq!(written("git rm --cached R.md; mv R.md R.md.broken"), ["R.md moved", "R.md.broken R.md"]);
        assert_eq!(written("python3 -c \"open('R.md','w').write('x')\""), ["R.md 1"]);
        for empties in ["truncate -s 0 a.md", "truncate -s0 a.md", "truncate --size=0 a.md"] {
            assert_eq!(written(empties).last().unwrap(), "a.md 0", "{empties}");
        }
        assert_eq!(written("truncate -s 10 a.md; truncate --size=1K a.md"), ["a.md 10 bytes", "a.md 1024 bytes"]);
        assert_eq!(written("truncate -s +10 a.md; truncate -r b.md a.md"), Vec::<String>::new());
        for (script, expected) in [
            ("install -m 644 s.md R.md", "R.md s.md"),
            ("git mv -f s.md R.md", "R.md s.md"),
            ("ln -sf ../s.md R.md", "R.md foreign"),
            ("curl -so R.md https://x", "R.md foreign"),
            ("curl -s https://x > R.md", "R.md foreign"),
            ("wget -qO R.md https://x", "R.md foreign"),
            ("pandoc s.md -o R.md", "R.md foreign"),
            ("openssl enc -in x -out R.md", "R.md foreign"),
            ("tar xf b.tar R.md", "R.md foreign"),
            ("git show HEAD:notes.md > R.md", "R.md HEAD:notes.md"),
            ("git show HEAD~2:R.md > R.md", "R.md HEAD~2:R.md"),
            ("ed -s R.md <<< $'10,$d\nw'", "R.md 9"),
            ("ex -sc '10,$d' -cx R.md", "R.md 9"),
            ("vim -es -c '%d' -c wq R.md", "R.md 0"),
            ("awk 'NR<10' R.md > t.md && mv t.md R.md", "R.md 9"),
            ("gawk -i inplace 'NR <= 5' R.md", "R.md 5"),
            ("perl -i -ne 'print if $. < 10' R.md", "R.md 9"),
            ("perl -ni -e 'print unless 10..eof' R.md", "R.md 9"),
            ("ruby -i -ne 'puts $_ if $. <= 4' R.md", "R.md 4"),
            ("perl -e 'open F, \">R.md\"; print F 1'", "R.md 1"),
            ("ruby -e 'File.write(\"R.md\", \"x\")'", "R.md 1"),
            ("php -r 'file_put_contents(\"R.md\", \"x\");'", "R.md 1"),
            ("lua -e 'io.open(\"R.md\", \"w\"):write(1)'", "R.md 1"),
            ("python3 -c \"import os; os.remove('R.md')\"", "R.md removed"),
            ("python3 -c \"import shutil; shutil.copy('s.md', 'R.md')\"", "R.md s.md"),
            ("node -e \"fs.unlinkSync('R.md')\"", "R.md removed"),
            ("grep '^#' R.md > n.md && mv n.md R.md", "R.md R.md:^#"),
            ("find .planning -name ROADMAP.md -delete", ".planning/ROADMAP.md removed"),
            ("find . -name STATE.md | xargs rm -f", ".planning/STATE.md removed"),
            ("xargs rm <<< .planning/STATE.md", ".planning/STATE.md removed"),
            ("git clean -fdx .planning", ".planning removed"),
            ("sed -i '/Phase/d; 10,$d' R.md", "R.md 9"),
            ("exec 3> R.md", "R.md foreign"),
            ("for f in .planning/*.md; do sed -i '8,$d' \"$f\"; done", ".planning/STATE.md 7"),
        ] {
            assert_eq!(written(script).last().map(String::as_str), Some(expected), "{script}: {:?}", written(script));
        }
        for kept in [
            "find .planning -name '*.tmp' -delete",
            "find . -name '*.log.md' | xargs rm -f",
            "find .planning -name '*.tmp' -exec rm {} +",
            "git clean -fdn .planning",
            "git show HEAD:R.md > R.md",
            "sort -o R.md R.md",
            "perl -pi -e 's/a/b/' R.md",
            "awk 'NR<10{sub(/a/,1)}1' R.md > t.md && cat t.md",
            "curl -s https://x.md",
            "tar czf x.tgz R.md",
        ] {
            assert_eq!(written(kept), Vec::<String>::new(), "{kept}");
        }
        for appends in ["tee -a R.md", "tee --append R.md", "tee -ai R.md"] {
            assert_eq!(written(&format!("echo x | {appends}")), Vec::<String>::new(), "{appends}");
        }
        let parts = "head -20 R.md > t.md; tail -80 R.md >> t.md; mv t.md R.md";
        assert_eq!(written(parts), ["t.md 20", "t.md moved", "R.md 100"]);
        let unknown = "head -20 R.md > t.md; grep x R.md >> t.md; mv t.md R.md; cat t.md > R.md";
        assert_eq!(written(unknown), ["t.md 20", "t.md moved", "R.md t.md", "R.md t.md"]);
        assert_eq!(written("head -2 R.md > t; make > t; mv t R.md"), ["t 2", "t moved", "R.md t"]);
        for (prints, lines) in [
            ("echo -e 'a\\nb\\nc'", 3),
            ("echo -e 'a\\nb' c 'd\ne'", 3),
            ("printf '%s\\n' a b c", 4),
            ("printf '%s-%s\\n' a b c", 3),
            ("printf '%%\\n'", 2),
            ("printf '%b' 'a\\nb'", 2),
            ("echo a", 1),
        ] {
            assert_eq!(written(&format!("{prints} > R.md")), [format!("R.md {lines}")], "{prints}");
            assert_eq!(written(&format!("{prints} | tee R.md")), [format!("R.md {lines}")], "{prints}");
        }
        for unknown in
            ["printf '%s\\n' *.md", "printf '%s\\n' {1..99}", "printf '%s\\n' {a,b}", "echo 'a\\x0ab'", "printf \"$x\""]
        {
            assert_eq!(written(&format!("{unknown} > R.md")), Vec::<String>::new(), "{unknown}");
        }
        for empty in ["tee R.md < /dev/null", "cat /dev/null > R.md", "dd if=/dev/null of=R.md", "rsync /dev/null R.md"]
        {
            assert_eq!(written(empty), ["R.md "], "{empty}");
        }
        assert_eq!(written("echo x | dd of=R.md; dd if=a of=R.md bs=1k"), ["R.md 1", "R.md a"]);
        assert_eq!(written("dd if=a of=R.md conv=notrunc; dd if=a of=R.md seek=1"), Vec::<String>::new());
        assert_eq!(
            written("rm -rf .planning .planning/*; mv .planning x"),
            [".planning removed", ".planning removed", ".planning moved", "x .planning"]
        );
        for (most, lines) in [("", 10), ("-5", 5), ("-n 7", 7), ("-n3", 3), ("--lines=2", 2), ("-q -n 4", 4)] {
            assert_eq!(written(&format!("head {most} x > a.md")), [format!("a.md {lines}")], "{most}");
        }
        for most in ["head -c 5", "head -n -5", "tail -n +2", "head -n $x"] {
            assert_eq!(written(&format!("{most} x > a.md")), Vec::<String>::new(), "{most}");
        }
    }

    #[test]
    #[allow(clippy::disallowed_methods, reason = "tests prepare folders by hand")]
    fn a_folder_is_judged_by_its_longest_document() {
        let folder = crate::testing::folder();
        let root = folder.path();
        for (name, lines) in [
            ("STATE.md", 10),
            ("ROADMAP.md", 50),
            ("PROJECT.md", 90),
            ("milestones/v1-ROADMAP.md", 40),
            ("phases/01-a/x.md", 99),
        ] {
            let path = root.join(".planning").join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "line\n".repeat(lines)).unwrap();
        }
        let layout = Layout::new(root, None, None);
        let lost = |name: &str, content: &Content| {
            let longest = longest_below(&folder_lost(&root.join(name), content, root)?, &layout)?;
            Some(longest.strip_prefix(root.join(".planning")).unwrap().to_string_lossy().into_owned())
        };
        for (name, removed, moved) in [
            (".planning", Some("ROADMAP.md"), Some("ROADMAP.md")),
            ("", Some("ROADMAP.md"), Some("ROADMAP.md")),
            (".planning/milestones", Some("milestones/v1-ROADMAP.md"), None),
            (".planning/phases", None, None),
            (".planning/STATE.md", None, None),
            ("src", None, None),
        ] {
            assert_eq!(lost(name, &Content::Removed).as_deref(), removed, "{name}");
            assert_eq!(lost(name, &Content::Moved).as_deref(), moved, "{name}");
            assert_eq!(lost(name, &Content::Lines(0)), None, "{name}");
        }
    }

    /// Writes that our own content orders are never refused, however long the documents are.
    #[test]
    #[allow(clippy::disallowed_methods, reason = "the content of this repository as it stands")]
    fn our_own_workflows_are_allowed() {
        let layout = Layout::new("/p", None, None);
        let mut seen = 0;
        for folder in ["workflows", "agents", "references", "commands"] {
            for entry in walkdir::WalkDir::new(format!("{}/{folder}", env!("CARGO_MANIFEST_DIR"))).into_iter().flatten()
            {
                let Ok(text) = std::fs::read_to_string(entry.path()) else { continue };
                let text = text.replace("{planning}", ".planning");
                for line in text.lines().filter(|line| line.contains(".planning/")) {
                    for (name, content) in written_by(line) {
                        let is_guarded = guarded(&Path::new("/p").join(&name), &layout).is_some();
                        let shrinks = !matches!(content, Content::OfFiles(_) | Content::Moved);
                        assert!(!(is_guarded && shrinks), "{}: {line}", entry.path().display());
                        seen += 1;
                    }
                }
            }
        }
        assert!(seen > 0);
        for line in ["git restore --source=HEAD .planning/STATE.md", "mv .planning/STATE.md .planning/STATE.md.broken"]
        {
            let written = written_by(line);
            let is_guarded = |name: &str| guarded(&Path::new("/p").join(name), &layout).is_some();
            let stays = |content: &Content| *content == Content::Moved;
            assert!(!written.iter().any(|(name, content)| is_guarded(name) && !stays(content)), "{line}");
        }
    }

    #[test]
    fn lines_are_counted_in_bytes() {
        let counts = [&b""[..], b"a", b"a\n", b"a\nb", b"\xff\n\n"].map(line_count);
        assert_eq!(counts, [0, 1, 1, 2, 2]);
    }
}
