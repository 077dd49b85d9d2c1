//! Suggests what a person may have meant by an unknown word.

/// How similar two words must be before one is suggested for the other.
const ALIKE: f64 = 0.6;

/// The candidate most similar to `word`, if it is similar enough.
pub(crate) fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .map(|candidate| (strsim::normalized_damerau_levenshtein(word, candidate), candidate))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_is_recognised_and_another_word_is_not() {
        let words = || ["install", "uninstall", "status"].into_iter();
        assert_eq!(nearest("instal", words()), Some("install"));
        assert_eq!(nearest("satus", words()), Some("status"));
        assert_eq!(nearest("roadmap", words()), None);
    }
}
