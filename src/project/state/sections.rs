//! Edits of STATE.md that add, empty or reconcile whole lists and tables.

use super::edit::{StateEdit, one_line, plain_row};
use super::{CONTEXT, METRICS, Section, is_item};
use crate::project::phase::PhaseId;

/// Lines removed from a list or a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) count: usize,
    /// Their bytes without the last line break; for a table including its head, so that they can be read separately.
    pub(crate) text: String,
}

/// A table of phases updated from the disk: the rows before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reconciled {
    pub(crate) before: Vec<String>,
    pub(crate) after: Vec<String>,
}

impl StateEdit<'_, '_> {
    /// Adds a section with one item below `parent`; a missing parent is added at the end. Returns whether it was added.
    pub(crate) fn add_section(&mut self, parent: &str, title: &str, item: &str) -> bool {
        let mut block = vec![format!("### {title}"), String::new(), format!("- {}", one_line(item))];
        if let Some(section) = self.state.section(&[parent]) {
            self.insert_after_text(section.heading.line..section.lines.end, &block);
            return false;
        }
        block.splice(0..0, [format!("## {parent}"), String::new()]);
        self.insert_after_text(0..self.state.markdown().lines().len(), &block);
        true
    }

    /// Adds an item to the list of a section. If no section has one of these titles, a new one gets the first title,
    /// below the accumulated context or at the end. Returns whether a section was added.
    pub(crate) fn put_item(&mut self, titles: &[&str], item: &str) -> bool {
        if self.add_item(titles, item) {
            return false;
        }
        if self.state.section(&[CONTEXT]).is_some() {
            self.add_section(CONTEXT, titles[0], item);
        } else {
            self.append_entry(titles[0], &[format!("- {}", one_line(item))]);
        }
        true
    }

    /// Whether a section lists `text` as a separate item.
    pub(crate) fn has_item(&self, titles: &[&str], text: &str) -> bool {
        self.state.section(titles).is_some_and(|section| self.lists(&section, text))
    }

    /// As [`Self::has_item`], for a section that was already found.
    pub(crate) fn lists(&self, section: &Section<'_>, text: &str) -> bool {
        self.state.items(section).iter().any(|item| self.state.item_text(item) == text.trim())
    }

    /// Removes the line of a field, unless it is in a table.
    pub(crate) fn remove_field(&mut self, label: &str) {
        if let Some(field) = self.state.field(label).filter(|field| !field.in_table) {
            self.replace_lines(field.line..field.line + 1, None);
        }
    }

    /// Removes items from the list of a section, each with the lines that continue it, and returns them.
    pub(crate) fn take_items(&mut self, titles: &[&str], wanted: impl Fn(&str) -> bool) -> Taken {
        let Some(section) = self.state.section(titles) else { return Taken::default() };
        let markdown = self.state.markdown();
        let mut taken = Taken::default();
        let mut lines = Vec::new();
        for item in self.state.items(&section) {
            let text = self.state.item_text(&item);
            if !self.is_placeholder(item.start) && is_item(markdown.line(item.start)) && wanted(&text) {
                taken.count += 1;
                lines.extend(item.clone().map(|line| markdown.line(line)));
                self.replace_lines(item, None);
            }
        }
        taken.text = lines.join("\n");
        taken
    }

    /// Removes rows from the table of phases in the metrics, chosen by the text of their first cell.
    pub(crate) fn take_phase_rows(&mut self, wanted: impl Fn(&str) -> bool) -> Taken {
        let section = self.state.section(METRICS);
        let Some(table) = section.and_then(|section| self.table_of(&section, "Phase")) else {
            return Taken::default();
        };
        let markdown = self.state.markdown();
        let start = table.lines().start;
        let mut taken = Taken::default();
        let mut lines = vec![markdown.line(start), markdown.line(start + 1)];
        for row in (0..table.row_count()).filter(|row| wanted(table.cell(*row, 0))) {
            if let Some(line) = table.line_of(row) {
                taken.count += 1;
                lines.push(markdown.line(line));
                table.delete_row(row, &mut self.splices);
            }
        }
        if taken.count > 0 {
            taken.text = lines.join("\n");
        }
        taken
    }

