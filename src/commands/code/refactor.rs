//! Functions that became too complex in a phase: found, proposed, decided.

use crate::acts::code::refactor::{is_off, touched};
use crate::acts::writing::Target;

use crate::failure::{Failure, Reason};
use crate::frame::named::PhaseFlag;
use crate::frame::{Context, verbs};
use crate::operations::code::refactor;
use crate::operations::code::refactor::{EvaluateReport, Nothing, ScoreLimits};
use crate::text::shell::{Typed, typed};

const THRESHOLD: u64 = 15;
const JUMP: u64 = 5;

verbs! {
    "Refactoring";
    groups { "refactor": "Find functions that became too complex, and record decisions"; }

    /// Find the most complex function a phase touched and propose a refactoring
    ///
    /// Measures JavaScript and TypeScript functions. Proposes one above `refactor.complexity_threshold` (15), or one
    /// that became more complex by `refactor.complexity_jump_delta` (5). Writes the proposal into the folder of the
    /// phase. Requires `refactor.trigger_enabled`.
    ///
    /// Example: `gsd-tools refactor evaluate --phase 2 --since HEAD~5 --pick verdict`.
    "refactor evaluate": writes json(crate::operations::answers::disabled::DisabledReport, EvaluateReport)
        = evaluate(EvaluateArgs);

    use crate::peer::plans::REFACTOR_STATUS;

    /// Record that the refactoring proposal of a phase was accepted
    ///
    /// Example: `gsd-tools refactor accept --phase 2`.
    "refactor accept": writes json(crate::operations::answers::disabled::DisabledReport, refactor::DecideReport)
        = accept(PhaseFlag);

    /// Record that the refactoring proposal of a phase was declined
    ///
    /// A declined function is not proposed again until it changes.
    ///
    /// Example: `gsd-tools refactor decline --phase 2 --reason "it goes away in phase 3"`.
    "refactor decline": writes json(crate::operations::answers::disabled::DisabledReport, refactor::DecideReport)
        = decline(DeclineArgs);
}

#[derive(Debug, clap::Args)]
pub(crate) struct EvaluateArgs {
    /// The phase, such as `3` or `3.1`
    #[arg(long)]
    phase: Option<String>,
    /// The commit to compare with (default: the first commit of the phase)
    #[arg(long)]
    since: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct DeclineArgs {
    /// The phase, such as `3` or `3.1`
    #[arg(long)]
    phase: Option<String>,
    /// The reason
    #[arg(long)]
    reason: Option<String>,
}

fn accept(context: &mut Context, arguments: &PhaseFlag) -> Result<(), Failure> {
    if is_off(context)? {
        return context.emit(&refactor::disabled());
    }
    decide(context, required("accept", "--phase", arguments.phase.as_deref())?, None)
}

fn decline(context: &mut Context, arguments: &DeclineArgs) -> Result<(), Failure> {
    if is_off(context)? {
        return context.emit(&refactor::disabled());
    }
    let phase = required("decline", "--phase", arguments.phase.as_deref())?;
    let reason = required("decline", "--reason", arguments.reason.as_deref())?;
    decide(context, phase, Some(reason))
}

/// The value of a required flag. Checked here and not by clap, since a project with this feature disabled gets its
/// answer first.
fn required<'a>(verb: &str, flag: &str, given: Option<&'a str>) -> Result<&'a str, Failure> {
    given.map(str::trim).filter(|text| !text.is_empty()).ok_or_else(|| {
        Failure::new(Reason::Usage, format!("`refactor {verb}` needs {flag}"))
            .hint(format!("`{}` shows an example", typed!("gsd-tools refactor {} --help", Typed::words(verb))))
    })
}

fn evaluate(context: &mut Context, arguments: &EvaluateArgs) -> Result<(), Failure> {
    if is_off(context)? {
        return context.emit(&refactor::disabled());
    }
    let typed = required("evaluate", "--phase", arguments.phase.as_deref())?;
    let found = context.view().find_phase(typed)?.folder;
    let Some(folder) = found else {
        return context.emit(&refactor::nothing(Nothing::InvalidPhase, typed.to_owned()));
    };
    let Some(files) = touched(context, &folder, arguments.since.as_deref())? else {
        return context.emit(&refactor::nothing(Nothing::GitUnavailable, refactor::number(&folder)));
    };
    let config = context.config()?;
    let limits = ScoreLimits {
        threshold: config.number("refactor.complexity_threshold").unwrap_or(THRESHOLD),
        jump: config.number("refactor.complexity_jump_delta").unwrap_or(JUMP),
    };
    let now = context.world().now().to_string();
    let report: EvaluateReport =
        context.write(Target::Project, |view| refactor::evaluate(view, &folder, &files, limits, &now))?;
    context.emit(&report)
}

fn decide(context: &mut Context, phase: &str, declined: Option<&str>) -> Result<(), Failure> {
    let now = context.world().now().to_string();
    context.emit(&context.write(Target::Project, |view| refactor::decide(view, phase, declined, &now))?)
}
