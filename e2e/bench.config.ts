import { config } from './support/config.ts'

/**
 * Measures, and says whether what is promised is kept. One at a time, or they would measure each other; and without a trace,
 * for which the page would be copied at every key.
 */
export default config('bench', { workers: 1, timeout: 1_500_000, trace: 'off' })
