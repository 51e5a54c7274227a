//! Why a run ended, its warnings, and why a compaction failed.
//!
//! A client acts on the kind of a [`LocalizedError`].

use super::agent::{ModelChoiceError, NotReady};
use super::model::ModelProblem;
use super::server::StoreFault;
use super::session::{ReadOnly, SessionDamage};
use super::{Reason, reasons};
use crate::{EntryId, LocalizedError, LocalizedErrorKind};

reasons! {
    /// An error or a warning about a run, or about its session.
    RunTrouble {
        // The start of a run.
        AgentNotReady { problem: NotReady } => {
            zh("{}", problem.words().zh),
            en("{problem}"),
        }
        NoModel { problem: ModelChoiceError } => {
            zh("{}", problem.words().zh),
            en("{problem}"),
        }
        NotStarted { problem: Box<Reason> } => {
            zh("无法开始运行：{}", problem.words().zh),
            en("{problem}"),
        }

        // The model.
        /// `said` and `retry_after_ms` come from the supplier, if it sent them.
        ModelFailed { channel: String, model: Option<String>, problem: ModelProblem, said: Option<String>, retry_after_ms: Option<u64> } => {
            zh("{}：{}", place_zh(channel, model), problem.explained(said.as_deref(), *retry_after_ms).zh),
            en("{}: {}", place_en(channel, model), problem.explained(said.as_deref(), *retry_after_ms).en),
        }
        /// The request is sent again.
        ModelRetried { problem: ModelProblem } => {
            zh("{}", problem.words().zh),
            en("{problem}"),
        }

        // The end of a run.
        TurnLimit { turns: u32 } => {
            zh("本次运行达到了 {turns} 个轮次的上限。如需继续，请再发一条消息。"),
            en("The run reached its limit of {turns} turns. Send a message to continue."),
        }
        Stuck { pattern: StuckPattern } => {
            zh("模型陷入重复（{}），提醒后仍未停止。请换一种说法，或换用其他模型。", pattern.words().zh),
            en("The model repeated itself ({pattern}) and did not stop when warned. Rephrase the request, or choose another model."),
        }
        AnswerTruncated => {
            zh("回答达到了模型的输出上限而被截断。可以让它继续，或提高输出上限。"),
            en("The answer was truncated at the model's output limit. Ask the model to continue, or raise the limit."),
        }
        /// `detail` is the error of the session storage, in English.
        SessionLost { detail: String } => {
            zh("会话暂时无法读写，本次运行已结束。（`{detail}`）请稍后重试。"),
            en("The session cannot be read or written at the moment, and the run ended ({detail}). Try again later."),
        }
        Interrupted => {
            zh("已中断：服务器在回答完成前停止了。请重新发送，或继续。"),
            en("Interrupted: the server stopped before the answer was complete. Send the message again, or continue."),
        }
        /// `phase` and `last_activity` are names that the log has too.
        Stalled { minutes: u64, phase: String, last_activity: String, seconds: u64 } => {
            zh("本次运行已 {minutes} 分钟没有进展，服务器将其结束（阶段：`{phase}`；最后的活动：`{last_activity}`，{seconds} 秒前）。请重试；若再次出现，请检查渠道与存储。"),
            en("The run made no progress for {minutes} minutes and was ended (phase: {phase}; last activity: {last_activity}, {seconds} s ago). Try again; if it happens again, check the channel and the storage."),
        }
        Terminated => {
            zh("已停止。本次运行没有按时结束，服务器已将其终止。"),
            en("Stopped. The run did not end in time and was terminated."),
        }
        Internal => {
            zh("服务器内部出错，已记入日志。请重试；若仍出现，请查看服务器日志。"),
            en("The server failed internally; the error was logged. Try again; if it happens again, see the server log."),
        }

        // Warnings: the run goes on.
        Repeating { pattern: StuckPattern } => {
            zh("模型在重复（{}），已提醒它。", pattern.words().zh),
            en("The model repeats itself ({pattern}) and was warned."),
        }
        /// From the channel or the model catalog; `said` is the text of the supplier, if there is one.
        NoToolSupport { channel: String, model: String, said: Option<String> } => {
            zh("渠道“{channel}”，模型“{model}”：该模型不支持工具，智能体将不使用工具。如需工具，请换用支持工具的模型；若它其实支持，请在渠道中改正。{}", quoted(said, "（`", "`）")),
            en("Channel {channel:?}, model {model:?}: this model does not support tools, so the agent runs without them. Choose a model with tool support; if this one has it, correct its entry in the channel.{}", quoted(said, " (", ")")),
        }
        /// `detail` names them, in English.
        UnknownTools { detail: String } => {
            zh("智能体的设置中有不存在的工具，已忽略：`{detail}`"),
            en("The settings of the agent contain tools that do not exist; they are ignored: {detail}"),
        }
        /// `caution` says what programs can do, in English.
        NoSandbox { caution: String } => {
            zh("这台机器无法把命令完全关进沙箱，而智能体的设置（sandbox.missing）允许照样运行：命令可能做到沙箱本应阻止的事，例如读写服务器能读写的文件，或通过套接字调用本机的服务。请只在信任该智能体时这样用。"),
            en("Warning: {caution}. Use this setting only if you trust the agent."),
        }
        MessagesNotReadable { count: usize } => {
            zh("会话中有 {count} 条消息无法读取，未发给模型。"),
            en("{count} messages of the session cannot be read and were not sent to the model."),
        }

        CompactionIneffective => {
            zh("自动压缩已暂停：最近两次节省的空间都太少。请查看上下文的占用情况，手动压缩，或换用上下文窗口更大的模型。"),
            en("Automatic compaction is paused: the last two saved too little. Check what fills the context, compact manually, or choose a model with a larger context window."),
        }
        CompactionTooOften => {
            zh("自动压缩已暂停：它过于频繁，说明保留的内容几乎占满上下文窗口。请查看上下文的占用情况，手动压缩，或换用上下文窗口更大的模型。"),
            en("Automatic compaction is paused: it ran too often, because the kept part nearly fills the context window. Check what fills the context, compact manually, or choose a model with a larger context window."),
        }
        CompactionOverhead => {
            zh("自动压缩无法启动：系统提示词和工具定义本身已超过压缩阈值。请精简它们，提高阈值，或换用上下文窗口更大的模型。"),
            en("Automatic compaction cannot start: the system prompt and the tool definitions alone exceed its threshold. Shorten them, raise the threshold, or choose a model with a larger context window."),
        }
        CompactionNothingLeft => {
            zh("上下文已超过压缩阈值，但目前没有更多内容可以压缩；有新内容后会再试。请查看上下文的占用情况，或换用上下文窗口更大的模型。"),
            en("The context exceeds the compaction threshold, but there is nothing more to compact at the moment; it is tried again with new content. Check what fills the context, or choose a model with a larger context window."),
        }

        // The session.
        NewerVersion { problem: ReadOnly } => {
            zh("{}", problem.words().zh),
            en("{problem}"),
        }
        StorageFailed { fault: StoreFault } => {
            zh("{}", fault.words().zh),
            en("{fault}"),
        }
        SummaryOnly { compaction: EntryId } => {
            zh("压缩 {compaction} 之前的消息已缺失，模型只能看到摘要。"),
            en("The messages before compaction {compaction} are missing; the model receives only the summary."),
        }
        SessionDamaged { damage: SessionDamage } => {
            zh("会话在此处损坏，请从其他条目继续。（{}）", damage.words().zh),
            en("The session is damaged here; continue from another entry. ({damage})"),
        }
    }
}

