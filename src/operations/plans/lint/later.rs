//! Wording that asks for less than was decided: work left for later, not wired yet, made-up values.

use super::sentences::Sentence;
use super::thin::{Thin, is_spared};
use crate::operations::plans::found::Weight;
use crate::text::words::word_list;

pub(super) const LATER: &[Thin] = &[
    Thin { weight: Weight::Warning, find: wired_in_the_end },
    Thin { weight: Weight::Warning, find: not_yet },
    Thin { weight: Weight::Warning, find: put_off },
    Thin { weight: Weight::Warning, find: until_then },
    Thin { weight: Weight::Warning, find: temporary },
    Thin { weight: Weight::Warning, find: made_up },
    Thin { weight: Weight::Warning, find: unimplemented },
    Thin { weight: Weight::Warning, find: in_other_words },
];

const HOOKED: &str = "wire|wired|wires|wiring|hook|hooked|hooks|plug|plugged|connect|connected|attached|integrated";

/// The first match of the first of these patterns that is found.
fn first(sentence: &Sentence<'_>, patterns: &[&[&str]]) -> Option<usize> {
    patterns.iter().find_map(|pattern| sentence.find(pattern).first().copied())
}

/// `wired to the table later`: the clause ends with `later`.
fn wired_in_the_end(sentence: &Sentence<'_>) -> Option<usize> {
    sentence.find(&[HOOKED]).into_iter().find(|index| {
        let later = (index + 1..(index + 8).min(sentence.words.len())).find(|at| sentence.words[*at].text == "later");
        let ends = later.is_some_and(|at| at + 1 == sentence.words.len() || sentence.words[at].ends_clause);
        ends && !is_spared(sentence, *index)
    })
}

/// `not wired to the table yet`
fn not_yet(sentence: &Sentence<'_>) -> Option<usize> {
    const NOW: &[&str] = &["currently", "today", "was", "were", "existing", "if", "when", "while", "whether"];
    let done = format!("{HOOKED}|implemented|persisted|supported");
    sentence.find(&[done.as_str()]).into_iter().find(|index| {
        let is_not = sentence.has_before(*index, 3, |word| matches!(word, "not" | "isn't" | "aren't"));
        let is_yet = sentence.has_before(*index, 1, |word| word == "yet")
            || sentence.has_behind(*index, 6, |word| word == "yet");
        is_not && is_yet && !sentence.has(|word| NOW.contains(&word))
    })
}

/// `deferred to a later phase`, `follows in v2`
fn put_off(sentence: &Sentence<'_>) -> Option<usize> {
    const THEN: &[&str] = &["later", "v2", "phase", "plan", "future", "follow-up", "milestone", "iteration"];
    let off: &[&[&str]] =
        &[&["deferred|postponed|delayed", "to|until"], &["left", "for"], &["comes|follows|lands|arrives", "in|with"]];
    off.iter()
        .flat_map(|pattern| sentence.find(pattern))
        .find(|index| sentence.has_behind(index + 1, 4, |word| THEN.contains(&word)) && !is_spared(sentence, *index))
}

/// `return null until plan 02`
fn until_then(sentence: &Sentence<'_>) -> Option<usize> {
    const THIN: &[&str] = &["return", "returns", "static", "null", "empty", "nothing", "keep", "keeps", "none", "only"];
    let hits = sentence.find(&["until", "plan|phase|v2|then"]);
    let hits = hits.into_iter().chain(sentence.find(&["until", "the|a", "next|later|following", "plan|phase"]));
    hits.into_iter().find(|index| sentence.has_before(*index, 8, |word| THIN.contains(&word)))
}

/// `a temporary in-memory store`
fn temporary(sentence: &Sentence<'_>) -> Option<usize> {
    const THING: &str =
        "in-memory|memory|store|storage|solution|implementation|fix|hack|workaround|list|array|data|version|stub";
    let hits = sentence.find(&["temporary|interim|provisional|throwaway", THING]);
    hits.into_iter().find(|index| !is_spared(sentence, *index))
}

/// `return mock data`, `a hard-coded list`, `lorem ipsum`
fn made_up(sentence: &Sentence<'_>) -> Option<usize> {
    const OF_TESTS: &[&str] = word_list!(
        "test tests fixture fixtures spec specs msw jest vitest pytest storybook seed seeds benchmark linter scan finds"
    );
    const MADE: &str = "mock|mocked|dummy|fake|faked|hardcoded|hard-coded|canned|bogus";
    const THING: &str = "data|value|values|response|responses|list|lists|token|tokens|user|users|result|results|row|rows|item|items|\
        implementation|object|objects|entries|array|json|answer|answers|price|prices|notes|records|constant|constants";
    let hits = sentence.find(&[MADE, THING]).into_iter().chain(sentence.find(&["lorem", "ipsum"]));
    hits.into_iter().find(|index| !sentence.has(|word| OF_TESTS.contains(&word)) && !is_spared(sentence, *index))
}

/// `raise NotImplementedError`, `leave the body empty`, `the handler is a no-op`
fn unimplemented(sentence: &Sentence<'_>) -> Option<usize> {
    const MARKS: &[&str] =
        &["NotImplementedError", "NotImplementedException", "todo!(", "unimplemented!(", "not implemented"];
    const AGAINST: &[&str] = &[
        "remove", "removes", "replace", "replaces", "replaced", "instead", "never", "abstract", "base", "no", "refuse",
        "refuses", "gone", "501", "test", "tests", "until",
    ];
    const PARTS: &[&str] =
        &["body", "function", "method", "branch", "handler", "button", "endpoint", "route", "implementation"];
    if sentence.has(|word| AGAINST.contains(&word)) || sentence.text.contains("501") {
        return None;
    }
    let is_marked = MARKS.iter().any(|mark| sentence.text.contains(mark));
    let is_part = sentence.has(|word| PARTS.contains(&word));
    let leaves = sentence.has(|word| matches!(word, "leave" | "leaves" | "left"));
    let is_left = leaves && is_part && sentence.has(|word| matches!(word, "empty" | "blank" | "unimplemented"));
    let idle = first(sentence, &[&["is|as|stays|remains|be", "a", "no-op|noop"], &["no-op|noop", "for|until"]])
        .filter(|_| is_part);
    if is_marked || is_left { Some(0) } else { idle }
}

/// The same in two other languages.
fn in_other_words(sentence: &Sentence<'_>) -> Option<usize> {
    const MARKS: &[&str] = &["\u{4ee5}\u{540e}\u{518d}", "\u{6682}\u{65f6}", "\u{5148}\u{7528}", "\u{5360}\u{4f4d}"];
    let later = first(
        sentence,
        &[
            &["sp\u{e4}ter", "angebunden|angeschlossen|erg\u{e4}nzt|implementiert|nachgereicht|verbunden"],
            &["vorerst"],
            &["platzhalter"],
        ],
    );
    later.or_else(|| MARKS.iter().any(|mark| sentence.text.contains(mark)).then_some(0))
}
