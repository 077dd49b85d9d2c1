//! The usage file that a client writes when it ends: the tokens and cost of each model.

use serde_json::Value;

use super::event::{ClientEvent, MoneyUnit, Tokens, UsageScope};

/// The most bytes that are read.
const LIMIT: u64 = 4 << 20;

/// One unit of the file in credits.
const NANO: f64 = 1e-9;

/// Returns the content of the file; empty if it is missing, or has nothing known.
pub(super) fn read(path: &crate::disk::AbsolutePath) -> Vec<ClientEvent> {
    let bytes = crate::disk::read_up_to(path, LIMIT).ok().flatten().unwrap_or_default();
    events(&bytes)
}

fn events(bytes: &[u8]) -> Vec<ClientEvent> {
    let Ok(file) = serde_json::from_slice::<Value>(bytes) else { return Vec::new() };
    let number = |value: &Value, key: &str| value.pointer(key).and_then(Value::as_u64).unwrap_or(0);
    let of_model = |model: &Value| {
        let cached = number(model, "/usage/cacheReadTokens");
        Tokens {
            // All of the prompt is counted as input.
            input: number(model, "/usage/inputTokens").saturating_sub(cached),
            output: number(model, "/usage/outputTokens"),
            cached,
        }
    };
    let models = file.get("modelMetrics").and_then(Value::as_object);
    let tokens = models.and_then(|models| models.values().map(of_model).reduce(Tokens::plus));
    // Both "nothing spent" and "unknown" are written as zero.
    let status = file.get("aiCreditsStatus").and_then(Value::as_str);
    let is_known = status.is_some_and(|status| status != "unavailable");
    let credits = file.get("totalNanoAiu").and_then(Value::as_f64).filter(|credits| is_known || *credits > 0.0);
    let money = credits.map(|amount| ClientEvent::Money {
        scope: UsageScope::Session,
        amount: amount * NANO,
        unit: MoneyUnit::Credits,
    });
    tokens.map(|tokens| ClientEvent::Usage { scope: UsageScope::Session, tokens }).into_iter().chain(money).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tokens_of_all_models_are_added_and_unknown_credits_are_not_zero() {
        let file = br#"{"totalNanoAiu": 0, "aiCreditsStatus": "unavailable", "modelMetrics": {
            "a": {"usage": {"inputTokens": 20, "outputTokens": 10, "cacheReadTokens": 15}},
            "b": {"usage": {"inputTokens": 1, "outputTokens": 2}}}}"#;
        let tokens = Tokens { input: 6, output: 12, cached: 15 };
        assert_eq!(events(file), [ClientEvent::Usage { scope: UsageScope::Session, tokens }]);
        let paid = br#"{"totalNanoAiu": 2500000000}"#;
        assert_eq!(
            events(paid),
            [ClientEvent::Money { scope: UsageScope::Session, amount: 2.5, unit: MoneyUnit::Credits }]
        );
        assert_eq!(events(b"{"), []);
    }
}
