//! What a search shows of secret files: those named in its arguments, and those it finds in folders.

use regex_lite::Regex;

use super::code;
use super::judge::{Judge, shown};
use super::place::Reach;
use super::variables::is_plain;
use crate::text::shell::{Argument, Run, Spelling};

/// A secret file that a search would show something of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) file: String,
    /// Whether the search found the file itself, in a folder.
    pub(super) found: bool,
}

impl Hit {
    fn given(file: String) -> Self {
        Self { file, found: false }
    }
}

/// The program name of `git grep`, which searches only files known to git, and so none that git ignores.
pub(super) const GIT_GREP: &str = "git-grep";

/// What a program whose first word is a pattern or a script shows. `input` is the secret file whose text is on its
/// standard input.
pub(super) fn shown_by(judge: &Judge<'_>, run: &Run, input: Option<&str>) -> Option<Hit> {
    let language = Language::of(&run.program);
    let Search { patterns, files, hit, options } = Search::read(judge, run, language)?;
    if let Some(file) = hit {
        return Some(Hit::given(file));
    }
    let usual = if matches!(run.program.as_str(), "grep" | "ggrep" | "zgrep" | GIT_GREP) {
        PatternSyntax::Basic
    } else {
        PatternSyntax::Extended
    };
    let form = options.form.unwrap_or(usual);
    let shows = Shows { language, patterns, inverts: options.inverts, ignores_case: options.ignores_case, form };
    if language == Language::Awk
        && let Some(file) = shows.patterns.iter().find_map(|script| code::reads(script, &|name| judge.is_secret(name)))
    {
        return Some(Hit::given(file));
    }
    let given = files.iter().filter_map(|file| {
        if file.spellings.iter().any(|spelling| spelling.folder_of_all().is_some()) { None } else { judge.secret(file) }
    });
    if let Some(file) = given.chain(input.map(str::to_owned)).find(|file| shows.any_of(judge, file)) {
        return Some(Hit::given(file));
    }
    if language != Language::Pattern {
        let mut all =
            files.iter().filter(|file| file.spellings.iter().any(|spelling| spelling.folder_of_all().is_some()));
        return all.find_map(|file| judge.secret(file)).map(|file| Hit { file, found: true });
    }
    let place = judge.place.as_ref()?;
    let folders = options.folders(
        &run.program,
        &files,
        |name| place.is_folder(name),
        input.is_some() || run.input.is_some() || run.is_fed,
    );
    let found = folders.iter().flat_map(|(folder, reach)| judge.secrets_below(folder, *reach));
    let found = found.filter(|(name, _)| options.looks_at(name));
    let mut found = found.filter(|(name, content)| shows.lines(content, judge.is_environment(name)));
    found.next().map(|(file, _)| Hit { file, found: true })
}

/// True if a search for a pattern shows something of a secret text: for tools without a command line.
pub(super) fn shows(pattern: &str, content: &str, is_environment: bool) -> bool {
    let patterns = vec![pattern.to_owned()];
    Shows { language: Language::Pattern, patterns, inverts: false, ignores_case: true, form: PatternSyntax::Extended }
        .lines(content, is_environment)
}

/// The words of a search.
struct Search<'run> {
    patterns: Vec<String>,
    files: Vec<&'run Argument>,
    /// A secret file that an option names.
    hit: Option<String>,
    options: Options,
}

#[derive(Default)]
struct Options {
    inverts: bool,
    ignores_case: bool,
    /// Whether patterns are plain texts, basic or extended expressions, if an option says so.
    form: Option<PatternSyntax>,
    recursive: bool,
    hidden: bool,
    ignored: bool,
    /// It searches one type of files, which has no secrets.
    of_type: bool,
    included: Vec<Spelling>,
    excluded: Vec<Spelling>,
}

