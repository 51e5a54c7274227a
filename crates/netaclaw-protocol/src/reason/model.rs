//! What a model supplier refused, and what failed on the way to it.

use super::reasons;
use crate::{LocalizedErrorKind, LocalizedText};

reasons! {
    /// Why a model did not answer, or not to the end: what happened, in one sentence.
    ModelProblem {
        Auth => {
            zh("模型供应商不接受这个 API 密钥。"),
            en("The model supplier did not accept the API key."),
        }
        Quota => {
            zh("模型供应商的账户余额或额度已用完。"),
            en("The account at the model supplier has no balance or quota left."),
        }
        RateLimited => {
            zh("模型供应商限制了请求频率。"),
            en("The rate limit of the model supplier was exceeded."),
        }
        Overloaded => {
            zh("模型供应商过载或出现故障。"),
            en("The model supplier is overloaded or has an outage."),
        }
        ContextTooLong => {
            zh("上下文长度超过了该模型的上下文窗口。"),
            en("The context is longer than this model's context window."),
        }
        BadRequest => {
            zh("模型供应商拒绝了此请求。"),
            en("The model supplier rejected the request."),
        }
        UnknownModel => {
            zh("模型供应商没有这个模型。"),
            en("The model supplier does not have this model."),
        }
        NoToolSupport => {
            zh("该模型不能这样使用工具。"),
            en("This model does not support tools in this way."),
        }
        Refused => {
            zh("模型供应商拒绝回答此内容。"),
            en("The model supplier refused to answer this."),
        }
        WrongAddress => {
            zh("该地址上有服务器，但不是模型接口。"),
            en("The server at this address is not a model API."),
        }
        NameNotFound => {
            zh("找不到模型服务器的域名。"),
            en("The host name of the model server was not found."),
        }
        Unreachable => {
            zh("无法连接模型服务器。"),
            en("The model server cannot be reached."),
        }
        TlsFailed => {
            zh("无法与模型服务器建立安全连接。"),
            en("A secure connection to the model server could not be established."),
        }
        ConnectionLost => {
            zh("与模型服务器的连接中断。"),
            en("The connection to the model server was lost."),
        }
        ConnectTimeout { limit_ms: u64 } => {
            zh("{}内未能连接模型服务器。", wait(*limit_ms).zh),
            en("The model server could not be reached within {}.", wait(*limit_ms).en),
        }
        FirstByteTimeout { limit_ms: u64 } => {
            zh("模型在 {}内没有开始回答。", wait(*limit_ms).zh),
            en("The model did not start to answer within {}.", wait(*limit_ms).en),
        }
        IdleTimeout { limit_ms: u64 } => {
            zh("模型已有 {}没有输出。", wait(*limit_ms).zh),
            en("The model sent nothing for {}.", wait(*limit_ms).en),
        }
        StreamBroken => {
            zh("回答在结束前中断。"),
            en("The answer ended before it was complete."),
        }
        Protocol => {
            zh("NetaClaw 无法理解模型服务器的响应。"),
            en("NetaClaw cannot parse the response of the model server."),
        }
        AnswerTooLarge { limit_mb: usize } => {
            zh("回答超过了 {limit_mb} MB。"),
            en("The answer exceeded {limit_mb} MB."),
        }
        EmptyAnswer => {
            zh("模型给出了空回答。"),
            en("The model sent an empty answer."),
        }
        Cancelled => {
            zh("回答已停止。"),
            en("The answer was stopped."),
        }
    }
}

