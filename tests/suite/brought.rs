//! Whatever a run would execute from the repository is shown and approved once. A hostile clone runs nothing before
//! that.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};

use crate::auto::{git, report};
use crate::kit::{Ran, TestContext};
use crate::scripted;

/// The variables of a call that approves nothing.
const NOTHING: &[(&str, &str)] = &[("GSD_APPROVED", "")];

const CONTEXT: &str = "# M001: More\n\n## Decisions\n\n- One by one.\n";
const ROADMAP: &str = "# M001: More\n\n**Vision:** more\n\n## Success Criteria\n\n- all tests pass\n\n## Slices\n\n\
    - [ ] **S01: More** `risk:low` `depends:[]`\n  > After this: there is more\n";
const TASK: &str = "---\nestimated_steps: 2\nestimated_files: 2\nskills_used: []\n---\n\n# T01: More\n\n## Description\n\nMore.\n\n\
    ## Steps\n\n1. Write.\n\n## Must-Haves\n\n- [ ] more\n\n## Verification\n\n- all tests pass\n\n## Inputs\n\n- none\n\n\
    ## Expected Output\n\n- `more.txt`\n";
const SLICE: &str = ".gsd/milestones/M001/slices/S01";
const PHASE: &str = ".planning/phases/01-base";

fn slice_plan(checks: &[&str]) -> String {
    let verify = checks.join(" && ");
    format!(
        "# S01: More\n\n**Roadmap:** S01: More `risk:low` `depends:[]`\n**Goal:** more\n**Demo:** more\n\n## Must-Haves\n\n- more\n\n\
         ## Verification\n\n- `sh slice.sh`\n\n## Tasks\n\n- [ ] **T01: More** `est:10m`\n  - Why: needed\n  - Files: `more.txt`\n  \
         - Verify: {verify}\n"
    )
}

fn phase_plan(checks: &[&str]) -> String {
    let verify: Vec<String> =
        checks.iter().map(|check| format!("  <verify><automated>{check}</automated></verify>\n")).collect();
    let verify = verify.concat();
    format!(
        "---\nphase: 01\nplan: 01\ntype: execute\nwave: 1\ndepends_on: []\nfiles_modified: [more.txt]\nautonomous: true\n---\n\n\
         <objective>\nMore.\n</objective>\n\n<tasks>\n<task type=\"auto\">\n  <name>Task 1: More</name>\n  <files>more.txt</files>\n  \
         <action>Write.</action>\n{verify}  <done>More.</done>\n</task>\n</tasks>\n"
    )
}

/// What a clone may plant, in the words that the question must show.
const PLANTED: &[&str] = &[
    "sh verify.sh",
    "make test",
    "in each new worktree: sh setup.sh",
    "copied there, of your ignored files: .env",
    "touch \"$MARKS/hook\"",
    "-c touch \"$MARKS/server\"",
    "touch \"$MARKS/linked\"",
    ".claude/agents/helper.md",
];

/// A clone in which everything that may run leaves a mark, with a decoy home.
fn hostile(in_phases: bool) -> TestContext {
    let context = TestContext::on_disk();
    let mark = |name: &str| format!("touch \"$MARKS/{name}\"\n");
    for (path, name) in [("verify.sh", "verify"), ("slice.sh", "slice"), ("setup.sh", "setup")] {
        context.write(path, &mark(name));
    }
    context.write("Makefile", "test:\n\ttouch \"$(MARKS)/make\"\n");
    context.write(".worktreeinclude", ".env\n");
    context.write(".gsd/PREFERENCES.md", "---\ngit:\n  worktree_post_create: sh setup.sh\n---\n");
    let hook =
        json!({"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "touch \"$MARKS/hook\""}]}]}});
    context.write(".claude/settings.json", &hook.to_string());
    let server = json!({"mcpServers": {"tools": {"command": "sh", "args": ["-c", "touch \"$MARKS/server\""]}}});
    context.write(".mcp.json", &server.to_string());
    context.write(".claude/agents/helper.md", "---\nname: helper\n---\n\nHelp.\n");
    context.write("data/plugin/more.json", "{\"command\": \"touch \\\"$MARKS/linked\\\"\"}");
    std::os::unix::fs::symlink("../data/plugin", context.project().join(".claude/plugin")).unwrap();
    if in_phases {
        context.write(".planning/ROADMAP.md", crate::auto_phases::ROADMAP);
        context.write(".planning/STATE.md", crate::auto_phases::STATE);
        context.write(&format!("{PHASE}/01-CONTEXT.md"), "# Context\n\n## Decisions\n\n- One by one.\n");
        context.write(&format!("{PHASE}/01-01-PLAN.md"), &phase_plan(&["sh verify.sh"]));
        context.gsd(["install", "--global", "--claude"]).success();
    } else {
        context.write(".gsd/milestones/M001/M001-CONTEXT.md", CONTEXT);
        context.write(".gsd/milestones/M001/M001-ROADMAP.md", ROADMAP);
        context.write(&format!("{SLICE}/S01-PLAN.md"), &slice_plan(&["sh verify.sh"]));
        context.write(&format!("{SLICE}/tasks/T01-PLAN.md"), TASK);
    }
    git(&context, &["init", "--quiet", "--initial-branch=main"]);
    git(&context, &["add", "--all", "--force"]);
    git(&context, &["commit", "--quiet", "--message=start"]);
    for (path, text) in [(".ssh/id_rsa", "a key\n"), (".bashrc", "# mine\n")] {
        let path = context.home().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    std::fs::create_dir_all(context.temporary().join("marks")).unwrap();
    client(&context);
    context
}

