use proptest::prelude::*;

use super::*;
use crate::auto::unit::UnitKind;

/// A row of a roadmap in a test.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TestRow {
    number: usize,
    title: String,
    depends: Vec<usize>,
    mark: &'static str,
}

fn id(number: usize) -> String {
    format!("S{number:02}")
}

fn text(rows: &[TestRow], is_table: bool) -> String {
    let mut text = "# M001: A\n\n**Vision:** v\n\n## Success Criteria\n\n- it works\n\n## Slices\n\n".to_owned();
    if is_table {
        text.push_str("| ID | Title | Risk | Depends | Status |\n|---|---|---|---|---|\n");
    }
    for TestRow { number, title, depends, mark } in rows {
        let (id, depends) = (id(*number), depends.iter().map(|number| id(*number)).collect::<Vec<_>>().join(", "));
        if is_table {
            let _ = writeln!(text, "| {id} | {title} | low | {depends} | {mark} |");
            continue;
        }
        let tick = if *mark == "done" { "x" } else { " " };
        let tag = if matches!(*mark, "skipped" | "deferred") { format!(" `status:{mark}`") } else { String::new() };
        let _ = writeln!(text, "- [{tick}] **{id}: {title}** `risk:low` `depends:[{depends}]`{tag}");
    }
    text + "\n## Milestone Definition of Done\n\n- the checks pass\n"
}

/// A milestone in progress: `done` slices are done, the unit plans the next one, the one after that has a plan, `open`
/// are open, and a person deferred the last. A slice that was dropped earlier has left its folder.
struct Project {
    done: usize,
    rows: Vec<TestRow>,
    fixed: Fixed,
    unit: Unit,
    used: usize,
}

impl Project {
    fn new(done: usize, open: usize) -> Self {
        let row = |number: usize, mark| TestRow {
            number,
            title: format!("Part {number}"),
            depends: (number > 1 && number <= done + 1).then(|| number - 1).into_iter().collect(),
            mark,
        };
        let last = done + open + 3;
        let mut rows: Vec<TestRow> = (1..=done).map(|number| row(number, "done")).collect();
        rows.extend((done + 1..last).map(|number| row(number, "")));
        rows.push(row(last, "deferred"));
        let fixed = Fixed {
            begun: (1..=done).map(id).chain(["T01".to_owned()]).collect(),
            planned: (1..=done).chain([done + 2]).map(id).collect(),
            unlisted: vec![id(last + 1)],
        };
        Self {
            done,
            rows,
            fixed,
            unit: Unit::new(UnitKind::PlanSlice, format!("M001/{}", id(done + 1))),
            used: last + 1,
        }
    }

    /// Returns the indexes of the rows that the unit may change.
    fn free(&self, rows: &[TestRow]) -> Vec<usize> {
        let settled = |number: usize| number <= self.done + 2;
        (0..rows.len()).filter(|at| !settled(rows[*at].number) && rows[*at].mark != "deferred").collect()
    }

    /// Makes a change that a planner may make.
    fn change(&mut self, rows: &mut Vec<TestRow>, (what, first, second): (u8, usize, usize)) {
        let free = self.free(rows);
        let pick = |number: usize| free.get(number.checked_rem(free.len())?).copied();
        match (what, pick(first), pick(second)) {
            // Added after the slice of the unit, with a dependency on any existing one.
            (0, ..) => {
                self.used += 1;
                let depends = rows[first % rows.len()].number;
                let at = self.done + 1 + second % (rows.len() - self.done);
                let title = format!("New {second}");
                rows.insert(at, TestRow { number: self.used, title, depends: vec![depends], mark: "" });
            }
            (1, Some(at), _) => {
                let gone = rows.remove(at).number;
                for row in rows.iter_mut() {
                    row.depends.retain(|number| *number != gone);
                }
            }
            (2, Some(one), Some(other)) => rows.swap(one, other),
            (3, Some(at), _) => rows[at].title = format!("Other {second}"),
            (4, Some(at), _) => rows[at].mark = "skipped",
            // On one with a smaller number, which avoids cycles.
            (_, Some(at), _) => {
                let number = rows[at].number;
                let before = rows.iter().map(|row| row.number).filter(|other| *other < number);
                rows[at].depends = before.take(second % 3).collect();
            }
            _ => {}
        }
    }

