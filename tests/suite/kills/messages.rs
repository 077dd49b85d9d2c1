//! `kill -9` of a run that sends messages: none arrives twice, and one that may be lost is named.

use std::collections::BTreeMap;
use std::time::Duration;

use super::bench::{Bench, says_landed};
use super::engine::{Chance, seed, wanted};
use crate::auto_messages::{Manner, own, receiver};

/// The kills of one run.
const EACH: usize = 6;

#[test]
#[ignore = "slow: minutes"]
fn no_message_arrives_twice_however_often_the_process_is_killed() {
    let (seed, wanted) = (seed(), wanted().unwrap_or(12));
    let mut chance = Chance::new(seed);
    let (mut kills, mut lost) = (0, 0);
    while kills < wanted {
        let bench = Bench::new("ideal").flag("--max-sessions").flag("14");
        let (address, requests) = receiver(Manner::Answers("200 OK"));
        own(&bench.context, &format!("messages:\n  webhook: {address}/x\n"));
        let mut ended = None;
        for number in 0..EACH {
            let (entries, announced) = (bench.log().len(), bench.count("announced"));
            let (more, shortly) = (1 + usize::try_from(chance.below(12)).unwrap(), chance.below(40_000));
            let mut engine = bench.start();
            // The last kills are close to a message.
            let is_due =
                || if number < 3 { bench.log().len() >= entries + more } else { bench.count("announced") > announced };
            while !engine.is_over() && !is_due() {
                std::thread::sleep(Duration::from_millis(3));
            }
            if engine.is_over() {
                ended = Some(engine.end());
                break;
            }
            std::thread::sleep(Duration::from_micros(shortly));
            engine.kill();
            kills += 1;
        }
        let ended = ended.unwrap_or_else(|| bench.run());
        assert!(says_landed(&ended.text) || ended.code == Some(13), "seed {seed}: {}", ended.text);
        let mut topics: BTreeMap<String, usize> = BTreeMap::new();
        for (request, _) in requests.try_iter() {
            let body: serde_json::Value = serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap();
            *topics.entry(body["topic"].as_str().unwrap().to_owned()).or_default() += 1;
        }
        assert!(topics.values().all(|count| *count == 1), "seed {seed}: {topics:?}");
        let events = bench.events("delivered");
        let unknown = events.iter().filter(|entry| entry["problem"].is_string()).count();
        lost += unknown;
        // Each message arrived, or is named.
        assert!(topics.len() + unknown >= bench.count("announced"), "seed {seed}: {topics:?}, {events:?}");
        assert!(bench.count("announced") >= 1, "seed {seed}");
    }
    println!("{kills} kills (seed {seed}): no message twice, {lost} of which it is not known whether they arrived");
}
