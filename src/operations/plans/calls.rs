//! Finds the programs that a command of a plan finally runs, and in which folder: wrappers around them are removed.

use crate::text::shell::Letters;
use crate::text::words::word_list;

/// A program with its arguments, without quotes, and the folder it runs in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Call {
    /// Empty for the root, else it ends with `/`.
    pub(super) folder: String,
    pub(super) words: Vec<String>,
    /// An earlier part of the command builds or installs something, and may have created what this runs.
    pub(super) is_after_build: bool,
}

/// The command without surrounding marks: backticks, a code fence, a prompt.
pub(super) fn unmarked(command: &str) -> &str {
    let mut bare = command.trim();
    if let Some(inside) = bare.strip_prefix("```").and_then(|rest| rest.strip_suffix("```")) {
        let (word, rest) = inside.split_once('\n').unwrap_or(("", inside));
        let is_language = word.trim().chars().all(char::is_alphanumeric);
        bare = if is_language { rest.trim() } else { inside.trim() };
    }
    if let Some(inside) = bare.strip_prefix('`').and_then(|rest| rest.strip_suffix('`'))
        && !inside.contains('`')
    {
        bare = inside.trim();
    }
    bare.strip_prefix("$ ").map_or(bare, str::trim)
}

/// The command without parentheses around the whole of it.
pub(super) fn ungrouped(command: &str) -> &str {
    let mut bare = command.trim();
    while let Some(inside) = bare.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'))
        && !inside.contains(['(', ')'])
    {
        bare = inside.trim();
    }
    bare
}

/// How many nested wrapper commands are removed.
const DEEPEST: usize = 6;

/// The programs that a command runs, in order. Those whose folder only a shell can determine are left out.
pub(super) fn calls_of(command: &str) -> Vec<Call> {
    let mut calls = Vec::new();
    CallReader::of(unmarked(command)).calls(Some(String::new()), DEEPEST, &mut calls);
    let mut made = false;
    for call in &mut calls {
        call.is_after_build = made;
        made |= makes_files(&call.words);
    }
    calls
}

/// Simple commands, each with true if an earlier one builds or installs something.
pub(super) fn with_builds(commands: &[Vec<String>]) -> impl Iterator<Item = (&[String], bool)> {
    let mut made = false;
    commands.iter().map(move |words| {
        let is_after_build = made;
        made |= makes_files(words);
        (words.as_slice(), is_after_build)
    })
}

/// True if a simple command creates files that later ones may run: it builds or installs something.
fn makes_files(words: &[String]) -> bool {
    const STARTS: &[&str] = &["build", "install", "compile", "bundle", "generate"];
    words.iter().take(4).any(|word| {
        let name = word.trim_matches(['"', '\'']);
        matches!(
            name,
            "ci" | "i" | "make" | "cmake" | "tsc" | "webpack" | "vite" | "rollup" | "esbuild" | "mvn" | "gradle"
        ) || STARTS.iter().any(|start| name.starts_with(start))
    })
}

/// The parts of a shell command line.
#[derive(Debug, PartialEq, Eq)]
enum Piece {
    Words(Vec<String>),
    Open,
    Close,
}

/// Splits a shell command line without running it: conditional parts count as run.
struct CallReader {
    pieces: Vec<Piece>,
}

impl CallReader {
    fn of(text: &str) -> Self {
        let mut pieces = Vec::new();
        let mut letters = Letters::of(text);
        while let Some(letter) = letters.next() {
            match letter {
                '$' | '<' | '>' if letters.peek() == Some('(') => {
                    let mut open = 0;
                    while let Some(next) = letters.next() {
                        open += i32::from(next == '(') - i32::from(next == ')');
                        if open == 0 {
                            break;
                        }
                    }
                    letters.add('$');
                }
                // The text after this is not a command.
                '<' if letters.peek() == Some('<') => break,
                '<' | '>' => letters.redirect(&['>', '&', '|']),
                '(' | ')' | ';' | '\n' | '&' | '|' => {
                    pieces.push(Piece::Words(letters.end_command()));
                    match letter {
                        '(' => pieces.push(Piece::Open),
                        ')' => pieces.push(Piece::Close),
                        _ => {}
                    }
                }
                letter => letters.take(letter),
            }
        }
        pieces.push(Piece::Words(letters.end_command()));
        Self { pieces }
    }

