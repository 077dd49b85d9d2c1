//! Decides which plans of a wave are executed in parallel, each in its own worktree, and which sequentially.

use schemars::JsonSchema;
use serde::Serialize;

use super::index::IndexedPlan;

/// The most executors that run in parallel.
pub(crate) const SIDE_BY_SIDE: usize = 3;

/// The facts for or against worktrees that do not depend on the plans.
#[derive(Clone, Debug, Default)]
pub(crate) struct WaveFacts {
    /// The setting `workflow.use_worktrees`.
    pub(crate) use_worktrees: bool,
    /// True if a session of `auto run` executes the plans, which may not create worktrees.
    pub(crate) is_unit: bool,
    /// The setting `parallelization`.
    pub(crate) parallelization: bool,
    /// True if the host gives agents worktrees that can be identified, or lets us create them.
    pub(crate) host_can: bool,
    /// The number of agents that the host runs at the same time.
    pub(crate) capacity: usize,
    /// True if a branch with a commit is checked out.
    pub(crate) on_branch: bool,
    pub(crate) sub_repositories: bool,
    /// The folders of submodules, which are empty in a worktree.
    pub(crate) submodules: Vec<String>,
    /// True if this program is in the project's own tree, where git does not copy it to a worktree.
    pub(crate) program_is_local: bool,
    /// True if the documents of the phase are committed, so that a worktree has them.
    pub(crate) commits_documents: bool,
    /// Changes that a worktree would not have: in tracked files other than the tracking documents, and in the plans.
    pub(crate) uncommitted: Vec<String>,
    /// The output of git if it could not list such changes.
    pub(crate) unlisted: Option<String>,
    /// Why the host's worktrees would not start from the current commit, if that cannot be fixed.
    pub(crate) wrong_base: Option<String>,
}

impl WaveFacts {
    /// Why no plan gets a worktree.
    fn obstacle(&self) -> Option<String> {
        let fixed = [
            (self.is_unit, "a session of `auto run` works in one worktree"),
            (!self.use_worktrees, "`workflow.use_worktrees` is off"),
            (!self.parallelization, "`parallelization` is off"),
            (!self.host_can, "this host gives agents no worktree that can be found later"),
            (self.capacity < 2, "this host runs one agent at a time"),
            (!self.on_branch, "no branch with a commit is checked out"),
            (self.sub_repositories, "the project spans several repositories"),
            (self.program_is_local, "gsd-tools is installed only in this project, and a worktree would not contain it"),
            (!self.commits_documents, "planning documents are not committed here"),
        ];
        if let Some((_, why)) = fixed.iter().find(|(holds, _)| *holds) {
            return Some((*why).to_owned());
        }
        if let Some(error) = &self.unlisted {
            return Some(format!("git cannot list uncommitted changes: {error}"));
        }
        if !self.uncommitted.is_empty() {
            return Some(format!("uncommitted changes: {}", shortened(&self.uncommitted)));
        }
        self.wrong_base.clone()
    }
}

fn shortened(names: &[String]) -> String {
    const MOST: usize = 3;
    let shown = names[..names.len().min(MOST)].join(", ");
    if names.len() > MOST { format!("{shown} and {} more", names.len() - MOST) } else { shown }
}

/// How to execute the plans of a wave.
#[derive(Debug, Default)]
pub(crate) struct WaveDecision<'a> {
    pub(crate) side_by_side: Vec<&'a IndexedPlan>,
    pub(crate) in_turn: Vec<InTurn>,
}

/// A plan that is executed in the main tree, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct InTurn {
    pub(crate) plan: String,
    pub(crate) why: String,
}

