//! The automatic chain: whether each workflow starts the next one.
//!
//! Whether a chain runs depends on this computer and this day, so it is a note in [`super::local_state`] and not part
//! of the project's documents. Without a note, the configuration of an older project decides.

use serde::{Deserialize, Serialize};

use super::config::Config;
use crate::text::time;

/// The name of the note.
pub(crate) const NOTE: &str = "auto-chain.json";

/// Milliseconds after which a chain that was not restarted is over. Each workflow of the chain restarts it.
const LIFETIME: i64 = 24 * 60 * 60 * 1000;

/// Records that a chain was started or stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ChainNote {
    pub(crate) active: bool,
    /// When it was started or stopped, in UTC.
    pub(crate) since: String,
    /// The session of the host that did it, if the host names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<String>,
}

/// Whether workflows continue automatically, and why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AutoMode {
    chain: bool,
    advance: bool,
    stopped: bool,
}

impl AutoMode {
    /// Decides from the configuration and the note. `now` is in milliseconds since 1970.
    pub(crate) fn of(config: &Config, note: Option<&ChainNote>, now: i64) -> Self {
        let chain = match note {
            Some(note) => {
                let since = time::milliseconds(&note.since);
                note.active && since.is_some_and(|since| (0..=LIFETIME).contains(&now.saturating_sub(since)))
            }
            None => config.flag("workflow._auto_chain_active"),
        };
        Self { chain, advance: config.flag("workflow.auto_advance"), stopped: note.is_some_and(|note| !note.active) }
    }

    /// Whether workflows continue automatically. After a stop they do not, whatever the configuration says.
    pub(crate) fn active(self) -> bool {
        self.chain() || self.advance()
    }

    /// Whether a chain was started and not stopped.
    pub(crate) fn chain(self) -> bool {
        self.chain && !self.stopped
    }

    /// Whether the project's configuration asks for it and it was not stopped.
    pub(crate) fn advance(self) -> bool {
        self.advance && !self.stopped
    }

    /// The word for the reason.
    pub(crate) fn source(self) -> &'static str {
        match (self.chain(), self.advance()) {
            (true, true) => "both",
            (true, false) => "auto_chain",
            (false, true) => "auto_advance",
            (false, false) if self.stopped => "stopped",
            (false, false) => "none",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::config::ConfigTexts;
    use super::*;

    const HOUR: i64 = 60 * 60 * 1000;

    fn source(config: &str, note: Option<(bool, i64)>) -> &'static str {
        let (config, _) = Config::read(ConfigTexts { project: Some(config), ..ConfigTexts::default() });
        let now = time::milliseconds("2026-01-12T00:00:00Z").unwrap();
        let note = note.map(|(active, hours)| ChainNote {
            active,
            since: time::shown(now - hours * HOUR).unwrap(),
            session: None,
        });
        AutoMode::of(&config, note.as_ref(), now).source()
    }

    #[test]
    fn the_note_decides_about_the_chain_and_a_stop_ends_everything() {
        let old = r#"{"workflow": {"_auto_chain_active": true}}"#;
        let advance = r#"{"workflow": {"auto_advance": true}}"#;
        assert_eq!(source(old, None), "auto_chain");
        assert_eq!(source("{}", Some((true, 0))), "auto_chain");
        assert_eq!(source(advance, Some((true, 23))), "both");
        assert_eq!(source(advance, Some((false, 1000))), "stopped");
        assert_eq!(source(old, Some((false, 0))), "stopped");
    }

    #[test]
    fn a_chain_from_yesterday_is_over() {
        assert_eq!(source("{}", Some((true, 24))), "auto_chain");
        assert_eq!(source("{}", Some((true, 25))), "none");
        assert_eq!(source("{}", Some((true, -1))), "none", "a time that is still to come starts nothing");
        assert_eq!(source(r#"{"workflow": {"auto_advance": true}}"#, Some((true, 25))), "auto_advance");
    }
}
