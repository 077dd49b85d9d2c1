//! The timeline of units as bars, one row a unit, or one row a slice if there are many.

use std::fmt::Write as _;

use super::super::facts::{self, day_and_time, label, moment, number};
use super::text::escaped;
use crate::auto::account::page::{RunPage, UnitPage};
use crate::auto::account::{SessionAccount, SessionEnding};
use crate::auto::unit::Class;
use crate::text::screen::counted;
use crate::text::time;

/// With more units than this, those of a slice share a row.
const ROWS: usize = 60;
/// The height of the axis above the rows, in pixels.
const AXIS: usize = 20;
/// The width of a shortened gap, as a share of the drawing.
const GAP: f64 = 2.5;
const MINUTE: i64 = 60_000;

/// A stretch of time in which work was done, and where it is drawn, in percent.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    from: i64,
    to: i64,
    at: f64,
    width: f64,
}

/// Where moments are drawn. Long times without work are shortened.
#[derive(Debug)]
struct Scale {
    stretches: Vec<Stretch>,
}

impl Scale {
    fn of(mut spans: Vec<(i64, i64)>) -> Self {
        spans.sort_unstable();
        let worked: i64 = spans.iter().map(|(from, to)| to.saturating_sub(*from)).fold(0, i64::saturating_add);
        let limit = (worked / 12).max(5 * MINUTE);
        let mut joined: Vec<(i64, i64)> = Vec::new();
        for (from, to) in spans {
            match joined.last_mut() {
                Some(last) if from.saturating_sub(last.1) <= limit => last.1 = last.1.max(to),
                _ => joined.push((from, to)),
            }
        }
        let breaks = number(u64::try_from(joined.len().saturating_sub(1)).unwrap_or_default());
        let gap = if breaks > 0.0 { GAP.min(30.0 / breaks) } else { 0.0 };
        let all: f64 = joined.iter().map(|(from, to)| length(*from, *to)).sum::<f64>().max(1.0);
        let mut at = 0.0;
        let stretch = |(from, to)| {
            let width = (100.0 - gap * breaks) * length(from, to) / all;
            let stretch = Stretch { from, to, at, width };
            at += width + gap;
            stretch
        };
        Self { stretches: joined.into_iter().map(stretch).collect() }
    }

    /// Where a moment is, in percent.
    fn at(&self, moment: i64) -> f64 {
        match self.stretches.iter().find(|stretch| moment <= stretch.to) {
            Some(stretch) => {
                stretch.at + stretch.width * length(stretch.from, moment) / length(stretch.from, stretch.to).max(1.0)
            }
            None => 100.0,
        }
    }

    /// The moments of the axis: where they are, and their words.
    fn ticks(&self) -> Vec<(f64, String)> {
        const STEPS: [i64; 14] = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 10_080];
        let all: i64 =
            self.stretches.iter().map(|stretch| stretch.to.saturating_sub(stretch.from)).fold(0, i64::saturating_add);
        let step =
            STEPS.into_iter().map(|minutes| minutes * MINUTE).find(|step| all / step <= 8).unwrap_or(40_320 * MINUTE);
        let (mut ticks, mut last, mut day_before) = (Vec::new(), -100.0, String::new());
        for stretch in &self.stretches {
            let first = stretch.from.div_euclid(step).saturating_add(1).saturating_mul(step);
            let moments = std::iter::successors(Some(first), |moment| moment.checked_add(step));
            for moment in moments.take_while(|moment| *moment <= stretch.to).take(200) {
                let (day, clock) = day_and_time(moment);
                let at = self.at(moment);
                let is_new_day = !day_before.is_empty() && day != day_before;
                let room = if is_new_day { 11.0 } else { 7.0 };
                if at - last < room || at > 97.0 {
                    continue;
                }
                let clock = clock.get(..5).unwrap_or_default();
                ticks.push((
                    at,
                    if is_new_day { format!("{} {clock}", day.get(5..).unwrap_or_default()) } else { clock.to_owned() },
                ));
                (last, day_before) = (at, day);
            }
        }
        ticks
    }

    /// The times without work: their begin and length.
    fn gaps(&self) -> Vec<(i64, u64)> {
        let pairs = self.stretches.iter().zip(self.stretches.iter().skip(1));
        pairs
            .map(|(before, after)| (before.to, u64::try_from(after.from.saturating_sub(before.to)).unwrap_or_default()))
            .collect()
    }
}

fn length(from: i64, to: i64) -> f64 {
    number(u64::try_from(to.saturating_sub(from)).unwrap_or_default())
}

fn later(moment: i64, milliseconds: u64) -> i64 {
    moment.saturating_add(i64::try_from(milliseconds).unwrap_or(i64::MAX))
}

