//! The plans of a phase in the roadmap, grouped by the waves in which they are executed.

use std::collections::BTreeMap;
use std::ops::Range;

use schemars::JsonSchema;
use serde::Serialize;

use super::analyze::NO_ROADMAP;
use crate::project::files::FileError;
use crate::project::folder::{PhaseFolder, canonical_id, plan_id};
use crate::project::phase::PhaseId;
use crate::project::roadmap::Roadmap;
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

/// Groups a phase's plan lines by wave, and lists the truths that several of its plans share.
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
    let Some(roadmap) = view.roadmap()? else { return declined(NO_ROADMAP.to_owned()) };
    let shared = shared_truths(view, &folder, &plans)?;
    let section = roadmap.section(typed);
    let bullets = section.map(|section| roadmap.plan_bullets(section)).unwrap_or_default();
    // A plan that exists only in the list has no recorded dependencies.
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
    let of_bullets: Vec<(usize, u64)> =
        bullets.iter().filter_map(|bullet| Some((bullet.line, wave_of_bullet(bullet)?))).collect();
    let grouped =
        in_waves(roadmap, section.lines.clone(), &of_bullets, &distinct).unwrap_or_else(|| roadmap.text().to_owned());
    let written = with_constraints(&view.parse_roadmap(&grouped), typed, &shared).unwrap_or(grouped);
    let mut edits = Edits::default();
    edits.write(view, &view.layout().roadmap(), written)?;
    let reason = edits.is_empty().then(|| "the roadmap already has all waves".to_owned());
    Ok((answer(!edits.is_empty(), reason), edits))
}

/// A wave in the roadmap's list.
#[derive(Debug, Default)]
struct WaveGroup {
    /// The line of the heading with a person's text below it; empty if it does not exist yet.
    heading: String,
    /// The items of its plans, each with the lines that belong to it.
    items: Vec<String>,
}

/// The roadmap with the plans of a phase below the headings of their waves, in the order of wave numbers; `None` if
/// nothing changes. `waved` has the lines of the list items with their waves. Items without a wave stay below their
/// current heading.
fn in_waves(roadmap: &Roadmap<'_>, section: Range<usize>, waved: &[(usize, u64)], distinct: &[u64]) -> Option<String> {
    let markdown = roadmap.markdown();
    let newline = markdown.newline();
    let headings: Vec<(usize, WaveHeading)> =
        section.filter_map(|line| Some((line, WaveHeading::parse(markdown.line(line).trim())?))).collect();
    let is_inside = |line: usize| waved.iter().any(|(at, _)| *at < line && roadmap.item_lines(*at).contains(&line));
    let waved: Vec<(usize, u64)> = waved.iter().copied().filter(|(line, _)| !is_inside(*line)).collect();
    if !is_out_of_order(&headings, &waved, distinct) {
        return None;
    }
    let starts = || headings.iter().map(|(line, _)| *line).chain(waved.iter().map(|(line, _)| *line));
    let ends =
        headings.iter().map(|(line, _)| line + 1).chain(waved.iter().map(|(line, _)| roadmap.item_lines(*line).end));
    let region = starts().min()?..ends.max()?;
    let mut groups: BTreeMap<u64, WaveGroup> = BTreeMap::new();
    let mut before = String::new();
    let mut below: Option<u64> = None;
    let mut line = region.start;
    while line < region.end {
        let heading = headings.iter().find(|(at, _)| *at == line).map(|(_, heading)| heading.wave);
        let item = waved.iter().find(|(at, _)| *at == line).map(|(_, wave)| *wave);
        let lines = if item.is_some() { roadmap.item_lines(line) } else { line..line + 1 };
        let text = &markdown.text()[markdown.span(lines.clone())];
        let text = if text.ends_with('\n') { text.to_owned() } else { format!("{text}{newline}") };
        match (heading, item, below) {
            (Some(wave), ..) => {
                // Blank lines before a heading do not belong to the list above it.
                let above = below.and_then(|wave| groups.get_mut(&wave)).and_then(|group| group.items.last_mut());
                if let Some(item) = above {
                    item.truncate(item.trim_end_matches(['\n', '\r']).len());
                }
                let group = groups.entry(wave).or_default();
                // A second heading of the same wave is removed.
                if group.heading.is_empty() {
                    group.heading = text;
                }
            }
            (None, Some(wave), _) => groups.entry(wave).or_default().items.push(text),
            (None, None, Some(wave)) => {
                let group = groups.entry(wave).or_default();
                group.items.last_mut().unwrap_or(&mut group.heading).push_str(&text);
            }
            (None, None, None) => before.push_str(&text),
        }
        below = heading.or(item).or(below);
        line = lines.end;
    }
    let mut parts: Vec<String> = Vec::new();
    if !before.trim().is_empty() {
        parts.push(before.trim_end().to_owned());
    }
    let mut last: Option<u64> = None;
    for (wave, group) in groups {
        if let Some(text) = group.text(wave, last, distinct.contains(&wave), newline) {
            parts.push(text);
            last = Some(wave);
        }
    }
    let mut splices = Splices::default();
    splices.replace(markdown.span(region), parts.join(&newline.repeat(2)) + newline);
    Some(splices.apply(markdown.text()))
}

