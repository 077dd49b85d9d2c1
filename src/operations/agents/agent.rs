//! What an agent's model depends on: how much its work asks, under each profile, and what kind of work it is.
//!
//! An agent of the content says it in its front matter. `agents.toml` speaks for agents that scripts know and the content
//! does not have.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::library::{self, FrontMatter};
use crate::text::words::{self, words};

/// What the names of agents begin with, outside the content.
const PREFIX: &str = "gsd-";

words! {
    /// Which of a host's models: the strongest, the usual one, the quickest.
    pub(super) enum Tier {
        Opus = "opus",
        Sonnet = "sonnet",
        Haiku = "haiku",
    }
}

words! {
    /// How demanding an agent's work is: it decides effort and speed.
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

/// What is known of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Agent {
    /// Under quality, balanced, budget, adaptive.
    pub(super) tiers: [Tier; 4],
    pub(super) weight: Weight,
    /// The kind of work that `models.<kind>` of the configuration speaks of.
    pub(super) kind: String,
}

/// What `agents.toml` says.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Others {
    order: Vec<String>,
    agents: BTreeMap<String, Agent>,
}

/// A test holds that the file parses; without it only the agents of the content are known.
static OTHERS: LazyLock<Others> =
    LazyLock::new(|| toml_edit::de::from_str(include_str!("agents.toml")).unwrap_or_default());

impl Agent {
    /// The agent of this name, such as `gsd-planner`.
    pub(super) fn named(name: &str) -> Option<Agent> {
        let of_content = name.strip_prefix(PREFIX).and_then(Agent::of_content);
        of_content.or_else(|| OTHERS.agents.get(name).cloned())
    }

    /// Every agent with its name, in the order in which answers have them.
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
        let tiers: Option<Vec<Tier>> = front_matter.names("tiers").into_iter().map(words::of_word).collect();
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
    fn every_agent_of_the_content_says_what_its_model_depends_on() {
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
    fn an_agent_is_read_where_it_is_described() {
        let planner = Agent::named("gsd-planner").unwrap();
        assert_eq!(planner.tiers, [Tier::Opus, Tier::Opus, Tier::Sonnet, Tier::Opus]);
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
