//! What a session does in its own repository, and which parts of it reach the user's.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;

use super::*;

const FOLDER: &str = "r/.planning/worktrees/v1.0";
const BRANCH: &str = "milestone/v1.0/work";

/// A run in phases, and sessions that are shell scripts.
struct QuarantineScene {
    bench: Bench,
    repository: Repository,
    worktree: Worktree,
    start: Commit,
}

impl QuarantineScene {
    fn new() -> Self {
        let bench = Bench::new();
        bench.write("r/.gitignore", "*.log\n/.planning/worktrees/\n");
        bench.write("r/deploy.sh", "honest\n");
        bench.commit_all("r", "more");
        bench.git("r", &["branch", "precious"]);
        bench.git("r", &["tag", "v0"]);
        bench.git("r", &["config", "user.nickname", "two \"words\"\\"]);
        Self::of(bench)
    }

    fn of(bench: Bench) -> Self {
        let repository = bench.open();
        let start = repository.tip().unwrap();
        let worktree = repository.enter(&bench.path(FOLDER), BRANCH, &start, "v1.0").unwrap().worktree;
        Self { bench, repository, worktree, start }
    }

    /// Runs a script as a session in the worktree, with `Q` for the session's repository, `U` for the user's, and
    /// `OUT`.
    fn session(&self, script: &str) -> String {
        self.repository.lend(&self.worktree).unwrap();
        let place = self.repository.place_of_session(&self.worktree).unwrap();
        let mut shell = self.bench.command("bash", FOLDER);
        shell.args(["-c", script]).env("Q", place.as_path()).env("OUT", self.bench.path("out").as_path());
        let output = shell.env("U", self.bench.path("r/.git").as_path()).output().unwrap();
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    }

    /// Returns the judgement of the engine afterwards.
    fn strayed(&self) -> Option<String> {
        self.repository.reclaim(&self.worktree).unwrap();
        self.repository.snapshot(&self.worktree).unwrap();
        self.repository.strayed(&self.worktree, &self.start).unwrap()
    }

    /// Returns all files of the user's repository that a session must not change.
    fn users(&self) -> BTreeMap<String, Vec<u8>> {
        let root = self.bench.path("r/.git");
        let files = walkdir::WalkDir::new(&root).into_iter().map(Result::unwrap);
        let files = files.filter(|entry| !entry.file_type().is_dir()).map(walkdir::DirEntry::into_path);
        let name = |path: &Path| path.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
        let files = files.map(|path| (name(&path), std::fs::read(&path).unwrap()));
        files.filter(|(name, _)| !name.starts_with("worktrees/") && !name.contains("heads/milestone/")).collect()
    }

    /// Asserts that they are unchanged, and that only objects are new.
    fn are_untouched(&self, before: &BTreeMap<String, Vec<u8>>, what: &str) {
        let mut now = self.users();
        for (name, bytes) in before {
            assert_eq!(now.remove(name).as_ref(), Some(bytes), "{what}: {name}");
        }
        let others: Vec<&String> = now.keys().filter(|name| !name.starts_with("objects/")).collect();
        assert!(others.is_empty(), "{what}: {others:?}");
        self.bench.git("r", &["fsck", "--strict", "--no-dangling"]);
        assert_eq!(self.bench.git("r", &["show", "main:deploy.sh"]), "honest", "{what}");
    }

    fn branch(&self) -> String {
        self.bench.git("r", &["log", "--format=%s", &format!("main..{BRANCH}")]).replace('\n', " ")
    }
}

