//! Sessions and records that are missing, in use, changed or damaged.

use super::field::{UsedBy, kind_zh, meant_en, meant_zh, users_en, users_zh};
use super::reasons;
use crate::{EntryId, RecordKind, SessionId};

reasons! {
    /// What does not exist, or is not visible to the caller.
    NotFound {
        NoSession => {
            zh("没有这个会话"),
            en("there is no such session"),
        }
        NoRecord { kind: RecordKind, name: String, nearest: Option<String> } => {
            zh("没有{}“{name}”{}", kind_zh(*kind), meant_zh(nearest)),
            en("there is no {kind} {name:?}{}", meant_en(nearest)),
        }
        NoSkill { name: String } => {
            zh("没有技能“{name}”"),
            en("there is no skill {name:?}"),
        }
        NoToken => {
            zh("没有这个令牌"),
            en("there is no such token"),
        }
        NotSet { name: String } => {
            zh("“{name}”尚未设置"),
            en("the setting {name:?} has no value"),
        }
        NoEntry => {
            zh("没有这个条目"),
            en("there is no such entry"),
        }
        NoImage => {
            zh("没有这张图片"),
            en("there is no such image"),
        }
        NoFile => {
            zh("没有这个文件"),
            en("there is no such file"),
        }
        NoProcessLog => {
            zh("此操作没有步骤日志"),
            en("there is no step log for this operation"),
        }
        NotWaiting => {
            zh("此消息已不在队列中"),
            en("this message is no longer in the queue"),
        }
        QuestionNotOpen => {
            zh("此问题未在等待回答；它的运行已结束"),
            en("this question is not open; its run has ended"),
        }
        ApprovalNotOpen => {
            zh("此审批未在等待决定；它的运行已结束，没有作出决定"),
            en("this approval is not open; its run has ended without a decision"),
        }
        NoPage => {
            zh("此地址没有内容"),
            en("there is nothing at this address"),
        }
        /// It was revoked, or never granted in this session.
        NoStandingApproval => {
            zh("此会话没有这项长期审批，可能已被吊销"),
            en("this session has no such standing approval; it may have been revoked"),
        }
    }
}

reasons! {
    /// What contradicts the current state.
    Conflict {
        /// The leaf is another one than the caller expected; `null` is the root.
        LeafMoved { session: SessionId, expected: Option<EntryId>, actual: Option<EntryId> } => {
            zh("会话 {session} 已有变化：叶节点是{}，而不是{}", leaf_zh(actual), leaf_zh(expected)),
            en("session {session} has changed: its leaf is {}, not {}", leaf_en(actual), leaf_en(expected)),
        }
        EntryExists { session: SessionId, entry: EntryId } => {
            zh("会话 {session} 已有条目 {entry}"),
            en("session {session} already has an entry {entry}"),
        }
        SessionExists { session: SessionId } => {
            zh("会话 {session} 已存在"),
            en("session {session} already exists"),
        }
        RequestRepeated { session: SessionId } => {
            zh("会话 {session} 已有这个请求的消息；请使用新的请求标识"),
            en("session {session} already has a message from this request; use a new request id"),
        }
        /// The same request id with different content.
        RequestIdReused => {
            zh("这个请求标识已用于其他内容；请使用新的请求标识"),
            en("this request id was used for another request; use a new one"),
        }
        SessionRestored => {
            zh("会话在此期间已恢复，没有删除"),
            en("the session was restored in the meantime and was not deleted"),
        }
        CallDenied => {
            zh("此调用已被拒绝"),
            en("this call has already been denied"),
        }
        CallAllowed => {
            zh("此调用已获允许"),
            en("this call has already been allowed"),
        }
        QuestionClosed => {
            zh("此问题已关闭；请以消息发送您的回答"),
            en("this question is closed; send your answer as a message"),
        }
        QuestionAnswered => {
            zh("此问题已有回答"),
            en("this question has already been answered"),
        }
        FileSent => {
            zh("此文件已随消息发送，不能撤回"),
            en("the file was sent with a message and cannot be deleted"),
        }
        RecordChanged { kind: RecordKind, name: String, expected: u64, current: u64 } => {
            zh("{}“{name}”已被他人从版本 {expected} 改为 {current}；请刷新后重新修改", kind_zh(*kind)),
            en("{kind} {name:?} was changed elsewhere: it is at revision {current}, not {expected}"),
        }
        NameTaken { kind: RecordKind, name: String } => {
            zh("{}“{name}”已存在；请换一个名称", kind_zh(*kind)),
            en("the name {name:?} is already used by another {kind}"),
        }
        RecordInUse { kind: RecordKind, name: String, by: Vec<UsedBy> } => {
            zh("{}“{name}”正被使用：{}", kind_zh(*kind), users_zh(by)),
            en("{kind} {name:?} is used by {}", users_en(by)),
        }
    }
}

