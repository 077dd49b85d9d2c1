//! A model server on loopback: speaks the vendors' dialects, lets a [`Part`] answer, and keeps every request.
//!
//! One thread a connection, one request a connection. It ends when dropped, and by itself at [`LIFETIME`].
//! What an answer looks like on the wire is in [`super::dialects`].

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;

use super::dialects::{self, Dialect};
use super::faults::{Count, Fault, Refusal, Usage, Window};

const LIFETIME: Duration = Duration::from_secs(900);
const CONNECTION_LIMIT: Duration = Duration::from_secs(60);
const BODY_LIMIT: u64 = 64 * 1024 * 1024;

/// What the model does: decides, for each request that carries tools, what to say or which tool to call.
pub(crate) trait Part: Send + Sync {
    fn reply(&self, request: &Request) -> Reply;

    /// What goes wrong with this request, also with one beside the conversation.
    fn fault(&self, _request: &Request) -> Option<Fault> {
        None
    }

    /// What the answer to this request is said to cost.
    fn usage(&self, _request: &Request) -> Usage {
        Usage::SMALL
    }

    /// How much of a subscription is used, where the user has one.
    fn window(&self) -> Option<Window> {
        None
    }
}

/// One answer of the model.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    Say(String),
    Call(ToolCall),
    /// Several calls of one message, which a client may run side by side.
    Calls(Vec<ToolCall>),
}

/// A tool call in the client's own spelling.
#[derive(Clone, Debug)]
pub(crate) struct ToolCall {
    pub(crate) name: &'static str,
    /// Groups of tools, where the dialect has them.
    pub(crate) namespace: Option<&'static str>,
    /// A string for a tool that takes free text.
    pub(crate) arguments: Value,
}

/// A request that a client sent to the model.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) body: Value,
}

impl Request {
    /// Every string of the request, unescaped, so that a search sees what the model sees.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        collect_strings(&self.body, &mut text);
        text
    }

    /// Whether the client lets the model call tools; requests for titles and summaries do not.
    pub(crate) fn offers_tools(&self) -> bool {
        let filled = |tools: &Value| tools.as_array().is_some_and(|tools| !tools.is_empty());
        // Some models get their tools as the first item of the conversation.
        let mut items = self.body["input"].as_array().into_iter().flatten();
        filled(&self.body["tools"])
            || filled(&self.body["tool_definitions"])
            || items.any(|item| item["type"] == "additional_tools" && filled(&item["tools"]))
    }

    /// The plainest JSON of the form that the request asks for, if it asks for one: nothing, zero, no.
    pub(crate) fn plain_json(&self) -> Option<Value> {
        let schema = &self.body["generationConfig"]["responseJsonSchema"];
        let plain = |schema: &Value| match schema["type"].as_str() {
            Some("string") => "".into(),
            Some("number" | "integer") => 0.into(),
            Some("boolean") => false.into(),
            Some("array") => Value::Array(Vec::new()),
            _ => Value::Null,
        };
        let properties = schema["properties"].as_object()?.iter();
        Some(Value::Object(properties.map(|(name, schema)| (name.clone(), plain(schema))).collect()))
    }

    /// Whether this asks for an answer of the model, as against a list of models or a count of tokens.
    pub(crate) fn asks_the_model(&self) -> bool {
        Dialect::of(&self.method, &self.path).is_some()
    }
}

/// The server and what it was asked.
#[derive(Debug)]
pub(crate) struct ModelServer {
    address: SocketAddr,
    state: Arc<State>,
}

struct State {
    part: Box<dyn Part>,
    requests: Mutex<Vec<Request>>,
    count: Mutex<Count>,
    stop: AtomicBool,
}

/// Numbers answers over all servers: a conversation that goes on with another server never sees a number twice.
static SERIAL: AtomicUsize = AtomicUsize::new(0);

impl<P: Part + ?Sized> Part for Arc<P> {
    fn reply(&self, request: &Request) -> Reply {
        (**self).reply(request)
    }

    fn fault(&self, request: &Request) -> Option<Fault> {
        (**self).fault(request)
    }

