/** Approval requests, shown so that the user can judge them. */

import type { ApprovalQuestion } from '@/protocol'
import { scopeChoices } from './standing'
import type { ApprovalView, DiffLine, DiffView } from './types'

/** What this tab knows about its own decision. */
export interface OwnDecision {
  isAnswering: boolean
  problem: string | null
}

export function approvalViews(
  asked: readonly ApprovalQuestion[],
  own: ReadonlyMap<string, OwnDecision>,
): readonly ApprovalView[] {
  return asked.map((call) => {
    const { what, shown } = meaning(call.args)
    const destination = call.foreign?.destination ?? null
    // An argument that is the destination, letter by letter, is shown as such.
    const isShown = Object.entries(record(call.args))
      .filter(([, value]) => value === destination)
      .map(([name]) => name)
    const decision = own.get(call.approvalId)
    return {
      id: call.approvalId,
      toolCallId: call.toolCallId,
      toolName: call.toolName,
      label: call.toolLabel,
      risk: call.risk,
      what,
      args: rest(call.args, [...shown, ...isShown]),
      foreign: call.foreign ? { sources: call.foreign.sources, destination } : null,
      choices: scopeChoices(call.offers ?? []),
      askedAt: call.askedAt,
      isAnswering: decision?.isAnswering ?? false,
      problem: decision?.problem ?? null,
    }
  })
}

interface Meaning {
  what: ApprovalView['what']
  shown: readonly string[]
}

/** Commands and changes of files by the arguments they come in, whatever the tool is called. */
function meaning(args: unknown): Meaning {
  const fields = record(args)
  const command = fields['command']
  if (typeof command === 'string') return { what: { kind: 'command', text: command }, shown: ['command'] }
  const { path } = fields
  if (typeof path !== 'string') return { what: null, shown: [] }
  const edits = Array.isArray(fields['edits']) ? fields['edits'] : [fields]
  const changes = edits.map(replacement)
  if (edits.length > 0 && changes.every((change) => change !== null)) {
    const lines = changes.flatMap((change, at) => (at > 0 ? [GAP, ...change] : change))
    const shown = ['path', ...REMOVED, ...ADDED]
    return {
      what: { kind: 'change', diff: diff(path, lines) },
      shown: edits.every(isPlain) ? [...shown, 'edits'] : shown,
    }
  }
  const { content } = fields
  if (typeof content !== 'string') return { what: null, shown: [] }
  return { what: { kind: 'change', diff: diff(path, linesOf(content, 'added')) }, shown: ['path', 'content'] }
}

const REMOVED = ['old_text', 'oldText', 'old_string']
const ADDED = ['new_text', 'newText', 'new_string']
const GAP: DiffLine = { kind: 'gap', oldNumber: null, newNumber: null, text: '' }

/** Whether its lines say all that an edit does. */
const isPlain = (edit: unknown): boolean =>
  Object.entries(record(edit)).every(
    ([name, value]) => REMOVED.includes(name) || ADDED.includes(name) || value === false || value === null,
  )

function replacement(edit: unknown): DiffLine[] | null {
  const fields = record(edit)
  const [before, after] = [textOf(fields, REMOVED), textOf(fields, ADDED)]
  return before === null || after === null ? null : [...linesOf(before, 'removed'), ...linesOf(after, 'added')]
}

function textOf(fields: Readonly<Record<string, unknown>>, names: readonly string[]): string | null {
  const found = names.map((name) => fields[name]).find((value) => typeof value === 'string')
  return found ?? null
}

/** Where they stand in the file is known only when it is done. */
function linesOf(text: string, kind: 'added' | 'removed'): DiffLine[] {
  if (text === '') return []
  return text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => ({ kind, oldNumber: null, newNumber: null, text: line }))
}

function diff(path: string, lines: DiffLine[]): DiffView {
  const count = (kind: DiffLine['kind']) => lines.filter((line) => line.kind === kind).length
  return { path, lines, added: count('added'), removed: count('removed') }
}

/** Nothing that would be carried out stays hidden. */
function rest(args: unknown, shown: readonly string[]): string {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return JSON.stringify(args, null, 2) ?? ''
  const left = Object.entries(args).filter(([name, value]) => !shown.includes(name) && value !== undefined)
  if (left.length === 0) return shown.length > 0 ? '' : '{}'
  return JSON.stringify(Object.fromEntries(left), null, 2)
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
