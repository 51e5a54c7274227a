//! An HTTP client, as small as can be: one request on one connection.

use crate::server::TOKEN;
use serde_json::Value;
use std::net::{IpAddr, SocketAddr};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpSocket, TcpStream};

pub(crate) struct Request<'a> {
    address: SocketAddr,
    /// Where it comes from, if that is not left to the system.
    from: Option<IpAddr>,
    host: String,
    method: &'a str,
    path: &'a str,
    headers: Vec<(&'a str, String)>,
    content_type: &'static str,
    body: Vec<u8>,
}

#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) bytes: Vec<u8>,
    /// The same, as far as it is text.
    pub(crate) text: String,
}

/// A request with the access token.
pub(crate) fn request<'a>(address: SocketAddr, method: &'a str, path: &'a str) -> Request<'a> {
    plain(address, method, path).bearer(TOKEN)
}

/// A request without a credential.
pub(crate) fn plain<'a>(address: SocketAddr, method: &'a str, path: &'a str) -> Request<'a> {
    Request {
        address,
        from: None,
        host: address.to_string(),
        method,
        path,
        headers: Vec::new(),
        content_type: "application/json",
        body: Vec::new(),
    }
}

impl<'a> Request<'a> {
    pub(crate) fn bearer(self, token: &str) -> Self {
        self.header("authorization", format!("Bearer {token}"))
    }

    pub(crate) fn header(mut self, name: &'a str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Under another name than the server's address.
    pub(crate) fn host(mut self, host: &str) -> Self {
        self.host = host.to_owned();
        self
    }

    /// From another address of this machine.
    pub(crate) fn from(mut self, address: [u8; 4]) -> Self {
        self.from = Some(address.into());
        self
    }

    /// The fields of a form, as a page without scripts sends them.
    pub(crate) fn fields(mut self, body: &str) -> Self {
        self.content_type = "application/x-www-form-urlencoded";
        self.body = body.as_bytes().to_vec();
        self
    }

    pub(crate) fn json(mut self, body: Value) -> Self {
        self.body = body.to_string().into_bytes();
        self
    }

    pub(crate) fn text(mut self, body: &str) -> Self {
        self.content_type = "text/plain;charset=UTF-8";
        self.body = body.as_bytes().to_vec();
        self
    }

    /// A form with files, as a browser sends it.
    pub(crate) fn form(mut self, files: &[(&str, &[u8])]) -> Self {
        self.content_type = "multipart/form-data; boundary=edge";
        for (name, content) in files {
            let head = format!(
                "--edge\r\ncontent-disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n"
            );
            self.body.extend_from_slice(head.as_bytes());
            self.body.extend_from_slice(content);
            self.body.extend_from_slice(b"\r\n");
        }
        self.body.extend_from_slice(b"--edge--\r\n");
        self
    }

    pub(crate) async fn send(self) -> Response {
        let mut reading = self.open().await;
        reading.rest().await
    }

    /// Sends the request and reads no further than the head of the answer.
    pub(crate) async fn open(self) -> Reading {
        let mut stream = match self.from {
            Some(from) => {
                let socket = TcpSocket::new_v4().unwrap();
                socket.bind((from, 0).into()).unwrap();
                socket.connect(self.address).await.unwrap()
            }
            None => TcpStream::connect(self.address).await.unwrap(),
        };
        let mut head = format!(
            "{} {} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\ncontent-type: {}\r\ncontent-length: {}\r\n",
            self.method,
            self.path,
            self.host,
            self.content_type,
            self.body.len()
        );
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        // A server that has read enough may answer, and close, before all is sent.
        drop(stream.write_all(&self.body).await);
        Reading::head(BufReader::new(stream)).await
    }
}

/// An answer that is still being read.
pub(crate) struct Reading {
    stream: BufReader<TcpStream>,
    status: u16,
    headers: Vec<(String, String)>,
}

impl Reading {
    async fn head(mut stream: BufReader<TcpStream>) -> Self {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            stream.read_line(&mut line).await.unwrap();
            match line.trim_end() {
                "" => break,
                line => lines.push(line.to_owned()),
            }
        }
        let status = lines[0].split(' ').nth(1).unwrap().parse().unwrap();
        let headers = lines[1..].iter().map(|line| {
            let (name, value) = line.split_once(": ").unwrap();
            (name.to_ascii_lowercase(), value.to_owned())
        });
        Self {
            status,
            headers: headers.collect(),
            stream,
        }
    }

    /// Reads on until a line of the body holds the text.
    pub(crate) async fn line_with(&mut self, part: &str) -> String {
        loop {
            let mut line = String::new();
            let read = self.stream.read_line(&mut line).await.unwrap();
            assert_ne!(read, 0, "the answer ended before {part:?}");
            if line.contains(part) {
                return line;
            }
        }
    }

    async fn rest(&mut self) -> Response {
        let mut bytes = Vec::new();
        self.stream.read_to_end(&mut bytes).await.unwrap();
        let chunked = self.headers.iter().any(|(_, value)| value == "chunked");
        let bytes = if chunked { unchunked(&bytes) } else { bytes };
        Response {
            status: self.status,
            headers: std::mem::take(&mut self.headers),
            text: String::from_utf8_lossy(&bytes).into_owned(),
            bytes,
        }
    }
}

impl Response {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("no JSON: {}", self.text))
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value)
    }
}

fn unchunked(mut bytes: &[u8]) -> Vec<u8> {
    let mut all = Vec::new();
    loop {
        let end = bytes.windows(2).position(|pair| pair == b"\r\n").unwrap();
        let size = std::str::from_utf8(&bytes[..end]).unwrap();
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            return all;
        }
        let from = end + 2;
        all.extend_from_slice(&bytes[from..from + size]);
        bytes = &bytes[from + size + 2..];
    }
}
