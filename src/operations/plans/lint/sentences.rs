//! Splits a passage of a plan into sentences of words. Code, and texts that the product shows, do not count as words of
//! the plan.

/// A word in lower case, with facts about its surroundings.
#[derive(Debug)]
pub(super) struct SentenceWord {
    /// Its offset in the passage.
    pub(super) at: usize,
    pub(super) text: String,
    /// In capital letters in the plan.
    pub(super) is_loud: bool,
    /// It is a part of a name, a path or a value: `/v1/`, `v1.0`, `placeholder="…"`, `{placeholder}`.
    pub(super) is_part: bool,
    /// A colon or comma follows it.
    pub(super) ends_clause: bool,
}

/// A sentence, or a list item.
#[derive(Debug)]
pub(super) struct Sentence<'text> {
    pub(super) text: &'text str,
    pub(super) words: Vec<SentenceWord>,
}

impl Sentence<'_> {
    /// The indexes of sequences of words that match; the alternatives for each word are separated by `|`.
    pub(super) fn find(&self, pattern: &[&str]) -> Vec<usize> {
        let fits =
            |word: &SentenceWord, wanted: &str| !word.is_part && wanted.split('|').any(|wanted| wanted == word.text);
        let starts = self.words.windows(pattern.len()).enumerate();
        starts
            .filter(|(_, window)| window.iter().zip(pattern).all(|(word, wanted)| fits(word, wanted)))
            .map(|(at, _)| at)
            .collect()
    }

    /// True if a wanted word is at most `far` words before the one at `index`.
    pub(super) fn has_before(&self, index: usize, far: usize, wanted: impl Fn(&str) -> bool) -> bool {
        self.words[index.saturating_sub(far)..index].iter().any(|word| wanted(&word.text))
    }

    /// True if a wanted word is at most `far` words after the one at `index`.
    pub(super) fn has_behind(&self, index: usize, far: usize, wanted: impl Fn(&str) -> bool) -> bool {
        self.words.iter().skip(index + 1).take(far).any(|word| wanted(&word.text))
    }

    pub(super) fn has(&self, wanted: impl Fn(&str) -> bool) -> bool {
        self.words.iter().any(|word| wanted(&word.text))
    }
}

/// Whether quoted texts are shown by the product; in a front matter they are values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quotes {
    Shown,
    Values,
}

/// The sentences of a passage, in order.
pub(super) fn sentences(text: &str, quotes: Quotes) -> Vec<Sentence<'_>> {
    let masked = masked(text, quotes);
    let mut found = Vec::new();
    let mut start = 0;
    for end in ends(&masked).into_iter().chain([masked.len()]) {
        let words = words(&masked, start, end);
        if !words.is_empty() {
            found.push(Sentence { text: text[start..end].trim(), words });
        }
        start = end;
    }
    found
}

/// Replaces letters that do not belong to a sentence.
const HIDDEN: char = '\u{1}';

/// The text with code and quoted texts hidden; offsets stay the same.
fn masked(text: &str, quotes: Quotes) -> String {
    let mut hidden = vec![false; text.len()];
    let mut fence: Option<&str> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let bare = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| bare.starts_with(mark));
        match (fence, mark) {
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, Some(mark)) => fence = Some(mark),
            (None, None) => {
                at += line.len();
                continue;
            }
            _ => {}
        }
        hidden[at..at + line.trim_end().len()].fill(true);
        at += line.len();
    }
    hide_between(text, '`', 400, &mut hidden);
    if quotes == Quotes::Shown {
        hide_between(text, '"', 120, &mut hidden);
        hide_single(text, &mut hidden);
        hide_pairs(text, ('\u{201c}', '\u{201d}'), 120, &mut hidden);
    }
    let mut masked = String::with_capacity(text.len());
    for (at, letter) in text.char_indices() {
        if hidden[at] && letter != '\n' {
            masked.extend(std::iter::repeat_n(HIDDEN, letter.len_utf8()));
        } else {
            masked.push(letter);
        }
    }
    masked
}

/// Hides text between two equal marks in one paragraph, including the marks.
fn hide_between(text: &str, mark: char, longest: usize, hidden: &mut [bool]) {
    let mut open: Option<usize> = None;
    for (at, letter) in text.char_indices().filter(|(_, letter)| *letter == mark || *letter == '\n') {
        let is_far = open.is_some_and(|start| at - start > longest);
        let is_end = letter == '\n' && text[at + 1..].trim_start_matches([' ', '\t', '\r']).starts_with('\n');
        if letter == '\n' {
            open = open.filter(|_| !is_far && !is_end);
        } else if !hidden[at] {
            match open.filter(|_| !is_far) {
                Some(start) => {
                    hidden[start..=at].fill(true);
                    open = None;
                }
                None => open = Some(at),
            }
        }
    }
}

/// Hides text between two different marks.
fn hide_pairs(text: &str, (left, right): (char, char), longest: usize, hidden: &mut [bool]) {
    for (start, _) in text.match_indices(left) {
        if let Some(length) = text[start..].find(right).filter(|length| *length <= longest) {
            hidden[start..start + length + right.len_utf8()].fill(true);
        }
    }
}