    fn judged(&self, rows: &[TestRow], is_table: bool) -> Option<String> {
        self.judged_text(&text(rows, is_table), is_table)
    }

    fn judged_text(&self, after: &str, is_table: bool) -> Option<String> {
        let (old, new) = (Roadmap::parse(&text(&self.rows, is_table)), Roadmap::parse(after));
        open_slices(&old, &new, &self.fixed, &self.unit)
    }
}

/// Makes one change that planners may not make, and returns the rows and the expected error.
fn wrong(project: &Project, mut rows: Vec<TestRow>, what: u8, at: usize) -> (Vec<TestRow>, String) {
    let new = |number: usize, depends: Vec<usize>| TestRow { number, title: "New".to_owned(), depends, mark: "" };
    let own = project.done + 1;
    let settled = |rows: &[TestRow]| -> Vec<usize> {
        (0..rows.len()).filter(|at| rows[*at].number <= own + 1 || rows[*at].mark == "deferred").collect()
    };
    let settled = settled(&rows);
    let place = settled[at % settled.len()];
    let settled = id(rows[place].number);
    match what {
        0 => rows[place].title.push_str(" and more"),
        1 => {
            rows.remove(place);
            return (rows, format!("{settled} "));
        }
        2 => rows[place].depends.push(own + 1),
        3 => {
            // The number of the folder without a row.
            let used = project.rows.len() + 1;
            rows.push(new(used, Vec::new()));
            return (rows, format!("{} is new and takes a used number: the next is {}", id(used), id(used + 1)));
        }
        4 => {
            rows.push(new(project.used + 1, vec![project.used + 2]));
            return (rows, format!("depends on {}, which is not in the roadmap", id(project.used + 2)));
        }
        5 => {
            rows.push(new(project.used + 1, vec![project.used + 2]));
            rows.push(new(project.used + 2, vec![project.used + 1]));
            let (one, other) = (id(project.used + 1), id(project.used + 2));
            return (rows, format!("the dependencies of {one}, {other} form a circle"));
        }
        6 => {
            rows.insert(at % own, new(project.used + 1, Vec::new()));
            return (rows, format!("{} comes before {}", id(project.used + 1), id(own)));
        }
        7 => {
            rows.push(TestRow { mark: "done", ..new(project.used + 1, Vec::new()) });
            return (rows, format!("{} is ticked", id(project.used + 1)));
        }
        8 => {
            rows.push(TestRow { mark: "deferred", ..new(project.used + 1, Vec::new()) });
            return (rows, format!("{} is put off", id(project.used + 1)));
        }
        _ => {
            rows.insert(own, TestRow { title: "Twice".to_owned(), ..rows[own - 1].clone() });
            return (rows, format!("slice `{}` is listed twice", id(own)));
        }
    }
    (rows, format!("{settled} "))
}

/// Changes that a planner may make: the kind, and two numbers that select the details.
fn changes() -> impl Strategy<Value = Vec<(u8, usize, usize)>> {
    proptest::collection::vec((0_u8..6, 0_usize..9, 0_usize..9), 0..8)
}

