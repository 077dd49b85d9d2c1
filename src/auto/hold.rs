//! A wait of a run.

use super::event::Time;

/// A wait, for a quota for example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hold {
    pub(crate) until: i64,
    pub(crate) why: String,
    /// When it began.
    pub(crate) since: Time,
}

/// The longest wait for a quota that a client may ask for, in milliseconds: account quotas are reset each week.
pub(crate) const LONGEST_HOLD: i64 = 8 * 24 * 60 * 60 * 1000;

impl Hold {
    /// Returns when the hold is over, on each clock, so that setting the wall clock back does not extend it. The
    /// machine's clock restarts with the machine; after that it shows less than the time that has passed.
    pub(crate) fn end(&self) -> Time {
        // Older programs recorded any value of a client.
        let until = self.until.min(self.since.wall.saturating_add(LONGEST_HOLD));
        let rest = u64::try_from(until.saturating_sub(self.since.wall)).unwrap_or_default();
        Time { wall: until, machine: self.since.machine.saturating_add(rest) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hold_ends_when_the_first_clock_reaches_its_end() {
        let hour = 3_600_000;
        let since = Time { wall: 10 * hour, machine: 5_000 };
        let hold = Hold { until: 12 * hour, why: String::new(), since };
        let is_over = |wall: i64, machine: u64| Time { wall, machine }.has_come_to(hold.end());
        let two_hours = 7_200_000;
        assert!(!is_over(11 * hour, 5_000 + two_hours / 2));
        assert!(is_over(12 * hour, 6_000), "the wall clock was set forward, or the machine slept");
        assert!(is_over(9 * hour, 5_000 + two_hours), "the wall clock was set back");
        assert!(!is_over(9 * hour, 4_999 + two_hours));
        assert!(!is_over(11 * hour, 20), "the machine was restarted");
        assert!(is_over(12 * hour, 20));
        let without_end = Hold { until: i64::MAX, ..hold };
        assert_eq!(without_end.end().wall, since.wall + LONGEST_HOLD);
    }
}
