//! Removes a phase from ROADMAP.md, and renumbers the phases after it wherever they are named.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::text::splice::Splices;

use super::phase::{self, PhaseId, pad};
use super::roadmap::{Roadmap, covered};

/// The new identifiers of phases by their old ones, both in normal form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Renumbering {
    new_ids: BTreeMap<String, String>,
}

impl Renumbering {
    /// The new identifiers after `removed` is taken out: after an integer, the following integers move down by one;
    /// after a decimal, the following decimals of the same integer do. If the removed integer has decimals, the first
    /// of them takes its place, the others follow, and later integers keep their numbers: decimals define the order.
    pub(crate) fn without<'text>(removed: &PhaseId, ids: impl IntoIterator<Item = &'text str>) -> Self {
        let mut new_ids = BTreeMap::new();
        let mut known: Vec<PhaseId> = ids.into_iter().map(PhaseId::new).collect();
        known.sort_by(|left, right| super::phase::compare(left.as_str(), right.as_str()));
        known.dedup();
        let Some(gone) = Parts::of(removed).filter(|_| !removed.is_sentinel()) else { return Self::default() };
        let is_child = |parts: &Parts| {
            gone.decimal.is_none()
                && parts.decimal.is_some()
                && (parts.integer, parts.letter) == (gone.integer, gone.letter)
        };
        let has_children = known.iter().filter_map(Parts::of).any(|parts| is_child(&parts));
        let mut children = 0;
        for id in &known {
            let Some(parts) = Parts::of(id).filter(|_| !id.is_sentinel() && id != removed) else { continue };
            let new = match (gone.decimal, parts.decimal) {
                (None, _) if is_child(&parts) => {
                    children += 1;
                    Parts { decimal: Some(children - 1).filter(|decimal| *decimal > 0), ..parts }
                }
                (None, _) if parts.integer > gone.integer && !has_children => {
                    Parts { integer: parts.integer - 1, ..parts }
                }
                (Some(gone_decimal), Some(decimal))
                    if (parts.integer, parts.letter) == (gone.integer, gone.letter) && decimal > gone_decimal =>
                {
                    Parts { decimal: Some(decimal - 1), ..parts }
                }
                _ => continue,
            };
            new_ids.insert(id.as_str().to_owned(), new.normal());
        }
        Self { new_ids }
    }

    /// The old and new identifiers in the order of phases, as people write them.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.new_ids.iter().map(|(old, new)| (phase::short(old), phase::short(new)))
    }

    /// A renumbering with these new identifiers by the old ones, both in normal form.
    pub(crate) fn to(new_ids: BTreeMap<String, String>) -> Self {
        Self { new_ids }
    }

    /// The new identifier of `typed` in normal form, after its project code.
    pub(crate) fn normal(&self, typed: &str) -> Option<String> {
        let bare = super::phase::without_code(typed);
        let new = self.new_ids.get(PhaseId::new(typed).as_str())?;
        Some(format!("{}{new}", &typed[..typed.len() - bare.len()]))
    }

    /// The new identifier of `typed`, in its spelling: padded if it was padded.
    pub(crate) fn of(&self, typed: &str) -> Option<String> {
        let bare = super::phase::without_code(typed);
        let new = self.new_ids.get(PhaseId::new(typed).as_str())?;
        let is_padded = bare.len() > 1 && bare.starts_with('0');
        let shown = if is_padded { new.as_str() } else { new.trim_start_matches('0') };
        Some(format!("{}{shown}", &typed[..typed.len() - bare.len()]))
    }

    /// As [`Self::of`], for a name that begins with an identifier: `03-sync`, `03-01-PLAN.md`.
    pub(crate) fn of_name(&self, name: &str) -> Option<String> {
        let bare = super::phase::without_code(name);
        let code = &name[..name.len() - bare.len()];
        let (head, tail) = bare.split_once('-')?;
        Some(format!("{code}{}-{tail}", self.of(head)?))
    }
}

/// An identifier of one integer, an optional letter and an optional decimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Parts {
    integer: u64,
    letter: Option<char>,
    decimal: Option<u64>,
}

impl Parts {
    fn of(id: &PhaseId) -> Option<Self> {
        let text = id.as_str();
        let integer = id.integer()?;
        let rest = text.trim_start_matches(|digit: char| digit.is_ascii_digit());
        let letter = rest.chars().next().filter(char::is_ascii_alphabetic);
        let rest = letter.map_or(rest, |letter| &rest[letter.len_utf8()..]);
        match rest.strip_prefix('.') {
            Some(decimal) => Some(Self { integer, letter, decimal: Some(decimal.parse().ok()?) }),
            None => rest.is_empty().then_some(Self { integer, letter, decimal: None }),
        }
    }

