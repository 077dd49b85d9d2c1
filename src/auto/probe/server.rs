//! A model server on loopback: speaks the vendors' dialects, lets a [`Part`] answer, and keeps every request.
//!
//! Each connection has one thread and one request. The server ends when dropped, or after [`LIFETIME`]. The form of
//! answers on the wire is in [`super::dialects`]. The test suite compiles the files of this server too, so they use
//! nothing of the crate except each other.

#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "the one place that serves, on loopback, clients that are tried and have no other network"
)]

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;

use super::dialects;
use super::exchange::Dialect;
pub(crate) use super::exchange::{Reply, Request};
use super::faults::{Count, Fault, ServiceError, Usage, Window};

const LIFETIME: Duration = Duration::from_secs(900);
const CONNECTION_LIMIT: Duration = Duration::from_secs(60);
const BODY_LIMIT: u64 = 64 * 1024 * 1024;

/// The model's part: decides, for each request that carries tools, what to say or which tool to call.
pub(crate) trait Part: Send + Sync {
    fn reply(&self, request: &Request) -> Reply;

    /// Returns the fault for this request, which may be outside the conversation.
    fn fault(&self, _request: &Request) -> Option<Fault> {
        None
    }

    /// Returns the reported cost of the answer to this request.
    fn usage(&self, _request: &Request) -> Usage {
        Usage::SMALL
    }

    /// Returns the used share of a subscription, if the user has one.
    fn window(&self) -> Option<Window> {
        None
    }
}

/// The server and the requests that it received.
#[derive(Debug)]
pub(crate) struct ModelServer {
    address: SocketAddr,
    state: Arc<ServerState>,
}

struct ServerState {
    part: Box<dyn Part>,
    requests: Mutex<Vec<Request>>,
    count: Mutex<Count>,
    stop: AtomicBool,
}

/// Numbers answers across all servers, so that a conversation that continues with another server never sees a number
/// twice.
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

impl std::fmt::Debug for ServerState {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("State").field("requests", &self.requests).finish_non_exhaustive()
    }
}

impl ModelServer {
    pub(crate) fn start(part: impl Part + 'static) -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (requests, count, stop) = (Mutex::default(), Mutex::default(), AtomicBool::new(false));
        let state = Arc::new(ServerState { part: Box::new(part), requests, count, stop });
        let accepting = Arc::clone(&state);
        std::thread::spawn(move || accept(&listener, &accepting));
        Ok(Self { address, state })
    }

    /// The server's address, such as `http://127.0.0.1:40111`.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        of(&self.state.requests).clone()
    }

    /// Returns the server's own counts.
    pub(crate) fn count(&self) -> Count {
        *of(&self.state.count)
    }
}

/// Locks the value: a part that panicked has not damaged it.
fn of<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the address of a server that does not exist: connections to it are refused.
pub(crate) fn address_of_nobody() -> std::io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    Ok(format!("http://{}", listener.local_addr()?))
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.state.stop.store(true, Ordering::Relaxed);
    }
}

fn accept(listener: &TcpListener, state: &Arc<ServerState>) {
    let end = Instant::now() + LIFETIME;
    while !state.stop.load(Ordering::Relaxed) && Instant::now() < end {
        match listener.accept() {
            Ok((stream, _)) => {
                let state = Arc::clone(state);
                // A client may hang up at any time; its exit code shows whether that was a failure.
                std::thread::spawn(move || drop(serve(stream, &state)));
            }
            Err(_) => std::thread::sleep(Duration::from_millis(3)),
        }
    }
}

fn serve(stream: TcpStream, state: &ServerState) -> std::io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(CONNECTION_LIMIT))?;
    stream.set_write_timeout(Some(CONNECTION_LIMIT))?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let Some(request) = read_request(&mut reader)? else { return Ok(()) };
    of(&state.requests).push(request.clone());
    respond(stream, &request, state)
}

fn read_request(reader: &mut impl BufRead) -> std::io::Result<Option<Request>> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split_whitespace();
    let (Some(method), Some(target)) = (words.next(), words.next()) else { return Ok(None) };
    // A client that uses this server as its proxy sends the whole address.
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

fn respond(mut stream: TcpStream, request: &Request, state: &ServerState) -> std::io::Result<()> {
    let Some(dialect) = Dialect::of(&request.method, &request.path) else {
        return match dialects::side_answer(&request.method, &request.path) {
            Some(body) => send(&mut stream, "200 OK", &[], &body.to_string()),
            None => send(&mut stream, "404 Not Found", &[], r#"{"error":{"message":"not here"}}"#),
        };
    };
    of(&state.count).calls += 1;
    let fault = state.part.fault(request);
    match fault {
        Some(Fault::Status(refusal)) => return refuse(&mut stream, refusal, dialect),
        Some(Fault::Drop) => return Ok(()),
        Some(Fault::Hang) => return hang(&stream, state),
        Some(Fault::Cut | Fault::Drip(_)) | None => {}
    }
    // Without tools it is a request of the client outside the conversation: for a title, or whether the model repeats
    // itself.
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
    let headers = state.part.window().filter(|_| dialect == Dialect::Messages).map(Window::headers);
    let headers = headers.unwrap_or_default();
    if fault != Some(Fault::Cut) {
        let mut count = of(&state.count);
        count.usage = count.usage.plus(usage);
        if !request.offers_tools() {
            count.beside = count.beside.plus(usage);
        }
    }
    match answer {
        dialects::ReplyBody::Whole(body) => {
            let body = body.to_string();
            match fault {
                // Half of the announced length.
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
        dialects::ReplyBody::Stream(events) => {
            // No length: the stream ends with the connection, as for an answer of a thinking model.
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

fn refuse(stream: &mut TcpStream, refusal: ServiceError, dialect: Dialect) -> std::io::Result<()> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    let (status, word) = refusal.status();
    send(stream, &format!("{status} {word}"), &refusal.headers(dialect, now), &refusal.body(dialect).to_string())
}

/// Sends nothing until the client disconnects or the server ends.
fn hang(mut stream: &TcpStream, state: &ServerState) -> std::io::Result<()> {
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

fn drip(stream: &mut TcpStream, body: &[u8], pause: Duration, state: &ServerState) -> std::io::Result<()> {
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