/// When a session ended; one that runs lasts until the last entry.
fn end_of(session: &SessionAccount, latest: i64) -> i64 {
    session.milliseconds.map_or(latest.max(session.began), |milliseconds| later(session.began, milliseconds))
}

/// Times in which a unit was worked on, by its sessions and its checks.
fn spans_of(unit: &UnitPage, latest: i64) -> Vec<(i64, i64)> {
    let account = &unit.account;
    let mut spans: Vec<(i64, i64)> =
        account.sessions.iter().map(|session| (session.began, end_of(session, latest))).collect();
    let last = spans.iter().map(|(_, to)| *to).max().unwrap_or(account.began);
    let whole = later(account.began, account.milliseconds);
    if last <= whole {
        spans.push((account.began, whole));
    } else {
        let in_sessions: u64 = account.sessions.iter().filter_map(|session| session.milliseconds).sum();
        spans.push((last, later(last, account.milliseconds.saturating_sub(in_sessions))));
    }
    spans
}

fn class_of(unit: &UnitPage) -> &'static str {
    match unit.account.unit.kind.class() {
        Class::Work => "work",
        Class::Verification => "verify",
        Class::Planning | Class::Documents => "plan",
    }
}

/// The rows: a label and its units.
fn rows(page: &RunPage) -> Vec<(String, Vec<&UnitPage>)> {
    if page.units.len() <= ROWS || page.slices.len() < 4 {
        return page.units.iter().map(|unit| (label(unit), vec![unit])).collect();
    }
    let of_slice = |id: &str| page.units.iter().filter(|unit| unit.slice == id).collect();
    page.slices.iter().map(|slice| (slice.id.clone(), of_slice(&slice.id))).collect()
}

/// The drawing with its key; empty without units.
pub(super) fn drawing(page: &RunPage) -> String {
    let latest = page.summary.latest;
    let rows = rows(page);
    let scale = Scale::of(page.units.iter().flat_map(|unit| spans_of(unit, latest)).collect());
    let is_dense = rows.len() > ROWS;
    let height = match rows.len() {
        0 => return String::new(),
        1..=40 => 20,
        41..=ROWS => 16,
        _ => 12,
    };
    let labels = facts::all(&rows, |(label, _)| format!("<li>{}</li>", escaped(label)));
    let bars: String = rows
        .iter()
        .enumerate()
        .map(|(number, (_, units))| row(units, AXIS + number * height, height, &scale, latest))
        .collect();
    let all = AXIS + rows.len() * height;
    let name = format!(
        "{} from {} to {}; the table of units has the same figures",
        counted(page.units.len(), "unit"),
        moment(page.summary.began),
        moment(latest)
    );
    let grouping = if rows.len() < page.units.len() {
        "<p class=\"soft small\">One row for the units of a slice.</p>"
    } else {
        ""
    };
    format!(
        "{grouping}<figure><div class=\"gantt{}\"><ol aria-hidden=\"true\" style=\"padding-top:{AXIS}px;line-height:{height}px\">{labels}</ol>\
         <svg role=\"img\" aria-label=\"{}\" width=\"100%\" height=\"{all}\">{}{bars}</svg></div>{}{}</figure>",
        if is_dense { " dense" } else { "" },
        escaped(&name),
        background(&scale, rows.len(), height, all),
        key(page),
        caption(&scale)
    )
}

fn background(scale: &Scale, rows: usize, height: usize, all: usize) -> String {
    let mut drawn = String::new();
    for row in (0..rows).step_by(2) {
        let _ =
            write!(drawn, "<rect class=\"s-row\" y=\"{}\" width=\"100%\" height=\"{height}\"/>", AXIS + row * height);
    }
    for (before, after) in scale.stretches.iter().zip(scale.stretches.iter().skip(1)) {
        let from = before.at + before.width;
        let width = after.at - from;
        let middle = from + width / 2.0;
        let _ = write!(
            drawn,
            "<rect class=\"s-gap\" x=\"{from:.2}%\" y=\"{AXIS}\" width=\"{width:.2}%\" height=\"{}\"/>\
             <line class=\"s-edge\" x1=\"{middle:.2}%\" x2=\"{middle:.2}%\" y1=\"4\" y2=\"{all}\"/>",
            all - AXIS
        );
    }
    for (number, (at, words)) in scale.ticks().into_iter().enumerate() {
        let alt = if number % 2 == 1 { " class=\"alt\"" } else { "" };
        let anchor = if at < 3.0 { "start" } else { "middle" };
        let _ = write!(
            drawn,
            "<line class=\"s-grid\" x1=\"{at:.2}%\" x2=\"{at:.2}%\" y1=\"16\" y2=\"{all}\"/>\
             <text{alt} x=\"{at:.2}%\" y=\"11\" text-anchor=\"{anchor}\">{words}</text>"
        );
    }
    drawn
}