impl<'run> Search<'run> {
    /// Reads the words of a search; `None` if it shows no text at all.
    fn read(judge: &Judge<'_>, run: &'run Run, language: Language) -> Option<Self> {
        let mut search = Search { patterns: Vec::new(), files: Vec::new(), hit: None, options: Options::default() };
        let options = &mut search.options;
        let mut has_script = false;
        let mut words = run.arguments.iter();
        let glob = |word: &Argument| word.as_pattern().spellings;
        while let Some(word) = words.next() {
            let text = word.shown();
            match text.as_str() {
                "--" => search.files.extend(words.by_ref()),
                "-e" | "--regexp" | "--expression" => {
                    has_script = true;
                    search.patterns.extend(words.next().map(Argument::shown));
                }
                "-f" | "--file" | "--from-file" if language != Language::Awk => {
                    has_script = true;
                    search.patterns.push(UNKNOWN_PATTERN.to_owned());
                    search.hit = search.hit.or_else(|| words.next().and_then(|file| judge.secret(file)));
                }
                "-f" => {
                    has_script = true;
                    search.hit = search.hit.or_else(|| words.next().and_then(|file| judge.secret(file)));
                }
                "-g" | "--glob" | "--iglob" | "--include" => {
                    options.add_globs(words.next().map(glob).unwrap_or_default());
                }
                "--exclude" | "--exclude-dir" | "--ignore" | "--ignore-dir" => {
                    options.excluded.extend(words.next().map(glob).unwrap_or_default());
                }
                "-d" | "--directories" if language == Language::Pattern => {
                    options.recursive |= words.next().is_some_and(|word| word.is("recurse"));
                }
                option if language.takes_value(option) => {
                    options.of_type |= matches!(option, "-t" | "--type");
                    words.next();
                }
                "--arg" | "--argjson" if language == Language::Query => {
                    words.nth(1);
                }
                option if language.tells_no_text(option) => return None,
                option if ["--glob=", "--iglob=", "--include="].iter().any(|name| option.starts_with(name)) => {
                    options.add_globs(glob(word).into_iter().filter_map(|name| name.behind('=')).collect());
                }
                option if ["--exclude=", "--exclude-dir=", "--ignore="].iter().any(|name| option.starts_with(name)) => {
                    options.excluded.extend(glob(word).into_iter().filter_map(|name| name.behind('=')));
                }
                option if option.starts_with('-') && option.len() > 1 => options.read(option, &run.program),
                _ => search.files.push(word),
            }
        }
        if !has_script && !search.files.is_empty() {
            let script = search.files.remove(0);
            search.patterns.push(if script.text().is_some() { script.shown() } else { UNKNOWN_PATTERN.to_owned() });
        }
        let globs = search.options.included.iter().find(|glob| judge.names.searches(glob));
        search.hit = search.hit.or_else(|| globs.map(|glob| shown(&glob.text())));
        Some(search)
    }
}

/// Represents an unknown pattern; it matches everything.
const UNKNOWN_PATTERN: &str = "";

impl Options {
    fn add_globs(&mut self, globs: Vec<Spelling>) {
        let (excluded, included): (Vec<_>, Vec<_>) = globs.into_iter().partition(|glob| glob.starts_with("!"));
        self.excluded.extend(excluded.iter().filter_map(|glob| glob.behind('!')));
        self.included.extend(included);
    }

    fn read(&mut self, option: &str, program: &str) {
        if let Some(long) = option.strip_prefix("--") {
            self.recursive |= matches!(long, "recursive" | "dereference-recursive" | "directories=recurse");
            self.hidden |= matches!(long, "hidden" | "unrestricted" | "all-types");
            self.ignored |=
                matches!(long, "no-ignore" | "no-ignore-vcs" | "unrestricted" | "skip-vcs-ignores" | "all-types");
            self.inverts |= matches!(long, "invert-match" | "invert");
            self.ignores_case |= matches!(long, "ignore-case" | "smart-case");
            self.of_type |= long.starts_with("type=");
            self.form = match long {
                "fixed-strings" | "literal" => Some(PatternSyntax::Plain),
                "extended-regexp" | "perl-regexp" => Some(PatternSyntax::Extended),
                _ => self.form,
            };
            return;
        }
        let has = |letter| option.contains(letter);
        let unrestricted = option.matches('u').count();
        match program {
            "rg" => {
                self.hidden |= has('.') || unrestricted > 1;
                self.ignored |= unrestricted > 0;
                self.of_type |= option.starts_with("-t");
            }
            "ag" => {
                self.hidden |= has('u') || has('a');
                self.ignored |= has('u') || has('U') || has('t');
            }
            _ => self.recursive |= has('r') || has('R'),
        }
        self.inverts |= has('v');
        self.ignores_case |= has('i') || has('y') || has('S');
        if has('F') {
            self.form = Some(PatternSyntax::Plain);
        } else if has('E') || has('P') {
            self.form = Some(PatternSyntax::Extended);
        }
    }

