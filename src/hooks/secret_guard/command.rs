//! What a command line shows of secret files.
//!
//! Its programs are followed in order: the output of one may go to the next, into a variable, nowhere, or into the
//! conversation. Only the last is refused.

use super::super::git_line::GitLine;
use super::code;
use super::environment;
use super::filters::shows_only_names;
use super::judge::Judge;
use super::programs::{
    DISPLAYS, INTERPRETERS, RUN_SCRIPTS, SCRIPT_FIRST, SHELLS, SHOW_INPUT, SWALLOW, copied, edits_in_place,
    is_harmless, is_left_out, is_runner, keeps_to_itself,
};
use super::search::{self, Hit};
use crate::text::shell::{Argument, Run, Spelling, runs, runs_up_to_limit};
use crate::text::words::word_list;

/// What a script would show of a secret file, if anything. In a script too long to be followed to its end, the name of
/// such a file is enough.
pub(super) fn shown_by(script: &str, judge: Judge<'_>) -> Option<Hit> {
    let (runs, is_cut) = runs_up_to_limit(script);
    let named = is_cut.then(|| judge.named_in(script)).flatten();
    shown_by_runs(&runs, judge).or_else(|| named.map(given))
}

fn shown_by_runs(runs: &[Run], mut judge: Judge<'_>) -> Option<Hit> {
    let (sources, behind_loops) = read_loops(runs);
    let mut loaded: Option<String> = None;
    // The contents of the clipboard, and whether the shell prints what it reads and runs.
    let (mut taken, mut traces): (Option<String>, bool) = (None, false);
    // The output of the program before, and its pipeline.
    let mut flowing: Option<(usize, Hit)> = None;
    for (at, run) in runs.iter().enumerate() {
        if matches!(run.program.as_str(), "cd" | "pushd") {
            judge.change_folder(run.arguments.first().and_then(Argument::text).as_deref());
            continue;
        }
        let input = flowing.take().filter(|(pipeline, _)| *pipeline == run.pipeline).map(|(_, hit)| hit);
        if let Some(result) = run.reads_into {
            let of_loop = || runs.get(sources[at]?)?.reads.iter().find_map(|file| judge.secret(file));
            let file = input.map(|hit| hit.file).or_else(|| run.reads.iter().find_map(|file| judge.secret(file)));
            if let Some(file) = file.or_else(of_loop) {
                judge.hold(result, file);
            }
            continue;
        }
        if behind_loops.contains(&at) {
            continue;
        }
        traces |= is_tracing(run);
        if pastes(run)
            && let Some(file) = &taken
        {
            return Some(given(file.clone()));
        }
        if CLIPBOARDS.contains(&run.program.as_str()) {
            let named = || run.reads.iter().chain(&run.arguments).find_map(|file| judge.secret(file));
            taken = input.as_ref().map(|hit| hit.file.clone()).or_else(named).or(taken);
        }
        let shows = match reading(&judge, run, input) {
            SecretUse::Shows(hit) => Some(hit),
            SecretUse::HandsOn(file) if environment::is_shown(run) => Some(given(file)),
            SecretUse::Loads(file) if traces => Some(given(file)),
            SecretUse::Loads(file) => {
                loaded = Some(file);
                None
            }
            SecretUse::HandsOn(_) | SecretUse::Nothing => None,
        };
        let shows = shows.or_else(|| loaded.clone().filter(|_| environment::is_shown(run)).map(given));
        let Some(hit) = shows.filter(|_| !goes_nowhere(&judge, run)) else { continue };
        if run.is_piped {
            flowing = Some((run.pipeline, hit));
        } else if let Some(result) = run.result_of {
            judge.hold(result, hit.file);
        } else {
            return Some(hit);
        }
    }
    None
}

/// Programs that store their input for one that pastes it.
const CLIPBOARDS: &[&str] = &["pbcopy", "xclip", "xsel", "wl-copy", "clip"];

/// True if a program prints the contents of a clipboard.
fn pastes(run: &Run) -> bool {
    let has = |wanted: &[&str]| run.arguments.iter().any(|word| wanted.iter().any(|option| word.is(option)));
    match run.program.as_str() {
        "pbpaste" | "wl-paste" => true,
        "xclip" => has(&["-o", "-out"]),
        "xsel" => has(&["-o", "--output"]),
        _ => false,
    }
}

/// True if the shell prints from here on what it reads or runs: `set -x`.
fn is_tracing(run: &Run) -> bool {
    let is_on = |word: &Argument| {
        let text = word.shown();
        text.starts_with('-') && !text.starts_with("--") && text.contains(['x', 'v'])
            || text == "xtrace"
            || text == "verbose"
    };
    run.program == "set" && run.arguments.iter().any(is_on)
}

