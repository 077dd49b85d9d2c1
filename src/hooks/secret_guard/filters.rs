//! Programs that show only the names in an environment file, or hide its values.

use crate::text::shell::{Argument, Run};

/// True if a program shows nothing of the text after a `=`.
pub(super) fn shows_only_names(run: &Run) -> bool {
    let words: Vec<String> = run.arguments.iter().map(Argument::shown).collect();
    match run.program.as_str() {
        "cut" => cuts_names(&words),
        "sed" | "gsed" => script(&words, &["-e", "--expression"]).is_some_and(|script| hides_values(&script)),
        "awk" | "gawk" | "mawk" | "nawk" => prints_names(&words),
        "grep" | "egrep" | "rg" | "ggrep" => picks_names(&words),
        _ => false,
    }
}

/// True for `cut -d= -f1`, in all its spellings.
fn cuts_names(words: &[String]) -> bool {
    let value = |short: &str, long: &str| {
        words.iter().enumerate().find_map(|(at, word)| match word.strip_prefix(long) {
            Some(value) => Some(value.strip_prefix('=').unwrap_or(value).to_owned()),
            None if word == short => words.get(at + 1).cloned(),
            None => word.strip_prefix(short).map(str::to_owned),
        })
    };
    let inverted = words.iter().any(|word| word == "--complement");
    value("-d", "--delimiter").is_some_and(|mark| mark == "=" || mark == ":")
        && value("-f", "--fields").is_some_and(|fields| fields == "1")
        && !inverted
}

/// The one script among the words.
fn script(words: &[String], options: &[&str]) -> Option<String> {
    let mut scripts = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if options.contains(&word.as_str()) {
            scripts.extend(rest.next());
        } else if !word.starts_with('-') {
            if scripts.is_empty() {
                scripts.push(word);
            }
            break;
        }
    }
    match scripts.as_slice() {
        [script] => Some((*script).clone()),
        _ => None,
    }
}

/// True if a `sed` script begins by replacing everything after the first `=`: `s/=.*//`.
fn hides_values(script: &str) -> bool {
    let command = script.trim().trim_start_matches(|letter: char| !letter.is_ascii_lowercase());
    let Some(rest) = command.strip_prefix('s') else { return false };
    let Some(mark) = rest.chars().next().filter(|mark| !mark.is_alphanumeric()) else { return false };
    let mut parts = rest[mark.len_utf8()..].split(mark);
    let (Some(pattern), Some(new)) = (parts.next(), parts.next()) else { return false };
    let Some((name, value)) = pattern.split_once('=') else { return false };
    let value = value.trim_start_matches([')', '\\']).trim_end_matches('$');
    matches!(value, ".*" | ".+" | ".\\+") && is_any_name(name) && !new.contains('&') && !new.contains("\\2")
}

/// True if a pattern matches every variable name: it contains no letters outside of sets.
fn is_any_name(pattern: &str) -> bool {
    let mut in_set = false;
    pattern.chars().all(|letter| {
        in_set = letter == '[' || in_set && letter != ']';
        in_set || !letter.is_alphanumeric()
    })
}

/// True for `awk -F= '{print $1}'`, with conditions only about the first field.
fn prints_names(words: &[String]) -> bool {
    let by_mark = words.iter().enumerate().any(|(at, word)| match word.strip_prefix("-F") {
        Some("") => words.get(at + 1).is_some_and(|mark| mark == "="),
        Some(mark) => mark == "=",
        None => false,
    });
    let scripts: Vec<&String> = words.iter().filter(|word| word.contains('{')).collect();
    let [script] = scripts.as_slice() else { return false };
    let without = script.replace("$1", "");
    let prints_all = script.match_indices("print").any(|(at, _)| {
        script[at + "print".len()..].trim_start().starts_with(['}', ';', '>']) || script.ends_with("print")
    });
    by_mark && script.contains("$1") && !without.contains(['$', '0']) && !script.contains("getline") && !prints_all
}

/// True for `grep -o '^[A-Z_]*='`: only the match is shown, and it ends with the name.
fn picks_names(words: &[String]) -> bool {
    let only = |word: &String| {
        word == "--only-matching"
            || word.starts_with('-') && !word.starts_with("--") && word.contains('o') && !word.contains('P')
    };
    if !words.iter().any(only) {
        return false;
    }
    let patterns: Vec<&String> = words.iter().filter(|word| word.contains(['[', '^', '\\'])).collect();
    let [pattern] = patterns.as_slice() else { return false };
    // A set without the `=` matches a name.
    let pattern = pattern.replace("[^=]", "[A]").replace("[^#=]", "[A]");
    let (name, value) = pattern.split_once('=').unwrap_or((&pattern, ""));
    let negated = name.contains("[^");
    let starts = name.trim_start_matches(['(', '\\']).starts_with(['^', '[']);
    starts
        && !negated
        && !name.contains('.')
        && !name.contains("\\S")
        && value.trim_matches([')', '?', '"', '\'']).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::shell::runs;

    #[test]
    fn names_are_distinguished_from_values() {
        let names = |line: &str| runs(line).last().is_some_and(shows_only_names);
        for line in [
            "cut -d= -f1 .env",
            "cut -d '=' -f 1 .env",
            "cut --delimiter='=' --fields=1 .env",
            "sed 's/=.*//' .env",
            "sed -E 's/^([A-Z_]+)=.*$/\\1=***/' .env",
            "sed -n 's/=.*//p' .env",
            "sed -e 's|=.*|=<hidden>|' .env",
            "awk -F= '{print $1}' .env",
            "awk -F '=' '/^[A-Z]/ {print $1}' .env",
            "awk -F= '!/^#/ && NF {print $1\"=<redacted>\"}' .env",
            "grep -o '^[A-Z_]*=' .env",
            "grep -oE '^[A-Z_]+' .env",
            "grep -oE '^[^=]+' .env",
        ] {
            assert!(names(line), "{line}");
        }
        for line in [
            "cut -d= -f2 .env",
            "cut -d= -f1,2 .env",
            "cut -c1-10 .env",
            "cut -d= -f1 --complement .env",
            "sed 's/=.*/&/' .env",
            "sed 's/KEY=.*//' .env",
            "sed 'p;s/=.*//' .env",
            "sed -n p .env",
            "sed 's/=/ /' .env",
            "awk -F= '{print $2}' .env",
            "awk -F= '{print}' .env",
            "awk -F= '{print $0}' .env",
            "awk '{print $1}' .env",
            "grep -o 'KEY=.*' .env",
            "grep -oP '(?<=KEY=).*' .env",
            "grep '^[A-Z]*=' .env",
            "cat .env",
        ] {
            assert!(!names(line), "{line}");
        }
    }
}
