/** A wire between browser and server that a test can cut. */

import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

export class Wire {
  readonly #open = new Set<Socket>()

  private constructor(
    readonly address: string,
    private readonly server: Server,
  ) {}

  static async to(address: string): Promise<Wire> {
    const { hostname, port } = new URL(address)
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const wire = new Wire(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, server)
    server.on('connection', (near) => {
      const far = connect(Number(port), hostname)
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        wire.#open.add(from)
        from.on('error', () => to.destroy())
        from.on('close', () => {
          wire.#open.delete(from)
          to.destroy()
        })
        from.pipe(to)
      }
    })
    return wire
  }

  /** Ends every connection at once; new ones are let through. */
  cut(): void {
    for (const socket of this.#open) socket.resetAndDestroy()
  }

  async close(): Promise<void> {
    this.cut()
    await new Promise((resolve) => this.server.close(resolve))
  }
}
