//! The plays as a table in `docs/hosts.md`: a row for each scenario, a column for each client and its version.
//!
//! A cell is the day of the last play that passed, `not yet` if the play belongs to the programme but has not been seen
//! with this version, and `–` if it does not. `SNAPSHOTS=overwrite` writes the plays of this run.

use std::path::PathBuf;
use std::process::Command;

use super::cast::CASTS;
use super::scenarios::{SCENARIOS, Scenario};
use crate::kit::repository;

const BEGIN: &str = "<!-- plays -->\n";
const END: &str = "<!-- /plays -->\n";
const NOT_YET: &str = "not yet";
const NONE: &str = "–";

/// The table: the cells of its first line after `scenario`, and the lines below.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Table {
    clients: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    fn parse(text: &str) -> Self {
        let cells = |line: &str| -> Vec<String> {
            line.trim().trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
        };
        let mut lines = text.lines().filter(|line| line.starts_with('|') && !line.starts_with("| ---"));
        let clients = lines.next().map(cells).unwrap_or_default().into_iter().skip(1).collect();
        Self { clients, rows: lines.map(cells).collect() }
    }

    fn text(&self) -> String {
        let line = |cells: &mut dyn Iterator<Item = &str>| format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "));
        let heading = line(&mut std::iter::once("scenario").chain(self.clients.iter().map(String::as_str)));
        let rule = format!("|{}\n", " --- |".repeat(self.clients.len() + 1));
        let rows = self.rows.iter().map(|row| line(&mut row.iter().map(String::as_str)));
        [heading, rule].into_iter().chain(rows).collect()
    }

    /// The cell of a scenario in a client, with its version.
    fn cell(&self, scenario: &str, client: &str) -> Option<&str> {
        let column = self.clients.iter().position(|known| known == client)?;
        Some(self.rows.iter().find(|row| row[0] == scenario)?.get(column + 1)?)
    }

    /// This table with today's clients and scenarios, and `today` for each `played` pair of client and scenario.
    fn with(&self, played: &[(&str, &str)], today: &str) -> Self {
        let cell = |host: &str, client: &str, name: &str, scenario: Option<&Scenario>| {
            let known = self.cell(name, client).filter(|cell| *cell != NONE && *cell != NOT_YET);
            let is_played = played.contains(&(host, name));
            match (is_played, known) {
                (true, _) => today,
                (false, Some(day)) => day,
                (false, None) if scenario.is_none_or(|scenario| scenario.plays_in(host)) => NOT_YET,
                (false, None) => NONE,
            }
            .to_owned()
        };
        let known = self.rows.iter().map(|row| row[0].as_str()).filter(|name| scenario_of(name).is_none());
        let names = SCENARIOS.iter().map(|scenario| scenario.name).chain(known);
        let row = |name: &str| {
            let cells = CASTS.iter().map(|cast| cell(cast.package.host, &client(cast), name, scenario_of(name)));
            std::iter::once(name.to_owned()).chain(cells).collect()
        };
        Self { clients: CASTS.iter().map(|cast| client(cast)).collect(), rows: names.map(row).collect() }
    }
}

fn client(cast: &super::cast::Cast) -> String {
    format!("{} {}", cast.package.host, cast.package.version)
}

fn scenario_of(name: &str) -> Option<&'static Scenario> {
    SCENARIOS.iter().find(|scenario| scenario.name == name)
}

fn place() -> PathBuf {
    repository().join("docs/hosts.md")
}

/// The document before the table, the table, and the document after it.
fn parts(document: &str) -> (&str, Table, &str) {
    let begin = document.find(BEGIN).expect("docs/hosts.md has the mark of the plays") + BEGIN.len();
    let end = document.find(END).expect("docs/hosts.md has the mark of the plays' end");
    (&document[..begin], Table::parse(&document[begin..end]), &document[end..])
}

/// Writes the plays, by client and scenario, into the document, if asked to.
pub(crate) fn note(played: &[(&str, &str)]) {
    if std::env::var("SNAPSHOTS").is_ok_and(|wish| wish == "overwrite") {
        let today = Command::new("date").args(["-u", "+%F"]).output().unwrap();
        let today = String::from_utf8(today.stdout).unwrap();
        let document = std::fs::read_to_string(place()).unwrap();
        let (before, table, after) = parts(&document);
        let table = table.with(played, today.trim()).text();
        std::fs::write(place(), format!("{before}{table}{after}")).unwrap();
    }
}

mod tests {
    use super::*;

    #[test]
    fn the_document_has_a_cell_for_each_play_with_the_version_that_is_played() {
        let document = std::fs::read_to_string(place()).unwrap();
        let (_, table, _) = parts(&document);
        let wanted = table.with(&[], "");
        assert_eq!(
            table,
            wanted,
            "docs/hosts.md lags behind the plays: SNAPSHOTS=overwrite GSD_PLAYS=all\n{}",
            wanted.text()
        );
        for row in table.rows.iter().filter(|row| scenario_of(&row[0]).is_none()) {
            assert!(row[1..].iter().all(|cell| cell == NOT_YET || cell == NONE), "nobody plays {}", row[0]);
        }
    }

    #[test]
    fn a_play_is_recorded_with_its_day_and_another_version_starts_over() {
        let first = Table { clients: Vec::new(), rows: Vec::new() }.with(&[("claude", "chain")], "2026-01-06");
        let of = |table: &Table, host: usize| table.cell("chain", &client(CASTS[host])).unwrap().to_owned();
        assert_eq!((of(&first, 0), of(&first, 1)), ("2026-01-06".to_owned(), NOT_YET.to_owned()));
        let again = Table::parse(&first.text());
        assert_eq!(again, first);
        assert_eq!(
            again.with(&[("codex", "chain")], "2026-01-07").cell("chain", &client(CASTS[0])),
            Some("2026-01-06")
        );
        let older = Table::parse(&first.text().replace(&client(CASTS[0]), "claude 1.0.0"));
        assert_eq!(of(&older.with(&[], ""), 0), NOT_YET);
    }
}
