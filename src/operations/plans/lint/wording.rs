//! Wording by which a plan asks for less than was decided, leaves a decision open, or says nothing that can be checked.
//!
//! The words are a fixed list, and each finding quotes its sentence. A placeholder, a stub or a first version can also
//! be a part of the product, or something the plan removes: if that is likely, nothing is reported; if it is possible,
//! the finding is a warning.

use super::later::LATER;
use super::sentences::{Quotes, Sentence, sentences};
use super::thin::{Thin, is_spared};
use crate::operations::plans::found::{Found, Weight, quoted};
use crate::project::plan::PhasePlan;
use crate::text::words::word_list;

/// A text in a plan, with its name for people.
pub(super) struct Passage<'text> {
    pub(super) at: usize,
    pub(super) text: &'text str,
    pub(super) name: String,
    pub(super) quotes: Quotes,
}

/// Reports where a passage asks for less than was decided.
pub(super) fn thinned(plan: &PhasePlan<'_>, passage: &Passage<'_>) -> Vec<Found> {
    const STUB: Thin = Thin { weight: Weight::Warning, find: stub };
    let mut found = Vec::new();
    // In a task about tests, stubs belong to the tests.
    let name = passage.name.to_lowercase();
    let of_tests = ["test", "spec", "stub"].iter().any(|word| name.contains(word));
    for sentence in sentences(passage.text, passage.quotes) {
        // A sentence is reported once, for its most serious wording.
        let rules = THIN.iter().chain(LATER).chain(Some(&STUB).filter(|_| !of_tests));
        let hits = rules.filter_map(|rule| rule.hit(&sentence));
        if let Some((weight, word, at)) = hits.min_by_key(|(weight, ..)| *weight != Weight::Error) {
            let cure = match weight {
                Weight::Warning => {
                    "if it stands for less than was decided, plan all of it, or another plan for the rest"
                }
                _ => "plan all of what was decided, or another plan for the rest",
            };
            let sentence = format!("{} says \"{word}\": `{}`; {cure}", passage.name, quoted(sentence.text));
            found.push(Found::at(weight, plan, passage.at + at, sentence));
        }
    }
    found
}

const THIN: &[Thin] = &[
    Thin { weight: Weight::Error, find: hooked_up_later },
    Thin { weight: Weight::Error, find: |sentence| for_now(sentence, true) },
    Thin { weight: Weight::Warning, find: |sentence| for_now(sentence, false) },
    Thin { weight: Weight::Warning, find: done_later },
    Thin { weight: Weight::Warning, find: placeholder },
    Thin { weight: Weight::Warning, find: lesser_version },
    Thin { weight: Weight::Warning, find: first_version },
];

/// Words after it that say that it is removed.
fn is_taken_away(word: &str) -> bool {
    ["replaced", "removed", "gone", "deleted", "dropped", "becomes", "swapped", "vanishes", "disappears"]
        .contains(&word)
}

/// `wired later`, `hooked up later`
fn hooked_up_later(sentence: &Sentence<'_>) -> Option<usize> {
    const HOOKED: &str = "wire|wired|wires|wiring|hook|hooked|hooks|plug|plugged";
    const BETWEEN: &str = "up|in|it|them|that|this|together|properly";
    let patterns: [&[&str]; 3] =
        [&[HOOKED, "later"], &[HOOKED, BETWEEN, "later"], &[HOOKED, BETWEEN, BETWEEN, "later"]];
    let hits = patterns.into_iter().flat_map(|pattern| {
        sentence.find(pattern).into_iter().map(|index| (index, index + pattern.len() - 1)).collect::<Vec<_>>()
    });
    let mut hits = hits.filter(|(_, later)| !sentence.has_behind(*later, 1, |word| word == "than"));
    hits.find(|(index, _)| !is_spared(sentence, *index)).map(|(index, _)| index)
}

/// `static for now`; if `with_thing` is false, only `for now`.
fn for_now(sentence: &Sentence<'_>, with_thing: bool) -> Option<usize> {
    const THINGS: &[&str] = word_list!(
        "static hard-coded hardcoded coded hard-code hardcode fake faked dummy mock mocked mocks stub stubs stubbed
         placeholder placeholders simplified sample constant canned"
    );
    let hits = sentence.find(&["for", "now"]);
    hits.into_iter().chain(sentence.find(&["for", "the", "time", "being"])).find(|index| {
        let is_thing = |word: &str| THINGS.contains(&word);
        let thing = sentence.has_before(*index, 5, is_thing) || sentence.has_behind(index + 1, 4, is_thing);
        let is_other = sentence.has_behind(index + 1, 1, |word| word == "playing");
        thing == with_thing && !is_other && !is_spared(sentence, *index)
    })
}

/// `will be added later`
fn done_later(sentence: &Sentence<'_>) -> Option<usize> {
    const DONE: &str = "added|implemented|replaced|filled|built|completed|connected|wired|done|finished";
    let hits = sentence.find(&["be|get|gets|is|are", DONE, "later"]).into_iter().map(|index| index + 1);
    let mut hits = hits.chain(sentence.find(&["implement|build|finish|complete", "later"]));
    hits.find(|index| !is_spared(sentence, *index) && !sentence.has_behind(index + 1, 1, |word| word == "than"))
}

