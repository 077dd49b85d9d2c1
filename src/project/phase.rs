//! Phase identifiers: how people write them, how folder names contain them, how they compare.
//!
//! `1`, `01`, `2.1`, `12A`, `12A.1`, `2-01` and `PROJ-42` are all identifiers. An identifier is kept as text; this file
//! only handles its normal form and its order, not the places of phases.

use std::cmp::Ordering;
use std::hash::{DefaultHasher, Hasher};

use crate::text::{slug, slug_within};

/// A phase identifier in normal form: integers padded to two digits, a project-code prefix dropped.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PhaseId {
    text: String,
}

impl PhaseId {
    /// The normal form of a typed identifier. A text that is not an identifier is kept unchanged and matches only
    /// itself.
    pub(crate) fn new(typed: &str) -> Self {
        Self { text: normalise(typed.trim()) }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether two spellings name the same phase: `2`, `02`; `12a`, `12A`.
    pub(crate) fn matches(&self, other: &str) -> bool {
        let other = other.trim();
        // The normal form keeps the integer. Most pairs differ in it, and large projects compare very many pairs.
        if let (Some(own), Some(others)) = (self.integer(), leading_integer(without_code(other)))
            && own != others
        {
            return false;
        }
        self.text.eq_ignore_ascii_case(&normalise(other))
    }

    /// The leading integer, if the identifier starts with one.
    pub(crate) fn integer(&self) -> Option<u64> {
        leading_integer(&self.text)
    }

    /// Phases numbered 0 and 999 are shelves, not work: they are excluded from counts, progress and the next step.
    pub(crate) fn is_sentinel(&self) -> bool {
        matches!(self.integer(), Some(0 | 999))
    }

    /// Whether `typed` is a shelf, see [`Self::is_sentinel`]; skips the normal form if the number rules it out.
    pub(crate) fn names_sentinel(typed: &str) -> bool {
        matches!(leading_integer(without_code(typed.trim())), Some(0 | 999)) && Self::new(typed).is_sentinel()
    }

    /// Whether the identifier has a decimal part: an insertion between two phases.
    pub(crate) fn is_decimal(&self) -> bool {
        self.text.contains('.')
    }
}

impl std::fmt::Display for PhaseId {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.text)
    }
}

/// An index of phases by position in a list, so that a large project is not searched for each of its phases.
#[derive(Clone, Debug, Default)]
pub(crate) struct PhaseIndex {
    spelled: Places,
    normal: Places,
}

impl PhaseIndex {
    /// Builds the index of these identifiers and their positions; if several name one phase, the first counts.
    pub(crate) fn new<'text>(ids: impl IntoIterator<Item = (usize, &'text str)>) -> Self {
        let mut index = Self::default();
        for (position, id) in ids {
            index.spelled.add(&spelling_key(id), position);
            index.normal.add(&normal_key(id), position);
        }
        index.spelled.sort();
        index.normal.sort();
        index
    }

    /// The first identifier with the same normal form as `typed`.
    pub(crate) fn find(&self, typed: &str) -> Option<usize> {
        self.find_all(typed).next()
    }

    /// All identifiers with the same normal form as `typed`, in the order of the list.
    pub(crate) fn find_all(&self, typed: &str) -> impl Iterator<Item = usize> {
        self.normal.of(typed, normal_key)
    }

    /// The first identifier spelled like `typed`, ignoring case.
    pub(crate) fn find_spelling(&self, typed: &str) -> Option<usize> {
        self.spelled.of(typed, spelling_key).next()
    }

    /// As [`Self::find`], but an identifier spelled like `typed` takes precedence.
    pub(crate) fn find_spelled(&self, typed: &str) -> Option<usize> {
        self.find_spelling(typed).or_else(|| self.find(typed))
    }
}

/// Positions by key. All keys are in one text: separate texts would take several times the space.
#[derive(Clone, Debug, Default)]
struct Places {
    keys: String,
    /// Sorted by the hash of the key, then in the order of the list.
    sorted: Vec<IndexSlot>,
    /// The hashes are split into as many equal ranges as there are places: the index of the first place in each range.
    starts: Vec<usize>,
}

#[derive(Clone, Debug)]
struct IndexSlot {
    hash: u64,
    start: usize,
    end: usize,
    position: usize,
}

impl Places {
    fn add(&mut self, key: &str, position: usize) {
        let start = self.keys.len();
        self.keys.push_str(key);
        self.sorted.push(IndexSlot { hash: hash(key), start, end: self.keys.len(), position });
    }

    fn sort(&mut self) {
        self.sorted.sort_by_key(|place| place.hash);
        let count = self.sorted.len();
        for (at, place) in self.sorted.iter().enumerate() {
            self.starts.resize(self.starts.len().max(range_of(place.hash, count) + 1), at);
        }
        self.starts.resize(count, count);
    }

