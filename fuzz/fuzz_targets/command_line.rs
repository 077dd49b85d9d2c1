#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| gsd_tools::fuzzing::command_line(bytes));
