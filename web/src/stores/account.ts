import { defineStore } from 'pinia'
import { computed, shallowRef } from 'vue'
import { ApiError, request } from '@/api'
import type { Me } from '@/protocol'
import { useConnection } from './connection'

/** Who uses this page. */
export const useAccount = defineStore('account', () => {
  const connection = useConnection()
  const me = shallowRef<Me | null>(null)
  /** The credentials are not valid anymore: the user has to log in, and the page stays as it is. */
  const isExpired = shallowRef(false)

  /** Asks the server who we are; false if it does not know us. */
  async function recognise(): Promise<boolean> {
    try {
      me.value = await request<Me>('me')
      return true
    } catch (error) {
      if (error instanceof ApiError && error.code === 'unauthorized') me.value = null
      // A server that cannot be reached says nothing about who we are.
      else return true
      return false
    }
  }

  async function login(credentials: { name: string; password: string } | { token: string }): Promise<void> {
    me.value = await request<Me>('login', { method: 'POST', body: credentials })
    isExpired.value = false
    connection.open()
  }

  async function logout(): Promise<void> {
    await request('logout', { method: 'POST' })
    connection.close()
    me.value = null
  }

  return {
    me,
    isExpired,
    mayInspect: computed(() => me.value?.mayInspect ?? false),
    mayConfigure: computed(() => me.value?.mayConfigure ?? me.value?.role === 'admin'),
    recognise,
    login,
    logout,
  }
})
