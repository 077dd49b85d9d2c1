//! One check: a command as words, and the folder it runs in. No shell is involved.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::disk::RelativePath;
use crate::failure::Explain;
use crate::project::declared_commands::is_runner;
use crate::text::shell::{NotPlain, PlainLine, typed};
use crate::text::words::words;

/// A command that is run to see whether the work is right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Check {
    /// The command in its original text, preceded by `cd FOLDER && ` if it runs in a folder of the project.
    command: String,
    folder: Option<RelativePath>,
    variables: Vec<(String, String)>,
    program: String,
    arguments: Vec<String>,
}

words! {
    /// The place that names the checks. The words are those of VERIFY files.
    #[derive(Serialize, Hash)]
    pub(crate) enum Source {
        Preference = "preference",
        TaskPlan = "task-plan",
        PackageJson = "package-json",
        PythonProject = "python-project",
        NodeTestFile = "node-test-file",
        Cargo = "cargo",
        Go = "go",
        Make = "make",
        Just = "just",
        None = "none",
    }
}

/// A command that is not run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("`{command}` is not run as a check: {reason}")]
pub(crate) struct Refused {
    pub(crate) command: String,
    pub(crate) reason: String,
}

impl Refused {
    fn new(command: &str, reason: impl Into<String>) -> Self {
        Self { command: command.to_owned(), reason: reason.into() }
    }

    /// A text in place of a command that reads like a sentence.
    pub(super) fn sentence(text: &str) -> Self {
        Self::new(text, SENTENCE)
    }

    /// A command that succeeds whatever the work is.
    pub(super) fn idle(command: &str, why: &str) -> Self {
        Self::new(command, format!("{IDLE}: {why}"))
    }

    /// True if it reads like a sentence, which is meant for people.
    pub(crate) fn is_sentence(&self) -> bool {
        self.reason == SENTENCE
    }

    /// True if it would succeed whatever the work is.
    pub(crate) fn is_idle(&self) -> bool {
        self.reason.starts_with(IDLE)
    }
}

impl Explain for Refused {
    fn hint(&self) -> Option<String> {
        if self.command.trim().is_empty() {
            return None;
        }
        let hint = if self.is_sentence() {
            "name a command in the plan: `Verify: COMMAND`"
        } else if self.is_idle() {
            "name a command in the plan that fails where the work is not right"
        } else {
            "put it into a script of the project, and name that as the command"
        };
        Some(hint.to_owned())
    }
}

const SENTENCE: &str = "it does not look like a command";

const IDLE: &str = "it cannot fail, so that it checks nothing";

/// Characters that only a shell acts on. A check is run without a shell.
const OF_SHELLS: &[&str] = &[";", "|", "`", "<", ">", "$("];

/// The most parts of a line of commands.
const MOST: usize = 32;

impl Check {
    /// Reads one command, without `&&`.
    pub(crate) fn parse(command: &str) -> Result<Self, Refused> {
        match Self::all_of(command).as_mut_slice() {
            [only] => only.clone(),
            [] => Err(Refused::new(command, "it is empty")),
            _ => Err(Refused::new(command, "it is more than one command")),
        }
    }

    /// Makes a check of a line for a shell, as a person wrote and approved it.
    pub(crate) fn of_shell(line: &str) -> Self {
        let arguments = vec!["-c".to_owned(), line.to_owned()];
        Self { command: line.to_owned(), folder: None, variables: Vec::new(), program: "sh".to_owned(), arguments }
    }

    /// The commands of a line that are separated by `&&`. `cd FOLDER` applies to those after it.
    pub(crate) fn all_of(line: &str) -> Vec<Result<Self, Refused>> {
        let mut folder: Option<RelativePath> = None;
        let mut checks = Vec::new();
        for part in line.split("&&").map(without_backticks).filter(|part| !part.is_empty()).take(MOST) {
            match read(part) {
                Ok((variables, words)) => match words.split_first() {
                    Some((program, arguments)) if program == "cd" => match entered(folder.as_ref(), arguments) {
                        Ok(entered) => folder = entered,
                        // The commands after it would run elsewhere.
                        Err(reason) => return vec![Err(Refused::new(line.trim(), reason))],
                    },
                    Some((program, arguments)) => {
                        let command = folder
                            .as_ref()
                            .map_or_else(|| part.to_owned(), |folder| format!("{} && {part}", typed!("cd {}", folder)));
                        let (program, arguments) = (program.clone(), arguments.to_vec());
                        checks.push(Ok(Self { command, folder: folder.clone(), variables, program, arguments }));
                    }
                    None => checks.push(Err(Refused::new(part, "it runs no program"))),
                },
                Err(reason) => checks.push(Err(Refused::new(part, reason))),
            }
        }
        checks
    }

