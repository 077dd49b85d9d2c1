//! `S01-REPLAN-TRIGGER.md`: a capture that asks for a new plan of the slice. `S01-REPLAN.md` beside it says that it was
//! made, and no further one is.

use super::lines::{bare, field, one_line};

/// Why a slice is planned again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReplanTrigger {
    pub(crate) source: String,
    pub(crate) capture: String,
    pub(crate) rationale: String,
    pub(crate) triggered: String,
}

impl ReplanTrigger {
    pub(crate) fn parse(text: &str) -> Self {
        let value = |label: &str| field(bare(text), label).unwrap_or_default().to_owned();
        Self {
            source: value("Source"),
            capture: value("Capture"),
            rationale: value("Rationale"),
            triggered: value("Triggered"),
        }
    }

    pub(crate) fn render(&self) -> String {
        format!(
            "# Replan Trigger\n\n**Source:** {}\n**Capture:** {}\n**Rationale:** {}\n**Triggered:** {}\n",
            one_line(&self.source),
            one_line(&self.capture),
            one_line(&self.rationale),
            one_line(&self.triggered)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trigger_is_read_as_it_is_written() {
        let trigger = ReplanTrigger {
            source: "triage".to_owned(),
            capture: "CAP-0011aabb".to_owned(),
            rationale: "the API **is** gone".to_owned(),
            triggered: "2026-01-01T00:00:00Z".to_owned(),
        };
        assert_eq!(ReplanTrigger::parse(&trigger.render()), trigger);
    }
}
