//! Text as a name for files and branches: lower case, digits and single hyphens; and names as people write them.

use std::borrow::Cow;

use unicode_normalization::char::is_combining_mark;
use unicode_normalization::{UnicodeNormalization, is_nfc};

use crate::failure::Explain;

/// The longest slug, in characters.
const LONGEST: usize = 60;
/// The longest slug, in bytes: file systems allow 255 for a name, and a number and an extension must fit too.
const MOST_BYTES: usize = 180;
/// The longest name that a person gives to something, in characters.
const LONGEST_NAME: usize = 500;

/// The slug of `text`: Latin letters lose their marks, Cyrillic letters are transliterated, letters and digits of other
/// scripts stay, every other run of characters becomes one hyphen; at most 60 characters, no hyphen at either end.
/// Empty for a text without letters and digits.
pub(crate) fn slug(text: &str) -> String {
    slug_within(text, LONGEST)
}

/// Like [`slug`], with at most `longest` characters.
pub(crate) fn slug_within(text: &str, longest: usize) -> String {
    let mut slug = String::new();
    // Whether the last kept letter accepts marks that follow it.
    let mut keeps_marks = false;
    let letters = text.nfc().flat_map(char::to_lowercase);
    for letter in letters {
        if letter.is_ascii_alphanumeric() {
            slug.push(letter);
            keeps_marks = false;
        } else if let Some(latin) = latin(letter) {
            slug.push_str(latin);
            keeps_marks = false;
        } else if let Some(bare) = without_marks(letter) {
            slug.push_str(&bare);
            keeps_marks = false;
        } else if is_combining_mark(letter) {
            if keeps_marks {
                slug.push(letter);
            }
        } else if letter.is_alphanumeric() {
            slug.push(letter);
            keeps_marks = true;
        } else if matches!(letter, '\u{200c}' | '\u{200d}') {
            // They control how letters join, and do not separate words.
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
            keeps_marks = false;
        }
    }
    let mut slug: String = slug.nfc().collect();
    let ends = slug.char_indices().map(|(at, letter)| at + letter.len_utf8()).take(longest);
    let end = ends.take_while(|end| *end <= MOST_BYTES || longest == usize::MAX).last();
    slug.truncate(end.unwrap_or(0));
    slug.truncate(slug.trim_end_matches('-').len());
    slug
}

/// Like [`slug`], with only Latin and Cyrillic letters: a text without any has the slug of its ASCII digits.
pub(crate) fn latin_slug(text: &str) -> String {
    let is_known =
        |letter: char| letter.is_ascii_alphabetic() || latin(letter).is_some() || without_marks(letter).is_some();
    let has_letters = text.nfc().flat_map(char::to_lowercase).any(is_known);
    let is_kept = |letter: &char| has_letters || letter.is_ascii();
    let spaced: String = text.chars().map(|letter| if is_kept(&letter) { letter } else { ' ' }).collect();
    slug(&spaced)
}

/// The plain Latin letters for a Latin letter with marks or a ligature.
fn without_marks(letter: char) -> Option<String> {
    if let Ok(at) = LATIN.binary_search_by_key(&letter, |(latin, _)| *latin) {
        return Some(LATIN[at].1.to_owned());
    }
    let mut parts = std::iter::once(letter).nfkd();
    let first = parts.next().filter(char::is_ascii_alphanumeric)?;
    let rest: Vec<char> = parts.filter(|part| !is_combining_mark(*part)).collect();
    let is_latin = letter > '\u{7f}' && rest.iter().all(char::is_ascii_alphanumeric);
    is_latin.then(|| std::iter::once(first).chain(rest).collect::<String>().to_ascii_lowercase())
}

/// True if a character is a mark that belongs to the letter before it.
pub(crate) fn is_mark(letter: char) -> bool {
    is_combining_mark(letter)
}

/// The text in the normal form in which names are compared and written.
pub(crate) fn nfc(text: &str) -> Cow<'_, str> {
    if is_nfc(text) { Cow::Borrowed(text) } else { Cow::Owned(text.nfc().collect()) }
}

