//! What a script runs: its commands without the programs that only run others, scripts inside scripts included.

use std::collections::BTreeMap;

use super::read::{Command, Part, Redirect, Word, commands};
use super::spelling::{Spelling, UNKNOWN};

/// A program that a script starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Run {
    /// Its name without folders, lower case; empty for redirections without a program.
    pub(crate) program: String,
    pub(crate) arguments: Vec<Argument>,
    /// Files it has on its standard input.
    pub(crate) reads: Vec<Argument>,
    pub(crate) writes: Vec<FileWritten>,
    /// Text that is known to be on its standard input.
    pub(crate) input: Option<String>,
}

/// A file that takes the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileWritten {
    pub(crate) file: Argument,
    pub(crate) append: bool,
}

/// A word as it may come out: more than one spelling where a variable may have more than one value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Argument {
    pub(crate) spellings: Vec<Spelling>,
    /// Whether parts of it are values that the shell splits at blanks.
    splits: bool,
}

impl Argument {
    /// The text, where it is one and known.
    pub(crate) fn text(&self) -> Option<String> {
        match self.spellings.as_slice() {
            [spelling] if spelling.is_known() => Some(spelling.text()),
            _ => None,
        }
    }

    /// Whether this is exactly `text`.
    pub(crate) fn is(&self, text: &str) -> bool {
        self.text().is_some_and(|own| own == text)
    }

    /// Every name the word may stand for.
    pub(crate) fn names(&self) -> impl Iterator<Item = Spelling> {
        let fields = |spelling: &Spelling| if self.splits { spelling.fields() } else { vec![spelling.clone()] };
        self.spellings.iter().flat_map(fields).flat_map(|spelling| spelling.names())
    }

    /// The letters of the first spelling, what is not known left out.
    pub(crate) fn shown(&self) -> String {
        self.spellings.first().map(|spelling| spelling.text().replace(UNKNOWN, "…")).unwrap_or_default()
    }

    /// The word for a program that reads patterns itself, where quotes only kept the shell from doing so.
    pub(crate) fn as_pattern(&self) -> Argument {
        let spellings = self.spellings.iter().map(|spelling| Spelling::pattern(&spelling.text())).collect();
        Self { spellings, splits: self.splits }
    }

    fn of_text(text: &str) -> Self {
        Self { spellings: vec![Spelling::quoted(text)], splits: false }
    }
}

/// What the script runs, in its order; parts of commands come before the commands they are in.
pub(crate) fn runs(script: &str) -> Vec<Run> {
    let mut tracer = Tracer::default();
    tracer.script(script, 0);
    tracer.runs
}

/// Scripts longer than this are not looked at to their end.
const LONGEST: usize = 256 * 1024;

/// How many programs are told of.
const MOST: usize = 2_000;

/// How deep a script may stand in scripts.
const DEEPEST: usize = 8;

/// How many values of a variable are followed.
const VALUES: usize = 8;

/// Values longer than this are not put together.
const LONGEST_VALUE: usize = 32 * 1024;

