//! A verdict in the host's own form: the output on each stream, and the exit code.
//!
//! Standard output contains one JSON object or nothing. Some hosts refuse an answer with an unknown key, so every key
//! here belongs to the dialect: the code of a refusal is written before its reason.

use serde_json::{Map, Value, json};

use super::payload::Payload;
use super::verdict::{Block, EventVerdict};
use crate::library::Event;
use crate::runtime::Dialect;

/// The output and exit code of the process.
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

/// The exit code that refuses, for dialects in which the code is the answer.
const REFUSED: u8 = 2;

/// Returns the answer to `event`; it is empty if the verdict is.
pub(crate) fn answer(dialect: Dialect, event: Event, payload: &Payload, verdict: &EventVerdict) -> Answer {
    if let Some(block) = &verdict.block {
        return refusal(dialect, event, payload, block);
    }
    let note = (!verdict.notes.is_empty()).then(|| verdict.notes.join("\n\n"));
    let told = (!verdict.told.is_empty()).then(|| verdict.told.join("\n"));
    let [first, second] = match dialect {
        Dialect::Standard | Dialect::BeforeAfter => {
            // If the host accepts no context for the agent, the person sees the note.
            let (context, shown) = if takes_context(dialect, event) { (note, told) } else { (None, both(note, told)) };
            let name = payload.event_name().unwrap_or_default();
            let specific = context.map(|context| json!({"hookEventName": name, "additionalContext": context}));
            [pair("hookSpecificOutput", specific), pair("systemMessage", shown)]
        }
        Dialect::Camel => [pair("additionalContext", both(note, told)), None],
        // The permission is left out: allowing the call might suppress the host's question to the person.
        Dialect::Conversation if matches!(event, Event::BeforeTool | Event::SubagentStart) => {
            [pair("user_message", told), pair("agent_message", note)]
        }
        Dialect::Conversation => [pair("additional_context", both(note, told)), None],
        Dialect::Decision => [pair("context", both(note, told)), None],
        Dialect::Cancel => {
            let note = both(note, told);
            [pair("cancel", note.as_ref().map(|_| false)), pair("contextModification", note)]
        }
        Dialect::ExitCode => [None, None],
        Dialect::Plugin => [pair("context", note), pair("tell", told)],
    };
    let pairs: Map<String, Value> = [first, second].into_iter().flatten().collect();
    Answer::text(if pairs.is_empty() { String::new() } else { Value::Object(pairs).to_string() })
}

/// A key with its value, if there is one.
fn pair(key: &str, value: Option<impl Into<Value>>) -> Option<(String, Value)> {
    value.map(|value| (key.to_owned(), value.into()))
}

fn refusal(dialect: Dialect, event: Event, payload: &Payload, block: &Block) -> Answer {
    let reason = format!("{}: {}", block.code, block.reason);
    let object = match (dialect, event) {
        (Dialect::Standard, Event::BeforeTool) => json!({"hookSpecificOutput": {
            "hookEventName": payload.event_name().unwrap_or_default(),
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        }}),
        (Dialect::Standard | Dialect::Decision, _) | (Dialect::Camel, Event::Stop | Event::SubagentStop) => {
            json!({"decision": "block", "reason": reason})
        }
        (Dialect::BeforeAfter, _) => json!({"decision": "deny", "reason": reason}),
        (Dialect::Camel, Event::BeforeTool) => {
            json!({"permissionDecision": "deny", "permissionDecisionReason": reason})
        }
        (Dialect::Conversation, Event::BeforeTool | Event::SubagentStart) => {
            json!({"permission": "deny", "user_message": reason, "agent_message": reason})
        }
        // Cancelling ends the whole run and shows the agent nothing. A tool without input refuses itself, and the run
        // continues with our reason.
        (Dialect::Cancel, Event::BeforeTool) => {
            json!({"cancel": false, "overrideInput": null, "contextModification": reason})
        }
        // A past event cannot be refused; the agent gets the reason.
        (Dialect::Camel, _) => json!({"additionalContext": reason}),
        (Dialect::Conversation, _) => json!({"additional_context": reason}),
        (Dialect::Cancel, _) => json!({"cancel": false, "contextModification": reason}),
        (Dialect::ExitCode, _) => {
            return Answer { stdout: String::new(), stderr: format!("{reason}\n"), code: REFUSED };
        }
        (Dialect::Plugin, _) => json!({"block": reason}),
    };
    Answer::text(object.to_string())
}

/// True if an answer to the event may contain context for the agent.
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

#[cfg(test)]
mod tests {
    use super::super::verdict::Reaction;
    use super::*;

    fn said(dialect: Dialect, event: Event, findings: &[Reaction]) -> Answer {
        let payload = Payload::parse(r#"{"hook_event_name":"E"}"#).unwrap();
        let mut verdict = EventVerdict::default();
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
        let notes = |event| DIALECTS.map(|dialect| said(dialect, event, &[Reaction::Note("x".into())]).stdout);
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
            Reaction::Note("n".into()),
            Reaction::block("NO", "x"),
            Reaction::block("LATER", "y"),
            Reaction::Tell("t".into()),
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
    fn an_empty_verdict_prints_nothing_and_the_agent_does_not_see_what_is_for_the_person() {
        for dialect in DIALECTS {
            for event in EVENTS {
                assert_eq!(said(dialect, event, &[Reaction::Nothing]), Answer::default(), "{dialect:?} {event:?}");
            }
        }
        let told = said(Dialect::Standard, Event::SessionStart, &[Reaction::Tell("t".into())]);
        assert_eq!(told.stdout, r#"{"systemMessage":"t"}"#);
    }
}
