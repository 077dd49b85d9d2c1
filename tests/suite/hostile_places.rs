//! Where runs and waves work: really below the root of the repository, in folders named like a milestone. A clone
//! brings links and names, which must not make its files be checked out elsewhere.
#![cfg(unix)]

use std::os::unix::fs::symlink;

use crate::auto::{compile, git};
use crate::auto_phases::{ROADMAP, STATE};
use crate::kit::{Ran, TestContext};
use crate::waves;

/// Targets of links in the home of a user: each exists, and files put there are read or run later.
const PLACES: &[&str] = &[".claude/skills", ".config/fish", ".config/autostart"];

fn home(context: &TestContext) {
    for place in PLACES {
        std::fs::create_dir_all(context.home().join(place)).unwrap();
    }
    // The folder of this program's own state.
    std::fs::create_dir_all(context.home().join(".local/state")).unwrap();
    std::fs::write(context.home().join(".bashrc"), "mine\n").unwrap();
}

/// Everything in the home except this program's state.
fn seen(context: &TestContext) -> Vec<String> {
    let root = context.home();
    let kept = |entry: &walkdir::DirEntry| !entry.path().ends_with(".local/state");
    let entries = walkdir::WalkDir::new(&root).sort_by_file_name().into_iter().filter_entry(kept).map(Result::unwrap);
    let line = |entry: walkdir::DirEntry| {
        let text = if entry.file_type().is_file() { std::fs::read(entry.path()).unwrap() } else { Vec::new() };
        format!("{} {}", entry.path().strip_prefix(&root).unwrap().display(), String::from_utf8_lossy(&text))
    };
    entries.map(line).collect()
}

/// A clone in this layout, with these links. `HOME` in a link is the home of the user.
fn clone(layout: &str, links: &[(&str, &str)]) -> TestContext {
    let context = TestContext::on_disk();
    home(&context);
    context.write("SKILL.md", "---\nname: evil\n---\n");
    context.write("docs/a.md", "a\n");
    std::fs::write(context.home().join("brief.md"), "Make a shelf of files.\n").unwrap();
    if layout == ".planning" {
        context.write(".planning/ROADMAP.md", ROADMAP);
        context.write(".planning/STATE.md", STATE);
        context.gsd(["install", "--global", "--claude"]).success();
    }
    for (path, to) in links {
        let path = context.project().join(path);
        if let Ok(there) = path.symlink_metadata() {
            let aside = context.project().join("plans");
            assert!(there.is_dir());
            std::fs::rename(&path, aside).unwrap();
        }
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(to.replace("HOME", &context.home().display().to_string()), path).unwrap();
    }
    git(&context, &["init", "--quiet", "--initial-branch=main"]);
    git(&context, &["add", "--all", "--force"]);
    git(&context, &["commit", "--quiet", "--message=start"]);
    context
}

fn run(context: &TestContext, layout: &str, words: &[&str]) -> Ran {
    let agent = compile::fake_agent().to_string_lossy().into_owned();
    let brief = context.home().join("brief.md").to_string_lossy().into_owned();
    let with_brief = layout == ".gsd" && words[1] != "dispatch" && !words.contains(&"--max-units");
    let brief = ["--brief", &brief];
    let flags =
        ["--runner", "fake", "--runner-program", &agent].into_iter().chain(brief.into_iter().filter(|_| with_brief));
    let call = words[..2].iter().copied().chain(flags).chain(words[2..].iter().copied());
    let call: Vec<String> = call.map(str::to_owned).collect();
    context.gsd_with(call, &[("FAKE_SHAPE", "1x1"), ("FAKE_ACTOR", "ideal")], "")
}

#[test]
fn no_run_works_in_the_target_of_a_link_in_a_clone() {
    for (layout, milestone) in [(".gsd", "M001"), (".planning", "v1.0")] {
        let below = |path: &str| format!("{layout}/{path}").replace("NAME", milestone);
        let rows = [
            (layout.to_owned(), "HOME/.claude/skills"),
            (layout.to_owned(), "docs"),
            (below("worktrees"), "HOME/.claude/skills"),
            (below("worktrees"), "../../../../../../../../HOME/.config/autostart"),
            (below("worktrees"), "HOME/none"),
            (below("worktrees"), "../docs"),
            (below("worktrees/NAME"), "HOME/.config/fish"),
            (below("worktrees/NAME"), "HOME/none/fish"),
            (below("worktrees/NAME"), "../../docs"),
            (below("worktrees/NAME"), "../../.git"),
            (below("worktrees/NAME-candidate"), "HOME/.config/fish"),
            (below("worktrees/NAME-checks"), "HOME/.config/fish"),
            (below("worktrees/NAME-checks"), "../../docs"),
            (below("worktrees/.gitignore"), "HOME/.newrc"),
            (below("worktrees/.gitignore"), "HOME/.bashrc"),
        ];
        for (path, to) in &rows {
            let context = clone(layout, &[(path, to)]);
            let before = seen(&context);
            for words in [&["auto", "run"][..], &["auto", "next"]] {
                let ran = run(&context, layout, words);
                let what = format!("{path} -> {to}: {}", ran.stderr);
                assert!(ran.code != 0, "{what}");
                assert!(
                    ran.stderr.contains(" is a link") || ran.stderr.contains("leads out") || path == layout,
                    "{what}"
                );
                assert_eq!(seen(&context), before, "{what}");
                assert_eq!(git(&context, &["worktree", "list"]).lines().count(), 1, "{what}");
                assert_eq!(git(&context, &["branch", "--list"]), "* main", "{what}");
                assert_eq!(git(&context, &["status", "--porcelain"]), "", "{what}");
            }
        }
    }
}

