//! The arguments before clap reads them: flags that are allowed anywhere are taken out.
//!
//! Families never see `--raw`, `--pick`, `--default`, `--cwd`, `--project-dir`, `--ws`, `--json-errors`, `--help`. Verbs that write or act do not see `--dry-run` and `--if-match` either, unless the flag is an argument of the verb.

use std::ffi::OsString;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ValueHint};

use super::error::Manner;
use crate::acts::Flags;
use crate::failure::Failure;
use crate::operations::bundle::workflow::WorkflowTable;
use crate::text::screen::Screen;
use crate::world::World;

const JSON_ERRORS: &str = "--json-errors";

/// The word whose arguments belong to another program and are passed on untouched.
pub(crate) const VERBATIM: &str = "run-with-timeout";

/// A call in words, and the flags of every command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Invocation {
    /// The command path and its arguments, as clap should read them.
    pub(crate) words: Vec<String>,
    pub(crate) globals: Globals,
    /// The word as typed, if it was split at its dot.
    pub(crate) dotted: Option<String>,
    pub(crate) wants: Wants,
}

/// Whether the call asks for work or for information about the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Wants {
    #[default]
    Work,
    Help,
    Version,
}

/// The flags of every command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Globals {
    pub(crate) raw: bool,
    /// Print JSON, at a terminal too.
    pub(crate) json: bool,
    /// Print the view for people, in a pipe too.
    pub(crate) text: bool,
    /// The command has its own `--json`, and it was given.
    pub(crate) own_json: bool,
    pub(crate) color: Color,
    pub(crate) pick: Option<String>,
    pub(crate) default: Option<String>,
    /// The flags that change how the call works; the others only change how it is answered.
    pub(crate) flags: Flags,
    /// For commands that remove something: do it without a question.
    pub(crate) yes: bool,
}

/// A flag of every command, as described in help pages, completions and man pages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flag {
    pub(super) short: Option<char>,
    pub(super) long: &'static str,
    /// The name of its value.
    pub(super) value: Option<&'static str>,
    /// Whether the value is part of the same word.
    pub(super) attached: bool,
    /// The values it accepts, if they are limited.
    pub(super) values: &'static [&'static str],
    pub(super) about: &'static str,
}

impl Flag {
    pub(super) const fn switch(long: &'static str, about: &'static str) -> Self {
        Self { short: None, long, value: None, attached: false, values: &[], about }
    }

    pub(super) const fn valued(long: &'static str, value: &'static str, about: &'static str) -> Self {
        Self { value: Some(value), ..Self::switch(long, about) }
    }

    /// Its line on a help page.
    pub(super) fn line(&self) -> String {
        let short = self.short.map(|short| format!("-{short}, ")).unwrap_or_default();
        let sign = if self.attached { '=' } else { ' ' };
        let value = self.value.map(|value| format!("{sign}<{value}>")).unwrap_or_default();
        let spelled = format!("{short}--{}{value}", self.long);
        format!("  {spelled:<22}  {}\n", self.about)
    }

    /// The flag as clap describes it to shells.
    pub(super) fn argument(&self) -> Arg {
        let argument = Arg::new(self.long).long(self.long).help(self.about);
        let argument = if let Some(short) = self.short { argument.short(short) } else { argument };
        let Some(value) = self.value else { return argument.action(ArgAction::SetTrue) };
        let argument = argument.value_name(value).require_equals(self.attached);
        match (self.values, value) {
            ([], "folder") => argument.value_hint(ValueHint::DirPath),
            ([], _) => argument.value_hint(ValueHint::Other),
            (values, _) => argument.value_parser(PossibleValuesParser::new(values)),
        }
    }
}

/// The flags of every command, in the order of the help.
pub(super) const GLOBAL: &[Flag] = &[
    Flag::switch("json", "Print JSON, at a terminal too"),
    Flag::switch("text", "Print the view for people, in a pipe too"),
    Flag::switch("raw", "Print a plain value instead of JSON, where a command has one"),
    Flag::valued("pick", "field", "Print one field of the answer, for example `a.b[0].c`"),
    Flag::valued("cwd", "folder", "Run as if started in this folder"),
    Flag::valued("project-dir", "folder", "Use the project in this folder; do not search the folders above it"),
    Flag::valued("ws", "name", "Use this workstream"),
    Flag::switch("json-errors", "Print errors as one line of JSON"),
    Flag { values: &["auto", "always", "never"], ..Flag::valued("color", "when", "Use colour: auto, always or never") },
    Flag {
        attached: true,
        values: &["v1", "v2"],
        ..Flag::valued("exit-contract", "v", "v1: exit 1 on failure; v2: exit with a code for each kind of failure")
    },
    Flag { short: Some('h'), ..Flag::switch("help", "Show help; after a command, the help of that command") },
];

