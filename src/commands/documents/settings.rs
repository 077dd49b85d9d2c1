//! `config list` and `config explain`: the values, the files that set them, and the purpose of each key. Preferences of
//! `auto run` have their own group, in [`super::preferences`].

use crate::acts::auto::place::WrittenPreferences;
use crate::acts::user;
use std::cell::Cell as Flag;

use super::preferences::{self, bare};
use schemars::JsonSchema;
use serde::Serialize;

use crate::disk;
use crate::failure::Failure;
use crate::frame::Context;
use crate::project::config::ConfigTexts;
use crate::project::config::facts::{self, KeyFacts, Origin};
use crate::project::milestone_layout::preference_facts::{self, PreferenceFacts};
use crate::text::screen::{Cell, Screen, Tone};
use crate::text::shell::typed;

/// The answer of `config list`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct ListReport {
    keys: Vec<KeyFacts>,
    /// Preferences of `auto run`, in a project with `.gsd/`, or if the user has `~/.gsd/PREFERENCES.md`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    preferences: Vec<PreferenceFacts>,
}

/// The answer of `config explain`: about a key of `config.json`, a preference of `auto run`, or both of one name.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct ExplainReport {
    #[serde(flatten)]
    key: Option<KeyFacts>,
    /// The preference of `auto run` with this name.
    #[serde(skip_serializing_if = "Option::is_none")]
    preference: Option<PreferenceFacts>,
}

/// The minimum width of a screen with room for the values that each key accepts.
const WIDE: usize = 100;

/// Lists the keys that are set, with `all` every key, or only `wanted` of these.
pub(super) fn list(context: &mut Context, all: bool, wanted: Option<&str>) -> Result<(), Failure> {
    let written = WrittenPreferences::of_call(context)?;
    // The purpose of a key is the same in every project.
    if !all && written.as_ref().is_none_or(|written| !written.has_folder) {
        context.refuses_a_person_without_a_project()?;
    }
    let preferences =
        written.as_ref().map(|written| preference_facts::list(written.texts(), all, wanted)).unwrap_or_default();
    let is_preference = wanted.is_some_and(|wanted| preference_facts::exists(wanted) || !preferences.is_empty());
    let keys = match with_texts(context, |texts| facts::list(texts, all, wanted)) {
        Err(_) if written.is_some() && is_preference => Vec::new(),
        keys => keys?,
    };
    if !context.shows_to_a_person() {
        return context.emit(&ListReport { keys, preferences });
    }
    let screen = context.screen();
    let mut page = String::new();
    if !keys.is_empty() || preferences.is_empty() {
        page += &table(&keys, wanted, screen);
    }
    if !preferences.is_empty() {
        page += if page.is_empty() { "" } else { "\n" };
        page += &preferences::table(&preferences, screen);
    }
    context.text(page);
    Ok(())
}

/// The facts about a key.
pub(super) fn facts_of(context: &Context, key: &str) -> Result<KeyFacts, Failure> {
    with_texts(context, |texts| facts::explain(texts, key))
}

/// Explains a key of `config.json`, a preference, or both of one name.
pub(super) fn explain(context: &mut Context, key: &str) -> Result<(), Failure> {
    let written = WrittenPreferences::of_call(context)?;
    let texts = written.as_ref().map(WrittenPreferences::texts);
    let preference = preference_facts::explain(texts.unwrap_or_default(), key);
    let (key, preference) = match (facts_of(context, key), preference) {
        (Err(_), Some(preference)) => (None, Some(preference)),
        (facts, preference) => (Some(facts?), preference.filter(|_| texts.is_some())),
    };
    if !context.shows_to_a_person() {
        return context.emit(&ExplainReport { key, preference });
    }
    let screen = context.screen();
    let pages = [key.map(|key| page(&key, screen)), preference.map(|found| preferences::page(&found, screen))];
    context.text(pages.into_iter().flatten().collect::<Vec<_>>().join("\n"));
    Ok(())
}