/// True if the list of a phase's plans must be reordered: headings are missing or not in the order of their numbers, a
/// plan is not below the heading of its wave, or a wave is blocked by one that does not come before it.
fn is_out_of_order(headings: &[(usize, WaveHeading)], waved: &[(usize, u64)], distinct: &[u64]) -> bool {
    if headings.is_empty() {
        // A single wave needs no heading.
        return distinct.len() > 1 && !waved.is_empty();
    }
    let wave_above = |line: usize| {
        headings[..headings.partition_point(|(at, _)| *at < line)].last().map(|(_, heading)| heading.wave)
    };
    waved.iter().any(|(line, wave)| wave_above(*line) != Some(*wave))
        || headings.windows(2).any(|pair| pair[0].1.wave >= pair[1].1.wave)
        || headings.iter().any(|(_, heading)| heading.blocked_on.is_some_and(|on| on >= heading.wave))
}

impl WaveGroup {
    /// The lines of the wave with its heading; `None` if nothing is left of it.
    fn text(&self, wave: u64, last: Option<u64>, is_known: bool, newline: &str) -> Option<String> {
        let title = match last {
            Some(last) => format!("**Wave {wave}** *(blocked on Wave {last} completion)*"),
            None => format!("**Wave {wave}**"),
        };
        let (first, rest) = self.heading.split_once('\n').unwrap_or_default();
        if self.items.is_empty() && rest.trim().is_empty() && !is_known {
            return None;
        }
        // Text that a person wrote in the line of the heading stays.
        let is_ours = WaveHeading::parse(first.trim()).is_none_or(|known| known.blocked_on.is_some());
        let mut text = if is_ours { title } else { first.trim_end().to_owned() };
        if !rest.trim().is_empty() {
            text.push_str(newline);
            text.push_str(rest.trim_end());
        }
        for (at, item) in self.items.iter().enumerate() {
            let bare = item.trim_end_matches(['\n', '\r']);
            let is_loose = at > 0 && self.items[at - 1].trim_end_matches(' ').ends_with(&newline.repeat(2));
            text.push_str(&newline.repeat(if at == 0 || is_loose { 2 } else { 1 }));
            text.push_str(bare);
        }
        Some(text)
    }
}

/// The roadmap with the truths that several plans of a phase share added below their list; `None` if there is nothing
/// to add.
fn with_constraints(roadmap: &Roadmap<'_>, typed: &str, shared: &[String]) -> Option<String> {
    let markdown = roadmap.markdown();
    let newline = markdown.newline();
    let section = roadmap.section(typed)?;
    let last = roadmap.plan_bullets(section).pop()?;
    let mut lines = section.lines.clone();
    if shared.is_empty() || lines.any(|line| markdown.line(line).trim().starts_with("**Cross-cutting constraints")) {
        return None;
    }
    let lines = shared.iter().flat_map(|truth| ["- ", truth, newline]).collect::<String>();
    let mut splices = Splices::default();
    let title = format!("{newline}**Cross-cutting constraints:**{newline}{newline}");
    roadmap.insert_after_item(last.line, &format!("{title}{lines}"), &mut splices);
    Some(splices.apply(markdown.text()))
}

/// A line such as `**Wave 2** *(blocked on Wave 1 completion)*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct WaveHeading {
    wave: u64,
    /// The wave for which it waits, according to its note.
    blocked_on: Option<u64>,
}

