//! `M001-ROADMAP.md`: the purpose of a milestone, and its slices.

use super::ids::{milestone_of, without_team};
use super::lines::{Problem, after_id, bare, bullets, field, is_nothing, item, not_ticked, split_mark};
use super::slice_rows::{self, SliceRow};
use crate::failure::Failure;
use crate::text::markdown::Markdown;
use crate::text::splice::Splices;

/// The parts of a roadmap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Roadmap {
    /// Without the milestone's identifier.
    pub(crate) title: Option<String>,
    pub(crate) vision: Option<String>,
    pub(crate) success_criteria: Vec<String>,
    /// How each class of verification, such as `Operational`, is done.
    pub(crate) verification: Vec<VerificationClass>,
    pub(crate) definition_of_done: Vec<String>,
    pub(crate) slices: Vec<SliceRow>,
    pub(crate) problems: Vec<Problem>,
}

/// A line of the verification classes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VerificationClass {
    /// One word, such as `Contract`, `Integration`, `Operational`, `UAT`.
    pub(crate) name: String,
    pub(crate) text: String,
}

impl Roadmap {
    pub(crate) fn parse(text: &str) -> Self {
        let markdown = Markdown::parse(bare(text));
        let (found, problems) = slice_rows::read(&markdown);
        let section = |name: &str| markdown.section_named(name).map(|(_, lines)| lines);
        Self {
            title: title(&markdown),
            vision: field(markdown.text(), "Vision").map(str::to_owned),
            success_criteria: section("Success Criteria").map(|lines| bullets(&markdown, lines)).unwrap_or_default(),
            definition_of_done: section("Milestone Definition of Done")
                .or_else(|| section("Definition of Done"))
                .map(|lines| bullets(&markdown, lines))
                .unwrap_or_default(),
            verification: section("Verification Classes").map(|lines| classes(&markdown, lines)).unwrap_or_default(),
            slices: found.into_iter().map(|found| found.row).collect(),
            problems,
        }
    }

    pub(crate) fn slice(&self, id: &str) -> Option<&SliceRow> {
        self.slices.iter().find(|slice| slice.id.eq_ignore_ascii_case(id))
    }

    /// The planned operational verification; `None` if the roadmap plans none.
    pub(crate) fn operational(&self) -> Option<&str> {
        let class = self.verification.iter().find(|class| class.name.eq_ignore_ascii_case("operational"));
        let text = class.map(|class| class.text.as_str())?;
        // `none — a library` means none.
        let head = text.split(['—', '–', ';', '.', '(', ',']).next().unwrap_or(text);
        (!is_nothing(text) && !is_nothing(head)).then_some(text)
    }
}

/// Marks the slice `id` as done, in the format of the roadmap: for a checkbox, one byte changes. `None` if it is
/// already done.
pub(crate) fn tick(text: &str, id: &str) -> Result<Option<String>, Failure> {
    let (mark, own) = split_mark(text);
    let markdown = Markdown::parse(own);
    let (found, _) = slice_rows::read(&markdown);
    let missing = || not_ticked(id, &format!("`{id}` has no entry there"));
    let at = found.iter().position(|found| found.row.id.eq_ignore_ascii_case(id)).ok_or_else(missing)?;
    let slice = found.get(at).ok_or_else(missing)?;
    if slice.row.done {
        return Ok(None);
    }
    let mut splices = Splices::default();
    slice_rows::mark_done(&markdown, &slice.mark, &mut splices);
    let changed = splices.apply(own);
    // The new text must read like the old one, except for this slice.
    let (after, _) = slice_rows::read(&Markdown::parse(&changed));
    let expected = found.iter().enumerate().map(|(index, found)| {
        let mut row = found.row.clone();
        row.done |= index == at;
        row
    });
    if after.into_iter().map(|found| found.row).eq(expected) {
        return Ok(Some(format!("{mark}{changed}")));
    }
    let line = slice.row.line;
    Err(not_ticked(id, &format!("the entry of `{id}` in line {line} cannot be marked as done without changing others")))
}