    /// The folders that are searched, and how.
    fn folders(
        &self,
        program: &str,
        files: &[&Argument],
        is_folder: impl Fn(&str) -> bool,
        has_input: bool,
    ) -> Vec<(String, Reach)> {
        let searches_folders = matches!(program, "rg" | "ag" | "ack" | GIT_GREP);
        let everything = Reach { hidden: true, ignored: true };
        let reach = match program {
            GIT_GREP => Reach { hidden: true, ignored: false },
            _ if searches_folders => Reach { hidden: self.hidden, ignored: self.ignored },
            _ => everything,
        };
        let mut folders: Vec<(String, Reach)> = Vec::new();
        if self.recursive || searches_folders {
            let named =
                files.iter().flat_map(|file| file.names()).map(|name| name.text()).filter(|name| is_folder(name));
            folders.extend(named.map(|name| (name, reach)));
            if files.is_empty() && !has_input {
                folders.push((".".to_owned(), reach));
            }
        }
        let all = files.iter().flat_map(|file| file.names()).filter_map(|name| name.folder_of_all());
        folders.extend(all.map(|folder| (folder, everything)));
        folders
    }

    /// True if a file found in a folder is searched.
    fn looks_at(&self, path: &str) -> bool {
        let fits = |glob: &Spelling| {
            let glob = glob.names();
            glob.iter().any(|glob| path.split('/').any(|part| glob.file_name().fits(part)))
        };
        !self.of_type && !self.excluded.iter().any(fits) && (self.included.is_empty() || self.included.iter().any(fits))
    }
}

/// The syntax of patterns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PatternSyntax {
    Plain,
    Basic,
    Extended,
}

/// The lines of a file that a search prints.
struct Shows {
    language: Language,
    patterns: Vec<String>,
    inverts: bool,
    ignores_case: bool,
    form: PatternSyntax,
}

impl Shows {
    /// True if anything secret of a file is printed, or might be.
    fn any_of(&self, judge: &Judge<'_>, file: &str) -> bool {
        if self.language != Language::Pattern || self.inverts {
            return true;
        }
        match judge.content(file) {
            Some(content) => self.lines(&content, judge.is_environment(file)),
            // Without the file, the pattern decides.
            None => !judge.is_environment(file) || !self.patterns.iter().all(|pattern| asks_for_plain(pattern)),
        }
    }

    fn lines(&self, content: &str, is_environment: bool) -> bool {
        let patterns: Vec<Option<Regex>> = self.patterns.iter().map(|pattern| self.compiled(pattern)).collect();
        let fits = |line: &str| {
            patterns.iter().zip(&self.patterns).any(|(compiled, text)| match compiled {
                Some(pattern) => pattern.is_match(line),
                None => has_word_of(text, line),
            })
        };
        let printed = content.lines().filter(|line| fits(line) != self.inverts);
        printed.into_iter().any(|line| !line.trim().is_empty() && (!is_environment || is_secret_line(line)))
    }

    fn compiled(&self, pattern: &str) -> Option<Regex> {
        // A longer text is not a pattern that a person types.
        const LONGEST: usize = 1_000;
        if pattern.len() > LONGEST {
            return None;
        }
        let expression = match self.form {
            PatternSyntax::Plain => regex_lite::escape(pattern),
            PatternSyntax::Extended => pattern.to_owned(),
            PatternSyntax::Basic => extended(pattern),
        };
        Regex::new(&if self.ignores_case { format!("(?i){expression}") } else { expression }).ok()
    }
}