reasons! {
    /// What a user can do about a problem with a model.
    ModelRemedy {
        CheckKey => {
            zh("请检查该渠道的密钥，以及它是否有权使用这个模型。"),
            en("Check the API key of this channel and its access to this model."),
        }
        TopUp => {
            zh("请充值，或改用其他渠道。"),
            en("Top up the account or choose another channel."),
        }
        RetryLater => {
            zh("请稍候再试。"),
            en("Try again later."),
        }
        RetryAfter { ms: u64 } => {
            zh("请在 {}后重试。", wait(*ms).zh),
            en("Try again in {}.", wait(*ms).en),
        }
        RetryOrSwitch => {
            zh("请稍后重试，或改用其他渠道。"),
            en("Try again in a moment, or choose another channel."),
        }
        ShortenContext => {
            zh("请压缩会话、新建会话，或换用上下文窗口更大的模型。"),
            en("Compact the session, start a new one, or choose a model with a larger context window."),
        }
        CheckModelSettings => {
            zh("请检查模型设置；供应商的消息说明了原因。"),
            en("Check the settings of the model; the message of the supplier gives the reason."),
        }
        CheckModelName => {
            zh("请检查渠道中的模型名称，或从供应商的列表中选择。"),
            en("Check the name of the model in the channel, or choose one from the supplier's list."),
        }
        ChooseModelWithTools => {
            zh("请换用支持工具的模型，或在渠道中将它标为不支持工具。"),
            en("Choose a model with tool support, or mark this one in its channel as having none."),
        }
        Rephrase => {
            zh("请换一种说法。"),
            en("Rephrase the request."),
        }
        CheckAddress => {
            zh("请检查渠道的接口地址。"),
            en("Check the channel's base URL."),
        }
        CheckNetwork => {
            zh("请检查渠道的接口地址和网络，并确认服务器正在运行。"),
            en("Check the channel's base URL and the network, and that the server is running."),
        }
        RaiseTimeout => {
            zh("请重试；若仍然如此，请改用其他渠道或延长超时时间。"),
            en("Try again; if this happens again, choose another channel or a longer timeout."),
        }
        ContinueOrRegenerate => {
            zh("已收到的部分会保留，可以继续，或重新生成。"),
            en("The part that was received is kept. Continue, or regenerate the answer."),
        }
        CheckSupplier => {
            zh("请确认渠道的供应商类型与服务器一致。"),
            en("Check that the channel's supplier matches the server."),
        }
        RequestLess => {
            zh("已收到的部分会保留。请分次提问，或换用其他模型。"),
            en("The part that was received is kept. Ask for less at once, or choose another model."),
        }
        RetryOrOtherModel => {
            zh("请重试，或换用其他模型。"),
            en("Try again, or choose another model."),
        }
        Continue => {
            zh("可以随时继续。"),
            en("You can continue at any time."),
        }
    }
}

impl ModelProblem {
    pub fn kind(&self) -> LocalizedErrorKind {
        match self {
            Self::Auth => LocalizedErrorKind::Auth,
            Self::Quota => LocalizedErrorKind::Quota,
            Self::RateLimited => LocalizedErrorKind::RateLimited,
            Self::Overloaded => LocalizedErrorKind::Overloaded,
            Self::ContextTooLong => LocalizedErrorKind::ContextTooLong,
            Self::BadRequest => LocalizedErrorKind::BadRequest,
            Self::UnknownModel => LocalizedErrorKind::UnknownModel,
            Self::NoToolSupport => LocalizedErrorKind::NoToolSupport,
            Self::Refused => LocalizedErrorKind::Refused,
            Self::WrongAddress => LocalizedErrorKind::WrongAddress,
            Self::NameNotFound => LocalizedErrorKind::NameNotFound,
            Self::Unreachable => LocalizedErrorKind::Unreachable,
            Self::TlsFailed => LocalizedErrorKind::TlsFailed,
            Self::ConnectionLost => LocalizedErrorKind::ConnectionLost,
            Self::ConnectTimeout { .. }
            | Self::FirstByteTimeout { .. }
            | Self::IdleTimeout { .. } => LocalizedErrorKind::Timeout,
            Self::StreamBroken => LocalizedErrorKind::StreamBroken,
            Self::Protocol => LocalizedErrorKind::Protocol,
            Self::AnswerTooLarge { .. } => LocalizedErrorKind::AnswerTooLarge,
            Self::EmptyAnswer => LocalizedErrorKind::EmptyAnswer,
            Self::Cancelled => LocalizedErrorKind::Cancelled,
        }
    }

