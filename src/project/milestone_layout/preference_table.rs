//! The keys of `PREFERENCES.md`: what each accepts, its default, what it does, an example, and what a run does with it.
//!
//! The reader, the refusals of a run, `config list`, `config explain` and `docs/preferences.md` use this table.

use std::fmt;

use super::held_out;
use crate::text::front_matter::{FrontMatter, Value};
use crate::text::shell::typed;

/// The values that a key accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PreferenceKind {
    /// `true` or `false`; `yes`, `on`, `no` and `off` are read too.
    Flag,
    /// A whole number.
    Number,
    /// US dollars.
    Amount,
    Text,
    Word(&'static [&'static str]),
    /// A list of texts, or one text.
    List,
    /// A value in these words. Its reader refuses the whole document if it does not understand it.
    Strict(&'static str),
}

/// The value of a key that is not set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DefaultValue {
    /// As it is written in the document.
    Value(&'static str),
    /// A value, and the one with `token_profile: burn-max`.
    ByProfile(&'static str, &'static str),
    /// There is none; the words say what happens.
    Unset(&'static str),
}

/// What a run does with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PreferenceUse {
    Followed,
    /// Any value is accepted and has no effect, for this reason.
    Idle(&'static str),
    /// It has no effect, so it must ask for what happens anyway: the values that do, and what happens.
    Only(&'static [&'static str], &'static str),
    /// Like `Only`; the value must be the branch that the work is for.
    Target,
    /// Like `Only`; the value must be the model of the run.
    Model,
    /// It counts only in the user's own preferences. The text says what happens otherwise.
    Users(&'static str),
}

use DefaultValue::{ByProfile, Unset, Value as Is};
use PreferenceKind::{Amount, Flag, List, Number, Strict, Text, Word};
use PreferenceUse::{Followed, Idle, Model, Only, Target, Users};

/// A key of the preferences.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PreferenceKey {
    /// A dotted name; `*` at its end matches any name.
    pub(crate) name: &'static str,
    pub(crate) kind: PreferenceKind,
    pub(crate) default: DefaultValue,
    /// What it does, in one line.
    pub(crate) about: &'static str,
    /// A value that is accepted, as it is written in the document.
    pub(crate) example: &'static str,
    pub(crate) handled: PreferenceUse,
    /// Whether it counts for runs of projects in phases too.
    pub(crate) in_phases: bool,
}

/// A key that a run of milestones follows.
const fn key(
    name: &'static str,
    kind: PreferenceKind,
    default: DefaultValue,
    about: &'static str,
    example: &'static str,
) -> PreferenceKey {
    PreferenceKey { name, kind, default, about, example, handled: Followed, in_phases: false }
}

const NO_TASKS_IN_PARALLEL: &str = "a run works on one task at a time";
const NO_SLICES_IN_PARALLEL: &str = "a run works on one slice at a time";
const ADDRESSES_ARE_OWN: &str = "messages are sent to addresses in ~/.gsd/PREFERENCES.md, which no project writes";
const IN_USERS_FENCE: &str = "the fence is opened in ~/.gsd/PREFERENCES.md, which no project writes";

/// The lists of hooks after and before units.
pub(crate) const AFTER_UNITS: &str = "post_unit_hooks";
pub(crate) const BEFORE_UNITS: &str = "pre_dispatch_hooks";

/// The keys by subject.
pub(crate) const KEYS: &[PreferenceKey] = &[
    key("mode", Text, Is("solo"), "Whether one person or a team works on the project", "solo")
        .only(&["solo"], "a run is for one person, and pushes nothing"),
    key(
        "token_profile",
        Word(&["budget", "balanced", "quality", "burn-max"]),
        Is("balanced"),
        "How much effort a milestone is worth: `burn-max` gives each step a session, the others take the same steps",
        "burn-max",
    ),
    key("phases.skip_research", Flag, ByProfile("true", "false"), "Plan milestones without research before", "false"),
    key("phases.skip_slice_research", Flag, ByProfile("true", "false"), "Plan slices without research before", "false"),
    key("phases.skip_reassess", Flag, Is("false"), "Never reassess the roadmap after a slice", "true"),
    key(
        "phases.skip_milestone_validation",
        Flag,
        Is("false"),
        "Close a milestone without comparing it with its criteria",
        "true",
    ),
    key(
        "phases.reassess_after_slice",
        Flag,
        ByProfile("false", "true"),
        "Have a session reassess the roadmap after each slice",
        "true",
    ),
    key(
        "phases.require_slice_discussion",
        Flag,
        Is("false"),
        "Stop before a slice is planned until it has a context that a person wrote",
        "true",
    ),
    key("phases.progressive_planning", Flag, Is("false"), "Refine slices that the roadmap marks as a sketch", "true"),
    key("phases.mid_execution_escalation", Flag, Is("true"), "Whether a task may ask a person a question", "true")
        .only(&["true"], "a task may ask a question"),
    key("uat_dispatch", Flag, Is("false"), "Have a session run the acceptance test of each slice", "true"),
    key(
        "uat_accept_partial",
        Flag,
        Is("false"),
        "Accept `partial` as the result of an acceptance test that needs a person",
        "true",
    ),
    key("git.isolation", Word(&["none", "worktree", "branch"]), Is("worktree"), "Where the work is done", "worktree")
        .only(&["worktree"], "the work is done in a worktree"),
    key("git.merge_strategy", Word(&["squash", "merge"]), Is("squash"), "How a milestone lands", "squash")
        .only(&["squash"], "a milestone lands as one commit"),
    key("git.collapse_cadence", Text, Is("milestone"), "When the work lands", "milestone")
        .only(&["milestone"], "a milestone lands as one commit, and nothing before"),
    key("git.auto_push", Flag, Is("false"), "Whether what landed is pushed", "false")
        .only(&["false"], "a run pushes nothing"),
    key("git.main_branch", Text, Unset("the branch that is checked out"), "The branch that the work is for", "main")
        .handled(Target),
    key("git.worktree_post_create", Text, Unset("no command"), "The command that sets up a new worktree", "npm ci")
        .both(),
    key(
        "git.worktree_environments",
        Flag,
        Is("true"),
        "Bring installed packages of your checkout to the worktrees",
        "false",
    )
    .both(),
    key("auto_supervisor.soft_timeout_minutes", Number, Unset("no limit"), "Minutes until a unit is warned", "20")
        .handled(Idle("a unit ends at the hard one")),
    key("auto_supervisor.idle_timeout_minutes", Number, Is("10"), "Minutes that a session may do nothing", "20").both(),
    key("auto_supervisor.hard_timeout_minutes", Number, Is("30"), "Minutes that a unit may take", "60").both(),
    key(
        "verification_commands",
        List,
        Unset("the checks of the plan, else those that the files of the project declare"),
        "The commands that check the work, each without a shell",
        "[cargo test, npm run lint]",
    )
    .both(),
    key("verification_auto_fix", Flag, Is("true"), "Whether a unit whose checks fail is tried again", "true")
        .only(&["true"], "a unit whose checks fail is tried again, `verification_max_retries` times"),
    key("verification_max_retries", Number, Is("2"), "How often a unit whose checks fail is tried again", "1").both(),
    key(
        "verification.require_evidence",
        Flag,
        Is("true"),
        "Let a milestone pass only if each task has a record of its checks",
        "false",
    ),
    key("budget_ceiling", Amount, Is("25"), "US dollars that a run may spend, as the client reports them", "12.50")
        .both(),
    key("budget_enforcement", Word(&["warn", "pause", "halt"]), Is("pause"), "What happens at the ceiling", "pause")
        .only(&["pause", "halt"], "a run stops at its ceiling"),
    key("per_unit_cost_cap_usd", Amount, Unset("no limit"), "US dollars that a session may spend", "5").both(),
    key("reactive_execution.enabled", Flag, Is("false"), "Work on several tasks at a time", "false")
        .only(&["false"], NO_TASKS_IN_PARALLEL),
    key("reactive_execution.max_parallel", Number, Is("1"), "The most tasks at a time", "4")
        .handled(Idle(NO_TASKS_IN_PARALLEL)),
    key("reactive_execution.isolation_mode", Text, Unset("none"), "How tasks at the same time are kept apart", "same-tree")
        .handled(Idle(NO_TASKS_IN_PARALLEL)),
    key("reactive_execution.subagent_model", Text, Unset("none"), "The model of tasks at the same time", "MODEL")
        .handled(Idle(NO_TASKS_IN_PARALLEL)),
    key("slice_parallel.enabled", Flag, Is("false"), "Work on several slices at a time", "false")
        .only(&["false"], NO_SLICES_IN_PARALLEL),
    key("slice_parallel.max_workers", Number, Is("1"), "The most slices at a time", "2")
        .handled(Idle(NO_SLICES_IN_PARALLEL)),
    key("gate_evaluation.enabled", Flag, Is("false"), "Stop at a slice whose plan has open gates until a person has answered them", "true"),
    key(
        "mechanical.enabled",
        Flag,
        ByProfile("true", "false"),
        "Close slices, validations and milestones without a session",
        "false",
    ),
    key(
        "mechanical.min_summary_chars",
        Number,
        Is("200"),
        "A session writes summaries that would be shorter than this; 0 for no limit",
        "0",
    ),
    key(
        "plan.inline_s01",
        Flag,
        ByProfile("true", "false"),
        "Plan the first slice in the session that plans the milestone",
        "false",
    ),
    key(
        "inline_level",
        Word(&["paths", "minimal", "full"]),
        Is("paths"),
        "How much of the documents a prompt contains",
        "full",
    ),
    key("min_request_interval_ms", Number, Is("0"), "Milliseconds between two requests to the model", "0")
        .only(&["0"], "the client decides when it asks its model"),
    key("context_selection", Text, Is("full"), "How documents are chosen for a prompt", "full")
        .only(&["full"], "`inline_level` decides what of the documents is in a prompt"),
    key("models.*", Text, Unset("the model of the run"), "The model of one kind of unit", "MODEL").handled(Model),
    key("widget_mode", Word(&["full", "small", "min", "off"]), Is("full"), "How `auto watch` looks at first", "small")
        .both(),
    key(
        "messages.command",
        Text,
        Unset("no command"),
        "A command for each message, without a shell: `{topic}`, `{project}`, `{text}` and `{next}` are filled in",
        "notify --title {project} {text}",
    )
    .both(),
    key("messages.desktop", Flag, Is("false"), "Show messages on the desktop", "true").both(),
    key("messages.bell", Flag, Is("false"), "Ring the bell of the terminal", "true").both(),
    key("messages.terminal", Flag, Is("false"), "Ask the terminal for a notification (OSC 9, OSC 777)", "true").both(),
    key(
        "messages.webhook",
        Text,
        Unset("no webhook"),
        "An address that each message is posted to as JSON",
        "https://hooks.example/gsd",
    )
    .users(ADDRESSES_ARE_OWN),
    key("messages.ntfy", Text, Unset("no topic"), "The address of an ntfy topic", "https://ntfy.example/my-runs")
        .users(ADDRESSES_ARE_OWN),
    key(
        "messages.on",
        List,
        Is("[needs-you, landed, stopped, ceiling, waiting, resumed]"),
        "What there are messages about",
        "[needs-you, landed]",
    )
    .both(),
    key("approved", List, Is("[]"), "Digests of what repositories bring that you approve ahead", "[DIGEST]")
        .users("what repositories bring is approved in ~/.gsd/PREFERENCES.md, which no project writes"),
    key(
        held_out::KEY,
        Strict("a list of entries with `repository`, `folder` and `command`"),
        Is("[]"),
        "Checks that no session can read, one for each repository",
        "\n- repository: /home/me/work/shop\n  folder: /home/me/held-out/shop\n  command: sh \"$GSD_HELD_OUT/check.sh\"",
    )
    .users("held-out checks are named in ~/.gsd/PREFERENCES.md, which sessions cannot read"),
    key("fence.read", Strict("a list of paths"), Is("[]"), "Secret places that sessions may read", "[~/.netrc]")
        .users(IN_USERS_FENCE),
    key(
        "fence.sockets",
        Strict("a list of variables"),
        Is("[]"),
        "Variables that lead sessions to programs outside",
        "[SSH_AUTH_SOCK]",
    )
    .users(IN_USERS_FENCE),
    key(
        "fence.network",
        Strict("a list of ports"),
        Unset("all ports"),
        "The only TCP ports that sessions may connect to",
        "[443, 80]",
    )
    .users(IN_USERS_FENCE),
    key("fence.terminals", Strict("`true` or `false`"), Is("false"), "Let sessions make pseudo-terminals", "true")
        .users(IN_USERS_FENCE),
    key(
        AFTER_UNITS,
        Strict("a list of hooks with `name`, `after`, and `prompt` or `command`"),
        Is("[]"),
        "What runs after units of some kinds: a session, or a command, whose changes in the worktree are put back",
        "\n- name: review\n  after: [execute-task]\n  prompt: Look for a simpler way to write what {taskId} changed",
    ),
    key(
        BEFORE_UNITS,
        Strict("a list of hooks with `name`, `before`, and `command`, or `prepend` and `append`"),
        Is("[]"),
        "What runs before units of some kinds, or is added to their texts",
        "\n- name: seed\n  before: [execute-task]\n  command: sh tools/seed-database.sh",
    ),
];

/// Groups whose other keys are handled like one of them.
const REST: &[(&str, &str)] = &[
    ("models.", "models.*"),
    ("fence.", "fence.read"),
    ("reactive_execution.", "reactive_execution.max_parallel"),
    ("slice_parallel.", "slice_parallel.max_workers"),
];

/// The key with exactly this name.
pub(crate) fn named(name: &str) -> Option<&'static PreferenceKey> {
    KEYS.iter().find(|key| key.name == name)
}

