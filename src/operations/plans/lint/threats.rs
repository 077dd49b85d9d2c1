//! Checks the threat model of a plan: whether there is one, and whether tasks mitigate the most severe threats.

use super::open::says_nothing;
use crate::operations::plans::found::{Found, Weight};
use crate::project::plan::{PhasePlan, PlanTask};

/// The severity of a threat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ThreatLevel {
    Low,
    Medium,
    High,
    Critical,
}

impl ThreatLevel {
    /// Parses the word of a table or of the setting `workflow.security_block_on`; `None` for `none`.
    pub(crate) fn of(word: &str) -> Option<Self> {
        let word = word.trim_matches(|letter: char| !letter.is_alphanumeric()).to_lowercase();
        match word.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default() {
            "critical" => Some(Self::Critical),
            "high" => Some(Self::High),
            "medium" | "moderate" => Some(Self::Medium),
            "low" => Some(Self::Low),
            _ => None,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }
}

/// A row of the table.
#[derive(Debug)]
pub(super) struct Threat<'text> {
    pub(super) id: &'text str,
    /// The offset of the row in the plan.
    pub(super) at: usize,
    pub(super) row: &'text str,
    severity: Option<ThreatLevel>,
    disposition: Option<&'text str>,
    mitigation: Option<&'text str>,
}

/// The threats that a plan names, in order.
pub(super) fn threats<'text>(plan: &PhasePlan<'text>) -> Vec<Threat<'text>> {
    let Some((start, block)) = plan.block("threat_model") else { return Vec::new() };
    let mut found = Vec::new();
    let mut head: Option<Vec<String>> = None;
    let mut at = start;
    for line in block.split_inclusive('\n') {
        let here = at;
        at += line.len();
        let row = line.trim();
        if !row.starts_with('|') {
            head = None;
            continue;
        }
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        if cells.iter().all(|cell| cell.chars().all(|sign| matches!(sign, '-' | ':'))) {
            continue;
        }
        let Some(names) = &head else {
            head = Some(cells.iter().map(|cell| cell.to_lowercase()).collect());
            continue;
        };
        let cell = |words: &[&str]| {
            let column = names.iter().position(|name| words.iter().any(|word| name.contains(word)))?;
            cells.get(column).copied()
        };
        let Some(id) = cells.first().map(|id| id.trim_matches(['`', '*'])).filter(|id| is_id(id)) else { continue };
        found.push(Threat {
            id,
            at: here,
            row,
            severity: cell(&["severity", "risk", "rating"]).and_then(ThreatLevel::of),
            disposition: cell(&["disposition"]),
            mitigation: cell(&["mitigation", "plan", "control"]),
        });
    }
    found
}

/// True for `T-03-01`, but not for a boundary or a name.
fn is_id(text: &str) -> bool {
    text.contains('-') && !text.contains(' ') && text.chars().any(|letter| letter.is_ascii_digit())
}

/// The problems with the threat model of a plan that must have one. `from` is the severity from which a threat must be
/// mitigated.
pub(super) fn findings(plan: &PhasePlan<'_>, tasks: &[PlanTask<'_>], from: Option<ThreatLevel>) -> Vec<Found> {
    let block =
        plan.block("threat_model").filter(|(at, block)| !says_nothing(block) && !is_in_comment(plan.text(), *at));
    let Some((at, block)) = block else {
        let sentence = "It has no <threat_model>, and `workflow.security_enforcement` is on: name the trust boundaries it \
            crosses and their threats, or say in it that it crosses none";
        return vec![Found::error(None, sentence)];
    };
    if let Some(why) = says_little(plan.text(), at, block) {
        let sentence = format!("<threat_model> {why}: name the trust boundaries it crosses and their threats");
        return vec![Found::at(Weight::Warning, plan, at, sentence)];
    }
    let Some(from) = from else { return Vec::new() };
    let severe = threats(plan).into_iter().filter(|threat| threat.severity.is_some_and(|severity| severity >= from));
    let judged = severe.filter_map(|threat| {
        let severity = threat.severity?.word();
        let disposition = threat.disposition?.trim_matches(['`', '*']);
        let sentence = if !disposition.to_lowercase().starts_with("mitigat") {
            format!(
                "Threat {} of severity {severity} is `{disposition}`: from `{}` on a threat is mitigated by a task",
                threat.id,
                from.word()
            )
        } else if threat.mitigation.is_some_and(|told| !names_a_task(told, tasks)) {
            format!(
                "The mitigation of threat {} of severity {severity} does not name a task: write which one does it",
                threat.id
            )
        } else {
            return None;
        };
        Some(Found::at(Weight::Error, plan, threat.at, sentence))
    });
    judged.collect()
}

