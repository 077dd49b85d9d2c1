//! `M001-CONTEXT.md` and its draft: what a milestone waits for, and what kind of work it is.

use super::lines::{bare, is_true, list, title};
use crate::text::front_matter::FrontMatter;

/// What the pipeline reads of a context.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Context {
    /// Without the milestone's identifier.
    pub(crate) title: Option<String>,
    /// Milestones that have to be complete before.
    pub(crate) depends_on: Vec<String>,
    /// The milestone changes documents of the layout alone.
    pub(crate) planning_only: bool,
}

impl Context {
    pub(crate) fn parse(text: &str, milestone: &str) -> Self {
        let own = bare(text);
        let front = FrontMatter::parse(own);
        let front = front.as_ref();
        let depends_on = list(front, "depends_on").iter().flat_map(|ids| super::lines::expanded(ids, 'M')).collect();
        Self {
            title: title(own, milestone).or_else(|| title(own, super::ids::without_team(milestone))),
            depends_on,
            planning_only: is_true(front, "planning_only"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_front_matter_says_what_a_milestone_waits_for() {
        let context = Context::parse(
            "---\r\ndepends_on: [M001, M003-abc123]\r\nplanning_only: true\r\n---\r\n# M004: Later\r\n",
            "M004",
        );
        assert_eq!(context.depends_on, ["M001", "M003-abc123"]);
        assert!(context.planning_only && context.title.as_deref() == Some("Later"));
        assert_eq!(Context::parse("---\ndepends_on: M001, M002\n---\n", "M004").depends_on, ["M001", "M002"]);
    }
}
