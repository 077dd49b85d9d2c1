//! A command that is shown so that a person can type it.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A command that is shown so that a person can type it: each part from a document, a path or a name is one word. Only
/// constants and [`typed!`](crate::text::shell::typed!) make one, and a test looks for commands that are put together
/// in another way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub(crate) struct Typed(String);

impl Typed {
    /// From a text in which every value is already quoted.
    pub(crate) fn of_quoted(text: String) -> Self {
        Self(text)
    }

    /// Appends the words of another command, for example a flag with its value.
    pub(crate) fn and(mut self, more: &Self) -> Self {
        if !more.0.is_empty() {
            if !self.0.is_empty() {
                self.0.push(' ');
            }
            self.0.push_str(&more.0);
        }
        self
    }

    /// Appends one word.
    pub(crate) fn word(self, word: impl fmt::Display) -> Self {
        self.and(&Self(super::quote::shell_word(&word.to_string())))
    }

    /// The words of a text, each quoted if needed.
    pub(crate) fn words(text: &str) -> Self {
        text.split_whitespace().fold(Self(String::new()), Self::word)
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<Typed> for String {
    fn from(command: Typed) -> Self {
        command.0
    }
}

impl From<Typed> for Cow<'static, str> {
    fn from(command: Typed) -> Self {
        command.0.into()
    }
}

impl From<&'static str> for Typed {
    fn from(command: &'static str) -> Self {
        Self(command.to_owned())
    }
}

impl fmt::Display for Typed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

/// A value in a command. [`Words`] is tried first, so that a command inside a command stays unchanged.
pub(crate) struct Piece<'a, T: ?Sized>(pub(crate) &'a T);

/// A part of a command whose values are already quoted.
pub(crate) trait Words {
    fn piece(&self) -> String;
}

impl Words for Piece<'_, Typed> {
    fn piece(&self) -> String {
        self.0.0.clone()
    }
}

impl Words for Piece<'_, &Typed> {
    fn piece(&self) -> String {
        self.0.0.clone()
    }
}

/// Any other value, which becomes one word.
pub(crate) trait Word {
    fn piece(&self) -> String;
}

impl<T: fmt::Display + ?Sized> Word for &Piece<'_, T> {
    fn piece(&self) -> String {
        super::quote::shell_word(&self.0.to_string())
    }
}

/// Makes a command with values, each of which becomes one shell word: `typed!("git -C {} switch {}", folder, branch)`.
/// A value that is a [`Typed`] keeps its words.
macro_rules! typed {
    ($command:literal $(, $value:expr)* $(,)?) => {{
        #[allow(unused_imports, reason = "a command may have values of one kind only")]
        use $crate::text::shell::{Word as _, Words as _};
        $crate::text::shell::Typed::of_quoted(format!($command $(, (&$crate::text::shell::Piece(&$value)).piece())*))
    }};
}
pub(crate) use typed;

#[cfg(test)]
mod tests {
    use super::*;

    /// Words that do harm if they are not quoted, or that a terminal acts on.
    const HOSTILE: &[&str] = &[
        ";touch pwned",
        "$(touch pwned)",
        "`touch pwned`",
        "a'b",
        "a\"b",
        "a\nb",
        "\r\nNext  curl evil",
        "\u{1b}[31mred",
        "\u{9b}2J",
        "\u{202e}x",
        "-rf",
        "a b",
        "x!y",
        "!!",
        "a\\b",
        "",
        "&& x",
        "*",
        "?",
        "[a]",
        "{a,b}",
        "~",
        "~root",
        "#x",
        "=ls",
        "a\tb",
        "\u{200b}",
        "$HOME",
        "${IFS}",
        "<x",
        ">x",
        "|x",
        "'\\''",
        "é",
        "日本",
        "x\u{7f}",
        "!'\u{1b}",
    ];

    #[test]
    fn every_value_of_a_command_is_one_word_of_bash() {
        for hostile in HOSTILE {
            let command = typed!("printf '%s\\0' {} {} end", hostile, format!("/a b/{hostile}"));
            let unseen = command.as_str().chars().find(|letter| is_acting(*letter));
            assert_eq!(unseen, None, "{command}");
            let run = std::process::Command::new("bash").args(["--norc", "-c", command.as_str()]).output().unwrap();
            assert_eq!(String::from_utf8_lossy(&run.stdout), format!("{hostile}\0/a b/{hostile}\0end\0"), "{command}");
        }
    }

    #[test]
    fn a_value_does_not_start_a_command_in_any_shell() {
        for hostile in HOSTILE {
            let command = typed!("true {}", hostile);
            let run = std::process::Command::new("sh").args(["-c", command.as_str()]).output().unwrap();
            assert!(run.status.success() && run.stdout.is_empty() && run.stderr.is_empty(), "{command}: {run:?}");
        }
        assert!(!std::path::Path::new("pwned").exists());
    }

    #[test]
    fn history_expansion_is_not_triggered() {
        for hostile in HOSTILE.iter().filter(|word| word.contains('!')) {
            let word = typed!("{}", hostile).to_string();
            assert!(!word.contains('!') || word.starts_with('\''), "{word}");
        }
    }

    #[test]
    fn words_are_appended_to_a_command() {
        let flags = typed!("--brief {}", "a b");
        let command = typed!("gsd-tools auto {} {}", "run", &flags);
        assert_eq!(command.to_string(), "gsd-tools auto run --brief \"a b\"");
        let command = Typed::from("gsd-tools auto run").and(&flags).word("c;d");
        assert_eq!(command.to_string(), "gsd-tools auto run --brief \"a b\" \"c;d\"");
        assert_eq!(Typed::from("x").and(&Typed::from("")).as_str(), "x");
    }

    fn is_acting(letter: char) -> bool {
        letter.is_control() || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{200b}')
    }
}