#[test]
fn a_session_commits_as_usual_and_only_the_branch_of_the_run_moves() {
    let scene = QuarantineScene::new();
    let before = scene.users();
    let told = scene.session(
        "git status --short; git log --oneline --all | wc -l; git config user.nickname; git diff main --stat; \
         echo two > b.txt; git add -A; git commit -qm two; git mv b.txt c.txt; git commit -qm three; git status --short; \
         git init -q ../../../../apart && cd ../../../../apart && git config user.email x@y && git config user.name x && \
         git commit -q --allow-empty -m apart && git log --format=%s && git count-objects",
    );
    assert_eq!(told, "2\ntwo \"words\"\\\napart\n2 objects, 8 kilobytes\n");
    assert_eq!(scene.branch(), "", "nothing is there before the session has ended");
    assert_eq!(scene.strayed(), None);
    assert_eq!(scene.branch(), "three two");
    scene.are_untouched(&before, "honest");
    assert_eq!(scene.bench.git(FOLDER, &["status", "--short"]), "");
    assert_eq!(scene.bench.git(FOLDER, &["rev-parse", "--abbrev-ref", "HEAD"]), BRANCH);
    assert!(!scene.bench.path("r/.git/worktrees/v1.0/gsd-git").as_path().exists());
    // Another session begins where this one ended, and one that commits nothing changes nothing.
    assert_eq!(scene.session("git log --format=%s -1; git status --short; echo 4 > d.txt; git add d.txt"), "three\n");
    assert_eq!(scene.strayed(), None);
    assert_eq!(scene.branch(), "three two");
    assert_eq!(scene.repository.snapshot(&scene.worktree).unwrap().changes.len(), 1);
}

/// What a session does, and why it does not count; an empty reason if it counts.
const ROWS: &[(&str, &str)] = &[
    // Objects: those of the user with other content; its own ones missing, with other content, or garbage.
    (
        "b=$(git rev-parse main:deploy.sh); e=$(echo evil | git hash-object -w --stdin); mkdir -p $Q/objects/${b:0:2}; \
      cp -f $Q/objects/${e:0:2}/${e:2} $Q/objects/${b:0:2}/${b:2}; git commit -q --allow-empty -m x",
        "",
    ),
    (
        "echo good > g; git add g; git commit -qm x; b=$(git rev-parse HEAD:g); e=$(echo evil | git hash-object -w --stdin); \
      cp -f $Q/objects/${e:0:2}/${e:2} $Q/objects/${b:0:2}/${b:2}",
        "is damaged",
    ),
    (
        "echo good > g; git add g; git commit -qm x; b=$(git rev-parse HEAD:g); rm -f $Q/objects/${b:0:2}/${b:2}",
        "is damaged",
    ),
    ("git commit -q --allow-empty -m x; b=$(git rev-parse HEAD); rm -f $Q/objects/${b:0:2}/${b:2}", "is damaged"),
    (
        "git commit -q --allow-empty -m x; b=$(git rev-parse HEAD); chmod +w $Q/objects/${b:0:2}/${b:2}; \
      head -c 300 /dev/urandom > $Q/objects/${b:0:2}/${b:2}",
        "is damaged",
    ),
    (
        "p=$Q/objects/pack/pack-$(printf '0%.0s' {1..40}); head -c 4000 /dev/urandom > $p.pack; head -c 4000 /dev/urandom > $p.idx; \
      git commit -q --allow-empty -m x",
        "",
    ),
    (
        "for i in 1 2 3; do echo $i > f$i; git add -A; git commit -qm $i; done; git gc -q; p=$(ls $Q/objects/pack/*.pack); \
      chmod +w $p; printf 'xxxxxxxx' | dd of=$p bs=1 seek=40 conv=notrunc 2>/dev/null",
        "is damaged",
    ),
    ("for i in 1 2 3; do echo $i > f$i; git add -A; git commit -qm $i; done; git gc -q", ""),
    // Objects of another repository.
    (
        "git init -q $OUT/o; git -C $OUT/o commit -q --allow-empty -m o; echo $OUT/o/.git/objects >> $Q/objects/info/alternates; \
      c=$(echo x | git commit-tree -p HEAD -p $(git -C $OUT/o rev-parse HEAD) HEAD^{tree}); git update-ref HEAD $c; \
      rm -rf $OUT/o/.git/objects/??",
        "is damaged",
    ),
    // Data that describes a commit without being it.
    ("git commit -q --allow-empty -m x; git commit-graph write --reachable; git commit -q --allow-empty -m y", ""),
    (
        "echo $(git rev-parse HEAD) > $Q/shallow; echo $(git rev-parse HEAD) > $Q/info/grafts; git commit -q --allow-empty -m x",
        "",
    ),
    ("git commit -q --allow-empty -m x; git replace -f main $(git commit-tree -m evil HEAD^{tree})", ""),
    // The location of the repository.
    ("git commit -q --allow-empty -m x; echo $U > $Q/commondir", ""),
    ("git commit -q --allow-empty -m x; rm -rf $Q; ln -s $U $Q", ""),
    ("rm -rf $Q", ""),
    ("git commit -q --allow-empty -m x; rm -rf $Q/refs $Q/packed-refs; ln -s $U/refs $Q/refs", "removed the branch"),
    // References of others.
    (
        "echo x > x; git add x; git commit -qm x; git branch -f main; git branch -D precious; git branch other; git tag new; \
      git tag -d v0; git update-ref refs/notes/gsd HEAD; git update-ref refs/gsd/keep/x HEAD; git stash -q",
        "",
    ),
    ("git branch milestone/v1.0/other", "made the branch `milestone/v1.0/other`"),
    ("git branch 'milestone/v1.0/x;touch${IFS}pwned;'", "made the branch `milestone/v1.0/x;touch${IFS}pwned;`"),
    ("git branch milestone/v1.0/other; git pack-refs --all", "made the branch `milestone/v1.0/other`"),
    ("git pack-refs --all; git commit -q --allow-empty -m x; git pack-refs --all", ""),
    ("git worktree add -q sub/w; echo x > sub/w/x", "left a worktree that it made, `sub/w`"),
    ("git worktree add -q $OUT/w; git worktree add -q sub; git worktree remove sub", ""),
    // Its own branch.
    ("git commit -q --allow-empty -m x; git checkout -q --detach", "left the branch"),
    ("git checkout -q -b other; git commit -q --allow-empty -m x", "left the branch"),
    ("git symbolic-ref refs/heads/milestone/v1.0/work refs/heads/main", "another name of a branch"),
    ("git update-ref -d refs/heads/milestone/v1.0/work", "removed the branch"),
    (
        "b=$(git rev-parse HEAD:deploy.sh); mkdir -p $Q/refs/heads/milestone/v1.0; echo $b > $Q/refs/heads/milestone/v1.0/work",
        "is damaged",
    ),
    ("git reset -q --hard HEAD~1", "has lost commits"),
    ("git commit -q --amend -m other", "has lost commits"),
    ("git commit -q --allow-empty -m x; echo garbage > $Q/packed-refs", "cannot be read"),
    ("rm $Q/HEAD; mkdir $Q/HEAD", "left the branch"),
    // The index.
    (
        "echo x > x; git add x; git commit -qm x; git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub; \
      git update-index --assume-unchanged deploy.sh; git update-index --force-remove a.txt",
        "",
    ),
    ("echo x > x; git add x; git commit -qm x; head -c 999 /dev/urandom > $Q/index", ""),
    ("echo x > x; git add x; git commit -qm x; rm $Q/index; ln -s $U/index $Q/index", ""),
];

