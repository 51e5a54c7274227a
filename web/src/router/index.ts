import { createRouter, createWebHistory, START_LOCATION, type RouteLocationNormalized } from 'vue-router'
import { lastSession } from '@/browser/lastSession'
import ChatPage from '@/pages/ChatPage.vue'
import { useAccount } from '@/stores'

declare module 'vue-router' {
  interface RouteMeta {
    /** Without the frame, for users who are not logged in. */
    bare?: boolean
  }
}

export const router = createRouter({
  history: createWebHistory(),
  routes: [
    // Most visits begin here: with the app itself the page is a few files, alone it would be many small ones.
    // Visited from outside, `/` leads to the session that was open last, and `/new` to a new one.
    { path: '/', alias: '/new', name: 'new', component: ChatPage },
    { path: '/s/:id', name: 'session', component: ChatPage, props: true },
    { path: '/login', name: 'login', meta: { bare: true }, component: () => import('@/pages/login/LoginPage.vue') },
    { path: '/welcome', name: 'welcome', component: () => import('@/pages/welcome/WelcomePage.vue') },
    { path: '/agents', name: 'agents', component: () => import('@/pages/agents/AgentsPage.vue') },
    { path: '/agents/:id', name: 'agent', component: () => import('@/pages/agents/AgentPage.vue') },
    { path: '/channels', name: 'channels', component: () => import('@/pages/channels/ChannelsPage.vue') },
    { path: '/channels/:id', name: 'channel', component: () => import('@/pages/channels/ChannelPage.vue') },
    { path: '/tools', name: 'tools', component: () => import('@/pages/tools/ToolsPage.vue') },
    { path: '/skills', name: 'skills', component: () => import('@/pages/skills/SkillsPage.vue') },
    { path: '/skills/:name', name: 'skill', component: () => import('@/pages/skills/SkillPage.vue') },
    { path: '/mcp-servers', name: 'mcpServers', component: () => import('@/pages/mcp/McpServersPage.vue') },
    { path: '/mcp-servers/:id', name: 'mcpServer', component: () => import('@/pages/mcp/McpServerPage.vue') },
    { path: '/memory', name: 'memory', component: () => import('@/pages/memory/MemoryPage.vue') },
    { path: '/settings/:section?', name: 'settings', component: () => import('@/pages/settings/SettingsPage.vue') },
    { path: '/:rest(.*)*', name: 'notFound', component: () => import('@/pages/NotFoundPage.vue') },
  ],
})

router.beforeEach(async (to, from) => {
  const account = useAccount()
  if (to.meta.bare) return true
  if (account.me === null && !(await account.recognise()) && router.hasRoute('login')) {
    return { name: 'login', query: to.fullPath === '/' ? {} : { from: to.fullPath } }
  }
  const last = isVisit(to, from) && account.me !== null ? lastSession(account.me.userId) : null
  return last === null || { name: 'session', params: { id: last }, replace: true, state: { isResumed: true } }
})

/** Whether the app was opened at `/` from outside, and not a new session from one of its pages. */
function isVisit(to: RouteLocationNormalized, from: RouteLocationNormalized): boolean {
  return to.fullPath === '/' && (from === START_LOCATION || from.meta.bare === true)
}
