//! Tests of work from a worktree to the target and its removal.
use super::*;

#[test]
fn work_moves_from_its_worktree_to_the_target_and_leaves_nothing() {
    let bench = Bench::new();
    let repository = bench.open();
    let entered = bench.enter(&repository, "M001");
    assert!(entered.is_new && bench.read("r/.gsd/worktrees/.gitignore").as_deref() == Some("*\n"));
    assert_eq!(bench.git("r", &["status", "--porcelain"]), "");
    let worktree = entered.worktree;
    bench.write("r/.gsd/worktrees/M001/b.txt", "two\n");
    let snapshot = repository.snapshot(&worktree).unwrap();
    assert_eq!(snapshot.changes.iter().map(|change| change.path.to_string()).collect::<Vec<_>>(), ["b.txt"]);
    let made = repository.commit(&worktree, &message("feat: two"), false).unwrap();
    let Committed::Made(head) = made.clone() else { panic!("{made:?}") };
    assert_eq!(repository.tree_of(&head).unwrap(), snapshot.tree);
    assert_eq!(bench.git("r/.gsd/worktrees/M001", &["status", "--porcelain"]), "");
    let base = repository.tip().unwrap();
    let candidate = ready(repository.candidate(&base, &head, &message("feat(M001): two")).unwrap());
    let gate = repository.scratch(&bench.path("r/.gsd/worktrees/gate"), &candidate.commit, "gate").unwrap();
    assert_eq!(repository.snapshot(&gate).unwrap().tree, candidate.tree);
    bench.write("r/.gsd/worktrees/gate/target/out", "x");
    repository.remove_checkout(&gate.folder).unwrap();
    repository.remove_checkout(&gate.folder).unwrap();
    assert_eq!(repository.land(&candidate).unwrap(), Landing::Landed);
    assert_eq!(repository.land(&candidate).unwrap(), Landing::AlreadyLanded);
    assert_eq!((bench.read("r/b.txt").as_deref(), bench.head("r")), (Some("two\n"), candidate.commit.clone()));
    let proof = proved(repository.proof(&head, &candidate.commit).unwrap());
    assert_eq!((proof.way(), proof.landed()), (Containment::SameMerge, &candidate.commit));
    let released = repository.release(&worktree, &proof, "M001", NOW).unwrap();
    let Release::Removed { kept, .. } = &released else { panic!("{released:?}") };
    assert_eq!(kept[0].reference, format!("refs/gsd/keep/2026-11-23/M001/head-{}", head.short()));
    assert_eq!(repository.release(&worktree, &proof, "M001", NOW).unwrap(), released);
    assert_eq!(bench.git("r", &["branch", "--format=%(refname:short)"]), "main");
    assert_eq!(bench.git("r", &["worktree", "list", "--porcelain"]).matches("worktree ").count(), 1);
    assert!(!bench.path("r/.gsd/worktrees").as_path().exists());
}

#[test]
fn the_same_commit_is_made_once_and_the_same_input_gives_the_same_commit() {
    let (one, other) = (Bench::new(), Bench::new());
    let made = [&one, &other].map(|bench| {
        let repository = bench.open();
        // The first commit has the date of the clock.
        let tree = bench.git("r", &["rev-parse", "HEAD^{tree}"]);
        let start = repository.commit_tree(
            &Tree::parse(&tree).unwrap(),
            &[],
            &message("start"),
            super::super::commit::Audience::History,
        );
        let start = start.unwrap();
        let folder = bench.path("r/.gsd/worktrees/M001");
        let worktree = repository.enter(&folder, "milestone/M001", &start, "M001").unwrap().worktree;
        bench.write("r/.gsd/worktrees/M001/b.txt", "two\n");
        let made = repository.commit(&worktree, &message("feat: two\n\nBody.\n"), false).unwrap();
        let again = repository.commit(&worktree, &message("feat: two\n\nBody.\n"), true).unwrap();
        assert_eq!(again, Committed::AlreadyMade(made.commit().clone()));
        let nothing = repository.commit(&worktree, &message("feat: three"), false).unwrap();
        assert_eq!(nothing, Committed::Nothing(made.commit().clone()));
        let empty = repository.commit(&worktree, &message("feat: three"), true).unwrap();
        assert!(matches!(empty, Committed::Made(_)), "{empty:?}");
        (made, empty)
    });
    assert_eq!(made[0], made[1]);
}