    /// The positions whose key is that of `typed`.
    fn of(&self, typed: &str, key: fn(&str) -> String) -> impl Iterator<Item = usize> {
        // Many lists are empty, and building a key takes longer than this check.
        let key = if self.sorted.is_empty() { String::new() } else { key(typed) };
        let hash = hash(&key);
        let first = self.starts.get(range_of(hash, self.sorted.len())).map_or(0, |first| *first);
        let below = self.sorted[first..].iter().skip_while(move |place| place.hash < hash);
        let same = below.take_while(move |place| place.hash == hash);
        same.filter(move |place| self.keys[place.start..place.end] == key).map(|place| place.position)
    }
}

/// Which of `count` equal ranges contains this hash.
fn range_of(hash: u64, count: usize) -> usize {
    let range = (u128::from(hash) * count as u128) >> u64::BITS;
    usize::try_from(range).unwrap_or_default()
}

fn hash(key: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(key.as_bytes());
    hasher.finish()
}

fn spelling_key(id: &str) -> String {
    id.trim().to_ascii_lowercase()
}

/// The normal form, ignoring case.
pub(crate) fn normal_key(id: &str) -> String {
    let mut key = normalise(id.trim());
    key.make_ascii_lowercase();
    key
}

/// The words for a phase in the name of its folder; `phase` if its name has no letter or digit.
pub(crate) fn folder_slug(name: &str) -> String {
    or_phase(slug(name))
}

/// As [`folder_slug`], without a length limit.
pub(crate) fn whole_slug(name: &str) -> String {
    or_phase(slug_within(name, usize::MAX))
}

fn or_phase(slug: String) -> String {
    if slug.is_empty() { "phase".to_owned() } else { slug }
}

/// `PROJ-42` without its upper-case code if a digit follows; otherwise the text itself.
pub(crate) fn without_code(text: &str) -> &str {
    let Some(dash) = text.find('-') else { return text };
    let code = &text[..dash];
    let is_code = code.starts_with(|first: char| first.is_ascii_uppercase())
        && code.chars().all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_');
    let rest = &text[dash + 1..];
    if is_code && rest.starts_with(|first: char| first.is_ascii_digit()) { rest } else { text }
}

fn normalise(typed: &str) -> String {
    let bare = without_code(typed);
    let Some((numbers, tail)) = segments(bare) else { return typed.to_owned() };
    let mut normal = String::with_capacity(bare.len() + 2);
    for number in numbers.split('-') {
        if !normal.is_empty() {
            normal.push('-');
        }
        let number = number.trim_start_matches('0');
        normal.extend(std::iter::repeat_n('0', 2_usize.saturating_sub(number.len())));
        normal.push_str(number);
    }
    normal.push_str(tail);
    normal
}

/// An integer padded to two digits, without needless zeros.
pub(crate) fn pad(number: &str) -> String {
    let bare = number.trim_start_matches('0');
    format!("{:0>2}", if bare.is_empty() { "0" } else { bare })
}

/// The integers separated by dashes, and the rest (`A`, `.1`, `A.1`), if the whole text is an identifier.
fn segments(text: &str) -> Option<(&str, &str)> {
    let mut rest = text;
    loop {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            return None;
        }
        rest = &rest[digits..];
        match rest.strip_prefix('-') {
            Some(after) => rest = after,
            None => break,
        }
    }
    let after_letter = rest.strip_prefix(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(rest);
    let decimals_fit = after_letter.is_empty()
        || after_letter.strip_prefix('.').is_some_and(|decimals| {
            decimals.split('.').all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
        });
    decimals_fit.then(|| (&text[..text.len() - rest.len()], rest))
}

/// A number in the usual form, without padding zeros: `2.1` for `02.1`.
pub(crate) fn short(number: &str) -> &str {
    let mut bare = number;
    while let Some(rest) = bare.strip_prefix('0').filter(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
    {
        bare = rest;
    }
    bare
}

/// The integer at the start of `text`.
pub(crate) fn leading_integer(text: &str) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    text[..digits].parse().ok()
}

/// The order of phases: by integer, then letter (none first), then decimals (none first); identifiers with dashes
/// segment by segment.
pub(crate) fn compare(left: &str, right: &str) -> Ordering {
    let (left_bare, right_bare) = (without_code(left), without_code(right));
    let (Some((left_numbers, left_tail)), Some((right_numbers, right_tail))) =
        (segments(left_bare), segments(right_bare))
    else {
        return match (leading_integer(left_bare), leading_integer(right_bare)) {
            (Some(a), Some(b)) if a != b => a.cmp(&b),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            _ => left.cmp(right),
        };
    };
    integers(left_numbers, '-')
        .cmp(integers(right_numbers, '-'))
        .then_with(|| letter_of(left_tail).cmp(&letter_of(right_tail)))
        .then_with(|| decimals_of(left_tail).cmp(decimals_of(right_tail)))
}

fn letter_of(tail: &str) -> Option<char> {
    tail.chars().next().filter(char::is_ascii_alphabetic).map(|letter| letter.to_ascii_uppercase())
}

fn decimals_of(tail: &str) -> impl Iterator<Item = u64> {
    integers(tail.trim_start_matches(|letter: char| letter.is_ascii_alphabetic()), '.')
}

