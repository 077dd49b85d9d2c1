//! Kilo: the same as [`super::opencode`], with its own folders and variables.

use super::install::{Package, Source::Npm};
use super::{Client, opencode};

pub(crate) const CLIENT: Client = Client {
    package: Package {
        host: "kilo",
        // The package with a launcher has no program for every machine; this one contains the program itself.
        source: Npm("@kilocode/cli-linux-x64"),
        version: "7.7.9",
        program: "@kilocode/cli-linux-x64/bin/kilo",
    },
    before_install: |_| {},
    check: |bench| opencode::check(bench, "KILO"),
    greet: |bench| opencode::greet(bench, "KILO"),
};
