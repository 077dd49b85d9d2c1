//! The accounts of simulated runs: their figures, and the forecasts made from them.

use std::cell::RefCell;
use std::rc::Rc;

use super::*;
use crate::auto::account::estimate::estimate;
use crate::auto::account::{RunAccount, SessionEnding, accounts};
use crate::auto::engine::Session;
use crate::auto::expected::Expected;
use crate::auto::sim::actor::Actor;
use crate::auto::slices::forecast::Forecast;

/// Draws numbers that are the same for the same seed.
#[derive(Clone, Debug)]
struct Draws(u64);

impl Draws {
    /// A number between 0 and 1.
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f64::from(u32::try_from(self.0 >> 33).unwrap()) / f64::from(1_u32 << 31)
    }

    /// A duration or a cost as sessions have them: most are short, a few are long.
    fn skewed(&mut self) -> f64 {
        let sum: f64 = (0..6).map(|_| self.next()).sum::<f64>() - 3.0;
        (sum * 0.8).exp()
    }
}

/// Does what each unit asks for, with drawn durations and costs, and fails the checks of some attempts.
#[derive(Debug)]
struct Drawn {
    ideal: Ideal,
    draws: Rc<RefCell<Draws>>,
    /// How slow and expensive this run is.
    pace: f64,
}

impl Actor for Drawn {
    fn act(&mut self, session: &Session, files: &BTreeMap<String, String>) -> SessionActs {
        let acts = self.ideal.act(session, files);
        let mut draws = self.draws.borrow_mut();
        let kind = if session.unit.kind == UnitKind::ExecuteTask { 4.0 } else { 1.5 };
        let milliseconds = (draws.skewed() * kind * self.pace * 60_000.0).round();
        let money = draws.skewed() * kind * self.pace * 0.05;
        let tokens = (draws.skewed() * kind * self.pace * 2_000.0).round();
        SessionActs {
            milliseconds: format!("{milliseconds:.0}").parse().unwrap(),
            money: Some(money),
            output_tokens: format!("{tokens:.0}").parse().unwrap(),
            ..acts
        }
    }

    fn checks(&mut self, _unit: &Unit, attempt: u32, _files: &BTreeMap<String, String>) -> Checks {
        if attempt == 1 && self.draws.borrow_mut().next() < 0.15 { Checks::failed("red") } else { Checks::passed() }
    }
}

fn drawn(draws: &Rc<RefCell<Draws>>, sizes: (usize, usize), pace: f64) -> RunAccount {
    let options = simple(sizes);
    let actor = Drawn { ideal: options.ideal(), draws: Rc::clone(draws), pace };
    let (report, simulated) = simulate_with(&options, actor).unwrap();
    assert_eq!(report.stop.cause, Cause::Complete, "{:?}", report.stop);
    let mut account = accounts(&simulated.log).pop().unwrap();
    // The forecast of a run whose plans are there.
    account.run.forecast = u32::try_from(options_forecast(sizes).sessions()).unwrap();
    account
}

fn options_forecast((slices, tasks): (usize, usize)) -> Forecast {
    let mut forecast = Forecast::default();
    forecast.add(UnitKind::PlanMilestone, 1);
    forecast.add(UnitKind::PlanSlice, slices - 1);
    forecast.add(UnitKind::ExecuteTask, slices * tasks);
    forecast
}

#[test]
fn an_account_has_the_same_sums_as_the_log_and_each_unit_once() {
    let draws = Rc::new(RefCell::new(Draws(7)));
    let account = drawn(&draws, (2, 3), 1.0);
    let totals = account.totals();
    let spent = account.memory.spent;
    assert_eq!(totals.sessions, usize::try_from(spent.sessions).unwrap());
    assert_eq!(totals.tokens, spent.tokens);
    assert!((totals.usd.unwrap() - spent.money.unwrap()).abs() < 1e-9);
    assert_eq!(account.units.len(), 8, "a plan of each slice and six tasks: {:?}", account.units);
    assert!(account.units.iter().all(|unit| unit.commit.is_some()));
    let of_units: u64 = account.units.iter().map(|unit| unit.milliseconds).sum();
    let passed = u64::try_from(account.latest - account.began).unwrap();
    assert!(passed.abs_diff(of_units + account.around) < 100, "{passed} {of_units} {}", account.around);
    let sessions = account.units.iter().flat_map(|unit| &unit.sessions);
    let refused = sessions.filter(|session| session.outcome == SessionEnding::Refused).count();
    assert_eq!(refused, totals.sessions - totals.units);
    assert!(account.landing.is_some() && account.is_over());
}

