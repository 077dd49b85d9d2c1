//! All events of a session, folded into what its verdict and its accounts need.

use std::collections::{BTreeMap, BTreeSet};

use super::event::{ClientEvent, MoneyUnit, Quota, QuotaStatus, Terminal, Tokens, ToolState, UsageScope};

/// The most bytes that are kept of the model's last text, or of one complaint.
const LONGEST_TEXT: usize = 4096;

/// The most model answers whose numbers are kept; a session has far fewer.
const MOST_CALLS: usize = 100_000;

/// The most denied tools that are named.
const MOST_DENIED: usize = 50;

/// The highest count of tokens and the highest cost that are accepted. No service reports more, and sums stay exact.
const MOST_TOKENS: u64 = 1_000_000_000_000;
const MOST_MONEY: f64 = 1e9;

/// How many bytes of text count as a token, if the client reports no count.
const BYTES_OF_TOKEN: u64 = 4;

/// What is known of a session from the output of its client.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Heard {
    /// The client's name for the session: what [`super::request::ClientSession`] resumes.
    pub(crate) session: Option<String>,
    pub(crate) model: Option<String>,
    /// Who pays, if the client reports it.
    pub(crate) purse: Option<String>,
    pub(crate) model_calls: u32,
    /// Tool calls, including denied ones.
    pub(crate) tools: u32,
    /// The names of the tools that the client did not let the model use.
    pub(crate) denied: BTreeSet<String>,
    pub(crate) retries: u32,
    /// The last reported quota.
    pub(crate) quota: Option<Quota>,
    /// The question that the client asked a person.
    pub(crate) question: Option<String>,
    /// The last text of the model, from its start.
    pub(crate) text: String,
    /// The last piece of it.
    pub(crate) last_piece: String,
    /// The last error that was not the end, with its status.
    pub(crate) trouble: Option<(Option<u16>, String)>,
    pub(crate) terminal: Option<Terminal>,
    /// Events with content, as opposed to signs of life.
    pub(crate) events: u64,
    pub(crate) signs_of_life: u64,
    /// Whether the next text starts a new answer.
    is_new_answer: bool,
    calls_without_tool: u32,
    retries_without_tool: u32,
    written: u64,
    tokens_of_calls: Calls<Tokens>,
    /// The output of the answer that was counted last.
    last_output: Option<u64>,
    tokens_of_session: Option<Tokens>,
    money_of_calls: Calls<(f64, MoneyUnit)>,
    money_of_session: Option<(f64, MoneyUnit)>,
}

impl Heard {
    pub(crate) fn add(&mut self, event: &ClientEvent) {
        match event {
            ClientEvent::SignOfLife => self.signs_of_life += 1,
            _ => self.events += 1,
        }
        match event {
            ClientEvent::Started { session, model, purse } => {
                keep(&mut self.session, session.as_ref());
                keep(&mut self.model, model.as_ref());
                keep(&mut self.purse, purse.as_ref());
            }
            ClientEvent::ModelCall => self.model_call(),
            ClientEvent::Text { text } => {
                self.written += text.len() as u64;
                self.words(text);
            }
            ClientEvent::Tool { name, state, .. } => self.tool(name, *state),
            ClientEvent::Usage { scope, tokens } => {
                let tokens = tokens.up_to(MOST_TOKENS);
                match scope {
                    UsageScope::Call(name) => {
                        self.last_output = Some(tokens.output);
                        self.tokens_of_calls.count(name, tokens);
                    }
                    UsageScope::Session => self.tokens_of_session = Some(tokens),
                }
            }
            ClientEvent::Money { scope, amount, unit } => {
                // A negative amount would free budget.
                let money = (amount.clamp(0.0, MOST_MONEY), *unit);
                match scope {
                    UsageScope::Call(name) => self.money_of_calls.count(name, money),
                    UsageScope::Session => self.money_of_session = Some(money),
                }
            }
            ClientEvent::Retry { status, why, .. } => {
                self.retries += 1;
                self.retries_without_tool += 1;
                self.complain(*status, why.as_deref().unwrap_or_default());
            }
            ClientEvent::Quota(quota) => self.quota = Some(quota.clone()),
            ClientEvent::Question { text } => self.question = Some(start_of(text).to_owned()),
            ClientEvent::Trouble { status, text } => self.complain(*status, text),
            ClientEvent::Terminal(terminal) => self.terminal = Some(terminal.clone()),
            ClientEvent::SignOfLife => {}
        }
    }