/// Programs that take a script: behind `-c`, or on their standard input.
const SHELLS: &[&str] = &["sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "mksh"];

#[derive(Default)]
struct Tracer {
    runs: Vec<Run>,
    values: BTreeMap<String, Vec<Spelling>>,
}

impl Tracer {
    fn script(&mut self, script: &str, depth: usize) {
        if depth > DEEPEST {
            return;
        }
        let end = script.len().min(LONGEST);
        let end = (0..=end).rev().find(|end| script.is_char_boundary(*end)).unwrap_or_default();
        self.all(&commands(&script[..end]), depth);
    }

    fn all(&mut self, commands: &[Command], depth: usize) {
        // What the command before in the same pipeline was, for those that read it.
        let mut before: Option<(usize, Run)> = None;
        for command in commands {
            if self.runs.len() >= MOST {
                return;
            }
            let run = self.one(command, before.as_ref().filter(|(line, _)| *line == command.pipeline), depth);
            before = Some((command.pipeline, run));
        }
    }

    fn one(&mut self, command: &Command, before: Option<&(usize, Run)>, depth: usize) -> Run {
        for (name, value) in &command.assignments {
            let argument = self.argument(value, depth);
            // Values of a word that was there before may still hold where the script branches.
            let values = self.values.entry(name.clone()).or_default();
            values.splice(0..0, argument.spellings);
            values.dedup();
            values.truncate(VALUES);
        }
        let mut run = Run { input: before.and_then(|(_, before)| before.output()), ..Run::default() };
        for redirect in &command.redirects {
            match redirect {
                Redirect::Read(word) => run.reads.push(self.argument(word, depth)),
                Redirect::Write { target, append } => {
                    let file = self.argument(target, depth);
                    run.writes.push(FileWritten { file, append: *append });
                }
                Redirect::Here(word) => run.input = self.argument(word, depth).text(),
            }
        }
        let words: Vec<Argument> = command.words.iter().map(|word| self.argument(word, depth)).collect();
        self.started(words, run, before.map(|(_, before)| before), depth)
    }

    /// A program with its arguments, or what the program starts in its place.
    fn started(&mut self, words: Vec<Argument>, mut run: Run, before: Option<&Run>, depth: usize) -> Run {
        let mut words = words;
        let mut before = before;
        while let Some(first) = words.first() {
            let name = first.spellings.first().map(|name| name.file_name().text()).unwrap_or_default();
            let name = name.to_ascii_lowercase();
            run.program = name.strip_suffix(".exe").map_or(name.clone(), str::to_owned);
            let rest = words.split_off(1);
            let Some(skipped) = inner(&run.program, &rest) else {
                run.arguments = rest;
                break;
            };
            words = rest.into_iter().skip(skipped).collect();
            if words.is_empty() {
                words.push(Argument::of_text("echo"));
            }
            // What a program hands on as arguments is what the command before told.
            if let Some(before) = before.take_if(|_| hands_on(&run.program)) {
                words.extend(before.arguments.iter().map(Argument::as_pattern));
            }
        }
        if run.program == "find" {
            self.found(&run, depth);
        }
        if let Some(script) = script_of(&run) {
            self.script(&script, depth + 1);
        }
        self.runs.push(run.clone());
        run
    }

    /// The programs that `find` starts, with the names it looks for among their arguments.
    fn found(&mut self, run: &Run, depth: usize) {
        let starts = |word: &Argument| ["-exec", "-execdir", "-ok", "-okdir"].iter().any(|name| word.is(name));
        let Some(at) = run.arguments.iter().position(starts) else { return };
        let end = run.arguments[at..].iter().position(|word| word.is(";") || word.is("+"));
        let end = end.map_or(run.arguments.len(), |length| at + length);
        let mut words = run.arguments[at + 1..end].to_vec();
        words.extend(run.arguments[..at].iter().map(Argument::as_pattern));
        if depth < DEEPEST {
            self.started(words, Run::default(), None, depth + 1);
        }
    }

    fn argument(&mut self, word: &Word, depth: usize) -> Argument {
        let mut argument = Argument { spellings: vec![Spelling::default()], splits: false };
        self.add(&mut argument, &word.parts, depth);
        argument
    }

    fn add(&mut self, argument: &mut Argument, parts: &[Part], depth: usize) {
        for part in parts {
            match part {
                Part::Text { text, quoted } => {
                    argument.spellings.iter_mut().for_each(|spelling| spelling.push(text, *quoted));
                }
                Part::Variable { name, fallback } => {
                    let mut values = self.values.get(name).cloned().unwrap_or_default();
                    if !fallback.is_empty() {
                        let mut other = Argument { spellings: vec![Spelling::default()], splits: false };
                        self.add(&mut other, fallback, depth);
                        values.extend(other.spellings);
                    }
                    argument.multiply(&values);
                }
                Part::Substitution(commands) => {
                    let before = self.runs.len();
                    self.all(commands, depth + 1);
                    let made = match &self.runs[before.min(self.runs.len())..] {
                        [run] => run.output(),
                        _ => None,
                    };
                    argument.multiply(&made.map(|text| Spelling::quoted(&text)).into_iter().collect::<Vec<_>>());
                }
                Part::Unknown => argument.multiply(&[]),
            }
        }
    }
}

impl Argument {
    /// Puts each of the values behind what there is; what is unknown where there are none.
    fn multiply(&mut self, values: &[Spelling]) {
        self.splits = true;
        let longest = self.spellings.iter().chain(values).map(Spelling::len).max().unwrap_or_default();
        if values.is_empty() || longest > LONGEST_VALUE {
            self.spellings.iter_mut().for_each(|spelling| spelling.push(&UNKNOWN.to_string(), true));
            return;
        }
        let pairs = self.spellings.iter().flat_map(|start| values.iter().map(move |value| (start, value)));
        let longer = pairs.map(|(start, value)| {
            let mut spelling = start.clone();
            spelling.append(value);
            spelling
        });
        self.spellings = longer.take(VALUES).collect();
    }
}

/// The script that a program is given.
fn script_of(run: &Run) -> Option<String> {
    let joined = |words: &[Argument]| words.iter().map(Argument::shown).collect::<Vec<_>>().join(" ");
    match run.program.as_str() {
        "eval" => Some(joined(&run.arguments)),
        "ssh" | "wsl" | "su" | "watch" | "script" if !run.arguments.is_empty() => {
            let behind = run.arguments.iter().position(|word| word.is("-c")).map(|at| at + 1);
            Some(joined(&run.arguments[behind.unwrap_or(usize::from(run.program == "ssh")).min(run.arguments.len())..]))
        }
        "pwsh" | "powershell" => {
            let at = run.arguments.iter().position(|word| word.shown().to_ascii_lowercase().starts_with("-c"))?;
            Some(joined(&run.arguments[at + 1..]))
        }
        shell if SHELLS.contains(&shell) => {
            // `-lc` and `-ec` are `-c` too.
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

/// How many words behind a program that only starts another come before the other; `None` for all other programs.
fn inner(program: &str, words: &[Argument]) -> Option<usize> {
    let texts: Vec<String> = words.iter().map(Argument::shown).collect();
    let options = |with_value: &[&str]| {
        let mut at = 0;
        while let Some(text) = texts.get(at).filter(|text| text.starts_with('-') && text.len() > 1) {
            at += if with_value.contains(&text.as_str()) { 2 } else { 1 };
            if text == "--" {
                break;
            }
        }
        at
    };
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
            // Without a program it tells the environment.
            at
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

/// Programs that start another with what they read as arguments.
fn hands_on(program: &str) -> bool {
    matches!(program, "xargs" | "parallel")
}

fn assignments(texts: &[String], from: usize) -> usize {
    let named =
        |text: &&String| text.split_once('=').is_some_and(|(name, _)| !name.is_empty() && !name.starts_with('-'));
    texts.iter().skip(from).take_while(named).count()
}

impl Run {
    /// What the program prints, where its arguments tell.
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
            _ => None,
        }
    }
}
