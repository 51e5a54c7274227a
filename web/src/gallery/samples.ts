/** Made-up view models, one for each state worth looking at. */

import type { ForeignNote, JsonValue } from '@/protocol'
import { approvalViews } from '@/view/approval'
import { breakdownView } from '@/view/sessionPanels'
import type {
  ActivityRow,
  ApprovalView,
  AssistantRow,
  BranchPoint,
  BreakdownView,
  ChoiceView,
  CommandView,
  CompactionRow,
  ComposerAttachment,
  ConnectionView,
  PendingUserRow,
  QuestionView,
  QueueView,
  SessionRow,
  TodoView,
  TokenView,
  ToolView,
  TranscriptRow,
  TreeRow,
  UserRow,
} from '@/view/types'
import { processes } from './processes'

const now = Date.now()
const base = { entryId: 'e1', branch: null, label: null, at: now - 60_000 }
const branch: BranchPoint = { index: 1, count: 3, ids: ['a', 'b', 'c'] }

/** A small picture that needs no server. */
export const picture = (() => {
  const canvas = document.createElement('canvas')
  canvas.width = 320
  canvas.height = 200
  const pen = canvas.getContext('2d')
  if (pen) {
    const sky = pen.createLinearGradient(0, 0, 0, 200)
    sky.addColorStop(0, '#7ea6e0')
    sky.addColorStop(1, '#f3d9b1')
    pen.fillStyle = sky
    pen.fillRect(0, 0, 320, 200)
    pen.fillStyle = '#3f5d4a'
    pen.beginPath()
    pen.moveTo(0, 200)
    pen.lineTo(90, 80)
    pen.lineTo(170, 170)
    pen.lineTo(230, 110)
    pen.lineTo(320, 200)
    pen.fill()
  }
  return canvas.toDataURL('image/png')
})()

export const markdown = `# 部署说明 Deployment

NetaClaw 是一个**自托管**的智能体引擎，*一个二进制文件*，内嵌网页应用。它把会话保存为一棵树：每次编辑都是新的分支，**“旧版本”**不会丢失。See [the docs](https://example.org/docs) and the file [main.rs](./src/main.rs); inline \`code\` and ~~gone~~.

## Steps

1. Install the toolchain:
   \`\`\`bash
   curl -sSf https://example.org/install.sh | sh
   netaclaw serve --listen 127.0.0.1:7300
   \`\`\`
2. Open the printed link.
   - nested one
   - nested two

- [x] configure a channel
- [ ] 邀请团队成员

> A quotation that says something worth repeating,
> over two lines.

| 模型 Model | Context | Price in | Price out | Note |
| --- | :---: | ---: | ---: | --- |
| demo | 32k | $0 | $0 | built in, needs no network |
| large | 200k | $3.00 | $15.00 | 适合长文档与复杂推理，支持图片输入 |

\`\`\`rust
/// Appends an entry and moves the leaf to it.
pub async fn append(&mut self, entry: Entry) -> Result<EntryId, AppendError> {
    let id = EntryId::new(); // 新条目
    match self.index.get(&entry.parent_id) {
        Some(parent) if parent.depth < 10_000 => self.write(id, entry).await?,
        _ => return Err(AppendError::UnknownParent { id: "x".into() }),
    }
    Ok(id)
}
\`\`\`

The mean is $\\bar{x} = \\frac{1}{n}\\sum_{i=1}^{n} x_i$, and the whole:

$$
\\int_{-\\infty}^{\\infty} e^{-x^2}\\,dx = \\sqrt{\\pi}
$$

\`\`\`mermaid
flowchart LR
  A[浏览器 Browser] -->|chat| B(Gateway)
  B --> C{Session actor}
  C -->|append| D[(Store)]
  C --> E[Model]
\`\`\`

---

The end.`

export const longCode = `\`\`\`python\n${Array.from({ length: 60 }, (_, line) => `def step_${line}(value: int) -> int:  # 第 ${line} 步\n    return value * ${line}`).join('\n')}\n\`\`\``

export const badDiagram = '```mermaid\nflowchart LR\n  A --> --> B[\n```'

export const user: UserRow = {
  ...base,
  kind: 'user',
  key: 'u1',
  text: '请把 README 里的安装步骤翻译成英文，并检查链接是否有效。',
  images: [],
  files: [],
  steered: false,
  unseenBy: null,
}

