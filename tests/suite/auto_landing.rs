//! Work that waits for a person before it lands: for a review here, or in a pull request at a remote.

use std::path::{Path, PathBuf};

use crate::auto::{git, project, report};
use crate::auto_ways_on::{BEGIN, run, stopped};
use crate::kit::{Ran, TestContext};
use crate::scripted;

fn begin(context: &TestContext, land: &str) -> Ran {
    run(context, &[BEGIN, &["--land", land]].concat(), &[])
}

fn worktree(context: &TestContext) -> PathBuf {
    context.project().join(".gsd/worktrees/M001")
}

fn landed(ran: &Ran) -> String {
    stopped(ran, "complete");
    report(ran)["landed"].as_str().unwrap().to_owned()
}

/// Lands what waits, as a person does.
fn land(context: &TestContext) -> Ran {
    context.gsd(["auto", "land"])
}

#[test]
fn work_that_waits_for_a_review_lands_as_exactly_the_commit_that_was_shown() {
    let context = project();
    let before = git(&context, &["rev-parse", "main"]);
    let waiting = begin(&context, "ask");
    let stop = stopped(&waiting, "review");
    assert_eq!((waiting.code, stop["next"].as_str()), (10, Some("gsd-tools auto land")), "{stop:#}");
    assert_eq!(git(&context, &["rev-parse", "main"]), before);
    let shown = context.gsd(["auto", "diff"]).json();
    assert!(shown["diff"].as_str().unwrap().contains("+++ b/src/s01_t01.txt"), "{shown:#}");
    assert_eq!(shown["base"], before.as_str());
    assert_eq!(context.gsd(["auto", "status"]).json()["session"]["stop"]["cause"], "review");
    // Continued without a word, it waits with the same commit, and runs no check again.
    let again = run(&context, &["auto", "run"], &[]);
    stopped(&again, "review");
    assert!(!again.stderr.contains("Merged with the target"), "{}", again.stderr);
    for call in [&["auto", "land"][..], &["auto", "run", "--land", "branch"]] {
        let agent = context.gsd_with(call, &[("CLAUDECODE", "1")], "");
        assert!(agent.failure(77).contains("needs a person"), "{call:?}");
    }
    assert_eq!(git(&context, &["rev-parse", "main"]), before);
    let commit = landed(&land(&context));
    assert_eq!(
        (commit.as_str(), git(&context, &["rev-parse", "main"])),
        (shown["commit"].as_str().unwrap(), commit.clone())
    );
    assert_eq!(git(&context, &["worktree", "list"]).lines().count(), 1);
    assert!(land(&context).failure(1).contains("nothing waits to land"));
}

#[test]
fn what_changed_since_the_review_waits_again() {
    let context = project();
    stopped(&begin(&context, "ask"), "review");
    let first = context.gsd(["auto", "diff"]).json()["commit"].clone();
    // A person corrects the work.
    std::fs::write(worktree(&context).join("by-hand.txt"), "corrected by hand\n").unwrap();
    stopped(&land(&context), "review");
    let second = context.gsd(["auto", "diff"]).json();
    assert!(second["commit"] != first && second["diff"].as_str().unwrap().contains("corrected by hand"), "{second:#}");
    // The target moves.
    context.write("other.txt", "someone else's\n");
    git(&context, &["add", "other.txt"]);
    git(&context, &["commit", "--quiet", "--message=other"]);
    stopped(&land(&context), "review");
    let third = context.gsd(["auto", "diff"]).json()["commit"].clone();
    assert_eq!(landed(&land(&context)), third.as_str().unwrap());
    assert_eq!(context.read("by-hand.txt"), "corrected by hand\n");
    assert_eq!(git(&context, &["log", "--format=%s", "main"]).lines().count(), 3);
}

#[test]
fn a_run_that_waits_lands_once_the_landing_is_its_branch_again() {
    let context = project();
    stopped(&begin(&context, "ask"), "review");
    let ran = run(&context, &["auto", "run", "--land", "branch"], &[]);
    assert!(ran.stderr.contains("the landing is branch; it was ask"), "{}", ran.stderr);
    landed(&ran);
}