fn given(file: String) -> Hit {
    Hit { file, found: false }
}

/// For each `read` of a loop without its own input, the end of the loop with its file (`done < file`), and those ends.
fn read_loops(runs: &[Run]) -> (Vec<Option<usize>>, Vec<usize>) {
    let mut sources = vec![None; runs.len()];
    let mut ends = Vec::new();
    let mut end = None;
    for (at, run) in runs.iter().enumerate().rev() {
        if run.program.is_empty() && !run.reads.is_empty() && run.result_of.is_none() {
            end = Some(at);
        } else if run.reads_into.is_some() && run.reads.is_empty() && !run.is_fed {
            sources[at] = end;
            ends.extend(end);
        }
    }
    (sources, ends)
}

/// True if a program's output goes only to secret files or to `/dev/null`.
fn goes_nowhere(judge: &Judge<'_>, run: &Run) -> bool {
    let mut output = run.writes.iter().filter(|written| written.is_output).peekable();
    output.peek().is_some()
        && output.all(|written| written.file.is("/dev/null") || judge.secret(&written.file).is_some())
}

/// What a program does with secret files.
#[derive(Clone, Debug, PartialEq, Eq)]
enum SecretUse {
    Nothing,
    /// Makes the values variables of the shell.
    Loads(String),
    /// Passes the values to a program, and does not show them.
    HandsOn(String),
    Shows(Hit),
}

impl From<Option<String>> for SecretUse {
    fn from(file: Option<String>) -> Self {
        file.map_or(SecretUse::Nothing, |file| SecretUse::Shows(given(file)))
    }
}

fn reading(judge: &Judge<'_>, run: &Run, input: Option<Hit>) -> SecretUse {
    let program = run.program.as_str();
    let read = || run.reads.iter().find_map(|file| judge.secret(file));
    let here = || run.here.as_ref().and_then(|here| judge.held(here));
    let input = input.map(|hit| hit.file).or_else(read).or_else(here);
    if program == "source" || program == "." {
        let file = input.or_else(|| run.arguments.iter().find_map(|file| judge.secret(file)));
        return file.map_or(SecretUse::Nothing, SecretUse::Loads);
    }
    if run.is_handed_input
        && let Some(file) = input
    {
        return if is_harmless(program) && program != "echo" && program != "printf" {
            SecretUse::Nothing
        } else if matches!(program, "echo" | "printf") {
            SecretUse::Shows(given(file))
        } else {
            SecretUse::HandsOn(file)
        };
    }
    match of_results(judge, run) {
        SecretUse::Nothing => {}
        reading => return reading,
    }
    if SWALLOW.contains(&program) {
        return SecretUse::Nothing;
    }
    if is_harmless(program) {
        return input.filter(|_| SHOW_INPUT.contains(&program)).into();
    }
    if RUN_SCRIPTS.contains(&program) {
        // Output written on the other machine is not shown here.
        let writes = run.arguments.iter().any(|word| word.shown().contains('>'));
        return input.filter(|_| !writes).into();
    }
    if keeps_to_itself(run) || shows_only_names(run) {
        return SecretUse::Nothing;
    }
    if matches!(program, "fd" | "fdfind") {
        let starts = |word: &Argument| ["-x", "-X", "--exec", "--exec-batch"].iter().any(|name| word.is(name));
        return if run.arguments.iter().any(starts) { by_arguments(judge, run, None) } else { SecretUse::Nothing };
    }
    if SCRIPT_FIRST.contains(&program) {
        return search::shown_by(judge, run, input.as_deref()).map_or(SecretUse::Nothing, SecretUse::Shows);
    }
    if let Some(words) = copied(run) {
        return copy(judge, program, words).into();
    }
    if let Some(call) = GitLine::of(run) {
        return git(judge, &call);
    }
    if let Some(file) = shows_unasked(judge, run) {
        return SecretUse::Shows(given(file));
    }
    if INTERPRETERS.contains(&program) {
        let texts: Vec<String> = run.arguments.iter().map(Argument::shown).chain(run.input.clone()).collect();
        if let Some(file) = texts.iter().find_map(|text| code::reads(text, &|name| judge.is_secret(name))) {
            return SecretUse::Shows(given(file));
        }
        if matches!(program, "perl" | "ruby") && texts.iter().any(|text| edits_in_place(text)) {
            return SecretUse::Nothing;
        }
        if texts.iter().any(|text| code::loads(text)) && by_arguments(judge, run, None) == SecretUse::Nothing {
            return SecretUse::HandsOn(".env".to_owned());
        }
    }
    by_arguments(judge, run, input)
}