impl RunTrouble {
    pub fn kind(&self) -> LocalizedErrorKind {
        match self {
            Self::AgentNotReady { .. } | Self::NoModel { .. } | Self::NotStarted { .. } => {
                LocalizedErrorKind::NotReady
            }
            Self::ModelFailed { problem, .. } | Self::ModelRetried { problem, .. } => {
                problem.kind()
            }
            Self::NewerVersion { .. } => LocalizedErrorKind::NewerVersion,
            Self::StorageFailed { .. } => LocalizedErrorKind::SessionUnavailable,
            Self::TurnLimit { .. } => LocalizedErrorKind::TurnLimit,
            Self::Stuck { .. } => LocalizedErrorKind::Stuck,
            Self::AnswerTruncated => LocalizedErrorKind::Length,
            Self::SessionLost { .. } => LocalizedErrorKind::SessionUnavailable,
            Self::Interrupted => LocalizedErrorKind::Interrupted,
            Self::Stalled { .. } => LocalizedErrorKind::Stalled,
            Self::Terminated => LocalizedErrorKind::Cancelled,
            Self::Internal => LocalizedErrorKind::Internal,
            Self::Repeating { .. } => LocalizedErrorKind::Repeating,
            Self::NoToolSupport { .. } => LocalizedErrorKind::NoToolSupport,
            Self::UnknownTools { .. } => LocalizedErrorKind::UnknownTools,
            Self::NoSandbox { .. } => LocalizedErrorKind::NoSandbox,
            Self::MessagesNotReadable { .. } => LocalizedErrorKind::UnreadableMessages,
            Self::CompactionIneffective
            | Self::CompactionTooOften
            | Self::CompactionOverhead
            | Self::CompactionNothingLeft => LocalizedErrorKind::CompactionPaused,
            Self::SummaryOnly { .. } | Self::SessionDamaged { .. } => {
                LocalizedErrorKind::SessionDamaged
            }
        }
    }
}