    /// Adds the programs that run, starting from a folder; `None` if the folder is unknown.
    fn calls(self, folder: Option<String>, depth: usize, calls: &mut Vec<Call>) {
        let Some(left) = depth.checked_sub(1) else { return };
        let mut folders = vec![folder];
        for piece in self.pieces {
            let words = match piece {
                Piece::Open => {
                    folders.push(folders.last().cloned().flatten());
                    continue;
                }
                Piece::Close => {
                    if folders.len() > 1 {
                        folders.pop();
                    }
                    continue;
                }
                Piece::Words(words) => words,
            };
            let words = without_front(&words);
            let Some(folder) = folders.last_mut() else { return };
            match words {
                [cd, path] if matches!(cd.as_str(), "cd" | "pushd") => {
                    *folder = folder.as_deref().and_then(|folder| entered(folder, path));
                }
                [cd, ..] if matches!(cd.as_str(), "cd" | "pushd" | "popd") => *folder = None,
                [] => {}
                words => {
                    let Some(folder) = folder.clone() else { continue };
                    if let Some(line) = line_of_shell(words) {
                        Self::of(line).calls(Some(folder), left, calls);
                    } else {
                        calls.push(Call { folder, words: words.to_vec(), is_after_build: false });
                    }
                }
            }
        }
    }
}

/// The folder that a path leads to from another one. Both are empty for the root, else they end with `/`.
pub(super) fn entered(folder: &str, path: &str) -> Option<String> {
    if path.contains(['$', '`', '*', '?', '~']) || path.starts_with(['/', '-']) || path.is_empty() {
        return None;
    }
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.iter().flat_map(|part| [*part, "/"]).collect())
}

/// The command line passed to `sh -c`.
fn line_of_shell(words: &[String]) -> Option<&str> {
    let name = words.first()?.rsplit('/').next()?;
    if !matches!(name, "sh" | "bash" | "zsh" | "dash" | "ksh") {
        return None;
    }
    let is_flag = |word: &String| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c');
    let at = words.iter().position(is_flag)?;
    words[1..at].iter().all(|word| word.starts_with(['-', '+']) || word == "pipefail").then_some(())?;
    words.get(at + 1).map(String::as_str)
}

/// The words after a program that only starts another one: `npx`, `uv run`, `bundle exec`. `None` for other programs,
/// and if it is started in another folder.
pub(super) fn started<'a, 'w>(words: &'a [&'w str]) -> Option<&'a [&'w str]> {
    const ELSEWHERE: &[&str] =
        word_list!("--directory --project -C -P -c --call -m --module --cwd -w --workspace -e --env");
    let (program, arguments) = words.split_first()?;
    let (verb, with_value): (Option<&str>, &[&str]) = match *program {
        "npx" | "bunx" | "pnpx" => (None, &["-p", "--package"]),
        "uvx" => (None, &["-p", "--python", "--from", "--with"]),
        "uv" => {
            (Some("run"), &["-p", "--python", "--with", "--extra", "--group", "--package", "--env-file", "--index"])
        }
        "poetry" | "pipenv" | "pdm" | "hatch" | "rye" => (Some("run"), &[]),
        "bundle" => (Some("exec"), &[]),
        "dotenv" | "dotenvx" | "doppler" | "op" | "infisical" => {
            let at = arguments.iter().position(|word| *word == "--")?;
            return arguments.get(at + 1..);
        }
        _ => return None,
    };
    let mut has_verb = verb.is_none();
    let mut at = 0;
    loop {
        let word = arguments.get(at)?;
        if ELSEWHERE.contains(&word.split_once('=').map_or(*word, |(option, _)| option)) {
            return None;
        }
        at += match *word {
            word if with_value.contains(&word) => 2,
            "--" if has_verb => return arguments.get(at + 1..),
            word if word.starts_with('-') => 1,
            word if !has_verb && Some(word) == verb => {
                has_verb = true;
                1
            }
            _ if !has_verb => return None,
            _ => return arguments.get(at..),
        };
    }
}

