//! That a run survives what happens to it: its own process, the client, the machine and the disk may fail at any moment.
//!
//! Everything is real but the client, which is the scripted agent. A few kills are part of every run of the tests;
//! `GSD_KILLS=1000` kills the engine so often, and clients a fifth as often, each kill of a run at a moment of its own, and
//! prints what was hit. `GSD_KILLS_SEED` repeats the moments of an earlier run, as far as two runs are alike.

mod bench;
mod ceilings;
mod client;
mod disk;
mod ends;
mod engine;
mod quota;
mod sleep;
mod upgrade;
