//! A real database server for tests: the one that the test command provides, or a private one with
//! its own data directory, socket and port, which ends with its value.

use anyhow::{Context, bail, ensure};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use tempfile::TempDir;

/// Where the test command says that a server is: `mysql://user:password@host:port`, with a user
/// who may do everything.
const URL_VARIABLE: &str = "NETACLAW_TEST_MYSQL_URL";
/// Another process may take a free port before the server does.
const PORT_ATTEMPTS: u32 = 5;

/// A database server.
pub struct MariaDb {
    address: Address,
    private: Option<Private>,
}

/// A server of this process's own.
struct Private {
    dir: TempDir,
    process: Option<Child>,
}

impl MariaDb {
    /// The server in the environment, else a private one.
    pub fn start() -> anyhow::Result<Self> {
        match std::env::var(URL_VARIABLE) {
            Ok(url) => Ok(Self {
                address: Address::parse(&url)?,
                private: None,
            }),
            Err(_) => Self::start_private(),
        }
    }

    /// A private server in any case, for tests that stop it.
    pub fn start_private() -> anyhow::Result<Self> {
        let dir = tempfile::Builder::new().prefix("neta").tempdir()?;
        install(dir.path())?;
        let mut failure = None;
        for _ in 0..PORT_ATTEMPTS {
            let port = free_port()?;
            let process = match launch(dir.path(), port) {
                Ok(process) => process,
                Err(error) => {
                    failure = Some(error);
                    continue;
                }
            };
            // From here on the process ends with the value, whatever happens.
            let server = Self {
                address: Address::local(port),
                private: Some(Private {
                    dir,
                    process: Some(process),
                }),
            };
            server.make_user()?;
            return Ok(server);
        }
        Err(failure.context("there was at least one attempt")?)
    }

    /// Where the server is, without a database.
    pub fn url(&self) -> String {
        self.address.url("")
    }

    /// A new empty database, which goes away with its value.
    pub fn fresh_database(&self) -> anyhow::Result<Database> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        // Nextest runs every test as a process, so the number alone would not do.
        let name = format!("neta_test_{}_{number}", std::process::id());
        let address = self.address.clone();
        address.run(&format!(
            "DROP DATABASE IF EXISTS {name}; CREATE DATABASE {name} CHARACTER SET utf8mb4"
        ))?;
        Ok(Database { address, name })
    }

    /// Ends a private server at once, as a power cut would.
    pub fn kill(&mut self) -> anyhow::Result<()> {
        self.private()?.kill()
    }

    /// Starts a private server that was killed, with the same data and on the same port.
    pub fn restart(&mut self) -> anyhow::Result<()> {
        let port = self.address.port;
        let private = self.private()?;
        private.kill()?;
        private.process = Some(launch(private.dir.path(), port)?);
        Ok(())
    }

    fn private(&mut self) -> anyhow::Result<&mut Private> {
        let private = self.private.as_mut();
        private.context("only a server that was started here can be stopped")
    }

    fn make_user(&self) -> anyhow::Result<()> {
        let private = self.private.as_ref().context("not a private server")?;
        let Address { user, password, .. } = &self.address;
        let mut client = command("mariadb");
        client
            .args(["--no-defaults", "-uroot"])
            .arg(argument("--socket", &private.dir.path().join("s.sock")))
            .arg("-e")
            .arg(format!(
                "CREATE USER '{user}'@'127.0.0.1' IDENTIFIED BY '{password}'; \
                 GRANT ALL ON *.* TO '{user}'@'127.0.0.1' WITH GRANT OPTION"
            ));
        run(client)
    }
}

impl Private {
    fn kill(&mut self) -> anyhow::Result<()> {
        if let Some(mut process) = self.process.take() {
            process.kill()?;
            process.wait()?;
        }
        Ok(())
    }
}

impl Drop for Private {
    fn drop(&mut self) {
        // The data is thrown away next, so nothing has to be put in order. A process that is
        // gone already is as good.
        self.kill().unwrap_or_default();
    }
}

/// A database of one test.
pub struct Database {
    address: Address,
    name: String,
}

impl Database {
    pub fn url(&self) -> String {
        self.address.url(&self.name)
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Runs statements on a connection of its own, and returns the rows that they select.
    pub fn query(&self, sql: &str) -> anyhow::Result<Vec<Vec<String>>> {
        let mut client = self.address.client();
        let output = client
            .args(["--batch", "--skip-column-names", "-e", sql, &self.name])
            .output()?;
        let error = String::from_utf8_lossy(&output.stderr);
        anyhow::ensure!(output.status.success(), "{sql}: {error}");
        let cells = |line: &str| line.split('\t').map(str::to_owned).collect();
        Ok(String::from_utf8(output.stdout)?
            .lines()
            .map(cells)
            .collect())
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // The server may be gone by now, and the database with it.
        self.address
            .run(&format!("DROP DATABASE IF EXISTS {}", self.name))
            .unwrap_or_default();
    }
}

#[derive(Clone)]
struct Address {
    user: String,
    password: String,
    host: String,
    port: u16,
}

impl Address {
    fn local(port: u16) -> Self {
        Self {
            user: "neta".to_owned(),
            password: "neta".to_owned(),
            host: "127.0.0.1".to_owned(),
            port,
        }
    }

