/** Notifications of the browser. They need a secure address (HTTPS or this machine) and the user's permission. */

export type NotificationState = 'unsupported' | 'insecure' | 'blocked' | 'allowed' | 'unasked'

export function notificationState(): NotificationState {
  if (!isSecureContext) return 'insecure'
  if (!('Notification' in window)) return 'unsupported'
  return { granted: 'allowed', denied: 'blocked', default: 'unasked' }[Notification.permission] as NotificationState
}

/** Asks the user, who may have decided before; whether notifications can be shown. */
export async function askForNotifications(): Promise<NotificationState> {
  if (notificationState() === 'unasked') await Notification.requestPermission()
  return notificationState()
}

/** A later one with the same tag takes the place of the earlier. */
export function showNotification(title: string, body: string, tag: string, onClick: () => void): void {
  if (notificationState() !== 'allowed') return
  try {
    const shown = new Notification(title, { body, tag, icon: '/favicon.svg' })
    shown.onclick = () => {
      window.focus()
      shown.close()
      onClick()
    }
  } catch {
    // Browsers on phones show notifications from service workers only; the mark on the tab says it all the same.
  }
}
