//! Informs the agent when the settings of the project were changed during the session by someone else.

use std::collections::BTreeMap;

use serde_json::Value;

use super::scene::Scene;
use super::verdict::Reaction;
use crate::disk::AbsolutePath;
use crate::project::config::{self, Config, ConfigTexts};
use crate::project::local_state::{LocalState, WrittenSettings};

pub(super) fn look(scene: &Scene<'_>) -> Reaction {
    let layout = &scene.project.layout;
    let files = [layout.root_config(), layout.config()];
    let changed = |file: &&String| scene.payload.paths().iter().any(|name| scene.path(name) == layout.absolute(file));
    let Some(file) = files.iter().find(changed) else { return Reaction::Nothing };
    let settings = match settings_of(scene) {
        Ok(settings) => settings,
        Err(why) => return Reaction::Note(format!("SETTINGS: {why}. Until it is repaired, it is ignored.")),
    };
    let before: Option<BTreeMap<String, String>> = scene.recall(SEEN);
    scene.leave(SEEN, &settings);
    if is_our_doing(scene, file) {
        return Reaction::Nothing;
    }
    note(before.as_ref(), &settings).into()
}

/// Remembers the settings at the start of a session, so that only later changes are reported.
pub(super) fn remember(scene: &Scene<'_>) {
    if let Ok(settings) = settings_of(scene) {
        scene.leave(SEEN, &settings);
    }
}

/// True if a command of this session wrote the file in its present form: the agent knows about that change.
fn is_our_doing(scene: &Scene<'_>, file: &str) -> bool {
    let Some(session) = scene.payload.session() else { return false };
    let Ok(root) = AbsolutePath::parse(&scene.project.root) else { return false };
    let written = scene.world.state_folder().and_then(|folder| {
        let notes = LocalState::of(&folder, &root).ok()?;
        notes.read::<WrittenSettings>(WrittenSettings::NOTE).ok()?
    });
    let text = || scene.project.settings_text(file).ok().flatten();
    written.is_some_and(|written| written.is_of(session) && text().is_some_and(|text| written.says(&text)))
}

/// The effective settings: those of the active workstream over those of the project.
fn settings_of(scene: &Scene<'_>) -> Result<BTreeMap<String, String>, String> {
    let layout = &scene.project.layout;
    let mut all = BTreeMap::new();
    let own = layout.workstream().map(|_| layout.config());
    for file in [layout.root_config()].into_iter().chain(own) {
        let text = scene.project.settings_text(&file)?;
        let read = settings(&text.unwrap_or_default())
            .map_err(|reason| format!("`{file}` is no longer valid JSON ({reason})"))?;
        all.extend(read);
    }
    Ok(all)
}

/// The file of a session with the settings as last seen.
const SEEN: &str = "settings";

/// The most settings that a note shows.
const MOST: usize = 24;

/// The settings of a file, in the form shown in a note. Keys of services are left out.
fn settings(text: &str) -> Result<BTreeMap<String, String>, String> {
    let mut settings = BTreeMap::new();
    if !text.trim().is_empty() {
        for (name, value) in config::parse(text)? {
            add(&name, &value, &mut settings);
        }
    }
    Ok(settings)
}

fn add(path: &str, value: &Value, settings: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(map) => map.iter().for_each(|(name, value)| add(&format!("{path}.{name}"), value, settings)),
        Value::String(_) if config::is_secret(path) => {}
        Value::String(text) => drop(settings.insert(path.to_owned(), text.clone())),
        other => drop(settings.insert(path.to_owned(), other.to_string())),
    }
}

/// Lists the changes since `before`, or without it, the differences from the defaults.
fn note(before: Option<&BTreeMap<String, String>>, settings: &BTreeMap<String, String>) -> Option<String> {
    let (defaults, _) = Config::read(ConfigTexts::default());
    let default = |key: &str| match defaults.value(key) {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let (head, lines): (_, Vec<String>) = if let Some(before) = before {
        let changed = settings.iter().filter(|(key, value)| before.get(*key) != Some(value));
        let changed = changed.map(|(key, value)| match before.get(key) {
            Some(old) => format!("- {key}: {value} (was {old})"),
            None => format!("- {key}: {value}"),
        });
        let gone = before.keys().filter(|key| !settings.contains_key(*key));
        let gone = gone.map(|key| format!("- {key}: {} (back to the default)", default(key)));
        ("These settings of the project were changed:", changed.chain(gone).collect())
    } else {
        let own = settings.iter().filter(|(key, value)| default(key) != **value);
        let own = own.map(|(key, value)| format!("- {key}: {value}"));
        ("The settings of the project were changed. These now differ from the defaults:", own.collect())
    };
    if lines.is_empty() {
        return before.is_none().then(|| {
            "SETTINGS: The settings of the project were changed. All of them have their defaults.".to_owned()
        });
    }
    let more = lines.len().saturating_sub(MOST);
    let shown = lines[..lines.len().min(MOST)].join("\n");
    let more = if more > 0 { format!("\n- and {more} more") } else { String::new() };
    Some(format!("SETTINGS: {head}\n{shown}{more}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(before: Option<&str>, now: &str) -> Option<String> {
        note(before.map(|before| settings(before).unwrap()).as_ref(), &settings(now).unwrap())
    }

    #[test]
    fn changes_are_listed_or_else_the_settings_that_differ_from_the_defaults() {
        let now = r#"{"mode":"yolo","workflow":{"research":false,"verifier":true},"brave_search":"sk-secret"}"#;
        let first = told(None, now).unwrap();
        assert!(first.ends_with("the defaults:\n- mode: yolo\n- workflow.research: false"), "{first}");
        let changed =
            told(Some(r#"{"mode":"interactive","commit_docs":false,"workflow":{"research":false}}"#), now).unwrap();
        assert!(
            changed.ends_with(
                "\n- mode: yolo (was interactive)\n- workflow.verifier: true\n- commit_docs: true (back to the default)"
            ),
            "{changed}"
        );
        assert_eq!(told(Some(now), now), None);
        assert!(told(None, "{}").unwrap().contains("have their defaults"));
    }

    #[test]
    fn long_lists_are_cut_and_invalid_json_is_an_error() {
        let many: Vec<String> = (0..50).map(|number| format!("\"agent_skills_{number}\": {number}")).collect();
        let told = told(None, &format!("{{{}}}", many.join(","))).unwrap();
        assert!(told.ends_with("- and 26 more"), "{told}");
        assert!(settings("{").is_err() && settings("[]").is_err() && settings("").unwrap().is_empty());
    }
}
