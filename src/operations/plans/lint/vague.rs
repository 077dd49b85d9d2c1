//! Words that two readers would interpret differently.

use super::sentences::{Sentence, sentences};
use super::wording::Passage;
use crate::operations::plans::found::{Found, Weight};
use crate::project::plan::PhasePlan;
use crate::text::words::word_list;

const VAGUE: &[&[&str]] = &[
    &["appropriate|appropriately"],
    &["properly"],
    &["proper", "error", "handling"],
    &["as|if|where|when|wherever", "needed|necessary|required|possible|applicable|feasible"],
    &["etc"],
    &["and", "so", "on|forth"],
    &["align|aligns", "with"],
    &["handle|handles|handling", "edge", "cases"],
    &["handle|handles|handling", "edge-cases"],
    &["handle|handles|handling", "all|any|the|every|other", "edge|corner|error", "cases|case"],
    &["handle|handles|handling", "all|any", "errors|cases|exceptions|failures"],
    &["gracefully"],
    &["or", "similar"],
    &["sensible|sensibly"],
    &["correctly"],
    &["best", "practices|practice"],
    &["reasonable|reasonably"],
    &["robust|robustly"],
    &["adequate|adequately"],
    &["suitable|suitably"],
    &["comprehensive|thorough|extensive|sufficient", "tests|test|coverage|testing|logging|validation"],
    &["relevant", "files|file|code|parts|tests|places|modules|components"],
    &["necessary|needed", "logic|changes|code|steps|updates|files|adjustments"],
    &["various"],
    &["fix|fixes|resolve|address", "any|all|remaining|other", "issues|problems|bugs|errors"],
    &["existing", "conventions|convention"],
    &["follow|follows|following", "the|our|project|common", "conventions|patterns|style"],
    &["works|work|behaves|behave|function|functions", "as", "expected|intended|designed|desired"],
    &["works|work|behaves", "well|fine|right|perfectly|flawlessly"],
    &["looks|look", "good|fine|nice|right|great"],
    &["everything|all", "works|is", "ok|fine|good|well"],
    &["code", "is", "clean|good|readable"],
    &["clean", "code"],
    &["user-friendly"],
    &["production-ready"],
    &["high-quality"],
    &["angemessen|angemessene|angemessenen|ordnungsgem\u{e4}\u{df}|sinnvoll|sinnvolle|geeignete|gegebenenfalls"],
];

/// Words that are vague if nothing more is said: the clause ends with them.
const ALONE: &[&[&str]] = &[
    &["add|adds|adding|implement|include", "error|errors", "handling"],
    &["add|adds|adding|implement|include", "validation|logging|tests|caching|security"],
    &["add|adds|adding|implement|include", "input|some", "validation|tests|logging"],
    &["handle|handles", "errors|exceptions|failures"],
    &["improve|improves|optimize|optimise|increase", "performance|quality|security|usability|speed"],
    &["it|everything", "works"],
];

/// The vague words of a passage, in one finding.
pub(super) fn vague(plan: &PhasePlan<'_>, passage: &Passage<'_>) -> Option<Found> {
    let mut words: Vec<(usize, String)> = Vec::new();
    for sentence in sentences(passage.text, passage.quotes) {
        words.extend(hits(&sentence));
    }
    words.sort_unstable();
    // Each place is listed once.
    words.dedup_by_key(|(at, _)| *at);
    let first = words.first()?.0;
    let told: Vec<String> =
        words.iter().map(|(at, word)| format!("\"{word}\" (line {})", plan.line_at(passage.at + at))).collect();
    let sentence = format!("{} is vague: {}; write exactly what", passage.name, told.join(", "));
    Some(Found::at(Weight::Warning, plan, passage.at + first, sentence))
}

fn hits(sentence: &Sentence<'_>) -> Vec<(usize, String)> {
    const OF_A_LAYOUT: &[&str] = &[
        "css", "flex", "grid", "left", "right", "center", "centre", "baseline", "column", "columns", "edge", "px",
        "rem", "icon", "axis", "margin", "padding", "top", "bottom", "row", "rows", "pixel", "pixels", "sidebar",
        "header",
    ];
    const ELSEWHERE: &[&str] = &["\u{9002}\u{5f53}", "\u{59a5}\u{5584}", "\u{5408}\u{7406}\u{5904}\u{7406}"];
    let mut found = Vec::new();
    let told = |index: usize, length: usize| {
        let words = sentence.words[index..index + length].iter().map(|word| word.text.as_str());
        (sentence.words[index].at, words.collect::<Vec<_>>().join(" "))
    };
    for pattern in VAGUE {
        for index in sentence.find(pattern) {
            let near = |word: &str| OF_A_LAYOUT.contains(&word);
            let is_near = sentence.has_before(index, 4, near) || sentence.has_behind(index + 1, 6, near);
            let is_layout = pattern.len() == 2 && pattern[1] == "with" && is_near;
            // `suitable` as a name: the enum has the value suitable.
            let is_name = pattern.len() == 1 && sentence.has(|word| matches!(word, "enum" | "enum's"));
            if !is_layout && !is_name {
                found.push(told(index, pattern.len()));
            }
        }
    }
    for pattern in ALONE {
        for index in sentence.find(pattern) {
            let last = index + pattern.len();
            let is_end =
                last == sentence.words.len() || sentence.has_behind(last - 1, 1, |word| matches!(word, "and" | "to"));
            let says_how = sentence.words[last - 1].ends_clause && last < sentence.words.len();
            let is_short = pattern[pattern.len() - 1] != "works" || sentence.words.len() <= 3;
            if is_end && !says_how && is_short {
                found.push(told(index, pattern.len()));
            }
        }
    }
    found.extend(only_that_it_passes(sentence));
    if let Some(word) = ELSEWHERE.iter().find(|word| sentence.text.contains(**word))
        && let Some(first) = sentence.words.first()
    {
        found.push((first.at, (*word).to_owned()));
    }
    found
}

/// `tests pass`, `the build succeeds`: a sentence that does not say what passes.
fn only_that_it_passes(sentence: &Sentence<'_>) -> Option<(usize, String)> {
    const PASSES: &[&str] = &["pass", "passes", "passing", "succeed", "succeeds", "green"];
    const OTHERS: &[&str] = word_list!(
        "the all tests test build builds checks check suite is are ci and unit every lint code compiles verification
         still existing"
    );
    let all_known = sentence
        .words
        .iter()
        .all(|word| !word.is_part && (PASSES.contains(&word.text.as_str()) || OTHERS.contains(&word.text.as_str())));
    let has_code = sentence.text.contains(['`', '"']);
    (all_known && !has_code && sentence.has(|word| PASSES.contains(&word))).then(|| {
        (sentence.words[0].at, sentence.words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" "))
    })
}