proptest! {
    #[test]
    fn a_planner_may_change_only_open_slices(
        done in 0_usize..4, open in 0_usize..4, changes in changes(), is_table in any::<bool>(),
        what in 0_u8..10, at in 0_usize..9,
    ) {
        let mut project = Project::new(done, open);
        let mut rows = project.rows.clone();
        for change in changes {
            project.change(&mut rows, change);
        }
        prop_assert_eq!(project.judged(&rows, is_table), None, "{}", text(&rows, is_table));
        let (before, after) = (text(&project.rows, is_table), text(&rows, is_table));
        let told = in_words(Both { before: &before, after: &after });
        prop_assert_eq!(told.is_some(), before != after);
        let numbers = |rows: &[TestRow]| rows.iter().map(|row| row.number).collect::<Vec<_>>();
        let (old, new) = (numbers(&project.rows), numbers(&rows));
        let told = told.unwrap_or_default();
        let part = |word: &str| told.split("; ").find_map(|part| part.strip_prefix(word)).unwrap_or_default().to_owned();
        for number in old.iter().chain(&new) {
            let named = |word: &str| part(word).contains(&id(*number));
            prop_assert_eq!(named("added "), !old.contains(number), "{}", told);
            prop_assert_eq!(named("dropped "), !new.contains(number), "{}", told);
        }
        let (rows, expected) = wrong(&project, rows, what, at);
        let why = project.judged(&rows, is_table);
        prop_assert!(why.as_ref().is_some_and(|why| why.contains(&expected)), "{why:?} and not {expected}: {}", text(&rows, is_table));
    }

    #[test]
    fn any_two_roadmaps_can_be_compared(
        before in "(## Slices\n|- \\[[ x]\\] \\*\\*S0[1-4]: a\\*\\* `depends:\\[S0[1-5]\\]`\n|\\| S0[1-3] \\| x \\|\n|\\|---\\|---\\|\n|junk\n){0,9}",
        after in "(## Slices\n|- \\[[ x]\\] \\*\\*S0[1-4]: a\\*\\* `depends:\\[S0[1-5]\\]`\n|\\| S0[1-3] \\| x \\|\n|\\|---\\|---\\|\n|junk\n){0,9}",
    ) {
        let (old, new) = (Roadmap::parse(&before), Roadmap::parse(&after));
        let unit = Unit::new(UnitKind::PlanSlice, "M001/S02");
        let begun = old.slices.iter().filter(|row| row.done).map(|row| row.id.clone()).collect();
        let fixed = Fixed { begun, ..Fixed::default() };
        prop_assert_eq!(open_slices(&old, &old, &fixed, &unit), None);
        if open_slices(&old, &new, &fixed, &unit).is_none() {
            for row in old.slices.iter().filter(|row| row.done) {
                prop_assert!(new.slice(&row.id).is_some_and(|now| now.done));
            }
        }
        prop_assert_eq!(in_words(Both { before: &before, after: &before }), None);
        let _ = (course(&old, &new, &fixed), in_words(Both { before: &before, after: &after }));
    }
}

#[test]
fn begun_slices_keep_their_order_and_the_goal_stays() {
    let project = Project::new(2, 1);
    let mut rows = project.rows.clone();
    rows.swap(0, 1);
    assert_eq!(project.judged(&rows, false).unwrap(), "S01 was begun and has moved");
    let before = text(&project.rows, false);
    for (from, to) in
        [("it works", "it is there"), ("the checks pass", "it is there"), ("**Vision:** v", "**Vision:** w")]
    {
        let why = project.judged_text(&before.replace(from, to), false);
        assert_eq!(why.as_deref(), Some("what the milestone is for has changed"), "{from}");
    }
    // Parts that no reader looks at may change.
    let after = before.replace("\n## Slices", "\n## Key Risks / Unknowns\n\n- none\n\n## Slices");
    assert_eq!(project.judged_text(&after, false), None);
    let told = in_words(Both { before: &before, after: &after });
    assert_eq!(told.as_deref(), Some("changed in its text, with the same slices"));
}

#[test]
fn changes_to_the_slices_are_described_in_one_line() {
    let before = text(&Project::new(1, 3).rows, false);
    let mut rows = Project::new(1, 3).rows;
    rows[4].title = "Other".to_owned();
    rows.swap(3, 4);
    rows.remove(5);
    rows.push(TestRow { number: 9, title: "Search\u{1b}[31m, by date".to_owned(), depends: vec![2], mark: "" });
    let after = text(&rows, false);
    let told = in_words(Both { before: &before, after: &after }).unwrap();
    assert_eq!(
        told,
        "added S09 (Search, by date); dropped S06 (Part 6); changed S05; reordered to S02, S03, S05, S04, S07, S09"
    );
    assert_eq!(in_words(Both { before: "# M001: A\n", after: &after }), None, "a first plan changes nothing");
}

