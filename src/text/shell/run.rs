//! The programs that a script runs: its commands without wrappers that only run others, including scripts inside
//! scripts.

use std::collections::BTreeMap;

use super::read::{Command, Redirect, commands};
use super::spelling::{Spelling, UNKNOWN};
use super::word::{Word, WordPart};
use crate::text::words::word_list;

/// A program that a script starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Run {
    /// Its name without folders, lower case; empty for redirections without a program.
    pub(crate) program: String,
    pub(crate) arguments: Vec<Argument>,
    /// Files on its standard input.
    pub(crate) reads: Vec<Argument>,
    pub(crate) writes: Vec<FileWritten>,
    /// Text that is known to be on its standard input.
    pub(crate) input: Option<String>,
    /// The text of a here-document or a here-string.
    pub(crate) here: Option<Argument>,
    /// Words before the program that set its variables: `A=b make`, `env A=b make`.
    pub(crate) given: Vec<Argument>,
    /// Programs with the same number are joined by pipes.
    pub(crate) pipeline: usize,
    /// Whether the next program of the pipeline gets its output.
    pub(crate) is_piped: bool,
    /// Whether it gets the output of the previous program.
    pub(crate) is_fed: bool,
    /// The substitution that its output goes into; see [`Spelling::results`].
    pub(crate) result_of: Option<u32>,
    /// Whether its standard input becomes arguments, as after `xargs`.
    pub(crate) is_handed_input: bool,
    /// Whether `find` starts it on the files it finds.
    pub(crate) is_found: bool,
    /// What a program such as `read` puts into variables; see [`Spelling::results`].
    pub(crate) reads_into: Option<u32>,
    /// Names of the variables among the arguments that the script does not set.
    pub(crate) unset: Vec<String>,
    /// For a program that prints file names: the names it may print, to the extent that its arguments show them.
    names_told: Vec<Spelling>,
}

/// A file that gets the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileWritten {
    pub(crate) file: Argument,
    pub(crate) append: bool,
    /// Whether it gets the program's output, and not only its errors.
    pub(crate) is_output: bool,
}

/// The possible results of a word: several spellings if a variable may have several values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Argument {
    pub(crate) spellings: Vec<Spelling>,
}

impl Argument {
    /// The text, if there is only one and it is known.
    pub(crate) fn text(&self) -> Option<String> {
        match self.spellings.as_slice() {
            [spelling] if spelling.is_known() => Some(spelling.text()),
            _ => None,
        }
    }

    /// True if this is exactly `text`.
    pub(crate) fn is(&self, text: &str) -> bool {
        self.text().is_some_and(|own| own == text)
    }

    /// Every name that the word may mean.
    pub(crate) fn names(&self) -> impl Iterator<Item = Spelling> {
        self.spellings.iter().flat_map(Spelling::fields).flat_map(|spelling| spelling.names())
    }

    /// The letters of the first spelling, with an ellipsis for unknown parts.
    pub(crate) fn shown(&self) -> String {
        self.spellings.first().map(|spelling| spelling.text().replace(UNKNOWN, "…")).unwrap_or_default()
    }

    /// The word as a pattern, for a program that reads patterns itself, where quotes only protected it from the shell.
    pub(crate) fn as_pattern(&self) -> Argument {
        self.spellings.iter().map(|spelling| Spelling::pattern(&spelling.text())).collect::<Vec<_>>().into()
    }

    /// The part after `mark`, such as the file in `of=name`.
    pub(crate) fn behind(&self, mark: char) -> Option<Argument> {
        let behind: Option<Vec<Spelling>> = self.spellings.iter().map(|spelling| spelling.behind(mark)).collect();
        behind.map(Argument::from)
    }

    /// The numbers of the substitutions and of the `read`s whose results are in the word.
    pub(crate) fn results(&self) -> impl Iterator<Item = u32> {
        self.spellings.iter().flat_map(Spelling::results)
    }

    fn of_text(text: &str) -> Self {
        vec![Spelling::quoted(text)].into()
    }

    fn is_option(&self) -> bool {
        self.shown().starts_with('-')
    }

