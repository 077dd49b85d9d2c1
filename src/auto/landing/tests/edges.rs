//! Obstacles: changes of a person, calls that were killed half-way, files that git would lose.
use std::os::unix::fs::{PermissionsExt, symlink};

use crate::failure::Explain;

use super::*;

/// What a person does to a repository.
type Prepare = fn(&Bench);
/// The part of a landing that was done.
type Half = fn(&Bench, &Candidate);

/// A candidate that changes `a.txt`, adds `new/b.txt` and removes `old.txt`.
fn bench_with_candidate() -> (Bench, Repository, Candidate) {
    let bench = Bench::new();
    bench.write("r/old.txt", "old\n");
    bench.write("r/other.txt", "other\n");
    bench.commit_all("r", "more");
    let repository = bench.open();
    let worktree = bench.enter(&repository, "M001").worktree;
    bench.write("r/.gsd/worktrees/M001/a.txt", "two\n");
    bench.write("r/.gsd/worktrees/M001/new/b.txt", "b\n");
    std::fs::remove_file(bench.path("r/.gsd/worktrees/M001/old.txt")).unwrap();
    let head = repository.commit(&worktree, &message("feat: two"), false).unwrap().commit().clone();
    let base = repository.tip().unwrap();
    let candidate = ready(repository.candidate(&base, &head, &message("land")).unwrap());
    (bench, repository, candidate)
}

/// Returns the refusal, and asserts that nothing changed. Then the hint is followed, and the candidate lands.
fn refused_until_cured(prepare: impl Fn(&Bench), cure: impl Fn(&Bench, &str)) -> LandingRefusal {
    let (bench, repository, candidate) = bench_with_candidate();
    prepare(&bench);
    let state = || {
        (bench.seen("r"), bench.git("r", &["status", "--porcelain=v2", "-uall"]), bench.git("r", &["ls-files", "-s"]))
    };
    let before = state();
    let Landing::Refused(refusal) = repository.land(&candidate).unwrap() else { panic!("landed") };
    assert_eq!(state(), before);
    assert_eq!(repository.tip().unwrap(), candidate.base);
    cure(&bench, &refusal.hint().unwrap());
    assert_eq!(repository.land(&candidate).unwrap(), Landing::Landed, "{refusal}");
    refusal
}

/// Runs the command in the hint that starts like this.
fn follow(bench: &Bench, hint: &str, start: &str) {
    let line = hint.split('`').find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{hint}"));
    assert!(bench.command("sh", "").args(["-c", line]).output().unwrap().status.success(), "{line}");
}