/// Decides for `plans`, which are in the order of the index.
pub(crate) fn decide<'a>(plans: &[&'a IndexedPlan], facts: &WaveFacts) -> WaveDecision<'a> {
    // A plan depends only on plans of earlier waves.
    let mut plans = plans.to_vec();
    plans.sort_by_key(|plan| plan.wave);
    let in_turn = |plan: &IndexedPlan, why: &str| InTurn { plan: plan.id.clone(), why: why.to_owned() };
    let all_in_turn = |why: &str| WaveDecision {
        side_by_side: Vec::new(),
        in_turn: plans.iter().map(|plan| in_turn(plan, why)).collect(),
    };
    if plans.len() < 2 {
        return all_in_turn("the only plan of the wave");
    }
    if let Some(why) = facts.obstacle() {
        return all_in_turn(&why);
    }
    let mut decision = WaveDecision::default();
    let first = plans.iter().map(|plan| plan.wave).min();
    for plan in &plans {
        if first.is_some_and(|first| first < plan.wave) {
            decision.in_turn.push(in_turn(plan, &format!("it is of wave {}, after the others", plan.wave)));
            continue;
        }
        if !plan.autonomous {
            decision.in_turn.push(in_turn(plan, "it has a checkpoint"));
            continue;
        }
        if touched(plan).next().is_none() {
            decision.in_turn.push(in_turn(plan, "it does not list the files it changes"));
            continue;
        }
        let submodule = facts.submodules.iter().find(|folder| touched(plan).any(|file| may_meet(file, folder)));
        if let Some(folder) = submodule {
            let why = format!("it changes the submodule {folder}, which is empty in a worktree");
            decision.in_turn.push(in_turn(plan, &why));
            continue;
        }
        let shares = |other: &&&IndexedPlan| touched(other).any(|file| touched(plan).any(|own| may_meet(own, file)));
        match decision.side_by_side.iter().find(shares) {
            Some(other) => decision.in_turn.push(in_turn(plan, &format!("it changes a file of {}", other.id))),
            None => decision.side_by_side.push(plan),
        }
    }
    let most = facts.capacity.min(SIDE_BY_SIDE);
    for plan in decision.side_by_side.split_off(decision.side_by_side.len().min(most)) {
        decision.in_turn.push(in_turn(plan, &format!("at most {most} plans run at the same time")));
    }
    if decision.side_by_side.len() < 2 {
        let alone = decision.side_by_side.drain(..).map(|plan| in_turn(plan, "no other plan can run at the same time"));
        let alone: Vec<InTurn> = alone.collect();
        decision.in_turn.extend(alone);
    }
    decision.in_turn.sort_by_key(|turn| plans.iter().position(|plan| plan.id == turn.plan));
    decision
}

fn touched(plan: &IndexedPlan) -> impl Iterator<Item = &str> {
    plan.files_modified.iter().chain(&plan.files_deleted).map(|file| file.trim()).filter(|file| !file.is_empty())
}

/// The parts of a path between its slashes. A path from outside the project begins with a pattern, since its location
/// is unknown.
fn parts(path: &str) -> impl Iterator<Item = &str> {
    let start = path.starts_with(['/', '\\', '~']).then_some("*").into_iter();
    start.chain(path.split(['/', '\\']).filter(|part| !part.is_empty() && *part != "."))
}