    /// The words of the text for a program that reads it.
    fn as_words(&self) -> impl Iterator<Item = Spelling> {
        self.spellings.iter().flat_map(|spelling| Spelling::words(&spelling.text()).fields())
    }
}

impl From<Vec<Spelling>> for Argument {
    fn from(spellings: Vec<Spelling>) -> Self {
        Self { spellings }
    }
}

/// Returns the programs that the script runs, in order; commands inside a command come before it.
pub(crate) fn runs(script: &str) -> Vec<Run> {
    runs_up_to_limit(script).0
}

/// Like [`runs`], and returns whether a part of the script was beyond one of the limits.
pub(crate) fn runs_up_to_limit(script: &str) -> (Vec<Run>, bool) {
    let mut tracer = Tracer::default();
    // Names without a folder are relative to the current folder.
    tracer.set("PWD", vec![Spelling::quoted(".")]);
    tracer.script(script, 0);
    (tracer.runs, tracer.is_cut)
}

/// Longer scripts are not read to their end.
const LONGEST: usize = 256 * 1024;

/// The most bytes of nested scripts that are read.
const MOST_READ: usize = 4 * 1024 * 1024;

/// The most programs that are returned.
const MOST: usize = 2_000;

/// The maximum depth of nested scripts.
const DEEPEST: usize = 8;

/// The maximum number of wrappers before a program.
const DEEPEST_WRAPPERS: usize = 64;

/// How many values of a variable are followed.
const VALUES: usize = 16;

/// Longer values are not composed.
const LONGEST_VALUE: usize = 32 * 1024;

