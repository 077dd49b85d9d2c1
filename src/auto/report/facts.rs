//! What a report says, in words: states, figures, forecasts, outcomes and commands.

use std::fmt::Write as _;

use crate::auto::account::page::{RunPage, UnitPage};
use crate::auto::account::summary::{ChangedLines, LandingSummary};
use crate::auto::account::{CheckAccount, SessionAccount, SessionEnding, Totals, figures};
use crate::auto::expected::Spread;
use crate::auto::unit::UnitKind;
use crate::text::screen::counted;
use crate::text::shell::typed;
use crate::text::time;

/// What the money is if the client reports none.
pub(super) const NO_MONEY: &str = "not reported by the client";
/// What a forecast is if there was none.
pub(super) const NO_ESTIMATE: &str = "no earlier runs";

/// How good or bad a fact is for the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Light {
    Good,
    Calm,
    Warning,
    Bad,
}

/// The state of a run for its headline.
#[derive(Debug)]
pub(super) struct Headline {
    pub(super) light: Light,
    pub(super) sign: &'static str,
    pub(super) word: &'static str,
    /// Why, in a sentence that may be from a document; empty for a landing.
    pub(super) text: String,
}

/// A figure of the row below the headline.
#[derive(Debug)]
pub(super) struct Figure {
    pub(super) label: &'static str,
    pub(super) value: String,
    pub(super) note: String,
}

/// A quantity that was forecast, and what it became.
#[derive(Debug)]
pub(super) struct ForecastFigure {
    pub(super) what: &'static str,
    pub(super) spread: Spread,
    pub(super) actual: Option<f64>,
    shown: fn(f64) -> String,
}

impl ForecastFigure {
    /// A value of this quantity in words.
    pub(super) fn words(&self, value: f64) -> String {
        (self.shown)(value)
    }

    /// The actual value in words.
    pub(super) fn actual_words(&self) -> String {
        self.actual.map_or_else(|| NO_MONEY.to_owned(), self.shown)
    }

    /// Where the actual value is.
    pub(super) fn place(&self, is_over: bool) -> &'static str {
        match self.actual {
            None => "",
            Some(actual) if actual > self.spread.high => "above the range",
            Some(_) if !is_over => "so far",
            Some(actual) if self.spread.has(actual) => "within the range",
            Some(_) => "below the range",
        }
    }
}

/// The title of the page: the milestone and its name.
pub(super) fn title(page: &RunPage) -> String {
    let title = page.summary.title.as_ref().map(|title| format!(" {}", short_title(title))).unwrap_or_default();
    format!("{}{title}", page.summary.milestone)
}

/// The state of a run.
pub(super) fn headline(page: &RunPage) -> Headline {
    let stopped = page.stop.as_ref().map(|stop| stop.text.clone()).unwrap_or_default();
    let (light, sign, word, text) = match page.state {
        "landed" => (Light::Good, "\u{2713}", "Landed", String::new()),
        "running" => (Light::Calm, "\u{25cf}", "Running", format!("last entry at {}", moment(page.summary.latest))),
        "proposed" => (Light::Calm, "\u{25cf}", "Proposed", "its checks passed, and it waits to be merged".to_owned()),
        "waiting" => (Light::Warning, "\u{2016}", "Waiting", waiting(page)),
        "interrupted" => {
            (Light::Warning, "!", "Interrupted", "No process works on it. It continues where it was.".to_owned())
        }
        "abandoned" => (Light::Calm, "\u{d7}", "Abandoned", stopped),
        _ => match page.stop.as_ref().map_or(0, |stop| stop.cause.code()) {
            0 => (Light::Calm, "\u{25a0}", "Stopped", stopped),
            1 | 12 => (Light::Bad, "\u{2717}", "Stopped", stopped),
            _ => (Light::Warning, "\u{25a0}", "Stopped", stopped),
        },
    };
    Headline { light, sign, word, text }
}

