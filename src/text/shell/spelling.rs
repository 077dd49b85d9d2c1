//! A word as the shell would expand it, to the extent that it is known: pattern marks are distinguished from the same
//! letters in quotes, and unknown parts are a letter that no name contains.

/// Means an unknown part.
pub(crate) const UNKNOWN: char = '\u{fffc}';

/// In a spelling: the value of a variable that the script does not set.
const UNSET: char = '\u{fffb}';

/// In a spelling: the first of the letters for the result of a substitution or a `read`, by number.
const FIRST_RESULT: u32 = 0xf0000;

/// The first of the letters for a file through which a shell passes on the output of commands.
const FIRST_PROCESS: u32 = 0x10_0000;

/// How many of them are distinguished.
const RESULTS: u32 = 0xfff0;

/// Ends the pattern for everything below a folder.
const BELOW: &str = "/**";

/// Marks with a special meaning if they are not quoted.
const MARKS: &[char] = &['*', '?', '[', ']', '{', '}', ',', '\\'];

/// The letters at which a shell splits a value.
const BLANKS: &[char] = &[' ', '\t', '\n'];

/// How many names a word may expand to, and how many braces are read for them.
const MOST: usize = 64;

/// A word with a `\` before each quoted mark, and before each blank at which the word is not split.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Spelling(String);

impl Spelling {
    /// Literal text, without marks.
    pub(crate) fn quoted(text: &str) -> Self {
        let mut spelling = Self::default();
        spelling.push(text, true);
        spelling
    }

    /// Text with marks that have their special meaning.
    pub(crate) fn pattern(text: &str) -> Self {
        let mut spelling = Self::default();
        spelling.push(text, false);
        spelling
    }

    /// Several words with marks that have their special meaning.
    pub(super) fn words(text: &str) -> Self {
        let mut spelling = Self::default();
        spelling.append(&Self::pattern(text), false);
        spelling
    }

    pub(super) fn unknown() -> Self {
        Self(UNKNOWN.into())
    }

    pub(super) fn unset() -> Self {
        Self(UNSET.into())
    }

    /// The result of the substitution or the `read` with this number.
    pub(super) fn result(number: u32) -> Self {
        Self(char::from_u32(FIRST_RESULT + number % RESULTS).unwrap_or(UNKNOWN).into())
    }

    /// Every file below the folder with this name.
    pub(super) fn everything_below(mut self) -> Self {
        self.0.push_str(BELOW);
        self
    }

    /// The folder, if the word means every file below it.
    pub(crate) fn folder_of_all(&self) -> Option<String> {
        let folder = self.0.strip_suffix(BELOW)?;
        Some(letters(folder).map(|(letter, _)| letter).collect())
    }

    /// The file that passes on the output of the commands with this number.
    pub(super) fn process(number: u32) -> Self {
        Self(char::from_u32(FIRST_PROCESS + number % RESULTS).unwrap_or(UNKNOWN).into())
    }

    /// True if the word is the name of such a file.
    pub(crate) fn is_process(&self) -> bool {
        self.0.chars().any(|letter| u32::from(letter) >= FIRST_PROCESS && result_of(letter).is_some())
    }

    /// The numbers of the substitutions and of the `read`s whose results are in the word.
    pub(crate) fn results(&self) -> impl Iterator<Item = u32> {
        self.0.chars().filter_map(result_of)
    }

    pub(super) fn push(&mut self, text: &str, quoted: bool) {
        for letter in text.chars() {
            if letter == '\\' || BLANKS.contains(&letter) || quoted && MARKS.contains(&letter) {
                self.0.push('\\');
            }
            self.0.push(letter);
        }
    }

