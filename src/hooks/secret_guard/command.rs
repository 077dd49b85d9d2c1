//! What a command line shows of files with secrets.

use super::super::git_line::GitLine;
use super::names::{is_secret, searches};
use crate::text::shell::{Argument, Run, Spelling, runs};

/// The secret file that a script would show, if it would show one.
pub(in crate::hooks) fn read_by(script: &str) -> Option<String> {
    // Most commands name nothing that begins like a secret file.
    let runs = runs(script);
    let mut loaded: Option<String> = None;
    for run in &runs {
        if let Some(file) = run.reads.iter().find_map(secret) {
            return Some(file);
        }
        match reading(run) {
            Reading::Shows(file) => return Some(file),
            Reading::Loads(file) => loaded = Some(file),
            Reading::Nothing => {}
        }
        if loaded.is_some() && shows_environment(run) {
            return loaded;
        }
    }
    None
}

/// What a program does with secret files.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Reading {
    Nothing,
    /// Takes the values, and does not show them.
    Loads(String),
    Shows(String),
}

impl From<Option<String>> for Reading {
    fn from(file: Option<String>) -> Self {
        file.map_or(Reading::Nothing, Reading::Shows)
    }
}

/// Programs that show nothing of what is in a file, or show it to the person alone.
const HARMLESS: &[&str] = &[
    "",
    "ls",
    "dir",
    "exa",
    "eza",
    "lsd",
    "tree",
    "stat",
    "test",
    "[",
    "[[",
    "touch",
    "rm",
    "rmdir",
    "unlink",
    "shred",
    "trash",
    "mkdir",
    "chmod",
    "chown",
    "chgrp",
    "echo",
    "printf",
    "true",
    "false",
    ":",
    "cd",
    "pushd",
    "popd",
    "basename",
    "dirname",
    "realpath",
    "readlink",
    "file",
    "wc",
    "du",
    "df",
    "md5sum",
    "sha1sum",
    "sha256sum",
    "sha512sum",
    "shasum",
    "cksum",
    "b2sum",
    "which",
    "command",
    "export",
    "local",
    "declare",
    "typeset",
    "readonly",
    "unset",
    "read",
    "tee",
    "truncate",
    "find",
    "locate",
    "code",
    "subl",
    "idea",
    "open",
    "xdg-open",
    "explorer",
    "set-content",
    "out-file",
    "new-item",
    "remove-item",
    "test-path",
    "get-item",
    "get-childitem",
];

/// Programs whose first word is what they look for or do.
const SCRIPT_FIRST: &[&str] = &[
    "grep",
    "egrep",
    "fgrep",
    "zgrep",
    "rg",
    "ag",
    "ack",
    "sed",
    "gsed",
    "awk",
    "gawk",
    "mawk",
    "nawk",
    "jq",
    "yq",
    "findstr",
    "select-string",
];

/// Programs that put a file in another place.
const COPIES: &[&str] = &["cp", "mv", "ln", "install", "rsync", "scp", "copy-item", "move-item"];

/// Programs that run code.
const INTERPRETERS: &[&str] = &[
    "python",
    "python3",
    "python2",
    "pypy",
    "pypy3",
    "uv",
    "node",
    "nodejs",
    "deno",
    "bun",
    "tsx",
    "perl",
    "ruby",
    "php",
    "lua",
    "rscript",
    "osascript",
];

fn reading(run: &Run) -> Reading {
    let program = run.program.as_str();
    if program == "source" || program == "." {
        return run.arguments.iter().find_map(secret).map_or(Reading::Nothing, Reading::Loads);
    }
    if HARMLESS.contains(&program) {
        return Reading::Nothing;
    }
    if matches!(program, "fd" | "fdfind") {
        let starts = |word: &Argument| ["-x", "-X", "--exec", "--exec-batch"].iter().any(|name| word.is(name));
        return if run.arguments.iter().any(starts) { by_arguments(run) } else { Reading::Nothing };
    }
    if SCRIPT_FIRST.contains(&program) {
        return search(program, &run.arguments).into();
    }
    if COPIES.contains(&program) {
        return copy(&run.arguments).into();
    }
    if let Some(call) = GitLine::of(run) {
        return git(&call).into();
    }
    if INTERPRETERS.contains(&program) {
        let code = run.arguments.iter().map(Argument::shown).chain(run.input.clone()).find_map(|text| code(&text));
        if code.is_some() {
            return code.into();
        }
    }
    if matches!(program, "docker" | "podman") && run.arguments.first().is_some_and(|verb| verb.is("cp")) {
        return copy(&run.arguments[1..]).into();
    }
    by_arguments(run)
}

