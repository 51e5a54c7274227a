/** Numbers and times in words, for people. Pure: the language is an argument. */

type Translate = (key: string, values: Record<string, string | number>) => string

/** `850 ms`, `12 s`, `2 min 5 s`, `5 min`, `1 h 3 min`. */
export function duration(ms: number, t: Translate): string {
  const seconds = Math.floor(ms / 1000)
  if (seconds < 1) return t('ui.duration.milliseconds', { ms: Math.max(0, Math.round(ms)) })
  if (seconds >= 60 && seconds < 3600 && seconds % 60 === 0) return t('ui.duration.wholeMinutes', { m: seconds / 60 })
  return elapsed(ms, t)
}

/** A running clock: whole seconds only. */
export function elapsed(ms: number, t: Translate): string {
  const seconds = Math.max(1, Math.floor(ms / 1000))
  const minutes = Math.floor(seconds / 60)
  if (minutes === 0) return t('ui.duration.seconds', { s: seconds })
  if (minutes < 60) return t('ui.duration.minutes', { m: minutes, s: seconds % 60 })
  return t('ui.duration.hours', { h: Math.floor(minutes / 60), m: minutes % 60 })
}

/** `950`, `12.3k`, `1.2M`. */
export function tokens(count: number): string {
  if (count < 1000) return String(count)
  const [value, unit] = count < 999_500 ? [count / 1000, 'k'] : [count / 1_000_000, 'M']
  return `${value < 99.95 ? value.toFixed(1).replace(/\.0$/, '') : Math.round(value)}${unit}`
}

/** Cents matter little above a dollar and all below. */
export function cost(dollars: number): string {
  if (dollars === 0) return '$0'
  return `$${dollars >= 1 ? dollars.toFixed(2) : dollars >= 0.01 ? dollars.toFixed(3) : dollars.toFixed(4)}`
}

export function bytes(count: number): string {
  if (count < 1024) return `${count} B`
  const units = ['kB', 'MB', 'GB']
  let value = count / 1024
  let unit = 0
  for (; value >= 1024 && unit < units.length - 1; unit++) value /= 1024
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`
}

/** The time of today, the day of this year, the date of others. */
export function moment(at: number, now: number, locale: string): string {
  const date = new Date(at)
  const today = new Date(now)
  if (date.toDateString() === today.toDateString())
    return date.toLocaleTimeString(locale, { hour: '2-digit', minute: '2-digit' })
  const year = date.getFullYear() === today.getFullYear() ? {} : ({ year: 'numeric' } as const)
  return date.toLocaleDateString(locale, { month: 'short', day: 'numeric', ...year })
}

/** The time of day to the second. */
export const clock = (at: number, locale: string): string =>
  new Date(at).toLocaleTimeString(locale, { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false })

export const fullMoment = (at: number, locale: string): string =>
  new Date(at).toLocaleString(locale, { dateStyle: 'medium', timeStyle: 'medium' })
