//! Landings in generated repositories, with a person who works in them: whatever happens, every byte still exists
//! somewhere, the person's uncommitted work is unchanged, and the target is what passed the gate.
//!
//! `GSD_LANDING_RUNS=500` sets the number of runs, `GSD_LANDING_SEED` the first seed.
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::sync::Mutex;

use sha1::{Digest as _, Sha1};

use super::*;

/// Random numbers from a seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % u64::try_from(sides).unwrap()).unwrap()
    }

    fn one_in(&mut self, sides: usize) -> bool {
        self.roll(sides) == 0
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.roll(from.len())]
    }
}

/// The files of the repository at the start.
const TRACKED: &[&str] = &["a.txt", "b b.txt", "dir/c.txt", "dir/d.txt", "dir/sub/ü.txt", "run.sh", "top"];
/// Files that may be created.
const NEW: &[&str] = &["n1.txt", "new/n2.txt", "new/n3.txt", "top/n4.txt", "dir/sub/n5.txt", "x.log", "new"];

/// The content of a file: lines of which one changes at a time.
fn lines(name: &str) -> Vec<String> {
    (0..8).map(|line| format!("{name} {line}\n")).collect()
}

/// Everything in a worktree that a person sees: files with their kind, the index, and the branch.
#[derive(Clone, Debug, PartialEq, Eq)]
struct WorktreeView {
    files: BTreeMap<String, (u32, Vec<u8>)>,
    index: BTreeMap<String, String>,
    branch: String,
}

struct MergeBackScene {
    bench: Bench,
    dice: Dice,
    seed: u64,
    serial: usize,
    /// The names of all blobs that were seen, and where.
    written: BTreeMap<String, String>,
}

impl MergeBackScene {
    fn new(seed: u64) -> Self {
        let mut scene = Self { bench: Bench::new(), dice: Dice(seed), seed, serial: 0, written: BTreeMap::new() };
        for path in TRACKED {
            scene.bench.write(&format!("r/{path}"), lines(path).concat());
        }
        std::os::unix::fs::symlink("a.txt", scene.bench.path("r/link")).unwrap();
        if scene.dice.one_in(8) {
            scene.bench.git("", &["init", "--quiet", "-b", "main", "lib"]);
            scene.bench.write("lib/l.txt", "l\n");
            scene.bench.commit_all("lib", "lib");
            let lib = scene.bench.path("lib").to_string();
            scene.bench.git("r", &["submodule", "--quiet", "add", &lib, "sub"]);
        }
        scene.bench.commit_all("r", "more");
        scene
    }

    fn unique(&mut self) -> String {
        self.serial += 1;
        format!("{} of {}\n", self.serial, self.seed)
    }

    /// Changes files below `folder`, as people and agents do.
    fn edit(&mut self, folder: &str, times: usize) {
        for _ in 0..times {
            let path = if self.dice.one_in(3) { *self.dice.pick(NEW) } else { *self.dice.pick(TRACKED) };
            let place = self.bench.path(&format!("{folder}/{path}"));
            let text = self.unique();
            match self.dice.roll(8) {
                0 => clear(&place),
                1 => {
                    clear(&place);
                    make_room(&place);
                    let _ = std::os::unix::fs::symlink(text.trim(), &place);
                }
                2 if place.as_path().is_file() && !place.as_path().is_symlink() => {
                    std::fs::set_permissions(&place, std::fs::Permissions::from_mode(0o755)).unwrap();
                }
                _ => {
                    let mut content = match std::fs::read_to_string(&place) {
                        Ok(old) if !place.as_path().is_symlink() => {
                            old.split_inclusive('\n').map(str::to_owned).collect()
                        }
                        _ => lines(path),
                    };
                    let line = self.dice.roll(content.len().max(1));
                    match content.get_mut(line) {
                        Some(line) => *line = text,
                        None => content.push(text),
                    }
                    clear_link(&place);
                    make_room(&place);
                    if place.as_path().is_dir() {
                        std::fs::remove_dir_all(&place).unwrap();
                    }
                    std::fs::write(&place, content.concat()).unwrap();
                }
            }
        }
    }

