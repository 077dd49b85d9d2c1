//! Which keys can be set, and which values each accepts.

use crate::failure::{Failure, Reason};
use crate::project::milestone_layout::preference_table;
use crate::text::nearest::nearest;
use crate::text::shell::typed;
use crate::text::splice::Splices;
use serde_json::{Map, Number, Value};

use super::accepts::Accepts;
use super::pattern::fits;
use super::table::{KEYS, Key, PATTERNS};
use super::unused::unused;
use super::{CAPABILITIES, meant};

/// A checked request to set a key to a value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Setting {
    pub(crate) key: String,
    /// The names of the nested objects that lead to the key.
    pub(crate) path: Vec<String>,
    /// `None` removes the key.
    pub(crate) value: Option<Value>,
}

/// The error for a key that does not exist.
pub(crate) fn unknown(key: &str) -> Failure {
    const LIST: &str = "`gsd-tools config list --all` lists the keys";
    let names = key_names();
    let hint = preference_table::hint(key).unwrap_or_else(|| {
        let near = meant(key).or_else(|| nearest(key, names.iter().map(String::as_str)));
        let preference = || preference_table::near(key).and_then(preference_table::hint);
        match near {
            Some(near) => format!("did you mean `{near}`? {LIST}"),
            None => preference().unwrap_or_else(|| LIST.to_owned()),
        }
    });
    Failure::new(Reason::ConfigInvalidKey, format!("unknown config key `{key}`")).hint(hint)
}

fn refused(key: &str, value: &str, accepts: Accepts) -> Failure {
    let call = typed!("gsd-tools config explain {}", key);
    Failure::new(Reason::ConfigInvalidKey, format!("`{key}` cannot be `{value}`; it takes {accepts}"))
        .hint(format!("`{call}` describes the key"))
}

impl Setting {
    /// Reads a key and the text of its value: `true`, `false`, `null` (unset), numbers, JSON lists and objects are read
    /// as such, everything else as text.
    pub(crate) fn parse(key: &str, text: &str) -> Result<Self, Failure> {
        let accepts = accepts(key).ok_or_else(|| unknown(key))?;
        let value = match accepts {
            Accepts::Text | Accepts::Code if text != "null" => Some(Value::from(text)),
            _ => coerce(text),
        };
        match &value {
            Some(value) if !accepts.fits(value) => Err(refused(key, text, accepts)),
            _ => match unused(key) {
                // A key can always be removed.
                Some(reason) if value.is_some() => {
                    let message = format!("`{key}` has no effect here: {reason}");
                    let call = typed!("gsd-tools config-set {} null", key);
                    Err(Failure::new(Reason::ConfigInvalidKey, message)
                        .hint(format!("`{call}` takes it out of the file")))
                }
                _ => {
                    let value = value.map(|value| accepts.stored(value));
                    Ok(Self { key: key.to_owned(), path: path_of(key), value })
                }
            },
        }
    }

    /// As [`Self::parse`], for a key that this program does not have; `None` for a value that does not fit.
    pub(crate) fn added(key: &str, text: &str, fits: impl Fn(&Value) -> bool) -> Option<Self> {
        let value = match coerce(text) {
            None => None,
            looks => Some([looks, Some(Value::from(text))].into_iter().flatten().find(|value| fits(value))?),
        };
        Some(Self { key: key.to_owned(), path: path_of(key), value })
    }
}

/// Removes values from a file that could not be used safely. Returns each with the reason.
pub(super) fn take_unusable(file: &mut Map<String, Value>) -> Vec<String> {
    let mut taken = Vec::new();
    for (key, accepts, _) in KEYS {
        let path: Vec<&str> = key.split('.').collect();
        let Some((last, above)) = path.split_last() else { continue };
        let object = above.iter().try_fold(&mut *file, |object, name| object.get_mut(*name)?.as_object_mut());
        let Some(object) = object else { continue };
        let unusable = object.get(*last).is_some_and(|value| !value.is_null() && !accepts.is_usable(value));
        if let Some(value) = unusable.then(|| object.remove(*last)).flatten() {
            taken.push(format!("`{key}` is {value}; it takes {accepts}"));
        }
    }
    taken
}

