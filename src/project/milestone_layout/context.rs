//! `M001-CONTEXT.md` and its draft: the dependencies of a milestone, and its kind of work.

use super::lines::{bare, is_true, list, title};
use crate::text::front_matter::FrontMatter;

/// The fields of a context that the pipeline reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Context {
    /// Without the milestone's identifier.
    pub(crate) title: Option<String>,
    /// Milestones that must be complete first.
    pub(crate) depends_on: Vec<String>,
    /// The milestone changes only documents of the layout.
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
    fn the_front_matter_lists_the_dependencies_of_a_milestone() {
        let context = Context::parse(
            "---\r\ndepends_on: [M001, M003-abc123]\r\nplanning_only: true\r\n---\r\n# M004: Later\r\n",
            "M004",
        );
        assert_eq!(context.depends_on, ["M001", "M003-abc123"]);
        assert!(context.planning_only && context.title.as_deref() == Some("Later"));
        assert_eq!(Context::parse("---\ndepends_on: M001, M002\n---\n", "M004").depends_on, ["M001", "M002"]);
    }
}
