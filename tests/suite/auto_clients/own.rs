//! What belongs to the user while a client works in a fence: nothing of it changes, except a login that the client
//! refreshes.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::clients::copilot;
use crate::clients::install::Package;
use crate::clients::obedient::NamedFile;
use crate::kit::TestContext;
use crate::play::cast::{CASTS, Hands};

/// A client that makes a milestone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Player {
    pub(super) package: &'static Package,
    pub(super) hands: Hands,
}

/// A client that makes a milestone but plays no workflows.
const COPILOT: Player = Player {
    package: &copilot::CLIENT.package,
    hands: Hands {
        shell: copilot::HANDS.shell,
        read: |written, path| (copilot::HANDS.read)(&NamedFile { written: path, path: written }),
        // Its tool for files creates no folders.
        write: |path, text| {
            let folder = path.rsplit_once('/').map_or(".", |(folder, _)| folder);
            (copilot::HANDS.shell)(&format!("mkdir -p '{folder}' && cat > '{path}' <<'END'\n{text}END"))
        },
        edit: None,
        spawn: |errand| (copilot::HANDS.spawn)(&errand.agent, &errand.prompt),
        wait: None,
        finish: None,
    },
};

/// All clients that make a milestone.
pub(super) fn players() -> impl Iterator<Item = Player> {
    CASTS.iter().map(|cast| Player { package: cast.package, hands: cast.hands }).chain([COPILOT])
}

pub(super) fn player(name: &str) -> Option<Player> {
    players().find(|player| player.package.host == name)
}

/// Where each client keeps a login that it refreshes, below the home folder, with sample content of that form.
const LOGINS: &[(&str, &str, &str)] = &[
    ("claude", ".claude/.credentials.json", r#"{"standIn": {"token": "WORD"}}"#),
    ("codex", ".codex/auth.json", r#"{"OPENAI_API_KEY": "WORD"}"#),
    ("gemini", ".gemini/oauth_creds.json", r#"{"access_token": "WORD"}"#),
    ("opencode", ".local/share/opencode/auth.json", r#"{"stand-in": {"type": "api", "key": "WORD"}}"#),
    ("qwen", ".qwen/oauth_creds.json", r#"{"access_token": "WORD"}"#),
];

fn login(client: &str) -> Option<(&'static str, &'static str)> {
    LOGINS.iter().find(|(name, ..)| *name == client).map(|(_, path, text)| (*path, *text))
}

/// Signs the user in.
pub(super) fn sign_in(context: &TestContext, client: &str) {
    if let Some((path, text)) = login(client) {
        let path = context.home().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text.replace("WORD", "old")).unwrap();
    }
}

/// Checks that the login that the client refreshed in a session is now the user's.
pub(super) fn expect_refreshed(context: &TestContext, client: &str) {
    if let Some((path, text)) = login(client) {
        assert_eq!(std::fs::read_to_string(context.home().join(path)).unwrap(), text.replace("WORD", "new"));
    }
}

/// A script for a session that refreshes its login as the client does, by rename, and tries to change what runs later.
pub(super) fn tampering(client: &str) -> String {
    let home = "$HOME";
    let refreshed = login(client).map(|(path, text)| {
        let name = path.rsplit('/').next().unwrap();
        let text = text.replace("WORD", "new");
        format!(
            "find \"{home}/.local/state\" -path '*/auto/client/*' -name '{name}' | while read -r login; do \
             printf '%s' '{text}' > \"$login.new\"; mv \"$login.new\" \"$login\"; done; "
        )
    });
    let refreshed = refreshed.unwrap_or_default();
    format!(
        "{refreshed}find \"{home}\" -not -path \"{home}/.local/state/*\" -type f | while read -r file; do \
         {{ echo tampered >> \"$file\"; }} 2>/dev/null; done; \
         find \"{home}\" -not -path \"{home}/.local/state/*\" -type d | while read -r folder; do \
         {{ echo tampered > \"$folder/tampered\"; }} 2>/dev/null; done; true"
    )
}

/// Everything in the home folder except what this program keeps and the login, with a digest of each file.
pub(super) fn users(context: &TestContext, client: &str) -> BTreeMap<String, String> {
    let home = context.home();
    let login = login(client).map(|(path, _)| home.join(path));
    let entries = walkdir::WalkDir::new(&home).into_iter();
    let entries = entries.filter_entry(|entry| !entry.path().ends_with(".local/state/gsd-tools")).flatten();
    let seen = entries.filter(|entry| Some(entry.path()) != login.as_deref()).map(|entry| {
        let text = match std::fs::read(entry.path()) {
            Ok(bytes) if entry.file_type().is_file() => {
                let mut digest = DefaultHasher::new();
                bytes.hash(&mut digest);
                format!("{} bytes, {:x}", bytes.len(), digest.finish())
            }
            _ => format!("{:?}", entry.file_type()),
        };
        (entry.path().strip_prefix(&home).unwrap().display().to_string(), text)
    });
    seen.collect()
}
