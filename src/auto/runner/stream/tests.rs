//! Recordings of real clients against a scripted model server, and the handling of any other input.

#![allow(clippy::unwrap_used, reason = "tests inspect what is there")]

use std::path::Path;
use std::time::Duration;

use proptest::prelude::*;

use super::{Opening, Permission, Reader, StreamFacts, StreamForm};
use crate::auto::runner::death::Death;
use crate::auto::runner::event::{
    ClientEvent, ClientFailure, MoneyUnit, Quota, QuotaStatus, Terminal, Tokens, ToolState, UsageScope,
};
use crate::auto::runner::heard::Heard;
use crate::auto::runner::table::Runners;
use crate::auto::runner::verdict::{End, Verdict, judge};
use crate::world::Ended;

/// All forms without a conversation.
const DIALECTS: [StreamForm; 10] = [
    StreamForm::ResultEnvelope,
    StreamForm::ThreadItems,
    StreamForm::StatusResult,
    StreamForm::StepParts,
    StreamForm::SessionEvents,
    StreamForm::RunResult,
    StreamForm::RoleLines,
    StreamForm::AgentLifecycle,
    StreamForm::Completion,
    StreamForm::Scripted,
];

fn recorded(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/streams").join(name)).unwrap()
}

fn fold(events: &[ClientEvent]) -> Heard {
    let mut heard = Heard::default();
    for event in events {
        heard.add(event);
    }
    heard
}

/// Reads this recording of a client.
fn heard(client: &str, case: &str) -> (Vec<ClientEvent>, Heard) {
    let runners = Runners::builtin().unwrap();
    let runner = runners.find(client).unwrap();
    let mut reader = runner.dialect.reader(&runner.facts_of_stream(), Opening::default());
    let (mut events, mut heard) = (Vec::new(), Heard::default());
    for line in recorded(&format!("{client}-{case}.jsonl")).split(|byte| *byte == b'\n') {
        for event in reader.line(line) {
            heard.add(&event);
            events.push(event);
        }
    }
    (events, heard)
}

fn verdict(client: &str, case: &str, code: i32, complaint: &str) -> Verdict {
    let ran_for = Duration::from_secs(5);
    let end = End { ended: Some(Ended::Code(code)), ran_for, complaint: complaint.to_owned(), ..End::default() };
    judge(&heard(client, case).1, &end).verdict
}

#[test]
fn a_real_run_is_a_success_with_its_tool_text_and_numbers() {
    let counted = Some(Tokens { input: 20, output: 10, cached: 0 });
    for (client, tools, tokens, has_money) in [
        ("claude", 1, counted, true),
        ("codex", 0, counted, false),
        ("gemini", 1, counted, false),
        ("qwen", 1, counted, false),
        ("opencode", 1, counted, true),
        ("copilot", 1, None, false),
        ("codebuddy", 1, counted, true),
        ("cline", 1, counted, true),
        ("kimi", 1, None, false),
        ("pi", 1, counted, true),
    ] {
        let (events, heard) = heard(client, "call");
        assert_eq!(verdict(client, "call", 0, ""), Verdict::Ran, "{client}: {heard:?}");
        assert_eq!((heard.tools, heard.tokens()), (tools, tokens), "{client}");
        assert_eq!(heard.money().is_some(), has_money, "{client}");
        assert_eq!(heard.text, "All done.", "{client}");
        let expected = if client == "codex" { 1 } else { 2 };
        assert_eq!(heard.model_calls, expected, "{client}");
        assert!(heard.session.as_deref().is_some_and(|session| session.len() > 8), "{client}: {:?}", heard.session);
        assert!(heard.denied.is_empty(), "{client}");
        let ends = |event: &&ClientEvent| {
            matches!(event, ClientEvent::Tool { state: ToolState::Finished | ToolState::Failed, .. })
        };
        assert_eq!(events.iter().filter(ends).count(), usize::try_from(tools).unwrap(), "{client}");
    }
}

