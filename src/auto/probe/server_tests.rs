#![allow(clippy::disallowed_types, clippy::disallowed_methods, reason = "tests play the client by hand")]

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::exchange::{Reply, Request, ToolCall};
use super::faults::{Count, Fault, ServiceError, Usage, Window};
use super::server::{ModelServer, Part, address_of_nobody};

/// Says what the prompt asks it to say, and calls a tool if the prompt asks for that.
struct Echo;

impl Part for Echo {
    fn reply(&self, request: &Request) -> Reply {
        if request.text().contains("please call both") {
            let bell = |size| ToolCall { name: "ring", namespace: None, arguments: serde_json::json!({"bell": size}) };
            Reply::Calls(vec![bell("small"), bell("large")])
        } else if request.text().contains("please call") {
            Reply::Call(ToolCall { name: "ring", namespace: None, arguments: serde_json::json!({"bell": "small"}) })
        } else {
            Reply::Say("ding".to_owned())
        }
    }
}

fn ask(server: &ModelServer, path: &str, prompt: &str, stream: bool) -> String {
    let tools = serde_json::json!([{"name": "ring"}]);
    let body = serde_json::json!({"model": "m", "stream": stream, "tools": tools, "prompt": prompt}).to_string();
    let mut stream = TcpStream::connect(server.url().trim_start_matches("http://")).unwrap();
    let length = body.len();
    write!(stream, "POST {path} HTTP/1.1\r\nHost: here\r\nContent-Length: {length}\r\n\r\n{body}").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn every_dialect_can_say_and_call_in_streamed_and_whole_answers() {
    let server = ModelServer::start(Echo).unwrap();
    for path in ["/v1/messages?beta=true", "/v1/responses", "/v1/chat/completions"] {
        for stream in [true, false] {
            let said = ask(&server, path, "hello", stream);
            assert!(said.contains("ding") && !said.contains("ring"), "{path}: {said}");
            assert_eq!(said.contains("text/event-stream"), stream, "{path}: {said}");
            let called = ask(&server, path, "please call", stream);
            assert!(called.contains("\"ring\"") && called.contains("bell"), "{path}: {called}");
            let both = ask(&server, path, "please call both", stream);
            assert!(both.contains("small") && both.contains("large"), "{path}: {both}");
        }
    }
    for (path, stream) in
        [("/v1beta/models/m:streamGenerateContent?alt=sse", true), ("/v1beta/models/m:generateContent", false)]
    {
        let called = ask(&server, path, "please call", false);
        assert!(called.contains(r#""functionCall":{"name":"ring","args":{"bell":"small"}}"#), "{path}: {called}");
        assert_eq!(called.contains("text/event-stream"), stream, "{path}: {called}");
    }
    let requests = server.requests();
    assert!(requests.len() == 20 && requests.iter().all(Request::asks_the_model), "{requests:?}");
}

/// Has one fault, or costs something.
struct Troubled(Option<Fault>);

impl Part for Troubled {
    fn reply(&self, _request: &Request) -> Reply {
        Reply::Say("ding dong".to_owned())
    }

    fn fault(&self, _request: &Request) -> Option<Fault> {
        self.0
    }

    fn usage(&self, _request: &Request) -> Usage {
        Usage { input: 700, cached: 40_000, output: 111 }
    }

    fn window(&self) -> Option<Window> {
        Some(Window { used: 0.93, resets_at: 1_795_396_404 })
    }
}

const PATHS: [&str; 4] =
    ["/v1/messages", "/v1/responses", "/v1/chat/completions", "/v1beta/models/m:streamGenerateContent?alt=sse"];

#[test]
fn an_answer_reports_its_cost_and_the_server_adds_it_up() {
    let server = ModelServer::start(Troubled(None)).unwrap();
    for path in PATHS {
        let said = ask(&server, path, "hello", true);
        let sent = if path == PATHS[0] { "700" } else { "40700" };
        assert!([sent, "40000", "111"].iter().all(|number| said.contains(&format!(":{number}"))), "{path}: {said}");
        assert_eq!(said.contains("anthropic-ratelimit-unified-5h-utilization: 0.93\r\n"), path == PATHS[0], "{said}");
    }
    assert_eq!(
        server.count(),
        Count { calls: 4, usage: Usage { input: 2800, cached: 160_000, output: 444 }, beside: Usage::default() }
    );
}

#[test]
fn a_refusal_has_the_status_and_the_text_of_its_service() {
    let later = Duration::from_secs(10_800);
    for (refusal, status, words) in [
        (ServiceError::BadKey, "401 Unauthorized", ["authentication_error", "invalid_api_key", "UNAUTHENTICATED"]),
        (ServiceError::Forbidden, "403 Forbidden", ["permission_error", "model_not_found", "PERMISSION_DENIED"]),
        (ServiceError::UsedUp(later), "429 Too Many", ["rate_limit_error", "insufficient_quota", "RESOURCE_EXHAUSTED"]),
        (ServiceError::Broken, "500 Internal", ["api_error", "server_error", "INTERNAL"]),
        (ServiceError::Overloaded, "529 Overloaded", ["overloaded_error", "overloaded", "UNAVAILABLE"]),
        (ServiceError::PromptTooLong, "400 Bad", ["prompt is too long", "context_length_exceeded", "INVALID_ARGUMENT"]),
    ] {
        let server = ModelServer::start(Troubled(Some(Fault::Status(refusal)))).unwrap();
        for (path, word) in PATHS.iter().zip([words[0], words[1], words[1], words[2]]) {
            let said = ask(&server, path, "hello", true);
            assert!(said.starts_with(&format!("HTTP/1.1 {status}")) && said.contains(word), "{path}: {said}");
            assert_eq!(said.contains("retry-after: 10800\r\n"), status.starts_with("429"), "{path}: {said}");
            let is_told = said.contains("anthropic-ratelimit-unified-status: rejected\r\n");
            assert_eq!(is_told, status.starts_with("429") && *path == PATHS[0], "{path}: {said}");
        }
        assert_eq!(server.count(), Count { calls: 4, ..Count::default() });
    }
}

#[test]
fn an_answer_can_be_cut_missing_slow_or_never_arrive() {
    let with = |fault| ModelServer::start(Troubled(Some(fault))).unwrap();
    let (cut, dropped) = (with(Fault::Cut), with(Fault::Drop));
    for path in PATHS {
        let said = ask(&cut, path, "hello", true);
        assert!(said.starts_with("HTTP/1.1 200 OK"), "{path}: {said}");
        assert!(!said.contains("[DONE]") && !said.contains("message_stop"), "{path}: {said}");
        assert_eq!(ask(&dropped, path, "hello", true), "", "{path}");
    }
    let began = Instant::now();
    assert!(ask(&with(Fault::Drip(Duration::from_millis(2))), PATHS[0], "hello", true).contains("message_stop"));
    assert!(began.elapsed() > Duration::from_millis(50), "{:?}", began.elapsed());
    let server = with(Fault::Hang);
    let mut stream = TcpStream::connect(server.url().trim_start_matches("http://")).unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    write!(stream, "POST {} HTTP/1.1\r\nContent-Length: 2\r\n\r\n{{}}", PATHS[0]).unwrap();
    assert!(stream.read(&mut [0]).is_err_and(|error| error.kind() == ErrorKind::WouldBlock));
    assert!(TcpStream::connect(address_of_nobody().unwrap().trim_start_matches("http://")).is_err());
}

#[test]
fn a_request_in_chunks_is_read_whole() {
    let server = ModelServer::start(Echo).unwrap();
    let mut stream = TcpStream::connect(server.url().trim_start_matches("http://")).unwrap();
    let head = "POST http://127.0.0.1:1/v1/messages HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
    write!(stream, "{head}9\r\n{{\"text\": \r\nc\r\n\"two pieces\"\r\n1\r\n}}\r\n0\r\n\r\n").unwrap();
    stream.read_to_string(&mut String::new()).unwrap();
    let requests = server.requests();
    assert_eq!(requests[0].path, "/v1/messages");
    assert_eq!(requests[0].body, serde_json::json!({"text": "two pieces"}));
}
