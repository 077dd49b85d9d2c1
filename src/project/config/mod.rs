//! Reads `config.json` and provides the values in effect, with defaults and with old key names.
//!
//! A configuration is read from up to three texts: a workstream's file overrides the project's, and the user's personal
//! defaults apply if a project has neither. A value of the wrong kind is ignored: the default applies. Edits are not
//! made here but on the file's own text, through [`crate::text::json`].

mod accepts;
pub(crate) mod facts;
mod keys;
mod legacy;
mod pattern;
mod report;
mod table;
mod unused;

use std::sync::LazyLock;

use serde_json::{Map, Value};

pub(crate) use keys::{
    Setting, check_values, is_key, is_secret, key_names, masked, may_be, store_values, unknown, without_secrets,
};
pub(crate) use legacy::{Normalization, meant, normalizations};
pub(crate) use report::LoadedConfig;
pub(crate) use table::{BRANCHING, PROFILES, YOLO_STOPS};
#[cfg(test)]
pub(crate) use unused::{unused, unused_keys};

/// The configuration file of a new project.
pub(crate) const INITIAL: &str = include_str!("initial.json");

/// The values in effect if no file sets the key.
static DEFAULTS: LazyLock<Value> = LazyLock::new(|| embedded(include_str!("defaults.json")));

/// Defaults of the keys that enable features; only these defaults are also in the answer of `config-get`.
static CAPABILITIES: LazyLock<Value> = LazyLock::new(|| embedded(include_str!("capabilities.json")));

fn embedded(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or(Value::Null)
}

/// The texts of the files that a configuration is read from, each `None` if the file does not exist.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ConfigTexts<'text> {
    /// `config.json` of the project.
    pub(crate) project: Option<&'text str>,
    /// `config.json` of the active workstream.
    pub(crate) workstream: Option<&'text str>,
    /// The user's `defaults.json`, for projects without a file.
    pub(crate) personal: Option<&'text str>,
    /// The project or its workstream has a file that cannot be read at all.
    pub(crate) unreadable: bool,
}

/// Why a part of the configuration was left out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ConfigProblem {
    #[error("the {which} is not a JSON object and is ignored: {reason}")]
    Unparsable { which: &'static str, reason: String },
    #[error("a value in the {which} is ignored: {reason}")]
    Unusable { which: &'static str, reason: String },
}

/// The configuration of a project.
#[derive(Clone, Debug, Default)]
pub(crate) struct Config {
    written: Map<String, Value>,
    has_file: bool,
    source: Source,
    left_out: bool,
}

/// The file with the highest precedence that was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Source {
    Workstream,
    Project,
    Personal,
    #[default]
    Defaults,
}

/// The setting that decides on which branch work is committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Branching {
    None,
    Phase,
    Milestone,
}

impl Config {
    /// Reads the texts. One that does not parse is left out and returned as a problem.
    pub(crate) fn read(texts: ConfigTexts<'_>) -> (Self, Vec<ConfigProblem>) {
        let mut problems = Vec::new();
        let mut written = Map::new();
        let mut source = Source::Defaults;
        let has_file = texts.project.is_some() || texts.workstream.is_some() || texts.unreadable;
        let layers = [
            (Source::Personal, "user's defaults.json", texts.personal.filter(|_| !has_file)),
            (Source::Project, "project's config.json", texts.project),
            (Source::Workstream, "workstream's config.json", texts.workstream),
        ];
        for (layer_source, which, text) in layers {
            let Some(text) = text else { continue };
            match parse(text) {
                Ok(mut layer) => {
                    legacy::normalize(&mut layer);
                    let unusable = keys::take_unusable(&mut layer).into_iter();
                    problems.extend(unusable.map(|reason| ConfigProblem::Unusable { which, reason }));
                    merge(&mut written, layer);
                    source = layer_source;
                }
                Err(reason) => problems.push(ConfigProblem::Unparsable { which, reason }),
            }
        }
        let left_out =
            texts.unreadable || problems.iter().any(|problem| matches!(problem, ConfigProblem::Unparsable { .. }));
        (Self { written, has_file, source, left_out }, problems)
    }