/// The help topic that is not about a command.
pub(super) const EXIT_CODES: &str = "exit-codes";

/// The topics of `help` in addition to the commands of the families.
pub(crate) const TOPICS: &[&str] = &["help", "version", "hook", EXIT_CODES];

/// The flags of every command, and the one that asks for the version.
pub(super) fn long_flags() -> impl Iterator<Item = &'static str> {
    GLOBAL.iter().map(|flag| flag.long).chain(["version"])
}

/// When to use colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Color {
    /// At a terminal, unless the environment says otherwise.
    #[default]
    Auto,
    Always,
    Never,
}

impl Color {
    /// Whether to use colour; `allowed` is what the terminal and the environment permit.
    pub(super) fn at(self, allowed: bool) -> bool {
        match self {
            Self::Auto => allowed,
            Self::Always => true,
            Self::Never => false,
        }
    }
}

/// Reads how failures are printed, before anything else, so that a call that cannot be read is reported that way too.
/// `is_for_a_person`: only a person reads the output.
pub(crate) fn manner(arguments: &[OsString], world: &World, is_for_a_person: bool) -> Manner {
    let arguments = &arguments[..ours(arguments)];
    let json = arguments.iter().any(|argument| argument == JSON_ERRORS)
        || world.variable("GSD_JSON_ERRORS").as_deref() == Some("1");
    Manner { json, screen: error_screen(arguments, world).filter(|_| is_for_a_person) }
}

/// The terminal that standard error is; `None` if it is another file.
fn error_screen(arguments: &[OsString], world: &World) -> Option<Screen> {
    let terminal = world.terminal();
    let position = arguments.iter().position(|argument| argument == "--color");
    let attached = arguments.iter().find_map(|argument| argument.to_str()?.strip_prefix("--color="));
    // An invalid value is reported when the call is read.
    let color = attached.or_else(|| arguments.get(position? + 1)?.to_str()).and_then(|value| color_of(value).ok());
    let color = color.unwrap_or_default().at(terminal.color);
    terminal.stderr.then_some(Screen { width: terminal.width, color, signs: terminal.signs })
}

/// Splits `arguments` into the flags of every command and the words of this one.
pub(crate) fn parse(arguments: Vec<OsString>) -> Result<Invocation, Failure> {
    let verbatim = arguments[ours(&arguments)..].to_vec();
    if !verbatim.is_empty() {
        let words = texts(verbatim)?;
        let wants = if words.get(1).is_some_and(|word| is_help(word)) { Wants::Help } else { Wants::Work };
        return Ok(Invocation { words, wants, ..Invocation::default() });
    }
    let mut arguments = texts(arguments)?;
    arguments.retain(|argument| argument != JSON_ERRORS);
    let mut call = lift(arguments)?;
    // Commands read `--json` and `--text` themselves; a question about the program has no command.
    let own: Vec<&str> = call.words.iter().map(String::as_str).filter(|word| !FORMS.contains(word)).collect();
    match own.as_slice() {
        ["--version" | "-V", ..] | ["version"] => call.wants = Wants::Version,
        ["help", ..] => call.wants = Wants::Help,
        _ => {}
    }
    let (is_bare, names_help) = (own.is_empty(), own.first() == Some(&"help"));
    if is_bare || call.wants != Wants::Work {
        lift_form(&mut call, "--json");
        lift_form(&mut call, "--text");
    }
    if names_help {
        call.words.remove(0);
    }
    if call.wants == Wants::Version {
        return Ok(Invocation { words: Vec::new(), ..call });
    }
    Ok(call)
}

/// Names the words `init ui-review` in full, `init workflow ui-review`: what a workflow starts from is in its front matter.
pub(crate) fn name_workflow(call: &mut Invocation) {
    if call.words.first().is_some_and(|first| first == "init")
        && call.words.get(1).is_some_and(|name| WorkflowTable::of(name).is_some())
    {
        call.words.insert(1, "workflow".to_owned());
    }
}

