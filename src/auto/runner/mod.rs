//! How the user's own agent is started, heard, judged and stopped.
