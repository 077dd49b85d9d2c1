//! A client that really asks a model server in the Anthropic message format, and can differ in one way from what we
//! expect.
//!
//! `--actor probed:CHANGE`; without a change it behaves as our tables say.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use crate::json::{Json, quoted};
use crate::world::{self, Call};

/// Variables that a probed client must not see: keys of the user, and marks of a host.
const NOT_FOR_IT: [&str; 3] = ["OPENAI_API_KEY", "CLAUDECODE", "GSD_TEST_SECRET"];

/// The most turns in which the model may ask for a tool.
const MOST_TURNS: usize = 5;

struct Client<'a> {
    change: &'a str,
    session: String,
    input: u64,
    cached: u64,
    output: u64,
}

/// A server's answer: the status and the body.
enum Answer {
    Whole(u16, Json),
    Broken(&'static str),
}

/// Acts, and returns the exit code.
pub fn play(call: &Call) -> u8 {
    let change = call.argument.as_str();
    if std::env::args().any(|argument| argument == "--version") {
        println!("{} (Fake Client)", if change == "version" { "2.9.0" } else { "2.1.330" });
        return 0;
    }
    let session = if change == "other-session" { "another".to_owned() } else { call.session.clone() };
    let mut client = Client { change, session, input: 0, cached: 0, output: 0 };
    if let Some(name) = NOT_FOR_IT.iter().find(|name| std::env::var_os(name).is_some()) {
        return client.fail(None, &format!("{name} is in the environment"));
    }
    client.work()
}

impl Client<'_> {
    fn is(&self, change: &str) -> bool {
        self.change == change
    }

    fn work(&mut self) -> u8 {
        if self.is("silent") {
            return 0;
        }
        let name = if self.is("no-session") { String::new() } else { format!(r#","session_id":{}"#, quoted(&self.session)) };
        let first = if self.is("start-event") { "begin" } else { "system" };
        say(&format!(r#"{{"type":"{first}","subtype":"init","model":"fake"{name}}}"#));
        if self.is("noise") {
            say("Loading the model...");
        }
        if self.is("new-event") {
            say(r#"{"type":"telemetry","subtype":"sent"}"#);
        }
        if self.is("hang") {
            world::hang();
        }
        let mut said = if self.is("prompt") { format!("\"{}\"", prompt()) } else { prompt() };
        for _ in 0..MOST_TURNS {
            let (status, body) = match ask(&said) {
                Answer::Whole(status, body) => (status, body),
                Answer::Broken(why) => return self.fail(None, why),
            };
            if status >= 400 {
                let text = body.get("error").map(|error| error.field("message").to_owned()).unwrap_or_default();
                return self.fail(Some(status), &text);
            }
            self.count(&body);
            let content = body.get("content").map(Json::list).unwrap_or_default();
            let kind = if self.is("answer-event") { "message" } else { "assistant" };
            let message = body.to_string();
            let message = if self.is("no-tokens") { message.replace(r#""usage""#, r#""used""#) } else { message };
            say(&format!(r#"{{"type":"{kind}","message":{message}}}"#));
            let Some(tool) = content.iter().find(|piece| piece.field("type") == "tool_use") else { break };
            let command = tool.get("input").map(|input| input.field("command").to_owned()).unwrap_or_default();
            if !self.is("nothing-made") {
                let _ = Command::new("sh").args(["-c", &command]).status();
            }
            if !self.is("no-result-of-tool") {
                let result = format!(r#"{{"type":"tool_result","tool_use_id":{},"content":"done"}}"#, quoted(tool.field("id")));
                say(&format!(r#"{{"type":"user","message":{{"content":[{result}]}}}}"#));
            }
            said += &command;
        }
        self.succeed()
    }

    fn count(&mut self, body: &Json) {
        let of = |key: &str| body.get("usage").and_then(|usage| usage.get(key)).and_then(Json::number).unwrap_or(0.0) as u64;
        self.input += of("input_tokens");
        self.cached += of("cache_read_input_tokens");
        self.output += of("output_tokens");
    }

    fn succeed(&self) -> u8 {
        if self.is("process-left") {
            let mut left = Command::new("setsid");
            left.args(["sleep", "4711"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            let _ = left.spawn();
            world::sleep(200);
        }
        let (input, cached) = (self.input + u64::from(self.is("tokens")), self.cached);
        let cached = if self.is("cache") { 0 } else { cached };
        let usage = format!(
            r#","usage":{{"input_tokens":{input},"cache_read_input_tokens":{cached},"output_tokens":{}}}"#,
            self.output
        );
        let usage = if self.is("no-tokens") { "" } else { &usage };
        let cost = if self.is("no-cost") { "" } else { r#","total_cost_usd":0.01"# };
        let (kind, subtype) = match self.change {
            "event-name" => ("outcome", "success"),
            "result-word" => ("result", "done"),
            _ => ("result", "success"),
        };
        let reason = if self.is("reason") { "finished" } else { "completed" };
        if !self.is("no-end") {
            say(&format!(
                r#"{{"type":"{kind}","subtype":"{subtype}","is_error":false,"result":"Done.","terminal_reason":"{reason}"{usage}{cost}}}"#
            ));
        }
        if self.is("exit-code") { 3 } else { 0 }
    }

    fn fail(&self, status: Option<u16>, text: &str) -> u8 {
        if self.is("false-success") && status == Some(401) {
            say(r#"{"type":"assistant","message":{"content":[{"type":"text","text":"All is done."}]}}"#);
            world::sleep(700);
            return self.succeed();
        }
        let status = match status {
            Some(500) if self.is("other-status") => Some(429),
            other => other,
        };
        let number = status.map_or("null".to_owned(), |status| status.to_string());
        say(&format!(
            r#"{{"type":"result","subtype":"success","is_error":true,"api_error_status":{number},"result":{},"terminal_reason":"api_error"}}"#,
            quoted(text)
        ));
        if self.is("failure-code") { 7 } else { 1 }
    }
}

fn say(line: &str) {
    let mut stdout = std::io::stdout();
    let _ = writeln!(stdout, "{line}").and_then(|()| stdout.flush());
}

fn prompt() -> String {
    let arguments: Vec<String> = std::env::args().collect();
    let at = arguments.iter().position(|argument| argument == "-p");
    at.and_then(|at| arguments.get(at + 1).cloned()).unwrap_or_default()
}

/// Sends one request to the model, without streaming.
fn ask(said: &str) -> Answer {
    let url = std::env::var("ANTHROPIC_BASE_URL").unwrap_or_default();
    let Ok(mut stream) = TcpStream::connect(url.trim_start_matches("http://")) else {
        return Answer::Broken("connect ECONNREFUSED");
    };
    let message = format!(r#"{{"role":"user","content":{}}}"#, quoted(said));
    let body = format!(r#"{{"model":"fake","tools":[{{"name":"Bash"}}],"messages":[{message}]}}"#);
    let length = body.len();
    let sent = write!(stream, "POST /v1/messages HTTP/1.1\r\ncontent-length: {length}\r\n\r\n{body}");
    let mut answer = String::new();
    if sent.is_err() || stream.read_to_string(&mut answer).is_err() {
        return Answer::Broken("read ECONNRESET");
    }
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    match Json::parse(body) {
        Ok(body) => Answer::Whole(status, body),
        Err(_) => Answer::Broken("read ECONNRESET"),
    }
}
