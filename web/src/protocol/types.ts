// Generated from crates/netaclaw-protocol by `make types`. Do not edit.

export type About = { version: string, protocol: number, 
/**
 * Whether this is a debug build.
 */
debug: boolean, os: string, arch: string, 
/**
 * Where sessions can be stored.
 */
sessionProviders: Array<ProviderKind>, 
/**
 * Where agents, channels and users are stored.
 */
adminStore: AdminStoreKind, };

/**
 * Allows all edits of files in the workspace for this session, or ends that.
 */
export type AcceptEdits = { sessionId: SessionId, enabled: boolean, requestId?: string | null, };

export type AdminStoreKind = "sqlite" | "mysql";

/**
 * An agent as stored.
 */
export type Agent = { id: AgentId, 
/**
 * Unique; clients use it to name the agent.
 */
name: string, label: string, description: string, systemPrompt: string, modelConfig: ModelConfig, tools: ToolChoice, 
/**
 * By the tool's name.
 */
toolOverrides: { [key in string]: ToolOverride }, subagentConfig: SubagentConfig, 
/**
 * Names of its skills; an item with a slash is a directory that contains further skills.
 * Without any name: all skills.
 */
skills: Array<string>, 
/**
 * Empty: all enabled servers.
 */
mcpServers: Array<string>, 
/**
 * The directory in which its tools work. Default: that of the session.
 */
workspace: string | null, 
/**
 * Additional directories that its tools may use.
 */
extraRoots: Array<string>, approval: ApprovalMode, 
/**
 * Hosts that its tools may reach without approval after the session has read external content:
 * `example.com`, `*.example.com`, `http://example.com:8080`. Default scheme: https.
 */
allowedHosts: Array<string>, 
/**
 * The sandbox of the programs that its tools start.
 */
sandbox: SandboxConfig, isCrewMaster: boolean, 
/**
 * `file` or `mysql`. Any text is stored, and an unknown one means `file`, so that sessions
 * stay reachable after a typing mistake.
 */
sessionProvider: string, 
/**
 * Percentage of the context window at which the context is compacted; 0 means never.
 */
compactionThreshold: number, 
/**
 * Minimum number of recent messages that a compaction keeps.
 */
compactionKeepRecent: number, auxiliaryModelChannelId: ChannelId | null, auxiliaryModelId: string | null, 
/**
 * Used when a client does not name an agent. Exactly one agent is the default.
 */
isDefault: boolean, rev: number, 
/**
 * Unix time in milliseconds.
 */
createdAt: number, updatedAt: number, };

/**
 * An agent, as shown to users who do not configure it.
 */
export type AgentBrief = { id: AgentId, name: string, label: string, description: string, isDefault: boolean, };

export type AgentId = string;

/**
 * Complete agents for administrators; for other users what they need to choose one.
 */
export type AgentListItem = Agent | AgentBrief;

/**
 * The model that an agent uses unless a session chooses another one.
 */
export type AgentModel = { agentId: AgentId, channelId: ChannelId, channelName: string, model: string, };

/**
 * The system prompt and the tools of an agent, saved or not.
 */
export type AgentPreview = { tools: EffectiveTools, prompt: PromptPreview, 
/**
 * The model that determines the tools; absent if none is available to the agent.
 */
model?: ModelInfo | null, 
/**
 * Why the agent cannot run with these settings.
 */
problem?: string | null, 
/**
 * The same in both languages.
 */
problemWords?: LocalizedText | null, };

/**
 * Facts about an answer for users, not for models. Only NetaClaw writes it.
 */
export type AnswerMark = { 
/**
 * The duration of each thinking block, in order. A truncated block has none.
 */
thinkingMs: Array<number>, 
/**
 * How many images of the last message the model did not receive, because it does not support
 * images.
 */
unseenImages?: number | null, 
/**
 * Its calls as they were about to begin, in order: what is shown of a call that has no result,
 * also after the server was killed.
 */
calls?: Array<CallMark>, };

/**
 * Why a REST request was rejected.
 */
export type ApiProblem = { code: ErrorCode, 
/**
 * The English text, for programs and logs.
 */
message: string, 
/**
 * For users.
 */
words: LocalizedText, 
/**
 * What exactly it is, with its own code and the parameters of its text. Absent from servers that
 * are older than this list.
 */
reason?: Reason | null, 
/**
 * What a program needs to go on: the field at fault, the revision that is there.
 */
details?: JsonValue | null, };

/**
 * An approval request is closed.
 */
export type ApprovalDecided = { approvalId: string, toolCallId: string, outcome: ApprovalOutcome, };

export type ApprovalDecision = "allow" | "deny";

/**
 * The scope that a user grants: one that was offered, or a narrower one that covers the call.
 */
export type ApprovalGrant = { scope: ApprovalScope, within: ApprovalWithin, };

/**
 * A standing approval as lists show it, with the names that people know.
 */
export type ApprovalListItem = { userName: string, 
/**
 * Absent if the agent no longer exists.
 */
agentLabel?: string | null, sessionTitle?: string | null, id: string, 
/**
 * The tool of the call that it was granted for.
 */
toolName: string, toolLabel: ToolLabel, scope: ApprovalScope, within: ApprovalWithin, 
/**
 * The beginning of the command, path or arguments that it was granted for.
 */
sample: string, 
/**
 * The user in whose sessions it is valid.
 */
userId: UserId, agentId?: string | null, 
/**
 * Absent if it is valid for the agent.
 */
sessionId?: SessionId | null, 
/**
 * The name of the user who granted it.
 */
grantedBy: string, 
/**
 * Unix time in milliseconds.
 */
grantedAt: number, 
/**
 * The tools that it covers, each with a hash of its definition and of the agent's settings.
 * With another hash it covers nothing.
 */
tools: { [key in string]: string }, };

/**
 * Which calls need approval.
 */
export type ApprovalMode = "never" | "risky" | "always";

/**
 * A scope that can be granted with the answer to an approval request.
 */
export type ApprovalOffer = { scope: ApprovalScope, within: Array<ApprovalWithin>, };

export type ApprovalOutcome = "allowed" | "allowed_for_session" | "allowed_for_agent" | "denied" | "closed";

/**
 * A tool call that waits for approval.
 */
export type ApprovalQuestion = { approvalId: string, runId: RunId, toolCallId: string, toolName: string, toolLabel: ToolLabel, risk: ToolRisk, 
/**
 * The arguments with which the call would run.
 */
args: JsonValue, reason: string, 
/**
 * The external content that the session has read, and the destination of the call. Absent if
 * it has read none.
 */
foreign?: ForeignNote | null, 
/**
 * The hash of tool and arguments. An approval is valid for this hash only.
 */
hash: string, 
/**
 * The scopes that can be granted with the answer.
 */
offers?: Array<ApprovalOffer>, 
/**
 * Unix time in milliseconds.
 */
askedAt: number, };

/**
 * Answers an `approval_request`. The first response counts.
 */
export type ApprovalResponse = { sessionId: SessionId, approvalId: string, decision: ApprovalDecision, 
/**
 * Allows the same call with the same arguments for the rest of the session.
 */
remember?: boolean, 
/**
 * Allows more than this call. Counts instead of `remember`, and only if the call is allowed.
 */
grant?: ApprovalGrant | null, 
/**
 * The reason, for the model.
 */
reason?: string | null, };

/**
 * The calls that a standing approval covers.
 */
export type ApprovalScope = { "kind": "call", hash: string, } | { "kind": "tool" } | { "kind": "edits", folder: string, } | { "kind": "commands", patterns: Array<string>, };

/**
 * The standing approval that allowed a call, as it is shown with the call.
 */
export type ApprovalUse = { id: string, scope: ApprovalScope, within: ApprovalWithin, grantedBy: string, 
/**
 * Unix time in milliseconds.
 */
grantedAt: number, };

/**
 * A tool call runs without a question.
 */
export type ApprovalUsed = { toolCallId: string, 
/**
 * One for each part of the call that needed its own.
 */
allowedBy: Array<ApprovalUse>, };

/**
 * Where a standing approval is valid. Further places, such as a subagent, may be added.
 */
export type ApprovalWithin = "session" | "agent";

export type AssistantMessage = { content: Array<ContentBlock>, api: string, provider: string, model: string, usage: Usage, stopReason: StopReason, errorMessage?: string | null, 
/**
 * Why the answer failed, in more than one language. Only NetaClaw writes it.
 */
trouble?: LocalizedError | null, netaclaw?: AnswerMark | null, timestamp: number, };

/**
 * A file that is sent with a message: uploaded before, or a small image in the message itself.
 */
export type Attachment = { id?: string | null, name: string, mimeType: string, 
/**
 * Base64, for small images; all other files are uploaded.
 */
data?: string | null, };

/**
 * What a model receives of a file.
 */
export type AttachmentKind = "image" | "text" | "other";

export type AuditAction = "create" | "update" | "delete" | "revoke" | "login" | "login_refused" | "allow" | "deny";

/**
 * One page of the audit log, newest first.
 */
export type AuditPage = { items: Array<AuditRecord>, page: number, size: number, total: number, };

/**
 * One action of an administrator. Names the changed fields, but never contains values.
 */
export type AuditRecord = { id: number, 
/**
 * Unix time in milliseconds.
 */
at: number, who: string, action: AuditAction, kind: RecordKind, targetId: string, 
/**
 * The name of the target at that time.
 */
targetName: string, 
/**
 * The fields that changed.
 */
fields: Array<string>, };

/**
 * Why a request is not valid.
 */
export type BadRequest = { "code": "field_not_valid", field: string, problem: FieldProblem, } | { "code": "body_not_as_expected", detail: string, } | { "code": "body_not_an_object" } | { "code": "body_not_received" } | { "code": "query_not_as_expected", detail: string, } | { "code": "address_not_readable" } | { "code": "if_match_not_a_revision" } | { "code": "revision_not_a_number" } | { "code": "method_not_allowed", method: string, } | { "code": "wrong_password" } | { "code": "unknown_command", name: string, } | { "code": "command_not_as_expected", detail: string, } | { "code": "command_not_json" } | { "code": "event_not_readable" } | { "code": "connection_needed" } | { "code": "unknown_events", name: string, } | { "code": "auth_not_as_expected", detail: string, } | { "code": "nothing_to_stop" } | { "code": "message_empty" } | { "code": "files_in_message", max: number, } | { "code": "file_not_uploaded", name: string, } | { "code": "file_gone", name: string, } | { "code": "file_not_base64", name: string, } | { "code": "file_not_an_image", name: string, } | { "code": "queued_by_another_version" } | { "code": "not_a_user_message" } | { "code": "answer_not_text" } | { "code": "skill_input_not_an_object" } | { "code": "not_a_session_id", id: string, } | { "code": "not_multipart" } | { "code": "form_not_readable" } | { "code": "form_without_file" } | { "code": "last_message_not_users" } | { "code": "role_not_taken", role: string, } | { "code": "image_not_in_place" } | { "code": "nothing_to_compact" } | { "code": "compact_in_queue" } | { "code": "compact_by_open_ai" } | { "code": "grant_not_offered" };

/**
 * Why a session cannot accept a command at this moment.
 */
