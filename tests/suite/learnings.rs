//! Learnings, in the user's own folder.

use crate::kit::TestContext;

#[test]
fn learnings_outlive_the_project() {
    let context = TestContext::new();
    context.write(".planning/LEARNINGS.md", "# L\n\n## Use X\n\nBody.\n");
    context.write(".planning/phases/01-a/01-LEARNINGS.md", "## Lessons\n### Test first\nAlways.\n");
    assert_eq!(context.gsd(["learnings", "list"]).json()["count"], 0);
    let copied = context.gsd(["learnings", "copy"]).json();
    assert_eq!((&copied["total"], &copied["created"]), (&2.into(), &2.into()));
    assert_eq!(context.gsd(["learnings", "copy"]).json()["skipped"], 2);
    let found = context.gsd(["learnings", "query", "--tag", "test"]).json();
    assert_eq!((&found["count"], &found["learnings"][0]["learning"]), (&1.into(), &"Always.".into()));
    let id = found["learnings"][0]["id"].as_str().unwrap().to_owned();
    let file = context.home().join(".gsd/knowledge").join(format!("{id}.json"));
    assert!(file.is_file());
    assert_eq!(context.gsd(["learnings", "delete", &id]).json()["deleted"], true);
    assert!(!file.exists());
    assert_eq!(context.gsd(["learnings", "delete", &id]).json()["deleted"], false);
}

#[test]
fn only_old_readable_learnings_are_pruned() {
    let context = TestContext::new();
    let folder = context.home().join(".gsd/knowledge");
    std::fs::create_dir_all(&folder).unwrap();
    let old = "{\"id\":\"a-1\",\"date\":\"2020-01-01T00:00:00Z\"}";
    for (name, text) in [("a-1.json", old), ("b-1.json", "{"), ("notes.txt", "mine"), ("c-1.json", "{\"id\":\"c-1\"}")]
    {
        std::fs::write(folder.join(name), text).unwrap();
    }
    assert!(context.gsd(["learnings", "prune", "--older-than", "5x"]).failure(1).contains("90d"));
    let report = context.gsd(["learnings", "prune", "--older-than", "90d"]).json();
    assert_eq!(
        (&report["removed"], &report["kept"], &report["unreadable"][0]),
        (&1.into(), &1.into(), &"b-1.json".into())
    );
    assert!(!folder.join("a-1.json").exists() && folder.join("b-1.json").exists() && folder.join("notes.txt").exists());
    assert!(context.gsd(["learnings", "delete", "../x-1"]).failure(1).contains("not the id of a learning"));
    assert!(context.gsd(["learnings", "query", "x"]).failure(1).contains("--tag"));
}
