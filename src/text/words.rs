//! Enums whose values are words: of documents, of command lines, of answers. Each word stands once.

use serde::Deserialize;
use serde::de::IntoDeserializer as _;
use serde::de::value::{Error, StrDeserializer};

/// Makes such an enum whose words only serde reads and writes; [`of_word`] gives the value of a word.
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

/// As `read_words`, with `word` for the word of a value.
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

pub(crate) use {read_words, words};

/// The value that has this word.
pub(crate) fn of_word<'word, T: Deserialize<'word>>(word: &'word str) -> Option<T> {
    let word: StrDeserializer<'_, Error> = word.into_deserializer();
    T::deserialize(word).ok()
}
