/** The connection to the server, as the page shows it. */

import type { LinkState } from '@/socket'
import type { ConnectionView } from './types'

export function connectionView(link: LinkState, unsent: number): ConnectionView {
  const base = { retryAt: null, attempt: 0, unsent }
  switch (link.state) {
    case 'waiting':
      return { ...base, state: 'waiting', retryAt: link.retryAt, attempt: link.attempt }
    case 'connecting':
      return { ...base, state: 'connecting', attempt: link.attempt }
    case 'closed':
      return { ...base, state: 'connecting' }
    default:
      return { ...base, state: link.state }
  }
}