/// What a run waits for: the log says it in its last line about a wait.
fn waiting(page: &RunPage) -> String {
    let last = page.timeline.iter().rev().find_map(|moment| moment.text.strip_prefix("Waiting"));
    last.map(|text| text.trim_start_matches([':', ' ']).to_owned()).unwrap_or_default()
}

/// The command to type next, with the word for it; `None` if the run is over.
pub(super) fn next(page: &RunPage) -> Option<(&'static str, String)> {
    let stop = page.stop.as_ref().map(|stop| stop.next.to_string()).filter(|next| !next.is_empty());
    match page.state {
        "landed" | "abandoned" | "proposed" => None,
        "running" | "waiting" => Some(("Watch", "gsd-tools auto watch".to_owned())),
        _ => Some(("Next", stop.unwrap_or_else(|| "gsd-tools auto run".to_owned()))),
    }
}

/// True if nothing will be added to what the run took.
pub(super) fn is_over(page: &RunPage) -> bool {
    matches!(page.state, "landed" | "abandoned")
}

/// The row of figures.
pub(super) fn figures_of(page: &RunPage) -> Vec<Figure> {
    let (summary, totals) = (&page.summary, &page.summary.totals);
    let mut sessions = format!("{} forecast", summary.forecast);
    if summary.lost_sessions > 0 {
        let _ = write!(sessions, ", {} did not count", summary.lost_sessions);
    }
    let elapsed = u64::try_from(summary.latest.saturating_sub(summary.began)).unwrap_or_default();
    let money = match totals.usd {
        Some(usd) => (figures::dollars(usd), "as the client reported it".to_owned()),
        None => ("\u{2013}".to_owned(), NO_MONEY.to_owned()),
    };
    let waits = if summary.waited == 0 { "no waits" } else { "for a quota, for example" };
    let figures = [
        ("Sessions", totals.sessions.to_string(), sessions),
        ("Tokens", figures::tokens(totals.tokens), "output and uncached input".to_owned()),
        ("Money", money.0, money.1),
        ("Working time", time::lasting(totals.milliseconds), format!("{} from start to end", time::lasting(elapsed))),
        ("Waited", time::lasting(summary.waited), waits.to_owned()),
    ];
    figures.into_iter().map(|(label, value, note)| Figure { label, value, note }).collect()
}