    /// The same configuration with some switches changed.
    pub(crate) fn with_switches(&self, switches: &[(String, bool)]) -> Self {
        let mut changed = self.clone();
        for (key, on) in switches {
            merge(&mut changed.written, legacy::nested(key, Value::Bool(*on)));
        }
        changed
    }

    /// The same configuration with a default for a key that this program has none for; a value that does not fit is
    /// replaced.
    pub(crate) fn with_default(mut self, key: &str, default: &Value, fits: impl Fn(&Value) -> bool) -> Self {
        if !self.written(key).is_some_and(fits) {
            merge(&mut self.written, legacy::nested(key, default.clone()));
        }
        self
    }

    /// Whether the project or its workstream has a file at all.
    pub(crate) fn has_file(&self) -> bool {
        self.has_file
    }

    /// The file with the highest precedence that was read.
    pub(crate) fn source(&self) -> Source {
        self.source
    }

    /// Whether a file was left out because it does not parse.
    pub(crate) fn has_left_out(&self) -> bool {
        self.left_out
    }

    /// The value at a dotted key as it is in the files.
    pub(crate) fn written(&self, key: &str) -> Option<&Value> {
        at(&self.written, key)
    }

    /// The value in effect: from the files, else the default; null for a key without either.
    pub(crate) fn value(&self, key: &str) -> &Value {
        const NULL: &Value = &Value::Null;
        self.written(key).or_else(|| default_of(key)).unwrap_or(NULL)
    }

    /// Whether a switch is on.
    pub(crate) fn flag(&self, key: &str) -> bool {
        self.written(key)
            .and_then(Value::as_bool)
            .or_else(|| default_of(key).and_then(Value::as_bool))
            .unwrap_or_default()
    }

    /// A text; `None` if it is null, empty, or of another kind without a default.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        self.written(key)
            .and_then(Value::as_str)
            .or_else(|| default_of(key).and_then(Value::as_str))
            .filter(|text| !text.is_empty())
    }

    pub(crate) fn number(&self, key: &str) -> Option<u64> {
        self.written(key).and_then(Value::as_u64).or_else(|| default_of(key).and_then(Value::as_u64))
    }

    /// The texts of a list; a single text counts as a list of one.
    pub(crate) fn texts(&self, key: &str) -> Vec<&str> {
        match self.value(key) {
            Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
            Value::String(text) if !text.is_empty() => vec![text],
            _ => Vec::new(),
        }
    }

    /// The names and values of an object, in the order of the file.
    pub(crate) fn entries(&self, key: &str) -> impl Iterator<Item = (&str, &Value)> {
        self.value(key).as_object().into_iter().flatten().map(|(name, value)| (name.as_str(), value))
    }

    /// Top-level keys of the files that we do not know.
    pub(crate) fn unknown_keys(&self) -> Vec<&str> {
        self.written.keys().map(String::as_str).filter(|key| !keys::is_known_root(key)).collect()
    }

    /// Whether the documents of the project are committed at all.
    pub(crate) fn commit_docs(&self) -> bool {
        let written = |key| self.written(key).and_then(Value::as_bool);
        written("commit_docs").or_else(|| written("planning.commit_docs")).unwrap_or(true)
    }

    /// As [`Self::commit_docs`], for the documents of one phase, which can have its own rule.
    pub(crate) fn commit_docs_of(&self, phase: &str) -> bool {
        let rules = self.written("phase_commit_docs").and_then(Value::as_object);
        let own = rules.and_then(|rules| rules.get(phase).or_else(|| at(rules, phase))).and_then(Value::as_bool);
        own.unwrap_or_else(|| self.commit_docs())
    }

    pub(crate) fn branching(&self) -> Branching {
        match self.text("git.branching_strategy") {
            Some("phase") => Branching::Phase,
            Some("milestone") => Branching::Milestone,
            _ => Branching::None,
        }
    }

    /// The name of the profile that chooses models, as written.
    pub(crate) fn model_profile(&self) -> &str {
        self.text("model_profile").unwrap_or("balanced")
    }

    /// The code in front of the numbers of phases.
    pub(crate) fn project_code(&self) -> Option<&str> {
        self.text("project_code")
    }

    /// The host chosen for the project.
    pub(crate) fn runtime(&self) -> Option<&str> {
        self.text("runtime")
    }

    /// Folders of the project that are separate repositories.
    pub(crate) fn sub_repositories(&self) -> Vec<&str> {
        self.texts("planning.sub_repos")
    }

    /// Whether separate repositories in folders of the project belong to it without being listed.
    pub(crate) fn adopts_repositories(&self) -> bool {
        self.flag("multiRepo")
    }
}

