//! Enums whose values are words in documents, command lines or answers; each word is written once. And lists of words.

use serde::Deserialize;
use serde::de::IntoDeserializer as _;
use serde::de::value::{Error, StrDeserializer};

/// Makes such an enum whose words only serde reads and writes; [`of_word`] returns the value of a word.
macro_rules! read_words {
    ($(#[$of_all:meta])* $visibility:vis enum $name:ident {
        $($(#[$of_one:meta])* $value:ident = $word:literal),+ $(,)?
    }) => {
        $(#[$of_all])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
        $visibility enum $name {
            $($(#[$of_one])* #[serde(rename = $word)] $value),+
        }
    };
}

/// Like `read_words`, with a method `word` that returns the word of a value.
macro_rules! words {
    ($(#[$of_all:meta])* $visibility:vis enum $name:ident {
        $($(#[$of_one:meta])* $value:ident = $word:literal),+ $(,)?
    }) => {
        $crate::text::words::read_words! {
            $(#[$of_all])*
            $visibility enum $name {
                $($(#[$of_one])* $value = $word),+
            }
        }

        impl $name {
            $visibility const fn word(self) -> &'static str {
                match self { $(Self::$value => $word),+ }
            }
        }
    };
}

/// The words of a text as a list: `word_list!("a b")` is `&["a", "b"]`. It is split at compile time.
macro_rules! word_list {
    ($text:literal) => {{
        const LIST: [&str; $crate::text::words::count($text)] = $crate::text::words::split($text);
        &LIST
    }};
}

pub(crate) use {read_words, word_list, words};

/// The number of words in a text.
pub(crate) const fn count(text: &str) -> usize {
    let (mut count, mut at, mut is_inside) = (0, 0, false);
    while at < text.len() {
        let is_blank = text.as_bytes()[at].is_ascii_whitespace();
        if !is_blank && !is_inside {
            count += 1;
        }
        is_inside = !is_blank;
        at += 1;
    }
    count
}

/// Splits a text into its `COUNT` words.
pub(crate) const fn split<const COUNT: usize>(text: &'static str) -> [&'static str; COUNT] {
    let (mut list, mut rest, mut at) = ([""; COUNT], text, 0);
    while at < COUNT {
        rest = rest.trim_ascii_start();
        let mut end = 0;
        while end < rest.len() && !rest.as_bytes()[end].is_ascii_whitespace() {
            end += 1;
        }
        (list[at], rest) = rest.split_at(end);
        at += 1;
    }
    list
}

/// The value with this word.
pub(crate) fn of_word<'word, T: Deserialize<'word>>(word: &'word str) -> Option<T> {
    let word: StrDeserializer<'_, Error> = word.into_deserializer();
    T::deserialize(word).ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_word_list_has_the_words_of_its_text() {
        const NONE: &[&str] = word_list!("");
        const WORDS: &[&str] = word_list!(
            " one two
              drei \u{fc}ber "
        );
        assert_eq!((NONE, WORDS), (&[][..], &["one", "two", "drei", "\u{fc}ber"][..]));
    }
}