export const userFull: UserRow = {
  ...base,
  kind: 'user',
  key: 'u2',
  branch,
  label: '第一版',
  steered: true,
  unseenBy: 'deepseek-v4-pro',
  text: Array.from(
    { length: 20 },
    (_, line) => `Line ${line + 1}: a long message is folded so that the answer stays near.`,
  ).join('\n'),
  images: [{ key: 'i1', src: picture, alt: 'mountains.png' }],
  files: [
    {
      key: 'f1',
      name: '2026 年第三季度财务报告（最终版）.pdf',
      mimeType: 'application/pdf',
      bytes: 2_345_678,
      href: '/files/1',
      fileOnly: true,
    },
  ],
}

export const pending = (state: PendingUserRow['state']): PendingUserRow => ({
  ...base,
  entryId: null,
  kind: 'pending',
  key: `p-${state}`,
  requestId: 'r1',
  text: 'And one more thing…',
  images: [],
  files: [],
  state,
  problem: state === 'failed' ? 'The message is larger than the server accepts.' : null,
})

export const tool = (changes: Partial<ToolView>): ToolView => ({
  id: 't1',
  name: 'bash',
  label: 'Bash',
  status: 'done',
  args: { command: 'cargo test -p netaclaw-session', timeout: 120 },
  argsText: '',
  headline: 'cargo test -p netaclaw-session',
  output: '',
  process: null,
  result: { text: 'running 42 tests\ntest result: ok. 42 passed; 0 failed', images: [] },
  details: null,
  diff: null,
  answers: null,
  startedAt: now - 65_000,
  durationMs: 12_400,
  route: 'main',
  blockedReason: null,
  policySources: ['agent: default', 'built-in'],
  allowedBy: [],
  ...changes,
})

const skill = (changes: Partial<ToolView>): ToolView =>
  tool({
    name: 'execute_skill',
    label: 'Run skill',
    headline: 'vehicle-damage-inspection',
    args: { name: 'vehicle-damage-inspection', input: { source: 'frames/' } },
    ...changes,
  })

const diff: ToolView['diff'] = {
  path: 'crates/netaclaw-session/src/tree.rs',
  added: 3,
  removed: 1,
  lines: [
    { kind: 'same', oldNumber: 10, newNumber: 10, text: 'impl Tree {' },
    { kind: 'removed', oldNumber: 11, newNumber: null, text: '    pub fn leaf(&self) -> EntryId {' },
    { kind: 'added', oldNumber: null, newNumber: 11, text: '    /// The entry the next append hangs from.' },
    { kind: 'added', oldNumber: null, newNumber: 12, text: '    #[must_use]' },
    { kind: 'added', oldNumber: null, newNumber: 13, text: '    pub fn leaf(&self) -> Option<EntryId> {' },
    { kind: 'same', oldNumber: 12, newNumber: 14, text: '        self.leaf' },
    { kind: 'gap', oldNumber: null, newNumber: null, text: '38 lines' },
    { kind: 'same', oldNumber: 51, newNumber: 53, text: '}' },
  ],
}

