//! What a run will probably take, from earlier runs of the same client.
//!
//! Each unit of an earlier run is a sample of its kind, with its repeated attempts and its checks. The sum over the forecast
//! units has a mean and a variance; how far whole runs were from such sums, and how many more units they had than
//! forecast, widen it. The spread is the middle nine tenths of a lognormal distribution with that mean and variance:
//! durations and costs are never negative, and their upper end is the longer one.

use std::collections::BTreeMap;

use super::{RunAccount, UnitAccount};
use crate::auto::expected::{Estimate, Expected, Spread};
use crate::auto::slices::forecast::{Forecast, Shape};
use crate::auto::unit::UnitKind;

/// The mean and the variance of a quantity, and how many values it is from.
#[derive(Clone, Copy, Debug, Default)]
struct Moments {
    mean: f64,
    variance: f64,
    count: usize,
}

impl Moments {
    fn of(values: &[f64]) -> Self {
        let count = as_number(values.len());
        if values.is_empty() {
            return Self::default();
        }
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Self { mean, variance: if values.len() > 1 { squares / (count - 1.0) } else { 0.0 }, count: values.len() }
    }

    /// The variance of one further value, with the uncertainty of the mean.
    fn of_next(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.variance * (1.0 + 1.0 / as_number(self.count)) }
    }
}

fn as_number(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::from(u32::MAX), f64::from)
}

/// The number by which a standard deviation is multiplied for the middle nine tenths, with this many degrees of freedom.
fn quantile(freedom: usize) -> f64 {
    // With one or two values the true one is far too wide to be of use.
    const FEW: [f64; 10] = [2.35, 2.35, 2.35, 2.13, 2.02, 1.94, 1.89, 1.86, 1.83, 1.81];
    match freedom {
        0..=10 => FEW[freedom.saturating_sub(1).min(9)],
        11..=20 => 1.75,
        21..=40 => 1.70,
        _ => 1.65,
    }
}

/// One quantity of a unit, and of what a run does around its units.
struct Measure {
    of_unit: fn(&UnitAccount) -> Option<f64>,
    around: fn(&RunAccount) -> f64,
}

const SESSIONS: Measure = Measure { of_unit: |unit| Some(as_number(unit.sessions.len())), around: |_| 0.0 };
const TOKENS: Measure = Measure { of_unit: |unit| Some(large(unit.totals().tokens)), around: |_| 0.0 };
const TIME: Measure =
    Measure { of_unit: |unit| Some(large(unit.milliseconds)), around: |account| large(account.around) };
const MONEY: Measure = Measure { of_unit: |unit| unit.totals().usd, around: |_| 0.0 };

fn large(number: u64) -> f64 {
    let (high, low) = (number >> 32, number & u64::from(u32::MAX));
    let part = |part: u64| u32::try_from(part).map_or(0.0, f64::from);
    part(high) * 4_294_967_296.0 + part(low)
}

/// Returns what the forecast units will probably take; `None` if no earlier run landed.
pub(crate) fn estimate(forecast: &Forecast, earlier: &[&RunAccount]) -> Option<Estimate> {
    let landed: Vec<&RunAccount> = earlier.iter().copied().filter(|account| account.landing.is_some()).collect();
    if landed.is_empty() {
        return None;
    }
    let more = growth(forecast, &landed);
    let spread = |measure: &Measure| spread(measure, forecast, &landed, more);
    Some(Estimate {
        runs: landed.len(),
        sessions: spread(&SESSIONS)?,
        tokens: spread(&TOKENS)?,
        milliseconds: spread(&TIME)?,
        usd: spread(&MONEY),
    })
}

/// How many units earlier runs had for each one that was forecast, if this forecast assumes the size that theirs did.
fn growth(forecast: &Forecast, landed: &[&RunAccount]) -> Moments {
    let certain = Moments { mean: 1.0, variance: 0.0, count: landed.len() };
    let Some(shape) = forecast.assumed else { return certain };
    let ratio = |account: &&RunAccount| {
        let is_alike = |expected: &Expected| expected.is_assumed && expected.shape == shape;
        (account.run.expected.as_ref().map_or(shape == Shape::default(), is_alike) && account.run.forecast > 0)
            .then(|| as_number(account.units.len()) / f64::from(account.run.forecast))
    };
    let ratios: Vec<f64> = landed.iter().filter_map(ratio).collect();
    match ratios.len() {
        0 => Moments { variance: 0.25, ..certain },
        // One run shows nothing about how much they differ.
        1 => Moments { variance: 0.1 * Moments::of(&ratios).mean.powi(2), ..Moments::of(&ratios) },
        _ => Moments::of(&ratios),
    }
}

