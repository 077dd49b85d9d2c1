//! Strings that the checks of a plan require to be absent, and parts of the plan that bring them back.
//!
//! A check such as `test $(grep -c "legacyCall" src/a.ts) -eq 0` requires that a string is gone. An executor copies the
//! words of an action into code and comments, so an action that names the string makes its own check fail. A check on a
//! whole file fails if another task needs the string in that file.

use crate::project::plan::PlanTask;

/// Comments by which the plan allows a string in an action, or one that another task needs.
const ALLOWED_IN_ACTION: &str = "planner-discipline-allow";
const ALLOWED_IN_FILE: &str = "planner-region-allow";

/// A string that must be absent.
#[derive(Debug, PartialEq, Eq)]
struct Absence<'text> {
    literal: &'text str,
    /// Upper and lower case are not distinguished.
    any_case: bool,
    /// The files that are searched as a whole; empty if a part of them is piped in.
    files: Vec<&'text str>,
    /// Checked with `! grep` instead of a count of zero.
    is_negated: bool,
}

impl Absence<'_> {
    fn is_in(&self, text: &str) -> bool {
        if self.any_case {
            return text.to_lowercase().contains(&self.literal.to_lowercase());
        }
        text.contains(self.literal)
    }
}

/// The errors and the warnings about such strings.
pub(super) fn contradictions(text: &str, tasks: &[PlanTask<'_>]) -> (Vec<String>, Vec<String>) {
    let actions: Vec<&str> = tasks.iter().filter_map(|task| task.text("action")).collect();
    let allowed = |word: &str, literal: &str| {
        text.split("<!--").skip(1).filter_map(|rest| rest.split("-->").next()).any(|comment| {
            comment.trim().strip_prefix(word).and_then(|rest| rest.strip_prefix(':')).map(str::trim) == Some(literal)
        })
    };
    let mut errors: Vec<String> = Vec::new();
    for absence in without_actions(text).into_iter().flat_map(absences).filter(|absence| !absence.is_negated) {
        let literal = absence.literal;
        if actions.iter().any(|action| absence.is_in(action)) && !allowed(ALLOWED_IN_ACTION, literal) {
            let error = format!(
                "An <action> names `{literal}`, which a check wants to be absent: describe it in other words, or allow it \
                 with <!-- {ALLOWED_IN_ACTION}: {literal} -->"
            );
            if !errors.contains(&error) {
                errors.push(error);
            }
        }
    }
    let mut warnings = Vec::new();
    for (at, task) in tasks.iter().enumerate() {
        for absence in without_actions(task.inside()).into_iter().flat_map(absences) {
            let literal = absence.literal;
            let needs = |other: &PlanTask<'_>| {
                other.files().iter().any(|file| absence.files.iter().any(|searched| same_file(searched, file)))
                    && other.text("action").is_some_and(|action| absence.is_in(action))
            };
            let others = tasks.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, other)| other);
            for other in others.filter(|other| needs(other)) {
                let name = |task: &PlanTask<'_>| task.name().unwrap_or("unnamed").to_owned();
                if !allowed(ALLOWED_IN_FILE, literal) {
                    warnings.push(format!(
                        "Task '{}' wants `{literal}` to be absent from a whole file in which task '{}' needs it: search \
                         only the part that is meant, or allow it with <!-- {ALLOWED_IN_FILE}: {literal} -->",
                        name(task),
                        name(other)
                    ));
                }
            }
        }
    }
    (errors, warnings)
}

fn same_file(one: &str, other: &str) -> bool {
    one.trim_start_matches("./") == other.trim_start_matches("./")
}

/// The parts of a text outside actions: the text of an action is not a check.
fn without_actions(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, inside)) = rest.split_once("<action") {
        parts.push(before);
        rest = inside.split_once("</action>").map_or("", |(_, after)| after);
    }
    parts.push(rest);
    parts
}

/// The searches in a text that must count zero lines, or fail.
fn absences(text: &str) -> Vec<Absence<'_>> {
    let calls = |line: &'_ str| line.match_indices("grep ").map(|(at, _)| at).collect::<Vec<_>>();
    let found = text.lines().flat_map(|line| {
        calls(line).into_iter().filter_map(|at| {
            let before = line[..at].trim_end();
            let is_word = !before.ends_with(|last: char| last.is_alphanumeric() || matches!(last, '_' | '-'));
            let is_piped = before.ends_with('|') && !before.ends_with("||");
            let is_negated = before.ends_with('!');
            let absence = absence(&line[at + "grep ".len()..], is_negated).filter(|_| is_word)?;
            Some(if is_piped { Absence { files: Vec::new(), ..absence } } else { absence })
        })
    });
    found.collect()
}

/// The shortest string that counts as significant in a plan.
const SHORTEST: usize = 3;