/// True if an offset of a text is inside a comment.
fn is_in_comment(text: &str, at: usize) -> bool {
    let before = &text[..at];
    before.rfind("<!--").is_some_and(|open| before[open..].find("-->").is_none())
}

/// Why a threat model has too little content: it is shown as code, its table has no row, or it names no boundary.
fn says_little(text: &str, at: usize, block: &str) -> Option<&'static str> {
    let before =
        text[..at].lines().rev().map(str::trim).find(|line| !line.is_empty() && !line.ends_with("<threat_model>"));
    if before.is_some_and(|line| line.starts_with("```") && line.len() < 12) && text[at..].contains("```") {
        let fences = text[..at].lines().filter(|line| line.trim_start().starts_with("```")).count();
        if fences % 2 == 1 {
            return Some("is shown as code");
        }
    }
    let rows = block.lines().filter(|line| line.trim().starts_with('|'));
    let rules = rows.clone().filter(|line| line.chars().all(|sign| " |-:".contains(sign))).count();
    if rules > 0 && rows.count() <= rules * 2 {
        return Some("has a table without a row");
    }
    let small = block.to_lowercase();
    let is_short = small.split_whitespace().count() <= 5;
    (is_short && !["boundar", "cross", "trust", "t-"].iter().any(|word| small.contains(word)))
        .then_some("does not name a boundary")
}

/// True if a mitigation says which task does it: by its number or name, by a file it writes, or by a name in its
/// action.
fn names_a_task(told: &str, tasks: &[PlanTask<'_>]) -> bool {
    let small = told.to_lowercase();
    let is_number = |word: &str| word.trim_start_matches(['#', 't']).starts_with(|digit: char| digit.is_ascii_digit());
    let words: Vec<&str> = small.split(|letter: char| letter.is_whitespace() || ",;:()+/".contains(letter)).collect();
    let by_number = words.windows(2).any(|pair| pair[0].starts_with("task") && is_number(pair[1]));
    by_number
        || tasks.iter().any(|task| {
            let title = task.name().unwrap_or_default().to_lowercase();
            let title = title.split_once(':').map_or(title.as_str(), |(_, title)| title).trim().to_owned();
            let is_title = !title.is_empty() && small.contains(&title);
            let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_lowercase();
            let writes = task.files().iter().any(|file| name(file).contains('.') && small.contains(&name(file)));
            let action = task.text("action").unwrap_or_default();
            let in_code = told.split('`').skip(1).step_by(2).filter(|code| code.len() > 2);
            is_title || writes || in_code.clone().any(|code| action.contains(code))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(row: &str, from: Option<ThreatLevel>) -> Vec<String> {
        let text = format!(
            "---\nphase: 1\n---\n<task type=\"auto\"><name>Task 1: Check the size</name><files>src/guard.ts</files><action>Call \
             `limit()` first</action></task>\n<threat_model>\n## Trust Boundaries\n\n| Boundary | Description |\n|---|---|\n\
             | client-1 | form |\n\n| Threat | STRIDE | Severity | Disposition | Mitigation |\n|---|---|---|---|---|\n{row}\n\
             </threat_model>\n"
        );
        let plan = PhasePlan::parse(&text);
        findings(&plan, &plan.tasks(), from).into_iter().map(|found| found.sentence).collect()
    }

    #[test]
    fn a_severe_threat_is_mitigated_by_a_task() {
        let high = Some(ThreatLevel::High);
        for sound in [
            "| T-01-01 | D | high | mitigate | Task 1 |",
            "| T-01-01 | D | high | mitigate | no write at all (Task 1's behaviour) |",
            "| T-01-01 | D | **High** | Mitigate | tasks 1, 2 limit it |",
            "| T-01-01 | D | critical | mitigate | in `src/guard.ts` |",
            "| T-01-01 | D | high | mitigate | `limit()` runs first |",
            "| T-01-01 | D | high | mitigate | check the size, before it is read |",
            "| T-01-01 | D | medium | accept | rare |",
            "| T-01-01 | D |  | accept | rare |",
        ] {
            assert_eq!(told(sound, high), Vec::<String>::new(), "{sound}");
        }
        for (wrong, why) in [
            ("| T-01-01 | D | high | accept | rare |", "is `accept`"),
            ("| T-01-01 | D | critical | transfer | the proxy |", "is `transfer`"),
            ("| T-01-01 | D | high | mitigate | validation |", "does not name a task"),
        ] {
            let found = told(wrong, high);
            assert!(found.len() == 1 && found[0].contains(why) && found[0].contains("T-01-01"), "{wrong}: {found:?}");
        }
        assert!(told("| T-01-01 | D | critical | accept | rare |", None).is_empty());
        assert_eq!(told("| T-01-01 | D | medium | accept | rare |", Some(ThreatLevel::Medium)).len(), 1);
    }
}
