//! The requirements on a repository, and the errors if they are not met.
use std::os::unix::fs::PermissionsExt;

use crate::failure::Explain;

use super::*;

/// Returns why the repository cannot be opened, and the hint.
fn refused(bench: &Bench, folder: &str, target: Option<&str>) -> (LandingError, String) {
    let error = bench.open_at(folder, target).unwrap_err();
    let hint = error.hint().unwrap_or_else(|| panic!("{error} has no hint"));
    (error, hint)
}

#[test]
fn a_folder_without_a_repository_is_refused_until_git_init() {
    let bench = Bench::empty();
    bench.write("r/a.txt", "one\n");
    let (error, hint) = refused(&bench, "r", None);
    assert!(matches!(error, LandingError::NoRepository { .. }), "{error}");
    assert!(hint.contains("git init"), "{hint}");
    bench.git("r", &["init", "--quiet", "-b", "main"]);
    let (error, hint) = refused(&bench, "r", None);
    assert!(matches!(error, LandingError::NoCommit { .. }), "{error}");
    for line in hint.split('`').filter(|line| line.starts_with("git ")) {
        assert!(bench.command("sh", "").args(["-c", line]).status().unwrap().success(), "{line}");
    }
    assert_eq!(bench.open_at("r", None).unwrap().target().branch, "main");
}

#[test]
fn a_detached_head_needs_a_named_target() {
    let bench = Bench::new();
    bench.git("r", &["checkout", "--quiet", "--detach"]);
    let (error, hint) = refused(&bench, "r", None);
    assert!(matches!(error, LandingError::Detached { .. }) && hint.contains("switch"), "{error} {hint}");
    let target = bench.open_at("r", Some("main")).unwrap().target().clone();
    assert_eq!((target.branch.as_str(), target.checked_out, target.commit), ("main", None, bench.head("r")));
    let (error, _) = refused(&bench, "r", Some("other"));
    assert!(matches!(error, LandingError::NoBranch { .. }), "{error}");
    let (error, _) = refused(&bench, "r", Some("-x"));
    assert!(matches!(error, LandingError::BadBranch { .. }), "{error}");
}

#[test]
fn a_bare_repository_and_the_repository_of_another_folder_are_refused() {
    let bench = Bench::new();
    bench.git("", &["clone", "--quiet", "--bare", "r", "b.git"]);
    let (error, _) = refused(&bench, "b.git", None);
    assert!(matches!(error, LandingError::Bare { .. }), "{error}");
    bench.write("c/.git", format!("gitdir: {}\n", bench.path("r/.git")));
    let (error, _) = refused(&bench, "c", None);
    assert!(matches!(error, LandingError::OtherRepository { .. }), "{error}");
}

#[test]
fn a_git_operation_in_progress_is_refused_by_its_name() {
    let bench = Bench::new();
    bench.git("r", &["checkout", "--quiet", "-b", "side"]);
    bench.write("r/a.txt", "side\n");
    bench.commit_all("r", "side");
    bench.git("r", &["checkout", "--quiet", "main"]);
    bench.write("r/a.txt", "main\n");
    bench.commit_all("r", "main");
    for (operation, line) in
        [("merge", ["merge", "side"]), ("cherry-pick", ["cherry-pick", "side"]), ("rebase", ["rebase", "side"])]
    {
        assert!(!bench.try_git("r", &line).0);
        let (error, hint) = refused(&bench, "r", Some("main"));
        assert!(matches!(error, LandingError::InProgress { operation: found, .. } if found == operation), "{error}");
        // The branch that is being rebased is also found from another worktree.
        let (error, _) = refused(&bench, "r", None);
        assert!(matches!(error, LandingError::InProgress { .. }), "{error}");
        let undo = hint.rsplit('`').nth(1).unwrap();
        assert!(bench.command("sh", "").args(["-c", undo]).status().unwrap().success(), "{undo}");
        bench.open();
    }
    bench.git("r", &["branch", "third"]);
    bench.git("r", &["worktree", "add", "--quiet", "../w", "third"]);
    assert!(!bench.try_git("r", &["rebase", "side"]).0);
    let error = bench.open_at("w", Some("main")).unwrap_err();
    assert!(matches!(error, LandingError::InProgress { operation: "rebase", .. }), "{error}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_repository_that_cannot_be_written_is_refused() {
    let bench = Bench::new();
    let own = bench.path("r/.git");
    let set = |mode| std::fs::set_permissions(&own, std::fs::Permissions::from_mode(mode)).unwrap();
    set(0o555);
    // Root can write everywhere.
    let is_root = std::fs::write(own.resolve("probe"), "").is_ok();
    let opened = bench.open_at("r", None);
    set(0o755);
    if is_root {
        opened.unwrap();
    } else {
        assert!(matches!(opened.unwrap_err(), LandingError::ReadOnly { .. }));
    }
}

#[test]
fn the_worktree_in_which_the_target_is_checked_out_is_found() {
    let bench = Bench::new();
    let repository = bench.open();
    assert_eq!(repository.target().checked_out, Some(bench.path("r")));
    bench.git("r", &["branch", "release"]);
    assert_eq!(bench.open_at("r", Some("release")).unwrap().target().checked_out, None);
    bench.git("r", &["worktree", "add", "--quiet", "../w", "release"]);
    assert_eq!(bench.open_at("r", Some("release")).unwrap().target().checked_out, Some(bench.path("w")));
    std::fs::remove_dir_all(bench.path("w")).unwrap();
    let (error, hint) = refused(&bench, "r", Some("release"));
    assert!(matches!(error, LandingError::Missing { .. }) && hint.contains("prune"), "{error} {hint}");
}

#[test]
fn an_old_git_is_refused() {
    let bench = Bench::new();
    let fake = bench.path("bin/git");
    bench.write("bin/git", "#!/bin/sh\necho git version 2.37.9\n");
    std::fs::set_permissions(&fake, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", bench.path("bin"), std::env::var("PATH").unwrap());
    let world = World::with([("PATH", &path), ("HOME", &bench.path("home").to_string())], bench.base.as_path());
    let error = Repository::open(&world, &bench.path("r"), None).unwrap_err();
    assert_eq!(error.to_string(), "git 2.37.9 is too old: 2.38 or later is needed");
    let world = World::with([("PATH", &bench.path("home").to_string())], bench.base.as_path());
    let error = Repository::open(&world, &bench.path("r"), None).unwrap_err();
    assert!(error.to_string().contains("not installed"), "{error}");
}
