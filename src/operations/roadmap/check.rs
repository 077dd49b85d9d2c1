//! Checks a roadmap: whether it can be read, and whether its parts agree.

use std::cell::LazyCell;
use std::collections::HashSet;

use schemars::JsonSchema;
use serde::Serialize;

use crate::project::config::Config;
use crate::project::files::FileError;
use crate::project::milestone::milestone_headings;
use crate::project::phase::{PhaseId, PhaseIndex};
use crate::project::roadmap::{Roadmap, name_without_tag};
use crate::project::roadmap_unread::UnreadPhase;
use crate::project::scope::Unseen;
use crate::project::standing;
use crate::project::view::ProjectView;
use crate::text::front_matter::{FrontMatter, is_unclosed};
use crate::text::nfc;
use crate::text::screen::{Mark, Screen, Tone, counted};
use crate::text::shell::typed;

/// What `roadmap validate` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ValidateReport {
    pub(crate) warnings: Vec<RoadmapFinding>,
    /// Phases on which the parts of the roadmap disagree. They can be read nevertheless.
    pub(crate) mismatches: Vec<Mismatch>,
    /// What may hide phases of the milestone from all commands, with the fix.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) problems: Vec<String>,
}

impl ValidateReport {
    /// The findings with their fixes, for a person at a terminal.
    pub(crate) fn shown(&self, screen: Screen) -> String {
        if self.warnings.is_empty() && self.mismatches.is_empty() && self.problems.is_empty() {
            return screen.paint(Tone::Good, "No problems in ROADMAP.md") + "\n";
        }
        let count = counted(self.warnings.len() + self.mismatches.len() + self.problems.len(), "finding");
        let mut page = screen.paint(Tone::Strong, &format!("{count} in ROADMAP.md")) + "\n";
        for finding in &self.warnings {
            page += &screen.item("  ", Mark::Warning, &finding.message);
        }
        for problem in &self.problems {
            page += &screen.item("  ", Mark::Warning, problem);
        }
        for finding in &self.mismatches {
            let what = format!("line {}: {} ({})", finding.line, finding.message, finding.code);
            page += &screen.item("  ", Mark::Warning, &what);
            page += &screen.prose("    ", "    ", &format!("Fix: {}", finding.fix));
        }
        page
    }
}

/// Two parts of the roadmap that disagree on a phase, or a line that names a phase in a form that is not read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Mismatch {
    pub(crate) code: &'static str,
    pub(crate) phase: String,
    /// Counted from 1: the line to change, or the line that has what is missing elsewhere.
    pub(crate) line: usize,
    pub(crate) message: String,
    pub(crate) fix: String,
}

impl Mismatch {
    fn of_unread(unread: &UnreadPhase<'_>) -> Self {
        let (phase, line) = (unread.id.to_owned(), unread.line + 1);
        Self { code: "C007", phase, line, message: unread.message(), fix: unread.cure() }
    }

    /// A phase that is ticked in one part and open in another counts as open.
    fn of_closing(roadmap: &Roadmap<'_>, id: &str) -> Option<Self> {
        let bullet = roadmap.bullet(id)?;
        let (row, status) = standing::contradiction(roadmap, id)?;
        let (box_line, row) = (bullet.line + 1, row + 1);
        let said = if bullet.checked { "ticked" } else { "not ticked" };
        let message =
            format!("Phase {id} is {said} in line {box_line}, and line {row} says `{status}`; it counts as open");
        let fix = format!("Change the status in line {row} of ROADMAP.md, or the box in line {box_line}");
        Some(Self { code: "C008", phase: id.to_owned(), line: row, message, fix })
    }
}

/// A phase in one part of the roadmap.
struct RoadmapMention<'text> {
    place: &'static str,
    id: &'text str,
    name: &'text str,
    line: usize,
}

