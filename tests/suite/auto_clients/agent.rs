//! The model of a run: it does only what the prompt of its unit orders, with the tools of the client.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

use super::order::Order;
use super::own;
use super::texts::{self, SLICES, Slice, Task};
use crate::clients::faults::Usage;
use crate::clients::server::{Part, Reply, Request};
use crate::kit::verbs;
use crate::play::cast::Hands;

/// The usage reported for every answer.
const COST: Usage = Usage { input: 900, cached: 300, output: 70 };

/// The call with which an agent records what later ones should know.
const RECORD: &str = "auto record knowledge";

/// The task whose first session cheats.
pub(crate) const CHEATED: &str = "M001/S01/T02";

#[derive(Debug)]
pub(crate) struct Agent {
    hands: Hands,
    /// True if it also writes a file with its shell.
    writes_by_shell: bool,
    /// True if it empties an earlier test in the first attempt at [`CHEATED`].
    cheats: bool,
    /// The client whose user's files it tries to change with its shell.
    tampers: Option<&'static str>,
    /// How many steps of each unit are done, by its prompt.
    done: Mutex<BTreeMap<String, usize>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Read(String),
    Write(String, String),
    Shell(String),
}

impl Agent {
    pub(crate) fn new(hands: Hands, writes_by_shell: bool) -> Self {
        Self { hands, writes_by_shell, cheats: false, tampers: None, done: Mutex::default() }
    }

    /// The same agent, which in each task also tries to change its user's files if it may use its shell.
    pub(crate) fn that_tampers(self, client: &'static str) -> Self {
        Self { tampers: self.writes_by_shell.then_some(client), ..self }
    }

    pub(crate) fn that_cheats(hands: Hands) -> Self {
        Self { cheats: true, ..Self::new(hands, true) }
    }
}

impl Part for Agent {
    fn reply(&self, request: &Request) -> Reply {
        let Some(order) = Order::within(&request.text()) else { return Reply::Say("Nothing to say.".to_owned()) };
        let folder = Path::new(order.fact("Working directory"));
        let path = |path: &str| folder.join(path).to_string_lossy().into_owned();
        let mut all = self.done.lock().unwrap();
        let done = all.entry(order.prompt.clone()).or_default();
        let mut steps = steps(&order, self.writes_by_shell);
        if self.cheats && order.id == CHEATED && !order.prompt.contains("\nAttempt: ") {
            let earlier = SLICES[0].tasks[0].test_path();
            steps.push(Step::Shell(format!("printf '%s\\n' 'import unittest' > {earlier}")));
        }
        if let Some(client) = self.tampers.filter(|_| order.kind == "execute-task") {
            steps.insert(0, Step::Shell(own::tampering(client)));
        }
        let step = steps.into_iter().nth(*done);
        *done += 1;
        match step {
            Some(Step::Read(file)) => Reply::Call((self.hands.read)(&file, &path(&file))),
            Some(Step::Write(file, text)) => Reply::Call((self.hands.write)(&path(&file), &text)),
            Some(Step::Shell(line)) => Reply::Call((self.hands.shell)(&line)),
            None => Reply::Say(format!("{} {} is done.", order.kind, order.id)),
        }
    }

    fn usage(&self, _request: &Request) -> Usage {
        COST
    }
}

/// The steps of a unit, in order.
fn steps(order: &Order, writes_by_shell: bool) -> Vec<Step> {
    let mut steps: Vec<Step> = order.mandatory().into_iter().map(|path| Step::Read(path.to_owned())).collect();
    let write = |what: &str, text: String| Step::Write(order.target(what).to_owned(), text);
    match order.kind.as_str() {
        "discuss-milestone" => {
            steps.push(write("context", texts::CONTEXT.to_owned()));
            steps.push(write("requirements", texts::REQUIREMENTS.to_owned()));
        }
        "plan-milestone" => {
            steps.push(Step::Shell("python3 -m unittest".to_owned()));
            steps.push(write("roadmap", texts::roadmap()));
            let slice = &SLICES[0];
            steps.push(write("first slice plan", texts::slice_plan(slice, &slice.citation())));
            steps.extend(task_plans(slice, order.target("its task plans, one a task")));
            let owned = texts::REQUIREMENTS.replace("slice: none yet", "slice: M001/S01");
            steps.push(write("requirements, only their owners", owned));
        }
        "plan-slice" => {
            let slice = slice_of(order);
            steps.push(write("slice plan", texts::slice_plan(slice, order.fact("Second line of the slice plan"))));
            steps.extend(task_plans(slice, order.target("task plans, one a task")));
        }
        "execute-task" => steps.extend(task(order, writes_by_shell)),
        other => panic!("nobody expected the unit `{other} {}`", order.id),
    }
    steps
}

fn slice_of(order: &Order) -> &'static Slice {
    let id = order.id.split('/').nth(1).unwrap();
    SLICES.iter().find(|slice| slice.id == id).unwrap()
}

/// `form` is a path with `T##` instead of the task.
fn task_plans(slice: &Slice, form: &str) -> Vec<Step> {
    slice.tasks.iter().map(|task| Step::Write(form.replace("T##", task.id), task.plan())).collect()
}

fn task(order: &Order, writes_by_shell: bool) -> Vec<Step> {
    let slice = slice_of(order);
    let task: &Task = slice.tasks.iter().find(|task| order.id.ends_with(task.id)).unwrap();
    let mut steps = vec![
        Step::Read("shelf/__init__.py".to_owned()),
        // Some agents write with their shell.
        if writes_by_shell && (slice.id, task.id) == ("S02", "T02") {
            Step::Shell(format!("cat > {} <<'END'\n{}END", task.source_path(), task.source()))
        } else {
            Step::Write(task.source_path(), task.source())
        },
        Step::Write(task.test_path(), task.test()),
    ];
    steps.push(Step::Shell(order.fact("Verify").to_owned()));
    steps.extend(order.checks().into_iter().map(|check| Step::Shell(check.to_owned())));
    if order.orders(RECORD) && verbs().iter().any(|(verb, _)| verb == RECORD) {
        let line =
            format!("gsd-tools {RECORD} pattern 'A shelf is a dictionary ({})' --why 'the plan of {0}'", order.id);
        steps.push(Step::Shell(line));
    }
    steps.push(Step::Write(order.target("task summary").to_owned(), task.summary(slice.id)));
    steps
}