/// Words near a placeholder that is a part of the product.
const OF_THE_PRODUCT: &[&str] = word_list!(
    "input inputs field fields textarea search searchbar email e-mail password select dropdown combobox form forms sql
     query queries parameter parameters prepared template templates variable variables loading skeleton shimmer blur
     lazy attribute attributes prop label labels hint color colour contrast italic env secret secrets url token tokens
     date upload editor avatar thumbnail cover image images missing empty fallback format interpolation argument
     arguments regex string i18n translation locale prompt example examples committed named positional bind dollar curly
     key keys"
);

/// Words after a placeholder that means unfinished work.
const OF_THE_WORK: &[&str] = word_list!(
    "data value values implementation implementations function functions handler handlers component components page
     pages screen screens logic content list endpoint endpoints route routes response responses module modules class
     service method code row rows table card cards"
);

/// Finds a placeholder, unless it is the text shown in an input, a variable in a text or query, or something to be
/// replaced.
fn placeholder(sentence: &Sentence<'_>) -> Option<usize> {
    let is_of_product = |word: &str| OF_THE_PRODUCT.contains(&word);
    sentence.find(&["placeholder|placeholders"]).into_iter().find(|index| {
        let shows = sentence.has_behind(*index, 1, |word| {
            word_list!(
                "text texts copy attribute attributes prop props string strings label color colour style styles says
                 reads shows syntax name names"
            )
            .contains(&word)
        });
        // A quoted text after it is the text of the placeholder.
        let says = sentence.text.to_lowercase().split("placeholder").skip(1).any(|rest| {
            let rest = rest.trim_start_matches('s');
            rest.starts_with([':', '=']) || rest.trim_start().starts_with(['"', '\'', '`', '\u{201c}'])
        });
        let is_near = sentence.has_before(*index, 6, is_of_product) || sentence.has_behind(*index, 3, is_of_product);
        let is_work = sentence.has_behind(*index, 1, |word| OF_THE_WORK.contains(&word));
        let is_loud = sentence.words[*index].is_loud && !is_near;
        let returns = sentence.has_behind(*index, 1, |word| matches!(word, "return" | "returns" | "null" | "static"));
        let is_other = !is_work && !is_loud && !returns && (shows || says || is_near);
        // `fill the table with placeholder rows`
        let is_given = is_work && sentence.has_before(*index, 1, |word| word == "with");
        !is_other && (is_given || !is_spared(sentence, *index)) && !sentence.has_behind(*index, 5, is_taken_away)
    })
}

/// Finds a stub, unless a test uses it, or it is a type file or belongs to a remote call.
fn stub(sentence: &Sentence<'_>) -> Option<usize> {
    const OF_TESTS: &[&str] = word_list!(
        "spec specs mock mocks mocked fixture fixtures spy double doubles fake fakes vi jest sinon monkeypatch unittest
         pytest vitest type types typing typings pyi grpc rpc generated red harness offline stubs-only scaffold
         scaffolding env network server wave globally"
    );
    let is_of_tests = |word: &str| word.starts_with("test") || OF_TESTS.contains(&word);
    let mut hits = sentence.find(&["stub|stubs|stubbed"]).into_iter();
    hits.find(|index| {
        !sentence.has(is_of_tests) && !is_spared(sentence, *index) && !sentence.has_behind(*index, 5, is_taken_away)
    })
}

/// `a simplified version`
fn lesser_version(sentence: &Sentence<'_>) -> Option<usize> {
    const LESSER: &str = "simplified|stripped-down|dumbed-down|watered-down|cut-down|bare-bones|reduced|basic|quick";
    const THING: &str = "version|implementation|variant";
    let hits = sentence.find(&[LESSER, THING]);
    hits.into_iter().find(|index| !is_spared(sentence, *index))
}

/// `v1: a static list, v2 …`: a version that the real one will replace.
fn first_version(sentence: &Sentence<'_>) -> Option<usize> {
    const THIN: &[&str] =
        word_list!("static simple simplified basic minimal stub hard-coded hardcoded placeholder only");
    const NEXT: &[&str] = &["v2", "later", "eventually"];
    let first = sentence.find(&["first", "version|iteration|cut|pass|draft"]);
    let first = first.into_iter().map(|index| index + 1).filter(|index| sentence.words[*index].ends_clause);
    let whole = sentence.find(&["mvp|poc|prototype"]).into_iter().filter(|index| sentence.words[*index].ends_clause);
    let bare = first.chain(whole).find(|index| sentence.has_behind(*index, 4, |word| THIN.contains(&word)));
    let only = sentence.find(&["skeleton|scaffold|scaffolding|shell", "only"]).into_iter().next();
    let hits = sentence.find(&["v1"]);
    let v1 = hits.into_iter().find(|index| {
        let thin = sentence.has_behind(*index, 3, |word| THIN.contains(&word));
        let next = sentence.has_behind(*index, 12, |word| NEXT.contains(&word));
        let is_head = sentence.words[*index].ends_clause || *index == 0;
        (thin || (is_head && next)) && !is_spared(sentence, *index)
    });
    v1.or(bare).or(only)
}

