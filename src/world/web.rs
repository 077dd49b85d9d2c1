//! Requests to web servers, made with `curl`, because it knows this machine's proxies and certificates.

use std::fmt::Write as _;
use std::time::Duration;

use super::{Program, World, WorldError};

/// A server that takes longer than this counts as not answering.
const PATIENCE: Duration = Duration::from_secs(20);

/// The longest accepted answer, in bytes: the largest documents of npm have some 30 MB.
const LONGEST_ANSWER: u64 = 64 << 20;

/// A server's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Response {
    /// The HTTP status, for example 200.
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

impl World {
    /// Fetches a page over HTTPS. A failure status is an answer; only a missing answer is an error.
    pub(crate) fn fetch(&self, url: &str, headers: &[(&str, &str)]) -> Result<Response, WorldError> {
        let mut settings = String::from("proto = \"=https\"\n");
        for (name, value) in headers {
            let _ = writeln!(settings, "header = {}", quoted(&format!("{name}: {value}")));
        }
        self.ask(url, &settings, PATIENCE)
    }

    /// Asks a server that the user runs, without a proxy and over HTTP too, and waits up to `limit`. The contents of
    /// `json`, if any, are sent to it.
    pub(crate) fn ask_own_server(
        &self,
        url: &str,
        json: Option<&str>,
        limit: Duration,
    ) -> Result<Response, WorldError> {
        let mut settings = String::from("proto = \"=http,https\"\nnoproxy = \"*\"\n");
        if let Some(json) = json {
            let _ = writeln!(settings, "header = \"Content-Type: application/json\"\ndata-raw = {}", quoted(json));
        }
        self.ask(url, &settings, limit)
    }

    /// Sends a text to a server that the user names, and waits up to `limit`. A redirect is an answer, and is not
    /// followed.
    pub(crate) fn post(
        &self,
        url: &str,
        headers: &[(&str, &str)],
        text: &str,
        limit: Duration,
    ) -> Result<Response, WorldError> {
        let mut settings = String::from("proto = \"=http,https\"\n");
        for (name, value) in headers {
            let _ = writeln!(settings, "header = {}", quoted(&format!("{name}: {value}")));
        }
        let _ = writeln!(settings, "data-raw = {}", quoted(text));
        self.ask(url, &settings, limit)
    }

    fn ask(&self, url: &str, more: &str, limit: Duration) -> Result<Response, WorldError> {
        // Everything goes through standard input: all users of the machine can see arguments, and a header may contain
        // a key.
        let mut settings = format!("silent\nshow-error\n{more}");
        let _ = writeln!(settings, "max-time = {}\nmax-filesize = {LONGEST_ANSWER}", limit.as_secs());
        let _ = writeln!(settings, "write-out = \"\\n%{{http_code}}\"\nurl = {}", quoted(url));
        let _ = writeln!(settings, "user-agent = {}", quoted(concat!("gsd-tools/", env!("CARGO_PKG_VERSION"))));
        let program = Program::apart("curl").arguments(["--disable", "--config", "-"]).stdin(settings);
        // `curl` reports its own limit as an error text; this one is for a `curl` that does not respect it.
        let finished = self.run(&program.timeout(limit + Duration::from_secs(5)))?;
        let unanswered = |why: String| WorldError::NoAnswer { server: server(url).to_owned(), why };
        if !finished.success() {
            let why = finished.error_text();
            return Err(unanswered(why.strip_prefix("curl: ").map_or_else(|| why.clone(), str::to_owned)));
        }
        let mut body = finished.stdout;
        let status = body.iter().rposition(|byte| *byte == b'\n').map(|end| body.split_off(end));
        let status = status.and_then(|line| String::from_utf8(line).ok()?.trim().parse().ok());
        Ok(Response { status: status.ok_or_else(|| unanswered("no reason given".to_owned()))?, body })
    }
}

/// Quotes a value for a `curl` settings file.
fn quoted(value: &str) -> String {
    let mut text = String::from("\"");
    for character in value.chars() {
        match character {
            '"' | '\\' => text.extend(['\\', character]),
            // A line break would begin another setting or header.
            character if character.is_control() => text.push(' '),
            character => text.push(character),
        }
    }
    text + "\""
}

fn server(url: &str) -> &str {
    let address = url.split_once("://").map_or(url, |(_, address)| address);
    address.split(['/', '?']).next().unwrap_or(address)
}

/// Encodes text as a part of an address: every byte that could end the part is escaped.
pub(crate) fn encoded(text: &str) -> String {
    let mut part = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            part.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(part, "%{byte:02X}");
        }
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_stays_on_its_line() {
        assert_eq!(quoted("a\"b\\c"), r#""a\"b\\c""#);
        assert_eq!(quoted("key\r\nurl = x"), "\"key  url = x\"");
    }

    #[test]
    fn a_part_of_an_address_cannot_escape_it() {
        assert_eq!(encoded("@types/node"), "%40types%2Fnode");
        assert_eq!(encoded("../a?b#c d"), "..%2Fa%3Fb%23c%20d");
        assert_eq!(server("https://packages.example/a/b"), "packages.example");
    }
}