/// Compares the checklist, the details and the Progress table of the current milestone: which phases each lists, with
/// which number and name. A part that the document does not have is not reported as missing.
pub(crate) fn mismatches(view: &ProjectView, roadmap: &Roadmap<'_>) -> Result<Vec<Mismatch>, FileError> {
    const PLACES: [&str; 3] = ["checklist", "details", "Progress table"];
    let milestone = view.milestone()?;
    let own = LazyCell::new(|| PhaseIndex::new(milestone.phase_ids(roadmap).into_iter().enumerate()));
    let bullets = roadmap.bullets().iter().filter(|bullet| milestone.holds(bullet.line));
    let sections = roadmap.sections().iter().filter(|section| milestone.holds(section.heading_line));
    let rows = roadmap.rows().iter().filter(|row| row.reports && !row.shipped);
    // The table may have rows of other milestones, and still lists phases that are folded elsewhere.
    let folded = LazyCell::new(|| {
        let bullets = roadmap.bullets().iter().filter(|bullet| bullet.shipped).map(|bullet| bullet.id);
        let sections = roadmap.sections().iter().filter(|section| section.shipped).map(|section| section.id);
        PhaseIndex::new(bullets.chain(sections).enumerate())
    });
    let rows =
        rows.filter(|row| own.find(row.id).is_some() || milestone.holds(row.line) && folded.find(row.id).is_none());
    let told: Vec<RoadmapMention<'_>> = bullets
        .map(|bullet| RoadmapMention { place: PLACES[0], id: bullet.id, name: bullet.name, line: bullet.line })
        .chain(sections.map(|section| RoadmapMention {
            place: PLACES[1],
            id: section.id,
            name: section.name,
            line: section.heading_line,
        }))
        .chain(rows.map(|row| RoadmapMention { place: PLACES[2], id: row.id, name: row.name, line: row.line }))
        .filter(|told| !PhaseId::names_sentinel(told.id))
        .collect();
    let mut phases: Vec<PhaseId> = told.iter().map(|told| PhaseId::new(told.id)).collect();
    let mut known = HashSet::new();
    phases.retain(|id| known.insert(id.as_str().to_owned()));
    drop(known);
    phases.sort_by(|left, right| crate::project::phase::compare(left.as_str(), right.as_str()));
    let in_use: Vec<&str> = PLACES.into_iter().filter(|place| told.iter().any(|told| told.place == *place)).collect();
    let index = PhaseIndex::new(told.iter().map(|told| told.id).enumerate());
    let mut found: Vec<Mismatch> = roadmap.unread_phases().iter().map(Mismatch::of_unread).collect();
    for phase in &phases {
        let own: Vec<&RoadmapMention<'_>> = index.find_all(phase.as_str()).map(|at| &told[at]).collect();
        // The details have the most information, so the others follow them.
        let Some(leading) = own.iter().find(|told| told.place == PLACES[1]).or(own.first()) else { continue };
        let name = name_without_tag(leading.name);
        found.extend(Mismatch::of_closing(roadmap, leading.id));
        for place in in_use.iter().filter(|place| own.iter().all(|told| told.place != **place)) {
            found.push(Mismatch {
                code: "C005",
                phase: leading.id.to_owned(),
                line: leading.line + 1,
                message: format!(
                    "Phase {} is in the {} (line {}) and missing in the {place}",
                    leading.id,
                    leading.place,
                    leading.line + 1
                ),
                fix: format!("Add phase {} `{name}` to the {place} of ROADMAP.md, or remove it elsewhere", leading.id),
            });
        }
        for other in own.iter().filter(|told| told.line != leading.line) {
            if other.id != leading.id {
                found.push(Mismatch {
                    code: "C006",
                    phase: leading.id.to_owned(),
                    line: other.line + 1,
                    message: format!(
                        "Phase {} of the {} (line {}) is numbered `{}` in the {} (line {})",
                        leading.id,
                        leading.place,
                        leading.line + 1,
                        other.id,
                        other.place,
                        other.line + 1
                    ),
                    fix: format!("Write `{}` on line {} of ROADMAP.md", leading.id, other.line + 1),
                });
            }
            let other_name = name_without_tag(other.name);
            if !name.is_empty() && !other_name.is_empty() && plain_name(name) != plain_name(other_name) {
                found.push(Mismatch {
                    code: "C006",
                    phase: leading.id.to_owned(),
                    line: other.line + 1,
                    message: format!(
                        "Phase {} is called `{name}` in the {} (line {}) and `{other_name}` in the {} (line {})",
                        leading.id,
                        leading.place,
                        leading.line + 1,
                        other.place,
                        other.line + 1
                    ),
                    fix: format!(
                        "Write `{name}` on line {} of ROADMAP.md, or `{other_name}` on line {}",
                        other.line + 1,
                        leading.line + 1
                    ),
                });
            }
        }
    }
    Ok(found)
}