/// Whether the value of a key is a secret and shown only in part.
pub(crate) fn is_secret(key: &str) -> bool {
    secrets().any(|secret| secret == key)
}

/// Keys that contain the API key of a search service unless they are a switch.
fn secrets() -> impl Iterator<Item = &'static str> {
    KEYS.iter().filter(|(_, accepts, _)| *accepts == Accepts::Secret).map(|(key, ..)| *key)
}

/// The text of a configuration with its secrets masked, for showing lines of it.
pub(crate) fn without_secrets(text: &str) -> String {
    let mut splices = Splices::default();
    for key in secrets() {
        for (at, name) in text.match_indices(&format!("\"{key}\"")) {
            let after = at + name.len();
            let rest = text[after..].trim_start();
            let Some(value) = rest.strip_prefix(':').map(str::trim_start).and_then(|rest| rest.strip_prefix('"'))
            else {
                continue;
            };
            let start = text.len() - value.len();
            // A string that is not closed on its line is hidden to the end of the line.
            let mut escaped = false;
            let ends = |letter: char| {
                let end = letter == '\n' || letter == '"' && !escaped;
                escaped = letter == '\\' && !escaped;
                end
            };
            let length = value.find(ends).unwrap_or(value.len());
            splices.replace(start..start + length, masked(&value[..length]));
        }
    }
    splices.apply(text)
}

/// A secret text with all but its last four characters hidden.
pub(crate) fn masked(secret: &str) -> String {
    let count = secret.chars().count();
    let shown: String = if count < 8 { String::new() } else { secret.chars().skip(count - 4).collect() };
    format!("****{shown}")
}

/// Every key that can be set, sorted; `*` matches any name.
pub(crate) fn key_names() -> Vec<String> {
    let mut names: Vec<String> = KEYS.iter().chain(PATTERNS).map(|(key, ..)| (*key).to_owned()).collect();
    // Features with a value for each of several programs have a default for each program we know.
    add_leaves(&CAPABILITIES, "", &mut names);
    names.sort();
    names.dedup();
    names
}

fn add_leaves(value: &Value, path: &str, names: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                add_leaves(value, &path, names);
            }
        }
        _ => names.push(path.to_owned()),
    }
}

/// Whether we know a top-level name of a file.
pub(super) fn is_known_root(name: &str) -> bool {
    let root = |key: &str| key.split('.').next() == Some(name);
    KEYS.iter().chain(PATTERNS).any(|(key, ..)| root(key))
        || CAPABILITIES.get(name).is_some()
        || matches!(name, "$schema" | "multiRepo")
}

/// The names of the objects that lead to a key. The identifier of a phase is one name, including its dots.
fn path_of(key: &str) -> Vec<String> {
    match key.split_once('.') {
        Some((root @ "phase_commit_docs", phase)) => vec![root.to_owned(), phase.to_owned()],
        _ => key.split('.').map(str::to_owned).collect(),
    }
}

fn coerce(text: &str) -> Option<Value> {
    match text {
        "null" => return None,
        "true" => return Some(Value::Bool(true)),
        "false" => return Some(Value::Bool(false)),
        _ => {}
    }
    if text.starts_with(['[', '{'])
        && let Ok(value) = serde_json::from_str(text)
    {
        return Some(value);
    }
    Some(number(text).map_or_else(|| Value::from(text), Value::Number))
}

fn number(text: &str) -> Option<Number> {
    if let Ok(whole) = text.parse::<i64>() {
        return Some(whole.into());
    }
    if !text.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '-' | '.')) {
        return None;
    }
    Number::from_f64(text.parse().ok()?)
}

/// Whether a key may have this value; one that we do not know may have any.
pub(crate) fn may_be(key: &str, value: &Value) -> bool {
    value.is_null() || accepts(key).is_none_or(|accepts| accepts.fits(value))
}

