//! Edits that make a check stricter: a smaller tolerance, more of a message, a command with further options.

use super::assertion::Assertion;
use super::lexer::{Kind, Token};
use super::span::Span as _;
use crate::gate::lists::{Joint, ListedCommand, lists_of};
use crate::gate::runners::{TestsRun, tests_run};
use crate::project::check_files::fits;
use crate::text::words::word_list;

/// True if an assertion has the same shape as another one and is only stricter: one value differs, and it says how near
/// a value, or how much of a text, is required.
pub(super) fn is_stricter(gone: &Assertion<'_>, new: &Assertion<'_>) -> bool {
    let (then, now) = (gone.tokens.as_slice(), new.tokens.as_slice());
    if then.len() != now.len() {
        return false;
    }
    let mut differing = (0..then.len()).filter(|at| then[*at].text != now[*at].text);
    let (Some(at), None) = (differing.next(), differing.next()) else { return false };
    match (then[at].kind, now[at].kind) {
        (Kind::Text, Kind::Text) => asks_for_part(gone) && says_more(then[at].text, now[at].text),
        (Kind::Number, Kind::Number) => is_nearer(then, now, at),
        _ => false,
    }
}

/// True if an assertion searches for a text as a part of another one.
fn asks_for_part(assertion: &Assertion<'_>) -> bool {
    const PARTS: &[&str] =
        &["match", "throw", "raise", "contain", "include", "partial", "expected", "assertin", "regex"];
    !assertion.has_not()
        && assertion.tokens.iter().filter(|token| token.kind == Kind::Word).any(|token| {
            let word = token.text.to_ascii_lowercase();
            PARTS.iter().any(|part| word.contains(part)) && !word.contains("not")
        })
}

/// True if `now` contains `then`, and adds no character that could make a pattern match more.
fn says_more(then: &str, now: &str) -> bool {
    let is_plain =
        |letter: char| letter.is_alphanumeric() || matches!(letter, ' ' | ',' | ':' | '\'' | '-' | '_' | '/');
    !then.trim().is_empty()
        && now.split_once(then).is_some_and(|(head, rest)| head.chars().chain(rest.chars()).all(is_plain))
}

/// True if the number at `at` says how near a value has to be, and requires it nearer.
fn is_nearer(then: &[Token<'_>], now: &[Token<'_>], at: usize) -> bool {
    let (Ok(old), Ok(new)) = (then[at].text.parse::<f64>(), now[at].text.parse::<f64>()) else { return false };
    let mark = |at: Option<usize>, mark: &str| at.and_then(|at| then.get(at)).is_some_and(|token| token.is_mark(mark));
    // `1e-9`: two numbers with a mark between them.
    let of_exponent = at.checked_sub(2).filter(|start| {
        mark(at.checked_sub(1), "-") && then[*start].kind == Kind::Number && then[*start].text.ends_with(['e', 'E'])
    });
    let start = of_exponent.unwrap_or(at);
    let is_less = if of_exponent.is_some() { new > old } else { new < old };
    let Some(before) = start.checked_sub(1) else { return false };
    if mark(Some(before), "-") {
        return false;
    }
    let has = |part: &str| {
        then.iter().any(|token| token.kind == Kind::Word && token.text.to_ascii_lowercase().contains(part))
    };
    let is_distance = ["abs", "distance", "diff"].iter().any(|part| has(part));
    let is_below = mark(Some(before), "<") || mark(Some(before), "=") && mark(before.checked_sub(1), "<");
    if is_below {
        return is_distance && is_less && then.get(at + 1).is_none_or(|next| next.kind == Kind::Mark);
    }
    // `abs=1e-9`, `places=7`
    if let Some(name) = before.checked_sub(1).map(|name| &then[name]).filter(|name| name.kind == Kind::Word)
        && (mark(Some(before), "=") || mark(Some(before), ":"))
    {
        return match name.text {
            "places" | "decimal" => of_exponent.is_none() && new > old,
            "delta" | "tolerance" | "epsilon" | "atol" | "rtol" | "abs_tol" | "rel_tol" | "abs" | "rel" => is_less,
            _ => false,
        };
    }
    let Some((call, place)) = call_of(then, start) else { return false };
    let is_last = mark(Some(at + 1), ")") || mark(Some(at + 1), ",") && mark(Some(at + 2), ")");
    match call.to_ascii_lowercase().as_str() {
        "tobecloseto" => place == 1 && is_last && of_exponent.is_none() && new > old,
        "assertalmostequal" | "assertalmostequals" => place == 2 && is_last && of_exponent.is_none() && new > old,
        "closeto" | "approximately" => place == 1 && is_less,
        "be_within" => place == 0 && is_less,
        "assertequals" | "assert_in_delta" | "assertequalswithdelta" => place == 2 && is_last && is_less,
        "indelta" => place == 3 && is_less,
        _ => false,
    }
}

