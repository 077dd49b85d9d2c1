//! The row of the roadmap that a slice plan repeats.

/// A slice as its roadmap has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SliceRow {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) risk: String,
    pub(crate) depends: Vec<String>,
    /// What can be shown after it.
    pub(crate) demo: Option<String>,
}

/// A slice plan that does not repeat its row.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the plan of `{slice}` does not repeat its row of the roadmap: its second line has to be `{expected}`")]
pub(crate) struct CitationError {
    slice: String,
    /// The line that is missing.
    pub(crate) expected: String,
}

impl SliceRow {
    /// The line of the slice plan that repeats this row.
    pub(crate) fn citation(&self) -> String {
        let Self { id, title, risk, .. } = self;
        format!("**Roadmap:** {id}: {title} `risk:{risk}` `depends:[{}]`", self.depends.join(","))
    }

    /// Whether `plan` repeats this row. Gaps between words do not count.
    pub(crate) fn check(&self, plan: &str) -> Result<(), CitationError> {
        let expected = self.citation();
        let cites = |line: &str| squeezed(line).eq_ignore_ascii_case(&squeezed(&expected));
        if plan.lines().any(cites) {
            return Ok(());
        }
        Err(CitationError { slice: self.id.clone(), expected })
    }
}

/// Without gaps between what is separated by commas, and with single ones between words.
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
            demo: None,
        };
        let line = "**Roadmap:** S03: Search, by date `risk:medium` `depends:[S01,S02]`";
        assert_eq!(row.citation(), line);
        row.check(&format!("# S03: Search\n{line}\n**Goal:** g\n")).unwrap();
        row.check(&format!("# S03\r\n{}\r\n", line.replace("S01,S02", "S01, S02"))).unwrap();
        for other in [line.replace("medium", "low"), line.replace(",S02", ""), line.replace("date", "name")] {
            let error = row.check(&other).unwrap_err();
            assert_eq!(error.expected, line);
            assert!(error.to_string().contains("`S03`"));
        }
    }
}