/// Checks the values of the keys we know; other keys may have any value.
pub(crate) fn check_values(file: &Map<String, Value>) -> Result<(), Failure> {
    check_below(file, "")
}

fn check_below(object: &Map<String, Value>, path: &str) -> Result<(), Failure> {
    for (name, value) in object {
        let key = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        match accepts(&key) {
            Some(accepts) if !value.is_null() && !accepts.fits(value) => {
                let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                return Err(refused(&key, &value, accepts));
            }
            Some(_) => {}
            None => value.as_object().map_or(Ok(()), |below| check_below(below, &key))?,
        }
    }
    Ok(())
}

/// Converts the values of the keys we know to the form in which they are written.
pub(crate) fn store_values(file: &mut Map<String, Value>) {
    store_below(file, "");
}

fn store_below(object: &mut Map<String, Value>, path: &str) {
    for (name, value) in object {
        let key = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        if let Some(accepts) = accepts(&key) {
            *value = accepts.stored(value.take());
        } else if let Some(below) = value.as_object_mut() {
            store_below(below, &key);
        }
    }
}

/// The values that a key accepts; `None` if the key does not exist.
fn accepts(key: &str) -> Option<Accepts> {
    row(key).map(|(_, accepts, _)| *accepts)
}

/// Whether a key can be set.
pub(crate) fn is_key(key: &str) -> bool {
    row(key).is_some()
}

/// The row of the table for a key.
pub(super) fn row(key: &str) -> Option<&'static Key> {
    let fixed = KEYS.iter().find(|(name, ..)| *name == key);
    let named = || PATTERNS.iter().find(|(pattern, ..)| fits(pattern, key)).filter(|_| !names_no_reviewer(key));
    fixed.or_else(named)
}