#[test]
fn a_commit_killed_before_the_index_was_updated_is_finished() {
    let bench = Bench::new();
    let repository = bench.open();
    let worktree = bench.enter(&repository, "M001").worktree;
    bench.write("r/.gsd/worktrees/M001/b.txt", "two\n");
    let snapshot = repository.snapshot(&worktree).unwrap();
    let audience = super::super::commit::Audience::History;
    let commit = repository.commit_tree(&snapshot.tree, &[&snapshot.head], &message("feat: two"), audience).unwrap();
    repository.git.swap("refs/heads/milestone/M001", Some(&snapshot.head), Some(&commit), "x").unwrap().unwrap();
    assert_ne!(bench.git("r/.gsd/worktrees/M001", &["status", "--porcelain"]), "");
    let again = repository.commit(&worktree, &message("feat: two"), false).unwrap();
    assert_eq!(again, Committed::AlreadyMade(commit));
    assert_eq!(bench.git("r/.gsd/worktrees/M001", &["status", "--porcelain"]), "");
}

#[test]
fn a_snapshot_sees_every_file_and_changes_nothing() {
    let bench = Bench::new();
    let repository = bench.open();
    let worktree = bench.enter(&repository, "M001").worktree;
    let at = |path: &str| format!("r/.gsd/worktrees/M001/{path}");
    bench.write(&at("staged.txt"), "s\n");
    bench.git(&at(""), &["add", "staged.txt"]);
    bench.write(&at("new dir/ü\n.txt"), "n\n");
    bench.write(&at("x.log"), "ignored\n");
    bench.write(&at("a.txt"), "changed\n");
    // As an agent that hides a change from git would.
    bench.git(&at(""), &["update-index", "--assume-unchanged", "a.txt"]);
    let before = bench.git(&at(""), &["ls-files", "-s", "-v"]);
    let (snapshot, calls) = calls(&repository, || repository.snapshot(&worktree).unwrap());
    assert_eq!(calls, 5);
    assert_eq!(bench.git(&at(""), &["ls-files", "-s", "-v"]), before);
    let found: Vec<(String, PathChange)> =
        snapshot.changes.iter().map(|change| (change.path.to_string(), change.status)).collect();
    let expected =
        [("a.txt", PathChange::Modified), ("new dir/ü\n.txt", PathChange::Added), ("staged.txt", PathChange::Added)];
    assert_eq!(found, expected.map(|(path, status)| (path.to_owned(), status)));
    let files = bench.git("r", &["ls-tree", "-r", "-z", "--name-only", snapshot.tree.as_str()]);
    assert_eq!(
        files.trim_end_matches('\0').split('\0').collect::<Vec<_>>(),
        [".gitignore", "a.txt", "new dir/ü\n.txt", "staged.txt"]
    );
    let between = repository.differences(snapshot.head.as_str(), snapshot.tree.as_str()).unwrap();
    assert_eq!(between, snapshot.changes);
    // Once more, with the remains of the last call.
    assert_eq!(repository.snapshot(&worktree).unwrap(), snapshot);
    bench.write("r/.git/worktrees/M001/gsd-index.lock", "");
    assert_eq!(repository.snapshot(&worktree).unwrap(), snapshot, "a killed git left its lock");
}