    fn normal(self) -> String {
        let letter = self.letter.map(String::from).unwrap_or_default();
        let decimal = self.decimal.map(|decimal| format!(".{decimal}")).unwrap_or_default();
        format!("{}{letter}{decimal}", pad(&self.integer.to_string()))
    }
}

impl Roadmap<'_> {
    /// The text without the phase `removed`: without its section, its checklist lines and its rows. The other phases
    /// are renumbered, including in the file names of their plans. Text that mentions a phase in passing is unchanged.
    pub(crate) fn without_phase(&self, removed: &PhaseId, renumbering: &Renumbering) -> String {
        let mut splices = Splices::default();
        let mut gone: Vec<Range<usize>> = Vec::new();
        for section in self.sections().iter().filter(|section| !section.shipped && removed.matches(section.id)) {
            gone.push(section.heading_line..self.end_of_section(&section.lines));
        }
        let bullets = self.bullets().iter().filter(|bullet| !bullet.shipped && removed.matches(bullet.id));
        let bullets = bullets.map(|bullet| bullet.line);
        let rows = self.rows().iter().filter(|row| !row.shipped && removed.matches(row.id)).map(|row| row.line);
        gone.extend(bullets.chain(rows).map(|line| line..line + 1));
        for lines in &gone {
            splices.remove(self.markdown().span(lines.clone()));
        }
        gone.sort_by_key(|lines| lines.start);
        let gone = covered(self.markdown().lines().len(), gone.iter());
        // Lines about other milestones are unchanged.
        let others = self.sections().iter().filter(|section| section.shipped).map(|section| &section.lines);
        let others = covered(self.markdown().lines().len(), others);
        let is_gone = |line: usize| gone[line] || others[line] || self.is_shipped(line);
        for section in self.sections().iter().filter(|section| !section.shipped && !is_gone(section.heading_line)) {
            self.renumber(section.id, renumbering, &mut splices);
            self.renumber_dependencies(section, removed, renumbering, &mut splices);
            for bullet in self.plan_bullets(section) {
                self.renumber_plan(bullet.text, section.id, renumbering, &mut splices);
            }
        }
        for bullet in self.bullets().iter().filter(|bullet| !bullet.shipped && !is_gone(bullet.line)) {
            self.renumber(bullet.id, renumbering, &mut splices);
        }
        for row in self.rows().iter().filter(|row| !row.shipped && !is_gone(row.line)) {
            self.renumber(row.id, renumbering, &mut splices);
        }
        for line in (0..self.markdown().lines().len()).filter(|line| !is_gone(*line)) {
            for name in plan_files_in(self.markdown().line(line)) {
                self.renumber_path(name, renumbering, &mut splices);
            }
        }
        splices.apply(self.text())
    }

    /// Rewrites the number at the start of a plan or summary file name, and that of the folder it is in.
    fn renumber_path(&self, path: &str, renumbering: &Renumbering, splices: &mut Splices) {
        let head = |segment: &str| -> usize {
            let bare = phase::without_code(segment);
            segment.len() - bare.len() + bare.split('-').next().unwrap_or_default().len()
        };
        let file = path.rsplit('/').next().unwrap_or(path);
        let of_file = PhaseId::new(&file[..head(file)]);
        for segment in path.split('/') {
            let number = &segment[..head(segment)];
            let at = number.as_ptr() as usize - self.text().as_ptr() as usize;
            // The line of a plan is already renumbered.
            if of_file.matches(number) && !splices.touch(&(at..at + number.len())) {
                self.renumber(number, renumbering, splices);
            }
        }
    }

    /// The text with the open phases renumbered wherever the roadmap lists them, and in their dependencies.
    pub(crate) fn renumbered(&self, renumbering: &Renumbering) -> String {
        let mut splices = Splices::default();
        for section in self.sections().iter().filter(|section| !section.shipped) {
            self.renumber(section.id, renumbering, &mut splices);
            if let Some((_, value)) = self.field_line(section, "Depends on") {
                for number in numbers_in(value) {
                    self.renumber(number, renumbering, &mut splices);
                }
            }
            for bullet in self.plan_bullets(section) {
                let id = bullet.text.trim_start_matches(['`', '*', '[']);
                let head = id.split('-').next().unwrap_or(id);
                // A plan has the name of its file, and file names are padded.
                if let Some(new) = renumbering.normal(head).filter(|_| PhaseId::new(section.id).matches(head)) {
                    let at = head.as_ptr() as usize - self.text().as_ptr() as usize;
                    splices.replace(at..at + head.len(), new);
                } else {
                    self.renumber_plan(bullet.text, section.id, renumbering, &mut splices);
                }
            }
        }
        for bullet in self.bullets().iter().filter(|bullet| !bullet.shipped) {
            self.renumber(bullet.id, renumbering, &mut splices);
        }
        for row in self.rows().iter().filter(|row| !row.shipped) {
            self.renumber(row.id, renumbering, &mut splices);
        }
        splices.apply(self.text())
    }

    /// The end of a section's text: a rule at its end separates it from the next section and is not part of it.
    fn end_of_section(&self, lines: &Range<usize>) -> usize {
        let full = |line: &usize| !self.markdown().line(*line).trim().is_empty();
        match lines.clone().rev().find(full) {
            Some(last) if self.markdown().line(last).trim() == "---" => last,
            _ => lines.end,
        }
    }

    /// Rewrites one identifier; `part` is a slice of the text.
    fn renumber(&self, part: &str, renumbering: &Renumbering, splices: &mut Splices) {
        if let Some(new) = renumbering.of(part) {
            let at = part.as_ptr() as usize - self.text().as_ptr() as usize;
            splices.replace(at..at + part.len(), new);
        }
    }

    /// Renumbers the line of a plan, which begins with the identifier of its phase or contains the command that creates
    /// plans.
    fn renumber_plan(&self, text: &str, phase: &str, renumbering: &Renumbering, splices: &mut Splices) {
        let id = text.trim_start_matches(['`', '*', '[']);
        let head = id.split('-').next().unwrap_or(id);
        if PhaseId::new(phase).matches(head) {
            self.renumber(head, renumbering, splices);
        } else if let Some((_, rest)) = text.split_once("plan-phase ") {
            let length = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'.').count();
            self.renumber(rest[..length].trim_end_matches('.'), renumbering, splices);
        }
    }

    /// Removes a dependency on the removed phase, since it does not exist any more.
    fn renumber_dependencies(
        &self,
        section: &super::roadmap::PhaseSection<'_>,
        removed: &PhaseId,
        renumbering: &Renumbering,
        splices: &mut Splices,
    ) {
        let Some((_, value)) = self.field_line(section, "Depends on") else { return };
        let numbers = numbers_in(value);
        if !numbers.iter().any(|number| removed.matches(number)) {
            for number in numbers {
                self.renumber(number, renumbering, splices);
            }
            return;
        }
        let kept: Vec<String> = numbers
            .into_iter()
            .filter(|number| !removed.matches(number))
            .map(|number| format!("Phase {}", renumbering.of(number).unwrap_or_else(|| number.to_owned())))
            .collect();
        let value = if kept.is_empty() { "Nothing".to_owned() } else { kept.join(", ") };
        self.set_field(section, "Depends on", &value, splices);
    }
}

