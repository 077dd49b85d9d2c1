//! Tables with bars: forecast, sessions by kind, cost, and checks.

use super::super::facts::{self, ForecastFigure};
use super::text::{code, escaped};
use super::{folded, signed};
use crate::auto::account::figures;
use crate::auto::account::page::{RunPage, UnitPage};
use crate::auto::account::{CheckAccount, Totals};
use crate::text::time;

/// A column: its name, and the class of its cells.
type Column = (&'static str, &'static str);

/// A table that narrow screens show as stacked rows. Its roles stay what they are in that form too. `rows` are a header
/// of the row and its cells, as markup.
fn table(caption: &str, first: &str, columns: &[Column], rows: &[(String, Vec<String>)]) -> String {
    let heads = facts::all(columns, |(name, class)| {
        format!("<th role=\"columnheader\" scope=\"col\" class=\"{class}\">{name}</th>")
    });
    let row = |(head, cells): &(String, Vec<String>)| {
        let cells = columns.iter().zip(cells);
        let cells = cells
            .map(|((name, class), cell)| format!("<td role=\"cell\" class=\"{class}\" data-l=\"{name}\">{cell}</td>"));
        format!("<tr role=\"row\"><th role=\"rowheader\" scope=\"row\">{head}</th>{}</tr>\n", cells.collect::<String>())
    };
    format!(
        "<table role=\"table\" class=\"stack gap{}\"><caption>{caption}</caption><thead role=\"rowgroup\"><tr role=\"row\">\
         <th role=\"columnheader\" scope=\"col\">{first}</th>{heads}</tr></thead><tbody role=\"rowgroup\">\n{}</tbody></table>\n",
        if columns.iter().any(|(_, class)| *class == "draw") { " draws" } else { "" },
        rows.iter().map(row).collect::<String>()
    )
}

/// The forecast quantities, each with a drawing of its range.
pub(super) fn measured(page: &RunPage) -> String {
    let measured = facts::measured(page);
    if measured.is_empty() {
        return String::new();
    }
    let is_over = facts::is_over(page);
    let row = |row: &ForecastFigure| {
        let place = row.place(is_over);
        let light = if place == "above the range" { "warn" } else { "soft" };
        let spread = [row.spread.low, row.spread.likely, row.spread.high].map(|value| row.words(value));
        let mut cells = spread.to_vec();
        cells.push(format!("<b>{}</b>", row.actual_words()));
        cells.push(format!("<span class=\"{light}\">{place}</span>"));
        cells.push(range(row));
        (row.what.to_owned(), cells)
    };
    let rows: Vec<_> = measured.iter().map(row).collect();
    let columns =
        [("Low", "n"), ("Likely", "n"), ("High", "n"), ("Actual", "n"), ("Result", "nw"), ("Range and actual", "draw")];
    table("Bar: low to high. Line: likely. Diamond: actual.", "Quantity", &columns, &rows)
}

/// A range, its likely value, and the actual value.
fn range(row: &ForecastFigure) -> String {
    let spread = row.spread;
    let most = row.actual.unwrap_or_default().max(spread.high).max(f64::MIN_POSITIVE) * 1.06;
    let at = |value: f64| (value / most * 100.0).clamp(0.0, 100.0);
    let (low, likely, high) = (at(spread.low), at(spread.likely), at(spread.high));
    let mark = row.actual.map(at).map(|actual| {
        format!(
            "<svg x=\"{actual:.2}%\" overflow=\"visible\"><path class=\"s-mark\" d=\"M0 2l6 7l-6 7l-6 -7z\"/></svg>"
        )
    });
    format!(
        "<svg aria-hidden=\"true\" width=\"100%\" height=\"18\"><rect class=\"s-track\" y=\"8\" width=\"100%\" height=\"2\"/>\
         <rect class=\"s-band\" x=\"{low:.2}%\" y=\"4\" width=\"{:.2}%\" height=\"10\"/>\
         <rect class=\"s-likely\" x=\"{likely:.2}%\" y=\"2\" width=\"2\" height=\"14\"/>{}</svg>",
        (high - low).max(0.5),
        mark.unwrap_or_default()
    )
}

/// Sessions by kind of unit, forecast and actual.
pub(super) fn kinds(page: &RunPage) -> String {
    if page.kinds.is_empty() {
        return String::new();
    }
    let count = |count: usize| facts::number(u64::try_from(count).unwrap_or_default());
    let most = page.kinds.iter().map(|row| row.totals.sessions.max(row.forecast.unwrap_or_default())).max();
    let most = count(most.unwrap_or_default()).max(1.0);
    let row = |row: &crate::auto::account::page::KindRow| {
        let forecast = row.forecast.map_or("\u{2013}".to_owned(), |forecast| forecast.to_string());
        let at = |value: usize| count(value) / most * 100.0;
        let line = row.forecast.map(|forecast| {
            format!("<svg x=\"{:.2}%\" overflow=\"visible\"><rect class=\"s-mark\" x=\"-2\" y=\"1\" width=\"4\" height=\"14\"/></svg>", at(forecast))
        });
        let drawn = format!(
            "<svg aria-hidden=\"true\" width=\"100%\" height=\"16\"><rect class=\"s-track\" y=\"4\" width=\"100%\" height=\"8\"/>\
             <rect class=\"s-work\" y=\"4\" width=\"{:.2}%\" height=\"8\"/>{}</svg>",
            at(row.totals.sessions),
            line.unwrap_or_default()
        );
        (row.kind.word().to_owned(), vec![forecast, format!("<b>{}</b>", row.totals.sessions), drawn])
    };
    let rows: Vec<_> = page.kinds.iter().map(row).collect();
    let columns = [("Forecast", "n"), ("Actual", "n"), ("Actual and forecast", "draw")];
    table("Sessions by kind of unit. Bar: actual. Line: forecast.", "Kind", &columns, &rows)
}