fn row(units: &[&UnitPage], top: usize, height: usize, scale: &Scale, latest: i64) -> String {
    let (pad, mut drawn) = (if height > 12 { 4 } else { 2 }, String::new());
    let (y, tall) = (top + pad, height - 2 * pad);
    let mut rect = |class: &str, from: i64, to: i64, y: usize, tall: usize| {
        let at = scale.at(from);
        let width = (scale.at(to) - at).max(0.15);
        // Dashes around a narrow bar are only noise.
        let class = if width < 1.2 { class.replace("s-lost", "s-lost thin") } else { class.to_owned() };
        let _ =
            write!(drawn, "<rect class=\"{class}\" x=\"{at:.2}%\" y=\"{y}\" width=\"{width:.2}%\" height=\"{tall}\"/>");
    };
    for unit in units {
        let (class, spans) = (class_of(unit), spans_of(unit, latest));
        let end = spans.iter().map(|(_, to)| *to).max().unwrap_or(unit.account.began);
        rect("s-span", unit.account.began, end, top + height / 2, 1);
        if let Some((from, to)) = spans.last() {
            rect("s-tint", *from, *to, y, tall);
        }
        for session in &unit.account.sessions {
            let class = match session.outcome {
                SessionEnding::Counted | SessionEnding::Ended => format!("s-{class}"),
                SessionEnding::Running => format!("s-run {class}"),
                SessionEnding::Refused | SessionEnding::Asked | SessionEnding::Interrupted => format!("s-lost {class}"),
            };
            rect(&class, session.began, end_of(session, latest), y, tall);
        }
    }
    drawn
}

/// The meaning of the bars that the drawing has.
fn key(page: &RunPage) -> String {
    let has = |class: &str| page.units.iter().any(|unit| class_of(unit) == class);
    let any = |is_it: fn(SessionEnding) -> bool| {
        page.units.iter().flat_map(|unit| &unit.account.sessions).any(|session| is_it(session.outcome))
    };
    let entries = [
        (has("work"), "s-work", "session, work"),
        (has("plan"), "s-plan", "session, planning"),
        (has("verify"), "s-verify", "session, verification"),
        (any(facts::is_lost), "s-lost work", "session that did not count"),
        (any(|outcome| outcome == SessionEnding::Running), "s-run work", "session without an end"),
        (true, "s-tint", "checks and commits"),
    ];
    let entry = |(_, class, words): &(bool, &str, &str)| {
        format!(
            "<li><svg width=\"22\" height=\"12\" aria-hidden=\"true\"><rect class=\"{class}\" x=\"1\" y=\"1\" width=\"20\" height=\"10\"/></svg>{words}</li>"
        )
    };
    let entries: String = entries.iter().filter(|(is_shown, ..)| *is_shown).map(entry).collect();
    format!("<ul class=\"key\">{entries}</ul>")
}

fn caption(scale: &Scale) -> String {
    let gaps = scale.gaps();
    if gaps.is_empty() {
        return String::new();
    }
    let shown = gaps.iter().take(4).map(|(from, lasts)| format!("{} from {}", time::lasting(*lasts), moment(*from)));
    let mut shown: Vec<String> = shown.collect();
    if gaps.len() > 4 {
        shown.push(format!("and {} more", gaps.len() - 4));
    }
    format!("<figcaption>Times without work are shortened: {}.</figcaption>", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_times_without_work_are_shortened() {
        let hour = 60 * MINUTE;
        let scale = Scale::of(vec![(20 * hour, 21 * hour), (0, hour), (hour, 2 * hour)]);
        assert_eq!(scale.gaps(), [(2 * hour, 64_800_000)]);
        assert!((scale.at(hour) - 32.5).abs() < 0.01, "{}", scale.at(hour));
        assert!((scale.at(21 * hour) - 100.0).abs() < 0.01);
        assert!((scale.at(10 * hour) - scale.at(20 * hour)).abs() < 0.01);
        assert!(scale.ticks().iter().all(|(at, _)| (0.0..=100.0).contains(at)));
    }

    #[test]
    fn times_that_cannot_be_are_drawn_somewhere() {
        let scale = Scale::of(vec![(i64::MIN, i64::MAX), (5, 5)]);
        assert!(scale.ticks().len() <= 20);
        assert!(scale.at(7).is_finite());
        assert!(Scale::of(Vec::new()).ticks().is_empty());
    }
}
