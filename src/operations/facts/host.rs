//! Facts about the calling host, and the fields at the end of every answer.

use super::facts;

facts! { |given|
    /// The root of the project.
    project_root: String = given.shown("");
    /// Whether all our agents are installed.
    agents_installed: bool = given.host.missing_agents.is_empty();
    /// Our agents that are missing.
    missing_agents: Vec<String> = given.host.missing_agents.clone();
    /// Where the host looks for agents; null if it is unknown.
    agents_dir: Option<String> = given.host.agents_folder.clone();
    /// The host of the call.
    agent_runtime: String = given.host.runtime.clone();
    /// Agents to which the project assigns skills; absent if it assigns none.
    agents_with_skills: Vec<String>, if any =
        Some(given.config.entries("agent_skills").map(|(agent, _)| agent.to_owned()).collect())
            .filter(|agents: &Vec<String>| !agents.is_empty());
    /// The path of the profile written by `write-profile`; null if it does not exist.
    user_profile_path: Option<String> = given.host.user_profile.clone();
    /// The current date in the user's time zone.
    date: String = given.host.next.today.clone();
    /// The time of the call in UTC.
    timestamp: String = given.host.next.now.clone();
    /// Whether a workflow continues with the next one.
    auto_advance: bool = given.host.auto.advance();
    /// Whether this workflow is part of a chain that continues without asking.
    auto_chain_active: bool = given.host.auto.chain();
}