export const tools = {
  pending: tool({
    id: 't0',
    name: 'read',
    label: 'Read',
    status: 'pending',
    args: undefined,
    argsText: '{"path": "src/ma',
    headline: '',
    result: null,
    durationMs: null,
    startedAt: null,
  }),
  running: tool({
    id: 't2',
    status: 'running',
    result: null,
    durationMs: null,
    headline: 'npm run build -- --mode production --outDir /var/www/netaclaw/releases/2026-11-15',
    output: Array.from({ length: 30 }, (_, line) => `[${line}] transforming module ${line * 37} …`).join('\n'),
  }),
  progress: skill({ id: 't3', status: 'running', result: null, durationMs: null, process: processes.bar }),
  unsure: skill({ id: 't3b', status: 'running', result: null, durationMs: null, process: processes.noBar }),
  steps: skill({
    id: 't3c',
    process: processes.done,
    result: {
      text: '{"ok":true,"damages":3}',
      images: [
        { key: 'i', src: picture, alt: 'frame_0017.png' },
        { key: 'j', src: picture, alt: 'frame_0052.png' },
      ],
    },
  }),
  timedOut: skill({
    id: 't3d',
    status: 'timedOut',
    process: processes.failed,
    result: { text: 'The skill did not end within 10 minutes and was stopped.', images: [] },
  }),
  done: tool({ id: 't4' }),
  edit: tool({
    id: 't5',
    name: 'edit',
    label: 'Edit',
    headline: 'crates/netaclaw-session/src/tree.rs',
    diff,
    durationMs: 31,
    result: { text: 'Edited.', images: [] },
  }),
  error: tool({
    id: 't6',
    name: 'read',
    label: 'Read',
    status: 'error',
    headline: 'docs/missing.md',
    durationMs: 4,
    result: { text: 'No such file: docs/missing.md. The folder has: README.md, guide.md', images: [] },
  }),
  blocked: tool({
    id: 't7',
    status: 'blocked',
    headline: 'rm -rf build',
    result: null,
    durationMs: null,
    blockedReason: 'The agent “reader” may not run commands (deny: bash).',
    route: 'disabled',
  }),
  stopped: tool({
    id: 't8',
    name: 'fetch',
    label: 'Fetch',
    status: 'stopped',
    headline: 'https://example.org/large.zip',
    result: null,
    durationMs: 5200,
  }),
  waitingApproval: tool({ id: 't8b', status: 'waitingApproval', result: null, durationMs: null }),
  waitingAnswer: tool({ id: 't8c', name: 'clarify', status: 'waitingAnswer', result: null, durationMs: null }),
  unknown: tool({ id: 't8d', status: 'unknown', result: null, durationMs: null }),
  denied: tool({ id: 't8e', status: 'denied', result: null, durationMs: null }),
  undecided: tool({ id: 't8f', status: 'undecided', result: null, durationMs: null }),
  expired: tool({ id: 't8g', name: 'clarify', status: 'expired', result: null, durationMs: null }),
  dismissed: tool({ id: 't8h', name: 'clarify', status: 'dismissed', result: null, durationMs: null }),
  notStarted: tool({ id: 't8i', status: 'notStarted', result: null, durationMs: null }),
  interrupted: tool({ id: 't8j', status: 'interrupted', result: null, durationMs: null }),
  image: tool({
    id: 't9',
    name: 'read',
    label: 'Read',
    headline: 'mountains.png',
    durationMs: 12,
    result: { text: '', images: [{ key: 'i', src: picture, alt: 'mountains.png' }] },
  }),
}

const answer: AssistantRow = {
  ...base,
  kind: 'assistant',
  key: 'a1',
  parts: [],
  streaming: false,
  continues: false,
  ends: true,
  cut: false,
  above: [],
  provider: 'demo',
  model: 'claude-sonnet-5',
  stopReason: 'stop',
  cutBy: null,
  errorMessage: null,
  advised: false,
  remedies: [],
  channel: null,
  usage: { inputTokens: 11_200, outputTokens: 840, cacheReadTokens: 9000, totalTokens: 12_040, cost: 0.0342 },
}

const thinking = {
  kind: 'thinking',
  key: 'k',
  text: 'The user wants the steps in English.\n\n- read the file\n- translate',
  open: false,
  durationMs: 12_000,
  startedAt: null,
  redacted: false,
} as const

export const answers = {
  whole: {
    ...answer,
    branch,
    parts: [
      thinking,
      { kind: 'text', key: 'x1', text: '我先看一下文件。', open: false, cut: false, definitions: '' },
      { kind: 'tool', key: 'y1', tool: tools.done },
      { kind: 'tool', key: 'y2', tool: tools.edit },
      {
        kind: 'text',
        key: 'x2',
        text: '翻译完成，所有链接均有效。改动如下：\n\n1. 标题改为 **Installation**\n2. 修正了两处拼写',
        open: false,
        cut: false,
        definitions: '',
      },
    ],
  },
  streaming: {
    ...answer,
    key: 'a2',
    streaming: true,
    ends: false,
    stopReason: null,
    usage: null,
    parts: [
      { ...thinking, key: 'k2', open: true, durationMs: null, startedAt: now - 8000 },
      { kind: 'text', key: 'x3', text: 'Here is **the beginning of a bold', open: true, cut: false, definitions: '' },
    ],
  },
  waiting: { ...answer, key: 'a3', streaming: true, ends: false, stopReason: null, usage: null },
  stopped: {
    ...answer,
    key: 'a4',
    stopReason: 'aborted',
    cutBy: 'user',
    parts: [
      { kind: 'text', key: 'x4', text: 'The first half of an answer, and', open: false, cut: false, definitions: '' },
    ],
  },
  failed: {
    ...answer,
    key: 'a5',
    stopReason: 'error',
    errorMessage: '429 Too Many Requests: rate limit reached for this organisation',
    usage: null,
  },
} satisfies Record<string, AssistantRow>

