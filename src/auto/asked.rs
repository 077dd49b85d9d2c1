//! Compares preferences with what a run does: a preference is followed or refused by name, never ignored.

use crate::project::milestone_layout::held_out::KEY;
use crate::project::milestone_layout::preferences::{Given, PreferenceSource};

/// How a key is handled.
enum Use {
    /// It decides something, or it only says how to do something that another key refuses.
    Followed,
    /// It has no effect, so it must ask for what happens anyway: the values that do, and what happens.
    Only(&'static [&'static str], &'static str),
    /// Like `Only`; the value must be the branch that the work is for.
    Target,
    /// Like `Only`; the value must be the model of the run.
    Model,
    /// It counts only in the user's own preferences. The text says what happens otherwise.
    Users(&'static str),
}

use Use::{Followed, Model, Only, Target, Users};

const NO_TASKS_IN_PARALLEL: &str = "a run works on one task at a time";
const NO_SLICES_IN_PARALLEL: &str = "a run works on one slice at a time";
const NO_HOOKS: &str = "a run has no hooks before and after units";

/// The known keys. A key with `.*` covers every key below it.
const KNOWN: &[(&str, Use)] = &[
    ("mode", Only(&["solo"], "a run is for one person, and pushes nothing")),
    ("token_profile", Followed),
    ("phases.skip_research", Followed),
    ("phases.skip_slice_research", Followed),
    ("phases.skip_reassess", Followed),
    ("phases.skip_milestone_validation", Followed),
    ("phases.reassess_after_slice", Followed),
    ("phases.require_slice_discussion", Followed),
    ("phases.progressive_planning", Followed),
    ("phases.mid_execution_escalation", Only(&["true"], "a task may ask a question")),
    ("uat_dispatch", Followed),
    ("uat_accept_partial", Followed),
    ("git.isolation", Only(&["worktree"], "the work is done in a worktree")),
    ("git.merge_strategy", Only(&["squash"], "a milestone lands as one commit")),
    ("git.collapse_cadence", Only(&["milestone"], "a milestone lands as one commit, and nothing before")),
    ("git.auto_push", Only(&["false"], "a run pushes nothing")),
    ("git.worktree_post_create", Followed),
    ("git.worktree_environments", Followed),
    ("approved", Users("what repositories bring is approved in ~/.gsd/PREFERENCES.md, which no project writes")),
    ("git.main_branch", Target),
    ("auto_supervisor.idle_timeout_minutes", Followed),
    ("auto_supervisor.hard_timeout_minutes", Followed),
    ("auto_supervisor.soft_timeout_minutes", Followed),
    ("verification_commands", Followed),
    (
        "verification_auto_fix",
        Only(&["true"], "a unit whose checks fail is tried again, `verification_max_retries` times"),
    ),
    ("verification_max_retries", Followed),
    ("verification.require_evidence", Followed),
    ("budget_ceiling", Followed),
    ("budget_enforcement", Only(&["pause", "halt"], "a run stops at its ceiling")),
    ("per_unit_cost_cap_usd", Followed),
    ("reactive_execution.enabled", Only(&["false"], NO_TASKS_IN_PARALLEL)),
    ("reactive_execution.*", Followed),
    ("slice_parallel.enabled", Only(&["false"], NO_SLICES_IN_PARALLEL)),
    ("slice_parallel.*", Followed),
    ("gate_evaluation.enabled", Followed),
    ("mechanical.enabled", Followed),
    ("mechanical.min_summary_chars", Followed),
    ("plan.inline_s01", Followed),
    ("inline_level", Followed),
    ("min_request_interval_ms", Only(&["0"], "the client decides when it asks its model")),
    ("context_selection", Only(&["full"], "`inline_level` decides what of the documents is in a prompt")),
    ("models.*", Model),
    (KEY, Users("held-out checks are named in ~/.gsd/PREFERENCES.md, which sessions cannot read")),
    ("fence.*", Users("the fence is opened in ~/.gsd/PREFERENCES.md, which no project writes")),
    ("post_unit_hooks", Only(&["[]"], NO_HOOKS)),
    ("pre_dispatch_hooks", Only(&["[]"], NO_HOOKS)),
];

/// The settings that a run starts with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StartFacts<'a> {
    /// The branch that the work is for.
    pub(crate) target: &'a str,
    pub(crate) model: Option<&'a str>,
}

