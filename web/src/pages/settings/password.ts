/** The server's rule. */
export const PASSWORD_CHARS_MIN = 8

/** Whether something was typed, and too little of it. Counted in characters, as the server does. */
export function isTooShort(password: string): boolean {
  const length = [...password].length
  return length > 0 && length < PASSWORD_CHARS_MIN
}