#[test]
fn changes_of_a_person_in_the_same_files_are_refused_and_named() {
    let stash = |bench: &Bench, hint: &str| follow(bench, hint, "git -C");
    let cases: [(&str, Prepare); 6] = [
        ("a.txt", |bench| bench.write("r/a.txt", "mine\n")),
        ("a.txt", |bench| {
            bench.write("r/a.txt", "mine\n");
            bench.git("r", &["add", "a.txt"]);
        }),
        ("a.txt", |bench| {
            bench.write("r/a.txt", "staged\n");
            bench.git("r", &["add", "a.txt"]);
            bench.write("r/a.txt", "two\n");
        }),
        ("old.txt", |bench| bench.write("r/old.txt", "mine\n")),
        ("new/b.txt", |bench| {
            bench.write("r/new/b.txt", "mine\n");
            bench.git("r", &["add", "new/b.txt"]);
        }),
        ("new", |bench| {
            bench.write("r/new", "a file\n");
            bench.git("r", &["add", "new"]);
        }),
    ];
    for (path, prepare) in cases {
        match refused_until_cured(prepare, stash) {
            LandingRefusal::DirtyOverlap { paths, .. } => assert_eq!(paths, [GitPath::of(path.as_bytes())]),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_lock_of_a_killed_git_is_named_and_the_landing_waits_for_its_removal() {
    let waits = |lock: &str| {
        let (bench, repository, candidate) = bench_with_candidate();
        bench.write(&format!("r/.git/{lock}"), "");
        match repository.land(&candidate) {
            Err(LandingError::Locked { lock: named }) => assert!(named.ends_with(lock), "{named}"),
            other => panic!("{lock}: {other:?}"),
        }
        std::fs::remove_file(bench.path(&format!("r/.git/{lock}"))).unwrap();
        assert!(matches!(repository.land(&candidate).unwrap(), Landing::Landed), "{lock}");
    };
    std::thread::scope(|scope| {
        scope.spawn(|| waits("ORIG_HEAD.lock"));
        waits("index.lock");
    });
}

#[test]
fn files_that_git_does_not_track_are_not_overwritten() {
    let rename = |bench: &Bench, hint: &str| follow(bench, hint, "mv ");
    let cases: [(&str, Prepare); 5] = [
        ("new/b.txt", |bench| bench.write("r/new/b.txt", "mine\n")),
        ("new/b.txt", |bench| {
            bench.write("r/.git/info/exclude", "/new/\n");
            bench.write("r/new/b.txt", "mine\n");
        }),
        ("new", |bench| bench.write("r/new", "a file\n")),
        ("new", |bench| symlink("nowhere", bench.path("r/new")).unwrap()),
        ("new/b.txt", |bench| {
            std::fs::create_dir(bench.path("r/new")).unwrap();
            symlink("nowhere", bench.path("r/new/b.txt")).unwrap();
        }),
    ];
    for (path, prepare) in cases {
        match refused_until_cured(prepare, rename) {
            LandingRefusal::UntrackedClash { paths, .. } => assert_eq!(paths, [GitPath::of(path.as_bytes())]),
            other => panic!("{other:?}"),
        }
    }
    let (bench, repository, candidate) = bench_with_candidate();
    bench.write("r/new/b.txt/deep.log", "ignored\n");
    let Landing::Refused(LandingRefusal::UntrackedClash { paths, .. }) = repository.land(&candidate).unwrap() else {
        panic!()
    };
    assert_eq!(paths, [GitPath::of(b"new/b.txt/deep.log")]);
}

#[test]
fn a_change_that_git_was_set_to_ignore_is_not_overwritten() {
    for flag in ["--assume-unchanged", "--skip-worktree"] {
        let (bench, repository, candidate) = bench_with_candidate();
        bench.git("r", &["update-index", flag, "a.txt"]);
        bench.write("r/a.txt", "mine\n");
        let landing = repository.land(&candidate).unwrap();
        assert!(matches!(landing, Landing::Refused(LandingRefusal::GitRefused { .. })), "{landing:?}");
        assert_eq!((bench.read("r/a.txt").as_deref(), repository.tip().unwrap()), (Some("mine\n"), candidate.base));
    }
}

#[test]
fn merge_settings_of_a_person_do_not_change_a_landing() {
    let (bench, repository, candidate) = bench_with_candidate();
    bench.git("r", &["config", "branch.main.mergeOptions", "--no-ff --squash --no-commit"]);
    for setting in ["merge.autoStash", "merge.verifySignatures", "rebase.autoStash", "submodule.recurse"] {
        bench.git("r", &["config", setting, "true"]);
    }
    bench.git("r", &["config", "merge.ff", "false"]);
    bench.write("r/other.txt", "mine\n");
    assert_eq!(repository.land(&candidate).unwrap(), Landing::Landed);
    assert_eq!(bench.git("r", &["status", "--porcelain"]), " M other.txt");
    assert_eq!(bench.git("r", &["stash", "list"]), "");
}

#[test]
fn no_hook_and_no_monitor_of_the_repository_runs() {
    let bench = Bench::new();
    let pwned = bench.path("pwned");
    let hooks = [
        "pre-commit",
        "commit-msg",
        "prepare-commit-msg",
        "post-commit",
        "post-checkout",
        "post-merge",
        "pre-merge-commit",
        "reference-transaction",
        "post-index-change",
        "post-rewrite",
        "pre-auto-gc",
        "fsmonitor",
    ];
    for hook in hooks {
        let path = format!("r/.git/hooks/{hook}");
        bench.write(&path, format!("#!/bin/sh\necho {hook} >> '{pwned}'\n"));
        std::fs::set_permissions(bench.path(&path), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    bench.git("r", &["config", "core.fsmonitor", &bench.path("r/.git/hooks/fsmonitor").to_string()]);
    bench.git("r", &["config", "core.hooksPath", &bench.path("r/.git/hooks").to_string()]);
    let repository = bench.open();
    let worktree = bench.enter(&repository, "M001").worktree;
    bench.write("r/.gsd/worktrees/M001/b.txt", "b\n");
    let checkpoint = kept_state(&repository, &worktree, ("run", 1), NOW);
    bench.write("r/.gsd/worktrees/M001/b.txt", "c\n");
    repository.restore(&worktree, &checkpoint.tree, "run", NOW).unwrap();
    let head = repository.commit(&worktree, &message("b"), false).unwrap().commit().clone();
    let base = repository.tip().unwrap();
    let candidate = ready(repository.candidate(&base, &head, &message("land")).unwrap());
    let gate = repository.scratch(&bench.path("r/.gsd/worktrees/gate"), &candidate.commit, "gate").unwrap();
    repository.remove_checkout(&gate.folder).unwrap();
    assert_eq!(repository.land(&candidate).unwrap(), Landing::Landed);
    let proof = proved(repository.proof(&head, &candidate.commit).unwrap());
    repository.release(&worktree, &proof, "M001", NOW).unwrap();
    assert_eq!(bench.read("pwned"), None);
    bench.git("r", &["commit", "--quiet", "--allow-empty", "-m", "x"]);
    assert!(bench.read("pwned").is_some(), "the hooks would not have run anyway");
}

#[test]
fn a_landing_that_was_killed_is_finished_by_the_next_one() {
    let halves: [(&str, Half); 7] = [
        ("some files", |bench, _| {
            bench.write("r/a.txt", "two\n");
            bench.write("r/new/b.txt", "b\n");
        }),
        ("a file that was begun", |bench, _| {
            bench.write("r/a.txt", "two\n");
            bench.write("r/new/b.txt", "");
        }),
        ("a file that was to be changed, and begun", |bench, _| {
            bench.write("r/a.txt", "tw");
            bench.write("r/new/b.txt", "b\n");
        }),
        ("a file that was to be changed, and is gone", |bench, _| {
            std::fs::remove_file(bench.path("r/a.txt")).unwrap();
            bench.write("r/new/b.txt", "b\n");
        }),
        ("a file that is gone", |bench, _| std::fs::remove_file(bench.path("r/old.txt")).unwrap()),
        ("all files", |bench, candidate| {
            bench
                .git("r", &["restore", "--worktree", "--source", candidate.commit.as_str(), "a.txt", "old.txt", "new"]);
        }),
        ("files and index", |bench, candidate| {
            bench.git("r", &["read-tree", "-m", "-u", candidate.base.as_str(), candidate.commit.as_str()]);
        }),
    ];
    for (what, half) in halves {
        let (bench, repository, candidate) = bench_with_candidate();
        bench.write("r/other.txt", "mine\n");
        if what == "all files" {
            bench.write("r/new/b.txt", "b\n");
            bench.write("r/a.txt", "two\n");
            std::fs::remove_file(bench.path("r/old.txt")).unwrap();
        } else {
            half(&bench, &candidate);
        }
        assert_eq!(repository.land(&candidate).unwrap(), Landing::Landed, "{what}");
        assert_eq!(bench.git("r", &["status", "--porcelain"]), " M other.txt", "{what}");
    }
}

#[test]
fn an_emptied_file_counts_as_a_persons_change_if_no_landing_was_started() {
    let halves: [Half; 3] = [
        |bench, _| bench.write("r/a.txt", ""),
        |bench, _| std::fs::remove_file(bench.path("r/a.txt")).unwrap(),
        |bench, _| bench.write("r/new/b.txt", ""),
    ];
    for half in halves {
        let (bench, repository, candidate) = bench_with_candidate();
        half(&bench, &candidate);
        let before = bench.seen("r");
        assert!(matches!(repository.land(&candidate).unwrap(), Landing::Refused(_)));
        assert_eq!(bench.seen("r"), before);
    }
    let (bench, repository, candidate) = bench_with_candidate();
    bench.write("r/a.txt", "two\n");
    bench.write("r/new/b.txt", "mine\n");
    assert!(matches!(repository.land(&candidate).unwrap(), Landing::Refused(_)), "another text is nobody's beginning");
    assert_eq!(bench.read("r/new/b.txt").as_deref(), Some("mine\n"));
}

#[test]
fn the_first_file_of_a_killed_landing_is_finished_if_the_landing_was_noted() {
    let note = "r/.git/gsd-landing";
    let halves: [Half; 4] = [
        |bench, _| bench.write("r/a.txt", "tw"),
        |bench, _| bench.write("r/a.txt", ""),
        |bench, _| std::fs::remove_file(bench.path("r/a.txt")).unwrap(),
        |bench, _| bench.write("r/new/b.txt", ""),
    ];
    for (number, half) in halves.into_iter().enumerate() {
        let (bench, repository, candidate) = bench_with_candidate();
        bench.write("r/other.txt", "mine\n");
        half(&bench, &candidate);
        bench.write(note, format!("{}\n", candidate.base));
        assert!(matches!(repository.land(&candidate).unwrap(), Landing::Refused(_)), "{number}: of another candidate");
        bench.write(note, format!("{}\n", candidate.commit));
        assert_eq!(repository.land(&candidate).unwrap(), Landing::Landed, "{number}");
        assert_eq!(bench.git("r", &["status", "--porcelain"]), " M other.txt", "{number}");
        assert_eq!(bench.read(note), None, "{number}");
    }
    let (bench, repository, candidate) = bench_with_candidate();
    bench.write(note, format!("{}\n", candidate.commit));
    bench.write("r/a.txt", "mine\n");
    assert!(matches!(repository.land(&candidate).unwrap(), Landing::Refused(_)), "another text is a person's");
    assert_eq!(bench.read("r/a.txt").as_deref(), Some("mine\n"));
    bench.write("r/a.txt", "one\n");
    assert_eq!(repository.land(&candidate).unwrap(), Landing::Landed);
    bench.write(note, format!("{}\n", candidate.commit));
    assert_eq!(repository.land(&candidate).unwrap(), Landing::AlreadyLanded);
    assert_eq!(bench.read(note), None, "of a call that was killed when all was done");
}

/// Another commit reaches the target after git has changed the files and before it moves the branch.
#[test]
fn a_branch_that_moves_during_a_landing_leaves_the_persons_files() {
    let (mut bench, _, candidate) = bench_with_candidate();
    let tree = bench.git("r", &["rev-parse", "HEAD^{tree}"]);
    let other = bench.git("r", &["commit-tree", "-p", "HEAD", "-m", "other", &tree]);
    let path = bench.world.variable("PATH").unwrap();
    let real = std::env::split_paths(&path).map(|folder| folder.join("git")).find(|git| git.is_file()).unwrap();
    let git = format!("'{}'", real.display());
    let meanwhile = format!(
        "#!/bin/sh\ncase \" $* \" in *' merge --ff-only '*) {git} read-tree -m -u {} {} && {git} update-ref refs/heads/main \
         {other}; echo moved >&2; exit 1;; esac\nexec {git} \"$@\"\n",
        candidate.base, candidate.commit
    );
    bench.write("bin/git", meanwhile);
    std::fs::set_permissions(bench.path("bin/git"), std::fs::Permissions::from_mode(0o755)).unwrap();
    bench.write("r/other.txt", "mine\n");
    let (bin, home) = (format!("{}:{path}", bench.path("bin")), bench.path("home").to_string());
    bench.world = World::with([("PATH", &bin), ("HOME", &home), ("GIT_CONFIG_NOSYSTEM", "1")], bench.base.as_path());
    let before = bench.seen("r");
    let landing = bench.open().land(&candidate).unwrap();
    assert!(
        matches!(&landing, Landing::Refused(LandingRefusal::TargetMoved { now, .. }) if now.as_str() == other),
        "{landing:?}"
    );
    assert_eq!(bench.seen("r"), before);
    let status = std::process::Command::new(real).current_dir(bench.path("r")).args(["status", "--porcelain"]).output();
    assert_eq!(String::from_utf8(status.unwrap().stdout).unwrap(), " M other.txt\n");
}

#[test]
fn a_conflict_names_the_files_and_touches_nothing() {
    let bench = Bench::new();
    let repository = bench.open();
    let worktree = bench.enter(&repository, "M001").worktree;
    bench.write("r/.gsd/worktrees/M001/a.txt", "work\n");
    let head = repository.commit(&worktree, &message("work"), false).unwrap().commit().clone();
    bench.write("r/a.txt", "main\n");
    let base = bench.commit_all("r", "main");
    let merged = repository.candidate(&base, &head, &message("land")).unwrap();
    assert_eq!(merged, Merged::Conflict { paths: vec![GitPath::of(b"a.txt")] });
    let nothing = repository.candidate(&base, &repository.target().commit, &message("x")).unwrap();
    assert_eq!(nothing, Merged::Nothing);
    assert_eq!(bench.git("r", &["status", "--porcelain"]), "");
}

#[test]
fn worktrees_are_entered_again_and_changes_by_others_are_noticed() {
    let bench = Bench::new();
    let repository = bench.open();
    let start = repository.tip().unwrap();
    let folder = bench.path("r/.gsd/worktrees/M001");
    let enter = || repository.enter(&folder, "milestone/M001", &start, "M001");
    assert!(enter().unwrap().is_new);
    assert!(bench.git("r", &["worktree", "list", "--porcelain"]).contains("locked gsd-tools auto: M001"));
    assert!(
        !bench.try_git("r", &["worktree", "remove", "--force", folder.as_path().to_str().unwrap()]).0,
        "it is locked"
    );
    assert!(!enter().unwrap().is_new);
    bench.git("r", &["worktree", "unlock", &folder.to_string()]);
    assert!(!enter().unwrap().is_new);
    assert!(bench.git("r", &["worktree", "list", "--porcelain"]).contains("locked gsd-tools auto: "));
    bench.git("r/.gsd/worktrees/M001", &["checkout", "--quiet", "--detach"]);
    let error = enter().unwrap_err();
    assert!(matches!(error, LandingError::BranchLeft { .. }), "{error}");
    follow(&bench, &error.hint().unwrap(), "git -C");
    enter().unwrap();
    bench.write("r/.gsd/worktrees/M001/b.txt", "kept\n");
    std::fs::rename(&folder, bench.path("moved")).unwrap();
    let error = enter().unwrap_err();
    assert!(matches!(error, LandingError::Missing { .. }), "{error}");
    let hint = error.hint().unwrap();
    std::fs::rename(bench.path("moved"), &folder).unwrap();
    assert!(!enter().unwrap().is_new);
    std::fs::remove_dir_all(&folder).unwrap();
    for line in
        hint.split('`').filter(|line| line.starts_with("git worktree unlock") || line.starts_with("git worktree prune"))
    {
        assert!(bench.command("sh", "r").args(["-c", line]).status().unwrap().success(), "{line}");
    }
    assert!(enter().unwrap().is_new);
    let other = repository.enter(&bench.path("r/.gsd/worktrees/x"), "milestone/M001", &start, "x").unwrap_err();
    assert!(matches!(other, LandingError::BranchInUse { .. }), "{other}");
    bench.write("r/.gsd/worktrees/full/file", "x");
    let full = repository.enter(&bench.path("r/.gsd/worktrees/full"), "milestone/F", &start, "x").unwrap_err();
    assert!(matches!(full, LandingError::Occupied { .. }), "{full}");
    bench.git("r", &["worktree", "add", "--quiet", "-b", "mine", ".gsd/worktrees/mine"]);
    let mine = repository.enter(&bench.path("r/.gsd/worktrees/mine"), "milestone/N", &start, "x").unwrap_err();
    assert!(matches!(mine, LandingError::NotOurs { .. }), "{mine}");
}

#[test]
fn a_worktree_that_was_never_completed_is_made_again() {
    let bench = Bench::new();
    let repository = bench.open();
    let folder = bench.path("r/.gsd/worktrees/M001");
    let start = repository.tip().unwrap();
    let enter = || repository.enter(&folder, "milestone/M001", &start, "M001").unwrap();
    let unready = || std::fs::remove_file(bench.path("r/.git/worktrees/M001/gsd-ready")).unwrap();
    enter();
    unready();
    std::fs::remove_file(folder.resolve("a.txt")).unwrap();
    bench.write("r/.git/worktrees/M001/index.lock", "");
    assert!(enter().is_new && bench.read("r/.gsd/worktrees/M001/a.txt").is_some());
    unready();
    std::fs::remove_file(folder.resolve(".git")).unwrap();
    std::fs::remove_file(folder.resolve("a.txt")).unwrap();
    std::fs::remove_file(folder.resolve(".gitignore")).unwrap();
    assert!(enter().is_new && bench.read("r/.gsd/worktrees/M001/a.txt").is_some());
    unready();
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(enter().is_new && bench.read("r/.gsd/worktrees/M001/a.txt").is_some());
    assert_eq!(std::fs::read_dir(bench.path("r/.git/worktrees")).unwrap().count(), 1);
}

#[test]
fn nested_repositories_and_changed_submodules_are_refused_with_a_hint() {
    let bench = Bench::new();
    bench.git("", &["init", "--quiet", "-b", "main", "lib"]);
    bench.write("lib/l.txt", "l\n");
    bench.commit_all("lib", "lib");
    bench.git("r", &["submodule", "--quiet", "add", &bench.path("lib").to_string(), "sub"]);
    bench.commit_all("r", "sub");
    let repository = bench.open();
    let worktree = bench.enter(&repository, "M001").worktree;
    let at = |path: &str| format!("r/.gsd/worktrees/M001/{path}");
    bench.write(&at("b.txt"), "b\n");
    let link = bench.git("r", &["rev-parse", "HEAD:sub"]);
    let head = repository.commit(&worktree, &message("b"), false).unwrap().commit().clone();
    assert_eq!(bench.git("r", &["rev-parse", &format!("{head}:sub")]), link);
    bench.git(&at(""), &["submodule", "--quiet", "update", "--init"]);
    assert_eq!(repository.snapshot(&worktree).unwrap().changes, []);
    for is_committed in [false, true] {
        bench.write(&at("sub/l.txt"), "changed\n");
        if is_committed {
            bench.commit_all(&at("sub"), "changed");
        }
        let error = repository.snapshot(&worktree).unwrap_err();
        assert!(matches!(&error, LandingError::Submodule { path, .. } if path == &GitPath::of(b"sub")), "{error}");
        follow(&bench, &error.hint().unwrap(), "git -C");
        assert_eq!(repository.snapshot(&worktree).unwrap().changes, []);
    }
    bench.git(&at(""), &["init", "--quiet", "-b", "main", "tool"]);
    bench.write(&at("tool/t.txt"), "t\n");
    // Git does not add one without a commit.
    let error = repository.snapshot(&worktree).unwrap_err();
    assert!(matches!(&error, LandingError::Embedded { path, .. } if path == &GitPath::of(b"tool")), "{error}");
    bench.commit_all(&at("tool"), "tool");
    let error = repository.snapshot(&worktree).unwrap_err();
    assert!(matches!(error, LandingError::Embedded { .. }), "{error}");
    follow(&bench, &error.hint().unwrap(), "rm -r");
    assert_eq!(repository.snapshot(&worktree).unwrap().changes.len(), 1);
    let head = repository.commit(&worktree, &message("tool"), false).unwrap().commit().clone();
    // A landing does not touch the person's own checkout of the submodule.
    bench.write("r/sub/l.txt", "mine\n");
    let base = repository.tip().unwrap();
    let candidate = ready(repository.candidate(&base, &head, &message("land")).unwrap());
    assert_eq!(repository.land(&candidate).unwrap(), Landing::Landed);
    assert_eq!(bench.read("r/sub/l.txt").as_deref(), Some("mine\n"));
    let proof = proved(repository.proof(&head, &candidate.commit).unwrap());
    let released = repository.release(&worktree, &proof, "M001", NOW).unwrap();
    assert!(matches!(released, Release::Removed { .. }), "{released:?}");
    assert!(!worktree.folder.as_path().exists());
}

#[test]
fn uncommitted_files_are_kept_before_a_worktree_is_removed() {
    let bench = Bench::new();
    let repository = bench.open();
    let worktree = bench.enter(&repository, "M001").worktree;
    let at = |path: &str| format!("r/.gsd/worktrees/M001/{path}");
    let proof = proved(landed_by(&repository, &worktree.head(&repository).unwrap()));
    bench.write(&at("a.txt"), "uncommitted\n");
    bench.write(&at("notes/n.txt"), "untracked\n");
    bench.write(&at("deep/x.log"), "ignored\n");
    bench.write(&at("node_modules/m.log"), "remade\n");
    bench.write(&at("cache.log/CACHEDIR.TAG"), "Signature: 8a477f597d28d172789f06886806bc55\n");
    bench.write(&at("big.log"), vec![7; 65 << 20]);
    let Release::Held { kept, left_out } = repository.release(&worktree, &proof, "M001", NOW).unwrap() else {
        panic!()
    };
    assert_eq!(left_out, [LeftOut { path: GitPath::of(b"big.log"), bytes: Some(65 << 20) }]);
    assert_eq!(kept.len(), 3);
    assert_eq!(bench.read(&at("notes/n.txt")).as_deref(), Some("untracked\n"), "nothing is touched");
    std::fs::remove_file(bench.path(&at("big.log"))).unwrap();
    let Release::Removed { kept, remade } = repository.release(&worktree, &proof, "M001", NOW).unwrap() else {
        panic!()
    };
    assert!(!worktree.folder.as_path().exists() && !bench.try_git("r", &["rev-parse", "--verify", "milestone/M001"]).0);
    let shown = |kind: &str, path: &str| {
        let found = kept.iter().find(|kept| kept.reference.contains(kind)).unwrap();
        bench.git("r", &["show", &format!("{}:{path}", found.commit)])
    };
    assert_eq!(shown("/files-", "a.txt"), "uncommitted");
    assert_eq!(shown("/files-", "notes/n.txt"), "untracked");
    assert_eq!(shown("/ignored-", "deep/x.log"), "ignored");
    let remade: Vec<String> = remade.iter().map(ToString::to_string).collect();
    assert_eq!(remade, ["cache.log", "node_modules"]);
    // The engine does not remove references with names of another form, however old.
    let head = bench.head("r").to_string();
    let short = head.get(..12).unwrap();
    let others = [
        format!("refs/gsd/keep/M001/head-{short}"),
        format!("refs/gsd/keep/2001-01-01/M001/mine-{short}"),
        "refs/gsd/keep/2001-01-01/M001/head-000000000000".to_owned(),
        format!("refs/gsd/keep/2001-01-01/head-{short}"),
        format!("refs/gsd/keep/20010101/M001/head-{short}"),
        format!("refs/gsd/keep/2001-13-01/M001/head-{short}"),
        format!("refs/gsd/kept/2001-01-01/M001/head-{short}"),
    ];
    for reference in &others {
        bench.git("r", &["update-ref", reference, &head]);
    }
    let references = || bench.git("r", &["for-each-ref", "--format=%(refname)", "refs/gsd"]);
    let before = references();
    let day = 24 * 60 * 60 * 1000;
    assert_eq!(repository.forget_expired(NOW + 30 * day).unwrap(), [""; 0]);
    assert_eq!(references(), before, "30 days are not over");
    assert_eq!(repository.forget_expired(NOW + 31 * day + 1).unwrap(), ["M001"]);
    assert!(references().lines().all(|left| others.iter().any(|other| other == left)), "{}", references());
    assert_eq!(references().lines().count(), others.len());
    assert_eq!(repository.forget_expired(NOW + 31 * day + 1).unwrap(), [""; 0]);
}

#[test]
fn a_worktree_whose_head_moved_after_the_proof_is_not_removed() {
    let bench = Bench::new();
    let repository = bench.open();
    let worktree = bench.enter(&repository, "M001").worktree;
    let proof = proved(landed_by(&repository, &worktree.head(&repository).unwrap()));
    bench.write("r/.gsd/worktrees/M001/b.txt", "b\n");
    repository.commit(&worktree, &message("b"), false).unwrap();
    let error = repository.release(&worktree, &proof, "M001", NOW).unwrap_err();
    assert!(matches!(error, LandingError::Moved { .. }), "{error}");
    assert!(worktree.folder.as_path().exists());
}

#[test]
fn a_release_that_was_killed_is_finished() {
    let bench = Bench::new();
    let repository = bench.open();
    let worktree = bench.enter(&repository, "M001").worktree;
    let proof = proved(landed_by(&repository, &worktree.head(&repository).unwrap()));
    bench.write("r/.git/worktrees/M001/gsd-leaving", "");
    std::fs::remove_file(worktree.folder.resolve(".git")).unwrap();
    let released = repository.release(&worktree, &proof, "M001", NOW).unwrap();
    assert!(matches!(released, Release::Removed { .. }), "{released:?}");
    assert_eq!(bench.git("r", &["worktree", "list", "--porcelain"]).matches("worktree ").count(), 1);
    assert_eq!(bench.git("r", &["branch", "--format=%(refname:short)"]), "main");
    assert!(!worktree.folder.as_path().exists());
}

#[test]
fn commits_are_signed_where_the_user_signs_and_a_failure_is_named() {
    let bench = Bench::new();
    let program = bench.path("home/gpg");
    bench.write("home/gpg", "#!/bin/sh\ncat >/dev/null\necho '[GNUPG:] SIG_CREATED ' >&2\necho '-----BEGIN PGP SIGNATURE-----'\necho\necho x\necho '-----END PGP SIGNATURE-----'\n");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    bench.git("r", &["config", "--global", "commit.gpgsign", "true"]);
    bench.git("r", &["config", "--global", "gpg.program", &program.to_string()]);
    let repository = bench.open();
    let worktree = bench.enter(&repository, "M001").worktree;
    bench.write("r/.gsd/worktrees/M001/b.txt", "b\n");
    let head = repository.commit(&worktree, &message("b"), false).unwrap().commit().clone();
    assert!(bench.git("r", &["cat-file", "commit", head.as_str()]).contains("gpgsig"));
    assert_eq!(repository.commit(&worktree, &message("b"), false).unwrap(), Committed::AlreadyMade(head));
    bench.write("home/gpg", "#!/bin/sh\necho no key >&2\nexit 1\n");
    bench.write("r/.gsd/worktrees/M001/b.txt", "c\n");
    let error = repository.commit(&worktree, &message("c"), false).unwrap_err();
    assert!(matches!(error, LandingError::Unsigned { .. }), "{error}");
}

#[test]
fn a_user_without_a_name_is_asked_for_one() {
    let bench = Bench::new();
    bench.write("home/.gitconfig", "[user]\n\tuseConfigOnly = true\n");
    let repository = bench.open();
    let worktree = bench.enter(&repository, "M001").worktree;
    bench.write("r/.gsd/worktrees/M001/b.txt", "b\n");
    let error = repository.commit(&worktree, &message("b"), false).unwrap_err();
    assert!(matches!(error, LandingError::NoIdentity { .. }), "{error}");
    assert!(error.hint().unwrap().contains("user.name"));
}

#[test]
fn files_that_a_filter_changes_are_stored_and_restored_through_it() {
    let bench = Bench::new();
    bench.git("r", &["config", "filter.upper.clean", "tr a-z A-Z"]);
    bench.git("r", &["config", "filter.upper.smudge", "tr A-Z a-z"]);
    bench.write("r/.gitattributes", "*.up filter=upper\n");
    bench.write("r/x.up", "text\n");
    bench.commit_all("r", "filter");
    let repository = bench.open();
    let worktree = bench.enter(&repository, "M001").worktree;
    assert_eq!(bench.read("r/.gsd/worktrees/M001/x.up").as_deref(), Some("text\n"));
    assert_eq!(repository.snapshot(&worktree).unwrap().changes, []);
    bench.write("r/.gsd/worktrees/M001/x.up", "other\n");
    let head = repository.commit(&worktree, &message("x"), false).unwrap().commit().clone();
    let base = repository.tip().unwrap();
    let candidate = ready(repository.candidate(&base, &head, &message("land")).unwrap());
    assert_eq!(repository.land(&candidate).unwrap(), Landing::Landed);
    assert_eq!(bench.read("r/x.up").as_deref(), Some("other\n"));
    assert_eq!(bench.git("r", &["status", "--porcelain"]), "");
}
