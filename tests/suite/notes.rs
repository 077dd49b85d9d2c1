//! Notes from fenced programs to their test, over the network: a fence leaves that open unless it is limited.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// Receives what is written to `/dev/tcp/127.0.0.1/PORT`.
#[derive(Debug)]
pub(crate) struct Notes {
    port: u16,
    told: Arc<Mutex<String>>,
}

/// A line that the test itself sends after all others.
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

    /// The port, for the variable that scripts read.
    pub(crate) fn port(&self) -> String {
        self.port.to_string()
    }

    /// Everything received so far.
    pub(crate) fn told(&self) -> String {
        // Connections are accepted in order.
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