    /// Updates the table of phases in the metrics from the existing phases: identifier and number of plans, in order.
    /// The rows of these phases keep their other cells; the rows of phases that are `gone` are removed; rows that do
    /// not name a phase stay. `None` if nothing has to change, or if that table does not exist.
    pub(crate) fn reconcile_phase_rows(
        &mut self,
        phases: &[(String, usize)],
        gone: impl Fn(&str) -> bool,
    ) -> Option<Reconciled> {
        let section = self.state.section(METRICS)?;
        let table = self.table_of(&section, "Phase")?;
        let markdown = self.state.markdown();
        let shown = |row: usize| table.line_of(row).map(|line| markdown.line(line).to_owned());
        let mut after: Vec<(usize, Option<String>)> = (0..table.row_count()).map(|row| (row, shown(row))).collect();
        let before: Vec<String> = after.iter().filter_map(|(_, text)| text.clone()).collect();
        let width = table.columns().len().max(2);
        let mut changed = false;
        let mut new_rows = Vec::new();
        for (phase, plans) in phases {
            let id = PhaseId::new(phase);
            let count = plans.to_string();
            match table.find_row(0, |label| id.matches(label)) {
                Some(row) if table.cell(row, 1) != count => {
                    table.set_cell(row, 1, &count, &mut self.splices);
                    let mut cells: Vec<&str> = (0..width).map(|column| table.cell(row, column)).collect();
                    cells[1] = &count;
                    after[row].1 = Some(plain_row(&cells));
                    changed = true;
                }
                Some(_) => {}
                None => {
                    let cells = [phase.as_str(), count.as_str()].into_iter().chain(std::iter::repeat("-"));
                    new_rows.push(plain_row(&cells.take(width).collect::<Vec<_>>()));
                }
            }
        }
        for (row, shown) in &mut after {
            let label = table.cell(*row, 0);
            let known = phases.iter().any(|(phase, _)| PhaseId::new(phase).matches(label));
            if !known && label.starts_with(|first: char| first.is_ascii_digit()) && gone(label) {
                table.delete_row(*row, &mut self.splices);
                *shown = None;
                changed = true;
            }
        }
        for row in &new_rows {
            self.insert_line(table.lines().end, row);
        }
        let after = after.into_iter().filter_map(|(_, text)| text).chain(new_rows.iter().cloned()).collect();
        (changed || !new_rows.is_empty()).then_some(Reconciled { before, after })
    }

    /// Removes the items of a section that begin with `start`, and the section if nothing else is in it.
    pub(crate) fn withdraw_items(&mut self, title: &str, start: &str) {
        let Some(section) = self.state.section(&[title]) else { return };
        let mut gone = self.state.items(&section);
        gone.retain(|item| self.state.item_text(item).starts_with(start));
        if gone.is_empty() {
            return;
        }
        let is_left = |line: &usize| !gone.iter().any(|item| item.contains(line));
        let markdown = self.state.markdown();
        let is_blank = |line: usize| markdown.line(line).trim().is_empty();
        if section.lines.end == section.own.end && section.own.clone().filter(is_left).all(is_blank) {
            let blank = (0..section.heading.line).rev().take_while(|line| is_blank(*line)).count();
            // Between two other sections, the blank lines after this one separate them.
            let is_last = section.lines.end == markdown.lines().len();
            let start = section.heading.line - if is_last { blank } else { 0 };
            self.replace_lines(start..section.lines.end, None);
        } else {
            for item in gone {
                self.replace_lines(item, None);
            }
        }
    }

