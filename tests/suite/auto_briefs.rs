//! A run belongs to its brief and to its repository: another brief, a brief that has landed, a repository made again at
//! the same path.

use serde_json::Value;

use crate::auto::{auto, compile, git, project, report};
use crate::auto_phases::whole_project;
use crate::kit::{Ran, TestContext};

/// A project with two briefs inside it.
fn with_briefs() -> TestContext {
    let context = project();
    context.write("A.md", "ALPHA: make a shelf of files.\n");
    context.write("B.md", "BETA: make a shelf of lists.\n");
    context
}

/// The words of the first command in a text, between backticks, that begins so.
pub(crate) fn printed(text: &str, begin: &str) -> Vec<String> {
    let found = text.split('`').find(|part| part.starts_with(begin));
    let found = found.unwrap_or_else(|| panic!("no `{begin}`: {text}"));
    found.split(' ').skip(1).map(str::to_owned).collect()
}

/// Makes the first such call that a text prints, with the scripted agent.
fn follows(context: &TestContext, text: &str, begin: &str) -> Ran {
    let words = printed(text, begin);
    auto(context, &words.iter().map(String::as_str).collect::<Vec<_>>(), "ideal")
}

/// Removes the work of a run, so that the scripted agent has something to do in the next one.
pub(crate) fn clear(context: &TestContext) {
    git(context, &["rm", "--quiet", "-r", "src", "checks"]);
    git(context, &["commit", "--quiet", "--message=chore: clear"]);
}

fn started(context: &TestContext) -> Vec<Value> {
    let log = context.gsd(["auto", "log", "--all", "--limit", "1000"]).json();
    let rows = log["entries"].as_array().unwrap().iter().map(|row| row["entry"].clone());
    rows.filter(|entry| entry["event"] == "started").collect()
}

fn commit(context: &TestContext, path: &str, text: &str) {
    context.write(path, text);
    git(context, &["add", "--all"]);
    git(context, &["commit", "--quiet", "--message=files"]);
}

#[test]
fn a_brief_that_is_missing_or_empty_is_refused_before_anything_else() {
    let context = with_briefs();
    context.write("empty.md", " \n");
    std::fs::create_dir(context.project().join("folder.md")).unwrap();
    let refused = |context: &TestContext, file: &str, said: &str| {
        let ran = auto(context, &["auto", "run", "--brief", file], "ideal");
        assert_eq!(ran.code, 64, "{file}: {}", ran.stderr);
        assert!(ran.stderr.contains(said), "{file}: {}", ran.stderr);
        assert!(!ran.stderr.contains("discuss-milestone"), "{file}: {}", ran.stderr);
    };
    let all = |context: &TestContext| {
        refused(context, "NOFILE.md", "`NOFILE.md` is not there, or empty");
        refused(context, "empty.md", "`empty.md` is not there, or empty");
        refused(context, "folder.md", "`folder.md` cannot be read");
    };
    all(&context);
    assert!(!context.project().join(".gsd").exists());
    let begun = auto(&context, &["auto", "run", "--brief", "A.md", "--max-units", "1"], "ideal");
    assert_eq!(begun.code, 0, "{}", begun.stderr);
    all(&context);
    // What the error asks for makes the printed command work.
    let words = ["auto", "run", "--brief", "NOFILE.md"];
    let ran = auto(&context, &words, "ideal");
    std::fs::copy(context.project().join("A.md"), context.project().join("NOFILE.md")).unwrap();
    let words: Vec<String> = printed(&ran.stderr, "gsd-tools auto run --brief");
    let words: Vec<&str> = words.iter().map(String::as_str).chain(["--max-units", "1"]).collect();
    assert_eq!(report(&auto(&context, &words, "ideal"))["stop"]["cause"], "units-done");
    let phases = whole_project();
    refused(&phases, "NOFILE.md", "`NOFILE.md` is not there, or empty");
    let ran = auto(&phases, &["auto", "run", "--brief", "README.md"], "ideal");
    assert!(ran.failure(1).contains("its roadmap says what they are for"));
    let begun = auto(&phases, &["auto", "run", "--max-units", "1"], "ideal");
    assert_eq!(begun.code, 0, "{}", begun.stderr);
    refused(&phases, "NOFILE.md", "`NOFILE.md` is not there, or empty");
    let ran = auto(&phases, &["auto", "run", "--brief", "README.md"], "ideal");
    assert!(ran.failure(1).contains("its roadmap says what they are for"));
}