    pub(crate) fn command(&self) -> &str {
        &self.command
    }

    /// The folder of the project in which it runs; `None` for the root.
    pub(crate) fn folder(&self) -> Option<&RelativePath> {
        self.folder.as_ref()
    }

    pub(crate) fn program(&self) -> &str {
        &self.program
    }

    pub(crate) fn arguments(&self) -> &[String] {
        &self.arguments
    }

    /// The program and its arguments.
    pub(super) fn words(&self) -> Vec<&str> {
        std::iter::once(self.program.as_str()).chain(self.arguments.iter().map(String::as_str)).collect()
    }

    /// The variables that it sets for itself.
    pub(crate) fn variables(&self) -> &[(String, String)] {
        &self.variables
    }

    /// True if the text it was read from looks like a command and not like a sentence.
    pub(crate) fn looks_like_one(&self) -> bool {
        let words = &self.arguments;
        let is_name = |word: &str| {
            word.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "_-.+".contains(letter))
        };
        let is_marked = |word: &String| word.starts_with('-') || word.contains(['/', '.', '=', ':']);
        let is_sentence = words.last().is_some_and(|word| word.ends_with(['.', ',', '!', '?']) && word != ".");
        let is_timed = self.program == "timeout"
            && words.iter().any(|word| word.starts_with(|first: char| first.is_ascii_digit()));
        is_runner(&self.program)
            || is_timed
            || self.program.contains('/')
            || (is_name(&self.program) && !is_sentence && (words.len() <= 1 || words.iter().any(is_marked)))
    }
}

fn without_backticks(part: &str) -> &str {
    let part = part.trim();
    let inside = part.strip_prefix('`').and_then(|part| part.strip_suffix('`'));
    inside.filter(|inside| !inside.contains('`')).unwrap_or(part).trim()
}

type VariablesAndWords = (Vec<(String, String)>, Vec<String>);

/// Reads the variables and words of one command, or says why it is not a command.
fn read(part: &str) -> Result<VariablesAndWords, String> {
    if let Some(mark) = OF_SHELLS.iter().find(|mark| part.contains(**mark)) {
        return Err(format!("it has `{mark}`, which needs a shell"));
    }
    let line = PlainLine::read(part).map_err(|NotPlain(what)| format!("it has {what}"))?;
    if line.has_marks || line.has_lines || line.substitutes || line.commands.len() > 1 {
        return Err("it has more than words, which needs a shell".to_owned());
    }
    let words = line.commands.into_iter().next().unwrap_or_default();
    let made = words.iter().chain(line.assigned.iter().map(|set| &set.value)).find(|word| word.is_made);
    if let Some(made) = made {
        return Err(format!("`{}` holds a variable or a pattern, which needs a shell", made.text));
    }
    if words.iter().any(|word| word.text.contains('\0')) {
        return Err("it has a null character".to_owned());
    }
    let variables = line.assigned.into_iter().map(|set| (set.name, set.value.text)).collect();
    Ok((variables, words.into_iter().map(|word| word.text).collect()))
}

/// The folder that `cd` enters from another one.
fn entered(from: Option<&RelativePath>, arguments: &[String]) -> Result<Option<RelativePath>, String> {
    let [to] = arguments else { return Err("`cd` needs one folder".to_owned()) };
    let to = to.trim_end_matches('/').trim_start_matches("./");
    if to.is_empty() || to == "." {
        return Ok(from.cloned());
    }
    let whole = from.map_or_else(|| to.to_owned(), |from| format!("{from}/{to}"));
    RelativePath::parse(&whole).map(Some).map_err(|_| format!("`{}` may lead out of the project", typed!("cd {}", to)))
}

impl fmt::Display for Check {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.command)
    }
}

