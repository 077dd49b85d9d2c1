//! What a command line shows of files with secrets.

use super::super::git_line::GitLine;
use super::code;
use super::names::{is_secret, searches};
use crate::text::shell::{Argument, Run, Spelling, runs};

/// The secret file that a script would show, if it would show one.
pub(in crate::hooks) fn read_by(script: &str) -> Option<String> {
    let mut loaded: Option<String> = None;
    for run in &runs(script) {
        match reading(run) {
            Reading::Shows(file) => return Some(file),
            Reading::HandsOn(file) if shows_environment(run) => return Some(file),
            Reading::Loads(file) => loaded = Some(file),
            Reading::HandsOn(_) | Reading::Nothing => {}
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
    /// Makes the values variables of the shell.
    Loads(String),
    /// Gives the values to a program, and does not show them.
    HandsOn(String),
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
    "mktemp",
    "chmod",
    "chown",
    "chgrp",
    "echo",
    "printf",
    "true",
    "false",
    ":",
    "cd",
    "direnv",
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

/// Of those, the ones that show what they have on their input.
const SHOW_INPUT: &[&str] = &["", "read", "tee"];

/// Programs that run a script, which is looked at by itself.
const RUN_SCRIPTS: &[&str] = &["eval", "script", "ssh", "su", "watch", "wsl"];

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
        return run.arguments.iter().chain(&run.reads).find_map(secret).map_or(Reading::Nothing, Reading::Loads);
    }
    let read = run.reads.iter().find_map(secret);
    if HARMLESS.contains(&program) {
        return read.filter(|_| SHOW_INPUT.contains(&program)).into();
    }
    if RUN_SCRIPTS.contains(&program) {
        return read.into();
    }
    if keeps_to_itself(run) {
        return Reading::Nothing;
    }
    if matches!(program, "fd" | "fdfind") {
        let starts = |word: &Argument| ["-x", "-X", "--exec", "--exec-batch"].iter().any(|name| word.is(name));
        return if run.arguments.iter().any(starts) { by_arguments(run) } else { Reading::Nothing };
    }
    if SCRIPT_FIRST.contains(&program) {
        return search(program, &run.arguments, &run.reads).into();
    }
    if let Some(words) = copied(run) {
        return copy(program, words).into();
    }
    if let Some(call) = GitLine::of(run) {
        return git(&call).into();
    }
    if INTERPRETERS.contains(&program) {
        let texts: Vec<String> = run.arguments.iter().map(Argument::shown).chain(run.input.clone()).collect();
        if let Some(file) = texts.iter().find_map(|text| code::reads(text)) {
            return Reading::Shows(file);
        }
        if matches!(program, "perl" | "ruby") && texts.iter().any(|text| edits_in_place(text)) {
            return Reading::Nothing;
        }
        if texts.iter().any(|text| code::loads(text)) && by_arguments(run) == Reading::Nothing {
            return Reading::HandsOn(".env".to_owned());
        }
    }
    by_arguments(run)
}

/// Whether a call of a program shows nothing of the files it reads, for what it is asked to do.
fn keeps_to_itself(run: &Run) -> bool {
    let has = |words: &[&str]| run.arguments.iter().any(|word| words.iter().any(|wanted| word.is(wanted)));
    match run.program.as_str() {
        "cmp" => !has(&["-l", "-b", "--verbose", "--print-bytes"]),
        "diff" => has(&["-q", "--brief"]),
        "sops" => has(&["-e", "--encrypt", "encrypt"]),
        "ansible-vault" => has(&["encrypt"]),
        "age" | "rage" => !has(&["-d", "--decrypt"]),
        "gpg" | "gpg2" => has(&["-c", "-e", "--symmetric", "--encrypt"]),
        _ => keeps_secrets(run),
    }
}

/// Whether a program is asked to put secrets into a place made for them, such as `gh secret set`.
fn keeps_secrets(run: &Run) -> bool {
    let words: Vec<String> = run.arguments.iter().take(5).map(|word| word.shown().to_lowercase()).collect();
    let mut parts = words.iter().filter(|word| !word.starts_with('-')).flat_map(|word| word.split(':'));
    let of_secrets = parts.any(|word| matches!(word, "secret" | "secrets"));
    of_secrets && parts.take(2).any(|verb| KEEPING.contains(&verb))
}

/// Verbs behind `secret` that put something there.
const KEEPING: &[&str] = &["set", "import", "add", "bulk", "create", "put", "upload", "push", "sync"];

/// Whether an option of `perl` or `ruby` has it change files in their place.
fn edits_in_place(option: &str) -> bool {
    let letters = option.strip_prefix('-').unwrap_or_default();
    // Behind these letters stands a text.
    letters.split(['e', 'E', 'F', 'I', 'M', 'm', 'r', 'x', '-']).next().is_some_and(|flags| flags.contains('i'))
}

/// The words of a call that copies or moves files: what, and where to.
fn copied(run: &Run) -> Option<&[Argument]> {
    let is =
        |at: usize, words: &[&str]| run.arguments.get(at).is_some_and(|word| words.iter().any(|verb| word.is(verb)));
    let verbs = match run.program.as_str() {
        program if COPIES.contains(&program) => 0,
        "docker" | "podman" | "gsutil" | "kubectl" if is(0, &["cp", "mv"]) => 1,
        "rclone" if is(0, &["copy", "copyto", "move", "moveto", "sync"]) => 1,
        "aws" if is(0, &["s3"]) && is(1, &["cp", "mv", "sync"]) => 2,
        "gcloud" if is(0, &["storage"]) && is(1, &["cp", "mv"]) => 2,
        _ => return None,
    };
    Some(&run.arguments[verbs..])
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
    if let Some(file) = run.reads.iter().find_map(secret) {
        return Reading::Shows(file);
    }
    let mut handed_on = None;
    let mut before = String::new();
    for argument in &run.arguments {
        let text = argument.shown();
        let option = text
            .strip_prefix('-')
            .map(|option| option.trim_start_matches('-').split('=').next().unwrap_or_default().to_lowercase());
        let of = option.as_deref().unwrap_or(&before);
        let found = match &option {
            Some(_) => secret_behind(argument, '='),
            None if run.program == "dd" => text.starts_with("if=").then(|| secret_behind(argument, '=')).flatten(),
            None => secret(argument).or_else(|| secret_behind(argument, '@')),
        };
        match found {
            Some(_) if is_left_out(of, &run.program) => {}
            Some(file) if of.contains("env") || of == "from-file" => handed_on = Some(file),
            Some(file) if is_of_dotenv(run) && matches!(of, "e" | "f" | "p") => handed_on = Some(file),
            Some(file) => return Reading::Shows(file),
            None => {}
        }
        // The value of `--option=value` is not what follows.
        let open = option.filter(|_| !text.contains('='));
        before = open.unwrap_or_else(|| if text == "pull" { text } else { String::new() });
    }
    match handed_on {
        // `docker compose --env-file .env config` shows every value.
        Some(file) if run.arguments.iter().any(|word| SHOWING_WORDS.iter().any(|shows| word.is(shows))) => {
            Reading::Shows(file)
        }
        Some(file) => Reading::HandsOn(file),
        None => Reading::Nothing,
    }
}

/// Words of programs that show the environment they are given.
const SHOWING_WORDS: &[&str] = &["env", "printenv", "set", "export", "config", "get", "list"];

/// Whether what follows an option is not shown: left out, written, or a key to something else.
fn is_left_out(option: &str, program: &str) -> bool {
    ["exclude", "ignore", "output", "volume", "mount"].iter().any(|word| option.contains(word))
        || ["key", "key-file", "cert", "identity", "password-file"].iter().any(|word| option.ends_with(word))
        || matches!(option, "o" | "v") && matches!(program, "curl" | "docker" | "op" | "podman" | "wget")
        || option == "i" && matches!(program, "scp" | "sftp" | "ssh-add" | "ssh-copy-id")
        || option == "x" && program == "zip"
        || option == "pull"
}

/// Whether it is a program that runs another with the values of a file.
fn is_of_dotenv(run: &Run) -> bool {
    let is = |name: &str| name.starts_with("dotenv") || name.starts_with("env-cmd") || name.starts_with("cross-env");
    is(&run.program) || run.arguments.first().is_some_and(|word| is(&word.shown()))
}

/// The files of a program whose first word is a pattern or a script.
fn search(program: &str, arguments: &[Argument], input: &[Argument]) -> Option<String> {
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
            "--arg" | "--argjson" if language == Language::Query => {
                words.nth(1);
            }
            option if language.tells_no_text(option) => return None,
            option if ["--glob=", "--iglob=", "--include="].iter().any(|name| option.starts_with(name)) => {
                let glob = word.as_pattern().spellings.iter().filter_map(|name| name.behind('=')).find(searches);
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
        if let Some(file) = Some(script).filter(|_| language == Language::Awk).and_then(|script| code::reads(&script)) {
            return Some(file);
        }
    }
    files.into_iter().chain(input).find_map(secret)
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
fn copy(program: &str, arguments: &[Argument]) -> Option<String> {
    let option = |at: usize| arguments[at].shown().trim_start_matches('-').to_lowercase();
    let left_out =
        |at: usize| at > 0 && arguments[at - 1].shown().starts_with('-') && is_left_out(&option(at - 1), program);
    let words = arguments.iter().enumerate().filter(|(at, word)| !word.shown().starts_with('-') && !left_out(*at));
    let words: Vec<&Argument> = words.map(|(_, word)| word).collect();
    let (target, sources) = words.split_last()?;
    let place = target.shown();
    // A neighbour of this folder, such as another worktree, is a folder too.
    let is_neighbour = place.starts_with("../") && !place.rsplit('/').next().is_some_and(|name| name.contains('.'));
    let keeps_name = is_neighbour
        || place.ends_with(['/', ':', '.'])
        || secret(target).is_some()
        || secret_behind(target, ':').is_some();
    if keeps_name { None } else { sources.iter().find_map(|source| secret(source)) }
}

/// What a call of git shows of secret files.
fn git(call: &GitLine<'_>) -> Option<String> {
    let patch = call.has(&["patch", "patch-with-stat"], &['p', 'u']);
    let shows = match call.verb.as_str() {
        "grep" => return search("grep", call.arguments, &[]),
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

/// Whether a program shows what is in the environment.
fn shows_environment(run: &Run) -> bool {
    let texts: Vec<String> = run.arguments.iter().map(Argument::shown).collect();
    let has_unset = |word: &Argument| word.spellings.iter().any(Spelling::has_unset);
    match run.program.as_str() {
        "env" | "printenv" | "compgen" | "get-childitem" => true,
        // Without a name they tell all there are.
        "declare" | "typeset" => texts.iter().all(|text| text.starts_with('-')),
        "set" | "export" => texts.is_empty() || texts.iter().any(|text| text == "-p"),
        "echo" | "printf" => run.arguments.iter().any(has_unset),
        "cat" | "tee" => run.here.as_ref().is_some_and(has_unset),
        "jq" => texts
            .iter()
            .any(|text| text.contains("$ENV") || text.split(|of| !char::is_alphabetic(of)).any(|word| word == "env")),
        "awk" | "gawk" | "mawk" | "nawk" => texts.iter().any(|text| text.contains("ENVIRON")),
        program if INTERPRETERS.contains(&program) => {
            let all = texts.iter().chain(&run.input);
            all.into_iter().any(|text| {
                ["environ", "getenv", "process.env", "ENV[", "%ENV", "$ENV"].iter().any(|word| text.contains(word))
            })
        }
        _ => false,
    }
}