/// The file names of plans and summaries in a text, with the folders before them.
fn plan_files_in(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '.' | '-' | '_' | '/');
    let words = text.split(move |letter| !is_part(letter)).map(|word| word.trim_end_matches('.'));
    words.filter(|word| word.ends_with("-PLAN.md") || word.ends_with("-SUMMARY.md"))
}

/// The identifiers in a list such as `Phase 2, Phase 3.1`.
fn numbers_in(value: &str) -> Vec<&str> {
    value
        .split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '.' && letter != '-')
        .map(|word| word.trim_end_matches('.'))
        .filter(|word| super::phase::without_code(word).starts_with(|first: char| first.is_ascii_digit()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn without(text: &str, removed: &str) -> String {
        let roadmap = Roadmap::parse(text);
        let removed = PhaseId::new(removed);
        let ids: Vec<&str> = roadmap.sections().iter().map(|section| section.id).collect();
        roadmap.without_phase(&removed, &Renumbering::without(&removed, ids))
    }

    #[test]
    fn the_first_decimal_replaces_a_removed_integer_and_otherwise_later_phases_move_up() {
        let ids = ["1", "1.1", "2", "2.1", "2.2", "3", "3.1", "12A", "999.1"];
        let new = Renumbering::without(&PhaseId::new("2"), ids);
        for (old, new_id) in [("2.1", "2"), ("02.2", "02.1"), ("ACME-02.2", "ACME-02.1")] {
            assert_eq!(new.of(old).as_deref(), Some(new_id), "{old}");
        }
        for same in ["1", "1.1", "2", "3", "3.1", "12A", "999.1", "nope"] {
            assert_eq!(new.of(same), None, "{same}");
        }
        let new = Renumbering::without(&PhaseId::new("1"), ["1", "1.1", "2"]);
        assert_eq!((new.of("1.1").as_deref(), new.of("2")), (Some("1"), None), "the first phase too");
        let new = Renumbering::without(&PhaseId::new("2"), ["1", "1.1", "2", "3", "3.1", "12A", "999.1"]);
        for (old, new_id) in [("3", "2"), ("03", "02"), ("3.1", "2.1"), ("12A", "11A"), ("ACME-03", "ACME-02")] {
            assert_eq!(new.of(old).as_deref(), Some(new_id), "{old}");
        }
        assert_eq!(new.of("1.1"), None);
        assert_eq!(new.of_name("03-sync").as_deref(), Some("02-sync"));
        assert_eq!(new.of_name("03.1-01-PLAN.md").as_deref(), Some("02.1-01-PLAN.md"));
        assert_eq!(new.of_name("notes.md"), None);
        let new = Renumbering::without(&PhaseId::new("2.1"), ids);
        assert_eq!((new.of("2.2").as_deref(), new.of("3")), (Some("2.1"), None));
    }

    #[test]
    fn a_phase_is_removed_with_all_its_lines_and_the_rest_keeps_its_bytes() {
        let text = "# R\r\n\r\n- [x] **Phase 1: A** - a\r\n- [ ] **Phase 2: B** - b\r\n- [ ] **Phase 3: C** - c, after phase 2\r\n\r\n### Phase 1: A\r\n\r\n### Phase 2: B\r\n**Depends on**: Phase 1\r\n\r\n---\r\n\r\n### Phase 3: C\r\n**Depends on**: Phase 1, Phase 2\r\n\r\n- [ ] 03-01-PLAN.md — x\r\n- [ ] 03-02: y\r\n- [ ] TBD (run /gsd-plan-phase 3 to break down)\r\n\r\n| Phase | Plans Complete |\r\n|---|---|\r\n| 2. B | 0/1 |\r\n| 3. C | 0/1 |\r\n";
        assert_eq!(
            without(text, "2"),
            "# R\r\n\r\n- [x] **Phase 1: A** - a\r\n- [ ] **Phase 2: C** - c, after phase 2\r\n\r\n### Phase 1: A\r\n\r\n---\r\n\r\n### Phase 2: C\r\n**Depends on**: Phase 1\r\n\r\n- [ ] 02-01-PLAN.md — x\r\n- [ ] 02-02: y\r\n- [ ] TBD (run /gsd-plan-phase 2 to break down)\r\n\r\n| Phase | Plans Complete |\r\n|---|---|\r\n| 2. C | 0/1 |\r\n"
        );
    }

    #[test]
    fn plans_of_later_phases_are_renumbered_wherever_their_files_are_named() {
        let text = "- [ ] **Phase 1: A** - a\n- [ ] **Phase 2: B** - b\n\n### Phase 1: A\n\n### Phase 2: B\n\n\
            Plans: 02-01-PLAN.md, 02-02-some-slug-PLAN.md\n- [ ] 02-01-PLAN.md — see phases/02-b/02-01-SUMMARY.md.\n\n\
            Notes of 2026-02-01: `02-02-PLAN.md` needs v2.02-PLAN, 12-01-PLAN.md and 02-01.\n";
        assert_eq!(
            without(text, "1"),
            "- [ ] **Phase 1: B** - b\n\n### Phase 1: B\n\n\
            Plans: 01-01-PLAN.md, 01-02-some-slug-PLAN.md\n- [ ] 01-01-PLAN.md — see phases/01-b/01-01-SUMMARY.md.\n\n\
            Notes of 2026-02-01: `01-02-PLAN.md` needs v2.02-PLAN, 12-01-PLAN.md and 02-01.\n"
        );
    }

    #[test]
    fn the_last_dependency_becomes_nothing_when_it_is_removed() {
        let text = "### Phase 1: A\n**Goal**: x\n### Phase 2: B\n**Depends on**: Phase 1\n### Phase 3: C\n**Depends on**: Phases 2.\n";
        assert_eq!(
            without(text, "1"),
            "### Phase 1: B\n**Depends on**: Nothing\n### Phase 2: C\n**Depends on**: Phases 1.\n"
        );
    }
}
