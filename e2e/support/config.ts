import { defineConfig } from '@playwright/test'
import { cpus } from 'node:os'

/** What the tests, the measurements and the screenshots have in common. */
export function config(folder: string, options: { workers?: number; timeout?: number; trace?: 'off' } = {}) {
  return defineConfig({
    testDir: `./${folder}`,
    outputDir: './test-results',
    fullyParallel: true,
    forbidOnly: !!process.env.CI,
    // Each worker is a browser and a server.
    workers: options.workers ?? Math.max(2, Math.floor(cpus().length / 2)),
    // These are for a test that hangs: nothing is judged by how long it takes.
    timeout: options.timeout ?? 120_000,
    expect: { timeout: 30_000 },
    reporter: [['list']],
    use: {
      browserName: 'chromium',
      locale: 'en-GB',
      viewport: { width: 1280, height: 800 },
      contextOptions: { reducedMotion: 'reduce' },
      actionTimeout: 30_000,
      screenshot: 'only-on-failure',
      trace: options.trace ?? 'retain-on-failure',
      launchOptions: {
        executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
        args: [
          '--no-sandbox',
          '--disable-gpu',
          '--disable-quic',
          '--no-first-run',
          '--disable-background-networking',
          '--disable-component-update',
          '--disable-sync',
        ],
      },
    },
  })
}