#[test]
fn a_worktree_is_restored_exactly_and_its_previous_state_is_kept() {
    let bench = Bench::new();
    let repository = bench.open();
    let worktree = bench.enter(&repository, "M001").worktree;
    let at = |path: &str| format!("r/.gsd/worktrees/M001/{path}");
    bench.write(&at("b.txt"), "two\n");
    bench.write(&at("gone/deep.txt"), "deep\n");
    bench.write(&at("cache.log"), "mine\n");
    let checkpoint = kept_state(&repository, &worktree, ("run-1", 1), NOW);
    assert_eq!(kept_state(&repository, &worktree, ("run-1", 1), NOW + 5000), checkpoint);
    std::fs::remove_dir_all(bench.path(&at("gone"))).unwrap();
    bench.write(&at("gone"), "a file now\n");
    bench.write(&at("a.txt"), "rewritten\n");
    bench.write(&at("new/x.txt"), "new\n");
    bench.write(&at("cache.log"), "mine still\n");
    let before = repository.snapshot(&worktree).unwrap().tree;
    let restored = repository.restore(&worktree, &checkpoint.tree, "run-1", NOW).unwrap();
    assert_eq!(restored.before.iter().map(|state| &state.tree).collect::<Vec<_>>(), [&before]);
    assert_eq!(repository.snapshot(&worktree).unwrap().tree, checkpoint.tree);
    assert_eq!(bench.read(&at("gone/deep.txt")).as_deref(), Some("deep\n"));
    assert_eq!((bench.read(&at("new/x.txt")), bench.read(&at("cache.log")).as_deref()), (None, Some("mine still\n")));
    assert_eq!(repository.restore(&worktree, &checkpoint.tree, "run-1", NOW).unwrap().before, []);
    // And back.
    repository.restore(&worktree, &before, "run-1", NOW).unwrap();
    assert_eq!(bench.read(&at("a.txt")).as_deref(), Some("rewritten\n"));
    let kept = repository.retire_checkpoints("run-1", NOW).unwrap().unwrap();
    assert_eq!(repository.retire_checkpoints("run-1", NOW).unwrap(), None);
    let trees = bench.git("r", &["log", "--format=%T", &kept.reference]);
    assert!(trees.contains(before.as_str()) && trees.contains(checkpoint.tree.as_str()), "{trees}");
}

#[test]
fn restoring_follows_the_ignore_rules_of_the_restored_tree() {
    let bench = Bench::new();
    let repository = bench.open();
    let worktree = bench.enter(&repository, "M001").worktree;
    let at = |path: &str| format!("r/.gsd/worktrees/M001/{path}");
    bench.write(&at("notes.tmp"), "first\n");
    bench.write(&at("build.log"), "ignored\n");
    let checkpoint = kept_state(&repository, &worktree, ("run-1", 1), NOW);
    // Rules that hide a file of the checkpoint, and no longer hide an ignored one.
    bench.write(&at(".gitignore"), "*.tmp\n");
    bench.write(&at("notes.tmp"), "second\n");
    let restored = repository.restore(&worktree, &checkpoint.tree, "run-1", NOW).unwrap();
    assert_eq!(bench.read(&at("notes.tmp")).as_deref(), Some("first\n"));
    assert_eq!(bench.read(&at("build.log")).as_deref(), Some("ignored\n"), "ignored by the rules that are back");
    let has = |tree: &Tree| bench.try_git("r", &["cat-file", "-e", &format!("{tree}:notes.tmp")]).0;
    assert!(restored.before.iter().any(|state| has(&state.tree)), "what the rules hid is kept");
}

