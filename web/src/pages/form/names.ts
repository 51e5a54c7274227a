/** The server's rule for names of agents, channels and users. */
export const isName = (text: string): boolean =>
  [...text].length <= 64 && /^[\p{Alphabetic}\p{N}]([\p{Alphabetic}\p{N}._\- ]*[\p{Alphabetic}\p{N}])?$/u.test(text)

/** `name`, or `name-2`, `name-3` … if it is taken. */
export function freeName(wanted: string, taken: readonly string[]): string {
  const isFree = (name: string) => !taken.some((other) => other.toLowerCase() === name.toLowerCase())
  if (isFree(wanted)) return wanted
  for (let number = 2; ; number++) if (isFree(`${wanted}-${number}`)) return `${wanted}-${number}`
}
