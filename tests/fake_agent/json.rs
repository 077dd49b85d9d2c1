//! As much of JSON as the scripts need.

use std::collections::BTreeMap;
use std::fmt;

#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Map(BTreeMap<String, Json>),
}

impl Json {
    pub fn parse(text: &str) -> Result<Json, String> {
        let letters: Vec<char> = text.chars().collect();
        let mut reader = Reader { letters: &letters, at: 0 };
        let value = reader.value()?;
        reader.space();
        if reader.at < letters.len() { Err(format!("more after the value, at {}", reader.at)) } else { Ok(value) }
    }

    pub fn get(&self, key: &str) -> Option<&Json> {
        match self {
            Json::Map(map) => map.get(key),
            _ => None,
        }
    }

    pub fn text(&self) -> Option<&str> {
        match self {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn number(&self) -> Option<f64> {
        match self {
            Json::Number(number) => Some(*number),
            _ => None,
        }
    }

    pub fn list(&self) -> &[Json] {
        match self {
            Json::List(list) => list,
            _ => &[],
        }
    }

    pub fn field(&self, key: &str) -> &str {
        self.get(key).and_then(Json::text).unwrap_or_default()
    }
}

impl fmt::Display for Json {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Json::Null => write!(formatter, "null"),
            Json::Bool(value) => write!(formatter, "{value}"),
            Json::Number(number) => write!(formatter, "{number}"),
            Json::Text(text) => write!(formatter, "{}", quoted(text)),
            Json::List(list) => {
                let parts: Vec<String> = list.iter().map(Json::to_string).collect();
                write!(formatter, "[{}]", parts.join(","))
            }
            Json::Map(map) => {
                let parts: Vec<String> = map.iter().map(|(key, value)| format!("{}:{value}", quoted(key))).collect();
                write!(formatter, "{{{}}}", parts.join(","))
            }
        }
    }
}

/// Quotes a text as a JSON string.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            control if (control as u32) < 0x20 => quoted.push_str(&format!("\\u{:04x}", control as u32)),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

struct Reader<'a> {
    letters: &'a [char],
    at: usize,
}

impl Reader<'_> {
    fn space(&mut self) {
        while self.letters.get(self.at).is_some_and(|letter| letter.is_whitespace()) {
            self.at += 1;
        }
    }

    fn next(&mut self) -> Option<char> {
        let letter = self.letters.get(self.at).copied();
        self.at += 1;
        letter
    }

    fn expect(&mut self, wanted: char) -> Result<(), String> {
        self.space();
        match self.next() {
            Some(letter) if letter == wanted => Ok(()),
            other => Err(format!("`{wanted}` expected at {}, found {other:?}", self.at)),
        }
    }

    fn value(&mut self) -> Result<Json, String> {
        self.space();
        match self.letters.get(self.at) {
            Some('{') => self.map(),
            Some('[') => self.list(),
            Some('"') => Ok(Json::Text(self.text()?)),
            _ => self.word(),
        }
    }

    fn map(&mut self) -> Result<Json, String> {
        self.expect('{')?;
        let mut map = BTreeMap::new();
        self.space();
        if self.letters.get(self.at) == Some(&'}') {
            self.at += 1;
            return Ok(Json::Map(map));
        }
        loop {
            self.space();
            let key = self.text()?;
            self.expect(':')?;
            map.insert(key, self.value()?);
            self.space();
            match self.next() {
                Some(',') => {}
                Some('}') => return Ok(Json::Map(map)),
                other => return Err(format!("`,` or `}}` expected at {}, found {other:?}", self.at)),
            }
        }
    }

    fn list(&mut self) -> Result<Json, String> {
        self.expect('[')?;
        let mut list = Vec::new();
        self.space();
        if self.letters.get(self.at) == Some(&']') {
            self.at += 1;
            return Ok(Json::List(list));
        }
        loop {
            list.push(self.value()?);
            self.space();
            match self.next() {
                Some(',') => {}
                Some(']') => return Ok(Json::List(list)),
                other => return Err(format!("`,` or `]` expected at {}, found {other:?}", self.at)),
            }
        }
    }

    fn text(&mut self) -> Result<String, String> {
        self.expect('"')?;
        let mut text = String::new();
        loop {
            match self.next() {
                None => return Err("a text has no end".to_owned()),
                Some('"') => return Ok(text),
                Some('\\') => match self.next() {
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    Some('r') => text.push('\r'),
                    Some('u') => {
                        let digits: String = (0..4).filter_map(|_| self.next()).collect();
                        let number = u32::from_str_radix(&digits, 16).map_err(|error| error.to_string())?;
                        text.push(char::from_u32(number).unwrap_or('\u{fffd}'));
                    }
                    Some(other) => text.push(other),
                    None => return Err("a text has no end".to_owned()),
                },
                Some(letter) => text.push(letter),
            }
        }
    }

    fn word(&mut self) -> Result<Json, String> {
        let start = self.at;
        while self.letters.get(self.at).is_some_and(|letter| !",]} \n\t\r".contains(*letter)) {
            self.at += 1;
        }
        let word: String = self.letters[start..self.at.min(self.letters.len())].iter().collect();
        match word.as_str() {
            "null" => Ok(Json::Null),
            "true" => Ok(Json::Bool(true)),
            "false" => Ok(Json::Bool(false)),
            number => number.parse().map(Json::Number).map_err(|_| format!("`{number}` at {start} is no value")),
        }
    }
}
