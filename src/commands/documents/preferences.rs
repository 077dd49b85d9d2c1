//! Preferences of `auto run` in `config list` and `config explain`, for people.

use serde_json::Value;

use crate::project::milestone_layout::preference_facts::{PreferenceFacts, PreferenceOrigin};
use crate::text::screen::{Cell, Screen, Tone};
use crate::text::untrusted::line;

/// The most characters of a value that are shown.
const WIDE: usize = 200;

pub(super) fn table(rows: &[PreferenceFacts], screen: Screen) -> String {
    let head = ["preference", "value", "source"].map(|text| Cell::new(Tone::Strong, text.to_owned()));
    let mut cells = vec![head.to_vec()];
    for facts in rows {
        let tone = match (&facts.problem, facts.source) {
            (Some(_), _) => Tone::Warning,
            (None, PreferenceOrigin::Default) => Tone::Faint,
            (None, _) => Tone::Plain,
        };
        let texts = [line(&facts.key, WIDE), value(facts), source(facts)];
        cells.push(texts.map(|text| Cell::new(tone, text)).to_vec());
    }
    let mut page = screen.table("", &cells);
    for (key, problem) in rows.iter().filter_map(|facts| Some((&facts.key, facts.problem.as_ref()?))) {
        page.push('\n');
        page += &screen.prose("", "", &format!("`{}`: {problem}.", line(key, WIDE)));
    }
    page.push('\n');
    page + &screen.prose("", "", "`gsd-tools config explain KEY` describes a preference and shows how to write it.")
}

pub(super) fn page(facts: &PreferenceFacts, screen: Screen) -> String {
    let mut page = format!("{}\n", screen.paint(Tone::Strong, &line(&facts.key, WIDE)));
    let mut rows = vec![("value", format!("{} ({})", value(facts), source(facts)))];
    if let Some(known) = &facts.known {
        page += &screen.prose("  ", "  ", &format!("A preference of `auto run`: {}", known.about));
        rows.extend([
            ("accepts", known.accepts.clone()),
            ("default", known.unset.clone()),
            ("in a run", known.handling.clone()),
            ("write in", known.written_in.to_owned()),
        ]);
    }
    page.push('\n');
    for (name, text) in rows {
        page += &screen.prose(&format!("  {name:<8} "), "           ", &text);
    }
    if let Some(problem) = &facts.problem {
        page.push('\n');
        page += &screen.prose("  ", "  ", &format!("{problem}."));
    }
    if let Some(known) = &facts.known {
        page.push('\n');
        page.extend(known.example.lines().map(|line| format!("  {}\n", screen.paint(Tone::Command, line))));
    }
    page
}

/// A value as people write it.
pub(super) fn bare(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

fn value(facts: &PreferenceFacts) -> String {
    line(&bare(&facts.value), WIDE)
}

fn source(facts: &PreferenceFacts) -> String {
    match (facts.file, facts.line) {
        (Some(file), Some(line)) => format!("{file} line {line}"),
        _ => "default".to_owned(),
    }
}
