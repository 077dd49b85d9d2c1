//! Hooks before and after units, as `PREFERENCES.md` lists them in `post_unit_hooks` and `pre_dispatch_hooks`.

use std::collections::BTreeSet;

use super::lines::bare;
use super::preference_table::{AFTER_UNITS as AFTER, BEFORE_UNITS as BEFORE};
use super::preferences::{PreferenceProblem, PreferenceSource};
use crate::text::front_matter::{FrontMatter, Value};
use crate::text::untrusted::line;

/// How often a hook may run for one unit.
const CYCLES: std::ops::RangeInclusive<u32> = 1..=10;

/// The most letters of a name.
const NAME: usize = 40;

/// How much of a value is quoted.
const QUOTED: usize = 60;

/// What a hook does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HookAction {
    /// Runs a session with this text.
    Prompt(String),
    /// Runs a command, without a shell.
    Command(String),
    /// Adds text to the prompt of the unit: at its start, and at its end.
    Text { prepend: String, append: String },
}

/// A hook before or after units of some kinds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnitHook {
    pub(crate) source: PreferenceSource,
    /// Counts from one.
    pub(crate) line: usize,
    pub(crate) name: String,
    /// Whether it comes before the units, else after them.
    pub(crate) is_before: bool,
    /// The kinds of the units, as words.
    pub(crate) kinds: Vec<String>,
    pub(crate) action: HookAction,
    /// How often it runs for one unit.
    pub(crate) most: u32,
    /// A path: while it exists, the hook is skipped.
    pub(crate) artifact: Option<String>,
}

/// The hooks of both documents, and what is wrong with others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UnitHooks {
    pub(crate) hooks: Vec<UnitHook>,
    pub(crate) problems: Vec<PreferenceProblem>,
}

impl UnitHook {
    /// The key of its list.
    pub(crate) fn key(&self) -> &'static str {
        if self.is_before { BEFORE } else { AFTER }
    }
}

/// Reads the hooks of the project and those of the user. A list of the project replaces that of the user.
pub(crate) fn read(project: Option<&str>, global: Option<&str>) -> UnitHooks {
    let mut found = UnitHooks::default();
    for (key, is_before) in [(BEFORE, true), (AFTER, false)] {
        let sources = [(PreferenceSource::Project, project), (PreferenceSource::Global, global)];
        let set = sources.into_iter().find_map(|(source, text)| {
            let text = text?;
            let value = FrontMatter::parse(bare(text))?.get(key).filter(|value| *value != Value::Empty)?;
            Some((source, text, value))
        });
        let Some((source, text, value)) = set else { continue };
        let lines = item_lines(bare(text), key);
        let first = lines.first().copied().unwrap_or(1);
        let mut names = BTreeSet::new();
        let items = value.items().iter().enumerate();
        for (number, item) in items.filter(|(_, item)| item.as_text().is_none_or(|text| !text.trim().is_empty())) {
            let line = lines.get(number + 1).copied().unwrap_or(first);
            match hook((source, line), is_before, item) {
                Ok(Some(hook)) if names.insert(hook.name.clone()) => found.hooks.push(hook),
                Ok(Some(hook)) => {
                    let what = format!("`{key}` has two hooks `{}`", hook.name);
                    found.problems.push(PreferenceProblem { source, line, what });
                }
                Ok(None) => {}
                Err(what) => {
                    found.problems.push(PreferenceProblem { source, line, what: format!("in `{key}`: {what}") });
                }
            }
        }
    }
    found
}

/// The line of a key, followed by those of its items.
fn item_lines(text: &str, key: &str) -> Vec<usize> {
    let mut found: Vec<usize> = Vec::new();
    let mut indent = None;
    for (number, line) in text.lines().enumerate() {
        let inside = line.trim_start();
        let own = line.len() - inside.len();
        if found.is_empty() {
            if own == 0 && line.strip_prefix(key).is_some_and(|rest| rest.starts_with(':')) {
                found.push(number + 1);
            }
        } else if inside.starts_with("- ") || inside.trim_end() == "-" {
            if *indent.get_or_insert(own) == own {
                found.push(number + 1);
            }
        } else if own == 0 && !inside.is_empty() && !inside.starts_with('#') {
            break;
        }
    }
    found
}

/// The keys of a hook.
const KEYS: &[&str] = &[
    "name",
    "after",
    "before",
    "prompt",
    "command",
    "prepend",
    "append",
    "action",
    "max_cycles",
    "artifact",
    "enabled",
];

/// Keys that are refused, each with the reason.
const REFUSED: &[(&str, &str)] = &[
    ("model", "all sessions of a run have the model that `--model` names"),
    ("agent", "a session is one of the run's client, without agents of a host"),
    ("retry_on", "work that was accepted is not taken back"),
];

