//! Moments as written in documents, and how long ago they were.

/// The milliseconds since 1970 of a moment such as `2026-01-02T03:04:05.678Z`; a day without a time means its start in
/// UTC.
pub(crate) fn milliseconds(text: &str) -> Option<i64> {
    let text = text.trim();
    if let Ok(timestamp) = text.parse::<jiff::Timestamp>() {
        return Some(timestamp.as_millisecond());
    }
    let moment = match text.parse::<jiff::civil::DateTime>() {
        Ok(moment) => moment,
        Err(_) => text.parse::<jiff::civil::Date>().ok()?.at(0, 0, 0, 0),
    };
    Some(moment.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_millisecond())
}

/// A moment in milliseconds since 1970 as written in documents, in UTC.
pub(crate) fn shown(milliseconds: i64) -> Option<String> {
    Some(format!("{:.3}", jiff::Timestamp::from_millisecond(milliseconds).ok()?))
}

/// The same for people, such as `2026-01-02 03:04:05 UTC`.
pub(crate) fn in_words(milliseconds: i64) -> Option<String> {
    let moment = jiff::Timestamp::from_millisecond(milliseconds).ok()?;
    Some(moment.strftime("%Y-%m-%d %H:%M:%S UTC").to_string())
}

/// Its day for people, in UTC, such as `2 Jan 2026`.
pub(crate) fn day_in_words(milliseconds: i64) -> Option<String> {
    let moment = jiff::Timestamp::from_millisecond(milliseconds).ok()?;
    Some(moment.strftime("%-d %b %Y").to_string())
}

/// A duration in milliseconds for people, such as `8 hours ago`.
pub(crate) fn ago(milliseconds: i64) -> String {
    const MINUTE: i64 = 60;
    const HOUR: i64 = 60 * MINUTE;
    const DAY: i64 = 24 * HOUR;
    let seconds = milliseconds / 1000;
    let (count, unit) = match seconds {
        ..5 => return "just now".to_owned(),
        5..MINUTE => (seconds, "second"),
        MINUTE..HOUR => (seconds / MINUTE, "minute"),
        HOUR..DAY => (seconds / HOUR, "hour"),
        _ => match seconds / DAY {
            days @ ..30 => (days, "day"),
            days @ 30..365 => (days / 30, "month"),
            days => (days / 365, "year"),
        },
    };
    format!("{count} {unit}{} ago", if count == 1 { "" } else { "s" })
}

/// A duration in milliseconds for people, in two units at most: `45 s`, `3 min 05 s`, `2 h 10 min`, `3 d 4 h`.
pub(crate) fn lasting(milliseconds: u64) -> String {
    const MINUTE: u64 = 60;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;
    let seconds = milliseconds / 1000;
    match seconds {
        ..MINUTE => format!("{seconds} s"),
        MINUTE..HOUR => format!("{} min {:02} s", seconds / MINUTE, seconds % MINUTE),
        HOUR..DAY => format!("{} h {:02} min", seconds / HOUR, seconds % HOUR / MINUTE),
        _ => format!("{} d {} h", seconds / DAY, seconds % DAY / HOUR),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_as_documents_write_them() {
        assert_eq!(milliseconds("1970-01-02T00:00:00.5Z"), Some(86_400_500));
        assert_eq!(milliseconds("1970-01-02T02:00:00+02:00"), Some(86_400_000));
        assert_eq!(milliseconds(" 1970-01-02 "), Some(86_400_000));
        assert_eq!(milliseconds("1970-01-01T00:00:01"), Some(1000));
        assert_eq!(shown(86_400_500).as_deref(), Some("1970-01-02T00:00:00.500Z"));
        assert_eq!(in_words(86_400_500).as_deref(), Some("1970-01-02 00:00:00 UTC"));
        assert_eq!(day_in_words(86_400_500).as_deref(), Some("2 Jan 1970"));
        assert_eq!(in_words(i64::MAX), None);
        for text in ["", "yesterday", "2026-13-01", "-9999999-01-01"] {
            assert_eq!(milliseconds(text), None, "{text}");
        }
    }

    #[test]
    fn a_duration_is_shown_in_its_largest_unit() {
        let day = 86_400_000;
        let spans = [(-5, "just now"), (4_999, "just now"), (21_000, "21 seconds ago"), (119_000, "1 minute ago")];
        let days =
            [(1, "1 day ago"), (29, "29 days ago"), (59, "1 month ago"), (364, "12 months ago"), (730, "2 years ago")];
        for (milliseconds, told) in spans.into_iter().chain(days.map(|(days, told)| (days * day, told))) {
            assert_eq!(ago(milliseconds), told);
        }
        assert_eq!(ago(i64::MAX).split_once(' ').unwrap().1, "years ago");
    }

    #[test]
    fn a_length_of_time_is_shown_in_its_two_largest_units() {
        let second = 1000;
        let lengths = [(0, "0 s"), (59, "59 s"), (65, "1 min 05 s"), (3_600, "1 h 00 min"), (7_859, "2 h 10 min")];
        for (seconds, shown) in lengths.into_iter().chain([(273_600, "3 d 4 h")]) {
            assert_eq!(lasting(seconds * second), shown);
        }
    }
}