/// Converts a basic expression of `grep` to an extended one: in a basic one, marks are special only after a `\`.
fn extended(pattern: &str) -> String {
    const MARKS: &[char] = &['|', '(', ')', '{', '}', '+', '?'];
    let mut extended = String::with_capacity(pattern.len());
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some(mark) if MARKS.contains(&mark) => extended.push(mark),
                Some('<' | '>') => extended.push_str("\\b"),
                Some(other) => extended.extend(['\\', other]),
                None => {}
            },
            mark if MARKS.contains(&mark) => extended.extend(['\\', mark]),
            other => extended.push(other),
        }
    }
    extended
}

/// True if a line has one of the words of a pattern in an unknown form.
fn has_word_of(pattern: &str, line: &str) -> bool {
    let line = line.to_lowercase();
    let pattern = pattern.to_lowercase();
    let mut words =
        pattern.split(|letter: char| !letter.is_alphanumeric() && letter != '_').filter(|word| word.len() > 2);
    pattern.is_empty() || words.any(|word| line.contains(word))
}

/// True if a line of an environment file shows a secret value.
fn is_secret_line(line: &str) -> bool {
    let line = line.trim_start();
    let line = line.strip_prefix("export ").unwrap_or(line);
    if line.starts_with('#') {
        return false;
    }
    let Some((name, value)) = line.split_once('=') else { return true };
    let value = value.trim().trim_matches(['"', '\'']);
    !value.is_empty() && !is_plain(name.trim()) && !matches!(value, "true" | "false")
}

/// True if a pattern asks for variables whose names show that they are not secret: `^(DB_HOST|DB_PORT)=`.
fn asks_for_plain(pattern: &str) -> bool {
    let pattern = pattern.replace("\\|", "|");
    let is_mark = |letter: char| matches!(letter, '^' | '(' | ')' | '\\' | '"' | '\'' | '$');
    pattern.split('|').all(|part| {
        let part = part.trim_matches(is_mark);
        let name = part.split_once('=').map_or(part, |(name, _)| name).trim_matches(is_mark);
        let is_name = name.len() > 3 && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        part.is_empty()
            || part == "#"
            || is_name && (part.contains('=') || pattern.contains('^') || name.contains('_')) && is_plain(name)
    }) && !pattern.is_empty()
}

/// The language of a program's first word.
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

    /// True if the word after an option is its value.
    fn takes_value(self, option: &str) -> bool {
        match self {
            Language::Pattern => matches!(option, "-A" | "-B" | "-C" | "-m" | "-t" | "-T" | "--type" | "--max-count"),
            Language::Awk => matches!(option, "-F" | "-v"),
            Language::Sed | Language::Query => false,
        }
    }

    /// True if an option changes the file in place, or only reports whether and how often something occurs.
    fn tells_no_text(self, option: &str) -> bool {
        let (letters, words): (&[char], &[&str]) = match self {
            Language::Pattern => {
                let words =
                    &["--quiet", "--silent", "--count", "--files-with-matches", "--files-without-match", "--files"];
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

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# API_KEY goes here\nAPI_KEY=sk-1\nPORT=80\nEMPTY_KEY=\nDB_HOST=db\n";

    #[test]
    fn a_search_shows_the_lines_that_it_matches() {
        let shows = |pattern: &str| shows(pattern, TEXT, true);
        for pattern in ["API_KEY", "api", "sk-", "^[A-Z_]*=", "=", ".", "PORT|KEY", "(?<=x)key"] {
            assert!(shows(pattern), "{pattern}");
        }
        for pattern in ["TODO", "PORT", "^DB_", "EMPTY", "goes here", "\\bAPI\\b", "process.env"] {
            assert!(!shows(pattern), "{pattern}");
        }
        assert!(super::shows("MII", "-----BEGIN\nMIIE\n", false));
    }

    #[test]
    fn a_pattern_shows_what_is_asked_for_even_without_the_file() {
        for pattern in ["^PORT=", "NODE_ENV", "^(DB_HOST|DB_PORT)", "(^#|^$|^INFRA_MODE)", "LOG_LEVEL=.*"] {
            assert!(asks_for_plain(pattern), "{pattern}");
        }
        for pattern in ["KEY", "", "HOST", ".", "DATABASE_URL", "PORT\\|KEY", "^[A-Z]"] {
            assert!(!asks_for_plain(pattern), "{pattern}");
        }
    }
}
