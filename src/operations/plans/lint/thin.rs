//! Rules for wording that asks for less than was decided.

use super::sentences::Sentence;
use crate::operations::plans::found::Weight;
use crate::text::words::word_list;

/// A rule for such wording: its name, its weight, and where it matches a sentence.
pub(super) struct Thin {
    pub(super) weight: Weight,
    pub(super) find: fn(&Sentence<'_>) -> Option<usize>,
}

impl Thin {
    pub(super) fn hit<'a>(&self, sentence: &'a Sentence<'_>) -> Option<(Weight, &'a str, usize)> {
        let index = (self.find)(sentence)?;
        let word = sentence.words.get(index)?;
        Some((self.weight, &word.text, word.at))
    }
}

/// Words that mark what follows as unwanted, or as something to remove.
fn is_against(word: &str) -> bool {
    const AGAINST: &[&str] = word_list!(
        "no not never none nothing nor neither without avoid avoids cannot don't doesn't isn't aren't won't must-not
         zero instead rather unlike beyond current currently existing previous previously former formerly old was were
         today today's forbid forbids reject rejects fail fails detect detects"
    );
    const TAKEN: &[&str] = &[
        "refus", "rewrit", "replac", "remov", "delet", "drop", "swap", "eliminat", "strip", "overwrit", "convert",
        "fill",
    ];
    AGAINST.contains(&word) || TAKEN.iter().any(|start| word.starts_with(start))
}

/// The number of words before a word that are examined.
const NEAR: usize = 7;

pub(super) fn is_spared(sentence: &Sentence<'_>, index: usize) -> bool {
    sentence.has_before(index, NEAR, is_against)
}
