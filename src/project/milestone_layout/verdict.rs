//! The verdict of a report: from the front matter, or else from a line or a row.

use super::lines::{bare, labelled, scalar, words};
use crate::text::front_matter::FrontMatter;
use crate::text::markdown::Markdown;
use crate::text::table::Table;

/// The verdict as written, trimmed: from the front matter if there is one, else from a line `**Verdict:** PASS`.
pub(crate) fn written(text: &str) -> Option<String> {
    let own = bare(text);
    if let Some(front) = FrontMatter::parse(own) {
        return scalar(Some(&front), "verdict");
    }
    let markdown = Markdown::parse(own);
    let lines = (0..markdown.lines().len()).filter(|line| markdown.is_prose(*line));
    let told = lines.filter_map(|line| labelled(markdown.line(line).trim_start_matches(['#', ' ']), "Verdict"));
    told.map(bare_word).find(|word| !word.is_empty()).map(str::to_owned)
}

/// The results in the tables of a body, for a report without a written verdict: the cells below a head such as
/// `Result`, and those next to `Verdict`. Words in running text do not count.
pub(crate) fn in_tables(text: &str) -> Vec<String> {
    const HEADS: &[&str] = &["verdict", "result", "status", "outcome"];
    let own = bare(text);
    let markdown = Markdown::parse(own);
    let mut found = Vec::new();
    for table in Table::all(&markdown) {
        let heads: Vec<String> = table.columns().iter().map(|head| head.to_lowercase()).collect();
        let column = heads.iter().position(|head| HEADS.contains(&head.as_str()));
        for row in 0..table.row_count() {
            let named = words(table.cell(row, 0)).next().is_some_and(|word| word.eq_ignore_ascii_case("verdict"));
            let cell = match column {
                Some(column) if !named => table.cell(row, column),
                _ if named => table.cell(row, 1),
                _ => continue,
            };
            if cell.contains('❌') {
                found.push("fail".to_owned());
            }
            found.extend(words(cell).next().map(str::to_lowercase));
        }
    }
    found
}

/// The first word of a value, without the marks around it: `needs-attention` of `**needs-attention** (2 open)`.
pub(crate) fn bare_word(value: &str) -> &str {
    let value = value.trim_start_matches(|letter: char| !letter.is_alphanumeric());
    let end = value.find(|letter: char| !letter.is_alphanumeric() && letter != '-' && letter != '_');
    &value[..end.unwrap_or(value.len())]
}