/// The key that decides how a dotted name is handled.
pub(crate) fn known(name: &str) -> Option<&'static PreferenceKey> {
    named(name).or_else(|| {
        let (_, like) = REST.iter().find(|(group, _)| name.starts_with(group))?;
        let found = named(like)?;
        let is_typo = matches!(found.handled, Idle(_)) && near(name).is_some();
        (!is_typo).then_some(found)
    })
}

/// Where a preference is written, as a hint; `None` for a name that is not a preference.
pub(crate) fn hint(name: &str) -> Option<String> {
    let key = known(name)?;
    let call = typed!("gsd-tools config explain {}", name);
    Some(format!("`{}` is a preference of `auto run`, written in {}; `{call}` shows how", key.name, key.files()))
}

/// Names at least this long may differ in two letters from what was meant, shorter ones in one.
const LONG: usize = 6;

/// The name that was probably meant by one that is not known: it differs in one or two letters, or lacks its group.
pub(crate) fn near(name: &str) -> Option<&'static str> {
    let names = || KEYS.iter().map(|key| key.name).filter(|known| !known.ends_with('*'));
    let distances = names().map(|known| (strsim::osa_distance(name, known), known));
    let close = distances.filter(|(distance, known)| *distance <= if known.len() < LONG { 1 } else { 2 });
    close.min().map(|(_, known)| known).or_else(|| {
        let is_inner = |known: &&str| known.len() > LONG && known.split_once('.').is_some_and(|(_, key)| key == name);
        let mut inner = names().filter(is_inner);
        let found = inner.next()?;
        inner.next().is_none().then_some(found)
    })
}

