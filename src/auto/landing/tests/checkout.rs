//! Tests of the checkout that is moved from tree to tree.

use super::*;

const PLACE: &str = "r/.gsd/worktrees/M001-checks";
const OWN: &str = "r/.git/worktrees/M001-checks";

/// What breaks a checkout, and how.
type Break = (&'static str, fn(&Bench));

/// Returns the tree of the person's checkout, including the ignored paths in `forced`.
fn tree_now(bench: &Bench, forced: &[&str]) -> Tree {
    bench.git("r", &["add", "--all"]);
    if !forced.is_empty() {
        bench.git("r", &[&["add", "--force"], forced].concat());
    }
    Tree::parse(&bench.git("r", &["write-tree"])).unwrap()
}

fn moved(bench: &Bench, repository: &Repository, tree: &Tree) -> Worktree {
    let checkout = repository.checkout(&bench.path(PLACE), tree, NOW).unwrap();
    repository.leave_checkout(&checkout).unwrap();
    checkout
}

fn names(bench: &Bench) -> Vec<String> {
    bench.seen(PLACE).into_iter().map(|(name, _)| name).collect()
}

/// Asserts that the checkout has exactly the tracked files of `tree`.
fn has_exactly(bench: &Bench, tree: &Tree) {
    let listed = bench.git("r", &["ls-tree", "-r", "--name-only", tree.as_str()]);
    assert_eq!(names(bench), listed.lines().map(str::to_owned).collect::<Vec<_>>());
    assert_eq!(bench.git(PLACE, &["diff", "--stat", tree.as_str()]), "");
}

#[test]
fn a_checkout_has_the_files_of_each_tree_and_keeps_what_git_ignores() {
    let bench = Bench::new();
    let repository = bench.open();
    bench.write("r/.gitignore", "*.log\n/.gsd/\nbuild/\n");
    bench.write("r/lib/x.txt", "x\n");
    let first = tree_now(&bench, &[]);
    // The same size, a file instead of a folder, and a tracked file among ignored ones.
    bench.write("r/a.txt", "two\n");
    std::fs::remove_dir_all(bench.path("r/lib")).unwrap();
    bench.write("r/lib", "no folder any more\n");
    bench.write("r/build/kept.txt", "tracked\n");
    let second = tree_now(&bench, &["build/kept.txt"]);
    bench.write("r/.gitignore", "/.gsd/\n");
    let third = tree_now(&bench, &[]);

    moved(&bench, &repository, &first);
    has_exactly(&bench, &first);
    // The remains of a check: changed, new and ignored files, one at a path of the next tree, and a nested repository.
    bench.write(&format!("{PLACE}/a.txt"), "changed\n");
    bench.write(&format!("{PLACE}/new/deep.txt"), "new\n");
    bench.write(&format!("{PLACE}/hidden/.gitignore"), "secret.txt\n");
    bench.write(&format!("{PLACE}/hidden/secret.txt"), "hidden by a file that goes\n");
    bench.write(&format!("{PLACE}/build/made.o"), "made\n");
    bench.write(&format!("{PLACE}/build/kept.txt"), "of the check\n");
    bench.write(&format!("{PLACE}/run.log"), "log\n");
    bench.git(PLACE, &["init", "--quiet", "nested"]);
    bench.write(&format!("{PLACE}/nested/file.txt"), "nested\n");
    bench.write(&format!("{PLACE}/lib/x.log"), "in the way\n");
    moved(&bench, &repository, &second);
    assert_eq!(names(&bench), [".gitignore", "a.txt", "build/kept.txt", "build/made.o", "lib", "run.log"]);
    assert_eq!(bench.git(PLACE, &["diff", "--stat", second.as_str()]), "");
    assert_eq!(bench.read(&format!("{PLACE}/build/kept.txt")).as_deref(), Some("tracked\n"));
    // The rules of the third tree ignore nothing.
    moved(&bench, &repository, &third);
    has_exactly(&bench, &third);
    moved(&bench, &repository, &first);
    has_exactly(&bench, &first);
    repository.remove_checkout(&bench.path(PLACE)).unwrap();
    assert!(!bench.path(PLACE).as_path().exists() && !bench.path(OWN).as_path().exists());
}

#[test]
fn an_interrupted_or_broken_checkout_is_made_again() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let breaks: [Break; 7] = [
        ("a process that died", |bench| bench.write(&format!("{OWN}/gsd-busy"), "")),
        ("a git that was killed", |bench| {
            bench.write(&format!("{OWN}/index.lock"), "");
            bench.write(&format!("{OWN}/gsd-busy"), "");
        }),
        ("its folder", |bench| std::fs::remove_dir_all(bench.path(PLACE)).unwrap()),
        ("its index", |bench| bench.write(&format!("{OWN}/index"), "no index")),
        ("another repository", |bench| {
            std::fs::remove_file(bench.path(&format!("{PLACE}/.git"))).unwrap();
            bench.git(PLACE, &["init", "--quiet"]);
        }),
        ("a link in the place of `.git`", |bench| {
            std::fs::remove_file(bench.path(&format!("{PLACE}/.git"))).unwrap();
            symlink("nowhere", bench.path(&format!("{PLACE}/.git"))).unwrap();
        }),
        ("a folder that nobody may change", |bench| {
            bench.write(&format!("{PLACE}/lib/new.txt"), "new\n");
            let locked = std::fs::Permissions::from_mode(0o555);
            std::fs::set_permissions(bench.path(&format!("{PLACE}/lib")), locked).unwrap();
        }),
    ];
    for (what, break_it) in breaks {
        let bench = Bench::new();
        let repository = bench.open();
        bench.write("r/lib/x.txt", "x\n");
        let first = tree_now(&bench, &[]);
        std::fs::remove_dir_all(bench.path("r/lib")).unwrap();
        bench.write("r/b.txt", "b\n");
        let second = tree_now(&bench, &[]);
        moved(&bench, &repository, &first);
        break_it(&bench);
        let made = repository.checkout(&bench.path(PLACE), &second, NOW).unwrap_or_else(|e| panic!("{what}: {e}"));
        has_exactly(&bench, &second);
        assert!(bench.read(&format!("{OWN}/gsd-busy")).is_some(), "{what}: whoever dies now leaves it busy");
        repository.leave_checkout(&made).unwrap();
        moved(&bench, &repository, &first);
        has_exactly(&bench, &first);
        assert_eq!(bench.git("r", &["branch", "--list"]), "* main", "{what}");
    }
}

