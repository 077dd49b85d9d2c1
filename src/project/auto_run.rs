//! The `auto` run of a project as seen from outside: from its log and the lock on that log. No process is looked up:
//! the system releases the lock when its process dies.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::local_state::LocalState;
use crate::disk::log::{is_log_held, read_log};
use crate::disk::{self, AbsolutePath};
use crate::text::time;

/// The name of the log among the notes of a project.
pub(crate) const LOG: &str = "auto/log.jsonl";

/// A run that has not landed yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AutoRun {
    /// Its milestone: `M001`, or the version of one in phases.
    pub(crate) milestone: String,
    /// The unfinished unit, such as `execute-phase 2`.
    pub(crate) unit: Option<String>,
    pub(crate) stage: RunStage,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RunStage {
    /// A process works on it.
    Active,
    /// A process has it, and waits for a quota or for the model, until this time in milliseconds since 1970.
    Waiting { until: i64 },
    /// It stopped or was paused.
    Stopped {
        why: String,
        /// The command that continues it.
        next: String,
    },
    /// The process that worked on it died.
    Interrupted,
}

/// A milestone that a run merged into its branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Landing {
    pub(crate) milestone: String,
    pub(crate) commit: String,
    /// When, in milliseconds since 1970; 0 if it is not known.
    pub(crate) at: i64,
}

/// For how long a landing is news, in milliseconds.
const NEWS: i64 = 24 * 60 * 60 * 1000;

/// What the log of a project records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Runs {
    pub(crate) unfinished: Option<AutoRun>,
    /// The last landing.
    pub(crate) landed: Option<Landing>,
}

/// The fields of a log entry that show where a run is.
#[derive(Debug, Deserialize)]
struct RunLogEntry {
    at: Option<EntryTime>,
    event: String,
    until: Option<i64>,
    milestone: Option<String>,
    commit: Option<String>,
    unit: Option<EntryUnit>,
    operation: Option<u64>,
    text: Option<String>,
    next: Option<String>,
}

#[derive(Debug, Deserialize)]
struct EntryTime {
    #[serde(default)]
    wall: i64,
}

#[derive(Debug, Deserialize)]
struct EntryUnit {
    kind: String,
    id: String,
}

impl Runs {
    /// Reads the runs of the project at `root`. A log that cannot be read counts as empty here: `auto status` reports
    /// what is wrong with it.
    pub(crate) fn of(state_folder: Option<&Path>, lock_folders: &[PathBuf], root: &AbsolutePath) -> Self {
        let notes = state_folder.and_then(|folder| LocalState::of(folder, root).ok());
        let Some(log) = notes.map(|notes| notes.file(LOG)).filter(|log| disk::is_file(log)) else {
            return Self::default();
        };
        let Ok(Some(read)) = read_log::<RunLogEntry>(&log) else { return Self::default() };
        Self::told_by(read.entries, || is_log_held(lock_folders, &log))
    }

    fn told_by(entries: Vec<RunLogEntry>, is_held: impl FnOnce() -> bool) -> Self {
        let mut runs = Self::default();
        let mut milestone = None;
        let mut unit: Option<(Option<u64>, String)> = None;
        let mut stop = None;
        let mut wait = None;
        for entry in entries {
            match entry.event.as_str() {
                "held" => wait = entry.until,
                "hold-ended" => wait = None,
                "started" => (milestone, unit, stop) = (entry.milestone, None, None),
                "resumed" => (stop, wait) = (None, None),
                "unit-started" => {
                    unit = entry.unit.map(|unit| (entry.operation, format!("{} {}", unit.kind, unit.id)));
                }
                "refused" | "committed" => unit = unit.filter(|(operation, _)| *operation != entry.operation),
                "landed" => {
                    let at = entry.at.map_or(0, |at| at.wall);
                    let landed = entry.milestone.zip(entry.commit);
                    runs.landed = landed.map(|(milestone, commit)| Landing { milestone, commit, at });
                }
                "released" | "abandoned" => (milestone, unit, stop) = (None, None, None),
                "stopped" => stop = Some((entry.text.unwrap_or_default(), entry.next.unwrap_or_default())),
                _ => {}
            }
        }
        runs.unfinished = milestone.map(|milestone| {
            let stage = match stop {
                _ if is_held() => wait.map_or(RunStage::Active, |until| RunStage::Waiting { until }),
                Some((why, next)) => RunStage::Stopped { why, next },
                None => RunStage::Interrupted,
            };
            AutoRun { milestone, unit: unit.map(|(_, unit)| unit), stage }
        });
        runs
    }
}

impl Runs {
    /// The last landing, if that was within a day and no other run has begun since.
    pub(crate) fn news(&self, now: i64) -> Option<&Landing> {
        let landed = self.landed.as_ref().filter(|_| self.unfinished.is_none())?;
        (0..NEWS).contains(&now.saturating_sub(landed.at)).then_some(landed)
    }
}

impl Landing {
    /// A few words for a screen.
    pub(crate) fn brief(&self) -> String {
        format!("{} landed as {}", self.milestone, self.commit.get(..7).unwrap_or(&self.commit))
    }
}

impl AutoRun {
    /// The command that shows the run, or continues it.
    pub(crate) fn command(&self) -> String {
        match &self.stage {
            RunStage::Active | RunStage::Waiting { .. } => "gsd-tools auto status".to_owned(),
            RunStage::Stopped { next, .. } if !next.is_empty() => next.clone(),
            RunStage::Stopped { .. } | RunStage::Interrupted => "gsd-tools auto run".to_owned(),
        }
    }

