//! The front matter of STATE.md: an index of the body for programs.
//!
//! [`KEYS`] is the table of keys, [`Sources`] the values that the body gives them, and [`Index`] the front matter as it
//! should be. `operations::state` combines them with the disk and the roadmap. Writing an index keeps the bytes of
//! every line whose value does not change, unknown keys, comments and the order.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::edit::one_line;
use super::{State, meaningful, normal_status};
use crate::text::front_matter::{FrontMatter, Value, compose};
use crate::text::markdown::newline_of;
use crate::text::splice::Splices;

/// A key of the front matter: one row has all its properties.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    /// Its name in reports.
    pub(crate) shown: &'static str,
    /// The fields of the body that it follows; empty if it follows none.
    labels: &'static [&'static str],
    /// Reads its value from these fields.
    source: fn(&State<'_>) -> Option<String>,
    /// It copies the text of the body, and keeps its own spelling while the two are equivalent.
    pub(crate) is_copied: bool,
}

impl Key {
    const fn own(name: &'static str) -> Self {
        Self { name, shown: name, labels: &[], source: |_| None, is_copied: false }
    }

    const fn of_body(
        name: &'static str,
        shown: &'static str,
        labels: &'static [&'static str],
        source: fn(&State<'_>) -> Option<String>,
    ) -> Self {
        Self { name, shown, labels, source, is_copied: true }
    }

    /// Whether it follows a field of the body.
    pub(crate) fn is_sourced(&self) -> bool {
        !self.labels.is_empty()
    }

    /// Whether the body has a field for it, whatever its value.
    pub(crate) fn has_source(&self, state: &State<'_>) -> bool {
        self.labels.iter().any(|label| state.field(label).is_some())
    }
}

/// The keys in the order in which new ones are inserted.
pub(crate) const KEYS: &[Key] = &[
    Key::own("gsd_state_version"),
    Key::own("milestone"),
    Key::own("milestone_name"),
    Key::of_body("current_phase", "Current Phase", &["Phase", "Current Phase"], |state| {
        state.position().phase.map(str::to_owned)
    }),
    Key::of_body(
        "current_phase_name",
        "Current Phase Name",
        &["Phase", "Current Phase", "Current Phase Name"],
        |state| state.position().name.map(str::to_owned),
    ),
    Key::of_body("current_plan", "Current Plan", &["Current Plan"], |state| owned(state.value("Current Plan"))),
    Key { is_copied: false, ..Key::of_body("status", "Status", &["Status"], |state| owned(state.value("Status"))) },
    Key::of_body("stopped_at", "Stopped At", &["Stopped At"], |state| owned(state.value("Stopped At"))),
    Key::of_body("paused_at", "Paused At", &["Paused At"], |state| owned(state.value("Paused At"))),
    Key::own("last_updated"),
    // The whole field, description included.
    Key {
        is_copied: false,
        shown: "last_activity",
        ..Key::of_body("last_activity", "", &["Last Activity"], |state| owned(state.value("Last Activity")))
    },
    Key::of_body(
        "last_activity_desc",
        "Last Activity Description",
        &["Last Activity", "Last Activity Description"],
        |state| {
            let described = state.value("Last Activity Description");
            owned(described.or_else(|| dated(state.value("Last Activity")?).1))
        },
    ),
    Key::own("state_head"),
    Key::own("progress"),
];

fn owned(text: Option<&str>) -> Option<String> {
    text.map(str::to_owned)
}

/// The values of the keys that follow the body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sources(BTreeMap<&'static str, String>);

impl Sources {
    pub(crate) fn of(state: &State<'_>) -> Self {
        Self(KEYS.iter().filter_map(|key| Some((key.name, (key.source)(state)?))).collect())
    }

    /// The value that the body gives a key.
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// The status for the index, if the body has one. A pause outranks every status.
    pub(crate) fn normal_status(&self) -> Option<String> {
        if self.get("paused_at").is_some() {
            return Some("paused".to_owned());
        }
        self.get("status").map(normal_status)
    }

    /// The day of the last activity.
    pub(crate) fn last_activity_day(&self) -> Option<&str> {
        dated(self.get("last_activity")?).0
    }
}

