//! Messages in memory: what there are messages about, and processes that die meanwhile.

use super::*;
use crate::auto::event::SentMessage;
use crate::project::milestone_layout::messages::MessageTopic;

/// A milestone whose second task waits for a quota once.
fn begun(settings: &Settings) -> Simulated {
    let reset = 1_790_000_900_000;
    let dead = SessionVerdict::Dead { cause: Death::Quota, resets_at: Some(reset), text: "used up".to_owned() };
    let act = SessionActs::ended(dead);
    let actor = Sometimes { ideal: small().ideal(), kind: UnitKind::ExecuteTask, times: 1, act };
    let mut simulated = Simulated::new(project(), actor);
    let ceilings = Ceilings { sessions: Some(8), ..Ceilings::default() };
    simulated.begin(MILESTONE, false, 7, &ceilings);
    simulated.has_channel = true;
    assert!(settings.most_units.is_none());
    simulated
}

fn topics(sent: &[SentMessage]) -> Vec<MessageTopic> {
    sent.iter().map(|sent| sent.message.topic).collect()
}

#[test]
fn no_message_is_sent_twice_wherever_the_process_dies() {
    let settings = small().settings();
    let mut whole = begun(&settings);
    assert_eq!(whole.go_on(&settings).unwrap().cause, Cause::Complete);
    let all = topics(&whole.sent);
    assert_eq!(all, [MessageTopic::Waiting, MessageTopic::Resumed, MessageTopic::Ceiling, MessageTopic::Landed]);
    assert!(Memory::of(&whole.log).sending.is_empty());
    for effect in 1..=whole.effects {
        let mut simulated = begun(&settings);
        simulated.dies_at = Some(effect);
        let stop = to_its_end(&mut simulated, &settings).unwrap();
        assert_eq!(stop.cause, Cause::Complete, "effect {effect}: {stop:?}");
        let found = topics(&simulated.sent);
        // One that the process recorded, and died before it sent it, is named as lost.
        let lost = simulated
            .log
            .iter()
            .filter(|entry| matches!(&entry.event, Event::Delivered(delivery) if delivery.problem.is_some()));
        let lost = lost.count();
        let mut once = found.clone();
        once.dedup();
        assert_eq!(once, found, "effect {effect}");
        assert!(found.iter().all(|topic| all.contains(topic)), "effect {effect}: {found:?}");
        // A process that dies in the session with the quota does not learn of it.
        let has_waited = simulated.log.iter().any(|entry| matches!(entry.event, Event::Held { .. }));
        let expected = if has_waited { all.len() } else { all.len() - 2 };
        assert!(found.len() + lost >= expected, "effect {effect}: {found:?}, {lost} lost");
        let numbers: Vec<u32> = simulated.sent.iter().map(|sent| sent.number).collect();
        assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "effect {effect}: {numbers:?}");
        assert!(Memory::of(&simulated.log).sending.is_empty(), "effect {effect}");
    }
}

#[test]
fn a_stop_that_needs_a_person_says_what_to_type() {
    let settings = small().settings();
    let actor = Sometimes {
        ideal: small().ideal(),
        kind: UnitKind::ExecuteTask,
        times: u32::MAX,
        act: SessionActs::done(Vec::new()),
    };
    let mut simulated = Simulated::new(project(), actor);
    simulated.begin(MILESTONE, false, 7, &Ceilings::default());
    simulated.has_channel = true;
    let stop = simulated.go_on(&settings).unwrap();
    let sent = simulated.sent.pop().unwrap();
    assert_eq!((sent.message.topic, &sent.message.next), (MessageTopic::NeedsYou, &stop.next));
    assert!(sent.message.text.starts_with("M001 needs you: ") && !sent.message.text.contains('\n'), "{sent:?}");
}