/// A text that cannot be a name, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NameError {
    #[error(
        "the name has a line break or another control character (U+{code:04X}) at position {position}; a name is one line of text"
    )]
    Control { code: u32, position: usize },
    #[error("the name has {length} characters; {LONGEST_NAME} are the most")]
    TooLong { length: usize },
}

impl Explain for NameError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Control { .. } => {
                Some("write the name in one line; details belong into the section of the phase".to_owned())
            }
            Self::TooLong { .. } => Some("give a short name; details belong into the section of the phase".to_owned()),
        }
    }
}

/// A name that a person gives to something, in normal form, without white space around it.
pub(crate) fn named(text: &str) -> Result<Cow<'_, str>, NameError> {
    let name = text.trim();
    let is_break = |letter: char| letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}');
    if let Some((at, found)) = name.chars().enumerate().find(|(_, letter)| is_break(*letter)) {
        return Err(NameError::Control { code: u32::from(found), position: at + 1 });
    }
    match name.chars().count() {
        length if length > LONGEST_NAME => Err(NameError::TooLong { length }),
        _ => Ok(nfc(name)),
    }
}

/// Latin letters that are not other letters with marks, and their replacements, sorted by letter.
const LATIN: &[(char, &str)] = &[
    ('ß', "ss"),
    ('æ', "ae"),
    ('ð', "d"),
    ('ø', "o"),
    ('þ', "th"),
    ('đ', "d"),
    ('ħ', "h"),
    ('ı', "i"),
    ('ĸ', "k"),
    ('ł', "l"),
    ('ŋ', "ng"),
    ('œ', "oe"),
    ('ŧ', "t"),
    ('ƒ', "f"),
    ('ơ', "o"),
    ('ư', "u"),
    ('ǝ', "e"),
    ('ɓ', "b"),
    ('ɔ', "o"),
    ('ɖ', "d"),
    ('ɗ', "d"),
    ('ə', "e"),
    ('ɛ', "e"),
    ('ɣ', "g"),
    ('ɨ', "i"),
    ('ɩ', "i"),
    ('ɲ', "n"),
    ('ʉ', "u"),
    ('ʋ', "v"),
    ('ẞ', "ss"),
];

fn latin(letter: char) -> Option<&'static str> {
    let at = CYRILLIC.binary_search_by_key(&letter, |(cyrillic, _)| *cyrillic).ok()?;
    Some(CYRILLIC[at].1)
}