#[test]
fn a_folder_of_someone_else_is_not_used_for_a_checkout() {
    let bench = Bench::new();
    let repository = bench.open();
    let tree = tree_now(&bench, &[]);
    bench.write(&format!("{PLACE}/mine.txt"), "mine\n");
    let error = repository.checkout(&bench.path(PLACE), &tree, NOW).unwrap_err();
    assert!(matches!(error, LandingError::Occupied { .. }), "{error}");
    bench.git("r", &["worktree", "add", "--quiet", "--force", "--detach", "mine", "main"]);
    let error = repository.checkout(&bench.path("r/mine"), &tree, NOW).unwrap_err();
    assert!(matches!(error, LandingError::NotOurs { .. }), "{error}");
    assert_eq!(bench.read(&format!("{PLACE}/mine.txt")).as_deref(), Some("mine\n"));
}

#[test]
fn trees_are_not_checked_out_in_the_same_second_if_compiled_files_may_exist() {
    let bench = Bench::new();
    let repository = bench.open();
    let first = tree_now(&bench, &[]);
    bench.write("r/a.txt", "two\n");
    let second = tree_now(&bench, &[]);
    let changed = || {
        let time = std::fs::metadata(bench.path(&format!("{PLACE}/a.txt"))).unwrap().modified().unwrap();
        time.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs()
    };
    moved(&bench, &repository, &first);
    bench.write(&format!("{PLACE}/a.log"), "compiled\n");
    for tree in [&second, &first] {
        let before = changed();
        moved(&bench, &repository, tree);
        assert!(changed() > before);
    }
}
