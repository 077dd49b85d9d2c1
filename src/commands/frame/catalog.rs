//! What each command does to the user's files. One line per command; a test holds the table equal to the clap trees.

/// How far a command reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Changes nothing.
    Read,
    /// Adds to documents or changes them; can be rehearsed with `--dry-run`.
    Write,
    /// Works through another program, on files that are no documents, or by moving whole folders; can be rehearsed with
    /// `--dry-run`.
    Act,
    /// As [`Self::Act`], but what it does is what was asked for, such as running a program: there is no rehearsal.
    Run,
    /// Takes something away; can be rehearsed with `--dry-run`.
    Destructive,
}

impl Effect {
    /// Whether the command changes documents, so that the flags of writers hold for it.
    pub(crate) fn writes(self) -> bool {
        matches!(self, Self::Write | Self::Destructive)
    }

    /// Whether the command can show what it would do, and do nothing.
    pub(crate) fn rehearses(self) -> bool {
        self.writes() || self == Self::Act
    }
}

/// Acts that the loop needs at every step: they run without asking, as what reads and what writes documents does.
const UNASKED_ACTS: &[&str] = &[
    "auto-chain start",
    "auto-chain stop",
    "commit",
    "dispatch-isolation",
    "gate run",
    "plan close",
    "plan record",
    "record-dispatch-isolation",
    "worktree cleanup-wave",
    "worktree create",
    "worktree create-wave",
    "worktree record-agent",
];

/// Commands that a person is asked about although they read or write: they change what is installed or what a host shows,
/// or write outside the project.
const ASKED: &[&str] = &[
    "capability disable",
    "capability enable",
    "capability install",
    "capability remove",
    "capability set",
    "capability trust revoke",
    "capability update",
    "install",
    "package",
    "research-store put",
    "uninstall",
];

/// Whether an agent may run the command without a person being asked. In the session of an agent such a command takes no
/// `--force` and works on its own project only.
pub(crate) fn unasked(path: &str) -> bool {
    match effect(path) {
        None => false,
        Some(Effect::Read | Effect::Write | Effect::Destructive) => !ASKED.contains(&path),
        Some(Effect::Act | Effect::Run) => UNASKED_ACTS.contains(&path),
    }
}

/// The beginnings of calls that run without asking: the first word, where all commands below it do, else the whole path.
pub(crate) fn unasked_calls() -> Vec<&'static str> {
    let first = |path: &'static str| path.split(' ').next().unwrap_or(path);
    // What asks which program this is changes nothing either.
    let mut calls: Vec<&'static str> = vec!["--version"];
    for (path, _) in CATALOG.iter().filter(|(path, _)| unasked(path)) {
        let word = first(path);
        let whole = CATALOG.iter().filter(|(other, _)| first(other) == word).all(|(other, _)| unasked(other));
        let call = if whole { word } else { path };
        if calls.last() != Some(&call) {
            calls.push(call);
        }
    }
    calls
}

/// What the command at `path` does; none for a word that only leads to others.
pub(crate) fn effect(path: &str) -> Option<Effect> {
    CATALOG.iter().find(|(listed, _)| *listed == path).map(|(_, effect)| *effect)
}