#[test]
fn a_refused_key_and_a_too_long_prompt_are_distinguished_in_recordings_of_real_clients() {
    // The exit codes and the end of standard error are those of the recorded runs.
    for (client, codes, complaints) in [
        ("codex", [1, 1], ["", ""]),
        ("gemini", [145, 144], ["", ""]),
        ("qwen", [1, 1], ["", ""]),
        ("opencode", [1, 1], ["", ""]),
        ("copilot", [1, 1], ["", ""]),
        ("codebuddy", [0, 0], ["", ""]),
        ("cline", [1, 1], ["", ""]),
        ("pi", [0, 0], ["", ""]),
        (
            "kimi",
            [1, 1],
            [
                "error: failed to run prompt: provider.auth_error: 401 Invalid API key",
                "error: failed to run prompt: compaction.failed: APIContextOverflowError: 400 prompt is too long",
            ],
        ),
    ] {
        assert_eq!(verdict(client, "401", codes[0], complaints[0]), Verdict::Dead(Death::Auth), "{client}");
        assert_eq!(verdict(client, "long", codes[1], complaints[1]), Verdict::Dead(Death::Context), "{client}");
    }
    assert_eq!(verdict("claude", "long", 1, ""), Verdict::Dead(Death::Context));
    assert_eq!(verdict("claude", "429", 1, ""), Verdict::Dead(Death::Quota));
    let (events, _) = heard("claude", "401");
    let retry = events.iter().find(|event| matches!(event, ClientEvent::Retry { .. })).unwrap();
    assert!(matches!(retry, ClientEvent::Retry { status: Some(401), wait_seconds: Some(_), .. }), "{retry:?}");
}

#[test]
fn a_quota_of_the_account_is_read_with_its_reset_and_its_fullest_window() {
    let mut reader = StreamForm::ResultEnvelope.reader(&StreamFacts::default(), Opening::default());
    let line = br#"{"type":"rate_limit_event","rate_limit_info":{"status":"allowed_warning","resetsAt":1795396404,
        "unifiedWindows":{"five_hour":{"utilization":0.93},"seven_day":{"utilization":0.4}}}}"#;
    let events = reader.line(line);
    let ClientEvent::Quota(quota) = &events[0] else { panic!("{events:?}") };
    assert_eq!((quota.resets_at, quota.used), (Some(1_795_396_404), Some(0.93)));
}

#[test]
fn steps_are_added_and_the_last_count_of_an_answer_replaces_the_first() {
    let mut heard = Heard::default();
    let tokens = |input| Tokens { input, output: 1, cached: 0 };
    for (name, input) in [("a", 5), ("a", 7), ("b", 10)] {
        heard.add(&ClientEvent::Usage { scope: UsageScope::Call(name.to_owned()), tokens: tokens(input) });
    }
    assert_eq!(heard.tokens(), Some(Tokens { input: 17, output: 2, cached: 0 }));
    heard.add(&ClientEvent::Usage { scope: UsageScope::Session, tokens: tokens(20) });
    assert_eq!(heard.tokens(), Some(tokens(20)));
}

#[test]
fn an_unknown_line_is_a_sign_of_life_and_a_line_without_an_object_is_skipped() {
    for dialect in DIALECTS {
        let mut reader = dialect.reader(&StreamFacts::default(), Opening::default());
        assert_eq!(
            reader.line(b"\xef\xbb\xbf {\"type\":\"never-heard-of\"}\r"),
            [ClientEvent::SignOfLife],
            "{dialect:?}"
        );
        for noise in [&b"npm warn"[..], b"[1]", b"\"text\"", b"{\"half\":", b"", b"\xff\xfe"] {
            assert_eq!(reader.line(noise), [], "{dialect:?} {noise:?}");
        }
    }
}

#[test]
fn events_are_read_as_they_are_written() {
    let failure = ClientFailure { status: Some(429), kind: None, text: "no".to_owned() };
    let quota = Quota { resets_at: Some(5), used: Some(1.0), status: QuotaStatus::Rejected };
    let tool = ClientEvent::Tool { id: None, name: "Bash".to_owned(), state: ToolState::Denied };
    let money = ClientEvent::Money { scope: UsageScope::Call("x".to_owned()), amount: 0.5, unit: MoneyUnit::Credits };
    let mut reader = StreamForm::Scripted.reader(&StreamFacts::default(), Opening::default());
    for event in [
        ClientEvent::ModelCall,
        ClientEvent::SignOfLife,
        ClientEvent::Quota(quota),
        ClientEvent::Terminal(Terminal::Success),
        ClientEvent::Terminal(Terminal::Failure(failure)),
        ClientEvent::Usage { scope: UsageScope::Session, tokens: Tokens::default() },
        tool,
        money,
    ] {
        let line = serde_json::to_string(&event).unwrap();
        assert_eq!(reader.line(line.as_bytes()), std::slice::from_ref(&event), "{line}");
    }
}

