/** What was measured against what is promised. */

import { expect } from '@playwright/test'

export class Verdict {
  readonly #lines: { isKept: boolean; text: string }[] = []

  constructor(private readonly title: string) {}

  /** A figure that has to stay below a limit. */
  below(what: string, measured: number, limit: number, unit: string): void {
    this.#lines.push({
      isKept: measured < limit,
      text: `${what}: ${Number(measured.toFixed(1))} ${unit} (limit ${limit} ${unit})`,
    })
  }

  /** Prints every figure and whether its promise is kept; one that is not fails the measurement. */
  tell(): void {
    const isKept = this.#lines.every((line) => line.isKept)
    console.log(
      [
        `${this.title}: ${isKept ? 'PASSED' : 'FAILED'}`,
        ...this.#lines.map((line) => `  ${line.isKept ? 'ok  ' : 'OVER'} ${line.text}`),
      ].join('\n'),
    )
    expect(this.#lines.filter((line) => !line.isKept).map((line) => line.text)).toEqual([])
  }
}
