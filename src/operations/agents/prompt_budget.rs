//! Shortens a reviewer's prompt until it fits: first the project's page, then explanations, then the plans.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

/// The number of lines at the top of the project's page that are kept.
const PROJECT_LINES: usize = 40;

/// The number of characters that are kept of every plan, however little room there is.
const PLAN_FLOOR: usize = 1024;

/// The texts that make up a prompt.
#[derive(Clone, Debug, Default)]
pub(crate) struct Material {
    pub(crate) instructions: String,
    pub(crate) roadmap: String,
    pub(crate) project: Option<String>,
    /// Names and texts.
    pub(crate) plans: Vec<(String, String)>,
    pub(crate) context: Option<String>,
    pub(crate) research: Option<String>,
    pub(crate) requirements: Option<String>,
}

/// How a prompt was shortened to fit.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BudgetReport {
    budget: usize,
    /// The part of the budget that is used at most, since token counts are estimates.
    effective_budget: usize,
    estimated_tokens: usize,
    /// Sections that were left out.
    omitted: Vec<&'static str>,
    /// The project's page was cut to its first lines.
    project_md_shrunk: bool,
    /// The part of the plans that was cut, in percent.
    plan_truncation_pct: f64,
    /// The required parts do not fit: the prompt is empty.
    pub(crate) hard_failed: bool,
    /// The prompt has a note that it was shortened.
    note_injected: bool,
}

/// How much is cut.
#[derive(Clone, Copy, Debug)]
struct Cut {
    shrink_project: bool,
    /// The number of explanatory sections that are left out.
    omit: usize,
    /// The most characters of a plan.
    plan_cap: usize,
}

/// Builds the prompt and reports how it was shortened. The prompt is empty if it cannot fit.
pub(crate) fn fit(material: &Material, budget: usize) -> (String, BudgetReport) {
    let effective_budget = budget / 10 * 9 + budget % 10 * 9 / 10;
    let whole = Cut { shrink_project: false, omit: 0, plan_cap: usize::MAX };
    let mut tried = (String::new(), whole);
    for cut in [(false, 0), (true, 0), (true, 1), (true, 2), (true, 3)] {
        let cut = Cut { shrink_project: cut.0, omit: cut.1, plan_cap: usize::MAX };
        // Plans stay whole as long as other parts can be cut first.
        let caps = if cut.omit == 0 { None } else { plan_caps(material, cut, budget, effective_budget) };
        let cut = caps.map_or(cut, |plan_cap| Cut { plan_cap, ..cut });
        let prompt = material.prompt(cut, budget);
        let fits = tokens(&prompt) <= effective_budget;
        tried = (prompt, cut);
        if fits {
            break;
        }
    }
    let (prompt, cut) = tried;
    let estimated_tokens = tokens(&prompt);
    let hard_failed = estimated_tokens > effective_budget;
    let report = BudgetReport {
        budget,
        effective_budget,
        estimated_tokens,
        omitted: material.omitted(cut),
        project_md_shrunk: cut.shrink_project && material.project.is_some(),
        plan_truncation_pct: material.truncation(cut),
        hard_failed,
        note_injected: material.note(cut, budget).is_some() && !hard_failed,
    };
    (if hard_failed { String::new() } else { prompt }, report)
}

/// The most characters of a plan with which the prompt fits; the floor if even that does not help.
fn plan_caps(material: &Material, cut: Cut, budget: usize, effective_budget: usize) -> Option<usize> {
    let fits = |plan_cap| tokens(&material.prompt(Cut { plan_cap, ..cut }, budget)) <= effective_budget;
    let longest = material.plans.iter().map(|(_, text)| text.chars().count()).max().unwrap_or_default();
    if longest <= PLAN_FLOOR || fits(longest) {
        return None;
    }
    let (mut low, mut high) = (PLAN_FLOOR, longest);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if fits(middle) { low = middle } else { high = middle }
    }
    Some(low)
}

/// An estimated token count: about four letters make a token.
pub(crate) fn tokens(text: &str) -> usize {
    text.encode_utf16().count().div_ceil(4)
}

impl Material {
    /// The explanatory sections, in the order in which they are left out.
    fn explaining(&self) -> [(&'static str, &'static str, Option<&str>); 3] {
        [
            ("context", "Context", self.context.as_deref()),
            ("research", "Research", self.research.as_deref()),
            ("requirements", "Requirements", self.requirements.as_deref()),
        ]
    }

