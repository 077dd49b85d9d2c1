//! Each preference with its value, its source, its default, what it accepts and what a run does with it: for `config
//! list` and `config explain`.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

use super::preference_table::{self as table, KEYS, PreferenceKey, PreferenceKind, PreferenceUse};
use super::preferences::{Given, PreferenceDocument, PreferenceSource, Preferences, Profile, given};
use super::{fence, held_out, unit_hooks};
use crate::text::front_matter::Value;
use crate::text::untrusted::line;

/// The source of a preference's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PreferenceOrigin {
    /// `.gsd/PREFERENCES.md` of the project.
    Project,
    /// The user's own `~/.gsd/PREFERENCES.md`.
    Personal,
    Default,
}

/// One preference of `auto run`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct PreferenceFacts {
    pub(crate) key: String,
    /// The value in effect; null if there is none. Of a preference that a run refuses, the value that is written.
    pub(crate) value: Json,
    /// Null if there is none.
    pub(crate) default: Json,
    pub(crate) source: PreferenceOrigin,
    /// The file that sets the value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<&'static str>,
    /// The line in that file, counted from one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<usize>,
    /// Why a run refuses or ignores what is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) problem: Option<String>,
    /// Null for a key that is not known.
    pub(crate) known: Option<KnownPreference>,
}

/// What the table says about a preference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct KnownPreference {
    /// What it does.
    pub(crate) about: &'static str,
    /// The values it accepts, in words.
    pub(crate) accepts: String,
    /// The default in words.
    pub(crate) unset: String,
    /// What a run does with it.
    pub(crate) handling: String,
    /// A whole document with an example.
    pub(crate) example: String,
    /// The files in which it may be written.
    pub(crate) written_in: &'static str,
}

impl From<&PreferenceKey> for KnownPreference {
    fn from(key: &PreferenceKey) -> Self {
        Self {
            about: key.about,
            accepts: key.kind.to_string(),
            unset: key.default_in_words(),
            handling: key.use_in_words(),
            example: key.document(),
            written_in: key.files(),
        }
    }
}

/// The texts of both documents.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PreferenceTexts<'text> {
    pub(crate) project: Option<&'text str>,
    pub(crate) personal: Option<&'text str>,
}

/// True if `wanted` is a preference or a group of them.
pub(crate) fn exists(wanted: &str) -> bool {
    table::known(wanted).is_some() || KEYS.iter().any(|key| is_within(key.name, wanted))
}