/// A fake client: like the real one, it runs the hook of the project unless its arguments leave out the project
/// settings. It records how it was called.
fn client(context: &TestContext) {
    let program = context.home().join("client");
    let text = "#!/bin/sh\necho \"$@\" >> \"$MARKS/../calls\"\ncase \"$*\" in *--setting-sources\\ user*) ;; *) touch \"$MARKS/hook\" ;; esac\nexit 1\n";
    std::fs::write(&program, text).unwrap();
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).map(|entries| entries.map(|entry| entry.unwrap())).into_iter().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn marks(context: &TestContext) -> Vec<String> {
    names(&context.temporary().join("marks"))
}

/// The words of a call with the fake client.
fn words(context: &TestContext, more: &[&str]) -> Vec<String> {
    let program = context.home().join("client").to_string_lossy().into_owned();
    let words = ["auto", "run", "--runner", "claude", "--runner-program", &program];
    words.iter().chain(more).map(|word| (*word).to_owned()).collect()
}

fn call(context: &TestContext, more: &[&str], variables: &[(&str, &str)]) -> Ran {
    let marks = context.temporary().join("marks").to_string_lossy().into_owned();
    context.gsd_unapproved(words(context, more), &[&[("MARKS", marks.as_str())], variables].concat(), "")
}

/// Without a fence, the fake client can record how it was called.
const OPEN: &[&str] = &["--no-fence"];

fn stop(ran: &Ran) -> Value {
    report(ran)["stop"].clone()
}

fn not_approved(ran: &Ran) -> Value {
    let stop = stop(ran);
    assert_eq!((ran.code, &stop["cause"]), (10, &json!("not-approved")), "{stop:#}\n{}", ran.stderr);
    stop
}

fn digest(command: &str) -> String {
    let (_, rest) = command.split_once("GSD_APPROVED=").unwrap_or_else(|| panic!("{command}"));
    rest.split(' ').next().unwrap().to_owned()
}

fn lines(stop: &Value) -> Vec<String> {
    stop["evidence"].as_array().unwrap().iter().map(|line| line.as_str().unwrap().to_owned()).collect()
}

/// The files below the home, except the state of our program.
fn home(context: &TestContext) -> Vec<String> {
    names(&context.home()).into_iter().filter(|name| name != ".local").collect()
}

#[test]
fn a_hostile_clone_runs_nothing_unasked_and_the_question_shows_all_of_it() {
    for in_phases in [false, true] {
        let context = hostile(in_phases);
        let before = home(&context);
        let (folder, head) = (if in_phases { ".planning" } else { ".gsd" }, git(&context, &["rev-parse", "HEAD"]));
        for profile in ["safe", "unattended"] {
            let stop = not_approved(&call(&context, &["--profile", profile], &[]));
            let shown = lines(&stop).join("\n");
            let expected = PLANTED.iter().copied().chain((!in_phases).then_some("sh slice.sh"));
            for planted in expected {
                assert!(shown.contains(planted), "{in_phases} {profile}: `{planted}` is not in\n{shown}");
            }
            assert!(stop["text"].as_str().unwrap().contains("this is not a terminal"), "{stop:#}");
            let approved = digest(stop["next"].as_str().unwrap());
            for (value, agent) in
                [(approved.as_str(), "CLAUDECODE"), (approved.as_str(), "GEMINI_CLI"), ("yes", "MINE")]
            {
                let stop =
                    not_approved(&call(&context, &["--profile", profile], &[("GSD_APPROVED", value), (agent, "")]));
                let is_agent = agent != "MINE";
                assert_eq!(stop["text"].as_str().unwrap().contains(&format!("{agent} is set")), is_agent, "{stop:#}");
                assert_eq!(stop["next"].as_str().unwrap().starts_with("gsd-tools auto run"), is_agent, "{stop:#}");
            }
        }
        assert_eq!(marks(&context), Vec::<String>::new(), "{in_phases}");
        assert!(
            !context.temporary().join("calls").exists() && !context.project().join(folder).join("worktrees").exists()
        );
        assert_eq!((home(&context), git(&context, &["rev-parse", "HEAD"])), (before, head));
        assert_eq!(git(&context, &["branch", "--list"]), "* main");
    }
}

