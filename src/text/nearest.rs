//! What somebody may have meant who typed a word that is not known.

/// How alike two words must be before one is suggested for the other.
const ALIKE: f64 = 0.6;

/// The candidate most like `word`, if one is like enough.
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
    fn a_slip_is_seen_and_another_word_is_not() {
        let words = || ["install", "uninstall", "status"].into_iter();
        assert_eq!(nearest("instal", words()), Some("install"));
        assert_eq!(nearest("satus", words()), Some("status"));
        assert_eq!(nearest("roadmap", words()), None);
    }
}
