//! A run survives failures: its own process, the client, the machine and the disk may fail at any moment.
//!
//! Everything is real except the client, which is the scripted agent. A few kills are part of every test run;
//! `GSD_KILLS=1000` kills the engine that often, and clients a fifth as often, each kill of a run at a different
//! moment, and prints what was hit. `GSD_KILLS_SEED` repeats the moments of an earlier run, to the extent that two runs
//! are alike.

mod bench;
mod ceilings;
mod client;
mod disk;
mod ends;
mod engine;
mod messages;
mod quota;
mod sleep;
mod upgrade;