/// Returns what is sent to an agent of the protocol when it writes these lines.
fn conversation(answers: Permission, lines: &[&str]) -> (Vec<ClientEvent>, String) {
    let opening = Opening { folder: "/work".to_owned(), prompt: "Do it.".to_owned(), resume: None, answers };
    let mut reader = StreamForm::ClientProtocol.reader(&StreamFacts::default(), opening);
    let (mut events, mut told) = (Vec::new(), reader.answers());
    for line in lines {
        events.extend(reader.line(line.as_bytes()));
        told.extend(reader.answers());
    }
    (events, String::from_utf8(told.concat()).unwrap())
}

const OPENED: [&str; 2] =
    [r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, r#"{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s1"}}"#];

#[test]
fn a_conversation_opens_a_session_sends_the_prompt_and_ends_with_its_answer() {
    let ended =
        r#"{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn","usage":{"inputTokens":20,"outputTokens":10}}}"#;
    let update = r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call","toolCallId":"t1","title":"write","status":"completed"}}}"#;
    let (events, told) = conversation(Permission::Nothing, &[OPENED[0], OPENED[1], update, ended]);
    assert_eq!(
        told,
        concat!(
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}"#,
            "\n",
            r#"{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/work","mcpServers":[]}}"#,
            "\n",
            r#"{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"Do it."}]}}"#,
            "\n",
        )
    );
    let heard = fold(&events);
    assert_eq!((heard.session.as_deref(), heard.tools, heard.model_calls), (Some("s1"), 1, 1));
    assert_eq!(heard.tokens(), Some(Tokens { input: 20, output: 10, cached: 0 }));
    assert_eq!(judge(&heard, &End { was_helped: true, ..End::default() }).verdict, Verdict::Ran);
}