/// Serialized as its command.
impl Serialize for Check {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.command)
    }
}

impl<'de> Deserialize<'de> for Check {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Vec<String> {
        let shown = |check: Result<Check, Refused>| match check {
            Ok(check) => {
                let folder = check.folder().map(|folder| format!("{folder}: ")).unwrap_or_default();
                let set: Vec<String> =
                    check.variables().iter().map(|(name, value)| format!("{name}={value}")).collect();
                format!("{folder}{}|{}|{}", set.join(","), check.program(), check.arguments().join("|"))
            }
            Err(refused) => format!("! {}", refused.reason),
        };
        Check::all_of(line).into_iter().map(shown).collect()
    }

    #[test]
    fn a_line_becomes_checks_of_plain_words() {
        assert_eq!(parsed("cargo test index"), ["|cargo|test|index"]);
        assert_eq!(parsed("`npm test`"), ["|npm|test"]);
        assert_eq!(parsed("A=1 B='x y' pytest -k \"a b\" && ./run.sh"), ["A=1,B=x y|pytest|-k|a b", "|./run.sh|"]);
        assert_eq!(
            parsed("cd app && npm test && cd web/ && npm run lint"),
            ["app: |npm|test", "app/web: |npm|run|lint"]
        );
        assert_eq!(parsed(" && "), Vec::<String>::new());
    }

    #[test]
    fn a_command_that_needs_a_shell_is_refused_with_the_reason() {
        for (line, word) in [
            ("a; b", "`;`"),
            ("a | grep b", "`|`"),
            ("a || true", "`|`"),
            ("echo `a`b", "backtick"),
            ("a > b", "`>`"),
            ("a < b", "`<`"),
            ("a $(b)", "`$(`"),
            ("a &", "more than words"),
            ("! a", "more than words"),
            ("a # b", "more than words"),
            ("pytest tests/*.py", "tests/*.py"),
            ("echo $HOME", "variable"),
            ("a 'b", "a quote that is not closed"),
            ("A=1", "no program"),
            ("cd .. && a", "out of the project"),
            ("cd /tmp && a", "out of the project"),
            ("a\nb", "more than"),
        ] {
            let shown = parsed(line);
            let word = word.replace("backtick", "``");
            let expected = if line.contains('`') { "needs a shell" } else { word.as_str() };
            assert!(shown[0].starts_with("! ") && shown[0].contains(expected), "{line}: {shown:?}");
        }
        let refused = Check::parse("a | b").unwrap_err();
        assert_eq!(refused.to_string(), "`a | b` is not run as a check: it has `|`, which needs a shell");
        assert!(
            refused.hint().is_some_and(|hint| hint.contains("script"))
                && Check::parse(" ").unwrap_err().hint().is_none()
        );
    }

    #[test]
    fn a_sentence_is_not_a_command() {
        let looks = |line: &str| Check::parse(line).is_ok_and(|check| check.looks_like_one());
        for command in [
            "cargo test",
            "./check.sh a",
            "scripts/check",
            "tsc",
            "mypy src/",
            "rspec spec/a_spec.rb",
            "make",
            "ruff check .",
        ] {
            assert!(looks(command), "{command}");
        }
        for sentence in ["All tests pass", "the page shows two hits", "manual", "open the app and look."] {
            assert_eq!(looks(sentence), sentence == "manual", "{sentence}");
        }
    }

    #[test]
    fn a_check_is_serialized_as_its_command() {
        for command in ["cargo test", "cd app && A=1 npm test"] {
            let check = Check::parse(command).unwrap();
            let text = serde_json::to_string(&check).unwrap();
            assert_eq!(text, format!("\"{command}\""));
            assert_eq!(serde_json::from_str::<Check>(&text).unwrap(), check);
        }
        assert!(serde_json::from_str::<Check>("\"a; b\"").is_err());
    }

    proptest::proptest! {
        #[test]
        fn any_line_is_read_and_an_accepted_one_reads_back_the_same(line in "[ -~&\\n\u{e9}]{0,60}") {
            for check in Check::all_of(&line).into_iter().flatten() {
                proptest::prop_assert_eq!(Check::parse(check.command()), Ok(check.clone()));
            }
        }
    }
}
