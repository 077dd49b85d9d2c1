//! What a run will probably take, from earlier runs of the same client.
//!
//! Each unit of an earlier run is a sample of its kind, with its repeated attempts and its checks. The sum over the forecast
//! units has a mean and a variance; how far whole runs were from such sums, and how much their numbers of units differed,
//! widen it. The spread is the middle nine tenths of a lognormal distribution with that mean and variance:
//! durations and costs are never negative, and their upper end is the longer one.

use std::collections::BTreeMap;

use super::{RunAccount, UnitAccount};
use crate::auto::expected::{Estimate, Spread};
use crate::auto::slices::forecast::Forecast;
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
    let counts = ExpectedUnits::of(forecast, &landed);
    let spread = |measure: &Measure| spread(measure, &counts, &landed);
    Some(Estimate {
        runs: landed.len(),
        sessions: spread(&SESSIONS)?,
        tokens: spread(&TOKENS)?,
        milliseconds: spread(&TIME)?,
        usd: spread(&MONEY),
    })
}

/// How many units there will probably be.
struct ExpectedUnits {
    by_kind: BTreeMap<UnitKind, f64>,
    /// How much the number of all units differs between runs, for each unit of it.
    variation: Moments,
}

impl ExpectedUnits {
    /// What is forecast. If that assumes a size, what earlier runs had that assumed the same.
    fn of(forecast: &Forecast, landed: &[&RunAccount]) -> Self {
        let by_kind = forecast.by_kind.iter().map(|(kind, count)| (*kind, as_number(*count))).collect();
        let certain = Moments { mean: 1.0, variance: 0.0, count: landed.len() };
        if !forecast.is_assumed {
            return Self { by_kind, variation: certain };
        }
        let is_alike = |account: &&&RunAccount| {
            let expected = account.run.expected.as_ref();
            expected.is_some_and(|expected| expected.is_assumed && expected.sessions == forecast.by_kind)
        };
        let alike: Vec<&&RunAccount> = landed.iter().filter(is_alike).collect();
        if alike.is_empty() {
            return Self { by_kind, variation: Moments { variance: 0.25, ..certain } };
        }
        let mut by_kind: BTreeMap<UnitKind, f64> = BTreeMap::new();
        for unit in alike.iter().flat_map(|account| &account.units) {
            *by_kind.entry(unit.unit.kind).or_default() += 1.0 / as_number(alike.len());
        }
        let all = Moments::of(&alike.iter().map(|account| as_number(account.units.len())).collect::<Vec<f64>>());
        // One run shows nothing about how much they differ.
        let variance = if alike.len() == 1 { 0.1 } else { all.variance / all.mean.powi(2) };
        Self { by_kind, variation: Moments { mean: 1.0, variance, count: alike.len() } }
    }
}

fn spread(measure: &Measure, counts: &ExpectedUnits, landed: &[&RunAccount]) -> Option<Spread> {
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
    for (kind, count) in &counts.by_kind {
        let sample = of_kind(kind);
        mean += count * sample.mean;
        variance += count * sample.variance * (1.0 + count / as_number(sample.count.max(1)));
    }
    let variance = variance + mean.powi(2) * counts.variation.of_next();
    let around = Moments::of(&landed.iter().map(|account| (measure.around)(account)).collect::<Vec<f64>>());
    let between = between_runs(measure, landed, &of_kind);
    let mean = mean + around.mean;
    let variance = variance + around.of_next() + mean.powi(2) * between;
    // What a run has in common, such as a slow machine, is seen once in each run.
    Some(lognormal(mean, variance, quantile(landed.len() - 1)))
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