/// Reads a hook; `None` if it is disabled.
fn hook((source, line): (PreferenceSource, usize), is_before: bool, value: &Value) -> Result<Option<UnitHook>, String> {
    let Value::Map(entries) = value else { return Err(format!("`{}` is not a map of a hook", quoted(value))) };
    let get = |key: &str| entries.iter().find(|(name, _)| name == key).map(|(_, value)| value);
    let text = |key: &str| match get(key) {
        None | Some(Value::Empty) => Ok(None),
        Some(Value::Text(text)) if text.trim().is_empty() => Ok(None),
        Some(Value::Text(text)) => Ok(Some(text.clone())),
        Some(other) => Err(format!("`{key}` is `{}`, not a text", quoted(other))),
    };
    if let Some(enabled) = text("enabled")? {
        let is = |words: &[&str]| words.iter().any(|word| enabled.eq_ignore_ascii_case(word));
        if is(&["false", "no", "off"]) {
            return Ok(None);
        }
        if !is(&["true", "yes", "on"]) {
            return Err(format!("`enabled` is `{}`, not `true` or `false`", self::line(&enabled, QUOTED)));
        }
    }
    let name = text("name")?.ok_or("a hook has no `name`")?;
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    if name.len() > NAME || !name.chars().all(is_letter) {
        return Err(format!("the name `{}` has to be of letters, digits, `-` and `_`", self::line(&name, QUOTED)));
    }
    let of = |what: String| format!("hook `{name}`: {what}");
    if let Some((key, why)) = REFUSED.iter().find(|(key, _)| get(key).is_some()) {
        return Err(of(format!("`{key}` is not followed, since {why}")));
    }
    if let Some((key, _)) = entries.iter().find(|(key, _)| !KEYS.contains(&key.as_str())) {
        return Err(of(format!("`{}` is not a key of a hook", self::line(key, QUOTED))));
    }
    let (when, other) = if is_before { ("before", "after") } else { ("after", "before") };
    if get(other).is_some() {
        return Err(of(format!("`{other}` belongs to the other list; here it is `{when}`")));
    }
    let kinds = get(when).map(Value::items).unwrap_or_default().iter().map(Value::flat).collect::<Vec<_>>();
    if kinds.is_empty() {
        return Err(of(format!("`{when}` does not name a kind of unit")));
    }
    let action = action(is_before, &text).map_err(of)?;
    let cycles = text("max_cycles").map_err(of)?;
    let most = cycles.as_deref().map_or(Ok(1), |text| text.trim().parse::<u32>().map_err(|_| text));
    let most = most.ok().filter(|most| CYCLES.contains(most)).ok_or_else(|| {
        let given = self::line(cycles.as_deref().unwrap_or_default(), QUOTED);
        of(format!("`max_cycles` is `{given}`, not a number from 1 to 10"))
    })?;
    let artifact = text("artifact").map_err(of)?;
    if is_before && (artifact.is_some() || cycles.is_some()) {
        return Err(of("`artifact` and `max_cycles` are for hooks after a unit".to_owned()));
    }
    Ok(Some(UnitHook { source, line, name, is_before, kinds, action, most, artifact }))
}

/// What a hook does, by its keys.
fn action(is_before: bool, text: &impl Fn(&str) -> Result<Option<String>, String>) -> Result<HookAction, String> {
    let (prompt, command) = (text("prompt")?, text("command")?);
    let (prepend, append) = (text("prepend")?, text("append")?);
    let changes = prepend.is_some() || append.is_some();
    match text("action")?.as_deref() {
        Some("modify") if is_before && changes => {}
        Some("modify") if is_before => return Err("`action: modify` needs `prepend` or `append`".to_owned()),
        Some(word @ ("skip" | "replace")) if is_before => {
            return Err(format!("`action: {word}` is not followed, since a unit that does not run is not proved"));
        }
        Some(word) => return Err(format!("`action: {}` is not known here", line(word, QUOTED))),
        None => {}
    }
    match (is_before, prompt, command, changes) {
        (true, Some(_), ..) => Err("`prompt` is for hooks after a unit; `prepend` and `append` add text".to_owned()),
        (true, None, Some(command), false) => Ok(HookAction::Command(command)),
        (true, None, None, true) => {
            Ok(HookAction::Text { prepend: prepend.unwrap_or_default(), append: append.unwrap_or_default() })
        }
        (true, ..) => Err("exactly one is needed: `command`, or `prepend` and `append`".to_owned()),
        (false, _, _, true) => Err("`prepend` and `append` are for hooks before a unit".to_owned()),
        (false, Some(prompt), None, _) => Ok(HookAction::Prompt(prompt)),
        (false, None, Some(command), _) => Ok(HookAction::Command(command)),
        (false, ..) => Err("exactly one of `prompt` and `command` is needed".to_owned()),
    }
}

