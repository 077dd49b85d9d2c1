//! The part of a codebase map document that goes into an instruction file: rules, examples and patterns, each below its
//! heading.

use crate::text::markdown::Markdown;

/// The most bytes a document may take in the file that every session loads.
const MOST: usize = 4_000;

/// The least bytes reserved for each of its headings.
const LEAST: usize = 300;

/// The text of a section, and whether something was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outline {
    pub(super) text: String,
    pub(super) is_cut: bool,
}

/// A heading with its content. The first part has no heading.
#[derive(Debug, Default)]
struct OutlinePart {
    heading: String,
    /// Paragraphs, lists, tables and code, each kept whole.
    blocks: Vec<String>,
}

impl OutlinePart {
    fn size(&self) -> usize {
        self.blocks.iter().map(|block| block.len() + 2).sum()
    }
}

/// Prose, lists, tables and code of a map document below their headings, as much as fits. A heading without content is
/// left out, unless a heading below it has content.
pub(super) fn outline(text: &str) -> Option<Outline> {
    let mut parts = parts(text);
    let said = parts.iter().filter(|part| !part.blocks.is_empty()).count();
    if said == 0 {
        return None;
    }
    let mut is_cut = false;
    // Space that short parts do not use goes to the others.
    let mut sizes: Vec<usize> = parts.iter().map(OutlinePart::size).filter(|size| *size > 0).collect();
    sizes.sort_unstable();
    let mut room = MOST;
    let mut share = MOST;
    for (at, size) in sizes.iter().enumerate() {
        share = (room / (sizes.len() - at)).max(LEAST);
        if *size > share {
            break;
        }
        room = room.saturating_sub(*size);
    }
    for part in &mut parts {
        is_cut |= cut(part, share);
    }
    let mut lines = String::new();
    for (at, part) in parts.iter().enumerate() {
        let depth = |part: &OutlinePart| part.heading.bytes().take_while(|byte| *byte == b'#').count();
        let below = parts[at + 1..].iter().take_while(|other| depth(other) > depth(part));
        if part.blocks.is_empty() && below.into_iter().all(|other| other.blocks.is_empty()) {
            continue;
        }
        for block in std::iter::once(&part.heading).chain(&part.blocks).filter(|block| !block.is_empty()) {
            lines.push_str(block);
            lines.push_str("\n\n");
        }
    }
    let text = lines.trim_end().to_owned();
    (!text.is_empty()).then_some(Outline { text, is_cut })
}

/// Removes the blocks of a part that do not fit; the first line stays whatever its size.
fn cut(part: &mut OutlinePart, share: usize) -> bool {
    let mut kept = 0;
    let mut is_cut = false;
    part.blocks.retain_mut(|block| {
        let room = share.saturating_sub(kept);
        if block.len() <= room {
            kept += block.len() + 2;
            return true;
        }
        is_cut = true;
        // Half an example is worse than none; in a list or a text each line has value.
        let is_code = block.starts_with("```") || block.starts_with("~~~");
        let whole: usize = block
            .split_inclusive('\n')
            .scan(0, |sum, line| {
                *sum += line.len();
                Some(*sum)
            })
            .take_while(|sum| *sum <= room)
            .last()
            .unwrap_or(0);
        let first = block.find('\n').unwrap_or(block.len());
        let end = if kept == 0 { whole.max(first) } else { whole };
        kept = share;
        if is_code || end == 0 {
            return false;
        }
        block.truncate(end);
        block.truncate(block.trim_end().len());
        true
    });
    is_cut
}

/// Splits the document by its headings. Text above the first heading counts if it is a list or a table, or the only
/// content.
fn parts(text: &str) -> Vec<OutlinePart> {
    let document = Markdown::parse(text);
    let is_heading = |line: &str| line.starts_with("## ") || line.starts_with("###");
    let mut parts = vec![OutlinePart::default()];
    let mut block: Vec<&str> = Vec::new();
    let close = |block: &mut Vec<&str>, parts: &mut Vec<OutlinePart>| {
        let text = block.join("\n").trim_end().to_owned();
        block.clear();
        if let Some(part) = parts.last_mut().filter(|_| says_something(&text)) {
            part.blocks.push(text);
        }
    };
    let mut fence: Option<&str> = None;
    for index in document.body_line()..document.lines().len() {
        let line = document.line(index).trim_end();
        let bare = line.trim_start();
        if let Some(open) = fence {
            block.push(line);
            if bare.starts_with(open) && bare.trim_matches(['`', '~']).is_empty() {
                fence = None;
                close(&mut block, &mut parts);
            }
            continue;
        }
        if let Some(open) = ["```", "~~~"].into_iter().find(|open| bare.starts_with(open)) {
            // Code inside a list item belongs to the item.
            if !line.starts_with(' ') {
                close(&mut block, &mut parts);
            }
            fence = Some(open);
            block.push(line);
        } else if document.is_prose(index) && is_heading(bare) {
            close(&mut block, &mut parts);
            parts.push(OutlinePart { heading: format!("#{bare}"), blocks: Vec::new() });
        } else if !document.is_prose(index) || bare.is_empty() || bare.starts_with("# ") || is_rule(bare) {
            close(&mut block, &mut parts);
        } else {
            block.push(line);
        }
    }
    close(&mut block, &mut parts);
    if parts.len() > 1 {
        parts[0].blocks.retain(|block| is_list(block) || block.starts_with('|'));
    }
    parts
}