/// Extensions of code files.
const CODE: &[&str] = &[
    "ts", "tsx", "js", "jsx", "mjs", "cjs", "py", "rs", "go", "java", "kt", "swift", "rb", "php", "c", "cc", "cpp",
    "h", "cs", "vue", "svelte", "sql", "prisma", "dart", "ex", "exs", "scala",
];

/// True if a path has the extension of a code file.
pub(super) fn is_code(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(stem, end)| !stem.is_empty() && CODE.contains(&end))
}

/// The part of a truth that users of the product cannot observe.
pub(super) fn of_implementation(truth: &str) -> Option<&'static str> {
    const SAID_OF_FILES: &[&str] =
        word_list!("exists exist exports export contains contain imports import defines define implements created");
    const KINDS: &[&str] = word_list!(
        "file class function component module hook schema model migration table interface type helper util utility
         service package dependency library directory folder"
    );
    let words = truth.split_whitespace();
    let words = words.map(|word| word.trim_matches(|letter: char| !letter.is_alphanumeric()).to_lowercase());
    let words: Vec<String> = words.filter(|word| !word.is_empty()).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if let Some(what) = of_a_package(truth, &words) {
        return Some(what);
    }
    let word = |at: usize| words.get(at).copied().unwrap_or_default();
    let by_person =
        |at: usize| words[..at].iter().any(|word| matches!(*word, "can" | "user" | "users" | "when" | "once" | "if"));
    for (at, text) in words.iter().copied().enumerate() {
        let is_now = matches!(word(at.wrapping_sub(1)), "is" | "are" | "be" | "been" | "was") || at + 1 == words.len();
        if text == "installed" && is_now && words.len() <= 8 && !by_person(at) {
            return Some("an installed package");
        }
        if is_code(text) && at < 3 && words.iter().skip(at + 1).take(3).any(|word| SAID_OF_FILES.contains(word)) {
            return Some("a file");
        }
        let is_there = matches!(text, "exists" | "exist") && at + 1 == words.len() && words.len() <= 7;
        if is_there && words[..at].iter().any(|word| KINDS.contains(word) || is_code(word)) {
            return Some("a piece of code");
        }
    }
    None
}

/// The part of a truth about packages and tools. `words` are its words in lower case.
fn of_a_package(truth: &str, words: &[&str]) -> Option<&'static str> {
    const MANIFESTS: &[&str] = word_list!(
        "package.json pyproject.toml cargo.toml go.mod requirements.txt gemfile composer.json pipfile setup.py pom.xml
         build.gradle lockfile package-lock.json"
    );
    const LISTS: &[&str] = &["lists", "declares", "requires", "includes", "contains", "has", "pins"];
    const MANAGERS: &[&str] =
        &["npm", "pnpm", "yarn", "bun", "pip", "uv", "poetry", "cargo", "go", "bundle", "composer"];
    let is_manifest = |word: &str| MANIFESTS.contains(&word);
    let is_by_person =
        words.iter().any(|word| matches!(*word, "user" | "users" | "when" | "page" | "report" | "prints"));
    let is_declared = words.windows(3).any(|three| {
        matches!(three[0], "is" | "are" | "added" | "declared" | "listed" | "dependency" | "dependencies")
            && matches!(three[1], "in" | "to")
            && is_manifest(three[2])
    });
    let lists = words.len() > 2 && is_manifest(words[0]) && LISTS.contains(&words[1]);
    let is_dependency =
        words.len() <= 7 && words.windows(3).any(|three| matches!(three, ["is", "a", "dependency" | "devdependency"]));
    if (is_declared || lists || is_dependency) && !is_by_person {
        return Some("a package that is declared");
    }
    let name = truth.split_whitespace().next().unwrap_or_default();
    let is_small = name.starts_with(|first: char| first.is_lowercase() || first == '`' || first == '@') && name != "a";
    match words {
        [manager, verb, .., last]
            if MANAGERS.contains(manager)
                && matches!(*verb, "install" | "i" | "sync" | "ci" | "mod" | "build")
                && matches!(*last, "succeeds" | "works" | "passes" | "completes" | "runs" | "exits") =>
        {
            Some("an installation")
        }
        [_, "is", "configured" | "bootstrapped"]
        | [_, "is", "set", "up"]
        | [_, "ist", "installiert" | "eingerichtet"] => Some("a tool that is set up"),
        [_, "is", "available" | "present" | "added"] | [_, "can", "be", "imported"] if is_small => {
            Some("a package that is there")
        }
        _ if ["\u{5df2}\u{5b89}\u{88c5}", "\u{5df2}\u{914d}\u{7f6e}"].iter().any(|said| truth.contains(said)) => {
            Some("a package that is there")
        }
        _ => None,
    }
}
