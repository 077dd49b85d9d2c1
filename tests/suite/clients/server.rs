//! A model server on loopback: speaks the vendors' dialects, lets a [`Part`] answer, and keeps every request.
//!
//! One thread a connection, one request a connection. It ends when dropped, and by itself at [`LIFETIME`].
//! What an answer looks like on the wire is in [`super::dialects`].

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::dialects::{self, Dialect};

const LIFETIME: Duration = Duration::from_secs(900);
const CONNECTION_LIMIT: Duration = Duration::from_secs(60);
const BODY_LIMIT: u64 = 64 * 1024 * 1024;

/// What the model does: decides, for each request that carries tools, what to say or which tool to call.
pub(crate) trait Part: Send + Sync {
    fn reply(&self, request: &Request) -> Reply;
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
    stop: AtomicBool,
}

/// Numbers answers over all servers: a conversation that goes on with another server never sees a number twice.
static SERIAL: AtomicUsize = AtomicUsize::new(0);

impl<P: Part + ?Sized> Part for Arc<P> {
    fn reply(&self, request: &Request) -> Reply {
        (**self).reply(request)
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
        let state = Arc::new(State { part: Box::new(part), requests: Mutex::default(), stop: AtomicBool::new(false) });
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
    if let Some(dialect) = Dialect::of(&request.method, &request.path) {
        // Without tools it is the client's own question beside the conversation: about a title, or whether it runs in circles.
        let reply = if request.offers_tools() {
            state.part.reply(request)
        } else {
            Reply::Say(request.plain_json().map_or_else(|| "A short title".to_owned(), |answer| answer.to_string()))
        };
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let answer = dialects::answer(dialect, request, &reply, serial);
        return match answer {
            dialects::Answer::Whole(body) => send(&mut stream, "200 OK", "application/json", &body.to_string()),
            dialects::Answer::Stream(events) => {
                // No length: the stream ends where the connection does, as the answer of a thinking model would.
                stream.write_all(
                    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\nconnection: close\r\n\r\n",
                )?;
                for event in events {
                    stream.write_all(event.as_bytes())?;
                    stream.flush()?;
                }
                Ok(())
            }
        };
    }
    match dialects::side_answer(&request.method, &request.path) {
        Some(body) => send(&mut stream, "200 OK", "application/json", &body.to_string()),
        None => send(&mut stream, "404 Not Found", "application/json", r#"{"error":{"message":"not here"}}"#),
    }
}

fn send(stream: &mut TcpStream, status: &str, kind: &str, body: &str) -> std::io::Result<()> {
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
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
