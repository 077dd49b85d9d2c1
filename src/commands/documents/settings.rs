//! `config list` and `config explain`: the values, the files that set them, and the purpose of each key.

use crate::acts::user;
use std::cell::Cell as Flag;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::disk;
use crate::failure::Failure;
use crate::frame::Context;
use crate::project::config::ConfigTexts;
use crate::project::config::facts::{self, KeyFacts, Origin};
use crate::text::screen::{Cell, Screen, Tone};
use crate::text::shell::typed;

/// The answer of `config list`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct ListReport {
    keys: Vec<KeyFacts>,
}

/// The minimum width of a screen with room for the values that each key accepts.
const WIDE: usize = 100;

/// The keys that [`show`] lists: all, those that are set, or only `wanted` of these.
pub(super) fn listed(context: &mut Context, all: bool, wanted: Option<&str>) -> Result<Vec<KeyFacts>, Failure> {
    // The purpose of a key is the same in every project.
    if !all {
        context.refuses_a_person_without_a_project()?;
    }
    with_texts(context, |texts| facts::list(texts, all, wanted))
}

pub(super) fn show(context: &mut Context, keys: Vec<KeyFacts>, wanted: Option<&str>) -> Result<(), Failure> {
    if !context.shows_to_a_person() {
        return context.emit(&ListReport { keys });
    }
    let screen = context.screen();
    context.text(table(&keys, wanted, screen));
    Ok(())
}

/// The facts about a key.
pub(super) fn facts_of(context: &Context, key: &str) -> Result<KeyFacts, Failure> {
    with_texts(context, |texts| facts::explain(texts, key))
}

pub(super) fn explain(context: &mut Context, facts: &KeyFacts) -> Result<(), Failure> {
    if !context.shows_to_a_person() {
        return context.emit(facts);
    }
    let screen = context.screen();
    context.text(page(facts, screen));
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

/// A value as people write it.
fn bare(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
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