/// `Recipe store` of `# M001: Recipe store`.
fn title(markdown: &Markdown<'_>) -> Option<String> {
    let title = markdown.headings().find(|heading| heading.level == 1)?.title;
    let first = title.split([':', ' ']).next().unwrap_or_default();
    let id = milestone_of(first)
        .filter(|id| *id == first)
        .map(|id| if title.starts_with(id) { id } else { without_team(id) });
    let rest = id.map_or(title, |id| after_id(&title[id.len()..]));
    (!rest.is_empty()).then(|| rest.to_owned())
}

fn classes(markdown: &Markdown<'_>, lines: std::ops::Range<usize>) -> Vec<VerificationClass> {
    let class = |line: usize| {
        let text = markdown.line(line);
        let text = item(text).map_or(text, |item| item.text).trim();
        let (label, value) = text.split_once(':')?;
        let label = label.trim_matches(['*', '_', ' ']);
        let name = label.strip_suffix("verification").or_else(|| label.strip_suffix("Verification")).unwrap_or(label);
        let value = value.trim_start_matches(['*', '_', ' ']).trim();
        (!name.trim().is_empty()).then(|| VerificationClass { name: name.trim().to_owned(), text: value.to_owned() })
    };
    lines.filter(|line| markdown.is_prose(*line)).filter_map(class).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CHECKLIST: &str = "# M001: Recipe store\n\n**Vision:** keep and find recipes\n\n## Success Criteria\n- a cook can save \
        a recipe and find it again\n- S01 is small\n\n## Verification Classes\n- Contract verification: `cargo test`\n- **Operational \
        verification:** restart under load\n\n## Slices\n\n- [x] **S01: Storage** `risk:high` `depends:[]`\n  > After this: `recipes add` \
        survives a restart\n- [ ] **S02: Search** `risk:medium` `depends:[S01]`\n  > After this: `recipes find soup` prints two hits\n- [ ] \
        **S03: Later** `depends:[S01-S02]` `[sketch]`\n- [ ] **S04: Never** `status:skipped`\n\n## Boundary Map\n### S01 → S02\n";

    const TABLE: &str = "# M002: T\n\n## Slice Overview\n\n| ID | Slice | Risk | Depends | Status | After this |\n|---|---|---|---|---|---|\n| \
        S01 | Storage | High | — | ✅ | saves |\n| S02 | Mark todos as done | low | S01 | pending | — |\n| S03 | Export | | S01..S02 | Completed \
        (May) | |\n";

    const PROSE: &str = "# M003: P\n\n## Slice S01: Storage ✅\n**Depends on:** none\n\n### **[S02] Search**\nDepends on: S01, S02-S03\n- Risk: \
        high\n\n#### S03 — Export (Complete)\n\n## Boundary Map\n\n### S01 → S02\nProduces: x\n";

    fn row<'roadmap>(roadmap: &'roadmap Roadmap, id: &str) -> &'roadmap SliceRow {
        roadmap.slice(id).unwrap_or_else(|| panic!("{id}"))
    }

    #[test]
    fn a_checklist_is_read_with_its_tags() {
        let roadmap = Roadmap::parse(CHECKLIST);
        assert_eq!(roadmap.title.as_deref(), Some("Recipe store"));
        assert_eq!(roadmap.vision.as_deref(), Some("keep and find recipes"));
        assert_eq!(roadmap.success_criteria, ["a cook can save a recipe and find it again", "S01 is small"]);
        assert_eq!(roadmap.operational(), Some("restart under load"));
        let found: Vec<_> =
            roadmap.slices.iter().map(|slice| (slice.id.as_str(), slice.title.as_str(), slice.done)).collect();
        assert_eq!(
            found,
            [("S01", "Storage", true), ("S02", "Search", false), ("S03", "Later", false), ("S04", "Never", true)]
        );
        let search = row(&roadmap, "s02");
        assert_eq!((search.risk.as_str(), search.line), ("medium", 17));
        assert_eq!(search.after.as_deref(), Some("`recipes find soup` prints two hits"));
        assert_eq!(row(&roadmap, "S03").depends, ["S01", "S02"]);
        assert_eq!((row(&roadmap, "S03").risk.as_str(), row(&roadmap, "S03").sketch), ("low", true));
        assert!(row(&roadmap, "S04").skipped && !row(&roadmap, "S01").skipped && roadmap.problems.is_empty());
    }

    #[test]
    fn a_table_is_read_by_its_column_heads() {
        let roadmap = Roadmap::parse(TABLE);
        let found: Vec<_> =
            roadmap.slices.iter().map(|slice| (slice.title.as_str(), slice.risk.as_str(), slice.done)).collect();
        assert_eq!(
            found,
            [("Storage", "high", true), ("Mark todos as done", "low", false), ("Export", "medium", true)]
        );
        assert_eq!(row(&roadmap, "S03").depends, ["S01", "S02"]);
        assert_eq!(row(&roadmap, "S01").depends, [""; 0]);
        assert_eq!(row(&roadmap, "S01").after.as_deref(), Some("saves"));
        let bare = "| Slice | Title | Status |\n|---|---|---|\n| S01 | Third | done |\n| S02 | x | incomplete |\n";
        let bare = Roadmap::parse(bare);
        assert_eq!((row(&bare, "S01").done, row(&bare, "S02").done), (true, false));
    }

    #[test]
    fn headings_are_read_without_the_boundary_map() {
        let roadmap = Roadmap::parse(PROSE);
        let found: Vec<_> =
            roadmap.slices.iter().map(|slice| (slice.id.as_str(), slice.title.as_str(), slice.done)).collect();
        assert_eq!(found, [("S01", "Storage", true), ("S02", "Search", false), ("S03", "Export", true)]);
        assert_eq!((row(&roadmap, "S02").risk.as_str(), row(&roadmap, "S01").risk.as_str()), ("high", "medium"));
        assert_eq!(row(&roadmap, "S02").depends, ["S01", "S02", "S03"]);
    }

    #[test]
    fn operational_verification_of_none_is_not_planned() {
        for (text, planned) in [
            ("none", false),
            ("N/A — a library", false),
            ("Not applicable", false),
            ("None required.", false),
            ("none of it may restart", true),
            ("restart", true),
            ("", false),
        ] {
            let roadmap = Roadmap::parse(&format!("## Verification Classes\n- Operational: {text}\n"));
            assert_eq!(roadmap.operational().is_some(), planned, "{text}");
        }
    }

    #[test]
    fn each_format_is_ticked_in_its_own_way() {
        let ticked = |text: &str, id: &str| match tick(text, id) {
            Ok(Some(text)) => text,
            other => panic!("{other:?}"),
        };
        assert_eq!(ticked(CHECKLIST, "S02"), CHECKLIST.replace("- [ ] **S02", "- [x] **S02"));
        assert_eq!(ticked(TABLE, "S02"), TABLE.replace("| pending |", "| done |"));
        assert_eq!(ticked(PROSE, "S02"), PROSE.replace("### **[S02] Search**", "### **[S02] Search** (Complete)"));
        let boxed = "| | Slice |\n|---|---|\n| [x] | S01: A |\n| [ ] | S02: B |\n";
        assert_eq!(ticked(boxed, "S02"), boxed.replace("[ ]", "[x]"));
        let plain = "| Slice | Title |\n|---|---|\n| S01 | A |\n| S02 | B |\n";
        assert_eq!(ticked(plain, "S02"), plain.replace("| B |", "| B ✅ |"));
        assert_eq!(tick(CHECKLIST, "S01"), Ok(None));
        for text in [CHECKLIST, TABLE, PROSE, "", "# M001\n\nS09 is next\n"] {
            let error = tick(text, "S09").unwrap_err();
            assert_eq!(error.message, "`S09` has no entry there");
            assert!(error.hints[0].contains("`- [ ] **S09: Title**`"));
        }
    }

    #[test]
    fn a_slice_that_is_listed_twice_is_reported_with_its_line() {
        let text = "## Slices\r\n- [ ] **S01: A**\r\n- [x] **S01: B**\r\n- [ ] S02: plain `risk:high`\r\n- [ ] S03 is no slice\r\n";
        let roadmap = Roadmap::parse(text);
        assert_eq!(roadmap.slices.len(), 2);
        assert_eq!(roadmap.problems.first().map(|problem| problem.line), Some(3));
        assert_eq!((row(&roadmap, "S01").done, row(&roadmap, "S02").title.as_str()), (false, "plain"));
    }

    #[test]
    fn slices_are_not_read_from_code_or_front_matter() {
        let text = "---\na: 1\n---\n## Slices\n```\n- [ ] **S01: A**\n```\n- [ ] **S02: B**\n";
        assert_eq!(Roadmap::parse(text).slices.len(), 1);
    }

    fn difference(before: &str, after: &str) -> usize {
        assert_eq!(before.len(), after.len());
        before.bytes().zip(after.bytes()).filter(|(before, after)| before != after).count()
    }

    proptest! {
        #[test]
        fn ticking_a_box_changes_exactly_one_byte(
            mark in "\u{feff}?",
            lines in proptest::collection::vec(
                ("- \\[[ xX]\\] \\*\\*S0[1-4]: [a-zé`]{0,8}\\*\\* (`risk:(high|low)`)?( `depends:\\[S0[1-3](-S0[4-6])?\\]`)?|  > After this: x|## Slices|junk|```|---|\\| S01 \\| done \\|", "\r?\n"),
                0..16,
            ),
            id in "S0[1-4]",
        ) {
            let text: String = mark.chars().map(String::from).chain(lines.into_iter().map(|(line, end)| line + &end)).collect();
            let before = Roadmap::parse(&text);
            match tick(&text, &id) {
                Ok(Some(after)) => {
                    prop_assert!(Roadmap::parse(&after).slice(&id).is_some_and(|slice| slice.done));
                    if before.slice(&id).is_some_and(|slice| text.lines().nth(slice.line - 1).is_some_and(|line| line.starts_with('-'))) {
                        prop_assert_eq!(difference(&text, &after), 1);
                    }
                    prop_assert_eq!(tick(&after, &id), Ok(None));
                }
                Ok(None) => prop_assert!(before.slice(&id).is_some_and(|slice| slice.done)),
                Err(error) if error.message.ends_with("has no entry there") => {
                    prop_assert!(before.slice(&id).is_none());
                }
                Err(error) => prop_assert!(false, "{error:?}"),
            }
        }

        #[test]
        fn any_roadmap_is_read_and_ticked_without_loss(
            text in "(## Slices|## Slice Table|### |S0[1-3]|\\*\\*|: |\n|\r\n|\\| |\\|---\\|---\\|\n|- \\[ \\] |\\[x\\]|✅|done|`|depends:\\[|\\]|\\(Complete\\)|→|> |#|---|Depends on: |[ a*é-]){0,40}",
            id in "S0[1-3]",
        ) {
            let before = Roadmap::parse(&text);
            if let Ok(Some(after)) = tick(&text, &id) {
                let after = Roadmap::parse(&after);
                for (before, after) in before.slices.iter().zip(&after.slices) {
                    prop_assert_eq!(&before.title, &after.title);
                    prop_assert_eq!(before.done || before.id.eq_ignore_ascii_case(&id), after.done);
                }
            }
        }
    }
}
