import type { Entry, Opened, StreamingAnswer } from '@/protocol'
import { PersistentMap } from './persistentMap'
import { labelTexts } from './labels'
import { processOf } from './process'
import type { SessionState, StreamingState, ToolState } from './state'
import { openText } from './text'
import { treeShape } from './tree'

/** The state that a snapshot tells. `before` lends entries that were loaded already. */
export function fromSnapshot(opened: Opened, before: SessionState | null, now: number): SessionState {
  const { snapshot } = opened
  if (!snapshot) throw new Error('the answer holds no snapshot')
  const known = before?.sessionId === snapshot.session.sessionId ? before.entries : PersistentMap.empty<Entry>()
  const running = snapshot.run.status !== 'idle'
  return {
    sessionId: snapshot.session.sessionId,
    epoch: opened.epoch,
    seq: opened.seq,
    wants: null,
    meta: snapshot.session,
    tree: treeShape(snapshot.childrenByParentId),
    // Entries never change, so those of an older snapshot are still right.
    entries: known.withAll(snapshot.entries.map((entry) => [entry.id, entry] as const)),
    path: snapshot.activePath,
    labels: labelTexts(snapshot.labelsByEntryId),
    thinkingLevel: snapshot.thinkingLevel,
    model: snapshot.model ?? null,
    run: snapshot.run,
    lastActivity: Math.max(snapshot.run.since, running ? now : 0),
    streaming: snapshot.streaming ? streaming(snapshot.streaming) : null,
    tools: new Map(snapshot.tools.map((tool) => [tool.toolCallId, openTool(tool)])),
    queue: snapshot.queue,
    questions: snapshot.questions,
    approvals: snapshot.approvals,
    standingApprovals: snapshot.standingApprovals ?? [],
    todo: snapshot.todo,
    tokens: snapshot.tokens,
    compaction: underWay(snapshot.compaction) ?? failed(snapshot.compactionFailed),
    done: null,
    errors: [],
    skippedLines: snapshot.skippedLines,
    warnings: snapshot.warnings ?? [],
  }
}

function underWay(compaction: Snapshot['compaction']): SessionState['compaction'] {
  if (!compaction) return null
  const { since, progress, ...start } = compaction
  return { state: 'running', at: since, start, progress }
}

function failed(failure: Snapshot['compactionFailed']): SessionState['compaction'] {
  if (!failure) return null
  const { at, ...error } = failure
  return { state: 'error', at, error }
}

function streaming(answer: StreamingAnswer): StreamingState {
  const parts = answer.parts.map((part) => ({
    part: part.part,
    kind: part.kind,
    text: openText(part.text),
    toolCallId: part.toolCallId ?? null,
    toolName: part.toolName ?? null,
    done: part.done,
    startedAt: part.startedAt,
    durationMs: part.durationMs ?? null,
  }))
  const { runId, entryId, parentId, provider, model } = answer
  return { runId, entryId, parentId, provider, model, startedAt: null, parts }
}

type Snapshot = NonNullable<Opened['snapshot']>
type OpenToolOnWire = Snapshot['tools'][number]

function openTool(tool: OpenToolOnWire): ToolState {
  return {
    toolCallId: tool.toolCallId,
    entryId: tool.entryId,
    runId: tool.runId,
    name: tool.toolName,
    label: tool.toolLabel,
    args: tool.args,
    route: tool.route,
    blockedReason: tool.blockedReason ?? null,
    policySources: tool.policySources,
    allowedBy: tool.allowedBy ?? [],
    startedAt: tool.startedAt,
    output: openText(tool.output),
    process: processOf(tool),
    result: null,
  }
}
