//! Compares a statement with the commit that it is kept for, and with new runs of its checks.

use super::statement::{Recorded, Statement};
use crate::auto::landing::id::{Commit, Tree};
use crate::gate::evidence::CheckRun;

/// A commit as git stores it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommitRead {
    pub(crate) commit: Commit,
    pub(crate) tree: Tree,
    pub(crate) parents: Vec<Commit>,
}

impl CommitRead {
    /// Parses the output of `git cat-file commit`, which is the object itself: even a shallow clone has all its
    /// parents.
    pub(crate) fn of(commit: Commit, object: &str) -> Option<Self> {
        let head = object.lines().take_while(|line| !line.is_empty());
        let named = |wanted: &'static str| {
            head.clone().filter_map(move |line| line.split_once(' ')).filter(move |(name, _)| *name == wanted)
        };
        let tree = named("tree").find_map(|(_, id)| Tree::parse(id))?;
        let parents = named("parent").filter_map(|(_, id)| Commit::parse(id)).collect();
        Some(Self { commit, tree, parents })
    }
}

/// Returns why a statement is not about the landing of this commit, one sentence each.
pub(crate) fn with_commit(statement: &Statement, landed: &CommitRead) -> Vec<String> {
    let mut found = Vec::new();
    let commit = statement.digest("gitCommit").unwrap_or("none");
    if commit != landed.commit.as_str() {
        found.push(format!("it is about another commit: {commit}"));
    }
    let (tree, checks) = (statement.digest("gitTree").unwrap_or("none"), &statement.predicate.checks);
    if tree != landed.tree.as_str() {
        found.push(format!("it names the tree {tree}, and the commit has {}", landed.tree));
    }
    if checks.tree != landed.tree.as_str() {
        found.push(format!("its checks ran on the tree {}, and the commit has {}", checks.tree, landed.tree));
    }
    let base = &statement.predicate.landing.base;
    if !matches!(landed.parents.as_slice(), [only] if only.as_str() == base) {
        found.push(format!("it says that the branch was at {base} before, and that is not the parent of the commit"));
    }
    let failed = checks.commands.iter().filter(|check| !check.passed && !check.flaky && !check.decided);
    found.extend(failed.map(|check| format!("it says that `{}` did not pass", check.command)));
    if checks.commands.is_empty() && checks.why_none.is_none() {
        found.push("it has no check, and does not say why".to_owned());
    }
    if !checks.passed {
        found.push("it says that the checks did not pass".to_owned());
    }
    found
}

