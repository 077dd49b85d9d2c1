//! Workstreams: bytes survive every move, a session chooses for itself, and reading writes nothing.

use crate::kit::TestContext;

fn flat() -> TestContext {
    let context = TestContext::new();
    context.write(".planning/PROJECT.md", "# P\n");
    context.write(".planning/ROADMAP.md", "# R\r\n\r\n### Phase 1: A\r\n");
    context.write(".planning/STATE.md", "# S  \n");
    context.write(".planning/phases/01-a/01-01-PLAN.md", "plan\r\n");
    std::fs::write(context.project().join(".planning/phases/01-a/picture.bin"), [0xff, 0, 0xfe]).unwrap();
    std::fs::create_dir_all(context.project().join(".planning/phases/02-empty")).unwrap();
    context
}

#[test]
fn the_first_workstream_moves_every_byte() {
    let context = flat();
    let made = context.gsd(["workstream", "create", "web"]).json();
    assert_eq!(made["migration"]["workstream"], "default");
    let heir = context.project().join(".planning/workstreams/default");
    assert_eq!(std::fs::read(heir.join("phases/01-a/picture.bin")).unwrap(), [0xff, 0, 0xfe]);
    assert_eq!(context.read(".planning/workstreams/default/ROADMAP.md"), "# R\r\n\r\n### Phase 1: A\r\n");
    assert!(heir.join("phases/02-empty").is_dir());
    assert!(!context.project().join(".planning/phases").exists());
    assert_eq!(context.gsd(["workstream", "get", "--raw"]).success(), "web");
    let done = context.gsd(["workstream", "complete", "default"]).json();
    let archive = context.project().join(done["archived_to"].as_str().unwrap());
    assert_eq!(std::fs::read(archive.join("phases/01-a/picture.bin")).unwrap(), [0xff, 0, 0xfe]);
    assert!(!heir.exists());
    let done = context.gsd(["workstream", "complete", "web"]).json();
    assert_eq!(done["reverted_to_flat"], true);
    assert!(!context.project().join(".planning/active-workstream").exists());
    assert_eq!(context.gsd(["workstream", "list"]).json()["mode"], "flat");
}

#[cfg(unix)]
#[test]
fn a_workstream_that_contains_a_link_is_not_changed() {
    let context = flat();
    context.gsd(["workstream", "create", "web"]).success();
    context.write("elsewhere.md", "mine\n");
    let link = context.project().join(".planning/workstreams/default/phases/01-a/link.md");
    std::os::unix::fs::symlink(context.project().join("elsewhere.md"), &link).unwrap();
    assert!(context.gsd(["workstream", "complete", "default"]).failure(1).contains("link.md"));
    assert_eq!(context.read("elsewhere.md"), "mine\n");
    assert!(link.is_symlink() && !context.project().join(".planning/milestones").exists());
}

#[test]
fn a_session_chooses_for_itself() {
    let context = flat();
    context.gsd(["workstream", "create", "web"]).success();
    let session = [("TERM_SESSION_ID", "w1")];
    let own = |arguments: [&str; 3]| context.gsd_with(arguments, &session, "").success();
    let set: serde_json::Value = serde_json::from_str(&own(["workstream", "set", "default"])).unwrap();
    assert_eq!((&set["active"], &set["changed"][0]["new"]), (&"default".into(), &"default".into()));
    assert_eq!(own(["workstream", "get", "--raw"]), "default");
    assert_eq!(context.gsd(["workstream", "get", "--raw"]).success(), "web");
    let cleared: serde_json::Value = serde_json::from_str(&own(["workstream", "set", "--clear"])).unwrap();
    assert_eq!((&cleared["previous"], &cleared["active"]), (&"default".into(), &"web".into()));
    assert_eq!(context.gsd(["workstream", "set", "--clear"]).json()["active"], serde_json::Value::Null);
    assert_eq!(context.gsd(["workstream", "get", "--raw"]).success(), "none");
}

#[test]
fn a_pointer_to_a_missing_workstream_is_read_and_left() {
    let context = flat();
    context.write(".planning/active-workstream", "gone\n");
    assert_eq!(context.gsd(["workstream", "get"]).json()["active"], serde_json::Value::Null);
    assert_eq!(context.read(".planning/active-workstream"), "gone\n");
    assert_eq!(context.gsd(["workstream", "set", "a/b"]).json()["error"], "invalid_name");
    assert_eq!(context.gsd(["workstream", "complete", "none"]).json()["error"], "not_found");
    for arguments in [["workstream", "status", "a/b"], ["workstream", "complete", ".."], ["workstream", "create", "!"]]
    {
        assert!(context.gsd(arguments).failure(1).contains('`'));
    }
    assert!(!context.project().join(".planning/workstreams").exists());
}

#[test]
fn moving_into_a_workstream_can_be_rehearsed() {
    let context = flat();
    let shown = context.gsd(["workstream", "create", "web", "--dry-run", "--raw"]).success();
    assert!(shown.starts_with("--- ") && shown.contains("+++ b/.planning/active-workstream"), "{shown}");
    let shown = context.gsd(["workstream", "create", "web", "--dry-run"]).json();
    assert!(shown["diff"].as_str().unwrap().contains("rename to .planning/workstreams/default/"), "{shown:#}");
    assert!(!context.project().join(".planning/workstreams").exists());
    context.gsd(["workstream", "create", "web"]).success();
    let same = context.gsd(["workstream", "set", "web"]).json();
    assert_eq!((&same["updated"], &same["changed"]), (&false.into(), &serde_json::json!([])));
}
