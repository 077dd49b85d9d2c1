//! What code in a language other than a shell's does with secret files.

use crate::text::words::word_list;

/// Words of code that reads files.
const OPENING: &[&str] = &[
    "open",
    "read",
    "lines",
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

/// Parts of function names: such a function does not read the file it is given, or shows nothing of it.
const CLOSED: &[&str] =
    word_list!("write append unlink remove delete rmsync exist isfile is_file stat access touch chmod load_dotenv");

/// The secret file that a piece of code opens to read.
pub(super) fn reads(text: &str, is_secret: &dyn Fn(&str) -> bool) -> Option<String> {
    let lower = text.to_lowercase();
    // A single name is an argument, and judged as one; so is an option.
    let is_code = !text.starts_with('-') && text.contains(['(', '\'', '"', ' ', '<']);
    if !is_code || !OPENING.iter().any(|word| lower.contains(word)) {
        return None;
    }
    let of_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '.' | '_' | '-' | '/' | '\\' | '~');
    let mut at = 0;
    for word in text.split(|letter| !of_name(letter)) {
        // Words are separated by one character.
        let end = at + word.len();
        let behind = text.get(end..).unwrap_or_default();
        // Without quotes, `a.key` is a member of an object.
        let is_quoted = word.contains(".env") || text[..at].ends_with(['\'', '"', '`', '<', ' ']);
        if is_quoted && is_secret(word) && !is_closed(text.get(..at).unwrap_or_default(), behind) {
            return Some(word.to_owned());
        }
        at = end + behind.chars().next().map_or(0, char::len_utf8);
    }
    None
}

/// True if code loads its environment from a secret file.
pub(super) fn loads(text: &str) -> bool {
    text.contains("dotenv")
}

/// Functions that print their arguments.
const PRINTING: &[&str] = &[
    "print(",
    "pprint(",
    "console.log(",
    "console.info(",
    "console.error(",
    "console.table(",
    "console.dir(",
    "write(",
    "puts ",
    "p ",
    "pp ",
    "echo ",
    "print ",
    "var_dump(",
    "print_r(",
    "say ",
    "inspect(",
    "dump(",
];

