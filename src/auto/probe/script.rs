//! The model's part in a trial: it lets the client make one file with its shell, unless there is a fault.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::compare::Trial;
use super::exchange::{Reply, Request, Usage};
use super::facts::Tool;
use super::faults::{Fault, ServiceError};
use super::server::Part;

/// The prompt, with characters that a command line may lose: quotes, a backslash, a second line.
pub(super) const PROMPT: &str =
    "Do the work of unit GSD-PROBE-UNIT, \"step by step\",\nwith no \\ left out, and say when it is done.";
/// Requests without this word are made by the client outside the conversation.
const UNIT: &str = "GSD-PROBE-UNIT";

/// The file to make, and the text in the conversation that shows that the call was made.
pub(super) const MADE: &str = "made";
const MARK: &str = "step-1-of-probe";

/// How often the step is requested if the client does not take it.
const PATIENCE: usize = 4;

/// The reported cost of each answer: numbers that no client would produce itself.
const COST: Usage = Usage { input: 1009, cached: 307, output: 113 };

#[derive(Debug)]
pub(super) struct ScriptedModel {
    shell: &'static Tool,
    fault: Option<Fault>,
    tries: AtomicUsize,
}

impl ScriptedModel {
    pub(super) fn new(shell: &'static Tool, trial: Trial) -> Self {
        Self { shell, fault: fault_of(trial), tries: AtomicUsize::new(0) }
    }
}

fn fault_of(trial: Trial) -> Option<Fault> {
    let refusal = match trial {
        Trial::Work | Trial::Refused => return None,
        Trial::Cut => return Some(Fault::Cut),
        Trial::Hang => return Some(Fault::Hang),
        Trial::Unauthorized => ServiceError::BadKey,
        Trial::Forbidden => ServiceError::Forbidden,
        Trial::Busy => ServiceError::TooMany(Duration::from_secs(1)),
        Trial::Exhausted => ServiceError::UsedUp(Duration::from_secs(3 * 3600)),
        Trial::Broken => ServiceError::Broken,
        Trial::Overloaded => ServiceError::Overloaded,
        Trial::TooLong => ServiceError::PromptTooLong,
    };
    Some(Fault::Status(refusal))
}

/// True if the model received the prompt unchanged.
pub(super) fn has_prompt(requests: &[Request]) -> bool {
    let texts = requests.iter().filter(|request| request.offers_tools()).map(Request::text);
    let quoted = format!("\"{PROMPT}");
    texts.into_iter().any(|text| text.contains(PROMPT) && !text.contains(&quoted))
}

impl Part for ScriptedModel {
    fn reply(&self, request: &Request) -> Reply {
        let text = request.text();
        if !text.contains(UNIT) {
            return Reply::Say("Nothing to say".to_owned());
        }
        if text.contains(MARK) {
            return Reply::Say("The unit is done.".to_owned());
        }
        if self.tries.fetch_add(1, Ordering::Relaxed) >= PATIENCE {
            return Reply::Say("I give up.".to_owned());
        }
        // Every shell has `echo`.
        Reply::Call(self.shell.call(&format!("echo {MARK} > {MADE}")))
    }

    fn fault(&self, _request: &Request) -> Option<Fault> {
        self.fault
    }

    fn usage(&self, _request: &Request) -> Usage {
        COST
    }
}