#[test]
fn approvals_are_remembered_and_only_new_items_are_asked_about() {
    let context = hostile(false);
    let first = not_approved(&call(&context, OPEN, &[]));
    let approved = digest(first["next"].as_str().unwrap());
    let ran = call(&context, OPEN, &[("GSD_APPROVED", &approved)]);
    assert_ne!(stop(&ran)["cause"], "not-approved", "{}", ran.stderr);
    let calls = std::fs::read_to_string(context.temporary().join("calls")).unwrap();
    assert!(!calls.contains("--setting-sources") && marks(&context).contains(&"hook".to_owned()), "{calls}");
    assert_ne!(stop(&call(&context, OPEN, &[]))["cause"], "not-approved", "it is remembered");

    // Another clone on the same computer is another repository.
    let context = hostile(false);
    not_approved(&call(&context, OPEN, &[]));

    // Shows only the difference, with the digest of everything.
    let context = project(&[("Makefile", "test:\n\ttest -d src || true\n")]);
    let first = not_approved(&shelf(&context, BEGIN, &[], NOTHING));
    let approved = digest(first["next"].as_str().unwrap());
    let ran = shelf(&context, BEGIN, &[], &[("GSD_APPROVED", &approved)]);
    assert_eq!((ran.code, &stop(&ran)["cause"]), (0, &json!("complete")), "{:#}\n{}", stop(&ran), ran.stderr);
    std::fs::write(context.home().join("brief.md"), "Make a second shelf.\n").unwrap();
    context.write(".worktreeinclude", ".env\n");
    git(&context, &["add", "--all"]);
    git(&context, &["commit", "--quiet", "--message=more"]);
    let changed = not_approved(&shelf(&context, BEGIN, &[], NOTHING));
    assert_eq!(lines(&changed)[0], "copied there, of your ignored files: .env", "{changed:#}");
    assert!(!lines(&changed).iter().any(|line| line.contains("make test")), "{changed:#}");
    let both = digest(changed["next"].as_str().unwrap());
    assert_ne!(both, approved);
    let ran = shelf(&context, &[BEGIN, &["--max-units", "1"]].concat(), &[], &[("GSD_APPROVED", &both)]);
    assert_eq!((ran.code, &stop(&ran)["cause"]), (0, &json!("units-done")), "{:#}\n{}", stop(&ran), ran.stderr);
}

#[test]
fn the_rest_can_be_approved_without_the_project_settings() {
    let context = hostile(false);
    let all = not_approved(&call(&context, OPEN, &[]));
    let way = lines(&all).into_iter().find(|line| line.contains("--no-project-settings")).unwrap();
    let (rest, whole) = (digest(&way), digest(all["next"].as_str().unwrap()));
    assert_ne!(rest, whole);
    let without = ["--no-fence", "--no-project-settings"];
    let stop_without = not_approved(&call(&context, &without, &[]));
    assert_eq!(digest(stop_without["next"].as_str().unwrap()), rest);
    assert!(!stop_without.to_string().contains("MARKS/hook"), "{stop_without:#}");
    not_approved(&call(&context, OPEN, &[("GSD_APPROVED", &rest)]));
    let ran = call(&context, &without, &[("GSD_APPROVED", &rest)]);
    assert_ne!(stop(&ran)["cause"], "not-approved", "{}", ran.stderr);
    let calls = || std::fs::read_to_string(context.temporary().join("calls")).unwrap();
    assert!(calls().contains("--setting-sources user") && !marks(&context).contains(&"hook".to_owned()), "{}", calls());
    // This applies to the whole run, until a call asks for the project settings; then there is a question.
    let ran = call(&context, OPEN, &[]);
    assert_ne!(stop(&ran)["cause"], "not-approved", "{}", ran.stderr);
    assert!(!marks(&context).contains(&"hook".to_owned()), "{}", calls());
    let asked = not_approved(&call(&context, &["--no-fence", "--project-settings"], &[]));
    assert!(asked.to_string().contains("MARKS/hook") && !asked.to_string().contains("sh verify.sh"), "{asked:#}");
    // For other clients it is unknown how to leave the settings out.
    let program = context.home().join("client").to_string_lossy().into_owned();
    let words = ["auto", "run", "--runner", "gemini", "--runner-program", &program, "--no-project-settings"];
    let refused = context.gsd_unapproved(words, NOTHING, "");
    assert!(refused.code != 0 && refused.stderr.contains("is not known"), "{}", refused.stderr);
}

