import type { Messages } from '../types'
import admin from './admin'
import agents from './agents'
import channels from './channels'
import chat from './chat'
import login from './login'
import settings from './settings'
import shell from './shell'
import ui from './ui'
import welcome from './welcome'

export default { admin, agents, channels, chat, login, settings, shell, ui, welcome } satisfies Messages
