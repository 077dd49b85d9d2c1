//! What was seen of each client, as the table in `docs/runners.md`: `SNAPSHOTS=overwrite` writes the rows of this run,
//! with the date.

use std::path::PathBuf;

use super::own::players;
use crate::clients::faults::{Count, Usage};
use crate::kit::repository;
use crate::runners::table::{DOCUMENT, today};

const BEGIN: &str = "<!-- milestone -->\n";
const END: &str = "<!-- /milestone -->\n";

const HEADING: &str = "| client | sessions | tokens in the ledger | tokens counted by the server | longest prompt | our beginning | the request | seconds | seen |\n\
                       | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |\n";

/// A run in one client.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) subject: &'static str,
    pub(crate) version: &'static str,
    pub(crate) sessions: usize,
    pub(crate) ledger: Usage,
    pub(crate) count: Count,
    /// In bytes.
    pub(crate) longest: usize,
    /// In percent, of our texts and of the request.
    pub(crate) stable: f64,
    pub(crate) request: f64,
    pub(crate) seconds: f64,
}

impl Row {
    fn line(&self) -> String {
        let Self { subject, version, sessions, ledger, count, longest, stable, request, seconds } = self;
        let tokens = |usage: Usage| usage.sent() + usage.output;
        let beside = match tokens(count.beside) {
            0 => String::new(),
            beside => format!(", {beside} of them outside of the conversation"),
        };
        let (ledger, server) = (tokens(*ledger), tokens(count.usage));
        format!(
            "| {subject} {version} | {sessions} | {ledger} | {server}{beside} | {longest} | {stable:.0} % | {request:.0} % | {seconds:.0} | {} |\n",
            today()
        )
    }
}

/// The rows of a run.
pub(crate) fn text(rows: &[Row]) -> String {
    HEADING.to_owned() + &rows.iter().map(Row::line).collect::<String>()
}

fn place() -> PathBuf {
    repository().join("docs/runners.md")
}

fn parts(document: &str) -> (&str, &str, &str) {
    let begin = document.find(BEGIN).expect("docs/runners.md has the mark of the milestones") + BEGIN.len();
    let end = document.find(END).expect("docs/runners.md has the mark of their end");
    (&document[..begin], &document[begin..end], &document[end..])
}

/// Writes the rows of this run into the document, if asked to.
pub(crate) fn note(rows: &[Row]) {
    if std::env::var("SNAPSHOTS").is_ok_and(|wish| wish == "overwrite") {
        let _one = DOCUMENT.lock().unwrap();
        let document = std::fs::read_to_string(place()).unwrap();
        let (before, table, after) = parts(&document);
        let begins = |client: &str| format!("| {client} ");
        let line = |client: &str| {
            let new = rows.iter().find(|row| row.subject == client).map(Row::line);
            let old = || table.lines().find(|line| line.starts_with(&begins(client))).map(|line| format!("{line}\n"));
            new.or_else(old).unwrap_or_default()
        };
        let lines: String = players().map(|player| line(player.package.host)).collect();
        std::fs::write(place(), format!("{before}{HEADING}{lines}{after}")).unwrap();
    }
}

mod tests {
    use super::*;

    #[test]
    fn the_document_has_a_milestone_of_each_client_with_the_version_that_is_tried() {
        let document = std::fs::read_to_string(place()).unwrap();
        let (_, table, _) = parts(&document);
        let rows = table.strip_prefix(HEADING).expect("the heading of the table");
        let wanted = players().map(|player| format!("| {} {} | 7 | ", player.package.host, player.package.version));
        let lines: Vec<&str> = rows.lines().collect();
        assert_eq!(lines.len(), players().count(), "{rows}");
        for (line, wanted) in lines.iter().zip(wanted) {
            assert!(
                line.starts_with(&wanted),
                "docs/runners.md lags behind: SNAPSHOTS=overwrite GSD_RUNNERS=milestone\n{line}"
            );
        }
    }
}
