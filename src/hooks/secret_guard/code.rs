//! What a piece of code in another language than a shell's does with files with secrets.

use super::names::is_secret;
use crate::text::shell::Spelling;

/// Words of code that looks into files.
const OPENING: &[&str] = &[
    "open",
    "read",
    "file",
    "load",
    "cat ",
    "slurp",
    "contents",
    "exec",
    "system",
    "spawn",
    "parse",
    "dotenv_values",
    "<",
];

/// In the name of a function: it looks into no file that it is given the name of, or shows nothing of it.
const CLOSED: &[&str] = &[
    "write",
    "append",
    "unlink",
    "remove",
    "delete",
    "rmsync",
    "exist",
    "isfile",
    "is_file",
    "stat",
    "access",
    "touch",
    "chmod",
    "load_dotenv",
];

/// The secret file that a piece of code opens to read.
pub(super) fn reads(text: &str) -> Option<String> {
    let lower = text.to_lowercase();
    // A name alone is an argument, and judged as one; so is an option.
    let is_code = !text.starts_with('-') && text.contains(['(', '\'', '"', ' ', '<']);
    if !is_code || !OPENING.iter().any(|word| lower.contains(word)) {
        return None;
    }
    let of_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '.' | '_' | '-' | '/' | '\\' | '~');
    let mut at = 0;
    for word in text.split(|letter| !of_name(letter)) {
        // Words are a letter apart from each other.
        let end = at + word.len();
        let behind = text.get(end..).unwrap_or_default();
        if is_secret(&Spelling::quoted(word)) && !is_closed(text.get(..at).unwrap_or_default(), behind) {
            return Some(word.to_owned());
        }
        at = end + behind.chars().next().map_or(0, char::len_utf8);
    }
    None
}

/// Whether the environment is made of a file with secrets.
pub(super) fn loads(text: &str) -> bool {
    text.contains("dotenv")
}

/// Whether a name between these texts is that of a file which is written, or only asked about.
fn is_closed(before: &str, behind: &str) -> bool {
    let behind = behind.trim_start_matches(['\'', '"', '`']);
    let mode = behind.strip_prefix(',').map(|mode| mode.trim_start().trim_start_matches("mode=").trim_start());
    let mode = mode.and_then(|mode| mode.strip_prefix(['\'', '"']));
    let method = behind.strip_prefix(").").unwrap_or_default();
    let method = method.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next().unwrap_or_default();
    let (caller, given) = call(before);
    let caller = caller.to_lowercase();
    let closes = |name: &str| CLOSED.iter().any(|word| name.contains(word)) && !name.contains("read");
    mode.is_some_and(|mode| mode.starts_with(['w', 'a', 'x']))
        || closes(&method.to_lowercase())
        || closes(&caller)
        || caller.ends_with("config") && before.contains("dotenv")
        || given.contains('>')
}

/// The name of the function whose arguments a text ends in, and those of them that it has.
fn call(text: &str) -> (&str, &str) {
    /// So many letters before a name are looked at.
    const FAR: usize = 1_000;
    let mut closed = 0_usize;
    for (at, letter) in text.char_indices().rev().take(FAR) {
        match letter {
            ')' => closed += 1,
            '(' if closed == 0 => {
                let name = &text[..at];
                let start = name.rfind(|letter: char| !letter.is_alphanumeric() && !matches!(letter, '_' | '.'));
                let start = start.map_or(0, |start| start + name[start..].chars().next().map_or(0, char::len_utf8));
                return (&name[start..], &text[at + 1..]);
            }
            '(' => closed -= 1,
            _ => {}
        }
    }
    ("", "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_that_reads_is_told_from_code_that_writes() {
        for text in [
            "print(open('.env').read())",
            "open( '.env', 'r')",
            "open('.env', mode='r+')",
            "Path('.env').read_text()",
            "p = Path('.env'); p.read_text()",
            "fs.readFileSync('.env')",
            "fs.writeFileSync('x', fs.readFileSync('.env'))",
            "open('.env','w').write('a'); print(open('.env').read())",
            "File.read(\".env\")",
            "print(dotenv_values('.env'))",
            "open(F, '<', '.env')",
        ] {
            assert_eq!(reads(text).as_deref(), Some(".env"), "{text}");
        }
        for text in [
            "open('.env','w').write('A=1')",
            "open('.env', mode=\"a\")",
            "Path('.env').write_text('file')",
            "Path('.env').exists() and load()",
            "fs.writeFileSync('.env', read())",
            "require('fs').appendFileSync('.env', 'A=1')",
            "load_dotenv('.env')",
            "require('dotenv').config({ path: '.env' }); load()",
            "open(F, '>', '.env')",
            "open('.env.example').read()",
            "-file=.env",
        ] {
            assert_eq!(reads(text), None, "{text}");
        }
    }

    #[test]
    fn any_text_is_code() {
        for text in ["(", "open(')", "ä('.env',", "open('.env',ä", "(((é.env<", ""] {
            let _ = reads(text);
        }
        assert!(reads("open('.env',").is_some());
    }
}
