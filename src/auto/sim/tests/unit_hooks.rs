//! Hooks in memory: their number, and processes that die meanwhile.

use super::*;
use crate::auto::event::HookEnded;
use crate::auto::unit_hooks::followed;
use crate::project::milestone_layout::unit_hooks;

const HOOKS: &str = "---\npost_unit_hooks:\n  - name: review\n    after: [execute-task]\n    prompt: Look at {taskId}.\n  - name: notify\n    \
    after: [execute-task, plan-milestone]\n    command: ls {taskId}\n  - name: after\n    after: [hook]\n    prompt: x\npre_dispatch_hooks:\n  - name: \
    ready\n    before: [execute-task]\n    command: ls\n---\n";

fn with_hooks() -> Options {
    let mut options = simple((1, 2));
    options.preferences.hooks = followed(&unit_hooks::read(Some(HOOKS), None));
    options
}

fn begun() -> Simulated {
    let mut simulated = Simulated::new(project(), with_hooks().ideal());
    simulated.begin(MILESTONE, false, 20, &Ceilings::default());
    simulated
}

/// Returns what landed, without the records of checks, which have times.
fn landed(project: &Simulated) -> BTreeMap<String, String> {
    let texts = project.landed_texts().expect("something has landed").iter();
    texts.filter(|(path, _)| !path.ends_with("-VERIFY.json")).map(|(path, text)| (path.clone(), text.clone())).collect()
}

fn passed(simulated: &Simulated) -> Vec<&str> {
    let ended = simulated.log.iter().filter_map(|entry| match &entry.event {
        Event::HookEnded(HookEnded { hook, passed: true, .. }) => Some(hook.as_str()),
        _ => None,
    });
    ended.collect()
}

#[test]
fn each_hook_runs_once_for_its_units_wherever_the_process_dies() {
    let settings = with_hooks().settings();
    assert_eq!(settings.preferences.hooks.len(), 3, "no hook comes after a hook");
    let mut whole = begun();
    assert_eq!(whole.go_on(&settings).unwrap().cause, Cause::Complete);
    assert_eq!(passed(&whole), ["notify", "ready", "notify", "ready", "notify"]);
    let hooks: Vec<&str> =
        whole.sessions.iter().filter(|unit| unit.kind == UnitKind::Hook).map(|unit| unit.id.as_str()).collect();
    assert_eq!(hooks, ["M001/S01/T01/review", "M001/S01/T02/review"], "the last one before the slice is closed");
    for effect in 1..=whole.effects {
        let mut simulated = begun();
        simulated.dies_at = Some(effect);
        let stop = to_its_end(&mut simulated, &settings).unwrap();
        assert_eq!(stop.cause, Cause::Complete, "effect {effect}: {stop:?}");
        assert!(simulated.sessions.len() <= whole.sessions.len() + 1, "effect {effect}: {:?}", simulated.sessions);
        let memory = Memory::of(&simulated.log);
        assert_eq!(memory.accepted.get(&UnitKind::Hook), Some(&2), "effect {effect}");
        assert_eq!(passed(&simulated).len(), 5, "effect {effect}: {:?}", passed(&simulated));
        assert_eq!(landed(&simulated), landed(&whole), "effect {effect}");
    }
}
