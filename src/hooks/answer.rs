//! A verdict in the host's own form: what is printed where, and the exit code.
//!
//! Standard output holds one JSON object or nothing. Some hosts refuse an answer with a key they do not know, so there
//! is no key here that the dialect has not: the code of a refusal stands before its reason.

use serde_json::{Map, Value};

use super::payload::Payload;
use super::verdict::{Block, Verdict};
use crate::library::Event;
use crate::runtime::Dialect;

/// What the process leaves behind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: u8,
}

impl Answer {
    pub(crate) fn text(stdout: String) -> Self {
        Answer { stdout, ..Answer::default() }
    }
}

/// The exit code that refuses, where the code is the answer.
const REFUSED: u8 = 2;

/// The answer to `event`; of a verdict that says nothing, nothing.
pub(crate) fn answer(dialect: Dialect, event: Event, payload: &Payload, verdict: &Verdict) -> Answer {
    if let Some(block) = &verdict.block {
        return refusal(dialect, event, payload, block);
    }
    let note = (!verdict.notes.is_empty()).then(|| verdict.notes.join("\n\n"));
    let told = (!verdict.told.is_empty()).then(|| verdict.told.join("\n"));
    let mut pairs = Pairs::default();
    match dialect {
        Dialect::Standard | Dialect::BeforeAfter => {
            // Where the host takes no context for the agent, the person sees the note.
            let (context, shown) = if takes_context(dialect, event) { (note, told) } else { (None, both(note, told)) };
            if let Some(context) = context {
                pairs.object("hookSpecificOutput", specific(payload).with("additionalContext", context));
            }
            pairs.maybe("systemMessage", shown);
        }
        Dialect::Camel => pairs.maybe("additionalContext", both(note, told)),
        // No word on the permission: to allow might spare the person the question that the host would ask.
        Dialect::Conversation if matches!(event, Event::BeforeTool | Event::SubagentStart) => {
            pairs.maybe("user_message", told);
            pairs.maybe("agent_message", note);
        }
        Dialect::Conversation => pairs.maybe("additional_context", both(note, told)),
        Dialect::Decision => pairs.maybe("context", both(note, told)),
        Dialect::Cancel => {
            if let Some(note) = both(note, told) {
                pairs.flag("cancel", false);
                pairs.text("contextModification", note);
            }
        }
        Dialect::ExitCode => {}
        Dialect::Plugin => {
            pairs.maybe("context", note);
            pairs.maybe("tell", told);
        }
    }
    Answer::text(pairs.into_text())
}

fn refusal(dialect: Dialect, event: Event, payload: &Payload, block: &Block) -> Answer {
    let reason = format!("{}: {}", block.code, block.reason);
    let mut pairs = Pairs::default();
    match (dialect, event) {
        (Dialect::Standard, Event::BeforeTool) => {
            let specific =
                specific(payload).with("permissionDecision", "deny").with("permissionDecisionReason", reason);
            pairs.object("hookSpecificOutput", specific);
        }
        (Dialect::Standard | Dialect::Decision, _) | (Dialect::Camel, Event::Stop | Event::SubagentStop) => {
            pairs.text("decision", "block");
            pairs.text("reason", reason);
        }
        (Dialect::BeforeAfter, _) => {
            pairs.text("decision", "deny");
            pairs.text("reason", reason);
        }
        (Dialect::Camel, Event::BeforeTool) => {
            pairs.text("permissionDecision", "deny");
            pairs.text("permissionDecisionReason", reason);
        }
        (Dialect::Conversation, Event::BeforeTool | Event::SubagentStart) => {
            pairs.text("permission", "deny");
            pairs.text("user_message", reason.as_str());
            pairs.text("agent_message", reason);
        }
        // To cancel ends the whole run and tells the agent nothing. A tool without input refuses itself, and the run
        // goes on with our reason.
        (Dialect::Cancel, Event::BeforeTool) => {
            pairs.flag("cancel", false);
            pairs.nothing("overrideInput");
            pairs.text("contextModification", reason);
        }
        // What has happened cannot be refused; the agent is told.
        (Dialect::Camel, _) => pairs.text("additionalContext", reason),
        (Dialect::Conversation, _) => pairs.text("additional_context", reason),
        (Dialect::Cancel, _) => {
            pairs.flag("cancel", false);
            pairs.text("contextModification", reason);
        }
        (Dialect::ExitCode, _) => {
            return Answer { stdout: String::new(), stderr: format!("{reason}\n"), code: REFUSED };
        }
        (Dialect::Plugin, _) => pairs.text("block", reason),
    }
    Answer::text(pairs.into_text())
}

/// Whether an answer to the event may hold context for the agent.
fn takes_context(dialect: Dialect, event: Event) -> bool {
    match event {
        Event::SessionStart | Event::AfterTool | Event::SubagentStart | Event::FileChanged => true,
        Event::BeforeTool => dialect == Dialect::Standard,
        Event::BeforeCompact | Event::SubagentStop | Event::Stop | Event::StatusLine => false,
    }
}

fn both(one: Option<String>, other: Option<String>) -> Option<String> {
    match (one, other) {
        (Some(one), Some(other)) => Some(format!("{one}\n\n{other}")),
        (one, other) => one.or(other),
    }
}

fn specific(payload: &Payload) -> Pairs {
    Pairs::default().with("hookEventName", payload.event_name().unwrap_or_default())
}

/// A JSON object in the making.
#[derive(Debug, Default)]
struct Pairs(Map<String, Value>);

