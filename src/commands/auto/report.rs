//! What runs did: `auto report`, `auto why`, `auto diff`, `auto replay`.

use std::time::Duration;

use super::card::{name, rows, short};
use crate::acts::auto::place::RunPlace;
use crate::acts::auto::report;
use crate::auto::account::figures;
use crate::auto::account::page::{RunPage, UnitPage};
use crate::auto::account::{LoggedMoment, SessionAccount, SessionEnding};
use crate::auto::report::{html, markdown};
use crate::failure::Failure;
use crate::frame::Context;
use crate::frame::context::{shows_at_a_terminal, wants_json};
use crate::text::screen::{Cell, Mark, Screen, Tone, counted};
use crate::text::shell::typed;
use crate::text::terminal::one_line;
use crate::text::time;

#[derive(Debug, clap::Args)]
pub(super) struct ReportArgs {
    /// The run or its milestone, such as `M001`; without it, the last run
    run: Option<String>,
    /// Print a page for a browser, in one file that loads nothing
    #[arg(long, conflicts_with = "md")]
    html: bool,
    /// Print Markdown
    #[arg(long)]
    md: bool,
}

pub(super) fn report(context: &mut Context, arguments: &ReportArgs) -> Result<(), Failure> {
    let ReportArgs { run, html, md } = arguments;
    let page = report::page(context, run.as_deref(), *html)?;
    if *html || *md {
        let (form, ending) = if *html { ("--html", "html") } else { ("--md", "md") };
        if *html && shows_at_a_terminal(context) {
            let run = &page.summary.run;
            let file = format!("{run}.{ending}");
            let call = typed!("gsd-tools auto report {} {} > {}", run, form, file);
            return Err(Failure::usage("a page for a browser is not readable in a terminal")
                .hint(format!("write it to a file: `{call}`")));
        }
        let text = if *html { html::page(&page) } else { markdown::page(&page) };
        if wants_json(context) {
            return context.emit(&page);
        }
        context.text(text);
        return Ok(());
    }
    context.say(&page, None, |screen| shown(&page, screen))
}

/// The page for a terminal.
fn shown(page: &RunPage, screen: Screen) -> String {
    let mark = match page.state {
        "landed" => Mark::Done,
        "running" | "waiting" => Mark::Current,
        _ => Mark::Warning,
    };
    let landed = page.summary.landing.as_ref();
    let landed = landed.map(|landing| format!(" on `{}` as {}", page.summary.target, short(&landing.commit)));
    let head = format!("{}: {}{}", name(&page.summary), page.state, landed.unwrap_or_default());
    let mut text = screen.item("", mark, &head);
    if let Some(stop) = page.stop.as_ref().filter(|stop| stop.cause.code() != 0) {
        text += &screen.prose("  ", "    ", &stop.text);
    }
    text += "\n";
    text += &screen.fields("  ", &rows(&page.summary));
    for (title, table) in [("By slice", slices(page)), ("By unit", units(page, screen))] {
        if !table.is_empty() {
            text += &heading(title, screen);
            text += &screen.table("  ", &table);
        }
    }
    let decisions: Vec<String> = page.decisions.iter().map(|decision| one_line(&decision.text)).collect();
    if !decisions.is_empty() {
        text += &heading("Decisions", screen);
        text.extend(decisions.iter().map(|decision| screen.prose("  ", "    ", decision)));
    }
    for question in &page.questions {
        text += &screen.item("  ", Mark::Warning, &format!("{} asks: {}", question.task, question.text));
    }
    let more = typed!("gsd-tools auto report {} --html > {}", page.summary.run, format!("{}.html", page.summary.run));
    text + "\n" + &screen.prose("", "  ", &format!("As a page for a browser: `{more}`"))
}

fn heading(title: &str, screen: Screen) -> String {
    format!("\n{}\n", screen.paint(Tone::Strong, title))
}

fn slices(page: &RunPage) -> Vec<Vec<Cell>> {
    let row = |slice: &crate::auto::account::page::SliceAccount| {
        let title = slice.title.clone().unwrap_or_default();
        vec![Cell::new(Tone::Strong, slice.id.clone()), Cell::from(title), Cell::from(figures::spent(&slice.totals))]
    };
    page.slices.iter().map(row).collect()
}

fn units(page: &RunPage, screen: Screen) -> Vec<Vec<Cell>> {
    let row = |unit: &UnitPage| {
        let account = &unit.account;
        let mark = if account.commit.is_some() { Mark::Done } else { Mark::Warning };
        let totals = account.totals();
        let attempts = if totals.sessions > 1 { counted(totals.sessions, "session") } else { String::new() };
        let money = totals.usd.map(figures::dollars).unwrap_or_default();
        vec![
            screen.mark(mark),
            Cell::from(account.unit.to_string()),
            Cell::from(unit.title.clone().unwrap_or_default()),
            Cell::from(time::lasting(totals.milliseconds)),
            Cell::from(figures::tokens(totals.tokens)),
            Cell::from(money),
            Cell::new(Tone::Warning, attempts),
        ]
    };
    page.units.iter().map(row).collect()
}

#[derive(Debug, clap::Args)]
pub(super) struct UnitArgs {
    /// The unit, such as `M001/S01/T02`, or `2` for a phase
    unit: String,
}