#[test]
fn a_tool_that_is_only_requested_or_only_ends_is_counted_once() {
    let update = |rest: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"update":{{"sessionUpdate":"tool_call_update","toolCallId":"t1",{rest}}}}}}}"#
        )
    };
    let asked = r#"{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"options":[],"toolCall":{"toolCallId":"t1","title":"x"}}}"#;
    let (running, ended) = (update(r#""status":"in_progress""#), update(r#""status":"completed""#));
    let (events, _) = conversation(Permission::Everything, &[OPENED[0], OPENED[1], asked, &running, &ended, &ended]);
    let states: Vec<ToolState> = events
        .iter()
        .filter_map(|event| match event {
            ClientEvent::Tool { state, .. } => Some(*state),
            _ => None,
        })
        .collect();
    assert_eq!(states, [ToolState::Started, ToolState::Finished]);
    let (events, _) = conversation(Permission::Everything, &[OPENED[0], OPENED[1], &ended]);
    assert_eq!(fold(&events).tools, 1);
}

#[test]
fn permissions_follow_the_profile_and_denied_ones_are_reported() {
    let ask = |kind: &str, command: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":9,"method":"session/request_permission","params":{{"toolCall":{{"toolCallId":"t","title":"{command}","kind":"{kind}","rawInput":{{"command":"{command}"}}}},"options":[{{"optionId":"yes","kind":"allow_once"}},{{"optionId":"no","kind":"reject_once"}}]}}}}"#
        )
    };
    let edits = Permission::Edits(vec!["cargo test".to_owned()]);
    for (answers, kind, command, option) in [
        (Permission::Everything, "execute", "rm -rf x", "yes"),
        (edits.clone(), "edit", "a.rs", "yes"),
        (edits.clone(), "execute", "cargo test --lib", "yes"),
        (edits.clone(), "execute", "cargo testify", "no"),
        (edits.clone(), "execute", "cargo test; rm x", "no"),
        (edits, "fetch", "x", "no"),
        (Permission::Nothing, "read", "x", "yes"),
        (Permission::Nothing, "edit", "x", "no"),
    ] {
        let (events, told) = conversation(answers, &[OPENED[0], OPENED[1], &ask(kind, command)]);
        let wanted = format!(r#""id":9,"result":{{"outcome":{{"outcome":"selected","optionId":"{option}"}}}}"#);
        assert!(told.contains(&wanted), "{kind} {command}: {told}");
        let is_denied = events.iter().any(|event| matches!(event, ClientEvent::Tool { state: ToolState::Denied, .. }));
        assert_eq!(is_denied, option == "no", "{kind} {command}");
    }
    let (_, told) =
        conversation(Permission::Everything, &[r#"{"jsonrpc":"2.0","id":"x","method":"fs/read_text_file"}"#]);
    assert!(told.contains(r#""id":"x","error":{"code":-32601"#), "{told}");
}

/// JSON similar to that of clients: the keys they use, with values of any type.
fn likely() -> impl Strategy<Value = serde_json::Value> {
    use serde_json::Value;
    let words = prop::sample::select(vec![
        "system",
        "init",
        "assistant",
        "user",
        "result",
        "success",
        "error",
        "tool_use",
        "tool_result",
        "text",
        "item.completed",
        "turn.completed",
        "turn.failed",
        "step_finish",
        "stop",
        "session.error",
        "agent_event",
        "run_result",
        "meta",
        "message_end",
        "agent_end",
        "completion",
        "rate_limit_event",
        "rejected",
        "session.resume_hint",
        "AskUserQuestion",
        "msg_1",
        "denied",
    ]);
    let keys = prop::sample::select(vec![
        "type",
        "subtype",
        "message",
        "content",
        "usage",
        "input_tokens",
        "output_tokens",
        "item",
        "part",
        "state",
        "status",
        "data",
        "event",
        "role",
        "id",
        "tool_calls",
        "function",
        "name",
        "stats",
        "result",
        "is_error",
        "error",
        "reason",
        "finishReason",
        "stopReason",
        "params",
        "update",
        "method",
        "exitCode",
        "permission_denials",
        "rate_limit_info",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        words.prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((keys.clone(), inner), 0..6).prop_map(|pairs| Value::Object(
                pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
            )),
        ]
    })
}

proptest! {
    #[test]
    fn a_reader_accepts_any_bytes(lines in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..80), 0..8)) {
        for dialect in DIALECTS.into_iter().chain([StreamForm::ClientProtocol]) {
            let mut reader = dialect.reader(&StreamFacts::default(), Opening::default());
            for line in &lines {
                reader.line(line);
                Reader::complaint(line);
            }
        }
    }

    #[test]
    fn a_reader_accepts_any_json_and_the_result_is_bounded(lines in prop::collection::vec(likely(), 0..12)) {
        for dialect in DIALECTS.into_iter().chain([StreamForm::ClientProtocol]) {
            let mut reader = dialect.reader(&StreamFacts::default(), Opening::default());
            let mut heard = Heard::default();
            for line in &lines {
                let events = reader.line(line.to_string().as_bytes());
                prop_assert_eq!(events.is_empty(), !line.is_object());
                for event in &events {
                    heard.add(event);
                }
                reader.answers();
            }
            let _ = judge(&heard, &End::default());
        }
    }

    #[test]
    fn a_recording_cut_anywhere_is_not_a_success(at in 0_usize..100, client in prop::sample::select(vec![
        "claude", "codex", "gemini", "qwen", "copilot", "codebuddy", "cline", "kimi", "pi",
    ])) {
        let whole = recorded(&format!("{client}-call.jsonl"));
        let last = whole.trim_ascii_end().iter().rposition(|byte| *byte == b'\n').unwrap();
        let cut = &whole[..last * at / 100];
        let runners = Runners::builtin().unwrap();
        let runner = runners.find(client).unwrap();
        let mut reader = runner.dialect.reader(&runner.facts_of_stream(), Opening::default());
        let mut heard = Heard::default();
        for line in cut.split(|byte| *byte == b'\n') {
            for event in reader.line(line) {
                heard.add(&event);
            }
        }
        prop_assert!(heard.terminal.is_none(), "{client}: {heard:?}");
    }
}