/// Cyrillic letters and their replacements, sorted by letter.
const CYRILLIC: &[(char, &str)] = &[
    ('а', "a"),
    ('б', "b"),
    ('в', "v"),
    ('г', "g"),
    ('д', "d"),
    ('е', "e"),
    ('ж', "zh"),
    ('з', "z"),
    ('и', "i"),
    ('й', "y"),
    ('к', "k"),
    ('л', "l"),
    ('м', "m"),
    ('н', "n"),
    ('о', "o"),
    ('п', "p"),
    ('р', "r"),
    ('с', "s"),
    ('т', "t"),
    ('у', "u"),
    ('ф', "f"),
    ('х', "kh"),
    ('ц', "ts"),
    ('ч', "ch"),
    ('ш', "sh"),
    ('щ', "shch"),
    ('ъ', ""),
    ('ы', "y"),
    ('ь', ""),
    ('э', "e"),
    ('ю', "yu"),
    ('я', "ya"),
    ('ё', "yo"),
    ('є', "ye"),
    ('і', "i"),
    ('ї', "yi"),
    ('ґ', "g"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_keeps_letters_and_digits() {
        for (text, expected) in [
            ("Hello, World! foo_bar", "hello-world-foo-bar"),
            ("  Leading  spaces  ", "leading-spaces"),
            ("日本語", "日本語"),
            ("Café au lait", "cafe-au-lait"),
            ("Поиск заметок", "poisk-zametok"),
            ("объём", "obyom"),
            ("", ""),
            ("---", ""),
        ] {
            assert_eq!(slug(text), expected, "{text:?}");
        }
    }

    #[test]
    fn latin_letters_lose_their_marks_and_letters_of_other_scripts_stay() {
        for (text, expected) in [
            ("Validação de Dados", "validacao-de-dados"),
            ("Żółć w systemie", "zolc-w-systemie"),
            ("Straße Öl Æon", "strasse-ol-aeon"),
            ("Đặng Thùy Trâm", "dang-thuy-tram"),
            ("İstanbul ığüşöç", "istanbul-igusoc"),
            ("Þór ĳ ﬁn", "thor-ij-fin"),
            ("检索优化", "检索优化"),
            ("検索 API v2", "検索-api-v2"),
            ("검색 최적화", "검색-최적화"),
            ("البحث المتقدم", "البحث-المتقدم"),
            ("می‌خواهم", "میخواهم"),
            ("हिन्दी खोज", "हिन्दी-खोज"),
            ("ภาษาไทย", "ภาษาไทย"),
            ("Αναζήτηση", "αναζήτηση"),
            ("חיפוש", "חיפוש"),
            ("🚀 💥", ""),
            ("🚀 launch", "launch"),
            ("１２ ａｂ", "12-ab"),
        ] {
            assert_eq!(slug(text), expected, "{text}");
            let apart: String = text.nfd().collect();
            assert_eq!(slug(&apart), expected, "{text}, with its marks apart");
        }
    }

    #[test]
    fn the_latin_slug_uses_latin_or_cyrillic_letters_or_else_ascii() {
        for (text, expected) in
            [("日本語", ""), ("第3章", "3"), ("Validação", "validacao"), ("Поиск", "poisk"), ("検索 API", "検索-api")]
        {
            assert_eq!(latin_slug(text), expected, "{text}");
        }
    }

    #[test]
    fn a_name_is_one_line_of_text() {
        for bad in ["a\nb", "a\r\n## v9.9 Evil", "a\tb", "a\u{1b}[2J", "a\u{2028}b", "a\0", "\u{85}x\u{85}y"] {
            assert!(matches!(named(bad), Err(NameError::Control { .. })), "{bad:?}");
        }
        assert!(named(&"ж".repeat(LONGEST_NAME)).is_ok());
        assert_eq!(named(&"ж".repeat(LONGEST_NAME + 1)), Err(NameError::TooLong { length: LONGEST_NAME + 1 }));
        assert_eq!(named("  cafe\u{301} \n").unwrap(), "café");
    }

    proptest::proptest! {
        #[test]
        fn a_slug_is_a_valid_folder_name(text in "(\\PC|[a-zÀ-žа-я\u{300}-\u{310}一-十가-깋ا-يक-ह्०-९ -]){0,90}") {
            let made = slug(&text);
            proptest::prop_assert!(made.chars().count() <= LONGEST && made.len() <= MOST_BYTES, "{}", made);
            proptest::prop_assert!(!made.starts_with('-') && !made.ends_with('-') && !made.contains("--"));
            proptest::prop_assert!(made.chars().all(|letter| letter == '-' || letter.is_alphanumeric() || is_combining_mark(letter)));
            proptest::prop_assert_eq!(slug(&made), made.clone());
            let apart: String = text.nfd().collect();
            proptest::prop_assert_eq!(slug(&apart), made);
        }
    }

    #[test]
    fn a_long_slug_does_not_end_in_a_hyphen() {
        assert_eq!(slug(&"a".repeat(99)).len(), LONGEST);
        let text = format!("{} tail", "a".repeat(LONGEST - 1));
        assert_eq!(slug(&text), "a".repeat(LONGEST - 1));
    }

    #[test]
    fn the_table_is_sorted() {
        assert!(CYRILLIC.is_sorted_by_key(|(letter, _)| *letter));
        assert!(LATIN.is_sorted_by_key(|(letter, _)| *letter));
    }
}