fn quoted(value: &Value) -> String {
    line(&value.flat(), QUOTED)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn problems(body: &str) -> Vec<(usize, String)> {
        let found = read(Some(&format!("---\n{body}---\n")), None);
        found.problems.into_iter().map(|problem| (problem.line, problem.what)).collect()
    }

    #[test]
    fn hooks_are_read_with_their_lines() {
        let text = "---\nmode: solo\npost_unit_hooks:\n  - name: review\n    after: [execute-task, quick-task]\n    prompt: Look at {taskId}.\n    \
            max_cycles: 3\n    artifact: .gsd/reviews/{taskId}.md\n  - name: notify\n    after: execute-task\n    command: notify-send done\n  - name: \
            off\n    enabled: false\npre_dispatch_hooks:\n- name: fresh\n  before: [plan-slice]\n  action: modify\n  append: Mind the gap.\n---\n";
        let found = read(Some(text), Some("---\npost_unit_hooks:\n  - name: other\n---\n"));
        assert_eq!(found.problems, []);
        let shown: Vec<_> = found.hooks.iter().map(|hook| (hook.name.as_str(), hook.line, hook.most)).collect();
        assert_eq!(shown, [("fresh", 15, 1), ("review", 4, 3), ("notify", 9, 1)]);
        assert_eq!(found.hooks[1].kinds, ["execute-task", "quick-task"]);
        assert_eq!(found.hooks[1].action, HookAction::Prompt("Look at {taskId}.".to_owned()));
        assert!(found.hooks[0].is_before && found.hooks[2].key() == AFTER);
        assert_eq!(read(Some("---\npost_unit_hooks: []\n---\n"), None), UnitHooks::default());
        assert_eq!(read(None, Some(text)).hooks[0].source, PreferenceSource::Global);
    }

    #[test]
    fn a_hook_that_cannot_be_followed_is_named_with_its_line() {
        let after = |keys: &str| {
            let found = problems(&format!("post_unit_hooks:\n  - name: a\n    after: [execute-task]\n    {keys}\n"));
            assert_eq!(found.first().map(|(line, _)| *line), Some(3), "{keys}: {found:?}");
            found.into_iter().next().map(|(_, what)| what).unwrap_or_default()
        };
        for (keys, expected) in [
            ("prompt: x\n    command: y", "exactly one of `prompt` and `command`"),
            ("max_cycles: 2", "exactly one of"),
            ("prompt: x\n    max_cycles: 11", "`max_cycles` is `11`"),
            ("prompt: x\n    model: big", "`model` is not followed, since all sessions"),
            ("prompt: x\n    agent: reviewer", "`agent` is not followed"),
            ("prompt: x\n    retry_on: REDO.md", "`retry_on` is not followed, since work that was accepted"),
            ("prompt: x\n    colour: red", "`colour` is not a key"),
            ("prompt: x\n    append: y", "are for hooks before a unit"),
        ] {
            assert!(after(keys).contains(expected), "{keys}: {}", after(keys));
        }
        let before =
            |keys: &str| problems(&format!("pre_dispatch_hooks:\n  - name: a\n    before: [plan-slice]\n    {keys}\n"));
        for (keys, expected) in [
            ("action: skip", "a unit that does not run is not proved"),
            ("action: replace\n    prompt: x", "a unit that does not run is not proved"),
            ("command: x\n    append: y", "exactly one is needed"),
            ("prompt: x", "`prompt` is for hooks after a unit"),
        ] {
            assert!(before(keys)[0].1.contains(expected), "{keys}: {:?}", before(keys));
        }
        assert!(
            problems("post_unit_hooks:\n  - after: [execute-task]\n    prompt: x\n")[0].1.contains("has no `name`")
        );
        assert!(problems("post_unit_hooks:\n  - name: a\n    prompt: x\n")[0].1.contains("does not name a kind"));
        assert!(problems("post_unit_hooks: [review]\n")[0].1.contains("is not a map"));
        let twice = "  - name: a\n    after: [execute-task]\n    prompt: x\n";
        assert!(problems(&format!("post_unit_hooks:\n{twice}{twice}"))[0].1.contains("two hooks `a`"));
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "(---\n|post_unit_hooks:|pre_dispatch_hooks:|\n|  - name: a|    after: \\[x\\]|    prompt: |- |\\{|\\[|é|\r\n| ){0,20}") {
            let _ = read(Some(&text), Some(&text));
        }
    }
}
