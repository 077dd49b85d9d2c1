//! `fence` in the user's own preferences: exceptions to the fences of unattended runs. As with held-out checks, unknown
//! keys are refused: skipping one would silently leave something open or closed.

use super::lines::bare;
use crate::text::front_matter::{FrontMatter, Value};

/// The key.
pub(crate) const KEY: &str = "fence";

/// The exceptions, as written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FencePreferences {
    /// Paths that are secret otherwise.
    pub(crate) read: Vec<String>,
    /// Variables that name the sockets of programs outside the fence.
    pub(crate) sockets: Vec<String>,
    /// The only TCP ports that a program may connect to; `None` for all.
    pub(crate) network: Option<Vec<u16>>,
    /// Whether programs may create pseudo-terminals.
    pub(crate) terminals: bool,
}

/// The line of the key; the first line if the key is in a one-line map.
pub(crate) fn line(text: &str) -> usize {
    let is_key = |line: &str| line.strip_prefix(KEY).is_some_and(|rest| rest.trim_start().starts_with(':'));
    text.lines().position(is_key).map_or(1, |line| line + 1)
}

/// Reads the exceptions in a document, or says what is wrong with it.
pub(crate) fn read(text: &str) -> Result<FencePreferences, String> {
    let mut found = FencePreferences::default();
    let value = FrontMatter::parse(bare(text)).and_then(|front| front.get(KEY));
    let Some(value) = value.filter(|value| *value != Value::Empty) else { return Ok(found) };
    let Value::Map(keys) = &value else { return Err("has `read`, `sockets`, `network` and `terminals`".to_owned()) };
    for (key, value) in keys.iter().filter(|(_, value)| *value != Value::Empty) {
        let texts = || -> Result<Vec<String>, String> {
            let texts = value.items().iter().map(|item| item.as_text().map(|text| text.trim().to_owned()));
            texts.collect::<Option<_>>().ok_or_else(|| format!("`{key}` is not a list"))
        };
        match key.as_str() {
            "read" => found.read = texts()?,
            "sockets" => found.sockets = texts()?,
            "network" => found.network = Some(texts()?.iter().map(|text| port(text)).collect::<Result<_, _>>()?),
            "terminals" => {
                found.terminals = match value.as_text().unwrap_or_default() {
                    "true" | "yes" | "on" => true,
                    "false" | "no" | "off" => false,
                    _ => return Err("`terminals` is `true` or `false`".to_owned()),
                }
            }
            other => {
                let shown = crate::text::untrusted::line(other, 60);
                return Err(format!("has `{shown}`; it has `read`, `sockets`, `network` and `terminals`"));
            }
        }
    }
    Ok(found)
}

fn port(text: &str) -> Result<u16, String> {
    let shown = crate::text::untrusted::line(text, 60);
    text.parse().map_err(|_| format!("`{shown}` in `network` is not a port; hosts cannot be named, only ports of TCP"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exceptions_are_read_completely_or_refused() {
        let text = "---\nmode: solo\nfence:\n  read: [~/.netrc, ~/.ssh/known_hosts]\n  sockets: [SSH_AUTH_SOCK]\n  \
            network: [443, 80]\n  terminals: true\n---\n";
        let found = read(text).unwrap();
        assert_eq!(found.read, ["~/.netrc", "~/.ssh/known_hosts"]);
        assert_eq!((found.sockets, found.network), (vec!["SSH_AUTH_SOCK".to_owned()], Some(vec![443, 80])));
        assert!(found.terminals);
        assert_eq!(line(text), 3);
        assert_eq!(read("# nothing\n"), Ok(FencePreferences::default()));
        assert_eq!(read("---\nfence:\n  network: []\n---\n").unwrap().network, Some(Vec::new()));
        for (broken, said) in [
            ("fence: off", "has `read`, `sockets`, `network` and `terminals`"),
            ("fence:\n  write: [~]", "has `write`; it has `read`, `sockets`, `network` and `terminals`"),
            ("fence:\n  terminals: 3", "`terminals` is `true` or `false`"),
            (
                "fence:\n  network: [example.com:443]",
                "`example.com:443` in `network` is not a port; hosts cannot be named, only ports of TCP",
            ),
        ] {
            assert_eq!(read(&format!("---\n{broken}\n---\n")), Err(said.to_owned()), "{broken}");
        }
    }
}