fn integers(text: &str, mark: char) -> impl Iterator<Item = u64> {
    text.split(mark).filter(|part| !part.is_empty()).map(|part| part.parse().unwrap_or(u64::MAX))
}

/// The identifier a folder name starts with (`02-01-prefixed` → `02-01`, `ACME-01-name` → `ACME-01`), if it has one.
pub(crate) fn folder_token(name: &str) -> Option<&str> {
    let bare = without_code(name);
    let code_length = name.len() - bare.len();
    let mut length = 0;
    for (index, part) in bare.split('-').enumerate() {
        let belongs = if index == 0 { starts_a_token(part) } else { part.len() >= 2 && is_continuation(part) };
        if !belongs {
            break;
        }
        length += part.len() + usize::from(index > 0);
    }
    (length > 0).then(|| &name[..code_length + length])
}

fn starts_a_token(part: &str) -> bool {
    let letters = part.bytes().take_while(u8::is_ascii_alphabetic).count();
    letters <= 3 && part.as_bytes().get(letters).is_some_and(u8::is_ascii_digit)
}

/// Exactly two digits, not followed by a digit, a lower-case word or a letter of another script.
fn is_continuation(part: &str) -> bool {
    let bytes = part.as_bytes();
    bytes[..2].iter().all(u8::is_ascii_digit)
        && bytes.get(2).is_none_or(|byte| byte.is_ascii() && !byte.is_ascii_digit() && !byte.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_zeros_are_left_out() {
        let cases = [
            ("01", "1"),
            ("02.1", "2.1"),
            ("0", "0"),
            ("00", "0"),
            ("00.1", "0.1"),
            ("10", "10"),
            ("PROJ-042", "PROJ-042"),
            ("", ""),
        ];
        for (number, shown) in cases {
            assert_eq!(short(number), shown);
        }
    }

    #[test]
    fn identifiers_have_one_normal_form() {
        for (typed, normal) in [
            ("1", "01"),
            ("01", "01"),
            ("2.1", "02.1"),
            ("12a", "12a"),
            ("12A.1", "12A.1"),
            ("2-1", "02-01"),
            ("PROJ-42", "42"),
            ("ACME-01", "01"),
            ("0", "00"),
            ("999.1", "999.1"),
            ("nope", "nope"),
            ("", ""),
            ("1.", "1."),
            ("003", "03"),
        ] {
            assert_eq!(PhaseId::new(typed).as_str(), normal, "{typed}");
        }
    }

    #[test]
    fn folder_names_contain_their_identifier() {
        for (name, token) in [
            ("01-foundation", Some("01")),
            ("02-01-prefixed", Some("02-01")),
            ("PROJ-42-custom", Some("PROJ-42")),
            ("ACME-01-foundation", Some("ACME-01")),
            ("12A.1-sub", Some("12A.1")),
            ("999.1-dark-mode", Some("999.1")),
            ("03-2024-report", Some("03")),
            ("notes", None),
            ("03", Some("03")),
            ("05-3d-view", Some("05")),
            ("05-12月-报告", Some("05")),
            ("05-检索", Some("05")),
        ] {
            assert_eq!(folder_token(name), token, "{name}");
        }
    }

    #[test]
    fn phases_sort_by_number_letter_and_decimals() {
        let mut phases = ["10", "2.1", "12A.1", "2", "12A", "2-01", "1", "12", "2.10", "2.2"];
        phases.sort_by(|left, right| compare(left, right));
        assert_eq!(phases, ["1", "2", "2.1", "2.2", "2.10", "2-01", "10", "12", "12A", "12A.1"]);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_accepted_and_normal_forms_are_stable(text in "\\PC{0,12}") {
            let id = PhaseId::new(&text);
            proptest::prop_assert!(id.matches(id.as_str()) || without_code(id.as_str()) != id.as_str());
            let _ = folder_token(&text);
            for other in ["1", "01", "PROJ-1", "2-1", "12a"] {
                proptest::prop_assert_eq!(id.matches(other), id.as_str().eq_ignore_ascii_case(&normalise(other)));
                let other = PhaseId::new(other);
                proptest::prop_assert_eq!(other.matches(&text), other.as_str().eq_ignore_ascii_case(id.as_str()));
            }
            proptest::prop_assert_eq!(compare(&text, &text), Ordering::Equal);
            for typed in [text.clone(), format!("999{text}"), format!("P-0{text}")] {
                proptest::prop_assert_eq!(PhaseId::names_sentinel(&typed), PhaseId::new(&typed).is_sentinel());
                proptest::prop_assert_eq!(normal_key(&typed), PhaseId::new(&typed).as_str().to_ascii_lowercase());
                let index = PhaseIndex::new([(0, "7"), (1, typed.as_str()), (2, "07"), (3, typed.as_str())]);
                let found: Vec<usize> = index.find_all(&typed).filter(|at| at % 2 == 1).collect();
                proptest::prop_assert_eq!(found, [1, 3]);
                proptest::prop_assert_eq!(index.find_spelling("7"), Some(0));
            }
        }
    }
}
