//! The pipeline: takes a milestone from its brief to the branch it lands on, by driving the user's own agent.
//!
//! Files are the source of truth, and one log is the memory. Pure functions of both decide what to do next; the code
//! with effects is in `runner`, `landing` and `engine`; the checks are in the module `gate`.
//!
//! # From documents to a commit
//!
//! ```text
//! documents -> slices::Snapshot -> derive -> State -> rules -> Position ┐
//! log       -> Memory ──────────────────────────────────────────────────┴-> decide -> Step -> Effects -> log
//! ```
//!
//! `slices` is the layout in milestones, slices and tasks (`.gsd/`). `phases` is the one in phases (`.planning/`): its
//! next step is `UpNext`, its units are installed workflows, and its phases are closed by the operation of `phase
//! complete`. `layout` is the one place where the engine distinguishes them, and a `Position` is all that `decide`
//! knows of either. `engine` performs one step at a time through the trait `Effects` and records it: `sim` implements
//! it in memory, with agents that are functions, and `real` on a project. A run whose process dies at any point is
//! continued from the log. The next process first ends what the dead one left (`real::leftovers`): sessions and checks
//! at once, by the marks in the log; git is waited for, since a killed one leaves its locks. `tests/suite/kills` does
//! all this to real processes.
//!
//! # What counts
//!
//! A session counts only if its own stream says success, the files it had to leave are there, it changed only what it
//! may, it added no line that looks like a key (`gate::secrets`) and no link that leads out of the project, and its
//! checks pass on the tree it left. What it may write in the planning folder is the list "Write" of its prompt
//! (`permit`). Other changes are put back and named; one that decides what is done makes the unit not count. What a
//! refused session left is taken back before anything is derived, and kept at a reference that prompt, log and stop
//! name. What changed while no session ran was a person's: it counts, and the log says so (`Edited`).
//!
//! Checks, test files and settings are pinned before the first attempt (`gate::pins`); afterwards `gate::tamper`
//! compares, the tests that ran are counted against the last time, and pinned files are put back for checks of work
//! that weakened them. Checks run on a checkout of exactly the tree that is committed (`real::checkout`), made ready
//! by a set-up that a person approved (`set_up`, `real::ready`), with the packages that are installed in the person's
//! checkout (`environments`); one that cannot run there stops the run before it costs anything (`real::needed`). A new file that git ignores and that plan or checks
//! need is named (`real::hidden`). Before the first session the checks of the project run on what the run began with
//! (`Baseline`). On the candidate, a check that passed in the work has to pass; one that did not is excused by the
//! target only for tests that failed each time (`Memory::excuses`). A check that no session can read (`held_out`) runs
//! at the end of each slice or phase and on the candidate. After a landing `proof` makes a statement of it from the
//! log, which `landing::notes` keeps in `refs/notes/gsd`. A preference that asks for something else than what happens
//! is refused at the start (`asked`). With `--land ask` or `pr` a candidate that passed waits for a person
//! (`engine::request`): it lands by `auto land`, or by a pull request (`pull_request`, `landing::remote`). `tests/cheats` are sessions that cheat, as data.
//!
//! # What a session gets
//!
//! `mechanical` does what needs no agent. `prompt` puts the prompt together from `templates/auto`, the common part
//! first. `runner` has the clients as data and one parser for each form of stream. A session finds this program in its
//! `PATH` and has a temporary folder that is removed after it. What a run may spend is reserved in the log before a
//! session starts (`ceilings`). What a person decides (`slices::orders`) becomes edits of the documents: at once if no
//! run is active, else by a note that the run follows between two units (`real::orders`). The log, the streams and the
//! brief are notes of this computer (`LocalState`), never files of the project.

pub(crate) mod account;
pub(crate) mod asked;
pub(crate) mod brought;
pub(crate) mod caches;
pub(crate) mod ceilings;
pub(crate) mod clean;
pub(crate) mod decide;
pub(crate) mod decided;
pub(crate) mod demo;
pub(crate) mod engine;
pub(crate) mod environments;
pub(crate) mod event;
pub(crate) mod expected;
pub(crate) mod held_out;
pub(crate) mod hold;
pub(crate) mod landing;
pub(crate) mod layout;
pub(crate) mod mechanical;
pub(crate) mod memory;
pub(crate) mod messages;
pub(crate) mod permit;
pub(crate) mod phases;
pub(crate) mod position;
pub(crate) mod preferences;
pub(crate) mod probe;
pub(crate) mod prompt;
pub(crate) mod proof;
pub(crate) mod pull_request;
pub(crate) mod real;
pub(crate) mod report;
pub(crate) mod runner;
pub(crate) mod runs;
pub(crate) mod set_up;
pub(crate) mod sim;
pub(crate) mod slices;
pub(crate) mod slot;
pub(crate) mod status;
pub(crate) mod stop;
pub(crate) mod story;
pub(crate) mod supervise;
pub(crate) mod unit;
pub(crate) mod unit_hooks;