#[test]
fn a_run_whose_folder_became_a_link_does_not_continue_and_removes_nothing() {
    for (layout, milestone) in [(".gsd", "M001"), (".planning", "v1.0")] {
        for path in ["worktrees", "worktrees/NAME", ""] {
            let context = clone(layout, &[]);
            let first = run(&context, layout, &["auto", "next"]);
            assert_eq!(first.code, 0, "{}", first.stderr);
            let place = format!("{layout}/{}", path.replace("NAME", milestone));
            let place = context.project().join(place.trim_end_matches('/'));
            let moved = context.home().join("moved");
            std::fs::rename(&place, &moved).unwrap();
            symlink(&moved, &place).unwrap();
            // A file that a killed call would have left there.
            std::fs::write(moved.join(".a.md.2147483632.gsd-new"), "x").unwrap();
            let before = seen(&context);
            let ran = run(&context, layout, &["auto", "run", "--max-units", "9"]);
            assert!(ran.code != 0, "{path}: {}", ran.stderr);
            assert_eq!(seen(&context), before, "{path}: {}", ran.stderr);
        }
    }
}

#[test]
fn a_name_that_is_not_a_version_or_a_milestone_becomes_no_folder() {
    for name in ["conf.d", "bin", "-x", "user", "..", "v1.0/../../x", "autostart", "v1.0;id", "$(id)", "v1.0.lock"] {
        let context = clone(".planning", &[]);
        context.write(".planning/STATE.md", &STATE.replace("milestone: v1.0", &format!("milestone: \"{name}\"")));
        context.write(".planning/ROADMAP.md", &ROADMAP.replace("v1.0", name));
        git(&context, &["commit", "--quiet", "--all", "--message=name"]);
        for words in [&["auto", "run"][..], &["auto", "dispatch", "discuss-phase", "1"]] {
            let ran = run(&context, ".planning", words);
            assert!(ran.code != 0, "{name}: {}", ran.stdout);
            let told = ran.stderr.contains("STATE.md` has `") && ran.stderr.contains(&format!("`{name}`"));
            assert!(told, "{name}: {}", ran.stderr);
            assert_eq!(git(&context, &["branch", "--list"]), "* main", "{name}");
            assert!(!context.project().join(".planning/worktrees").exists(), "{name}");
        }
        let context = clone(".gsd", &[]);
        let ran = run(&context, ".gsd", &["auto", "run", "--", name]);
        assert!(
            ran.code != 0 && ran.stderr.contains(&format!("`{name}` is not a milestone")),
            "{name}: {}",
            ran.stderr
        );
        assert!(!context.project().join(".gsd").exists(), "{name}");
    }
}

#[test]
fn no_worktree_of_a_wave_is_made_through_a_link_of_the_project() {
    let context = waves::project();
    context.write("docs/a.md", "a\n");
    let wave = || waves::on(&context, "codex", &["worktree", "create-wave", "--phase", "1", "--plans", "01-01,01-02"]);
    let folder = context.project().join(".planning/worktrees");
    symlink("../docs", &folder).unwrap();
    assert!(wave().failure(1).contains("is a link"));
    std::fs::remove_file(&folder).unwrap();
    std::fs::create_dir(&folder).unwrap();
    symlink("../../docs", folder.join("01-02")).unwrap();
    assert!(wave().failure(1).contains("is a link"));
    std::fs::remove_file(folder.join("01-02")).unwrap();
    symlink(context.home().join(".newrc"), folder.join(".gitignore")).unwrap();
    assert!(wave().failure(1).contains("leads out"));
    std::fs::remove_file(folder.join(".gitignore")).unwrap();
    context.write("wave.json", "{\"worktrees\": []}\n");
    symlink("docs", context.project().join("lnk")).unwrap();
    let make = [
        "worktree",
        "create",
        "--manifest",
        "wave.json",
        "--agent-id",
        "agent-a",
        "--branch",
        "agent-a",
        "--base",
        "HEAD",
    ];
    let entered = context.gsd_with(make.into_iter().chain(["--path", "lnk/a", "--root", "."]), &[], "");
    assert!(entered.stdout.contains("path_outside_root"), "{} {}", entered.stdout, entered.stderr);
    assert_eq!(git(&context, &["branch", "--format=%(refname:short)"]), "main");
    assert_eq!(std::fs::read_dir(context.project().join("docs")).unwrap().count(), 1);
    assert!(!context.home().join(".newrc").exists());
}

