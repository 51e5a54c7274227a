/** Small JSON values in the browser's storage, which may be full, forbidden, or hold old nonsense. */

export function load<Value>(storage: 'local' | 'session', key: string, fallback: Value): Value {
  try {
    const text = place(storage).getItem(key)
    return text === null ? fallback : ((JSON.parse(text) as Value | null) ?? fallback)
  } catch {
    return fallback
  }
}

export function save(storage: 'local' | 'session', key: string, value: unknown): void {
  try {
    place(storage).setItem(key, JSON.stringify(value))
  } catch {
    // Full or forbidden. What is kept here is a comfort; everything that counts is on the server.
  }
}

function place(storage: 'local' | 'session'): Storage {
  return storage === 'local' ? localStorage : sessionStorage
}
