//! The card of a run: before its first session, and at its end.

use crate::acts::auto::land::WaitingWork;
use crate::acts::auto::start::card::StartCard;
use crate::acts::auto::start::run_report::RunReport;
use crate::auto::account::figures;
use crate::auto::account::summary::{ChangedLines, LandingSummary, RunSummary};
use crate::auto::event::LandingMode;
use crate::auto::stop::Cause;
use crate::text::screen::{Cell, Mark, Screen, Tone, counted};
use crate::text::shell::typed;
use crate::text::time;

/// How many rows of what will run are shown.
const RUNS: usize = 8;

/// The card for a person.
pub(super) fn shown(card: &StartCard, screen: Screen) -> String {
    let mut head = vec![Cell::new(Tone::Strong, card.milestone.clone())];
    head.extend(card.title.clone().map(|title| Cell::new(Tone::Strong, title)));
    head.extend(card.brief.as_ref().map(|brief| Cell::new(Tone::Faint, format!("({brief})"))));
    let mut rows: Vec<(&str, Cell)> = vec![("Lands on", Cell::from(lands_on(card))), ("Client", client(card))];
    rows.extend(card.client_warning.clone().map(|warning| ("", Cell::new(Tone::Warning, warning))));
    rows.push(("Paid by", Cell::from(paid_by(card))));
    rows.push(("Fence", fence(card)));
    rows.push(("Forecast", Cell::from(forecast(card))));
    rows.extend(estimate(card).into_iter().map(|line| ("", Cell::from(line))));
    rows.push(("Ceilings", Cell::from(ceilings(card))));
    rows.push((
        "",
        Cell::new(Tone::Faint, "what a session costs is known when it ends: the last one can pass the ceiling"),
    ));
    for (number, line) in card.runs.iter().take(RUNS).enumerate() {
        rows.push((if number == 0 { "Will run" } else { "" }, Cell::from(line.clone())));
    }
    if card.runs.len() > RUNS {
        let rest = format!("and {} more: `gsd-tools auto run --dry-run --json` lists them", card.runs.len() - RUNS);
        rows.push(("", Cell::new(Tone::Faint, rest)));
    }
    if !card.messages.is_empty() {
        rows.push(("Messages", Cell::from(format!("by {}", card.messages.join(", ")))));
    }
    for (number, line) in card.queued.iter().take(RUNS).enumerate() {
        rows.push((if number == 0 { "Queue" } else { "" }, Cell::from(line.clone())));
    }
    rows.push(("Watch", Cell::from("`gsd-tools auto watch` in another terminal")));
    rows.push(("Stop", Cell::from("Ctrl-C, or `gsd-tools auto stop`; `gsd-tools auto run` continues")));
    screen.heading(&head) + "\n" + &screen.fields("  ", &rows) + "\n"
}

fn lands_on(card: &StartCard) -> String {
    let way = match card.landing {
        LandingMode::Branch => "after its checks passed",
        LandingMode::Ask => "after its checks passed and you looked at it: `gsd-tools auto land`",
        LandingMode::Request => "by a pull request, after its checks passed",
    };
    format!("`{}`, as one commit, {way}", card.target)
}

fn client(card: &StartCard) -> Cell {
    let version = card.client_version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
    let model = card.model.as_ref().map_or("its default model".to_owned(), |model| format!("model `{model}`"));
    Cell::from(format!("{}{version}, {model}, profile `{}`", card.client, card.profile))
}

fn paid_by(card: &StartCard) -> String {
    match &card.api_key {
        Some(variable) => format!("the API key in `{variable}`"),
        None if card.is_scripted => "a script plays the agent, which costs nothing".to_owned(),
        None => format!("the login or key that {} is set up with", card.client),
    }
}

fn fence(card: &StartCard) -> Cell {
    if card.fenced {
        Cell::from("on: sessions and checks write in a separate worktree only")
    } else {
        Cell::new(Tone::Warning, "off: sessions and checks can write wherever you can")
    }
}

fn forecast(card: &StartCard) -> String {
    let units: Vec<String> = card.by_unit.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    let assumed = if card.assumed { "; not everything is planned yet, so their number is assumed" } else { "" };
    format!("{}: {}{assumed}", counted(card.sessions, "session"), units.join(", "))
}

/// The lines with what it will probably take.
fn estimate(card: &StartCard) -> Vec<String> {
    let Some(estimate) = &card.estimate else {
        return vec!["time and cost: no runs with this client and model yet".to_owned()];
    };
    let of = if card.of_project { "of this project" } else { "of yours" };
    let mut lines = vec![format!("from {} {of} with this client and model:", counted(estimate.runs, "run"))];
    lines.extend(figures::rows(estimate).into_iter().map(|(what, figure)| format!("{what} {figure}")));
    lines
}

fn ceilings(card: &StartCard) -> String {
    let tokens = figures::tokens(card.unit_tokens);
    format!(
        "{}, {}; a unit {} min and {tokens} output tokens",
        counted(card.most_sessions, "session"),
        figures::dollars(card.budget_usd),
        card.unit_minutes
    )
}

/// What waits to land.
pub(super) fn waits(waiting: &WaitingWork) -> String {
    let WaitingWork { milestone, target, base, commit, changes } = waiting;
    let changes = changes.map(|changes| format!(": {}", lines(changes))).unwrap_or_default();
    let look = typed!("git diff {} {}", short(base), short(commit));
    format!("{milestone} would land on `{target}` as {}{changes}\nLook at it: `{look}`", short(commit))
}