    /// Leaves work of a person in a worktree: some of it staged, some of that changed again.
    fn leave_work(&mut self, folder: &str) {
        let times = self.dice.roll(4);
        self.edit(folder, times);
        if self.dice.one_in(2) {
            self.bench.git(folder, &["add", "--all", "--", ":(exclude)sub"]);
            let times = self.dice.roll(3);
            self.edit(folder, times);
        }
        if self.dice.one_in(3) {
            let text = self.unique();
            self.bench.write(&format!("{folder}/mine.log"), text);
        }
        if self.bench.path(&format!("{folder}/sub/l.txt")).as_path().exists() && self.dice.one_in(2) {
            let text = self.unique();
            self.bench.write(&format!("{folder}/sub/l.txt"), text);
        }
    }

    fn see(&self, folder: &str) -> WorktreeView {
        let mut files = BTreeMap::new();
        let root = self.bench.path(folder);
        let is_git = |name: &std::ffi::OsStr| name == ".git" || name == ".gsd";
        let walk = walkdir::WalkDir::new(&root).into_iter().filter_entry(|entry| !is_git(entry.file_name()));
        for entry in walk.map(Result::unwrap).filter(|entry| !entry.file_type().is_dir()) {
            let path = entry.path();
            let name = path.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
            let (kind, bytes) = if entry.path_is_symlink() {
                (1, std::fs::read_link(path).unwrap().to_string_lossy().into_owned().into_bytes())
            } else {
                (entry.metadata().unwrap().permissions().mode() & 0o100, std::fs::read(path).unwrap())
            };
            files.insert(name, (kind, bytes));
        }
        let listed = self.bench.git(folder, &["ls-files", "--stage", "-z"]);
        let entry = |entry: &str| entry.split_once('\t').map(|(state, path)| (path.to_owned(), state.to_owned()));
        let index = listed.split('\0').filter_map(entry).collect();
        let branch = String::from_utf8(self.bench.try_git(folder, &["symbolic-ref", "--quiet", "HEAD"]).1).unwrap();
        WorktreeView { files, index, branch }
    }

    /// Records all content of a worktree.
    fn note(&mut self, folder: &str) {
        let seen = self.see(folder);
        for (path, (_, bytes)) in &seen.files {
            self.written.entry(blob(bytes)).or_insert_with(|| format!("{folder}/{path}"));
        }
        for (path, state) in &seen.index {
            let mut words = state.split(' ');
            if words.next() != Some("160000") {
                let id = words.next().unwrap().to_owned();
                self.written.entry(id).or_insert_with(|| format!("staged {folder}/{path}"));
            }
        }
    }

    /// Asserts that all recorded content is in a commit, in an index, or on disk in one of these worktrees.
    fn check_nothing_is_lost(&self, folders: &[&str]) {
        let listed = self.bench.git("r", &["rev-list", "--objects", "--all", "--indexed-objects"]);
        let mut there: BTreeSet<String> =
            listed.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect();
        for folder in folders {
            there.extend(self.see(folder).files.values().map(|(_, bytes)| blob(bytes)));
        }
        let lost: Vec<_> = self.written.iter().filter(|(id, _)| !there.contains(*id)).collect();
        assert!(lost.is_empty(), "seed {}: lost {lost:?}", self.seed);
    }
}

fn clear(place: &AbsolutePath) {
    if place.as_path().is_symlink() || place.as_path().is_file() {
        std::fs::remove_file(place).unwrap();
    } else if place.as_path().is_dir() {
        std::fs::remove_dir_all(place).unwrap();
    }
}

fn clear_link(place: &AbsolutePath) {
    if place.as_path().is_symlink() {
        std::fs::remove_file(place).unwrap();
    }
}