export type Busy = { "code": "open_elsewhere", session: SessionId, } | { "code": "taken_over", session: SessionId, } | { "code": "commands_of_session" } | { "code": "opened_again" } | { "code": "run_begun" } | { "code": "running" } | { "code": "waits_for_answer" };

/**
 * The last step of a tool call. Models read the English text.
 */
export type CallEnd = { "code": "done" } | { "code": "failed" } | { "code": "stopped" } | { "code": "interrupted" } | { "code": "timed_out" } | { "code": "internal" } | { "code": "not_run" } | { "code": "program_not_started", error: string, } | { "code": "program_timed_out", limitMs: number, } | { "code": "too_many_processes", max: number, } | { "code": "temporary_files_too_large", maxMib: number, } | { "code": "program_killed", signal: number, said: string | null, } | { "code": "program_failed", exitCode: number, said: string | null, } | { "code": "exit_status_unknown" } | { "code": "result_too_large", maxMib: number, } | { "code": "result_missing" } | { "code": "result_not_json" } | { "code": "failure_reported" };

/**
 * How a call was going to run.
 */
export type CallMark = { toolCallId: string, toolLabel: string, runtimeRoute: ToolRoute, workerRoutingHint?: ToolRoute | null, policySources?: Array<string>, };

export type ChannelId = string;

/**
 * A model as configured in a channel. Absent fields come from the model catalog.
 */
export type ChannelModel = { name: string, contextWindow?: number, maxOutput?: number, vision?: boolean, tools?: boolean, thinking?: boolean, 
/**
 * Whether it answers in chats; embedding, speech and image models do not.
 */
chat?: boolean, price?: ModelPrice, };

/**
 * The models of a channel, for the choice in a chat.
 */
export type ChannelModels = { channelId: ChannelId, channelName: string, supplier: Supplier, isAuxiliary: boolean, models: Array<ModelInfo>, };

export type ChannelStatus = "enabled" | "disabled";

/**
 * The result of testing a channel.
 */
export type ChannelTest = { ok: boolean, latencyMs: number, 
/**
 * The models of the supplier; empty if it does not list them.
 */
models: Array<string>, 
/**
 * What went wrong and what to do, for users.
 */
message?: string | null, trouble?: LocalizedError | null, };

/**
 * A channel to test before it is saved.
 */
export type ChannelTry = { 
/**
 * The channel that is being changed; its stored API key is used if the body has none.
 */
id: ChannelId | null, apiKey?: string | null, 
/**
 * Unique; also the `provider` of its answers.
 */
name: string, supplier: Supplier, 
/**
 * Default: the address of the supplier.
 */
baseUrl: string | null, models: Array<ChannelModel>, 
/**
 * Whether the channel is for summaries and titles instead of answers.
 */
isAuxiliary: boolean, status: ChannelStatus, };

/**
 * A channel as clients see it.
 */
export type ChannelView = { id: ChannelId, apiKeySet: boolean, 
/**
 * Also absent for keys that are too short to show four characters.
 */
apiKeyLast4: string | null, 
/**
 * Unique; also the `provider` of its answers.
 */
name: string, supplier: Supplier, 
/**
 * Default: the address of the supplier.
 */
baseUrl: string | null, models: Array<ChannelModel>, 
/**
 * Whether the channel is for summaries and titles instead of answers.
 */
isAuxiliary: boolean, status: ChannelStatus, rev: number, 
/**
 * Unix time in milliseconds.
 */
createdAt: number, updatedAt: number, };

/**
 * Creates or changes a channel.
 */
export type ChannelWrite = { apiKey?: string | null, 
/**
 * Unique; also the `provider` of its answers.
 */
name: string, supplier: Supplier, 
/**
 * Default: the address of the supplier.
 */
baseUrl: string | null, models: Array<ChannelModel>, 
/**
 * Whether the channel is for summaries and titles instead of answers.
 */
isAuxiliary: boolean, status: ChannelStatus, };

/**
 * A message to an agent. Without a session, or with the id of one that does not exist, it begins
 * one. An empty text in place of an id or a name counts as absent.
 */
export type Chat = { sessionId?: SessionId | null, content: string, 
/**
 * The agent that answers from this message on.
 */
agentName?: string | null, 
/**
 * The same by id, which may be given as a number.
 */
agentId?: string | null, 
/**
 * Continues from this entry, on a new branch.
 */
leafEntryId?: EntryId | null, attachments?: Array<Attachment>, mode?: ChatMode, requestId?: string | null, 
/**
 * The model for a session that this message starts; default: that of the agent. For existing
 * sessions, use `set_model`.
 */
model?: ChatModel | null, 
/**
 * The thinking level, in the same way.
 */
thinkingLevel?: ThinkingLevel | null, };

/**
 * The answer to `chat`.
 */
export type ChatAck = { sessionId: SessionId, entryId?: EntryId | null, runId?: RunId | null, 
/**
 * The id of the queue item, if it was queued.
 */
itemId?: string | null, disposition: Disposition, 
/**
 * Set if the message was the command `/compact`: what came of it.
 */
compaction?: CompactStatus | null, 
/**
 * Set if the message subscribed its sender to the session: the events follow from here.
 */
feed?: FeedStart | null, };

/**
 * What to do with a message that arrives during a run.
 */
export type ChatMode = "auto" | "queue" | "steer";

/**
 * A model of a channel.
 */
export type ChatModel = { channelId: string, modelId: string, };

/**
 * A question is closed.
 */
export type ClarifyAnswered = { requestId: string, toolCallId: string, outcome: ClarifyOutcome, 
/**
 * The answer of the user.
 */
answer: Array<string>, };

export type ClarifyOutcome = "answered" | "dismissed" | "timed_out";

export type ClarifyResponse = { sessionId: SessionId, 
/**
 * The id of the question, not of this command.
 */
requestId: string, 
/**
 * A text, or a list of texts if several options can be chosen.
 */
answer: JsonValue, };

/**
 * Requests a compaction of the context.
 */
export type Compact = { sessionId: SessionId, 
/**
 * What the summary should focus on.
 */
instructions?: string | null, requestId?: string | null, };

/**
 * The answer to `compact`.
 */
export type CompactAck = { status: CompactStatus, };

export type CompactStatus = "started" | "queued" | "already_running" | "already_queued";

/**
 * The `details` of a compaction entry that NetaClaw wrote. Other programs write fewer; the two
 * lists of files are theirs as well.
 */
export type CompactionDetails = { readFiles: Array<string>, modifiedFiles: Array<string>, reason: CompactionReason | null, tokensAfter: number, 
/**
 * Messages that this summary newly covers.
 */
compactedCount: number, keptCount: number, 
/**
 * Tool results that the model received as one line.
 */
prunedCount: number, channel: string | null, model: string | null, 
/**
 * The usage of all requests for this summary.
 */
usage: Usage, requests: number, durationMs: number, 
/**
 * The focus that the user requested.
 */
instructions: string | null, 
/**
 * The first request of the user, verbatim.
 */
goal: string | null, 
/**
 * Calls with effects that have run, from the beginning of the path.
 */
ledger: Array<LedgerLine>, 
/**
 * A turn was too long and is covered in part.
 */
splitTurn: boolean, 
/**
 * Tokens of instructions and tools, which are not part of the messages.
 */
overheadTokens: number, };

export type CompactionDone = { success: boolean, compactedCount: number, keepRecentCount: number, summaryEntryId: EntryId, 
/**
 * The same id, under the name that older clients read.
 */
summaryMessageId: EntryId, summaryContent: string, 
/**
 * Tokens of the context; for a branch that is left, of the branch and of its summary.
 */
tokensBefore: number, 
/**
 * An estimate, until the next answer reports its usage.
 */
tokensAfter: number, };

/**
 * A failed compaction. The context is unchanged and the chat continues.
 */
export type CompactionError = { reason: CompactionReason, 
/**
 * In English, for clients that do not read `words`.
 */
message: string, retryable: boolean, fault: CompactionFault, words: LocalizedText, 
/**
 * When the next automatic attempt can begin, in Unix milliseconds. A manual compaction
 * does not wait.
 */
retryAt?: number | null, };

/**
 * A failed compaction, shown until one succeeds, the next one begins, or a user dismisses it.
 */
export type CompactionFailed = { 
/**
 * Unix time in milliseconds.
 */
at: number, reason: CompactionReason, 
/**
 * In English, for clients that do not read `words`.
 */
message: string, retryable: boolean, fault: CompactionFault, words: LocalizedText, 
/**
 * When the next automatic attempt can begin, in Unix milliseconds. A manual compaction
 * does not wait.
 */
retryAt?: number | null, };

/**
 * Why a compaction failed.
 */
export type CompactionFault = "nothing_to_compress" | "no_gain" | "bad_summary" | "model_failed" | "auxiliary_too_small" | "timed_out" | "cancelled" | "not_ready" | "session_unavailable" | "interrupted";

/**
 * The progress of a compaction. The first stage is `planning`.
 */
export type CompactionProgress = { "stage": "planning" } | { "stage": "summarizing", 
/**
 * Counted from 1.
 */
part: number, parts: number, } | { "stage": "shortening" } | { "stage": "checking" } | { "stage": "saving" };

export type CompactionReason = "manual" | "auto" | "overflow" | "branch";

export type CompactionStart = { reason: CompactionReason, 
/**
 * Number of compacted messages.
 */
messageCount: number, };

/**
 * A running compaction, for a client that opens the session.
 */
export type CompactionUnderWay = { 
/**
 * Unix time in milliseconds.
 */
since: number, progress: CompactionProgress, reason: CompactionReason, 
/**
 * Number of compacted messages.
 */
messageCount: number, };

/**
 * What contradicts the current state.
 */
export type Conflict = { "code": "leaf_moved", session: SessionId, expected: EntryId | null, actual: EntryId | null, } | { "code": "entry_exists", session: SessionId, entry: EntryId, } | { "code": "session_exists", session: SessionId, } | { "code": "request_repeated", session: SessionId, } | { "code": "request_id_reused" } | { "code": "session_restored" } | { "code": "call_denied" } | { "code": "call_allowed" } | { "code": "question_closed" } | { "code": "question_answered" } | { "code": "file_sent" } | { "code": "record_changed", kind: RecordKind, name: string, expected: number, current: number, } | { "code": "name_taken", kind: RecordKind, name: string, } | { "code": "record_in_use", kind: RecordKind, name: string, by: Array<UsedBy>, };

export type ContentBlock = { "type": "text", text: string, } | { "type": "thinking", thinking: string, thinkingSignature?: string | null, redacted?: boolean, } | { "type": "image", 
/**
 * Base64.
 */
data: string, mimeType: string, } | { "type": "toolCall", id: string, name: string, arguments: JsonValue, };

/**
 * What fills the context window of a session's model.
 */
export type ContextBreakdown = { usedTokens: number, maxTokens: number, thresholdPercent?: number | null, 
/**
 * Whether the total is an estimate. The parts always are.
 */
estimated: boolean, windowSource: InfoSource, 
/**
 * Every part once, in a fixed order. All except `reserve` and `free` add up to the used
 * tokens; all together to the context window, or to the used tokens if those are more.
 */
parts: Array<ContextShare>, };