/// Returns the difference between the recorded result of a check and the current one, if any.
pub(crate) fn of_check(recorded: &Recorded, now: &CheckRun) -> Option<String> {
    let Recorded { command, exit_code, .. } = recorded;
    // A check with different results on the same tree may have either.
    let may_pass = recorded.flaky && now.exit_code == 0;
    if now.exit_code != *exit_code && !may_pass {
        return Some(format!("`{command}` exits {}, and {exit_code} is recorded", now.exit_code));
    }
    let tests_now = now.counts.as_ref().map(|counts| (counts.ran, counts.failed));
    let tests_then = recorded.tests.map(|tests| (tests.ran, tests.failed));
    if tests_now != tests_then && !recorded.flaky {
        let said = |tests: Option<(u64, u64)>| match tests {
            None => "no tests".to_owned(),
            Some((ran, failed)) => format!("{ran} tests, {failed} failed"),
        };
        return Some(format!("`{command}` counts {}, and {} is recorded", said(tests_now), said(tests_then)));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auto::event::{CheckRun as Checked, CheckedTree, Entry, Event, Run, Tests, Time};
    use crate::auto::memory::Memory;
    use crate::auto::proof::statement::PREDICATE;
    use crate::disk::Digest;
    use crate::gate::evidence::{CheckVerdict, TestCounts};

    fn name(digit: char) -> String {
        digit.to_string().repeat(40)
    }

    /// Returns the memory of a run that has landed the commit `c`, with the tree `7`, on `b`.
    fn memory() -> Memory {
        let run: Run = serde_json::from_value(serde_json::json!({
            "run": "M001-1", "engine": 1, "process": 1, "milestone": "M001", "target": "main", "base": name('b'),
            "branch": "milestone/M001", "worktree": "/w", "runner": "fake", "profile": "safe", "fenced": true,
            "forecast": 1, "ceilings": crate::auto::ceilings::Ceilings::default(),
        }))
        .unwrap();
        let (base, head, tree, commit) = (name('b'), name('e'), name('7'), name('c'));
        let candidate =
            Event::Candidate { milestone: "M001".to_owned(), base, head, tree: tree.clone(), commit: commit.clone() };
        let check = Checked {
            command: "cargo test".to_owned(),
            exit_code: 0,
            milliseconds: 5,
            digest: "d".repeat(64),
            passed: true,
            tests: Some(Tests { ran: 3, failed: 0, skipped: 1 }),
            failing: Vec::new(),
        };
        let evidence = CheckedTree {
            tree,
            source: "cargo".to_owned(),
            passed: true,
            checks: vec![check],
            ..CheckedTree::default()
        };
        let events = [Event::Started(run), candidate, Event::CandidateChecked { commit, evidence }];
        let entries: Vec<Entry> = events.map(|event| Entry { at: Time::default(), event }).into();
        Memory::of(&entries)
    }

    fn statement() -> Statement {
        Statement::of(&memory(), None).unwrap()
    }

    fn commit(id: char, tree: char, parents: &[char]) -> CommitRead {
        let parents: Vec<String> = parents.iter().map(|parent| format!("parent {}\n", name(*parent))).collect();
        let parents = parents.concat();
        let object = format!("tree {}\n{parents}author A <a> 0 +0000\n\nparent {}\n", name(tree), name('9'));
        CommitRead::of(Commit::parse(&name(id)).unwrap(), &object).unwrap()
    }

    #[test]
    fn the_same_landing_gives_the_same_text_and_can_be_read_back() {
        let payload = statement().payload().unwrap();
        assert_eq!(payload, statement().payload().unwrap());
        assert_eq!(Statement::read(&payload), Some(statement()));
        let text = String::from_utf8(payload).unwrap();
        let head = format!(
            "{{\"_type\":\"https://in-toto.io/Statement/v1\",\"subject\":[{{\"name\":\"commit\",\"digest\":{{\"gitCommit\":\"{}\"}}}},\
             {{\"name\":\"tree\",\"digest\":{{\"gitTree\":\"{}\"}}}}],\"predicateType\":\"{PREDICATE}\",",
            name('c'),
            name('7')
        );
        assert!(text.starts_with(&head), "{text}");
        assert!(text.contains("\"heldOut\":null") && !text.contains("unsigned"), "{text}");
        // Fields of a later version are ignored, another type is not.
        let later = text.replacen("\"heldOut\":null", "\"heldOut\":null,\"later\":{}", 1);
        assert_eq!(Statement::read(later.as_bytes()), Some(statement()));
        assert_eq!(Statement::read(text.replace("#landing-v1", "#landing-v2").as_bytes()), None);
    }

    #[test]
    fn an_unsigned_statement_says_so_twice() {
        let unsigned = Statement::of(&memory(), Some("git does not sign commits here".to_owned())).unwrap();
        let predicate = &unsigned.predicate;
        assert_eq!(predicate.unsigned.as_deref(), Some("git does not sign commits here"));
        assert!(predicate.does_not_prove.iter().any(|sentence| sentence.ends_with("it is not signed.")));
        assert!(!statement().predicate.does_not_prove.iter().any(|sentence| sentence.contains("signed")));
    }

    #[test]
    fn a_statement_fits_only_its_commit() {
        assert_eq!(with_commit(&statement(), &commit('c', '7', &['b'])), [""; 0]);
        for (other, word) in [
            (commit('d', '7', &['b']), "another commit"),
            (commit('c', '8', &['b']), "names the tree"),
            (commit('c', '7', &['a']), "not the parent"),
            (commit('c', '7', &[]), "not the parent"),
            (commit('c', '7', &['b', 'a']), "not the parent"),
        ] {
            let found = with_commit(&statement(), &other).join("\n");
            assert!(found.contains(word), "{word}: {found}");
        }
        let mut changed = statement();
        changed.predicate.checks.tree = name('8');
        changed.predicate.checks.commands[0].passed = false;
        let found = with_commit(&changed, &commit('c', '7', &['b'])).join("\n");
        changed.predicate.checks.commands.clear();
        assert!(with_commit(&changed, &commit('c', '7', &['b'])).join("\n").contains("it has no check"));
        assert!(found.contains("its checks ran on the tree") && found.contains("`cargo test` did not pass"), "{found}");
    }

    #[test]
    fn a_check_differs_by_its_exit_code_and_its_number_of_tests() {
        let recorded = &statement().predicate.checks.commands[0];
        let now = |exit_code: i32, counts: Option<(u64, u64)>| CheckRun {
            command: recorded.command.clone(),
            exit_code,
            duration_ms: 1,
            digest: Digest::of(b""),
            tail: String::new(),
            verdict: CheckVerdict::Pass,
            runs: 1,
            counts: counts.map(|(ran, failed)| TestCounts { ran, failed, ..TestCounts::default() }),
            survivors: Vec::new(),
        };
        let said = |recorded: &Recorded, now: &CheckRun| of_check(recorded, now).unwrap_or_default();
        assert_eq!(said(recorded, &now(0, Some((3, 0)))), "", "tests that are skipped depend on the computer");
        assert_eq!(said(recorded, &now(1, Some((3, 1)))), "`cargo test` exits 1, and 0 is recorded");
        assert_eq!(
            said(recorded, &now(0, Some((2, 0)))),
            "`cargo test` counts 2 tests, 0 failed, and 3 tests, 0 failed is recorded"
        );
        assert!(said(recorded, &now(0, None)).contains("counts no tests"));
        let flaky = Recorded { flaky: true, exit_code: 1, ..recorded.clone() };
        assert_eq!((said(&flaky, &now(0, None)), said(&flaky, &now(1, None))), (String::new(), String::new()));
        assert_ne!(said(&flaky, &now(2, None)), "");
    }
}