/// The name of the call that a value is an argument of, and its position.
fn call_of<'text>(tokens: &[Token<'text>], at: usize) -> Option<(&'text str, usize)> {
    let (mut depth, mut place) = (0, 0);
    for index in (0..at).rev() {
        let token = tokens.get(index)?;
        depth -= token.turn();
        if depth < 0 {
            let name = tokens.word(index.checked_sub(1)?).filter(|_| token.text == "(")?;
            return Some((name.text, place));
        }
        place += usize::from(depth == 0 && token.is_mark(","));
    }
    // `assert_in_delta 0.3, sum, 0.001`
    tokens.word(0).map(|first| (first.text, place))
}

/// Options that make a test runner show or count something, or check more.
const MORE: &[(&str, &[&str])] = &[
    ("go", &["-race", "-v", "-cover", "-count=1", "-coverprofile=*", "-covermode=*", "-shuffle=on", "-vet=all"]),
    (
        "cargo",
        &["--workspace", "--all", "--all-features", "--all-targets", "--locked", "--verbose", "-v", "-q", "--quiet"],
    ),
    ("jest", &["--coverage", "--verbose", "--ci", "--runInBand", "-i", "--bail", "--colors", "--detectOpenHandles"]),
    ("vitest", &["--coverage", "--coverage.enabled", "--run", "--reporter=*", "--typecheck"]),
    ("mocha", &["--bail", "--check-leaks", "--forbid-only", "--forbid-pending", "--recursive", "--full-trace"]),
    ("node", &["--experimental-test-coverage", "--test-reporter=*", "--enable-source-maps"]),
    (
        "pytest",
        word_list!(
            "-q -v -vv -ra -x --cov --cov=* --cov-report=* --cov-fail-under=* --strict-markers --strict-config --strict
             --durations=* --tb=* --doctest-modules"
        ),
    ),
];

/// Tools that only examine sources, and fail if something is wrong with them.
const LOOKING: &[&str] =
    &["tsc", "vue-tsc", "eslint", "mypy", "pyright", "svelte-check", "oxlint", "stylelint", "standard"];

/// True if a shell line runs what another one ran, in this order, and otherwise only checks more.
pub(super) fn line_asks_for_more(then: &str, now: &str) -> bool {
    let read = |line: &str| -> Option<Vec<ListedCommand>> {
        let mut lists = lists_of(line)?;
        let only = lists.pop().filter(|_| lists.is_empty())?;
        only.iter().all(|command| command.joint == Joint::And).then_some(only)
    };
    let (Some(then), Some(now)) = (read(then), read(now)) else { return false };
    let mut open = then.iter().peekable();
    for command in &now {
        if open.peek().is_some_and(|next| is_with_options(&next.words, &command.words)) {
            open.next();
        } else if !only_looks(&command.words) {
            return false;
        }
    }
    open.next().is_none()
}

fn only_looks(words: &[String]) -> bool {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let words = match words.as_slice() {
        ["npx", rest @ ..] => rest,
        other => other,
    };
    let writes =
        words.iter().any(|word| matches!(*word, "--fix" | "--write" | "-w" | "--init" | "--watch" | "--noCheck"));
    words.first().is_some_and(|program| LOOKING.contains(program)) && !writes
}

