//! CONTEXT.md: the decisions that plans must carry out.
//!
//! A decision is an entry `- **D-01:** text` of the block `<decisions>` or, without such a block, of a section
//! `Decisions`. Entries left to the executor's discretion, and those marked `[informational]`, need not be covered.

use schemars::JsonSchema;
use serde::Serialize;

use crate::text::markdown::{LineKind, Markdown, heading_title};

/// A decision that must be covered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Decision {
    pub(crate) id: String,
    /// On one line.
    pub(crate) text: String,
    /// The heading above it.
    pub(crate) category: String,
}

impl Decision {
    /// Whether `text` names the decision.
    pub(crate) fn is_cited_in(&self, text: &str) -> bool {
        names(text, &self.id)
    }
}

/// Whether `text` contains `id` as a word.
pub(crate) fn names(text: &str, id: &str) -> bool {
    let inside = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.match_indices(id).any(|(at, _)| {
        let after = &text[at + id.len()..];
        let goes_on = after.starts_with(inside) || after.strip_prefix('-').is_some_and(|rest| rest.starts_with(inside));
        !text[..at].ends_with(|before: char| inside(before) || before == '-') && !goes_on
    })
}

/// The decisions in a context.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Decided {
    /// The decisions that must be covered, in order.
    pub(crate) decisions: Vec<Decision>,
    /// Lines, counted from one, that look like a decision but cannot be read as one; the first line of the block if
    /// nothing in it can be read.
    pub(crate) unreadable: Vec<usize>,
}

/// The decisions of a context, and the lines that look like decisions but cannot be read.
pub(crate) fn decided(text: &str) -> Decided {
    const INFORMATIONAL: &str = "[informational]";
    let markdown = Markdown::parse(text);
    let mut found: Vec<Decision> = Vec::new();
    let (mut category, mut open) = (String::new(), None);
    let (mut unreadable, mut plain) = (Vec::new(), None);
    let block = block(&markdown);
    for line in block.iter().copied() {
        let own = markdown.line(line);
        let is_heading = matches!(markdown.lines()[line].kind, LineKind::Heading(_));
        if is_heading && !is_labelled(own) {
            category = String::from(heading_title(own));
            open = None;
        } else if let Some((id, rest)) = entry(own) {
            found.push(Decision { id, text: rest.to_owned(), category: category.clone() });
            open = Some(line);
        } else if open.is_some_and(|last| last + 1 == line) && own.starts_with([' ', '\t']) && !own.trim().is_empty() {
            if let Some(last) = found.last_mut() {
                last.text.push(' ');
                last.text.push_str(own.trim());
            }
            open = Some(line);
        } else if is_labelled(own) {
            unreadable.push(line + 1);
        } else if !own.trim_start().starts_with('<') && !is_nothing(own) && !is_left_open(&category) {
            plain.get_or_insert(line + 1);
        }
    }
    if found.is_empty() && unreadable.is_empty() {
        // A block with text but no identifier, or identifiers outside a block.
        let prose = || (0..markdown.lines().len()).filter(|line| markdown.is_prose(*line));
        let labelled = || prose().find(|line| is_labelled(markdown.line(*line)));
        let named = || prose().find(|line| names_decision(markdown.line(*line)));
        let elsewhere = || labelled().or_else(named).map(|line| line + 1);
        unreadable.extend(if block.is_empty() { elsewhere() } else { plain });
    }
    found.retain(|decision| {
        let tagged = decision.text.to_lowercase().contains(INFORMATIONAL);
        !tagged && !decision.category.to_lowercase().contains("discretion")
    });
    Decided { decisions: found, unreadable }
}

/// Whether entries below this heading are not decisions.
fn is_left_open(category: &str) -> bool {
    let category = category.to_lowercase();
    category.contains("discretion") || category.contains("todo")
}

/// Whether a line only states that nothing was decided.
fn is_nothing(line: &str) -> bool {
    let words = line.trim_matches(|letter: char| !letter.is_alphanumeric()).to_lowercase();
    let first = words.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default();
    matches!(first, "" | "no" | "none" | "nothing" | "n")
}

/// Whether a line contains the identifier of a decision and does not attribute it to another phase.
fn names_decision(line: &str) -> bool {
    let is_id = |at: usize| {
        let number = &line[at + "D-".len()..];
        let end = number.trim_start_matches(|digit: char| digit.is_ascii_digit());
        let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-');
        end.len() < number.len() && !end.starts_with(is_part) && !line[..at].ends_with(is_part)
    };
    let words = line.to_lowercase();
    let of_phase = words
        .match_indices("phase ")
        .any(|(at, word)| words[at + word.len()..].trim_start().starts_with(|digit: char| digit.is_ascii_digit()));
    !of_phase && line.match_indices("D-").any(|(at, _)| is_id(at))
}

/// Whether a line begins with the label of a decision, such as `- D-01`, `1. D-01`, `| D-2 |`, `### D-3` or `D-4: `.
fn is_labelled(line: &str) -> bool {
    let line = line.trim_start();
    let number = line.trim_start_matches(|digit: char| digit.is_ascii_digit());
    let in_order = number.strip_prefix(['.', ')']).filter(|_| number.len() < line.len());
    if let Some(item) = in_order {
        return is_labelled(&format!("- {}", item.trim_start()));
    }
    let label = line.trim_start_matches(['-', '*', '+', '#', '|', '[', ']', '`', '_', ' ']);
    let dashed = label.strip_prefix(['D', 'd']).and_then(|rest| rest.strip_prefix(['-', '\u{2011}', '\u{2013}']));
    let Some(number) = dashed.filter(|rest| rest.starts_with(|digit: char| digit.is_ascii_digit())) else {
        return false;
    };
    label.len() < line.len() || number.trim_start_matches(|digit: char| digit.is_ascii_digit()).starts_with([':', '.'])
}