/// A repository whose own settings name programs, as an unpacked archive can bring them.
fn archive(context: &TestContext) -> std::path::PathBuf {
    let (evil, proof) = (context.home().join("evil"), context.home().join("proof"));
    std::fs::write(&evil, format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\ncat\n", proof.display())).unwrap();
    std::fs::set_permissions(&evil, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let evil = evil.display().to_string();
    for key in
        ["filter.x.clean", "filter.x.smudge", "filter.a=b.clean", "core.fsmonitor", "diff.external", "gpg.program"]
    {
        git(context, &["config", key, &evil]);
    }
    let address = format!("ext::{evil} %S");
    for (key, value) in [
        ("remote.p.url", &*address),
        ("remote.p.promisor", "true"),
        ("extensions.partialClone", "p"),
        ("filter.x.required", "true"),
        ("protocol.ext.allow", "always"),
    ] {
        git(context, &["config", key, value]);
    }
    std::fs::create_dir_all(context.project().join(".git/hooks")).unwrap();
    for hook in ["pre-commit", "post-index-change", "reference-transaction", "prepare-commit-msg", "post-checkout"] {
        symlink(&evil, context.project().join(".git/hooks").join(hook)).unwrap();
    }
    proof
}

#[test]
fn a_rehearsal_starts_no_filter_no_hook_and_no_helper_of_a_remote() {
    let context = waves::project();
    context.write(".gitattributes", "*.md filter=x\n*.txt filter=a=b\n");
    context.write("a.txt", "a\n");
    git(&context, &["add", "--all"]);
    git(&context, &["commit", "--quiet", "--message=attributes"]);
    let proof = archive(&context);
    // Files that git has to read, and one whose object is missing.
    for path in [".planning/STATE.md", "a.txt"] {
        context.write(path, "# Project State\n\nother\n");
    }
    let gone = git(&context, &["rev-parse", "HEAD:.planning/ROADMAP.md"]);
    std::fs::remove_file(context.project().join(format!(".git/objects/{}/{}", &gone[..2], &gone[2..]))).unwrap();
    let _ = std::fs::remove_file(&proof);
    context.write("wave.json", "{\"worktrees\": []}\n");
    for call in [
        &["commit", "docs: x", "--files", ".planning/STATE.md", "a.txt", "--dry-run"][..],
        &["commit", "docs: x", "--dry-run"],
        &["commit", "docs: x", "--amend", "--dry-run"],
        &["commit-to-subrepo", "docs: x", "--files", "a.txt", "--dry-run"],
        &["worktree", "create-wave", "--phase", "1", "--plans", "01-01,01-02", "--dry-run"],
        &[
            "worktree",
            "create",
            "--manifest",
            "wave.json",
            "--agent-id",
            "agent-a",
            "--branch",
            "agent-a",
            "--base",
            "HEAD",
            "--path",
            "trees/a",
            "--root",
            ".",
            "--dry-run",
        ],
        &["worktree", "cleanup-wave", "--manifest", "wave.json", "--dry-run"],
        &["worktree", "reap-orphans", "--dry-run"],
    ] {
        let ran = waves::on(&context, "codex", call);
        assert!(!proof.exists(), "{call:?}: {:?} {}", std::fs::read_to_string(&proof), ran.stderr);
    }
    // In an intact repository the same files are committed, and the filters run then.
    let _ = context.command("git").args(["add", "--all"]).output().unwrap();
    assert!(proof.exists(), "nothing would have run anyway");
}

#[test]
fn a_run_starts_no_helper_of_a_remote() {
    let context = clone(".gsd", &[]);
    let proof = archive(&context);
    let gone = git(&context, &["rev-parse", "HEAD:docs/a.md"]);
    std::fs::remove_file(context.project().join(format!(".git/objects/{}/{}", &gone[..2], &gone[2..]))).unwrap();
    let _ = std::fs::remove_file(&proof);
    let ran = run(&context, ".gsd", &["auto", "run"]);
    assert!(ran.code != 0, "{}", ran.stdout);
    let told = std::fs::read_to_string(&proof).unwrap_or_default();
    assert!(!told.contains("git-upload-pack"), "{told}");
}

#[test]
fn a_branch_that_no_run_made_is_not_continued() {
    for (layout, branch) in [
        (".gsd", "milestone/M001"),
        (".gsd", "milestone"),
        (".gsd", "milestone/M001/x"),
        (".planning", "milestone/v1.0/work"),
        (".planning", "milestone/v1.0"),
    ] {
        let context = clone(layout, &[]);
        git(&context, &["switch", "--quiet", "--create", branch]);
        context.write("theirs.txt", "theirs\n");
        git(&context, &["add", "--all"]);
        git(&context, &["commit", "--quiet", "--message=theirs"]);
        git(&context, &["switch", "--quiet", "main"]);
        let references = git(&context, &["for-each-ref"]);
        let ran = run(&context, layout, &["auto", "run"]);
        assert!(
            ran.code != 0 && ran.stderr.contains(&format!("`{branch}`")),
            "{branch}: {}\n{}",
            ran.stdout,
            ran.stderr
        );
        assert_eq!(git(&context, &["for-each-ref"]), references, "{branch}");
        assert_eq!(git(&context, &["worktree", "list"]).lines().count(), 1, "{branch}");
    }
}
