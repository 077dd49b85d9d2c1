//! What the name of a variable shows about its value.

use crate::text::words::word_list;

/// Last words of variable names whose values are not secret.
const PLAIN: &[&str] = word_list!(
    "PORT HOST HOSTNAME ENV ENVIRONMENT MODE DEBUG LEVEL REGION ZONE VERSION TAG NAME BRANCH STAGE TZ TIMEZONE LOCALE
     LANG DIR PATH FILE FOLDER TIMEOUT ENABLED DISABLED LIMIT SIZE COUNT MODEL PROVIDER DRIVER CONNECTION DOMAIN PROJECT
     EMAIL IMAGE ORIGIN ORIGINS HOSTS REPLICAS WORKERS THREADS SHA COMMIT"
);

/// True if the value of a variable of this name is not a secret, judged by the name.
pub(super) fn is_plain(variable: &str) -> bool {
    let name = variable.to_uppercase();
    let is_switch = name.split('_').any(|word| matches!(word, "ENABLE" | "ENABLED" | "DISABLE" | "DISABLED" | "USE"));
    let mut words = name.rsplit('_');
    let last = words.next().unwrap_or_default();
    let marked = ["SECRET", "TOKEN", "PASSWORD", "PASS", "PRIVATE", "CREDENTIAL", "CREDENTIALS", "AUTH"];
    is_switch || PLAIN.contains(&last) && !words.any(|word| marked.contains(&word))
}