/// The search whose arguments are at the start of `call`, if it must fail or its count is compared with zero.
fn absence(call: &str, is_negated: bool) -> Option<Absence<'_>> {
    let (mut counts, mut any_case) = (false, false);
    let mut rest = call.trim_start();
    while let Some(flag) = rest.strip_prefix('-') {
        let (flag, after) = flag.split_once(char::is_whitespace)?;
        let (counted, ignored, inverted) = match flag.strip_prefix('-') {
            Some(long) => {
                (long == "count", long == "ignore-case", matches!(long, "invert-match" | "files-without-match"))
            }
            _ => (flag.contains('c'), flag.contains('i'), flag.contains(['v', 'L'])),
        };
        if inverted {
            return None;
        }
        counts |= counted;
        any_case |= ignored;
        rest = after.trim_start();
    }
    let quote = rest.chars().next().filter(|first| matches!(first, '"' | '\''))?;
    let (literal, after) = rest[1..].split_once(quote)?;
    if !(counts || is_negated) || literal.trim().len() < SHORTEST {
        return None;
    }
    let end = after.find([')', '`', '|', '&', ';', '<']).unwrap_or(after.len());
    let (arguments, behind) = after.split_at(end);
    let compared = arguments.find(" = ").or_else(|| arguments.find("==")).or_else(|| arguments.find("-eq"));
    let (arguments, behind) = match compared {
        Some(at) => (&arguments[..at], &after[at..]),
        None => (arguments, behind),
    };
    let files = || arguments.split_whitespace().filter(|word| !word.contains('>')).collect();
    (is_negated || is_zero(behind)).then(|| Absence { literal, any_case, files: files(), is_negated })
}

/// True if the text after a count compares it with zero.
fn is_zero(behind: &str) -> bool {
    let behind = behind.trim_start_matches([')', '`', '"', '\'', ' ', '\t']);
    let number = ["-eq", "==", "="].iter().find_map(|operator| behind.strip_prefix(operator));
    let number = number.map(|rest| rest.trim_start_matches([' ', '\t', '"', '\'']));
    number
        .and_then(|rest| rest.strip_prefix('0'))
        .is_some_and(|rest| !rest.starts_with(|next: char| next.is_alphanumeric() || matches!(next, '.' | '_')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::plan::PhasePlan;

    fn told(text: &str) -> (usize, usize) {
        let (errors, warnings) = contradictions(text, &PhasePlan::parse(text).tasks());
        (errors.len(), warnings.len())
    }

    fn task(action: &str, check: &str) -> String {
        format!(
            "<task><name>N</name><files>src/a.ts</files><action>{action}</action>\
             <verify><automated>{check}</automated></verify></task>\n"
        )
    }

    #[test]
    fn a_count_of_zero_requires_a_literal_to_be_absent() {
        for check in [
            "test $(grep -c \"oldCall\" src/a.ts) -eq 0",
            "test \"$(grep -ic 'OLDcall' src/a.ts)\" = \"0\"",
            "[[ $(grep --count 'oldCall' src/a.ts) == 0 ]]",
            "`grep -c 'oldCall' src/a.ts` == 0",
            "grep -cE \"oldCall\" src/a.ts == 0",
            "sed -n 1,9p src/a.ts | grep -c 'oldCall' == 0",
        ] {
            assert_eq!(told(&task("Remove oldCall", check)), (1, 0), "{check}");
            assert_eq!(told(&task("Remove the call of old", check)), (0, 0), "{check}");
        }
        for check in [
            "grep -q 'oldCall' src/a.ts",
            "test $(grep -c 'oldCall' src/a.ts) -eq 05",
            "test $(grep -c 'oldCall' src/a.ts) -ge 1",
            "test $(grep -cv 'oldCall' src/a.ts) -eq 0",
            "test $(grep -c oldCall src/a.ts) -eq 0",
            "grep -c 'oldCall",
            "egrep -c",
            "grep -c 'al' src/a.ts == 0",
        ] {
            assert_eq!(told(&task("Remove oldCall", check)), (0, 0), "{check}");
        }
    }

    #[test]
    fn a_whole_file_is_not_searched_for_a_literal_that_another_task_needs() {
        for (check, warnings) in [
            ("! grep -q \"oldCall\" src/a.ts", 1),
            ("npm test && ! grep -rn 'oldCall' ./src/a.ts", 1),
            ("sed -n 1,9p src/a.ts | ! grep -q 'oldCall'", 0),
            ("! grep -q 'oldCall' src/b.ts", 0),
            ("! grep -qv 'oldCall' src/a.ts", 0),
            ("grep -q 'oldCall' src/a.ts", 0),
        ] {
            let both = task("Keep oldCall in one place", "true") + &task("Clean up oldCall", check);
            assert_eq!(told(&both), (0, warnings), "{check}");
        }
        let check = "test $(grep -c \"oldCall\" ./src/a.ts) -eq 0";
        let both = task("Keep oldCall in one place", "true") + &task("Clean up", check);
        assert_eq!(told(&both), (1, 1));
        assert_eq!(told(&both.replacen("src/a.ts", "src/b.ts", 1)), (1, 0), "another file");
        let part = both.replace("test $(grep", "test $(sed -n 1,9p src/a.ts | grep");
        assert_eq!(told(&part), (1, 0), "a part of the file");
    }

    #[test]
    fn a_comment_allows_the_literal() {
        let check = "test $(grep -c \"oldCall\" src/a.ts) -eq 0";
        let both = task("Keep oldCall in one place", "true") + &task("Clean up", check);
        assert_eq!(told(&format!("{both}<!-- planner-discipline-allow: oldCall -->")), (0, 1));
        assert_eq!(told(&format!("{both}<!--planner-region-allow:oldCall-->")), (1, 0));
        assert_eq!(told(&format!("{both}<!-- planner-discipline-allow: other -->")), (1, 1));
    }

    #[test]
    fn checks_in_the_text_of_an_action_do_not_count() {
        assert_eq!(told(&task("oldCall: later grep -c 'oldCall' src/a.ts == 0", "true")), (0, 0));
        let outside = task("Remove oldCall", "true") + "<success_criteria>\n- `grep -c 'oldCall' src/a.ts` == 0\n";
        assert_eq!(told(&outside), (1, 0));
    }
}
