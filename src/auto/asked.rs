//! Compares preferences with what a run does: a preference is followed or refused by name, never ignored.

use crate::project::milestone_layout::preference_table::{
    KEYS, PreferenceKey,
    PreferenceUse::{Followed, Idle, Model, Only, Target, Users},
    known, near,
};
use crate::project::milestone_layout::preferences::{Given, PreferenceSource};

/// The settings that a run starts with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StartFacts<'a> {
    /// The branch that the work is for.
    pub(crate) target: &'a str,
    pub(crate) model: Option<&'a str>,
    /// Whether the run is of a project in phases.
    pub(crate) is_in_phases: bool,
}

/// What the preferences ask for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    /// Preferences that ask for something other than what happens, one line each.
    pub(crate) unmet: Vec<String>,
    /// Keys that have no effect, each with the reason.
    pub(crate) idle: Vec<String>,
    /// Keys that are probably misspelled, one line each.
    pub(crate) misspelled: Vec<String>,
    /// The number of other keys that this program does not know.
    pub(crate) of_others: usize,
}

impl Asked {
    pub(crate) fn of(given: &[Given], facts: StartFacts<'_>) -> Self {
        let mut asked = Self::default();
        for given in given {
            let place = || format!("`{}` line {}", given.source.file(), given.line);
            match (known(&given.key), near(&given.key)) {
                (Some(found), _) => {
                    let idle = match found.handled {
                        Idle(why) => Some(why),
                        Followed if facts.is_in_phases && !found.in_phases => {
                            Some("it counts in milestones, not in phases")
                        }
                        _ => None,
                    };
                    asked.idle.extend(idle.map(|why| format!("`{}`; {why}", shown(&given.key))));
                    asked.unmet.extend(unmet(given, found, facts));
                }
                (None, Some(near)) => {
                    let key = shown(&given.key);
                    asked.misspelled.push(format!("{}: `{key}`; did you mean `{near}`?", place()));
                }
                (None, None) => match below(&given.key) {
                    Some(first) => {
                        let key = shown(&given.key);
                        asked.misspelled.push(format!("{}: `{key}` has keys below it, such as `{first}`", place()));
                    }
                    None => asked.of_others += 1,
                },
            }
        }
        asked
    }
}

fn unmet(given: &Given, found: &PreferenceKey, facts: StartFacts<'_>) -> Option<String> {
    let what = match found.handled {
        Followed | Idle(_) => return None,
        Only(..) | Users(_) => found.refusal(&given.value, given.source == PreferenceSource::Global)?.to_owned(),
        Target if given.value == facts.target => return None,
        Target => format!("the work is for `{}`; `--target` names another branch", facts.target),
        Model if Some(given.value.as_str()) == facts.model => return None,
        Model => "all sessions of a run have the model that `--model` names".to_owned(),
    };
    let (file, value) = (given.source.file(), shown(&given.value));
    Some(format!("`{file}` line {}: `{}` is `{value}`, but {what}", given.line, given.key))
}

/// The first key below a name without a key itself.
fn below(name: &str) -> Option<&'static str> {
    KEYS.iter().map(|key| key.name).find(|key| key.strip_prefix(name).is_some_and(|rest| rest.starts_with('.')))
}

