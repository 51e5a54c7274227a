// Answers questions about session files with the real Pi, for tests in any language.
//
// One JSON request per line on stdin, one JSON answer per line on stdout, in order, until stdin ends:
//
//   { id, cmd, ... }  ->  { id, ok: true, result }  or  { id, ok: false, error }
//
//   version                       { pi, node }
//   open      { file }            { header, entries, leafId, name, labels, roots, childrenByParentId, context }
//   contexts  { file, leaves }    one { messages, thinkingLevel, model, tokens } or { error } for each leaf
//   continue  { file, ops }       { file, exists, sessionId, ids, leafId }
//   create    { dir, cwd, ops }   the same, for a new session
//   fork      { file, leafId, dir }     createBranchedSession: the path to leafId as a new session
//   forkFrom  { file, cwd, dir }        the whole file, with all branches, as a new session
//   list      { dir, cwd }        Pi's session list, newest first
//
// An op is { op, ... }; see `operations` below. `ids` has one place for each op: the id of the entry
// it appended, or null for a mere move of the leaf. Where an op takes an id, "$0" stands for `ids[0]`.
//
// What a caller has to know about Pi 0.73.1:
// - It rewrites files of older versions when it opens them, so hand it a copy. The ids that a
//   version 1 file gets are new ones, and stay the same from the first rewrite on.
// - It overwrites what it cannot read as a session. The bridge refuses such files instead.
// - It writes nothing before the first assistant message; `exists` says whether there is a file.
//   Continuing a file that has entries but no answer writes all of them again with the first answer.
// - It never returns from a path with a cycle.

import { existsSync } from 'node:fs'

// Pi, or something it loads, may print. Stdout carries answers and nothing else, so everything
// that writes to it has to be turned away before Pi is loaded.
const answer = process.stdout.write.bind(process.stdout)
process.stdout.write = process.stderr.write.bind(process.stderr)
for (const method of ['log', 'info', 'debug']) console[method] = console.error

const { SessionManager, buildSessionContext, loadCompaction, loadEntriesFromFile, version } = await import('./pi.mjs')
const { estimateContextTokens } = await loadCompaction()

const commands = {
  version: () => ({ pi: version, node: process.version }),

  open({ file }) {
    const session = openExisting(file)
    const tree = session.getTree()
    return {
      header: session.getHeader(),
      entries: session.getEntries(),
      leafId: session.getLeafId() ?? null,
      name: session.getSessionName() ?? null,
      labels: labelsOf(session),
      roots: tree.map((node) => node.entry.id),
      childrenByParentId: childrenByParentId(tree),
      context: session.buildSessionContext(),
    }
  },

  contexts({ file, leaves }) {
    const entries = openExisting(file).getEntries()
    const byId = new Map(entries.map((entry) => [entry.id, entry]))
    return leaves.map((leaf) => contextAt(entries, leaf, byId))
  },

  continue({ file, ops, dir }) {
    return applyAll(openExisting(file, dir), ops)
  },

  create({ dir, cwd, ops }) {
    return applyAll(SessionManager.create(cwd, required(dir, 'dir')), ops)
  },

  fork({ file, leafId, dir }) {
    const session = openExisting(file, dir)
    session.createBranchedSession(leafId)
    return outcome(session, [])
  },

  forkFrom({ file, cwd, dir }) {
    return outcome(SessionManager.forkFrom(file, cwd, required(dir, 'dir')), [])
  },

  list({ dir, cwd }) {
    return SessionManager.list(cwd, required(dir, 'dir'))
  },
}

// Each takes the session, the op and a function that resolves "$n" to an id.
const operations = {
  message: (session, { message }) => session.appendMessage(message),
  label: (session, { targetId, label }, id) => session.appendLabelChange(id(targetId), label),
  name: (session, { name }) => session.appendSessionInfo(name),
  model: (session, { provider, modelId }) => session.appendModelChange(provider, modelId),
  thinking: (session, { thinkingLevel }) => session.appendThinkingLevelChange(thinkingLevel),
  custom: (session, { customType, data }) => session.appendCustomEntry(customType, data),
  customMessage: (session, { customType, content, display, details }) =>
    session.appendCustomMessageEntry(customType, content, display, details),
  compaction: (session, { summary, firstKeptEntryId, tokensBefore, details, fromHook }, id) =>
    session.appendCompaction(summary, id(firstKeptEntryId), tokensBefore, details, fromHook),
  branchSummary: (session, { id: target, summary, details, fromHook }, id) =>
    session.branchWithSummary(id(target), summary, details, fromHook),
  branch: (session, { id: target }, id) => session.branch(id(target)),
  reset: (session) => session.resetLeaf(),
}