/// Whether a key sets the model of an unknown reviewer, which would have no effect.
fn names_no_reviewer(key: &str) -> bool {
    key.starts_with("review.models.") && super::capability_default(key).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(key: &str, text: &str) -> Option<Value> {
        Setting::parse(key, text).unwrap().value
    }

    #[test]
    fn values_are_what_they_look_like() {
        assert_eq!(value("mode", "yolo"), Some("yolo".into()));
        assert_eq!(value("context_window", "5"), Some(5.into()));
        assert_eq!(value("workflow.yolo.prev_auto_advance", "0.5"), Some(0.5.into()));
        assert_eq!(value("commit_docs", "false"), Some(false.into()));
        assert_eq!(value("commit_docs", "null"), None);
        assert_eq!(value("planning.sub_repos", r#"["a"]"#), Some(vec!["a"].into()));
        assert_eq!(value("workflow.yolo.prev_auto_advance", "[draft"), Some("[draft".into()));
        assert_eq!(value("workflow.yolo.prev_auto_advance", "infinity"), Some("infinity".into()));
        assert_eq!(value("response_language", ""), Some("".into()));
        assert_eq!(value("workflow.test_command", "true"), Some("true".into()));
        assert_eq!(value("project_code", "007"), Some("007".into()));
    }

    #[test]
    fn unknown_keys_and_values_are_refused() {
        let refused = |key, text| Setting::parse(key, text).unwrap_err().message;
        for key in ["nope", "workflow.nope", "workflow", "agent_skills", "agent_skills.", "agent_skills.a..b", "a", ""]
        {
            assert!(refused(key, "1").starts_with("unknown config key `"), "{key}");
        }
        assert_eq!(refused("mode", "yollo"), "`mode` cannot be `yollo`; it takes `interactive` or `yolo`");
        let choice = refused("workflow.human_verify_mode", "zzz");
        assert!(choice.ends_with("it takes `mid-flight` or `end-of-phase`"), "{choice}");
        assert!(refused("workflow.research", "maybe").ends_with("it takes `true` or `false`"));
        assert!(refused("workflow.node_repair_budget", "0.5").ends_with("it takes a whole number"));
        assert!(refused("workflow.node_repair_budget", "-1").ends_with("it takes a whole number"));
        assert!(refused("review.timeouts.x", "-2").ends_with("or -1 for none"));
        assert!(refused("resolve_model_ids", "some").ends_with("it takes `true`, `false` or `omit`"));
        for bad in ["[1]", "[]", "[\"\"]", "main", "[\"main\", \" \"]"] {
            assert!(
                refused("git.protected_branches", bad).ends_with("a JSON list of texts, with at least one"),
                "{bad}"
            );
        }
        assert!(refused("hooks.commit_types", "[1]").ends_with("a JSON list of texts"));
        for key in ["context_window", "workflow.smart_zone_tokens", "workflow.drift_threshold"] {
            assert!(refused(key, "0").ends_with("a whole number from 1 on"), "{key}");
        }
        for (key, bad) in
            [("warning", "0"), ("warning", "101"), ("critical", "100"), ("critical", "-1"), ("critical", "x")]
        {
            let key = format!("hooks.context_{key}_threshold");
            let refused = Setting::parse(&key, bad).unwrap_err().message;
            assert!(refused.contains("a number from "), "{key} {bad}");
            assert!(Setting::parse(&key, "35.5").is_ok());
        }
        assert!(refused("workflow.context_guard_mode", "on").ends_with("`auto`, `warn` or `off`"));
        for key in ["agent_skills.constructor", "model_overrides.__proto__", "features.prototype", "__proto__"] {
            for text in ["x", "null"] {
                assert!(refused(key, text).starts_with("unknown config key `"), "{key} {text}");
            }
        }
        assert!(refused("brave_search", "5").ends_with("or an API key"));
        assert!(refused("workflow.security_asvs_level", "4").ends_with("from 1 to 3"));
        assert!(Setting::parse("workflow.security_asvs_level", "3").is_ok());
    }

    #[test]
    fn keys_without_effect_can_only_be_removed() {
        for form in super::super::unused::unused_keys() {
            let key = form.replace('*', "x");
            let (_, accepts, _) = row(&key).unwrap_or_else(|| panic!("{key} is no key"));
            let fitting = ["true", "1", "x", "auto", "augment"]
                .into_iter()
                .find(|text| coerce(text).is_some_and(|value| accepts.fits(&value)));
            let refused = Setting::parse(&key, fitting.unwrap_or_else(|| panic!("{key}: {accepts}"))).unwrap_err();
            assert!(refused.message.contains("has no effect here: "), "{key}: {refused:?}");
            assert_eq!(Setting::parse(&key, "null").unwrap().value, None, "{key}");
        }
    }

    #[test]
    fn reviewers_are_stored_in_one_spelling() {
        let names = |text| Setting::parse("review.default_reviewers", text).map(|setting| setting.value.unwrap());
        assert_eq!(names(r#"["Abc", "abc", "x-1"]"#).unwrap(), serde_json::json!(["abc", "x-1"]));
        for bad in ["[]", "abc", r#"["a/b"]"#, r#"[""]"#, "[1]", r#"["a b"]"#] {
            assert!(names(bad).is_err(), "{bad}");
        }
        let known = super::super::CAPABILITIES["review"]["models"].as_object().unwrap().keys();
        for known in known.chain(std::iter::once(&"zzz".to_owned())) {
            let set = Setting::parse(&format!("review.models.{known}"), "x");
            assert_eq!(set.is_ok(), known != "zzz", "{known}");
        }
    }

    #[test]
    fn sections_of_pull_requests_name_the_source_of_their_text() {
        let set = |text: &str| Setting::parse("ship.pr_body_sections", text);
        for fine in [
            "[]",
            r#"[{"heading": "Risks", "source": "PLAN.md ## Risks || 01-SUMMARY.md ## What was done", "enabled": false}]"#,
            r#"[{"heading": "Notes", "template": "t", "fallback": "f"}]"#,
        ] {
            assert!(set(fine).is_ok(), "{fine}");
        }
        for bad in [
            "text",
            "{}",
            r#"["text"]"#,
            r#"[{"heading": "X"}]"#,
            r#"[{"heading": " ", "template": "t"}]"#,
            r#"[{"heading": "X\nY", "template": "t"}]"#,
            r#"[{"heading": "X", "template": 1}]"#,
            r#"[{"heading": "X", "template": "t", "enabled": "yes"}]"#,
            r#"[{"heading": "X", "template": "t", "other": "x"}]"#,
            r#"[{"heading": "X", "source": "PLAN.md"}]"#,
            r#"[{"heading": "X", "source": "PLAN.md ### Risks"}]"#,
            r#"[{"heading": "X", "source": "../PLAN.md ## Risks"}]"#,
            r#"[{"heading": "X", "source": ["PLAN.md ## Risks"]}]"#,
        ] {
            let refused = set(bad).unwrap_err().to_string();
            assert!(refused.contains("`heading` of one line"), "{bad}: {refused}");
        }
    }

    #[test]
    fn the_values_of_a_whole_file_are_checked() {
        let check = |text: &str| check_values(serde_json::from_str::<Value>(text).unwrap().as_object().unwrap());
        assert!(check(r#"{"zzz": 1, "mode": "yolo", "parallelization": null, "workflow": {"zzz": []}}"#).is_ok());
        let error = check(r#"{"workflow": {"research": "no"}}"#).unwrap_err().to_string();
        assert_eq!(error, "`workflow.research` cannot be `no`; it takes `true` or `false`");
        assert!(check(r#"{"phase_commit_docs": {"2.1": true}}"#).is_ok());
        assert!(check(r#"{"phase_commit_docs": {"2": 1}}"#).is_err());
    }

    #[test]
    fn keys_of_features_and_keys_named_by_the_user_can_be_set() {
        for key in ["external_job.artifact_dir", "model_policy.runtime_tiers.x.opus", "model_overrides.a-b"] {
            assert!(Setting::parse(key, "x").is_ok(), "{key}");
        }
        assert!(Setting::parse("workflow.ui_review", "true").is_ok());
        assert_eq!(Setting::parse("phase_commit_docs.2.1", "true").unwrap().path, ["phase_commit_docs", "2.1"]);
        assert_eq!(Setting::parse("git.create_tag", "true").unwrap().path, ["git", "create_tag"]);
    }

    #[test]
    fn the_tables_are_sorted_and_accept_every_default() {
        assert!(KEYS.is_sorted_by_key(|(key, ..)| *key) && PATTERNS.is_sorted_by_key(|(key, ..)| *key));
        for (key, _, about) in KEYS.iter().chain(PATTERNS) {
            assert!(about.chars().count() <= 72 && !about.ends_with('.'), "{key}: {about}");
        }
        let mut switches = Vec::new();
        add_leaves(&CAPABILITIES, "", &mut switches);
        for key in switches {
            let default = super::super::capability_default(&key).unwrap();
            let accepts = accepts(&key).unwrap_or_else(|| panic!("{key} cannot be set"));
            assert!(accepts.fits(default), "{key}: {default} is not {accepts}");
        }
        check_values(super::super::DEFAULTS.as_object().unwrap()).unwrap();
    }

    #[test]
    fn every_secret_can_be_set_and_is_known_as_a_secret() {
        for key in secrets() {
            assert!(Setting::parse(key, "sk-abcdefghijkl").is_ok() && is_secret(key), "{key}");
            let shown = without_secrets(&format!("{{\"{key}\": \"sk-abcdefghijkl\"}}"));
            assert_eq!(shown, format!("{{\"{key}\": \"****ijkl\"}}"));
        }
        assert!(!is_secret("mode"));
    }

    #[test]
    fn only_the_end_of_a_secret_is_shown() {
        assert_eq!(masked("sk-abcdefghijkl"), "****ijkl");
        assert_eq!(masked("short"), "****");
        let text =
            "+  \"brave_search\" : \"sk-abcdefghijkl\",\n-  \"firecrawl\": \"sk-abc\\\"defg\n \"exa_search\": true";
        let shown = without_secrets(text);
        assert!(
            shown.contains("\"****ijkl\",\n") && !shown.contains("abc") && shown.ends_with("\"exa_search\": true"),
            "{shown}"
        );
    }
}
