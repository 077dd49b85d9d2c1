//! Figures of a run in words.

use super::Totals;
use crate::auto::expected::{Estimate, Spread};
use crate::text::screen::counted;
use crate::text::time;

/// Tokens, such as `850`, `20.6k` or `1.2M`.
pub(crate) fn tokens(count: u64) -> String {
    let part = |unit: u64| format!("{}.{}", count / unit, count % unit * 10 / unit);
    match count {
        ..1_000 => count.to_string(),
        1_000..1_000_000 => part(1_000) + "k",
        _ => part(1_000_000) + "M",
    }
}

/// US dollars, such as `$0.07`; a small amount has as many digits as it needs to be seen.
pub(crate) fn dollars(usd: f64) -> String {
    if usd > 0.0 && usd < 0.01 { format!("${usd:.4}") } else { format!("${usd:.2}") }
}

/// What was spent: `7 sessions, 20.6k tokens, $0.07, 3 min 05 s`.
pub(crate) fn spent(totals: &Totals) -> String {
    let mut parts = vec![counted(totals.sessions, "session"), format!("{} tokens", tokens(totals.tokens))];
    parts.extend(totals.usd.map(dollars));
    parts.push(time::lasting(totals.milliseconds));
    parts.join(", ")
}

/// A count of a spread, whose values are never negative.
pub(crate) fn whole(value: f64) -> u64 {
    let rounded = value.round();
    // No forecast comes near the largest number that is exact.
    if rounded.is_finite() && rounded > 0.0 { format!("{rounded:.0}").parse().unwrap_or(u64::MAX) } else { 0 }
}

/// A spread with the word for each value: `25 min 00 s (18 min 10 s to 34 min 00 s)`.
pub(crate) fn spread(spread: &Spread, shown: impl Fn(f64) -> String) -> String {
    let (low, likely, high) = (shown(spread.low), shown(spread.likely), shown(spread.high));
    if low == high { likely } else { format!("{likely} ({low} to {high})") }
}

/// The rows of an estimate: what, and the spread in words.
pub(crate) fn rows(estimate: &Estimate) -> Vec<(&'static str, String)> {
    let count = |value: f64| whole(value).to_string();
    let mut rows = vec![
        ("sessions", spread(&estimate.sessions, count)),
        ("time", spread(&estimate.milliseconds, |value| time::lasting(whole(value)))),
        ("tokens", spread(&estimate.tokens, |value| tokens(whole(value)))),
    ];
    rows.extend(estimate.usd.as_ref().map(|usd| ("money", spread(usd, dollars))));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short() {
        assert_eq!([0, 999, 1_000, 20_580, 1_250_000].map(tokens), ["0", "999", "1.0k", "20.5k", "1.2M"]);
        assert_eq!([0.0, 0.0042, 0.07, 12.5].map(dollars), ["$0.00", "$0.0042", "$0.07", "$12.50"]);
        let totals = Totals { units: 2, sessions: 1, tokens: 1_100, usd: None, milliseconds: 65_000 };
        assert_eq!(spent(&totals), "1 session, 1.1k tokens, 1 min 05 s");
        let between = Spread { low: 1.0, likely: 2.2, high: 3.6 };
        assert_eq!(spread(&between, |value| whole(value).to_string()), "2 (1 to 4)");
        assert_eq!([f64::NAN, -1.0, f64::INFINITY].map(whole), [0, 0, 0]);
    }
}