export const activity: ActivityRow = {
  ...base,
  kind: 'activity',
  key: 'act',
  answer: null,
  live: false,
  toolCount: 7,
  thinkingCount: 2,
  durationMs: 48_000,
  tools: [
    { name: 'read', label: 'Read', count: 4 },
    { name: 'bash', label: 'Bash', count: 2 },
    { name: 'edit', label: 'Edit', count: 1 },
  ],
  parts: [thinking, { kind: 'tool', key: 'y5', tool: tools.done }, { kind: 'tool', key: 'y6', tool: tools.error }],
}

export const compaction = (changes: Partial<CompactionRow>): CompactionRow => ({
  ...base,
  kind: 'compaction',
  key: 'c',
  state: 'done',
  reason: null,
  summary: '',
  tokensBefore: null,
  tokensAfter: null,
  messageCount: null,
  problem: null,
  isFault: false,
  canRetry: false,
  canDismiss: false,
  retryAt: null,
  stage: null,
  undoTo: null,
  about: null,
  ...changes,
})

export const breakdown: BreakdownView = breakdownView({
  usedTokens: 64_000,
  maxTokens: 200_000,
  estimated: true,
  windowSource: 'catalogue',
  parts: [
    { part: 'system', tokens: 3200 },
    { part: 'tools', tokens: 5400 },
    { part: 'skills', tokens: 900 },
    { part: 'summary', tokens: 4100 },
    { part: 'messages', tokens: 21_000 },
    { part: 'tool_results', tokens: 29_400 },
    { part: 'reserve', tokens: 16_000 },
    { part: 'free', tokens: 120_000 },
  ],
})

export const others: TranscriptRow[] = [
  { ...base, kind: 'notice', key: 'n0', notice: { type: 'older', loading: false } },
  { ...base, kind: 'notice', key: 'n1', notice: { type: 'model', provider: 'demo', model: 'claude-sonnet-5' } },
  { ...base, kind: 'notice', key: 'n2', notice: { type: 'thinking', level: 'high' } },
  { ...base, kind: 'notice', key: 'n3', notice: { type: 'agent', agent: 'reviewer' } },
  compaction({
    key: 'c1',
    state: 'running',
    reason: 'auto',
    messageCount: 84,
    stage: { stage: 'summarizing', part: 2, parts: 3 },
  }),
  compaction({
    key: 'c2',
    reason: 'manual',
    summary: 'x',
    tokensBefore: 152_300,
    tokensAfter: 18_900,
    messageCount: 84,
    undoTo: 'e0',
  }),
  compaction({
    key: 'c3',
    state: 'error',
    isFault: true,
    canRetry: true,
    canDismiss: true,
    retryAt: now + 300_000,
    problem: 'The auxiliary model did not answer.',
  }),
  compaction({ key: 'c4', state: 'error', problem: '没有可以压缩的内容。' }),
  { ...base, kind: 'folded', key: 'f1', count: 96, isOpen: false },
  { ...base, kind: 'folded', key: 'f2', count: 96, isOpen: true },
  {
    ...base,
    kind: 'branchSummary',
    key: 'b1',
    fromId: 'e9',
    summary: 'On this branch the **first design** was tried and dropped.',
  },
  {
    ...base,
    kind: 'custom',
    key: 'x1',
    type: 'custom_message',
    title: 'Reminder',
    text: 'The build server is down until 18:00.',
  },
  {
    ...base,
    kind: 'error',
    key: 'r1',
    severity: 'error',
    advised: false,
    remedies: ['channel', 'model'],
    channel: 'work',
    message: '401 Unauthorized: invalid api key',
    code: 'unauthorized',
  },
]

export const queue: QueueView = {
  held: false,
  rows: [
    {
      key: 'q1',
      itemId: 'q1',
      text: 'Then run the whole test suite and report only failures.',
      attachmentNames: [],
      mode: 'queue',
      queuedAt: now,
      pending: false,
    },
    {
      key: 'q2',
      itemId: 'q2',
      text: '另外，把结果写进 CHANGELOG，并附上这两张截图里的数据。',
      attachmentNames: ['a.png', 'b.png'],
      mode: 'steer',
      queuedAt: now,
      pending: false,
    },
    { key: 'q3', itemId: null, text: 'on its way', attachmentNames: [], mode: 'queue', queuedAt: null, pending: true },
  ],
}

