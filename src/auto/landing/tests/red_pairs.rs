//! Work that is correct alone and wrong together with other work that landed first does not land.
use super::*;

/// True if the check passes in this worktree.
fn passes(bench: &Bench, folder: &str) -> bool {
    bench.command("sh", folder).arg("check.sh").output().unwrap().status.success()
}

/// The outcome of work at the gate.
#[derive(Debug, PartialEq, Eq)]
enum PairOutcome {
    Landed(Commit),
    Red(Commit),
}

/// Lands work as a run does: makes a candidate on the current target, checks it, lands exactly that commit, and repeats
/// all of it if the target moved.
fn run(
    bench: &Bench,
    repository: &Repository,
    id: &str,
    head: &Commit,
    after_gate: impl Fn(),
) -> (PairOutcome, Vec<LandingRefusal>) {
    let mut refusals = Vec::new();
    loop {
        let base = repository.tip().unwrap();
        let candidate = ready(repository.candidate(&base, head, &message(id)).unwrap());
        let place = format!("r/.gsd/worktrees/gate-{id}");
        let gate = repository.scratch(&bench.path(&place), &candidate.commit, id).unwrap();
        let is_green = passes(bench, &place);
        let tested = repository.snapshot(&gate).unwrap().tree;
        repository.remove_checkout(&gate.folder).unwrap();
        if !is_green {
            return (PairOutcome::Red(base), refusals);
        }
        assert_eq!(tested, candidate.tree);
        after_gate();
        match repository.land(&candidate).unwrap() {
            Landing::Landed => return (PairOutcome::Landed(candidate.commit), refusals),
            Landing::Refused(refusal @ LandingRefusal::TargetMoved { .. }) => refusals.push(refusal),
            other => panic!("{other:?}"),
        }
    }
}

/// Returns two changes that pass the check separately and not together, of three kinds; they change different lines.
fn pair(number: u32) -> [(String, String); 2] {
    let name = format!("part{number}");
    match number % 3 {
        // One renames what the other starts to use.
        0 => [(format!("defs/{name}"), "renamed\n".to_owned()), (format!("uses/{name}"), format!("{name}\n"))],
        // Both take the same number.
        1 => [(format!("ports/{name}-a"), "80\n".to_owned()), (format!("ports/{name}-b"), "80\n".to_owned())],
        // Each fits the limit, the sum does not.
        _ => [(format!("sizes/{name}-a"), "6\n".to_owned()), (format!("sizes/{name}-b"), "6\n".to_owned())],
    }
}

