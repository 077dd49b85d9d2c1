//! Nothing that an agent can write in its worktree makes git run a program of the agent, or look into another
//! repository.

use super::*;
use crate::failure::Explain;

/// A worktree in which an agent worked, and repositories made by the agent.
struct CheatScene {
    bench: Bench,
    repository: Repository,
    worktree: Worktree,
}

const PLACE: &str = "r/.gsd/worktrees/M001";

impl CheatScene {
    fn new(bench: Bench) -> Self {
        let repository = bench.open();
        let worktree = bench.enter(&repository, "M001").worktree;
        bench.write(&format!("{PLACE}/b.txt"), "b\n");
        Self { bench, repository, worktree }
    }

    fn at(path: &str) -> String {
        format!("{PLACE}/{path}")
    }

    /// Makes a repository whose settings name programs for everything that git might do in it; each would write a
    /// proof.
    fn make_evil(&self, folder: &str) {
        let bench = &self.bench;
        bench.git("", &["init", "--quiet", "-b", "milestone/M001", folder]);
        bench.write(&format!("{folder}/f.txt"), "f\n");
        bench.commit_all(folder, "evil");
        let proof = bench.path("proof").to_string();
        bench.write("evil.sh", format!("#!/bin/sh\necho \"$0 $*\" >> '{proof}'\ncat\n"));
        let evil = bench.path("evil.sh").to_string();
        bench.git("", &["config", "--file", &format!("{folder}/.git/config"), "core.bare", "false"]);
        for (name, value) in [
            ("core.fsmonitor", evil.clone()),
            ("core.hooksPath", bench.path("hooks").to_string()),
            ("filter.evil.clean", evil.clone()),
            ("filter.evil.smudge", evil.clone()),
            ("diff.external", evil.clone()),
            ("gpg.program", evil.clone()),
            ("commit.gpgSign", "true".to_owned()),
        ] {
            bench.git("", &["config", "--file", &format!("{folder}/.git/config"), name, &value]);
        }
        for hook in ["pre-commit", "post-checkout", "post-index-change", "reference-transaction"] {
            bench.write(&format!("hooks/{hook}"), format!("#!/bin/sh\necho {hook} >> '{proof}'\n"));
        }
        bench.command("chmod", "").args(["-R", "+x", "evil.sh", "hooks"]).status().unwrap();
        bench.write(&format!("{folder}/.gitattributes"), "* filter=evil\n");
        bench.write(&format!("{folder}/f.txt"), "changed\n");
    }

    /// Shows that the programs do run if git is called in the usual way.
    fn shows_that_it_would_run(&self, folder: &str) {
        self.bench.try_git(folder, &["status"]);
        let proof = self.bench.path("proof");
        assert!(std::fs::remove_file(&proof).is_ok(), "`{folder}` is no trap");
        // Git has updated the index with what it saw.
        self.bench.write(&format!("{folder}/f.txt"), "changed again\n");
    }

    fn nothing_ran(&self) {
        assert_eq!(self.bench.read("proof"), None);
    }

    fn works(&self) {
        let commit = self.repository.commit(&self.worktree, &message("b"), false).unwrap().commit().clone();
        assert_eq!(self.bench.git("r", &["rev-parse", "milestone/M001"]), commit.to_string());
        assert_eq!(self.bench.git("r", &["show", &format!("{commit}:b.txt")]), "b");
        let base = self.repository.tip().unwrap();
        let candidate = ready(self.repository.candidate(&base, &commit, &message("land")).unwrap());
        assert_eq!(self.repository.land(&candidate).unwrap(), Landing::Landed);
        let proof = proved(self.repository.proof(&commit, &candidate.commit).unwrap());
        let released = self.repository.release(&self.worktree, &proof, "M001", NOW).unwrap();
        assert!(matches!(released, Release::Removed { .. }), "{released:?}");
        self.nothing_ran();
    }
}

