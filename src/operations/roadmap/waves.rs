//! The plans of a phase in the roadmap, by the waves they are executed in.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::analyze::NO_ROADMAP;
use crate::project::files::FileError;
use crate::project::folder::{PhaseFolder, canonical_id, plan_id};
use crate::project::phase::PhaseId;
use crate::project::roadmap_edit::PlanBullet;
use crate::project::view::{Edited, Edits, ProjectView};
use crate::text::front_matter::{FrontMatter, Value};
use crate::text::splice::Splices;

/// What `roadmap annotate-dependencies` answers.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct AnnotateReport {
    pub(crate) updated: bool,
    pub(crate) phase: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) waves: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cross_cutting_constraints: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
}

/// Groups a phase's plan lines by wave and lists the truths that several of its plans share.
pub(crate) fn annotate_dependencies(
    view: &ProjectView,
    typed: &str,
    waves: &BTreeMap<String, u64>,
) -> Edited<AnnotateReport> {
    let declined = |reason: String| {
        let report = AnnotateReport { phase: typed.to_owned(), reason: Some(reason), ..AnnotateReport::default() };
        Ok((report, Edits::default()))
    };
    let Some(folder) = view.find_phase(typed)?.folder else { return declined(format!("there is no phase `{typed}`")) };
    let plans = view.current_plans(&folder)?;
    if plans.is_empty() {
        return declined(format!("phase {typed} has no plans"));
    }
    let Some(text) = view.roadmap_text()? else { return declined(NO_ROADMAP.to_owned()) };
    let roadmap = view.parse_roadmap(&text);
    let shared = shared_truths(view, &folder, &plans)?;
    let section = roadmap.section(typed);
    let bullets = section.map(|section| roadmap.plan_bullets(section)).unwrap_or_default();
    // A plan that is only listed so far waits for nothing that anybody wrote down.
    let wave_of_bullet = |bullet: &PlanBullet<'_>| match plans.iter().find(|plan| bullet.is_about(plan)) {
        Some(plan) => waves.get(plan_id(plan)).copied(),
        None => names_plan_of(bullet.text, folder.token()).then_some(1),
    };
    let on_disk = plans.iter().filter_map(|plan| waves.get(plan_id(plan)).copied());
    let mut distinct: Vec<u64> = on_disk.chain(bullets.iter().filter_map(wave_of_bullet)).collect();
    distinct.sort_unstable();
    distinct.dedup();
    let answer = |updated: bool, reason: Option<String>| AnnotateReport {
        updated,
        phase: typed.to_owned(),
        waves: Some(distinct.len()),
        cross_cutting_constraints: Some(shared.len()),
        reason,
    };
    let Some(section) = section else {
        let reason = format!("phase {typed} has no section in the roadmap");
        return Ok((answer(false, Some(reason)), Edits::default()));
    };
    let wave_of =
        |line: usize| wave_of_bullet(&bullets[bullets.binary_search_by_key(&line, |bullet| bullet.line).ok()?]);
    let mut splices = Splices::default();
    let newline = roadmap.markdown().newline();
    let body = |line: usize| roadmap.markdown().line(line).trim();
    let headings: Vec<(usize, u64)> =
        section.lines.clone().filter_map(|line| Some((line, wave_heading(body(line))?))).collect();
    let annotated = !headings.is_empty();
    let title = |wave: u64, before: Option<u64>| match before {
        Some(before) => format!("**Wave {wave}** *(blocked on Wave {before} completion)*"),
        None => format!("**Wave {wave}**"),
    };
    let mut known: Vec<u64> = Vec::new();
    // One wave is all there is; it needs no heading.
    if !annotated && distinct.len() > 1 {
        for bullet in &bullets {
            let Some(wave) = wave_of(bullet.line).filter(|wave| !known.contains(wave)) else { continue };
            let before = if known.is_empty() { String::new() } else { newline.to_owned() };
            let title = title(wave, known.last().copied());
            let start = roadmap.markdown().lines()[bullet.line].start;
            splices.insert(start, format!("{before}{title}{newline}{newline}"));
            known.push(wave);
        }
    }
    // A plan that was added later is at the end of the list, whatever its wave.
    let wave_above = |line: usize| {
        headings[..headings.partition_point(|(heading, _)| *heading < line)].last().map(|(_, wave)| *wave)
    };
    let misplaced = |line: usize| wave_of(line).filter(|wave| annotated && wave_above(line) != Some(*wave));
    let mut made: Vec<u64> = Vec::new();
    for bullet in &bullets {
        let Some(wave) = misplaced(bullet.line) else { continue };
        // What a person wrote below the line goes with it.
        let span = roadmap.markdown().span(roadmap.item_lines(bullet.line));
        let item = &roadmap.markdown().text()[span.clone()];
        let line = if item.ends_with('\n') { item.to_owned() } else { format!("{item}{newline}") };
        let stays = |other: &&PlanBullet<'_>| misplaced(other.line).is_none() && wave_above(other.line) == Some(wave);
        if let Some(last) = bullets.iter().rev().find(stays) {
            roadmap.insert_after_item(last.line, &line, &mut splices);
        } else if let Some(last) = bullets.last() {
            let before = distinct.iter().rev().find(|other| **other < wave).copied();
            let heading = format!("{newline}{}{newline}{newline}", title(wave, before));
            let heading = if made.contains(&wave) { String::new() } else { heading };
            made.push(wave);
            roadmap.insert_after_item(last.line, &format!("{heading}{line}"), &mut splices);
        }
        splices.remove(span);
    }
    let listed = section.lines.clone().any(|line| body(line).starts_with("**Cross-cutting constraints"));
    if let (false, false, Some(last)) = (listed, shared.is_empty(), bullets.last()) {
        let lines = shared.iter().flat_map(|truth| ["- ", truth, newline]).collect::<String>();
        roadmap.insert_after_item(
            last.line,
            &format!("{newline}**Cross-cutting constraints:**{newline}{newline}{lines}"),
            &mut splices,
        );
    }
    let mut edits = Edits::default();
    edits.write(view, &view.layout().roadmap(), splices.apply(&text))?;
    let reason = edits.is_empty().then(|| "the roadmap already has all waves".to_owned());
    Ok((answer(!edits.is_empty(), reason), edits))
}

