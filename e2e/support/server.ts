/** The real binary, with a data directory of its own, on a port of its own. */

import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const BINARY =
  process.env.NETACLAW_BINARY ??
  join(process.env.CARGO_TARGET_DIR ?? join(import.meta.dirname, '../../target'), 'debug/netaclaw')

export const TOKEN = 'e2e-token-0123456789'

export class Server {
  /** Where servers were that their tests have no more use for. */
  static readonly #removed = new Set<string>()

  /** All that belongs to this server: its data, and beside it the workspaces of agents, which must not lie in the data. */
  readonly place = mkdtempSync(join(tmpdir(), 'neta-e2e-'))
  readonly dataDir = join(this.place, 'data')
  /** The link that logs in. A server whose output is not a terminal prints only its address. */
  link = ''
  #process: ChildProcess | null = null
  #listen = '127.0.0.1:0'
  #log = ''

  get address(): string {
    return new URL(this.link).origin
  }

  /** What the server logged, for a test that failed. */
  get log(): string {
    return this.#log
  }

  /** Runs a command of the binary on the same data. */
  async run(...args: string[]): Promise<string> {
    const { stdout } = await promisify(execFile)(BINARY, args, { env: this.#env() })
    return stdout
  }

  /** Adds a channel to a model, with a context of so many tokens, and makes it that of the default agent. */
  async useModel(address: string, name = 'fake', window = 128_000): Promise<void> {
    await this.run(
      'channel',
      'add',
      name,
      '--supplier',
      'compatible',
      '--base-url',
      address,
      '--model',
      `fake:${window}`,
      '--default',
    )
  }

  async start(): Promise<void> {
    const child = spawn(BINARY, ['serve', '--listen', this.#listen], {
      env: this.#env(),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#process = child
    child.stderr.on('data', (data) => (this.#log += data))
    let printed = ''
    const address = new Promise<string>((resolve, reject) => {
      child.stdout.on('data', (data) => {
        printed += data
        const found = /ready at (http:\S+)\s/.exec(printed)
        if (found) resolve(found[1]!)
      })
      child.once('exit', (code) => reject(new Error(`the server ended with ${code}: ${this.#log}`)))
      child.once('error', reject)
    })
    this.link = `${await address}/?token=${TOKEN}`
    // A restart is at the same address: open pages look for the server there.
    this.#listen = new URL(this.link).host
    Server.#removed.delete(this.#listen)
  }

  async kill(signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<void> {
    const child = this.#process
    this.#process = null
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    child.removeAllListeners('exit')
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
  }

  /** From now on it answers nothing, until it is woken. */
  freeze(): void {
    this.#process?.kill('SIGSTOP')
  }

  wake(): void {
    this.#process?.kill('SIGCONT')
  }

  /** Whether an address was that of a server that has been removed and does not answer. */
  static wasAt(url: string): boolean {
    return URL.canParse(url) && Server.#removed.has(new URL(url).host)
  }

  async remove(): Promise<void> {
    if (this.link) Server.#removed.add(new URL(this.link).host)
    await this.kill()
    rmSync(this.place, { recursive: true, force: true })
  }

  /** A call of the REST API, as a program would make it. */
  async api<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(`${this.address}/admin/netaclaw/${path}`, {
      method,
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
    })
    const answer = await response.json()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`)
    return answer as T
  }

  /** Changes the first agent; its workspace is made before it is named. */
  async useAgent(change: { workspace: string; approval?: 'never' | 'risky' | 'always' }): Promise<void> {
    mkdirSync(change.workspace)
    await this.changeAgent(change)
  }

  /** Changes the first agent. */
  async changeAgent(change: {
    workspace?: string
    approval?: 'never' | 'risky' | 'always'
    compactionThreshold?: number
  }): Promise<void> {
    const agents = await this.api<{ items: { id: string }[] }>('GET', 'agents')
    await this.api('PATCH', `agents/${agents.items[0]!.id}`, change)
  }

  #env(): NodeJS.ProcessEnv {
    const { PATH, HOME, TMPDIR } = process.env
    return {
      PATH,
      HOME,
      TMPDIR,
      LANG: 'en_GB.UTF-8',
      NETACLAW_DATA_DIR: this.dataDir,
      NETACLAW_TOKEN: TOKEN,
      NETACLAW_LOG: 'info',
    }
  }
}
