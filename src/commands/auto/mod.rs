//! `auto`: a milestone from its brief to the branch it lands on.

mod place;
mod run;
mod sim;
mod views;

#[cfg(test)]
use crate::auto::sim::report::SimReport;
#[cfg(test)]
use crate::auto::status::{RuleRow, StatusReport};
use crate::commands::frame::verbs;

verbs! {
    "Pipeline" (own);
    groups { "auto": "Run a milestone unattended, and look at how far it is"; }

    /// Show how far the milestone is, and what a run would do next
    ///
    /// Reads the documents of the project and the log of its run. Changes nothing.
    ///
    /// Example: `gsd-tools auto status --pick next.action`.
    "auto status": reads json(StatusReport) = views::status();

    /// Show how many sessions the milestone takes
    ///
    /// Counts the sessions that are left if every session does what it is for. What is not planned yet is assumed: four
    /// slices with three tasks each, or what `--shape` says.
    ///
    /// Example: `gsd-tools auto plan --pick sessions`.
    "auto plan": reads json(views::PlanReport) = views::plan(views::PlanArgs);

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
    /// stops. Exit codes: 0 done, 10 a person is needed, 11 paused, 12 stuck, 13 a ceiling was reached, 75 another run is active.
    ///
    /// Example: `gsd-tools auto run --brief BRIEF.md`.
    "auto run": runs [asked] json(run::RunReport) = run::run(run::RunArgs);

    /// Run one unit of the milestone, then stop
    ///
    /// `gsd-tools auto status` shows which one that is.
    ///
    /// Example: `gsd-tools auto next`.
    "auto next": runs [asked] json(run::RunReport) = run::next(run::RunArgs);

    /// Pause the run after its unit
    ///
    /// `--now` ends the session that runs; the next run continues it if the client can.
    ///
    /// Example: `gsd-tools auto pause`.
    "auto pause": runs [asked] json(run::ControlReport) = run::pause(run::ControlArgs);

    /// Stop the run after its unit
    ///
    /// Example: `gsd-tools auto stop --now`.
    "auto stop": runs [asked] json(run::ControlReport) = run::stop(run::ControlArgs);

    /// Run a milestone in memory and count its sessions
    ///
    /// Uses an agent that does what each unit asks for. Writes no file and starts no program. `--table` compares the counts
    /// with the published ones.
    ///
    /// Example: `gsd-tools auto sim --shape 4x3 --pick sessions`.
    "auto sim": reads json(SimReport, sim::TableReport) = sim::sim(sim::SimArgs);
}
