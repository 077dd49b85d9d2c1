//! The live block of a run: what it does now, how far it is, and what it has spent.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use super::card::name;
use crate::acts::auto::live::{LiveRun, LiveSource, LiveStanding, LiveUnit, RunTrace};
use crate::acts::auto::place::RunPlace;
use crate::auto::account::figures;
use crate::frame::context::shows_at_a_terminal;
use crate::frame::{Context, live};
use crate::text::screen::{Screen, Tone};
use crate::text::time;
use crate::world::World;

/// How often it is drawn.
const PAUSE: Duration = Duration::from_millis(500);

/// What separates facts on one line, if the terminal can show it.
pub(super) const BETWEEN: &str = " · ";

/// The columns of the bar.
const BAR: u64 = 12;

/// How much of a run is shown as it works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Detail {
    Progress,
    /// What the sessions do, too.
    Sessions,
    /// Every entry of the log, too.
    Entries,
}

/// The block, or the lines, of a run, until this is dropped.
pub(super) struct Drawn {
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Drawn {
    /// Draws the block of the run of this project, if the call is at a terminal that can show it, and prints lines if
    /// more than progress is to be shown.
    pub(super) fn of(context: &Context, detail: Detail) -> Option<Self> {
        Self::at(context, RunPlace::of(context).ok()?, detail)
    }

    /// As [`Self::of`], for the run of another place.
    pub(super) fn at(context: &Context, place: RunPlace, detail: Detail) -> Option<Self> {
        let terminal = context.world().terminal();
        let can_draw = terminal.stderr && terminal.moves && shows_at_a_terminal(context);
        if !can_draw && detail == Detail::Progress {
            return None;
        }
        let (world, screen) = (context.world().clone(), context.screen());
        let trace = (detail > Detail::Progress).then(|| RunTrace::new(&place, detail == Detail::Entries));
        let ends = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&ends);
        let screen = can_draw.then_some(screen);
        let thread = std::thread::spawn(move || follow(&world, &place, (screen, trace), &is_over));
        Some(Self { ends, thread: Some(thread) })
    }
}

impl Drop for Drawn {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        // A view that failed has shown nothing, and the run does not depend on it.
        let _ = self.thread.take().map(JoinHandle::join);
        live::clear();
    }
}

fn follow(world: &World, place: &RunPlace, (screen, mut trace): (Option<Screen>, Option<RunTrace>), ends: &AtomicBool) {
    let mut source = LiveSource::new(world, place);
    // Until this call has begun or continued the run, it may ask something.
    let before = source.size_of_log();
    loop {
        // What came before the end is shown too.
        let is_over = ends.load(Ordering::Relaxed);
        let lines = trace.as_mut().map(|trace| trace.more().unwrap_or_default()).unwrap_or_default();
        for line in lines {
            live::print(&format!("  {line}"));
        }
        if is_over {
            return;
        }
        // The log is read again at the next look.
        if let Some(screen) = screen
            && source.size_of_log() != before
            && let Ok(Some(run)) = source.look(|_| Ok(true))
        {
            live::draw(&block(&run, world.now().milliseconds(), screen));
        }
        world.pause(PAUSE);
    }
}

/// The lines of the block; none if the run does not work.
pub(super) fn block(run: &LiveRun, now: i64, screen: Screen) -> String {
    let (done, all) = run.units;
    let state = match &run.standing {
        LiveStanding::Working => doing(run, now),
        LiveStanding::Waiting { until, why } => waiting(*until, now, why),
        LiveStanding::Stopped(_) | LiveStanding::Interrupted => return String::new(),
    };
    let width = screen.width.saturating_sub(1);
    let [state, spent] = [state, spent(run)].map(|line| line.replace(BETWEEN, screen.between()));
    let count = |number: usize| u64::try_from(number).unwrap_or_default();
    let bar = screen.bar(count(done), count(all), BAR);
    let room = width.saturating_sub(usize::try_from(BAR).unwrap_or_default() + 1);
    let head = format!("unit {} of {all}  {}  {}", (done + 1).min(all), name(&run.summary), elapsed(run, now));
    let lines = [
        format!("{bar} {}", screen.fitted(&head, room)),
        screen.paint(Tone::Strong, &screen.fitted(&state, width)),
        screen.paint(Tone::Faint, &screen.fitted(&spent, width)),
    ];
    lines.join("\n") + "\n"
}

/// How long it has worked.
pub(super) fn elapsed(run: &LiveRun, now: i64) -> String {
    let since = u64::try_from(now.saturating_sub(run.summary.latest)).unwrap_or_default();
    let more = if run.standing == LiveStanding::Working { since } else { 0 };
    time::lasting(run.summary.totals.milliseconds + more)
}

/// What the run does now.
pub(super) fn doing(run: &LiveRun, now: i64) -> String {
    let Some(unit) = &run.unit else {
        return run.timeline.last().map_or_else(|| "starting".to_owned(), |moment| moment.text.clone());
    };
    let since = u64::try_from(now.saturating_sub(unit.began)).unwrap_or_default();
    let attempt = if unit.attempt > 1 { format!(", attempt {}", unit.attempt) } else { String::new() };
    let title = unit.title.as_ref().map(|title| format!(" {title}")).unwrap_or_default();
    format!("{}{title}{attempt}: {} {}{}", unit.unit, unit.stage, time::lasting(since), last(unit))
}

fn last(unit: &LiveUnit) -> String {
    unit.last.as_ref().map(|last| format!(" · {last}")).unwrap_or_default()
}

/// What the run waits for, and for how long.
pub(super) fn waiting(until: i64, now: i64, why: &str) -> String {
    let rest = u64::try_from(until.saturating_sub(now)).unwrap_or_default();
    let at = time::in_words(until).unwrap_or_default();
    format!("Waiting {} more, until {at} (Ctrl-C is safe): {why}", time::lasting(rest))
}

/// What the run has spent, with its ceilings.
pub(super) fn spent(run: &LiveRun) -> String {
    let totals = &run.summary.totals;
    let money = match totals.usd {
        Some(usd) => format!("{} of {}", figures::dollars(usd), figures::dollars(run.budget)),
        None => "money not reported".to_owned(),
    };
    format!(
        "session {} of at most {} · {} tokens · {money}",
        totals.sessions,
        run.most_sessions,
        figures::tokens(totals.tokens)
    )
}
