//! Remains of a git that was killed in a landing or a removal: locks, and files that it had not removed yet.

use std::process::Stdio;

use super::*;
use crate::auto::landing::land::Landing;

const NOTE: &str = "r/.git/gsd-landing";
const LOCKS: [&str; 4] = ["HEAD.lock", "ORIG_HEAD.lock", "index.lock", "refs/heads/main.lock"];

fn prepared() -> (Bench, Repository, Candidate) {
    let bench = Bench::new();
    let repository = bench.open();
    let entered = bench.enter(&repository, "M001");
    bench.write("r/.gsd/worktrees/M001/b.txt", "work\n");
    let commit = repository.commit(&entered.worktree, &message("work"), false).unwrap();
    let base = repository.tip().unwrap();
    let candidate = ready(repository.candidate(&base, commit.commit(), &message("land")).unwrap());
    (bench, repository, candidate)
}

/// Leaves the state of a killed landing of the candidate.
fn died(bench: &Bench, candidate: &Candidate, lock: &str) {
    bench.write(NOTE, format!("{}\n", candidate.commit));
    std::thread::sleep(std::time::Duration::from_millis(20));
    bench.write(&format!("r/.git/{lock}"), "");
}

fn is_there(bench: &Bench, lock: &str) -> bool {
    bench.path(&format!("r/.git/{lock}")).as_path().exists()
}

#[test]
fn the_lock_of_a_git_killed_in_a_landing_is_removed_by_the_next_landing() {
    for lock in LOCKS {
        let (bench, repository, candidate) = prepared();
        died(&bench, &candidate, lock);
        assert_eq!(repository.land(&candidate).unwrap(), Landing::Landed, "{lock}");
        assert!(!is_there(&bench, lock) && bench.read(NOTE).is_none(), "{lock}");
        // Everything was done except the end.
        died(&bench, &candidate, lock);
        assert_eq!(repository.land(&candidate).unwrap(), Landing::AlreadyLanded, "{lock}");
        assert!(!is_there(&bench, lock), "{lock}");
        bench.git("r", &["commit", "--quiet", "--allow-empty", "-m", "mine"]);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_lock_that_may_be_in_use_or_belongs_to_others_stays() {
    let (bench, repository, candidate) = prepared();
    died(&bench, &candidate, "HEAD.lock");
    // A git of the person runs here.
    let mut git = bench.command("git", "r");
    let mut git = git.args(["cat-file", "--batch"]).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let landed = repository.land(&candidate);
    let stays = is_there(&bench, "HEAD.lock");
    git.kill().unwrap();
    git.wait().unwrap();
    assert!(stays, "{landed:?}");
    for (path, text) in [(NOTE, format!("{}\n", candidate.base)), ("r/.git/HEAD.lock", String::new())] {
        bench.write(path, text);
    }
    let landed = repository.land(&candidate);
    assert!(is_there(&bench, "HEAD.lock"), "the note is about another landing: {landed:?}");
}

#[test]
fn files_that_a_killed_git_had_not_removed_are_gone_after_the_worktree_is_discarded() {
    let bench = Bench::new();
    let repository = bench.open();
    let entered = bench.enter(&repository, "M001");
    let folder = "r/.gsd/worktrees/M001";
    std::fs::remove_file(bench.path(&format!("{folder}/.git"))).unwrap();
    std::fs::remove_file(bench.path("r/.git/worktrees/M001/HEAD")).unwrap();
    bench.write(&format!("{folder}/left/over.txt"), "x\n");
    repository.discard(&entered.worktree.folder).unwrap();
    assert!(!bench.path(folder).as_path().exists());
}