export type ContextMessages = { 
/**
 * Oldest first. Process events and notes about subagents are not among their details.
 */
items: Array<EntryMessage>, 
/**
 * Number of messages in the whole context.
 */
total: number, sourceEntryIds: Array<EntryId>, 
/**
 * The value of `before` for older messages; absent if there are none.
 */
cursor: EntryId | null, thinkingLevel: string, model: ModelRef | null, };

export type ContextMeter = { usedTokens: number, maxTokens: number, 
/**
 * From 0 to 100.
 */
percent: number, thresholdPercent?: number | null, estimated: boolean, windowSource?: InfoSource | null, };

export type ContextPart = "system" | "tools" | "skills" | "summary" | "messages" | "tool_results" | "reserve" | "free";

export type ContextShare = { part: ContextPart, tokens: number, };

/**
 * Cost in the currency of the channel's price list.
 */
export type Cost = { input: number, output: number, cacheRead: number, cacheWrite: number, total: number, };

/**
 * Events that the server can merge, and drop for a slow client.
 */
export type DeltaEvent = { "type": "assistant_stream_delta", "data": PartDelta } | { "type": "thinking_delta", "data": PartDelta } | { "type": "thinking_done", "data": ThinkingDone } | { "type": "tool_result_streamed", "data": ToolOutput } | { "type": "tool_process_event", "data": ToolProcessEvent } | { "type": "skill_start", "data": SkillStart } | { "type": "skill_end", "data": SkillEnd };

export type DictInfo = { id: DictInfoId, typeId: DictTypeId, 
/**
 * Unique in its group.
 */
name: string, 
/**
 * Empty: not set.
 */
value: string, orderNum: number, remark: string, rev: number, 
/**
 * Unix time in milliseconds.
 */
createdAt: number, updatedAt: number, };

export type DictInfoId = string;

export type DictInfoSpec = { 
/**
 * Unique in its group.
 */
name: string, 
/**
 * Empty: not set.
 */
value: string, orderNum: number, remark: string, };

/**
 * A group of the dictionary with its entries in order.
 */
export type DictType = { id: DictTypeId, entries: Array<DictInfo>, 
/**
 * Unique; the first half of a name such as `netaclaw.auxiliary_channel_id`.
 */
key: string, 
/**
 * Display name.
 */
name: string, rev: number, 
/**
 * Unix time in milliseconds.
 */
createdAt: number, updatedAt: number, };

export type DictTypeId = string;

/**
 * Sets an entry of the dictionary by its name.
 */
export type DictValue = { value: string, };

/**
 * Why a tool is disabled. The list is closed, so that clients can translate it.
 */
export type DisabledCode = "off_by_default" | "off_globally" | "off_for_agent" | "model_without_tools" | "model_without_vision" | "not_available_here" | "parent_without" | "not_granted_to_subagent" | "not_for_subagents";

export type DisabledTool = { toolName: string, code: DisabledCode, reason: string, decidedBy: PolicyLayer, };

/**
 * Dismisses the failure of a compaction, for all clients of the session.
 */
export type DismissCompaction = { sessionId: SessionId, };

export type Disposition = "started" | "queued" | "steered" | "answeredClarify" | "compacting";

/**
 * The end of a run. Each run has exactly one.
 */
export type Done = { runId: RunId, outcome: RunOutcome, 
/**
 * The reason, if the outcome alone does not give it: a kind of error, such as `turn_limit`.
 */
reason?: string | null, trouble?: LocalizedError | null, };

/**
 * Every known tool for one agent. The tool page, the agent page and the chat show this same
 * projection, and the loop executes by it.
 */
export type EffectiveTools = { toolNames: Array<string>, disabledReasons: Array<DisabledTool>, runtimeDiagnostic: Array<ToolDiagnostic>, warnings: Array<ToolWarning>, };

export type Entry = { id: EntryId, parentId: EntryId | null, 
/**
 * ISO 8601, UTC, milliseconds.
 */
timestamp: string, 
/**
 * Computed from other entries; not stored.
 */
metadata?: EntryMetadata, } & ({ "type": "message", message: EntryMessage, } | { "type": "thinking_level_change", thinkingLevel: string, } | { "type": "model_change", provider: string, modelId: string, } | { "type": "compaction", summary: string, firstKeptEntryId: EntryId, tokensBefore: number, details?: JsonValue, } | { "type": "branch_summary", fromId: string, summary: string, details?: JsonValue, } | { "type": "custom", customType: string, data?: JsonValue, } | { "type": "custom_message", customType: string, content: UserContent, display: boolean, details?: JsonValue, } | { "type": "label", targetId: EntryId, label?: string, } | { "type": "session_info", name?: string, });

export type EntryAdded = { 
/**
 * The entry as it is stored.
 */
entry: Entry, leafEntryId: EntryId | null, };

/**
 * Names an entry within its session. Eight hex digits when NetaClaw makes it; ids of other
 * lengths come from older or foreign files and are accepted.
 */
export type EntryId = string;

/**
 * The label of an entry, and when it was set.
 */
export type EntryLabel = { label: string, 
/**
 * ISO 8601, UTC, milliseconds.
 */
timestamp: string, };

export type EntryMessage = { "role": "user", content: UserContent, timestamp: number, netaclaw?: MessageMark, } | { "role": "assistant" } & AssistantMessage | { "role": "toolResult" } & ToolResultMessage | { "role": "bashExecution", command: string, output: string, exitCode?: number, cancelled: boolean, truncated: boolean, timestamp: number, } | { "role": "custom", customType: string, content: UserContent, display: boolean, timestamp: number, } | { "role": "system", content: UserContent, timestamp: number, };

export type EntryMetadata = { 
/**
 * The calls of an answer, in their order.
 */
toolExecutions: Array<ToolExecution>, };

/**
 * A part of the active path, oldest first.
 */
export type EntryPage = { items: Array<Entry>, 
/**
 * Number of entries on the whole path.
 */
total: number, 
/**
 * The number of `items`, from the first one on, that are compacted: the model receives the
 * summary of the last compaction instead.
 */
foldedCount: number, 
/**
 * The value of `before` for older entries; absent if there are none.
 */
cursor: EntryId | null, };

/**
 * An event on the wire. `type` repeats the Socket.IO event name.
 */
export type Envelope<E> = { sessionId: SessionId, seq?: number | null, 
/**
 * Changes when the server does; a `seq` means nothing in another epoch.
 */
epoch: string, 
/**
 * Unix time in milliseconds.
 */
ts: number, } & E;

/**
 * Why a command was refused. The list is complete.
 */
export type ErrorCode = "bad_request" | "unauthorized" | "forbidden" | "not_found" | "conflict" | "session_busy" | "stale_parent" | "too_large" | "rate_limited" | "unavailable" | "internal";

/**
 * Where a subscription to a session begins. `session_open` with these numbers continues from
 * there.
 */
export type FeedStart = { epoch: string, 
/**
 * The number of the last event before the subscription.
 */
seq: number, };

/**
 * What is wrong with the value of a field.
 */
export type FieldProblem = { "code": "empty" } | { "code": "too_long", charsMax: number, } | { "code": "too_short", charsMin: number, } | { "code": "not_a_name" } | { "code": "out_of_range", min: number, max: number, } | { "code": "twice", value: string, } | { "code": "on_and_off", tool: string, } | { "code": "no_such_channel", id: string, } | { "code": "no_such_user", id: string, } | { "code": "no_such_agent", id: string, } | { "code": "not_an_address" } | { "code": "secret_in_address" } | { "code": "address_needed" } | { "code": "not_absolute" } | { "code": "not_a_host", rule: string, } | { "code": "at_data_directory" } | { "code": "no_such_field", nearest: string | null, } | { "code": "unreadable", detail: string, } | { "code": "default_needed" } | { "code": "last_admin" } | { "code": "in_the_past" } | { "code": "not_a_variable" } | { "code": "not_one_line" } | { "code": "nothing_to_keep" } | { "code": "too_many", max: number, } | { "code": "too_many_pending", max: number, } | { "code": "directory_missing", path: string, } | { "code": "not_a_directory", path: string, };

/**
 * Why a valid credential is not sufficient.
 */
export type Forbidden = { "code": "only_reads" } | { "code": "full_scope_needed" } | { "code": "administrator_sees" } | { "code": "administrator_changes" } | { "code": "token_of_another_user" } | { "code": "password_not_yours" } | { "code": "other_origin" } | { "code": "other_host", host: string, } | { "code": "approval_of_another_user" };

/**
 * The sources of the external content on a path; empty if there is none.
 */
export type ForeignContent = Array<ForeignSource>;

export type ForeignKind = "web" | "mcp" | "file" | "program" | "other";

/**
 * Why a call needs approval although its risk alone does not require it.
 */
export type ForeignNote = { 
/**
 * What the session has read.
 */
sources: ForeignContent, 
/**
 * The complete address that the call would request.
 */
destination?: string | null, };

/**
 * One source of content that neither the user nor the model wrote.
 */
export type ForeignSource = { kind: ForeignKind, 
/**
 * The host, the MCP server, the file or the tool; empty if it is not known.
 */
name: string, };

export type Fork = { sessionId: SessionId, entryId: EntryId, requestId?: string | null, };

/**
 * The entry at which a new session starts.
 */
export type ForkRequest = { entryId: EntryId, };

/**
 * The answer to `fork`: the new session.
 */
export type Forked = { sessionId: SessionId, session: SessionListItem, };

export type InfoSource = "channel" | "catalogue" | "guess";

/**
 * The cause is only in the log.
 */
export type InternalError = { "code": "internal" };

export type JsonValue = number | string | boolean | Array<JsonValue> | { [key in string]: JsonValue } | null;

export type LeafChanged = { leafEntryId: EntryId | null, 
/**
 * Ids from root to leaf.
 */
activePath: Array<EntryId>, };

/**
 * A call that has run and must not be repeated by mistake.
 */
export type LedgerLine = { 
/**
 * The call with its arguments, shortened.
 */
call: string, failed: boolean, times: number, };

/**
 * Older forms of other events, for clients that were written for them. They have no numbers, and a
 * slow client may miss them.
 */
export type LegacyEvent = { "type": "token", "data": PartDelta } | { "type": "thinking", "data": Thinking } | { "type": "tool_call", "data": ToolCallStarted } | { "type": "tool_result", "data": ToolCallCompleted } | { "type": "progress", "data": Progress };

/**
 * A text that may have so many characters.
 */
export type LimitedText = "title" | "label" | "request_id";

export type Listing<T> = { items: Array<T>, 
/**
 * Page number, starting at 1.
 */
page: number, 
/**
 * Items per page; for a complete list, the number of items.
 */
size: number, total: number, };

export type LiveSnapshot = { session: SessionInfo, 
/**
 * Entries of the active path; for a long session, only the newest.
 */
entries: Array<Entry>, 
/**
 * The id from which to request older entries; absent if there are none.
 */
cursor?: EntryId | null, activePath: Array<EntryId>, 
/**
 * In the order they were appended; roots under `__root__`. Entries that only set a label or a
 * title are omitted: their children are listed under the entry above.
 */
childrenByParentId: { [key in string]: Array<EntryId> }, labelsByEntryId: { [key in EntryId]: EntryLabel }, thinkingLevel: string, model?: ModelRef | null, run: RunStatus, 
/**
 * The answer that is being streamed, with the complete text of all parts.
 */
streaming?: StreamingAnswer | null, tools: Array<OpenTool>, queue: QueueState, questions: Array<Question>, approvals: Array<ApprovalQuestion>, 
/**
 * The standing approvals of this session.
 */
standingApprovals?: Array<StandingApproval>, todo: TodoList, tokens: TokenUpdate, compaction?: CompactionUnderWay | null, compactionFailed?: CompactionFailed | null, skippedLines: number, 
/**
 * Warnings of the current run.
 */
warnings?: Array<LocalizedError>, };