    /// Appends a value to the word. Without quotes it is split, and a pattern in it means files.
    pub(super) fn append(&mut self, value: &Spelling, quoted: bool) {
        for (letter, was_quoted) in letters(&value.0) {
            let means_nothing = match letter {
                '\\' => true,
                '{' | '}' | ',' => was_quoted,
                blank if BLANKS.contains(&blank) => quoted,
                _ => quoted && was_quoted,
            };
            if means_nothing {
                self.0.push('\\');
            }
            self.0.push(letter);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The letters of the word.
    pub(crate) fn text(&self) -> String {
        letters(&self.0).map(|(letter, _)| if is_unknown(letter) { UNKNOWN } else { letter }).collect()
    }

    /// True if the whole word is known.
    pub(crate) fn is_known(&self) -> bool {
        !self.0.contains(is_unknown)
    }

    /// True if it contains the value of a variable that the script does not set.
    pub(crate) fn has_unset(&self) -> bool {
        self.0.contains(UNSET)
    }

    /// The words into which the shell splits it at blanks; the word itself, if it has no blanks.
    pub(super) fn fields(&self) -> Vec<Spelling> {
        let mut fields = vec![String::new()];
        let mut splits = false;
        for (letter, quoted) in letters(&self.0) {
            if !quoted && BLANKS.contains(&letter) {
                splits = true;
                fields.push(String::new());
            } else if let Some(field) = fields.last_mut() {
                field.extend(quoted.then_some('\\').into_iter().chain([letter]));
            }
        }
        fields.retain(|field| !splits || !field.is_empty());
        fields.into_iter().map(Self).collect()
    }

    /// For a pattern of a program that finds hidden files too: the patterns that a shell would need for the same files.
    pub(super) fn with_hidden(self) -> Vec<Spelling> {
        let Some(rest) = self.0.strip_prefix('*') else { return vec![self] };
        let mut patterns = vec![Self(format!(".{}", self.0))];
        patterns.extend(rest.starts_with('.').then(|| Self(rest.to_owned())));
        patterns.push(self);
        patterns
    }

    /// The part after the first `mark`, such as the file in `--file=name` and `@name`.
    pub(crate) fn behind(&self, mark: char) -> Option<Spelling> {
        self.0.split_once(mark).map(|(_, behind)| Self(behind.to_owned()))
    }

    pub(crate) fn starts_with(&self, start: &str) -> bool {
        self.0.starts_with(start)
    }

    /// The names from brace expansion: `a.{b,c}` is `a.b` and `a.c`.
    pub(crate) fn names(&self) -> Vec<Spelling> {
        let mut open = vec![self.0.clone()];
        let mut names = Vec::new();
        while let Some(word) = open.pop() {
            match alternatives(&word) {
                Some(words) if open.len() + names.len() + words.len() <= MOST => open.extend(words.into_iter().rev()),
                _ => names.push(Self(word)),
            }
        }
        names
    }

    /// The part after the last `/`, or after the last `\` in a name from another system.
    pub(crate) fn file_name(&self) -> Spelling {
        let (mut start, mut quoted) = (0, false);
        for (at, letter) in self.0.char_indices() {
            if letter == '/' || letter == '\\' && quoted {
                start = at + 1;
            }
            quoted = letter == '\\' && !quoted;
        }
        Self(self.0[start..].to_owned())
    }

    /// True if the word has marks that match other letters.
    pub(crate) fn has_wildcards(&self) -> bool {
        letters(&self.0).any(|(letter, quoted)| !quoted && matches!(letter, '*' | '?' | '['))
    }

    /// True if the word, as a pattern of a file name, matches `name`, ignoring case.
    pub(crate) fn fits(&self, name: &str) -> bool {
        let pattern: Vec<(char, bool)> = letters(&self.0).collect();
        let name: Vec<char> = name.chars().collect();
        // The last `*` seen, and how much of the name it matches.
        let (mut at, mut in_name, mut star) = (0, 0, None);
        while in_name < name.len() {
            match one(&pattern[at.min(pattern.len())..], name[in_name]) {
                Some(Fit::Star) => {
                    star = Some((at + 1, in_name));
                    at += 1;
                }
                Some(Fit::Letter(length)) => {
                    at += length;
                    in_name += 1;
                }
                None => {
                    let Some((behind, taken)) = star else { return false };
                    star = Some((behind, taken + 1));
                    at = behind;
                    in_name = taken + 1;
                }
            }
        }
        pattern[at.min(pattern.len())..].iter().all(|mark| *mark == ('*', false))
    }
}

fn result_of(letter: char) -> Option<u32> {
    let of = |first: u32| u32::from(letter).checked_sub(first).filter(|number| *number < RESULTS);
    of(FIRST_RESULT).or_else(|| of(FIRST_PROCESS))
}

fn is_unknown(letter: char) -> bool {
    matches!(letter, UNKNOWN | UNSET) || result_of(letter).is_some()
}

enum Fit {
    Star,
    /// This many letters of the pattern match one letter of the name.
    Letter(usize),
}

fn one(pattern: &[(char, bool)], letter: char) -> Option<Fit> {
    let same = |left: char, right: char| left.eq_ignore_ascii_case(&right);
    match *pattern.first()? {
        ('*', false) => Some(Fit::Star),
        ('?', false) => Some(Fit::Letter(1)),
        ('[', false) => {
            let end = pattern.iter().skip(2).position(|mark| *mark == (']', false)).map(|length| length + 2);
            let Some(end) = end else { return same('[', letter).then_some(Fit::Letter(1)) };
            let set: Vec<char> = pattern[1..end].iter().map(|(letter, _)| *letter).collect();
            let (set, inverted) = match set.split_first() {
                Some(('!' | '^', rest)) => (rest, true),
                _ => (set.as_slice(), false),
            };
            let range = |window: &[char]| window[1] == '-' && (window[0]..=window[2]).contains(&letter);
            let inside = set.iter().any(|listed| same(*listed, letter)) || set.windows(3).any(range);
            (inside != inverted).then_some(Fit::Letter(end + 1))
        }
        (listed, _) => same(listed, letter).then_some(Fit::Letter(1)),
    }
}

/// The letters of a spelling, and whether each was quoted.
fn letters(text: &str) -> impl Iterator<Item = (char, bool)> {
    let mut letters = text.chars();
    std::iter::from_fn(move || match letters.next()? {
        '\\' => letters.next().map(|letter| (letter, true)),
        letter => Some((letter, false)),
    })
}

/// The words from the first braces in `word` that contain a list.
fn alternatives(word: &str) -> Option<Vec<String>> {
    let marks: Vec<(usize, char)> = {
        let mut quoted = false;
        let plain = |(at, letter): (usize, char)| {
            let mark = !quoted && matches!(letter, '{' | '}' | ',');
            quoted = letter == '\\' && !quoted;
            mark.then_some((at, letter))
        };
        word.char_indices().filter_map(plain).take(16 * MOST).collect()
    };
    for (index, (start, _)) in marks.iter().enumerate().filter(|(_, (_, mark))| *mark == '{').take(MOST) {
        let (mut open, mut commas) = (0_usize, vec![*start]);
        for (at, mark) in &marks[index..] {
            match mark {
                '{' => open += 1,
                ',' if open == 1 => commas.push(*at),
                '}' => open -= 1,
                _ => {}
            }
            if open > 0 {
                continue;
            }
            if commas.len() < 2 {
                break;
            }
            commas.push(*at);
            let pieces = commas.windows(2).map(|pair| &word[pair[0] + 1..pair[1]]);
            return Some(pieces.map(|piece| format!("{}{piece}{}", &word[..*start], &word[at + 1..])).collect());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_a_shell() {
        let fits = |pattern: &str, name: &str| Spelling::pattern(pattern).fits(name);
        for pattern in [".env", ".e*", ".en?", "*env", ".[d-f]nv", ".[!x]nv", ".ENV", "*", ".e*v*", ".env*"] {
            assert!(fits(pattern, ".env"), "{pattern}");
        }
        for pattern in ["", "env", ".e", ".en??", ".[a-c]nv", ".env.*", "x*", ".env[", "[.env"] {
            assert!(!fits(pattern, ".env"), "{pattern}");
        }
        assert!(!Spelling::quoted(".e*").fits(".env"));
        assert!(Spelling::quoted(".e*").fits(".e*"));
    }

    #[test]
    fn braces_expand_to_names() {
        let names = |text: &str| Spelling::pattern(text).names().iter().map(Spelling::text).collect::<Vec<_>>();
        assert_eq!(names(".{env,x{1,2}}"), [".env", ".x1", ".x2"]);
        assert_eq!(names("a{b}c{d,e"), ["a{b}c{d,e"]);
        assert_eq!(names("{,a}{,b}"), ["", "b", "a", "ab"]);
        assert_eq!(Spelling::quoted("{a,b}").names().len(), 1);
        assert_eq!(names(&format!("{}{{a,b}}", "{".repeat(MOST - 1))).len(), 2);
        assert_eq!(names(&format!("{}{{a,b}}", "{".repeat(100_000))).len(), 1);
        assert!(names(&"{a,b}".repeat(40)).len() <= MOST);
    }

    #[test]
    fn a_file_name_is_the_last_part() {
        let name = |text: &str| Spelling::quoted(text).file_name().text();
        assert_eq!([name("a/b/.env"), name(r"C:\a\.env"), name(".env"), name("a/")], [".env", ".env", ".env", ""]);
        assert_eq!([name("a b"), name(r"a\ b")], ["a b", " b"]);
    }

    #[test]
    fn values_are_split_only_without_quotes() {
        let fields = |quoted| {
            let mut word = Spelling::quoted("x ");
            word.append(&Spelling::quoted("a b*"), quoted);
            word.fields().iter().map(Spelling::text).collect::<Vec<_>>()
        };
        assert_eq!((fields(true), fields(false)), (vec!["x a b*".to_owned()], vec!["x a".into(), "b*".into()]));
        assert_eq!(Spelling::words(" .env* ").fields(), [Spelling::pattern(".env*")]);
        assert_eq!(Spelling::words(" ").fields(), []);
        assert_eq!(Spelling::default().fields(), [Spelling::default()]);
    }
}
