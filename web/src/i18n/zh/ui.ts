import type { Messages } from '../types'

export default {} satisfies Messages['ui']