/// A forge of one repository: a bare remote, and a program with the state of its only pull request.
struct Forge {
    context: TestContext,
    folder: PathBuf,
}

/// Plays both programs. `state` has the state of the pull request, `body` its text.
const PROGRAM: &str = r#"#!/bin/sh
cd "$FORGE" || exit 9
echo "$1 $2" >> calls
[ -e fails ] && { echo "HTTP 401: Bad credentials" >&2; exit 4; }
case "$1 $2" in
*list) if [ -e state ]; then
  printf '[{"number":7,"iid":7,"state":"%s","url":"https://forge.example/7","web_url":"https://forge.example/7"}]' "$(cat state)"
  else echo '[]'; fi ;;
*create|*edit|*update)
  [ "$2" = create ] && echo OPEN > state
  while [ $# -gt 0 ]; do
    case "$1" in
    --body-file) cat "$2" > body ;;
    --description) printf '%s' "$2" > body ;;
    --title) printf '%s\n' "$2" > title ;;
    esac
    shift
  done ;;
esac
"#;

impl Forge {
    fn new(program: Option<&str>) -> Self {
        let context = project();
        let folder = context.home().join("forge");
        std::fs::create_dir_all(folder.join("bin")).unwrap();
        let bare = folder.join("bare.git").display().to_string();
        git(&context, &["init", "--quiet", "--bare", "--initial-branch=main", &bare]);
        git(&context, &["remote", "add", "origin", &bare]);
        git(&context, &["push", "--quiet", "--set-upstream", "origin", "main"]);
        if let Some(program) = program {
            script(&folder.join("bin").join(program), PROGRAM);
        }
        // A hook that no push may run.
        script(
            &context.project().join(".git/hooks/pre-push"),
            &format!("#!/bin/sh\ntouch {}/hook-ran\n", folder.display()),
        );
        Self { context, folder }
    }

    fn run(&self, words: &[&str]) -> Ran {
        let path = format!("{}:{}", self.folder.join("bin").display(), std::env::var("PATH").unwrap());
        let folder = self.folder.to_string_lossy().into_owned();
        let variables = [("FAKE_SHAPE", "2x2"), ("PATH", path.as_str()), ("FORGE", folder.as_str())];
        let ran = scripted::run(&self.context, words, &[], &variables);
        assert!(!self.folder.join("hook-ran").exists(), "a hook of the repository ran");
        ran
    }

    fn begin(&self) -> Ran {
        self.run(&[BEGIN, &["--land", "pr"]].concat())
    }

    fn has(&self, file: &str) -> String {
        std::fs::read_to_string(self.folder.join(file)).unwrap_or_default()
    }

    fn set(&self, file: &str, text: &str) {
        std::fs::write(self.folder.join(file), text).unwrap();
    }

    fn calls(&self) -> Vec<String> {
        self.has("calls").lines().map(str::to_owned).collect()
    }

    /// Runs git in the bare repository.
    fn bare(&self, arguments: &[&str]) -> String {
        git(&self.context, &[&["-C", &self.folder.join("bare.git").display().to_string()], arguments].concat())
    }

    fn pushed(&self) -> String {
        self.bare(&["rev-parse", "refs/heads/milestone/M001"])
    }

    /// Merges the branch of the pull request there as one commit, as a forge does.
    fn squash(&self) -> String {
        let clone = self.folder.join("clone").display().to_string();
        let bare = self.folder.join("bare.git").display().to_string();
        git(&self.context, &["clone", "--quiet", &bare, &clone]);
        git(&self.context, &["-C", &clone, "merge", "--quiet", "--squash", "origin/milestone/M001"]);
        git(&self.context, &["-C", &clone, "commit", "--quiet", "--message=The shelf (#7)"]);
        git(&self.context, &["-C", &clone, "push", "--quiet", "origin", "main"]);
        self.set("state", "MERGED");
        git(&self.context, &["-C", &clone, "rev-parse", "HEAD"])
    }
}