/// Programs that git would run; each records that it ran.
const PLANTED: &str = "for s in core.fsmonitor core.editor core.pager diff.external gpg.program filter.x.clean filter.x.smudge \
    core.sshCommand credential.helper; do git config $s \"$OUT/evil\"; done; git config core.hooksPath $OUT/hooks; \
    git config extensions.worktreeConfig true; cp $Q/config $Q/config.worktree; mkdir -p $Q/hooks; cp $OUT/hooks/* $Q/hooks; \
    echo '* filter=x' > $Q/info/attributes; ";

fn plant(bench: &Bench) {
    let evil = bench.path("out/evil").to_string();
    bench.write("out/evil", format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\ncat\n", bench.path("out/proof")));
    std::fs::set_permissions(&evil, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    std::fs::create_dir(bench.path("out/hooks")).unwrap();
    for hook in ["post-index-change", "reference-transaction", "post-checkout", "pre-commit", "post-commit"] {
        symlink(&evil, bench.path("out/hooks").resolve(hook)).unwrap();
    }
}

#[test]
fn the_changes_of_a_session_stay_in_its_repository_and_work_that_does_not_count_is_undone() {
    for (script, why) in ROWS {
        for planted in ["", PLANTED] {
            // Without a fence these settings would be the user's; and without a repository they would not exist.
            if !planted.is_empty() && (script.contains("$U") || script.contains("rm -rf $Q")) {
                continue;
            }
            let scene = QuarantineScene::new();
            plant(&scene.bench);
            let before = scene.users();
            let script = format!("{script}; {planted}");
            let told = scene.session(&script);
            // Programs that ran during the session could do only what the session could.
            let _ = std::fs::remove_file(scene.bench.path("out/proof"));
            let strayed = scene.strayed();
            let found = strayed.as_deref().unwrap_or_default();
            assert!(found.contains(why) && found.is_empty() == why.is_empty(), "{script}: {found}\n{told}");
            let tree = scene.repository.tree_of(&scene.start).unwrap();
            if !why.is_empty() {
                let to = (&tree, Some(&scene.start));
                scene.repository.take_back(&scene.worktree, to, ("v1.0-1", 1), NOW).unwrap();
                assert_eq!(scene.branch(), "", "{script}");
                assert_eq!(scene.repository.snapshot(&scene.worktree).unwrap().tree, tree, "{script}");
            }
            let proof = || scene.bench.read("out/proof").unwrap_or_default();
            assert_eq!(proof(), "", "{script}");
            scene.bench.git(FOLDER, &["status", "--short"]);
            assert_eq!(scene.bench.git(FOLDER, &["rev-parse", "--abbrev-ref", "HEAD"]), BRANCH, "{script}");
            assert_eq!(proof(), "", "{script}");
            let is_of_engine = |name: &str| name.contains("refs/gsd/") || name.starts_with("refs/gsd/");
            let mut before = before;
            before.retain(|name, _| !is_of_engine(name));
            scene.bench.git("r", &["for-each-ref", "--format=delete %(refname)", "refs/gsd/"]).lines().for_each(
                |line| {
                    scene.bench.git("r", &["update-ref", "-d", line.trim_start_matches("delete ")]);
                },
            );
            scene.are_untouched(&before, &script);
        }
    }
}

#[test]
fn a_call_killed_while_taking_over_commits_is_finished_by_the_next_one() {
    let scene = QuarantineScene::new();
    let own = scene.bench.path("r/.git/worktrees/v1.0");
    scene.session("echo x > x; git add x; git commit -qm x; git tag t");
    let copy = |from: &str, to: &str| {
        assert!(
            scene
                .bench
                .command("cp", "r")
                .arg("-a")
                .args([own.resolve(from), own.resolve(to)].map(|path| path.as_path().to_path_buf()))
                .status()
                .unwrap()
                .success()
        );
    };
    copy("gsd-git", "kept");
    for step in ["whole", "after the branch moved", "half removed"] {
        if step != "whole" {
            std::fs::rename(own.resolve("kept"), own.resolve("gsd-git")).unwrap();
            copy("gsd-git", "kept");
            std::fs::write(scene.bench.path(FOLDER).resolve(".git"), format!("gitdir: {own}/gsd-git\n")).unwrap();
        }
        if step == "half removed" {
            std::fs::rename(own.resolve("gsd-git"), own.resolve("gsd-git-done")).unwrap();
            std::fs::remove_file(own.resolve("gsd-git-done/HEAD")).unwrap();
        }
        let gone = scene.repository.reclaim(&scene.worktree).unwrap();
        assert_eq!(gone, if step == "half removed" { vec![] } else { vec!["refs/tags/t".to_owned()] }, "{step}");
        assert_eq!(scene.repository.strayed(&scene.worktree, &scene.start).unwrap(), None, "{step}");
        assert_eq!(scene.branch(), "x", "{step}");
        scene.repository.snapshot(&scene.worktree).unwrap();
        assert_eq!(scene.bench.git(FOLDER, &["status", "--short"]), "", "{step}");
        assert_eq!(scene.bench.git("r", &["tag"]), "v0", "{step}");
        assert!(
            !own.resolve("gsd-git").as_path().exists() && !own.resolve("gsd-git-done").as_path().exists(),
            "{step}"
        );
    }
    assert_eq!(scene.repository.reclaim(&scene.worktree).unwrap(), Vec::<String>::new());
}

#[test]
fn a_submodule_checked_out_by_a_session_does_not_lead_the_engine_to_its_settings() {
    let bench = Bench::new();
    bench.git("", &["init", "--quiet", "-b", "main", "lib"]);
    bench.write("lib/l.txt", "l\n");
    bench.commit_all("lib", "lib");
    bench.write("r/.gitignore", "/.planning/worktrees/\n");
    let lib = bench.path("lib").to_string();
    bench.git("r", &["submodule", "--quiet", "add", &lib, "sub"]);
    bench.commit_all("r", "sub");
    plant(&bench);
    let scene = QuarantineScene::of(bench);
    for _ in 0..2 {
        let told = scene.session(
            "git submodule --quiet update --init; cat sub/l.txt; echo x >> x; git add x; git commit -qm x; \
             git -C sub config core.fsmonitor $OUT/evil; git -C sub config filter.x.clean $OUT/evil; rm -f $OUT/proof",
        );
        assert!(told.contains("l\n"), "{told}");
        assert_eq!(scene.strayed(), None, "{told}");
        let snapshot = scene.repository.snapshot(&scene.worktree).unwrap();
        assert!(snapshot.changes.is_empty(), "{:?}", snapshot.changes);
        assert_eq!(scene.bench.git(FOLDER, &["status", "--short"]), "");
        assert_eq!(scene.bench.read("out/proof"), None);
    }
    assert_eq!(scene.branch(), "x x");
}

#[test]
fn gits_files_for_a_worktree_are_repaired_after_a_session_without_a_fence() {
    let scene = QuarantineScene::new();
    plant(&scene.bench);
    let own = scene.bench.path("r/.git/worktrees/v1.0");
    scene.bench.git("", &["init", "--quiet", "-b", "main", "evil"]);
    scene.bench.git("evil", &["config", "core.fsmonitor", &scene.bench.path("out/evil").to_string()]);
    let evil = format!("{}\n", scene.bench.path("evil/.git"));
    scene.session(&format!("echo '{}' > $U/worktrees/v1.0/commondir", evil.trim()));
    assert_eq!(scene.strayed(), None);
    scene.bench.git(FOLDER, &["status", "--short"]);
    assert_eq!(scene.bench.read("out/proof"), None);
    std::fs::remove_file(own.resolve("commondir")).unwrap();
    symlink(scene.bench.path("out/evil"), own.resolve("commondir")).unwrap();
    scene.repository.snapshot(&scene.worktree).unwrap();
    assert_eq!(scene.bench.git(FOLDER, &["rev-parse", "--abbrev-ref", "HEAD"]), BRANCH);
}

#[test]
fn a_session_can_commit_in_a_partial_clone() {
    let bench = Bench::new();
    bench.write("r/a.txt", "another\n");
    bench.commit_all("r", "another");
    bench.git("r", &["config", "uploadpack.allowFilter", "true"]);
    let from = format!("file://{}", bench.path("r"));
    bench.git("", &["clone", "--quiet", "--filter=blob:none", &from, "p"]);
    let repository = bench.open_at("p", None).unwrap();
    let start = repository.tip().unwrap();
    let place = bench.path("p/.planning/worktrees/v1.0");
    let worktree = repository.enter(&place, BRANCH, &start, "v1.0").unwrap().worktree;
    for (script, is_taken) in [
        ("echo b > b.txt; git add b.txt; git commit -qm b", true),
        ("echo c > c; git add c; git commit -qm c; b=$(git rev-parse HEAD:c); rm -f $Q/objects/${b:0:2}/${b:2}", false),
    ] {
        repository.lend(&worktree).unwrap();
        let own = repository.place_of_session(&worktree).unwrap();
        let mut shell = bench.command("bash", "p/.planning/worktrees/v1.0");
        assert!(shell.args(["-c", script]).env("Q", own.as_path()).status().unwrap().success());
        repository.reclaim(&worktree).unwrap();
        let strayed = repository.strayed(&worktree, &start).unwrap();
        assert_eq!(strayed.is_none(), is_taken, "{strayed:?}");
        assert_eq!(bench.git("p", &["log", "--format=%s", &format!("main..{BRANCH}")]), "b");
    }
}