/**
 * An error or a warning, made from a [`RunTrouble`]. Clients act on `kind` and show `words` in
 * their language; the other fields are for clients with texts of their own.
 */
export type LocalizedError = { kind: LocalizedErrorKind, 
/**
 * What happened, to which channel and model, and what to do about it.
 */
words: LocalizedText, 
/**
 * The channel that was asked.
 */
channel?: string | null, model?: string | null, 
/**
 * The message of the supplier, shortened and without the API key.
 */
said?: string | null, 
/**
 * When a retry may help, if the supplier specified it.
 */
retryAfterMs?: number | null, 
/**
 * The code and the parameters of the text. Absent in entries that are older than this field, and
 * if the code is unknown here.
 */
reason?: RunTrouble | null, };

/**
 * The list is complete; the names do not change.
 */
export type LocalizedErrorKind = "auth" | "quota" | "rate_limited" | "overloaded" | "context_too_long" | "bad_request" | "unknown_model" | "no_tool_support" | "refused" | "wrong_address" | "name_not_found" | "unreachable" | "tls_failed" | "connection_lost" | "timeout" | "stream_broken" | "protocol" | "empty_answer" | "answer_too_large" | "cancelled" | "turn_limit" | "stuck" | "length" | "not_ready" | "session_unavailable" | "session_damaged" | "interrupted" | "stalled" | "internal" | "unknown_tools" | "no_sandbox" | "repeating" | "unreadable_messages" | "newer_version" | "compaction_paused";

/**
 * A text for users, in all languages of the app.
 */
export type LocalizedText = { zh: string, en: string, };

/**
 * Logs a browser in, by name and password or by a token.
 */
export type Login = { name: string, password: string, } | { token: string, };

/**
 * Why a server cannot be used.
 */
export type McpFault = { code: McpFaultCode, 
/**
 * The message of the operating system or of the server. Can be empty.
 */
detail: string, };

/**
 * The list is closed, so that clients can translate it.
 */
export type McpFaultCode = "not_started" | "silent" | "bad_address" | "not_understood" | "unreachable" | "ended" | "no_tools" | "lost" | "too_big" | "sealed";

/**
 * Names an MCP server.
 */
export type McpServerId = string;

/**
 * An MCP server with its current status.
 */
export type McpServerInfo = { state: McpServerState, 
/**
 * The last known tools; a server that is unavailable keeps them.
 */
offered: Array<McpToolSummary>, id: McpServerId, 
/**
 * Environment variables of the program, or request headers, that have a value.
 */
secretNames: Array<string>, 
/**
 * Unique; part of the names of its tools.
 */
name: string, transport: McpTransport, status: ToolStatus, 
/**
 * The tools that are offered. If none is enabled, all are.
 */
tools: ToolChoice, 
/**
 * The sandbox of its program.
 */
sandbox: SandboxConfig, 
/**
 * Directories that its program may write to; it runs in the first one.
 */
roots: Array<string>, 
/**
 * Timeout of a call.
 */
timeoutMs: number, rev: number, 
/**
 * Unix time in milliseconds.
 */
createdAt: number, updatedAt: number, };

export type McpServerState = { status: McpStatus, 
/**
 * Why it is down, or was down the last time.
 */
lastFault?: McpFault, };

/**
 * The result of an attempt to connect.
 */
export type McpServerTest = { ok: boolean, latencyMs: number, 
/**
 * The tools that pass the filter.
 */
tools: Array<McpToolSummary>, fault?: McpFault, };

/**
 * An MCP server to test, saved or not.
 */
export type McpServerTry = { 
/**
 * The server that is being changed; its stored secrets are used.
 */
id?: McpServerId, 
/**
 * Environment of the program, or request headers. `null` keeps the stored value of a name;
 * names that are missing are removed. If absent, all stay unchanged.
 */
secrets?: { [key in string]: string | null }, 
/**
 * Unique; part of the names of its tools.
 */
name: string, transport: McpTransport, status: ToolStatus, 
/**
 * The tools that are offered. If none is enabled, all are.
 */
tools: ToolChoice, 
/**
 * The sandbox of its program.
 */
sandbox: SandboxConfig, 
/**
 * Directories that its program may write to; it runs in the first one.
 */
roots: Array<string>, 
/**
 * Timeout of a call.
 */
timeoutMs: number, };

/**
 * An MCP server as stored. Responses contain the names of its secrets, but never their values.
 */
export type McpServerView = { id: McpServerId, 
/**
 * Environment variables of the program, or request headers, that have a value.
 */
secretNames: Array<string>, 
/**
 * Unique; part of the names of its tools.
 */
name: string, transport: McpTransport, status: ToolStatus, 
/**
 * The tools that are offered. If none is enabled, all are.
 */
tools: ToolChoice, 
/**
 * The sandbox of its program.
 */
sandbox: SandboxConfig, 
/**
 * Directories that its program may write to; it runs in the first one.
 */
roots: Array<string>, 
/**
 * Timeout of a call.
 */
timeoutMs: number, rev: number, 
/**
 * Unix time in milliseconds.
 */
createdAt: number, updatedAt: number, };

/**
 * Creates or changes an MCP server.
 */
export type McpServerWrite = { 
/**
 * Environment of the program, or request headers. `null` keeps the stored value of a name;
 * names that are missing are removed. If absent, all stay unchanged.
 */
secrets?: { [key in string]: string | null }, 
/**
 * Unique; part of the names of its tools.
 */
name: string, transport: McpTransport, status: ToolStatus, 
/**
 * The tools that are offered. If none is enabled, all are.
 */
tools: ToolChoice, 
/**
 * The sandbox of its program.
 */
sandbox: SandboxConfig, 
/**
 * Directories that its program may write to; it runs in the first one.
 */
roots: Array<string>, 
/**
 * Timeout of a call.
 */
timeoutMs: number, };

/**
 * The status of an MCP server.
 */
export type McpStatus = "off" | "connecting" | "ready" | "down";

/**
 * A tool of a server.
 */
export type McpToolSummary = { 
/**
 * Its name at the server.
 */
name: string, 
/**
 * Its name for agents.
 */
toolName: string, description: string, };

/**
 * How a server is reached.
 */
export type McpTransport = { "type": "stdio", command: string, args: Array<string>, } | { "type": "http", url: string, };

/**
 * The user of the credential, and what it allows.
 */
export type Me = { userId: UserId, name: string, label: string, role: Role, scope: TokenScope, 
/**
 * Without a password, the user can only log in with tokens and links.
 */
passwordSet: boolean, 
/**
 * Whether the user can chat and change their own sessions.
 */
mayWrite: boolean, 
/**
 * Whether the user can read the configuration of the server.
 */
mayInspect: boolean, mayConfigure: boolean, 
/**
 * The token of this credential, as `GET tokens` lists it; absent for the initial access token.
 */
tokenId?: TokenId | null, protocol: number, version: string, };

/**
 * A fact that agents remember across sessions. It belongs to a user, who can read, correct and
 * delete it; agents see it only in that user's sessions.
 */
export type Memory = { id: MemoryId, userId: UserId, author: MemoryAuthor, status: MemoryStatus, 
/**
 * The session that a pending fact was saved in.
 */
sessionId?: SessionId | null, 
/**
 * The fact that a pending one replaces when it is confirmed.
 */
replaces?: MemoryId | null, 
/**
 * The agent that uses it; `null` for all agents.
 */
agentId: AgentId | null, text: string, rev: number, 
/**
 * Unix time in milliseconds.
 */
createdAt: number, updatedAt: number, };

/**
 * Who wrote a fact last.
 */
export type MemoryAuthor = "agent" | "user";

export type MemoryId = string;

export type MemorySpec = { 
/**
 * The agent that uses it; `null` for all agents.
 */
agentId: AgentId | null, text: string, };

/**
 * Whether agents use a fact.
 */
export type MemoryStatus = "confirmed" | "pending";

/**
 * How a message was sent.
 */
export type MessageMark = { requestId?: string, itemId?: string, 
/**
 * The indexes of the content blocks that are files.
 */
attachments?: Array<SentAttachment>, 
/**
 * It begins with a slash and is not a command; it was sent with one slash more.
 */
literal?: boolean, };

export type MissingSandbox = "refuse" | "warn";

/**
 * Why no model is available.
 */
export type ModelChoiceError = { "code": "no_channel" } | { "code": "channel_missing", id: ChannelId, namedBy: NamedBy, } | { "code": "channel_disabled", name: string, namedBy: NamedBy, } | { "code": "channel_without_models", name: string, namedBy: NamedBy, } | { "code": "channel_without_chat_models", name: string, namedBy: NamedBy, } | { "code": "model_unlisted", name: string, model: string, };

/**
 * The model of an agent and its options.
 */
export type ModelConfig = { channelId: ChannelId | null, 
/**
 * Default: the first model of the channel.
 */
model: string | null, temperature: number | null, maxTokens: number | null, thinkLevel: ThinkingLevel, 
/**
 * Used when the channel fails before it has sent anything.
 */
fallback: ModelFallback | null, };

export type ModelFallback = { channelId: ChannelId, model: string | null, };

/**
 * What is known about a model, with all defaults.
 */
export type ModelInfo = { name: string, contextWindow: number, maxOutput: number, vision: boolean, tools: boolean, thinking: boolean, 
/**
 * Whether it answers in chats. Other models are not offered for a chat.
 */
chat: boolean, price?: ModelPrice | null, 
/**
 * The source of the context window; clients show it.
 */
source: InfoSource, };

/**
 * Names of models, to look up what is known about them.
 */
export type ModelLookup = { names: Array<string>, };

/**
 * What a million tokens cost, in the currency of the channel.
 */
export type ModelPrice = { input: number, output: number, cacheRead: number, cacheWrite: number, };

/**
 * Why a model did not answer, or not to the end: what happened, in one sentence.
 */
export type ModelProblem = { "code": "auth" } | { "code": "quota" } | { "code": "rate_limited" } | { "code": "overloaded" } | { "code": "context_too_long" } | { "code": "bad_request" } | { "code": "unknown_model" } | { "code": "no_tool_support" } | { "code": "refused" } | { "code": "wrong_address" } | { "code": "name_not_found" } | { "code": "unreachable" } | { "code": "tls_failed" } | { "code": "connection_lost" } | { "code": "connect_timeout", limitMs: number, } | { "code": "first_byte_timeout", limitMs: number, } | { "code": "idle_timeout", limitMs: number, } | { "code": "stream_broken" } | { "code": "protocol" } | { "code": "answer_too_large", limitMb: number, } | { "code": "empty_answer" } | { "code": "cancelled" };