/// What a program does with output of a secret file in its arguments.
fn of_results(judge: &Judge<'_>, run: &Run) -> SecretUse {
    let program = run.program.as_str();
    let is_file = |word: &Argument| word.spellings.iter().any(Spelling::is_process);
    let mut values = run.arguments.iter().filter(|word| !is_file(word));
    if let Some(file) = values.find_map(|word| judge.held(word)) {
        let is_whole = run.arguments.len() == 1;
        return match program {
            "eval" if is_whole => SecretUse::Loads(file),
            "echo" | "printf" | "git" | "eval" => SecretUse::Shows(given(file)),
            "export" | "declare" | "typeset" | "local" | "readonly" | "set" | "env" => SecretUse::Loads(file),
            program if SHELLS.contains(&program) || INTERPRETERS.contains(&program) => SecretUse::Shows(given(file)),
            program if is_harmless(program) => SecretUse::Nothing,
            _ => SecretUse::HandsOn(file),
        };
    }
    if matches!(program, "cat" | "tee")
        && let Some(file) = run.here.as_ref().and_then(|here| judge.held(here))
    {
        return SecretUse::Shows(given(file));
    }
    let handed = run.given.iter().find_map(|word| judge.held(word)).filter(|_| !program.is_empty());
    handed.map_or(SecretUse::Nothing, SecretUse::HandsOn)
}

/// The secret file that a program reads and shows without being asked.
fn shows_unasked(judge: &Judge<'_>, run: &Run) -> Option<String> {
    let words: Vec<String> = run.arguments.iter().map(Argument::shown).collect();
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.as_str()));
    match run.program.as_str() {
        "docker" | "docker-compose" | "podman" | "podman-compose" if has(&["config"]) => {
            let is_compose = run.program.ends_with("compose") || has(&["compose"]);
            let told_less =
                word_list!("-q --quiet --services --images --volumes --profiles --hash --no-interpolate --help");
            let file = named_env_file(&words).unwrap_or_else(|| ".env".to_owned());
            let is_there = judge.place.as_ref().is_none_or(|place| place.has(&file));
            (is_compose && !has(told_less) && is_there).then_some(file)
        }
        "kubectl" | "oc" if has(&["config"]) && has(&["view"]) && has(&["--raw", "--raw=true"]) => {
            Some("~/.kube/config".to_owned())
        }
        // Their scripts may open files.
        "sqlite3" | "duckdb" | "psql" | "mysql" => {
            words.iter().find_map(|text| code::reads(text, &|name| judge.is_secret(name)))
        }
        // It loads `.envrc` and starts a program.
        "direnv" if has(&["exec"]) => {
            let (program, arguments) = run.arguments.get(2..).and_then(<[Argument]>::split_first)?;
            environment::is_shown(&Run::of(&program.shown(), arguments)).then(|| ".envrc".to_owned())
        }
        // The Python program prints the requested values; the others start a program.
        "dotenv" | "dotenvx" if has(&["get", "list"]) && !has(&["--"]) => {
            Some(named_env_file(&words).unwrap_or_else(|| ".env".to_owned()))
        }
        // The same as a module.
        program if INTERPRETERS.contains(&program) && has(&["get", "list"]) && !has(&["--"]) => {
            let is_module = words.windows(2).any(|pair| pair[0] == "-m" && pair[1] == "dotenv");
            is_module.then(|| named_env_file(&words).unwrap_or_else(|| ".env".to_owned()))
        }
        _ => None,
    }
}

fn named_env_file(words: &[String]) -> Option<String> {
    words.iter().enumerate().find_map(|(at, word)| match word.strip_prefix("--env-file=") {
        Some(file) => Some(file.to_owned()),
        None if matches!(word.as_str(), "--env-file" | "-f")
            && words.get(at + 1).is_some_and(|file| file.contains("env")) =>
        {
            words.get(at + 1).cloned()
        }
        None => None,
    })
}

