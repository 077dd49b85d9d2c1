//! A word as the shell would spell it out, as far as that is known: marks that stand for other names are kept apart from
//! the same letters in quotes, and what only the shell knows is one letter that no name has.

/// Stands for what is not known.
pub(crate) const UNKNOWN: char = '\u{fffc}';

/// In a spelling: stands for the value of a variable that the script does not set.
const UNSET: char = '\u{fffb}';

/// In a spelling: the first of the letters that stand for what a substitution printed or a `read` has read, by number.
const FIRST_RESULT: u32 = 0xf0000;

/// The first of those that stand for the name of a file through which a shell hands on what commands print.
const FIRST_PROCESS: u32 = 0x10_0000;

/// How many of them are told apart.
const RESULTS: u32 = 0xfff0;

/// Ends the pattern of everything below a folder.
const BELOW: &str = "/**";

/// Marks that mean more than themselves where they are not quoted.
const MARKS: &[char] = &['*', '?', '[', ']', '{', '}', ',', '\\'];

/// The letters at which a shell splits a value.
const BLANKS: &[char] = &[' ', '\t', '\n'];

/// How many names one word may become, and how many braces are looked at for them.
const MOST: usize = 64;

/// A word in which a quoted mark has a `\` before it, and so has a blank at which the word is not split.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Spelling(String);

impl Spelling {
    /// Text as it stands, without marks.
    pub(crate) fn quoted(text: &str) -> Self {
        let mut spelling = Self::default();
        spelling.push(text, true);
        spelling
    }

    /// Text whose marks mean something.
    pub(crate) fn pattern(text: &str) -> Self {
        let mut spelling = Self::default();
        spelling.push(text, false);
        spelling
    }

    /// Several words with marks that mean something.
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

    /// Stands for what the substitution or the `read` of this number gives.
    pub(super) fn result(number: u32) -> Self {
        Self(char::from_u32(FIRST_RESULT + number % RESULTS).unwrap_or(UNKNOWN).into())
    }

    /// Every file below the folder of this name.
    pub(super) fn everything_below(mut self) -> Self {
        self.0.push_str(BELOW);
        self
    }

    /// The folder, where the word stands for every file below it.
    pub(crate) fn folder_of_all(&self) -> Option<String> {
        let folder = self.0.strip_suffix(BELOW)?;
        Some(letters(folder).map(|(letter, _)| letter).collect())
    }

    /// Stands for the file through which the commands of this number are heard.
    pub(super) fn process(number: u32) -> Self {
        Self(char::from_u32(FIRST_PROCESS + number % RESULTS).unwrap_or(UNKNOWN).into())
    }

    /// Whether the word is the name of such a file.
    pub(crate) fn is_process(&self) -> bool {
        self.0.chars().any(|letter| u32::from(letter) >= FIRST_PROCESS && result_of(letter).is_some())
    }

    /// The numbers of the substitutions and of the `read`s that the word holds something of.
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

    /// Puts a value behind the word. Without quotes it is split, and a pattern in it means files.
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

    /// Whether all of the word is known.
    pub(crate) fn is_known(&self) -> bool {
        !self.0.contains(is_unknown)
    }

    /// Whether it holds the value of a variable that the script does not set.
    pub(crate) fn has_unset(&self) -> bool {
        self.0.contains(UNSET)
    }

    /// The words that the shell makes of it at its blanks; the word itself, where there are none.
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

    /// For a pattern of a program that finds hidden files too: the patterns that a shell would need for the same.
    pub(super) fn with_hidden(self) -> Vec<Spelling> {
        let Some(rest) = self.0.strip_prefix('*') else { return vec![self] };
        let mut patterns = vec![Self(format!(".{}", self.0))];
        patterns.extend(rest.starts_with('.').then(|| Self(rest.to_owned())));
        patterns.push(self);
        patterns
    }

    /// The parts behind `mark`, such as the file in `--file=name` and `@name`.
    pub(crate) fn behind(&self, mark: char) -> Option<Spelling> {
        self.0.split_once(mark).map(|(_, behind)| Self(behind.to_owned()))
    }

    pub(crate) fn starts_with(&self, start: &str) -> bool {
        self.0.starts_with(start)
    }

    /// The names that braces make of the word: `a.{b,c}` is `a.b` and `a.c`.
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

    /// What stands behind the last `/`, or `\` of a name from another system.
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

    /// Whether the word has marks that stand for other letters.
    pub(crate) fn has_wildcards(&self) -> bool {
        letters(&self.0).any(|(letter, quoted)| !quoted && matches!(letter, '*' | '?' | '['))
    }

    /// Whether the word, taken for the pattern of a file name, fits `name`, in upper or lower case.
    pub(crate) fn fits(&self, name: &str) -> bool {
        let pattern: Vec<(char, bool)> = letters(&self.0).collect();
        let name: Vec<char> = name.chars().collect();
        // The last `*` seen, and how much of the name it stands for.
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
    /// So many letters of the pattern stand for one of the name.
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

/// The words of the first braces in `word` that list something.
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
    fn patterns_fit_as_in_a_shell() {
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
    fn braces_make_names() {
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
    fn a_file_name_is_what_comes_last() {
        let name = |text: &str| Spelling::quoted(text).file_name().text();
        assert_eq!([name("a/b/.env"), name(r"C:\a\.env"), name(".env"), name("a/")], [".env", ".env", ".env", ""]);
        assert_eq!([name("a b"), name(r"a\ b")], ["a b", " b"]);
    }

    #[test]
    fn values_are_split_without_quotes_alone() {
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