pub(super) fn why(context: &mut Context, arguments: &UnitArgs) -> Result<(), Failure> {
    let report = report::why(context, &arguments.unit)?;
    context.say(&report, None, |screen| {
        let account = &report.page.account;
        let title = report.page.title.as_ref().map(|title| format!(" {title}")).unwrap_or_default();
        let state = match &account.commit {
            Some(commit) => format!("committed as {}", short(commit)),
            None => "not done".to_owned(),
        };
        let mark = if account.commit.is_some() { Mark::Done } else { Mark::Warning };
        let mut text = screen.item("", mark, &format!("{}{title}: {state}", account.unit));
        text.extend(account.sessions.iter().map(|session| session_lines(session, screen)));
        for check in &account.checks {
            let mark = if check.passed { Mark::Done } else { Mark::Failed };
            let took = time::lasting(check.milliseconds);
            text += &screen.item("  ", mark, &format!("`{}`, exit code {}, {took}", check.command, check.exit_code));
        }
        text += &heading("What happened", screen);
        text.extend(report.timeline.iter().map(|moment| line(moment, screen)));
        match &report.next {
            Some(next) => text + "\n" + &screen.fields("", &[("Next", Cell::new(Tone::Command, next.clone()))]),
            None => text,
        }
    })
}

fn session_lines(session: &SessionAccount, screen: Screen) -> String {
    let outcome = match session.outcome {
        SessionEnding::Running => "runs",
        SessionEnding::Ended => "ended, not judged yet",
        SessionEnding::Counted => "counts",
        SessionEnding::Refused => "does not count",
        SessionEnding::Asked => "asked a question",
        SessionEnding::Interrupted => "was interrupted",
    };
    let mark = match session.outcome {
        SessionEnding::Counted => Mark::Done,
        SessionEnding::Running | SessionEnding::Ended => Mark::Current,
        SessionEnding::Refused | SessionEnding::Asked | SessionEnding::Interrupted => Mark::Warning,
    };
    let took = session.milliseconds.map(|took| format!(", {}", time::lasting(took))).unwrap_or_default();
    let money = session.usd.map(|usd| format!(", {}", figures::dollars(usd))).unwrap_or_default();
    let tokens = figures::tokens(session.tokens);
    let head = format!("attempt {}: {outcome}{took}, {tokens} tokens{money}", session.attempt);
    let why = session.why.as_ref().map(|why| screen.prose("    ", "    ", &one_line(why))).unwrap_or_default();
    screen.item("  ", mark, &head) + &why
}

fn line(moment: &LoggedMoment, screen: Screen) -> String {
    let at = time::in_words(moment.at).unwrap_or_default();
    screen.prose(&format!("  {}  ", at.get(..19).unwrap_or(&at)), "    ", &one_line(&moment.text))
}

#[derive(Debug, clap::Args)]
pub(super) struct DiffArgs {
    /// The unit, such as `M001/S01/T02`, or `2` for a phase; without it, the run
    unit: Option<String>,
}

pub(super) fn diff(context: &mut Context, arguments: &DiffArgs) -> Result<(), Failure> {
    let report = report::diff(context, arguments.unit.as_deref())?;
    context.say(&report, Some(&report.diff), |screen| {
        let tone = |line: &str| match line.as_bytes().first() {
            Some(b'+') => Tone::Good,
            Some(b'-') => Tone::Bad,
            Some(b'@') => Tone::Command,
            _ if line.starts_with("diff ") => Tone::Strong,
            _ => Tone::Plain,
        };
        report.diff.lines().map(|line| screen.paint(tone(line), line) + "\n").collect()
    })
}

#[derive(Debug, clap::Args)]
pub(super) struct ReplayArgs {
    /// The run or its milestone, such as `M001`; without it, the last run
    run: Option<String>,
    /// Take about this many seconds in a terminal; 0 shows everything at once
    #[arg(long, default_value_t = 20)]
    seconds: u32,
}

/// The longest pause between two lines.
const LONGEST: Duration = Duration::from_secs(3);

pub(super) fn replay(context: &mut Context, arguments: &ReplayArgs) -> Result<(), Failure> {
    let place = RunPlace::of(context)?;
    let account = report::account_of(&place, arguments.run.as_deref())?;
    let began = account.began;
    let since = |moment: &LoggedMoment| u64::try_from(moment.at.saturating_sub(began)).unwrap_or_default();
    if !context.shows_to_a_person() {
        return context.emit(&account.timeline);
    }
    let all = account.timeline.last().map(since).unwrap_or_default().max(1);
    let budget = u64::from(arguments.seconds) * 1000;
    let mut before = 0;
    for moment in &account.timeline {
        let passed = since(moment).saturating_sub(before);
        before = since(moment);
        // The pause has the same share of the replay as of the run.
        let pause = Duration::from_millis(
            u64::try_from(u128::from(passed) * u128::from(budget) / u128::from(all)).unwrap_or_default(),
        );
        context.world().pause(pause.min(LONGEST));
        context.tell(format!("+{:>10}  {}", time::lasting(before), one_line(&moment.text)));
    }
    Ok(())
}