fn shown(text: &str) -> String {
    crate::text::untrusted::line(text, 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auto::ceilings::Ceilings;
    use crate::auto::preferences::Preferences;
    use crate::project::milestone_layout::messages::MessageSettings;
    use crate::project::milestone_layout::preference_table::{AFTER_UNITS, BEFORE_UNITS, DefaultValue, PreferenceKind};
    use crate::project::milestone_layout::preferences::{self as document, given};
    use crate::project::milestone_layout::{fence, held_out, unit_hooks};
    use crate::text::front_matter::Value;

    fn asked(project: &str, global: Option<&str>) -> Asked {
        Asked::of(&given(Some(project), global), StartFacts { target: "main", model: Some("big"), is_in_phases: false })
    }

    #[test]
    fn preferences_that_ask_for_anything_but_what_happens_are_named() {
        let passes = "---\nmode: solo\ntoken_profile: quality\ngit:\n  isolation: worktree\n  auto_push: no\n  main_branch: main\n\
            reactive_execution:\n  enabled: false\n  max_parallel: 4\nmodels:\n  planning: big\npost_unit_hooks: []\nbudget_ceiling: 2\n---\n";
        let idle = "`reactive_execution.max_parallel`; a run works on one task at a time".to_owned();
        assert_eq!(asked(passes, None), Asked { idle: vec![idle], ..Asked::default() });
        let other = "---\nmode: team\ngit:\n  auto_push: true\n  main_branch: trunk\nslice_parallel: { enabled: yes }\nmodels:\n  \
            planning: small\nlanguage: en\ngit_hub:\n  remote: origin\n---\n";
        let found = asked(other, None);
        assert_eq!(found.of_others, 2, "{found:?}");
        let keys = ["mode", "git.auto_push", "git.main_branch", "slice_parallel.enabled", "models.planning"];
        assert_eq!(found.unmet.len(), keys.len(), "{found:?}");
        for key in keys {
            assert!(found.unmet.iter().any(|line| line.contains(&format!("`{key}` is `"))), "{key}: {found:?}");
        }
        assert!(found.unmet[1].starts_with("`.gsd/PREFERENCES.md` line 4: "), "{found:?}");
    }

    #[test]
    fn a_misspelled_key_is_named_with_its_place_and_those_of_other_programs_are_counted() {
        let found = asked("---\nverification_comands: [make]\nlanguage: de\nwidget_mode: small\n---\n", None);
        assert_eq!(found.of_others, 1, "{found:?}");
        let line = "`.gsd/PREFERENCES.md` line 2: `verification_comands`; did you mean `verification_commands`?";
        assert_eq!(found.misspelled, [line]);
    }

    /// Values of the kind of a key, one of which is not its default.
    fn values(key: &PreferenceKey) -> Vec<String> {
        match key.kind {
            PreferenceKind::Flag => vec!["true".to_owned(), "false".to_owned()],
            PreferenceKind::Number | PreferenceKind::Amount => vec!["7".to_owned()],
            PreferenceKind::Text => vec!["other".to_owned()],
            PreferenceKind::Word(words) => words.iter().map(|word| (*word).to_owned()).collect(),
            PreferenceKind::List => vec!["[one, two]".to_owned()],
            PreferenceKind::Strict(_) => vec![key.example.to_owned()],
        }
    }

    #[test]
    fn each_key_of_the_table_is_obeyed_or_refused_by_name() {
        let unset = document::Preferences::default();
        for key in KEYS {
            let is_obeyed = |value: &str| {
                let text = key.document_with(value);
                let (read, problems) = document::Preferences::read(Some(&text), None);
                assert_eq!(problems, [], "{}: {value}", key.name);
                let found = asked(&text, None);
                assert_eq!((found.of_others, found.misspelled.len()), (0, 0), "{}: {value}", key.name);
                let has_hooks = !unit_hooks::read(Some(&text), None).hooks.is_empty();
                let has_messages = MessageSettings::read(Some(&text), None) != MessageSettings::default();
                let changes = read != unset || has_hooks || has_messages;
                let is_refused = !found.unmet.is_empty();
                if let Some(line) = found.unmet.first() {
                    assert!(line.contains(&format!("`{}` is `", key.name.replace('*', "planning"))), "{line}");
                }
                match key.handled {
                    Followed => changes && !is_refused,
                    Idle(_) => !changes && !is_refused && found.idle.len() == 1,
                    Only(..) | Target | Model => !changes && is_refused,
                    Users(_) => is_refused,
                }
            };
            assert!(values(key).iter().any(|value| is_obeyed(value)), "{}", key.name);
            let text = key.document_with("{ a: b }");
            let problems = document::Preferences::read(Some(&text), None).1;
            let is_checked = !matches!(key.kind, PreferenceKind::Strict(_)) && !key.name.ends_with('*');
            assert_eq!(problems.len(), usize::from(is_checked), "{}: {problems:?}", key.name);
        }
    }

    #[test]
    fn the_words_of_a_key_are_those_that_its_reader_knows() {
        for key in KEYS.iter().filter(|key| key.handled == Followed) {
            let PreferenceKind::Word(words) = key.kind else { continue };
            let read = |word: &str| document::Preferences::read(Some(&key.document_with(word)), None).0;
            let mut found: Vec<document::Preferences> = Vec::new();
            for word in words {
                let read = read(word);
                assert!(!found.contains(&read), "{}: {word}", key.name);
                found.push(read);
            }
        }
    }

    #[test]
    fn each_example_is_accepted_in_the_file_where_it_may_be_written() {
        for key in KEYS {
            let text = key.document();
            assert_eq!(document::fault(&text), None, "{text}");
            let is_users = matches!(key.handled, Users(_));
            let (project, personal) = if is_users { (None, Some(&*text)) } else { (Some(&*text), None) };
            let facts = StartFacts { target: "main", model: Some("MODEL"), is_in_phases: false };
            let given = given(project, personal);
            assert!(!given.is_empty(), "{text}");
            let found = Asked::of(&given, facts);
            let expected = usize::from(matches!(key.handled, Idle(_)));
            assert_eq!((found.unmet, found.misspelled, found.of_others), (vec![], vec![], 0), "{text}");
            assert_eq!(found.idle.len(), expected, "{text}");
            assert_eq!(document::Preferences::read(project, personal).1, [], "{text}");
            fence::read(&text).unwrap();
            let hooks = unit_hooks::read(project, personal);
            assert_eq!(hooks.problems, [], "{text}");
            assert_eq!(crate::auto::unit_hooks::unmet(&hooks, false), Vec::<String>::new(), "{text}");
            let messages = MessageSettings::read(project, personal);
            assert_eq!(crate::auto::messages::unmet(&messages), Vec::<String>::new(), "{text}");
            assert_eq!(messages != MessageSettings::default(), key.name.starts_with("messages."), "{text}");
            let is_hook = [BEFORE_UNITS, AFTER_UNITS].contains(&key.name);
            assert_eq!(hooks.hooks.len(), usize::from(is_hook), "{text}");
            assert_eq!(held_out::entries(&text).unwrap().len(), usize::from(key.name == held_out::KEY), "{text}");
        }
        let openings: String = KEYS
            .iter()
            .filter_map(|key| Some(format!("  {}: {}\n", key.name.strip_prefix("fence.")?, key.example)))
            .collect();
        let read = fence::read(&format!("---\nfence:\n{openings}---\n")).unwrap();
        assert!(!read.read.is_empty() && !read.sockets.is_empty() && read.network.is_some() && read.terminals);
    }

    #[test]
    fn the_defaults_of_the_table_are_those_in_effect() {
        let resolved = |text: &str| Preferences::resolved(&document::Preferences::read(Some(text), None).0, None);
        for key in KEYS.iter().filter(|key| key.handled == Followed) {
            for profile in ["balanced", "burn-max"] {
                let Some(default) = key.default_with(profile == "burn-max") else { continue };
                let profile = format!("---\ntoken_profile: {profile}\n");
                let text = key.document_with(&default.flat()).replacen("---\n", &profile, 1);
                if key.name != "token_profile" {
                    assert_eq!(resolved(&text), resolved(&format!("{profile}---\n")), "{text}");
                }
            }
        }
        let ceilings = Ceilings::default();
        let default = |name: &str| KEYS.iter().find(|key| key.name == name).and_then(|key| key.default_with(false));
        let limits = crate::auto::runner::request::SessionLimits::default();
        for (name, value) in [
            ("budget_ceiling", ceilings.money.to_string()),
            ("auto_supervisor.hard_timeout_minutes", ceilings.unit_minutes.to_string()),
            ("auto_supervisor.idle_timeout_minutes", (limits.idle.as_secs() / 60).to_string()),
            ("token_profile", document::Preferences::default().token_profile.word().to_owned()),
            ("widget_mode", document::WidgetMode::Full.word().to_owned()),
            ("git.worktree_environments", document::Preferences::default().worktree_environments.to_string()),
        ] {
            assert_eq!(default(name), Some(Value::from(value.as_str())), "{name}");
        }
        let unset = |name: &str| {
            matches!(KEYS.iter().find(|key| key.name == name).map(|key| key.default), Some(DefaultValue::Unset(_)))
        };
        assert!(ceilings.unit_money.is_none() && unset("per_unit_cost_cap_usd"));
        assert!(ceilings.idle_minutes.is_none(), "then the limit of sessions counts");
    }

    #[test]
    fn only_the_value_that_takes_precedence_is_checked() {
        let global = "---\ngit:\n  auto_push: true\nbudget_enforcement: warn\n---\n";
        let found = asked("---\ngit:\n  auto_push: false\n---\n", Some(global));
        assert_eq!(found.unmet.len(), 1, "{found:?}");
        assert!(found.unmet[0].starts_with("`~/.gsd/PREFERENCES.md` line 4: `budget_enforcement`"), "{found:?}");
    }
}
