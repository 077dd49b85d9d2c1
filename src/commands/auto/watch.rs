//! `auto watch`: a run as it works, drawn by another process than the one that runs it.

use std::time::Duration;

use ratatui::Frame;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Paragraph, Wrap};

use super::card::{name, short};
use super::live::{BETWEEN, doing, elapsed, spent, waiting};
use crate::acts::auto::live::{LiveRun, LiveSource, LiveStanding};
use crate::acts::auto::place::RunPlace;
use crate::acts::auto::watch::{is_worked_on, keep_mode, mode, next_mode};
use crate::auto::account::figures;
use crate::failure::{Failure, Reason};
use crate::frame::Context;
use crate::frame::context::shows_at_a_terminal;
use crate::project::milestone_layout::preferences::WidgetMode;
use crate::text::screen::{Mark, Screen, Tone, counted};
use crate::text::terminal::one_line;
use crate::text::time;
use crate::text::words::of_word;

#[derive(Debug, clap::Args)]
pub(super) struct WatchArgs {
    /// `full`, `small`, `min` or `off`; without it, the mode that was used last
    #[arg(long, conflicts_with = "once")]
    mode: Option<String>,
    /// Show the run once, and do not wait
    #[arg(long)]
    once: bool,
}

/// How often it is drawn.
const PAUSE: Duration = Duration::from_millis(500);

/// The narrowest screen with two columns.
const TWO_COLUMNS: u16 = 90;

pub(super) fn watch(context: &mut Context, arguments: &WatchArgs) -> Result<(), Failure> {
    let place = RunPlace::of(context)?;
    let wanted = arguments.mode.as_deref().map(mode_of).transpose()?;
    let mut source = LiveSource::new(context.world(), &place);
    let run = source.look(|memory| is_worked_on(context, &place, memory))?.ok_or_else(|| {
        Failure::new(Reason::Usage, "no run was started in this project")
            .hint("start one: `gsd-tools auto run --brief FILE`")
    })?;
    let terminal = context.world().terminal();
    let run = if arguments.once {
        run
    } else if shows_at_a_terminal(context) && terminal.moves {
        let start = wanted.map_or_else(|| mode(context, &place), Ok)?;
        let last = drawn(context, &place, &mut source, start)?;
        last.unwrap_or(run)
    } else {
        if wanted.is_some() {
            context.warn("`--mode` is for a terminal that can be drawn on; new lines are shown instead");
        }
        followed(context, &place, &mut source, run)?
    };
    let now = context.world().now().milliseconds();
    context.say(&run, None, |screen| page(&run, now, screen))
}

fn mode_of(word: &str) -> Result<WidgetMode, Failure> {
    of_word(word).ok_or_else(|| {
        Failure::usage(format!("`{}` is not a mode", one_line(word))).hint("the modes are full, small, min and off")
    })
}

/// Shows each new line until the run is over, for a terminal that cannot be drawn on, and for files.
fn followed(
    context: &Context,
    place: &RunPlace,
    source: &mut LiveSource,
    mut run: LiveRun,
) -> Result<LiveRun, Failure> {
    let mut shown = 0;
    loop {
        for moment in run.timeline.iter().skip(shown) {
            context.tell(format!("{}  {}", clock(moment.at), moment.text));
        }
        shown = run.timeline.len();
        if !matches!(run.standing, LiveStanding::Working | LiveStanding::Waiting { .. }) {
            return Ok(run);
        }
        context.world().pause(PAUSE);
        match source.look(|memory| is_worked_on(context, place, memory))? {
            // A new run has a shorter timeline.
            Some(next) => {
                shown = if next.summary.run == run.summary.run { shown } else { 0 };
                run = next;
            }
            None => return Ok(run),
        }
    }
}

/// The time of day of a moment, in UTC.
fn clock(at: i64) -> String {
    time::in_words(at).and_then(|words| words.get(11..19).map(str::to_owned)).unwrap_or_default()
}