fn script(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
}

#[test]
fn a_pull_request_is_opened_with_the_report_and_the_statement_and_ends_the_run_once_it_is_merged() {
    for (program, call) in [("gh", "pr create"), ("glab", "mr create")] {
        let forge = Forge::new(Some(program));
        let before = git(&forge.context, &["rev-parse", "main"]);
        let first = forge.begin();
        let stop = stopped(&first, "pull-request");
        assert_eq!(first.code, 10);
        assert!(stop["text"].as_str().unwrap().contains("https://forge.example/7"), "{stop:#}");
        assert_eq!(git(&forge.context, &["rev-parse", "main"]), before);
        assert!(forge.calls().contains(&call.to_owned()), "{:?}", forge.calls());
        let (commit, body) = (forge.pushed(), forge.has("body"));
        assert!(
            body.starts_with("# ") && body.contains("## Evidence") && body.contains("in-toto.io/Statement"),
            "{body}"
        );
        let tree = forge.bare(&["rev-parse", &format!("{commit}^{{tree}}")]);
        assert!(body.contains(&commit) && body.contains(&tree), "{body}");
        let home = forge.context.home().display().to_string();
        assert!(body.contains("Proposed") && !body.contains(&home) && !body.contains("auto watch"), "{body}");
        assert!(!body.contains(&forge.context.project().display().to_string()), "{body}");
        assert_eq!(forge.has("title").trim(), forge.bare(&["log", "-1", "--format=%s", &commit]));
        // Nothing has changed, so nothing is pushed or edited again.
        let calls = forge.calls().len();
        stopped(&forge.run(&["auto", "run"]), "pull-request");
        assert_eq!((forge.pushed(), forge.calls().len()), (commit, calls + 1), "{:?}", forge.calls());
        // Merged there, it has to be brought here.
        let merged = forge.squash();
        let stop = stopped(&forge.run(&["auto", "run"]), "pull-request");
        let next = stop["next"].as_str().unwrap();
        assert!(stop["text"].as_str().unwrap().contains("was merged") && next.starts_with("git pull"), "{stop:#}");
        assert!(forge.context.command("sh").args(["-c", next]).output().unwrap().status.success(), "{next}");
        assert_eq!(landed(&forge.run(&["auto", "run"])), merged);
        assert_eq!(git(&forge.context, &["worktree", "list"]).lines().count(), 1);
    }
}

#[test]
fn changed_work_and_a_moved_target_update_the_pull_request() {
    let forge = Forge::new(Some("gh"));
    stopped(&forge.begin(), "pull-request");
    let first = forge.pushed();
    std::fs::write(worktree(&forge.context).join("by-hand.txt"), "as the reviewer wants it\n").unwrap();
    stopped(&forge.run(&["auto", "run"]), "pull-request");
    let second = forge.pushed();
    assert_ne!(first, second);
    assert!(forge.bare(&["show", &format!("{second}:by-hand.txt")]).contains("as the reviewer wants it"));
    forge.context.write("other.txt", "x\n");
    git(&forge.context, &["add", "other.txt"]);
    git(&forge.context, &["commit", "--quiet", "--message=other"]);
    let stop = stopped(&forge.run(&["auto", "run"]), "pull-request");
    assert!(stop["evidence"].to_string().contains("`main` has 1 commit that `origin` does not have"), "{stop:#}");
    let third = forge.pushed();
    assert_eq!(forge.bare(&["rev-parse", &format!("{third}^")]), git(&forge.context, &["rev-parse", "main"]));
    assert!(forge.has("body").contains(&third));
    let calls = forge.calls();
    let count = |call: &str| calls.iter().filter(|made| *made == call).count();
    assert_eq!((count("pr create"), count("pr edit")), (1, 2), "{calls:?}");
}

