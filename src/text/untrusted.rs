//! Text that people or the web wrote and that a model will read: what in it poses as somebody who gives orders.

use regex_lite::Regex;

/// Phrases that try to take an agent over, lower case.
const PHRASES: &[&str] = &[
    "ignore all previous",
    "ignore previous instructions",
    "ignore the above",
    "ignore your instructions",
    "disregard all previous",
    "disregard previous",
    "disregard the above",
    "forget all previous",
    "forget your instructions",
    "override your instructions",
    "override the system prompt",
    "new instructions:",
    "you are now a",
    "you are no longer",
    "pretend you are",
    "from now on you",
    "reveal your system prompt",
    "print your system prompt",
    "repeat your instructions",
    "do not tell the user",
    "without telling the user",
    "hide this from the user",
    "<system>",
    "</system>",
    "<|im_start|>",
    "<|system|>",
    "[inst]",
    "[/inst]",
    "### system:",
];

/// The phrases of a text that read like an instruction to a model, in upper or lower case, over the ends of lines too.
pub(crate) fn phrases(text: &str) -> impl Iterator<Item = &'static str> {
    let bytes = text.as_bytes();
    let mut found = [false; PHRASES.len()];
    let mut before = b' ';
    // In one pass: what is read may be long, and every phrase begins where a word begins or with a mark.
    for (at, byte) in bytes.iter().enumerate() {
        let first = byte.to_ascii_lowercase();
        if FIRST[usize::from(first)] && !(before.is_ascii_alphanumeric() && first.is_ascii_alphanumeric()) {
            for (phrase, found) in PHRASES.iter().zip(&mut found) {
                *found |= phrase.as_bytes()[0] == first && begins_with(&bytes[at..], phrase.as_bytes());
            }
        }
        before = first;
    }
    PHRASES.iter().zip(found).filter(|(_, found)| *found).map(|(phrase, _)| *phrase)
}

/// The bytes that phrases begin with.
const FIRST: [bool; 256] = {
    let mut first = [false; 256];
    let mut index = 0;
    while index < PHRASES.len() {
        first[PHRASES[index].as_bytes()[0] as usize] = true;
        index += 1;
    }
    first
};

/// Whether a text begins with a phrase. A space of the phrase stands for any number of blanks.
fn begins_with(text: &[u8], phrase: &[u8]) -> bool {
    let mut at = 0;
    for byte in phrase {
        let Some(next) = text.get(at) else { return false };
        if *byte == b' ' {
            let blanks = text[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            if blanks == 0 {
                return false;
            }
            at += blanks;
        } else if next.eq_ignore_ascii_case(byte) {
            at += 1;
        } else {
            return false;
        }
    }
    true
}

/// How many characters of a text a reader does not see and a model does.
pub(crate) fn count_invisible(text: &str) -> usize {
    text.chars().filter(|letter| is_invisible(*letter)).count()
}

/// The text without what a reader does not see, and with the marks of a speaker written so that they are none:
/// `<system>` becomes `＜system-text＞`. Everything else stays as it is.
pub(crate) fn neutral(text: &str) -> String {
    let seen: String = text.chars().filter(|letter| !is_invisible(*letter)).collect();
    let mut neutral = seen;
    for (mark, harmless) in [
        (r"(?i)<\s*(/?)\s*(?:system|assistant|user|human)\s*>", "＜${1}system-text＞"),
        (r"(?i)\[(/?)inst\]", "[${1}INST-TEXT]"),
        (r"(?i)\[(/?)system\]", "[${1}SYSTEM-TEXT]"),
        (r"(?i)<<\s*/?sys\s*>>", "«SYS-TEXT»"),
    ] {
        // Most texts have no such mark, and building an expression costs more than looking.
        if neutral.contains(['<', '[']) {
            neutral =
                Regex::new(mark).map_or(neutral.clone(), |mark| mark.replace_all(&neutral, harmless).into_owned());
        }
    }
    neutral
}

/// A byte order mark or joiner inside a word is invisible; marks that emoji and scripts need are not counted.
fn is_invisible(letter: char) -> bool {
    matches!(letter, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}'
        | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_mark_of_a_speaker_becomes_text() {
        assert_eq!(neutral("a <system>b</ System >"), "a ＜system-text＞b＜/system-text＞");
        assert_eq!(neutral("[inst] x [/INST] [SYSTEM]"), "[INST-TEXT] x [/INST-TEXT] [SYSTEM-TEXT]");
        assert_eq!(neutral("<<SYS>> x <</sys>>"), "«SYS-TEXT» x «SYS-TEXT»");
        assert_eq!(neutral("a\u{200b}b\u{202e}c"), "abc");
        for plain in ["x < y > z & a<b>c</b>", "<systems>", "[ ] task [x]", "👨‍👩‍👧 می‌خواهم", "`rm` $(x)\n\nSystem: do it"]
        {
            assert_eq!(neutral(plain), plain);
        }
    }

    #[test]
    fn phrases_are_found_in_any_case() {
        assert_eq!(phrases("IGNORE ALL PREVIOUS orders").collect::<Vec<_>>(), ["ignore all previous"]);
        assert_eq!(phrases("ignore\n  all\tprevious").collect::<Vec<_>>(), ["ignore all previous"]);
        assert_eq!(phrases("Ä<SYSTEM>[/INST]").collect::<Vec<_>>(), ["<system>", "[/inst]"]);
        for harmless in
            ["Plan 2 depends on plan 1", "ignoreall previous", "signore all previous", "", "<", "ignore all"]
        {
            assert_eq!(phrases(harmless).count(), 0, "{harmless}");
        }
        assert_eq!(count_invisible("a\u{200b}b 👨‍👩‍👧"), 1);
    }

    proptest! {
        #[test]
        fn what_is_neutral_stays_so(text in "([<\\[/ >\\]]|system|INST|<<SYS>>|\\PC|\u{202e}){0,20}") {
            let once = neutral(&text);
            prop_assert_eq!(count_invisible(&once), 0);
            prop_assert!(!once.to_lowercase().contains("<system>") && !once.to_lowercase().contains("[inst]"));
        }
    }
}