/// Draws the run until a person quits. Returns it as it was then.
fn drawn(
    context: &Context,
    place: &RunPlace,
    source: &mut LiveSource,
    mut mode: WidgetMode,
) -> Result<Option<LiveRun>, Failure> {
    let failed = |error: std::io::Error| Failure::because(Reason::Unknown, &error);
    let mut terminal = ratatui::try_init().map_err(failed)?;
    let _restored = Restored;
    let screen = context.screen();
    loop {
        let run = source.look(|memory| is_worked_on(context, place, memory))?;
        let now = context.world().now().milliseconds();
        terminal.draw(|frame| draw(frame, run.as_ref(), (mode, now), screen)).map_err(failed)?;
        if !event::poll(PAUSE).map_err(failed)? {
            continue;
        }
        let Event::Key(key) = event::read().map_err(failed)? else { continue };
        match wish(key) {
            Some(ViewRequest::Quit) => return Ok(run),
            Some(ViewRequest::NextMode) => {
                mode = next_mode(mode);
                keep_mode(context, mode)?;
            }
            None => {}
        }
    }
}

enum ViewRequest {
    Quit,
    NextMode,
}

fn wish(key: KeyEvent) -> Option<ViewRequest> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    match key.code {
        KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => Some(ViewRequest::Quit),
        KeyCode::Char('q') => Some(ViewRequest::Quit),
        KeyCode::Esc | KeyCode::Tab => Some(ViewRequest::NextMode),
        _ => None,
    }
}

/// Gives the terminal back as it was.
struct Restored;

impl Drop for Restored {
    fn drop(&mut self) {
        ratatui::restore();
    }
}

fn draw(frame: &mut Frame<'_>, run: Option<&LiveRun>, (mode, now): (WidgetMode, i64), screen: Screen) {
    let area = frame.area();
    let keys = format!("Esc for {} · q quit; the run does not depend on this view", next_mode(mode).word());
    let Some(run) = run else {
        frame.render_widget(Paragraph::new("No run was started in this project."), area);
        return;
    };
    match mode {
        WidgetMode::Off => frame.render_widget(paragraph(&[(keys, Tone::Faint)], screen), area),
        WidgetMode::Min => {
            let lines = [(head(run, now), Tone::Strong), (keys, Tone::Faint)];
            frame.render_widget(paragraph(&lines, screen), area);
        }
        WidgetMode::Small => {
            let lines = [
                (head(run, now), Tone::Strong),
                (action(run, now), tone_of(run)),
                (spent(run), Tone::Plain),
                (keys, Tone::Faint),
            ];
            frame.render_widget(paragraph(&lines, screen), area);
        }
        WidgetMode::Full => full(frame, run, now, (screen, &keys)),
    }
}

/// The first line: how far, what, how long.
fn head(run: &LiveRun, now: i64) -> String {
    let (done, all) = run.units;
    format!("{done} of {all} units done · {} · {}", name(&run.summary), elapsed(run, now))
}

/// What it does, or why it does nothing.
fn action(run: &LiveRun, now: i64) -> String {
    match &run.standing {
        LiveStanding::Working => doing(run, now),
        LiveStanding::Waiting { until, why } => waiting(*until, now, why),
        LiveStanding::Stopped(stop) => format!("{} Next: {}", sentence(&stop.text), stop.next),
        LiveStanding::Interrupted => "No process works on it, and it did not stop. Next: gsd-tools auto run".to_owned(),
    }
}

fn sentence(text: &str) -> String {
    if text.ends_with(['.', '!', '?']) { text.to_owned() } else { format!("{text}.") }
}

fn tone_of(run: &LiveRun) -> Tone {
    match &run.standing {
        LiveStanding::Working => Tone::Command,
        LiveStanding::Stopped(stop) if stop.cause.code() == 0 => Tone::Good,
        LiveStanding::Waiting { .. } | LiveStanding::Interrupted | LiveStanding::Stopped(_) => Tone::Warning,
    }
}