/// The names of the environment in code.
const ENVIRONMENT: &[&str] = word_list!(
    r#"environ getenv process.env ENV[ ENV. %ENV $ENV $_ENV dotenv_values dotenv').config dotenv").config dotenv.config
       dotenv.parse get_key( Deno.env Bun.env import.meta.env"#
);

/// Code that only asks whether a value exists, how long it is, or which names there are.
const ASKING: &[&str] = &[
    "!!",
    "bool(",
    "Boolean(",
    " in os.environ",
    "? '",
    "? \"",
    ".length",
    "len(",
    "keys(",
    ".key?(",
    "is not None",
    "isset(",
    "!== undefined",
    "exists",
];

/// True if the value of an expression comes from the environment.
pub(super) fn is_of_environment(text: &str) -> bool {
    ENVIRONMENT.iter().any(|word| text.contains(word))
        && !ASKING.iter().any(|asking| text.contains(asking))
        && !is_of_plain_variables(text)
}

/// True if code prints values of the environment, including those of a file that it loads itself.
pub(super) fn shows_environment(text: &str) -> bool {
    let has_any = |text: &str| ENVIRONMENT.iter().any(|word| text.contains(word));
    if !has_any(text) {
        return false;
    }
    let held = held_in(text);
    let mut is_printing = false;
    for name in PRINTING {
        for (at, _) in text.match_indices(name).take(50) {
            let starts_word = !text[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_');
            if !starts_word {
                continue;
            }
            is_printing = true;
            let given = arguments(&text[at + name.len()..], name.ends_with('('));
            let is_value = has_any(given) || held.iter().any(|held| has_word(given, held));
            // `'set' if os.getenv("KEY") else 'missing'` only shows whether it is set.
            let tells_whether = given.split_once(" if ").is_some_and(|(told, _)| told.ends_with(['\'', '"']));
            if is_value
                && !tells_whether
                && !ASKING.iter().any(|asking| given.contains(asking))
                && !is_of_plain_variables(given)
            {
                return true;
            }
        }
    }
    // An expression that is evaluated to be printed.
    !is_printing && text.trim_start().starts_with(['p', 'P']) && text.contains("environ") && !text.contains(';')
}

/// Names that are assigned a value of the environment: `key = os.environ["KEY"]`.
fn held_in(text: &str) -> Vec<&str> {
    let statements = text.split([';', '\n']).take(200);
    let held = statements.filter_map(|statement| {
        let (name, value) = statement.split_once('=')?;
        let name = name.trim().rsplit(' ').next()?;
        let is_name = !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
        (is_name && ENVIRONMENT.iter().any(|word| value.contains(word))).then_some(name)
    });
    held.collect()
}

/// The arguments of a call, up to its closing bracket, or to the end of the statement.
fn arguments(text: &str, in_brackets: bool) -> &str {
    let mut open = 1_usize;
    let end = text.char_indices().take(2_000).find(|(_, letter)| match letter {
        '(' => {
            open += 1;
            false
        }
        ')' if in_brackets => {
            open -= 1;
            open == 0
        }
        ';' | '\n' => !in_brackets,
        _ => false,
    });
    &text[..end.map_or(text.len(), |(at, _)| at)]
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '_').any(|own| own == word)
}

/// True if all variables that a text names are harmless, such as `PORT`.
fn is_of_plain_variables(text: &str) -> bool {
    let is_name = |word: &&str| {
        word.len() > 1
            && word.chars().all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_')
    };
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let mut names = words.filter(is_name).filter(|word| !matches!(*word, "ENV" | "_ENV")).peekable();
    names.peek().is_some() && names.all(super::variables::is_plain)
}

/// True if a name between these texts is a file that is written, or only checked.
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

/// The name of the function in whose arguments a text ends, and the arguments so far.
fn call(text: &str) -> (&str, &str) {
    /// How many letters before a name are examined.
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

    fn reads(text: &str) -> Option<String> {
        super::reads(text, &|name| super::super::names::GuardedNames::default().row(name).is_some())
    }

    #[test]
    fn code_that_prints_its_environment_is_distinguished_from_code_that_uses_it() {
        for text in [
            "import os; print(os.environ)",
            "import os\nkey = os.environ['API_KEY']\nprint(key)",
            "print(os.getenv('API_KEY'))",
            "console.log(process.env)",
            "console.log('key', process.env.API_KEY)",
            "console.log(require('dotenv').config())",
            "const c = require('dotenv').config(); console.log(c.parsed)",
            "from dotenv import dotenv_values; print(dotenv_values())",
            "puts ENV['API_KEY']",
            "console.log(process.env.API_KEY.slice(0, 8))",
        ] {
            assert!(shows_environment(text), "{text}");
        }
        for text in [
            "import os; connect(os.environ['API_KEY'])",
            "console.log('listening on ' + process.env.PORT)",
            "console.log(!!process.env.API_KEY)",
            "console.log(process.env.API_KEY ? 'set' : 'missing')",
            "print('API_KEY' in os.environ)",
            "print(len(os.environ.get('API_KEY', '')))",
            "require('dotenv').config(); console.log('ok')",
            "print(list(os.environ.keys()))",
            "cfg = dotenv_values(); connect(cfg)",
        ] {
            assert!(!shows_environment(text), "{text}");
        }
    }

    #[test]
    fn code_that_reads_is_distinguished_from_code_that_writes() {
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
    fn any_text_is_accepted_as_code() {
        for text in ["(", "open(')", "ä('.env',", "open('.env',ä", "(((é.env<", ""] {
            let _ = reads(text);
        }
        assert!(reads("open('.env',").is_some());
    }
}