    fn usage(&self, request: &Request) -> Usage {
        (**self).usage(request)
    }

    fn window(&self) -> Option<Window> {
        (**self).window()
    }
}

impl std::fmt::Debug for State {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("State").field("requests", &self.requests).finish_non_exhaustive()
    }
}

impl ModelServer {
    pub(crate) fn start(part: impl Part + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let (requests, count, stop) = (Mutex::default(), Mutex::default(), AtomicBool::new(false));
        let state = Arc::new(State { part: Box::new(part), requests, count, stop });
        let accepting = Arc::clone(&state);
        std::thread::spawn(move || accept(&listener, &accepting));
        Self { address, state }
    }

    /// The server's address, such as `http://127.0.0.1:40111`.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.state.requests.lock().unwrap().clone()
    }

    /// What the server itself counted.
    pub(crate) fn count(&self) -> Count {
        *self.state.count.lock().unwrap()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.state.stop.store(true, Ordering::Relaxed);
    }
}

fn accept(listener: &TcpListener, state: &Arc<State>) {
    let end = Instant::now() + LIFETIME;
    while !state.stop.load(Ordering::Relaxed) && Instant::now() < end {
        match listener.accept() {
            Ok((stream, _)) => {
                let state = Arc::clone(state);
                // A client may hang up at any time; its own exit code tells whether that was a failure.
                std::thread::spawn(move || drop(serve(stream, &state)));
            }
            Err(_) => std::thread::sleep(Duration::from_millis(3)),
        }
    }
}

fn serve(stream: TcpStream, state: &State) -> std::io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(CONNECTION_LIMIT))?;
    stream.set_write_timeout(Some(CONNECTION_LIMIT))?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let Some(request) = read_request(&mut reader)? else { return Ok(()) };
    state.requests.lock().unwrap().push(request.clone());
    respond(stream, &request, state)
}

fn read_request(reader: &mut impl BufRead) -> std::io::Result<Option<Request>> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split_whitespace();
    let (Some(method), Some(target)) = (words.next(), words.next()) else { return Ok(None) };
    // A client that takes us for its proxy sends the whole address.
    let path = target.find("://").map_or(target, |scheme| {
        let rest = &target[scheme + 3..];
        rest.find('/').map_or("/", |slash| &rest[slash..])
    });
    let mut length = 0;
    let mut chunked = false;
    loop {
        let mut header = String::new();
        if reader.read_line(&mut header)? == 0 || header.trim().is_empty() {
            break;
        }
        let Some((name, value)) = header.split_once(':') else { continue };
        match name.trim().to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().unwrap_or(0),
            "transfer-encoding" => chunked = value.to_ascii_lowercase().contains("chunked"),
            _ => {}
        }
    }
    let bytes = if chunked { read_chunks(reader)? } else { read_exactly(reader, length)? };
    let body =
        serde_json::from_slice(&bytes).unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&bytes).into_owned()));
    Ok(Some(Request { method: method.to_owned(), path: path.to_owned(), body }))
}

fn read_exactly(reader: &mut impl BufRead, length: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(length.min(BODY_LIMIT)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn read_chunks(reader: &mut impl BufRead) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let size = u64::from_str_radix(line.trim().split(';').next().unwrap_or("0"), 16).unwrap_or(0);
        let chunk = read_exactly(reader, size)?;
        reader.read_line(&mut String::new())?;
        if chunk.is_empty() || bytes.len() as u64 > BODY_LIMIT {
            return Ok(bytes);
        }
        bytes.extend(chunk);
    }
}