for await (const line of linesOf(process.stdin)) {
  if (line.trim() !== '') answer(`${JSON.stringify(await respond(line))}\n`)
}

async function respond(line) {
  let id = null
  try {
    const request = JSON.parse(line)
    id = request.id ?? null
    if (!Object.hasOwn(commands, request.cmd)) throw new Error(`unknown command ${request.cmd}`)
    return { id, ok: true, result: await commands[request.cmd](request) }
  } catch (error) {
    return { id, ok: false, error: error instanceof Error ? error.message : String(error) }
  }
}

/** Opens a session, except where Pi would make or overwrite a file to be able to. */
function openExisting(file, dir) {
  if (!existsSync(file)) throw new Error(`no such file: ${file}`)
  if (loadEntriesFromFile(file).length === 0) {
    throw new Error(`Pi does not read this as a session, and would overwrite it: ${file}`)
  }
  return SessionManager.open(file, dir)
}

// `list` and the two that create files fall back to Pi's own directory in the user's home.
// A test that forgot the directory must not touch that.
function required(value, name) {
  if (typeof value !== 'string') throw new Error(`${name} is missing`)
  return value
}

function applyAll(session, ops) {
  const ids = []
  const resolve = (id) => (/^\$\d+$/.test(id ?? '') ? ids[Number(id.slice(1))] : id)
  for (const [index, op] of ops.entries()) {
    if (!Object.hasOwn(operations, op.op)) throw new Error(`op ${index}: unknown op ${op.op}`)
    try {
      ids.push(operations[op.op](session, op, resolve) ?? null)
    } catch (error) {
      throw new Error(`op ${index} (${op.op}): ${error.message}`, { cause: error })
    }
  }
  return outcome(session, ids)
}

function outcome(session, ids) {
  const file = session.getSessionFile()
  return {
    file,
    exists: existsSync(file),
    sessionId: session.getSessionId(),
    ids,
    leafId: session.getLeafId() ?? null,
  }
}

// One leaf that Pi fails on, such as a message entry without a message, is an answer about that
// leaf and must not hide the others.
function contextAt(entries, leaf, byId) {
  try {
    const context = buildSessionContext(entries, leaf, byId)
    return { ...context, tokens: tokensOf(context.messages) }
  } catch (error) {
    return { error: error.message }
  }
}

/** Pi's token count of a context, or null where its estimate fails on a message it does not know. */
function tokensOf(messages) {
  try {
    return estimateContextTokens(messages).tokens
  } catch {
    return null
  }
}

// Pi answers for one id at a time, so ask about every id that a label entry ever named.
function labelsOf(session) {
  const labelled = new Map()
  for (const { type, targetId } of session.getEntries()) {
    const label = type === 'label' ? session.getLabel(targetId) : undefined
    if (label !== undefined) labelled.set(targetId, label)
  }
  return Object.fromEntries(labelled)
}

/** Children in the order in which Pi shows them; entries without children are left out. */
function childrenByParentId(roots) {
  const children = new Map()
  const pending = [...roots]
  while (pending.length > 0) {
    const node = pending.pop()
    const { id } = node.entry
    // Lines that repeat an id share one node, so the walk can meet it more than once.
    if (node.children.length === 0 || children.has(id)) continue
    children.set(
      id,
      node.children.map((child) => child.entry.id),
    )
    for (const child of node.children) pending.push(child)
  }
  return Object.fromEntries(children)
}

// Node's readline also ends lines at U+2028 and U+2029, which are legal inside JSON strings.
async function* linesOf(stream) {
  stream.setEncoding('utf8')
  let parts = []
  for await (const chunk of stream) {
    const [end, ...rest] = chunk.split('\n')
    parts.push(end)
    for (const start of rest) {
      yield parts.join('')
      parts = [start]
    }
  }
  yield parts.join('')
}
