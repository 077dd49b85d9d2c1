//! The row of the roadmap that a slice plan repeats.

use crate::project::milestone_layout::slice_rows::SliceRow;

/// Returns the line of the slice plan that repeats a row.
pub(crate) fn citation(row: &SliceRow) -> String {
    let SliceRow { id, title, risk, .. } = row;
    format!("**Roadmap:** {id}: {title} `risk:{risk}` `depends:[{}]`", row.depends.join(","))
}

/// Returns the line that `plan` needs to repeat a row, if it is missing. Differences in spaces are ignored.
pub(crate) fn missing(row: &SliceRow, plan: &str) -> Option<String> {
    let expected = citation(row);
    let cites = |line: &str| squeezed(line).eq_ignore_ascii_case(&squeezed(&expected));
    (!plan.lines().any(cites)).then_some(expected)
}

/// Normalizes the spaces around commas and between words.
fn squeezed(line: &str) -> String {
    line.replace(',', " , ").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_repeats_title_risk_and_depends() {
        let row = SliceRow {
            id: "S03".to_owned(),
            title: "Search, by date".to_owned(),
            risk: "medium".to_owned(),
            depends: vec!["S01".to_owned(), "S02".to_owned()],
            ..SliceRow::default()
        };
        let line = "**Roadmap:** S03: Search, by date `risk:medium` `depends:[S01,S02]`";
        assert_eq!(citation(&row), line);
        assert_eq!(missing(&row, &format!("# S03: Search\n{line}\n**Goal:** g\n")), None);
        assert_eq!(missing(&row, &format!("# S03\r\n{}\r\n", line.replace("S01,S02", "S01, S02"))), None);
        for other in [line.replace("medium", "low"), line.replace(",S02", ""), line.replace("date", "name")] {
            assert_eq!(missing(&row, &other).as_deref(), Some(line));
        }
    }
}
