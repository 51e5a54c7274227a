import { defineStore } from 'pinia'
import { computed, shallowRef } from 'vue'
import type { ServerEvent } from '@/protocol'
import { createLink, type LinkState } from '@/socket'

type Listener<Value> = (value: Value) => void

/** The connection to the server: sends commands and distributes events. */
export const useConnection = defineStore('connection', () => {
  const state = shallowRef<LinkState>({ state: 'closed' })
  const hearers = {
    connected: new Set<Listener<void>>(),
    event: new Set<Listener<ServerEvent>>(),
    notice: new Set<(name: string, payload: unknown) => void>(),
  }
  const link = createLink({
    state: (next) => (state.value = next),
    connected: () => hearers.connected.forEach((hear) => hear()),
    event: (event) => hearers.event.forEach((hear) => hear(event)),
    notice: (name, payload) => hearers.notice.forEach((hear) => hear(name, payload)),
  })

  return {
    state,
    isConnected: computed(() => state.value.state === 'connected'),
    open: () => link.open(),
    close: () => link.close(),
    retryNow: () => link.retryNow(),
    ask: link.ask.bind(link) as typeof link.ask,
    request: link.request.bind(link) as typeof link.request,
    /** Called on every connect: what was missed has to be asked for. */
    onConnected: (hear: Listener<void>) => void hearers.connected.add(hear),
    onEvent: (hear: Listener<ServerEvent>) => void hearers.event.add(hear),
    onNotice: (hear: (name: string, payload: unknown) => void) => void hearers.notice.add(hear),
  }
})