/// A fact with its value; true if the value is code.
pub(super) type ReportFact = (&'static str, String, bool);

/// Facts of a run: who worked, where, and when.
pub(super) fn facts(page: &RunPage) -> Vec<ReportFact> {
    let summary = &page.summary;
    let ended = if is_over(page) || page.state == "stopped" { "Ended" } else { "Last entry" };
    let version = page.client_version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
    let closed =
        [(summary.closed.tasks, "task"), (summary.closed.phases, "phase"), (summary.closed.others, "other unit")];
    let closed: Vec<String> =
        closed.iter().filter(|(count, _)| *count > 0).map(|(count, what)| counted(*count, what)).collect();
    let mut facts = vec![
        ("Began", format!("{}, as all times here in UTC", moment(summary.began)), false),
        (ended, moment(summary.latest), false),
        ("Client", format!("{}{version}", page.client), false),
    ];
    facts.extend(page.model.clone().map(|model| ("Model", model, false)));
    facts.push(("Profile", page.profile.clone(), false));
    let fence = if page.fenced {
        "on: sessions and checks wrote in the worktree only"
    } else {
        "off: they could write anywhere"
    };
    facts.push(("Fence", fence.to_owned(), false));
    facts.push(("Done", if closed.is_empty() { "no unit".to_owned() } else { closed.join(", ") }, false));
    facts.push(("Run", summary.run.clone(), true));
    facts.push(("Branch", summary.branch.clone(), true));
    if page.state != "landed" {
        facts.push(("Worktree", summary.worktree.clone(), true));
    }
    facts
}

/// The forecast quantities; empty if there was no estimate.
pub(super) fn measured(page: &RunPage) -> Vec<ForecastFigure> {
    let Some(estimate) = &page.summary.estimate else { return Vec::new() };
    let totals = &page.summary.totals;
    let sessions = u64::try_from(totals.sessions).unwrap_or(u64::MAX);
    let row = |what, spread, actual, shown| ForecastFigure { what, spread, actual, shown };
    let mut rows = vec![
        row("Sessions", estimate.sessions, Some(number(sessions)), |value| figures::whole(value).to_string()),
        row("Tokens", estimate.tokens, Some(number(totals.tokens)), |value| figures::tokens(figures::whole(value))),
        row("Working time", estimate.milliseconds, Some(number(totals.milliseconds)), |value| {
            time::lasting(figures::whole(value))
        }),
    ];
    rows.extend(estimate.usd.map(|spread| row("Money", spread, totals.usd, figures::dollars)));
    rows
}

/// Where the forecast is from.
pub(super) fn forecast_source(page: &RunPage) -> String {
    match &page.summary.estimate {
        Some(estimate) => format!(
            "Made when the run began, from {} with this client. The range is the middle nine tenths of what was likely.",
            counted(estimate.runs, "earlier run")
        ),
        None => format!("No forecast of time and cost: there were {NO_ESTIMATE} with this client."),
    }
}

/// A moment for people, without its time zone.
pub(super) fn moment(milliseconds: i64) -> String {
    let words = time::in_words(milliseconds).unwrap_or_else(|| "unknown".to_owned());
    words.strip_suffix(" UTC").map(str::to_owned).unwrap_or(words)
}

/// The day and the time of a moment.
pub(super) fn day_and_time(milliseconds: i64) -> (String, String) {
    let words = moment(milliseconds);
    words.split_once(' ').map(|(day, time)| (day.to_owned(), time.to_owned())).unwrap_or((words, String::new()))
}

/// The same for a cell of a table.
pub(super) fn money_cell(usd: Option<f64>) -> String {
    usd.map_or_else(|| "\u{2013}".to_owned(), figures::dollars)
}

/// The first digits of a commit.
pub(super) fn short(commit: &str) -> &str {
    commit.get(..8).unwrap_or(commit)
}

/// `5 files, +120 −14`.
pub(super) fn changed(changes: ChangedLines) -> String {
    let files = counted(usize::try_from(changes.files).unwrap_or(usize::MAX), "file");
    format!("{files}, +{} \u{2212}{}", changes.insertions, changes.deletions)
}

/// What shares of a run are measured in, and the share of each of its parts: money if it was reported, else tokens.
pub(super) fn shares(of_all: &Totals, parts: &[Totals]) -> (&'static str, Vec<f64>) {
    let of_money = of_all.usd.is_some_and(|usd| usd > 0.0);
    let value = |part: &Totals| if of_money { part.usd.unwrap_or_default() } else { number(part.tokens) };
    let all = parts.iter().map(value).sum::<f64>();
    let share = |part| if all > 0.0 { value(part) / all * 100.0 } else { 0.0 };
    (if of_money { "Share of money" } else { "Share of tokens" }, parts.iter().map(share).collect())
}

/// A unit without its milestone, such as `S01/T02`, `S01 plan` or `milestone plan`.
pub(super) fn label(unit: &UnitPage) -> String {
    let unit = &unit.account.unit;
    let word = unit.kind.word();
    let verb = word.strip_prefix("run-").or_else(|| word.split('-').next()).unwrap_or(word);
    if unit.kind.is_of_phases() {
        return format!("{} {verb}", unit.id);
    }
    match unit.parts() {
        (_, Some(slice), Some(task)) if unit.kind == UnitKind::ExecuteTask => format!("{slice}/{task}"),
        (_, Some(slice), Some(task)) => format!("{slice}/{task} {verb}"),
        (_, Some(slice), None) => format!("{slice} {verb}"),
        (_, None, _) => format!("milestone {verb}"),
    }
}

/// Whether a unit is done, in words.
pub(super) fn unit_state(page: &RunPage, unit: &UnitPage) -> (Light, &'static str, &'static str) {
    if unit.account.commit.is_some() {
        return (Light::Good, "\u{2713}", "committed");
    }
    match unit.account.sessions.last().map(|session| session.outcome) {
        Some(SessionEnding::Running) if matches!(page.state, "running" | "waiting") => {
            (Light::Calm, "\u{25cf}", "running")
        }
        Some(SessionEnding::Counted) => (Light::Good, "\u{2713}", "done"),
        Some(SessionEnding::Refused) => (Light::Bad, "\u{2717}", "did not count"),
        Some(SessionEnding::Asked) => (Light::Warning, "?", "asked a question"),
        _ => (Light::Warning, "!", "open"),
    }
}

/// How a session ended, in words.
pub(super) fn outcome(page: &RunPage, session: &SessionAccount) -> (Light, &'static str, &'static str) {
    match session.outcome {
        SessionEnding::Running if matches!(page.state, "running" | "waiting") => (Light::Calm, "\u{25cf}", "running"),
        SessionEnding::Running => (Light::Warning, "!", "did not end"),
        SessionEnding::Ended => (Light::Calm, "\u{25cb}", "ended, not judged"),
        SessionEnding::Counted => (Light::Good, "\u{2713}", "counted"),
        SessionEnding::Refused => (Light::Bad, "\u{2717}", "did not count"),
        SessionEnding::Asked => (Light::Warning, "?", "asked a question"),
        SessionEnding::Interrupted => (Light::Warning, "!", "interrupted"),
    }
}

/// True if the work of a session does not count.
pub(super) fn is_lost(outcome: SessionEnding) -> bool {
    matches!(outcome, SessionEnding::Refused | SessionEnding::Interrupted | SessionEnding::Asked)
}

/// What a session took.
pub(super) fn session_spent(session: &SessionAccount) -> String {
    let mut parts = vec![format!("began {}", day_and_time(session.began).1)];
    parts.extend(session.milliseconds.map(time::lasting));
    if session.tokens > 0 {
        parts.push(format!("{} tokens", figures::tokens(session.tokens)));
    }
    parts.extend(session.usd.map(figures::dollars));
    if session.tool_calls > 0 {
        parts.push(counted(usize::try_from(session.tool_calls).unwrap_or(usize::MAX), "tool call"));
    }
    parts.extend(session.model.clone());
    if session.resumed {
        parts.push("continued an earlier session".to_owned());
    }
    parts.join(", ")
}

/// How a check ended. One that failed and does not count against the work is excused.
pub(super) fn check(check: &CheckAccount) -> (Light, &'static str, &'static str) {
    match (check.passed, check.exit_code) {
        (true, 0) => (Light::Good, "\u{2713}", "passed"),
        (true, _) => (Light::Warning, "!", "failed, excused"),
        (false, _) => (Light::Bad, "\u{2717}", "failed"),
    }
}

/// How a held-out check ended.
pub(super) fn held_out(passed: bool) -> (Light, &'static str, &'static str) {
    if passed { (Light::Good, "\u{2713}", "passed") } else { (Light::Bad, "\u{2717}", "failed") }
}

/// What the parts of a run are.
pub(super) fn part_word(page: &RunPage) -> &'static str {
    if page.units.iter().any(|unit| unit.account.unit.kind.is_of_phases()) { "Phase" } else { "Slice" }
}