/// The end of a run for a person.
pub(super) fn end(report: &RunReport, screen: Screen) -> String {
    let stop = &report.stop;
    let mut text = match &report.summary {
        Some(summary) if summary.landing.is_some() && stop.cause == Cause::Complete => {
            let is_of_this_call = stop.text == format!("{} has landed", summary.milestone);
            let why = if is_of_this_call { String::new() } else { screen.prose("  ", "  ", &stop.text) };
            landed(summary, screen) + &why
        }
        Some(summary) => {
            let mark = if stop.cause.code() == 0 { Mark::Current } else { Mark::Warning };
            screen.item("", mark, &format!("{}: {}", name(summary), stop.text))
        }
        None => screen.prose("", "  ", &stop.text),
    };
    let before = report.landed_before.iter();
    text.extend(before.map(|before| {
        screen.item("", Mark::Done, &format!("{} landed before it as {}", before.milestone, short(&before.commit)))
    }));
    // Paths and commands in evidence stay whole, so that they can be copied.
    text.extend(stop.evidence.iter().map(|line| screen.prose("  ", "    ", line)));
    if let Some(summary) = &report.summary {
        text += "\n";
        text += &screen.fields("  ", &rows(summary));
    }
    text + "\n" + &screen.fields("", &[("Next", Cell::new(Tone::Command, stop.next.to_string()))])
}

/// The milestone and its title.
pub(super) fn name(summary: &RunSummary) -> String {
    let title = summary.title.as_ref().map(|title| format!(" {title}")).unwrap_or_default();
    format!("{}{title}", summary.milestone)
}

/// The end of a run that landed.
pub(super) fn of_landing(summary: &RunSummary, screen: Screen) -> String {
    landed(summary, screen) + "\n" + &screen.fields("  ", &rows(summary))
}

fn landed(summary: &RunSummary, screen: Screen) -> String {
    let commit = summary.landing.as_ref().map(|landing| short(&landing.commit)).unwrap_or_default();
    screen.item("", Mark::Done, &format!("{} landed on `{}` as {commit}", name(summary), summary.target))
}

/// The first digits of a commit.
pub(super) fn short(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}

/// What a run did and took.
pub(super) fn rows(summary: &RunSummary) -> Vec<(&'static str, Cell)> {
    let mut rows: Vec<(&'static str, Cell)> = Vec::new();
    if let Some(landing) = &summary.landing {
        rows.extend(landing.subject.clone().map(|subject| ("Commit", Cell::from(subject))));
        rows.push(("Changed", Cell::from(changed(landing))));
        rows.push(("Checks", Cell::from(checked(landing))));
    }
    let closed =
        [(summary.closed.tasks, "task"), (summary.closed.phases, "phase"), (summary.closed.others, "other unit")];
    let closed: Vec<String> =
        closed.iter().filter(|(count, _)| *count > 0).map(|(count, what)| counted(*count, what)).collect();
    rows.push(("Done", Cell::from(if closed.is_empty() { "no unit yet".to_owned() } else { closed.join(", ") })));
    rows.push(("Spent", Cell::from(figures::spent(&summary.totals))));
    let forecast = forecast_of(summary);
    rows.push(("Forecast", Cell::from(forecast)));
    if summary.lost_sessions > 0 {
        let verb = if summary.lost_sessions == 1 { "was" } else { "were" };
        let sessions = counted(summary.lost_sessions, "session");
        rows.push(("Repeated", Cell::from(format!("{sessions} did not count or {verb} interrupted"))));
    }
    if summary.waited > 0 {
        rows.push(("Waited", Cell::from(time::lasting(summary.waited))));
    }
    if summary.decisions > 0 {
        rows.push(("Decisions", Cell::from(format!("{} of yours", summary.decisions))));
    }
    for (number, line) in summary.undelivered.iter().enumerate() {
        let line = format!("not delivered: {line}");
        rows.push((if number == 0 { "Messages" } else { "" }, Cell::new(Tone::Warning, line)));
    }
    if summary.landing.is_none() && summary.totals.sessions > 0 {
        rows.push(("Work", Cell::from(format!("branch `{}`, in `{}`", summary.branch, summary.worktree))));
    }
    rows
}

fn changed(landing: &LandingSummary) -> String {
    let show = format!("`{}`", typed!("git show {}", short(&landing.commit)));
    match &landing.changes {
        Some(changes) => format!("{}: {show}", lines(*changes)),
        None => show,
    }
}

fn lines(changes: ChangedLines) -> String {
    let ChangedLines { files, insertions, deletions } = changes;
    let files = counted(usize::try_from(files).unwrap_or(usize::MAX), "file");
    format!("{files}, +{insertions} -{deletions}")
}

fn checked(landing: &LandingSummary) -> String {
    let [passed, all] = landing.checks;
    let proof = match landing.proof {
        "missing" => "without a proof".to_owned(),
        proof => format!("with a proof, {proof}: `gsd-tools auto proof`"),
    };
    match all {
        0 => format!("none ran on this commit, {proof}"),
        _ => format!("{passed} of {all} passed on exactly this commit, {proof}"),
    }
}

fn forecast_of(summary: &RunSummary) -> String {
    let sessions = counted(usize::try_from(summary.forecast).unwrap_or(usize::MAX), "session");
    match &summary.estimate {
        Some(estimate) => {
            let rows = figures::rows(estimate).into_iter().map(|(what, figure)| format!("{what} {figure}"));
            format!("was {}", rows.collect::<Vec<_>>().join(", "))
        }
        None => format!("was {sessions}"),
    }
}