/// Command path, effect.
pub(in crate::commands) const CATALOG: &[(&str, Effect)] = &[
    ("agent classify-failure", Effect::Read),
    ("agent-skills", Effect::Read),
    ("assumption-delta scan", Effect::Read),
    ("audit-open", Effect::Read),
    ("audit-open acknowledge", Effect::Write),
    ("audit-uat", Effect::Read),
    ("auto-chain start", Effect::Act),
    ("auto-chain stop", Effect::Act),
    ("capability disable", Effect::Write),
    ("capability enable", Effect::Write),
    ("capability install", Effect::Read),
    ("capability list", Effect::Read),
    ("capability outdated", Effect::Read),
    ("capability remove", Effect::Read),
    ("capability set", Effect::Write),
    ("capability state", Effect::Read),
    ("capability trust list", Effect::Read),
    ("capability trust revoke", Effect::Read),
    ("capability update", Effect::Read),
    ("check api-coverage-verify-pre", Effect::Read),
    ("check auto-mode", Effect::Read),
    ("check decision-coverage-plan", Effect::Read),
    ("check decision-coverage-verify", Effect::Read),
    ("check gap-analysis-plan-post", Effect::Read),
    ("check predicate", Effect::Read),
    ("check prohibition-enforcement", Effect::Read),
    ("check tdd-red-evidence", Effect::Read),
    ("check tdd-review-checkpoint", Effect::Read),
    ("check ui-plan-gate", Effect::Read),
    ("check ui-safety-gate", Effect::Read),
    ("check verify-codebase-drift", Effect::Read),
    ("check verify-command-paths", Effect::Read),
    ("check verify-context-drift", Effect::Read),
    ("check verify-failure-directions", Effect::Read),
    ("check verify-schema-drift", Effect::Read),
    ("check-commit", Effect::Read),
    ("classify-confidence", Effect::Read),
    ("commit", Effect::Act),
    ("commit-docs-guard disable", Effect::Act),
    ("commit-docs-guard enable", Effect::Act),
    ("commit-to-subrepo", Effect::Act),
    ("config-ensure-section", Effect::Write),
    ("config-get", Effect::Read),
    ("config-new-project", Effect::Write),
    ("config-path", Effect::Read),
    ("config-set", Effect::Write),
    ("config-set-model-profile", Effect::Write),
    ("current-timestamp", Effect::Read),
    ("detect-custom-files", Effect::Read),
    ("dispatch-capacity", Effect::Read),
    ("dispatch-isolation", Effect::Run),
    ("dispatch-should-flatten", Effect::Read),
    ("docs-init", Effect::Read),
    ("drift-guard authority", Effect::Read),
    ("drift-guard phase-status", Effect::Read),
    ("drift-guard severity", Effect::Read),
    ("effort sync", Effect::Run),
    ("estimate-calibrate", Effect::Write),
    ("estimate-calibration", Effect::Read),
    ("estimate-check", Effect::Read),
    ("eval score", Effect::Read),
    ("extract-messages", Effect::Run),
    ("find-phase", Effect::Read),
    ("from-gsd2", Effect::Write),
    ("frontmatter get", Effect::Read),
    ("frontmatter merge", Effect::Write),
    ("frontmatter set", Effect::Write),
    ("frontmatter validate", Effect::Read),
    ("gap-analysis", Effect::Read),
    ("gate approve", Effect::Run),
    ("gate list", Effect::Read),
    ("gate revoke", Effect::Run),
    ("gate run", Effect::Run),
    ("gate show", Effect::Read),
    ("generate-claude-md", Effect::Write),
    ("generate-claude-profile", Effect::Act),
    ("generate-dev-preferences", Effect::Act),
    ("generate-slug", Effect::Read),
    ("git base-branch", Effect::Read),
    ("graphify build", Effect::Write),
    ("graphify diff", Effect::Read),
    ("graphify query", Effect::Read),
    ("graphify status", Effect::Read),
    ("guide", Effect::Read),
    ("history-digest", Effect::Read),
    ("hooks bench", Effect::Run),
    ("hooks off", Effect::Act),
    ("hooks on", Effect::Act),
    ("hooks status", Effect::Read),
    ("init autonomous", Effect::Read),
    ("init code-review", Effect::Read),
    ("init complete-milestone", Effect::Read),
    ("init debug", Effect::Read),
    ("init discuss-phase-assumptions", Effect::Read),
    ("init docs-update", Effect::Read),
    ("init execute-phase", Effect::Read),
    ("init ingest-docs", Effect::Read),
    ("init list-workspaces", Effect::Read),
    ("init manager", Effect::Read),
    ("init map-codebase", Effect::Read),
    ("init milestone-op", Effect::Read),
    ("init new-milestone", Effect::Read),
    ("init new-project", Effect::Read),
    ("init new-workspace", Effect::Read),
    ("init onboard", Effect::Read),
    ("init phase-op", Effect::Read),
    ("init plan-phase", Effect::Read),
    ("init progress", Effect::Read),
    ("init quick", Effect::Read),
    ("init quick-batch", Effect::Read),
    ("init remove-workspace", Effect::Read),
    ("init resume", Effect::Read),
    ("init review", Effect::Read),
    ("init todos", Effect::Read),
    ("init transition", Effect::Read),
    ("init update", Effect::Read),
    ("init verify-work", Effect::Read),
    ("init yolo", Effect::Read),
    ("inspect-dispatch-isolation", Effect::Read),
    ("install", Effect::Write),
    ("intel api-surface", Effect::Write),
    ("intel diff", Effect::Read),
    ("intel extract-exports", Effect::Read),
    ("intel patch-meta", Effect::Write),
    ("intel query", Effect::Read),
    ("intel snapshot", Effect::Write),
    ("intel status", Effect::Read),
    ("intel update", Effect::Read),
    ("intel validate", Effect::Read),
    ("learnings copy", Effect::Act),
    ("learnings delete", Effect::Act),
    ("learnings list", Effect::Read),
    ("learnings prune", Effect::Act),
    ("learnings query", Effect::Read),
    ("list-seeds", Effect::Read),
    ("list-todos", Effect::Read),
    ("loop enter", Effect::Read),
    ("loop render-hooks", Effect::Read),
    ("migrate-config", Effect::Write),
    ("milestone archive-quick", Effect::Write),
    ("milestone complete", Effect::Destructive),
    ("normalize-test-command", Effect::Read),
    ("package", Effect::Write),
    ("package-legitimacy check", Effect::Read),
    ("phase add", Effect::Write),
    ("phase add-batch", Effect::Write),
    ("phase complete", Effect::Write),
    ("phase insert", Effect::Write),
    ("phase list-plans", Effect::Read),
    ("phase mvp-mode", Effect::Read),
    ("phase next-decimal", Effect::Read),
    ("phase remove", Effect::Destructive),
    ("phase tdd-applicable", Effect::Read),
    ("phase uat-passed", Effect::Read),
    ("phase-plan-index", Effect::Read),
    ("phases clear", Effect::Destructive),
    ("phases list", Effect::Read),
    ("plan check", Effect::Read),
    ("plan close", Effect::Act),
    ("plan lint", Effect::Read),
    ("plan record", Effect::Act),
    ("planning inspect", Effect::Read),
    ("pr-subrepo", Effect::Act),
    ("profile-questionnaire", Effect::Read),
    ("profile-sample", Effect::Run),
    ("progress", Effect::Read),
    ("project-instruction-file", Effect::Read),
    ("prompt-budget", Effect::Run),
    ("quick-tasks-append", Effect::Write),
    ("quick-tasks-migrate", Effect::Write),
    ("record-dispatch-isolation", Effect::Act),
    ("recover", Effect::Act),
    ("refactor accept", Effect::Write),
    ("refactor decline", Effect::Write),
    ("refactor evaluate", Effect::Write),
    ("refactor status", Effect::Read),
    ("requirements mark-complete", Effect::Write),
    ("requirements ready-ids", Effect::Read),
    ("requirements revert-phase", Effect::Write),
    ("research-plan", Effect::Read),
    ("research-store get", Effect::Read),
    ("research-store put", Effect::Write),
    ("resolve-agent", Effect::Read),
    ("resolve-dispatch-type", Effect::Read),
    ("resolve-execution", Effect::Read),
    ("resolve-granularity", Effect::Read),
    ("resolve-model", Effect::Read),
    ("restore-custom-files", Effect::Act),
    ("roadmap analyze", Effect::Read),
    ("roadmap annotate-dependencies", Effect::Write),
    ("roadmap get-phase", Effect::Read),
    ("roadmap milestone-scope", Effect::Read),
    ("roadmap update-plan-progress", Effect::Write),
    ("roadmap upgrade", Effect::Write),
    ("roadmap validate", Effect::Read),
    ("run-with-timeout", Effect::Run),
    ("runtime-identity", Effect::Read),
    ("runtimes", Effect::Read),
    ("scaffold", Effect::Write),
    ("scan-sessions", Effect::Read),
    ("schema", Effect::Read),
    ("skill-manifest", Effect::Write),
    ("skills-root", Effect::Read),
    ("smart-entry", Effect::Read),
    ("stamp-codebase-map", Effect::Write),
    ("state", Effect::Read),
    ("state add-blocker", Effect::Write),
    ("state add-decision", Effect::Write),
    ("state add-roadmap-evolution", Effect::Write),
    ("state advance-plan", Effect::Write),
    ("state begin-phase", Effect::Write),
    ("state complete-phase", Effect::Write),
    ("state get", Effect::Read),
    ("state json", Effect::Read),
    ("state load", Effect::Read),
    ("state milestone-switch", Effect::Write),
    ("state patch", Effect::Write),
    ("state planned-phase", Effect::Write),
    ("state prune", Effect::Write),
    ("state rebuild", Effect::Write),
    ("state record-metric", Effect::Write),
    ("state record-session", Effect::Write),
    ("state resolve-blocker", Effect::Write),
    ("state signal-resume", Effect::Write),
    ("state signal-waiting", Effect::Write),
    ("state sync", Effect::Write),
    ("state update", Effect::Write),
    ("state update-progress", Effect::Write),
    ("state validate", Effect::Read),
    ("state-snapshot", Effect::Read),
    ("stats", Effect::Read),
    ("status", Effect::Read),
    ("summary-extract", Effect::Read),
    ("task is-behavior-adding", Effect::Read),
    ("task resolve-content", Effect::Read),
    ("teams-status", Effect::Read),
    ("template fill", Effect::Write),
    ("template select", Effect::Read),
    ("todo complete", Effect::Write),
    ("todo match-phase", Effect::Read),
    ("trust planning", Effect::Run),
    ("uat classify-coverage", Effect::Read),
    ("uat render-checkpoint", Effect::Read),
    ("uninstall", Effect::Destructive),
    ("update-check", Effect::Run),
    ("update-context", Effect::Read),
    ("user-story validate", Effect::Read),
    ("validate agents", Effect::Read),
    ("validate consistency", Effect::Read),
    ("validate context", Effect::Read),
    ("validate health", Effect::Write),
    ("verification defer-human", Effect::Write),
    ("verification fingerprint", Effect::Read),
    ("verification resolve-file", Effect::Read),
    ("verification settle-human", Effect::Write),
    ("verification status", Effect::Read),
    ("verify artifacts", Effect::Read),
    ("verify codebase-drift", Effect::Read),
    ("verify commits", Effect::Read),
    ("verify context-drift", Effect::Read),
    ("verify key-links", Effect::Read),
    ("verify phase-completeness", Effect::Read),
    ("verify plan-structure", Effect::Read),
    ("verify references", Effect::Read),
    ("verify schema-drift", Effect::Read),
    ("verify-path-exists", Effect::Read),
    ("verify-summary", Effect::Read),
    ("websearch", Effect::Read),
    ("workstream complete", Effect::Destructive),
    ("workstream create", Effect::Write),
    ("workstream get", Effect::Read),
    ("workstream list", Effect::Read),
    ("workstream progress", Effect::Read),
    ("workstream set", Effect::Write),
    ("workstream status", Effect::Read),
    ("worktree base-check", Effect::Read),
    ("worktree cleanup-wave", Effect::Act),
    ("worktree create", Effect::Act),
    ("worktree create-wave", Effect::Act),
    ("worktree reap-orphans", Effect::Act),
    ("worktree record-agent", Effect::Act),
    ("worktree set-baseref", Effect::Act),
    ("write-profile", Effect::Act),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::families::FAMILIES;
    use crate::commands::frame::tree;

    #[test]
    fn what_runs_without_asking_is_told_by_exact_beginnings() {
        for path in UNASKED_ACTS.iter().chain(ASKED) {
            assert!(effect(path).is_some(), "there is no command `{path}`");
        }
        let calls = unasked_calls();
        let covers = |call: &str, path: &str| path == call || path.starts_with(&format!("{call} "));
        for (path, _) in CATALOG {
            let covered = calls.iter().any(|call| covers(call, path));
            assert_eq!(covered, unasked(path), "{path}");
        }
        for asked in ["run-with-timeout", "gate approve", "uninstall", "hooks off", "recover", "pr-subrepo"] {
            assert!(!unasked(asked), "{asked}");
        }
        assert!(calls.contains(&"state") && calls.contains(&"gate run") && !calls.contains(&"gate"), "{calls:?}");
    }

    #[test]
    fn the_catalog_lists_exactly_the_commands_there_are() {
        fn gather(command: &clap::Command, path: &str, found: &mut Vec<String>) {
            if !command.has_subcommands() || !command.is_subcommand_required_set() {
                found.push(path.to_owned());
            }
            for child in command.get_subcommands() {
                gather(child, &format!("{path} {}", child.get_name()), found);
            }
        }
        let mut found = Vec::new();
        for row in FAMILIES {
            for command in tree(row).get_subcommands() {
                gather(command, command.get_name(), &mut found);
            }
        }
        found.sort();
        let mut listed: Vec<&str> = CATALOG.iter().map(|(path, _)| *path).collect();
        listed.sort_unstable();
        assert_eq!(listed, found);
    }
}