#[test]
fn work_that_did_not_land_is_not_proved() {
    let bench = Bench::new();
    let repository = bench.open();
    let worktree = bench.enter(&repository, "M001").worktree;
    bench.write("r/.gsd/worktrees/M001/b.txt", "two\n");
    let head = repository.commit(&worktree, &message("feat: two"), false).unwrap().commit().clone();
    let base = repository.tip().unwrap();
    assert_eq!(repository.proof(&head, &base).unwrap(), Proof::Unproved);
    // The same tree reached in another way proves nothing.
    bench.write("r/b.txt", "two\n");
    bench.write("r/c.txt", "three\n");
    bench.commit_all("r", "two by hand");
    bench.git("r", &["rm", "--quiet", "c.txt"]);
    let other = bench.commit_all("r", "without three");
    assert_eq!(repository.tree_of(&other).unwrap(), repository.tree_of(&head).unwrap());
    assert_eq!(landed_by(&repository, &head), Proof::Unproved);
    assert_eq!(repository.proof(&head, &other).unwrap(), Proof::Unproved);
}

#[test]
fn work_is_proved_after_the_target_moved_on_and_not_after_it_was_reset() {
    let bench = Bench::new();
    let repository = bench.open();
    // Landed by the engine, or by a person who merged the branch.
    for way in [Containment::SameMerge, Containment::Ancestor] {
        let id = format!("{way:?}");
        let worktree = bench.enter(&repository, &id).worktree;
        bench.write(&format!("r/.gsd/worktrees/{id}/{id}.txt"), "two\n");
        let head = repository.commit(&worktree, &message("feat: two"), false).unwrap().commit().clone();
        bench.write("r/main.txt", &id);
        bench.commit_all("r", "meanwhile");
        let base = repository.tip().unwrap();
        let landed = if way == Containment::SameMerge {
            let candidate = ready(repository.candidate(&base, &head, &message("land")).unwrap());
            assert_eq!(repository.land(&candidate).unwrap(), Landing::Landed);
            candidate.commit
        } else {
            bench.git("r", &["merge", "--quiet", "--no-ff", "-m", "merge", head.as_str()]);
            bench.head("r")
        };
        bench.write("r/main.txt", "later");
        bench.commit_all("r", "later");
        bench.git(
            "r",
            &["revert", "--no-edit", if way == Containment::Ancestor { "-m1" } else { "-n" }, landed.as_str()],
        );
        if way == Containment::SameMerge {
            bench.git("r", &["commit", "--quiet", "-m", "revert"]);
        }
        let proof = proved(repository.proof(&head, &landed).unwrap());
        assert_eq!(proof.way(), way);
        assert_eq!(proved(landed_by(&repository, &head)).way(), way);
        bench.git("r", &["reset", "--quiet", "--hard", base.as_str()]);
        assert_eq!(repository.proof(&head, &landed).unwrap(), Proof::Unproved);
        assert_eq!(landed_by(&repository, &head), Proof::Unproved);
    }
}

#[test]
fn each_operation_calls_git_only_a_few_times() {
    let bench = Bench::new();
    let repository = bench.open();
    assert_eq!(repository.git.calls.load(Ordering::Relaxed), 6, "open");
    let (entered, enter) = calls(&repository, || bench.enter(&repository, "M001"));
    let worktree = entered.worktree;
    let (_, again) = calls(&repository, || bench.enter(&repository, "M001"));
    bench.write("r/.gsd/worktrees/M001/b.txt", "b\n");
    let (checkpoint, checkpoint_calls) = calls(&repository, || kept_state(&repository, &worktree, ("run", 1), NOW));
    let (made, commit) = calls(&repository, || repository.commit(&worktree, &message("b"), false).unwrap());
    bench.write("r/.gsd/worktrees/M001/b.txt", "c\n");
    let (_, restore) = calls(&repository, || repository.restore(&worktree, &checkpoint.tree, "run", NOW).unwrap());
    let head = made.commit().clone();
    bench.write("r/c.txt", "c\n");
    bench.commit_all("r", "meanwhile");
    let now = repository.tip().unwrap();
    let (merged, candidate) = calls(&repository, || repository.candidate(&now, &head, &message("land")).unwrap());
    let merged = ready(merged);
    let folder = bench.path("r/.gsd/worktrees/gate");
    let (gate, scratch) = calls(&repository, || repository.scratch(&folder, &merged.commit, "gate").unwrap());
    let ((), remove) = calls(&repository, || repository.remove_checkout(&gate.folder).unwrap());
    let (_, land) = calls(&repository, || repository.land(&merged).unwrap());
    let (proof, proof_calls) = calls(&repository, || proved(repository.proof(&head, &merged.commit).unwrap()));
    let (_, release) = calls(&repository, || repository.release(&worktree, &proof, "M001", NOW).unwrap());
    let told = format!(
        "enter {enter}, again {again}, checkpoint {checkpoint_calls}, commit {commit}, restore {restore}, candidate \
         {candidate}, scratch {scratch}, remove {remove}, land {land}, proof {proof_calls}, release {release}"
    );
    let expected = "enter 5, again 2, checkpoint 7, commit 7, restore 14, candidate 4, scratch 2, remove 2, land 6, proof 6, \
                    release 10";
    assert_eq!(told, expected);
}