/// The value that one file has for a key, by the key's current name or an old one.
pub(crate) fn written_in(mut file: Map<String, Value>, key: &str) -> Option<Value> {
    let whole = key.split_once('.').and_then(|(root, rest)| file.get(root)?.get(rest));
    if let Some(value) = at(&file, key).or(whole) {
        return Some(value.clone());
    }
    legacy::normalize(&mut file);
    at(&file, key).cloned()
}

/// Keys that report their default when unset, because callers use the value.
const TOLD: &[&str] = &[
    "context_window",
    "executor.stall_detect_interval_minutes",
    "executor.stall_threshold_minutes",
    "git.create_tag",
    "hooks.context_critical_threshold",
    "hooks.context_warning_threshold",
    "planner.stall_detect_interval_minutes",
    "planner.stall_threshold_minutes",
    "planning.pr_strict",
    "workflow.agent_hint_routing",
    "workflow.compact_content",
    "workflow.inline_plan_threshold",
    "workflow.smart_zone_tokens",
];

/// The default to report for an unset key: those of features, and those in the list above.
pub(crate) fn told_default(key: &str) -> Option<&'static Value> {
    if TOLD.contains(&key) { default_of(key) } else { capability_default(key) }
}

/// The default of a feature switch. A group of switches has no default.
fn capability_default(key: &str) -> Option<&'static Value> {
    at(CAPABILITIES.as_object()?, key).filter(|value| !value.is_object())
}

fn default_of(key: &str) -> Option<&'static Value> {
    at(DEFAULTS.as_object()?, key).or_else(|| capability_default(key))
}

/// Reads the text of a file; a byte order mark is allowed.
pub(crate) fn parse(text: &str) -> Result<Map<String, Value>, String> {
    match serde_json::from_str(text.trim_start_matches('\u{feff}')) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err("it is another kind of value".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// The value at a dotted key.
pub(crate) fn at<'map>(map: &'map Map<String, Value>, key: &str) -> Option<&'map Value> {
    match key.split_once('.') {
        None => map.get(key),
        Some((first, rest)) => at(map.get(first)?.as_object()?, rest),
    }
}