/// Removes shell words before the program, and programs that only start another.
fn without_front(words: &[String]) -> &[String] {
    let mut rest = words;
    loop {
        let Some((first, behind)) = rest.split_first() else { return rest };
        let is_setting = first.split_once('=').is_some_and(|(name, _)| is_variable(name));
        let is_word = matches!(
            first.as_str(),
            "if" | "then" | "else" | "elif" | "while" | "until" | "do" | "!" | "{" | "}" | "fi" | "done" | "time"
        );
        if is_setting || is_word {
            rest = behind;
            continue;
        }
        let with_value: &[&str] = match first.rsplit('/').next().unwrap_or_default() {
            "env" => &["-u", "--unset", "-C", "--chdir"],
            "timeout" => &["-k", "--kill-after", "-s", "--signal"],
            "nice" => &["-n"],
            "nohup" | "exec" | "stdbuf" | "setsid" | "xvfb-run" | "cross-env" | "sudo" => &[],
            "command" if behind.first().is_some_and(|word| !word.starts_with('-')) => &[],
            _ => return rest,
        };
        // If it changes the folder, nothing is known about it.
        if behind
            .iter()
            .take_while(|word| word.starts_with('-'))
            .any(|word| word == "-C" || word.starts_with("--chdir"))
        {
            return &[];
        }
        let mut at = 0;
        while let Some(word) = behind.get(at).filter(|word| word.starts_with('-')) {
            at += if with_value.contains(&word.as_str()) { 2 } else { 1 };
        }
        let is_timeout = first.ends_with("timeout");
        at += usize::from(is_timeout);
        rest = behind.get(at..).unwrap_or_default();
    }
}

pub(super) fn is_variable(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(command: &str) -> Vec<String> {
        calls_of(command).into_iter().map(|call| format!("{}> {}", call.folder, call.words.join(" "))).collect()
    }

    #[test]
    fn programs_are_found_inside_their_wrappers() {
        for (command, calls) in [
            ("npm test", vec!["> npm test"]),
            ("`npm test`", vec!["> npm test"]),
            ("$ npm test", vec!["> npm test"]),
            ("```bash\nnpm test\nls\n```", vec!["> npm test", "> ls"]),
            ("(cd web && npm run \"a b\") && ls", vec!["web/> npm run a b", "> ls"]),
            ("cd web; cd ../api && make", vec!["api/> make"]),
            ("cd $APP && make; ls", vec![]),
            ("(cd $APP && make); ls", vec!["> ls"]),
            ("cd .. && make", vec![]),
            ("timeout -k 5 60 npm test", vec!["> npm test"]),
            ("CI=1 env -u A B=2 nice -n 5 npm test > out.txt 2>&1", vec!["> npm test"]),
            ("bash -lc 'cd web && npm test' | tail", vec!["web/> npm test", "> tail"]),
            ("bash -euo pipefail -c 'make'", vec!["> make"]),
            ("bash run.sh -c x", vec!["> bash run.sh -c x"]),
            ("if npm test; then echo a; fi", vec!["> npm test", "> echo a"]),
            ("! { npm test; }", vec!["> npm test"]),
            ("test \"$(grep -c a b)\" = 1", vec!["> test $(grep -c a b) = 1"]),
            ("test $(grep -c a b) = 1", vec!["> test $ = 1"]),
            ("cat <<EOF\nnpm run x\nEOF", vec!["> cat"]),
            ("env -C web npm test", vec![]),
        ] {
            assert_eq!(told(command), calls, "{command}");
        }
    }

    #[test]
    fn programs_after_a_build_are_marked() {
        let after: Vec<bool> = calls_of("npm ci && node a.js").iter().map(|call| call.is_after_build).collect();
        assert_eq!(after, [false, true]);
    }

    #[test]
    fn programs_started_by_a_wrapper_are_found() {
        for (words, rest) in [
            ("npx --yes -p a b c", Some("b c")),
            ("uv run --with a pytest -q", Some("pytest -q")),
            ("uv sync", None),
            ("uv --directory app run pytest", None),
            ("poetry run python a.py", Some("python a.py")),
            ("bundle exec rspec", Some("rspec")),
            ("dotenv -e .env -- npm test", Some("npm test")),
            ("npx", None),
            ("pytest", None),
        ] {
            let words: Vec<&str> = words.split(' ').collect();
            assert_eq!(started(&words).map(|rest| rest.join(" ")).as_deref(), rest, "{words:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_command_can_be_split(command in "(?s)(cd a|bash -c |env |timeout 5|[a-z]|[ '\"\\\\;&|$#<>()`\n-]){0,30}") {
            for call in calls_of(&command) {
                proptest::prop_assert!(!call.words.is_empty() && (call.folder.is_empty() || call.folder.ends_with('/')));
            }
            let _ = ungrouped(&command);
        }
    }
}
