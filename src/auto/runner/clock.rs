//! Time that passes: by the clock that stands still while the machine sleeps, and by the one on the wall.

use std::time::{Duration, Instant};

use crate::world::{Moment, World};

/// A moment by both clocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Since {
    instant: Instant,
    moment: Moment,
}

impl Since {
    pub(super) fn now(world: &World) -> Self {
        Self { instant: Instant::now(), moment: world.now() }
    }

    /// The time from then to `now`, by the clock by which it is longer: a machine that slept has used it up.
    pub(super) fn to(self, now: Self) -> Duration {
        let steady = now.instant.saturating_duration_since(self.instant);
        let wall = now.moment.milliseconds().saturating_sub(self.moment.milliseconds());
        steady.max(u64::try_from(wall).map(Duration::from_millis).unwrap_or_default())
    }

    pub(super) fn instant(self) -> Instant {
        self.instant
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_that_slept_has_used_the_time_and_a_clock_that_was_set_back_gives_none() {
        let world = |now: &str| World::with([("GSD_TEST_MODE", "1"), ("GSD_NOW_MS", now)], &std::env::temp_dir());
        let before = Since::now(&world("1000000"));
        let awake = before.to(Since::now(&world("4600000")));
        assert_eq!(awake, Duration::from_secs(3600));
        let steady = Since { instant: before.instant + Duration::from_secs(5), moment: world("0").now() };
        assert_eq!(before.to(steady), Duration::from_secs(5));
    }
}
