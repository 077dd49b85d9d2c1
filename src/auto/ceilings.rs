//! What a run may spend, and whether the next session still fits. Enabled by default.

use serde::{Deserialize, Serialize};

/// The limits of a run and of one unit of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ceilings {
    /// Sessions of the run. The default is one and a half times the forecast plus three.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sessions: Option<u32>,
    /// US dollars of the run, as reported by the client.
    pub(crate) money: f64,
    /// Output tokens of a unit.
    pub(crate) unit_tokens: u64,
    /// Minutes of a unit.
    pub(crate) unit_minutes: u32,
    /// Model calls in a row without the use of a tool.
    pub(crate) calls_without_tool: u32,
    /// US dollars of one session, if set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) unit_money: Option<f64>,
    /// Minutes that a session may be idle, if set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) idle_minutes: Option<u32>,
}

impl Default for Ceilings {
    fn default() -> Self {
        Self {
            sessions: None,
            money: 25.0,
            unit_tokens: 300_000,
            unit_minutes: 30,
            calls_without_tool: 20,
            unit_money: None,
            idle_minutes: None,
        }
    }
}

/// What was spent, or may be spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Spend {
    pub(crate) sessions: u32,
    /// Output and uncached input.
    pub(crate) tokens: u64,
    /// In US dollars, as reported by the client; `None` if unknown, which is not the same as 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) money: Option<f64>,
}

/// A ceiling that the next session would pass.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Passed {
    Sessions { used: u32, most: u32 },
    Money { used: f64, most: f64 },
}

impl Ceilings {
    /// Returns the most sessions of a run whose forecast is `forecast`.
    pub(crate) fn most_sessions(&self, forecast: u32) -> u32 {
        self.sessions.unwrap_or_else(|| forecast.saturating_add(forecast.div_ceil(2)).saturating_add(3))
    }

    /// Returns the ceiling that one more session would pass, based on what is spent and reserved.
    pub(crate) fn passed(&self, spent: &Spend, forecast: u32) -> Option<Passed> {
        let most = self.most_sessions(forecast);
        if spent.sessions >= most {
            return Some(Passed::Sessions { used: spent.sessions, most });
        }
        let used = spent.money.unwrap_or(0.0);
        (used >= self.money).then_some(Passed::Money { used, most: self.money })
    }

    /// Returns what the next session may spend, in US dollars.
    pub(crate) fn rest(&self, spent: &Spend) -> f64 {
        let rest = (self.money - spent.money.unwrap_or(0.0)).max(0.0);
        self.unit_money.map_or(rest, |most| rest.min(most))
    }

    /// Returns the limits of one unit. An estimate above ten minutes raises them in proportion, up to six times.
    pub(crate) fn unit(&self, estimate_minutes: Option<u32>) -> UnitCeiling {
        // Ten minutes count as 1, so a minute is a tenth.
        let tenths = u64::from(estimate_minutes.unwrap_or(0).clamp(10, 60));
        UnitCeiling { tenths, base: *self, used: 0 }
    }
}

/// What one unit may use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct UnitCeiling {
    tenths: u64,
    base: Ceilings,
    /// The output of earlier sessions of the same attempt.
    used: u64,
}

impl UnitCeiling {
    /// Returns the limits of a session that continues an attempt whose earlier sessions used `used` output tokens.
    pub(crate) fn after(self, used: u64) -> Self {
        Self { used, ..self }
    }

    pub(crate) fn tokens(&self) -> u64 {
        (self.base.unit_tokens.saturating_mul(self.tenths) / 10).saturating_sub(self.used)
    }

    pub(crate) fn seconds(&self) -> u64 {
        u64::from(self.base.unit_minutes).saturating_mul(60).saturating_mul(self.tenths) / 10
    }

    /// Returns the seconds that a session may be idle, if set.
    pub(crate) fn idle_seconds(&self) -> Option<u64> {
        self.base.idle_minutes.map(|minutes| u64::from(minutes).saturating_mul(60))
    }

    pub(crate) fn calls_without_tool(&self) -> u32 {
        self.base.calls_without_tool
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_limited_by_the_forecast_unless_a_number_is_given() {
        let ceilings = Ceilings::default();
        assert_eq!([0, 1, 8, 16].map(|forecast| ceilings.most_sessions(forecast)), [3, 5, 15, 27]);
        assert_eq!(Ceilings { sessions: Some(4), ..ceilings }.most_sessions(16), 4);
    }

    #[test]
    fn unknown_money_is_not_zero_and_passes_no_ceiling() {
        let ceilings = Ceilings { money: 1.0, ..Ceilings::default() };
        let spent = |money| Spend { sessions: 0, tokens: 0, money };
        assert_eq!(ceilings.passed(&spent(None), 4), None);
        assert_eq!(ceilings.passed(&spent(Some(0.99)), 4), None);
        assert_eq!(ceilings.passed(&spent(Some(1.0)), 4), Some(Passed::Money { used: 1.0, most: 1.0 }));
    }

    #[test]
    fn a_session_may_spend_the_rest_of_the_run_or_its_own_limit_if_lower() {
        let spent = Spend { sessions: 1, tokens: 0, money: Some(4.0) };
        let cents = |unit_money| {
            let rest = Ceilings { money: 5.0, unit_money, ..Ceilings::default() }.rest(&spent);
            format!("{rest:.2}")
        };
        assert_eq!([None, Some(0.5), Some(2.0)].map(cents), ["1.00", "0.50", "1.00"]);
    }

    #[test]
    fn the_share_of_a_unit_grows_with_its_estimate_up_to_six_times() {
        let minutes = |estimate| Ceilings::default().unit(estimate).seconds() / 60;
        assert_eq!([None, Some(5), Some(10), Some(15), Some(60), Some(600)].map(minutes), [30, 30, 30, 45, 180, 180]);
    }
}
