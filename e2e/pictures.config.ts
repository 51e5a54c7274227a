import { config } from './support/config.ts'

/** Pictures of every page, for looking at: `npm run pictures` writes them to `screenshots/`. */
export default config('pictures', { timeout: 600_000 })
