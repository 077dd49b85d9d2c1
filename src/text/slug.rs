//! Text as a name for files and branches: lower case, digits and single hyphens.

/// Longest slug, in characters.
const LONGEST: usize = 60;

/// The slug of `text`: Cyrillic letters are transliterated, every other run of characters outside `a-z0-9` becomes one
/// hyphen, at most 60 characters, no hyphen at either end. Empty where nothing of the text can be kept.
pub(crate) fn slug(text: &str) -> String {
    slug_within(text, LONGEST)
}

/// As [`slug`], with at most `longest` characters.
pub(crate) fn slug_within(text: &str, longest: usize) -> String {
    let mut slug = String::new();
    for letter in text.chars().flat_map(char::to_lowercase) {
        if letter.is_ascii_alphanumeric() {
            slug.push(letter);
        } else if let Some(latin) = latin(letter) {
            slug.push_str(latin);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.truncate(longest);
    slug.truncate(slug.trim_end_matches('-').len());
    slug
}

fn latin(letter: char) -> Option<&'static str> {
    let at = CYRILLIC.binary_search_by_key(&letter, |(cyrillic, _)| *cyrillic).ok()?;
    Some(CYRILLIC[at].1)
}

/// Cyrillic letters and what they become, sorted by letter.
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
            ("日本語", ""),
            ("Café au lait", "caf-au-lait"),
            ("Поиск заметок", "poisk-zametok"),
            ("объём", "obyom"),
            ("", ""),
            ("---", ""),
        ] {
            assert_eq!(slug(text), expected, "{text:?}");
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
    }
}