export const todo: TodoView = {
  done: 2,
  total: 5,
  hidden: 3,
  active: { id: '3', text: '实现可中断的压缩流程，并为每个阶段写测试', status: 'in_progress', unverified: false },
  items: [
    { id: '1', text: 'Read the session module', status: 'done', unverified: false },
    { id: '2', text: 'Plan the change', status: 'done', unverified: true },
    { id: '3', text: '实现可中断的压缩流程，并为每个阶段写测试', status: 'in_progress', unverified: false },
    { id: '4', text: 'Benchmark', status: 'cancelled', unverified: false },
    { id: '5', text: 'Write the documentation', status: 'pending', unverified: false },
  ],
}

const approval = (
  id: string,
  toolName: string,
  label: ApprovalView['label'],
  args: unknown,
  foreign?: ForeignNote,
): ApprovalView =>
  approvalViews(
    [
      {
        approvalId: id,
        runId: 'r',
        toolCallId: id,
        toolName,
        toolLabel: label,
        risk: 'exec',
        args: args as JsonValue,
        reason: '',
        hash: '',
        askedAt: 0,
        ...(foreign && { foreign }),
      },
    ],
    new Map(),
  )[0]!

export const approvals = [
  approval('a1', 'bash', { zh: '命令行', en: 'Shell' }, { command: 'git push --force origin main', timeout: 30 }),
  approval(
    'a2',
    'edit',
    { zh: '编辑文件', en: 'Edit file' },
    {
      path: 'src/main.rs',
      edits: [{ old_text: 'let answer = 41;', new_text: 'let answer = 42;\nprintln!("{answer}");' }],
    },
  ),
  approval(
    'a3',
    'web_fetch',
    { zh: '读取网页', en: 'Fetch web page' },
    { url: 'https://collect.example.net/?q=notes' },
    {
      sources: [
        { kind: 'web', name: 'blog.example.com' },
        { kind: 'file', name: 'invoice.pdf' },
      ],
      destination: 'https://collect.example.net/?q=notes',
    },
  ),
]

export const question = (changes: Partial<QuestionView>): QuestionView => ({
  id: 'q',
  toolCallId: 't',
  question: '要使用哪种数据库？**Both** are supported.',
  options: ['SQLite，零配置', 'MySQL 8 with replication', 'Decide for me'],
  multi: false,
  expiresAt: null,
  state: 'open',
  answer: null,
  problem: null,
  ...changes,
})

export const tokenViews: TokenView[] = (
  [
    ['calm', 32],
    ['near', 71],
    ['over', 88],
  ] as const
).map(([level, percent]) => ({
  used: percent * 2000,
  max: 200_000,
  percent,
  estimated: level === 'calm',
  threshold: 80,
  level,
  windowSource: level === 'calm' ? 'guess' : 'catalogue',
  session: { inputTokens: 400_000, outputTokens: 20_000, totalTokens: 420_000, calls: 31, cost: 1.27 },
  branch: { inputTokens: 90_000, outputTokens: 8000, totalTokens: 98_000, calls: 9, cost: 0.4 },
  lastAnswer: { inputTokens: 11_000, outputTokens: 800, totalTokens: 11_800, calls: 1, cost: 0.03 },
  summaries: { inputTokens: 30_000, outputTokens: 1500, totalTokens: 31_500, calls: 2, cost: 0.05 },
}))

export const connections: ConnectionView[] = [
  { state: 'connecting', retryAt: null, attempt: 1, unsent: 0 },
  { state: 'waiting', retryAt: now + 60_000, attempt: 3, unsent: 2 },
  { state: 'offline', retryAt: null, attempt: 0, unsent: 1 },
  { state: 'refused', retryAt: null, attempt: 0, unsent: 0 },
]

export const attachments: ComposerAttachment[] = [
  {
    key: '1',
    name: 'mountains.png',
    mimeType: 'image/png',
    bytes: 48_200,
    kind: 'image',
    preview: picture,
    state: 'ready',
    progress: 1,
    problem: null,
    canRetry: false,
  },
  {
    key: '2',
    name: '会议记录-2026-11-15.docx',
    mimeType: 'application/msword',
    bytes: 1_200_000,
    kind: null,
    preview: null,
    state: 'uploading',
    progress: 0.42,
    problem: null,
    canRetry: false,
  },
  {
    key: '3',
    name: 'video.mp4',
    mimeType: 'video/mp4',
    bytes: 99_000_000,
    kind: null,
    preview: null,
    state: 'failed',
    progress: 0,
    problem: 'Larger than 20 MB',
    canRetry: false,
  },
  {
    key: '4',
    name: 'report.pdf',
    mimeType: 'application/pdf',
    bytes: 320_000,
    kind: 'other',
    preview: null,
    state: 'ready',
    progress: 1,
    problem: null,
    canRetry: false,
  },
]