    /// Adds text; answers arrive in pieces.
    fn words(&mut self, text: &str) {
        if self.is_new_answer && !text.trim().is_empty() {
            self.text.clear();
            self.is_new_answer = false;
        }
        start_of(text).clone_into(&mut self.last_piece);
        if self.text.len() < LONGEST_TEXT {
            self.text.push_str(start_of(text));
        }
    }

    /// Records a call of the model; if the model is called again, a previous end is not the end.
    fn model_call(&mut self) {
        self.terminal = None;
        self.is_new_answer = true;
        self.model_calls += 1;
        self.calls_without_tool += 1;
    }

    fn tool(&mut self, name: &str, state: ToolState) {
        self.is_new_answer = true;
        (self.calls_without_tool, self.retries_without_tool) = (0, 0);
        match state {
            ToolState::Started => {
                self.terminal = None;
                self.tools += 1;
            }
            ToolState::Denied if self.denied.len() < MOST_DENIED => {
                self.denied.insert(start_of(name).to_owned());
            }
            ToolState::Finished | ToolState::Failed | ToolState::Denied => {}
        }
    }

    fn complain(&mut self, status: Option<u16>, text: &str) {
        self.trouble = Some((status, start_of(text).to_owned()));
    }

    /// Tokens so far: the client's count for the session, else the sum over the answers.
    pub(crate) fn tokens(&self) -> Option<Tokens> {
        self.tokens_of_session.or(self.tokens_of_calls.sum)
    }

    /// A lower bound for the output so far in tokens: as counted, or as estimated from the text.
    pub(crate) fn output(&self) -> u64 {
        let of_calls = self.tokens_of_calls.sum.map_or(0, |tokens| tokens.output);
        let of_session = self.tokens_of_session.map_or(0, |tokens| tokens.output);
        of_calls.max(of_session).max(self.written / BYTES_OF_TOKEN)
    }

    /// True if the model's last text has no output counted for it, although output is counted. A service counts at the
    /// end of an answer, so an answer that was cut off counts nothing. If tools were used and nothing was counted at
    /// all, the service does not count.
    pub(crate) fn is_last_answer_uncounted(&self) -> bool {
        let of_calls = self.tokens_of_calls.sum.map_or(0, |tokens| tokens.output);
        let of_session = self.tokens_of_session.map(|tokens| tokens.output);
        let is_uncounted = self.last_output.or(of_session) == Some(0);
        let is_counted_else = of_calls > 0 || of_session.is_some_and(|output| output > 0);
        is_uncounted && !self.text.trim().is_empty() && (is_counted_else || self.tools == 0)
    }

    /// What it cost in US dollars, if the client counts in them.
    pub(crate) fn dollars(&self) -> Option<f64> {
        self.money().filter(|(_, unit)| *unit == MoneyUnit::Dollars).map(|(amount, _)| amount)
    }

    /// Money spent, in the unit of the client; `None` if it reports none.
    pub(crate) fn money(&self) -> Option<(f64, MoneyUnit)> {
        self.money_of_session.or(self.money_of_calls.sum)
    }

    /// How many answers the model gave since the last tool event.
    pub(crate) fn calls_without_tool(&self) -> u32 {
        self.calls_without_tool
    }

    /// How often the client retried since the last tool event.
    pub(crate) fn retries_without_tool(&self) -> u32 {
        self.retries_without_tool
    }

    /// When a used-up quota is renewed, in seconds since 1970.
    pub(crate) fn resets_at(&self) -> Option<i64> {
        let quota = self.quota.as_ref().filter(|quota| quota.status == QuotaStatus::Rejected);
        quota.and_then(|quota| quota.resets_at).map(seconds_of)
    }
}

/// Converts a moment in any unit to seconds: no client means a year after 5000.
fn seconds_of(moment: i64) -> i64 {
    const FARTHEST: u64 = 100_000_000_000;
    let mut moment = moment;
    while moment.unsigned_abs() >= FARTHEST {
        moment /= 1000;
    }
    moment
}

fn keep(known: &mut Option<String>, told: Option<&String>) {
    if let Some(told) = told.filter(|told| !told.is_empty()) {
        *known = Some(start_of(told).to_owned());
    }
}

/// Numbers by answer, with their sum, which is needed at every event. A client may correct a number.
#[derive(Clone, Debug, PartialEq)]
struct Calls<T> {
    by_name: BTreeMap<String, T>,
    sum: Option<T>,
}

impl<T> Default for Calls<T> {
    fn default() -> Self {
        Self { by_name: BTreeMap::new(), sum: None }
    }
}

