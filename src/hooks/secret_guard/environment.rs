//! Checks whether a program shows values of the environment, once those of a secret file are in it.

use super::code;
use super::programs::INTERPRETERS;
use super::variables::is_plain;
use crate::text::shell::{Argument, Run, Spelling};

/// True if a program shows the contents of the environment.
pub(super) fn is_shown(run: &Run) -> bool {
    let texts: Vec<String> = run.arguments.iter().map(Argument::shown).collect();
    let is_secret = |text: &&String| !text.starts_with('-') && !is_plain(text);
    match run.program.as_str() {
        "env" | "get-childitem" => true,
        "printenv" => texts.is_empty() || texts.iter().any(|text| is_secret(&text)),
        // Without a name they list all variables.
        "declare" | "typeset" => {
            let prints = texts.iter().any(|text| text.starts_with('-') && text.contains('p'));
            texts.iter().all(|text| text.starts_with('-')) && !texts.iter().any(|text| text.contains(['F', 'f']))
                || prints && texts.iter().any(|text| is_secret(&text))
        }
        "set" | "export" => texts.is_empty() || texts.iter().any(|text| text == "-p"),
        "echo" | "printf" => shows_unset(run, &run.arguments),
        "cat" | "tee" => run.here.as_ref().is_some_and(|here| here.spellings.iter().any(Spelling::has_unset)),
        "jq" => texts
            .iter()
            .any(|text| text.contains("$ENV") || text.split(|of| !char::is_alphabetic(of)).any(|word| word == "env")),
        "awk" | "gawk" | "mawk" | "nawk" => texts.iter().any(|text| text.contains("ENVIRON")),
        program if INTERPRETERS.contains(&program) => {
            let is_printed = |pair: &[String]| matches!(pair[0].as_str(), "-p" | "-pe" | "--print");
            texts.iter().chain(&run.input).any(|text| code::shows_environment(text))
                || texts.windows(2).any(|pair| is_printed(pair) && code::is_of_environment(&pair[1]))
        }
        _ => false,
    }
}

/// True if words contain a variable that the script does not set, other than plain ones.
fn shows_unset(run: &Run, words: &[Argument]) -> bool {
    let has_unset = words.iter().flat_map(|word| &word.spellings).any(Spelling::has_unset);
    has_unset && (run.unset.is_empty() || run.unset.iter().any(|name| !is_plain(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_plain_by_its_name() {
        for name in ["PORT", "DB_HOST", "NODE_ENV", "LOG_LEVEL", "aws_region", "APP_VERSION"] {
            assert!(is_plain(name), "{name}");
        }
        for name in ["API_KEY", "DATABASE_URL", "SECRET_PATH", "TOKEN", "", "AUTH_HOST", "KEY", "X"] {
            assert!(!is_plain(name), "{name}");
        }
    }
}