    /// Describes where the run is, in a sentence.
    pub(crate) fn why(&self) -> String {
        let Self { milestone, unit, stage } = self;
        let unit = unit.as_ref().map(|unit| format!(", {unit}")).unwrap_or_default();
        match stage {
            RunStage::Active => format!("A run is active: {milestone}{unit}"),
            RunStage::Waiting { until } => {
                let until = time::in_words(*until).unwrap_or_default();
                format!("A run is active, and waits until {until}: {milestone}{unit}")
            }
            RunStage::Stopped { why, .. } if why.is_empty() => format!("The run of {milestone} stopped{unit}"),
            RunStage::Stopped { why, .. } => format!("The run of {milestone} stopped{unit}: {why}"),
            RunStage::Interrupted => {
                format!("The run of {milestone} was interrupted{unit}; it continues where it was")
            }
        }
    }

    /// The same in one or two words.
    pub(crate) fn brief(&self) -> String {
        let Self { milestone, unit, stage } = self;
        let word = match stage {
            RunStage::Active => "running",
            RunStage::Waiting { .. } => "waiting",
            RunStage::Stopped { .. } => "stopped",
            RunStage::Interrupted => "interrupted",
        };
        match unit {
            Some(unit) => format!("{milestone} {word}, {unit}"),
            None => format!("{milestone} {word}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STARTED: &str = r#"{"at":{},"event":"started","run":"r","milestone":"v1.0"}"#;
    const UNIT: &str = r#"{"event":"unit-started","operation":1,"unit":{"kind":"execute-phase","id":"2"}}"#;
    const STOPPED: &str = r#"{"event":"stopped","cause":"paused","text":"paused by you","next":"gsd-tools auto run"}"#;

    fn runs(lines: &[&str], is_held: bool) -> Runs {
        let entries = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        Runs::told_by(entries, || is_held)
    }

    #[test]
    fn a_run_is_active_while_its_log_is_locked_and_interrupted_if_no_stop_is_logged() {
        let seen = |lines: &[&str], is_held: bool| {
            let run = runs(lines, is_held).unfinished?;
            Some((run.command(), run.why(), run.brief()))
        };
        let told = |command: &str, why: &str, brief: &str| Some((command.into(), why.into(), brief.into()));
        let status = "gsd-tools auto status";
        assert_eq!(
            seen(&[STARTED, UNIT], true),
            told(status, "A run is active: v1.0, execute-phase 2", "v1.0 running, execute-phase 2")
        );
        assert_eq!(
            seen(&[STARTED, UNIT], false),
            told(
                "gsd-tools auto run",
                "The run of v1.0 was interrupted, execute-phase 2; it continues where it was",
                "v1.0 interrupted, execute-phase 2"
            )
        );
        let stopped = told("gsd-tools auto run", "The run of v1.0 stopped: paused by you", "v1.0 stopped");
        assert_eq!(seen(&[STARTED, STOPPED], false), stopped);
        let resumed = r#"{"event":"resumed","process":1}"#;
        assert_eq!(seen(&[STARTED, STOPPED, resumed], true).map(|(command, ..)| command), Some(status.to_owned()));
        assert_eq!(seen(&[], true), None);
    }

    #[test]
    fn a_unit_ends_with_its_commit_and_a_run_with_its_release() {
        let committed = r#"{"event":"committed","operation":1,"commit":"c"}"#;
        assert_eq!(runs(&[STARTED, UNIT, committed], true).unfinished.unwrap().unit, None);
        let other = r#"{"event":"committed","operation":2,"commit":"c"}"#;
        assert!(runs(&[STARTED, UNIT, other], true).unfinished.unwrap().unit.is_some());
        let landed = r#"{"event":"landed","milestone":"v1.0","commit":"abc"}"#;
        let over = runs(&[STARTED, UNIT, committed, landed, r#"{"event":"released","milestone":"v1.0"}"#], true);
        assert_eq!(over.unfinished, None);
        assert_eq!(over.landed.unwrap(), Landing { milestone: "v1.0".into(), commit: "abc".into(), at: 0 });
    }

    #[test]
    fn a_run_that_waits_says_until_when_and_a_landing_is_news_for_a_day() {
        let held = r#"{"event":"held","until":1790000000000,"why":"quota"}"#;
        let ended = r#"{"event":"hold-ended"}"#;
        let waiting = runs(&[STARTED, held], true).unfinished.unwrap();
        assert!(waiting.why().starts_with("A run is active, and waits until 20"), "{}", waiting.why());
        assert_eq!(waiting.brief(), "v1.0 waiting");
        assert_eq!(runs(&[STARTED, held, ended], true).unfinished.unwrap().brief(), "v1.0 running");
        let landed = r#"{"at":{"wall":1000,"machine":1},"event":"landed","milestone":"v1.0","commit":"0123456789"}"#;
        let released = r#"{"event":"released","milestone":"v1.0"}"#;
        let over = runs(&[STARTED, landed, released], false);
        assert_eq!(over.news(2000).map(Landing::brief).as_deref(), Some("v1.0 landed as 0123456"));
        assert_eq!((over.news(1000 + NEWS), over.news(0)), (None, None));
        assert_eq!(runs(&[STARTED, landed, released, STARTED], true).news(2000), None);
    }
}
