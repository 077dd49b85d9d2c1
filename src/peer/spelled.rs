//! Calls as other programs spell them: after the word `query`, with a dot between the words of a verb, and with a flag
//! for the exit codes.

use std::ffi::OsString;

use crate::frame::argv::{Invocation, VERBATIM};

const QUERY: &str = "query";
const EXIT_CONTRACT: &str = "--exit-contract=";

/// Takes out what only these programs say, before the flags of every command are read; gives the contract that is asked for.
pub(crate) fn take_contract(arguments: &mut Vec<OsString>) -> Option<String> {
    let contract = |argument: &OsString| argument.to_str()?.strip_prefix(EXIT_CONTRACT).map(str::to_owned);
    let is_flag =
        |argument: &OsString| argument == "--json-errors" || argument == QUERY || contract(argument).is_some();
    let first = arguments.iter().position(|argument| !is_flag(argument));
    // Words after this one belong to another program.
    let verbatim = first.filter(|first| arguments[*first] == VERBATIM);
    let ours = verbatim.unwrap_or(arguments.len());
    let asked = arguments[..ours].iter().find_map(contract);
    let mut at = 0;
    arguments.retain(|argument| {
        at += 1;
        at > ours || contract(argument).is_none() && (verbatim.is_none() || argument != QUERY)
    });
    asked
}

/// Spells the words as families know them: `query roadmap.get-phase` is `roadmap get-phase`.
pub(crate) fn respell(call: &mut Invocation) {
    if call.words.first().is_some_and(|first| first == QUERY) {
        call.words.remove(0);
    }
    let Some((family, verb)) = call.words.first().and_then(|first| first.split_once('.')) else { return };
    if family.is_empty() || verb.is_empty() {
        return;
    }
    let (family, verb) = (family.to_owned(), verb.to_owned());
    call.dotted = Some(std::mem::replace(&mut call.words[0], family));
    call.words.insert(1, verb);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::argv;

    fn call(line: &str) -> (Invocation, Option<String>) {
        let mut arguments = line.split(' ').map(OsString::from).collect();
        let contract = take_contract(&mut arguments);
        let mut call = argv::parse(arguments).unwrap();
        respell(&mut call);
        (call, contract)
    }

    #[test]
    fn query_is_dropped_and_the_first_word_is_split_at_its_first_dot() {
        assert_eq!(call("query config-get a.b").0.words, ["config-get", "a.b"]);
        assert_eq!(call("--cwd /x query check.a.b x").0.words, ["check", "a.b", "x"]);
        assert_eq!(call("state.json").0.dotted.as_deref(), Some("state.json"));
        assert_eq!(call(".planning x").0.words, [".planning", "x"]);
        assert_eq!(call("query query x").0.words, ["query", "x"]);
    }

    #[test]
    fn the_contract_is_taken_out_and_another_programs_arguments_are_left_alone() {
        let (call, contract) = call("--exit-contract=v1 query run-with-timeout 5 ls --exit-contract=v2 query");
        assert_eq!(call.words, ["run-with-timeout", "5", "ls", "--exit-contract=v2", "query"]);
        assert_eq!(contract.as_deref(), Some("v1"));
    }
}