/// Makes the folder of a file, and removes what is in its way.
fn make_room(place: &AbsolutePath) {
    let folder = place.parent().unwrap();
    for around in folder.as_path().ancestors() {
        if around.is_symlink() || around.is_file() {
            std::fs::remove_file(around).unwrap();
        }
    }
    std::fs::create_dir_all(&folder).unwrap();
}

fn blob(bytes: &[u8]) -> String {
    let mut hash = Sha1::new();
    hash.update(format!("blob {}\0", bytes.len()));
    hash.update(bytes);
    hash.finalize()
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|half| char::from_digit(half.into(), 16))
        .collect()
}

/// Returns what a person must see after `changes`, in a worktree with the target.
fn after(bench: &Bench, before: &WorktreeView, changes: &[Changed]) -> WorktreeView {
    let mut seen = before.clone();
    // Removed files make room for new ones.
    for change in changes.iter().filter(|change| change.after.is_none()) {
        seen.files.remove(&change.path.to_string());
        seen.index.remove(&change.path.to_string());
    }
    for change in changes {
        let Some(state) = &change.after else { continue };
        let path = change.path.to_string();
        if !state.is_submodule() {
            let bytes = bench.command("git", "r").args(["cat-file", "blob", &state.id]).output().unwrap().stdout;
            let kind = match state.mode.as_str() {
                "120000" => 1,
                "100755" => 0o100,
                _ => 0,
            };
            seen.files.insert(path.clone(), (kind, bytes));
        }
        seen.index.insert(path, format!("{} {} 0", state.mode, state.id));
    }
    seen
}

/// True if uncommitted work of a person is in the way of `changes`, according to git: an independent answer to compare
/// with `overlap`.
fn is_in_the_way(bench: &Bench, folder: &str, changes: &[Changed]) -> bool {
    let line = [
        "status",
        "--porcelain",
        "-z",
        "--untracked-files=all",
        "--ignored=matching",
        "--no-renames",
        "--ignore-submodules=dirty",
    ];
    let status = bench.git(folder, &line);
    status.split('\0').filter_map(|entry| entry.split_at_checked(3)).any(|(state, path)| {
        let path = path.trim_end_matches('/');
        let is_untracked = state.starts_with("??") || state.starts_with("!!");
        changes.iter().any(|change| {
            let theirs = change.path.to_string();
            let meets = theirs == path
                || theirs.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'))
                || path.strip_prefix(theirs.as_str()).is_some_and(|rest| rest.starts_with('/'));
            let is_folder = bench.path(&format!("{folder}/{path}")).as_path().is_dir();
            meets
                && (!is_untracked
                    || (change.after.is_some() && change.before.is_none() && !(is_folder && theirs != path)))
        })
    })
}

/// Where the target is checked out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TargetCheckout {
    Here,
    Elsewhere,
    Nowhere,
}

