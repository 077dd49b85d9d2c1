//! The slot of the work: what programs of a run use so that they do not meet those of another run, or of a person. A
//! run has one worktree of units at a time, which has the first slot, and so have the checkouts of its checks.

use crate::disk::{AbsolutePath, Digest};

/// The ports that are given out: below those that systems give out themselves (Linux from 32768, but few programs use
/// those above 60000), and so many for each slot.
const FIRST: u32 = 20_000;
const END: u32 = 60_000;
const PORTS: u32 = 20;

/// The most characters of a project's name in the name of a database, of which servers read 63 or more.
const NAME: usize = 30;

/// One slot of a project.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunSlot<'a> {
    /// The root of the person's checkout.
    pub(crate) root: &'a AbsolutePath,
    pub(crate) milestone: &'a str,
    pub(crate) number: u32,
}

impl RunSlot<'_> {
    /// The first of the ports of this slot: the same in every run of the project.
    pub(crate) fn port_base(&self) -> u32 {
        let digest = Digest::of(format!("{}\0{}", self.root, self.number).as_bytes()).to_string();
        let number = digest.get(..8).and_then(|start| u32::from_str_radix(start, 16).ok()).unwrap_or_default();
        FIRST + number % ((END - FIRST) / PORTS) * PORTS
    }

    /// A name for a database, of letters, digits and underscores.
    pub(crate) fn database(&self) -> String {
        let plain = |text: &str| {
            let text = text.to_ascii_lowercase();
            let letters = text.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' });
            letters.take(NAME).collect::<String>().trim_matches('_').to_owned()
        };
        let parts = [plain(&self.root.name()), plain(self.milestone), self.number.to_string()];
        let parts = parts.into_iter().filter(|part| !part.is_empty());
        parts.fold("gsd".to_owned(), |name, part| format!("{name}_{part}"))
    }

    /// The name of the slot's folder among the caches of the project.
    pub(crate) fn folder(&self) -> String {
        format!("slot-{}", self.number)
    }

    /// The variables that sessions, set-ups and checks get; `cache` is the folder of the slot, for those that may
    /// write to it.
    pub(crate) fn variables(&self, cache: Option<&AbsolutePath>) -> Vec<(String, String)> {
        let variables = [
            ("GSD_SLOT", Some(self.number.to_string())),
            ("GSD_PORT_BASE", Some(self.port_base().to_string())),
            ("GSD_DATABASE", Some(self.database())),
            ("GSD_CACHE_DIR", cache.map(ToString::to_string)),
        ];
        variables.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_slot_has_its_ports_and_its_database() {
        let (root, other) = (AbsolutePath::parse("/w/My Shop").unwrap(), AbsolutePath::parse("/w/shop").unwrap());
        let slot = |root, number| RunSlot { root, milestone: "M001", number };
        assert_eq!(slot(&root, 0).database(), "gsd_my_shop_m001_0");
        let phases = RunSlot { root: &other, milestone: "v1.0", number: 1 };
        assert_eq!(phases.database(), "gsd_shop_v1_0_1");
        let ports = [slot(&root, 0), slot(&root, 1), slot(&other, 0)].map(|slot| slot.port_base());
        assert_eq!(ports[0], slot(&root, 0).port_base());
        for port in ports {
            assert!((20_000..60_000).contains(&port) && port.is_multiple_of(20), "{port}");
        }
        assert!(ports[0] != ports[1] && ports[0] != ports[2]);
        let long = AbsolutePath::parse(format!("/w/{}", "x".repeat(200))).unwrap();
        assert!(slot(&long, 0).database().len() < 63);
        let given = slot(&root, 0).variables(Some(&other));
        assert_eq!(given.last().unwrap(), &("GSD_CACHE_DIR".to_owned(), "/w/shop".to_owned()));
        assert_eq!(slot(&root, 0).variables(None).len(), 3);
    }
}