/// The name of a secret file that an argument may stand for.
fn secret(argument: &Argument) -> Option<String> {
    argument.names().find(|name| !is_address(name) && is_secret(name)).map(|name| shown(&name))
}

fn secret_behind(argument: &Argument, mark: char) -> Option<String> {
    argument
        .names()
        .filter_map(|name| name.behind(mark))
        .find(|name| !is_address(name) && is_secret(name))
        .map(|name| shown(&name))
}

fn shown(name: &Spelling) -> String {
    name.text().replace(crate::text::shell::UNKNOWN, "…")
}

/// Whether a name is an address of the web.
fn is_address(name: &Spelling) -> bool {
    name.starts_with("http://") || name.starts_with("https://")
}

/// A program that shows what it is given, but for the options that say something else.
fn by_arguments(run: &Run) -> Reading {
    let mut loads = None;
    let mut before = String::new();
    for argument in &run.arguments {
        let text = argument.shown();
        let option = text.strip_prefix('-').map(|option| option.split('=').next().unwrap_or_default().to_lowercase());
        let of = option.as_deref().unwrap_or(&before);
        let found = match &option {
            Some(_) => secret_behind(argument, '='),
            None if run.program == "dd" => text.starts_with("if=").then(|| secret_behind(argument, '=')).flatten(),
            None => secret(argument).or_else(|| secret_behind(argument, '@')),
        };
        match found {
            Some(_) if is_left_out(of, &run.program) => {}
            Some(file) if of.contains("env") || is_of_dotenv(run) && of == "e" => loads = Some(file),
            Some(file) => return Reading::Shows(file),
            None => {}
        }
        before = option.unwrap_or_else(|| if text == "pull" { text } else { String::new() });
    }
    match loads {
        // `docker compose --env-file .env config` shows every value.
        Some(file) if run.arguments.iter().any(|word| SHOWING_WORDS.iter().any(|shows| word.is(shows))) => {
            Reading::Shows(file)
        }
        Some(file) => Reading::Loads(file),
        None => Reading::Nothing,
    }
}

/// Words of programs that show the environment they are given.
const SHOWING_WORDS: &[&str] = &["env", "printenv", "set", "export", "config", "get", "list"];

/// Whether what follows an option is not read: left out, or written.
fn is_left_out(option: &str, program: &str) -> bool {
    ["exclude", "ignore", "output", "volume", "mount"].iter().any(|word| option.contains(word))
        || matches!(option, "o" | "v") && matches!(program, "curl" | "docker" | "podman" | "wget")
        || option == "x" && program == "zip"
        || option == "pull"
}

fn is_of_dotenv(run: &Run) -> bool {
    run.program.starts_with("dotenv") || run.arguments.first().is_some_and(|word| word.shown().starts_with("dotenv"))
}

/// The files of a program whose first word is a pattern or a script.
fn search(program: &str, arguments: &[Argument]) -> Option<String> {
    let language = Language::of(program);
    let mut has_script = false;
    let mut files: Vec<&Argument> = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let text = word.shown();
        match text.as_str() {
            "--" => files.extend(words.by_ref()),
            "-e" | "--regexp" | "--expression" => {
                has_script = true;
                words.next();
            }
            "-f" | "--file" | "--from-file" => {
                has_script = true;
                if let Some(file) = words.next().and_then(secret) {
                    return Some(file);
                }
            }
            "-g" | "--glob" | "--iglob" | "--include" => {
                if let Some(glob) = words.next().and_then(searched) {
                    return Some(glob);
                }
            }
            option if language.takes_value(option) => {
                words.next();
            }
            option if language.tells_no_text(option) => return None,
            option if ["--glob=", "--iglob=", "--include="].iter().any(|name| option.starts_with(name)) => {
                let glob = word.names().filter_map(|name| name.behind('=')).find(searches);
                if let Some(glob) = glob {
                    return Some(shown(&glob));
                }
            }
            option if option.starts_with('-') && option.len() > 1 => {}
            _ => files.push(word),
        }
    }
    if !has_script && !files.is_empty() {
        let script = files.remove(0).shown();
        if let Some(file) = Some(script).filter(|_| language == Language::Awk).and_then(|script| code(&script)) {
            return Some(file);
        }
    }
    files.into_iter().find_map(secret)
}

/// What the first word of a program is written in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Language {
    Pattern,
    Sed,
    Awk,
    Query,
}

impl Language {
    fn of(program: &str) -> Self {
        match program {
            "sed" | "gsed" => Language::Sed,
            "jq" | "yq" => Language::Query,
            _ if program.ends_with("awk") => Language::Awk,
            _ => Language::Pattern,
        }
    }

