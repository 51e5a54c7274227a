//! The server, its storage, and its internal errors.

use super::reasons;
use super::session::SessionDamage;
use crate::SessionId;
use serde::{Deserialize, Serialize};

reasons! {
    /// Why the server cannot carry out a request at the moment, or with its configuration.
    Unavailable {
        ShuttingDown => {
            zh("服务器正在关闭；请稍后重试"),
            en("the server is shutting down; try again later"),
        }
        /// Other processes may take over the sessions of this process at any moment.
        DatabaseLost => {
            zh("服务器与数据库的连接已断开，恢复之前不接受请求；请稍后重试"),
            en("the server has lost its connection to the database and rejects requests until it is restored; try again later"),
        }
        StoreNotAnswering => {
            zh("会话存储没有响应；请稍后重试"),
            en("the session storage does not respond; try again later"),
        }
        SessionNotReadable { session: SessionId, damage: SessionDamage } => {
            zh("无法读取会话 {session}：{}", damage.words().zh),
            en("session {session} cannot be read: {damage}"),
        }
        NoMysql => {
            zh("此智能体的会话存储在 MySQL 中，而服务器没有配置 MySQL；请设置 NETACLAW_MYSQL_URL"),
            en("the agent stores its sessions in MySQL, which is not configured; set NETACLAW_MYSQL_URL"),
        }
        NoModelToMeasure => {
            zh("会话的智能体没有可用的模型"),
            en("the agent of the session has no usable model"),
        }
        NoSummaries => {
            zh("没有可用于生成摘要的模型"),
            en("no model is available for summaries"),
        }
        BranchNotSummarized => {
            zh("无法为此分支生成摘要"),
            en("the branch could not be summarized"),
        }
        RunNotStarted => {
            zh("运行没有开始；请重试"),
            en("the run did not start; try again"),
        }
        /// Of an answer that is streamed.
        ReaderTooSlow => {
            zh("读取回答的速度跟不上，连接已结束；请重试"),
            en("the client read the answer too slowly; try again"),
        }
        RunEnded => {
            zh("运行失败，没有给出原因"),
            en("the run failed without a reason"),
        }
        /// `detail` is the English text of the trouble that the run reported.
        RunFailed { detail: String } => {
            zh("运行失败：`{detail}`"),
            en("{detail}"),
        }
        CredentialsNotChecked => {
            zh("暂时无法验证凭据；请稍后重试"),
            en("credentials cannot be checked at the moment; try again later"),
        }
        ConnectionsOfServer => {
            zh("服务器的连接数已达上限；请稍后重试"),
            en("the server has reached its limit of connections; try again later"),
        }
        ConnectionTooSlow => {
            zh("连接过慢，跟不上事件；请重新连接"),
            en("the connection is too slow for the events; reconnect"),
        }
        NoAttachments => {
            zh("此服务器不接收文件"),
            en("this server does not accept files"),
        }
        NoPreviews => {
            zh("此服务器未启用提示词预览"),
            en("prompt previews are disabled on this server"),
        }
        NoMcp => {
            zh("未启用 MCP 服务器"),
            en("MCP servers are disabled"),
        }
        /// Of the readiness check.
        PartNotAnswering { part: StorePart } => {
            zh("{}没有响应", part.zh()),
            en("{} does not respond", part.en()),
        }
        /// Of the readiness check.
        PartNotUsable { part: StorePart, fault: StoreFault } => {
            zh("{}无法使用：{}", part.zh(), fault.words().zh),
            en("{} cannot be used: {fault}", part.en()),
        }
    }
}

reasons! {
    /// What is wrong with the disk or the database of a store, without paths, addresses and
    /// statements.
    #[derive(Copy)]
    StoreFault {
        DiskFull => {
            zh("服务器磁盘已满，内容没有保存；请清理磁盘空间后重试"),
            en("the disk of the server is full, and nothing was stored; free some space and try again"),
        }
        StorageReadOnly => {
            zh("服务器的存储为只读，内容没有保存；请管理员将其改为可写"),
            en("the storage of the server is read-only, and nothing was stored; an administrator must make it writable"),
        }
        StorageDenied => {
            zh("服务器没有读写其数据的权限；请管理员检查数据目录的权限"),
            en("the server has no permission to use its data; an administrator must check the permissions of the data directory"),
        }
        /// A file has reached the limit that the system sets for the process.
        FileSizeLimit => {
            zh("服务器的文件已达到系统的大小上限，内容没有保存；请管理员提高上限（ulimit -f）"),
            en("a file of the server has reached the system's size limit, and nothing was stored; an administrator must raise the limit (ulimit -f)"),
        }
        /// The database cannot be reached.
        DatabaseAway => {
            zh("服务器的数据库没有响应；请稍后重试"),
            en("the database of the server does not respond; try again later"),
        }
        DatabaseDamaged => {
            zh("服务器的数据库已损坏；请管理员恢复备份"),
            en("the database of the server is damaged; an administrator must restore a backup"),
        }
        /// Another error, which is in the log.
        StorageFailed => {
            zh("服务器的存储出错，已记入日志；请稍后重试"),
            en("the storage of the server failed; the error was logged; try again later"),
        }
    }
}

reasons! {
    /// The cause is only in the log.
    #[derive(Copy)]
    InternalError {
        Internal => {
            zh("服务器内部出错，已记入日志"),
            en("the server failed internally; the error was logged"),
        }
    }
}

/// What a server must be able to use before it is ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum StorePart {
    AdminStore,
    SessionStore,
    DataDirectory,
}

impl StorePart {
    /// The name on the wire and in logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AdminStore => "admin_store",
            Self::SessionStore => "session_store",
            Self::DataDirectory => "data_directory",
        }
    }

    fn zh(self) -> &'static str {
        match self {
            Self::AdminStore => "管理存储",
            Self::SessionStore => "会话存储",
            Self::DataDirectory => "数据目录",
        }
    }

    fn en(self) -> &'static str {
        match self {
            Self::AdminStore => "the admin store",
            Self::SessionStore => "the session store",
            Self::DataDirectory => "the data directory",
        }
    }
}
