//! Removes secrets from log entries: from what agents, clients, checks and people wrote. Paths, commands, digests and
//! names stay as they are, since they are compared later.

use super::decided::DECIDED;
use super::event::{CheckedTree, Entry, Event, ProofKept, SessionVerdict, Time};
use super::slices::orders::{Order, Wish};
use super::stop::Stop;
use crate::text::secrets::redact_line;

/// The notes of evidence that hold explanations; the other notes list commands.
const EXPLAIN: &[&str] = &["not run", DECIDED];

impl Entry {
    /// Returns the entry of an event in the form in which it is stored and folded.
    pub(crate) fn new(at: Time, event: Event) -> Self {
        Self { at, event: event.without_secrets() }
    }
}

fn clean(text: &mut String) {
    if let std::borrow::Cow::Owned(bytes) = redact_line(text.as_bytes()) {
        *text = String::from_utf8_lossy(&bytes).into_owned();
    }
}

impl Event {
    fn without_secrets(mut self) -> Self {
        match &mut self {
            Self::UnitEnded(ended) => match &mut ended.verdict {
                SessionVerdict::Ran => {}
                SessionVerdict::NoSignal { text, .. }
                | SessionVerdict::Dead { text, .. }
                | SessionVerdict::Halted { text, .. } => {
                    clean(text);
                }
            },
            Self::Refused { text, vector, .. } => {
                clean(text);
                vector.missing.iter_mut().for_each(clean);
            }
            Self::Checked { evidence, .. } | Self::CandidateChecked { evidence, .. } => clean_evidence(evidence),
            Self::Mechanical { fallback: Some(text), .. }
            | Self::Committing { message: text, .. }
            | Self::Held { why: text, .. } => clean(text),
            Self::Accepted { roadmap: Some(roadmap), .. } => clean(roadmap),
            Self::Ordered { order, refused, .. } => {
                clean_order(order);
                refused.iter_mut().for_each(clean);
            }
            Self::Landed { proof: Some(ProofKept::Unsigned { why, .. } | ProofKept::Missing { why }), .. } => {
                clean(why);
            }
            Self::Stopped(stop) => clean_stop(stop),
            _ => {}
        }
        self
    }
}

fn clean_evidence(evidence: &mut CheckedTree) {
    clean(&mut evidence.failure);
    evidence.no_checks_reason.iter_mut().for_each(clean);
    evidence.findings.iter_mut().for_each(|finding| clean(&mut finding.what));
    evidence.notes.iter_mut().filter(|(name, _)| EXPLAIN.contains(&name.as_str())).for_each(|(_, note)| clean(note));
}

fn clean_order(order: &mut Order) {
    match &mut order.wish {
        Wish::Steer { change: text } | Wish::Capture { text } => clean(text),
        Wish::Answer { why, .. } | Wish::Park { why, .. } => why.iter_mut().for_each(clean),
        Wish::Verdict { why, .. } => clean(why),
        Wish::Unpark { .. } => {}
    }
}

fn clean_stop(stop: &mut Stop) {
    clean(&mut stop.text);
    stop.evidence.iter_mut().for_each(clean);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auto::event::{Refusal, Vector};
    use crate::auto::stop::Cause;

    const KEY: &str = concat!("sk-ant-", "api03-0123456789abcdef");

    #[test]
    fn texts_are_stored_without_keys_and_compared_values_unchanged() {
        let said = || format!("bad key {KEY}, see /home/me/x");
        let failing = [format!("sh check.sh --key {KEY}")];
        let evidence = CheckedTree {
            failure: said(),
            notes: [("not run".to_owned(), said()), ("flaky".to_owned(), failing[0].clone())].into(),
            ..CheckedTree::default()
        };
        let order = |wish| Order { at: String::new(), passed_on: false, wish };
        let events = [
            Event::Refused {
                operation: 1,
                why: Refusal::Session,
                text: said(),
                vector: Vector { missing: vec![said()], ..Vector::default() },
                takes_back: true,
            },
            Event::Held { until: 1, why: said(), operation: None },
            Event::Accepted { operation: 1, roadmap: Some(said()) },
            Event::Ordered {
                id: "1".to_owned(),
                order: order(Wish::Verdict { id: "M001".to_owned(), passed: true, why: said() }),
                refused: Some(said()),
            },
            Event::Ordered { id: "2".to_owned(), order: order(Wish::Steer { change: said() }), refused: None },
            Event::Committing { operation: None, parent: String::new(), tree: String::new(), message: said() },
            Event::Stopped(Stop::new(Cause::Stuck, said(), "gsd-tools auto run").shown([said()])),
        ];
        for event in events {
            let entry = Entry::new(Time::default(), event);
            let text = serde_json::to_string(&entry).unwrap();
            assert!(!text.contains(KEY) && text.contains("bad key [REDACTED], see /home/me/x"), "{text}");
        }
        let checked = Entry::new(Time::default(), Event::Checked { operation: 1, evidence });
        let Event::Checked { evidence, .. } = checked.event else { unreachable!() };
        assert_eq!(evidence.failure, "bad key [REDACTED], see /home/me/x");
        assert_eq!((evidence.notes["flaky"].as_str(), evidence.notes["not run"].contains(KEY)), (&*failing[0], false));
    }
}