/// The day and the description in `2026-01-12 — Completed 02-01`; a time after the day belongs to neither.
pub(crate) fn dated(text: &str) -> (Option<&str>, Option<&str>) {
    let text = text.trim();
    let Some(day) = text.get(..10).filter(|day| is_day(day)) else { return (None, meaningful(text)) };
    let rest = &text[10..];
    let clock = rest.len() - rest.trim_start_matches([' ', 'T']).trim_start_matches(is_clock).len();
    let rest = if rest[..clock].contains(':') { &rest[clock..] } else { rest };
    (Some(day), meaningful(rest.trim().trim_start_matches(['—', '–', '-', ':', ','])))
}

fn is_clock(letter: char) -> bool {
    letter.is_ascii_digit() || matches!(letter, ':' | '.' | 'Z' | '+')
}

pub(crate) fn is_day(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == 10
        && bytes
            .iter()
            .enumerate()
            .all(|(at, byte)| if matches!(at, 4 | 7) { *byte == b'-' } else { byte.is_ascii_digit() })
}

/// The progress of the milestone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "ProgressReport")]
pub(crate) struct Progress {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) total_phases: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) completed_phases: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) total_plans: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) completed_plans: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) percent: Option<u64>,
}

impl Progress {
    /// The counters in the front matter.
    pub(crate) fn written(state: &State<'_>) -> Option<Self> {
        let front = state.front()?;
        let map = front.get("progress").filter(|value| matches!(value, Value::Map(_)))?;
        let mut progress = Self::default();
        for (name, counter) in progress.counters_mut() {
            *counter = map.get(name).and_then(|value| value.as_text()?.trim().trim_end_matches('%').parse().ok());
        }
        Some(progress)
    }

    /// The counters with their names, in order.
    pub(crate) fn counters(mut self) -> [(&'static str, Option<u64>); 5] {
        self.counters_mut().map(|(name, counter)| (name, *counter))
    }

    fn counters_mut(&mut self) -> [(&'static str, &mut Option<u64>); 5] {
        [
            ("total_phases", &mut self.total_phases),
            ("completed_phases", &mut self.completed_phases),
            ("total_plans", &mut self.total_plans),
            ("completed_plans", &mut self.completed_plans),
            ("percent", &mut self.percent),
        ]
    }
}

/// The front matter as it should be. A key with the value `None` is removed, and so is `progress`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Index {
    values: Vec<(&'static str, Option<String>)>,
    pub(crate) progress: Option<Progress>,
}

impl Index {
    pub(crate) fn set(&mut self, key: &'static str, value: Option<String>) {
        self.values.retain(|(known, _)| *known != key);
        self.values.push((key, value.map(|value| one_line(&value))));
    }

    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.values.iter().find(|(known, _)| *known == key)?.1.as_deref()
    }

    /// Keys with their values, in the order of [`KEYS`], without `progress`.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&'static str, &str)> {
        KEYS.iter().filter_map(|key| Some((key.name, self.get(key.name)?)))
    }

    /// The text with this index as its front matter.
    pub(crate) fn write_to(&self, text: &str) -> String {
        let state = State::parse(text);
        let Some(front) = state.front() else { return self.before(text) };
        let mut splices = Splices::default();
        let mut neighbour: Option<&str> = None;
        for key in KEYS.iter().map(|key| key.name) {
            match self.values.iter().find(|(known, _)| *known == key) {
                _ if key == "progress" => self.write_progress(front, neighbour, &mut splices),
                Some((_, Some(value))) => put(front, neighbour, key, &Value::Text(value.clone()), &mut splices),
                Some((_, None)) => front.remove(key, &mut splices),
                None => {}
            }
            if front.get(key).is_some() {
                neighbour = Some(key);
            }
        }
        splices.apply(text)
    }

    fn write_progress(&self, front: &FrontMatter<'_>, neighbour: Option<&str>, splices: &mut Splices) {
        let Some(progress) = self.progress else { return };
        if !matches!(front.get("progress"), Some(Value::Map(_))) {
            put(front, neighbour, "progress", &map_of(&progress), splices);
            return;
        }
        for (name, counter) in progress.counters() {
            match counter {
                // The path only leads through maps, so this is never refused.
                Some(count) => drop(front.set_path(&["progress", name], &Value::Text(count.to_string()), splices)),
                None => front.remove_inner("progress", name, splices),
            }
        }
    }

