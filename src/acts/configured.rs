//! Changes of the configuration: keys that features add, and the contents of a new file.

use crate::acts::features::features;
use crate::acts::{Call, user};
use crate::failure::{Failure, Reason};
use crate::project::config::{Setting, unknown};
use crate::text::shell::typed;

/// Search services and the variable with each one's key; the key may also be in a file named after the variable.
const SERVICES: &[(&str, &str)] = &[
    ("brave_search", "BRAVE_API_KEY"),
    ("firecrawl", "FIRECRAWL_API_KEY"),
    ("exa_search", "EXA_API_KEY"),
    ("tavily_search", "TAVILY_API_KEY"),
    ("ref_search", "REF_API_KEY"),
    ("perplexity", "PERPLEXITY_API_KEY"),
    ("jina", "JINA_API_KEY"),
];

/// The search services that the user has a key for.
pub(crate) fn services(call: &Call) -> Vec<&'static str> {
    let found = |variable: &str| {
        call.world().variable(variable).is_some() || user::has_file(call.world(), &variable.to_ascii_lowercase())
    };
    SERVICES.iter().filter(|(_, variable)| found(variable)).map(|(service, _)| *service).collect()
}

/// Refuses a host that is not known as the one of the project.
pub(crate) fn knows_host(call: &Call, setting: &Setting) -> Result<(), Failure> {
    let host = setting.value.as_ref().and_then(serde_json::Value::as_str).filter(|_| setting.key == "runtime");
    if let Some(host) = host {
        call.registry()?.find(host)?;
    }
    Ok(())
}

/// Finds the setting for a key that an installed feature adds.
pub(crate) fn added(call: &Call, key: &str, value: &str) -> Result<Setting, Failure> {
    let features = features(call)?;
    let Some((feature, setting)) = features.settings().find(|(_, setting)| setting.key == key) else {
        return Err(unknown(key));
    };
    Setting::added(key, value, |value| setting.kind.fits(value)).ok_or_else(|| {
        let message = format!("`{key}` of the feature `{}` cannot be `{value}`; it takes {}", feature.id, setting.kind);
        Failure::new(Reason::Usage, message)
            .hint(format!("`{}` unsets it", typed!("gsd-tools config-set {} null", key)))
    })
}
