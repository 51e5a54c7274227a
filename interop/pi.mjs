// The parts of Pi that the bridge and the benchmark use.
//
// They are loaded from Pi's own modules rather than from its package index: the index brings Pi's
// terminal interface along (half a second and 70 MB), and it does not export the token estimate.
// The version is pinned in package.json, so these paths cannot move under us.

import { readFileSync } from 'node:fs'

const index = import.meta.resolve('@mariozechner/pi-coding-agent')

export const { version } = JSON.parse(readFileSync(new URL('../package.json', index), 'utf8'))

export const { SessionManager, buildSessionContext, loadEntriesFromFile } = await import(
  new URL('core/session-manager.js', index)
)

/** Pi's compaction module; loaded on demand because it pulls in every model client. */
export function loadCompaction() {
  return import(new URL('core/compaction/compaction.js', index))
}