#[test]
fn an_unfinished_run_does_not_continue_with_another_brief() {
    let context = with_briefs();
    let begun = auto(&context, &["auto", "run", "--brief", "A.md", "--max-units", "1"], "ideal");
    assert_eq!(report(&begun)["stop"]["cause"], "units-done", "{}", begun.stderr);
    assert_eq!(started(&context)[0]["brief_given"]["file"], "A.md");
    let other = |flags: &[&str]| {
        let ran = auto(&context, &[&["auto", "run", "--brief", "B.md"], flags].concat(), "ideal");
        assert_eq!((ran.code, ran.stdout.as_str()), (64, ""), "{}", ran.stderr);
        assert!(
            ran.stderr.contains("M001 is not finished and was begun with another brief (`A.md`)"),
            "{}",
            ran.stderr
        );
        ran
    };
    let refused = other(&[]);
    // The same text in another file is the same brief, from any folder.
    std::fs::copy(context.project().join("A.md"), context.home().join("copy.md")).unwrap();
    let copy = context.home().join("copy.md").to_string_lossy().into_owned();
    let same = auto(&context, &["auto", "run", "--brief", &copy, "--max-units", "1"], "ideal");
    assert_eq!(report(&same)["stop"]["cause"], "units-done", "{}", same.stderr);
    let again = auto(&context, &["auto", "run", "--brief", "A.md", "--again"], "ideal");
    assert!(again.failure(64).contains("M001 is not finished, and was begun with this brief"));
    let named = auto(&context, &["auto", "run", "M002", "--brief", "A.md"], "ideal");
    assert!(named.code != 0 && named.stderr.contains("gsd-tools auto abandon M001"), "{}", named.stderr);
    // Removed by hand, nothing sends the old brief.
    git(&context, &["worktree", "remove", "--force", "--force", ".gsd/worktrees/M001"]);
    git(&context, &["branch", "--quiet", "-D", "milestone/M001"]);
    let _ = other(&["--max-units", "1"]);
    let rest = follows(&context, &refused.stderr, "gsd-tools auto run");
    assert_eq!(report(&rest)["stop"]["cause"], "complete", "{}", rest.stderr);
    assert_eq!(report(&rest)["milestone"], "M001");
}

#[test]
fn the_printed_commands_end_the_run_and_begin_with_the_other_brief() {
    let context = with_briefs();
    auto(&context, &["auto", "run", "--brief", "A.md", "--max-units", "1"], "ideal").success();
    let refused = auto(&context, &["auto", "run", "--brief", "B.md"], "ideal");
    let words = printed(&refused.stderr, "gsd-tools auto abandon");
    let ended = context.gsd_with(words.iter().map(String::as_str).chain(["--yes"]), &[], "").json();
    assert_eq!(ended["ended"], true, "{ended:#}");
    let agent = compile::fake_agent().to_string_lossy().into_owned();
    let words = ["auto", "run", "--brief", "B.md", "--runner", "fake", "--runner-program", &agent];
    let ran = context.gsd_with(words, &[("FAKE_SHAPE", "1x1"), ("FAKE_ACTOR", "ideal")], "");
    assert_eq!(report(&ran)["stop"]["cause"], "complete", "{}", ran.stderr);
    let log = context.gsd(["auto", "log"]).json()["log"].as_str().unwrap().to_owned();
    let kept = std::path::Path::new(&log).with_file_name("brief.md");
    assert!(std::fs::read_to_string(kept).unwrap().starts_with("BETA"));
    assert_eq!(started(&context)[1]["brief_given"]["file"], "B.md");
}

#[test]
fn a_run_without_a_brief_does_not_continue_with_one() {
    let context = with_briefs();
    commit(&context, ".gsd/milestones/M001/M001-CONTEXT.md", "# M001: Shelf\n\nFiles.\n");
    let begun = auto(&context, &["auto", "run", "--max-units", "1"], "ideal");
    assert_eq!(begun.code, 0, "{}", begun.stderr);
    let ran = auto(&context, &["auto", "run", "--brief", "B.md"], "ideal");
    assert!(ran.failure(64).contains("M001 is not finished and was begun without a brief"));
}