impl<T: Counted> Calls<T> {
    fn count(&mut self, name: &str, number: T) {
        if self.by_name.len() >= MOST_CALLS && !self.by_name.contains_key(name) {
            return;
        }
        let known = self.by_name.insert(name.to_owned(), number);
        self.sum = Some(match (self.sum, known) {
            (Some(sum), Some(known)) if known == number => sum,
            (Some(sum), Some(known)) => sum.plus(number).minus(known),
            (Some(sum), None) => sum.plus(number),
            (None, _) => number,
        });
    }
}

/// Something that can be summed.
trait Counted: Copy + PartialEq {
    fn plus(self, other: Self) -> Self;
    /// Subtracts what was added before.
    fn minus(self, other: Self) -> Self;
}

impl Counted for Tokens {
    fn plus(self, other: Self) -> Self {
        Self::plus(self, other)
    }

    fn minus(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_sub(other.input),
            output: self.output.saturating_sub(other.output),
            cached: self.cached.saturating_sub(other.cached),
        }
    }
}

impl Counted for (f64, MoneyUnit) {
    fn plus(self, other: Self) -> Self {
        (self.0 + other.0, other.1)
    }

    fn minus(self, other: Self) -> Self {
        ((self.0 - other.0).max(0.0), self.1)
    }
}

/// Returns as much of a text as is kept.
pub(super) fn start_of(text: &str) -> &str {
    let mut end = text.len().min(LONGEST_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(output: u64) -> Tokens {
        Tokens { input: 1, output, cached: 0 }
    }

    fn usage(name: &str, output: u64) -> ClientEvent {
        ClientEvent::Usage { scope: UsageScope::Call(name.to_owned()), tokens: tokens(output) }
    }

    fn money(name: &str, amount: f64) -> ClientEvent {
        ClientEvent::Money { scope: UsageScope::Call(name.to_owned()), amount, unit: MoneyUnit::Dollars }
    }

    #[test]
    fn corrected_numbers_replace_earlier_ones_in_the_sum() {
        let mut heard = Heard::default();
        for (name, output) in [("a", 5), ("b", 7), ("a", 6), ("a", 6), ("c", u64::MAX), ("c", 1)] {
            heard.add(&usage(name, output));
        }
        assert_eq!(heard.tokens(), Some(Tokens { input: 3, output: 14, cached: 0 }));
        assert_eq!(heard.output(), 14);
        for (name, amount) in [("a", 0.5), ("b", 1e308), ("b", 0.25), ("c", -7.0)] {
            heard.add(&money(name, amount));
        }
        assert_eq!(heard.money(), Some((0.75, MoneyUnit::Dollars)));
    }

    #[test]
    fn an_absurd_bill_is_shown_as_a_number_of_usual_length() {
        let mut heard = Heard::default();
        heard.add(&ClientEvent::Money { scope: UsageScope::Session, amount: 1e308, unit: MoneyUnit::Dollars });
        let shown = heard.money().map(|(amount, _)| format!("{amount:.2}")).unwrap_or_default();
        assert!(shown.len() < 15, "{shown}");
    }

    /// Measures the queries that are made at every event of a session.
    fn heard_of(calls: u64) -> std::time::Duration {
        let began = std::time::Instant::now();
        let mut heard = Heard::default();
        for number in 0..calls {
            let name = number.to_string();
            for event in [
                ClientEvent::ModelCall,
                usage(&name, 1),
                money(&name, 0.5),
                ClientEvent::Text { text: "word".to_owned() },
            ] {
                heard.add(&event);
                assert!(heard.output() <= calls.max(1) + calls, "{}", heard.output());
                assert!(heard.money().is_none_or(|(amount, _)| amount >= 0.5));
                let _ = (heard.tokens(), heard.is_last_answer_uncounted());
            }
        }
        began.elapsed()
    }

    #[test]
    fn the_time_per_answer_does_not_grow_with_their_number() {
        // The best of three each, since other load on the machine slows down one run and not all.
        let best = |calls: u64| (0..3).map(|_| heard_of(calls)).min().unwrap_or_default();
        let (few, many) = (best(2_500), best(20_000));
        assert!(many < few * 24, "2,500 answers took {few:?}, 20,000 took {many:?}: eight times as many");
    }

    #[test]
    fn a_reset_time_is_understood_in_any_unit() {
        let seconds = 1_795_396_404;
        for (told, expected) in [
            (seconds, seconds),
            (seconds * 1000 + 7, seconds),
            (seconds * 1_000_000, seconds),
            (seconds * 1_000_000_000, seconds),
            (-1, -1),
        ] {
            let quota = Quota { resets_at: Some(told), used: None, status: QuotaStatus::Rejected };
            let heard = Heard { quota: Some(quota), ..Heard::default() };
            assert_eq!(heard.resets_at(), Some(expected), "{told}");
        }
    }
}