/// True if a command is the same except for options that check more.
fn is_with_options(then: &[String], now: &[String]) -> bool {
    if then == now {
        return true;
    }
    let words: Vec<&str> = then.iter().map(String::as_str).collect();
    if tests_run(&words) != TestsRun::Itself {
        return false;
    }
    let options: Vec<&str> = MORE
        .iter()
        .filter(|(tool, _)| words.iter().any(|word| word.rsplit('/').next() == Some(*tool)))
        .flat_map(|(_, options)| options.iter().copied())
        .collect();
    let mut open = then.iter().peekable();
    for word in now {
        if open.peek().is_some_and(|next| *next == word) {
            open.next();
        } else if !options.iter().any(|option| fits(option, word)) {
            return false;
        }
    }
    open.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::tamper::facts::Facts;
    use crate::gate::tamper::lexer::Language;

    #[test]
    fn a_stricter_assertion_is_distinguished_from_a_different_one() {
        for (path, then, more, other) in [
            (
                "a.js",
                "expect(f()).toBeCloseTo(0.3, 2)",
                "expect(f()).toBeCloseTo(0.3, 10)",
                "expect(f()).toBeCloseTo(0.3, 1)",
            ),
            (
                "a.js",
                "expect(f()).toBeCloseTo(0.3, 2)",
                "expect(f()).toBeCloseTo(0.3, 3)",
                "expect(f()).toBeCloseTo(0.4, 2)",
            ),
            ("a.js", "expect(f).toThrow('no')", "expect(f).toThrow('no such note')", "expect(f).toThrow('o')"),
            ("a.js", "expect(f()).toContain('ab')", "expect(f()).toContain('abc')", "expect(f()).toContain('a')"),
            (
                "a.py",
                "assert f() == approx(3, abs=1e-9)",
                "assert f() == approx(3, abs=1e-12)",
                "assert f() == approx(3, abs=1e-6)",
            ),
            ("a.py", "assert abs(f() - 3) < 0.1", "assert abs(f() - 3) < 0.01", "assert abs(f() - 3) < 0.2"),
            (
                "a.py",
                "self.assertAlmostEqual(f(), 3, places=3)",
                "self.assertAlmostEqual(f(), 3, places=7)",
                "self.assertAlmostEqual(f(), 3, places=1)",
            ),
            (
                "a.py",
                "pytest.raises(E, match='empty')",
                "pytest.raises(E, match='empty note')",
                "pytest.raises(E, match='empty|')",
            ),
            (
                "a.rs",
                "assert!((f() - 0.3).abs() < 1e-9);",
                "assert!((f() - 0.3).abs() < 1e-12);",
                "assert!((f() - 0.3).abs() < 1e-3);",
            ),
            ("a.java", "assertEquals(0.3, f(), 0.1);", "assertEquals(0.3, f(), 0.01);", "assertEquals(0.2, f(), 0.1);"),
        ] {
            let facts = |text: &'static str| Facts::read(text, Language::of(path).unwrap());
            let (then, more, other) = (facts(then), facts(more), facts(other));
            assert!(is_stricter(&then.assertions[0], &more.assertions[0]), "{then:?}");
            assert!(!is_stricter(&then.assertions[0], &other.assertions[0]), "{then:?}");
        }
        // A smaller number that is not a tolerance may mean anything.
        let facts = |text: &'static str| Facts::read(text, Language::Python);
        let (then, now) = (facts("assert f() < 9"), facts("assert f() < 8"));
        assert!(!is_stricter(&then.assertions[0], &now.assertions[0]));
    }

    #[test]
    fn a_stricter_command_is_distinguished_from_one_that_runs_less() {
        for (then, now) in [
            ("jest", "tsc --noEmit && jest"),
            ("jest", "jest --coverage"),
            ("npm run build && jest", "npm run build && npx eslint . && jest --ci"),
            ("go test ./...", "go test -race ./..."),
            ("node --test", "node --experimental-test-coverage --test"),
        ] {
            assert!(line_asks_for_more(then, now), "{now}");
        }
        for (then, now) in [
            ("jest", "tsc --noEmit || jest"),
            ("jest", "tsc --noEmit; jest"),
            ("jest", "jest || true"),
            ("jest", "jest --passWithNoTests"),
            ("jest", "jest -t adds"),
            ("jest", "jest src"),
            ("jest", "cd docs && jest"),
            ("jest", "exit 0 && jest"),
            ("jest", "node patch.js && jest"),
            ("jest && eslint .", "jest"),
            ("go test ./...", "go test -short ./..."),
            ("go test ./...", "go test -race ./a"),
            ("node check.js", "node check.js --coverage"),
        ] {
            assert!(!line_asks_for_more(then, now), "{now}");
        }
    }
}