reasons! {
    /// Why this version can read a session but not change it.
    ReadOnly {
        NewerFormat { found: u32, supported: u32 } => {
            zh("此会话由较新版本的 NetaClaw 写入（格式版本 {found}，本版本支持到 {supported}），只能查看。请更新 NetaClaw 后再修改。"),
            en("A newer version of NetaClaw wrote this session (format version {found}, this one supports {supported}): it can be read but not changed. Update NetaClaw to change it."),
        }
        NewerState { found: u64, supported: u64 } => {
            zh("此会话由较新版本的 NetaClaw 写入（状态版本 {found}，本版本支持到 {supported}），只能查看。请更新 NetaClaw 后再修改。"),
            en("A newer version of NetaClaw wrote this session (state version {found}, this one supports {supported}): it can be read but not changed. Update NetaClaw to change it."),
        }
    }
}

reasons! {
    /// Why a session cannot accept a command at this moment.
    Busy {
        OpenElsewhere { session: SessionId } => {
            zh("会话正忙：另一个进程正在写入会话 {session}"),
            en("the session is busy: session {session} is open for writing in another process"),
        }
        TakenOver { session: SessionId } => {
            zh("会话正忙：会话 {session} 已由另一个服务器或终端接管；请重新打开以查看当前状态"),
            en("the session is busy: another server or terminal has taken over session {session}; open it again to see its current state"),
        }
        CommandsOfSession => {
            zh("会话正忙：等待它的命令过多；请重试"),
            en("the session is busy: too many commands are waiting for it; try again"),
        }
        OpenedAgain => {
            zh("会话正忙：它已被重新打开"),
            en("the session is busy: it was reopened"),
        }
        RunBegun => {
            zh("会话正忙：一次运行已开始；请重试"),
            en("the session is busy: a run has started; try again"),
        }
        Running => {
            zh("会话正忙：正在运行；请停止运行，或等待它结束"),
            en("the session is busy: a run is in progress; stop it or wait until it ends"),
        }
        WaitsForAnswer => {
            zh("会话正忙：有问题或审批等待处理；请先处理，或停止运行"),
            en("the session is busy: a question or an approval is waiting; answer it, or stop the run"),
        }
    }
}

reasons! {
    /// The entry that a command refers to is not at its place.
    StaleParent {
        NotInSession { entry: EntryId } => {
            zh("条目 {entry} 不在此会话中；请刷新后重试"),
            en("entry {entry} is not in this session; reload and try again"),
        }
        NotOnPath { entry: EntryId } => {
            zh("条目 {entry} 不在活动路径上；请刷新后重试"),
            en("entry {entry} is not on the active path; reload and try again"),
        }
    }
}

reasons! {
    /// What is wrong with a stored session.
    SessionDamage {
        EmptyLog => {
            zh("文件为空"),
            en("the file is empty"),
        }
        NoHeader { readable: u32, unreadable: u32 } => {
            zh("第一行可读的内容不是会话头（{readable} 行可读，{unreadable} 行不可读，均未改动）"),
            en("the first readable line is not a session header ({readable} readable and {unreadable} unreadable lines, none of them changed)"),
        }
        HeaderNotReadable => {
            zh("表中的会话头不是带 id 的 JSON 对象"),
            en("the header in the table is not a JSON object with an id"),
        }
        EntryNotReadable => {
            zh("表中有条目不是带 id 的 JSON 对象"),
            en("an entry in the table is not a JSON object with an id"),
        }
        RowChanged => {
            zh("会话所在的行虽已锁定，却仍有变化"),
            en("its row changed although it was locked"),
        }
        MissingEntry { entry: EntryId } => {
            zh("会话中没有条目 {entry}"),
            en("there is no entry {entry} in this session"),
        }
        MissingParent { entry: EntryId, parent: EntryId } => {
            zh("条目 {entry} 的上级 {parent} 不在此会话中"),
            en("the parent of entry {entry}, {parent}, is not in this session"),
        }
        Circle { entry: EntryId } => {
            zh("条目 {entry} 的上级形成了环"),
            en("the parents of entry {entry} form a cycle"),
        }
    }
}

fn leaf_zh(leaf: &Option<EntryId>) -> String {
    let entry = leaf.as_ref();
    entry.map_or_else(|| "根节点".to_owned(), |entry| format!("条目 {entry}"))
}

fn leaf_en(leaf: &Option<EntryId>) -> &str {
    leaf.as_ref().map_or("the root", EntryId::as_str)
}
