//! The prompt of a unit as the model received it: what it orders, and how much of a request it shares with the one
//! before.

use serde_json::Value;

use crate::clients::server::Request;
use crate::kit::repository;

/// How every prompt of a unit begins, and how its last line begins.
const BEGINS: [&str; 2] = ["# One unit of an unattended run\n", "# One workflow of an unattended run\n"];
const END: &str = "\ngsd-unit: ";

/// The parts of a request, in the order in which services cache them.
const CACHED: [&str; 7] = ["tools", "system", "instructions", "systemInstruction", "messages", "input", "contents"];

/// What the agent is ordered to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    pub(crate) prompt: String,
    pub(crate) kind: String,
    pub(crate) id: String,
}

impl Order {
    /// The order that a conversation began with.
    pub(crate) fn within(text: &str) -> Option<Self> {
        let from = BEGINS.iter().filter_map(|begin| text.find(begin)).min()?;
        let end = from + text[from..].find(END)? + END.len();
        let unit = text[end..].lines().next()?;
        let prompt = text[from..end + unit.len()].to_owned() + "\n";
        let (kind, id) = unit.split_once(' ')?;
        Some(Self { prompt, kind: kind.to_owned(), id: id.to_owned() })
    }

    /// A fact of the unit, such as `Working directory`.
    pub(crate) fn fact(&self, name: &str) -> &str {
        let line = self.unit().lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        line.unwrap_or_else(|| panic!("the prompt does not say `{name}`:\n{}", self.unit()))
    }

    /// The path at which the prompt says to write `what`.
    pub(crate) fn target(&self, what: &str) -> &str {
        let line = self.unit().lines().find_map(|line| line.strip_prefix(&format!("- {what}: `")));
        let line = line.unwrap_or_else(|| panic!("the prompt names no `{what}`:\n{}", self.unit()));
        line.trim_end_matches('`')
    }

    /// The documents that must be read.
    pub(crate) fn mandatory(&self) -> Vec<&str> {
        let headings = ["Mandatory, to read first, whole, in this order:", "Read as well, before you write:"];
        let lists = headings.iter().filter_map(|heading| self.unit().split_once(&format!("\n{heading}\n")));
        let lines = lists.flat_map(|(_, list)| list.lines().take_while(|line| !line.is_empty()));
        lines.map(|line| line.split('`').nth(1).unwrap_or_else(|| panic!("no path in `{line}`"))).collect()
    }

    /// The commands of the task plan.
    pub(crate) fn checks(&self) -> Vec<&str> {
        let (_, plan) = self.unit().split_once("\ntask plan, `").expect("the prompt has the task plan");
        let (_, checks) = plan.split_once("\n## Verification\n").expect("the task plan has its verification");
        let lines = checks.lines().map_while(|line| line.strip_prefix("- `"));
        lines.map(|line| line.trim_end_matches('`')).collect()
    }

    /// True if the prompt says to make this call.
    pub(crate) fn orders(&self, call: &str) -> bool {
        self.prompt.contains(&format!("`gsd-tools {call} "))
    }

    fn unit(&self) -> &str {
        self.prompt.split_once("\n# Unit\n").expect("the prompt has its unit").1
    }

    /// The texts that all units of this class begin with.
    fn stable(&self) -> String {
        let of_class = match self.kind.as_str() {
            "plan-milestone" | "plan-slice" => "planning",
            "discuss-milestone" => "study",
            kind => kind,
        };
        let text =
            |name: &str| std::fs::read_to_string(repository().join(format!("templates/auto/{name}.md"))).unwrap();
        format!("{}\n{}", text("common"), text(of_class))
    }

    /// True if units of both kinds begin with the same texts.
    pub(crate) fn is_of_class_of(&self, other: &Self) -> bool {
        self.stable() == other.stable()
    }
}

/// The first request of a unit.
#[derive(Clone, Debug)]
pub(crate) struct Opening {
    pub(crate) order: Order,
    body: Value,
}

impl Opening {
    /// The first request of each unit, in order of arrival.
    pub(crate) fn of(requests: &[Request]) -> Vec<Self> {
        let mut openings: Vec<Self> = Vec::new();
        for request in requests.iter().filter(|request| request.asks_the_model() && request.offers_tools()) {
            let Some(order) = Order::within(&request.text()) else { continue };
            if openings.iter().all(|known| known.order != order) {
                openings.push(Self { order, body: request.body.clone() });
            }
        }
        openings
    }

    /// The part that a cache keeps, from the beginning.
    fn cached(&self) -> String {
        let mut text = String::new();
        for key in CACHED {
            collect(&self.body[key], &mut text);
        }
        text
    }

    /// How much this request has in common with the one of its class before.
    pub(crate) fn shared_with(&self, before: &Self) -> Shared {
        let stable = self.order.stable();
        assert!(self.order.prompt.starts_with(&stable), "{} does not begin as its class", self.order.kind);
        let of_prompt = same(&self.order.prompt, &before.order.prompt);
        let (this, other) = (self.cached(), before.cached());
        let begin = this.find(BEGINS[0]).unwrap();
        let of_request = same(&this, &other);
        let around = |text: &str| {
            let bytes = &text.as_bytes()[of_request.saturating_sub(120)..text.len().min(of_request + 120)];
            String::from_utf8_lossy(bytes).into_owned()
        };
        Shared {
            stable: percent(of_prompt, stable.len()),
            cached: percent(of_request.saturating_sub(begin), stable.len()),
            request: percent(of_request, begin + stable.len()),
            difference: format!("at byte {of_request}:\n{}\n--- before:\n{}", around(&this), around(&other)),
        }
    }
}

/// What two units of a class have in common from their beginning, in percent.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    /// Of the texts that all units of the class begin with.
    pub(crate) stable: f64,
    /// Of those texts, if everything that the client sends in front of them is the same too: what a cache can reuse.
    pub(crate) cached: f64,
    /// Of the request up to the end of those texts, with everything that the client sends in front of them.
    pub(crate) request: f64,
    /// The first place at which the requests differ.
    pub(crate) difference: String,
}

fn same(one: &str, other: &str) -> usize {
    one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count()
}

#[expect(clippy::cast_precision_loss, reason = "some thousand bytes")]
fn percent(part: usize, whole: usize) -> f64 {
    part.min(whole) as f64 * 100.0 / whole as f64
}

/// Collects the texts of a value. A model does not see the names of the items of a conversation.
fn collect(value: &Value, text: &mut String) {
    match value {
        Value::String(string) => *text += string,
        Value::Array(items) => {
            for item in items {
                collect(item, text);
            }
        }
        Value::Object(entries) => {
            for (key, item) in entries.iter().filter(|(key, _)| *key != "id") {
                *text += key;
                collect(item, text);
            }
        }
        _ => {}
    }
}
