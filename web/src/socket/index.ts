import { io } from 'socket.io-client'
import { refusalWords } from '@/i18n'
import { Link, type LinkListener, type LinkEnvironment } from './link'

export { LinkError, type LinkState, type Link } from './link'
export { Outbox, type Outgoing } from './outbox'

const world: LinkEnvironment = {
  now: () => Date.now(),
  random: () => Math.random(),
  after: (ms, then) => {
    const timer = setTimeout(then, ms)
    return () => clearTimeout(timer)
  },
  isOnline: () => navigator.onLine,
  words: refusalWords,
}

/** The link to the server this page came from. The browser's cookie says who asks. */
export function createLink(heard: LinkListener): Link {
  const socket = io('/netaclaw', {
    // Only the newer forms of events; the older ones tell the same.
    auth: { events: ['current'] },
    transports: ['websocket', 'polling'],
    autoConnect: false,
    // Trying again is the link's own matter: it knows when, shows it, and never gives up.
    reconnection: false,
    withCredentials: true,
  })
  const link = new Link(socket, world, heard)
  window.addEventListener('online', () => link.retryNow())
  window.addEventListener('offline', () => link.offline())
  return link
}
