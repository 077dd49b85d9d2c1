//! Agents that an actor starts, also in parallel, and their returns.

use crate::clients::exchange::{Reply, ToolCall};

use super::actor::{Actor, Outcome, Spawn};
use super::cast::Errand;
use super::heard::CallResult;

impl Actor {
    /// Spawns one agent and waits for its return.
    pub(crate) fn sends(&mut self, spawn: Spawn) -> Outcome {
        self.sends_side_by_side(vec![spawn]).remove(0)
    }

    /// Spawns agents in one message and waits for all of them.
    pub(crate) fn sends_side_by_side(&mut self, spawns: Vec<Spawn>) -> Vec<Outcome> {
        let mut errands = Vec::new();
        for Spawn { agent, model, argument, description, prompt, script } in spawns {
            let voice = self.scene.engine.expect_conversation(Some(&prompt));
            let name = format!("{agent} ({description})");
            self.note(&format!("spawns {name}"));
            self.scene.count_agent(&agent);
            Self::start(&name, &self.scene, voice, None, script);
            errands.push(Errand { agent, model, argument, description, prompt });
        }
        let mut outcomes: Vec<Option<Outcome>> = errands.iter().map(|_| None).collect();
        let mut open: Vec<usize> = (0..errands.len()).collect();
        while !open.is_empty() {
            let sent: Vec<&Errand> = open.iter().map(|at| &errands[*at]).collect();
            let since = self.news.len();
            let results = self.spawn_results(&sent);
            let news = self.news[since..].to_owned();
            let is_full = |result: &CallResult| self.cast().full.is_some_and(|words| result.text.contains(words));
            let (refused, taken): (Vec<_>, Vec<_>) =
                open.iter().copied().zip(results).partition(|(_, result)| is_full(result));
            assert!(!taken.is_empty(), "no agent could be started at all");
            if !refused.is_empty() {
                self.by("Refused because too many run: send it again once others have returned").quoted = false;
            }
            let running: Vec<&Errand> = taken.iter().map(|(at, _)| &errands[*at]).collect();
            let places: Vec<usize> = taken.iter().map(|(at, _)| *at).collect();
            let returned = self.returns_of(&running, taken.into_iter().map(|(_, result)| result).collect(), news);
            for (at, outcome) in places.into_iter().zip(returned) {
                outcomes[at] = Some(outcome);
            }
            open = refused.into_iter().map(|(at, _)| at).collect();
        }
        outcomes.into_iter().flatten().collect()
    }

    /// Starts agents in one message; returns the immediate result of each call.
    fn spawn_results(&mut self, errands: &[&Errand]) -> Vec<CallResult> {
        let mut calls: Vec<ToolCall> = errands.iter().map(|errand| (self.cast().hands.spawn)(errand)).collect();
        let reply = match calls.len() {
            1 => Reply::Call(calls.remove(0)),
            _ => Reply::Calls(calls),
        };
        let heard = self.turn(reply);
        let mut results = self.new_results(&heard);
        assert_eq!(results.len(), errands.len(), "not every spawn was answered: {results:?}");
        // Two worktrees created at the same moment may conflict: that spawn is repeated, once.
        for (errand, result) in errands.iter().zip(&mut results) {
            if result.failed && !result.text.contains("hook error") {
                self.note(&format!("spawns {} again: {:.200}", errand.description, result.text));
                let heard = self.turn(Reply::Call((self.cast().hands.spawn)(errand)));
                *result = self.new_results(&heard).remove(0);
            }
        }
        results
    }

    /// The returns of the agents: immediate, reported later, or fetched.
    fn returns_of(&mut self, errands: &[&Errand], results: Vec<CallResult>, mut news: String) -> Vec<Outcome> {
        let launched = self.cast().launched;
        let mut returns: Vec<Option<String>> = Vec::new();
        for (errand, result) in errands.iter().zip(results) {
            assert!(!result.failed, "{} was not spawned: {:.600}", errand.description, result.text);
            Self::refuse_refusals(&result.text);
            let waits = launched.is_some_and(|words| result.text.contains(words));
            returns.push((!waits).then_some(result.text));
        }
        while returns.iter().any(Option::is_none) {
            for (errand, slot) in errands.iter().zip(&mut returns).filter(|(_, slot)| slot.is_none()) {
                *slot = (self.scene.cast.returned)(&news, errand);
            }
            if returns.iter().any(Option::is_none) {
                let reply = match self.cast().hands.wait {
                    Some(wait) => Reply::Call(wait()),
                    None => Reply::Say("Waiting for the agents.".to_owned()),
                };
                let heard = self.turn(reply);
                let results = self.new_results(&heard);
                let fetched: Vec<String> = results.into_iter().map(|result| result.text).collect();
                news = format!("{}\n{}", fetched.join("\n"), heard.news);
            }
        }
        let outcome = |(errand, text): (&&Errand, Option<String>)| {
            let call = format!("agent {}", errand.description);
            Outcome { call, text: text.unwrap_or_default() }
        };
        errands.iter().zip(returns).map(outcome).collect()
    }
}
