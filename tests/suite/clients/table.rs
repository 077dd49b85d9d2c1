//! What was seen of each client, as the table in `docs/hosts.md`; what a client cannot do, from
//! `tests/clients/KNOWN.md`.
//!
//! A cell is `✓` if the check was made and passed, `–` if it cannot be made: then KNOWN.md says why. The rows of
//! clients that ran must be in the document unchanged; `SNAPSHOTS=overwrite` writes them.

use std::path::PathBuf;

use super::bench::{Results, Scope};
use super::checks::Check;
use super::install::Package;
use crate::kit::repository;

/// One client in one scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    host: String,
    version: String,
    scope: String,
    cells: Vec<String>,
}

impl Row {
    pub(crate) fn new(package: &Package, scope: Scope, results: &Results) -> Self {
        let cell = |check: &Check| match results.get(check) {
            None => "–",
            Some(findings) if findings.is_empty() => "✓",
            Some(_) => "✗",
        };
        Self {
            host: package.host.to_owned(),
            version: package.version.to_owned(),
            scope: scope.flag().trim_start_matches('-').to_owned(),
            cells: Check::ALL.iter().map(|check| cell(check).to_owned()).collect(),
        }
    }

    fn parse(line: &str) -> Option<Self> {
        let mut cells = line.trim().strip_prefix('|')?.strip_suffix('|')?.split('|').map(|cell| cell.trim().to_owned());
        Some(Self { host: cells.next()?, version: cells.next()?, scope: cells.next()?, cells: cells.collect() })
    }

    fn line(&self) -> String {
        format!("| {} | {} | {} | {} |\n", self.host, self.version, self.scope, self.cells.join(" | "))
    }

    fn is_of(&self, other: &Self) -> bool {
        (&self.host, &self.scope) == (&other.host, &other.scope)
    }
}

/// The rows under their headings.
pub(crate) fn text(rows: &[Row]) -> String {
    let mut rows = rows.to_vec();
    rows.sort_by(|left, right| (&left.host, &left.scope).cmp(&(&right.host, &right.scope)));
    let words: Vec<&str> = Check::ALL.iter().map(|check| check.word()).collect();
    let heading = format!("| host | version | scope | {} |\n", words.join(" | "));
    let rule = format!("|{}\n", " --- |".repeat(Check::ALL.len() + 3));
    [heading, rule].into_iter().chain(rows.iter().map(Row::line)).collect()
}

/// Checks that the rows of clients that ran are in the document unchanged.
pub(crate) fn expect_in_documents(ran: &[Row]) {
    let document = std::fs::read_to_string(place()).unwrap();
    let (before, rows, after) = parts(&document);
    let mut wanted: Vec<Row> =
        rows.into_iter().filter(|row| is_tried(row) && !ran.iter().any(|other| other.is_of(row))).collect();
    wanted.extend(ran.iter().cloned());
    let wanted = format!("{before}{}{after}", text(&wanted));
    if std::env::var("SNAPSHOTS").is_ok_and(|wish| wish == "overwrite") {
        std::fs::write(place(), wanted).unwrap();
        return;
    }
    assert!(
        document == wanted,
        "docs/hosts.md tells something else of these clients: run with SNAPSHOTS=overwrite\n{wanted}"
    );
}

fn place() -> PathBuf {
    repository().join("docs/hosts.md")
}

const BEGIN: &str = "<!-- clients -->\n";
const END: &str = "<!-- /clients -->\n";

/// The document before the table, the rows, and the document after it.
fn parts(document: &str) -> (&str, Vec<Row>, &str) {
    let begin = document.find(BEGIN).expect("docs/hosts.md has the mark of the table") + BEGIN.len();
    let end = document.find(END).expect("docs/hosts.md has the mark of the table's end");
    let rows = document[begin..end].lines().skip(2).map(|line| Row::parse(line).unwrap());
    (&document[..begin], rows.collect(), &document[end..])
}

fn is_tried(row: &Row) -> bool {
    super::tried().any(|(host, scope)| row.host == host && row.scope == scope.flag().trim_start_matches('-'))
}

/// What a client cannot do: host, scope (or `both`), check.
fn known() -> Vec<[String; 3]> {
    let text = std::fs::read_to_string(repository().join("tests/clients/KNOWN.md")).unwrap();
    let table = text.split("\n## ").next().unwrap_or_default();
    let lines = table
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| host") && !line.starts_with("| ---"));
    lines
        .map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            assert!(cells.len() == 4 && cells[3].len() > 20, "a host, a scope, a check and a reason: {line}");
            [cells[0], cells[1], cells[2]].map(str::to_owned)
        })
        .collect()
}

mod tests {
    use super::*;

    #[test]
    fn the_document_has_each_client_and_each_gap_has_its_reason() {
        let document = std::fs::read_to_string(place()).unwrap();
        let (_, rows, _) = parts(&document);
        for (host, scope) in super::super::tried() {
            let scope = scope.flag().trim_start_matches('-');
            let count = rows.iter().filter(|row| row.host == host && row.scope == scope).count();
            assert_eq!(count, 1, "rows of {host}, {scope}");
        }
        let known = known();
        let mut gaps = Vec::new();
        for row in &rows {
            assert!(is_tried(row), "nobody tries {}, {}", row.host, row.scope);
            assert_eq!(row.cells.len(), Check::ALL.len(), "{}", row.host);
            for (check, cell) in Check::ALL.iter().zip(&row.cells) {
                assert_ne!(cell, "✗", "{} {}", row.host, check.word());
                if cell == "–" {
                    gaps.push([row.host.as_str(), row.scope.as_str(), check.word()]);
                }
            }
        }
        let covers = |line: &[String; 3], gap: &[&str; 3]| {
            line[0] == gap[0] && (line[1] == gap[1] || line[1] == "both") && line[2] == gap[2]
        };
        for gap in &gaps {
            assert!(known.iter().any(|line| covers(line, gap)), "tests/clients/KNOWN.md has no reason for {gap:?}");
        }
        for line in &known {
            assert!(
                gaps.iter().any(|gap| covers(line, gap)),
                "tests/clients/KNOWN.md speaks of what is seen: {line:?}"
            );
        }
    }
}
