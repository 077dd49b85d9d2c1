//! The work of a phase, found in its commits: files that no SUMMARY names, weakened tests, commits that do not exist.

use serde_json::{Value, json};

use crate::kit::TestContext;

const TESTS: &str = "import test from 'node:test';\nimport assert from 'node:assert';\nimport { add } from '../src/notes.js';\n\
    test('adds', () => { assert.equal(add(1, 2), 3); });\ntest('adds negatives', () => { assert.equal(add(-1, -2), -3); });\n";

const SUMMARY: &str = "---\nphase: 01-notes\nplan: 01\nkey-files:\n  created: []\n  modified: [src/notes.js]\nstatus: complete\n\
    ---\n# S\n\n**Notes add**\n\n## Task Commits\n\n1. **Task 1** - `HASH` (feat)\n\n## Self-Check: PASSED\n";

fn git(context: &TestContext, words: &[&str]) -> String {
    let output = context.command("git").args(words).output().unwrap();
    assert!(output.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn commit(context: &TestContext, subject: &str) -> String {
    git(context, &["add", "-A"]);
    git(context, &["commit", "-q", "-m", subject]);
    git(context, &["rev-parse", "HEAD"])
}

/// A project with two tests, and one plan that should change `src/notes.js`.
fn project() -> TestContext {
    let context = TestContext::new();
    git(&context, &["init", "-q", "-b", "main"]);
    context.write("package.json", "{\"name\": \"x\", \"scripts\": {\"test\": \"node --test\"}}\n");
    context.write("src/notes.js", "export const add = (a, b) => a + b;\n");
    context.write("test/notes.test.js", TESTS);
    context.write("test/more.test.js", &TESTS.replace("adds", "more"));
    context.write(".planning/ROADMAP.md", "# Roadmap\n\n### Phase 1: Notes\n**Goal**: notes\n");
    context.write(".planning/phases/01-notes/01-01-PLAN.md", &plan(""));
    commit(&context, "chore: begin");
    context
}

fn plan(more: &str) -> String {
    format!(
        "---\nphase: 01-notes\nplan: 01\nfiles_modified: [src/notes.js]\n---\n<objective>x</objective>\n<task type=\"auto\"><name>N</name>\
         <files>src/notes.js</files><action>a\n{more}\n</action><verify><automated>npm test</automated></verify><done>d</done></task>\n"
    )
}

/// Commits all files as the plan's work, and its SUMMARY.
fn done(context: &TestContext) {
    context.write("src/notes.js", "export const add = (a, b) => b + a;\n");
    let hash = commit(context, "feat(01-01): notes");
    context.write(".planning/phases/01-notes/01-01-SUMMARY.md", &SUMMARY.replace("HASH", &hash[..8]));
    commit(context, "docs(01-01): complete");
}

fn kinds(report: &Value, list: &str) -> Vec<String> {
    let findings = report[list].as_array().unwrap();
    findings.iter().map(|finding| finding["kind"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_test_that_a_phase_weakened_is_found_whatever_its_summary_says() {
    for (what, from, to, kind) in [
        ("an assertion is made constant", "assert.equal(add(1, 2), 3)", "assert.ok(true)", "constant-assertion"),
        ("a test is skipped", "test('adds negatives'", "test.skip('adds negatives'", "skipped"),
        ("a test is deleted", &TESTS[TESTS.find("test('adds negatives'").unwrap()..], "", "deleted-tests"),
        ("an expected value is what the code returns", "add(1, 2), 3", "add(1, 2), 4", "changed-expectation"),
        ("the expected value is computed by the code", "add(1, 2), 3", "add(1, 2), add(1, 2)", "constant-assertion"),
        ("an assertion is gone", "assert.equal(add(1, 2), 3);", "add(1, 2);", "removed-assertion"),
        ("one test runs alone", "test('adds',", "test.only('adds',", "only"),
    ] {
        let context = project();
        context.write("test/notes.test.js", &TESTS.replace(from, to));
        done(&context);
        let report = context.gsd(["verify", "tests", "--phase", "1"]).json();
        assert_eq!(report["clean"], false, "{what}: {report}");
        assert!(kinds(&report, "findings").iter().any(|found| found == kind), "{what}: {report}");
        assert_eq!(report["findings"][0]["path"], "test/notes.test.js", "{what}: {report}");
        let base = report["base"].as_str().unwrap().to_owned();
        let by_base = context.gsd(["verify", "tests", &base]).json();
        assert_eq!(kinds(&by_base, "findings"), kinds(&report, "findings"), "{what}");
    }
}

#[test]
fn a_line_that_looks_like_a_key_is_reported_by_its_place_and_never_shown() {
    const KEY: &str = concat!("gh", "p_0123456789abcdefABCDEF0123456789abcd");
    let asked = |context: &TestContext| {
        let reports =
            [context.gsd(["verify", "work", "1"]).json(), context.gsd(["verify", "tests", "--phase", "1"]).json()];
        assert_eq!(reports[0]["keys"], reports[1]["keys"]);
        reports[0].clone()
    };
    for path in ["src/token.js", "docs/setup.md", "test/keys.test.js", ".planning/phases/01-notes/01-NOTES.md"] {
        let context = project();
        assert_eq!(asked(&context)["keys"], Value::Null, "nothing was compared");
        context.write(path, &format!("// begin\n// {KEY}\n"));
        done(&context);
        let report = asked(&context);
        assert_eq!(report["keys"], json!([{"path": path, "line": 2, "kind": "ghp_"}]), "{report}");
        assert!(!report.to_string().contains(KEY), "{report}");
        context.write(path, "// begin\n");
        commit(&context, "fix(01): take it out");
        assert_eq!(asked(&context)["keys"], json!([]), "{path}");
    }
    let context = project();
    context.write("docs/old.md", KEY);
    commit(&context, "docs(00): of a person, before the phase");
    git(&context, &["mv", "docs/old.md", "docs/new.md"]);
    done(&context);
    assert_eq!(asked(&context)["keys"], json!([]), "it was there before, and only moved");
}

#[test]
fn a_test_file_that_a_phase_deleted_is_found_and_work_without_weaker_tests_is_clean() {
    let context = project();
    std::fs::remove_file(context.project().join("test/more.test.js")).unwrap();
    done(&context);
    let report = context.gsd(["verify", "tests", "--phase", "1"]).json();
    assert_eq!(kinds(&report, "findings"), ["deleted-tests"], "{report}");
    let files = context.gsd(["verify", "work", "1"]).json();
    assert_eq!(
        files["files"][1],
        json!({"path": "test/more.test.js", "change": "deleted", "is_test": true, "plans": ["01-01"], "reported": false})
    );

    let context = project();
    context
        .write("test/notes.test.js", &format!("{TESTS}test('adds zero', () => {{ assert.equal(add(0, 2), 2); }});\n"));
    done(&context);
    let report = context.gsd(["verify", "tests", "--phase", "1"]).json();
    assert_eq!((&report["clean"], &report["findings"], &report["problems"]), (&json!(true), &json!([]), &json!([])));
}

#[test]
fn changes_that_a_plan_allows_are_listed_separately() {
    let context = project();
    let allowing = plan("Allowed test changes: test/more.test.js (the feature goes)");
    context.write(".planning/phases/01-notes/01-01-PLAN.md", &allowing);
    commit(&context, "docs(01): plan again");
    context.write("test/more.test.js", &TESTS.replace("adds", "more").replace("test('more'", "test.skip('more'"));
    context.write("test/notes.test.js", &TESTS.replace("test('adds'", "test.skip('adds'"));
    done(&context);
    let report = context.gsd(["verify", "tests", "--phase", "1"]).json();
    let path = |list: &str| report[list][0]["path"].clone();
    assert_eq!(
        (path("findings"), path("allowed")),
        (json!("test/notes.test.js"), json!("test/more.test.js")),
        "{report}"
    );
    assert_eq!((&report["clean"], &report["findings"][1]), (&json!(false), &Value::Null), "{report}");
}

#[test]
fn a_file_that_no_summary_names_is_unreported_and_one_without_a_commit_is_reported() {
    let context = project();
    context.write("src/hidden.js", "export const x = 1;\n");
    done(&context);
    let path = ".planning/phases/01-notes/01-01-SUMMARY.md";
    context.write(path, &context.read(path).replace("created: []", "created: [src/promised.js]"));
    let files = context.gsd(["verify", "work", "1"]).json();
    assert_eq!(
        (&files["unreported"], &files["without_commit"]),
        (&json!(["src/hidden.js"]), &json!(["src/promised.js"]))
    );
    let checked = context.gsd(["plan", "check", "01-01"]).json();
    assert_eq!(checked["plans"][0]["unreported"], json!(["src/hidden.js"]), "{checked}");
    // A file that one plan reports and another one changed without reporting it; and one that no commit assigns to the
    // phase.
    context.write(".planning/phases/01-notes/01-02-PLAN.md", &plan("").replace("plan: 01", "plan: 02"));
    context.write("src/notes.js", "export const add = (a, b) => Number(a) + Number(b);\n");
    let hash = commit(&context, "feat(01-02): numbers");
    let second = SUMMARY.replace("HASH", &hash[..8]).replace("[src/notes.js]", "[]");
    context.write(".planning/phases/01-notes/01-02-SUMMARY.md", &second);
    context.write("src/extra.js", "1\n");
    commit(&context, "chore: tidy");
    let work = context.gsd(["verify", "work", "1"]).json();
    assert_eq!(work["unreported"], json!(["src/hidden.js", "src/notes.js"]), "{work}");
    assert_eq!(work["other_files"], json!(["src/extra.js"]), "{work}");
}

#[test]
fn a_file_that_a_plan_removes_is_reported_under_deleted() {
    let context = project();
    context.write("src/old.js", "export const old = 1;\n");
    commit(&context, "chore(00): of before");
    std::fs::remove_file(context.project().join("src/old.js")).unwrap();
    done(&context);
    let unreported = |context: &TestContext| context.gsd(["verify", "work", "1"]).json()["unreported"].clone();
    assert_eq!(unreported(&context), json!(["src/old.js"]));
    let path = ".planning/phases/01-notes/01-01-SUMMARY.md";
    let summary = context.read(path);
    context
        .write(path, &summary.replace("modified: [src/notes.js]", "modified: [src/notes.js]\n  deleted: [src/old.js]"));
    commit(&context, "docs(01-01): name what is gone");
    assert_eq!(unreported(&context), json!([]));
    let checked = context.gsd(["plan", "check", "01-01"]).json();
    assert_eq!(checked["plans"][0].get("findings"), None, "{checked}");
    assert_eq!(checked["finished"], true, "{checked}");
    context.write(path, &summary.replace("modified: [src/notes.js]", "modified: [src/notes.js, src/old.js]"));
    commit(&context, "docs(01-01): name it as if it were there");
    assert_eq!(
        context.gsd(["plan", "check", "01-01"]).json()["finished"],
        false,
        "what it is to have changed is not there"
    );
}

#[test]
fn a_commit_that_a_summary_invents_keeps_its_plan_from_being_finished() {
    let context = project();
    done(&context);
    assert_eq!(context.gsd(["plan", "check", "01-01"]).json()["finished"], true);
    let path = ".planning/phases/01-notes/01-01-SUMMARY.md";
    let text = context.read(path);
    let at = text.find(" - `").unwrap() + 4;
    context.write(path, &format!("{}deadbeef{}", &text[..at], &text[at + 8..]));
    commit(&context, "docs(01-01): say more");
    let checked = context.gsd(["plan", "check", "01-01"]).json();
    assert_eq!(checked["finished"], false);
    assert_eq!(checked["plans"][0]["findings"], json!(["commit `deadbeef` of its Task Commits does not exist"]));
}

#[test]
fn parallel_work_has_the_common_commit_of_both_plans_as_its_base() {
    let context = project();
    context.write(".planning/phases/01-notes/01-02-PLAN.md", &plan("").replace("plan: 01", "plan: 02"));
    let base = commit(&context, "docs(01): plan");
    git(&context, &["switch", "-q", "-c", "wave"]);
    context.write("src/two.js", "export const two = 2;\n");
    commit(&context, "feat(01-02): two");
    git(&context, &["switch", "-q", "main"]);
    context.write("test/notes.test.js", &TESTS.replace("test('adds'", "test.skip('adds'"));
    done(&context);
    git(&context, &["merge", "-q", "--no-ff", "-m", "chore: merge", "wave"]);
    let files = context.gsd(["verify", "work", "1"]).json();
    assert_eq!(files["base"], json!(base), "{files}");
    let paths: Vec<&str> =
        files["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["src/notes.js", "src/two.js", "test/notes.test.js"]);
    assert_eq!(kinds(&context.gsd(["verify", "tests", "--phase", "1"]).json(), "findings"), ["skipped"]);
}

#[test]
fn reverted_commits_and_those_of_an_earlier_phase_with_that_number_do_not_count() {
    let context = project();
    context.write("src/old.js", "1\n");
    // The plan of the current milestone is newer than this commit.
    std::fs::remove_file(context.project().join(".planning/phases/01-notes/01-01-PLAN.md")).unwrap();
    commit(&context, "feat(01-01): of the milestone before");
    context.write(".planning/phases/01-notes/01-01-PLAN.md", &plan(""));
    commit(&context, "docs(01): plan");
    context.write("src/wrong.js", "1\n");
    commit(&context, "feat(01-01): wrong");
    git(&context, &["revert", "--no-edit", "HEAD"]);
    done(&context);
    let files = context.gsd(["verify", "work", "1"]).json();
    assert_eq!((files["commits"].clone(), files["files"].as_array().unwrap().len()), (json!(1), 1), "{files}");
    assert_eq!(files["files"][0]["path"], "src/notes.js");
}

#[test]
fn a_phase_without_commits_is_not_clean() {
    let context = project();
    let report = context.gsd(["verify", "tests", "--phase", "1"]).json();
    assert_eq!((&report["clean"], &report["base"]), (&Value::Null, &Value::Null), "{report}");
    assert!(report["problems"][0].as_str().unwrap().contains("no commit has the scope of phase 01"), "{report}");
    let files = context.gsd(["verify", "work", "1"]).json();
    assert_eq!((&files["files"], &files["base"]), (&json!([]), &Value::Null));
    assert!(context.gsd(["verify", "tests", "--phase", "9"]).failure(1).contains("phase `9`"));
    assert!(context.gsd(["verify", "tests", "nonsense"]).failure(1).contains("nonsense"));
    assert!(context.gsd(["verify", "tests"]).failure(1).contains("BASE"));
    // Without a repository there is nothing to compare.
    let alone = TestContext::new();
    alone.write(".planning/ROADMAP.md", "### Phase 1: A\n");
    alone.write(".planning/phases/01-a/01-01-PLAN.md", "x");
    for call in [["verify", "work", "1"].as_slice(), &["verify", "tests", "--phase", "1"], &["verify", "tests", "HEAD"]]
    {
        let report = alone.gsd_of_many(call, &[]).json();
        assert!(report["problems"][0].as_str().unwrap().starts_with("there is no commit here"), "{call:?}: {report}");
        assert_eq!(report["clean"], Value::Null, "{call:?}");
    }
}

#[test]
fn uncommitted_work_is_reported_and_a_project_inside_a_repository_sees_its_own_files() {
    let context = project();
    done(&context);
    // A file that was only touched does not count as changed.
    let touched = std::fs::File::options().append(true).open(context.project().join("package.json")).unwrap();
    touched.set_modified(std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000)).unwrap();
    assert_eq!(context.gsd(["verify", "work", "1"]).json()["problems"], json!([]));
    context.write("src/later.js", "1\n");
    context.write("src/notes.js", "export const add = () => 0;\n");
    let report = context.gsd(["verify", "work", "1"]).json();
    assert_eq!(report["problems"], json!(["not committed, so not looked at: `src/notes.js`, `src/later.js`"]));

    let context = TestContext::new();
    git(&context, &["init", "-q", "-b", "main"]);
    context.write("other/x.js", "1\n");
    context.write("app/.planning/ROADMAP.md", "### Phase 1: A\n");
    context.write("app/.planning/phases/01-a/01-01-PLAN.md", "---\nfiles_modified: [src/a.js]\n---\n");
    context.write("app/test/a.test.js", TESTS);
    commit(&context, "chore: begin");
    context.write("app/src/a.js", "1\n");
    context.write("app/test/a.test.js", &TESTS.replace("test('adds'", "test.skip('adds'"));
    context.write("other/x.js", "2\n");
    commit(&context, "feat(01-01): a");
    let report = context.gsd(["--cwd", "app", "verify", "work", "1"]).json();
    assert_eq!(
        (&report["files"][0]["path"], &report["files"][1]["path"]),
        (&json!("src/a.js"), &json!("test/a.test.js"))
    );
    assert_eq!(report["files"].as_array().unwrap().len(), 2);
    let report = context.gsd(["--cwd", "app", "verify", "tests", "--phase", "1"]).json();
    assert_eq!(kinds(&report, "findings"), ["skipped"], "{report}");
}

#[test]
fn a_review_is_due_again_after_more_work_but_not_after_its_own_repairs() {
    let context = project();
    done(&context);
    let is_due = || {
        let entered = context.gsd(["loop", "enter", "execute:post", "1"]).json();
        entered["steps"].as_array().is_some_and(|steps| steps.iter().any(|step| step["skill"] == "code-review"))
    };
    let review = ".planning/phases/01-notes/01-REVIEW.md";
    assert!(is_due());
    context.write(review, "---\nstatus: issues_found\nfindings:\n  critical: 1\n---\n### CR-01: data is lost\n");
    commit(&context, "docs(01): add code review report");
    assert!(!is_due());
    context.write("src/notes.js", "export const add = (a, b) => Number(a) + b;\n");
    commit(&context, "fix(01): CR-01");
    context.write(
        ".planning/phases/01-notes/01-REVIEW-FIX.md",
        "---\nstatus: all_fixed\n---\n## Fixed\n\n### CR-01: data is lost\n",
    );
    commit(&context, "docs(01): add code review fix report");
    assert!(!is_due());
    // A plan that closes gaps brings new code.
    context.write("src/more.js", "export const more = 1;\n");
    context.write(".planning/phases/01-notes/01-02-PLAN.md", &plan("").replace("plan: 01", "plan: 02"));
    commit(&context, "feat(01-02): more");
    assert!(is_due());
}

#[test]
fn a_test_weakened_by_a_commit_without_a_scope_is_reported_and_the_tests_are_not_clean() {
    let skip = |context: &TestContext| {
        context.write("test/notes.test.js", &TESTS.replace("test('adds'", "test.skip('adds'"));
        commit(context, "test: fix flaky test");
    };
    for between in [false, true] {
        let context = project();
        if between {
            context.write("src/q.js", "1\n");
            commit(&context, "feat(01-01): q");
        }
        skip(&context);
        done(&context);
        let report = context.gsd(["verify", "tests", "--phase", "1"]).json();
        assert_eq!((&report["clean"], &report["findings"]), (&Value::Null, &json!([])), "{report}");
        let problem = report["problems"][0].as_str().unwrap();
        assert!(
            problem.starts_with("`test/notes.test.js` became weaker") && problem.contains("fix flaky"),
            "{problem}"
        );
        let work = context.gsd(["verify", "work", "1"]).json();
        assert_eq!(work["other_files"], json!(["test/notes.test.js"]), "{work}");
    }
    // Changes by a person that do not weaken a test, or that come after the phase, do not count.
    let context = project();
    context.write("test/more.test.js", &format!("{TESTS}// more\n"));
    commit(&context, "test: say more");
    done(&context);
    skip(&context);
    let report = context.gsd(["verify", "tests", "--phase", "1"]).json();
    assert_eq!(report["problems"], json!([]), "{report}");
    assert_ne!(report["clean"], false, "{report}");
}

#[test]
fn a_commit_belongs_to_its_phase_however_its_scope_is_written() {
    for subject in [
        "feat(1-1): x",
        "feat(1): x",
        "Feat(01-01): x",
        "feat(01-1): x",
        "feat(phase-1): x",
        "feat(01-01,01-02): x",
        "[01-01] x",
        "01-01: x",
    ] {
        let context = project();
        context.write("test/notes.test.js", &TESTS.replace("test('adds'", "test.skip('adds'"));
        commit(&context, subject);
        let report = context.gsd(["verify", "tests", "--phase", "1"]).json();
        assert_eq!(kinds(&report, "findings"), ["skipped"], "{subject}: {report}");
    }
    let context = project();
    context.write("src/q.js", "1\n");
    commit(&context, "feat(11-01): x");
    assert_eq!(context.gsd(["verify", "work", "1"]).json()["commits"], 0);
}

#[test]
fn changes_made_in_a_merge_and_reverted_reverts_are_work_of_the_phase() {
    let skipped = TESTS.replace("test('adds'", "test.skip('adds'");
    let context = project();
    git(&context, &["switch", "-q", "-c", "wave"]);
    context.write("src/z.js", "1\n");
    commit(&context, "feat(01-01): z");
    git(&context, &["switch", "-q", "main"]);
    context.write("x.md", "1\n");
    commit(&context, "docs: y");
    git(&context, &["merge", "-q", "--no-ff", "--no-commit", "wave"]);
    context.write("test/notes.test.js", &skipped);
    commit(&context, "chore(01-01): merge executor worktree");
    done(&context);
    assert_eq!(kinds(&context.gsd(["verify", "tests", "--phase", "1"]).json(), "findings"), ["skipped"]);

    let context = project();
    context.write("test/notes.test.js", &skipped);
    commit(&context, "feat(01-01): skip");
    git(&context, &["revert", "--no-edit", "HEAD"]);
    git(&context, &["revert", "--no-edit", "HEAD"]);
    done(&context);
    assert_eq!(kinds(&context.gsd(["verify", "tests", "--phase", "1"]).json(), "findings"), ["skipped"]);
}

#[test]
fn a_commit_in_a_summary_that_does_not_belong_to_its_plan_is_a_finding() {
    let context = project();
    // The full hash: eight digits without a letter may be a date.
    let before = git(&context, &["rev-parse", "HEAD"]);
    done(&context);
    context.write("src/q.js", "1\n");
    let gone = commit(&context, "feat(01-01): q");
    git(&context, &["commit", "-q", "--amend", "-m", "feat(01-01): q again"]);
    context.write("src/r.js", "1\n");
    let foreign = commit(&context, "feat(02-01): r");
    let path = ".planning/phases/01-notes/01-01-SUMMARY.md";
    let text = context.read(path);
    for (hash, why) in [
        (gone.as_str(), "is not in the history of this branch"),
        (foreign.as_str(), "is of another phase: `feat(02-01): r`"),
        (&before, "is older than the plan"),
        ("deadbeef", "does not exist"),
    ] {
        context.write(path, &text.replace(" (feat)\n", &format!(" (feat)\n2. Task 2 ({hash})\n")));
        commit(&context, "docs(01-01): more");
        let checked = context.gsd(["plan", "check", "01-01"]).json();
        assert_eq!(
            checked["plans"][0]["findings"],
            json!([format!("commit `{hash}` of its Task Commits {why}")]),
            "{checked}"
        );
    }
}

#[test]
fn a_file_that_the_body_of_a_summary_names_is_reported() {
    let context = project();
    context.write("src/hidden.js", "1\n");
    done(&context);
    let path = ".planning/phases/01-notes/01-01-SUMMARY.md";
    let files = "## Files Created/Modified\n\n- `src/hidden.js` - helper\n- `src/notes.js` - add\n\n## Self-Check";
    context.write(path, &context.read(path).replace("## Self-Check", files));
    commit(&context, "docs(01-01): more");
    assert_eq!(context.gsd(["verify", "work", "1"]).json()["unreported"], json!([]));
    assert_eq!(context.gsd(["plan", "check", "01-01"]).json()["plans"][0]["unreported"], Value::Null);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("/etc/passwd", context.project().join("src/link")).unwrap();
        commit(&context, "feat(01-01): link");
        assert_eq!(context.gsd(["verify", "work", "1"]).json()["unreported"], json!(["src/link"]));
    }
}