impl PreferenceKey {
    const fn both(self) -> Self {
        Self { in_phases: true, ..self }
    }

    const fn handled(self, handled: PreferenceUse) -> Self {
        Self { handled, in_phases: true, ..self }
    }

    const fn only(self, values: &'static [&'static str], why: &'static str) -> Self {
        self.handled(Only(values, why))
    }

    const fn users(self, why: &'static str) -> Self {
        self.handled(Users(why))
    }

    /// Why a run refuses this value, whatever the run is.
    pub(crate) fn refusal(&self, value: &str, is_users: bool) -> Option<&'static str> {
        let value = match value.to_ascii_lowercase().as_str() {
            "yes" | "on" => "true".to_owned(),
            "no" | "off" => "false".to_owned(),
            other => other.to_owned(),
        };
        match self.handled {
            Only(values, why) => (!values.contains(&value.as_str())).then_some(why),
            Users(why) => (!is_users).then_some(why),
            Followed | Idle(_) | Target | Model => None,
        }
    }

    /// What a run does with it, in words.
    pub(crate) fn use_in_words(&self) -> String {
        match self.handled {
            Followed if self.in_phases => "a run follows it".to_owned(),
            Followed => "only runs of milestones follow it".to_owned(),
            Idle(why) => format!("it has no effect: {why}"),
            Only(values, why) => format!("a run starts only with {}: {why}", any_of(values)),
            Target => "a run starts only if it is the branch that the work is for (`--target`)".to_owned(),
            Model => "a run starts only if it is the model of the run (`--model`)".to_owned(),
            Users(why) => format!("it counts only in your own file: {why}"),
        }
    }

    /// The files in which it may be written.
    pub(crate) fn files(&self) -> &'static str {
        match self.handled {
            Users(_) => "~/.gsd/PREFERENCES.md",
            _ => ".gsd/PREFERENCES.md or ~/.gsd/PREFERENCES.md",
        }
    }

    /// The default in words.
    pub(crate) fn default_in_words(&self) -> String {
        match self.default {
            Is(value) => format!("`{value}`"),
            ByProfile(value, other) => format!("`{value}`; with `token_profile: burn-max` `{other}`"),
            Unset(words) => words.to_owned(),
        }
    }

    /// A whole document with the example.
    pub(crate) fn document(&self) -> String {
        self.document_with(self.example)
    }

    /// A whole document that sets the key to a value.
    pub(crate) fn document_with(&self, value: &str) -> String {
        let name = self.name.replace('*', "planning");
        let (group, name) = name.split_once('.').map_or((None, name.as_str()), |(group, name)| (Some(group), name));
        let indent = if group.is_some() { "  " } else { "" };
        let value = if value.starts_with('\n') { value.replace('\n', "\n  ") } else { format!(" {value}") };
        let group = group.map(|group| format!("{group}:\n")).unwrap_or_default();
        format!("---\n{group}{indent}{name}:{value}\n---\n")
    }

    /// The value with this profile if no document sets the key.
    pub(crate) fn default_with(&self, is_burn_max: bool) -> Option<Value> {
        let text = match self.default {
            Is(value) => value,
            ByProfile(value, other) => {
                if is_burn_max {
                    other
                } else {
                    value
                }
            }
            Unset(_) => return None,
        };
        FrontMatter::parse(&format!("---\nvalue: {text}\n---\n"))?.get("value")
    }
}