fn respond(mut stream: TcpStream, request: &Request, state: &State) -> std::io::Result<()> {
    let Some(dialect) = Dialect::of(&request.method, &request.path) else {
        return match dialects::side_answer(&request.method, &request.path) {
            Some(body) => send(&mut stream, "200 OK", &[], &body.to_string()),
            None => send(&mut stream, "404 Not Found", &[], r#"{"error":{"message":"not here"}}"#),
        };
    };
    state.count.lock().unwrap().calls += 1;
    let fault = state.part.fault(request);
    match fault {
        Some(Fault::Status(refusal)) => return refuse(&mut stream, refusal, dialect),
        Some(Fault::Drop) => return Ok(()),
        Some(Fault::Hang) => return hang(&stream, state),
        Some(Fault::Cut | Fault::Drip(_)) | None => {}
    }
    // Without tools it is the client's own question beside the conversation: about a title, or whether it runs in circles.
    let reply = if fault == Some(Fault::Cut) {
        Reply::Say("I will begin with".to_owned())
    } else if request.offers_tools() {
        state.part.reply(request)
    } else {
        Reply::Say(request.plain_json().map_or_else(|| "A short title".to_owned(), |answer| answer.to_string()))
    };
    let usage = state.part.usage(request);
    let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
    let answer = dialects::answer(dialect, request, &reply, &usage, serial);
    let headers = state.part.window().filter(|_| dialect == Dialect::AnthropicMessages).map(Window::headers);
    let headers = headers.unwrap_or_default();
    if fault != Some(Fault::Cut) {
        let mut count = state.count.lock().unwrap();
        count.usage = count.usage.plus(usage);
        if !request.offers_tools() {
            count.beside = count.beside.plus(usage);
        }
    }
    match answer {
        dialects::Answer::Whole(body) => {
            let body = body.to_string();
            match fault {
                // Half of what the length says.
                Some(Fault::Cut) => {
                    write!(
                        stream,
                        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
                        body.len()
                    )?;
                    stream.write_all(&body.as_bytes()[..body.len() / 2])
                }
                _ => send(&mut stream, "200 OK", &headers, &body),
            }
        }
        dialects::Answer::Stream(events) => {
            // No length: the stream ends where the connection does, as the answer of a thinking model would.
            let head = "content-type: text/event-stream\r\ncache-control: no-cache\r\nconnection: close\r\n";
            write!(stream, "HTTP/1.1 200 OK\r\n{head}{}\r\n", lines(&headers))?;
            let body = events.concat();
            match fault {
                Some(Fault::Cut) => stream.write_all(dialects::beginning(dialect, &events).as_bytes()),
                Some(Fault::Drip(pause)) => drip(&mut stream, body.as_bytes(), pause, state),
                _ => stream.write_all(body.as_bytes()),
            }
        }
    }
}

fn refuse(stream: &mut TcpStream, refusal: Refusal, dialect: Dialect) -> std::io::Result<()> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
    let (status, word) = refusal.status();
    send(stream, &format!("{status} {word}"), &refusal.headers(dialect, now), &refusal.body(dialect).to_string())
}

/// Says nothing until the client goes, or the server ends.
fn hang(mut stream: &TcpStream, state: &State) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_millis(50)))?;
    let end = Instant::now() + LIFETIME;
    while !state.stop.load(Ordering::Relaxed) && Instant::now() < end {
        match stream.read(&mut [0]) {
            Ok(0) => break,
            Err(error) if !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => break,
            Ok(_) | Err(_) => {}
        }
    }
    Ok(())
}

fn drip(stream: &mut TcpStream, body: &[u8], pause: Duration, state: &State) -> std::io::Result<()> {
    for piece in body.chunks(8) {
        if state.stop.load(Ordering::Relaxed) {
            break;
        }
        stream.write_all(piece)?;
        std::thread::sleep(pause);
    }
    Ok(())
}

fn send(stream: &mut TcpStream, status: &str, headers: &[(String, String)], body: &str) -> std::io::Result<()> {
    let (length, headers) = (body.len(), lines(headers));
    write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n{body}"
    )
}

fn lines(headers: &[(String, String)]) -> String {
    headers.iter().fold(String::new(), |text, (name, value)| text + name + ": " + value + "\r\n")
}

fn collect_strings(value: &Value, text: &mut String) {
    match value {
        Value::String(string) => {
            text.push_str(string);
            text.push('\n');
        }
        Value::Array(items) => items.iter().for_each(|item| collect_strings(item, text)),
        Value::Object(entries) => {
            for (key, item) in entries {
                text.push_str(key);
                text.push('\n');
                collect_strings(item, text);
            }
        }
        _ => {}
    }
}