    /// Adds an entry of several lines to the section `title`; a missing section is added at the end of the text.
    pub(crate) fn append_entry(&mut self, title: &str, entry: &[String]) {
        if let Some(section) = self.state.section(&[title]) {
            self.insert_after_text(section.heading.line..section.own.end, entry);
            return;
        }
        let mut block = vec![format!("## {title}"), String::new()];
        block.extend_from_slice(entry);
        self.insert_after_text(0..self.state.markdown().lines().len(), &block);
    }
}

#[cfg(test)]
mod tests {
    use super::super::edit::edited;
    use super::super::{DECISIONS, EVOLUTION};
    use super::*;

    #[test]
    fn a_new_section_goes_below_its_parent_which_is_added_if_missing() {
        let add = |edit: &mut StateEdit<'_, '_>| {
            edit.add_section("Context", "Roadmap Evolution", "x");
        };
        assert_eq!(
            edited("## Context\r\n\r\n### A\r\ntext\r\n\r\n## End\r\n", add),
            "## Context\r\n\r\n### A\r\ntext\r\n\r\n### Roadmap Evolution\r\n\r\n- x\r\n\r\n## End\r\n"
        );
        let made = edited("# S\n", add);
        assert_eq!(made, "# S\n\n## Context\n\n### Roadmap Evolution\n\n- x\n");
        assert_eq!(edited(&made, |edit| assert!(edit.has_item(EVOLUTION, "x"))), made);
    }

    #[test]
    fn items_are_removed_with_the_lines_that_continue_them() {
        let text = "### Decisions\n\nText.\n- [Phase 1]: a\n  more\n- [Phase 2]: b\n- None\n";
        let left = edited(text, |edit| {
            let taken = edit.take_items(DECISIONS, |item| item.starts_with("[Phase 1]") || item == "None");
            assert_eq!((taken.count, taken.text.as_str()), (1, "- [Phase 1]: a\n  more"));
        });
        assert_eq!(left, "### Decisions\n\nText.\n- [Phase 2]: b\n- None\n");
    }

    #[test]
    fn an_empty_section_is_removed_with_its_last_item() {
        let left = |text: &str| edited(text, |edit| edit.withdraw_items("Next", "Start"));
        assert_eq!(left("# S\n\n## A\n\ntext\n\n## Next\n\n- Start it\n"), "# S\n\n## A\n\ntext\n");
        assert_eq!(left("# S\n\n## Next\n\n- Start it\n\n## B\n"), "# S\n\n## B\n");
        assert_eq!(
            left("## Next\r\n\r\n- Start it\r\n- Call Ada\r\n"),
            "## Next\r\n\r\n- Call Ada\r\n",
            "what a person wrote stays"
        );
        assert_eq!(left("## Next\n\n- Start it\n\n### More\n\nx\n"), "## Next\n\n\n### More\n\nx\n");
        assert_eq!(left("## Next\n\n- Call Ada\n"), "## Next\n\n- Call Ada\n");
    }

    #[test]
    fn a_table_follows_the_phases_and_keeps_the_measured_values() {
        let text = "## Performance Metrics\n\n| Phase | Plans | Total |\n|---|---|---|\n| 1 | 1 | 20min |\n| 7 | 1 | 2h |\n| **Total** | 2 | 3 |\n";
        let phases = [("01".to_owned(), 2), ("02.1".to_owned(), 0)];
        let after = edited(text, |edit| {
            let done = edit.reconcile_phase_rows(&phases, |_| true).unwrap();
            assert_eq!(done.before.len(), 3);
            assert_eq!(done.after, ["| 1 | 2 | 20min |", "| **Total** | 2 | 3 |", "| 02.1 | 0 | - |"]);
        });
        assert_eq!(
            after,
            "## Performance Metrics\n\n| Phase | Plans | Total |\n|---|---|---|\n| 1 | 2 | 20min |\n| **Total** | 2 | 3 |\n| 02.1 | 0 | - |\n"
        );
        assert_eq!(edited(&after, |edit| assert_eq!(edit.reconcile_phase_rows(&phases, |_| true), None)), after);
    }
}
