//! What must be true when a scenario ends: nothing is left over, and all views agree.

use serde_json::Value;

use super::stage::Stage;

impl Stage {
    /// Checks that everything is committed.
    pub(crate) fn expect_clean(&self) {
        assert_eq!(self.shell("git status --porcelain"), "", "the tree is not clean");
    }

    /// Checks that nothing is left over: no change, no branch, no worktree, no lock, no note.
    pub(crate) fn expect_tidy(&self) {
        self.expect_clean();
        assert_eq!(self.shell("git branch --format='%(refname:short)'"), "main", "another branch is left");
        assert_eq!(self.shell("git worktree list | wc -l").trim(), "1", "a worktree is left");
        assert_eq!(self.shell("git stash list"), "", "a stash is left");
        assert_eq!(
            self.shell("find . -name '*.lock' -not -path './.git/*'; find .git -name '*.lock'"),
            "",
            "a lock is left"
        );
        assert_eq!(self.shell("ls -d .gsd .claude/worktrees .planning/worktrees 2>/dev/null || true"), "");
        self.expect_no_notes_of_work();
    }

    /// Checks that of the notes that this computer keeps about projects only those remain that outlive work: approvals
    /// by a person, the settings as written, the stop of the automatic chain, and the cached content of documents and
    /// commits.
    fn expect_no_notes_of_work(&self) {
        let notes = self.shell("cd ~/.local/state/gsd-tools/projects 2>/dev/null && find . -type f || true");
        let outlives = ["/gates.json", "/written-settings.json", "/auto-chain.json", "/told.bin"];
        let is_kept = |note: &&str| note.contains("/commits/") || outlives.iter().any(|kept| note.ends_with(kept));
        let left: Vec<&str> = notes.lines().filter(|note| !is_kept(note)).collect();
        assert_eq!(left, Vec::<&str>::new(), "notes of finished work are left");
        assert_eq!(self.asks_program("check auto-mode")["auto_chain_active"], false, "a chain still runs");
        let parents = self.shell("cd ~/.local/state/gsd-tools/projects 2>/dev/null && ls | wc -l || echo 0");
        assert!(matches!(parents.trim(), "0" | "1"), "one project has the notes of several: {parents}");
    }

    /// Checks that STATE, ROADMAP, the payloads and the verification of each phase agree.
    pub(crate) fn expect_agreement(&self) {
        let (analyzed, progress) = (self.asks_program("roadmap analyze"), self.asks_program("init progress"));
        let state = self.asks_program("state json");
        let roadmap = self.context.read(".planning/ROADMAP.md");
        let phases = analyzed["phases"].as_array().unwrap();
        let closed = phases.iter().filter(|phase| phase["roadmap_complete"] == true).count();
        assert_eq!(
            state["progress"]["total_phases"],
            phases.len(),
            "STATE and roadmap count phases differently: {state}"
        );
        assert_eq!(
            state["progress"]["completed_phases"], closed,
            "STATE and roadmap disagree on closed phases: {state}"
        );
        // Each spells a number in its own way, `01` or `1`.
        let current = analyzed["current_phase"].as_str();
        match current {
            Some(number) => assert!(same(&progress["current_phase"]["number"], number), "{number}: {progress}"),
            None => assert!(progress["current_phase"].is_null(), "{progress}"),
        }
        for phase in phases.iter().filter(|phase| phase["plan_count"] != 0) {
            let number = phase["number"].as_str().unwrap();
            let ticked = roadmap.contains(&format!("- [x] **Phase {number}:"));
            assert_eq!(
                ticked,
                phase["roadmap_complete"] == true,
                "phase {number}: list and `roadmap analyze` disagree"
            );
            let listed = progress["phases"].as_array().unwrap().iter().find(|listed| same(&listed["number"], number));
            let listed = listed.unwrap_or_else(|| panic!("`init progress` does not list phase {number}"));
            assert_eq!(listed["plan_count"], phase["plan_count"], "phase {number}");
            assert_eq!(listed["summary_count"], phase["summary_count"], "phase {number}");
            if ticked {
                let folder = listed["directory"].as_str().unwrap();
                let verified = self.asks_program(&format!("verification status {folder}"));
                assert_eq!(verified["status"], "passed", "phase {number} is closed: {verified}");
            }
        }
    }
}

fn same(value: &Value, number: &str) -> bool {
    let bare = |text: &str| text.trim_start_matches('0').to_owned();
    value.as_str().is_some_and(|value| bare(value) == bare(number))
}
