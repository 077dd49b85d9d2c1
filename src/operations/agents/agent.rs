//! What the choice of an agent's model depends on: its tier under each profile, the weight of its work and the kind of
//! it.
//!
//! Agents of the content declare this in their front matter. `agents.toml` describes the agents that scripts know but
//! the content does not have.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::library::{self, FrontMatter};
use crate::text::words::{self, words};

/// The prefix of agent names outside the content.
const PREFIX: &str = "gsd-";

words! {
    /// A tier of a host's models: the strongest, the usual one, the quickest.
    pub(super) enum ModelTier {
        Opus = "opus",
        Sonnet = "sonnet",
        Haiku = "haiku",
    }
}

words! {
    /// How demanding an agent's work is. It determines effort and speed.
    #[derive(PartialOrd, Ord)]
    pub(super) enum Weight {
        Light = "light",
        Standard = "standard",
        Heavy = "heavy",
    }
}

impl Weight {
    pub(super) fn heavier(self) -> Self {
        match self {
            Weight::Light => Weight::Standard,
            Weight::Standard | Weight::Heavy => Weight::Heavy,
        }
    }
}

words! {
    /// How hard a model thinks.
    #[derive(PartialOrd, Ord)]
    pub(super) enum Effort {
        Minimal = "minimal",
        Low = "low",
        Medium = "medium",
        High = "high",
        ExtraHigh = "xhigh",
        Max = "max",
    }
}

impl Effort {
    pub(super) fn harder(self) -> Self {
        match self {
            Effort::Minimal => Effort::Low,
            Effort::Low => Effort::Medium,
            Effort::Medium => Effort::High,
            Effort::High => Effort::ExtraHigh,
            Effort::ExtraHigh | Effort::Max => Effort::Max,
        }
    }
}

/// The facts about an agent.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Agent {
    /// The tiers under the profiles quality, balanced, budget and adaptive, in this order.
    pub(super) tiers: [ModelTier; 4],
    pub(super) weight: Weight,
    /// The kind of work, as in `models.<kind>` of the configuration.
    pub(super) kind: String,
}

/// The contents of `agents.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Others {
    order: Vec<String>,
    agents: BTreeMap<String, Agent>,
}

/// A test checks that the file parses; if it did not, only the agents of the content would be known.
static OTHERS: LazyLock<Others> =
    LazyLock::new(|| toml_edit::de::from_str(include_str!("agents.toml")).unwrap_or_default());

impl Agent {
    /// The agent of this name, such as `gsd-planner`.
    pub(super) fn named(name: &str) -> Option<Agent> {
        let of_content = name.strip_prefix(PREFIX).and_then(Agent::of_content);
        of_content.or_else(|| OTHERS.agents.get(name).cloned())
    }

    /// All agents with their names, in the order in which answers list them.
    pub(super) fn all() -> Vec<(String, Agent)> {
        let of_content = library::agent_names().map(|stem| format!("{PREFIX}{stem}"));
        let mut names: Vec<String> = of_content.chain(OTHERS.agents.keys().cloned()).collect();
        names.sort_by_cached_key(|name| {
            let place = OTHERS.order.iter().position(|first| first == name);
            (place.unwrap_or(usize::MAX), name.clone())
        });
        names.into_iter().filter_map(|name| Some((name.clone(), Agent::named(&name)?))).collect()
    }

    fn of_content(stem: &str) -> Option<Agent> {
        Agent::read(&library::front_matter_of(&format!("agents/{stem}.md"))?)
    }

    fn read(front_matter: &FrontMatter) -> Option<Agent> {
        let tiers: Option<Vec<ModelTier>> = front_matter.names("tiers").into_iter().map(words::of_word).collect();
        Some(Agent {
            tiers: tiers?.try_into().ok()?,
            weight: words::of_word(front_matter.text("weight")?)?,
            kind: front_matter.text("kind")?.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::{ItemKind, Library};

    #[test]
    fn every_agent_of_the_content_declares_tiers_weight_and_kind() {
        for item in Library::embedded().unwrap().of_kind(ItemKind::Agent) {
            assert!(
                Agent::read(&item.front_matter).is_some(),
                "{}: needs `tiers` under four profiles, `weight` and `kind`",
                item.path
            );
        }
    }

    #[test]
    fn no_agent_is_described_in_two_places() {
        let others: Others = toml_edit::de::from_str(include_str!("agents.toml")).unwrap();
        let of_content: Vec<String> = library::agent_names().map(|stem| format!("{PREFIX}{stem}")).collect();
        for name in others.agents.keys() {
            assert!(name.starts_with(PREFIX) && !of_content.contains(name), "{name} says this in its front matter");
        }
        for (index, name) in others.order.iter().enumerate() {
            assert!(of_content.contains(name) || others.agents.contains_key(name), "no agent is called {name}");
            assert!(!others.order[..index].contains(name), "{name} stands twice");
        }
        assert_eq!(Agent::all().len(), of_content.len() + others.agents.len());
    }

    #[test]
    fn an_agent_is_read_from_the_content_or_from_the_file() {
        let planner = Agent::named("gsd-planner").unwrap();
        assert_eq!(planner.tiers, [ModelTier::Opus, ModelTier::Opus, ModelTier::Sonnet, ModelTier::Opus]);
        assert_eq!((planner.weight, planner.kind.as_str()), (Weight::Heavy, "planning"));
        for stem in OTHERS.agents.keys().filter_map(|name| name.strip_prefix(PREFIX)) {
            assert!(Agent::named(&format!("{PREFIX}{stem}")).is_some() && Agent::named(stem).is_none(), "{stem}");
        }
        assert_eq!(Agent::named("planner"), None);
        let read = |text: &str| Agent::read(&FrontMatter::split(text).unwrap().0);
        let good = "---\ntiers: [opus, sonnet, haiku, sonnet]\nweight: light\nkind: research\n---\n";
        assert_eq!(read(good).unwrap().weight, Weight::Light);
        assert_eq!(read(&good.replace(", haiku", "")), None);
        assert_eq!(read(&good.replace("haiku", "mini")), None);
        assert_eq!(read(&good.replace("weight: light\n", "")), None);
    }
}