    fn remedy(&self, retry_after_ms: Option<u64>) -> ModelRemedy {
        match self {
            Self::Auth => ModelRemedy::CheckKey,
            Self::Quota => ModelRemedy::TopUp,
            Self::RateLimited => match retry_after_ms {
                Some(ms) => ModelRemedy::RetryAfter { ms },
                None => ModelRemedy::RetryLater,
            },
            Self::Overloaded => ModelRemedy::RetryOrSwitch,
            Self::ContextTooLong => ModelRemedy::ShortenContext,
            Self::BadRequest => ModelRemedy::CheckModelSettings,
            Self::UnknownModel => ModelRemedy::CheckModelName,
            Self::NoToolSupport => ModelRemedy::ChooseModelWithTools,
            Self::Refused => ModelRemedy::Rephrase,
            Self::WrongAddress => ModelRemedy::CheckAddress,
            Self::NameNotFound | Self::Unreachable | Self::TlsFailed | Self::ConnectionLost => {
                ModelRemedy::CheckNetwork
            }
            Self::ConnectTimeout { .. }
            | Self::FirstByteTimeout { .. }
            | Self::IdleTimeout { .. } => ModelRemedy::RaiseTimeout,
            Self::StreamBroken => ModelRemedy::ContinueOrRegenerate,
            Self::Protocol => ModelRemedy::CheckSupplier,
            Self::AnswerTooLarge { .. } => ModelRemedy::RequestLess,
            Self::EmptyAnswer => ModelRemedy::RetryOrOtherModel,
            Self::Cancelled => ModelRemedy::Continue,
        }
    }

    /// What happened, what to do, and the message of the supplier.
    pub fn explained(&self, said: Option<&str>, retry_after_ms: Option<u64>) -> LocalizedText {
        let (happened, remedy) = (self.words(), self.remedy(retry_after_ms).words());
        let LocalizedText { zh, en } = match said.filter(|said| !said.is_empty()) {
            Some(said) => LocalizedText::new(format!("（{said}）"), format!(" ({said})")),
            None => LocalizedText::new("", ""),
        };
        LocalizedText::new(
            format!("{}{}{zh}", happened.zh, remedy.zh),
            format!("{} {}{en}", happened.en, remedy.en),
        )
    }
}

/// A duration. Seconds are rounded up, so that users do not retry too early.
fn wait(ms: u64) -> LocalizedText {
    let seconds = ms.div_ceil(1000).max(1);
    match seconds {
        1 => LocalizedText::new("1 秒", "a second"),
        2..120 => LocalizedText::new(format!("{seconds} 秒"), format!("{seconds} seconds")),
        120..7200 => {
            let minutes = seconds.div_ceil(60);
            LocalizedText::new(format!("{minutes} 分钟"), format!("{minutes} minutes"))
        }
        _ => {
            let hours = seconds.div_ceil(3600);
            LocalizedText::new(format!("{hours} 小时"), format!("{hours} hours"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_explanation_has_what_happened_what_to_do_and_the_message_of_the_supplier() {
        let problem = ModelProblem::RateLimited;
        let explained = problem.explained(Some("Slow down."), Some(20_400));
        assert_eq!(
            explained.en,
            "The rate limit of the model supplier was exceeded. Try again in 21 seconds. (Slow down.)"
        );
        assert_eq!(
            explained.zh,
            "模型供应商限制了请求频率。请在 21 秒后重试。（Slow down.）"
        );
    }

    #[test]
    fn long_waits_are_given_in_minutes_and_hours() {
        assert_eq!(wait(600_000).en, "10 minutes");
        assert_eq!(wait(7_201_000).en, "3 hours");
        assert_eq!(wait(125_000).zh, "3 分钟");
    }
}