/// `4 of 4 passed`.
pub(super) fn passed(checks: &[CheckAccount]) -> String {
    let passed = checks.iter().filter(|check| check.passed && check.exit_code == 0).count();
    format!("{passed} of {} passed", checks.len())
}

/// How the checks of a landing ended. Those that were excused did not pass.
pub(super) fn landed_checks(page: &RunPage, landing: &LandingSummary) -> String {
    let [passed, all] = landing.checks;
    let excused = page.checks.iter().filter(|check| check.passed && check.exit_code != 0).count();
    match excused {
        0 => format!("{passed} of {all} passed"),
        _ => format!("{} of {all} passed, {excused} failed and excused", passed.saturating_sub(excused)),
    }
}

/// What the checks of a page are of.
pub(super) fn checks_of(page: &RunPage) -> &'static str {
    if page.state == "landed" { "Checks of exactly the commit that landed" } else { "Checks of the last candidate" }
}

/// What the proof of a landing is, and what shows it.
pub(super) fn proof(word: &str) -> String {
    let shown = if word == "missing" { "" } else { "; `gsd-tools auto proof` shows it" };
    format!("{word}{shown}")
}

/// The lines of items, in order.
pub(super) fn all<T>(items: impl IntoIterator<Item = T>, line: impl FnMut(T) -> String) -> String {
    items.into_iter().map(line).collect()
}