export type ModelRef = { provider: string, modelId: string, };

/**
 * The setting that contains a channel or a model.
 */
export type NamedBy = { "code": "agent", agent: string, } | { "code": "fallback_of_agent", agent: string, } | { "code": "auxiliary_of_agent", agent: string, } | { "code": "dictionary" } | { "code": "session" };

/**
 * Creates a user.
 */
export type NewUser = { password: string | null, 
/**
 * Unique; the user logs in with it.
 */
name: string, label: string, role: Role, status: UserStatus, };

/**
 * What does not exist, or is not visible to the caller.
 */
export type NotFound = { "code": "no_session" } | { "code": "no_record", kind: RecordKind, name: string, nearest: string | null, } | { "code": "no_skill", name: string, } | { "code": "no_token" } | { "code": "not_set", name: string, } | { "code": "no_entry" } | { "code": "no_image" } | { "code": "no_file" } | { "code": "no_process_log" } | { "code": "not_waiting" } | { "code": "question_not_open" } | { "code": "approval_not_open" } | { "code": "no_page" } | { "code": "no_standing_approval" };

/**
 * What must be corrected before an agent can run.
 */
export type NotReady = { "code": "agent_not_valid", field: string, problem: FieldProblem, } | { "code": "channel_sealed", channel: string, } | { "code": "mcp_sealed", server: string, } | { "code": "skill_not_usable", name: string, problems: Array<SkillProblem>, } | { "code": "skill_missing", name: string, ready: Array<string>, } | { "code": "workspace_not_opened", error: string, } | { "code": "workspace_hidden" } | { "code": "workspace_missing" };

/**
 * An answer without content.
 */
export type Nothing = Record<symbol, never>;

/**
 * An event of the server itself, without a session and a number. After a reconnect, request its
 * content again.
 */
export type NoticeEnvelope = { 
/**
 * Unix time in milliseconds.
 */
ts: number, } & ({ "type": "session_list_changed", "data": SessionListChange } | { "type": "server_draining", "data": Nothing } | { "type": "pong", "data": Nothing } | { "type": "error", "data": Refusal });

export type OpenMode = "live" | "replay" | "snapshot";

/**
 * A tool call that has no result entry yet.
 */
export type OpenTool = { output: string, 
/**
 * Unix time in milliseconds.
 */
startedAt: number, runId: RunId, entryId: EntryId, toolCallId: string, toolName: string, toolLabel: string, args: JsonValue, 
/**
 * The same as `runtimeRoute`.
 */
route: ToolRoute, runtimeRoute: ToolRoute, 
/**
 * Where a subagent's worker would run it; absent for a tool that does not exist.
 */
workerRoutingHint?: ToolRoute | null, blockedReason?: string | null, policySources: Array<string>, 
/**
 * The standing approvals that allow it. Empty if it needs none, or was allowed by hand.
 */
allowedBy?: Array<ApprovalUse>, latestProcessEvent?: RuntimeProcessEvent | null, 
/**
 * All steps, or the first `STEPS_FIRST` and the last `STEPS_LAST`.
 */
processEvents?: Array<RuntimeProcessEvent>, 
/**
 * The total number of steps.
 */
processEventCount: number, 
/**
 * The number of dropped steps.
 */
processEventsDropped?: number, processLogRef?: ProcessLogRef | null, };

/**
 * The answer to `session_open`.
 */
export type Opened = { mode: OpenMode, epoch: string, 
/**
 * The `seq` of the last event before this answer.
 */
seq: number, snapshot?: LiveSnapshot | null, };

/**
 * Changes the user's own password; requires the current one.
 */
export type OwnPassword = { current: string, password: string, };

/**
 * More text for one part of an answer.
 */
export type PartDelta = { runId: RunId, entryId: EntryId, 
/**
 * The index of the content block of the answer.
 */
part: number, kind: PartKind, 
/**
 * The tool call to which the arguments belong.
 */
toolCallId?: string | null, toolName?: string | null, 
/**
 * The number of Unicode scalar values that were sent before for this part.
 */
offset: number, text: string, };

export type PartKind = "text" | "thinking" | "toolCall";

/**
 * Requests a `pong`. The content is ignored.
 */
export type Ping = Record<symbol, never>;

/**
 * The layers that decide about a tool, in their order.
 */
export type PolicyLayer = "catalogue" | "global" | "agent" | "model" | "environment" | "subagent";

/**
 * From the least to the most serious.
 */
export type ProcessLevel = "debug" | "info" | "warning" | "error";

export type ProcessLogKind = "runtime_process_log";

/**
 * A page of the log of an operation, in chronological order.
 */
export type ProcessLogPage = { items: Array<RuntimeProcessEvent>, page: number, size: number, total: number, 
/**
 * The log reached its size limit; later steps are missing.
 */
truncated?: boolean, };

/**
 * Identifies the log of all steps for requests to the server; it is never a path.
 */
export type ProcessLogRef = { kind: ProcessLogKind, sessionId: SessionId, operationId: string, toolCallId?: string | null, };

export type ProcessSource = "skill" | "tool" | "subagent" | "runtime";

export type ProcessStatus = "queued" | "started" | "running" | "completed" | "failed" | "cancelled" | "skipped";

export type ProcessTarget = "tool" | "skill" | "subagent" | "task" | "runtime";

/**
 * The progress of a call, for clients that show only a progress bar.
 */
export type Progress = { runId: RunId, toolCallId: string, operationId: string, stage?: string | null, message: string, percent: number, current?: number | null, total?: number | null, };

export type PromptLayer = { name: string, text: string, chars: number, tokens: number, 
/**
 * Maximum size of the layer, in characters.
 */
budget: number, 
/**
 * What was omitted because of the maximum.
 */
omitted: Array<string>, };

/**
 * The system prompt, layer by layer.
 */
export type PromptPreview = { layers: Array<PromptLayer>, 
/**
 * Of the names, descriptions and schemas of the tools that are enabled.
 */
toolTokens: number, 
/**
 * What every request carries before the first message: the layers and the tools. An estimate.
 */
tokens: number, };

/**
 * Where sessions are stored.
 */
export type ProviderKind = "file" | "mysql";

/**
 * A question of the agent that waits for an answer.
 */
export type Question = { requestId: string, runId: RunId, toolCallId: string, question: string, options: Array<string>, multi: boolean, 
/**
 * Unix time in milliseconds; absent if it never expires.
 */
expiresAt?: number | null, 
/**
 * Set if its run has ended: only a new message can answer it.
 */
readOnly: boolean, };

/**
 * Changes the queue.
 */
export type QueueEdit = { sessionId: SessionId, requestId?: string | null, } & ({ "action": "edit", itemId: string, content: string, } | { "action": "remove", itemId: string, } | { "action": "move", itemId: string, position: number, } | { "action": "resume" });

/**
 * The answer to `queue_edit`.
 */
export type QueueEdited = { queue: QueueState, };

export type QueueItem = { itemId: string, content: string, attachments?: Array<Attachment>, mode: ChatMode, 
/**
 * Unix time in milliseconds.
 */
queuedAt: number, 
/**
 * Held back after a stop until the user resumes it. Messages that are sent later do
 * not wait for it.
 */
held?: boolean, 
/**
 * Queued by another version of NetaClaw and not fully readable by this one. It stays held; it
 * can be moved and removed.
 */
unsupported?: boolean, };

export type QueueState = { items: Array<QueueItem>, 
/**
 * Whether any of them is held.
 */
held: boolean, };

/**
 * The queue after a change. Clients have the texts of messages that did not change from earlier
 * events or from the snapshot.
 */
export type QueueUpdate = { 
/**
 * All queued messages, in order.
 */
items: Array<QueueUpdateItem>, 
/**
 * Whether any of them is held.
 */
held: boolean, };

export type QueueUpdateItem = { itemId: string, 
/**
 * The complete text, if the message is new or its text was changed.
 */
content?: string | null, 
/**
 * The beginning of the text.
 */
preview: string, 
/**
 * Sent together with `content`.
 */
attachments?: Array<Attachment>, mode: ChatMode, 
/**
 * Unix time in milliseconds.
 */
queuedAt: number, held?: boolean, unsupported?: boolean, };

/**
 * Why this version can read a session but not change it.
 */
export type ReadOnly = { "code": "newer_format", found: number, supported: number, } | { "code": "newer_state", found: number, supported: number, };

/**
 * Why a command or a request was refused.
 */
export type Reason = BadRequest | ModelChoiceError | Unauthorized | Forbidden | NotFound | Conflict | ReadOnly | Busy | StaleParent | TooLarge | TooMany | Unavailable | NotReady | ModelChoiceError | StoreFault | InternalError;

/**
 * What an administrator can change.
 */
export type RecordKind = "agent" | "channel" | "dict_type" | "dict_info" | "setting" | "user" | "token" | "tool" | "memory" | "mcp_server" | "approval";

/**
 * A refusal as a client sees it: neither paths nor keys nor stack traces.
 */
export type Refusal = { code: ErrorCode, 
/**
 * The English text, for programs and logs.
 */
message: string, 
/**
 * For users.
 */
words: LocalizedText, 
/**
 * The reason, with a code of its own and the parameters of its text. Absent from servers that
 * are older than this field.
 */
reason?: Reason | null, };

/**
 * Events that every subscriber gets, numbered without gaps.
 */
export type ReliableEvent = { "type": "session_entry_added", "data": EntryAdded } | { "type": "session_entry_updated", "data": EntryAdded } | { "type": "session_leaf_changed", "data": LeafChanged } | { "type": "session_updated", "data": SessionUpdated } | { "type": "assistant_stream_start", "data": StreamStart } | { "type": "assistant_stream_end", "data": StreamEnd } | { "type": "tool_call_started", "data": ToolCallStarted } | { "type": "tool_call_completed", "data": ToolCallCompleted } | { "type": "run_status", "data": RunStatus } | { "type": "queue_update", "data": QueueUpdate } | { "type": "todo_update", "data": TodoList } | { "type": "token_update", "data": TokenUpdate } | { "type": "clarify_request", "data": Question } | { "type": "clarify_answered", "data": ClarifyAnswered } | { "type": "approval_request", "data": ApprovalQuestion } | { "type": "approval_decided", "data": ApprovalDecided } | { "type": "approval_used", "data": ApprovalUsed } | { "type": "standing_approvals", "data": StandingApprovals } | { "type": "tools_changed", "data": ToolsChanged } | { "type": "compaction_start", "data": CompactionStart } | { "type": "compaction_progress", "data": CompactionProgress } | { "type": "compaction_done", "data": CompactionDone } | { "type": "compaction_error", "data": CompactionError } | { "type": "compaction_dismissed", "data": Nothing } | { "type": "done", "data": Done } | { "type": "error", "data": RunError } | { "type": "session_resync", "data": SessionResync };

export type Rename = { sessionId: SessionId, title: string, requestId?: string | null, };

/**
 * The answer to `rename`.
 */
export type Renamed = { session: SessionListItem, };

export type ResyncReason = "taken_over";

/**
 * The answer to `retry`.
 */
export type Retried = { runId: RunId, };

/**
 * Requests another answer to a message of the user, in addition to the existing ones.
 */
export type Retry = { sessionId: SessionId, entryId: EntryId, requestId?: string | null, };