impl WaveHeading {
    fn parse(line: &str) -> Option<Self> {
        let (wave, rest) = line.strip_prefix("**Wave ")?.split_once("**")?;
        let on = rest.trim().strip_prefix("*(blocked on Wave ").and_then(|rest| rest.strip_suffix(" completion)*"));
        Some(Self { wave: wave.trim().parse().ok()?, blocked_on: on.and_then(|on| on.parse().ok()) })
    }
}

/// True if the text of a plan's line begins with the identifier of a plan of the phase: `02-03-PLAN.md`, `**02-03**:
/// text`.
fn names_plan_of(text: &str, phase: &str) -> bool {
    let word = text.trim_start_matches(['`', '*', '[']).split([' ', ':', '`', '*', ']']).next().unwrap_or_default();
    let id = canonical_id(plan_id(word));
    id.rsplit_once('-')
        .is_some_and(|(of, number)| PhaseId::new(phase).matches(of) && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The truths of `must_haves` that at least two plans have, in order of appearance.
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
    fn indented_lines_below_a_plan_move_with_it() {
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

    /// The lines of the list after the waves were added, without blank ones.
    fn listed(list: &str, waves: &[(&str, u64)]) -> Vec<String> {
        let roadmap = format!("### Phase 1: A\n\nPlans:\n{list}\n### Phase 2: B\n");
        let plans: Vec<String> = waves.iter().map(|(id, _)| format!(".planning/phases/01-a/{id}-PLAN.md")).collect();
        let mut text = roadmap;
        let numbers: BTreeMap<String, u64> = waves.iter().map(|(id, wave)| ((*id).to_owned(), *wave)).collect();
        for again in [false, true] {
            let mut files: Vec<(&str, &str)> = plans.iter().map(|plan| (plan.as_str(), "")).collect();
            files.push((".planning/ROADMAP.md", &text));
            let view = MemoryFiles::new(files).view();
            let edits = annotate_dependencies(&view, "1", &numbers).unwrap().1;
            let written = edits.texts.get(".planning/ROADMAP.md").cloned();
            assert!(!again || written.is_none(), "a second call changes nothing: {written:?}");
            text = written.unwrap_or(text);
        }
        let lines = text.lines().skip(3).take_while(|line| !line.starts_with("###"));
        lines.filter(|line| !line.is_empty()).map(str::to_owned).collect()
    }

    #[test]
    fn waves_are_in_numerical_order_and_each_plan_is_below_its_own() {
        let one = "**Wave 1**";
        let two = "**Wave 2** *(blocked on Wave 1 completion)*";
        let three = "**Wave 3** *(blocked on Wave 2 completion)*";
        let (a, b, c) = ("- [ ] 01-01-PLAN.md — a", "- [x] 01-02-PLAN.md — b", "- [ ] 01-03-PLAN.md — c");
        let plain = format!("{a}\n{b}\n{c}\n");
        let waves = |first: u64, second: u64, third: u64| [("01-01", first), ("01-02", second), ("01-03", third)];
        assert_eq!(listed(&format!("{a}\n{b}\n"), &waves(2, 1, 0)[..2]), [one, b, two, a]);
        assert_eq!(listed(&plain, &waves(1, 2, 1)), [one, a, c, two, b]);
        assert_eq!(listed(&plain, &waves(3, 2, 1)), [one, c, two, b, three, a]);
        let reversed = format!("**Wave 2**\n\n{a}\n\n**Wave 1** *(blocked on Wave 2 completion)*\n\n{b}\n");
        assert_eq!(listed(&reversed, &waves(2, 1, 0)[..2]), [one, b, "**Wave 2**", a], "what an older version wrote");
        let with_gap = format!("{one}\n\n{a}\n\n**Wave 3** *(blocked on Wave 1 completion)*\n\n{b}\n{c}\n");
        assert_eq!(listed(&with_gap, &waves(1, 3, 2)), [one, a, two, c, three, b], "a wave between two others");
        let kept =
            format!("a word before\n\n{one}\n\n{a}\n- [ ] TBD\n\n**Wave 2**: after lunch\nmy note\n\n{b}\n{c}\n");
        let expected = ["a word before", one, a, "- [ ] TBD", c, "**Wave 2**: after lunch", "my note", b];
        assert_eq!(listed(&kept, &waves(1, 2, 1)), expected, "what a person wrote stays below what it was below");
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
