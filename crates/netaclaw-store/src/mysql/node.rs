//! This process as a node of the database: its row, its beats, and its look at the other nodes.

use super::connections::Connections;
use super::provider::Store;
use super::retry::{Failure, is_duplicate};
use crate::{new_session_id, now_ms};
use netaclaw_cluster::{Moment, NodeId, Peers, Silent, Standing, State, Timing};
use netaclaw_session::{SessionError, format_timestamp};
use rustix::time::{ClockId, clock_gettime};
use sqlx::mysql::MySqlConnection;
use std::sync::{Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::{Notify, watch};

/// How this process shows itself to the others.
#[derive(Clone, Debug)]
pub struct NodeSettings {
    /// Names this start of the process in its data directory, where the next start finds it dead.
    pub instance: String,
    /// For readers of the table.
    pub name: String,
    pub timing: Timing,
}

impl Default for NodeSettings {
    fn default() -> Self {
        Self {
            instance: new_session_id().as_str().to_owned(),
            name: format!("process {}", std::process::id()),
            timing: Timing::default(),
        }
    }
}

/// Whether this process may act, and how those who wait for it learn that.
pub(super) struct NodeStatus {
    settings: NodeSettings,
    standing: Mutex<Option<Standing>>,
    /// Changes with every beat that was answered.
    answered: watch::Sender<()>,
    /// Told when a node has died, this one included.
    deaths: Notify,
    /// Held while the node is entered, so that it is entered once.
    joining: tokio::sync::Mutex<Driver>,
}

/// The task that beats, once the process has become a node.
#[derive(Default)]
struct Driver(Option<tokio::task::JoinHandle<()>>);

impl Drop for Driver {
    fn drop(&mut self) {
        if let Some(task) = &self.0 {
            task.abort();
        }
    }
}

impl NodeStatus {
    pub(super) fn new(settings: NodeSettings) -> Self {
        Self {
            settings,
            standing: Mutex::new(None),
            answered: watch::Sender::new(()),
            deaths: Notify::new(),
            joining: tokio::sync::Mutex::default(),
        }
    }

    /// Whether the node has been without a confirmed beat for too long.
    pub(super) fn is_suspended(&self) -> bool {
        let standing = self.standing();
        let state = standing
            .as_ref()
            .map(|standing| standing.at(boottime(), &self.settings.timing));
        state == Some(State::Suspended)
    }

    /// Waits until the node is not suspended. A node that was found dead loses its claims, which
    /// report it.
    pub(super) async fn active(&self) {
        if !self.is_suspended() {
            return;
        }
        let mut answered = self.answered.subscribe();
        while self.is_suspended() && answered.changed().await.is_ok() {}
    }

    /// Waits until some node has died.
    pub(super) async fn death(&self) {
        self.deaths.notified().await;
    }

    fn standing(&self) -> MutexGuard<'_, Option<Standing>> {
        // It is replaced as a whole.
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// This machine's clock, which also counts while it sleeps and which no setting of the time moves.
fn boottime() -> Moment {
    let now = clock_gettime(ClockId::Boottime);
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec as u32)
}

impl Store {
    /// The node that this process is, entered in the database when it first claims something.
    pub(super) async fn joined(&self) -> Result<NodeId, Failure> {
        if let Some(node) = self.claims.node() {
            return Ok(node);
        }
        let mut driver = self.heart.joining.lock().await;
        if let Some(node) = self.claims.node() {
            return Ok(node);
        }
        let node = NodeId::new(new_session_id().as_str());
        let sent = boottime();
        let mut lease = self.connections.lease().await?;
        insert_node(lease.connection(), &node, &self.heart.settings).await?;
        remove_dead_nodes(lease.connection()).await?;
        lease.return_to_pool();
        *self.heart.standing() = Some(Standing::joined(sent));
        self.claims.set_node(node.clone());
        if driver.0.is_none() {
            let timing = self.heart.settings.timing;
            driver.0 = Some(tokio::spawn(drive(Weak::clone(&self.me), timing)));
        }
        Ok(node)
    }

    /// Declares the nodes of these process starts dead. Only for callers that have proof of it.
    pub(super) async fn instances_died(&self, instances: &[String]) -> Result<(), SessionError> {
        let mut retry = self.retry("cannot declare nodes dead".to_owned());
        while let Err(failure) = retry.attempt(self.declare_instances_dead(instances)).await {
            retry.after(failure).await?;
        }
        Ok(())
    }

    async fn declare_instances_dead(&self, instances: &[String]) -> Result<(), Failure> {
        const UPDATE: &str = "UPDATE netaclaw_node SET state = 'dead' WHERE instance = ?";
        let mut lease = self.connections.lease().await?;
        for instance in instances {
            sqlx::query(UPDATE)
                .bind(instance)
                .execute(lease.connection())
                .await?;
        }
        lease.return_to_pool();
        Ok(())
    }

    /// Gives up everything that this node owns, and the node itself.
    pub(super) async fn leave(&self) -> Result<(), SessionError> {
        let mut driver = self.heart.joining.lock().await;
        *driver = Driver::default();
        let Some(node) = self.claims.node() else {
            return Ok(());
        };
        self.claims.lose_all();
        *self.heart.standing() = None;
        let mut retry = self.retry("cannot unregister this node".to_owned());
        while let Err(failure) = retry.attempt(self.try_leave(&node)).await {
            retry.after(failure).await?;
        }
        Ok(())
    }

    async fn try_leave(&self, node: &NodeId) -> Result<(), Failure> {
        const RELEASE: &str = "UPDATE neta_agent_session SET ownerNode = NULL, fence = fence + 1 \
             WHERE ownerNode = ?";
        const DELETE: &str = "DELETE FROM netaclaw_node WHERE nodeId = ?";
        let mut lease = self.connections.lease().await?;
        for statement in [RELEASE, DELETE] {
            sqlx::query(statement)
                .bind(node.as_str())
                .execute(lease.connection())
                .await?;
        }
        lease.return_to_pool();
        Ok(())
    }

    /// One beat and one look at the others.
    async fn beat(&self, heart: &mut HeartbeatState) -> Result<(), Failure> {
        let Some(node) = self.claims.node() else {
            return Ok(());
        };
        let timing = &self.heart.settings.timing;
        let connection = heart.connection(&self.connections).await?;
        let sent = boottime();
        if !increase_beat(connection, &node).await? {
            self.declared_dead();
            return Ok(());
        }
        if let Some(standing) = &mut *self.heart.standing() {
            standing.beat_confirmed(sent);
        }
        self.heart.answered.send_replace(());
        let sent = boottime();
        let rows = living_nodes(connection, &node).await?;
        let outlook = heart.peers.read(sent, boottime(), rows, timing);
        let mut died = !outlook.gone.is_empty();
        for silent in &outlook.silent {
            died |= declare_dead(heart.connection(&self.connections).await?, silent).await?;
        }
        if died {
            self.heart.deaths.notify_one();
        }
        Ok(())
    }

    fn declared_dead(&self) {
        tracing::error!(
            "the other nodes have declared this node dead; releasing its sessions and registering \
             a new node"
        );
        if let Some(standing) = &mut *self.heart.standing() {
            standing.declared_dead();
        }
        self.claims.lose_all();
        self.heart.answered.send_replace(());
        self.heart.deaths.notify_one();
    }
}

/// The state of the heartbeat task between two beats. The connection is its own: it must not wait
/// for appends that wait.
#[derive(Default)]
struct HeartbeatState {
    connection: Option<MySqlConnection>,
    peers: Peers,
}

impl HeartbeatState {
    async fn connection(
        &mut self,
        connections: &Connections,
    ) -> Result<&mut MySqlConnection, Failure> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => connections.connect().await?,
        };
        Ok(self.connection.insert(connection))
    }
}