    /// Whether the word behind an option is its value.
    fn takes_value(self, option: &str) -> bool {
        match self {
            Language::Pattern => matches!(option, "-A" | "-B" | "-C" | "-m" | "-t" | "-T"),
            Language::Awk => matches!(option, "-F" | "-v"),
            Language::Sed | Language::Query => false,
        }
    }

    /// Whether an option changes the file in its place, or has only told whether and how often something is there.
    fn tells_no_text(self, option: &str) -> bool {
        let (letters, words): (&[char], &[&str]) = match self {
            Language::Pattern => {
                let words = &["--quiet", "--silent", "--count", "--files-with-matches", "--files-without-match"];
                (&['q', 'l', 'c'], words)
            }
            Language::Sed => (&['i'], &["--in-place"]),
            Language::Awk | Language::Query => return false,
        };
        match option.strip_prefix('-') {
            Some(long) if long.starts_with('-') => words.iter().any(|word| option.split('=').next() == Some(word)),
            Some(short) => short.contains(letters),
            None => false,
        }
    }
}

fn searched(glob: &Argument) -> Option<String> {
    glob.as_pattern().spellings.iter().find(|glob| searches(glob)).map(shown)
}

/// A secret file that gets a name under which it could be read.
fn copy(arguments: &[Argument]) -> Option<String> {
    let left_out = |at: usize| at > 0 && is_left_out(&arguments[at - 1].shown().to_lowercase(), "");
    let words = arguments.iter().enumerate().filter(|(at, word)| !word.shown().starts_with('-') && !left_out(*at));
    let words: Vec<&Argument> = words.map(|(_, word)| word).collect();
    let (target, sources) = words.split_last()?;
    let place = target.shown();
    let keeps_name =
        place.ends_with(['/', ':', '.']) || secret(target).is_some() || secret_behind(target, ':').is_some();
    if keeps_name { None } else { sources.iter().find_map(|source| secret(source)) }
}

/// What a call of git shows of secret files.
fn git(call: &GitLine<'_>) -> Option<String> {
    let patch = call.has(&["patch", "patch-with-stat"], &['p', 'u']);
    let shows = match call.verb.as_str() {
        "grep" => return search("grep", call.arguments),
        "show" | "diff" | "difftool" | "whatchanged" => {
            let told = ["stat", "name-only", "name-status", "numstat", "shortstat", "summary", "quiet", "no-patch"];
            patch || !call.has(&told, &['s'])
        }
        "cat-file" => !call.has(&[], &['e', 't', 's']),
        "log" => patch || call.has(&[], &['L']),
        "add" | "checkout" | "restore" | "reset" | "stash" => call.has(&["patch", "interactive"], &['p', 'i']),
        "blame" | "annotate" | "archive" => true,
        "config" => call.has(&["file"], &['f']),
        _ => false,
    };
    if !shows {
        return None;
    }
    let named = |word: &Argument| secret(&word.as_pattern()).or_else(|| secret_behind(word, ':'));
    call.arguments.iter().find_map(named)
}

/// The secret file that a piece of code opens.
fn code(text: &str) -> Option<String> {
    const OPENING: &[&str] =
        &["open", "read", "file", "load", "cat ", "slurp", "contents", "exec", "system", "spawn", "parse", "<"];
    let of_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '.' | '_' | '-' | '/' | '\\' | '~');
    let file = text.split(|letter| !of_name(letter)).find(|word| is_secret(&Spelling::quoted(word)))?;
    let lower = text.to_lowercase();
    // A name alone is an argument, and judged as one; so is an option.
    let is_code = !text.starts_with('-') && text.contains(['(', '\'', '"', ' ', '<']);
    (is_code && OPENING.iter().any(|word| lower.contains(word))).then(|| file.to_owned())
}

/// Whether a program shows what is in the environment.
fn shows_environment(run: &Run) -> bool {
    let texts: Vec<String> = run.arguments.iter().map(Argument::shown).collect();
    match run.program.as_str() {
        "env" | "printenv" | "declare" | "typeset" | "compgen" | "get-childitem" => true,
        "set" | "export" => texts.is_empty() || texts.iter().any(|text| text == "-p"),
        "echo" | "printf" => {
            run.arguments.iter().any(|word| word.spellings.iter().any(|spelling| !spelling.is_known()))
        }
        program if INTERPRETERS.contains(&program) => {
            let all = texts.iter().chain(&run.input);
            all.into_iter().any(|text| {
                ["environ", "getenv", "process.env", "ENV[", "%ENV", "$ENV"].iter().any(|word| text.contains(word))
            })
        }
        _ => false,
    }
}
