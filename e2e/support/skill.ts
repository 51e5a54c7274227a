/** A skill that goes on when the test says so. */

import { execFileSync } from 'node:child_process'
import { chmodSync, closeSync, constants, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'

const STAGES = ['scan', 'hash', 'report'] as const
type Stage = (typeof STAGES)[number]

/** It tells of its stages on standard error, reads a letter from a pipe before each, and gives its result on standard output. */
const PROGRAM = `#!/usr/bin/env python3
import json, os, sys

def tell(**step):
    print(json.dumps({"type": "process_event", **step}), file=sys.stderr, flush=True)

given = json.load(sys.stdin)
gates = given["gates"]
for number, stage in enumerate(["scan", "hash", "report"]):
    with open(os.path.join(gates, stage), "rb", buffering=0) as gate:
        gate.read(1)
    for batch in range(given.get("repeat", 1)):
        tell(stage=stage, message="in " + stage, percent=(number + 1) * 30)
    if given.get("fails") == stage:
        tell(stage=stage, level="error", message="cannot " + stage)
        print("no", file=sys.stderr)
        sys.exit(3)
print(json.dumps({"ok": True, "found": given["words"]}))
`

const ABOUT = `---
name: stepper
description: Goes through its stages one by one, for tests.
metadata:
  entry: run.py
  label:
    en: Stepper
    zh: 分步
  input:
    type: object
    required: [gates, words]
    properties:
      gates: { type: string, description: Where it looks for leave to go on. }
      words: { type: string, title: Words, minLength: 3 }
      repeat: { type: integer, minimum: 1, default: 1 }
      fails: { type: string, enum: [scan, hash, report] }
---

# Stepper

Run it with **words**.
`

export class StepSkill {
  readonly gates: string
  /** Held open, so that neither side ever waits for the other to open its end. */
  readonly #pipes: ReadonlyMap<Stage, number>

  /** Puts the skill where the server of a test looks for skills; it may only be read and written in the workspace. */
  constructor(dataDir: string, workspace: string) {
    const folder = join(dataDir, 'skills', 'stepper')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'SKILL.md'), ABOUT)
    writeFileSync(join(folder, 'run.py'), PROGRAM)
    chmodSync(join(folder, 'run.py'), 0o755)
    this.gates = join(workspace, 'gates')
    mkdirSync(this.gates, { recursive: true })
    const pipes = STAGES.map((stage) => join(this.gates, stage))
    execFileSync('mkfifo', pipes)
    this.#pipes = new Map(
      STAGES.map((stage, at) => [stage, openSync(pipes[at]!, constants.O_RDWR | constants.O_NONBLOCK)]),
    )
  }

  /** Lets one call go on with these stages, also one that is made later. */
  open(...stages: readonly Stage[]): void {
    for (const stage of stages) writeSync(this.#pipes.get(stage)!, '.')
  }

  close(): void {
    for (const pipe of this.#pipes.values()) closeSync(pipe)
  }
}
