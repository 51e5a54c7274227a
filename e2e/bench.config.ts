import { config } from './support/config.ts'

/** Measures and reports; nothing is judged here. One at a time, or they would measure each other. */
export default config('bench', { workers: 1, timeout: 900_000 })
