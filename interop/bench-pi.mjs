// The same work as NetaClaw's session benchmark, done by the real Pi.
//
//   node bench-pi.mjs --entries N --dir DIR --repeat R [--sessions M]
//
// Works in a directory of its own below DIR, removes it, and prints one JSON object. Times are
// medians over R repeats, in milliseconds.

import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { SessionManager, version } from './pi.mjs'

const CWD = '/srv/bench'
const BRANCHES = 100
const USER_TEXT = 'a question of one hundred and twenty characters '.repeat(3).slice(0, 120)
const ASSISTANT_TEXT = 'an answer of two hundred characters, as plain text '.repeat(4).slice(0, 200)

const { values: options } = parseArgs({
  options: {
    entries: { type: 'string', default: '1000' },
    dir: { type: 'string' },
    repeat: { type: 'string', default: '3' },
    sessions: { type: 'string', default: '0' },
    // Only for the child processes that memory is measured in: "import", or the file to open.
    rss: { type: 'string' },
  },
})

if (options.rss !== undefined) {
  printResidentSize(options.rss)
} else {
  await main()
}

async function main() {
  if (options.dir === undefined) throw new Error('--dir is missing')
  const entries = count('entries')
  const repeat = count('repeat')
  const sessions = count('sessions')
  const dir = mkdtempSync(join(options.dir, 'pi-'))
  try {
    const { file, appendTotalMs } = append(dir, entries, repeat)
    const result = {
      pi: version,
      node: process.version,
      entries,
      repeat,
      fileBytes: statSync(file).size,
      appendTotalMs,
      openMs: open(file, repeat),
      contextMs: context(file, repeat),
      branchMs: branch(dir, file, repeat),
      forkFileMs: forkFile(dir, file, repeat),
      forkPathMs: forkPath(dir, file, repeat),
      memory: memory(file, repeat),
      list: sessions > 0 ? await list(dir, sessions, repeat) : null,
    }
    console.log(JSON.stringify(result))
  } finally {
    rmSync(dir, { recursive: true })
  }
}

/** Appends one message at a time; the file of the last repeat is what the other parts work on. */
function append(dir, entries, repeat) {
  const messages = Array.from({ length: entries }, (_, index) => message(index))
  let file
  const appendTotalMs = median(repeat, () => {
    if (file !== undefined) rmSync(file)
    const session = SessionManager.create(CWD, dir)
    file = session.getSessionFile()
    return timed(() => {
      for (const each of messages) session.appendMessage(each)
    })
  })
  return { file, appendTotalMs }
}

function open(file, repeat) {
  return median(repeat, () => timed(() => SessionManager.open(file)))
}

function context(file, repeat) {
  const session = SessionManager.open(file)
  return median(repeat, () => timed(() => session.buildSessionContext()))
}

/** One operation is a move of the leaf to the middle and a message below it. */
function branch(dir, file, repeat) {
  const copy = join(dir, 'branch.jsonl')
  return median(repeat, () => {
    copyFileSync(file, copy)
    const session = SessionManager.open(copy)
    const entries = session.getEntries()
    const middle = entries[Math.floor(entries.length / 2)].id
    const total = timed(() => {
      for (let index = 0; index < BRANCHES; index++) {
        session.branch(middle)
        session.appendMessage(message(index))
      }
    })
    rmSync(copy)
    return total / BRANCHES
  })
}

/** A new file with everything, all branches included. */
function forkFile(dir, file, repeat) {
  return median(repeat, () => {
    let fork
    const elapsed = timed(() => {
      fork = SessionManager.forkFrom(file, CWD, dir)
    })
    rmSync(fork.getSessionFile())
    return elapsed
  })
}

/** A new file with the path to the leaf. Pi turns the open session into the new one. */
function forkPath(dir, file, repeat) {
  return median(repeat, () => {
    const session = SessionManager.open(file, dir)
    const elapsed = timed(() => session.createBranchedSession(session.getLeafId()))
    rmSync(session.getSessionFile())
    return elapsed
  })
}

/** Lists many small sessions. The first run warms the file cache and is not counted. */
async function list(parent, sessions, repeat) {
  const dir = mkdtempSync(join(parent, 'list-'))
  for (let index = 0; index < sessions; index++) {
    const session = SessionManager.create(CWD, dir)
    session.appendMessage(message(0))
    session.appendMessage(message(1))
  }
  const times = []
  for (let run = 0; run <= repeat; run++) {
    const start = performance.now()
    const listed = await SessionManager.list(CWD, dir)
    times.push(performance.now() - start)
    if (listed.length !== sessions) throw new Error(`listed ${listed.length} of ${sessions} sessions`)
  }
  return { sessions, ms: middleOf(times.slice(1)) }
}

/** Resident size of a process that opened the file, and of one that only loaded Pi. */
function memory(file, repeat) {
  const importedBytes = median(repeat, () => residentSizeOfChild('import'))
  const openedBytes = median(repeat, () => residentSizeOfChild(file))
  return { importedBytes, openedBytes, differenceBytes: openedBytes - importedBytes }
}

function residentSizeOfChild(what) {
  const script = fileURLToPath(import.meta.url)
  return Number(execFileSync(process.execPath, [script, '--rss', what], { encoding: 'utf8' }))
}

function printResidentSize(what) {
  const session = what === 'import' ? null : SessionManager.open(what)
  const size = process.memoryUsage.rss()
  // Asked for after the measurement, so that the session cannot have been collected before it.
  if (session?.getEntries().length === 0) throw new Error('the session is empty')
  console.log(size)
}

function message(index) {
  const timestamp = 1_767_225_600_000 + index
  if (index % 2 === 0) {
    return { role: 'user', content: [{ type: 'text', text: USER_TEXT }], timestamp }
  }
  return {
    role: 'assistant',
    content: [{ type: 'text', text: ASSISTANT_TEXT }],
    api: 'openai-completions',
    provider: 'demo',
    model: 'demo-1',
    usage: {
      input: 120,
      output: 50,
      cacheRead: 0,
      cacheWrite: 0,
      totalTokens: 170,
      cost: { input: 0.00012, output: 0.0001, cacheRead: 0, cacheWrite: 0, total: 0.00022 },
    },
    stopReason: 'stop',
    timestamp,
  }
}

function timed(work) {
  const start = performance.now()
  work()
  return performance.now() - start
}

function median(repeat, measure) {
  return middleOf(Array.from({ length: repeat }, measure))
}

function middleOf(values) {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

function count(name) {
  const value = Number(options[name])
  // Pi writes no file before the first answer, which is the second entry.
  const least = { entries: 2, repeat: 1, sessions: 0 }[name]
  if (!Number.isInteger(value) || value < least) throw new Error(`--${name} must be a number from ${least} on`)
  return value
}