#[test]
fn a_change_asked_for_by_a_person_may_change_everything_not_begun() {
    let project = Project::new(1, 1);
    let old = Roadmap::parse(&text(&project.rows, false));
    let changed = |change: fn(&mut Vec<TestRow>)| {
        let mut rows = project.rows.clone();
        change(&mut rows);
        course(&old, &Roadmap::parse(&text(&rows, false)), &project.fixed)
    };
    assert_eq!(changed(|rows| rows[1].title = "Other".to_owned()), None);
    assert_eq!(changed(|rows| drop(rows.remove(2))), None);
    assert_eq!(changed(|rows| rows[0].title = "Other".to_owned()).unwrap(), "S01 was begun");
    assert_eq!(changed(|rows| rows[3].depends = vec![8]).unwrap(), "S04 depends on S08, which is not in the roadmap");
}

#[test]
fn a_planner_is_not_blamed_for_an_earlier_cycle_or_gap() {
    let old = "## Slices\n- [ ] **S01: A** `depends:[S02]`\n- [ ] **S02: B** `depends:[S01,S08]`\n- [ ] **S03: C**\n";
    let judged = |new: &str| {
        let unit = Unit::new(UnitKind::PlanSlice, "M001/S03");
        open_slices(&Roadmap::parse(old), &Roadmap::parse(new), &Fixed::default(), &unit)
    };
    assert_eq!(judged(&old.replace("S02: B", "S02: Other")), None);
    assert_eq!(judged(&old.replace("[S02]", "[S02,S01]")), None);
    let longer = old.to_owned() + "- [ ] **S04: D** `depends:[S05]`\n- [ ] **S05: E** `depends:[S04,S01]`\n";
    assert_eq!(judged(&longer).unwrap(), "the dependencies of S04, S05 form a circle");
    let itself = old.to_owned() + "- [ ] **S04: D** `depends:[S04]`\n";
    assert!(judged(&itself).unwrap().contains("S04 form a circle"));
}

/// Returns requirements with this owner and these supporting slices, in a section.
fn owned(section: &str, owner: &str, supporting: &str) -> String {
    format!(
        "# Requirements\n\n## {section}\n\n### R001 — Save\n- Class: core\n- Primary owning slice: {owner}\n- Supporting slices: \
         {supporting}\n- Validation: mapped\n"
    )
}

#[test]
fn a_requirement_of_a_dropped_slice_needs_another_slice() {
    let project = Project::new(1, 1);
    let before = text(&project.rows, false);
    let mut rows = project.rows.clone();
    rows.remove(3);
    let dropped = text(&rows, false);
    rows.insert(3, TestRow { mark: "skipped", ..project.rows[3].clone() });
    let skipped = text(&rows, false);
    let active = owned("Active", "M001/S04", "none");
    let judged = |after: &str, requirements: &str| {
        without_owner("M001", Both { before: &before, after }, Both { before: &active, after: requirements })
    };
    let why = "R001 names M001/S04, which the roadmap does not have";
    assert_eq!(judged(&before, &active), None);
    assert_eq!(judged(&dropped, &active).as_deref(), Some(why));
    assert_eq!(judged(&skipped, &active).as_deref(), Some(why));
    assert_eq!(judged(&dropped, &owned("Active", "M001/S02", "none")), None);
    assert_eq!(judged(&dropped, &owned("Active", "M001/S02", "M001/S04")).as_deref(), Some(why));
    assert_eq!(judged(&skipped, &owned("Active", "M001/S02", "M001/S04")), None);
    assert!(judged(&before, &owned("Active", "M001/S09", "none")).unwrap().contains("M001/S09"));
    for (section, owner) in [("Deferred", "M001/S04"), ("Active", "M002/S04"), ("Active", "M001"), ("Active", "none")] {
        assert_eq!(judged(&dropped, &owned(section, owner, "none")), None, "{section} {owner}");
    }
    // A requirement that had no owner before is not this unit's problem.
    let lost = owned("Active", "M001/S09", "none");
    let both = Both { before: &lost, after: &lost };
    assert_eq!(without_owner("M001", Both { before: &before, after: &dropped }, both), None);
    let first = Both { before: "", after: &before };
    assert!(without_owner("M001", first, both).is_some(), "a first plan gives each requirement a slice that is there");
}