/// True for a horizontal rule.
fn is_rule(line: &str) -> bool {
    line.len() > 2 && ['-', '*', '_'].iter().any(|mark| line.chars().all(|letter| letter == *mark))
}

/// True if a block has content: not an unfilled form, a horizontal rule, or the date of the map.
fn says_something(block: &str) -> bool {
    let bare = block.trim();
    let is_form = bare.starts_with('{') && bare.ends_with('}');
    let is_date =
        ["**Mapped:**", "**Analysis Date:**", "*Mapped", "*Analysis"].iter().any(|begin| bare.starts_with(begin));
    let is_footer = bare.starts_with('*') && bare.ends_with('*') && bare.to_lowercase().contains("analysis:");
    let is_one_line = !bare.contains('\n');
    !bare.trim_matches(['-', '*', '_', ' ']).is_empty() && !is_form && !(is_one_line && (is_date || is_footer))
}

fn is_list(block: &str) -> bool {
    let bare = block.trim_start();
    ["- ", "* ", "+ "].iter().any(|mark| bare.starts_with(mark)) || is_numbered(bare)
}

fn is_numbered(line: &str) -> bool {
    line.split_once(". ")
        .is_some_and(|(number, _)| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(text: &str) -> String {
        outline(text).map(|outline| outline.text).unwrap_or_default()
    }

    #[test]
    fn prose_patterns_and_paths_are_kept_below_their_headings() {
        let map = "# Coding Conventions\n\n**Mapped:** 2026-01-02\n\n## Style\n\nruff, line length 80.\n\n## Imports\n\n## Error Handling\n\n\
                   Raise `UserError`, as in `ui/core.py`:\n\n```python\nraise UserError('x')\n```\n\n## Naming\n\n- a\n- b\n\n| A |\n|---|\n| 1 |\n\n\
                   ## Boundaries\n\n`dbcore` must not import `library`.\n\n---\n*Convention analysis: 2026-01-02*\n";
        let expected = "### Style\n\nruff, line length 80.\n\n### Error Handling\n\nRaise `UserError`, as in `ui/core.py`:\n\n\
                        ```python\nraise UserError('x')\n```\n\n### Naming\n\n- a\n- b\n\n| A |\n|---|\n| 1 |\n\n\
                        ### Boundaries\n\n`dbcore` must not import `library`.";
        assert_eq!(made(map), expected);
    }

    #[test]
    fn a_heading_is_kept_only_if_something_is_below_it() {
        assert_eq!(made("## A\n\n### B\n\ntext\n\n### C\n\n## D\n"), "### A\n\n#### B\n\ntext");
        for nothing in ["", "# A\n", "## A\n\n## B\n", "## A\n\n{what it is}\n", "**Mapped:** x\n\n## A\n"] {
            assert_eq!(outline(nothing), None, "{nothing}");
        }
        assert_eq!(made("# All\n\nOnly text.\n"), "Only text.");
        assert_eq!(made("# All\n\nlead\n\n- a\n\n## B\n\nb\n"), "- a\n\n### B\n\nb");
    }

    #[test]
    fn each_heading_of_a_long_map_keeps_a_share() {
        let long = |name: &str| format!("## {name}\n\n{}\n", "- a rule of some length in a file\n".repeat(200));
        let code = format!("## Code\n\nUse it so.\n\n```\n{}```\n", "line of code\n".repeat(500));
        let map = format!("# M\n\n{}{}{code}## Short\n\nkeep me\n", long("One"), long("Two"));
        let outline = outline(&map).unwrap();
        assert!(outline.is_cut && outline.text.len() <= MOST + 200, "{}", outline.text.len());
        for kept in ["### One\n\n- a rule", "### Two\n\n- a rule", "### Code\n\nUse it so.", "### Short\n\nkeep me"] {
            assert!(outline.text.contains(kept), "{kept}");
        }
        assert!(!outline.text.contains("```"), "half of an example is left out");
    }

    proptest::proptest! {
        #[test]
        fn no_heading_is_empty_and_the_size_is_bounded(
            text in "(## [a-c]\n|### [a-c]\n|- [a-z]{1,9}\n|[a-z][a-z ]{0,400}\n|```\n|\n|\\| x \\|\n){0,60}",
        ) {
            if let Some(outline) = outline(&text) {
                let lines: Vec<&str> = outline.text.lines().filter(|line| !line.trim().is_empty()).collect();
                let mut in_code = false;
                for (at, line) in lines.iter().enumerate() {
                    in_code ^= line.trim_start().starts_with("```");
                    let depth = |line: &str| line.bytes().take_while(|byte| *byte == b'#').count();
                    if !in_code && line.starts_with("###") {
                        let next = lines.get(at + 1);
                        proptest::prop_assert!(next.is_some_and(|next| !next.starts_with("###") || depth(next) > depth(line)), "{}", outline.text);
                    }
                }
                // Each heading has its minimum share, however many there are.
                let headings = text.matches('#').count() + 1;
                proptest::prop_assert!(outline.text.len() <= MOST + headings * (LEAST + 450));
            }
        }
    }
}
