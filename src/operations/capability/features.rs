//! All features known to a call: those of this program and those that users installed.

use serde::Serialize;

use schemars::JsonSchema;

use super::{Capability, FeatureScope, FeatureSetting};
use crate::project::config::Config;
use crate::text::words::words;

/// The features known to a call.
#[derive(Debug)]
pub(crate) struct Features {
    installed: Vec<Capability>,
    inert: Vec<Inert>,
}

/// An installed feature that is not used.
#[derive(Clone, Debug)]
pub(crate) struct Inert {
    pub(crate) id: String,
    pub(crate) scope: FeatureScope,
    pub(crate) version: Option<String>,
    pub(crate) source: Option<String>,
    pub(crate) status: InertStatus,
    pub(crate) reason: String,
    /// What a person can do about it.
    pub(crate) cure: Option<String>,
}

words! {
    /// Why an installed feature is not used.
    #[derive(Serialize, JsonSchema)]
    pub(crate) enum InertStatus {
        /// This user did not consent to it.
        NotTrusted = "not trusted",
        /// Its files differ from those this user consented to.
        Modified = "modified",
        /// Its folder is missing.
        Missing = "missing",
        /// It cannot be read, or another feature has the same name.
        Unusable = "unusable",
    }
}

impl Features {
    /// Only the features of this program.
    #[cfg(test)]
    pub(crate) const fn built_in() -> Self {
        Self { installed: Vec::new(), inert: Vec::new() }
    }

    pub(crate) fn with(installed: Vec<Capability>, inert: Vec<Inert>) -> Self {
        Self { installed, inert }
    }

    /// All usable features, sorted by name.
    pub(crate) fn all(&self) -> Vec<&Capability> {
        let mut all: Vec<&Capability> = super::all().iter().chain(&self.installed).collect();
        all.sort_by(|one, other| one.id.cmp(&other.id));
        all
    }

    /// The usable feature called `id`.
    pub(crate) fn find(&self, id: &str) -> Option<&Capability> {
        super::find(id).or_else(|| self.installed.iter().find(|capability| capability.id == id))
    }

    /// Installed features that are not used.
    pub(crate) fn inert(&self) -> impl Iterator<Item = &Inert> {
        self.inert.iter()
    }

    /// The settings that installed features add.
    pub(crate) fn settings(&self) -> impl Iterator<Item = (&Capability, &FeatureSetting)> {
        let installed = self.installed.iter().filter_map(|feature| Some((feature, feature.installed.as_ref()?)));
        installed.flat_map(|(feature, installed)| installed.settings.iter().map(move |setting| (feature, setting)))
    }

    /// The configuration with the defaults of the settings that installed features add.
    pub(crate) fn settled(&self, config: &Config) -> Config {
        let with_default = self.settings().filter(|(_, setting)| !setting.default.is_null());
        with_default.fold(config.clone(), |config, (_, setting)| {
            config.with_default(&setting.key, &setting.default, |value| setting.kind.fits(value))
        })
    }
}