fn full(frame: &mut Frame<'_>, run: &LiveRun, now: i64, (screen, keys): (Screen, &str)) {
    let [top, middle, bottom, last] =
        Layout::vertical([Constraint::Length(3), Constraint::Fill(1), Constraint::Fill(1), Constraint::Length(1)])
            .areas(frame.area());
    let top_lines =
        [(head(run, now), Tone::Strong), (bar(run, top.width, screen), Tone::Good), (action(run, now), tone_of(run))];
    frame.render_widget(paragraph(&top_lines, screen), top);
    let is_wide = frame.area().width >= TWO_COLUMNS;
    let [left, right] = if is_wide {
        Layout::horizontal([Constraint::Fill(1), Constraint::Fill(1)]).areas(middle)
    } else {
        Layout::vertical([Constraint::Fill(1), Constraint::Length(8)]).areas(middle)
    };
    frame.render_widget(paragraph(&tasks(run, screen), screen).block(titled("Tasks", screen)), left);
    frame.render_widget(paragraph(&stats(run), screen).block(titled("Figures", screen)), right);
    let lines = usize::from(bottom.height.saturating_sub(1));
    let first = run.timeline.len().saturating_sub(lines);
    let log: Vec<(String, Tone)> = run
        .timeline
        .iter()
        .skip(first)
        .map(|moment| (format!("{}  {}", clock(moment.at), one_line(&moment.text)), Tone::Plain))
        .collect();
    frame.render_widget(paragraph(&log, screen).block(titled("What happened (UTC)", screen)), bottom);
    frame.render_widget(paragraph(&[(keys.to_owned(), Tone::Faint)], screen), last);
}

fn bar(run: &LiveRun, width: u16, screen: Screen) -> String {
    let (done, all) = run.units;
    let number = |count: usize| u64::try_from(count).unwrap_or_default();
    Screen { color: false, ..screen }.bar(number(done), number(all), u64::from(width.min(80)))
}

fn tasks(run: &LiveRun, screen: Screen) -> Vec<(String, Tone)> {
    if run.tasks.is_empty() {
        let text = match (&run.summary.landing, run.summary.closed.tasks) {
            (Some(_), done @ 1..) => format!("{} landed", counted(done, "task")),
            _ => "no plan with tasks yet".to_owned(),
        };
        return vec![(text, Tone::Faint)];
    }
    let line = |task: &crate::acts::auto::live::TaskLine| {
        let (mark, tone) = match (task.is_done, task.is_current) {
            (true, _) => (Mark::Done, Tone::Good),
            (false, true) => (Mark::Current, Tone::Strong),
            (false, false) => (Mark::Open, Tone::Plain),
        };
        (format!("{} {}  {}", screen.sign(mark), task.id, task.title), tone)
    };
    run.tasks.iter().map(line).collect()
}

fn stats(run: &LiveRun) -> Vec<(String, Tone)> {
    let summary = &run.summary;
    let unit = run.unit.as_ref();
    let mut rows = vec![
        format!("client    {}", run.client),
        format!("sessions  {} of at most {}", summary.totals.sessions, run.most_sessions),
        format!("tokens    {}", figures::tokens(summary.totals.tokens)),
        match summary.totals.usd {
            Some(usd) => format!("money     {} of {}", figures::dollars(usd), figures::dollars(run.budget)),
            None => "money     not reported by the client".to_owned(),
        },
    ];
    rows.extend(unit.map(|unit| format!("tools     {} in this session", unit.tools)));
    if summary.waited > 0 {
        rows.push(format!("waited    {}", time::lasting(summary.waited)));
    }
    if let Some(estimate) = &summary.estimate {
        let shown = figures::spread(&estimate.milliseconds, |value| time::lasting(figures::whole(value)));
        rows.push(format!("forecast  {shown}"));
    }
    rows.extend(summary.landing.as_ref().map(|landing| format!("landed    {}", short(&landing.commit))));
    rows.into_iter().map(|row| (row, Tone::Plain)).collect()
}