mod tests {
    use super::super::faults::address_of_nobody;
    use super::*;

    /// Says what it was asked to say, and calls a tool if it was asked to.
    struct Echo;

    impl Part for Echo {
        fn reply(&self, request: &Request) -> Reply {
            if request.text().contains("please call both") {
                let bell =
                    |size| ToolCall { name: "ring", namespace: None, arguments: serde_json::json!({"bell": size}) };
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
        let mut stream = TcpStream::connect(server.address).unwrap();
        let length = body.len();
        write!(stream, "POST {path} HTTP/1.1\r\nHost: here\r\nContent-Length: {length}\r\n\r\n{body}").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    #[test]
    fn every_dialect_says_and_calls_streamed_and_whole() {
        let server = ModelServer::start(Echo);
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
        assert_eq!(server.requests().len(), 20);
    }

    /// Goes wrong in one way, or costs something.
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
    fn an_answer_says_what_it_cost_and_the_server_adds_it_up() {
        let server = ModelServer::start(Troubled(None));
        for path in PATHS {
            let said = ask(&server, path, "hello", true);
            let sent = if path == PATHS[0] { "700" } else { "40700" };
            assert!([sent, "40000", "111"].iter().all(|number| said.contains(&format!(":{number}"))), "{path}: {said}");
            assert_eq!(
                said.contains("anthropic-ratelimit-unified-5h-utilization: 0.93\r\n"),
                path == PATHS[0],
                "{said}"
            );
        }
        assert_eq!(
            server.count(),
            Count { calls: 4, usage: Usage { input: 2800, cached: 160_000, output: 444 }, beside: Usage::default() }
        );
    }

    #[test]
    fn what_is_refused_has_the_status_and_the_words_of_its_service() {
        let later = Duration::from_secs(10_800);
        for (refusal, status, words) in [
            (Refusal::BadKey, "401 Unauthorized", ["authentication_error", "invalid_api_key", "UNAUTHENTICATED"]),
            (Refusal::Forbidden, "403 Forbidden", ["permission_error", "model_not_found", "PERMISSION_DENIED"]),
            (Refusal::UsedUp(later), "429 Too Many", ["rate_limit_error", "insufficient_quota", "RESOURCE_EXHAUSTED"]),
            (Refusal::Broken, "500 Internal", ["api_error", "server_error", "INTERNAL"]),
            (Refusal::Overloaded, "529 Overloaded", ["overloaded_error", "overloaded", "UNAVAILABLE"]),
            (Refusal::PromptTooLong, "400 Bad", ["prompt is too long", "context_length_exceeded", "INVALID_ARGUMENT"]),
        ] {
            let server = ModelServer::start(Troubled(Some(Fault::Status(refusal))));
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
    fn an_answer_can_be_cut_missing_slow_or_never_come() {
        let with = |fault| ModelServer::start(Troubled(Some(fault)));
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
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        write!(stream, "POST {} HTTP/1.1\r\nContent-Length: 2\r\n\r\n{{}}", PATHS[0]).unwrap();
        assert!(stream.read(&mut [0]).is_err_and(|error| error.kind() == ErrorKind::WouldBlock));
        assert!(TcpStream::connect(address_of_nobody().trim_start_matches("http://")).is_err());
    }

    #[test]
    fn a_request_in_chunks_is_read_whole() {
        let server = ModelServer::start(Echo);
        let mut stream = TcpStream::connect(server.address).unwrap();
        let head = "POST http://127.0.0.1:1/v1/messages HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
        write!(stream, "{head}9\r\n{{\"text\": \r\nc\r\n\"two pieces\"\r\n1\r\n}}\r\n0\r\n\r\n").unwrap();
        stream.read_to_string(&mut String::new()).unwrap();
        let requests = server.requests();
        assert_eq!(requests[0].path, "/v1/messages");
        assert_eq!(requests[0].body, serde_json::json!({"text": "two pieces"}));
    }
}
