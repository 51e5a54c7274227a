import type { Messages } from '../types'
import chat from './chat'
import shell from './shell'
import ui from './ui'

export default { chat, shell, ui } satisfies Messages
