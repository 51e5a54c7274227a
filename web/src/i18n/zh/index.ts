import type { Messages } from '../types'
import shell from './shell'
import ui from './ui'

export default { shell, ui } satisfies Messages
