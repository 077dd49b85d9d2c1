//! Work that waits for a person before it lands, and processes that die meanwhile.

use super::*;
use crate::auto::event::{LandingMode, Means};

fn begun(landing: LandingMode) -> Simulated {
    let mut simulated = Simulated::new(project(), small().ideal());
    simulated.begin(MILESTONE, false, 40, &Ceilings::default());
    let Some(Entry { event: Event::Started(run), .. }) = simulated.log.last_mut() else { panic!("it begins") };
    run.means.landing = landing;
    simulated
}

/// A person continues the run, and wants this commit to land.
fn reviewed(simulated: &mut Simulated, landing: LandingMode, commit: Option<String>) {
    let at = simulated.now();
    let event = Event::Resumed {
        engine: 1,
        process: 2,
        runner: String::new(),
        profile: String::new(),
        ceilings: Ceilings::default(),
        allowed_keys: Vec::new(),
        fenced: None,
        reviewed: commit,
        means: Means { landing, ..Means::default() },
    };
    simulated.log.push(Entry { at, event });
}

#[test]
fn nothing_lands_before_a_person_has_seen_it_wherever_the_process_dies() {
    let settings = small().settings();
    for (landing, cause) in [(LandingMode::Ask, Cause::Review), (LandingMode::Request, Cause::PullRequest)] {
        let mut whole = begun(landing);
        assert_eq!(whole.go_on(&settings).unwrap().cause, cause);
        for effect in 1..=whole.effects {
            let mut simulated = begun(landing);
            simulated.dies_at = Some(effect);
            let stop = to_its_end(&mut simulated, &settings).unwrap();
            assert_eq!((stop.cause, simulated.landed.len()), (cause, 0), "effect {effect}: {stop:?}");
            let waiting = Memory::of(&simulated.log).waiting.expect("it waits").commit;
            let pushed = (landing == LandingMode::Request).then(|| waiting.clone());
            assert_eq!(simulated.pushed, pushed, "effect {effect}");
            // Another commit than the one that was shown waits again.
            reviewed(&mut simulated, landing, Some("0000".to_owned()));
            assert_eq!(simulated.go_on(&settings).unwrap().cause, cause, "effect {effect}");
            reviewed(&mut simulated, landing, Some(waiting.clone()));
            assert_eq!(simulated.go_on(&settings).unwrap().cause, Cause::Complete, "effect {effect}");
            assert_eq!(simulated.landed, [waiting], "effect {effect}");
        }
    }
}

#[test]
fn a_review_counts_for_the_commit_that_was_shown_and_not_for_a_later_one() {
    let settings = small().settings();
    let mut simulated = begun(LandingMode::Ask);
    assert_eq!(simulated.go_on(&settings).unwrap().cause, Cause::Review);
    let first = Memory::of(&simulated.log).waiting.unwrap().commit;
    simulated.files.texts.insert("src/by-hand.txt".to_owned(), "corrected".to_owned());
    reviewed(&mut simulated, LandingMode::Ask, Some(first.clone()));
    assert_eq!(simulated.go_on(&settings).unwrap().cause, Cause::Review);
    let second = Memory::of(&simulated.log).waiting.unwrap().commit;
    assert!(second != first && simulated.landed.is_empty());
    reviewed(&mut simulated, LandingMode::Ask, Some(second.clone()));
    assert_eq!(simulated.go_on(&settings).unwrap().cause, Cause::Complete);
    assert_eq!(simulated.landed, [second]);
}
