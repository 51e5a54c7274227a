import { config } from './support/config.ts'

export default config('tests')
