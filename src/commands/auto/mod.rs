//! `auto`: a milestone from its brief to the branch it lands on.

mod abandon;
mod card;
mod demo;
mod discuss;
mod live;
mod orders;
mod probe;
mod proof;
mod report;
mod run;
mod sim;
mod steps;
mod texts;
mod views;
mod watch;

#[cfg(test)]
use crate::auto::sim::report::SimReport;
#[cfg(test)]
use crate::auto::status::{RuleRow, StatusReport};
use crate::frame::verbs;

verbs! {
    "Pipeline" (own);
    groups {
        "auto": "Run a milestone unattended and follow its progress";
        "auto record": "Record what later units have to know";
    }

    /// Run a small milestone in a temporary project, without an agent
    ///
    /// A script plays the agent; everything else is what `auto run` does: brief, plan, two slices, checks, and one commit that
    /// lands. Takes a few seconds, requires git and sh, and uses no network. Writes only to a temporary folder and removes
    /// it; `--keep` keeps the project.
    ///
    /// Example: `gsd-tools demo`.
    "demo": runs [asked] json(crate::acts::auto::demo::DemoReport) = demo::demo(demo::DemoArgs);

    /// Show how far the milestone is, and what a run would do next
    ///
    /// Reads the documents of the project and the log of its run. Changes nothing.
    ///
    /// Example: `gsd-tools auto status --pick next.action`.
    "auto status": reads json(StatusReport) = views::status();

    /// Show how many sessions the milestone takes
    ///
    /// Counts the remaining sessions, assuming that none has to be repeated. What is not planned yet is assumed: four
    /// slices with three tasks each, or what `--shape` says.
    ///
    /// Example: `gsd-tools auto plan --pick sessions`.
    "auto plan": reads json(crate::acts::auto::seen::SessionPlanReport) = views::plan(views::AutoPlanArgs);

    /// Show the rules that decide what a run does next
    ///
    /// The first rule that applies decides. `--explain` shows for each rule why it does or does not apply here.
    ///
    /// Example: `gsd-tools auto rules --explain`.
    "auto rules": reads json(Vec<RuleRow>) = views::rules(views::RulesArgs);

    /// Run the milestone until it has landed, or something stops it
    ///
    /// Starts a session of the client for each unit, runs the checks, commits, and merges the result into the branch. Works
    /// in a separate worktree; your files change only when the milestone lands. Prints the command that continues it when it
    /// stops. With `--detach` another process runs it, and this call ends when it has begun. Exit codes: 0 done, 10 a person is needed, 11 paused, 12 stuck, 13 a ceiling was reached, 75 another run is active.
    ///
    /// Example: `gsd-tools auto run --brief BRIEF.md`.
    "auto run": runs [asked] json(crate::acts::auto::start::run_report::RunReport) = run::run(run::RunArgs);

    /// Land work that waits for your review
    ///
    /// After `auto run --land ask`, and instead of a pull request after `--land pr`. `gsd-tools auto diff` shows what would
    /// land. Lands exactly the commit that waits; if the target has moved since, the work is merged and checked again, and
    /// waits again. Asks at a terminal. No agent may call it.
    ///
    /// Example: `gsd-tools auto land`.
    "auto land": runs [asked] json(crate::acts::auto::start::run_report::RunReport) = run::land(run::LandArgs);

    /// Run one unit of the milestone, then stop
    ///
    /// `gsd-tools auto status` shows which one that is.
    ///
    /// Example: `gsd-tools auto next`.
    "auto next": runs [asked] json(crate::acts::auto::start::run_report::RunReport) = run::next(run::RunArgs);

    /// Run one unit that you name, then stop
    ///
    /// Kinds: research, plan, execute, complete, reassess, uat, replan, validate, or the full name of a unit; in a project in
    /// phases discuss, plan and execute. Without an identifier it is about what is next.
    ///
    /// Example: `gsd-tools auto dispatch validate M001`.
    "auto dispatch": runs [asked] json(crate::acts::auto::start::run_report::RunReport) = run::dispatch(run::DispatchArgs);

    /// Finish the current unit, then pause until the next `auto run`
    ///
    /// `--now` ends the session that runs at once; the next `auto run` continues it if the client can.
    ///
    /// Example: `gsd-tools auto pause`.
    "auto pause": runs [asked] json(crate::acts::auto::control::ControlReport) = run::pause(run::ControlArgs);

    /// Finish the current unit, then stop the run, or end its wait
    ///
    /// Like `auto pause`, and the status shows it as stopped, not as paused. It ends a wait for a quota at once; `--now` ends the
    /// session that runs. `gsd-tools auto run` continues.
    ///
    /// Example: `gsd-tools auto stop --now`.
    "auto stop": runs [asked] json(crate::acts::auto::control::ControlReport) = run::stop(run::ControlArgs);

    /// Stop a run for good, and remove its worktree and branch
    ///
    /// Ends what the run left running. The head of its branch, changes that are not committed and ignored files are kept
    /// under `refs/gsd/keep/` for 30 days; the answer names them, and the command that brings the work back. The next
    /// `auto run` begins afresh. With another milestone, removes what its earlier run has left. Asks at a terminal, and needs
    /// `--yes` elsewhere. Exit codes: 75 the run is active.
    ///
    /// Example: `gsd-tools auto abandon M001`.
    "auto abandon": destroys [asked] json(crate::acts::auto::abandon::AbandonReport) = abandon::abandon(abandon::AbandonArgs);

    /// Change direction: update plans and requirements before the next unit
    ///
    /// The first unit after it does that, before anything else.
    ///
    /// Example: `gsd-tools auto steer "use SQLite instead of files"`.
    "auto steer": writes [asked] json(crate::acts::auto::orders::OrderReport) = orders::steer(orders::SteerArgs);

    /// Write down a thought for a run to look at after its unit
    ///
    /// Adds it to `.gsd/CAPTURES.md`. Between two units a session classifies it: done at once, a new task, planned again, put
    /// off, a note, or a stop. A text that begins with stop, halt, pause, abort or wait pauses the run after its unit.
    ///
    /// Example: `gsd-tools auto capture "the list should be sorted by date"`.
    "auto capture": writes [asked] json(crate::acts::auto::orders::OrderReport) = orders::capture(orders::CaptureArgs);

    /// Record the answer to a question of a task
    ///
    /// A task that asks leaves `T01-ESCALATION.json` with its options.
    ///
    /// Example: `gsd-tools auto answer M001/S01/T02 b --why "we have it already"`.
    "auto answer": writes [asked] json(crate::acts::auto::orders::OrderReport) = orders::answer(orders::AnswerArgs);

    /// Record your verdict on a task, an acceptance test or a validation
    ///
    /// Overrides the checks; your reason is recorded with it.
    ///
    /// Example: `gsd-tools auto verdict M001 pass --rationale "checked by hand"`.
    "auto verdict": writes [asked] json(crate::acts::auto::orders::OrderReport) = orders::verdict(orders::VerdictArgs);

    /// Set a milestone aside
    ///
    /// Example: `gsd-tools auto park M002 --why "waits for the API"`.
    "auto park": writes [asked] json(crate::acts::auto::orders::OrderReport) = orders::park(orders::ParkArgs);

    /// Restore a milestone that was set aside
    ///
    /// Example: `gsd-tools auto unpark M002`.
    "auto unpark": writes [asked] json(crate::acts::auto::orders::OrderReport) = orders::unpark(orders::UnparkArgs);

    /// Complete a slice whose tasks are done, without an agent
    ///
    /// Writes its SUMMARY.md and UAT.md, updates requirements and decisions, and ticks the roadmap. Completing it twice
    /// changes nothing.
    ///
    /// Example: `gsd-tools auto complete-slice M001/S01`.
    "auto complete-slice": writes [asked] json(crate::acts::auto::steps::StepReport) = steps::complete_slice(steps::SliceArgs);

    /// Check a milestone by the records of its tasks, without an agent
    ///
    /// Writes VALIDATION.md. Exits 10 unless the verdict is `pass`.
    ///
    /// Example: `gsd-tools auto validate M001 --pick verdict`.
    "auto validate": writes [asked] json(crate::acts::auto::steps::StepReport) = steps::validate(steps::MilestoneArgs);

    /// Complete a milestone whose validation passed, without an agent
    ///
    /// Example: `gsd-tools auto complete-milestone M001`.
    "auto complete-milestone": writes [asked] json(crate::acts::auto::steps::StepReport) = steps::complete_milestone(steps::MilestoneArgs);

    /// Record a rule, a pattern or a lesson in KNOWLEDGE.md
    ///
    /// Agents call it for what the next one would have to find out again. What is known already is not added twice.
    ///
    /// Example: `gsd-tools auto record knowledge rule "Close every file before it is moved" --why "Windows refuses"`.
    "auto record knowledge": writes json(crate::acts::auto::steps::KnowledgeReport) = steps::record_knowledge(steps::KnowledgeArgs);

    /// Print what an agent is given for a unit
    ///
    /// `plan` means the milestone until it is planned, then the next slice.
    ///
    /// Example: `gsd-tools auto prompt execute-task M001/S01/T02 --pick chars`.
    "auto prompt": reads json(crate::acts::auto::texts::PromptReport) = texts::print_prompt(texts::PromptArgs);

    /// Discuss a milestone or a slice with your agent before it is planned
    ///
    /// At a terminal starts your client here, which asks you and then writes CONTEXT.md, for a milestone also its
    /// requirements. Without a milestone it is about a new one. Elsewhere, and with `--print`, prints the text that an
    /// agent needs for that. Exit codes: 10 the client ended without a context.
    ///
    /// Example: `gsd-tools auto discuss M001 --print`.
    "auto discuss": runs [asked] json(crate::acts::auto::texts::PromptReport) = discuss::discuss(discuss::DiscussArgs);

    /// Print one section of the documents of a unit
    ///
    /// Example: `gsd-tools auto context M001/S02 --section "Boundary Map" --raw`.
    "auto context": reads json(crate::acts::auto::texts::SectionReport) = texts::section(texts::UnitContextArgs);

    /// Show what the run did
    ///
    /// With a unit, what is about it and the units below it, and the streams of its sessions.
    ///
    /// Example: `gsd-tools auto log M001/S01/T02`.
    "auto log": reads json(crate::acts::auto::texts::LogReport) = texts::log(texts::LogArgs);

    /// Show a run as it works
    ///
    /// Draws what it does, how far it is, and what it has spent, from its log: another process than the run, so that
    /// closing the view does not end it. Esc switches to the next mode (full, small, min, off), which is remembered;
    /// q quits. Where nothing can be drawn, it prints the lines of the run until that ends.
    ///
    /// Example: `gsd-tools auto watch`.
    "auto watch": runs [asked] json(crate::acts::auto::live::LiveRun) = watch::watch(watch::WatchArgs);

    /// Show what a run did and what it took
    ///
    /// Its figures next to the forecast, by slice and by unit, its checks, decisions and open questions. `--html` prints
    /// one page for a browser that loads nothing, with diffs; `--md` prints Markdown.
    ///
    /// Example: `gsd-tools auto report M001 --md`.
    "auto report": reads json(crate::auto::account::page::RunPage) = report::report(report::ReportArgs);

    /// Explain why a unit is done or not
    ///
    /// Its sessions, why each counts or does not, its checks, and what the log has about it.
    ///
    /// Example: `gsd-tools auto why M001/S01/T02`.
    "auto why": reads json(crate::acts::auto::report::WhyReport) = report::why(report::UnitArgs);

    /// Show what a unit or a run changed
    ///
    /// The diff of its commit, or of all units of a slice or milestone. Without a unit, what waits to land, else what the
    /// run has changed until now.
    ///
    /// Example: `gsd-tools auto diff M001/S01/T02`.
    "auto diff": reads json(crate::acts::auto::report::UnitDiffReport) = report::diff(report::DiffArgs);

    /// Show a run again, faster than it was
    ///
    /// Prints what happened with the pauses between, in about twenty seconds; to programs, everything at once.
    ///
    /// Example: `gsd-tools auto replay M001 --seconds 5`.
    "auto replay": reads json(Vec<crate::auto::account::LoggedMoment>) = report::replay(report::ReplayArgs);

    /// Show the proof of a landing, and check it
    ///
    /// For each commit that `auto run` lands there is a statement in `refs/notes/gsd`: what landed, how its checks ended, what
    /// they ran with, and what that does not prove. `--check` checks its signature, and runs its checks again on a fresh checkout, in
    /// a fence. They are commands that the note names. Exit codes: 0 it holds, 1 it does not.
    ///
    /// Example: `gsd-tools auto proof --check`.
    "auto proof": runs [asked] json(crate::acts::auto::proof::ProofReport) = proof::proof(proof::ProofArgs);

    /// Check how an installed client behaves when its model fails
    ///
    /// Starts the client offline, in a temporary home folder without your settings and keys, against a model server on
    /// loopback that works once and then fails in ten ways. Compares what it did with the facts about it. Uses no tokens. Takes
    /// up to three minutes for each client. Exit codes: 0 nothing grave differs, 1 work could be lost, or wrongly count
    /// as done.
    ///
    /// Example: `gsd-tools auto probe claude`.
    "auto probe": runs [asked] json(crate::acts::auto::probe::ProbeReport) = probe::probe(probe::ProbeArgs);

    /// Run an invented milestone in memory and count its sessions
    ///
    /// Its size is what `--shape` says, not what the project plans: `gsd-tools auto plan` counts that. Uses an agent that
    /// does what each unit asks for. Writes no file and starts no program. `--table` compares the counts with the
    /// published ones.
    ///
    /// Example: `gsd-tools auto sim --shape 4x3 --pick sessions`.
    "auto sim": reads json(SimReport, sim::TableReport) = sim::sim(sim::SimArgs);
}