impl PreferenceKind {
    pub(crate) fn fits(self, value: &Value) -> bool {
        match self {
            Flag => flag(value).is_some(),
            Number => number(value).is_some(),
            Amount => amount(value).is_some(),
            Text => value.as_text().is_some(),
            Word(words) => value.as_text().is_some_and(|word| words.contains(&word)),
            List => list(value).is_some(),
            Strict(_) => true,
        }
    }
}

impl fmt::Display for PreferenceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Flag => "`true` or `false`",
            Number => "a whole number",
            Amount => "an amount",
            Text => "a text",
            Word(words) => return f.write_str(&any_of(words)),
            List => "a list",
            Strict(words) => words,
        })
    }
}

fn any_of(words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => words.concat(),
    }
}

pub(super) fn flag(value: &Value) -> Option<bool> {
    match value.as_text()?.to_lowercase().as_str() {
        "true" | "yes" | "on" => Some(true),
        "false" | "no" | "off" => Some(false),
        _ => None,
    }
}

pub(super) fn number(value: &Value) -> Option<u32> {
    value.as_text()?.trim().parse().ok()
}

pub(super) fn amount(value: &Value) -> Option<f64> {
    let amount: f64 = value.as_text()?.trim().trim_start_matches('$').parse().ok()?;
    (amount.is_finite() && amount >= 0.0).then_some(amount)
}

