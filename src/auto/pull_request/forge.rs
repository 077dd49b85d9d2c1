//! The programs that open pull requests: facts from `forges.toml`.

use serde::Deserialize;
use serde_json::Value;

use crate::auto::event::RequestState;
use crate::text::shell::Typed;

/// A program for the pull requests of a forge.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Forge {
    pub(crate) program: String,
    /// A part of the name of its host.
    host: String,
    /// What it calls a pull request.
    pub(crate) name: String,
    list: Vec<String>,
    open: Vec<String>,
    update: Vec<String>,
    by_hand: Vec<String>,
    /// The fields with the number and the address of a pull request.
    number: String,
    url: String,
}

#[derive(Deserialize)]
struct Forges {
    forge: Vec<Forge>,
}

/// The words that are filled in.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestWords<'a> {
    pub(crate) branch: &'a str,
    pub(crate) base: &'a str,
    pub(crate) title: &'a str,
    pub(crate) body: &'a str,
    /// The file with the same text.
    pub(crate) file: &'a str,
    pub(crate) number: &'a str,
}

/// A pull request that a forge has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FoundRequest {
    pub(crate) number: String,
    pub(crate) state: RequestState,
    pub(crate) url: Option<String>,
}

impl Forge {
    /// Returns the forges that a remote can be at: the one that its address names, else all of them.
    pub(crate) fn of_address(address: &str) -> Vec<Self> {
        let all = toml_edit::de::from_str::<Forges>(include_str!("forges.toml")).map(|table| table.forge);
        let all = all.unwrap_or_default();
        let host = host_of(address).to_lowercase();
        let named: Vec<Self> = all.iter().filter(|forge| host.contains(&forge.host)).cloned().collect();
        if named.is_empty() { all } else { named }
    }

    pub(crate) fn list(&self, words: &RequestWords<'_>) -> Vec<String> {
        filled(&self.list, words)
    }

    pub(crate) fn open(&self, words: &RequestWords<'_>) -> Vec<String> {
        filled(&self.open, words)
    }

    pub(crate) fn update(&self, words: &RequestWords<'_>) -> Vec<String> {
        filled(&self.update, words)
    }

    /// Returns the command with which a person opens it.
    pub(crate) fn by_hand(&self, words: &RequestWords<'_>) -> Typed {
        filled(&self.by_hand, words).into_iter().fold(Typed::words(&self.program), Typed::word)
    }

    /// Reads the answer of `list`; `None` if there is no pull request, `Err` if the answer cannot be read.
    pub(crate) fn read(&self, answer: &str) -> Result<Option<FoundRequest>, String> {
        let list: Vec<Value> =
            serde_json::from_str(answer).map_err(|error| format!("`{}` gave no list: {error}", self.program))?;
        let Some(first) = list.first() else { return Ok(None) };
        let word = first.get("state").and_then(Value::as_str).unwrap_or_default().to_lowercase();
        let state = match word.as_str() {
            "open" | "opened" => RequestState::Open,
            "closed" => RequestState::Closed,
            "merged" => RequestState::Merged,
            _ => RequestState::Unknown,
        };
        let number = first.get(&self.number).and_then(Value::as_u64);
        let number = number.ok_or_else(|| format!("`{}` gave a {} without a number", self.program, self.name))?;
        let url = first.get(&self.url).and_then(Value::as_str);
        let url = url.filter(|url| url.starts_with("https://") || url.starts_with("http://")).map(str::to_owned);
        Ok(Some(FoundRequest { number: number.to_string(), state, url }))
    }
}

/// Returns the host in an address: `https://host/...`, `ssh://user@host:22/...` or `user@host:...`. A path has none.
fn host_of(address: &str) -> &str {
    let rest = match address.split_once("://") {
        Some((_, rest)) => rest.split('/').next().unwrap_or_default(),
        None => match address.split_once(':') {
            Some((host, _)) if !host.contains(['/', '\\']) => host,
            _ => return "",
        },
    };
    let host = rest.rsplit('@').next().unwrap_or(rest);
    host.split(':').next().unwrap_or(host)
}

fn filled(line: &[String], words: &RequestWords<'_>) -> Vec<String> {
    let value = |word: &String| {
        let value = match word.as_str() {
            "{branch}" => words.branch,
            "{base}" => words.base,
            "{title}" => words.title,
            "{body}" => words.body,
            "{file}" => words.file,
            "{number}" => words.number,
            other => other,
        };
        value.to_owned()
    };
    line.iter().map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_a_remote_names_its_forge() {
        let programs = |address: &str| -> Vec<String> {
            Forge::of_address(address).into_iter().map(|forge| forge.program).collect()
        };
        for address in ["https://github.com/a/b.git", "git@github.com:a/b.git", "ssh://git@github.corp.example:22/a/b"]
        {
            assert_eq!(programs(address), ["gh"], "{address}");
        }
        for address in ["https://gitlab.com/a/b.git", "git@gitlab.example.org:github/b.git"] {
            assert_eq!(programs(address), ["glab"], "{address}");
        }
        for address in ["/srv/github/a.git", "file:///srv/a.git", "C:\\github\\a", "https://example.org/github/a"] {
            assert_eq!(programs(address), ["gh", "glab"], "{address}");
        }
    }

    #[test]
    fn each_value_is_one_word_and_the_answers_of_both_programs_are_read() {
        let [gh, glab] = Forge::of_address("").try_into().unwrap();
        let words = RequestWords {
            branch: "milestone/M001",
            title: "--x; `y` {base}",
            file: "/a b",
            ..RequestWords::default()
        };
        assert_eq!(gh.open(&words)[7], "--x; `y` {base}");
        assert!(gh.by_hand(&words).as_str().contains(r#""--x; \`y\` {base}""#), "{}", gh.by_hand(&words));
        let open = r#"[{"number": 7, "state": "OPEN", "url": "https://example.org/7"}]"#;
        let url = Some("https://example.org/7".to_owned());
        let found = FoundRequest { number: "7".to_owned(), state: RequestState::Open, url };
        assert_eq!(gh.read(open), Ok(Some(found.clone())));
        let merged = r#"[{"iid": 7, "state": "merged", "web_url": "https://example.org/7"}]"#;
        assert_eq!(glab.read(merged), Ok(Some(FoundRequest { state: RequestState::Merged, ..found })));
        assert_eq!(gh.read("[]"), Ok(None));
        assert!(gh.read("no requests").is_err() && glab.read(r#"[{"state": "opened"}]"#).is_err());
    }
}