impl From<RunTrouble> for LocalizedError {
    fn from(trouble: RunTrouble) -> Self {
        let mut error = Self {
            kind: trouble.kind(),
            words: trouble.words(),
            channel: None,
            model: None,
            said: None,
            retry_after_ms: None,
            reason: None,
        };
        match &trouble {
            RunTrouble::ModelFailed {
                channel,
                model,
                said,
                retry_after_ms,
                ..
            } => {
                error.channel = Some(channel.clone());
                error.model.clone_from(model);
                error.said.clone_from(said);
                error.retry_after_ms = *retry_after_ms;
            }
            RunTrouble::NoToolSupport {
                channel,
                model,
                said,
            } => {
                error.channel = Some(channel.clone());
                error.model = Some(model.clone());
                error.said.clone_from(said);
            }
            _ => {}
        }
        error.said = error.said.filter(|said| !said.is_empty());
        error.reason = Some(Box::new(trouble));
        error
    }
}

macro_rules! troubles {
    ($($name:ident => $trouble:ident($field:ident)),+ $(,)?) => {
        $(impl From<&$name> for LocalizedError {
            fn from($field: &$name) -> Self {
                let $field = $field.clone();
                RunTrouble::$trouble { $field }.into()
            }
        })+
    };
}

troubles!(
    ModelChoiceError => NoModel(problem),
    NotReady => AgentNotReady(problem),
    ReadOnly => NewerVersion(problem),
    StoreFault => StorageFailed(fault),
);

reasons! {
    /// In which way a model repeats itself.
    #[derive(Copy)]
    StuckPattern {
        /// The same calls with the same results.
        SameResults => {
            zh("同样的工具调用得到同样的结果"),
            en("the same tool call with the same result"),
        }
        /// The same call, which fails each time.
        SameFailure => {
            zh("同样的工具调用一再失败"),
            en("the same tool call, which failed every time"),
        }
        /// Answers without text and without tool calls.
        EmptyAnswers => {
            zh("回答为空"),
            en("empty answers"),
        }
    }
}

reasons! {
    /// Why a context was not compacted.
    CompactionProblem {
        NothingToCompress => {
            zh("没有可压缩的历史消息"),
            en("There is nothing to compact yet."),
        }
        NoGain { before: u64, after: u64 } => {
            zh("压缩能节省的空间太少（{before} → {after} Token），已保留原文。"),
            en("Compaction would save too little ({before} → {after} tokens). Nothing was changed."),
        }
        BadSummary { model: String, flaw: SummaryFlaw } => {
            zh("模型“{model}”没有写出可用的摘要：{}。已保留原文。", flaw.words().zh),
            en("The model “{model}” did not write a usable summary: {flaw}. Nothing was changed."),
        }
        AuxiliaryTooSmall { model: String } => {
            zh("模型“{model}”的上下文窗口太小，无法压缩此会话。请为智能体另选一个辅助模型。"),
            en("The context window of the model “{model}” is too small to compact this session. Choose another auxiliary model for the agent."),
        }
        TimedOut { model: String } => {
            zh("模型“{model}”生成摘要超时。已保留原文。"),
            en("The model “{model}” timed out while writing the summary. Nothing was changed."),
        }
        Cancelled => {
            zh("压缩已停止。"),
            en("The compaction was stopped."),
        }
        /// The server stopped before the summary was complete.
        Interrupted => {
            zh("服务器在生成摘要时停止了，没有任何改动。"),
            en("The server stopped while the summary was being written. Nothing was changed."),
        }
    }
}

reasons! {
    /// What is wrong with a summary that a model wrote.
    #[derive(Copy)]
    SummaryFlaw {
        Empty => {
            zh("内容为空"),
            en("it is empty"),
        }
        OnlyThinking => {
            zh("只有思考过程"),
            en("it contains only thinking"),
        }
        TooShort => {
            zh("内容过短"),
            en("it is too short"),
        }
        CutOff => {
            zh("内容被截断"),
            en("it was truncated"),
        }
        Longer => {
            zh("比原文还长"),
            en("it is longer than the text that it replaces"),
        }
    }
}

fn quoted(said: &Option<String>, open: &str, close: &str) -> String {
    match said.as_deref() {
        None | Some("") => String::new(),
        Some(said) => format!("{open}{said}{close}"),
    }
}

fn place_zh(channel: &str, model: &Option<String>) -> String {
    match model {
        Some(model) => format!("渠道“{channel}”，模型“{model}”"),
        None => format!("渠道“{channel}”"),
    }
}

fn place_en(channel: &str, model: &Option<String>) -> String {
    match model {
        Some(model) => format!("Channel {channel:?}, model {model:?}"),
        None => format!("Channel {channel:?}"),
    }
}