/// Calls `act` with the files that can set keys. A file that cannot be read or does not parse is reported.
fn with_texts<T>(context: &Context, act: impl FnOnce(ConfigTexts<'_>) -> Result<T, Failure>) -> Result<T, Failure> {
    context.config()?;
    let layout = context.layout();
    let unreadable = Flag::new(false);
    let read =
        |path: String| disk::read_config(layout.absolute(&path)).inspect_err(|_| unreadable.set(true)).ok().flatten();
    let project = read(layout.root_config());
    let workstream = layout.workstream().and_then(|_| read(layout.config()));
    let personal = user::defaults(context.world())?;
    act(ConfigTexts {
        project: project.as_deref(),
        workstream: workstream.as_deref(),
        personal: personal.as_deref(),
        unreadable: unreadable.get(),
    })
}

fn table(keys: &[KeyFacts], wanted: Option<&str>, screen: Screen) -> String {
    if keys.is_empty() {
        let told = match wanted {
            None => "No key is set. `gsd-tools config list --all` shows all keys and their defaults.".to_owned(),
            Some(wanted) => {
                format!(
                    "No key of `{wanted}` is set. `{}` shows the defaults.",
                    typed!("gsd-tools config list {} --all", wanted)
                )
            }
        };
        return screen.prose("", "", &told);
    }
    let is_wide = screen.width >= WIDE;
    let cells = |texts: [String; 5], tone: Tone| {
        let [key, value, source, default, accepts] = texts.map(|text| Cell::new(tone, text));
        if is_wide { vec![key, value, source, default, accepts] } else { vec![key, value, source] }
    };
    let head = ["key", "value", "source", "default", "accepts"].map(str::to_owned);
    let mut rows = vec![cells(head, Tone::Strong)];
    for facts in keys {
        let tone = match (facts.invalid, facts.source) {
            (true, _) => Tone::Warning,
            (false, Origin::Default) => Tone::Faint,
            (false, _) => Tone::Plain,
        };
        let accepts = facts.accepts.as_deref().map_or_else(|| "unknown key".to_owned(), |text| text.replace('`', ""));
        let texts =
            [facts.key.clone(), bare(&facts.value), source(facts.source).to_owned(), bare(&facts.default), accepts];
        rows.push(cells(texts, tone));
    }
    let mut page = screen.table("", &rows);
    if keys.iter().any(|facts| facts.invalid) {
        page.push('\n');
        page +=
            &screen.prose("", "", "A key or a value in colour is not known and is ignored, or its default is used.");
    }
    for (key, reason) in keys.iter().filter_map(|facts| Some((&facts.key, facts.unused?))) {
        page.push('\n');
        page += &screen.prose("", "", &format!("`{key}` has no effect here: {reason}."));
    }
    page.push('\n');
    page + &screen.prose(
        "",
        "",
        "`gsd-tools config explain KEY` describes a key; `gsd-tools config-set KEY VALUE` sets one.",
    )
}

fn page(facts: &KeyFacts, screen: Screen) -> String {
    let mut page = format!("{}\n", screen.paint(Tone::Strong, &facts.key));
    page += &screen.prose("  ", "  ", facts.about.unwrap_or_default());
    page.push('\n');
    let rows = [
        ("accepts", facts.accepts.clone().unwrap_or_default()),
        ("default", bare(&facts.default)),
        ("value", format!("{} ({})", bare(&facts.value), long_source(facts.source))),
    ];
    for (name, text) in rows {
        page += &screen.prose(&format!("  {name:<8} "), "           ", &text);
    }
    if facts.invalid {
        page += &screen.prose("  ", "  ", "This value is not accepted, so the default is used.");
    }
    if let Some(reason) = facts.unused {
        page += &screen.prose("  ", "  ", &format!("It has no effect here: {reason}."));
    }
    let set = typed!("gsd-tools config-set {} VALUE", facts.key);
    page + &format!("\n  {}\n", screen.paint(Tone::Command, set.as_str()))
}

fn source(origin: Origin) -> &'static str {
    match origin {
        Origin::Workstream => "workstream",
        Origin::Project => "project",
        Origin::Personal => "personal",
        Origin::Default => "default",
    }
}

fn long_source(origin: Origin) -> &'static str {
    match origin {
        Origin::Workstream => "from config.json of the workstream",
        Origin::Project => "from .planning/config.json",
        Origin::Personal => "from ~/.gsd/defaults.json",
        Origin::Default => "the default",
    }
}
