//! What fenced programs tell their test: over the network, which a fence leaves open unless it is limited.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// Takes what is written to `/dev/tcp/127.0.0.1/PORT`.
#[derive(Debug)]
pub(crate) struct Notes {
    port: u16,
    told: Arc<Mutex<String>>,
}

/// What the test itself says, after all others.
const LAST: &str = "the last word\n";

impl Notes {
    pub(crate) fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let told = Arc::<Mutex<String>>::default();
        let kept = told.clone();
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let mut bytes = Vec::new();
                let _ = stream.read_to_end(&mut bytes);
                kept.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes));
            }
        });
        Self { port, told }
    }

    /// For the variable that scripts know it by.
    pub(crate) fn port(&self) -> String {
        self.port.to_string()
    }

    /// All that was told so far.
    pub(crate) fn told(&self) -> String {
        // Connections are taken in their order.
        TcpStream::connect(("127.0.0.1", self.port)).unwrap().write_all(LAST.as_bytes()).unwrap();
        loop {
            let told = self.told.lock().unwrap().clone();
            if let Some(told) = told.strip_suffix(LAST) {
                self.told.lock().unwrap().truncate(told.len());
                return told.to_owned();
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }
}