pub(super) fn list(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::Map(_) | Value::Empty => None,
        other => Some(other.items().iter().map(Value::flat).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_recognized_by_its_letters_or_its_last_part() {
        for (written, meant) in [
            ("verification_comands", Some("verification_commands")),
            ("verification.commands", Some("verification_commands")),
            ("phase.skip_research", Some("phases.skip_research")),
            ("bugdet_ceiling", Some("budget_ceiling")),
            ("reactive_execution.enabeld", Some("reactive_execution.enabled")),
            ("worktree_post_create", Some("git.worktree_post_create")),
            ("moed", Some("mode")),
            ("enabled", None),
            ("models", None),
            ("language", None),
            ("git.remote", None),
            ("version", None),
        ] {
            assert_eq!(near(written), meant, "{written}");
            assert!(known(written).is_none(), "{written}");
        }
        assert_eq!(known("models.review").map(|key| key.name), Some("models.*"));
        assert_eq!(known("reactive_execution.color").map(|key| key.name), Some("reactive_execution.max_parallel"));
    }

    #[test]
    fn each_key_has_one_row_in_plain_words() {
        for (index, key) in KEYS.iter().enumerate() {
            assert!(KEYS[..index].iter().all(|other| other.name != key.name), "{}", key.name);
            assert!(key.about.len() <= 110 && !key.about.ends_with('.'), "{}", key.name);
            assert!(key.name.matches('.').count() < 2, "{}: documents have groups, and no groups in them", key.name);
        }
    }
}
