//! Requests that are malformed, too large or too frequent.

use super::field::{FieldProblem, LimitedText};
use super::reasons;

reasons! {
    /// Why a request is not valid.
    BadRequest {
        // Any request.
        /// A field has a value that is not allowed.
        FieldNotValid { field: String, problem: FieldProblem } => {
            zh("{field}：{}", problem.words().zh),
            en("{field}: {problem}"),
        }
        /// `detail` is the parser's own text, in English.
        BodyNotAsExpected { detail: String } => {
            zh("请求内容有误：`{detail}`"),
            en("the request body is not valid: {detail}"),
        }
        BodyNotAnObject => {
            zh("请求内容须为 JSON 对象，而不是数组"),
            en("the request body must be a JSON object, not a list"),
        }
        BodyNotReceived => {
            zh("无法读取请求内容"),
            en("the request body could not be read"),
        }
        /// `detail` is the parser's own text, in English.
        QueryNotAsExpected { detail: String } => {
            zh("查询参数有误：`{detail}`"),
            en("the query is not valid: {detail}"),
        }
        AddressNotReadable => {
            zh("无法读取地址"),
            en("the address cannot be parsed"),
        }
        IfMatchNotARevision => {
            zh("If-Match 须为带引号的版本号，或 *"),
            en("If-Match must be a quoted revision, or *"),
        }
        RevisionNotANumber => {
            zh("rev 须为数字"),
            en("rev must be a number"),
        }
        MethodNotAllowed { method: String } => {
            zh("此地址不支持 {method}"),
            en("this address does not support {method}"),
        }
        WrongPassword => {
            zh("当前密码错误"),
            en("the current password is wrong"),
        }

        // Commands.
        UnknownCommand { name: String } => {
            zh("没有命令 {name:?}"),
            en("there is no command {name:?}"),
        }
        /// `detail` begins with the place in the command, if there is one, and is in English.
        CommandNotAsExpected { detail: String } => {
            zh("命令内容有误：`{detail}`"),
            en("{detail}"),
        }
        CommandNotJson => {
            zh("命令须为 JSON；请通过 HTTP 上传文件"),
            en("commands must be JSON; upload files by HTTP"),
        }
        EventNotReadable => {
            zh("无法读取该事件"),
            en("the event could not be read"),
        }
        ConnectionNeeded => {
            zh("此命令只能通过 Socket.IO 连接发送"),
            en("this command requires a Socket.IO connection"),
        }
        UnknownEvents { name: String } => {
            zh("没有事件组 {name:?}；可选 `current` 和 `legacy`"),
            en("there is no event group {name:?}; the groups are \"current\" and \"legacy\""),
        }
        /// Of a connection. `detail` is the parser's own text, in English.
        AuthNotAsExpected { detail: String } => {
            zh("连接的 auth 有误：`{detail}`"),
            en("auth: {detail}"),
        }
        NothingToStop => {
            zh("缺少字段 `sessionId`，或该消息的 `requestId`"),
            en("missing field `sessionId`, or `requestId` of the message"),
        }

        // Messages.
        MessageEmpty => {
            zh("消息为空"),
            en("the message is empty"),
        }
        FilesInMessage { max: usize } => {
            zh("一条消息最多可附 {max} 个文件"),
            en("a message can have at most {max} files"),
        }
        FileNotUploaded { name: String } => {
            zh("文件“{name}”无法发送：尚未上传"),
            en("the file {name:?} cannot be sent: it was not uploaded"),
        }
        FileGone { name: String } => {
            zh("文件“{name}”无法发送：服务器上已没有它，请重新添加"),
            en("the file {name:?} cannot be sent: it is no longer on the server; attach it again"),
        }
        FileNotBase64 { name: String } => {
            zh("文件“{name}”无法发送：其数据不是 Base64"),
            en("the file {name:?} cannot be sent: its data is not Base64"),
        }
        FileNotAnImage { name: String } => {
            zh("文件“{name}”无法发送：消息中只能直接包含图片，请上传此文件"),
            en("the file {name:?} cannot be sent: only images can be embedded; upload the file"),
        }
        /// Another version of the server queued it.
        QueuedByAnotherVersion => {
            zh("此消息由另一版本的 NetaClaw 排入队列，本版本无法修改或发送；可将其移除，或用该版本打开会话"),
            en("this message was queued by another version of NetaClaw and cannot be edited or sent by this one; remove it, or open the session with that version"),
        }
        NotAUserMessage => {
            zh("只能对用户的消息重新生成回答"),
            en("only an answer to a message of the user can be regenerated"),
        }
        AnswerNotText => {
            zh("对问题的回答须为一段文本或文本列表"),
            en("the answer to a question must be a text or a list of texts"),
        }
        SkillInputNotAnObject => {
            zh("技能的输入须为 JSON 对象"),
            en("the input of a skill must be a JSON object"),
        }
        NotASessionId { id: String } => {
            zh("{id:?} 不能用作会话标识：首尾须为字母或数字，中间还可以有 . _ -"),
            en("{id:?} is not a valid session id: it must start and end with a letter or digit, with only letters, digits, . _ and - in between"),
        }

        // Uploads.
        NotMultipart => {
            zh("请以 multipart/form-data 上传文件"),
            en("upload files as multipart/form-data"),
        }
        FormNotReadable => {
            zh("无法读取表单"),
            en("the form could not be read"),
        }
        FormWithoutFile => {
            zh("表单中没有文件"),
            en("the form does not contain a file"),
        }

        // The OpenAI API.
        LastMessageNotUsers => {
            zh("最后一条消息须由用户发出"),
            en("the last message must have the role \"user\""),
        }
        RoleNotTaken { role: String } => {
            zh("不接受角色为 {role:?} 的消息；智能体会自行使用工具"),
            en("messages with the role {role:?} are not supported; agents call their tools themselves"),
        }
        ImageNotInPlace => {
            zh("图片须以 Base64 编码的 data: 地址给出"),
            en("images must be data: URLs with Base64 data"),
        }

        // Commands that are sent as messages.
        NothingToCompact => {
            zh("没有可压缩的历史消息"),
            en("there are no messages to compact"),
        }
        CompactInQueue => {
            zh("/compact 是命令，不能排队；请单独发送"),
            en("/compact is a command and cannot wait in the queue; send it as a message of its own"),
        }
        /// Through the OpenAI API, where every request has a session of its own.
        CompactByOpenAi => {
            zh("此接口的每个请求都使用新会话，没有可压缩的上下文；以 // 开头可发送以斜杠开头的消息"),
            en("each request of this API has a session of its own, so there is no context to compact; begin with // to send a message that starts with a slash"),
        }
        /// It is wider than what was offered, cannot be checked, or does not cover the call.
        GrantNotOffered => {
            zh("不能授予此范围：它必须等于或小于审批请求中给出的范围，并覆盖这次调用"),
            en("this scope cannot be granted: it must be one of those in the approval request or a narrower one, and cover the call"),
        }
    }
}