/// Counts how often each thing happened.
#[derive(Debug, Default)]
struct Tally(BTreeMap<&'static str, usize>);

impl Tally {
    fn count(&mut self, what: &'static str) {
        *self.0.entry(what).or_default() += 1;
    }
}

/// Makes a candidate and gates it: its files in a worktree are exactly its tree.
fn gated(bench: &Bench, repository: &Repository, id: &str, head: &Commit, gated: &Mutex<BTreeSet<Tree>>) -> Merged {
    let base = repository.tip().unwrap();
    let merged = repository.candidate(&base, head, &message(&format!("feat({id}): work"))).unwrap();
    if let Merged::Ready(candidate) = &merged {
        let folder = bench.path(&format!("r/.gsd/worktrees/gate-{id}"));
        let gate = repository.scratch(&folder, &candidate.commit, id).unwrap();
        let tree = repository.snapshot(&gate).unwrap().tree;
        assert_eq!(tree, candidate.tree);
        repository.remove_checkout(&gate.folder).unwrap();
        gated.lock().unwrap().insert(tree);
    }
    merged
}

/// The outcome of landing work without interference.
#[derive(Debug)]
enum UndisturbedLanding {
    Landed(Candidate),
    Refused(LandingRefusal, Candidate),
    Conflict,
    Nothing,
}

fn land(
    bench: &Bench,
    repository: &Repository,
    id: &str,
    head: &Commit,
    trees: &Mutex<BTreeSet<Tree>>,
    first: Option<Candidate>,
) -> UndisturbedLanding {
    let mut next = first;
    loop {
        let candidate = match next.take() {
            Some(candidate) => candidate,
            None => match gated(bench, repository, id, head, trees) {
                Merged::Ready(candidate) => candidate,
                Merged::Conflict { .. } => return UndisturbedLanding::Conflict,
                Merged::Nothing => return UndisturbedLanding::Nothing,
            },
        };
        match repository.land(&candidate).unwrap() {
            Landing::Landed => return UndisturbedLanding::Landed(candidate),
            Landing::Refused(LandingRefusal::TargetMoved { .. }) => {}
            Landing::Refused(refusal) => return UndisturbedLanding::Refused(refusal, candidate),
            Landing::AlreadyLanded => panic!("nobody landed {candidate:?}"),
        }
    }
}

/// Checks out the target at this place.
fn check_out(scene: &mut MergeBackScene, place: TargetCheckout) {
    match place {
        TargetCheckout::Here => {}
        TargetCheckout::Elsewhere => {
            let way = if scene.dice.one_in(2) {
                vec!["checkout", "-q", "--detach"]
            } else {
                vec!["checkout", "-q", "-b", "mine"]
            };
            scene.bench.git("r", &way);
            scene.bench.git("r", &["worktree", "add", "--quiet", "../w", "main"]);
        }
        TargetCheckout::Nowhere => drop(scene.bench.git("r", &["checkout", "-q", "--detach"])),
    }
}

/// Lets the person make way: commits everything that git sees, and renames the rest.
fn make_way(scene: &MergeBackScene, at: &str) {
    scene.bench.git(at, &["commit", "--quiet", "--allow-empty", "-m", "mine"]);
    scene.bench.git(at, &["add", "--all", "--", ":(exclude)sub"]);
    scene.bench.git(at, &["commit", "--quiet", "--allow-empty", "-m", "mine"]);
    let log = scene.bench.path(&format!("{at}/x.log"));
    if log.as_path().is_symlink() || log.as_path().exists() {
        std::fs::rename(&log, scene.bench.path(&format!("{at}/x-mine.log"))).unwrap();
    }
}

fn merge_back(seed: u64, tally: &mut Tally) {
    let mut scene = MergeBackScene::new(seed);
    let place = *scene.dice.pick(&[
        TargetCheckout::Here,
        TargetCheckout::Here,
        TargetCheckout::Elsewhere,
        TargetCheckout::Nowhere,
    ]);
    check_out(&mut scene, place);
    let folders: &[&str] = if place == TargetCheckout::Elsewhere { &["r", "w"] } else { &["r"] };
    let target = match place {
        TargetCheckout::Here => Some("r"),
        TargetCheckout::Elsewhere => Some("w"),
        TargetCheckout::Nowhere => None,
    };
    let repository = scene.bench.open_at("r", Some("main")).unwrap();
    let units: Vec<&str> = if scene.dice.one_in(4) { vec!["M001", "M002"] } else { vec!["M001"] };
    let works: Vec<(&str, Worktree, Commit)> = units
        .iter()
        .map(|id| (*id, unit(&mut scene, &repository, id)))
        .map(|(id, (worktree, head))| (id, worktree, head))
        .collect();
    let trees = Mutex::new(BTreeSet::new());
    // The target moves before the candidate is made, after that, or not at all.
    let moves = scene.dice.roll(4);
    if moves == 1 {
        move_target(&mut scene, &repository, target);
    }
    let mut early = None;
    if moves == 2
        && let Merged::Ready(candidate) = gated(&scene.bench, &repository, "M001", &works[0].2, &trees)
    {
        early = Some(candidate);
        move_target(&mut scene, &repository, target);
    }
    for folder in folders {
        scene.leave_work(folder);
        scene.note(folder);
    }
    let start = repository.tip().unwrap();
    let mut landed = vec![None; works.len()];
    for round in 0..3 {
        let before: Vec<WorktreeView> = folders.iter().map(|folder| scene.see(folder)).collect();
        let tip = repository.tip().unwrap();
        let outcomes = outcomes(&scene, &works, &landed, &trees, early.take());
        let changes = repository.differences(tip.as_str(), repository.tip().unwrap().as_str()).unwrap();
        for (folder, before) in folders.iter().zip(&before) {
            let expected = if target == Some(*folder) { after(&scene.bench, before, &changes) } else { before.clone() };
            assert_eq!(scene.see(folder), expected, "seed {seed}, {folder}, {outcomes:?}");
        }
        let mut is_refused = false;
        for (number, outcome) in outcomes {
            tally.count(match &outcome {
                UndisturbedLanding::Landed(_) if round > 0 => "landed once the person made room",
                UndisturbedLanding::Landed(_) => "landed",
                UndisturbedLanding::Refused(LandingRefusal::UntrackedClash { .. }, _) => "untracked clash",
                UndisturbedLanding::Refused(..) => "dirty overlap",
                UndisturbedLanding::Conflict => "conflict",
                UndisturbedLanding::Nothing => "nothing to land",
            });
            match outcome {
                UndisturbedLanding::Landed(candidate) => landed[number] = Some(candidate.commit),
                UndisturbedLanding::Refused(refusal, candidate) => {
                    let at = target.expect("only files refuse");
                    let changes = repository.differences(candidate.base.as_str(), candidate.commit.as_str()).unwrap();
                    assert!(is_in_the_way(&scene.bench, at, &changes), "seed {seed}: {refusal} without a reason");
                    assert!(!matches!(refusal, LandingRefusal::GitRefused { .. }), "seed {seed}: {refusal}");
                    is_refused = true;
                }
                UndisturbedLanding::Conflict | UndisturbedLanding::Nothing => {}
            }
        }
        if !is_refused {
            break;
        }
        make_way(&scene, target.unwrap());
    }
    check_history(&scene, &repository, &start, &trees);
    for ((id, worktree, head), landed) in works.iter().zip(landed) {
        let place = format!("r/.gsd/worktrees/{id}");
        scene.note(&place);
        let Some(landed) = landed else {
            if landed_by(&repository, head) == Proof::Unproved {
                assert!(worktree.folder.as_path().exists());
            }
            continue;
        };
        let proof = proved(repository.proof(head, &landed).unwrap());
        let released = repository.release(worktree, &proof, id, NOW).unwrap();
        assert!(matches!(released, Release::Removed { .. }), "seed {seed}: {released:?}");
        assert!(
            !worktree.folder.as_path().exists() && repository.branch(&format!("milestone/{id}")).unwrap().is_none()
        );
        tally.count("released");
    }
    let left: Vec<String> = units.iter().map(|id| format!("r/.gsd/worktrees/{id}")).collect();
    let left = left.iter().map(String::as_str).filter(|folder| scene.bench.path(folder).as_path().exists());
    let all: Vec<&str> = folders.iter().copied().chain(left).collect();
    scene.check_nothing_is_lost(&all);
}

/// Makes a worktree with work of an agent: committed, and sometimes with files that were never committed.
fn unit(scene: &mut MergeBackScene, repository: &Repository, id: &str) -> (Worktree, Commit) {
    let worktree = scene.bench.enter(repository, id).worktree;
    let place = format!("r/.gsd/worktrees/{id}");
    let mut head = worktree.head(repository).unwrap();
    for _ in 0..=scene.dice.roll(2) {
        let times = 1 + scene.dice.roll(4);
        scene.edit(&place, times);
        if scene.dice.one_in(5) {
            // The file was ignored and now is not: the person's worktree may have one of the same name.
            scene.bench.write(&format!("{place}/.gitignore"), "/.gsd/\n");
            let text = scene.unique();
            let log = scene.bench.path(&format!("{place}/x.log"));
            clear(&log);
            scene.bench.write(&format!("{place}/x.log"), text);
        }
        head = repository.commit(&worktree, &message(&format!("work of {id}")), false).unwrap().commit().clone();
    }
    if scene.dice.one_in(3) {
        scene.edit(&place, 2);
        let text = scene.unique();
        scene.bench.write(&format!("{place}/agent/out.log"), text);
    }
    scene.note(&place);
    (worktree, head)
}

/// Commits to the target, as another person would.
fn move_target(scene: &mut MergeBackScene, repository: &Repository, target: Option<&str>) {
    let path = *scene.dice.pick(&["moved.txt", "a.txt", "dir/c.txt"]);
    let text = scene.unique();
    if let Some(folder) = target {
        scene.bench.write(&format!("{folder}/{path}"), text);
        scene.bench.git(folder, &["add", "--", path]);
        scene.bench.git(folder, &["commit", "--quiet", "-m", "moved"]);
    } else {
        let tip = repository.tip().unwrap();
        let tree = scene.bench.git("r", &["rev-parse", &format!("{tip}^{{tree}}")]);
        let moved = scene.bench.git("r", &["commit-tree", "-p", tip.as_str(), "-m", &text, &tree]);
        scene.bench.git("r", &["update-ref", "refs/heads/main", &moved]);
    }
}

/// Lands everything that has not landed, all at once.
fn outcomes(
    scene: &MergeBackScene,
    works: &[(&str, Worktree, Commit)],
    landed: &[Option<Commit>],
    trees: &Mutex<BTreeSet<Tree>>,
    mut early: Option<Candidate>,
) -> Vec<(usize, UndisturbedLanding)> {
    let open: Vec<usize> = (0..works.len()).filter(|number| landed[*number].is_none()).collect();
    std::thread::scope(|scope| {
        let threads: Vec<_> = open
            .iter()
            .map(|number| {
                let (id, _, head) = &works[*number];
                let first = early.take();
                let repository = scene.bench.open_at("r", Some("main")).unwrap();
                scope.spawn(move || (*number, land(&scene.bench, &repository, id, head, trees, first)))
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// Asserts that every commit of the target since `start` is the person's, or has a tree that passed the gate.
fn check_history(scene: &MergeBackScene, repository: &Repository, start: &Commit, trees: &Mutex<BTreeSet<Tree>>) {
    let span = format!("{start}..{}", repository.tip().unwrap());
    let told = scene.bench.git("r", &["log", "--first-parent", "--format=%T %s", &span]);
    for line in told.lines() {
        let (tree, subject) = line.split_once(' ').unwrap();
        let is_gated = trees.lock().unwrap().contains(&Tree::parse(tree).unwrap());
        assert!(subject == "mine" || is_gated, "seed {}: {line} was not gated", scene.seed);
    }
}

#[test]
fn no_byte_is_lost_and_only_gated_trees_land_whatever_a_person_does_meanwhile() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let runs = number("GSD_LANDING_RUNS").unwrap_or(24);
    let first = number("GSD_LANDING_SEED").unwrap_or(0);
    let mut tally = Tally::default();
    for seed in first..first + runs {
        merge_back(seed, &mut tally);
    }
    if runs >= 24 {
        for what in
            ["landed", "dirty overlap", "untracked clash", "conflict", "released", "landed once the person made room"]
        {
            assert!(tally.0.contains_key(what), "{what} never happened: {tally:?}");
        }
    }
    eprintln!("{runs} merge-backs from seed {first}: {tally:?}");
}
