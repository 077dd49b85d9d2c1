//! The budget of a prompt for documents, and of a plan for one session.

use crate::project::milestone_layout::preferences::InlineLevel;

/// The most bytes of a prompt below [`InlineLevel::Full`], if the documents that are always in it leave room.
pub(crate) const PROMPT_BYTES: usize = 12 * 1024;

/// The context window that is assumed if it is unknown, in tokens.
pub(crate) const DEFAULT_WINDOW: usize = 200_000;

/// Documents with more characters than this are read by sections.
pub(crate) const LARGE_DOCUMENT: usize = 30_000;

/// The characters that count as one token.
const CHARACTERS_A_TOKEN: usize = 4;

/// From this window size on, this many tasks per slice.
const CEILINGS: [(usize, usize); 3] = [(500_000, 8), (200_000, 6), (128_000, 5)];
const LOWEST_CEILING: usize = 3;

/// The shares of a window, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Budget {
    /// All documents together.
    pub(crate) inline: usize,
    /// Summaries of slices.
    pub(crate) summaries: usize,
    /// Summaries of earlier tasks of the same slice.
    pub(crate) carried: usize,
    /// The failure of the previous attempt.
    pub(crate) verification: usize,
}

impl Budget {
    /// Returns the shares for a prompt whose text without documents has `fixed` bytes.
    pub(crate) fn of(level: InlineLevel, window: usize, fixed: usize) -> Self {
        let characters = window.saturating_mul(CHARACTERS_A_TOKEN);
        let room = match level {
            InlineLevel::Minimal | InlineLevel::Paths => PROMPT_BYTES.saturating_sub(fixed),
            InlineLevel::Full => usize::MAX,
        };
        let inline = share(characters, 40).min(room);
        Self {
            inline,
            summaries: share(characters, 15).min(inline / 2),
            carried: share(inline, 40),
            verification: share(characters, 10),
        }
    }
}

/// Returns the most tasks that a slice may be planned with.
pub(crate) fn task_ceiling(window: usize) -> usize {
    CEILINGS.iter().find(|(from, _)| window >= *from).map_or(LOWEST_CEILING, |(_, tasks)| *tasks)
}

fn share(whole: usize, percent: usize) -> usize {
    whole / 100 * percent + whole % 100 * percent / 100
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_follow_the_window() {
        let full = Budget::of(InlineLevel::Full, DEFAULT_WINDOW, 5_000);
        assert_eq!(full, Budget { inline: 320_000, summaries: 120_000, carried: 128_000, verification: 80_000 });
        let small = Budget::of(InlineLevel::Full, 1_000, 5_000);
        assert_eq!(small, Budget { inline: 1_600, summaries: 600, carried: 640, verification: 400 });
        let paths = Budget::of(InlineLevel::Paths, DEFAULT_WINDOW, 5_288);
        assert_eq!((paths.inline, paths.summaries, paths.carried), (7_000, 3_500, 2_800));
        assert_eq!(Budget::of(InlineLevel::Paths, DEFAULT_WINDOW, 20_000).inline, 0);
        assert_eq!(Budget::of(InlineLevel::Full, usize::MAX, 0).inline, share(usize::MAX, 40));
    }

    #[test]
    fn the_ceiling_of_tasks_follows_the_window() {
        let ceilings = [0, 127_999, 128_000, 199_999, 200_000, 499_999, 500_000, usize::MAX].map(task_ceiling);
        assert_eq!(ceilings, [3, 3, 5, 5, 6, 6, 8, 8]);
    }
}
