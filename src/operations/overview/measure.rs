//! The progress of a milestone: the same bar, percentage and counts in all views for people.

use crate::project::figures::MilestoneCounts;
use crate::project::milestone::MilestoneScope;
use crate::text::screen::{Mark, Screen, Tone, width_of};

/// The width of the progress bar.
const BAR: u64 = 20;
pub(super) const BESIDE: usize = 54;

/// The mark before a phase, the same in every view: done if it is closed, current if it is the current phase or has a
/// summary.
pub(crate) fn mark(is_closed: bool, is_current: bool, has_begun: bool) -> Mark {
    match () {
        () if is_closed => Mark::Done,
        () if is_current || has_begun => Mark::Current,
        () => Mark::Open,
    }
}

/// The progress of a milestone, as all views for people show it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measure<'a> {
    /// Whether it is clear which phases the milestone has.
    pub(crate) is_known: bool,
    pub(crate) scope: MilestoneScope,
    pub(crate) counts: MilestoneCounts,
    /// What may hide phases, with the fix.
    pub(crate) problems: &'a [String],
}

impl Measure<'_> {
    /// The bar, the percentage and the counts. If it is unknown which phases belong to the milestone, there is no bar
    /// either, and the next line says why and how to get one.
    pub(crate) fn shown(self, screen: Screen) -> String {
        let counts = self.counts.closed();
        let MilestoneCounts { completed_plans, total_plans, completed_phases, total_phases, .. } = counts;
        let share = |done: u64, all: u64, noun: &str| format!("{done}/{all} {noun}{}", if all == 1 { "" } else { "s" });
        let shares = [share(completed_plans, total_plans, "plan"), share(completed_phases, total_phases, "phase")];
        let shares = shares.join(screen.between());
        if self.is_known {
            let bar = screen.bar(counts.percent(), 100, BAR);
            let percent = format!("{}%", counts.percent());
            let gap = gap(screen, "  ", 1 + width_of(&percent), &shares);
            return format!("{bar} {percent}{gap}{}\n", screen.paint(Tone::Faint, &shares));
        }
        if total_plans == 0 && total_phases == 0 {
            return screen.paint(Tone::Faint, "no phases yet") + "\n";
        }
        let why = screen.prose("No percentage: ", "  ", self.why_none());
        format!("{shares}\n{}", screen.paint_lines(Tone::Faint, &why))
    }

    fn why_none(&self) -> &str {
        match (self.problems, self.scope) {
            ([problem, ..], _) => problem,
            ([], MilestoneScope::Unreadable) => "there is no ROADMAP.md",
            ([], _) => "STATE.md has no milestone; `gsd-tools state milestone-switch --milestone v1.0` sets one",
        }
    }
}

/// The separator between the bar with its text and the counts: a line break if they do not fit on one line.
fn gap(screen: Screen, space: &'static str, after_bar: usize, counts: &str) -> &'static str {
    let bar = usize::try_from(BAR).unwrap_or_default();
    if bar + after_bar + space.len() + width_of(counts) > screen.width { "\n" } else { space }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCREEN: Screen = Screen { width: 80, color: false, signs: true };
    const COUNTS: MilestoneCounts = MilestoneCounts {
        completed_plans: 3,
        total_plans: 5,
        completed_phases: 1,
        total_phases: 5,
        unclosed_phases: 0,
    };

    #[test]
    fn a_percentage_is_shown_with_its_counts() {
        let measure = Measure { is_known: true, scope: MilestoneScope::Complete, counts: COUNTS, problems: &[] };
        assert_eq!(measure.shown(SCREEN), "████░░░░░░░░░░░░░░░░ 20%  3/5 plans · 1/5 phases\n");
        let ascii = Screen { signs: false, ..SCREEN };
        assert_eq!(measure.shown(ascii), "####................ 20%  3/5 plans, 1/5 phases\n");
    }

    #[test]
    fn without_a_percentage_the_reason_and_the_cure_are_shown_and_no_bar() {
        let problem = ["`ROADMAP.md` has no heading for v2; add `## v2` above its phases".to_owned()];
        let told = |scope, problems| Measure { is_known: false, scope, counts: COUNTS, problems }.shown(SCREEN);
        let page = told(MilestoneScope::Unscoped, &problem);
        assert!(page.starts_with("3/5 plans · 1/5 phases\nNo percentage: `ROADMAP.md` has no heading"), "{page}");
        assert!(!page.contains('░'), "{page}");
        assert!(told(MilestoneScope::Unscoped, &[]).contains("gsd-tools state milestone-switch"));
        assert!(told(MilestoneScope::Unreadable, &[]).contains("there is no ROADMAP.md"));
    }
}