/**
 * A request to a model failed before anything arrived, and is made again.
 */
export type RetryNotice = { 
/**
 * What happened, in one sentence; `said` has the message of the supplier.
 */
trouble: LocalizedError, 
/**
 * When the request is repeated, as Unix time in milliseconds. Absent with `fallback`.
 */
at?: number | null, 
/**
 * The fallback channel that is asked instead.
 */
fallback?: string | null, };

/**
 * Revokes a standing approval of the session.
 */
export type RevokeApproval = { sessionId: SessionId, approvalId: string, requestId?: string | null, };

export type Role = "admin" | "user";

export type RunError = { runId?: RunId | null, code: ErrorCode, severity: Severity, 
/**
 * In English, for clients that do not read `trouble`.
 */
message: string, trouble?: LocalizedError | null, };

/**
 * Names one run of an agent.
 */
export type RunId = string;

export type RunOutcome = "completed" | "stopped" | "error" | "interrupted";

export type RunPhase = "preparing" | "waiting_for_model" | "streaming" | "running_tools" | "waiting_for_user" | "retrying" | "compacting";

export type RunState = "running" | "stopping" | "idle";

/**
 * The state of a session's run.
 */
export type RunStatus = { status: RunState, runId?: RunId | null, phase?: RunPhase | null, 
/**
 * In English, for clients that know nothing better; see `retry`.
 */
detail?: string | null, 
/**
 * Why the model was not reached, and what happens next.
 */
retry?: RetryNotice | null, 
/**
 * When this status began. Unix time in milliseconds.
 */
since: number, 
/**
 * When the run began; absent if none is active. Unix time in milliseconds.
 */
startedAt?: number | null, 
/**
 * For how long the run had waited for users and for retries before this status began. A clock
 * of the run leaves this out, and stands still in the phases `waiting_for_user` and `retrying`.
 */
waitedMs: number, };

/**
 * An error or a warning about a run, or about its session.
 */
export type RunTrouble = { "code": "agent_not_ready", problem: NotReady, } | { "code": "no_model", problem: ModelChoiceError, } | { "code": "not_started", problem: Reason, } | { "code": "model_failed", channel: string, model: string | null, problem: ModelProblem, said: string | null, retryAfterMs: number | null, } | { "code": "model_retried", problem: ModelProblem, } | { "code": "turn_limit", turns: number, } | { "code": "stuck", pattern: StuckPattern, } | { "code": "answer_truncated" } | { "code": "session_lost", detail: string, } | { "code": "interrupted" } | { "code": "stalled", minutes: number, phase: string, lastActivity: string, seconds: number, } | { "code": "terminated" } | { "code": "internal" } | { "code": "repeating", pattern: StuckPattern, } | { "code": "no_tool_support", channel: string, model: string, said: string | null, } | { "code": "unknown_tools", detail: string, } | { "code": "no_sandbox", caution: string, } | { "code": "messages_not_readable", count: number, } | { "code": "compaction_ineffective" } | { "code": "compaction_too_often" } | { "code": "compaction_overhead" } | { "code": "compaction_nothing_left" } | { "code": "newer_version", problem: ReadOnly, } | { "code": "storage_failed", fault: StoreFault, } | { "code": "summary_only", compaction: EntryId, } | { "code": "session_damaged", damage: SessionDamage, };

/**
 * One step of an operation. The server creates it from the report of a tool or a skill: texts are
 * free of secrets, numbers are validated, and `sequence` counts 1, 2, 3 … per operation.
 */
export type RuntimeProcessEvent = { 
/**
 * The version of this form: 1.
 */
version: number, operationId: string, parentOperationId?: string | null, targetType: ProcessTarget, source: ProcessSource, taskId?: string | null, stage?: string | null, status: ProcessStatus, level: ProcessLevel, message: string, 
/**
 * The message for users, if it is a text of the server.
 */
words?: LocalizedText | null, 
/**
 * The code and the parameters of that text.
 */
reason?: CallEnd | null, detail?: string | null, current?: number | null, total?: number | null, 
/**
 * 0 to 100; absent if unknown.
 */
percent?: number | null, 
/**
 * Scalars only.
 */
payload?: { [key in string]: JsonValue } | null, 
/**
 * RFC 3339.
 */
timestamp: string, sequence: number, };

/**
 * The sandbox of programs. They can write only to the agent's directories and to temporary
 * directories.
 */
export type SandboxConfig = { 
/**
 * What to do on a machine that does not support the sandbox. With `network`, it also applies
 * to sockets in the file system, if the kernel cannot distinguish them.
 */
missing: MissingSandbox, 
/**
 * Whether programs may use the network.
 */
network: boolean, };

/**
 * A file in a user's message, stored in the message as `netaclaw.attachments`.
 */
export type SentAttachment = { id?: string | null, name: string, mimeType: string, bytes: number, kind: AttachmentKind, 
/**
 * The content block of the message that contains it.
 */
block: number, };

/**
 * Changes a session; absent fields stay unchanged.
 */
export type SessionChange = { 
/**
 * An empty title clears it.
 */
title: string | null, status: SessionStatus | null, };

/**
 * Ends the client's subscription to a session.
 */
export type SessionClose = { sessionId: SessionId, };

/**
 * What is wrong with a stored session.
 */
export type SessionDamage = { "code": "empty_log" } | { "code": "no_header", readable: number, unreadable: number, } | { "code": "header_not_readable" } | { "code": "entry_not_readable" } | { "code": "row_changed" } | { "code": "missing_entry", entry: EntryId, } | { "code": "missing_parent", entry: EntryId, parent: EntryId, } | { "code": "circle", entry: EntryId, };

/**
 * Names a session. NetaClaw makes UUID v7; files of other programs may carry any text,
 * so check [`SessionId::is_safe`] before a file name is made from one.
 */
export type SessionId = string;

/**
 * A session, without the server's own data such as directories.
 */
export type SessionInfo = { sessionId: SessionId, provider: ProviderKind, rootEntryId: EntryId | null, leafEntryId: EntryId | null, parentSessionId: SessionId | null, agentId: string | null, userId: string | null, title: string | null, status: SessionStatus, messageCount: number, firstMessage: string | null, 
/**
 * The name of the directory in which its tools work, without the path to it.
 */
workspaceName?: string | null, 
/**
 * ISO 8601, UTC, milliseconds.
 */
createdAt: string, updatedAt: string, };

/**
 * One page of sessions, the last changed first.
 */
export type SessionList = { items: Array<SessionListItem>, page: number, size: number, total: number, };

/**
 * Changes of a session list since the last such event: each session once, in its current state.
 */
export type SessionListChange = { 
/**
 * Sessions that are new or changed.
 */
sessions: Array<SessionListItem>, 
/**
 * Sessions that are not, or no longer, on the list.
 */
removed: Array<SessionId>, };

/**
 * Which of the caller's sessions are listed. For administrators, also those without an owner.
 */
export type SessionListFilter = { agentId?: string | null, 
/**
 * Default: active and archived sessions.
 */
status?: SessionStatus | null, };

/**
 * A session in a list, with its current state.
 */
export type SessionListItem = { running: boolean, 
/**
 * A question is open, or a tool call waits for approval.
 */
waiting: boolean, 
/**
 * A run has ended since the session was last opened.
 */
unread: boolean, 
/**
 * Number of queued messages.
 */
queued: number, sessionId: SessionId, provider: ProviderKind, rootEntryId: EntryId | null, leafEntryId: EntryId | null, parentSessionId: SessionId | null, agentId: string | null, userId: string | null, title: string | null, status: SessionStatus, messageCount: number, firstMessage: string | null, 
/**
 * The name of the directory in which its tools work, without the path to it.
 */
workspaceName?: string | null, 
/**
 * ISO 8601, UTC, milliseconds.
 */
createdAt: string, updatedAt: string, };

export type SessionMessages = { "view": "full" } & EntryPage | { "view": "compacted" } & ContextMessages;

export type SessionOpen = { sessionId: SessionId, epoch?: string | null, lastSeq?: number | null, };

export type SessionResync = { reason: ResyncReason, };

export type SessionStatus = "active" | "archived" | "deleted";

/**
 * The structure of a session tree, with short previews.
 */
export type SessionTreeView = { leafEntryId: EntryId | null, 
/**
 * In the order they were appended.
 */
entries: Array<TreeEntry>, 
/**
 * Lines of the session that could not be read.
 */
skippedLines: number, };

export type SessionUpdated = { session: SessionInfo, labels?: { [key in EntryId]: EntryLabel } | null, };

/**
 * Subscribes to the session list: the answer is its first page, and `session_list_changed` follows for
 * the sessions that match the filter. A repeated command replaces the subscription.
 */
export type SessionsWatch = { filter?: SessionListFilter | null, 
/**
 * Sessions on the first page: 50, or up to 200.
 */
limit?: number | null, };

export type SetLabel = { sessionId: SessionId, entryId: EntryId, 
/**
 * Absent or empty removes it.
 */
label: string | null, requestId?: string | null, };

export type SetModel = { sessionId: SessionId, channelId: string, modelId: string, requestId?: string | null, };

export type SetThinkingLevel = { sessionId: SessionId, level: ThinkingLevel, requestId?: string | null, };

export type Setting = { 
/**
 * Unique, with dots between its parts.
 */
name: string, value: JsonValue, rev: number, 
/**
 * Unix time in milliseconds.
 */
createdAt: number, updatedAt: number, };

/**
 * Changes a setting.
 */
export type SettingWrite = { value: JsonValue, };

/**
 * Whether the work was ended.
 */
export type Severity = "error" | "warning";

/**
 * A skill with its instructions.
 */
export type SkillDetail = { 
/**
 * Markdown.
 */
body: string, 
/**
 * Its other files, relative to its folder.
 */
files: Array<string>, name: string, label?: ToolLabel | null, description: string, 
/**
 * Its texts for people, by language: `en` and `zh`. Missing texts are those for the model.
 */
translations?: { [key in string]: SkillTexts }, source: SkillSource, state: SkillState, 
/**
 * Why it is unavailable; empty if it is available.
 */
problems?: Array<SkillProblemView>, 
/**
 * Problems that do not make it unavailable.
 */
warnings?: Array<SkillProblemView>, 
/**
 * Whether it has a program to run.
 */
isExecutable: boolean, 
/**
 * The input of the program, as JSON Schema.
 */
inputSchema?: JsonValue | null, timeoutMs: number, };

/**
 * A skill has ended; its result is that of the tool call.
 */
export type SkillEnd = { runId: RunId, toolCallId: string, operationId: string, 
/**
 * `completed`, `failed` or `cancelled`.
 */
status: ProcessStatus, durationMs: number, };

export type SkillInputTexts = { label?: string, description?: string, };

/**
 * Why a skill cannot be used, or what its author should correct.
 */