/// How many arguments are ours to read: all, unless the first word passes the rest to another program.
fn ours(arguments: &[OsString]) -> usize {
    let first = arguments.iter().position(|argument| argument != JSON_ERRORS);
    first.filter(|first| arguments[*first] == VERBATIM).unwrap_or(arguments.len())
}

fn is_help(argument: &str) -> bool {
    matches!(argument, "-h" | "-?" | "--h" | "--help" | "--usage")
}

fn texts(arguments: Vec<OsString>) -> Result<Vec<String>, Failure> {
    arguments
        .into_iter()
        .map(|argument| {
            argument.into_string().map_err(|bytes| {
                Failure::usage(format!("the argument `{}` is not UTF-8 text", bytes.to_string_lossy()))
                    .hint("type it in UTF-8, or rename the file that it names")
            })
        })
        .collect()
}

fn lift(arguments: Vec<String>) -> Result<Invocation, Failure> {
    let mut call = Invocation::default();
    let mut rest = arguments.into_iter();
    while let Some(argument) = rest.next() {
        let (flag, attached) = match argument.split_once('=') {
            Some((flag, value)) => (flag, Some(value.to_owned())),
            None => (argument.as_str(), None),
        };
        let globals = &mut call.globals;
        match (flag, attached.is_some()) {
            ("--", false) => {
                call.words.push(argument);
                call.words.extend(rest.by_ref());
            }
            (flag, false) if is_help(flag) => call.wants = Wants::Help,
            ("--raw", false) => globals.raw = true,
            ("--color", _) => globals.color = color_of(&value_of(flag, attached, &mut rest)?)?,
            ("--pick", _) => globals.pick = Some(value_of(flag, attached, &mut rest)?),
            // The only flag that may come without a value: an empty default is a default.
            ("--default", _) => globals.default = Some(attached.or_else(|| rest.next()).unwrap_or_default()),
            ("--cwd", _) => globals.flags.folder = Some(value_of(flag, attached, &mut rest)?),
            ("--project-dir", _) => globals.flags.project_folder = Some(value_of(flag, attached, &mut rest)?),
            ("--ws", _) => globals.flags.workstream = Some(value_of(flag, attached, &mut rest)?),
            _ => call.words.push(argument),
        }
    }
    Ok(call)
}

fn color_of(value: &str) -> Result<Color, Failure> {
    match value {
        "auto" => Ok(Color::Auto),
        "always" => Ok(Color::Always),
        "never" => Ok(Color::Never),
        other => Err(Failure::usage(format!("`--color` cannot be `{other}`")).hint("it takes auto, always or never")),
    }
}

/// The flags that decide the form of an answer; a command may have a flag of its own with that name.
pub(crate) const FORMS: &[&str] = &["--json", "--text"];

/// Takes out one of [`FORMS`].
pub(crate) fn lift_form(call: &mut Invocation, flag: &str) {
    let end = call.words.iter().position(|word| word == "--").unwrap_or(call.words.len());
    let all = call.words.len();
    let mut index = 0;
    call.words.retain(|word| {
        index += 1;
        index > end || word != flag
    });
    let is_there = call.words.len() < all;
    let form = if flag == "--json" { &mut call.globals.json } else { &mut call.globals.text };
    *form |= is_there;
}

/// Refuses `--text` with a flag that asks for another form.
pub(crate) fn check_forms(call: &mut Invocation) -> Result<(), Failure> {
    call.globals.own_json = call.words.iter().take_while(|word| *word != "--").any(|word| word == "--json");
    let Globals { raw, json, own_json, text, pick, .. } = &call.globals;
    let others = [(*json || *own_json, "--json"), (pick.is_some(), "--pick"), (*raw, "--raw")];
    match others.iter().find(|(is_there, _)| *is_there && *text) {
        Some((_, other)) => Err(Failure::usage(format!("`--text` and `{other}` exclude each other"))
            .hint(format!("`--text` prints the view for people, `{other}` is for programs: leave one of them out"))),
        None => Ok(()),
    }
}

/// The flags of writing commands that the command does not define itself.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lifted {
    pub(crate) dry_run: bool,
    pub(crate) if_match: bool,
    pub(crate) yes: bool,
}