#[test]
fn the_history_of_the_target_shows_work_on_a_milestone() {
    let bench = Bench::new();
    let has_work = |milestone: &str| {
        let repository = bench.open();
        repository.has_work_of(&repository.tip().unwrap(), milestone, ".gsd").unwrap()
    };
    bench.write("r/docs.txt", "x\n");
    bench.commit_all("r", "about GSD-Task: M001/S01/T01\n\nGSD-Task: M0011/S01/T01");
    bench.write("r/.gitignore", "*.log\n");
    bench.commit_all("r", "ignore less");
    bench.write("r/.gsd/milestones/M001/M001-ROADMAP.md", "# M001\n");
    bench.commit_all("r", "plan\n\nGSD-Unit: M001");
    assert!(!has_work("M001"), "documents of the pipeline are not the work");
    bench.write("r/b.txt", "two\n");
    bench.commit_all("r", "two\n\nGSD-Task: M001/S01/T01");
    bench.write("r/c.txt", "three\n");
    bench.commit_all("r", "three");
    assert!(has_work("M001") && !has_work("M002"));
}

#[test]
fn remains_of_a_git_killed_while_adding_or_removing_a_worktree_do_not_block() {
    let bench = Bench::new();
    let repository = bench.open();
    let (gate, commit) = (bench.path("r/.gsd/worktrees/M001-candidate"), repository.tip().unwrap());
    let own = "r/.git/worktrees/M001-candidate";
    let remove = |path: &str| {
        let path = bench.path(path);
        if path.as_path().is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) }.unwrap();
    };
    // The files that are missing after each kind of death.
    let deaths: [&[&str]; 4] = [
        &["r/.gsd/worktrees/M001-candidate"],
        &["r/.gsd/worktrees/M001-candidate", "r/.git/worktrees/M001-candidate/locked"],
        &[
            "r/.gsd/worktrees/M001-candidate/a.txt",
            "r/.git/worktrees/M001-candidate/HEAD",
            "r/.git/worktrees/M001-candidate/gsd-ready",
        ],
        &[
            "r/.gsd/worktrees/M001-candidate",
            "r/.git/worktrees/M001-candidate/HEAD",
            "r/.git/worktrees/M001-candidate/locked",
        ],
    ];
    for gone in deaths {
        repository.scratch(&gate, &commit, "gate").unwrap();
        for path in gone {
            remove(path);
        }
        let again = repository.scratch(&gate, &commit, "gate").unwrap_or_else(|error| panic!("{gone:?}: {error}"));
        assert_eq!(bench.read("r/.gsd/worktrees/M001-candidate/a.txt").as_deref(), Some("one\n"), "{gone:?}");
        repository.remove_checkout(&again.folder).unwrap();
        assert_eq!((bench.path(own).as_path().exists(), gate.as_path().exists()), (false, false), "{gone:?}");
    }
    // The remains of a git that was killed before it had named the repository, in the order in which it writes.
    let (admin, link) = (format!("{own}/"), "r/.gsd/worktrees/M001-candidate/.git");
    let made = |keeps: &[&str], last: &str| {
        repository.scratch(&gate, &commit, "gate").unwrap();
        let texts =
            ["locked", "gitdir"].map(|name| (format!("{admin}{name}"), bench.read(&format!("{admin}{name}")).unwrap()));
        let to = bench.read(link).unwrap();
        std::fs::remove_dir_all(bench.path(own)).unwrap();
        std::fs::remove_dir_all(&gate).unwrap();
        std::fs::create_dir_all(&gate).unwrap();
        for (path, text) in texts.iter().chain([&(link.to_owned(), to)]) {
            if keeps.iter().any(|name| path.ends_with(name)) {
                bench.write(path, text);
            }
        }
        bench.write(last, "");
    };
    let commondir = format!("{admin}commondir");
    let deaths: [(&[&str], String); 5] = [
        (&[], format!("{admin}locked")),
        (&["/locked"], format!("{admin}gitdir")),
        (&["/locked", "/gitdir"], link.to_owned()),
        (&["/locked", "/gitdir", "/.git"], format!("{admin}HEAD.lock")),
        (&["/locked", "/gitdir", "/.git"], commondir),
    ];
    for (keeps, last) in deaths {
        made(keeps, &last);
        repository.remove_locks(&bench.path("r/.gsd/worktrees/M001"), "milestone/M001").unwrap();
        let again = repository.scratch(&gate, &commit, "gate").unwrap_or_else(|error| panic!("{last}: {error}"));
        assert_eq!(bench.git("r", &["worktree", "list"]).lines().count(), 2, "{last}");
        repository.remove_checkout(&again.folder).unwrap();
    }
    // The next run begins with a list of worktrees, for which git fails.
    made(&["/locked", "/gitdir", "/.git"], &format!("{admin}commondir"));
    assert!(!bench.try_git("r", &["worktree", "list"]).0);
    bench.open();
    assert_eq!(bench.git("r", &["worktree", "list"]).lines().count(), 1);
    // A damaged worktree of another person is theirs to repair.
    bench.write(&format!("{admin}locked"), "mine");
    bench.write(&format!("{admin}gitdir"), "/nowhere/.git\n");
    bench.write(&format!("{admin}commondir"), "");
    assert!(bench.open_at("r", None).is_err());
    std::fs::remove_dir_all(bench.path(own)).unwrap();
    // The remains of a worktree folder unknown to git, and those of another person's worktree.
    bench.write(&format!("{own}/logs/HEAD"), "");
    bench.write("r/.git/worktrees/other/commondir", "../..\n");
    repository.remove_locks(&bench.path("r/.gsd/worktrees/M001"), "milestone/M001").unwrap();
    assert!(!bench.path(own).as_path().exists() && bench.path("r/.git/worktrees/other").as_path().exists());
}

#[test]
fn a_release_killed_at_the_end_of_the_removal_is_finished() {
    for gone in ["locked", "HEAD"] {
        let bench = Bench::new();
        let repository = bench.open();
        let worktree = bench.enter(&repository, "M001").worktree;
        let head = repository.snapshot(&worktree).unwrap().head;
        let proof = proved(repository.proof(&head, &head).unwrap());
        std::fs::remove_dir_all(&worktree.folder).unwrap();
        for name in ["locked", gone, "gsd-ready"] {
            let _ = std::fs::remove_file(bench.path(&format!("r/.git/worktrees/M001/{name}")));
        }
        let released = repository.release(&worktree, &proof, "M001", NOW).unwrap();
        assert!(matches!(released, Release::Removed { .. }), "{released:?}");
        assert_eq!(bench.git("r", &["worktree", "list"]).lines().count(), 1, "{gone}");
        assert_eq!(bench.git("r", &["branch", "--format=%(refname:short)"]), "main");
    }
}