export const commands: CommandView[] = [
  { name: '/compact', hint: '[instructions]', description: '压缩较早的消息 Fold older messages into a summary' },
  { name: '/clear', hint: '', description: 'Begin anew in this session' },
  { name: '/help', hint: '', description: 'Keys and commands' },
  { name: '/tree', hint: '', description: '打开会话树 Open the tree' },
]

export const models: ChoiceView[] = [
  { id: 'a', label: 'claude-sonnet-5', hint: '200k · main channel', group: 'Anthropic', disabled: false },
  { id: 'b', label: 'gpt-6-mini', hint: '128k', group: 'OpenAI', disabled: false },
  { id: 'c', label: 'deepseek-v4', hint: '未配置密钥', group: 'DeepSeek', disabled: true },
]

export const sessions: SessionRow[] = [
  {
    id: '1',
    title: '为会话树编写属性测试',
    preview: '请先看一下…',
    agentName: 'default',
    updatedAt: now - 120_000,
    running: true,
    asking: false,
    unread: false,
    archived: false,
    current: true,
    forked: true,
  },
  {
    id: '2',
    title: 'Which database should the small installation use by default?',
    preview: '',
    agentName: 'architect',
    updatedAt: now - 3_600_000,
    running: true,
    asking: true,
    unread: false,
    archived: false,
    current: false,
    forked: false,
  },
  {
    id: '3',
    title: 'Weekly report',
    preview: '',
    agentName: 'writer',
    updatedAt: now - 90_000_000,
    running: false,
    asking: false,
    unread: true,
    archived: false,
    current: false,
    forked: false,
  },
  {
    id: '4',
    title: '',
    preview: '',
    agentName: 'default',
    updatedAt: now - 40_000_000_000,
    running: false,
    asking: false,
    unread: false,
    archived: true,
    current: false,
    forked: false,
  },
]

export function treeRows(count: number): TreeRow[] {
  const entry = (key: string, changes: Partial<Extract<TreeRow, { kind: 'entry' }>>): TreeRow => ({
    kind: 'entry',
    key,
    entryId: key,
    depth: 0,
    onPath: false,
    branch: null,
    rails: [],
    role: 'assistant',
    text: '',
    label: null,
    at: now,
    isLeaf: false,
    forks: false,
    hit: false,
    unknown: false,
    ...changes,
  })
  return [
    entry('1', { role: 'user', text: '请把 README 里的安装步骤翻译成英文', onPath: true }),
    { kind: 'fold', key: 'f1', depth: 0, onPath: true, branch: null, rails: [], entryIds: ['x', 'y', 'z'], count: 12 },
    entry('2', { role: 'assistant', text: 'Done. Which tone do you prefer?', onPath: true, forks: true, label: 'v1' }),
    entry('3', {
      depth: 1,
      rails: [true],
      role: 'user',
      text: 'Formal',
      branch: { index: 0, count: 2, ids: ['3', '5'] },
    }),
    entry('4', { depth: 1, rails: [true], role: 'tool', text: 'edit README.md' }),
    entry('4b', {
      depth: 1,
      rails: [true],
      role: 'assistant',
      text: 'Here is the formal version of the installation steps, with every link checked.',
    }),
    entry('5', {
      depth: 1,
      rails: [false],
      role: 'user',
      text: '轻松一点',
      onPath: true,
      branch: { index: 1, count: 2, ids: ['3', '5'] },
      hit: true,
    }),
    entry('5b', { depth: 1, rails: [false], role: 'compaction', text: '', onPath: true }),
    entry('6', {
      depth: 1,
      rails: [false],
      role: 'assistant',
      text: 'Here we go!',
      onPath: true,
      isLeaf: true,
      label: 'final answer',
    }),
    ...Array.from({ length: Math.max(0, count - 9) }, (_, index) =>
      entry(`n${index}`, { depth: 1, rails: [false], text: `Entry ${index}`, role: index % 3 === 0 ? 'user' : 'tool' }),
    ),
  ]
}