/// A program that shows its arguments, except those with options that mean something else.
fn by_arguments(judge: &Judge<'_>, run: &Run, input: Option<String>) -> SecretUse {
    if let Some(file) = input {
        return SecretUse::Shows(given(file));
    }
    let mut handed_on = None;
    let mut before = String::new();
    for argument in &run.arguments {
        let text = argument.shown();
        let option = text
            .strip_prefix('-')
            .map(|option| option.trim_start_matches('-').split('=').next().unwrap_or_default().to_lowercase());
        let of = option.as_deref().unwrap_or(&before);
        let is_all = argument.spellings.iter().any(|spelling| spelling.folder_of_all().is_some());
        let found = match &option {
            Some(_) => judge.secret_behind(argument, '='),
            None if run.program == "dd" => {
                text.starts_with("if=").then(|| judge.secret_behind(argument, '=')).flatten()
            }
            None if is_all && !DISPLAYS.contains(&run.program.as_str()) => None,
            None => judge.secret(argument).or_else(|| judge.secret_behind(argument, '@')),
        };
        match found {
            Some(_) if is_left_out(of, &run.program) => {}
            Some(file) if of.contains("env") || of == "from-file" || of == "var-file" => handed_on = Some(file),
            Some(file) if is_runner(run) && matches!(of, "e" | "f" | "p" | "env" | "c") => handed_on = Some(file),
            Some(file) => return SecretUse::Shows(Hit { file, found: is_all }),
            None => {}
        }
        // `--option=value` does not take the next word as its value.
        let open = option.filter(|_| !text.contains('='));
        before = open.unwrap_or_else(|| if text == "pull" { text } else { String::new() });
    }
    // Without a name, such programs use the default file.
    if handed_on.is_none() && is_runner(run) && run.arguments.iter().any(|word| word.is("--")) {
        handed_on = Some(".env".to_owned());
    }
    match handed_on {
        // `docker compose --env-file .env config` shows every value.
        Some(file) if shows_given(run) => SecretUse::Shows(given(file)),
        Some(file) => SecretUse::HandsOn(file),
        None => SecretUse::Nothing,
    }
}

/// True if a program that is given variables starts one that shows them.
fn shows_given(run: &Run) -> bool {
    let words = &run.arguments;
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.iter().any(|shows| word.is(shows)));
    let is_quiet = has(&["-q", "--quiet", "--services", "--images"]);
    if has(&["env", "printenv", "set", "export"]) || has(&["config", "get", "list"]) && !is_quiet {
        return true;
    }
    let Some(dashes) = words.iter().position(|word| word.is("--")) else { return false };
    let Some((program, arguments)) = words[dashes + 1..].split_first() else { return false };
    let started = Run::of(&program.shown(), arguments);
    if SHELLS.contains(&started.program.as_str()) {
        return arguments.iter().flat_map(|script| runs(&script.shown())).any(|run| environment::is_shown(&run));
    }
    environment::is_shown(&started)
}

/// A secret file that gets a name under which it could be read.
fn copy(judge: &Judge<'_>, program: &str, arguments: &[Argument]) -> Option<String> {
    let option = |at: usize| arguments[at].shown().trim_start_matches('-').to_lowercase();
    let left_out =
        |at: usize| at > 0 && arguments[at - 1].shown().starts_with('-') && is_left_out(&option(at - 1), program);
    let words = arguments.iter().enumerate().filter(|(at, word)| !word.shown().starts_with('-') && !left_out(*at));
    let words: Vec<&Argument> = words.map(|(_, word)| word).collect();
    let (target, sources) = words.split_last()?;
    let place = target.shown();
    // A sibling of this folder, such as another worktree, is a folder too.
    let is_neighbour = place.starts_with("../") && !place.rsplit('/').next().is_some_and(|name| name.contains('.'));
    let is_folder = judge.place.as_ref().is_some_and(|here| here.is_folder(&place));
    // Keys and accounts are copied to the folders in which programs look for them.
    let is_home_of_keys = place.contains("/.ssh") || place.contains("/.kube") || place.contains("/.aws");
    let keeps_name = is_neighbour
        || is_folder
        || is_home_of_keys
        || place.ends_with(['/', ':', '.', '~'])
        || judge.secret(target).is_some()
        || judge.secret_behind(target, ':').is_some()
        || is_place_elsewhere(program, &place);
    if keeps_name { None } else { sources.iter().find_map(|source| judge.secret(source)) }
}

/// True if a name is a folder on another machine, in which a file keeps its own name.
fn is_place_elsewhere(program: &str, place: &str) -> bool {
    let behind = place.split_once(':').map(|(_, behind)| behind);
    matches!(program, "scp" | "rsync" | "docker" | "podman" | "kubectl")
        && behind
            .is_some_and(|path| path.contains('/') && !path.rsplit('/').next().is_some_and(|name| name.contains('.')))
}

/// What a call of git shows of secret files.
fn git(judge: &Judge<'_>, call: &GitLine<'_>) -> SecretUse {
    let patch = call.has(&["patch", "patch-with-stat"], &['p', 'u']);
    let shows = match call.verb.as_str() {
        "grep" => {
            let searched = Run::of(search::GIT_GREP, call.arguments);
            return search::shown_by(judge, &searched, None).map_or(SecretUse::Nothing, SecretUse::Shows);
        }
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
        return SecretUse::Nothing;
    }
    let named =
        call.arguments.iter().filter(|word| !word.shown().starts_with(":(exclude") && !word.shown().starts_with(":!"));
    let mut named = named.filter_map(|word| named_in(judge, word));
    named.next().into()
}

fn named_in(judge: &Judge<'_>, word: &Argument) -> Option<String> {
    judge.secret(&word.as_pattern()).or_else(|| judge.secret_behind(word, ':'))
}