async fn drive(store: Weak<Store>, timing: Timing) {
    let mut beating = HeartbeatState::default();
    loop {
        tokio::time::sleep(timing.beat_every).await;
        let Some(store) = store.upgrade() else {
            return;
        };
        let beaten = tokio::time::timeout(timing.beat_timeout, store.beat(&mut beating)).await;
        match beaten {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                tracing::warn!(?error, "failed to send a heartbeat of this node");
                beating.connection = None;
            }
            Err(_) => {
                tracing::warn!("the database does not respond to the heartbeats of this node");
                beating.connection = None;
            }
        }
    }
}

async fn insert_node(
    connection: &mut MySqlConnection,
    node: &NodeId,
    settings: &NodeSettings,
) -> Result<(), Failure> {
    const INSERT: &str = "INSERT INTO netaclaw_node (nodeId, instance, name, version, startedAt) \
         VALUES (?, ?, ?, ?, ?)";
    let inserted = sqlx::query(INSERT)
        .bind(node.as_str())
        .bind(&settings.instance)
        .bind(&settings.name)
        .bind(env!("CARGO_PKG_VERSION"))
        .bind(format_timestamp(now_ms()))
        .execute(connection)
        .await
        .map_err(Failure::from);
    match inserted {
        Err(failure) if is_duplicate(&failure) => Ok(()),
        inserted => inserted.map(|_| ()),
    }
}

/// Dead nodes without sessions are equivalent to missing rows.
async fn remove_dead_nodes(connection: &mut MySqlConnection) -> Result<(), Failure> {
    const DELETE: &str = "DELETE FROM netaclaw_node WHERE state = 'dead' AND NOT EXISTS \
         (SELECT 1 FROM neta_agent_session WHERE ownerNode = nodeId)";
    sqlx::query(DELETE).execute(connection).await?;
    Ok(())
}

/// False if the node is dead.
async fn increase_beat(connection: &mut MySqlConnection, node: &NodeId) -> Result<bool, Failure> {
    const UPDATE: &str =
        "UPDATE netaclaw_node SET beat = beat + 1 WHERE nodeId = ? AND state <> 'dead'";
    let done = sqlx::query(UPDATE)
        .bind(node.as_str())
        .execute(connection)
        .await?;
    Ok(done.rows_affected() > 0)
}

async fn living_nodes(
    connection: &mut MySqlConnection,
    but: &NodeId,
) -> Result<Vec<(NodeId, u64)>, Failure> {
    const SELECT: &str =
        "SELECT nodeId, beat FROM netaclaw_node WHERE state <> 'dead' AND nodeId <> ?";
    let rows: Vec<(String, u64)> = sqlx::query_as(SELECT)
        .bind(but.as_str())
        .fetch_all(connection)
        .await?;
    let rows = rows.into_iter();
    Ok(rows.map(|(node, beat)| (NodeId::new(node), beat)).collect())
}

/// False if it has shown a sign of life, or was declared dead by another.
async fn declare_dead(connection: &mut MySqlConnection, silent: &Silent) -> Result<bool, Failure> {
    const UPDATE: &str = "UPDATE netaclaw_node SET state = 'dead' \
         WHERE nodeId = ? AND beat = ? AND state <> 'dead'";
    let done = sqlx::query(UPDATE)
        .bind(silent.node.as_str())
        .bind(silent.beat)
        .execute(connection)
        .await?;
    let died = done.rows_affected() > 0;
    if died {
        tracing::warn!(
            node.id = silent.node.as_str(),
            "declared a node dead, because it sent no heartbeats"
        );
    }
    Ok(died)
}
