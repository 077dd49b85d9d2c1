//! Several milestones in parallel: `/gsd-workstreams` with its words create, list, switch, progress and complete.

use serde_json::Value;

use super::Stage;
use crate::play::actor::Actor;

const MOVED: &[&str] = &["ROADMAP.md", "STATE.md", "REQUIREMENTS.md"];

/// The work so far becomes the workstream goodbyes; parties begins next to it, and is archived again.
pub(crate) fn workstreams(stage: &mut Stage) {
    stage.has("greet");
    stage.types("workstreams", "create parties", |it| {
        create(it);
        it.by("It is the active one now. Next Up: `").is_told(
            "Next Up: /gsd-new-milestone --ws parties",
            "workstreams",
            "list",
        );
        list(it, "parties");
        it.by("table: name, the active one marked ●").is_told("● parties, goodbyes", "workstreams", "switch goodbyes");
        it.by("| switch NAME |");
        it.knows("name", "goodbyes");
        it.runs("gsd-tools workstream set '{name}'", &[]).is("active", "goodbyes").is("set", true).done();
        it.by("`error`: show it with the names there are. Then `").is_told("goodbyes is active", "progress", "");
        // Every call of the session now applies to the workstream, without a flag.
        it.runs("gsd-tools init progress", &[]).is("milestone_name", "Greet").done();
        it.runs("gsd-tools roadmap analyze", &[]).is("phase_count", 2).is("current_phase", "1").done();
        it.runs("gsd-tools state get Progress", &[]).expects("0%").done();
        "Next Up: /gsd-discuss-phase 1".to_owned()
    });
    expect_side_by_side(stage);
    stage.types("workstreams", "progress", |it| {
        it.by("| progress |");
        let told = it.runs("gsd-tools workstream progress", &[]).json();
        let phases = |name: &str| of(&told, name)["phases"].clone();
        assert_eq!((phases("goodbyes"), phases("parties")), ("0/2".into(), "0/0".into()), "{told:#}");
        it.by("table with a bar each");
        "goodbyes ░░░░░░░░░░, parties ░░░░░░░░░░".to_owned()
    });
    // Archiving is not run unasked; this is what the client stores when a person approves the call permanently.
    stage.shell(
        "mkdir -p .claude && echo .claude/ >> .git/info/exclude && printf '{\"permissions\":{\"allow\":[\"Bash(%s workstream \
         complete:*)\"]}}' \"$HOME/.claude/gsd-core/bin/gsd-tools\" > .claude/settings.local.json",
    );
    stage.types("workstreams", "complete parties", complete);
    stage.expect_tidy_workstreams();
    assert_eq!(stage.shell("ls .planning/workstreams"), "goodbyes");
    assert_eq!(stage.shell("git ls-files '.planning/milestones/ws-parties-*' | sed 's:.*/::'"), "STATE.md");
    assert_eq!(stage.shell("git log -1 --format=%s"), "chore: archive workstream parties");
    let analyzed = stage.asks_program("roadmap analyze --ws goodbyes");
    assert_eq!(analyzed["phase_count"], 2, "{analyzed:#}");
}

impl Stage {
    /// Checks that nothing is left over in a project whose documents are in workstreams.
    fn expect_tidy_workstreams(&self) {
        self.expect_clean();
        assert_eq!(self.shell("git branch --format='%(refname:short)'"), "main", "another branch is left");
        assert_eq!(self.shell("find . -name '*.lock' -not -path './.git/*'"), "", "a lock is left");
    }
}

/// The entry of a workstream in an answer.
fn of<'a>(answer: &'a Value, name: &str) -> &'a Value {
    let workstreams = answer["workstreams"].as_array().unwrap();
    workstreams
        .iter()
        .find(|workstream| workstream["name"] == name)
        .unwrap_or_else(|| panic!("{name} is not in {answer:#}"))
}

fn expect_side_by_side(stage: &Stage) {
    stage.expect_tidy_workstreams();
    assert_eq!(stage.shell("git log -1 --format=%s"), "chore: create workstream parties");
    for name in MOVED {
        assert_eq!(stage.shell(&format!("ls .planning/{name} 2>/dev/null || true")), "", "{name} is in two places");
        let before = stage.shell(&format!("git show HEAD~1:.planning/{name}"));
        let after = stage.shell(&format!("cat .planning/workstreams/goodbyes/{name}"));
        assert_eq!(after, before, "{name} is not as it was");
        let history = stage.shell(&format!("git log --follow --format=%s -- .planning/workstreams/goodbyes/{name}"));
        assert_eq!(history.lines().count(), 2, "the history of {name} is lost: {history}");
    }
    assert_eq!(stage.shell("ls .planning/PROJECT.md .planning/workstreams/parties/STATE.md | wc -l").trim(), "2");
}

fn create(it: &mut Actor) {
    it.reads("references/ui.md").done();
    it.by("`mode` flat, and ROADMAP.md exists: the work so far becomes a workstream too");
    it.runs("gsd-tools workstream list", &[]).is("mode", "flat").done();
    it.by("Ask what it is called (its milestone's name as the recommended answer)")
        .asks("What is the work so far called?\n1. greet\n2. Another name", "goodbyes");
    it.knows("name", "parties");
    it.by("# with --migrate-name '{old}' after 1");
    let created = it.runs_with("gsd-tools workstream create '{name}'", &[], "--migrate-name 'goodbyes'");
    let created = created.is("created", true).is("migration.workstream", "goodbyes").json();
    let moved: Vec<&str> =
        created["migration"]["files_moved"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let tracked = it.by("those that git tracks").shell("git ls-files .planning").text;
    let paths: Vec<String> = moved
        .iter()
        .map(|name| format!(".planning/{name}"))
        .filter(|path| tracked.lines().any(|line| line.starts_with(path.as_str())))
        .map(|path| format!("'{path}'"))
        .collect();
    assert_eq!(paths.len(), MOVED.len(), "{paths:?}");
    it.runs("gsd-tools commit 'chore: create workstream {name}'", &[("what moved", &paths.join(" "))])
        .is("committed", true)
        .done();
}

fn list(it: &mut Actor, active: &str) {
    it.by("| list |");
    let told = it.runs("gsd-tools workstream list", &[]).is("count", 2).json();
    assert_eq!(of(&told, "goodbyes")["has_roadmap"], true, "{told:#}");
    it.runs("gsd-tools workstream get", &[]).is("active", active).done();
}

/// `/gsd-workstreams complete parties`, whose milestone never began.
fn complete(it: &mut Actor) -> String {
    it.reads("references/ui.md").done();
    it.knows("name", "parties");
    it.runs("gsd-tools workstream status '{name}'", &[]).is("found", true).done();
    it.by("ask **Complete its milestone first**").by("**Archive as it is** or **Cancel**").asks(
        "Its milestone is not archived.\n1. Complete its milestone first\n2. Archive as it is\n3. Cancel",
        "2. Archive as it is",
    );
    it.runs("gsd-tools workstream complete '{name}'", &[]).is("completed", true).is("reverted_to_flat", false).done();
    it.learns("archived_to", "archived_to");
    it.runs("gsd-tools commit 'chore: archive workstream {name}'", &[]).is("committed", true).done();
    it.by("Otherwise show the others; Next Up `");
    "Next Up: /gsd-workstreams switch goodbyes".to_owned()
}