#[test]
fn a_rewritten_git_file_of_a_worktree_does_not_mislead_git_and_is_repaired() {
    for way in ["file", "link", "nothing", "nonsense"] {
        let scene = CheatScene::new(Bench::new());
        scene.make_evil("evil");
        scene.shows_that_it_would_run("evil");
        let mark = scene.worktree.folder.resolve(".git");
        let before = std::fs::read_to_string(&mark).unwrap();
        std::fs::remove_file(&mark).unwrap();
        let evil = scene.bench.path("evil/.git");
        match way {
            "file" => std::fs::write(&mark, format!("gitdir: {evil}\n")).unwrap(),
            "link" => std::os::unix::fs::symlink(&evil, &mark).unwrap(),
            "nonsense" => std::fs::write(&mark, "?").unwrap(),
            _ => {}
        }
        scene.bench.write(&CheatScene::at(".gitattributes"), "* filter=evil\n");
        let snapshot = scene.repository.snapshot(&scene.worktree).unwrap();
        assert_eq!(snapshot.head, scene.bench.head("r"), "{way}");
        assert_eq!(snapshot.changes.len(), 2, "{way}: {:?}", snapshot.changes);
        assert_eq!(std::fs::read_to_string(&mark).unwrap(), before, "{way}");
        scene.nothing_ran();
        scene.works();
    }
}

#[test]
fn a_repository_instead_of_the_git_file_is_refused_with_a_hint() {
    let scene = CheatScene::new(Bench::new());
    std::fs::remove_file(scene.worktree.folder.resolve(".git")).unwrap();
    scene.make_evil(PLACE);
    scene.shows_that_it_would_run(PLACE);
    std::fs::remove_file(scene.worktree.folder.resolve(".gitattributes")).unwrap();
    let error = scene.repository.snapshot(&scene.worktree).unwrap_err();
    assert!(matches!(error, LandingError::Replaced { .. }), "{error}");
    scene.nothing_ran();
    let hint = error.hint().unwrap();
    let line = hint.split('`').find(|line| line.starts_with("rm -r")).unwrap();
    assert!(scene.bench.command("sh", "").args(["-c", line]).status().unwrap().success());
    std::fs::remove_file(scene.worktree.folder.resolve("f.txt")).unwrap();
    scene.works();
}

#[test]
fn git_does_not_look_into_a_repository_that_an_agent_made() {
    let scene = CheatScene::new(Bench::new());
    scene.make_evil(&CheatScene::at("tool"));
    scene.shows_that_it_would_run(&CheatScene::at("tool"));
    let error = scene.repository.snapshot(&scene.worktree).unwrap_err();
    assert!(matches!(error, LandingError::Embedded { .. }), "{error}");
    scene.nothing_ran();
}

#[test]
fn git_does_not_look_into_a_submodule_that_an_agent_filled() {
    let bench = Bench::new();
    bench.git("", &["init", "--quiet", "-b", "main", "lib"]);
    bench.write("lib/l.txt", "l\n");
    bench.commit_all("lib", "lib");
    bench.git("r", &["submodule", "--quiet", "add", &bench.path("lib").to_string(), "sub"]);
    bench.commit_all("r", "sub");
    let scene = CheatScene::new(bench);
    let below = scene.bench.path(&CheatScene::at("sub"));
    for way in ["folder", "file", "deep"] {
        let _ = std::fs::remove_dir_all(&below);
        std::fs::create_dir(&below).unwrap();
        let place = match way {
            "folder" => CheatScene::at("sub"),
            "deep" => {
                scene.bench.git(PLACE, &["submodule", "--quiet", "update", "--init"]);
                CheatScene::at("sub/deep")
            }
            _ => "elsewhere".to_owned(),
        };
        scene.make_evil(&place);
        scene.shows_that_it_would_run(&place);
        if way == "file" {
            let elsewhere = scene.bench.path("elsewhere/.git");
            scene.bench.write(&CheatScene::at("sub/.git"), format!("gitdir: {elsewhere}\n"));
        }
        let error = scene.repository.snapshot(&scene.worktree).unwrap_err();
        assert!(
            matches!(&error, LandingError::Embedded { path, .. } if path == &GitPath::of(b"sub")),
            "{way}: {error}"
        );
        scene.nothing_ran();
    }
}

#[test]
fn changes_of_checks_to_the_git_file_do_not_prevent_removal_of_a_scratch_worktree() {
    let bench = Bench::new();
    let repository = bench.open();
    let folder = bench.path("r/.gsd/worktrees/candidate");
    let scratch = repository.scratch(&folder, &repository.tip().unwrap(), "checks").unwrap();
    std::fs::write(folder.resolve(".git"), "gitdir: /nowhere\n").unwrap();
    repository.remove_checkout(&scratch.folder).unwrap();
    assert!(!folder.as_path().exists());
}