fn paragraph<'a>(lines: &[(String, Tone)], screen: Screen) -> Paragraph<'a> {
    let line = |(text, tone): &(String, Tone)| {
        Line::from(Span::styled(one_line(text).replace(BETWEEN, screen.between()), style(*tone, screen)))
    };
    Paragraph::new(lines.iter().map(line).collect::<Vec<Line<'_>>>()).wrap(Wrap { trim: false })
}

/// A heading.
fn titled(title: &str, screen: Screen) -> Block<'_> {
    Block::new().title(Span::styled(title, style(Tone::Strong, screen)))
}

fn style(tone: Tone, screen: Screen) -> Style {
    let plain = Style::new();
    if !screen.color {
        return if tone == Tone::Strong { plain.add_modifier(Modifier::BOLD) } else { plain };
    }
    match tone {
        Tone::Plain => plain,
        Tone::Strong => plain.add_modifier(Modifier::BOLD),
        Tone::Faint => plain.add_modifier(Modifier::DIM),
        Tone::Good => plain.fg(Color::Green),
        Tone::Warning => plain.fg(Color::Yellow),
        Tone::Bad => plain.fg(Color::Red),
        Tone::Command => plain.fg(Color::Cyan),
    }
}

/// The run for a person, once.
fn page(run: &LiveRun, now: i64, screen: Screen) -> String {
    let [head, action, spent] =
        [head(run, now), action(run, now), spent(run)].map(|line| line.replace(BETWEEN, screen.between()));
    let mut text = screen.prose("", "", &head);
    text += &screen.paint_lines(tone_of(run), &screen.prose("", "  ", &action));
    text += &screen.prose("", "", &spent);
    if !run.tasks.is_empty() {
        text += "\n";
        for (line, tone) in tasks(run, screen) {
            text += &screen.paint_lines(tone, &screen.prose("  ", "    ", &line));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use ratatui::layout::Size;

    use super::*;
    use crate::acts::auto::live::tests::sample;

    fn drawn(mode: WidgetMode, width: u16, screen: Screen) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, 24)).unwrap();
        let run = sample();
        terminal.draw(|frame| draw(frame, Some(&run), (mode, 1_790_000_100_000), screen)).unwrap();
        assert_eq!(terminal.size().unwrap(), Size::new(width, 24));
        terminal.backend().to_string()
    }

    #[test]
    fn each_mode_shows_less_than_the_one_before() {
        let screen = Screen { width: 100, color: false, signs: true };
        let words = |mode| drawn(mode, 100, screen).split_whitespace().count();
        let modes = [WidgetMode::Full, WidgetMode::Small, WidgetMode::Min, WidgetMode::Off];
        let counts = modes.map(words);
        assert!(counts.windows(2).all(|pair| pair[0] > pair[1]), "{counts:?}");
        let full = drawn(WidgetMode::Full, 100, screen);
        for part in ["Tasks", "T02", "Figures", "$0.07 of $25.00", "What happened", "3 of 9 units done"] {
            assert!(full.contains(part), "{part}: {full}");
        }
        assert_eq!(modes.map(next_mode), [WidgetMode::Small, WidgetMode::Min, WidgetMode::Off, WidgetMode::Full]);
    }

    #[test]
    fn a_terminal_without_signs_gets_ascii_only() {
        let screen = Screen { width: 60, color: false, signs: false };
        let bar = super::bar(&sample(), 60, screen);
        assert!(bar.is_ascii(), "{bar}");
        for mode in [WidgetMode::Full, WidgetMode::Small] {
            let shown = drawn(mode, 60, screen);
            assert!(shown.contains("M001"), "{shown}");
        }
    }
}