/// Hides text in single quotes, which can also be apostrophes.
fn hide_single(text: &str, hidden: &mut [bool]) {
    const LONGEST: usize = 60;
    let mut from = 0;
    for (start, _) in text.match_indices('\'') {
        let opens = start >= from
            && !hidden[start]
            && text[..start].chars().next_back().is_none_or(|before| !before.is_alphanumeric());
        if !opens {
            continue;
        }
        let rest = &text[start + 1..];
        let closes = |at: usize| {
            rest[at + 1..].chars().next().is_none_or(|after| !after.is_alphanumeric()) && !rest[..at].contains('\n')
        };
        if let Some((length, _)) = rest.match_indices('\'').find(|(at, _)| closes(*at)).filter(|(at, _)| *at <= LONGEST)
        {
            hidden[start..=start + 1 + length].fill(true);
            from = start + length + 2;
        }
    }
}

/// The ends of sentences: after a punctuation mark, at an empty line, before a list item, at a tag.
fn ends(text: &str) -> Vec<usize> {
    const SHORT: &[&str] = &["etc", "e.g", "i.e", "vs", "cf", "approx", "incl", "resp", "no"];
    let mut found = Vec::new();
    for (at, letter) in text.char_indices() {
        let behind = &text[at + letter.len_utf8()..];
        let is_end = match letter {
            '.' | '!' | '?' => {
                let word = text[..at].rsplit(|before: char| before.is_whitespace() || before == '(').next();
                let is_short = letter == '.' && word.is_some_and(|word| SHORT.contains(&word.to_lowercase().as_str()));
                let goes_on = behind.trim_start().starts_with(|next: char| next.is_lowercase());
                behind.starts_with(char::is_whitespace) && !(is_short && goes_on)
            }
            '\n' => {
                let next = behind.trim_start_matches([' ', '\t', '\r']);
                let number = next.trim_start_matches(|digit: char| digit.is_ascii_digit());
                next.starts_with(['\n', '#', '|', '<', '('])
                    || ["- ", "* ", "\u{2022} "].iter().any(|mark| next.starts_with(mark))
                    || (number.len() < next.len() && number.starts_with(['.', ')']))
            }
            '>' | '|' => true,
            _ => false,
        };
        if is_end {
            found.push(at + letter.len_utf8());
        }
    }
    found
}

fn words(text: &str, start: usize, end: usize) -> Vec<SentenceWord> {
    let is_letter = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '\'' | '\u{2019}');
    let mut found = Vec::new();
    let mut at = start;
    while at < end {
        let rest = &text[at..end];
        let Some(begin) = rest.find(is_letter) else { break };
        let length = rest[begin..].find(|letter| !is_letter(letter)).unwrap_or(rest.len() - begin);
        let raw = &rest[begin..begin + length];
        // `_later_` is in italics.
        let word = raw.trim_matches(['-', '\'', '\u{2019}']);
        let word = if raw.starts_with("__") { word } else { word.trim_matches('_') };
        let from = at + begin;
        at = from + length;
        if word.is_empty() {
            continue;
        }
        let before = text[..from].chars().next_back();
        let mut behind = text[at..].chars();
        let (after, next) = (behind.next(), behind.next());
        let goes_on = next.is_some_and(|next| next.is_alphanumeric() || next == HIDDEN);
        let is_part = before.is_some_and(|before| "/\\.=@#$<{[&".contains(before))
            || after.is_some_and(|after| "/\\=({[<>_}]&".contains(after))
            || (after.is_some_and(|after| matches!(after, '.' | ':' | ',')) && goes_on)
            || (raw.starts_with('-') && !raw.starts_with("- "))
            || word.contains('_');
        found.push(SentenceWord {
            at: from,
            text: word.to_lowercase().replace('\u{2019}', "'"),
            is_loud: word.chars().all(|letter| !letter.is_lowercase()),
            is_part,
            ends_clause: after.is_some_and(|after| matches!(after, ':' | ',' | ';')),
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<String> {
        let told = |sentence: &Sentence<'_>| {
            let words = sentence.words.iter().filter(|word| !word.is_part).map(|word| word.text.as_str());
            words.collect::<Vec<_>>().join(" ")
        };
        sentences(text, Quotes::Shown).iter().map(told).collect()
    }

    #[test]
    fn a_passage_is_split_into_sentences() {
        assert_eq!(
            told("One, two. Three e.g. four!\n- five\n  six\n2. seven\n\nEight"),
            ["one two", "three four", "five six", "2", "seven", "eight"]
        );
    }

    #[test]
    fn code_and_texts_of_the_product_are_not_words_of_the_plan() {
        assert_eq!(told("Set `a b` and \"c d\" and 'e f' don't stop\n```\ng\n```\nh"), ["set and and don't stop h"]);
        assert_eq!(told("GET /v1/notes v1.0 placeholder=\"x\" {name} a_b plain"), ["get plain"]);
        assert_eq!(told("a ` b"), ["a b"]);
    }

    #[test]
    fn a_quoted_text_in_a_value_is_the_value() {
        let words = sentences("\"a b\"", Quotes::Values);
        assert_eq!(words[0].words.len(), 2);
    }

    proptest::proptest! {
        #[test]
        fn any_text_can_be_split(text in "([a-zé]{1,3}|[ .,:;!?`\"'<>{}\n|/-]|```|“|”){0,40}") {
            for quotes in [Quotes::Shown, Quotes::Values] {
                for sentence in sentences(&text, quotes) {
                    proptest::prop_assert!(sentence.words.iter().all(|word| text.is_char_boundary(word.at)));
                }
            }
        }
    }
}
