//! Measures time on two clocks: a monotonic one that stops while the machine sleeps, and the wall clock.

use std::time::{Duration, Instant};

use crate::world::{Moment, World};

/// A moment on both clocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Since {
    instant: Instant,
    moment: Moment,
}

impl Since {
    pub(super) fn now(world: &World) -> Self {
        Self { instant: Instant::now(), moment: world.now() }
    }

    /// Returns the time from this moment to `now`, by the clock that shows more: time in which the machine slept
    /// counts.
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
    fn time_asleep_counts_and_setting_the_clock_back_gains_nothing() {
        let world = |now: &str| World::with([("GSD_TEST_MODE", "1"), ("GSD_NOW_MS", now)], &std::env::temp_dir());
        let before = Since::now(&world("1000000"));
        let awake = before.to(Since::now(&world("4600000")));
        assert_eq!(awake, Duration::from_secs(3600));
        let steady = Since { instant: before.instant + Duration::from_secs(5), moment: world("0").now() };
        assert_eq!(before.to(steady), Duration::from_secs(5));
    }
}