/// The number of a line such as `**Wave 2** *(blocked on Wave 1 completion)*`.
fn wave_heading(line: &str) -> Option<u64> {
    line.strip_prefix("**Wave ")?.split("**").next()?.trim().parse().ok()
}

/// Whether the text of a plan's line begins with the identifier of a plan of the phase: `02-03-PLAN.md`, `**02-03**: text`.
fn names_plan_of(text: &str, phase: &str) -> bool {
    let word = text.trim_start_matches(['`', '*', '[']).split([' ', ':', '`', '*', ']']).next().unwrap_or_default();
    let id = canonical_id(plan_id(word));
    id.rsplit_once('-')
        .is_some_and(|(of, number)| PhaseId::new(phase).matches(of) && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The truths of `must_haves` that at least two plans name, in order of appearance.
fn shared_truths(view: &ProjectView, folder: &PhaseFolder, plans: &[String]) -> Result<Vec<String>, FileError> {
    let mut counted: Vec<(String, usize)> = Vec::new();
    for plan in plans {
        let Some(text) = view.text(&folder.join(plan))? else { continue };
        let truths = FrontMatter::parse(&text).and_then(|front| front.get_path(&["must_haves", "truths"]));
        let mut own: Vec<String> = Vec::new();
        for truth in truths.iter().flat_map(Value::items) {
            let of_map = |key: &str| truth.get(key).and_then(Value::as_text);
            let words = truth.as_text().or_else(|| of_map("statement")).or_else(|| of_map("title"));
            if let Some(words) = words.filter(|words| !own.iter().any(|known| known == words)) {
                own.push(words.to_owned());
            }
        }
        for truth in own {
            match counted.iter_mut().find(|(known, _)| *known == truth) {
                Some((_, count)) => *count += 1,
                None => counted.push((truth, 1)),
            }
        }
    }
    Ok(counted.into_iter().filter(|(_, count)| *count > 1).map(|(truth, _)| truth).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::files::MemoryFiles;

    #[test]
    fn one_wave_needs_no_heading() {
        let roadmap = "### Phase 1: A\n\nPlans:\n- [ ] 01-01-PLAN.md\n- [ ] 01-02-PLAN.md\n";
        let noted = |second: u64| {
            let files = [
                (".planning/ROADMAP.md", roadmap),
                (".planning/phases/01-a/01-01-PLAN.md", ""),
                (".planning/phases/01-a/01-02-PLAN.md", ""),
            ];
            let view = ProjectView::of(files);
            let waves = BTreeMap::from([("01-01".to_owned(), 1), ("01-02".to_owned(), second)]);
            let (report, edits) = annotate_dependencies(&view, "1", &waves).unwrap();
            (report.updated, report.waves, edits.texts.values().any(|text| text.contains("**Wave 1**")))
        };
        let listed = roadmap.to_owned() + "- [ ] 01-03: later\n- [ ] TBD\n";
        let files = [(".planning/ROADMAP.md", listed.as_str()), (".planning/phases/01-a/01-01-PLAN.md", "")];
        let waves = BTreeMap::from([("01-01".to_owned(), 2)]);
        let (report, edits) = annotate_dependencies(&ProjectView::of(files), "1", &waves).unwrap();
        assert_eq!((report.updated, report.waves), (true, Some(2)), "a plan without a file is in the first wave");
        assert!(edits.texts[".planning/ROADMAP.md"].contains("**Wave 1**"));
        assert_eq!(noted(1), (false, Some(1), false));
        assert_eq!(noted(2), (true, Some(2), true));
    }

    #[test]
    fn a_truth_that_is_a_map_counts_by_its_title_and_a_number_by_its_text() {
        let plan = "---\nmust_haves:\n  truths:\n    - title: same\n      why: x\n    - 42\n---\n";
        let files = [(".planning/phases/01-a/01-01-PLAN.md", plan), (".planning/phases/01-a/01-02-PLAN.md", plan)];
        let view = ProjectView::of(files);
        let folders = view.phase_folders().unwrap();
        let plans = view.current_plans(&folders[0]).unwrap();
        assert_eq!(shared_truths(&view, &folders[0], &plans).unwrap(), ["same", "42"]);
    }

    #[test]
    fn what_is_indented_below_a_plan_moves_with_it() {
        let roadmap = "### Phase 1: A\n\nPlans:\n**Wave 1**\n\n- [x] 01-01-PLAN.md — a\n  my note on a\n\n\
            **Wave 2**\n\n- [x] 01-02-PLAN.md — b\n- [ ] 01-03-PLAN.md — c  \n  my own note\n\n  - sub point\n\n### Phase 2: B\n";
        let plan = |truths: &str| format!("---\nmust_haves:\n  truths: [{truths}]\n---\n");
        let (shared, other) = (plan("it works"), plan("other"));
        let noted = |wave: u64| {
            let files = [
                (".planning/ROADMAP.md", roadmap),
                (".planning/phases/01-a/01-01-PLAN.md", shared.as_str()),
                (".planning/phases/01-a/01-02-PLAN.md", other.as_str()),
                (".planning/phases/01-a/01-03-PLAN.md", shared.as_str()),
            ];
            let view = ProjectView::of(files);
            let waves = [("01-01", 1), ("01-02", 2), ("01-03", wave)].map(|(id, wave)| (id.to_owned(), wave));
            annotate_dependencies(&view, "1", &BTreeMap::from(waves)).unwrap().1.texts[".planning/ROADMAP.md"].clone()
        };
        let item = "- [ ] 01-03-PLAN.md — c  \n  my own note\n\n  - sub point\n";
        let constraints = "\n**Cross-cutting constraints:**\n\n- it works\n";
        let moved = roadmap.replace(item, "").replace("  my note on a\n", &format!("  my note on a\n{item}"));
        let moved = moved.replace("02-PLAN.md — b\n", &format!("02-PLAN.md — b\n{constraints}"));
        assert_eq!(noted(1), moved);
        assert_eq!(noted(2), roadmap.replace(item, &format!("{item}{constraints}")));
    }

    #[test]
    fn a_plan_that_was_added_later_moves_under_its_wave() {
        let roadmap = "### Phase 1: A\n\nPlans:\n**Wave 1**\n\n- [x] 01-01-PLAN.md\n\n\
            **Wave 2** *(blocked on Wave 1 completion)*\n\n- [x] 01-02-PLAN.md\n- [ ] 01-03-PLAN.md — gap\n\n### Phase 2: B\n";
        let noted = |wave: u64| {
            let plan = |id: &str| (format!(".planning/phases/01-a/{id}-PLAN.md"), String::new());
            let mut files = vec![plan("01-01"), plan("01-02"), plan("01-03")];
            files.push((".planning/ROADMAP.md".to_owned(), roadmap.to_owned()));
            let files = MemoryFiles::new(files.iter().map(|(path, text)| (path.as_str(), text.as_str())));
            let view = files.view();
            let waves = [("01-01", 1), ("01-02", 2), ("01-03", wave)].map(|(id, wave)| (id.to_owned(), wave));
            let (_, edits) = annotate_dependencies(&view, "1", &BTreeMap::from(waves)).unwrap();
            edits.texts.get(".planning/ROADMAP.md").cloned()
        };
        assert_eq!(noted(2), None);
        let moved = roadmap.replace("- [ ] 01-03-PLAN.md — gap\n", "");
        let first = moved.replace("01-01-PLAN.md\n", "01-01-PLAN.md\n- [ ] 01-03-PLAN.md — gap\n");
        assert_eq!(noted(1).unwrap(), first);
        let third = moved.replace(
            "01-02-PLAN.md\n",
            "01-02-PLAN.md\n\n**Wave 3** *(blocked on Wave 2 completion)*\n\n- [ ] 01-03-PLAN.md — gap\n",
        );
        assert_eq!(noted(3).unwrap(), third);
    }
}
