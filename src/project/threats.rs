//! The threats that a plan names in its `<threat_model>`.

use crate::text::markdown::Markdown;
use crate::text::table::Table;
use crate::text::words::{self, words};

words! {
    /// The severity of a threat.
    #[derive(PartialOrd, Ord)]
    pub(crate) enum ThreatSeverity {
        Low = "low",
        Medium = "medium",
        High = "high",
        Critical = "critical",
    }
}

/// One threat of a plan. Its identifier is `T-03-02-01`, or `T-03-01` in older plans.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Threat {
    pub(crate) id: String,
    /// `None` if the plan does not give it in a known word.
    pub(crate) severity: Option<ThreatSeverity>,
}

/// The threats of a plan; `None` if it has no threat model with content.
pub(crate) fn threats_of(plan: &str) -> Option<Vec<Threat>> {
    let (_, rest) = plan.split_once("<threat_model>")?;
    let (model, _) = rest.split_once("</threat_model>")?;
    if model.trim().is_empty() {
        return None;
    }
    let document = Markdown::parse(model);
    let mut threats = Vec::new();
    for table in Table::all(&document) {
        let names = ["Threat", "Threat ID", "ID"];
        let Some(id) = names.iter().find_map(|name| table.column(name)) else { continue };
        let severity = table.column("Severity");
        for row in 0..table.row_count() {
            let bare = |column| table.cell_text(row, column).replace(['*', '`'], "").trim().to_owned();
            let word = severity.map(bare).unwrap_or_default().to_lowercase();
            threats.push(Threat { id: bare(id), severity: words::of_word(&word) });
        }
    }
    Some(threats)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_a_threat_model_is_read_in_either_form() {
        let ours = "<threat_model>\nTrust boundaries: a form\n\n| Threat | STRIDE | Component | Severity | Disposition | Mitigation |\n\
                    |---|---|---|---|---|---|\n| T-01-02-01 | S | a | High | mitigate | task 1 |\n| `T-01-02` | T | b | low | accept | x |\n</threat_model>";
        let threats = threats_of(ours).unwrap();
        let found: Vec<_> = threats.iter().map(|threat| (threat.id.as_str(), threat.severity)).collect();
        assert_eq!(found, [("T-01-02-01", Some(ThreatSeverity::High)), ("T-01-02", Some(ThreatSeverity::Low))]);
        let older = "<threat_model>\n## Trust Boundaries\n\n| Boundary | Description |\n|---|---|\n| a | b |\n\n\
                     | Threat ID | Category | Disposition |\n|---|---|---|\n| T-01-01 | S | mitigate |\n</threat_model>";
        assert_eq!(threats_of(older).unwrap(), [Threat { id: "T-01-01".to_owned(), severity: None }]);
    }

    #[test]
    fn a_plan_without_a_threat_model_differs_from_one_without_threats() {
        assert_eq!(threats_of("<threat_model>\nNo data from outside.\n</threat_model>"), Some(Vec::new()));
        for plan in ["", "<threat_model>\n</threat_model>", "<threat_model> x"] {
            assert_eq!(threats_of(plan), None, "{plan}");
        }
    }
}