/// Takes out the flags of commands that write or act: `--dry-run`, `--if-match`, and `--yes` for those that remove
/// something.
pub(crate) fn lift_of_writers(call: &mut Invocation, lifted: Lifted) -> Result<(), Failure> {
    let mut words = std::mem::take(&mut call.words).into_iter();
    while let Some(word) = words.next() {
        let (flag, attached) = match word.split_once('=') {
            Some((flag, value)) => (flag, Some(value.to_owned())),
            None => (word.as_str(), None),
        };
        match flag {
            "--" => {
                call.words.push(word);
                call.words.extend(words.by_ref());
            }
            "--dry-run" if attached.is_none() && lifted.dry_run => call.globals.flags.dry_run = true,
            "--yes" if attached.is_none() && lifted.yes => call.globals.yes = true,
            "--if-match" if lifted.if_match => {
                call.globals.flags.if_match = Some(value_of("--if-match", attached, &mut words)?);
            }
            _ => call.words.push(word),
        }
    }
    Ok(())
}

fn value_of(flag: &str, attached: Option<String>, rest: &mut impl Iterator<Item = String>) -> Result<String, Failure> {
    attached
        .or_else(|| rest.next())
        .filter(|value| !value.is_empty() && !value.starts_with("--"))
        .ok_or_else(|| Failure::usage(format!("`{flag}` needs a value")).hint(format!("write it as `{flag} VALUE`")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(line: &str) -> Invocation {
        parse(line.split(' ').map(OsString::from).collect()).unwrap()
    }

    #[test]
    fn flags_of_every_command_are_lifted_from_anywhere() {
        let call = call("--cwd /a roadmap --raw get-phase 2 --pick goal --ws=api");
        assert_eq!(call.words, ["roadmap", "get-phase", "2"]);
        assert_eq!(
            call.globals,
            Globals {
                raw: true,
                pick: Some("goal".into()),
                flags: Flags { folder: Some("/a".into()), workstream: Some("api".into()), ..Flags::default() },
                ..Globals::default()
            }
        );
    }

    #[test]
    fn help_anywhere_wins_and_version_only_leads() {
        assert_eq!(call("phase remove 3 --help").wants, Wants::Help);
        assert_eq!(call("--version").wants, Wants::Version);
        assert_eq!(call("--json --version").wants, Wants::Version);
        assert_eq!(call("milestone close --version").words, ["milestone", "close", "--version"]);
    }

    #[test]
    fn json_belongs_to_the_program_if_no_command_is_called() {
        for line in ["--json", "version --json", "--json version", "--version --json", "help --json", "--json help"] {
            let call = call(line);
            assert!(call.globals.json && call.words.is_empty(), "{line}: {call:?}");
        }
        assert_eq!(call("help state --json update").words, ["state", "update"]);
        assert_eq!(call("state --json").words, ["state", "--json"]);
        let mut behind = call("todo add -- --json");
        lift_form(&mut behind, "--json");
        assert!(!behind.globals.json);
    }

    #[test]
    fn text_and_another_form_exclude_each_other() {
        for other in ["--json", "--pick a", "--raw"] {
            let mut call = call(&format!("stats --text {other}"));
            lift_form(&mut call, "--text");
            let refused = check_forms(&mut call).unwrap_err();
            assert!(call.globals.text && refused.message.contains("exclude each other"), "{other}: {refused:?}");
        }
        assert!(check_forms(&mut call("todo add --text -- --json")).is_ok());
        assert!(call("--text").globals.text && call("--text").words.is_empty());
    }

    #[test]
    fn the_arguments_of_another_program_are_unchanged() {
        let words = call("--json-errors run-with-timeout 5 ls --raw --json-errors").words;
        assert_eq!(words, ["run-with-timeout", "5", "ls", "--raw", "--json-errors"]);
        assert_eq!(call("run-with-timeout --help").wants, Wants::Help);
        assert_eq!(call("todo add -- --raw").words, ["todo", "add", "--", "--raw"]);
    }

    #[test]
    fn a_missing_value_is_reported() {
        let error = parse(vec!["x".into(), "--cwd".into()]).unwrap_err();
        assert_eq!(error.reason, crate::failure::Reason::Usage);
        assert_eq!(call("config-get k --default").globals.default.as_deref(), Some(""));
    }

    #[test]
    fn errors_are_json_by_a_flag_or_by_the_environment() {
        let by_variable = World::with([("GSD_JSON_ERRORS", "1")], &std::env::temp_dir());
        let world = World::with([], &std::env::temp_dir());
        assert!(manner(&[], &by_variable, false).json);
        assert!(manner(&["--json-errors".into()], &world, true).json);
        assert_eq!(manner(&["run-with-timeout".into(), "--json-errors".into()], &world, false), Manner::default());
    }
}
