//! Rebuilds the code graph in the background when a command has moved the default branch forward.

use std::path::Path;

use serde::Deserialize;

use super::checkout::{Checkout, Head};
use super::git_line::GitLine;
use super::scene::Scene;
use super::verdict::Reaction;
use crate::text::shell::runs;
use crate::world::{Program, World};

pub(super) fn look(scene: &Scene<'_>) -> Reaction {
    let project = scene.project;
    let wanted = project.flag("graphify.enabled", false) && project.flag("graphify.auto_update", false);
    if !wanted || is_watched_by_nobody(scene.world) || !scene.payload.command().is_some_and(|line| may_move(&line)) {
        return Reaction::Nothing;
    }
    let Some(checkout) = Checkout::of(&project.root) else { return Reaction::Nothing };
    let built = project.text(NOTE);
    let base = project.setting("git.base_branch").and_then(serde_json::Value::as_str).map(str::to_owned);
    let facts = GraphFacts {
        linked: checkout.is_linked,
        head: checkout.head(),
        commit: checkout.commit(),
        default_branch: base.or_else(|| checkout.default_branch()),
        last: built.and_then(|text| serde_json::from_str(&text).ok()),
        now: scene.now(),
    };
    if facts.call_for_a_build() {
        start(scene.world, &project.root);
    }
    Reaction::Nothing
}

/// The file with the status of the last build, relative to the project's folder.
const NOTE: &str = ".planning/graphs/.last-build-status.json";

/// A build that began longer ago, in milliseconds, is not running any more.
const LONGEST: i64 = 15 * 60 * 1000;

/// Git verbs that move a branch.
const MOVING: &[&str] = &["commit", "merge", "pull", "rebase", "cherry-pick", "revert", "am", "reset"];

pub(super) fn may_move(line: &str) -> bool {
    line.contains("git") && runs(line).iter().filter_map(GitLine::of).any(|call| MOVING.contains(&call.verb.as_str()))
}

/// True on a machine for builds and tests, which has no use for the graph.
fn is_watched_by_nobody(world: &World) -> bool {
    world.variable("CI").is_some_and(|value| !matches!(value.trim(), "false" | "0"))
}

/// The status of the last build.
#[derive(Clone, Debug, Default, Deserialize)]
struct Build {
    status: String,
    #[serde(rename = "head_at_build")]
    head: Option<String>,
    /// When it began, in milliseconds since 1970.
    #[serde(default)]
    started_at: i64,
}

#[derive(Clone, Debug)]
struct GraphFacts {
    linked: bool,
    head: Head,
    commit: Option<String>,
    default_branch: Option<String>,
    last: Option<Build>,
    now: i64,
}

impl GraphFacts {
    /// True if the default branch of the first checkout has a new commit whose graph is neither being built nor built.
    fn call_for_a_build(&self) -> bool {
        let Head::Branch(branch) = &self.head else { return false };
        let is_default = match &self.default_branch {
            Some(default) => default == branch,
            None => matches!(branch.as_str(), "main" | "master" | "trunk"),
        };
        let running = |last: &Build| last.status == "running" && self.now - last.started_at < LONGEST;
        let known = |last: &Build| last.head == self.commit;
        !self.linked
            && is_default
            && self.commit.is_some()
            && !self.last.as_ref().is_some_and(|last| running(last) || known(last))
    }
}

/// Builds the graph in a separate process. If it cannot be started, the graph stays as it is.
fn start(world: &World, root: &Path) {
    if let Ok(program) = world.executable() {
        let _ = world.start_beside(&Program::new(program).arguments(["graphify", "build", "update"]).folder(root));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_move_a_branch_are_known() {
        for line in ["git commit -m x", "git -C a pull", "cd a && git merge b", "git add . && git commit -am x"] {
            assert!(may_move(line), "{line}");
        }
        for line in ["git status", "git log", "echo git commit", "ls", "git checkout x", "gh pr merge"] {
            assert!(!may_move(line), "{line}");
        }
    }

    #[test]
    fn a_new_commit_of_the_default_branch_calls_for_a_build() {
        let facts = GraphFacts {
            linked: false,
            head: Head::Branch("main".into()),
            commit: Some("b".into()),
            default_branch: None,
            last: None,
            now: LONGEST,
        };
        let with = |change: &dyn Fn(&mut GraphFacts)| {
            let mut facts = facts.clone();
            change(&mut facts);
            facts.call_for_a_build()
        };
        let last = |status: &str, head: &str, started_at| {
            Some(Build { status: status.into(), head: Some(head.into()), started_at })
        };
        assert!(with(&|_| {}));
        assert!(with(&|facts| facts.last = last("ok", "a", 0)));
        assert!(with(&|facts| facts.last = last("running", "a", 0)), "that build died");
        assert!(with(&|facts| facts.head = Head::Branch("master".into())));
        assert!(!with(&|facts| facts.last = last("running", "a", 1)));
        assert!(!with(&|facts| facts.last = last("failed", "b", 0)), "it would fail again");
        assert!(!with(&|facts| facts.linked = true));
        assert!(!with(&|facts| facts.head = Head::Branch("feature".into())));
        assert!(!with(&|facts| facts.default_branch = Some("develop".into())));
        assert!(!with(&|facts| facts.commit = None));
        assert!(!with(&|facts| facts.head = Head::Commit));
    }
}
