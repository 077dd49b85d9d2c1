//! What we know about hosts, read from one TOML file per host. Facts only.
