//! Slice planners that change later slices, with allowed and forbidden changes.

use super::*;
use crate::auto::prompt::citation::citation;
use crate::auto::slices::reading::{Extent, snapshot};

const ROADMAP: &str = ".gsd/milestones/M001/M001-ROADMAP.md";

/// A change of a roadmap: its kind, the row, and a number that selects the details.
type RoadmapEdit = (u8, usize, usize);

/// Applies a change to the rows, each of which has two lines.
fn edit(text: &str, (what, first, second): RoadmapEdit) -> String {
    let (head, rows) = text.split_once("\n- [").unwrap();
    let mut rows: Vec<String> = rows.split("\n- [").map(|row| format!("- [{}", row.trim_end())).collect();
    let (one, other) = (first % rows.len(), second % rows.len());
    let number = |row: &str| row.split(['S', ':']).nth(1).unwrap().parse::<usize>().unwrap();
    match what {
        0 | 1 => {
            let highest = rows.iter().map(|row| number(row)).max().unwrap();
            let id = if what == 0 { highest + 1 } else { second };
            let depends = number(&rows[other]);
            let row = format!("- [ ] **S{id:02}: New** `risk:low` `depends:[S{depends:02}]`\n  > After this: it works");
            rows.insert(if second > 2 { rows.len() } else { one }, row);
        }
        2 => drop((rows.len() > 1).then(|| rows.remove(one))),
        3 => rows.swap(one, other),
        4 => rows[one] = rows[one].replace("Part", "Piece"),
        5 => {
            let (before, after) = rows[one].split_once("depends:[").unwrap();
            let (_, after) = after.split_once(']').unwrap();
            rows[one] = format!("{before}depends:[S{second:02}]{after}");
        }
        6 => rows[one] = rows[one].replace("- [ ]", "- [x]"),
        _ => rows[one] = rows[one].replace("` `depends", "` `status:deferred` `depends"),
    }
    format!("{head}\n{}\n", rows.join("\n"))
}

/// An agent that changes the roadmap when it plans a slice, and cites the new row.
#[derive(Debug)]
struct Planner {
    ideal: Ideal,
    edits: Vec<Vec<RoadmapEdit>>,
}

impl Actor for Planner {
    fn act(&mut self, session: &Session, files: &BTreeMap<String, String>) -> SessionActs {
        let mut documents = self.ideal.documents(&session.unit, files);
        if session.unit.kind == UnitKind::PlanSlice {
            let roadmap = self
                .edits
                .pop()
                .unwrap_or_default()
                .into_iter()
                .fold(files[ROADMAP].clone(), |text, change| edit(&text, change));
            let mut changed = MemoryFiles { texts: files.clone(), ..MemoryFiles::default() };
            changed.texts.insert(ROADMAP.to_owned(), roadmap.clone());
            let (milestone, slice, _) = session.unit.parts();
            if let Some(row) = snapshot(&changed, Extent::All).slice(milestone, slice.unwrap()) {
                for (_, text) in &mut documents {
                    let lines = text.lines().map(|line| {
                        if line.starts_with("**Roadmap:**") { citation(&row.row) } else { line.to_owned() }
                    });
                    *text = lines.map(|line| line + "\n").collect();
                }
            }
            documents.push((ROADMAP.to_owned(), roadmap));
        }
        SessionActs::done(documents)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn slices_that_were_begun_stay_and_the_rest_is_done_whatever_planners_change(
        edits in proptest::collection::vec(proptest::collection::vec((0_u8..8, 0_usize..6, 0_usize..7), 0..3), 0..6),
        slices in 2_usize..5,
    ) {
        let options = simple((slices, 1));
        let mut simulated = Simulated::new(project(), Planner { ideal: options.ideal(), edits });
        simulated.begin(MILESTONE, false, 60, &Ceilings::default());
        let stop = simulated.go_on(&options.settings()).unwrap();
        prop_assert!(matches!(stop.cause, Cause::Complete | Cause::Outside | Cause::NoProgress), "{:?}", stop);
        let mut last = None;
        let mut ended = String::new();
        for entry in &simulated.log {
            match &entry.event {
                Event::UnitStarted(start) => last = Some(start.clone()),
                Event::UnitEnded(end) => ended.clone_from(&end.tree),
                Event::Accepted { roadmap, .. } => {
                    let start = last.take().unwrap();
                    let text = |tree: &str| simulated.texts(tree).remove(ROADMAP).unwrap_or_default();
                    let (before, after) = (text(&start.tree), text(&ended));
                    if start.unit.kind != UnitKind::PlanSlice {
                        continue;
                    }
                    prop_assert_eq!(roadmap.is_some(), before != after, "{:?}", roadmap);
                    let own = format!("**{}:", start.unit.parts().1.unwrap());
                    for row in before.lines().filter(|line| line.starts_with("- [x]") || line.contains(&own)) {
                        prop_assert!(after.lines().any(|line| line == row), "{row} is not in {after}");
                    }
                    prop_assert_eq!(before.matches("- [x]").count(), after.matches("- [x]").count());
                }
                _ => {}
            }
        }
        if stop.cause == Cause::Complete {
            let landed = simulated.landed_texts().unwrap();
            prop_assert!(!landed[ROADMAP].contains("- [ ]"), "{}", landed[ROADMAP]);
        }
    }
}

#[test]
fn a_forbidden_change_of_a_planner_is_reported_and_the_unit_is_repeated() {
    let options = simple((3, 1));
    // A change to the row of S01, which is done; then one slice replaced with another.
    let edits = vec![vec![(0, 0, 4), (2, 2, 0)], vec![(4, 0, 0)]];
    let mut simulated = Simulated::new(project(), Planner { ideal: options.ideal(), edits });
    simulated.begin(MILESTONE, false, 20, &Ceilings::default());
    let stop = simulated.go_on(&options.settings()).unwrap();
    assert_eq!(stop.cause, Cause::Complete, "{stop:?}");
    let told: Vec<String> = simulated.log.iter().filter_map(|entry| crate::auto::story::line(&entry.event)).collect();
    let refused = format!("  does not count: plan-slice may not change {ROADMAP} (S01 was begun)");
    let replanned = "  roadmap: added S04 (New); dropped S03 (Part 3)";
    for line in [refused.as_str(), replanned] {
        assert!(told.iter().any(|told| told == line), "{line}: {told:#?}");
    }
    let landed = simulated.landed_texts().unwrap();
    assert!(landed[ROADMAP].contains("- [x] **S04: New**") && !landed[ROADMAP].contains("S03:"), "{}", landed[ROADMAP]);
}