    fn parse(url: &str) -> anyhow::Result<Self> {
        let parse = || {
            let rest = url.strip_prefix("mysql://")?.trim_end_matches('/');
            let (who, at) = rest.rsplit_once('@')?;
            let (user, password) = who.split_once(':')?;
            let (host, port) = at.rsplit_once(':')?;
            Some(Self {
                user: user.to_owned(),
                password: password.to_owned(),
                host: host.to_owned(),
                port: port.parse().ok()?,
            })
        };
        parse().with_context(|| format!("{URL_VARIABLE} must be mysql://user:password@host:port"))
    }

    fn url(&self, database: &str) -> String {
        let Self {
            user,
            password,
            host,
            port,
        } = self;
        format!("mysql://{user}:{password}@{host}:{port}/{database}")
    }

    fn run(&self, sql: &str) -> anyhow::Result<()> {
        let mut client = self.client();
        client.args(["-e", sql]);
        run(client)
    }

    fn client(&self) -> Command {
        let mut client = command("mariadb");
        client
            .arg("--no-defaults")
            .arg(format!("--host={}", self.host))
            .arg(format!("--port={}", self.port))
            .arg(format!("--user={}", self.user))
            .arg("--protocol=tcp")
            .env("MYSQL_PWD", &self.password);
        client
    }
}

/// Makes the data directory of a server below `dir`.
fn install(dir: &Path) -> anyhow::Result<()> {
    std::fs::create_dir(temporary(dir))?;
    let mut install = command("mariadb-install-db");
    install.env("TMPDIR", temporary(dir));
    install
        .args(common_arguments(dir))
        .args(["--skip-test-db", "--auth-root-authentication-method=normal"]);
    run(install)
}

/// Starts the server and waits until it says that it is ready.
fn launch(dir: &Path, port: u16) -> anyhow::Result<Child> {
    let mut process = command("mariadbd")
        .env("TMPDIR", temporary(dir))
        .args(common_arguments(dir))
        .arg(argument("--socket", &dir.join("s.sock")))
        .arg(argument("--pid-file", &dir.join("pid")))
        .arg(format!("--port={port}"))
        .args([
            "--bind-address=127.0.0.1",
            "--skip-name-resolve",
            "--character-set-server=utf8mb4",
            "--collation-server=utf8mb4_bin",
            // What was acknowledged must be there after a kill.
            "--innodb-flush-log-at-trx-commit=1",
            "--innodb-buffer-pool-size=32M",
            "--skip-log-bin",
            "--performance-schema=OFF",
        ])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .context("mariadbd is missing: install mariadb-server")?;
    let output = process.stderr.take().context("the server's output")?;
    let mut output = BufReader::new(output);
    let mut log = String::new();
    while output.read_line(&mut log)? > 0 {
        if log.contains("ready for connections") {
            // If the output were not read, the server would block on a full pipe, and die of a
            // closed one.
            std::thread::spawn(move || std::io::copy(&mut output, &mut std::io::sink()));
            return Ok(process);
        }
    }
    process.wait()?;
    bail!("MariaDB did not start: {log}")
}

/// For the server's temporary files. A server clears this directory of what it takes for its own
/// when it starts, so two must not share one.
fn temporary(dir: &Path) -> PathBuf {
    dir.join("tmp")
}

fn common_arguments(dir: &Path) -> Vec<String> {
    let mut arguments = vec![
        "--no-defaults".to_owned(),
        argument("--datadir", &dir.join("data")),
        "--innodb-data-file-path=ibdata1:10M:autoextend".to_owned(),
        "--innodb-log-file-size=4M".to_owned(),
    ];
    // The server refuses to run as root without this option.
    if std::fs::metadata(dir).is_ok_and(|dir| dir.uid() == 0) {
        arguments.push("--user=root".to_owned());
    }
    arguments
}

fn argument(name: &str, path: &Path) -> String {
    format!("{name}={}", path.display())
}

fn run(mut command: Command) -> anyhow::Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().with_context(|| {
        format!("{name} cannot be started: install mariadb-server and mariadb-client")
    })?;
    ensure!(
        output.status.success(),
        "{name} failed: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    reason = "a test's database server is no tool of an agent"
)]
fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    // Debian keeps servers where an ordinary user's PATH does not look.
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{path}:/usr/sbin:/sbin"));
    command
}

fn free_port() -> std::io::Result<u16> {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
    Ok(listener.local_addr()?.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_private_server_serves_survives_a_kill_and_ends_with_its_value() {
        let mut server = MariaDb::start_private().unwrap();
        let database = server.fresh_database().unwrap();
        let table = format!("{}.t", database.name());
        let address = server.address.clone();
        address
            .run(&format!(
                "CREATE TABLE {table} (n INT); INSERT INTO {table} VALUES (1)"
            ))
            .unwrap();
        server.kill().unwrap();
        address.run("SELECT 1").unwrap_err();
        server.restart().unwrap();
        address.run(&format!("SELECT * FROM {table}")).unwrap();
        drop(database);
        address.run(&format!("SELECT * FROM {table}")).unwrap_err();
        drop(server);
        address.run("SELECT 1").unwrap_err();
    }
}
