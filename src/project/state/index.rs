//! The front matter of STATE.md: an index of the body for programs.
//!
//! [`Sources`] is what the body says about each key; [`Index`] is what the front matter should say. How the two are
//! brought together with disk and roadmap is for `operations::state`. Writing an index keeps the bytes of every line
//! whose value does not change, keys it does not know, comments and the order.

use super::edit::one_line;
use super::{State, meaningful, normal_status};
use crate::text::front_matter::{FrontMatter, Value, compose};
use crate::text::markdown::newline_of;
use crate::text::splice::Splices;

/// The keys in the order in which a new one is put in its place.
pub(crate) const KEYS: &[&str] = &[
    "gsd_state_version",
    "milestone",
    "milestone_name",
    "current_phase",
    "current_phase_name",
    "current_plan",
    "status",
    "stopped_at",
    "paused_at",
    "last_updated",
    "last_activity",
    "last_activity_desc",
    "state_head",
    "progress",
];

/// The keys that follow a field of the body.
pub(crate) const SOURCED: &[&str] = &[
    "current_phase",
    "current_phase_name",
    "current_plan",
    "status",
    "stopped_at",
    "paused_at",
    "last_activity",
    "last_activity_desc",
];

/// The counters inside `progress`, in order.
pub(crate) const COUNTERS: &[&str] = &["total_phases", "completed_phases", "total_plans", "completed_plans", "percent"];

/// What the body says about the keys that have their source there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sources {
    pub(crate) status: Option<String>,
    pub(crate) paused_at: Option<String>,
    pub(crate) stopped_at: Option<String>,
    pub(crate) current_phase: Option<String>,
    pub(crate) current_phase_name: Option<String>,
    pub(crate) current_plan: Option<String>,
    /// The whole field, description included.
    pub(crate) last_activity: Option<String>,
    pub(crate) last_activity_desc: Option<String>,
}

impl State<'_> {
    /// Whether the body has a field for a key of [`SOURCED`], whatever it says.
    pub(crate) fn has_source(&self, key: &str) -> bool {
        let labels: &[&str] = match key {
            "current_phase" => &["Phase", "Current Phase"],
            "current_phase_name" => &["Phase", "Current Phase", "Current Phase Name"],
            "current_plan" => &["Current Plan"],
            "status" => &["Status"],
            "stopped_at" => &["Stopped At"],
            "paused_at" => &["Paused At"],
            "last_activity" => &["Last Activity"],
            "last_activity_desc" => &["Last Activity", "Last Activity Description"],
            _ => &[],
        };
        labels.iter().any(|label| self.field(label).is_some())
    }
}

impl Sources {
    pub(crate) fn of(state: &State<'_>) -> Self {
        let owned = |text: &str| text.to_owned();
        let position = state.position();
        let last_activity = state.value("Last Activity");
        let described = state.value("Last Activity Description").map(owned);
        Self {
            status: state.value("Status").map(owned),
            paused_at: state.value("Paused At").map(owned),
            stopped_at: state.value("Stopped At").map(owned),
            current_phase: position.phase.map(owned),
            current_phase_name: position.name.map(owned),
            current_plan: state.value("Current Plan").map(owned),
            last_activity: last_activity.map(owned),
            last_activity_desc: described.or_else(|| last_activity.and_then(|text| dated(text).1).map(owned)),
        }
    }

    /// The source of a key of [`SOURCED`], if the body has it.
    pub(crate) fn source(&self, key: &str) -> Option<&str> {
        let source = match key {
            "status" => &self.status,
            "paused_at" => &self.paused_at,
            "stopped_at" => &self.stopped_at,
            "current_phase" => &self.current_phase,
            "current_phase_name" => &self.current_phase_name,
            "current_plan" => &self.current_plan,
            "last_activity" => &self.last_activity,
            "last_activity_desc" => &self.last_activity_desc,
            _ => &None,
        };
        source.as_deref()
    }

    /// The status for the index, if the body tells one. Being paused since some time outdoes every status.
    pub(crate) fn normal_status(&self) -> Option<String> {
        if self.paused_at.is_some() {
            return Some("paused".to_owned());
        }
        self.status.as_deref().map(normal_status)
    }

    /// The day of the last activity.
    pub(crate) fn last_activity_day(&self) -> Option<&str> {
        self.last_activity.as_deref().and_then(|text| dated(text).0)
    }
}

/// Day and description of `2026-01-12 — Completed 02-01`; a time behind the day belongs to neither.
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

/// How far the work of the milestone is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    pub(crate) total_phases: Option<u64>,
    pub(crate) completed_phases: Option<u64>,
    pub(crate) total_plans: Option<u64>,
    pub(crate) completed_plans: Option<u64>,
    pub(crate) percent: Option<u64>,
}

impl Progress {
    /// The counters as the front matter says them.
    pub(crate) fn written(state: &State<'_>) -> Option<Self> {
        let front = state.front()?;
        let map = front.get("progress").filter(|value| matches!(value, Value::Map(_)))?;
        let count = |name: &str| map.get(name)?.as_text()?.trim().trim_end_matches('%').parse().ok();
        Some(Self {
            total_phases: count("total_phases"),
            completed_phases: count("completed_phases"),
            total_plans: count("total_plans"),
            completed_plans: count("completed_plans"),
            percent: count("percent"),
        })
    }

    /// A counter by its name.
    pub(crate) fn counter(&self, name: &str) -> Option<u64> {
        match name {
            "total_phases" => self.total_phases,
            "completed_phases" => self.completed_phases,
            "total_plans" => self.total_plans,
            "completed_plans" => self.completed_plans,
            _ => self.percent,
        }
    }
}

/// What the front matter should say. A key that is `None` is removed, `progress` too.
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
        KEYS.iter().filter_map(|key| Some((*key, self.get(key)?)))
    }

    /// The text with this index as its front matter.
    pub(crate) fn write_to(&self, text: &str) -> String {
        let state = State::parse(text);
        let Some(front) = state.front() else { return self.before(text) };
        let mut splices = Splices::default();
        let mut neighbour: Option<&str> = None;
        for key in KEYS {
            match self.values.iter().find(|(known, _)| known == key) {
                _ if *key == "progress" => self.write_progress(front, neighbour, &mut splices),
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
        for name in COUNTERS {
            match progress.counter(name) {
                // Nothing but a map is on the way, so this is never refused.
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

/// Sets a key; a new one goes behind its neighbour, or before all others where it has none.
fn put(front: &FrontMatter<'_>, neighbour: Option<&str>, key: &str, value: &Value, splices: &mut Splices) {
    match neighbour {
        Some(neighbour) => front.set_after(neighbour, key, value, splices),
        None => front.set_first(key, value, splices),
    }
}

fn map_of(progress: &Progress) -> Value {
    let counter = |name: &&str| Some(((*name).to_owned(), Value::Text(progress.counter(name)?.to_string())));
    Value::Map(COUNTERS.iter().filter_map(counter).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_and_its_description_are_told_apart() {
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
