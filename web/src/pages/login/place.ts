/** Where to go after a login: back to a page of this app, and nowhere else. */
export function placeAfter(from: unknown): string {
  // A browser takes a backslash for a slash, and two of them for another host.
  return typeof from === 'string' && /^\/(?![/\\])/.test(from) && !from.startsWith('/login') ? from : '/'
}
