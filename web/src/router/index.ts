import { createRouter, createWebHistory } from 'vue-router'
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
    // The first page of nearly everybody: with the app itself it is a few files, by itself it was many small ones.
    { path: '/', name: 'new', component: ChatPage },
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

router.beforeEach(async (to) => {
  const account = useAccount()
  if (to.meta.bare || account.me !== null || (await account.recognise())) return true
  return router.hasRoute('login') ? { name: 'login', query: to.fullPath === '/' ? {} : { from: to.fullPath } } : true
})
