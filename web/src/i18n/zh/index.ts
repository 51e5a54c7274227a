import type { Messages } from '../types'
import admin from './admin'
import agents from './agents'
import channels from './channels'
import chat from './chat'
import login from './login'
import mcp from './mcp'
import memory from './memory'
import settings from './settings'
import shell from './shell'
import skills from './skills'
import tools from './tools'
import ui from './ui'
import welcome from './welcome'

export default {
  admin,
  agents,
  channels,
  chat,
  login,
  mcp,
  memory,
  settings,
  shell,
  skills,
  tools,
  ui,
  welcome,
} satisfies Messages