const CHECK: &str = "set -e
for use in uses/*; do test -e \"$use\" || continue; test \"$(cat \"defs/$(cat \"$use\")\")\" = defined; done
test -z \"$(cat ports/* 2>/dev/null | sort | uniq -d)\"
total=0; for size in sizes/*; do test -e \"$size\" || continue; total=$((total + $(cat \"$size\"))); done
test $total -le 10
";

fn project(number: u32) -> Bench {
    let bench = Bench::new();
    bench.write("r/check.sh", CHECK);
    bench.write(&format!("r/defs/part{number}"), "defined\n");
    bench.commit_all("r", "check");
    bench
}

/// Makes the work of both, each green alone.
fn works(bench: &Bench, repository: &Repository, number: u32) -> [Commit; 2] {
    let [one, other] = pair(number);
    [("A", one), ("B", other)].map(|(id, (path, text))| {
        let worktree = bench.enter(repository, id).worktree;
        let place = format!("r/.gsd/worktrees/{id}");
        bench.write(&format!("{place}/{path}"), text);
        assert!(passes(bench, &place), "{number}: {id} is red by itself");
        repository.commit(&worktree, &message(id), false).unwrap().commit().clone()
    })
}

#[test]
fn pairs_that_are_green_alone_and_red_together_do_not_land() {
    let pairs = if std::env::var_os("GSD_LANDING_RUNS").is_some() { 100 } else { 12 };
    for number in 0..pairs {
        let bench = project(number);
        let repository = bench.open();
        let [one, other] = works(&bench, &repository, number);
        // In every second pair both pass the gate before either lands.
        let second = || (number % 2 == 1).then(|| run(&bench, &repository, "B", &other, || ()));
        let early = std::cell::RefCell::new(None);
        let (first, refusals) = run(&bench, &repository, "A", &one, || {
            if early.borrow().is_none() {
                early.replace(second());
            }
        });
        let verdicts = match early.into_inner() {
            None => [first, run(&bench, &repository, "B", &other, || ()).0],
            Some((early, _)) => {
                // The loser learns what moved, and tries again on it.
                let [LandingRefusal::TargetMoved { branch, now }] = refusals.as_slice() else { panic!("{refusals:?}") };
                assert_eq!((branch.as_str(), PairOutcome::Landed(now.clone())), ("main", early));
                [PairOutcome::Landed(now.clone()), first]
            }
        };
        let [PairOutcome::Landed(landed), PairOutcome::Red(on)] = &verdicts else { panic!("{number}: {verdicts:?}") };
        assert_eq!((landed, on), (&bench.head("r"), &bench.head("r")), "{number}: red on what landed");
        assert!(passes(&bench, "r"), "{number}: the target is red");
        assert!(landed_by(&repository, &one) == Proof::Unproved || landed_by(&repository, &other) == Proof::Unproved);
    }
}

/// In a train, candidates after a removed one are made again on the rest.
#[test]
fn a_chain_of_candidates_loses_only_the_culprit() {
    let bench = project(1);
    let repository = bench.open();
    let [one, other] = works(&bench, &repository, 1);
    let third = bench.enter(&repository, "C").worktree;
    bench.write("r/.gsd/worktrees/C/c.txt", "c\n");
    let third = repository.commit(&third, &message("C"), false).unwrap().commit().clone();
    let mut base = repository.tip().unwrap();
    let mut chain = Vec::new();
    for (id, head) in [("A", &one), ("B", &other), ("C", &third)] {
        let candidate = ready(repository.candidate(&base, head, &message(id)).unwrap());
        let gate = repository.scratch(&bench.path("r/.gsd/worktrees/gate"), &candidate.commit, id).unwrap();
        if passes(&bench, "r/.gsd/worktrees/gate") {
            base = candidate.commit.clone();
            chain.push(candidate);
        }
        repository.remove_checkout(&gate.folder).unwrap();
    }
    assert_eq!(chain.iter().map(|candidate| &candidate.head).collect::<Vec<_>>(), [&one, &third]);
    for candidate in &chain {
        assert_eq!(repository.land(candidate).unwrap(), Landing::Landed);
    }
    assert_eq!(bench.head("r"), base);
    for (head, candidate) in [(&one, &chain[0]), (&third, &chain[1])] {
        proved(repository.proof(head, &candidate.commit).unwrap());
    }
}

/// Real races are between processes; threads with one repository value each are equivalent here, since each call of git
/// is a process.
#[test]
fn concurrent_landings_each_land_on_the_previous_one() {
    for is_checked_out in [true, false] {
        let bench = Bench::new();
        if !is_checked_out {
            bench.git("r", &["checkout", "--quiet", "-b", "elsewhere"]);
        }
        let open = || bench.open_at("r", Some("main")).unwrap();
        let repository = open();
        let heads: Vec<Commit> = (0..4)
            .map(|number| {
                let id = format!("M{number}");
                let worktree = bench.enter(&repository, &id).worktree;
                bench.write(&format!("r/.gsd/worktrees/{id}/{id}.txt"), &id);
                repository.commit(&worktree, &message(&id), false).unwrap().commit().clone()
            })
            .collect();
        bench.write("r/mine.txt", "untracked\n");
        bench.write("r/a.txt", "changed\n");
        let barrier = std::sync::Barrier::new(heads.len());
        let moved: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = heads
                .iter()
                .map(|head| {
                    let (repository, barrier) = (open(), &barrier);
                    scope.spawn(move || {
                        let mut moved = 0;
                        barrier.wait();
                        loop {
                            let base = repository.tip().unwrap();
                            let merged = repository.candidate(&base, head, &message("x")).unwrap();
                            match repository.land(&ready(merged)).unwrap() {
                                Landing::Landed => return moved,
                                Landing::Refused(LandingRefusal::TargetMoved { .. }) => moved += 1,
                                other => panic!("{other:?}"),
                            }
                        }
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert!(moved > 0, "nobody met anybody");
        let landed = bench.git("r", &["log", "--format=%s", "--first-parent", "main"]);
        assert_eq!(landed.lines().count(), heads.len() + 1, "{landed}");
        for head in &heads {
            proved(landed_by(&repository, head));
        }
        assert_eq!(bench.git("r", &["status", "--porcelain"]), " M a.txt\n?? mine.txt");
        assert_eq!(bench.read("r/M0.txt").is_some(), is_checked_out);
    }
}