fn is_within(key: &str, wanted: &str) -> bool {
    key.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The preferences that are set, in the order of the table and then the unknown ones; with `all` also those with their
/// default. `wanted` is a key or a group of keys.
pub(crate) fn list(texts: PreferenceTexts<'_>, all: bool, wanted: Option<&str>) -> Vec<PreferenceFacts> {
    let given = given(texts.project, texts.personal);
    let mut names: Vec<&str> = Vec::new();
    for key in KEYS {
        let of_key = given.iter().map(|given| given.key.as_str());
        let written: Vec<&str> =
            of_key.filter(|name| table::known(name).is_some_and(|known| known.name == key.name)).collect();
        if written.is_empty() && all {
            names.push(key.name);
        }
        names.extend(written);
    }
    names.extend(given.iter().map(|given| given.key.as_str()).filter(|name| table::known(name).is_none()));
    let wanted = |name: &&str| wanted.is_none_or(|wanted| is_within(name, wanted));
    names.into_iter().filter(wanted).map(|name| facts(texts, &given, name)).collect()
}

/// One preference; `None` if it is neither known nor set.
pub(crate) fn explain(texts: PreferenceTexts<'_>, key: &str) -> Option<PreferenceFacts> {
    let given = given(texts.project, texts.personal);
    let exists = table::known(key).is_some() || given.iter().any(|given| given.key == key);
    exists.then(|| facts(texts, &given, key))
}

fn facts(texts: PreferenceTexts<'_>, given: &[Given], name: &str) -> PreferenceFacts {
    let key = table::known(name);
    let first = given.iter().find(|given| given.key == name);
    let mut found = PreferenceFacts {
        key: name.to_owned(),
        value: Json::Null,
        default: Json::Null,
        source: PreferenceOrigin::Default,
        file: None,
        line: None,
        problem: first.and_then(|first| problem(texts, first, key)),
        known: key.map(KnownPreference::from),
    };
    let Some(key) = key else {
        if let Some(first) = first {
            found.set(first.source, first.line, Json::from(first.value.as_str()));
        }
        return found;
    };
    let is_burn_max = Preferences::read(texts.project, texts.personal).0.token_profile == Profile::BurnMax;
    let default = |is_burn_max| key.default_with(is_burn_max).map_or(Json::Null, |value| json(key.kind, &value));
    found.default = default(false);
    found.value = default(is_burn_max);
    let documents = PreferenceSource::in_order(name).into_iter().filter_map(|source| {
        let text = if source == PreferenceSource::Global { texts.personal } else { texts.project };
        PreferenceDocument::new(source, text?)
    });
    for document in documents {
        if let Some(value) = document.get(name).filter(|value| key.kind.fits(value)) {
            found.set(document.whose, document.line(name), json(key.kind, &value));
            break;
        }
    }
    found
}

impl PreferenceFacts {
    fn set(&mut self, source: PreferenceSource, line: usize, value: Json) {
        self.source = match source {
            PreferenceSource::Project => PreferenceOrigin::Project,
            PreferenceSource::Global => PreferenceOrigin::Personal,
        };
        (self.file, self.line, self.value) = (Some(source.file()), Some(line), value);
    }
}

/// Why a run refuses or ignores what a document sets.
fn problem(texts: PreferenceTexts<'_>, first: &Given, key: Option<&'static PreferenceKey>) -> Option<String> {
    let place = format!("`{}` line {}", first.source.file(), first.line);
    let shown = line(&first.value, 60);
    let Some(key) = key else {
        return Some(match table::near(&first.key) {
            Some(near) => format!("{place}: it is not known and has no effect; perhaps `{near}` is meant"),
            None => format!("{place}: it is not known and has no effect; it may belong to another program"),
        });
    };
    let (_, problems) = Preferences::read(texts.project, texts.personal);
    let start = format!("`{}` is `", key.name);
    if let Some(problem) = problems.into_iter().find(|problem| problem.what.starts_with(&start)) {
        return Some(format!(
            "`{}` line {}: {}; a run does not start with it",
            problem.source.file(),
            problem.line,
            problem.what
        ));
    }
    if [table::BEFORE_UNITS, table::AFTER_UNITS].contains(&key.name) {
        let mut problems = unit_hooks::read(texts.project, texts.personal).problems.into_iter();
        let found = problems.find(|problem| problem.what.contains(&format!("`{}`", key.name)))?;
        let (file, line, what) = (found.source.file(), found.line, found.what);
        return Some(format!("`{file}` line {line}: {what}; a run does not start with it"));
    }
    if let Some(why) = key.refusal(&first.value, first.source == PreferenceSource::Global) {
        return Some(format!("{place}: it is `{shown}`, but {why}; a run does not start with it"));
    }
    match key.handled {
        PreferenceUse::Idle(why) => Some(format!("{place}: it has no effect, since {why}")),
        PreferenceUse::Users(_) => refused_by_its_reader(key, texts.personal?)
            .map(|why| format!("{place}: {why}; a run does not start with it")),
        _ => None,
    }
}

/// What the reader of a key says that refuses what it does not understand.
fn refused_by_its_reader(key: &PreferenceKey, text: &str) -> Option<String> {
    match key.kind {
        PreferenceKind::Strict(_) if key.name == held_out::KEY => held_out::entries(text).err(),
        PreferenceKind::Strict(_) => fence::read(text).err().map(|why| format!("`{}` {why}", fence::KEY)),
        _ => None,
    }
}

/// A value that fits its kind.
fn json(kind: PreferenceKind, value: &Value) -> Json {
    let found = match kind {
        PreferenceKind::Flag => table::flag(value).map(Json::from),
        PreferenceKind::Number => table::number(value).map(Json::from),
        PreferenceKind::Amount => table::amount(value).map(Json::from),
        PreferenceKind::List => table::list(value).map(Json::from),
        PreferenceKind::Text | PreferenceKind::Word(_) => value.as_text().map(Json::from),
        PreferenceKind::Strict(_) => None,
    };
    found.or_else(|| serde_json::to_value(value).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROJECT: &str = "---\ntoken_profile: burn-max\nuat_dispatch: maybe\ngit:\n  auto_push: true\nverification_comands: \
        [make]\nlanguage: de\napproved: [abc]\nbudget_ceiling: 3\n---\n";
    const PERSONAL: &str = "---\nuat_dispatch: true\nfence:\n  terminals: 3\nbudget_ceiling: 9\n---\n";
    const TEXTS: PreferenceTexts<'_> = PreferenceTexts { project: Some(PROJECT), personal: Some(PERSONAL) };

    #[test]
    fn what_is_set_is_listed_with_its_place_and_what_is_wrong_with_it() {
        let rows = list(TEXTS, false, None);
        let of = |key: &str| rows.iter().find(|row| row.key == key).unwrap();
        let uat = of("uat_dispatch");
        assert_eq!((&uat.value, uat.source, uat.line), (&true.into(), PreferenceOrigin::Personal, Some(2)));
        assert!(uat.problem.as_ref().unwrap().starts_with("`.gsd/PREFERENCES.md` line 3: "), "{uat:?}");
        let budget = of("budget_ceiling");
        assert_eq!((&budget.value, budget.file, &budget.problem), (&3.0.into(), Some(".gsd/PREFERENCES.md"), &None));
        for (key, why) in [
            ("git.auto_push", "a run pushes nothing"),
            ("approved", "which no project writes"),
            ("fence.terminals", "`terminals` is `true` or `false`"),
            ("verification_comands", "perhaps `verification_commands` is meant"),
            ("language", "it may belong to another program"),
        ] {
            assert!(of(key).problem.as_ref().is_some_and(|problem| problem.contains(why)), "{:?}", of(key));
        }
        assert_eq!((rows.len(), of("language").known.is_none()), (8, true), "{rows:?}");
    }

    #[test]
    fn all_keys_are_listed_with_the_defaults_of_the_profile() {
        let rows = list(TEXTS, true, None);
        let of = |key: &str| rows.iter().find(|row| row.key == key).unwrap();
        let mechanical = of("mechanical.enabled");
        assert_eq!((&mechanical.value, &mechanical.default), (&false.into(), &true.into()));
        assert_eq!(rows.iter().filter(|row| row.known.is_some()).count(), KEYS.len());
        let group: Vec<String> = list(TEXTS, true, Some("fence")).into_iter().map(|row| row.key).collect();
        assert_eq!(group, ["fence.read", "fence.sockets", "fence.network", "fence.terminals"]);
        assert!(exists("phases") && exists("models.review") && !exists("phase"));
        assert!(explain(PreferenceTexts::default(), "nothing").is_none());
    }
}
