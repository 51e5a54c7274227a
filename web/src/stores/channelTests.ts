/** What came of trying channels, for as long as the page is open: the server does not keep it. */

import { defineStore } from 'pinia'
import { reactive } from 'vue'
import type { ChannelTest } from '@/protocol'

export interface Tried {
  outcome: ChannelTest
  at: number
  /** Of the channel: a later one has not been tried. */
  rev: number
}

export const useChannelTests = defineStore('channelTests', () => {
  const byId = reactive(new Map<string, Tried>())
  return {
    of: (id: string, rev: number): Tried | null => {
      const tried = byId.get(id)
      return tried && tried.rev === rev ? tried : null
    },
    note: (id: string, rev: number, outcome: ChannelTest): void => void byId.set(id, { outcome, at: Date.now(), rev }),
  }
})