#[test]
fn time_without_a_process_is_not_counted() {
    let options = Options { dies_at: Some(9), ..simple((1, 2)) };
    let (_, simulated) = simulate_with(&options, options.ideal()).unwrap();
    let mut log = simulated.log.clone();
    let resumed = log.iter().position(|entry| matches!(entry.event, Event::Resumed { .. }));
    let hour = 3_600_000;
    // The next process comes an hour later.
    let from = resumed.unwrap_or(log.len());
    log[from..].iter_mut().for_each(|entry| entry.at.wall += hour);
    let (before, after) = (accounts(&simulated.log).pop().unwrap(), accounts(&log).pop().unwrap());
    assert!(before.totals().milliseconds.abs_diff(after.totals().milliseconds) < 60_000);
    if resumed.is_some() {
        assert_eq!(after.latest - before.latest, hour);
    }
}

/// Of 40 runs, each forecast from the five before it: how many were within the spread for tokens, time and money, and
/// how wide the spread was compared with the middle nine tenths of all runs.
fn forecast_forty(seed: u64, pace: impl Fn(&mut Draws) -> f64) -> [(usize, f64); 3] {
    let draws = Rc::new(RefCell::new(Draws(seed)));
    let sizes = (2, 3);
    let mut within = [0; 3];
    let mut widths = [0.0; 3];
    let mut actuals: [Vec<f64>; 3] = [const { Vec::new() }; 3];
    for _ in 0..40 {
        let runs: Vec<RunAccount> = (0..6)
            .map(|_| {
                let pace = pace(&mut draws.borrow_mut());
                drawn(&draws, sizes, pace)
            })
            .collect();
        let earlier: Vec<&RunAccount> = runs[..5].iter().collect();
        let found = estimate(&options_forecast(sizes), &earlier).unwrap();
        let actual = runs[5].totals();
        let number = |count: u64| f64::from(u32::try_from(count).unwrap());
        let values = [number(actual.tokens), number(actual.milliseconds), actual.usd.unwrap()];
        for (which, spread) in [found.tokens, found.milliseconds, found.usd.unwrap()].into_iter().enumerate() {
            within[which] += usize::from(spread.has(values[which]));
            widths[which] += (spread.high - spread.low) / 40.0;
            actuals[which].push(values[which]);
        }
    }
    std::array::from_fn(|which| {
        actuals[which].sort_by(f64::total_cmp);
        (within[which], widths[which] / (actuals[which][37] - actuals[which][2]))
    })
}

#[test]
fn a_forecast_from_five_runs_holds_and_is_not_wide() {
    for seed in 1..=2 {
        for (within, width) in forecast_forty(seed, |_| 1.0) {
            assert!(within >= 32, "seed {seed}: only {within} of 40 are within the spread");
            assert!(width <= 2.5, "seed {seed}: the spread is {width:.2} times as wide as the runs");
        }
    }
}

#[test]
fn a_forecast_holds_too_if_whole_runs_are_slow_or_fast() {
    for seed in 11..=12 {
        let pace = |draws: &mut Draws| 0.7 + 0.6 * draws.next();
        for (within, width) in forecast_forty(seed, pace) {
            assert!(within >= 32, "seed {seed}: only {within} of 40 are within the spread");
            assert!(width <= 2.5, "seed {seed}: the spread is {width:.2} times as wide as the runs");
        }
    }
}

#[test]
fn nothing_is_forecast_from_runs_that_did_not_land() {
    let draws = Rc::new(RefCell::new(Draws(5)));
    let mut account = drawn(&draws, (1, 2), 1.0);
    account.landing = None;
    assert_eq!(estimate(&options_forecast((1, 2)), &[&account]), None);
    assert_eq!(estimate(&options_forecast((1, 2)), &[]), None);
}

#[test]
fn what_earlier_runs_had_counts_only_for_a_forecast_that_assumes_the_same() {
    let draws = Rc::new(RefCell::new(Draws(8)));
    let assuming = |sizes| Forecast { is_assumed: true, ..options_forecast(sizes) };
    let mut account = drawn(&draws, (2, 2), 1.0);
    // The size that was assumed was far too large.
    let expected = Expected { is_assumed: true, sessions: assuming((4, 3)).by_kind, ..Expected::default() };
    account.run.expected = Some(expected);
    let likely = |forecast| estimate(&forecast, &[&account]).unwrap().sessions.likely;
    let units = account.units.len();
    assert_eq!(units, 6);
    assert!((4.5..8.0).contains(&likely(assuming((4, 3)))), "{}", likely(assuming((4, 3))));
    assert!(likely(assuming((2, 2))) > 4.5, "{}", likely(assuming((2, 2))));
    assert!(likely(assuming((6, 4))) > 20.0, "{}", likely(assuming((6, 4))));
}