/// Programs that take a script: after `-c`, or on their standard input.
const SHELLS: &[&str] = &["sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "mksh"];

#[derive(Default)]
struct Tracer {
    runs: Vec<Run>,
    values: BTreeMap<String, Vec<Spelling>>,
    /// How many results and pipelines were numbered.
    results: u32,
    pipelines: usize,
    /// The substitution that is being read.
    result_of: Option<u32>,
    /// Variables without a value among the words that are being read.
    unset: Vec<String>,
    /// How many bytes of scripts were read, including nested ones.
    read: usize,
    /// Whether a part of the script was not read.
    is_cut: bool,
}

impl Tracer {
    fn script(&mut self, script: &str, depth: usize) {
        if depth > DEEPEST {
            self.is_cut = true;
            return;
        }
        self.is_cut |= script.len() > LONGEST;
        let end = script.len().min(LONGEST);
        let end = (0..=end).rev().find(|end| script.is_char_boundary(*end)).unwrap_or_default();
        self.read += end;
        if self.read > MOST_READ {
            self.is_cut = true;
            return;
        }
        let (commands, is_cut) = commands(&script[..end]);
        self.is_cut |= is_cut;
        self.all(&commands, depth);
    }

    fn all(&mut self, commands: &[Command], depth: usize) {
        // The previous command of the same pipeline, for the commands that read it.
        let mut before: Option<(usize, Run)> = None;
        let mut pipeline = 0;
        for (at, command) in commands.iter().enumerate() {
            if self.runs.len() >= MOST {
                self.is_cut = true;
                return;
            }
            let first = before.as_ref().filter(|(line, _)| *line == command.pipeline);
            if first.is_none() {
                self.pipelines += 1;
                pipeline = self.pipelines;
            }
            let is_piped = commands.get(at + 1).is_some_and(|next| next.pipeline == command.pipeline);
            let run = Run { pipeline, is_piped, is_fed: first.is_some(), result_of: self.result_of, ..Run::default() };
            let run = self.one(command, run, first, depth);
            before = Some((command.pipeline, run));
        }
    }

    /// The number for a new substitution or `read`.
    fn next_result(&mut self) -> u32 {
        self.results += 1;
        self.results
    }

    /// Reads the commands of a substitution and returns its number.
    fn substituted(&mut self, commands: &[Command], depth: usize) -> u32 {
        let number = self.next_result();
        let outer = self.result_of.replace(number);
        self.all(commands, depth + 1);
        self.result_of = outer;
        number
    }

    fn one(&mut self, command: &Command, run: Run, before: Option<&(usize, Run)>, depth: usize) -> Run {
        let mut run = Run { input: before.and_then(|(_, before)| before.output()), ..run };
        for (name, value) in &command.assignments {
            let argument = self.argument(value, depth);
            self.set(name, argument.spellings.iter().flat_map(Spelling::fields).collect());
            run.given.push(argument);
        }
        for redirect in &command.redirects {
            match redirect {
                Redirect::Read(word) => run.reads.push(self.argument(word, depth)),
                Redirect::Write { target, append, is_output } => {
                    let file = self.argument(target, depth);
                    run.writes.push(FileWritten { file, append: *append, is_output: *is_output });
                }
                Redirect::Here(word) => {
                    let text = self.argument(word, depth);
                    run.input = text.text();
                    run.here = Some(text);
                }
            }
        }
        let outer = std::mem::take(&mut self.unset);
        let words: Vec<Argument> = command.words.iter().map(|word| self.argument(word, depth)).collect();
        run.unset = std::mem::replace(&mut self.unset, outer);
        self.started(words, run, before.map(|(_, before)| before), depth)
    }

    /// Gives a variable its values. Its earlier values may still be valid if the script branches.
    fn set(&mut self, name: &str, new: Vec<Spelling>) {
        let values = self.values.entry(name.to_owned()).or_default();
        values.splice(0..0, new);
        values.dedup();
        values.truncate(VALUES);
    }

    /// Follows a program with its arguments, or the program that it starts.
    fn started(&mut self, words: Vec<Argument>, mut run: Run, before: Option<&Run>, depth: usize) -> Run {
        let mut words = words;
        let mut handed_on = before;
        let mut here = run.here.clone();
        let mut wrappers = 0;
        while let Some(first) = words.first() {
            wrappers += 1;
            if wrappers > DEEPEST_WRAPPERS {
                self.is_cut = true;
                break;
            }
            let name = first.spellings.first().map(|name| name.file_name().text()).unwrap_or_default();
            let name = name.to_ascii_lowercase();
            run.program = name.strip_suffix(".exe").map_or(name.clone(), str::to_owned);
            let rest = words.split_off(1);
            let Some(skipped) = inner(&run.program, &rest) else {
                run.arguments = rest;
                break;
            };
            words = rest[skipped.min(rest.len())..].to_vec();
            run.given.extend(rest[..skipped.min(rest.len())].iter().cloned());
            if words.is_empty() {
                words.push(Argument::of_text("echo"));
            }
            if hands_on(&run.program) {
                run.is_handed_input = true;
                // The contents of a file become arguments too: the program reads the file for that.
                let reads = std::mem::take(&mut run.reads);
                let mut reader = Run { reads, is_handed_input: false, ..run.clone() };
                reader.arguments = rest.into_iter().take(skipped).collect();
                if !reader.reads.is_empty() || reader.arguments.iter().any(|word| word.shown().starts_with("-a")) {
                    self.runs.push(reader);
                }
                // So does the text of a here-string, for the first program that reads it.
                if let Some(here) = here.take() {
                    words.extend(here.as_words().map(|name| vec![name].into()).collect::<Vec<Argument>>());
                }
                // The arguments come from what the previous command may have printed.
                if let Some(before) = handed_on.take() {
                    words.extend(before.told().into_iter().map(|name| vec![name].into()));
                }
            }
        }
        if run.program == "find" {
            self.found(&run, depth);
        }
        if matches!(run.program.as_str(), "read" | "mapfile" | "readarray") {
            let number = self.next_result();
            run.reads_into = Some(number);
            let mut told = vec![Spelling::result(number)];
            told.extend(before.map(Run::told).unwrap_or_default());
            let names: Vec<String> =
                run.arguments.iter().filter(|word| !word.is_option()).filter_map(Argument::text).collect();
            // If no variable is named, the shell uses its default.
            let is_name = |name: &String| name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
            let own = if run.program == "read" { "REPLY" } else { "MAPFILE" };
            let own = (!names.iter().any(is_name)).then(|| own.to_owned());
            for name in names.into_iter().chain(own) {
                self.set(&name, told.clone());
            }
        }
        run.names_told = names_told(&run, before);
        if let Some(script) = script_of(&run) {
            self.script(&script, depth + 1);
        }
        self.runs.push(run.clone());
        run
    }

    /// Follows the programs that `find` starts, with the names it looks for among their arguments.
    fn found(&mut self, run: &Run, depth: usize) {
        let starts = |word: &Argument| ["-exec", "-execdir", "-ok", "-okdir"].iter().any(|name| word.is(name));
        let Some(at) = run.arguments.iter().position(starts) else { return };
        let end = run.arguments[at..].iter().position(|word| word.is(";") || word.is("+"));
        let end = end.map_or(run.arguments.len(), |length| at + length);
        let mut words = run.arguments[at + 1..end].to_vec();
        words.extend(sought(&run.arguments[..at]).into_iter().map(|name| vec![name].into()));
        if depth < DEEPEST {
            let found = Run {
                pipeline: run.pipeline,
                is_piped: run.is_piped,
                result_of: run.result_of,
                is_found: true,
                ..Run::default()
            };
            self.started(words, found, None, depth + 1);
        }
    }

    fn argument(&mut self, word: &Word, depth: usize) -> Argument {
        let mut argument = Argument::from(vec![Spelling::default()]);
        self.add(&mut argument, &word.parts, depth);
        argument
    }

    fn add(&mut self, argument: &mut Argument, parts: &[WordPart], depth: usize) {
        for part in parts {
            match part {
                WordPart::Text { text, quoted } => {
                    argument.spellings.iter_mut().for_each(|spelling| spelling.push(text, *quoted));
                }
                WordPart::Variable { name, fallback, quoted } => {
                    let mut values = self.values.get(name).cloned().unwrap_or_default();
                    let is_set = !values.is_empty();
                    if !fallback.is_empty() {
                        let mut other = Argument::from(vec![Spelling::default()]);
                        self.add(&mut other, fallback, depth);
                        values.extend(other.spellings);
                    }
                    if !is_set {
                        values.push(self.unknown(name));
                        self.unset.push(name.clone());
                    }
                    argument.multiply(&values, *quoted);
                }
                WordPart::Substitution { commands, quoted } => {
                    let before = self.runs.len();
                    let number = self.substituted(commands, depth);
                    let told = match &self.runs[before.min(self.runs.len())..] {
                        [run] => run.output().map(|text| vec![Spelling::quoted(&text)]),
                        _ => None,
                    };
                    let names = || {
                        let names = self.runs[before.min(self.runs.len())..].last().map(|run| run.names_told.clone());
                        std::iter::once(Spelling::result(number)).chain(names.into_iter().flatten()).collect()
                    };
                    argument.multiply(&told.unwrap_or_else(names), *quoted);
                }
                WordPart::Process(commands) => {
                    let number = self.substituted(commands, depth);
                    argument.multiply(&[Spelling::process(number)], true);
                }
                WordPart::Made(name) => {
                    // Whether it is cut or not, it comes from what was read or printed.
                    let results = self.values.get(name).into_iter().flatten().flat_map(Spelling::results);
                    let mut made: Vec<Spelling> = results.map(Spelling::result).collect();
                    if made.is_empty() {
                        made.push(self.unknown(name));
                        self.unset.push(name.clone());
                    }
                    argument.multiply(&made, true);
                }
                WordPart::Unknown => argument.multiply(&[Spelling::unknown()], true),
            }
        }
    }

    /// A placeholder for a value, or a part of one, that is not known.
    fn unknown(&self, name: &str) -> Spelling {
        let values = self.values.get(name);
        let of_script = values.is_some_and(|values| !values.iter().any(Spelling::has_unset));
        let of_shell = OF_SHELL.contains(&name) || name.starts_with(|first: char| first.is_ascii_digit());
        if of_script || of_shell { Spelling::unknown() } else { Spelling::unset() }
    }
}

/// Variables that every shell sets.
const OF_SHELL: &[&str] = word_list!(
    "BASHPID BASH_SOURCE COLUMNS EPOCHSECONDS EUID HOME HOSTNAME IFS LANG LINENO LINES LOGNAME OLDPWD OSTYPE PATH
     PIPESTATUS PPID PWD RANDOM REPLY SECONDS SHELL SHLVL TERM TMPDIR UID USER"
);

impl Argument {
    /// Appends each of the values to each spelling.
    fn multiply(&mut self, values: &[Spelling], quoted: bool) {
        let longest = self.spellings.iter().chain(values).map(Spelling::len).max().unwrap_or_default();
        if longest > LONGEST_VALUE {
            self.spellings.iter_mut().for_each(|spelling| spelling.append(&Spelling::unknown(), true));
            return;
        }
        let pairs = self.spellings.iter().flat_map(|start| values.iter().map(move |value| (start, value)));
        let longer = pairs.map(|(start, value)| {
            let mut spelling = start.clone();
            spelling.append(value, quoted);
            spelling
        });
        self.spellings = longer.take(VALUES).collect();
    }
}

/// Programs that print some of the file names in their input.
const FILTERS: &[&str] =
    &["awk", "cat", "cut", "grep", "head", "rg", "sed", "sort", "tac", "tail", "tee", "tr", "uniq"];

/// The file names that a program may print, for programs that print file names.
fn names_told(run: &Run, before: Option<&Run>) -> Vec<Spelling> {
    let words = |words: &[Argument]| -> Vec<Spelling> {
        words.iter().filter(|word| !word.is_option()).flat_map(Argument::as_words).collect()
    };
    match run.program.as_str() {
        "find" => sought(&run.arguments),
        "fd" | "fdfind" | "ls" | "realpath" | "readlink" | "basename" | "echo" | "printf" => words(&run.arguments),
        "rg" if run.arguments.iter().any(|word| word.is("--files")) => vec![Spelling::quoted(".").everything_below()],
        "git" => match run.arguments.iter().position(|word| word.is("ls-files")) {
            // Untracked files, including ignored ones.
            Some(at)
                if run.arguments[at..].iter().any(|word| word.is("-o") || word.is("--others"))
                    && !run.arguments[at..].iter().any(|word| word.is("--exclude-standard")) =>
            {
                let named = words(&run.arguments[at + 1..]);
                if named.is_empty() { vec![Spelling::quoted(".").everything_below()] } else { named }
            }
            Some(at) => words(&run.arguments[at + 1..]),
            None => Vec::new(),
        },
        filter if FILTERS.contains(&filter) => {
            let Some(before) = before.filter(|before| before.tells_names()) else { return Vec::new() };
            let is_grep = matches!(run.program.as_str(), "grep" | "rg");
            let inverted = is_grep && run.arguments.iter().any(|word| word.shown().starts_with("-v"));
            let wanted: &[Argument] = if is_grep && !inverted { &run.arguments } else { &[] };
            // From a list of everything, the pattern shows which names are picked.
            let told = before.names_told.iter().filter(|name| !is_grep || name.folder_of_all().is_none());
            told.cloned().chain(words(wanted).iter().flat_map(picked_by)).collect()
        }
        _ => Vec::new(),
    }
}

/// The names that a pattern of `grep` picks from a list of names.
fn picked_by(pattern: &Spelling) -> Vec<Spelling> {
    let text = pattern.text();
    let (text, at_start) = text.strip_prefix('^').map_or((text.as_str(), false), |rest| (rest, true));
    let (text, at_end) = text.strip_suffix('$').map_or((text, false), |rest| (rest, true));
    let name = text.replace("\\.", ".").replace(".*", "*").replace('\\', "");
    let name = name.trim_start_matches('/');
    let glob = format!("{}{name}{}", if at_start { "" } else { "*" }, if at_end { "" } else { "*" });
    Spelling::pattern(&glob).with_hidden()
}

/// The names that `find` looks for, and the folders it looks in.
fn sought(arguments: &[Argument]) -> Vec<Spelling> {
    let mut names = Vec::new();
    let places = arguments.iter().take_while(|word| !word.is_option() && !word.is("!") && !word.is("("));
    let mut places: Vec<Spelling> = places.flat_map(|word| word.spellings.clone()).collect();
    names.extend(places.clone());
    let is_test = |word: &Argument| {
        let test = word.shown();
        ["name", "path", "regex", "wholename"].iter().any(|kind| test.starts_with('-') && test.ends_with(kind))
    };
    if !arguments.iter().any(is_test) {
        if places.is_empty() {
            places.push(Spelling::quoted("."));
        }
        names.extend(places.into_iter().map(Spelling::everything_below));
    }
    for (at, pair) in arguments.windows(2).enumerate() {
        let test = pair[0].text().unwrap_or_default();
        let tests = matches!(test.as_str(), "-name" | "-iname" | "-path" | "-ipath" | "-wholename");
        let inverted = at > 0 && (arguments[at - 1].is("-not") || arguments[at - 1].is("!"));
        if tests && !inverted {
            names.extend(pair[1].as_pattern().spellings.into_iter().flat_map(Spelling::with_hidden));
        }
    }
    names
}

/// The script that a program is given.
fn script_of(run: &Run) -> Option<String> {
    let joined = |words: &[Argument]| words.iter().map(Argument::shown).collect::<Vec<_>>().join(" ");
    match run.program.as_str() {
        "eval" => Some(joined(&run.arguments)),
        "ssh" => {
            let options = options(&texts(&run.arguments), OF_SSH);
            Some(joined(run.arguments.get(options + 1..)?))
        }
        "watch" => Some(joined(run.arguments.get(options(&texts(&run.arguments), &["-n", "--interval"])..)?)),
        "wsl" | "su" | "script" if !run.arguments.is_empty() => {
            let behind = run.arguments.iter().position(|word| word.is("-c")).map_or(0, |at| at + 1);
            Some(joined(run.arguments.get(behind..)?))
        }
        "pwsh" | "powershell" => {
            let at = run.arguments.iter().position(|word| word.shown().to_ascii_lowercase().starts_with("-c"))?;
            Some(joined(&run.arguments[at + 1..]))
        }
        shell if SHELLS.contains(&shell) => {
            // `-lc` and `-ec` include `-c`.
            let asks = |word: &Argument| {
                word.text().is_some_and(|text| text.starts_with('-') && !text.starts_with("--") && text.ends_with('c'))
            };
            match run.arguments.iter().position(asks) {
                Some(at) => run.arguments.get(at + 1).map(Argument::shown),
                None if run.arguments.iter().all(|word| word.shown().starts_with('-')) => run.input.clone(),
                None => None,
            }
        }
        _ => None,
    }
}

/// Options of `ssh` that take the next word.
const OF_SSH: &[&str] = word_list!("-B -D -E -F -I -J -L -O -Q -R -S -W -b -c -e -i -l -m -o -p -w");

fn texts(words: &[Argument]) -> Vec<String> {
    words.iter().map(Argument::shown).collect()
}

/// How many words the options at the beginning take.
fn options(texts: &[String], with_value: &[&str]) -> usize {
    let mut at = 0;
    while let Some(text) = texts.get(at).filter(|text| text.starts_with('-') && text.len() > 1) {
        at += if with_value.contains(&text.as_str()) { 2 } else { 1 };
        if text == "--" {
            break;
        }
    }
    at
}

/// How many words after a wrapper come before the program that it starts; `None` for all other programs.
fn inner(program: &str, words: &[Argument]) -> Option<usize> {
    let texts = texts(words);
    let options = |with_value: &[&str]| options(&texts, with_value);
    let found = match program {
        "command" if texts.first().is_some_and(|first| matches!(first.as_str(), "-v" | "-V")) => return None,
        "command" | "builtin" | "exec" | "nohup" | "setsid" | "unbuffer" | "busybox" | "noglob" | "winpty" => {
            options(&["-a"])
        }
        "sudo" | "doas" => {
            let at = options(&["-u", "-g", "-p", "-h", "-C", "-r", "-t"]);
            at + assignments(&texts, at)
        }
        "env" => {
            let at = options(&["-u", "-C", "--unset", "--chdir"]);
            let at = at + assignments(&texts, at);
            let at = at + texts.iter().skip(at).take_while(|text| *text == "…").count();
            // Without a program it prints the environment.
            at
        }
        "npx" | "bunx" | "uvx" => options(&["-p", "--package", "--from", "--with"]),
        "pnpm" | "yarn" | "npm" | "poetry" | "pipenv" | "bundle" | "uv" | "hatch" | "pdm" | "pipx" | "rye" => {
            let starts = ["exec", "dlx", "run", "x"];
            let verb = texts.first().filter(|verb| starts.contains(&verb.as_str()))?;
            // `npm run x` starts a script of the project.
            let is_script = verb == "run" && matches!(program, "pnpm" | "yarn" | "npm");
            if is_script {
                return None;
            }
            1 + self::options(&texts[1..], &["--with", "--package", "-p", "--python"])
        }
        "nice" | "ionice" => options(&["-n", "-c", "-p"]),
        "stdbuf" => options(&["-i", "-o", "-e"]),
        "timeout" | "gtimeout" => options(&["-k", "-s", "--kill-after", "--signal"]) + 1,
        "xargs" => options(&["-I", "-n", "-P", "-L", "-d", "-s", "-E", "-a", "--max-args", "--max-procs"]),
        "parallel" => options(&["-j", "--jobs"]),
        // The program runs elsewhere, on files that are secret there too.
        "docker" | "podman" | "kubectl" | "docker-compose" => {
            let at = texts.iter().position(|text| text == "exec")?;
            let container = texts[at + 1..].iter().position(|text| !text.starts_with('-'))? + at + 1;
            let dashes = texts[container..].iter().position(|text| text == "--");
            dashes.map_or(container, |dashes| container + dashes) + 1
        }
        _ => return None,
    };
    (found < words.len() || hands_on(program)).then_some(found)
}

/// True for programs that start another one with their input as arguments.
fn hands_on(program: &str) -> bool {
    matches!(program, "xargs" | "parallel")
}

fn assignments(texts: &[String], from: usize) -> usize {
    let named =
        |text: &&String| text.split_once('=').is_some_and(|(name, _)| !name.is_empty() && !name.starts_with('-'));
    texts.iter().skip(from).take_while(named).count()
}

impl Run {
    /// A program with its arguments, without context.
    pub(crate) fn of(program: &str, arguments: &[Argument]) -> Self {
        Self { program: program.to_owned(), arguments: arguments.to_vec(), ..Self::default() }
    }

    /// True if its output consists of file names.
    fn tells_names(&self) -> bool {
        !self.names_told.is_empty() || matches!(self.program.as_str(), "find" | "fd" | "fdfind" | "ls" | "git")
    }

    /// The known words that the program may print: names, or its own arguments.
    fn told(&self) -> Vec<Spelling> {
        if self.names_told.is_empty() {
            self.arguments.iter().flat_map(Argument::as_words).collect()
        } else {
            self.names_told.clone()
        }
    }

    /// The output of the program, if its arguments determine it.
    pub(crate) fn output(&self) -> Option<String> {
        let texts = |words: &[Argument]| words.iter().map(Argument::text).collect::<Option<Vec<_>>>();
        match self.program.as_str() {
            "echo" => {
                let words = texts(&self.arguments)?;
                let is_flag = |word: &&String| matches!(word.as_str(), "-n" | "-e" | "-E" | "-ne" | "-en");
                let flags = words.iter().take_while(is_flag).count();
                Some(words[flags..].join(" "))
            }
            "printf" => {
                let words = texts(&self.arguments)?;
                let (format, values) = words.split_first()?;
                Some(if format.contains('%') { values.join(" ") } else { format.replace("\\n", "\n") })
            }
            "cat" if self.arguments.iter().all(|word| word.is("-")) && self.reads.is_empty() => self.input.clone(),
            "tee" if self.reads.is_empty() => self.input.clone(),
            "pwd" => Some(".".to_owned()),
            _ => None,
        }
    }
}