/// Merges `over` into `base`: objects are merged, everything else is replaced.
pub(crate) fn merge(base: &mut Map<String, Value>, over: Map<String, Value>) {
    for (key, value) in over {
        match (base.get_mut(&key), value) {
            (Some(Value::Object(below)), Value::Object(above)) => merge(below, above),
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(project: &str) -> Config {
        let (config, problems) = Config::read(ConfigTexts { project: Some(project), ..ConfigTexts::default() });
        assert_eq!(problems, []);
        config
    }

    #[test]
    fn the_embedded_files_are_objects_and_a_new_file_only_has_defaults() {
        fn check(initial: &Map<String, Value>, defaults: &Map<String, Value>) {
            for (key, value) in initial {
                match (value, &defaults[key]) {
                    (Value::Object(initial), Value::Object(defaults)) => check(initial, defaults),
                    (value, default) => assert_eq!(value, default, "{key}"),
                }
            }
        }
        assert!(DEFAULTS.is_object() && CAPABILITIES.is_object());
        check(&parse(INITIAL).unwrap(), DEFAULTS.as_object().unwrap());
    }

    #[test]
    fn every_reported_default_exists() {
        for key in TOLD {
            assert!(told_default(key).is_some(), "{key}");
        }
        assert_eq!(told_default("workflow.verifier"), None);
    }

    #[test]
    fn two_defaults_of_one_key_agree() {
        fn check(one: &Map<String, Value>, other: &Map<String, Value>) {
            for (key, value) in one {
                match (value, other.get(key)) {
                    (Value::Object(one), Some(Value::Object(other))) => check(one, other),
                    (value, Some(other)) => assert_eq!(value, other, "{key}"),
                    (_, None) => {}
                }
            }
        }
        check(CAPABILITIES.as_object().unwrap(), DEFAULTS.as_object().unwrap());
    }

    #[test]
    fn defaults_apply_if_a_value_is_missing_or_nonsense() {
        let config = config(r#"{"workflow": {"research": false, "verifier": "maybe"}, "context_window": "big"}"#);
        assert!(!config.flag("workflow.research"));
        assert!(config.flag("workflow.verifier"));
        assert!(config.flag("workflow.plan_check"));
        assert!(config.flag("workflow.ui_review"), "a capability's default");
        assert_eq!(config.number("context_window"), Some(200_000));
        assert_eq!(config.text("git.branching_strategy"), Some("none"));
        assert_eq!(config.text("runtime"), None);
        assert_eq!(config.value("no.such.key"), &Value::Null);
    }

    #[test]
    fn a_workstream_overrides_the_project_and_personal_defaults_apply_without_both() {
        let texts = ConfigTexts {
            project: Some(r#"{"mode": "yolo", "git": {"create_tag": false}}"#),
            workstream: Some("\u{feff}{\"git\": {\"branching_strategy\": \"phase\"}}"),
            personal: Some(r#"{"model_profile": "budget"}"#),
            unreadable: false,
        };
        let (config, _) = Config::read(texts);
        assert_eq!(config.text("mode"), Some("yolo"));
        assert_eq!(config.branching(), Branching::Phase);
        assert!(!config.flag("git.create_tag"));
        assert_eq!(config.model_profile(), "balanced");
        let (alone, _) = Config::read(ConfigTexts { project: None, workstream: None, ..texts });
        assert_eq!(alone.model_profile(), "budget");
        assert!(!alone.has_file());
        let unreadable = ConfigTexts { project: None, workstream: None, unreadable: true, ..texts };
        let (unreadable, _) = Config::read(unreadable);
        assert!(unreadable.has_file() && unreadable.has_left_out());
        assert_eq!(unreadable.model_profile(), "balanced", "a file that cannot be read is none that is missing");
    }

    #[test]
    fn a_broken_file_is_left_out_and_reported() {
        let workstream = Some(r#"{"mode":"x"}"#);
        let texts = ConfigTexts { project: Some("{bad"), workstream, ..ConfigTexts::default() };
        let (config, problems) = Config::read(texts);
        assert_eq!(problems.len(), 1);
        assert!(problems[0].to_string().contains("project's config.json"), "{problems:?}");
        assert_eq!(config.text("mode"), Some("x"));
        assert!(Config::read(ConfigTexts { project: Some("[]"), ..ConfigTexts::default() }).1.len() == 1);
    }

    #[test]
    fn a_phase_can_have_its_own_rule_for_commits() {
        let config =
            config(r#"{"commit_docs": false, "phase_commit_docs": {"2": true, "2.1": true, "3": {"1": true}}}"#);
        assert!(!config.commit_docs() && config.commit_docs_of("2") && config.commit_docs_of("2.1"));
        assert!(config.commit_docs_of("3.1") && !config.commit_docs_of("4"));
    }

    #[test]
    fn old_names_of_keys_are_understood() {
        let config = config(r#"{"depth": "comprehensive", "branching_strategy": "milestone", "sub_repos": ["a"]}"#);
        assert_eq!(config.text("granularity"), Some("fine"));
        assert_eq!(config.branching(), Branching::Milestone);
        assert_eq!(config.sub_repositories(), ["a"]);
        assert_eq!(config.unknown_keys(), [""; 0]);
    }
}
