//! Documents about the code: which exist, and which commit they describe. Also skills and scores.

use crate::kit::TestContext;

fn git(context: &TestContext, arguments: &[&str]) -> String {
    let output = context.command("git").args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn the_map_of_the_code_is_stamped_with_its_commit() {
    let context = TestContext::new();
    let stack = ".planning/codebase/STACK.md";
    assert_eq!(context.gsd(["stamp-codebase-map"]).json()["reason"], "no-codebase-dir");
    context.write(stack, "# Stack\r\n\r\ntext\r\n");
    assert_eq!(context.gsd(["stamp-codebase-map"]).json()["reason"], "not-a-git-repo");
    git(&context, &["init", "-q", "-b", "main"]);
    git(&context, &["add", "."]);
    git(&context, &["commit", "-qm", "first"]);
    let commit = git(&context, &["rev-parse", "HEAD"]);
    assert!(context.gsd(["stamp-codebase-map", "--dry-run"]).json()["diff"].as_str().unwrap().contains(&commit));
    let report = context.gsd(["stamp-codebase-map"]).json();
    assert_eq!((&report["stamped"][0], &report["commit"]), (&"STACK.md".into(), &commit.as_str().into()));
    let text = context.read(stack);
    assert!(text.starts_with(&format!("---\r\nlast_mapped_commit: {commit}\r\n")), "{text}");
    assert!(text.ends_with("---\r\n# Stack\r\n\r\ntext\r\n"), "{text}");
    assert_eq!(context.gsd(["stamp-codebase-map"]).json()["updated"], false);
    context.write(".planning/codebase/TESTING.md", "---\nunclosed\n");
    let report = context.gsd(["stamp-codebase-map", "--files", "TESTING.md"]).json();
    assert_eq!((&report["failed"][0]["file"], report["stamped"].as_array().unwrap().len()), (&"TESTING.md".into(), 0));
    assert_eq!(context.read(".planning/codebase/TESTING.md"), "---\nunclosed\n");
    assert_eq!(context.gsd(["stamp-codebase-map", "--files"]).json()["reason"], "empty-codebase-map-file-filter");
}

#[test]
fn documentation_and_the_kind_of_project_are_reported() {
    let context = TestContext::new();
    context.write("README.md", "<!-- generated-by: gsd-doc-writer -->\n# x\n");
    context.write("docs/a.md", "# a\n");
    context.write("package.json", r#"{"bin":"x","workspaces":["packages/*"],"devDependencies":{"jest":"1"}}"#);
    let report = context.gsd(["docs-init"]).json();
    let kind = &report["project_type"];
    for fact in ["has_package_json", "has_cli_bin", "is_monorepo", "has_tests"] {
        assert_eq!(kind[fact], true, "{fact}");
    }
    assert_eq!((&kind["is_open_source"], &report["planning_exists"]), (&false.into(), &false.into()));
    assert_eq!(report["existing_docs"][1]["has_gsd_marker"], true);
    assert_eq!(report["monorepo_workspaces"][0], "packages/*");
}

#[test]
fn skills_of_the_project_and_of_the_user_are_listed() {
    let context = TestContext::new();
    assert_eq!(context.gsd(["skill-manifest"]).json()["counts"]["skills"], 0);
    context.write(".agents/skills/one/SKILL.md", "---\nname: gsd-one\ndescription: d\n---\n");
    let folder = context.home().join(".agents/skills/two");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("SKILL.md"), "bare\n").unwrap();
    let report = context.gsd(["skill-manifest"]).json();
    let told = |at: usize| (report["skills"][at]["name"].clone(), report["skills"][at]["root"].clone());
    assert_eq!(told(0), ("gsd-one".into(), ".agents/skills".into()));
    assert_eq!(told(1), ("two".into(), "~/.agents/skills".into()));
    assert_eq!(report["installation"]["gsd_skills_installed"], true);
    context.write(".planning/config.json", "{}");
    assert_eq!(context.gsd(["skill-manifest", "--write"]).json()["changed"][0]["created"], true);
    assert!(context.read(".planning/skill-manifest.json").contains("gsd-one"));
    let chosen = context.gsd(["skill-manifest", "--skills-dir", ".agents/skills"]).json();
    assert_eq!((&chosen["roots"][0]["scope"], &chosen["counts"]["skills"]), (&"custom".into(), &1.into()));
}

#[test]
fn an_evaluation_has_a_score_or_a_reason() {
    let context = TestContext::new();
    let score = |covered, infra| context.gsd(["eval", "score", "--covered", covered, "--total", "5", "--infra", infra]);
    let report = score("3", "ok,partial,missing,ok,ok").json();
    assert_eq!((&report["overall_score"], &report["verdict"]), (&64.into(), &"NEEDS WORK".into()));
    assert!(score("6", "ok,ok,ok,ok,ok").failure(1).contains("cannot be larger"));
    assert!(score("3", "ok,ok,ok,ok,no").failure(1).contains("`no` is not a value of `--infra`"));
    assert!(context.gsd(["eval", "score"]).failure(1).contains("--infra"));
}

#[test]
fn a_repository_inside_the_project_gets_its_own_branch() {
    let context = TestContext::new();
    context.write(".planning/config.json", "{}");
    context.write("sub/a.txt", "one\n");
    for arguments in [&["init", "-q", "-b", "main"][..], &["add", "."], &["commit", "-qm", "first"]] {
        git(&context, &[&["-C", "sub"], arguments].concat());
    }
    git(&context, &["init", "-q", "--bare", "remote.git"]);
    git(&context, &["-C", "sub", "remote", "add", "origin", "../remote.git"]);
    let call = |branch| context.gsd(["pr-subrepo", "message", "--repo", "sub", "--branch", branch]);
    assert_eq!(call("b1").json()["reason"], "nothing_to_commit");
    context.write("sub/a.txt", "two\n");
    context.write("sub/new.txt", "new\n");
    assert!(call("bad name").failure(1).contains("bad name"));
    let report = call("b1").json();
    assert_eq!((&report["committed"], &report["files"][0]), (&true.into(), &"a.txt".into()));
    assert_eq!((&report["untracked"][0], &report["remote_slug"]), (&"new.txt".into(), &serde_json::Value::Null));
    assert_eq!(git(&context, &["-C", "remote.git", "log", "-1", "--format=%s", "b1"]), "message");
    git(&context, &["-C", "sub", "remote", "set-url", "origin", "/nowhere"]);
    context.write("sub/a.txt", "three\n");
    let error = call("b2").failure(1);
    assert!(error.contains("git -C sub push --set-upstream origin b2"), "{error}");
    assert_eq!(git(&context, &["-C", "sub", "log", "-1", "--format=%s", "b2"]), "message");
    context.write("plain/a.txt", "one\n");
    for (repo, told) in [("../x", "outside the project"), ("none", "not found"), ("plain", "not a git repository")] {
        assert!(context.gsd(["pr-subrepo", "m", "--repo", repo, "--branch", "b"]).failure(1).contains(told), "{repo}");
    }
    assert!(context.gsd(["pr-subrepo", "m", "--branch", "b"]).failure(1).contains("needs --repo <REPO>"));
}