#[test]
fn a_push_that_is_refused_stops_the_run_and_overwrites_nothing() {
    let forge = Forge::new(Some("gh"));
    let hook = forge.folder.join("bare.git/hooks/pre-receive");
    script(&hook, "#!/bin/sh\necho 'the branch is protected' >&2\nexit 1\n");
    let stop = stopped(&forge.begin(), "push-refused");
    assert!(stop["text"].as_str().unwrap().contains("the branch is protected"), "{stop:#}");
    assert!(forge.calls().is_empty());
    std::fs::remove_file(hook).unwrap();
    // Someone has a branch of that name there.
    let other = git(&forge.context, &["commit-tree", "-p", "HEAD", "-m", "theirs", "HEAD^{tree}"]);
    git(&forge.context, &["push", "--quiet", "--no-verify", "origin", &format!("{other}:refs/heads/milestone/M001")]);
    let stop = stopped(&forge.run(&["auto", "run"]), "push-refused");
    assert!(stop["evidence"].to_string().contains("git push --delete origin milestone/M001"), "{stop:#}");
    assert_eq!(forge.pushed(), other);
    // It is taken into the work, as the stop says.
    let shown = stop["evidence"][0].as_str().unwrap();
    let pull = shown.split('`').nth(1).unwrap();
    assert!(forge.context.command("sh").args(["-c", pull]).output().unwrap().status.success(), "{pull}");
    stopped(&forge.run(&["auto", "run"]), "pull-request");
    assert_ne!(forge.pushed(), other);
}

#[test]
fn a_pull_request_that_was_closed_stops_the_run_until_a_person_decides() {
    let forge = Forge::new(Some("gh"));
    stopped(&forge.begin(), "pull-request");
    forge.set("state", "CLOSED");
    let closed = forge.run(&["auto", "run"]);
    let stop = stopped(&closed, "request-closed");
    assert_eq!((closed.code, stop["next"].as_str()), (10, Some("gsd-tools auto abandon M001")), "{stop:#}");
    // Opened again, it waits; closed, a person can still land the work here.
    forge.set("state", "OPEN");
    stopped(&forge.run(&["auto", "run"]), "pull-request");
    forge.set("state", "CLOSED");
    stopped(&forge.run(&["auto", "run"]), "request-closed");
    landed(&land(&forge.context));
}

#[test]
fn without_a_program_for_it_the_commands_are_shown_and_a_merge_by_hand_ends_the_run() {
    let forge = Forge::new(None);
    let stop = stopped(&forge.begin(), "pull-request");
    let shown = stop["evidence"].to_string();
    assert!(
        shown.contains("`gh pr create --head milestone/M001 --base main") && shown.contains("`glab mr create"),
        "{stop:#}"
    );
    let commit = forge.pushed();
    forge.bare(&["update-ref", "refs/heads/main", &commit]);
    git(&forge.context, &["pull", "--quiet", "--ff-only", "origin", "main"]);
    assert_eq!(landed(&forge.run(&["auto", "run"])), commit);
}

#[test]
fn a_forge_that_fails_leaves_the_pushed_branch_and_says_why() {
    let forge = Forge::new(Some("gh"));
    forge.set("fails", "");
    let stop = stopped(&forge.begin(), "pull-request");
    let shown = stop["evidence"].to_string();
    assert!(
        shown.contains("`gh pr list` failed: HTTP 401: Bad credentials") && shown.contains("gh pr create"),
        "{stop:#}"
    );
    std::fs::remove_file(forge.folder.join("fails")).unwrap();
    let stop = stopped(&forge.run(&["auto", "run"]), "pull-request");
    assert!(stop["text"].as_str().unwrap().contains("https://forge.example/7"), "{stop:#}");
}

#[test]
fn a_pull_request_needs_a_remote() {
    let context = project();
    let stop = stopped(&begin(&context, "pr"), "push-refused");
    assert!(stop["text"].as_str().unwrap().contains("`main` has none"), "{stop:#}");
    landed(&land(&context));
    let bad = run(&context, &["auto", "run", "--land", "merge"], &[]);
    assert!(bad.failure(2).contains("write `branch`, `ask` or `pr`"));
}