#[test]
fn a_brief_that_landed_is_answered_with_its_landing_and_begins_again_on_request() {
    let context = with_briefs();
    let mut landings = Vec::new();
    for file in ["A.md", "B.md"] {
        let ran = auto(&context, &["auto", "run", "--brief", file], "ideal");
        assert_eq!(report(&ran)["stop"]["cause"], "complete", "{}", ran.stderr);
        landings.push(report(&ran)["landed"].as_str().unwrap().to_owned());
        if file == "A.md" {
            clear(&context);
        }
    }
    let told = |file: &str| {
        let ran = auto(&context, &["auto", "run", "--brief", file], "ideal");
        assert_eq!((ran.code, &report(&ran)["stop"]["cause"]), (0, &Value::from("complete")), "{}", ran.stderr);
        report(&ran)
    };
    let first = told("A.md");
    let text = first["stop"]["text"].as_str().unwrap();
    assert!(text.starts_with(&format!("this brief landed as {} on ", &landings[0][..7])), "{text}");
    assert!(text.ends_with(" (M001)"), "{text}");
    assert_eq!((&first["landed"], &first["milestone"]), (&landings[0].as_str().into(), &"M001".into()));
    let second = told("B.md");
    assert!(second["stop"]["text"].as_str().unwrap().ends_with(" (M002)"), "{second:#}");
    // A landing that was taken out of the branch is named as such.
    git(&context, &["reset", "--quiet", "--hard", "HEAD~1"]);
    let gone = told("B.md");
    assert!(gone["stop"]["text"].as_str().unwrap().ends_with("; `main` no longer has that commit"), "{gone:#}");
    assert!(!told("A.md")["stop"]["text"].as_str().unwrap().contains("no longer"));
    // The printed command works on it once more.
    let next = gone["stop"]["next"].as_str().unwrap();
    assert!(next.starts_with("gsd-tools auto run --brief B.md") && next.ends_with(" --again"), "{next}");
    let words: Vec<&str> = next.split(' ').skip(1).collect();
    let ran = context.gsd_with(words, &[("FAKE_SHAPE", "2x2"), ("FAKE_ACTOR", "ideal")], "");
    assert_eq!((ran.code, &report(&ran)["milestone"]), (0, &Value::from("M002")), "{}", ran.stderr);
    assert_eq!(started(&context).len(), 3);
}

#[test]
fn runs_of_a_repository_that_was_here_before_do_not_count() {
    let context = with_briefs();
    let ran = auto(&context, &["auto", "run", "--brief", "A.md"], "ideal");
    assert_eq!(report(&ran)["stop"]["cause"], "complete", "{}", ran.stderr);
    // Two repositories whose first commits have the same contents and the same second are one repository.
    let renewed = |contents: &str| {
        std::fs::remove_dir_all(context.project().join(".git")).unwrap();
        let _ = std::fs::remove_dir_all(context.project().join(".gsd"));
        let _ = std::fs::remove_dir_all(context.project().join("src"));
        let _ = std::fs::remove_dir_all(context.project().join("checks"));
        git(&context, &["init", "--quiet", "--initial-branch=main"]);
        commit(&context, "other.txt", contents);
    };
    renewed("another project\n");
    assert!(started(&context).is_empty());
    let log = context.gsd(["auto", "log"]).json();
    assert!(log["entries_of_another_repository"].as_u64().unwrap() > 3, "{log:#}");
    let status = context.gsd(["auto", "status"]).json();
    assert!(status["session"].is_null() && status["cost"]["sessions"] == 0, "{status:#}");
    assert!(status["entries_of_another_repository"].as_u64().unwrap() > 3, "{status:#}");
    let seen = context.at_a_terminal("auto status", &[], "");
    let seen = String::from_utf8_lossy(&seen.stdout).into_owned();
    assert_eq!(seen.matches("about another repository").count(), 1, "{seen}");
    let begun = auto(&context, &["auto", "run", "--brief", "A.md", "--max-units", "1"], "ideal");
    assert_eq!(report(&begun)["stop"]["cause"], "units-done", "the same brief begins afresh: {}", begun.stderr);
    assert_eq!(started(&context).len(), 1);
    // One that is unfinished there has to be ended first.
    renewed("a third project\n");
    let status = context.gsd(["auto", "status"]).json();
    assert_eq!(status["next"]["stop"]["next"], "gsd-tools auto abandon M001", "{status:#}");
    for words in [&["auto", "run", "--brief", "B.md"][..], &["auto", "run", "--brief", "A.md"], &["auto", "run"]] {
        let ran = auto(&context, words, "ideal");
        assert!(ran.code != 0 && ran.stderr.contains("began in another repository"), "{words:?}: {}", ran.stderr);
        assert_eq!(printed(&ran.stderr, "gsd-tools auto abandon"), ["auto", "abandon", "M001"]);
    }
    let ended = context.gsd(["auto", "abandon", "M001", "--yes"]).json();
    assert_eq!((&ended["ended"], &ended["kept"]), (&true.into(), &Value::Array(Vec::new())), "{ended:#}");
    let ran = auto(&context, &["auto", "run", "--brief", "B.md"], "ideal");
    assert_eq!(report(&ran)["stop"]["cause"], "complete", "{}", ran.stderr);
}
