//! What an update needs to know: the installation that applies, and the user's own files among ours.

use std::path::PathBuf;

use crate::kit::TestContext;

fn folder(context: &TestContext) -> PathBuf {
    context.home().join(".claude")
}

fn write(context: &TestContext, path: &str, text: &str) {
    let path = folder(context).join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

#[test]
fn the_installation_of_the_project_takes_precedence_over_that_of_the_user() {
    let context = TestContext::new();
    let none = "{\"installedVersion\":\"0.0.0\",\"scope\":\"UNKNOWN\",\"runtime\":\"\",\"gsdDir\":\"\"}\n";
    assert_eq!(context.gsd(["update-context"]).success(), none);
    let told = || context.gsd(["update-context"]).json();
    context.gsd(["install", "--host", "claude", "--global"]).success();
    let report = told();
    assert_eq!((&report["scope"], &report["runtime"]), (&"GLOBAL".into(), &"claude".into()));
    assert_eq!(report["installedVersion"], env!("CARGO_PKG_VERSION"));
    context.gsd(["install", "--host", "claude", "--local"]).success();
    assert_eq!(told()["scope"], "LOCAL");
}

#[test]
fn files_of_the_user_among_ours_are_found() {
    let context = TestContext::new();
    let home = folder(&context);
    let call = ["detect-custom-files", "--config-dir", home.to_str().unwrap()];
    assert!(context.gsd(call).failure(1).contains("there is no folder"));
    write(&context, "agents/gsd-mine.md", "mine");
    assert_eq!(context.gsd(call).json()["manifest_found"], false);
    context.gsd(["install", "--host", "claude", "--global"]).success();
    write(&context, "agents/other.md", "not with our prefix");
    write(&context, "projects/gsd-log.md", "no folder of ours");
    let report = context.gsd(call).json();
    assert_eq!(report["custom_files"], serde_json::json!(["agents/gsd-mine.md"]), "{report}");
    assert_eq!((&report["custom_count"], report["manifest_version"].is_string()), (&1.into(), true));
    write(&context, "gsd-file-manifest.json", "{");
    assert_eq!(context.gsd(call).json()["error"], "manifest parse error");
    assert!(context.gsd(["detect-custom-files"]).failure(1).contains("--config-dir"));
}

#[test]
fn files_are_restored_only_to_free_paths() {
    let context = TestContext::new();
    context.gsd(["install", "--host", "claude", "--global"]).success();
    let home = folder(&context);
    let managed = std::fs::read_dir(home.join("agents")).unwrap().next().unwrap().unwrap().file_name();
    let managed = format!("agents/{}", managed.to_string_lossy());
    for (path, text) in [("agents/gsd-mine.md", "mine"), ("hooks/gsd-q.js", "q"), (managed.as_str(), "not ours")] {
        write(&context, &format!("gsd-user-files-backup/{path}"), text);
    }
    write(&context, "hooks/gsd-q.js", "newer");
    let call = ["restore-custom-files", "--config-dir", home.to_str().unwrap()];
    let outcome = |report: &serde_json::Value, path: &str| {
        let entries = report["entries"].as_array().unwrap().clone();
        entries.into_iter().find(|entry| entry["path"] == path).unwrap()["outcome"].as_str().unwrap().to_owned()
    };
    let looked = context.gsd(call).json();
    assert_eq!(outcome(&looked, "agents/gsd-mine.md"), "eligible");
    assert!(!home.join("agents/gsd-mine.md").exists());
    let applied = context.gsd_with([&call[..], &["--apply"]].concat(), &[], "").json();
    assert_eq!(outcome(&applied, "agents/gsd-mine.md"), "restored");
    assert_eq!(outcome(&applied, "hooks/gsd-q.js"), "skipped_destination_exists");
    assert_eq!(outcome(&applied, &managed), "skipped_destination_managed");
    assert_eq!((&applied["restored_count"], &applied["skipped_count"]), (&1.into(), &2.into()));
    assert_eq!(std::fs::read_to_string(home.join("agents/gsd-mine.md")).unwrap(), "mine");
    assert_eq!(std::fs::read_to_string(home.join("hooks/gsd-q.js")).unwrap(), "newer");
    assert_eq!(outcome(&context.gsd(call).json(), "agents/gsd-mine.md"), "already_present");
}

#[cfg(unix)]
#[test]
fn no_file_is_restored_through_a_link_out_of_the_folder() {
    let context = TestContext::new();
    let home = folder(&context);
    write(&context, "gsd-user-files-backup/agents/gsd-a.md", "a");
    write(&context, "gsd-user-files-backup/hooks/x.js", "x");
    std::os::unix::fs::symlink("/etc/passwd", home.join("gsd-user-files-backup/gsd-link.md")).unwrap();
    std::fs::create_dir_all(context.home().join("elsewhere")).unwrap();
    std::os::unix::fs::symlink(context.home().join("elsewhere"), home.join("agents")).unwrap();
    let report = context.gsd(["restore-custom-files", "--config-dir", home.to_str().unwrap(), "--apply"]).json();
    let outcomes: Vec<&str> =
        report["entries"].as_array().unwrap().iter().map(|entry| entry["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["skipped_unsafe_path", "skipped_unsafe_path", "restored"]);
    assert!(std::fs::read_dir(context.home().join("elsewhere")).unwrap().next().is_none());
}