/// A name in lower case, without emphasis and with single blanks.
fn plain_name(name: &str) -> String {
    let bare = nfc(name).replace(['*', '`', '_'], "").replace("\\|", "|").to_lowercase();
    bare.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A problem that stops programs from reading the roadmap.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct RoadmapFinding {
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

/// Checks whether the roadmap can be read at all: it exists, is not empty, and lists phases. If phases must be named
/// after their milestone, those that are not are reported too.
pub(crate) fn validate(view: &ProjectView, config: &Config) -> ValidateReport {
    let finding = |code, message: &str| RoadmapFinding { code, message: message.to_owned() };
    let Ok(Some(roadmap)) = view.roadmap() else {
        let warnings = vec![finding("V001", "there is no ROADMAP.md that can be read")];
        return ValidateReport { warnings, mismatches: Vec::new(), problems: Vec::new() };
    };
    let text = roadmap.text();
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        return ValidateReport {
            warnings: vec![finding("V002", "ROADMAP.md is empty")],
            mismatches: Vec::new(),
            problems: Vec::new(),
        };
    }
    let mut warnings = Vec::new();
    if is_unclosed(text) {
        warnings.push(finding("V003", "the front matter of ROADMAP.md is not closed by a line `---`"));
    }
    if roadmap.sections().is_empty() && roadmap.bullets().is_empty() && roadmap.rows().is_empty() {
        let message = "ROADMAP.md has no phases: no headings, list items or table rows";
        warnings.push(finding("V004", message));
    }
    if convention(text, config).as_deref() == Some(super::upgrade::CONVENTION) {
        warnings.extend(not_prefixed(roadmap).into_iter().map(|id| RoadmapFinding {
            code: "W021",
            message: format!(
                "Phase ID \"{id}\" does not begin with the number of its milestone (M-NN), which `phase_id_convention` asks for; `{}` renames phases below headings like `## v1.0`", typed!("gsd-tools roadmap upgrade --convention {}", super::upgrade::CONVENTION)),
        }));
    }
    // A line that is not read is reported as a mismatch.
    let unseen = view.scope().ok().and_then(|scope| scope.unseen.or(scope.fewer));
    let unseen = unseen.filter(|unseen| !matches!(unseen, Unseen::Unread { .. }));
    let problems = unseen.map(|unseen| format!("{unseen}; {}", unseen.cure())).into_iter().collect();
    // Without a readable STATE.md the milestone is unknown; `state validate` reports that.
    let mismatches = mismatches(view, roadmap).unwrap_or_default();
    ValidateReport { warnings, mismatches, problems }
}

/// The convention for the identifiers of phases: from the front matter of ROADMAP.md, else from the configuration.
pub(crate) fn convention(roadmap: &str, config: &Config) -> Option<String> {
    const KEY: &str = "phase_id_convention";
    let written = FrontMatter::parse(roadmap).and_then(|front| front.text(KEY)).filter(|text| !text.is_empty());
    written.or_else(|| config.text(KEY).map(str::to_owned))
}

/// Phases below a version heading that are not named after their milestone: `3` or `2-03` instead of `1-03`.
fn not_prefixed<'text>(roadmap: &Roadmap<'text>) -> Vec<&'text str> {
    let headings = milestone_headings(roadmap);
    let versioned: Vec<(usize, u64)> = headings
        .iter()
        .filter_map(|heading| {
            let major = heading.version?.trim_start_matches('v').split('.').next()?.parse().ok()?;
            Some((heading.heading.line, major))
        })
        .collect();
    let major_of = |line: usize| versioned.iter().rev().find(|(heading, _)| *heading < line).map(|(_, major)| *major);
    let open = roadmap.sections().iter().filter(|section| !section.shipped);
    open.filter(|section| {
        let id = PhaseId::new(section.id);
        let is_called_so = |major: u64| id.as_str().contains('-') && id.integer() == Some(major);
        !id.is_sentinel() && major_of(section.heading_line).is_some_and(|major| !is_called_so(major))
    })
    .map(|section| section.id)
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::config::ConfigTexts;
    use crate::project::files::MemoryFiles;
    use crate::project::layout::Layout;

    #[test]
    fn an_unreadable_roadmap_has_a_finding_with_a_code() {
        let codes = |roadmap: Option<&str>| -> Vec<&'static str> {
            let files = MemoryFiles::new(roadmap.map(|text| (".planning/ROADMAP.md", text)));
            let view = files.view();
            validate(&view, &Config::default()).warnings.iter().map(|finding| finding.code).collect()
        };
        assert_eq!(codes(None), ["V001"]);
        assert_eq!(codes(Some("\u{feff} \r\n")), ["V002"]);
        assert_eq!(codes(Some("---\na: 1\n# R\n")), ["V003", "V004"]);
        assert_eq!(codes(Some("# R\n\ntext\n")), ["V004"]);
        for listed in ["### Phase 1: A\n", "- [ ] **Phase 1: A** - a\n", "| Phase | Name |\n|---|---|\n| 1 | A |\n"] {
            assert_eq!(codes(Some(listed)), [""; 0], "{listed}");
        }
    }

    #[test]
    fn hidden_phases_have_a_finding_with_a_fix() {
        let found = |roadmap: &str, state: &str| {
            let view = MemoryFiles::new([(".planning/ROADMAP.md", roadmap), (".planning/STATE.md", state)]).view();
            validate(&view, &Config::default()).problems
        };
        let phase = "- [x] **Phase 1: A**\n";
        let conflict = format!("<<<<<<< HEAD\n{phase}=======\n>>>>>>> other\n");
        for (roadmap, state, said) in [
            (conflict.as_str(), "# S\n", "merge conflict in line 1"),
            ("## v2.0 B\n\n- [x] **Phase 1: A**\n", "---\nmilestone: v1.0\n---\n# S\n", "none for v1.0"),
            (phase, "---\nprogress:\n  total_phases: 3\n---\n# S\n", "counts 3 phases"),
        ] {
            let messages = found(roadmap, state);
            assert!(messages.len() == 1 && messages[0].contains(said), "{roadmap}: {messages:?}");
        }
        assert_eq!(found(phase, "# S\n"), [""; 0]);
    }

    #[test]
    fn a_box_and_a_status_that_disagree_are_named_with_their_lines() {
        let found = |mark: &str, status: &str| {
            let roadmap = format!(
                "- [{mark}] **Phase 1: A**\n\n## Progress\n\n| Phase | Status |\n|---|---|\n| 1. A | {status} |\n"
            );
            let view = MemoryFiles::new([(".planning/ROADMAP.md", roadmap.as_str())]).view();
            let found = validate(&view, &Config::default()).mismatches.into_iter();
            found.filter(|found| found.code == "C008").map(|found| (found.line, found.message)).collect::<Vec<_>>()
        };
        let message = |said: &str, status: &str| {
            format!("Phase 1 is {said} in line 1, and line 7 says `{status}`; it counts as open")
        };
        assert_eq!(found("x", "Not started"), [(7, message("ticked", "Not started"))]);
        assert_eq!(found(" ", "Complete"), [(7, message("not ticked", "Complete"))]);
        for (mark, status) in [("x", "Complete"), (" ", "In Progress"), ("x", "-"), (" ", "v1.0")] {
            assert_eq!(found(mark, status), [], "{mark} {status}");
        }
    }

    #[test]
    fn a_row_of_a_folded_phase_is_not_a_mismatch() {
        let roadmap = "## Phases\n\n<details>\n<summary>✅ v1.0 MVP (Phases 1-1) - SHIPPED 2026-01-02</summary>\n\n\
            - [x] **Phase 1: A** - a\n\n</details>\n\n### 🚧 v1.1 Next (In Progress)\n\n- [ ] **Phase 2: B** - b\n\n\
            ## Phase Details\n\n### Phase 2: B\n\n**Goal**: g\n\n## Progress\n\n\
            | Phase | Milestone | Plans Complete | Status | Completed |\n|---|---|---|---|---|\n\
            | 1. A | v1.0 | 1/1 | Complete | 2026-01-02 |\n| 2. B | v1.1 | 0/TBD | Not started | - |\n";
        let found = |roadmap: &str| {
            let view = MemoryFiles::new([
                (".planning/ROADMAP.md", roadmap),
                (".planning/STATE.md", "---\nmilestone: v1.1\n---\n# S\n"),
            ])
            .view();
            validate(&view, &Config::default()).mismatches.into_iter().map(|found| found.phase).collect::<Vec<_>>()
        };
        assert_eq!(found(roadmap), [""; 0]);
        assert_eq!(found(&roadmap.replace("| 2. B", "| 3. C")), ["2", "3", "3"], "one of the milestone is missed");
    }

    #[test]
    fn phases_not_named_after_their_milestone_are_reported_if_the_convention_requires_it() {
        let roadmap = "### Phase 1: A\n## v1.0 MVP\n### Phase 1-02: B\n### Phase 3: C\n### Phase 999.1: D\n## Milestone\n### Phase 2.1: E\n";
        let told = |config: &str, roadmap: &str| -> Vec<String> {
            let (config, _) = Config::read(ConfigTexts { project: Some(config), ..ConfigTexts::default() });
            let view = ProjectView::new(
                Layout::new("/p", None, None),
                Box::new(MemoryFiles::new([(".planning/ROADMAP.md", roadmap)])),
            );
            let found = validate(&view, &config).warnings.into_iter().filter(|finding| finding.code == "W021");
            found.map(|finding| finding.message.split('"').nth(1).unwrap().to_owned()).collect()
        };
        let asked_for = r#"{"phase_id_convention": "milestone-prefixed"}"#;
        assert_eq!(told(asked_for, roadmap), ["3", "2.1"]);
        assert_eq!(told(asked_for, &roadmap.replace("v1.0 ", "")), [""; 0], "no version, no first number");
        assert_eq!(told("{}", roadmap), [""; 0]);
        let front = format!("---\nphase_id_convention: milestone-prefixed\n---\n{}", roadmap.replace("1-02", "2-02"));
        assert_eq!(
            told("{}", &front),
            ["2-02", "3", "2.1"],
            "the front matter asks as well, and the number is compared"
        );
    }
}
