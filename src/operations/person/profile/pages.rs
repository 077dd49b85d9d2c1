//! An analysis as pages: the profile, a command that loads it, and a section of an instruction file.

use std::fmt::Write as _;

use super::{Analysis, CATALOGUE, UNSCORED};
use crate::text::front_matter::{self, Value};
use crate::text::secrets::redact;

/// The profile for people and agents to read, and the number of secrets that were removed from it. Writing to a string
/// cannot fail.
pub(crate) fn profile(analysis: &Analysis, now: &str) -> (String, usize) {
    let mut redacted = 0;
    let mut clean = |text: &str| {
        let (text, count) = redact(text);
        redacted += count;
        text
    };
    let mut page = "# Developer Profile\n\n".to_owned();
    page.push_str(
        "> How the person at the keyboard likes to work. What is HIGH holds; what is LOW is a guess to be tried.\n\n",
    );
    let _ = write!(page, "**Generated:** {now}\n**Source:** {}\n", analysis.source);
    let _ = writeln!(page, "**Projects Analyzed:** {}", analysis.projects.join(", "));
    let _ = write!(page, "**Messages Analyzed:** {}\n\n---\n\n## Quick Reference\n\n", analysis.messages);
    for rated in analysis.scored() {
        let _ = writeln!(page, "- **{}:** {} ({})", rated.dimension.label, clean(&rated.directive), rated.confidence);
    }
    for rated in &analysis.rated {
        let rating = rated.rating.as_deref().unwrap_or(UNSCORED);
        let _ = write!(page, "\n---\n\n## {}\n\n", rated.dimension.title);
        let _ = writeln!(page, "**Rating:** {rating} | **Confidence:** {}", rated.confidence);
        if rated.rating.is_none() {
            continue;
        }
        let _ = write!(page, "\n**Directive:** {}\n", clean(&rated.directive));
        if !rated.summary.is_empty() {
            let _ = write!(page, "\n{}\n", clean(&rated.summary));
        }
        if !rated.evidence.is_empty() {
            page.push_str("\n**Evidence:**\n\n");
        }
        for (signal, quote, project) in &rated.evidence {
            let (signal, quote) = (clean(signal), clean(quote));
            let _ = writeln!(page, "- **Signal:** {signal} / **Example:** \"{quote}\" -- project: {project}");
        }
    }
    let count = |confidence: &str| counted(analysis, confidence);
    let _ = write!(page, "\n---\n\n## Profile Metadata\n\n| Field | Value |\n|-------|-------|\n");
    let scored = format!("{}/{}", analysis.scored().count(), CATALOGUE.dimension.len());
    let rows = [
        ("Profile Version", analysis.version.clone()),
        ("Generated", now.to_owned()),
        ("Source", analysis.source.clone()),
        ("Projects", analysis.projects.len().to_string()),
        ("Messages", analysis.messages.to_string()),
        ("Dimensions Scored", scored),
        ("High Confidence", count("HIGH").to_string()),
        ("Medium Confidence", count("MEDIUM").to_string()),
        ("Low Confidence", count("LOW").to_string()),
        ("Secrets Taken Out", redacted.to_string()),
    ];
    for (field, value) in rows {
        let _ = writeln!(page, "| {field} | {} |", value.replace('|', "\\|"));
    }
    (page, redacted)
}

/// The number of dimensions rated with this confidence.
pub(crate) fn counted(analysis: &Analysis, confidence: &str) -> usize {
    analysis.scored().filter(|rated| rated.confidence == confidence).count()
}

/// A command that loads the directives for an agent; `stack` is additional information for it.
pub(crate) fn preferences(analysis: &Analysis, name: &str, stack: Option<&str>, now: &str) -> String {
    let mut page = "\n# Developer Preferences\n\n".to_owned();
    let _ = write!(page, "> Made on {now} from {}.\n\n## Behavioral Directives\n", analysis.source);
    page.push_str("\nDo as these lines say. What is LOW is a guess: try it, and ask whether it fits.\n");
    for rated in analysis.scored() {
        let (directive, _) = redact(&rated.directive);
        let _ = write!(page, "\n### {}\n\n{directive} ({} confidence)\n", rated.dimension.advice, rated.confidence);
    }
    if let Some(stack) = stack.map(str::trim).filter(|stack| !stack.is_empty()) {
        let _ = write!(page, "\n## Stack Preferences\n\n{stack}\n");
    }
    let entries = [
        ("name".to_owned(), Value::from(name)),
        ("description".to_owned(), Value::from("Load how the developer likes to work into this session")),
    ];
    front_matter::compose(&entries, &page, "\n")
}

/// The section of an instruction file about the person.
pub(crate) fn section(analysis: &Analysis) -> String {
    let mut part = "\n## Developer Profile\n\n".to_owned();
    let cure = "`gsd-tools generate-claude-profile` brings it up to date.";
    let _ = write!(part, "> Made from {}. {cure}\n\n", analysis.source);
    part.push_str("| Dimension | Rating | Confidence |\n|-----------|--------|------------|\n");
    for rated in analysis.scored() {
        let rating = rated.rating.as_deref().unwrap_or_default().replace('|', "\\|");
        let _ = writeln!(part, "| {} | {rating} | {} |", rated.dimension.short, rated.confidence);
    }
    part.push_str("\n**Directives:**\n\n");
    for rated in analysis.scored() {
        let (directive, _) = redact(&rated.directive);
        let _ = writeln!(part, "- **{}:** {directive}", rated.dimension.short);
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::front_matter::FrontMatter;

    const ANALYSIS: &str = r#"{"data_source":"session_analysis","projects_analyzed":["a|b"],"messages_analyzed":7,"dimensions":{
        "communication_style":{"rating":"terse-direct","confidence":"HIGH","claude_instruction":"Be\n# brief","evidence":[{"signal":"s","quote":"token=abc","project":"p"}]},
        "decision_speed":{"rating":"delegator","confidence":"LOW"},
        "ux_philosophy":{"rating":"UNSCORED","confidence":"UNSCORED"},
        "other":{"rating":"x"}, "learning_style":3}}"#;

    #[test]
    fn a_profile_contains_what_is_known_and_no_secret() {
        let analysis = Analysis::parse(ANALYSIS).unwrap();
        let (page, redacted) = profile(&analysis, "now");
        assert!(page.contains("- **Communication:** Be # brief (HIGH)\n"), "{page}");
        assert!(page.contains("- **Decisions:** Choose, say"), "a known rating says what to do by itself: {page}");
        assert!(page.contains("\"token=[REDACTED]\"") && page.contains("**Rating:** UNSCORED"), "{page}");
        assert!(page.contains("| Dimensions Scored | 2/8 |") && page.contains("| Projects | 1 |"), "{page}");
        assert_eq!((redacted, counted(&analysis, "HIGH"), counted(&analysis, "LOW")), (1, 1, 1));
    }

    #[test]
    fn a_command_and_a_section_contain_only_scored_dimensions() {
        let analysis = Analysis::parse(ANALYSIS).unwrap();
        let page = preferences(&analysis, "gsd-dev-preferences", Some("Rust"), "now");
        assert_eq!(FrontMatter::parse(&page).unwrap().text("name").as_deref(), Some("gsd-dev-preferences"));
        assert!(page.contains("### Decision Support") && page.ends_with("## Stack Preferences\n\nRust\n"), "{page}");
        assert!(!page.contains("UX Approach"));
        let part = section(&analysis);
        assert!(part.contains("| Communication | terse-direct | HIGH |") && !part.contains("UX"), "{part}");
    }
}