impl Pairs {
    fn with(mut self, key: &str, value: impl Into<String>) -> Self {
        self.text(key, value);
        self
    }

    fn text(&mut self, key: &str, value: impl Into<String>) {
        self.0.insert(key.to_owned(), Value::String(value.into()));
    }

    fn maybe(&mut self, key: &str, value: Option<String>) {
        if let Some(value) = value {
            self.text(key, value);
        }
    }

    fn flag(&mut self, key: &str, value: bool) {
        self.0.insert(key.to_owned(), Value::Bool(value));
    }

    fn nothing(&mut self, key: &str) {
        self.0.insert(key.to_owned(), Value::Null);
    }

    fn object(&mut self, key: &str, value: Pairs) {
        self.0.insert(key.to_owned(), Value::Object(value.0));
    }

    fn into_text(self) -> String {
        if self.0.is_empty() { String::new() } else { Value::Object(self.0).to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::verdict::Finding;
    use super::*;

    fn said(dialect: Dialect, event: Event, findings: &[Finding]) -> Answer {
        let payload = Payload::parse(r#"{"hook_event_name":"E"}"#).unwrap();
        let mut verdict = Verdict::default();
        findings.iter().cloned().for_each(|finding| verdict.add(finding));
        answer(dialect, event, &payload, &verdict)
    }

    const EVENTS: [Event; 9] = [
        Event::SessionStart,
        Event::BeforeTool,
        Event::AfterTool,
        Event::BeforeCompact,
        Event::SubagentStart,
        Event::SubagentStop,
        Event::Stop,
        Event::FileChanged,
        Event::StatusLine,
    ];

    const DIALECTS: [Dialect; 8] = [
        Dialect::Standard,
        Dialect::BeforeAfter,
        Dialect::Camel,
        Dialect::Conversation,
        Dialect::Decision,
        Dialect::Cancel,
        Dialect::ExitCode,
        Dialect::Plugin,
    ];

    #[test]
    fn each_dialect_gets_its_own_note() {
        let notes = |event| DIALECTS.map(|dialect| said(dialect, event, &[Finding::Note("x".into())]).stdout);
        assert_eq!(
            notes(Event::BeforeTool),
            [
                r#"{"hookSpecificOutput":{"hookEventName":"E","additionalContext":"x"}}"#,
                r#"{"systemMessage":"x"}"#,
                r#"{"additionalContext":"x"}"#,
                r#"{"agent_message":"x"}"#,
                r#"{"context":"x"}"#,
                r#"{"cancel":false,"contextModification":"x"}"#,
                "",
                r#"{"context":"x"}"#,
            ]
        );
        assert_eq!(
            notes(Event::AfterTool)[..4],
            [
                r#"{"hookSpecificOutput":{"hookEventName":"E","additionalContext":"x"}}"#,
                r#"{"hookSpecificOutput":{"hookEventName":"E","additionalContext":"x"}}"#,
                r#"{"additionalContext":"x"}"#,
                r#"{"additional_context":"x"}"#,
            ]
        );
        assert_eq!(notes(Event::Stop)[0], r#"{"systemMessage":"x"}"#);
    }

    #[test]
    fn each_dialect_gets_its_own_refusal_and_it_wins_over_notes() {
        let findings = [
            Finding::Note("n".into()),
            Finding::block("NO", "x"),
            Finding::block("LATER", "y"),
            Finding::Tell("t".into()),
        ];
        let refusals = DIALECTS.map(|dialect| said(dialect, Event::BeforeTool, &findings));
        let texts = refusals.each_ref().map(|answer| answer.stdout.as_str());
        assert_eq!(
            texts,
            [
                r#"{"hookSpecificOutput":{"hookEventName":"E","permissionDecision":"deny","permissionDecisionReason":"NO: x"}}"#,
                r#"{"decision":"deny","reason":"NO: x"}"#,
                r#"{"permissionDecision":"deny","permissionDecisionReason":"NO: x"}"#,
                r#"{"permission":"deny","user_message":"NO: x","agent_message":"NO: x"}"#,
                r#"{"decision":"block","reason":"NO: x"}"#,
                r#"{"cancel":false,"overrideInput":null,"contextModification":"NO: x"}"#,
                "",
                r#"{"block":"NO: x"}"#,
            ]
        );
        for (dialect, answer) in DIALECTS.into_iter().zip(&refusals) {
            let by_code = dialect == Dialect::ExitCode;
            assert_eq!((answer.code, answer.stderr.as_str()), if by_code { (2, "NO: x\n") } else { (0, "") });
        }
        let after = said(Dialect::Standard, Event::AfterTool, &findings);
        assert_eq!(after.stdout, r#"{"decision":"block","reason":"NO: x"}"#);
        let after = said(Dialect::Cancel, Event::AfterTool, &findings);
        assert_eq!(after.stdout, r#"{"cancel":false,"contextModification":"NO: x"}"#);
    }

    #[test]
    fn silence_is_silence_and_what_is_for_the_person_is_not_for_the_agent() {
        for dialect in DIALECTS {
            for event in EVENTS {
                assert_eq!(said(dialect, event, &[Finding::Nothing]), Answer::default(), "{dialect:?} {event:?}");
            }
        }
        let told = said(Dialect::Standard, Event::SessionStart, &[Finding::Tell("t".into())]);
        assert_eq!(told.stdout, r#"{"systemMessage":"t"}"#);
    }
}