/// Cost by slice and by unit.
pub(super) fn cost(page: &RunPage) -> String {
    if page.units.is_empty() {
        return String::new();
    }
    let note = if page.summary.totals.usd.is_none() {
        format!("<p class=\"soft small\">Money: {}.</p>\n", facts::NO_MONEY)
    } else {
        String::new()
    };
    note + &slices(page) + &units(page)
}

/// What a slice or a unit took, as cells; the last one is its share.
fn took(totals: &Totals, share: f64) -> Vec<String> {
    let bar = format!("<div class=\"bar\"><i><i style=\"width:{share:.1}%\"></i></i><span>{share:.1} %</span></div>");
    let (tokens, money) = (figures::tokens(totals.tokens), facts::money_cell(totals.usd));
    vec![totals.sessions.to_string(), tokens, money, time::lasting(totals.milliseconds), bar]
}

fn columns(counted: Column, share: &'static str) -> [Column; 6] {
    [counted, ("Sessions", "n"), ("Tokens", "n"), ("Money", "n"), ("Time", "n"), (share, "share")]
}

fn slices(page: &RunPage) -> String {
    let parts: Vec<Totals> = page.slices.iter().map(|slice| slice.totals).collect();
    let (share, shares) = facts::shares(&page.summary.totals, &parts);
    let row = |(slice, share): (&crate::auto::account::page::SliceAccount, f64)| {
        let title = slice
            .title
            .as_ref()
            .map(|title| format!(" <span class=\"t\">{}</span>", escaped(&facts::short_title(title))));
        let mut cells = vec![slice.totals.units.to_string()];
        cells.extend(took(&slice.totals, share));
        (escaped(&slice.id) + &title.unwrap_or_default(), cells)
    };
    let rows: Vec<_> = page.slices.iter().zip(shares).map(row).collect();
    let first = facts::part_word(page);
    table(&format!("By {}", first.to_lowercase()), first, &columns(("Units", "n"), share), &rows)
}

fn units(page: &RunPage) -> String {
    let parts: Vec<Totals> = page.units.iter().map(|unit| unit.account.totals()).collect();
    let (share, shares) = facts::shares(&page.summary.totals, &parts);
    let row = |(number, (unit, share)): (usize, (&UnitPage, f64))| {
        let mut cells = vec![facts::moment(unit.account.began).get(5..16).unwrap_or_default().to_owned()];
        cells.extend(took(&unit.account.totals(), share));
        (unit_link(number, unit), cells)
    };
    let rows: Vec<_> = page.units.iter().zip(shares).enumerate().map(row).collect();
    table("By unit, in the order in which they began", "Unit", &columns(("Began", "n"), share), &rows)
}

/// The name of a unit as a link to its details, with its title.
fn unit_link(number: usize, unit: &UnitPage) -> String {
    let title =
        unit.title.as_ref().map(|title| format!(" <span class=\"t\">{}</span>", escaped(&facts::short_title(title))));
    format!("<a href=\"#u{}\">{}</a>{}", number + 1, escaped(&facts::label(unit)), title.unwrap_or_default())
}

/// The checks of the commit or candidate, the held-out checks, and those of each unit.
pub(super) fn evidence(page: &RunPage) -> String {
    let mut body = String::new();
    if !page.checks.is_empty() {
        body += &checks(facts::checks_of(page), &page.checks);
    }
    if !page.held_out.is_empty() {
        let row = |run: &crate::auto::account::page::HeldOutAccount| {
            (escaped(&run.place), vec![signed(facts::held_out(run.passed)), time::lasting(run.milliseconds)])
        };
        let rows: Vec<_> = page.held_out.iter().map(row).collect();
        body += &table("Held-out check, which no session can read", "Place", &[("Result", "nw"), ("Time", "n")], &rows);
    }
    let row = |(number, unit): (usize, &UnitPage)| {
        let checks = &unit.account.checks;
        let time: u64 = checks.iter().map(|check| check.milliseconds).fold(0, u64::saturating_add);
        (unit_link(number, unit), vec![signed(all_of(checks)), time::lasting(time)])
    };
    let checked = page.units.iter().enumerate().filter(|(_, unit)| !unit.account.checks.is_empty());
    let rows: Vec<_> = checked.map(row).collect();
    if !rows.is_empty() {
        let of_units = table("Last run of the checks of each unit", "Unit", &[("Result", "nw"), ("Time", "n")], &rows);
        body += &folded(rows.len(), "unit with checks", of_units);
    }
    body
}

/// The results of several checks as one.
fn all_of(checks: &[CheckAccount]) -> (facts::Light, &'static str, &str) {
    if checks.iter().any(|check| !check.passed) {
        (facts::Light::Bad, "\u{2717}", "failed")
    } else if checks.iter().any(|check| check.exit_code != 0) {
        (facts::Light::Warning, "!", "passed, with an excused failure")
    } else {
        (facts::Light::Good, "\u{2713}", "passed")
    }
}

/// Checks with their exit codes and times.
pub(super) fn checks(caption: &str, checks: &[CheckAccount]) -> String {
    let row = |check: &CheckAccount| {
        let cells = vec![signed(facts::check(check)), check.exit_code.to_string(), time::lasting(check.milliseconds)];
        (code(&check.command), cells)
    };
    let rows: Vec<_> = checks.iter().map(row).collect();
    table(caption, "Check", &[("Result", "nw"), ("Exit code", "n"), ("Time", "n")], &rows)
}