reasons! {
    /// What exceeds a limit of size.
    TooLarge {
        TextTooLong { text: LimitedText, chars_max: usize } => {
            zh("{}过长：最多 {chars_max} 个字符", text.zh()),
            en("the {} is too long: at most {chars_max} characters", text.en()),
        }
        QueueTooLarge { waiting_kb: usize, added_kb: usize, max_kb: usize } => {
            zh("排队的消息过大：已有 {waiting_kb} kB 在排队，此消息为 {added_kb} kB，合计上限为 {max_kb} kB；请移除一条，或稍后再发"),
            en("the queue would be too large: it holds {waiting_kb} kB, this message has {added_kb} kB, and the limit is {max_kb} kB; remove a message or wait"),
        }
        FilesOfUser { used_mb: u64, max_mb: u64 } => {
            zh("您的文件已占用 {used_mb} MB，上限为 {max_mb} MB；请发送较小的文件，或请管理员提高上限"),
            en("your files use {used_mb} MB of your limit of {max_mb} MB; send a smaller file, or ask an administrator to raise the limit"),
        }
        FileTooLarge { name: String, max_mb: usize } => {
            zh("“{name}”过大；最多 {max_mb} MB"),
            en("{name:?} is too large; the limit is {max_mb} MB"),
        }
        FilesAtOnce { max: usize } => {
            zh("一次最多可上传 {max} 个文件"),
            en("at most {max} files can be uploaded at once"),
        }
        UploadTooLarge { max_mb: usize } => {
            zh("一次最多可上传 {max_mb} MB"),
            en("at most {max_mb} MB can be uploaded at once"),
        }
        BodyTooLarge => {
            zh("请求内容过长"),
            en("the request body is too large"),
        }
        CommandTooLarge { bytes: usize, bytes_max: usize } => {
            zh("命令有 {bytes} 字节，最多允许 {bytes_max} 字节；请通过 HTTP 上传文件"),
            en("the command has {bytes} bytes, and the limit is {bytes_max}; upload files by HTTP"),
        }
    }
}

reasons! {
    /// What exceeds a limit of number or rate.
    TooMany {
        MessagesWaiting { max: usize } => {
            zh("已有 {max} 条消息在排队；请移除一条，或稍后再发"),
            en("{max} messages are already waiting; remove one or wait"),
        }
        FilesWaiting => {
            zh("已上传而未发送的文件过多；请发送或移除一些"),
            en("too many uploaded files have not been sent yet; send or remove some"),
        }
        RunsOfUser { max: usize } => {
            zh("同时运行的会话已达上限（{max} 个）；请等待其中一个结束，或停止一个后重新发送"),
            en("{max} of your sessions are running, which is the limit; wait until one ends or stop one, then send the message again"),
        }
        MessagesOfUser { per_minute: u32, retry_after_s: u64 } => {
            zh("每分钟最多 {per_minute} 条消息；请在 {retry_after_s} 秒后重新发送"),
            en("the limit is {per_minute} messages per minute; send the message again in {retry_after_s} s"),
        }
        /// Of one connection.
        CommandsWaiting => {
            zh("等待处理的命令过多；请减少同时发送的数量"),
            en("too many commands are waiting; send fewer at once"),
        }
        ConnectionsOfAddress => {
            zh("来自此地址的连接过多；请关闭一些后重试"),
            en("too many connections from this address; close some and try again"),
        }
        FailedLogins { retry_after_s: u64 } => {
            zh("失败次数过多；请在 {retry_after_s} 秒后重试"),
            en("too many failed attempts; try again in {retry_after_s} s"),
        }
    }
}