export type SkillProblem = { "code": "shadowed" } | { "code": "not_selected" } | { "code": "program_missing", program: string, } | { "code": "all_programs_missing", programs: Array<string>, } | { "code": "interpreter_missing", program: string, } | { "code": "variable_missing", name: string, } | { "code": "not_readable", error: string, } | { "code": "front_matter_missing" } | { "code": "front_matter_not_valid", error: string, } | { "code": "description_missing" } | { "code": "entry_not_in_folder" } | { "code": "entry_missing", entry: string, } | { "code": "input_not_valid", error: string, } | { "code": "description_too_long", maxChars: number, } | { "code": "name_missing" } | { "code": "name_not_valid", name: string, } | { "code": "name_differs", name: string, folder: string, } | { "code": "timeout_not_valid", maxSeconds: number, } | { "code": "variables_refused", names: Array<string>, };

/**
 * A problem of a skill that should be corrected.
 */
export type SkillProblemView = { 
/**
 * The code and the parameters of the text.
 */
reason: SkillProblem, zh: string, en: string, };

/**
 * Where a skill was found. If two have the same name, the earlier source in this list wins.
 */
export type SkillSource = "agent" | "data" | "workspace" | "shipped";

/**
 * A skill begins to run.
 */
export type SkillStart = { runId: RunId, toolCallId: string, operationId: string, skillName: string, };

export type SkillState = "ready" | "unavailable" | "invalid" | "shadowed" | "not_chosen";

/**
 * The texts of a skill in one language.
 */
export type SkillTexts = { description?: string, 
/**
 * By the name of the property of the input.
 */
input: { [key in string]: SkillInputTexts }, };

/**
 * The session and the call of the trial.
 */
export type SkillTried = { sessionId: SessionId, toolCallId: string, };

/**
 * Runs a skill in a new session, to see what it does.
 */
export type SkillTry = { 
/**
 * Its arguments by name.
 */
input: JsonValue, 
/**
 * The agent whose workspace and limits apply. Default: the default agent.
 */
agentName?: string | null, };

/**
 * A skill, available or not.
 */
export type SkillView = { name: string, label?: ToolLabel | null, description: string, 
/**
 * Its texts for people, by language: `en` and `zh`. Missing texts are those for the model.
 */
translations?: { [key in string]: SkillTexts }, source: SkillSource, state: SkillState, 
/**
 * Why it is unavailable; empty if it is available.
 */
problems?: Array<SkillProblemView>, 
/**
 * Problems that do not make it unavailable.
 */
warnings?: Array<SkillProblemView>, 
/**
 * Whether it has a program to run.
 */
isExecutable: boolean, 
/**
 * The input of the program, as JSON Schema.
 */
inputSchema?: JsonValue | null, timeoutMs: number, };

/**
 * The entry that a command refers to is not at its place.
 */
export type StaleParent = { "code": "not_in_session", entry: EntryId, } | { "code": "not_on_path", entry: EntryId, };

/**
 * Calls that a user has allowed in advance.
 */
export type StandingApproval = { id: string, 
/**
 * The tool of the call that it was granted for.
 */
toolName: string, toolLabel: ToolLabel, scope: ApprovalScope, within: ApprovalWithin, 
/**
 * The beginning of the command, path or arguments that it was granted for.
 */
sample: string, 
/**
 * The user in whose sessions it is valid.
 */
userId: UserId, agentId?: string | null, 
/**
 * Absent if it is valid for the agent.
 */
sessionId?: SessionId | null, 
/**
 * The name of the user who granted it.
 */
grantedBy: string, 
/**
 * Unix time in milliseconds.
 */
grantedAt: number, 
/**
 * The tools that it covers, each with a hash of its definition and of the agent's settings.
 * With another hash it covers nothing.
 */
tools: { [key in string]: string }, };

/**
 * The standing approvals of the session itself, all of them.
 */
export type StandingApprovals = { items: Array<StandingApproval>, };

/**
 * Stops the run of a session. To stop a message that is not acknowledged yet, name its request:
 * it is stopped when it arrives.
 */
export type Stop = { sessionId?: SessionId | null, 
/**
 * The request id of the `chat` to stop.
 */
requestId?: string | null, };

export type StopReason = "stop" | "length" | "toolUse" | "error" | "aborted";

/**
 * The answer to `stop`.
 */
export type Stopped = { 
/**
 * `idle` if there was nothing to stop. A named message that has not arrived is stopped when it
 * arrives.
 */
status: RunState, };

/**
 * What is wrong with the disk or the database of a store, without paths, addresses and
 * statements.
 */
export type StoreFault = { "code": "disk_full" } | { "code": "storage_read_only" } | { "code": "storage_denied" } | { "code": "file_size_limit" } | { "code": "database_away" } | { "code": "database_damaged" } | { "code": "storage_failed" };

/**
 * What a server must be able to use before it is ready.
 */
export type StorePart = "admin_store" | "session_store" | "data_directory";

export type StreamEnd = { runId: RunId, entryId: EntryId, stopReason: StopReason, errorMessage?: string | null, trouble?: LocalizedError | null, };

export type StreamStart = { runId: RunId, entryId: EntryId, parentId: EntryId | null, provider: string, model: string, };

export type StreamingAnswer = { runId: RunId, entryId: EntryId, parentId: EntryId | null, provider: string, model: string, parts: Array<StreamingPart>, };

export type StreamingPart = { part: number, kind: PartKind, text: string, toolCallId?: string | null, toolName?: string | null, done: boolean, 
/**
 * Unix time in milliseconds.
 */
startedAt: number, 
/**
 * Its duration, once it is complete.
 */
durationMs?: number | null, };

/**
 * In which way a model repeats itself.
 */
export type StuckPattern = { "code": "same_results" } | { "code": "same_failure" } | { "code": "empty_answers" };

/**
 * Limits of the subagents that this agent starts.
 */
export type SubagentConfig = { 
/**
 * Default: what the runtime policy allows.
 */
allowedToolNames: Array<string> | null, };

/**
 * The supplier of a channel.
 */
export type Supplier = "openai" | "azure" | "anthropic" | "deepseek" | "zhipu" | "tongyi" | "minimax" | "volcengine" | "gemini" | "moonshot" | "siliconflow" | "openrouter" | "xai" | "mistral" | "ollama" | "vllm" | "lmstudio" | "compatible" | "demo";

/**
 * A supplier that can be chosen.
 */
export type SupplierOption = { id: Supplier, label: string, 
/**
 * Absent if every customer has a different address.
 */
baseUrl?: string | null, needsKey: boolean, 
/**
 * The environment variable that usually holds the API key.
 */
keyVariable?: string | null, 
/**
 * Well-known models.
 */
models: Array<ModelInfo>, };

export type SwitchLeaf = { sessionId: SessionId, 
/**
 * `null` is the position before the first entry. The field is required.
 */
leafEntryId: EntryId | null, 
/**
 * Continues from the entry to the position where its branch was last left.
 */
follow?: boolean, 
/**
 * Summarizes the branch that is left, at the new position. The answer is sent before the model
 * writes the summary; the leaf moves when it is complete.
 */
summarize?: boolean, requestId?: string | null, };

/**
 * The answer to `switch_leaf`.
 */
export type SwitchLeafAck = { status: SwitchStatus, };

export type SwitchStatus = "moved" | "summarizing";

/**
 * All that a part of an answer thought, once it is over.
 */
export type Thinking = { runId: RunId, entryId: EntryId, part: number, text: string, durationMs: number, };

export type ThinkingDone = { runId: RunId, entryId: EntryId, part: number, durationMs: number, };

/**
 * How hard a model should think before it answers.
 */
export type ThinkingLevel = "off" | "minimal" | "low" | "medium" | "high" | "xhigh";

export type TodoItem = { id: string, text: string, status: TodoStatus, };

export type TodoList = { 
/**
 * Increases with each change on this path; ignore a list with a smaller one.
 */
revision: number, items: Array<TodoItem>, };

export type TodoStatus = "pending" | "in_progress" | "done" | "cancelled";

export type TokenId = string;

/**
 * The only response that contains a token. Its `Debug` output hides the secret.
 */
export type TokenIssued = { secret: string, 
/**
 * Also the beginning of the token itself, so that users can identify it.
 */
id: TokenId, 
/**
 * The token that the browser logged in with to receive this one. Both end together.
 */
issuedWith: TokenId | null, 
/**
 * Unix time in milliseconds, like all times here.
 */
revokedAt: number | null, 
/**
 * Exact to a minute.
 */
lastUsedAt: number | null, userId: UserId, 
/**
 * A name that says what it is for.
 */
label: string, scope: TokenScope, expiresAt: number | null, rev: number, 
/**
 * Unix time in milliseconds.
 */
createdAt: number, updatedAt: number, };

/**
 * The scope of a token.
 */
export type TokenScope = "full" | "chat" | "read";

export type TokenTotals = { inputTokens: number, outputTokens: number, totalTokens: number, apiCalls: number, cost?: number | null, };

export type TokenUpdate = { 
/**
 * All answers of the session, on all branches.
 */
current: TokenTotals, 
/**
 * The answers on the active path.
 */
branch: TokenTotals, 
/**
 * The last answer on the active path; absent before the first.
 */
lastCall?: TokenTotals | null, 
/**
 * Summaries that models wrote for this session, on all branches. Not included in the other
 * totals.
 */
auxiliary: TokenTotals, context: ContextMeter, };

/**
 * What exceeds a limit of size.
 */
export type TooLarge = { "code": "text_too_long", text: LimitedText, charsMax: number, } | { "code": "queue_too_large", waitingKb: number, addedKb: number, maxKb: number, } | { "code": "files_of_user", usedMb: number, maxMb: number, } | { "code": "file_too_large", name: string, maxMb: number, } | { "code": "files_at_once", max: number, } | { "code": "upload_too_large", maxMb: number, } | { "code": "body_too_large" } | { "code": "command_too_large", bytes: number, bytesMax: number, };

/**
 * What exceeds a limit of number or rate.
 */
export type TooMany = { "code": "messages_waiting", max: number, } | { "code": "files_waiting" } | { "code": "runs_of_user", max: number, } | { "code": "messages_of_user", perMinute: number, retryAfterS: number, } | { "code": "commands_waiting" } | { "code": "connections_of_address" } | { "code": "failed_logins", retryAfterS: number, };

export type ToolCallCompleted = { runId: RunId, toolCallId: string, toolName: string, status: ToolExecutionStatus, isError: boolean, content: JsonValue, details?: JsonValue | null, 
/**
 * Without the time for which it waited for a user.
 */
durationMs: number, resultEntryId: EntryId, };

export type ToolCallStarted = { runId: RunId, entryId: EntryId, toolCallId: string, toolName: string, toolLabel: string, args: JsonValue, 
/**
 * The same as `runtimeRoute`.
 */
route: ToolRoute, runtimeRoute: ToolRoute, 
/**
 * Where a subagent's worker would run it; absent for a tool that does not exist.
 */
workerRoutingHint?: ToolRoute | null, blockedReason?: string | null, policySources: Array<string>, 
/**
 * The standing approvals that allow it. Empty if it needs none, or was allowed by hand.
 */
allowedBy?: Array<ApprovalUse>, };

export type ToolCategory = "files" | "shell" | "web" | "session" | "memory" | "skills" | "agents" | "external";

/**
 * Tools that are enabled or disabled regardless of their default.
 */
export type ToolChoice = { enabled: Array<string>, disabled: Array<string>, };

/**
 * A tool, and whether each agent has it.
 */
export type ToolDetail = { tool: ToolInfo, agents: Array<ToolUser>, };

