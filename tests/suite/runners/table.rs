//! What was seen of each client, as the tables in `docs/runners.md`. The cells that were tried must be there unchanged;
//! `SNAPSHOTS=overwrite` writes them, with the date.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;

use super::subjects::SUBJECTS;
use super::verdicts::TROUBLES;
use crate::kit::repository;

/// Cells by the client and the heading of their row.
pub(crate) type Cells = BTreeMap<(&'static str, &'static str), String>;

/// The ways in which a unit ends after which its processes are looked for.
pub(crate) const WAYS: [&str; 5] = ["stopped", "at its limit", "client killed", "supervisor killed", "daemon left"];

/// What a fence is tested with.
pub(crate) const FENCE: [&str; 2] = ["works inside", "leaves the rest"];

const SEEN: &str = "seen";

/// Tests write one after the other.
pub(crate) static DOCUMENT: Mutex<()> = Mutex::new(());

fn rows(table: &str) -> Vec<&'static str> {
    match table {
        "verdicts" => TROUBLES.iter().map(|trouble| trouble.name).collect(),
        "processes" => WAYS.to_vec(),
        _ => FENCE.to_vec(),
    }
}

fn place() -> PathBuf {
    repository().join("docs/runners.md")
}

/// The table between its marks: the text before, its cells, and the text after.
fn parts<'text>(document: &'text str, table: &str) -> (&'text str, BTreeMap<(String, String), String>, &'text str) {
    let (begin, end) = (format!("<!-- {table} -->\n"), format!("<!-- /{table} -->\n"));
    let from = document.find(&begin).unwrap_or_else(|| panic!("docs/runners.md has no `{begin}`")) + begin.len();
    let to = document.find(&end).unwrap_or_else(|| panic!("docs/runners.md has no `{end}`"));
    let lines = document[from..to].lines().map(|line| line.trim_matches('|').split('|').map(str::trim));
    let mut lines = lines.map(Iterator::collect::<Vec<_>>);
    let heading = lines.next().unwrap_or_default();
    let client = |heading: &str| heading.split(' ').next().unwrap_or_default().to_owned();
    let mut cells = BTreeMap::new();
    for line in lines.skip(1) {
        let (Some(row), columns) = (line.first(), heading.iter().zip(&line).skip(1)) else { continue };
        cells.extend(columns.map(|(heading, cell)| ((client(heading), (*row).to_owned()), (*cell).to_owned())));
    }
    (&document[..from], cells, &document[to..])
}

fn text(table: &str, cells: &BTreeMap<(String, String), String>) -> String {
    let row = |heading: &str, cells: Vec<String>| format!("| {heading} | {} |\n", cells.join(" | "));
    let named = SUBJECTS.iter().map(|subject| format!("{} {}", subject.name, subject.package.version));
    let mut text = row("", named.collect()) + "|" + &" --- |".repeat(SUBJECTS.len() + 1) + "\n";
    for heading in rows(table).into_iter().chain([SEEN]) {
        let cell = |name: &str| cells.get(&(name.to_owned(), heading.to_owned())).cloned().unwrap_or_default();
        text += &row(heading, SUBJECTS.iter().map(|subject| cell(subject.name)).collect());
    }
    text
}

/// Checks that the cells of this run are those of the document, or writes them; and that nothing failed.
pub(crate) fn expect_in_document(table: &str, ran: &Cells, failures: &[String]) {
    let _one = DOCUMENT.lock().unwrap();
    let writes = std::env::var("SNAPSHOTS").is_ok_and(|wish| wish == "overwrite");
    assert!(writes || failures.is_empty(), "{}", failures.join("\n\n"));
    let document = std::fs::read_to_string(place()).unwrap();
    let (before, mut cells, after) = parts(&document, table);
    cells.extend(ran.iter().map(|((name, row), cell)| (((*name).to_owned(), (*row).to_owned()), cell.clone())));
    for (name, _) in ran.keys().filter(|_| writes) {
        cells.insert(((*name).to_owned(), SEEN.to_owned()), today());
    }
    let wanted = format!("{before}{}{after}", text(table, &cells));
    if writes {
        std::fs::write(place(), wanted).unwrap();
        assert!(failures.is_empty(), "{}", failures.join("\n\n"));
        return;
    }
    assert!(document == wanted, "docs/runners.md tells something else: run with SNAPSHOTS=overwrite\n{wanted}");
}

/// In UTC, as `2026-01-02`.
pub(crate) fn today() -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let now = jiff::Timestamp::from_second(i64::try_from(since.as_secs()).unwrap()).unwrap();
    now.to_zoned(jiff::tz::TimeZone::UTC).date().to_string()
}

mod tests {
    use super::*;

    #[test]
    fn the_document_has_a_cell_for_each_client_and_each_trouble() {
        let document = std::fs::read_to_string(place()).unwrap();
        for table in ["verdicts", "processes", "fence"] {
            let (_, cells, _) = parts(&document, table);
            for subject in SUBJECTS {
                for row in rows(table).into_iter().chain([SEEN]) {
                    let cell = cells.get(&(subject.name.to_owned(), row.to_owned())).map_or("", String::as_str);
                    assert!(!cell.is_empty() && cell != "✗", "{table}, {}, {row}: {cell:?}", subject.name);
                }
            }
            assert!(document.contains(&text(table, &cells)), "{table} has other rows or clients");
        }
    }
}