/// What the preferences ask for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    /// Preferences that ask for something other than what happens, one line each.
    pub(crate) unmet: Vec<String>,
    /// The number of keys that this program does not know.
    pub(crate) of_others: usize,
}

impl Asked {
    pub(crate) fn of(given: &[Given], facts: StartFacts<'_>) -> Self {
        let mut asked = Self::default();
        for given in given {
            match known(&given.key) {
                None => asked.of_others += 1,
                Some(found) => asked.unmet.extend(unmet(given, found, facts)),
            }
        }
        asked
    }
}

fn known(key: &str) -> Option<&'static Use> {
    let is_it = |known: &str| match known.strip_suffix('*') {
        Some(folder) => key.starts_with(folder),
        None => known == key,
    };
    KNOWN.iter().find(|(known, _)| is_it(known)).map(|(_, found)| found)
}

fn unmet(given: &Given, found: &Use, facts: StartFacts<'_>) -> Option<String> {
    let value = match given.value.to_ascii_lowercase().as_str() {
        "yes" | "on" => "true".to_owned(),
        "no" | "off" => "false".to_owned(),
        other => other.to_owned(),
    };
    let what = match found {
        Followed => return None,
        Users(_) if given.source == PreferenceSource::Global => return None,
        Only(values, _) if values.contains(&value.as_str()) => return None,
        Only(_, what) | Users(what) => (*what).to_owned(),
        Target if given.value == facts.target => return None,
        Target => format!("the work is for `{}`; `--target` names another branch", facts.target),
        Model if Some(given.value.as_str()) == facts.model => return None,
        Model => "all sessions of a run have the model that `--model` names".to_owned(),
    };
    let shown = crate::text::untrusted::line(&given.value, 60);
    Some(format!("`{}` line {}: `{}` is `{shown}`, but {what}", file(given.source), given.line, given.key))
}

/// Returns the file of a source, for display.
pub(crate) fn file(source: PreferenceSource) -> &'static str {
    match source {
        PreferenceSource::Project => ".gsd/PREFERENCES.md",
        PreferenceSource::Global => "~/.gsd/PREFERENCES.md",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::milestone_layout::preferences::given;

    fn asked(project: &str, global: Option<&str>) -> Asked {
        Asked::of(&given(Some(project), global), StartFacts { target: "main", model: Some("big") })
    }

    #[test]
    fn preferences_that_ask_for_anything_but_what_happens_are_named() {
        let passes = "---\nmode: solo\ntoken_profile: quality\ngit:\n  isolation: worktree\n  auto_push: no\n  main_branch: main\n\
            reactive_execution:\n  enabled: false\n  max_parallel: 4\nmodels:\n  planning: big\npost_unit_hooks: []\nbudget_ceiling: 2\n---\n";
        assert_eq!(asked(passes, None), Asked::default());
        let other = "---\nmode: team\ngit:\n  auto_push: true\n  main_branch: trunk\nslice_parallel: { enabled: yes }\nmodels:\n  \
            planning: small\npost_unit_hooks:\n  - name: review\nlanguage: en\ngit_hub:\n  remote: origin\n---\n";
        let found = asked(other, None);
        assert_eq!(found.of_others, 2, "{found:?}");
        let keys = [
            "mode",
            "git.auto_push",
            "git.main_branch",
            "slice_parallel.enabled",
            "models.planning",
            "post_unit_hooks",
        ];
        assert_eq!(found.unmet.len(), keys.len(), "{found:?}");
        for key in keys {
            assert!(found.unmet.iter().any(|line| line.contains(&format!("`{key}` is `"))), "{key}: {found:?}");
        }
        assert!(found.unmet[1].starts_with("`.gsd/PREFERENCES.md` line 4: "), "{found:?}");
    }

    #[test]
    fn only_the_value_that_takes_precedence_is_checked() {
        let global = "---\ngit:\n  auto_push: true\nbudget_enforcement: warn\n---\n";
        let found = asked("---\ngit:\n  auto_push: false\n---\n", Some(global));
        assert_eq!(found.unmet.len(), 1, "{found:?}");
        assert!(found.unmet[0].starts_with("`~/.gsd/PREFERENCES.md` line 4: `budget_enforcement`"), "{found:?}");
    }
}