/// The prose lines that may contain decisions.
fn block(markdown: &Markdown<'_>) -> Vec<usize> {
    let lines = 0..markdown.lines().len();
    let tag = |tag: &str| lines.clone().find(|line| markdown.is_prose(*line) && markdown.line(*line).trim() == tag);
    let range = if let Some(start) = tag("<decisions>") {
        start..tag("</decisions>").filter(|end| *end > start).unwrap_or(lines.end)
    } else {
        let heading = markdown.headings().find(|heading| heading.title.to_lowercase().ends_with("decisions"));
        heading.map_or(0..0, |heading| markdown.section(&heading))
    };
    range.filter(|line| markdown.is_prose(*line)).collect()
}

/// The identifier and the text of `- **D-01:** text`, `- **D-01** — text`, `- **D-01 [tag]:** text`.
fn entry(line: &str) -> Option<(String, &str)> {
    let bold = line.trim_start().strip_prefix(['-', '*'])?.trim_start().strip_prefix("**")?;
    let number = bold.strip_prefix("D-")?;
    let digits = number.bytes().take_while(u8::is_ascii_alphanumeric).count();
    if digits == 0 {
        return None;
    }
    let (label, text) = number[digits..].split_once("**")?;
    let tag = label.trim_matches([':', ' ']);
    let text = text.trim_start_matches([':', ' ', '—', '–', '-']).trim();
    // A tag in the label counts like a tag in the text.
    let text = if tag.is_empty() { text } else { line.trim() };
    Some((format!("D-{}", &number[..digits]), text))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decisions(text: &str) -> Vec<Decision> {
        decided(text).decisions
    }

    #[test]
    fn decisions_are_entries_of_their_block() {
        let text = "<decisions>\r\n### A\r\n- **D-01:** one\r\n  more\r\n- **D-02 [informational]:** no\r\n* **D-03** — dash\r\n\
            - **D-04:** x [informational]\r\n- D-05: plain\r\n### Claude\u{2019}s Discretion\r\n- **D-06:** no\r\n</decisions>\r\n- **D-9:** out\r\n";
        let found: Vec<_> = decisions(text).into_iter().map(|found| (found.id, found.text, found.category)).collect();
        assert_eq!(
            found,
            [("D-01".into(), "one more".into(), "A".into()), ("D-03".into(), "dash".into(), "A".to_owned())]
        );
        assert_eq!(decisions("## Decisions\n- **D-7:** x\n\n## Later\n- **D-8:** y\n").len(), 1);
        assert!(decisions("- **D-1:** nowhere\n").is_empty());
    }

    #[test]
    fn unreadable_decisions_are_reported_by_line() {
        let lines = |text: &str| decided(text).unreadable;
        for bad in [
            "- D-02: plain",
            "- **D-02: open",
            "D-2: x",
            "### D-2",
            "| D-2 | x |",
            "* [ ] **d-2** x",
            "1. **D-02:** x",
            "2) D-2 x",
        ] {
            assert_eq!(lines(&format!("<decisions>\n- **D-01:** one\n{bad}\n</decisions>\n")), [3], "{bad}");
            assert_eq!(lines(&format!("## Decisions\n\n{bad}\n")), [3], "{bad}");
        }
        assert_eq!(lines("## Decisions\n\n- Use SQLite\n- No server\n"), [3]);
        assert_eq!(lines("# Notes\n\n- **D-1:** outside of any block\n"), [3]);
        assert_eq!(lines("# Notes\n\n1. **D-01:** in a numbered list\n"), [3]);
        assert_eq!(lines("# Notes\n\nWe take D-01 and leave D-02.\n"), [3]);
        for fine in [
            "",
            "# Notes\nas D-1 of phase 2 says\n",
            "<decisions>\n</decisions>\n",
            "## Decisions\nNone.\n",
            "# Notes\nthe ID-1, D-day, D-1a and BAD-2 of old\n",
            "<decisions>\n### Claude's Discretion\n- you decide\n### Folded Todos\n- fix it\n</decisions>\n",
            "<decisions>\n- **D-01 [informational]:** x\n- a remark\n</decisions>\n",
            "<decisions>\n- **D-API:** x\n  D-01 of phase 1 is the model\n</decisions>\n",
            "<decisions>\n- **D-01:** charts\n\n- D3.js draws them\n</decisions>\n",
        ] {
            assert_eq!(lines(fine), [0; 0], "{fine}");
        }
    }

    #[test]
    fn a_name_is_a_whole_word() {
        for (text, named) in [
            ("per D-01:", true),
            ("(D-01)", true),
            ("D-011", false),
            ("AD-01", false),
            ("D-01-x", false),
            ("D-01 - x", true),
        ] {
            assert_eq!(names(text, "D-01"), named, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "(<decisions>|</decisions>|\n|- \\*\\*D-1|:\\*\\* |### A|[ a*:é-])*") {
            for decision in decisions(&text) {
                prop_assert!(text.contains(&decision.id));
            }
        }
    }
}