#[test]
fn a_person_at_a_terminal_gets_one_question_with_no_as_the_default() {
    let context = hostile(false);
    let line = words(&context, OPEN).iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ");
    // `--yes` answers the question about the run, never this one.
    let line = line + " --yes";
    let place = context.temporary().join("marks").to_string_lossy().into_owned();
    let ask = |keys: &str, more: &[(&str, &str)]| {
        let variables = [&[("MARKS", place.as_str())], more].concat();
        let output = context.at_a_terminal_of(300, &line, &variables, keys);
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    for keys in ["\n", "n"] {
        let (code, shown) = ask(keys, &[]);
        assert_eq!(code, Some(10), "{shown}");
        for planted in PLANTED {
            assert!(shown.contains(planted), "`{planted}` is not in\n{shown}");
        }
        assert!(shown.contains("Allow it to run") && shown.contains("nothing was started"), "{shown}");
        assert_eq!(marks(&context), Vec::<String>::new());
    }
    let (code, shown) = ask("y", &[("CLAUDECODE", "1")]);
    assert!(code == Some(77) && shown.contains("CLAUDECODE is set") && marks(&context).is_empty(), "{shown}");
    let (_, shown) = ask("y", &[]);
    assert!(!shown.contains("not approved") && marks(&context).contains(&"hook".to_owned()), "{shown}");
    assert_ne!(stop(&call(&context, OPEN, &[]))["cause"], "not-approved", "it is remembered");
}

/// A repository with a brief and these files.
fn project(files: &[(&str, &str)]) -> TestContext {
    let context = crate::auto::project();
    for (path, text) in files {
        context.write(path, text);
    }
    git(&context, &["add", "--all"]);
    git(&context, &["commit", "--quiet", "--allow-empty", "--message=files"]);
    context
}

fn shelf(context: &TestContext, words: &[&str], rows: &[Value], variables: &[(&str, &str)]) -> Ran {
    scripted::run(context, words, rows, &[&[("FAKE_SHAPE", "1x1")], variables].concat())
}

const BEGIN: &[&str] = &["auto", "run", "--brief", "BRIEF"];

#[test]
fn files_written_by_planners_and_units_of_a_run_are_never_asked_about() {
    let context = project(&[]);
    let makes = scripted::row(
        "execute-task M001/S01/T01",
        None,
        &[json!({ "ideal": true }), json!({ "sh": "printf 'test:\\n\\ttest -d src\\n' > Makefile" })],
    );
    let ran = shelf(&context, BEGIN, &[makes], NOTHING);
    assert_eq!((ran.code, &stop(&ran)["cause"]), (0, &json!("complete")), "{}", ran.stderr);
    std::fs::write(context.home().join("brief.md"), "Make a second shelf.\n").unwrap();
    let ran = shelf(&context, &[BEGIN, &["--max-units", "1"]].concat(), &[], NOTHING);
    assert_eq!((ran.code, &stop(&ran)["cause"]), (0, &json!("units-done")), "{:#}\n{}", stop(&ran), ran.stderr);
    // A file that a person commits needs approval.
    let context = project(&[("Makefile", "test:\n\ttest -d src\n")]);
    let ran = shelf(&context, BEGIN, &[], NOTHING);
    assert!(not_approved(&ran).to_string().contains("check: make test (make)"), "{}", ran.stdout);
}

#[test]
fn without_a_fence_no_unapproved_check_runs() {
    let context = project(&[]);
    let unfenced = [BEGIN, &["--no-fence"]].concat();
    let ran = shelf(&context, &unfenced, &[], NOTHING);
    let stopped = not_approved(&ran);
    assert!(stopped["text"].as_str().unwrap().contains("without a fence"), "{stopped:#}");
    assert!(!ran.stderr.contains("execute-task"), "no session begins whose check may not run: {}", ran.stderr);
    let asked = not_approved(&shelf(&context, &["auto", "run"], &[], NOTHING));
    assert!(lines(&asked)[0].starts_with("check: sh checks/"), "{asked:#}");
    let approved = digest(asked["next"].as_str().unwrap());
    let ran = shelf(&context, &["auto", "run"], &[], &[("GSD_APPROVED", &approved)]);
    assert_eq!((ran.code, &stop(&ran)["cause"]), (0, &json!("complete")), "{:#}\n{}", stop(&ran), ran.stderr);
}

#[test]
fn a_repository_that_brings_nothing_to_run_is_not_asked_about() {
    let context = project(&[("CLAUDE.md", "# Project\n"), (".github/workflows/ci.yml", "on: push\n")]);
    let ran = shelf(&context, BEGIN, &[], NOTHING);
    assert_eq!((ran.code, &stop(&ran)["cause"]), (0, &json!("complete")), "{:#}\n{}", stop(&ran), ran.stderr);
}