    fn omitted(&self, cut: Cut) -> Vec<&'static str> {
        let gone = self.explaining().into_iter().take(cut.omit);
        gone.filter(|(_, _, text)| text.is_some()).map(|(name, ..)| name).collect()
    }

    /// The part of the plans that is cut, in percent.
    fn truncation(&self, cut: Cut) -> f64 {
        let (mut all, mut kept) = (0_u32, 0_u32);
        for (_, text) in &self.plans {
            let count = text.chars().count();
            all = all.saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
            kept = kept.saturating_add(u32::try_from(count.min(cut.plan_cap)).unwrap_or(u32::MAX));
        }
        if all == 0 { 0.0 } else { f64::from(all - kept) / f64::from(all) * 100.0 }
    }

    /// The note about what was cut, for the reader of the prompt.
    fn note(&self, cut: Cut, budget: usize) -> Option<String> {
        let omitted = self.omitted(cut);
        let shrunk = cut.shrink_project && self.project.is_some();
        let truncation = self.truncation(cut);
        if omitted.is_empty() && !shrunk && truncation == 0.0 {
            return None;
        }
        let mut note = format!("<note>\nShortened to fit {budget} tokens.");
        // Writing to a string cannot fail.
        if shrunk {
            let _ = write!(note, " Project: its first {PROJECT_LINES} lines.");
        }
        if !omitted.is_empty() {
            let _ = write!(note, " Left out: {}.", omitted.join(", "));
        }
        if truncation > 0.0 {
            let _ = write!(note, " Plans: about {truncation:.0} % cut.");
        }
        note.push_str("\nWhat is missing here was left out to save space; that is not a finding.\n</note>\n");
        Some(note)
    }

    fn prompt(&self, cut: Cut, budget: usize) -> String {
        let mut sections = vec![self.instructions.clone()];
        sections.extend(self.note(cut, budget));
        sections.push(format!("## Roadmap\n\n{}", self.roadmap));
        sections.extend(self.project.as_ref().map(|project| {
            let lines = if cut.shrink_project { PROJECT_LINES } else { usize::MAX };
            format!("## Project\n\n{}", project.split_inclusive('\n').take(lines).collect::<String>())
        }));
        let plan = |(name, text): &(String, String)| {
            format!("### {name}\n\n{}", text.chars().take(cut.plan_cap).collect::<String>())
        };
        let plans: Vec<String> = self.plans.iter().map(plan).collect();
        sections.push(format!("## Plans\n\n{}", plans.join("\n\n")));
        for (_, title, text) in self.explaining().into_iter().skip(cut.omit) {
            sections.extend(text.map(|text| format!("## {title}\n\n{text}")));
        }
        sections.join("\n\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn material() -> Material {
        Material {
            instructions: "I".repeat(100),
            roadmap: "R".repeat(400),
            project: Some("line 000\n".repeat(200)),
            plans: vec![("a.md".into(), "A".repeat(4000)), ("b.md".into(), "é".repeat(1000))],
            context: Some("C".repeat(2000)),
            research: Some("S".repeat(2000)),
            requirements: Some("Q".repeat(2000)),
        }
    }

    #[test]
    fn a_prompt_that_fits_is_not_changed() {
        let small = Material {
            instructions: "Do this\n".into(),
            roadmap: "# Roadmap\nhello\n".into(),
            plans: vec![("pl.md".into(), "# Plan\nhello world\n".into())],
            ..Material::default()
        };
        let (prompt, report) = fit(&small, 1000);
        assert_eq!(
            prompt,
            "Do this\n\n\n## Roadmap\n\n# Roadmap\nhello\n\n\n## Plans\n\n### pl.md\n\n# Plan\nhello world\n"
        );
        assert_eq!((report.effective_budget, report.estimated_tokens, report.note_injected), (900, 20, false));
    }

    #[test]
    fn less_room_leaves_less_text_and_the_prompt_says_so() {
        let cut = |budget| {
            let (prompt, report) = fit(&material(), budget);
            assert!(tokens(&prompt) <= report.effective_budget);
            assert_eq!(prompt.contains("<note>"), report.note_injected);
            assert_eq!(prompt.is_empty(), report.hard_failed);
            (report.project_md_shrunk, report.omitted, report.plan_truncation_pct > 0.0, report.hard_failed)
        };
        assert_eq!(cut(4200), (false, vec![], false, false));
        assert_eq!(cut(3500), (true, vec![], false, false));
        assert_eq!(cut(3300), (true, vec!["context"], false, false));
        assert_eq!(cut(2500), (true, vec!["context"], true, false));
        assert_eq!(cut(1600), (true, vec!["context", "research"], true, false));
        assert_eq!(cut(1100), (true, vec!["context", "research", "requirements"], true, false));
        assert_eq!(cut(500), (true, vec!["context", "research", "requirements"], true, true));
    }

    #[test]
    fn the_effective_budget_never_overflows() {
        for budget in [1, 9, 10, 19, usize::MAX] {
            let (_, report) = fit(&Material::default(), budget);
            assert!(report.effective_budget <= budget, "{budget}");
        }
        assert_eq!(fit(&Material::default(), 19).1.effective_budget, 17);
    }
}