/// True if two paths in plans may be the same file, or one may be a folder that contains the other. Patterns and
/// unusual paths are not resolved: they may mean anything below their plain beginning.
fn may_meet(one: &str, other: &str) -> bool {
    let is_plain = |part: &&str| !part.contains(['*', '?', '[', '{', ':']) && *part != "..";
    // Some file systems ignore case.
    let mut pairs = parts(one).take_while(is_plain).zip(parts(other).take_while(is_plain));
    pairs.all(|(one, other)| one.eq_ignore_ascii_case(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(id: &str, files: &str) -> IndexedPlan {
        IndexedPlan {
            id: id.to_owned(),
            autonomous: true,
            files_modified: files.split_whitespace().map(str::to_owned).collect(),
            ..IndexedPlan::default()
        }
    }

    fn facts() -> WaveFacts {
        WaveFacts {
            use_worktrees: true,
            parallelization: true,
            host_can: true,
            capacity: 20,
            on_branch: true,
            commits_documents: true,
            ..WaveFacts::default()
        }
    }

    fn decided(plans: &[IndexedPlan], facts: &WaveFacts) -> (Vec<String>, Vec<String>) {
        let plans: Vec<&IndexedPlan> = plans.iter().collect();
        let decision = decide(&plans, facts);
        let ids = decision.side_by_side.iter().map(|plan| plan.id.clone()).collect();
        (ids, decision.in_turn.iter().map(|plan| format!("{}: {}", plan.plan, plan.why)).collect())
    }

    #[test]
    fn plans_that_share_no_file_run_in_parallel() {
        let (beside, in_turn) = decided(&[plan("01-01", "a b"), plan("01-02", "c")], &facts());
        assert_eq!((beside.len(), in_turn.len()), (2, 0));
    }

    #[test]
    fn a_plan_that_shares_a_file_or_waits_for_a_person_runs_in_turn() {
        let checkpoint = IndexedPlan { autonomous: false, ..plan("01-03", "x") };
        let plans = [plan("01-01", "a b"), plan("01-02", "./b"), checkpoint, plan("01-04", "d"), plan("01-05", "")];
        let (beside, in_turn) = decided(&plans, &facts());
        assert_eq!(beside, ["01-01", "01-04"]);
        assert_eq!(
            in_turn,
            [
                "01-02: it changes a file of 01-01",
                "01-03: it has a checkpoint",
                "01-05: it does not list the files it changes"
            ]
        );
    }

    #[test]
    fn a_folder_overlaps_its_contents_and_a_pattern_its_possible_matches() {
        for (one, other) in [
            ("src/", "src/a.txt"),
            ("src", "./src/deep/a.txt"),
            ("src/*.rs", "src/a.py"),
            ("**/*.md", "docs/a.txt"),
            ("src/{a,b}.rs", "src/c/d"),
            ("Src/A.txt", "src/a.txt"),
            ("src\\a.txt", "src/a.txt"),
            ("src/./a.txt", "src//a.txt"),
            ("../x", "a.txt"),
            ("/project/a.txt", "a.txt"),
        ] {
            assert!(may_meet(one, other) && may_meet(other, one), "{one} {other}");
        }
        for (one, other) in [("src/a", "src/ab"), ("src/a/*", "src/b/c"), ("a.txt", "b/a.txt")] {
            assert!(!may_meet(one, other) && !may_meet(other, one), "{one} {other}");
        }
    }

    #[test]
    fn a_plan_that_changes_a_submodule_runs_in_turn() {
        let plans = [plan("01-01", "a"), plan("01-02", "vendor/lib/x.c"), plan("01-03", "vendor/other.c")];
        let facts = WaveFacts { submodules: vec!["vendor/lib".to_owned()], ..facts() };
        let (beside, in_turn) = decided(&plans, &facts);
        assert_eq!(beside, ["01-01", "01-03"]);
        assert_eq!(in_turn, ["01-02: it changes the submodule vendor/lib, which is empty in a worktree"]);
    }

    #[test]
    fn a_plan_of_a_later_wave_runs_in_turn_after_all_of_the_first() {
        let of_wave = |wave: i64, id: &str| IndexedPlan { wave, ..plan(id, id) };
        let plans = [of_wave(2, "01-01"), of_wave(1, "01-02"), of_wave(1, "01-03"), of_wave(1, "01-04")];
        let (beside, in_turn) = decided(&plans, &WaveFacts { capacity: 2, ..facts() });
        assert_eq!(beside, ["01-02", "01-03"]);
        assert_eq!(
            in_turn,
            ["01-04: at most 2 plans run at the same time", "01-01: it is of wave 2, after the others"]
        );
    }

    #[test]
    fn each_obstacle_makes_all_plans_run_in_turn_and_gives_a_reason() {
        let plans = [plan("01-01", "a"), plan("01-02", "b")];
        let with = |change: fn(&mut WaveFacts)| {
            let mut facts = facts();
            change(&mut facts);
            let (beside, in_turn) = decided(&plans, &facts);
            assert!(beside.is_empty() && in_turn.len() == 2, "{beside:?} {in_turn:?}");
            in_turn[0].clone()
        };
        assert!(with(|facts| facts.use_worktrees = false).contains("workflow.use_worktrees"));
        assert!(with(|facts| facts.parallelization = false).contains("parallelization"));
        assert!(with(|facts| facts.host_can = false).contains("host"));
        assert!(with(|facts| facts.capacity = 1).contains("one agent"));
        assert!(with(|facts| facts.on_branch = false).contains("branch"));
        assert!(with(|facts| facts.sub_repositories = true).contains("repositories"));
        assert!(with(|facts| facts.program_is_local = true).contains("installed only in this project"));
        assert!(with(|facts| facts.commits_documents = false).contains("not committed"));
        assert!(with(|facts| facts.uncommitted = vec!["src/a".to_owned()]).contains("src/a"));
        assert!(with(|facts| facts.unlisted = Some("bad index".to_owned())).contains("bad index"));
        assert!(with(|facts| facts.wrong_base = Some("elsewhere".to_owned())).contains("elsewhere"));
    }

    #[test]
    fn no_more_run_in_parallel_than_the_host_or_we_allow() {
        let plans: Vec<IndexedPlan> = (1..=5).map(|n| plan(&format!("01-0{n}"), &format!("f{n}"))).collect();
        assert_eq!(decided(&plans, &facts()).0.len(), SIDE_BY_SIDE);
        assert_eq!(decided(&plans, &WaveFacts { capacity: 2, ..facts() }).0.len(), 2);
    }

    #[test]
    fn a_single_remaining_plan_runs_in_turn_first() {
        let (beside, in_turn) = decided(&[plan("01-01", "a"), plan("01-02", "a")], &facts());
        assert!(beside.is_empty());
        assert!(in_turn[0].starts_with("01-01: no other plan"), "{in_turn:?}");
    }
}