    /// The text with new front matter before it.
    fn before(&self, text: &str) -> String {
        let bare = text.trim_start_matches('\u{feff}');
        let mark = &text[..text.len() - bare.len()];
        let mut entries: Vec<(String, Value)> =
            self.entries().map(|(key, value)| (key.to_owned(), Value::Text(value.to_owned()))).collect();
        entries.extend(self.progress.map(|progress| ("progress".to_owned(), map_of(&progress))));
        let newline = newline_of(text);
        let gap = if bare.starts_with(['\n', '\r']) { "" } else { newline };
        format!("{mark}{}", compose(&entries, &format!("{gap}{bare}"), newline))
    }
}

/// Sets a key; a new one is inserted after its neighbour, or before all others if it has none.
fn put(front: &FrontMatter<'_>, neighbour: Option<&str>, key: &str, value: &Value, splices: &mut Splices) {
    match neighbour {
        Some(neighbour) => front.set_after(neighbour, key, value, splices),
        None => front.set_first(key, value, splices),
    }
}

fn map_of(progress: &Progress) -> Value {
    let counters = progress.counters().into_iter();
    Value::Map(counters.filter_map(|(name, count)| Some((name.to_owned(), Value::Text(count?.to_string())))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_separated_from_its_description() {
        for (text, day, description) in [
            ("2026-01-12 — Completed 02-01", Some("2026-01-12"), Some("Completed 02-01")),
            ("2026-01-12 -- Phase 2 execution started", Some("2026-01-12"), Some("Phase 2 execution started")),
            ("2026-01-12 10:30 - x", Some("2026-01-12"), Some("x")),
            ("2026-01-12T10:30:00.000Z", Some("2026-01-12"), None),
            ("2026-01-12", Some("2026-01-12"), None),
            ("2026-01-12 3 plans", Some("2026-01-12"), Some("3 plans")),
            ("yesterday", None, Some("yesterday")),
        ] {
            let (found, rest) = dated(text);
            assert_eq!((found, rest.map(str::trim)), (day, description), "{text}");
        }
    }

    fn index() -> Index {
        let mut index = Index::default();
        index.set("gsd_state_version", Some("1.0".into()));
        index.set("status", Some("planning".into()));
        index.set("current_phase", Some("2.1".into()));
        index.set("paused_at", None);
        index.progress = Some(Progress { total_phases: Some(5), completed_phases: Some(2), ..Progress::default() });
        index
    }

    #[test]
    fn lines_that_do_not_change_keep_their_bytes() {
        let text = "---\r\ngsd_state_version: '1.0'\r\nmilestone: v1.0 # mine\r\npaused_at: x\r\nstatus: executing # why\r\n# about\r\nprogress:\r\n  total_phases: 5\r\n  # half\r\n  completed_phases: 1\r\n  percent: 60\r\ncustom: [a,b]\r\n---\r\n# S\r\n";
        assert_eq!(
            index().write_to(text),
            "---\r\ngsd_state_version: '1.0'\r\nmilestone: v1.0 # mine\r\ncurrent_phase: \"2.1\"\r\nstatus: planning # why\r\n# about\r\nprogress:\r\n  total_phases: 5\r\n  # half\r\n  completed_phases: 2\r\ncustom: [a,b]\r\n---\r\n# S\r\n"
        );
    }

    #[test]
    fn a_key_without_a_neighbour_goes_before_all_others() {
        assert_eq!(
            index().write_to("---\nprogress:\n  percent: 60\n---\n"),
            "---\ngsd_state_version: \"1.0\"\ncurrent_phase: \"2.1\"\nstatus: planning\nprogress:\n  total_phases: 5\n  completed_phases: 2\n---\n"
        );
    }

    #[test]
    fn a_text_without_front_matter_gets_one() {
        assert_eq!(
            index().write_to("\u{feff}# S\r\n"),
            "\u{feff}---\r\ngsd_state_version: \"1.0\"\r\ncurrent_phase: \"2.1\"\r\nstatus: planning\r\nprogress:\r\n  total_phases: 5\r\n  completed_phases: 2\r\n---\r\n\r\n# S\r\n"
        );
        assert_eq!(index().write_to(&index().write_to("# S")), index().write_to("# S"));
    }
}