/// The command that shows the diff of a unit.
pub(super) fn diff_command(unit: &UnitPage) -> String {
    let unit = &unit.account.unit;
    if unit.kind == UnitKind::ExecuteTask {
        typed!("gsd-tools auto diff {}", &unit.id).to_string()
    } else {
        typed!("gsd-tools auto diff {}", unit.to_string()).to_string()
    }
}

/// The command that answers a question.
pub(super) fn answer_command(task: &str, option: &str) -> String {
    typed!("gsd-tools auto answer {} {}", task, option).to_string()
}

/// The command that shows a commit.
pub(super) fn show_command(commit: &str) -> String {
    typed!("git show {}", commit).to_string()
}

/// A count as a number with a fraction.
pub(super) fn number(count: u64) -> f64 {
    let half = |bits: u64| u32::try_from(bits & u64::from(u32::MAX)).map_or(0.0, f64::from);
    half(count >> 32) * 4_294_967_296.0 + half(count)
}

/// At most `bytes` of a text, ended at a character; true if something is left out.
pub(super) fn first(text: &str, bytes: usize) -> (&str, bool) {
    if text.len() <= bytes {
        return (text, false);
    }
    let end = (0..=bytes).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
    (text.get(..end).unwrap_or_default(), true)
}

/// A title that is not longer than a row of a table needs.
pub(super) fn short_title(title: &str) -> String {
    let (title, is_cut) = first(title, 160);
    if is_cut { format!("{title}\u{2026}") } else { title.to_owned() }
}

/// True if a character acts on the text around it, or cannot be seen: it is shown as its escape.
pub(super) fn acts(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

/// Splits a text at its code between backticks: each part, and whether it is code.
pub(super) fn with_code(text: &str) -> Vec<(&str, bool)> {
    let (mut parts, mut rest) = (Vec::new(), text);
    while let Some((before, after)) = rest.split_once('`') {
        let Some((code, end)) = after.split_once('`').filter(|(code, _)| !code.trim().is_empty()) else { break };
        parts.push((before, false));
        parts.push((code, true));
        rest = end;
    }
    parts.push((rest, false));
    parts.retain(|(part, _)| !part.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_between_backticks_is_a_part() {
        assert_eq!(with_code("run `a b` now"), [("run ", false), ("a b", true), (" now", false)]);
        assert_eq!(with_code("a ` b"), [("a ` b", false)]);
        assert_eq!(with_code("``x``"), [("``x``", false)]);
        assert!(with_code("").is_empty());
    }

    #[test]
    fn counts_become_numbers_and_texts_end_at_characters() {
        assert_eq!(number(4_294_967_297).to_string(), "4294967297");
        assert_eq!(first("a\u{e9}b", 2), ("a", true));
        assert_eq!(first("ab", 2), ("ab", false));
    }
}
