//! The runs of a log, one after another.

use super::event::{Entry, Event, Run};
use super::memory::Memory;

/// A run of a log, and what it recorded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoggedRun<'a> {
    pub(crate) run: &'a Run,
    /// From its beginning to that of the next run.
    pub(crate) entries: &'a [Entry],
}

impl<'a> LoggedRun<'a> {
    /// The runs of a log, the oldest first.
    pub(crate) fn all(entries: &'a [Entry]) -> Vec<Self> {
        let mut runs = Vec::new();
        let mut rest = entries;
        while let Some(begin) = rest.iter().position(|entry| matches!(entry.event, Event::Started(_))) {
            let of_run = rest.get(begin..).unwrap_or_default();
            let after = of_run.iter().skip(1).position(|entry| matches!(entry.event, Event::Started(_)));
            let (own, later) = of_run.split_at(after.map_or(of_run.len(), |after| after + 1));
            if let Some(Event::Started(run)) = own.first().map(|entry| &entry.event) {
                runs.push(Self { run, entries: own });
            }
            rest = later;
        }
        runs
    }

    /// The commit that landed, and when, in milliseconds since 1970.
    pub(crate) fn landing(&self) -> Option<(&'a str, i64)> {
        self.entries.iter().rev().find_map(|entry| match &entry.event {
            Event::Landed { commit, .. } => Some((commit.as_str(), entry.at.wall)),
            _ => None,
        })
    }

    /// Whether it landed and was cleaned up, or a person abandoned it.
    pub(crate) fn is_over(&self) -> bool {
        let is_end = |entry: &Entry| matches!(entry.event, Event::Released { .. } | Event::Abandoned { .. });
        self.entries.iter().any(is_end)
    }

    /// What it remembered at its end.
    pub(crate) fn memory(&self) -> Memory {
        Memory::of(self.entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auto::ceilings::Ceilings;
    use crate::auto::event::Time;

    fn entry(text: &str) -> Entry {
        Entry { at: Time { wall: 5, machine: 0 }, event: serde_json::from_str(text).unwrap() }
    }

    fn started(milestone: &str) -> Entry {
        let run = format!(
            r#"{{"event":"started","run":"{milestone}-1","engine":2,"process":1,"milestone":"{milestone}","target":"main","base":"b",
                "branch":"milestone/{milestone}","worktree":"/w","runner":"r","profile":"safe","fenced":true,"forecast":7,"ceilings":{}}}"#,
            serde_json::to_string(&Ceilings::default()).unwrap()
        );
        entry(&run)
    }

    #[test]
    fn a_log_is_divided_at_the_beginning_of_each_run() {
        let landed = entry(r#"{"event":"landed","milestone":"M001","commit":"c"}"#);
        let released = entry(r#"{"event":"released","milestone":"M001"}"#);
        let abandoned = entry(r#"{"event":"abandoned","milestone":"M002"}"#);
        let held = || entry(r#"{"event":"hold-ended"}"#);
        let log =
            [held(), started("M001"), landed, released, held(), started("M002"), abandoned, started("M003"), held()];
        let runs = LoggedRun::all(&log);
        let seen: Vec<_> = runs
            .iter()
            .map(|run| (run.run.milestone.as_str(), run.entries.len(), run.landing(), run.is_over()))
            .collect();
        assert_eq!(seen, [("M001", 4, Some(("c", 5)), true), ("M002", 2, None, true), ("M003", 2, None, false)]);
        assert_eq!(runs[1].memory().run, None, "nothing is left of a run that was abandoned");
        assert!(LoggedRun::all(&[held()]).is_empty());
    }
}
