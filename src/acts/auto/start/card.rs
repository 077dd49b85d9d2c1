//! What a run would do and take, before its first session.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::brief::title_of;
use super::how::How;
use super::request::RunRequest;
use crate::acts::Call;
use crate::acts::auto::accounts::earlier;
use crate::acts::auto::place::RunPlace;
use crate::auto::account::RunAccount;
use crate::auto::account::estimate::estimate;
use crate::auto::ceilings::Ceilings;
use crate::auto::event::LandingMode;
use crate::auto::expected::{Estimate, Expected};
use crate::auto::layout::Layout;
use crate::auto::slices::forecast::Forecast;
use crate::failure::Failure;
use crate::world::World;

/// What a run would do and take.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct StartCard {
    pub(crate) milestone: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    /// The file that describes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) brief: Option<String>,
    /// The branch that it lands on.
    pub(crate) target: String,
    /// How it gets there: `branch`, `ask` or `pr`.
    #[serde(default)]
    pub(crate) landing: LandingMode,
    /// The title of the client.
    pub(crate) client: String,
    /// The version that the client reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) client_version: Option<String>,
    /// A warning about that version, if a different one was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) client_warning: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    pub(crate) profile: String,
    /// Whether sessions and checks are kept from writing elsewhere.
    pub(crate) fenced: bool,
    /// The variable with an API key, if one is set that the client takes; else its login pays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) api_key: Option<String>,
    /// Whether a script plays the client, which costs nothing.
    #[serde(default, rename = "scripted", skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_scripted: bool,
    /// The forecast number of sessions.
    pub(crate) sessions: usize,
    /// Sessions by kind of unit.
    pub(crate) by_unit: BTreeMap<String, usize>,
    /// Whether plans are missing, so that their size is an assumption.
    pub(crate) assumed: bool,
    /// What it will probably take, from earlier runs; left out if there are none with this client and model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) estimate: Option<Estimate>,
    /// Whether these runs are all of this project.
    pub(crate) of_project: bool,
    pub(crate) most_sessions: usize,
    /// The ceiling of the run in US dollars.
    pub(crate) budget_usd: f64,
    /// The ceilings of a unit.
    pub(crate) unit_minutes: u32,
    pub(crate) unit_tokens: u64,
    /// What the repository has that will run: checks, set-up, and settings for the client.
    pub(crate) runs: Vec<String>,
    /// The channels of messages about the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) messages: Vec<String>,
    /// The milestones that wait, and what each needs before it can run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) queued: Vec<String>,
}

/// What a person decided about a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Consent {
    Given,
    Declined,
    /// The card was only to be shown.
    OnlyShown,
}

/// Asks about a card.
pub(crate) type Consenting<'a> = &'a dyn Fn(&StartCard) -> Result<Consent, Failure>;

/// What a new run is about, and how it would work.
pub(crate) struct CardSubject<'a> {
    pub(crate) place: &'a RunPlace,
    pub(crate) request: &'a RunRequest,
    pub(crate) layout: &'a Layout,
    pub(crate) how: &'a How,
    pub(crate) ceilings: Ceilings,
    pub(crate) milestone: &'a str,
    /// The title of the milestone in its documents.
    pub(crate) title: Option<String>,
    /// The text of the brief.
    pub(crate) brief: Option<&'a str>,
    pub(crate) target: &'a str,
    pub(crate) forecast: &'a Forecast,
    pub(crate) messages: Vec<String>,
    pub(crate) queued: Vec<String>,
}

/// Returns what is expected of a new run, and its card.
pub(crate) fn card(
    call: &Call,
    subject: &CardSubject<'_>,
    runs: Vec<String>,
) -> Result<(Expected, StartCard), Failure> {
    let CardSubject { place, request, how, ceilings, layout, .. } = subject;
    let driver = &how.driver;
    let earlier = earlier(call, place, &driver.runner.name, driver.model.as_deref())?;
    let accounts: Vec<&RunAccount> = earlier.accounts.iter().filter(|account| is_alike(account, layout)).collect();
    let estimate = estimate(subject.forecast, &accounts);
    let title = subject.title.clone().or_else(|| subject.brief.and_then(title_of));
    let sessions = subject.forecast.sessions();
    let forecast = u32::try_from(sessions).unwrap_or(u32::MAX);
    let card = StartCard {
        milestone: subject.milestone.to_owned(),
        title: title.clone(),
        brief: request.brief.clone(),
        target: subject.target.to_owned(),
        landing: how.means.landing,
        client: driver.runner.title.clone(),
        client_version: how.means.client.clone(),
        client_warning: driver.runner.warning_on(how.means.client.as_deref()),
        model: driver.model.clone(),
        profile: driver.profile.word().to_owned(),
        fenced: driver.is_fenced,
        api_key: api_key(call.world(), &driver.runner.key_variables),
        is_scripted: driver.runner.only_with.is_some(),
        sessions,
        by_unit: subject.forecast.by_kind.iter().map(|(kind, count)| (kind.word().to_owned(), *count)).collect(),
        assumed: subject.forecast.is_assumed,
        estimate,
        of_project: earlier.of_project,
        most_sessions: usize::try_from(ceilings.most_sessions(forecast)).unwrap_or(usize::MAX),
        budget_usd: ceilings.money,
        unit_minutes: ceilings.unit_minutes,
        unit_tokens: ceilings.unit_tokens,
        runs,
        messages: subject.messages.clone(),
        queued: subject.queued.clone(),
    };
    let expected = Expected {
        title,
        sessions: subject.forecast.by_kind.clone(),
        is_assumed: subject.forecast.is_assumed,
        estimate,
    };
    Ok((expected, card))
}

/// True if the run had units of the same layout.
fn is_alike(account: &RunAccount, layout: &Layout) -> bool {
    let is_of_phases = matches!(layout, Layout::Phases(_));
    account.units.iter().all(|unit| unit.unit.kind.is_of_phases() == is_of_phases)
}

/// The first variable that is set and has a key for the client.
fn api_key(world: &World, variables: &[String]) -> Option<String> {
    let is_set = |name: &&String| world.variable(name.as_str()).is_some_and(|value| !value.trim().is_empty());
    variables.iter().find(is_set).cloned()
}