fn spread(measure: &Measure, forecast: &Forecast, landed: &[&RunAccount], more: Moments) -> Option<Spread> {
    let mut by_kind: BTreeMap<UnitKind, Vec<f64>> = BTreeMap::new();
    for unit in landed.iter().flat_map(|account| &account.units).filter(|unit| unit.commit.is_some()) {
        if let Some(value) = (measure.of_unit)(unit) {
            by_kind.entry(unit.unit.kind).or_default().push(value);
        }
    }
    if by_kind.is_empty() {
        return None;
    }
    let kinds: BTreeMap<UnitKind, Moments> =
        by_kind.iter().map(|(kind, values)| (*kind, Moments::of(values))).collect();
    let variation = variation(&kinds);
    let all: Vec<f64> = by_kind.values().flatten().copied().collect();
    let any = Moments::of(&all);
    // A kind with one sample varies as the others do; one without is like any unit.
    let of_kind = |kind: &UnitKind| match kinds.get(kind) {
        Some(found) if found.count > 1 => *found,
        Some(found) => Moments { variance: (found.mean * variation).powi(2), ..*found },
        None => Moments { count: 1, ..any },
    };
    let (mut mean, mut variance) = (0.0, 0.0);
    for (kind, count) in &forecast.by_kind {
        let (count, sample) = (as_number(*count), of_kind(kind));
        mean += count * sample.mean;
        variance += count * sample.variance * (1.0 + count / as_number(sample.count.max(1)));
    }
    let (mean, variance) = (mean * more.mean, variance * more.mean.powi(2) + mean.powi(2) * more.of_next());
    let around = Moments::of(&landed.iter().map(|account| (measure.around)(account)).collect::<Vec<f64>>());
    let between = between_runs(measure, landed, &of_kind);
    let mean = mean + around.mean;
    let variance = variance + around.of_next() + mean.powi(2) * between;
    let is_by_run = between > 0.0 || more.variance > 0.0;
    let freedom = if is_by_run { landed.len().saturating_sub(1) } else { all.len().saturating_sub(kinds.len()) };
    Some(lognormal(mean, variance, quantile(freedom)))
}

/// The standard deviation of the kinds for each unit of their means.
fn variation(kinds: &BTreeMap<UnitKind, Moments>) -> f64 {
    let known = kinds.values().filter(|sample| sample.count > 1 && sample.mean > 0.0);
    let squares: Vec<f64> = known.map(|sample| sample.variance / sample.mean.powi(2)).collect();
    if squares.is_empty() { 0.5 } else { Moments::of(&squares).mean.sqrt() }
}

/// The variance, relative to the mean, by which whole runs differ more than their units explain.
fn between_runs(measure: &Measure, landed: &[&RunAccount], of_kind: &impl Fn(&UnitKind) -> Moments) -> f64 {
    if landed.len() < 3 {
        return 0.0;
    }
    let mut ratios = Vec::new();
    let mut explained = 0.0;
    for account in landed {
        let units = account.units.iter().filter(|unit| unit.commit.is_some());
        let (mut actual, mut mean, mut variance) = (0.0, 0.0, 0.0);
        for unit in units {
            let Some(value) = (measure.of_unit)(unit) else { continue };
            let sample = of_kind(&unit.unit.kind);
            actual += value;
            mean += sample.mean;
            variance += sample.variance;
        }
        if mean > 0.0 {
            ratios.push(actual / mean);
            explained += variance / mean.powi(2);
        }
    }
    let found = Moments::of(&ratios);
    let excess = found.variance - explained / as_number(ratios.len().max(1));
    if excess > 0.0 { excess * (1.0 + 1.0 / as_number(found.count.max(1))) } else { 0.0 }
}

fn lognormal(mean: f64, variance: f64, quantile: f64) -> Spread {
    if mean <= 0.0 {
        return Spread { low: 0.0, likely: 0.0, high: 0.0 };
    }
    let squared = 1.0 + variance / mean.powi(2);
    let (likely, deviation) = (mean / squared.sqrt(), squared.ln().sqrt());
    let factor = (quantile * deviation).exp();
    Spread { low: likely / factor, likely, high: likely * factor }
}