export type ToolDiagnostic = { toolName: string, toolLabel: ToolLabel, category: ToolCategory, risk: ToolRisk, status: ToolStatus, route: ToolRoute, 
/**
 * Every layer that contributed, as `layer:what`.
 */
policySources: Array<string>, blockedReason?: string | null, code?: DisabledCode | null, 
/**
 * The layer that decided.
 */
decidedBy: PolicyLayer, howToChange: string, needsApproval: boolean, 
/**
 * It is enabled, but with reduced safety.
 */
caution?: string | null, };

/**
 * A tool call of a stored answer, as snapshots, pages and `session_entry_updated` show it beside
 * the answer in `metadata.toolExecutions`. It is computed from stored entries alone, so that it is
 * the same after a reload; a call that is running is in `tools` of a snapshot as well.
 */
export type ToolExecution = { toolCallId: string, name: string, 
/**
 * For people; the name if there is none.
 */
label: string, status: ToolExecutionStatus, 
/**
 * Without the time for which it waited for a user. Absent if it did not run.
 */
durationMs?: number | null, 
/**
 * Where it ran.
 */
runtimeRoute?: ToolRoute | null, 
/**
 * Where a subagent's worker would run it.
 */
workerRoutingHint?: ToolRoute | null, policySources: Array<string>, 
/**
 * Why it was not allowed to run.
 */
blockedReason?: string | null, 
/**
 * The entry of its result; absent while there is none.
 */
resultEntryId?: EntryId | null, latestProcessEvent?: RuntimeProcessEvent | null, 
/**
 * All steps, or the first `STEPS_FIRST` and the last `STEPS_LAST`.
 */
processEvents?: Array<RuntimeProcessEvent>, 
/**
 * The total number of steps.
 */
processEventCount: number, 
/**
 * The number of dropped steps.
 */
processEventsDropped?: number, processLogRef?: ProcessLogRef | null, };

/**
 * How a tool call stands, or how it ended.
 */
export type ToolExecutionStatus = "pending" | "completed" | "failed" | "blocked" | "denied" | "undecided" | "expired" | "dismissed" | "timed_out" | "stopped" | "not_started" | "interrupted";

/**
 * A tool with all its properties.
 */
export type ToolInfo = { 
/**
 * Empty for a tool that no longer exists, like the schema.
 */
description: string, onByDefault: boolean, 
/**
 * JSON Schema of the arguments.
 */
schema: JsonValue, 
/**
 * Absent for tools that wait for a user.
 */
timeoutMs?: number | null, 
/**
 * Absent for tools that do not start programs.
 */
isolation?: ToolIsolation | null, name: string, 
/**
 * Its source: `builtin`, or `mcp:` and the name of a server.
 */
source: string, label: ToolLabel, category: ToolCategory, risk: ToolRisk, 
/**
 * The global setting of an administrator; absent: the default of the tool.
 */
status?: ToolStatus | null, 
/**
 * Whether its source offered it at the last check.
 */
present: boolean, rev: number, 
/**
 * Unix time in milliseconds.
 */
createdAt: number, updatedAt: number, };

/**
 * The isolation of a tool's programs, in addition to Landlock and seccomp.
 */
export type ToolIsolation = "namespaces" | "refused" | "off";

/**
 * A display name.
 */
export type ToolLabel = { zh: string, en: string, };

/**
 * More output of a running tool.
 */
export type ToolOutput = { runId: RunId, toolCallId: string, offset: number, text: string, };

/**
 * Overrides of an agent for one tool. Absent fields keep the values of the tool's manifest.
 */
export type ToolOverride = { description: string | null, risk: ToolRisk | null, timeoutMs: number | null, approval: ApprovalMode | null, 
/**
 * Arguments that always have this value, regardless of what the model sends.
 */
arguments: { [key in string]: JsonValue }, };

/**
 * A step of a tool call, as clients receive it. Identical steps in quick succession are sent as
 * one, with their number in `repeatCount` of the payload.
 */
export type ToolProcessEvent = { runId: RunId, toolCallId: string, assistantEntryId?: EntryId | null, toolName: string, toolLabel?: string | null, 
/**
 * The version of this form: 1.
 */
version: number, operationId: string, parentOperationId?: string | null, targetType: ProcessTarget, source: ProcessSource, taskId?: string | null, stage?: string | null, status: ProcessStatus, level: ProcessLevel, message: string, 
/**
 * The message for users, if it is a text of the server.
 */
words?: LocalizedText | null, 
/**
 * The code and the parameters of that text.
 */
reason?: CallEnd | null, detail?: string | null, current?: number | null, total?: number | null, 
/**
 * 0 to 100; absent if unknown.
 */
percent?: number | null, 
/**
 * Scalars only.
 */
payload?: { [key in string]: JsonValue } | null, 
/**
 * RFC 3339.
 */
timestamp: string, sequence: number, };

/**
 * A tool and its global setting. A tool stays in the list after it has disappeared.
 */
export type ToolRecord = { name: string, 
/**
 * Its source: `builtin`, or `mcp:` and the name of a server.
 */
source: string, label: ToolLabel, category: ToolCategory, risk: ToolRisk, 
/**
 * The global setting of an administrator; absent: the default of the tool.
 */
status?: ToolStatus | null, 
/**
 * Whether its source offered it at the last check.
 */
present: boolean, rev: number, 
/**
 * Unix time in milliseconds.
 */
createdAt: number, updatedAt: number, };

export type ToolResultMessage = { toolCallId: string, toolName: string, content: Array<ContentBlock>, 
/**
 * For users only (diffs, timings, process events); never sent to a model.
 */
details?: JsonValue | null, isError: boolean, timestamp: number, };

/**
 * The risk of a call, from the least to the greatest.
 */
export type ToolRisk = "read" | "write" | "exec" | "network" | "delegate";

export type ToolRoute = "main" | "worker-local" | "main-process-proxy" | "disabled";

export type ToolStatus = "enabled" | "disabled";

/**
 * The global setting. `null` resets it to the default of the tool; the field is required.
 */
export type ToolSwitch = { status: ToolStatus | null, };

/**
 * An agent, and whether and why it has the tool.
 */
export type ToolUser = { agentId: AgentId, agentName: string, agentLabel: string, diagnostic: ToolDiagnostic, };

/**
 * An unknown tool name in a configuration. The agent ignores it.
 */
export type ToolWarning = { 
/**
 * The setting that contains the name, such as `tools.enabled`.
 */
place: string, name: string, nearest?: string | null, message: string, };

/**
 * The agent's tools have changed since the model was last notified.
 */
export type ToolsChanged = { added: Array<string>, 
/**
 * Each with its reason.
 */
removed: Array<DisabledTool>, };

/**
 * One entry of the tree. Labels and names are not entries here: a label is shown at its target,
 * and its children belong to the entry above it.
 */
export type TreeEntry = { id: EntryId, parentId: EntryId | null, type: string, role: string | null, timestamp: string, 
/**
 * The beginning of its text.
 */
preview: string | null, label: string | null, 
/**
 * The tools that an answer calls, or the tool whose result this is.
 */
toolNames: Array<string>, isError: boolean, };

/**
 * Why a credential is not accepted.
 */
export type Unauthorized = { "code": "no_credential" } | { "code": "credential_unknown" } | { "code": "token_expired" } | { "code": "token_revoked" } | { "code": "user_disabled" } | { "code": "wrong_login" };

/**
 * Why the server cannot carry out a request at the moment, or with its configuration.
 */
export type Unavailable = { "code": "shutting_down" } | { "code": "database_lost" } | { "code": "store_not_answering" } | { "code": "session_not_readable", session: SessionId, damage: SessionDamage, } | { "code": "no_mysql" } | { "code": "no_model_to_measure" } | { "code": "no_summaries" } | { "code": "branch_not_summarized" } | { "code": "run_not_started" } | { "code": "reader_too_slow" } | { "code": "run_ended" } | { "code": "run_failed", detail: string, } | { "code": "credentials_not_checked" } | { "code": "connections_of_server" } | { "code": "connection_too_slow" } | { "code": "no_attachments" } | { "code": "no_previews" } | { "code": "no_mcp" } | { "code": "part_not_answering", part: StorePart, } | { "code": "part_not_usable", part: StorePart, fault: StoreFault, };

/**
 * An uploaded file.
 */
export type UploadedFile = { 
/**
 * If a user uploads the same file again, it has the same id.
 */
id: string, name: string, 
/**
 * Detected from the content, not taken from the client.
 */
mimeType: string, bytes: number, kind: AttachmentKind, };

export type Usage = { input: number, output: number, cacheRead: number, cacheWrite: number, totalTokens: number, cost: Cost, };

/**
 * What refers to a record, which therefore cannot be deleted.
 */
export type UsedBy = { "code": "agent", name: string, } | { "code": "dict_entry", group: string, name: string, };

export type User = { id: UserId, 
/**
 * Without a password, the user can only log in with tokens.
 */
passwordSet: boolean, 
/**
 * Unique; the user logs in with it.
 */
name: string, label: string, role: Role, status: UserStatus, rev: number, 
/**
 * Unix time in milliseconds.
 */
createdAt: number, updatedAt: number, };

export type UserContent = string | Array<ContentBlock>;

export type UserId = string;

export type UserStatus = "enabled" | "disabled";

/**
 * A changed user.
 */
export type UserWrite = { 
/**
 * Absent to keep it, `null` to clear it, or a new one.
 */
password?: string | null, 
/**
 * Unique; the user logs in with it.
 */
name: string, label: string, role: Role, status: UserStatus, };

/** Commands by name: what each carries, and what its acknowledgement adds to `ok`. */
export interface Commands {
  chat: { ask: Chat; answer: ChatAck }
  stop: { ask: Stop; answer: Stopped }
  set_thinking_level: { ask: SetThinkingLevel; answer: Nothing }
  set_model: { ask: SetModel; answer: Nothing }
  clarify_response: { ask: ClarifyResponse; answer: Nothing }
  approval_response: { ask: ApprovalResponse; answer: Nothing }
  accept_edits: { ask: AcceptEdits; answer: Nothing }
  revoke_approval: { ask: RevokeApproval; answer: Nothing }
  compact: { ask: Compact; answer: CompactAck }
  dismiss_compaction: { ask: DismissCompaction; answer: Nothing }
  switch_leaf: { ask: SwitchLeaf; answer: SwitchLeafAck }
  label: { ask: SetLabel; answer: Nothing }
  rename: { ask: Rename; answer: Renamed }
  retry: { ask: Retry; answer: Retried }
  fork: { ask: Fork; answer: Forked }
  queue_edit: { ask: QueueEdit; answer: QueueEdited }
  ping: { ask: Ping; answer: Nothing }
  session_open: { ask: SessionOpen; answer: Opened }
  session_close: { ask: SessionClose; answer: Nothing }
  sessions_watch: { ask: SessionsWatch; answer: SessionList }
}

/** A server with another number needs another page. */
export const PROTOCOL = 2

/** A command may be this long, as JSON with its name; a much longer one ends the connection. */
export const COMMAND_BYTES_MAX = 1048576

/** Of more steps of a call than these together, those in the middle are not kept. */
export const STEPS_FIRST = 10
export const STEPS_LAST = 40
